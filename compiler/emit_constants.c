/* emit_constants.c - addresses of constant memory in registers, for PTX.
 *
 * Pointers to shared and constant memory have 32 bits (see target.c). What LLVM writes to get such an address into a
 * register, `mov.b32 %r, symbol`, ptxas takes for shared memory and refuses for constant memory. So after LLVM's passes
 * each use of a constant array's address, other than by a load that can name the symbol itself, gets an address that
 * comes from `mov.b64`, cut to 32 bits: constant memory is smaller than that. */
#include "emit.h"

#include <string.h>

enum { CONSTANT_SPACE = 4 };

typedef struct Registers {
    Unit *u;
    LLVMBuilderRef b; /* at the start of the function */
} Registers;

static bool is_constant_data(LLVMValueRef v) {
    return LLVMIsAGlobalVariable(v) && LLVMGetPointerAddressSpace(LLVMTypeOf(v)) == CONSTANT_SPACE;
}

/* The array that an address is in: a symbol, or an expression made of one; NULL: none. */
static LLVMValueRef array_of(LLVMValueRef v) {
    for (;;) {
        if (is_constant_data(v)) return v;
        if (!LLVMIsAConstantExpr(v)) return NULL;
        v = LLVMGetOperand(v, 0);
    }
}

static LLVMValueRef symbol_address(Registers *r, LLVMValueRef array) {
    size_t length;
    LLVMSetLinkage(array, LLVMInternalLinkage); /* a private one that only assembly names wouldn't be written */
    const char *name = LLVMGetValueName2(array, &length);
    const char *text = arena_printf(r->u->arena, "mov.b64 $0, %.*s;", (int)length, name);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(r->u->ctx), type = LLVMFunctionType(i64, NULL, 0, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(type, text, strlen(text), "=l", 2, false, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef wide = LLVMBuildCall2(r->b, type, code, NULL, 0, "");
    LLVMValueRef cut = LLVMBuildTrunc(r->b, wide, LLVMInt32TypeInContext(r->u->ctx), "");
    return LLVMBuildIntToPtr(r->b, cut, LLVMTypeOf(array), "");
}

/* The same address, computed by instructions. */
static LLVMValueRef in_register(Registers *r, LLVMValueRef v) {
    if (is_constant_data(v)) return symbol_address(r, v);
    LLVMValueRef base = in_register(r, LLVMGetOperand(v, 0)), index[8];
    if (LLVMGetConstOpcode(v) != LLVMGetElementPtr)
        return LLVMBuildCast(r->b, LLVMGetConstOpcode(v), base, LLVMTypeOf(v), "");
    unsigned n = (unsigned)LLVMGetNumOperands(v) - 1;
    for (unsigned i = 0; i < n && i < 8; i++) index[i] = LLVMGetOperand(v, i + 1);
    return LLVMBuildGEP2(r->b, LLVMGetGEPSourceElementType(v), base, index, n < 8 ? n : 8, "");
}

static void rewrite(Registers *r, LLVMValueRef in) {
    bool is_load = LLVMGetInstructionOpcode(in) == LLVMLoad;
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(in); i++) {
        LLVMValueRef v = LLVMGetOperand(in, i);
        if (is_load || !LLVMIsConstant(v) || !array_of(v)) continue;
        LLVMPositionBuilderBefore(r->b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(
                                            LLVMGetBasicBlockParent(LLVMGetInstructionParent(in)))));
        LLVMSetOperand(in, i, in_register(r, v));
    }
}

void emit_constants(Unit *u) {
    bool any = false;
    for (LLVMValueRef g = LLVMGetFirstGlobal(u->mod); g && !any; g = LLVMGetNextGlobal(g)) any = is_constant_data(g);
    if (!any) return;
    Registers r = {u, LLVMCreateBuilderInContext(u->ctx)};
    for (LLVMValueRef f = LLVMGetFirstFunction(u->mod); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in)) rewrite(&r, in);
    LLVMDisposeBuilder(r.b);
}
