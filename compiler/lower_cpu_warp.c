/* lower_cpu_warp.c - operations of a warp, where a vector of threads is one: its lanes are all here, with one mask.
 *
 * What an operation gives is what blocks.c gives, which does it for threads that come one by one. Lanes that don't
 * exist hold anything: they are taken out of masks first, and frozen where they could be read. */
#include "lower_cpu.h"

enum { WARP = 32 };

static const Instr *instr(const Lower *L, Ref r) { return &L->m->instrs.at[r]; }
static Ty words(const Lower *L) { return LLVMVectorType(L->i32, WARP); }
static Val word(const Lower *L, uint64_t v) { return LLVMConstInt(L->i32, v, false); }
static Val every(Lower *L, uint64_t v) { return lanes_splat(L, word(L, v)); }

/* The lanes that take part: named by the mask, and there. */
static Val group_of(Lower *L, const Instr *in) {
    Val named = in->nargs ? ll_value(L, in->args[0]) : word(L, UINT32_MAX), on = lanes_on(L);
    return on ? LLVMBuildAnd(L->b, named, lanes_bits(L, on), "group") : named;
}

static Val as_mask(Lower *L, Val bits) { return LLVMBuildBitCast(L->b, bits, LLVMVectorType(L->i1, WARP), "mask"); }

/* The operand's bits in each lane. */
static Val bits_of(Lower *L, Ref r) {
    Type t = (Type)instr(L, r)->type;
    Val v = LLVMBuildFreeze(L->b, lanes_value(L, r), "v");
    Ty bits = LLVMVectorType(LLVMIntTypeInContext(L->ctx, type_bits(t)), WARP);
    return LLVMTypeOf(v) == bits ? v : LLVMBuildBitCast(L->b, v, bits, "bits");
}

/* ---- shuffles ------------------------------------------------------------------------------------ */

/* The lane that each one reads; its own where that lies outside of its segment. */
static Val sources(Lower *L, const Instr *in) {
    Val own = lanes_steps(L, L->i32, 1);
    Val lane = LLVMBuildFreeze(L->b, lanes_value(L, in->args[2]), "lane");
    Val within = LLVMBuildSub(L->b, LLVMBuildFreeze(L->b, lanes_value(L, in->args[3]), "width"), every(L, 1), "within");
    Val first = LLVMBuildAnd(L->b, own, LLVMBuildNot(L->b, within, "out"), "first");
    Val last = LLVMBuildAdd(L->b, first, within, "last"), from;
    switch ((Shuffle)in->sub) {
    case SHFL_UP:
        from = LLVMBuildSub(L->b, own, lane, "from");
        from = ll_select(L, ll_icmp(L, LLVMIntSLT, from, first), own, from);
        break;
    case SHFL_DOWN:
        from = LLVMBuildAdd(L->b, own, lane, "from");
        from = ll_select(L, ll_icmp(L, LLVMIntUGT, from, last), own, from);
        break;
    case SHFL_XOR:
        from = LLVMBuildXor(L->b, own, lane, "from");
        from = ll_select(L, ll_icmp(L, LLVMIntUGT, from, last), own, from);
        break;
    default: from = LLVMBuildAdd(L->b, first, LLVMBuildAnd(L->b, lane, within, "in"), "from"); break;
    }
    return LLVMBuildAnd(L->b, from, every(L, WARP - 1), "from");
}

/* One word of each lane, from anywhere in the warp: two instructions of AVX-512, elsewhere by way of memory. */
static Val permute(Lower *L, Val v, Val from) {
    if (L->simd_bits == 512) {
        Val low = cpu_part(L, v, 0, 16), high = cpu_part(L, v, 16, 16), half[2];
        for (unsigned i = 0; i < 2; i++) {
            Val args[3] = {low, cpu_part(L, from, 16 * i, 16), high};
            half[i] = ll_intrinsic(L, "llvm.x86.avx512.vpermi2var.d.512", NULL, 3, args);
        }
        return cpu_joined(L, half[0], half[1]);
    }
    Val at = lanes_variable(L, words(L), "warp");
    LLVMBuildStore(L->b, v, at);
    Val places = LLVMBuildInBoundsGEP2(L->b, L->i32, at, &from, 1, "places");
    Val args[3] = {places, LLVMConstAllOnes(LLVMVectorType(L->i1, WARP)), LLVMConstNull(words(L))};
    return ll_intrinsic2(L, "llvm.masked.gather", words(L), LLVMTypeOf(places), 3, args);
}

static Val shuffle(Lower *L, const Instr *in) {
    Type t = (Type)in->type;
    Val v = bits_of(L, in->args[1]), from = sources(L, in), r;
    Ty bits = LLVMTypeOf(v);
    if (type_bits(t) == 64) {
        Val up = lanes_splat(L, LLVMConstInt(L->i64, 32, false));
        Val low = permute(L, LLVMBuildTrunc(L->b, v, words(L), "low"), from);
        Val high = permute(L, LLVMBuildTrunc(L->b, LLVMBuildLShr(L->b, v, up, "up"), words(L), "high"), from);
        high = LLVMBuildShl(L->b, LLVMBuildZExt(L->b, high, bits, "high"), up, "high");
        r = LLVMBuildOr(L->b, high, LLVMBuildZExt(L->b, low, bits, "low"), "r");
    } else {
        bool small = type_bits(t) < 32;
        r = permute(L, small ? LLVMBuildZExt(L->b, v, words(L), "w") : v, from);
        if (small) r = LLVMBuildTrunc(L->b, r, bits, "r");
    }
    Ty type = LLVMVectorType(ll_scalar(L, t), WARP);
    return type == bits ? r : LLVMBuildBitCast(L->b, r, type, "r");
}

/* ---- votes, comparisons, sums -------------------------------------------------------------------- */

static Val vote(Lower *L, const Instr *in) {
    Val group = group_of(L, in);
    Val yes = LLVMBuildAnd(L->b, lanes_bits(L, lanes_both(L, lanes_on(L), lanes_value(L, in->args[1]))), group, "yes");
    Val none = ll_icmp(L, LLVMIntEQ, yes, word(L, 0)), all = ll_icmp(L, LLVMIntEQ, yes, group);
    switch ((Vote)in->sub) {
    case VOTE_BALLOT: return yes;
    case VOTE_ALL: return all;
    case VOTE_ANY: return LLVMBuildNot(L->b, none, "any");
    default: return LLVMBuildOr(L->b, none, all, "eq");
    }
}

/* Lane by lane: who has the same? */
static Val match(Lower *L, const Instr *in) {
    Val v = bits_of(L, in->args[1]), group = group_of(L, in), zero = LLVMConstInt(L->i64, 0, false);
    Ty element = LLVMGetElementType(LLVMTypeOf(v));
    Val given = lanes_variable(L, LLVMTypeOf(v), "given"), result = lanes_variable(L, words(L), "same");
    LLVMBuildStore(L->b, v, given);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b), again = ll_block(L, "match"), done = ll_block(L, "matched");
    LLVMBuildBr(L->b, again);
    LLVMPositionBuilderAtEnd(L->b, again);
    Val k = LLVMBuildPhi(L->b, L->i64, "k");
    Val one = LLVMBuildLoad2(L->b, element, LLVMBuildInBoundsGEP2(L->b, element, given, &k, 1, "at"), "one");
    Val equal = lanes_both(L, lanes_on(L), ll_icmp(L, LLVMIntEQ, v, lanes_splat(L, one)));
    Val same = LLVMBuildAnd(L->b, lanes_bits(L, equal), group, "same");
    if (in->sub == MATCH_ALL) same = ll_select(L, ll_icmp(L, LLVMIntEQ, same, group), group, word(L, 0));
    LLVMBuildStore(L->b, same, LLVMBuildInBoundsGEP2(L->b, L->i32, result, &k, 1, "at"));
    Val next = LLVMBuildAdd(L->b, k, LLVMConstInt(L->i64, 1, false), "next");
    LLVMBuildCondBr(L->b, ll_icmp(L, LLVMIntULT, next, LLVMConstInt(L->i64, WARP, false)), again, done);
    LLVMAddIncoming(k, (Val[]){zero, next}, (LLVMBasicBlockRef[]){before, again}, 2);
    LLVMPositionBuilderAtEnd(L->b, done);
    return LLVMBuildLoad2(L->b, words(L), result, "same");
}

static Val reduce(Lower *L, const Instr *in) {
    bool is_signed = type_is_signed((Type)in->type);
    const char *name;
    uint64_t neutral = 0;
    switch ((AtomicOp)in->sub) {
    case ATOMIC_ADD: name = "llvm.vector.reduce.add"; break;
    case ATOMIC_OR: name = "llvm.vector.reduce.or"; break;
    case ATOMIC_XOR: name = "llvm.vector.reduce.xor"; break;
    case ATOMIC_AND: name = "llvm.vector.reduce.and", neutral = UINT32_MAX; break;
    case ATOMIC_MIN:
        name = is_signed ? "llvm.vector.reduce.smin" : "llvm.vector.reduce.umin";
        neutral = is_signed ? INT32_MAX : UINT32_MAX;
        break;
    default:
        name = is_signed ? "llvm.vector.reduce.smax" : "llvm.vector.reduce.umax";
        neutral = is_signed ? (uint32_t)INT32_MIN : 0;
    }
    Val v = ll_select(L, as_mask(L, group_of(L, in)), bits_of(L, in->args[1]), every(L, neutral));
    return ll_intrinsic(L, name, words(L), 1, &v);
}

Val lower_warp(Lower *L, Ref r) {
    const Instr *in = instr(L, r);
    switch (in->op) {
    case OP_SHFL: return shuffle(L, in);
    case OP_VOTE: return vote(L, in);
    case OP_MATCH: return match(L, in);
    case OP_REDUX: return reduce(L, in);
    case OP_ACTIVEMASK: return group_of(L, in);
    default: return NULL; /* SYNCWARP: lanes go in step */
    }
}
