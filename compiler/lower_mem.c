/* lower_mem.c - addresses, loads and stores, the thread's own memory, constant data. */
#include "lower.h"
#include "vectors.h"

#include <stdio.h>
#include <string.h>

Val lower_addr(Lower *L, const Instr *in, Val *a) {
    Type index = (Type)L->m->instrs.at[in->args[1]].type;
    Val i = a[1];
    if (type_bits(index) < 64)
        i = type_is_signed(index) ? LLVMBuildSExt(L->b, i, L->i64, "i") : LLVMBuildZExt(L->b, i, L->i64, "i");
    if (in->imm != 1) i = LLVMBuildMul(L->b, i, LLVMConstInt(L->i64, in->imm, false), "o");
    if (L->own_stride && L->vectors->unit[in - L->m->instrs.at]) i = LLVMBuildMul(L->b, i, L->own_stride, "o");
    LLVMGEPNoWrapFlags where = in->sub & ADDR_STEP ? LLVMGEPFlagNUSW : LLVMGEPFlagInBounds | LLVMGEPFlagNUSW;
    return LLVMBuildGEPWithNoWrapFlags(L->b, L->i8, a[0], &i, 1, "at", where);
}

/* Where nothing says what the address is a multiple of, the threads look. A CPU reads neighbours at once anywhere. */
Val lower_aligned(Lower *L, const Instr *in, Val *a) {
    if (L->o->target != TARGET_PTX) return ll_int(L, ll_wide(L, L->i1), 0);
    Val address = LLVMBuildPtrToInt(L->b, a[0], L->i64, "n");
    Val rest = LLVMBuildAnd(L->b, address, ll_int(L, L->i64, in->imm - 1), "n");
    return ll_icmp(L, LLVMIntEQ, rest, ll_int(L, L->i64, 0));
}

/* The spaces of a GPU are windows of the generic one; the CPU has but that. */
Val lower_address(Lower *L, const Instr *in, Val *a) {
    (void)in;
    Val at = a[0];
    if (L->o->target == TARGET_PTX) at = LLVMBuildAddrSpaceCast(L->b, at, LLVMPointerTypeInContext(L->ctx, 0), "g");
    return LLVMBuildPtrToInt(L->b, at, ll_wide(L, L->i64), "n");
}

static void describe_access(const Instr *in, Val access, Type value) {
    unsigned natural = in->sub & MEM_UNALIGNED ? 1 : type_bytes(value);
    LLVMSetAlignment(access, mem_align(in->sub) ? mem_align(in->sub) : natural);
    if (in->sub & MEM_VOLATILE) LLVMSetVolatile(access, true);
}

void ll_mark_invariant(Lower *L, Val load) {
    LLVMMetadataRef empty = LLVMMDNodeInContext2(L->ctx, NULL, 0);
    LLVMSetMetadata(load, LLVMGetMDKindIDInContext(L->ctx, "invariant.load", 14), LLVMMetadataAsValue(L->ctx, empty));
}

/* Nothing for the GPU, but LLVM has made every store before it. */
static void keep_order(Lower *L) {
    static const char constraints[] = "~{memory}";
    Ty type = LLVMFunctionType(L->void_, NULL, 0, false);
    Val code =
        LLVMGetInlineAsm(type, "", 0, constraints, sizeof constraints - 1, true, false, LLVMInlineAsmDialectATT, false);
    LLVMBuildCall2(L->b, type, code, NULL, 0, "");
}

Val lower_load(Lower *L, const Instr *in, Val *a) {
    Type t = (Type)in->type;
    Ty memory = ll_memory_type(L, t);
    Val v;
    if (in->sub & MEM_ORDERED) keep_order(L);
    if (ll_hinted(L, in->sub, a[0])) {
        v = ll_load_hinted(L, in->sub, memory, type_bytes(t), a[0]);
    } else {
        v = LLVMBuildLoad2(L->b, memory, a[0], "v");
        describe_access(in, v, t);
        if (in->sub & MEM_INVARIANT) ll_mark_invariant(L, v);
    }
    return t == T_BOOL ? ll_icmp(L, LLVMIntNE, v, ll_int(L, memory, 0)) : v;
}

Val lower_store(Lower *L, const Instr *in, Val *a) {
    Type t = (Type)L->m->instrs.at[in->args[1]].type;
    Val v = t == T_BOOL ? LLVMBuildZExt(L->b, a[1], ll_memory_type(L, t), "v") : a[1];
    if (ll_hinted(L, in->sub, a[0])) ll_store_hinted(L, in->sub, type_bytes(t), a[0], v);
    else describe_access(in, LLVMBuildStore(L->b, v, a[0]), t);
    return NULL;
}

/* The storage stands in the function's entry block, so that it is made once and SROA finds it; on the CPU
 * lifetime.start where the thread reaches it says that nothing comes over from the thread before. */
Val lower_alloca(Lower *L, const Instr *in, Val *a) {
    (void)a;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(L->b);
    Val first = LLVMGetFirstInstruction(L->entry);
    if (first) LLVMPositionBuilderBefore(L->b, first);
    else LLVMPositionBuilderAtEnd(L->b, L->entry);
    uint64_t size = in->imm ? in->imm : 1;
    Val v = LLVMBuildAlloca(L->b, LLVMArrayType2(L->i8, size), "mem");
    LLVMSetAlignment(v, 16);
    LLVMPositionBuilderAtEnd(L->b, here);
    if (L->cpu) ll_intrinsic(L, "llvm.lifetime.start", LLVMTypeOf(v), 1, &v);
    return v;
}

Val lower_data(Lower *L, const Instr *in, Val *a) {
    (void)a;
    Val *global = &L->data[in->imm];
    if (*global) return *global;
    const IrData *d = &L->m->data.at[in->imm];
    Val bytes = LLVMConstStringInContext2(L->ctx, d->bytes, d->size, true);
    char name[32];
    snprintf(name, sizeof name, "data_%u", (unsigned)in->imm);
    *global = LLVMAddGlobalInAddressSpace(L->mod, LLVMTypeOf(bytes), name, L->target->address_space[in->type]);
    LLVMSetInitializer(*global, bytes);
    LLVMSetGlobalConstant(*global, true);
    LLVMSetLinkage(*global, LLVMPrivateLinkage);
    LLVMSetAlignment(*global, d->align ? d->align : 16);
    return *global;
}
