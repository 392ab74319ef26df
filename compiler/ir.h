/* ir.h - the kernel IR: a small typed SSA form, the same for every device.
 *
 * An IrModule holds one function: device functions were inlined when the frontend built it. Its
 * values are scalars and pointers only; arrays, tuples and complex numbers were taken apart into
 * their parts. All links are indices, so dumps are stable and side tables are plain arrays.
 *
 * Conventions of this zone: passes return nothing; a broken invariant is an assert (ir_verify says
 * which in words). Memory comes from the module's arena. No LLVM, no Python, no device here. */
#ifndef GPU_IR_H
#define GPU_IR_H

#include "../runtime/image.h"
#include "arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum Type {
#define TYPE(name, text, bytes, kind) T_##name,
#include "types.def"
#undef TYPE
    T__COUNT
} Type;

typedef enum TypeKind { KIND_VOID, KIND_BOOL, KIND_INT, KIND_UINT, KIND_FLOAT, KIND_PTR } TypeKind;

typedef struct TypeInfo { const char *text; uint8_t bytes; TypeKind kind; } TypeInfo;
extern const TypeInfo type_info[T__COUNT];

static inline TypeKind type_kind(Type t) { return type_info[t].kind; }
static inline unsigned type_bytes(Type t) { return type_info[t].bytes; }
static inline unsigned type_bits(Type t) { return t == T_BOOL ? 1u : type_bytes(t) * 8u; }
static inline bool type_is_int(Type t) { return type_kind(t) == KIND_INT || type_kind(t) == KIND_UINT; }
static inline bool type_is_signed(Type t) { return type_kind(t) == KIND_INT; }
static inline bool type_is_float(Type t) { return type_kind(t) == KIND_FLOAT; }
static inline bool type_is_ptr(Type t) { return type_kind(t) == KIND_PTR; }

typedef enum Op {
#define OP(name, args, flags, typing, types, meaning) OP_##name,
#include "ops.def"
#undef OP
    OP__COUNT
} Op;

/* Flags of an operation, the columns of ops.def. */
enum { PURE = 1, COMMUTES = 2, READS = 4, WRITES = 8, ENDS = 16, IMM = 32 /* has an immediate operand, `imm` */,
       SYNC = 64 /* waits for other threads: cuts a region on the CPU */ };
typedef enum Typing { TYPING_SAME, TYPING_CMP, TYPING_CONV, TYPING_SELECT, TYPING_FREE, TYPING_VOID } Typing;
enum { TAKES_INT = 1, TAKES_FLOAT = 2, TAKES_BOOL = 4, TAKES_PTR = 8, TAKES_ANY = 15 };
#define OP_VAR (-1)

typedef struct OpInfo {
    const char *name;      /* as in ops.def; the text form has it in lower case */
    int8_t args;           /* OP_VAR: any number */
    uint8_t flags;
    Typing typing;
    uint8_t takes;
    const char *meaning;
} OpInfo;
extern const OpInfo op_info[OP__COUNT];

typedef enum Pred { PRED_EQ, PRED_NE, PRED_LT, PRED_LE, PRED_GT, PRED_GE, PRED__COUNT } Pred;

/* Special registers. All are i32; ranges are CUDA's limits. */
typedef enum Sreg {
    SREG_TID_X, SREG_TID_Y, SREG_TID_Z,
    SREG_NTID_X, SREG_NTID_Y, SREG_NTID_Z,
    SREG_CTAID_X, SREG_CTAID_Y, SREG_CTAID_Z,
    SREG_NCTAID_X, SREG_NCTAID_Y, SREG_NCTAID_Z,
    SREG_LANEID,
    SREG_DYNAMIC_SHARED,   /* bytes of dynamic shared memory of the launch */
    SREG__COUNT
} Sreg;
extern const char *const sreg_names[SREG__COUNT];     /* "tid.x" ... */

typedef enum MathFn {
#define MATHFN(name, ...) MATH_##name,
#include "mathfn.def"
#undef MATHFN
    MATH__COUNT
} MathFn;
typedef enum ApproxFn {
#define APPROXFN(name, ...) APPROX_##name,
#include "approxfn.def"
#undef APPROXFN
    APPROX__COUNT
} ApproxFn;
extern const char *const approxfn_names[APPROX__COUNT];   /* lower case */
extern const uint8_t approxfn_args[APPROX__COUNT];
extern const uint8_t approxfn_exact[APPROX__COUNT];       /* MathFn; MATH__COUNT: a division */

extern const char *const mathfn_names[MATH__COUNT];   /* lower case */
extern const uint8_t mathfn_args[MATH__COUNT];

/* `sub` of integer ADD, SUB and MUL: wherever the result matters, the exact one fits the type. */
enum { ARITH_NO_WRAP = 1 };
/* `sub` of divisions and remainders of signed integers: the divisor is above 0; the dividend isn't below 0. Of remainders
 * by a divisor above 0: the dividend isn't below -divisor; nor that, and it is below 2 * divisor, or below divisor. */
enum { DIVIDE_BY_POSITIVE = 1, DIVIDE_NO_SIGN = 2, DIVIDE_FROM_MINUS = 4, DIVIDE_ONCE = 8, DIVIDE_BELOW = 16 };

/* `sub` of ADDR: one of several steps to an address, of which some may lead out of the array. */
enum { ADDR_STEP = 1 };

/* `sub` of LOAD and STORE. */
enum { MEM_UNALIGNED = 1, MEM_VOLATILE = 2, MEM_INVARIANT = 4 /* nobody writes it during the launch */,
       /* hints for global memory, at most one: in L2 alone, used once, not used again. They change no result */
       MEM_L2 = 8, MEM_STREAM = 16, MEM_LAST = 32, MEM_HINTS = MEM_L2 | MEM_STREAM | MEM_LAST,
       /* the address is a multiple of so many bytes, at most one: neighbours can be one access */
       MEM_ALIGN2 = 64, MEM_ALIGN4 = 128, MEM_ALIGN8 = 256, MEM_ALIGN16 = 512, MEM_ALIGNS = 15 * MEM_ALIGN2,
       MEM_ORDERED = 1024 /* LOAD: other lanes may count on what was stored before it */ };
static inline uint16_t mem_align_flag(unsigned bytes) { return (uint16_t)(bytes * (MEM_ALIGN2 / 2)); }
static inline unsigned mem_align(uint16_t sub) { return (sub & MEM_ALIGNS) / (MEM_ALIGN2 / 2); }     /* 0: of its type */

/* `sub` of ATOMIC: ATOMIC_SUB_OF(op, scope, order); of CAS: ATOMIC_SUB_OF(0, scope, order); of FENCE: a Scope, and
 * FENCE_LIGHT if it need only acquire and release.
 * MIN and MAX store the operand if it is less (greater) than what is there: a NaN on either side changes nothing. FMIN and
 * FMAX take the number if one of them is NaN. INC: old >= v ? 0 : old + 1. DEC: old == 0 || old > v ? v : old - 1.
 * AtomicOp, and BarrierRed, Shuffle, Vote and Match of the operations that wait, stand in image.h: the CPU's runtime does them. */
typedef enum Scope { SCOPE_DEVICE, SCOPE_BLOCK, SCOPE_SYSTEM, SCOPE__COUNT } Scope;
typedef enum Order { ORDER_RELAXED, ORDER_ACQUIRE, ORDER_RELEASE, ORDER_ACQ_REL, ORDER_SEQ_CST, ORDER__COUNT } Order;
enum { FENCE_LIGHT = SCOPE__COUNT, FENCE__COUNT = 2 * SCOPE__COUNT };
#define ATOMIC_SUB_OF(op, scope, order) ((uint16_t)((op) | (scope) << 4 | (order) << 6))
static inline AtomicOp atomic_op(uint16_t sub) { return (AtomicOp)(sub & 15); }
static inline Scope atomic_scope(uint16_t sub) { return (Scope)(sub >> 4 & 3); }
static inline Order atomic_order(uint16_t sub) { return (Order)(sub >> 6 & 7); }

typedef enum Clock { CLOCK_CYCLES, CLOCK_TIME, CLOCK__COUNT } Clock;

typedef uint32_t Ref;       /* index into IrModule.instrs; the value it defines */
typedef uint32_t BlockId;   /* index into IrModule.blocks */
#define REF_NONE 0u         /* instrs[0] is unused */

typedef struct Instr {
    uint8_t op;             /* Op */
    uint8_t type;           /* Type of the result, T_VOID if none */
    uint16_t sub;           /* Pred, Sreg, MathFn or MEM_*; ALLOCA: 1 + its place in IrModule.locals, or 0 */
    uint32_t nargs;
    Ref *args;
    uint64_t imm;
    uint32_t span;          /* index into IrModule.spans; 0 = none */
    BlockId block;
} Instr;

typedef VEC(Ref) RefVec;

typedef struct Block {
    RefVec instrs;          /* PHIs first, then the rest; the last one has ENDS */
    BlockId succ[2];
    uint8_t nsucc;
    VEC(BlockId) preds;     /* kept by ir_edges(); PHI operands follow this order */
    bool dead;              /* unreachable: skipped by everything */
} Block;

/* A place in Python source. `func` indexes IrModule.funcs (file and function names). */
typedef struct IrSpan {
    uint32_t func;
    uint32_t line, col, end_line, end_col;   /* lines from 1, columns from 1; 0 = unknown */
    uint32_t inlined_at;                     /* span of the call in the caller; 0 = in the kernel itself */
} IrSpan;

typedef struct IrFuncName { const char *file, *name; uint32_t line /* of its `def`; 0: not known */; } IrFuncName;

/* For debuggers: the type of a variable, and where it is kept. Not part of what the kernel does. */
typedef enum IrVarKind { VAR_NUMBER, VAR_COMPLEX, VAR_POINTER, VAR_STRUCT, VAR_LIST } IrVarKind;
typedef struct IrVarType {
    const char *name;
    uint8_t kind;           /* IrVarKind */
    uint8_t type;           /* Type: of a number, of a part of a complex one, of a pointer */
    bool made;              /* of a pointer: the program has another, which this was made from for the debugger */
    uint32_t bytes, n;      /* n: members of a struct; items of a list */
    const struct IrVarType *const *items;   /* of each member; items[0] of all items of a list, of what a pointer leads to; NULL: of numbers, of void * */
    const char *const *fields;
    const uint32_t *offsets;
} IrVarType;
typedef struct IrVar {
    const char *name;
    const IrVarType *type;
    uint32_t arg;           /* which argument of its function it is, from 1 on; 0: none */
    uint32_t span;          /* where it is assigned first */
    Ref at;                 /* the ALLOCA that holds it */
} IrVar;

/* What one kernel parameter carries. Python arguments are flattened depth first into leaves
 * (scalars and arrays); `leaf` is the number of the leaf. */
typedef enum ParamKind { PARAM_DATA, PARAM_SHAPE, PARAM_STRIDE, PARAM_SCALAR, PARAM_RECORD,
    PARAM_CAPTURED /* address of IrModule.captures[leaf] */ } ParamKind;
enum { PARAM_READONLY = 1, PARAM_NOALIAS = 2, PARAM_WRITTEN = 4, PARAM_READ = 8 };

typedef struct IrParam {
    uint8_t kind;           /* ParamKind */
    uint8_t type;           /* Type; SHAPE and STRIDE (in bytes) are i64 */
    uint8_t flags;
    uint16_t axis;          /* SHAPE, STRIDE: the axis; SCALAR: 0, or 1 for an imaginary part; RECORD: which u64 of its bytes */
    uint16_t leaf;
    uint16_t align;         /* DATA: known alignment of the pointer in bytes */
    const char *name;       /* the argument's Python name */
} IrParam;

/* Constant data: captured arrays that are small. */
typedef struct IrData {
    const void *bytes;
    size_t size;
    uint32_t align;
    bool in_const;
    ImageShared shown;          /* for messages */
} IrData;

/* A captured array that isn't part of the code: whoever launches has it on the device. */
typedef struct IrCapture { const void *bytes; size_t size; } IrCapture;

/* An array in the shared memory of the block. Dynamic ones have no size of their own: all start where the static ones
 * end, and the launch says how many bytes there are. */
typedef struct IrShared {
    uint32_t bytes, align;
    bool dynamic;
    uint32_t span;              /* of what makes it */
    ImageShared shown;          /* for messages */
} IrShared;

/* A place that raises: what the launch turns into a Python exception. */
typedef struct IrSite {
    const char *exception;  /* class name: "ValueError"; the frontend's host maps it back by `host_ref` */
    const char *message;
    void *host_ref;         /* the exception class, opaque */
    const void *args;       /* types of its arguments, opaque: ArgType[nargs]; NULL: the message alone */
    uint32_t nargs;
    uint32_t span;
} IrSite;

/* A function that is compiled elsewhere. */
typedef struct IrForeign {
    const char *symbol;
    void *host_ref;         /* the object that declares it, opaque */
} IrForeign;

/* A place that prints. */
typedef struct IrPrint {
    const char *text;       /* roughly what it prints, for readers */
    const void *args;       /* types of what it shows, opaque: ArgType[nargs] */
    uint32_t nargs;
    uint32_t span;
} IrPrint;

/* Facts that only a launch knows: a specialisation is made for a set of them. */
enum { FACT_SIZE32 = 1, /* every byte extent, sizes of 0 counting as 1, is below 2^31 - FACT_SIZE32_SPARE, every grid * block
                           product below 2^31, and at most FACT_SIZE32_GRID blocks along x, so that blockIdx.x * 1024 is
                           below 2^31, too */
       FACT_ALIGN16 = 2, /* every array's data pointer is 16-byte aligned */
       FACT_NOALIAS = 4, /* no array that is written overlaps another */
       FACT_WARPS = 8,   /* 32 threads that follow each other along x, from a multiple of 32 on, are a warp; kept where it matters */
       FACT_ROW = 32,    /* a block has one row of threads; kept where it matters */
       FACT_COUNTS = 16  /* there are i64 scalars, and all are counts: 0 to 2^31 - 1 */ };

enum { FACT_SIZE32_SPARE = 1 << 24, FACT_SIZE32_GRID = 1 << 21 };
enum { MOST_RESULTS = 64 };

typedef struct IrModule {
    Arena *arena;
    const char *name;               /* the kernel's symbol: [A-Za-z0-9_$] only */
    VEC(Instr) instrs;
    VEC(Block) blocks;              /* blocks[0] is the entry; it has no predecessors */
    VEC(IrParam) params;
    VEC(IrData) data;
    VEC(IrCapture) captures;
    VEC(IrShared) shared;
    VEC(ImageShared) locals;        /* arrays of ALLOCAs, for messages */
    VEC(IrSite) sites;
    VEC(IrPrint) prints;
    VEC(IrForeign) foreign;
    VEC(IrSpan) spans;              /* spans[0] is unused */
    VEC(IrFuncName) funcs;          /* funcs[0] is the kernel */
    VEC(IrVar) vars;                /* of a kernel that is compiled for a debugger */
    uint32_t facts;
    bool host_function;             /* called from Python with scalars: RET has results, no thread indices */
    Type results[MOST_RESULTS];     /* host_function: types of RET's operands */
    uint32_t nresults;
} IrModule;

/* Dominators, by block: the immediate one (0 for the entry and dead blocks), and the block's place in a walk over the tree
 * with the number of blocks that it dominates, so that a question costs one comparison. */
typedef struct DomTree {
    BlockId *idom;
    uint32_t *at, *size;
} DomTree;

/* ---- ir.c: building ------------------------------------------------------------------------ */
IrModule *ir_new(Arena *arena, const char *name);
BlockId ir_block(IrModule *m);                                       /* a new empty block */
Ref ir_emit(IrModule *m, BlockId b, Op op, Type type, uint32_t nargs, const Ref *args,
            uint16_t sub, uint64_t imm, uint32_t span);              /* appends; PHIs go in front */
Ref ir_const(IrModule *m, BlockId b, Type type, uint64_t bits, uint32_t span);
void ir_edges(IrModule *m);          /* recomputes preds and `dead`; PHI operands of lost edges go */
uint32_t ir_postorder(const IrModule *m, BlockId *order);            /* returns the count; order[] has room for blocks.n */
DomTree ir_dominators(const IrModule *m);                            /* in the module's arena */
bool ir_is_division(Op op);          /* the quotient or the remainder, rounded down or to zero */
bool ir_is_warp_op(Op op);           /* waits for lanes of a warp, not for a block */
Sreg ir_sreg_of(const IrModule *m, Ref r);   /* the register that r is, through conversions that keep it; SREG__COUNT: none */
Ref ir_terminator(const IrModule *m, BlockId b);                     /* the last instruction if it ENDS, else REF_NONE */
bool ir_dominates(const DomTree *t, BlockId a, BlockId b);           /* a dominates b (also a == b); both live */
/* Where the block's static shared arrays lie (offsets[], one for each; may be NULL): their bytes, up to where dynamic ones may begin. */
uint32_t shared_layout(const IrModule *m, uint32_t *offsets);
unsigned type_takes(Type t);                                         /* the TAKES_ flag of its kind; 0: none */
uint64_t ir_wrap(Type t, uint64_t bits);    /* an integer constant at the width of t, sign- or zero-extended to 64 */

/* ---- irtext.c: the text form ---------------------------------------------------------------- */
void ir_print(const IrModule *m, FILE *out, bool spans);
char *ir_to_string(const IrModule *m, bool spans);                   /* in the module's arena */
IrModule *ir_parse(Arena *arena, const char *text, char **error);    /* NULL and a message with line */
char *ir_verify(const IrModule *m);                                  /* NULL, or what is wrong, in words */

/* ---- floats.c: values of every float type as doubles (exact), and back, rounded once ---------- */
double ir_bits_to_double(Type t, uint64_t bits);
uint64_t ir_double_to_bits(Type t, double v);    /* nearest, ties to even */

/* ---- passes: one file each ------------------------------------------------------------------ */
bool ir_fold(Op op, Type t, uint16_t sub, Type arg_type, uint32_t nargs, const uint64_t *args, uint64_t *out);
void pass_simplify(IrModule *m);    /* simplify.c: fold, algebra, common subexpressions, dead code, CFG clean-up */
void pass_ranges(IrModule *m);      /* ranges.c: drops wrap-around checks, narrows index arithmetic to 32 bits */
void pass_params(IrModule *m);      /* params.c: drops unused parameters, sets READ and WRITTEN, INVARIANT */
void pass_waits(IrModule *m);       /* waits.c: loads that a loop waits for are volatile */
void pass_latches(IrModule *m);     /* latches.c: one block from which each loop begins again */
void pass_ahead(IrModule *m);       /* ahead.c: divisions that are the same for a block's threads, in front */
void pass_selects(IrModule *m);     /* selects.c: ways that only choose a value become selects */
void pass_sweeps(IrModule *m);      /* sweeps.c: threads go together round loops in which they go over memory side by side */
void pass_wraps(IrModule *m);       /* wraps.c: indices that may count from the end, in fewer instructions */
void pass_warpsteps(IrModule *m);   /* warpsteps.c: loads of shared memory that others may have written with no wait since are ordered */
void pass_chains(IrModule *m);      /* chains.c: addresses in loops in steps, what is fixed first */

/* uniform.c: what differs between the threads of a block. */
typedef enum Shape { SHAPE_CONST, SHAPE_BLOCK, SHAPE_AFFINE, SHAPE_VARYING } Shape;
typedef struct IrLoop { BlockId header; uint32_t parent; bool divergent; } IrLoop;
typedef struct Uniformity {
    uint8_t *value;          /* Shape of each Ref */
    int64_t *stride;         /* SHAPE_AFFINE: step with threadIdx.x */
    bool *exact;             /* SHAPE_AFFINE: it didn't wrap on the way */
    bool *block_divergent;   /* a block that only some threads of the thread block may reach */
    bool *doomed;            /* a block from which every way raises: the launch fails, nobody waits for who comes there */
    uint32_t *loop_of;       /* by block: the innermost loop; 0: none */
    IrLoop *loops;           /* from 1; parent 0: none */
    uint32_t nloops;
    bool irreducible;        /* then there are no loops, and everything varies */
} Uniformity;
/* The same question for the lanes of a vector, which run in lock step. */
typedef struct IrLanes {
    bool warps;              /* a vector is a warp: 32 lanes, the first one's threadIdx.x is a multiple of 32 */
    const bool *agree;       /* by block: its branch is known to lead all lanes the same way */
    const uint8_t *choice;   /* by Ref of a SELECT: VectorChoice of vectors.h; may be NULL */
    const uint8_t *unit;     /* ir_own_arrays of vectors.h; NULL: each thread's arrays lie apart */
    const Uniformity *floor; /* values in kept[] (by Ref; may be NULL) are no better than here */
    const bool *kept;
} IrLanes;
Uniformity ir_uniformity(IrModule *m, const IrLanes *lanes);   /* lanes NULL: all threads of a block */

#endif
