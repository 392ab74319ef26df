/* atomics.c - atom and red: all operations, types and vectors.
 *
 * Lanes take turns from the lowest on, so that results don't depend on anything. What another host thread could touch
 * at the same time is changed by the host's compare and swap; shared and local memory belong to this thread. */
#include "exec.h"
#include "half.h"
#include "rounding.h"

#include <string.h>

/* ---- one step: the new value from the old one ---------------------------------------------------- */

typedef uint64_t (*Step)(uint64_t old, uint64_t b, uint64_t c);

#define STEP(name, T, ...)                                                                                             \
    static uint64_t name(uint64_t old_, uint64_t b_, uint64_t c_) {                                                    \
        T x = (T)old_, b = (T)b_, c = (T)c_;                                                                           \
        (void)c, (void)x, (void)b;                                                                                     \
        return (uint64_t)(__VA_ARGS__);                                                                                \
    }
STEP(add64, uint64_t, x + b) /* also narrower integers: cut to the width */
STEP(and64, uint64_t, x &b)
STEP(or64, uint64_t, x | b)
STEP(xor64, uint64_t, x ^ b)
STEP(exch64, uint64_t, b)
STEP(cas16, uint16_t, x == b ? c : x)
STEP(cas32, uint32_t, x == b ? c : x)
STEP(cas64, uint64_t, x == b ? c : x)
STEP(inc32, uint32_t, x >= b ? 0 : x + 1)
STEP(dec32, uint32_t, x == 0 || x > b ? b : x - 1)
STEP(min_u32, uint32_t, x < b ? x : b)
STEP(max_u32, uint32_t, x > b ? x : b)
STEP(min_u64, uint64_t, x < b ? x : b)
STEP(max_u64, uint64_t, x > b ? x : b)
STEP(min_s32, int32_t, x < b ? x : b)
STEP(max_s32, int32_t, x > b ? x : b)
STEP(min_s64, int64_t, x < b ? x : b)
STEP(max_s64, int64_t, x > b ? x : b)

/* Any NaN becomes the one that the GPU has. */
static uint32_t bits_of(float f) { return f != f ? 0x7fffffff : float_bits(f); }

static uint64_t add_f32(uint64_t old, uint64_t b, uint64_t c) {
    (void)c;
    return bits_of(float_of((uint32_t)old) + float_of((uint32_t)b));
}

static uint32_t flush(uint64_t bits) { return (bits & 0x7f800000) ? (uint32_t)bits : (uint32_t)bits & 0x80000000; }

/* In global memory, the manual says, subnormal inputs and results become zero. */
static uint64_t add_f32_global(uint64_t old, uint64_t b, uint64_t c) { return flush(add_f32(flush(old), flush(b), c)); }

static uint64_t add_f64(uint64_t old, uint64_t b, uint64_t c) {
    (void)c;
    return double_bits(double_of(old) + double_of(b));
}

/* A sum of two halves as a float is rounded once more without harm: 24 bits are twice 11 and 2. */
static uint64_t add_f16(uint64_t old, uint64_t b, uint64_t c) {
    (void)c;
    return half_from_float(half_to_float((uint16_t)old) + half_to_float((uint16_t)b));
}

static uint64_t add_bf16(uint64_t old, uint64_t b, uint64_t c) {
    (void)c;
    return bf16_from_float(bf16_to_float((uint16_t)old) + bf16_to_float((uint16_t)b));
}

/* Halves and bfloats have the order of their bits; a NaN gives way to a number. */
static int order16(uint16_t x) { return x >> 15 ? -(x & 0x7fff) - 1 : x; }

static uint64_t least16(uint16_t x, uint16_t y, uint16_t infinity, bool greatest) {
    bool nan_x = (x & 0x7fff) > infinity, nan_y = (y & 0x7fff) > infinity;
    if (nan_x) return nan_y ? 0x7fff : y;
    if (nan_y) return x;
    return (order16(y) < order16(x)) != greatest ? y : x;
}

static uint64_t min_f16(uint64_t x, uint64_t b, uint64_t c) {
    return (void)c, least16((uint16_t)x, (uint16_t)b, 0x7c00, false);
}
static uint64_t max_f16(uint64_t x, uint64_t b, uint64_t c) {
    return (void)c, least16((uint16_t)x, (uint16_t)b, 0x7c00, true);
}
static uint64_t min_bf16(uint64_t x, uint64_t b, uint64_t c) {
    return (void)c, least16((uint16_t)x, (uint16_t)b, 0x7f80, false);
}
static uint64_t max_bf16(uint64_t x, uint64_t b, uint64_t c) {
    return (void)c, least16((uint16_t)x, (uint16_t)b, 0x7f80, true);
}

/* Both halves of a packed pair, at once as this emulator has it (PTX promises each for itself). */
#define PAIR(name)                                                                                                     \
    static uint64_t name##x2(uint64_t old, uint64_t b, uint64_t c) {                                                   \
        return name(old & 0xffff, b & 0xffff, c) | name(old >> 16 & 0xffff, b >> 16 & 0xffff, c) << 16;                \
    }
PAIR(add_f16)
PAIR(add_bf16)
PAIR(min_f16)
PAIR(min_bf16)
PAIR(max_f16)
PAIR(max_bf16)

/* What there is. `vectors`: has .v2 .v4 .v8 forms in global memory. */
static const struct {
    uint8_t op, type;
    bool vectors;
    Step step;
} steps[] = {
    {ATOM_ADD, PT_U32, false, add64},        {ATOM_ADD, PT_S32, false, add64},
    {ATOM_ADD, PT_U64, false, add64},        {ATOM_ADD, PT_F32, true, add_f32},
    {ATOM_ADD, PT_F64, false, add_f64},      {ATOM_ADD, PT_F16, true, add_f16},
    {ATOM_ADD, PT_BF16, true, add_bf16},     {ATOM_ADD, PT_F16X2, true, add_f16x2},
    {ATOM_ADD, PT_BF16X2, true, add_bf16x2}, {ATOM_MIN, PT_U32, false, min_u32},
    {ATOM_MIN, PT_S32, false, min_s32},      {ATOM_MIN, PT_U64, false, min_u64},
    {ATOM_MIN, PT_S64, false, min_s64},      {ATOM_MIN, PT_F16, true, min_f16},
    {ATOM_MIN, PT_BF16, true, min_bf16},     {ATOM_MIN, PT_F16X2, true, min_f16x2},
    {ATOM_MIN, PT_BF16X2, true, min_bf16x2}, {ATOM_MAX, PT_U32, false, max_u32},
    {ATOM_MAX, PT_S32, false, max_s32},      {ATOM_MAX, PT_U64, false, max_u64},
    {ATOM_MAX, PT_S64, false, max_s64},      {ATOM_MAX, PT_F16, true, max_f16},
    {ATOM_MAX, PT_BF16, true, max_bf16},     {ATOM_MAX, PT_F16X2, true, max_f16x2},
    {ATOM_MAX, PT_BF16X2, true, max_bf16x2}, {ATOM_AND, PT_B32, false, and64},
    {ATOM_AND, PT_B64, false, and64},        {ATOM_OR, PT_B32, false, or64},
    {ATOM_OR, PT_B64, false, or64},          {ATOM_XOR, PT_B32, false, xor64},
    {ATOM_XOR, PT_B64, false, xor64},        {ATOM_EXCH, PT_B32, false, exch64},
    {ATOM_EXCH, PT_B64, false, exch64},      {ATOM_CAS, PT_B16, false, cas16},
    {ATOM_CAS, PT_B32, false, cas32},        {ATOM_CAS, PT_B64, false, cas64},
    {ATOM_INC, PT_U32, false, inc32},        {ATOM_DEC, PT_U32, false, dec32},
};

/* ---- memory ------------------------------------------------------------------------------------ */

#define UPDATE(T)                                                                                                      \
    static uint64_t update_##T(void *at, Step step, uint64_t b, uint64_t c, bool mine) {                               \
        T *p = at;                                                                                                     \
        if (mine) {                                                                                                    \
            T old = *p;                                                                                                \
            *p = (T)step(old, b, c);                                                                                   \
            return old;                                                                                                \
        }                                                                                                              \
        T old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                                  \
        while (!__atomic_compare_exchange_n(p, &old, (T)step(old, b, c), true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {} \
        return old;                                                                                                    \
    }
UPDATE(uint16_t)
UPDATE(uint32_t)
UPDATE(uint64_t)

static uint64_t update(void *at, uint32_t bytes, Step step, uint64_t b, uint64_t c, bool mine) {
    switch (bytes) {
    case 2: return update_uint16_t(at, step, b, c, mine);
    case 4: return update_uint32_t(at, step, b, c, mine);
    default: return update_uint64_t(at, step, b, c, mine);
    }
}

static bool is_mine(const PtxInst *in, const Access *a, int lane) {
    Space space = in->space == SPACE_GENERIC ? generic_space(a->address[lane]) : (Space)in->space;
    return space == SPACE_SHARED || space == SPACE_LOCAL;
}

static const PtxOperand *element(const Warp *w, const PtxOperand *o, uint32_t k) {
    return o->flags & OPERAND_VECTOR ? &w->run->code->vectors[o->off + k] : o;
}

/* atom has the old value's register first, red hasn't. */
static int first_operand(const PtxInst *in) { return in->has_result ? 1 : 0; }

static void locate_atomic(Warp *w, const PtxInst *in, uint32_t mask, uint32_t bytes, Access *a) {
    unsigned how = ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC;
    int k = first_operand(in);
    locate(w, in, &in->o[k], in->disp, in->space, mask, bytes, how, a);
    if (w->watching) watch(w, in, in->space, mask, bytes, how, a, NULL);
    if (in->sem >= SEM_RELEASE) watch_fence(w, mask, in->scope != SCOPE_CTA);
    watch_observe(w, mask);
    w->observed |= in->has_result;
}

static void atomic(Warp *w, const PtxInst *in, uint32_t mask) {
    Access a;
    uint32_t bytes = ptx_types[in->type[0]].bytes, n = in->vec;
    int k = first_operand(in);
    locate_atomic(w, in, mask, bytes * n, &a);
    for (uint32_t e = 0; e < n; e++) {
        const PtxOperand *d = in->has_result ? element(w, &in->o[0], e) : NULL, *b = element(w, &in->o[k + 1], e);
        const PtxOperand *c = in->o[k + 2].file != FILE_NONE ? &in->o[k + 2] : b;
        EACH_LANE(mask, i, {
            bool mine = is_mine(in, &a, i);
            Step step = steps[in->sub].step;
            if (!mine && step == add_f32) step = add_f32_global;
            uint64_t old = update(a.host[i] + e * bytes, bytes, step, lane_get(w, b, i), lane_get(w, c, i), mine);
            if (d) lane_set(w, d, i, old);
        });
    }
}

/* The most common by far, 32-bit sums and counts in global memory. */
static void add_u32(Warp *w, const PtxInst *in, uint32_t mask) {
    Access a;
    int k = first_operand(in);
    locate_atomic(w, in, mask, 4, &a);
    const uint32_t *b = lanes(w, &in->o[k + 1]);
    uint32_t unused[WARP], *d = in->has_result ? lanes(w, &in->o[0]) : unused;
    EACH_LANE(mask, i, d[i] = __atomic_fetch_add((uint32_t *)a.host[i], b[i], __ATOMIC_SEQ_CST));
}

static void add_u32_shared(Warp *w, const PtxInst *in, uint32_t mask) {
    Access a;
    int k = first_operand(in);
    locate_atomic(w, in, mask, 4, &a);
    const uint32_t *b = lanes(w, &in->o[k + 1]);
    uint32_t unused[WARP], *d = in->has_result ? lanes(w, &in->o[0]) : unused;
    EACH_LANE(mask, i, {
        uint32_t *p = (uint32_t *)a.host[i], old = *p;
        *p = old + b[i];
        d[i] = old;
    });
}

/* exch and cas of 16 bytes, for which not every host has an instruction. */
static void atomic_b128(Warp *w, const PtxInst *in, uint32_t mask) {
    Access a;
    locate_atomic(w, in, mask, 16, &a);
    uint8_t *d = lanes(w, &in->o[0]);
    const uint8_t *b = lanes(w, &in->o[2]), *c = in->sub == ATOM_CAS ? lanes(w, &in->o[3]) : b;
    pthread_mutex_lock(&w->run->lock);
    EACH_LANE(mask, i, {
        uint8_t old[16];
        memcpy(old, a.host[i], 16);
        if (in->sub == ATOM_EXCH || memcmp(old, b + 16 * i, 16) == 0) memcpy(a.host[i], c + 16 * i, 16);
        memcpy(d + 16 * i, old, 16);
    });
    pthread_mutex_unlock(&w->run->lock);
}

/* ---- for asynchronous reductions -------------------------------------------------------------------- */

int atomic_step(unsigned op, unsigned type) {
    if (op == ATOM_ADD && type == PT_S64) type = PT_U64;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i].op == op && steps[i].type == type && op != ATOM_EXCH && op != ATOM_CAS) return (int)i;
    return -1;
}

void atomic_apply(int step, void *at, uint32_t bytes, uint64_t value) {
    update(at, bytes, steps[step].step, value, 0, false);
}

/* ---- rows of ptxops.def -------------------------------------------------------------------------- */

static bool flag(const PtxForm *f, unsigned bit) { return f->flags >> bit & 1; }

/* Registers are as wide as the type; the elements of vectors decode.c has compared with it. */
static bool widths_agree(const PtxInst *in, unsigned type) {
    int k = first_operand(in);
    uint8_t bytes = ptx_types[type].bytes;
    if (in->vec > 1) return true;
    return in->o[k + 1].bytes == bytes && (k == 0 || in->o[0].bytes == bytes);
}

static bool select_atomic(const PtxForm *f, PtxInst *in, bool has_result) {
    unsigned op = f->field[MF_ATOM], type = f->types[0];
    in->has_result = has_result;
    in->vec = f->field[MF_VEC] ? f->field[MF_VEC] : 1;
    in->space = f->field[MF_SPACE] ? (uint8_t)(f->field[MF_SPACE] - 1) : SPACE_GENERIC;
    in->sem = f->field[MF_SEM];
    in->scope = f->field[MF_SCOPE];
    in->type[0] = (uint8_t)type;
    int operands = has_result + 2 + (op == ATOM_CAS) + flag(f, FLAG_CACHE_HINT);
    bool place = in->space == SPACE_GENERIC || in->space == SPACE_GLOBAL || in->space == SPACE_SHARED;
    if (f->ntypes != 1 || f->noperands != operands || !place || in->sem == SEM_WEAK || in->sem == SEM_VOLATILE ||
        in->sem == SEM_SC)
        return false;
    if (!widths_agree(in, type)) return false;
    if (type == PT_B128) {
        in->fn = atomic_b128;
        in->sub = (uint8_t)op;
        return has_result && in->vec == 1 && (op == ATOM_EXCH || op == ATOM_CAS);
    }
    bool half = type == PT_F16 || type == PT_BF16 || type == PT_F16X2 || type == PT_BF16X2;
    if (half != flag(f, FLAG_NOFTZ)) return false;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i].op != op || steps[i].type != type) continue;
        in->sub = (uint8_t)i;
        in->fn = steps[i].step == add64 && ptx_types[type].bytes == 4
                     ? in->space == SPACE_SHARED ? add_u32_shared : add_u32
                     : atomic;
        return in->vec == 1 || (steps[i].vectors && in->space != SPACE_SHARED && in->vec * ptx_types[type].bytes <= 16);
    }
    return false;
}

bool select_atom(const PtxForm *f, PtxInst *in) { return select_atomic(f, in, true); }

bool select_red(const PtxForm *f, PtxInst *in) {
    unsigned op = f->field[MF_ATOM];
    return op != ATOM_EXCH && op != ATOM_CAS && select_atomic(f, in, false);
}

bool is_compare_and_swap(const PtxInst *in) {
    return in->fn == atomic ? steps[in->sub].op == ATOM_CAS : in->fn == atomic_b128 && in->sub == ATOM_CAS;
}
