/* selects.c - short ways that only choose a value become selects, for the CPU.
 *
 *   branch c, A, B;  A: jump T;  B: jump T;  T: x = phi(A: a, B: b)      ->      x = select c, a, b
 *
 * needs: the end of the pipeline      keeps: what the kernel does
 *
 * LLVM does so itself, but lanes of a vector that part are a matter of ours before: a select costs one operation, a way
 * of its own a mask. What stands in A and B is computed in any case then: a few cheap operations without effects. */
#include "ir.h"

enum { MOST_MOVED = 4 };

typedef struct Diamond {
    BlockId from, to, way[2]; /* `from` itself: that way is empty */
} Diamond;

static bool is_cheap(const Instr *in) {
    switch (in->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_FMA:
    case OP_NEG:
    case OP_ABS:
    case OP_MIN:
    case OP_MAX:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT:
    case OP_SHL:
    case OP_SHR:
    case OP_CMP:
    case OP_SELECT:
    case OP_BITCAST:
    case OP_ADDR: return true;
    case OP_CONVERT: return type_is_int((Type)in->type);
    default: return false;
    }
}

/* The block that a way leads to; the block itself if it isn't one. */
static BlockId end_of_way(const IrModule *m, BlockId way) {
    const Block *b = &m->blocks.at[way];
    if (b->preds.n != 1 || b->nsucc != 1 || b->instrs.n > MOST_MOVED + 1) return way;
    for (uint32_t i = 0; i + 1 < b->instrs.n; i++)
        if (!is_cheap(&m->instrs.at[b->instrs.at[i]])) return way;
    return b->succ[0];
}

static bool find_diamond(const IrModule *m, BlockId from, Diamond *d) {
    const Block *b = &m->blocks.at[from];
    if (b->dead || b->nsucc != 2 || b->succ[0] == b->succ[1]) return false;
    BlockId end[2] = {end_of_way(m, b->succ[0]), end_of_way(m, b->succ[1])};
    *d = (Diamond){from, end[0], {b->succ[0], b->succ[1]}};
    if (end[0] == b->succ[1]) d->to = end[0], d->way[1] = from;
    else if (end[1] == b->succ[0]) d->to = end[1], d->way[0] = from;
    else if (end[0] != end[1]) return false;
    return d->to != from && m->blocks.at[d->to].preds.n == 2 && (d->way[0] != from || d->way[1] != from);
}

static void append(IrModule *m, BlockId to, Ref r) {
    m->instrs.at[r].block = to;
    VEC_PUSH(m->arena, &m->blocks.at[to].instrs, r);
}

/* All but its end. */
static void move_way(IrModule *m, const Diamond *d, unsigned k) {
    if (d->way[k] == d->from) return;
    Block *way = &m->blocks.at[d->way[k]];
    for (uint32_t i = 0; i + 1 < way->instrs.n; i++) append(m, d->from, way->instrs.at[i]);
    way->instrs.n = 0;
    way->dead = true;
}

static void become_select(IrModule *m, Ref phi, Ref cond, bool swapped) {
    Instr *in = &m->instrs.at[phi];
    Ref *args = ARENA_ARRAY(m->arena, Ref, 3);
    args[0] = cond, args[1] = in->args[swapped], args[2] = in->args[!swapped];
    in->op = OP_SELECT;
    in->args = args;
    in->nargs = 3;
}

/* `from` goes on with what stands in `to`. */
static void join(IrModule *m, const Diamond *d) {
    Ref cond = m->instrs.at[ir_terminator(m, d->from)].args[0];
    bool swapped = m->blocks.at[d->to].preds.at[0] != d->way[0];
    m->blocks.at[d->from].instrs.n--;
    for (unsigned k = 0; k < 2; k++) move_way(m, d, k);
    Block *from = &m->blocks.at[d->from], *to = &m->blocks.at[d->to];
    for (uint32_t i = 0; i < to->instrs.n; i++) {
        Ref r = to->instrs.at[i];
        if (m->instrs.at[r].op == OP_PHI) become_select(m, r, cond, swapped);
        append(m, d->from, r);
    }
    from->nsucc = to->nsucc;
    for (uint32_t s = 0; s < to->nsucc; s++) {
        from->succ[s] = to->succ[s];
        Block *after = &m->blocks.at[to->succ[s]];
        for (uint32_t k = 0; k < after->preds.n; k++)
            if (after->preds.at[k] == d->to) after->preds.at[k] = d->from;
    }
    to->instrs.n = to->nsucc = 0;
    to->dead = true;
}

void pass_selects(IrModule *m) {
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, m->blocks.n);
    uint32_t n = ir_postorder(m, order); /* inner ones first */
    for (uint32_t i = 0; i < n; i++) {
        Diamond d;
        while (find_diamond(m, order[i], &d)) join(m, &d);
    }
}
