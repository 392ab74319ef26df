/* config.c - what stands in k[...]: grid, block, stream, bytes of shared memory. */
#include "core.h"

enum { DEFAULT_BLOCK = 256 };

static const char *const axis_names[3] = {"x", "y", "z"};

/* One integer. bool is an int in Python and never meant here. */
static int read_count(PyObject *o, const char *what, int64_t *out) {
    if (PyBool_Check(o) || !PyIndex_Check(o)) {
        const char *help = PyFloat_Check(o)   ? ": // is the division of integers"
                           : o == auto_object ? ": it stands alone, k[gpu.auto], and gives grid and block"
                                              : "";
        PyErr_Format(PyExc_TypeError, "%s takes integers, and this is %R (%.80s)%s", what, o, Py_TYPE(o)->tp_name,
                     help);
        return -1;
    }
    PyObject *index = PyNumber_Index(o);
    if (!index && PyErr_ExceptionMatches(PyExc_TypeError)) { /* NumPy's arrays have the method and refuse */
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s takes integers, and this is an object of class %.80s", what,
                     Py_TYPE(o)->tp_name);
    }
    if (!index) return -1;
    int overflow;
    *out = PyLong_AsLongLongAndOverflow(index, &overflow);
    Py_DECREF(index);
    if (overflow || *out < 0)
        return errors_raise("LaunchError", "%s can't be %s", what, overflow > 0 ? "that large" : "negative");
    return 0;
}

static int read_sizes(PyObject *const *items, Py_ssize_t n, PyObject *whole, const char *what, uint32_t out[3]) {
    out[0] = out[1] = out[2] = 1;
    if (n < 1 || n > 3) {
        PyErr_Format(PyExc_TypeError, "%s has one to three dimensions, and %R has %zd", what, whole, n);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        int64_t v;
        if (read_count(items[i], what, &v) < 0) return -1;
        if (v > UINT32_MAX)
            return errors_raise("LaunchError", "%s.%s is %lld, more than any device takes", what, axis_names[i],
                                (long long)v);
        out[i] = (uint32_t)v;
    }
    return 0;
}

/* An int or a sequence of one to three. */
static int read_dims(PyObject *o, const char *what, uint32_t out[3]) {
    if (PyTuple_Check(o)) return read_sizes(((PyTupleObject *)o)->ob_item, PyTuple_GET_SIZE(o), o, what, out);
    if (!PyList_Check(o)) return read_sizes(&o, 1, o, what, out);
    PyObject *copy = PyList_AsTuple(o); /* an __index__ may change the list */
    int status = copy ? read_sizes(((PyTupleObject *)copy)->ob_item, PyTuple_GET_SIZE(copy), o, what, out) : -1;
    Py_XDECREF(copy);
    return status;
}

static int read_shared(PyObject *o, Config *c) {
    int64_t v;
    if (read_count(o, "shared memory", &v) < 0) return -1;
    if (v > INT32_MAX) return errors_raise("LaunchError", "%lld bytes of shared memory are too many", (long long)v);
    c->launch.shared_bytes = (uint32_t)v;
    return 0;
}

/* A block has threads; a grid without blocks launches nothing. */
static int check_empty(Config *c) {
    for (int i = 0; i < 3; i++) {
        if (c->launch.block[i] == 0)
            return errors_raise("LaunchError", "block.%s is 0: a block has at least one thread", axis_names[i]);
        c->empty = c->empty || c->launch.grid[i] == 0;
    }
    return 0;
}

int config_parse(Config *c, PyObject *item) {
    memset(c, 0, sizeof *c);
    if (item == auto_object) {
        c->automatic = true;
        return 0;
    }
    Py_ssize_t n = PyTuple_Check(item) ? PyTuple_GET_SIZE(item) : 1;
    if (n < 2 || n > 4) {
        PyErr_Format(PyExc_TypeError,
                     "a launch is written k[grid, block](...), k[grid, block, stream, shared_bytes](...) or "
                     "k[gpu.auto](...); [%R] has %zd part%s",
                     item, n, n == 1 ? "" : "s");
        return -1;
    }
    if (read_dims(PyTuple_GET_ITEM(item, 0), "grid", c->launch.grid) < 0) return -1;
    if (read_dims(PyTuple_GET_ITEM(item, 1), "block", c->launch.block) < 0) return -1;
    if (n > 2) c->stream = PyTuple_GET_ITEM(item, 2);
    if (n > 3 && read_shared(PyTuple_GET_ITEM(item, 3), c) < 0) return -1;
    return check_empty(c);
}

int config_configure(Config *c, PyObject *grid, PyObject *block, PyObject *stream, PyObject *shared, bool cooperative,
                     PyObject *cluster) {
    memset(c, 0, sizeof *c);
    if (read_dims(grid, "grid", c->launch.grid) < 0 || read_dims(block, "block", c->launch.block) < 0) return -1;
    if (shared && read_shared(shared, c) < 0) return -1;
    if (cluster && cluster != Py_None && read_dims(cluster, "cluster", c->launch.cluster) < 0) return -1;
    for (int i = 0; i < 3 && c->launch.cluster[0]; i++)
        if (!c->launch.cluster[i] || c->launch.grid[i] % c->launch.cluster[i])
            return errors_raise("LaunchError", "grid.%s is %u, which isn't a multiple of cluster.%s, %u", axis_names[i],
                                c->launch.grid[i], axis_names[i], c->launch.cluster[i]);
    c->launch.cooperative = cooperative;
    c->stream = stream;
    return check_empty(c);
}
int config_forall(Config *c, PyObject *n, PyObject *tpb, PyObject *stream, PyObject *shared) {
    int64_t threads, block = 0;
    memset(c, 0, sizeof *c);
    if (read_count(n, "forall(n)", &threads) < 0) return -1;
    if (tpb && read_count(tpb, "forall: threads per block", &block) < 0) return -1;
    if (shared && read_shared(shared, c) < 0) return -1;
    c->forall = true;
    c->stream = stream;
    c->tpb = block > UINT32_MAX ? UINT32_MAX : (uint32_t)block;
    uint64_t shape[1] = {(uint64_t)threads};
    config_for_threads(c, shape, 1);
    return 0;
}

/* Blocks of 256 threads: as wide as the work in one dimension, square tiles in two and three. */
void config_for_threads(Config *c, const uint64_t *shape, uint32_t ndim) {
    static const uint32_t tiles[3][3] = {{DEFAULT_BLOCK, 1, 1}, {16, 16, 1}, {8, 8, 4}};
    c->empty = false;
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t n = i < ndim ? shape[i] : 1;
        uint32_t tile = c->tpb && ndim == 1 && i == 0 ? c->tpb : tiles[ndim - 1][i];
        if (!c->tpb && n < tile && i == 0) tile = n <= 32 ? 32 : (uint32_t)(n + 31) / 32 * 32;
        uint64_t blocks = n / tile + (n % tile != 0);
        c->sized[i] = n;
        c->launch.block[i] = tile;
        c->launch.grid[i] = blocks > UINT32_MAX ? UINT32_MAX : (uint32_t)blocks;
        c->empty = c->empty || n == 0;
    }
}

/* What a driver would refuse. */
#define TOO_LARGE "LaunchSizeError"
#define AS_DRIVER " (CUDA_ERROR_INVALID_VALUE)"

/* Launch bounds, which the driver of a GPU checks. */
static int check_bounds(const Device *d, const KernelObject *k, uint64_t threads) {
    uint32_t most = k->opt.max_threads;
    if (!most || threads <= most || d->ops->runs_ptx) return 0;
    return errors_raise(TOO_LARGE, "a block of this kernel has at most %u threads, and %llu were asked" AS_DRIVER, most,
                        (unsigned long long)threads);
}

int config_check(const Config *c, const Device *d, const KernelObject *k) {
    uint64_t threads = 1;
    if (c->launch.cluster[0] && !d->info.cluster_launch)
        return errors_raise("LaunchError", "%s has no clusters of blocks: sm_90 and later have", d->name);
    if (c->launch.cooperative && d->ops->runs_ptx && !d->info.cooperative_launch)
        return errors_raise("LaunchError", "%s has no cooperative launches", d->name);
    for (int i = 0; i < 3; i++) {
        const LaunchConfig *l = &c->launch;
        uint32_t most_blocks = (uint32_t)(&d->info.max_grid_x)[i], most_threads = (uint32_t)(&d->info.max_block_x)[i];
        if (l->grid[i] > most_blocks)
            return errors_raise(TOO_LARGE, "grid.%s is %u, and %s takes at most %u blocks in that direction" AS_DRIVER,
                                axis_names[i], l->grid[i], d->name, most_blocks);
        if (l->block[i] > most_threads)
            return errors_raise(TOO_LARGE,
                                "block.%s is %u, and %s takes at most %u threads in that direction" AS_DRIVER,
                                axis_names[i], l->block[i], d->name, most_threads);
        threads *= l->block[i];
    }
    if (threads > (uint32_t)d->info.max_threads_per_block)
        return errors_raise(TOO_LARGE,
                            "a block of %u * %u * %u = %llu threads; %s takes at most %u threads in a block" AS_DRIVER,
                            c->launch.block[0], c->launch.block[1], c->launch.block[2], (unsigned long long)threads,
                            d->name, (uint32_t)d->info.max_threads_per_block);
    return check_bounds(d, k, threads);
}
