/* foreign.c - what declared functions come with, as gpu._foreign read it: code to link, addresses in this process. */
#include "core.h"

enum { LINK_SOURCE = LINK_LLVM + 1 }; /* CUDA C, which gpu._hostcc makes a library of for the CPU */

/* A tuple (kind, bytes, name), in memory that the tuple holds. */
static int read_link(PyObject *item, ForeignLink *out) {
    int kind;
    Py_ssize_t size;
    const char *data;
    if (!PyArg_ParseTuple(item, "iy#s", &kind, &data, &size, &out->name)) return -1;
    out->kind = (uint8_t)kind;
    out->data = data;
    out->size = (size_t)size;
    return 0;
}

typedef struct Links {
    ForeignLink *at;
    uint32_t n, cap;
    PyObject *sources; /* a list of those that are CUDA C */
} Links;

/* Several declarations may come with one file. */
static bool is_there(const Links *l, const ForeignLink *link) {
    for (uint32_t i = 0; i < l->n; i++) {
        const ForeignLink *other = &l->at[i];
        if (other->kind == link->kind && other->size == link->size && memcmp(other->data, link->data, link->size) == 0)
            return true;
    }
    return false;
}

/* The links of a tuple that aren't there yet. */
static int add_links(Links *l, Arena *a, PyObject *tuple) {
    for (Py_ssize_t i = 0; tuple && i < PyTuple_GET_SIZE(tuple); i++) {
        ForeignLink link;
        if (read_link(PyTuple_GET_ITEM(tuple, i), &link) < 0) return -1;
        if (link.kind == LINK_SOURCE) {
            if (PyList_Append(l->sources, PyTuple_GET_ITEM(tuple, i)) < 0) return -1;
        } else if (!is_there(l, &link)) VEC_PUSH(a, l, link);
    }
    return 0;
}

/* The tuple stays alive: the declaration holds it, and the compilation the declaration. */
static int links_of(Links *l, Arena *a, PyObject *declared) {
    PyObject *tuple = PyObject_GetAttrString(declared, "_links");
    int status = tuple ? add_links(l, a, tuple) : -1;
    Py_XDECREF(tuple);
    return status;
}

/* The address of a function of CUDA C, or None. */
static PyObject *address_in_sources(PyObject *sources, const char *symbol) {
    if (!PyList_GET_SIZE(sources)) return Py_NewRef(Py_None);
    PyObject *module = PyImport_ImportModule("gpu._hostcc"), *all = module ? PyList_AsTuple(sources) : NULL;
    PyObject *address = all ? PyObject_CallMethod(module, "address", "Os", all, symbol) : NULL;
    Py_XDECREF(all);
    Py_XDECREF(module);
    return address;
}

static int address_of(const IrForeign *f, PyObject *sources, ForeignSymbol *out) {
    PyObject *address = PyObject_GetAttrString(f->host_ref, "_address");
    if (address == Py_None && sources) Py_SETREF(address, address_in_sources(sources, f->symbol));
    out->name = f->symbol;
    out->address = address && address != Py_None ? (uintptr_t)PyLong_AsUnsignedLongLong(address) : 0;
    Py_XDECREF(address);
    return PyErr_Occurred() ? -1 : 0;
}

static int fill_in(Compilation *c, CompileOptions *o, Links *l, ForeignSymbol *symbols) {
    const IrModule *m = c->module;
    for (uint32_t i = 0; i < m->foreign.n; i++)
        if (links_of(l, &c->arena, m->foreign.at[i].host_ref) < 0) return -1;
    PyObject *of_kernel = PyDict_GetItemString(c->kernel->options, "link"); /* borrowed */
    if (of_kernel && PyTuple_Check(of_kernel) && add_links(l, &c->arena, of_kernel) < 0) return -1;
    for (uint32_t i = 0; i < m->foreign.n; i++) {
        PyObject *sources = o->target == TARGET_CPU ? l->sources : NULL;
        if (address_of(&m->foreign.at[i], sources, &symbols[o->nsymbols]) < 0) return -1;
        o->nsymbols += symbols[o->nsymbols].address != 0;
    }
    o->links = l->at;
    o->nlinks = l->n;
    o->symbols = symbols;
    return 0;
}

int foreign_options(Compilation *c, CompileOptions *o) {
    const IrModule *m = c->module;
    jmp_buf on_oom, *outer = c->arena.on_oom;
    Links links = {.sources = NULL};
    volatile int status = -1;
    if (!m->foreign.n) return 0;
    if (!(links.sources = PyList_New(0))) return -1;
    c->arena.on_oom = &on_oom;
    if (setjmp(on_oom) == 0) status = fill_in(c, o, &links, ARENA_ARRAY(&c->arena, ForeignSymbol, m->foreign.n));
    else PyErr_NoMemory();
    c->arena.on_oom = outer;
    Py_DECREF(links.sources);
    return status;
}
