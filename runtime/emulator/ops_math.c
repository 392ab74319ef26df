/* ops_math.c - approximate functions: ex2 lg2 sin cos of f32, tanh and ex2 of halves too.
 *
 * ex2, lg2, sin and cos are series in double precision, in loops that become vector code; rounded to f32 they are
 * nearly always the nearest number, far inside of the bounds that PTX gives. */
#include "half.h"
#include "ops_float.h"

/* ---- the functions on doubles -------------------------------------------------------------------- */

/* Adding it to x leaves the nearest integer in the low bits: |x| < 2^51. */
#define ROUNDER 0x1.8p52

INLINE double pick(bool yes, double a, double b) {
    uint64_t p = double_bits(a), q = double_bits(b);
    return double_of(q ^ ((p ^ q) & (0 - (uint64_t)yes)));
}

/* 2^x = 2^n * e^r with |r| <= ln 2 / 2. Floats end long before 2^300. */
INLINE double ex2_double(double x) {
    double limited = pick(x > 300, 300, pick(x < -300, -300, x)), shifted = limited + ROUNDER;
    double r = (limited - (shifted - ROUNDER)) * 0x1.62e42fefa39efp-1, p = 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    return pick(x != x, x, double_of(double_bits(p) + (double_bits(shifted) << 52)));
}

/* log2(m * 2^n) = n + 2 / ln 2 * artanh((m - 1) / (m + 1)), m between the roots of 1/2 and 2. x was a float. */
INLINE double lg2_double(double x) {
    const uint64_t root_half = UINT64_C(0x3fe6a09e667f3bcd), digits = (UINT64_C(1) << 52) - 1;
    uint64_t above = double_bits(x) - root_half + (UINT64_C(1024) << 52); /* n + 1024 in the exponent's place */
    double n = double_of(above >> 52 | double_bits(0x1p52)) - (0x1p52 + 1024);
    double m = double_of((above & digits) + root_half), z = (m - 1) / (m + 1), q = z * z, p = 1.0 / 13;
    p = p * q + 1.0 / 11;
    p = p * q + 1.0 / 9;
    p = p * q + 1.0 / 7;
    p = p * q + 1.0 / 5;
    p = p * q + 1.0 / 3;
    p = p * q + 1.0;
    double r = n + z * p * 0x1.71547652b82fep1;
    r = pick(x == 0, -(double)INFINITY, pick(x == (double)INFINITY, x, r));
    return pick(x < 0, (double)NAN, pick(x != x, x, r));
}

/* The sine of x + quarters * pi/2: of the rest r, |r| <= pi/4, the sine or the cosine. */
enum { SINE_LIMIT = 1000000 }; /* up to here the rest is exact enough */
INLINE double sin_double(double x, uint64_t quarters) {
    double shifted = x * 0x1.45f306dc9c883p-1 + ROUNDER, n = shifted - ROUNDER;
    double r = x - n * 0x1.921fb544p0 - n * 0x1.0b4611a626331p-34, q = r * r, s = 1.0 / 6227020800,
           c = -1.0 / 87178291200;
    s = s * q - 1.0 / 39916800;
    s = s * q + 1.0 / 362880;
    s = s * q - 1.0 / 5040;
    s = s * q + 1.0 / 120;
    s = s * q - 1.0 / 6;
    s = s * q + 1.0;
    s = s * r;
    c = c * q + 1.0 / 479001600;
    c = c * q - 1.0 / 3628800;
    c = c * q + 1.0 / 40320;
    c = c * q - 1.0 / 720;
    c = c * q + 1.0 / 24;
    c = c * q - 0.5;
    c = c * q + 1.0;
    uint64_t quadrant = double_bits(shifted) + quarters;
    return double_of(double_bits(pick(quadrant & 1, c, s)) ^ (quadrant & 2) << 62);
}

/* ---- f32 ----------------------------------------------------------------------------------------- */

/* r = function of a; `before` flushes or doesn't. Short loops: those become vector code. */
#define THROUGH_DOUBLE(function, before)                                                                               \
    float *d = lanes(w, &in->o[0]), r[WARP];                                                                           \
    const float *a = lanes(w, &in->o[1]);                                                                              \
    double x[WARP], y[WARP];                                                                                           \
    for (int i = 0; i < WARP; i++) x[i] = (double)before(a[i]);                                                        \
    for (int i = 0; i < WARP; i++) y[i] = function(x[i]);                                                              \
    for (int i = 0; i < WARP; i++) r[i] = canonical(before((float)y[i]))

#define AS_IT_IS(x) (x)
#define EX2_LG2(name, function, before)                                                                                \
    LANE_FN(name, THROUGH_DOUBLE(function, before); SET_LANES(mask, float, d, i, r[i]);)
EX2_LG2(ex2, ex2_double, AS_IT_IS)
EX2_LG2(ex2_ftz, ex2_double, flush)
EX2_LG2(lg2, lg2_double, AS_IT_IS)
EX2_LG2(lg2_ftz, lg2_double, flush)

/* `far` is the host's function. */
#define SINE(name, function, far, before)                                                                              \
    LANE_FN(name, {                                                                                                    \
        THROUGH_DOUBLE(function, before);                                                                              \
        for (int i = 0; i < WARP; i++)                                                                                 \
            if (__builtin_fabs(x[i]) > SINE_LIMIT) r[i] = canonical(far((float)x[i]));                                 \
        SET_LANES(mask, float, d, i, r[i]);                                                                            \
    })
#define SIN(x) sin_double(x, 0)
#define COS(x) sin_double(x, 1)
SINE(sin_, SIN, sinf, AS_IT_IS)
SINE(sin__ftz, SIN, sinf, flush)
SINE(cos_, COS, cosf, AS_IT_IS)
SINE(cos__ftz, COS, cosf, flush)
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
