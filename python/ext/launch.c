/* launch.c - a launch whose arguments are bound: on devices that load an Image, and as the plain function. */
#define _GNU_SOURCE
#include "launch.h"

#include <unistd.h>

enum { FEW_BYTES = 512, LEAST_BLOCK = 32 };

/* ---- sizes ------------------------------------------------------------------------------------- */

/* The block that fills the device best, by its driver; asked once for a variant. */
static int suggested_block(Variant *v, Device *d, uint32_t shared_bytes, uint32_t *out) {
    if (v->suggested && v->suggested_for == d && v->suggested_shared == shared_bytes) {
        *out = v->suggested;
        return 0;
    }
    Module *m = variant_module(v, d);
    if (!m) return -1;
    Failure f;
    uint32_t block = 0, grid;
    Status status;
    Py_BEGIN_ALLOW_THREADS
    status = d->ops->suggest_block(d, m, shared_bytes, 0, &block, &grid, &f);
    Py_END_ALLOW_THREADS
    if (status != GPU_OK) return errors_from_failure(&f, d, v->kernel);
    v->suggested = *out = block;
    v->suggested_for = d;
    v->suggested_shared = shared_bytes;
    return 0;
}

/* Along one axis as many threads as the driver says; tiles are halved until they fit. */
static int fit_block(Variant *v, Device *d, Config *c) {
    LaunchConfig *l = &c->launch;
    uint32_t block = 0;
    if (!d->ops->runs_ptx || c->tpb || c->empty) return 0;
    if (suggested_block(v, d, l->shared_bytes, &block) < 0) return -1;
    if (l->block[1] == 1 && l->block[2] == 1) {
        uint64_t whole = (c->sized[0] + LEAST_BLOCK - 1) / LEAST_BLOCK * LEAST_BLOCK;
        l->block[0] = whole < block ? (uint32_t)whole : block;
    }
    for (int axis = 0; (uint64_t)l->block[0] * l->block[1] * l->block[2] > block; axis = (axis + 1) % 3)
        if (l->block[2 - axis] > 1) l->block[2 - axis] /= 2;
    for (int i = 0; i < 3; i++) {
        uint64_t blocks = c->sized[i] / l->block[i] + (c->sized[i] % l->block[i] != 0);
        l->grid[i] = blocks > UINT32_MAX ? UINT32_MAX : (uint32_t)blocks;
    }
    return 0;
}

/* Grid and block where the launch doesn't give them. */
static int choose_size(Bound *b, Config *c, Device *d) {
    if (!c->automatic && !(c->forall && d->ops->runs_ptx)) return 0;
    Config one = {.launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}}};
    Variant *v = variant_for_launch(b, c->automatic ? &one.launch : &c->launch);
    if (!v || (c->automatic && size_from_arguments(b, c, &v->indices) < 0)) return -1;
    return fit_block(v, d, c);
}

/* ---- streams ----------------------------------------------------------------------------------- */

static bool has_ours(const Bound *b) {
    for (uint32_t i = 0; i < b->nleaves; i++)
        if (b->leaves[i].array) return true;
    return false;
}

/* What comes later in the one stream waits for what is in the other by now; the host doesn't. */
static Status let_wait(Device *d, Stream *later, Stream *first, Failure *f) {
    Event *e;
    Status status = d->ops->event_create(d, EVENT_NO_TIMING, &e, f);
    if (status != GPU_OK) return status;
    status = d->ops->event_record(e, first, f);
    if (status == GPU_OK) status = d->ops->stream_wait_event(later, e, f);
    d->ops->event_destroy(e);
    return status;
}

/* Other libraries' streams before the launch, whose stream waits for them, and after it, when they wait for it: they
 * know nothing of each other. */
static int order_producers(Bound *b, Config *c, Device *d, bool before) {
    Stream *own = c->launch.stream ? c->launch.stream : d->ops->default_stream(d, STREAM_LEGACY);
    for (uint32_t i = 0; i < b->nproducers; i++) {
        Stream theirs = {.device = d, .handle = b->producers[i]};
        Failure f;
        if (theirs.handle == own->handle) continue;
        Status status = before ? let_wait(d, own, &theirs, &f) : let_wait(d, &theirs, own, &f);
        if (status != GPU_OK) return errors_from_failure(&f, d, b->kernel);
    }
    return 0;
}

/* A launch of arrays of one other library, without a stream of its own, goes into theirs, as they expect it. Not if
 * arrays of ours are among them: what is done to those before and after is in the current stream. */
static int follow_producers(Bound *b, Config *c, Device *d) {
    if (c->stream || c->launch.stream || b->nproducers > 1 || has_ours(b)) return order_producers(b, c, d, true);
    b->theirs = (Stream){.device = d, .handle = b->producers[0]};
    c->launch.stream = &b->theirs;
    return 0;
}

/* The launch's stream; arrays that were allocated for another one are kept until this one has passed. */
static int choose_stream(Bound *b, Config *c, Device *d) {
    PyObject *object;
    if (!c->stream) {
        StreamObject *s = stream_current(d);
        c->launch.stream = s ? s->stream : NULL;
    } else if (stream_named(c->stream, d, &c->launch.stream, &object) < 0) return -1;
    if (b->nproducers && follow_producers(b, c, d) < 0) return -1;
    for (uint32_t i = 0; i < b->nleaves; i++) {
        const ArrayObject *a = b->leaves[i].array;
        Failure f;
        if (a && memory_used_on(a->memory, c->launch.stream, &f) != GPU_OK)
            return errors_from_failure(&f, d, b->kernel);
    }
    return 0;
}

/* ---- kernels with exceptions or prints under way --------------------------------------------------------- */

/* A kernel that may have raised or printed is kept until somebody has looked: it knows what its exception is called. */
static struct {
    Variant **at;
    uint32_t n, cap;
} held;

static bool is_settled(const Variant *v) {
    for (uint32_t i = 0; i < v->nmodules; i++)
        if (v->modules[i] &&
            (__atomic_load_n(&v->modules[i]->unsettled, __ATOMIC_ACQUIRE) ||
             (v->image->prints && __atomic_load_n(&v->modules[i]->device->prints_pending, __ATOMIC_ACQUIRE))))
            return false;
    return true;
}

void launch_settled(void) {
    for (uint32_t i = 0; i < held.n;) {
        Variant *v = held.at[i];
        if (!is_settled(v)) {
            i++;
            continue;
        }
        held.at[i] = held.at[--held.n];
        v->held = false;
        Py_DECREF(v->kernel);
    }
}

static int hold(Variant *v) {
    if (v->held || is_settled(v)) return 0;
    launch_settled();
    if (held.n == held.cap) {
        uint32_t cap = held.cap ? 2 * held.cap : 16;
        Variant **at = PyMem_Realloc(held.at, cap * sizeof *at);
        if (!at) return PyErr_NoMemory(), -1;
        held.at = at;
        held.cap = cap;
    }
    v->held = true;
    Py_INCREF(v->kernel);
    held.at[held.n++] = v;
    return 0;
}

/* ---- launching --------------------------------------------------------------------------------- */

/* Numba's debug=True: an exception comes out of the launch itself. */
static int wait_for(Bound *b, const Config *c, Device *d) {
    Stream *stream = c->launch.stream ? c->launch.stream : d->ops->default_stream(d, STREAM_LEGACY);
    Failure f;
    GilWaiter w;
    const Waiter *waiter = waiter_begin(&w);
    Status status = d->ops->stream_synchronize(stream, waiter, &f);
    waiter_end(&w);
    return prints_after(d, status, &f, b->kernel);
}

static bool is_debugged(const Bound *b, const Variant *v) {
    return b->kernel->dialect == DIALECT_NUMBA && b->kernel->opt.debug && v->image->raises;
}

static int start(Bound *b, Config *c, Device *d, Variant *v, Module *m) {
    _Alignas(16) char few[FEW_BYTES];
    char *params = v->image->params_bytes <= FEW_BYTES ? few : PyMem_Malloc(v->image->params_bytes);
    if (!params) return PyErr_NoMemory(), -1;
    int result = args_pack(b, v->image, params);
    if (result == 0 && v->image->captures) result = captures_pack(v->kernel, v->image, d, params);
    if (result == 0) {
        Failure failure;
        GilWaiter w;
        if (strcmp(d->ops->kind, "emulated") == 0) faults_remember(d, b, v);
        c->launch.cost = &v->cost;
        waiter_begin(&w);
        c->launch.interrupted = w.waiter.interrupted;
        c->launch.interrupted_arg = w.waiter.arg;
        Status status = d->ops->launch(d, m, params, &c->launch, &failure);
        waiter_end(&w);
        bool later = d->ops->runs_ptx && status == GPU_OK;
        if (later && (v->image->raises || v->image->prints)) result = hold(v);
        if (later && v->image->prints && result == 0) result = prints_at_exit(d);
        if (status == GPU_ERROR_FAULT && d->ops->shares_host_memory) faults_remember(d, b, v);
        if (!later) result = prints_after(d, status, &failure, b->kernel);
        if (result == 0) result = order_producers(b, c, d, false);
        if (later && result == 0 && is_debugged(b, v)) result = wait_for(b, c, d);
    }
    if (params != few) PyMem_Free(params);
    return result;
}

static int launch(Bound *b, Config *c, Device *d, Variant *v) {
    Module *m = variant_module(v, d);
    if (!m || choose_stream(b, c, d) < 0) return -1;
    c->launch.waited = is_debugged(b, v);
    if (d->ops->shares_host_memory || !b->on_host) return start(b, c, d, v, m);
    Staged stage;
    int result = stage_in(&stage, b, v, d, c->launch.stream);
    c->launch.waited |= stage.n > 0;
    if (result == 0) result = start(b, c, d, v, m);
    if (result == 0) result = stage_out(&stage, b, v);
    stage_close(&stage);
    return result;
}

/* Numba's setting CUDA_WARN_ON_IMPLICIT_COPY. */
static bool warns_of_host_arrays;

PyObject *launch_warn_of_host_arrays(PyObject *module, PyObject *on) {
    (void)module;
    int truth = PyObject_IsTrue(on);
    if (truth < 0) return NULL;
    warns_of_host_arrays = truth;
    Py_RETURN_NONE;
}

static int warn_of_host_arrays(const Bound *b) {
    PyObject *module = PyImport_ImportModule("gpu.cuda._warnings"),
             *values = module ? PyTuple_New(b->kernel->nparams) : NULL;
    for (uint32_t i = 0; values && i < b->kernel->nparams; i++)
        PyTuple_SET_ITEM(values, i, Py_NewRef(b->values[i] ? b->values[i] : Py_None));
    PyObject *result = values ? PyObject_CallMethod(module, "warn_of_host_arrays", "(O)", values) : NULL;
    Py_XDECREF(values);
    Py_XDECREF(module);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

int launch_image(const DeviceRow *row, Bound *b, Config *c) {
    Device *d = b->device = row->device;
    if (args_flatten(b) < 0 || choose_size(b, c, d) < 0 || config_check(c, d, b->kernel) < 0) return -1;
    if (c->empty) return 0;
    bool numba = b->kernel->dialect == DIALECT_NUMBA;
    if (warns_of_host_arrays && b->on_host && numba && warn_of_host_arrays(b) < 0) return -1;
    Variant *v = variant_for_launch(b, &c->launch);
    return v ? launch(b, c, d, v) : -1;
}

/* ---- the plain function ------------------------------------------------------------------------ */

int launch_python(const DeviceRow *row, Bound *b, Config *c) {
    if (args_flatten(b) < 0) return -1; /* refuses what the other devices refuse */
    if (c->automatic) {
        Config one = {.launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}}};
        Variant *v = variant_for_launch(b, &one.launch); /* the code says which indices it reads */
        if (!v) PyErr_Clear();
        if (size_from_arguments(b, c, v ? &v->indices : NULL) < 0) return -1;
    }
    if (config_check(c, row->device, b->kernel) < 0) return -1;
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
    PyObject *result =
        types ? PyObject_CallMethod(module, "launch", "O(III)(III)OOI", b->kernel, l->grid[0], l->grid[1], l->grid[2],
                                    l->block[0], l->block[1], l->block[2], args, types, l->shared_bytes)
              : NULL;
    Py_XDECREF(types);
    Py_XDECREF(module);
    Py_XDECREF(args);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

/* ---- what a specialisation needs --------------------------------------------------------------- */

typedef struct Need {
    const char *name;
    long long value;
} Need;

static PyObject *dict_of(const Need *needs, size_t n) {
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < n; i++) {
        PyObject *value = needs[i].value < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(needs[i].value);
        if (!value || PyDict_SetItemString(dict, needs[i].name, value) < 0) Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

static Status ask_code(Device *d, Module *m, uint32_t *threads, uint32_t shared, CodeInfo *code, uint32_t *blocks,
                       uint32_t *suggested, Failure *f) {
    uint32_t grid;
    Status status = d->ops->code_info(d, m, code, f);
    if (status == GPU_OK) status = d->ops->suggest_block(d, m, shared, 0, suggested, &grid, f);
    if (*threads == 0) *threads = *suggested;
    if (status == GPU_OK) status = d->ops->occupancy(d, m, *threads, shared, blocks, f);
    return status;
}

PyObject *launch_stats(PyObject *module, PyObject *args) {
    (void)module;
    KernelObject *k;
    PyObject *types;
    const char *device;
    unsigned threads, shared;
    if (!PyArg_ParseTuple(args, "O!OzII:stats", &Kernel_Type, &k, &types, &device, &threads, &shared)) return NULL;
    const DeviceRow *row = device ? device_row(device) : device_current();
    Device *d = row ? row->device : NULL;
    Variant *v = d ? variant_of_types(k, types, d) : NULL;
    Module *m = v ? variant_module(v, d) : NULL;
    if (!m) return NULL;
    CodeInfo code = {.spill_bytes = -1};
    Failure f;
    uint32_t blocks = 0, suggested = 0;
    Status status;
    Py_BEGIN_ALLOW_THREADS
    status = ask_code(d, m, &threads, shared, &code, &blocks, &suggested, &f);
    Py_END_ALLOW_THREADS
    if (status != GPU_OK) {
        errors_from_failure(&f, d, k);
        return NULL;
    }
    const Need needs[] = {{"registers", d->ops->runs_ptx ? (long long)code.registers : -1},
                          {"spill_bytes", code.spill_bytes},
                          {"local_bytes", code.local_bytes},
                          {"shared_bytes", code.shared_bytes},
                          {"constant_bytes", code.constant_bytes},
                          {"max_threads", code.max_threads},
                          {"max_dynamic_shared_bytes", d->ops->runs_ptx ? (long long)code.max_dynamic_shared : -1},
                          {"ptx_version", d->ops->runs_ptx ? (long long)code.ptx_version : -1},
                          {"binary_version", d->ops->runs_ptx ? (long long)code.binary_version : -1},
                          {"block", threads},
                          {"suggested_block", suggested},
                          {"blocks_per_multiprocessor", blocks},
                          {"resident_threads", d->ops->runs_ptx ? (long long)blocks * threads : -1},
                          {"max_resident_threads", d->ops->runs_ptx ? d->info.max_threads_per_multiprocessor : -1}};
    return dict_of(needs, sizeof needs / sizeof *needs);
}
