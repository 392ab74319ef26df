/* lower_raise.c - an exception becomes an ErrorRecord (runtime/image.h).
 *
 * The first thread that swaps its site into an empty record owns it and fills in the rest. Values are
 * stored in 8 bytes each: integers extended by their sign, bool as 0 or 1, floats as f64. */
#include "lower.h"

#include <stddef.h>

static Val field(Lower *L, size_t offset) {
    Val at = LLVMConstInt(L->i64, offset, false);
    return LLVMBuildInBoundsGEP2(L->b, L->i8, L->error, &at, 1, "field");
}

Val lower_as_8_bytes(Lower *L, Type t, Val v) {
    if (t == T_F64) return v;
    if (type_is_float(t)) return LLVMBuildFPExt(L->b, float_widen(L, t, v), L->f64, "v");
    if (type_is_ptr(t)) return LLVMBuildPtrToInt(L->b, v, L->i64, "v");
    if (type_bits(t) == 64) return v;
    return type_is_signed(t) ? LLVMBuildSExt(L->b, v, L->i64, "v") : LLVMBuildZExt(L->b, v, L->i64, "v");
}

static void store_record(Lower *L, const Instr *raise, const Val *args) {
    Val where[6];
    L->target->where(L, where);
    for (unsigned i = 0; i < 6; i++)
        LLVMBuildStore(L->b, where[i], field(L, offsetof(ErrorRecord, thread) + i * sizeof(uint32_t)));
    for (uint32_t i = 0; i < raise->nargs; i++) {
        Val v = lower_as_8_bytes(L, (Type)L->m->instrs.at[raise->args[i]].type, args[i]);
        LLVMBuildStore(L->b, v, field(L, offsetof(ErrorRecord, values) + i * sizeof(uint64_t)));
    }
}

static Val site_of(Lower *L, const Instr *raise) { return LLVMConstInt(L->i32, raise->imm + 1, false); }

void lower_record(Lower *L, const Instr *raise) {
    Val *args = ARENA_ARRAY(L->m->arena, Val, raise->nargs + 1);
    LLVMBasicBlockRef first = ll_block(L, "raise"), done = ll_block(L, "raised");
    Val empty = LLVMConstInt(L->i32, 0, false);
    Val swap = LLVMBuildAtomicCmpXchg(L->b, field(L, offsetof(ErrorRecord, site)), empty, site_of(L, raise),
                                      LLVMAtomicOrderingMonotonic, LLVMAtomicOrderingMonotonic, false);
    LLVMBuildCondBr(L->b, LLVMBuildExtractValue(L->b, swap, 1, "won"), first, done);
    LLVMPositionBuilderAtEnd(L->b, first);
    for (uint32_t i = 0; i < raise->nargs; i++) args[i] = ll_value(L, raise->args[i]);
    store_record(L, raise, args);
    LLVMBuildBr(L->b, done);
    LLVMPositionBuilderAtEnd(L->b, done);
}

void lower_record_again(Lower *L, const Instr *raise, const Val *args) {
    LLVMBuildStore(L->b, site_of(L, raise), field(L, offsetof(ErrorRecord, site)));
    store_record(L, raise, args);
}
