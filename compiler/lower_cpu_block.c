/* lower_cpu_block.c - CPU kernels whose threads wait for each other and take the same way: one function for a block.
 *
 *   NAME.block(p0, ..., block, frame, common, shared, region)
 *       region k:  for z: for y: for x:  load slots, code, store slots
 *                  go on with the region that the code said
 *
 * All threads come to the same wait, so that a region is a loop over them and a barrier the loop's end. Only what the
 * runtime has a part in, reductions over the block and waits for the grid, returns and comes back by number.
 *
 * A value that is the same for the whole block is a variable of the function. Each thread starts from the region's
 * initial one and has its own copy; what the last thread leaves is the block's.
 *
 * Regions run in vectors (lower_cpu_vector.c) unless they hold what isn't done so, then thread by thread. */
#include "lower_cpu_regions.h"
#include "vectors.h"

#include <stddef.h>
#include <string.h>

static Type type_of(const Lower *L, Ref r) { return (Type)L->m->instrs.at[r].type; }

/* The runtime has a part in the wait. */
static bool returns_at(const Lower *L, uint32_t cut) {
    return L->m->instrs.at[L->regions->cuts.at[cut].sync].op != OP_BARRIER;
}

/* ---- values of the block -------------------------------------------------------------------------- */

static Val variable(Lower *L, Ty t) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(L->b);
    LLVMPositionBuilderBefore(L->b, LLVMGetFirstInstruction(L->entry));
    Val v = LLVMBuildAlloca(L->b, t, "var");
    LLVMPositionBuilderAtEnd(L->b, here);
    return v;
}

static void make_block_variables(Lower *L) {
    RegionState *s = region_state(L);
    s->next = LLVMBuildAlloca(L->b, L->i32, "next");
    for (uint32_t i = 0; i < s->kept.n; i++) {
        Ref r = s->kept.at[i];
        if (!L->regions->shared[r]) continue;
        s->block_variable[r] = LLVMBuildAlloca(L->b, ll_scalar(L, type_of(L, r)), "block");
        s->own_variable[r] = LLVMBuildAlloca(L->b, ll_scalar(L, type_of(L, r)), "own");
    }
}

/* Before the loop over threads. */
static void read_block_values(Lower *L) {
    RegionState *s = region_state(L);
    for (uint32_t i = 0; i < s->kept.n; i++) {
        Ref r = s->kept.at[i];
        if (L->regions->shared[r] && region_alive(L, r))
            s->initial[r] = LLVMBuildLoad2(L->b, ll_scalar(L, type_of(L, r)), s->block_variable[r], "initial");
    }
}

static void write_block_values(Lower *L) {
    RegionState *s = region_state(L);
    for (uint32_t i = 0; i < s->kept.n; i++) {
        Ref r = s->kept.at[i];
        if (!L->regions->shared[r] || !region_defines(L, r)) continue;
        Val v = LLVMBuildLoad2(L->b, ll_scalar(L, type_of(L, r)), s->own_variable[r], "last");
        LLVMBuildStore(L->b, v, s->block_variable[r]);
    }
}

/* ---- the start of a thread ------------------------------------------------------------------------ */

/* Its variables, filled. */
static void fill_variables(Lower *L) {
    RegionState *s = region_state(L);
    for (uint32_t i = 0; i < s->kept.n; i++) {
        Ref r = s->kept.at[i];
        bool shared = L->regions->shared[r];
        Ty t = L->body ? lanes_type(L, r) : ll_scalar(L, type_of(L, r));
        L->variable[r] = shared ? s->own_variable[r] : variable(L, t);
        if (region_alive(L, r)) LLVMBuildStore(L->b, shared ? s->initial[r] : region_load_slot(L, r), L->variable[r]);
    }
    region_take_result(L);
}

/* What lives at the start of the region and isn't kept, with all that it is made of. */
static void mark_ready(const Lower *L, bool *ready, Ref r) {
    const Instr *in = &L->m->instrs.at[r];
    if (ready[r] || !L->regions->again[r]) return;
    ready[r] = true;
    for (uint32_t i = 0; i < in->nargs; i++) mark_ready(L, ready, in->args[i]);
}

static void find_ready(Lower *L) {
    RegionState *s = region_state(L);
    memset(s->ready, 0, L->m->instrs.n * sizeof *s->ready);
    for (Ref r = 1; s->number && r < L->m->instrs.n; r++)
        if (L->regions->again[r] && regions_alive(L->regions, region_start(L, s->number), r))
            mark_ready(L, s->ready, r);
}

/* Of a vector. */
static void prepare(Lower *L) {
    const IrModule *m = L->m;
    const RegionState *s = region_state(L);
    fill_variables(L);
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, m->blocks.n);
    for (uint32_t i = ir_postorder(m, order); i-- > 0;) {
        const Block *b = &m->blocks.at[order[i]];
        for (uint32_t k = 0; k < b->instrs.n; k++)
            if (s->ready[b->instrs.at[k]]) lanes_again(L, b->instrs.at[k]);
    }
}

/* A vector's part of the region ends. */
static void wait_here(Lower *L, Ref sync) {
    RegionState *s = region_state(L);
    const Instr *in = &L->m->instrs.at[sync];
    uint32_t k = s->cut_at[sync];
    if (in->op == OP_BARRIER_RED) {
        Val v = lanes_value(L, in->args[0]);
        Ty bits = LLVMVectorType(L->i64, LLVMGetVectorSize(LLVMTypeOf(v)));
        lanes_scatter(L, LLVMBuildZExt(L->b, v, bits, "bits"), 8, region_operand(L, offsetof(CpuOperand, value)),
                      sizeof(CpuOperand));
    }
    for (uint32_t i = 0; i < s->kept.n; i++)
        if (region_stores_at(L, k, s->kept.at[i])) region_store_slot(L, s->kept.at[i]);
    LLVMBuildStore(L->b, LLVMConstInt(L->i32, k + 1, false), s->next);
    LLVMBuildBr(L->b, s->cpu.latch);
}

/* Does a thread from there on leave nothing behind, in memory or in slots? */
static bool is_idle(Lower *L, BlockId from) {
    const RegionState *s = region_state(L);
    bool *seen = ARENA_ARRAY(L->m->arena, bool, L->m->blocks.n);
    BlockId *todo = ARENA_ARRAY(L->m->arena, BlockId, L->m->blocks.n + 1);
    uint32_t n = 0;
    todo[n++] = from;
    seen[from] = true;
    while (n) {
        BlockId b = todo[--n];
        const Block *block = &L->m->blocks.at[b];
        for (uint32_t i = 0; i < block->instrs.n; i++) {
            const Instr *in = &L->m->instrs.at[block->instrs.at[i]];
            if (op_info[in->op].flags & WRITES || (op_info[in->op].flags & SYNC && in->op != OP_BARRIER)) return false;
        }
        for (uint32_t i = 0; s->ends[b] && i < s->kept.n; i++)
            if (region_stores_at(L, s->cut_at[block->instrs.at[block->instrs.n - 2]], s->kept.at[i])) return false;
        for (uint32_t k = 0; !s->ends[b] && k < block->nsucc; k++) {
            if (seen[block->succ[k]]) continue;
            seen[block->succ[k]] = true;
            todo[n++] = block->succ[k];
        }
    }
    return true;
}

/* ---- the loop over threads ------------------------------------------------------------------------ */

/* A loop over one dimension. */
static void begin_loop(Lower *L, unsigned i) {
    CpuState *c = L->cpu;
    Val zero = LLVMConstInt(L->i32, 0, false);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b);
    c->loop[i] = ll_block(L, "loop");
    LLVMBuildBr(L->b, c->loop[i]);
    LLVMPositionBuilderAtEnd(L->b, c->loop[i]);
    c->thread[i] = LLVMBuildPhi(L->b, L->i32, "tid");
    LLVMAddIncoming(c->thread[i], &zero, &before, 1);
}

/* stop: a variable that ends it early; NULL: none. */
static void end_loop(Lower *L, unsigned i, Val step, Val stop) {
    CpuState *c = L->cpu;
    LLVMBasicBlockRef from = LLVMGetInsertBlock(L->b), done = ll_block(L, "done");
    Val next = LLVMBuildNUWAdd(L->b, c->thread[i], step, "next");
    LLVMSetNSW(next, true);
    LLVMAddIncoming(c->thread[i], &next, &from, 1);
    Val more = ll_icmp(L, LLVMIntULT, next, c->count[i]);
    if (stop) {
        Val go = LLVMBuildNot(L->b, LLVMBuildLoad2(L->b, L->i1, stop, "stop"), "go");
        more = ll_select(L, go, more, LLVMConstInt(L->i1, 0, false));
    }
    LLVMBuildCondBr(L->b, more, c->loop[i], done);
    LLVMPositionBuilderAtEnd(L->b, done);
}

/* The thread's number is the linear form of z, y, x. */
static void number_thread(Lower *L) {
    RegionState *s = region_state(L);
    CpuState *c = &s->cpu;
    Val row = LLVMBuildNUWAdd(L->b, LLVMBuildNUWMul(L->b, c->thread[2], c->block[1], "n"), c->thread[1], "n");
    row = LLVMBuildZExt(L->b, LLVMBuildNUWMul(L->b, row, c->block[0], "n"), L->i64, "row");
    s->thread = LLVMBuildNUWAdd(L->b, row, LLVMBuildZExt(L->b, c->thread[0], L->i64, "x"), "t");
}

/* ---- regions -------------------------------------------------------------------------------------- */

static bool in_vectors(Lower *L) {
    const RegionState *s = region_state(L);
    if (!L->vectors) return false;
    for (uint32_t i = 0; i < s->n; i++)
        if (L->vectors->serial[s->order[i]]) return false;
    return true;
}

/* for x: full or masked: for z: for y. What depends on x alone is loaded once for all rows. */
static void lower_columns(Lower *L, const VectorRegion *region) {
    CpuState *c = L->cpu;
    Val one = LLVMConstInt(L->i32, 1, false);
    begin_loop(L, 0);
    LLVMBasicBlockRef nest[2] = {ll_block(L, "masked"), ll_block(L, "full")}, join = ll_block(L, "join");
    LLVMBuildCondBr(L->b, lanes_are_full(L), nest[1], nest[0]);
    for (unsigned full = 0; full < 2; full++) {
        LLVMPositionBuilderAtEnd(L->b, nest[full]);
        begin_loop(L, 2);
        begin_loop(L, 1);
        number_thread(L);
        c->latch = ll_block(L, "latch");
        lower_lanes(L, region, full);
        LLVMPositionBuilderAtEnd(L->b, c->latch);
        end_loop(L, 1, one, NULL);
        end_loop(L, 2, one, NULL);
        LLVMBuildBr(L->b, join);
    }
    LLVMPositionBuilderAtEnd(L->b, join);
    end_loop(L, 0, LLVMConstInt(L->i32, L->vectors->full_lanes, false), NULL);
}

static void lower_one_by_one(Lower *L) {
    const RegionState *s = region_state(L);
    memset(L->variable, 0, L->m->instrs.n * sizeof *L->variable);
    fill_variables(L);
    region_compute_again(L);
    lower_blocks(L, s->order, s->n);
}

static void end_if_raised(Lower *L) {
    if (!L->cpu->raised) return;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(L->b), end = ll_block(L, "raised");
    LLVMPositionBuilderAtEnd(L->b, end);
    LLVMBuildRet(L->b, LLVMConstInt(L->i32, REGION_RAISED, false));
    LLVMPositionBuilderAtEnd(L->b, here);
    lanes_leave_if_raised(L, end);
}

/* for z: for y: for x; z and y are one where nobody looks at them. */
static void lower_rows(Lower *L, const VectorRegion *region) {
    CpuState *c = L->cpu;
    Val one = LLVMConstInt(L->i32, 1, false), step = one;
    if (c->count[2]) begin_loop(L, 2);
    else c->thread[2] = LLVMConstInt(L->i32, 0, false);
    begin_loop(L, 1);
    if (region) lanes_begin_row(L);
    begin_loop(L, 0);
    number_thread(L);
    c->latch = ll_block(L, "latch");
    if (region) {
        LLVMBuildStore(L->b, LLVMConstInt(L->i1, 0, false), region->stop);
        lower_vectors(L, region);
    } else {
        lower_one_by_one(L);
    }
    LLVMPositionBuilderAtEnd(L->b, c->latch);
    if (region) end_if_raised(L);
    if (region) step = LLVMBuildLoad2(L->b, L->i32, c->step, "step");
    end_loop(L, 0, step, region ? region->stop : NULL);
    end_loop(L, 1, one, NULL);
    if (c->count[2]) end_loop(L, 2, one, NULL);
}

static void lower_threads(Lower *L) {
    RegionState *s = region_state(L);
    if (!in_vectors(L)) {
        lower_rows(L, NULL);
        return;
    }
    find_ready(L);
    VectorRegion region = {.start = region_start(L, s->number),
                           .blocks = s->order,
                           .n = s->n,
                           .ends = s->ends,
                           .ready = s->ready,
                           .prepare = prepare,
                           .wait = wait_here,
                           .stop = variable(L, L->i1),
                           .idle = is_idle};
    if (L->vectors->rows && L->vectors->full_lanes == L->vectors->masked_lanes && !lanes_may_part(L, &region))
        lower_columns(L, &region);
    else lower_rows(L, &region);
}

/* Behind the loop: on to the next region. */
static void go_on(Lower *L, LLVMBasicBlockRef *heads) {
    RegionState *s = region_state(L);
    LLVMBasicBlockRef done = ll_block(L, "end");
    Val next = LLVMBuildLoad2(L->b, L->i32, s->next, "next");
    Val which = LLVMBuildSwitch(L->b, next, done, s->n);
    for (uint32_t i = 0; i < s->n; i++) {
        if (!s->ends[s->order[i]]) continue;
        const Block *b = &L->m->blocks.at[s->order[i]];
        uint32_t k = s->cut_at[b->instrs.at[b->instrs.n - 2]];
        LLVMBasicBlockRef to = returns_at(L, k) ? ll_block(L, "return") : heads[k + 1];
        LLVMAddCase(which, LLVMConstInt(L->i32, k + 1, false), to);
        if (!returns_at(L, k)) continue;
        LLVMPositionBuilderAtEnd(L->b, to);
        for (uint32_t j = 0; j < s->kept.n; j++) {
            Ref r = s->kept.at[j];
            if (!L->regions->shared[r] || !regions_alive(L->regions, L->regions->cuts.at[k].next, r)) continue;
            L->variable[r] = s->block_variable[r];
            region_store_slot(L, r);
        }
        LLVMBuildRet(L->b, LLVMConstInt(L->i32, k + 1, false));
    }
    LLVMPositionBuilderAtEnd(L->b, done);
    LLVMBuildRet(L->b, LLVMConstInt(L->i32, REGION_DONE, false));
}

static void make_region(Lower *L, uint32_t k, LLVMBasicBlockRef *heads) {
    const IrModule *m = L->m;
    RegionState *s = region_state(L);
    region_blocks(L, k);
    memset(L->first, 0, m->blocks.n * sizeof *L->first);
    memset(L->value, 0, m->instrs.n * sizeof *L->value);
    LLVMPositionBuilderAtEnd(L->b, heads[k]);
    LLVMBuildStore(L->b, LLVMConstInt(L->i32, REGION_DONE, false), s->next);
    read_block_values(L);
    lower_threads(L);
    write_block_values(L);
    go_on(L, heads);
}

/* Back from the runtime: values of the block are in their slots. */
static void come_back(Lower *L, uint32_t k, LLVMBasicBlockRef head) {
    RegionState *s = region_state(L);
    s->number = k;
    for (uint32_t i = 0; i < s->kept.n; i++) {
        Ref r = s->kept.at[i];
        if (L->regions->shared[r] && region_alive(L, r))
            LLVMBuildStore(L->b, region_load_slot(L, r), s->block_variable[r]);
    }
    LLVMBuildBr(L->b, head);
}

/* LLVM looks at each loop with the ends of all loops before it in mind, back to where two ways meet. A function of many
 * regions has such places in between: ways in that are never taken. */
enum { MANY = 32, SOME = 16 };

void lower_block(Lower *L) {
    const IrModule *m = L->m;
    RegionState *s = region_state(L);
    uint32_t regions = L->regions->cuts.n + 1;
    L->fn = s->functions[0] = region_function(L, arena_printf(m->arena, "%s.block", m->name), 1);
    L->entry = ll_block(L, "entry");
    LLVMPositionBuilderAtEnd(L->b, L->entry);
    region_load_block(L);
    if (L->vectors && L->vectors->unit && L->regions->cuts.n) L->own_stride = s->capacity;
    cpu_count_rounds(L);
    make_block_variables(L);
    if (L->vectors) lanes_variables(L);
    LLVMBasicBlockRef *heads = ARENA_ARRAY(m->arena, LLVMBasicBlockRef, regions);
    for (uint32_t k = 0; k < regions; k++) heads[k] = ll_block(L, "region");
    Val which = LLVMBuildSwitch(L->b, LLVMGetParam(L->fn, LLVMCountParams(L->fn) - 1), heads[0], regions);
    for (uint32_t k = 1; k < regions; k++) {
        if (!returns_at(L, k - 1) && !(regions > MANY && k % SOME == 0)) continue;
        LLVMBasicBlockRef back = ll_block(L, "back");
        LLVMAddCase(which, LLVMConstInt(L->i32, k, false), back);
        LLVMPositionBuilderAtEnd(L->b, back);
        come_back(L, k, heads[k]);
    }
    for (uint32_t k = 0; k < regions; k++) make_region(L, k, heads);
}
