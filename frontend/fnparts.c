/* fnparts.c - functions that the IR has no operation for, made of those that it has.
 *
 * They are written once for all devices, so that the devices agree to the bit. Of the arguments of one call at most
 * one emits: C leaves open which is evaluated first, and the IR's order should not depend on the compiler. */
#include "devfns.h"

#include <math.h>

static Ref fconst(Eval *e, Type t, double v) { return e_float(e, t, v); }
static Ref fabs_of(Eval *e, Type t, Ref x) { return e_op1(e, OP_ABS, t, x); }
static Ref copysign_of(Eval *e, Type t, Ref x, Ref y) { return e_math2(e, MATH_COPYSIGN, t, x, y); }
static Type bits_type(Type t) { return t == T_F64 ? T_I64 : t == T_F32 ? T_I32 : T_I16; }

Ref is_nan(Eval *e, Ref x) { return e_cmp(e, PRED_NE, x, x); }
Ref is_inf(Eval *e, Type t, Ref x) {
    Ref inf = fconst(e, t, INFINITY);
    return e_cmp(e, PRED_EQ, fabs_of(e, t, x), inf);
}

Ref is_finite(Eval *e, Type t, Ref x) {
    Ref inf = fconst(e, t, INFINITY);
    return e_cmp(e, PRED_LT, fabs_of(e, t, x), inf);
}

Ref sign_bit(Eval *e, Type t, Ref x) {
    Type i = bits_type(t);
    Ref zero = e_int(e, i, 0);
    return e_cmp(e, PRED_LT, e_op1(e, OP_BITCAST, i, x), zero);
}

Ref part_frac(Eval *e, Type t, Ref x, Ref whole) {
    Ref zero = fconst(e, t, 0), rest = e_op2(e, OP_SUB, t, x, whole);
    return copysign_of(e, t, e_select(e, t, is_inf(e, t, x), zero, rest), x);
}

/* The exponent field moves out; subnormals are scaled up first. Zero, infinity and NaN stay, with exponent 0. */
void part_frexp(Eval *e, Type t, Ref x, Ref *mantissa, Ref *exponent) {
    Type i = bits_type(t);
    bool wide = t == T_F64;
    int digits = wide ? 52 : 23, bias = wide ? 1022 : 126, ones = wide ? 0x7ff : 0xff;
    Ref smallest = fconst(e, t, wide ? 0x1p-1022 : 0x1p-126), zero = fconst(e, t, 0), no_shift = e_int(e, T_I32, 0);
    Ref tiny = e_cmp(e, PRED_LT, fabs_of(e, t, x), smallest);
    Ref up = fconst(e, t, 0x1p54), scaled = e_select(e, t, tiny, e_op2(e, OP_MUL, t, x, up), x);
    Ref bits = e_op1(e, OP_BITCAST, i, scaled), shift = e_int(e, i, digits), field_mask = e_int(e, i, ones);
    Ref field = e_op2(e, OP_AND, i, e_op2(e, OP_SHR, i, bits, shift), field_mask);
    Ref bias32 = e_int(e, T_I32, bias), exp = e_op2(e, OP_SUB, T_I32, e_conv(e, T_I32, field), bias32);
    Ref scale = e_int(e, T_I32, 54);
    exp = e_op2(e, OP_SUB, T_I32, exp, e_select(e, T_I32, tiny, scale, no_shift));
    Ref rest_mask = e_int(e, i, ~((int64_t)ones << digits)), half_bits = e_int(e, i, (int64_t)bias << digits);
    Ref half = e_op2(e, OP_OR, i, e_op2(e, OP_AND, i, bits, rest_mask), half_bits);
    Ref is_zero = e_cmp(e, PRED_EQ, x, zero), endless = e_op1(e, OP_NOT, T_BOOL, is_finite(e, t, x));
    Ref same = e_op2(e, OP_OR, T_BOOL, is_zero, endless);
    *mantissa = e_select(e, t, same, x, e_op1(e, OP_BITCAST, t, half));
    *exponent = e_select(e, T_I32, same, no_shift, exp);
}

Ref part_ldexp(Eval *e, Type t, Ref x, Ref exponent) {
    Ref low = e_op2(e, OP_MAX, T_I64, exponent, e_int(e, T_I64, -5000));
    return e_math2(e, MATH_LDEXP, t, x, e_conv(e, T_I32, e_op2(e, OP_MIN, T_I64, low, e_int(e, T_I64, 5000))));
}

/* The nearer multiple of y, the even one when both are as near: from fmod alone, which is exact. */
Ref part_remainder(Eval *e, Type t, Ref x, Ref y) {
    Ref ax = fabs_of(e, t, x), ay = fabs_of(e, t, y), half = fconst(e, t, 0.5), one = fconst(e, t, 1);
    Ref m = e_op2(e, OP_TRUNCMOD, t, ax, ay), c = e_op2(e, OP_SUB, t, ay, m);
    Ref halves = e_op2(e, OP_MUL, t, e_op2(e, OP_SUB, t, ax, m), half);
    Ref odd = e_op2(e, OP_TRUNCMOD, t, halves, ay);
    Ref tie = e_op2(e, OP_SUB, t, m, e_op2(e, OP_ADD, t, odd, odd));
    Ref below = e_cmp(e, PRED_LT, m, c), above = e_cmp(e, PRED_GT, m, c), down = e_op1(e, OP_NEG, t, c);
    Ref r = e_select(e, t, below, m, e_select(e, t, above, down, tie));
    return e_op2(e, OP_MUL, t, copysign_of(e, t, one, x), r);
}

Ref part_two_sum(Eval *e, Type t, Ref a, Ref b, Ref *error) {
    Ref sum = e_op2(e, OP_ADD, t, a, b), back = e_op2(e, OP_SUB, t, sum, a);
    Ref lost_a = e_op2(e, OP_SUB, t, a, e_op2(e, OP_SUB, t, sum, back)), lost_b = e_op2(e, OP_SUB, t, b, back);
    *error = e_op2(e, OP_ADD, t, lost_a, lost_b);
    return sum;
}

Ref part_hypot(Eval *e, Type t, uint32_t n, const Ref *x) {
    if (n == 0) return fconst(e, t, 0);
    Ref r = fabs_of(e, t, x[0]);
    for (uint32_t i = 1; i < n; i++) r = e_math2(e, MATH_HYPOT, t, r, x[i]);
    return r;
}

/* ---- neighbours: the bits of a float count upwards from zero ------------------------------------------------- */
Ref part_nextafter(Eval *e, Type t, Ref x, Ref y) {
    Type i = bits_type(t);
    Ref zero = fconst(e, t, 0), one = e_int(e, i, 1), back = e_int(e, i, -1);
    Ref sign = e_int(e, i, t == T_F64 ? INT64_MIN : t == T_F32 ? INT32_MIN : INT16_MIN);
    Ref bits = e_op1(e, OP_BITCAST, i, x), ybits = e_op1(e, OP_BITCAST, i, y);
    Ref rises = e_cmp(e, PRED_LT, x, y), negative = e_cmp(e, PRED_LT, x, zero);
    Ref away = e_op2(e, OP_XOR, T_BOOL, rises, negative);
    Ref step = e_op2(e, OP_ADD, i, bits, e_select(e, i, away, one, back));
    Ref smallest = e_op2(e, OP_OR, i, e_op2(e, OP_AND, i, ybits, sign), one);
    Ref from_zero = e_cmp(e, PRED_EQ, x, zero), moved = e_select(e, i, from_zero, smallest, step);
    Ref there = e_cmp(e, PRED_EQ, x, y), r = e_select(e, t, there, y, e_op1(e, OP_BITCAST, t, moved));
    Ref x_nan = is_nan(e, x), y_nan = is_nan(e, y), nan = e_op2(e, OP_OR, T_BOOL, x_nan, y_nan);
    return e_select(e, t, nan, e_op2(e, OP_ADD, t, x, y), r);
}

/* Of a float16 NumPy gives the magnitude, of other floats the sign of x. */
Ref part_spacing(Eval *e, Type t, Ref x) {
    Type i = bits_type(t);
    Ref one = e_int(e, i, 1);
    Ref bits = e_op2(e, OP_ADD, i, e_op1(e, OP_BITCAST, i, x), one);
    Ref r = e_op2(e, OP_SUB, t, e_op1(e, OP_BITCAST, t, bits), x);
    if (t == T_F16) r = fabs_of(e, t, r);
    return e_select(e, t, is_nan(e, x), x, r);
}

Ref part_round(Eval *e, Type t, Ref x, int digits) {
    if (digits == 0) return e_math1(e, MATH_RINT, t, x);
    double scale = 1;
    for (int i = digits < 0 ? -digits : digits; i > 0 && scale < 1e300; i--) scale *= 10;
    Ref p = fconst(e, t, scale);
    Ref r = e_math1(e, MATH_RINT, t, e_op2(e, digits > 0 ? OP_MUL : OP_DIV, t, x, p));
    return e_op2(e, digits > 0 ? OP_DIV : OP_MUL, t, r, p);
}

/* A loop with two variables, which each round gives anew. */
typedef struct Loop {
    BlockId head, body, done;
    Ref x, y;
} Loop;

static Loop begin_loop(Eval *e, Type type_x, Ref x, Type type_y, Ref y) {
    BlockId before = e_current(e), head = e_new_block(e), body = e_new_block(e), done = e_new_block(e);
    Loop l = {head, body, done, REF_NONE, REF_NONE};
    e_jump(e, head);
    e_set_block(e, head);
    l.x = e_phi(e, type_x);
    l.y = e_phi(e, type_y);
    e_phi_add(e, l.x, before, x);
    e_phi_add(e, l.y, before, y);
    return l;
}

static void loop_while(Eval *e, const Loop *l, Ref condition) {
    e_branch(e, condition, l->body, l->done);
    e_set_block(e, l->body);
}

static void end_loop(Eval *e, const Loop *l, Ref x, Ref y) {
    e_phi_add(e, l->x, l->body, x);
    e_phi_add(e, l->y, l->body, y);
    e_jump(e, l->head);
    e_set_block(e, l->done);
}

/* 10 to the power of n, 0 <= n <= 308, by multiplication: exact where it can be, which pow() isn't on every device. */
static Ref power_of_ten(Eval *e, Ref n) {
    Ref zero = e_int(e, T_I64, 0), first = e_float(e, T_F64, 1);
    Loop l = begin_loop(e, T_I64, zero, T_F64, first);
    loop_while(e, &l, e_cmp(e, PRED_LT, l.x, n));
    Ref next = e_op2(e, OP_ADD, T_I64, l.x, e_int(e, T_I64, 1));
    end_loop(e, &l, next, e_op2(e, OP_MUL, T_F64, l.y, e_float(e, T_F64, 10)));
    return l.y;
}

/* What has no digits behind the point in f64 stays as it is, as do infinities and NaN. */
Ref part_round_to(Eval *e, Type t, Ref x, Ref digits) {
    Ref most = e_int(e, T_I64, 308);
    Ref v = e_conv(e, T_F64, x), n = e_conv(e, T_I64, e_op1(e, OP_ABS, T_I64, digits));
    Ref p = power_of_ten(e, e_select(e, T_I64, e_cmp(e, PRED_LT, n, most), n, most));
    Ref left = e_cmp(e, PRED_LT, digits, e_int(e, T_I64, 0));
    Ref down = e_op2(e, OP_DIV, T_F64, v, p), up = e_op2(e, OP_MUL, T_F64, v, p);
    Ref y = e_select(e, T_F64, left, down, up);
    Ref z = e_math1(e, MATH_RINT, T_F64, y);
    Ref back_up = e_op2(e, OP_MUL, T_F64, z, p), back_down = e_op2(e, OP_DIV, T_F64, z, p);
    Ref r = e_select(e, T_F64, left, back_up, back_down);
    Ref changes = e_cmp(e, PRED_LT, e_op1(e, OP_ABS, T_F64, y), e_float(e, T_F64, 0x1p52));
    return e_conv(e, t, e_select(e, T_F64, changes, r, v));
}

/* ---- integers -------------------------------------------------------------------------------------------------- */
Ref magnitude(Eval *e, Type t, Ref x, Type *out) {
    static const Type unsigned_of[T__COUNT] = {[T_I8] = T_U8, [T_I16] = T_U16, [T_I32] = T_U32, [T_I64] = T_U64};
    *out = type_is_signed(t) ? unsigned_of[t] : t;
    return type_is_signed(t) ? e_conv(e, *out, e_op1(e, OP_ABS, t, x)) : x;
}

Ref part_gcd(Eval *e, Type t, Ref a, Ref b) {
    Ref zero = e_int(e, t, 0);
    Loop l = begin_loop(e, t, a, t, b);
    loop_while(e, &l, e_cmp(e, PRED_NE, l.y, zero));
    end_loop(e, &l, l.y, e_op2(e, OP_TRUNCMOD, t, l.x, l.y));
    return l.x;
}

/* The float64 root is at most one off. */
Ref part_isqrt(Eval *e, Ref n) {
    Ref one = e_int(e, T_U64, 1);
    Ref r = e_conv(e, T_U64, e_math1(e, MATH_SQRT, T_F64, e_conv(e, T_F64, n)));
    Ref high = e_cmp(e, PRED_GT, e_op2(e, OP_MUL, T_U64, r, r), n);
    r = e_select(e, T_U64, high, e_op2(e, OP_SUB, T_U64, r, one), r);
    Ref next = e_op2(e, OP_ADD, T_U64, r, one);
    Ref low = e_cmp(e, PRED_LE, e_op2(e, OP_MUL, T_U64, next, next), n);
    return e_select(e, T_U64, low, next, r);
}

/* A product of more than 64 consecutive numbers has 64 factors of 2 and is 0 in 64 bits. */
Ref part_product(Eval *e, Ref from, Ref to) {
    Ref zero = e_int(e, T_I64, 0);
    Ref one = e_int(e, T_I64, 1);
    Loop l = begin_loop(e, T_I64, from, T_I64, one);
    Ref within = e_cmp(e, PRED_LE, l.x, to);
    Ref nonzero = e_cmp(e, PRED_NE, l.y, zero);
    loop_while(e, &l, e_op2(e, OP_AND, T_BOOL, within, nonzero));
    Ref product = e_op2(e, OP_MUL, T_I64, l.y, l.x);
    end_loop(e, &l, e_op2(e, OP_ADD, T_I64, l.x, one), product);
    return l.y;
}

/* r * (n - i) / (i + 1) for i below min(k, n - k); the quotient first, so that what fits never overflows. */
Ref part_comb(Eval *e, Ref n, Ref k) {
    Ref one = e_int(e, T_I64, 1);
    Ref zero = e_int(e, T_I64, 0);
    k = e_op2(e, OP_MIN, T_I64, k, e_op2(e, OP_SUB, T_I64, n, k));
    Ref start = e_select(e, T_I64, e_cmp(e, PRED_LT, k, zero), zero, one);
    Loop l = begin_loop(e, T_I64, zero, T_I64, start);
    loop_while(e, &l, e_cmp(e, PRED_LT, l.x, k));
    Ref d = e_op2(e, OP_ADD, T_I64, l.x, one);
    Ref factor = e_op2(e, OP_SUB, T_I64, n, l.x);
    Ref whole = e_op2(e, OP_MUL, T_I64, e_op2(e, OP_TRUNCDIV, T_I64, l.y, d), factor);
    Ref rest = e_op2(e, OP_MUL, T_I64, e_op2(e, OP_TRUNCMOD, T_I64, l.y, d), factor);
    rest = e_op2(e, OP_TRUNCDIV, T_I64, rest, d);
    end_loop(e, &l, d, e_op2(e, OP_ADD, T_I64, whole, rest));
    return l.y;
}

/* The quotient rounds down first; more than half of a step, or half beside an odd quotient, rounds up. */
Val round_int(Eval *e, Val x, int digits) {
    DType d = val_dtype(x);
    Scalar s = SCALAR(d, x.ty->weak);
    Wide step = 1;
    for (int i = digits; i < 0 && step <= dt_max(d); i++) step *= 10;
    if (digits >= 0) return x;
    if (step > dt_max(d)) return val_const_int(e, s, 0);
    Val p = val_const_int(e, s, step);
    Val q = eval_arith(e, PYB_FLOORDIV, s, x, p), r = eval_arith(e, PYB_MOD, s, x, p);
    Type t = dtype_info[d].ir;
    Ref zero = e_int(e, t, 0), one = e_int(e, t, 1), rest = val_ref(e, r), quotient = val_ref(e, q);
    Ref missing = e_op2(e, OP_SUB, t, val_ref(e, p), rest);
    Ref odd = e_cmp(e, PRED_NE, e_op2(e, OP_AND, t, quotient, one), zero);
    Ref tie = e_op2(e, OP_AND, T_BOOL, e_cmp(e, PRED_EQ, rest, missing), odd);
    Ref up = e_op2(e, OP_OR, T_BOOL, e_cmp(e, PRED_GT, rest, missing), tie);
    Val carry = val_of(e, s, e_select(e, t, up, one, zero));
    return eval_arith(e, PYB_MUL, s, eval_arith(e, PYB_ADD, s, q, carry), p);
}
