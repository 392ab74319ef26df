/* driver_module.c - modules: PTX loaded into a context, its kernels and variables; the options of the loading calls. */
#define _POSIX_C_SOURCE 200809L
#include "../clock.h"
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ----------------------------------------------------------------------------------- */

static double milliseconds(void) { return (double)clock_ns() * 1e-6; }

/* Scalars are passed in the pointers themselves. Those that change how code is compiled change nothing here. */
CUresult jit_begin(JitOptions *o, uint32_t n, const CUjit_option *options, void **values) {
    *o = (JitOptions){.started = milliseconds()};
    if (n && (!options || !values)) return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t number = (uint32_t)(uintptr_t)values[i];
        if (options[i] < 0 || options[i] > CU_JIT_LAST_OPTION) return CUDA_ERROR_INVALID_VALUE;
        switch (options[i]) {
        case CU_JIT_MAX_REGISTERS: o->max_registers = number; break;
        case CU_JIT_WALL_TIME: o->wall_time = &values[i]; break;
        case CU_JIT_INFO_LOG_BUFFER: o->info = values[i]; break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            o->info_size = number;
            o->info_used = &values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER: o->error = values[i]; break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            o->error_size = number;
            o->error_used = &values[i];
            break;
        default: break;
        }
    }
    o->log = (PtxLog){.buffer = malloc(LOG_BYTES), .size = LOG_BYTES};
    if (!o->log.buffer) return CUDA_ERROR_OUT_OF_MEMORY;
    *o->log.buffer = 0;
    return CUDA_SUCCESS;
}

static void give(const char *text, char *to, size_t size, void **used) {
    size_t n = strlen(text);
    if (to && size) {
        if (n >= size) n = size - 1;
        memcpy(to, text, n);
        to[n] = 0;
    }
    if (used) *used = (void *)(uintptr_t)(to && size ? n : 0);
}

void jit_copy_log(JitOptions *o) {
    give(o->log.buffer, o->error, o->error_size, o->error_used);
    give("", o->info, o->info_size, o->info_used);
    if (o->wall_time) {
        float took = (float)(milliseconds() - o->started);
        memcpy(o->wall_time, &took, sizeof took);
    }
}

void jit_end(JitOptions *o) {
    jit_copy_log(o);
    free(o->log.buffer);
    o->log.buffer = NULL;
}

/* ---- making and dropping ----------------------------------------------------------------------- */

/* What ptxas refuses: more static shared memory than a block can have without asking. */
static bool fits(const PtxCode *code, PtxLog *log) {
    for (uint32_t i = 0; i < code->nfuncs; i++) {
        const PtxFunc *f = &code->funcs[i];
        if (!f->is_kernel || f->shared_bytes <= 49152) continue;
        log_add(log, "error   : Entry function '%s' uses too much shared data (0x%x bytes, 0xc000 max)\n", f->name,
                (unsigned)f->shared_bytes);
        return false;
    }
    return true;
}

static bool add_functions(Module *m) {
    for (uint32_t i = m->code->nfuncs; i--;) {
        if (!m->code->funcs[i].is_kernel) continue;
        Function *f = malloc(sizeof *f);
        if (!f || !handle_add(HANDLE_FUNCTION, f)) {
            free(f);
            return false;
        }
        uint32_t fixed = m->code->funcs[i].shared_bytes;
        *f = (Function){.module = m,
                        .next = m->functions,
                        .func = &m->code->funcs[i],
                        .dynamic_shared = 49152 - fixed,
                        .carveout = -1};
        m->functions = f;
    }
    return true;
}

CUresult module_make(Context *c, const Sources *sources, JitOptions *o, Module **out) {
    PtxCode *code = ptx_load(sources->list, sources->n, c->device->memory, (uint16_t)c->device->arch->sm, &o->log);
    if (!code) return CUDA_ERROR_INVALID_PTX;
    if (!fits(code, &o->log)) {
        ptx_unload(code, c->device->memory);
        return CUDA_ERROR_INVALID_PTX;
    }
    Module *m = calloc(1, sizeof *m);
    if (!m || !handle_add(HANDLE_MODULE, m)) {
        free(m);
        ptx_unload(code, c->device->memory);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *m = (Module){.context = c, .next = c->modules, .code = code};
    m->max_registers = o->max_registers ? o->max_registers : sources->max_registers;
    c->modules = m;
    if (!add_functions(m)) {
        module_drop(m);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = m;
    return CUDA_SUCCESS;
}

void module_drop(Module *m) {
    Module **at = &m->context->modules;
    while (*at != m) at = &(*at)->next;
    *at = m->next;
    handle_remove(HANDLE_MODULE, m);
    profile_keep(m);
    while (m->functions) {
        Function *f = m->functions;
        m->functions = f->next;
        handle_remove(HANDLE_FUNCTION, f);
        free(f->old.params);
        free(f);
    }
    graphs_forget(NULL, m->code);
    ptx_unload(m->code, m->context->device->memory);
    free(m);
}

/* ---- loading ----------------------------------------------------------------------------------- */

/* With the lock; gives it back. */
static CUresult load(Context *c, CUmodule *out, const void *image, size_t size, uint32_t n, const CUjit_option *options,
                     void **values) {
    if (!out || !image) return call_end(CUDA_ERROR_INVALID_VALUE);
    JitOptions o;
    Sources sources;
    CUresult r = jit_begin(&o, n, options, values);
    if (r) return call_end(r);
    r = image_open(image, size, (uint32_t)c->device->arch->sm, &o.log, &sources);
    if (!r) {
        r = module_make(c, &sources, &o, out);
        image_close(&sources);
    }
    jit_end(&o);
    return call_end(r);
}

CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, uint32_t n, CUjit_option *options, void **values) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuModuleLoadDataEx, NEEDS_WORKING, &c);
    return r ? r : load(c, out, image, 0, n, options, values);
}

CUresult cuModuleLoadData(CUmodule *out, const void *image) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuModuleLoadData, NEEDS_WORKING, &c);
    return r ? r : load(c, out, image, 0, 0, NULL, NULL);
}

CUresult cuModuleLoadFatBinary(CUmodule *out, const void *image) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuModuleLoadFatBinary, NEEDS_WORKING, &c);
    return r ? r : load(c, out, image, 0, 0, NULL, NULL);
}

char *file_read(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *text = NULL;
    size_t n = 0, room = 0, got = 1;
    while (got) {
        if (n + 1 >= room) {
            char *more = realloc(text, room = room ? 2 * room : 65536);
            if (!more) break;
            text = more;
        }
        got = fread(text + n, 1, room - n - 1, f);
        n += got;
    }
    bool good = text && !got && !ferror(f);
    fclose(f);
    if (!good) {
        free(text);
        return NULL;
    }
    text[n] = 0;
    *size = n;
    return text;
}

CUresult cuModuleLoad(CUmodule *out, const char *path) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuModuleLoad, NEEDS_WORKING, &c);
    if (r) return r;
    size_t size;
    if (!out || !path) return call_end(CUDA_ERROR_INVALID_VALUE);
    char *text = file_read(path, &size);
    if (!text) return call_end(CUDA_ERROR_FILE_NOT_FOUND);
    r = load(c, out, text, size, 0, NULL, NULL);
    free(text);
    return r;
}

CUresult cuModuleUnload(CUmodule m) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuModuleUnload, NEEDS_WORKING, &c);
    if (r) return r;
    if (!handle_is(HANDLE_MODULE, m)) return call_end(CUDA_ERROR_INVALID_HANDLE);
    r = work_idle(m->context);
    if (r) return call_end(r);
    if (!handle_is(HANDLE_MODULE, m)) return call_end(CUDA_ERROR_INVALID_HANDLE);
    module_drop(m);
    return call_end(CUDA_SUCCESS);
}

/* ---- what is in it ----------------------------------------------------------------------------- */

Function *module_function(Module *m, const char *name) {
    Function *f = m->functions;
    while (f && strcmp(f->func->name, name) != 0) f = f->next;
    return f;
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule m, const char *name) {
    CUresult r = call_begin(ENTRY_cuModuleGetFunction, NEEDS_WORKING, NULL);
    if (r) return r;
    if (!out || !name) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (!handle_is(HANDLE_MODULE, m)) return call_end(CUDA_ERROR_INVALID_HANDLE);
    Function *f = module_function(m, name);
    if (f) *out = f;
    return call_end(f ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND);
}

CUresult module_global(const Module *m, const char *name, CUdeviceptr *address, size_t *bytes) {
    const PtxGlobal *g = ptx_global(m->code, name);
    if (!g || (g->space != SPACE_GLOBAL && g->space != SPACE_CONST)) return CUDA_ERROR_NOT_FOUND;
    if (address) *address = g->address;
    if (bytes) *bytes = g->bytes;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule m, const char *name) {
    CUresult r = call_begin(ENTRY_cuModuleGetGlobal_v2, NEEDS_WORKING, NULL);
    if (r) return r;
    if (!name) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (!handle_is(HANDLE_MODULE, m)) return call_end(CUDA_ERROR_INVALID_HANDLE);
    return call_end(module_global(m, name, address, bytes));
}

CUresult cuModuleGetFunctionCount(uint32_t *out, CUmodule m) {
    CUresult r = call_begin(ENTRY_cuModuleGetFunctionCount, NEEDS_WORKING, NULL);
    if (r) return r;
    if (!out) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (!handle_is(HANDLE_MODULE, m)) return call_end(CUDA_ERROR_INVALID_HANDLE);
    *out = 0;
    for (const Function *f = m->functions; f; f = f->next) ++*out;
    return call_end(CUDA_SUCCESS);
}

CUresult cuModuleEnumerateFunctions(CUfunction *out, uint32_t n, CUmodule m) {
    CUresult r = call_begin(ENTRY_cuModuleEnumerateFunctions, NEEDS_WORKING, NULL);
    if (r) return r;
    if (!out || !n) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (!handle_is(HANDLE_MODULE, m)) return call_end(CUDA_ERROR_INVALID_HANDLE);
    for (Function *f = m->functions; f && n; f = f->next, n--) *out++ = f;
    return call_end(CUDA_SUCCESS);
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *out) {
    CUresult r = call_check(ENTRY_cuModuleGetLoadingMode, NEEDS_INIT);
    if (r) return r;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}
