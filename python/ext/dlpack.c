/* dlpack.c - arrays exchanged with other libraries as DLPack capsules, both the versioned and the older form.
 *
 * The structs and constants are those of DLPack 1.0 (dlpack.h of the DLPack project), written down here since they are
 * all that is needed of it. A capsule that nobody takes is freed by its own destructor; one that was taken is renamed
 * by the consumer, who calls the deleter. */
#include "array.h"

#include <stdlib.h>

/* ---- DLPack's binary interface ----------------------------------------------------------------- */

typedef enum DlDeviceType { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_CUDA_MANAGED = 13 } DlDeviceType;
enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_COMPLEX = 5, DL_BOOL = 6 };
enum { DL_READ_ONLY = 1, DL_COPIED = 2, DL_MAJOR = 1, DL_MINOR = 0 };

typedef struct DlTensor {
    void *data;
    struct {
        int32_t type, id;
    } device;
    int32_t ndim;
    struct {
        uint8_t code, bits;
        uint16_t lanes;
    } dtype;
    int64_t *shape, *strides; /* strides in elements; NULL: packed */
    uint64_t byte_offset;
} DlTensor;

typedef struct DlManaged {
    DlTensor tensor;
    void *context;
    void (*deleter)(struct DlManaged *self);
} DlManaged;

typedef struct DlVersioned {
    struct {
        uint32_t major, minor;
    } version;
    void *context;
    void (*deleter)(struct DlVersioned *self);
    uint64_t flags;
    DlTensor tensor;
} DlVersioned;

static const char *const names[2][2] = {{"dltensor", "used_dltensor"},
                                        {"dltensor_versioned", "used_dltensor_versioned"}};

/* DLPack's code of each kind of dtype. */
static uint8_t code_of(DType d) {
    switch (dtype_info[d].kind) {
    case DK_BOOL: return DL_BOOL;
    case DK_INT: return DL_INT;
    case DK_UINT: return DL_UINT;
    case DK_COMPLEX: return DL_COMPLEX;
    case DK_FLOAT:
    case DK_RECORD: break;
    }
    return d == DT_BF16 ? DL_BFLOAT : DL_FLOAT;
}

static unsigned bits_of(DType d) { return 8 * dtype_bytes(d); }

static DType dtype_of(const DlTensor *t) {
    for (int d = 0; d < DT__COUNT; d++)
        if (t->dtype.lanes == 1 && t->dtype.code == code_of((DType)d) && t->dtype.bits == bits_of((DType)d))
            return (DType)d;
    return DT_NONE;
}

/* ---- giving ------------------------------------------------------------------------------------ */

/* One block: the struct, then shape and strides. */
typedef struct Given {
    union {
        DlManaged old;
        DlVersioned versioned;
    } dl;
    int64_t dims[];
} Given;

/* Any thread may call these, with or without the GIL. */
static void release(Given *g, void *array) {
    if (Py_IsInitialized()) {
        PyGILState_STATE gil = PyGILState_Ensure();
        Py_DECREF((PyObject *)array);
        PyGILState_Release(gil);
    }
    free(g);
}
static void delete_old(DlManaged *m) { release((Given *)(void *)m, m->context); }
static void delete_versioned(DlVersioned *m) { release((Given *)(void *)m, m->context); }

static void drop_capsule(PyObject *capsule) {
    if (PyCapsule_IsValid(capsule, names[0][0])) {
        DlManaged *m = PyCapsule_GetPointer(capsule, names[0][0]);
        m->deleter(m);
    } else if (PyCapsule_IsValid(capsule, names[1][0])) {
        DlVersioned *m = PyCapsule_GetPointer(capsule, names[1][0]);
        m->deleter(m);
    }
}

static void describe(DlTensor *t, const ArrayObject *a, int type, int id, int64_t *dims) {
    int64_t item = dtype_bytes((DType)a->dtype);
    *t = (DlTensor){.data = a->data, .ndim = a->ndim, .shape = dims, .strides = dims + a->ndim};
    t->device.type = type;
    t->device.id = id;
    t->dtype.code = code_of((DType)a->dtype);
    t->dtype.bits = (uint8_t)bits_of((DType)a->dtype);
    t->dtype.lanes = 1;
    for (int i = 0; i < a->ndim; i++) {
        dims[i] = a->shape[i];
        dims[a->ndim + i] = a->strides[i] / item;
    }
}

PyObject *dlpack_export(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *object;
    int type, id, versioned, copied;
    if (!PyArg_ParseTuple(args, "O!iipp:dlpack_export", &Array_Type, &object, &type, &id, &versioned, &copied))
        return NULL;
    ArrayObject *a = (ArrayObject *)object;
    if (a->record) return PyErr_SetString(PyExc_BufferError, "DLPack has no records: give a field, x['name']"), NULL;
    int64_t item = dtype_bytes((DType)a->dtype);
    for (int i = 0; i < a->ndim; i++)
        if (a->strides[i] % item)
            return PyErr_SetString(PyExc_BufferError, "DLPack counts strides in elements, and these aren't whole ones"),
                   NULL;
    Given *g = malloc(sizeof *g + 2u * (a->ndim + 1u) * sizeof *g->dims);
    if (!g) return PyErr_NoMemory();
    if (versioned) {
        DlVersioned *m = &g->dl.versioned;
        m->version.major = DL_MAJOR;
        m->version.minor = DL_MINOR;
        m->flags = (a->readonly ? DL_READ_ONLY : 0u) | (copied ? DL_COPIED : 0u);
        m->context = object;
        m->deleter = delete_versioned;
        describe(&m->tensor, a, type, id, g->dims);
    } else {
        DlManaged *m = &g->dl.old;
        m->context = object;
        m->deleter = delete_old;
        describe(&m->tensor, a, type, id, g->dims);
    }
    PyObject *capsule = PyCapsule_New(&g->dl, names[versioned][0], drop_capsule);
    if (!capsule) {
        free(g);
        return NULL;
    }
    Py_INCREF(object);
    return capsule;
}

/* ---- taking ------------------------------------------------------------------------------------ */

/* What keeps taken memory alive: a capsule of our own, which calls the giver's deleter. */
static void drop_taken(PyObject *capsule) {
    const char *name = PyCapsule_GetName(capsule);
    void *p = PyCapsule_GetPointer(capsule, name);
    if (name == names[0][1]) {
        DlManaged *m = p;
        if (m->deleter) m->deleter(m);
    } else {
        DlVersioned *m = p;
        if (m->deleter) m->deleter(m);
    }
}

static PyObject *strides_in_bytes(const DlTensor *t, int64_t item) {
    int64_t bytes[MAX_DIMS];
    if (!t->strides) return Py_NewRef(Py_None);
    for (int i = 0; i < t->ndim; i++) bytes[i] = t->strides[i] * item;
    return array_ints(bytes, t->ndim);
}

/* (device type, device id, address, shape, strides in bytes or None, dtype, readonly, owner) of a capsule, which is
 * taken. */
PyObject *dlpack_import(PyObject *module, PyObject *capsule) {
    (void)module;
    int versioned = PyCapsule_IsValid(capsule, names[1][0]);
    if (!versioned && !PyCapsule_IsValid(capsule, names[0][0]))
        return PyErr_SetString(PyExc_TypeError, "this is no DLPack capsule, or one that was taken before"), NULL;
    void *managed = PyCapsule_GetPointer(capsule, names[versioned][0]);
    const DlTensor *t = versioned ? &((DlVersioned *)managed)->tensor : &((DlManaged *)managed)->tensor;
    if (versioned && ((DlVersioned *)managed)->version.major > DL_MAJOR)
        return PyErr_Format(PyExc_BufferError, "DLPack version %u isn't known here",
                            ((DlVersioned *)managed)->version.major);
    DType d = dtype_of(t);
    if (d == DT_NONE || t->ndim < 0 || t->ndim > MAX_DIMS)
        return PyErr_Format(PyExc_TypeError, "a kernel can't use DLPack's type code %d of %d bits, or %d dimensions",
                            t->dtype.code, t->dtype.bits, t->ndim);
    PyObject *owner = PyCapsule_New(managed, names[versioned][1], drop_taken);
    if (!owner) return NULL;
    if (PyCapsule_SetName(capsule, names[versioned][1]) < 0) {
        PyCapsule_SetDestructor(owner, NULL);
        Py_DECREF(owner);
        return NULL;
    }
    PyCapsule_SetDestructor(capsule, NULL);
    bool readonly = versioned && ((DlVersioned *)managed)->flags & DL_READ_ONLY;
    return Py_BuildValue("(iiKNNsON)", t->device.type, t->device.id,
                         (unsigned long long)(uintptr_t)t->data + t->byte_offset, array_ints(t->shape, t->ndim),
                         strides_in_bytes(t, dtype_bytes(d)), dtype_info[d].name, readonly ? Py_True : Py_False, owner);
}

/* ---- borrowing for a launch -------------------------------------------------------------------- */

/* DLPack 1.3's table of functions on a type, which answer without making Python objects. */
typedef struct DlExchange {
    struct {
        uint32_t major, minor;
    } version;
    const struct DlExchange *other; /* of another version */
    int (*allocate)(void);
    int (*managed_from_object)(void);
    int (*managed_to_object)(void);
    int (*tensor_from_object)(void *object, DlTensor *out); /* may be NULL */
    int (*current_stream)(int32_t type, int32_t id, void **out);
} DlExchange;

/* Of the types that were asked for last, which are kept alive. */
static const DlExchange *exchange_of(PyTypeObject *type) {
    static struct {
        PyTypeObject *type;
        const DlExchange *exchange;
    } known[8];
    size_t at = ((uintptr_t)type >> 5) % (sizeof known / sizeof *known);
    if (known[at].type == type) return known[at].exchange;
    PyObject *capsule = PyObject_GetAttrString((PyObject *)type, "__dlpack_c_exchange_api__");
    const DlExchange *x = capsule ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
    Py_XDECREF(capsule);
    PyErr_Clear();
    while (x && x->version.major != DL_MAJOR) x = x->other;
    if (x && !x->tensor_from_object) x = NULL;
    PyTypeObject *before = known[at].type;
    known[at].type = (PyTypeObject *)Py_NewRef((PyObject *)type);
    known[at].exchange = x;
    Py_XDECREF(before);
    return x;
}

/* Whose memory a tensor is in: 1 the device's, 0 the host's, -1 with TypeError another's. */
static int whose(const DlTensor *t, const Device *d) {
    bool cuda = strcmp(d->ops->kind, "cuda") == 0, host = t->device.type == DL_CPU || t->device.type == DL_CUDA_HOST;
    if (host) return 0;
    if (cuda && (t->device.type == DL_CUDA || t->device.type == DL_CUDA_MANAGED) && t->device.id == d->ordinal)
        return 1;
    PyErr_Format(PyExc_TypeError, "its memory is on DLPack's device (%d, %d), and the kernel is launched on %s",
                 (int)t->device.type, (int)t->device.id, d->name);
    return -1;
}

static int describe_tensor(const DlTensor *t, HostArray *out) {
    DType d = dtype_of(t);
    if (d == DT_NONE || t->ndim < 0 || t->ndim > MAX_DIMS) {
        PyErr_Format(PyExc_TypeError, "a kernel can't use DLPack's type code %d of %d bits, or %d dimensions",
                     t->dtype.code, t->dtype.bits, t->ndim);
        return -1;
    }
    int64_t item = dtype_bytes(d), packed = item;
    out->dtype = d;
    out->record = NULL;
    out->ndim = (uint8_t)t->ndim;
    out->readonly = false;
    out->data = (char *)t->data + t->byte_offset;
    for (int i = t->ndim - 1; i >= 0; i--) {
        out->shape[i] = t->shape[i];
        out->strides[i] = t->strides ? t->strides[i] * item : packed;
        packed *= t->shape[i];
    }
    out->layout = array_layout(out);
    array_look_aligned(out);
    return 0;
}

int dlpack_exchange(PyObject *o, const Device *d, HostArray *out, bool *on_device, void **stream) {
    const DlExchange *x = exchange_of(Py_TYPE(o));
    if (!x) return 0;
    DlTensor t;
    memset(&t, 0, sizeof t);
    if (x->tensor_from_object(o, &t) != 0) return PyErr_Occurred() ? -1 : (PyErr_NoMemory(), -1);
    int where = whose(&t, d);
    *on_device = where > 0;
    if (where < 0 || describe_tensor(&t, out) < 0) return -1;
    if (*on_device && x->current_stream && x->current_stream(t.device.type, t.device.id, stream) != 0) return -1;
    return 1;
}

/* By its methods; the capsule isn't taken, and gives the memory back when it goes. */
static int borrow_capsule(PyObject *o, const Device *d, HostArray *out, PyObject **keep, bool *on_device) {
    int type, id;
    PyObject *where = PyObject_CallMethod(o, "__dlpack_device__", NULL);
    if (!where || !PyArg_ParseTuple(where, "ii", &type, &id)) {
        Py_XDECREF(where);
        return -1;
    }
    Py_DECREF(where);
    PyObject *method = PyObject_GetAttrString(o, "__dlpack__"), *none = PyTuple_New(0);
    PyObject *kwargs = type == DL_CUDA ? Py_BuildValue("{si}", "stream", 1) : PyDict_New(); /* the legacy default one */
    PyObject *capsule = method && none && kwargs ? PyObject_Call(method, none, kwargs) : NULL;
    Py_XDECREF(method);
    Py_XDECREF(none);
    Py_XDECREF(kwargs);
    if (!capsule) return -1;
    DlManaged *m = PyCapsule_GetPointer(capsule, names[0][0]);
    int place = m ? whose(&m->tensor, d) : -1;
    *on_device = place > 0;
    if (place < 0 || describe_tensor(&m->tensor, out) < 0) {
        Py_DECREF(capsule);
        return -1;
    }
    *keep = capsule;
    return 1;
}

int dlpack_array(PyObject *o, const Device *d, HostArray *out, PyObject **keep, bool *on_device, void **stream) {
    *keep = NULL;
    *stream = NULL;
    PyObject *method = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__dlpack__");
    if (!method) PyErr_Clear();
    Py_XDECREF(method);
    return method ? borrow_capsule(o, d, out, keep, on_device) : 0;
}
