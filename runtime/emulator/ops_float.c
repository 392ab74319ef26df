/* ops_float.c - arithmetic of f32, f64 and f32x2: add sub mul fma mad div rcp sqrt rsqrt, abs neg copysign testp.
 *
 * Rounding to nearest is the host's own arithmetic, in vectors; the other directions go through rounding.c. A NaN
 * result of f32 is 0x7fffffff; f64 keeps the operand's payload. */
#include "ops_float.h"

/* ---- add, sub, mul, fma: f32 -------------------------------------------------------------------- */

FLOAT_BINARY_SAT(add_f32, x + y)
FLOAT_BINARY_SAT(sub_f32, x - y)
FLOAT_BINARY_SAT(mul_f32, x *y)
FLOAT_TERNARY_SAT(fma_f32, __builtin_fmaf(x, y, z))

/* Any direction, with .ftz and .sat as in->sub says, for n numbers: one or two a lane. */
INLINE void flush_floats(float *to, const float *from, int n, uint8_t sub) {
    uint32_t keep = sub & SUB_FTZ ? 0x80000000 : UINT32_MAX;
    for (int k = 0; k < n; k++) {
        uint32_t b = float_bits(from[k]), normal = 0 - (uint32_t)((b & 0x7f800000) != 0);
        to[k] = float_of(b & (keep | normal));
    }
}

INLINE void finish_floats(float *r, int n, uint8_t sub) {
    flush_floats(r, r, n, sub);
    for (int k = 0; k < n; k++) r[k] = sub & SUB_SAT ? clamp01(r[k]) : canonical(r[k]);
}

/* The names of x, y, z are those of the operands; missing ones repeat the first. `exact` is an expression of
 * rounding.h; T is as wide as what a lane has. */
#define DIRECTED(name, T, exact)                                                                                       \
    LANE_FN(name, {                                                                                                    \
        enum { N = WARP * sizeof(T) / sizeof(float) };                                                                 \
        T *d = lanes(w, &in->o[0]), all[WARP];                                                                         \
        const float *a = lanes(w, &in->o[1]), *b = in->o[2].file ? lanes(w, &in->o[2]) : a;                            \
        const float *c = in->o[3].file ? lanes(w, &in->o[3]) : a;                                                      \
        float x[N], y[N], z[N];                                                                                        \
        double s[N];                                                                                                   \
        uint8_t sub = in->sub;                                                                                         \
        unsigned how = sub & SUB_ROUND;                                                                                \
        flush_floats(x, a, N, sub);                                                                                    \
        flush_floats(y, b, N, sub);                                                                                    \
        flush_floats(z, c, N, sub);                                                                                    \
        for (int k = 0; k < N; k++) s[k] = exact;                                                                      \
        narrow_doubles(x, s, N, how);                                                                                  \
        finish_floats(x, N, sub);                                                                                      \
        memcpy(all, x, sizeof all);                                                                                    \
        SET_LANES(mask, T, d, i, all[i]);                                                                              \
    })
DIRECTED(directed_add_f32, uint32_t, add_exact(x[k], y[k], how))
DIRECTED(directed_sub_f32, uint32_t, add_exact(x[k], -y[k], how))
DIRECTED(directed_mul_f32, uint32_t, mul_exact(x[k], y[k]))
DIRECTED(directed_fma_f32, uint32_t, fma_exact(x[k], y[k], z[k], how))
DIRECTED(directed_div_f32, uint32_t, div_exact(x[k], y[k]))
DIRECTED(directed_rcp_f32, uint32_t, div_exact(1.0f, x[k]))
DIRECTED(directed_sqrt_f32, uint32_t, sqrt_exact(x[k]))
DIRECTED(add_f32x2, uint64_t, add_exact(x[k], y[k], how))
DIRECTED(sub_f32x2, uint64_t, add_exact(x[k], -y[k], how))
DIRECTED(mul_f32x2, uint64_t, mul_exact(x[k], y[k]))
DIRECTED(fma_f32x2, uint64_t, fma_exact(x[k], y[k], z[k], how))

static bool use_slow(PtxInst *in, LaneFn fn) {
    in->fn = fn;
    return fn != NULL;
}

static bool arith_f32(Arith op, const PtxForm *f, PtxInst *in) {
    static const LanePair nearest[][4] = {
        [OP_ADD] = FTZ_SAT_PAIRS(add_f32),
        [OP_SUB] = FTZ_SAT_PAIRS(sub_f32),
        [OP_MUL] = FTZ_SAT_PAIRS(mul_f32),
        [OP_FMA] = FTZ_SAT_PAIRS(fma_f32),
    };
    static const LanePair directed[] = {[OP_ADD] = PAIR(directed_add_f32),
                                        [OP_SUB] = PAIR(directed_sub_f32),
                                        [OP_MUL] = PAIR(directed_mul_f32),
                                        [OP_FMA] = PAIR(directed_fma_f32)};
    if (!only(f, BIT(FTZ) | BIT(SAT), FIELD(ROUND))) return false;
    if (rounding(f) <= ROUND_RN) return use(in, nearest[op][float_variant(f)]);
    in->sub = float_sub(f);
    return use(in, directed[op]);
}

/* ---- the same: f64 ------------------------------------------------------------------------------ */

BINARY(add_f64, double, double, double, x + y)
BINARY(sub_f64, double, double, double, x - y)
BINARY(mul_f64, double, double, double, x *y)
TERNARY(fma_f64, double, double, double, double, __builtin_fma(x, y, z))
BINARY(div_f64, double, double, double, x / y)
UNARY(rcp_f64, double, double, 1.0 / x)
UNARY(sqrt_f64, double, double, __builtin_sqrt(x))

#define DIRECTED_F64(name, call)                                                                                       \
    static void name(Warp *w, const PtxInst *in, uint32_t mask) {                                                      \
        double *d = lanes(w, &in->o[0]);                                                                               \
        const double *a = lanes(w, &in->o[1]), *b = in->o[2].file ? lanes(w, &in->o[2]) : a;                           \
        const double *c = in->o[3].file ? lanes(w, &in->o[3]) : a;                                                     \
        unsigned how = in->sub;                                                                                        \
        EACH_LANE(mask, i, {                                                                                           \
            double x = a[i], y = b[i], z = c[i];                                                                       \
            (void)x, (void)y, (void)z;                                                                                 \
            d[i] = call;                                                                                               \
        });                                                                                                            \
    }
DIRECTED_F64(directed_add_f64, add_double(x, y, how))
DIRECTED_F64(directed_sub_f64, add_double(x, -y, how))
DIRECTED_F64(directed_mul_f64, mul_double(x, y, how))
DIRECTED_F64(directed_fma_f64, fma_double(x, y, z, how))
DIRECTED_F64(directed_div_f64, div_double(x, y, how))
DIRECTED_F64(directed_rcp_f64, div_double(1.0, x, how))
DIRECTED_F64(directed_sqrt_f64, sqrt_double(x, how))

static bool use_f64(const PtxForm *f, PtxInst *in, LanePair nearest, LaneFn directed) {
    if (rounding(f) <= ROUND_RN) return use(in, nearest);
    in->sub = (uint8_t)rounding(f);
    return use_slow(in, directed);
}

static bool arith_f64(Arith op, const PtxForm *f, PtxInst *in) {
    static const LanePair nearest[] = {
        [OP_ADD] = PAIR(add_f64), [OP_SUB] = PAIR(sub_f64), [OP_MUL] = PAIR(mul_f64), [OP_FMA] = PAIR(fma_f64)};
    static const LaneFn directed[] = {[OP_ADD] = directed_add_f64,
                                      [OP_SUB] = directed_sub_f64,
                                      [OP_MUL] = directed_mul_f64,
                                      [OP_FMA] = directed_fma_f64};
    return only(f, 0, FIELD(ROUND)) && use_f64(f, in, nearest[op], directed[op]);
}

/* ---- two f32 in a register ---------------------------------------------------------------------- */

static bool arith_f32x2(Arith op, const PtxForm *f, PtxInst *in) {
    static const LanePair table[] = {
        [OP_ADD] = PAIR(add_f32x2), [OP_SUB] = PAIR(sub_f32x2), [OP_MUL] = PAIR(mul_f32x2), [OP_FMA] = PAIR(fma_f32x2)};
    in->sub = float_sub(f);
    return only(f, BIT(FTZ), FIELD(ROUND)) && use(in, table[op]);
}

bool float_arith(Arith op, const PtxForm *f, PtxInst *in) {
    if (f->ntypes != 1 || !is_direction(rounding(f)) || op > OP_FMA) return false;
    if (op == OP_FMA && !rounding(f)) return false;
    switch (f->types[0]) {
    case PT_F32: return arith_f32(op, f, in);
    case PT_F64: return arith_f64(op, f, in);
    case PT_F32X2: return arith_f32x2(op, f, in);
    default: return false;
    }
}

/* ---- div, rcp, sqrt, rsqrt ---------------------------------------------------------------------- */

/* .approx multiplies by the reciprocal, which is 0 for the largest divisors. */
INLINE float divide_approx(float x, float y) {
    float m = __builtin_fabsf(y);
    return m > 0x1p126f && m < INFINITY ? x * (y < 0 ? -0.0f : 0.0f) : x / y;
}
FLOAT_BINARY(div_f32, x / y)
FLOAT_BINARY(div_approx_f32, divide_approx(x, y))
FLOAT_UNARY(rcp_f32, 1.0f / x)
FLOAT_UNARY(sqrt_f32, __builtin_sqrtf(x))
FLOAT_UNARY(rsqrt_f32, (float)(1.0 / __builtin_sqrt((double)x)))

/* Only the upper halves of operand and result count; subnormals are zeros. */
INLINE double upper_half(double x) { return double_of(double_bits(x) & UINT64_C(0xffffffff00000000)); }
INLINE double gross(double x, double r) {
    return x != x || r != r ? double_of(UINT64_C(0x7fffffff00000000)) : upper_half(flush_double(r));
}
UNARY(rcp_gross_f64, double, double, gross(x, 1.0 / flush_double(upper_half(x))))
UNARY(rsqrt_gross_f64, double, double, gross(x, 1.0 / __builtin_sqrt(flush_double(upper_half(x)))))
UNARY(rsqrt_f64, double, double, 1.0 / __builtin_sqrt(x))

static bool approximates(const PtxForm *f) { return has(f, FLAG_APPROX) && !rounding(f); }
static bool rounds(const PtxForm *f) { return !has(f, FLAG_APPROX) && rounding(f) && is_direction(rounding(f)); }

static bool div_f32_form(const PtxForm *f, PtxInst *in) {
    static const LanePair exact[] = FTZ_PAIRS(div_f32), approx[] = FTZ_PAIRS(div_approx_f32);
    if (!only(f, BIT(FTZ) | BIT(APPROX) | BIT(FULL), FIELD(ROUND))) return false;
    if (has(f, FLAG_FULL)) return !has(f, FLAG_APPROX) && !rounding(f) && use(in, exact[has(f, FLAG_FTZ)]);
    if (approximates(f)) return use(in, approx[has(f, FLAG_FTZ)]);
    if (!rounds(f)) return false;
    if (rounding(f) == ROUND_RN) return use(in, exact[has(f, FLAG_FTZ)]);
    in->sub = float_sub(f);
    return use(in, (LanePair)PAIR(directed_div_f32));
}

bool float_div(const PtxForm *f, PtxInst *in) {
    if (f->ntypes != 1) return false;
    if (f->types[0] == PT_F32) return div_f32_form(f, in);
    if (f->types[0] != PT_F64 || !rounds(f) || !only(f, 0, FIELD(ROUND))) return false;
    return use_f64(f, in, (LanePair)PAIR(div_f64), directed_div_f64);
}

/* rcp and sqrt of f32: .approx is the correctly rounded result too. */
static bool unary_f32(const PtxForm *f, PtxInst *in, const LanePair nearest[2], LanePair directed) {
    if (!only(f, BIT(FTZ) | BIT(APPROX), FIELD(ROUND)) || (!approximates(f) && !rounds(f))) return false;
    if (rounding(f) <= ROUND_RN) return use(in, nearest[has(f, FLAG_FTZ)]);
    in->sub = float_sub(f);
    return use(in, directed);
}

bool select_rcp(const PtxForm *f, PtxInst *in) {
    static const LanePair nearest[] = FTZ_PAIRS(rcp_f32);
    if (f->ntypes != 1) return false;
    if (f->types[0] == PT_F32) return unary_f32(f, in, nearest, (LanePair)PAIR(directed_rcp_f32));
    if (f->types[0] != PT_F64) return false;
    if (approximates(f))
        return f->flags == (BIT(APPROX) | BIT(FTZ)) && only(f, f->flags, 0) && use(in, (LanePair)PAIR(rcp_gross_f64));
    return rounds(f) && only(f, 0, FIELD(ROUND)) && use_f64(f, in, (LanePair)PAIR(rcp_f64), directed_rcp_f64);
}

bool select_sqrt(const PtxForm *f, PtxInst *in) {
    static const LanePair nearest[] = FTZ_PAIRS(sqrt_f32);
    if (f->ntypes != 1) return false;
    if (f->types[0] == PT_F32) return unary_f32(f, in, nearest, (LanePair)PAIR(directed_sqrt_f32));
    if (f->types[0] != PT_F64 || !rounds(f) || !only(f, 0, FIELD(ROUND))) return false;
    return use_f64(f, in, (LanePair)PAIR(sqrt_f64), directed_sqrt_f64);
}

bool select_rsqrt(const PtxForm *f, PtxInst *in) {
    static const LanePair f32[] = FTZ_PAIRS(rsqrt_f32), f64[] = {PAIR(rsqrt_f64), PAIR(rsqrt_gross_f64)};
    if (f->ntypes != 1 || !is_float(f->types[0]) || !approximates(f) || !only(f, BIT(APPROX) | BIT(FTZ), 0))
        return false;
    return use(in, f->types[0] == PT_F32 ? f32[has(f, FLAG_FTZ)] : f64[has(f, FLAG_FTZ)]);
}

/* ---- signs and classes -------------------------------------------------------------------------- */

UNARY(abs_f32, float, float, __builtin_fabsf(x))
UNARY(abs_ftz_f32, float, float, __builtin_fabsf(flush(x)))
UNARY(neg_f32, float, float, -x)
UNARY(neg_ftz_f32, float, float, -flush(x))
UNARY(abs_f64, double, double, __builtin_fabs(x))
UNARY(neg_f64, double, double, -x)
BINARY(copysign_f32, float, float, float, __builtin_copysignf(y, x))
BINARY(copysign_f64, double, double, double, __builtin_copysign(y, x))

bool float_sign(Arith op, const PtxForm *f, PtxInst *in) {
    static const LanePair f32[2][2] = {{PAIR(abs_f32), PAIR(abs_ftz_f32)}, {PAIR(neg_f32), PAIR(neg_ftz_f32)}};
    if (f->ntypes != 1 || !only(f, BIT(FTZ), 0)) return false;
    if (f->types[0] == PT_F32) return use(in, f32[op == OP_NEG][has(f, FLAG_FTZ)]);
    if (f->types[0] != PT_F64 || has(f, FLAG_FTZ)) return false;
    return use(in, op == OP_NEG ? (LanePair)PAIR(neg_f64) : (LanePair)PAIR(abs_f64));
}

bool select_copysign(const PtxForm *f, PtxInst *in) {
    if (f->ntypes != 1 || !is_float(f->types[0]) || !only(f, 0, 0)) return false;
    return use(in, f->types[0] == PT_F32 ? (LanePair)PAIR(copysign_f32) : (LanePair)PAIR(copysign_f64));
}

/* Whether a number with this exponent and fraction, the highest exponent being `top`, is of the class. */
static bool is_class(unsigned class, uint64_t exponent, uint64_t fraction, uint64_t top) {
    switch (class) {
    case MODE_FINITE: return exponent != top;
    case MODE_INFINITE: return exponent == top && !fraction;
    case MODE_NUMBER: return exponent != top || !fraction;
    case MODE_NOTANUMBER: return exponent == top && fraction;
    case MODE_NORMAL: return exponent && exponent != top;
    default: return !exponent && fraction;
    }
}

static void testp(Warp *w, const PtxInst *in, uint32_t mask) {
    const uint32_t *narrow = lanes(w, &in->o[1]);
    const uint64_t *wide = lanes(w, &in->o[1]);
    uint32_t yes = 0;
    if (in->type[0] == PT_F32)
        EACH_LANE(mask, i, yes |= (uint32_t)is_class(in->sub, narrow[i] >> 23 & 255, narrow[i] & 0x7fffff, 255) << i);
    else EACH_LANE(mask, i, yes |= (uint32_t)is_class(in->sub, wide[i] >> 52 & 2047, wide[i] << 12, 2047) << i);
    pred_set(w, &in->o[0], mask, yes);
}

bool select_testp(const PtxForm *f, PtxInst *in) {
    unsigned class = f->field[MF_MODE];
    if (f->ntypes != 1 || !is_float(f->types[0]) || !only(f, 0, FIELD(MODE))) return false;
    if (class < MODE_FINITE || class > MODE_SUBNORMAL) return false;
    in->sub = (uint8_t) class;
    return use_slow(in, testp);
}
