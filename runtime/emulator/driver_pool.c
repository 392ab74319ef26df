/* driver_pool.c - memory in stream order, from pools. A pool here only counts: memory is got when it is asked for, and
 * goes back when the stream gets there. */
#include "driver.h"

#include <stdlib.h>

struct CUmemPoolHandle_st {
    Device *device;
    bool standard;  /* the device's own: it can't be destroyed */
    bool destroyed; /* but some of its memory is still used */
    bool managed;
    uint32_t reuse[3];
    uint64_t threshold, limit; /* limit: 0 for none */
    uint64_t used, high, reserved_high;
};

/* ---- pools ------------------------------------------------------------------------------------- */

static Pool *make(Device *d) {
    Pool *p = calloc(1, sizeof *p);
    if (!p || !handle_add(HANDLE_POOL, p)) {
        free(p);
        return NULL;
    }
    *p = (Pool){.device = d, .reuse = {1, 1, 1}};
    return p;
}

/* The pool that a device's cuMemAllocAsync uses, or its own; made when first asked for. NULL: no memory. */
static Pool *pool_of(Device *d, bool standard) {
    if (!d->default_pool) {
        d->default_pool = make(d);
        if (d->default_pool) d->default_pool->standard = true;
    }
    return standard || !d->pool ? d->default_pool : d->pool;
}

static void forget(Pool *p) {
    if (p->destroyed && !p->used) free(p);
}

void pool_gave_back(Pool *p, uint64_t bytes) {
    p->used -= bytes;
    forget(p);
}

CUresult cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *props) {
    CUresult r = call_begin(ENTRY_cuMemPoolCreate, NEEDS_INIT, NULL);
    if (r) return r;
    if (!out || !props ||
        (props->allocType != CU_MEM_ALLOCATION_PINNED && props->allocType != CU_MEM_ALLOCATION_MANAGED)) {
        return call_end(CUDA_ERROR_INVALID_VALUE);
    }
    if (props->handleTypes || props->location.type != CU_MEM_LOCATION_DEVICE) return call_end(CUDA_ERROR_NOT_SUPPORTED);
    Device *d = device_find(props->location.id);
    if (!d) return call_end(CUDA_ERROR_INVALID_DEVICE);
    Pool *p = make(d);
    if (!p) return call_end(CUDA_ERROR_OUT_OF_MEMORY);
    p->limit = props->maxSize;
    p->managed = props->allocType == CU_MEM_ALLOCATION_MANAGED;
    *out = p;
    return call_end(CUDA_SUCCESS);
}

CUresult cuMemPoolDestroy(CUmemoryPool p) {
    CUresult r = call_begin(ENTRY_cuMemPoolDestroy, NEEDS_INIT, NULL);
    if (r) return r;
    if (!handle_is(HANDLE_POOL, p) || p->standard) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (p->device->pool == p) p->device->pool = NULL;
    handle_remove(HANDLE_POOL, p);
    p->destroyed = true;
    forget(p);
    return call_end(CUDA_SUCCESS);
}

static CUresult get_pool(Entry entry, CUmemoryPool *out, CUdevice ordinal, bool standard) {
    CUresult r = call_begin(entry, NEEDS_INIT, NULL);
    if (r) return r;
    Device *d = device_find(ordinal);
    if (!out) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (!d) return call_end(CUDA_ERROR_INVALID_DEVICE);
    *out = pool_of(d, standard);
    return call_end(*out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

static CUresult set_pool(Entry entry, CUdevice ordinal, CUmemoryPool p) {
    CUresult r = call_begin(entry, NEEDS_INIT, NULL);
    if (r) return r;
    Device *d = device_find(ordinal);
    if (!d) return call_end(CUDA_ERROR_INVALID_DEVICE);
    if (!handle_is(HANDLE_POOL, p) || p->device != d) return call_end(CUDA_ERROR_INVALID_VALUE);
    d->pool = p;
    return call_end(CUDA_SUCCESS);
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice device) {
    return get_pool(ENTRY_cuDeviceGetDefaultMemPool, out, device, true);
}
CUresult cuDeviceGetMemPool(CUmemoryPool *out, CUdevice device) {
    return get_pool(ENTRY_cuDeviceGetMemPool, out, device, false);
}
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool p) { return set_pool(ENTRY_cuDeviceSetMemPool, device, p); }

/* The same by place: only devices have pools here. */
static int ordinal_at(const CUmemLocation *l) { return l && l->type == CU_MEM_LOCATION_DEVICE ? l->id : -1; }

CUresult cuMemGetDefaultMemPool(CUmemoryPool *out, CUmemLocation *place, CUmemAllocationType type) {
    (void)type;
    return get_pool(ENTRY_cuMemGetDefaultMemPool, out, ordinal_at(place), true);
}
CUresult cuMemGetMemPool(CUmemoryPool *out, CUmemLocation *place, CUmemAllocationType type) {
    (void)type;
    return get_pool(ENTRY_cuMemGetMemPool, out, ordinal_at(place), false);
}
CUresult cuMemSetMemPool(CUmemLocation *place, CUmemAllocationType type, CUmemoryPool p) {
    (void)type;
    return set_pool(ENTRY_cuMemSetMemPool, ordinal_at(place), p);
}

/* ---- attributes -------------------------------------------------------------------------------- */

/* Nothing is kept for later, so nothing is there to trim. */
CUresult cuMemPoolTrimTo(CUmemoryPool p, size_t keep) {
    (void)keep;
    CUresult r = call_begin(ENTRY_cuMemPoolTrimTo, NEEDS_INIT, NULL);
    return r ? r : call_end(handle_is(HANDLE_POOL, p) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemPoolSetAttribute(CUmemoryPool p, CUmemPool_attribute which, void *value) {
    CUresult r = call_begin(ENTRY_cuMemPoolSetAttribute, NEEDS_INIT, NULL);
    if (r) return r;
    if (!value || !handle_is(HANDLE_POOL, p)) return call_end(CUDA_ERROR_INVALID_VALUE);
    switch (which) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: p->reuse[which - 1] = *(const uint32_t *)value != 0; break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: p->threshold = *(const uint64_t *)value; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
        if (*(const uint64_t *)value) return call_end(CUDA_ERROR_INVALID_VALUE);
        *(which == CU_MEMPOOL_ATTR_USED_MEM_HIGH ? &p->high : &p->reserved_high) = p->used;
        break;
    default: return call_end(CUDA_ERROR_INVALID_VALUE);
    }
    return call_end(CUDA_SUCCESS);
}

CUresult cuMemPoolGetAttribute(CUmemoryPool p, CUmemPool_attribute which, void *value) {
    CUresult r = call_begin(ENTRY_cuMemPoolGetAttribute, NEEDS_INIT, NULL);
    if (r) return r;
    if (!value || !handle_is(HANDLE_POOL, p)) return call_end(CUDA_ERROR_INVALID_VALUE);
    switch (which) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: *(uint32_t *)value = p->reuse[which - 1]; break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: *(uint64_t *)value = p->threshold; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: *(uint64_t *)value = p->used; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: *(uint64_t *)value = p->reserved_high; break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: *(uint64_t *)value = p->high; break;
    default: return call_end(CUDA_ERROR_INVALID_VALUE);
    }
    return call_end(CUDA_SUCCESS);
}

/* A device has access to its own pools, and to no others. */
CUresult cuMemPoolSetAccess(CUmemoryPool p, const CUmemAccessDesc *access, size_t n) {
    CUresult r = call_begin(ENTRY_cuMemPoolSetAccess, NEEDS_INIT, NULL);
    if (r) return r;
    if (!handle_is(HANDLE_POOL, p) || (n && !access)) return call_end(CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < n && !r; i++) {
        bool own = ordinal_at(&access[i].location) == p->device->ordinal;
        if (!own && !device_find(ordinal_at(&access[i].location))) r = CUDA_ERROR_INVALID_DEVICE;
        else if (own ? access[i].flags != CU_MEM_ACCESS_READWRITE : access[i].flags != CU_MEM_ACCESS_NONE)
            r = CUDA_ERROR_NOT_SUPPORTED;
    }
    return call_end(r);
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool p, CUmemLocation *place) {
    CUresult r = call_begin(ENTRY_cuMemPoolGetAccess, NEEDS_INIT, NULL);
    if (r) return r;
    if (!flags || !handle_is(HANDLE_POOL, p) || !device_find(ordinal_at(place)))
        return call_end(CUDA_ERROR_INVALID_VALUE);
    *flags = ordinal_at(place) == p->device->ordinal ? CU_MEM_ACCESS_READWRITE : CU_MEM_ACCESS_NONE;
    return call_end(CUDA_SUCCESS);
}

/* ---- memory ------------------------------------------------------------------------------------ */

static CUresult alloc(Entry entry, CUdeviceptr *out, size_t bytes, CUmemoryPool p, bool own_pool, CUstream handle) {
    Context *c;
    CUresult r = call_begin(entry, NEEDS_WORKING, &c);
    if (r) return r;
    Stream *s = stream_find(c, handle);
    if (!out || !bytes) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (!s) return call_end(CUDA_ERROR_INVALID_HANDLE);
    if (s->capture) return call_end(graph_refuse(s));
    if (own_pool) p = pool_of(s->context->device, false);
    else if (!handle_is(HANDLE_POOL, p)) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (!p || (p->limit && bytes > p->limit - p->used)) return call_end(CUDA_ERROR_OUT_OF_MEMORY);
    if (p->device != s->context->device) return call_end(CUDA_ERROR_NOT_SUPPORTED);
    Buffer *b;
    AllocKind kind = p->managed ? ALLOC_MANAGED : ALLOC_DEVICE;
    r = buffer_make(s->context, kind, NULL, bytes, CU_MEM_ATTACH_GLOBAL, &b);
    if (r == CUDA_ERROR_OUT_OF_MEMORY && !work_is_mine()) {
        /* What cuMemFreeAsync has put into the queue may be enough. */
        r = work_idle(s->context);
        if (!r) r = buffer_make(s->context, kind, NULL, bytes, CU_MEM_ATTACH_GLOBAL, &b);
    }
    if (r) return call_end(r);
    b->pool = p;
    p->used += bytes;
    if (p->used > p->high) p->high = p->used;
    if (p->used > p->reserved_high) p->reserved_high = p->used;
    *out = b->address;
    return call_end(CUDA_SUCCESS);
}

CUresult cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream) {
    return alloc(ENTRY_cuMemAllocAsync, out, bytes, NULL, true, stream);
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool p, CUstream stream) {
    return alloc(ENTRY_cuMemAllocFromPoolAsync, out, bytes, p, false, stream);
}

typedef struct FreeWork {
    Work work;
    Buffer *buffer;
} FreeWork;

static CUresult run_free(Work *w) {
    (void)w;
    return CUDA_SUCCESS;
}

static void end_free(Work *w) { buffer_drop(((FreeWork *)w)->buffer); }

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuMemFreeAsync, NEEDS_WORKING, &c);
    if (r) return r;
    Stream *s = stream_find(c, handle);
    if (!s) return call_end(CUDA_ERROR_INVALID_HANDLE);
    if (s->capture) return call_end(graph_refuse(s));
    if (!address) return call_end(CUDA_SUCCESS);
    Buffer *b = buffer_at(address);
    if (!b || b->freeing || b->kind == ALLOC_HOST) return call_end(CUDA_ERROR_INVALID_VALUE);
    FreeWork *w = malloc(sizeof *w);
    if (!w) return call_end(CUDA_ERROR_OUT_OF_MEMORY);
    *w = (FreeWork){.work = {.run = run_free, .end = end_free}, .buffer = b};
    b->freeing = true;
    work_submit(&w->work, s);
    return call_end(work_finish(s));
}
