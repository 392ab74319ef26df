/* cpu.c - launches on the CPU device: native code of a kernel, run block by block on all cores.
 *
 * The compiled entry runs a range of blocks. A launch expected to be short runs in the calling thread, since waking
 * another one costs 45 to 80 microseconds; the expectation is what former launches of the same image took for each
 * thread. All else goes to the pool, blocks in ascending order.
 *
 * Ctrl-C, and an exception in another thread, leave code at any instruction: see interrupt.h. */
#define _GNU_SOURCE
#include "cpu.h"
#include "pool.h"

#include <string.h>
#include <time.h>

enum {
    SHORT_NS = 50 * 1000,    /* runs in the caller */
    SHARE_NS = 25 * 1000,    /* the least that one more pool thread is woken for */
    CHUNK_NS = 5 * 1000,     /* the least that one chunk should take */
    CHUNKS_A_THREAD = 16,    /* so that threads end at about the same time */
    GUESS_PS = 2000,         /* a thread of a loop-free image that never ran */
    MOST_LOCAL = 4 << 20,    /* a kernel's own arrays, on a stack of 8 MiB */
    CALLER_LOCAL = 256 << 10 /* what a caller's stack, of unknown size, should bear */
};

typedef struct Run {
    const Image *image;
    const void *params;
    CpuLaunch launch;
    bool raised;      /* somebody owns launch.error; atomic */
    uint64_t busy_ns; /* in all threads of the pool together; atomic */
} Run;

/* A call of the entry. */
typedef struct Range {
    const Run *run;
    const CpuLaunch *launch;
    uint64_t first, last;
} Range;

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- the two ways to run ----------------------------------------------------------------------- */

static void enter(void *arg) {
    const Range *r = arg;
    r->run->image->cpu_entry(r->run->params, r->launch, r->first, r->last);
}

/* Each call has a record of its own, so that nobody is interrupted while he fills in the one that is reported. */
static bool run_blocks(void *arg, Guard *guard, uint64_t first, uint64_t last) {
    Run *run = arg;
    ErrorRecord error;
    error.site = 0;
    CpuLaunch launch = run->launch;
    launch.error = &error;
    uint64_t start = now_ns();
    bool done = guard_call(guard, enter, &(Range){run, &launch, first, last});
    __atomic_fetch_add(&run->busy_ns, now_ns() - start, __ATOMIC_RELAXED);
    if (!done) return false;
    if (error.site == 0) return true;
    if (!__atomic_test_and_set(&run->raised, __ATOMIC_RELAXED)) *run->launch.error = error;
    return false; /* the others may stop too */
}

/* Code without loops ends soon by itself. */
static bool run_in_caller(Run *run, const LaunchConfig *c, uint64_t blocks) {
    Range all = {run, &run->launch, 0, blocks};
    Guard guard = {.ask = c->interrupted, .arg = c->interrupted_arg};
    if (c->interrupted && !run->image->no_loops) return !guard_call(&guard, enter, &all);
    enter(&all);
    return false;
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

static Status refuse(const Image *image, Failure *f) {
    if (!image->cpu_entry) return failure_set(f, GPU_ERROR_LAUNCH, "the kernel has no code for the CPU");
    return failure_set(f, GPU_ERROR_LAUNCH, "a thread needs %u bytes of local memory, and the cpu device has %d",
                       image->local_bytes, MOST_LOCAL);
}

Status cpu_launch(Device *d, Module *m, const void *params, const LaunchConfig *c, Failure *f) {
    (void)d;
    const Image *image = m->image;
    uint64_t blocks = (uint64_t)c->grid[0] * c->grid[1] * c->grid[2];
    double threads = (double)blocks * c->block[0] * c->block[1] * c->block[2];
    if (threads == 0) return GPU_OK;
    if (!image->cpu_entry || image->local_bytes > MOST_LOCAL) return refuse(image, f);
    ErrorRecord error = {0};
    Run run = {.image = image, .params = params};
    memcpy(run.launch.grid, c->grid, sizeof run.launch.grid);
    memcpy(run.launch.block, c->block, sizeof run.launch.block);
    run.launch.error = &error;
    double expected = expectation(image, c, threads);
    bool cancelled;
    if (expected > 0 && expected < SHORT_NS && image->local_bytes <= CALLER_LOCAL) {
        uint64_t start = now_ns();
        cancelled = run_in_caller(&run, c, blocks);
        learn(c->cost, now_ns() - start, threads);
    } else {
        cancelled = run_in_pool(&run, c, blocks, expected);
        learn(c->cost, run.busy_ns, threads);
    }
    if (cancelled) return failure_set(f, GPU_ERROR_INTERRUPTED, NULL);
    if (!error.site) return GPU_OK;
    failure_set(f, GPU_ERROR_RAISED, NULL);
    f->record = error;
    f->owner = m->owner;
    return GPU_ERROR_RAISED;
}

bool runtime_call(void (*code)(void *arg), void *arg, const Waiter *w) {
    Guard guard = {.ask = w->interrupted, .arg = w->arg};
    return guard_call(&guard, code, arg);
}
