/* lower_cpu.c - what only the CPU has: a range of blocks as loops over blocks and threads, and functions
 * that Python calls directly.
 *
 * Two functions are made for a kernel:
 *
 *   NAME.entry(params, launch, first, last)  CpuEntry: unpacks the parameters and calls
 *   NAME.range(p0, ..., launch, first, last) for b in first..last, z: for y: for x: the kernel's body
 *
 * The dots keep them apart from the names of library functions, which a Python function may have too.
 *
 * Parameters are arguments of the second, so that noalias and readonly hold for all threads of it: when LLVM
 * puts it in the first, it keeps what it was told of them. The loop over x is innermost and in the form that LLVM's
 * vectoriser takes: what doesn't depend on the thread is hoisted, `return` goes to the latch, `raise` leaves it. Blocks
 * and z count in one loop, since each loop more costs a twentieth of a small kernel's compilation. */
#include "lower_cpu.h"
#include "vectors.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* ---- the kernel's two functions -------------------------------------------------------------- */

void cpu_describe_pointer(Lower *L, const IrParam *p, uint32_t index) {
    if (p->flags & PARAM_NOALIAS) ll_attribute(L, L->fn, index + 1, "noalias", 0);
    if ((p->flags & (PARAM_READ | PARAM_WRITTEN)) == PARAM_READ) ll_attribute(L, L->fn, index + 1, "readonly", 0);
    if (p->align) ll_attribute(L, L->fn, index + 1, "align", p->align);
}

Val cpu_field(Lower *L, Ty t, Val base, size_t offset, const char *name) {
    Val at = LLVMConstInt(L->i64, offset, false);
    return LLVMBuildLoad2(L->b, t, LLVMBuildInBoundsGEP2(L->b, L->i8, base, &at, 1, "at"), name);
}

Ty cpu_pointer(Lower *L) { return LLVMPointerTypeInContext(L->ctx, 0); }

static void make_range(Lower *L) {
    const IrModule *m = L->m;
    uint32_t n = m->params.n;
    Ty *types = ARENA_ARRAY(m->arena, Ty, n + 3);
    for (uint32_t i = 0; i < n; i++) types[i] = ll_memory_type(L, (Type)m->params.at[i].type);
    types[n] = cpu_pointer(L);
    types[n + 1] = types[n + 2] = L->i64;
    L->fn = L->cpu->range = LLVMAddFunction(L->mod, arena_printf(m->arena, "%s.range", m->name),
                                            LLVMFunctionType(L->void_, types, n + 3, false));
    LLVMSetLinkage(L->fn, LLVMInternalLinkage);
    ll_attribute(L, L->fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    ll_attribute(L, L->fn, LLVMAttributeFunctionIndex, "alwaysinline", 0);
    for (uint32_t i = 0; i < n; i++)
        if (type_is_ptr((Type)m->params.at[i].type)) cpu_describe_pointer(L, &m->params.at[i], i);
    ll_attribute(L, L->fn, n + 1, "noalias", 0);
    ll_attribute(L, L->fn, n + 1, "readonly", 0);
}

void cpu_load_params(Lower *L, Val from, Val *args) {
    uint32_t end = 0;
    for (uint32_t i = 0; i < L->m->params.n; i++) {
        Type t = (Type)L->m->params.at[i].type;
        args[i] = cpu_field(L, ll_memory_type(L, t), from, param_offset(&end, t), "p");
    }
}

static void make_entry(Lower *L) {
    const IrModule *m = L->m;
    Ty types[4] = {cpu_pointer(L), cpu_pointer(L), L->i64, L->i64};
    Val entry = LLVMAddFunction(L->mod, entry_symbol(m, L->o), LLVMFunctionType(L->void_, types, 4, false));
    ll_attribute(L, entry, LLVMAttributeFunctionIndex, "nounwind", 0);
    LLVMPositionBuilderAtEnd(L->b, LLVMAppendBasicBlockInContext(L->ctx, entry, "entry"));
    uint32_t n = m->params.n;
    Val *args = ARENA_ARRAY(m->arena, Val, n + 3);
    cpu_load_params(L, LLVMGetParam(entry, 0), args);
    for (uint32_t i = 0; i < 3; i++) args[n + i] = LLVMGetParam(entry, i + 1);
    LLVMBuildCall2(L->b, LLVMGlobalGetValueType(L->cpu->range), L->cpu->range, args, n + 3, "");
    LLVMBuildRetVoid(L->b);
}

/* ---- which dimensions matter ------------------------------------------------------------------- */

/* Whether y and z of the threads (SREG_TID_X) or blocks (SREG_CTAID_X) are looked at; an exception and a print say all.
 */
bool cpu_looks_at_yz(const IrModule *m, Sreg x) {
    if (m->sites.n || m->prints.n) return true;
    for (uint32_t b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        for (uint32_t i = 0; i < block->instrs.n; i++) {
            const Instr *in = &m->instrs.at[block->instrs.at[i]];
            if (in->op != OP_SREG) continue;
            if (in->sub == x + 1 || in->sub == x + 2 || (x == SREG_TID_X && in->sub == SREG_LANEID)) return true;
        }
    }
    return false;
}

/* A kernel that looks at x only runs y * z times, in one loop instead of two. */
void cpu_count_rounds(Lower *L) {
    CpuState *c = L->cpu;
    for (unsigned i = 0; i < 3; i++) c->count[i] = c->block[i];
    if (cpu_looks_at_yz(L->m, SREG_TID_X)) return;
    c->count[1] = LLVMBuildNUWMul(L->b, c->block[1], c->block[2], "yz");
    c->count[2] = NULL;
}

/* ---- the loops ------------------------------------------------------------------------------- */

static void load_launch(Lower *L) {
    CpuState *c = L->cpu;
    uint32_t n = L->m->params.n;
    Val launch = LLVMGetParam(L->fn, n);
    c->first = LLVMGetParam(L->fn, n + 1);
    c->last = LLVMGetParam(L->fn, n + 2);
    static const uint32_t most[3] = {MOST_BLOCK_X, MOST_BLOCK_Y, MOST_BLOCK_Z};
    for (unsigned i = 0; i < 3; i++) {
        c->grid[i] = cpu_field(L, L->i32, launch, offsetof(CpuLaunch, grid) + i * sizeof(uint32_t), "grid");
        c->block[i] = cpu_field(L, L->i32, launch, offsetof(CpuLaunch, block) + i * sizeof(uint32_t), "block");
        ll_range(L, c->grid[i], 1, MOST_GRID_X + UINT64_C(1));
        ll_range(L, c->block[i], 1, most[i] + 1);
    }
    c->dynamic_shared = cpu_field(L, L->i32, launch, offsetof(CpuLaunch, dynamic_shared), "dynamic");
    if (L->m->sites.n) L->error = cpu_field(L, cpu_pointer(L), launch, offsetof(CpuLaunch, error), "error");
    cpu_load_print(L, launch, offsetof(CpuLaunch, print));
}

/* A value of the loop over blocks, with its first. */
static Val count_from(Lower *L, Val start, LLVMBasicBlockRef before, const char *name) {
    Val phi = LLVMBuildPhi(L->b, LLVMTypeOf(start), name);
    LLVMAddIncoming(phi, &start, &before, 1);
    return phi;
}

/* The head of the loop over blocks: the block's number and its x, y, z, which count up from those of `first`, and the
 * last dimension of the thread. */
static void begin_blocks(Lower *L, Val launch) {
    CpuState *c = L->cpu;
    Val start[3], zero = LLVMConstInt(L->i32, 0, false);
    c->block_dims = cpu_looks_at_yz(L->m, SREG_CTAID_X) ? 3 : 1;
    for (unsigned i = 0; i < c->block_dims; i++)
        start[i] = cpu_field(L, L->i32, launch, offsetof(CpuLaunch, start) + i * sizeof(uint32_t), "start");
    LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b);
    LLVMBuildCondBr(L->b, ll_icmp(L, LLVMIntULT, c->first, c->last), c->blocks, c->exit);
    LLVMPositionBuilderAtEnd(L->b, c->blocks);
    c->number = count_from(L, c->first, before, "number");
    for (unsigned i = 0; i < c->block_dims; i++) c->block_at[i] = count_from(L, start[i], before, "ctaid");
    c->thread[2] = zero;
    c->thread[c->loops] = count_from(L, zero, before, "tid");
}

static void begin_kernel(Lower *L) {
    CpuState *c = L->cpu = ARENA_NEW(L->m->arena, CpuState);
    make_range(L);
    L->entry = ll_block(L, "entry");
    c->blocks = ll_block(L, "blocks");
    c->exit = ll_block(L, "exit");
    c->latch = ll_block(L, "latch");
    LLVMPositionBuilderAtEnd(L->b, L->entry);
    load_launch(L);
    cpu_count_rounds(L);
    c->loops = c->count[2] ? 2 : 1;
    begin_blocks(L, LLVMGetParam(L->fn, L->m->params.n));
    if (L->vectors) lanes_variables(L);
    for (int i = (int)c->loops - 1; i >= 0; i--) {
        if (i == 0 && L->vectors) lanes_begin_row(L);
        c->loop[i] = ll_block(L, "loop");
        LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b);
        Val zero = LLVMConstInt(L->i32, 0, false);
        LLVMBuildBr(L->b, c->loop[i]);
        LLVMPositionBuilderAtEnd(L->b, c->loop[i]);
        c->thread[i] = LLVMBuildPhi(L->b, L->i32, "tid");
        LLVMAddIncoming(c->thread[i], &zero, &before, 1);
    }
}

/* Counts `at` up if `carry`, from the end to zero again; *carry: it did start again. */
static void count_up(Lower *L, Val at, Val end, Val *carry, LLVMBasicBlockRef from) {
    Val up = LLVMBuildNUWAdd(L->b, at, LLVMBuildZExt(L->b, *carry, L->i32, "z"), "up");
    *carry = ll_icmp(L, LLVMIntEQ, up, end);
    Val next = ll_select(L, *carry, LLVMConstInt(L->i32, 0, false), up);
    LLVMAddIncoming(at, &next, &from, 1);
}

/* The last dimension of the thread counts up, where it is at its end the block's x, then y ... */
static void advance_block(Lower *L, LLVMBasicBlockRef from) {
    CpuState *c = L->cpu;
    Val carry = LLVMConstInt(L->i1, 1, false);
    count_up(L, c->thread[c->loops], c->count[c->loops], &carry, from);
    Val number = LLVMBuildNUWAdd(L->b, c->number, LLVMBuildZExt(L->b, carry, L->i64, "z"), "next");
    for (unsigned i = 0; i < c->block_dims; i++) count_up(L, c->block_at[i], c->grid[i], &carry, from);
    LLVMAddIncoming(c->number, &number, &from, 1);
    LLVMBuildCondBr(L->b, ll_icmp(L, LLVMIntULT, number, c->last), c->blocks, c->exit);
}

static void end_kernel(Lower *L) {
    CpuState *c = L->cpu;
    LLVMPositionBuilderAtEnd(L->b, c->latch);
    if (L->vectors) lanes_leave_if_raised(L, c->exit);
    for (unsigned i = 0; i < c->loops; i++) {
        LLVMBasicBlockRef from = LLVMGetInsertBlock(L->b), done = ll_block(L, "done");
        Val one = LLVMConstInt(L->i32, 1, false);
        if (i == 0 && L->vectors) one = LLVMBuildLoad2(L->b, L->i32, c->step, "step");
        Val next = LLVMBuildNUWAdd(L->b, c->thread[i], one, "next");
        LLVMSetNSW(next, true);
        LLVMAddIncoming(c->thread[i], &next, &from, 1);
        LLVMBuildCondBr(L->b, ll_icmp(L, LLVMIntULT, next, c->count[i]), c->loop[i], done);
        LLVMPositionBuilderAtEnd(L->b, done);
    }
    advance_block(L, LLVMGetInsertBlock(L->b));
    LLVMPositionBuilderAtEnd(L->b, c->exit);
    LLVMBuildRetVoid(L->b);
    make_entry(L);
}

void cpu_lower_vectors(Lower *L, const BlockId *order, uint32_t n) {
    const IrModule *m = L->m;
    VectorRegion all = {.blocks = order,
                        .n = n,
                        .ends = ARENA_ARRAY(m->arena, bool, m->blocks.n),
                        .ready = ARENA_ARRAY(m->arena, bool, m->instrs.n)};
    lower_vectors(L, &all);
}

/* ---- pieces of the body ---------------------------------------------------------------------- */

Val cpu_param(Lower *L, uint32_t index) {
    Val p = LLVMGetParam(L->fn, index + (L->m->nresults > 1));
    return L->m->params.at[index].type == T_BOOL ? ll_icmp(L, LLVMIntNE, p, LLVMConstInt(L->i8, 0, false)) : p;
}

/* The lane in its warp of 32, counted as CUDA does: x fastest. */
static Val lane(Lower *L) {
    CpuState *c = L->cpu;
    Val n = LLVMBuildMul(L->b, c->thread[2], c->block[1], "n");
    n = LLVMBuildMul(L->b, LLVMBuildAdd(L->b, n, c->thread[1], "n"), c->block[0], "n");
    n = LLVMBuildAdd(L->b, n, c->thread[0], "n");
    return LLVMBuildAnd(L->b, n, LLVMConstInt(L->i32, 31, false), "lane");
}

Val cpu_sreg(Lower *L, Sreg r) {
    CpuState *c = L->cpu;
    if (r == SREG_LANEID) return lane(L);
    if (r == SREG_DYNAMIC_SHARED) return c->dynamic_shared;
    if (r >= SREG_NCTAID_X) return c->grid[r - SREG_NCTAID_X];
    if (r >= SREG_CTAID_X) return c->block_at[r - SREG_CTAID_X];
    if (r >= SREG_NTID_X) return c->block[r - SREG_NTID_X];
    return c->thread[r - SREG_TID_X];
}

static void leave(Lower *L, const Instr *ret) {
    (void)ret;
    LLVMBuildBr(L->b, L->cpu->latch);
}

void cpu_where(Lower *L, Val *out) {
    for (unsigned i = 0; i < 3; i++) {
        out[i] = L->cpu->thread[i];
        out[3 + i] = L->cpu->block_at[i];
    }
}

void cpu_load_print(Lower *L, Val from, size_t offset) {
    if (!L->m->prints.n) return;
    L->print[0] = cpu_field(L, cpu_pointer(L), from, offset + offsetof(PrintTarget, log), "log");
    L->print[1] = cpu_field(L, L->i64, from, offset + offsetof(PrintTarget, owner), "owner");
    L->print[2] = cpu_field(L, L->i64, from, offset + offsetof(PrintTarget, launch), "launch");
}

static void raise_here(Lower *L, const Instr *in) {
    lower_record(L, in);
    LLVMBuildBr(L->b, L->cpu->exit);
}

/* The processor's counter, or clock_gettime(CLOCK_MONOTONIC). */
Val cpu_clock(Lower *L, const Instr *in) {
    if (in->sub == CLOCK_CYCLES) return ll_intrinsic(L, "llvm.readcyclecounter", NULL, 0, NULL);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(L->b);
    Ty parts[2] = {L->i64, L->i64}, params[2] = {L->i32, cpu_pointer(L)};
    Ty timespec = LLVMStructTypeInContext(L->ctx, parts, 2, false), type = LLVMFunctionType(L->i32, params, 2, false);
    LLVMPositionBuilderBefore(L->b, LLVMGetFirstInstruction(L->entry));
    Val at = LLVMBuildAlloca(L->b, timespec, "timespec");
    LLVMPositionBuilderAtEnd(L->b, here);
    Val fn = LLVMGetNamedFunction(L->mod, "clock_gettime");
    if (!fn) fn = LLVMAddFunction(L->mod, "clock_gettime", type);
    LLVMBuildCall2(L->b, type, fn, (Val[]){LLVMConstInt(L->i32, 1, false), at}, 2, "");
    Val seconds = cpu_field(L, L->i64, at, 0, "s"), rest = cpu_field(L, L->i64, at, 8, "ns");
    return LLVMBuildAdd(L->b, LLVMBuildMul(L->b, seconds, LLVMConstInt(L->i64, 1000000000, false), "s"), rest, "ns");
}

/* ---- libm and libmvec ------------------------------------------------------------------------- */

/* The instruction sets of libmvec's variants: their letter and the bits of a vector. */
static const struct {
    char letter;
    unsigned bits;
} mvec[] = {{'b', 128}, {'d', 256}, {'e', 512}};

/* Tells the vectoriser of libmvec's functions for this call: "_ZGV_LLVM_N4v_sin(_ZGVdN4v_sin),...". */
static void name_variants(Lower *L, Val call, const char *symbol, Type t, unsigned n) {
    char list[512];
    int at = 0;
    unsigned bits = type_bits(t);
    Ty scalar = ll_scalar(L, t);
    for (unsigned i = 0; i < sizeof mvec / sizeof *mvec; i++) {
        unsigned lanes = mvec[i].bits / bits;
        const char *v = n == 2 ? "vv" : "v";
        char name[96];
        snprintf(name, sizeof name, "_ZGV%cN%u%s_%s", mvec[i].letter, lanes, v, symbol);
        at += snprintf(list + at, sizeof list - (size_t)at, "%s_ZGV_LLVM_N%u%s_%s(%s)", i ? "," : "", lanes, v, symbol,
                       name);
        if (LLVMGetNamedFunction(L->mod, name)) continue;
        Ty vector = LLVMVectorType(scalar, lanes), args[2] = {vector, vector};
        LLVMAddFunction(L->mod, name, LLVMFunctionType(vector, args, n, false));
    }
    static const char key[] = "vector-function-abi-variant";
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex,
                             LLVMCreateStringAttribute(L->ctx, key, sizeof key - 1, list, (unsigned)at));
}

/* Lanes from `first` on. */
Val cpu_part(Lower *L, Val v, unsigned first, unsigned n) {
    Val indices[64];
    for (unsigned i = 0; i < n; i++) indices[i] = LLVMConstInt(L->i32, first + i, false);
    return LLVMBuildShuffleVector(L->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(indices, n), "part");
}

Val cpu_joined(Lower *L, Val a, Val b) {
    Val indices[64];
    unsigned n = LLVMGetVectorSize(LLVMTypeOf(a)) * 2;
    for (unsigned i = 0; i < n; i++) indices[i] = LLVMConstInt(L->i32, i, false);
    return LLVMBuildShuffleVector(L->b, a, b, LLVMConstVector(indices, n), "both");
}

/* A vector in halves, down to what the processor's variant of the function takes. */
static Val call_vector(Lower *L, const char *symbol, Type t, unsigned n, Val *args) {
    unsigned lanes = LLVMGetVectorSize(LLVMTypeOf(args[0])), most = L->simd_bits / type_bits(t);
    if (lanes > most) {
        Val low[2], high[2];
        for (unsigned i = 0; i < n; i++) {
            low[i] = cpu_part(L, args[i], 0, lanes / 2);
            high[i] = cpu_part(L, args[i], lanes / 2, lanes / 2);
        }
        Val a = call_vector(L, symbol, t, n, low);
        return cpu_joined(L, a, call_vector(L, symbol, t, n, high));
    }
    unsigned row = 0;
    while (mvec[row].bits != lanes * type_bits(t)) row++;
    char name[96];
    snprintf(name, sizeof name, "_ZGV%cN%u%s_%s", mvec[row].letter, lanes, n == 2 ? "vv" : "v", symbol);
    return math_call(L, name, LLVMTypeOf(args[0]), n, args);
}

static Val call_libm(Lower *L, const MathInfo *fn, Type t, Ty result, unsigned n, Val *args) {
    char symbol[64];
    snprintf(symbol, sizeof symbol, "%s%s", fn->libm, t == T_F32 ? "f" : "");
    if (L->lanes > 1) return call_vector(L, symbol, t, n, args);
    Val call = math_call(L, symbol, result, n, args);
    if (fn->vector) name_variants(L, call, symbol, t, n);
    return ll_relaxed(L, call);
}

/* glibc's log10f and exp10f miss by a bit where people expect an exact result: log10(100). So f32 goes through f64. */
Val cpu_library(Lower *L, const MathInfo *fn, Type t, Ty result, unsigned n, Val *args) {
    bool through_f64 = t == T_F32 && (fn == &math_info[MATH_LOG10] || fn == &math_info[MATH_EXP10]);
    if (!through_f64) return call_libm(L, fn, t, result, n, args);
    Ty f64 = ll_wide(L, L->f64);
    Val wide = LLVMBuildFPExt(L->b, args[0], f64, "d");
    return LLVMBuildFPTrunc(L->b, call_libm(L, fn, T_F64, f64, n, &wide), result, "f");
}

/* The vectoriser needs the declarations of libmvec's functions, which nothing calls yet. */
void cpu_keep_variants(Lower *L) {
    Val used[256];
    unsigned n = 0;
    for (Val f = LLVMGetFirstFunction(L->mod); f && n < 256; f = LLVMGetNextFunction(f)) {
        size_t length;
        if (!strncmp(LLVMGetValueName2(f, &length), "_ZGV", 4)) used[n++] = f;
    }
    if (!n) return;
    Ty array = LLVMArrayType2(cpu_pointer(L), n);
    Val global = LLVMAddGlobal(L->mod, array, "llvm.compiler.used");
    LLVMSetLinkage(global, LLVMAppendingLinkage);
    LLVMSetSection(global, "llvm.metadata");
    LLVMSetInitializer(global, LLVMConstArray2(cpu_pointer(L), used, n));
}

static void end_kernel_and_keep(Lower *L) {
    end_kernel(L);
    cpu_keep_variants(L);
}

const LowerTarget lower_cpu = {
    .begin = begin_kernel,
    .param = cpu_param,
    .sreg = cpu_sreg,
    .library = cpu_library,
    .leave = leave,
    .raise = raise_here,
    .where = cpu_where,
    .clock = cpu_clock,
    .end = end_kernel_and_keep,
};

/* ---- host functions --------------------------------------------------------------------------- */

/* A bool is a byte in C; results of less than 32 bits are extended, as the ABI's callers expect. */
static void begin_host(Lower *L) {
    const IrModule *m = L->m;
    uint32_t n = 0;
    Ty *types = ARENA_ARRAY(m->arena, Ty, m->params.n + 5);
    if (m->nresults > 1) types[n++] = cpu_pointer(L);
    for (uint32_t i = 0; i < m->params.n; i++) types[n++] = ll_memory_type(L, (Type)m->params.at[i].type);
    uint32_t hidden = n;
    n = hidden_types(L, 0, types, n);
    Type r = m->results[0];
    Ty result = m->nresults == 1 ? ll_memory_type(L, r) : L->void_;
    L->fn = LLVMAddFunction(L->mod, entry_symbol(m, L->o), LLVMFunctionType(result, types, n, false));
    ll_attribute(L, L->fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    if (m->nresults == 1 && type_bytes(r) < 4)
        ll_attribute(L, L->fn, LLVMAttributeReturnIndex, type_is_signed(r) ? "signext" : "zeroext", 0);
    hidden_params(L, hidden);
    L->entry = ll_block(L, "entry");
    LLVMPositionBuilderAtEnd(L->b, L->entry);
}

static Val as_memory(Lower *L, Type t, Val v) { return t == T_BOOL ? LLVMBuildZExt(L->b, v, L->i8, "v") : v; }

static void leave_host(Lower *L, const Instr *ret) {
    const IrModule *m = L->m;
    if (m->nresults == 1) {
        LLVMBuildRet(L->b, as_memory(L, m->results[0], L->value[ret->args[0]]));
        return;
    }
    for (uint32_t i = 0; i < m->nresults; i++) {
        Val at = LLVMConstInt(L->i64, i * 8, false);
        Val slot = LLVMBuildInBoundsGEP2(L->b, L->i8, LLVMGetParam(L->fn, 0), &at, 1, "slot");
        LLVMBuildStore(L->b, as_memory(L, m->results[i], L->value[ret->args[i]]), slot);
    }
    LLVMBuildRetVoid(L->b);
}

static void where_host(Lower *L, Val *out) {
    for (unsigned i = 0; i < 6; i++) out[i] = LLVMConstInt(L->i32, 0, false);
}

static void raise_host(Lower *L, const Instr *in) {
    lower_record(L, in);
    if (L->m->nresults != 1) LLVMBuildRetVoid(L->b);
    else LLVMBuildRet(L->b, LLVMConstNull(ll_memory_type(L, L->m->results[0])));
}

/* A host function has no threads: it is thread 0 of one block of one thread. */
static Val sreg_host(Lower *L, Sreg r) {
    bool is_size = (r >= SREG_NTID_X && r <= SREG_NTID_Z) || (r >= SREG_NCTAID_X && r <= SREG_NCTAID_Z);
    return LLVMConstInt(L->i32, is_size, false);
}

const LowerTarget lower_host = {
    .begin = begin_host,
    .param = cpu_param,
    .sreg = sreg_host,
    .library = cpu_library,
    .leave = leave_host,
    .raise = raise_host,
    .where = where_host,
    .end = cpu_keep_variants,
};
