/* variant.c - the specialisations of a kernel: found by key and facts, compiled when missing.
 *
 * A launch reads the table with the GIL held, and no Python code runs while it changes, so reading takes no lock. Only
 * compilation does, since it lets go of the GIL: one lock for each kernel. */
#include "core.h"

#include <unistd.h>

/* Of the block's shape. */
#define SHAPE_FACTS ((uint32_t)(FACT_WARPS | FACT_ROW))

enum { FIRST_BUCKETS = 8, MOST_FACTS = 3 /* variants with one key; more launches share the most general */ };

struct Variants {
    Variant **buckets;
    uint32_t nbuckets, n;
    Variant **order; /* in order of compilation; as many as there is room for in `buckets` */
    Variant *last;   /* the one launched last: most launches repeat it */
};

int variants_init(KernelObject *k) {
    struct Variants *t = PyMem_Calloc(1, sizeof *t);
    k->variants = t;
    if (t) {
        t->nbuckets = FIRST_BUCKETS;
        t->buckets = PyMem_Calloc(FIRST_BUCKETS, sizeof(Variant *));
        t->order = PyMem_Calloc(FIRST_BUCKETS, sizeof(Variant *));
    }
    return t && t->buckets && t->order ? 0 : (PyErr_NoMemory(), -1);
}

/* A GPU's driver waits for what still runs, and that perhaps for a callback that needs the GIL. */
static void unload(Module *m) {
    Device *d = m->device;
    if (!d->ops->runs_ptx) {
        d->ops->unload(d, m);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    d->ops->unload(d, m);
    Py_END_ALLOW_THREADS
}

/* What the driver has is given back with the process. */
static bool interpreter_ends(void) {
#if PY_VERSION_HEX >= 0x030d0000
    return Py_IsFinalizing();
#else
    return _Py_IsFinalizing();
#endif
}

static bool is_on_gpu(const Variant *v) {
    for (uint32_t i = 0; i < v->nmodules; i++)
        if (v->modules[i] && v->modules[i]->device->ops->runs_ptx) return true;
    return false;
}

/* At the end nothing waits for a kernel that still runs, and may never end. */
static void variant_free(Variant *v) {
    if (interpreter_ends() && is_on_gpu(v)) return;
    for (uint32_t i = 0; i < v->nmodules; i++)
        if (v->modules[i]) unload(v->modules[i]);
    PyMem_Free(v->modules);
    if (v->image) {
        const CompilerApi *api = compiler_api();
        if (api && (v->image->cpu_entry || v->image->cpu_region || v->image->host_fn)) api->unload(v->image);
        gpu_image_free(v->image);
    }
    PyMem_Free(v->key);
    PyMem_Free(v->written);
    Py_XDECREF(v->pins);
    Py_XDECREF(v->types);
    Py_XDECREF(v->result);
    Py_XDECREF(v->raises);
    Py_XDECREF(v->prints);
    PyMem_Free(v);
}

void variants_free(KernelObject *k) {
    struct Variants *t = k->variants;
    if (!t) return;
    for (uint32_t i = 0; t->order && i < t->n; i++) variant_free(t->order[i]);
    PyMem_Free(t->buckets);
    PyMem_Free(t->order);
    PyMem_Free(t);
    k->variants = NULL;
}

int variants_traverse(KernelObject *k, visitproc visit, void *arg) {
    struct Variants *t = k->variants;
    for (uint32_t i = 0; t && i < t->n; i++) {
        Py_VISIT(t->order[i]->pins);
        Py_VISIT(t->order[i]->types);
        Py_VISIT(t->order[i]->result);
        Py_VISIT(t->order[i]->raises);
        Py_VISIT(t->order[i]->prints);
    }
    return 0;
}

PyObject *variants_types(KernelObject *k) {
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && i < k->variants->n; i++) {
        PyObject *types = k->variants->order[i]->types;
        int known = PySequence_Contains(list, types); /* variants for other facts have the same types */
        if (known < 0 || (!known && PyList_Append(list, types) < 0)) Py_CLEAR(list);
    }
    return list;
}

/* (types, whether its code was kept from before) of each variant. */
PyObject *variants_kept(KernelObject *k) {
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && i < k->variants->n; i++) {
        const Variant *v = k->variants->order[i];
        PyObject *pair = Py_BuildValue("(OO)", v->types, v->image->kept ? Py_True : Py_False);
        if (!pair || PyList_Append(list, pair) < 0) Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

/* ---- finding ----------------------------------------------------------------------------------- */

/* What a specialisation is looked for by, beside its facts. */
typedef struct Wanted {
    const uint8_t *key;
    uint32_t size;
    uint16_t sm;
    bool host_function;
} Wanted;

static uint32_t hash_bytes(const uint8_t *at, uint32_t n) {
    uint64_t h = 1469598103934665603u;
    for (; n >= 8; n -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        h = (h ^ word) * 1099511628211u;
        h ^= h >> 29;
    }
    for (; n > 0; n--, at++) h = (h ^ *at) * 1099511628211u;
    return (uint32_t)(h ^ h >> 32);
}

static bool has_key(const Variant *v, const Wanted *w) {
    return v->key_size == w->size && v->sm == w->sm && v->host_function == w->host_function &&
           memcmp(v->key, w->key, w->size) == 0;
}

/* What is known of a key: the variant for the facts, the best one that serves them too, how many there are. */
typedef struct Found {
    Variant *exact, *serves, *any;
    uint32_t n;
} Found;

static unsigned count_bits(uint32_t x) { return (unsigned)__builtin_popcount(x); }

static Found find(const KernelObject *k, const Wanted *w, uint32_t facts) {
    const struct Variants *t = k->variants;
    Found f = {NULL, NULL, NULL, 0};
    uint32_t hash = hash_bytes(w->key, w->size);
    for (Variant *v = t->buckets[hash & (t->nbuckets - 1)]; v; v = v->next) {
        if (v->hash != hash || !has_key(v, w)) continue;
        f.n++;
        f.any = v;
        if (v->facts == facts) f.exact = v;
        bool serves = (v->facts & ~facts) == 0;
        if (serves && (!f.serves || count_bits(v->facts) > count_bits(f.serves->facts))) f.serves = v;
    }
    return f;
}

static int insert(KernelObject *k, Variant *v) {
    struct Variants *t = k->variants;
    if (t->n == t->nbuckets) {
        uint32_t n = 2 * t->nbuckets;
        Variant **buckets = PyMem_Calloc(n, sizeof *buckets), **order = PyMem_Calloc(n, sizeof *order);
        if (!buckets || !order) {
            PyMem_Free(buckets);
            PyMem_Free(order);
            return PyErr_NoMemory(), -1;
        }
        for (uint32_t i = 0; i < t->n; i++) {
            Variant *old = order[i] = t->order[i];
            old->next = buckets[old->hash & (n - 1)];
            buckets[old->hash & (n - 1)] = old;
        }
        PyMem_Free(t->buckets);
        PyMem_Free(t->order);
        t->buckets = buckets;
        t->order = order;
        t->nbuckets = n;
    }
    v->next = t->buckets[v->hash & (t->nbuckets - 1)];
    t->buckets[v->hash & (t->nbuckets - 1)] = v;
    t->order[t->n++] = v;
    return 0;
}

/* ---- compiling --------------------------------------------------------------------------------- */

/* The image's sites name exception classes by reference: held as long as the image. */
static int hold_classes(Variant *v, const IrModule *m) {
    v->pins = PyList_New(0);
    if (!v->pins) return -1;
    for (uint32_t i = 0; i < m->sites.n; i++) {
        PyObject *cls = m->sites.at[i].host_ref;
        if (cls && PyList_Append(v->pins, cls) < 0) return -1;
    }
    return 0;
}

/* Which arrays the kernel writes, so that those that it only reads may overlap. */
static int learn_written(Variant *v) {
    v->written = PyMem_Calloc(v->nleaves + 1, 1);
    if (!v->written) return PyErr_NoMemory(), -1;
    for (uint32_t i = 0; i < v->image->nparams; i++) {
        const ImageParam *p = &v->image->params[i];
        bool only_read = (p->flags & (PARAM_READ | PARAM_WRITTEN)) == PARAM_READ;
        if (p->kind == PARAM_DATA && !only_read && p->leaf < v->nleaves) v->written[p->leaf] = 1;
    }
    return 0;
}

/* y = x * 2 gives the name y to another array, where y[:] was meant: a kernel that writes nothing may be told so. */
static int warn_without_effect(const Variant *v, const IrModule *m) {
    for (uint32_t i = 1; i < m->instrs.n; i++)
        if (op_info[m->instrs.at[i].op].flags & (WRITES | SYNC)) return 0;
    PyObject *module = PyImport_ImportModule("gpu._jit");
    PyObject *done = module ? PyObject_CallMethod(module, "warn_of_names", "OO", v->kernel->function, v->types) : NULL;
    Py_XDECREF(module), Py_XDECREF(done);
    return done ? 0 : -1;
}

static Variant *compile(const CompileRequest *r) {
    Compilation c;
    CompileOptions options;
    Variant *v = PyMem_Calloc(1, sizeof *v);
    if (!v) return (Variant *)PyErr_NoMemory();
    if (compilation_open(&c, r) < 0) goto error;
    v->key = PyMem_Malloc(r->key_size + 1);
    if (!v->key) {
        PyErr_NoMemory();
        goto error;
    }
    memcpy(v->key, r->key, r->key_size);
    v->kernel = r->kernel;
    v->key_size = r->key_size;
    v->hash = hash_bytes(r->key, r->key_size);
    v->facts = r->facts;
    v->host_function = r->host_function;
    v->sm = r->sm;
    v->nleaves = key_leaves(c.types, c.ntypes);
    indices_of(c.module, &v->indices);
    v->types = types_from_argtypes(c.types, c.ntypes);
    if (!v->types || hold_classes(v, c.module) < 0) goto error;
    if (!r->host_function && r->kernel->function && warn_without_effect(v, c.module) < 0) goto error;
    if (r->host_function && !(v->result = type_from_argtype(&c.result))) goto error;
    if (compile_options_sm(&options, r->options, r->sm) < 0) goto error;
    v->image = compilation_image(&c, &options);
    if (v->image) v->facts &= ~(SHAPE_FACTS & ~v->image->shape_facts);
    if (!v->image || prints_keep_types(v, c.module) < 0 || learn_written(v) < 0 || insert(r->kernel, v) < 0) goto error;
    compilation_close(&c);
    return v;
error:
    compilation_close(&c);
    variant_free(v);
    return NULL;
}

/* In a forked child, a lock that another thread of the parent held would never be released: the child takes a new one.
 */
static int renew_lock(KernelObject *k) {
    PyThread_type_lock fresh = PyThread_allocate_lock();
    if (!fresh) return PyErr_NoMemory(), -1;
    k->lock = fresh; /* the old one is held, so it can't be freed */
    k->compiling = 0;
    k->lock_owner = getpid();
    return 0;
}

/* Takes the kernel's lock; the GIL is let go while another thread compiles. */
static int lock(KernelObject *k) {
    if (k->compiling && k->lock_owner != getpid() && renew_lock(k) < 0) return -1;
    if (k->compiling == PyThread_get_thread_ident()) {
        PyErr_Format(PyExc_RuntimeError, "%U() is launched while it is compiled by the same thread", k->name);
        return -1;
    }
    if (!PyThread_acquire_lock(k->lock, NOWAIT_LOCK)) {
        Py_BEGIN_ALLOW_THREADS
        PyThread_acquire_lock(k->lock, WAIT_LOCK);
        Py_END_ALLOW_THREADS
    }
    k->compiling = PyThread_get_thread_ident();
    k->lock_owner = getpid();
    return 0;
}

static void unlock(KernelObject *k) {
    k->compiling = 0;
    PyThread_release_lock(k->lock);
}

/* Compiles unless another thread was faster. When a key has had its share of variants, the general one serves. */
static Variant *find_or_compile(KernelObject *k, const Wanted *w, uint32_t facts) {
    if (lock(k) < 0) return NULL;
    Found f = find(k, w, facts);
    if (f.any && facts & SHAPE_FACTS & ~f.any->image->shape_facts) { /* known by now */
        facts &= ~(SHAPE_FACTS & ~f.any->image->shape_facts);
        f = find(k, w, facts);
    }
    if (!f.exact && f.n >= MOST_FACTS) {
        f.exact = f.serves;
        facts = 0;
    }
    CompileRequest r = {.kernel = k,
                        .key = w->key,
                        .key_size = w->size,
                        .sm = w->sm,
                        .variables = w->sm && k->opt.debug && k->opt.opt == 0,
                        .facts = facts,
                        .host_function = w->host_function,
                        .options = &k->opt};
    Variant *v = f.exact ? f.exact : compile(&r);
    unlock(k);
    return v;
}

/* Is each 32 threads along x a warp? */
static bool rows_are_warps(const LaunchConfig *c) { return c->block[0] % 32 == 0 || c->block[1] * c->block[2] == 1; }

static uint32_t shape_of(const LaunchConfig *c) {
    uint32_t facts = rows_are_warps(c) ? FACT_WARPS : 0;
    return c->block[1] * c->block[2] == 1 ? facts | FACT_ROW : facts;
}

/* The facts of a launch; known: a variant for the same types, NULL if there is none yet. */
static uint32_t facts_of(const Bound *b, const Variant *known, const LaunchConfig *c, int sm) {
    uint32_t facts = args_facts(b, known ? known->written : NULL, c);
    uint32_t matter = sm ? 0 : known ? known->image->shape_facts : SHAPE_FACTS;
    return facts | (shape_of(c) & matter);
}

Variant *variant_for_launch(Bound *b, const LaunchConfig *c) {
    struct Variants *t = b->kernel->variants;
    int sm = b->device ? compile_sm(b->device) : 0;
    if (sm < 0) return NULL;
    Wanted w = {b->key, b->key_size, (uint16_t)sm, false};
    Variant *last = t->last;
    if (last && has_key(last, &w) && facts_of(b, last, c, sm) == last->facts) return last;
    Found f = find(b->kernel, &w, 0);
    uint32_t facts = facts_of(b, f.any, c, sm);
    f = find(b->kernel, &w, facts);
    Variant *v = f.exact;
    if (!v && f.n >= MOST_FACTS) v = f.serves;
    if (!v) v = find_or_compile(b->kernel, &w, facts);
    if (v) t->last = v;
    return v;
}

Variant *variant_for_host_call(Bound *b) {
    Wanted w = {b->key, b->key_size, 0, true};
    Found f = find(b->kernel, &w, 0);
    return f.exact ? f.exact : find_or_compile(b->kernel, &w, 0);
}

Variant *variant_of_types(KernelObject *k, PyObject *types, Device *d) {
    bool host_function = k->opt.device;
    int sm = host_function ? 0 : compile_sm(d);
    Wanted w = {.sm = (uint16_t)sm, .host_function = host_function};
    uint8_t *key = sm < 0 ? NULL : key_from_types(k, types, &w.size);
    if (!key) return NULL;
    w.key = key;
    uint32_t facts = host_function ? 0 : key_usual_facts(key, w.size);
    if (!host_function && sm == 0) facts |= FACT_WARPS;
    Variant *v = find_or_compile(k, &w, facts);
    PyMem_Free(key);
    return v;
}

int variant_compile_types(KernelObject *k, PyObject *types) {
    const DeviceRow *row = device_current();
    return row && variant_of_types(k, types, row->device) ? 0 : -1;
}

/* ---- on devices -------------------------------------------------------------------------------- */

static int room_for_module(Variant *v, uint32_t index) {
    if (index < v->nmodules) return 0;
    Module **modules = PyMem_Realloc(v->modules, (index + 1) * sizeof *modules);
    if (!modules) return PyErr_NoMemory(), -1;
    for (uint32_t i = v->nmodules; i <= index; i++) modules[i] = NULL;
    v->modules = modules;
    v->nmodules = index + 1;
    return 0;
}

static Module *load(Variant *v, Device *d) {
    const Options *o = &v->kernel->opt;
    LoadOptions options = {.max_registers = o->max_registers,
                           .opt = (int8_t)o->opt,
                           .lineinfo = o->lineinfo,
                           .debug = o->debug && o->opt == 0};
    Module *m = NULL;
    Failure failure;
    Status status;
    if (lock(v->kernel) < 0) return NULL;
    if (d->index < v->nmodules && v->modules[d->index]) { /* another thread was faster */
        unlock(v->kernel);
        return v->modules[d->index];
    }
    Py_BEGIN_ALLOW_THREADS
    status = d->ops->load(d, v->image, &options, v, &m, &failure);
    Py_END_ALLOW_THREADS
    if (status != GPU_OK) errors_from_failure(&failure, d, v->kernel);
    else if (room_for_module(v, d->index) < 0) unload(m);
    else v->modules[d->index] = m;
    unlock(v->kernel);
    return PyErr_Occurred() ? NULL : m;
}

Module *variant_module(Variant *v, Device *d) {
    return d->index < v->nmodules && v->modules[d->index] ? v->modules[d->index] : load(v, d);
}
