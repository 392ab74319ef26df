/* host.c - what the frontend asks about Python objects, answered by CPython. See frontend/host.h.
 *
 * An exception in an answer means "no such thing", except KeyboardInterrupt and MemoryError, which stay set and end the
 * compilation. Every object that is given out is pinned until the compilation is over. */
#define _GNU_SOURCE
#include "array.h"

#include <pthread.h>

static PyObject *object(HostRef r) { return (PyObject *)r; }

bool host_failed(void) {
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) &&
        !PyErr_ExceptionMatches(PyExc_MemoryError))
        PyErr_Clear();
    return false;
}

HostRef host_ref(PyHost *h, PyObject *o) {
    if (!o || PyList_Append(h->pins, o) < 0) {
        host_failed();
        return NULL;
    }
    return (HostRef)o;
}

/* The same for a new reference, which it takes over. */
static HostRef take(PyHost *h, PyObject *o) {
    HostRef r = host_ref(h, o);
    Py_XDECREF(o);
    return r;
}

static const char *utf8(PyHost *h, PyObject *o) {
    const char *s = o && PyUnicode_Check(o) ? PyUnicode_AsUTF8(o) : NULL;
    if (s) return arena_strdup(h->arena, s);
    host_failed();
    return NULL;
}

/* The text of an attribute; NULL if it has none or it isn't a str. */
static const char *text_attr(PyHost *h, PyObject *o, const char *name) {
    PyObject *value = PyObject_GetAttrString(o, name);
    const char *s = utf8(h, value);
    Py_XDECREF(value);
    return s;
}

static PyObject *module_if_loaded(const char *name) {
    PyObject *text = PyUnicode_FromString(name);
    PyObject *module = text ? PyImport_GetModule(text) : NULL;
    Py_XDECREF(text);
    host_failed();
    return module;
}

/* What numba.njit made its dispatcher of, which keeps it alive. */
static PyObject *numbas_function(PyObject *o) {
    if (!(Py_TYPE(o)->tp_flags & Py_TPFLAGS_HEAPTYPE) || PyType_Check(o)) return NULL;
    PyObject *module = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__module__");
    const char *text = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    bool numbas = text && is_numbas_module(text);
    PyObject *function = numbas ? PyObject_GetAttrString(o, "py_func") : NULL;
    Py_XDECREF(module);
    Py_XDECREF(function);
    host_failed();
    return function && PyFunction_Check(function) ? function : NULL;
}

PyObject *host_function_of(PyObject *o) {
    if (PyObject_TypeCheck(o, &Kernel_Type)) return ((KernelObject *)o)->function;
    return PyFunction_Check(o) ? o : numbas_function(o);
}

bool host_is_enum(PyObject *o) {
    static PyObject *cls;
    if (!(Py_TYPE(o)->tp_flags & Py_TPFLAGS_HEAPTYPE)) return false;
    if (!cls) {
        PyObject *module = module_if_loaded("enum");
        cls = module ? PyObject_GetAttrString(module, "Enum") : NULL;
        Py_XDECREF(module);
        if (!cls) return host_failed();
    }
    return PyObject_TypeCheck(o, (PyTypeObject *)cls);
}

/* ---- objects with a place in devfn.def --------------------------------------------------------- */

static bool starts_with(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

/* Is `o` what `module.name` says? A ufunc named "erf" may be anybody's. */
static bool is_attribute_of(PyObject *o, const char *module_name, const char *name) {
    PyObject *module = module_if_loaded(module_name);
    PyObject *found = module ? PyObject_GetAttrString(module, name) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(found);
    host_failed();
    return found == o;
}

/* gpu.grid and its kind, from our own classes. */
static const char *intrinsic_path(PyHost *h, PyObject *o) {
    if (!(Py_TYPE(o)->tp_flags & Py_TPFLAGS_HEAPTYPE) || PyType_Check(o)) return NULL;
    const char *module = text_attr(h, (PyObject *)Py_TYPE(o), "__module__");
    if (!module || !(starts_with(module, "gpu.") || strcmp(module, "gpu") == 0)) return NULL;
    return text_attr(h, o, "_path");
}

/* Modules of this package whose functions kernels call. */
static const char *const for_kernels[] = {
    "gpu.random",      "gpu._sequences",     "gpu._smallarrays",   "gpu._smallmatrices", "gpu._vectors",
    "gpu.cuda._hints", "gpu.cuda._special",  "gpu.cuda._rounding", "gpu.cuda.bf16",      "gpu.cuda.fp8",
    "gpu.cuda.fp16",   "gpu.cuda.libdevice", "gpu.numba._plain",
};

bool host_is_for_kernels(const char *module) {
    for (unsigned i = 0; i < sizeof for_kernels / sizeof *for_kernels; i++)
        if (strcmp(module, for_kernels[i]) == 0) return true;
    return false;
}

/* What numba's own names are in its CUDA target. */
static const char *path_of_numbas(const char *module, const char *name) {
    static const char *const known[][3] = {{"numba.misc.special", "prange", "builtins.range"},
                                           {"numba.np.numpy_support", "carray", "gpu.carray"},
                                           {"numba.np.numpy_support", "farray", "gpu.farray"}};
    for (size_t i = 0; module && name && i < sizeof known / sizeof *known; i++)
        if (strcmp(module, known[i][0]) == 0 && strcmp(name, known[i][1]) == 0) return known[i][2];
    return NULL;
}

/* Functions written in C, NumPy's functions, builtin classes: "math.sin", "numpy.where", "builtins.range". Also this
 * package's own functions, "gpu.cuda.to_device": they are for the host, whatever their code is; but those of
 * for_kernels are written for kernels. */
static const char *library_path(PyHost *h, PyObject *o) {
    PyTypeObject *type = Py_TYPE(o);
    const char *name = NULL, *module = NULL;
    if (PyType_Check(o) && strcmp(((PyTypeObject *)o)->tp_name, "numpy.dtype") != 0) {
        static const char *const callables[] = {"functools.partial",     "operator.itemgetter", "operator.attrgetter",
                                                "operator.methodcaller", "numpy.datetime64",    "numpy.timedelta64"};
        for (size_t i = 0; i < sizeof callables / sizeof *callables; i++)
            if (strcmp(((PyTypeObject *)o)->tp_name, callables[i]) == 0) return callables[i];
        if (starts_with(((PyTypeObject *)o)->tp_name, "itertools.")) return ((PyTypeObject *)o)->tp_name;
        module = text_attr(h, o, "__module__");
        name = text_attr(h, o, "__name__");
        const char *numbas = path_of_numbas(module, name);
        if (numbas) return numbas;
        if (((PyTypeObject *)o)->tp_flags & Py_TPFLAGS_HEAPTYPE) /* np.ndindex */
            return module && name && strcmp(module, "numpy") == 0 && is_attribute_of(o, module, name)
                       ? arena_printf(h->arena, "numpy.%s", name)
                       : NULL;
        return module && name && strcmp(module, "builtins") == 0 ? arena_printf(h->arena, "builtins.%s", name) : NULL;
    }
    if (strcmp(type->tp_name, "numpy.ufunc") == 0) module = "numpy";
    else if (PyCFunction_Check(o) || PyFunction_Check(o) || strstr(type->tp_name, "ArrayFunctionDispatcher") ||
             PyType_Check(o))
        module = text_attr(h, o, "__module__");
    if (!module) return NULL;
    name = text_attr(h, o, "__name__");
    if (!name) return NULL;
    const char *numbas = path_of_numbas(module, name);
    if (numbas) return numbas;
    if (strcmp(module, "_operator") == 0) module = "operator";
    if (strcmp(module, "_functools") == 0) module = "functools";
    if (strcmp(module, "dataclasses") == 0) return arena_printf(h->arena, "%s.%s", module, name);
    bool numpy = strcmp(module, "numpy") == 0 || starts_with(module, "numpy.");
    if (numpy) return is_attribute_of(o, module, name) ? arena_printf(h->arena, "%s.%s", module, name) : NULL;
    bool ours = strcmp(module, "gpu") == 0 || starts_with(module, "gpu.");
    if (PyFunction_Check(o) && (!ours || host_is_for_kernels(module))) return NULL;
    return arena_printf(h->arena, "%s.%s", module, name);
}

/* ---- info -------------------------------------------------------------------------------------- */

static void info_int(PyHost *h, PyObject *o, HostInfo *out) {
    int overflow;
    int64_t v = PyLong_AsLongLongAndOverflow(o, &overflow);
    out->i64 = !overflow;
    out->u64 = !overflow && v >= 0;
    out->bits = (uint64_t)v;
    if (overflow > 0) {
        out->bits = PyLong_AsUnsignedLongLong(o);
        out->u64 = !PyErr_Occurred();
        host_failed();
    }
    out->re = PyLong_AsDouble(o);
    if (PyErr_Occurred()) {
        host_failed();
        out->re = overflow > 0 ? Py_HUGE_VAL : -Py_HUGE_VAL;
    }
    if (!out->i64 && !out->u64) {
        PyObject *text = PyObject_Str(o); /* refused beyond some thousand digits */
        out->text = utf8(h, text);
        if (!out->text) out->text = "an integer of thousands of digits";
        Py_XDECREF(text);
    }
}

static void info_scalar(PyObject *o, DType d, HostInfo *out) {
    uint64_t bits = 0;
    const char *p = numpy_scalar_bytes(o, d);
    float f32[2];
    double f64[2];
    out->type = d;
    if (d != DT_C64 && d != DT_C128) memcpy(&bits, p, dtype_bytes(d));
    switch (d) {
    case DT_C64:
        memcpy(f32, p, sizeof f32);
        out->re = (double)f32[0];
        out->im = (double)f32[1];
        return;
    case DT_C128:
        memcpy(f64, p, sizeof f64);
        out->re = f64[0];
        out->im = f64[1];
        return;
    case DT_F16: out->re = ir_bits_to_double(T_F16, bits); return;
    case DT_BF16: out->re = ir_bits_to_double(T_BF16, bits); return;
    case DT_F32: out->re = ir_bits_to_double(T_F32, bits); return;
    case DT_F64: out->re = ir_bits_to_double(T_F64, bits); return;
    case DT_I8: out->bits = ir_wrap(T_I8, bits); break;
    case DT_I16: out->bits = ir_wrap(T_I16, bits); break;
    case DT_I32: out->bits = ir_wrap(T_I32, bits); break;
    default: out->bits = bits; break;
    }
    bool is_signed = d >= DT_I8 && d <= DT_I64;
    out->i64 = is_signed || (int64_t)out->bits >= 0;
    out->u64 = !is_signed || (int64_t)out->bits >= 0;
    out->re = is_signed ? (double)(int64_t)out->bits : (double)out->bits;
}

static void info_tuple(PyHost *h, PyObject *o, HostInfo *out) {
    out->kind = HOST_TUPLE;
    out->n = (size_t)PyTuple_GET_SIZE(o);
    if (PyTuple_CheckExact(o)) return;
    PyObject *fields = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "_fields");
    if (fields && PyTuple_Check(fields) && (size_t)PyTuple_GET_SIZE(fields) == out->n) {
        const char **names = ARENA_ARRAY(h->arena, const char *, out->n + 1);
        for (size_t i = 0; i < out->n; i++) names[i] = utf8(h, PyTuple_GET_ITEM(fields, (Py_ssize_t)i));
        out->fields = names;
    }
    Py_XDECREF(fields);
    host_failed();
}

/* The kernel's own copy, which is the same in each of its compilations. */
static bool info_array(PyHost *h, PyObject *o, HostInfo *out) {
    HostArray *a = ARENA_NEW(h->arena, HostArray);
    PyObject *frozen = captures_freeze(h->kernel, o);
    out->kind = HOST_OTHER;
    if (frozen && numpy_array(frozen, a) > 0) {
        out->kind = HOST_ARRAY;
        out->array = a;
    }
    return !host_failed();
}

static void info_device_array(PyHost *h, PyObject *o, HostInfo *out) {
    HostArray *a = ARENA_NEW(h->arena, HostArray);
    array_describe((const ArrayObject *)o, a);
    a->on_device = true;
    Device *home = ((const ArrayObject *)o)->device;
    out->kind = captures_hold(h->kernel, o, NULL, a->data, home) == 0 ? HOST_ARRAY : HOST_OTHER;
    out->array = a;
    host_failed();
}

/* Another library's array on the device of this thread. */
static bool info_foreign(PyHost *h, PyObject *o, HostInfo *out) {
    const DeviceRow *row = PyType_Check(o) ? NULL : device_current();
    Device *d = row ? row->device : NULL;
    PyObject *memory = NULL;
    void *stream = NULL;
    HostArray *a = ARENA_NEW(h->arena, HostArray);
    int status = 0;
    if (d && d->ops->runs_ptx) status = cuda_foreign_array(o, a, &stream);
    else if (d && d->ops->shares_host_memory &&
             (PyObject_HasAttrString(o, "__array_interface__") ||
              (PyObject_HasAttrString(o, "__cuda_array_interface__") && !device_there("cuda"))))
        status = foreign_array(o, a, &memory);
    bool held = status > 0 && captures_hold(h->kernel, o, memory, a->data, d) == 0;
    Py_XDECREF(memory);
    host_failed();
    if (!held) return false;
    a->on_device = true;
    out->kind = HOST_ARRAY;
    out->array = a;
    return true;
}

static bool info_record(PyHost *h, PyObject *o, HostInfo *out) {
    const Record *record;
    const void *bytes;
    bool readonly;
    if (numpy_record(o, &record, &bytes, &readonly) <= 0) return host_failed();
    HostArray *a = ARENA_NEW(h->arena, HostArray);
    *a = (HostArray){.dtype = DT_RECORD, .record = record, .readonly = true, .data = bytes};
    out->array = a;
    return true;
}

static void info_bytes(PyHost *h, PyObject *o, HostInfo *out) {
    HostArray *a = ARENA_NEW(h->arena, HostArray);
    a->dtype = DT_U8;
    a->ndim = 1;
    a->readonly = true;
    a->shape[0] = PyBytes_GET_SIZE(o);
    a->strides[0] = 1;
    a->data = PyBytes_AS_STRING(o);
    captures_freeze(h->kernel, o);
    out->kind = HOST_BYTES;
    out->array = a;
}

/* Python's own kinds of values, by exact class first: NumPy's float64 is a float, too. */
static bool info_value(PyHost *h, PyObject *o, HostInfo *out) {
    DType d;
    if (o == Py_None) out->kind = HOST_NONE;
    else if (o == Py_Ellipsis) out->kind = HOST_ELLIPSIS;
    else if (PyBool_Check(o)) {
        out->kind = HOST_BOOL;
        out->i64 = out->u64 = true;
        out->bits = o == Py_True;
        out->re = (double)out->bits;
    } else if (host_is_enum(o)) {
        out->kind = HOST_ENUM;
        out->text = text_attr(h, o, "name");
    } else if ((d = numpy_scalar_dtype(Py_TYPE(o))) != DT_NONE) {
        out->kind = HOST_SCALAR;
        info_scalar(o, d, out);
    } else if (PyLong_Check(o)) {
        out->kind = HOST_INT;
        info_int(h, o, out);
    } else if (PyFloat_Check(o)) {
        out->kind = HOST_FLOAT;
        out->re = PyFloat_AS_DOUBLE(o);
    } else if (PyComplex_Check(o)) {
        out->kind = HOST_COMPLEX;
        out->re = ((PyComplexObject *)o)->cval.real;
        out->im = ((PyComplexObject *)o)->cval.imag;
    } else if (PyUnicode_Check(o)) {
        out->kind = HOST_STR;
        out->text = utf8(h, o);
    } else if (PyBytes_Check(o)) info_bytes(h, o, out);
    else if (PyTuple_Check(o)) info_tuple(h, o, out);
    else if (PyList_Check(o)) {
        out->kind = HOST_LIST;
        out->n = (size_t)PyList_GET_SIZE(o);
    } else if (PyDict_Check(o)) {
        out->kind = HOST_DICT;
        out->n = (size_t)PyDict_GET_SIZE(o);
    } else if (PyAnySet_Check(o)) {
        out->kind = HOST_SET;
        out->n = (size_t)PySet_GET_SIZE(o);
    } else if (PySlice_Check(o)) out->kind = HOST_SLICE;
    else return false;
    return true;
}

/* Of a function that gpu.declare_device made; NULL: it's something else. */
static const char *foreign_symbol(PyHost *h, PyObject *o) {
    PyObject *mark = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "_is_foreign");
    const char *symbol = mark == Py_True ? text_attr(h, o, "_symbol") : NULL;
    Py_XDECREF(mark);
    host_failed();
    return symbol;
}

/* Things that code is about: functions, classes, modules, dtypes. */
static void info_thing(PyHost *h, PyObject *o, HostInfo *out) {
    const char *path;
    if (PyCode_Check(o)) out->kind = HOST_CODE;
    else if (PyModule_Check(o)) {
        out->kind = HOST_MODULE;
        out->text = text_attr(h, o, "__name__");
    } else if (numpy_is_array(o)) info_array(h, o, out);
    else if (array_check(o)) info_device_array(h, o, out);
    else if (info_record(h, o, out)) out->kind = HOST_RECORD;
    else if ((out->type = numpy_dtype_of(o, &out->record)) != DT_NONE) out->kind = HOST_DTYPE;
    else if (PyObject_TypeCheck(o, &Kernel_Type)) out->kind = HOST_FUNCTION;
    else if (PyExceptionClass_Check(o)) {
        out->kind = HOST_CLASS;
        out->is_exception = true;
        out->text = text_attr(h, o, "__name__");
    } else if ((path = intrinsic_path(h, o)) || (path = library_path(h, o))) {
        out->kind = HOST_NAMED;
        out->path = path;
    } else if (PyFunction_Check(o)) out->kind = HOST_FUNCTION;
    else if (PyType_Check(o)) {
        out->kind = HOST_CLASS;
        out->text = text_attr(h, o, "__name__");
    } else if ((out->text = foreign_symbol(h, o))) out->kind = HOST_FOREIGN;
    else if (numbas_function(o)) out->kind = HOST_FUNCTION;
    else if (!info_foreign(h, o, out)) out->kind = HOST_OTHER;
}

static bool host_info(void *self, HostRef obj, HostInfo *out) {
    PyHost *h = self;
    memset(out, 0, sizeof *out);
    out->type = DT_NONE;
    if (!obj) return false;
    out->type_name = text_attr(h, (PyObject *)Py_TYPE(object(obj)), "__name__");
    if (!info_value(h, object(obj), out)) info_thing(h, object(obj), out);
    return !PyErr_Occurred();
}

/* ---- names, attributes, items ------------------------------------------------------------------ */

static HostRef host_global(void *self, HostRef function, const char *name) {
    PyObject *f = host_function_of(object(function));
    if (!f) return NULL;
    PyObject *value = PyDict_GetItemString(PyFunction_GET_GLOBALS(f), name);
    if (value) return host_ref(self, value);
    PyObject *builtins = PyObject_GetAttrString(f, "__builtins__"); /* a dict since 3.10 */
    if (builtins && PyDict_Check(builtins)) value = PyDict_GetItemString(builtins, name);
    HostRef r = host_ref(self, value);
    Py_XDECREF(builtins);
    host_failed();
    return r;
}

static HostRef host_closure(void *self, HostRef function, const char *name) {
    PyObject *f = host_function_of(object(function));
    PyObject *cells = f ? PyFunction_GetClosure(f) : NULL;
    PyObject *names = cells ? PyObject_GetAttrString(PyFunction_GET_CODE(f), "co_freevars") : NULL;
    HostRef r = NULL;
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names) && i < PyTuple_GET_SIZE(cells); i++) {
        const char *text = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i));
        if (text && strcmp(text, name) == 0) r = take(self, PyCell_Get(PyTuple_GET_ITEM(cells, i)));
    }
    Py_XDECREF(names);
    host_failed();
    return r;
}

/* gpu.cuda in place of the module numba.cuda, which a program may reach by "import numba"; a new reference. */
static PyObject *ours_for_numbas(PyHost *h, PyObject *o) {
    const char *module = PyModule_Check(o) ? text_attr(h, o, "__name__") : NULL;
    return module && strcmp(module, "numba.cuda") == 0 ? PyImport_ImportModule("gpu.cuda") : NULL;
}

bool host_is_numbas(PyTypeObject *cls) {
    for (Py_ssize_t i = 0; cls->tp_mro && i < PyTuple_GET_SIZE(cls->tp_mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(cls->tp_mro, i);
        if (PyType_HasFeature(base, Py_TPFLAGS_HEAPTYPE) && PyDict_GetItemString(base->tp_dict, "_numba_type_"))
            return true;
    }
    return false;
}

static HostRef host_attr(void *self, HostRef obj, const char *name) {
    PyObject *ours = ours_for_numbas(self, object(obj));
    if (ours) {
        HostRef r = take(self, PyObject_GetAttrString(ours, name));
        Py_DECREF(ours);
        host_failed();
        return r;
    }
    /* The value of gpu.threadIdx.x exists in kernels alone: _attr gives what stands for it. */
    if (intrinsic_path(self, object(obj)) && PyObject_HasAttrString(object(obj), "_attr")) {
        PyObject *member = PyObject_CallMethod(object(obj), "_attr", "s", name);
        HostRef r = take(self, member);
        host_failed();
        return r;
    }
    PyObject *value = PyObject_GetAttrString(object(obj), name);
    PyTypeObject *of = PyType_Check(object(obj)) ? (PyTypeObject *)object(obj) : Py_TYPE(object(obj));
    if (value && PyMethod_Check(value) && host_is_numbas(of)) Py_CLEAR(value);
    HostRef r = take(self, value);
    host_failed();
    return r;
}

static HostRef host_item(void *self, HostRef obj, size_t index) {
    PyObject *o = object(obj);
    Py_ssize_t i = (Py_ssize_t)index;
    if (PyTuple_Check(o)) return i < PyTuple_GET_SIZE(o) ? host_ref(self, PyTuple_GET_ITEM(o, i)) : NULL;
    return PyList_Check(o) && i < PyList_GET_SIZE(o) ? host_ref(self, PyList_GET_ITEM(o, i)) : NULL;
}

static HostRef host_lookup(void *self, HostRef dict, HostRef key) {
    if (key && PyDict_Check(object(dict))) {
        HostRef r = host_ref(self, PyDict_GetItemWithError(object(dict), object(key)));
        host_failed();
        return r;
    }
    HostRef r = key && PyMapping_Check(object(dict)) ? take(self, PyObject_GetItem(object(dict), object(key))) : NULL;
    host_failed();
    return r;
}

static HostRef host_items(void *self, HostRef obj) {
    PyObject *o = object(obj), *pairs = PyDict_Check(o) ? PyDict_Items(o) : NULL;
    HostRef r = take(self, PySequence_Tuple(pairs ? pairs : o));
    Py_XDECREF(pairs);
    host_failed();
    return r;
}

static HostRef host_class_attr(void *self, HostRef cls, HostRef after, const char *name) {
    PyTypeObject *type = cls && PyType_Check(object(cls)) ? (PyTypeObject *)object(cls) : NULL;
    if (type && host_is_numbas(type)) return NULL;
    PyObject *mro = type ? type->tp_mro : NULL, *found = NULL;
    bool counts = after == NULL;
    for (Py_ssize_t i = 0; mro && !found && i < PyTuple_GET_SIZE(mro); i++) {
        PyObject *base = PyTuple_GET_ITEM(mro, i);
        PyObject *dict = counts ? PyObject_GetAttrString(base, "__dict__") : NULL;
        found = dict ? PyMapping_GetItemString(dict, name) : NULL;
        Py_XDECREF(dict);
        host_failed();
        counts |= base == object(after);
    }
    return take(self, found);
}

static bool host_subclass(void *self, HostRef cls, HostRef of) {
    (void)self;
    bool types = cls && of && PyType_Check(object(cls)) && PyType_Check(object(of));
    return types && PyType_IsSubtype((PyTypeObject *)object(cls), (PyTypeObject *)object(of));
}

static HostRef host_call(void *self, HostRef callable, size_t n, const HostRef *args) {
    PyObject *tuple = PyTuple_New((Py_ssize_t)n), *made = NULL;
    for (size_t i = 0; tuple && i < n; i++) PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, Py_NewRef(object(args[i])));
    if (tuple) made = PyObject_CallObject(object(callable), tuple);
    Py_XDECREF(tuple);
    HostRef r = take(self, made);
    host_failed();
    return r;
}

static HostRef host_default(void *self, HostRef function, const char *param) {
    PyObject *f = host_function_of(object(function));
    if (!f) return NULL;
    PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(f);
    PyObject *names = PyObject_GetAttrString((PyObject *)code, "co_varnames");
    PyObject *defaults = PyFunction_GetDefaults(f), *named = PyFunction_GetKwDefaults(f);
    PyObject *value = named ? PyDict_GetItemString(named, param) : NULL;
    Py_ssize_t n = defaults ? PyTuple_GET_SIZE(defaults) : 0;
    Py_ssize_t first = code->co_argcount - n; /* the parameter of the first default; below 0 if there are too many */
    for (Py_ssize_t i = first < 0 ? -first : 0; !value && names && i < n; i++) {
        const char *text = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, first + i));
        if (text && strcmp(text, param) == 0) value = PyTuple_GET_ITEM(defaults, i);
    }
    Py_XDECREF(names);
    host_failed();
    return host_ref(self, value);
}

static bool host_same(void *self, HostRef a, HostRef b) {
    (void)self;
    return a == b;
}

/* ---- making, showing --------------------------------------------------------------------------- */

static HostRef host_make_int(void *self, int64_t v) { return take(self, PyLong_FromLongLong(v)); }
static HostRef host_make_str(void *self, const char *s) { return take(self, PyUnicode_InternFromString(s)); }
static HostRef host_make_float(void *self, double x) { return take(self, PyFloat_FromDouble(x)); }

static const char *host_repr(void *self, HostRef obj) {
    PyHost *h = self;
    PyObject *text = PyObject_Repr(object(obj));
    PyObject *start = text && PyUnicode_GET_LENGTH(text) > 80 ? PyUnicode_Substring(text, 0, 77) : NULL;
    const char *s = utf8(h, start ? start : text);
    if (s && start) s = arena_printf(h->arena, "%s...", s);
    Py_XDECREF(start);
    Py_XDECREF(text);
    host_failed();
    return s ? s : arena_printf(h->arena, "<%s>", Py_TYPE(object(obj))->tp_name);
}

static const char *host_source_line(void *self, const char *file, uint32_t line) {
    PyHost *h = self;
    PyObject *module = PyImport_ImportModule("linecache"); /* asked for messages only */
    PyObject *text = module ? PyObject_CallMethod(module, "getline", "sI", file, line) : NULL;
    char *s = (char *)utf8(h, text);
    Py_XDECREF(module);
    Py_XDECREF(text);
    host_failed();
    if (!s || !*s) return NULL;
    s[strcspn(s, "\r\n")] = '\0';
    return s;
}

static HostRef host_import(void *self, const char *module) {
    HostRef r = take(self, PyImport_ImportModule(module));
    host_failed();
    return r;
}

/* A program that has numba registers some with it. */
static void adopt_numbas_overloads(void) {
    PyObject *registry = module_if_loaded("numba.core.typing.templates");
    PyObject *module = registry ? PyImport_ImportModule("gpu._numbas") : NULL;
    PyObject *done = module ? PyObject_CallMethod(module, "adopt_overloads", NULL) : NULL;
    Py_XDECREF(done);
    Py_XDECREF(module);
    Py_XDECREF(registry);
    host_failed();
}

/* gpu.cuda.extending, once a program has asked for it, has the overloads by function. */
static PyObject *overloads_of(PyObject *function) {
    adopt_numbas_overloads();
    PyObject *module = module_if_loaded("gpu.cuda.extending");
    PyObject *all = module ? PyObject_GetAttrString(module, "overloads") : NULL;
    PyObject *found = all ? PyDict_GetItemWithError(all, function) : NULL;
    PyObject *choose = found ? PyObject_GetAttrString(module, "implementation") : NULL;
    Py_XDECREF(all);
    Py_XDECREF(module);
    host_failed();
    return choose;
}

static HostRef host_overload(void *self, HostRef function, size_t n, const ArgType *types, const HostRef *constants,
                             size_t nkw, const char *const *kwnames, const char **why) {
    PyObject *choose = overloads_of(object(function));
    if (!choose) return NULL;
    PyObject *known = PyTuple_New((Py_ssize_t)n);
    for (size_t i = 0; known && i < n; i++)
        PyTuple_SET_ITEM(known, (Py_ssize_t)i, Py_NewRef(constants[i] ? object(constants[i]) : Py_None));
    PyObject *given = types_from_argtypes(types, (uint32_t)n), *names = PyTuple_New((Py_ssize_t)nkw), *found = NULL;
    for (size_t i = 0; names && i < nkw; i++) {
        PyObject *name = PyUnicode_FromString(kwnames[i]);
        if (!name) Py_CLEAR(names);
        else PyTuple_SET_ITEM(names, (Py_ssize_t)i, name);
    }
    if (given && names && known)
        found = PyObject_CallFunctionObjArgs(choose, object(function), given, names, known, NULL);
    Py_XDECREF(known);
    Py_XDECREF(choose);
    Py_XDECREF(given);
    Py_XDECREF(names);
    bool text = found && PyUnicode_Check(found);
    if (text) *why = utf8(self, found);
    HostRef r = text || found == Py_None ? NULL : host_ref(self, found);
    Py_XDECREF(found);
    host_failed();
    return r;
}

/* ---- life -------------------------------------------------------------------------------------- */

/* To ask where a thread's stack ends takes as long as a small compilation: it's done once. */
static size_t host_stack_left(void *self) {
    PyHost *h = self;
    if (!h->stack_end) {
        pthread_attr_t attr;
        void *end = NULL;
        size_t size;
        if (pthread_getattr_np(pthread_self(), &attr) != 0) return SIZE_MAX;
        if (pthread_attr_getstack(&attr, &end, &size) == 0) h->stack_end = (uintptr_t)end;
        pthread_attr_destroy(&attr);
    }
    uintptr_t now = (uintptr_t)__builtin_frame_address(0);
    return h->stack_end && now > h->stack_end ? now - h->stack_end : SIZE_MAX;
}

int host_open(PyHost *h, Arena *arena) {
    h->arena = arena;
    h->pins = PyList_New(0);
    h->host = (Host){.self = h,
                     .info = host_info,
                     .global = host_global,
                     .closure = host_closure,
                     .attr = host_attr,
                     .item = host_item,
                     .lookup = host_lookup,
                     .items = host_items,
                     .class_attr = host_class_attr,
                     .subclass = host_subclass,
                     .call = host_call,
                     .code = host_code,
                     .default_value = host_default,
                     .same = host_same,
                     .make_int = host_make_int,
                     .make_str = host_make_str,
                     .make_float = host_make_float,
                     .repr = host_repr,
                     .source_line = host_source_line,
                     .import = host_import,
                     .overload = host_overload,
                     .stack_left = host_stack_left,
                     .none = (HostRef)Py_None};
    return h->pins ? 0 : -1;
}

void host_close(PyHost *h) { Py_CLEAR(h->pins); }
