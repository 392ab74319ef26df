/* lower_nv_sync.c - shared memory, barriers and warp operations in PTX.
 *
 * Warp operations of PTX move 32 bits; wider values go in two halves, narrower ones in one. */
#include "lower.h"

#include <stdio.h>
#include <string.h>

enum { SHARED = 3 };

/* ---- shared memory ----------------------------------------------------------------------------- */

/* Dynamic arrays are one external symbol without a size, as CUDA C's `extern __shared__`. */
static Val dynamic_shared(Lower *L, unsigned align) {
    Val g = LLVMGetNamedGlobal(L->mod, "dynamic_shared");
    if (!g) {
        g = LLVMAddGlobalInAddressSpace(L->mod, LLVMArrayType2(L->i8, 0), "dynamic_shared", SHARED);
        LLVMSetLinkage(g, LLVMExternalLinkage);
        LLVMSetAlignment(g, 16);
    }
    if (align > LLVMGetAlignment(g)) LLVMSetAlignment(g, align);
    return g;
}

Val lower_nv_shared(Lower *L, const Instr *in) {
    const IrShared *s = &L->m->shared.at[in->imm];
    unsigned align = s->align ? s->align : 16;
    if (s->dynamic) return dynamic_shared(L, align);
    char name[32];
    snprintf(name, sizeof name, "shared_%u", (unsigned)in->imm);
    Val g = LLVMGetNamedGlobal(L->mod, name);
    if (g) return g;
    Ty bytes = LLVMArrayType2(L->i8, s->bytes ? s->bytes : 1);
    g = LLVMAddGlobalInAddressSpace(L->mod, bytes, name, SHARED);
    LLVMSetLinkage(g, LLVMInternalLinkage);
    LLVMSetInitializer(g, LLVMGetUndef(bytes));
    LLVMSetAlignment(g, align);
    return g;
}

/* ---- barriers ------------------------------------------------------------------------------------ */

static Val barrier_red(Lower *L, const Instr *in, Val *a) {
    static const char *const names[BARRIER__COUNT] = {"popc", "and", "or"};
    char name[64];
    snprintf(name, sizeof name, "llvm.nvvm.barrier.cta.red.%s.aligned.all", names[in->sub]);
    Val args[2] = {LLVMConstInt(L->i32, 0, false), a[0]};
    Val r = ll_intrinsic(L, name, NULL, 2, args);
    return LLVMTypeOf(r) == L->i1 ? LLVMBuildZExt(L->b, r, L->i32, "r") : r;
}

static Val barrier(Lower *L) {
    Val zero = LLVMConstInt(L->i32, 0, false);
    return ll_intrinsic(L, "llvm.nvvm.barrier.cta.sync.aligned.all", NULL, 1, &zero);
}

/* ---- 32 bits at a time --------------------------------------------------------------------------- */

static Ty bits_of(Lower *L, Type t) { return LLVMIntTypeInContext(L->ctx, type_bits(t)); }

static Val as_integer(Lower *L, Type t, Val v) {
    return LLVMTypeOf(v) == bits_of(L, t) ? v : LLVMBuildBitCast(L->b, v, bits_of(L, t), "bits");
}

/* Takes a value apart into 32-bit pieces, calls f on each, puts the results together. */
static Val by_words(Lower *L, Type t, Val v, Val (*f)(Lower *L, void *arg, Val word), void *arg) {
    Ty whole = bits_of(L, t);
    Val bits = as_integer(L, t, v), out;
    if (type_bits(t) <= 32) {
        Val word = type_bits(t) < 32 ? LLVMBuildZExt(L->b, bits, L->i32, "word") : bits;
        out = f(L, arg, word);
        if (type_bits(t) < 32) out = LLVMBuildTrunc(L->b, out, whole, "bits");
    } else {
        Val half = LLVMConstInt(L->i64, 32, false);
        Val low = f(L, arg, LLVMBuildTrunc(L->b, bits, L->i32, "low"));
        Val high = f(L, arg, LLVMBuildTrunc(L->b, LLVMBuildLShr(L->b, bits, half, "h"), L->i32, "high"));
        high = LLVMBuildShl(L->b, LLVMBuildZExt(L->b, high, L->i64, "high"), half, "h");
        out = LLVMBuildOr(L->b, high, LLVMBuildZExt(L->b, low, L->i64, "low"), "bits");
    }
    Ty t_ll = ll_scalar(L, t);
    return t_ll == whole ? out : LLVMBuildBitCast(L->b, out, t_ll, "value");
}

/* ---- warps ------------------------------------------------------------------------------------- */

typedef struct ShuffleArgs {
    const char *name;
    Val mask, lane, clamp;
} ShuffleArgs;

static Val shuffle_word(Lower *L, void *arg, Val word) {
    ShuffleArgs *s = arg;
    Val args[4] = {s->mask, word, s->lane, s->clamp};
    return ll_intrinsic(L, s->name, NULL, 4, args);
}

/* PTX's c operand: the segment's mask in bits 8 to 12, the last lane that may be read in bits 0 to 4. */
static Val clamp_of(Lower *L, Shuffle mode, Val width) {
    Val segments = LLVMBuildSub(L->b, LLVMConstInt(L->i32, 32, false), width, "s");
    segments = LLVMBuildShl(L->b, segments, LLVMConstInt(L->i32, 8, false), "s");
    return LLVMBuildOr(L->b, segments, LLVMConstInt(L->i32, mode == SHFL_UP ? 0 : 31, false), "clamp");
}

static Val shuffle(Lower *L, const Instr *in, Val *a) {
    static const char *const names[SHFL__COUNT] = {"llvm.nvvm.shfl.sync.up.i32", "llvm.nvvm.shfl.sync.down.i32",
                                                   "llvm.nvvm.shfl.sync.bfly.i32", "llvm.nvvm.shfl.sync.idx.i32"};
    ShuffleArgs s = {names[in->sub], a[0], a[2], clamp_of(L, (Shuffle)in->sub, a[3])};
    return by_words(L, (Type)in->type, a[1], shuffle_word, &s);
}

static Val vote(Lower *L, const Instr *in, Val *a) {
    static const char *const names[VOTE__COUNT] = {"llvm.nvvm.vote.all.sync", "llvm.nvvm.vote.any.sync",
                                                   "llvm.nvvm.vote.uni.sync", "llvm.nvvm.vote.ballot.sync"};
    return ll_intrinsic(L, names[in->sub], NULL, 2, a);
}

static Val match(Lower *L, const Instr *in, Val *a) {
    Type t = (Type)L->m->instrs.at[in->args[1]].type;
    bool wide = type_bits(t) > 32;
    Val bits = as_integer(L, t, a[1]);
    if (type_bits(t) < 32) bits = LLVMBuildZExt(L->b, bits, L->i32, "word");
    Val args[2] = {a[0], bits};
    if (in->sub == MATCH_ANY)
        return ll_intrinsic(L, wide ? "llvm.nvvm.match.any.sync.i64" : "llvm.nvvm.match.any.sync.i32", NULL, 2, args);
    Val both = ll_intrinsic(L, wide ? "llvm.nvvm.match.all.sync.i64p" : "llvm.nvvm.match.all.sync.i32p", NULL, 2, args);
    return LLVMBuildExtractValue(L->b, both, 0, "mask");
}

/* sm_75 has no redux: one lane of the mask after the other shows its value to all. */
static Val redux_by_lanes(Lower *L, const Instr *in, Val *a) {
    Val zero = LLVMConstInt(L->i32, 0, false), one = LLVMConstInt(L->i32, 1, false),
        none = LLVMConstInt(L->i1, 0, false);
    ShuffleArgs s = {"llvm.nvvm.shfl.sync.idx.i32", a[0], NULL, LLVMConstInt(L->i32, 31, false)};
    LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b), again = ll_block(L, "lanes"), done = ll_block(L, "done");
    LLVMBuildBr(L->b, again);
    LLVMPositionBuilderAtEnd(L->b, again);
    Val left = LLVMBuildPhi(L->b, L->i32, "left"), sum = LLVMBuildPhi(L->b, L->i32, "sum");
    Val first = LLVMBuildPhi(L->b, L->i1, "first");
    s.lane = ll_intrinsic(L, "llvm.cttz", L->i32, 2, (Val[]){left, none});
    Val word = shuffle_word(L, &s, a[1]), next;
    bool is_signed = type_is_signed((Type)in->type);
    switch ((AtomicOp)in->sub) {
    case ATOMIC_ADD: next = LLVMBuildAdd(L->b, sum, word, "r"); break;
    case ATOMIC_AND: next = LLVMBuildAnd(L->b, sum, word, "r"); break;
    case ATOMIC_OR: next = LLVMBuildOr(L->b, sum, word, "r"); break;
    case ATOMIC_XOR: next = LLVMBuildXor(L->b, sum, word, "r"); break;
    case ATOMIC_MIN: next = ll_select(L, ll_icmp(L, is_signed ? LLVMIntSLT : LLVMIntULT, word, sum), word, sum); break;
    default: next = ll_select(L, ll_icmp(L, is_signed ? LLVMIntSGT : LLVMIntUGT, word, sum), word, sum); break;
    }
    next = ll_select(L, first, word, next);
    Val rest = LLVMBuildAnd(L->b, left, LLVMBuildSub(L->b, left, one, "m"), "rest");
    LLVMBasicBlockRef end = LLVMGetInsertBlock(L->b);
    LLVMBuildCondBr(L->b, ll_icmp(L, LLVMIntNE, rest, zero), again, done);
    LLVMBasicBlockRef from[2] = {before, end};
    LLVMAddIncoming(left, (Val[]){a[0], rest}, from, 2);
    LLVMAddIncoming(sum, (Val[]){zero, next}, from, 2);
    LLVMAddIncoming(first, (Val[]){LLVMConstInt(L->i1, 1, false), none}, from, 2);
    LLVMPositionBuilderAtEnd(L->b, done);
    return next;
}

static Val redux(Lower *L, const Instr *in, Val *a) {
    static const char *const names[2][ATOMIC__COUNT] = {{[ATOMIC_ADD] = "add",
                                                         [ATOMIC_MIN] = "umin",
                                                         [ATOMIC_MAX] = "umax",
                                                         [ATOMIC_AND] = "and",
                                                         [ATOMIC_OR] = "or",
                                                         [ATOMIC_XOR] = "xor"},
                                                        {[ATOMIC_ADD] = "add",
                                                         [ATOMIC_MIN] = "min",
                                                         [ATOMIC_MAX] = "max",
                                                         [ATOMIC_AND] = "and",
                                                         [ATOMIC_OR] = "or",
                                                         [ATOMIC_XOR] = "xor"}};
    if (L->o->sm < 80) return redux_by_lanes(L, in, a);
    char name[48];
    snprintf(name, sizeof name, "llvm.nvvm.redux.sync.%s", names[type_is_signed((Type)in->type)][in->sub]);
    Val args[2] = {a[1], a[0]};
    return ll_intrinsic(L, name, NULL, 2, args);
}

/* ---- the grid ------------------------------------------------------------------------------------ */

static Val assembly(Lower *L, Ty result, const char *text, const char *constraints, unsigned n, Val *args) {
    Ty types[2];
    for (unsigned i = 0; i < n; i++) types[i] = LLVMTypeOf(args[i]);
    Ty type = LLVMFunctionType(result, types, n, false);
    Val code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints), true, false,
                                LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(L->b, type, code, args, n, "r");
}

static Val sreg_sum(Lower *L, const char *const names[3], bool product) {
    Val sum = NULL;
    for (unsigned i = 0; i < 3; i++) {
        Val v = ll_intrinsic(L, names[i], NULL, 0, NULL);
        sum = !sum ? v : product ? LLVMBuildMul(L->b, sum, v, "n") : LLVMBuildAdd(L->b, sum, v, "n");
    }
    return sum;
}

/* The first thread of each block adds to a word; the first block's adds what turns over the top bit when all others'
 * ones have come: 2^31 - (blocks - 1). The driver gives each cooperative launch such a word, behind the address in two
 * environment registers, as it does for what nvcc makes of cooperative groups. */
static void meet(Lower *L) {
    static const char *const blocks[3] = {"llvm.nvvm.read.ptx.sreg.nctaid.x", "llvm.nvvm.read.ptx.sreg.nctaid.y",
                                          "llvm.nvvm.read.ptx.sreg.nctaid.z"};
    static const char *const block[3] = {"llvm.nvvm.read.ptx.sreg.ctaid.x", "llvm.nvvm.read.ptx.sreg.ctaid.y",
                                         "llvm.nvvm.read.ptx.sreg.ctaid.z"};
    Val low = ll_intrinsic(L, "llvm.nvvm.read.ptx.sreg.envreg2", NULL, 0, NULL);
    Val high = ll_intrinsic(L, "llvm.nvvm.read.ptx.sreg.envreg1", NULL, 0, NULL);
    high = LLVMBuildShl(L->b, LLVMBuildZExt(L->b, high, L->i64, "high"), LLVMConstInt(L->i64, 32, false), "high");
    Val at = LLVMBuildOr(L->b, high, LLVMBuildZExt(L->b, low, L->i64, "low"), "workspace");
    at = LLVMBuildAdd(L->b, at, LLVMConstInt(L->i64, 4, false), "at");
    Val top = LLVMConstInt(L->i32, 0x80000001, false), zero = LLVMConstInt(L->i32, 0, false);
    Val rest = LLVMBuildSub(L->b, top, sreg_sum(L, blocks, true), "rest");
    Val first = ll_icmp(L, LLVMIntEQ, sreg_sum(L, block, false), zero);
    Val args[2] = {at, ll_select(L, first, rest, LLVMConstInt(L->i32, 1, false))};
    Val old = assembly(L, L->i32, "atom.release.gpu.global.add.u32 $0, [$1], $2;", "=r,l,r,~{memory}", 2, args);
    LLVMBasicBlockRef again = ll_block(L, "again"), done = ll_block(L, "done");
    LLVMBuildBr(L->b, again);
    LLVMPositionBuilderAtEnd(L->b, again);
    Val now = assembly(L, L->i32, "ld.acquire.gpu.global.u32 $0, [$1];", "=r,l,~{memory}", 1, &at);
    Val turned = ll_icmp(L, LLVMIntSLT, LLVMBuildXor(L->b, now, old, "turned"), zero);
    LLVMBuildCondBr(L->b, turned, done, again);
    LLVMPositionBuilderAtEnd(L->b, done);
}

static Val grid_sync(Lower *L) {
    static const char *const thread[3] = {"llvm.nvvm.read.ptx.sreg.tid.x", "llvm.nvvm.read.ptx.sreg.tid.y",
                                          "llvm.nvvm.read.ptx.sreg.tid.z"};
    barrier(L);
    LLVMBasicBlockRef one = ll_block(L, "one"), all = ll_block(L, "all");
    Val first = ll_icmp(L, LLVMIntEQ, sreg_sum(L, thread, false), LLVMConstInt(L->i32, 0, false));
    LLVMBuildCondBr(L->b, first, one, all);
    LLVMPositionBuilderAtEnd(L->b, one);
    meet(L);
    LLVMBuildBr(L->b, all);
    LLVMPositionBuilderAtEnd(L->b, all);
    return barrier(L);
}

Val lower_nv_sync(Lower *L, const Instr *in, Val *a) {
    switch (in->op) {
    case OP_BARRIER: return barrier(L);
    case OP_BARRIER_RED: return barrier_red(L, in, a);
    case OP_SYNCWARP: return ll_intrinsic(L, "llvm.nvvm.bar.warp.sync", NULL, 1, a);
    case OP_SHFL: return shuffle(L, in, a);
    case OP_VOTE: return vote(L, in, a);
    case OP_MATCH: return match(L, in, a);
    case OP_REDUX: return redux(L, in, a);
    case OP_ACTIVEMASK: return ll_intrinsic(L, "llvm.nvvm.activemask", NULL, 0, NULL);
    case OP_NANOSLEEP: return ll_intrinsic(L, "llvm.nvvm.nanosleep", NULL, 1, a);
    default: return grid_sync(L);
    }
}

Val lower_nv_clock(Lower *L, const Instr *in) {
    const char *name =
        in->sub == CLOCK_CYCLES ? "llvm.nvvm.read.ptx.sreg.clock64" : "llvm.nvvm.read.ptx.sreg.globaltimer";
    return ll_intrinsic(L, name, NULL, 0, NULL);
}
