/* args.c - the arguments of a launch: bound to parameters, taken apart into leaves, packed for the image.
 *
 * This is the path that every launch takes, so the common case (positional NumPy arrays and Python scalars) allocates
 * nothing. */
#include "array.h"

enum { DESCRIPTION = 480, MOST_RECORD = 32764 /* bytes of a GPU's parameters */, SPILL_DIMS = 1024 };

struct Spill {
    Spill *next;
    int64_t dims[SPILL_DIMS];
};

static const char *text(PyObject *name) {
    const char *s = PyUnicode_AsUTF8(name);
    if (s) return s;
    PyErr_Clear();
    return "?";
}

/* ---- binding ----------------------------------------------------------------------------------- */

/* The default of a parameter, as the function has it now; borrowed. */
int kernel_default(KernelObject *k, uint32_t param, PyObject **out) {
    uint32_t positional = k->nparams - k->nkwonly - k->vararg;
    *out = NULL;
    if (param < positional) {
        PyObject *defaults = PyFunction_GetDefaults(k->function);
        Py_ssize_t n = defaults ? PyTuple_GET_SIZE(defaults) : 0;
        Py_ssize_t i = (Py_ssize_t)param - ((Py_ssize_t)positional - n);
        if (i >= 0 && i < n) *out = PyTuple_GET_ITEM(defaults, i);
    } else {
        PyObject *defaults = PyFunction_GetKwDefaults(k->function);
        if (!defaults) return 0;
        *out = PyDict_GetItemWithError(defaults, PyTuple_GET_ITEM(k->params, param));
        if (!*out && PyErr_Occurred()) return -1;
    }
    return 0;
}

static int too_many(const KernelObject *k, uint32_t positional, Py_ssize_t given) {
    PyErr_Format(PyExc_TypeError, "%U() takes %u positional argument%s, and %zd %s given", k->name, positional,
                 positional == 1 ? "" : "s", given, given == 1 ? "was" : "were");
    return -1;
}

static int missing(const KernelObject *k, uint32_t param) {
    PyErr_Format(PyExc_TypeError, "%U() misses an argument for parameter '%U'", k->name,
                 PyTuple_GET_ITEM(k->params, param));
    return -1;
}

static int bind_keyword(Bound *b, PyObject *name, PyObject *value) {
    KernelObject *k = b->kernel;
    if (!PyUnicode_Check(name)) return PyErr_SetString(PyExc_TypeError, "keywords must be strings"), -1;
    for (uint32_t i = 0; i < k->nparams - k->vararg; i++) {
        PyObject *param = PyTuple_GET_ITEM(k->params, i);
        int same = param == name ? 1 : PyUnicode_Compare(param, name) == 0;
        if (!same) continue;
        if (i < k->nposonly) {
            PyErr_Format(PyExc_TypeError, "%U(): parameter '%U' is positional only", k->name, name);
            return -1;
        }
        if (b->values[i]) {
            PyErr_Format(PyExc_TypeError, "%U() got two values for parameter '%U'", k->name, name);
            return -1;
        }
        b->values[i] = value;
        return 0;
    }
    PyErr_Format(PyExc_TypeError, "%U() has no parameter '%U'", k->name, name);
    return -1;
}

static int bind_rest(Bound *b, PyObject *const *args, Py_ssize_t from, Py_ssize_t nargs) {
    Py_ssize_t n = nargs > from ? nargs - from : 0;
    b->rest = PyTuple_New(n);
    if (!b->rest) return -1;
    for (Py_ssize_t i = 0; i < n; i++) PyTuple_SET_ITEM(b->rest, i, Py_NewRef(args[from + i]));
    b->values[b->kernel->nparams - 1] = b->rest;
    return 0;
}

int args_bind(Bound *b, KernelObject *k, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames) {
    b->kernel = k;
    b->device = NULL;
    b->on_host = false;
    b->nproducers = 0;
    b->nvalues = k->nparams;
    b->rest = b->keep = NULL;
    b->leaves = b->few_leaves;
    b->cap_leaves = FEW_LEAVES;
    b->dims = b->few_dims;
    b->cap_dims = FEW_DIMS;
    b->key = b->few_key;
    b->cap_key = FEW_KEY;
    b->nleaves = b->ndims = b->key_size = b->nparts = 0;
    b->spills = NULL;
    if (nargs == (Py_ssize_t)k->nparams && !kwnames && !k->vararg && !k->nkwonly) {
        memcpy(b->values, args, (size_t)nargs * sizeof *args);
        return 0;
    }
    memset(b->values, 0, k->nparams * sizeof *b->values);
    uint32_t positional = k->nparams - k->nkwonly - k->vararg;
    if (nargs > (Py_ssize_t)positional && !k->vararg) return too_many(k, positional, nargs);
    for (Py_ssize_t i = 0; i < nargs && i < (Py_ssize_t)positional; i++) b->values[i] = args[i];
    Py_ssize_t nkeywords = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
    for (Py_ssize_t i = 0; i < nkeywords; i++)
        if (bind_keyword(b, PyTuple_GET_ITEM(kwnames, i), args[nargs + i]) < 0) return -1;
    if (k->vararg && bind_rest(b, args, positional, nargs) < 0) return -1;
    for (uint32_t i = 0; i < k->nparams; i++) {
        if (b->values[i]) continue;
        if (kernel_default(k, i, &b->values[i]) < 0) return -1;
        if (!b->values[i]) return missing(k, i);
    }
    return 0;
}

void args_release(Bound *b) {
    if (b->leaves != b->few_leaves) PyMem_Free(b->leaves);
    if (b->key != b->few_key) PyMem_Free(b->key);
    while (b->spills) {
        Spill *next = b->spills->next;
        PyMem_Free(b->spills);
        b->spills = next;
    }
    Py_XDECREF(b->rest);
    Py_XDECREF(b->keep);
}

/* ---- room -------------------------------------------------------------------------------------- */

static Leaf *new_leaf(Bound *b, uint32_t param) {
    if (b->nleaves == UINT16_MAX) { /* ImageParam.leaf */
        PyErr_Format(PyExc_TypeError, "%U(): the arguments have more than %d items", b->kernel->name, UINT16_MAX);
        return NULL;
    }
    if (b->nleaves == b->cap_leaves) {
        bool few = b->leaves == b->few_leaves;
        Leaf *leaves = PyMem_Realloc(few ? NULL : b->leaves, 2 * b->cap_leaves * sizeof *leaves);
        if (!leaves) return (Leaf *)PyErr_NoMemory();
        if (few) memcpy(leaves, b->few_leaves, sizeof b->few_leaves);
        b->leaves = leaves;
        b->cap_leaves *= 2;
    }
    Leaf *leaf = &b->leaves[b->nleaves++];
    leaf->param = (uint16_t)param;
    return leaf;
}

/* Shapes don't move once they lie somewhere: leaves point at them. */
static int64_t *room_for_dims(Bound *b, uint32_t n) {
    if (b->ndims + n > b->cap_dims) {
        Spill *spill = PyMem_Malloc(sizeof *spill);
        if (!spill) return (int64_t *)PyErr_NoMemory();
        spill->next = b->spills;
        b->spills = spill;
        b->dims = spill->dims;
        b->ndims = 0;
        b->cap_dims = SPILL_DIMS;
    }
    b->ndims += n;
    return b->dims + b->ndims - n;
}

static uint8_t *room_for_key(Bound *b, uint32_t n) {
    if (b->key_size + n > b->cap_key) {
        bool few = b->key == b->few_key;
        uint32_t cap = 2 * b->cap_key + n;
        uint8_t *key = PyMem_Realloc(few ? NULL : b->key, cap);
        if (!key) return (uint8_t *)PyErr_NoMemory();
        if (few) memcpy(key, b->few_key, b->key_size);
        b->key = key;
        b->cap_key = cap;
    }
    b->key_size += n;
    return b->key + b->key_size - n;
}

/* ---- taking apart ------------------------------------------------------------------------------ */

static int flatten(Bound *b, PyObject *o, uint32_t param, int depth);

/* "k(): parameter 'x'", "k(): parameter 'x.scale[2]'": of what is passed by its parts, the one that is looked at. */
static void describe(const Bound *b, uint32_t param, char *out, size_t size) {
    PyOS_snprintf(out, size, "%.100s(): parameter '%.100s", text(b->kernel->name),
                  text(PyTuple_GET_ITEM(b->kernel->params, param)));
    for (uint32_t i = 0; i <= b->nparts; i++) {
        size_t used = strlen(out);
        const ArgPart *p = &b->parts[i];
        if (i == b->nparts) PyOS_snprintf(out + used, size - used, "'");
        else if (!p->name) PyOS_snprintf(out + used, size - used, "[%d]", (int)p->index);
        else PyOS_snprintf(out + used, size - used, p->item ? "[\"%.20s\"]" : ".%.20s", text(p->name));
    }
}

/* Puts the parameter in front of the message of the exception that is set. */
static int name_parameter(const Bound *b, uint32_t param) {
    PyObject *type, *value, *trace;
    char what[DESCRIPTION];
    describe(b, param, what, sizeof what);
    PyErr_Fetch(&type, &value, &trace);
    PyErr_Format(type, "%s: %S", what, value ? value : Py_None);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return -1;
}

static int put_array(Bound *b, const HostArray *a, bool on_device, uint32_t param) {
    Leaf *leaf = new_leaf(b, param);
    int64_t *dims = leaf ? room_for_dims(b, 2u * a->ndim) : NULL;
    uint8_t *key = dims ? room_for_key(b, KEY_ARRAY_BYTES) : NULL;
    if (!key) return -1;
    b->key_size -= KEY_ARRAY_BYTES - key_put_array(key, a, a->record ? array_record_align(a) : 0);
    memcpy(dims, a->shape, a->ndim * sizeof *dims);
    memcpy(dims + a->ndim, a->strides, a->ndim * sizeof *dims);
    leaf->is_array = true;
    leaf->on_device = on_device;
    leaf->array = NULL;
    b->on_host |= !on_device;
    leaf->dtype = (uint8_t)a->dtype;
    leaf->record = a->record;
    leaf->ndim = a->ndim;
    leaf->readonly = a->readonly;
    leaf->data = a->data;
    leaf->shape = dims;
    leaf->strides = dims + a->ndim;
    return 0;
}

/* A record: its bytes, or in the Numba dialect the record itself, which the kernel may write, as an array without
 * dimensions. */
static int put_record(Bound *b, const Record *r, const void *bytes, bool readonly, uint32_t param) {
    bool numba = b->kernel->dialect == DIALECT_NUMBA && r->kind == RECORD_FIELDS; /* others come by value */
    if (!numba && r->bytes > MOST_RECORD) {
        char what[DESCRIPTION];
        describe(b, param, what, sizeof what);
        PyErr_Format(PyExc_TypeError,
                     "%s: a record of %u bytes is too large for a copy; pass an array of one, x[i:i+1]", what,
                     r->bytes);
        return -1;
    }
    HostArray a = {.dtype = DT_RECORD, .record = r, .data = bytes};
    Leaf *leaf = new_leaf(b, param);
    uint8_t *key = leaf ? room_for_key(b, KEY_RECORD_BYTES) : NULL;
    if (!key) return -1;
    key_put_record(key, r, numba ? array_record_align(&a) : r->align, r->kind == RECORD_FIELDS && (!numba || readonly));
    leaf->is_array = numba;
    leaf->on_device = false;
    leaf->array = NULL;
    leaf->dtype = DT_RECORD;
    leaf->record = r;
    leaf->ndim = 0;
    leaf->readonly = readonly;
    leaf->data = bytes;
    leaf->shape = leaf->strides = b->dims; /* none of them */
    b->on_host |= numba;
    return 0;
}

/* A scalar of kind `weak` in the NumPy dialect. In Numba's, Python numbers have types. */
static int put_scalar(Bound *b, ArgKind kind, DType d, const void *value, uint32_t param) {
    Leaf *leaf = new_leaf(b, param);
    if (kind != ARG_SCALAR && b->kernel->dialect == DIALECT_NUMBA) kind = ARG_SCALAR;
    uint8_t *key = leaf ? room_for_key(b, kind == ARG_SCALAR ? KEY_SCALAR_BYTES : 1) : NULL;
    if (!key) return -1;
    key[0] = (uint8_t)kind;
    if (kind == ARG_SCALAR) key[1] = (uint8_t)d;
    leaf->is_array = leaf->on_device = false;
    leaf->array = NULL;
    leaf->dtype = (uint8_t)d;
    leaf->record = NULL;
    leaf->bits[0] = leaf->bits[1] = 0;
    memcpy(leaf->bits, value, dtype_bytes(d));
    return 0;
}

static int put_int(Bound *b, PyObject *o, uint32_t param) {
    int overflow;
    int64_t v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (!overflow) return put_scalar(b, ARG_WEAK_INT, DT_I64, &v, param);
    uint64_t u = PyLong_AsUnsignedLongLong(o);
    bool fits = !(u == UINT64_MAX && PyErr_Occurred());
    PyErr_Clear();
    if (fits && b->kernel->dialect == DIALECT_NUMBA) return put_scalar(b, ARG_SCALAR, DT_U64, &u, param);
    char what[DESCRIPTION];
    describe(b, param, what, sizeof what);
    PyErr_Format(PyExc_OverflowError, "%s: %R doesn't fit an int64%s", what, o,
                 fits ? "; pass numpy.uint64(...) for unsigned 64-bit arithmetic"
                      : ", and a kernel has no larger integers");
    return -1;
}

static int keep(Bound *b, PyObject *o) {
    if (!b->keep && !(b->keep = PyList_New(0))) return -1;
    return PyList_Append(b->keep, o);
}

/* Begins an object that is passed by its parts: `names` are theirs, or NULL. */
static int begin_parts(Bound *b, PyObject *cls, PyObject *names, Py_ssize_t n, uint32_t param, int depth) {
    if (depth >= MAX_DEPTH || n > MAX_ITEMS) {
        char what[DESCRIPTION];
        describe(b, param, what, sizeof what);
        PyErr_Format(PyExc_TypeError, "%s: more than %d items, or nested deeper than %d", what, MAX_ITEMS, MAX_DEPTH);
        return -1;
    }
    PyObject *constant = NULL, *shape = key_shape(cls, names);
    if (!shape && PyErr_Occurred()) return -1;
    if (shape && !(constant = key_constant(b->kernel, shape))) {
        Py_DECREF(shape);
        return -1;
    }
    Py_XDECREF(shape); /* the kernel's constants hold it */
    uint8_t *key = room_for_key(b, KEY_TUPLE_BYTES);
    if (!key) return -1;
    key[0] = ARG_TUPLE;
    key[1] = (uint8_t)n;
    key[2] = (uint8_t)(n >> 8);
    memcpy(key + 3, &constant, sizeof constant);
    return 0;
}

static int flatten_part(Bound *b, PyObject *o, ArgPart part, uint32_t param, int depth) {
    b->parts[b->nparts++] = part; /* a failure leaves it, for its message */
    if (flatten(b, o, param, depth + 1) < 0) return -1;
    b->nparts--;
    return 0;
}

static bool is_named(PyObject *o) {
    if (PyTuple_CheckExact(o)) return false;
    PyObject *fields = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "_fields");
    bool named = fields && PyTuple_Check(fields) && PyTuple_GET_SIZE(fields) == PyTuple_GET_SIZE(o);
    if (!fields) PyErr_Clear();
    Py_XDECREF(fields);
    return named;
}

static int put_tuple(Bound *b, PyObject *o, uint32_t param, int depth) {
    Py_ssize_t n = PyTuple_GET_SIZE(o);
    if (begin_parts(b, is_named(o) ? (PyObject *)Py_TYPE(o) : NULL, NULL, n, param, depth) < 0) return -1;
    for (Py_ssize_t i = 0; i < n; i++)
        if (flatten_part(b, PyTuple_GET_ITEM(o, i), (ArgPart){.index = i}, param, depth) < 0) return -1;
    return 0;
}

static int refuse(const Bound *b, PyObject *o, uint32_t param);

/* Something that `values`, a dict with string keys, has the parts of. */
static int put_parts(Bound *b, PyObject *o, PyObject *values, uint32_t param, int depth) {
    Py_ssize_t n = 0, at = 0;
    PyObject *name, *value, *names = PyTuple_New(PyDict_GET_SIZE(values));
    while (names && PyDict_Next(values, &at, &name, &value)) {
        if (!PyUnicode_Check(name)) {
            Py_DECREF(names);
            return refuse(b, o, param);
        }
        PyTuple_SET_ITEM(names, n++, Py_NewRef(name));
    }
    int status = names ? begin_parts(b, (PyObject *)Py_TYPE(o), names, n, param, depth) : -1;
    for (Py_ssize_t i = 0; status == 0 && i < n; i++) {
        value = PyDict_GetItemWithError(values, PyTuple_GET_ITEM(names, i));
        ArgPart part = {.name = PyTuple_GET_ITEM(names, i), .item = PyDict_Check(o)};
        status = value ? flatten_part(b, value, part, param, depth) : refuse(b, o, param);
    }
    Py_XDECREF(names);
    return status;
}

/* A bound method goes as the function with its first argument. */
static int put_partial(Bound *b, PyObject *cls, PyObject *fn, PyObject *args, PyObject *keywords, uint32_t param,
                       int depth) {
    int status = begin_parts(b, cls, NULL, 3, param, depth);
    if (status == 0) status = flatten(b, fn, param, depth + 1);
    if (status == 0) status = flatten(b, args, param, depth + 1);
    return status == 0 ? flatten(b, keywords, param, depth + 1) : -1;
}

static PyObject *partial_class(void) {
    PyObject *module = PyImport_ImportModule("functools");
    PyObject *cls = module ? PyObject_GetAttrString(module, "partial") : NULL;
    Py_XDECREF(module);
    return cls;
}

static int flatten_partial(Bound *b, PyObject *o, uint32_t param, int depth) {
    PyObject *fn = PyObject_GetAttrString(o, "func"), *args = PyObject_GetAttrString(o, "args"),
             *keywords = PyObject_GetAttrString(o, "keywords");
    int status = fn && args && keywords ? keep(b, fn) || keep(b, args) || keep(b, keywords) : -1;
    if (status == 0) status = put_partial(b, (PyObject *)Py_TYPE(o), fn, args, keywords, param, depth);
    Py_XDECREF(fn);
    Py_XDECREF(args);
    Py_XDECREF(keywords);
    return status ? -1 : 0;
}

static int flatten_method(Bound *b, PyObject *o, uint32_t param, int depth) {
    PyObject *cls = partial_class(), *args = PyTuple_Pack(1, PyMethod_GET_SELF(o)), *keywords = PyDict_New();
    int status = cls && args && keywords ? keep(b, args) || keep(b, keywords) : -1;
    if (status == 0) status = put_partial(b, cls, PyMethod_GET_FUNCTION(o), args, keywords, param, depth);
    Py_XDECREF(cls);
    Py_XDECREF(args);
    Py_XDECREF(keywords);
    return status ? -1 : 0;
}

/* An instance of a Python class, by its fields: 1; 0: it is none. */
static int flatten_instance(Bound *b, PyObject *o, uint32_t param, int depth) {
    if (PyDict_CheckExact(o)) return put_parts(b, o, o, param, depth) < 0 ? -1 : 1;
    if (PyMethod_Check(o)) return flatten_method(b, o, param, depth) < 0 ? -1 : 1;
    if (strcmp(Py_TYPE(o)->tp_name, "functools.partial") == 0) return flatten_partial(b, o, param, depth) < 0 ? -1 : 1;
    const char *type = Py_TYPE(o)->tp_name;
    if (strcmp(type, "functools._lru_cache_wrapper") == 0) {
        PyObject *fn = PyObject_GetAttrString(o, "__wrapped__");
        int done = fn ? keep(b, fn) : -1;
        if (done == 0) done = flatten(b, fn, param, depth + 1);
        Py_XDECREF(fn);
        return done < 0 ? -1 : 1;
    }
    bool of_python = Py_TYPE(o)->tp_flags & Py_TPFLAGS_HEAPTYPE || strcmp(type, "types.SimpleNamespace") == 0;
    if (!of_python || PyList_Check(o) || PyDict_Check(o) || PyAnySet_Check(o)) return 0;
    PyObject *values = PyObject_GetAttrString(o, "__dict__"), *slots = NULL;
    if (!values) {
        PyErr_Clear();
        slots = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__slots__");
        if (!slots || !PyTuple_Check(slots)) {
            PyErr_Clear();
            Py_XDECREF(slots);
            return 0;
        }
        values = PyDict_New();
        for (Py_ssize_t i = 0; values && i < PyTuple_GET_SIZE(slots); i++) {
            PyObject *value = PyObject_GetAttr(o, PyTuple_GET_ITEM(slots, i));
            if (!value) PyErr_Clear();
            else if (PyDict_SetItem(values, PyTuple_GET_ITEM(slots, i), value) < 0) Py_CLEAR(values);
            Py_XDECREF(value);
        }
        Py_DECREF(slots);
    }
    int status = !values ? -1 : PyDict_Check(values) ? keep(b, values) : 0;
    bool fields = values && PyDict_Check(values);
    if (status == 0 && fields) status = put_parts(b, o, values, param, depth);
    Py_XDECREF(values);
    return status < 0 ? -1 : fields;
}

/* What a kernel may get as a constant, known when it is compiled. */
static bool is_constant(PyObject *o) {
    const Record *record;
    return PyFunction_Check(o) || PyObject_TypeCheck(o, &Kernel_Type) || PyCFunction_Check(o) || PyUnicode_Check(o) ||
           PyType_Check(o) || PyModule_Check(o) || host_is_enum(o) || numpy_dtype_of(o, &record) != DT_NONE ||
           strcmp(Py_TYPE(o)->tp_name, "numpy.ufunc") == 0;
}

/* A table or series of another library, which makes an array of itself when asked. A kernel would write a copy. */
static bool has_array(PyObject *o) {
    PyObject *method = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__array__");
    if (!method) PyErr_Clear();
    Py_XDECREF(method);
    return method;
}

static const char *instead_of_numbas(const char *type) {
    if (strcmp(type, "List") == 0) return "; numpy.array(...) makes an array of a numba.typed.List";
    if (strcmp(type, "Dict") == 0) return "; pass the keys and the values of a numba.typed.Dict as two arrays";
    return "; pass the fields of a jitclass, as a named tuple or a record";
}

static int refuse(const Bound *b, PyObject *o, uint32_t param) {
    char what[DESCRIPTION];
    describe(b, param, what, sizeof what);
    const char *type = Py_TYPE(o)->tp_name;
    const char *help = host_is_numbas(Py_TYPE(o)) ? instead_of_numbas(type)
                       : PyList_Check(o) || PyAnySet_Check(o)
                           ? "; numpy.array(...) makes an array of it, tuple(...) a tuple"
                       : PyDict_Check(o) ? "; the keys of a dict must be strings"
                       : has_array(o)    ? "; numpy.asarray(...) makes an array of it"
                                         : "";
    PyErr_Format(PyExc_TypeError,
                 "%s takes an array, a number, a tuple of those, or a constant (a function, dtype or string), and this "
                 "is %s %.80s%s",
                 what, strchr("aeiou", type[0]) ? "an" : "a", type, help);
    return -1;
}

static int put_constant(Bound *b, PyObject *o, uint32_t param) {
    if (!is_constant(o)) return refuse(b, o, param);
    PyObject *constant = key_constant(b->kernel, o);
    if (!constant) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
        PyErr_Clear();
        return refuse(b, o, param);
    }
    uint8_t *key = room_for_key(b, KEY_OBJECT_BYTES);
    if (!key) return -1;
    key[0] = ARG_OBJECT;
    memcpy(key + 1, &constant, sizeof constant);
    return 0;
}

/* Remembers a stream that works on an array; the launch comes after it. */
static int add_producer(Bound *b, void *stream) {
    for (uint32_t i = 0; i < b->nproducers; i++)
        if (b->producers[i] == stream) return 0;
    if (b->nproducers == MAX_PRODUCERS) {
        PyErr_Format(PyExc_ValueError, "%U(): the arguments come from more than %d streams of other libraries",
                     b->kernel->name, MAX_PRODUCERS);
        return -1;
    }
    b->producers[b->nproducers++] = stream;
    return 0;
}

/* Another library's array. `memory`, a reference or NULL, keeps it; `stream` works on it, if it is on the device. */
static int put_foreign(Bound *b, const HostArray *a, PyObject *memory, bool on_device, void *stream, uint32_t param) {
    int status = on_device ? add_producer(b, stream) : 0;
    if (memory) {
        if (status == 0) status = keep(b, memory);
        Py_DECREF(memory);
    }
    return status < 0 ? -1 : put_array(b, a, on_device, param);
}

/* Anything that shows its memory. */
static int flatten_foreign(Bound *b, PyObject *o, uint32_t param, int depth) {
    const Device *d = b->device ? b->device : runtime_cpu();
    HostArray a;
    PyObject *memory = NULL;
    void *stream = NULL;
    int status = d->ops->runs_ptx ? cuda_foreign_array(o, &a, &stream) : 0;
    bool on_device = status > 0;
    if (status == 0) status = foreign_array(o, &a, &memory);
    if (status == 0) status = dlpack_array(o, d, &a, &memory, &on_device, &stream);
    if (status < 0) return name_parameter(b, param);
    if (status) return put_foreign(b, &a, memory, on_device, stream, param);
    status = has_array(o) || host_is_numbas(Py_TYPE(o)) ? 0 : flatten_instance(b, o, param, depth);
    return status < 0 ? -1 : status ? 0 : refuse(b, o, param);
}

/* Anything that isn't a number or an ndarray. */
static int flatten_other(Bound *b, PyObject *o, uint32_t param, int depth) {
    if (o == Py_None) {
        uint8_t *key = room_for_key(b, 1);
        if (key) key[0] = ARG_NONE;
        return key ? 0 : -1;
    }
    if (PyTuple_Check(o)) return put_tuple(b, o, param, depth);
    const Record *record;
    const void *bytes;
    bool readonly;
    int found = numpy_record(o, &record, &bytes, &readonly);
    if (found) return found < 0 ? name_parameter(b, param) : put_record(b, record, bytes, readonly, param);
    if (Py_TYPE(o)->tp_flags & Py_TPFLAGS_HEAPTYPE) { /* tensors of other libraries, the quick way */
        HostArray a;
        bool on_device;
        void *stream = NULL;
        const Device *d = b->device ? b->device : runtime_cpu();
        int status = dlpack_exchange(o, d, &a, &on_device, &stream);
        if (status == 0 && d->ops->runs_ptx && cuda_foreign_type(Py_TYPE(o))) {
            status = cuda_foreign_array(o, &a, &stream);
            on_device = status > 0;
        }
        if (status < 0) return name_parameter(b, param);
        if (status) return put_foreign(b, &a, NULL, on_device, stream, param);
    }
    if (is_constant(o)) return put_constant(b, o, param);
    /* Subclasses of Python's numbers that are nothing else. */
    if (PyLong_Check(o)) return put_int(b, o, param);
    if (PyFloat_Check(o)) return put_scalar(b, ARG_WEAK_FLOAT, DT_F64, &((PyFloatObject *)o)->ob_fval, param);
    return flatten_foreign(b, o, param, depth);
}

/* An array of ours that another device has: by the host, if both reach it there. */
static int flatten_elsewhere(Bound *b, const ArrayObject *o, uint32_t param) {
    const Device *d = b->device ? b->device : runtime_cpu();
    HostArray a;
    if (d->ops->shares_host_memory && array_host(o)) {
        array_describe(o, &a);
        a.data = array_host(o);
        return put_array(b, &a, true, param);
    }
    char what[DESCRIPTION];
    describe(b, param, what, sizeof what);
    PyErr_Format(PyExc_ValueError,
                 "%s is an array on %s, and the kernel is launched on %s: copy it with .to(\"%s\"), or "
                 "launch in `with gpu.device(\"%s\")`",
                 what, o->device->name, d->name, d->name, o->device->name);
    return -1;
}

/* An array of ours: its part of the key, shape and strides are there. */
static int flatten_ours(Bound *b, const ArrayObject *o, uint32_t param) {
    if (o->device != (b->device ? b->device : runtime_cpu())) return flatten_elsewhere(b, o, param);
    Leaf *leaf = new_leaf(b, param);
    uint8_t *key = leaf ? room_for_key(b, KEY_ARRAY_BYTES) : NULL;
    if (!key) return -1;
    memcpy(key, o->key, KEY_ARRAY_BYTES);
    if (!o->record) b->key_size -= KEY_ARRAY_BYTES - 4;
    leaf->is_array = leaf->on_device = true;
    leaf->array = o;
    leaf->dtype = o->dtype;
    leaf->record = o->record;
    leaf->ndim = o->ndim;
    leaf->readonly = o->readonly;
    leaf->data = o->data;
    leaf->shape = o->shape;
    leaf->strides = o->strides;
    return 0;
}

static int flatten_array(Bound *b, PyObject *o, uint32_t param) {
    HostArray a;
    int status = numpy_array(o, &a);
    if (status < 0) return name_parameter(b, param);
    return status ? put_array(b, &a, false, param) : flatten_other(b, o, param, 0);
}

static int flatten(Bound *b, PyObject *o, uint32_t param, int depth) {
    if (PyFloat_CheckExact(o)) return put_scalar(b, ARG_WEAK_FLOAT, DT_F64, &((PyFloatObject *)o)->ob_fval, param);
    if (PyLong_CheckExact(o)) return put_int(b, o, param);
    if (array_check(o)) return flatten_ours(b, (const ArrayObject *)o, param);
    if (numpy_is_array(o)) return flatten_array(b, o, param);
    if (PyBool_Check(o)) {
        uint8_t bit = o == Py_True;
        return put_scalar(b, ARG_WEAK_BOOL, DT_BOOL, &bit, param);
    }
    DType d = numpy_scalar_dtype(Py_TYPE(o));
    if (d != DT_NONE) return put_scalar(b, ARG_SCALAR, d, numpy_scalar_bytes(o, d), param);
    if (PyComplex_CheckExact(o)) return put_scalar(b, ARG_WEAK_COMPLEX, DT_C128, &((PyComplexObject *)o)->cval, param);
    return flatten_other(b, o, param, depth);
}

int args_flatten(Bound *b) {
    for (uint32_t i = 0; i < b->nvalues; i++)
        if (flatten(b, b->values[i], i, 0) < 0) return -1;
    return b->kernel->signatures && PyTuple_GET_SIZE(b->kernel->signatures) ? convert_to_signature(b) : 0;
}

/* ---- facts ------------------------------------------------------------------------------------- */

/* Is every size and offset of this array below 2^31, with FACT_SIZE32_SPARE left? Dimensions of size 0 count as 1,
 * since strides are made of sizes.
 */
static bool fits_32(const Leaf *a) {
    const int64_t limit = INT32_MAX - FACT_SIZE32_SPARE;
    int64_t packed = elem_bytes((DType)a->dtype, a->record), spread = packed;
    for (int i = 0; i < a->ndim; i++) {
        int64_t n = a->shape[i] > 0 ? a->shape[i] : 1, step = a->strides[i] < 0 ? -a->strides[i] : a->strides[i];
        if (n > limit || step > limit) return false;
        packed *= n;
        spread += (n - 1) * step;
        if (packed > limit || spread > limit) return false;
    }
    return true;
}

LeafExtent leaf_extent(const Leaf *a) {
    LeafExtent e = {(uintptr_t)a->data, (uintptr_t)a->data + elem_bytes((DType)a->dtype, a->record)};
    for (int i = 0; i < a->ndim; i++) {
        if (a->shape[i] == 0) return (LeafExtent){0, 0};
        int64_t reach = (a->shape[i] - 1) * a->strides[i];
        if (reach < 0) e.first -= (uintptr_t)-reach;
        else e.last += (uintptr_t)reach;
    }
    return e;
}

static bool no_overlap(const Bound *b, const uint8_t *written) {
    for (uint32_t i = 0; i < b->nleaves; i++) {
        const Leaf *w = &b->leaves[i];
        if (!w->is_array || !(written ? written[i] : !w->readonly)) continue;
        LeafExtent a = leaf_extent(w);
        for (uint32_t j = 0; j < b->nleaves; j++) {
            if (j == i || !b->leaves[j].is_array) continue;
            LeafExtent e = leaf_extent(&b->leaves[j]);
            if (a.first < e.last && e.first < a.last) return false;
        }
    }
    return true;
}

/* What a scalar has to do with FACT_COUNTS. */
static void look_at_count(const Leaf *l, bool *any, bool *all) {
    if (l->record || l->dtype != DT_I64) return;
    *any = true;
    *all &= l->bits[0] <= INT32_MAX;
}

uint32_t args_facts(const Bound *b, const uint8_t *written, const LaunchConfig *c) {
    uint32_t facts = FACT_SIZE32 | FACT_ALIGN16;
    uint32_t arrays = 0;
    bool any_count = false, all_counts = true;
    for (int i = 0; i < 3; i++)
        if ((uint64_t)c->grid[i] * c->block[i] > INT32_MAX) facts &= ~(uint32_t)FACT_SIZE32;
    if (c->grid[0] > FACT_SIZE32_GRID) facts &= ~(uint32_t)FACT_SIZE32;
    for (uint32_t i = 0; i < b->nleaves; i++) {
        const Leaf *l = &b->leaves[i];
        if (!l->is_array) {
            look_at_count(l, &any_count, &all_counts);
            continue;
        }
        arrays++;
        if (!fits_32(l)) facts &= ~(uint32_t)FACT_SIZE32;
        if ((uintptr_t)l->data & 15) facts &= ~(uint32_t)FACT_ALIGN16;
    }
    if (any_count && all_counts) facts |= FACT_COUNTS;
    return arrays < 2 || no_overlap(b, written) ? facts | FACT_NOALIAS : facts;
}

/* ---- packing ----------------------------------------------------------------------------------- */

static bool pack_one(const Leaf *l, const ImageParam *p, char *at) {
    switch ((ParamKind)p->kind) {
    case PARAM_DATA:
        if (!l->is_array || p->bytes != sizeof l->data) return false;
        memcpy(at, &l->data, sizeof l->data);
        return true;
    case PARAM_SHAPE:
    case PARAM_STRIDE:
        if (!l->is_array || p->axis >= l->ndim || p->bytes > 8) return false;
        memcpy(at, p->kind == PARAM_SHAPE ? &l->shape[p->axis] : &l->strides[p->axis], p->bytes);
        return true;
    case PARAM_SCALAR: {
        bool pair = dt_is_complex((DType)l->dtype);
        unsigned part = dtype_bytes(dtype_info[l->dtype].part);
        if (l->is_array || l->record || p->bytes != part || p->axis > pair) return false;
        memcpy(at, (const char *)l->bits + p->axis * part, part);
        return true;
    }
    case PARAM_RECORD: {
        uint32_t from = p->axis * 8u;
        if (l->is_array || !l->record || p->bytes != 8 || from >= l->record->bytes) return false;
        uint32_t left = l->record->bytes - from;
        memset(at, 0, 8);
        memcpy(at, (const char *)l->data + from, left < 8 ? left : 8);
        return true;
    }
    case PARAM_CAPTURED: break;
    }
    return false;
}

int args_pack(const Bound *b, const Image *image, void *buffer) {
    for (uint32_t i = 0; i < image->nparams; i++) {
        const ImageParam *p = &image->params[i];
        if (p->kind == PARAM_CAPTURED) continue; /* captures_pack() */
        if (p->leaf < b->nleaves && pack_one(&b->leaves[p->leaf], p, (char *)buffer + p->offset)) continue;
        PyErr_Format(PyExc_SystemError,
                     "%U(): parameter %u of the compiled code (kind %d, leaf %d, %d bytes) doesn't match the arguments",
                     b->kernel->name, i, p->kind, p->leaf, p->bytes);
        return -1;
    }
    return 0;
}
