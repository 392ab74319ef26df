/* pycode.h - what decode, blocks, translate, pycfg and ssa share; nothing outside them includes it.
 *
 *     HostCode -> decode -> CCode            canonical stack instructions, no version in sight
 *              -> blocks -> Flow             basic blocks of the instructions that can run
 *              -> translate -> PyFunc        operations; variables and stack slots are LOADVAR and STOREVAR
 *              -> pycfg -> PyFunc            one canonical control flow graph for all versions
 *              -> pyshare -> PyFunc          variables that inner functions change are in memory
 *              -> ssa -> PyFunc              values; what infer reads
 *
 * A mistake is reported to the list of diagnostics; after that the function is given up, not the process. */
#ifndef GPU_PYCODE_H
#define GPU_PYCODE_H

#include "diag.h"

/* Canonical stack instructions: name, what it does to the stack. `arg` and `arg2` are CInstr's. */
/* What a NOP's arg says in 3.10, which has no table of protected ranges. */
enum { ENTERS_TRY = 1, LEAVES_TRY };

#define CANONICAL_OPS(X) \
    X(NOP,          "nothing") \
    X(POP,          "drop the top") \
    X(PUSH_NULL,    "the empty half of a callable") \
    X(COPY,         "push the arg-th from the top (1 = the top)") \
    X(SWAP,         "exchange the top with the arg-th") \
    X(ROT,          "move the top to arg-th place") \
    X(CONST,        "push constant arg; -1: None") \
    X(INT,          "push the integer arg") \
    X(LOAD,         "push slot arg") \
    X(LOAD_CLEAR,   "push slot arg, which is unassigned then") \
    X(STORE,        "pop into slot arg") \
    X(DELETE,       "slot arg is unassigned") \
    X(CELLREF,      "push the cell of slot arg") \
    X(GLOBAL,       "push global names[arg]") \
    X(ATTR,         "top.names[arg]") \
    X(STORE_ATTR,   "top.names[arg] = second") \
    X(UNARY,        "arg: PyUnary") \
    X(NOT,          "") \
    X(TO_BOOL,      "the top's truth") \
    X(BINARY,       "arg: PyBinary, maybe with PYB_INPLACE") \
    X(COMPARE,      "arg: PyCompare") \
    X(IS,           "arg: 1 for `is not`") \
    X(CONTAINS,     "arg: 1 for `not in`") \
    X(SUBSCR,       "second[top]") \
    X(STORE_SUBSCR, "second[top] = third") \
    X(DEL_SUBSCR,   "del second[top]") \
    X(SLICE,        "of arg parts, 2 or 3") \
    X(TUPLE,        "of arg items") \
    X(LIST,         "of arg items") \
    X(SET,          "of arg items") \
    X(MAP,          "of arg keys and values") \
    X(KEY_MAP,      "of arg values and a tuple of keys on top") \
    X(STRING,       "join arg pieces") \
    X(EXTEND,       "arg-th from the top extended by the top, which is popped; arg2: PyOp") \
    X(ADD_PAIR,     "arg-th from the top gets key second, value top; both are popped") \
    X(TO_TUPLE,     "top as a tuple") \
    X(CONVERT,      "arg: 0, 's', 'r' or 'a'") \
    X(FORMAT,       "arg: 1 = with a specification on top; arg2: conversion") \
    X(UNPACK,       "top into arg items") \
    X(UNPACK_EX,    "arg: before | after << 8") \
    X(ITER,         "iter(top)") \
    X(FOR_ITER,     "push the next item, or drop the iterator and jump") \
    X(CALL,         "arg arguments; arg2: 1 = no empty half below them; kw: constant with names, plus 1") \
    X(CALL_KW,      "as CALL, the names on top") \
    X(CALL_EX,      "arg: 1 = with a mapping (or an empty half) on top; arg2: 1 = no empty half beside the callable") \
    X(FUNCTION,     "arg: MAKE_FUNCTION's flags; arg2: 1 = the name on top") \
    X(FUNC_ATTR,    "second set in the function on top; arg: the flag") \
    X(IMPORT,       "names[arg]; pops the list of names and the level") \
    X(IMPORT_FROM,  "push top.names[arg]") \
    X(LEN,          "push len(top) of a pattern") \
    X(MATCH_SEQ,    "push whether the top is a sequence") \
    X(MATCH_MAP,    "push whether the top is a dict") \
    X(MATCH_CLASS,  "subject, class and names become a tuple of attributes, or None; arg: positional ones") \
    X(MATCH_KEYS,   "push a tuple of the values that second has for the keys on top, or None") \
    X(SUPER,        "super, class and instance become what super() gives") \
    X(YIELD,        "pop an item of a generator; push what was sent") \
    X(JUMP,         "") \
    X(JUMP_IF,      "pop; arg: 1 jumps when true, 0 when false") \
    X(JUMP_OR_POP,  "arg as JUMP_IF; keeps the top when it jumps") \
    X(RETURN,       "pop") \
    X(RAISE,        "arg: how many of exception and cause are on the stack") \
    X(REFUSE,       "arg: Refusal") \
    X(HANDLER,      "exists only where an exception arrives: never reached") \
    X(BUILTIN,      "push the arg-th of the builtins that bytecode names by number") \
    X(EXT,          "prefix of the next instruction's operand")

typedef enum COp {
#define X(name, what) C_##name,
    CANONICAL_OPS(X)
#undef X
    C__COUNT
} COp;

/* Constructs outside the language: what, why, what to write instead. */
#define REFUSALS(X) \
    X(TRY,       "try", "a kernel has no exception handling", "test the condition with `if` before the operation that fails") \
    X(WITH,      "with", "context managers need exception handling", "call what the block needs directly, and do before the launch what needs Python") \
    X(GENERATOR, "a generator", "a kernel can't be suspended at a yield", "write the values into an array") \
    X(GENEXPR,   "a generator expression that no call takes at once", "a kernel has no suspended code", "make it a list: [ ]") \
    X(ASYNC,     "async code", "a kernel can't be suspended at an await", "make it a plain function") \
    X(CLASS,     "a class definition", "types can't be made in a kernel", "define the class outside, or use a tuple") \
    X(GLOBAL,    "an assignment to a global variable", "globals are constants of the compiled kernel", "write the result into an array argument") \
    X(DEL_NONLOCAL, "the deletion of a nonlocal variable", "a variable of a kernel keeps its place", "assign None, or leave it") \
    X(FINALLY,   "a raise inside try/finally", "a thread ends where it raises", "raise before the try, or without it") \
    X(IMPORT_STAR, "import *", "names must be known at compile time", "import the names that are used") \
    X(RELATIVE,  "a relative import", "the package isn't known inside a kernel", "import the module at the top of the file") \
    X(PATTERN,   "a dict without some of its keys (del, or the rest of a match)", "a dict in a kernel has a fixed size", "name the keys that stay: {key: d[key] for key in ('a', 'b')}") \
    X(TEMPLATE,  "a template string", "templates are objects of the Python runtime", "use an f-string") \
    X(TYPE_PARAMS, "a type statement or type parameters", "types can't be made in a kernel", "define it outside the kernel") \
    X(DEL_ATTR,  "the deletion of an attribute", "objects can't change in a kernel", "leave the attribute alone") \
    X(CLASS_BODY, "the code of a class body or module", "only functions are compiled", "pass a function")

typedef enum Refusal {
#define X(name, what, why, help) REFUSE_##name,
    REFUSALS(X)
#undef X
    REFUSE__COUNT
} Refusal;

typedef struct CInstr {
    uint8_t op;             /* COp */
    int32_t arg, arg2;
    uint32_t kw;            /* CALL: index of the constant with keyword names, plus 1 */
    uint32_t target;        /* jumps: index into CCode.instrs */
    uint32_t unit;          /* of the code */
    bool guarded;           /* an exception here would run a `finally` */
    PySpan span;
} CInstr;

typedef enum SlotKind { SLOT_LOCAL, SLOT_CELL, SLOT_FREE } SlotKind;
typedef struct PySlot { const char *name; SlotKind kind; } PySlot;

/* What every step needs to allocate, ask and complain. */
typedef struct PyCtx {
    Arena *arena;
    const Host *host;
    DiagList *diags;
    const HostCode *code;
    bool failed;
    bool names;             /* PyBlock.names is wanted */
    bool in_place;          /* the code of a generator expression, translated where it is consumed */
} PyCtx;

typedef struct CCode {
    VEC(CInstr) instrs;
    PySlot *slots;
    uint32_t nslots;
} CCode;

typedef struct FlowBlock { uint32_t first, end, tries /* around its beginning, in 3.10 */; bool reached; } FlowBlock;
typedef struct Flow {
    VEC(FlowBlock) blocks;
    uint32_t *block_of;     /* CCode.instrs index -> block, of the first instruction of a block */
} Flow;

/* PyFunc operations that are gone after ssa: imm is the variable. */
enum { PYX_LOADVAR = PY__COUNT, PYX_STOREVAR };
enum { SAVED = 1 };     /* imm2 of a LOADVAR: a comprehension takes the name for a variable of its own meanwhile */

/* A local variable, or a place on the stack that lives across blocks (name NULL). */
typedef struct PyVar { const char *name; uint32_t frame, depth; } PyVar;
typedef struct PyVars { VEC(PyVar) at; } PyVars;

/* What SSA was made of. */
typedef struct PySource { HostCode code; PyVars *vars; PyFunc *tac; bool names; } PySource;

/* decode.c */
bool pycode_decode(PyCtx *c, CCode *out);
void pycode_refuse_try(PyCtx *c, const CCode *code);    /* 3.11 and later: by the table of protected ranges; sets `guarded` */
/* blocks.c */
bool pycode_flow(PyCtx *c, const CCode *code, Flow *out);
/* pycfg.c */
void pycfg_clean(PyCtx *c, PyFunc *f, const PyVars *vars);
void pycfg_preds(PyFunc *f);
uint32_t pycfg_order(const PyFunc *f, PyBlockId *order);   /* reverse postorder of what is reached; true successors first */
bool py_is_pure(unsigned op);                              /* may go when nothing uses it */
/* pyshare.c */
void pyshare_assigned(PyCtx *c, PyFunc *f, PyVars *vars);
PyFunc *pyshare_ssa(PyCtx *c, PyFunc *tac, PyVars *vars);     /* pyssa_make(), where variables that change are shared */
/* ssa.c. *changes: a variable that changes while an inner function can see it, plus one: share it and try again; or 0 */
PyFunc *pyssa_make(PyCtx *c, const PyFunc *tac, const PyVars *vars, uint32_t *changes);

/* Reports. `unit` is the code unit of the instruction that wasn't understood. */
void py_bad(PyCtx *c, PySpan span, const char *why);
void py_refuse(PyCtx *c, PySpan span, Refusal what);

#endif
