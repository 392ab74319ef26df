/* test_cpu.c - the CPU device and its pool, with C functions in the place of compiled kernels. */
#define _GNU_SOURCE
#include "../../runtime/runtime.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int failures;

/* ThreadSanitizer refuses threads in a forked child unless told. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "die_after_fork=0"; }

#define CHECK(x) ((x) ? (void)0 : (void)(failures++, printf("%s:%d: %s\n", __FILE__, __LINE__, #x)))

enum { BLOCKS = 5000 };

typedef struct Params {
    uint32_t *hits;      /* one for each block */
    uint64_t *last_seen; /* highest first block so far */
    uint32_t *disorder;
} Params;

static void count_blocks(const void *params, const CpuLaunch *launch, uint64_t first, uint64_t last) {
    const Params *p = params;
    (void)launch;
    for (uint64_t b = first; b < last; b++) __atomic_fetch_add(&p->hits[b], 1, __ATOMIC_RELAXED);
}

/* Never ends by itself. ThreadSanitizer delivers signals at calls only. */
static void spin(const void *params, const CpuLaunch *launch, uint64_t first, uint64_t last) {
    (void)params, (void)launch, (void)first, (void)last;
    static volatile unsigned rounds;
    for (;;) {
        rounds = rounds + 1;
#ifdef __SANITIZE_THREAD__
        usleep(50);
#endif
    }
}

/* Block 7 raises; the others never end by themselves. */
static void raise_or_spin(const void *params, const CpuLaunch *launch, uint64_t first, uint64_t last) {
    if (first > 7 || last <= 7) spin(params, launch, first, last);
    memset(launch->error->values, 7, sizeof launch->error->values);
    launch->error->site = 1;
}

/* Takes a tenth of a second for each block. */
static void take_long(const void *params, const CpuLaunch *launch, uint64_t first, uint64_t last) {
    struct timespec t;
    count_blocks(params, launch, first, last);
    clock_gettime(CLOCK_MONOTONIC, &t);
    for (int64_t end = t.tv_sec * 1000 + t.tv_nsec / 1000000 + 100 * (int64_t)(last - first);
         t.tv_sec * 1000 + t.tv_nsec / 1000000 < end;)
        clock_gettime(CLOCK_MONOTONIC, &t);
}

static void raise_in_block_seven(const void *params, const CpuLaunch *launch, uint64_t first, uint64_t last) {
    (void)params;
    for (uint64_t b = first; b < last; b++) {
        if (b != 7) continue;
        launch->error->block[0] = 7;
        __atomic_store_n(&launch->error->site, 1, __ATOMIC_RELEASE);
        return;
    }
}

static LaunchConfig config(uint32_t blocks, uint32_t *cost) {
    LaunchConfig c = {.grid = {blocks, 1, 1}, .block = {32, 1, 1}, .cost = cost};
    return c;
}

static Status launch_image(const Image *image, const void *params, const LaunchConfig *c, ErrorRecord *error) {
    Device *d = runtime_cpu();
    Module *m = NULL;
    Failure f;
    CHECK(d->ops->load(d, image, NULL, NULL, &m, &f) == GPU_OK);
    Status status = d->ops->launch(d, m, params, c, &f);
    if (error) memset(error, 0, sizeof *error);
    if (error && status == GPU_ERROR_RAISED) *error = f.record;
    if (status != GPU_OK) failure_clear(&f);
    d->ops->unload(d, m);
    return status;
}

static Status launch(CpuEntry entry, const Params *p, const LaunchConfig *c, bool no_loops, ErrorRecord *error) {
    Image image = {.cpu_entry = entry, .no_loops = no_loops};
    return launch_image(&image, p, c, error);
}

static bool all_are(const uint32_t *hits, uint32_t want) {
    for (int i = 0; i < BLOCKS; i++)
        if (hits[i] != want) return false;
    return true;
}

static void every_block_runs_once(void) {
    uint32_t *hits = calloc(BLOCKS, sizeof *hits);
    Params p = {.hits = hits};
    uint32_t cost = 0;
    ErrorRecord error;
    for (uint32_t n = 1; n <= 4; n++) { /* in the pool at first, then as the cost says */
        LaunchConfig c = config(BLOCKS, &cost);
        CHECK(launch(count_blocks, &p, &c, n % 2, &error) == GPU_OK);
        CHECK(all_are(hits, n));
        CHECK(cost > 0);
    }
    LaunchConfig none = config(0, &cost);
    CHECK(launch(count_blocks, &p, &none, false, &error) == GPU_OK && all_are(hits, 4));
    uint32_t dear = UINT32_MAX; /* many helpers, chunks of one */
    LaunchConfig c = config(BLOCKS, &dear);
    CHECK(launch(count_blocks, &p, &c, false, NULL) == GPU_OK && all_are(hits, 5));
    free(hits);
}

static void *many_launches(void *arg) {
    Params *p = arg;
    for (int i = 0; i < 50; i++) {
        LaunchConfig c = config(BLOCKS, NULL);
        if (launch(count_blocks, p, &c, false, NULL) != GPU_OK) return p;
    }
    return NULL;
}

static void launches_of_several_threads(void) {
    enum { N = 4 };
    pthread_t threads[N];
    Params p[N];
    for (int i = 0; i < N; i++) {
        p[i].hits = calloc(BLOCKS, sizeof(uint32_t));
        pthread_create(&threads[i], NULL, many_launches, &p[i]);
    }
    for (int i = 0; i < N; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        CHECK(!failed && all_are(p[i].hits, 50));
        free(p[i].hits);
    }
}

/* Pauses around the time that a thread looks out before it sleeps. The caller doesn't help, so a call that nobody heard
 * would leave the launch without an end. */
static void *launches_with_pauses(void *arg) {
    Params *p = arg;
    Image image = {.cpu_entry = count_blocks, .local_bytes = 1 << 20};
    for (int i = 0; i < 400; i++) {
        LaunchConfig c = config(BLOCKS, NULL);
        if (launch_image(&image, p, &c, NULL) != GPU_OK) return p;
        usleep((useconds_t)(i % 20 * 5));
    }
    return NULL;
}

static void nobody_misses_a_call(void) {
    enum { N = 3 };
    pthread_t threads[N];
    uint32_t *hits = calloc(BLOCKS, sizeof *hits);
    Params p = {.hits = hits};
    for (int i = 0; i < N; i++) pthread_create(&threads[i], NULL, launches_with_pauses, &p);
    for (int i = 0; i < N; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        CHECK(!failed);
    }
    CHECK(all_are(hits, 400 * N));
    free(hits);
}

/* ---- interruption -------------------------------------------------------------------------- */

static bool third_time(void *arg) { return ++*(int *)arg == 3; }

static bool count_only(void *arg) {
    ++*(int *)arg;
    return false;
}

/* In the pool, and where it was thought to be short. */
static void a_launch_is_interrupted(void) {
    for (int caller = 0; caller < 2; caller++) {
        int asked = 0;
        uint32_t cost = caller ? 1 : 0;
        LaunchConfig c = config(BLOCKS, &cost);
        c.interrupted = third_time;
        c.interrupted_arg = &asked;
        CHECK(launch(spin, NULL, &c, false, NULL) == GPU_ERROR_INTERRUPTED);
        CHECK(asked == 3);
        CHECK(cost > 100); /* it was not short after all */
    }
}

static void who_asks_may_be_content(void) {
    uint32_t *hits = calloc(BLOCKS, sizeof *hits);
    Params p = {.hits = hits};
    for (uint32_t n = 1; n <= 3; n++) {
        int asked = 0;
        uint32_t cost = n == 1;
        LaunchConfig c = config(n, &cost);
        c.interrupted = count_only;
        c.interrupted_arg = &asked;
        CHECK(launch(take_long, &p, &c, false, NULL) == GPU_OK);
        CHECK(asked > 0 && hits[n - 1] == 1);
        memset(hits, 0, BLOCKS * sizeof *hits);
    }
    free(hits);
}

/* As a signal's handler in Python may: launches inside of the launch that was interrupted for it. */
static bool launch_inside(void *arg) {
    uint32_t *hits = calloc(BLOCKS, sizeof *hits), dear = UINT32_MAX;
    Params p = {.hits = hits};
    for (int i = 0; i < 2; i++) {
        int asked = 0;
        LaunchConfig c = config(BLOCKS, i ? NULL : &dear);
        c.interrupted = third_time;
        c.interrupted_arg = &asked;
        CHECK(launch(i ? spin : count_blocks, &p, &c, false, NULL) == (i ? GPU_ERROR_INTERRUPTED : GPU_OK));
    }
    CHECK(all_are(hits, 1));
    free(hits);
    return ++*(int *)arg == 2;
}

static void launches_inside_of_a_launch(void) {
    for (uint32_t cost = 0; cost < 2; cost++) {
        int asked = 0;
        uint32_t believed = cost;
        LaunchConfig c = config(1, &believed);
        c.interrupted = launch_inside;
        c.interrupted_arg = &asked;
        CHECK(launch(spin, NULL, &c, false, NULL) == GPU_ERROR_INTERRUPTED && asked == 2);
    }
}

/* One thread's exception ends the others' work, and arrives whole. */
static void a_raise_ends_the_launch(void) {
    LaunchConfig c = config(8, NULL);
    ErrorRecord error;
    uint8_t seven[sizeof error.values];
    memset(seven, 7, sizeof seven);
    if (runtime_cpu_threads() < 8) return; /* block 7 would wait for those before it */
    CHECK(launch(raise_or_spin, NULL, &c, false, &error) == GPU_ERROR_RAISED);
    CHECK(error.site == 1 && memcmp(error.values, seven, sizeof seven) == 0);
}

static void *launch_elsewhere(void *arg) {
    LaunchConfig c = config(1, NULL);
    CHECK(launch(take_long, arg, &c, false, NULL) == GPU_OK);
    return NULL;
}

/* Interrupting one launch leaves that of another thread alone. */
static void launches_beside_an_interrupted_one(void) {
    uint32_t *hits = calloc(BLOCKS, sizeof *hits);
    Params p = {.hits = hits};
    pthread_t thread;
    pthread_create(&thread, NULL, launch_elsewhere, &p);
    a_launch_is_interrupted();
    pthread_join(thread, NULL);
    CHECK(hits[0] == 1);
    free(hits);
}

/* Forks while asked: the child goes on in the middle of the launch, without the pool's threads. */
static bool fork_inside(void *arg) {
    pid_t *child = arg;
    if (*child < 0) *child = fork();
    return false;
}

static void a_fork_inside_of_a_launch(void) {
    uint32_t *hits = calloc(BLOCKS, sizeof *hits);
    Params p = {.hits = hits};
    for (int caller = 0; caller < 2; caller++) {
        pid_t child = -1;
        uint32_t cost = caller ? 1 : 0;
        LaunchConfig c = config(caller ? 1 : 4, &cost);
        c.interrupted = fork_inside;
        c.interrupted_arg = &child;
        Status status = launch(take_long, &p, &c, false, NULL);
        if (child == 0) {
            runtime_cpu_set_threads(2);
            a_launch_is_interrupted(); /* the next one works */
            _exit(failures || !(status == GPU_OK || status == GPU_ERROR_INTERRUPTED));
        }
        int ended = -1;
        CHECK(status == GPU_OK);
        CHECK(waitpid(child, &ended, 0) == child && WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
    }
    free(hits);
}

static volatile sig_atomic_t urgent;
static void on_urgent(int number) { urgent = number; }

/* The signal that we use stays usable for others, whoever came first. */
static void sigurg_of_others(void) {
    for (int i = 0; i < 2; i++) {
        struct sigaction theirs = {.sa_handler = on_urgent};
        sigaction(SIGURG, &theirs, NULL);
        a_launch_is_interrupted();
        urgent = 0;
        raise(SIGURG);
        CHECK(urgent == SIGURG);
    }
}

static void change_modes(const void *params, const CpuLaunch *launch, uint64_t first, uint64_t last) {
    fesetround(FE_UPWARD);
    spin(params, launch, first, last);
}

/* A library function may be left while it has set modes of its own. */
static void floating_point_modes_stay(void) {
    uint32_t cost = 1;
    int asked = 2;
    LaunchConfig c = config(1, &cost);
    c.interrupted = third_time;
    c.interrupted_arg = &asked;
    volatile float one = 1, tiny = 1e-20f;
    CHECK(launch(change_modes, NULL, &c, false, NULL) == GPU_ERROR_INTERRUPTED);
    CHECK(one + tiny == 1);
}

/* ---- exceptions, forks, limits --------------------------------------------------------------- */

static void a_raise_is_reported(void) {
    for (int inline_ = 0; inline_ < 2; inline_++) {
        uint32_t cost = inline_ ? 1 : 0;
        LaunchConfig c = config(100, &cost);
        ErrorRecord error;
        CHECK(launch(raise_in_block_seven, NULL, &c, false, &error) == GPU_ERROR_RAISED);
        CHECK(error.site == 1 && error.block[0] == 7);
    }
}

static void a_forked_child_launches(void) {
    uint32_t *hits = calloc(BLOCKS, sizeof *hits);
    Params p = {.hits = hits};
    pid_t pid = fork();
    if (pid == 0) {
        LaunchConfig c = config(BLOCKS, NULL);
        int status = !(launch(count_blocks, &p, &c, false, NULL) == GPU_OK && all_are(hits, 1));
        _exit(status);
    }
    int status = -1;
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    LaunchConfig c = config(BLOCKS, NULL);
    CHECK(launch(count_blocks, &p, &c, false, NULL) == GPU_OK && all_are(hits, 1));
    free(hits);
}

static void limits(void) {
    Image image = {.cpu_entry = count_blocks, .local_bytes = 64 << 20};
    LaunchConfig c = config(1, NULL);
    CHECK(launch_image(&image, NULL, &c, NULL) == GPU_ERROR_LAUNCH);
    image = (Image){.entry = NULL};
    CHECK(launch_image(&image, NULL, &c, NULL) == GPU_ERROR_LAUNCH);
}

/* Threads chosen stay chosen. */
static void a_forked_child_keeps_the_number_of_threads(void) {
    int status = -1;
    runtime_cpu_set_threads(3);
    pid_t pid = fork();
    if (pid == 0) _exit(runtime_cpu_threads() != 3);
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    runtime_cpu_set_threads(0);
}

int main(void) {
    every_block_runs_once();
    launches_of_several_threads();
    a_raise_is_reported();
    a_forked_child_launches();
    a_forked_child_keeps_the_number_of_threads();
    limits();
    static const int threads[] = {1, 2, 3, 8};
    for (unsigned i = 0; i < sizeof threads / sizeof *threads; i++) {
        runtime_cpu_set_threads(threads[i]);
        CHECK(runtime_cpu_threads() == threads[i]);
        every_block_runs_once();
        a_launch_is_interrupted();
        who_asks_may_be_content();
        launches_inside_of_a_launch();
        nobody_misses_a_call();
        launches_beside_an_interrupted_one();
        a_raise_ends_the_launch();
        a_fork_inside_of_a_launch();
        sigurg_of_others();
        floating_point_modes_stay();
    }
    printf("test_cpu: %s\n", failures ? "FAILED" : "ok");
    return failures != 0;
}
