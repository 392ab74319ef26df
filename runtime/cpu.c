/* cpu.c - launches on the CPU device: native code of a kernel, run block by
 * block on all cores.
 *
 * The compiled entry runs a range of blocks. A launch expected to be short runs
 * in the calling thread, since waking another one costs 45 to 80 microseconds;
 * the expectation is what former launches of the same image took for each
 * thread. All else goes to the pool, blocks in ascending order.
 *
 * Ctrl-C: code with loops looks at an interrupt byte. While the pool works, the
 * caller sleeps and asks LaunchConfig.interrupted now and then. While the
 * caller itself runs code that may loop for ever nobody could ask, so SIGINT's
 * handler is wrapped for that time: the wrapper sets the byte and calls the
 * handler that was there. */
#define _GNU_SOURCE
#include "cpu.h"
#include "pool.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

enum {
  SHORT_NS = 50 * 1000, /* runs in the caller */
  SHARE_NS = 25 * 1000, /* the least that one more pool thread is woken for */
  CHUNK_NS = 5 * 1000,  /* the least that one chunk should take */
  LONG_NS =
      10 * 1000000, /* the most: between chunks a launch can be interrupted */
  CHUNKS_A_THREAD = 16, /* so that threads end at about the same time */
  GUESS_PS = 2000,      /* a thread of a loop-free image that never ran */
  MOST_LOCAL = 4 << 20, /* a kernel's own arrays, on a stack of 8 MiB */
  CALLER_LOCAL =
      256 << 10 /* what a caller's stack, of unknown size, should bear */
};

typedef struct Run {
  const Image *image;
  const void *params;
  CpuLaunch launch;
  volatile uint8_t interrupt;
  uint64_t busy_ns; /* in all threads of the pool together; atomic */
} Run;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- Ctrl-C while the caller runs the code
 * ----------------------------------------------------- */

static volatile uint8_t sigint_seen;
static struct sigaction sigint_old;
static bool
    sigint_taken; /* atomic: one launch at a time may wrap the handler */

static void on_sigint(int number, siginfo_t *info, void *context) {
  sigint_seen = 1;
  if (sigint_old.sa_flags & SA_SIGINFO)
    sigint_old.sa_sigaction(number, info, context);
  else
    sigint_old.sa_handler(number);
}

/* False if there is nothing to wrap: then Ctrl-C has its default effect, or
 * none. */
static bool sigint_wrap(void) {
  if (__atomic_test_and_set(&sigint_taken, __ATOMIC_ACQUIRE))
    return false;
  sigint_seen = 0;
  if (sigaction(SIGINT, NULL, &sigint_old) == 0 &&
      ((sigint_old.sa_flags & SA_SIGINFO) ||
       (sigint_old.sa_handler != SIG_DFL &&
        sigint_old.sa_handler != SIG_IGN))) {
    struct sigaction ours = sigint_old;
    ours.sa_flags |= SA_SIGINFO;
    ours.sa_sigaction = on_sigint;
    if (sigaction(SIGINT, &ours, NULL) == 0)
      return true;
  }
  __atomic_clear(&sigint_taken, __ATOMIC_RELEASE);
  return false;
}

static void sigint_unwrap(void) {
  struct sigaction now;
  if (sigaction(SIGINT, &sigint_old, &now) == 0 &&
      now.sa_sigaction != on_sigint)
    sigaction(SIGINT, &now, NULL);
  __atomic_clear(&sigint_taken, __ATOMIC_RELEASE);
}

/* ---- the two ways to run
 * ----------------------------------------------------------------------- */

static void cancel(void *arg) {
  __atomic_store_n(&((Run *)arg)->interrupt, 1, __ATOMIC_RELAXED);
}

static bool run_blocks(void *arg, uint64_t first, uint64_t last) {
  Run *run = arg;
  if (__atomic_load_n(&run->interrupt, __ATOMIC_RELAXED))
    return false;
  uint64_t start = now_ns();
  run->image->cpu_entry(run->params, &run->launch, first, last);
  __atomic_fetch_add(&run->busy_ns, now_ns() - start, __ATOMIC_RELAXED);
  if (__atomic_load_n(&run->launch.error->site, __ATOMIC_RELAXED) == 0)
    return true;
  cancel(run); /* a thread raised: the others may stop too */
  return false;
}

static bool run_in_caller(Run *run, const LaunchConfig *c, uint64_t blocks) {
  bool wrapped = c->interrupted && !run->image->no_loops && sigint_wrap();
  if (wrapped)
    run->launch.interrupt = &sigint_seen;
  run->image->cpu_entry(run->params, &run->launch, 0, blocks);
  bool cancelled = wrapped && sigint_seen;
  if (wrapped)
    sigint_unwrap();
  return cancelled;
}

static bool run_in_pool(Run *run, const LaunchConfig *c, uint64_t blocks,
                        double expected_ns) {
  int threads = pool_threads();
  if (expected_ns > 0 && expected_ns / SHARE_NS < threads)
    threads = 1 + (int)(expected_ns / SHARE_NS);
  if (blocks < (uint64_t)threads)
    threads = (int)blocks;
  /* The caller must stay free to ask whether to stop, unless each chunk ends
   * soon by itself. */
  bool join = (!c->interrupted || run->image->no_loops) &&
              run->image->local_bytes <= CALLER_LOCAL;
  uint64_t chunk = blocks / ((uint64_t)threads * CHUNKS_A_THREAD);
  if (expected_ns > 0) {
    uint64_t least = (uint64_t)(CHUNK_NS / (expected_ns / (double)blocks)) + 1;
    uint64_t most = blocks / (uint64_t)threads;
    if (chunk < least)
      chunk = least < most ? least : most;
    uint64_t longest = (uint64_t)(LONG_NS / (expected_ns / (double)blocks)) + 1;
    if (chunk > longest)
      chunk = longest;
  }
  Job job = {.run = run_blocks,
             .arg = run,
             .items = blocks,
             .chunk = chunk ? chunk : 1,
             .helpers = threads - join,
             .join = join,
             .cancelled = c->interrupted,
             .cancelled_arg = c->interrupted_arg,
             .on_cancel = cancel};
  return pool_run(&job);
}

/* ---- launch
 * ------------------------------------------------------------------------------------
 */

static void learn(uint32_t *cost, uint64_t ns, double threads) {
  if (!cost)
    return;
  double ps = (double)ns * 1000 / threads;
  __atomic_store_n(cost,
                   ps < 1            ? 1
                   : ps < UINT32_MAX ? (uint32_t)ps
                                     : UINT32_MAX,
                   __ATOMIC_RELAXED);
}

/* Nanoseconds on one core; 0 = unknown. */
static double expectation(const Image *image, const LaunchConfig *c,
                          double threads) {
  uint32_t ps = c->cost ? __atomic_load_n(c->cost, __ATOMIC_RELAXED) : 0;
  if (ps == 0 && image->no_loops)
    ps = GUESS_PS;
  return ps * threads / 1000;
}

static Status refuse(const Image *image, Failure *f) {
  if (!image->cpu_entry)
    return failure_set(f, GPU_ERROR_LAUNCH,
                       "the kernel has no code for the CPU");
  return failure_set(
      f, GPU_ERROR_LAUNCH,
      "a thread needs %u bytes of local memory, and the cpu device has %d",
      image->local_bytes, MOST_LOCAL);
}

Status cpu_launch(Device *d, Module *m, const void *params,
                  const LaunchConfig *c, Failure *f) {
  (void)d;
  const Image *image = m->image;
  uint64_t blocks = (uint64_t)c->grid[0] * c->grid[1] * c->grid[2];
  double threads = (double)blocks * c->block[0] * c->block[1] * c->block[2];
  if (threads == 0)
    return GPU_OK;
  if (!image->cpu_entry || image->local_bytes > MOST_LOCAL)
    return refuse(image, f);
  ErrorRecord error = {0};
  Run run = {.image = image, .params = params};
  memcpy(run.launch.grid, c->grid, sizeof run.launch.grid);
  memcpy(run.launch.block, c->block, sizeof run.launch.block);
  run.launch.error = &error;
  run.launch.interrupt = &run.interrupt;
  double expected = expectation(image, c, threads);
  bool cancelled;
  if (expected > 0 && expected < SHORT_NS &&
      image->local_bytes <= CALLER_LOCAL) {
    uint64_t start = now_ns();
    cancelled = run_in_caller(&run, c, blocks);
    learn(c->cost, now_ns() - start, threads);
  } else {
    cancelled = run_in_pool(&run, c, blocks, expected);
    learn(c->cost, run.busy_ns, threads);
  }
  if (cancelled)
    return failure_set(f, GPU_ERROR_INTERRUPTED, NULL);
  if (!error.site)
    return GPU_OK;
  failure_set(f, GPU_ERROR_RAISED, NULL);
  f->record = error;
  f->owner = m->owner;
  return GPU_ERROR_RAISED;
}
