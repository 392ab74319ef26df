/* builtins.c - Python's built-in functions, and the operator module. */
#include "arrays.h"
#include "devfns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ------------------------------------------------------------------------------------------------ */
Val complex_abs(Eval *e, Val z) {
    DType part = dtype_info[z.ty->dtype].part;
    Scalar s = SCALAR(part, z.ty->weak);
    if (val_const(z)) return val_const_float(e, s, hypot(z.f.re, z.f.im), 0);
    Ref re = val_re(e, z), im = val_im(e, z);
    return val_of(e, s, e_math2(e, MATH_HYPOT, dtype_info[part].ir, re, im));
}

/* The type stays, Numba's too; True has the absolute value 1. */
Val fn_abs(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    if (!bind_args(e, site, n, args, 1, &x)) return val_poison(e);
    Val special = val_is_scalar(x) ? (Val){0} : instance_special(e, site->span, x, "__abs__", (Val){0});
    if (!special.ty) special = time_abs(e, x);
    if (special.ty) return special;
    if (!want_scalars(e, site, 1, &x, false)) return val_poison(e);
    DType d = val_dtype(x);
    if (dt_is_complex(d)) return complex_abs(e, x);
    if (d == DT_BOOL) return is_weak(x) ? to_python_int(e, x) : e_numba(e) ? val_convert(e, x, typed(DT_I8)) : x;
    if (dtype_info[d].kind == DK_UINT) return x;
    bool smallest = !x.ty->weak && x.konst == KONST_INT && x.i == -((Wide)1 << (8 * dtype_info[d].bytes - 1));
    if (x.konst == KONST_INT && !smallest) return val_const_int(e, val_sc(x), x.i < 0 ? -x.i : x.i);
    if (x.konst == KONST_FLOAT) return val_const_float(e, val_sc(x), fabs(x.f.re), 0);
    return val_of(e, val_sc(x), e_op1(e, OP_ABS, dtype_info[d].ir, val_ref(e, x)));
}

static bool is_c_float(DType d) { return d == DT_F32 || d == DT_F64; }

/* In one type already the IR's MIN is exactly `b if b < a else a`; otherwise the comparison is made as the source has
 * it. `c`: of two floats it is C's fmin, as Numba has min(a, b) alone: not that of three, nor of a tuple. */
static Val smaller(Eval *e, const CallSite *site, bool max, bool c, Val a, Val b) {
    Val target;
    bool outside; /* a Python integer that the other's type can't hold is never chosen, or always */
    if (val_integer_outside(max ? PRED_GT : PRED_LT, b, a, &outside) && !val_const(outside ? b : a))
        return outside ? b : a;
    if (!val_join(e, a, b, &target))
        return e_fail(e, site->span, "convert one of them", DIAG_ARG_TYPES, site->name, e_text(e, a), e_text(e, b));
    DType d = val_dtype(target);
    bool both_const = val_const(a) && val_const(b);
    bool same = (val_const(a) || val_dtype(a) == d) && (val_const(b) || val_dtype(b) == d);
    c = c && is_c_float(val_dtype(a)) && is_c_float(val_dtype(b));
    if (!both_const && (same || c) && d != DT_BOOL) {
        Op op = c ? (max ? OP_FMAX : OP_FMIN) : max ? OP_MAX : OP_MIN;
        Scalar s = val_sc(target);
        Ref x = val_ref(e, val_convert(e, a, s)), y = val_ref(e, val_convert(e, b, s));
        return val_of(e, s, e_op2(e, op, dtype_info[d].ir, x, y));
    }
    Val second = eval_compare(e, site->span, max ? PYC_GT : PYC_LT, b, a);
    if (both_const && val_const(second)) return val_convert(e, second.i ? b : a, val_sc(target));
    return eval_select(e, site->span, second, b, a);
}

/* The item that is least, or greatest, or whose key is; the first of equal ones. */
static Val chosen(Eval *e, const CallSite *site, Val key, uint32_t n, const Val *args) {
    CallSite call = {.span = site->span, .name = site->name, .at = site->at};
    Val best = args[0], least = key.ty ? eval_call(e, &call, key, 1, &best) : best;
    for (uint32_t i = 1; i < n && !val_poisoned(best); i++) {
        Val k = key.ty ? eval_call(e, &call, key, 1, &args[i]) : args[i];
        if (val_poisoned(k) || val_poisoned(least)) return val_poison(e);
        Val better = eval_compare(e, site->span, site->fn->param ? PYC_GT : PYC_LT, k, least);
        if (val_const(better) && !better.i) continue;
        best = val_const(better) ? args[i] : eval_select(e, site->span, better, args[i], best);
        least = val_const(better) ? k : key.ty ? eval_select(e, site->span, better, k, least) : best;
    }
    return best;
}

/* What isn't a number, and is compared as a whole. */
static bool has_order(Eval *e, Val v) {
    const char *s;
    return ty_is(v.ty, TY_TIME) || ty_is(v.ty, TY_TUPLE) || ty_is(v.ty, TY_INSTANCE) || val_as_str(e, v, &s);
}

/* param: 0 min, 1 max */
Val fn_minmax(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val key = {0}, other = {0}, all = {0};
    uint32_t npos = n - site->nkw;
    for (uint32_t i = 0; i < site->nkw; i++) {
        if (strcmp(site->kwnames[i], "key") == 0) key = args[npos + i];
        else if (strcmp(site->kwnames[i], "default") == 0) other = args[npos + i];
        else return e_fail(e, site->span, NULL, DIAG_UNKNOWN_KEYWORD, site->name, site->kwnames[i]);
    }
    if (npos == 0) return e_fail(e, site->span, NULL, DIAG_TOO_FEW_ARGS, site->name, 1, 0);
    CallSite inner = *site;
    inner.nkw = 0;
    n = npos;
    if (n == 1 && !key.ty && val_is_many(args[0])) return array_python_minmax(e, &inner, args[0]);
    if (n == 1) {
        all = sequence_items(e, site->span, val_items(e, args[0]));
        if (val_poisoned(all)) return all;
        if (ty_is(all.ty, TY_TUPLE) && !all.ty->n && other.ty) return other;
        if (!ty_is(all.ty, TY_TUPLE) || !all.ty->n)
            return bad_arg(e, &inner, 0, args[0], "it takes several numbers, a tuple or an array");
        n = all.ty->n;
        args = all.items;
        inner.arg_spans = NULL;
    }
    if (key.ty && !ty_is(key.ty, TY_NONE)) return chosen(e, site, key, n, args);
    bool compared = true, c = e_numba(e) && n == 2 && args != all.items;
    for (uint32_t i = 0; i < n; i++) compared &= has_order(e, args[i]);
    if (compared) return chosen(e, site, (Val){0}, n, args);
    if (!want_scalars(e, &inner, n, args, true)) return val_poison(e);
    Val r = args[0];
    for (uint32_t i = 1; i < n && !val_poisoned(r); i++) r = smaller(e, &inner, site->fn->param, c, r, args[i]);
    return r;
}

static double half_even(double x) { return rint(x); }

Val fn_round(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"number", "?ndigits"};
    Val v[2];
    Wide digits = 0;
    if (!call_bind(e, site, n, args, 2, params, v) || !want_scalars(e, site, 1, v, true)) return val_poison(e);
    bool whole = !v[1].ty || ty_is(v[1].ty, TY_NONE);
    bool running = !whole && ty_is(v[1].ty, TY_SCALAR) && is_integral(v[1]) && !val_as_int(v[1], &digits);
    if (running && !is_integral(v[0]) && val_dtype(v[0]) != DT_BOOL) {
        DType f = val_dtype(v[0]);
        Ref at = e_conv(e, T_I64, val_ref(e, v[1]));
        return float_val(e, val_sc(v[0]), part_round_to(e, float_type(f), float_ref(e, v[0], f), at));
    }
    if (!whole && (!val_as_int(v[1], &digits) || digits > 400 || digits < -400))
        return e_fail(e, arg_span(site, 1), "the number of digits is part of the compiled code", DIAG_ARG_CONSTANT,
                      site->name, "ndigits", e_text(e, v[1]));
    Val x = v[0];
    DType d = val_dtype(x);
    if (d == DT_BOOL) x = to_python_int(e, x);
    if (is_integral(x)) return whole ? to_python_int(e, x) : round_int(e, x, (int)digits);
    if (whole && x.konst == KONST_FLOAT) return to_python_int(e, val_const_float(e, val_sc(x), half_even(x.f.re), 0));
    Val r = float_val(e, val_sc(x), part_round(e, float_type(d), float_ref(e, x, d), (int)digits));
    return whole ? to_python_int(e, r) : r;
}

Val fn_pow(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"base", "exp", "?mod"};
    Val v[3];
    if (!call_bind(e, site, n, args, 3, params, v) || !want_scalars(e, site, 2, v, false)) return val_poison(e);
    if (v[2].ty && !ty_is(v[2].ty, TY_NONE))
        return e_fail(e, arg_span(site, 2),
                      "write pow(base, exp) % mod, or a loop that takes the remainder at each step",
                      DIAG_KEYWORD_UNUSED, "mod", site->name);
    return eval_binary(e, site->span, PYB_POW, v[0], v[1]);
}

Val fn_divmod(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    if (!bind_args(e, site, n, args, 2, x) || !want_scalars(e, site, 2, x, true)) return val_poison(e);
    Val items[2];
    items[0] = eval_binary(e, site->span, PYB_FLOORDIV, x[0], x[1]);
    items[1] = eval_binary(e, site->span, PYB_MOD, x[0], x[1]);
    if (val_poisoned(items[0]) || val_poisoned(items[1])) return val_poison(e);
    return val_tuple(e, 2, items);
}

/* ---- constructors ------------------------------------------------------------------------------------------- */
static bool one_number(Eval *e, const CallSite *site, uint32_t n, const Val *args, Val *x) {
    static const char *const params[] = {"/?x"};
    return call_bind(e, site, n, args, 1, params, x) && (!x->ty || want_scalars(e, site, 1, x, true));
}

/* float(v) and int(v) of an instance whose class says what that is; ty NULL: it doesn't. */
static Val number_of_instance(Eval *e, const CallSite *site, uint32_t n, const Val *args, const char *method) {
    return n == 1 && ty_is(args[0].ty, TY_INSTANCE) ? instance_number(e, site->span, args[0], method) : (Val){0};
}

/* int("ff", 16), complex("1+2j"): constants, which Python reads. */
static Val number_of_text(Eval *e, const CallSite *site, HostRef type, uint32_t n, const Val *args) {
    Val v = type && !site->nkw ? call_constant(e, type, n, args) : (Val){0};
    return v.ty ? v : e_fail(e, site->span, NULL, DIAG_ARG_VALUE, site->name, "the text is not a number");
}

Val fn_int(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x = number_of_instance(e, site, n, args, "__int__");
    const char *text;
    if (x.ty) return x;
    if (n && val_as_str(e, args[0], &text)) return number_of_text(e, site, val_builtin(e, "int"), n, args);
    if (!one_number(e, site, n, args, &x)) return val_poison(e);
    if (!x.ty) return val_int(e, 0);
    if (e_numba(e) && dt_is_int(val_dtype(x))) return x;
    return to_python_int(e, x);
}

/* float("inf") and the like are the usual way to write them. */
static Val float_of_text(Eval *e, const CallSite *site, const char *text) {
    char *end;
    double v = strtod(text, &end);
    while (*end == ' ') end++;
    if (end == text || *end) return e_fail(e, site->span, NULL, DIAG_ARG_VALUE, site->name, "the text is not a number");
    return val_float(e, v);
}

Val fn_float(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    const char *text;
    Val x = number_of_instance(e, site, n, args, "__float__");
    if (x.ty) return x;
    if (n == 1 && val_as_str(e, args[0], &text)) return float_of_text(e, site, text);
    if (!one_number(e, site, n, args, &x)) return val_poison(e);
    if (!x.ty) return val_float(e, 0);
    if (e_numba(e) && dt_is_float(val_dtype(x))) return x;
    return val_convert(e, x, e_python_float(e));
}

Val fn_bool(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/?x"};
    Val x;
    if (!call_bind(e, site, n, args, 1, params, &x)) return val_poison(e);
    return x.ty ? eval_truth(e, site->span, x) : val_bool(e, false);
}

Val fn_complex(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"?real", "?imag"};
    Val v[2];
    const char *text;
    if (n == 1 && val_as_str(e, args[0], &text)) return number_of_text(e, site, val_builtin(e, "complex"), n, args);
    if (!call_bind(e, site, n, args, 2, params, v)) return val_poison(e);
    for (uint32_t i = 0; i < 2; i++) {
        if (!v[i].ty) v[i] = val_float(e, 0);
        if (!want_scalars(e, site, 1, &v[i], i || n > 1)) return val_poison(e);
    }
    bool small = e_numba(e) && val_dtype(v[0]) == DT_F32 && (n < 2 || val_dtype(v[1]) == DT_F32);
    Scalar s = SCALAR(small ? DT_C64 : DT_C128, !e_numba(e));
    if (n < 2) return val_convert(e, v[0], e_numba(e) && dt_is_complex(val_dtype(v[0])) ? val_sc(v[0]) : s);
    double re, im;
    if (val_as_double(v[0], &re) && val_as_double(v[1], &im)) return val_const_float(e, s, re, im);
    DType part = dtype_info[s.dtype].part;
    Ref x = val_conv_ref(e, v[0], part), y = val_conv_ref(e, v[1], part);
    return val_complex(e, s, x, y);
}

/* ---- containers and iteration --------------------------------------------------------------------------------- */
Val fn_len(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    return bind_args(e, site, n, args, 1, &x) ? eval_len(e, site->span, x) : val_poison(e);
}

Val fn_range(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/start", "/?stop", "/?step"};
    Val v[3];
    if (!call_bind(e, site, n, args, 3, params, v)) return val_poison(e);
    Val start = v[1].ty ? v[0] : val_int(e, 0), stop = v[1].ty ? v[1] : v[0], step = v[2].ty ? v[2] : val_int(e, 1);
    return val_range(e, site->span, start, stop, step);
}

Val fn_enumerate(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"iterable", "?start"};
    Val v[2];
    return call_bind(e, site, n, args, 2, params, v) ? eval_enumerate(e, site->span, v[0], v[1]) : val_poison(e);
}

/* zip(strict=True) tells lengths that differ when compiling: they must be known. */
static Val check_strict(Eval *e, const CallSite *site, Val zip) {
    for (uint32_t i = 0; i < zip.ty->n; i++) {
        Wide first, k;
        bool known = iter_trips(e, zip.items[0], &first) && iter_trips(e, zip.items[i], &k);
        if (!known)
            return e_fail(e, site->span, "leave strict out, and compare the lengths", DIAG_ARG_VALUE, site->name,
                          "strict=True needs lengths that are known when compiling");
        if (k != first)
            return e_fail(e, site->span, NULL, DIAG_ARG_VALUE, site->name, "strict=True, and the lengths differ");
    }
    return zip;
}

Val fn_zip(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    bool named = site->nkw == 1 && strcmp(site->kwnames[0], "strict") == 0;
    Wide strict = 0;
    if (site->nkw && !named) return e_fail(e, site->span, NULL, DIAG_UNKNOWN_KEYWORD, site->name, site->kwnames[0]);
    if (named && !val_as_int(args[n - 1], &strict))
        return e_fail(e, site->span, NULL, DIAG_ARG_CONSTANT, site->name, "strict", e_text(e, args[n - 1]));
    Val zip = eval_zip(e, site->span, n - site->nkw, args);
    return strict && !val_poisoned(zip) ? check_strict(e, site, zip) : zip;
}

/* An iterator has a state that changes; where an __iter__ returns one, a loop begins with it. */
Val fn_iter(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    if (strcmp(e->frame->inst->f->name, "__iter__") != 0)
        return e_fail(e, site->span, "write a for loop", DIAG_NOT_IN_KERNEL, site->name);
    return bind_args(e, site, n, args, 1, &x) ? eval_iter(e, site->span, x) : val_poison(e);
}

Val fn_reversed(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    return bind_args(e, site, n, args, 1, &x) ? eval_reversed(e, site->span, x) : val_poison(e);
}

/* A tuple, list, dict, set or range, as the tuple of its items. */
static bool tuple_arg(Eval *e, const CallSite *site, Val *v) {
    Val items = val_items(e, *v);
    if (!val_poisoned(items)) items = sequence_items(e, site->span, items);
    if (val_poisoned(items)) return false;
    bool tuple = ty_is(items.ty, TY_TUPLE);
    if (tuple) *v = items;
    else bad_arg(e, site, 0, *v, "it takes a tuple or an array");
    return tuple;
}

/* n * start + step * n * (n - 1) / 2, where the half is of whichever factor is even: (n >> 1) * ((n - 1) | 1). */
static Val range_sum(Eval *e, PySpan span, Val range, Val start) {
    Val n = eval_len(e, span, range), one = val_int(e, 1);
    Val half = eval_binary(e, span, PYB_RSHIFT, n, one);
    Val other = eval_binary(e, span, PYB_OR, eval_binary(e, span, PYB_SUB, n, one), one);
    Val steps = eval_binary(e, span, PYB_MUL, range.items[2], eval_binary(e, span, PYB_MUL, half, other));
    Val all = eval_binary(e, span, PYB_ADD, eval_binary(e, span, PYB_MUL, n, range.items[0]), steps);
    return start.ty ? eval_binary(e, span, PYB_ADD, start, all) : all;
}

Val fn_sum(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/iterable", "?start"};
    Val v[2];
    if (!call_bind(e, site, n, args, 2, params, v)) return val_poison(e);
    if (val_is_many(v[0])) return array_python_sum(e, site, v[0], v[1].ty ? v[1] : val_int(e, 0));
    if (ty_is(v[0].ty, TY_RANGE) && !val_is_known(v[0])) return range_sum(e, site->span, v[0], v[1]);
    if (!tuple_arg(e, site, &v[0])) return val_poison(e);
    Val r = v[1].ty ? v[1] : val_int(e, 0);
    for (uint32_t i = 0; i < v[0].ty->n; i++) r = eval_binary(e, site->span, PYB_ADD, r, v[0].items[i]);
    return r;
}

/* param: 0 all, 1 any */
Val fn_any(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x, r = {0};
    bool any = site->fn->param;
    if (!bind_args(e, site, n, args, 1, &x)) return val_poison(e);
    if (val_is_many(x)) return array_python_any(e, site, x, any);
    if (!tuple_arg(e, site, &x)) return val_poison(e);
    for (uint32_t i = 0; i < x.ty->n; i++) {
        Val t = eval_truth(e, site->span, x.items[i]);
        if (val_poisoned(t)) return t;
        if (val_const(t) && (t.i != 0) == any) return val_bool(e, any);
        if (val_const(t)) continue;
        r = r.ty ? val_rt_bool(e, e_op2_of(e, any ? OP_OR : OP_AND, T_BOOL, r, t)) : t;
    }
    return r.ty ? r : val_bool(e, !any);
}

/* ---- operator ------------------------------------------------------------------------------------------------------
 */
Val fn_op_binary(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    if (!bind_args(e, site, n, args, 2, x)) return val_poison(e);
    return eval_binary(e, site->span, (PyBinary)site->fn->param, x[0], x[1]);
}

/* operator.iadd: what can be changed, is. */
Val fn_op_in_place(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    if (!bind_args(e, site, n, args, 2, x)) return val_poison(e);
    return eval_binary(e, site->span, (PyBinary)(site->fn->param | PYB_INPLACE), x[0], x[1]);
}

Val fn_op_unary(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    return bind_args(e, site, n, args, 1, &x) ? eval_unary(e, site->span, (PyUnary)site->fn->param, x) : val_poison(e);
}

Val fn_op_compare(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    if (!bind_args(e, site, n, args, 2, x)) return val_poison(e);
    return eval_compare(e, site->span, (PyCompare)site->fn->param, x[0], x[1]);
}

Val fn_op_not(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    return bind_args(e, site, n, args, 1, &x) ? eval_not(e, site->span, x) : val_poison(e);
}

/* param: 1 is_not */
Val fn_op_is(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    return bind_args(e, site, n, args, 2, x) ? eval_is(e, site->span, x[0], x[1], site->fn->param) : val_poison(e);
}

Val fn_op_contains(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    return bind_args(e, site, n, args, 2, x) ? eval_contains(e, site->span, x[1], x[0], false) : val_poison(e);
}

Val fn_op_getitem(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    return bind_args(e, site, n, args, 2, x) ? eval_getitem(e, site->span, x[0], x[1]) : val_poison(e);
}

Val fn_op_setitem(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[3];
    if (!bind_args(e, site, n, args, 3, x)) return val_poison(e);
    eval_setitem(e, site->span, x[0], x[1], x[2]);
    return val_none(e);
}

Val fn_op_index(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    return bind_args(e, site, n, args, 1, &x) && want_ints(e, site, 1, &x) ? to_python_int(e, x) : val_poison(e);
}
