/* driver_memory.c - memory: of the device, of the host for the device, managed; what a pointer is. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

/* ---- host memory ------------------------------------------------------------------------------- */

/* Kernels of all devices may use it. */
static bool share(void *host, uint64_t bytes, AllocKind kind) {
    for (uint32_t i = 0; i < driver.options.devices; i++) {
        if (memory_register(driver.devices[i].memory, host, bytes, kind)) continue;
        while (i--) memory_unregister(driver.devices[i].memory, host);
        return false;
    }
    return true;
}

static void unshare(void *host) {
    for (uint32_t i = 0; i < driver.options.devices; i++) memory_unregister(driver.devices[i].memory, host);
}

/* ---- buffers ----------------------------------------------------------------------------------- */

void buffer_drop(Buffer *b) {
    buffer_remove(b);
    if (b->kind == ALLOC_DEVICE) {
        memory_free(b->device->memory, b->address);
    } else {
        unshare((void *)(uintptr_t)b->address);
        if (!b->registered) free((void *)(uintptr_t)b->address);
    }
    if (b->pool) pool_gave_back(b->pool, b->bytes);
    free(b);
}

/* Pages, as a driver gives them. */
static void *host_pages(uint64_t bytes) {
    const uint64_t page = 4096;
    if (bytes > SIZE_MAX / 2) return NULL;
    return aligned_alloc(page, (bytes + page - 1) & ~(page - 1));
}

/* Memory of `kind` that belongs to the context; `host` is the caller's own memory, or NULL. */
CUresult buffer_make(Context *c, AllocKind kind, void *host, uint64_t bytes, uint32_t flags, Buffer **out) {
    Buffer *b = calloc(1, sizeof *b);
    if (!b) return CUDA_ERROR_OUT_OF_MEMORY;
    *b = (Buffer){
        .bytes = bytes, .kind = kind, .registered = host != NULL, .flags = flags, .context = c, .device = c->device};
    CUresult r = CUDA_ERROR_OUT_OF_MEMORY;
    if (kind == ALLOC_DEVICE) {
        b->address = memory_alloc(c->device->memory, kind, bytes, NULL);
    } else {
        void *p = host ? host : host_pages(bytes);
        if (p && share(p, bytes, kind)) {
            b->address = (uintptr_t)p;
        } else {
            if (host) r = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
            else free(p);
        }
    }
    if (!b->address) {
        free(b);
        return r;
    }
    if (!buffer_add(b)) {
        buffer_drop(b);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = b;
    return CUDA_SUCCESS;
}

/* The same; memory that work in the queue still has to give back may be what is missing. */
static CUresult make(Context *c, AllocKind kind, uint64_t bytes, uint32_t flags, Buffer **out) {
    CUresult r = buffer_make(c, kind, NULL, bytes, flags, out);
    if (r != CUDA_ERROR_OUT_OF_MEMORY || work_is_mine() || c->device->done == c->device->submitted) return r;
    r = work_idle(c);
    return r ? r : buffer_make(c, kind, NULL, bytes, flags, out);
}

/* Frees what starts at an address, if it is of a kind that this function frees, when nothing can be using it. */
static CUresult release(Context *c, uint64_t address, bool of_host, bool registered) {
    Buffer *b = buffer_at(address);
    bool good = b && !b->freeing && !b->opened && of_host == (b->kind == ALLOC_HOST) && b->registered == registered;
    CUresult none = registered ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED : CUDA_ERROR_INVALID_VALUE;
    if (!good) return none;
    b->freeing = true;
    CUresult r = work_idle(c);
    if (!r && b->device != c->device) r = work_idle(b->context);
    if (r) {
        b->freeing = false;
        return r;
    }
    buffer_drop(b);
    return CUDA_SUCCESS;
}

/* ---- device memory ----------------------------------------------------------------------------- */

CUresult cuMemGetInfo_v2(size_t *available, size_t *total) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuMemGetInfo_v2, NEEDS_WORKING, &c);
    if (r) return r;
    uint64_t a, t;
    memory_info(c->device->memory, &a, &t);
    if (available) *available = a;
    if (total) *total = t;
    return call_end(CUDA_SUCCESS);
}

CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t bytes) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuMemAlloc_v2, NEEDS_WORKING, &c);
    if (r) return r;
    if (!out || !bytes) return call_end(CUDA_ERROR_INVALID_VALUE);
    Buffer *b;
    r = make(c, ALLOC_DEVICE, bytes, 0, &b);
    if (!r) *out = b->address;
    return call_end(r);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height, uint32_t element) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuMemAllocPitch_v2, NEEDS_WORKING, &c);
    if (r) return r;
    size_t row, bytes;
    if (!out || !pitch || !width || !height || (element != 4 && element != 8 && element != 16))
        return call_end(CUDA_ERROR_INVALID_VALUE);
    if (__builtin_add_overflow(width, (size_t)511, &row) ||
        __builtin_mul_overflow(row & ~(size_t)511, height, &bytes)) {
        return call_end(CUDA_ERROR_INVALID_VALUE);
    }
    Buffer *b;
    r = make(c, ALLOC_DEVICE, bytes, 0, &b);
    if (!r) {
        *out = b->address;
        *pitch = row & ~(size_t)511;
    }
    return call_end(r);
}

CUresult cuMemFree_v2(CUdeviceptr address) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuMemFree_v2, NEEDS_WORKING, &c);
    if (r) return r;
    return call_end(address ? release(c, address, false, false) : CUDA_SUCCESS);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
    CUresult r = call_begin(ENTRY_cuMemGetAddressRange_v2, NEEDS_WORKING, NULL);
    if (r) return r;
    const Alloc *a = alloc_holding(address);
    if (!a) return call_end(CUDA_ERROR_NOT_FOUND);
    if (base) *base = a->address;
    if (bytes) *bytes = a->bytes;
    return call_end(CUDA_SUCCESS);
}

/* ---- of the host ------------------------------------------------------------------------------- */

static CUresult host_alloc(Entry entry, void **out, size_t bytes, uint32_t flags) {
    Context *c;
    CUresult r = call_begin(entry, NEEDS_WORKING, &c);
    if (r) return r;
    if (!out || !bytes || flags > 7) return call_end(CUDA_ERROR_INVALID_VALUE);
    Buffer *b;
    r = make(c, ALLOC_HOST, bytes, flags, &b);
    if (!r) *out = (void *)(uintptr_t)b->address;
    return call_end(r);
}

CUresult cuMemAllocHost_v2(void **out, size_t bytes) { return host_alloc(ENTRY_cuMemAllocHost_v2, out, bytes, 0); }
CUresult cuMemHostAlloc(void **out, size_t bytes, uint32_t flags) {
    return host_alloc(ENTRY_cuMemHostAlloc, out, bytes, flags);
}

CUresult cuMemFreeHost(void *p) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuMemFreeHost, NEEDS_WORKING, &c);
    if (r) return r;
    return call_end(p ? release(c, (uintptr_t)p, true, false) : CUDA_SUCCESS);
}

static CUresult host_register(Entry entry, void *p, size_t bytes, uint32_t flags) {
    Context *c;
    CUresult r = call_begin(entry, NEEDS_WORKING, &c);
    if (r) return r;
    if (!p || !bytes || flags > 15) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (flags > 7) return call_end(CUDA_ERROR_NOT_SUPPORTED);
    Buffer *b;
    return call_end(buffer_make(c, ALLOC_HOST, p, bytes, flags, &b));
}

CUresult cuMemHostRegister(void *p, size_t bytes, uint32_t flags) {
    return host_register(ENTRY_cuMemHostRegister, p, bytes, flags);
}
CUresult cuMemHostRegister_v2(void *p, size_t bytes, uint32_t flags) {
    return host_register(ENTRY_cuMemHostRegister_v2, p, bytes, flags);
}

CUresult cuMemHostUnregister(void *p) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuMemHostUnregister, NEEDS_WORKING, &c);
    if (r) return r;
    return call_end(p ? release(c, (uintptr_t)p, true, true) : CUDA_ERROR_INVALID_VALUE);
}

/* Host memory has the same address on the device. */
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *p, uint32_t flags) {
    CUresult r = call_begin(ENTRY_cuMemHostGetDevicePointer_v2, NEEDS_WORKING, NULL);
    if (r) return r;
    Buffer *b = buffer_holding((uintptr_t)p);
    if (!out || flags || !b || b->kind == ALLOC_DEVICE) return call_end(CUDA_ERROR_INVALID_VALUE);
    *out = (uintptr_t)p;
    return call_end(CUDA_SUCCESS);
}

CUresult cuMemHostGetFlags(uint32_t *flags, void *p) {
    CUresult r = call_begin(ENTRY_cuMemHostGetFlags, NEEDS_WORKING, NULL);
    if (r) return r;
    Buffer *b = buffer_holding((uintptr_t)p);
    if (!flags || !b || b->kind != ALLOC_HOST) return call_end(CUDA_ERROR_INVALID_VALUE);
    *flags = b->flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return call_end(CUDA_SUCCESS);
}

/* ---- managed: one place for all ---------------------------------------------------------------- */

CUresult cuMemAllocManaged(CUdeviceptr *out, size_t bytes, uint32_t flags) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuMemAllocManaged, NEEDS_WORKING, &c);
    if (r) return r;
    if (!out || !bytes || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        return call_end(CUDA_ERROR_INVALID_VALUE);
    Buffer *b;
    r = make(c, ALLOC_MANAGED, bytes, flags, &b);
    if (!r) *out = b->address;
    return call_end(r);
}

static bool is_managed(CUdeviceptr address, size_t bytes) {
    Buffer *b = buffer_holding(address);
    return b && b->kind == ALLOC_MANAGED && bytes && bytes <= b->address + b->bytes - address;
}

/* A hint: all of it is always where it is needed. `device` is CU_DEVICE_CPU for the host. */
static CUresult hint(Entry entry, CUdeviceptr address, size_t bytes, int device, CUstream stream) {
    Context *c;
    CUresult r = call_begin(entry, NEEDS_WORKING, &c);
    if (r) return r;
    if (!is_managed(address, bytes)) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (!stream_find(c, stream)) return call_end(CUDA_ERROR_INVALID_HANDLE);
    return call_end(device == CU_DEVICE_CPU || device_find(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE);
}

static int place(CUmemLocation location) {
    return location.type == CU_MEM_LOCATION_DEVICE ? location.id : CU_DEVICE_CPU;
}

CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
    return hint(ENTRY_cuMemPrefetchAsync, address, bytes, device, stream);
}
CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation to, uint32_t flags, CUstream stream) {
    (void)flags;
    return hint(ENTRY_cuMemPrefetchAsync_v2, address, bytes, place(to), stream);
}
CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device) {
    bool about_device = advice >= 3 && advice <= 6;
    return hint(ENTRY_cuMemAdvise, address, bytes, about_device ? device : CU_DEVICE_CPU, NULL);
}
CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location) {
    bool about_device = advice >= 3 && advice <= 6;
    return hint(ENTRY_cuMemAdvise_v2, address, bytes, about_device ? place(location) : CU_DEVICE_CPU, NULL);
}

enum { RANGE_READ_MOSTLY = 1, RANGE_LAST_KNOWN = 4, NOWHERE = -2 };

/* Hints aren't kept: nothing is read-mostly, preferred or prefetched. */
static CUresult range_attribute(void *data, size_t size, CUmem_range_attribute which, CUdeviceptr address,
                                size_t bytes) {
    if (!data || size < sizeof(int) || size % sizeof(int) || !is_managed(address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (which < RANGE_READ_MOSTLY || which > RANGE_LAST_KNOWN) return CUDA_ERROR_INVALID_VALUE;
    int *values = data;
    for (size_t i = 0; i < size / sizeof(int); i++) values[i] = which == RANGE_READ_MOSTLY ? 0 : NOWHERE;
    return CUDA_SUCCESS;
}

CUresult cuMemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute which, CUdeviceptr address,
                                size_t bytes) {
    CUresult r = call_begin(ENTRY_cuMemRangeGetAttribute, NEEDS_WORKING, NULL);
    return r ? r : call_end(range_attribute(data, size, which, address, bytes));
}

CUresult cuMemRangeGetAttributes(void **data, size_t *sizes, CUmem_range_attribute *which, size_t n,
                                 CUdeviceptr address, size_t bytes) {
    CUresult r = call_begin(ENTRY_cuMemRangeGetAttributes, NEEDS_WORKING, NULL);
    if (r) return r;
    if (!data || !sizes || !which || !n) return call_end(CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < n && !r; i++) r = range_attribute(data[i], sizes[i], which[i], address, bytes);
    return call_end(r);
}

/* ---- what a pointer is ------------------------------------------------------------------------- */

/* One of a pointer's attributes as the driver writes it: `size` bytes. Size 0: there is no such attribute. */
typedef struct Answer {
    uint64_t value;
    size_t size;
} Answer;

/* `a` is the allocation that holds the address, `b` its buffer unless it is a module's variable. */
static Answer pointer_attribute(CUpointer_attribute which, uint64_t address, const Alloc *a, const Buffer *b,
                                const Device *d) {
    bool device = a->kind != ALLOC_HOST, host = a->kind == ALLOC_HOST || a->kind == ALLOC_MANAGED;
    switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return (Answer){(uintptr_t)(b ? b->context : &d->primary), sizeof(CUcontext)};
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return (Answer){device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST, sizeof(int)};
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return (Answer){address, sizeof(CUdeviceptr)};
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: return (Answer){host ? address : 0, host ? sizeof(void *) : 0};
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return (Answer){b && b->sync_memops, sizeof(int)};
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: return (Answer){b ? b->id : a->serial, sizeof(uint64_t)};
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return (Answer){a->kind == ALLOC_MANAGED, sizeof(int)};
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return (Answer){(uint32_t)d->ordinal, sizeof(int)};
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: return (Answer){0, sizeof(int)};
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return (Answer){a->address, sizeof(CUdeviceptr)};
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return (Answer){a->bytes, sizeof(size_t)};
    case CU_POINTER_ATTRIBUTE_MAPPED: return (Answer){1, sizeof(int)};
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return (Answer){0, sizeof(uint64_t)};
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: return (Answer){0, sizeof(int)};
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: return (Answer){CU_MEM_ACCESS_READWRITE, sizeof(int)};
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return (Answer){(uintptr_t)(b ? b->pool : NULL), sizeof(CUmemoryPool)};
    default: return (Answer){0, 0};
    }
}

static Answer attribute_of(CUpointer_attribute which, CUdeviceptr address) {
    for (uint32_t i = 0; i < driver.options.devices; i++) {
        const Alloc *a = memory_find(driver.devices[i].memory, address);
        if (!a || a->freed) continue;
        Buffer *b = buffer_at(a->address);
        return pointer_attribute(which, address, a, b, b ? b->device : &driver.devices[i]);
    }
    return (Answer){0, 0};
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute which, CUdeviceptr address) {
    CUresult r = call_begin(ENTRY_cuPointerGetAttribute, NEEDS_WORKING, NULL);
    if (r) return r;
    Answer a = attribute_of(which, address);
    if (!data || !a.size) return call_end(CUDA_ERROR_INVALID_VALUE);
    memcpy(data, &a.value, a.size);
    return call_end(CUDA_SUCCESS);
}

/* How large each attribute is, known or not. */
static size_t attribute_size(CUpointer_attribute which) {
    const Alloc any = {.kind = ALLOC_MANAGED};
    return pointer_attribute(which, 0, &any, NULL, &driver.devices[0]).size;
}

/* Of memory that CUDA doesn't know all are zero; that is no error. */
CUresult cuPointerGetAttributes(uint32_t n, CUpointer_attribute *which, void **data, CUdeviceptr address) {
    CUresult r = call_begin(ENTRY_cuPointerGetAttributes, NEEDS_WORKING, NULL);
    if (r) return r;
    if (!n || !which || !data) return call_end(CUDA_ERROR_INVALID_VALUE);
    for (uint32_t i = 0; i < n; i++) {
        if (!data[i] || !attribute_size(which[i])) return call_end(CUDA_ERROR_INVALID_VALUE);
    }
    for (uint32_t i = 0; i < n; i++) {
        Answer a = attribute_of(which[i], address);
        if (!a.size && which[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) a.value = (uint64_t)(int64_t)NOWHERE;
        memcpy(data[i], &a.value, attribute_size(which[i]));
    }
    return call_end(CUDA_SUCCESS);
}

CUresult cuPointerSetAttribute(const void *data, CUpointer_attribute which, CUdeviceptr address) {
    CUresult r = call_begin(ENTRY_cuPointerSetAttribute, NEEDS_WORKING, NULL);
    if (r) return r;
    Buffer *b = buffer_holding(address);
    if (!data || which != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !b || b->kind != ALLOC_DEVICE)
        return call_end(CUDA_ERROR_INVALID_VALUE);
    b->sync_memops = *(const uint32_t *)data != 0;
    return call_end(CUDA_SUCCESS);
}
