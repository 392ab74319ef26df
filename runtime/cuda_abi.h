/* cuda_abi.h - the types, constants and error codes of the CUDA driver's binary interface, as far as we call or offer it.
 *
 * Written from the interface's documentation, so that neither building nor running needs NVIDIA's toolkit. Names are those of
 * the interface. cuda_api.def lists the functions, cuda_errors.def the error codes. */
#ifndef GPU_CUDA_ABI_H
#define GPU_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef enum CUresult {
#define CUDA_ERROR(code, name, text, advice) name = code,
#include "cuda_errors.def"
} CUresult;

/* ---- handles ----------------------------------------------------------------------------------- */

typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUlinkState_st *CUlinkState;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct CUarray_st *CUarray;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUuserObject_st *CUuserObject;
typedef struct CUgraph_st *CUgraphExec;   /* the emulator has one structure for both */
typedef struct CUgreenCtx_st *CUgreenCtx;
typedef struct CUgraphEdgeData CUgraphEdgeData;

#define CU_STREAM_LEGACY ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)

/* Enumerations of which only a few values matter here. */
typedef int CUfunc_cache, CUsharedconfig, CUarray_format, CUexecAffinityType, CUmem_advise, CUmem_range_attribute;
typedef int CUlibraryOption, CUmoduleLoadingMode, CUfunctionLoadingState, CUstreamCaptureMode, CUstreamCaptureStatus;
typedef int CUmemAllocationType, CUmemAccess_flags, CUdevice_P2PAttribute;
enum { CU_DEVICE_P2P_ACCESS_SUPPORTED = 2, CU_DEVICE_P2P_NATIVE_ATOMICS = 3, CU_DEVICE_P2P_ARRAYS = 4 };
enum { CU_MODULE_EAGER_LOADING = 1, CU_MODULE_LAZY_LOADING = 2 };
enum { CU_DEVICE_CPU = -1 };

typedef enum CUdriverProcAddressQueryResult {
    CU_GET_PROC_ADDRESS_SUCCESS, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
} CUdriverProcAddressQueryResult;
enum { CU_GET_PROC_ADDRESS_LEGACY_STREAM = 1, CU_GET_PROC_ADDRESS_PER_THREAD_STREAM = 2 };

/* ---- flags ------------------------------------------------------------------------------------- */

enum { CU_CTX_SCHED_AUTO = 0, CU_CTX_SCHED_SPIN = 1, CU_CTX_SCHED_YIELD = 2, CU_CTX_SCHED_BLOCKING_SYNC = 4, CU_CTX_SCHED_MASK = 7,
       CU_CTX_MAP_HOST = 8, CU_CTX_FLAGS_MASK = 0xff };
enum { CU_STREAM_DEFAULT = 0, CU_STREAM_NON_BLOCKING = 1 };
enum { CU_EVENT_DEFAULT = 0, CU_EVENT_BLOCKING_SYNC = 1, CU_EVENT_DISABLE_TIMING = 2, CU_EVENT_INTERPROCESS = 4 };
enum { CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 1 };
enum { CU_MEMHOSTALLOC_PORTABLE = 1, CU_MEMHOSTALLOC_DEVICEMAP = 2, CU_MEMHOSTALLOC_WRITECOMBINED = 4 };
enum { CU_MEM_ATTACH_GLOBAL = 1, CU_MEM_ATTACH_HOST = 2, CU_MEM_ATTACH_SINGLE = 4 };
enum { CU_OCCUPANCY_DEFAULT = 0, CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE = 1 };

/* Entries of cuLaunchKernel's `extra`. */
#define CU_LAUNCH_PARAM_END ((void *)0)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)

/* ---- attributes: tables of what we ask for or answer ------------------------------------------- */

typedef enum CUdevice_attribute {
#define CUDA_DEVICE_ATTRIBUTE(number, name, emulated) CU_DEVICE_ATTRIBUTE_##name = number,
#include "cuda_attributes.def"
} CUdevice_attribute;

typedef enum CUfunction_attribute {
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, CU_FUNC_ATTRIBUTE_NUM_REGS, CU_FUNC_ATTRIBUTE_PTX_VERSION, CU_FUNC_ATTRIBUTE_BINARY_VERSION,
    CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
    CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, CU_FUNC_ATTRIBUTE_MAX
} CUfunction_attribute;

typedef enum CUmemorytype { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_UNIFIED } CUmemorytype;

typedef enum CUpointer_attribute {
    CU_POINTER_ATTRIBUTE_CONTEXT = 1, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_HOST_POINTER,
    CU_POINTER_ATTRIBUTE_P2P_TOKENS, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, CU_POINTER_ATTRIBUTE_BUFFER_ID, CU_POINTER_ATTRIBUTE_IS_MANAGED,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
    CU_POINTER_ATTRIBUTE_RANGE_SIZE, CU_POINTER_ATTRIBUTE_MAPPED, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES,
    CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
    CU_POINTER_ATTRIBUTE_MAPPING_SIZE, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID
} CUpointer_attribute;

typedef enum CUjit_option {
    CU_JIT_MAX_REGISTERS, CU_JIT_THREADS_PER_BLOCK, CU_JIT_WALL_TIME, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
    CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_TARGET_FROM_CUCONTEXT, CU_JIT_TARGET,
    CU_JIT_FALLBACK_STRATEGY, CU_JIT_GENERATE_DEBUG_INFO, CU_JIT_LOG_VERBOSE, CU_JIT_GENERATE_LINE_INFO, CU_JIT_CACHE_MODE,
    CU_JIT_LAST_OPTION = 34
} CUjit_option;

typedef enum CUjitInputType {
    CU_JIT_INPUT_CUBIN, CU_JIT_INPUT_PTX, CU_JIT_INPUT_FATBINARY, CU_JIT_INPUT_OBJECT, CU_JIT_INPUT_LIBRARY, CU_JIT_INPUT_NVVM
} CUjitInputType;

typedef enum CUlimit {
    CU_LIMIT_STACK_SIZE, CU_LIMIT_PRINTF_FIFO_SIZE, CU_LIMIT_MALLOC_HEAP_SIZE, CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH,
    CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, CU_LIMIT_MAX_L2_FETCH_GRANULARITY, CU_LIMIT_PERSISTING_L2_CACHE_SIZE, CU_LIMIT_MAX
} CUlimit;

typedef enum CUmemPool_attribute {
    CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
    CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH,
    CU_MEMPOOL_ATTR_USED_MEM_CURRENT, CU_MEMPOOL_ATTR_USED_MEM_HIGH
} CUmemPool_attribute;

/* ---- structures -------------------------------------------------------------------------------- */

typedef enum CUgraphNodeType {
    CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_MEMCPY, CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_HOST
} CUgraphNodeType;
typedef struct CUDA_GRAPH_INSTANTIATE_PARAMS {
    uint64_t flags;
    CUstream hUploadStream;
    CUgraphNode hErrNode_out;
    int result_out;
} CUDA_GRAPH_INSTANTIATE_PARAMS;
enum { CUDA_GRAPH_INSTANTIATE_SUCCESS, CUDA_GRAPH_INSTANTIATE_ERROR };
typedef struct CUuuid { uint8_t bytes[16]; } CUuuid;
typedef struct CUipcMemHandle { char reserved[64]; } CUipcMemHandle;
typedef struct CUipcEventHandle { char reserved[64]; } CUipcEventHandle;

typedef struct CUdevprop {
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], sharedMemPerBlock, totalConstantMemory, SIMDWidth, memPitch, regsPerBlock, clockRate,
        textureAlign;
} CUdevprop;

typedef struct CUexecAffinityParam { CUexecAffinityType type; uint32_t smCount; } CUexecAffinityParam;
typedef struct CUctxCreateParams { CUexecAffinityParam *execAffinityParams; int numExecAffinityParams; void *cigParams; } CUctxCreateParams;

typedef struct CUDA_MEMCPY2D {
    size_t srcXInBytes, srcY;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    size_t dstPitch;
    size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

/* CUDA_MEMCPY3D has nothing where this one has the contexts. */
typedef struct CUDA_MEMCPY3D_PEER {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    CUcontext srcContext;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    CUcontext dstContext;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D_PEER, CUDA_MEMCPY3D;

typedef enum CUmemLocationType { CU_MEM_LOCATION_DEVICE = 1, CU_MEM_LOCATION_HOST = 2 } CUmemLocationType;
typedef struct CUmemLocation { CUmemLocationType type; int id; } CUmemLocation;
typedef struct CUmemAccessDesc { CUmemLocation location; CUmemAccess_flags flags; } CUmemAccessDesc;
enum { CU_MEM_ACCESS_NONE = 0, CU_MEM_ACCESS_READ = 1, CU_MEM_ACCESS_READWRITE = 3 };
enum { CU_MEM_ALLOCATION_PINNED = 1, CU_MEM_ALLOCATION_MANAGED = 2 };

typedef struct CUmemPoolProps {
    CUmemAllocationType allocType;
    int handleTypes;
    CUmemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    uint16_t usage;
    uint8_t reserved[54];
} CUmemPoolProps;

typedef enum CUlaunchAttributeID {
    CU_LAUNCH_ATTRIBUTE_IGNORE = 0, CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6, CU_LAUNCH_ATTRIBUTE_PRIORITY = 8, CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION = 11,
    CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE = 13
} CUlaunchAttributeID;

typedef struct CUlaunchAttribute {
    CUlaunchAttributeID id;
    uint32_t pad;
    union { char pad[64]; int cooperative; int priority; struct { uint32_t x, y, z; } clusterDim; } value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig {
    uint32_t gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    uint32_t numAttrs;
} CUlaunchConfig;

typedef void (*CUstreamCallback)(CUstream stream, CUresult status, void *user);
typedef void (*CUhostFn)(void *user);
typedef size_t (*CUoccupancyB2DSize)(int block);

#endif
