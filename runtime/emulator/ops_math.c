/* ops_math.c - approximate functions: ex2 lg2 sin cos of f32, tanh and ex2 of halves too. The host's own functions are
 * far inside of the bounds that PTX gives. */
#include "half.h"
#include "ops_float.h"

FLOAT_SLOW_UNARY(ex2, exp2f(x))
FLOAT_SLOW_UNARY(lg2, log2f(x))
FLOAT_SLOW_UNARY(sin_, sinf(x))
FLOAT_SLOW_UNARY(cos_, cosf(x))
SLOW_UNARY(tanh_f32, float, float, canonical(tanhf(x)))

static bool approx_f32(const PtxForm *f, PtxInst *in, const LanePair pairs[2]) {
    if (f->ntypes != 1 || f->types[0] != PT_F32 || !has(f, FLAG_APPROX)) return false;
    return only(f, BIT(APPROX) | BIT(FTZ), 0) && use(in, pairs[has(f, FLAG_FTZ)]);
}

bool select_lg2(const PtxForm *f, PtxInst *in) {
    static const LanePair pairs[] = FTZ_PAIRS(lg2);
    return approx_f32(f, in, pairs);
}
bool select_sin(const PtxForm *f, PtxInst *in) {
    static const LanePair pairs[] = FTZ_PAIRS(sin_);
    return approx_f32(f, in, pairs);
}
bool select_cos(const PtxForm *f, PtxInst *in) {
    static const LanePair pairs[] = FTZ_PAIRS(cos_);
    return approx_f32(f, in, pairs);
}

/* ---- halves ------------------------------------------------------------------------------------- */

/* Results of float functions are near enough to be rounded once more. ex2.bf16 has .ftz always: its subnormals have no
 * other result than 1, and 0. */
INLINE uint16_t flush_bf16(uint16_t h) { return h & 0x7f80 ? h : h & 0x8000; }
INLINE uint16_t ex2_half(uint16_t h) { return half_from_float(exp2f(half_to_float(h))); }
INLINE uint16_t ex2_bfloat(uint16_t h) { return flush_bf16(bf16_from_float(exp2f(bf16_to_float(flush_bf16(h))))); }
INLINE uint16_t tanh_half(uint16_t h) { return half_from_float(tanhf(half_to_float(h))); }
INLINE uint16_t tanh_bfloat(uint16_t h) { return bf16_from_float(tanhf(bf16_to_float(h))); }

#define DEFINE(name, step)                                                                                             \
    SLOW_UNARY(name, uint16_t, uint16_t, step(x))                                                                      \
    SLOW_UNARY(name##_x2, uint32_t, uint32_t, step((uint16_t)x) | (uint32_t)step((uint16_t)(x >> 16)) << 16)
DEFINE(ex2_f16, ex2_half)
DEFINE(ex2_bf16, ex2_bfloat)
DEFINE(tanh_f16, tanh_half)
DEFINE(tanh_bf16, tanh_bfloat)
#undef DEFINE

/* By type: f16, f16x2, bf16, bf16x2. */
static bool approx_half(const PtxForm *f, PtxInst *in, const LanePair pairs[4]) {
    switch (f->types[0]) {
    case PT_F16: return use(in, pairs[0]);
    case PT_F16X2: return use(in, pairs[1]);
    case PT_BF16: return use(in, pairs[2]);
    case PT_BF16X2: return use(in, pairs[3]);
    default: return false;
    }
}

bool select_ex2(const PtxForm *f, PtxInst *in) {
    static const LanePair pairs[] = FTZ_PAIRS(ex2);
    static const LanePair halves[] = {PAIR(ex2_f16), PAIR(ex2_f16_x2), PAIR(ex2_bf16), PAIR(ex2_bf16_x2)};
    if (f->types[0] == PT_F32) return approx_f32(f, in, pairs);
    bool bf16 = f->types[0] == PT_BF16 || f->types[0] == PT_BF16X2;
    if (f->ntypes != 1 || !has(f, FLAG_APPROX) || has(f, FLAG_FTZ) != bf16 || !only(f, BIT(APPROX) | BIT(FTZ), 0))
        return false;
    return approx_half(f, in, halves);
}

bool select_tanh(const PtxForm *f, PtxInst *in) {
    static const LanePair halves[] = {PAIR(tanh_f16), PAIR(tanh_f16_x2), PAIR(tanh_bf16), PAIR(tanh_bf16_x2)};
    if (f->ntypes != 1 || !has(f, FLAG_APPROX) || !only(f, BIT(APPROX), 0)) return false;
    return f->types[0] == PT_F32 ? use(in, (LanePair)PAIR(tanh_f32)) : approx_half(f, in, halves);
}
