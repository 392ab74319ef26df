/* lonewaits.c - loops in which one thread of a block waits for other blocks.
 *
 *     if threadIdx.x == 0:
 *         while atomic.load(state, b - 1) == 0: pass
 *     syncthreads()
 *
 * Elsewhere a loop that waits for memory lets the other threads of its block run: one of them may be the one that
 * writes. Here none can be: until this thread comes to the barrier they get no further than there, and on the way up to
 * it they write nothing to memory that the loop could look at. So the block runs on as if nobody waited, in vectors if
 * it can. */
#include "loops.h"
#include "regions.h"

#include <string.h>

typedef struct Search {
    const IrModule *m;
    const DomTree *tree;
    BlockId guarded; /* what it dominates, one thread runs */
    bool *seen;      /* by block: some thread may be there meanwhile */
    bool written;    /* ... and write to global memory */
} Search;

static const Instr *instr(const IrModule *m, Ref r) { return &m->instrs.at[r]; }

/* threadIdx.x == what is the same for the whole block at any time. */
static bool names_one_thread(const IrModule *m, const Uniformity *u, const Instr *cmp) {
    for (uint32_t i = 0; i < 2; i++) {
        Ref other = cmp->args[1 - i];
        if (ir_sreg_of(m, cmp->args[i]) == SREG_TID_X && u->value[other] <= SHAPE_BLOCK &&
            !u->loop_of[instr(m, other)->block])
            return true;
    }
    return false;
}

/* Does one edge lead to the block from outside of what it dominates? */
static bool has_one_way_in(const IrModule *m, const DomTree *tree, BlockId to) {
    uint32_t ways = 0;
    const Block *block = &m->blocks.at[to];
    for (uint32_t p = 0; p < block->preds.n; p++) ways += !ir_dominates(tree, to, block->preds.at[p]);
    return ways == 1;
}

/* A block that dominates the loop and that one thread alone reaches; 0: there is none. */
static BlockId find_guarded(const IrModule *m, const Uniformity *u, const DomTree *tree, BlockId header) {
    for (BlockId b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        if (block->dead || block->nsucc != 2 || block->succ[0] == block->succ[1]) continue;
        const Instr *cond = instr(m, instr(m, ir_terminator(m, b))->args[0]);
        if (cond->op != OP_CMP || (cond->sub != PRED_EQ && cond->sub != PRED_NE)) continue;
        BlockId to = block->succ[cond->sub == PRED_NE];
        if (has_one_way_in(m, tree, to) && ir_dominates(tree, to, header) && names_one_thread(m, u, cond)) return to;
    }
    return 0;
}

static bool waits_for_block(const Instr *in) {
    return op_info[in->op].flags & SYNC && !ir_is_warp_op((Op)in->op) && in->op != OP_NANOSLEEP;
}

/* May it change what other threads read through a pointer to global memory? */
static bool writes_global(const IrModule *m, const Instr *in) {
    if (in->op == OP_CALL) return true;
    if (in->op != OP_STORE && in->op != OP_ATOMIC && in->op != OP_CAS) return false;
    Type t = (Type)instr(m, in->args[0])->type;
    return t != T_PTRS && t != T_PTRL;
}

/* From instruction i of the block on; true: up to its end, no barrier being before that. */
static bool look_at(Search *s, BlockId b, uint32_t i) {
    const Block *block = &s->m->blocks.at[b];
    for (; i < block->instrs.n; i++) {
        const Instr *in = instr(s->m, block->instrs.at[i]);
        if (waits_for_block(in)) return false;
        if (!ir_dominates(s->tree, s->guarded, b)) s->written |= writes_global(s->m, in);
    }
    return true;
}

/* All that threads may run from there up to the next barriers; true: the loop is there, and others write. */
static bool others_write(Search *s, BlockId header, BlockId b, uint32_t i) {
    const IrModule *m = s->m;
    BlockId *todo = ARENA_ARRAY(m->arena, BlockId, m->blocks.n + 1);
    uint32_t n = 0;
    memset(s->seen, 0, m->blocks.n * sizeof *s->seen);
    s->written = false;
    for (;;) {
        const Block *block = &m->blocks.at[b];
        bool on = look_at(s, b, i);
        for (uint32_t k = 0; on && k < block->nsucc; k++) {
            if (s->seen[block->succ[k]]) continue;
            s->seen[block->succ[k]] = true;
            todo[n++] = block->succ[k];
        }
        if (!n) return s->seen[header] && s->written;
        b = todo[--n];
        i = 0;
    }
}

/* Does the loop look at nothing but global memory? */
static bool looks_outside(const IrModule *m, const NaturalLoop *l) {
    for (BlockId b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        for (uint32_t i = 0; l->inside[b] && i < block->instrs.n; i++) {
            const Instr *in = instr(m, block->instrs.at[i]);
            bool looks = in->op == OP_LOAD || in->op == OP_ATOMIC || in->op == OP_CAS;
            if (op_info[in->op].flags & SYNC || (looks && instr(m, in->args[0])->type == T_PTRS)) return false;
        }
    }
    return true;
}

bool ir_waits_for_other_blocks(IrModule *m, const DomTree *tree, const NaturalLoop *l) {
    if (!(m->facts & FACT_ROW) || !looks_outside(m, l)) return false;
    Uniformity u = ir_uniformity(m, NULL);
    Search s = {.m = m, .tree = tree, .guarded = find_guarded(m, &u, tree, l->header)};
    if (!s.guarded || u.irreducible) return false;
    s.seen = ARENA_ARRAY(m->arena, bool, m->blocks.n);
    if (others_write(&s, l->header, 0, 0)) return false;
    for (BlockId b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++)
            if (waits_for_block(instr(m, block->instrs.at[i])) && others_write(&s, l->header, b, i + 1)) return false;
    }
    return true;
}
