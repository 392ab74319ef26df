# The extension gpu._core, for several interpreters in one build, and the package folder that tests import.
if(NOT GPU_PYTHONS)
    find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
    set(GPU_PYTHONS ${Python_EXECUTABLE})
endif()
find_path(GPU_FFI_INCLUDE ffi.h REQUIRED)
find_library(GPU_FFI NAMES libffi_pic.a libffi.a REQUIRED)

# Links to every file of python/gpu, so that an edit needs no build.
function(gpu_link_package)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python/gpu ${PROJECT_SOURCE_DIR}/python/gpu/*)
    list(FILTER files EXCLUDE REGEX "__pycache__|\\.pyc$")
    foreach(file IN LISTS files)
        get_filename_component(folder ${GPU_PACKAGE}/${file} DIRECTORY)
        file(MAKE_DIRECTORY ${folder})
        file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/gpu/${file} ${GPU_PACKAGE}/${file} SYMBOLIC)
    endforeach()
endfunction()

# core_<tag>: python/ext for one interpreter, as <package>/_core.<tag>.so.
function(gpu_extension python sources)
    execute_process(COMMAND ${python} -c
        "import sysconfig as s; print(s.get_path('include'), s.get_config_var('EXT_SUFFIX'), sep=';')"
        OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    list(GET found 0 include)
    list(GET found 1 suffix)
    if(NOT EXISTS ${include}/Python.h)
        message(FATAL_ERROR "${python} has no Python.h (${include}): install its development package")
    endif()
    if(NOT sources)
        return()
    endif()
    string(REGEX MATCH "3[0-9]+t?" tag ${suffix})
    set(name core_${tag})
    add_library(${name} MODULE ${sources})
    target_include_directories(${name} SYSTEM PRIVATE ${include} ${GPU_FFI_INCLUDE})
    target_compile_definitions(${name} PRIVATE GPU_VERSION="${PROJECT_VERSION}")
    target_link_libraries(${name} PRIVATE gpu_flags gpu_frontend gpu_runtime ${GPU_FFI} ${CMAKE_DL_LIBS})
    target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections)
    set_target_properties(${name} PROPERTIES PREFIX "" OUTPUT_NAME _core SUFFIX ${suffix}
        LIBRARY_OUTPUT_DIRECTORY ${GPU_PACKAGE})
    install(TARGETS ${name} LIBRARY DESTINATION gpu COMPONENT package)
endfunction()
