/* driver_library.c - libraries: code that is loaded into each context where one of its kernels is used; and the linker.
 */
#define _GNU_SOURCE
#include "driver.h"

#include <stdlib.h>
#include <string.h>

typedef struct CUlib_st Library;
typedef struct CUkern_st Kernel;

struct CUlib_st {
    Sources sources;
    uint32_t max_registers;
    Kernel *kernels;
};

struct CUkern_st {
    Library *library;
    Kernel *next;
    int dynamic_shared; /* cuKernelSetAttribute's; -1: not set */
    int carveout, cluster_policy;
    bool any_cluster;
    char name[];
};

/* ---- in a context ------------------------------------------------------------------------------ */

static Module *loaded(const Context *c, const Library *l) {
    Module *m = c->modules;
    while (m && m->library != l) m = m->next;
    return m;
}

static CUresult load_into(Context *c, Library *l, JitOptions *o, Module **out) {
    *out = loaded(c, l);
    if (*out) return CUDA_SUCCESS;
    CUresult r = module_make(c, &l->sources, o, out);
    if (r) return r;
    (*out)->library = l;
    if (l->max_registers) (*out)->max_registers = l->max_registers;
    return CUDA_SUCCESS;
}

/* The same when nobody gets the log. */
static CUresult module_in(Context *c, Library *l, Module **out) {
    JitOptions o;
    CUresult r = jit_begin(&o, 0, NULL, NULL);
    if (r) return r;
    r = load_into(c, l, &o, out);
    jit_end(&o);
    return r;
}

CUresult kernel_function(Context *c, CUkernel k, Function **out) {
    Module *m;
    CUresult r = module_in(c, k->library, &m);
    if (r) return r;
    *out = module_function(m, k->name);
    if (!*out) return CUDA_ERROR_NOT_FOUND;
    if (k->dynamic_shared >= 0) (*out)->dynamic_shared = (uint32_t)k->dynamic_shared;
    (*out)->carveout = k->carveout;
    (*out)->cluster_policy = k->cluster_policy;
    (*out)->any_cluster = k->any_cluster;
    return CUDA_SUCCESS;
}

/* ---- libraries --------------------------------------------------------------------------------- */

static void drop(Library *l) {
    while (l->kernels) {
        Kernel *k = l->kernels;
        l->kernels = k->next;
        handle_remove(HANDLE_KERNEL, k);
        free(k);
    }
    handle_remove(HANDLE_LIBRARY, l);
    image_close(&l->sources);
    free(l);
}

/* Loads it into the current context, so that errors are found now. Without one they are found when a kernel is asked
 * for. */
static CUresult open_library(CUlibrary *out, const void *image, size_t size, JitOptions *o) {
    Context *c = context_current();
    Library *l = calloc(1, sizeof *l);
    if (!l || !handle_add(HANDLE_LIBRARY, l)) {
        free(l);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    l->max_registers = o->max_registers;
    CUresult r = image_open(image, size, driver.options.sm, &o->log, &l->sources);
    if (!r && !image_copy(&l->sources)) r = CUDA_ERROR_OUT_OF_MEMORY;
    Module *m;
    if (!r && c) r = c->error ? c->error : load_into(c, l, o, &m);
    if (r) drop(l);
    else *out = l;
    return r;
}

/* With the lock; gives it back. */
static CUresult load(CUlibrary *out, const void *image, size_t size, CUjit_option *options, void **values, uint32_t n) {
    JitOptions o;
    CUresult r = jit_begin(&o, n, options, values);
    if (r) return call_end(r);
    r = open_library(out, image, size, &o);
    jit_end(&o);
    return call_end(r);
}

CUresult cuLibraryLoadData(CUlibrary *out, const void *image, CUjit_option *options, void **values, uint32_t n,
                           CUlibraryOption *more, void **more_values, uint32_t nmore) {
    (void)more_values;
    CUresult r = call_begin(ENTRY_cuLibraryLoadData, NEEDS_INIT, NULL);
    if (r) return r;
    if (!out || !image || (nmore && !more)) return call_end(CUDA_ERROR_INVALID_VALUE);
    return load(out, image, 0, options, values, n);
}

CUresult cuLibraryLoadFromFile(CUlibrary *out, const char *path, CUjit_option *options, void **values, uint32_t n,
                               CUlibraryOption *more, void **more_values, uint32_t nmore) {
    (void)more_values;
    CUresult r = call_begin(ENTRY_cuLibraryLoadFromFile, NEEDS_INIT, NULL);
    if (r) return r;
    if (!out || !path || (nmore && !more)) return call_end(CUDA_ERROR_INVALID_VALUE);
    size_t size;
    char *text = file_read(path, &size);
    if (!text) return call_end(CUDA_ERROR_FILE_NOT_FOUND);
    r = load(out, text, size, options, values, n);
    free(text);
    return r;
}

/* In all contexts of a device. */
static void unload_from(Context *c, const Library *l) {
    Module *m = loaded(c, l);
    if (m) module_drop(m);
}

CUresult cuLibraryUnload(CUlibrary l) {
    CUresult r = call_begin(ENTRY_cuLibraryUnload, NEEDS_INIT, NULL);
    if (r) return r;
    if (!handle_is(HANDLE_LIBRARY, l)) return call_end(CUDA_ERROR_INVALID_HANDLE);
    if (work_is_mine()) return call_end(CUDA_ERROR_NOT_PERMITTED);
    handle_remove(HANDLE_LIBRARY, l);
    for (uint32_t i = 0; i < driver.options.devices; i++) {
        Device *d = &driver.devices[i];
        work_wait(d, d->submitted);
        if (d->primary.retained) unload_from(&d->primary, l);
    }
    for (Context *c = driver.contexts; c; c = c->next) unload_from(c, l);
    drop(l);
    return call_end(CUDA_SUCCESS);
}

/* call_begin() for a question about a library in the current context. */
static CUresult begin(Entry entry, CUlibrary l, const void *out, Module **m) {
    Context *c;
    CUresult r = call_begin(entry, NEEDS_WORKING, &c);
    if (r) return r;
    if (!out) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (!handle_is(HANDLE_LIBRARY, l)) return call_end(CUDA_ERROR_INVALID_HANDLE);
    r = module_in(c, l, m);
    return r ? call_end(r) : CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule *out, CUlibrary l) {
    Module *m;
    CUresult r = begin(ENTRY_cuLibraryGetModule, l, out, &m);
    if (r) return r;
    *out = m;
    return call_end(CUDA_SUCCESS);
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary l, const char *name) {
    Module *m;
    CUresult r = begin(ENTRY_cuLibraryGetGlobal, l, name, &m);
    return r ? r : call_end(module_global(m, name, address, bytes));
}

/* Variables with the attribute .managed are ordinary ones here: both sides see them at one address only if they ask the
 * driver. */
CUresult cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes, CUlibrary l, const char *name) {
    (void)address, (void)bytes;
    Module *m;
    CUresult r = begin(ENTRY_cuLibraryGetManaged, l, name, &m);
    return r ? r : call_end(CUDA_ERROR_NOT_FOUND);
}

CUresult cuLibraryGetUnifiedFunction(void **out, CUlibrary l, const char *name) {
    Module *m;
    CUresult r = begin(ENTRY_cuLibraryGetUnifiedFunction, l, out, &m);
    return r ? r : call_end(name ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuLibraryGetKernelCount(uint32_t *out, CUlibrary l) {
    Module *m;
    CUresult r = begin(ENTRY_cuLibraryGetKernelCount, l, out, &m);
    if (r) return r;
    *out = 0;
    for (const Function *f = m->functions; f; f = f->next) ++*out;
    return call_end(CUDA_SUCCESS);
}

/* ---- kernels ----------------------------------------------------------------------------------- */

/* One handle for each name. NULL: no memory. */
static Kernel *kernel_of(Library *l, const char *name) {
    for (Kernel *k = l->kernels; k; k = k->next) {
        if (!strcmp(k->name, name)) return k;
    }
    size_t n = strlen(name) + 1;
    Kernel *k = malloc(sizeof *k + n);
    if (!k || !handle_add(HANDLE_KERNEL, k)) {
        free(k);
        return NULL;
    }
    *k = (Kernel){.library = l, .next = l->kernels, .dynamic_shared = -1, .carveout = -1};
    memcpy(k->name, name, n);
    l->kernels = k;
    return k;
}

CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary l, const char *name) {
    Module *m;
    CUresult r = begin(ENTRY_cuLibraryGetKernel, l, out, &m);
    if (r) return r;
    if (!name) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (!module_function(m, name)) return call_end(CUDA_ERROR_NOT_FOUND);
    Kernel *k = kernel_of(l, name);
    if (k) *out = k;
    return call_end(k ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult cuLibraryEnumerateKernels(CUkernel *out, uint32_t n, CUlibrary l) {
    Module *m;
    CUresult r = begin(ENTRY_cuLibraryEnumerateKernels, l, out, &m);
    if (r) return r;
    if (!n) return call_end(CUDA_ERROR_INVALID_VALUE);
    for (const Function *f = m->functions; f && n && !r; f = f->next, n--) {
        Kernel *k = kernel_of(l, f->func->name);
        if (k) *out++ = k;
        else r = CUDA_ERROR_OUT_OF_MEMORY;
    }
    return call_end(r);
}

static CUresult begin_kernel(Entry entry, CUkernel k, const void *out, Context **c) {
    CUresult r = call_begin(entry, c ? NEEDS_WORKING : NEEDS_INIT, c);
    if (r) return r;
    if (!out) return call_end(CUDA_ERROR_INVALID_VALUE);
    return handle_is(HANDLE_KERNEL, k) ? CUDA_SUCCESS : call_end(CUDA_ERROR_INVALID_HANDLE);
}

CUresult cuKernelGetFunction(CUfunction *out, CUkernel k) {
    Context *c;
    CUresult r = begin_kernel(ENTRY_cuKernelGetFunction, k, out, &c);
    return r ? r : call_end(kernel_function(c, k, out));
}

CUresult cuKernelGetLibrary(CUlibrary *out, CUkernel k) {
    CUresult r = begin_kernel(ENTRY_cuKernelGetLibrary, k, out, NULL);
    if (r) return r;
    *out = k->library;
    return call_end(CUDA_SUCCESS);
}

CUresult cuKernelGetName(const char **out, CUkernel k) {
    CUresult r = begin_kernel(ENTRY_cuKernelGetName, k, out, NULL);
    if (r) return r;
    *out = k->name;
    return call_end(CUDA_SUCCESS);
}

/* The context in which a kernel's attributes on a device are found: the current one if it is of that device, else the
 * primary one if it is active. */
static Context *context_on(CUdevice ordinal) {
    Context *c = context_current();
    if (c && c->device->ordinal == ordinal) return c;
    Device *d = device_find(ordinal);
    return d && d->primary.retained ? &d->primary : NULL;
}

static CUresult function_on(CUkernel k, CUdevice ordinal, Function **out) {
    if (!device_find(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    Context *c = context_on(ordinal);
    if (!c) return CUDA_ERROR_INVALID_CONTEXT;
    return c->error ? c->error : kernel_function(c, k, out);
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute which, CUkernel k, CUdevice device) {
    CUresult r = begin_kernel(ENTRY_cuKernelGetAttribute, k, value, NULL);
    if (r) return r;
    Function *f;
    r = function_on(k, device, &f);
    return call_end(r ? r : function_attribute(f, which, value));
}

/* Kept with the kernel, for all devices. */
CUresult cuKernelSetAttribute(CUfunction_attribute which, int value, CUkernel k, CUdevice device) {
    CUresult r = begin_kernel(ENTRY_cuKernelSetAttribute, k, k, NULL);
    if (r) return r;
    Function *f;
    r = function_on(k, device, &f);
    if (!r) r = function_set_attribute(f, which, value);
    if (r) return call_end(r);
    k->dynamic_shared = (int)f->dynamic_shared;
    k->carveout = f->carveout;
    k->cluster_policy = f->cluster_policy;
    k->any_cluster = f->any_cluster;
    return call_end(CUDA_SUCCESS);
}

CUresult cuKernelSetCacheConfig(CUkernel k, CUfunc_cache config, CUdevice device) {
    CUresult r = begin_kernel(ENTRY_cuKernelSetCacheConfig, k, k, NULL);
    if (r) return r;
    if (!device_find(device)) return call_end(CUDA_ERROR_INVALID_DEVICE);
    return call_end(config < 0 || config > 3 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
}

CUresult cuKernelGetParamInfo(CUkernel k, size_t index, size_t *offset, size_t *bytes) {
    Context *c;
    CUresult r = begin_kernel(ENTRY_cuKernelGetParamInfo, k, offset, &c);
    if (r) return r;
    Function *f;
    r = kernel_function(c, k, &f);
    return call_end(r ? r : function_parameter(f, index, offset, bytes));
}

/* ---- linking ----------------------------------------------------------------------------------- */

struct CUlinkState_st {
    Device *device;
    JitOptions options;
    Sources sources; /* own all texts */
    void *image;
};

static CUresult create(Entry entry, uint32_t n, CUjit_option *options, void **values, CUlinkState *out) {
    Context *c;
    CUresult r = call_begin(entry, NEEDS_WORKING, &c);
    if (r) return r;
    if (!out) return call_end(CUDA_ERROR_INVALID_VALUE);
    struct CUlinkState_st *s = calloc(1, sizeof *s);
    if (!s) return call_end(CUDA_ERROR_OUT_OF_MEMORY);
    s->device = c->device;
    r = jit_begin(&s->options, n, options, values);
    if (!r && !handle_add(HANDLE_LINK, s)) r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r) {
        free(s->options.log.buffer);
        free(s);
        return call_end(r);
    }
    *out = s;
    return call_end(CUDA_SUCCESS);
}

CUresult cuLinkCreate(uint32_t n, CUjit_option *options, void **values, CUlinkState *out) {
    return create(ENTRY_cuLinkCreate, n, options, values, out);
}
CUresult cuLinkCreate_v2(uint32_t n, CUjit_option *options, void **values, CUlinkState *out) {
    return create(ENTRY_cuLinkCreate_v2, n, options, values, out);
}

/* NVIDIA's libcudadevrt.a: what kernels call of it, the emulator has built in. */
static bool is_device_runtime(CUjitInputType type, const void *data, size_t size) {
    static const char archive[] = "!<arch>\n", member[] = "cuda_device_runtime.o";
    return type == CU_JIT_INPUT_LIBRARY && size > sizeof archive && !memcmp(data, archive, sizeof archive - 1) &&
           memmem(data, size, member, sizeof member - 1);
}

/* With the lock; gives it back. An image may hold several texts. */
static CUresult add_data(CUlinkState s, CUjitInputType type, const void *data, size_t size, const char *name) {
    (void)name;
    if (type < CU_JIT_INPUT_CUBIN || type > CU_JIT_INPUT_NVVM || !data || !size)
        return call_end(CUDA_ERROR_INVALID_VALUE);
    if (is_device_runtime(type, data, size)) return call_end(CUDA_SUCCESS);
    if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY) {
        log_add(&s->options.log, "fatal   : the emulator links PTX, and this input is machine code\n");
        jit_copy_log(&s->options);
        return call_end(CUDA_ERROR_NO_BINARY_FOR_GPU);
    }
    Sources more;
    CUresult r = image_open(data, size, driver.options.sm, &s->options.log, &more);
    if (!r) {
        bool good = image_copy(&more) && image_join(&s->sources, &more);
        if (!good) r = CUDA_ERROR_OUT_OF_MEMORY;
        image_close(&more);
    }
    jit_copy_log(&s->options);
    return call_end(r);
}

static CUresult link_begin(Entry entry, CUlinkState s) {
    CUresult r = call_begin(entry, NEEDS_INIT, NULL);
    if (r) return r;
    if (!handle_is(HANDLE_LINK, s)) return call_end(CUDA_ERROR_INVALID_HANDLE);
    return s->image ? call_end(CUDA_ERROR_INVALID_VALUE) : CUDA_SUCCESS;
}

CUresult cuLinkAddData(CUlinkState s, CUjitInputType type, void *data, size_t size, const char *name, uint32_t n,
                       CUjit_option *options, void **values) {
    (void)n, (void)options, (void)values;
    CUresult r = link_begin(ENTRY_cuLinkAddData, s);
    return r ? r : add_data(s, type, data, size, name);
}
CUresult cuLinkAddData_v2(CUlinkState s, CUjitInputType type, void *data, size_t size, const char *name, uint32_t n,
                          CUjit_option *options, void **values) {
    (void)n, (void)options, (void)values;
    CUresult r = link_begin(ENTRY_cuLinkAddData_v2, s);
    return r ? r : add_data(s, type, data, size, name);
}

static CUresult add_file(Entry entry, CUlinkState s, CUjitInputType type, const char *path) {
    CUresult r = link_begin(entry, s);
    if (r) return r;
    size_t size;
    if (!path) return call_end(CUDA_ERROR_INVALID_VALUE);
    char *text = file_read(path, &size);
    if (!text) return call_end(CUDA_ERROR_FILE_NOT_FOUND);
    r = add_data(s, type, text, size, path);
    free(text);
    return r;
}

CUresult cuLinkAddFile(CUlinkState s, CUjitInputType type, const char *path, uint32_t n, CUjit_option *options,
                       void **values) {
    (void)n, (void)options, (void)values;
    return add_file(ENTRY_cuLinkAddFile, s, type, path);
}
CUresult cuLinkAddFile_v2(CUlinkState s, CUjitInputType type, const char *path, uint32_t n, CUjit_option *options,
                          void **values) {
    (void)n, (void)options, (void)values;
    return add_file(ENTRY_cuLinkAddFile_v2, s, type, path);
}

/* Loads it once, to see whether it can be. */
CUresult cuLinkComplete(CUlinkState s, void **image, size_t *size) {
    CUresult r = link_begin(ENTRY_cuLinkComplete, s);
    if (r) return r;
    if (!image || !size || !s->sources.n) return call_end(CUDA_ERROR_INVALID_VALUE);
    Memory *memory = s->device->memory;
    PtxCode *code = ptx_load(s->sources.list, s->sources.n, memory, (uint16_t)s->device->arch->sm, &s->options.log);
    if (code) {
        ptx_unload(code, memory);
        s->sources.max_registers = s->options.max_registers;
        s->image = image_pack(&s->sources, size);
        r = s->image ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
        *image = s->image;
    } else {
        r = CUDA_ERROR_INVALID_PTX;
    }
    jit_copy_log(&s->options);
    return call_end(r);
}

CUresult cuLinkDestroy(CUlinkState s) {
    CUresult r = call_begin(ENTRY_cuLinkDestroy, NEEDS_INIT, NULL);
    if (r) return r;
    if (!handle_is(HANDLE_LINK, s)) return call_end(CUDA_ERROR_INVALID_HANDLE);
    handle_remove(HANDLE_LINK, s);
    free(s->options.log.buffer);
    image_close(&s->sources);
    free(s->image);
    free(s);
    return call_end(CUDA_SUCCESS);
}
