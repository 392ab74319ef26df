/* run.c - a launch: the host threads that run its blocks, and what ends it.
 *
 * With one thread the blocks run one after the other, so that a launch is the same each time. When all of a block only
 * wait for memory to change for long, the next block starts too and they take turns, as on a GPU where many are there
 * at once; a cooperative launch has all of them there from the start. */
#include "exec.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_STACK = 16 << 10, SPINS_ALONE = 64, MAX_RESIDENT = 512, MAX_WORKERS = 256 };

/* ---- blocks of a worker ------------------------------------------------------------------------- */

/* The launch ends since there is no memory for it: as fault() does, without a warp. */
static void out_of_memory(Worker *worker) {
    Run *run = worker->run;
    pthread_mutex_lock(&run->lock);
    if (!run->report->kind)
        *run->report = (FaultReport){.kind = FAULT_MEMORY, .cuda_error = 2, .kernel = run->func->name};
    pthread_mutex_unlock(&run->lock);
    run_abandon(worker);
}

void run_abandon(Worker *worker) {
    atomic_store(&worker->run->stopped, true);
    longjmp(worker->stop, 1);
}

static Block *activate(Worker *worker) {
    if (worker->nactive == worker->room) {
        uint32_t room = worker->room ? 2 * worker->room : 4;
        Block **active = realloc(worker->active, room * sizeof(Block *));
        if (!active) out_of_memory(worker);
        worker->active = active;
        worker->room = room;
    }
    Block *b = worker->spare ? worker->spare : block_create(worker);
    worker->spare = NULL;
    if (!b) out_of_memory(worker);
    worker->active[worker->nactive++] = b;
    return b;
}

static void activate_cluster(Worker *worker, uint64_t cluster) {
    const Run *run = worker->run;
    Cluster *c = cluster_create(run->cluster_blocks);
    if (!c) out_of_memory(worker);
    for (uint32_t rank = 0; rank < c->n; rank++) {
        uint64_t linear = cluster_linear(run->spec, cluster, rank);
        Block *b = c->blocks[rank] = activate(worker);
        b->cluster = c;
        b->rank = rank;
        block_start(b, linear);
    }
}

static bool activate_next(Worker *worker) {
    Run *run = worker->run;
    uint64_t next = atomic_fetch_add_explicit(&run->next_block, 1, memory_order_relaxed);
    if (next >= run->nblocks / run->cluster_blocks) return false;
    if (run->cluster_blocks > 1) activate_cluster(worker, next);
    else block_start(activate(worker), next);
    return true;
}

static void finish(Worker *worker, uint32_t i) {
    Block *b = worker->active[i];
    cluster_leave(b);
    memmove(&worker->active[i], &worker->active[i + 1], (--worker->nactive - i) * sizeof(Block *));
    if (worker->spare) block_destroy(b);
    else worker->spare = b;
}

/* A turn of each block. True: all of them only waited, for memory to change or for another block. */
static bool turns(Worker *worker) {
    bool spun = true, stuck = true;
    for (uint32_t i = 0; i < worker->nactive;) {
        Pause pause = block_turn(worker->active[i]);
        spun &= pause == PAUSE_SPINS || pause == PAUSE_WAITS;
        stuck &= pause == PAUSE_WAITS;
        if (pause == PAUSE_DONE) finish(worker, i);
        else i++;
    }
    if (stuck) block_stuck(worker->active[0]);
    return spun;
}

/* As many as there are: the one that they wait for may be far. */
static void activate_more(Worker *worker) {
    uint64_t n = worker->nactive, resident = worker->run->blocks_resident;
    while (n-- && worker->nactive < resident && activate_next(worker)) {}
}

static void run_blocks(Worker *worker) {
    uint32_t spins = 0;
    while (worker->nactive || activate_next(worker)) {
        if (!turns(worker)) spins = 0;
        else if (++spins >= SPINS_ALONE) {
            activate_more(worker);
            spins = 0;
        }
    }
}

static void close_worker(Worker *worker) {
    for (uint32_t i = 0; i < worker->nactive; i++) block_destroy(worker->active[i]);
    block_destroy(worker->spare);
    free(worker->active);
    for (Frame *f = worker->frames, *next; f; f = next) {
        next = f->made;
        free(f);
    }
    free(worker->free_frames);
    free(worker->counters);
    free(worker->text);
}

/* What cooperative groups of CUDA C++ count arrivals in: its size, and a word for the barrier. */
static bool open_workspace(Run *run) {
    if (!run->spec->cooperative) return true;
    static const uint32_t start[16] = {sizeof start, 0};
    run->workspace = memory_alloc(run->memory, ALLOC_GLOBAL, sizeof start, "grid workspace");
    uint8_t *bytes = run->workspace ? memory_bytes(run->memory, run->workspace, sizeof start) : NULL;
    if (!bytes) return false;
    memcpy(bytes, start, sizeof start);
    memory_wrote(run->memory, run->workspace, sizeof start);
    return true;
}

static void *work(void *arg) {
    Worker *worker = arg;
    Run *run = worker->run;
    if (setjmp(worker->stop) == 0) {
        worker->free_frames = calloc(run->code->nfuncs, sizeof *worker->free_frames);
        if (run->spec->profile) worker->counters = calloc(run->code->ninsts, sizeof *worker->counters);
        if (!worker->free_frames || (run->spec->profile && !worker->counters)) out_of_memory(worker);
        while (run->spec->cooperative && activate_next(worker)) {}
        run_blocks(worker);
    }
    profile_merge(worker);
    close_worker(worker);
    return NULL;
}

/* ---- what a launch needs ------------------------------------------------------------------------ */

/* The local memory of a thread in `func` and all that it calls; more if it can't be known. */
typedef struct Depth {
    const PtxCode *code;
    uint32_t *need;
    uint8_t *state;
    bool unknown;
    uint64_t specials;
} Depth;
enum { UNSEEN, OPEN, CLOSED };

static uint32_t local_need(Depth *d, uint32_t func) {
    const PtxFunc *f = &d->code->funcs[func];
    if (d->state[func] == CLOSED) return d->need[func];
    if (d->state[func] == OPEN) {
        d->unknown = true; /* recursion */
        return 0;
    }
    d->state[func] = OPEN;
    d->specials |= f->specials;
    uint32_t most = 0;
    for (uint32_t pc = f->first; pc < f->end && !f->is_leaf; pc++) {
        const PtxInst *in = &d->code->insts[pc];
        d->unknown |= in->control == CONTROL_CALL_INDIRECT || is_alloca(in);
        uint32_t need = in->control == CONTROL_CALL ? local_need(d, in->target) : 0;
        if (need > most) most = need;
    }
    d->state[func] = CLOSED;
    return d->need[func] = most + (((f->local_bytes ? f->local_bytes : 1) + 15) & ~15u);
}

static bool find_local_bytes(Run *run) {
    const PtxCode *code = run->code;
    Depth d = {.code = code, .need = calloc(code->nfuncs, sizeof *d.need), .state = calloc(code->nfuncs, 1)};
    bool ok = d.need && d.state;
    if (ok) {
        uint32_t stack = run->spec->stack_bytes > DEFAULT_STACK ? run->spec->stack_bytes : DEFAULT_STACK;
        run->local_bytes = local_need(&d, (uint32_t)(run->func - code->funcs));
        run->specials = d.specials;
        for (uint32_t i = 0; d.unknown && i < code->nfuncs; i++) run->specials |= code->funcs[i].specials;
        if (d.unknown) run->local_bytes += (stack + 15) & ~15u;
    }
    free(d.need);
    free(d.state);
    return ok;
}

/* Shared memory that is the system's: large tiles of cooperative groups count there who came to their barriers. Only
 * kernels that ask where it is have it, so that for all others shared memory ends where their own does. */
static void add_reserved_shared(Run *run) {
    enum { RESERVED = 1024 };
    const uint64_t reading = UINT64_C(1) << SR_RESERVED_SMEM_OFFSET_BEGIN | UINT64_C(1) << SR_RESERVED_SMEM_OFFSET_END |
                             UINT64_C(1) << SR_RESERVED_SMEM_OFFSET_CAP | UINT64_C(1) << SR_RESERVED_SMEM_OFFSET_0 |
                             UINT64_C(1) << SR_RESERVED_SMEM_OFFSET_1;
    if (!(run->specials & reading)) return;
    run->reserved_shared = RESERVED;
    run->shared_bytes = ((run->shared_bytes + 15) & ~15u) + RESERVED;
}

static bool find_builtins(Run *run) {
    run->builtins = calloc(run->code->nfuncs + 1, sizeof *run->builtins);
    for (uint32_t i = 0; run->builtins && i < run->code->nfuncs; i++) {
        if (run->code->funcs[i].is_extern) run->builtins[i] = builtin_find(run->code->funcs[i].name);
    }
    return run->builtins != NULL;
}

static bool open_run(Run *run, const LaunchSpec *spec, FaultReport *report) {
    *report = (FaultReport){.kernel = spec->func->name};
    *run = (Run){.spec = spec,
                 .code = spec->code,
                 .func = spec->func,
                 .memory = spec->memory,
                 .epoch = memory_epoch(spec->memory),
                 .params = spec->params,
                 .checks = spec->checks,
                 .report = report};
    pthread_mutex_init(&run->lock, NULL);
    run->threads = spec->block[0] * spec->block[1] * spec->block[2];
    run->nwarps = (run->threads + WARP - 1) / WARP;
    run->nblocks = (uint64_t)spec->grid[0] * spec->grid[1] * spec->grid[2];
    run->cluster_blocks = cluster_blocks(spec);
    run->blocks_resident = spec->cooperative ? run->nblocks : MAX_RESIDENT;
    uint32_t with_dynamic = spec->func->dynamic_start + spec->dynamic_shared;
    run->shared_bytes = with_dynamic > spec->func->shared_bytes ? with_dynamic : spec->func->shared_bytes;
    run->start_clock = memory_clock(spec->memory, 1);
    run->clock = run->grid_id = run->start_clock;
    bool alone = spec->threads < 1 || spec->cooperative || spec->checks & CHECK_RACES;
    uint64_t most = run->nblocks < MAX_WORKERS ? run->nblocks : MAX_WORKERS;
    run->nworkers = alone ? 1 : spec->threads < most ? spec->threads : (uint32_t)most;
    if (run->nwarps == 0 || run->nwarps > MAX_WARPS) return false;
    if (spec->checks & CHECK_RACES && !(run->fences = calloc(run->nblocks, sizeof *run->fences))) return false;
    if (!find_local_bytes(run)) return false;
    add_reserved_shared(run);
    return find_builtins(run) && open_workspace(run);
}

/* The calling thread is the first worker. Where the system has no more threads, fewer do. */
static void run_workers(Run *run, Worker *workers) {
    uint32_t started = 1;
    for (uint32_t i = 0; i < run->nworkers; i++) workers[i] = (Worker){.run = run};
    for (; started < run->nworkers; started++) {
        if (pthread_create(&workers[started].thread, NULL, work, &workers[started])) break;
    }
    work(&workers[0]);
    for (uint32_t i = 1; i < started; i++) pthread_join(workers[i].thread, NULL);
}

uint32_t emulator_run(const LaunchSpec *spec, FaultReport *report) {
    Run *run = malloc(sizeof *run);
    if (!run) {
        *report = (FaultReport){.kernel = spec->func->name, .kind = FAULT_MEMORY, .cuda_error = 2};
        return report->cuda_error;
    }
    Worker *workers = NULL;
    if (!open_run(run, spec, report) ||
        !(workers = aligned_alloc(64, (run->nworkers * sizeof *workers + 63) & ~(size_t)63))) {
        *report = (FaultReport){.kernel = spec->func->name, .kind = FAULT_MEMORY, .cuda_error = 2};
    } else {
        run_workers(run, workers);
        builtin_flush(run);
        if (spec->profile) spec->profile->launches++;
    }
    free(workers);
    free(run->builtins);
    free(run->fences);
    if (run->workspace) memory_free(run->memory, run->workspace);
    pthread_mutex_destroy(&run->lock);
    free(run);
    return report->cuda_error;
}
