/* codekit.h - what the tests of generated code share: the compiler library, small kernels, edge values. */
#ifndef CODEKIT_H
#define CODEKIT_H

#include "../../compiler/compiler.h"

const CompilerApi *kit_open(void);                                /* ends the program if the library isn't there */
char *kit_package_path(const char *name, char *out, size_t size); /* of a file beside the library */

/* One operation on loaded values. The type is the result's, arg_type the operands' (SELECT: of its choices). */
typedef struct KitOp {
    Op op;
    Type type, arg_type;
    uint16_t sub;
    uint32_t nargs;
    const uint64_t *constant; /* the second operand, if it is a constant; else NULL */
} KitOp;

/* out[i] = op(a[i], b[i], c[i]) for i in the launch's threads: the operands are loaded from parameters 0 to 2,
 * and stored to parameter 3. */
IrModule *kit_kernel(Arena *arena, const KitOp *op);
/* All of `ops` in one kernel, each stored to an array of its own (parameters 3, 4, ...). */
IrModule *kit_kernel_of(Arena *arena, const KitOp *ops, uint32_t n);

/* Every operation that takes values of type t, but CONVERT and BITCAST. Returns the count. */
uint32_t kit_ops(Type t, KitOp *out, uint32_t max);
/* Every atomic operation, clock and operation of several threads that has a value, on values of type t. */
uint32_t kit_together(Type t, KitOp *out, uint32_t max);
/* Values of type t at which things go wrong: limits, zeros, infinities, NaN, subnormals, ties, powers of two. */
uint32_t kit_values(Type t, uint64_t *out, uint32_t max);

/* Runs a loaded kernel on the CPU for `threads` threads, in blocks of `block`. */
void kit_run(const Image *image, const void *params, uint32_t threads, uint32_t block);
bool kit_same(Type t, uint64_t a, uint64_t b); /* the same bits, or both NaN */
uint64_t kit_get(Type t, const void *array, uint32_t i);
void kit_put(Type t, void *array, uint32_t i, uint64_t bits);

#endif
