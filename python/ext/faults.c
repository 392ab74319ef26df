/* faults.c - which array of which launch a fault on the emulator or the CPU is about.
 *
 * They report an address, the emulator also the allocation next to it. Its launches run later than they are asked for,
 * so the places of the arrays of the last ones are kept: name, dtype, shape and strides, as text and numbers, since the
 * objects may be gone. */
#include "launch.h"

#include <stdlib.h>

enum { KEPT = 64, MOST_ARRAYS = 12, MOST_SHARED_ARRAYS = 8, NAME = 40 };

typedef struct Seen {
    char name[NAME];
    uint8_t dtype, ndim;
    const Record *record;
    uintptr_t data, first, last;
    int64_t shape[MAX_DIMS], strides[MAX_DIMS];
} Seen;

typedef struct Launched {
    const Device *device;
    char entry[128];
    uint32_t n;
    Seen arrays[MOST_ARRAYS];
    uint32_t nshared;
    ImageShared shared[MOST_SHARED_ARRAYS];
} Launched;

static Launched *ring; /* under the GIL */
static uint64_t launches;

static void remember(Launched *l, const char *name, const Leaf *leaf) {
    Seen *s = &l->arrays[l->n++];
    PyOS_snprintf(s->name, sizeof s->name, "%s", name);
    s->dtype = leaf->dtype;
    s->record = leaf->record;
    s->ndim = leaf->ndim;
    s->data = (uintptr_t)leaf->data;
    LeafExtent e = leaf_extent(leaf);
    s->first = e.first;
    s->last = e.last;
    memcpy(s->shape, leaf->shape, leaf->ndim * sizeof *s->shape);
    memcpy(s->strides, leaf->strides, leaf->ndim * sizeof *s->strides);
}

/* Arrays of globals and closures, which the kernel has on the device. */
static void remember_captured(Launched *l, const Device *d, const Variant *v) {
    for (uint32_t i = 0; v->image->captures && i < v->image->nparams && l->n < MOST_ARRAYS; i++) {
        const ImageParam *p = &v->image->params[i];
        void *at;
        HostArray a;
        if (p->kind != PARAM_CAPTURED) continue;
        PyObject *o = captures_on(v->kernel, &v->image->captures[p->leaf], d, &at);
        if (!o || !numpy_is_array(o) || numpy_array(o, &a) <= 0) continue;
        Leaf leaf = {.is_array = true, .dtype = (uint8_t)a.dtype, .ndim = a.ndim, .record = a.record, .data = at};
        leaf.shape = a.shape;
        leaf.strides = a.strides;
        remember(l, "a captured array", &leaf);
    }
}

void faults_remember(const Device *d, const Bound *b, const Variant *v) {
    if (!ring && !(ring = calloc(KEPT, sizeof *ring))) return; /* messages say less then */
    Launched *l = &ring[launches++ % KEPT];
    l->device = d;
    l->n = 0;
    PyOS_snprintf(l->entry, sizeof l->entry, "%.*s", (int)strcspn(v->image->entry, "."), v->image->entry);
    for (uint32_t i = 0; i < b->nleaves && l->n < MOST_ARRAYS; i++) {
        const Leaf *leaf = &b->leaves[i];
        if (!leaf->is_array) continue;
        const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(b->kernel->params, leaf->param));
        if (!name) PyErr_Clear();
        remember(l, name ? name : "?", leaf);
    }
    remember_captured(l, d, v);
    l->nshared = v->image->nshared < MOST_SHARED_ARRAYS ? v->image->nshared : MOST_SHARED_ARRAYS;
    memcpy(l->shared, v->image->shared, l->nshared * sizeof *l->shared);
}

/* How far an address lies outside of the array's bytes. */
static uintptr_t distance(const Seen *s, uintptr_t at) {
    return at < s->first ? s->first - at : at >= s->last ? at - s->last + 1 : 0;
}

/* The newest launch of the kernel. */
static const Launched *newest(const Device *d, const char *kernel) {
    for (uint64_t k = 0; k < KEPT && k < launches; k++) {
        const Launched *l = &ring[(launches - 1 - k) % KEPT];
        if (l->device == d && strcmp(l->entry, kernel) == 0) return l;
    }
    return NULL;
}

/* The array that the access was meant for: the nearest one. */
static const Seen *find(const Launched *l, uintptr_t at) {
    const Seen *best = NULL;
    for (uint32_t i = 0; i < l->n; i++)
        if (!best || distance(&l->arrays[i], at) < distance(best, at)) best = &l->arrays[i];
    return best;
}

/* The shared array of that symbol, "shared_0", as an array that begins at 0. */
static bool find_shared(const Launched *l, const char *symbol, Seen *out) {
    unsigned k;
    char rest;
    if (sscanf(symbol, "shared_%u%c", &k, &rest) != 1 || k >= l->nshared || !l->shared[k].ndim) return false;
    const ImageShared *s = &l->shared[k];
    *out = (Seen){.dtype = s->dtype, .ndim = s->ndim};
    PyOS_snprintf(out->name, sizeof out->name, "of line %u", s->line);
    int64_t step = s->item;
    for (int i = s->ndim; i-- > 0;) {
        out->shape[i] = s->shape[i];
        out->strides[i] = step;
        step *= s->shape[i];
    }
    out->last = (uintptr_t)step;
    return true;
}

/* The index whose element lies there: axes by falling strides, each as far as it goes without a remainder of its own
 * sign. What lies outside makes the index of the outermost axis too large or negative. */
static void index_of(const Seen *s, uintptr_t at, int64_t *index) {
    int64_t rest = (int64_t)(at - s->data);
    bool done[MAX_DIMS] = {false};
    memset(index, 0, sizeof *index * MAX_DIMS);
    for (int k = 0; k < s->ndim; k++) {
        int axis = -1;
        for (int i = 0; i < s->ndim; i++)
            if (!done[i] && (axis < 0 || llabs(s->strides[i]) > llabs(s->strides[axis]))) axis = i;
        done[axis] = true;
        int64_t step = s->strides[axis];
        if (!step) continue;
        int64_t q = rest / step;
        if (rest % step != 0 && (rest < 0) != (step < 0)) q--; /* floor */
        index[axis] = q;
        rest -= q * step;
    }
}

/* "in array 'x' (float32, shape (8,)) at index (3,)", with what the array is called. */
static PyObject *place_text(const Seen *s, const char *called, uintptr_t address, uint32_t bytes) {
    int64_t at[MAX_DIMS];
    /* several elements at once: the first one that isn't there */
    if (distance(s, address) == 0 && address + bytes > s->last) address = s->last;
    index_of(s, address, at);
    for (int i = 0; i < s->ndim; i++)
        /* As the kernel wrote it: -1 would be the last one. Further away nothing was added, see compiler/wraps.c. */
        if (at[i] < 0 && at[i] >= -s->shape[i]) at[i] -= s->shape[i];
    PyObject *shape = array_ints(s->shape, s->ndim), *index = array_ints(at, s->ndim);
    bool inside = distance(s, address) == 0;
    PyObject *text =
        shape && index ? PyUnicode_FromFormat("%s %s (%s, shape %R)%s index %R", inside ? "in" : "by", called,
                                              dtype_info[s->dtype].name, shape, inside ? " at" : ": there is no", index)
                       : NULL;
    Py_XDECREF(shape);
    Py_XDECREF(index);
    return text;
}

PyObject *faults_place(const Device *d, const Failure *f) {
    const Launched *l = ring && f->fault.kernel ? newest(d, f->fault.kernel) : NULL;
    char called[NAME + 16];
    if (!l) return NULL;
    if (f->fault.in_global) {
        const Seen *s = find(l, (uintptr_t)f->fault.address);
        if (!s) return NULL;
        PyOS_snprintf(called, sizeof called, "array '%s'", s->name);
        return place_text(s, called, (uintptr_t)f->fault.address, f->fault.bytes);
    }
    Seen s;
    if (!f->fault.variable || !find_shared(l, f->fault.variable, &s)) return NULL;
    PyOS_snprintf(called, sizeof called, "the shared array %s", s.name);
    if (distance(&s, (uintptr_t)f->fault.variable_offset)) /* the variables before it have no end that is seen */
        return PyUnicode_FromFormat("behind %s, the last one: an index of it or of one before it is too large", called);
    return place_text(&s, called, (uintptr_t)f->fault.variable_offset, f->fault.bytes);
}
