/* driver_function.c - kernels: their attributes, and how many of their blocks a multiprocessor holds. */
#include "driver.h"

/* ---- occupancy --------------------------------------------------------------------------------- */

/* How the hardware hands out registers and shared memory, the same on all architectures here. */
enum {
    REGISTERS = 65536,
    REGISTER_UNIT = 256 /* of a warp */,
    WARP_UNIT = 4 /* a multiprocessor has four parts */,
    SHARED_UNIT = 128,
    MAX_BLOCK = 1024
};

static uint32_t round_up(uint32_t n, uint32_t unit) { return (n + unit - 1) / unit * unit; }
static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Warps that the registers of a multiprocessor are enough for. */
static uint32_t warps_by_registers(uint32_t registers) {
    uint32_t of_warp = round_up(registers * WARP, REGISTER_UNIT);
    return REGISTERS / of_warp / WARP_UNIT * WARP_UNIT;
}

static uint32_t product(const uint32_t n[3]) { return n[0] * (n[1] ? n[1] : 1) * (n[2] ? n[2] : 1); }

Footprint function_footprint(const Function *f) {
    const PtxFunc *p = f->func;
    uint32_t registers = p->registers, limit = f->module->max_registers;
    if (p->max_registers && (!limit || p->max_registers < limit)) limit = p->max_registers;
    if (limit) registers = least(registers, limit < 16 ? 16 : limit);
    registers = least(registers, 255);
    uint32_t threads = least(MAX_BLOCK, warps_by_registers(registers) * WARP);
    if (p->max_threads[0]) threads = least(threads, product(p->max_threads));
    if (p->required_threads[0]) threads = least(threads, product(p->required_threads));
    return (Footprint){f->module->context->device->arch, registers, p->shared_bytes, threads};
}

uint32_t footprint_blocks(const Footprint *f, uint32_t threads, uint64_t dynamic_shared) {
    if (!threads || threads > f->max_threads || dynamic_shared > (uint64_t)f->arch->shared) return 0;
    uint32_t warps = (threads + WARP - 1) / WARP;
    uint32_t blocks = least((uint32_t)f->arch->blocks, (uint32_t)f->arch->threads / (warps * WARP));
    blocks = least(blocks, warps_by_registers(f->registers) / warps);
    uint32_t shared = round_up(f->shared + (uint32_t)dynamic_shared + (uint32_t)f->arch->shared_reserved, SHARED_UNIT);
    return shared ? least(blocks, (uint32_t)f->arch->shared / shared) : blocks;
}

/* ---- finding ----------------------------------------------------------------------------------- */

CUresult function_find(Context *c, CUfunction handle, Function **out) {
    if (handle_is(HANDLE_FUNCTION, handle)) {
        *out = handle;
        return CUDA_SUCCESS;
    }
    return handle_is(HANDLE_KERNEL, handle) ? kernel_function(c, (CUkernel)(void *)handle, out)
                                            : CUDA_ERROR_INVALID_HANDLE;
}

/* call_begin() and the function; `out` must be a pointer. */
static CUresult begin(Entry entry, CUfunction handle, const void *out, Function **f) {
    Context *c;
    CUresult r = call_begin(entry, NEEDS_WORKING, &c);
    if (r) return r;
    r = function_find(c, handle, f);
    if (!r && !out) r = CUDA_ERROR_INVALID_VALUE;
    return r ? call_end(r) : CUDA_SUCCESS;
}

/* ---- attributes -------------------------------------------------------------------------------- */

static uint32_t constant_bytes(const PtxCode *code) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < code->nglobals; i++)
        n += code->globals[i].space == SPACE_CONST ? code->globals[i].bytes : 0;
    return (uint32_t)n;
}

CUresult function_attribute(const Function *f, CUfunction_attribute which, int *value) {
    Footprint p = function_footprint(f);
    const PtxFunc *func = f->func;
    int64_t v;
    switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: v = p.max_threads; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: v = p.shared; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: v = constant_bytes(f->module->code); break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: v = func->local_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: v = p.registers; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: v = f->module->code->sm; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: v = p.arch->sm; break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: v = 0; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: v = f->dynamic_shared; break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: v = f->carveout; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: v = 0; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: v = func->cluster[0]; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: v = func->cluster[1]; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: v = func->cluster[2]; break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: v = f->any_cluster; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: v = f->cluster_policy; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    *value = (int)v;
    return CUDA_SUCCESS;
}

CUresult function_set_attribute(Function *f, CUfunction_attribute which, int value) {
    switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || value > f->module->context->device->arch->shared_optin - (int)f->func->shared_bytes)
            return CUDA_ERROR_INVALID_VALUE;
        f->dynamic_shared = (uint32_t)value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
        f->carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: f->any_cluster = value != 0; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: f->cluster_policy = value; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute which, CUfunction handle) {
    Function *f;
    CUresult r = begin(ENTRY_cuFuncGetAttribute, handle, value, &f);
    return r ? r : call_end(function_attribute(f, which, value));
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute which, int value) {
    Function *f;
    CUresult r = begin(ENTRY_cuFuncSetAttribute, handle, "", &f);
    return r ? r : call_end(function_set_attribute(f, which, value));
}

/* There are no caches and no banks to set. */
CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config) {
    Function *f;
    CUresult r = begin(ENTRY_cuFuncSetCacheConfig, handle, "", &f);
    return r ? r : call_end(config < 0 || config > 3 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
}

CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config) {
    Function *f;
    CUresult r = begin(ENTRY_cuFuncSetSharedMemConfig, handle, "", &f);
    return r ? r : call_end(config < 0 || config > 2 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
}

CUresult cuFuncGetModule(CUmodule *out, CUfunction handle) {
    Function *f;
    CUresult r = begin(ENTRY_cuFuncGetModule, handle, out, &f);
    if (r) return r;
    *out = f->module;
    return call_end(CUDA_SUCCESS);
}

CUresult cuFuncGetName(const char **out, CUfunction handle) {
    Function *f;
    CUresult r = begin(ENTRY_cuFuncGetName, handle, out, &f);
    if (r) return r;
    *out = f->func->name;
    return call_end(CUDA_SUCCESS);
}

CUresult function_parameter(const Function *f, size_t index, size_t *offset, size_t *bytes) {
    if (index >= f->func->nparams) return CUDA_ERROR_INVALID_VALUE;
    *offset = f->func->params[index].offset;
    if (bytes) *bytes = f->func->params[index].bytes;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *bytes) {
    Function *f;
    CUresult r = begin(ENTRY_cuFuncGetParamInfo, handle, offset, &f);
    return r ? r : call_end(function_parameter(f, index, offset, bytes));
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle) {
    Function *f;
    CUresult r = begin(ENTRY_cuFuncIsLoaded, handle, state, &f);
    if (r) return r;
    *state = 1;
    return call_end(CUDA_SUCCESS);
}

CUresult cuFuncLoad(CUfunction handle) {
    Function *f;
    CUresult r = begin(ENTRY_cuFuncLoad, handle, "", &f);
    return r ? r : call_end(CUDA_SUCCESS);
}

/* ---- questions about occupancy ----------------------------------------------------------------- */

static CUresult active_blocks(Entry entry, int *out, CUfunction handle, int threads, size_t dynamic_shared,
                              uint32_t flags) {
    Function *f;
    CUresult r = begin(entry, handle, out, &f);
    if (r) return r;
    if (threads <= 0 || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) return call_end(CUDA_ERROR_INVALID_VALUE);
    Footprint p = function_footprint(f);
    *out = (int)footprint_blocks(&p, (uint32_t)threads, dynamic_shared);
    return call_end(CUDA_SUCCESS);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, CUfunction f, int threads, size_t shared) {
    return active_blocks(ENTRY_cuOccupancyMaxActiveBlocksPerMultiprocessor, out, f, threads, shared, 0);
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, CUfunction f, int threads, size_t shared,
                                                              uint32_t flags) {
    return active_blocks(ENTRY_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, out, f, threads, shared, flags);
}

/* The largest block among those that fill a multiprocessor best. The caller's function is called without the lock. */
static CUresult best_block(Entry entry, int *grid, int *block, CUfunction handle, CUoccupancyB2DSize shared_of,
                           size_t shared, int limit, uint32_t flags) {
    Function *f;
    CUresult r = begin(entry, handle, grid && block ? grid : NULL, &f);
    if (r) return r;
    if (flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE || limit < 0) return call_end(CUDA_ERROR_INVALID_VALUE);
    Footprint p = function_footprint(f);
    r = call_end(CUDA_SUCCESS);
    uint32_t largest = limit ? least(p.max_threads, (uint32_t)limit) : p.max_threads, best = 0;
    *grid = *block = 0;
    for (uint32_t threads = round_up(largest, WARP); threads; threads -= WARP) {
        uint32_t n = least(threads, largest);
        uint32_t blocks = footprint_blocks(&p, n, shared_of ? shared_of((int)n) : shared);
        if (blocks * n <= best) continue;
        best = blocks * n;
        *block = (int)n;
        *grid = (int)blocks * p.arch->multiprocessors;
    }
    return r;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f, CUoccupancyB2DSize shared_of,
                                          size_t shared, int limit) {
    return best_block(ENTRY_cuOccupancyMaxPotentialBlockSize, grid, block, f, shared_of, shared, limit, 0);
}
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction f, CUoccupancyB2DSize shared_of,
                                                   size_t shared, int limit, uint32_t flags) {
    return best_block(ENTRY_cuOccupancyMaxPotentialBlockSizeWithFlags, grid, block, f, shared_of, shared, limit, flags);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *out, CUfunction handle, int blocks, int threads) {
    Function *f;
    CUresult r = begin(ENTRY_cuOccupancyAvailableDynamicSMemPerBlock, handle, out, &f);
    if (r) return r;
    Footprint p = function_footprint(f);
    if (blocks <= 0 || threads <= 0 || footprint_blocks(&p, (uint32_t)threads, 0) < (uint32_t)blocks)
        return call_end(CUDA_ERROR_INVALID_VALUE);
    uint32_t share = (uint32_t)(p.arch->shared / blocks) / SHARED_UNIT * SHARED_UNIT,
             taken = p.shared + (uint32_t)p.arch->shared_reserved;
    uint32_t most = (uint32_t)p.arch->shared_optin - p.shared;
    *out = share > taken ? least(share - taken, most) : 0;
    return call_end(CUDA_SUCCESS);
}
