/* cuda_stream.c - streams, events, and waiting so that Ctrl-C is heard. */
#define _GNU_SOURCE
#include "clock.h"
#include "cuda.h"

#include <stdlib.h>
#include <string.h>

enum { SPIN_NS = 20 * 1000, ASK_NS = 20 * 1000000, LEAST_SLEEP_NS = 5 * 1000, MOST_SLEEP_NS = 500 * 1000 };

static CudaDevice *of_stream(const Stream *s) { return (CudaDevice *)s->device; }
static CudaDevice *of_event(const Event *e) { return (CudaDevice *)e->device; }

/* ---- waiting ----------------------------------------------------------------------------------- */

/* What is waited for: an event, or else a stream. */
typedef struct Target {
    CudaDevice *device;
    CUstream stream;
    CUevent event;
} Target;

static CUresult ask(const Target *t) {
    const CudaDriver *cu = t->device->cu;
    return t->event ? cu->cuEventQuery(t->event) : cu->cuStreamQuery(t->stream);
}

static CUresult block(const Target *t) {
    const CudaDriver *cu = t->device->cu;
    return t->event ? cu->cuEventSynchronize(t->event) : cu->cuStreamSynchronize(t->stream);
}

/* Asks again and again, at first without a pause, then with pauses of a thirtieth of the time that has passed: a wait
 * ends late by that at most. Whoever can't be interrupted sleeps in the driver. */
static Status wait_for(const Target *t, const Waiter *w, Failure *f) {
    CudaDevice *d = t->device;
    if (!w || !w->interrupted) {
        CUresult r = block(t);
        return r ? cuda_fail(d, d->cu, r, t->event ? "cuEventSynchronize" : "cuStreamSynchronize", f) : GPU_OK;
    }
    uint64_t start = clock_ns(), asked = start;
    for (;;) {
        CUresult r = ask(t);
        if (r == CUDA_SUCCESS) return GPU_OK;
        if (r != CUDA_ERROR_NOT_READY) return cuda_fail(d, d->cu, r, t->event ? "cuEventQuery" : "cuStreamQuery", f);
        uint64_t now = clock_ns(), pause = (now - start) / 32;
        if (now - asked > ASK_NS) {
            asked = now;
            if (w->interrupted(w->arg)) {
                if (d->cu->interrupt) d->cu->interrupt(d->base.ordinal);
                return failure_set(f, GPU_ERROR_INTERRUPTED, NULL);
            }
        }
        if (now - start < SPIN_NS) continue;
        pause = pause < LEAST_SLEEP_NS ? LEAST_SLEEP_NS : pause > MOST_SLEEP_NS ? MOST_SLEEP_NS : pause;
        nanosleep(&(struct timespec){.tv_nsec = (long)pause}, NULL);
    }
}

Status cuda_wait(CudaDevice *d, CUstream s, const Waiter *w, Failure *f) {
    return wait_for(&(Target){.device = d, .stream = s}, w, f);
}

/* ---- streams ----------------------------------------------------------------------------------- */

Stream *cuda_default_stream(Device *d, DefaultStream which) { return &((CudaDevice *)d)->defaults[which]; }

/* Remembered, so that a wait for the device can be interrupted whatever stream it depends on. */
static bool remember(CudaDevice *d, Stream *s) {
    pthread_mutex_lock(&d->lock);
    if (d->nstreams == d->cap_streams) {
        uint32_t cap = d->cap_streams ? 2 * d->cap_streams : 16;
        Stream **streams = realloc(d->streams, cap * sizeof *streams);
        if (streams) {
            d->streams = streams;
            d->cap_streams = cap;
        }
    }
    bool room = d->nstreams < d->cap_streams;
    if (room) d->streams[d->nstreams++] = s;
    pthread_mutex_unlock(&d->lock);
    return room;
}

static void forget(CudaDevice *d, const Stream *s) {
    pthread_mutex_lock(&d->lock);
    for (uint32_t i = 0; i < d->nstreams; i++) {
        if (d->streams[i] != s) continue;
        d->streams[i] = d->streams[--d->nstreams];
        break;
    }
    pthread_mutex_unlock(&d->lock);
}

Status cuda_stream_create(Device *device, uint32_t flags, int priority, Stream **out, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    CUstream handle;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    int least = 0, greatest = 0; /* numerically, the greatest is the lowest */
    CUresult r = d->cu->cuCtxGetStreamPriorityRange(&least, &greatest);
    if (priority < greatest) priority = greatest;
    if (priority > least) priority = least;
    const char *call = "cuCtxGetStreamPriorityRange";
    if (!r) {
        call = "cuStreamCreateWithPriority";
        r = d->cu->cuStreamCreateWithPriority(
            &handle, flags & STREAM_NON_BLOCKING ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT, priority);
    }
    Stream *s = r ? NULL : malloc(sizeof *s);
    if (r) status = cuda_fail(d, d->cu, r, call, f);
    else if (s) {
        *s = (Stream){.device = device, .handle = handle, .owned = true};
        if (!remember(d, s)) {
            free(s);
            s = NULL;
        }
    }
    if (!r && !s) {
        d->cu->cuStreamDestroy_v2(handle);
        status = failure_memory(f);
    }
    *out = s;
    cuda_leave(d, before);
    return status;
}

Status cuda_stream_wrap(Device *d, void *handle, Stream **out, Failure *f) {
    Stream *s = malloc(sizeof *s);
    if (!s) return failure_memory(f);
    *s = (Stream){.device = d, .handle = handle};
    *out = s;
    return GPU_OK;
}

void cuda_stream_destroy(Stream *s) {
    CudaDevice *d = of_stream(s);
    CUcontext before;
    Failure f;
    if (s->owned) {
        forget(d, s);
        if (cuda_enter(d, &before, &f) == GPU_OK) {
            pool_stream_ends(d, s->handle);
            cuda_regions_stream_ends(d, s->handle);
            d->cu->cuStreamDestroy_v2(s->handle);
            cuda_leave(d, before);
        } else {
            failure_clear(&f);
        }
    }
    free(s);
}

Status cuda_stream_query(Stream *s, Failure *f) {
    CudaDevice *d = of_stream(s);
    CUcontext before;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    uint64_t ticket = cuda_ticket(d);
    CUresult r = d->cu->cuStreamQuery(s->handle);
    if (r == CUDA_ERROR_NOT_READY) status = GPU_NOT_READY;
    else if (r) status = cuda_fail(d, d->cu, r, "cuStreamQuery", f);
    else status = cuda_settle(d, false, s->handle, ticket, f);
    cuda_leave(d, before);
    return status;
}

Status cuda_stream_synchronize(Stream *s, const Waiter *w, Failure *f) {
    CudaDevice *d = of_stream(s);
    CUcontext before;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    uint64_t ticket = cuda_ticket(d);
    status = cuda_wait(d, s->handle, w, f);
    if (status == GPU_OK) status = cuda_settle(d, false, s->handle, ticket, f);
    cuda_leave(d, before);
    return status;
}

Status cuda_stream_wait_event(Stream *s, Event *e, Failure *f) {
    CudaDevice *d = of_stream(s);
    CUcontext before;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    CUresult r = d->cu->cuStreamWaitEvent(s->handle, e->handle, 0);
    if (r) status = cuda_fail(d, d->cu, r, "cuStreamWaitEvent", f);
    cuda_leave(d, before);
    return status;
}

Status cuda_stream_callback(Stream *s, void (*fn)(void *arg), void *arg, Failure *f) {
    CudaDevice *d = of_stream(s);
    CUcontext before;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    CUresult r = d->cu->cuLaunchHostFunc(s->handle, fn, arg);
    if (r) status = cuda_fail(d, d->cu, r, "cuLaunchHostFunc", f);
    cuda_leave(d, before);
    return status;
}

/* ---- the whole device -------------------------------------------------------------------------- */

/* An event behind everything in stream number i of ours, the legacy one last; false: there is no such stream. Under the
 * lock nobody destroys it. */
static bool mark(CudaDevice *d, uint32_t i, CUevent e, CUresult *r) {
    pthread_mutex_lock(&d->lock);
    bool there = i <= d->nstreams;
    if (there) *r = d->cu->cuEventRecord(e, i < d->nstreams ? (CUstream)d->streams[i]->handle : NULL);
    pthread_mutex_unlock(&d->lock);
    return there;
}

/* Waits for the streams one by one, so that it can be interrupted. */
static Status wait_for_streams(CudaDevice *d, const Waiter *w, Failure *f) {
    CUevent e;
    CUresult r = d->cu->cuEventCreate(&e, CU_EVENT_DISABLE_TIMING);
    if (r) return cuda_fail(d, d->cu, r, "cuEventCreate", f);
    Status status = GPU_OK;
    for (uint32_t i = 0; status == GPU_OK && mark(d, i, e, &r); i++)
        status = r ? cuda_fail(d, d->cu, r, "cuEventRecord", f) : wait_for(&(Target){.device = d, .event = e}, w, f);
    d->cu->cuEventDestroy_v2(e);
    return status;
}

Status cuda_synchronize(Device *device, const Waiter *w, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    uint64_t ticket = cuda_ticket(d);
    if (w && w->interrupted) status = wait_for_streams(d, w, f);
    CUresult r = status == GPU_OK ? d->cu->cuCtxSynchronize() : CUDA_SUCCESS; /* streams of others, too */
    if (r) status = cuda_fail(d, d->cu, r, "cuCtxSynchronize", f);
    if (status == GPU_OK) status = cuda_settle(d, true, NULL, ticket, f);
    if (status == GPU_OK) {
        cuda_forget(d, NULL);
        pool_collect(d);
    }
    cuda_leave(d, before);
    return status;
}

/* ---- events ------------------------------------------------------------------------------------ */

Status cuda_event_create(Device *device, uint32_t flags, Event **out, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    Event *e = NULL;
    CUevent handle;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    uint32_t asked = (flags & EVENT_BLOCKING ? CU_EVENT_BLOCKING_SYNC : 0u) |
                     (flags & (EVENT_NO_TIMING | EVENT_INTERPROCESS) ? CU_EVENT_DISABLE_TIMING : 0u) |
                     (flags & EVENT_INTERPROCESS ? CU_EVENT_INTERPROCESS : 0u);
    CUresult r = d->cu->cuEventCreate(&handle, asked);
    if (r) status = cuda_fail(d, d->cu, r, "cuEventCreate", f);
    else if (!(e = malloc(sizeof *e))) {
        d->cu->cuEventDestroy_v2(handle);
        status = failure_memory(f);
    } else {
        *e = (Event){.device = device, .handle = handle, .timing = !(asked & CU_EVENT_DISABLE_TIMING)};
    }
    *out = e;
    cuda_leave(d, before);
    return status;
}

void cuda_event_destroy(Event *e) {
    CudaDevice *d = of_event(e);
    CUcontext before;
    Failure f;
    if (cuda_enter(d, &before, &f) == GPU_OK) {
        d->cu->cuEventDestroy_v2(e->handle);
        cuda_leave(d, before);
    } else {
        failure_clear(&f);
    }
    free(e);
}

Status cuda_event_record(Event *e, Stream *s, Failure *f) {
    CudaDevice *d = of_event(e);
    CUcontext before;
    if (s && s->device != e->device)
        return failure_set(f, GPU_ERROR_VALUE, "an event of %s can't be recorded in a stream of %s", e->device->name,
                           s->device->name);
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    CUresult r = d->cu->cuEventRecord(e->handle, cuda_stream_of(s));
    if (r) status = cuda_fail(d, d->cu, r, "cuEventRecord", f);
    cuda_leave(d, before);
    return status;
}

/* Looks for exceptions, but doesn't know which launches were before the event. */
Status cuda_event_query(Event *e, Failure *f) {
    CudaDevice *d = of_event(e);
    CUcontext before;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    CUresult r = d->cu->cuEventQuery(e->handle);
    if (r == CUDA_ERROR_NOT_READY) status = GPU_NOT_READY;
    else if (r) status = cuda_fail(d, d->cu, r, "cuEventQuery", f);
    else status = cuda_settle(d, true, NULL, 0, f);
    cuda_leave(d, before);
    return status;
}

Status cuda_event_synchronize(Event *e, const Waiter *w, Failure *f) {
    CudaDevice *d = of_event(e);
    CUcontext before;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    status = wait_for(&(Target){.device = d, .event = e->handle}, w, f);
    if (status == GPU_OK) status = cuda_settle(d, true, NULL, 0, f);
    cuda_leave(d, before);
    return status;
}

Status cuda_event_elapsed(Event *from, Event *to, float *milliseconds, Failure *f) {
    CudaDevice *d = of_event(from);
    CUcontext before;
    if (!from->timing || !to->timing)
        return failure_set(f, GPU_ERROR_VALUE, "an event made with timing=False has no time");
    if (to->device != from->device)
        return failure_set(f, GPU_ERROR_VALUE, "the events are of different devices, %s and %s", from->device->name,
                           to->device->name);
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    CUresult r = d->cu->cuEventElapsedTime(milliseconds, from->handle, to->handle);
    if (r == CUDA_ERROR_NOT_READY)
        status = failure_set(f, GPU_ERROR_VALUE, "one of the events isn't there yet: call its synchronize() first");
    else if (r == CUDA_ERROR_INVALID_HANDLE)
        status = failure_set(f, GPU_ERROR_VALUE, "one of the events was never recorded");
    else if (r) status = cuda_fail(d, d->cu, r, "cuEventElapsedTime", f);
    cuda_leave(d, before);
    return status;
}
