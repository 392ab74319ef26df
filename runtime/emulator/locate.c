/* locate.c - from addresses to bytes, with all checks that are always made: lane by lane, the slow way.
 *
 * What most accesses do, and what is quick about it, is in locate.h. */
#include "locate.h"

/* ---- one lane, the slow way --------------------------------------------------------------------- */

typedef struct Lane {
    const PtxInst *in;
    Space space;
    int lane;
    uint32_t bytes;
    unsigned how;
} Lane;

static void fault_lane(Warp *w, const Lane *l, FaultKind kind, Space space, uint64_t address) {
    fault_access(w, l->in, l->lane, kind, space, address, l->bytes, l->how);
}

/* Shared, local and parameter memory: an offset into one piece. */
static uint8_t *locate_offset(Warp *w, const Lane *l, Space space, uint64_t at, uint8_t *base, uint64_t size,
                              uint64_t shown) {
    if (l->bytes > size || at > size - l->bytes) {
        bool elsewhere = at >= WINDOW_BYTES && l->space != SPACE_GENERIC;
        fault_lane(w, l, elsewhere ? FAULT_ADDRESS_SPACE : FAULT_OUT_OF_BOUNDS, space, shown);
    }
    if (at & low_bits_of(l->bytes)) fault_lane(w, l, FAULT_MISALIGNED, space, shown);
    return base + at;
}

/* An address beyond the block's shared memory may be in another block of the cluster. */
static uint8_t *locate_shared(Warp *w, const Lane *l, uint64_t at) {
    const Block *b = w->block;
    uint64_t inside = at;
    if (at < WINDOW_BYTES && w->run->cluster_blocks > 1) b = cluster_block(b, &inside);
    if (!b) fault_lane(w, l, FAULT_RANK, SPACE_SHARED, at);
    return locate_offset(w, l, SPACE_SHARED, inside, b->shared, w->run->shared_bytes, at);
}

static uint8_t *locate_param(Warp *w, const Lane *l, uint64_t at) {
    if (l->how & ACCESS_WRITE) fault_lane(w, l, FAULT_WRITE_TO_CONST, SPACE_PARAM, at);
    return locate_offset(w, l, SPACE_PARAM, at, (uint8_t *)(uintptr_t)w->run->params, w->run->func->param_bytes, at);
}

static uint8_t *locate_local(Warp *w, const Lane *l, uint64_t at) {
    size_t stride = w->run->local_bytes;
    return locate_offset(w, l, SPACE_LOCAL, at, w->local + (size_t)l->lane * stride, stride, at);
}

/* An allocation of any GPU holds the whole of its last word: atomic operations on bytes and halves work on the word
 * around them, and read it first. */
static bool reaches_out(const Lane *l, uint64_t offset, uint64_t bytes) {
    bool word = l->bytes == 4 && offset % 4 == 0 && (l->how & ACCESS_ATOMIC || !(l->how & ACCESS_WRITE));
    if (word) bytes = (bytes + 3) / 4 * 4;
    return l->bytes > bytes || offset > bytes - l->bytes;
}

/* Global and constant memory; remembers the allocation in `c`. */
static uint8_t *locate_far(Warp *w, const Lane *l, AccessCache *c, uint64_t address) {
    uint64_t epoch = atomic_load_explicit(w->run->epoch, memory_order_acquire);
    if (c->epoch != epoch || address - c->address >= c->bytes) {
        const Alloc *a = memory_find(w->run->memory, address);
        if (!a) {
            bool other = l->space != SPACE_GENERIC && generic_space(address) != SPACE_GLOBAL;
            fault_lane(w, l, other ? FAULT_ADDRESS_SPACE : FAULT_OUT_OF_BOUNDS, SPACE_GLOBAL, address);
        }
        if (a->freed) fault_lane(w, l, FAULT_USE_AFTER_FREE, SPACE_GLOBAL, address);
        *c = (AccessCache){.epoch = epoch,
                           .address = a->address,
                           .bytes = a->bytes,
                           .kind = a->kind,
                           .alloc = a,
                           .delta = (uintptr_t)a->host - (uintptr_t)a->address};
    }
    if (reaches_out(l, address - c->address, c->bytes)) fault_lane(w, l, FAULT_OUT_OF_BOUNDS, SPACE_GLOBAL, address);
    if (address & low_bits_of(l->bytes)) fault_lane(w, l, FAULT_MISALIGNED, SPACE_GLOBAL, address);
    if (c->kind == ALLOC_CONST && l->how & ACCESS_WRITE) fault_lane(w, l, FAULT_WRITE_TO_CONST, SPACE_CONST, address);
    if (!kind_fits(c->kind, l->space)) fault_lane(w, l, FAULT_ADDRESS_SPACE, SPACE_GLOBAL, address);
    return (uint8_t *)(uintptr_t)(address + c->delta);
}

static uint8_t *locate_lane(Warp *w, const Lane *l, AccessCache *c, uint64_t address) {
    switch (l->space) {
    case SPACE_GENERIC:
        switch (generic_space(address)) {
        case SPACE_SHARED: return locate_shared(w, l, address - SHARED_WINDOW);
        case SPACE_LOCAL: return locate_local(w, l, address - LOCAL_WINDOW);
        case SPACE_PARAM: return locate_param(w, l, address - PARAM_WINDOW);
        default: return locate_far(w, l, c, address);
        }
    case SPACE_SHARED: return locate_shared(w, l, address);
    case SPACE_LOCAL:
    case SPACE_ARG: return locate_local(w, l, address);
    case SPACE_PARAM: return locate_param(w, l, address);
    case SPACE_GLOBAL:
    case SPACE_CONST: break;
    }
    return locate_far(w, l, c, address);
}

uint8_t *locate_one(Warp *w, const PtxInst *in, int lane, uint64_t address, uint32_t bytes, unsigned how) {
    Lane l = {.in = in, .space = SPACE_GENERIC, .lane = lane, .bytes = bytes, .how = how};
    return locate_lane(w, &l, &w->cache[0], address);
}

void read_addresses(const Warp *w, const PtxOperand *o, int64_t disp, uint64_t *address) {
    all_addresses(w, o, disp, address);
}

/* ---- all lanes ---------------------------------------------------------------------------------- */

void locate_lanes(Warp *w, const PtxInst *in, Space space, uint32_t mask, uint32_t bytes, unsigned how, Access *a) {
    AccessCache *c = locate_cache(w, in);
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        Lane l = {.in = in, .space = space, .lane = lane, .bytes = bytes, .how = how};
        a->host[lane] = locate_lane(w, &l, c, a->address[lane]);
    }
}

void locate(Warp *w, const PtxInst *in, const PtxOperand *o, int64_t disp, Space space, uint32_t mask, uint32_t bytes,
            unsigned how, Access *a) {
    locate_inline(w, in, o, disp, space, mask, bytes, how, a);
}
