/* convert.c - conversions of scalars, and coercion of whole values to the type of a join.
 *
 * val_convert() is total, as an assignment or a constructor converts: integers wrap, floats to integers
 * truncate and saturate (NaN gives 0), anything to bool is `!= 0`. Constants are folded exactly. */
#include "evaluator.h"

#include <math.h>

/* ---- constants ------------------------------------------------------------------------------------- */
static Wide saturated(DType d, double x) {
    if (isnan(x)) return 0;
    x = trunc(x);
    if (x <= (double)dt_min(d)) return dt_min(d);
    if (x >= (double)dt_max(d)) return dt_max(d);
    return (Wide)x;
}

static bool const_nonzero(Val v) {
    if (v.konst == KONST_INT) return v.i != 0;
    return v.f.re != 0 || isnan(v.f.re) || (v.konst == KONST_COMPLEX && (v.f.im != 0 || isnan(v.f.im)));
}

/* Rounds once from the exact integer: through double, a float32 would be rounded twice. */
static double int_to_float(DType part, Wide i) { return part == DT_F32 ? (double)(float)i : (double)i; }

static Val convert_const(Eval *e, Val v, Scalar to) {
    DType d = (DType)to.dtype, part = dtype_info[d].part;
    if (d == DT_BOOL) return val_const_int(e, to, const_nonzero(v));
    if (dt_is_int(d)) {
        bool exact = to.weak && v.konst != KONST_INT && fabs(v.f.re) < 1e30; /* int(1e20) */
        Wide i = v.konst == KONST_INT ? v.i : exact ? (Wide)v.f.re : saturated(d, v.f.re);
        if (exact) return val_const_int(e, to, i);
        if (to.weak && v.konst == KONST_INT) return val_const_int(e, to, i); /* weak integers are exact */
        return dt_fits(d, i) ? val_const_int(e, to, i) : val_from_bits(e, to, (uint64_t)i);
    }
    if (v.konst == KONST_INT) return val_const_float(e, to, int_to_float(part, v.i), 0);
    return val_const_float(e, to, v.f.re, v.konst == KONST_COMPLEX ? v.f.im : 0);
}

/* ---- run-time scalars ------------------------------------------------------------------------------ */
static Val convert_complex(Eval *e, Val v, Scalar to) {
    Type part = dtype_info[to.dtype].ir;
    Ref re = e_conv(e, part, val_re(e, v));
    Ref im = dt_is_complex(val_dtype(v)) ? e_conv(e, part, val_im(e, v)) : e_float(e, part, 0);
    return val_complex(e, to, re, im);
}

static Val complex_to_bool(Eval *e, Val v, Scalar to) {
    Type part = dtype_info[v.ty->dtype].ir;
    Ref zero = e_float(e, part, 0);
    Ref re = e_cmp(e, PRED_NE, val_re(e, v), zero), im = e_cmp(e, PRED_NE, val_im(e, v), zero);
    return val_of(e, to, e_op2(e, OP_OR, T_BOOL, re, im));
}

Val val_convert(Eval *e, Val v, Scalar to) {
    if (val_poisoned(v) || v.ty->kind != TY_SCALAR) return val_poison(e);
    if (val_const(v)) return v.ty->dtype == to.dtype && v.ty->weak == to.weak ? v : convert_const(e, v, to);
    if (v.ty->dtype == to.dtype) return val_scalar(e, to, v.ref);
    if (dt_is_complex((DType)to.dtype)) return convert_complex(e, v, to);
    if (dt_is_complex(val_dtype(v)) && to.dtype == DT_BOOL) return complex_to_bool(e, v, to);
    return val_of(e, to, e_conv(e, dtype_info[to.dtype].ir, val_ref(e, v)));
}

Ref val_conv_ref(Eval *e, Val v, DType d) { return val_ref(e, val_convert(e, v, SCALAR(d, false))); }

/* In infer mode an integer that doesn't fit still gets the type: a later join may widen it. */
Val val_meet(Eval *e, PySpan span, Val v, Scalar to) {
    if (val_poisoned(v) || v.ty->kind != TY_SCALAR) return val_poison(e);
    DType d = (DType)to.dtype;
    bool weak_int = v.ty->weak && v.ty->dtype == DT_I64;
    if (weak_int && v.konst == KONST_INT && dt_is_int(d) && !to.weak && !dt_fits(d, v.i) && e->building)
        return e_fail(e, span, "convert the other operand to a wider type, such as np.int64(...)",
                      DIAG_CONST_DOES_NOT_FIT, wide_text(e->arena, v.i), dtype_info[d].name);
    if (weak_int && !val_const(v) && dt_is_int(d) && !to.weak && dtype_info[d].bits <= 16)
        e_help(e, e_diag(e, span, DIAG_WEAK_INT_NARROWED, dtype_info[d].name),
               "np.int64(...) on the other operand keeps 64 bits");
    Val r = val_convert(e, v, to);
    bool finite = v.konst == KONST_INT || (v.konst == KONST_FLOAT && isfinite(v.f.re));
    if (finite && r.konst == KONST_FLOAT && !isfinite(r.f.re)) e_diag(e, span, DIAG_FLOAT_OVERFLOW, dtype_info[d].name);
    return r;
}

/* ---- coercion to a join ---------------------------------------------------------------------------- */
static Val coerce_scalar(Eval *e, Val v, Val target) {
    Val r = val_convert(e, v, val_sc(target));
    if (val_const(target) || !val_const(r)) return r;
    bool parts = dt_is_complex(val_dtype(r));
    r = val_scalar(e, val_sc(target), (Ref[2]){val_ref(e, r), parts ? val_im(e, r) : REF_NONE});
    r.likely = target.likely;
    return r;
}

Val val_coerce(Eval *e, Val v, Val target) {
    if (val_poisoned(v) || val_poisoned(target)) return val_poison(e);
    if (target.ty->kind == TY_SCALAR) return coerce_scalar(e, v, target);
    if (target.ty->kind == TY_MAYBE) return maybe_coerce(e, v, target);
    if (target.ty->kind == TY_TEXT && target.ty->sub == TEXT_CHOICE) return text_coerce(e, v, target);
    if (target.ty->kind == TY_CHOICE) return choice_coerce(e, v, target);
    if (target.ty->kind == TY_TIME) return time_coerce(e, v, target);
    if (target.ty->kind == TY_PTR || !target.ty->n) return v;
    if (target.ty->kind == TY_ARRAY && target.ty->layout == LAYOUT_A) v = array_flatten_to_a(e, v);
    Val *items = ARENA_ARRAY(e->arena, Val, target.ty->n);
    for (uint32_t i = 0; i < target.ty->n; i++) items[i] = val_coerce(e, v.items[i], target.items[i]);
    return (Val){.ty = target.ty, .items = items, .likely = target.likely};
}

/* What an unassigned variable is where it can't be seen, or in the Numba dialect: zero. */
Val val_zero(Eval *e, Val abs) {
    if (abs.ty->kind == TY_SCALAR && !val_const(abs))
        return val_coerce(e, val_convert(e, val_int(e, 0), val_sc(abs)), abs);
    if (abs.ty->kind == TY_PTR && e->building) abs.ref[0] = ir_const(e->m, e->cur, (Type)abs.ty->space, 0, e->span);
    if (!abs.ty->n) return abs;
    Val *items = ARENA_ARRAY(e->arena, Val, abs.ty->n);
    for (uint32_t i = 0; i < abs.ty->n; i++) items[i] = val_zero(e, abs.items[i]);
    abs.items = items;
    return abs;
}

Val val_phi(Eval *e, Val abs) {
    if (abs.ty->kind == TY_PTR) abs.ref[0] = e_phi(e, (Type)abs.ty->space);
    if (abs.ty->kind == TY_SCALAR && !val_const(abs)) {
        Type t = dtype_info[abs.ty->dtype].ir;
        abs.ref[0] = e_phi(e, t);
        abs.ref[1] = dt_is_complex(val_dtype(abs)) ? e_phi(e, t) : REF_NONE;
    }
    if (!abs.ty->n) return abs;
    Val *items = ARENA_ARRAY(e->arena, Val, abs.ty->n);
    for (uint32_t i = 0; i < abs.ty->n; i++) items[i] = val_phi(e, abs.items[i]);
    abs.items = items;
    return abs;
}

/* `v` was coerced to the PHI's type. */
void val_phi_feed(Eval *e, Val phi, BlockId pred, Val v) {
    if (val_poisoned(phi) || val_poisoned(v)) return;
    for (int i = 0; i < 2; i++)
        if (phi.ref[i] != REF_NONE) e_phi_add(e, phi.ref[i], pred, v.ref[i]);
    for (uint32_t i = 0; i < phi.ty->n; i++) val_phi_feed(e, phi.items[i], pred, v.items[i]);
}
