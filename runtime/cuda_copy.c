/* cuda_copy.c - copies between host, device and other devices, and fills. */
#include "cuda.h"

#include <string.h>

enum { SET_ASIDE = 64 << 10 /* bytes that the driver buffers */ };

/* ---- copies ------------------------------------------------------------------------------------ */

static CUdeviceptr address(const void *p) { return (CUdeviceptr)(uintptr_t)p; }

static CUresult copy_rows(const CudaDriver *cu, const Copy *c, CUstream s) {
    CUDA_MEMCPY2D m = {.srcPitch = c->from_pitch, .dstPitch = c->to_pitch, .WidthInBytes = c->width, .Height = c->rows};
    m.srcMemoryType = c->kind == COPY_TO_DEVICE ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    m.dstMemoryType = c->kind == COPY_TO_HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    if (m.srcMemoryType == CU_MEMORYTYPE_HOST) m.srcHost = c->from;
    else m.srcDevice = address(c->from);
    if (m.dstMemoryType == CU_MEMORYTYPE_HOST) m.dstHost = c->to;
    else m.dstDevice = address(c->to);
    return cu->cuMemcpy2DAsync_v2(&m, s);
}

static CUresult copy(CudaDevice *d, const Copy *c, CUstream s, const char **call) {
    const CudaDriver *cu = d->cu;
    CudaDevice *from = (CudaDevice *)c->from_device;
    if (from && from != d) {
        *call = "cuMemcpyPeerAsync";
        return cu->cuMemcpyPeerAsync(address(c->to), d->context, address(c->from), from->context, c->width, s);
    }
    if (c->rows > 1) {
        *call = "cuMemcpy2DAsync";
        return copy_rows(cu, c, s);
    }
    switch (c->kind) {
    case COPY_TO_DEVICE:
        *call = "cuMemcpyHtoDAsync";
        return cu->cuMemcpyHtoDAsync_v2(address(c->to), c->from, c->width, s);
    case COPY_TO_HOST:
        *call = "cuMemcpyDtoHAsync";
        return cu->cuMemcpyDtoHAsync_v2(c->to, address(c->from), c->width, s);
    case COPY_ON_DEVICE: break;
    }
    *call = "cuMemcpyDtoDAsync";
    return cu->cuMemcpyDtoDAsync_v2(address(c->to), address(c->from), c->width, s);
}

static bool is_pageable(CudaDevice *d, const Copy *c, CUstream s) {
    return c->kind != COPY_ON_DEVICE && !cuda_region_used(d, c->kind == COPY_TO_DEVICE ? c->from : c->to, s);
}

/* The driver's copy of pageable memory waits for the stream, but for a few bytes that it can set aside. Nothing
 * interrupts that, so it is waited for before. The emulator waits always. */
static bool waits(const CudaDevice *d, const Copy *c) {
    return c->kind == COPY_TO_HOST || c->width * c->rows > SET_ASIDE || d->cu->interrupt;
}

Status cuda_copy(Device *device, const Copy *c, Stream *s, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    if (c->width == 0 || c->rows == 0) return GPU_OK;
    if (c->from_device && c->from_device != device && strcmp(c->from_device->ops->kind, device->ops->kind) != 0)
        return failure_set(f, GPU_ERROR_UNSUPPORTED, "%s can't copy from %s directly", device->name,
                           c->from_device->name);
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    CUstream stream = cuda_stream_of(s);
    const char *call;
    bool pageable = is_pageable(d, c, stream);
    if (pageable && c->waiter && waits(d, c)) status = cuda_wait(d, stream, c->waiter, f);
    CUresult r = status == GPU_OK ? copy(d, c, stream, &call) : CUDA_SUCCESS;
    /* Where the driver stages such memory, it has read or written it when the call returns. Where the device reaches
     * it by itself, it may copy later. */
    if (status == GPU_OK && !r && pageable && d->base.info.pageable_memory_access) {
        call = "cuStreamSynchronize";
        r = d->cu->cuStreamSynchronize(stream);
    }
    if (r) status = cuda_fail(d, d->cu, r, call, f);
    cuda_leave(d, before);
    return status;
}

/* Possible directly? If so it is made so, for copies and kernels. */
Status cuda_peer_access(Device *device, Device *other, bool *possible, Failure *f) {
    CudaDevice *d = (CudaDevice *)device, *o = (CudaDevice *)other;
    CUcontext before;
    *possible = device == other;
    if (device == other || strcmp(device->ops->kind, other->ops->kind) != 0) return GPU_OK;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    int can = 0;
    const char *call = "cuDeviceCanAccessPeer";
    CUresult r = d->cu->cuDeviceCanAccessPeer(&can, d->handle, o->handle);
    if (!r && can) {
        call = "cuCtxEnablePeerAccess";
        r = d->cu->cuCtxEnablePeerAccess(o->context, 0);
        if (r == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) r = CUDA_SUCCESS;
    }
    if (r) status = cuda_fail(d, d->cu, r, call, f);
    *possible = !r && can;
    cuda_leave(d, before);
    return status;
}

/* ---- fills ------------------------------------------------------------------------------------- */

/* A value whose bytes are all the same, or one of 2 or 4 bytes, is the driver's memset. */
static bool memset_unit(const uint8_t *element, unsigned bytes, unsigned *unit) {
    for (*unit = 1; *unit <= 4; *unit *= 2) {
        bool same = bytes % *unit == 0;
        for (unsigned i = *unit; same && i < bytes; i++) same = element[i] == element[i - *unit];
        if (same) return true;
    }
    return false;
}

static CUresult set(CudaDevice *d, CUdeviceptr at, const uint8_t *element, unsigned unit, size_t count, CUstream s,
                    const char **call) {
    uint16_t v16;
    uint32_t v32;
    switch (unit) {
    case 1: *call = "cuMemsetD8Async"; return d->cu->cuMemsetD8Async(at, element[0], count, s);
    case 2:
        *call = "cuMemsetD16Async";
        memcpy(&v16, element, sizeof v16);
        return d->cu->cuMemsetD16Async(at, v16, count, s);
    default:
        *call = "cuMemsetD32Async";
        memcpy(&v32, element, sizeof v32);
        return d->cu->cuMemsetD32Async(at, v32, count, s);
    }
}

/* One element, then what is there is doubled. */
static CUresult double_up(CudaDevice *d, CUdeviceptr at, const void *element, unsigned bytes, size_t count, CUstream s,
                          const char **call) {
    size_t all = count * bytes;
    *call = "cuMemcpyHtoDAsync";
    CUresult r = d->cu->cuMemcpyHtoDAsync_v2(at, element, bytes, s);
    if (!r && d->base.info.pageable_memory_access) r = d->cu->cuStreamSynchronize(s);
    for (size_t done = bytes; !r && done < all; done *= 2) {
        *call = "cuMemcpyDtoDAsync";
        r = d->cu->cuMemcpyDtoDAsync_v2(at + done, at, done < all - done ? done : all - done, s);
    }
    return r;
}

Status cuda_fill(Device *device, void *at, const void *element, unsigned bytes, size_t count, Stream *s, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    if (count == 0) return GPU_OK;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    unsigned unit;
    const char *call;
    CUresult r = memset_unit(element, bytes, &unit)
                     ? set(d, address(at), element, unit, count * bytes / unit, cuda_stream_of(s), &call)
                     : double_up(d, address(at), element, bytes, count, cuda_stream_of(s), &call);
    if (r) status = cuda_fail(d, d->cu, r, call, f);
    cuda_leave(d, before);
    return status;
}
