/* latches.c - one way back to the head of each loop.
 *
 * Where several blocks jump to the head (`continue`, an `if` at the end), LLVM takes the loop for two, one in the
 * other, when some variables keep their values on one of the ways. Threads of a warp that change them would then wait
 * for the others at the end of the inner one: they would never be together again before that. So the ways meet here
 * first. */
#include "ir.h"

static bool is_back_edge(const IrModule *m, const DomTree *tree, BlockId from, BlockId head) {
    return !m->blocks.at[from].dead && ir_dominates(tree, head, from);
}

/* The operands of a head's PHI that come by the ways back become one, by a PHI of the latch. */
static void merge_operands(IrModule *m, Ref phi, const bool *back, BlockId latch) {
    Ref *args = ARENA_ARRAY(m->arena, Ref, m->instrs.at[phi].nargs);
    uint32_t n = 0, kept = 0;
    bool same = true;
    Instr *in = &m->instrs.at[phi];
    for (uint32_t k = 0; k < in->nargs; k++) {
        if (!back[k]) continue;
        args[n++] = in->args[k];
        same = same && args[n - 1] == args[0];
    }
    Ref merged = same ? args[0] : ir_emit(m, latch, OP_PHI, (Type)in->type, n, args, 0, 0, in->span);
    in = &m->instrs.at[phi]; /* ir_emit may have moved them */
    Ref *left = ARENA_ARRAY(m->arena, Ref, in->nargs);
    for (uint32_t k = 0; k < in->nargs; k++)
        if (!back[k]) left[kept++] = in->args[k];
    left[kept++] = merged;
    in->args = left;
    in->nargs = kept;
}

static void add_latch(IrModule *m, BlockId head, const bool *back) {
    BlockId latch = ir_block(m);
    Block *h = &m->blocks.at[head], *l = &m->blocks.at[latch];
    uint32_t kept = 0;
    for (uint32_t k = 0; k < h->preds.n; k++) {
        BlockId p = h->preds.at[k];
        if (!back[k]) {
            h->preds.at[kept++] = p;
            continue;
        }
        Block *from = &m->blocks.at[p];
        from->succ[from->succ[0] == head ? 0 : 1] = latch;
        VEC_PUSH(m->arena, &l->preds, p);
    }
    h->preds.n = kept;
    VEC_PUSH(m->arena, &h->preds, latch);
    l->succ[0] = head;
    l->nsucc = 1;
    for (uint32_t i = 0; i < m->blocks.at[head].instrs.n; i++) {
        Ref r = m->blocks.at[head].instrs.at[i];
        if (m->instrs.at[r].op != OP_PHI) break;
        merge_operands(m, r, back, latch);
    }
    ir_emit(m, latch, OP_JUMP, T_VOID, 0, NULL, 0, 0, m->instrs.at[ir_terminator(m, head)].span);
}

void pass_latches(IrModule *m) {
    DomTree tree = ir_dominators(m);
    uint32_t blocks = m->blocks.n; /* new ones aren't heads */
    for (BlockId head = 0; head < blocks; head++) {
        const Block *h = &m->blocks.at[head];
        if (h->dead) continue;
        bool *back = ARENA_ARRAY(m->arena, bool, h->preds.n);
        uint32_t ways = 0;
        for (uint32_t k = 0; k < h->preds.n; k++) {
            back[k] = h->preds.at[k] < blocks && is_back_edge(m, &tree, h->preds.at[k], head);
            ways += back[k];
        }
        if (ways > 1) add_latch(m, head, back);
    }
    ir_edges(m);
}
