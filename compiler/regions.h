/* regions.h - a kernel cut at the places where its threads wait for each other, for the CPU.
 *
 * A region is what a thread runs from one wait to the next: region 0 starts at the kernel's entry, region k + 1 behind cut
 * k. Values that live across a cut are kept in slots of a frame. */
#ifndef GPU_REGIONS_H
#define GPU_REGIONS_H

#include "ir.h"

typedef struct Cut {
    Ref sync;            /* the operation that waits */
    BlockId next;        /* where its thread goes on: a block of one predecessor, without PHIs */
} Cut;

#define NO_SLOT UINT32_MAX

typedef struct Regions {
    VEC(Cut) cuts;
    /* By Ref: where the value lies in the frame, NO_SLOT if it lives across no cut or is computed again. Bytes: of a
     * thread's frame, to be multiplied by the number of threads; of the block's own frame, if `shared`. */
    uint32_t *slot;
    bool *shared;        /* by Ref: one slot for the block, since all threads have the same value there */
    bool *again;         /* by Ref: made of what every region can compute: constants, parameters, indices */
    uint32_t thread_bytes, block_bytes;
    bool uniform;        /* all threads of a block reach the same cuts in the same order */
    bool *is_cut;        /* by Ref: an operation that waits and stands in cuts[] */
    uint64_t *live;      /* bits by block and Ref: alive at the block's start */
    uint32_t words;      /* of a row of `live` */
} Regions;

/* Splits blocks behind operations that wait and puts a wait on the way back in loops that wait for memory. NULL: the
 * kernel has neither shared memory nor waits. *warps: may a vector of threads be a warp? Then, if it still is, operations of
 * warps aren't waits. */
Regions *ir_regions(IrModule *m, bool *warps);
/* lonewaits.c: of a loop that waits for memory: does one thread of the block at most go round it, and for what other blocks
 * write? The others of its own then needn't run meanwhile. */
struct NaturalLoop;
bool ir_waits_for_other_blocks(IrModule *m, const DomTree *tree, const struct NaturalLoop *l);
/* Is the value computed at the start of each region, wherever its place in the kernel is? */
static inline bool regions_start_with(const Regions *r, const IrModule *m, Ref value) {
    return r->again[value] || m->instrs.at[value].op == OP_ALLOCA;
}
/* Does a block run from its start to its end without the runtime? Of its waits that has a part in all but barriers. */
static inline bool regions_straight(const Regions *r, const IrModule *m) {
    for (uint32_t i = 0; i < r->cuts.n; i++)
        if (m->instrs.at[r->cuts.at[i].sync].op != OP_BARRIER) return false;
    return r->uniform;
}
/* Is a value with a slot alive at the block's start? */
static inline bool regions_alive(const Regions *r, BlockId at, Ref value) {
    return r->live[(size_t)at * r->words + value / 64] >> value % 64 & 1;
}

#endif
