/* emit_divisions.c - divisions of integers, hidden from LLVM's vectoriser.
 *
 * A division behind a condition can't be moved in front of it, since it may trap. Where it is the same for all lanes of
 * a vector and only addresses are made of it, the vectoriser (LLVM 22) does it once, under the condition of the first
 * lane, and the others go on with what isn't a result if that one doesn't come there. So while it runs, divisions are
 * calls of an intrinsic that it takes apart lane by lane or as a vector and that may run anywhere: the fixed-point
 * product, which nothing else here uses; its scale says which division it stands for. Then they are divisions again, of
 * lanes that don't come there, too, and therefore with a divisor that can't trap. */
#include "emit.h"

#include <string.h>

typedef struct StandIn {
    LLVMOpcode op;
    const char *name;
    unsigned scale;
} StandIn;

/* Those of one intrinsic follow each other. */
static const StandIn stand_ins[] = {{LLVMUDiv, "llvm.umul.fix", 1},
                                    {LLVMURem, "llvm.umul.fix", 2},
                                    {LLVMSDiv, "llvm.smul.fix", 1},
                                    {LLVMSRem, "llvm.smul.fix", 2}};

bool emit_is_division(LLVMValueRef in) {
    LLVMOpcode op = LLVMGetInstructionOpcode(in);
    return (op == LLVMSDiv || op == LLVMUDiv || op == LLVMSRem || op == LLVMURem) &&
           !LLVMIsConstant(LLVMGetOperand(in, 1));
}

static unsigned intrinsic_of(const StandIn *s) { return LLVMLookupIntrinsicID(s->name, strlen(s->name)); }

/* The first row whose intrinsic the function is; NULL: none. */
static const StandIn *find_stand_in(LLVMValueRef f) {
    unsigned id = LLVMGetIntrinsicID(f);
    for (size_t i = 0; id && i < sizeof stand_ins / sizeof *stand_ins; i++)
        if (intrinsic_of(&stand_ins[i]) == id) return &stand_ins[i];
    return NULL;
}

/* ---- hiding ------------------------------------------------------------------------------------ */

static void hide(Unit *u, LLVMBuilderRef b, LLVMValueRef in) {
    const StandIn *s = stand_ins;
    while (s->op != LLVMGetInstructionOpcode(in)) s++;
    LLVMTypeRef t = LLVMTypeOf(in);
    unsigned id = intrinsic_of(s);
    LLVMValueRef scale = LLVMConstInt(LLVMInt32TypeInContext(u->ctx), s->scale, false),
                 args[] = {LLVMGetOperand(in, 0), LLVMGetOperand(in, 1), scale};
    LLVMPositionBuilderBefore(b, in);
    LLVMValueRef call = LLVMBuildCall2(b, LLVMIntrinsicGetType(u->ctx, id, &t, 1),
                                       LLVMGetIntrinsicDeclaration(u->mod, id, &t, 1), args, 3, "");
    LLVMReplaceAllUsesWith(in, call);
    LLVMInstructionEraseFromParent(in);
}

bool emit_hide_divisions(Unit *u) {
    for (LLVMValueRef f = LLVMGetFirstFunction(u->mod); f; f = LLVMGetNextFunction(f))
        if (find_stand_in(f)) return false;
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    for (LLVMValueRef f = LLVMGetFirstFunction(u->mod); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef in = LLVMGetFirstInstruction(block), next; in; in = next) {
                next = LLVMGetNextInstruction(in);
                if (emit_is_division(in)) hide(u, b, in);
            }
    LLVMDisposeBuilder(b);
    return true;
}

/* ---- showing ----------------------------------------------------------------------------------- */

static unsigned bits_of(LLVMTypeRef t) {
    return LLVMGetIntTypeWidth(LLVMGetTypeKind(t) == LLVMVectorTypeKind ? LLVMGetElementType(t) : t);
}

static LLVMValueRef constant(LLVMTypeRef t, unsigned long long value) {
    LLVMValueRef lanes[256];
    if (LLVMGetTypeKind(t) != LLVMVectorTypeKind) return LLVMConstInt(t, value, false);
    unsigned n = LLVMGetVectorSize(t);
    for (unsigned i = 0; i < n; i++) lanes[i] = LLVMConstInt(LLVMGetElementType(t), value, false);
    return LLVMConstVector(lanes, n);
}

/* 1 where the division would trap: by 0, or the least number by -1. */
static LLVMValueRef harmless(LLVMBuilderRef b, LLVMValueRef x, LLVMValueRef d, bool is_signed) {
    LLVMTypeRef t = LLVMTypeOf(d);
    LLVMValueRef bad = LLVMBuildICmp(b, LLVMIntEQ, d, constant(t, 0), "");
    if (is_signed) {
        LLVMValueRef least = constant(t, 1ull << (bits_of(t) - 1));
        LLVMValueRef both = LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntEQ, d, LLVMConstAllOnes(t), ""),
                                         LLVMBuildICmp(b, LLVMIntEQ, x, least, ""), "");
        bad = LLVMBuildOr(b, bad, both, "");
    }
    return LLVMBuildSelect(b, bad, constant(t, 1), d, "");
}

/* s: the first row of its intrinsic. */
static void show(LLVMBuilderRef b, LLVMValueRef call, const StandIn *s) {
    unsigned long long scale = LLVMConstIntGetZExtValue(LLVMGetOperand(call, 2));
    while (s->scale != scale) s++;
    LLVMPositionBuilderBefore(b, call);
    LLVMValueRef x = LLVMGetOperand(call, 0),
                 d = harmless(b, x, LLVMGetOperand(call, 1), s->op == LLVMSDiv || s->op == LLVMSRem);
    LLVMReplaceAllUsesWith(call, LLVMBuildBinOp(b, s->op, x, d, ""));
    LLVMInstructionEraseFromParent(call);
}

void emit_show_divisions(Unit *u) {
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    for (LLVMValueRef f = LLVMGetFirstFunction(u->mod), next; f; f = next) {
        const StandIn *s = find_stand_in(f);
        next = LLVMGetNextFunction(f);
        if (!s) continue;
        for (LLVMUseRef use; (use = LLVMGetFirstUse(f));) show(b, LLVMGetUser(use), s);
        LLVMDeleteFunction(f);
    }
    LLVMDisposeBuilder(b);
}
