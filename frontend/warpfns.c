/* warpfns.c - threads of a warp: shuffles, votes, matches, reductions and scans over lanes.
 *
 * A shuffle moves scalars of every type, complex ones part by part. The mask says which lanes take part: all of them
 * must come here. Reductions with an operator or a device function are made of shuffles, in the order of the lanes, so
 * that an operator needn't commute and floats give the same on every device. */
#include "warpfns.h"

/* ---- arguments --------------------------------------------------------------------------------------------- */
bool warp_mask(Eval *e, const CallSite *site, Val v, Ref *out) {
    if (v.ty && (!val_is_scalar(v) || !dt_is_int(val_dtype(v)))) {
        e_fail(e, arg_span(site, 0), "Mask type must be an integer, with a bit for each lane, such as 0xffffffff",
               DIAG_ARG_TYPE, site->name, e_text(e, v));
        return false;
    }
    *out = v.ty ? val_conv_ref(e, v, DT_U32) : e_int(e, T_U32, UINT32_MAX);
    return true;
}

static bool lane_ref(Eval *e, const CallSite *site, uint32_t i, Val v, Ref *out) {
    if (!val_is_scalar(v) || !dt_is_int(val_dtype(v))) {
        bad_arg(e, site, i, v, "a lane is an integer");
        return false;
    }
    *out = val_conv_ref(e, v, DT_I32);
    return true;
}

bool warp_width(Eval *e, const CallSite *site, Val v, Wide *out) {
    *out = WARP;
    if (!v.ty) return true;
    if (!val_as_int(v, out)) {
        e_fail(e, site->span, NULL, DIAG_ARG_CONSTANT, site->name, "width", e_text(e, v));
        return false;
    }
    if (*out >= 1 && *out <= WARP && !(*out & (*out - 1))) return true;
    e_fail(e, site->span, "1, 2, 4, 8, 16 or 32", DIAG_ARG_VALUE, site->name, "the number of lanes is a power of 2");
    return false;
}

/* ---- shuffles ------------------------------------------------------------------------------------------------ */
static Ref shuffle_ref(Eval *e, Shuffle mode, Type t, Ref mask, Ref value, Ref lane, Ref width) {
    return e_emit(e, OP_SHFL, t, 4, (Ref[]){mask, value, lane, width}, (uint16_t)mode, 0);
}

Val warp_shuffle(Eval *e, Shuffle mode, Ref mask, Val v, Ref lane, Wide width) {
    DType d = val_dtype(v);
    Type t = dtype_info[d].ir;
    Scalar s = val_sc(v);
    Ref re = val_re(e, v), im = dt_is_complex(d) ? val_im(e, v) : REF_NONE, segment = e_int(e, T_I32, (int64_t)width);
    if (d == DT_BOOL) {
        Ref bit = shuffle_ref(e, mode, T_U32, mask, e_conv(e, T_U32, re), lane, segment);
        return val_of(e, s, e_conv(e, T_BOOL, bit));
    }
    re = shuffle_ref(e, mode, t, mask, re, lane, segment);
    if (!dt_is_complex(d)) return val_of(e, s, re);
    return val_complex(e, s, re, shuffle_ref(e, mode, t, mask, im, lane, segment));
}

/* param: Shuffle */
Val fn_shfl(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[SHFL__COUNT][4] = {[SHFL_IDX] = {"mask", "value", "src_lane", "?width"},
                                                       [SHFL_UP] = {"mask", "value", "delta", "?width"},
                                                       [SHFL_DOWN] = {"mask", "value", "delta", "?width"},
                                                       [SHFL_XOR] = {"mask", "value", "lane_mask", "?width"}};
    Val v[4];
    Ref mask, lane;
    Wide width;
    if (!call_bind(e, site, n, args, 4, params[site->fn->param], v) || !warp_mask(e, site, v[0], &mask))
        return val_poison(e);
    if (!val_is_scalar(v[1])) return bad_arg(e, site, 1, v[1], "a shuffle moves one number; move items one by one");
    if (!lane_ref(e, site, 2, v[2], &lane) || !warp_width(e, site, v[3], &width)) return val_poison(e);
    return warp_shuffle(e, (Shuffle)site->fn->param, mask, v[1], lane, width);
}

/* ---- votes and matches ------------------------------------------------------------------------------------------ */

/* Lanes as an integer: uint32; Numba's results are int32. */
static Val lanes(Eval *e, Ref r) {
    return e_numba(e) ? val_typed(e, DT_I32, e_conv(e, T_I32, r)) : val_typed(e, DT_U32, r);
}

Val warp_vote(Eval *e, const CallSite *site, Vote vote, Ref mask, Val predicate) {
    Val truth = eval_truth(e, site->span, predicate);
    if (val_poisoned(truth)) return truth;
    Ref args[2] = {mask, val_ref(e, truth)};
    Ref r = e_emit(e, OP_VOTE, vote == VOTE_BALLOT ? T_U32 : T_BOOL, 2, args, (uint16_t)vote, 0);
    return vote == VOTE_BALLOT ? lanes(e, r) : val_rt_bool(e, r);
}

/* param: Vote */
Val fn_vote(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"mask", "predicate"};
    Val v[2];
    Ref mask;
    if (!call_bind(e, site, n, args, 2, params, v) || !warp_mask(e, site, v[0], &mask)) return val_poison(e);
    if (e_numba(e) && val_is_scalar(v[1]) && !dt_is_int(val_dtype(v[1])) && val_dtype(v[1]) != DT_BOOL)
        return e_fail(e, arg_span(site, 1), "Predicate must be an integer or boolean: write x != 0", DIAG_ARG_TYPE,
                      site->name, e_text(e, v[1]));
    return warp_vote(e, site, (Vote)site->fn->param, mask, v[1]);
}

Val warp_match(Eval *e, const CallSite *site, Match match, uint32_t at, Ref mask, Val v) {
    if (!val_is_scalar(v) || dt_is_complex(val_dtype(v)))
        return bad_arg(e, site, at, v, "it compares the bits of real numbers");
    DType d = val_dtype(v);
    Ref args[2] = {mask, d == DT_BOOL ? e_conv(e, T_U32, val_ref(e, v)) : val_ref(e, v)};
    Ref r = e_emit(e, OP_MATCH, T_U32, 2, args, (uint16_t)match, 0);
    if (match == MATCH_ANY) return lanes(e, r);
    Val all = val_rt_bool(e, e_conv(e, T_BOOL, r)); /* first: the order of the IR */
    return val_tuple(e, 2, (Val[]){lanes(e, r), all});
}

/* param: Match */
Val fn_match(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"mask", "value"};
    Val v[2];
    Ref mask;
    if (!call_bind(e, site, n, args, 2, params, v) || !warp_mask(e, site, v[0], &mask)) return val_poison(e);
    return warp_match(e, site, (Match)site->fn->param, 1, mask, v[1]);
}

Val fn_syncwarp(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"?mask"};
    Val v;
    Ref mask;
    if (!call_bind(e, site, n, args, 1, params, &v) || !warp_mask(e, site, v, &mask)) return val_poison(e);
    e_emit(e, OP_SYNCWARP, T_VOID, 1, &mask, 0, 0);
    return val_none(e);
}

Val fn_activemask(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    if (!no_arguments(e, site, n, args)) return val_poison(e);
    return val_typed(e, DT_U32, e_emit(e, OP_ACTIVEMASK, T_U32, 0, NULL, 0, 0));
}

/* param: Pred of the lanes beside this one */
Val fn_lanemask(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    if (!no_arguments(e, site, n, args)) return val_poison(e);
    Ref lane = e_conv(e, T_U32, e_sreg(e, SREG_LANEID)), one = e_int(e, T_U32, 1);
    Ref own = e_op2(e, OP_SHL, T_U32, one, lane), r = own, below = e_op2(e, OP_SUB, T_U32, own, one);
    Pred p = (Pred)site->fn->param;
    if (p == PRED_LT) r = below;
    if (p == PRED_LE || p == PRED_GT) r = e_op2(e, OP_OR, T_U32, below, own);
    if (p == PRED_GT) r = e_op1(e, OP_NOT, T_U32, r);
    if (p == PRED_GE) r = e_op1(e, OP_NOT, T_U32, below);
    return val_typed(e, DT_U32, r);
}

/* ---- reduce_*_sync: one number from all lanes of a mask ---------------------------------------------------------- */
static Op reducing(AtomicOp op, Type t) {
    switch (op) {
    case ATOMIC_MIN: return type_is_float(t) ? OP_FMIN : OP_MIN;
    case ATOMIC_MAX: return type_is_float(t) ? OP_FMAX : OP_MAX;
    case ATOMIC_AND: return OP_AND;
    case ATOMIC_OR: return OP_OR;
    case ATOMIC_XOR: return OP_XOR;
    default: return OP_ADD;
    }
}

/* One lane after the other shows its value to all: what the instruction doesn't take. */
static Ref reduce_by_lanes(Eval *e, AtomicOp op, Type t, Ref mask, Ref v) {
    Ref zero = e_int(e, T_U32, 0), one = e_int(e, T_U32, 1), width = e_int(e, T_I32, WARP);
    BlockId head = e_new_block(e), done = e_new_block(e);
    Ref first = e_op1(e, OP_CTZ, T_U32, mask);
    Ref sum0 = shuffle_ref(e, SHFL_IDX, t, mask, v, e_conv(e, T_I32, first), width);
    Ref rest0 = e_op2(e, OP_AND, T_U32, mask, e_op2(e, OP_SUB, T_U32, mask, one));
    BlockId before = e_current(e), body = e_new_block(e);
    e_jump(e, head);
    e_set_block(e, head);
    Ref left = e_phi(e, T_U32);
    Ref sum = e_phi(e, t);
    e_phi_add(e, left, before, rest0);
    e_phi_add(e, sum, before, sum0);
    e_branch(e, e_cmp(e, PRED_NE, left, zero), body, done);
    e_set_block(e, body);
    Ref lane = e_conv(e, T_I32, e_op1(e, OP_CTZ, T_U32, left));
    Ref next = e_op2(e, reducing(op, t), t, sum, shuffle_ref(e, SHFL_IDX, t, mask, v, lane, width));
    Ref rest = e_op2(e, OP_AND, T_U32, left, e_op2(e, OP_SUB, T_U32, left, one));
    e_phi_add(e, left, e_current(e), rest);
    e_phi_add(e, sum, e_current(e), next);
    e_jump(e, head);
    e_set_block(e, done);
    return sum;
}

/* param: AtomicOp */
Val fn_reduce_sync(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"mask", "value"};
    AtomicOp op = (AtomicOp)site->fn->param;
    bool bits = op >= ATOMIC_AND && op <= ATOMIC_XOR;
    Val v[2];
    Ref mask;
    if (!call_bind(e, site, n, args, 2, params, v) || !warp_mask(e, site, v[0], &mask)) return val_poison(e);
    DType d = val_is_scalar(v[1]) ? val_dtype(v[1]) : DT_NONE;
    if (d == DT_NONE || d == DT_BOOL || dt_is_complex(d) || (bits && !dt_is_int(d)))
        return bad_arg(e, site, 1, v[1],
                       d == DT_BOOL ? "all_sync and any_sync take bools; int(...) makes a number of one"
                       : bits       ? "it works on the bits of an integer"
                                    : "it takes real numbers; gpu.warp.reduce takes others, too");
    Type t = dtype_info[d].ir;
    Ref x = val_ref(e, v[1]);
    if (!dt_is_int(d) || type_bits(t) > 32) return val_of(e, val_sc(v[1]), reduce_by_lanes(e, op, t, mask, x));
    Type word = type_is_signed(t) ? T_I32 : T_U32;
    Ref r = e_emit(e, OP_REDUX, word, 2, (Ref[]){mask, e_conv(e, word, x)}, (uint16_t)op, 0);
    return val_of(e, val_sc(v[1]), e_conv(e, t, r));
}
