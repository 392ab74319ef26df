/* emit.h - LLVM modules to code: targets, passes, emission, libraries, loading. */
#ifndef GPU_EMIT_H
#define GPU_EMIT_H

#include "compiler.h"
#include "store.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

/* One compilation's LLVM objects. */
typedef struct Unit {
    const CompileOptions *o;
    Arena *arena;
    LLVMContextRef ctx;
    LLVMModuleRef mod;
    LLVMTargetMachineRef tm;
    bool own_tm; /* made for this unit alone */
    struct Regions *regions;   /* of a CPU kernel whose threads wait for each other */
    bool warps;                /* its vectors are warps; see ir_regions() */
    struct Vectors *vectors;   /* of one that runs in vectors of threads */
    StoreEntry stored;         /* where the code is kept, if anywhere */
    char *error; /* the first error, in the arena; NULL so far */
} Unit;

void unit_fail(Unit *u, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- target.c ---- */
bool target_known(uint16_t sm, char suffix, uint16_t *lowest_ptx);
/* The PTX version that the options mean; 0 and an error if the target isn't known or the version too low. */
uint16_t target_ptx_version(const CompileOptions *o, Arena *a, char **error);
void target_initialize(void);
void target_open(Unit *u); /* context, module and target machine */
void target_reopen_quick(Unit *u); /* a machine that emits huge functions in linear time, u->tm from now on */
void target_close(Unit *u);

/* ---- emit.c ---- */
void emit_optimize(Unit *u);
LLVMMemoryBufferRef emit_code(Unit *u, LLVMCodeGenFileType type);

/* ---- emit_divisions.c ---- */
bool emit_is_division(LLVMValueRef in);     /* of integers, by no constant */
bool emit_hide_divisions(Unit *u);          /* false: nothing can stand for them */
void emit_show_divisions(Unit *u);

/* ---- emit_walks.c ---- */
bool emit_walks_end(Unit *u);   /* LLVM's vectoriser finds what is the same for all lanes, soon enough */

/* ---- emit_bits.c ---- */
void emit_bits(Unit *u);   /* what LLVM would get wrong of conversions of one bit */

/* ---- emit_constants.c ---- */
void emit_constants(Unit *u);   /* addresses of constant memory in registers */

/* ---- foreign.c ---- */
void foreign_link(Unit *u, const IrModule *m);   /* adds the bitcode that declared functions come with */
bool foreign_is_llvm(const ForeignLink *l);
bool foreign_is_declared(const IrModule *m, const char *name);

/* ---- libdevice.c ---- */
void library_link(Unit *u, const IrModule *m); /* adds the library functions that the module calls */

/* ---- jitcpu.c ---- */
typedef struct LoadedCode LoadedCode;
/* Loads an object that may call the options' symbols; NULL and a message in the arena if it can't. */
LoadedCode *jit_load(const void *object, size_t size, const char *symbol, const CompileOptions *o, void **address, Arena *a,
                     char **error);
void jit_unload(LoadedCode *code);

#endif
