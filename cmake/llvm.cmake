# gpu_llvm: LLVM as static libraries, to be hidden inside libgpu_compiler.so.
#
# Hidden, so that it lives in one process with the LLVM of llvmlite, Triton or PyTorch: the version script exports
# gpu_compiler() alone, and -Bsymbolic keeps our calls inside.
find_package(LLVM 22.1 CONFIG REQUIRED HINTS /usr/lib/llvm-22)
llvm_map_components_to_libnames(llvm_libraries
    NVPTX X86CodeGen OrcJIT Passes BitReader BitWriter Linker IRReader Core Support Target)

# Debian's LLVMSupport names z3, zlib and zstd as shared libraries. Nothing of z3 is used; the others are linked in.
find_library(GPU_ZLIB libz.a REQUIRED)
find_library(GPU_ZSTD libzstd.a REQUIRED)
set_target_properties(LLVMSupport PROPERTIES
    INTERFACE_LINK_LIBRARIES "rt;dl;m;${GPU_ZLIB};${GPU_ZSTD};LLVMDemangle")

add_library(gpu_llvm INTERFACE)
target_include_directories(gpu_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(gpu_llvm INTERFACE ${llvm_libraries})
target_link_options(gpu_llvm INTERFACE
    -static-libgcc -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,--as-needed -Wl,-Bsymbolic
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/gpu_compiler.map)
# The addresses to fill in when the library is loaded, in a thirtieth of the space.
include(CheckLinkerFlag)
check_linker_flag(CXX -Wl,-z,pack-relative-relocs GPU_LINKER_PACKS)
if(GPU_LINKER_PACKS)
    target_link_options(gpu_llvm INTERFACE -Wl,-z,pack-relative-relocs)
endif()
if(GPU_SANITIZE)
    # The sanitizer's own library is resolved when the program starts.
    target_link_options(gpu_llvm INTERFACE -static-libstdc++)
else()
    target_link_options(gpu_llvm INTERFACE -static-libstdc++ -Wl,-z,defs)
endif()
