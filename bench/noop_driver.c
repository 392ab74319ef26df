/* noop_driver.c - a libcuda.so.1 that does nothing, for measuring what is in front of a driver.
 *
 * Memory is the host's and copies are made; kernels are accepted and not run. Every function of cuda_api.def is there.
 *     cc -shared -fPIC -O2 -o libcuda.so.1 bench/noop_driver.c; GPU_LIBCUDA=$PWD/libcuda.so.1 python ... */
#define _GNU_SOURCE
#include "../runtime/cuda_abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUDA_USED(name, base, since, stream, parameters) CUresult name parameters;
#define CUDA_MORE(name, base, since, stream, parameters) CUDA_USED(name, base, since, stream, parameters)
#include "../runtime/cuda_api.def"

/* What isn't written below succeeds and leaves its arguments alone. */
static CUresult nothing(void) { return CUDA_SUCCESS; }

static struct CUctx_st *current;
static char context[1], object[1];

CUresult cuDriverGetVersion(int *version) { return *version = 13000, CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int *n) { return *n = 1, CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice *d, int ordinal) { return *d = ordinal, CUDA_SUCCESS; }
CUresult cuDeviceGetName(char *name, int n, CUdevice d) {
    snprintf(name, (size_t)n, "no-op device %d", d);
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice d) { return *bytes = (size_t)8 << 30, (CUresult)(d * 0); }

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute a, CUdevice d) {
    static const struct {
        CUdevice_attribute attribute;
        int value;
    } rows[] = {{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
                {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
                {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
                {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
                {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
                {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
                {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
                {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
                {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
                {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
                {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
                {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
                {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
                {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
                {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1}};
    *value = d * 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].attribute == a) *value = rows[i].value;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d) {
    return *c = (CUcontext)(void *)(context + d), CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext *c) { return *c = current, CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext c) { return current = c, CUDA_SUCCESS; }

/* ---- memory ------------------------------------------------------------------------------------ */

static void *host(CUdeviceptr at) { return (void *)(uintptr_t)at; }

static CUresult get(CUdeviceptr *at, size_t n) {
    void *p = aligned_alloc(256, (n + 255) / 256 * 256);
    *at = (CUdeviceptr)(uintptr_t)p;
    return p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult move(void *to, const void *from, size_t n) { return memmove(to, from, n), CUDA_SUCCESS; }

CUresult cuMemAlloc_v2(CUdeviceptr *at, size_t n) { return get(at, n); }
CUresult cuMemFree_v2(CUdeviceptr at) { return free(host(at)), CUDA_SUCCESS; }
CUresult cuMemAllocManaged(CUdeviceptr *at, size_t n, uint32_t flags) { return get(at, n + 0 * flags); }
CUresult cuMemHostAlloc(void **at, size_t n, uint32_t flags) {
    CUdeviceptr p = 0;
    CUresult r = get(&p, n + 0 * flags);
    *at = host(p);
    return r;
}

CUresult cuMemFreeHost(void *at) { return free(at), CUDA_SUCCESS; }
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *at, void *p, uint32_t flags) {
    return *at = (CUdeviceptr)(uintptr_t)p + 0 * flags, CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *left, size_t *total) { return *left = *total = (size_t)8 << 30, CUDA_SUCCESS; }
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t n, CUstream s) {
    return (void)s, move(host(to), from, n);
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, CUstream s) {
    return (void)s, move(to, host(from), n);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
    return (void)s, move(host(to), host(from), n);
}

CUresult cuMemsetD8Async(CUdeviceptr at, uint8_t v, size_t n, CUstream s) {
    return (void)s, memset(host(at), v, n), CUDA_SUCCESS;
}

CUresult cuMemsetD32Async(CUdeviceptr at, uint32_t v, size_t n, CUstream s) {
    for (size_t i = 0; i < n; i++) memcpy((char *)host(at) + 4 * i, &v, 4);
    return (void)s, CUDA_SUCCESS;
}

/* ---- handles and code -------------------------------------------------------------------------- */

CUresult cuStreamCreateWithPriority(CUstream *s, uint32_t flags, int priority) {
    return *s = (CUstream)(void *)(object + 0 * flags + 0 * priority), CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *e, uint32_t flags) { return *e = (CUevent)(void *)(object + 0 * flags), CUDA_SUCCESS; }
CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b) { return (void)a, (void)b, *ms = 0, CUDA_SUCCESS; }

CUresult cuModuleLoadDataEx(CUmodule *m, const void *code, uint32_t n, CUjit_option *options, void **values) {
    (void)code, (void)n, (void)options, (void)values;
    return *m = (CUmodule)(void *)object, CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name) {
    return (void)m, (void)name, *f = (CUfunction)(void *)object, CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute a, CUfunction f) {
    (void)f;
    return *value = a == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0, CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f, CUoccupancyB2DSize shared, size_t bytes,
                                          int limit) {
    (void)f, (void)shared, (void)bytes, (void)limit;
    return *grid = 264, *block = 1024, CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, CUfunction f, int threads, size_t bytes) {
    return (void)f, (void)bytes, *n = 2048 / threads, CUDA_SUCCESS;
}

/* ---- names ------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *base;
    int since;
} table[] = {
#define CUDA_USED(name, base, since, stream, parameters) {#name, #base, since},
#define CUDA_MORE(name, base, since, stream, parameters) {#name, #base, since},
#include "../runtime/cuda_api.def"
};

/* The newest variant of that version that is written above, else `nothing`. */
CUresult cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags,
                             CUdriverProcAddressQueryResult *found) {
    CUresult (*fn)(void) = nothing;
    Dl_info self;
    void *library = dladdr(context, &self) ? dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *newest = NULL;
    (void)flags;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(name, table[i].base) == 0 && version >= table[i].since && library)
            newest = dlsym(library, table[i].name);
    if (newest) *out = newest;
    else memcpy(out, &fn, sizeof fn);
    if (found) *found = CU_GET_PROC_ADDRESS_SUCCESS;
    return CUDA_SUCCESS;
}
