/* fnargs.c - arguments of device functions: binding, checks with messages, and the types they compute in. */
#include "devfns.h"
#include "promote.h"

#include <math.h>

/* An argument's span is where its value was made, which may be far from the call: then the call's own. Keyword
 * arguments stand at another place than their parameters. */
PySpan arg_span(const CallSite *site, uint32_t i) {
    if (!site->arg_spans || site->nkw) return site->span;
    const PySpan *call = &site->span, *arg = &site->arg_spans[i];
    bool after = arg->line > call->line || (arg->line == call->line && arg->col > call->col);
    bool before = arg->end_line < call->end_line || (arg->end_line == call->end_line && arg->end_col <= call->end_col);
    return arg->col && after && before ? *arg : *call;
}

bool bind_args(Eval *e, const CallSite *site, uint32_t n, const Val *args, uint32_t want, Val *out) {
    static const char *const names[] = {"/x1", "/x2", "/x3", "/x4"};
    static const char *const one[] = {"/x"};
    return call_bind(e, site, n, args, want, want == 1 ? one : names, out);
}

bool no_arguments(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const none[1] = {NULL};
    Val unused;
    return call_bind(e, site, n, args, 0, none, &unused);
}

Val bad_arg(Eval *e, const CallSite *site, uint32_t i, Val v, const char *help) {
    return e_fail(e, arg_span(site, i), help, DIAG_ARG_TYPE, site->name, e_text(e, v));
}

bool want_numbers(Eval *e, const CallSite *site, uint32_t i, Val array) {
    if (array.ty->record) bad_arg(e, site, i, array, "its elements are records: name a field, as in a['x']");
    else if (elem_is_askew(elem_of(array.ty)))
        bad_arg(e, site, i, array,
                "its elements aren't aligned in memory: numpy.dtype(..., align=True) lays out records that are");
    else return true;
    return false;
}

static const char *scalar_help(Val v) {
    switch (v.ty->kind) {
    case TY_ARRAY:
        if (v.ty->ndim == 0) return "a 0-d array is read as x[()]";
        return "it takes numbers: index the array, as in x[i]; np's functions take arrays, too";
    case TY_NONE: return "test it with `is None` first";
    case TY_RECORD: return "name a field, as in r.x or r['x']";
    default: return NULL;
    }
}

bool want_scalars(Eval *e, const CallSite *site, uint32_t n, const Val *args, bool real) {
    for (uint32_t i = 0; i < n; i++) {
        if (!val_is_scalar(args[i])) {
            bad_arg(e, site, i, args[i], scalar_help(args[i]));
            return false;
        }
        if (real && dt_is_complex(val_dtype(args[i]))) {
            bad_arg(e, site, i, args[i], "take .real, .imag or abs(...) of a complex number");
            return false;
        }
    }
    return true;
}

bool want_ints(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    if (!want_scalars(e, site, n, args, true)) return false;
    for (uint32_t i = 0; i < n; i++)
        if (!is_integral(args[i])) {
            bad_arg(e, site, i, args[i], "int(...) truncates");
            return false;
        }
    return true;
}

/* ---- types ---------------------------------------------------------------------------------------------- */

/* The smallest float that numpy's loops offer for an integer; Numba's have no float16. */
static DType float_for(Eval *e, DType d) {
    if (!dt_is_int(d) && d != DT_BOOL)
        return e_numba(e) && dtype_info[d].kind == DK_FLOAT && dtype_info[d].bits == 16 ? DT_F32 : d;
    if (dtype_info[d].bits > 16) return DT_F64;
    return dtype_info[d].bits == 16 || e_numba(e) ? DT_F32 : DT_F16;
}

/* Numba's ufuncs take an integer beside float32 as float32. */
static DType numba_common(Eval *e, DType a, DType b) {
    a = dt_is_float(a) ? float_for(e, a) : a;
    b = dt_is_float(b) ? float_for(e, b) : b;
    if (a == DT_F32 && (dt_is_int(b) || b == DT_BOOL)) return a;
    if (b == DT_F32 && (dt_is_int(a) || a == DT_BOOL)) return b;
    Scalar s;
    promote_common(DIALECT_NUMPY, typed(a), typed(b), &s);
    return (DType)s.dtype;
}

static DType common_of(Eval *e, Scalar a, Scalar b, bool *weak) {
    Scalar s;
    if (e_numba(e)) return numba_common(e, (DType)a.dtype, (DType)b.dtype);
    promote_common(DIALECT_NUMPY, a, b, &s);
    *weak = s.weak;
    return (DType)s.dtype;
}

static DType common_type(Eval *e, uint32_t n, const Val *args, bool floats) {
    Scalar all = val_sc(args[0]), out;
    for (uint32_t i = 1; i < n; i++) {
        bool weak = false;
        DType d = common_of(e, all, val_sc(args[i]), &weak);
        all = SCALAR(d, weak);
    }
    if (!floats) return dt_is_float((DType)all.dtype) ? float_for(e, (DType)all.dtype) : (DType)all.dtype;
    DType result = DT_NONE;
    bool numba_single = e_numba(e) && float_for(e, (DType)all.dtype) == DT_F32; /* a float32 decides */
    for (uint32_t i = 0; i < n; i++) { /* each argument to its float, then those to the widest */
        Scalar s = val_sc(args[i]);
        if (s.weak && !all.weak) promote_common(DIALECT_NUMPY, s, all, &s);
        else if (s.weak) s = all;
        DType d = numba_single ? DT_F32 : float_for(e, (DType)s.dtype);
        if (result == DT_NONE) result = d;
        promote_common(DIALECT_NUMPY, typed(result), typed(d), &out);
        result = (DType)out.dtype;
    }
    return result;
}

static unsigned loop_of(DType d) {
    if (d == DT_BOOL) return LOOP_BOOL;
    return dt_is_int(d) ? LOOP_INT : dt_is_float(d) ? LOOP_FLOAT : LOOP_COMPLEX;
}

static bool no_loop(Eval *e, const CallSite *site, unsigned loops, uint32_t n, const Val *args) {
    const char *help = loops & LOOP_FLOAT ? "take .real, .imag or abs(...) of a complex number"
                                          : "it takes integers: int(...) truncates";
    if (n == 1) e_fail(e, site->span, help, DIAG_ARG_TYPE, site->name, e_text(e, args[0]));
    else e_fail(e, site->span, help, DIAG_ARG_TYPES, site->name, e_text(e, args[0]), e_text(e, args[1]));
    return false;
}

bool ufunc_loop(Eval *e, const CallSite *site, unsigned loops, uint32_t n, const Val *args, DType *out) {
    if (!want_scalars(e, site, n, args, false)) return false;
    DType d = common_type(e, n, args, !(loops & LOOP_INT));
    if (d == DT_BOOL && !e_numba(e) && (loops & LOOP_NO_BOOL)) return no_loop(e, site, loops, n, args);
    if (d == DT_BOOL && !(loops & LOOP_BOOL) && (loops & LOOP_INT)) d = DT_I8;
    if (!(loop_of(d) & loops)) return no_loop(e, site, loops, n, args);
    *out = d;
    return true;
}

Val loop_arg(Eval *e, const CallSite *site, uint32_t i, Val v, DType d) {
    return is_weak(v) ? val_meet(e, arg_span(site, i), v, typed(d)) : val_convert(e, v, typed(d));
}

/* numba-cuda's math takes halves and integers of up to 16 bits (but uint16) as float32 if it has two arguments, other
 * integers as float64. */
static DType numba_math_type(DType d, bool single) {
    bool small = dtype_info[d].bits <= 16 && d != DT_U16;
    if (dt_is_int(d) || d == DT_BOOL) return small && !single ? DT_F32 : DT_F64;
    return small && !single ? DT_F32 : d;
}

static Scalar numba_math_scalar(uint32_t n, const Val *args) {
    Scalar all = typed(numba_math_type(val_dtype(args[0]), n == 1));
    for (uint32_t i = 1; i < n; i++)
        promote_common(DIALECT_NUMPY, all, typed(numba_math_type(val_dtype(args[i]), false)), &all);
    return all;
}

Scalar math_scalar(Eval *e, uint32_t n, const Val *args) {
    if (e_numba(e)) return numba_math_scalar(n, args);
    bool any_float = false;
    Scalar all = val_sc(args[0]);
    for (uint32_t i = 0; i < n; i++) {
        any_float |= !is_weak(args[i]) && dt_is_float(val_dtype(args[i]));
        if (i) promote_common(DIALECT_NUMPY, all, val_sc(args[i]), &all);
    }
    return any_float ? all : SCALAR(DT_F64, true);
}

Type float_type(DType d) { return dtype_info[d].ir == T_F64 ? T_F64 : T_F32; }

Ref float_ref(Eval *e, Val v, DType d) { return e_conv(e, float_type(d), val_conv_ref(e, v, d)); }

Val float_val(Eval *e, Scalar s, Ref r) { return val_of(e, s, e_conv(e, dtype_info[s.dtype].ir, r)); }

Val to_python_int(Eval *e, Val v) { return val_convert(e, v, SCALAR(DT_I64, !e_numba(e))); }

/* ---- constants -------------------------------------------------------------------------------------------- */
typedef double Fn1(double);
typedef double Fn2(double, double);

static Fn1 *const host1[MATH__COUNT] = {
    [MATH_SQRT] = sqrt,   [MATH_FLOOR] = floor,   [MATH_CEIL] = ceil,   [MATH_TRUNC] = trunc, [MATH_RINT] = rint,
    [MATH_EXP] = exp,     [MATH_EXP2] = exp2,     [MATH_EXPM1] = expm1, [MATH_LOG] = log,     [MATH_LOG2] = log2,
    [MATH_LOG10] = log10, [MATH_LOG1P] = log1p,   [MATH_SIN] = sin,     [MATH_COS] = cos,     [MATH_TAN] = tan,
    [MATH_ASIN] = asin,   [MATH_ACOS] = acos,     [MATH_ATAN] = atan,   [MATH_SINH] = sinh,   [MATH_COSH] = cosh,
    [MATH_TANH] = tanh,   [MATH_ASINH] = asinh,   [MATH_ACOSH] = acosh, [MATH_ATANH] = atanh, [MATH_ERF] = erf,
    [MATH_ERFC] = erfc,   [MATH_TGAMMA] = tgamma, [MATH_CBRT] = cbrt,
};
static Fn2 *const host2[MATH__COUNT] = {
    [MATH_POW] = pow,           [MATH_ATAN2] = atan2,         [MATH_HYPOT] = hypot,
    [MATH_COPYSIGN] = copysign, [MATH_NEXTAFTER] = nextafter,
};

/* float64 constants fold as CPython computes them, so that math.sqrt(2.0) is a constant. */
Val fold_math(Eval *e, MathFn f, Scalar s, uint32_t n, const Val *args) {
    double x, y = 0;
    if (s.dtype != DT_F64 || !val_as_double(args[0], &x) || (n > 1 && !val_as_double(args[1], &y))) return (Val){0};
    if (n == 1 && host1[f]) return val_const_float(e, s, host1[f](x), 0);
    if (n == 2 && host2[f]) return val_const_float(e, s, host2[f](x, y), 0);
    return (Val){0};
}
