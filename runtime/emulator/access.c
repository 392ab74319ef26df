/* access.c - from addresses to bytes, with all checks that are always made; ld and st.
 *
 * Most accesses of a warp go to one allocation, mostly the one that the same instruction used last: locate() tries that
 * for all lanes at once and looks at each lane only where it fails. */
#include "exec.h"

#include <string.h>

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
    if (at & (l->bytes - 1)) fault_lane(w, l, FAULT_MISALIGNED, space, shown);
    return base + at;
}

static uint8_t *locate_param(Warp *w, const Lane *l, uint64_t at) {
    if (l->how & ACCESS_WRITE) fault_lane(w, l, FAULT_WRITE_TO_CONST, SPACE_PARAM, at);
    return locate_offset(w, l, SPACE_PARAM, at, (uint8_t *)(uintptr_t)w->run->params, w->run->func->param_bytes, at);
}

static uint8_t *locate_local(Warp *w, const Lane *l, uint64_t at) {
    size_t stride = w->run->local_bytes;
    return locate_offset(w, l, SPACE_LOCAL, at, w->local + (size_t)l->lane * stride, stride, at);
}

/* Which kinds of allocations an instruction of the space may touch. */
static bool kind_fits(uint8_t kind, Space space) {
    return space == SPACE_GENERIC || (space == SPACE_CONST) == (kind == ALLOC_CONST);
}

/* Global and constant memory; remembers the allocation in `c`. */
static uint8_t *locate_far(Warp *w, const Lane *l, AccessCache *c, uint64_t address) {
    uint64_t epoch = memory_epoch(w->run->memory);
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
    if (l->bytes > c->bytes || address - c->address > c->bytes - l->bytes)
        fault_lane(w, l, FAULT_OUT_OF_BOUNDS, SPACE_GLOBAL, address);
    if (address & (l->bytes - 1)) fault_lane(w, l, FAULT_MISALIGNED, SPACE_GLOBAL, address);
    if (c->kind == ALLOC_CONST && l->how & ACCESS_WRITE) fault_lane(w, l, FAULT_WRITE_TO_CONST, SPACE_CONST, address);
    if (!kind_fits(c->kind, l->space)) fault_lane(w, l, FAULT_ADDRESS_SPACE, SPACE_GLOBAL, address);
    return (uint8_t *)(uintptr_t)(address + c->delta);
}

static uint8_t *locate_lane(Warp *w, const Lane *l, AccessCache *c, uint64_t address) {
    switch (l->space) {
    case SPACE_GENERIC:
        switch (generic_space(address)) {
        case SPACE_SHARED:
            address -= SHARED_WINDOW;
            return locate_offset(w, l, SPACE_SHARED, address, w->block->shared, w->run->shared_bytes, address);
        case SPACE_LOCAL: return locate_local(w, l, address - LOCAL_WINDOW);
        case SPACE_PARAM: return locate_param(w, l, address - PARAM_WINDOW);
        default: return locate_far(w, l, c, address);
        }
    case SPACE_SHARED:
        return locate_offset(w, l, SPACE_SHARED, address, w->block->shared, w->run->shared_bytes, address);
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

/* ---- all lanes at once -------------------------------------------------------------------------- */

/* True: all lanes are inside [start, start + size) and aligned; their bytes are at address + delta. */
static inline bool all_inside(Access *a, uint32_t mask, uint64_t start, uint64_t size, uintptr_t delta,
                              uint32_t bytes) {
    if (bytes > size) return false;
    uint64_t room = size - bytes, low_bits = 0;
    unsigned outside = 0;
    EACH_LANE(mask, i, {
        uint64_t address = a->address[i];
        outside |= address - start > room;
        low_bits |= address;
        a->host[i] = (uint8_t *)(uintptr_t)(address + delta);
    });
    return !outside && !(low_bits & (bytes - 1));
}

static bool locate_together(Warp *w, Space space, uint32_t mask, uint32_t bytes, unsigned how, const AccessCache *c,
                            Access *a) {
    switch (space) {
    case SPACE_GLOBAL:
    case SPACE_CONST:
    case SPACE_GENERIC:
        if (c->epoch == memory_epoch(w->run->memory) && kind_fits(c->kind, space) &&
            !(c->kind == ALLOC_CONST && how & ACCESS_WRITE) &&
            all_inside(a, mask, c->address, c->bytes, c->delta, bytes))
            return true;
        return space == SPACE_GENERIC && all_inside(a, mask, SHARED_WINDOW, w->run->shared_bytes,
                                                    (uintptr_t)w->block->shared - (uintptr_t)SHARED_WINDOW, bytes);
    case SPACE_SHARED: return all_inside(a, mask, 0, w->run->shared_bytes, (uintptr_t)w->block->shared, bytes);
    case SPACE_PARAM:
        return !(how & ACCESS_WRITE) &&
               all_inside(a, mask, 0, w->run->func->param_bytes, (uintptr_t)w->run->params, bytes);
    case SPACE_LOCAL:
    case SPACE_ARG: break;
    }
    size_t stride = w->run->local_bytes;
    if (!all_inside(a, mask, 0, stride, (uintptr_t)w->local, bytes)) return false;
    EACH_LANE(mask, i, a->host[i] += (size_t)i * stride);
    return true;
}

void locate(Warp *w, const PtxInst *in, const PtxOperand *o, int64_t disp, Space space, uint32_t mask, uint32_t bytes,
            unsigned how, Access *a) {
    AccessCache *c = &w->cache[(uintptr_t)in / sizeof *in % CACHED_ALLOCS];
    read_address(w, o, disp, mask, a->address);
    if (locate_together(w, space, mask, bytes, how, c, a)) return;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        Lane l = {.in = in, .space = space, .lane = lane, .bytes = bytes, .how = how};
        a->host[lane] = locate_lane(w, &l, c, a->address[lane]);
    }
}

/* ---- ld ---------------------------------------------------------------------------------------- */

static inline const PtxOperand *element(const Warp *w, const PtxOperand *o, uint32_t k) {
    return o->flags & OPERAND_VECTOR ? &w->run->code->vectors[o->off + k] : o;
}

static inline unsigned strength(const PtxInst *in) { return in->sem > SEM_WEAK ? ACCESS_STRONG : 0; }

/* Where the loads of a vector's elements find their bytes, after all checks. */
static inline void locate_load(Warp *w, const PtxInst *in, uint32_t mask, uint32_t bytes, Access *a) {
    unsigned how = ACCESS_READ | strength(in);
    locate(w, in, &in->o[1], in->disp, in->space, mask, bytes, how, a);
    if (how & ACCESS_STRONG) w->observed = true;
    if (w->watching) watch(w, in, in->space, mask, bytes, how, a, NULL);
}

/* Memory of type M to a register of 2, 4 or 8 bytes, which is as wide or wider. `get` reads element k of lane i. */
#define TO_REGISTERS(M, get)                                                                                           \
    for (uint32_t k = 0; k < n; k++) {                                                                                 \
        const PtxOperand *e = element(w, &in->o[0], k);                                                                \
        void *d = lanes(w, e);                                                                                         \
        if (e->bytes == 4) EACH_LANE(mask, i, ((uint32_t *)d)[i] = (uint32_t)get(M));                                  \
        else if (e->bytes == 8) EACH_LANE(mask, i, ((uint64_t *)d)[i] = (uint64_t)get(M));                             \
        else EACH_LANE(mask, i, ((uint16_t *)d)[i] = (uint16_t)get(M));                                                \
    }
#define PLAIN(M) ((const M *)a.host[i])[k]
#define ATOMIC(M) __atomic_load_n((const M *)a.host[i] + k, __ATOMIC_ACQUIRE)

#define LOAD(M)                                                                                                        \
    static void ld_##M(Warp *w, const PtxInst *in, uint32_t mask) {                                                    \
        Access a;                                                                                                      \
        uint32_t n = in->vec;                                                                                          \
        locate_load(w, in, mask, n *(uint32_t)sizeof(M), &a);                                                          \
        TO_REGISTERS(M, PLAIN)                                                                                         \
    }                                                                                                                  \
    /* volatile, relaxed and acquire: others may write at the same time. */                                            \
    static void strong_##M(Warp *w, const PtxInst *in, uint32_t mask) {                                                \
        Access a;                                                                                                      \
        uint32_t n = in->vec;                                                                                          \
        locate_load(w, in, mask, n *(uint32_t)sizeof(M), &a);                                                          \
        TO_REGISTERS(M, ATOMIC)                                                                                        \
        watch_observe(w, mask);                                                                                        \
    }
LOAD(uint8_t)
LOAD(int8_t)
LOAD(uint16_t)
LOAD(int16_t)
LOAD(uint32_t)
LOAD(int32_t)
LOAD(uint64_t)

static void ld_b128(Warp *w, const PtxInst *in, uint32_t mask) {
    Access a;
    uint32_t n = in->vec;
    locate_load(w, in, mask, n * 16, &a);
    for (uint32_t k = 0; k < n; k++) {
        uint8_t *d = lanes(w, element(w, &in->o[0], k));
        EACH_LANE(mask, i, memcpy(d + 16 * i, a.host[i] + 16 * k, 16));
    }
    if (in->sem > SEM_WEAK) watch_observe(w, mask);
}

/* ---- st ---------------------------------------------------------------------------------------- */

static inline void locate_store(Warp *w, const PtxInst *in, uint32_t mask, uint32_t bytes, Access *a) {
    unsigned how = ACCESS_WRITE | strength(in);
    locate(w, in, &in->o[0], in->disp, in->space, mask, bytes, how, a);
    if (w->watching) watch_store(w, in, mask, bytes / in->vec, how, a);
    if (in->sem >= SEM_RELEASE) watch_fence(w, mask, in->scope != SCOPE_CTA);
}

#define FROM_REGISTERS(M, put)                                                                                         \
    for (uint32_t k = 0; k < n; k++) {                                                                                 \
        const PtxOperand *e = element(w, &in->o[1], k);                                                                \
        const void *s = lanes(w, e);                                                                                   \
        if (e->bytes == 4) EACH_LANE(mask, i, put(M, (M)((const uint32_t *)s)[i]));                                    \
        else if (e->bytes == 8) EACH_LANE(mask, i, put(M, (M)((const uint64_t *)s)[i]));                               \
        else EACH_LANE(mask, i, put(M, (M)((const uint16_t *)s)[i]));                                                  \
    }
#define PUT(M, value) ((M *)a.host[i])[k] = (value)
#define ATOMIC_PUT(M, value) __atomic_store_n((M *)a.host[i] + k, (value), __ATOMIC_RELEASE)

#define STORE(M)                                                                                                       \
    static void st_##M(Warp *w, const PtxInst *in, uint32_t mask) {                                                    \
        Access a;                                                                                                      \
        uint32_t n = in->vec;                                                                                          \
        locate_store(w, in, mask, n *(uint32_t)sizeof(M), &a);                                                         \
        FROM_REGISTERS(M, PUT)                                                                                         \
    }                                                                                                                  \
    static void strong_st_##M(Warp *w, const PtxInst *in, uint32_t mask) {                                             \
        Access a;                                                                                                      \
        uint32_t n = in->vec;                                                                                          \
        locate_store(w, in, mask, n *(uint32_t)sizeof(M), &a);                                                         \
        FROM_REGISTERS(M, ATOMIC_PUT)                                                                                  \
    }
STORE(uint8_t)
STORE(uint16_t)
STORE(uint32_t)
STORE(uint64_t)

static void st_b128(Warp *w, const PtxInst *in, uint32_t mask) {
    Access a;
    uint32_t n = in->vec;
    locate_store(w, in, mask, n * 16, &a);
    for (uint32_t k = 0; k < n; k++) {
        const uint8_t *s = lanes(w, element(w, &in->o[1], k));
        EACH_LANE(mask, i, memcpy(a.host[i] + 16 * k, s + 16 * i, 16));
    }
}

/* ---- rows of ptxops.def -------------------------------------------------------------------------- */

static bool flag(const PtxForm *f, unsigned bit) { return f->flags >> bit & 1; }

static bool select_access(const PtxForm *f, PtxInst *in) {
    uint8_t type = f->types[0], bytes = ptx_types[type].bytes;
    in->vec = f->field[MF_VEC] ? f->field[MF_VEC] : 1;
    in->space = f->field[MF_SPACE] ? (uint8_t)(f->field[MF_SPACE] - 1) : SPACE_GENERIC;
    in->sem = f->field[MF_SEM];
    in->scope = f->field[MF_SCOPE];
    if (flag(f, FLAG_MMIO) && in->sem <= SEM_WEAK) return false;
    if (f->ntypes != 1 || bytes == 0 || ptx_types[type].kind == KIND_PACKED) return false;
    return in->vec * bytes <= 32;
}

bool select_ld(const PtxForm *f, PtxInst *in) {
    static const LaneFn weak[4] = {ld_uint8_t, ld_uint16_t, ld_uint32_t, ld_uint64_t};
    static const LaneFn weak_signed[4] = {ld_int8_t, ld_int16_t, ld_int32_t, ld_uint64_t};
    static const LaneFn strong[4] = {strong_uint8_t, strong_uint16_t, strong_uint32_t, strong_uint64_t};
    static const LaneFn strong_signed[4] = {strong_int8_t, strong_int16_t, strong_int32_t, strong_uint64_t};
    if (!select_access(f, in) || in->sem == SEM_RELEASE || in->sem == SEM_ACQ_REL || in->sem == SEM_SC) return false;
    const PtxTypeInfo *type = &ptx_types[f->types[0]];
    if (type->bytes == 16) {
        in->fn = ld_b128;
        return true;
    }
    bool is_signed = type->kind == KIND_SIGNED;
    const LaneFn *fns = in->sem > SEM_WEAK ? is_signed ? strong_signed : strong : is_signed ? weak_signed : weak;
    in->fn = fns[__builtin_ctz(type->bytes)];
    return true;
}

bool select_st(const PtxForm *f, PtxInst *in) {
    static const LaneFn weak[4] = {st_uint8_t, st_uint16_t, st_uint32_t, st_uint64_t};
    static const LaneFn strong[4] = {strong_st_uint8_t, strong_st_uint16_t, strong_st_uint32_t, strong_st_uint64_t};
    if (!select_access(f, in) || in->sem == SEM_ACQUIRE || in->sem == SEM_ACQ_REL || in->sem == SEM_SC) return false;
    uint8_t bytes = ptx_types[f->types[0]].bytes;
    in->fn = bytes == 16 ? st_b128 : (in->sem > SEM_WEAK ? strong : weak)[__builtin_ctz(bytes)];
    return true;
}
