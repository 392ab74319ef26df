/* bitfns.c - bits of integers, saturation, selection, clocks: what GPUs have instructions for. */
#include "devfns.h"
#include "evaluator.h"

/* ---- bits --------------------------------------------------------------------------------------------------- */
static bool one_integer(Eval *e, const CallSite *site, uint32_t n, const Val *args, Val *x) {
    if (!bind_args(e, site, n, args, 1, x) || !want_ints(e, site, 1, x)) return false;
    if (val_dtype(*x) == DT_BOOL) *x = to_python_int(e, *x);
    return true;
}

/* A count is a Python int; Numba's has the argument's type. */
static Val count(Eval *e, Val like, Ref r) {
    return e_numba(e) ? val_of(e, val_sc(like), r) : val_rt_int(e, e_conv(e, T_I64, r));
}

/* param: OP_POPC or OP_CLZ; of the bits in the argument's own width, 64 of a Python int */
Val fn_bit_count(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    if (!one_integer(e, site, n, args, &x)) return val_poison(e);
    return count(e, x, e_op1(e, (Op)site->fn->param, dtype_info[x.ty->dtype].ir, val_ref(e, x)));
}

Val fn_ffs(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    if (!one_integer(e, site, n, args, &x)) return val_poison(e);
    Type t = dtype_info[x.ty->dtype].ir;
    Ref r = val_ref(e, x), zero = e_int(e, t, 0), none = e_int(e, T_I32, 0), one = e_int(e, T_I32, 1);
    Ref place = e_op2(e, OP_ADD, T_I32, e_conv(e, T_I32, e_op1(e, OP_CTZ, t, r)), one);
    Ref found = e_select(e, T_I32, e_cmp(e, PRED_EQ, r, zero), none, place);
    return e_numba(e) ? val_typed(e, DT_U32, e_conv(e, T_U32, found)) : val_rt_int(e, e_conv(e, T_I64, found));
}

/* Numba's results are unsigned, of 32 or 64 bits. */
Val fn_brev(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    if (!one_integer(e, site, n, args, &x)) return val_poison(e);
    if (e_numba(e)) x = val_convert(e, x, typed(dtype_info[x.ty->dtype].bits == 64 ? DT_U64 : DT_U32));
    return val_of(e, val_sc(x), e_op1(e, OP_BREV, dtype_info[x.ty->dtype].ir, val_ref(e, x)));
}

static bool three_integers(Eval *e, const CallSite *site, uint32_t n, const Val *args, Val *x) {
    return bind_args(e, site, n, args, 3, x) && want_ints(e, site, 3, x);
}

Val fn_byte_perm(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[3];
    Ref r[3];
    if (!three_integers(e, site, n, args, x)) return val_poison(e);
    for (int i = 0; i < 3; i++) r[i] = val_conv_ref(e, x[i], DT_U32);
    return val_typed(e, DT_U32, e_op3(e, OP_PRMT, T_U32, r[0], r[1], r[2]));
}

/* funnelshift_l(lo, hi, n) ...; param: bit 0 right, bit 1 the amount stops at the width. 64 bits if a typed argument
 * has. */
Val fn_funnelshift(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    bool right = site->fn->param & 1, clamps = site->fn->param & 2;
    Val x[3];
    if (!three_integers(e, site, n, args, x)) return val_poison(e);
    DType d = DT_U32;
    for (int i = 0; i < 2; i++)
        if (!is_weak(x[i]) && dtype_info[x[i].ty->dtype].bits == 64 && !(e_numba(e) && val_const(x[i]))) d = DT_U64;
    Type t = dtype_info[d].ir;
    Ref low = val_conv_ref(e, x[0], d), high = val_conv_ref(e, x[1], d), by = val_conv_ref(e, x[2], DT_U32);
    Ref shifted = e_op3(e, right ? OP_FSHR : OP_FSHL, t, high, low, e_conv(e, t, by));
    if (!clamps) return val_typed(e, d, shifted);
    Ref far = e_cmp(e, PRED_GE, by, e_int(e, T_U32, dtype_info[d].bits));
    return val_typed(e, d, e_select(e, t, far, right ? high : low, shifted));
}

Val fn_mulhi(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    DType d;
    Val x[2];
    if (!bind_args(e, site, n, args, 2, x) || !want_ints(e, site, 2, x)) return val_poison(e);
    bool both_weak = is_weak(x[0]) && is_weak(x[1]);
    if (!ufunc_loop(e, site, LOOP_INT, 2, x, &d)) return val_poison(e);
    Ref a = val_ref(e, loop_arg(e, site, 0, x[0], d)), b = val_ref(e, loop_arg(e, site, 1, x[1], d));
    return val_of(e, SCALAR(d, both_weak), e_op2(e, OP_MULHI, dtype_info[d].ir, a, b));
}

/* ---- floats -------------------------------------------------------------------------------------------------- */
Val fn_saturate(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    if (!bind_args(e, site, n, args, 1, &x) || !want_scalars(e, site, 1, &x, true)) return val_poison(e);
    Scalar s = math_scalar(e, 1, &x);
    Type t = float_type((DType)s.dtype);
    Ref zero = e_float(e, t, 0), one = e_float(e, t, 1);
    Ref above = e_op2(e, OP_FMAX, t, float_ref(e, x, (DType)s.dtype), zero); /* nan becomes 0 */
    return float_val(e, s, e_op2(e, OP_FMIN, t, above, one));
}

Val fn_selp(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[3];
    if (!bind_args(e, site, n, args, 3, x)) return val_poison(e);
    return eval_select(e, site->span, x[0], x[1], x[2]);
}

/* ---- time ------------------------------------------------------------------------------------------------------ */
Val fn_nanosleep(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"ns"};
    Val v;
    if (!call_bind(e, site, n, args, 1, params, &v) || !want_ints(e, site, 1, &v)) return val_poison(e);
    Ref r = val_conv_ref(e, v, DT_U32);
    e_emit(e, OP_NANOSLEEP, T_VOID, 1, &r, 0, 0);
    return val_none(e);
}

/* param: Clock */
Val fn_clock(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    if (!no_arguments(e, site, n, args)) return val_poison(e);
    return val_rt_int(e, e_emit(e, OP_CLOCK, T_I64, 0, NULL, site->fn->param, 0));
}

/* The low half of the counter, as the instruction has it. */
Val fn_clock32(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    if (!no_arguments(e, site, n, args)) return val_poison(e);
    Ref r = e_conv(e, T_U32, e_emit(e, OP_CLOCK, T_I64, 0, NULL, site->fn->param, 0));
    return val_typed(e, DT_U32, r);
}
