/* complexfns.c - functions of complex numbers, for cmath and numpy, made of real ones on the parts. */
#include "devfns.h"

typedef struct Z {
    Ref re, im;
} Z;

static Ref half_of(Eval *e, Type t, Ref x) { return e_op2(e, OP_MUL, t, x, e_float(e, t, 0.5)); }

static Z z_scale(Eval *e, Type t, Ref by, Z z) {
    Ref re = e_op2(e, OP_MUL, t, by, z.re), im = e_op2(e, OP_MUL, t, by, z.im);
    return (Z){re, im};
}

/* Special values are C99's, as CPython's: nothing times infinity or NaN is nothing, where a sine or cosine of the angle
 * has no meaning. */
static Ref product(Eval *e, Type t, Ref a, Ref b) {
    Ref zero = e_float(e, t, 0), one = e_float(e, t, 1), angle = e_select(e, t, is_nan(e, b), one, b);
    Ref no_a = e_cmp(e, PRED_EQ, a, zero), no_b = e_cmp(e, PRED_EQ, b, zero);
    Ref none = e_op2(e, OP_OR, T_BOOL, no_a, no_b);
    Ref sign = e_op2(e, OP_MUL, t, e_math2(e, MATH_COPYSIGN, t, one, a), e_math2(e, MATH_COPYSIGN, t, one, angle));
    return e_select(e, t, none, e_math2(e, MATH_COPYSIGN, t, zero, sign), e_op2(e, OP_MUL, t, a, b));
}

/* An infinite size stays infinite, whatever the angle is. */
static Ref real_product(Eval *e, Type t, Ref size, Ref cosine) {
    Ref stays = e_op2(e, OP_AND, T_BOOL, is_inf(e, t, size), is_nan(e, cosine));
    return e_select(e, t, stays, size, product(e, t, size, cosine));
}

/* A real number stays one: inf * sin(0) would be nan. */
static Z z_exp(Eval *e, Type t, Z z) {
    Ref zero = e_float(e, t, 0), size = e_math1(e, MATH_EXP, t, z.re), endless = is_inf(e, t, z.re);
    Ref c = e_math1(e, MATH_COS, t, z.im), s = e_math1(e, MATH_SIN, t, z.im);
    Z r = z_scale(e, t, size, (Z){c, s});
    r.re = e_select(e, t, endless, real_product(e, t, size, c), r.re);
    r.im = e_select(e, t, endless, product(e, t, size, s), r.im);
    r.im = e_select(e, t, e_cmp(e, PRED_EQ, z.im, zero), z.im, r.im);
    return r;
}

/* log |z|: near 1 the logarithm of a rounded length has no digits left, so it is taken of |z|**2 - 1. */
static Ref log_abs(Eval *e, Type t, Z z) {
    Ref x = e_op1(e, OP_ABS, t, z.re), y = e_op1(e, OP_ABS, t, z.im), one = e_float(e, t, 1);
    Ref low = e_float(e, t, 0.71), high = e_float(e, t, 1.73);
    Ref big = e_op2(e, OP_NANMAX, t, x, y), small = e_op2(e, OP_NANMIN, t, x, y);
    Ref length = e_math2(e, MATH_HYPOT, t, x, y);
    Ref below = e_op2(e, OP_SUB, t, big, one), above = e_op2(e, OP_ADD, t, big, one);
    Ref excess = e_op3(e, OP_FMA, t, below, above, e_op2(e, OP_MUL, t, small, small));
    Ref near = half_of(e, t, e_math1(e, MATH_LOG1P, t, excess)), far = e_math1(e, MATH_LOG, t, length);
    Ref from = e_cmp(e, PRED_GT, length, low), to = e_cmp(e, PRED_LT, length, high);
    return e_select(e, t, e_op2(e, OP_AND, T_BOOL, from, to), near, far);
}

static Z z_log(Eval *e, Type t, Z z) {
    Ref re = log_abs(e, t, z), im = e_math2(e, MATH_ATAN2, t, z.im, z.re);
    return (Z){re, im};
}

/* sqrt((x + |z|) / 2): x and y are scaled by 1/8 against overflow, or up where they may have no normal halves. */
static Ref root_of_half_sum(Eval *e, Type t, Ref x, Ref y) {
    bool wide = t == T_F64;
    Ref most = e_op2(e, OP_NANMAX, t, x, y), small = e_cmp(e, PRED_LT, most, e_float(e, t, wide ? 0x1p-900 : 0x1p-90));
    Ref up = e_float(e, t, wide ? 0x1p199 : 0x1p59), eighth = e_float(e, t, 0.125);
    Ref back = e_float(e, t, wide ? 0x1p-100 : 0x1p-30), two = e_float(e, t, 2);
    Ref by = e_select(e, t, small, up, eighth);
    Ref sx = e_op2(e, OP_MUL, t, x, by), sy = e_op2(e, OP_MUL, t, y, by);
    Ref root = e_math1(e, MATH_SQRT, t, e_op2(e, OP_ADD, t, sx, e_math2(e, MATH_HYPOT, t, sx, sy)));
    return e_op2(e, OP_MUL, t, root, e_select(e, t, small, back, two));
}

/* The root of the half sum; the other part is the quotient, which loses nothing. */
static Z z_sqrt(Eval *e, Type t, Z z) {
    Ref zero = e_float(e, t, 0), ay = e_op1(e, OP_ABS, t, z.im);
    Ref s = root_of_half_sum(e, t, e_op1(e, OP_ABS, t, z.re), ay);
    Ref d = e_op2(e, OP_DIV, t, ay, e_op2(e, OP_ADD, t, s, s));
    Ref right = e_op1(e, OP_NOT, T_BOOL, sign_bit(e, t, z.re));
    Ref re = e_select(e, t, right, s, d), im = e_math2(e, MATH_COPYSIGN, t, e_select(e, t, right, d, s), z.im);
    Ref is_zero = e_cmp(e, PRED_EQ, s, zero), endless = is_inf(e, t, z.im);
    re = e_select(e, t, is_zero, zero, e_select(e, t, endless, ay, re));
    Ref keeps = e_op2(e, OP_OR, T_BOOL, is_zero, endless);
    return (Z){re, e_select(e, t, keeps, z.im, im)};
}

/* sinh and cosh: of a sum of a real and an imaginary number. */
static Z z_sinh(Eval *e, Type t, Z z) {
    Ref s = e_math1(e, MATH_SINH, t, z.re), c = e_math1(e, MATH_COSH, t, z.re);
    Ref cy = e_math1(e, MATH_COS, t, z.im), sy = e_math1(e, MATH_SIN, t, z.im);
    Ref re = real_product(e, t, s, cy), im = product(e, t, c, sy);
    return (Z){re, im};
}

static Z z_cosh(Eval *e, Type t, Z z) {
    Ref s = e_math1(e, MATH_SINH, t, z.re), c = e_math1(e, MATH_COSH, t, z.re);
    Ref cy = e_math1(e, MATH_COS, t, z.im), sy = e_math1(e, MATH_SIN, t, z.im);
    Ref re = real_product(e, t, c, cy), im = product(e, t, s, sy);
    return (Z){re, im};
}

/* Kahan's formula; where cosh would overflow the real part is 1 or -1. */
static Z z_tanh(Eval *e, Type t, Z z) {
    Ref one = e_float(e, t, 1), limit = e_float(e, t, t == T_F64 ? 20 : 9), minus_two = e_float(e, t, -2),
        four = e_float(e, t, 4);
    Ref ax = e_op1(e, OP_ABS, t, z.re), tan = e_math1(e, MATH_TAN, t, z.im), s = e_math1(e, MATH_SINH, t, z.re);
    Ref beta = e_op3(e, OP_FMA, t, tan, tan, one), rho = e_math1(e, MATH_SQRT, t, e_op3(e, OP_FMA, t, s, s, one));
    Ref bs = e_op2(e, OP_MUL, t, beta, s), den = e_op3(e, OP_FMA, t, bs, s, one);
    Ref re = e_op2(e, OP_DIV, t, e_op2(e, OP_MUL, t, bs, rho), den), im = e_op2(e, OP_DIV, t, tan, den);
    Ref c = e_math1(e, MATH_COS, t, z.im), sy = e_math1(e, MATH_SIN, t, z.im);
    Ref fade = e_math1(e, MATH_EXP, t, e_op2(e, OP_MUL, t, minus_two, ax));
    Ref angle = e_op2(e, OP_MUL, t, four, e_op2(e, OP_MUL, t, c, sy));
    Ref tail = e_select(e, t, is_inf(e, t, z.re), product(e, t, angle, fade), e_op2(e, OP_MUL, t, angle, fade));
    Ref large = e_cmp(e, PRED_GT, ax, limit), unit = e_math2(e, MATH_COPYSIGN, t, one, z.re);
    re = e_select(e, t, large, unit, re);
    return (Z){re, e_select(e, t, large, tail, im)};
}

/* sin z = -i sinh(iz), cos z = cosh(iz), tan z = -i tanh(iz) */
static Z turned(Eval *e, Type t, Z z) { return (Z){e_op1(e, OP_NEG, t, z.im), z.re}; }
static Z turned_back(Eval *e, Type t, Z z) { return (Z){z.im, e_op1(e, OP_NEG, t, z.re)}; }

/* ---- inverse functions: CPython's formulas, whose branch cuts and special values are C99's ------------------------
 */

static Ref neg(Eval *e, Type t, Ref x) { return e_op1(e, OP_NEG, t, x); }

/* A part is so large that its square, or a sum of two, has no place in the type. */
static Ref is_large(Eval *e, Type t, Z z, double limit) {
    Ref by = e_float(e, t, limit);
    Ref re = e_cmp(e, PRED_GT, e_op1(e, OP_ABS, t, z.re), by);
    Ref im = e_cmp(e, PRED_GT, e_op1(e, OP_ABS, t, z.im), by);
    return e_op2(e, OP_OR, T_BOOL, re, im);
}

static double quarter_of_most(Type t) { return t == T_F64 ? 0x1p1022 : 0x1p126; }

static Ref half_length(Eval *e, Type t, Z z) {
    Ref x = half_of(e, t, z.re), y = half_of(e, t, z.im);
    return e_math2(e, MATH_HYPOT, t, x, y);
}

/* log |2 z|, of large numbers */
static Ref log_twice(Eval *e, Type t, Z z) {
    Ref log = e_math1(e, MATH_LOG, t, half_length(e, t, z));
    return e_op2(e, OP_ADD, t, log, e_float(e, t, 2 * 0.69314718055994530942));
}

/* sqrt(x + y i), with x = 1 + `by` */
static Z root_beside_one(Eval *e, Type t, Ref by, Ref y) {
    Ref x = e_op2(e, OP_ADD, t, by, e_float(e, t, 1));
    return z_sqrt(e, t, (Z){x, y});
}

/* a b + c d, or a b - c d */
static Ref products(Eval *e, Op op, Type t, Ref a, Ref b, Ref c, Ref d) {
    Ref ab = e_op2(e, OP_MUL, t, a, b), cd = e_op2(e, OP_MUL, t, c, d);
    return e_op2(e, op, t, ab, cd);
}

static Ref twice(Eval *e, Type t, Ref x) { return e_op2(e, OP_ADD, t, x, x); }

static Z z_acos(Eval *e, Type t, Z z) {
    Ref large = is_large(e, t, z, quarter_of_most(t)), minus_im = neg(e, t, z.im);
    Z a = root_beside_one(e, t, neg(e, t, z.re), minus_im), b = root_beside_one(e, t, z.re, z.im);
    Ref re = twice(e, t, e_math2(e, MATH_ATAN2, t, a.re, b.re));
    Ref im = e_math1(e, MATH_ASINH, t, products(e, OP_SUB, t, b.re, a.im, b.im, a.re));
    Ref far_re = e_math2(e, MATH_ATAN2, t, e_op1(e, OP_ABS, t, z.im), z.re);
    Ref far_im = e_math2(e, MATH_COPYSIGN, t, log_twice(e, t, z), minus_im);
    re = e_select(e, t, large, far_re, re);
    im = e_select(e, t, large, far_im, im);
    Ref at_zero = e_cmp(e, PRED_EQ, z.re, e_float(e, t, 0)); /* also where the other part is nan */
    return (Z){e_select(e, t, at_zero, e_float(e, t, 1.57079632679489661923), re), im};
}

static Z z_acosh(Eval *e, Type t, Z z) {
    Ref large = is_large(e, t, z, quarter_of_most(t)), minus_one = e_float(e, t, -1);
    Z a = z_sqrt(e, t, (Z){e_op2(e, OP_ADD, t, z.re, minus_one), z.im}), b = root_beside_one(e, t, z.re, z.im);
    Ref re = e_math1(e, MATH_ASINH, t, products(e, OP_ADD, t, a.re, b.re, a.im, b.im));
    Ref im = twice(e, t, e_math2(e, MATH_ATAN2, t, a.im, b.re));
    re = e_select(e, t, large, log_twice(e, t, z), re);
    im = e_select(e, t, large, e_math2(e, MATH_ATAN2, t, z.im, z.re), im);
    return (Z){re, im};
}

static Z z_asinh(Eval *e, Type t, Z z) {
    Ref large = is_large(e, t, z, quarter_of_most(t)), size = e_op1(e, OP_ABS, t, z.re);
    Z a = root_beside_one(e, t, z.im, neg(e, t, z.re)), b = root_beside_one(e, t, neg(e, t, z.im), z.re);
    Ref re = e_math1(e, MATH_ASINH, t, products(e, OP_SUB, t, a.re, b.im, b.re, a.im));
    Ref im = e_math2(e, MATH_ATAN2, t, z.im, products(e, OP_SUB, t, a.re, b.re, a.im, b.im));
    Ref far_re = e_math2(e, MATH_COPYSIGN, t, log_twice(e, t, z), z.re);
    re = e_select(e, t, large, far_re, re);
    im = e_select(e, t, large, e_math2(e, MATH_ATAN2, t, z.im, size), im);
    Ref is_real = e_cmp(e, PRED_EQ, z.im, e_float(e, t, 0)); /* also of nan */
    return (Z){re, e_select(e, t, is_real, z.im, im)};
}

/* Of a number whose real part is x >= 0 and whose imaginary part has the size y. */
static Ref atanh_real(Eval *e, Type t, Ref x, Ref y, Ref large, Z z) {
    Ref one = e_float(e, t, 1), four = e_float(e, t, 4), quarter = e_float(e, t, 0.25), zero = e_float(e, t, 0);
    Ref beside = e_op2(e, OP_SUB, t, one, x);
    Ref from_one = products(e, OP_ADD, t, beside, beside, y, y);
    Ref ratio = e_op2(e, OP_DIV, t, e_op2(e, OP_MUL, t, four, x), from_one);
    Ref plain = e_op2(e, OP_MUL, t, quarter, e_math1(e, MATH_LOG1P, t, ratio));
    Ref h = half_length(e, t, z);
    Ref far = e_op2(e, OP_DIV, t, e_op2(e, OP_DIV, t, e_op2(e, OP_MUL, t, quarter, x), h), h);
    far = e_select(e, t, is_inf(e, t, h), zero, far);
    /* next to 1: -log(sqrt(y) / sqrt(hypot(y, 2))), infinite for y = 0 */
    Ref length = e_math2(e, MATH_HYPOT, t, y, e_float(e, t, 2));
    Ref root = e_math1(e, MATH_SQRT, t, y), quotient = e_op2(e, OP_DIV, t, root, e_math1(e, MATH_SQRT, t, length));
    Ref near = neg(e, t, e_math1(e, MATH_LOG, t, quotient));
    Ref tiny = e_cmp(e, PRED_LT, y, e_float(e, t, t == T_F64 ? 0x1p-511 : 0x1p-63));
    Ref at_one = e_op2(e, OP_AND, T_BOOL, e_cmp(e, PRED_EQ, x, one), tiny);
    Ref re = e_select(e, t, large, far, e_select(e, t, at_one, near, plain));
    return e_select(e, t, e_cmp(e, PRED_EQ, x, zero), zero, re); /* also where y is nan */
}

static Z z_atanh(Eval *e, Type t, Z z) {
    Ref x = e_op1(e, OP_ABS, t, z.re), y = e_op1(e, OP_ABS, t, z.im), one = e_float(e, t, 1);
    Ref large = is_large(e, t, z, t == T_F64 ? 0x1p511 : 0x1p63);
    Ref re = atanh_real(e, t, x, y, large, z);
    /* of atanh(|re| + im i) the imaginary part is that of atanh(z) or of atanh(conj(z)): both have the sign of im */
    Ref below = e_op2(e, OP_SUB, t, one, x), above = e_op2(e, OP_ADD, t, one, x);
    Ref away = products(e, OP_SUB, t, below, above, y, y);
    Ref angle = half_of(e, t, e_math2(e, MATH_ATAN2, t, twice(e, t, y), away));
    angle = e_select(e, t, large, e_float(e, t, 1.57079632679489661923), angle);
    Ref endless = is_inf(e, t, y), x_nan = is_nan(e, x);
    Ref lost = e_op2(e, OP_AND, T_BOOL, x_nan, e_op1(e, OP_NOT, T_BOOL, endless));
    angle = e_select(e, t, is_nan(e, y), y, angle);
    angle = e_select(e, t, lost, x, angle);
    Ref x_one = e_cmp(e, PRED_EQ, x, one), is_real = e_cmp(e, PRED_EQ, y, e_float(e, t, 0));
    Ref is_one = e_op2(e, OP_AND, T_BOOL, x_one, is_real);
    angle = e_select(e, t, is_one, y, angle);
    re = e_math2(e, MATH_COPYSIGN, t, re, z.re);
    return (Z){re, e_math2(e, MATH_COPYSIGN, t, angle, z.im)};
}

/* In float64, so that a constant that isn't float32's costs no digit. */
static Z over_constant(Eval *e, Type t, Z z, double by) {
    Z wide = {e_conv(e, T_F64, z.re), e_conv(e, T_F64, z.im)};
    wide = z_scale(e, T_F64, e_float(e, T_F64, 1 / by), wide);
    return (Z){e_conv(e, t, wide.re), e_conv(e, t, wide.im)};
}

static Z z_math(Eval *e, MathFn f, Type t, Z z) {
    switch (f) {
    case MATH_EXP: return z_exp(e, t, z);
    case MATH_LOG: return z_log(e, t, z);
    case MATH_LOG2: return over_constant(e, t, z_log(e, t, z), 0.69314718055994530942);
    case MATH_LOG10: return over_constant(e, t, z_log(e, t, z), 2.30258509299404568402);
    case MATH_SQRT: return z_sqrt(e, t, z);
    case MATH_SINH: return z_sinh(e, t, z);
    case MATH_COSH: return z_cosh(e, t, z);
    case MATH_TANH: return z_tanh(e, t, z);
    case MATH_SIN: return turned_back(e, t, z_sinh(e, t, turned(e, t, z)));
    case MATH_COS: return z_cosh(e, t, turned(e, t, z));
    case MATH_ACOS: return z_acos(e, t, z);
    case MATH_ACOSH: return z_acosh(e, t, z);
    case MATH_ASINH: return z_asinh(e, t, z);
    case MATH_ATANH: return z_atanh(e, t, z);
    case MATH_ASIN: return turned_back(e, t, z_asinh(e, t, turned(e, t, z)));
    case MATH_ATAN: return turned_back(e, t, z_atanh(e, t, turned(e, t, z)));
    default: return turned_back(e, t, z_tanh(e, t, turned(e, t, z)));
    }
}

bool complex_math_known(MathFn f) {
    switch (f) {
    case MATH_EXP:
    case MATH_LOG:
    case MATH_LOG2:
    case MATH_LOG10:
    case MATH_SQRT:
    case MATH_SINH:
    case MATH_COSH:
    case MATH_TANH:
    case MATH_SIN:
    case MATH_COS:
    case MATH_TAN:
    case MATH_ASIN:
    case MATH_ACOS:
    case MATH_ATAN:
    case MATH_ASINH:
    case MATH_ACOSH:
    case MATH_ATANH: return true;
    default: return false;
    }
}

Val complex_math(Eval *e, MathFn f, Val x) {
    Type t = dtype_info[x.ty->dtype].ir;
    Ref re = val_re(e, x), im = val_im(e, x);
    Z r = z_math(e, f, t, (Z){re, im});
    return val_complex(e, val_sc(x), r.re, r.im);
}

/* ---- cmath: a typed argument of at most 64 bits gives complex64, a Python number a Python complex -------------- */
static bool one_complex(Eval *e, const CallSite *site, uint32_t n, const Val *args, Val *z) {
    if (!bind_args(e, site, n, args, 1, z) || !want_scalars(e, site, 1, z, false)) return false;
    DType d = val_dtype(*z);
    bool single = d == DT_C64 || (dt_is_float(d) && d != DT_F64);
    bool weak = z->ty->weak || (!single && !e_numba(e) && !dt_is_float(d) && !dt_is_complex(d));
    *z = val_convert(e, *z, SCALAR(single ? DT_C64 : DT_C128, weak));
    return true;
}

Val fn_cmath1(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val z;
    return one_complex(e, site, n, args, &z) ? complex_math(e, (MathFn)site->fn->param, z) : val_poison(e);
}

Val fn_cmath_log(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/z", "/?base"};
    Val v[2];
    if (!call_bind(e, site, n, args, 2, params, v)) return val_poison(e);
    CallSite plain = *site;
    plain.arg_spans = NULL;
    plain.nkw = 0;
    for (uint32_t i = 0; i < 2 && v[i].ty; i++) {
        Val z;
        if (!one_complex(e, &plain, 1, &v[i], &z)) return val_poison(e);
        v[i] = complex_math(e, MATH_LOG, z);
    }
    return v[1].ty ? eval_binary(e, site->span, PYB_TRUEDIV, v[0], v[1]) : v[0];
}

static Val real_part(Eval *e, Val z, Ref r) { return val_of(e, SCALAR(dtype_info[z.ty->dtype].part, z.ty->weak), r); }

/* param: 0 phase, 1 polar */
Val fn_cmath_polar(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val z;
    if (!one_complex(e, site, n, args, &z)) return val_poison(e);
    Type t = dtype_info[z.ty->dtype].ir;
    Ref re = val_re(e, z), im = val_im(e, z);
    Val phase = real_part(e, z, e_math2(e, MATH_ATAN2, t, im, re));
    if (!site->fn->param) return phase;
    Val length = real_part(e, z, e_math2(e, MATH_HYPOT, t, re, im));
    return val_tuple(e, 2, (Val[]){length, phase});
}

Val fn_cmath_rect(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val v[2];
    if (!bind_args(e, site, n, args, 2, v) || !want_scalars(e, site, 2, v, true)) return val_poison(e);
    Scalar s = math_scalar(e, 2, v);
    DType d = (DType)s.dtype;
    Type t = float_type(d);
    Ref r = float_ref(e, v[0], d), phi = float_ref(e, v[1], d);
    Ref c = e_math1(e, MATH_COS, t, phi), sine = e_math1(e, MATH_SIN, t, phi);
    Ref zero = e_float(e, t, 0), nowhere = e_op2(e, OP_AND, T_BOOL, is_nan(e, c), e_cmp(e, PRED_EQ, r, zero));
    Ref re = e_select(e, t, nowhere, zero, real_product(e, t, r, c));
    Ref im = e_select(e, t, nowhere, zero, product(e, t, r, sine)); /* of no length, in no direction: 0, as in Python */
    return val_complex(e, SCALAR(t == T_F64 ? DT_C128 : DT_C64, s.weak), re, im);
}

/* param: 0 isnan, 1 isinf, 2 isfinite */
Val fn_cmath_test(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val z;
    if (!one_complex(e, site, n, args, &z)) return val_poison(e);
    Type t = dtype_info[z.ty->dtype].ir;
    Ref part[2] = {REF_NONE, REF_NONE};
    for (int i = 0; i < 2; i++) {
        Ref x = i ? val_im(e, z) : val_re(e, z);
        part[i] = site->fn->param == 0 ? is_nan(e, x) : site->fn->param == 1 ? is_inf(e, t, x) : is_finite(e, t, x);
    }
    return val_rt_bool(e, e_op2(e, site->fn->param == 2 ? OP_AND : OP_OR, T_BOOL, part[0], part[1]));
}
