/* devices.c - the table of devices, and how each runs a launch whose arguments are bound. */
#define _GNU_SOURCE
#include "core.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { FEW_BYTES = 512 };

/* ---- devices that load an Image ---------------------------------------------------------------- */

/* k[gpu.auto]: the largest array says how many threads; the kernel's code says of how many dimensions. */
static int size_from_arguments(const Bound *b, Config *c, uint32_t axes) {
    const Leaf *largest = NULL;
    uint64_t most = 0;
    for (uint32_t i = 0; i < b->nleaves; i++) {
        const Leaf *l = &b->leaves[i];
        uint64_t n = 1;
        if (!l->is_array || (axes > 1 && l->ndim < axes)) continue;
        for (int d = 0; d < l->ndim; d++) n *= (uint64_t)l->shape[d];
        if (!largest || n > most) {
            largest = l;
            most = n;
        }
    }
    if (!largest) {
        return errors_raise("LaunchError",
                            "k[gpu.auto]: no argument of %s is an array of %u or more dimensions, so the size must be "
                            "given: k[grid, block]",
                            PyUnicode_AsUTF8(b->kernel->name), axes > 1 ? axes : 0);
    }
    uint64_t shape[3] = {most, 1, 1};
    for (uint32_t d = 0; axes > 1 && d < axes; d++) shape[d] = (uint64_t)largest->shape[d];
    config_for_threads(c, shape, axes);
    return 0;
}

/* ---- waiting without the GIL ------------------------------------------------------------------- */

/* Called without the GIL while something runs, on the CPU in a signal's handler that interrupted the kernel. True: a
 * handler of Python's raised. */
static bool signal_raised(void *arg) {
    GilWaiter *w = arg;
    PyEval_RestoreThread(w->state);
    bool raised = PyErr_CheckSignals() < 0;
    w->state = PyEval_SaveThread();
    return raised;
}

static _Thread_local bool main_known;

/* The thread that forked is the only one in the child, and its main thread. */
static void forget_main(void) { main_known = false; }

static void register_fork(void) { pthread_atfork(NULL, NULL, forget_main); }

/* Python runs signal handlers in its main thread alone: on Linux the one whose id is the process's. */
static bool in_main_thread(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Thread_local bool is_main;
    if (!main_known) {
        pthread_once(&once, register_fork);
        is_main = gettid() == getpid();
        main_known = true;
    }
    return is_main;
}

const Waiter *waiter_begin(GilWaiter *w) {
    w->waiter = (Waiter){in_main_thread() ? signal_raised : NULL, w};
    w->state = PyEval_SaveThread();
    return &w->waiter;
}

void waiter_end(GilWaiter *w) { PyEval_RestoreThread(w->state); }

/* ---- launches ---------------------------------------------------------------------------------- */

static int launch(const DeviceRow *row, Bound *b, Config *c, Variant *v) {
    Device *d = row->device();
    Module *module = variant_module(v, d);
    if (!module) return -1;
    _Alignas(16) char few[FEW_BYTES];
    char *params = v->image->params_bytes <= FEW_BYTES ? few : PyMem_Malloc(v->image->params_bytes);
    if (!params) return PyErr_NoMemory(), -1;
    int result = -1;
    if (args_pack(b, v->image, params) == 0) {
        Failure failure;
        GilWaiter waiting;
        Status status;
        const Waiter *waiter = waiter_begin(&waiting);
        c->launch.interrupted = waiter->interrupted;
        c->launch.interrupted_arg = waiter->arg;
        c->launch.cost = &v->cost;
        status = d->ops->launch(d, module, params, &c->launch, &failure);
        waiter_end(&waiting);
        result = status == GPU_OK ? 0 : errors_from_failure(&failure, d, b->kernel);
    }
    if (params != few) PyMem_Free(params);
    return result;
}

static int run_image(const DeviceRow *row, Bound *b, Config *c) {
    if (args_flatten(b) < 0) return -1;
    if (c->automatic) {
        Config one = {.launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}}};
        Variant *v = variant_for_launch(b, &one.launch);
        if (!v || size_from_arguments(b, c, v->axes) < 0) return -1;
    }
    if (config_check(c, row->device()) < 0) return -1;
    if (c->empty) return 0;
    Variant *v = variant_for_launch(b, &c->launch);
    return v ? launch(row, b, c, v) : -1;
}

/* ---- the plain function ------------------------------------------------------------------------ */

static uint32_t axes_by_arguments(const Bound *b) {
    uint32_t axes = 1;
    for (uint32_t i = 0; i < b->nleaves; i++)
        if (b->leaves[i].is_array && b->leaves[i].ndim > axes) axes = b->leaves[i].ndim;
    return axes < 3 ? axes : 3;
}

static int run_python(const DeviceRow *row, Bound *b, Config *c) {
    if (args_flatten(b) < 0) return -1; /* refuses what the other devices refuse */
    if (c->automatic) {
        Config one = {.launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}}};
        Variant *v = variant_for_launch(b, &one.launch); /* the code says which indices it reads */
        if (!v) PyErr_Clear();
        if (size_from_arguments(b, c, v ? v->axes : axes_by_arguments(b)) < 0) return -1;
    }
    if (config_check(c, row->device()) < 0) return -1;
    if (c->empty) return 0;
    const LaunchConfig *l = &c->launch;
    PyObject *module = PyImport_ImportModule("gpu._pydevice");
    uint32_t named = b->kernel->nparams - b->kernel->vararg;
    Py_ssize_t rest = b->rest ? PyTuple_GET_SIZE(b->rest) : 0;
    PyObject *args = module ? PyTuple_New(named + rest) : NULL;
    for (uint32_t i = 0; args && i < named; i++) PyTuple_SET_ITEM(args, i, Py_NewRef(b->values[i]));
    for (Py_ssize_t i = 0; args && i < rest; i++)
        PyTuple_SET_ITEM(args, named + i, Py_NewRef(PyTuple_GET_ITEM(b->rest, i)));
    PyObject *types = args ? types_from_key(b->key, b->key_size) : NULL;
    PyObject *result = types ? PyObject_CallMethod(module, "launch", "O(III)(III)OO", b->kernel, l->grid[0], l->grid[1],
                                                   l->grid[2], l->block[0], l->block[1], l->block[2], args, types)
                             : NULL;
    Py_XDECREF(types);
    Py_XDECREF(module);
    Py_XDECREF(args);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

/* A direct call: with names as kernels see them. */
static PyObject *call_plain(KernelObject *k, PyObject *args, PyObject *kwargs) {
    PyObject *module = PyImport_ImportModule("gpu._pydevice");
    PyObject *result = module ? PyObject_CallMethod(module, "call", "OOO", k, args, kwargs ? kwargs : Py_None) : NULL;
    Py_XDECREF(module);
    return result;
}

/* ---- the table --------------------------------------------------------------------------------- */

/* The python device has the limits of the CPU device. */
static const DeviceRow rows[] = {
    {"cpu", runtime_cpu, run_image, kernel_call_native},
    {"python", runtime_cpu, run_python, call_plain},
};
enum { NROWS = sizeof rows / sizeof *rows };

static _Thread_local const DeviceRow *current;

static const DeviceRow *row_named(const char *name) {
    for (int i = 0; i < NROWS; i++)
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    PyObject *names = device_list(NULL, NULL);
    if (names) PyErr_Format(PyExc_ValueError, "no device '%s' here; there are %R", name, names);
    Py_XDECREF(names);
    return NULL;
}

const DeviceRow *device_current(void) {
    if (!current) {
        const char *name = getenv("GPU_DEVICE");
        current = name && *name ? row_named(name) : &rows[0];
    }
    return current;
}

PyObject *device_set(PyObject *module, PyObject *name) {
    (void)module;
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    if (!text) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "set_device takes the name of a device, not %.80s", Py_TYPE(name)->tp_name);
        return NULL;
    }
    const DeviceRow *row = row_named(text);
    if (!row) return NULL;
    current = row;
    Py_RETURN_NONE;
}

PyObject *device_get(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    const DeviceRow *row = device_current();
    return row ? PyUnicode_FromString(row->name) : NULL;
}

PyObject *device_list(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    PyObject *names = PyTuple_New(NROWS);
    for (int i = 0; names && i < NROWS; i++) {
        PyObject *name = PyUnicode_FromString(rows[i].name);
        if (!name) Py_CLEAR(names);
        else PyTuple_SET_ITEM(names, i, name);
    }
    return names;
}

PyObject *device_synchronize(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    const DeviceRow *row = device_current();
    if (!row) return NULL;
    Device *d = row->device();
    Failure failure;
    GilWaiter waiting;
    Status status = d->ops->synchronize(d, waiter_begin(&waiting), &failure);
    waiter_end(&waiting);
    if (status == GPU_OK) Py_RETURN_NONE;
    errors_from_failure(&failure, d, NULL);
    return NULL;
}
