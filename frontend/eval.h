/* eval.h - the evaluator that inference and building share, as rules and device functions see it.
 *
 * Each rule is written once, as a function from values to a value. In infer mode it says the result's
 * type and constant; emission is off: whatever makes IR returns REF_NONE and the rule goes on. In build mode the
 * same code runs again with the final types, emits IR and reports mistakes. So a rule
 *
 *   - must not look at refs to decide anything, only at types and constants;
 *   - reports with e_fail()/e_diag(), which say nothing in infer mode (types still rise there);
 *   - returns POISON for a POISON operand, without a message (device functions never get POISON operands:
 *     the caller takes care of that).
 *
 *   Val fn_abs(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
 *       if (!val_is_scalar(args[0])) return e_fail(e, site->span, NULL, DIAG_ARG_TYPE, "abs", e_text(e, args[0]));
 *       DType d = val_dtype(args[0]);
 *       return val_of(e, val_sc(args[0]), e_op1(e, OP_ABS, dtype_info[d].ir, val_ref(e, args[0])));
 *   } */
#ifndef GPU_EVAL_H
#define GPU_EVAL_H

#include "types.h"

typedef struct Eval Eval;
typedef struct DevFn DevFn;            /* devfn.h; has at least: path, call */

typedef struct CallSite {
    PySpan span;                       /* the whole call */
    const DevFn *fn;                   /* the row: one handler serves many rows */
    const char *name;                  /* as the source calls it, for messages: "np.sin" or "sin" */
    const char *const *kwnames;        /* names of the last nkw arguments */
    uint32_t nkw;
    const PySpan *arg_spans;           /* n spans, for a caret under an argument; may be NULL */
    const PyInstr *at;                 /* the instruction: what a call makes once belongs to it; may be NULL */
} CallSite;

typedef enum DictPart { DICT_KEYS, DICT_VALUES, DICT_ITEMS } DictPart;   /* containers.c */

typedef Val DevCall(Eval *e, const CallSite *site, uint32_t n, const Val *args);

/* devfn.c: NULL if there is no such name. Values ("gpu.threadIdx.x") are evaluated where they are named, with n = 0. */
const DevFn *devfn_find(const char *path);
DevCall *devfn_call(const DevFn *fn);
bool devfn_is_value(const DevFn *fn);

/* ---- state ----------------------------------------------------------------------------------- */
bool e_numba(const Eval *e);
Arena *e_arena(const Eval *e);
Types *e_types(const Eval *e);
const char *e_text(Eval *e, Val v);                     /* the value's type, for messages */

/* ---- messages: nothing happens in infer mode ------------------------------------------------------ */
Diag *e_diag(Eval *e, PySpan span, DiagCode code, ...); /* NULL in infer mode */
void e_help(Eval *e, Diag *d, const char *fmt, ...) __attribute__((format(printf, 3, 4)));   /* d may be NULL */
Val e_fail(Eval *e, PySpan span, const char *help, DiagCode code, ...);   /* reports; help may be NULL; returns POISON */

void e_numba_says(Eval *e, Diag *d, const char *fmt, ...) __attribute__((format(printf, 3, 4)));   /* a note in the Numba dialect; d may be NULL */
const char *numba_type_text(Eval *e, Val v);                                                       /* as Numba writes the type of an argument */

/* ---- making values ----------------------------------------------------------------------------------- */
Val val_poison(Eval *e);
Val val_none(Eval *e);
Val val_of(Eval *e, Scalar s, Ref r);                   /* a run-time scalar (not complex) */
Val val_typed(Eval *e, DType d, Ref r);                 /* = val_of(e, SCALAR(d, false), r) */
Val val_complex(Eval *e, Scalar s, Ref re, Ref im);
Val val_int(Eval *e, Wide i);                           /* a constant as a literal is: weak int; int64 (uint64) in the Numba dialect */
Val val_float(Eval *e, double x);                       /* weak float; float64 in the Numba dialect */
Val val_bool(Eval *e, bool b);                          /* weak bool; bool in the Numba dialect */
Val val_const_int(Eval *e, Scalar s, Wide i);           /* of a given type; i must fit */
Val val_const_float(Eval *e, Scalar s, double re, double im);    /* rounded to the type */
Val val_rt_int(Eval *e, Ref i64);                       /* a run-time Python int: weak int; int64 in the Numba dialect */
Val val_rt_bool(Eval *e, Ref b);                        /* a run-time Python bool */
Val val_rt_float(Eval *e, Ref f64);                     /* a run-time Python float */
Val val_tuple(Eval *e, uint32_t n, const Val *items);
Val val_range(Eval *e, PySpan span, Val start, Val stop, Val step);   /* checks the types */
Val val_object(Eval *e, HostRef obj);                   /* any host object as a value: numbers become constants */

/* ---- reading values: all work in both modes ------------------------------------------------------------ */
Ref val_ref(Eval *e, Val v);                            /* a scalar (not complex) as an IR value of its dtype's IR type; constants are emitted */
Ref val_re(Eval *e, Val v);                             /* parts of a complex value */
Ref val_im(Eval *e, Val v);
bool val_as_int(Val v, Wide *out);                      /* a constant bool or int of any type */
bool val_as_double(Val v, double *out);                 /* a constant real number of any type */
bool val_as_str(Eval *e, Val v, const char **out);      /* a host string */
bool val_as_dtype(Eval *e, Val v, DType *out);          /* np.float32, np.dtype(...), builtins float int bool complex */

/* Conversion of a scalar to a type, as an assignment or a constructor does it: wraps, saturates, folds constants. */
Val val_convert(Eval *e, Val v, Scalar to);
Ref val_conv_ref(Eval *e, Val v, DType d);              /* = val_ref(val_convert(v, typed d)) */
/* The same where a constant meets a type in arithmetic: an integer that doesn't fit is an error, a float that overflows a warning. */
Val val_meet(Eval *e, PySpan span, Val v, Scalar to);

/* ---- emission: Type is the IR type of the result; REF_NONE in infer mode --------------------------------- */
Ref e_op1(Eval *e, Op op, Type t, Ref a);
Ref e_op2(Eval *e, Op op, Type t, Ref a, Ref b);
Ref e_op3(Eval *e, Op op, Type t, Ref a, Ref b, Ref c);
Ref e_op2_of(Eval *e, Op op, Type t, Val a, Val b);   /* of two scalars, emitted in this order */
Ref e_cmp(Eval *e, Pred p, Ref a, Ref b);
Ref e_select(Eval *e, Type t, Ref c, Ref a, Ref b);
Ref e_conv(Eval *e, Type t, Ref a);                     /* OP_CONVERT; nothing if it has the type */
Ref e_math1(Eval *e, MathFn f, Type t, Ref a);
Ref e_math2(Eval *e, MathFn f, Type t, Ref a, Ref b);
Ref e_sreg(Eval *e, Sreg s);                            /* i32 */
Ref e_int(Eval *e, Type t, int64_t v);
Ref e_float(Eval *e, Type t, double v);                 /* f16, bf16, f32, f64 */
Ref e_load(Eval *e, Type t, Ref ptr);
void e_store(Eval *e, Ref ptr, Ref value);

/* Control flow inside a rule (a loop for gcd, a branch that guards a load). Emission goes to the current block.
 * A PHI is made in the current block (first there) and gets one operand for each predecessor. All are no-ops in infer mode. */
BlockId e_new_block(Eval *e);
BlockId e_current(Eval *e);
void e_set_block(Eval *e, BlockId b);
void e_jump(Eval *e, BlockId to);
void e_branch(Eval *e, Ref cond, BlockId yes, BlockId no);
Ref e_phi(Eval *e, Type t);
void e_phi_add(Eval *e, Ref phi, BlockId pred, Ref value);
/* gpu.threadIdx is a group of values, and which of them is meant must be said; `help` of any other value. */
const char *group_help(Eval *e, Val v, const char *help);
/* Ends the thread with an exception of that name; emission goes on in an unreachable block. */
void e_raise(Eval *e, PySpan span, const char *exception, const char *message);
void e_raise_if(Eval *e, PySpan span, Ref cond, const char *exception, const char *message);   /* ... or goes on */

/* ---- the operators, as the source has them ------------------------------------------------------------------ */
Val eval_binary(Eval *e, PySpan span, PyBinary op, Val a, Val b);
Val eval_unary(Eval *e, PySpan span, PyUnary op, Val a);
Val eval_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b);
Val eval_truth(Eval *e, PySpan span, Val v);            /* bool(v) */
Val eval_not(Eval *e, PySpan span, Val v);
Val eval_len(Eval *e, PySpan span, Val v);
Val eval_attr(Eval *e, PySpan span, Val v, const char *name);
Val eval_getitem(Eval *e, PySpan span, Val v, Val index);
void eval_setitem(Eval *e, PySpan span, Val v, Val index, Val value);
Val eval_call(Eval *e, const CallSite *site, Val fn, uint32_t n, const Val *args);
Val eval_select(Eval *e, PySpan span, Val cond, Val a, Val b);   /* both evaluated; the type is the join, as for a conditional expression */
Val eval_iter(Eval *e, PySpan span, Val v);
Val eval_enumerate(Eval *e, PySpan span, Val iterable, Val start /* maybe absent */);
Val eval_zip(Eval *e, PySpan span, uint32_t n, const Val *iterables);
Val eval_reversed(Eval *e, PySpan span, Val v);

/* The IR on scalars of one type, after promotion: no checks, folds constants. */
Val eval_arith(Eval *e, PyBinary op, Scalar s, Val a, Val b);

/* ---- arguments -------------------------------------------------------------------------------------------------- */
/* Binds positional and keyword arguments to `params` (a name starting with '/' can't be a keyword; '?' marks an optional one:
 * its slot is absent). Reports too many, missing, unknown, twice; false then. */
bool call_bind(Eval *e, const CallSite *site, uint32_t n, const Val *args, uint32_t nparams, const char *const *params, Val *out);

/* ---- promote.h, from these -----------------------------------------------------------------------------------------
 * bool promote_binary(Dialect, PyBinary, Scalar a, Scalar b, Scalar *left, Scalar *right, Scalar *result);  operands are converted, then the operator runs; false: not defined
 * bool promote_unary(Dialect, PyUnary, Scalar a, Scalar *operand, Scalar *result);
 * bool promote_compare(Dialect, Scalar a, Scalar b, Scalar *operand, bool *exact);  exact: one is uint64, the other signed: compared as integers, the caller does it
 * bool promote_join(Dialect, Scalar a, Scalar b, Scalar *out);       what a variable gets when two assignments meet; false: can't unify
 * Constants that fit take the other type: the evaluator sees to that before it asks. */

#endif
