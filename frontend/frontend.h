/* frontend.h - a Python function and the types of its arguments in, a typed IrModule out. */
#ifndef GPU_FRONTEND_H
#define GPU_FRONTEND_H

#include "diag.h"
#include "host.h"

typedef enum Dialect { DIALECT_NUMPY, DIALECT_NUMBA } Dialect;

/* The type of one argument, as the launch or a signature gives it. */
typedef enum ArgKind {
    ARG_NONE, ARG_WEAK_BOOL, ARG_WEAK_INT, ARG_WEAK_FLOAT, ARG_WEAK_COMPLEX,   /* Python scalars */
    ARG_SCALAR,      /* dtype */
    ARG_ARRAY,       /* dtype, record, align, ndim, layout, readonly */
    ARG_RECORD,      /* record: its bytes, which the kernel only reads; in the Numba dialect the record itself */
    ARG_TUPLE,       /* items: a tuple, or what `form` says */
    ARG_TEXT,        /* of messages: items: TextKind's name ("join" ...), the type's `name`, then what it is made of */
    ARG_POINTER,     /* dtype: an address, of as many elements as the kernel takes there to be */
    ARG_OBJECT       /* a compile-time constant: a function, a string, a dtype, an enum member */
} ArgKind;

/* An object that is passed part by part: a tuple, maybe named; an instance of a class by its fields; a dict with string
 * keys by its values; a functools.partial by function, arguments and keywords. */
typedef enum ArgForm { FORM_TUPLE, FORM_INSTANCE, FORM_DICT, FORM_PARTIAL } ArgForm;

typedef struct ArgType {
    uint8_t kind, dtype, ndim, layout;
    uint8_t align;                   /* of records: what addresses of elements are multiples of; of scalars: 0, or 1: of nothing */
    bool readonly;
    uint8_t form;                    /* ArgForm */
    const Record *record;
    uint32_t nitems;
    const struct ArgType *items;
    const char *const *fields;       /* named tuples, instances, dicts */
    HostRef object;                  /* ARG_OBJECT; the class of a named tuple or an instance */
} ArgType;

typedef struct FrontendRequest {
    const Host *host;
    HostRef function;
    Dialect dialect;
    const ArgType *args;             /* one for each parameter of the function, defaults filled in by the caller as values or left to the host */
    uint32_t nargs;
    uint32_t facts;                  /* FACT_* of ir.h */
    bool host_function;              /* compile as a function that returns scalars (a device function called from Python) */
    bool self_contained;             /* captured arrays of any size are part of the code */
    bool fma;                        /* decided here: MUL and ADD of one expression become FMA */
    ArgType *result;                 /* out, host_function: the type of what it returns, weak kinds too; NULL: not wanted */
    uint32_t recursion_limit;        /* how deep functions call themselves at run time */
    bool variables;                  /* memory has what the variables are, for a debugger: variables.c */
    bool debug;                      /* checks that cost: integer and float division by zero raise ... */
    bool fastmath;                   /* a division of floats by zero doesn't, nevertheless */
    bool boundscheck;                /* indices out of bounds raise */
} FrontendRequest;

/* NULL if diags has errors. Types of expressions for inspect('types') are kept when `types` isn't NULL. */
typedef struct TypedSpan { PySpan span; const char *type; } TypedSpan;
typedef struct TypedSpans { VEC(TypedSpan) at; } TypedSpans;

IrModule *frontend_compile(Arena *arena, const FrontendRequest *req, DiagList *diags, TypedSpans *types);

/* "array(float32, 2d, C)", "int64", "float (weak)" ... */
const char *argtype_text(Arena *arena, const ArgType *t);
/* A symbol made of the function's name and the argument types: [A-Za-z0-9_$]. */
const char *frontend_mangle(Arena *arena, const char *name, const ArgType *args, uint32_t nargs);

#endif
