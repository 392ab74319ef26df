/* driver_launch.c - launches: checked at the call, executed when the queue gets there. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

typedef struct LaunchWork {
    Work work;
    Module *module;
    LaunchSpec spec;
    _Alignas(16) uint8_t params[];
} LaunchWork;

static CUresult run_launch(Work *w) {
    LaunchWork *l = (LaunchWork *)w;
    FaultReport report = {0};
    l->spec.params = l->params;
    uint32_t error = emulator_run(&l->spec, &report);
    if (w->context->device->stop) return CUDA_SUCCESS;
    if (report.kind) report_fault(&report);
    return (CUresult)error;
}

/* ---- checks ------------------------------------------------------------------------------------ */

/* What the attributes of a launch say. */
typedef struct Extras {
    bool cooperative;
    uint32_t cluster[3];
} Extras;

static CUresult read_attributes(const CUlaunchConfig *config, Extras *out) {
    *out = (Extras){0};
    if (config->numAttrs && !config->attrs) return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *a = &config->attrs[i];
        switch (a->id) {
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: out->cooperative = a->value.cooperative != 0; break;
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            out->cluster[0] = a->value.clusterDim.x;
            out->cluster[1] = a->value.clusterDim.y;
            out->cluster[2] = a->value.clusterDim.z;
            break;
        case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: return CUDA_ERROR_NOT_SUPPORTED;
        default: break; /* about scheduling: nothing to do */
        }
    }
    return CUDA_SUCCESS;
}

static bool differs(const uint32_t required[3], uint32_t x, uint32_t y, uint32_t z) {
    return required[0] &&
           (required[0] != x || (required[1] ? required[1] : 1) != y || (required[2] ? required[2] : 1) != z);
}

/* The size that the launch asks for, else the one that the kernel was compiled for; 0: none. */
static uint32_t cluster_size(const Function *f, const Extras *e, int k) {
    const uint32_t *size = e->cluster[0] ? e->cluster : f->func->cluster;
    return size[0] && !size[k] ? 1 : size[k];
}

/* Blocks of it; 8 are portable. */
static uint32_t largest_cluster(const Function *f) {
    return f->module->context->device->arch->sm < 90 ? 1 : f->any_cluster ? 16 : 8;
}

static bool cluster_fits(const Function *f, const CUlaunchConfig *c, const Extras *e) {
    const uint32_t grid[3] = {c->gridDimX, c->gridDimY, c->gridDimZ};
    uint64_t blocks = 1;
    if (e->cluster[0] && differs(f->func->cluster, e->cluster[0], e->cluster[1], e->cluster[2])) return false;
    for (int k = 0; k < 3; k++) {
        uint32_t n = cluster_size(f, e, k);
        if (n && grid[k] % n) return false;
        blocks *= n ? n : 1;
    }
    return blocks <= largest_cluster(f);
}

/* The code was compiled for blocks up to this size. */
static bool exceeds(const uint32_t limit[3], uint64_t threads) {
    return limit[0] && threads > (uint64_t)limit[0] * (limit[1] ? limit[1] : 1) * (limit[2] ? limit[2] : 1);
}

static CUresult check(const Function *f, const CUlaunchConfig *c, const Extras *e) {
    uint64_t threads = (uint64_t)c->blockDimX * c->blockDimY * c->blockDimZ;
    Footprint p = function_footprint(f);
    if (!c->gridDimX || !c->gridDimY || !c->gridDimZ || c->gridDimX > INT32_MAX || c->gridDimY > 65535 ||
        c->gridDimZ > 65535) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!threads || c->blockDimX > 1024 || c->blockDimY > 1024 || c->blockDimZ > 64 || threads > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    if (differs(f->func->required_threads, c->blockDimX, c->blockDimY, c->blockDimZ)) return CUDA_ERROR_INVALID_VALUE;
    if (exceeds(f->func->max_threads, threads)) return CUDA_ERROR_INVALID_VALUE;
    if (c->sharedMemBytes > f->dynamic_shared) return CUDA_ERROR_INVALID_VALUE;
    if (threads > p.max_threads) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (!cluster_fits(f, c, e)) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (!e->cooperative) return CUDA_SUCCESS;
    uint64_t room =
        (uint64_t)footprint_blocks(&p, (uint32_t)threads, c->sharedMemBytes) * (uint64_t)p.arch->multiprocessors;
    return (uint64_t)c->gridDimX * c->gridDimY * c->gridDimZ > room ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
                                                                    : CUDA_SUCCESS;
}

/* ---- arguments --------------------------------------------------------------------------------- */

/* The buffer that `extra` names. */
static CUresult read_extra(void **extra, const void **buffer, size_t *size) {
    *buffer = NULL;
    *size = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) *buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1]) *size = *(const size_t *)extra[1];
        else return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult pack(const PtxFunc *f, void **params, void **extra, uint8_t *to) {
    if (params && extra) return CUDA_ERROR_INVALID_VALUE;
    if (extra) {
        const void *buffer;
        size_t size;
        CUresult r = read_extra(extra, &buffer, &size);
        if (r || size < f->param_bytes || (f->param_bytes && !buffer)) return CUDA_ERROR_INVALID_VALUE;
        if (f->param_bytes) memcpy(to, buffer, f->param_bytes);
        return CUDA_SUCCESS;
    }
    if (f->nparams && !params) return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i < f->nparams; i++) {
        if (!params[i]) return CUDA_ERROR_INVALID_VALUE;
        memcpy(to + f->params[i].offset, params[i], f->params[i].bytes);
    }
    return CUDA_SUCCESS;
}

/* ---- launches ---------------------------------------------------------------------------------- */

static LaunchSpec specify(Function *f, const CUlaunchConfig *c, const Extras *e) {
    Context *context = f->module->context;
    return (LaunchSpec){
        .code = f->module->code,
        .func = f->func,
        .memory = context->device->memory,
        .grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
        .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
        .cluster = {cluster_size(f, e, 0), cluster_size(f, e, 1), cluster_size(f, e, 2)},
        .dynamic_shared = c->sharedMemBytes,
        .cooperative = e->cooperative,
        .checks = driver.options.checks,
        .budget = driver.options.budget,
        .threads = driver.options.threads,
        .stack_bytes = context->limits[CU_LIMIT_STACK_SIZE] > 1024 ? (uint32_t)context->limits[CU_LIMIT_STACK_SIZE] : 0,
        .printf_bytes = (uint32_t)context->limits[CU_LIMIT_PRINTF_FIFO_SIZE],
        .heap_bytes = context->limits[CU_LIMIT_MALLOC_HEAP_SIZE],
        .profile = profile_of(f->module),
        .stop = &context->device->stop,
    };
}

void launch_again(Work *w) {
    LaunchWork *l = (LaunchWork *)w;
    if (w->node == CU_GRAPH_NODE_TYPE_KERNEL) l->spec.profile = profile_of(l->module);
}

/* With the lock. */
CUresult launch_function(Context *c, Function *f, const CUlaunchConfig *config, void **params, void **extra,
                         bool cooperative) {
    Extras e;
    CUresult r = read_attributes(config, &e);
    if (r) return r;
    e.cooperative |= cooperative;
    Stream *s = stream_find(c, config->hStream);
    if (!s) return CUDA_ERROR_INVALID_HANDLE;
    if (f->module->context != c || s->context != c) return CUDA_ERROR_INVALID_CONTEXT;
    r = check(f, config, &e);
    if (r) return r;
    LaunchWork *w = calloc(1, sizeof *w + f->func->param_bytes);
    if (!w) return CUDA_ERROR_OUT_OF_MEMORY;
    r = pack(f->func, params, extra, w->params);
    if (r) {
        free(w);
        return r;
    }
    w->work = (Work){.run = run_launch,
                     .node = CU_GRAPH_NODE_TYPE_KERNEL,
                     .bytes = (uint32_t)sizeof *w + f->func->param_bytes,
                     .code = f->module->code};
    w->module = f->module;
    w->spec = specify(f, config, &e);
    work_submit(&w->work, s);
    return work_finish(s);
}

static CUresult launch(Entry entry, CUfunction handle, const CUlaunchConfig *config, void **params, void **extra,
                       bool cooperative) {
    Context *c;
    CUresult r = call_begin(entry, NEEDS_WORKING, &c);
    if (r) return r;
    Function *f;
    if (!config) return call_end(CUDA_ERROR_INVALID_VALUE);
    r = function_find(c, handle, &f);
    return call_end(r ? r : launch_function(c, f, config, params, extra, cooperative));
}

CUresult cuLaunchKernel(CUfunction f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz,
                        uint32_t shared, CUstream stream, void **params, void **extra) {
    CUlaunchConfig c = {gx, gy, gz, bx, by, bz, shared, stream, NULL, 0};
    return launch(ENTRY_cuLaunchKernel, f, &c, params, extra, false);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by,
                                   uint32_t bz, uint32_t shared, CUstream stream, void **params) {
    CUlaunchConfig c = {gx, gy, gz, bx, by, bz, shared, stream, NULL, 0};
    return launch(ENTRY_cuLaunchCooperativeKernel, f, &c, params, NULL, true);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params, void **extra) {
    return launch(ENTRY_cuLaunchKernelEx, f, config, params, extra, false);
}

/* ---- occupancy of clusters --------------------------------------------------------------------- */

CUresult cuOccupancyMaxPotentialClusterSize(int *out, CUfunction handle, const CUlaunchConfig *config) {
    Context *c;
    Function *f;
    CUresult r = call_begin(ENTRY_cuOccupancyMaxPotentialClusterSize, NEEDS_WORKING, &c);
    if (r) return r;
    r = out && config ? function_find(c, handle, &f) : CUDA_ERROR_INVALID_VALUE;
    if (!r) *out = (int)largest_cluster(f);
    return call_end(r);
}

/* All multiprocessors are one part of the chip here: a cluster may lie on any of them. */
CUresult cuOccupancyMaxActiveClusters(int *out, CUfunction handle, const CUlaunchConfig *config) {
    Context *c;
    Function *f;
    Extras e;
    CUresult r = call_begin(ENTRY_cuOccupancyMaxActiveClusters, NEEDS_WORKING, &c);
    if (r) return r;
    r = out && config ? function_find(c, handle, &f) : CUDA_ERROR_INVALID_VALUE;
    if (!r) r = read_attributes(config, &e);
    if (!r) r = check(f, config, &e);
    if (r) return call_end(r);
    Footprint p = function_footprint(f);
    uint32_t threads = config->blockDimX * config->blockDimY * config->blockDimZ, blocks = 1;
    for (int k = 0; k < 3; k++) blocks *= cluster_size(f, &e, k) ? cluster_size(f, &e, k) : 1;
    *out = (int)(footprint_blocks(&p, threads, config->sharedMemBytes) * (uint32_t)p.arch->multiprocessors / blocks);
    return call_end(CUDA_SUCCESS);
}
