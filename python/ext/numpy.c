/* numpy.c - NumPy arrays and scalars, read in a few nanoseconds, without importing NumPy or compiling against it.
 *
 * The C structs of arrays, dtypes and scalars have had their public fields at the same places since NumPy 1.7 (they are
 * part of its ABI). The mirrors below are checked against a real array and real scalars when NumPy is first seen;
 * if they ever disagree, arrays are read through __array_interface__ instead. bfloat16 comes from ml_dtypes. */
#include "core.h"

typedef struct NpDescr {
    PyObject_HEAD
    PyTypeObject *typeobj;
    char kind, type, byteorder, former_flags;
    int type_num;
} NpDescr;

typedef struct NpArray {
    PyObject_HEAD
    char *data;
    int nd;
    Py_ssize_t *dimensions, *strides;
    PyObject *base;
    NpDescr *descr;
    int flags;
} NpArray;

/* A record of an array, or one of its own. */
typedef struct NpVoid {
    PyObject_VAR_HEAD char *bytes;
    NpDescr *descr;
    int flags;
} NpVoid;

enum {
    NP_STRING = 18,
    NP_TIMEDELTA = 22 /* type_num: S, U, V, M, m in between */,
    NP_VOID = 20,
    NP_C = 1,
    NP_F = 2,
    NP_ALIGNED = 0x100,
    NP_WRITEABLE = 0x400
};

/* Names of the scalar types in `numpy`, with the dtype that each is. longlong is a type beside int64. */
static const struct {
    const char *name;
    DType dtype;
} scalar_types[] = {
    {"bool_", DT_BOOL},   {"int8", DT_I8},         {"int16", DT_I16},     {"int32", DT_I32},     {"int64", DT_I64},
    {"uint8", DT_U8},     {"uint16", DT_U16},      {"uint32", DT_U32},    {"uint64", DT_U64},    {"float16", DT_F16},
    {"float32", DT_F32},  {"float64", DT_F64},     {"complex64", DT_C64}, {"intc", DT_I32},      {"uintc", DT_U32},
    {"longlong", DT_I64}, {"complex128", DT_C128}, {"long", DT_I64},      {"ulonglong", DT_U64}, {"ulong", DT_U64},
};
enum { NSCALARS = sizeof scalar_types / sizeof *scalar_types, SLOTS = 64 };

enum { KEY_TYPESTR, KEY_SHAPE, KEY_DATA, KEY_STRIDES, KEY_MASK, KEY_STREAM, KEY__COUNT };

static struct {
    bool loaded, structs_ok, ml_dtypes;
    PyTypeObject *array, *dtype, *void_, *date, *delta;
    PyTypeObject *scalar[DT__COUNT];
    struct {
        PyTypeObject *type;
        DType dtype;
    } table[SLOTS];
    PyObject *str_interface, *str_cuda_interface, *str_numpy, *str_ml_dtypes;
    PyObject *keys[KEY__COUNT];           /* of an array interface */
    PyTypeObject *with_cuda_interface[8]; /* types that showed one lately, which are kept alive */
} np;

/* ---- finding NumPy ----------------------------------------------------------------------------- */

static void remember(PyTypeObject *type, DType d) {
    size_t at = ((uintptr_t)type >> 4) % SLOTS;
    while (np.table[at].type && np.table[at].type != type) at = (at + 1) % SLOTS;
    np.table[at].type = type;
    np.table[at].dtype = d;
    if (!np.scalar[d]) np.scalar[d] = type;
}

static DType recall(const PyTypeObject *type) {
    for (size_t at = ((uintptr_t)type >> 4) % SLOTS; np.table[at].type; at = (at + 1) % SLOTS)
        if (np.table[at].type == type) return np.table[at].dtype;
    return DT_NONE;
}

/* A class of a module, kept for ever; NULL without an error if there is none. */
static PyTypeObject *class_of(PyObject *module, const char *name) {
    PyObject *cls = PyObject_GetAttrString(module, name);
    if (cls && PyType_Check(cls)) return (PyTypeObject *)cls;
    Py_XDECREF(cls);
    PyErr_Clear();
    return NULL;
}

static const void *scalar_payload(PyObject *o, DType d) {
    size_t align = dtype_bytes(dtype_info[d].part);
    return (const char *)o + (sizeof(PyObject) + align - 1) / align * align;
}

static bool scalar_is(DType d, const char *argument, const void *expected) {
    PyObject *number = PyRun_String(argument, Py_eval_input, PyEval_GetBuiltins(), NULL);
    PyObject *o = number && np.scalar[d] ? PyObject_CallOneArg((PyObject *)np.scalar[d], number) : NULL;
    bool same = o && memcmp(scalar_payload(o, d), expected, dtype_bytes(d)) == 0;
    Py_XDECREF(number);
    Py_XDECREF(o);
    return same;
}

static bool array_is_as_mirrored(PyObject *numpy) {
    PyObject *o = PyObject_CallMethod(numpy, "zeros", "((ii)s)", 2, 3, "int16");
    PyObject *interface = o ? PyObject_GetAttr(o, np.str_interface) : NULL;
    PyObject *dtype = o ? PyObject_GetAttrString(o, "dtype") : NULL;
    PyObject *data = interface ? PyDict_GetItemString(interface, "data") : NULL;
    bool ok = false;
    if (data && dtype && PyTuple_Check(data)) {
        const NpArray *a = (const NpArray *)o;
        ok = a->data == PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0)) && a->nd == 2 && a->dimensions[0] == 2 &&
             a->dimensions[1] == 3 && a->strides[0] == 6 && a->strides[1] == 2 && (PyObject *)a->descr == dtype &&
             a->flags == (NP_C | NP_ALIGNED | NP_WRITEABLE | 4 /* owns its data */) &&
             a->descr->typeobj == np.scalar[DT_I16] && a->descr->byteorder == '=' && a->descr->type_num == 3;
    }
    Py_XDECREF(interface);
    Py_XDECREF(dtype);
    Py_XDECREF(o);
    return ok;
}

static bool record_is_as_mirrored(PyObject *numpy) {
    static const int32_t expected[] = {3, -4};
    PyObject *a = PyObject_CallMethod(numpy, "array", "(ii)s", 3, -4, "i4,i4");
    PyObject *nothing = PyTuple_New(0), *o = a && nothing ? PyObject_GetItem(a, nothing) : NULL;
    PyObject *dtype = a ? PyObject_GetAttrString(a, "dtype") : NULL;
    const NpVoid *v = (const NpVoid *)o;
    bool same = o && dtype && PyObject_TypeCheck(o, np.void_) && (PyObject *)v->descr == dtype &&
                v->descr->type_num == NP_VOID && (v->flags & NP_WRITEABLE) &&
                memcmp(v->bytes, expected, sizeof expected) == 0;
    Py_XDECREF(a);
    Py_XDECREF(nothing);
    Py_XDECREF(o);
    Py_XDECREF(dtype);
    return same;
}

static bool structs_are_as_mirrored(PyObject *numpy) {
    double f64 = 1.5, c128[2] = {1.5, -2.5};
    int8_t i8 = -5;
    int64_t i64 = -5;
    float f32 = 1.5f;
    bool ok = array_is_as_mirrored(numpy) && record_is_as_mirrored(numpy) && scalar_is(DT_F64, "1.5", &f64) &&
              scalar_is(DT_F32, "1.5", &f32) && scalar_is(DT_I8, "-5", &i8) && scalar_is(DT_I64, "-5", &i64) &&
              scalar_is(DT_C128, "1.5-2.5j", c128);
    PyErr_Clear();
    return ok;
}

static void load_ml_dtypes(void) {
    PyObject *module = np.ml_dtypes ? NULL : PyImport_GetModule(np.str_ml_dtypes);
    PyTypeObject *type = module ? class_of(module, "bfloat16") : NULL;
    if (type) {
        remember(type, DT_BF16);
        np.ml_dtypes = true;
    }
    Py_XDECREF(module);
    PyErr_Clear();
}

/* Is NumPy there? Looks for it in sys.modules until it is. */
static bool load(void) {
    if (np.loaded) return true;
    PyObject *numpy = PyImport_GetModule(np.str_numpy);
    if (!numpy) {
        PyErr_Clear();
        return false;
    }
    /* Both are absent while NumPy is being imported: then it isn't there yet. */
    PyTypeObject *array = class_of(numpy, "ndarray"), *dtype = class_of(numpy, "dtype");
    PyTypeObject *void_ = class_of(numpy, "void");
    if (array && dtype && void_ && PyObject_HasAttrString(numpy, "zeros")) {
        np.array = array;
        np.dtype = dtype;
        np.void_ = void_;
        np.date = class_of(numpy, "datetime64");
        np.delta = class_of(numpy, "timedelta64");
        for (size_t i = 0; i < NSCALARS; i++) {
            PyTypeObject *type = class_of(numpy, scalar_types[i].name);
            if (type) remember(type, scalar_types[i].dtype);
        }
        np.structs_ok = structs_are_as_mirrored(numpy);
        np.loaded = true;
    }
    Py_DECREF(numpy);
    return np.loaded;
}

int numpy_init(void) {
    np.str_interface = PyUnicode_InternFromString("__array_interface__");
    np.str_cuda_interface = PyUnicode_InternFromString("__cuda_array_interface__");
    np.str_numpy = PyUnicode_InternFromString("numpy");
    np.str_ml_dtypes = PyUnicode_InternFromString("ml_dtypes");
    static const char *const keys[KEY__COUNT] = {"typestr", "shape", "data", "strides", "mask", "stream"};
    for (int i = 0; i < KEY__COUNT; i++)
        if (!(np.keys[i] = PyUnicode_InternFromString(keys[i]))) return -1;
    return np.str_interface && np.str_cuda_interface && np.str_numpy && np.str_ml_dtypes ? 0 : -1;
}

/* ---- arrays ------------------------------------------------------------------------------------ */

bool numpy_is_array(PyObject *o) { return load() && PyObject_TypeCheck(o, np.array); }

Layout array_layout(const HostArray *a) {
    int64_t step = array_item(a);
    bool c = true, f = true, empty = false;
    for (int i = 0; i < a->ndim; i++) empty = empty || a->shape[i] == 0;
    if (empty) return LAYOUT_C;
    for (int i = a->ndim - 1; i >= 0; i--) {
        if (a->shape[i] != 1 && a->strides[i] != step) c = false;
        step *= a->shape[i];
    }
    step = array_item(a);
    for (int i = 0; i < a->ndim; i++) {
        if (a->shape[i] != 1 && a->strides[i] != step) f = false;
        step *= a->shape[i];
    }
    return c ? LAYOUT_C : f ? LAYOUT_F : LAYOUT_A;
}

unsigned array_record_align(const HostArray *a) {
    unsigned align = a->record->align;
    uintptr_t bits = (uintptr_t)a->data;
    for (int i = 0; i < a->ndim; i++)
        if (a->shape[i] > 1) bits |= (uintptr_t)a->strides[i];
    while (bits & (align - 1)) align /= 2;
    return align;
}

/* Compiled code reads scalars with aligned accesses where it can. Of records it knows how they lie. */
void array_look_aligned(HostArray *a) {
    uintptr_t align = a->record ? 1 : dtype_bytes(dtype_info[a->dtype].part), bits = (uintptr_t)a->data;
    for (int i = 0; i < a->ndim; i++)
        if (a->shape[i] > 1) bits |= (uintptr_t)a->strides[i];
    a->askew = (bits & (align - 1)) != 0;
}

static int bad_dtype(PyObject *dtype) {
    PyErr_Format(PyExc_TypeError,
                 "an array of dtype %S can't be used in a kernel: there are bool, int8 to int64, uint8 to uint64, "
                 "float16, bfloat16, float32, float64, complex64, complex128, and structured dtypes of these",
                 dtype);
    return -1;
}

static bool has_record(const NpDescr *descr) { return descr->type_num >= NP_STRING && descr->type_num <= NP_TIMEDELTA; }

static DType descr_dtype(const NpDescr *descr) {
    DType d = recall(descr->typeobj);
    if (d == DT_NONE && descr->type_num >= 256) {
        load_ml_dtypes();
        d = recall(descr->typeobj);
    }
    return d;
}

static int check_class(PyObject *o) {
    if (Py_TYPE(o) == np.array) return 0;
    /* A masked array is an ndarray whose mask a kernel would ignore in silence. */
    PyObject *mask = PyObject_GetAttrString(o, "_mask");
    if (!mask) {
        PyErr_Clear();
        return 0;
    }
    Py_DECREF(mask);
    PyErr_Format(PyExc_TypeError, "a kernel doesn't see the mask of a masked array; pass x.filled(...) or x.data");
    return -1;
}

int numpy_array(PyObject *o, HostArray *out) {
    if (!numpy_is_array(o) || !np.structs_ok) return 0;
    if (check_class(o) < 0) return -1;
    const NpArray *a = (const NpArray *)o;
    out->record = NULL;
    out->dtype = descr_dtype(a->descr);
    if (out->dtype == DT_NONE && has_record(a->descr)) {
        int structured = record_of_dtype((PyObject *)a->descr, &out->record);
        if (structured < 0) return -1;
        if (structured) out->dtype = DT_RECORD;
    }
    if (out->dtype == DT_NONE) return bad_dtype((PyObject *)a->descr);
    if (a->descr->byteorder != '=' && a->descr->byteorder != '|') {
        PyErr_Format(PyExc_TypeError,
                     "the array has the other byte order (%S); pass x.astype(x.dtype.newbyteorder('='))", a->descr);
        return -1;
    }
    if (a->nd > MAX_DIMS) {
        PyErr_Format(PyExc_TypeError, "a kernel takes arrays of at most %d dimensions, and this has %d", MAX_DIMS,
                     a->nd);
        return -1;
    }
    out->ndim = (uint8_t)a->nd;
    for (int i = 0; i < a->nd; i++) {
        out->shape[i] = a->dimensions[i];
        out->strides[i] = a->strides[i];
    }
    out->layout = a->flags & NP_C ? LAYOUT_C : a->flags & NP_F ? LAYOUT_F : LAYOUT_A;
    out->readonly = !(a->flags & NP_WRITEABLE);
    out->data = a->data;
    out->askew = false;
    if (!(a->flags & NP_ALIGNED)) array_look_aligned(out);
    return 1;
}

/* ---- anything else with memory ----------------------------------------------------------------- */

/* "<f4" of __array_interface__. */
static DType typestr_dtype(const char *s) {
    if (s[0] != '<' && s[0] != '|' && s[0] != '=') return DT_NONE;
    return dtype_of_code(s + 1);
}

/* "f", "=d", "Zf" of the buffer protocol. */
static DType format_dtype(const char *s, Py_ssize_t itemsize) {
    if (!s) return DT_U8;
    if (*s == '@' || *s == '=' || *s == '<') s++;
    bool complex_ = *s == 'Z';
    s += complex_;
    if (s[0] == '\0' || s[1] != '\0') return DT_NONE;
    switch (*s) {
    case '?': return DT_BOOL;
    case 'e': return DT_F16;
    case 'f': return complex_ ? DT_C64 : DT_F32;
    case 'd': return complex_ ? DT_C128 : DT_F64;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n': return itemsize == 1 ? DT_I8 : itemsize == 2 ? DT_I16 : itemsize == 4 ? DT_I32 : DT_I64;
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N': return itemsize == 1 ? DT_U8 : itemsize == 2 ? DT_U16 : itemsize == 4 ? DT_U32 : DT_U64;
    default: return DT_NONE;
    }
}

static int read_dims(PyObject *tuple, int64_t *out, const char *key) {
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) > MAX_DIMS) {
        PyErr_Format(PyExc_TypeError, "'%s' of its __array_interface__ isn't a tuple of at most %d ints", key,
                     MAX_DIMS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) {
        out[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
        if (out[i] == -1 && PyErr_Occurred()) return -1;
    }
    return (int)PyTuple_GET_SIZE(tuple);
}

/* Sizes that can be: none negative, all bytes countable, and a place where there are any. */
static bool possible_shape(const HostArray *a) {
    int64_t bytes = array_item(a);
    bool empty = false;
    for (int i = 0; i < a->ndim; i++) {
        if (a->shape[i] < 0) return false;
        empty = empty || a->shape[i] == 0;
        if (a->shape[i] > 0 && __builtin_mul_overflow(bytes, a->shape[i], &bytes)) return false;
    }
    return a->data || empty;
}

static void packed_strides(HostArray *a) {
    int64_t step = array_item(a);
    for (int i = a->ndim - 1; i >= 0; i--) {
        a->strides[i] = step;
        step *= a->shape[i];
    }
}

static int bad_interface(const char *problem) {
    PyErr_Format(PyExc_TypeError, "its array interface %s", problem);
    return -1;
}

/* The structured dtype of another library's array: its own `dtype`, or what 'descr' says. -1 with an exception. */
static int interface_record(PyObject *o, PyObject *dict, HostArray *out) {
    PyObject *descr = PyDict_GetItemString(dict, "descr"), *dtype = PyObject_GetAttrString(o, "dtype");
    if (!dtype) PyErr_Clear();
    if (dtype && (!load() || !PyObject_TypeCheck(dtype, np.dtype))) Py_CLEAR(dtype);
    if (!dtype && descr && PyList_Check(descr)) {
        PyObject *format = PyImport_ImportModule("numpy.lib.format");
        dtype = format ? PyObject_CallMethod(format, "descr_to_dtype", "O", descr) : NULL;
        Py_XDECREF(format);
        if (!dtype) return -1;
    }
    int structured = dtype ? record_of_dtype(dtype, &out->record) : 0;
    if (structured > 0) out->dtype = DT_RECORD;
    Py_XDECREF(dtype);
    return PyErr_Occurred() ? -1 : 0;
}

/* A borrowed reference; NULL if it isn't there. */
static PyObject *item_of(PyObject *dict, int key) { return PyDict_GetItemWithError(dict, np.keys[key]); }

static int from_interface(PyObject *o, PyObject *dict, HostArray *out) {
    if (!PyDict_Check(dict)) return bad_interface("isn't a dict");
    PyObject *typestr = item_of(dict, KEY_TYPESTR), *shape = item_of(dict, KEY_SHAPE);
    PyObject *data = item_of(dict, KEY_DATA), *strides = item_of(dict, KEY_STRIDES), *mask = item_of(dict, KEY_MASK);
    if (PyErr_Occurred()) return -1; /* a key of another kind that can't be compared */
    if (mask && mask != Py_None) return bad_interface("has a mask, which a kernel doesn't see");
    if (!typestr || !PyUnicode_Check(typestr) || !shape) return bad_interface("has no typestr or no shape");
    if (!data || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2) return bad_interface("has no pointer to data");
    const char *text = PyUnicode_AsUTF8(typestr);
    if (!text) return -1;
    out->record = NULL;
    out->dtype = typestr_dtype(text);
    if (out->dtype == DT_NONE && text[0] && strchr("VSUMm", text[1])) {
        int status = interface_record(o, dict, out);
        if (status < 0) return -1;
    }
    if (out->dtype == DT_NONE) return bad_dtype(typestr);
    int ndim = read_dims(shape, out->shape, "shape");
    if (ndim < 0) return -1;
    out->ndim = (uint8_t)ndim;
    out->data = PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0));
    if (!out->data && PyErr_Occurred()) return -1;
    if (!possible_shape(out)) return bad_interface("has an impossible shape or no data");
    if (strides && strides != Py_None) {
        int n = read_dims(strides, out->strides, "strides");
        if (n < 0) return -1;
        if (n != ndim) return bad_interface("has another number of strides than of dimensions");
    } else {
        packed_strides(out);
    }
    int readonly = PyObject_IsTrue(PyTuple_GET_ITEM(data, 1));
    out->readonly = readonly;
    return readonly < 0 ? -1 : 1;
}

/* A buffer of C structs, which NumPy can read. Takes over the reference to the view. */
static int from_structs(PyObject *view, HostArray *out, PyObject **keep) {
    PyObject *numpy = load() ? PyImport_GetModule(np.str_numpy) : NULL;
    PyObject *array = numpy ? PyObject_CallMethod(numpy, "asarray", "O", view) : NULL;
    int status = array ? numpy_array(array, out) : -1;
    if (!numpy && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "a buffer of structs can be used when NumPy is imported");
    *keep = array;
    Py_XDECREF(numpy);
    Py_DECREF(view);
    return status > 0 ? 1 : -1;
}

static int from_buffer(PyObject *o, HostArray *out, PyObject **keep) {
    PyObject *view = PyMemoryView_FromObject(o);
    if (!view) return -1;
    const Py_buffer *b = PyMemoryView_GET_BUFFER(view);
    if (b->format && b->format[0] == 'T') return from_structs(view, out, keep);
    out->record = NULL;
    out->dtype = format_dtype(b->format, b->itemsize);
    if (out->dtype == DT_NONE || b->ndim > MAX_DIMS || (Py_ssize_t)dtype_bytes(out->dtype) != b->itemsize ||
        b->suboffsets) {
        PyErr_Format(PyExc_TypeError, "a kernel can't use a buffer of format '%s' with %d dimensions",
                     b->format ? b->format : "B", b->ndim);
        Py_DECREF(view);
        return -1;
    }
    out->ndim = (uint8_t)b->ndim;
    for (int i = 0; i < b->ndim; i++) {
        out->shape[i] = b->shape[i];
        out->strides[i] = b->strides[i];
    }
    out->data = b->buf;
    out->readonly = b->readonly;
    *keep = view;
    return 1;
}

static int optional_attr(PyObject *o, PyObject *name, PyObject **out) {
    *out = PyObject_GetAttr(o, name);
    if (*out) return 1;
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
    PyErr_Clear();
    return 0;
}

int foreign_array(PyObject *o, HostArray *out, PyObject **keep) {
    PyObject *interface;
    *keep = NULL;
    if (numpy_is_array(o) && check_class(o) < 0) return -1;
    int status = optional_attr(o, np.str_interface, &interface);
    if (status > 0) {
        status = from_interface(o, interface, out);
        *keep = interface;
    } else if (status == 0 && PyObject_CheckBuffer(o)) {
        status = from_buffer(o, out, keep);
    } else if (status == 0 && optional_attr(o, np.str_cuda_interface, &interface) > 0) {
        *keep = interface;
        if (device_there("cuda")) {
            Py_CLEAR(*keep);
            PyErr_Format(PyExc_TypeError,
                         "this %.80s lies in a GPU's memory, and the current device can't read that; copy it to the "
                         "host",
                         Py_TYPE(o)->tp_name);
            return -1;
        }
        status = from_interface(o, interface, out); /* without a GPU it is a view of an array of the CPU device */
    }
    if (status <= 0) {
        Py_CLEAR(*keep);
        return PyErr_Occurred() ? -1 : status;
    }
    out->layout = array_layout(out);
    array_look_aligned(out);
    return 1;
}

/* "stream" of version 3 of the interface: 1 legacy, 2 per-thread, else a handle; None: nothing to wait for. */
static int interface_stream(PyObject *dict, void **stream) {
    PyObject *o = item_of(dict, KEY_STREAM);
    *stream = NULL;
    if (!o || o == Py_None) return PyErr_Occurred() ? -1 : 0;
    *stream = PyLong_AsVoidPtr(o);
    if (!*stream && PyErr_Occurred()) return -1;
    if (*stream == (void *)1) *stream = NULL; /* the runtime's name for it */
    return 0;
}

static PyTypeObject **place_of(PyTypeObject *type) {
    return &np.with_cuda_interface[((uintptr_t)type >> 5) % (sizeof np.with_cuda_interface / sizeof(PyTypeObject *))];
}

bool cuda_foreign_type(PyTypeObject *type) { return *place_of(type) == type; }

static void remember_foreign_type(PyTypeObject *type) {
    PyTypeObject *before = *place_of(type);
    if (before == type) return;
    *place_of(type) = (PyTypeObject *)Py_NewRef((PyObject *)type);
    Py_XDECREF(before);
}

int cuda_foreign_array(PyObject *o, HostArray *out, void **stream) {
    PyObject *interface;
    int status = optional_attr(o, np.str_cuda_interface, &interface);
    if (status <= 0) return status;
    status = from_interface(o, interface, out);
    if (status > 0 && interface_stream(interface, stream) < 0) status = -1;
    Py_DECREF(interface);
    if (status <= 0) return -1;
    remember_foreign_type(Py_TYPE(o));
    out->layout = array_layout(out);
    array_look_aligned(out);
    return 1;
}

/* ---- scalars and dtypes ------------------------------------------------------------------------ */

DType numpy_scalar_dtype(PyTypeObject *t) {
    if (!load()) return DT_NONE;
    DType d = recall(t);
    if (d == DT_NONE && !np.ml_dtypes && strstr(t->tp_name, "bfloat16")) {
        load_ml_dtypes();
        d = recall(t);
    }
    return d;
}

const void *numpy_scalar_bytes(PyObject *o, DType d) { return scalar_payload(o, d); }

/* numba.float32 and its kind as a NumPy dtype; a new reference, or NULL. */
static PyObject *numbas_dtype(PyObject *o) {
    PyObject *module = PyImport_ImportModule("gpu._numbas");
    PyObject *dtype = module ? PyObject_CallMethod(module, "dtype_of", "O", o) : NULL;
    Py_XDECREF(module);
    return dtype;
}

/* The attribute `_dtype` of gpu.float32 and its kind; only our own classes, and numba's, are asked. */
static DType own_dtype(PyObject *o, const Record **record) {
    PyObject *module = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__module__");
    const char *text = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    bool ours = text && (strncmp(text, "gpu.", 4) == 0 || strcmp(text, "gpu") == 0);
    bool numbas = text && is_numbas_module(text);
    Py_XDECREF(module);
    PyObject *name = ours ? PyObject_GetAttrString(o, "_dtype") : numbas ? numbas_dtype(o) : NULL;
    text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    DType d = text ? dtype_from_name(text) : DT_NONE;
    if (name && !text && load() && PyObject_TypeCheck(name, np.dtype)) d = numpy_dtype_of(name, record);
    Py_XDECREF(name);
    PyErr_Clear();
    return d;
}

/* A datetime64 or timedelta64: its ticks lie where an int64's value would. */
static int time_scalar(PyObject *o, const Record **record, const void **bytes, bool *readonly) {
    PyObject *dtype = PyObject_GetAttrString(o, "dtype");
    int found = dtype ? record_of_dtype(dtype, record) : -1;
    Py_XDECREF(dtype);
    *bytes = scalar_payload(o, DT_I64);
    *readonly = false;
    return found;
}

int numpy_record(PyObject *o, const Record **record, const void **bytes, bool *readonly) {
    if (!load() || !np.structs_ok) return 0;
    if (Py_TYPE(o) == np.date || Py_TYPE(o) == np.delta) return time_scalar(o, record, bytes, readonly);
    if (!PyObject_TypeCheck(o, np.void_)) return 0;
    const NpVoid *v = (const NpVoid *)o;
    int structured = record_of_dtype((PyObject *)v->descr, record);
    *bytes = v->bytes;
    *readonly = !(v->flags & NP_WRITEABLE);
    return structured;
}

DType numpy_dtype_of(PyObject *o, const Record **record) {
    if (record) *record = NULL;
    if (PyType_Check(o)) return numpy_scalar_dtype((PyTypeObject *)o);
    if (load() && PyObject_TypeCheck(o, np.dtype)) {
        const NpDescr *descr = (const NpDescr *)o;
        bool native = descr->byteorder == '=' || descr->byteorder == '|';
        if (!np.structs_ok || !native) return DT_NONE;
        if (!record || !has_record(descr)) return descr_dtype(descr);
        bool structured = record_of_dtype(o, record) > 0;
        PyErr_Clear(); /* no dtype of kernels */
        return structured ? DT_RECORD : DT_NONE;
    }
    return Py_TYPE(o)->tp_flags & Py_TPFLAGS_HEAPTYPE ? own_dtype(o, record) : DT_NONE;
}

static double half_value(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double v = exponent == 31 ? (fraction ? Py_NAN : Py_HUGE_VAL)
               : exponent     ? ldexp(1024 + fraction, exponent - 25)
                              : ldexp(fraction, -24);
    return bits >> 15 ? -v : v;
}

static double bfloat_value(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float f;
    memcpy(&f, &wide, sizeof f);
    return (double)f;
}

static PyObject *python_number(DType d, const void *p) {
    union {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float f32[2];
        double f64[2];
    } v;
    memcpy(&v, p, dtype_bytes(d));
    switch (d) {
    case DT_BOOL: return PyBool_FromLong(v.u8);
    case DT_I8: return PyLong_FromLong(v.i8);
    case DT_I16: return PyLong_FromLong(v.i16);
    case DT_I32: return PyLong_FromLong(v.i32);
    case DT_I64: return PyLong_FromLongLong(v.i64);
    case DT_U8: return PyLong_FromLong(v.u8);
    case DT_U16: return PyLong_FromLong(v.u16);
    case DT_U32: return PyLong_FromUnsignedLong(v.u32);
    case DT_U64: return PyLong_FromUnsignedLongLong(v.u64);
    case DT_F16: return PyFloat_FromDouble(half_value(v.u16));
    case DT_BF16: return PyFloat_FromDouble(bfloat_value(v.u16));
    case DT_F32: return PyFloat_FromDouble((double)v.f32[0]);
    case DT_F64: return PyFloat_FromDouble(v.f64[0]);
    case DT_C64: return PyComplex_FromDoubles((double)v.f32[0], (double)v.f32[1]);
    case DT_C128: return PyComplex_FromDoubles(v.f64[0], v.f64[1]);
    default: break;
    }
    PyErr_SetString(PyExc_SystemError, "no such dtype");
    return NULL;
}

PyObject *numpy_make_scalar(DType d, const void *bytes) {
    PyObject *number = python_number(d, bytes);
    if (d == DT_BF16) load_ml_dtypes();
    if (!number || !load() || !np.scalar[d]) return number;
    PyObject *o = PyObject_CallOneArg((PyObject *)np.scalar[d], number);
    Py_DECREF(number);
    return o;
}
