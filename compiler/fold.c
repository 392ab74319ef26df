/* fold.c - evaluates one operation on constants: the definition that every device must match.
 *
 * Constants are 64-bit words as CONST holds them: integers extended by the sign of their type, floats
 * as their bits. What isn't the same everywhere isn't folded: functions such as exp, whose last bits
 * belong to a device. A NaN that an operation makes is the positive quiet one; operations that
 * choose an operand or change its sign keep a NaN's bits.
 *
 * Floats: f32 and f64 are computed in themselves, f16 and bf16 in f32 and rounded then, as NumPy and
 * ml_dtypes do it (a bf16 product below f32's normal range is rounded twice; everything else behaves
 * as if rounded once, since 24 >= 2 * 11 + 2); FMA rounds once, with the care of add_to_odd(). */
#include "ir.h"

#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 U128;
__extension__ typedef __int128 S128;

/* ---- integers ------------------------------------------------------------------------------- */

static uint64_t reverse_bits(uint64_t v, unsigned width) {
    uint64_t r = 0;
    for (unsigned i = 0; i < width; i++) r |= (v >> i & 1) << (width - 1 - i);
    return r;
}

static uint64_t int_pow(Type t, uint64_t base, uint64_t exponent) {
    if (type_is_signed(t) && (int64_t)exponent < 0) {
        if ((int64_t)base == -1) return exponent & 1 ? base : 1;
        return base == 1;
    }
    uint64_t r = 1;
    for (; exponent; exponent >>= 1, base *= base)
        if (exponent & 1) r *= base;
    return r;
}

/* Division by zero gives 0. Signed division goes through negation for -1, so that MIN wraps. */
static uint64_t int_divide(Op op, bool is_signed, uint64_t a, uint64_t b) {
    bool wants_mod = op == OP_FLOORMOD || op == OP_TRUNCMOD;
    if (b == 0) return 0;
    if (!is_signed) return wants_mod ? a % b : a / b;
    int64_t x = (int64_t)a, y = (int64_t)b;
    if (y == -1) return wants_mod ? 0 : 0 - a;
    int64_t q = x / y, r = x % y;
    if ((op == OP_FLOORDIV || op == OP_FLOORMOD) && r != 0 && (r < 0) != (y < 0)) {
        q--;
        r += y;
    }
    return (uint64_t)(wants_mod ? r : q);
}

static uint64_t int_shift(Op op, Type t, uint64_t a, uint64_t amount) {
    unsigned width = type_bits(t);
    bool negative = type_is_signed(t) && (int64_t)a < 0;
    if (op == OP_SHL) return amount >= width ? 0 : a << amount;
    if (amount >= width) return negative ? ~UINT64_C(0) : 0;
    return negative ? ~(~a >> amount) : a >> amount;
}

static uint64_t mul_high(Type t, uint64_t a, uint64_t b) {
    unsigned width = type_bits(t);
    if (type_is_signed(t)) return (uint64_t)(((S128)(int64_t)a * (int64_t)b) >> width);
    return (uint64_t)(((U128)a * b) >> width);
}

static bool fold_int(Op op, Type t, uint64_t a, uint64_t b, uint64_t *out) {
    bool s = type_is_signed(t);
    unsigned width = type_bits(t);
    uint64_t low = width == 64 ? a : a & ((UINT64_C(1) << width) - 1), r;
    bool b_less = s ? (int64_t)b < (int64_t)a : b < a;
    switch (op) {
    case OP_ADD: r = a + b; break;
    case OP_SUB: r = a - b; break;
    case OP_MUL: r = a * b; break;
    case OP_NEG: r = 0 - a; break;
    case OP_ABS: r = s && (int64_t)a < 0 ? 0 - a : a; break;
    case OP_FLOORDIV:
    case OP_FLOORMOD:
    case OP_TRUNCDIV:
    case OP_TRUNCMOD: r = int_divide(op, s, a, b); break;
    case OP_MIN: r = b_less ? b : a; break;
    case OP_MAX: r = b_less ? a : b; break;
    case OP_MULHI: r = mul_high(t, a, b); break;
    case OP_POW: r = int_pow(t, a, b); break;
    case OP_AND: r = a & b; break;
    case OP_OR: r = a | b; break;
    case OP_XOR: r = a ^ b; break;
    case OP_NOT: r = t == T_BOOL ? !a : ~a; break;
    case OP_SHL:
    case OP_SHR: r = int_shift(op, t, a, width == 64 ? b : b & ((UINT64_C(1) << width) - 1)); break;
    case OP_POPC: r = (uint64_t)__builtin_popcountll(low); break;
    case OP_CLZ: r = low ? (uint64_t)__builtin_clzll(low) - (64 - width) : width; break;
    case OP_CTZ: r = low ? (uint64_t)__builtin_ctzll(low) : width; break;
    case OP_BREV: r = reverse_bits(low, width); break;
    default: return false;
    }
    *out = ir_wrap(t, r);
    return true;
}

/* Operations of three integers. */
static bool fold_int3(Op op, Type t, const uint64_t *args, uint64_t *out) {
    unsigned width = type_bits(t);
    uint64_t mask = width == 64 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1, a = args[0] & mask, b = args[1] & mask,
             r = 0;
    unsigned n = (unsigned)(args[2] & (width - 1));
    switch (op) {
    case OP_FSHL: r = n ? a << n | b >> (width - n) : a; break;
    case OP_FSHR: r = n ? a << (width - n) | b >> n : b; break;
    case OP_PRMT:
        for (unsigned i = 0; i < 4; i++) {
            unsigned nibble = (unsigned)(args[2] >> 4 * i & 15), byte = (b << 32 | a) >> 8 * (nibble & 7) & 255;
            if (nibble & 8) byte = byte & 128 ? 255 : 0;
            r |= (uint64_t)byte << 8 * i;
        }
        break;
    default: return false;
    }
    *out = ir_wrap(t, r);
    return true;
}

/* ---- floats --------------------------------------------------------------------------------- */

static uint64_t quiet_nan(Type t) { return ir_double_to_bits(t, (double)NAN) & ~(UINT64_C(1) << (type_bits(t) - 1)); }

/* The sum with its last bit set when it isn't exact ("rounding to odd"): rounding that once more to
 * a format with at most half of the bits gives what one rounding of the exact sum gives. */
static double add_to_odd(double a, double b) {
    double s = a + b;
    if (!isfinite(s)) return s;
    double bb = s - a, error = (a - (s - bb)) + (b - bb);
    uint64_t bits = ir_double_to_bits(T_F64, s);
    if (error == 0.0 || (bits & 1)) return s;
    bool away = (error > 0) == (s > 0); /* the exact sum is further from zero than s */
    return ir_bits_to_double(T_F64, away ? bits + 1 : bits - 1);
}

static double fused(Type t, double a, double b, double c) {
    if (t == T_F64) return fma(a, b, c);
    if (t == T_F32) return (double)fmaf((float)a, (float)b, (float)c);
    return add_to_odd(a * b, c);
}

/* NumPy's divmod, npy_math: f32 stands for itself and the two smaller types. */
static double numpy_divmod_f32(float a, float b, bool wants_mod) {
    float mod = fmodf(a, b);
    if (b == 0.0f) return (double)(wants_mod ? mod : a / b);
    float div = (a - mod) / b, floored;
    if (mod != 0.0f) {
        if ((b < 0) != (mod < 0)) {
            mod += b;
            div -= 1.0f;
        }
    } else {
        mod = copysignf(0.0f, b);
    }
    if (div != 0.0f) {
        floored = floorf(div);
        if (div - floored > 0.5f) floored += 1.0f;
    } else {
        floored = copysignf(0.0f, a / b);
    }
    return (double)(wants_mod ? mod : floored);
}

static double numpy_divmod(Type t, double a, double b, bool wants_mod) {
    if (t != T_F64) return numpy_divmod_f32((float)a, (float)b, wants_mod);
    double mod = fmod(a, b);
    if (b == 0.0) return wants_mod ? mod : a / b;
    double div = (a - mod) / b, floored;
    if (mod != 0.0) {
        if ((b < 0) != (mod < 0)) {
            mod += b;
            div -= 1.0;
        }
    } else {
        mod = copysign(0.0, b);
    }
    if (div != 0.0) {
        floored = floor(div);
        if (div - floored > 0.5) floored += 1.0;
    } else {
        floored = copysign(0.0, a / b);
    }
    return wants_mod ? mod : floored;
}

/* f32 sums, differences, products and quotients round to f32 from double exactly (53 >= 2 * 24 + 2). */
static bool fold_float_value(Op op, Type t, double a, double b, double c, double *r) {
    switch (op) {
    case OP_ADD: *r = a + b; break;
    case OP_SUB: *r = a - b; break;
    case OP_MUL: *r = a * b; break;
    case OP_DIV: *r = a / b; break;
    case OP_FMA: *r = fused(t, a, b, c); break;
    case OP_FLOORDIV: *r = numpy_divmod(t, a, b, false); break;
    case OP_FLOORMOD: *r = numpy_divmod(t, a, b, true); break;
    case OP_TRUNCMOD: *r = fmod(a, b); break;
    default: return false;
    }
    return true;
}

/* Which operand MIN and its kin choose; the operand's bits are the result. Of zeros that differ in sign NumPy's minimum
 * and maximum take the second (x86's instructions do), but for f16 and bf16 the first. */
static bool chooses_second(Op op, Type t, double a, double b) {
    bool tie = a == b && type_bytes(t) > 2;
    bool zeros = a == 0.0 && b == 0.0;
    switch (op) {
    case OP_MIN: return b < a;
    case OP_MAX: return b > a;
    case OP_FMIN: return isnan(a) || (zeros ? signbit(b) && !signbit(a) : b < a);
    case OP_FMAX: return isnan(a) || (zeros ? signbit(a) && !signbit(b) : b > a);
    case OP_NANMIN: return !isnan(a) && (tie || !(a <= b));
    default: return !isnan(a) && (tie || !(a >= b)); /* OP_NANMAX */
    }
}

static bool fold_float(Op op, Type t, const uint64_t *args, uint32_t nargs, uint64_t *out) {
    uint64_t sign = UINT64_C(1) << (type_bits(t) - 1);
    double a = ir_bits_to_double(t, args[0]);
    double b = nargs > 1 ? ir_bits_to_double(t, args[1]) : 0.0;
    double c = nargs > 2 ? ir_bits_to_double(t, args[2]) : 0.0, r = 0.0;
    switch (op) {
    case OP_NEG: *out = args[0] ^ sign; return true;
    case OP_ABS: *out = args[0] & ~sign; return true;
    case OP_MIN:
    case OP_MAX:
    case OP_FMIN:
    case OP_FMAX:
    case OP_NANMIN:
    case OP_NANMAX: *out = args[chooses_second(op, t, a, b)]; return true;
    default: break;
    }
    if (!fold_float_value(op, t, a, b, c, &r)) return false;
    if (type_bytes(t) == 2 && op != OP_FMA) r = (double)(float)r;
    *out = isnan(r) ? quiet_nan(t) : ir_double_to_bits(t, r);
    return true;
}

/* Only functions whose result every device rounds in the same way. */
static bool fold_math(Type t, MathFn fn, const uint64_t *args, uint64_t *out) {
    double a = ir_bits_to_double(t, args[0]), r;
    switch (fn) {
    case MATH_SQRT: r = sqrt(a); break;
    case MATH_FLOOR: r = floor(a); break;
    case MATH_CEIL: r = ceil(a); break;
    case MATH_TRUNC: r = trunc(a); break;
    case MATH_RINT: r = nearbyint(a); break;
    case MATH_COPYSIGN: {
        uint64_t sign = UINT64_C(1) << (type_bits(t) - 1);
        *out = (args[0] & ~sign) | (args[1] & sign);
        return true;
    }
    default: return false;
    }
    *out = isnan(r) ? quiet_nan(t) : ir_double_to_bits(t, r);
    return true;
}

/* ---- between types -------------------------------------------------------------------------- */

/* A 64-bit integer rounded to odd in 53 bits, so that the rounding to the final type is the only one. */
static double int_to_double_odd(uint64_t magnitude) {
    if (magnitude >> 53 == 0) return (double)magnitude;
    uint64_t lost = magnitude & 0x7ff;
    return (double)((magnitude & ~UINT64_C(0x7ff)) | (lost ? UINT64_C(0x800) : 0));
}

static uint64_t int_to_float(Type to, Type from, uint64_t v) {
    bool negative = type_is_signed(from) && (int64_t)v < 0;
    uint64_t magnitude = negative ? 0 - v : v;
    double d = to == T_F64 ? (double)magnitude : int_to_double_odd(magnitude);
    return ir_double_to_bits(to, negative ? -d : d);
}

static uint64_t float_to_int(Type to, double v) {
    if (isnan(v)) return 0;
    unsigned width = type_bits(to);
    if (type_is_signed(to)) {
        double limit = ldexp(1.0, (int)width - 1);
        if (v >= limit) return (UINT64_C(1) << (width - 1)) - 1;
        if (v < -limit) return ir_wrap(to, UINT64_C(1) << (width - 1));
        return (uint64_t)(int64_t)v;
    }
    if (v >= ldexp(1.0, (int)width)) return ir_wrap(to, ~UINT64_C(0));
    return v <= 0.0 ? 0 : (uint64_t)v;
}

static uint64_t convert(Type to, Type from, uint64_t v) {
    if (to == from) return v;
    if (type_is_float(from)) {
        double d = ir_bits_to_double(from, v);
        if (to == T_BOOL) return d != 0.0;
        return type_is_float(to) ? ir_double_to_bits(to, d) : float_to_int(to, d);
    }
    if (to == T_BOOL) return v != 0;
    return type_is_float(to) ? int_to_float(to, from, v) : ir_wrap(to, v);
}

static bool holds(Pred p, bool less, bool equal, bool ordered) {
    switch (p) {
    case PRED_EQ: return ordered && equal;
    case PRED_NE: return !ordered || !equal;
    case PRED_LT: return ordered && less;
    case PRED_LE: return ordered && (less || equal);
    case PRED_GT: return ordered && !less && !equal;
    default: return ordered && !less;
    }
}

static bool compare(Pred p, Type t, uint64_t a, uint64_t b) {
    if (type_is_float(t)) {
        double x = ir_bits_to_double(t, a), y = ir_bits_to_double(t, b);
        return holds(p, x < y, x == y, !isnan(x) && !isnan(y));
    }
    return holds(p, type_is_signed(t) ? (int64_t)a < (int64_t)b : a < b, a == b, true);
}

bool ir_fold(Op op, Type t, uint16_t sub, Type arg_type, uint32_t nargs, const uint64_t *args, uint64_t *out) {
    if (!(op_info[op].flags & PURE) || nargs == 0) return false;
    switch (op) {
    case OP_PHI:
    case OP_ALIGNED:
    case OP_ADDRESS:
    case OP_APPROX:
    case OP_ADDR: return false;
    case OP_CMP: *out = compare((Pred)sub, arg_type, args[0], args[1]); return true;
    case OP_SELECT: *out = args[args[0] ? 1 : 2]; return true;
    case OP_CONVERT: *out = convert(t, arg_type, args[0]); return true;
    case OP_BITCAST: *out = ir_wrap(t, args[0]); return true;
    case OP_MATH: return type_is_float(t) && fold_math(t, (MathFn)sub, args, out);
    default: break;
    }
    if (type_is_float(t)) return fold_float(op, t, args, nargs, out);
    if (nargs == 3) return fold_int3(op, t, args, out);
    return fold_int(op, t, args[0], nargs > 1 ? args[1] : 0, out);
}
