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

#endif
