/* pipeline.c - the passes over our own IR, in the order in which they run: those for all devices, then those for the
 * CPU and those for GPUs.
 *
 * A name here is also the pass's name for `irtool`, for dumps and in test files. LLVM optimises what
 * comes out of this; only what LLVM can't know (ranges of thread indices, facts of a launch, which
 * parameters a kernel needs) or what makes its work smaller is done here. */
#include "compiler.h"

#include <stdlib.h>

const Pass pipeline_passes[] = {
    {"simplify", pass_simplify},
    {"ranges", pass_ranges},
    {"clean", pass_simplify},
    {"waits", pass_waits},
    {"params", pass_params},
    {"latches", pass_latches},
    {NULL, NULL},
};

const Pass pipeline_cpu_passes[] = {
    {"ahead", pass_ahead},
    {"selects", pass_selects},
    {"sweeps", pass_sweeps},
    {NULL, NULL},
};

const Pass pipeline_gpu_passes[] = {
    {"warpsteps", pass_warpsteps},
    {"wraps", pass_wraps},
    {"chains", pass_chains},
    {NULL, NULL},
};

static void check(const IrModule *m, const char *after) {
#ifndef NDEBUG
    const char *error = ir_verify(m);
    if (!error) return;
    ir_print(m, stderr, false);
    fprintf(stderr, "%s: the IR is wrong after %s: %s\n", m->name, after, error);
    abort();
#else
    (void)m, (void)after;
#endif
}

void pipeline_run(IrModule *m, const Pass *passes) {
    check(m, "what was before the passes");
    for (const Pass *p = passes; p->name; p++) {
        p->run(m);
        check(m, p->name);
    }
}
