/* lower_cpu_regions.c - CPU kernels whose threads wait for each other: one function for each region.
 *
 *   NAME.entry(params, block, region, first, last)   CpuRegion: unpacks the parameters, calls
 *   NAME.region<k>(p0, ..., block, first, last, frame, common, shared)
 *                                                    for the threads: load slots, code, store slots, say where it waits
 *
 * Where control is uniform a region is a plain loop over all threads, as lower_cpu.c makes it, and returns the region
 * that follows. Elsewhere it takes the threads whose state asks for it, and each leaves behind where it waits.
 *
 * A value that lives across a wait has a variable on the stack, which LLVM turns into registers: filled from the frame
 * at the start, written back where the thread waits. One that is the same for the whole block is filled before the loop
 * over the threads and written back behind it. */
#include "lower_cpu.h"
#include "regions.h"

#include <stddef.h>
#include <string.h>

typedef struct RegionState {
    CpuState cpu;    /* first: L->cpu points here */
    uint32_t number; /* of the region */
    Val block;       /* CpuBlock */
    Val thread;      /* i64, in the block */
    Val capacity, frame, common, shared, states, operands;
    Val next;            /* variable: what uniform control returns */
    Val *initial;        /* by Ref: values of the whole block at the start */
    bool *inside;        /* by block: belongs to the region */
    uint32_t *shared_at; /* offsets of the module's shared arrays */
    Val *functions;      /* of all regions */
} RegionState;

enum { MORE_PARAMS = 6 /* of a region beside the kernel's: block, first, last, frame, common, shared */ };

static RegionState *state(Lower *L) { return (RegionState *)L->cpu; }

static Val at_bytes(Lower *L, Val base, Val bytes) { return LLVMBuildInBoundsGEP2(L->b, L->i8, base, &bytes, 1, "at"); }
static Val i64(Lower *L, uint64_t v) { return LLVMConstInt(L->i64, v, false); }

/* ---- the frame --------------------------------------------------------------------------------- */

/* slot * capacity + thread * bytes: the slots of all threads lie side by side. */
static Val thread_slot(Lower *L, uint32_t slot, uint64_t bytes) {
    RegionState *s = state(L);
    Val base = at_bytes(L, s->frame, LLVMBuildNUWMul(L->b, s->capacity, i64(L, slot), "slot"));
    return at_bytes(L, base, LLVMBuildNUWMul(L->b, s->thread, i64(L, bytes), "place"));
}

static Type type_of(const Lower *L, Ref r) { return (Type)L->m->instrs.at[r].type; }

static Val slot_of(Lower *L, Ref r) {
    const Regions *g = L->regions;
    if (g->shared[r]) return at_bytes(L, state(L)->common, i64(L, g->slot[r]));
    return thread_slot(L, g->slot[r], type_bytes(type_of(L, r)));
}

/* The array that an address is made from; REF_NONE if there may be several. */
static Ref root_of(const IrModule *m, Ref r) {
    while (m->instrs.at[r].op == OP_ADDR) r = m->instrs.at[r].args[0];
    Op op = (Op)m->instrs.at[r].op;
    return op == OP_PARAM || op == OP_DATA ? r : REF_NONE;
}

/* What a kept pointer counts from; NULL for other values.
 *
 * A pointer that is loaded from memory is not one derived from the region's argument, and so, for LLVM, no access
 * through it could meet one through the argument, which is noalias. An offset to the argument is. */
static Val base_of(Lower *L, Ref r) {
    const RegionState *s = state(L);
    Type t = type_of(L, r);
    if (t == T_PTRS) return s->shared;
    if (t == T_PTRL) return s->frame;
    Ref root = t == T_PTR ? root_of(L->m, r) : REF_NONE;
    if (root == REF_NONE || L->m->instrs.at[root].op != OP_PARAM) return NULL;
    return cpu_param(L, (uint32_t)L->m->instrs.at[root].imm);
}

/* Is a pointer kept as such? */
static bool keeps_pointers(const Lower *L) {
    for (Ref r = 1; r < L->m->instrs.n; r++)
        if (L->regions->slot[r] != NO_SLOT && type_of(L, r) == T_PTR && root_of(L->m, r) == REF_NONE) return true;
    return false;
}

static Val load_slot(Lower *L, Ref r) {
    Type t = type_of(L, r);
    Val base = base_of(L, r);
    Val v = LLVMBuildLoad2(L->b, base ? L->i64 : ll_memory_type(L, t), slot_of(L, r), "v");
    if (base) return at_bytes(L, base, v);
    return t == T_BOOL ? ll_icmp(L, LLVMIntNE, v, LLVMConstInt(L->i8, 0, false)) : v;
}

static void store_slot(Lower *L, Ref r) {
    Val v = ll_value(L, r), base = base_of(L, r);
    if (base) {
        base = LLVMBuildPtrToInt(L->b, base, L->i64, "base");
        v = LLVMBuildSub(L->b, LLVMBuildPtrToInt(L->b, v, L->i64, "v"), base, "offset");
    } else if (type_of(L, r) == T_BOOL) {
        v = LLVMBuildZExt(L->b, v, L->i8, "v");
    }
    LLVMBuildStore(L->b, v, slot_of(L, r));
}

static bool has_variable(const Lower *L, Ref r) {
    return L->regions->slot[r] != NO_SLOT && L->m->instrs.at[r].op != OP_ALLOCA;
}

/* The operation that the region follows; REF_NONE at the start of the kernel. */
static Ref cause(const Lower *L) {
    uint32_t k = ((const RegionState *)L->cpu)->number;
    return k ? L->regions->cuts.at[k - 1].sync : REF_NONE;
}

static BlockId start_of(const Lower *L, uint32_t region) { return region ? L->regions->cuts.at[region - 1].next : 0; }

/* Does the region compute it, or get it from its wait? Then the frame must learn of it. */
static bool defined_here(const Lower *L, Ref r) {
    return r == cause(L) || ((const RegionState *)L->cpu)->inside[L->m->instrs.at[r].block];
}

/* ---- waits ------------------------------------------------------------------------------------- */

static Val operand_field(Lower *L, size_t offset) {
    RegionState *s = state(L);
    Val base = at_bytes(L, s->operands, LLVMBuildNUWMul(L->b, s->thread, i64(L, sizeof(CpuOperand)), "o"));
    return at_bytes(L, base, i64(L, offset));
}

static Ty integer_of(Lower *L, Type t) { return LLVMIntTypeInContext(L->ctx, type_bits(t)); }

static Val as_u64(Lower *L, Type t, Val v) {
    if (type_is_ptr(t)) return LLVMBuildPtrToInt(L->b, v, L->i64, "bits");
    if (LLVMTypeOf(v) != integer_of(L, t)) v = LLVMBuildBitCast(L->b, v, integer_of(L, t), "bits");
    return type_bits(t) < 64 ? LLVMBuildZExt(L->b, v, L->i64, "bits") : v;
}

static Val from_u64(Lower *L, Type t, Val v) {
    if (type_bits(t) < 64) v = LLVMBuildTrunc(L->b, v, integer_of(L, t), "bits");
    return ll_scalar(L, t) == integer_of(L, t) ? v : LLVMBuildBitCast(L->b, v, ll_scalar(L, t), "value");
}

/* What the runtime needs to know to do the operation. */
static void store_operands(Lower *L, const Instr *in, Val *a) {
    bool masked = in->op == OP_SYNCWARP || in->nargs > 1;
    uint32_t value = in->op == OP_SYNCWARP ? in->nargs : masked ? 1 : 0;
    if (in->op == OP_NANOSLEEP) return;
    if (masked) LLVMBuildStore(L->b, a[0], operand_field(L, offsetof(CpuOperand, mask)));
    if (value < in->nargs)
        LLVMBuildStore(L->b, as_u64(L, type_of(L, in->args[value]), a[value]),
                       operand_field(L, offsetof(CpuOperand, value)));
    if (in->op != OP_SHFL) return;
    LLVMBuildStore(L->b, a[2], operand_field(L, offsetof(CpuOperand, lane)));
    LLVMBuildStore(L->b, a[3], operand_field(L, offsetof(CpuOperand, width)));
}

static uint32_t cut_of(const Lower *L, const Instr *in) {
    uint32_t k = 0;
    while (&L->m->instrs.at[L->regions->cuts.at[k].sync] != in) k++;
    return k;
}

/* The thread's part of the region ends: `next` is what it runs later. */
static void park(Lower *L, uint32_t next) {
    RegionState *s = state(L);
    Val v = LLVMConstInt(L->i32, next, false);
    if (L->regions->uniform) LLVMBuildStore(L->b, v, s->next);
    else LLVMBuildStore(L->b, v, at_bytes(L, s->states, LLVMBuildNUWMul(L->b, s->thread, i64(L, 4), "s")));
    LLVMBuildBr(L->b, s->cpu.latch);
}

static Val wait_here(Lower *L, const Instr *in, Val *a) {
    uint32_t k = cut_of(L, in);
    store_operands(L, in, a);
    for (Ref r = 1; r < L->m->instrs.n; r++)
        if (has_variable(L, r) && !L->regions->shared[r] && regions_alive(L->regions, L->regions->cuts.at[k].next, r) &&
            r != L->regions->cuts.at[k].sync && defined_here(L, r))
            store_slot(L, r);
    park(L, (k + 1) | (L->regions->uniform ? 0 : REGION_WAITS));
    return NULL;
}

static void leave(Lower *L, const Instr *ret) {
    (void)ret;
    park(L, REGION_DONE);
}

/* The launch fails: no other thread of the block goes on. */
static void raise_here(Lower *L, const Instr *in) {
    lower_record(L, in);
    LLVMBuildRet(L->b, LLVMConstInt(L->i32, REGION_RAISED, false));
}

/* ---- memory ------------------------------------------------------------------------------------ */

static Val shared_array(Lower *L, const Instr *in) {
    RegionState *s = state(L);
    return at_bytes(L, s->shared, i64(L, s->shared_at[in->imm]));
}

/* Behind a wait the thread's own arrays must still be there. Without waits the stack will do. */
static Val local_array(Lower *L, Ref r) {
    const Instr *in = &L->m->instrs.at[r];
    if (L->regions->slot[r] == NO_SLOT) return lower_alloca(L, in, NULL);
    return thread_slot(L, L->regions->slot[r], (in->imm + 15) & ~UINT64_C(15));
}

const LowerTarget lower_cpu_parked = {
    .param = cpu_param,
    .sreg = cpu_sreg,
    .library = cpu_library,
    .leave = leave,
    .raise = raise_here,
    .where = cpu_where,
    .shared = shared_array,
    .sync = wait_here,
    .clock = cpu_clock,
    .local = local_array,
    .parks = true,
};

/* ---- a region's function ----------------------------------------------------------------------- */

static Val make_function(Lower *L, uint32_t k) {
    const IrModule *m = L->m;
    uint32_t n = m->params.n;
    Ty *types = ARENA_ARRAY(m->arena, Ty, n + MORE_PARAMS);
    for (uint32_t i = 0; i < n; i++) types[i] = ll_memory_type(L, (Type)m->params.at[i].type);
    types[n] = types[n + 3] = types[n + 4] = types[n + 5] = cpu_pointer(L);
    types[n + 1] = types[n + 2] = L->i32;
    Val fn = L->fn = LLVMAddFunction(L->mod, arena_printf(m->arena, "%s.region%u", m->name, k),
                                     LLVMFunctionType(L->i32, types, n + MORE_PARAMS, false));
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    ll_attribute(L, fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    ll_attribute(L, fn, LLVMAttributeFunctionIndex, "noinline", 0);
    bool may_meet = keeps_pointers(L);
    for (uint32_t i = 0; i < n; i++) {
        IrParam p = m->params.at[i];
        if (may_meet) p.flags &= (uint8_t)~PARAM_NOALIAS;
        if (type_is_ptr((Type)p.type)) cpu_describe_pointer(L, &p, i);
    }
    ll_attribute(L, fn, n + 1, "noalias", 0);
    ll_attribute(L, fn, n + 1, "readonly", 0);
    for (uint32_t i = n + 4; i <= n + MORE_PARAMS; i++) {
        ll_attribute(L, fn, i, "noalias", 0);
        ll_attribute(L, fn, i, "align", 64);
    }
    return fn;
}

static void load_block(Lower *L) {
    RegionState *s = state(L);
    CpuState *c = &s->cpu;
    uint32_t n = L->m->params.n;
    s->block = LLVMGetParam(L->fn, n);
    static const uint32_t most[3] = {MOST_BLOCK_X, MOST_BLOCK_Y, MOST_BLOCK_Z};
    for (unsigned i = 0; i < 3; i++) {
        c->grid[i] = cpu_field(L, L->i32, s->block, offsetof(CpuBlock, grid) + i * sizeof(uint32_t), "grid");
        c->block[i] = cpu_field(L, L->i32, s->block, offsetof(CpuBlock, block) + i * sizeof(uint32_t), "block");
        c->block_at[i] = cpu_field(L, L->i32, s->block, offsetof(CpuBlock, at) + i * sizeof(uint32_t), "ctaid");
        ll_range(L, c->grid[i], 1, MOST_GRID_X + UINT64_C(1));
        ll_range(L, c->block[i], 1, most[i] + 1);
    }
    c->dynamic_shared = cpu_field(L, L->i32, s->block, offsetof(CpuBlock, dynamic_shared), "dynamic");
    s->capacity = cpu_field(L, L->i64, s->block, offsetof(CpuBlock, capacity), "capacity");
    s->frame = LLVMGetParam(L->fn, n + 3);
    s->common = LLVMGetParam(L->fn, n + 4);
    s->shared = LLVMGetParam(L->fn, n + 5);
    s->states = cpu_field(L, cpu_pointer(L), s->block, offsetof(CpuBlock, state), "states");
    s->operands = cpu_field(L, cpu_pointer(L), s->block, offsetof(CpuBlock, operands), "operands");
    if (L->m->sites.n) L->error = cpu_field(L, cpu_pointer(L), s->block, offsetof(CpuBlock, error), "error");
    cpu_load_print(L, s->block, offsetof(CpuBlock, print));
}

/* Variables, and the block's own values before the loop over threads. */
static void make_variables(Lower *L) {
    RegionState *s = state(L);
    BlockId start = start_of(L, s->number);
    s->next = LLVMBuildAlloca(L->b, L->i32, "next");
    LLVMBuildStore(L->b, LLVMConstInt(L->i32, REGION_DONE, false), s->next);
    for (Ref r = 1; r < L->m->instrs.n; r++) {
        L->variable[r] = has_variable(L, r) ? LLVMBuildAlloca(L->b, ll_type(L, type_of(L, r)), "var") : NULL;
        s->initial[r] = NULL;
        bool alive = L->variable[r] && s->number && r != cause(L) && regions_alive(L->regions, start, r);
        if (alive && L->regions->shared[r]) s->initial[r] = load_slot(L, r);
    }
}

static void fill_variables(Lower *L) {
    RegionState *s = state(L);
    BlockId start = start_of(L, s->number);
    for (Ref r = 1; r < L->m->instrs.n; r++) {
        if (!L->variable[r] || !s->number || r == cause(L) || !regions_alive(L->regions, start, r)) continue;
        LLVMBuildStore(L->b, s->initial[r] ? s->initial[r] : load_slot(L, r), L->variable[r]);
    }
    Ref sync = cause(L);
    if (sync == REF_NONE || type_of(L, sync) == T_VOID) return;
    Val bits = LLVMBuildLoad2(L->b, L->i64, operand_field(L, offsetof(CpuOperand, value)), "bits");
    L->value[sync] = from_u64(L, type_of(L, sync), bits);
    if (L->variable[sync]) LLVMBuildStore(L->b, L->value[sync], L->variable[sync]);
}

/* What is cheap to compute again is computed at the start of each region, in the order of the kernel's blocks. */
static void compute_again(Lower *L) {
    const IrModule *m = L->m;
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, m->blocks.n);
    for (uint32_t i = ir_postorder(m, order); i-- > 0;) {
        const Block *b = &m->blocks.at[order[i]];
        for (uint32_t k = 0; k < b->instrs.n; k++)
            if (regions_start_with(L->regions, m, b->instrs.at[k])) lower_again(L, b->instrs.at[k]);
    }
}

/* The blocks from the region's start to its waits, in postorder. */
static uint32_t blocks_of(Lower *L, BlockId start, BlockId *order) {
    const IrModule *m = L->m;
    RegionState *s = state(L);
    memset(s->inside, 0, m->blocks.n * sizeof *s->inside);
    BlockId *stack = ARENA_ARRAY(m->arena, BlockId, m->blocks.n + 1);
    uint8_t *at = ARENA_ARRAY(m->arena, uint8_t, m->blocks.n);
    uint32_t depth = 1, n = 0;
    stack[0] = start;
    s->inside[start] = true;
    while (depth) {
        BlockId b = stack[depth - 1];
        const Block *block = &m->blocks.at[b];
        const Instr *before = block->instrs.n > 1 ? &m->instrs.at[block->instrs.at[block->instrs.n - 2]] : NULL;
        bool waits = before && op_info[before->op].flags & SYNC;
        if (waits || at[b] == block->nsucc) {
            order[n++] = b;
            depth--;
            continue;
        }
        BlockId to = block->succ[at[b]++];
        if (s->inside[to]) continue;
        s->inside[to] = true;
        stack[depth++] = to;
    }
    return n;
}

/* ---- the loop over threads --------------------------------------------------------------------- */

/* Uniform control: nested loops over z, y, x; the thread's number is their linear form. */
static void begin_all(Lower *L) {
    RegionState *s = state(L);
    CpuState *c = &s->cpu;
    Val zero = LLVMConstInt(L->i32, 0, false);
    for (int i = 2; i >= 0; i--) {
        c->loop[i] = ll_block(L, "loop");
        LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b);
        LLVMBuildBr(L->b, c->loop[i]);
        LLVMPositionBuilderAtEnd(L->b, c->loop[i]);
        c->thread[i] = LLVMBuildPhi(L->b, L->i32, "tid");
        LLVMAddIncoming(c->thread[i], &zero, &before, 1);
        if (i != 1) continue;
        Val row = LLVMBuildNUWAdd(L->b, LLVMBuildNUWMul(L->b, c->thread[2], c->block[1], "n"), c->thread[1], "n");
        s->thread = LLVMBuildZExt(L->b, LLVMBuildNUWMul(L->b, row, c->block[0], "n"), L->i64, "row");
    }
    s->thread = LLVMBuildNUWAdd(L->b, s->thread, LLVMBuildZExt(L->b, c->thread[0], L->i64, "x"), "t");
}

static void end_all(Lower *L) {
    CpuState *c = L->cpu;
    LLVMPositionBuilderAtEnd(L->b, c->latch);
    for (unsigned i = 0; i < 3; i++) {
        LLVMBasicBlockRef from = LLVMGetInsertBlock(L->b), done = ll_block(L, "done");
        Val next = LLVMBuildNUWAdd(L->b, c->thread[i], LLVMConstInt(L->i32, 1, false), "next");
        LLVMSetNSW(next, true);
        LLVMAddIncoming(c->thread[i], &next, &from, 1);
        LLVMBuildCondBr(L->b, ll_icmp(L, LLVMIntULT, next, c->block[i]), c->loop[i], done);
        LLVMPositionBuilderAtEnd(L->b, done);
    }
}

/* Elsewhere: threads first to last, those whose state is this region. */
static void begin_some(Lower *L) {
    RegionState *s = state(L);
    CpuState *c = &s->cpu;
    uint32_t n = L->m->params.n;
    Val first = LLVMGetParam(L->fn, n + 1), start[3], rest = first;
    for (unsigned i = 0; i < 3; i++) {
        start[i] = i < 2 ? LLVMBuildURem(L->b, rest, c->block[i], "r") : rest;
        rest = LLVMBuildUDiv(L->b, rest, c->block[i], "rest");
    }
    LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b), mine = ll_block(L, "mine");
    c->loop[0] = ll_block(L, "loop");
    LLVMBuildBr(L->b, c->loop[0]);
    LLVMPositionBuilderAtEnd(L->b, c->loop[0]);
    c->number = LLVMBuildPhi(L->b, L->i32, "t");
    LLVMAddIncoming(c->number, &first, &before, 1);
    for (unsigned i = 0; i < 3; i++) {
        c->thread[i] = LLVMBuildPhi(L->b, L->i32, "tid");
        LLVMAddIncoming(c->thread[i], &start[i], &before, 1);
    }
    s->thread = LLVMBuildZExt(L->b, c->number, L->i64, "t");
    Val at = at_bytes(L, s->states, LLVMBuildNUWMul(L->b, s->thread, i64(L, 4), "s"));
    Val asks = ll_icmp(L, LLVMIntEQ, LLVMBuildLoad2(L->b, L->i32, at, "state"), LLVMConstInt(L->i32, s->number, false));
    LLVMBuildCondBr(L->b, asks, mine, c->latch);
    LLVMPositionBuilderAtEnd(L->b, mine);
}

static void end_some(Lower *L) {
    CpuState *c = L->cpu;
    Val zero = LLVMConstInt(L->i32, 0, false), carry = LLVMConstInt(L->i1, 1, false);
    LLVMBasicBlockRef from = c->latch, done = ll_block(L, "done");
    LLVMPositionBuilderAtEnd(L->b, from);
    for (unsigned i = 0; i < 3; i++) {
        Val up = LLVMBuildNUWAdd(L->b, c->thread[i], LLVMBuildZExt(L->b, carry, L->i32, "z"), "up");
        carry = ll_icmp(L, LLVMIntEQ, up, c->block[i]);
        Val next = i < 2 ? ll_select(L, carry, zero, up) : up;
        LLVMAddIncoming(c->thread[i], &next, &from, 1);
    }
    Val next = LLVMBuildNUWAdd(L->b, c->number, LLVMConstInt(L->i32, 1, false), "next");
    LLVMAddIncoming(c->number, &next, &from, 1);
    Val last = LLVMGetParam(L->fn, L->m->params.n + 2);
    LLVMBuildCondBr(L->b, ll_icmp(L, LLVMIntULT, next, last), c->loop[0], done);
    LLVMPositionBuilderAtEnd(L->b, done);
}

/* The block's own values, as the last thread left them. */
static void store_common(Lower *L) {
    for (Ref r = 1; r < L->m->instrs.n; r++)
        if (L->variable[r] && L->regions->shared[r] && defined_here(L, r)) store_slot(L, r);
}

static void make_region(Lower *L, uint32_t k) {
    const IrModule *m = L->m;
    RegionState *s = state(L);
    bool uniform = L->regions->uniform;
    s->number = k;
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, m->blocks.n);
    uint32_t n = blocks_of(L, start_of(L, k), order);
    memset(L->first, 0, m->blocks.n * sizeof *L->first);
    memset(L->value, 0, m->instrs.n * sizeof *L->value);
    L->fn = s->functions[k];
    L->entry = ll_block(L, "entry");
    s->cpu.latch = ll_block(L, "latch");
    LLVMPositionBuilderAtEnd(L->b, L->entry);
    load_block(L);
    make_variables(L);
    if (uniform) begin_all(L);
    else begin_some(L);
    fill_variables(L);
    compute_again(L);
    lower_blocks(L, order, n);
    if (uniform) end_all(L);
    else end_some(L);
    store_common(L);
    LLVMBuildRet(L->b, LLVMBuildLoad2(L->b, L->i32, s->next, "next"));
}

/* The one symbol that the runtime calls. */
static void make_entry(Lower *L) {
    const IrModule *m = L->m;
    RegionState *s = state(L);
    Ty types[5] = {cpu_pointer(L), cpu_pointer(L), L->i32, L->i32, L->i32};
    L->fn = LLVMAddFunction(L->mod, entry_symbol(m, L->o), LLVMFunctionType(L->i32, types, 5, false));
    ll_attribute(L, L->fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    LLVMPositionBuilderAtEnd(L->b, ll_block(L, "entry"));
    uint32_t n = m->params.n, regions = L->regions->cuts.n + 1;
    Val *args = ARENA_ARRAY(m->arena, Val, n + MORE_PARAMS), block = LLVMGetParam(L->fn, 1);
    cpu_load_params(L, LLVMGetParam(L->fn, 0), args);
    args[n] = block;
    args[n + 1] = LLVMGetParam(L->fn, 3);
    args[n + 2] = LLVMGetParam(L->fn, 4);
    args[n + 3] = cpu_field(L, cpu_pointer(L), block, offsetof(CpuBlock, frame), "frame");
    args[n + 4] = cpu_field(L, cpu_pointer(L), block, offsetof(CpuBlock, common), "common");
    args[n + 5] = cpu_field(L, cpu_pointer(L), block, offsetof(CpuBlock, shared), "shared");
    LLVMBasicBlockRef none = ll_block(L, "none");
    Val which = LLVMBuildSwitch(L->b, LLVMGetParam(L->fn, 2), none, regions);
    for (uint32_t k = 0; k < regions; k++) {
        LLVMBasicBlockRef call = ll_block(L, "call");
        LLVMAddCase(which, LLVMConstInt(L->i32, k, false), call);
        LLVMPositionBuilderAtEnd(L->b, call);
        LLVMBuildRet(L->b, LLVMBuildCall2(L->b, LLVMGlobalGetValueType(s->functions[k]), s->functions[k], args,
                                          n + MORE_PARAMS, "r"));
    }
    LLVMPositionBuilderAtEnd(L->b, none);
    LLVMBuildRet(L->b, LLVMConstInt(L->i32, REGION_DONE, false));
}

void lower_regions(Lower *L) {
    const IrModule *m = L->m;
    RegionState *s = ARENA_NEW(m->arena, RegionState);
    L->cpu = &s->cpu;
    L->variable = ARENA_ARRAY(m->arena, Val, m->instrs.n);
    s->initial = ARENA_ARRAY(m->arena, Val, m->instrs.n);
    s->inside = ARENA_ARRAY(m->arena, bool, m->blocks.n);
    s->shared_at = ARENA_ARRAY(m->arena, uint32_t, m->shared.n + 1);
    uint32_t end = shared_layout(m, s->shared_at);
    for (uint32_t i = 0; i < m->shared.n; i++)
        if (m->shared.at[i].dynamic) s->shared_at[i] = end;
    uint32_t regions = L->regions->cuts.n + 1;
    s->functions = ARENA_ARRAY(m->arena, Val, regions);
    for (uint32_t k = 0; k < regions; k++) s->functions[k] = make_function(L, k);
    for (uint32_t k = 0; k < regions; k++) make_region(L, k);
    make_entry(L);
    cpu_keep_variants(L);
}
