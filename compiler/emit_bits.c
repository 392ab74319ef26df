/* emit_bits.c - one bit as a signed number of bf16, for PTX.
 *
 * LLVM makes `sitofp i1` of a conversion whose integer comes from a condition. Where the GPU has an instruction for it,
 * which is for bf16 from sm_90 on, LLVM 22 selects 1 for true there, and not -1. So after its passes such a conversion
 * is a choice of two constants. */
#include "emit.h"

static bool is_wrong(LLVMValueRef in) {
    if (LLVMGetInstructionOpcode(in) != LLVMSIToFP || LLVMGetTypeKind(LLVMTypeOf(in)) != LLVMBFloatTypeKind)
        return false;
    return LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(in, 0))) == 1;
}

static void choose(LLVMBuilderRef b, LLVMValueRef in) {
    LLVMTypeRef t = LLVMTypeOf(in);
    LLVMPositionBuilderBefore(b, in);
    LLVMValueRef number = LLVMBuildSelect(b, LLVMGetOperand(in, 0), LLVMConstReal(t, -1.0), LLVMConstReal(t, 0.0), "");
    LLVMReplaceAllUsesWith(in, number);
    LLVMInstructionEraseFromParent(in);
}

void emit_bits(Unit *u) {
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->ctx);
    for (LLVMValueRef f = LLVMGetFirstFunction(u->mod); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef in = LLVMGetFirstInstruction(block), next; in; in = next) {
                next = LLVMGetNextInstruction(in);
                if (is_wrong(in)) choose(b, in);
            }
    LLVMDisposeBuilder(b);
}
