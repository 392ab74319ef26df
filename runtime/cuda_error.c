/* cuda_error.c - what the driver's error codes mean here.
 *
 * Faults (an access out of bounds) end the context: every later call fails, so the first one is kept and told again. */
#define _GNU_SOURCE
#include "cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- codes ------------------------------------------------------------------------------------- */

static const struct {
    CUresult code;
    const char *name, *text, *advice;
} errors[] = {
#define CUDA_ERROR(code, name, text, advice) {name, #name, text, advice},
#include "cuda_errors.def"
};
enum { NERRORS = sizeof errors / sizeof *errors };

static int find_error(CUresult r) {
    for (int i = 0; i < NERRORS; i++)
        if (errors[i].code == r) return i;
    return -1;
}

const char *cuda_error_name(const CudaDriver *cu, CUresult r) {
    int i = find_error(r);
    const char *name = NULL;
    if (i < 0 && cu && cu->cuGetErrorName) cu->cuGetErrorName(r, &name);
    return i >= 0 ? errors[i].name : name ? name : "an unknown error";
}

const char *cuda_error_text(const CudaDriver *cu, CUresult r) {
    int i = find_error(r);
    const char *text = NULL;
    if (i < 0 && cu && cu->cuGetErrorString) cu->cuGetErrorString(r, &text);
    return i >= 0 ? errors[i].text : text ? text : "unknown error";
}

const char *cuda_error_advice(CUresult r) {
    int i = find_error(r);
    return i >= 0 ? errors[i].advice : "";
}

/* What a code means for whoever called, where it isn't just a call that failed. */
static const struct {
    CUresult code;
    Status status;
} statuses[] = {
    {CUDA_ERROR_OUT_OF_MEMORY, GPU_ERROR_MEMORY},
    {CUDA_ERROR_NOT_SUPPORTED, GPU_ERROR_UNSUPPORTED},
    {CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, GPU_ERROR_UNSUPPORTED},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, GPU_ERROR_UNSUPPORTED},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, GPU_ERROR_LAUNCH},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, GPU_ERROR_LAUNCH},
    {CUDA_ERROR_INVALID_CLUSTER_SIZE, GPU_ERROR_LAUNCH},
    {CUDA_ERROR_INVALID_PTX, GPU_ERROR_CODE},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, GPU_ERROR_CODE},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, GPU_ERROR_CODE},
    {CUDA_ERROR_INVALID_IMAGE, GPU_ERROR_CODE},
    {CUDA_ERROR_INVALID_SOURCE, GPU_ERROR_CODE},
    {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, GPU_ERROR_CODE},
    {CUDA_ERROR_JIT_COMPILATION_DISABLED, GPU_ERROR_CODE},
    {CUDA_ERROR_ILLEGAL_ADDRESS, GPU_ERROR_FAULT},
    {CUDA_ERROR_LAUNCH_TIMEOUT, GPU_ERROR_FAULT},
    {CUDA_ERROR_ASSERT, GPU_ERROR_FAULT},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, GPU_ERROR_FAULT},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, GPU_ERROR_FAULT},
    {CUDA_ERROR_MISALIGNED_ADDRESS, GPU_ERROR_FAULT},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, GPU_ERROR_FAULT},
    {CUDA_ERROR_INVALID_PC, GPU_ERROR_FAULT},
    {CUDA_ERROR_LAUNCH_FAILED, GPU_ERROR_FAULT},
    {CUDA_ERROR_ECC_UNCORRECTABLE, GPU_ERROR_FAULT},
    {CUDA_ERROR_NVLINK_UNCORRECTABLE, GPU_ERROR_FAULT},
    {CUDA_ERROR_CONTAINED, GPU_ERROR_FAULT},
};

static Status status_of(CUresult r) {
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (statuses[i].code == r) return statuses[i].status;
    return GPU_ERROR_DRIVER;
}

/* ---- faults ------------------------------------------------------------------------------------ */

void cuda_launched(CudaDevice *d, const Module *m) {
    uint32_t i = __atomic_fetch_add(&d->nrecent, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&d->recent[i % RECENT], m, __ATOMIC_RELAXED);
}

void cuda_forget(CudaDevice *d, const Module *m) {
    for (int i = 0; i < RECENT; i++)
        if (!m || __atomic_load_n(&d->recent[i], __ATOMIC_RELAXED) == m)
            __atomic_store_n(&d->recent[i], NULL, __ATOMIC_RELAXED);
}

/* "kernel f", "one of the kernels f, g": those launched since somebody last waited. Under the device's lock, under
 * which modules are unloaded. */
static void name_kernels(const CudaDevice *d, char *out, size_t size) {
    const Module *seen[RECENT];
    int n = 0;
    for (int i = 0; i < RECENT; i++) {
        const Module *m = __atomic_load_n(&d->recent[i], __ATOMIC_RELAXED);
        bool again = !m;
        for (int j = 0; j < n; j++) again = again || strcmp(seen[j]->image->entry, m->image->entry) == 0;
        if (!again) seen[n++] = m;
    }
    size_t used = (size_t)snprintf(out, size, n == 0 ? "a kernel" : n == 1 ? "kernel " : "one of the kernels ");
    for (int i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", seen[i]->image->entry);
}

/* The emulator knows what happened, and can go on. False: it has nothing to say. */
static bool emulated_fault(CudaDevice *d, Failure *f) {
    EmulatorFault e = {.size = sizeof e};
    if (!d->cu->take_fault || !d->cu->take_fault(&e)) return false;
    failure_set(f, GPU_ERROR_FAULT, "%s", e.text ? e.text : e.what ? e.what : "the kernel failed");
    f->fault.kernel = e.kernel ? strdup(e.kernel) : NULL;
    f->fault.file = e.file ? strdup(e.file) : NULL;
    f->fault.variable = e.variable ? strdup(e.variable) : NULL;
    f->fault.variable_offset = e.variable_offset;
    f->fault.known_thread = true;
    f->fault.line = e.line;
    memcpy(f->fault.block, e.block, sizeof e.block);
    memcpy(f->fault.thread, e.thread, sizeof e.thread);
    f->fault.in_global = e.space == 1 || e.space == 4;
    f->fault.in_local = e.space == 3;
    f->fault.address = e.address;
    f->fault.base = e.alloc_bytes ? e.alloc_address : 0;
    f->fault.bytes = e.bytes;
    f->fault.is_write = e.is_write;
    d->cu->free_fault(&e);
    d->cu->forgive(d->base.ordinal);
    return true;
}

/* The first fault of a context; what comes later only repeats it. */
static Status fault(CudaDevice *d, CUresult r, const char *call, Failure *f) {
    char kernels[600];
    if (emulated_fault(d, f)) return GPU_ERROR_FAULT;
    pthread_mutex_lock(&d->lock);
    name_kernels(d, kernels, sizeof kernels);
    if (!d->fault) {
        const char *advice = cuda_error_advice(r);
        failure_set(f, GPU_ERROR_FAULT, "%s on %s: %s (%s, seen by %s)%s%s", kernels, d->base.name,
                    cuda_error_text(d->cu, r), cuda_error_name(d->cu, r), call, *advice ? "; " : "", advice);
        if (f->text) d->fault = strdup(f->text);
    } else {
        failure_set(f, GPU_ERROR_FAULT,
                    "%s can't be used any more in this process: start it again. Before, there was: %s", d->base.name,
                    d->fault);
    }
    pthread_mutex_unlock(&d->lock);
    return GPU_ERROR_FAULT;
}

Status cuda_fail(CudaDevice *d, const CudaDriver *cu, CUresult r, const char *call, Failure *f) {
    Status status = status_of(r);
    const char *advice = cuda_error_advice(r);
    if (status == GPU_ERROR_FAULT && d) fault(d, r, call, f);
    else
        failure_set(f, status, "%s%s%s fails: %s (%s)%s%s", d ? d->base.name : "", d ? ": " : "", call,
                    cuda_error_text(cu, r), cuda_error_name(cu, r), *advice ? "; " : "", advice);
    f->code = (int)r;
    f->call = call;
    return status;
}
