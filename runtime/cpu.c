/* cpu.c - launches on the CPU device: native code of a kernel, run block by block on all cores.
 *
 * The compiled entry runs a range of blocks. A launch expected to be short runs in the calling thread, since waking
 * another one costs 45 to 80 microseconds; the expectation is what former launches of the same image took for each
 * thread. All else goes to the pool, blocks in ascending order.
 *
 * Kernels whose threads wait for each other have a function for each region in place of the entry: blocks.c runs a
 * block of those, in memory that is made here. If they wait for the whole grid, all blocks exist at once and take
 * turns.
 *
 * Ctrl-C, and an exception in another thread, leave code at any instruction: see interrupt.h. */
#define _GNU_SOURCE
#include "blocks.h"
#include "clock.h"
#include "cpu.h"
#include "pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHORT_NS = 50 * 1000,      /* runs in the caller */
    SHARE_NS = 25 * 1000,      /* the least that one more pool thread is woken for */
    CHUNK_NS = 5 * 1000,       /* the least that one chunk should take */
    CHUNKS_A_THREAD = 16,      /* so that threads end at about the same time */
    GUESS_PS = 2000,           /* a thread of a loop-free image that never ran */
    MOST_GRID_BYTES = 1 << 30, /* of blocks that must exist at once */
    ORDER_MS = 500,            /* how long an exception waits for one of an earlier block */
    MOST_LOCAL = 4 << 20,      /* a kernel's own arrays, on a stack of 8 MiB */
    CALLER_LOCAL = 256 << 10   /* what a caller's stack, of unknown size, should bear */
};

typedef struct Run {
    const Image *image;
    const void *params;
    CpuLaunch launch;
    bool raised;           /* launch.error is that of the first block that raised; under `lock` */
    uint64_t raised_first; /* and the first block of its range */
    struct Active *active; /* ranges under way, of images that raise; under `lock` */
    pthread_mutex_t lock;
    bool stuck_known; /* somebody owns stuck; atomic */
    Stuck stuck;
    bool no_memory;   /* for a block; atomic */
    bool fault_known; /* somebody owns fault; atomic */
    MemoryFault fault;
    struct Grid *grid;
    uint64_t busy_ns; /* in all threads of the pool together; atomic */
} Run;

/* A call of the entry. */
typedef struct Range {
    const Run *run;
    const CpuLaunch *launch;
    uint64_t first, last;
    CpuBlock *block; /* of a kernel with regions; else NULL */
    BlockEnd end;    /* of its last block */
    Stuck stuck;
} Range;

/* A range of blocks under way. */
typedef struct Active {
    uint64_t first;
    struct Active *next;
} Active;

/* A launch whose blocks wait for each other. */
typedef struct Grid {
    CpuBlock *blocks;
    BlockEnd *ends;
} Grid;

/* ---- the two ways to run ----------------------------------------------------------------------- */

static void enter(void *arg) {
    Range *r = arg;
    const Image *image = r->run->image;
    if (!r->block) {
        image->cpu_entry(r->run->params, r->launch, r->first, r->last);
        return;
    }
    if (image->straight) {
        block_start(r->block, image, r->first);
        r->block->more = r->last - r->first - 1;
        r->end = block_run(image, r->run->params, r->block, &r->stuck);
        return;
    }
    for (uint64_t n = r->first; n < r->last && r->end == BLOCK_DONE; n++) {
        block_start(r->block, image, n);
        r->end = block_run(image, r->run->params, r->block, &r->stuck);
    }
}

/* False: the code was left before its end. */
static bool call_code(const Image *image, Guard *guard, void (*code)(void *arg), void *arg) {
    if (!image->calls_out) return guard_call(guard, code, arg);
    code(arg);
    return true;
}

static size_t block_memory_bytes(const Run *run) {
    size_t bytes = block_bytes(run->image, run->launch.block, run->launch.dynamic_shared);
    return (bytes + BLOCK_ALIGN) / BLOCK_ALIGN * BLOCK_ALIGN;
}

/* Memory for one block; NULL: there is none. */
static void *block_memory(const Run *run) { return aligned_alloc(BLOCK_ALIGN, block_memory_bytes(run)); }

static void note_stuck(Run *run, const Stuck *stuck) {
    if (!__atomic_test_and_set(&run->stuck_known, __ATOMIC_RELAXED)) run->stuck = *stuck;
}

/* True: the code was left by a fault. */
static bool note_fault(Run *run, const Guard *guard) {
    if (!guard->fault.happened) return false;
    if (!__atomic_test_and_set(&run->fault_known, __ATOMIC_RELAXED)) run->fault = guard->fault;
    return true;
}

/* ---- the exception that is reported: the first one by block, then by thread ------------------------------------- */

/* False: a block before these has raised, so they needn't run. */
static bool register_range(Run *run, Active *a, uint64_t first) {
    a->first = first;
    pthread_mutex_lock(&run->lock);
    bool wanted = !run->raised || first < run->raised_first;
    if (wanted) {
        a->next = run->active;
        run->active = a;
    }
    pthread_mutex_unlock(&run->lock);
    return wanted;
}

static void unregister_range(Run *run, const Active *a) {
    pthread_mutex_lock(&run->lock);
    Active **at = &run->active;
    while (*at != a) at = &(*at)->next;
    *at = a->next;
    pthread_mutex_unlock(&run->lock);
}

static bool earlier_runs(Run *run) {
    pthread_mutex_lock(&run->lock);
    bool earlier = false;
    for (const Active *a = run->raised ? run->active : NULL; a; a = a->next) earlier |= a->first < run->raised_first;
    pthread_mutex_unlock(&run->lock);
    return earlier;
}

static void note_raised(Run *run, uint64_t first, const ErrorRecord *error) {
    pthread_mutex_lock(&run->lock);
    if (!run->raised || first < run->raised_first) {
        *run->launch.error = *error;
        run->raised_first = first;
        run->raised = true;
    }
    pthread_mutex_unlock(&run->lock);
}

/* Blocks before this one that run may raise, too. One that never ends, since it waits for what won't come any more, is
 * not waited for long. */
static void let_earlier_end(Run *run) {
    const struct timespec step = {.tv_nsec = 100 * 1000};
    uint64_t end = clock_ns() + ORDER_MS * UINT64_C(1000000);
    do nanosleep(&step, NULL);
    while (earlier_runs(run) && clock_ns() < end);
}

/* Each call has a record of its own, so that nobody is interrupted while he fills in the one that is reported. */
static bool run_range(Run *run, Guard *guard, uint64_t first, uint64_t last) {
    ErrorRecord error;
    error.site = 0;
    CpuLaunch launch = run->launch;
    launch.error = &error;
    cpu_start_at(&launch, first);
    CpuBlock block;
    Range range = {.run = run, .launch = &launch, .first = first, .last = last};
    void *memory = run->image->cpu_region ? block_memory(run) : NULL;
    if (run->image->cpu_region) {
        if (!memory) {
            __atomic_store_n(&run->no_memory, true, __ATOMIC_RELAXED);
            return false;
        }
        block_place(&block, run->image, &launch, memory);
        range.block = &block;
    }
    uint64_t start = clock_ns();
    bool done = call_code(run->image, guard, enter, &range);
    __atomic_fetch_add(&run->busy_ns, clock_ns() - start, __ATOMIC_RELAXED);
    free(memory);
    if (!done) return note_fault(run, guard), false;
    if (range.end == BLOCK_STUCK) return note_stuck(run, &range.stuck), false;
    if (error.site == 0) return true;
    note_raised(run, first, &error);
    return false; /* the others may stop too */
}

static bool run_blocks(void *arg, Guard *guard, uint64_t first, uint64_t last) {
    Run *run = arg;
    Active active;
    if (!run->image->raises) return run_range(run, guard, first, last);
    if (!register_range(run, &active, first)) return true;
    bool go_on = run_range(run, guard, first, last);
    unregister_range(run, &active);
    if (!go_on) let_earlier_end(run);
    return go_on;
}

static bool has_failed(const Run *run) { return run->raised || run->stuck_known || run->no_memory || run->fault_known; }

/* True: cancelled. Code without loops ends soon by itself. */
static bool run_in_caller(Run *run, const LaunchConfig *c, uint64_t blocks) {
    Range all = {.run = run, .launch = &run->launch, .last = blocks};
    bool ends_soon = run->image->no_loops && !run->image->cpu_region;
    Guard guard = {.ask = ends_soon ? NULL : c->interrupted, .arg = c->interrupted_arg};
    if (run->image->cpu_region) return !run_blocks(run, &guard, 0, blocks) && !has_failed(run);
    return !call_code(run->image, &guard, enter, &all) && !note_fault(run, &guard);
}

/* ---- blocks that wait for each other ----------------------------------------------------------- */

typedef struct Turn {
    Run *run;
    CpuBlock *block;
    BlockEnd end;
    Stuck stuck;
} Turn;

static void take_turn(void *arg) {
    Turn *t = arg;
    t->end = block_run(t->run->image, t->run->params, t->block, &t->stuck);
}

/* Each block's turn up to its next wait for the grid. */
static bool run_turns(void *arg, Guard *guard, uint64_t first, uint64_t last) {
    Run *run = arg;
    for (uint64_t n = first; n < last; n++) {
        if (run->grid->ends[n] != BLOCK_AT_GRID) continue;
        ErrorRecord error;
        error.site = 0;
        Turn turn = {.run = run, .block = &run->grid->blocks[n]};
        turn.block->error = &error;
        if (!call_code(run->image, guard, take_turn, &turn)) return note_fault(run, guard), false;
        run->grid->ends[n] = turn.end;
        if (turn.end == BLOCK_STUCK) return note_stuck(run, &turn.stuck), false;
        if (turn.end != BLOCK_RAISED) continue;
        note_raised(run, n, &error);
        return false;
    }
    return true;
}

static bool any_waits(const Grid *g, uint64_t blocks) {
    for (uint64_t n = 0; n < blocks; n++)
        if (g->ends[n] == BLOCK_AT_GRID) return true;
    return false;
}

/* Rounds of turns until every block has ended; true: cancelled. */
static bool run_grid(Run *run, const LaunchConfig *c, uint64_t blocks) {
    size_t each = block_memory_bytes(run), all;
    bool fits = !__builtin_mul_overflow(each, (size_t)blocks, &all) && all <= MOST_GRID_BYTES;
    char *memory = fits ? aligned_alloc(BLOCK_ALIGN, all) : NULL;
    Grid grid = {malloc(blocks * sizeof *grid.blocks), malloc(blocks * sizeof *grid.ends)};
    bool cancelled = false;
    run->grid = &grid;
    run->no_memory = !memory || !grid.blocks || !grid.ends;
    for (uint64_t n = 0; n < blocks && !run->no_memory; n++) {
        block_place(&grid.blocks[n], run->image, &run->launch, memory + n * each);
        block_start(&grid.blocks[n], run->image, n);
        grid.ends[n] = BLOCK_AT_GRID;
    }
    while (!cancelled && !has_failed(run) && any_waits(&grid, blocks)) {
        Job job = {.run = run_turns,
                   .arg = run,
                   .items = blocks,
                   .chunk = 1,
                   .helpers = pool_threads() - 1,
                   .join = true,
                   .cancelled = c->interrupted,
                   .cancelled_arg = c->interrupted_arg};
        cancelled = pool_run(&job);
    }
    free(memory);
    free(grid.blocks);
    free(grid.ends);
    return cancelled;
}

static bool run_in_pool(Run *run, const LaunchConfig *c, uint64_t blocks, double expected_ns) {
    int threads = pool_threads();
    if (expected_ns > 0 && expected_ns / SHARE_NS < threads) threads = 1 + (int)(expected_ns / SHARE_NS);
    if (blocks < (uint64_t)threads) threads = (int)blocks;
    bool join = run->image->local_bytes <= CALLER_LOCAL;
    uint64_t chunk = blocks / ((uint64_t)threads * CHUNKS_A_THREAD);
    if (expected_ns > 0) {
        uint64_t least = (uint64_t)(CHUNK_NS / (expected_ns / (double)blocks)) + 1;
        uint64_t most = blocks / (uint64_t)threads;
        if (chunk < least) chunk = least < most ? least : most;
    }
    Job job = {.run = run_blocks,
               .arg = run,
               .items = blocks,
               .chunk = chunk ? chunk : 1,
               .helpers = threads - join,
               .join = join,
               .cancelled = c->interrupted,
               .cancelled_arg = c->interrupted_arg};
    return pool_run(&job);
}

/* ---- launch ------------------------------------------------------------------------------------ */

static void learn(uint32_t *cost, uint64_t ns, double threads) {
    if (!cost) return;
    double ps = (double)ns * 1000 / threads;
    __atomic_store_n(cost, ps < 1 ? 1 : ps < UINT32_MAX ? (uint32_t)ps : UINT32_MAX, __ATOMIC_RELAXED);
}

/* Nanoseconds on one core; 0 = unknown. */
static double expectation(const Image *image, const LaunchConfig *c, double threads) {
    uint32_t ps = c->cost ? __atomic_load_n(c->cost, __ATOMIC_RELAXED) : 0;
    if (ps == 0 && image->no_loops) ps = GUESS_PS;
    return ps * threads / 1000;
}

static const char *file_of(const Image *image, uint32_t cut) {
    return image->cuts[cut].file && *image->cuts[cut].file ? image->cuts[cut].file : "?";
}

static const char *name_of(const ImageCut *c) {
    static const char *const names[] = {"syncthreads", "syncthreads", "grid sync",        "syncwarp",   "a shuffle",
                                        "a vote",      "a match",     "a warp reduction", "activemask", "nanosleep"};
    return names[c->kind];
}

/* The threads of a block wait for each other in ways that can't come together: CUDA calls that undefined. */
static Status stuck_failure(const Image *image, const Stuck *s, Failure *f) {
    const ImageCut *c = &image->cuts[s->cut];
    if (s->other_cut == UINT32_MAX)
        return failure_set(
            f, GPU_ERROR_FAULT,
            "block (%u, %u, %u): thread (%u, %u, %u) waits at %s:%u (%s) for threads that have ended or wait "
            "elsewhere; its mask names threads that don't come there",
            s->block[0], s->block[1], s->block[2], s->thread[0], s->thread[1], s->thread[2], file_of(image, s->cut),
            c->line, name_of(c));
    const ImageCut *o = &image->cuts[s->other_cut];
    return failure_set(
        f, GPU_ERROR_FAULT,
        "block (%u, %u, %u): thread (%u, %u, %u) waits at %s:%u (%s) and thread (%u, %u, %u) at %s:%u (%s): "
        "neither can go on. All threads of a block must come to the same barrier, all that a mask names to the same "
        "operation of a warp",
        s->block[0], s->block[1], s->block[2], s->thread[0], s->thread[1], s->thread[2], file_of(image, s->cut),
        c->line, name_of(c), s->other_thread[0], s->other_thread[1], s->other_thread[2], file_of(image, s->other_cut),
        o->line, name_of(o));
}

/* Of memory that the kernel has beside its arguments nobody knows which was meant. */
static Status memory_failure(const Image *image, const MemoryFault *fault, Failure *f) {
    int name = (int)strcspn(image->entry, "."); /* "add_f4c1.entry" */
    failure_set(f, GPU_ERROR_FAULT,
                "kernel %.*s: a thread %s memory that isn't there, at address %#llx: an index is out of bounds. "
                "@gpu.jit(boundscheck=True), or GPU_BOUNDSCHECK=1 in the environment, names line, index and thread. "
                "Accesses before that one may have changed other data of this process",
                name, image->entry, fault->is_write ? "writes to" : "reads", (unsigned long long)fault->address);
    f->fault.kernel = strndup(image->entry, (size_t)name);
    f->fault.in_global = !image->cpu_region && !image->local_bytes;
    f->fault.address = fault->address;
    f->fault.bytes = 1;
    f->fault.is_write = fault->is_write;
    return GPU_ERROR_FAULT;
}

static Status refuse(const Image *image, const LaunchConfig *c, Failure *f) {
    uint64_t shared = (uint64_t)image->shared_bytes + c->shared_bytes;
    if (image->cpu_region && shared > MOST_SHARED)
        return failure_set(f, GPU_ERROR_LAUNCH, "a block needs %llu bytes of shared memory, and the cpu device has %d",
                           (unsigned long long)shared, MOST_SHARED);
    if (!image->cpu_entry && !image->cpu_region)
        return failure_set(f, GPU_ERROR_LAUNCH, "the kernel has no code for the CPU");
    return failure_set(f, GPU_ERROR_LAUNCH, "a thread needs %u bytes of local memory, and the cpu device has %d",
                       image->local_bytes, MOST_LOCAL);
}

Status cpu_launch(Device *d, Module *m, const void *params, const LaunchConfig *c, Failure *f) {
    (void)d;
    const Image *image = m->image;
    uint64_t blocks = (uint64_t)c->grid[0] * c->grid[1] * c->grid[2];
    double threads = (double)blocks * c->block[0] * c->block[1] * c->block[2];
    if (threads == 0) return GPU_OK;
    bool too_much = image->local_bytes > MOST_LOCAL || image->shared_bytes + (uint64_t)c->shared_bytes > MOST_SHARED;
    if ((!image->cpu_entry && !image->cpu_region) || too_much) return refuse(image, c, f);
    ErrorRecord error;
    error.site = 0;
    Run run = {.image = image, .params = params, .lock = PTHREAD_MUTEX_INITIALIZER};
    memcpy(run.launch.grid, c->grid, sizeof run.launch.grid);
    memcpy(run.launch.block, c->block, sizeof run.launch.block);
    run.launch.dynamic_shared = c->shared_bytes;
    run.launch.error = &error;
    PrintLog *log = image->prints ? runtime_prints_begin() : NULL;
    if (image->prints && !log) return failure_memory(f);
    run.launch.print = (PrintTarget){.log = (uint64_t)(uintptr_t)log, .owner = (uint64_t)(uintptr_t)m->owner};
    double expected = expectation(image, c, threads);
    bool cancelled;
    if (image->grid_sync) {
        cancelled = run_grid(&run, c, blocks);
    } else if (expected > 0 && expected < SHORT_NS && image->local_bytes <= CALLER_LOCAL) {
        uint64_t start = clock_ns();
        cancelled = run_in_caller(&run, c, blocks);
        learn(c->cost, clock_ns() - start, threads);
    } else {
        cancelled = run_in_pool(&run, c, blocks, expected);
        learn(c->cost, run.busy_ns, threads);
    }
    if (log) runtime_prints_end(log);
    if (run.no_memory) return failure_memory(f);
    if (run.fault_known) return memory_failure(image, &run.fault, f);
    if (cancelled) return failure_set(f, GPU_ERROR_INTERRUPTED, NULL);
    if (run.stuck_known) return stuck_failure(image, &run.stuck, f);
    if (!error.site) return GPU_OK;
    failure_set(f, GPU_ERROR_RAISED, NULL);
    f->record = error;
    f->owner = m->owner;
    return GPU_ERROR_RAISED;
}

Status runtime_call(const Image *image, void (*code)(void *arg), void *arg, const Waiter *w, Failure *f) {
    Guard guard = {.ask = w->interrupted, .arg = w->arg};
    if (guard_call(&guard, code, arg)) return GPU_OK;
    if (guard.fault.happened) return memory_failure(image, &guard.fault, f);
    return failure_set(f, GPU_ERROR_INTERRUPTED, NULL);
}
