/* key.c - the key of a specialisation: argument types as bytes, written at a launch, compared with memcmp, read back
 * when a specialisation is compiled. */
#include "core.h"

/*   kind
 *   SCALAR  kind dtype; POINTER the same
 *   ARRAY   kind dtype|askew<<7 ndim layout|readonly<<2, and of records: align record(pointer)
 *   RECORD  kind readonly align record(pointer)
 *   TUPLE   kind n(2 bytes) shape(pointer, or NULL) items...
 *   OBJECT  kind object(pointer) */

uint32_t key_put_array(uint8_t *at, const HostArray *a, unsigned align) {
    Layout layout = a->ndim <= 1 && a->layout == LAYOUT_F ? LAYOUT_C : a->layout; /* one dimension: the same thing */
    at[0] = ARG_ARRAY;
    at[1] = (uint8_t)((unsigned)a->dtype | (a->askew ? (unsigned)KEY_ASKEW : 0u));
    at[2] = a->ndim;
    at[3] = (uint8_t)(layout | a->readonly << 2);
    if (!a->record) return 4;
    at[4] = (uint8_t)align;
    memcpy(at + 5, &a->record, sizeof a->record);
    return 5 + sizeof a->record;
}

uint32_t key_put_record(uint8_t *at, const Record *r, unsigned align, bool readonly) {
    at[0] = ARG_RECORD;
    at[1] = readonly;
    at[2] = (uint8_t)align;
    memcpy(at + 3, &r, sizeof r);
    return KEY_RECORD_BYTES;
}

enum { MOST_CONSTANTS = 1000 };

/* Each is compiled for and kept as long as the kernel: what changes with every launch must not become one. */
static PyObject *new_constant(KernelObject *k, PyObject *pair, PyObject *o) {
    if (PyDict_GET_SIZE(k->constants) < MOST_CONSTANTS) return PyDict_SetDefault(k->constants, pair, o);
    PyErr_Format(
        PyExc_ValueError,
        "%U() was given %d different functions, strings or other constants, and each needs code of its own; pass "
        "what changes from launch to launch as a number or an array. The latest is %.200R",
        k->name, MOST_CONSTANTS, o);
    return NULL;
}

/* Equal values of different classes (1 and True, "a" and an enum member) are different constants. */
PyObject *key_constant(KernelObject *k, PyObject *o) {
    PyObject *pair = PyTuple_Pack(2, (PyObject *)Py_TYPE(o), o);
    if (!pair) return NULL;
    PyObject *found = PyDict_GetItemWithError(k->constants, pair);
    if (!found && !PyErr_Occurred()) found = new_constant(k, pair, o);
    Py_DECREF(pair);
    return found;
}

static const char **read_fields(Arena *a, PyObject *fields) {
    Py_ssize_t n = PyTuple_GET_SIZE(fields);
    const char **names = ARENA_ARRAY(a, const char *, n + 1);
    for (Py_ssize_t i = 0; i < n; i++) {
        const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(fields, i));
        names[i] = name ? name : "";
        if (!name) PyErr_Clear();
    }
    return names;
}

/* A shape says what the items are parts of. NULL: a tuple. A class: a named tuple, a functools.partial. A tuple (class,
 * names): an instance, a dict. A tuple of names: a named tuple of any class. */
static void read_shape(Arena *a, PyObject *shape, ArgType *out) {
    if (!shape) return;
    PyObject *names = NULL, *cls = NULL;
    if (PyType_Check(shape)) cls = shape;
    else if (PyTuple_GET_SIZE(shape) == 2 && PyType_Check(PyTuple_GET_ITEM(shape, 0))) {
        cls = PyTuple_GET_ITEM(shape, 0);
        names = PyTuple_GET_ITEM(shape, 1);
    } else names = shape;
    out->object = (HostRef)cls;
    out->form = (uint8_t)form_of_class(cls);
    if (names) out->fields = read_fields(a, names);
    if (names || out->form != FORM_TUPLE) return;
    names = PyObject_GetAttrString(cls, "_fields");
    if (names && PyTuple_Check(names)) out->fields = read_fields(a, names);
    Py_XDECREF(names);
    PyErr_Clear();
}

ArgForm form_of_class(PyObject *cls) {
    if (!cls || PyType_IsSubtype((PyTypeObject *)cls, &PyTuple_Type)) return FORM_TUPLE;
    if (cls == (PyObject *)&PyDict_Type) return FORM_DICT;
    return strcmp(((PyTypeObject *)cls)->tp_name, "functools.partial") == 0 ? FORM_PARTIAL : FORM_INSTANCE;
}

/* The shape of items of an object; a new reference, or NULL with an exception if that is set. */
PyObject *key_shape(PyObject *cls, PyObject *names) {
    if (!cls) return Py_XNewRef(names);
    ArgForm form = form_of_class(cls);
    return form == FORM_TUPLE || form == FORM_PARTIAL ? Py_NewRef(cls) : PyTuple_Pack(2, cls, names);
}

static void *read_pointer(const uint8_t *at) {
    void *p;
    memcpy(&p, at, sizeof p);
    return p;
}

bool key_read(KeyReader *r, Arena *a, ArgType *out) {
    if (r->at >= r->end) return false;
    memset(out, 0, sizeof *out);
    out->kind = *r->at;
    out->dtype = DT_NONE;
    switch ((ArgKind)out->kind) {
    case ARG_POINTER:
    case ARG_SCALAR:
        out->dtype = r->at[1];
        r->at += KEY_SCALAR_BYTES;
        return true;
    case ARG_ARRAY:
        out->dtype = r->at[1] & (KEY_ASKEW - 1u);
        out->align = r->at[1] >= KEY_ASKEW;
        out->ndim = r->at[2];
        out->layout = r->at[3] & 3;
        out->readonly = r->at[3] >> 2;
        r->at += 4;
        if (out->dtype != DT_RECORD) return true;
        out->align = r->at[0];
        out->record = read_pointer(r->at + 1);
        r->at += 1 + sizeof(void *);
        return true;
    case ARG_RECORD:
        out->dtype = DT_RECORD;
        out->readonly = r->at[1];
        out->align = r->at[2];
        out->record = read_pointer(r->at + 3);
        r->at += KEY_RECORD_BYTES;
        return true;
    case ARG_OBJECT:
        out->object = read_pointer(r->at + 1);
        r->at += KEY_OBJECT_BYTES;
        return true;
    case ARG_TUPLE: {
        out->nitems = (uint32_t)(r->at[1] | r->at[2] << 8);
        read_shape(a, read_pointer(r->at + 3), out);
        r->at += KEY_TUPLE_BYTES;
        ArgType *items = ARENA_ARRAY(a, ArgType, out->nitems + 1);
        for (uint32_t i = 0; i < out->nitems; i++) key_read(r, a, &items[i]);
        out->items = items;
        return true;
    }
    case ARG_NONE:
    case ARG_WEAK_BOOL:
    case ARG_WEAK_INT:
    case ARG_WEAK_FLOAT:
    case ARG_WEAK_COMPLEX: r->at++; return true;
    case ARG_TEXT: break; /* no argument is one */
    }
    return false;
}

ArgType *key_types(Arena *a, const uint8_t *key, uint32_t size, uint32_t *n) {
    KeyReader r = {key, key + size};
    ArgType *types = ARENA_ARRAY(a, ArgType, MAX_ARGS + 1);
    *n = 0;
    while (*n < MAX_ARGS && key_read(&r, a, &types[*n])) ++*n;
    return types;
}

uint32_t key_leaves(const ArgType *t, uint32_t n) {
    uint32_t leaves = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (t[i].kind == ARG_TUPLE) leaves += key_leaves(t[i].items, t[i].nitems);
        else leaves += t[i].kind != ARG_NONE && t[i].kind != ARG_OBJECT;
    }
    return leaves;
}

static bool has_i64(const ArgType *t, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (t[i].kind == ARG_WEAK_INT || (t[i].kind == ARG_SCALAR && t[i].dtype == DT_I64)) return true;
        if (t[i].kind == ARG_TUPLE && has_i64(t[i].items, t[i].nitems)) return true;
    }
    return false;
}

uint32_t key_usual_facts(const uint8_t *key, uint32_t size) {
    Arena arena;
    uint32_t n, facts = FACT_SIZE32 | FACT_ALIGN16 | FACT_NOALIAS;
    arena_init(&arena, NULL);
    const ArgType *types = key_types(&arena, key, size, &n);
    if (has_i64(types, n)) facts |= FACT_COUNTS;
    arena_free(&arena);
    return facts;
}

/* ---- from Type objects ------------------------------------------------------------------------- */

typedef struct KeyBuffer {
    uint8_t *at;
    uint32_t n, cap;
} KeyBuffer;

static uint8_t *room(KeyBuffer *b, uint32_t n) {
    if (b->n + n > b->cap) {
        uint32_t cap = 2 * b->cap + n + 64;
        uint8_t *at = PyMem_Realloc(b->at, cap);
        if (!at) return (uint8_t *)PyErr_NoMemory();
        b->at = at;
        b->cap = cap;
    }
    b->n += n;
    return b->at + b->n - n;
}

static int put_pointer(KernelObject *k, uint8_t *at, PyObject *o) {
    PyObject *constant = o ? key_constant(k, o) : NULL;
    if (o && !constant) return -1;
    memcpy(at, &constant, sizeof constant);
    return 0;
}

static int put_shape(KernelObject *k, uint8_t *at, const TypeObject *t) {
    PyObject *shape = key_shape(t->object, t->fields);
    if (!shape && PyErr_Occurred()) return -1;
    int status = put_pointer(k, at, shape);
    Py_XDECREF(shape);
    return status;
}

static int put_type(KernelObject *k, KeyBuffer *b, TypeObject *t) {
    const ArgType *type = &t->type;
    uint8_t *at = room(b, KEY_MOST_BYTES);
    if (!at) return -1;
    at[0] = type->kind;
    uint32_t size = 1;
    switch ((ArgKind)type->kind) {
    case ARG_POINTER:
    case ARG_SCALAR:
        at[1] = type->dtype;
        size = KEY_SCALAR_BYTES;
        break;
    case ARG_ARRAY:
        size = key_put_array(at,
                             &(HostArray){.dtype = (DType)type->dtype,
                                          .record = type->record,
                                          .ndim = type->ndim,
                                          .layout = (Layout)type->layout,
                                          .askew = !type->record && type->align,
                                          .readonly = type->readonly},
                             type->align);
        break;
    case ARG_RECORD: size = key_put_record(at, type->record, type->align, type->readonly); break;
    case ARG_OBJECT:
        if (put_pointer(k, at + 1, t->object) < 0) return -1;
        size = KEY_OBJECT_BYTES;
        break;
    case ARG_TUPLE:
        at[1] = (uint8_t)type->nitems;
        at[2] = (uint8_t)(type->nitems >> 8);
        if (put_shape(k, at + 3, t) < 0) return -1;
        size = KEY_TUPLE_BYTES;
        break;
    default: break;
    }
    b->n -= KEY_MOST_BYTES - size;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(t->item_types); i++)
        if (put_type(k, b, (TypeObject *)PyTuple_GET_ITEM(t->item_types, i)) < 0) return -1;
    return 0;
}

uint8_t *key_from_types(KernelObject *k, PyObject *types, uint32_t *size) {
    KeyBuffer b = {NULL, 0, 0};
    if (!PyTuple_Check(types)) {
        PyErr_Format(PyExc_TypeError, "a tuple of Types is needed, and this is %.80s", Py_TYPE(types)->tp_name);
        return NULL;
    }
    if (!room(&b, 1)) return NULL; /* so that no types aren't a NULL key */
    b.n = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(types); i++) {
        PyObject *type = PyTuple_GET_ITEM(types, i);
        if (!PyObject_TypeCheck(type, &Type_Type)) {
            PyErr_Format(PyExc_TypeError, "a tuple of Types is needed, and item %zd is %.80s", i,
                         Py_TYPE(type)->tp_name);
            goto error;
        }
        if (put_type(k, &b, (TypeObject *)type) < 0) goto error;
    }
    *size = b.n;
    return b.at;
error:
    PyMem_Free(b.at);
    return NULL;
}
