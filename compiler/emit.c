/* emit.c - LLVM's passes and code emission, and how much of both a module is worth. */
#include "emit.h"

#include <llvm-c/Transforms/PassBuilder.h>
#include <stdarg.h>

/* For PTX: as good as default<O2> on the kernels that were measured, in half the time. instcombine's own
 * check for a fixpoint can end the process, so it is off everywhere. */
#define PTX_PASSES(values)                                                                                             \
    "nvvm-reflect,always-inline,cgscc(inline),function<eager-inv>("                                                    \
    "nvvm-intr-range,sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"                  \
    "loop-mssa(loop-rotate,licm),simplifycfg,instcombine<no-verify-fixpoint>,"                                         \
    "loop(indvars,loop-deletion,loop-unroll-full),sroa<modify-cfg>," values ",dse,instcombine<no-verify-fixpoint>,"    \
    "simplifycfg,loop-unroll<O2;no-runtime>,instcombine<no-verify-fixpoint>,simplifycfg,infer-alignment),globaldce"
static const char ptx_passes[] = PTX_PASSES("gvn");
/* gvn takes time by the square of the blocks that it finds can't be reached. */
static const char ptx_passes_many_blocks[] = PTX_PASSES("early-cse<memssa>");

/* For the CPU: shorter, and with the loops over threads vectorised. Each pass here paid for itself on the examples.
 * What doesn't: interleaving several vectors takes longer to emit than it wins; indvars makes the thread index 64 bits
 * wide, and so its vectors twice as many; loop-bound-split cuts loops over threads in two at `if t < n`, but our own
 * vectors do that where it counts, and it crashes where the compared number is a PHI in the middle of a loop. */
#define CPU_SCALAR                                                                                                     \
    "sroa<modify-cfg>,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,"                                          \
    "loop-mssa(loop-rotate,licm),loop(loop-unroll-full),sroa<modify-cfg>,"
#define CPU_VECTORS "loop-vectorize<interleave-forced-only>"
/* Loops inside of a vector's threads: there is no loop over threads left to vectorise. */
#define CPU_LANES                                                                                                      \
    "sroa<modify-cfg>,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(loop-rotate,licm),"              \
    "loop-unroll<O3;no-partial;no-runtime;no-peeling;no-profile-peeling>,sroa<modify-cfg>,gvn,loop-mssa(licm)"
/* What unpacks the parameters takes the one function that it calls into itself. */
#define CPU_PASSES(passes) "always-inline,function<eager-inv>(" passes ")"
#define CPU_CLEAN "instcombine<no-verify-fixpoint>,simplifycfg<hoist-common-insts;sink-common-insts>"

/* At level 0 values still live in registers and library functions still know their target. */
static const char ptx_passes_0[] = "nvvm-reflect,always-inline,function(sroa,early-cse,simplifycfg),globaldce";
static const char cpu_passes_0[] = "function(sroa,early-cse,simplifycfg)";

void unit_fail(Unit *u, const char *fmt, ...) {
    if (u->error) return;
    va_list ap;
    va_start(ap, fmt);
    u->error = arena_vprintf(u->arena, fmt, ap);
    va_end(ap);
}

/* ---- how much is worth doing ------------------------------------------------------------------- */

typedef struct Size {
    unsigned instrs, blocks;
    unsigned shared;    /* values that are operands more than once, but for loaded ones */
    unsigned divisions; /* of integers by no constant: each becomes several blocks, in a vector for each lane */
    uint64_t pairs;     /* of a store and an access to memory in one block, the most: the scheduler orders them */
    unsigned accesses;  /* to memory in one block, the most: strength reduction compares their addresses */
} Size;

/* LLVM's vectoriser and register allocator take time by the square of what they get, so they don't get everything. Up
 * to SMALL nothing is looked at; the others are where a compilation of generated code took about half a second. */
enum { SMALL_INSTRS = 1000, SMALL_SHARED = 12, VECTOR_INSTRS = 2000, VECTOR_BLOCKS = 128, VECTOR_DIVISIONS = 16 };
enum {
    ALLOCATE_INSTRS = 8000,
    ALLOCATE_BLOCKS = 600,
    BLOCKS_OF_DIVISION = 4,
    ALLOCATE_PAIRS = 500000,
    REDUCE_ACCESSES = 400,
    GVN_BLOCKS = 2000
};

static Size size_of(const Unit *u) {
    Size s = {0};
    for (LLVMValueRef f = LLVMGetFirstFunction(u->mod); f; f = LLVMGetNextFunction(f)) {
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            uint64_t stores = 0, loads = 0;
            s.blocks++;
            for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in)) {
                s.instrs++;
                LLVMUseRef use = LLVMGetFirstUse(in);
                s.shared += use && LLVMGetNextUse(use) && LLVMGetInstructionOpcode(in) != LLVMLoad;
                s.divisions += emit_is_division(in);
                stores += LLVMGetInstructionOpcode(in) == LLVMStore;
                loads += LLVMGetInstructionOpcode(in) == LLVMLoad;
            }
            if (stores * (stores + loads) > s.pairs) s.pairs = stores * (stores + loads);
            if (stores + loads > s.accesses) s.accesses = (unsigned)(stores + loads);
        }
    }
    return s;
}

static bool worth_vectors(Size s) {
    return s.instrs <= VECTOR_INSTRS && s.blocks <= VECTOR_BLOCKS && s.divisions <= VECTOR_DIVISIONS;
}

static bool worth_allocation(Size s) {
    return s.instrs <= ALLOCATE_INSTRS && s.pairs <= ALLOCATE_PAIRS &&
           s.blocks + s.divisions * BLOCKS_OF_DIVISION <= ALLOCATE_BLOCKS;
}

/* ---- passes and emission ------------------------------------------------------------------------ */

static void run_passes(Unit *u, const char *line) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(u->mod, line, u->tm, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error) return;
    char *text = LLVMGetErrorMessage(error);
    unit_fail(u, "LLVM's passes: %s", text);
    LLVMDisposeErrorMessage(text);
}

/* Whether a large kernel is vectorised is decided when the branches that became selects are gone. */
static void optimize_cpu(Unit *u) {
    Size s = size_of(u);
    if (u->vectors) {
        run_passes(u, CPU_PASSES(CPU_LANES "," CPU_CLEAN));
        return;
    }
    if (s.instrs <= SMALL_INSTRS && s.shared <= SMALL_SHARED && s.divisions == 0) {
        run_passes(u, CPU_PASSES(CPU_SCALAR "gvn," CPU_VECTORS "," CPU_CLEAN));
        return;
    }
    run_passes(u, s.blocks <= GVN_BLOCKS ? CPU_PASSES(CPU_SCALAR "gvn") : CPU_PASSES(CPU_SCALAR "early-cse<memssa>"));
    if (worth_vectors(size_of(u)) && emit_walks_end(u) && emit_hide_divisions(u)) {
        run_passes(u, CPU_PASSES(CPU_VECTORS));
        emit_show_divisions(u);
    }
    run_passes(u, CPU_PASSES(CPU_CLEAN));
}

void emit_optimize(Unit *u) {
    if (u->o->target == TARGET_PTX) {
        run_passes(u, !u->o->opt                        ? ptx_passes_0
                      : size_of(u).blocks <= GVN_BLOCKS ? ptx_passes
                                                        : ptx_passes_many_blocks);
        emit_bits(u);
        emit_constants(u);
    } else if (u->o->opt) optimize_cpu(u);
    else run_passes(u, cpu_passes_0);
}

LLVMMemoryBufferRef emit_code(Unit *u, LLVMCodeGenFileType type) {
    char *message = NULL;
    LLVMMemoryBufferRef out = NULL;
    Size s = size_of(u);
    if (u->o->target == TARGET_CPU ? !worth_allocation(s) : s.accesses > REDUCE_ACCESSES) target_reopen_quick(u);
    if (u->error) return NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(u->tm, u->mod, type, &message, &out)) {
        unit_fail(u, "LLVM can't emit the code: %s", message);
        LLVMDisposeMessage(message);
        return NULL;
    }
    return out;
}
