/* cuda_module.c - PTX to code on the device, by the driver's compiler; what the code needs.
 *
 * A PTX that the driver refuses is told of with its log, the line of our PTX that the log names, and the line of Python
 * that this came from. */
#define _GNU_SOURCE
#include "cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_BYTES = 16384 };

/* ---- a refused PTX ----------------------------------------------------------------------------- */

static const char *next_line(const char *at) {
    const char *end = strchr(at, '\n');
    return end ? end + 1 : at + strlen(at);
}

/* The number in "ptxas application ptx input, line 12; error : ...", in the first line of the log that has one. */
static unsigned line_in_log(const char *log) {
    unsigned line = 0;
    const char *at = strstr(log, "line ");
    while (at && sscanf(at, "line %u", &line) != 1) at = strstr(at + 1, "line ");
    return line;
}

/* The file that ".file 3 "path"" names; its length in *n. */
static const char *file_name(const char *ptx, unsigned number, int *n) {
    for (const char *at = ptx; *at; at = next_line(at)) {
        unsigned found;
        if (sscanf(at, " .file %u", &found) != 1 || found != number) continue;
        const char *open = strchr(at, '"'), *close = open ? strchr(open + 1, '"') : NULL;
        if (!close || close > next_line(at)) continue;
        *n = (int)(close - open - 1);
        return open + 1;
    }
    return NULL;
}

/* "    st.global.f32 [%rd4], %f1;   from file.py:12" */
static void quote_line(const char *ptx, unsigned line, char *out, size_t size) {
    unsigned file = 0, python_line = 0, n = 1, found_file, found_line;
    const char *at = ptx;
    for (; *at && n < line; at = next_line(at), n++)
        if (sscanf(at, " .loc %u %u", &found_file, &found_line) == 2) {
            file = found_file;
            python_line = found_line;
        }
    *out = 0;
    if (!*at) return;
    int width = (int)strcspn(at, "\n"), length = 0;
    const char *name = python_line ? file_name(ptx, file, &length) : NULL;
    if (name) snprintf(out, size, "\n  PTX line %u: %.*s\n  from %.*s:%u", line, width, at, length, name, python_line);
    else snprintf(out, size, "\n  PTX line %u: %.*s", line, width, at);
}

static Status refused(CudaDevice *d, const Image *image, CUresult r, const char *call, const char *log, Failure *f) {
    char quoted[1200];
    unsigned line = image->nlinks ? 0 : line_in_log(log); /* maybe of a text that was linked */
    quote_line(image->ptx, line, quoted, sizeof quoted);
    const char *advice = cuda_error_advice(r);
    failure_set(f, GPU_ERROR_CODE,
                "%s's driver doesn't compile the PTX %u.%u for sm_%u of this kernel: %s (%s)%s%s%s%s%s", d->base.name,
                image->ptx_version / 10u, image->ptx_version % 10u, image->sm, cuda_error_text(d->cu, r),
                cuda_error_name(d->cu, r), *advice ? "; " : "", advice, line ? quoted : "", *log ? "\n" : "", log);
    f->code = (int)r;
    f->call = call;
    f->log = *log ? strdup(log) : NULL;
    return GPU_ERROR_CODE;
}

/* ---- compiling --------------------------------------------------------------------------------- */

typedef struct Jit {
    CUjit_option options[8];
    void *values[8];
    uint32_t n;
    char error[LOG_BYTES], info[LOG_BYTES];
} Jit;

static void option(Jit *j, CUjit_option o, uintptr_t value) {
    j->options[j->n] = o;
    j->values[j->n++] = (void *)value;
}

static void set_options(Jit *j, const LoadOptions *o) {
    *j->error = *j->info = 0;
    j->n = 0;
    option(j, CU_JIT_ERROR_LOG_BUFFER, (uintptr_t)j->error);
    option(j, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, sizeof j->error);
    option(j, CU_JIT_INFO_LOG_BUFFER, (uintptr_t)j->info);
    option(j, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, sizeof j->info);
    option(j, CU_JIT_LOG_VERBOSE, 1);
    if (o && o->max_registers) option(j, CU_JIT_MAX_REGISTERS, o->max_registers);
    if (o && o->opt >= 0) option(j, CU_JIT_OPTIMIZATION_LEVEL, o->opt >= 2 ? 4 : (uintptr_t)o->opt);
    if (o && o->debug) option(j, CU_JIT_GENERATE_DEBUG_INFO, 1);
    else if (o && o->lineinfo) option(j, CU_JIT_GENERATE_LINE_INFO, 1);
}

/* "0 bytes stack frame, 16 bytes spill stores, 16 bytes spill loads" of the verbose log. */
static int32_t spills_in(const char *info) {
    const char *at = strstr(info, " bytes spill stores");
    if (!at) return -1;
    while (at > info && at[-1] >= '0' && at[-1] <= '9') at--;
    return (int32_t)strtol(at, NULL, 10);
}

static CUresult add_links(CudaDevice *d, const Image *image, CUlinkState link, const char **call) {
    *call = "cuLinkAddData";
    size_t bytes = strlen(image->ptx) + 1;
    CUresult r = d->cu->cuLinkAddData_v2(link, CU_JIT_INPUT_PTX, image->ptx, bytes, image->entry, 0, NULL, NULL);
    for (uint32_t i = 0; !r && i < image->nlinks; i++) {
        const ImageLink *l = &image->links[i];
        size_t size = l->size + (l->kind == LINK_PTX);
        r = d->cu->cuLinkAddData_v2(link, (CUjitInputType)l->kind, l->data, size, l->name, 0, NULL, NULL);
    }
    return r;
}

/* The kernel's PTX with the code that its declared functions come with. */
static CUresult load_linked(CudaDevice *d, CudaModule *m, Jit *j, const char **call) {
    CUlinkState link;
    void *code;
    size_t size;
    *call = "cuLinkCreate";
    CUresult r = d->cu->cuLinkCreate_v2(j->n, j->options, j->values, &link);
    if (r) return r;
    r = add_links(d, m->base.image, link, call);
    if (!r) {
        *call = "cuLinkComplete";
        r = d->cu->cuLinkComplete(link, &code, &size);
    }
    if (!r) {
        *call = "cuModuleLoadDataEx";
        r = d->cu->cuModuleLoadDataEx(&m->module, code, 0, NULL, NULL);
    }
    d->cu->cuLinkDestroy(link);
    return r;
}

static CUresult load_code(CudaDevice *d, CudaModule *m, Jit *j, const char **call) {
    if (m->base.image->nlinks) return load_linked(d, m, j, call);
    *call = "cuModuleLoadDataEx";
    return d->cu->cuModuleLoadDataEx(&m->module, m->base.image->ptx, j->n, j->options, j->values);
}

static Status compile(CudaDevice *d, CudaModule *m, const LoadOptions *o, Failure *f) {
    const Image *image = m->base.image;
    const char *call;
    Jit *j = malloc(sizeof *j);
    if (!j) return failure_memory(f);
    set_options(j, o);
    CUresult r = load_code(d, m, j, &call);
    j->error[sizeof j->error - 1] = j->info[sizeof j->info - 1] = 0;
    Status status = GPU_OK;
    m->spill_bytes = spills_in(j->info);
    if (r) {
        status = cuda_fail(d, d->cu, r, call, f);
        if (status == GPU_ERROR_CODE) {
            failure_clear(f);
            status = refused(d, image, r, call, j->error, f);
        }
    } else if ((r = d->cu->cuModuleGetFunction(&m->function, m->module, image->entry))) {
        status = cuda_fail(d, d->cu, r, "cuModuleGetFunction", f);
        d->cu->cuModuleUnload(m->module);
    }
    free(j);
    return status;
}

/* ---- loading ----------------------------------------------------------------------------------- */

static Status attribute(CudaDevice *d, const CudaModule *m, CUfunction_attribute a, uint32_t *out, Failure *f) {
    int value = 0;
    CUresult r = d->cu->cuFuncGetAttribute(&value, a, m->function);
    *out = (uint32_t)value;
    return r ? cuda_fail(d, d->cu, r, "cuFuncGetAttribute", f) : GPU_OK;
}

static Status finish(CudaDevice *d, CudaModule *m, Failure *f) {
    Status status = attribute(d, m, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &m->static_shared, f);
    return status == GPU_OK && m->base.image->prints ? cuda_prints_open(d, f) : status;
}

Status cuda_load(Device *device, const Image *image, const LoadOptions *o, void *owner, Module **out, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    if (!image->ptx) return failure_set(f, GPU_ERROR_CODE, "the kernel has no PTX");
    CudaModule *m = calloc(1, sizeof *m);
    if (!m) return failure_memory(f);
    m->base = (Module){.device = device, .image = image, .owner = owner};
    m->params_bytes = image->params_bytes;
    if (image->raises || image->prints) {
        m->hidden_offset = (image->params_bytes + 7) & ~7u;
        m->params_bytes = m->hidden_offset + (image->raises ? (uint32_t)sizeof(CUdeviceptr) : 0) +
                          (image->prints ? (uint32_t)sizeof(PrintTarget) : 0);
    }
    Status status = cuda_enter(d, &before, f);
    if (status == GPU_OK) {
        status = compile(d, m, o, f);
        if (status == GPU_OK) {
            status = finish(d, m, f);
            if (status != GPU_OK) d->cu->cuModuleUnload(m->module);
        }
        cuda_leave(d, before);
    }
    if (status == GPU_OK) *out = &m->base;
    else free(m);
    return status;
}

/* Launches that may still run use the code and the record. */
void cuda_unload(Device *device, Module *module) {
    CudaDevice *d = (CudaDevice *)device;
    CudaModule *m = (CudaModule *)module;
    CUcontext before;
    Failure f;
    if (cuda_enter(d, &before, &f) != GPU_OK) {
        failure_clear(&f); /* a forked child: the code is the parent's */
        return;
    }
    d->cu->cuCtxSynchronize();
    pthread_mutex_lock(&d->lock);
    cuda_forget(d, module);
    pthread_mutex_unlock(&d->lock);
    cuda_unwatch(d, m);
    d->cu->cuModuleUnload(m->module);
    cuda_leave(d, before);
    free(m);
}

/* ---- what the code needs ----------------------------------------------------------------------- */

Status cuda_code_info(Device *device, Module *module, CodeInfo *out, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CudaModule *m = (CudaModule *)module;
    const struct {
        CUfunction_attribute attribute;
        uint32_t *to;
    } rows[] = {{CU_FUNC_ATTRIBUTE_NUM_REGS, &out->registers},
                {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &out->local_bytes},
                {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &out->shared_bytes},
                {CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &out->constant_bytes},
                {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &out->max_threads},
                {CU_FUNC_ATTRIBUTE_PTX_VERSION, &out->ptx_version},
                {CU_FUNC_ATTRIBUTE_BINARY_VERSION, &out->binary_version}};
    CUcontext before;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    for (size_t i = 0; status == GPU_OK && i < sizeof rows / sizeof *rows; i++)
        status = attribute(d, m, rows[i].attribute, rows[i].to, f);
    uint32_t most = (uint32_t)d->base.info.shared_bytes_per_block_optin;
    if (!most) most = (uint32_t)d->base.info.shared_bytes_per_block;
    out->spill_bytes = m->spill_bytes;
    out->max_dynamic_shared = most > m->static_shared ? most - m->static_shared : 0;
    cuda_leave(d, before);
    return status;
}

Status cuda_occupancy(Device *device, Module *m, uint32_t threads, uint32_t shared_bytes, uint32_t *blocks,
                      Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    int n = 0;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    CUresult r =
        d->cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, ((CudaModule *)m)->function, (int)threads, shared_bytes);
    if (r) status = cuda_fail(d, d->cu, r, "cuOccupancyMaxActiveBlocksPerMultiprocessor", f);
    *blocks = n > 0 ? (uint32_t)n : 0;
    cuda_leave(d, before);
    return status;
}

Status cuda_suggest_block(Device *device, Module *m, uint32_t shared_bytes, uint32_t limit, uint32_t *block,
                          uint32_t *grid, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    int threads = 0, blocks = 0;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    CUresult r = d->cu->cuOccupancyMaxPotentialBlockSize(&blocks, &threads, ((CudaModule *)m)->function, NULL,
                                                         shared_bytes, (int)limit);
    if (r) status = cuda_fail(d, d->cu, r, "cuOccupancyMaxPotentialBlockSize", f);
    *block = threads > 0 ? (uint32_t)threads : 1;
    *grid = blocks > 0 ? (uint32_t)blocks : 1;
    cuda_leave(d, before);
    return status;
}
