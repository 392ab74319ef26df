/* loops.h - natural loops, for the passes that look at them. */
#ifndef GPU_LOOPS_H
#define GPU_LOOPS_H

#include "ir.h"

typedef struct NaturalLoop {
    BlockId header;
    bool *inside;      /* by block */
    uint32_t size;     /* blocks */
} NaturalLoop;

/* The loop of a header: what reaches one of its latches without passing it. False if it has no latch. */
bool loop_find(const IrModule *m, const DomTree *tree, BlockId header, NaturalLoop *out);

/* Is there a way round the loop on which a thread changes nothing? It writes nothing but by atomic operations, and what
 * the loop's branches are decided by stays as it is: whoever goes this way goes it again, until other threads change
 * memory. *conditions: those of the branches on it. Of loops with very many ways only some are looked at. */
bool loop_idle_way(const IrModule *m, const NaturalLoop *l, RefVec *conditions);

#endif
