/* stage.c - host arrays as arguments of a kernel on a device with memory of its own.
 *
 * They are copied in, and copied back if the kernel writes them. Arrays that overlap, or are the same, share one copy,
 * so that the kernel sees what it would see on the host. A copy lies as its original does to 16 bytes, so that what
 * is known about alignment stays true. A view with wide gaps, alone in its memory, is packed. */
#include "launch.h" /* Python.h comes first */

#include "../../runtime/clock.h"

enum { PLACE = 16, WIDE = 2 /* times the bytes of its elements */, WORTH_A_WARNING = 1 << 20 };

static double now_s(void) { return (double)clock_ns() * 1e-9; }

/* ---- what overlaps ----------------------------------------------------------------------------- */

static Part *part_of(Staged *s, const Leaf *l, uintptr_t first, uintptr_t last, bool written) {
    if (s->n == s->cap) {
        bool few = s->parts == s->few;
        Part *parts = PyMem_Realloc(few ? NULL : s->parts, 2 * s->cap * sizeof *parts);
        if (!parts) return (Part *)PyErr_NoMemory();
        if (few) memcpy(parts, s->few, sizeof s->few);
        s->parts = parts;
        s->cap *= 2;
    }
    Part *p = &s->parts[s->n++];
    *p = (Part){.first = first, .last = last, .leaf = l, .alone = true};
    if (written) {
        p->written_first = first;
        p->written_last = last;
    }
    return p;
}

static void unite(Part *p, const Part *q) {
    if (q->first < p->first) p->first = q->first;
    if (q->last > p->last) p->last = q->last;
    if (q->written_last && (!p->written_last || q->written_first < p->written_first))
        p->written_first = q->written_first;
    if (q->written_last > p->written_last) p->written_last = q->written_last;
    p->alone = false;
}

/* Until no two overlap. There are as few as a kernel has arguments. */
static void unite_overlapping(Staged *s) {
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t j = i + 1; j < s->n; j++) {
            Part *p = &s->parts[i], *q = &s->parts[j];
            if (p->first >= q->last || q->first >= p->last) continue;
            unite(p, q);
            *q = s->parts[--s->n];
            j = i; /* it is larger now: look at all again */
        }
}

static Part *find_part(Staged *s, uintptr_t at) {
    for (uint32_t i = 0; i < s->n; i++)
        if (at >= s->parts[i].first && at < s->parts[i].last) return &s->parts[i];
    return NULL;
}

static int collect(Staged *s, const Bound *b, const Variant *v) {
    for (uint32_t i = 0; i < b->nleaves; i++) {
        const Leaf *l = &b->leaves[i];
        if (!l->is_array || l->on_device) continue;
        LeafExtent e = leaf_extent(l);
        if (e.first < e.last && !part_of(s, l, e.first, e.last, i < v->nleaves && v->written[i])) return -1;
    }
    unite_overlapping(s);
    return 0;
}

/* ---- copies ------------------------------------------------------------------------------------ */

static size_t packed_bytes(const Leaf *l) {
    size_t n = elem_bytes((DType)l->dtype, l->record);
    for (int i = 0; i < l->ndim; i++) n *= (size_t)l->shape[i];
    return n;
}

static Place place_of(const Leaf *l, const void *data, const int64_t *strides, Device *d) {
    Place p = {
        .device = d,
        .array = {.dtype = (DType)l->dtype, .record = l->record, .ndim = l->ndim, .data = (void *)(uintptr_t)data}};
    memcpy(p.array.shape, l->shape, l->ndim * sizeof *l->shape);
    memcpy(p.array.strides, strides, l->ndim * sizeof *strides);
    return p;
}

/* A view whose elements are few among the bytes that it spans. */
static bool choose_packed(Part *p) {
    size_t packed = packed_bytes(p->leaf);
    if (!p->alone || (p->last - p->first) / WIDE <= packed) return false;
    int64_t step = elem_bytes((DType)p->leaf->dtype, p->leaf->record);
    for (int i = p->leaf->ndim - 1; i >= 0; i--) {
        p->strides[i] = step;
        step *= p->leaf->shape[i];
    }
    p->bytes = packed;
    return true;
}

static Status copy_in(Device *d, Part *p, Stream *s, const Waiter *w, Failure *f) {
    p->packed = choose_packed(p);
    if (!p->packed) p->bytes = p->last - p->first;
    size_t offset = p->packed ? 0 : p->first % PLACE;
    Status status = d->ops->alloc(d, MEMORY_DEVICE, p->bytes + offset, 0, s, &p->block, f);
    if (status != GPU_OK) return status;
    p->at = (char *)p->block + offset;
    if (p->packed) {
        Place to = place_of(p->leaf, p->at, p->strides, d),
              from = place_of(p->leaf, p->leaf->data, p->leaf->strides, NULL);
        return place_copy(&to, &from, s, w, f);
    }
    Copy c = {.kind = COPY_TO_DEVICE, .to = p->at, .from = (void *)p->first, .width = p->bytes, .rows = 1, .waiter = w};
    return d->ops->copy(d, &c, s, f);
}

static Status copy_back(Device *d, const Part *p, Stream *s, Failure *f) {
    if (!p->written_last) return GPU_OK;
    if (p->packed) {
        Place from = place_of(p->leaf, p->at, p->strides, d), to = place_of(p->leaf, p->host, p->host_strides, NULL);
        return place_copy(&to, &from, s, NULL, f);
    }
    Copy c = {.kind = COPY_TO_HOST,
              .to = (void *)p->written_first,
              .from = p->at + (p->written_first - p->first),
              .width = p->written_last - p->written_first,
              .rows = 1};
    return d->ops->copy(d, &c, s, f);
}

/* The leaves point at the copies from now on. */
static void redirect(Staged *s, Bound *b) {
    for (uint32_t i = 0; i < b->nleaves; i++) {
        Leaf *l = &b->leaves[i];
        if (!l->is_array || l->on_device) continue;
        LeafExtent e = leaf_extent(l);
        Part *p = e.first < e.last ? find_part(s, e.first) : NULL;
        if (!p) l->data = NULL; /* no elements */
        else if (p->packed) {
            p->host = l->data;
            p->host_strides = l->strides;
            l->data = p->at;
            l->strides = p->strides;
        } else l->data = p->at + ((uintptr_t)l->data - p->first);
    }
}

/* ---- the three steps of a launch --------------------------------------------------------------- */

int stage_in(Staged *s, Bound *b, const Variant *v, Device *d, Stream *stream) {
    s->device = d;
    s->stream = stream;
    s->parts = s->few;
    s->n = 0;
    s->cap = FEW_PARTS;
    s->copying_s = 0;
    if (collect(s, b, v) < 0) return -1;
    if (!s->n) return 0;
    Failure f;
    Status status = GPU_OK;
    GilWaiter w;
    double start = now_s();
    const Waiter *waiter = waiter_begin(&w);
    for (uint32_t i = 0; status == GPU_OK && i < s->n; i++) status = copy_in(d, &s->parts[i], stream, waiter, &f);
    waiter_end(&w);
    s->copying_s = now_s() - start;
    if (status != GPU_OK) return errors_from_failure(&f, d, b->kernel);
    redirect(s, b);
    return 0;
}

static bool any_written(const Staged *s) {
    for (uint32_t i = 0; i < s->n; i++)
        if (s->parts[i].written_last) return true;
    return false;
}

/* Half of the time went into copies of more than a megabyte. */
static int warn(const Staged *s, const Bound *b, Variant *v, double kernel_s) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->n; i++) bytes += s->parts[i].bytes;
    if (v->warned || bytes < WORTH_A_WARNING || s->copying_s <= kernel_s) return 0;
    v->warned = true;
    PyObject *cls = errors_class("PerformanceWarning");
    char copying[64], kernel[32]; /* Python's own formats have no floats */
    PyOS_snprintf(copying, sizeof copying, "%.1f MiB, %.1f ms", (double)bytes / 0x1p20, s->copying_s * 1e3);
    PyOS_snprintf(kernel, sizeof kernel, "%.1f ms", kernel_s * 1e3);
    int status = PyErr_WarnFormat(
        cls, 1,
        "%U(): copying its NumPy arrays to %s and back (%s) takes longer than the kernel (%s); keep them "
        "on the device: x = gpu.array(x), and x.copy_to_host() in the end",
        b->kernel->name, s->device->name, copying, kernel);
    Py_DECREF(cls);
    return status;
}

/* Waits for the kernel, copies back what it wrote, also when it raised. */
static Status finish(Staged *s, Failure *f, GilWaiter *w, double *kernel_s) {
    Device *d = s->device;
    Stream *stream = s->stream ? s->stream : d->ops->default_stream(d, STREAM_LEGACY);
    double start = now_s();
    Failure of_kernel, of_copy;
    Status status = d->ops->stream_synchronize(stream, &w->waiter, &of_kernel), copied = GPU_OK;
    double then = now_s();
    *kernel_s = then - start;
    if (status == GPU_OK || status == GPU_ERROR_RAISED)
        for (uint32_t i = 0; copied == GPU_OK && i < s->n; i++)
            copied = copy_back(d, &s->parts[i], s->stream, &of_copy);
    if (copied == GPU_OK && status != GPU_ERROR_INTERRUPTED) { /* nothing comes later into pinned memory either */
        Failure late;
        Status last = d->ops->stream_synchronize(stream, NULL, &late);
        if (last != GPU_OK && status == GPU_OK) {
            of_copy = late;
            copied = last;
        } else if (last != GPU_OK) failure_clear(&late);
    }
    s->copying_s += now_s() - then;
    if (status != GPU_OK && copied != GPU_OK) failure_clear(&of_copy);
    *f = status != GPU_OK ? of_kernel : of_copy;
    return status != GPU_OK ? status : copied;
}

int stage_out(Staged *s, const Bound *b, Variant *v) {
    if (!s->n || !(any_written(s) || v->image->raises || v->image->prints)) return 0;
    Failure f;
    GilWaiter w;
    double kernel_s;
    waiter_begin(&w);
    Status status = finish(s, &f, &w, &kernel_s);
    waiter_end(&w);
    if (prints_after(s->device, status, &f, b->kernel) < 0) return -1;
    return warn(s, b, v, kernel_s);
}

void stage_close(Staged *s) {
    for (uint32_t i = 0; i < s->n; i++)
        if (s->parts[i].block) s->device->ops->free(s->device, MEMORY_DEVICE, s->parts[i].block);
    if (s->parts != s->few) PyMem_Free(s->parts);
}
