/* warpsteps.c - shared memory in which threads of a warp read what others of it have just written.
 *
 * needs: simplify (an address has one name)      keeps: everything but MEM_ORDERED of loads
 *
 *     if t < 32:
 *         s[t] += s[t + 32]
 *         s[t] += s[t + 16]
 *         s[t] += s[t + 8]
 *
 * Threads of a warp needn't be in step, but many programs were written when they were, or as if. On GPUs they mostly
 * are, and such programs come out right if the code has each of these stores before the load behind it; LLVM would keep
 * the last store alone, since nobody else can have seen the others. So a load is ordered if a store to elsewhere in
 * shared memory comes before it with no wait in between. */
#include "ir.h"

#include <string.h>

/* What was written since the last wait: 0 for nothing, an address, or SEVERAL. */
static const Ref SEVERAL = UINT32_MAX;

static Ref either(Ref a, Ref b) { return !a || a == b ? b : !b ? a : SEVERAL; }

static bool is_shared(const IrModule *m, const Instr *in, Op op) {
    return in->op == op && m->instrs.at[in->args[0]].type == T_PTRS;
}

/* What a block leaves written. written: the same of each block so far. */
static Ref walk(IrModule *m, BlockId id, const Ref *written, bool mark) {
    const Block *b = &m->blocks.at[id];
    Ref here = 0;
    for (uint32_t p = 0; p < b->preds.n; p++) here = either(here, written[b->preds.at[p]]);
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        Instr *in = &m->instrs.at[b->instrs.at[i]];
        if (op_info[in->op].flags & SYNC) here = 0;
        if (is_shared(m, in, OP_STORE)) here = either(here, in->args[0]);
        if (mark && here && is_shared(m, in, OP_LOAD) && here != in->args[0]) in->sub |= MEM_ORDERED;
    }
    return here;
}

static bool has_any(const IrModule *m, Op op) {
    for (BlockId b = 0; b < m->blocks.n; b++)
        for (uint32_t i = 0; !m->blocks.at[b].dead && i < m->blocks.at[b].instrs.n; i++)
            if (is_shared(m, &m->instrs.at[m->blocks.at[b].instrs.at[i]], op)) return true;
    return false;
}

void pass_warpsteps(IrModule *m) {
    if (!has_any(m, OP_STORE) || !has_any(m, OP_LOAD)) return;
    uint32_t n = m->blocks.n;
    Ref *written = ARENA_ARRAY(m->arena, Ref, n);
    memset(written, 0, n * sizeof *written);
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, n);
    uint32_t count = ir_postorder(m, order);
    for (bool again = true; again;) { /* each block changes twice at most */
        again = false;
        for (uint32_t i = count; i > 0; i--) {
            Ref now = walk(m, order[i - 1], written, false);
            again |= now != written[order[i - 1]];
            written[order[i - 1]] = now;
        }
    }
    for (uint32_t i = 0; i < count; i++) walk(m, order[i], written, true);
}
