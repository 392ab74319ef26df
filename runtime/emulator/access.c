/* access.c - ld and st. */
#include "locate.h"

#include <string.h>

static inline const PtxOperand *element(const Warp *w, const PtxOperand *o, uint32_t k) {
    return o->flags & OPERAND_VECTOR ? &w->run->code->vectors[o->off + k] : o;
}

static inline unsigned strength(const PtxInst *in) { return in->sem > SEM_WEAK ? ACCESS_STRONG : 0; }

/* ---- ld ---------------------------------------------------------------------------------------- */

/* Memory of type M to registers of 2, 4 or 8 bytes, which are as wide or wider: element k of lane i is at get(M). */
#define TO_REGISTERS(M, get)                                                                                           \
    for (uint32_t k = 0; k < n; k++) {                                                                                 \
        const PtxOperand *e = element(w, &in->o[0], k);                                                                \
        void *d = lanes(w, e);                                                                                         \
        if (e->bytes == 4) EACH_LANE(mask, i, ((uint32_t *)d)[i] = (uint32_t)get(M));                                  \
        else if (e->bytes == 8) EACH_LANE(mask, i, ((uint64_t *)d)[i] = (uint64_t)get(M));                             \
        else EACH_LANE(mask, i, ((uint16_t *)d)[i] = (uint16_t)get(M));                                                \
    }
#define OF_ROW(M) ((const M *)p)[(uint32_t)i * n + k]
#define OF_SAME(M) ((const M *)p)[k]
#define OF_LANE(M) ((const M *)a.host[i])[k]
#define ATOMICALLY(M) __atomic_load_n((const M *)a.host[i] + k, __ATOMIC_ACQUIRE)

#define LOAD(M)                                                                                                        \
    LANE_FN(ld_##M, {                                                                                                  \
        uint32_t n = in->vec, bytes = n * (uint32_t)sizeof(M) - in->unused;                                            \
        Pattern pattern;                                                                                               \
        const uint8_t *p = NULL;                                                                                       \
        if (mask == UINT32_MAX && !w->watching) p = locate_pattern(w, in, &in->o[1], bytes, ACCESS_READ, &pattern);    \
        if (p && pattern == ROW) {                                                                                     \
            TO_REGISTERS(M, OF_ROW)                                                                                    \
        } else if (p) {                                                                                                \
            TO_REGISTERS(M, OF_SAME)                                                                                   \
        } else {                                                                                                       \
            Access a;                                                                                                  \
            locate_inline(w, in, &in->o[1], in->disp, (Space)in->space, mask, bytes, ACCESS_READ, &a);                 \
            if (w->watching) watch(w, in, (Space)in->space, mask, bytes, ACCESS_READ, &a, NULL);                       \
            TO_REGISTERS(M, OF_LANE)                                                                                   \
        }                                                                                                              \
    })                                                                                                                 \
    /* volatile, relaxed and acquire: others may write at the same time. */                                            \
    static void strong_##M(Warp *w, const PtxInst *in, uint32_t mask) {                                                \
        Access a;                                                                                                      \
        uint32_t n = in->vec;                                                                                          \
        locate_strong_load(w, in, mask, n *(uint32_t)sizeof(M), &a);                                                   \
        TO_REGISTERS(M, ATOMICALLY)                                                                                    \
    }

static void locate_strong_load(Warp *w, const PtxInst *in, uint32_t mask, uint32_t bytes, Access *a) {
    unsigned how = ACCESS_READ | ACCESS_STRONG;
    locate(w, in, &in->o[1], in->disp, (Space)in->space, mask, bytes, how, a);
    w->observed = true;
    if (w->watching) watch(w, in, (Space)in->space, mask, bytes, how, a, NULL);
    watch_observe(w, mask);
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
    unsigned how = ACCESS_READ | strength(in);
    locate(w, in, &in->o[1], in->disp, (Space)in->space, mask, n * 16, how, &a);
    if (w->watching) watch(w, in, (Space)in->space, mask, n * 16, how, &a, NULL);
    for (uint32_t k = 0; k < n; k++) {
        uint8_t *d = lanes(w, element(w, &in->o[0], k));
        EACH_LANE(mask, i, memcpy(d + 16 * i, a.host[i] + 16 * k, 16));
    }
    if (in->sem <= SEM_WEAK) return;
    w->observed = true;
    watch_observe(w, mask);
}

/* ---- st ---------------------------------------------------------------------------------------- */

#define FROM_REGISTERS(M, put)                                                                                         \
    for (uint32_t k = 0; k < n; k++) {                                                                                 \
        const PtxOperand *e = element(w, &in->o[1], k);                                                                \
        const void *s = lanes(w, e);                                                                                   \
        if (e->bytes == 4) EACH_LANE(mask, i, put(M, (M)((const uint32_t *)s)[i]));                                    \
        else if (e->bytes == 8) EACH_LANE(mask, i, put(M, (M)((const uint64_t *)s)[i]));                               \
        else EACH_LANE(mask, i, put(M, (M)((const uint16_t *)s)[i]));                                                  \
    }
#define TO_ROW(M, value) ((M *)p)[(uint32_t)i * n + k] = (value)
#define TO_LANE(M, value) ((M *)a.host[i])[k] = (value)
#define PUT_ATOMICALLY(M, value) __atomic_store_n((M *)a.host[i] + k, (value), __ATOMIC_RELEASE)

/* Lanes that store to one address do so in order: the last one's value stays. */
#define STORE(M)                                                                                                       \
    LANE_FN(st_##M, {                                                                                                  \
        uint32_t n = in->vec, bytes = n * (uint32_t)sizeof(M);                                                         \
        Pattern pattern;                                                                                               \
        uint8_t *p = NULL;                                                                                             \
        if (mask == UINT32_MAX && !w->watching) p = locate_pattern(w, in, &in->o[0], bytes, ACCESS_WRITE, &pattern);   \
        if (p && pattern == ROW) {                                                                                     \
            FROM_REGISTERS(M, TO_ROW)                                                                                  \
        } else {                                                                                                       \
            Access a;                                                                                                  \
            locate_inline(w, in, &in->o[0], in->disp, (Space)in->space, mask, bytes, ACCESS_WRITE, &a);                \
            if (w->watching) watch_store(w, in, mask, (uint32_t)sizeof(M), ACCESS_WRITE, &a);                          \
            FROM_REGISTERS(M, TO_LANE)                                                                                 \
        }                                                                                                              \
    })                                                                                                                 \
    static void strong_st_##M(Warp *w, const PtxInst *in, uint32_t mask) {                                             \
        Access a;                                                                                                      \
        uint32_t n = in->vec;                                                                                          \
        locate_strong_store(w, in, mask, n *(uint32_t)sizeof(M), &a);                                                  \
        FROM_REGISTERS(M, PUT_ATOMICALLY)                                                                              \
    }

static void locate_strong_store(Warp *w, const PtxInst *in, uint32_t mask, uint32_t bytes, Access *a) {
    unsigned how = ACCESS_WRITE | ACCESS_STRONG;
    locate(w, in, &in->o[0], in->disp, (Space)in->space, mask, bytes, how, a);
    if (w->watching) watch_store(w, in, mask, bytes / in->vec, how, a);
    if (in->sem >= SEM_RELEASE) watch_fence(w, mask, in->scope != SCOPE_CTA);
}

STORE(uint8_t)
STORE(uint16_t)
STORE(uint32_t)
STORE(uint64_t)

static void st_b128(Warp *w, const PtxInst *in, uint32_t mask) {
    Access a;
    uint32_t n = in->vec;
    unsigned how = ACCESS_WRITE | strength(in);
    locate(w, in, &in->o[0], in->disp, (Space)in->space, mask, n * 16, how, &a);
    if (w->watching) watch_store(w, in, mask, 16, how, &a);
    if (in->sem >= SEM_RELEASE) watch_fence(w, mask, in->scope != SCOPE_CTA);
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
    static const LanePair weak[4] = {PAIR(ld_uint8_t), PAIR(ld_uint16_t), PAIR(ld_uint32_t), PAIR(ld_uint64_t)};
    static const LanePair weak_signed[4] = {PAIR(ld_int8_t), PAIR(ld_int16_t), PAIR(ld_int32_t), PAIR(ld_uint64_t)};
    static const LaneFn strong[4] = {strong_uint8_t, strong_uint16_t, strong_uint32_t, strong_uint64_t};
    static const LaneFn strong_signed[4] = {strong_int8_t, strong_int16_t, strong_int32_t, strong_uint64_t};
    if (!select_access(f, in) || in->sem == SEM_RELEASE || in->sem == SEM_ACQ_REL || in->sem == SEM_SC) return false;
    const PtxTypeInfo *type = &ptx_types[f->types[0]];
    bool is_signed = type->kind == KIND_SIGNED;
    int log = __builtin_ctz(type->bytes);
    in->fn = type->bytes == 16 ? ld_b128 : (is_signed ? strong_signed : strong)[log & 3];
    return type->bytes == 16 || in->sem > SEM_WEAK || use(in, (is_signed ? weak_signed : weak)[log]);
}

bool select_st(const PtxForm *f, PtxInst *in) {
    static const LanePair weak[4] = {PAIR(st_uint8_t), PAIR(st_uint16_t), PAIR(st_uint32_t), PAIR(st_uint64_t)};
    static const LaneFn strong[4] = {strong_st_uint8_t, strong_st_uint16_t, strong_st_uint32_t, strong_st_uint64_t};
    if (!select_access(f, in) || in->sem == SEM_ACQUIRE || in->sem == SEM_ACQ_REL || in->sem == SEM_SC) return false;
    uint8_t bytes = ptx_types[f->types[0]].bytes;
    int log = __builtin_ctz(bytes);
    in->fn = bytes == 16 ? st_b128 : strong[log & 3];
    return bytes == 16 || in->sem > SEM_WEAK || use(in, weak[log]);
}
