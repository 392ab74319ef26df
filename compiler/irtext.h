/* irtext.h - names that the printer and the parser of the text form share. */
#ifndef GPU_IRTEXT_H
#define GPU_IRTEXT_H

#include "ir.h"

typedef struct IrFlagName {
    const char *name;
    unsigned flag;
} IrFlagName;

extern const char *const param_kind_names[6];
extern const char *const pred_names[PRED__COUNT];
/* The names of an operation's `sub` where it is one of a list; NULL: it isn't. */
typedef struct IrSubNames { const char *const *names; unsigned count; } IrSubNames;
IrSubNames sub_names(Op op);
extern const char *const scope_names[SCOPE__COUNT], *const order_names[ORDER__COUNT];
extern const IrFlagName mem_flag_names[], arith_flag_names[], divide_flag_names[], param_flag_names[],
    fact_names[]; /* end with a NULL name */

/* The flags that `sub` holds; NULL when it holds something else or nothing. */
const IrFlagName *sub_flag_names(Op op);

#endif
