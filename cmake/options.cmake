# Options, warnings and sanitizers, and gpu_library(), which applies them.
option(GPU_WERROR "Warnings are errors" OFF)
option(GPU_TESTS "Build the C tests and the drivers of single passes" ON)
option(GPU_FUZZ "Build the fuzz targets (clang only)" OFF)
set(GPU_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize: address,undefined or thread")
set(GPU_PYTHONS "" CACHE STRING "Interpreters to build the extension for; empty: the one that CMake finds")

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug verifies the IR after each pass" FORCE)
endif()

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_package(Threads REQUIRED)

add_library(gpu_flags INTERFACE)
target_compile_options(gpu_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wconversion -Wno-sign-conversion
    -fno-math-errno -ffp-contract=off -ffunction-sections -fdata-sections $<$<BOOL:${GPU_WERROR}>:-Werror>)
if(GPU_SANITIZE)
    target_compile_options(gpu_flags INTERFACE -fsanitize=${GPU_SANITIZE} -fno-sanitize-recover=undefined
        -fno-omit-frame-pointer -g)
    target_link_options(gpu_flags INTERFACE -fsanitize=${GPU_SANITIZE})
    if(CMAKE_C_COMPILER_ID MATCHES Clang AND GPU_SANITIZE MATCHES address)
        # One shared runtime for programs, libgpu_compiler.so and an interpreter that preloads it.
        execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libclang_rt.asan-x86_64.so
            OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
        get_filename_component(folder ${runtime} DIRECTORY)
        target_link_options(gpu_flags INTERFACE -shared-libasan -Wl,-rpath,${folder})
    endif()
endif()

function(gpu_library name kind)
    add_library(${name} ${kind} ${ARGN})
    target_link_libraries(${name} PRIVATE gpu_flags)
endfunction()

function(gpu_program name)
    add_executable(${name} ${ARGN})
    target_link_libraries(${name} PRIVATE gpu_flags)
endfunction()
