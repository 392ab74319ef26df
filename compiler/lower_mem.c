/* lower_mem.c - addresses, loads and stores, the thread's own memory, constant data. */
#include "lower.h"

#include <stdio.h>
#include <string.h>

Val lower_addr(Lower *L, const Instr *in, Val *a) {
    Type index = (Type)L->m->instrs.at[in->args[1]].type;
    Val i = a[1];
    if (type_bits(index) < 64)
        i = type_is_signed(index) ? LLVMBuildSExt(L->b, i, L->i64, "i") : LLVMBuildZExt(L->b, i, L->i64, "i");
    if (in->imm != 1) i = LLVMBuildMul(L->b, i, LLVMConstInt(L->i64, in->imm, false), "o");
    return LLVMBuildInBoundsGEP2(L->b, L->i8, a[0], &i, 1, "at");
}

static void describe_access(const Instr *in, Val access, Type value) {
    LLVMSetAlignment(access, in->sub & MEM_UNALIGNED ? 1 : type_bytes(value));
    if (in->sub & MEM_VOLATILE) LLVMSetVolatile(access, true);
}

/* ---- hints for caches, which LLVM has no word for: ld.global.cs.f32 ------------------------------------------- */

static bool hinted(const Lower *L, const Instr *in, Val at) {
    return in->sub & MEM_HINTS && !(in->sub & (MEM_VOLATILE | MEM_UNALIGNED)) && L->o->target == TARGET_PTX &&
           LLVMGetPointerAddressSpace(LLVMTypeOf(at)) == L->target->address_space[T_PTR];
}

static const char *hint_name(const Instr *in) { return in->sub & MEM_L2 ? "cg" : in->sub & MEM_STREAM ? "cs" : "lu"; }

/* The register that holds the value: PTX's smallest has 16 bits. */
static Ty hint_register(Lower *L, Type t, char *letter) {
    unsigned bits = type_bytes(t) * 8;
    *letter = bits <= 16 ? 'h' : bits == 32 ? 'r' : 'l';
    return bits <= 16 ? L->i16 : LLVMIntTypeInContext(L->ctx, bits);
}

static Val hint_call(Lower *L, Ty result, const char *text, const char *constraints, unsigned n, Val *args) {
    Ty types[2];
    for (unsigned i = 0; i < n; i++) types[i] = LLVMTypeOf(args[i]);
    Ty type = LLVMFunctionType(result, types, n, false);
    Val code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints), true, false,
                                LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(L->b, type, code, args, n, "");
}

static Val load_hinted(Lower *L, const Instr *in, Val at) {
    Type t = (Type)in->type;
    char letter, text[48], constraints[24];
    Ty whole = hint_register(L, t, &letter), memory = ll_memory_type(L, t);
    unsigned bits = type_bytes(t) * 8;
    snprintf(text, sizeof text, "ld.global.%s.%c%u $0, [$1];", hint_name(in), bits == 8 ? 'u' : 'b', bits);
    snprintf(constraints, sizeof constraints, "=%c,l,~{memory}", letter);
    Val v = hint_call(L, whole, text, constraints, 1, &at);
    if (bits == 8) v = LLVMBuildTrunc(L->b, v, L->i8, "v");
    return LLVMTypeOf(v) == memory ? v : LLVMBuildBitCast(L->b, v, memory, "v");
}

static void store_hinted(Lower *L, const Instr *in, Val at, Type t, Val v) {
    char letter, text[48], constraints[24];
    Ty whole = hint_register(L, t, &letter);
    unsigned bits = type_bytes(t) * 8;
    snprintf(text, sizeof text, "st.global.%s.%c%u [$0], $1;", hint_name(in), bits == 8 ? 'u' : 'b', bits);
    snprintf(constraints, sizeof constraints, "l,%c,~{memory}", letter);
    if (bits == 8) v = LLVMBuildZExt(L->b, v, whole, "v");
    Val args[2] = {at, LLVMTypeOf(v) == whole ? v : LLVMBuildBitCast(L->b, v, whole, "v")};
    hint_call(L, L->void_, text, constraints, 2, args);
}

Val lower_load(Lower *L, const Instr *in, Val *a) {
    Type t = (Type)in->type;
    if (hinted(L, in, a[0])) {
        Val v = load_hinted(L, in, a[0]);
        return t == T_BOOL ? ll_icmp(L, LLVMIntNE, v, ll_int(L, LLVMTypeOf(v), 0)) : v;
    }
    Val v = LLVMBuildLoad2(L->b, ll_memory_type(L, t), a[0], "v");
    describe_access(in, v, t);
    if (in->sub & MEM_INVARIANT) {
        LLVMMetadataRef empty = LLVMMDNodeInContext2(L->ctx, NULL, 0);
        LLVMSetMetadata(v, LLVMGetMDKindIDInContext(L->ctx, "invariant.load", 14), LLVMMetadataAsValue(L->ctx, empty));
    }
    return t == T_BOOL ? ll_icmp(L, LLVMIntNE, v, ll_int(L, LLVMTypeOf(v), 0)) : v;
}

Val lower_store(Lower *L, const Instr *in, Val *a) {
    Type t = (Type)L->m->instrs.at[in->args[1]].type;
    Val v = t == T_BOOL ? LLVMBuildZExt(L->b, a[1], ll_memory_type(L, t), "v") : a[1];
    if (hinted(L, in, a[0])) return store_hinted(L, in, a[0], t, v), NULL;
    Val store = LLVMBuildStore(L->b, v, a[0]);
    describe_access(in, store, t);
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
