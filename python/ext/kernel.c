/* kernel.c - Kernel: a function that compiles and launches; Launcher: a Kernel with grid and block. */
#include "core.h"

#include <stddef.h>

typedef struct LauncherObject {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    KernelObject *kernel;
    Config config;
    PyObject *callbacks; /* NULL until somebody asks for the list */
} LauncherObject;

PyObject *auto_object;

/* ---- Launcher ---------------------------------------------------------------------------------- */

/* Calls what the program put into `pre_launch_callbacks`, each with the kernel and the launcher. */
static int call_back(LauncherObject *l) {
    for (Py_ssize_t i = 0; l->callbacks && i < PyList_GET_SIZE(l->callbacks); i++) {
        PyObject *callback = Py_NewRef(PyList_GET_ITEM(l->callbacks, i));
        PyObject *result = PyObject_CallFunctionObjArgs(callback, (PyObject *)l->kernel, (PyObject *)l, NULL);
        Py_DECREF(callback);
        if (!result) return -1;
        Py_DECREF(result);
    }
    return 0;
}

static PyObject *launcher_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
    LauncherObject *l = (LauncherObject *)self;
    Bound b;
    Config config = l->config;
    const DeviceRow *row = device_current();
    if (!row) return NULL;
    int status = args_bind(&b, l->kernel, args, PyVectorcall_NARGS(nargsf), kwnames);
    if (status == 0 && l->callbacks) status = call_back(l);
    if (status == 0) status = row->run(row, &b, &config);
    args_release(&b);
    if (status < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *launcher_new(KernelObject *k, const Config *c) {
    LauncherObject *l = PyObject_GC_New(LauncherObject, &Launcher_Type);
    if (!l) return NULL;
    l->vectorcall = launcher_call;
    l->kernel = (KernelObject *)Py_NewRef((PyObject *)k);
    l->config = *c;
    l->callbacks = NULL;
    Py_XINCREF(l->config.stream);
    PyObject_GC_Track(l);
    return (PyObject *)l;
}

static int launcher_traverse(LauncherObject *l, visitproc visit, void *arg) {
    Py_VISIT(l->kernel);
    Py_VISIT(l->config.stream);
    Py_VISIT(l->callbacks);
    return 0;
}

static void launcher_dealloc(LauncherObject *l) {
    PyObject_GC_UnTrack(l);
    Py_XDECREF(l->callbacks);
    Py_DECREF(l->kernel);
    Py_XDECREF(l->config.stream);
    PyObject_GC_Del(l);
}

static PyObject *launcher_repr(LauncherObject *l) {
    const LaunchConfig *c = &l->config.launch;
    if (l->config.automatic) return PyUnicode_FromFormat("<%U[gpu.auto]>", l->kernel->name);
    return PyUnicode_FromFormat("<%U[(%u, %u, %u), (%u, %u, %u)]>", l->kernel->name, c->grid[0], c->grid[1], c->grid[2],
                                c->block[0], c->block[1], c->block[2]);
}

static PyObject *launcher_sizes(PyObject *self, void *block) {
    const LauncherObject *l = (LauncherObject *)self;
    if (l->config.automatic || l->config.forall)
        return PyErr_SetString(PyExc_AttributeError, "grid and block are known when this is called"), NULL;
    const uint32_t *n = block ? l->config.launch.block : l->config.launch.grid;
    return Py_BuildValue("(III)", n[0], n[1], n[2]);
}

static PyObject *launcher_callbacks(PyObject *self, void *unused) {
    (void)unused;
    LauncherObject *l = (LauncherObject *)self;
    if (!l->callbacks) l->callbacks = PyList_New(0);
    return Py_XNewRef(l->callbacks);
}

static PyObject *refuse_callbacks(void) {
    PyObject *pickle = PyImport_ImportModule("pickle");
    PyObject *error = pickle ? PyObject_GetAttrString(pickle, "PicklingError") : NULL;
    if (error) PyErr_SetString(error, "Cannot pickle configured launches with pre-launch callbacks");
    Py_XDECREF(error);
    Py_XDECREF(pickle);
    return NULL;
}

/* kernel[grid, block]; what the launch has of this process can't be said in another. */
static PyObject *launcher_reduce(PyObject *self, PyObject *unused) {
    (void)unused;
    const LauncherObject *l = (LauncherObject *)self;
    const LaunchConfig *c = &l->config.launch;
    if (l->callbacks && PyList_GET_SIZE(l->callbacks)) return refuse_callbacks();
    bool other = l->config.automatic || l->config.forall || c->cooperative || c->cluster[0];
    if (other || (l->config.stream && !PyLong_Check(l->config.stream)))
        return PyErr_SetString(PyExc_TypeError, "only kernel[grid, block] without a stream can be pickled"), NULL;
    PyObject *module = PyImport_ImportModule("operator");
    PyObject *get = module ? PyObject_GetAttrString(module, "getitem") : NULL;
    PyObject *grid = launcher_sizes(self, NULL), *block = launcher_sizes(self, self);
    PyObject *made =
        get && grid && block ? Py_BuildValue("O(O(OOiI))", get, l->kernel, grid, block, 0, c->shared_bytes) : NULL;
    Py_XDECREF(module);
    Py_XDECREF(get);
    Py_XDECREF(grid);
    Py_XDECREF(block);
    return made;
}

static PyMethodDef launcher_methods[] = {{"__reduce__", launcher_reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyGetSetDef launcher_getset[] = {{"griddim", launcher_sizes, NULL, "Blocks along each axis.", NULL},
                                        {"blockdim", launcher_sizes, NULL, "Threads of a block along each axis.", ""},
                                        {"pre_launch_callbacks", launcher_callbacks, NULL,
                                         "Functions that a launch calls before, with the kernel and this.", NULL},
                                        {NULL, NULL, NULL, NULL, NULL}};

PyTypeObject Launcher_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gpu._core.Launcher",
    .tp_basicsize = sizeof(LauncherObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_doc = "A kernel with a launch configuration; calling it launches.",
    .tp_vectorcall_offset = offsetof(LauncherObject, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_dealloc = (destructor)launcher_dealloc,
    .tp_traverse = (traverseproc)launcher_traverse,
    .tp_repr = (reprfunc)launcher_repr,
    .tp_methods = launcher_methods,
    .tp_getset = launcher_getset,
};

/* ---- construction of Kernel -------------------------------------------------------------------- */

static int read_bool(PyObject *dict, const char *name, bool *out) {
    PyObject *o = PyDict_GetItemString(dict, name);
    int v = o ? PyObject_IsTrue(o) : 0;
    *out = v > 0;
    return v < 0 ? -1 : 0;
}

static int read_uint(PyObject *o, uint32_t *out) {
    unsigned long v = o ? PyLong_AsUnsignedLong(o) : 0;
    if (v == (unsigned long)-1 && PyErr_Occurred()) return -1;
    *out = (uint32_t)v;
    return 0;
}

int kernel_read_options(PyObject *dict, Options *out) {
    uint32_t opt = 0, registers = 0;
    *out = (Options){.fma = true};
    if (!PyDict_Check(dict)) return PyErr_SetString(PyExc_TypeError, "options are a dict"), -1;
    PyObject *bounds = PyDict_GetItemString(dict, "launch_bounds"), *level = PyDict_GetItemString(dict, "opt");
    if (read_bool(dict, "device", &out->device) < 0 || read_bool(dict, "fastmath", &out->fastmath) < 0 ||
        read_bool(dict, "lineinfo", &out->lineinfo) < 0 || read_bool(dict, "debug", &out->debug) < 0 ||
        read_bool(dict, "boundscheck", &out->boundscheck) < 0 || read_bool(dict, "cache", &out->cache) < 0 ||
        read_uint(PyDict_GetItemString(dict, "max_registers"), &registers) < 0 ||
        read_uint(PyDict_GetItemString(dict, "recursion_limit"), &out->recursion_limit) < 0 ||
        read_uint(level, &opt) < 0)
        return -1;
    if (PyDict_GetItemString(dict, "fma") && read_bool(dict, "fma", &out->fma) < 0) return -1;
    if (bounds && PyTuple_Check(bounds) && PyTuple_GET_SIZE(bounds) == 3 &&
        (read_uint(PyTuple_GET_ITEM(bounds, 0), &out->max_threads) < 0 ||
         read_uint(PyTuple_GET_ITEM(bounds, 1), &out->min_blocks) < 0 ||
         read_uint(PyTuple_GET_ITEM(bounds, 2), &out->max_cluster) < 0))
        return -1;
    out->opt = (uint8_t)(level ? opt : 2);
    out->max_registers = (uint16_t)registers;
    return 0;
}

/* The function's name, so that messages can write it: what isn't UTF-8 (a lone surrogate) is escaped. */
static PyObject *name_of(PyObject *function) {
    PyObject *name = PyObject_GetAttrString(function, "__name__");
    if (!name || PyUnicode_AsUTF8(name)) return name;
    PyErr_Clear();
    PyObject *bytes = PyUnicode_AsEncodedString(name, "utf-8", "backslashreplace");
    PyObject *escaped = bytes ? PyUnicode_FromEncodedObject(bytes, "utf-8", NULL) : NULL;
    Py_DECREF(name);
    Py_XDECREF(bytes);
    return escaped;
}

/* Names and counts of the parameters, from the code object. */
static int read_parameters(KernelObject *k) {
    PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(k->function);
    k->nposonly = (uint32_t)code->co_posonlyargcount;
    k->nkwonly = (uint32_t)code->co_kwonlyargcount;
    k->vararg = code->co_flags & CO_VARARGS;
    k->nparams = (uint32_t)code->co_argcount + k->nkwonly + k->vararg;
    k->name = name_of(k->function);
    PyObject *names = PyObject_GetAttrString((PyObject *)code, "co_varnames");
    int status = -1;
    if (!k->name || !names) goto end;
    if (code->co_flags & CO_VARKEYWORDS) {
        PyErr_Format(PyExc_TypeError, "kernel %U takes **%U: a kernel's parameters have fixed names", k->name,
                     PyTuple_GET_ITEM(names, k->nparams));
        goto end;
    }
    if (k->nparams > MAX_ARGS) {
        PyErr_Format(PyExc_TypeError, "kernel %U has %u parameters; there can be %d", k->name, k->nparams, MAX_ARGS);
        goto end;
    }
    k->params = PyTuple_GetSlice(names, 0, k->nparams);
    status = k->params ? 0 : -1;
end:
    Py_XDECREF(names);
    return status;
}

static PyObject *kernel_new(PyTypeObject *cls, PyObject *args, PyObject *kwargs) {
    (void)args, (void)kwargs;
    KernelObject *k = (KernelObject *)cls->tp_alloc(cls, 0);
    if (!k) return NULL;
    k->constants = PyDict_New();
    k->lock = PyThread_allocate_lock();
    if (k->constants && k->lock && variants_init(k) == 0) return (PyObject *)k;
    if (!PyErr_Occurred()) PyErr_NoMemory();
    Py_DECREF(k);
    return NULL;
}

static int kernel_init(KernelObject *k, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"function", "dialect", "options", NULL};
    PyObject *function, *dialect, *options;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!UO!", names, &PyFunction_Type, &function, &dialect, &PyDict_Type,
                                     &options))
        return -1;
    if (k->function) return PyErr_SetString(PyExc_TypeError, "a Kernel is initialised once"), -1;
    bool numba = PyUnicode_CompareWithASCIIString(dialect, "numba") == 0;
    if (!numba && PyUnicode_CompareWithASCIIString(dialect, "numpy") != 0) {
        PyErr_Format(PyExc_ValueError, "dialect is 'numpy' or 'numba', not %R", dialect);
        return -1;
    }
    k->dialect = numba ? DIALECT_NUMBA : DIALECT_NUMPY;
    k->dialect_name = Py_NewRef(dialect);
    k->function = Py_NewRef(function);
    k->options = PyDict_Copy(options);
    if (!k->options || kernel_read_options(options, &k->opt) < 0) return -1;
    PyObject *signatures = PyDict_GetItemString(options, "signatures");
    k->signatures = signatures ? PySequence_Tuple(signatures) : PyTuple_New(0);
    return k->signatures ? read_parameters(k) : -1;
}

static int kernel_traverse(KernelObject *k, visitproc visit, void *arg) {
    Py_VISIT(k->function);
    Py_VISIT(k->options);
    Py_VISIT(k->signatures);
    Py_VISIT(k->watched);
    Py_VISIT(k->constants);
    int status = captures_traverse(k, visit, arg);
    return status ? status : variants_traverse(k, visit, arg);
}

/* The constants stay: keys of variants point at them. */
static int kernel_clear(KernelObject *k) {
    Py_CLEAR(k->function);
    Py_CLEAR(k->options);
    Py_CLEAR(k->signatures);
    Py_CLEAR(k->watched);
    return 0;
}

static void kernel_dealloc(KernelObject *k) {
    PyObject_GC_UnTrack(k);
    if (k->weakrefs) PyObject_ClearWeakRefs((PyObject *)k);
    kernel_clear(k);
    variants_free(k);
    captures_free(k);
    Py_XDECREF(k->constants);
    Py_XDECREF(k->dialect_name);
    Py_XDECREF(k->name);
    Py_XDECREF(k->params);
    if (k->lock) PyThread_free_lock(k->lock);
    Py_TYPE(k)->tp_free(k);
}

/* ---- what a Kernel does ------------------------------------------------------------------------ */

static int check_ready(const KernelObject *k) {
    if (k->params) return 0;
    PyErr_SetString(PyExc_TypeError, "this Kernel was never initialised");
    return -1;
}

/* The exception that is set, as k._refused(item, exception) puts it. */
static void refuse_config(KernelObject *k, PyObject *item) {
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    PyObject *put = PyObject_CallMethod((PyObject *)k, "_refused", "OO", item, error);
    if (put) PyErr_SetObject((PyObject *)Py_TYPE(put), put);
    Py_XDECREF(put);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
}

/* k[item] itself, whatever is watched. */
static PyObject *kernel_launcher(KernelObject *k, PyObject *item) {
    Config c;
    if (check_ready(k) < 0) return NULL;
    if (config_parse(&c, item) == 0) return launcher_new(k, &c);
    if (k->watched) refuse_config(k, item);
    return NULL;
}

static PyObject *kernel_subscript(KernelObject *k, PyObject *item) {
    for (Py_ssize_t i = 0; k->watched && i < PyTuple_GET_SIZE(k->watched); i++) {
        Py_ssize_t items = PyObject_Size(PyTuple_GET_ITEM(k->watched, i));
        if (items < 0) return NULL;
        if (items) return PyObject_CallMethod((PyObject *)k, "_configured", "(O)", item);
    }
    return kernel_launcher(k, item);
}

static PyObject *get_watched(KernelObject *k, void *unused) {
    (void)unused;
    return k->watched ? Py_NewRef(k->watched) : PyTuple_New(0);
}

static int set_watched(KernelObject *k, PyObject *containers, void *unused) {
    (void)unused;
    if (!containers || !PyTuple_Check(containers))
        return PyErr_SetString(PyExc_TypeError, "what is watched is a tuple of containers"), -1;
    PyObject *before = k->watched;
    k->watched = Py_NewRef(containers);
    Py_XDECREF(before);
    return 0;
}

static PyObject *kernel_forall(KernelObject *k, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"n", "tpb", "stream", "sharedmem", NULL};
    PyObject *n, *tpb = NULL, *stream = NULL, *shared = NULL;
    Config c;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOO:forall", names, &n, &tpb, &stream, &shared)) return NULL;
    if (check_ready(k) < 0 || config_forall(&c, n, tpb, stream, shared) < 0) return NULL;
    return launcher_new(k, &c);
}

static PyObject *kernel_configure(KernelObject *k, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"grid", "block", "stream", "shared", "cooperative", "cluster", NULL};
    PyObject *grid, *block, *stream = NULL, *shared = NULL, *cluster = NULL;
    int cooperative = 0;
    Config c;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|OOpO:configure", names, &grid, &block, &stream, &shared,
                                     &cooperative, &cluster))
        return NULL;
    if (check_ready(k) < 0 || config_configure(&c, grid, block, stream, shared, cooperative, cluster) < 0) return NULL;
    return launcher_new(k, &c);
}

static PyObject *kernel_compile(KernelObject *k, PyObject *types) {
    if (check_ready(k) < 0 || variant_compile_types(k, types) < 0) return NULL;
    Py_RETURN_NONE;
}

static bool has_array(const Bound *b) {
    for (uint32_t i = 0; i < b->nleaves; i++)
        if (b->leaves[i].is_array) return true;
    return false;
}

/* A mistake in a kernel that is called as a function may be that its launch is forgotten, as in k(1, 32)(x). */
static void say_launched(const KernelObject *k) {
    PyObject *type, *error, *trace, *text = NULL, *args = NULL;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    PyObject *compile = errors_class("CompileError");
    if (PyErr_GivenExceptionMatches(type, compile)) text = PyObject_Str(error);
    Py_DECREF(compile);
    if (text)
        args = Py_BuildValue(
            "(N)", PyUnicode_FromFormat("%U\n   %U(...) without [grid, block] calls it as a function of these numbers; "
                                        "a launch is %U[grid, block](...)",
                                        text, k->name, k->name));
    if (args) PyObject_SetAttrString(error, "args", args);
    PyErr_Clear();
    Py_XDECREF(text), Py_XDECREF(args);
    PyErr_Restore(type, error, trace);
}

static PyObject *call_bound(KernelObject *k, Bound *b) {
    if (args_flatten(b) < 0) return NULL;
    if (!k->opt.device && has_array(b)) {
        PyErr_Format(PyExc_TypeError,
                     "kernel %U is launched with a grid and a block: %U[grid, block](...), %U.forall(n)(...) or "
                     "%U[gpu.auto](...)",
                     k->name, k->name, k->name, k->name);
        return NULL;
    }
    Variant *v = variant_for_host_call(b);
    if (!v && !k->opt.device) say_launched(k);
    return v ? hostcall(b, v) : NULL;
}

/* A direct call: a device function, compiled for the host. */
PyObject *kernel_call_native(KernelObject *k, PyObject *args, PyObject *kwargs) {
    PyObject *values[MAX_ARGS], *names = NULL, *result = NULL;
    Py_ssize_t n = PyTuple_GET_SIZE(args), nkw = kwargs ? PyDict_GET_SIZE(kwargs) : 0;
    if (n + nkw > MAX_ARGS) return PyErr_Format(PyExc_TypeError, "%U() takes %u arguments", k->name, k->nparams);
    for (Py_ssize_t i = 0; i < n; i++) values[i] = PyTuple_GET_ITEM(args, i);
    if (nkw) {
        PyObject *key, *value;
        Py_ssize_t pos = 0, i = 0;
        names = PyTuple_New(nkw);
        while (names && PyDict_Next(kwargs, &pos, &key, &value)) {
            PyTuple_SET_ITEM(names, i, Py_NewRef(key));
            values[n + i++] = value;
        }
        if (!names) return NULL;
    }
    Bound b;
    if (args_bind(&b, k, values, n, names) == 0) result = call_bound(k, &b);
    args_release(&b);
    Py_XDECREF(names);
    return result;
}

static PyObject *kernel_call(KernelObject *k, PyObject *args, PyObject *kwargs) {
    const DeviceRow *row = device_current();
    return row && check_ready(k) == 0 ? row->call(k, args, kwargs) : NULL;
}

static PyObject *get_function(KernelObject *k, void *unused) {
    (void)unused;
    return Py_NewRef(k->function ? k->function : Py_None);
}

static PyObject *get_dialect(KernelObject *k, void *unused) {
    (void)unused;
    return Py_NewRef(k->dialect_name ? k->dialect_name : Py_None);
}

static PyObject *get_options(KernelObject *k, void *unused) {
    (void)unused;
    return Py_NewRef(k->options ? k->options : Py_None);
}

static PyObject *get_specializations(KernelObject *k, void *unused) {
    (void)unused;
    return variants_types(k);
}

static PyObject *get_kept(KernelObject *k, void *unused) {
    (void)unused;
    return variants_kept(k);
}

static PyGetSetDef kernel_getset[] = {
    {"py_func", (getter)get_function, NULL, "The undecorated function.", NULL},
    {"dialect", (getter)get_dialect, NULL, "'numpy' or 'numba'.", NULL},
    {"options", (getter)get_options, NULL, "The options of gpu.jit.", NULL},
    {"specializations", (getter)get_specializations, NULL, "Argument types that it has been compiled for.", NULL},
    {"_kept", (getter)get_kept, NULL, "(types, whether its code was kept from before) of each specialisation.", NULL},
    {"_watched", (getter)get_watched, (setter)set_watched,
     "Containers: while one has items, k[...] is k._configured(...); then k._refused(...) words what is wrong.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

/* An array that kernels can't have stays as it is: using it says why. */
static PyObject *kernel_frozen(KernelObject *k, PyObject *o) {
    PyObject *frozen = captures_freeze(k, o);
    if (!frozen && PyErr_ExceptionMatches(PyExc_MemoryError)) return NULL;
    if (!frozen) PyErr_Clear();
    return Py_NewRef(frozen ? frozen : o);
}

static PyMethodDef kernel_methods[] = {
    {"_frozen", (PyCFunction)kernel_frozen, METH_O, "_frozen(array): the kernel's copy of an array that it captures."},
    {"_launcher", (PyCFunction)kernel_launcher, METH_O, "_launcher(config): k[config], whatever is watched."},
    {"compile", (PyCFunction)kernel_compile, METH_O, "compile(types): compile for a tuple of Types."},
    {"configure", (PyCFunction)(void (*)(void))kernel_configure, METH_VARARGS | METH_KEYWORDS,
     "configure(grid, block, stream=None, shared=0, cooperative=False, cluster=None): a launch, like k[grid, block]; "
     "cooperative: all blocks run at once, or LaunchError; cluster: blocks of a cluster, sm_90 and later."},
    {"forall", (PyCFunction)(void (*)(void))kernel_forall, METH_VARARGS | METH_KEYWORDS,
     "forall(n, tpb=0, stream=0, sharedmem=0): a launch of at least n threads in one dimension."},
    {NULL, NULL, 0, NULL}};

static PyMappingMethods kernel_mapping = {.mp_subscript = (binaryfunc)kernel_subscript};

PyTypeObject Kernel_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gpu._core.Kernel",
    .tp_basicsize = sizeof(KernelObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_doc = "A Python function that compiles to a kernel.",
    .tp_new = kernel_new,
    .tp_init = (initproc)kernel_init,
    .tp_dealloc = (destructor)kernel_dealloc,
    .tp_traverse = (traverseproc)kernel_traverse,
    .tp_clear = (inquiry)kernel_clear,
    .tp_weaklistoffset = offsetof(KernelObject, weakrefs),
    .tp_call = (ternaryfunc)kernel_call,
    .tp_as_mapping = &kernel_mapping,
    .tp_getset = kernel_getset,
    .tp_methods = kernel_methods,
};
