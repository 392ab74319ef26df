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
    uint64_t bits = double_bits(sum), even = ~bits & 1, finite = (bits >> 52 & 2047) != 2047;
    uint64_t inexact = (uint64_t)(error > 0) | (uint64_t)(error < 0), inward = (uint64_t)((error > 0) != (sum > 0));
    return double_of(bits + (even & finite & inexact) * (1 - 2 * inward));
}

/* ---- f32, by way of f64: without branches, for loops over lanes ----------------------------------- */

/* A double that is exact, or rounded to odd. NaN stays some NaN. */
ROUNDING_INLINE float narrow_double(double x, unsigned how) {
    float f = (float)x;
    double size = x < 0 ? -x : x, got = (double)f < 0 ? -(double)f : (double)f;
    uint32_t away = got > size, toward = got < size; /* what rounding to nearest did; neither: it was exact */
    uint32_t wants_away = ((how == ROUND_RP) & (x > 0)) | ((how == ROUND_RM) & (x < 0)), directed = how != ROUND_RN;
    return float_of(float_bits(f) + (directed & toward & wants_away) - (directed & away & ~wants_away));
}

/* The zero that two numbers of different signs make together. */
ROUNDING_INLINE double zero_sum(double s, double x, double y, unsigned how) {
    uint64_t differ = (double_bits(x) ^ double_bits(y)) >> 63, minus = differ & (how == ROUND_RM) & (s == 0);
    return double_of(double_bits(s) | minus << 63);
}

ROUNDING_INLINE float add_float(float x, float y, unsigned how) {
    double a = (double)x, b = (double)y;
    return narrow_double(zero_sum(add_to_odd(a, b), a, b, how), how);
}

ROUNDING_INLINE float mul_float(float x, float y, unsigned how) { return narrow_double((double)x * (double)y, how); }

ROUNDING_INLINE float fma_float(float x, float y, float z, unsigned how) {
    double product = (double)x * (double)y, c = (double)z;
    return narrow_double(zero_sum(add_to_odd(product, c), product, c, how), how);
}

/* 53 bits of a quotient or root of 24-bit numbers tell on which side of a 25-bit number it is. */
ROUNDING_INLINE float div_float(float x, float y, unsigned how) { return narrow_double((double)x / (double)y, how); }
ROUNDING_INLINE float sqrt_float(float x, unsigned how) { return narrow_double(__builtin_sqrt((double)x), how); }

#endif
