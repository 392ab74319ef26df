/* cuda_raise.c - exceptions that kernels raise on a GPU: the records they are written to, and who is told.
 *
 * A kernel that raises gets the address of an ErrorRecord, which keeps the first exception that is written to it. What
 * one thread of the program launches of one module into one stream shares a Watch, which has a record of its own: so no
 * exception hides one of another thread, and a launch that its caller waits for (`waited`) is his alone. A wait looks
 * through the watches; those whose launches have ended without an exception are free again. */
#include "cuda.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ------------------------------------------------------------------------------------ */

/* A chunk of records in memory that host and device share. The memory is ours: the driver's own would go when somebody
 * else in the process resets the context, and every launch of a kernel that raises looks there. */
static Status add_watches(CudaDevice *d, Failure *f) {
    size_t bytes = MOST_WATCHES * sizeof(ErrorRecord);
    Watch *watches = calloc(MOST_WATCHES, sizeof *watches);
    ErrorRecord *host = watches ? aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE) : NULL;
    CUdeviceptr address;
    if (!host) {
        free(watches);
        return failure_memory(f);
    }
    const char *call = "cuMemHostRegister";
    CUresult e = d->cu->cuMemHostRegister_v2(host, bytes, CU_MEMHOSTALLOC_DEVICEMAP);
    if (!e) {
        call = "cuMemHostGetDevicePointer";
        e = d->cu->cuMemHostGetDevicePointer_v2(&address, host, 0);
        if (e) d->cu->cuMemHostUnregister(host);
    }
    if (e) {
        free(host);
        free(watches);
        return cuda_fail(d, d->cu, e, call, f);
    }
    for (uint32_t i = 0; i < MOST_WATCHES; i++) {
        watches[i].record = &host[i];
        watches[i].address = address + (CUdeviceptr)i * sizeof *host;
        watches[i].next = i + 1 < MOST_WATCHES ? &watches[i + 1] : d->free_watches;
    }
    d->free_watches = watches;
    return GPU_OK;
}

/* ---- launching --------------------------------------------------------------------------------- */

static bool is_mine(const Watch *w) { return pthread_equal(w->thread, pthread_self()); }

/* Under the lock, as all that follows. */
static Watch *find_watch(const CudaDevice *d, const CudaModule *m, const LaunchConfig *c) {
    Watch *w = d->watches;
    CUstream s = cuda_stream_of(c->stream);
    while (w && !(w->module == m && w->stream == s && w->waited == c->waited && is_mine(w))) w = w->next;
    return w;
}

static Watch *new_watch(CudaDevice *d, CudaModule *m, const LaunchConfig *c) {
    Watch *w = d->free_watches;
    d->free_watches = w->next;
    memset(w->record, 0, sizeof *w->record);
    w->module = m;
    w->stream = cuda_stream_of(c->stream);
    w->thread = pthread_self();
    w->waited = c->waited;
    w->next = d->watches;
    d->watches = w;
    __atomic_fetch_add(&m->base.unsettled, 1, __ATOMIC_RELEASE);
    __atomic_fetch_add(&d->unsettled, 1, __ATOMIC_RELEASE);
    return w;
}

static void end_watch(CudaDevice *d, Watch *w) {
    Watch **at = &d->watches;
    while (*at != w) at = &(*at)->next;
    *at = w->next;
    __atomic_fetch_sub(&w->module->base.unsettled, 1, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&d->unsettled, 1, __ATOMIC_RELEASE);
    w->next = d->free_watches;
    d->free_watches = w;
}

Status cuda_watch(CudaDevice *d, CudaModule *m, const LaunchConfig *c, Watch **out, Failure *f) {
    Status status = GPU_OK;
    pthread_mutex_lock(&d->lock);
    Watch *w = find_watch(d, m, c);
    if (!w && !d->free_watches) status = add_watches(d, f);
    if (!w && status == GPU_OK) w = new_watch(d, m, c);
    /* Whoever waits now must not take it for ended. */
    if (w) __atomic_store_n(&w->ticket, UINT64_MAX, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&d->lock);
    *out = w;
    return status;
}

/* If the launch failed, earlier ones may run still: they are taken for as late as it. Without the lock: until this is
 * done, nobody takes the watch away. */
void cuda_watched(CudaDevice *d, Watch *w) { __atomic_store_n(&w->ticket, cuda_new_ticket(d), __ATOMIC_RELEASE); }

/* Its launches have ended. */
void cuda_unwatch(CudaDevice *d, const CudaModule *m) {
    pthread_mutex_lock(&d->lock);
    for (Watch *w = d->watches, *next; w; w = next) {
        next = w->next;
        if (w->module == m) end_watch(d, w);
    }
    pthread_mutex_unlock(&d->lock);
}

/* ---- waiting ----------------------------------------------------------------------------------- */

uint64_t cuda_ticket(CudaDevice *d) { return __atomic_load_n(&d->ticket, __ATOMIC_ACQUIRE); }
uint64_t cuda_new_ticket(CudaDevice *d) { return __atomic_add_fetch(&d->ticket, 1, __ATOMIC_ACQ_REL); }

static bool has_raised(const Watch *w) { return ((const volatile ErrorRecord *)w->record)->site != 0; }

/* Each thread has a default stream of its own by that name. */
static bool is_in(const Watch *w, CUstream s) { return w->stream == s && (s != CU_STREAM_PER_THREAD || is_mine(w)); }

/* What a thread launched it is told of at any wait; of others' launches whoever waits for all or for their stream. */
static bool concerns(const Watch *w, bool all, CUstream s) {
    return is_mine(w) || (!w->waited && (all || is_in(w, s)));
}

/* What has raised, this thread's own first; the others are told of at the next waits. *ended: all its launches have.
 * Watches that have ended without an exception are freed. */
static Watch *find_raised(CudaDevice *d, bool all, CUstream s, uint64_t ticket, bool every, bool *ended) {
    Watch *found = NULL;
    for (Watch *w = d->watches, *next; w; w = next) {
        next = w->next;
        if (!concerns(w, all, s)) continue;
        bool over = __atomic_load_n(&w->ticket, __ATOMIC_ACQUIRE) <= ticket && (every || is_in(w, s));
        if (has_raised(w)) {
            if (found && (is_mine(found) || !is_mine(w))) continue;
            found = w;
            *ended = over;
        } else if (over) {
            end_watch(d, w);
        }
    }
    return found;
}

/* The record of a kernel that is still running may be half written: then the device is waited for first. */
Status cuda_settle(CudaDevice *d, bool all, CUstream s, uint64_t ticket, Failure *f) {
    if (__atomic_load_n(&d->unsettled, __ATOMIC_ACQUIRE) == 0) return GPU_OK;
    for (bool every = all;; every = true) {
        bool ended = false;
        pthread_mutex_lock(&d->lock);
        cuda_prints_settle(d, every, s, ticket);
        Watch *w = find_raised(d, all, s, ticket, every, &ended);
        if (w && ended) {
            failure_set(f, GPU_ERROR_RAISED, NULL);
            f->record = *w->record;
            f->owner = w->module->base.owner;
            end_watch(d, w);
        }
        uint64_t now = cuda_ticket(d);
        pthread_mutex_unlock(&d->lock);
        if (!w || ended) return w ? GPU_ERROR_RAISED : GPU_OK;
        CUresult r = d->cu->cuCtxSynchronize();
        if (r) return cuda_fail(d, d->cu, r, "cuCtxSynchronize", f);
        ticket = now;
    }
}
