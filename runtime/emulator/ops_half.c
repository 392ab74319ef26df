/* ops_half.c - arithmetic of f16 and bf16, alone and in pairs: add sub mul fma, abs neg.
 *
 * Sums, products and quotients of halves in single precision, rounded again, are rounded correctly: it has more than
 * twice their digits and two. The sum of a product needs double precision and rounding to odd. A NaN result is 0x7fff.
 */
#include "half.h"
#include "ops_float.h"

enum { H_FTZ = 1, H_SAT = 2, H_RELU = 4 }; /* in->sub */

INLINE uint16_t flush_half(uint16_t h) { return h & 0x7c00 ? h : h & 0x8000; }

INLINE uint64_t pick(bool yes, uint64_t a, uint64_t b) { return b ^ ((a ^ b) & (0 - (uint64_t)yes)); }

/* The nearest half of a double that is exact or rounded to odd. */
INLINE uint16_t half_of_double(double x, bool bf16) {
    const int cut = bf16 ? 45 : 42;
    const uint64_t rebias = (uint64_t)(1023 - (bf16 ? 127 : 15)) << 52, infinity = bf16 ? 0x7f80 : 0x7c00;
    const double unit = bf16 ? 0x1p-81 : 0x1p28; /* its last bit is that of a subnormal half: the addition rounds */
    uint64_t bits = double_bits(x), sign = bits >> 48 & 0x8000;
    bits &= INT64_MAX;
    uint64_t small = double_bits(double_of(bits) + unit) - double_bits(unit);
    uint64_t normal = (bits - rebias + ((UINT64_C(1) << (cut - 1)) - 1) + (bits >> cut & 1)) >> cut;
    uint64_t h = pick((int64_t)bits < (int64_t)(rebias + (UINT64_C(1) << 52)), small, normal);
    h = pick((int64_t)h > (int64_t)infinity, infinity, h) | sign;
    return (uint16_t)pick((int64_t)bits > INT64_C(0x7ff) << 52, 0x7fff, h);
}

/* The flags' limits, on rounded halves: 0 and 1 are halves themselves. */
INLINE uint16_t limited(uint16_t h, uint8_t sub) {
    bool nan = (h & 0x7fff) > 0x7c00;
    if (sub & H_SAT) h = nan || h & 0x8000 ? 0 : h > 0x3c00 ? 0x3c00 : h;
    if (sub & H_RELU && h & 0x8000) h = 0; /* a NaN is 0x7fff */
    return h;
}

INLINE void flush_halves(uint16_t *to, const uint16_t *from, int n) {
    for (int k = 0; k < n; k++) to[k] = flush_half(from[k]);
}

INLINE void floats_of(float *to, const uint16_t *from, bool bf16, int n) {
    for (int k = 0; k < n; k++) to[k] = bf16 ? bf16_to_float(from[k]) : half_to_float(from[k]);
}

/* Rounded sums or products; bf16 products that leave the range of float become infinity anyway. */
INLINE void two_floats(Arith op, bool bf16, int n, uint16_t *r, const float *x, const float *y) {
    float f[2 * WARP];
    for (int k = 0; k < n; k++) f[k] = op == OP_ADD ? x[k] + y[k] : op == OP_SUB ? x[k] - y[k] : x[k] * y[k];
    for (int k = 0; k < n; k++) r[k] = bf16 ? bf16_from_float(f[k]) : half_from_float(f[k]);
}

INLINE void three_floats(bool bf16, int n, uint16_t *r, const float *x, const float *y, const float *z) {
    double s[2 * WARP];
    for (int k = 0; k < n; k++) s[k] = add_to_odd((double)x[k] * (double)y[k], (double)z[k]);
    for (int k = 0; k < n; k++) r[k] = half_of_double(s[k], bf16);
}

/* All halves of the operands, one or two a lane, into r. Short loops, since compilers make vector code only of those.
 */
INLINE void all_halves(Arith op, bool bf16, int n, uint16_t *r, const uint16_t *a, const uint16_t *b, const uint16_t *c,
                       uint8_t sub) {
    uint16_t flushed[3][2 * WARP];
    float x[2 * WARP], y[2 * WARP], z[2 * WARP];
    if (sub & H_FTZ) {
        flush_halves(flushed[0], a, n);
        flush_halves(flushed[1], b, n);
        if (op == OP_FMA) flush_halves(flushed[2], c, n);
        a = flushed[0], b = flushed[1], c = flushed[2];
    }
    floats_of(x, a, bf16, n);
    floats_of(y, b, bf16, n);
    if (op == OP_FMA) {
        floats_of(z, c, bf16, n);
        three_floats(bf16, n, r, x, y, z);
    } else {
        two_floats(op, bf16, n, r, x, y);
    }
    if (sub & H_FTZ) flush_halves(r, r, n);
    if (sub & (H_SAT | H_RELU))
        for (int k = 0; k < n; k++) r[k] = limited(r[k], sub);
}

#define DEFINE(name, op, bf16, T)                                                                                      \
    LANE_FN(name, T *d = lanes(w, &in->o[0]); const uint16_t *a = lanes(w, &in->o[1]), *b = lanes(w, &in->o[2]);       \
            const uint16_t *c = in->o[3].file ? lanes(w, &in->o[3]) : a; uint16_t r[2 * WARP]; T all[WARP];            \
            all_halves(op, bf16, (int)(WARP * sizeof(T) / 2), r, a, b, c, in->sub); memcpy(all, r, sizeof all);        \
            SET_LANES(mask, T, d, i, all[i]);)
#define DEFINE_OP(name, op)                                                                                            \
    DEFINE(name##_f16, op, false, uint16_t)                                                                            \
    DEFINE(name##_f16x2, op, false, uint32_t)                                                                          \
    DEFINE(name##_bf16, op, true, uint16_t)                                                                            \
    DEFINE(name##_bf16x2, op, true, uint32_t)
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
