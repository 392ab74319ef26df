/* lower_cpu_body.h - the code for one vector of threads, while it is made: lower_cpu_vector.c, lower_cpu_guard.c. */
#ifndef GPU_LOWER_CPU_BODY_H
#define GPU_LOWER_CPU_BODY_H

#include "lower_cpu.h"
#include "vectors.h"

struct Body {
    const Vectors *v;
    const Uniformity *u;
    unsigned lanes;
    bool full;
    Val on;      /* lanes that exist; NULL: all */
    Val now;     /* lanes of the block that is being lowered; NULL: all */
    bool parted; /* ... of a block with a mask of its own */
    const VectorRegion *region;
    BlockId *order; /* the region's blocks */
    uint32_t n;
    uint32_t *group;          /* by block: a chain, named by one of its blocks */
    BlockId *exit;            /* by chain: where all meet again; NO_BLOCK: they end */
    Val *mask;                /* by block: the variable */
    Val *incoming;            /* by Ref of a PHI: the variable that edges write */
    LLVMBasicBlockRef *after; /* by block: behind it in its chain */
    LLVMBasicBlockRef other;  /* the masked body */
};

/* What a guard says of the vector's lanes; at most one is true. */
typedef struct Verdict {
    Val all, none;
} Verdict;

Val lanes_held(Lower *L, Ref r);                /* the value as it is held: a scalar, the first lane's, or a vector */
/* Is one of a mask on; are all? */
Val lanes_any(Lower *L, Val mask);
Val lanes_all(Lower *L, Val mask);

Verdict lanes_judge(Lower *L, Ref cond);        /* lower_cpu_guard.c */
Val lanes_false_behind(Lower *L, Ref cond);     /* ... for all vectors that follow along x; NULL: that isn't known */

#endif
