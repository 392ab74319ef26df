/* loops.c - natural loops. See loops.h. */
#include "loops.h"

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
