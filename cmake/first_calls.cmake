# gpu_order_functions(): the functions of libgpu_compiler.so that a compilation calls lie side by side, found by
# first_calls.c in a copy of the library that was linked without an order.
#
# Once for each build folder and version of LLVM: which functions those are hardly changes with our sources. Without it
# (another linker than GNU's or LLVM's, sanitizers) all is the same but slower.
include(CheckLinkerFlag)

function(gpu_order_functions target objects)
    if(GPU_SANITIZE OR CMAKE_CROSSCOMPILING OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64 OR NOT CMAKE_BUILD_TYPE STREQUAL Release)
        return()
    endif()
    set(sample ${CMAKE_BINARY_DIR}/sample.ld)
    file(WRITE ${sample} "SECTIONS { .text.first_calls : { *(.text.none) } } INSERT BEFORE .text;\n")
    check_linker_flag(CXX -Wl,-T,${sample} GPU_LINKER_ORDERS)
    if(NOT GPU_LINKER_ORDERS)
        return()
    endif()
    set(order ${CMAKE_BINARY_DIR}/first_calls-${LLVM_PACKAGE_VERSION}.ld)
    if(NOT EXISTS ${order})
        # When the order is there, CMake runs once more, and what made it is no part of the build from then on.
        set(made ${CMAKE_BINARY_DIR}/first_calls.made)
        file(TOUCH ${made})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${made})
        set(here ${PROJECT_SOURCE_DIR}/cmake)
        add_library(${target}_unordered SHARED EXCLUDE_FROM_ALL ${objects})
        target_link_libraries(${target}_unordered PRIVATE ${ARGN})
        gpu_program(first_calls EXCLUDE_FROM_ALL ${here}/first_calls.c)
        target_link_libraries(first_calls PRIVATE gpu_ir ${CMAKE_DL_LIBS})
        add_custom_command(OUTPUT ${order}
            COMMAND first_calls $<TARGET_FILE:${target}_unordered> ${here}/first_calls.ir ${GPU_PACKAGE}/libclc ${order}
            COMMAND ${CMAKE_COMMAND} -E touch ${made}
            DEPENDS ${target}_unordered first_calls gpu_libclc
            COMMENT "Ordering the compiler's functions" VERBATIM)
        add_custom_target(${target}_order DEPENDS ${order})
        add_dependencies(${target} ${target}_order)
    endif()
    target_link_options(${target} PRIVATE -Wl,-T,${order})
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${order})
endfunction()
