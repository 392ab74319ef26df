/* errors.c - messages of the compiler and exceptions of kernels, as Python exceptions and warnings. */
#include "launch.h"

#include <stdlib.h>
#include <unistd.h>

PyObject *errors_class(const char *name) {
    PyObject *module = PyImport_ImportModule("gpu._errors");
    PyObject *cls = module ? PyObject_GetAttrString(module, name) : NULL;
    Py_XDECREF(module);
    if (cls) return cls;
    PyErr_Clear();
    cls = PyDict_GetItemString(PyEval_GetBuiltins(), name);
    return Py_NewRef(cls && PyExceptionClass_Check(cls) ? cls : PyExc_Exception);
}

int errors_raise(const char *class_name, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    PyObject *cls = errors_class(class_name);
    PyErr_FormatV(cls, format, ap);
    Py_DECREF(cls);
    va_end(ap);
    return -1;
}

/* ---- of the compiler --------------------------------------------------------------------------- */

static int put_text(PyObject *dict, const char *key, const char *text) {
    PyObject *o = text ? PyUnicode_FromString(text) : Py_NewRef(Py_None);
    int status = o ? PyDict_SetItemString(dict, key, o) : -1;
    Py_XDECREF(o);
    return status;
}

static int put_number(PyObject *dict, const char *key, uint32_t n) {
    PyObject *o = PyLong_FromUnsignedLong(n);
    int status = o ? PyDict_SetItemString(dict, key, o) : -1;
    Py_XDECREF(o);
    return status;
}

static PyObject *diag_as_dict(const Diag *d) {
    PyObject *dict = PyDict_New();
    if (dict && put_text(dict, "code", diag_name(d->code)) == 0 && put_text(dict, "message", d->message) == 0 &&
        put_text(dict, "file", d->at.file) == 0 && put_text(dict, "function", d->at.function) == 0 &&
        put_number(dict, "line", d->at.span.line) == 0 && put_number(dict, "col", d->at.span.col) == 0 &&
        put_number(dict, "end_line", d->at.span.end_line) == 0 &&
        put_number(dict, "end_col", d->at.span.end_col) == 0 && put_text(dict, "help", d->help) == 0)
        return dict;
    Py_XDECREF(dict);
    return NULL;
}

static PyObject *diags_as_list(const DiagList *l) {
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && i < l->diags.n; i++) {
        if (diag_severity(l->diags.at[i].code) != SEV_ERROR) continue;
        PyObject *dict = diag_as_dict(&l->diags.at[i]);
        if (!dict || PyList_Append(list, dict) < 0) Py_CLEAR(list);
        Py_XDECREF(dict);
    }
    return list;
}

/* The class that all errors share, else the base of all. */
static const char *common_class(const DiagList *l) {
    const char *name = NULL;
    for (uint32_t i = 0; i < l->diags.n; i++) {
        DiagCode code = l->diags.at[i].code;
        if (diag_severity(code) != SEV_ERROR) continue;
        if (name && strcmp(name, diag_exception(code)) != 0) return "CompileError";
        name = diag_exception(code);
    }
    return name ? name : "CompileError";
}

void errors_from_diags(const DiagList *l, const Host *host, const char *kernel) {
    const char *term = getenv("TERM");
    bool colour = isatty(STDERR_FILENO) && !getenv("NO_COLOR") && term && strcmp(term, "dumb") != 0;
    const char *text = diag_render(l, host, kernel, colour);
    PyObject *cls = errors_class(common_class(l));
    PyObject *list = diags_as_list(l);
    PyObject *message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    PyObject *error = list && message ? PyObject_CallFunctionObjArgs(cls, message, list, NULL) : NULL;
    if (error) PyErr_SetObject(cls, error);
    Py_XDECREF(error);
    Py_XDECREF(message);
    Py_XDECREF(list);
    Py_DECREF(cls);
}

static int warn_one(const Diag *d) {
    PyObject *category = errors_class(diag_exception(d->code));
    PyObject *message = PyUnicode_FromFormat("%s%s%s", d->message, d->help ? "; " : "", d->help ? d->help : "");
    int status = -1;
    if (message) {
        const char *text = PyUnicode_AsUTF8(message);
        int line = d->at.span.line ? (int)d->at.span.line : 1;
        if (text) status = PyErr_WarnExplicit(category, text, d->at.file ? d->at.file : "<kernel>", line, NULL, NULL);
    }
    Py_XDECREF(message);
    Py_DECREF(category);
    return status;
}

int errors_warn(const DiagList *l) {
    for (uint32_t i = 0; i < l->diags.n; i++)
        if (diag_severity(l->diags.at[i].code) == SEV_WARNING && warn_one(&l->diags.at[i]) < 0) return -1;
    return 0;
}

/* ---- of kernels -------------------------------------------------------------------------------- */

static PyObject *triple(const uint32_t v[3]) { return Py_BuildValue("(III)", v[0], v[1], v[2]); }

static void set_attr(PyObject *o, const char *name, PyObject *value) {
    if (!value || PyObject_SetAttrString(o, name, value) < 0) PyErr_Clear(); /* a class with __slots__ */
    Py_XDECREF(value);
}

/* As Numba writes it: "In function 'k', file file.py, line 12, tid=[5, 0, 0] ctaid=[2, 0, 0]: negative input" */
static PyObject *numba_place_text(const Variant *v, const char *text, const ImageSite *s, const ErrorRecord *e) {
    return PyUnicode_FromFormat("In function %R, file %s, line %u, tid=[%u, %u, %u] ctaid=[%u, %u, %u]%s%s",
                                v->kernel->name, s->file ? s->file : "?", s->line, e->thread[0], e->thread[1],
                                e->thread[2], e->block[0], e->block[1], e->block[2], *text ? ": " : "", text);
}

/* "negative input [file.py:12 in k, block (2, 0, 0), thread (5, 0, 0)]" */
static PyObject *place_text(const Variant *v, const char *text, const ImageSite *s, const ErrorRecord *e) {
    const KernelObject *k = v->kernel;
    const char *file = s->file ? s->file : "?";
    const char *space = *text ? " " : "";
    if (v->host_function) return PyUnicode_FromFormat("%s%s[%s:%u in %U]", text, space, file, s->line, k->name);
    if (k->dialect == DIALECT_NUMBA) return numba_place_text(v, text, s, e);
    return PyUnicode_FromFormat("%s%s[%s:%u in %U, block (%u, %u, %u), thread (%u, %u, %u)]", text, space, file,
                                s->line, k->name, e->block[0], e->block[1], e->block[2], e->thread[0], e->thread[1],
                                e->thread[2]);
}

static bool is_message(PyObject *args) {
    return PyTuple_GET_SIZE(args) == 1 && PyUnicode_Check(PyTuple_GET_ITEM(args, 0));
}

/* A message gets the place behind it. Other arguments stay what the kernel gave, and the place becomes a note. */
static PyObject *arguments_of(const Variant *v, const ImageSite *s, const ErrorRecord *e) {
    PyObject *args = prints_exception_args(v, e);
    bool carries = args && PyTuple_GET_SIZE(args) > 0;
    if (!args || (carries && !is_message(args))) return args;
    const char *text = carries ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(args, 0)) : s->message ? s->message : "";
    PyObject *message = text ? place_text(v, text, s, e) : NULL;
    PyObject *made = message ? PyTuple_Pack(1, message) : NULL;
    Py_XDECREF(message);
    Py_DECREF(args);
    return made;
}

void errors_from_record(const Variant *v, const ErrorRecord *e) {
    const KernelObject *k = v->kernel;
    if (e->site == 0 || e->site > v->image->nsites) {
        PyErr_Format(PyExc_SystemError, "%U: an exception at an unknown place", k->name);
        return;
    }
    const ImageSite *s = &v->image->sites[e->site - 1];
    PyObject *cls = s->host_ref && PyExceptionClass_Check((PyObject *)s->host_ref) ? Py_NewRef((PyObject *)s->host_ref)
                                                                                   : errors_class(s->exception);
    PyObject *args = arguments_of(v, s, e), *place = args ? place_text(v, "", s, e) : NULL;
    PyObject *error = place ? PyObject_CallObject(cls, args) : NULL;
    if (error && PyExceptionInstance_Check(error)) {
        if (!is_message(args)) set_attr(error, "__notes__", Py_BuildValue("[O]", place));
        set_attr(error, "kernel", Py_NewRef(k->name));
        set_attr(error, "block", triple(e->block));
        set_attr(error, "thread", triple(e->thread));
        PyErr_SetObject(cls, error);
    } else if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError)) {
        /* A class whose constructor wants something else. */
        PyErr_Clear();
        if (place) PyErr_Format(PyExc_RuntimeError, "%s%R", s->exception ? s->exception : "exception", args);
    }
    Py_XDECREF(error);
    Py_XDECREF(place);
    Py_XDECREF(args);
    Py_DECREF(cls);
}

/* ---- of the runtime ---------------------------------------------------------------------------- */

static const char *const status_classes[] = {
#define STATUS(name, exception, meaning) exception,
#include "../../runtime/status.def"
};
static const char *const status_meanings[] = {
#define STATUS(name, exception, meaning) meaning,
#include "../../runtime/status.def"
};

/* The text, the kernel that was to be launched in front of it, the array that a fault is about behind. */
static PyObject *failure_text(const Failure *f, const Device *d, const KernelObject *k) {
    const char *text = f->text ? f->text : status_meanings[f->status];
    bool fault = f->status == GPU_ERROR_FAULT;
    PyObject *message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    PyObject *place = message && fault && d ? faults_place(d, f) : NULL;
    PyObject *whole = NULL;
    if (place) whole = PyUnicode_FromFormat("%U\n  %U", message, place);
    else if (message && k && !fault) whole = PyUnicode_FromFormat("%U(): %U", k->name, message);
    else whole = Py_XNewRef(message);
    Py_XDECREF(place);
    Py_XDECREF(message);
    return whole;
}

static PyObject *text_or_none(const char *text) {
    return text ? PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace") : Py_NewRef(Py_None);
}

/* The driver's code, call and log as attributes; of a fault on the emulator, where it was. */
static void raise_failure(const Failure *f, const Device *d, const KernelObject *k) {
    PyObject *cls = errors_class(status_classes[f->status]);
    PyObject *whole = failure_text(f, d, k);
    PyObject *error = whole ? PyObject_CallOneArg(cls, whole) : NULL;
    if (error) {
        set_attr(error, "device", d ? PyUnicode_FromString(d->name) : Py_NewRef(Py_None));
        set_attr(error, "code", PyLong_FromLong(f->code));
        set_attr(error, "call", text_or_none(f->call));
        set_attr(error, "log", text_or_none(f->log));
        if (f->fault.kernel) set_attr(error, "kernel", text_or_none(f->fault.kernel));
        if (f->fault.known_thread) {
            set_attr(error, "file", text_or_none(f->fault.file));
            set_attr(error, "line", PyLong_FromUnsignedLong(f->fault.line));
            set_attr(error, "block", triple(f->fault.block));
            set_attr(error, "thread", triple(f->fault.thread));
        }
        PyErr_SetObject(cls, error);
    }
    Py_XDECREF(error);
    Py_XDECREF(whole);
    Py_DECREF(cls);
}

/* There is an exception unless a handler forked: then a child was stopped half-way, and must hear of it too. */
int errors_interrupted(void) {
    if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
    return -1;
}

int errors_from_failure(Failure *f, const Device *d, const KernelObject *k) {
    if (f->status == GPU_ERROR_RAISED && f->owner) errors_from_record(f->owner, &f->record);
    else if (f->status == GPU_ERROR_INTERRUPTED) errors_interrupted();
    else raise_failure(f, d, k);
    failure_clear(f);
    return -1;
}
