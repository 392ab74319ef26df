# C tests. In tests/compiler, tests/frontend and tests/runtime, which link the library of that name:
#   test_*.c   a program that exits with 0 when all is well, run by ctest
#   *tool.c    a driver for Python tests: <build>/bin/irtool runs single passes on text
#   fuzz_*.c   a libFuzzer target (GPU_FUZZ)
# Other .c files there are shared by the folder's programs.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

function(gpu_c_tests folder)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*.c)
    set(programs ${sources})
    set(fuzz ${sources})
    list(FILTER programs INCLUDE REGEX "/(test_[^/]*|[^/]*tool)\\.c$")
    list(FILTER fuzz INCLUDE REGEX "/fuzz_[^/]*\\.c$")
    list(REMOVE_ITEM sources ${programs} ${fuzz})
    if(GPU_FUZZ)
        list(APPEND programs ${fuzz})
    endif()
    foreach(program IN LISTS programs)
        get_filename_component(name ${program} NAME_WE)
        gpu_program(${name} ${program} ${sources})
        target_link_libraries(${name} PRIVATE ${ARGN})
        if(name MATCHES "^test_")
            add_test(NAME ${folder}/${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
            set_tests_properties(${folder}/${name} PROPERTIES TIMEOUT 300)
        elseif(name MATCHES "^fuzz_")
            target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
            target_link_options(${name} PRIVATE -fsanitize=fuzzer)
        endif()
    endforeach()
endfunction()

gpu_c_tests(compiler gpu_ir gpu_runtime)
gpu_c_tests(frontend gpu_frontend)
gpu_c_tests(runtime gpu_runtime)
