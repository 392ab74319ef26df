/* loops.c - natural loops. See loops.h. */
#include "loops.h"

enum { MOST_STEPS = 200 }; /* from block to block, in search of an idle way */

bool loop_find(const IrModule *m, const DomTree *tree, BlockId header, NaturalLoop *out) {
    VEC(BlockId) todo = {0};
    const Block *h = &m->blocks.at[header];
    for (uint32_t i = 0; i < h->preds.n; i++) {
        BlockId latch = h->preds.at[i];
        if (!m->blocks.at[latch].dead && ir_dominates(tree, header, latch)) VEC_PUSH(m->arena, &todo, latch);
    }
    if (!todo.n) return false;
    out->header = header;
    out->inside = ARENA_ARRAY(m->arena, bool, m->blocks.n);
    out->inside[header] = true;
    out->size = 1;
    while (todo.n) {
        BlockId b = todo.at[--todo.n];
        const Block *block = &m->blocks.at[b];
        if (out->inside[b]) continue;
        out->inside[b] = true;
        out->size++;
        for (uint32_t i = 0; i < block->preds.n; i++) VEC_PUSH(m->arena, &todo, block->preds.at[i]);
    }
    return true;
}

/* ---- ways round that change nothing ------------------------------------------------------------ */

typedef struct Search {
    const IrModule *m;
    const NaturalLoop *loop;
    RefVec phis;  /* of the header: those that decide the branches */
    bool *seen;   /* by Ref: has a part in a branch's condition */
    bool *on_way; /* by block */
    unsigned steps;
} Search;

static bool has_choice(const IrModule *m, BlockId b) { return m->blocks.at[b].nsucc == 2; }

static bool reads_memory(const IrModule *m, const NaturalLoop *l) {
    for (BlockId b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        for (uint32_t i = 0; l->inside[b] && i < block->instrs.n; i++)
            if (op_info[m->instrs.at[block->instrs.at[i]].op].flags & READS) return true;
    }
    return false;
}

/* What the conditions of the branches in the loop are made of. */
static void find_deciding(Search *s) {
    const IrModule *m = s->m;
    RefVec todo = {0};
    for (BlockId b = 0; b < m->blocks.n; b++)
        if (s->loop->inside[b] && has_choice(m, b))
            VEC_PUSH(m->arena, &todo, m->instrs.at[ir_terminator(m, b)].args[0]);
    while (todo.n) {
        Ref v = todo.at[--todo.n];
        const Instr *in = &m->instrs.at[v];
        if (s->seen[v] || !s->loop->inside[in->block]) continue;
        s->seen[v] = true;
        if (in->op == OP_PHI && in->block == s->loop->header) VEC_PUSH(m->arena, &s->phis, v);
        for (uint32_t i = 0; i < in->nargs; i++) VEC_PUSH(m->arena, &todo, in->args[i]);
    }
}

static bool is_idle(const IrModule *m, BlockId b) {
    const Block *block = &m->blocks.at[b];
    for (uint32_t i = 0; i < block->instrs.n; i++) {
        Op op = (Op)m->instrs.at[block->instrs.at[i]].op;
        uint32_t flags = op_info[op].flags;
        if (flags & (PURE | ENDS) || op == OP_LOAD || op == OP_ATOMIC || op == OP_CAS || op == OP_FENCE ||
            op == OP_NANOSLEEP)
            continue;
        return false;
    }
    return true;
}

/* Backwards from the end of block b, where the header's PHIs are to become `values`. */
static bool idle_from(Search *s, BlockId b, const Ref *values) {
    const IrModule *m = s->m;
    if (s->on_way[b] || s->steps++ >= MOST_STEPS || !is_idle(m, b)) return false;
    s->on_way[b] = true;
    if (b == s->loop->header) {
        bool same = true;
        for (uint32_t i = 0; same && i < s->phis.n; i++) same = values[i] == s->phis.at[i];
        s->on_way[b] = same;
        return same;
    }
    const Block *block = &m->blocks.at[b];
    Ref *before = ARENA_ARRAY(m->arena, Ref, s->phis.n + 1);
    for (uint32_t p = 0; p < block->preds.n; p++) {
        for (uint32_t i = 0; i < s->phis.n; i++) {
            const Instr *in = &m->instrs.at[values[i]];
            before[i] = in->op == OP_PHI && in->block == b ? in->args[p] : values[i];
        }
        if (idle_from(s, block->preds.at[p], before)) return true;
    }
    s->on_way[b] = false;
    return false;
}

bool loop_idle_way(const IrModule *m, const NaturalLoop *l, RefVec *conditions) {
    if (!reads_memory(m, l)) return false;
    Search s = {.m = m, .loop = l, .seen = ARENA_ARRAY(m->arena, bool, m->instrs.n)};
    s.on_way = ARENA_ARRAY(m->arena, bool, m->blocks.n);
    find_deciding(&s);
    const Block *header = &m->blocks.at[l->header];
    Ref *values = ARENA_ARRAY(m->arena, Ref, s.phis.n + 1);
    for (uint32_t p = 0; p < header->preds.n; p++) {
        if (!l->inside[header->preds.at[p]]) continue;
        for (uint32_t i = 0; i < s.phis.n; i++) values[i] = m->instrs.at[s.phis.at[i]].args[p];
        if (!idle_from(&s, header->preds.at[p], values)) continue;
        for (BlockId b = 0; b < m->blocks.n; b++)
            if (s.on_way[b] && has_choice(m, b))
                VEC_PUSH(m->arena, conditions, m->instrs.at[ir_terminator(m, b)].args[0]);
        return true;
    }
    return false;
}
