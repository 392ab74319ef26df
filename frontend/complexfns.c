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

/* A real number stays one: inf * sin(0) would be nan. */
static Z z_exp(Eval *e, Type t, Z z) {
    Ref zero = e_float(e, t, 0), size = e_math1(e, MATH_EXP, t, z.re);
    Ref c = e_math1(e, MATH_COS, t, z.im), s = e_math1(e, MATH_SIN, t, z.im);
    Z r = z_scale(e, t, size, (Z){c, s});
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

/* The root of the half sum, scaled by 8 against overflow; the other part is the quotient, which loses nothing. */
static Z z_sqrt(Eval *e, Type t, Z z) {
    Ref eighth = e_float(e, t, 0.125), zero = e_float(e, t, 0), two = e_float(e, t, 2);
    Ref ax = e_op2(e, OP_MUL, t, e_op1(e, OP_ABS, t, z.re), eighth), ay = e_op1(e, OP_ABS, t, z.im);
    Ref length = e_math2(e, MATH_HYPOT, t, ax, e_op2(e, OP_MUL, t, ay, eighth));
    Ref s = e_op2(e, OP_MUL, t, two, e_math1(e, MATH_SQRT, t, e_op2(e, OP_ADD, t, ax, length)));
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
    Ref re = e_op2(e, OP_MUL, t, s, cy), im = e_op2(e, OP_MUL, t, c, sy);
    return (Z){re, im};
}

static Z z_cosh(Eval *e, Type t, Z z) {
    Ref s = e_math1(e, MATH_SINH, t, z.re), c = e_math1(e, MATH_COSH, t, z.re);
    Ref cy = e_math1(e, MATH_COS, t, z.im), sy = e_math1(e, MATH_SIN, t, z.im);
    Ref re = e_op2(e, OP_MUL, t, c, cy), im = e_op2(e, OP_MUL, t, s, sy);
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
    Ref tail = e_op2(e, OP_MUL, t, e_op2(e, OP_MUL, t, four, e_op2(e, OP_MUL, t, c, sy)), fade);
    Ref large = e_cmp(e, PRED_GT, ax, limit), unit = e_math2(e, MATH_COPYSIGN, t, one, z.re);
    re = e_select(e, t, large, unit, re);
    return (Z){re, e_select(e, t, large, tail, im)};
}

/* sin z = -i sinh(iz), cos z = cosh(iz), tan z = -i tanh(iz) */
static Z turned(Eval *e, Type t, Z z) { return (Z){e_op1(e, OP_NEG, t, z.im), z.re}; }
static Z turned_back(Eval *e, Type t, Z z) { return (Z){z.im, e_op1(e, OP_NEG, t, z.re)}; }

static Z over_constant(Eval *e, Type t, Z z, double by) { return z_scale(e, t, e_float(e, t, 1 / by), z); }

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
    case MATH_TAN: return true;
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
    Z z = z_scale(e, t, r, (Z){c, sine});
    return val_complex(e, SCALAR(t == T_F64 ? DT_C128 : DT_C64, s.weak), z.re, z.im);
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
