/* fake_driver.c - a libcuda.so.1 for the test of examples/c: host memory, and one "kernel" that reads the parameter
 * buffer by the header's struct and does what saxpy does. It shows that a C program can fill in the header's struct and
 * hand it to the driver; what the PTX computes is tested elsewhere. */
#include "saxpy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned flags) { return flags ? 1 : 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = 0, ordinal; }
int cuCtxCreate_v2(void **context, unsigned flags, int device) { return *context = NULL, (int)flags + device; }
int cuCtxSynchronize(void) { return 0; }
int cuCtxDestroy_v2(void *context) { return context != NULL; }

/* A module is the text of its file; a function is its module, if that has the entry. */
int cuModuleLoad(void **module, const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) return 301;
    char *text = calloc(1, 1 << 20);
    size_t n = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    *module = text;
    return n ? 0 : 218;
}

int cuModuleGetFunction(void **function, char *module, const char *name) {
    char head[300];
    snprintf(head, sizeof head, ".entry %s(", name);
    *function = module;
    return strstr(module, head) ? 0 : 500;
}

int cuMemAlloc_v2(uint64_t *address, size_t size) { return *address = (uint64_t)(uintptr_t)malloc(size), 0; }
int cuMemFree_v2(uint64_t address) { return free((void *)(uintptr_t)address), 0; }
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n) { return memcpy((void *)(uintptr_t)to, from, n), 0; }
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n) { return memcpy(to, (void *)(uintptr_t)from, n), 0; }

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **params, void **extra) {
    if (!function || gy * gz * by * bz != 1 || shared || stream || params) return 1;
    if (extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4]) return 1;
    if (*(size_t *)extra[3] != SAXPY_PARAMS_BYTES) return 1;
    saxpy_params p;
    memcpy(&p, extra[1], SAXPY_PARAMS_BYTES);
    float *x = (float *)(uintptr_t)p.x, *y = (float *)(uintptr_t)p.y;
    for (uint64_t i = 0; i < (uint64_t)gx * bx; i++)
        if ((int64_t)i < p.y_shape0) y[i] = p.a * x[i] + y[i];
    free(function);
    return 0;
}
