/* gpufns.c - gpu.*: where a thread is in its grid; and the methods of scalars. */
#include "devfns.h"

/* A special register as a Python int; Numba has int32. */
Val fn_sreg(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    (void)n;
    (void)args;
    Ref r = e_sreg(e, (Sreg)site->fn->param);
    return e_numba(e) ? val_typed(e, DT_I32, r) : val_rt_int(e, e_conv(e, T_I64, r));
}

Val fn_warpsize(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    (void)site;
    (void)n;
    (void)args;
    return e_numba(e) ? val_const_int(e, typed(DT_I32), 32) : val_int(e, 32);
}

static Ref wide_sreg(Eval *e, Sreg first, unsigned axis) { return e_conv(e, T_I64, e_sreg(e, (Sreg)(first + axis))); }

static Val grid_axis(Eval *e, bool size, unsigned axis) {
    Ref block = wide_sreg(e, size ? SREG_NCTAID_X : SREG_CTAID_X, axis);
    Ref first = e_op2(e, OP_MUL, T_I64, block, wide_sreg(e, SREG_NTID_X, axis));
    return val_rt_int(e, size ? first : e_op2(e, OP_ADD, T_I64, first, wide_sreg(e, SREG_TID_X, axis)));
}

/* param: 0 grid, 1 gridsize */
Val fn_grid(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"ndim"};
    Val v, items[3];
    Wide ndim;
    bool size = site->fn->param;
    if (!call_bind(e, site, n, args, 1, params, &v)) return val_poison(e);
    if (!val_as_int(v, &ndim))
        return e_fail(e, arg_span(site, 0), "the number of axes is part of the compiled code", DIAG_ARG_CONSTANT,
                      site->name, "ndim", e_text(e, v));
    if (ndim < 1 || ndim > 3)
        return e_fail(e, arg_span(site, 0), NULL, DIAG_ARG_VALUE, site->name, "a grid has 1, 2 or 3 axes");
    for (unsigned i = 0; i < (unsigned)ndim; i++) items[i] = grid_axis(e, size, i);
    return ndim == 1 ? items[0] : val_tuple(e, (uint32_t)ndim, items);
}

/* ---- methods of scalars: the first argument is the scalar ---------------------------------------------------------
 */
static bool self_and_dtype(Eval *e, const CallSite *site, uint32_t n, const Val *args, Val *self, DType *d) {
    static const char *const params[] = {"/self", "dtype"};
    Val v[2];
    if (!call_bind(e, site, n, args, 2, params, v)) return false;
    *self = v[0];
    if (val_as_dtype(e, v[1], d)) return true;
    e_fail(e, site->span, "a dtype is written np.float32", DIAG_ARG_TYPE, site->name, e_text(e, v[1]));
    return false;
}

Val fn_astype(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    DType d;
    if (!self_and_dtype(e, site, n, args, &x, &d)) return val_poison(e);
    if (dt_is_complex(val_dtype(x)) && !dt_is_complex(d) && d != DT_BOOL)
        return e_fail(e, site->span, "take .real, .imag or abs(...)", DIAG_COMPLEX_TO_REAL, e_text(e, x),
                      dtype_info[d].name);
    return val_convert(e, x, typed(d));
}

Val fn_view(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    DType d;
    if (!self_and_dtype(e, site, n, args, &x, &d)) return val_poison(e);
    DType from = val_dtype(x);
    bool bits = from != DT_BOOL && d != DT_BOOL && !dt_is_complex(from) && !dt_is_complex(d);
    if (!bits || is_weak(x) || dtype_info[from].bits != dtype_info[d].bits)
        return e_fail(e, site->span, "a view has the same number of bits", DIAG_ARG_TYPES, site->name, e_text(e, x),
                      dtype_info[d].name);
    if (from == d) return x;
    return val_typed(e, d, e_op1(e, OP_BITCAST, dtype_info[d].ir, val_ref(e, x)));
}

Val fn_item(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const DType python[] = {
        [DK_BOOL] = DT_BOOL, [DK_INT] = DT_I64, [DK_UINT] = DT_I64, [DK_FLOAT] = DT_F64, [DK_COMPLEX] = DT_C128};
    Val x;
    if (!bind_args(e, site, n, args, 1, &x)) return val_poison(e);
    return e_numba(e) ? x : val_convert(e, x, SCALAR(python[dtype_info[x.ty->dtype].kind], true));
}

Val fn_conjugate(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    if (!bind_args(e, site, n, args, 1, &x)) return val_poison(e);
    if (!dt_is_complex(val_dtype(x))) return val_dtype(x) == DT_BOOL && is_weak(x) ? to_python_int(e, x) : x;
    if (val_const(x)) return val_const_float(e, val_sc(x), x.f.re, -x.f.im);
    Ref re = val_re(e, x), im = val_im(e, x);
    return val_complex(e, val_sc(x), re, e_op1(e, OP_NEG, dtype_info[x.ty->dtype].ir, im));
}

/* param: 0 bit_count, 1 bit_length; of the magnitude */
Val fn_bits(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    Type t;
    if (!bind_args(e, site, n, args, 1, &x) || !want_ints(e, site, 1, &x)) return val_poison(e);
    if (val_dtype(x) == DT_BOOL) x = to_python_int(e, x);
    Ref m = magnitude(e, dtype_info[x.ty->dtype].ir, val_ref(e, x), &t);
    Ref r = e_conv(e, T_I64, e_op1(e, site->fn->param ? OP_CLZ : OP_POPC, t, m));
    if (site->fn->param) r = e_op2(e, OP_SUB, T_I64, e_int(e, T_I64, type_bits(t)), r);
    return val_rt_int(e, r);
}

Val fn_is_integer(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    if (!bind_args(e, site, n, args, 1, &x) || !want_scalars(e, site, 1, &x, true)) return val_poison(e);
    if (is_integral(x)) return val_bool(e, true);
    Type t = float_type(val_dtype(x));
    Ref r = float_ref(e, x, val_dtype(x));
    Ref whole = e_cmp(e, PRED_EQ, e_math1(e, MATH_FLOOR, t, r), r);
    return val_rt_bool(e, e_op2(e, OP_AND, T_BOOL, whole, is_finite(e, t, r)));
}
