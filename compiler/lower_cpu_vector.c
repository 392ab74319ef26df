/* lower_cpu_vector.c - a region's code for a vector of threads that follow each other along x.
 *
 *   if (x + LANES <= blockDim.x) full body; else masked body, maybe with fewer lanes, for those below blockDim.x
 *
 * A value is one scalar for all lanes, or grows by a constant from lane to lane (then the scalar of the first lane is
 * kept), or is a vector. Blocks that all lanes reach together are lowered as they are, with real branches. Where lanes
 * part, the blocks that only some of them reach hang together in a chain, in an order in which loops are contiguous:
 *
 *   each block has a variable, the mask of the lanes that are to come; it takes the mask, is skipped if that is empty,
 * runs under it, and adds lanes to the masks of its successors; behind the last block of a loop, if lanes wait for the
 * loop's header again, it is run again.
 *
 * So lanes that leave a loop early wait behind it for the others, and no shape of control needs care of its own. Values
 * that leave such a block go through variables, since it may be skipped; in loops the lanes that are out keep theirs.
 * LLVM turns variables into registers.
 *
 * A lane that isn't on computes anything: its results may be poison in LLVM's words. So masks are made by select, never
 * by and; divisors are frozen; the scalar of a first lane carries no promise not to wrap. */
#include "lower_cpu_body.h"

#include <assert.h>
#include <string.h>

#define NO_BLOCK UINT32_MAX

static const Instr *instr(const Lower *L, Ref r) { return &L->m->instrs.at[r]; }
static Type type_of(const Lower *L, Ref r) { return (Type)instr(L, r)->type; }
static bool parts(const struct Body *B, BlockId b) { return B->u->block_divergent[b]; }

/* ---- values -------------------------------------------------------------------------------------- */

LaneKind lane_kind(const Lower *L, Ref r) {
    const Uniformity *u = L->body->u;
    if (u->value[r] <= SHAPE_BLOCK) return LANE_SCALAR;
    if (u->value[r] == SHAPE_VARYING) return LANE_VECTOR;
    return u->stride[r] ? LANE_FIRST : LANE_SCALAR;
}

static Ty wide(const Lower *L, Ty t) { return LLVMVectorType(t, L->body->lanes); }
static Ty mask_type(const Lower *L) { return wide(L, L->i1); }

Val lanes_splat(Lower *L, Val v) {
    Ty t = wide(L, LLVMTypeOf(v));
    if (LLVMIsConstant(v) && LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMPointerTypeKind) {
        Val parts_of[64];
        for (unsigned i = 0; i < L->body->lanes; i++) parts_of[i] = v;
        return LLVMConstVector(parts_of, L->body->lanes);
    }
    Val zero = LLVMConstInt(L->i32, 0, false), one = LLVMBuildInsertElement(L->b, LLVMGetPoison(t), v, zero, "one");
    return LLVMBuildShuffleVector(L->b, one, LLVMGetPoison(t), LLVMConstNull(wide(L, L->i32)), "all");
}

/* 0, step, 2 * step ... */
Val lanes_steps(const Lower *L, Ty t, uint64_t step) {
    Val parts_of[64];
    for (unsigned i = 0; i < L->body->lanes; i++) parts_of[i] = LLVMConstInt(t, step * i, false);
    return LLVMConstVector(parts_of, L->body->lanes);
}

static Val widen_first(Lower *L, Val v, uint64_t stride) {
    if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind) {
        Val offsets = lanes_steps(L, L->i64, stride);
        return LLVMBuildGEP2(L->b, L->i8, v, &offsets, 1, "lanes");
    }
    return LLVMBuildAdd(L->b, lanes_splat(L, v), lanes_steps(L, LLVMTypeOf(v), stride), "lanes");
}

Val lanes_held(Lower *L, Ref r) {
    Val variable = L->variable[r];
    if (!variable) return L->value[r];
    return LLVMBuildLoad2(L->b, LLVMGetAllocatedType(variable), variable, "v");
}

Val lanes_value(Lower *L, Ref r) {
    Val v = lanes_held(L, r);
    switch (lane_kind(L, r)) {
    case LANE_SCALAR: return lanes_splat(L, v);
    case LANE_FIRST: return widen_first(L, v, (uint64_t)L->body->u->stride[r]);
    default: return v;
    }
}

Val lanes_on(Lower *L) {
    const struct Body *B = L->body;
    return B->on_variable ? LLVMBuildLoad2(L->b, mask_type(L), B->on_variable, "on") : B->on;
}

Ty lanes_type(const Lower *L, Ref r) {
    Ty t = ll_scalar(L, type_of(L, r));
    return lane_kind(L, r) == LANE_VECTOR ? wide(L, t) : t;
}

/* ---- masks --------------------------------------------------------------------------------------- */

Val lanes_bits(Lower *L, Val mask) {
    return LLVMBuildBitCast(L->b, mask, LLVMIntTypeInContext(L->ctx, L->body->lanes), "bits");
}

Val lanes_any(Lower *L, Val mask) {
    Val bits = lanes_bits(L, mask);
    return ll_icmp(L, LLVMIntNE, bits, LLVMConstNull(LLVMTypeOf(bits)));
}

Val lanes_all(Lower *L, Val mask) {
    Val bits = lanes_bits(L, mask);
    return ll_icmp(L, LLVMIntEQ, bits, LLVMConstAllOnes(LLVMTypeOf(bits)));
}

Val lanes_both(Lower *L, Val mask, Val cond) {
    return mask ? ll_select(L, mask, cond, LLVMConstNull(mask_type(L))) : cond;
}

Val lanes_full_mask(Lower *L, Val mask) { return mask ? mask : LLVMConstAllOnes(mask_type(L)); }

/* Where the first lane that is on lies; i64. */
Val lanes_first_on(Lower *L, Val mask) {
    if (!mask) return LLVMConstInt(L->i64, 0, false);
    Val bits = lanes_bits(L, mask), args[2] = {bits, LLVMConstInt(L->i1, 0, false)};
    return LLVMBuildZExt(L->b, ll_intrinsic(L, "llvm.cttz", LLVMTypeOf(bits), 2, args), L->i64, "first");
}

static Val last_on(Lower *L, Val mask) {
    unsigned lanes = L->body->lanes;
    if (!mask) return LLVMConstInt(L->i64, lanes - 1, false);
    Val bits = lanes_bits(L, mask), args[2] = {bits, LLVMConstInt(L->i1, 0, false)};
    Val above = LLVMBuildZExt(L->b, ll_intrinsic(L, "llvm.ctlz", LLVMTypeOf(bits), 2, args), L->i64, "above");
    return LLVMBuildSub(L->b, LLVMConstInt(L->i64, lanes - 1, false), above, "last");
}

/* ---- memory -------------------------------------------------------------------------------------- */

static void align_argument(Lower *L, Val call, unsigned index, unsigned align) {
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAddCallSiteAttribute(call, index, LLVMCreateEnumAttribute(L->ctx, kind, align));
}

/* Elements that lie side by side from the first lane's address. */
Val lanes_load(Lower *L, Ty element, unsigned align, Val at, Val mask) {
    Ty t = wide(L, element);
    if (!mask) {
        Val v = LLVMBuildLoad2(L->b, t, at, "v");
        LLVMSetAlignment(v, align);
        return v;
    }
    Val args[3] = {at, mask, LLVMConstNull(t)};
    Val v = ll_intrinsic2(L, "llvm.masked.load", t, LLVMTypeOf(at), 3, args);
    align_argument(L, v, 1, align);
    return v;
}

void lanes_store(Lower *L, Val v, unsigned align, Val at, Val mask) {
    if (!mask) {
        LLVMSetAlignment(LLVMBuildStore(L->b, v, at), align);
        return;
    }
    Val args[3] = {v, at, mask};
    align_argument(L, ll_intrinsic2(L, "llvm.masked.store", LLVMTypeOf(v), LLVMTypeOf(at), 3, args), 2, align);
}

/* Elements anywhere; of two stores to one place the higher lane's stays. */
static Val gather(Lower *L, Ty element, unsigned align, Val at, Val mask) {
    Ty t = wide(L, element);
    Val args[3] = {at, lanes_full_mask(L, mask), LLVMConstNull(t)};
    Val v = ll_intrinsic2(L, "llvm.masked.gather", t, LLVMTypeOf(at), 3, args);
    align_argument(L, v, 1, align);
    return v;
}

static void scatter(Lower *L, Val v, unsigned align, Val at, Val mask) {
    Val args[3] = {v, at, lanes_full_mask(L, mask)};
    align_argument(L, ll_intrinsic2(L, "llvm.masked.scatter", LLVMTypeOf(v), LLVMTypeOf(at), 3, args), 2, align);
}

void lanes_scatter(Lower *L, Val v, unsigned align, Val first, uint64_t stride) {
    scatter(L, v, align, widen_first(L, first, stride), lanes_on(L));
}

static unsigned alignment(const Instr *in, Type t) { return in->sub & MEM_UNALIGNED ? 1 : type_bytes(t); }

static bool side_by_side(const Lower *L, Ref at, Type t) {
    return lane_kind(L, at) == LANE_FIRST && L->body->u->stride[at] == (int64_t)type_bytes(t);
}

/* ---- arrays of the thread's own, interleaved by elements ---- */

static bool is_own(const Lower *L, Ref pointer) { return L->body->v->unit && L->body->v->unit[pointer]; }

/* How far apart two neighbours of one array are, in elements. */
static Val own_stride(const Lower *L) {
    return L->own_stride ? L->own_stride : LLVMConstInt(L->i64, L->body->lanes, false);
}

/* The first lane's. */
static Val own_array(Lower *L, Ref r) {
    if (L->own_stride) return L->target->local(L, r);
    Instr all = *instr(L, r);
    all.imm *= L->body->lanes;
    return lower_alloca(L, &all, NULL);
}

static Val own_load(Lower *L, Ref at, Type t, Ty element) {
    if (lane_kind(L, at) != LANE_SCALAR) {
        Val lanes = lanes_steps(L, L->i64, type_bytes(t)), places = lanes_value(L, at);
        return gather(L, element, type_bytes(t), LLVMBuildGEP2(L->b, L->i8, places, &lanes, 1, "at"), L->body->now);
    }
    return lanes_load(L, element, type_bytes(t), lanes_held(L, at), L->own_stride ? L->body->now : NULL);
}

/* On the stack by select, not under a mask: LLVM then keeps small arrays in registers. */
static void own_store(Lower *L, Ref at, Type t, Val v) {
    Val now = L->body->now;
    if (lane_kind(L, at) != LANE_SCALAR) {
        Val lanes = lanes_steps(L, L->i64, type_bytes(t)), places = lanes_value(L, at);
        scatter(L, v, type_bytes(t), LLVMBuildGEP2(L->b, L->i8, places, &lanes, 1, "at"), now);
        return;
    }
    Val place = lanes_held(L, at);
    if (now && !L->own_stride) {
        v = ll_select(L, now, v, lanes_load(L, LLVMGetElementType(LLVMTypeOf(v)), type_bytes(t), place, NULL));
        now = NULL;
    }
    lanes_store(L, v, type_bytes(t), place, now);
}

static Val load(Lower *L, Ref r) {
    const Instr *in = instr(L, r);
    Ref at = in->args[0];
    Type t = (Type)in->type;
    Val args[1] = {NULL};
    if (lane_kind(L, at) == LANE_SCALAR) args[0] = lanes_held(L, at);
    if (args[0] && lane_kind(L, r) != LANE_VECTOR) return lower_load(L, in, args);
    Ty element = ll_scalar(L, t) == L->i1 ? L->i8 : ll_scalar(L, t);
    Val v;
    if (is_own(L, at)) v = own_load(L, at, t, element);
    else if (args[0]) v = lanes_splat(L, LLVMBuildLoad2(L->b, element, args[0], "v"));
    else if (side_by_side(L, at, t)) v = lanes_load(L, element, alignment(in, t), lanes_held(L, at), L->body->now);
    else v = gather(L, element, alignment(in, t), lanes_value(L, at), L->body->now);
    return t == T_BOOL ? ll_icmp(L, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v))) : v;
}

static void store(Lower *L, const Instr *in) {
    Ref at = in->args[0], value = in->args[1];
    Type t = type_of(L, value);
    if (lane_kind(L, at) == LANE_SCALAR && !is_own(L, at)) { /* the last lane's value stays */
        Val v = lanes_held(L, value);
        if (lane_kind(L, value) != LANE_SCALAR)
            v = LLVMBuildExtractElement(L->b, lanes_value(L, value), last_on(L, L->body->now), "last");
        Val args[2] = {lanes_held(L, at), v};
        lower_store(L, in, args);
        return;
    }
    Val v = lanes_value(L, value);
    if (t == T_BOOL) v = LLVMBuildZExt(L->b, v, wide(L, L->i8), "v");
    if (is_own(L, at)) own_store(L, at, t, v);
    else if (side_by_side(L, at, t)) lanes_store(L, v, alignment(in, t), lanes_held(L, at), L->body->now);
    else scatter(L, v, alignment(in, t), lanes_value(L, at), L->body->now);
}

/* ---- operations ---------------------------------------------------------------------------------- */

static Val extend(Lower *L, Val v, Type from, Ty to) {
    return type_is_signed(from) ? LLVMBuildSExt(L->b, v, to, "w") : LLVMBuildZExt(L->b, v, to, "w");
}

/* The first lane's value in more bits. If it isn't on, it may have wrapped: counted from the first one that is. */
static Val extend_first(Lower *L, Ref r, Ty to) {
    struct Body *B = L->body;
    Type from = type_of(L, r);
    Val v = lanes_held(L, r);
    if (!B->parted || lane_kind(L, r) != LANE_FIRST) return extend(L, v, from, to);
    Val stride = LLVMConstInt(L->i64, (uint64_t)B->u->stride[r], true);
    Val offset = LLVMBuildMul(L->b, lanes_first_on(L, B->now), stride, "offset");
    Val there = LLVMBuildAdd(L->b, v, LLVMBuildTrunc(L->b, offset, ll_scalar(L, from), "o"), "there");
    Val far = to == L->i64 ? offset : LLVMBuildTrunc(L->b, offset, to, "o");
    return LLVMBuildSub(L->b, extend(L, there, from, to), far, "w");
}

static Val address(Lower *L, Ref r) {
    const Instr *in = instr(L, r);
    Ref base = in->args[0], index = in->args[1];
    bool vector = lane_kind(L, r) == LANE_VECTOR, narrow = type_bits(type_of(L, index)) < 64;
    Val at = vector && lane_kind(L, base) != LANE_SCALAR ? lanes_value(L, base) : lanes_held(L, base), i;
    if (!vector) {
        i = narrow ? extend_first(L, index, L->i64) : lanes_held(L, index);
        if (in->imm != 1) i = LLVMBuildMul(L->b, i, LLVMConstInt(L->i64, in->imm, false), "o");
        if (is_own(L, r)) i = LLVMBuildMul(L->b, i, own_stride(L), "o");
        return lane_kind(L, r) == LANE_SCALAR || !L->body->parted ? LLVMBuildInBoundsGEP2(L->b, L->i8, at, &i, 1, "at")
                                                                  : LLVMBuildGEP2(L->b, L->i8, at, &i, 1, "at");
    }
    i = lanes_value(L, index);
    if (narrow) i = extend(L, i, type_of(L, index), wide(L, L->i64));
    if (in->imm != 1) i = LLVMBuildMul(L->b, i, lanes_splat(L, LLVMConstInt(L->i64, in->imm, false)), "o");
    if (is_own(L, r)) i = LLVMBuildMul(L->b, i, lanes_splat(L, own_stride(L)), "o");
    return LLVMBuildGEP2(L->b, L->i8, at, &i, 1, "at");
}

/* What a lane that isn't on must not do: divide by poison, loop over it. */
static bool is_touchy(Op op) { return ir_is_division(op) || op == OP_POW; }

static Val in_lanes(Lower *L, const Instr *in) {
    Val args[4];
    assert(in->nargs <= 4);
    for (uint32_t i = 0; i < in->nargs; i++) {
        args[i] = lanes_value(L, in->args[i]);
        if (is_touchy((Op)in->op) && instr(L, in->args[i])->op != OP_CONST)
            args[i] = LLVMBuildFreeze(L->b, args[i], "f");
    }
    L->lanes = L->body->lanes;
    Val v = lower_operation(L, in, args);
    L->lanes = 1;
    return v;
}

/* ---- one operation ----------------------------------------------------------------------------------- */

Val lanes_variable(Lower *L, Ty t, const char *name) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(L->b);
    Val first = LLVMGetFirstInstruction(L->entry);
    if (first) LLVMPositionBuilderBefore(L->b, first);
    else LLVMPositionBuilderAtEnd(L->b, L->entry);
    Val v = LLVMBuildAlloca(L->b, t, name);
    LLVMPositionBuilderAtEnd(L->b, here);
    return v;
}

/* Is there no form of it for vectors? */
static bool is_single(const Instr *in) {
    bool is_float = type_is_float((Type)in->type);
    switch (in->op) {
    case OP_ATOMIC:
    case OP_CAS: return true;
    case OP_MATH: return !math_in_vectors((MathFn)in->sub);
    case OP_APPROX: return approxfn_exact[in->sub] != MATH__COUNT && !math_in_vectors((MathFn)approxfn_exact[in->sub]);
    case OP_FLOORDIV:
    case OP_FLOORMOD:
    case OP_TRUNCMOD: return is_float; /* fmod */
    default: return false;
    }
}

static void promise_nothing(Val v) {
    if (!LLVMIsABinaryOperator(v)) return;
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if (op != LLVMAdd && op != LLVMSub && op != LLVMMul && op != LLVMShl) return;
    LLVMSetNSW(v, false);
    LLVMSetNUW(v, false);
}

static Val in_first(Lower *L, Ref r) {
    const Instr *in = instr(L, r);
    bool first = lane_kind(L, r) == LANE_FIRST;
    if (first && in->op == OP_CONVERT && type_bits((Type)in->type) > type_bits(type_of(L, in->args[0])))
        return extend_first(L, in->args[0], ll_scalar(L, (Type)in->type));
    Val args[4];
    assert(in->nargs <= 4);
    for (uint32_t i = 0; i < in->nargs; i++) args[i] = lanes_held(L, in->args[i]);
    Val v = lower_operation(L, in, args);
    if (first && L->body->parted) promise_nothing(v);
    return v;
}

static Val lane_id(Lower *L) {
    Val first = L->target->sreg(L, SREG_LANEID);
    return LLVMBuildAnd(L->b, widen_first(L, first, 1), lanes_splat(L, LLVMConstInt(L->i32, 31, false)), "lane");
}

static Val compute(Lower *L, Ref r) {
    const Instr *in = instr(L, r);
    switch (in->op) {
    case OP_LOAD: return in->sub & MEM_VOLATILE ? lanes_single(L, r) : load(L, r);
    case OP_STORE: return in->sub & MEM_VOLATILE ? lanes_single(L, r) : (store(L, in), NULL);
    case OP_ADDR: return address(L, r);
    case OP_ALLOCA: return own_array(L, r);
    case OP_PRINT: return lanes_single(L, r);
    case OP_FENCE:
    case OP_PAUSE: return lower_operation(L, in, NULL);
    case OP_SREG:
        if (in->sub == SREG_LANEID && lane_kind(L, r) == LANE_VECTOR) return lane_id(L);
        return lower_root(L, r);
    case OP_CONST:
    case OP_PARAM:
    case OP_SHARED:
    case OP_DATA: return lower_root(L, r);
    default: break;
    }
    if (ir_is_warp_op((Op)in->op)) return lower_warp(L, r);
    if (lane_kind(L, r) != LANE_VECTOR) return in_first(L, r);
    return is_single(in) ? lanes_single(L, r) : in_lanes(L, in);
}

static bool is_root(Op op) {
    return op == OP_CONST || op == OP_PARAM || op == OP_SREG || op == OP_SHARED || op == OP_DATA || op == OP_ALLOCA;
}

/* Lanes that have left the loop keep what they had. */
static void keep(Lower *L, Ref r, Val v) {
    const struct Body *B = L->body;
    L->value[r] = v;
    if (!L->variable[r]) return;
    if (B->parted && B->v->leaves_loop[r] && lane_kind(L, r) == LANE_VECTOR)
        v = ll_select(L, B->now, v, lanes_held(L, r));
    LLVMBuildStore(L->b, v, L->variable[r]);
}

/* ---- edges --------------------------------------------------------------------------------------- */

/* The operand that PHIs of the k-th successor of `from` take. */
uint32_t lanes_operand_of(const Lower *L, BlockId from, uint32_t k) {
    const Block *to = &L->m->blocks.at[L->m->blocks.at[from].succ[k]];
    bool second = k == 1 && L->m->blocks.at[from].succ[0] == L->m->blocks.at[from].succ[1];
    for (uint32_t i = 0; i < to->preds.n; i++) {
        if (to->preds.at[i] != from) continue;
        if (!second) return i;
        second = false;
    }
    assert(false); /* a successor knows its predecessor */
    return 0;
}

/* `lanes` (NULL: all that there are) go on to a successor: its PHIs, its mask. */
static void take_edge(Lower *L, BlockId from, uint32_t k, Val lanes) {
    struct Body *B = L->body;
    BlockId to = L->m->blocks.at[from].succ[k];
    const Block *block = &L->m->blocks.at[to];
    uint32_t n = 0, a = lanes_operand_of(L, from, k);
    while (n < block->instrs.n && instr(L, block->instrs.at[n])->op == OP_PHI) n++;
    Val *in = ARENA_ARRAY(L->m->arena, Val, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        Ref phi = block->instrs.at[i], r = instr(L, phi)->args[a];
        in[i] = lane_kind(L, phi) == LANE_VECTOR ? lanes_value(L, r) : lanes_held(L, r);
    }
    for (uint32_t i = 0; i < n; i++) {
        Ref phi = block->instrs.at[i];
        Val old = lanes ? LLVMBuildLoad2(L->b, lanes_type(L, phi), B->incoming[phi], "old") : NULL;
        if (lanes && lane_kind(L, phi) == LANE_VECTOR) in[i] = ll_select(L, lanes, in[i], old);
        else if (lanes && lanes != B->now) in[i] = ll_select(L, lanes_any(L, lanes), in[i], old);
        LLVMBuildStore(L->b, in[i], B->incoming[phi]);
    }
    if (!parts(B, to)) return;
    Val wait = LLVMBuildLoad2(L->b, mask_type(L), B->mask[to], "wait");
    Val more = lanes_full_mask(L, lanes ? lanes : lanes_on(L));
    LLVMBuildStore(L->b, LLVMBuildOr(L->b, wait, more, "wait"), B->mask[to]);
}

static void go_to(Lower *L, BlockId to) { LLVMBuildBr(L->b, L->first[to]); }

/* All lanes go together: to one of two edges. */
static void branch_together(Lower *L, BlockId b, Val cond) {
    LLVMBasicBlockRef edge[2] = {ll_block(L, "edge"), ll_block(L, "edge")};
    LLVMBuildCondBr(L->b, cond, edge[0], edge[1]);
    for (uint32_t k = 0; k < 2; k++) {
        BlockId to = L->m->blocks.at[b].succ[k];
        LLVMPositionBuilderAtEnd(L->b, edge[k]);
        if (L->body->u->doomed[to]) {
            lanes_raise_together(L, b, k);
            continue;
        }
        take_edge(L, b, k, NULL);
        go_to(L, to);
    }
}

/* ---- guards -------------------------------------------------------------------------------------- */

/* Where threads of whom a guard isn't true do nothing more, vectors with such threads only need not run: before a guard
 * (`agree`) nothing was written. */
static void stop_behind(Lower *L, BlockId b, Ref cond) {
    const VectorRegion *g = L->body->region;
    if (!g->stop || !g->idle(L, L->m->blocks.at[b].succ[1])) return;
    Val stop = lanes_false_behind(L, cond);
    if (stop) LLVMBuildStore(L->b, stop, g->stop);
}

/* All lanes agree, or this is a matter for the masked body. Where those of whom it isn't true do nothing more, the
 * vectors behind the first such have nothing to do at all. */
static void branch_if_agreed(Lower *L, BlockId b, Ref cond) {
    LLVMBasicBlockRef some = ll_block(L, "some"), edge[2] = {ll_block(L, "edge"), ll_block(L, "edge")};
    Verdict v = lanes_judge(L, cond);
    LLVMBuildCondBr(L->b, v.all, edge[0], some);
    LLVMPositionBuilderAtEnd(L->b, some);
    LLVMBuildCondBr(L->b, v.none, edge[1], L->body->other);
    for (uint32_t k = 0; k < 2; k++) {
        BlockId to = L->m->blocks.at[b].succ[k];
        LLVMPositionBuilderAtEnd(L->b, edge[k]);
        take_edge(L, b, k, NULL);
        if (k == 1) stop_behind(L, b, cond);
        go_to(L, to);
    }
}

/* A choice that the full body takes to be the same for all lanes, or it is left. */
static Val choose_together(Lower *L, Ref r) {
    const Instr *in = instr(L, r);
    VectorChoice choice = (VectorChoice)L->body->v->choice[r];
    Verdict v = lanes_judge(L, in->args[0]);
    Val ok = choice == CHOICE_FIRST ? v.all : choice == CHOICE_SECOND ? v.none : LLVMBuildOr(L->b, v.all, v.none, "ok");
    LLVMBasicBlockRef go = ll_block(L, "chosen");
    LLVMBuildCondBr(L->b, ok, go, L->body->other);
    LLVMPositionBuilderAtEnd(L->b, go);
    if (choice == CHOICE_EITHER) return ll_select(L, v.all, lanes_held(L, in->args[1]), lanes_held(L, in->args[2]));
    return lanes_held(L, in->args[choice == CHOICE_FIRST ? 1 : 2]);
}

static Val value_of(Lower *L, Ref r) {
    return L->body->full && L->body->v->choice[r] ? choose_together(L, r) : compute(L, r);
}

void lanes_again(Lower *L, Ref r) { keep(L, r, value_of(L, r)); }

/* ---- ends of blocks ------------------------------------------------------------------------------- */

static uint32_t way_on(const Lower *L, BlockId b) { return L->body->u->doomed[L->m->blocks.at[b].succ[0]]; }

/* Lanes that don't raise go on together. */
static void go_on_without(Lower *L, BlockId b, Ref cond) {
    if (L->body->full && L->body->v->agree[b]) lanes_raise_elsewhere(L, b, cond);
    else lanes_raise(L, b, lanes_value(L, cond));
    take_edge(L, b, way_on(L, b), NULL);
    go_to(L, L->m->blocks.at[b].succ[way_on(L, b)]);
}

static void part_here(Lower *L, BlockId b, Val cond) {
    const Block *block = &L->m->blocks.at[b];
    Val now = L->body->now;
    take_edge(L, b, 0, lanes_both(L, now, cond));
    take_edge(L, b, 1, lanes_both(L, now, LLVMBuildNot(L->b, cond, "no")));
    if (L->body->parted) return;
    /* the chain starts at the first block that lanes wait for */
    BlockId to = block->succ[0], other = block->succ[1];
    if (!parts(L->body, to) || (parts(L->body, other) && L->body->v->place[other] < L->body->v->place[to])) to = other;
    go_to(L, to);
}

static void end_together(Lower *L, BlockId b, const Instr *end) {
    struct Body *B = L->body;
    if (end->op == OP_RET) {
        L->target->leave(L, end);
    } else if (end->op == OP_JUMP) {
        take_edge(L, b, 0, NULL);
        go_to(L, L->m->blocks.at[b].succ[0]);
    } else if (lane_kind(L, end->args[0]) == LANE_SCALAR) {
        branch_together(L, b, lanes_held(L, end->args[0]));
    } else if (lanes_raise_from(L, b)) {
        go_on_without(L, b, end->args[0]);
    } else if (B->full && B->v->agree[b]) {
        branch_if_agreed(L, b, end->args[0]);
    } else {
        if (B->v->agree[b]) stop_behind(L, b, end->args[0]);
        part_here(L, b, lanes_value(L, end->args[0]));
    }
}

/* Of a block with a mask; then on in the chain. Lanes that return are in no mask any more. */
static void end_parted(Lower *L, BlockId b, const Instr *end) {
    if (end->op == OP_JUMP) take_edge(L, b, 0, L->body->now);
    else if (end->op == OP_BRANCH && lanes_raise_from(L, b))
        take_edge(L, b, way_on(L, b), lanes_raise(L, b, lanes_value(L, end->args[0])));
    else if (end->op == OP_BRANCH) part_here(L, b, lanes_value(L, end->args[0]));
    LLVMBuildBr(L->b, L->body->after[b]);
}

/* ---- blocks -------------------------------------------------------------------------------------- */

void lanes_instr(Lower *L, Ref r) {
    const struct Body *B = L->body;
    const Instr *in = instr(L, r);
    if (is_root((Op)in->op) || B->region->ready[r]) return;
    debug_at(L, in->span);
    if (in->op != OP_PHI && in->type == T_VOID) compute(L, r);
    else if (in->op != OP_PHI) keep(L, r, value_of(L, r));
    else if (B->incoming[r]) keep(L, r, LLVMBuildLoad2(L->b, lanes_type(L, r), B->incoming[r], "phi"));
}

static void lower_instrs(Lower *L, BlockId b) {
    const Block *block = &L->m->blocks.at[b];
    const struct Body *B = L->body;
    for (uint32_t i = 0; i < block->instrs.n; i++) {
        Ref r = block->instrs.at[i];
        const Instr *in = instr(L, r);
        debug_at(L, in->span);
        if (L->regions && L->regions->is_cut[r]) {
            B->region->wait(L, r);
            return;
        }
        if (op_info[in->op].flags & ENDS) {
            if (B->parted) end_parted(L, b, in);
            else end_together(L, b, in);
            return;
        }
        lanes_instr(L, r);
    }
}

/* The block of the chain that comes next; NO_BLOCK: it was the last. */
static BlockId next_in_chain(const struct Body *B, BlockId b) {
    bool behind = false;
    for (uint32_t i = 0; i < B->n; i++) {
        BlockId c = B->order[i];
        if (behind && parts(B, c) && B->group[c] == B->group[b]) return c;
        behind |= c == b;
    }
    return NO_BLOCK;
}

/* Behind a block: once more through loops that end here, inner ones first; then on. */
static void go_on_behind(Lower *L, BlockId b) {
    struct Body *B = L->body;
    LLVMPositionBuilderAtEnd(L->b, B->after[b]);
    for (uint32_t l = B->u->loop_of[b]; l; l = B->u->loops[l].parent) {
        BlockId header = B->u->loops[l].header;
        if (B->v->last[l] != B->v->place[b] || !parts(B, header)) continue;
        LLVMBasicBlockRef done = ll_block(L, "left");
        Val more = lanes_any(L, LLVMBuildLoad2(L->b, mask_type(L), B->mask[header], "more"));
        LLVMBuildCondBr(L->b, more, L->first[header], done);
        LLVMPositionBuilderAtEnd(L->b, done);
    }
    BlockId next = next_in_chain(B, b), exit = B->exit[B->group[b]];
    if (next != NO_BLOCK) go_to(L, next);
    else if (exit != NO_BLOCK) go_to(L, exit);
    else LLVMBuildBr(L->b, L->cpu->latch);
}

static void lower_parted(Lower *L, BlockId b) {
    struct Body *B = L->body;
    LLVMBasicBlockRef run = ll_block(L, "run");
    B->now = LLVMBuildLoad2(L->b, mask_type(L), B->mask[b], "mask");
    B->parted = true;
    LLVMBuildStore(L->b, LLVMConstNull(mask_type(L)), B->mask[b]);
    LLVMBuildCondBr(L->b, lanes_any(L, B->now), run, B->after[b]);
    LLVMPositionBuilderAtEnd(L->b, run);
    lower_instrs(L, b);
    go_on_behind(L, b);
}

static void lower_together(Lower *L, BlockId b) {
    L->body->now = lanes_on(L);
    L->body->parted = false;
    lower_instrs(L, b);
}

/* ---- chains -------------------------------------------------------------------------------------- */

static uint32_t find(uint32_t *group, uint32_t b) {
    while (group[b] != b) b = group[b] = group[group[b]];
    return b;
}

static void unite(struct Body *B, BlockId a, BlockId b) { B->group[find(B->group, a)] = find(B->group, b); }

/* Blocks of one chain: neighbours, and the two ways of a branch at which lanes part. */
static void find_chains(Lower *L) {
    struct Body *B = L->body;
    for (uint32_t i = 0; i < B->n; i++) B->group[B->order[i]] = B->order[i], B->exit[B->order[i]] = NO_BLOCK;
    for (uint32_t i = 0; i < B->n; i++) {
        BlockId b = B->order[i];
        const Block *block = &L->m->blocks.at[b];
        if (B->region->ends[b]) continue;
        for (uint32_t s = 0; s < block->nsucc; s++)
            if (parts(B, b) && parts(B, block->succ[s]) && !B->u->doomed[block->succ[s]]) unite(B, b, block->succ[s]);
        if (lanes_raise_from(L, b) || block->nsucc != 2 || !parts(B, block->succ[0]) || !parts(B, block->succ[1]))
            continue;
        Ref cond = instr(L, ir_terminator(L->m, b))->args[0];
        bool together = !parts(B, b) && (lane_kind(L, cond) == LANE_SCALAR || (B->full && B->v->agree[b]));
        if (!together) unite(B, block->succ[0], block->succ[1]);
    }
    for (uint32_t i = 0; i < B->n; i++) B->group[B->order[i]] = find(B->group, B->order[i]);
    for (uint32_t i = 0; i < B->n; i++) {
        const Block *block = &L->m->blocks.at[B->order[i]];
        for (uint32_t s = 0; parts(B, B->order[i]) && s < block->nsucc; s++)
            if (!parts(B, block->succ[s]) && !B->u->doomed[block->succ[s]]) {
                BlockId *exit = &B->exit[B->group[B->order[i]]];
                assert(*exit == NO_BLOCK || *exit == block->succ[s]);
                *exit = block->succ[s];
            }
    }
}

/* ---- bodies -------------------------------------------------------------------------------------- */

/* What may be skipped or lives across a wait has a variable. */
static void make_variables(Lower *L) {
    struct Body *B = L->body;
    for (uint32_t i = 0; i < B->n; i++) {
        BlockId b = B->order[i];
        const Block *block = &L->m->blocks.at[b];
        B->after[b] = NULL;
        L->first[b] = ll_block(L, "b");
        if (parts(B, b)) {
            B->after[b] = ll_block(L, "after");
            B->mask[b] = lanes_variable(L, mask_type(L), "mask");
            LLVMBuildStore(L->b, LLVMConstNull(mask_type(L)), B->mask[b]);
        }
        for (uint32_t k = 0; k < block->instrs.n; k++) {
            Ref r = block->instrs.at[k];
            const Instr *in = instr(L, r);
            if (in->type == T_VOID || is_root((Op)in->op) || B->region->ready[r]) continue;
            if (in->op == OP_PHI) {
                B->incoming[r] = lanes_variable(L, lanes_type(L, r), "in");
                LLVMBuildStore(L->b, LLVMGetPoison(lanes_type(L, r)), B->incoming[r]);
            }
            if (!L->variable[r] && parts(B, b) && B->v->leaves_block[r])
                L->variable[r] = lanes_variable(L, lanes_type(L, r), "var");
        }
    }
}

/* In any block, since each region may ask for them; those that no block holds any more aren't made. */
static void compute_roots(Lower *L) {
    for (BlockId b = 0; b < L->m->blocks.n; b++) {
        const Block *block = &L->m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++) {
            Ref r = block->instrs.at[i];
            if (is_root((Op)instr(L, r)->op)) L->value[r] = compute(L, r);
        }
    }
}

static void lower_body(Lower *L) {
    struct Body *B = L->body;
    const VectorRegion *g = B->region;
    memset(L->value, 0, L->m->instrs.n * sizeof *L->value);
    memset(L->variable, 0, L->m->instrs.n * sizeof *L->variable);
    find_chains(L);
    B->on_variable = NULL;
    if (lanes_may_raise(L)) {
        B->on_variable = lanes_variable(L, mask_type(L), "on");
        LLVMBuildStore(L->b, lanes_full_mask(L, B->on), B->on_variable);
    }
    B->parted = false;
    B->now = B->on;
    compute_roots(L);
    if (g->prepare) g->prepare(L);
    make_variables(L);
    go_to(L, g->start);
    for (uint32_t i = 0; i < B->n; i++) {
        LLVMPositionBuilderAtEnd(L->b, L->first[B->order[i]]);
        if (parts(B, B->order[i])) lower_parted(L, B->order[i]);
        else lower_together(L, B->order[i]);
    }
}

static struct Body *new_body(Lower *L, const VectorRegion *g) {
    Arena *a = L->m->arena;
    struct Body *B = ARENA_NEW(a, struct Body);
    uint32_t blocks = L->m->blocks.n;
    B->v = L->vectors;
    B->region = g;
    B->order = ARENA_ARRAY(a, BlockId, blocks);
    B->group = ARENA_ARRAY(a, uint32_t, blocks);
    B->exit = ARENA_ARRAY(a, BlockId, blocks);
    B->mask = ARENA_ARRAY(a, Val, blocks);
    B->incoming = ARENA_ARRAY(a, Val, L->m->instrs.n);
    B->after = ARENA_ARRAY(a, LLVMBasicBlockRef, blocks);
    BlockId *at = ARENA_ARRAY(a, BlockId, blocks);
    memset(at, 0xff, blocks * sizeof *at);
    for (uint32_t i = 0; i < g->n; i++) at[B->v->place[g->blocks[i]]] = g->blocks[i];
    for (uint32_t i = 0; i < blocks; i++) /* ways that raise are made where they begin */
        if (at[i] != NO_BLOCK && !B->v->masked.doomed[at[i]]) B->order[B->n++] = at[i];
    return B;
}

static Val lanes_left(Lower *L) { return LLVMBuildSub(L->b, L->cpu->block[0], L->cpu->thread[0], "left"); }

static void lower_full(Lower *L, unsigned lanes) {
    struct Body *B = L->body;
    B->full = true;
    B->lanes = lanes;
    B->on = NULL;
    B->u = &B->v->full;
    lower_body(L);
}

static void lower_masked(Lower *L, unsigned lanes) {
    struct Body *B = L->body;
    B->full = false;
    B->lanes = lanes;
    B->u = &B->v->masked;
    B->on = ll_icmp(L, LLVMIntULT, lanes_steps(L, L->i32, 1), lanes_splat(L, lanes_left(L)));
    lower_body(L);
}

static Val lanes_suffice(Lower *L, unsigned lanes) {
    return ll_icmp(L, LLVMIntUGE, lanes_left(L), LLVMConstInt(L->i32, lanes, false));
}

Val lanes_are_full(Lower *L) { return lanes_suffice(L, L->vectors->full_lanes); }

bool lanes_may_part(const Lower *L, const VectorRegion *g) {
    for (uint32_t i = 0; i < g->n; i++) {
        const Block *b = &L->m->blocks.at[g->blocks[i]];
        if (L->vectors->agree[g->blocks[i]] || L->vectors->masked.doomed[g->blocks[i]] || L->m->prints.n) return true;
        for (uint32_t k = 0; k < b->instrs.n; k++)
            if (L->vectors->choice[b->instrs.at[k]]) return true;
    }
    for (Ref r = 1; r < L->m->instrs.n; r++)
        if (g->ready[r] && L->vectors->choice[r]) return true;
    return false;
}

void lower_lanes(Lower *L, const VectorRegion *g, bool full) {
    L->body = new_body(L, g);
    if (full) lower_full(L, L->vectors->full_lanes);
    else lower_masked(L, L->vectors->masked_lanes);
    L->body = NULL;
}

/* A full vector that is left for masks is several of these: until they are done, no full one starts. */
static Val may_be_full(Lower *L) {
    Val reached = ll_icmp(L, LLVMIntUGE, L->cpu->thread[0], LLVMBuildLoad2(L->b, L->i32, L->cpu->until, "until"));
    return LLVMBuildAnd(L->b, lanes_are_full(L), reached, "full");
}

/* ---- fewer and fewer threads ------------------------------------------------------------------------ */

/* `if t < step: s[t] += s[t + step]` with steps that halve: what one step stores under a mask, the next would have to
 * wait for until it has reached the cache. Vectors of the right length without masks need not. */
enum { NARROWEST = 4, MOST_NARROW = 24 /* operations of such a region */ };

static bool is_of_block(const Lower *L, Ref at) { return type_of(L, at) == T_PTRS; }

/* A short region that loads and stores shared memory behind guards, whose other side does nothing. */
static bool narrows(Lower *L, const VectorRegion *g) {
    uint32_t instrs = 0, guards = 0, loads = 0, stores = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        const Block *b = &L->m->blocks.at[g->blocks[i]];
        if (L->vectors->full.block_divergent[g->blocks[i]] || !g->stop) return false;
        instrs += b->instrs.n;
        for (uint32_t k = 0; k < b->instrs.n; k++) {
            const Instr *in = instr(L, b->instrs.at[k]);
            loads += in->op == OP_LOAD && is_of_block(L, in->args[0]);
            stores += in->op == OP_STORE && is_of_block(L, in->args[0]);
        }
        if (!L->vectors->agree[g->blocks[i]]) continue;
        guards++;
        if (!g->idle(L, b->succ[1])) return false;
    }
    return guards && loads && stores && instrs <= MOST_NARROW && L->vectors->full_lanes > NARROWEST;
}

/* A full vector; what follows is for too few lanes, and for those that don't agree. */
static void lower_if_full(Lower *L, unsigned lanes) {
    LLVMBasicBlockRef body = ll_block(L, "lanes"), other = ll_block(L, "other");
    LLVMBuildCondBr(L->b, lanes_suffice(L, lanes), body, other);
    L->body->other = other;
    LLVMPositionBuilderAtEnd(L->b, body);
    LLVMBuildStore(L->b, LLVMConstInt(L->i32, lanes, false), L->cpu->step);
    lower_full(L, lanes);
    LLVMPositionBuilderAtEnd(L->b, other);
}

/* Full vectors of half as many lanes each, down to the first whose lanes all agree. */
static void lower_narrowing(Lower *L, const VectorRegion *g) {
    CpuState *c = L->cpu;
    L->body = new_body(L, g);
    unsigned lanes = L->vectors->full_lanes;
    for (; lanes >= NARROWEST; lanes /= 2) lower_if_full(L, lanes);
    LLVMBuildStore(L->b, LLVMConstInt(L->i32, lanes, false), c->step);
    lower_masked(L, lanes);
    L->body = NULL;
}

/* ---- full vectors, and masked ones -------------------------------------------------------------------- */

void lower_vectors(Lower *L, const VectorRegion *g) {
    if (narrows(L, g)) {
        lower_narrowing(L, g);
        return;
    }
    CpuState *c = L->cpu;
    const Vectors *v = L->vectors;
    Val many = LLVMConstInt(L->i32, v->full_lanes, false), few = LLVMConstInt(L->i32, v->masked_lanes, false);
    L->body = new_body(L, g);
    LLVMBasicBlockRef full = ll_block(L, "full"), masked = ll_block(L, "masked"), other = ll_block(L, "other");
    LLVMBuildCondBr(L->b, v->full_lanes == v->masked_lanes ? lanes_are_full(L) : may_be_full(L), full, masked);
    L->body->other = other;
    LLVMPositionBuilderAtEnd(L->b, full);
    LLVMBuildStore(L->b, many, c->step);
    lower_full(L, v->full_lanes);
    LLVMPositionBuilderAtEnd(L->b, other);
    LLVMBuildStore(L->b, LLVMBuildAdd(L->b, c->thread[0], many, "until"), c->until);
    LLVMBuildBr(L->b, masked);
    LLVMPositionBuilderAtEnd(L->b, masked);
    if (v->narrow_lanes) lower_if_full(L, v->narrow_lanes);
    LLVMBuildStore(L->b, few, c->step);
    lower_masked(L, v->masked_lanes);
    L->body = NULL;
}

void lanes_variables(Lower *L) {
    L->cpu->step = lanes_variable(L, L->i32, "step");
    L->cpu->until = lanes_variable(L, L->i32, "until");
    lanes_raise_variable(L);
}

void lanes_begin_row(Lower *L) { LLVMBuildStore(L->b, LLVMConstInt(L->i32, 0, false), L->cpu->until); }
