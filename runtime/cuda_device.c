/* cuda_device.c - GPUs, real and emulated: contexts, properties, and the table of functions.
 *
 * Each GPU's primary context is retained once, for the life of the process, so that other libraries (PyTorch, numba)
 * work in the same one. */
#include "cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Machine {
    const char *kind;
    CudaDevice *devices[MOST_DEVICES];
} Machine;

static Machine machines[2] = {{.kind = "cuda"}, {.kind = "emulated"}};
static uint32_t nopened; /* of both kinds; under the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- contexts ---------------------------------------------------------------------------------- */

static Status forked(const CudaDevice *d, Failure *f) {
    return failure_set(f, GPU_ERROR_NO_DEVICE,
                       "%s can't be used in this process: CUDA initialized before forking, which CUDA doesn't survive. "
                       "Start it with multiprocessing.get_context(\"spawn\"), use the device first in the "
                       "child, or use gpu.device(\"cpu\") here",
                       d->base.name);
}

Status cuda_enter(CudaDevice *d, CUcontext *before, Failure *f) {
    *before = NULL;
    if (cuda_forked(d->cu)) return forked(d, f);
    CUresult r = d->cu->cuCtxGetCurrent(before);
    if (r) return cuda_fail(d, d->cu, r, "cuCtxGetCurrent", f);
    if (*before == d->context) return GPU_OK;
    r = d->cu->cuCtxSetCurrent(d->context);
    return r ? cuda_fail(d, d->cu, r, "cuCtxSetCurrent", f) : GPU_OK;
}

/* Ours stays current where there was none: the next call finds it. */
void cuda_leave(CudaDevice *d, CUcontext before) {
    if (before && before != d->context) d->cu->cuCtxSetCurrent(before);
}

/* ---- properties -------------------------------------------------------------------------------- */

static const struct {
    CUdevice_attribute attribute;
    size_t offset;
} info_rows[] = {
#define INFO(field, attribute, meaning) {CU_DEVICE_ATTRIBUTE_##attribute, offsetof(DeviceInfo, field)},
#include "device_info.def"
};

static Status read_info(CudaDevice *d, Failure *f) {
    const CudaDriver *cu = d->cu;
    DeviceInfo *info = &d->base.info;
    for (size_t i = 0; i < sizeof info_rows / sizeof *info_rows; i++) {
        int value = 0; /* an old driver doesn't know new attributes */
        CUresult r = cu->cuDeviceGetAttribute(&value, info_rows[i].attribute, d->handle);
        if (r && r != CUDA_ERROR_INVALID_VALUE) return cuda_fail(d, cu, r, "cuDeviceGetAttribute", f);
        memcpy((char *)info + info_rows[i].offset, &value, sizeof value);
    }
    size_t bytes = 0;
    CUresult r = cu->cuDeviceTotalMem_v2(&bytes, d->handle);
    if (r) return cuda_fail(d, cu, r, "cuDeviceTotalMem", f);
    info->memory_bytes = bytes;
    r = cu->cuDeviceGetName(info->name, sizeof info->name, d->handle);
    if (r) return cuda_fail(d, cu, r, "cuDeviceGetName", f);
    CUuuid uuid = {{0}};
    r = cu->cuDeviceGetUuid_v2 ? cu->cuDeviceGetUuid_v2(&uuid, d->handle) : CUDA_SUCCESS;
    if (r) return cuda_fail(d, cu, r, "cuDeviceGetUuid", f);
    memcpy(info->uuid, uuid.bytes, sizeof info->uuid);
    info->driver_version = cu->version;
    return GPU_OK;
}

/* The newest PTX that a driver for this version of CUDA reads. */
static uint16_t ptx_version_of(int cuda) {
    static const struct {
        uint16_t cuda, ptx;
    } rows[] = {{11000, 70}, {11010, 71}, {11020, 72}, {11030, 73}, {11040, 74}, {11050, 75}, {11060, 76},
                {11070, 77}, {11080, 78}, {12000, 80}, {12010, 81}, {12020, 82}, {12030, 83}, {12040, 84},
                {12050, 85}, {12070, 86}, {12080, 87}, {12090, 88}, {13000, 90}};
    uint16_t ptx = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && rows[i].cuda <= cuda; i++) ptx = rows[i].ptx;
    return ptx;
}

/* ---- opening ----------------------------------------------------------------------------------- */

static Status start(CudaDevice *d, uint32_t ordinal, Failure *f) {
    const CudaDriver *cu = d->cu;
    CUresult r = cu->cuDeviceGet(&d->handle, (int)ordinal);
    if (r) return cuda_fail(d, cu, r, "cuDeviceGet", f);
    Status status = read_info(d, f);
    if (status != GPU_OK) return status;
    if (d->base.info.compute_capability_major * 10 + d->base.info.compute_capability_minor < 75)
        return failure_set(
            f, GPU_ERROR_NO_DEVICE,
            "%s is a %s with compute capability %d.%d; compute capability 7.5 is the least that gpu makes "
            "code for. GPU_DEVICE=cpu works",
            d->base.name, d->base.info.name, d->base.info.compute_capability_major,
            d->base.info.compute_capability_minor);
    r = cu->cuDevicePrimaryCtxRetain(&d->context, d->handle);
    return r ? cuda_fail(d, cu, r, "cuDevicePrimaryCtxRetain", f) : GPU_OK;
}

static const DeviceOps cuda_ops, emulated_ops;

static Status open_device(Machine *machine, const CudaDriver *cu, uint32_t ordinal, Failure *f) {
    CudaDevice *d = calloc(1, sizeof *d);
    if (!d) return failure_memory(f);
    d->emulated = machine == &machines[1];
    d->cu = cu;
    d->base.ops = d->emulated ? &emulated_ops : &cuda_ops;
    d->base.ordinal = (int)ordinal;
    snprintf(d->base.name, sizeof d->base.name, "%s:%u", machine->kind, ordinal);
    d->defaults[STREAM_LEGACY] = (Stream){.device = &d->base};
    d->defaults[STREAM_PER_THREAD] = (Stream){.device = &d->base, .handle = CU_STREAM_PER_THREAD};
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->regions.lock, NULL);
    pool_open(&d->pool, d->emulated);
    Status status = start(d, ordinal, f);
    if (status != GPU_OK) {
        free(d);
        return status;
    }
    const DeviceInfo *info = &d->base.info;
    d->base.sm = (uint16_t)(info->compute_capability_major * 10 + info->compute_capability_minor);
    d->base.ptx_version = ptx_version_of(cu->version);
    d->base.index = ++nopened;
    __atomic_store_n(&machine->devices[ordinal], d, __ATOMIC_RELEASE);
    return GPU_OK;
}

static Status get(Machine *machine, uint32_t ordinal, Device **out, Failure *f) {
    const CudaDriver *cu;
    Status status = cuda_driver(machine->kind, &cu, f);
    if (status != GPU_OK) return status;
    CudaDevice *d = __atomic_load_n(&machine->devices[ordinal], __ATOMIC_ACQUIRE);
    if (!d && cuda_forked(cu))
        return failure_set(f, GPU_ERROR_NO_DEVICE,
                           "CUDA initialized before forking this process, which CUDA doesn't survive: start it "
                           "with multiprocessing.get_context(\"spawn\"), or use gpu.device(\"cpu\") here");
    if (!d) {
        pthread_mutex_lock(&lock);
        if (!machine->devices[ordinal]) status = open_device(machine, cu, ordinal, f);
        d = machine->devices[ordinal];
        pthread_mutex_unlock(&lock);
    }
    *out = d ? &d->base : NULL;
    return status;
}

static Status count(Machine *machine, uint32_t *out, Failure *f) {
    const CudaDriver *cu;
    int n = 0;
    *out = 0;
    Status status = cuda_driver(machine->kind, &cu, f);
    if (status != GPU_OK) return status;
    if (cuda_forked(cu)) { /* what the parent knew; a device says why it can't be used */
        while (n < MOST_DEVICES && machine->devices[n]) n++;
        *out = (uint32_t)n;
        return GPU_OK;
    }
    CUresult r = cu->cuDeviceGetCount(&n);
    if (r) return cuda_fail(NULL, cu, r, "cuDeviceGetCount", f);
    *out = n < 0 ? 0 : n > MOST_DEVICES ? MOST_DEVICES : (uint32_t)n;
    return GPU_OK;
}

Status cuda_count(uint32_t *out, Failure *f) { return count(&machines[0], out, f); }
Status emulated_count(uint32_t *out, Failure *f) { return count(&machines[1], out, f); }
Status cuda_open(uint32_t ordinal, Device **out, Failure *f) { return get(&machines[0], ordinal, out, f); }
Status emulated_open(uint32_t ordinal, Device **out, Failure *f) { return get(&machines[1], ordinal, out, f); }

/* ---- profilers ---------------------------------------------------------------------------------- */

static Status cuda_profiler(Device *device, bool records, Failure *f) {
    CudaDevice *d = (CudaDevice *)device;
    CUcontext before;
    Status status = cuda_enter(d, &before, f);
    if (status != GPU_OK) return status;
    CUresult r = records ? d->cu->cuProfilerStart() : d->cu->cuProfilerStop();
    if (r) status = cuda_fail(d, d->cu, r, records ? "cuProfilerStart" : "cuProfilerStop", f);
    cuda_leave(d, before);
    return status;
}

/* ---- the tables -------------------------------------------------------------------------------- */

#define OPS(name)                                                                                                      \
    .kind = name, .runs_ptx = true, .load = cuda_load, .unload = cuda_unload, .code_info = cuda_code_info,             \
    .occupancy = cuda_occupancy, .suggest_block = cuda_suggest_block, .launch = cuda_launch,                           \
    .take_printed = cuda_take_printed, .alloc = cuda_alloc, .free = cuda_free, .used_on = cuda_used_on,                \
    .pin = cuda_pin, .unpin = cuda_unpin, .device_address = cuda_device_address, .memory_info = cuda_memory_info,      \
    .memory_stats = cuda_memory_stats, .reset_peaks = cuda_reset_peaks, .empty_cache = cuda_empty_cache,               \
    .copy = cuda_copy, .fill = cuda_fill, .peer_access = cuda_peer_access, .owner = cuda_owner, .share = cuda_share,   \
    .open_shared = cuda_open_shared, .close_shared = cuda_close_shared, .profiler = cuda_profiler,                     \
    .default_stream = cuda_default_stream, .stream_create = cuda_stream_create, .stream_wrap = cuda_stream_wrap,       \
    .stream_destroy = cuda_stream_destroy, .stream_query = cuda_stream_query,                                          \
    .stream_synchronize = cuda_stream_synchronize, .stream_wait_event = cuda_stream_wait_event,                        \
    .stream_callback = cuda_stream_callback, .synchronize = cuda_synchronize, .event_create = cuda_event_create,       \
    .event_destroy = cuda_event_destroy, .event_record = cuda_event_record, .event_query = cuda_event_query,           \
    .event_synchronize = cuda_event_synchronize, .event_elapsed = cuda_event_elapsed

static const DeviceOps cuda_ops = {OPS("cuda")};
static const DeviceOps emulated_ops = {OPS("emulated")};
