/* api.c - the compiler library's face: a module in, an Image out (compiler.h).
 *
 * Nothing may end the process. Out of memory in the arena and LLVM's fatal errors both come back here by
 * longjmp: the first is clean, the second leaves behind what LLVM had open, and is the last resort. */
#define _GNU_SOURCE
#include "emit.h"
#include "legal.h"
#include "lower.h"
#include "regions.h"
#include "vectors.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm/Config/llvm-config.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a fatal error of LLVM in this thread goes; NULL outside of compilations. */
static _Thread_local struct {
    jmp_buf *to;
    char reason[512];
} fatal;

static void on_fatal(const char *reason) {
    strncpy(fatal.reason, reason, sizeof fatal.reason - 1);
    if (fatal.to) longjmp(*fatal.to, 1);
    fprintf(stderr, "gpu: a fatal error of LLVM outside of a compilation: %s\n", reason);
    abort();
}

/* Held for reading by each thread that is in LLVM. A fork waits for them: what one of them has locked would stay locked
 * in the child, where the thread isn't. */
static pthread_rwlock_t in_llvm;

static void init_lock(void) {
    pthread_rwlockattr_t attr;
    pthread_rwlockattr_init(&attr);
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP); /* the fork comes first */
    pthread_rwlock_init(&in_llvm, &attr);
    pthread_rwlockattr_destroy(&attr);
}

static void before_fork(void) { pthread_rwlock_wrlock(&in_llvm); }
static void after_fork(void) { pthread_rwlock_unlock(&in_llvm); }

static void start(void) {
    init_lock();
    pthread_atfork(before_fork, after_fork, init_lock);
    LLVMInstallFatalErrorHandler(on_fatal);
}

static void enter_llvm(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
    pthread_rwlock_rdlock(&in_llvm);
}

static void leave_llvm(void) { pthread_rwlock_unlock(&in_llvm); }

uint32_t param_offset(uint32_t *end, Type t) {
    uint32_t size = type_bytes(t), at = (*end + size - 1) / size * size;
    *end = at + size;
    return at;
}

const char *entry_symbol(const IrModule *m, const CompileOptions *o) {
    if (o->target == TARGET_PTX) return m->name;
    return arena_printf(m->arena, "%s.%s", m->name, m->host_function ? "host" : "entry");
}

/* ---- from module to code --------------------------------------------------------------------- */

static bool runs_threads(const Unit *u, const IrModule *m) { return u->o->target == TARGET_CPU && !m->host_function; }

/* Where a CPU kernel's threads wait. Before the image is made, also of code that was made before: both must be of one
 * mind. */
static void cut(Unit *u, IrModule *m) {
    if (!runs_threads(u, m)) return;
    u->warps = u->o->opt;
    if (u->o->opt) pipeline_run(m, pipeline_cpu_passes);
    u->regions = ir_regions(m, &u->warps);
}

/* LLVM IR in u->mod, of a module that the passes over our IR have seen and that is cut; NULL in u->error if all is
 * well. */
static void build(Unit *u, IrModule *m) {
    target_open(u);
    if (u->error) return;
    if (u->o->target == TARGET_PTX && u->o->opt) pipeline_run(m, pipeline_gpu_passes);
    u->vectors = runs_threads(u, m) && u->o->opt ? ir_vectors(m, u->regions, u->warps) : NULL;
    lower_module(u->ctx, u->mod, u->tm, m, u->o, u->regions, u->vectors);
#ifndef NDEBUG
    char *wrong = NULL;
    if (LLVMVerifyModule(u->mod, LLVMReturnStatusAction, &wrong)) unit_fail(u, "LLVM IR is wrong: %s", wrong);
    LLVMDisposeMessage(wrong);
#endif
    if (!u->error) foreign_link(u, m);
    if (!u->error) library_link(u, m);
}

static char *copy(const char *s) { return strdup(s ? s : ""); }

static void fill_params(Image *image, const IrModule *m) {
    image->nparams = m->params.n;
    image->params = calloc(m->params.n + 1, sizeof *image->params);
    for (uint32_t i = 0; i < m->params.n && image->params; i++) {
        const IrParam *p = &m->params.at[i];
        ImageParam *out = &image->params[i];
        out->kind = p->kind, out->axis = p->axis, out->type = p->type, out->flags = p->flags, out->leaf = p->leaf;
        out->bytes = (uint8_t)type_bytes((Type)p->type);
        out->offset = param_offset(&image->params_bytes, (Type)p->type);
    }
}

/* False: no memory. */
static bool fill_captures(Image *image, const IrModule *m) {
    if (!m->captures.n) return true;
    image->captures = calloc(m->captures.n, sizeof *image->captures);
    for (uint32_t i = 0; i < m->captures.n && image->captures; i++)
        image->captures[i] = (ImageCapture){m->captures.at[i].bytes, m->captures.at[i].size};
    return image->captures != NULL;
}

static void fill_sites(Image *image, const IrModule *m) {
    image->nsites = m->sites.n;
    image->sites = calloc(m->sites.n + 1, sizeof *image->sites);
    for (uint32_t i = 0; i < m->sites.n && image->sites; i++) {
        const IrSite *s = &m->sites.at[i];
        ImageSite *out = &image->sites[i];
        const IrSpan *span = s->span && s->span < m->spans.n ? &m->spans.at[s->span] : NULL;
        const IrFuncName *f = span && span->func < m->funcs.n ? &m->funcs.at[span->func] : NULL;
        out->exception = copy(s->exception), out->message = copy(s->message);
        out->file = copy(f ? f->file : NULL), out->function = copy(f ? f->name : NULL);
        out->line = span ? span->line : 0;
        out->host_ref = s->host_ref;
    }
    image->raises = m->sites.n > 0;
    image->prints = m->prints.n > 0;
}

/* Whether some edge goes back: to a block that comes no later in reverse postorder. */
static bool has_loops(const IrModule *m) {
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, m->blocks.n);
    uint32_t *place = ARENA_ARRAY(m->arena, uint32_t, m->blocks.n), n = ir_postorder(m, order);
    for (uint32_t i = 0; i < n; i++) place[order[i]] = i;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t s = 0; s < m->blocks.at[order[i]].nsucc; s++)
            if (place[m->blocks.at[order[i]].succ[s]] >= i) return true;
    return false;
}

static const uint8_t cut_kinds[OP__COUNT] = {[OP_BARRIER] = CUT_BARRIER,
                                             [OP_BARRIER_RED] = CUT_BARRIER_RED,
                                             [OP_GRIDSYNC] = CUT_GRID,
                                             [OP_SYNCWARP] = CUT_SYNCWARP,
                                             [OP_SHFL] = CUT_SHFL,
                                             [OP_VOTE] = CUT_VOTE,
                                             [OP_MATCH] = CUT_MATCH,
                                             [OP_REDUX] = CUT_REDUX,
                                             [OP_ACTIVEMASK] = CUT_ACTIVEMASK,
                                             [OP_NANOSLEEP] = CUT_YIELD};

static void fill_cut(ImageCut *out, const IrModule *m, const Instr *in) {
    Type t = in->nargs > 1 ? (Type)m->instrs.at[in->args[1]].type : T_BOOL;
    const IrSpan *span = in->span && in->span < m->spans.n ? &m->spans.at[in->span] : NULL;
    *out = (ImageCut){.kind = cut_kinds[in->op],
                      .sub = (uint8_t)in->sub,
                      .bytes = (uint8_t)type_bytes(t),
                      .is_signed = type_is_signed(t),
                      .line = span ? span->line : 0};
    out->file = copy(span && span->func < m->funcs.n ? m->funcs.at[span->func].file : NULL);
}

static void fill_regions(Image *image, const IrModule *m, const Regions *r) {
    image->ncuts = r->cuts.n;
    image->cuts = calloc(r->cuts.n + 1, sizeof *image->cuts);
    for (uint32_t i = 0; i < r->cuts.n && image->cuts; i++)
        fill_cut(&image->cuts[i], m, &m->instrs.at[r->cuts.at[i].sync]);
    image->thread_bytes = r->thread_bytes;
    image->block_bytes = r->block_bytes;
    image->uniform = r->uniform;
    image->straight = regions_straight(r, m);
}

static bool has_op(const IrModule *m, Op op) {
    for (BlockId b = 0; b < m->blocks.n; b++)
        for (uint32_t i = 0; !m->blocks.at[b].dead && i < m->blocks.at[b].instrs.n; i++)
            if (m->instrs.at[m->blocks.at[b].instrs.at[i]].op == op) return true;
    return false;
}

/* Copies of what the driver is to link. */
static bool fill_links(Image *image, const IrModule *m, const CompileOptions *o) {
    if (!m->foreign.n || o->target != TARGET_PTX) return true;
    image->links = calloc(o->nlinks + 1, sizeof *image->links);
    for (uint32_t i = 0; image->links && i < o->nlinks; i++) {
        const ForeignLink *l = &o->links[i];
        if (foreign_is_llvm(l)) continue;
        ImageLink *out = &image->links[image->nlinks++];
        *out = (ImageLink){.kind = l->kind, .size = l->size, .data = malloc(l->size + 1), .name = copy(l->name)};
        if (!out->data || !out->name) return false;
        memcpy(out->data, l->data, l->size);
        ((char *)out->data)[l->size] = 0; /* PTX is text */
    }
    return image->links;
}

static bool has_warp_ops(const IrModule *m) {
    for (unsigned op = 0; op < OP__COUNT; op++)
        if (ir_is_warp_op((Op)op) && has_op(m, (Op)op)) return true;
    return false;
}

/* Facts of the block's shape on which the code depends. */
static uint32_t shape_facts(const IrModule *m) {
    bool waits = has_op(m, OP_NANOSLEEP) || has_op(m, OP_PAUSE);
    return (has_warp_ops(m) ? FACT_WARPS : 0) | (waits ? FACT_ROW : 0);
}

static bool fill_arrays(Image *image, const IrModule *m) {
    image->nshared = m->shared.n;
    image->shared = calloc(m->shared.n + 1, sizeof *image->shared);
    for (uint32_t i = 0; i < m->shared.n && image->shared; i++) {
        const IrShared *s = &m->shared.at[i];
        image->shared[i] = s->shown;
        image->shared[i].line = s->span < m->spans.n ? m->spans.at[s->span].line : 0;
    }
    image->ndata = m->data.n;
    image->data = calloc(m->data.n + 1, sizeof *image->data);
    for (uint32_t i = 0; i < m->data.n && image->data; i++) image->data[i] = m->data.at[i].shown;
    return image->shared && image->data;
}

/* Everything but the code. */
static Image *new_image(const IrModule *m, const CompileOptions *o, const Regions *r) {
    Image *image = calloc(1, sizeof *image);
    if (!image) return NULL;
    image->entry = copy(entry_symbol(m, o));
    fill_params(image, m);
    fill_sites(image, m);
    image->no_loops = !has_loops(m) && !(r && r->cuts.n);
    image->calls_out = m->foreign.n > 0;
    image->shared_bytes = shared_layout(m, NULL);
    image->grid_sync = has_op(m, OP_GRIDSYNC);
    image->shape_facts = o->target == TARGET_CPU ? shape_facts(m) : 0;
    if (r) fill_regions(image, m, r);
    if (o->target == TARGET_PTX) {
        image->sm = o->sm;
        if (!(image->ptx_version = o->ptx_version)) target_known(o->sm, o->sm_suffix, &image->ptx_version);
    }
    bool filled = fill_captures(image, m) && fill_links(image, m, o) && fill_arrays(image, m);
    if (filled && image->entry && image->params && image->sites && (!r || image->cuts)) return image;
    gpu_image_free(image);
    return NULL;
}

/* Gives an image its code, which it owns, and loads it for the CPU. */
static void take_code(Unit *u, const IrModule *m, Image *image, char *bytes, size_t size) {
    if (u->o->target == TARGET_PTX) {
        image->ptx = bytes;
        if (!locals_fill(image, m)) unit_fail(u, "out of memory");
        return;
    }
    image->object = bytes;
    image->object_size = size;
    void *address = NULL;
    image->code = jit_load(bytes, size, image->entry, u->o, &address, u->arena, &u->error);
    if (m->host_function) image->host_fn = address;
    else if (u->regions) memcpy(&image->cpu_region, &address, sizeof address);
    else memcpy(&image->cpu_entry, &address, sizeof address);
}

static Image *make_image(Unit *u, const IrModule *m) {
    emit_optimize(u);
    if (u->error) return NULL;
    LLVMMemoryBufferRef code = emit_code(u, u->o->target == TARGET_PTX ? LLVMAssemblyFile : LLVMObjectFile);
    if (!code) return NULL;
    Image *image = new_image(m, u->o, u->regions);
    size_t size = LLVMGetBufferSize(code);
    char *bytes = image ? malloc(size + 1) : NULL;
    if (bytes) {
        memcpy(bytes, LLVMGetBufferStart(code), size);
        bytes[size] = 0;
        take_code(u, m, image, bytes, size);
        if (!u->error) store_write(&u->stored, bytes, size);
    } else unit_fail(u, "out of memory");
    LLVMDisposeMemoryBuffer(code);
    if (!u->error) return image;
    gpu_image_free(image);
    return NULL;
}

/* The image whose code was made before; NULL: it must be made. */
static Image *kept_image(Unit *u, const IrModule *m) {
    size_t size;
    char *bytes = store_read(&u->stored, &size);
    if (!bytes) return NULL;
    target_initialize();
    Image *image = new_image(m, u->o, u->regions);
    if (!image) free(bytes);
    else take_code(u, m, image, bytes, size);
    if (image && !u->error) {
        image->kept = true;
        return image;
    }
    gpu_image_free(image);
    u->error = NULL; /* it is made again */
    return NULL;
}

static char *stage_text(Unit *u, const IrModule *m, Stage stage) {
    if (stage == STAGE_IR) return copy(ir_to_string(m, false));
    if (stage != STAGE_LLVM) emit_optimize(u);
    if (u->error) return NULL;
    if (stage == STAGE_ASM) {
        LLVMMemoryBufferRef code = emit_code(u, LLVMAssemblyFile);
        if (!code) return NULL;
        char *text = strndup(LLVMGetBufferStart(code), LLVMGetBufferSize(code));
        LLVMDisposeMemoryBuffer(code);
        return text;
    }
    char *printed = LLVMPrintModuleToString(u->mod);
    char *text = copy(printed);
    LLVMDisposeMessage(printed);
    return text;
}

/* ---- the guarded calls ------------------------------------------------------------------------- */

/* What a compilation is asked for, and gives. Kept apart from the function that calls setjmp, so that none of
 * its locals is lost in a longjmp. */
typedef struct Job {
    CompileOptions options;
    Unit unit;
    IrModule *module;
    bool want_text;
    Stage stage;
    Image *image;
    char *text;
} Job;

static void run_job(Job *job) {
    Unit *u = &job->unit;
    IrModule *m = job->module;
    bool want_ir = job->want_text && job->stage == STAGE_IR;
    pipeline_run(m, pipeline_passes);
    if (!want_ir) {
        u->error = legal_check(m, u->o);
        if (u->error) return;
        if (!job->want_text) u->stored = store_entry(m, u->o);
        cut(u, m);
        if (!job->want_text) job->image = kept_image(u, m);
        if (job->image) return;
        build(u, m);
        if (u->error) return;
    }
    if (job->want_text) job->text = stage_text(u, m, job->stage);
    else job->image = make_image(u, m);
}

static void guard(Job *job, char **error) {
    jmp_buf on_oom, on_error;
    jmp_buf *outer = job->module->arena->on_oom;
    *error = NULL;
    enter_llvm();
    if (setjmp(on_error)) { /* LLVM gave up: its objects are in an unknown state and stay behind */
        *error = copy(fatal.reason);
    } else if (setjmp(on_oom)) {
        *error = copy("out of memory");
        target_close(&job->unit);
    } else {
        job->module->arena->on_oom = &on_oom;
        fatal.to = &on_error;
        run_job(job);
        if (job->unit.error) *error = copy(job->unit.error);
        target_close(&job->unit);
    }
    leave_llvm();
    fatal.to = NULL;
    job->module->arena->on_oom = outer;
}

static void start_job(Job *job, const CompileOptions *o, char **error) {
    job->options = *o;
    job->options.ptx_version = legal_ptx_version(job->module, o);
    job->unit = (Unit){.o = &job->options, .arena = job->module->arena};
    guard(job, error);
}

static Image *compile(IrModule *m, const CompileOptions *o, char **error) {
    Job job = {.module = m};
    start_job(&job, o, error);
    return job.image;
}

static char *text(IrModule *m, const CompileOptions *o, Stage stage, char **error) {
    Job job = {.module = m, .want_text = true, .stage = stage};
    start_job(&job, o, error);
    return job.text;
}

static void unload(Image *image) {
    if (!image) return;
    enter_llvm();
    jit_unload(image->code);
    leave_llvm();
    image->code = NULL;
    image->cpu_entry = NULL;
    image->cpu_region = NULL;
    image->host_fn = NULL;
}

static const CompilerApi api = {
    .llvm_version = LLVM_VERSION_STRING,
    .compile = compile,
    .text = text,
    .legality = legal_operation,
    .target_known = target_known,
    .unload = unload,
};

const CompilerApi *gpu_compiler(void) { return &api; }
