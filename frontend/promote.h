/* promote.h - which types an operator computes in and what it gives: the NumPy and the Numba dialect
 * beside each other. promote.c has the rules as tables over kinds and widths; nothing else in the frontend
 * knows a dialect's rules for numbers. */
#ifndef GPU_PROMOTE_H
#define GPU_PROMOTE_H

#include "types.h"

/* Operands are converted to *left and *right, then the operator runs and gives *result. False: not defined for these types. */
bool promote_binary(Dialect dialect, PyBinary op, Scalar a, Scalar b, Scalar *left, Scalar *right, Scalar *result);
bool promote_unary(Dialect dialect, PyUnary op, Scalar a, Scalar *operand, Scalar *result);
/* The type in which a comparison is made. *exact: one side is uint64 and the other signed (or both are integers
 * that only float64 holds): compare the integers exactly; *operand is then float64 and not used. */
bool promote_compare(Dialect dialect, Scalar a, Scalar b, Scalar *operand, bool *exact);
/* What a variable gets when two assignments meet; false: they have no common type. */
bool promote_join(Dialect dialect, Scalar a, Scalar b, Scalar *out);
/* The common type of two operands, as numpy.result_type (arithmetic of Numba: at least 64 bits for integers). */
bool promote_common(Dialect dialect, Scalar a, Scalar b, Scalar *out);

#endif
