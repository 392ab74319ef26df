/* cuda_launch.c - launches: the parameter buffer goes to the driver as it is.
 *
 * On the emulator a launch is waited for at once: a kernel that faults is then told of with the launch's own arguments
 * at hand. */
#include "cuda.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_BYTES = 1024, FREE_SHARED = 48 * 1024 /* bytes of a block, without asking */ };

/* ---- what didn't fit --------------------------------------------------------------------------- */

typedef struct Text {
    char at[1200];
    size_t used;
} Text;

static void put(Text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(Text *t, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(t->at + t->used, sizeof t->at - t->used, format, ap);
    va_end(ap);
    if (n > 0) t->used = t->used + (size_t)n < sizeof t->at ? t->used + (size_t)n : sizeof t->at - 1;
}

/* The block that would fit: as many threads as registers and shared memory allow, in whole warps. */
static void explain_threads(CudaDevice *d, const CodeInfo *code, uint64_t threads, Text *t) {
    const DeviceInfo *info = &d->base.info;
    uint32_t most = code->max_threads, warps = most / 32 * 32;
    if (threads <= most) return;
    uint64_t need = (uint64_t)code->registers * threads;
    if (code->registers && need > (uint64_t)info->registers_per_block)
        put(t,
            "; a block of %llu threads with %u registers each needs %llu registers, %llu more than the %d that there "
            "are",
            (unsigned long long)threads, code->registers, (unsigned long long)need,
            (unsigned long long)need - (unsigned long long)info->registers_per_block, info->registers_per_block);
    else
        put(t, "; a block of this kernel has at most %u threads, and %llu were asked", most,
            (unsigned long long)threads);
    put(t, ". A block of %u threads fits", warps ? warps : most);
    if (code->registers && need > (uint64_t)info->registers_per_block && threads)
        put(t, "; so does @jit(max_registers=%u), at the price of spills",
            (unsigned)((uint64_t)info->registers_per_block / threads / 8 * 8));
}

static void explain_shared(const CudaDevice *d, const CodeInfo *code, const LaunchConfig *c, Text *t) {
    uint32_t most = code->max_dynamic_shared;
    if (c->shared_bytes <= most) return;
    put(t, "; a block has %u bytes of static and %u of dynamic shared memory, together %u more than the %u that %s has",
        code->shared_bytes, c->shared_bytes, c->shared_bytes - most, most + code->shared_bytes, d->base.name);
}

/* Which resource, by how much, and what would fit. */
static Status explain(CudaDevice *d, CudaModule *m, const LaunchConfig *c, CUresult r, const char *call, Failure *f) {
    CodeInfo code;
    Failure other;
    Text t = {.used = 0};
    *t.at = 0;
    Status status = cuda_fail(d, d->cu, r, call, f);
    if (status == GPU_ERROR_FAULT) return status;
    if (cuda_code_info(&d->base, &m->base, &code, &other) != GPU_OK) {
        failure_clear(&other);
        return status;
    }
    uint64_t threads = (uint64_t)c->block[0] * c->block[1] * c->block[2];
    uint32_t fit = 0;
    explain_threads(d, &code, threads, &t);
    explain_shared(d, &code, c, &t);
    if (c->cooperative && r == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE &&
        cuda_occupancy(&d->base, &m->base, (uint32_t)threads, c->shared_bytes, &fit, &other) == GPU_OK)
        put(&t, "; %llu blocks were asked, and %llu fit at once",
            (unsigned long long)c->grid[0] * c->grid[1] * c->grid[2],
            (unsigned long long)fit * (unsigned)d->base.info.multiprocessors);
    if (!t.used) return status;
    failure_clear(f);
    failure_set(f, GPU_ERROR_LAUNCH, "%s: %s (%s)%s", d->base.name, cuda_error_text(d->cu, r),
                cuda_error_name(d->cu, r), t.at);
    f->code = (int)r;
    f->call = call;
    return GPU_ERROR_LAUNCH;
}

/* ---- shared memory ----------------------------------------------------------------------------- */

/* More than 48 KiB must be asked for, once for a function. */
static CUresult allow_shared(CudaDevice *d, CudaModule *m, uint32_t bytes) {
    if (bytes + (uint64_t)m->static_shared <= FREE_SHARED) return CUDA_SUCCESS;
    if (bytes <= __atomic_load_n(&m->dynamic_shared, __ATOMIC_RELAXED)) return CUDA_SUCCESS;
    CUresult r = d->cu->cuFuncSetAttribute(m->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes);
    if (!r) __atomic_store_n(&m->dynamic_shared, bytes, __ATOMIC_RELAXED);
    return r;
}

/* ---- launching --------------------------------------------------------------------------------- */

static CUresult launch_with_attributes(CudaDevice *d, CudaModule *m, const LaunchConfig *c, CUstream s, void **extra) {
    CUlaunchAttribute attributes[2];
    CUlaunchConfig config = {.gridDimX = c->grid[0],
                             .gridDimY = c->grid[1],
                             .gridDimZ = c->grid[2],
                             .blockDimX = c->block[0],
                             .blockDimY = c->block[1],
                             .blockDimZ = c->block[2],
                             .sharedMemBytes = c->shared_bytes,
                             .hStream = s,
                             .attrs = attributes};
    memset(attributes, 0, sizeof attributes);
    if (c->cooperative) {
        CUlaunchAttribute *a = &attributes[config.numAttrs++];
        a->id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        a->value.cooperative = 1;
    }
    if (c->cluster[0]) {
        CUlaunchAttribute *a = &attributes[config.numAttrs++];
        a->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        a->value.clusterDim.x = c->cluster[0];
        a->value.clusterDim.y = c->cluster[1];
        a->value.clusterDim.z = c->cluster[2];
    }
    return d->cu->cuLaunchKernelEx ? d->cu->cuLaunchKernelEx(&config, m->function, NULL, extra)
                                   : CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult launch(CudaDevice *d, CudaModule *m, const void *params, const LaunchConfig *c, const char **call) {
    CUstream s = cuda_stream_of(c->stream);
    size_t bytes = m->params_bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, (void *)(uintptr_t)params, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    *call = "cuFuncSetAttribute";
    CUresult r = c->shared_bytes ? allow_shared(d, m, c->shared_bytes) : CUDA_SUCCESS;
    if (r) return r;
    if (c->cooperative || c->cluster[0]) {
        *call = "cuLaunchKernelEx";
        return launch_with_attributes(d, m, c, s, extra);
    }
    *call = "cuLaunchKernel";
    return d->cu->cuLaunchKernel(m->function, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2],
                                 c->shared_bytes, s, NULL, extra);
}

/* With the hidden parameters behind the others: the address of the record, then the PrintTarget. */
static CUresult launch_hidden(CudaDevice *d, CudaModule *m, const void *params, const LaunchConfig *c, const Watch *w,
                              const char **call) {
    _Alignas(16) char few[FEW_BYTES];
    char *buffer = m->params_bytes <= sizeof few ? few : malloc(m->params_bytes);
    if (!buffer) return CUDA_ERROR_OUT_OF_MEMORY;
    const Image *image = m->base.image;
    CUstream s = cuda_stream_of(c->stream);
    char *hidden = buffer + m->hidden_offset;
    memcpy(buffer, params, image->params_bytes);
    if (w) {
        memcpy(hidden, &w->address, sizeof w->address);
        hidden += sizeof w->address;
    }
    if (image->prints) {
        PrintTarget target = cuda_prints_launching(d, m);
        memcpy(hidden, &target, sizeof target);
    }
    CUresult r = launch(d, m, buffer, c, call);
    if (image->prints) cuda_prints_launched(d, s, !r);
    if (buffer != few) free(buffer);
    return r;
}

Status cuda_launch(Device *device, Module *module, const void *params, const LaunchConfig *c, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CudaModule *m = (CudaModule *)module;
    CUcontext before;
    const char *call = NULL;
    LaunchConfig whole = *c;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    whole.cooperative |= module->image->grid_sync;
    c = &whole;
    Watch *w = NULL;
    status = cuda_settle(d, false, cuda_stream_of(c->stream), 0, f);
    if (status == GPU_OK && module->image->raises) status = cuda_watch(d, m, c, &w, f);
    if (status == GPU_OK) {
        cuda_launched(d, module);
        bool hidden = w || module->image->prints;
        CUresult r = hidden ? launch_hidden(d, m, params, c, w, &call) : launch(d, m, params, c, &call);
        if (w) cuda_watched(d, w);
        if (r) status = explain(d, m, c, r, call, f);
    }
    cuda_leave(d, before);
    return status;
}
