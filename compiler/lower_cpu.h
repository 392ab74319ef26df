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
    LLVMBasicBlockRef loop[3];             /* their heads */
} CpuState;

Ty cpu_pointer(Lower *L);
Val cpu_field(Lower *L, Ty t, Val base, size_t offset, const char *name);   /* loads *(base + offset) */
/* Whether y and z of the threads (SREG_TID_X) or blocks (SREG_CTAID_X) are looked at; an exception and a print say all. */
bool cpu_looks_at_yz(const IrModule *m, Sreg x);
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

#endif
