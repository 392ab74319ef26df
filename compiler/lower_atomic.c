/* lower_atomic.c - atomic operations and fences, for both targets.
 *
 * What LLVM has as one atomicrmw is left to it: it widens 8 and 16 bits to the word around them and makes loops of what
 * a target lacks. The rest is a loop of our own around compare-and-swap: minima of floats that leave a NaN alone, and
 * all arithmetic on f16 and bf16, which are held as their bits. */
#include "lower.h"

#include <stdio.h>
#include <string.h>

static unsigned scope_of(const Lower *L, Scope s) {
    /* The CPU has one scope: all threads of the process. */
    static const char *const names[SCOPE__COUNT] = {
        [SCOPE_DEVICE] = "device", [SCOPE_BLOCK] = "block", [SCOPE_SYSTEM] = ""};
    const char *name = L->o->target == TARGET_PTX ? names[s] : "";
    return LLVMGetSyncScopeID(L->ctx, name, strlen(name));
}

static LLVMAtomicOrdering ordering_of(Order o) {
    static const LLVMAtomicOrdering orders[ORDER__COUNT] = {
        [ORDER_RELAXED] = LLVMAtomicOrderingMonotonic,
        [ORDER_ACQUIRE] = LLVMAtomicOrderingAcquire,
        [ORDER_RELEASE] = LLVMAtomicOrderingRelease,
        [ORDER_ACQ_REL] = LLVMAtomicOrderingAcquireRelease,
        [ORDER_SEQ_CST] = LLVMAtomicOrderingSequentiallyConsistent,
    };
    return orders[o];
}

/* A failed exchange only loads: it can't release. */
static LLVMAtomicOrdering failure_ordering(Order o) {
    if (o == ORDER_RELEASE) return LLVMAtomicOrderingMonotonic;
    return ordering_of(o == ORDER_ACQ_REL ? ORDER_ACQUIRE : o);
}

typedef struct Place {
    Val at;
    Type type;
    Ty bits; /* the integer of its width */
    uint16_t sub;
} Place;

static Val exchange(Lower *L, const Place *p, Val expected, Val value) {
    Order o = atomic_order(p->sub);
    Val swap = LLVMBuildAtomicCmpXchgSyncScope(L->b, p->at, expected, value, ordering_of(o), failure_ordering(o),
                                               scope_of(L, atomic_scope(p->sub)));
    LLVMSetAlignment(swap, type_bytes(p->type));
    return swap;
}

static Val to_bits(Lower *L, const Place *p, Val v) {
    return LLVMTypeOf(v) == p->bits ? v : LLVMBuildBitCast(L->b, v, p->bits, "bits");
}
static Val from_bits(Lower *L, const Place *p, Val v) {
    Ty t = ll_scalar(L, p->type);
    return t == p->bits ? v : LLVMBuildBitCast(L->b, v, t, "value");
}

/* What is to be stored, made of what is there and the operand; floats in a type that has arithmetic. */
static Val combine(Lower *L, AtomicOp op, Val old, Val v) {
    switch (op) {
    case ATOMIC_ADD: return LLVMBuildFAdd(L->b, old, v, "sum");
    case ATOMIC_SUB: return LLVMBuildFSub(L->b, old, v, "sum");
    case ATOMIC_MIN: return ll_select(L, ll_fcmp(L, LLVMRealOLT, v, old), v, old);
    case ATOMIC_MAX: return ll_select(L, ll_fcmp(L, LLVMRealOGT, v, old), v, old);
    case ATOMIC_FMIN:
    case ATOMIC_FMAX: {
        Val args[2] = {old, v};
        return ll_intrinsic(L, op == ATOMIC_FMIN ? "llvm.minnum" : "llvm.maxnum", LLVMTypeOf(v), 2, args);
    }
    default: return v;
    }
}

static Val combine_integers(Lower *L, AtomicOp op, Type t, Val old, Val v);

/* old = *at; do seen = old; while ((old = cas(at, seen, f(seen))) != seen); the loop ends early where f changes
 * nothing. */
static Val loop(Lower *L, const Place *p, AtomicOp op, Val operand) {
    Val wide = type_is_float(p->type) ? float_widen(L, p->type, operand) : NULL;
    Val first = LLVMBuildLoad2(L->b, p->bits, p->at, "first");
    LLVMSetAlignment(first, type_bytes(p->type));
    LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b), again = ll_block(L, "again"), done = ll_block(L, "done");
    LLVMBuildBr(L->b, again);
    LLVMPositionBuilderAtEnd(L->b, again);
    Val seen = LLVMBuildPhi(L->b, p->bits, "seen");
    Val bits =
        type_is_float(p->type)
            ? to_bits(L, p,
                      float_narrow(L, p->type, combine(L, op, float_widen(L, p->type, from_bits(L, p, seen)), wide)))
            : combine_integers(L, op, p->type, seen, operand);
    Val swap = exchange(L, p, seen, bits);
    Val found = LLVMBuildExtractValue(L->b, swap, 0, "found"), won = LLVMBuildExtractValue(L->b, swap, 1, "won");
    LLVMBasicBlockRef end = LLVMGetInsertBlock(L->b);
    LLVMBuildCondBr(L->b, won, done, again);
    LLVMAddIncoming(seen, (Val[]){first, found}, (LLVMBasicBlockRef[]){before, end}, 2);
    LLVMPositionBuilderAtEnd(L->b, done);
    return type_is_float(p->type) ? from_bits(L, p, found) : found;
}

/* LLVM 22 combines 8 and 16 bits of a word in front of the loop around the word's compare-and-swap: another round
 * would write what was made of an old value. */
static bool combined_too_early(const Lower *L, AtomicOp op, Type t) {
    return (op == ATOMIC_MIN || op == ATOMIC_MAX) && L->o->target == TARGET_PTX && type_is_int(t) && type_bits(t) < 32;
}

/* The row of LLVM's that does it; false: none does. */
static bool native_op(AtomicOp op, Type t, LLVMAtomicRMWBinOp *out) {
    bool is_signed = type_is_signed(t), wide_float = t == T_F32 || t == T_F64;
    if (op == ATOMIC_EXCH) return *out = LLVMAtomicRMWBinOpXchg, true;
    if (type_is_float(t)) {
        *out = op == ATOMIC_ADD ? LLVMAtomicRMWBinOpFAdd : LLVMAtomicRMWBinOpFSub;
        return wide_float && (op == ATOMIC_ADD || op == ATOMIC_SUB);
    }
    switch (op) {
    case ATOMIC_ADD: return *out = LLVMAtomicRMWBinOpAdd, true;
    case ATOMIC_SUB: return *out = LLVMAtomicRMWBinOpSub, true;
    case ATOMIC_MIN: return *out = is_signed ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin, true;
    case ATOMIC_MAX: return *out = is_signed ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax, true;
    case ATOMIC_AND: return *out = LLVMAtomicRMWBinOpAnd, true;
    case ATOMIC_OR: return *out = LLVMAtomicRMWBinOpOr, true;
    case ATOMIC_XOR: return *out = LLVMAtomicRMWBinOpXor, true;
    case ATOMIC_INC: return *out = LLVMAtomicRMWBinOpUIncWrap, true;
    case ATOMIC_DEC: return *out = LLVMAtomicRMWBinOpUDecWrap, true;
    default: return false;
    }
}

/* ---- shared memory on the CPU ----------------------------------------------------------------------- */

/* A block runs on one thread of the system: nobody comes between load and store. */
static bool is_private(const Lower *L, Ref at) {
    return L->o->target == TARGET_CPU && L->m->instrs.at[at].type == T_PTRS;
}

static Val combine_integers(Lower *L, AtomicOp op, Type t, Val old, Val v) {
    bool is_signed = type_is_signed(t);
    Val one = LLVMConstInt(LLVMTypeOf(old), 1, false), zero = LLVMConstNull(LLVMTypeOf(old));
    switch (op) {
    case ATOMIC_ADD: return LLVMBuildAdd(L->b, old, v, "sum");
    case ATOMIC_SUB: return LLVMBuildSub(L->b, old, v, "sum");
    case ATOMIC_MIN: return ll_select(L, ll_icmp(L, is_signed ? LLVMIntSLT : LLVMIntULT, v, old), v, old);
    case ATOMIC_MAX: return ll_select(L, ll_icmp(L, is_signed ? LLVMIntSGT : LLVMIntUGT, v, old), v, old);
    case ATOMIC_AND: return LLVMBuildAnd(L->b, old, v, "and");
    case ATOMIC_OR: return LLVMBuildOr(L->b, old, v, "or");
    case ATOMIC_XOR: return LLVMBuildXor(L->b, old, v, "xor");
    case ATOMIC_INC: return ll_select(L, ll_icmp(L, LLVMIntUGE, old, v), zero, LLVMBuildAdd(L->b, old, one, "up"));
    case ATOMIC_DEC: {
        Val wraps = LLVMBuildOr(L->b, ll_icmp(L, LLVMIntEQ, old, zero), ll_icmp(L, LLVMIntUGT, old, v), "wraps");
        return ll_select(L, wraps, v, LLVMBuildSub(L->b, old, one, "down"));
    }
    default: return v;
    }
}

static Val load_private(Lower *L, const Place *p, Ty t) {
    Val old = LLVMBuildLoad2(L->b, t, p->at, "old");
    LLVMSetAlignment(old, type_bytes(p->type));
    return old;
}

static Val update_private(Lower *L, const Place *p, AtomicOp op, Val v) {
    Val old = load_private(L, p, ll_scalar(L, p->type)), next = v;
    if (type_is_float(p->type) && op != ATOMIC_EXCH)
        next = float_narrow(L, p->type, combine(L, op, float_widen(L, p->type, old), float_widen(L, p->type, v)));
    else if (op != ATOMIC_EXCH) next = combine_integers(L, op, p->type, old, v);
    LLVMSetAlignment(LLVMBuildStore(L->b, next, p->at), type_bytes(p->type));
    return old;
}

/* ---- PTX with scopes and orders ------------------------------------------------------------------ */

/* LLVM's atomicrmw becomes PTX's plain `atom`, relaxed at device scope, whatever it says: others are written here. */
static const char *ptx_type(AtomicOp op, Type t) {
    bool wide = type_bits(t) == 64;
    if (op == ATOMIC_EXCH || (op >= ATOMIC_AND && op <= ATOMIC_XOR)) return wide ? "b64" : "b32";
    if (type_is_float(t)) return wide ? "f64" : "f32";
    if (type_is_signed(t) && (op == ATOMIC_MIN || op == ATOMIC_MAX)) return wide ? "s64" : "s32";
    return wide ? "u64" : "u32";
}

static bool as_ptx(const Lower *L, AtomicOp op, Type t, uint16_t sub) {
    bool counter = op == ATOMIC_INC || op == ATOMIC_DEC, plain = sub == ATOMIC_SUB_OF(op, SCOPE_DEVICE, ORDER_RELAXED);
    return L->o->target == TARGET_PTX && !plain && type_bits(t) >= 32 && !(counter && type_bits(t) == 64);
}

static Val ptx_atom(Lower *L, const Place *p, AtomicOp op, Val v) {
    static const char *const names[ATOMIC__COUNT] = {
        [ATOMIC_ADD] = "add", [ATOMIC_SUB] = "add", [ATOMIC_MIN] = "min", [ATOMIC_MAX] = "max",   [ATOMIC_AND] = "and",
        [ATOMIC_OR] = "or",   [ATOMIC_XOR] = "xor", [ATOMIC_INC] = "inc", [ATOMIC_EXCH] = "exch", [ATOMIC_DEC] = "dec"};
    static const char *const scopes[SCOPE__COUNT] = {
        [SCOPE_DEVICE] = "gpu", [SCOPE_BLOCK] = "cta", [SCOPE_SYSTEM] = "sys"};
    static const char *const orders[ORDER__COUNT] = {[ORDER_RELAXED] = "relaxed",
                                                     [ORDER_ACQUIRE] = "acquire",
                                                     [ORDER_RELEASE] = "release",
                                                     [ORDER_ACQ_REL] = "acq_rel",
                                                     [ORDER_SEQ_CST] = "acq_rel"};
    Scope scope = atomic_scope(p->sub);
    bool bits = op == ATOMIC_EXCH, wide = type_bits(p->type) == 64, is_float = type_is_float(p->type) && !bits;
    if (atomic_order(p->sub) == ORDER_SEQ_CST)
        LLVMBuildFenceSyncScope(L->b, LLVMAtomicOrderingSequentiallyConsistent, scope_of(L, scope), "");
    if (op == ATOMIC_SUB) v = is_float ? LLVMBuildFNeg(L->b, v, "minus") : LLVMBuildNeg(L->b, v, "minus");
    bool shared = LLVMGetPointerAddressSpace(LLVMTypeOf(p->at)) == L->target->address_space[T_PTRS];
    char text[96], constraints[32], r = is_float ? (wide ? 'd' : 'f') : wide ? 'l' : 'r';
    int length = snprintf(text, sizeof text, "atom.%s.%s.%s.%s.%s $0, [$1], $2;", orders[atomic_order(p->sub)],
                          scopes[scope], shared ? "shared" : "global", names[op], ptx_type(op, p->type));
    int given = snprintf(constraints, sizeof constraints, "=%c,l,%c,~{memory}", r, r);
    Ty params[2] = {L->i64, LLVMTypeOf(v)}, type = LLVMFunctionType(LLVMTypeOf(v), params, 2, false);
    Val code = LLVMGetInlineAsm(type, text, (size_t)length, constraints, (size_t)given, true, false,
                                LLVMInlineAsmDialectATT, false);
    Val args[2] = {LLVMBuildPtrToInt(L->b, p->at, L->i64, "at"), v};
    return LLVMBuildCall2(L->b, type, code, args, 2, "old");
}

static Place place(Lower *L, const Instr *in, Val at) {
    Type t = (Type)in->type;
    return (Place){at, t, LLVMIntTypeInContext(L->ctx, type_bits(t)), in->sub};
}

Val lower_atomic(Lower *L, const Instr *in, Val *a) {
    Place p = place(L, in, a[0]);
    AtomicOp op = atomic_op(in->sub);
    LLVMAtomicRMWBinOp native;
    if (is_private(L, in->args[0])) return update_private(L, &p, op, a[1]);
    if (!native_op(op, p.type, &native) || combined_too_early(L, op, p.type)) return loop(L, &p, op, a[1]);
    Val v = op == ATOMIC_EXCH ? to_bits(L, &p, a[1]) : a[1];
    if (as_ptx(L, op, p.type, in->sub))
        return op == ATOMIC_EXCH ? from_bits(L, &p, ptx_atom(L, &p, op, v)) : ptx_atom(L, &p, op, v);
    Val old = LLVMBuildAtomicRMWSyncScope(L->b, native, p.at, v, ordering_of(atomic_order(in->sub)),
                                          scope_of(L, atomic_scope(in->sub)));
    LLVMSetAlignment(old, type_bytes(p.type));
    return op == ATOMIC_EXCH ? from_bits(L, &p, old) : old;
}

Val lower_cas(Lower *L, const Instr *in, Val *a) {
    Place p = place(L, in, a[0]);
    if (is_private(L, in->args[0])) {
        Val old = load_private(L, &p, p.bits), same = ll_icmp(L, LLVMIntEQ, old, to_bits(L, &p, a[1]));
        Val next = ll_select(L, same, to_bits(L, &p, a[2]), old);
        LLVMSetAlignment(LLVMBuildStore(L->b, next, p.at), type_bytes(p.type));
        return from_bits(L, &p, old);
    }
    Val swap = exchange(L, &p, to_bits(L, &p, a[1]), to_bits(L, &p, a[2]));
    return from_bits(L, &p, LLVMBuildExtractValue(L->b, swap, 0, "old"));
}

Val lower_fence(Lower *L, const Instr *in, Val *a) {
    (void)a;
    bool light = in->sub >= FENCE_LIGHT;
    LLVMAtomicOrdering order = light ? LLVMAtomicOrderingAcquireRelease : LLVMAtomicOrderingSequentiallyConsistent;
    LLVMBuildFenceSyncScope(L->b, order, scope_of(L, (Scope)(in->sub - (light ? FENCE_LIGHT : 0))), "");
    return NULL;
}

/* A loop waits for what another thread does: on a GPU those run anyway. */
Val lower_pause(Lower *L, const Instr *in, Val *a) {
    (void)in, (void)a;
    if (L->o->target == TARGET_PTX) return NULL;
    Ty type = LLVMFunctionType(L->i32, NULL, 0, false);
    Val fn = LLVMGetNamedFunction(L->mod, "sched_yield");
    if (!fn) fn = LLVMAddFunction(L->mod, "sched_yield", type);
    LLVMBuildCall2(L->b, type, fn, NULL, 0, "");
    return NULL;
}
