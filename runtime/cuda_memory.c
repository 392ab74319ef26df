/* cuda_memory.c - memory of all kinds on a GPU. Device memory is the pool's; here is host memory that the driver knows.
 *
 * Pinned memory is slow to get, so what is freed is kept, by powers of two, until the streams that copied from or to it
 * have come so far. Memory that kernels reach by address (mapped, managed) isn't: nobody knows which streams use it,
 * and the driver's own free waits for all. */
#include "cuda.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_PINNED = 4096, ALL_STREAMS = 5 /* more uses than a Region has room for */ };

struct FreePinned {
    FreePinned *next;
    void *at;
    size_t bytes;
    uint32_t n;
    CUevent events[ALL_STREAMS]; /* after which it may be used again */
};

/* ---- regions ----------------------------------------------------------------------------------- */

/* The index of the first region behind `address`. */
static uint32_t upper(const Regions *r, uintptr_t address) {
    uint32_t low = 0, high = r->n;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (r->at[mid].address <= address) low = mid + 1;
        else high = mid;
    }
    return low;
}

static Region *region_of(const Regions *r, uintptr_t address) {
    uint32_t i = upper(r, address);
    return i && address - r->at[i - 1].address < r->at[i - 1].bytes ? &r->at[i - 1] : NULL;
}

static bool add_region(Regions *r, const Region *region) {
    pthread_mutex_lock(&r->lock);
    if (r->n == r->cap) {
        uint32_t cap = r->cap ? 2 * r->cap : 16;
        Region *at = realloc(r->at, cap * sizeof *at);
        if (at) {
            r->at = at;
            r->cap = cap;
        }
    }
    bool room = r->n < r->cap;
    if (room) {
        uint32_t i = upper(r, region->address);
        memmove(&r->at[i + 1], &r->at[i], (r->n - i) * sizeof *r->at);
        r->at[i] = *region;
        __atomic_store_n(&r->n, r->n + 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&r->lock);
    return room;
}

/* Takes out the region that starts there; false: none does. */
static bool remove_region(Regions *r, const void *at, Region *out) {
    pthread_mutex_lock(&r->lock);
    Region *found = region_of(r, (uintptr_t)at);
    bool there = found && found->address == (uintptr_t)at;
    if (there) {
        *out = *found;
        uint32_t i = (uint32_t)(found - r->at);
        memmove(found, found + 1, (r->n - i - 1) * sizeof *r->at);
        __atomic_store_n(&r->n, r->n - 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&r->lock);
    return there;
}

bool cuda_region_used(CudaDevice *d, const void *host, CUstream s) {
    Regions *r = &d->regions;
    if (__atomic_load_n(&r->n, __ATOMIC_RELAXED) == 0) return false;
    pthread_mutex_lock(&r->lock);
    Region *region = region_of(r, (uintptr_t)host);
    uint32_t i = 0;
    while (region && i < region->nuses && i < ALL_STREAMS - 1 && region->uses[i] != s) i++;
    if (region && i == region->nuses) {
        if (i < ALL_STREAMS - 1) region->uses[i] = s;
        region->nuses++;
    }
    pthread_mutex_unlock(&r->lock);
    return region != NULL;
}

/* Later nothing can be recorded in it: who has used it there counts as used by all. */
void cuda_regions_stream_ends(CudaDevice *d, CUstream s) {
    Regions *r = &d->regions;
    pthread_mutex_lock(&r->lock);
    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t u = 0; u < r->at[i].nuses && r->at[i].nuses < ALL_STREAMS; u++)
            if (r->at[i].uses[u] == s) r->at[i].nuses = ALL_STREAMS;
    pthread_mutex_unlock(&r->lock);
}

/* ---- pinned memory ----------------------------------------------------------------------------- */

static bool is_cached(uint32_t flags) { return !(flags & (PINNED_MAPPED | PINNED_WRITE_COMBINED)); }

static size_t pinned_bytes(size_t bytes, uint32_t flags) {
    size_t n = LEAST_PINNED;
    if (!is_cached(flags)) return bytes;
    while (n < bytes && n << 1) n <<= 1;
    return n < bytes ? bytes : n;
}

static bool events_done(CudaDevice *d, FreePinned *p) {
    while (p->n) {
        if (d->cu->cuEventQuery(p->events[p->n - 1]) == CUDA_ERROR_NOT_READY) return false;
        d->cu->cuEventDestroy_v2(p->events[--p->n]);
    }
    return true;
}

static void *take_pinned(CudaDevice *d, size_t bytes) {
    Regions *r = &d->regions;
    void *at = NULL;
    pthread_mutex_lock(&r->lock);
    for (FreePinned **link = &r->free; *link; link = &(*link)->next) {
        FreePinned *p = *link;
        if (p->bytes != bytes || !events_done(d, p)) continue;
        *link = p->next;
        at = p->at;
        free(p);
        break;
    }
    pthread_mutex_unlock(&r->lock);
    return at;
}

static Status alloc_pinned(CudaDevice *d, size_t bytes, uint32_t flags, void **out, Failure *f) {
    size_t whole = pinned_bytes(bytes, flags);
    *out = is_cached(flags) ? take_pinned(d, whole) : NULL;
    if (!*out) {
        CUresult r =
            d->cu->cuMemHostAlloc(out, whole,
                                  CU_MEMHOSTALLOC_PORTABLE | (flags & PINNED_MAPPED ? CU_MEMHOSTALLOC_DEVICEMAP : 0u) |
                                      (flags & PINNED_WRITE_COMBINED ? CU_MEMHOSTALLOC_WRITECOMBINED : 0u));
        if (r) return cuda_fail(d, d->cu, r, "cuMemHostAlloc", f);
    }
    Region region = {.address = (uintptr_t)*out, .bytes = whole, .kind = MEMORY_PINNED, .flags = flags};
    if (add_region(&d->regions, &region)) return GPU_OK;
    d->cu->cuMemFreeHost(*out);
    return failure_memory(f);
}

/* To the free list, behind events in the streams that copied. False: it can't be kept. */
static bool keep_pinned(CudaDevice *d, const Region *region) {
    FreePinned *p = is_cached(region->flags) && region->nuses < ALL_STREAMS ? malloc(sizeof *p) : NULL;
    if (!p) return false;
    *p = (FreePinned){.at = (void *)region->address, .bytes = region->bytes};
    for (; p->n < region->nuses; p->n++) {
        CUstream s = region->uses[p->n] == CU_STREAM_PER_THREAD ? NULL : region->uses[p->n];
        if (d->cu->cuEventCreate(&p->events[p->n], CU_EVENT_DISABLE_TIMING)) break;
        if (d->cu->cuEventRecord(p->events[p->n], s) == CUDA_SUCCESS) continue;
        d->cu->cuEventDestroy_v2(p->events[p->n]);
        break;
    }
    if (p->n < region->nuses) {
        while (p->n) d->cu->cuEventDestroy_v2(p->events[--p->n]);
        free(p);
        return false;
    }
    pthread_mutex_lock(&d->regions.lock);
    p->next = d->regions.free;
    d->regions.free = p;
    pthread_mutex_unlock(&d->regions.lock);
    return true;
}

/* The context has been waited for. */
static void empty_pinned(CudaDevice *d) {
    Regions *r = &d->regions;
    pthread_mutex_lock(&r->lock);
    FreePinned *p = r->free;
    r->free = NULL;
    pthread_mutex_unlock(&r->lock);
    while (p) {
        FreePinned *next = p->next;
        while (p->n) d->cu->cuEventDestroy_v2(p->events[--p->n]);
        d->cu->cuMemFreeHost(p->at);
        free(p);
        p = next;
    }
}

/* ---- managed memory ---------------------------------------------------------------------------- */

static Status alloc_managed(CudaDevice *d, size_t bytes, uint32_t flags, void **out, Failure *f) {
    CUdeviceptr at;
    if (!d->base.info.managed_memory)
        return failure_set(f, GPU_ERROR_UNSUPPORTED, "%s has no managed memory", d->base.name);
    CUresult r = d->cu->cuMemAllocManaged(&at, bytes, flags & MANAGED_HOST ? CU_MEM_ATTACH_HOST : CU_MEM_ATTACH_GLOBAL);
    if (r) return cuda_fail(d, d->cu, r, "cuMemAllocManaged", f);
    Region region = {.address = (uintptr_t)at, .bytes = bytes, .kind = MEMORY_MANAGED, .flags = flags};
    *out = (void *)(uintptr_t)at;
    if (add_region(&d->regions, &region)) return GPU_OK;
    d->cu->cuMemFree_v2(at);
    return failure_memory(f);
}

/* ---- the table's functions --------------------------------------------------------------------- */

static uint64_t *counter(CudaDevice *d, MemoryKind kind) {
    return kind == MEMORY_PINNED ? &d->pool.stats.pinned : &d->pool.stats.managed;
}

Status cuda_alloc(Device *device, MemoryKind kind, size_t bytes, uint32_t flags, Stream *s, void **out, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    *out = NULL;
    if (bytes == 0) return GPU_OK;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    if (kind == MEMORY_DEVICE) {
        CUdeviceptr at = 0;
        status = pool_alloc(d, bytes, cuda_stream_of(s), &at, f);
        *out = (void *)(uintptr_t)at;
    } else {
        status = kind == MEMORY_PINNED ? alloc_pinned(d, bytes, flags, out, f) : alloc_managed(d, bytes, flags, out, f);
        if (status == GPU_OK)
            __atomic_fetch_add(counter(d, kind), pinned_bytes(bytes, kind == MEMORY_PINNED ? flags : PINNED_MAPPED),
                               __ATOMIC_RELAXED);
        else *out = NULL;
    }
    cuda_leave(d, before);
    return status;
}

static void free_region(CudaDevice *d, void *at) {
    Region region;
    if (!remove_region(&d->regions, at, &region)) return;
    __atomic_fetch_sub(counter(d, (MemoryKind)region.kind), region.bytes, __ATOMIC_RELAXED);
    if (region.kind == MEMORY_MANAGED) d->cu->cuMemFree_v2((CUdeviceptr)(uintptr_t)at);
    else if (!keep_pinned(d, &region)) d->cu->cuMemFreeHost(at);
}

/* In a forked child the memory is the parent's. */
void cuda_free(Device *device, MemoryKind kind, void *at) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    Failure f;
    if (!at) return;
    if (cuda_enter(d, &before, &f) != GPU_OK) {
        failure_clear(&f);
        return;
    }
    if (kind == MEMORY_DEVICE) pool_free(d, (CUdeviceptr)(uintptr_t)at);
    else free_region(d, at);
    cuda_leave(d, before);
}

Status cuda_used_on(Device *device, void *at, Stream *s, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    return pool_used_on(d, (CUdeviceptr)(uintptr_t)at, cuda_stream_of(s)) ? GPU_OK : failure_memory(f);
}

Status cuda_pin(Device *device, void *at, size_t bytes, uint32_t flags, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    if (bytes == 0) return GPU_OK;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    CUresult r = d->cu->cuMemHostRegister_v2(
        at, bytes, CU_MEMHOSTALLOC_PORTABLE | (flags & PINNED_MAPPED ? CU_MEMHOSTALLOC_DEVICEMAP : 0u));
    if (r) status = cuda_fail(d, d->cu, r, "cuMemHostRegister", f);
    Region region = {
        .address = (uintptr_t)at, .bytes = bytes, .kind = MEMORY_PINNED, .registered = true, .flags = flags};
    if (!r && !add_region(&d->regions, &region)) {
        d->cu->cuMemHostUnregister(at);
        status = failure_memory(f);
    }
    cuda_leave(d, before);
    return status;
}

Status cuda_unpin(Device *device, void *at, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    Region region;
    if (!at) return GPU_OK;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    if (!remove_region(&d->regions, at, &region))
        status = failure_set(f, GPU_ERROR_VALUE, "this memory isn't pinned on %s", d->base.name);
    else {
        CUresult r = d->cu->cuCtxSynchronize(); /* copies may still go on */
        const char *call = "cuCtxSynchronize";
        if (!r) {
            call = "cuMemHostUnregister";
            r = d->cu->cuMemHostUnregister(at);
        }
        if (r) status = cuda_fail(d, d->cu, r, call, f);
    }
    cuda_leave(d, before);
    return status;
}

Status cuda_device_address(Device *device, void *pinned, void **out, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    CUdeviceptr at = 0;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    CUresult r = d->cu->cuMemHostGetDevicePointer_v2(&at, pinned, 0);
    if (r) status = cuda_fail(d, d->cu, r, "cuMemHostGetDevicePointer", f);
    *out = (void *)(uintptr_t)at;
    cuda_leave(d, before);
    return status;
}

Status cuda_owner(Device *device, const void *at, int *ordinal, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    *ordinal = -1;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    CUdeviceptr address = (CUdeviceptr)(uintptr_t)at;
    CUresult r = d->cu->cuPointerGetAttribute(ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
    if (r == CUDA_ERROR_INVALID_VALUE) *ordinal = -1; /* nobody's */
    else if (r) status = cuda_fail(d, d->cu, r, "cuPointerGetAttribute", f);
    cuda_leave(d, before);
    return status;
}

/* ---- memory that another process opens -------------------------------------------------------------- */

Status cuda_share(Device *device, const void *at, SharedMemory *out, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    CUdeviceptr base = 0, address = (CUdeviceptr)(uintptr_t)at;
    CUipcMemHandle handle;
    size_t size = 0;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    const char *call = "cuMemGetAddressRange";
    CUresult r = d->cu->cuMemGetAddressRange_v2(&base, &size, address);
    if (!r) r = d->cu->cuIpcGetMemHandle(&handle, base), call = "cuIpcGetMemHandle";
    if (r) status = cuda_fail(d, d->cu, r, call, f);
    else {
        memcpy(out->handle, handle.reserved, sizeof out->handle);
        out->offset = address - base;
    }
    cuda_leave(d, before);
    return status;
}

Status cuda_open_shared(Device *device, const SharedMemory *shared, void **out, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    CUdeviceptr at = 0;
    CUipcMemHandle handle;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    memcpy(handle.reserved, shared->handle, sizeof handle.reserved);
    CUresult r = d->cu->cuIpcOpenMemHandle_v2(&at, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    if (r) status = cuda_fail(d, d->cu, r, "cuIpcOpenMemHandle", f);
    *out = (void *)(uintptr_t)at;
    cuda_leave(d, before);
    return status;
}

Status cuda_close_shared(Device *device, void *opened, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    CUresult r = d->cu->cuIpcCloseMemHandle((CUdeviceptr)(uintptr_t)opened);
    if (r) status = cuda_fail(d, d->cu, r, "cuIpcCloseMemHandle", f);
    cuda_leave(d, before);
    return status;
}

Status cuda_memory_info(Device *device, uint64_t *free_bytes, uint64_t *total_bytes, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    size_t left = 0, total = 0;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    CUresult r = d->cu->cuMemGetInfo_v2(&left, &total);
    if (r) status = cuda_fail(d, d->cu, r, "cuMemGetInfo", f);
    *free_bytes = left;
    *total_bytes = total;
    cuda_leave(d, before);
    return status;
}

void cuda_memory_stats(Device *d, MemoryStats *out) { pool_stats((CudaDevice *)d, out); }

void cuda_reset_peaks(Device *device) {
    Pool *p = &((CudaDevice *)device)->pool;
    pthread_mutex_lock(&p->lock);
    p->stats.peak_used = p->stats.used;
    p->stats.peak_held = p->stats.held;
    pthread_mutex_unlock(&p->lock);
}

Status cuda_empty_cache(Device *device, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    status = pool_empty(d, f);
    if (status == GPU_OK) empty_pinned(d);
    cuda_leave(d, before);
    return status;
}
