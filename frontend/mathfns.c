/* mathfns.c - the functions of Python's math module.
 *
 * A typed float keeps its type; an integer or a Python number gives a Python float. Where CPython raises
 * (math.sqrt(-1.0)) the result is what IEEE 754 has: nan or an infinity. */
#include "devfns.h"
#include "evaluator.h"

#include <math.h>

/* One float argument as an IR value in the type of the result. */
static bool one_float(Eval *e, const CallSite *site, uint32_t n, const Val *args, Val *x, Scalar *s, Ref *r) {
    if (!bind_args(e, site, n, args, 1, x) || !want_scalars(e, site, 1, x, true)) return false;
    *s = math_scalar(e, 1, x);
    *r = float_ref(e, *x, (DType)s->dtype);
    return true;
}

static bool two_floats(Eval *e, const CallSite *site, uint32_t n, const Val *args, Val *x, Scalar *s, Ref *r) {
    if (!bind_args(e, site, n, args, 2, x) || !want_scalars(e, site, 2, x, true)) return false;
    *s = math_scalar(e, 2, x);
    for (int i = 0; i < 2; i++) r[i] = float_ref(e, x[i], (DType)s->dtype);
    return true;
}

/* numba-cuda has float16 versions of some functions; the others give float32. */
static bool numba_half(MathFn f) {
    switch (f) {
    case MATH_SIN:
    case MATH_COS:
    case MATH_EXP:
    case MATH_EXP2:
    case MATH_LOG:
    case MATH_LOG2:
    case MATH_LOG10:
    case MATH_SQRT:
    case MATH_FLOOR:
    case MATH_CEIL:
    case MATH_TRUNC: return true;
    default: return false;
    }
}

static Scalar result_of(Eval *e, MathFn f, Scalar s) {
    if (e_numba(e) && dtype_info[s.dtype].bits == 16 && !numba_half(f)) s.dtype = DT_F32;
    return s;
}

Val fn_math1(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    Scalar s;
    Ref r;
    MathFn f = (MathFn)site->fn->param;
    if (!one_float(e, site, n, args, &x, &s, &r)) return val_poison(e);
    Val folded = fold_math(e, f, s, 1, &x);
    if (folded.ty) return folded;
    return float_val(e, result_of(e, f, s), e_math1(e, f, float_type((DType)s.dtype), r));
}

/* Where numba-cuda has signatures of its own: atan2 and hypot of integers are float64, pow takes an int32 exponent. */
static Scalar numba_scalar2(MathFn f, const Val *x, Scalar s) {
    bool ints = is_integral(x[0]) && is_integral(x[1]);
    if ((f == MATH_ATAN2 || f == MATH_HYPOT) && ints) s.dtype = DT_F64;
    if (f == MATH_POW && val_dtype(x[1]) == DT_I32) {
        DType base = val_dtype(x[0]);
        bool single = dtype_info[base].bits <= 16 || base == DT_F32;
        s.dtype = single && base != DT_U16 ? DT_F32 : DT_F64;
    }
    return s;
}

Val fn_math2(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    MathFn f = (MathFn)site->fn->param;
    if (!bind_args(e, site, n, args, 2, x) || !want_scalars(e, site, 2, x, true)) return val_poison(e);
    Scalar s = math_scalar(e, 2, x);
    if (e_numba(e)) s = numba_scalar2(f, x, s);
    Val folded = fold_math(e, f, s, 2, x);
    if (folded.ty) return folded;
    DType d = (DType)s.dtype;
    Ref a = float_ref(e, x[0], d), b = float_ref(e, x[1], d);
    return float_val(e, s, e_math2(e, f, float_type(d), a, b));
}

Val fn_fabs(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    Scalar s;
    Ref r;
    double c;
    if (!one_float(e, site, n, args, &x, &s, &r)) return val_poison(e);
    if (val_as_double(x, &c)) return val_const_float(e, s, fabs(c), 0);
    return float_val(e, s, e_op1(e, OP_ABS, float_type((DType)s.dtype), r));
}

/* param: ApproxFn. What isn't computed in float32 is exact. */
Val fn_fast(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    ApproxFn f = (ApproxFn)site->fn->param;
    uint32_t want = approxfn_args[f];
    Val x[2];
    Ref r[2];
    if (!bind_args(e, site, n, args, want, x) || !want_scalars(e, site, want, x, true)) return val_poison(e);
    Scalar s = math_scalar(e, want, x);
    Type t = float_type((DType)s.dtype);
    for (uint32_t i = 0; i < want; i++) r[i] = float_ref(e, x[i], (DType)s.dtype);
    if (t == T_F32) return float_val(e, s, e_emit(e, OP_APPROX, t, want, r, (uint16_t)f, 0));
    if (approxfn_exact[f] != MATH__COUNT) return float_val(e, s, e_emit(e, OP_MATH, t, want, r, approxfn_exact[f], 0));
    Ref one = f == APPROX_RCP ? e_float(e, t, 1) : REF_NONE;
    return float_val(e, s, f == APPROX_RCP ? e_op2(e, OP_DIV, t, one, r[0]) : e_op2(e, OP_DIV, t, r[0], r[1]));
}

/* floor, ceil, trunc: a Python int; in Numba a float. */
Val fn_to_whole(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    Scalar s;
    Ref r;
    if (!one_float(e, site, n, args, &x, &s, &r)) return val_poison(e);
    if (!e_numba(e) && is_integral(x)) return to_python_int(e, x);
    MathFn f = (MathFn)site->fn->param;
    Val v = fold_math(e, f, SCALAR(DT_F64, s.weak), 1, &x);
    if (!v.ty) v = float_val(e, s, e_math1(e, f, float_type((DType)s.dtype), r));
    return e_numba(e) ? v : to_python_int(e, v);
}

Val fn_log(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/x", "/?base"};
    Val x[2];
    if (!call_bind(e, site, n, args, 2, params, x)) return val_poison(e);
    uint32_t given = x[1].ty ? 2 : 1;
    if (!want_scalars(e, site, given, x, true)) return val_poison(e);
    Scalar s = math_scalar(e, given, x);
    Val folded = fold_math(e, MATH_LOG, s, 1, &x[0]), base = {0};
    if (given == 2) base = fold_math(e, MATH_LOG, s, 1, &x[1]);
    if (folded.ty && (given == 1 || base.ty))
        return given == 1 ? folded : val_const_float(e, s, folded.f.re / base.f.re, 0);
    Type t = float_type((DType)s.dtype);
    Ref r = e_math1(e, MATH_LOG, t, float_ref(e, x[0], (DType)s.dtype));
    if (given == 2) r = e_op2(e, OP_DIV, t, r, e_math1(e, MATH_LOG, t, float_ref(e, x[1], (DType)s.dtype)));
    return float_val(e, result_of(e, MATH_LOG, s), r);
}

/* param: 0 degrees, 1 radians */
Val fn_angle_unit(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const double scale[] = {180.0 / 3.14159265358979323846, 3.14159265358979323846 / 180.0};
    Val x;
    Scalar s;
    Ref r;
    double c;
    if (!one_float(e, site, n, args, &x, &s, &r)) return val_poison(e);
    if (val_as_double(x, &c) && s.dtype == DT_F64) return val_const_float(e, s, c * scale[site->fn->param], 0);
    Type t = float_type((DType)s.dtype);
    if (e_numba(e) && dtype_info[s.dtype].bits == 16) s.dtype = DT_F32;
    return float_val(e, s, e_op2(e, OP_MUL, t, r, e_float(e, t, scale[site->fn->param])));
}

Val fn_fmod(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    Scalar s;
    Ref r[2];
    if (!two_floats(e, site, n, args, x, &s, r)) return val_poison(e);
    return float_val(e, s, e_op2(e, OP_TRUNCMOD, float_type((DType)s.dtype), r[0], r[1]));
}

Val fn_remainder(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    Scalar s;
    Ref r[2];
    if (!two_floats(e, site, n, args, x, &s, r)) return val_poison(e);
    return float_val(e, s, part_remainder(e, float_type((DType)s.dtype), r[0], r[1]));
}

Val fn_hypot(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    if (site->nkw) return e_fail(e, site->span, NULL, DIAG_UNKNOWN_KEYWORD, site->name, site->kwnames[0]);
    if (n == 0) return val_float(e, 0);
    if (!want_scalars(e, site, n, args, true)) return val_poison(e);
    Scalar s = math_scalar(e, n, args);
    if (e_numba(e) && n == 2) s = numba_scalar2(MATH_HYPOT, args, s);
    Ref *x = ARENA_ARRAY(e_arena(e), Ref, n);
    for (uint32_t i = 0; i < n; i++) x[i] = float_ref(e, args[i], (DType)s.dtype);
    return float_val(e, s, part_hypot(e, float_type((DType)s.dtype), n, x));
}

Val fn_dist(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val p[2];
    if (!bind_args(e, site, n, args, 2, p)) return val_poison(e);
    for (uint32_t i = 0; i < 2; i++)
        if (!ty_is(p[i].ty, TY_TUPLE)) return bad_arg(e, site, i, p[i], "write the points as tuples: (x, y)");
    if (p[0].ty->n != p[1].ty->n)
        return e_fail(e, site->span, NULL, DIAG_ARG_TYPES, site->name, e_text(e, p[0]), e_text(e, p[1]));
    Val *d = ARENA_ARRAY(e_arena(e), Val, p[0].ty->n + 1);
    for (uint32_t i = 0; i < p[0].ty->n; i++) {
        d[i] = eval_binary(e, site->span, PYB_SUB, p[0].items[i], p[1].items[i]);
        if (ty_is(d[i].ty, TY_POISON)) return d[i];
    }
    CallSite inner = *site;
    inner.nkw = 0;
    inner.arg_spans = NULL;
    return fn_hypot(e, &inner, p[0].ty->n, d);
}

/* ---- tests ------------------------------------------------------------------------------------------------ */
typedef enum Test { TEST_NAN, TEST_INF, TEST_FINITE } Test;

Val fn_math_test(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    Scalar s;
    Ref r;
    double c;
    Test test = (Test)site->fn->param;
    if (!one_float(e, site, n, args, &x, &s, &r)) return val_poison(e);
    if (is_integral(x)) return val_bool(e, test == TEST_FINITE);
    if (val_as_double(x, &c))
        return val_bool(e, test == TEST_NAN ? isnan(c) : test == TEST_INF ? isinf(c) : isfinite(c));
    Type t = float_type((DType)s.dtype);
    return val_rt_bool(e, test == TEST_NAN ? is_nan(e, r) : test == TEST_INF ? is_inf(e, t, r) : is_finite(e, t, r));
}

/* In float64, as CPython converts its arguments. */
Val fn_isclose(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"a", "b", "?rel_tol", "?abs_tol"};
    Val v[4];
    if (!call_bind(e, site, n, args, 4, params, v)) return val_poison(e);
    if (!v[2].ty) v[2] = val_float(e, 1e-9);
    if (!v[3].ty) v[3] = val_float(e, 0);
    if (!want_scalars(e, site, 4, v, true)) return val_poison(e);
    Ref x[4], mag[2];
    for (int i = 0; i < 4; i++) x[i] = float_ref(e, v[i], DT_F64);
    for (int i = 0; i < 2; i++) mag[i] = e_op1(e, OP_ABS, T_F64, x[i]);
    Ref diff = e_op1(e, OP_ABS, T_F64, e_op2(e, OP_SUB, T_F64, x[0], x[1]));
    Ref larger = e_op2(e, OP_NANMAX, T_F64, mag[0], mag[1]);
    Ref limit = e_op2(e, OP_MUL, T_F64, x[2], larger);
    Ref relative = e_cmp(e, PRED_LE, diff, limit), absolute = e_cmp(e, PRED_LE, diff, x[3]);
    Ref near = e_op2(e, OP_OR, T_BOOL, relative, absolute);
    near = e_op2(e, OP_AND, T_BOOL, near, is_finite(e, T_F64, larger));
    return val_rt_bool(e, e_op2(e, OP_OR, T_BOOL, near, e_cmp(e, PRED_EQ, x[0], x[1])));
}

/* ---- parts of a float ------------------------------------------------------------------------------------- */
Val fn_modf(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    Scalar s;
    Ref r;
    if (!one_float(e, site, n, args, &x, &s, &r)) return val_poison(e);
    Type t = float_type((DType)s.dtype);
    if (e_numba(e) && dtype_info[s.dtype].bits == 16) { /* numba-cuda has no modf of float16 */
        s.dtype = DT_F64;
        t = T_F64;
        r = e_conv(e, t, r);
    }
    Ref whole = e_math1(e, MATH_TRUNC, t, r);
    Val frac = float_val(e, s, part_frac(e, t, r, whole));
    return val_tuple(e, 2, (Val[]){frac, float_val(e, s, whole)});
}

Val fn_frexp(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    Scalar s;
    Ref r, mantissa, exponent;
    if (!one_float(e, site, n, args, &x, &s, &r)) return val_poison(e);
    bool small = dtype_info[x.ty->dtype].bits <= 16 && val_dtype(x) != DT_U16;
    if (e_numba(e) && small) {
        s.dtype = DT_F32;
        r = float_ref(e, x, DT_F32);
    }
    part_frexp(e, float_type((DType)s.dtype), r, &mantissa, &exponent);
    Val exp = e_numba(e) ? val_typed(e, DT_I32, exponent) : val_rt_int(e, e_conv(e, T_I64, exponent));
    return val_tuple(e, 2, (Val[]){float_val(e, s, mantissa), exp});
}

Val fn_ldexp(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    if (!bind_args(e, site, n, args, 2, x) || !want_scalars(e, site, 2, x, true)) return val_poison(e);
    if (!is_integral(x[1])) return bad_arg(e, site, 1, x[1], "the exponent is an integer: int(...) truncates");
    Scalar s = math_scalar(e, 1, x);
    if (e_numba(e) && (dtype_info[s.dtype].bits == 16 || (is_integral(x[0]) && dtype_info[x[0].ty->dtype].bits <= 16)))
        s.dtype = DT_F32;
    Type t = float_type((DType)s.dtype);
    Ref r = float_ref(e, x[0], (DType)s.dtype), exponent = val_conv_ref(e, x[1], DT_I64);
    return float_val(e, s, part_ldexp(e, t, r, exponent));
}

Val fn_nextafter(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    Scalar s;
    Ref r[2];
    if (!two_floats(e, site, n, args, x, &s, r)) return val_poison(e);
    Type t = dtype_info[s.dtype].ir;
    for (int i = 0; i < 2; i++) r[i] = e_conv(e, t, r[i]);
    return float_val(e, s, part_nextafter(e, t, r[0], r[1]));
}

/* The distance to the next float away from zero; below the largest one, that to the one before. */
Val fn_ulp(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val v;
    Scalar s;
    Ref r;
    if (!one_float(e, site, n, args, &v, &s, &r)) return val_poison(e);
    Type t = dtype_info[s.dtype].ir;
    Ref x = e_op1(e, OP_ABS, t, e_conv(e, t, r)), inf = e_float(e, t, INFINITY);
    Ref up = part_spacing(e, t, x);
    Ref down = e_op2(e, OP_SUB, t, x, part_nextafter(e, t, x, e_float(e, t, 0)));
    Ref u = e_select(e, t, e_cmp(e, PRED_EQ, up, inf), down, up);
    return float_val(e, s, e_select(e, t, e_cmp(e, PRED_EQ, x, inf), inf, u));
}

Val fn_fma(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[3];
    if (!bind_args(e, site, n, args, 3, x) || !want_scalars(e, site, 3, x, true)) return val_poison(e);
    Scalar s = math_scalar(e, 3, x);
    DType d = (DType)s.dtype;
    Ref r[3];
    for (int i = 0; i < 3; i++) r[i] = val_conv_ref(e, x[i], d);
    return val_of(e, s, e_op3(e, OP_FMA, dtype_info[d].ir, r[0], r[1], r[2]));
}

/* ---- integers ------------------------------------------------------------------------------------------------ */
static Ref magnitude64(Eval *e, Val v) {
    Type t;
    return val_dtype(v) == DT_U64 ? val_ref(e, v) : magnitude(e, T_I64, val_conv_ref(e, v, DT_I64), &t);
}

static Val python_int(Eval *e, Ref u64) { return val_rt_int(e, e_conv(e, T_I64, u64)); }

/* param: 0 gcd, 1 lcm; any number of arguments */
Val fn_gcd(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    bool lcm = site->fn->param;
    if (site->nkw) return e_fail(e, site->span, NULL, DIAG_UNKNOWN_KEYWORD, site->name, site->kwnames[0]);
    if (n == 0) return val_int(e, lcm);
    if (!want_ints(e, site, n, args)) return val_poison(e);
    Ref r = magnitude64(e, args[0]);
    for (uint32_t i = 1; i < n; i++) {
        Ref x = magnitude64(e, args[i]), g = part_gcd(e, T_U64, r, x);
        r = lcm ? e_op2(e, OP_MUL, T_U64, e_op2(e, OP_TRUNCDIV, T_U64, r, g), x) : g;
    }
    return python_int(e, r);
}

static bool ints_as_i64(Eval *e, const CallSite *site, uint32_t n, const Val *args, uint32_t want, Ref *out) {
    Val x[2];
    if (!bind_args(e, site, n, args, want, x) || !want_ints(e, site, want, x)) return false;
    for (uint32_t i = 0; i < want; i++) out[i] = val_conv_ref(e, x[i], DT_I64);
    return true;
}

Val fn_isqrt(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Ref x;
    if (!ints_as_i64(e, site, n, args, 1, &x)) return val_poison(e);
    Ref positive = e_op2(e, OP_MAX, T_I64, x, e_int(e, T_I64, 0));
    return python_int(e, part_isqrt(e, e_conv(e, T_U64, positive)));
}

Val fn_factorial(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Ref x;
    Wide c;
    if (!ints_as_i64(e, site, n, args, 1, &x)) return val_poison(e);
    if (val_as_int(args[0], &c) && c >= 0 && c <= 20) {
        Wide r = 1;
        for (Wide i = 2; i <= c; i++) r *= i;
        return val_int(e, r);
    }
    Ref zero = e_int(e, T_I64, 0), r = part_product(e, e_int(e, T_I64, 1), x);
    return val_rt_int(e, e_select(e, T_I64, e_cmp(e, PRED_LT, x, zero), zero, r));
}

/* param: 0 comb, 1 perm */
Val fn_comb(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Ref x[2];
    bool all = site->fn->param && ((n == 1 && !site->nkw) || (n == 2 && args[1].ty->kind == TY_NONE)); /* n! */
    if (!ints_as_i64(e, site, all ? 2 : n, all ? (Val[]){args[0], args[0]} : args, 2, x)) return val_poison(e);
    Ref zero = e_int(e, T_I64, 0), one = e_int(e, T_I64, 1);
    Ref r = site->fn->param ? part_product(e, e_op2(e, OP_ADD, T_I64, e_op2(e, OP_SUB, T_I64, x[0], x[1]), one), x[0])
                            : part_comb(e, x[0], x[1]);
    Ref negative = e_cmp(e, PRED_LT, x[1], zero), beyond = e_cmp(e, PRED_GT, x[1], x[0]);
    Ref bad = e_op2(e, OP_OR, T_BOOL, negative, beyond);
    bad = e_op2(e, OP_OR, T_BOOL, bad, e_cmp(e, PRED_LT, x[0], zero));
    return val_rt_int(e, e_select(e, T_I64, bad, zero, r));
}

Val fn_prod(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/iterable", "?start"};
    Val v[2];
    if (!call_bind(e, site, n, args, 2, params, v)) return val_poison(e);
    v[0] = sequence_items(e, site->span, val_items(e, v[0]));
    if (val_poisoned(v[0])) return v[0];
    if (!ty_is(v[0].ty, TY_TUPLE)) return bad_arg(e, site, 0, v[0], "it takes a tuple; for an array write a loop");
    Val r = v[1].ty ? v[1] : val_int(e, 1);
    for (uint32_t i = 0; i < v[0].ty->n; i++) r = eval_binary(e, site->span, PYB_MUL, r, v[0].items[i]);
    return r;
}

/* ---- sums that don't lose digits ---------------------------------------------------------------------------- */

/* A sum of products x[i] * y[i] (y NULL: of x[i]) in float64 with a running sum of what rounding lost. Where the
 * sum is infinite or nan the lost part has no meaning. */
static Val exact_sum(Eval *e, uint32_t n, const Val *x, const Val *y) {
    Ref sum = e_float(e, T_F64, 0), lost = e_float(e, T_F64, 0);
    for (uint32_t i = 0; i < n; i++) {
        Ref v = float_ref(e, x[i], DT_F64), error;
        if (y) {
            Ref w = float_ref(e, y[i], DT_F64), product = e_op2(e, OP_MUL, T_F64, v, w);
            Ref rest = e_op3(e, OP_FMA, T_F64, v, w, e_op1(e, OP_NEG, T_F64, product));
            lost = e_op2(e, OP_ADD, T_F64, lost, rest);
            v = product;
        }
        sum = part_two_sum(e, T_F64, sum, v, &error);
        lost = e_op2(e, OP_ADD, T_F64, lost, error);
    }
    Ref total = e_op2(e, OP_ADD, T_F64, sum, lost);
    return val_rt_float(e, e_select(e, T_F64, is_finite(e, T_F64, sum), total, sum));
}

Val fn_fsum(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    if (!bind_args(e, site, n, args, 1, &x)) return val_poison(e);
    if (!ty_is(x.ty, TY_TUPLE)) return bad_arg(e, site, 0, x, "it takes a tuple; for an array write a loop");
    CallSite items = *site;
    items.arg_spans = NULL;
    if (!want_scalars(e, &items, x.ty->n, x.items, true)) return val_poison(e);
    return exact_sum(e, x.ty->n, x.items, NULL);
}

Val fn_sumprod(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val v[2];
    if (!bind_args(e, site, n, args, 2, v)) return val_poison(e);
    for (uint32_t i = 0; i < 2; i++)
        if (!ty_is(v[i].ty, TY_TUPLE)) return bad_arg(e, site, i, v[i], "it takes tuples; for arrays write a loop");
    if (v[0].ty->n != v[1].ty->n)
        return e_fail(e, site->span, NULL, DIAG_ARG_TYPES, site->name, e_text(e, v[0]), e_text(e, v[1]));
    CallSite items = *site;
    items.arg_spans = NULL;
    bool whole = true;
    for (uint32_t k = 0; k < 2; k++) {
        if (!want_scalars(e, &items, v[k].ty->n, v[k].items, true)) return val_poison(e);
        for (uint32_t i = 0; i < v[k].ty->n; i++) whole &= is_integral(v[k].items[i]);
    }
    if (!whole) return exact_sum(e, v[0].ty->n, v[0].items, v[1].items);
    Val r = val_int(e, 0);
    for (uint32_t i = 0; i < v[0].ty->n; i++) {
        Val x = to_python_int(e, v[0].items[i]), y = to_python_int(e, v[1].items[i]);
        r = eval_binary(e, site->span, PYB_ADD, r, eval_binary(e, site->span, PYB_MUL, x, y));
    }
    return r;
}
