/* compiler.h - the compiler library's public face: a typed IrModule in, an Image out.
 *
 * libgpu_compiler.so holds LLVM and exports one symbol, gpu_compiler(), which returns the table
 * below. The extension opens it at the first compilation. Every function may be called from any
 * thread; each thread has an LLVM context and target machine of its own. Errors: NULL and a malloc'ed message in *error. */
#ifndef GPU_COMPILER_H
#define GPU_COMPILER_H

#include "ir.h"
#include "../runtime/image.h"

typedef enum TargetKind { TARGET_PTX, TARGET_CPU } TargetKind;

/* Code of somebody else's for the functions that a module declares. LLVM's is compiled with it; the rest is the driver's to
 * link, and comes back in the image. The memory must live during the compilation. */
typedef struct ForeignLink {
    uint8_t kind;              /* LinkKind of image.h */
    const void *data;
    size_t size;
    const char *name;          /* for messages */
} ForeignLink;

/* Where a declared function is in this process. */
typedef struct ForeignSymbol { const char *name; uintptr_t address; } ForeignSymbol;

typedef struct CompileOptions {
    TargetKind target;
    uint16_t sm;               /* 75 ... 121; TARGET_PTX */
    char sm_suffix;            /* 'a' or 'f' for sm_90a and its kind, else 0 */
    uint16_t ptx_version;      /* 0: the lowest that the sm allows; else 63 ... 90 */
    uint16_t max_registers;    /* 0: no limit */
    uint32_t max_threads, min_blocks, max_cluster;   /* launch bounds; 0: none */
    bool fma;                  /* contract x * y + z */
    bool fastmath;             /* approximate functions, no NaN or signed zero care, flush to zero */
    bool lineinfo;             /* .loc lines; CPU: nothing */
    bool debug;                /* all that a debugger needs, in code that the driver doesn't optimise; CPU: nothing */
    uint8_t opt;               /* 0 ... 3; 0 still keeps values in registers */
    const char *libdevice;     /* path of libdevice.10.bc, or NULL: the bundled libclc functions */
    const ForeignLink *links; uint32_t nlinks;
    const ForeignSymbol *symbols; uint32_t nsymbols;
    const char *libclc_dir;    /* folder of the split bitcode */
    const char *cache_dir;     /* folder where code is kept and looked for; NULL: none */
    const char *cache_name;    /* what the names of its files begin with; NULL: nothing */
} CompileOptions;

typedef enum Stage { STAGE_IR, STAGE_LLVM, STAGE_LLVM_OPT, STAGE_ASM } Stage;

typedef enum Legality { LEGAL_NATIVE, LEGAL_EXPAND, LEGAL_REFUSE } Legality;

typedef struct CompilerApi {
    const char *llvm_version;
    /* Runs the IR passes, lowers, emits; for the CPU also loads the code and sets cpu_entry or host_fn.
     * The module is consumed (passes change it). */
    Image *(*compile)(IrModule *m, const CompileOptions *o, char **error);
    /* The text of one stage, malloc'ed; for `inspect`. */
    char *(*text)(IrModule *m, const CompileOptions *o, Stage stage, char **error);
    /* Is `op` on `t` emitted by LLVM itself, expanded by us, or refused on this target? */
    Legality (*legality)(Op op, Type t, uint16_t sub, const CompileOptions *o);
    bool (*target_known)(uint16_t sm, char suffix, uint16_t *lowest_ptx);
    void (*unload)(Image *image);     /* frees the native code of a CPU image */
} CompilerApi;

__attribute__((visibility("default"))) const CompilerApi *gpu_compiler(void);

/* pipeline.c: the passes over our IR, run by compile() before lowering, also without LLVM (tests, `inspect`). A list ends
 * with a NULL name. */
typedef struct Pass { const char *name; void (*run)(IrModule *m); } Pass;
extern const Pass pipeline_passes[];
extern const Pass pipeline_cpu_passes[];                    /* behind them, for kernels that the CPU runs in vectors */
extern const Pass pipeline_gpu_passes[];                    /* behind them, for GPUs */
void pipeline_run(IrModule *m, const Pass *passes);         /* in debug builds verifies after each */

/* locals.c: where the arrays of an image that has its PTX lie in local memory. False: no memory. */
bool locals_fill(Image *image, const IrModule *m);

#endif
