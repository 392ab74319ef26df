/* ptx.h - a PTX module as the interpreter runs it: decoded instructions over registers of 32 lanes.
 *
 *   lex.c parse.c      text -> directives, variables, functions, statements
 *   link.c layout.c    sources become one module; shared, local and global variables get their places
 *   decode.c           a statement -> PtxInst; table ptxops.def, spellings of modifiers modifiers.def
 *   ops_*.c            what each instruction does to a warp (LaneFn), chosen by a select function
 *
 * Nothing here knows the compiler: only PTX as the ISA manual defines it. A form that isn't known is refused with its
 * line when the module is loaded. */
#ifndef EMU_PTX_H
#define EMU_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WARP = 32 };

typedef enum PtxType {
#define PTX_TYPE(name, spelling, bytes, kind) PT_##name,
#include "ptxtypes.def"
    PT_COUNT
} PtxType;

typedef enum TypeKind { KIND_NONE, KIND_BITS, KIND_UNSIGNED, KIND_SIGNED, KIND_FLOAT, KIND_PACKED, KIND_PRED } TypeKind;
typedef struct PtxTypeInfo { const char *spelling; uint8_t bytes, kind; } PtxTypeInfo;
extern const PtxTypeInfo ptx_types[PT_COUNT];

typedef enum Space {
    SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST,
    SPACE_PARAM,    /* parameters of a kernel: read-only, the same for all threads */
    SPACE_ARG       /* .param of device functions and around calls: in the lane's local memory */
} Space;

/* ---- modifiers -------------------------------------------------------------------------------- */

/* Each modifier fills in one field of PtxForm; modifiers.def says which. Where PTX allows several orders or spellings
 * (ld.global.relaxed.gpu / ld.relaxed.gpu.global), the form is the same. */
typedef enum ModField {
    MF_FLAG, MF_ROUND, MF_SPACE, MF_SCOPE, MF_SEM, MF_CACHE, MF_VEC, MF_CMP, MF_BOOL, MF_ATOM, MF_MODE, MF_PART,
    MF_SHAPE, MF_COUNT
} ModField;

#define MODIFIER_ENUMS
#include "modifiers.def"    /* enums: FLAG_FTZ ..., ROUND_RN ..., SCOPE_GPU ..., SEM_RELAXED ..., CMP_LT ..., ATOM_ADD ..., MODE_* , PART_WIDE ... */
#undef MODIFIER_ENUMS

typedef struct PtxForm {
    uint8_t ntypes, types[4];   /* as written: cvt.f32.s32 has {F32, S32} */
    uint64_t flags;             /* bits 1 << FLAG_... */
    uint8_t field[MF_COUNT];    /* by ModField; 0: not written */
    uint8_t noperands;          /* how many operands the statement has */
    uint16_t sm;                /* of the device: 75 ... */
} PtxForm;

/* ---- instructions ----------------------------------------------------------------------------- */

/* What decode.c does to operands, so that operations needn't: `_` as a destination is a register that nobody reads; an
 * absent `p` of d|p is FILE_NONE; the address of a global, constant or shared variable is a constant, that of a local
 * or ARG variable one with OPERAND_LOCAL (only mov, addresses and cvta meet it), that of an extern shared array the
 * special register DYNAMIC_SMEM_START; a second address operand has its displacement already added. */

/* Where an operand's 32 lanes lie. A register is an array of 32 values of its width (1-byte ones are kept as 2), a
 * predicate one 32-bit mask. Immediates are such arrays in the module's constants, filled 32 times, so that an
 * operation reads every operand alike. */
typedef enum File { FILE_NONE, FILE_FRAME, FILE_CONST, FILE_SPECIAL, FILE_COUNT } File;

enum { OPERAND_NOT = 1,        /* !%p */
       OPERAND_LOCAL = 2,      /* the value is an offset from the frame's local memory (address of a local or ARG variable) */
       OPERAND_VECTOR = 4,     /* off is an index into PtxCode.vectors, bytes the number of elements */
       OPERAND_PRED = 8,
       OPERAND_PART = 4 };     /* shift of the part of a word that video instructions take: Part */

/* %r1.b0 ... %r1.h1 */
typedef enum Part { PART_ALL, PART_B0, PART_B1, PART_B2, PART_B3, PART_H0, PART_H1 } Part;

typedef struct PtxOperand {
    uint8_t file;              /* File */
    uint8_t bytes;             /* of a lane, as the register was declared: may be wider than the instruction's type */
    uint8_t flags;
    uint32_t off;              /* bytes from the start of the file */
} PtxOperand;

typedef struct Warp Warp;
typedef struct PtxInst PtxInst;

/* Executes for the lanes in `mask` (never 0). */
typedef void (*LaneFn)(Warp *w, const PtxInst *in, uint32_t mask);

/* What the run loop must know: everything but CONTROL_NONE ends a straight run or waits for other lanes. */
typedef enum Control {
    CONTROL_NONE,
    CONTROL_BRA, CONTROL_BRX, CONTROL_CALL, CONTROL_CALL_INDIRECT, CONTROL_RET, CONTROL_EXIT, CONTROL_TRAP,
    CONTROL_BARRIER,           /* bar, barrier: waits for the block */
    CONTROL_WARP,              /* shfl.sync and its kind: waits for the lanes that its mask operand names, then runs fn */
    CONTROL_YIELD,             /* nanosleep */
    CONTROL_CLOCK              /* reads %clock or %globaltimer, which must be brought up to date before fn runs: decode.c */
} Control;

enum { MAX_OPERANDS = 7 };   /* lop3.or.b32 d|p, a, b, c, table, q */

struct PtxInst {
    LaneFn fn;
    PtxOperand o[MAX_OPERANDS];   /* as written; `d|p` are two operands; absent: FILE_NONE */
    int64_t disp;              /* of an address [o + disp] */
    uint32_t guard;            /* @p: offset of the mask in the frame, if has_guard */
    bool has_guard, guard_not;
    uint8_t control;           /* Control */
    uint8_t type[3];           /* PtxType */
    uint8_t space;             /* Space */
    uint8_t vec;               /* registers of a vector access: 1, 2, 4, 8, or fewer if it leaves some out */
    uint8_t unused;            /* bytes at the end of a load that don't count: they may lie behind the memory's end */
    uint8_t mask_operand;      /* CONTROL_WARP: which operand is the member mask */
    uint8_t sub;               /* what the select function wants to tell fn: comparison, operation, mode */
    uint8_t sem, scope;
    bool has_result;           /* atom; red hasn't */
    uint32_t target;           /* BRA: pc; CALL: function index; BRX: index into PtxCode.tables */
    uint32_t call;             /* CALL, CALL_INDIRECT: index into PtxCode.calls */
    uint32_t line;             /* in the PTX text */
    uint32_t loc;              /* index into PtxCode.locs; 0: none */
};

/* A row of ptxops.def. */
typedef enum OperandRule {
    O_NONE, O_T0, O_T1, O_T2, O_WIDE /* T0, with .wide twice as wide */, O_U16, O_U32, O_U64, O_PRED, O_T0_PAIR /* d|p */, O_PRED_PAIR /* p|q */,
    O_ADDRESS, O_VEC /* register or vector of T0 */, O_LABEL, O_FUNCTION, O_ANY /* mov: register, immediate, symbol, vector */,
    O_U32_PAIR,                /* d|p where d has 32 bits whatever the type is (match, elect) */
    O_REGISTERS,               /* registers of any type, one or in braces (mma) */
    O_ALL_LANES,               /* not written: a mask of all lanes, for operations of a whole warp that name none */
    O_RULE = 31,               /* the bits of all these */
    O_OPTIONAL = 64,           /* or-ed: may be left out */
    O_WIDER = 128,             /* or-ed: the register may be wider than the type (cvt); ld and st have it by O_VEC */
    O_SOURCE = 256,            /* or-ed: the first operand is read, not written (nanosleep) */
    O_TYPED = 512,             /* or-ed: only forms with a type have it (bar.red) */
    O_PART = 2048,             /* or-ed: a part of the register may be named: %r1.b0 */
    O_SHARED = 1024            /* or-ed: an address in shared memory, whatever space is written (cp.async) */
} OperandRule;

typedef struct PtxOpcode {
    const char *name;
    uint64_t flags;            /* flags that the opcode knows */
    uint32_t fields;           /* 1 << ModField that it knows */
    uint8_t control;
    uint16_t operands[MAX_OPERANDS];  /* OperandRule */
    /* Sets in->fn (and vec, space, sub, mask_operand, control ...) from the form; false: no such form. in->o is filled in
     * already, so that it may look at the registers' widths. */
    bool (*select)(const PtxForm *f, PtxInst *in);
} PtxOpcode;

/* ---- module ----------------------------------------------------------------------------------- */

typedef struct PtxParam { const char *name; uint32_t offset, bytes, align; uint8_t type; bool is_pointer; } PtxParam;

typedef struct PtxFunc {
    const char *name;
    bool is_kernel, is_extern, is_weak, is_visible;
    uint32_t first, end;       /* pcs */
    uint32_t frame_bytes;      /* registers and predicates */
    uint32_t local_bytes;      /* local variables, ARG variables: of a lane */
    uint32_t shared_bytes;     /* static shared memory that a kernel needs, with that of what it calls */
    uint32_t dynamic_start;    /* a kernel's: where its dynamic shared memory starts, as SR_DYNAMIC_SMEM_START tells */
    PtxParam *params;          /* a device function's: offset is in its local memory */
    uint32_t nparams, param_bytes;
    PtxParam result;           /* bytes 0: none */
    uint64_t specials;         /* special registers that it reads itself, by SpecialReg */
    bool is_leaf;              /* it calls nothing and takes no local memory by alloca */
    uint32_t registers;        /* an estimate of what a GPU would use: most 32-bit values live at once, at least 16 */
    uint32_t max_threads[3], required_threads[3], min_blocks, max_registers;   /* .maxntid .reqntid .minnctapersm .maxnreg; 0: not given */
    uint32_t cluster[3];
    uint32_t line;
} PtxFunc;

/* What a call copies between the frames' local memories: nargs pairs, then the result. */
typedef struct PtxCall {
    uint32_t nargs;
    struct { uint32_t from, to, bytes; } *args;      /* `to` is counted from the callee's parameters in order for indirect calls */
    uint32_t result_to, result_bytes;
} PtxCall;

typedef struct PtxLoc { const char *file; uint32_t line, column; const char *function; uint32_t inlined_at; /* index of a loc */ } PtxLoc;

typedef struct PtxGlobal {
    const char *name;
    uint64_t address;          /* on the device */
    uint64_t bytes;
    uint8_t space;             /* GLOBAL or CONST; SHARED: address is the offset in the block's shared memory */
    bool is_extern;
} PtxGlobal;

typedef struct PtxCode {
    PtxInst *insts;            /* of all functions, one after the other; pc is an index into it */
    uint32_t ninsts;
    uint8_t *constants;        /* FILE_CONST */
    PtxOperand *vectors;
    uint32_t **tables;         /* of brx.idx: count, then pcs */
    PtxCall *calls;
    PtxLoc *locs;
    uint32_t nlocs;
    PtxFunc *funcs;
    uint32_t nfuncs;
    PtxGlobal *globals;
    uint32_t nglobals;
    char *text;                /* the PTX, for messages; NUL-terminated */
    uint16_t sm, version;      /* of .target and .version: 90, 85 */
} PtxCode;

/* A function's address as a 64-bit value: FUNCTION_BASE + 16 * index. */
#define FUNCTION_BASE UINT64_C(0x7f0000000000)

/* Functions that the emulator itself provides to kernels that declare them `.extern` (builtins.def): vprintf, malloc ...
 * They are PtxFunc with is_extern and no code. */
bool ptx_builtin(const char *name);

#endif
