/* exactfloat.h - floats as integers times powers of two, and their rounding to any small format step by step: the
 * oracle for formats that the host has no arithmetic for. */
#ifndef TEST_EXACTFLOAT_H
#define TEST_EXACTFLOAT_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef __int128 Exact128;

typedef struct Small {
    int exponent_bits, fraction_bits;
    bool has_infinity;
    uint32_t nan; /* the canonical one */
} Small;

extern const Small small_f32, small_tf32, small_f16, small_bf16, small_e4m3, small_e5m2;

typedef enum Kind { IS_NUMBER, IS_INFINITE, IS_NAN } Kind;
typedef enum Way { TO_NEAREST, TO_ZERO, DOWN, UP, TIES_AWAY } Way;

/* value * 2^exponent; a zero has its sign in `negative`. */
typedef struct Number {
    Kind kind;
    bool negative;
    Exact128 value;
    int exponent;
} Number;

Number number_of(const Small *f, uint32_t bits);
Number number_of_double(double x);
Number sum(Number a, Number b, Way way);
Number product(Number a, Number b);
/* Bits of the format. `finite`: what is too large, infinity too, becomes the largest finite number. */
uint32_t round_small(const Small *f, Number x, Way way, bool finite);

#endif
