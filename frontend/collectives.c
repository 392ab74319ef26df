/* collectives.c - gpu.warp and gpu.block: reductions and scans with an operator or a device function.
 *
 * Lanes combine in their order: a step over k lanes joins what a lane has of k neighbours with the next k. So an
 * operator needn't commute, and floats give the same on every device. In a block each warp leaves its part in shared
 * memory, and every thread goes through the parts; two barriers make the memory free for the next call. */
#include "warpfns.h"

/* ---- the operator ------------------------------------------------------------------------------------------- */
static Val operate(Eval *e, const CallSite *site, Val op, Val a, Val b) {
    CallSite call = {.span = site->span, .name = "op", .at = site->at};
    if (!op.ty) return eval_binary(e, site->span, PYB_ADD, a, b);
    return eval_call(e, &call, op, 2, (Val[]){a, b});
}

static Val result_of(Eval *e, const CallSite *site, Val op, Val a) {
    bool building = e->building;
    e->building = false; /* its type alone */
    Val r = operate(e, site, op, a, a);
    e->building = building;
    return val_poisoned(r) && building ? operate(e, site, op, a, a) : r;
}

static Val at_run_time(Eval *e, Val v, Scalar s) {
    v = val_convert(e, v, s);
    Ref parts[2] = {val_re(e, v), REF_NONE};
    if (dt_is_complex((DType)s.dtype)) parts[1] = val_im(e, v);
    return val_scalar(e, s, parts);
}

/* The value in the type that the operator keeps. Bools are counted, as np.sum does it; a + of two np.bool_ is an or. */
static Val settled(Eval *e, const CallSite *site, Val op, Val v) {
    if (!val_is_scalar(v)) return bad_arg(e, site, 0, v, "combine one number after the other");
    if (!op.ty && val_dtype(v) == DT_BOOL) v = to_python_int(e, v);
    for (int i = 0; i < 4; i++) {
        v = at_run_time(e, v, val_sc(v));
        Val r = result_of(e, site, op, v);
        if (val_poisoned(r)) return r;
        if (!val_is_scalar(r)) return e_fail(e, site->span, "two numbers give one", DIAG_ARG_TYPE, "op", e_text(e, r));
        if (r.ty == v.ty) return v;
        v = at_run_time(e, v, val_sc(r));
    }
    return e_fail(e, site->span, "convert its result to one type", DIAG_ARG_TYPE, "op", e_text(e, v));
}

/* op(a, b) in the type of a. */
static Val combined(Eval *e, const CallSite *site, Val op, Val a, Val b) {
    Val r = operate(e, site, op, a, b);
    return val_poisoned(r) ? r : at_run_time(e, r, val_sc(a));
}

static Val chosen(Eval *e, Ref c, Val a, Val b) {
    Type t = dtype_info[a.ty->dtype].ir;
    Ref parts[2] = {e_select(e, t, c, a.ref[0], b.ref[0]), REF_NONE};
    if (dt_is_complex(val_dtype(a))) parts[1] = e_select(e, t, c, a.ref[1], b.ref[1]);
    return val_scalar(e, val_sc(a), parts);
}

/* ---- lanes -------------------------------------------------------------------------------------------------- */

/* Lane 0 of each segment comes to have all of it; the first `count` lanes, if given. */
static Val gathered(Eval *e, const CallSite *site, const Lanes *l, Val v, Val op) {
    for (Wide k = 1; k < l->width; k *= 2) {
        Ref step = e_int(e, T_I32, (int64_t)k);
        Val next = warp_shuffle(e, SHFL_DOWN, l->mask, v, step, l->width);
        Val both = combined(e, site, op, v, next);
        if (val_poisoned(both)) return both;
        if (l->count == REF_NONE || !e->building) {
            v = both;
            continue;
        }
        Ref other = e_op2(e, OP_ADD, T_I32, l->rank, step);
        v = chosen(e, e_cmp(e, PRED_LT, other, l->count), both, v);
    }
    return v;
}

Val lanes_reduce(Eval *e, const CallSite *site, const Lanes *l, Val v, Val op) {
    v = settled(e, site, op, v);
    if (val_poisoned(v)) return v;
    v = gathered(e, site, l, v, op);
    return val_poisoned(v) ? v : warp_shuffle(e, SHFL_IDX, l->mask, v, e_int(e, T_I32, 0), l->width);
}

/* Each lane comes to have what those up to it have together. */
static Val scanned(Eval *e, const CallSite *site, const Lanes *l, Val v, Val op) {
    for (Wide k = 1; k < l->width; k *= 2) {
        Ref step = e_int(e, T_I32, (int64_t)k);
        Val before = warp_shuffle(e, SHFL_UP, l->mask, v, step, l->width);
        Val both = combined(e, site, op, before, v);
        if (val_poisoned(both)) return both;
        v = chosen(e, e_cmp(e, PRED_GE, l->rank, step), both, v);
    }
    return v;
}

/* What an exclusive scan begins with. */
static Val first_of(Eval *e, const CallSite *site, Val op, Val initial, Val like) {
    if (!initial.ty && op.ty)
        return e_fail(e, site->span, "such as initial=1 for a product", DIAG_MISSING_ARG, site->name, "initial");
    if (!initial.ty) return at_run_time(e, val_int(e, 0), val_sc(like));
    if (!val_is_scalar(initial))
        return e_fail(e, site->span, "it is what the operator begins with", DIAG_ARG_TYPE, site->name,
                      e_text(e, initial));
    Val v = array_stored(e, site->span, val_dtype(like), initial);
    return val_poisoned(v) ? v : at_run_time(e, v, val_sc(like));
}

Val lanes_scan(Eval *e, const CallSite *site, const Lanes *l, Val v, Val op, bool exclusive, Val initial) {
    v = settled(e, site, op, v);
    if (val_poisoned(v)) return v;
    v = scanned(e, site, l, v, op);
    if (val_poisoned(v) || !exclusive) return v;
    Val first = first_of(e, site, op, initial, v);
    if (val_poisoned(first)) return first;
    Val before = warp_shuffle(e, SHFL_UP, l->mask, v, e_int(e, T_I32, 1), l->width);
    before = combined(e, site, op, first, before);
    if (val_poisoned(before)) return before;
    return chosen(e, e_cmp(e, PRED_EQ, l->rank, e_int(e, T_I32, 0)), first, before);
}

/* ---- where the thread is ---------------------------------------------------------------------------------------- */
static Ref product(Eval *e, Ref a, Ref b) { return e_op2(e, OP_MUL, T_I32, a, b); }

Ref block_rank(Eval *e) {
    Ref z = e_sreg(e, SREG_TID_Z), rows = e_sreg(e, SREG_NTID_Y);
    Ref zy = product(e, z, rows);
    Ref row = e_op2(e, OP_ADD, T_I32, zy, e_sreg(e, SREG_TID_Y));
    Ref before = product(e, row, e_sreg(e, SREG_NTID_X));
    return e_op2(e, OP_ADD, T_I32, before, e_sreg(e, SREG_TID_X));
}

Ref block_threads(Eval *e) {
    Ref x = e_sreg(e, SREG_NTID_X), y = e_sreg(e, SREG_NTID_Y);
    Ref xy = product(e, x, y);
    return product(e, xy, e_sreg(e, SREG_NTID_Z));
}

/* The thread's warp, of which the last of a block may be smaller. */
typedef struct Place {
    Lanes lanes;
    Ref warp, warps; /* i32: the number of this warp in its block, and how many there are */
} Place;

static Place place(Eval *e) {
    Place p;
    Ref rank = block_rank(e), threads = block_threads(e), five = e_int(e, T_I32, 5), most = e_int(e, T_I32, WARP);
    p.warp = e_op2(e, OP_SHR, T_I32, rank, five);
    Ref rounded = e_op2(e, OP_ADD, T_I32, threads, e_int(e, T_I32, WARP - 1));
    p.warps = e_op2(e, OP_SHR, T_I32, rounded, five);
    Ref rest = e_op2(e, OP_SUB, T_I32, threads, e_op2(e, OP_SHL, T_I32, p.warp, five));
    p.lanes.count = e_op2(e, OP_MIN, T_I32, rest, most);
    Ref unused = e_conv(e, T_U32, e_op2(e, OP_SUB, T_I32, most, p.lanes.count));
    p.lanes.mask = e_op2(e, OP_SHR, T_U32, e_int(e, T_U32, UINT32_MAX), unused);
    p.lanes.rank = e_sreg(e, SREG_LANEID);
    p.lanes.width = WARP;
    return p;
}

/* ---- gpu.warp ---------------------------------------------------------------------------------------------------- */
Val fn_warp_reduce(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"value", "?op"};
    Val v[2];
    if (!call_bind(e, site, n, args, 2, params, v)) return val_poison(e);
    Place p = place(e);
    return lanes_reduce(e, site, &p.lanes, v[0], v[1]);
}

static bool bind_scan(Eval *e, const CallSite *site, uint32_t n, const Val *args, Val *v, bool *exclusive) {
    static const char *const params[] = {"value", "?op", "?exclusive", "?initial"};
    Wide flag = 0;
    if (!call_bind(e, site, n, args, 4, params, v)) return false;
    if (v[2].ty && !val_as_int(v[2], &flag)) {
        e_fail(e, site->span, NULL, DIAG_ARG_CONSTANT, site->name, "exclusive", e_text(e, v[2]));
        return false;
    }
    *exclusive = flag != 0;
    return true;
}

Val fn_warp_scan(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val v[4];
    bool exclusive;
    if (!bind_scan(e, site, n, args, v, &exclusive)) return val_poison(e);
    Place p = place(e);
    return lanes_scan(e, site, &p.lanes, v[0], v[1], exclusive, v[3]);
}

/* ---- gpu.block ------------------------------------------------------------------------------------------------------
 */

/* Room for a part of each warp. */
static Val parts_of(Eval *e, const CallSite *site, DType d) {
    Val size = val_int(e, WARP);
    return shared_array(e, site, d, 1, &size);
}

static void store_part(Eval *e, const CallSite *site, Val parts, Ref warp, Val v) {
    eval_setitem(e, site->span, parts, val_typed(e, DT_U32, e_conv(e, T_U32, warp)), v);
}

static Val load_part(Eval *e, const CallSite *site, Val parts, Ref warp, Scalar s) {
    Val index = val_typed(e, DT_U32, e_conv(e, T_U32, warp));
    return at_run_time(e, array_element(e, site->span, parts, index), s);
}

static void barrier(Eval *e) { e_emit(e, OP_BARRIER, T_VOID, 0, NULL, 0, 0); }

/* The thread that the condition names stores its warp's part; then all parts are there. */
static void share_part(Eval *e, const CallSite *site, Ref condition, Val parts, Ref warp, Val v) {
    BlockId stores = e_new_block(e), joined = e_new_block(e);
    e_branch(e, condition, stores, joined);
    e_set_block(e, stores);
    store_part(e, site, parts, warp, v);
    e_jump(e, joined);
    e_set_block(e, joined);
    barrier(e);
}

/* sum op parts[0] op ... op parts[to - 1]; `first`: the number of the first part to take. */
static Val over_parts(Eval *e, const CallSite *site, Val op, Val parts, Val sum, Ref first, Ref to) {
    Ref one = e_int(e, T_I32, 1);
    BlockId before = e_current(e), head = e_new_block(e), body = e_new_block(e), done = e_new_block(e);
    e_jump(e, head);
    e_set_block(e, head);
    Ref i = e_phi(e, T_I32);
    Val all = val_phi(e, val_abstract(e, sum));
    e_phi_add(e, i, before, first);
    val_phi_feed(e, all, before, sum);
    e_branch(e, e_cmp(e, PRED_LT, i, to), body, done);
    e_set_block(e, body);
    Val next = combined(e, site, op, all, load_part(e, site, parts, i, val_sc(sum)));
    e_phi_add(e, i, e_current(e), e_op2(e, OP_ADD, T_I32, i, one));
    val_phi_feed(e, all, e_current(e), next);
    e_jump(e, head);
    e_set_block(e, done);
    return all;
}

Val fn_block_reduce(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"value", "?op"};
    Val v[2];
    if (!call_bind(e, site, n, args, 2, params, v)) return val_poison(e);
    Val x = settled(e, site, v[1], v[0]);
    if (val_poisoned(x)) return x;
    Place p = place(e);
    Val parts = parts_of(e, site, val_dtype(x));
    x = gathered(e, site, &p.lanes, x, v[1]);
    if (val_poisoned(x) || val_poisoned(parts)) return val_poison(e);
    Ref zero = e_int(e, T_I32, 0), one = e_int(e, T_I32, 1);
    share_part(e, site, e_cmp(e, PRED_EQ, p.lanes.rank, zero), parts, p.warp, x);
    Val first = load_part(e, site, parts, zero, val_sc(x));
    x = over_parts(e, site, v[1], parts, first, one, p.warps);
    barrier(e);
    return x;
}

Val fn_block_scan(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val v[4];
    bool exclusive;
    if (!bind_scan(e, site, n, args, v, &exclusive)) return val_poison(e);
    Val op = v[1], x = settled(e, site, op, v[0]);
    if (val_poisoned(x)) return x;
    Place p = place(e);
    Val parts = parts_of(e, site, val_dtype(x)), start = x;
    if (exclusive) start = first_of(e, site, op, v[3], x);
    x = scanned(e, site, &p.lanes, x, op);
    if (val_poisoned(x) || val_poisoned(parts) || val_poisoned(start)) return val_poison(e);
    Ref zero = e_int(e, T_I32, 0), one = e_int(e, T_I32, 1), last = e_op2(e, OP_SUB, T_I32, p.lanes.count, one);
    share_part(e, site, e_cmp(e, PRED_EQ, p.lanes.rank, last), parts, p.warp, x);
    Val first = load_part(e, site, parts, zero, val_sc(x)); /* of no use to the first warp */
    Val before = over_parts(e, site, op, parts, first, one, p.warp);
    barrier(e);
    Ref first_warp = e_cmp(e, PRED_EQ, p.warp, zero);
    if (!exclusive) return chosen(e, first_warp, x, combined(e, site, op, before, x));
    Val lane = warp_shuffle(e, SHFL_UP, p.lanes.mask, x, one, WARP);
    Ref first_lane = e_cmp(e, PRED_EQ, p.lanes.rank, zero);
    Val mine = chosen(e, first_warp, lane, chosen(e, first_lane, before, combined(e, site, op, before, lane)));
    Ref very_first = e_op2(e, OP_AND, T_BOOL, first_warp, first_lane);
    return chosen(e, very_first, start, combined(e, site, op, start, mine));
}
