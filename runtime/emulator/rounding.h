/* rounding.h - floats of every format in integer arithmetic, rounded in any direction. The host's rounding mode is
 * never touched: other threads and the C compiler rely on it. */
#ifndef EMU_ROUNDING_H
#define EMU_ROUNDING_H

#include "ptx.h"

#include <string.h>

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
float add_float(float x, float y, unsigned how);
float mul_float(float x, float y, unsigned how);
float fma_float(float x, float y, float z, unsigned how);
float div_float(float x, float y, unsigned how);
float sqrt_float(float x, unsigned how);

/* The sum as a double whose last bit is odd where it isn't exact: rounding it again to 50 or fewer bits is then the
 * same as rounding the exact sum. The zero that rounding down makes of x - x is left to the caller. */
static inline double add_to_odd(double x, double y) {
    double sum = x + y, back = sum - x, error = (x - (sum - back)) + (y - back);
    uint64_t bits;
    memcpy(&bits, &sum, 8);
    bool finite = (bits >> 52 & 2047) != 2047;
    uint64_t toward_zero = (uint64_t)((error > 0) != (sum > 0));
    if (finite && error != 0 && !(bits & 1)) bits += 1 - 2 * toward_zero;
    memcpy(&sum, &bits, 8);
    return sum;
}

static inline uint32_t float_bits(float x) {
    uint32_t b;
    memcpy(&b, &x, 4);
    return b;
}
static inline float float_of(uint32_t b) {
    float x;
    memcpy(&x, &b, 4);
    return x;
}
static inline uint64_t double_bits(double x) {
    uint64_t b;
    memcpy(&b, &x, 8);
    return b;
}
static inline double double_of(uint64_t b) {
    double x;
    memcpy(&x, &b, 8);
    return x;
}

#endif
