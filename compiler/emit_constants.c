/* emit_constants.c - addresses of constant memory in registers, for PTX.
 *
 * Pointers to shared and constant memory have 32 bits (see target.c). What LLVM writes to get such an address into a
 * register, `mov.b32 %r, symbol`, ptxas takes for shared memory and refuses for constant memory. So after LLVM's passes
 * each use of a constant array's address, other than by a load that can name the symbol itself, gets an address that
 * comes from `mov.b64`, cut to 32 bits: constant memory is smaller than that. */
#include "emit.h"

#include <assert.h>
#include <string.h>

enum { CONSTANT_SPACE = 4 };

typedef struct Registers {
    Unit *u;
    LLVMBuilderRef b; /* at the start of the function */
} Registers;

static bool is_constant_data(LLVMValueRef v) {
    return LLVMIsAGlobalVariable(v) && LLVMGetPointerAddressSpace(LLVMTypeOf(v)) == CONSTANT_SPACE;
}

/* Is it the address of such an array, or an expression with one in it? */
static bool has_address(LLVMValueRef v) {
    if (is_constant_data(v)) return true;
    for (unsigned i = 0; LLVMIsAConstantExpr(v) && i < (unsigned)LLVMGetNumOperands(v); i++)
        if (has_address(LLVMGetOperand(v, i))) return true;
    return false;
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

/* The same value, computed by instructions. */
static LLVMValueRef in_register(Registers *r, LLVMValueRef v) {
    if (is_constant_data(v)) return symbol_address(r, v);
    if (!has_address(v)) return v;
    LLVMOpcode op = LLVMGetConstOpcode(v);
    unsigned n = (unsigned)LLVMGetNumOperands(v);
    LLVMValueRef *part = ARENA_ARRAY(r->u->arena, LLVMValueRef, n);
    for (unsigned i = 0; i < n; i++) part[i] = in_register(r, LLVMGetOperand(v, i));
    if (op == LLVMGetElementPtr)
        return LLVMBuildGEP2(r->b, LLVMGetGEPSourceElementType(v), part[0], part + 1, n - 1, "");
    if (n == 1) return LLVMBuildCast(r->b, op, part[0], LLVMTypeOf(v), "");
    assert(n == 2); /* the other expressions are sums, differences and xor */
    return LLVMBuildBinOp(r->b, op, part[0], part[1], "");
}

static void rewrite(Registers *r, LLVMValueRef in) {
    bool is_load = LLVMGetInstructionOpcode(in) == LLVMLoad;
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(in); i++) {
        LLVMValueRef v = LLVMGetOperand(in, i);
        if (is_load || !LLVMIsConstant(v) || !has_address(v)) continue;
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
