/* target.c - the GPUs that we know, and LLVM's context and target machine for one compilation.
 *
 * LLVM ends the process when a PTX version is too low for a GPU and guesses when it doesn't know one:
 * so both are checked against this table first. */
#include "emit.h"

#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* A GPU and the lowest PTX version for it alone, with 'a' and with 'f' (0: there is no such variant). */
static const struct {
    uint16_t sm, plain, a, f;
} gpus[] = {
    {75, 63, 0, 0},    {80, 70, 0, 0},    {86, 71, 0, 0},    {87, 74, 0, 0},    {88, 90, 0, 0},
    {89, 78, 0, 0},    {90, 78, 80, 0},   {100, 86, 86, 88}, {101, 86, 86, 88}, {103, 88, 88, 88},
    {110, 90, 90, 90}, {120, 87, 87, 88}, {121, 88, 88, 88},
};

static const uint8_t ptx_versions[] = {63, 64, 65, 70, 71, 72, 73, 74, 75, 76, 77,
                                       78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90};

bool target_known(uint16_t sm, char suffix, uint16_t *lowest_ptx) {
    for (unsigned i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        if (gpus[i].sm != sm) continue;
        uint16_t v = suffix == 0 ? gpus[i].plain : suffix == 'a' ? gpus[i].a : suffix == 'f' ? gpus[i].f : 0;
        if (v && lowest_ptx) *lowest_ptx = v;
        return v != 0;
    }
    return false;
}

uint16_t target_ptx_version(const CompileOptions *o, Arena *a, char **error) {
    uint16_t lowest;
    const char suffix[2] = {o->sm_suffix, 0};
    if (!target_known(o->sm, o->sm_suffix, &lowest)) {
        *error = arena_printf(a, "sm_%u%s is not a GPU architecture that this version knows", o->sm, suffix);
        return 0;
    }
    if (o->ptx_version == 0) return lowest;
    bool known = false;
    for (unsigned i = 0; i < sizeof ptx_versions; i++) known |= ptx_versions[i] == o->ptx_version;
    if (known && o->ptx_version >= lowest) return o->ptx_version;
    *error = arena_printf(a,
                          known ? "PTX %u.%u is too old for sm_%u%s, which needs %u.%u"
                                : "PTX %u.%u is not a version that this compiler writes (sm_%u%s needs %u.%u or later)",
                          o->ptx_version / 10u, o->ptx_version % 10u, o->sm, suffix, lowest / 10u, lowest % 10u);
    return 0;
}

static void initialize(void) {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    /* The first keeps the register allocator's time near-linear; processors that reorder instructions don't need the
     * second. The next two have the last threads of a block run in the vectors too, under a mask, instead of in a
     * scalar copy of the loop: less code to emit, and faster for blocks that aren't a multiple of the vector. The last
     * makes addresses of shared memory 32 bits wide, so that constant parts of an index become part of the instruction.
     */
    static const char *const options[] = {"gpu",
                                          "-grow-region-complexity-budget=100",
                                          "-disable-post-ra",
                                          "-prefer-predicate-over-epilogue=predicate-else-scalar-epilogue",
                                          "-enable-epilogue-vectorization=false",
                                          "-nvptx-short-ptr"};
    LLVMParseCommandLineOptions(sizeof options / sizeof *options, options, NULL);
}

/* LLVM's registry of targets is the process's; it is filled once. */
void target_initialize(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialize);
}

/* Remarks and warnings come here too; LLVM's own handler would end the process on an error. */
static void on_diagnostic(LLVMDiagnosticInfoRef info, void *unit) {
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) return;
    char *text = LLVMGetDiagInfoDescription(info);
    unit_fail(unit, "%s", text);
    LLVMDisposeMessage(text);
}

static LLVMTargetMachineRef make_machine(Unit *u, const char *triple, const char *cpu, const char *features,
                                         LLVMCodeGenOptLevel level) {
    LLVMTargetRef target;
    char *message = NULL;
    if (LLVMGetTargetFromTriple(triple, &target, &message)) {
        unit_fail(u, "LLVM has no target %s: %s", triple, message);
        LLVMDisposeMessage(message);
        return NULL;
    }
    return LLVMCreateTargetMachine(target, triple, cpu, features, level, LLVMRelocPIC, LLVMCodeModelDefault);
}

static LLVMTargetMachineRef open_ptx(Unit *u, LLVMCodeGenOptLevel level) {
    uint16_t version = target_ptx_version(u->o, u->arena, &u->error);
    if (!version) return NULL;
    char cpu[16], features[16];
    snprintf(cpu, sizeof cpu, "sm_%u%.1s", u->o->sm, u->o->sm_suffix ? &u->o->sm_suffix : "");
    snprintf(features, sizeof features, "+ptx%u", version);
    return make_machine(u, "nvptx64-nvidia-cuda", cpu, features, level);
}

/* Each thread keeps its machine for the host: looking the processor up and making its tables takes a tenth of a
 * small compilation. */
static pthread_key_t host_machine;

static void dispose_machine(void *tm) { LLVMDisposeTargetMachine(tm); }

static void make_key(void) { pthread_key_create(&host_machine, dispose_machine); }

static LLVMTargetMachineRef make_host(Unit *u, LLVMCodeGenOptLevel level) {
    char *triple = LLVMGetDefaultTargetTriple(), *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
    LLVMTargetMachineRef tm = make_machine(u, triple, cpu, features, level);
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    return tm;
}

static LLVMTargetMachineRef open_host(Unit *u) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    LLVMTargetMachineRef tm = pthread_getspecific(host_machine);
    if (tm) return tm;
    tm = make_host(u, LLVMCodeGenLevelDefault);
    pthread_setspecific(host_machine, tm);
    return tm;
}

void target_reopen_quick(Unit *u) {
    if (u->own_tm) LLVMDisposeTargetMachine(u->tm);
    u->tm = u->o->target == TARGET_PTX ? open_ptx(u, LLVMCodeGenLevelNone) : make_host(u, LLVMCodeGenLevelNone);
    u->own_tm = u->tm != NULL;
}

void target_open(Unit *u) {
    target_initialize();
    u->own_tm = u->o->target == TARGET_PTX;
    u->tm = u->own_tm ? open_ptx(u, LLVMCodeGenLevelDefault) : open_host(u);
    if (!u->tm) return;
    u->ctx = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(u->ctx, on_diagnostic, u);
    u->mod = LLVMModuleCreateWithNameInContext("gpu", u->ctx);
    char *triple = LLVMGetTargetMachineTriple(u->tm);
    LLVMSetTarget(u->mod, triple);
    LLVMDisposeMessage(triple);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(u->tm);
    LLVMSetModuleDataLayout(u->mod, layout);
    LLVMDisposeTargetData(layout);
}

void target_close(Unit *u) {
    if (u->mod) LLVMDisposeModule(u->mod);
    if (u->ctx) LLVMContextDispose(u->ctx);
    if (u->tm && u->own_tm) LLVMDisposeTargetMachine(u->tm);
    u->mod = NULL, u->ctx = NULL, u->tm = NULL;
}
