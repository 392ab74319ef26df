/* lower_cpu_regions.h - what CPU kernels whose threads wait are made of: slots, waits, the block's data. Shared by
 * lower_cpu_regions.c (a function for each region) and lower_cpu_block.c (one for the block, where control is uniform). */
#ifndef GPU_LOWER_CPU_REGIONS_H
#define GPU_LOWER_CPU_REGIONS_H

#include "lower_cpu.h"
#include "regions.h"

typedef struct RegionState {
    CpuState cpu;    /* first: L->cpu points here */
    uint32_t number; /* of the region */
    Val block;       /* CpuBlock */
    Val thread;      /* i64, in the block; the first lane's */
    Val capacity, frame, common, shared, states, operands;
    Val next;            /* variable: what uniform control goes on with */
    Val *initial;        /* by Ref: values of the whole block at the start */
    bool *inside;        /* by block: belongs to the region */
    bool *ends;          /* by block: ends with a wait */
    uint32_t *shared_at; /* offsets of the module's shared arrays */
    RefVec kept;         /* values with a variable */
    uint32_t *cut_at;    /* by Ref: of the operation that waits */
    Val *functions;      /* of all regions */
    Val *block_variable; /* by Ref, where control is uniform: values of the whole block */
    Val *own_variable;   /* ... and a thread's copy of them */
    BlockId *order;      /* the region's blocks, in postorder */
    uint32_t n;
    bool *ready;         /* by Ref: computed at the region's start */
} RegionState;

RegionState *region_state(Lower *L);

/* ---- functions ---- */
/* A function that takes the kernel's parameters, block, frame, common, shared, and `more` of type i32. */
Val region_function(Lower *L, const char *name, uint32_t more);
void region_load_block(Lower *L);                /* the fields of CpuBlock, into the state */
/* NAME.entry, which calls one of n functions; `more` of the entry's last parameters are passed on, from `from`. */
void region_entry(Lower *L, uint32_t n, uint32_t from, uint32_t more);

/* ---- a region ---- */
static inline BlockId region_start(const Lower *L, uint32_t k) { return k ? L->regions->cuts.at[k - 1].next : 0; }
Ref region_cause(const Lower *L);                /* the operation that the region follows; REF_NONE at the start */
void region_blocks(Lower *L, uint32_t k);        /* order, n, inside, ends */
bool region_defines(const Lower *L, Ref r);      /* computes it, or gets it from its wait */
bool region_alive(const Lower *L, Ref r);        /* r, which has a slot, lives at the region's start */
Val region_load_slot(Lower *L, Ref r);           /* of the thread, or of all lanes */
void region_store_slot(Lower *L, Ref r);
void region_take_result(Lower *L);               /* of the operation that the region follows */
void region_compute_again(Lower *L);             /* for one thread */
Val region_operand(Lower *L, size_t offset);     /* where a field of the thread's CpuOperand lies */
bool region_stores_at(const Lower *L, uint32_t cut, Ref r);   /* the thread's own value r must be in its slot behind the cut */

void lower_block(Lower *L);                      /* lower_cpu_block.c */

#endif
