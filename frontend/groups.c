/* groups.c - gpu.cg: the grid, the block and tiles of a warp as objects with the operations of CUDA's cooperative
 * groups.
 *
 * A group is known when compiling. A tile is a part of a warp, 1, 2, 4, 8, 16 or 32 lanes; all its lanes take part in
 * what it does. */
#include "warpfns.h"

static Val group(Eval *e, GroupKind kind, uint32_t n, const Val *items) {
    return val_composite(e, TY_GROUP, kind, n, items);
}

/* param: GroupKind */
Val fn_this_group(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    if (!no_arguments(e, site, n, args)) return val_poison(e);
    return group(e, (GroupKind)site->fn->param, 0, NULL);
}

Val fn_tiled_partition(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"group", "size"};
    Val v[2];
    Wide width, whole;
    if (!call_bind(e, site, n, args, 2, params, v)) return val_poison(e);
    if (v[0].ty->kind != TY_GROUP || v[0].ty->sub == GROUP_GRID)
        return bad_arg(e, site, 0, v[0], "gpu.cg.this_thread_block(), or a larger tile");
    if (!warp_width(e, site, v[1], &width)) return val_poison(e);
    if (v[0].ty->sub == GROUP_TILE && val_as_int(v[0].items[0], &whole) && width > whole)
        return e_fail(e, arg_span(site, 1), NULL, DIAG_ARG_VALUE, site->name, "a part isn't larger than its whole");
    Val size = val_int(e, width);
    return group(e, GROUP_TILE, 1, &size);
}

/* ---- where a thread is ------------------------------------------------------------------------------------------ */
static Ref wide(Eval *e, Sreg s) { return e_conv(e, T_I64, e_sreg(e, s)); }

static Ref blocks(Eval *e) {
    Ref xy = e_op2_of(e, OP_MUL, T_I64, val_rt_int(e, wide(e, SREG_NCTAID_X)), val_rt_int(e, wide(e, SREG_NCTAID_Y)));
    Ref z = wide(e, SREG_NCTAID_Z);
    return e_op2(e, OP_MUL, T_I64, xy, z);
}

static Ref block_number(Eval *e) {
    Ref z = wide(e, SREG_CTAID_Z), rows = wide(e, SREG_NCTAID_Y);
    Ref before = e_op2(e, OP_MUL, T_I64, z, rows);
    Ref row = e_op2(e, OP_ADD, T_I64, before, wide(e, SREG_CTAID_Y));
    Ref columns = e_op2(e, OP_MUL, T_I64, row, wide(e, SREG_NCTAID_X));
    return e_op2(e, OP_ADD, T_I64, columns, wide(e, SREG_CTAID_X));
}

static Val tile_size(Val self) { return self.items[0]; }

static Ref tile_rank(Eval *e, Val self) {
    Ref lane = e_sreg(e, SREG_LANEID), mask = e_int(e, T_I32, (int64_t)tile_size(self).i - 1);
    return e_op2(e, OP_AND, T_I32, lane, mask);
}

static Val block_answer(Eval *e, Question q) {
    Ref r = q == THREAD_RANK ? block_rank(e) : block_threads(e);
    return val_rt_int(e, e_conv(e, T_I64, r));
}

static Val grid_answer(Eval *e, Question q) {
    if (q == BLOCK_RANK) return val_rt_int(e, block_number(e));
    if (q == NUM_BLOCKS) return val_rt_int(e, blocks(e));
    Ref threads = e_conv(e, T_I64, block_threads(e));
    if (q == NUM_THREADS) return val_rt_int(e, e_op2(e, OP_MUL, T_I64, threads, blocks(e)));
    Ref before = e_op2(e, OP_MUL, T_I64, block_number(e), threads);
    return val_rt_int(e, e_op2(e, OP_ADD, T_I64, before, e_conv(e, T_I64, block_rank(e))));
}

static Val tile_answer(Eval *e, Question q, Val self) {
    Val size = tile_size(self);
    if (q == NUM_THREADS) return size;
    if (q == THREAD_RANK) return val_rt_int(e, e_conv(e, T_I64, tile_rank(e, self)));
    Ref n = e_int(e, T_I32, (int64_t)size.i);
    Ref threads = q == TILE_RANK ? block_rank(e) : block_threads(e);
    if (q == NUM_TILES) threads = e_op2(e, OP_ADD, T_I32, threads, e_int(e, T_I32, (int64_t)size.i - 1));
    return val_rt_int(e, e_conv(e, T_I64, e_op2(e, OP_TRUNCDIV, T_I32, threads, n)));
}

/* param: Question */
Val fn_group_is(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Question q = (Question)site->fn->param;
    Val self;
    if (!bind_args(e, site, n, args, 1, &self)) return val_poison(e);
    switch ((GroupKind)self.ty->sub) {
    case GROUP_GRID: return grid_answer(e, q);
    case GROUP_BLOCK: return block_answer(e, q);
    default: return tile_answer(e, q, self);
    }
}

/* ---- tiles ------------------------------------------------------------------------------------------------------ */
static Lanes lanes_of(Eval *e, Val self) {
    Lanes l = {.count = REF_NONE, .width = tile_size(self).i};
    l.rank = tile_rank(e, self);
    if (l.width == WARP) {
        l.mask = e_int(e, T_U32, UINT32_MAX);
        return l;
    }
    Ref first = e_op2(e, OP_SUB, T_I32, e_sreg(e, SREG_LANEID), l.rank);
    Ref bits = e_int(e, T_U32, ((int64_t)1 << l.width) - 1);
    l.mask = e_op2(e, OP_SHL, T_U32, bits, e_conv(e, T_U32, first));
    return l;
}

Val fn_group_sync(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const Op waits[] = {[GROUP_GRID] = OP_GRIDSYNC, [GROUP_BLOCK] = OP_BARRIER};
    Val self;
    if (!bind_args(e, site, n, args, 1, &self)) return val_poison(e);
    if (self.ty->sub == GROUP_TILE) {
        Lanes l = lanes_of(e, self);
        e_emit(e, OP_SYNCWARP, T_VOID, 1, &l.mask, 0, 0);
    } else e_emit(e, waits[self.ty->sub], T_VOID, 0, NULL, 0, 0);
    return e_numba(e) && self.ty->sub == GROUP_GRID ? val_const_int(e, typed(DT_I32), 0) : val_none(e);
}

/* param: Shuffle */
Val fn_tile_shfl(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/self", "value", "lane"};
    Val v[3];
    if (!call_bind(e, site, n, args, 3, params, v)) return val_poison(e);
    if (!val_is_scalar(v[1])) return bad_arg(e, site, 1, v[1], "a shuffle moves one number; move items one by one");
    if (!val_is_scalar(v[2]) || !dt_is_int(val_dtype(v[2]))) return bad_arg(e, site, 2, v[2], "a lane is an integer");
    Lanes l = lanes_of(e, v[0]);
    return warp_shuffle(e, (Shuffle)site->fn->param, l.mask, v[1], val_conv_ref(e, v[2], DT_I32), l.width);
}

/* The lanes of a tile as bits from 0 on. */
static Val from_bit_0(Eval *e, Val mask, const Lanes *l) {
    if (l->width == WARP || val_poisoned(mask)) return mask;
    Ref lane = e_sreg(e, SREG_LANEID), first = e_op2(e, OP_SUB, T_I32, lane, l->rank);
    DType d = val_dtype(mask);
    Ref bits = val_conv_ref(e, mask, DT_U32);
    bits = e_op2(e, OP_SHR, T_U32, bits, e_conv(e, T_U32, first));
    return val_typed(e, d, e_conv(e, dtype_info[d].ir, bits));
}

/* param: Vote */
Val fn_tile_vote(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/self", "predicate"};
    Val v[2];
    if (!call_bind(e, site, n, args, 2, params, v)) return val_poison(e);
    Lanes l = lanes_of(e, v[0]);
    Val r = warp_vote(e, site, (Vote)site->fn->param, l.mask, v[1]);
    return site->fn->param == VOTE_BALLOT ? from_bit_0(e, r, &l) : r;
}

/* param: Match; match_all gives whether all are the same */
Val fn_tile_match(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/self", "value"};
    Val v[2];
    if (!call_bind(e, site, n, args, 2, params, v)) return val_poison(e);
    Lanes l = lanes_of(e, v[0]);
    Val r = warp_match(e, site, (Match)site->fn->param, 1, l.mask, v[1]);
    if (val_poisoned(r)) return r;
    return site->fn->param == MATCH_ALL ? r.items[1] : from_bit_0(e, r, &l);
}

Val fn_tile_reduce(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/self", "value", "?op"};
    Val v[3];
    if (!call_bind(e, site, n, args, 3, params, v)) return val_poison(e);
    Lanes l = lanes_of(e, v[0]);
    return lanes_reduce(e, site, &l, v[1], v[2]);
}

/* param: whether exclusive */
Val fn_tile_scan(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/self", "value", "?op", "?initial"};
    Val v[4];
    if (!call_bind(e, site, n, args, site->fn->param ? 4 : 3, params, v)) return val_poison(e);
    Lanes l = lanes_of(e, v[0]);
    return lanes_scan(e, site, &l, v[1], v[2], site->fn->param, site->fn->param ? v[3] : (Val){0});
}
