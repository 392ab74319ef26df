/* arrays.h - what the files that work on arrays share.
 *
 * arrays.c   arrays as values: shape, strides, addresses, loads and stores of elements
 * indices.c  subscripts: views and elements */
#ifndef GPU_ARRAYS_H
#define GPU_ARRAYS_H

#include "evaluator.h"

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

#endif
