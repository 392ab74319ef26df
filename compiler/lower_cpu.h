/* lower_cpu.h - what the two forms of CPU kernels share: loops over blocks and threads (lower_cpu.c), regions between
 * waits (lower_cpu_regions.c). */
#ifndef GPU_LOWER_CPU_H
#define GPU_LOWER_CPU_H

#include "lower.h"

typedef struct CpuState {
    Val range; /* the function */
    Val grid[3], block[3], block_at[3], thread[3];
    Val number, first, last;               /* of the block in the launch */
    unsigned block_dims;                   /* how many of block_at[] are kept */
    LLVMBasicBlockRef blocks, latch, exit; /* head of the loop over blocks; end of one thread; return */
    Val dynamic_shared;                    /* bytes of the launch */
    Val count[3];                          /* rounds of the loops over x, y, z; no loop over z if NULL */
    unsigned loops;                        /* loops over threads, x first; the next dimension counts in that over blocks */
    LLVMBasicBlockRef loop[3];             /* their heads */
    Val step, until;                       /* variables of vectors: threads done in this round; see lower_vectors */
    Val raised;                            /* ... the lowest lane that has raised; NULL: the kernel doesn't raise */
} CpuState;

Ty cpu_pointer(Lower *L);
Val cpu_part(Lower *L, Val v, unsigned first, unsigned n);   /* of a vector */
Val cpu_joined(Lower *L, Val a, Val b);
Val cpu_field(Lower *L, Ty t, Val base, size_t offset, const char *name);   /* loads *(base + offset) */
/* Whether y and z of the threads (SREG_TID_X) or blocks (SREG_CTAID_X) are looked at; an exception and a print say all. */
bool cpu_looks_at_yz(const IrModule *m, Sreg x);
void cpu_count_rounds(Lower *L);                                            /* sets L->cpu->count */
void cpu_describe_pointer(Lower *L, const IrParam *p, uint32_t index);      /* attributes of parameter `index` of L->fn */
/* Loads the launch's parameters from the buffer `from` to args[]. */
void cpu_load_params(Lower *L, Val from, Val *args);
Val cpu_param(Lower *L, uint32_t index);
Val cpu_sreg(Lower *L, Sreg r);
Val cpu_library(Lower *L, const MathInfo *fn, Type t, Ty result, unsigned n, Val *args);
Val cpu_clock(Lower *L, const Instr *in);
void cpu_where(Lower *L, Val *out);
void cpu_load_print(Lower *L, Val from, size_t offset);                     /* L->print, from a PrintTarget at from + offset */
void cpu_keep_variants(Lower *L);

/* ---- lower_cpu_vector.c ---- */

/* How a value is held: one for all lanes; the first lane's, from which it grows by a constant; a vector. */
typedef enum LaneKind { LANE_SCALAR, LANE_FIRST, LANE_VECTOR } LaneKind;

/* A region, or a whole kernel. */
typedef struct VectorRegion {
    BlockId start;
    const BlockId *blocks;           /* in any order */
    uint32_t n;
    const bool *ends;                /* by block: the region ends in it with a wait */
    bool *ready;                     /* by Ref: computed by `prepare` */
    void (*prepare)(Lower *L);       /* at the start of each body: variables, values that are computed again. May be NULL */
    void (*wait)(Lower *L, Ref sync);
    Val stop;                        /* variable: no vector of this row has anything to do any more. NULL: nobody asks */
    bool (*idle)(Lower *L, BlockId from);   /* a thread that goes there does nothing more in the region */
} VectorRegion;

/* The code for the lanes from c->thread[0] on, below c->block[0]. Each way leads to c->latch, with c->step set. */
void lower_vectors(Lower *L, const VectorRegion *g);
void lanes_variables(Lower *L);      /* makes c->step, c->until, c->raised */
void lanes_leave_if_raised(Lower *L, LLVMBasicBlockRef to);   /* at the latch */
void lanes_begin_row(Lower *L);      /* before a loop over x */
/* The same in parts, for a caller with loops of its own around each body: if no guard can send the full one to the other. */
bool lanes_may_part(const Lower *L, const VectorRegion *g);
Val lanes_are_full(Lower *L);
void lower_lanes(Lower *L, const VectorRegion *g, bool full);
Val lower_warp(Lower *L, Ref r);     /* lower_cpu_warp.c */
LaneKind lane_kind(const Lower *L, Ref r);
Val lanes_value(Lower *L, Ref r);    /* as a vector */
void lanes_again(Lower *L, Ref r);
Val lanes_splat(Lower *L, Val v);
Val lanes_on(Lower *L);              /* the mask of lanes that exist and haven't raised; NULL: all */
Ty lanes_type(const Lower *L, Ref r);/* as the value is held */
Val lanes_steps(const Lower *L, Ty t, uint64_t step);        /* 0, step, 2 * step ... */
Val lanes_bits(Lower *L, Val mask);                         /* as an integer */
Val lanes_both(Lower *L, Val mask, Val cond);               /* mask NULL: all; lanes that are off don't matter */
Val lanes_variable(Lower *L, Ty t, const char *name);
Val lanes_load(Lower *L, Ty element, unsigned align, Val at, Val mask);
void lanes_store(Lower *L, Val v, unsigned align, Val at, Val mask);
void lanes_scatter(Lower *L, Val v, unsigned align, Val first, uint64_t stride);  /* for lanes that exist */

#endif
