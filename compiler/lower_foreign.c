/* lower_foreign.c - calls of functions that aren't ours: of bitcode that is linked in, of PTX and machine code that the
 * driver links, of a library on the CPU. The calling convention is C's: narrow integers are extended by the caller and
 * the callee, pointers are generic. */
#include "lower.h"

#include <string.h>

static Ty c_type(Lower *L, Type t) {
    return type_is_ptr(t) ? LLVMPointerTypeInContext(L->ctx, 0) : ll_memory_type(L, t);
}

static void extend(Lower *L, Val fn, LLVMAttributeIndex at, Type t) {
    if (t != T_VOID && !type_is_ptr(t) && !type_is_float(t) && type_bytes(t) < 4)
        ll_attribute(L, fn, at, type_is_signed(t) ? "signext" : "zeroext", 0);
}

static Ty call_type(Lower *L, const Instr *in) {
    Ty *types = ARENA_ARRAY(L->m->arena, Ty, in->nargs + 1);
    for (uint32_t i = 0; i < in->nargs; i++) types[i] = c_type(L, (Type)L->m->instrs.at[in->args[i]].type);
    return LLVMFunctionType(c_type(L, (Type)in->type), types, in->nargs, false);
}

static Val declare(Lower *L, const Instr *in, Ty type) {
    const char *symbol = L->m->foreign.at[in->imm].symbol;
    Val fn = LLVMGetNamedFunction(L->mod, symbol);
    if (fn) return fn;
    fn = LLVMAddFunction(L->mod, symbol, type);
    ll_attribute(L, fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    extend(L, fn, LLVMAttributeReturnIndex, (Type)in->type);
    for (uint32_t i = 0; i < in->nargs; i++) extend(L, fn, i + 1, (Type)L->m->instrs.at[in->args[i]].type);
    return fn;
}

Val lower_call(Lower *L, const Instr *in) {
    Val *args = ARENA_ARRAY(L->m->arena, Val, in->nargs + 1);
    for (uint32_t i = 0; i < in->nargs; i++) {
        Type t = (Type)L->m->instrs.at[in->args[i]].type;
        args[i] = ll_value(L, in->args[i]);
        if (type_is_ptr(t) && L->target->address_space[t])
            args[i] = LLVMBuildAddrSpaceCast(L->b, args[i], c_type(L, t), "generic");
        if (t == T_BOOL) args[i] = LLVMBuildZExt(L->b, args[i], L->i8, "b");
    }
    Ty type = call_type(L, in);
    Val fn = declare(L, in, type);
    Val result = LLVMBuildCall2(L->b, type, fn, args, in->nargs, in->type == T_VOID ? "" : "r");
    return in->type == T_BOOL ? ll_icmp(L, LLVMIntNE, result, LLVMConstInt(L->i8, 0, false)) : result;
}
