/* ops_minmax.c - min and max of f32, f64, halves and pairs of halves.
 *
 * -0 is less than +0. Of a number and a NaN the number is the result, with .NaN the canonical NaN; .xorsign.abs
 * compares magnitudes and gives the result the product's sign. */
#include "half.h"
#include "ops_float.h"

enum { M_MAX = 1, M_NAN = 2, M_XORSIGN = 4, M_ABS = 8, M_FTZ = 16, M_BF16 = 32 }; /* in->sub */

/* Without NaNs: the sign bits of zeros decide, or-ed for min, and-ed for max. */
INLINE float ordered(float x, float y, bool max) {
    uint32_t both = max ? float_bits(x) & float_bits(y) : float_bits(x) | float_bits(y);
    float r = (max ? x > y : x < y) ? x : y;
    return x == y ? float_of(both) : r;
}
INLINE double ordered_double(double x, double y, bool max) {
    uint64_t both = max ? double_bits(x) & double_bits(y) : double_bits(x) | double_bits(y);
    double r = (max ? x > y : x < y) ? x : y;
    return x == y ? double_of(both) : r;
}
INLINE float either(float x, float y, bool max) { return x != x ? y : y != y ? x : ordered(x, y, max); }
INLINE double either_double(double x, double y, bool max) {
    return x != x ? y : y != y ? x : ordered_double(x, y, max);
}

BINARY(min_f32, float, float, float, canonical(either(x, y, false)))
BINARY(max_f32, float, float, float, canonical(either(x, y, true)))
BINARY(min_ftz_f32, float, float, float, canonical(either(flush(x), flush(y), false)))
BINARY(max_ftz_f32, float, float, float, canonical(either(flush(x), flush(y), true)))
BINARY(min_f64, double, double, double, either_double(x, y, false))
BINARY(max_f64, double, double, double, either_double(x, y, true))

/* With everything that in->sub asks for. */
static float pick(float x, float y, uint8_t sub) {
    uint32_t sign = (float_bits(x) ^ float_bits(y)) & 0x80000000;
    if (sub & M_ABS) x = __builtin_fabsf(x), y = __builtin_fabsf(y);
    float r = either(x, y, sub & M_MAX);
    if ((x != x && y != y) || (sub & M_NAN && (x != x || y != y))) return float_of(0x7fffffff);
    return sub & M_XORSIGN ? float_of((float_bits(r) & 0x7fffffff) | sign) : r;
}

static float flushed(float x, uint8_t sub) { return sub & M_FTZ ? flush(x) : x; }

static void minmax_f32(Warp *w, const PtxInst *in, uint32_t mask) {
    float *d = lanes(w, &in->o[0]);
    const float *a = lanes(w, &in->o[1]), *b = lanes(w, &in->o[2]), *c = in->o[3].file ? lanes(w, &in->o[3]) : NULL;
    EACH_LANE(mask, i, {
        float third = c ? flushed(c[i], in->sub) : 0, r = pick(flushed(a[i], in->sub), flushed(b[i], in->sub), in->sub);
        d[i] = c ? pick(r, third, in->sub) : r;
    });
}

/* ---- halves ------------------------------------------------------------------------------------- */

/* A half's place in the order of numbers: -0 comes before +0. */
INLINE int32_t rank(uint32_t h) { return h & 0x8000 ? -(int32_t)(h & 0x7fff) - 1 : (int32_t)h; }

/* Everything is done with whole numbers, and without branches, so that loops over it become vector code. */
INLINE uint16_t pick_half(uint32_t x, uint32_t y, uint8_t sub) {
    uint32_t exponent = sub & M_BF16 ? 0x7f80 : 0x7c00, sign = (x ^ y) & 0x8000, ftz = (sub & M_FTZ) != 0;
    uint32_t clear = sub & M_ABS ? 0x7fff : 0xffff, apart = (sub & M_NAN) != 0, max = (sub & M_MAX) != 0;
    x = pick_bits(ftz & ((x & exponent) == 0), x & 0x8000, x) & clear;
    y = pick_bits(ftz & ((y & exponent) == 0), y & 0x8000, y) & clear;
    uint32_t x_nan = (x & 0x7fff) > exponent, y_nan = (y & 0x7fff) > exponent;
    uint32_t r = pick_bits((rank(x) < rank(y)) ^ max, x, y);
    r = pick_bits(y_nan, x, pick_bits(x_nan, y, r));
    r = pick_bits((sub & M_XORSIGN) != 0, (r & 0x7fff) | sign, r);
    return (uint16_t)pick_bits((x_nan & y_nan) | (apart & (x_nan | y_nan)), 0x7fff, r);
}

#define DEFINE(name, T)                                                                                                \
    LANE_FN(name, {                                                                                                    \
        const uint16_t *a = lanes(w, &in->o[1]), *b = lanes(w, &in->o[2]);                                             \
        T *d = lanes(w, &in->o[0]), all[WARP];                                                                         \
        uint16_t r[2 * WARP];                                                                                          \
        uint8_t sub = in->sub;                                                                                         \
        for (uint32_t k = 0; k < WARP * sizeof(T) / 2; k++) r[k] = pick_half(a[k], b[k], sub);                         \
        memcpy(all, r, sizeof all);                                                                                    \
        SET_LANES(mask, T, d, i, all[i]);                                                                              \
    })
DEFINE(minmax_half, uint16_t)
DEFINE(minmax_half_pair, uint32_t)
#undef DEFINE

/* ---- forms -------------------------------------------------------------------------------------- */

static uint8_t minmax_sub(Arith op, const PtxForm *f) {
    unsigned sub = (op == OP_MAX ? M_MAX : 0) | (has(f, FLAG_NAN) ? M_NAN : 0) |
                   (has(f, FLAG_XORSIGN) ? M_XORSIGN : 0) | (has(f, FLAG_ABS) ? M_ABS : 0) |
                   (has(f, FLAG_FTZ) ? M_FTZ : 0);
    return (uint8_t)sub;
}

static bool minmax_f32_form(Arith op, const PtxForm *f, PtxInst *in) {
    bool three = in->o[3].file != FILE_NONE, max = op == OP_MAX, ftz = has(f, FLAG_FTZ);
    if (three ? has(f, FLAG_XORSIGN) : has(f, FLAG_XORSIGN) != has(f, FLAG_ABS)) return false;
    if (!three && !(f->flags & ~BIT(FTZ))) {
        if (ftz) return use(in, max ? (LanePair)PAIR(max_ftz_f32) : (LanePair)PAIR(min_ftz_f32));
        return use(in, max ? (LanePair)PAIR(max_f32) : (LanePair)PAIR(min_f32));
    }
    in->sub = minmax_sub(op, f);
    in->fn = minmax_f32;
    return true;
}

bool float_minmax(Arith op, const PtxForm *f, PtxInst *in) {
    unsigned type = f->types[0];
    if (f->ntypes != 1 || !only(f, BIT(FTZ) | BIT(NAN) | BIT(XORSIGN) | BIT(ABS), 0)) return false;
    if (type == PT_F32) return minmax_f32_form(op, f, in);
    if (type == PT_F64) {
        if (f->flags) return false;
        return use(in, op == OP_MAX ? (LanePair)PAIR(max_f64) : (LanePair)PAIR(min_f64));
    }
    bool bf16 = type == PT_BF16 || type == PT_BF16X2, pair = type == PT_F16X2 || type == PT_BF16X2;
    if (!is_half(type) || has(f, FLAG_XORSIGN) != has(f, FLAG_ABS) || (bf16 && has(f, FLAG_FTZ))) return false;
    in->sub = minmax_sub(op, f) | (bf16 ? M_BF16 : 0);
    return use(in, pair ? (LanePair)PAIR(minmax_half_pair) : (LanePair)PAIR(minmax_half));
}
