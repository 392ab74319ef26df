/* arrays.h - what the files that work on arrays share.
 *
 * arrays.c   arrays as values: shape, strides, addresses, loads and stores of elements
 * indices.c      subscripts: views and elements
 * takes.c        arrays of integers as indices
 * elementwise.c  operators and functions on all elements: small results are arrays of the thread's own, others are
 *                expressions (TY_EXPR), which are computed element by element where they are used
 * arrayloop.c    loops over the indices of a shape
 * arrayassign.c  assignment to several elements, in place or from another array
 * arraymake.c    np.zeros(...), np.array(...): arrays of the thread's own
 * sizes.c        lengths of slices that arrays may cut
 * arrayshape.c   the same memory with another shape or type
 * arrayreduce.c  sums, extremes and searches
 * linalg.c       products of vectors and matrices
 *
 * "Many" is an array or an expression: what has elements. */
#ifndef GPU_ARRAYS_H
#define GPU_ARRAYS_H

#include "evaluator.h"

bool array_writable(Eval *e, PySpan span, Val a);   /* an array whose elements this thread may write; false: reported */

/* ---- sizes and strides: Python ints, maybe constant ---------------------------------------------------- */
static inline Val array_size(Val a, uint32_t axis) { return a.items[1 + axis]; }
static inline Ref array_data(Val a) { return a.items[0].ref[0]; }
static inline Val size_op(Eval *e, PyBinary op, Val a, Val b) { return eval_arith(e, op, e_python_int(e), a, b); }
static inline Val to_size(Eval *e, Val v) { return val_convert(e, v, e_python_int(e)); }
Val size_minmax(Eval *e, Op op, Val a, Val b);      /* OP_MIN, OP_MAX */
Val array_stride(Eval *e, Val a, uint32_t axis);    /* bytes from one element to the next */

/* ---- arrays -------------------------------------------------------------------------------------------- */
Val array_with(Eval *e, Ty ty, Ref data, const Val *shape, const Val *strides);   /* strides: for LAYOUT_A */
/* The address of a[index[0], ... index[n-1], 0 ...], each in range. */
Ref array_at(Eval *e, Val a, const Val *index, uint32_t n);
Val array_load(Eval *e, Ty array, Ref p);           /* a scalar or a record */
void array_store(Eval *e, Elem elem, Ref p, Val v);   /* converted as an assignment does it */
Val array_local(Eval *e, Elem elem, uint32_t ndim, const Val *shape);   /* of the thread's own; the shape is constant */

/* ---- indices.c ----------------------------------------------------------------------------------------- */
/* A subscript with an item for each axis, and None for new ones. */
typedef struct Subscript {
    Val at[2 * MAX_NDIM];
    uint32_t n;
    bool ints;                  /* an element */
} Subscript;

bool subscript_spread(Eval *e, PySpan span, Val array, Val index, Subscript *out);   /* false: reported */
Val subscript_view(Eval *e, PySpan span, Val a, const Subscript *s);    /* of slices and integers */
Val index_wrapped(Eval *e, PySpan span, Val index, Val n, uint32_t axis);   /* in 0 ... n-1; POISON: reported */

/* ---- many ---------------------------------------------------------------------------------------------- */
/* Up to so many elements of constant shape, a result is computed at once, without loops, and PHIs copy. */
enum { SMALL_ELEMENTS = 64 };

static inline bool val_is_many(Val v) { return (v.ty->kind == TY_ARRAY && !v.ty->weak) || v.ty->kind == TY_EXPR; }
static inline Val many_size(Val v, uint32_t axis) {
    return v.ty->kind == TY_ARRAY ? array_size(v, axis) : v.items[v.ty->n - v.ty->ndim + axis];
}
static inline const Val *many_shape(Val v) { return v.ty->kind == TY_ARRAY ? v.items + 1 : v.items + v.ty->n - v.ty->ndim; }

/* ---- elementwise.c ------------------------------------------------------------------------------------- */
/* What is done with the elements: `code` is a PyBinary, PyUnary, PyCompare or DType; `fn` a row of devfn.def. */
typedef struct ExprOp {
    ExprKind kind;
    uint8_t code;
    const CallSite *site;       /* EXPR_CALL */
} ExprOp;

Val array_map(Eval *e, PySpan span, ExprOp op, uint32_t n, const Val *operands);
Val array_lazy(Eval *e, PySpan span, ExprOp op, uint32_t n, const Val *operands);   /* an expression in any case */
/* The element of a number, array or expression at an index of n axes, to which it is broadcast. */
Val many_element(Eval *e, PySpan span, Val v, uint32_t n, const Val *index);
Val many_element_type(Eval *e, Val v);              /* a scalar without a value */
bool many_is_fresh(const Eval *e, Val v);           /* the same as a question, of tuples of expressions as well */
Val many_renewed(Eval *e, Val v);                   /* made here: a PHI, whose operands were fresh where they come from */
bool many_fresh(Eval *e, PySpan span, Val v);       /* false, reported: memory may have changed since the expression was made */
Val many_array(Eval *e, PySpan span, Val v);        /* an expression of constant shape as an array; arrays as they are */
const char *shape_text(Eval *e, uint32_t ndim, const Val *shape);
/* The shape of all together; false: reported. */
bool many_broadcast(Eval *e, PySpan span, uint32_t n, const Val *v, uint32_t *ndim, Val *shape);
/* The arrays in an expression, at most MAX_LEAVES; more are too many. */
enum { MAX_LEAVES = 32 };
typedef struct Leaf {
    Val array;
    bool scattered;             /* its elements come in any order */
} Leaf;
uint32_t many_leaves(Val v, Leaf *out, uint32_t n);

/* Are all sizes those of the shape (or 1)? Else `equal` says it at run time. */
bool many_sizes_equal(Eval *e, Val v, uint32_t ndim, const Val *shape, Ref *equal);
/* The same, whose sizes at run time may be 1: ValueError if one is neither that nor the shape's. */
Val many_stretched(Eval *e, PySpan span, Val v, uint32_t ndim, const Val *shape);
typedef void AtElement(Eval *e, void *context, const Val *index, Val element);
/* Calls `each` for every element of v, broadcast to the shape. */
void many_walk(Eval *e, PySpan span, Val v, uint32_t ndim, const Val *shape, Ref backward, AtElement *each,
               void *context);

Val many_computed(Eval *e, PySpan span, Val expr, Wide total);  /* of up to SMALL_ELEMENTS elements, as an array */
Val axis_index(Eval *e, Val size, Val index);       /* 0 along an axis of one element */

/* ---- takes.c ------------------------------------------------------------------------------------------- */
bool index_takes(Eval *e, PySpan span, Val a, Val index);   /* are there lists or arrays of integers in it? Then: */
Val array_taken(Eval *e, PySpan span, Val a, Val index);
void array_put_taken(Eval *e, PySpan span, Val a, Val index, Val value);
Val take_element(Eval *e, PySpan span, Val x, const Val *index);        /* of an EXPR_TAKE */
Val take_stretched(Eval *e, PySpan span, Val x, const Val *shape);

/* ---- arrayloop.c --------------------------------------------------------------------------------------- */
typedef void AtIndex(Eval *e, void *context, const Val *index);
bool sizes_known(uint32_t ndim, const Val *sizes, Wide *total);
/* Calls `each` for every index, in C order; in the other direction if `backward`, a bool, is there and true. */
void for_each_index(Eval *e, uint32_t ndim, const Val *sizes, Ref backward, AtIndex *each, void *context);
void index_of(Eval *e, uint32_t ndim, const Val *sizes, Wide i, Val *index);   /* element number i in C order */
/* A variable of a loop: memory that LLVM makes a register of. */
typedef struct Cell { Scalar type; Ref at; } Cell;
Cell cell_new(Eval *e, Scalar type, Val first);
Val cell_get(Eval *e, const Cell *c);
void cell_set(Eval *e, const Cell *c, Val v);

/* ---- arrayassign.c ------------------------------------------------------------------------------------- */
void array_assign(Eval *e, PySpan span, Val target, Val value);     /* target[...] = value */
void array_put(Eval *e, PySpan span, Val target, const Val *index, Val v);   /* one element, or record */
bool array_fits(Eval *e, PySpan span, Val target, Val *value);      /* `value` without axes in front; false: reported */
void array_assign_masked(Eval *e, PySpan span, Val target, Val mask, Val value);    /* target[mask] = value, a number, or for each element of target one */
/* Elements are stored in C order as they are read: ValueError at run time if that overwrites what is read later. */
void array_read_ahead(Eval *e, PySpan span, Val target, Val value);
void array_keep_apart(Eval *e, PySpan span, Val target, Val value); /* ValueError at run time if they share memory */
Val array_in_place(Eval *e, PySpan span, PyBinary op, Val target, Val value);
bool array_mask_matches(Eval *e, PySpan span, Val target, Val mask);    /* one has the other's shape; false: reported */
Val array_changed(Eval *e, PySpan span, PyBinary op, Val target, Val value);    /* what `target op= value` stores */

/* ---- arrayshape.c -------------------------------------------------------------------------------------- */
Val array_flat(Eval *e, PySpan span, Val a);        /* a.flat: one axis, in C order */
Val array_permuted(Eval *e, Val a, const uint32_t *order);   /* axis k of the result is axis order[k] */

/* ---- sizes.c ------------------------------------------------------------------------------------------- */
/* How many elements these bounds take of a long array; 0: that isn't known. */
uint32_t likely_between(const Frame *fr, PyRef start, PyRef stop, Wide step);
uint32_t likely_count(Val slice, Wide step);
/* Where constant sizes are needed: likely ones become so, and ValueError at run time where one isn't. False: they aren't known. */
bool many_settled(Eval *e, PySpan span, const char *name, Val *v, Wide *total);
Val rows_settled(Eval *e, PySpan span, Val array);  /* the same of the first axis alone */
bool shape_settled(Eval *e, PySpan span, const char *name, uint32_t n, Val *shape, Wide *total);

/* ---- arraymake.c --------------------------------------------------------------------------------------- */
Val array_copied(Eval *e, PySpan span, Val a);      /* a new array, if the size is known; else an expression */
Val array_from_sequence(Eval *e, PySpan span, Val sequence, DType d);   /* of tuples, nested; d DT_NONE: what NumPy finds */

/* ---- arrayreduce.c ------------------------------------------------------------------------------------- */
Val array_python_sum(Eval *e, const CallSite *site, Val v, Val start);      /* sum(v, start) */
Val array_python_minmax(Eval *e, const CallSite *site, Val v);              /* site->fn->param: max */
Val array_python_any(Eval *e, const CallSite *site, Val v, bool any);
Val array_contains(Eval *e, PySpan span, Val item, Val a);

/* ---- pythonfns.c --------------------------------------------------------------------------------------- */
Val call_small_array(Eval *e, const CallSite *site, const char *name, uint32_t n, const Val *args);   /* of gpu._smallarrays */

/* ---- linalg.c ------------------------------------------------------------------------------------------ */
Val array_matmul(Eval *e, PySpan span, Val a, Val b, bool dot);

#endif
