/* arraycopy.c - copies between arrays of one shape on hosts and devices, whatever their strides.
 *
 * A copy is a nest of loops, outermost first; both sides take a step of their own in each. Axes of one element are
 * dropped, axes that lie behind each other in both are joined, and what is left innermost goes to the driver as rows.
 * What would be many small rows goes through a block on the host. */
#include "array.h"

#include <stdlib.h>

typedef struct Walk {
    int n;
    int64_t size[MAX_DIMS], to_step[MAX_DIMS], from_step[MAX_DIMS], item;
    char *to;
    const char *from;
} Walk;

static uint64_t magnitude(int64_t v) { return v < 0 ? 0 - (uint64_t)v : (uint64_t)v; }

/* Axes of more than one element, the one with the longest steps (of `to`, or else of `from`) first, those of it
 * upwards. False: there are no elements. */
static bool walk_open(Walk *w, const HostArray *to, const HostArray *from, bool by_to) {
    *w = (Walk){.item = array_item(to), .to = (char *)(uintptr_t)to->data, .from = from->data};
    for (int i = 0; i < to->ndim; i++) {
        int64_t n = to->shape[i], steps[2] = {to->strides[i], from->strides[i]};
        if (n == 0) return false;
        if (n == 1) continue;
        if (steps[!by_to] < 0) {
            w->to += (n - 1) * steps[0];
            w->from += (n - 1) * steps[1];
            steps[0] = -steps[0];
            steps[1] = -steps[1];
        }
        int at = w->n++;
        const int64_t *keys = by_to ? w->to_step : w->from_step;
        for (; at > 0 && magnitude(keys[at - 1]) < magnitude(steps[!by_to]); at--) {
            w->size[at] = w->size[at - 1];
            w->to_step[at] = w->to_step[at - 1];
            w->from_step[at] = w->from_step[at - 1];
        }
        w->size[at] = n;
        w->to_step[at] = steps[0];
        w->from_step[at] = steps[1];
    }
    return true;
}

static void walk_join(Walk *w) {
    for (int i = w->n - 2; i >= 0; i--) {
        if (w->to_step[i] != w->to_step[i + 1] * w->size[i + 1] ||
            w->from_step[i] != w->from_step[i + 1] * w->size[i + 1])
            continue;
        w->size[i + 1] *= w->size[i];
        w->n--;
        for (int k = i; k < w->n; k++) {
            w->size[k] = w->size[k + 1];
            w->to_step[k] = w->to_step[k + 1];
            w->from_step[k] = w->from_step[k + 1];
        }
    }
}

/* ---- on the host ------------------------------------------------------------------------------- */

static void copy_row(char *to, const char *from, int64_t n, int64_t to_step, int64_t from_step, size_t item) {
    for (int64_t i = 0; i < n; i++) memcpy(to + i * to_step, from + i * from_step, item);
}

/* Known sizes make one move of each memcpy. */
static void copy_elements(char *to, const char *from, int64_t n, int64_t to_step, int64_t from_step, int64_t item) {
    switch (item) {
    case 1: copy_row(to, from, n, to_step, from_step, 1); return;
    case 2: copy_row(to, from, n, to_step, from_step, 2); return;
    case 4: copy_row(to, from, n, to_step, from_step, 4); return;
    case 8: copy_row(to, from, n, to_step, from_step, 8); return;
    default: copy_row(to, from, n, to_step, from_step, (size_t)item);
    }
}

static void host_level(const Walk *w, int level, char *to, const char *from) {
    if (level == w->n) {
        memcpy(to, from, (size_t)w->item);
    } else if (level == w->n - 1) {
        if (w->to_step[level] == w->item && w->from_step[level] == w->item)
            memcpy(to, from, (size_t)(w->size[level] * w->item));
        else copy_elements(to, from, w->size[level], w->to_step[level], w->from_step[level], w->item);
    } else {
        for (int64_t i = 0; i < w->size[level]; i++)
            host_level(w, level + 1, to + i * w->to_step[level], from + i * w->from_step[level]);
    }
}

static void host_copy(const HostArray *to, const HostArray *from) {
    Walk w;
    if (!walk_open(&w, to, from, true)) return;
    walk_join(&w);
    host_level(&w, 0, w.to, w.from);
}

/* ---- through the driver ------------------------------------------------------------------------ */

typedef struct Transfer {
    Device *device, *other; /* other: COPY_ON_DEVICE from there; NULL: the same */
    CopyKind kind;
    Stream *stream;
    const Waiter *waiter;
    Failure *failure;
} Transfer;

/* A copy as calls of the driver: the innermost axes are the rows of one call, those around them take a call each. */
typedef struct Plan {
    Walk walk;
    Copy copy;
    int outer; /* axes that are loops */
    int64_t calls;
} Plan;

/* The innermost axes as the rows of one call: how many axes that takes. Rows go upwards and don't overlap. */
static int rows_of(const Walk *w, const Transfer *t, Copy *c) {
    int last = w->n - 1, taken = 0;
    *c = (Copy){.kind = t->kind, .width = (size_t)w->item, .rows = 1, .from_device = t->other, .waiter = t->waiter};
    if (last >= 0 && w->to_step[last] == w->item && w->from_step[last] == w->item) {
        c->width = (size_t)(w->size[last--] * w->item);
        taken++;
    }
    if (last < 0 || t->other) return taken;
    int64_t width = (int64_t)c->width, to = w->to_step[last], from = w->from_step[last];
    if (to < width || from < width || to > INT32_MAX || from > INT32_MAX) return taken;
    c->rows = (size_t)w->size[last];
    c->to_pitch = (size_t)to;
    c->from_pitch = (size_t)from;
    return taken + 1;
}

/* There are elements. */
static void plan_open(Plan *p, const HostArray *to, const HostArray *from, bool by_to, const Transfer *t) {
    walk_open(&p->walk, to, from, by_to);
    walk_join(&p->walk);
    p->outer = p->walk.n - rows_of(&p->walk, t, &p->copy);
    p->calls = 1;
    for (int i = 0; i < p->outer; i++) p->calls *= p->walk.size[i];
}

static Status plan_level(const Plan *p, int level, char *to, const char *from, const Transfer *t) {
    if (level == p->outer) {
        Copy c = p->copy;
        c.to = to;
        c.from = from;
        return t->device->ops->copy(t->device, &c, t->stream, t->failure);
    }
    const Walk *w = &p->walk;
    Status s = GPU_OK;
    for (int64_t i = 0; i < w->size[level] && s == GPU_OK; i++)
        s = plan_level(p, level + 1, to + i * w->to_step[level], from + i * w->from_step[level], t);
    return s;
}

static Status plan_run(const Plan *p, const Transfer *t) { return plan_level(p, 0, p->walk.to, p->walk.from, t); }

/* ---- through a block on the host --------------------------------------------------------------- */

enum {
    WIDE_ROW = 64,    /* bytes: rows that a bus carries one by one without loss */
    MANY_CALLS = 256, /* of the driver, each some microseconds: then by way of the host */
    SPARSE = 4,       /* what lies between elements is copied, too, if it is at most so many times as much */
};

/* One call whose rows are wide: as good as it gets. */
static bool plan_is_cheap(const Plan *p) { return p->calls == 1 && (p->copy.rows == 1 || p->copy.width >= WIDE_ROW); }

static void *block_new(size_t bytes) { return malloc(bytes ? bytes : 1); }

/* The axes that go downwards in `by` go upwards, in both. */
static void go_upwards(HostArray *by, HostArray *other) {
    for (int i = 0; i < by->ndim; i++) {
        if (by->strides[i] >= 0 || by->shape[i] <= 1) continue;
        HostArray *both[2] = {by, other};
        for (int k = 0; k < 2; k++) {
            both[k]->data = (const char *)both[k]->data + (both[k]->shape[i] - 1) * both[k]->strides[i];
            both[k]->strides[i] = -both[k]->strides[i];
        }
    }
}

/* An array like `like`, its axes in the same order in memory but without gaps; data is malloc'ed. */
static bool packed_like(HostArray *out, const HostArray *like) {
    *out = *like;
    int64_t step = array_item(like), bytes = step;
    bool done[MAX_DIMS] = {false};
    for (int k = 0; k < like->ndim; k++) {
        int least = -1;
        for (int i = like->ndim - 1; i >= 0; i--)
            if (!done[i] && (least < 0 || magnitude(like->strides[i]) < magnitude(like->strides[least]))) least = i;
        done[least] = true;
        out->strides[least] = step;
        step *= like->shape[least];
        bytes *= like->shape[least];
    }
    out->data = block_new((size_t)bytes);
    return out->data != NULL;
}

/* Addresses low <= p < high of the elements; they go upwards. */
static size_t span_of(const HostArray *a) {
    size_t bytes = array_item(a);
    for (int i = 0; i < a->ndim; i++) bytes += (size_t)((a->shape[i] - 1) * a->strides[i]);
    return bytes;
}

static size_t bytes_of(const HostArray *a) {
    size_t bytes = array_item(a);
    for (int i = 0; i < a->ndim; i++) bytes *= (size_t)a->shape[i];
    return bytes;
}

static Status to_device(const Place *place, const HostArray *source, Stream *s, const Waiter *w, Failure *f) {
    Transfer t = {place->device, NULL, COPY_TO_DEVICE, s, w, f};
    HostArray to = place->array, from = *source, packed;
    Plan plan;
    go_upwards(&to, &from);
    plan_open(&plan, &to, &from, true, &t);
    if (plan_is_cheap(&plan)) return plan_run(&plan, &t);
    if (!packed_like(&packed, &to)) return failure_memory(f);
    host_copy(&packed, &from);
    plan_open(&plan, &to, &packed, true, &t);
    Status status = plan_run(&plan, &t);
    free((void *)(uintptr_t)packed.data);
    return status;
}

/* All bytes from the first element to the last in one copy; what is wanted is picked on the host. */
static Status span_to_host(const HostArray *to, const HostArray *from, const Transfer *t) {
    HostArray block = *from;
    size_t bytes = span_of(from);
    void *copy = block_new(bytes);
    if (!copy) return failure_memory(t->failure);
    Copy c = {.kind = COPY_TO_HOST, .to = copy, .from = from->data, .width = bytes, .rows = 1, .waiter = t->waiter};
    Status status = t->device->ops->copy(t->device, &c, t->stream, t->failure);
    block.data = copy;
    if (status == GPU_OK) host_copy(to, &block);
    free(copy);
    return status;
}

static Status to_host(const HostArray *destination, const Place *place, Stream *s, const Waiter *w, Failure *f) {
    Transfer t = {place->device, NULL, COPY_TO_HOST, s, w, f};
    HostArray to = *destination, from = place->array, packed;
    Plan plan;
    go_upwards(&from, &to);
    plan_open(&plan, &to, &from, false, &t);
    if (plan_is_cheap(&plan)) return plan_run(&plan, &t);
    if (span_of(&from) / SPARSE <= bytes_of(&from)) return span_to_host(&to, &from, &t);
    if (!packed_like(&packed, &from)) return failure_memory(f);
    plan_open(&plan, &packed, &from, false, &t);
    Status status = plan_run(&plan, &t);
    if (status == GPU_OK) host_copy(&to, &packed);
    free((void *)(uintptr_t)packed.data);
    return status;
}

/* ---- any two ----------------------------------------------------------------------------------- */

static bool overlap(const HostArray *a, const HostArray *b) {
    uintptr_t low[2], high[2];
    const HostArray *both[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        low[k] = (uintptr_t)both[k]->data;
        high[k] = low[k] + array_item(both[k]);
        for (int i = 0; i < both[k]->ndim; i++) {
            int64_t reach = (both[k]->shape[i] - 1) * both[k]->strides[i];
            if (reach < 0) low[k] += (uintptr_t)reach;
            else high[k] += (uintptr_t)reach;
        }
    }
    return low[0] < high[1] && low[1] < high[0];
}

/* By way of the host, so that what is read can't be what was written. */
static Status staged(const Place *to, const Place *from, Stream *s, const Waiter *w, Failure *f) {
    HostArray packed;
    if (!packed_like(&packed, &to->array)) return failure_memory(f);
    const Place middle = {.array = packed};
    Status status = place_copy(&middle, from, to->device == from->device ? s : from->stream, w, f);
    if (status == GPU_OK) status = place_copy(to, &middle, s, w, f);
    free((void *)(uintptr_t)packed.data);
    return status;
}

static Stream *real_stream(Device *d, Stream *s) { return s ? s : d->ops->default_stream(d, STREAM_LEGACY); }

/* What comes later in a stream of one device waits for what is in a stream of another. */
static Status wait_across(Device *d, Stream *s, Device *other, Stream *first, Failure *f) {
    Event *e;
    Status status = other->ops->event_create(other, EVENT_NO_TIMING, &e, f);
    if (status != GPU_OK) return status;
    status = other->ops->event_record(e, real_stream(other, first), f);
    if (status == GPU_OK) status = d->ops->stream_wait_event(real_stream(d, s), e, f);
    other->ops->event_destroy(e);
    return status;
}

/* The source is read after what its stream has now, and left alone by its stream until it is read. */
static Status across(const Plan *p, const Transfer *t, Stream *source) {
    Status status = wait_across(t->device, t->stream, t->other, source, t->failure);
    if (status == GPU_OK) status = plan_run(p, t);
    if (status == GPU_OK) status = wait_across(t->other, source, t->device, t->stream, t->failure);
    return status;
}

static bool on_host(const Place *p) { return !p->device || p->device->ops->shares_host_memory; }

Status place_copy(const Place *to, const Place *from, Stream *s, const Waiter *w, Failure *f) {
    for (int i = 0; i < to->array.ndim; i++)
        if (to->array.shape[i] == 0) return GPU_OK;
    if (on_host(to) && on_host(from)) {
        if (overlap(&to->array, &from->array)) {
            HostArray packed;
            if (!packed_like(&packed, &from->array)) return failure_memory(f);
            host_copy(&packed, &from->array);
            host_copy(&to->array, &packed);
            free((void *)(uintptr_t)packed.data);
        } else {
            host_copy(&to->array, &from->array);
        }
        return GPU_OK;
    }
    if (on_host(from)) return to_device(to, &from->array, s, w, f);
    if (on_host(to)) return to_host(&to->array, from, s, w, f);
    bool same = to->device == from->device;
    Transfer t = {to->device, same ? NULL : from->device, COPY_ON_DEVICE, s, w, f};
    Plan plan;
    plan_open(&plan, &to->array, &from->array, true, &t);
    bool direct = plan.calls <= MANY_CALLS && to->device->ops == from->device->ops;
    if (!direct || (same && overlap(&to->array, &from->array))) return staged(to, from, s, w, f);
    return same ? plan_run(&plan, &t) : across(&plan, &t, from->stream);
}

Status place_fill(const Place *to, const void *element, Stream *s, Failure *f) {
    size_t count = 1;
    for (int i = 0; i < to->array.ndim; i++) count *= (size_t)to->array.shape[i];
    if (!count) return GPU_OK;
    return to->device->ops->fill(to->device, (void *)(uintptr_t)to->array.data, element, array_item(&to->array), count,
                                 s, f);
}
