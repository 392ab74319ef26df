/* faults.c - which array of which launch a fault on the emulator or the CPU is about.
 *
 * They report an address, the emulator also the allocation next to it. Its launches run later than they are asked for,
 * so the places of the arrays of the last ones are kept: name, dtype, shape and strides, as text and numbers, since the
 * objects may be gone. */
#include "launch.h"

#include <stdlib.h>

enum { KEPT = 64, MOST_ARRAYS = 12, MOST_OWN = 8, NAME = 40 };

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
    uint32_t nshared, ndata, nlocals;
    ImageShared shared[MOST_OWN], data[MOST_OWN], locals[MOST_OWN];
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
        remember(l, "", &leaf);
    }
}

static uint32_t keep(const ImageShared *from, uint32_t n, ImageShared *to) {
    if (n > MOST_OWN) n = MOST_OWN;
    if (n) memcpy(to, from, n * sizeof *to);
    return n;
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
    l->nshared = keep(v->image->shared, v->image->nshared, l->shared);
    l->ndata = keep(v->image->data, v->image->ndata, l->data);
    l->nlocals = keep(v->image->locals, v->image->nlocals, l->locals);
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

/* An array of the kernel's own as one that begins at its offset; false: it isn't one of the program's. */
static bool see(const ImageShared *s, Seen *out) {
    *out = (Seen){.dtype = s->dtype, .ndim = s->ndim, .data = s->offset, .first = s->offset};
    PyOS_snprintf(out->name, sizeof out->name, "of line %u", s->line);
    int64_t step = s->item;
    for (int i = s->ndim; i-- > 0;) {
        out->shape[i] = s->shape[i];
        out->strides[i] = step;
        step *= s->shape[i];
    }
    out->last = out->first + (uintptr_t)step;
    return s->ndim > 0;
}

/* The one of that symbol, "shared_0" or "data_0". */
static bool find_symbol(const ImageShared *list, uint32_t n, const char *kind, const char *symbol, Seen *out) {
    size_t length = strlen(kind);
    if (!symbol || strncmp(symbol, kind, length) != 0) return false;
    char *end;
    unsigned long k = strtoul(symbol + length, &end, 10);
    return end > symbol + length && !*end && k < n && see(&list[k], out);
}

/* The local array that holds the address, or is the last one before it. */
static bool find_local(const Launched *l, uint64_t at, Seen *out) {
    uint32_t k = l->nlocals;
    while (k > 1 && l->locals[k - 1].offset > at) k--;
    return k && see(&l->locals[k - 1], out);
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

/* In memory that all blocks see: an argument, or a captured array. */
static PyObject *global_place(const Launched *l, const Failure *f) {
    char called[NAME + 16] = "the captured array";
    uintptr_t at = (uintptr_t)f->fault.address;
    Seen constant;
    const Seen *s = &constant;
    if (f->fault.variable) { /* nothing of the launch's is as near */
        if (!find_symbol(l->data, l->ndata, "data_", f->fault.variable, &constant)) return NULL;
        at = (uintptr_t)f->fault.variable_offset;
    } else {
        s = find(l, at);
        if (s && *s->name) PyOS_snprintf(called, sizeof called, "array '%s'", s->name);
    }
    return s ? place_text(s, called, at, f->fault.bytes) : NULL;
}

PyObject *faults_place(const Device *d, const Failure *f) {
    const Launched *l = ring && f->fault.kernel ? newest(d, f->fault.kernel) : NULL;
    char called[NAME + 16];
    Seen s;
    if (!l) return NULL;
    if (f->fault.in_global) return global_place(l, f);
    bool local = f->fault.in_local;
    uintptr_t at = (uintptr_t)(local ? f->fault.address : f->fault.variable_offset);
    bool found = local ? find_local(l, at, &s) : find_symbol(l->shared, l->nshared, "shared_", f->fault.variable, &s);
    if (!found) return NULL;
    PyOS_snprintf(called, sizeof called, "the %s array %s", local ? "local" : "shared", s.name);
    if (distance(&s, at) && (local ? l->nlocals : l->nshared) > 1) /* those before it have no end that is seen */
        return PyUnicode_FromFormat("behind %s, the last one: an index of it or of one before it is too large", called);
    return place_text(&s, called, at, f->fault.bytes);
}
