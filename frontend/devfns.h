/* devfns.h - what the handlers of devfn.def share: arguments, loop types, and functions that are made of IR operations.
 *
 *   mathfns.c      math                       complexfns.c   cmath
 *   npfns.c        numpy, of elements         builtins.c     builtins and operator
 *   pyfns.c        sequences, classes and functions of functions
 *   gpufns.c       where a thread is, methods of scalars
 *   sharedfns.c    memory and barriers        atomicfns.c    gpu.atomic
 *   warpfns.c      warps                      groups.c       gpu.cg
 *   collectives.c  reductions and scans       histogram.c    counts
 *   bitfns.c       bits and clocks            cachefns.c     hints for caches
 *   fnparts.c      the expansions on IR values
 *
 * A handler serves all rows that differ in a parameter only. */
#ifndef GPU_DEVFNS_H
#define GPU_DEVFNS_H

#include "devfn.h"

/* What a cooperative group says of itself (groups.c). */
typedef enum Question { THREAD_RANK, NUM_THREADS, BLOCK_RANK, NUM_BLOCKS, TILE_RANK, NUM_TILES } Question;

/* What a reduction of an array gives (arrayreduce.c). */
typedef enum SetMethod {
    SET_UNION, SET_INTERSECTION, SET_DIFFERENCE, SET_SYMMETRIC, SET_ISSUBSET, SET_ISSUPERSET, SET_ISDISJOINT
} SetMethod;

typedef enum Reduction {
    REDUCE_SUM, REDUCE_PROD, REDUCE_MEAN, REDUCE_MIN, REDUCE_MAX, REDUCE_ARGMIN, REDUCE_ARGMAX, REDUCE_ANY, REDUCE_ALL,
    REDUCE_VAR, REDUCE_STD, REDUCE_COUNT, REDUCE_PTP
} Reduction;

#define DEVFN(path, signature, handler, param, doc) DevCall handler;
#include "devfn.def"
DevCall fn_refused;

/* ---- fnargs.c: arguments and types -------------------------------------------------------------------- */

/* Loops that a function has, as NumPy's ufuncs do; an argument takes the first that holds it. */
enum { LOOP_BOOL = 1, LOOP_INT = 2, LOOP_FLOAT = 4, LOOP_COMPLEX = 8,
       LOOP_NO_BOOL = 16 /* NumPy refuses bools, instead of taking them as int8 */,
       LOOP_NUMBER = LOOP_INT | LOOP_FLOAT | LOOP_COMPLEX, LOOP_REAL = LOOP_INT | LOOP_FLOAT };

PySpan arg_span(const CallSite *site, uint32_t i);
/* Binds n positional-only arguments; false: reported. */
bool bind_args(Eval *e, const CallSite *site, uint32_t n, const Val *args, uint32_t want, Val *out);
bool no_arguments(Eval *e, const CallSite *site, uint32_t n, const Val *args);
/* All are scalars, and real if `real`; false: reported, at the argument. */
bool want_scalars(Eval *e, const CallSite *site, uint32_t n, const Val *args, bool real);
bool want_ints(Eval *e, const CallSite *site, uint32_t n, const Val *args);
Val complex_abs(Eval *e, Val z); /* abs() and np.abs() of a complex number */
Val time_abs(Eval *e, Val v); /* the same of a difference of dates; ty NULL: it is none */
Val bad_arg(Eval *e, const CallSite *site, uint32_t i, Val v, const char *help);
bool want_numbers(Eval *e, const CallSite *site, uint32_t i, Val array);   /* whose elements are aligned; false: reported */
/* The type of a numpy function's loop for these arguments; false: reported. */
bool ufunc_loop(Eval *e, const CallSite *site, unsigned loops, uint32_t n, const Val *args, DType *out);
/* An argument in its loop's type: a constant integer that doesn't fit is an error. */
Val loop_arg(Eval *e, const CallSite *site, uint32_t i, Val v, DType d);
/* The type in which a math function computes: a typed float's own, else a Python float. */
Scalar math_scalar(Eval *e, uint32_t n, const Val *args);
/* A value of that type as an IR float; float16 and bfloat16 compute in float32. */
Type float_type(DType d);
Ref float_ref(Eval *e, Val v, DType d);
Val float_val(Eval *e, Scalar s, Ref r);
static inline Scalar typed(DType d) { return SCALAR(d, false); }
static inline bool is_weak(Val v) { return v.ty->weak; }
static inline bool is_integral(Val v) { return dt_is_int(val_dtype(v)) || v.ty->dtype == DT_BOOL; }
Val to_python_int(Eval *e, Val v);      /* a Python int (Numba: int64): floats truncate */
Val fold_math(Eval *e, MathFn f, Scalar s, uint32_t n, const Val *args);   /* ty NULL: not constant */

/* Where an array that a function makes has a size of run time. */
#define SIZE_HELP                                                                                                  \
    "use numbers, globals, or variables of an enclosing function; of an array argument each thread can take a row " \
    "of any size"

/* ---- complexfns.c ------------------------------------------------------------------------------------------ */
bool complex_math_known(MathFn f);
Val complex_math(Eval *e, MathFn f, Val x);             /* a complex value, of its type */

/* ---- fnparts.c: functions of IR values; t is T_F32 or T_F64 unless said ------------------------------------ */
Ref is_nan(Eval *e, Ref x);
Ref is_inf(Eval *e, Type t, Ref x);
Ref is_finite(Eval *e, Type t, Ref x);
Ref sign_bit(Eval *e, Type t, Ref x);
Ref part_frac(Eval *e, Type t, Ref x, Ref whole);       /* x - trunc(x) with x's sign; 0 for infinite x */
void part_frexp(Eval *e, Type t, Ref x, Ref *mantissa, Ref *exponent);   /* exponent: i32 */
Ref part_ldexp(Eval *e, Type t, Ref x, Ref exponent);   /* exponent: i64, any value */
Ref part_remainder(Eval *e, Type t, Ref x, Ref y);      /* IEEE 754 remainder */
Ref part_hypot(Eval *e, Type t, uint32_t n, const Ref *x);
Ref part_nextafter(Eval *e, Type t, Ref x, Ref y);      /* any float type */
Ref part_spacing(Eval *e, Type t, Ref x);               /* any float type */
Ref part_round(Eval *e, Type t, Ref x, int digits);     /* as NumPy: scaled, rounded half to even, scaled back */
Ref part_round_to(Eval *e, Type t, Ref x, Ref digits); /* digits, an i64, known at run time */
Ref part_gcd(Eval *e, Type t, Ref a, Ref b);            /* unsigned integers */
Ref part_two_sum(Eval *e, Type t, Ref a, Ref b, Ref *error);   /* a + b == sum + error, exactly */
Ref part_isqrt(Eval *e, Ref n);                         /* u64 */
Ref part_product(Eval *e, Ref from, Ref to);            /* i64: from * (from + 1) ... to; 1 if empty; stops at 0 */
Ref part_comb(Eval *e, Ref n, Ref k);                   /* i64, 0 <= k */
Val round_int(Eval *e, Val x, int digits);              /* half to even at a power of ten */
Ref magnitude(Eval *e, Type t, Ref x, Type *out);       /* |x| of an integer in the unsigned type of its width */

#endif
