/* waits.c - a loop that waits for memory to change sees it change.
 *
 * needs: simplify (what doesn't change is computed once)      keeps: everything but MEM_VOLATILE of loads
 *
 *     while flag[0] == 0:
 *         pass
 *
 * Nothing in the loop writes flag[0], so a compiler may read it once, and the loop never ends though another thread
 * has written it. The loads that decide such an exit become volatile. An exit waits if all that its condition is made
 * of is loads and what doesn't change from round to round; a condition with a value that the loop itself carries on (a
 * counter, the next place to look) doesn't wait, and its loads stay as they are.
 *
 *     while t < n:
 *         if flag[t] == 1:
 *             out[t] = 2 * x[t]
 *             t += 1
 *
 * Here the counter stands still while a thread waits. So a loop waits, too, if there is a way round it on which nothing
 * changes; the loads that decide to take that way become volatile. */
#include "loops.h"

typedef struct Slice {
    const IrModule *m;
    const NaturalLoop *loop;
    uint8_t *state; /* of each Ref */
    RefVec loads;
    bool carried; /* some value is made from its own former value */
    bool unknown; /* something else decides */
} Slice;

enum { UNSEEN, OPEN, DONE };

/* Collects the loads in the loop that a value is made of. */
static void collect(Slice *s, Ref r) {
    const Instr *in = &s->m->instrs.at[r];
    if (!s->loop->inside[in->block] || s->state[r] == DONE || s->carried || s->unknown) return;
    if (s->state[r] == OPEN) {
        s->carried = true;
        return;
    }
    s->state[r] = OPEN;
    if (in->op == OP_LOAD) VEC_PUSH(s->m->arena, &s->loads, r);
    else if (!(op_info[in->op].flags & PURE)) s->unknown = true;
    for (uint32_t i = 0; i < in->nargs; i++)
        if (in->args[i] != r) collect(s, in->args[i]);
    s->state[r] = DONE;
}

static bool leaves(const NaturalLoop *l, const Block *b) {
    return b->nsucc == 2 && (!l->inside[b->succ[0]] || !l->inside[b->succ[1]]);
}

static void look_at_exit(IrModule *m, const NaturalLoop *l, const Block *b) {
    const Instr *branch = &m->instrs.at[b->instrs.at[b->instrs.n - 1]];
    Slice s = {.m = m, .loop = l, .state = ARENA_ARRAY(m->arena, uint8_t, m->instrs.n)};
    collect(&s, branch->args[0]);
    for (uint32_t i = 0; !s.carried && !s.unknown && i < s.loads.n; i++)
        m->instrs.at[s.loads.at[i]].sub |= MEM_VOLATILE;
}

/* The loads that the branches on an idle way are decided by. */
static void look_for_idle_way(IrModule *m, const NaturalLoop *l) {
    RefVec todo = {0};
    if (!loop_idle_way(m, l, &todo)) return;
    bool *seen = ARENA_ARRAY(m->arena, bool, m->instrs.n);
    while (todo.n) {
        Ref r = todo.at[--todo.n];
        Instr *in = &m->instrs.at[r];
        if (seen[r] || !l->inside[in->block]) continue;
        seen[r] = true;
        if (in->op == OP_LOAD) in->sub |= MEM_VOLATILE;
        else if (in->op != OP_PHI || in->block != l->header)
            for (uint32_t i = 0; i < in->nargs; i++) VEC_PUSH(m->arena, &todo, in->args[i]);
    }
}

void pass_waits(IrModule *m) {
    DomTree tree = ir_dominators(m);
    for (BlockId h = 0; h < m->blocks.n; h++) {
        NaturalLoop l;
        if (m->blocks.at[h].dead || m->blocks.at[h].preds.n < 2 || !loop_find(m, &tree, h, &l)) continue;
        for (BlockId b = 0; b < m->blocks.n; b++)
            if (l.inside[b] && leaves(&l, &m->blocks.at[b])) look_at_exit(m, &l, &m->blocks.at[b]);
        look_for_idle_way(m, &l);
    }
}
