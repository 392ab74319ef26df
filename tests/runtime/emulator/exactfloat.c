/* exactfloat.c - see exactfloat.h. */
#include "exactfloat.h"

#include <math.h>

const Small small_f32 = {8, 23, true, 0x7fffffff}, small_tf32 = {8, 10, true, 0x3ffff},
            small_f16 = {5, 10, true, 0x7fff}, small_bf16 = {8, 7, true, 0x7fff}, small_e4m3 = {4, 3, false, 0x7f},
            small_e5m2 = {5, 2, true, 0x7f};

static int bias(const Small *f) { return (1 << (f->exponent_bits - 1)) - 1; }

Number number_of(const Small *f, uint32_t bits) {
    int top = (1 << f->exponent_bits) - 1, e = (int)(bits >> f->fraction_bits) & top;
    uint32_t m = bits & ((1u << f->fraction_bits) - 1);
    Number n = {IS_NUMBER, bits >> (f->exponent_bits + f->fraction_bits) & 1, 0, 0};
    if (f->has_infinity ? e == top : e == top && m == (1u << f->fraction_bits) - 1) n.kind = m ? IS_NAN : IS_INFINITE;
    if (e) m += 1u << f->fraction_bits;
    n.value = n.negative ? -(Exact128)m : (Exact128)m;
    n.exponent = (e ? e : 1) - bias(f) - f->fraction_bits;
    return n;
}

Number number_of_double(double x) {
    Number n = {isnan(x) ? IS_NAN : isinf(x) ? IS_INFINITE : IS_NUMBER, signbit(x), 0, 0};
    if (n.kind != IS_NUMBER) return n;
    n.value = (Exact128)ldexp(frexp(x, &n.exponent), 53);
    n.exponent -= 53;
    return n;
}

Number product(Number a, Number b) {
    Number r = {IS_NUMBER, a.negative != b.negative, a.value * b.value, a.exponent + b.exponent};
    bool a_zero = a.kind == IS_NUMBER && !a.value, b_zero = b.kind == IS_NUMBER && !b.value;
    if (a.kind == IS_NAN || b.kind == IS_NAN || (a.kind == IS_INFINITE && b_zero) || (b.kind == IS_INFINITE && a_zero))
        r.kind = IS_NAN;
    else if (a.kind == IS_INFINITE || b.kind == IS_INFINITE) r.kind = IS_INFINITE;
    return r;
}

/* What is more than 70 binary places below the other only says on which side the sum lies. */
static Number align(Number *a, Number *b) {
    if (a->exponent < b->exponent) {
        Number t = *a;
        *a = *b;
        *b = t;
    }
    while (a->exponent > b->exponent && a->value < (Exact128)1 << 100 && a->value > -((Exact128)1 << 100)) {
        a->value *= 2;
        a->exponent--;
    }
    if (a->exponent > b->exponent) {
        b->value = b->value > 0 ? 1 : -1;
        b->exponent = a->exponent;
    }
    return *a;
}

Number sum(Number a, Number b, Way way) {
    if (a.kind == IS_NAN || b.kind == IS_NAN) return (Number){IS_NAN, false, 0, 0};
    if (a.kind == IS_INFINITE && b.kind == IS_INFINITE && a.negative != b.negative)
        return (Number){IS_NAN, false, 0, 0};
    if (a.kind == IS_INFINITE) return a;
    if (b.kind == IS_INFINITE) return b;
    if (!a.value && !b.value) {
        a.negative = a.negative == b.negative ? a.negative : way == DOWN;
        return a;
    }
    if (!a.value) return b;
    if (!b.value) return a;
    align(&a, &b);
    Exact128 s = a.value + b.value;
    return (Number){IS_NUMBER, s ? s < 0 : way == DOWN, s, a.exponent};
}

uint32_t round_small(const Small *f, Number x, Way way, bool finite) {
    uint32_t sign = (uint32_t)x.negative << (f->exponent_bits + f->fraction_bits), top = ((1u << f->exponent_bits) - 1)
                                                                                         << f->fraction_bits;
    uint32_t past = f->has_infinity ? top : top | ((1u << f->fraction_bits) - 1), largest = past - 1;
    if (x.kind == IS_NAN) return f->nan;
    if (x.kind == IS_INFINITE) return sign | (finite ? largest : past);
    Exact128 m = x.value < 0 ? -x.value : x.value;
    int e = x.exponent, lowest = 1 - bias(f) - f->fraction_bits;
    bool half = false, rest = false;
    while (m && e > lowest && m < (Exact128)1 << f->fraction_bits) m *= 2, e--;
    while (e < lowest || m >= (Exact128)2 << f->fraction_bits) { /* a digit less */
        rest |= half;
        half = m & 1;
        m /= 2;
        e++;
        if (!m && !half && e >= lowest) break;
    }
    if (!m) e = lowest;
    bool up = way == TO_NEAREST  ? half && (rest || m & 1)
              : way == TIES_AWAY ? half
              : way == DOWN      ? (half || rest) && x.negative
              : way == UP        ? (half || rest) && !x.negative
                                 : false;
    m += up;
    if (m >= (Exact128)2 << f->fraction_bits) m /= 2, e++;
    uint32_t bits = (uint32_t)m;
    if (m >= (Exact128)1 << f->fraction_bits) {
        if (e - lowest + 1 >= 1 << f->exponent_bits) bits = past;
        else bits = (uint32_t)(e - lowest + 1) << f->fraction_bits | ((uint32_t)m & ((1u << f->fraction_bits) - 1));
    }
    bool stays = way == TO_ZERO || (way == DOWN && !x.negative) || (way == UP && x.negative);
    if (bits > largest) bits = finite || stays ? largest : past;
    return sign | bits;
}
