/* captures.c - the arrays that a kernel captures from globals and closures.
 *
 * An array is copied when the kernel is compiled with it for the first time; all specialisations have that copy,
 * whatever happens to the array. Small ones become constants of the code. A large one is a hidden parameter: on each
 * device it is uploaded before the first launch that needs it, once for all specialisations, and freed with the kernel.
 * An array on a device isn't copied: its address is a hidden parameter, and kernels may write it.
 */
#include "core.h"

typedef struct Capture {
    PyObject *original, *frozen; /* an ndarray and its copy in C order; bytes and arrays on a device are their own */
    Device *home;                /* of an array on a device, which stays there; else NULL */
    const void *bytes;           /* of the copy */
    void **on_device;            /* by Device.index; NULL where it isn't */
    Device **devices;
    uint32_t ndevices;
} Capture;

struct Captures {
    Capture **at;
    uint32_t n, cap;
};

/* ---- freezing --------------------------------------------------------------------------------------------------- */

/* With this machine's byte order and elements that lie as they should; NULL: it has none. */
static PyObject *native_copy(PyObject *o) {
    PyObject *dtype = PyObject_GetAttrString(o, "dtype");
    PyObject *native = dtype ? PyObject_CallMethod(dtype, "newbyteorder", "s", "=") : NULL;
    bool masked = PyObject_HasAttrString(o, "_mask");
    PyObject *copy = native && !masked ? PyObject_CallMethod(o, "astype", "Os", native, "C") : NULL;
    Py_XDECREF(dtype);
    Py_XDECREF(native);
    return copy;
}

static int make_readonly(PyObject *array) {
    PyObject *none = PyTuple_New(0), *flags = none ? Py_BuildValue("{s:O}", "write", Py_False) : NULL;
    PyObject *method = flags ? PyObject_GetAttrString(array, "setflags") : NULL;
    PyObject *set = method ? PyObject_Call(method, none, flags) : NULL;
    Py_XDECREF(method);
    Py_XDECREF(flags);
    Py_XDECREF(none);
    Py_XDECREF(set);
    return set ? 0 : -1;
}

/* A read-only copy in C order; NULL: kernels can't have such an array. */
static PyObject *frozen_copy(PyObject *o, HostArray *a) {
    PyObject *copy = PyObject_CallMethod(o, "copy", "s", "C");
    if (copy && numpy_array(copy, a) <= 0) {
        PyErr_Clear();
        Py_SETREF(copy, native_copy(o));
        if (copy && numpy_array(copy, a) <= 0) Py_CLEAR(copy);
    }
    if (copy && make_readonly(copy) < 0) Py_CLEAR(copy);
    return copy;
}

static Capture *find(const KernelObject *k, const PyObject *o) {
    for (uint32_t i = 0; k->captures && i < k->captures->n; i++)
        if (k->captures->at[i]->original == o || k->captures->at[i]->frozen == o) return k->captures->at[i];
    return NULL;
}

/* Takes over the reference to the copy; it is the kernel's from now on. */
static PyObject *keep(KernelObject *k, PyObject *o, PyObject *frozen, const void *bytes) {
    struct Captures *c = k->captures;
    Capture *made = PyMem_Calloc(1, sizeof *made);
    if (!c) c = k->captures = PyMem_Calloc(1, sizeof *c);
    uint32_t cap = c && c->n == c->cap ? 2 * c->cap + 4 : 0;
    Capture **at = cap ? PyMem_Realloc(c->at, cap * sizeof(Capture *)) : NULL;
    if (at) c->at = at, c->cap = cap;
    if (!made || !c || c->n == c->cap) {
        PyMem_Free(made);
        Py_DECREF(frozen);
        return PyErr_NoMemory();
    }
    *made = (Capture){.original = Py_NewRef(o), .frozen = frozen, .bytes = bytes};
    c->at[c->n++] = made;
    return frozen;
}

PyObject *captures_freeze(KernelObject *k, PyObject *o) {
    const Capture *known = find(k, o);
    if (known) return known->frozen;
    HostArray a;
    if (PyBytes_Check(o)) return keep(k, o, Py_NewRef(o), PyBytes_AS_STRING(o));
    PyObject *frozen = frozen_copy(o, &a);
    if (!frozen) return NULL;
    known = find(k, o); /* another thread may have been faster */
    if (!known) return keep(k, o, frozen, a.data);
    Py_DECREF(frozen);
    return known->frozen;
}

int captures_hold(KernelObject *k, PyObject *array, PyObject *memory, const void *address, Device *d) {
    if (find(k, array)) return 0;
    if (!keep(k, array, Py_NewRef(memory ? memory : array), address)) return -1;
    k->captures->at[k->captures->n - 1]->home = d;
    return 0;
}

/* ---- on devices -------------------------------------------------------------------------------------------------- */
static int room_for_device(Capture *c, uint32_t index) {
    if (index < c->ndevices) return 0;
    void **at = PyMem_Realloc(c->on_device, (index + 1) * sizeof *at);
    if (at) c->on_device = at;
    Device **devices = at ? PyMem_Realloc(c->devices, (index + 1) * sizeof *devices) : NULL;
    if (!devices) return PyErr_NoMemory(), -1;
    c->devices = devices;
    for (; c->ndevices <= index; c->ndevices++) c->on_device[c->ndevices] = NULL, c->devices[c->ndevices] = NULL;
    return 0;
}

/* Complete when it returns: any stream may launch. */
static Status upload(Device *d, const void *bytes, size_t size, void **out, Failure *f) {
    Status status = d->ops->alloc(d, MEMORY_DEVICE, size, 0, NULL, out, f);
    if (status != GPU_OK) return status;
    Copy copy = {.kind = COPY_TO_DEVICE, .to = *out, .from = bytes, .width = size, .rows = 1};
    status = d->ops->copy(d, &copy, NULL, f);
    if (status == GPU_OK) status = d->ops->stream_synchronize(d->ops->default_stream(d, STREAM_LEGACY), NULL, f);
    if (status != GPU_OK) d->ops->free(d, MEMORY_DEVICE, *out);
    return status;
}

static int address_on(Capture *c, Device *d, const KernelObject *k, size_t size, void **out) {
    if (room_for_device(c, d->index) < 0) return -1;
    if (!c->on_device[d->index]) {
        Failure f;
        void *at = NULL;
        Status status;
        Py_BEGIN_ALLOW_THREADS
        status = upload(d, c->bytes, size, &at, &f);
        Py_END_ALLOW_THREADS
        if (status != GPU_OK) return errors_from_failure(&f, d, k);
        if (c->on_device[d->index]) d->ops->free(d, MEMORY_DEVICE, at); /* another thread was faster */
        else c->on_device[d->index] = at, c->devices[d->index] = d;
    }
    *out = c->on_device[d->index];
    return 0;
}

static int elsewhere(const Capture *c, const Device *d, const KernelObject *k) {
    PyErr_Format(
        PyExc_ValueError,
        "%U() captures an array on %s, and is launched on %s: launch it in `with gpu.device(\"%s\")`, or pass the "
        "array as an argument",
        k->name, c->home->name, d->name, c->home->name);
    return -1;
}

int captures_pack(KernelObject *k, const Image *image, Device *d, void *buffer) {
    for (uint32_t i = 0; i < image->nparams; i++) {
        const ImageParam *p = &image->params[i];
        if (p->kind != PARAM_CAPTURED) continue;
        const ImageCapture *wanted = &image->captures[p->leaf];
        void *at = (void *)(uintptr_t)wanted->bytes;
        uint32_t which = 0;
        while (k->captures->at[which]->bytes != wanted->bytes) which++;
        const Capture *one = k->captures->at[which];
        if (one->home && one->home != d) return elsewhere(one, d, k);
        if (!one->home && !d->ops->shares_host_memory &&
            address_on(k->captures->at[which], d, k, wanted->size, &at) < 0)
            return -1;
        memcpy((char *)buffer + p->offset, &at, sizeof at);
    }
    return 0;
}

PyObject *captures_on(const KernelObject *k, const ImageCapture *c, const Device *d, void **at) {
    for (uint32_t i = 0; k->captures && i < k->captures->n; i++) {
        const Capture *one = k->captures->at[i];
        if (one->bytes != c->bytes || d->index >= one->ndevices || !one->on_device[d->index]) continue;
        *at = one->on_device[d->index];
        return one->frozen;
    }
    return NULL;
}

/* ---- the end ------------------------------------------------------------------------------------------------------
 */
int captures_traverse(KernelObject *k, visitproc visit, void *arg) {
    const struct Captures *c = k->captures;
    for (uint32_t i = 0; c && i < c->n; i++) {
        Py_VISIT(c->at[i]->original);
        Py_VISIT(c->at[i]->frozen);
    }
    return 0;
}

/* No launch of the kernel is under way any more: its code was unloaded. */
void captures_free(KernelObject *k) {
    struct Captures *c = k->captures;
    if (!c) return;
    k->captures = NULL;
    for (uint32_t i = 0; i < c->n; i++) {
        Capture *one = c->at[i];
        for (uint32_t d = 0; d < one->ndevices; d++)
            if (one->on_device[d]) one->devices[d]->ops->free(one->devices[d], MEMORY_DEVICE, one->on_device[d]);
        PyMem_Free(one->on_device);
        PyMem_Free(one->devices);
        Py_DECREF(one->original);
        Py_DECREF(one->frozen);
        PyMem_Free(one);
    }
    PyMem_Free(c->at);
    PyMem_Free(c);
}
