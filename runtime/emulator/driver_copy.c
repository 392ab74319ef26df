/* driver_copy.c - copies and fills. All copies are one: boxes of bytes, of one row for the plain ones.
 *
 * Where both ends are memory that the driver knows (device, pinned, managed) the copy goes into the queue. Pageable
 * host memory belongs to the caller again when the call returns: the call waits. */
#define _GNU_SOURCE
#include "driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* One end of a copy. */
typedef struct End {
    uint64_t address;
    CUmemorytype type;
    size_t pitch, slice; /* bytes from row to row, from plane to plane */
    uint8_t *host;       /* where the bytes are */
    Memory *memory;      /* that the address belongs to; NULL: pageable */
} End;

typedef struct Box {
    End to, from;
    size_t width, height, depth;
} Box;

typedef struct CopyWork {
    Work work;
    Box box;
} CopyWork;

/* ---- where bytes are --------------------------------------------------------------------------- */

/* Of [address, address + bytes), in one allocation of the driver's. */
static bool find_known(End *e, uint64_t address, uint64_t bytes) {
    for (uint32_t i = 0; i < driver.options.devices; i++) {
        e->memory = driver.devices[i].memory;
        e->host = memory_bytes(e->memory, address, bytes);
        if (e->host) return true;
    }
    e->memory = NULL;
    return false;
}

/* Whether an address is one of the device's, alive or freed, so that no host code may touch it. */
static bool of_device(uint64_t address) {
    for (uint32_t i = 0; i < driver.options.devices; i++) {
        const Alloc *a = memory_find(driver.devices[i].memory, address);
        if (a && (!a->freed || (a->kind != ALLOC_HOST && a->kind != ALLOC_MANAGED))) return true;
    }
    return false;
}

/* Whether this process has memory at both ends of the range: a wrong pointer shall be an error, not a crash. Where the
 * system doesn't let us ask, it is believed. */
static bool is_mapped(uint64_t address, uint64_t bytes) {
    char here[2];
    struct iovec to = {here, sizeof here};
    struct iovec from[2] = {{(void *)(uintptr_t)address, 1}, {(void *)(uintptr_t)(address + bytes - 1), 1}};
    ssize_t n = process_vm_readv(getpid(), &to, 1, from, 2, 0);
    return n == 2 || (n < 0 && errno != EFAULT);
}

static CUresult find(End *e, const Box *b) {
    uint64_t rows, span;
    bool one_row = b->height == 1 && b->depth == 1;
    if (!one_row && (e->pitch < b->width || (b->depth > 1 && e->slice < e->pitch * b->height)))
        return CUDA_ERROR_INVALID_VALUE;
    if (__builtin_mul_overflow((uint64_t)e->slice, b->depth - 1, &span) ||
        __builtin_mul_overflow((uint64_t)e->pitch, b->height - 1, &rows) || __builtin_add_overflow(span, rows, &span) ||
        __builtin_add_overflow(span, b->width, &span)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (find_known(e, e->address, span)) {
        AllocKind kind = memory_find(e->memory, e->address)->kind;
        bool host = kind == ALLOC_HOST || kind == ALLOC_MANAGED;
        return e->type == CU_MEMORYTYPE_HOST && !host ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    }
    if (e->type == CU_MEMORYTYPE_DEVICE || of_device(e->address) || !is_mapped(e->address, span))
        return CUDA_ERROR_INVALID_VALUE;
    e->host = (uint8_t *)(uintptr_t)e->address;
    return CUDA_SUCCESS;
}

/* ---- copies ------------------------------------------------------------------------------------ */

static CUresult run_copy(Work *w) {
    const Box *b = &((CopyWork *)w)->box;
    for (size_t z = 0; z < b->depth; z++) {
        for (size_t y = 0; y < b->height; y++) {
            size_t to = z * b->to.slice + y * b->to.pitch;
            memmove(b->to.host + to, b->from.host + z * b->from.slice + y * b->from.pitch, b->width);
            if (b->to.memory) memory_wrote(b->to.memory, b->to.address + to, b->width);
        }
    }
    return CUDA_SUCCESS;
}

/* With the lock; gives it back. The caller has filled in addresses, types, pitches and sizes. */
static CUresult copy(Stream *s, Box box, bool wait) {
    if (!s) return call_end(CUDA_ERROR_INVALID_HANDLE);
    if (!box.width || !box.height || !box.depth) return call_end(CUDA_SUCCESS);
    CUresult r = find(&box.to, &box);
    if (!r) r = find(&box.from, &box);
    if (r) return call_end(r);
    if (s->capture && wait) return call_end(graph_refuse(s));
    wait |= (!box.to.memory || !box.from.memory) && !s->capture;
    CopyWork *w = malloc(sizeof *w);
    if (!w) return call_end(CUDA_ERROR_OUT_OF_MEMORY);
    *w = (CopyWork){.work = {.run = run_copy, .node = CU_GRAPH_NODE_TYPE_MEMCPY, .bytes = sizeof *w}, .box = box};
    if (wait && work_is_mine()) {
        free(w);
        return call_end(CUDA_ERROR_NOT_PERMITTED);
    }
    uint64_t number = work_submit(&w->work, s);
    return call_end(wait ? work_sync(s->context, number) : work_finish(s));
}

/* A plain copy, of one row. */
static CUresult plain(Entry entry, uint64_t to, CUmemorytype to_type, uint64_t from, CUmemorytype from_type,
                      size_t bytes, CUstream stream, bool wait) {
    Context *c;
    CUresult r = call_begin(entry, NEEDS_WORKING, &c);
    if (r) return r;
    Box box = {.to = {.address = to, .type = to_type},
               .from = {.address = from, .type = from_type},
               .width = bytes,
               .height = 1,
               .depth = 1};
    return copy(stream_find(c, stream), box, wait);
}

#define HOST CU_MEMORYTYPE_HOST
#define DEVICE CU_MEMORYTYPE_DEVICE
#define ANY CU_MEMORYTYPE_UNIFIED

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t n) {
    return plain(ENTRY_cuMemcpy, to, ANY, from, ANY, n, NULL, true);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
    return plain(ENTRY_cuMemcpyAsync, to, ANY, from, ANY, n, s, false);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t n) {
    return plain(ENTRY_cuMemcpyHtoD_v2, to, DEVICE, (uintptr_t)from, HOST, n, NULL, true);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t n, CUstream s) {
    return plain(ENTRY_cuMemcpyHtoDAsync_v2, to, DEVICE, (uintptr_t)from, HOST, n, s, false);
}
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t n) {
    return plain(ENTRY_cuMemcpyDtoH_v2, (uintptr_t)to, HOST, from, DEVICE, n, NULL, true);
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, CUstream s) {
    return plain(ENTRY_cuMemcpyDtoHAsync_v2, (uintptr_t)to, HOST, from, DEVICE, n, s, false);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t n) {
    return plain(ENTRY_cuMemcpyDtoD_v2, to, DEVICE, from, DEVICE, n, NULL, false);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
    return plain(ENTRY_cuMemcpyDtoDAsync_v2, to, DEVICE, from, DEVICE, n, s, false);
}

/* ---- between devices --------------------------------------------------------------------------- */

/* Waits for what the other device still does with its memory: its queue isn't ours. */
static CUresult peer(Entry entry, CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                     size_t n, CUstream stream) {
    Context *c;
    CUresult r = call_begin(entry, NEEDS_WORKING, &c);
    if (r) return r;
    Context *ends[2] = {context_find(to_context), context_find(from_context)};
    if (!ends[0] || !ends[1]) return call_end(CUDA_ERROR_INVALID_CONTEXT);
    for (int i = 0; i < 2 && !r; i++) {
        if (ends[i]->device != c->device) r = work_idle(ends[i]);
    }
    if (r) return call_end(r);
    bool other = ends[0]->device != c->device || ends[1]->device != c->device;
    Box box = {.to = {.address = to, .type = DEVICE},
               .from = {.address = from, .type = DEVICE},
               .width = n,
               .height = 1,
               .depth = 1};
    return copy(stream_find(c, stream), box, other);
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext tc, CUdeviceptr from, CUcontext fc, size_t n) {
    return peer(ENTRY_cuMemcpyPeer, to, tc, from, fc, n, NULL);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext tc, CUdeviceptr from, CUcontext fc, size_t n, CUstream s) {
    return peer(ENTRY_cuMemcpyPeerAsync, to, tc, from, fc, n, s);
}

/* ---- boxes ------------------------------------------------------------------------------------- */

/* The address of an end of a box. Arrays (for textures) don't exist here. */
static CUresult end_of(End *e, CUmemorytype type, const void *host, CUdeviceptr device, size_t x, size_t y, size_t z,
                       size_t pitch, size_t height, const CUDA_MEMCPY3D *m) {
    if (type < HOST || type > ANY || type == CU_MEMORYTYPE_ARRAY)
        return type == CU_MEMORYTYPE_ARRAY ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    if (!pitch) pitch = m->WidthInBytes;
    if (!height) height = m->Height;
    uint64_t row, slice, skip, plane;
    if (__builtin_mul_overflow((uint64_t)pitch, height, &slice) || __builtin_mul_overflow(slice, z, &plane) ||
        __builtin_mul_overflow((uint64_t)pitch, y, &row) || __builtin_add_overflow(row, plane, &skip) ||
        __builtin_add_overflow(skip, x, &skip)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *e = (End){.address = (type == HOST ? (uint64_t)(uintptr_t)host : device) + skip,
               .type = type,
               .pitch = pitch,
               .slice = slice};
    return CUDA_SUCCESS;
}

static CUresult boxes(Entry entry, const CUDA_MEMCPY3D *m, CUstream stream, bool wait) {
    Context *c;
    CUresult r = call_begin(entry, NEEDS_WORKING, &c);
    if (r) return r;
    if (!m) return call_end(CUDA_ERROR_INVALID_VALUE);
    Box box = {.width = m->WidthInBytes, .height = m->Height, .depth = m->Depth};
    r = end_of(&box.to, m->dstMemoryType, m->dstHost, m->dstDevice, m->dstXInBytes, m->dstY, m->dstZ, m->dstPitch,
               m->dstHeight, m);
    if (!r)
        r = end_of(&box.from, m->srcMemoryType, m->srcHost, m->srcDevice, m->srcXInBytes, m->srcY, m->srcZ, m->srcPitch,
                   m->srcHeight, m);
    return r ? call_end(r) : copy(stream_find(c, stream), box, wait);
}

/* A rectangle is a box of one plane. */
static CUresult rectangle(Entry entry, const CUDA_MEMCPY2D *m, CUstream stream, bool wait) {
    if (!m) return boxes(entry, NULL, stream, wait);
    CUDA_MEMCPY3D box = {
        .srcXInBytes = m->srcXInBytes,
        .srcY = m->srcY,
        .srcMemoryType = m->srcMemoryType,
        .srcHost = m->srcHost,
        .srcDevice = m->srcDevice,
        .srcPitch = m->srcPitch,
        .dstXInBytes = m->dstXInBytes,
        .dstY = m->dstY,
        .dstMemoryType = m->dstMemoryType,
        .dstHost = m->dstHost,
        .dstDevice = m->dstDevice,
        .dstPitch = m->dstPitch,
        .WidthInBytes = m->WidthInBytes,
        .Height = m->Height,
        .Depth = 1,
    };
    return boxes(entry, &box, stream, wait);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *m) { return rectangle(ENTRY_cuMemcpy2D_v2, m, NULL, true); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *m) {
    return rectangle(ENTRY_cuMemcpy2DUnaligned_v2, m, NULL, true);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *m, CUstream s) {
    return rectangle(ENTRY_cuMemcpy2DAsync_v2, m, s, false);
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *m) { return boxes(ENTRY_cuMemcpy3D_v2, m, NULL, true); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *m, CUstream s) { return boxes(ENTRY_cuMemcpy3DAsync_v2, m, s, false); }
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *m) { return boxes(ENTRY_cuMemcpy3DPeer, m, NULL, true); }
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *m, CUstream s) {
    return boxes(ENTRY_cuMemcpy3DPeerAsync, m, s, true);
}

/* ---- fills ------------------------------------------------------------------------------------- */

typedef struct FillWork {
    Work work;
    End to;
    size_t count, height; /* elements of a row, rows */
    uint32_t value;
    uint8_t bytes; /* of an element */
} FillWork;

static CUresult run_fill(Work *w) {
    const FillWork *f = (FillWork *)w;
    for (size_t y = 0; y < f->height; y++) {
        uint8_t *row = f->to.host + y * f->to.pitch;
        switch (f->bytes) {
        case 1: memset(row, (int)f->value, f->count); break;
        case 2:
            for (size_t i = 0; i < f->count; i++) ((uint16_t *)(void *)row)[i] = (uint16_t)f->value;
            break;
        default:
            for (size_t i = 0; i < f->count; i++) ((uint32_t *)(void *)row)[i] = f->value;
        }
        memory_wrote(f->to.memory, f->to.address + y * f->to.pitch, f->count * f->bytes);
    }
    return CUDA_SUCCESS;
}

/* Fills of device memory don't wait, whatever they are called; of memory that the host sees, only those called so. */
static CUresult fill(Entry entry, CUdeviceptr to, size_t pitch, uint32_t value, uint8_t bytes, size_t count,
                     size_t height, CUstream stream, bool wait) {
    Context *c;
    CUresult r = call_begin(entry, NEEDS_WORKING, &c);
    if (r) return r;
    Stream *s = stream_find(c, stream);
    if (!s) return call_end(CUDA_ERROR_INVALID_HANDLE);
    if (!count || !height) return call_end(CUDA_SUCCESS);
    Box box = {.to = {.address = to, .type = DEVICE, .pitch = pitch}, .height = height, .depth = 1};
    if (to % bytes || pitch % bytes || __builtin_mul_overflow(count, (size_t)bytes, &box.width))
        return call_end(CUDA_ERROR_INVALID_VALUE);
    r = find(&box.to, &box);
    if (r) return call_end(r);
    FillWork *w = malloc(sizeof *w);
    if (!w) return call_end(CUDA_ERROR_OUT_OF_MEMORY);
    *w = (FillWork){.work = {.run = run_fill, .node = CU_GRAPH_NODE_TYPE_MEMSET, .bytes = sizeof *w},
                    .to = box.to,
                    .count = count,
                    .height = height,
                    .value = value,
                    .bytes = bytes};
    AllocKind kind = memory_find(box.to.memory, to)->kind;
    wait &= kind == ALLOC_HOST || kind == ALLOC_MANAGED;
    if (wait && work_is_mine()) {
        free(w);
        return call_end(CUDA_ERROR_NOT_PERMITTED);
    }
    uint64_t number = work_submit(&w->work, s);
    return call_end(wait ? work_sync(s->context, number) : work_finish(s));
}

CUresult cuMemsetD8_v2(CUdeviceptr p, uint8_t v, size_t n) {
    return fill(ENTRY_cuMemsetD8_v2, p, 0, v, 1, n, 1, NULL, true);
}
CUresult cuMemsetD8Async(CUdeviceptr p, uint8_t v, size_t n, CUstream s) {
    return fill(ENTRY_cuMemsetD8Async, p, 0, v, 1, n, 1, s, false);
}
CUresult cuMemsetD16_v2(CUdeviceptr p, uint16_t v, size_t n) {
    return fill(ENTRY_cuMemsetD16_v2, p, 0, v, 2, n, 1, NULL, true);
}
CUresult cuMemsetD16Async(CUdeviceptr p, uint16_t v, size_t n, CUstream s) {
    return fill(ENTRY_cuMemsetD16Async, p, 0, v, 2, n, 1, s, false);
}
CUresult cuMemsetD32_v2(CUdeviceptr p, uint32_t v, size_t n) {
    return fill(ENTRY_cuMemsetD32_v2, p, 0, v, 4, n, 1, NULL, true);
}
CUresult cuMemsetD32Async(CUdeviceptr p, uint32_t v, size_t n, CUstream s) {
    return fill(ENTRY_cuMemsetD32Async, p, 0, v, 4, n, 1, s, false);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr p, size_t pitch, uint8_t v, size_t w, size_t h) {
    return fill(ENTRY_cuMemsetD2D8_v2, p, pitch, v, 1, w, h, NULL, true);
}
CUresult cuMemsetD2D8Async(CUdeviceptr p, size_t pitch, uint8_t v, size_t w, size_t h, CUstream s) {
    return fill(ENTRY_cuMemsetD2D8Async, p, pitch, v, 1, w, h, s, false);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr p, size_t pitch, uint16_t v, size_t w, size_t h) {
    return fill(ENTRY_cuMemsetD2D16_v2, p, pitch, v, 2, w, h, NULL, true);
}
CUresult cuMemsetD2D16Async(CUdeviceptr p, size_t pitch, uint16_t v, size_t w, size_t h, CUstream s) {
    return fill(ENTRY_cuMemsetD2D16Async, p, pitch, v, 2, w, h, s, false);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr p, size_t pitch, uint32_t v, size_t w, size_t h) {
    return fill(ENTRY_cuMemsetD2D32_v2, p, pitch, v, 4, w, h, NULL, true);
}
CUresult cuMemsetD2D32Async(CUdeviceptr p, size_t pitch, uint32_t v, size_t w, size_t h, CUstream s) {
    return fill(ENTRY_cuMemsetD2D32Async, p, pitch, v, 4, w, h, s, false);
}
