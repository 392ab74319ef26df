/* npfns.c - numpy's elementwise functions on scalars, with the types of the ufuncs' loops.
 *
 * Results are typed, also for Python numbers: np.sqrt(2.0) is a float64, as in NumPy. */
#include "devfns.h"
#include "promote.h"

#include <math.h>

static bool loop1(Eval *e, const CallSite *site, unsigned loops, uint32_t n, const Val *args, Val *x, DType *d) {
    if (!bind_args(e, site, n, args, 1, x) || !ufunc_loop(e, site, loops, 1, x, d)) return false;
    *x = loop_arg(e, site, 0, *x, *d);
    return !ty_is(x->ty, TY_POISON);
}

static bool loop2(Eval *e, const CallSite *site, unsigned loops, uint32_t n, const Val *args, Val *x, DType *d) {
    if (!bind_args(e, site, n, args, 2, x) || !ufunc_loop(e, site, loops, 2, x, d)) return false;
    for (uint32_t i = 0; i < 2; i++) x[i] = loop_arg(e, site, i, x[i], *d);
    return !ty_is(x[0].ty, TY_POISON) && !ty_is(x[1].ty, TY_POISON);
}

/* One float loop: the value in the type that computes. */
static bool float1(Eval *e, const CallSite *site, uint32_t n, const Val *args, DType *d, Type *t, Ref *r) {
    Val x;
    if (!loop1(e, site, LOOP_FLOAT, n, args, &x, d)) return false;
    *t = float_type(*d);
    *r = float_ref(e, x, *d);
    return true;
}

static bool float2(Eval *e, const CallSite *site, uint32_t n, const Val *args, DType *d, Type *t, Ref *r) {
    Val x[2];
    if (!loop2(e, site, LOOP_FLOAT, n, args, x, d)) return false;
    *t = float_type(*d);
    for (int i = 0; i < 2; i++) r[i] = float_ref(e, x[i], *d);
    return true;
}

static Val typed_bool(Eval *e, Ref r) { return val_typed(e, DT_BOOL, r); }
static Val known_bool(Eval *e, bool b) { return val_const_int(e, typed(DT_BOOL), b); }

Val fn_np_math1(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    DType d;
    MathFn f = (MathFn)site->fn->param;
    unsigned loops = LOOP_FLOAT | (complex_math_known(f) ? LOOP_COMPLEX : 0u);
    if (!loop1(e, site, loops, n, args, &x, &d)) return val_poison(e);
    if (dt_is_complex(d)) return complex_math(e, f, x);
    Val folded = fold_math(e, f, typed(d), 1, &x);
    return folded.ty ? folded : float_val(e, typed(d), e_math1(e, f, float_type(d), float_ref(e, x, d)));
}

Val fn_np_math2(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    DType d;
    Type t;
    Ref r[2];
    if (!float2(e, site, n, args, &d, &t, r)) return val_poison(e);
    return float_val(e, typed(d), e_math2(e, (MathFn)site->fn->param, t, r[0], r[1]));
}

/* floor, ceil, trunc: integers stay as they are. */
Val fn_np_whole(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    DType d;
    if (!loop1(e, site, LOOP_BOOL | LOOP_REAL, n, args, &x, &d)) return val_poison(e);
    if (!dt_is_float(d)) return x;
    MathFn f = (MathFn)site->fn->param;
    Val folded = fold_math(e, f, typed(d), 1, &x);
    return folded.ty ? folded : float_val(e, typed(d), e_math1(e, f, float_type(d), float_ref(e, x, d)));
}

/* ---- operators -------------------------------------------------------------------------------------------- */

/* Python numbers among themselves are typed first; beside typed operands they stay weak. */
static void type_all_weak(Eval *e, uint32_t n, Val *v) {
    for (uint32_t i = 0; i < n; i++)
        if (!val_is_scalar(v[i]) || !is_weak(v[i])) return;
    for (uint32_t i = 0; i < n; i++) v[i] = val_convert(e, v[i], typed(val_dtype(v[i])));
}

static unsigned operator_loops(PyBinary op) {
    switch (op) {
    case PYB_ADD:
    case PYB_MUL: return LOOP_BOOL | LOOP_NUMBER;
    case PYB_TRUEDIV: return LOOP_FLOAT | LOOP_COMPLEX;
    case PYB_FLOORDIV:
    case PYB_MOD: return LOOP_REAL;
    case PYB_LSHIFT:
    case PYB_RSHIFT: return LOOP_INT;
    case PYB_AND:
    case PYB_OR:
    case PYB_XOR: return LOOP_BOOL | LOOP_INT;
    default: return LOOP_NUMBER;
    }
}

/* Numba's ufuncs keep the widths that its operators widen. */
static Val numba_binary(Eval *e, const CallSite *site, PyBinary op, Val *x) {
    DType d;
    if (!ufunc_loop(e, site, operator_loops(op), 2, x, &d)) return val_poison(e);
    for (int i = 0; i < 2; i++) x[i] = val_convert(e, x[i], typed(d));
    return eval_arith(e, op, typed(d), x[0], x[1]);
}

static Val np_binary(Eval *e, const CallSite *site, PyBinary op, Val *x) {
    if (!want_scalars(e, site, 2, x, false)) return val_poison(e);
    if (e_numba(e)) return numba_binary(e, site, op, x);
    type_all_weak(e, 2, x);
    return eval_binary(e, site->span, op, x[0], x[1]);
}

Val fn_np_binary(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    if (!bind_args(e, site, n, args, 2, x)) return val_poison(e);
    if (x[0].ty->kind == TY_TIME || x[1].ty->kind == TY_TIME)
        return eval_binary(e, site->span, (PyBinary)site->fn->param, x[0], x[1]);
    return np_binary(e, site, (PyBinary)site->fn->param, x);
}

Val fn_np_divmod(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    if (!bind_args(e, site, n, args, 2, x)) return val_poison(e);
    Val items[2] = {np_binary(e, site, PYB_FLOORDIV, x), np_binary(e, site, PYB_MOD, x)};
    if (ty_is(items[0].ty, TY_POISON) || ty_is(items[1].ty, TY_POISON)) return val_poison(e);
    return val_tuple(e, 2, items);
}

Val fn_np_float_power(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    DType d;
    if (!bind_args(e, site, n, args, 2, x) || !ufunc_loop(e, site, LOOP_FLOAT | LOOP_COMPLEX, 2, x, &d))
        return val_poison(e);
    Scalar s = typed(dt_is_complex(d) ? DT_C128 : DT_F64);
    for (int i = 0; i < 2; i++) x[i] = val_convert(e, x[i], s);
    return eval_arith(e, PYB_POW, s, x[0], x[1]);
}

/* param: PyUnary */
Val fn_np_unary(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    DType d;
    PyUnary op = (PyUnary)site->fn->param;
    unsigned loops = op == PYU_INVERT ? LOOP_BOOL | LOOP_INT : LOOP_NUMBER | LOOP_NO_BOOL;
    if (!loop1(e, site, loops, n, args, &x, &d)) return val_poison(e);
    return val_convert(e, eval_unary(e, site->span, op, x), typed(d));
}

static Ref both(Eval *e, Ref a, Ref b) { return e_op2(e, OP_AND, T_BOOL, a, b); }
static Ref either(Eval *e, Ref a, Ref b) { return e_op2(e, OP_OR, T_BOOL, a, b); }
static Ref complex_is_nan(Eval *e, Val x) { return either(e, is_nan(e, val_re(e, x)), is_nan(e, val_im(e, x))); }

/* NumPy's order of complex numbers: by the real parts, where these are equal by the imaginary ones; a nan has none. */
static Ref complex_ordered(Eval *e, PyCompare op, Val a, Val b) {
    bool less = op == PYC_LT || op == PYC_LE;
    Pred strict = less ? PRED_LT : PRED_GT, last = op == PYC_LE ? PRED_LE : op == PYC_GE ? PRED_GE : strict;
    Ref ar = val_re(e, a), br = val_re(e, b), ai = val_im(e, a), bi = val_im(e, b);
    Ref numbers = both(e, e_cmp(e, PRED_EQ, ai, ai), e_cmp(e, PRED_EQ, bi, bi));
    Ref first = both(e, e_cmp(e, strict, ar, br), numbers);
    return either(e, first, both(e, e_cmp(e, PRED_EQ, ar, br), e_cmp(e, last, ai, bi)));
}

static bool any_complex(uint32_t n, const Val *x) {
    bool any = false;
    for (uint32_t i = 0; i < n; i++) any |= val_is_scalar(x[i]) && dt_is_complex(val_dtype(x[i]));
    return any;
}

Val fn_np_compare(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    DType d;
    PyCompare op = (PyCompare)site->fn->param;
    if (op != PYC_EQ && op != PYC_NE && n == 2 && !site->nkw && any_complex(2, args)) {
        if (!loop2(e, site, LOOP_NUMBER, n, args, x, &d)) return val_poison(e);
        return val_typed(e, DT_BOOL, complex_ordered(e, op, x[0], x[1]));
    }
    if (!bind_args(e, site, n, args, 2, x)) return val_poison(e);
    bool time = x[0].ty->kind == TY_TIME || x[1].ty->kind == TY_TIME;
    if (!time && !want_scalars(e, site, 2, x, false)) return val_poison(e);
    Val v = eval_compare(e, site->span, (PyCompare)site->fn->param, x[0], x[1]);
    return ty_is(v.ty, TY_POISON) ? v : val_convert(e, v, typed(DT_BOOL));
}

/* param: OP_AND, OP_OR, OP_XOR */
Val fn_np_logical(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    if (!bind_args(e, site, n, args, 2, x) || !want_scalars(e, site, 2, x, false)) return val_poison(e);
    Ref a = val_ref(e, eval_truth(e, site->span, x[0])), b = val_ref(e, eval_truth(e, site->span, x[1]));
    return typed_bool(e, e_op2(e, (Op)site->fn->param, T_BOOL, a, b));
}

Val fn_np_logical_not(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    if (!bind_args(e, site, n, args, 1, &x) || !want_scalars(e, site, 1, &x, false)) return val_poison(e);
    return val_convert(e, eval_not(e, site->span, x), typed(DT_BOOL));
}

static Val complex_minmax(Eval *e, bool max, bool skips_nan, DType d, const Val *x) {
    Type t = dtype_info[d].ir;
    Ref first =
        either(e, complex_ordered(e, max ? PYC_GE : PYC_LE, x[0], x[1]), complex_is_nan(e, x[skips_nan ? 1 : 0]));
    Ref re = e_select(e, t, first, val_re(e, x[0]), val_re(e, x[1]));
    return val_complex(e, typed(d), re, e_select(e, t, first, val_im(e, x[0]), val_im(e, x[1])));
}

/* param: the operation on floats; integers know two, bools and/or. */
Val fn_np_minmax(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    DType d;
    Op op = (Op)site->fn->param;
    if (!loop2(e, site, LOOP_BOOL | LOOP_NUMBER, n, args, x, &d)) return val_poison(e);
    bool max = op == OP_NANMAX || op == OP_FMAX;
    if (dt_is_complex(d)) return complex_minmax(e, max, op == OP_FMAX || op == OP_FMIN, d, x);
    if (d == DT_BOOL) op = max ? OP_OR : OP_AND;
    else if (dt_is_int(d)) op = max ? OP_MAX : OP_MIN;
    return val_typed(e, d, e_op2_of(e, op, dtype_info[d].ir, x[0], x[1]));
}

/* ---- sign and size ------------------------------------------------------------------------------------------ */
Val fn_np_absolute(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    DType d;
    Val delta = n == 1 ? time_abs(e, args[0]) : (Val){0};
    if (delta.ty) return delta;
    if (!loop1(e, site, LOOP_BOOL | LOOP_NUMBER, n, args, &x, &d)) return val_poison(e);
    if (dt_is_complex(d)) return complex_abs(e, x);
    if (d == DT_BOOL || dtype_info[d].kind == DK_UINT) return x;
    return val_typed(e, d, e_op1(e, OP_ABS, dtype_info[d].ir, val_ref(e, x)));
}

Val fn_np_fabs(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    DType d;
    Type t;
    Ref r;
    if (!float1(e, site, n, args, &d, &t, &r)) return val_poison(e);
    return float_val(e, typed(d), e_op1(e, OP_ABS, t, r));
}

/* z / |z|, 0 for 0; with one infinite part its sign, with two, or nan and none, nan. */
static Val complex_sign(Eval *e, DType d, Val z) {
    Type t = dtype_info[dtype_info[d].part].ir;
    Ref part[2] = {val_re(e, z), val_im(e, z)}, size = val_ref(e, complex_abs(e, z)), zero = e_float(e, t, 0);
    Ref endless[2] = {is_inf(e, t, part[0]), is_inf(e, t, part[1])}, far = is_inf(e, t, size);
    Ref none = e_cmp(e, PRED_EQ, size, zero), lost = e_op2(e, OP_AND, T_BOOL, endless[0], endless[1]), sign[2];
    lost = e_op2(e, OP_OR, T_BOOL, lost, is_nan(e, size));
    for (int i = 0; i < 2; i++) {
        Ref unit = e_math2(e, MATH_COPYSIGN, t, e_float(e, t, 1), part[i]);
        Ref near = e_op2(e, OP_DIV, t, part[i], size), ends = e_select(e, t, endless[i], unit, zero);
        sign[i] = e_select(e, t, none, zero, e_select(e, t, far, ends, near));
        sign[i] = e_select(e, t, lost, e_float(e, t, NAN), sign[i]);
    }
    return val_complex(e, typed(d), sign[0], sign[1]);
}

Val fn_np_sign(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    DType d;
    if (!loop1(e, site, LOOP_NUMBER | LOOP_NO_BOOL, n, args, &x, &d)) return val_poison(e);
    if (dt_is_complex(d)) return complex_sign(e, d, x);
    Type t = dtype_info[d].ir;
    bool is_float = dt_is_float(d);
    Ref r = val_ref(e, x), zero = is_float ? e_float(e, t, 0) : e_int(e, t, 0);
    Ref one = is_float ? e_float(e, t, 1) : e_int(e, t, 1), minus = is_float ? e_float(e, t, -1) : e_int(e, t, -1);
    Ref below = e_select(e, t, e_cmp(e, PRED_LT, r, zero), minus, zero);
    Ref s = e_select(e, t, e_cmp(e, PRED_GT, r, zero), one, below);
    return val_typed(e, d, is_float ? e_select(e, t, is_nan(e, r), r, s) : s);
}

Val fn_np_square(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    DType d;
    if (!loop1(e, site, LOOP_NUMBER, n, args, &x, &d)) return val_poison(e);
    return eval_arith(e, PYB_MUL, typed(d), x, x);
}

Val fn_np_reciprocal(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    DType d;
    if (!loop1(e, site, LOOP_NUMBER, n, args, &x, &d)) return val_poison(e);
    Type t = dtype_info[d].ir;
    if (dt_is_int(d)) return val_typed(e, d, e_op2_of(e, OP_TRUNCDIV, t, val_const_int(e, typed(d), 1), x));
    return eval_arith(e, PYB_TRUEDIV, typed(d), val_convert(e, val_int(e, 1), typed(d)), x);
}

Val fn_np_conjugate(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    DType d;
    if (!loop1(e, site, LOOP_NUMBER, n, args, &x, &d)) return val_poison(e);
    if (!dt_is_complex(d)) return x;
    Ref re = val_re(e, x), im = val_im(e, x);
    return val_complex(e, typed(d), re, e_op1(e, OP_NEG, dtype_info[d].ir, im));
}

Val fn_np_heaviside(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    DType d;
    Type t;
    Ref r[2];
    if (!float2(e, site, n, args, &d, &t, r)) return val_poison(e);
    Ref zero = e_float(e, t, 0), one = e_float(e, t, 1);
    Ref step = e_select(e, t, e_cmp(e, PRED_LT, r[0], zero), zero, one);
    step = e_select(e, t, e_cmp(e, PRED_EQ, r[0], zero), r[1], step);
    return float_val(e, typed(d), e_select(e, t, is_nan(e, r[0]), r[0], step));
}

Val fn_np_fmod(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    DType d;
    if (!loop2(e, site, LOOP_REAL, n, args, x, &d)) return val_poison(e);
    return val_typed(e, d, e_op2_of(e, OP_TRUNCMOD, dtype_info[d].ir, x[0], x[1]));
}

/* param: 0 degrees, 1 radians */
Val fn_np_angle_unit(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    DType d;
    Type t;
    Ref r;
    if (!float1(e, site, n, args, &d, &t, &r)) return val_poison(e);
    double scale = site->fn->param ? 3.14159265358979323846 / 180 : 180 / 3.14159265358979323846;
    return float_val(e, typed(d), e_op2(e, OP_MUL, t, r, e_float(e, t, scale)));
}

/* log(exp(a) + exp(b)), without the sums that overflow. param: 0 base e, 1 base 2 */
Val fn_np_logaddexp(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    DType d;
    Type t;
    Ref r[2];
    bool base2 = site->fn->param;
    if (!float2(e, site, n, args, &d, &t, r)) return val_poison(e);
    Ref diff = e_op1(e, OP_NEG, t, e_op1(e, OP_ABS, t, e_op2(e, OP_SUB, t, r[0], r[1])));
    Ref rest = e_math1(e, MATH_LOG1P, t, e_math1(e, base2 ? MATH_EXP2 : MATH_EXP, t, diff));
    if (base2) rest = e_op2(e, OP_MUL, t, rest, e_float(e, t, 1.4426950408889634074));
    Ref sum = e_op2(e, OP_ADD, t, e_op2(e, OP_NANMAX, t, r[0], r[1]), rest);
    Ref twice = e_op2(e, OP_ADD, t, r[0], e_float(e, t, base2 ? 1 : 0.69314718055994530942));
    return float_val(e, typed(d), e_select(e, t, e_cmp(e, PRED_EQ, r[0], r[1]), twice, sum));
}

/* Rounded to the type after each step, as NumPy does; integers become float64. */
Val fn_np_sinc(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    DType d;
    if (!loop1(e, site, LOOP_BOOL | LOOP_REAL, n, args, &x, &d)) return val_poison(e);
    if (is_integral(x)) d = DT_F64;
    Scalar s = typed(d);
    Val y = eval_arith(e, PYB_MUL, s, val_convert(e, x, s), val_const_float(e, s, 3.14159265358979323846, 0));
    Val sine = float_val(e, s, e_math1(e, MATH_SIN, float_type(d), float_ref(e, y, d)));
    Val q = eval_arith(e, PYB_TRUEDIV, s, sine, y);
    Type t = dtype_info[d].ir;
    Ref yr = val_ref(e, y), qr = val_ref(e, q), at_zero = e_cmp(e, PRED_EQ, yr, e_float(e, t, 0));
    return val_typed(e, d, e_select(e, t, at_zero, e_float(e, t, 1), qr));
}

/* ---- tests --------------------------------------------------------------------------------------------------- */
enum { TEST_NAN, TEST_INF, TEST_FINITE };

static Ref test_part(Eval *e, unsigned test, Type t, Ref x) {
    return test == TEST_NAN ? is_nan(e, x) : test == TEST_INF ? is_inf(e, t, x) : is_finite(e, t, x);
}

Val fn_np_test(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    DType d;
    unsigned test = site->fn->param;
    if (!loop1(e, site, LOOP_BOOL | LOOP_NUMBER, n, args, &x, &d)) return val_poison(e);
    if (is_integral(x)) return known_bool(e, test == TEST_FINITE);
    if (!dt_is_complex(d)) return typed_bool(e, test_part(e, test, float_type(d), float_ref(e, x, d)));
    Type t = dtype_info[d].ir;
    Ref re = test_part(e, test, t, val_re(e, x)), im = test_part(e, test, t, val_im(e, x));
    return typed_bool(e, e_op2(e, test == TEST_FINITE ? OP_AND : OP_OR, T_BOOL, re, im));
}

/* param: 0 +inf, 1 -inf */
Val fn_np_is_signed_inf(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    DType d;
    if (!loop1(e, site, LOOP_BOOL | LOOP_REAL, n, args, &x, &d)) return val_poison(e);
    if (is_integral(x)) return known_bool(e, false);
    Type t = float_type(d);
    Ref r = float_ref(e, x, d), end = e_float(e, t, site->fn->param ? -INFINITY : INFINITY);
    return typed_bool(e, e_cmp(e, PRED_EQ, r, end));
}

Val fn_np_signbit(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    DType d;
    Type t;
    Ref r;
    if (!float1(e, site, n, args, &d, &t, &r)) return val_poison(e);
    return typed_bool(e, sign_bit(e, t, r));
}

Val fn_np_isclose(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"a", "b", "?rtol", "?atol", "?equal_nan"};
    Val v[5];
    DType d;
    Wide equal_nan = 0;
    if (!call_bind(e, site, n, args, 5, params, v) || !ufunc_loop(e, site, LOOP_BOOL | LOOP_REAL, 2, v, &d))
        return val_poison(e);
    if (!v[2].ty) v[2] = val_float(e, 1e-5);
    if (!v[3].ty) v[3] = val_float(e, 1e-8);
    if (!want_scalars(e, site, 4, v, true)) return val_poison(e);
    if (v[4].ty && !val_as_int(v[4], &equal_nan))
        return e_fail(e, site->span, NULL, DIAG_ARG_CONSTANT, site->name, "equal_nan", e_text(e, v[4]));
    if (!dt_is_float(d)) d = DT_F64;
    Type t = float_type(d);
    Ref x[4];
    for (int i = 0; i < 4; i++) x[i] = float_ref(e, v[i], d);
    Ref diff = e_op1(e, OP_ABS, t, e_op2(e, OP_SUB, t, x[0], x[1]));
    Ref limit = e_op2(e, OP_ADD, t, x[3], e_op2(e, OP_MUL, t, x[2], e_op1(e, OP_ABS, t, x[1])));
    Ref within = e_cmp(e, PRED_LE, diff, limit), near = e_op2(e, OP_AND, T_BOOL, within, is_finite(e, t, x[1]));
    near = e_op2(e, OP_OR, T_BOOL, near, e_cmp(e, PRED_EQ, x[0], x[1]));
    if (!equal_nan) return typed_bool(e, near);
    Ref a_nan = is_nan(e, x[0]), b_nan = is_nan(e, x[1]);
    near = e_op2(e, OP_OR, T_BOOL, near, e_op2(e, OP_AND, T_BOOL, a_nan, b_nan));
    return typed_bool(e, near);
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */
Val fn_np_modf(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    DType d;
    Type t;
    Ref r;
    if (!float1(e, site, n, args, &d, &t, &r)) return val_poison(e);
    Ref whole = e_math1(e, MATH_TRUNC, t, r);
    Val frac = float_val(e, typed(d), part_frac(e, t, r, whole));
    return val_tuple(e, 2, (Val[]){frac, float_val(e, typed(d), whole)});
}

Val fn_np_frexp(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    DType d;
    Type t;
    Ref r, mantissa, exponent;
    if (!float1(e, site, n, args, &d, &t, &r)) return val_poison(e);
    part_frexp(e, t, r, &mantissa, &exponent);
    return val_tuple(e, 2, (Val[]){float_val(e, typed(d), mantissa), val_typed(e, DT_I32, exponent)});
}

Val fn_np_ldexp(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    DType d;
    if (!bind_args(e, site, n, args, 2, x) || !want_scalars(e, site, 2, x, true)) return val_poison(e);
    if (!is_integral(x[1]) || val_dtype(x[1]) == DT_U64)
        return bad_arg(e, site, 1, x[1], "the exponent is a signed integer");
    if (!ufunc_loop(e, site, LOOP_FLOAT, 1, x, &d)) return val_poison(e);
    if (is_weak(x[0]) && is_integral(x[0]) && !is_weak(x[1]))
        d = DT_F16; /* NumPy's first loop holds any Python integer */
    Ref r = float_ref(e, x[0], d), exponent = val_conv_ref(e, x[1], DT_I64);
    return float_val(e, typed(d), part_ldexp(e, float_type(d), r, exponent));
}

Val fn_np_nextafter(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    DType d;
    if (!loop2(e, site, LOOP_FLOAT, n, args, x, &d)) return val_poison(e);
    Ref from = val_ref(e, x[0]), to = val_ref(e, x[1]);
    return val_typed(e, d, part_nextafter(e, dtype_info[d].ir, from, to));
}

Val fn_np_spacing(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    DType d;
    if (!loop1(e, site, LOOP_FLOAT, n, args, &x, &d)) return val_poison(e);
    return val_typed(e, d, part_spacing(e, dtype_info[d].ir, val_ref(e, x)));
}

/* param: 0 real, 1 imag. Python numbers stay weak, as NumPy hands them back. */
Val fn_np_part(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    if (!bind_args(e, site, n, args, 1, &x) || !want_scalars(e, site, 1, &x, false)) return val_poison(e);
    return eval_attr(e, site->span, x, site->fn->param ? "imag" : "real");
}

/* param: 0 is it real, 1 has it an imaginary part */
Val fn_np_is_complex(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    bool asked = site->fn->param;
    if (!bind_args(e, site, n, args, 1, &x) || !want_scalars(e, site, 1, &x, false)) return val_poison(e);
    Scalar s = SCALAR(DT_BOOL, is_weak(x) && !asked); /* as NumPy does */
    if (!dt_is_complex(val_dtype(x))) return val_const_int(e, s, !asked);
    Type part = dtype_info[dtype_info[val_dtype(x)].part].ir;
    return val_of(e, s, e_cmp(e, asked ? PRED_NE : PRED_EQ, val_im(e, x), e_float(e, part, 0)));
}

Val fn_np_angle(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"z", "?deg"};
    Val v[2];
    DType d;
    Wide deg = 0;
    if (!call_bind(e, site, n, args, 2, params, v) || !ufunc_loop(e, site, LOOP_FLOAT | LOOP_COMPLEX, 1, v, &d))
        return val_poison(e);
    if (v[1].ty && !val_as_int(v[1], &deg))
        return e_fail(e, site->span, NULL, DIAG_ARG_CONSTANT, site->name, "deg", e_text(e, v[1]));
    if (v[0].ty->dtype == DT_BOOL) d = DT_F64;
    Val z = val_convert(e, v[0], typed(d));
    DType part = dtype_info[d].part;
    Type t = float_type(part);
    bool complex = dt_is_complex(d);
    Ref im = complex ? val_im(e, z) : e_float(e, t, 0), re = complex ? val_re(e, z) : float_ref(e, z, d);
    Ref r = e_math2(e, MATH_ATAN2, t, im, re);
    if (deg) r = e_op2(e, OP_MUL, t, r, e_float(e, t, 180 / 3.14159265358979323846));
    return float_val(e, typed(part), r);
}

/* ---- integers ------------------------------------------------------------------------------------------------------
 */

/* param: 0 gcd, 1 lcm */
Val fn_np_gcd(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    DType d;
    Type t;
    if (!loop2(e, site, LOOP_INT | LOOP_NO_BOOL, n, args, x, &d)) return val_poison(e);
    Ref a = magnitude(e, dtype_info[d].ir, val_ref(e, x[0]), &t),
        b = magnitude(e, dtype_info[d].ir, val_ref(e, x[1]), &t);
    Ref r = part_gcd(e, t, a, b);
    if (site->fn->param) r = e_op2(e, OP_MUL, t, e_op2(e, OP_TRUNCDIV, t, a, r), b);
    return val_typed(e, d, e_conv(e, dtype_info[d].ir, r));
}

Val fn_np_bitwise_count(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    DType d;
    Type t;
    if (!loop1(e, site, LOOP_INT, n, args, &x, &d)) return val_poison(e);
    Ref m = magnitude(e, dtype_info[d].ir, val_ref(e, x), &t);
    return val_typed(e, DT_U8, e_conv(e, T_U8, e_op1(e, OP_POPC, t, m)));
}

/* ---- choosing
 * -------------------------------------------------------------------------------------------------------- */
/* np.where isn't a ufunc: Numba, too, types it as NumPy joins dtypes. */
static bool where_type(Eval *e, const CallSite *site, const Val *x, DType *out) {
    Scalar s;
    if (!e_numba(e)) return ufunc_loop(e, site, LOOP_BOOL | LOOP_NUMBER, 2, x, out);
    promote_common(DIALECT_NUMPY, typed(val_dtype(x[0])), typed(val_dtype(x[1])), &s);
    *out = (DType)s.dtype;
    return true;
}

Val fn_np_where(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/condition", "/x", "/y"};
    Val v[3];
    DType d;
    if (n == 1 && !site->nkw)
        return e_fail(e, site->span, "indices of what is true: how many isn't known, so count in a loop",
                      DIAG_MISSING_ARG, site->name, "x");
    if (!call_bind(e, site, n, args, 3, params, v)) return val_poison(e);
    if (!want_scalars(e, site, 3, v, false) || !where_type(e, site, v + 1, &d)) return val_poison(e);
    Val x = loop_arg(e, site, 1, v[1], d), y = loop_arg(e, site, 2, v[2], d);
    return eval_select(e, site->span, v[0], x, y);
}

static Val bounded(Eval *e, DType d, bool upper, Val x, Val bound) {
    Op op = dt_is_float(d) ? (upper ? OP_NANMIN : OP_NANMAX) : upper ? OP_MIN : OP_MAX;
    return val_typed(e, d, e_op2_of(e, op, dtype_info[d].ir, x, bound));
}

/* param: 0 the function, 1 the method */
Val fn_np_clip(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[][3] = {{"a", "?a_min", "?a_max"}, {"/self", "?min", "?max"}};
    Val v[3], given[3];
    uint32_t k = 0;
    DType d;
    if (!call_bind(e, site, n, args, 3, params[site->fn->param], v)) return val_poison(e);
    if (ty_is(v[0].ty, TY_NONE)) return e_fail(e, arg_span(site, 0), NULL, DIAG_ARG_TYPE, site->name, "None");
    for (int i = 0; i < 3; i++)
        if (v[i].ty && !ty_is(v[i].ty, TY_NONE)) given[k++] = v[i];
    if (!ufunc_loop(e, site, LOOP_REAL, k, given, &d)) return val_poison(e);
    Val x = loop_arg(e, site, 0, v[0], d);
    for (int i = 1; i < 3; i++) {
        if (!v[i].ty || ty_is(v[i].ty, TY_NONE)) continue;
        Val bound = loop_arg(e, site, (uint32_t)i, v[i], d);
        if (ty_is(bound.ty, TY_POISON) || ty_is(x.ty, TY_POISON)) return val_poison(e);
        x = bounded(e, d, i == 2, x, bound);
    }
    return x;
}

Val fn_np_round(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"a", "?decimals"};
    Val v[2];
    DType d;
    Wide digits = 0;
    if (!call_bind(e, site, n, args, 2, params, v) || !ufunc_loop(e, site, LOOP_REAL | LOOP_NO_BOOL, 1, v, &d))
        return val_poison(e);
    if (v[1].ty && (!val_as_int(v[1], &digits) || digits > 400 || digits < -400))
        return e_fail(e, site->span, NULL, DIAG_ARG_CONSTANT, site->name, "decimals", e_text(e, v[1]));
    Val x = val_convert(e, v[0], typed(d));
    if (dt_is_int(d)) return round_int(e, x, (int)digits);
    return float_val(e, typed(d), part_round(e, float_type(d), float_ref(e, x, d), (int)digits));
}

/* Infinities become the largest finite numbers unless said otherwise. */
Val fn_np_nan_to_num(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"x", "?copy", "?nan", "?posinf", "?neginf"};
    static const double largest[DT__COUNT] = {
        [DT_F16] = 65504, [DT_BF16] = 0x1.fep127, [DT_F32] = 0x1.fffffep127, [DT_F64] = 0x1.fffffffffffffp1023};
    Val v[5];
    DType d;
    if (!call_bind(e, site, n, args, 5, params, v) || !ufunc_loop(e, site, LOOP_BOOL | LOOP_REAL, 1, v, &d))
        return val_poison(e);
    Val x = val_convert(e, v[0], typed(d));
    if (!dt_is_float(d)) return x;
    Type t = float_type(d);
    Ref r = float_ref(e, x, d), by[3];
    for (uint32_t i = 2; i < 5; i++) {
        bool absent = !v[i].ty || ty_is(v[i].ty, TY_NONE);
        if (!absent && !want_scalars(e, site, 1, &v[i], true)) return val_poison(e);
        by[i - 2] = absent ? e_float(e, t, i == 2 ? 0 : i == 3 ? largest[d] : -largest[d]) : float_ref(e, v[i], d);
    }
    Ref out = e_select(e, t, is_nan(e, r), by[0], r);
    out = e_select(e, t, e_cmp(e, PRED_EQ, r, e_float(e, t, INFINITY)), by[1], out);
    out = e_select(e, t, e_cmp(e, PRED_EQ, r, e_float(e, t, -INFINITY)), by[2], out);
    return float_val(e, typed(d), out);
}
