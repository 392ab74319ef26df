/* test_driver.c - everything that the emulated driver hands out and takes back, so that a leak checker sees what stays.
 */
#include "../../../runtime/emulator/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(call)                                                                                                       \
    do {                                                                                                               \
        CUresult r_ = (call);                                                                                          \
        if (r_) {                                                                                                      \
            printf("line %d: %s gives %d\n", __LINE__, #call, r_);                                                     \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("line %d: not so: %s\n", __LINE__, #condition);                                                     \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static const char *const ptx = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".global .align 4 .u32 here = 5;\n"
                               ".visible .entry set(.param .u64 to, .param .u32 value) {\n"
                               "  .reg .b64 %rd1; .reg .b32 %r1;\n"
                               "  ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [value];\n"
                               "  st.global.u32 [%rd1], %r1;\n"
                               "  ret;\n"
                               "}\n"
                               ".visible .entry stop() { trap; }\n";

static void launch(CUfunction f, CUdeviceptr to, uint32_t value, CUstream stream) {
    void *params[] = {&to, &value};
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
}

static uint32_t word_at(CUdeviceptr p) {
    uint32_t word;
    OK(cuMemcpyDtoH_v2(&word, p, sizeof word));
    return word;
}

static void modules_and_memory(void) {
    CUmodule module;
    CUfunction f;
    CUdeviceptr p;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&f, module, "set"));
    OK(cuMemAlloc_v2(&p, 4));
    launch(f, p, 42, NULL);
    CHECK(word_at(p) == 42);
    OK(cuMemFree_v2(p));
    OK(cuModuleUnload(module));
}

static void libraries(void) {
    CUlibrary library;
    CUkernel kernel;
    CUfunction f;
    CUdeviceptr p;
    size_t bytes;
    OK(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "set"));
    OK(cuKernelGetFunction(&f, kernel));
    OK(cuLibraryGetGlobal(&p, &bytes, library, "here"));
    CHECK(bytes == 4 && word_at(p) == 5);
    launch(f, p, 6, NULL);
    CHECK(word_at(p) == 6);
    OK(cuLibraryUnload(library));
}

static void linker(void) {
    CUlinkState state;
    CUmodule module;
    void *image;
    size_t size;
    OK(cuLinkCreate_v2(0, NULL, NULL, &state));
    OK(cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)ptx, strlen(ptx), "a", 0, NULL, NULL));
    OK(cuLinkComplete(state, &image, &size));
    OK(cuModuleLoadData(&module, image));
    OK(cuLinkDestroy(state));
    OK(cuModuleUnload(module));
}

static void streams(void) {
    CUstream stream;
    CUevent event;
    CUdeviceptr p;
    CUmemoryPool pool;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_PINNED, .location = {CU_MEM_LOCATION_DEVICE, 0}};
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, 0));
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemAllocFromPoolAsync(&p, 1000, pool, stream));
    OK(cuMemsetD8Async(p, 1, 1000, stream));
    OK(cuEventRecord(event, stream));
    OK(cuEventDestroy_v2(event)); /* while it is in the queue */
    OK(cuMemFreeAsync(p, stream));
    OK(cuMemPoolDestroy(pool)); /* while it has memory */
    OK(cuStreamDestroy_v2(stream));
    OK(cuCtxSynchronize());
}

static void host_memory(void) {
    void *p, *own = malloc(5000);
    OK(cuMemHostAlloc(&p, 5000, 0));
    OK(cuMemHostRegister_v2(own, 5000, 0));
    OK(cuMemFreeHost(p));
    OK(cuMemHostUnregister(own));
    free(own);
}

/* What a context has goes with it, also what failed in the middle. */
static void left_behind(void) {
    CUmodule module;
    CUfunction f;
    CUdeviceptr p;
    CUstream stream;
    CUevent event;
    void *host;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&f, module, "stop"));
    OK(cuMemAlloc_v2(&p, 100));
    OK(cuMemHostAlloc(&host, 100, 0));
    OK(cuStreamCreate(&stream, 0));
    OK(cuEventCreate(&event, 0));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    /* These are too late if the device is quick. */
    (void)cuEventRecord(event, stream);
    (void)cuMemFreeAsync(p, stream);
    CHECK(cuCtxSynchronize() == CUDA_ERROR_LAUNCH_FAILED);
}

static void faults(void) {
    EmulatorFault fault = {.size = sizeof fault};
    CHECK(gpuEmulatorTakeFault(&fault));
    CHECK(!strcmp(fault.kernel, "stop") && fault.cuda_error == 719 && strstr(fault.text, "stop"));
    gpuEmulatorFreeFault(&fault);
    CHECK(!gpuEmulatorTakeFault(&fault));
}

static void profile(void) {
    size_t n;
    gpuEmulatorProfile(true);
    modules_and_memory();
    EmulatorLine *lines = gpuEmulatorProfileRead(&n);
    CHECK(n == 1 && !strcmp(lines[0].kernel, "set") && lines[0].launches == 1);
    CHECK(lines[0].counters.instructions == 4 && lines[0].counters.lanes == 4 && lines[0].counters.requests == 1);
    CHECK(lines[0].counters.bytes_written == 4);
    gpuEmulatorFreeLines(lines);
    gpuEmulatorProfile(false);
    gpuEmulatorProfileClear();
    lines = gpuEmulatorProfileRead(&n);
    CHECK(n == 0);
    gpuEmulatorFreeLines(lines);
}

int main(void) {
    CUcontext context;
    size_t before, after, total;
    gpuEmulatorPrintFaults(false);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuMemGetInfo_v2(&before, &total));
    for (int i = 0; i < 3; i++) {
        modules_and_memory();
        libraries();
        linker();
        streams();
        host_memory();
        OK(cuMemGetInfo_v2(&after, &total));
        CHECK(after == before);
        left_behind();
        OK(cuDevicePrimaryCtxReset_v2(0));
        OK(cuMemGetInfo_v2(&after, &total));
        CHECK(after == before);
        faults();
    }
    profile();
    OK(cuDevicePrimaryCtxRelease_v2(0));
    CHECK(cuCtxSynchronize() == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    puts("ok");
    return 0;
}
