# The mathematical functions of libclc, one bitcode file for each, as <package>/libclc/<symbol>.bc.
#
# PTX calls them when NVIDIA's libdevice isn't found. Loading the whole library costs 9 ms, one function 0.2 ms.
function(gpu_split_libclc folder)
    find_file(GPU_LIBCLC nvptx64--.bc PATHS /usr/lib/clc /usr/share/clc REQUIRED NO_DEFAULT_PATH)
    set(script ${PROJECT_SOURCE_DIR}/cmake/split_libclc.cmake)
    set(table ${PROJECT_SOURCE_DIR}/compiler/mathfn.def)
    set(fixes ${PROJECT_SOURCE_DIR}/compiler/libclc.ll)
    set(stamp ${CMAKE_BINARY_DIR}/libclc.stamp)
    add_custom_command(OUTPUT ${stamp}
        COMMAND ${CMAKE_COMMAND} -D LIBRARY=${GPU_LIBCLC} -D TABLE=${table} -D FIXES=${fixes} -D FOLDER=${folder}
            -D TOOLS=${LLVM_TOOLS_BINARY_DIR} -P ${script}
        COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
        DEPENDS ${table} ${fixes} ${script} ${GPU_LIBCLC}
        COMMENT "Splitting libclc" VERBATIM)
    add_custom_target(gpu_libclc ALL DEPENDS ${stamp})
endfunction()
