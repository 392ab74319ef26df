/* floats.c - the bits of f16, bf16, f32 and f64 as doubles and back.
 *
 * Every value of a smaller format is a double; the way back rounds once, to nearest with ties to
 * even, whatever the formats' distance, so that a double that was never f32 becomes the right f16. */
#include "ir.h"

#include <string.h>

typedef struct Format {
    int exp_bits, man_bits;
} Format;

static Format format_of(Type t) {
    if (t == T_F16) return (Format){5, 10};
    if (t == T_BF16) return (Format){8, 7};
    return t == T_F32 ? (Format){8, 23} : (Format){11, 52};
}

static uint64_t double_bits(double v) {
    uint64_t b;
    memcpy(&b, &v, sizeof b);
    return b;
}

static double from_double_bits(uint64_t b) {
    double v;
    memcpy(&v, &b, sizeof v);
    return v;
}

/* 2^e as a double, for normal results. */
static double power_of_two(int e) { return from_double_bits((uint64_t)(e + 1023) << 52); }

double ir_bits_to_double(Type t, uint64_t bits) {
    if (t == T_F64) return from_double_bits(bits);
    Format f = format_of(t);
    int bias = (1 << (f.exp_bits - 1)) - 1;
    uint64_t man = bits & ((UINT64_C(1) << f.man_bits) - 1);
    int exp = (int)(bits >> f.man_bits) & ((1 << f.exp_bits) - 1);
    uint64_t sign = bits >> (f.exp_bits + f.man_bits) & 1;
    if (exp == (1 << f.exp_bits) - 1)
        return from_double_bits(sign << 63 | UINT64_C(0x7ff) << 52 | man << (52 - f.man_bits));
    double v = exp ? (double)(man | UINT64_C(1) << f.man_bits) * power_of_two(exp - bias - f.man_bits)
                   : (double)man * power_of_two(1 - bias - f.man_bits);
    return sign ? -v : v;
}

uint64_t ir_double_to_bits(Type t, double v) {
    uint64_t b = double_bits(v);
    if (t == T_F64) return b;
    Format f = format_of(t);
    int bias = (1 << (f.exp_bits - 1)) - 1;
    uint64_t sign = (b >> 63) << (f.exp_bits + f.man_bits);
    uint64_t inf = ((UINT64_C(1) << f.exp_bits) - 1) << f.man_bits;
    uint64_t man = b & ((UINT64_C(1) << 52) - 1);
    int exp = (int)(b >> 52) & 0x7ff;
    if (exp == 0x7ff) /* a NaN stays one: the quiet bit is set */
        return sign | inf | (man ? man >> (52 - f.man_bits) | UINT64_C(1) << (f.man_bits - 1) : 0);
    if (exp == 0) return sign; /* a double this small rounds to zero in all of them */
    man |= UINT64_C(1) << 52;
    int e = exp - 1023, shift = 52 - f.man_bits, lowest = 1 - bias;
    bool subnormal = e < lowest;
    if (subnormal) shift += lowest - e;
    if (shift > 60) return sign;
    uint64_t kept = man >> shift, rest = man & ((UINT64_C(1) << shift) - 1), half = UINT64_C(1) << (shift - 1);
    if (rest > half || (rest == half && (kept & 1))) kept++;
    /* a carry out of the mantissa raises the exponent by itself */
    uint64_t r = subnormal ? kept : ((uint64_t)(e + bias - 1) << f.man_bits) + kept;
    return sign | (r < inf ? r : inf);
}
