/* driver_old.c - launches as they were before cuLaunchKernel: shape, size and arguments are set one by one in the
 * function. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

static CUresult begin(Entry entry, CUfunction handle, Function **f) {
    Context *c;
    CUresult r = call_begin(entry, NEEDS_WORKING, &c);
    if (r) return r;
    r = function_find(c, handle, f);
    return r ? call_end(r) : CUDA_SUCCESS;
}

CUresult cuFuncSetBlockShape(CUfunction handle, int x, int y, int z) {
    Function *f;
    CUresult r = begin(ENTRY_cuFuncSetBlockShape, handle, &f);
    if (r) return r;
    if (x <= 0 || y <= 0 || z <= 0) return call_end(CUDA_ERROR_INVALID_VALUE);
    f->old.block[0] = (uint32_t)x;
    f->old.block[1] = (uint32_t)y;
    f->old.block[2] = (uint32_t)z;
    return call_end(CUDA_SUCCESS);
}

CUresult cuFuncSetSharedSize(CUfunction handle, uint32_t bytes) {
    Function *f;
    CUresult r = begin(ENTRY_cuFuncSetSharedSize, handle, &f);
    if (r) return r;
    f->old.shared = bytes;
    return call_end(CUDA_SUCCESS);
}

CUresult cuParamSetSize(CUfunction handle, uint32_t bytes) {
    Function *f;
    CUresult r = begin(ENTRY_cuParamSetSize, handle, &f);
    if (r) return r;
    if (bytes > f->func->param_bytes) return call_end(CUDA_ERROR_INVALID_VALUE);
    f->old.bytes = bytes;
    return call_end(CUDA_SUCCESS);
}

static CUresult set(Entry entry, CUfunction handle, int offset, const void *value, uint32_t bytes) {
    Function *f;
    CUresult r = begin(entry, handle, &f);
    if (r) return r;
    uint32_t room = f->func->param_bytes;
    if (!value || offset < 0 || (uint32_t)offset > room || bytes > room - (uint32_t)offset)
        return call_end(CUDA_ERROR_INVALID_VALUE);
    if (!f->old.params) f->old.params = calloc(1, room + 1);
    if (!f->old.params) return call_end(CUDA_ERROR_OUT_OF_MEMORY);
    memcpy(f->old.params + offset, value, bytes);
    return call_end(CUDA_SUCCESS);
}

CUresult cuParamSeti(CUfunction f, int offset, uint32_t value) {
    return set(ENTRY_cuParamSeti, f, offset, &value, sizeof value);
}
CUresult cuParamSetf(CUfunction f, int offset, float value) {
    return set(ENTRY_cuParamSetf, f, offset, &value, sizeof value);
}
CUresult cuParamSetv(CUfunction f, int offset, void *value, uint32_t bytes) {
    return set(ENTRY_cuParamSetv, f, offset, value, bytes);
}

static CUresult start(Entry entry, CUfunction handle, int width, int height, CUstream stream) {
    Function *f;
    CUresult r = begin(entry, handle, &f);
    if (r) return r;
    if (width <= 0 || height <= 0 || f->old.bytes < f->func->param_bytes) return call_end(CUDA_ERROR_INVALID_VALUE);
    const uint32_t *b = f->old.block;
    CUlaunchConfig c = {(uint32_t)width, (uint32_t)height, 1, b[0], b[1], b[2], f->old.shared, stream, NULL, 0};
    size_t bytes = f->old.bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, f->old.params, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    return call_end(launch_function(f->module->context, f, &c, NULL, extra, false));
}

CUresult cuLaunch(CUfunction f) { return start(ENTRY_cuLaunch, f, 1, 1, NULL); }
CUresult cuLaunchGrid(CUfunction f, int width, int height) { return start(ENTRY_cuLaunchGrid, f, width, height, NULL); }
CUresult cuLaunchGridAsync(CUfunction f, int width, int height, CUstream stream) {
    return start(ENTRY_cuLaunchGridAsync, f, width, height, stream);
}
