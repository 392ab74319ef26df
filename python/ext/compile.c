/* compile.c - from a key to an IrModule to an Image: frontend and compiler library, joined. */
#include "core.h"

#include <pthread.h>
#include <stdlib.h>

/* ---- the frontend ------------------------------------------------------------------------------ */

static const char *kernel_text(Compilation *c, const KernelObject *k) {
    const char *name = PyUnicode_AsUTF8(k->name);
    char *text = arena_printf(&c->arena, "%s(", name ? name : "?");
    for (uint32_t i = 0; i < c->ntypes; i++)
        text = arena_printf(&c->arena, "%s%s%s", text, i ? ", " : "", argtype_text(&c->arena, &c->types[i]));
    return arena_printf(&c->arena, "%s)", text);
}

static void run_frontend(Compilation *c, const CompileRequest *r) {
    KernelObject *k = r->kernel;
    c->types = key_types(&c->arena, r->key, r->key_size, &c->ntypes);
    if (c->ntypes != k->nparams) {
        PyErr_Format(PyExc_TypeError, "%U() has %u parameter%s, and %u type%s given", k->name, k->nparams,
                     k->nparams == 1 ? "" : "s", c->ntypes, c->ntypes == 1 ? " was" : "s were");
        return;
    }
    c->host->kernel = k;
    FrontendRequest request = {.host = &c->host->host,
                               .function = host_ref(c->host, (PyObject *)k),
                               .dialect = k->dialect,
                               .args = c->types,
                               .nargs = c->ntypes,
                               .facts = r->facts,
                               .host_function = r->host_function,
                               .self_contained = r->self_contained,
                               .result = &c->result,
                               .fma = r->options->fma,
                               .recursion_limit = r->options->recursion_limit,
                               .variables = r->variables,
                               .debug = r->options->debug,
                               .fastmath = r->options->fastmath,
                               .boundscheck = r->options->boundscheck || r->options->debug};
    c->diags.arena = &c->arena;
    c->module = frontend_compile(&c->arena, &request, &c->diags, r->want_spans ? &c->spans : NULL);
    if (PyErr_Occurred()) c->module = NULL; /* a host call failed in a way that ends the compilation: Ctrl-C, memory */
    else if (!c->module || c->diags.nerrors) {
        errors_from_diags(&c->diags, &c->host->host, kernel_text(c, k));
        c->module = NULL;
    } else if (errors_warn(&c->diags) < 0) c->module = NULL;
}

int compilation_open(Compilation *c, const CompileRequest *r) {
    jmp_buf on_oom;
    memset(c, 0, sizeof *c);
    c->kernel = r->kernel;
    arena_init(&c->arena, &on_oom);
    c->host = PyMem_Calloc(1, sizeof *c->host);
    if (!c->host || host_open(c->host, &c->arena) < 0) return PyErr_Occurred() ? -1 : (PyErr_NoMemory(), -1);
    if (setjmp(on_oom) == 0) run_frontend(c, r);
    else {
        c->module = NULL;
        PyErr_NoMemory();
    }
    c->arena.on_oom = NULL;
    return c->module ? 0 : -1;
}

void compilation_close(Compilation *c) {
    if (c->host) host_close(c->host);
    PyMem_Free(c->host);
    arena_free(&c->arena);
}

/* ---- options ----------------------------------------------------------------------------------- */

/* What a function of a module of ours finds; kept for the life of the process, since CompileOptions point at it. */
static int find_path(const char *name, const char *function, const char **out) {
    PyObject *module = PyImport_ImportModule(name);
    PyObject *path = module ? PyObject_CallMethod(module, function, NULL) : NULL;
    Py_XDECREF(module);
    if (!path) return -1;
    const char *text = path == Py_None ? NULL : PyUnicode_AsUTF8(path);
    if (path != Py_None && !text) {
        Py_DECREF(path);
        return -1;
    }
    char *copy = text ? strdup(text) : NULL;
    Py_DECREF(path);
    if (text && !copy) return PyErr_NoMemory(), -1;
    *out = copy;
    return 0;
}

static int find_libraries(CompileOptions *o) {
    static bool found;
    static const char *libdevice, *libclc;
    if (!found &&
        (find_path("gpu._libdevice", "find", &libdevice) < 0 || find_path("gpu._libdevice", "libclc_dir", &libclc) < 0))
        return -1;
    found = true;
    o->libdevice = libdevice;
    o->libclc_dir = libclc;
    return 0;
}

/* The folder for kernels with cache=True. */
static int find_cache(CompileOptions *o) {
    static bool found;
    static const char *folder;
    if (!found && find_path("gpu._cache", "folder", &folder) < 0) return -1;
    found = true;
    o->cache_dir = folder;
    return 0;
}

/* In the Numba dialect code is kept beside the program, if it can be. What is returned holds the names. */
static PyObject *place_beside_program(const KernelObject *k, CompileOptions *o) {
    if (!o->cache_dir || k->dialect != DIALECT_NUMBA) return Py_NewRef(Py_None);
    PyObject *module = PyImport_ImportModule("gpu.cuda._filecache");
    PyObject *place = module ? PyObject_CallMethod(module, "place", "O", k->function) : NULL;
    if (place && place != Py_None && !PyArg_ParseTuple(place, "ss", &o->cache_dir, &o->cache_name)) Py_CLEAR(place);
    Py_XDECREF(module);
    return place;
}

/* "sm_90a", "sm90", "90", "compute_90" */
static int read_arch(CompileOptions *o, const char *arch) {
    const char *at = arch;
    if (strncmp(at, "sm_", 3) == 0) at += 3;
    else if (strncmp(at, "sm", 2) == 0) at += 2;
    else if (strncmp(at, "compute_", 8) == 0) at += 8;
    char *end;
    long sm = strtol(at, &end, 10);
    const CompilerApi *api = compiler_api();
    if (!api) return -1;
    char suffix = *end;
    if (end != at && sm > 0 && sm < 1000 && (suffix == '\0' || ((suffix == 'a' || suffix == 'f') && !end[1]))) {
        uint16_t lowest;
        if (api->target_known((uint16_t)sm, suffix, &lowest)) {
            o->sm = (uint16_t)sm;
            o->sm_suffix = suffix;
            return 0;
        }
    }
    PyErr_Format(PyExc_ValueError,
                 "unknown architecture '%s': sm_75 to sm_121 are supported, for example sm_80, sm_90 or sm_90a", arch);
    return -1;
}

PyObject *compile_architectures(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    const CompilerApi *api = compiler_api();
    PyObject *list = api ? PyList_New(0) : NULL;
    for (uint16_t sm = 1; list && sm < 1000; sm++) {
        PyObject *number = api->target_known(sm, 0, NULL) ? PyLong_FromLong(sm) : NULL;
        if (number && PyList_Append(list, number) < 0) Py_CLEAR(list);
        Py_XDECREF(number);
        if (PyErr_Occurred()) Py_CLEAR(list);
    }
    return list;
}

/* A PTX version from which loads say which of their bytes count. */
enum { PTX_USED_BYTES = 83 };

/* Code that a device is to run is in that version, if its driver reads it: what watches memory then knows that a load
 * of four elements is one of three, where the fourth is beyond the array. */
static void choose_ptx_version(CompileOptions *o) {
    const DeviceRow *row = device_current();
    uint16_t lowest;
    if (!row || !row->device || row->device->ptx_version < PTX_USED_BYTES) return;
    if (compiler_api()->target_known(o->sm, o->sm_suffix, &lowest) && lowest < PTX_USED_BYTES)
        o->ptx_version = PTX_USED_BYTES;
}

int compile_options(CompileOptions *o, const Options *from, TargetKind target, const char *arch) {
    *o = (CompileOptions){.target = target,
                          .max_registers = from->max_registers,
                          .max_threads = from->max_threads,
                          .min_blocks = from->min_blocks,
                          .max_cluster = from->max_cluster,
                          .fma = from->fma,
                          .fastmath = from->fastmath,
                          .lineinfo = from->lineinfo,
                          .debug = from->debug && from->opt == 0,
                          .opt = from->opt};
    if (from->cache && find_cache(o) < 0) return -1;
    if (target == TARGET_CPU) return 0;
    return read_arch(o, arch) < 0 || find_libraries(o) < 0 ? -1 : 0;
}

int compile_options_sm(CompileOptions *o, const Options *from, uint16_t sm) {
    char arch[16];
    PyOS_snprintf(arch, sizeof arch, "sm_%u", sm);
    if (compile_options(o, from, sm ? TARGET_PTX : TARGET_CPU, arch) < 0) return -1;
    if (sm) choose_ptx_version(o);
    return 0;
}

/* Of a device that is newer than this compiler, and of a driver that is older than its device's PTX, what comes next
 * below. Kept: it's asked at each launch. */
int compile_sm(const Device *d) {
    static uint16_t known[2 * MOST_DEVICES + 1];
    if (!d->ops->runs_ptx) return 0;
    uint16_t *kept = &known[d->index % (sizeof known / sizeof *known)];
    if (*kept) return *kept;
    const CompilerApi *api = compiler_api();
    if (!api) return -1;
    for (uint16_t sm = d->sm; sm >= 75; sm--) {
        uint16_t lowest;
        if (!api->target_known(sm, 0, &lowest) || lowest > d->ptx_version) continue;
        *kept = sm;
        return sm;
    }
    PyErr_Format(PyExc_RuntimeError,
                 "%s has compute capability %d.%d and a driver that reads PTX %d.%d: no code can be made for it",
                 d->name, d->sm / 10, d->sm % 10, d->ptx_version / 10, d->ptx_version % 10);
    return -1;
}

/* ---- the compiler library ---------------------------------------------------------------------- */

/* Passes, ours and LLVM's, recurse along chains of operations: a long kernel needs more stack than threads have. */
enum { LONG_KERNEL = 5000 /* operations */, LONG_STACK = 512 << 20 /* bytes; what isn't used takes no memory */ };

typedef struct LlvmJob {
    Compilation *c;
    const CompilerApi *api;
    const CompileOptions *options;
    Stage stage;
    bool want_text;
    Image *image;
    char *text, *error;
    bool ok; /* memory was enough */
} LlvmJob;

/* The passes allocate in the arena, whose end of memory must lead to a frame that still runs. */
static void *run_llvm(void *arg) {
    LlvmJob *job = arg;
    Compilation *c = job->c;
    jmp_buf on_oom;
    c->arena.on_oom = &on_oom;
    job->ok = setjmp(on_oom) == 0;
    if (job->ok && job->want_text) job->text = job->api->text(c->module, job->options, job->stage, &job->error);
    else if (job->ok) job->image = job->api->compile(c->module, job->options, &job->error);
    c->arena.on_oom = NULL;
    return NULL;
}

/* In a thread with a large stack; false: there is none to be had. */
static bool run_apart(LlvmJob *job) {
    pthread_attr_t attr;
    pthread_t thread;
    if (pthread_attr_init(&attr) != 0) return false;
    bool made = pthread_attr_setstacksize(&attr, LONG_STACK) == 0 && pthread_create(&thread, &attr, run_llvm, job) == 0;
    pthread_attr_destroy(&attr);
    if (made) pthread_join(thread, NULL);
    return made;
}

static int llvm(Compilation *c, LlvmJob *job) {
    CompileOptions options = *job->options;
    job->api = compiler_api();
    if (!job->api || foreign_options(c, &options) < 0) return -1;
    PyObject *place = place_beside_program(c->kernel, &options);
    if (!place) return -1;
    job->options = &options;
    job->c = c;
    Py_BEGIN_ALLOW_THREADS
    if (c->module->instrs.n < LONG_KERNEL || !run_apart(job)) run_llvm(job);
    Py_END_ALLOW_THREADS
    Py_DECREF(place);
    if (job->ok && (job->image || job->text)) return 0;
    if (!job->ok) PyErr_NoMemory();
    else
        errors_raise("CompileError", "%s: %s", c->module->name,
                     job->error ? job->error : "the compiler failed without a message");
    free(job->error);
    return -1;
}

Image *compilation_image(Compilation *c, const CompileOptions *o) {
    LlvmJob job = {.options = o};
    return llvm(c, &job) < 0 ? NULL : job.image;
}

char *compilation_text(Compilation *c, const CompileOptions *o, Stage stage) {
    LlvmJob job = {.options = o, .want_text = true, .stage = stage};
    return llvm(c, &job) < 0 ? NULL : job.text;
}
