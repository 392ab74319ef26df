/* lower_cpu_single.c - operations of a vector of threads that have no form for vectors: done for one lane after the
 * other.
 *
 * Vectors among the operands go to memory, and the lanes' results come from there. */
#include "lower_cpu_body.h"

static const Instr *instr(const Lower *L, Ref r) { return &L->m->instrs.at[r]; }
static Type type_of(const Lower *L, Ref r) { return (Type)instr(L, r)->type; }
static Ty wide(const Lower *L, Ty t) { return LLVMVectorType(t, L->body->lanes); }

static Ty in_memory(const Lower *L, Ty t) { return t == L->i1 ? L->i8 : t; }

/* The same pointer, of which LLVM knows nothing: else it takes each element out of the vector's register. Addresses of
 * stores that come so late let loads overtake them that they meet, and each such loss costs more than all the rest. */
static Val hidden(Lower *L, Val at) {
    Ty pointer = LLVMTypeOf(at), type = LLVMFunctionType(pointer, &pointer, 1, false);
    static const char constraints[] = "=r,0";
    Val same = LLVMGetInlineAsm(type, "", 0, constraints, sizeof constraints - 1, false, false, LLVMInlineAsmDialectATT,
                                false);
    return LLVMBuildCall2(L->b, type, same, &at, 1, "at");
}

/* Where a vector's elements lie, for a loop over lanes; NULL for what needs no memory. */
Val lanes_spill(Lower *L, Ref r) {
    if (lane_kind(L, r) != LANE_VECTOR) return NULL;
    Val v = lanes_held(L, r);
    Ty element = ll_scalar(L, type_of(L, r));
    if (element == L->i1) v = LLVMBuildZExt(L->b, v, wide(L, L->i8), "v");
    Val at = lanes_variable(L, LLVMTypeOf(v), "lanes");
    LLVMBuildStore(L->b, v, at);
    return hidden(L, at);
}

static Val element_at(Lower *L, Ty element, Val at, Val lane) {
    return LLVMBuildInBoundsGEP2(L->b, in_memory(L, element), at, &lane, 1, "at");
}

Val lanes_one(Lower *L, Ref r, Val spilled, Val lane) {
    Ty element = ll_scalar(L, type_of(L, r));
    if (spilled) {
        Val v = LLVMBuildLoad2(L->b, in_memory(L, element), element_at(L, element, spilled, lane), "v");
        return element == L->i1 ? ll_icmp(L, LLVMIntNE, v, LLVMConstInt(L->i8, 0, false)) : v;
    }
    Val v = lanes_held(L, r);
    if (lane_kind(L, r) == LANE_SCALAR) return v;
    Val offset = LLVMBuildMul(L->b, lane, LLVMConstInt(L->i64, (uint64_t)L->body->u->stride[r], true), "offset");
    if (LLVMGetTypeKind(element) == LLVMPointerTypeKind) return LLVMBuildGEP2(L->b, L->i8, v, &offset, 1, "at");
    return LLVMBuildAdd(L->b, v, element == L->i64 ? offset : LLVMBuildTrunc(L->b, offset, element, "o"), "v");
}

/* A record says which thread it is from. */
static Val print_lane(Lower *L, const Instr *in, const Val *args, Val lane) {
    CpuState *c = L->cpu;
    Val first = c->thread[0];
    c->thread[0] = LLVMBuildNUWAdd(L->b, first, LLVMBuildTrunc(L->b, lane, L->i32, "lane"), "x");
    lower_print(L, in, args);
    c->thread[0] = first;
    return NULL;
}

/* An operation that has no vector form: a loop over the lanes that are on, the lowest first. */
Val lanes_single(Lower *L, Ref r) {
    const Instr *in = instr(L, r);
    Ty element = ll_scalar(L, (Type)in->type), bits_type = LLVMIntTypeInContext(L->ctx, L->body->lanes);
    Val *spilled = ARENA_ARRAY(L->m->arena, Val, in->nargs + 1), *args = ARENA_ARRAY(L->m->arena, Val, in->nargs + 1);
    Val result = NULL;
    if (in->type != T_VOID) result = lanes_variable(L, wide(L, in_memory(L, element)), "result");
    for (uint32_t i = 0; i < in->nargs; i++) spilled[i] = lanes_spill(L, in->args[i]);
    Val on = lanes_bits(L, lanes_full_mask(L, L->body->now));
    LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b), again = ll_block(L, "lane"), done = ll_block(L, "lanes");
    if (L->body->now) LLVMBuildCondBr(L->b, ll_icmp(L, LLVMIntNE, on, LLVMConstNull(bits_type)), again, done);
    else LLVMBuildBr(L->b, again);
    LLVMPositionBuilderAtEnd(L->b, again);
    Val left = LLVMBuildPhi(L->b, bits_type, "left"), count[2] = {left, LLVMConstInt(L->i1, 1, false)};
    Val lane = LLVMBuildZExtOrBitCast(L->b, ll_intrinsic(L, "llvm.cttz", bits_type, 2, count), L->i64, "lane");
    for (uint32_t i = 0; i < in->nargs; i++) args[i] = lanes_one(L, in->args[i], spilled[i], lane);
    Val v = in->op == OP_PRINT ? print_lane(L, in, args, lane) : lower_operation(L, in, args);
    if (element == L->i1) v = LLVMBuildZExt(L->b, v, L->i8, "v");
    if (result) LLVMBuildStore(L->b, v, element_at(L, element, result, lane));
    Val less = LLVMBuildSub(L->b, left, LLVMConstInt(bits_type, 1, false), "less");
    Val rest = LLVMBuildAnd(L->b, left, less, "rest");
    LLVMBasicBlockRef end = LLVMGetInsertBlock(L->b);
    LLVMBuildCondBr(L->b, ll_icmp(L, LLVMIntNE, rest, LLVMConstNull(bits_type)), again, done);
    LLVMAddIncoming(left, (Val[]){on, rest}, (LLVMBasicBlockRef[]){before, end}, 2);
    LLVMPositionBuilderAtEnd(L->b, done);
    if (!result) return NULL;
    v = LLVMBuildLoad2(L->b, wide(L, in_memory(L, element)), result, "v");
    return element == L->i1 ? ll_icmp(L, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v))) : v;
}
