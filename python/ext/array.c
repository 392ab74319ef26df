/* array.c - arrays on a device: memory, views into it, and what Python's gpu.Array is made of.
 *
 * Everything here takes exact, checked arguments; python/gpu/_array.py turns what users write into them. */
#include "array.h"

#include <stdlib.h>
#include <structmember.h>

/* ---- memory ------------------------------------------------------------------------------------ */

static void memory_dealloc(PyObject *self) {
    MemoryObject *m = (MemoryObject *)self;
    char *at = m->kind == MEMORY_DEVICE ? m->at : m->host;
    if (!m->owner && !pending_keep(m->device, m->kind, at, m->bytes)) memory_give_back(m->device, m->kind, at);
    Py_XDECREF(m->stream);
    Py_XDECREF(m->owner);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef memory_members[] = {
    {"nbytes", T_PYSSIZET, offsetof(MemoryObject, bytes), READONLY, NULL},
    {"owner", T_OBJECT, offsetof(MemoryObject, owner), READONLY, NULL},
    {"stream", T_OBJECT, offsetof(MemoryObject, stream), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject Memory_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gpu._core.Memory",
    .tp_basicsize = sizeof(MemoryObject),
    .tp_dealloc = memory_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Memory of a device that arrays share.",
    .tp_members = memory_members,
};

static MemoryObject *memory_new(Device *d, MemoryKind kind) {
    MemoryObject *m = PyObject_New(MemoryObject, &Memory_Type);
    if (!m) return NULL;
    m->device = d;
    m->kind = kind;
    m->at = m->host = NULL;
    m->bytes = 0;
    m->stream = m->owner = NULL;
    return m;
}

/* Where kernels find pinned memory: by its own address in most drivers. Where they can't use it at all, copies still
 * can. */
static Status address_pinned(MemoryObject *m, Failure *f) {
    void *at;
    Status s = m->device->ops->device_address(m->device, m->host, &at, f);
    if (s == GPU_OK) m->at = at;
    return s;
}

static MemoryObject *memory_alloc(Device *d, MemoryKind kind, size_t bytes, uint32_t flags, PyObject *stream_object,
                                  Stream *stream) {
    MemoryObject *m = memory_new(d, kind);
    if (!m) return NULL;
    void *at = NULL;
    Failure f;
    Status s;
    for (;;) {
        Py_BEGIN_ALLOW_THREADS
        s = d->ops->alloc(d, kind, bytes, flags, stream, &at, &f);
        Py_END_ALLOW_THREADS
        if (s != GPU_ERROR_MEMORY || !pending_release(d)) break;
        failure_clear(&f);
    }
    m->at = at;
    if (s == GPU_OK && at) {
        if (kind != MEMORY_DEVICE || d->ops->shares_host_memory) m->host = at;
        if (kind == MEMORY_PINNED) s = address_pinned(m, &f);
    }
    if (s != GPU_OK) {
        errors_from_failure(&f, d, NULL);
        Py_DECREF(m);
        return NULL;
    }
    m->bytes = bytes;
    m->stream = Py_XNewRef(stream_object);
    return m;
}

/* ---- shapes ------------------------------------------------------------------------------------ */

static int read_ints(PyObject *tuple, int64_t *out, const char *what) {
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) > MAX_DIMS) {
        PyErr_Format(PyExc_ValueError, "%s must be a tuple of at most %d integers", what, MAX_DIMS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        out[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
        if (out[i] == -1 && PyErr_Occurred()) return -1;
    }
    return (int)PyTuple_GET_SIZE(tuple);
}

PyObject *array_dtype_known(PyObject *module, PyObject *dtype) {
    (void)module;
    const Record *record = NULL;
    return PyBool_FromLong(numpy_dtype_of(dtype, &record) != DT_NONE);
}

/* A name, or a structured dtype. */
static int read_dtype(PyObject *o, HostArray *out) {
    const char *name = PyUnicode_Check(o) ? PyUnicode_AsUTF8(o) : NULL;
    out->record = NULL;
    out->dtype = name ? dtype_from_name(name) : DT_NONE;
    if (out->dtype == DT_NONE && !PyUnicode_Check(o)) out->dtype = numpy_dtype_of(o, &out->record);
    if (out->dtype != DT_NONE) return 0;
    return PyErr_Occurred() ? -1 : (PyErr_Format(PyExc_TypeError, "no device array has the dtype %S", o), -1);
}

/* Strides of a packed array; the number of its bytes, or -1: too many. */
static int64_t pack_strides(HostArray *a, bool fortran) {
    int64_t step = array_item(a), bytes = step;
    for (int i = 0; i < a->ndim; i++) {
        if (a->shape[i] < 0) return PyErr_SetString(PyExc_ValueError, "negative dimensions are not allowed"), -1;
        if (a->shape[i] && __builtin_mul_overflow(bytes, a->shape[i], &bytes))
            return PyErr_SetString(PyExc_ValueError, "array is too big: its bytes can't be counted"), -1;
    }
    for (int k = 0; k < a->ndim; k++) {
        int i = fortran ? k : a->ndim - 1 - k;
        a->strides[i] = step;
        step *= a->shape[i] ? a->shape[i] : 1;
    }
    for (int i = 0; i < a->ndim; i++)
        if (!a->shape[i]) return 0;
    return bytes;
}

/* First and last byte that elements have, counted from the data pointer; false: there are none. */
static bool array_span(const HostArray *a, int64_t *low, int64_t *high) {
    *low = 0;
    *high = array_item(a);
    for (int i = 0; i < a->ndim; i++) {
        int64_t reach;
        if (a->shape[i] == 0) return false;
        if (__builtin_mul_overflow(a->shape[i] - 1, a->strides[i], &reach)) return *low = INT64_MIN, true;
        if (__builtin_add_overflow(reach < 0 ? *low : *high, reach, reach < 0 ? low : high))
            return *low = INT64_MIN, true;
    }
    return true;
}

/* ---- arrays ------------------------------------------------------------------------------------ */

PyObject *array_make(PyTypeObject *type, MemoryObject *memory, const HostArray *h) {
    ArrayObject *a = (ArrayObject *)type->tp_alloc(type, 0);
    int64_t *dims = a ? PyMem_Malloc(2u * (h->ndim + 1u) * sizeof *dims) : NULL;
    if (!dims) {
        Py_DECREF(memory);
        Py_XDECREF(a);
        return PyErr_NoMemory();
    }
    a->memory = memory;
    a->device = memory->device;
    a->data = (char *)(uintptr_t)h->data;
    a->dtype = (uint8_t)h->dtype;
    a->record = h->record;
    a->ndim = h->ndim;
    a->readonly = h->readonly;
    a->shape = dims;
    a->strides = dims + h->ndim;
    memcpy(a->shape, h->shape, h->ndim * sizeof *dims);
    memcpy(a->strides, h->strides, h->ndim * sizeof *dims);
    HostArray packed = *h;
    packed.layout = array_layout(h);
    array_look_aligned(&packed);
    a->askew = packed.askew;
    a->layout = (uint8_t)packed.layout;
    key_put_array(a->key, &packed, h->record ? array_record_align(h) : 0);
    return (PyObject *)a;
}

void array_describe(const ArrayObject *a, HostArray *out) {
    out->dtype = (DType)a->dtype;
    out->record = a->record;
    out->ndim = a->ndim;
    out->layout = (Layout)a->layout;
    out->readonly = a->readonly;
    out->askew = a->askew;
    out->data = a->data;
    memcpy(out->shape, a->shape, a->ndim * sizeof *a->shape);
    memcpy(out->strides, a->strides, a->ndim * sizeof *a->strides);
}

static void array_dealloc(PyObject *self) {
    ArrayObject *a = (ArrayObject *)self;
    PyTypeObject *type = Py_TYPE(self);
    if (a->weakrefs) PyObject_ClearWeakRefs(self);
    Py_XDECREF(a->memory);
    PyMem_Free(a->shape);
    type->tp_free(self);
}

/* alloc(device, shape, dtype, order, kind, flags, stream): uninitialised, packed. */
static PyObject *array_alloc(PyObject *cls, PyObject *args) {
    const char *device;
    PyObject *shape, *dtype, *stream_object;
    int order, kind;
    unsigned flags;
    if (!PyArg_ParseTuple(args, "sOOCiIO:_alloc", &device, &shape, &dtype, &order, &kind, &flags, &stream_object))
        return NULL;
    HostArray h = {0};
    int ndim = read_ints(shape, h.shape, "a shape");
    if (ndim < 0 || read_dtype(dtype, &h) < 0) return NULL;
    h.ndim = (uint8_t)ndim;
    int64_t bytes = pack_strides(&h, order == 'F');
    Device *on = bytes < 0 ? NULL : device_named(device);
    Stream *stream;
    PyObject *object;
    if (!on || stream_named(stream_object, on, &stream, &object) < 0) return NULL;
    MemoryObject *m = memory_alloc(on, (MemoryKind)kind, (size_t)bytes, flags, object, stream);
    if (!m) return NULL;
    h.data = m->at;
    return array_make((PyTypeObject *)cls, m, &h);
}

/* wrap(device, address, host address or 0, shape, strides or None, dtype, readonly, kind, owner, stream): foreign
 * memory. */
static PyObject *array_wrap(PyObject *cls, PyObject *args) {
    const char *device;
    unsigned long long at, host;
    PyObject *shape, *strides, *dtype, *owner, *stream_object;
    int readonly, kind;
    if (!PyArg_ParseTuple(args, "sKKOOOpiOO:_wrap", &device, &at, &host, &shape, &strides, &dtype, &readonly, &kind,
                          &owner, &stream_object))
        return NULL;
    HostArray h = {.readonly = readonly, .data = (const void *)(uintptr_t)at};
    int ndim = read_ints(shape, h.shape, "a shape");
    if (ndim < 0 || read_dtype(dtype, &h) < 0) return NULL;
    h.ndim = (uint8_t)ndim;
    if (pack_strides(&h, false) < 0) return NULL;
    if (strides != Py_None && read_ints(strides, h.strides, "strides") != ndim) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "as many strides as dimensions are needed");
        return NULL;
    }
    int64_t low, high;
    bool any = array_span(&h, &low, &high);
    if (any && (low == INT64_MIN || !at)) {
        PyErr_SetString(PyExc_ValueError, at ? "these strides reach out of the address space" : "the address is 0");
        return NULL;
    }
    Device *on = device_named(device);
    Stream *stream;
    PyObject *object;
    if (!on || stream_named(stream_object, on, &stream, &object) < 0) return NULL;
    MemoryObject *m = memory_new(on, (MemoryKind)kind);
    if (!m) return NULL;
    m->at = any ? (char *)(uintptr_t)at + low : NULL;
    m->host = any && host ? (char *)(uintptr_t)host + low : NULL;
    m->bytes = any ? (size_t)(high - low) : 0;
    m->owner = Py_NewRef(owner);
    m->stream = Py_XNewRef(object);
    return array_make((PyTypeObject *)cls, m, &h);
}

/* of(array): the same array as an object of this class. */
static PyObject *array_of(PyObject *cls, PyObject *o) {
    if (!array_check(o)) return PyErr_Format(PyExc_TypeError, "a gpu.Array is needed, not %.80s", Py_TYPE(o)->tp_name);
    ArrayObject *a = (ArrayObject *)o;
    HostArray h;
    array_describe(a, &h);
    return array_make((PyTypeObject *)cls, (MemoryObject *)Py_NewRef(a->memory), &h);
}

/* Every element of `h` lies in the memory. */
static bool view_fits(const MemoryObject *m, const HostArray *h) {
    int64_t low, high;
    if (!array_span(h, &low, &high)) return true;
    int64_t at = (const char *)h->data - m->at;
    return low != INT64_MIN && at + low >= 0 && at + high <= (int64_t)m->bytes;
}

/* view(offset, shape, strides, dtype, readonly): another look at the same memory; offset in bytes from this one's
 * start. */
static PyObject *array_view(PyObject *self, PyObject *args) {
    ArrayObject *a = (ArrayObject *)self;
    long long offset;
    PyObject *shape, *strides, *dtype;
    int readonly;
    if (!PyArg_ParseTuple(args, "LOOOp:_view", &offset, &shape, &strides, &dtype, &readonly)) return NULL;
    HostArray h = {.readonly = readonly || a->readonly, .data = offset ? a->data + offset : a->data};
    int ndim = read_ints(shape, h.shape, "a shape");
    if (ndim < 0 || read_dtype(dtype, &h) < 0) return NULL;
    if (read_ints(strides, h.strides, "strides") != ndim) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "as many strides as dimensions are needed");
        return NULL;
    }
    h.ndim = (uint8_t)ndim;
    if (!view_fits(a->memory, &h))
        return PyErr_SetString(PyExc_ValueError, "the view reaches out of the array's memory"), NULL;
    return array_make(Py_TYPE(self), (MemoryObject *)Py_NewRef(a->memory), &h);
}

/* ---- contents ---------------------------------------------------------------------------------- */

/* An array of ours, or one on the host. */
static int read_place(PyObject *o, Place *out, PyObject **keep) {
    *keep = NULL;
    out->stream = NULL;
    if (array_check(o)) {
        ArrayObject *a = (ArrayObject *)o;
        StreamObject *s = stream_current(a->device);
        out->device = a->device;
        out->stream = s ? s->stream : NULL;
        array_describe(a, &out->array);
        return 0;
    }
    out->device = NULL;
    int status = numpy_array(o, &out->array);
    if (status == 0) status = foreign_array(o, &out->array, keep);
    if (status == 0) PyErr_Format(PyExc_TypeError, "this is no array: %.80s", Py_TYPE(o)->tp_name);
    return status > 0 ? 0 : -1;
}

static int same_shape(const HostArray *to, const HostArray *from) {
    bool same = to->ndim == from->ndim && to->dtype == from->dtype && to->record == from->record;
    for (int i = 0; same && i < to->ndim; i++) same = to->shape[i] == from->shape[i];
    if (!same) PyErr_SetString(PyExc_ValueError, "a copy needs arrays of one shape and one dtype");
    return same ? 0 : -1;
}

/* Memory of `o`, if that is an array of ours on the stream's device, is used on the stream. */
static Status object_used_on(PyObject *o, const Device *d, Stream *s, Failure *f) {
    const ArrayObject *a = array_check(o) ? (ArrayObject *)o : NULL;
    return a && a->device == d ? memory_used_on(a->memory, s, f) : GPU_OK;
}

/* The device in one of whose streams a copy goes: the destination's, unless only the source is beyond the host's reach.
 */
static Device *copy_worker(const Place *to, const Place *from) {
    bool host = !to->device || to->device->ops->shares_host_memory;
    return host && from->device ? from->device : to->device;
}

/* What kernels before a copy to the host raised. One into pinned memory may not be there yet: then they aren't either.
 */
static Status raised_before(Device *d, Stream *s, Failure *f) {
    Status status = d->ops->stream_query(s ? s : d->ops->default_stream(d, STREAM_LEGACY), f);
    return status == GPU_NOT_READY ? GPU_OK : status;
}

static PyObject *copy_places(PyObject *to_object, PyObject *from_object, PyObject *stream_object) {
    Place to, from;
    Device *d = NULL;
    PyObject *keep[2] = {NULL, NULL}, *object;
    Stream *stream;
    Failure f;
    Status s = GPU_ERROR_VALUE;
    bool ready = read_place(to_object, &to, &keep[0]) == 0 && read_place(from_object, &from, &keep[1]) == 0 &&
                 same_shape(&to.array, &from.array) == 0 && (d = copy_worker(&to, &from)) != NULL &&
                 stream_named(stream_object, d, &stream, &object) == 0;
    if (ready && to.array.readonly) {
        PyErr_SetString(PyExc_ValueError, "assignment destination is read-only");
        ready = false;
    }
    if (ready) {
        GilWaiter w;
        const Waiter *waiter = waiter_begin(&w);
        s = object_used_on(to_object, d, stream, &f);
        if (s == GPU_OK) s = object_used_on(from_object, d, stream, &f);
        if (s == GPU_OK) s = place_copy(&to, &from, stream, waiter, &f);
        if (s == GPU_OK && from.device == d && to.device != d) s = raised_before(d, stream, &f);
        waiter_end(&w);
        ready = prints_after(d, s, &f, NULL) == 0;
    }
    Py_XDECREF(keep[0]);
    Py_XDECREF(keep[1]);
    return ready ? Py_NewRef(Py_None) : NULL;
}

/* copy_from(array, stream): self[...] = array of this shape and dtype. */
static PyObject *array_copy_from(PyObject *self, PyObject *args) {
    PyObject *other, *stream;
    if (!PyArg_ParseTuple(args, "OO:_copy_from", &other, &stream)) return NULL;
    return copy_places(self, other, stream);
}

/* copy_to(array, stream): array[...] = self. */
static PyObject *array_copy_to(PyObject *self, PyObject *args) {
    PyObject *other, *stream;
    if (!PyArg_ParseTuple(args, "OO:_copy_to", &other, &stream)) return NULL;
    return copy_places(other, self, stream);
}

/* fill(bytes of one element, stream): only of packed arrays. */
static PyObject *array_fill(PyObject *self, PyObject *args) {
    ArrayObject *a = (ArrayObject *)self;
    const char *element;
    Py_ssize_t size;
    PyObject *stream_object, *object;
    Stream *stream;
    if (!PyArg_ParseTuple(args, "y#O:_fill", &element, &size, &stream_object)) return NULL;
    if (a->readonly) return PyErr_SetString(PyExc_ValueError, "assignment destination is read-only"), NULL;
    if (size != (Py_ssize_t)elem_bytes((DType)a->dtype, a->record) || a->layout == LAYOUT_A)
        return PyErr_SetString(PyExc_ValueError, "fill needs one element, and a packed array"), NULL;
    if (stream_named(stream_object, a->device, &stream, &object) < 0) return NULL;
    Place to = {.device = a->device};
    array_describe(a, &to.array);
    Failure f;
    Status s;
    Py_BEGIN_ALLOW_THREADS
    s = memory_used_on(a->memory, stream, &f);
    if (s == GPU_OK) s = place_fill(&to, element, stream, &f);
    Py_END_ALLOW_THREADS
    if (s == GPU_OK) Py_RETURN_NONE;
    errors_from_failure(&f, a->device, NULL);
    return NULL;
}

/* ---- a device's memory ------------------------------------------------------------------------- */

PyObject *array_memory_info(PyObject *module, PyObject *name) {
    (void)module;
    const char *text = PyUnicode_AsUTF8(name);
    Device *d = text ? device_named(text) : NULL;
    if (!d) return NULL;
    uint64_t free_bytes, total;
    Failure f;
    if (d->ops->memory_info(d, &free_bytes, &total, &f) != GPU_OK) return errors_from_failure(&f, d, NULL), NULL;
    return Py_BuildValue("(KK)", (unsigned long long)free_bytes, (unsigned long long)total);
}

/* The fields of MemoryStats by name. */
static const struct {
    const char *name;
    size_t offset;
} stat_fields[] = {
#define STAT(field)                                                                                                    \
    { #field, offsetof(MemoryStats, field) }
    STAT(used),
    STAT(peak_used),
    STAT(held),
    STAT(peak_held),
    STAT(cached),
    STAT(largest_free),
    STAT(blocks),
    STAT(segments),
    STAT(allocations),
    STAT(frees),
    STAT(driver_allocations),
    STAT(retries),
    STAT(pinned),
    STAT(managed),
#undef STAT
};

PyObject *array_memory_stats(PyObject *module, PyObject *args) {
    (void)module;
    const char *name;
    int reset;
    if (!PyArg_ParseTuple(args, "sp:memory_stats", &name, &reset)) return NULL;
    Device *d = device_named(name);
    PyObject *dict = d ? PyDict_New() : NULL;
    if (!dict) return NULL;
    MemoryStats stats;
    d->ops->memory_stats(d, &stats);
    if (reset) d->ops->reset_peaks(d);
    for (size_t i = 0; i < sizeof stat_fields / sizeof *stat_fields; i++) {
        uint64_t v;
        memcpy(&v, (const char *)&stats + stat_fields[i].offset, sizeof v);
        PyObject *o = PyLong_FromUnsignedLongLong(v);
        if (!o || PyDict_SetItemString(dict, stat_fields[i].name, o) < 0) {
            Py_XDECREF(o);
            Py_DECREF(dict);
            return NULL;
        }
        Py_DECREF(o);
    }
    return dict;
}

PyObject *array_empty_cache(PyObject *module, PyObject *name) {
    (void)module;
    const char *text = PyUnicode_AsUTF8(name);
    Device *d = text ? device_named(text) : NULL;
    if (!d) return NULL;
    Failure f;
    Status s;
    pending_release(d);
    Py_BEGIN_ALLOW_THREADS
    s = d->ops->empty_cache(d, &f);
    Py_END_ALLOW_THREADS
    if (s == GPU_OK) Py_RETURN_NONE;
    errors_from_failure(&f, d, NULL);
    return NULL;
}

/* ---- attributes -------------------------------------------------------------------------------- */

PyObject *array_ints(const int64_t *at, int n) {
    PyObject *tuple = PyTuple_New(n);
    for (int i = 0; tuple && i < n; i++) {
        PyObject *o = PyLong_FromLongLong(at[i]);
        if (!o) Py_CLEAR(tuple);
        else PyTuple_SET_ITEM(tuple, i, o);
    }
    return tuple;
}

#define ARRAY_GETTER(name, expression)                                                                                 \
    static PyObject *get_##name(PyObject *self, void *unused) {                                                        \
        const ArrayObject *a = (const ArrayObject *)self;                                                              \
        (void)unused;                                                                                                  \
        return expression;                                                                                             \
    }
ARRAY_GETTER(shape, array_ints(a->shape, a->ndim))
ARRAY_GETTER(strides, array_ints(a->strides, a->ndim))
ARRAY_GETTER(ndim, PyLong_FromLong(a->ndim))
ARRAY_GETTER(itemsize, PyLong_FromLong((long)elem_bytes((DType)a->dtype, a->record)))
ARRAY_GETTER(dtype_name,
             a->record ? Py_NewRef(record_dtype(a->record)) : PyUnicode_FromString(dtype_info[a->dtype].name))
ARRAY_GETTER(device, PyUnicode_FromString(a->device->name))
ARRAY_GETTER(shares_host, PyBool_FromLong(a->device->ops->shares_host_memory))
ARRAY_GETTER(address, PyLong_FromVoidPtr(a->data))
ARRAY_GETTER(host_address, array_host(a) ? PyLong_FromVoidPtr(array_host(a)) : Py_NewRef(Py_None))
ARRAY_GETTER(readonly, PyBool_FromLong(a->readonly))
ARRAY_GETTER(layout, PyUnicode_FromString(a->layout == LAYOUT_C ? "C" : a->layout == LAYOUT_F ? "F" : "A"))
ARRAY_GETTER(kind, PyLong_FromLong((long)a->memory->kind))
ARRAY_GETTER(memory, Py_NewRef((PyObject *)a->memory))

static PyGetSetDef array_getset[] = {
    {"shape", get_shape, NULL, "Sizes of the dimensions.", NULL},
    {"strides", get_strides, NULL, "Bytes from an element to the next in each dimension.", NULL},
    {"ndim", get_ndim, NULL, "Number of dimensions.", NULL},
    {"itemsize", get_itemsize, NULL, "Bytes of an element.", NULL},
    {"device", get_device, NULL, "Name of the device: \"cpu\", \"cuda:0\".", NULL},
    {"_dtype_name", get_dtype_name, NULL, NULL, NULL},
    {"_shares_host", get_shares_host, NULL, NULL, NULL},
    {"_address", get_address, NULL, NULL, NULL},
    {"_host_address", get_host_address, NULL, NULL, NULL},
    {"_readonly", get_readonly, NULL, NULL, NULL},
    {"_layout", get_layout, NULL, NULL, NULL},
    {"_kind", get_kind, NULL, NULL, NULL},
    {"_memory", get_memory, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef array_methods[] = {
    {"_alloc", array_alloc, METH_VARARGS | METH_CLASS, "_alloc(device, shape, dtype, order, kind, flags, stream)"},
    {"_wrap", array_wrap, METH_VARARGS | METH_CLASS,
     "_wrap(device, address, host, shape, strides, dtype, readonly, kind, owner, stream)"},
    {"_of", array_of, METH_O | METH_CLASS, "_of(array): the same as an object of this class"},
    {"_index", array_index, METH_O, "_index(key): the view self[key]; None: the key is of another kind, or wrong"},
    {"_view", array_view, METH_VARARGS, "_view(offset, shape, strides, dtype, readonly)"},
    {"_copy_from", array_copy_from, METH_VARARGS, "_copy_from(array, stream)"},
    {"_copy_to", array_copy_to, METH_VARARGS, "_copy_to(array, stream)"},
    {"_fill", array_fill, METH_VARARGS, "_fill(element, stream)"},
    {NULL, NULL, 0, NULL},
};

PyTypeObject Array_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gpu._core.ArrayBase",
    .tp_basicsize = sizeof(ArrayObject),
    .tp_dealloc = array_dealloc,
    .tp_weaklistoffset = offsetof(ArrayObject, weakrefs),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "What gpu.Array is made of.",
    .tp_methods = array_methods,
    .tp_getset = array_getset,
};
