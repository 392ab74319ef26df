/* devfn.h - the table of functions that a kernel may call: one row in devfn.def for each. */
#ifndef GPU_DEVFN_H
#define GPU_DEVFN_H

#include "eval.h"

/* The kinds of rows, as devfn.def tells them apart. */
typedef enum DevKind { DEV_FN, DEV_EACH, DEV_ARRAY, DEV_NONE, DEV_VALUE } DevKind;

struct DevFn {
    const char *path;           /* "math.sin", "numpy.where", "builtins.abs", "gpu.threadIdx.x", "ndarray.item" */
    const char *signature;      /* "(x)"; "" for a value */
    DevCall *call;
    uint16_t param;             /* MathFn, Op, PyBinary ...: what the handler makes of it */
    DevKind kind;
    const char *doc;
};

/* The row that a callee is; NULL: it is something else. */
const DevFn *devfn_of(const Eval *e, Val fn);
/* All rows that can be called, in the order of devfn.def; for the Python side and the docs. */
const DevFn *devfn_table(size_t *count);

#endif
