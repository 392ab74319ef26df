/* types.c - _core.Type: the type of one kernel argument as a Python object, for signatures and `specializations`. */
#include "core.h"

static const char *const kind_names[] = {[ARG_NONE] = "none",         [ARG_WEAK_BOOL] = "weak_bool",
                                         [ARG_WEAK_INT] = "weak_int", [ARG_WEAK_FLOAT] = "weak_float",
                                         [ARG_SCALAR] = "scalar",     [ARG_WEAK_COMPLEX] = "weak_complex",
                                         [ARG_ARRAY] = "array",       [ARG_RECORD] = "record",
                                         [ARG_TUPLE] = "tuple",       [ARG_OBJECT] = "object",
                                         [ARG_TEXT] = "text",         [ARG_POINTER] = "pointer"};
enum { KINDS = sizeof kind_names / sizeof *kind_names };

static const char *const layout_names[] = {[LAYOUT_C] = "C", [LAYOUT_F] = "F", [LAYOUT_A] = "A"};
enum { LAYOUTS = sizeof layout_names / sizeof *layout_names };

static int index_of(const char *const *names, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

DType dtype_from_name(const char *name) {
    for (DType d = DT_BOOL; d < DT__COUNT; d++)
        if (strcmp(dtype_info[d].name, name) == 0) return d;
    return DT_NONE;
}

static bool has_dtype(const ArgType *t) {
    return t->kind == ARG_SCALAR || t->kind == ARG_ARRAY || t->kind == ARG_RECORD || t->kind == ARG_POINTER;
}

static bool fields_same(const ArgType *a, const ArgType *b) {
    if (!a->fields || !b->fields) return a->fields == b->fields;
    for (uint32_t i = 0; i < a->nitems; i++)
        if (strcmp(a->fields[i], b->fields[i]) != 0) return false;
    return true;
}

bool argtype_same(const ArgType *a, const ArgType *b) {
    if (a->kind != b->kind) return false;
    switch ((ArgKind)a->kind) {
    case ARG_POINTER:
    case ARG_SCALAR: return a->dtype == b->dtype;
    case ARG_ARRAY:
        return a->dtype == b->dtype && a->record == b->record && a->align == b->align && a->ndim == b->ndim &&
               a->layout == b->layout && a->readonly == b->readonly;
    case ARG_RECORD: return a->record == b->record && a->align == b->align && a->readonly == b->readonly;
    case ARG_OBJECT: return a->object == b->object;
    case ARG_TEXT:
    case ARG_TUPLE:
        if (a->nitems != b->nitems || a->object != b->object || !fields_same(a, b)) return false;
        for (uint32_t i = 0; i < a->nitems; i++)
            if (!argtype_same(&a->items[i], &b->items[i])) return false;
        return true;
    case ARG_NONE:
    case ARG_WEAK_BOOL:
    case ARG_WEAK_INT:
    case ARG_WEAK_FLOAT:
    case ARG_WEAK_COMPLEX: return true;
    }
    return false;
}

/* ---- construction ------------------------------------------------------------------------------ */

/* Makes room for n items; their types and the fields' names are then filled in. */
static int take_items(TypeObject *self, PyObject *items, PyObject *fields) {
    Py_ssize_t n = PyTuple_GET_SIZE(items);
    self->item_types = Py_NewRef(items);
    self->items = PyMem_Calloc((size_t)n + 1, sizeof *self->items);
    if (!self->items) return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PyTuple_GET_ITEM(items, i);
        if (!PyObject_TypeCheck(item, &Type_Type)) {
            PyErr_Format(PyExc_TypeError, "Type: items are Types, and item %zd is %.80s", i, Py_TYPE(item)->tp_name);
            return -1;
        }
        self->items[i] = ((TypeObject *)item)->type;
    }
    self->type.items = self->items;
    self->type.nitems = (uint32_t)n;
    if (!fields) return 0;
    self->fields = Py_NewRef(fields);
    if (PyTuple_GET_SIZE(fields) != n) {
        PyErr_SetString(PyExc_ValueError, "Type: as many fields as items are needed");
        return -1;
    }
    self->names = PyMem_Calloc((size_t)n + 1, sizeof *self->names);
    if (!self->names) return PyErr_NoMemory(), -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        self->names[i] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(fields, i));
        if (!self->names[i]) return -1;
    }
    self->type.fields = self->names;
    return 0;
}

/* A name, or for arrays and records a structured dtype. */
static int read_type_dtype(ArgType *t, PyObject *dtype) {
    const char *name = PyUnicode_Check(dtype) ? PyUnicode_AsUTF8(dtype) : NULL;
    DType d = name ? dtype_from_name(name) : DT_NONE;
    if (d == DT_NONE && dtype != Py_None && !PyUnicode_Check(dtype)) d = numpy_dtype_of(dtype, &t->record);
    bool fits = t->kind == ARG_ARRAY || (t->kind == ARG_RECORD) == (t->record != NULL);
    if (PyErr_Occurred()) return -1;
    if (d == DT_NONE || !fits)
        return PyErr_Format(PyExc_ValueError, "Type: %s takes a %sdtype, not %R", kind_names[t->kind],
                            t->kind == ARG_RECORD ? "structured " : "", dtype),
               -1;
    t->dtype = (uint8_t)d;
    if (t->record) t->align = (uint8_t)t->record->align;
    return 0;
}

static int read_enums(ArgType *t, const char *kind, PyObject *dtype, int ndim, const char *layout) {
    int k = index_of(kind_names, KINDS, kind), l = index_of(layout_names, LAYOUTS, layout);
    if (k < 0) return PyErr_Format(PyExc_ValueError, "Type: unknown kind '%s'", kind), -1;
    if (l < 0) return PyErr_Format(PyExc_ValueError, "Type: layout is C, F or A, and this is '%s'", layout), -1;
    if (ndim < 0 || ndim > MAX_DIMS)
        return PyErr_Format(PyExc_ValueError, "Type: an array has 0 to %d dimensions, and this has %d", MAX_DIMS, ndim),
               -1;
    t->kind = (uint8_t)k;
    t->dtype = DT_NONE;
    if (!has_dtype(t)) return 0;
    if (read_type_dtype(t, dtype) < 0) return -1;
    if (t->kind == ARG_ARRAY) {
        t->ndim = (uint8_t)ndim;
        t->layout = (uint8_t)(ndim <= 1 && l == LAYOUT_F ? LAYOUT_C : l); /* one dimension: the same thing */
    }
    return 0;
}

static PyObject *type_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"kind", "dtype", "ndim", "layout", "readonly", "items", "fields", "object", NULL};
    const char *kind, *layout = "C";
    int ndim = 0, readonly = 0;
    PyObject *dtype = Py_None, *items = NULL, *fields = Py_None, *object = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|OispOOO", names, &kind, &dtype, &ndim, &layout, &readonly, &items,
                                     &fields, &object))
        return NULL;
    TypeObject *self = (TypeObject *)cls->tp_alloc(cls, 0);
    if (!self) return NULL;
    self->hash = -1;
    PyObject *item_tuple = NULL, *field_tuple = NULL;
    if (read_enums(&self->type, kind, dtype, ndim, layout) < 0) goto error;
    self->type.readonly = (self->type.kind == ARG_ARRAY || self->type.kind == ARG_RECORD) && readonly;
    item_tuple = items && self->type.kind == ARG_TUPLE ? PySequence_Tuple(items) : PyTuple_New(0);
    if (!item_tuple) goto error;
    if (fields != Py_None && self->type.kind == ARG_TUPLE && !(field_tuple = PySequence_Tuple(fields))) goto error;
    if (take_items(self, item_tuple, field_tuple) < 0) goto error;
    bool of_class = self->type.kind == ARG_TUPLE && PyType_Check(object);
    if (self->type.kind == ARG_OBJECT || of_class) {
        self->object = Py_NewRef(object);
        self->type.object = (HostRef)object;
    }
    if (of_class) self->type.form = (uint8_t)form_of_class(object);
    Py_DECREF(item_tuple);
    Py_XDECREF(field_tuple);
    return (PyObject *)self;
error:
    Py_XDECREF(item_tuple);
    Py_XDECREF(field_tuple);
    Py_DECREF(self);
    return NULL;
}

PyObject *types_from_argtypes(const ArgType *t, uint32_t n) {
    PyObject *tuple = PyTuple_New(n);
    for (uint32_t i = 0; tuple && i < n; i++) {
        PyObject *item = type_from_argtype(&t[i]);
        if (!item) Py_CLEAR(tuple);
        else PyTuple_SET_ITEM(tuple, i, item);
    }
    return tuple;
}

static PyObject *field_tuple_of(const ArgType *t) {
    PyObject *tuple = PyTuple_New(t->nitems);
    for (uint32_t i = 0; tuple && i < t->nitems; i++) {
        PyObject *name = PyUnicode_FromString(t->fields[i]);
        if (!name) Py_CLEAR(tuple);
        else PyTuple_SET_ITEM(tuple, i, name);
    }
    return tuple;
}

PyObject *type_from_argtype(const ArgType *t) {
    TypeObject *self = (TypeObject *)Type_Type.tp_alloc(&Type_Type, 0);
    if (!self) return NULL;
    self->hash = -1;
    self->type = *t;
    self->type.items = NULL;
    self->type.fields = NULL;
    self->type.nitems = 0;
    PyObject *items = types_from_argtypes(t->items, t->nitems);
    PyObject *fields = t->fields ? field_tuple_of(t) : NULL;
    int status = items && (fields || !t->fields) ? take_items(self, items, fields) : -1;
    Py_XDECREF(items);
    Py_XDECREF(fields);
    if (t->kind == ARG_OBJECT || t->kind == ARG_TUPLE) self->object = Py_XNewRef((PyObject *)t->object);
    if (status < 0) Py_CLEAR(self);
    return (PyObject *)self;
}

static int type_traverse(TypeObject *self, visitproc visit, void *arg) {
    Py_VISIT(self->item_types);
    Py_VISIT(self->fields);
    Py_VISIT(self->object);
    return 0;
}

static void type_dealloc(TypeObject *self) {
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->item_types);
    Py_XDECREF(self->fields);
    Py_XDECREF(self->object);
    PyMem_Free(self->items);
    PyMem_Free(self->names);
    Py_TYPE(self)->tp_free(self);
}

/* ---- what can be asked ------------------------------------------------------------------------- */

static PyObject *type_richcompare(PyObject *a, PyObject *b, int op) {
    if ((op != Py_EQ && op != Py_NE) || !PyObject_TypeCheck(b, &Type_Type)) Py_RETURN_NOTIMPLEMENTED;
    return PyBool_FromLong(argtype_same(&((TypeObject *)a)->type, &((TypeObject *)b)->type) == (op == Py_EQ));
}

static Py_uhash_t hash_argtype(const ArgType *t, Py_uhash_t h) {
    Py_uhash_t bits = t->kind;
    if (has_dtype(t)) bits |= (Py_uhash_t)t->dtype << 8 ^ (Py_uhash_t)(uintptr_t)t->record << 4;
    if (t->kind == ARG_ARRAY)
        bits |= (Py_uhash_t)t->ndim << 16 | (Py_uhash_t)t->layout << 24 | (Py_uhash_t)t->readonly << 28;
    if (t->kind == ARG_OBJECT) bits ^= (Py_uhash_t)(uintptr_t)t->object >> 4;
    h = (h ^ bits) * 1099511628211u;
    for (uint32_t i = 0; i < t->nitems; i++) h = hash_argtype(&t->items[i], h);
    return h;
}

PyObject *types_from_key(const uint8_t *key, uint32_t size) {
    Arena arena;
    jmp_buf on_oom;
    arena_init(&arena, &on_oom);
    PyObject *types = NULL;
    if (setjmp(on_oom) == 0) {
        uint32_t n;
        ArgType *t = key_types(&arena, key, size, &n);
        types = types_from_argtypes(t, n);
    } else PyErr_NoMemory();
    arena_free(&arena);
    return types;
}

static Py_hash_t type_hash(TypeObject *self) {
    if (self->hash == -1) {
        self->hash = (Py_hash_t)hash_argtype(&self->type, 14695981039346656037u);
        if (self->hash == -1) self->hash = -2;
    }
    return self->hash;
}

static PyObject *type_repr(TypeObject *self) {
    Arena arena;
    jmp_buf on_oom;
    arena_init(&arena, &on_oom);
    PyObject *text = NULL;
    if (setjmp(on_oom) == 0) text = PyUnicode_FromString(argtype_text(&arena, &self->type));
    else PyErr_NoMemory();
    arena_free(&arena);
    return text;
}

static PyObject *get_kind(TypeObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(kind_names[self->type.kind]);
}

static PyObject *get_dtype(TypeObject *self, void *unused) {
    (void)unused;
    if (!has_dtype(&self->type)) Py_RETURN_NONE;
    if (self->type.record) return Py_NewRef(record_dtype(self->type.record));
    PyObject *module = PyImport_ImportModule("gpu._dtypes");
    PyObject *name = module ? PyObject_CallMethod(module, "DTypeName", "s", dtype_info[self->type.dtype].name) : NULL;
    Py_XDECREF(module);
    return name;
}

static PyObject *get_layout(TypeObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(layout_names[self->type.layout]);
}

static PyObject *get_ndim(TypeObject *self, void *unused) {
    (void)unused;
    return PyLong_FromLong(self->type.ndim);
}

static PyObject *get_readonly(TypeObject *self, void *unused) {
    (void)unused;
    return PyBool_FromLong(self->type.readonly);
}

static PyObject *get_items(TypeObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(self->item_types);
}

static PyObject *get_fields(TypeObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(self->fields ? self->fields : Py_None);
}

static PyObject *get_object(TypeObject *self, void *unused) {
    (void)unused;
    return Py_NewRef(self->object ? self->object : Py_None);
}

static PyGetSetDef type_getset[] = {{"kind", (getter)get_kind, NULL, NULL, NULL},
                                    {"dtype", (getter)get_dtype, NULL, NULL, NULL},
                                    {"ndim", (getter)get_ndim, NULL, NULL, NULL},
                                    {"layout", (getter)get_layout, NULL, NULL, NULL},
                                    {"readonly", (getter)get_readonly, NULL, NULL, NULL},
                                    {"items", (getter)get_items, NULL, NULL, NULL},
                                    {"fields", (getter)get_fields, NULL, NULL, NULL},
                                    {"object", (getter)get_object, NULL, NULL, NULL},
                                    {NULL, NULL, NULL, NULL, NULL}};

PyTypeObject Type_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gpu._core.Type",
    .tp_basicsize = sizeof(TypeObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "The type of one kernel argument; immutable.",
    .tp_new = type_new,
    .tp_dealloc = (destructor)type_dealloc,
    .tp_traverse = (traverseproc)type_traverse,
    .tp_richcompare = type_richcompare,
    .tp_hash = (hashfunc)type_hash,
    .tp_repr = (reprfunc)type_repr,
    .tp_getset = type_getset,
};
