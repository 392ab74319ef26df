# A script (cmake -P): takes the functions that TABLE (compiler/mathfn.def) names out of LIBRARY, with what they call
# and the constants that they read, and writes each to FOLDER/<symbol>.bc. TOOLS is LLVM's folder of programs.
#
# A symbol is the name mangled as C++ does: _Z3sind and _Z3sinf, _Z3powdd. Only ldexp takes an int.
file(STRINGS ${TABLE} rows REGEX "^MATHFN\\(")
list(APPEND rows "MATHFN(FMOD, 2, \"fmod\"")   # float remainder is an operation of the IR
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
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
        execute_process(
            COMMAND ${TOOLS}/llvm-extract --func=${symbol} --recursive --rglob=.* ${LIBRARY} -o -
            COMMAND ${TOOLS}/opt --passes=internalize,globaldce --internalize-public-api-list=${symbol}
                -o ${FOLDER}/${symbol}.bc
            COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
endforeach()
