/* ops_half.c - arithmetic of f16 and bf16, alone and in pairs: add sub mul fma, abs neg.
 *
 * Sums, products and quotients of halves in single precision, rounded again, are rounded correctly: it has more than
 * twice their digits and two. The sum of a product needs double precision and rounding to odd. A NaN result is 0x7fff.
 */
#include "half.h"
#include "ops_float.h"

enum { H_FTZ = 1, H_SAT = 2, H_RELU = 4, H_BF16 = 8, H_OP = 16 /* times the operation */ }; /* in->sub */

INLINE uint16_t flush_half(uint16_t h) { return h & 0x7c00 ? h : h & 0x8000; }

/* Nearest halves of a double that is exact or rounded to odd; float keeps more than enough digits to round once more,
 * if it is rounded to odd as well. */
INLINE float float_to_odd(double x) {
    float f = (float)x;
    uint32_t b = float_bits(f);
    if ((double)f == x || x != x || b << 1 == 0xff000000) return f;
    if (((double)f > x) == (x > 0)) b--; /* toward zero, then to odd */
    return float_of(b | 1);
}

INLINE float fma_to_odd(float x, float y, float z) {
    return float_to_odd(add_to_odd((double)x * (double)y, (double)z));
}

INLINE float compute(Arith op, float x, float y, float z) {
    switch (op) {
    case OP_ADD: return x + y;
    case OP_SUB: return x - y;
    case OP_MUL: return x * y;
    default: return fma_to_odd(x, y, z);
    }
}

/* A float between the flags' limits. */
INLINE float limited(float r, uint8_t sub) {
    if (sub & H_SAT) return clamp01(r);
    if (sub & H_RELU) return r < 0 || r == 0 ? 0.0f : r;
    return r;
}

INLINE uint16_t f16_step(Arith op, uint16_t x, uint16_t y, uint16_t z, uint8_t sub) {
    if (sub & H_FTZ) x = flush_half(x), y = flush_half(y), z = flush_half(z);
    float r = compute(op, half_to_float(x), half_to_float(y), half_to_float(z));
    uint16_t h = half_from_float(limited(r, sub));
    return sub & H_FTZ ? flush_half(h) : h;
}

/* Products of bf16 may leave the range of float on their way. */
INLINE uint16_t bf16_step(Arith op, uint16_t x, uint16_t y, uint16_t z, uint8_t sub) {
    return bf16_from_float(limited(compute(op, bf16_to_float(x), bf16_to_float(y), bf16_to_float(z)), sub));
}

/* All halves of an operand: one or two a lane. */
#define DEFINE(name, op, step, per_lane)                                                                               \
    LANE_FN(                                                                                                           \
        name, uint16_t *d = lanes(w, &in->o[0]); const uint16_t *a = lanes(w, &in->o[1]), *b = lanes(w, &in->o[2]);    \
        const uint16_t *c = in->o[3].file ? lanes(w, &in->o[3]) : a; uint8_t sub = in->sub;                            \
        INDEPENDENT for (uint32_t k = 0; k < WARP * per_lane; k++) {                                                   \
            uint16_t r = step(op, a[k], b[k], c[k], sub);                                                              \
            d[k] = mask >> k / per_lane & 1 ? r : d[k];                                                                \
        })
#define DEFINE_OP(name, op)                                                                                            \
    DEFINE(name##_f16, op, f16_step, 1)                                                                                \
    DEFINE(name##_f16x2, op, f16_step, 2)                                                                              \
    DEFINE(name##_bf16, op, bf16_step, 1)                                                                              \
    DEFINE(name##_bf16x2, op, bf16_step, 2)
DEFINE_OP(add, OP_ADD)
DEFINE_OP(sub, OP_SUB)
DEFINE_OP(mul, OP_MUL)
DEFINE_OP(fma, OP_FMA)
#undef DEFINE
#undef DEFINE_OP

static int half_index(unsigned type) { return type == PT_F16 ? 0 : type == PT_F16X2 ? 1 : type == PT_BF16 ? 2 : 3; }

bool half_arith(Arith op, const PtxForm *f, PtxInst *in) {
#define ROW(op)                                                                                                        \
    { PAIR(op##_f16), PAIR(op##_f16x2), PAIR(op##_bf16), PAIR(op##_bf16x2) }
    static const LanePair table[][4] = {
        [OP_ADD] = ROW(add), [OP_SUB] = ROW(sub), [OP_MUL] = ROW(mul), [OP_FMA] = ROW(fma)};
#undef ROW
    int type = half_index(f->types[0]);
    uint64_t flags = type < 2 ? BIT(FTZ) | BIT(SAT) : 0;
    if (op == OP_FMA) flags |= BIT(RELU);
    if (f->ntypes != 1 || op > OP_FMA || !only(f, flags, FIELD(ROUND)) || rounding(f) > ROUND_RN) return false;
    if (op == OP_FMA && !rounding(f)) return false;
    if (has(f, FLAG_SAT) && has(f, FLAG_RELU)) return false;
    in->sub =
        (uint8_t)((has(f, FLAG_FTZ) ? H_FTZ : 0) | (has(f, FLAG_SAT) ? H_SAT : 0) | (has(f, FLAG_RELU) ? H_RELU : 0));
    return use(in, table[op][type]);
}

/* ---- abs, neg ------------------------------------------------------------------------------------ */

INLINE uint16_t signed_half(uint16_t h, Arith op, bool ftz) {
    if (ftz) h = flush_half(h);
    return op == OP_NEG ? h ^ 0x8000 : h & 0x7fff;
}
#define DEFINE(name, op, ftz)                                                                                          \
    UNARY(name, uint16_t, uint16_t, signed_half(x, op, ftz))                                                           \
    UNARY(name##_x2, uint32_t, uint32_t,                                                                               \
          signed_half((uint16_t)x, op, ftz) | (uint32_t)signed_half((uint16_t)(x >> 16), op, ftz) << 16)
DEFINE(abs, OP_ABS, false)
DEFINE(abs_ftz, OP_ABS, true)
DEFINE(neg, OP_NEG, false)
DEFINE(neg_ftz, OP_NEG, true)
#undef DEFINE

bool half_sign(Arith op, const PtxForm *f, PtxInst *in) {
    static const LanePair table[2][2][2] = {{{PAIR(abs), PAIR(abs_x2)}, {PAIR(abs_ftz), PAIR(abs_ftz_x2)}},
                                            {{PAIR(neg), PAIR(neg_x2)}, {PAIR(neg_ftz), PAIR(neg_ftz_x2)}}};
    int type = half_index(f->types[0]);
    if (f->ntypes != 1 || !only(f, type < 2 ? BIT(FTZ) : 0, 0)) return false;
    return use(in, table[op == OP_NEG][has(f, FLAG_FTZ)][type & 1]);
}
