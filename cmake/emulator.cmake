# The emulated GPU: gpu_emulator, for the C tests, and two driver libraries made of the same objects.
#
#   <package>/libgpu_emulated.so        what our runtime loads; a name of its own, so that nobody takes it for a GPU
#   <package>/emulator/libcuda.so.1     for other programs, by LD_LIBRARY_PATH
#
# All is hidden but what the driver marks as visible. No flag here may let the compiler change a result.
function(gpu_emulator_libraries)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/emulator/*.c)
    gpu_library(gpu_emulator STATIC ${sources} ${PROJECT_SOURCE_DIR}/runtime/sharing.c)
    target_compile_options(gpu_emulator PRIVATE $<$<CONFIG:Release>:-O3>)
    target_link_libraries(gpu_emulator PUBLIC Threads::Threads m ${CMAKE_DL_LIBS})

    gpu_driver(gpu_emulated ${GPU_PACKAGE} libgpu_emulated.so gpu)
    gpu_driver(gpu_emulated_libcuda ${GPU_PACKAGE}/emulator libcuda.so.1 gpu/emulator)
endfunction()

function(gpu_driver name folder file destination)
    gpu_library(${name} SHARED $<TARGET_OBJECTS:gpu_emulator>)
    target_link_libraries(${name} PRIVATE Threads::Threads m ${CMAKE_DL_LIBS})
    # NO_SONAME: the SONAME is set by hand, since CMake would write libcuda.so.1 as a link to another name.
    target_link_options(${name} PRIVATE -Wl,-soname,${file} -Wl,--gc-sections -Wl,-Bsymbolic)
    set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${file} NO_SONAME ON
        LIBRARY_OUTPUT_DIRECTORY ${folder})
    install(TARGETS ${name} LIBRARY DESTINATION ${destination} COMPONENT package)
endfunction()
