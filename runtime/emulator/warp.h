/* warp.h - a running warp: what an operation (LaneFn) sees, and how it reads and writes lanes. */
#ifndef EMU_WARP_H
#define EMU_WARP_H

#include "memory.h"
#include "ptx.h"

/* A call's registers and place in local memory. Threads of a warp that called together share one. */
typedef struct Frame {
    struct Frame *parent;
    struct Frame *made;        /* the one that was made before */
    const PtxFunc *func;
    uint8_t *regs;             /* func->frame_bytes, 64-byte aligned */
    uint32_t return_pc, call;  /* of the caller; index into PtxCode.calls */
    uint32_t lanes;            /* that haven't returned */
    uint32_t depth, local_base;   /* local_base: where the function's locals start in each lane's local memory */
    uint32_t carry;            /* CC.CF of each lane */
    uint32_t top;              /* where local memory is free: behind the locals and what alloca took */
} Frame;

typedef struct Block Block;
typedef struct Run Run;

struct Warp {
    uint8_t *file[FILE_COUNT]; /* where the current frame's registers, the module's constants and the special registers are */
    Frame *frame;
    Block *block;
    Run *run;                  /* the launch */
    uint32_t index;            /* in the block */
    uint32_t exist;            /* lanes that are threads of the block */
    uint32_t lanes;            /* of the fragment that runs: what activemask tells */
    uint8_t *local;            /* local memory: lane by lane, run->local_bytes each */
    uint8_t *special;          /* FILE_SPECIAL, see SpecialReg */
    struct Scheduler *scheduler;   /* fragments: schedule.c */
    AccessCache *cache;        /* CACHED_ALLOCS of them: the allocations that were used lately, by instruction */
    bool watching;             /* accesses are to be checked or counted beyond their bounds: watch.c */
    bool observed;             /* memory that others may change was read since the last jump back */
};
enum { CACHED_ALLOCS = 16 };

/* Special registers, each an array of 32 values of 8 bytes (read at their declared width, little endian: so 4-byte reads
 * need stride 8: layout.c gives 4-byte ones an array of 4-byte lanes). X(name, spelling, bytes): special.def. */
typedef enum SpecialReg {
#define SPECIAL(name, spelling, bytes) SR_##name,
#include "special.def"
    SR_COUNT
} SpecialReg;
enum { SPECIAL_BYTES = 8 * WARP };     /* room of each; register r lies at r * SPECIAL_BYTES */

/* Lanes of an operand to read or write. Predicates: a pointer to the mask. */
static inline void *lanes(const Warp *w, const PtxOperand *o) { return w->file[o->file] + o->off; }

static inline uint32_t pred_get(const Warp *w, const PtxOperand *o) {
    uint32_t m = *(const uint32_t *)lanes(w, o);
    return o->flags & OPERAND_NOT ? ~m : m;
}
/* Changes only the lanes in `mask`. */
static inline void pred_set(const Warp *w, const PtxOperand *o, uint32_t mask, uint32_t value) {
    uint32_t *m = lanes(w, o);
    *m = (*m & ~mask) | (value & mask);
}

/* For each lane i of mask: with all lanes on it is a plain loop that the C compiler vectorises. */
#define EACH_LANE(mask, i, ...)                                                                                                    \
    do {                                                                                                                           \
        if ((mask) == UINT32_MAX) {                                                                                                \
            for (int i = 0; i < WARP; i++) { __VA_ARGS__; }                                                                        \
        } else {                                                                                                                   \
            for (uint32_t left_ = (mask); left_; left_ &= left_ - 1) { int i = __builtin_ctz(left_); __VA_ARGS__; }                 \
        }                                                                                                                          \
    } while (0)

/* Registers may be wider than the instruction's type (cvt.u8.u32 %rs1, ld.u8 %r1): these read and write any width. */
uint64_t lane_get(const Warp *w, const PtxOperand *o, int lane);                 /* zero-extended from the register */
void lane_set(const Warp *w, const PtxOperand *o, int lane, uint64_t bits);      /* cut to the register */

/* ---- faults ------------------------------------------------------------------------------------ */

typedef enum FaultKind {
#define FAULT(name, cuda_error, text) FAULT_##name,
#include "faults.def"
    FAULT_COUNT
} FaultKind;

/* Ends the launch: the first fault is kept, with the place. `address` and `bytes` of a memory access, else 0. */
_Noreturn void fault(Warp *w, const PtxInst *in, int lane, FaultKind kind, Space space, uint64_t address, uint32_t bytes);

/* address.c: takes local memory, so that a thread needs more than its functions say. */
bool is_alloca(const PtxInst *in);

_Static_assert(SR_COUNT <= 64, "PtxFunc.specials has a bit for each");

/* select functions of all opcodes: declared here from the table. */
#define PTX_OP(name, flags, fields, control, select, ...) bool select(const PtxForm *f, PtxInst *in);
#include "ptxops.def"

#endif
