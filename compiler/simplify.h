/* simplify.h - what the three files of the simplify pass share: simplify.c (the walk, common
 * subexpressions, dead code), algebra.c (one instruction), cfg.c (blocks). */
#ifndef GPU_SIMPLIFY_H
#define GPU_SIMPLIFY_H

#include "ir.h"

typedef struct Simplify {
    IrModule *m;
    VEC(Ref) same_as; /* REF_NONE, or the value that took this one's place */
    RefVec leaves;    /* CONST, PARAM, SREG, DATA: each once, in front of the entry block */
    uint32_t *table;  /* hash table of values, chained through `next` */
    uint32_t table_mask;
    VEC(Ref) next;
    bool changed;
} Simplify;

/* simplify.c */
Ref simplify_find(Simplify *s, Ref r); /* what r stands for now */
void simplify_replace(Simplify *s, Ref r, Ref by);
Ref simplify_const(Simplify *s, Type t, uint64_t bits); /* a constant of the entry block */

/* algebra.c: changes instruction r in place, or returns the value that it equals; r when there is nothing (more) to do.
 */
Ref simplify_instr(Simplify *s, Ref r);

/* cfg.c */
void cfg_fold_branches(Simplify *s); /* constant conditions, equal successors; then ir_edges */
void cfg_merge_blocks(Simplify *s);  /* empty blocks, straight lines, loops that are none any more */

#endif
