/* devfn.h - the table of functions that a kernel may call: one row in devfn.def for each. */
#ifndef GPU_DEVFN_H
#define GPU_DEVFN_H

#include "eval.h"

struct DevFn {
    const char *path;           /* "math.sin", "numpy.where", "builtins.abs", "gpu.threadIdx.x", "ndarray.item" */
    const char *signature;      /* "(x)"; "" for a value */
    DevCall *call;
    uint16_t param;             /* MathFn, Op, PyBinary ...: what the handler makes of it */
    bool is_value;              /* evaluated where it is named */
    bool takes_arrays;          /* as they are; other numpy functions work on each element */
    const char *doc;
};

/* All rows that can be called, in the order of devfn.def; for the Python side and the docs. */
const DevFn *devfn_table(size_t *count);

#endif
