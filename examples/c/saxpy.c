/* saxpy.c - launches a kernel that was written in Python, through the CUDA driver alone.
 *
 *     gpu ptx saxpy.py:saxpy --arch sm_80 -o saxpy.ptx --header saxpy.h
 *     cc -std=c17 saxpy.c -ldl -o saxpy
 *     ./saxpy saxpy.ptx
 *
 * The few driver functions are declared here and looked up at run time, so that it compiles without the CUDA toolkit.
 */
#include "saxpy.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 20, BLOCK = 256 };

#define CU_LAUNCH_PARAM_END ((void *)0)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)

typedef int CUresult;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;

static CUresult (*cuInit)(unsigned);
static CUresult (*cuDeviceGet)(int *, int);
static CUresult (*cuCtxCreate)(CUcontext *, unsigned, int);
static CUresult (*cuModuleLoad)(CUmodule *, const char *);
static CUresult (*cuModuleGetFunction)(CUfunction *, CUmodule, const char *);
static CUresult (*cuMemAlloc)(uint64_t *, size_t);
static CUresult (*cuMemcpyHtoD)(uint64_t, const void *, size_t);
static CUresult (*cuMemcpyDtoH)(void *, uint64_t, size_t);
static CUresult (*cuMemFree)(uint64_t);
static CUresult (*cuLaunchKernel)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                  CUstream, void **, void **);
static CUresult (*cuCtxSynchronize)(void);
static CUresult (*cuCtxDestroy)(CUcontext);

static const struct {
    const char *name;
    void *slot;
} driver[] = {
    {"cuInit", &cuInit},
    {"cuDeviceGet", &cuDeviceGet},
    {"cuCtxCreate_v2", &cuCtxCreate},
    {"cuModuleLoad", &cuModuleLoad},
    {"cuModuleGetFunction", &cuModuleGetFunction},
    {"cuMemAlloc_v2", &cuMemAlloc},
    {"cuMemcpyHtoD_v2", &cuMemcpyHtoD},
    {"cuMemcpyDtoH_v2", &cuMemcpyDtoH},
    {"cuMemFree_v2", &cuMemFree},
    {"cuLaunchKernel", &cuLaunchKernel},
    {"cuCtxSynchronize", &cuCtxSynchronize},
    {"cuCtxDestroy_v2", &cuCtxDestroy},
};

static void load_driver(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "no NVIDIA driver: %s\n", dlerror());
        exit(77);
    }
    for (size_t i = 0; i < sizeof driver / sizeof *driver; i++) {
        *(void **)driver[i].slot = dlsym(library, driver[i].name);
        if (!*(void **)driver[i].slot) {
            fprintf(stderr, "the driver has no %s\n", driver[i].name);
            exit(1);
        }
    }
}

static void check(CUresult result, const char *what) {
    if (result == 0) return;
    fprintf(stderr, "%s: CUDA error %d\n", what, result);
    exit(1);
}
#define CHECK(call) check(call, #call)

static float x[N], y[N];

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: saxpy saxpy.ptx\n");
        return 2;
    }
    load_driver();
    int device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, 0, device));
    CHECK(cuModuleLoad(&module, argv[1]));
    CHECK(cuModuleGetFunction(&function, module, SAXPY_ENTRY));

    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = 1.0f;
    }
    uint64_t x_device, y_device;
    CHECK(cuMemAlloc(&x_device, sizeof x));
    CHECK(cuMemAlloc(&y_device, sizeof y));
    CHECK(cuMemcpyHtoD(x_device, x, sizeof x));
    CHECK(cuMemcpyHtoD(y_device, y, sizeof y));

    saxpy_params params = {.a = 2.0f, .x = x_device, .y = y_device, .y_shape0 = N};
    size_t size = SAXPY_PARAMS_BYTES;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &params, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    CHECK(cuLaunchKernel(function, (N + BLOCK - 1) / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, NULL, extra));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(y, y_device, sizeof y));

    int wrong = 0;
    for (int i = 0; i < N; i++) wrong += y[i] != 2.0f * (float)i + 1.0f;
    printf("%d elements, %d wrong\n", N, wrong);
    CHECK(cuMemFree(x_device));
    CHECK(cuMemFree(y_device));
    CHECK(cuCtxDestroy(context));
    return wrong != 0;
}
