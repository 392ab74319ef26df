/* emit.c - LLVM's passes and code emission. */
#include "emit.h"

#include <llvm-c/Transforms/PassBuilder.h>
#include <stdarg.h>

/* For PTX: as good as default<O2> on the kernels that were measured, in half the time. instcombine's own
 * check for a fixpoint can end the process, so it is off everywhere. */
static const char ptx_passes[] =
    "nvvm-reflect,always-inline,cgscc(inline),function<eager-inv>("
    "nvvm-intr-range,sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-rotate,licm),simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop(indvars,loop-deletion,loop-unroll-full),sroa<modify-cfg>,gvn,dse,instcombine<no-verify-fixpoint>,"
    "simplifycfg,loop-unroll<O2>,instcombine<no-verify-fixpoint>,simplifycfg),globaldce";

/* For the CPU: shorter, and with the loops over threads vectorised. Each pass here paid for itself on the examples;
 * interleaving several vectors doesn't: the code takes longer to emit than it wins. */
static const char cpu_passes[] =
    "function<eager-inv>(sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    "loop-mssa(loop-rotate,licm),loop(indvars,loop-unroll-full),sroa<modify-cfg>,gvn,"
    "loop-vectorize<interleave-forced-only>,instcombine<no-verify-fixpoint>,"
    "simplifycfg<hoist-common-insts;sink-common-insts>)";

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

static const char *pass_line(const CompileOptions *o) {
    if (o->target == TARGET_PTX) return o->opt ? ptx_passes : ptx_passes_0;
    return o->opt ? cpu_passes : cpu_passes_0;
}

void emit_optimize(Unit *u) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(u->mod, pass_line(u->o), u->tm, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error) return;
    char *text = LLVMGetErrorMessage(error);
    unit_fail(u, "LLVM's passes: %s", text);
    LLVMDisposeErrorMessage(text);
}

LLVMMemoryBufferRef emit_code(Unit *u, LLVMCodeGenFileType type) {
    char *message = NULL;
    LLVMMemoryBufferRef out = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(u->tm, u->mod, type, &message, &out)) {
        unit_fail(u, "LLVM can't emit the code: %s", message);
        LLVMDisposeMessage(message);
        return NULL;
    }
    return out;
}
