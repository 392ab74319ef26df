/* rounding.h - floats of every format in integer arithmetic, rounded in any direction. The host's rounding mode is
 * never touched: other threads and the C compiler rely on it. */
#ifndef EMU_ROUNDING_H
#define EMU_ROUNDING_H

#include "ptx.h"

#include <string.h>

/* Also in functions for other instruction sets: ops.h. */
#define ROUNDING_INLINE static inline __attribute__((always_inline))

/* A binary format: its magnitude is an exponent field of `exponent` bits above one of `fraction` bits. */
typedef struct FloatFormat {
    uint8_t exponent, fraction;
    int16_t bias;
    uint64_t largest;  /* the largest finite magnitude */
    uint64_t infinity; /* 0: the format has none, and what overflows becomes `overflow` */
    uint64_t overflow; /* of rounding to nearest, without .satfinite */
    uint64_t nan;      /* the canonical one, sign included */
} FloatFormat;

extern const FloatFormat format_f64, format_f32, format_tf32, format_f16, format_bf16, format_e4m3, format_e5m2;

/* (-1)^negative * mantissa * 2^exponent in the format, sign bit included. Bit 0 of the mantissa may stand for any
 * remainder below it if the mantissa has at least 3 bits more than the format. `how` is one of ROUND_RN RZ RM RP RNA.
 */
uint64_t round_to(const FloatFormat *to, unsigned how, bool saturate, bool negative, int exponent, uint64_t mantissa);

/* A double in the format; NaN becomes the format's. */
uint64_t round_double(const FloatFormat *to, unsigned how, bool saturate, double x);
/* The value of a number of the format, exactly. */
double widen(const FloatFormat *from, uint64_t bits);

/* Correctly rounded in the given direction (ROUND_RN RZ RM RP). */
double add_double(double x, double y, unsigned how);
double mul_double(double x, double y, unsigned how);
double fma_double(double x, double y, double z, unsigned how);
double div_double(double x, double y, unsigned how);
double sqrt_double(double x, unsigned how);

ROUNDING_INLINE uint32_t float_bits(float x) {
    uint32_t b;
    memcpy(&b, &x, 4);
    return b;
}
ROUNDING_INLINE float float_of(uint32_t b) {
    float x;
    memcpy(&x, &b, 4);
    return x;
}
ROUNDING_INLINE uint64_t double_bits(double x) {
    uint64_t b;
    memcpy(&b, &x, 8);
    return b;
}
ROUNDING_INLINE double double_of(uint64_t b) {
    double x;
    memcpy(&x, &b, 8);
    return x;
}

/* The sum as a double whose last bit is odd where it isn't exact: rounding it again to 50 or fewer bits is then the
 * same as rounding the exact sum. */
ROUNDING_INLINE double add_to_odd(double x, double y) {
    double sum = x + y, back = sum - x, error = (x - (sum - back)) + (y - back);
    int64_t bits = (int64_t)double_bits(sum), top = INT64_C(0x7ff) << 52; /* masks, which become vector code */
    int64_t above = -(int64_t)(error > 0), below = -(int64_t)(error < 0), positive = -(int64_t)(sum > 0);
    int64_t even = (bits & 1) - 1, finite = -(int64_t)((bits & top) != top), inward = above ^ positive;
    return double_of((uint64_t)(bits + ((above | below) & even & finite & (inward | 1))));
}

/* ---- f32, by way of f64: without branches, for loops over lanes ----------------------------------- */

/* What must be added to the bits of f, the float nearest to x, to round x in the direction instead: 0, 1 or -1. x is
 * exact or rounded to odd. */
ROUNDING_INLINE int64_t direct(double x, double f, unsigned how) {
    double size = x < 0 ? -x : x, got = f < 0 ? -f : f;
    int64_t outward = -(int64_t)(got > size), inward = -(int64_t)(got < size); /* masks; neither: f is exact */
    int64_t up = -(int64_t)(how == ROUND_RP), down = -(int64_t)(how == ROUND_RM), all = -(int64_t)(how != ROUND_RN);
    int64_t wants_outward = (up & -(int64_t)(x > 0)) | (down & -(int64_t)(x < 0));
    return all & ((inward & wants_outward & 1) | (outward & ~wants_outward));
}

/* The zero that two numbers of different signs make together. */
ROUNDING_INLINE double zero_sum(double s, double x, double y, unsigned how) {
    uint64_t differ = double_bits(x) ^ double_bits(y), down = 0 - (uint64_t)(how == ROUND_RM);
    return double_of(double_bits(s) | (differ & down & (0 - (uint64_t)(s == 0)) & UINT64_C(1) << 63));
}

/* Exact results, or results that are rounded to odd. */
ROUNDING_INLINE double add_exact(float x, float y, unsigned how) {
    double a = (double)x, b = (double)y;
    return zero_sum(add_to_odd(a, b), a, b, how);
}
ROUNDING_INLINE double mul_exact(float x, float y) { return (double)x * (double)y; }
ROUNDING_INLINE double fma_exact(float x, float y, float z, unsigned how) {
    double product = (double)x * (double)y, c = (double)z;
    return zero_sum(add_to_odd(product, c), product, c, how);
}
/* 53 bits of a quotient or root of 24-bit numbers tell on which side of a 25-bit number it is. */
ROUNDING_INLINE double div_exact(float x, float y) { return (double)x / (double)y; }
ROUNDING_INLINE double sqrt_exact(float x) { return __builtin_sqrt((double)x); }

/* n doubles of this kind as floats. Short loops: those become vector code. */
ROUNDING_INLINE void narrow_doubles(float *to, const double *from, int n, unsigned how) {
    int64_t steps[64];
    for (int k = 0; k < n; k++) to[k] = (float)from[k];
    for (int k = 0; k < n; k++) steps[k] = direct(from[k], (double)to[k], how);
    for (int k = 0; k < n; k++) to[k] = float_of(float_bits(to[k]) + (uint32_t)steps[k]);
}

#endif
