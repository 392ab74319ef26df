/* vectors.h - a kernel's threads in vectors, for the CPU: what each value is over the lanes of a vector, and which lanes
 * a block is run for.
 *
 * Lanes are threads that follow each other along x. There are two bodies: one for full vectors, in which guards such as
 * `if i < n` lead all lanes the same way, or it is left at once for the other one, where they are masks. The full one may
 * be there twice, with fewer lanes for shorter rows. */
#ifndef GPU_VECTORS_H
#define GPU_VECTORS_H

#include "regions.h"

/* An index that is another one at an edge: `x - 1 if x else last`. The full body takes it to be chosen alike for all lanes:
 * either way, or always the first or the second one, since only that grows from lane to lane. */
typedef enum VectorChoice { CHOICE_NONE, CHOICE_EITHER, CHOICE_FIRST, CHOICE_SECOND } VectorChoice;

typedef struct Vectors {
    unsigned full_lanes, masked_lanes;
    unsigned narrow_lanes;   /* of a full body for rows that are shorter than full_lanes; 0: there is none */
    bool rows;               /* threadIdx.y or z are looked at */
    bool warps;              /* a vector is a warp */
    Uniformity masked, full; /* of the two bodies; `block_divergent`: the block has a mask of its own */
    bool *agree;             /* by block: a guard that the full body takes to lead all lanes the same way */
    uint8_t *choice;         /* by Ref of a SELECT: VectorChoice */
    const uint8_t *unit;     /* by Ref of a pointer into an array of the thread's own: as ir_own_arrays says */
    bool *serial;            /* by block: holds what isn't done in vectors, or not with a gain */
    uint32_t *place;         /* by block: where it comes in an order in which loops hang together, inner ones too */
    uint32_t *last;          /* by loop of `masked`: the place of its last block */
    bool *leaves_block, *leaves_loop; /* by Ref: used in another block than its own; outside of its innermost loop */
} Vectors;

/* NULL: nothing in the kernel is worth it. r: its regions, NULL if it has none. warps: it must be, a vector is a warp. */
Vectors *ir_vectors(IrModule *m, const Regions *r, bool warps);
/* ownarrays.c: by Ref of each ALLOCA, and of pointers made from it: the bytes of an element, the arrays of threads that
 * follow each other being interleaved by elements; 0: of other values. NULL: some array can't be. */
uint8_t *ir_own_arrays(const IrModule *m);
/* Has the kernel operations of warps, and do all lanes of a warp come to each of them together, with one mask? */
bool ir_warps_are_vectors(IrModule *m);

#endif
