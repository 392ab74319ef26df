/* driver_stream.c - streams, events, and functions of the host in streams. */
#define _POSIX_C_SOURCE 200809L
#include "../clock.h"
#include "driver.h"

#include <stdlib.h>

/* ---- streams ----------------------------------------------------------------------------------- */

Stream *stream_find(Context *c, CUstream handle) {
    if (!handle || handle == CU_STREAM_LEGACY) return &c->legacy;
    if (handle == CU_STREAM_PER_THREAD) return &c->per_thread;
    return handle_is(HANDLE_STREAM, handle) ? handle : NULL;
}

void stream_drop(Stream *s) {
    Stream **at = &s->context->streams;
    while (*at != s) at = &(*at)->next;
    graph_stream_gone(s);
    *at = s->next;
    handle_remove(HANDLE_STREAM, s);
    free(s);
}

CUresult stream_begin(Entry entry, CUstream handle, Stream **s) {
    bool named = handle && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD;
    Context *c = NULL;
    *s = NULL; /* gcc doesn't see that call_end() returns an error as it got it */
    CUresult r = call_begin(entry, named ? NEEDS_INIT : NEEDS_WORKING, &c);
    if (r) return r;
    if (named && !handle_is(HANDLE_STREAM, handle)) return call_end(CUDA_ERROR_INVALID_HANDLE);
    *s = named ? handle : stream_find(c, handle);
    return (*s)->context->error ? call_end((*s)->context->error) : CUDA_SUCCESS;
}

static CUresult create(Entry entry, CUstream *out, uint32_t flags, int priority) {
    Context *c;
    CUresult r = call_begin(entry, NEEDS_WORKING, &c);
    if (r) return r;
    if (!out || flags > CU_STREAM_NON_BLOCKING) return call_end(CUDA_ERROR_INVALID_VALUE);
    Stream *s = malloc(sizeof *s);
    if (!s || !handle_add(HANDLE_STREAM, s)) {
        free(s);
        return call_end(CUDA_ERROR_OUT_OF_MEMORY);
    }
    priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
    *s = (Stream){.context = c, .next = c->streams, .flags = flags, .priority = priority, .id = ++driver.ids};
    c->streams = s;
    *out = s;
    return call_end(CUDA_SUCCESS);
}

CUresult cuStreamCreate(CUstream *out, uint32_t flags) { return create(ENTRY_cuStreamCreate, out, flags, 0); }
CUresult cuStreamCreateWithPriority(CUstream *out, uint32_t flags, int priority) {
    return create(ENTRY_cuStreamCreateWithPriority, out, flags, priority);
}

/* Its work goes on. */
CUresult cuStreamDestroy_v2(CUstream handle) {
    CUresult r = call_begin(ENTRY_cuStreamDestroy_v2, NEEDS_INIT, NULL);
    if (r) return r;
    if (!handle_is(HANDLE_STREAM, handle)) return call_end(CUDA_ERROR_INVALID_HANDLE);
    stream_drop(handle);
    return call_end(CUDA_SUCCESS);
}

CUresult cuStreamQuery(CUstream handle) {
    Stream *s;
    CUresult r = stream_begin(ENTRY_cuStreamQuery, handle, &s);
    if (r) return r;
    if (s->capture) return call_end(graph_refuse(s));
    return call_end(s->context->device->done >= s->last ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY);
}

CUresult cuStreamSynchronize(CUstream handle) {
    Stream *s;
    CUresult r = stream_begin(ENTRY_cuStreamSynchronize, handle, &s);
    if (r) return r;
    return call_end(s->capture ? graph_refuse(s) : work_sync(s->context, s->last));
}

CUresult cuStreamGetPriority(CUstream handle, int *out) {
    Stream *s;
    CUresult r = stream_begin(ENTRY_cuStreamGetPriority, handle, &s);
    if (r) return r;
    if (out) *out = s->priority;
    return call_end(out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuStreamGetFlags(CUstream handle, uint32_t *out) {
    Stream *s;
    CUresult r = stream_begin(ENTRY_cuStreamGetFlags, handle, &s);
    if (r) return r;
    if (out) *out = s->flags;
    return call_end(out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuStreamGetId(CUstream handle, uint64_t *out) {
    Stream *s;
    CUresult r = stream_begin(ENTRY_cuStreamGetId, handle, &s);
    if (r) return r;
    if (out) *out = s->id;
    return call_end(out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice *out) {
    Stream *s;
    CUresult r = stream_begin(ENTRY_cuStreamGetDevice, handle, &s);
    if (r) return r;
    if (out) *out = s->context->device->ordinal;
    return call_end(out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

static CUresult get_context(Entry entry, CUstream handle, CUcontext *out, CUgreenCtx *green) {
    Stream *s;
    CUresult r = stream_begin(entry, handle, &s);
    if (r) return r;
    if (!out) return call_end(CUDA_ERROR_INVALID_VALUE);
    *out = s->context;
    if (green) *green = NULL;
    return call_end(CUDA_SUCCESS);
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *out) {
    return get_context(ENTRY_cuStreamGetCtx, handle, out, NULL);
}
CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext *out, CUgreenCtx *green) {
    return get_context(ENTRY_cuStreamGetCtx_v2, handle, out, green);
}

CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t bytes, uint32_t flags) {
    (void)bytes;
    Stream *s;
    CUresult r = stream_begin(ENTRY_cuStreamAttachMemAsync, handle, &s);
    if (r) return r;
    Buffer *b = buffer_at(address);
    bool good = b && (b->kind == ALLOC_MANAGED || b->registered) && flags && flags <= CU_MEM_ATTACH_SINGLE &&
                !(flags & (flags - 1));
    return call_end(good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

/* ---- functions of the host --------------------------------------------------------------------- */

typedef struct HostWork {
    Work work;
    CUstream stream;
    CUstreamCallback callback;
    CUhostFn function;
    void *user;
} HostWork;

/* A callback hears of the context's error, too; a host function isn't called then. */
static CUresult run_host(Work *w) {
    HostWork *h = (HostWork *)w;
    if (h->callback) h->callback(h->stream, w->context->error, h->user);
    else h->function(h->user);
    return CUDA_SUCCESS;
}

static CUresult submit_host(Stream *s, HostWork from) {
    HostWork *h = malloc(sizeof *h);
    if (!h) return call_end(CUDA_ERROR_OUT_OF_MEMORY);
    *h = from;
    h->work.bytes = sizeof *h;
    work_submit(&h->work, s);
    return call_end(work_finish(s));
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void *user, uint32_t flags) {
    Stream *s;
    CUresult r = stream_begin(ENTRY_cuStreamAddCallback, handle, &s);
    if (r) return r;
    if (!callback || flags) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (s->capture) return call_end(graph_refuse(s));
    return submit_host(
        s, (HostWork){.work = {.run = run_host, .always = true}, .stream = handle, .callback = callback, .user = user});
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void *user) {
    Stream *s;
    CUresult r = stream_begin(ENTRY_cuLaunchHostFunc, handle, &s);
    if (r) return r;
    if (!function) return call_end(CUDA_ERROR_INVALID_VALUE);
    return submit_host(
        s, (HostWork){.work = {.run = run_host, .node = CU_GRAPH_NODE_TYPE_HOST}, .function = function, .user = user});
}

/* ---- events ------------------------------------------------------------------------------------ */

typedef struct EventWork {
    Work work;
    Event *event;
    Device *device; /* waiting: whose work to wait for */
    uint64_t number;
    double time;
} EventWork;

CUresult cuEventCreate(CUevent *out, uint32_t flags) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuEventCreate, NEEDS_WORKING, &c);
    if (r) return r;
    uint32_t known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    bool between = flags & CU_EVENT_INTERPROCESS;
    if (!out || flags & ~known || (between && !(flags & CU_EVENT_DISABLE_TIMING)))
        return call_end(CUDA_ERROR_INVALID_VALUE);
    if (between) return call_end(CUDA_ERROR_NOT_SUPPORTED);
    Event *e = malloc(sizeof *e);
    if (!e || !handle_add(HANDLE_EVENT, e)) {
        free(e);
        return call_end(CUDA_ERROR_OUT_OF_MEMORY);
    }
    *e = (Event){.context = c, .next = c->events, .flags = flags};
    c->events = e;
    *out = e;
    return call_end(CUDA_SUCCESS);
}

void event_drop(Event *e) {
    Event **at = &e->context->events;
    while (*at != e) at = &(*at)->next;
    *at = e->next;
    handle_remove(HANDLE_EVENT, e);
    e->destroyed = true;
    if (!e->pending) free(e);
}

/* call_begin() and the event, of whatever context. */
static CUresult begin_event(Entry entry, CUevent e) {
    CUresult r = call_begin(entry, NEEDS_INIT, NULL);
    if (r) return r;
    if (!handle_is(HANDLE_EVENT, e)) return call_end(CUDA_ERROR_INVALID_HANDLE);
    return e->context->error ? call_end(e->context->error) : CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent e) {
    CUresult r = call_begin(ENTRY_cuEventDestroy_v2, NEEDS_INIT, NULL);
    if (r) return r;
    if (!handle_is(HANDLE_EVENT, e)) return call_end(CUDA_ERROR_INVALID_HANDLE);
    event_drop(e);
    return call_end(CUDA_SUCCESS);
}

static CUresult run_record(Work *w) {
    ((EventWork *)w)->time = (double)clock_ns() * 1e-6;
    return CUDA_SUCCESS;
}

static void end_record(Work *w) {
    Event *e = ((EventWork *)w)->event;
    e->time = ((EventWork *)w)->time;
    if (!--e->pending && e->destroyed) free(e);
}

static CUresult record(Entry entry, CUevent e, CUstream handle, uint32_t flags) {
    Stream *s;
    CUresult r = stream_begin(entry, handle, &s);
    if (r) return r;
    if (!handle_is(HANDLE_EVENT, e)) return call_end(CUDA_ERROR_INVALID_HANDLE);
    if (flags > 1) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (e->context != s->context) return call_end(CUDA_ERROR_INVALID_HANDLE);
    if (s->capture) {
        graph_record(e, s);
        return call_end(CUDA_SUCCESS);
    }
    e->captured_in = 0;
    EventWork *w = malloc(sizeof *w);
    if (!w) return call_end(CUDA_ERROR_OUT_OF_MEMORY);
    *w = (EventWork){.work = {.run = run_record, .end = end_record, .always = true}, .event = e};
    e->pending++;
    e->recorded = true;
    e->device = s->context->device;
    e->number = work_submit(&w->work, s);
    return call_end(work_finish(s));
}

CUresult cuEventRecord(CUevent e, CUstream stream) { return record(ENTRY_cuEventRecord, e, stream, 0); }
CUresult cuEventRecordWithFlags(CUevent e, CUstream stream, uint32_t flags) {
    return record(ENTRY_cuEventRecordWithFlags, e, stream, flags);
}

static bool is_done(const Event *e) { return !e->recorded || e->device->done >= e->number; }

CUresult cuEventQuery(CUevent e) {
    CUresult r = begin_event(ENTRY_cuEventQuery, e);
    if (r) return r;
    if (e->captured_in) return call_end(CUDA_ERROR_CAPTURED_EVENT);
    return call_end(is_done(e) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY);
}

CUresult cuEventSynchronize(CUevent e) {
    CUresult r = begin_event(ENTRY_cuEventSynchronize, e);
    if (r) return r;
    if (e->captured_in) return call_end(CUDA_ERROR_CAPTURED_EVENT);
    return call_end(e->recorded ? work_sync(e->context, e->number) : CUDA_SUCCESS);
}

static CUresult run_wait(Work *w) {
    EventWork *e = (EventWork *)w;
    pthread_mutex_lock(&driver.lock);
    work_wait(e->device, e->number);
    pthread_mutex_unlock(&driver.lock);
    return CUDA_SUCCESS;
}

/* On the same device the order of the queue is enough. */
CUresult cuStreamWaitEvent(CUstream handle, CUevent e, uint32_t flags) {
    Stream *s;
    CUresult r = stream_begin(ENTRY_cuStreamWaitEvent, handle, &s);
    if (r) return r;
    if (!handle_is(HANDLE_EVENT, e)) return call_end(CUDA_ERROR_INVALID_HANDLE);
    if (flags > 1) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (s->capture || e->captured_in) return call_end(graph_wait(s, e));
    if (is_done(e) || e->device == s->context->device) return call_end(CUDA_SUCCESS);
    EventWork *w = malloc(sizeof *w);
    if (!w) return call_end(CUDA_ERROR_OUT_OF_MEMORY);
    *w = (EventWork){.work = {.run = run_wait}, .device = e->device, .number = e->number};
    work_submit(&w->work, s);
    return call_end(work_finish(s));
}

static CUresult elapsed(Entry entry, float *milliseconds, CUevent start, CUevent end) {
    CUresult r = begin_event(entry, start);
    if (r) return r;
    if (!milliseconds) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (!handle_is(HANDLE_EVENT, end) || !start->recorded || !end->recorded) return call_end(CUDA_ERROR_INVALID_HANDLE);
    if ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) return call_end(CUDA_ERROR_INVALID_HANDLE);
    if (!is_done(start) || !is_done(end)) return call_end(CUDA_ERROR_NOT_READY);
    *milliseconds = (float)(end->time - start->time);
    return call_end(CUDA_SUCCESS);
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    return elapsed(ENTRY_cuEventElapsedTime, milliseconds, start, end);
}
CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) {
    return elapsed(ENTRY_cuEventElapsedTime_v2, milliseconds, start, end);
}
