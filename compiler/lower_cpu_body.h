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
    Val on_variable; /* ... and haven't raised; NULL: nobody raises in this body */
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

Val lanes_first_on(Lower *L, Val mask);         /* i64 */
Val lanes_full_mask(Lower *L, Val mask);        /* ... as a value, where NULL means all */
void lanes_instr(Lower *L, Ref r);              /* code for an instruction that ends no block */
/* The operand that PHIs of the k-th successor of `from` take. */
uint32_t lanes_operand_of(const Lower *L, BlockId from, uint32_t k);

/* ---- lower_cpu_single.c ---- */
/* Where the elements of a vector lie, for lanes_one; NULL: it is none. */
Val lanes_spill(Lower *L, Ref r);
Val lanes_one(Lower *L, Ref r, Val spilled, Val lane);   /* a lane's value */
Val lanes_single(Lower *L, Ref r);                       /* for the lanes that are on, the lowest first */

/* ---- lower_cpu_raise.c ---- */
bool lanes_raise_from(const Lower *L, BlockId b);        /* one way from b can only raise */
void lanes_raise_together(Lower *L, BlockId b, uint32_t k);
Val lanes_raise(Lower *L, BlockId b, Val cond);
void lanes_raise_elsewhere(Lower *L, BlockId b, Ref cond);
bool lanes_may_raise(const Lower *L);
void lanes_raise_variable(Lower *L);                     /* makes c->raised */

Verdict lanes_judge(Lower *L, Ref cond);        /* lower_cpu_guard.c */
Val lanes_false_behind(Lower *L, Ref cond);     /* ... for all vectors that follow along x; NULL: that isn't known */

#endif
