# A script (cmake -P): takes the functions that TABLE (compiler/mathfn.def) names out of LIBRARY, with what they call
# and the constants that they read, and writes each to FOLDER/<symbol>.bc. TOOLS is LLVM's folder of programs.
#
# A symbol is the name mangled as C++ does: _Z3sind and _Z3sinf, _Z3powdd. Only ldexp takes an int. Where FIXES
# (compiler/libclc.ll) has fixed.<symbol>, that takes the symbol's name, and the library's own gets another.
file(STRINGS ${TABLE} rows REGEX "^MATHFN\\(")
list(APPEND rows "MATHFN(FMOD, 2, \"fmod\"")   # float remainder is an operation of the IR
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
file(READ ${FIXES} fixes)
execute_process(COMMAND ${TOOLS}/llvm-link ${LIBRARY} ${FIXES} -o ${FOLDER}/all COMMAND_ERROR_IS_FATAL ANY)

# extract(FUNCTION): one function and what it needs, as text.
function(extract function out)
    execute_process(
        COMMAND ${TOOLS}/llvm-extract --func=${function} --recursive --rglob=.* ${FOLDER}/all -o -
        COMMAND ${TOOLS}/opt --passes=internalize,always-inline,globaldce --internalize-public-api-list=${function} -S
        OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    set(${out} "${text}" PARENT_SCOPE)
endfunction()

foreach(row IN LISTS rows)
    if(NOT row MATCHES "^MATHFN\\([A-Z0-9]+, *([12]), *\"([a-z0-9]+)\"")
        message(FATAL_ERROR "a row of another form: ${row}")
    endif()
    set(args ${CMAKE_MATCH_1})
    set(name ${CMAKE_MATCH_2})
    string(LENGTH ${name} length)
    foreach(letter d f)
        if(name STREQUAL ldexp)
            set(operands ${letter}i)
        else()
            string(REPEAT ${letter} ${args} operands)
        endif()
        set(symbol _Z${length}${name}${operands})
        string(FIND "${fixes}" "@fixed.${symbol}(" fixed)
        if(fixed EQUAL -1)
            extract(${symbol} text)
        else()
            extract(fixed.${symbol} text)
            string(REPLACE "@${symbol}(" "@libclc.${symbol}(" text "${text}")
            string(REPLACE "@fixed.${symbol}(" "@${symbol}(" text "${text}")
        endif()
        file(WRITE ${FOLDER}/text "${text}")
        execute_process(COMMAND ${TOOLS}/llvm-as ${FOLDER}/text -o ${FOLDER}/${symbol}.bc COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
endforeach()
file(REMOVE ${FOLDER}/all ${FOLDER}/text)
