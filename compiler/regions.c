/* regions.c - cuts a kernel where its threads wait for each other. See regions.h.
 *
 * needs: the end of the pipeline      keeps: what the kernel does; values stay SSA, blocks behind a wait are new
 *
 * The frame holds what liveness says is alive behind some cut. What is made of constants, parameters and indices by a
 * few cheap operations is computed again instead. Where all threads reach the same cuts, and a value is the same for
 * all of them, one place for the block is enough. */
#include "regions.h"

#include "loops.h"
#include "vectors.h"

#include <string.h>

enum {
    MOST_AGAIN = 6, /* operations that are computed again rather than kept */
    ROUNDS = 16     /* of a loop that may wait, between two turns of others; a power of 2 */
};

typedef struct Builder {
    IrModule *m;
    Regions *r;
    uint8_t *cost; /* by Ref: operations that computing it again takes, from 1; 0: not looked at */
} Builder;

static bool waits(const Instr *in) { return op_info[in->op].flags & SYNC; }
static bool waits_for_block(const Instr *in) { return waits(in) && !ir_is_warp_op((Op)in->op); }

static bool any_instr(const IrModule *m, bool (*is)(const Instr *in)) {
    for (BlockId b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++)
            if (is(&m->instrs.at[block->instrs.at[i]])) return true;
    }
    return false;
}

static bool is_shared(const Instr *in) { return in->op == OP_SHARED; }

/* ---- blocks ------------------------------------------------------------------------------------ */

/* What stands behind instruction i of the block becomes a block of its own. */
static BlockId split(IrModule *m, BlockId b, uint32_t i) {
    BlockId next = ir_block(m);
    Block *from = &m->blocks.at[b], *to = &m->blocks.at[next];
    for (uint32_t k = i + 1; k < from->instrs.n; k++) {
        m->instrs.at[from->instrs.at[k]].block = next;
        VEC_PUSH(m->arena, &to->instrs, from->instrs.at[k]);
    }
    from->instrs.n = i + 1;
    memcpy(to->succ, from->succ, sizeof to->succ);
    to->nsucc = from->nsucc;
    for (uint32_t s = 0; s < to->nsucc; s++) {
        Block *after = &m->blocks.at[to->succ[s]];
        for (uint32_t p = 0; p < after->preds.n; p++)
            if (after->preds.at[p] == b) after->preds.at[p] = next;
    }
    from->succ[0] = next;
    from->nsucc = 1;
    VEC_PUSH(m->arena, &to->preds, b);
    ir_emit(m, b, OP_JUMP, T_VOID, 0, NULL, 0, 0, 0);
    return next;
}

/* ---- loops that wait for memory ---------------------------------------------------------------- */

/* Does it look at memory that other threads change? */
static bool looks_at_others(const Instr *in) {
    return in->op == OP_ATOMIC || in->op == OP_CAS || (in->op == OP_LOAD && in->sub & MEM_VOLATILE);
}

/* Is a value made of such a look in the loop? */
static bool decided_by_others(const IrModule *m, const NaturalLoop *l, Ref value, bool *seen) {
    const Instr *in = &m->instrs.at[value];
    if (seen[value] || !l->inside[in->block]) return false;
    seen[value] = true;
    if (looks_at_others(in)) return true;
    for (uint32_t i = 0; i < in->nargs; i++)
        if (decided_by_others(m, l, in->args[i], seen)) return true;
    return false;
}

static bool loop_waits(const IrModule *m, const NaturalLoop *l) {
    bool *seen = ARENA_ARRAY(m->arena, bool, m->instrs.n);
    for (BlockId b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        if (!l->inside[b] || block->nsucc != 2 || (l->inside[block->succ[0]] && l->inside[block->succ[1]])) continue;
        if (decided_by_others(m, l, m->instrs.at[ir_terminator(m, b)].args[0], seen)) return true;
    }
    RefVec conditions = {0};
    if (!loop_idle_way(m, l, &conditions)) return false;
    memset(seen, 0, m->instrs.n * sizeof *seen);
    for (uint32_t i = 0; i < conditions.n; i++)
        if (decided_by_others(m, l, conditions.at[i], seen)) return true;
    return false;
}

static Ref emit_before_end(IrModule *m, BlockId b, Op op, Type t, uint32_t n, const Ref *args, uint64_t imm) {
    Ref end = ir_terminator(m, b);
    m->blocks.at[b].instrs.n--;
    Ref r = ir_emit(m, b, op, t, n, args, 0, imm, m->instrs.at[end].span);
    VEC_PUSH(m->arena, &m->blocks.at[b].instrs, end);
    return r;
}

/* How often the loop has gone round: a PHI at its head, and what it becomes on the way back. */
static Ref count_rounds(IrModule *m, BlockId head, BlockId latch, Ref zero) {
    Block *h = &m->blocks.at[head];
    Ref *from = ARENA_ARRAY(m->arena, Ref, h->preds.n), one = emit_before_end(m, 0, OP_CONST, T_U32, 0, NULL, 1);
    for (uint32_t k = 0; k < h->preds.n; k++) from[k] = zero;
    Ref phi = ir_emit(m, head, OP_PHI, T_U32, h->preds.n, from, 0, 0, m->instrs.at[ir_terminator(m, head)].span);
    Ref next = emit_before_end(m, latch, OP_ADD, T_U32, 2, (Ref[]){phi, one}, 0);
    for (uint32_t k = 0; k < h->preds.n; k++)
        if (h->preds.at[k] == latch) m->instrs.at[phi].args[k] = next;
    return next;
}

/* The threads that a loop waits for get their turn on its way back. Not each time: a loop that tries again, or
 * follows what others have written, seldom waits long. */
static void yield_on_way_back(IrModule *m, BlockId head, BlockId latch, bool alone) {
    Ref zero = emit_before_end(m, 0, OP_CONST, T_U32, 0, NULL, 0);
    Ref mask = emit_before_end(m, 0, OP_CONST, T_U32, 0, NULL, ROUNDS - 1);
    Ref rounds = count_rounds(m, head, latch, zero);
    Ref low = emit_before_end(m, latch, OP_AND, T_U32, 2, (Ref[]){rounds, mask}, 0);
    Ref now = emit_before_end(m, latch, OP_CMP, T_BOOL, 2, (Ref[]){low, zero}, 0);
    m->instrs.at[now].sub = PRED_EQ;
    BlockId wait = ir_block(m), rest = split(m, latch, m->blocks.at[latch].instrs.n - 2);
    uint32_t span = m->instrs.at[now].span;
    Block *from = &m->blocks.at[latch], *w = &m->blocks.at[wait];
    from->instrs.n--; /* the jump to `rest` */
    ir_emit(m, latch, OP_BRANCH, T_VOID, 1, &now, 0, 0, span);
    from->succ[0] = wait;
    from->succ[1] = rest;
    from->nsucc = 2;
    ir_emit(m, wait, alone ? OP_PAUSE : OP_NANOSLEEP, T_VOID, alone ? 0 : 1, &zero, 0, 0, span);
    ir_emit(m, wait, OP_JUMP, T_VOID, 0, NULL, 0, 0, span);
    w->succ[0] = rest;
    w->nsucc = 1;
    VEC_PUSH(m->arena, &w->preds, latch);
    VEC_PUSH(m->arena, &m->blocks.at[rest].preds, wait);
}

static void yield_in_loops(IrModule *m) {
    DomTree tree = ir_dominators(m);
    uint32_t nblocks = m->blocks.n;
    BlockId *head_of =
        ARENA_ARRAY(m->arena, BlockId, nblocks);        /* by latch; 0: none, since no loop begins at the entry */
    bool *alone = ARENA_ARRAY(m->arena, bool, nblocks); /* by header */
    for (BlockId h = 0; h < nblocks; h++) {
        NaturalLoop l;
        if (m->blocks.at[h].dead || m->blocks.at[h].preds.n < 2 || !loop_find(m, &tree, h, &l) || !loop_waits(m, &l))
            continue;
        alone[h] = ir_waits_for_other_blocks(m, &tree, &l);
        for (uint32_t i = 0; i < m->blocks.at[h].preds.n; i++)
            if (l.inside[m->blocks.at[h].preds.at[i]]) head_of[m->blocks.at[h].preds.at[i]] = h;
    }
    for (BlockId b = 0; b < nblocks; b++)
        if (head_of[b]) yield_on_way_back(m, head_of[b], b, alone[head_of[b]]);
}

/* ---- cuts -------------------------------------------------------------------------------------- */

static void make_cuts(Builder *B, bool (*is_cut)(const Instr *in)) {
    IrModule *m = B->m;
    for (BlockId b = 0; b < m->blocks.n; b++) { /* the new blocks too */
        if (m->blocks.at[b].dead) continue;
        for (uint32_t i = 0; i < m->blocks.at[b].instrs.n; i++) {
            Ref sync = m->blocks.at[b].instrs.at[i];
            if (!is_cut(&m->instrs.at[sync])) continue;
            Cut cut = {sync, split(m, b, i)};
            VEC_PUSH(m->arena, &B->r->cuts, cut);
            break;
        }
    }
}

/* ---- what is computed again -------------------------------------------------------------------- */

static bool is_index(Op op) {
    return op == OP_CONST || op == OP_PARAM || op == OP_SREG || op == OP_DATA || op == OP_SHARED || op == OP_ALLOCA;
}

static bool is_cheap(Op op) {
    switch (op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_SHL:
    case OP_SHR:
    case OP_CMP:
    case OP_SELECT:
    case OP_NOT:
    case OP_NEG:
    case OP_CONVERT:
    case OP_ADDR: return true;
    default: return false;
    }
}

/* How many operations it takes to compute a value again, from 1; more than MOST_AGAIN: too many. */
static uint8_t cost_of(Builder *B, Ref v) {
    if (B->cost[v]) return B->cost[v];
    const Instr *in = &B->m->instrs.at[v];
    unsigned cost = is_index((Op)in->op) ? 1 : UINT8_MAX;
    if (is_cheap((Op)in->op) && !type_is_float((Type)in->type)) {
        cost = 1;
        for (uint32_t i = 0; i < in->nargs && cost <= MOST_AGAIN; i++) {
            unsigned one = cost_of(B, in->args[i]);
            cost += one == 1 && is_index((Op)B->m->instrs.at[in->args[i]].op) ? 0 : one;
        }
    }
    return B->cost[v] = (uint8_t)(cost < UINT8_MAX ? cost : UINT8_MAX);
}

/* ---- liveness ---------------------------------------------------------------------------------- */

static uint64_t *row(const Builder *B, BlockId b) { return B->r->live + (size_t)b * B->r->words; }
static void set(uint64_t *bits, Ref r) { bits[r / 64] |= UINT64_C(1) << r % 64; }
static void clear(uint64_t *bits, Ref r) { bits[r / 64] &= ~(UINT64_C(1) << r % 64); }
static bool get(const uint64_t *bits, Ref r) { return bits[r / 64] >> r % 64 & 1; }

/* What a successor's PHIs take over this edge is used at its beginning. */
static void use_phis(const Builder *B, uint64_t *now, BlockId from, BlockId to) {
    const Block *block = &B->m->blocks.at[to];
    for (uint32_t i = 0; i < block->instrs.n; i++) {
        const Instr *in = &B->m->instrs.at[block->instrs.at[i]];
        if (in->op != OP_PHI) return;
        for (uint32_t k = 0; k < in->nargs; k++)
            if (block->preds.at[k] == from) set(now, in->args[k]);
    }
}

/* Walks a block backwards; true: more is alive at its start than was known. */
static bool update(const Builder *B, BlockId b, uint64_t *now) {
    const Block *block = &B->m->blocks.at[b];
    memset(now, 0, B->r->words * sizeof *now);
    for (uint32_t s = 0; s < block->nsucc; s++) {
        const uint64_t *after = row(B, block->succ[s]);
        for (uint32_t w = 0; w < B->r->words; w++) now[w] |= after[w];
        use_phis(B, now, b, block->succ[s]);
    }
    for (uint32_t i = block->instrs.n; i-- > 0;) {
        Ref r = block->instrs.at[i];
        const Instr *in = &B->m->instrs.at[r];
        clear(now, r);
        for (uint32_t a = 0; in->op != OP_PHI && a < in->nargs; a++) set(now, in->args[a]);
    }
    uint64_t *start = row(B, b);
    bool changed = false;
    for (uint32_t w = 0; w < B->r->words; w++) {
        changed |= (now[w] & ~start[w]) != 0;
        start[w] |= now[w];
    }
    return changed;
}

static void liveness(Builder *B) {
    IrModule *m = B->m;
    B->r->words = (m->instrs.n + 63) / 64;
    B->r->live = ARENA_ARRAY(m->arena, uint64_t, (size_t)B->r->words * m->blocks.n);
    uint64_t *now = ARENA_ARRAY(m->arena, uint64_t, B->r->words);
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, m->blocks.n);
    uint32_t n = ir_postorder(m, order);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < n; i++) changed |= update(B, order[i], now);
    }
}

/* ---- the frame --------------------------------------------------------------------------------- */

static uint32_t place(uint32_t *bytes, uint32_t size, uint32_t align) {
    uint32_t at = (*bytes + align - 1) / align * align;
    *bytes = at + size;
    return at;
}

static void place_value(Builder *B, const Uniformity *u, Ref v) {
    Regions *r = B->r;
    if (r->slot[v] != NO_SLOT) return;
    if (cost_of(B, v) <= MOST_AGAIN) return;
    uint32_t size = type_bytes((Type)B->m->instrs.at[v].type);
    r->shared[v] = r->uniform && u->value[v] <= SHAPE_BLOCK;
    r->slot[v] = place(r->shared[v] ? &r->block_bytes : &r->thread_bytes, size, 8);
}

/* The thread's own arrays lie in the frame: their addresses must hold behind a cut. */
static void place_arrays(Builder *B) {
    for (Ref v = 1; v < B->m->instrs.n; v++) {
        const Instr *in = &B->m->instrs.at[v];
        if (in->op != OP_ALLOCA || B->m->blocks.at[in->block].dead) continue;
        B->r->slot[v] = place(&B->r->thread_bytes, (uint32_t)((in->imm + 15) & ~UINT64_C(15)), 16);
    }
}

static bool is_block_wide(const IrModule *m, const Cut *c) {
    Op op = (Op)m->instrs.at[c->sync].op;
    return op == OP_BARRIER || op == OP_BARRIER_RED || op == OP_GRIDSYNC;
}

static bool all_uniform(const Builder *B, const Uniformity *u) {
    for (uint32_t i = 0; i < B->r->cuts.n; i++) {
        const Cut *c = &B->r->cuts.at[i];
        if (!is_block_wide(B->m, c) || u->block_divergent[B->m->instrs.at[c->sync].block]) return false;
    }
    return true;
}

Regions *ir_regions(IrModule *m, bool *warps) {
    if (any_instr(m, looks_at_others)) yield_in_loops(m);
    *warps = *warps && ir_warps_are_vectors(m);
    bool (*is_cut)(const Instr *in) = *warps ? waits_for_block : waits;
    if (!any_instr(m, is_cut) && !any_instr(m, is_shared)) return NULL;
    Builder builder = {.m = m, .r = ARENA_NEW(m->arena, Regions)};
    Builder *B = &builder;
    make_cuts(B, is_cut);
    Uniformity u = ir_uniformity(m, NULL);
    B->r->uniform = all_uniform(B, &u);
    B->r->slot = ARENA_ARRAY(m->arena, uint32_t, m->instrs.n);
    memset(B->r->slot, 0xff, m->instrs.n * sizeof *B->r->slot);
    B->r->shared = ARENA_ARRAY(m->arena, bool, m->instrs.n);
    B->r->again = ARENA_ARRAY(m->arena, bool, m->instrs.n);
    B->cost = ARENA_ARRAY(m->arena, uint8_t, m->instrs.n);
    B->r->is_cut = ARENA_ARRAY(m->arena, bool, m->instrs.n);
    for (uint32_t i = 0; i < B->r->cuts.n; i++) B->r->is_cut[B->r->cuts.at[i].sync] = true;
    liveness(B);
    if (B->r->cuts.n) place_arrays(B);
    for (uint32_t i = 0; i < B->r->cuts.n; i++)
        for (Ref v = 1; v < m->instrs.n; v++)
            if (get(row(B, B->r->cuts.at[i].next), v)) place_value(B, &u, v);
    for (Ref v = 1; v < m->instrs.n; v++) B->r->again[v] = cost_of(B, v) <= MOST_AGAIN;
    return B->r;
}
