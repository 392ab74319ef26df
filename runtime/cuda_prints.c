/* cuda_prints.c - the log of a GPU's kernels that print, in host memory that the device writes to.
 *
 * A device has one log, so that what several kernels print keeps its order, and what was printed before a fault is
 * still there. It fills from the front. What is complete may be read at any time; it starts again at the front when
 * everything that was launched with it has ended and all was taken. */
#define _GNU_SOURCE
#include "cuda.h"
#include "prints.h"

#include <stdlib.h>
#include <string.h>

enum { CUDA_ROOM = 4 << 20 };

/* Under the lock. */
static Status make_log(CudaDevice *d, Failure *f) {
    size_t bytes = (sizeof(PrintLog) + prints_room(CUDA_ROOM) + PAGE - 1) / PAGE * PAGE;
    PrintLog *log = aligned_alloc(PAGE, bytes);
    if (!log) return failure_memory(f);
    memset(log, 0, bytes);
    prints_init(log, bytes - sizeof *log);
    const char *call = "cuMemHostRegister";
    CUresult r = d->cu->cuMemHostRegister_v2(log, bytes, CU_MEMHOSTALLOC_DEVICEMAP);
    if (!r) {
        call = "cuMemHostGetDevicePointer";
        r = d->cu->cuMemHostGetDevicePointer_v2(&d->print.address, log, 0);
        if (r) d->cu->cuMemHostUnregister(log);
    }
    if (r) {
        free(log);
        return cuda_fail(d, d->cu, r, call, f);
    }
    d->print.log = log;
    return GPU_OK;
}

Status cuda_prints_open(CudaDevice *d, Failure *f) {
    pthread_mutex_lock(&d->lock);
    Status status = d->print.log ? GPU_OK : make_log(d, f);
    pthread_mutex_unlock(&d->lock);
    return status;
}

PrintTarget cuda_prints_launching(CudaDevice *d, const CudaModule *m) {
    pthread_mutex_lock(&d->lock);
    d->print.launching++;
    __atomic_store_n(&d->base.prints_pending, 1, __ATOMIC_RELEASE);
    PrintTarget t = {d->print.address, (uint64_t)(uintptr_t)m->base.owner, ++d->print.launches};
    pthread_mutex_unlock(&d->lock);
    return t;
}

void cuda_prints_launched(CudaDevice *d, CUstream s, bool ok) {
    pthread_mutex_lock(&d->lock);
    d->print.launching--;
    if (ok && !d->print.busy) {
        d->print.busy = true;
        d->print.stream = s;
        d->print.several_streams = s == CU_STREAM_PER_THREAD;
        __atomic_fetch_add(&d->unsettled, 1, __ATOMIC_RELEASE);
    } else if (ok && d->print.stream != s) {
        d->print.several_streams = true;
    }
    if (ok) d->print.ticket = cuda_new_ticket(d);
    pthread_mutex_unlock(&d->lock);
}

void cuda_prints_settle(CudaDevice *d, bool all, CUstream s, uint64_t ticket) {
    bool ended = d->print.ticket <= ticket && (all || (!d->print.several_streams && d->print.stream == s));
    if (!d->print.busy || !ended) return;
    d->print.busy = false;
    __atomic_fetch_sub(&d->unsettled, 1, __ATOMIC_RELEASE);
}

/* Nobody writes any more, and all was read. */
static void start_again(CudaDevice *d) {
    PrintLog *log = d->print.log;
    uint64_t size = log->size;
    memset(log + 1, 0, log->used < size ? log->used : size);
    prints_init(log, size);
    d->print.read = 0;
    __atomic_store_n(&d->base.prints_pending, 0, __ATOMIC_RELEASE);
}

bool cuda_take_printed(Device *device, Printed *out) {
    CudaDevice *d = (CudaDevice *)device;
    *out = (Printed){0};
    pthread_mutex_lock(&d->lock);
    bool idle = !d->print.busy && !d->print.launching;
    if (d->print.log) {
        bool copied = prints_read(d->print.log, &d->print.read, out);
        if (idle) out->lost = d->print.log->lost;
        if (idle && (copied || !out->bytes)) start_again(d);
    }
    pthread_mutex_unlock(&d->lock);
    return out->records || out->lost;
}
