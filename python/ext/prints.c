/* prints.c - what kernels printed, and the values of their exceptions, as Python objects.
 *
 * Records have numbers; the types that go with them were kept when the kernel was compiled. gpu._messages makes values
 * of both and lets Python format them. */
#include "core.h"

static PyObject *messages(void) { return PyImport_ImportModule("gpu._messages"); }

/* A tuple for each print or raise: of its types, or None. */
static PyObject *types_of(const void *args, uint32_t nargs) {
    if (!args) return Py_NewRef(Py_None);
    return types_from_argtypes(args, nargs);
}

static PyObject *check(const KernelObject *k, PyObject *types, const IrModule *m, uint32_t span) {
    const IrSpan *s = &m->spans.at[span];
    PyObject *module = messages();
    PyObject *ok = module ? PyObject_CallMethod(module, "check", "OOsI", types, k->dialect_name,
                                                m->funcs.at[s->func].file, (unsigned)s->line)
                          : NULL;
    Py_XDECREF(module);
    return ok;
}

static int add(const KernelObject *k, PyObject *list, const IrModule *m, const void *args, uint32_t nargs,
               uint32_t span) {
    PyObject *types = types_of(args, nargs);
    PyObject *ok = types && types != Py_None ? check(k, types, m, span) : Py_XNewRef(types);
    int status = ok ? PyList_Append(list, types) : -1;
    Py_XDECREF(types);
    Py_XDECREF(ok);
    return status;
}

int prints_keep_types(Variant *v, const IrModule *m) {
    v->raises = PyList_New(0);
    v->prints = PyList_New(0);
    if (!v->raises || !v->prints) return -1;
    for (uint32_t i = 0; i < m->sites.n; i++) {
        const IrSite *s = &m->sites.at[i];
        if (add(v->kernel, v->raises, m, s->args, s->nargs, s->span) < 0) return -1;
    }
    for (uint32_t i = 0; i < m->prints.n; i++) {
        const IrPrint *p = &m->prints.at[i];
        if (add(v->kernel, v->prints, m, p->args, p->nargs, p->span) < 0) return -1;
    }
    return 0;
}

PyObject *prints_exception_args(const Variant *v, const ErrorRecord *e) {
    PyObject *types = PyList_GetItem(v->raises, e->site - 1); /* borrowed */
    if (!types) return NULL;
    PyObject *module = types != Py_None ? messages() : NULL;
    if (types == Py_None) return PyTuple_New(0);
    PyObject *args = module ? PyObject_CallMethod(module, "arguments", "OOy#", types, v->kernel->dialect_name,
                                                  (const char *)e->values, (Py_ssize_t)sizeof e->values)
                            : NULL;
    Py_XDECREF(module);
    return args;
}

/* ---- showing ----------------------------------------------------------------------------------- */

static const PrintRecord *next_record(const Printed *p, size_t *at) {
    if (*at >= p->bytes) return NULL;
    const PrintRecord *r = (const PrintRecord *)(p->records + *at);
    *at += sizeof *r + (r->words - 1) * sizeof(uint64_t);
    return r;
}

static const Variant *variant_of(const PrintRecord *r) { return (const Variant *)(uintptr_t)r->owner; }

/* (types, dialect, block, thread, values): what the record says, without a pointer to its variant. */
static PyObject *entry(const PrintRecord *r) {
    const Variant *v = variant_of(r);
    PyObject *types = PyList_GetItem(v->prints, r->site); /* borrowed */
    if (!types) return NULL;
    return Py_BuildValue("(OO(III)(III)y#)", types, v->kernel->dialect_name, r->block[0], r->block[1], r->block[2],
                         r->thread[0], r->thread[1], r->thread[2], (const char *)(r + 1),
                         (Py_ssize_t)((r->words - 1) * sizeof(uint64_t)));
}

/* Whose launch it was may let the kernel go as soon as Python code runs: it is held first. */
static PyObject *entries(const Printed *p) {
    size_t at = 0;
    for (const PrintRecord *r; (r = next_record(p, &at));) Py_INCREF(variant_of(r)->kernel);
    PyObject *list = PyList_New(0);
    at = 0;
    for (const PrintRecord *r; list && (r = next_record(p, &at));) {
        PyObject *tuple = entry(r);
        if (!tuple || PyList_Append(list, tuple) < 0) Py_CLEAR(list);
        Py_XDECREF(tuple);
    }
    PyObject *error = PyErr_Occurred() ? Py_None : NULL, *type, *value, *trace;
    if (error) PyErr_Fetch(&type, &value, &trace);
    at = 0;
    for (const PrintRecord *r; (r = next_record(p, &at));) Py_DECREF(variant_of(r)->kernel);
    if (error) PyErr_Restore(type, value, trace);
    return list;
}

int prints_show(Device *d) {
    Printed p;
    if (!__atomic_load_n(&d->prints_pending, __ATOMIC_ACQUIRE) || !d->ops->take_printed(d, &p)) return 0;
    PyObject *list = entries(&p), *module = list ? messages() : NULL;
    PyObject *done = module ? PyObject_CallMethod(module, "show", "OKK", list, (unsigned long long)p.lost,
                                                  (unsigned long long)p.room)
                            : NULL;
    free(p.records);
    Py_XDECREF(list);
    Py_XDECREF(module);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/* At the end of the process: what nobody waited for. */
int prints_at_exit(const Device *d) {
    PyObject *module = messages();
    PyObject *done = module ? PyObject_CallMethod(module, "show_at_exit", "s", d->name) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

int prints_after(Device *d, Status status, Failure *f, const KernelObject *k) {
    int shown = prints_show(d);
    if (status == GPU_OK) return shown;
    if (shown == 0) return errors_from_failure(f, d, k);
    failure_clear(f);
    return -1;
}
