/* driver_context.c - contexts: the primary one of each device, others, the stack of current ones, limits. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

/* ---- opening and closing ----------------------------------------------------------------------- */

static void open_stream(Stream *s, Context *c) { *s = (Stream){.context = c, .id = ++driver.ids}; }

bool context_open(Context *c, Device *d, uint32_t flags) {
    static const size_t limits[CU_LIMIT_MAX] = {
        [CU_LIMIT_STACK_SIZE] = 1024,
        [CU_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20,
        [CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20,
        [CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2,
        [CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048,
        [CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64,
    };
    if (!work_start(d) || !handle_add(HANDLE_CONTEXT, c)) return false;
    *c = (Context){.device = d, .primary = c->primary, .flags = flags, .id = ++driver.ids, .retained = 1};
    memcpy(c->limits, limits, sizeof limits);
    open_stream(&c->legacy, c);
    open_stream(&c->per_thread, c);
    return true;
}

/* Its work is done; what it owns goes. */
static void empty(Context *c) {
    graph_stream_gone(&c->per_thread);
    graphs_forget(c, NULL);
    while (c->modules) module_drop(c->modules);
    while (c->events) event_drop(c->events);
    while (c->streams) stream_drop(c->streams);
    while (c->buffers) buffer_drop(c->buffers);
}

void context_close(Context *c) {
    handle_remove(HANDLE_CONTEXT, c);
    work_wait(c->device, c->device->submitted);
    empty(c);
}

/* ---- primary ----------------------------------------------------------------------------------- */

CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice ordinal) {
    CUresult r = call_begin(ENTRY_cuDevicePrimaryCtxRetain, NEEDS_INIT, NULL);
    if (r) return r;
    Device *d = device_find(ordinal);
    if (!out) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (!d) return call_end(CUDA_ERROR_INVALID_DEVICE);
    Context *c = &d->primary;
    c->primary = true;
    if (c->retained) c->retained++;
    else if (!context_open(c, d, c->flags)) return call_end(CUDA_ERROR_OUT_OF_MEMORY);
    *out = c;
    return call_end(CUDA_SUCCESS);
}

static CUresult release(Entry entry, CUdevice ordinal) {
    CUresult r = call_begin(entry, NEEDS_INIT, NULL);
    if (r) return r;
    Device *d = device_find(ordinal);
    if (!d) return call_end(CUDA_ERROR_INVALID_DEVICE);
    if (!d->primary.retained) return call_end(CUDA_ERROR_INVALID_CONTEXT);
    if (work_is_mine()) return call_end(CUDA_ERROR_NOT_PERMITTED);
    if (!--d->primary.retained) context_close(&d->primary);
    return call_end(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice ordinal) { return release(ENTRY_cuDevicePrimaryCtxRelease, ordinal); }
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) { return release(ENTRY_cuDevicePrimaryCtxRelease_v2, ordinal); }

/* Everything in it goes, also its error; who retained it keeps it. */
static CUresult reset(Entry entry, CUdevice ordinal) {
    CUresult r = call_begin(entry, NEEDS_INIT, NULL);
    if (r) return r;
    Device *d = device_find(ordinal);
    if (!d) return call_end(CUDA_ERROR_INVALID_DEVICE);
    if (work_is_mine()) return call_end(CUDA_ERROR_NOT_PERMITTED);
    Context *c = &d->primary;
    if (c->retained) {
        uint32_t retained = c->retained;
        context_close(c);
        if (!context_open(c, d, c->flags)) return call_end(CUDA_ERROR_OUT_OF_MEMORY);
        c->retained = retained;
    }
    return call_end(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxReset(CUdevice ordinal) { return reset(ENTRY_cuDevicePrimaryCtxReset, ordinal); }
CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal) { return reset(ENTRY_cuDevicePrimaryCtxReset_v2, ordinal); }

static bool bad_flags(uint32_t flags) {
    uint32_t schedule = flags & CU_CTX_SCHED_MASK;
    return flags & ~(uint32_t)CU_CTX_FLAGS_MASK || (schedule & (schedule - 1));
}

static CUresult set_flags(Entry entry, CUdevice ordinal, uint32_t flags) {
    CUresult r = call_begin(entry, NEEDS_INIT, NULL);
    if (r) return r;
    Device *d = device_find(ordinal);
    if (!d) return call_end(CUDA_ERROR_INVALID_DEVICE);
    if (bad_flags(flags)) return call_end(CUDA_ERROR_INVALID_VALUE);
    d->primary.flags = flags;
    return call_end(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice ordinal, uint32_t flags) {
    return set_flags(ENTRY_cuDevicePrimaryCtxSetFlags, ordinal, flags);
}
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, uint32_t flags) {
    return set_flags(ENTRY_cuDevicePrimaryCtxSetFlags_v2, ordinal, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, uint32_t *flags, int *active) {
    CUresult r = call_begin(ENTRY_cuDevicePrimaryCtxGetState, NEEDS_INIT, NULL);
    if (r) return r;
    Device *d = device_find(ordinal);
    if (!d) return call_end(CUDA_ERROR_INVALID_DEVICE);
    if (!flags || !active) return call_end(CUDA_ERROR_INVALID_VALUE);
    *flags = d->primary.flags;
    *active = d->primary.retained > 0;
    return call_end(CUDA_SUCCESS);
}

/* ---- others ------------------------------------------------------------------------------------ */

static CUresult create(Entry entry, CUcontext *out, uint32_t flags, CUdevice ordinal, bool special) {
    CUresult r = call_begin(entry, NEEDS_INIT, NULL);
    if (r) return r;
    Device *d = device_find(ordinal);
    if (!out || bad_flags(flags)) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (!d) return call_end(CUDA_ERROR_INVALID_DEVICE);
    if (special) return call_end(CUDA_ERROR_NOT_SUPPORTED);
    Context *c = calloc(1, sizeof *c);
    if (!c || !context_open(c, d, flags)) {
        free(c);
        return call_end(CUDA_ERROR_OUT_OF_MEMORY);
    }
    if (!current_push(c)) {
        context_close(c);
        free(c);
        return call_end(CUDA_ERROR_OUT_OF_MEMORY);
    }
    c->next = driver.contexts;
    driver.contexts = c;
    *out = c;
    return call_end(CUDA_SUCCESS);
}

CUresult cuCtxCreate_v2(CUcontext *out, uint32_t flags, CUdevice ordinal) {
    return create(ENTRY_cuCtxCreate_v2, out, flags, ordinal, false);
}
CUresult cuCtxCreate_v3(CUcontext *out, CUexecAffinityParam *affinity, int n, uint32_t flags, CUdevice ordinal) {
    return create(ENTRY_cuCtxCreate_v3, out, flags, ordinal, affinity && n > 0);
}
CUresult cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *p, uint32_t flags, CUdevice ordinal) {
    return create(ENTRY_cuCtxCreate_v4, out, flags, ordinal, p && (p->numExecAffinityParams > 0 || p->cigParams));
}

/* With the lock; gives it back. A primary context isn't destroyed like this. */
static CUresult destroy(Context *c) {
    if (!c || c->primary) return call_end(CUDA_ERROR_INVALID_CONTEXT);
    if (work_is_mine()) return call_end(CUDA_ERROR_NOT_PERMITTED);
    if (current_get() == c) current_pop();
    context_close(c);
    Context **at = &driver.contexts;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    free(c);
    return call_end(CUDA_SUCCESS);
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
    CUresult r = call_begin(ENTRY_cuCtxDestroy_v2, NEEDS_INIT, NULL);
    return r ? r : destroy(context_find(handle));
}

CUresult cuCtxAttach(CUcontext *out, uint32_t flags) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuCtxAttach, NEEDS_CONTEXT, &c);
    if (r) return r;
    if (!out || flags) return call_end(CUDA_ERROR_INVALID_VALUE);
    c->retained++;
    *out = c;
    return call_end(CUDA_SUCCESS);
}

CUresult cuCtxDetach(CUcontext handle) {
    CUresult r = call_begin(ENTRY_cuCtxDetach, NEEDS_INIT, NULL);
    if (r) return r;
    Context *c = context_find(handle);
    if (!c || c != context_current()) return call_end(CUDA_ERROR_INVALID_CONTEXT);
    if (c->retained == 1) return destroy(c);
    c->retained--;
    return call_end(CUDA_SUCCESS);
}

/* ---- current ----------------------------------------------------------------------------------- */

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
    CUresult r = call_begin(ENTRY_cuCtxPushCurrent_v2, NEEDS_INIT, NULL);
    if (r) return r;
    if (!context_find(handle)) return call_end(CUDA_ERROR_INVALID_CONTEXT);
    return call_end(current_push(handle) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult cuCtxPopCurrent_v2(CUcontext *out) {
    CUresult r = call_begin(ENTRY_cuCtxPopCurrent_v2, NEEDS_INIT, NULL);
    if (r) return r;
    CUcontext c = current_pop();
    if (!c) return call_end(CUDA_ERROR_INVALID_CONTEXT);
    if (out) *out = c;
    return call_end(CUDA_SUCCESS);
}

CUresult cuCtxSetCurrent(CUcontext handle) {
    CUresult r = call_begin(ENTRY_cuCtxSetCurrent, NEEDS_INIT, NULL);
    if (r) return r;
    if (handle && !context_find(handle)) return call_end(CUDA_ERROR_INVALID_CONTEXT);
    current_set(handle);
    return call_end(CUDA_SUCCESS);
}

CUresult cuCtxGetCurrent(CUcontext *out) {
    CUresult r = call_begin(ENTRY_cuCtxGetCurrent, NEEDS_INIT, NULL);
    if (r) return r;
    if (!out) return call_end(CUDA_ERROR_INVALID_VALUE);
    *out = context_current();
    return call_end(CUDA_SUCCESS);
}

/* ---- questions about one: NULL is the current one ---------------------------------------------- */

/* Like call_begin() for a context that the caller names; `out` must be a pointer. */
static CUresult begin(Entry entry, CUcontext handle, const void *out, Context **c) {
    CUresult r = call_begin(entry, handle ? NEEDS_INIT : NEEDS_CONTEXT, c);
    if (r) return r;
    if (handle) *c = context_find(handle);
    if (!*c) return call_end(CUDA_ERROR_INVALID_CONTEXT);
    return out ? CUDA_SUCCESS : call_end(CUDA_ERROR_INVALID_VALUE);
}

CUresult cuCtxGetDevice(CUdevice *out) {
    Context *c;
    CUresult r = begin(ENTRY_cuCtxGetDevice, NULL, out, &c);
    if (r) return r;
    *out = c->device->ordinal;
    return call_end(CUDA_SUCCESS);
}

CUresult cuCtxGetDevice_v2(CUdevice *out, CUcontext handle) {
    Context *c;
    CUresult r = begin(ENTRY_cuCtxGetDevice_v2, handle, out, &c);
    if (r) return r;
    *out = c->device->ordinal;
    return call_end(CUDA_SUCCESS);
}

CUresult cuCtxGetId(CUcontext handle, uint64_t *out) {
    Context *c;
    CUresult r = begin(ENTRY_cuCtxGetId, handle, out, &c);
    if (r) return r;
    *out = c->id;
    return call_end(CUDA_SUCCESS);
}

CUresult cuCtxGetApiVersion(CUcontext handle, uint32_t *out) {
    Context *c;
    CUresult r = begin(ENTRY_cuCtxGetApiVersion, handle, out, &c);
    if (r) return r;
    *out = 3020;
    return call_end(CUDA_SUCCESS);
}

CUresult cuCtxSynchronize(void) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuCtxSynchronize, NEEDS_WORKING, &c);
    return r ? r : call_end(work_idle(c));
}

CUresult cuCtxSynchronize_v2(CUcontext handle) {
    Context *c;
    CUresult r = begin(ENTRY_cuCtxSynchronize_v2, handle, "", &c);
    return r ? r : call_end(work_idle(c));
}

CUresult cuCtxGetFlags(uint32_t *out) {
    Context *c;
    CUresult r = begin(ENTRY_cuCtxGetFlags, NULL, out, &c);
    if (r) return r;
    *out = c->flags;
    return call_end(CUDA_SUCCESS);
}

CUresult cuCtxSetFlags(uint32_t flags) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuCtxSetFlags, NEEDS_CONTEXT, &c);
    if (r) return r;
    if (bad_flags(flags)) return call_end(CUDA_ERROR_INVALID_VALUE);
    c->flags = flags;
    return call_end(CUDA_SUCCESS);
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuCtxGetStreamPriorityRange, NEEDS_CONTEXT, &c);
    if (r) return r;
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return call_end(CUDA_SUCCESS);
}

/* ---- settings ---------------------------------------------------------------------------------- */

static CUresult bad_limit(CUlimit limit) {
    return (uint32_t)limit >= CU_LIMIT_MAX
               ? limit > 9 || limit < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_UNSUPPORTED_LIMIT
               : CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuCtxSetLimit, NEEDS_WORKING, &c);
    if (r) return r;
    r = bad_limit(limit);
    if (!r && limit == CU_LIMIT_STACK_SIZE && value > (1 << 19)) r = CUDA_ERROR_INVALID_VALUE;
    if (!r) c->limits[limit] = value;
    return call_end(r);
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit) {
    Context *c;
    CUresult r = begin(ENTRY_cuCtxGetLimit, NULL, value, &c);
    if (r) return r;
    r = bad_limit(limit);
    if (!r) *value = c->limits[limit];
    return call_end(r);
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *out) {
    Context *c;
    CUresult r = begin(ENTRY_cuCtxGetCacheConfig, NULL, out, &c);
    if (r) return r;
    *out = c->cache_config;
    return call_end(CUDA_SUCCESS);
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuCtxSetCacheConfig, NEEDS_WORKING, &c);
    if (r) return r;
    if (config < 0 || config > 3) return call_end(CUDA_ERROR_INVALID_VALUE);
    c->cache_config = config;
    return call_end(CUDA_SUCCESS);
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig *out) {
    Context *c;
    CUresult r = begin(ENTRY_cuCtxGetSharedMemConfig, NULL, out, &c);
    if (r) return r;
    *out = c->shared_config;
    return call_end(CUDA_SUCCESS);
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuCtxSetSharedMemConfig, NEEDS_WORKING, &c);
    if (r) return r;
    if (config < 0 || config > 2) return call_end(CUDA_ERROR_INVALID_VALUE);
    c->shared_config = config;
    return call_end(CUDA_SUCCESS);
}

CUresult cuCtxResetPersistingL2Cache(void) { return call_check(ENTRY_cuCtxResetPersistingL2Cache, NEEDS_WORKING); }

CUresult cuCtxGetExecAffinity(CUexecAffinityParam *out, CUexecAffinityType type) {
    Context *c;
    CUresult r = begin(ENTRY_cuCtxGetExecAffinity, NULL, out, &c);
    if (r) return r;
    if (type) return call_end(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    *out = (CUexecAffinityParam){0, (uint32_t)c->device->arch->multiprocessors};
    return call_end(CUDA_SUCCESS);
}

/* ---- peers: a device's kernels see its own memory and the host's -------------------------------- */

CUresult cuCtxEnablePeerAccess(CUcontext peer, uint32_t flags) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuCtxEnablePeerAccess, NEEDS_WORKING, &c);
    if (r) return r;
    Context *other = context_find(peer);
    if (!other) return call_end(CUDA_ERROR_INVALID_CONTEXT);
    if (flags) return call_end(CUDA_ERROR_INVALID_VALUE);
    return call_end(other->device == c->device ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
    CUresult r = call_begin(ENTRY_cuCtxDisablePeerAccess, NEEDS_WORKING, NULL);
    if (r) return r;
    return call_end(context_find(peer) ? CUDA_ERROR_PEER_ACCESS_NOT_ENABLED : CUDA_ERROR_INVALID_CONTEXT);
}
