/* legal.h - what each target does with an operation on a type. */
#ifndef GPU_LEGAL_H
#define GPU_LEGAL_H

#include "compiler.h"

/* `t` is the type that decides: the first operand's, or the result's where there is none (CONVERT: the
 * operand's; STORE: the value's; LOAD: the result's). */
Legality legal_operation(Op op, Type t, uint16_t sub, const CompileOptions *o);

/* NULL, or why the module can't be compiled for the target, in the arena. */
uint16_t legal_ptx_version(const IrModule *m, const CompileOptions *o);   /* o's, or what the module needs */
char *legal_check(const IrModule *m, const CompileOptions *o);

#endif
