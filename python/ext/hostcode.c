/* hostcode.c - the parts of a code object, for the frontend. See HostCode in frontend/host.h. */
#include "core.h"

static const char *name_text(PyHost *h, PyObject *o) {
    const char *s = PyUnicode_Check(o) ? PyUnicode_AsUTF8(o) : NULL;
    host_failed();
    return arena_strdup(h->arena, s ? s : "?");
}

/* A tuple of names; `ascii` becomes false if one has other characters. */
static const char **names_of(PyHost *h, PyObject *code, const char *attr, size_t *n, bool *ascii) {
    PyObject *tuple = PyObject_GetAttrString(code, attr);
    *n = tuple && PyTuple_Check(tuple) ? (size_t)PyTuple_GET_SIZE(tuple) : 0;
    const char **names = ARENA_ARRAY(h->arena, const char *, *n + 1);
    for (size_t i = 0; i < *n; i++) {
        PyObject *name = PyTuple_GET_ITEM(tuple, (Py_ssize_t)i);
        names[i] = name_text(h, name);
        if (PyUnicode_Check(name) && !PyUnicode_IS_ASCII(name)) *ascii = false;
    }
    Py_XDECREF(tuple);
    host_failed();
    return names;
}

static const char *text_of(PyHost *h, PyObject *code, const char *attr) {
    PyObject *value = PyObject_GetAttrString(code, attr);
    const char *s = value ? name_text(h, value) : "?";
    Py_XDECREF(value);
    host_failed();
    return s;
}

static const uint8_t *bytes_of(PyHost *h, PyObject *code, const char *attr, size_t *n) {
    PyObject *value = PyObject_GetAttrString(code, attr);
    uint8_t *copy = NULL;
    *n = 0;
    if (value && PyBytes_Check(value)) {
        *n = (size_t)PyBytes_GET_SIZE(value);
        copy = arena_alloc(h->arena, *n + 1);
        memcpy(copy, PyBytes_AS_STRING(value), *n);
    }
    Py_XDECREF(value);
    host_failed();
    return copy;
}

static void consts_of(PyHost *h, PyObject *code, HostCode *out, bool *ascii) {
    PyObject *consts = PyObject_GetAttrString(code, "co_consts");
    out->nconsts = consts ? (size_t)PyTuple_GET_SIZE(consts) : 0;
    out->consts = ARENA_ARRAY(h->arena, HostRef, out->nconsts + 1);
    for (size_t i = 0; i < out->nconsts; i++) {
        PyObject *o = PyTuple_GET_ITEM(consts, (Py_ssize_t)i);
        out->consts[i] = host_ref(h, o);
        if (PyUnicode_Check(o) && !PyUnicode_IS_ASCII(o)) *ascii = false;
    }
    Py_XDECREF(consts);
    host_failed();
}

/* ---- positions --------------------------------------------------------------------------------- */

#if PY_VERSION_HEX >= 0x030B0000

/* CPython counts bytes of UTF-8, messages count characters. */
static uint32_t characters(const char *line, uint32_t bytes) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < bytes && line[i]; i++) n += ((unsigned char)line[i] & 0xC0) != 0x80;
    return n;
}

static void to_characters(PyHost *h, const HostCode *out, uint32_t p[4]) {
    for (int i = 0; i < 2; i++) {
        const char *line = p[i] && p[i + 2] ? h->host.source_line(h, out->file, p[i]) : NULL;
        if (line) p[i + 2] = 1 + characters(line, p[i + 2] - 1);
    }
}

static uint32_t number(PyObject *o, uint32_t add) {
    if (!o || o == Py_None) return 0;
    unsigned long v = PyLong_AsUnsignedLong(o);
    if (PyErr_Occurred()) {
        host_failed();
        return 0;
    }
    return (uint32_t)v + add;
}

static void positions_of(PyHost *h, PyObject *code, HostCode *out, bool ascii) {
    size_t units = out->code_size / 2, i = 0;
    uint32_t(*at)[4] = arena_alloc(h->arena, (units + 1) * sizeof *at);
    PyObject *all = PyObject_CallMethod(code, "co_positions", NULL);
    PyObject *iterator = all ? PyObject_GetIter(all) : NULL, *item;
    while (iterator && i < units && (item = PyIter_Next(iterator))) {
        if (PyTuple_Check(item) && PyTuple_GET_SIZE(item) == 4) /* line, end line, column, end column */
            for (int k = 0; k < 4; k++) at[i][k] = number(PyTuple_GET_ITEM(item, k), k >= 2);
        Py_DECREF(item);
        i++;
    }
    Py_XDECREF(iterator);
    Py_XDECREF(all);
    host_failed();
    for (i = 0; !ascii && i < units; i++) to_characters(h, out, at[i]);
    out->positions = (const uint32_t(*)[4])at;
}

#else

/* 3.10 knows lines only: ranges of byte offsets. */
static void positions_of(PyHost *h, PyObject *code, HostCode *out, bool ascii) {
    (void)ascii;
    size_t units = out->code_size / 2;
    uint32_t(*at)[4] = arena_alloc(h->arena, (units + 1) * sizeof *at);
    PyObject *all = PyObject_CallMethod(code, "co_lines", NULL);
    PyObject *iterator = all ? PyObject_GetIter(all) : NULL, *item;
    while (iterator && (item = PyIter_Next(iterator))) {
        unsigned long first, last;
        PyObject *line;
        if (PyArg_ParseTuple(item, "kkO", &first, &last, &line) && line != Py_None) {
            unsigned long number = PyLong_AsUnsignedLong(line);
            for (size_t i = first / 2; i < last / 2 && i < units && !PyErr_Occurred(); i++)
                at[i][0] = at[i][1] = (uint32_t)number;
        }
        Py_DECREF(item);
        host_failed();
    }
    Py_XDECREF(iterator);
    Py_XDECREF(all);
    host_failed();
    out->positions = (const uint32_t(*)[4])at;
}

#endif

/* pytest rewrites the asserts of test modules; a kernel there is compiled from its source. */
static PyObject *pristine_code(PyHost *h, PyObject *function) {
    PyObject *code = PyFunction_GET_CODE(function);
    if (!PyDict_GetItemString(PyFunction_GET_GLOBALS(function), "@pytest_ar")) return code;
    PyObject *module = PyImport_ImportModule("gpu._pristine");
    PyObject *found = module ? PyObject_CallMethod(module, "pristine", "O", code) : NULL;
    Py_XDECREF(module);
    host_failed();
    HostRef pinned = host_ref(h, found);
    Py_XDECREF(found);
    return pinned ? (PyObject *)pinned : code;
}

/* ---- the whole --------------------------------------------------------------------------------- */

bool host_code(void *self, HostRef function_or_code, HostCode *out) {
    PyHost *h = self;
    PyObject *o = (PyObject *)function_or_code, *f = host_function_of(o);
    memset(out, 0, sizeof *out);
    if (!f && !PyCode_Check(o)) return false;
    PyObject *code = f ? pristine_code(h, f) : o;
    const PyCodeObject *c = (const PyCodeObject *)code;
    bool ascii = true;
    out->version = PY_MAJOR_VERSION * 100 + PY_MINOR_VERSION;
    out->code = bytes_of(h, code, "co_code", &out->code_size);
#if PY_VERSION_HEX >= 0x030B0000
    out->exception_table = bytes_of(h, code, "co_exceptiontable", &out->exception_table_size);
#endif
    consts_of(h, code, out, &ascii);
    out->names = names_of(h, code, "co_names", &out->nnames, &ascii);
    out->varnames = names_of(h, code, "co_varnames", &out->nvarnames, &ascii);
    out->cellvars = names_of(h, code, "co_cellvars", &out->ncellvars, &ascii);
    out->freevars = names_of(h, code, "co_freevars", &out->nfreevars, &ascii);
#if PY_VERSION_HEX >= 0x030B0000
    out->nlocalsplus = (size_t)PyTuple_GET_SIZE(c->co_localsplusnames);
    out->localsplus = ARENA_ARRAY(h->arena, const char *, out->nlocalsplus + 1);
    for (size_t i = 0; i < out->nlocalsplus; i++)
        out->localsplus[i] = name_text(h, PyTuple_GET_ITEM(c->co_localsplusnames, (Py_ssize_t)i));
#endif
    out->argcount = (uint32_t)c->co_argcount;
    out->posonlyargcount = (uint32_t)c->co_posonlyargcount;
    out->kwonlyargcount = (uint32_t)c->co_kwonlyargcount;
    out->flags = (uint32_t)c->co_flags;
    out->first_line = (uint32_t)c->co_firstlineno;
    out->file = text_of(h, code, "co_filename");
    out->name = text_of(h, code, "co_name");
    out->qualname = text_of(h, code, PY_VERSION_HEX >= 0x030B0000 ? "co_qualname" : "co_name");
    if (f) {
        const char *module = text_of(h, f, "__module__");
        out->qualname = text_of(h, f, "__qualname__");
        out->library = module && host_is_for_kernels(module);
    }
    positions_of(h, code, out, ascii);
    return out->code != NULL;
}
