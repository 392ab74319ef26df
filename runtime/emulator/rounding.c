/* rounding.c - see rounding.h. */
#include "rounding.h"

#include <math.h>

__extension__ typedef unsigned __int128 UInt128;

const FloatFormat format_f64 = {11,
                                52,
                                1023,
                                UINT64_C(0x7fefffffffffffff),
                                UINT64_C(0x7ff0000000000000),
                                UINT64_C(0x7ff0000000000000),
                                UINT64_C(0xfff8000000000000)};
const FloatFormat format_f32 = {8, 23, 127, 0x7f7fffff, 0x7f800000, 0x7f800000, 0x7fffffff};
const FloatFormat format_tf32 = {8, 10, 127, 0x3fbff, 0x3fc00, 0x3fc00, 0x3ffff}; /* the upper 19 bits of a register */
const FloatFormat format_f16 = {5, 10, 15, 0x7bff, 0x7c00, 0x7c00, 0x7fff};
const FloatFormat format_bf16 = {8, 7, 127, 0x7f7f, 0x7f80, 0x7f80, 0x7fff};
const FloatFormat format_e4m3 = {4, 3, 7, 0x7e, 0, 0x7f, 0x7f};
const FloatFormat format_e5m2 = {5, 2, 15, 0x7b, 0x7c, 0x7c, 0x7f};

/* ---- one rounding ------------------------------------------------------------------------------- */

/* Whether `kept` goes up by one; `rest` is what was cut off, left-aligned. */
static bool goes_up(unsigned how, bool negative, uint64_t kept, uint64_t rest) {
    uint64_t half = UINT64_C(1) << 63;
    if (!rest) return false;
    switch (how) {
    case ROUND_RZ: return false;
    case ROUND_RM: return negative;
    case ROUND_RP: return !negative;
    case ROUND_RNA: return rest >= half;
    default: return rest > half || (rest == half && kept & 1);
    }
}

static uint64_t overflowed(const FloatFormat *to, unsigned how, bool saturate, bool negative) {
    bool stays = how == ROUND_RZ || (how == ROUND_RM && !negative) || (how == ROUND_RP && negative);
    return saturate || stays ? to->largest : to->overflow;
}

uint64_t round_to(const FloatFormat *to, unsigned how, bool saturate, bool negative, int exponent, uint64_t mantissa) {
    uint64_t sign = (uint64_t)negative << (to->exponent + to->fraction), magnitude;
    if (!mantissa) return sign;
    int zeros = __builtin_clzll(mantissa);
    mantissa <<= zeros;
    int field = exponent - zeros + 63 + to->bias;              /* of the exponent, if the result is normal */
    int cut = 63 - to->fraction + (field < 1 ? 1 - field : 0); /* bits that don't fit */
    uint64_t kept = cut < 64 ? mantissa >> cut : 0;
    uint64_t rest = cut < 64 ? mantissa << (64 - cut) : cut == 64 ? mantissa : 1;
    kept += goes_up(how, negative, kept, rest);
    magnitude = kept; /* with the leading bit, which counts as one in the exponent */
    if (field > 0) magnitude += (uint64_t)(field - 1) << to->fraction;
    if (magnitude > to->largest) magnitude = overflowed(to, how, saturate, negative);
    return sign | magnitude;
}

static bool is_nan(double x) { return x != x; }

uint64_t round_double(const FloatFormat *to, unsigned how, bool saturate, double x) {
    uint64_t bits = double_bits(x), fraction = bits & ((UINT64_C(1) << 52) - 1);
    int field = (int)(bits >> 52 & 2047);
    bool negative = bits >> 63;
    if (is_nan(x)) return to->nan;
    if (field == 2047) {
        uint64_t sign = (uint64_t)negative << (to->exponent + to->fraction);
        return sign | (saturate ? to->largest : to->overflow);
    }
    if (!field) return round_to(to, how, saturate, negative, -1074, fraction);
    return round_to(to, how, saturate, negative, field - 1075, fraction | UINT64_C(1) << 52);
}

double widen(const FloatFormat *from, uint64_t bits) {
    uint64_t all = (UINT64_C(1) << (from->exponent + from->fraction)) - 1, magnitude = bits & all;
    uint64_t fraction = magnitude & ((UINT64_C(1) << from->fraction) - 1);
    int field = (int)(magnitude >> from->fraction);
    bool negative = bits >> (from->exponent + from->fraction) & 1;
    double x;
    if (magnitude > (from->infinity ? from->infinity : from->largest)) x = (double)NAN;
    else if (from->infinity && magnitude == from->infinity) x = (double)INFINITY;
    else if (!field) x = ldexp((double)fraction, 1 - from->bias - from->fraction);
    else x = ldexp((double)(fraction | UINT64_C(1) << from->fraction), field - from->bias - from->fraction);
    return negative ? -x : x;
}

/* ---- f64 ---------------------------------------------------------------------------------------- */

typedef struct Parts {
    bool negative;
    int exponent;
    uint64_t mantissa;
} Parts; /* mantissa has bit 63, or is 0 */

static Parts parts_of(double x) {
    uint64_t bits = double_bits(x), m = bits & ((UINT64_C(1) << 52) - 1);
    int e = (int)(bits >> 52 & 2047);
    if (e) m |= UINT64_C(1) << 52;
    else e = 1;
    Parts p = {bits >> 63, e - 1075, m};
    if (!m) return p;
    int zeros = __builtin_clzll(m);
    return (Parts){p.negative, p.exponent - zeros, m << zeros};
}

static bool is_special(double x) { return (double_bits(x) >> 52 & 2047) == 2047; }

/* mantissa * 2^exponent, of 128 bits. */
static double pack_wide(unsigned how, bool negative, int exponent, UInt128 mantissa) {
    uint64_t high = (uint64_t)(mantissa >> 64), low = (uint64_t)mantissa;
    if (!high) return double_of(round_to(&format_f64, how, false, negative, exponent, low));
    int zeros = __builtin_clzll(high);
    UInt128 m = mantissa << zeros;
    high = (uint64_t)(m >> 64) | ((uint64_t)m != 0);
    return double_of(round_to(&format_f64, how, false, negative, exponent + 64 - zeros, high));
}

static double exact_zero(unsigned how, bool x_negative, bool y_negative) {
    return (x_negative && y_negative) || (x_negative != y_negative && how == ROUND_RM) ? -0.0 : 0.0;
}

/* Shifts right; what is lost sticks to bit 0. */
static UInt128 jam(UInt128 x, int n) {
    if (n > 127) return x != 0;
    UInt128 r = x >> n;
    return r << n == x ? r : r | 1;
}

/* p * 2^pe + c * 2^ce, both with bit 125 as their highest. */
static double add_wide(unsigned how, bool p_negative, int pe, UInt128 p, bool c_negative, int ce, UInt128 c) {
    int e = pe > ce ? pe : ce;
    p = jam(p, e - pe);
    c = jam(c, e - ce);
    if (p_negative == c_negative) return pack_wide(how, p_negative, e, p + c);
    if (p == c) return exact_zero(how, p_negative, c_negative);
    return p > c ? pack_wide(how, p_negative, e, p - c) : pack_wide(how, c_negative, e, c - p);
}

double fma_double(double x, double y, double z, unsigned how) {
    if (how == ROUND_RN || is_special(x) || is_special(y) || is_special(z)) return fma(x, y, z);
    Parts a = parts_of(x), b = parts_of(y), c = parts_of(z);
    bool negative = a.negative != b.negative;
    UInt128 product = (UInt128)a.mantissa * b.mantissa;
    int e = a.exponent + b.exponent;
    if (!product && !c.mantissa) return exact_zero(how, negative, c.negative);
    if (!product) return z;
    if (!c.mantissa) return pack_wide(how, negative, e, product);
    int top = product >> 127 ? 2 : 1; /* the product has 127 or 128 bits, of which many last ones are 0 */
    return add_wide(how, negative, e + top, product >> top, c.negative, c.exponent - 62, (UInt128)c.mantissa << 62);
}

double add_double(double x, double y, unsigned how) { return how == ROUND_RN ? x + y : fma_double(x, 1.0, y, how); }

double mul_double(double x, double y, unsigned how) {
    if (how == ROUND_RN || is_special(x) || is_special(y)) return x * y;
    Parts a = parts_of(x), b = parts_of(y);
    return pack_wide(how, a.negative != b.negative, a.exponent + b.exponent, (UInt128)a.mantissa * b.mantissa);
}

double div_double(double x, double y, unsigned how) {
    if (how == ROUND_RN || is_special(x) || is_special(y) || x == 0 || y == 0) return x / y;
    Parts a = parts_of(x), b = parts_of(y);
    UInt128 top = (UInt128)a.mantissa << 63; /* the quotient has 63 or 64 bits */
    uint64_t quotient = (uint64_t)(top / b.mantissa);
    if (top % b.mantissa) quotient |= 1;
    return double_of(
        round_to(&format_f64, how, false, a.negative != b.negative, a.exponent - b.exponent - 63, quotient));
}

double sqrt_double(double x, unsigned how) {
    double r = sqrt(x);
    if (how == ROUND_RN || is_special(x) || x <= 0) return r;
    Parts a = parts_of(x);
    int odd = a.exponent & 1; /* scaled to [2^62, 2^64), so that nothing underflows */
    double scaled = ldexp((double)a.mantissa, odd ? -1 : 0), root = sqrt(scaled), rest = fma(-root, root, scaled);
    if ((how == ROUND_RP) ? rest > 0 : rest < 0) root = nextafter(root, rest > 0 ? (double)INFINITY : 0.0);
    return ldexp(root, (a.exponent + odd) / 2);
}
