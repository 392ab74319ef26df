/* lower_print.c - print becomes a PrintRecord in a PrintLog (runtime/image.h), the same on every target.
 *
 * No lock and no call: a thread adds to `used` for its place, fills the record in and writes `words` last, so that the
 * host may look at any time. What finds no place is counted. */
#include "lower.h"

#include <stddef.h>

uint32_t hidden_types(Lower *L, unsigned address_space, Ty *types, uint32_t n) {
    Ty pointer = LLVMPointerTypeInContext(L->ctx, address_space);
    if (L->m->sites.n) types[n++] = pointer;
    if (!L->m->prints.n) return n;
    types[n++] = pointer;
    types[n++] = L->i64;
    types[n++] = L->i64;
    return n;
}

void hidden_params(Lower *L, uint32_t n) {
    if (L->m->sites.n) L->error = LLVMGetParam(L->fn, n++);
    for (uint32_t i = 0; L->m->prints.n && i < 3; i++) L->print[i] = LLVMGetParam(L->fn, n + i);
}

static Val at_bytes(Lower *L, Val base, Val bytes) { return LLVMBuildInBoundsGEP2(L->b, L->i8, base, &bytes, 1, "at"); }
static Val i64(Lower *L, uint64_t v) { return LLVMConstInt(L->i64, v, false); }

static Val add_to(Lower *L, Val at, uint64_t n) {
    return LLVMBuildAtomicRMW(L->b, LLVMAtomicRMWBinOpAdd, at, i64(L, n), LLVMAtomicOrderingMonotonic, false);
}

static void put(Lower *L, Val record, size_t offset, Val v) {
    LLVMBuildStore(L->b, v, at_bytes(L, record, i64(L, offset)));
}

static void fill_record(Lower *L, const Instr *in, const Val *args, Val record) {
    Val where[6];
    L->target->where(L, where);
    put(L, record, offsetof(PrintRecord, site), LLVMConstInt(L->i32, in->imm, false));
    put(L, record, offsetof(PrintRecord, owner), L->print[1]);
    put(L, record, offsetof(PrintRecord, launch), LLVMBuildTrunc(L->b, L->print[2], L->i32, "launch"));
    for (unsigned i = 0; i < 6; i++) put(L, record, offsetof(PrintRecord, thread) + i * sizeof(uint32_t), where[i]);
    for (uint32_t i = 0; i < in->nargs; i++) {
        Type t = (Type)L->m->instrs.at[in->args[i]].type;
        put(L, record, sizeof(PrintRecord) + i * sizeof(uint64_t), lower_as_8_bytes(L, t, args[i]));
    }
    LLVMBuildFence(L->b, LLVMAtomicOrderingRelease, false, "");
    Val words = LLVMConstInt(L->i32, in->nargs + 1, false);
    Val done = LLVMBuildStore(L->b, words, at_bytes(L, record, i64(L, offsetof(PrintRecord, words))));
    LLVMSetOrdering(done, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(done, sizeof(uint32_t));
}

void lower_print(Lower *L, const Instr *in, const Val *args) {
    LLVMBasicBlockRef room = ll_block(L, "room"), full = ll_block(L, "full"), done = ll_block(L, "printed");
    Val log = L->print[0];
    uint64_t bytes = sizeof(PrintRecord) + in->nargs * sizeof(uint64_t);
    Val used = add_to(L, at_bytes(L, log, i64(L, offsetof(PrintLog, used))), bytes);
    Val size = LLVMBuildLoad2(L->b, L->i64, at_bytes(L, log, i64(L, offsetof(PrintLog, size))), "size");
    Val end = LLVMBuildAdd(L->b, used, i64(L, bytes), "end");
    LLVMBuildCondBr(L->b, ll_icmp(L, LLVMIntULE, end, size), room, full);
    LLVMPositionBuilderAtEnd(L->b, room);
    fill_record(L, in, args, at_bytes(L, log, LLVMBuildAdd(L->b, used, i64(L, sizeof(PrintLog)), "offset")));
    LLVMBuildBr(L->b, done);
    LLVMPositionBuilderAtEnd(L->b, full);
    add_to(L, at_bytes(L, log, i64(L, offsetof(PrintLog, lost))), 1);
    LLVMBuildBr(L->b, done);
    LLVMPositionBuilderAtEnd(L->b, done);
}
