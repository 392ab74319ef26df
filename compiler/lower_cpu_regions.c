/* lower_cpu_regions.c - CPU kernels whose threads wait for each other, and may part: one function for each region.
 *
 *   NAME.entry(params, block, region, first, last)   CpuRegion: unpacks the parameters, calls
 *   NAME.region<k>(p0, ..., block, frame, common, shared, first, last)
 *                                                    for the threads: load slots, code, store slots, say where it waits
 *
 * A region takes the threads whose state asks for it, and each leaves behind where it waits. Where control is uniform
 * there is one function for the whole block: lower_cpu_block.c. Here are the pieces that both are made of, too.
 *
 * A value that lives across a wait has a variable on the stack, which LLVM turns into registers: filled from the frame
 * at the start, written back where the thread waits. */
#include "lower_cpu_regions.h"

#include "vectors.h"

#include <stddef.h>
#include <string.h>

RegionState *region_state(Lower *L) { return (RegionState *)L->cpu; }

static Val at_bytes(Lower *L, Val base, Val bytes) { return LLVMBuildInBoundsGEP2(L->b, L->i8, base, &bytes, 1, "at"); }
static Val i64(Lower *L, uint64_t v) { return LLVMConstInt(L->i64, v, false); }

/* ---- the frame --------------------------------------------------------------------------------- */

/* slot * capacity + thread * bytes: the slots of all threads lie side by side. */
static Val thread_slot(Lower *L, uint32_t slot, uint64_t bytes) {
    RegionState *s = region_state(L);
    Val base = at_bytes(L, s->frame, LLVMBuildNUWMul(L->b, s->capacity, i64(L, slot), "slot"));
    return at_bytes(L, base, LLVMBuildNUWMul(L->b, s->thread, i64(L, bytes), "place"));
}

static Type type_of(const Lower *L, Ref r) { return (Type)L->m->instrs.at[r].type; }

static Val slot_of(Lower *L, Ref r) {
    const Regions *g = L->regions;
    if (g->shared[r]) return at_bytes(L, region_state(L)->common, i64(L, g->slot[r]));
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
    const RegionState *s = region_state(L);
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

/* The values of lanes lie side by side. */
static Val load_lanes(Lower *L, Ref r) {
    Type t = type_of(L, r);
    Val base = base_of(L, r);
    Val v = lanes_load(L, base ? L->i64 : ll_memory_type(L, t), base ? 8 : type_bytes(t), slot_of(L, r), lanes_on(L));
    if (base) return at_bytes(L, base, v);
    return t == T_BOOL ? ll_icmp(L, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v))) : v;
}

Val region_load_slot(Lower *L, Ref r) {
    if (L->body && lane_kind(L, r) == LANE_VECTOR) return load_lanes(L, r);
    Type t = type_of(L, r);
    Val base = base_of(L, r);
    Val v = LLVMBuildLoad2(L->b, base ? L->i64 : ll_memory_type(L, t), slot_of(L, r), "v");
    if (base) return at_bytes(L, base, v);
    return t == T_BOOL ? ll_icmp(L, LLVMIntNE, v, LLVMConstInt(L->i8, 0, false)) : v;
}

/* As it lies in the frame: a pointer as its offset, a bool as a byte. */
static Val packed(Lower *L, Ref r, Val v) {
    Val base = base_of(L, r);
    bool vector = LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind;
    Ty i64 = vector ? LLVMVectorType(L->i64, LLVMGetVectorSize(LLVMTypeOf(v))) : L->i64;
    if (base) {
        base = LLVMBuildPtrToInt(L->b, base, L->i64, "base");
        if (vector) base = lanes_splat(L, base);
        return LLVMBuildSub(L->b, LLVMBuildPtrToInt(L->b, v, i64, "v"), base, "offset");
    }
    Ty i8 = vector ? LLVMVectorType(L->i8, LLVMGetVectorSize(LLVMTypeOf(v))) : L->i8;
    return type_of(L, r) == T_BOOL ? LLVMBuildZExt(L->b, v, i8, "v") : v;
}

void region_store_slot(Lower *L, Ref r) {
    if (!L->body || L->regions->shared[r]) {
        LLVMBuildStore(L->b, packed(L, r, ll_value(L, r)), slot_of(L, r));
        return;
    }
    lanes_store(L, packed(L, r, lanes_value(L, r)), type_bytes(type_of(L, r)), slot_of(L, r), lanes_on(L));
}

/* The operation that the region follows; REF_NONE at the start of the kernel. */
Ref region_cause(const Lower *L) {
    uint32_t k = ((const RegionState *)L->cpu)->number;
    return k ? L->regions->cuts.at[k - 1].sync : REF_NONE;
}

/* Does the region compute it, or get it from its wait? Then the frame must learn of it. */
bool region_defines(const Lower *L, Ref r) {
    return r == region_cause(L) || ((const RegionState *)L->cpu)->inside[L->m->instrs.at[r].block];
}

bool region_alive(const Lower *L, Ref r) {
    uint32_t k = ((const RegionState *)L->cpu)->number;
    return k && r != region_cause(L) && regions_alive(L->regions, region_start(L, k), r);
}

bool region_stores_at(const Lower *L, uint32_t cut, Ref r) {
    const Cut *c = &L->regions->cuts.at[cut];
    return !L->regions->shared[r] && r != c->sync && regions_alive(L->regions, c->next, r) && region_defines(L, r);
}

/* ---- waits ------------------------------------------------------------------------------------- */

Val region_operand(Lower *L, size_t offset) {
    RegionState *s = region_state(L);
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
    if (masked) LLVMBuildStore(L->b, a[0], region_operand(L, offsetof(CpuOperand, mask)));
    if (value < in->nargs)
        LLVMBuildStore(L->b, as_u64(L, type_of(L, in->args[value]), a[value]),
                       region_operand(L, offsetof(CpuOperand, value)));
    if (in->op != OP_SHFL) return;
    LLVMBuildStore(L->b, a[2], region_operand(L, offsetof(CpuOperand, lane)));
    LLVMBuildStore(L->b, a[3], region_operand(L, offsetof(CpuOperand, width)));
}

/* The thread's part of the region ends: `next` is what it runs later. */
static void park(Lower *L, uint32_t next) {
    RegionState *s = region_state(L);
    Val v = LLVMConstInt(L->i32, next, false);
    if (L->regions->uniform) LLVMBuildStore(L->b, v, s->next);
    else LLVMBuildStore(L->b, v, at_bytes(L, s->states, LLVMBuildNUWMul(L->b, s->thread, i64(L, 4), "s")));
    LLVMBuildBr(L->b, s->cpu.latch);
}

static Val wait_here(Lower *L, const Instr *in, Val *a) {
    RegionState *s = region_state(L);
    uint32_t k = s->cut_at[in - L->m->instrs.at];
    store_operands(L, in, a);
    for (uint32_t i = 0; i < s->kept.n; i++)
        if (region_stores_at(L, k, s->kept.at[i])) region_store_slot(L, s->kept.at[i]);
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
    RegionState *s = region_state(L);
    return at_bytes(L, s->shared, i64(L, s->shared_at[in->imm]));
}

/* Behind a wait the thread's own arrays must still be there. Without waits the stack will do. */
static Val local_array(Lower *L, Ref r) {
    const Instr *in = &L->m->instrs.at[r];
    if (L->regions->slot[r] == NO_SLOT) return lower_alloca(L, in, NULL);
    return thread_slot(L, L->regions->slot[r], L->own_stride ? L->vectors->unit[r] : (in->imm + 15) & ~UINT64_C(15));
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

/* ---- functions --------------------------------------------------------------------------------- */

enum { MORE_PARAMS = 4 /* beside the kernel's: block, frame, common, shared */ };

Val region_function(Lower *L, const char *name, uint32_t more) {
    const IrModule *m = L->m;
    uint32_t n = m->params.n;
    Ty *types = ARENA_ARRAY(m->arena, Ty, n + MORE_PARAMS + more);
    for (uint32_t i = 0; i < n; i++) types[i] = ll_memory_type(L, (Type)m->params.at[i].type);
    for (uint32_t i = 0; i < MORE_PARAMS; i++) types[n + i] = cpu_pointer(L);
    for (uint32_t i = 0; i < more; i++) types[n + MORE_PARAMS + i] = L->i32;
    Val fn = L->fn = LLVMAddFunction(L->mod, name, LLVMFunctionType(L->i32, types, n + MORE_PARAMS + more, false));
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
    for (uint32_t i = n + 2; i <= n + MORE_PARAMS; i++) {
        ll_attribute(L, fn, i, "noalias", 0);
        ll_attribute(L, fn, i, "align", 64);
    }
    return fn;
}

void region_load_block(Lower *L) {
    RegionState *s = region_state(L);
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
    s->frame = LLVMGetParam(L->fn, n + 1);
    s->common = LLVMGetParam(L->fn, n + 2);
    s->shared = LLVMGetParam(L->fn, n + 3);
    s->states = cpu_field(L, cpu_pointer(L), s->block, offsetof(CpuBlock, state), "states");
    s->operands = cpu_field(L, cpu_pointer(L), s->block, offsetof(CpuBlock, operands), "operands");
    if (L->m->sites.n) L->error = cpu_field(L, cpu_pointer(L), s->block, offsetof(CpuBlock, error), "error");
    cpu_load_print(L, s->block, offsetof(CpuBlock, print));
}

static Val call_region(Lower *L, uint32_t k, Val *args, uint32_t n) {
    Val fn = region_state(L)->functions[k];
    return LLVMBuildCall2(L->b, LLVMGlobalGetValueType(fn), fn, args, n, "r");
}

static Val block_field(Lower *L, Val block, size_t offset) {
    Val at = LLVMConstInt(L->i64, offset, false);
    return LLVMBuildInBoundsGEP2(L->b, L->i8, block, &at, 1, "at");
}

/* The next block's place in the grid, x first. */
static void advance_block(Lower *L, Val block) {
    Val carry = LLVMConstInt(L->i1, 1, false), zero = LLVMConstInt(L->i32, 0, false);
    for (unsigned i = 0; i < 3; i++) {
        Val place = block_field(L, block, offsetof(CpuBlock, at) + i * sizeof(uint32_t));
        Val size = cpu_field(L, L->i32, block, offsetof(CpuBlock, grid) + i * sizeof(uint32_t), "grid");
        Val up = LLVMBuildAdd(L->b, LLVMBuildLoad2(L->b, L->i32, place, "at"), LLVMBuildZExt(L->b, carry, L->i32, "c"),
                              "up");
        carry = ll_icmp(L, LLVMIntEQ, up, size);
        LLVMBuildStore(L->b, ll_select(L, carry, zero, up), place);
    }
}

/* This block and those that follow, until one raises. */
static void run_blocks(Lower *L, Val *args, uint32_t n) {
    Val block = LLVMGetParam(L->fn, 1), more = cpu_field(L, L->i64, block, offsetof(CpuBlock, more), "more");
    LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b), again = ll_block(L, "again"), next = ll_block(L, "next");
    LLVMBasicBlockRef end = ll_block(L, "end");
    LLVMBuildBr(L->b, again);
    LLVMPositionBuilderAtEnd(L->b, again);
    Val left = LLVMBuildPhi(L->b, L->i64, "left"), zero = LLVMConstInt(L->i64, 0, false);
    Val result = call_region(L, 0, args, n);
    Val raised = ll_icmp(L, LLVMIntEQ, result, LLVMConstInt(L->i32, REGION_RAISED, false));
    Val stop = LLVMBuildOr(L->b, raised, ll_icmp(L, LLVMIntEQ, left, zero), "stop");
    LLVMBuildCondBr(L->b, stop, end, next);
    LLVMPositionBuilderAtEnd(L->b, next);
    advance_block(L, block);
    Val less = LLVMBuildSub(L->b, left, LLVMConstInt(L->i64, 1, false), "less");
    LLVMBuildBr(L->b, again);
    LLVMAddIncoming(left, (Val[]){more, less}, (LLVMBasicBlockRef[]){before, next}, 2);
    LLVMPositionBuilderAtEnd(L->b, end);
    LLVMBuildRet(L->b, result);
}

/* The one symbol that the runtime calls. */
void region_entry(Lower *L, uint32_t regions, uint32_t from, uint32_t more) {
    const IrModule *m = L->m;
    Ty types[5] = {cpu_pointer(L), cpu_pointer(L), L->i32, L->i32, L->i32};
    L->fn = LLVMAddFunction(L->mod, entry_symbol(m, L->o), LLVMFunctionType(L->i32, types, 5, false));
    ll_attribute(L, L->fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    LLVMPositionBuilderAtEnd(L->b, ll_block(L, "entry"));
    uint32_t n = m->params.n;
    Val *args = ARENA_ARRAY(m->arena, Val, n + MORE_PARAMS + more), block = LLVMGetParam(L->fn, 1);
    cpu_load_params(L, LLVMGetParam(L->fn, 0), args);
    args[n] = block;
    args[n + 1] = cpu_field(L, cpu_pointer(L), block, offsetof(CpuBlock, frame), "frame");
    args[n + 2] = cpu_field(L, cpu_pointer(L), block, offsetof(CpuBlock, common), "common");
    args[n + 3] = cpu_field(L, cpu_pointer(L), block, offsetof(CpuBlock, shared), "shared");
    for (uint32_t i = 0; i < more; i++) args[n + MORE_PARAMS + i] = LLVMGetParam(L->fn, from + i);
    if (regions_straight(L->regions, m)) {
        run_blocks(L, args, n + MORE_PARAMS + more);
        return;
    }
    LLVMBasicBlockRef none = ll_block(L, "none");
    Val which = regions > 1 ? LLVMBuildSwitch(L->b, LLVMGetParam(L->fn, 2), none, regions) : NULL;
    for (uint32_t k = 0; k < regions; k++) {
        LLVMBasicBlockRef call = ll_block(L, "call");
        if (which) LLVMAddCase(which, LLVMConstInt(L->i32, k, false), call);
        else LLVMBuildBr(L->b, call);
        LLVMPositionBuilderAtEnd(L->b, call);
        LLVMBuildRet(L->b, call_region(L, k, args, n + MORE_PARAMS + more));
    }
    LLVMPositionBuilderAtEnd(L->b, none);
    LLVMBuildRet(L->b, LLVMConstInt(L->i32, REGION_DONE, false));
}

/* ---- a region ---------------------------------------------------------------------------------- */

void region_take_result(Lower *L) {
    Ref sync = region_cause(L);
    if (sync == REF_NONE || type_of(L, sync) == T_VOID) return;
    Val bits = LLVMBuildLoad2(L->b, L->i64, region_operand(L, offsetof(CpuOperand, value)), "bits");
    L->value[sync] = from_u64(L, type_of(L, sync), bits);
    if (L->variable[sync]) LLVMBuildStore(L->b, L->value[sync], L->variable[sync]);
}

/* What is cheap to compute again is computed at the start of each region, in the order of the kernel's blocks. */
void region_compute_again(Lower *L) {
    const IrModule *m = L->m;
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, m->blocks.n);
    for (uint32_t i = ir_postorder(m, order); i-- > 0;) {
        const Block *b = &m->blocks.at[order[i]];
        for (uint32_t k = 0; k < b->instrs.n; k++)
            if (regions_start_with(L->regions, m, b->instrs.at[k])) lower_again(L, b->instrs.at[k]);
    }
}

/* The blocks from the region's start to its waits. */
void region_blocks(Lower *L, uint32_t k) {
    const IrModule *m = L->m;
    RegionState *s = region_state(L);
    s->number = k;
    memset(s->inside, 0, m->blocks.n * sizeof *s->inside);
    memset(s->ends, 0, m->blocks.n * sizeof *s->ends);
    BlockId *stack = ARENA_ARRAY(m->arena, BlockId, m->blocks.n + 1);
    uint8_t *at = ARENA_ARRAY(m->arena, uint8_t, m->blocks.n);
    uint32_t depth = 1;
    s->n = 0;
    stack[0] = region_start(L, k);
    s->inside[stack[0]] = true;
    while (depth) {
        BlockId b = stack[depth - 1];
        const Block *block = &m->blocks.at[b];
        s->ends[b] = block->instrs.n > 1 && L->regions->is_cut[block->instrs.at[block->instrs.n - 2]];
        if (s->ends[b] || at[b] == block->nsucc) {
            s->order[s->n++] = b;
            depth--;
            continue;
        }
        BlockId to = block->succ[at[b]++];
        if (s->inside[to]) continue;
        s->inside[to] = true;
        stack[depth++] = to;
    }
}

/* ---- threads whose state is the region ------------------------------------------------------------ */

static void make_variables(Lower *L) {
    const RegionState *s = region_state(L);
    for (uint32_t i = 0; i < s->kept.n; i++)
        L->variable[s->kept.at[i]] = LLVMBuildAlloca(L->b, ll_type(L, type_of(L, s->kept.at[i])), "var");
}

static void fill_variables(Lower *L) {
    const RegionState *s = region_state(L);
    for (uint32_t i = 0; i < s->kept.n; i++) {
        Ref r = s->kept.at[i];
        if (region_alive(L, r)) LLVMBuildStore(L->b, region_load_slot(L, r), L->variable[r]);
    }
    region_take_result(L);
}

/* Threads first to last. */
static void begin_threads(Lower *L) {
    RegionState *s = region_state(L);
    CpuState *c = &s->cpu;
    uint32_t n = L->m->params.n + MORE_PARAMS;
    Val first = LLVMGetParam(L->fn, n), start[3], rest = first;
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

static void end_threads(Lower *L) {
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
    Val last = LLVMGetParam(L->fn, L->m->params.n + MORE_PARAMS + 1);
    LLVMBuildCondBr(L->b, ll_icmp(L, LLVMIntULT, next, last), c->loop[0], done);
    LLVMPositionBuilderAtEnd(L->b, done);
}

static void make_region(Lower *L, uint32_t k) {
    const IrModule *m = L->m;
    RegionState *s = region_state(L);
    region_blocks(L, k);
    memset(L->first, 0, m->blocks.n * sizeof *L->first);
    memset(L->value, 0, m->instrs.n * sizeof *L->value);
    L->fn = s->functions[k];
    L->entry = ll_block(L, "entry");
    s->cpu.latch = ll_block(L, "latch");
    LLVMPositionBuilderAtEnd(L->b, L->entry);
    region_load_block(L);
    make_variables(L);
    begin_threads(L);
    fill_variables(L);
    region_compute_again(L);
    lower_blocks(L, s->order, s->n);
    end_threads(L);
    LLVMBuildRet(L->b, LLVMConstInt(L->i32, REGION_DONE, false));
}

static RegionState *new_state(Lower *L) {
    const IrModule *m = L->m;
    Arena *a = m->arena;
    RegionState *s = ARENA_NEW(a, RegionState);
    L->variable = ARENA_ARRAY(a, Val, m->instrs.n);
    s->initial = ARENA_ARRAY(a, Val, m->instrs.n);
    s->block_variable = ARENA_ARRAY(a, Val, m->instrs.n);
    s->own_variable = ARENA_ARRAY(a, Val, m->instrs.n);
    s->ready = ARENA_ARRAY(a, bool, m->instrs.n);
    s->cut_at = ARENA_ARRAY(a, uint32_t, m->instrs.n);
    s->inside = ARENA_ARRAY(a, bool, m->blocks.n);
    s->ends = ARENA_ARRAY(a, bool, m->blocks.n);
    s->order = ARENA_ARRAY(a, BlockId, m->blocks.n);
    s->shared_at = ARENA_ARRAY(a, uint32_t, m->shared.n + 1);
    s->functions = ARENA_ARRAY(a, Val, L->regions->cuts.n + 1);
    uint32_t end = shared_layout(m, s->shared_at);
    for (uint32_t i = 0; i < m->shared.n; i++)
        if (m->shared.at[i].dynamic) s->shared_at[i] = end;
    for (Ref r = 1; r < m->instrs.n; r++)
        if (L->regions->slot[r] != NO_SLOT && m->instrs.at[r].op != OP_ALLOCA) VEC_PUSH(a, &s->kept, r);
    for (uint32_t k = 0; k < L->regions->cuts.n; k++) s->cut_at[L->regions->cuts.at[k].sync] = k;
    return s;
}

void lower_regions(Lower *L) {
    RegionState *s = new_state(L);
    uint32_t regions = L->regions->cuts.n + 1;
    L->cpu = &s->cpu;
    if (L->regions->uniform) {
        lower_block(L);
        region_entry(L, 1, 2, 1);
    } else {
        for (uint32_t k = 0; k < regions; k++)
            s->functions[k] = region_function(L, arena_printf(L->m->arena, "%s.region%u", L->m->name, k), 2);
        for (uint32_t k = 0; k < regions; k++) make_region(L, k);
        region_entry(L, regions, 3, 2);
    }
    cpu_keep_variants(L);
}
