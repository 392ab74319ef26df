/* pyir.h - one Python function as SSA, before types: what decode, blocks, translate and ssa make and
 * infer reads. The same on every Python version.
 *
 * Stack and local variables are gone: every operation names its operands. Iteration is explicit and
 * functional, so that an iterator needs no mutable state:
 *
 *     for v in x: body      it0 = ITER x
 *                   head:   it1 = PHI it0, it2
 *                           c = ITER_HAS it1 ; branch c -> body, exit
 *                   body:   v = ITER_VALUE it1 ; it2 = ITER_NEXT it1 ; ... jump head
 *
 * A branch tests the truth of any Python value. */
#ifndef GPU_PYIR_H
#define GPU_PYIR_H

#include "../compiler/arena.h"
#include "host.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef uint32_t PyRef;     /* index into PyFunc.instrs; 0 = none */
typedef uint32_t PyBlockId;

/* PYIR(name, operands, what). `name` operands are in PyInstr.name, `imm` in PyInstr.imm. */
#define PYIR_OPS(X) \
    X(CONST,       0, "the host object `obj`; `name` is its repr") \
    X(PARAM,       0, "parameter number imm (of PyFunc.params)") \
    X(UNDEF,       0, "the variable `name` before any assignment") \
    X(PHI,      PYVAR, "one operand for each predecessor; `name` is the variable, NULL for a stack slot") \
    X(GLOBAL,      0, "global or builtin `name`") \
    X(CLOSURE,     0, "free variable `name`; imm 1: its place, if it is shared") \
    X(UNARY,       1, "imm: PyUnary") \
    X(BINARY,      2, "imm: PyBinary; PYB_INPLACE set for an augmented assignment") \
    X(COMPARE,     2, "imm: PyCompare") \
    X(NOT,         1, "logical not of the truth of the operand") \
    X(IS,          2, "imm: 1 for `is not`") \
    X(CONTAINS,    2, "args[0] in args[1]; imm: 1 for `not in`") \
    X(ATTR,        1, "args[0].name") \
    X(STORE_ATTR,  2, "args[0].name = args[1]; imm 1: of the self of an __init__, its value is the instance after that") \
    X(SUBSCR,      2, "args[0][args[1]]") \
    X(STORE_SUBSCR,3, "args[0][args[1]] = args[2]") \
    X(DEL_SUBSCR,  2, "del args[0][args[1]]") \
    X(SLICE,       3, "slice(start, stop, step), each maybe CONST None") \
    X(TUPLE,   PYVAR, "a tuple") \
    X(LIST,    PYVAR, "a list literal; imm2: the room of args, while it is being translated") \
    X(SET,     PYVAR, "a set literal") \
    X(MAP,     PYVAR, "a dict literal: key, value, key, value ...") \
    X(LIST_EXTEND, 2, "args[0] extended by iterable args[1], as a new value; also tuples (*args in a call or display)") \
    X(LIST_APPEND, 2, "args[0] with args[1] appended, as a new value (comprehensions)") \
    X(SET_ADD,     2, "set args[0] with args[1] added, as a new value (comprehensions)") \
    X(SET_UPDATE,  2, "set args[0] with the items of args[1] added, as a new value") \
    X(MAP_ADD,     3, "mapping args[0] with key args[1] and value args[2], as a new value (comprehensions)") \
    X(MAP_UPDATE,  2, "mapping args[0] with the items of args[1], as a new value (**kw in a call or display)") \
    X(TO_TUPLE,    1, "a list or iterable as a tuple") \
    X(FORMAT,  PYVAR, "f-string piece: value, maybe spec; imm: conversion 0 's' 'r' 'a'") \
    X(STRING,  PYVAR, "f-string pieces joined") \
    X(UNPACK_ITEM, 1, "item imm of args[0] unpacked into imm2 names") \
    X(UNPACK_EX,   1, "item imm of args[0] unpacked with a star: imm2 = before << 16 | after; imm == before is the starred list") \
    X(ITER,        1, "iter(args[0])") \
    X(ITER_HAS,    1, "does the iterator have another item?") \
    X(ITER_VALUE,  1, "the iterator's current item") \
    X(ITER_NEXT,   1, "the iterator after one step") \
    X(CALL,    PYVAR, "args[0](args[1] ...); the last kwnames.n arguments are keywords `kwnames`") \
    X(CALL_EX,     3, "args[0](*args[1], **args[2]); args[2] may be 0") \
    X(FUNCTION,    3, "a function made here from code `obj`, named `name`; args: defaults tuple, kwdefaults, closure tuple, each maybe 0") \
    X(SHARED,      0, "a place for the variable `name`, which inner functions share") \
    X(SHARED_GET,  1, "the value of the variable `name` in place args[0]") \
    X(SHARED_SET,  2, "the variable `name` in place args[0] becomes args[1]; imm 1: before anything reads it") \
    X(CELL,        1, "the value of a cell variable captured by an inner function; imm CELL_ITSELF: that function") \
    X(IMPORT,      0, "import inside the function: `name` is the module's dotted name") \
    X(MATCH_LEN,   1, "len(args[0]) as match patterns take it") \
    X(MATCH_SEQ,   1, "is args[0] a sequence, as match patterns ask") \
    X(MATCH_MAP,   1, "is args[0] a dict, as match patterns ask") \
    X(MATCH_CLASS, 3, "a tuple of args[0]'s attributes if it is of class args[1], else None: imm of __match_args__, then those that args[2] names") \
    X(MATCH_KEYS,  2, "a tuple of args[0]'s values for the keys args[1], or None if one is missing") \
    X(SUPER,       2, "super() in a method of class args[0], whose instance is args[1]") \
    X(GEN_START,   1, "what args[0], a function that takes a generator expression, begins with: sum, any, all, min, max, else a tuple") \
    X(GEN_STEP,    3, "args[1], what args[0] has, with another item args[2]") \
    X(GEN_DONE,    2, "does args[0] need no more items than those in args[1]?") \
    X(GEN_END,     2, "an iterable that has for args[0] the same meaning as all items in args[1]") \
    X(GEN_PLACE,   2, "args[1], which stands for all items of a generator expression that began with args[0]")

typedef enum PyOp {
#define X(name, n, what) PY_##name,
    PYIR_OPS(X)
#undef X
    PY__COUNT
} PyOp;
#define PYVAR 255

enum { CELL_ITSELF = 1 };

typedef enum PyUnary { PYU_NEG, PYU_POS, PYU_INVERT } PyUnary;
/* In the order of CPython's NB_ numbers. */
typedef enum PyBinary {
    PYB_ADD, PYB_AND, PYB_FLOORDIV, PYB_LSHIFT, PYB_MATMUL, PYB_MUL, PYB_MOD, PYB_OR, PYB_POW,
    PYB_RSHIFT, PYB_SUB, PYB_TRUEDIV, PYB_XOR, PYB__COUNT, PYB_INPLACE = 32
} PyBinary;
typedef enum PyCompare { PYC_LT, PYC_LE, PYC_EQ, PYC_NE, PYC_GT, PYC_GE } PyCompare;

typedef struct PySpan { uint32_t line, col, end_line, end_col; } PySpan;   /* from 1; 0 = unknown */

typedef struct PyInstr {
    uint16_t op;            /* PyOp */
    uint16_t nargs;
    uint32_t imm, imm2;
    PyRef *args;
    const char *name;
    HostRef obj;
    struct { const char **at; uint32_t n; } kwnames;
    PySpan span;
    bool guarded;           /* in a `try` that has a `finally` */
    PyBlockId block;
    PyRef origin;           /* copies of one instruction (pyunroll.c) have the same; not 0 but in what ssa.c adds */
} PyInstr;

/* A variable becomes a value, before instruction number `at` of its block. Kept for debuggers alone. */
typedef struct PyNaming { PyRef after, value; uint32_t at; const char *name; PySpan span; } PyNaming;

typedef enum PyTerm { PYT_JUMP, PYT_BRANCH, PYT_RETURN, PYT_RAISE, PYT_UNREACHABLE } PyTerm;

typedef struct PyBlock {
    VEC(PyRef) instrs;          /* PHIs first */
    PyTerm term;
    PyRef arg;                  /* BRANCH: condition; RETURN: value; RAISE: exception value (0 = bare raise) */
    PyRef cause;                /* RAISE: `from` value, 0 = none */
    PySpan term_span;
    PyBlockId succ[2];          /* BRANCH: true, false */
    uint8_t nsucc;
    VEC(PyBlockId) preds;
    VEC(PyNaming) names;          /* in their order */
    bool loop_header;
} PyBlock;

typedef struct PyParam { const char *name; bool kwonly, vararg, varkw; } PyParam;

typedef struct PyFunc {
    Arena *arena;
    const char *file, *name, *qualname;
    uint32_t first_line;
    bool library;               /* as HostCode has it; not known of functions inside of others */
    VEC(PyInstr) instrs;        /* instrs[0] unused */
    VEC(PyBlock) blocks;        /* blocks[0] is the entry; unreachable ones were removed; reverse postorder */
    VEC(PyParam) params;
    uint32_t nposonly;
    const char **varnames;      /* all local names, for messages */
    uint32_t nvarnames;
    const struct PySource *source;   /* what it was made of, for pyfunc_unroll */
} PyFunc;

/* translate.c. Reads the code object of `function` through the host; errors, constructs
 * outside the language among them, are reported in `diags`. NULL on error. `names`: PyBlock.names is filled in, and what
 * has a name is kept. */
struct DiagList;
PyFunc *pyfunc_from_host(Arena *arena, const Host *host, HostRef function_or_code, struct DiagList *diags,
                         bool names);

/* pyunroll.c. The blocks of the loop with this header, in `inside` by block; false: it has another way in. */
bool pyloop_body(const PyFunc *f, PyBlockId header, bool *inside);
/* The function with `times` copies of each of these loops before the loop itself; no block is in two of them. NULL: too
 * large. */
typedef struct PyLoop { PyBlockId header; const bool *inside; uint32_t times, size; } PyLoop;
PyFunc *pyfunc_unroll(const Host *host, struct DiagList *diags, const PyFunc *f, uint32_t n, const PyLoop *loops);
void pyfunc_print(const PyFunc *f, FILE *out, bool spans);
char *pyfunc_to_string(const PyFunc *f, bool spans);

#endif
