/* test_cpu.c - the CPU device and its pool, with C functions in the place of compiled kernels. */
#define _GNU_SOURCE
#include "../../runtime/runtime.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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

static void spin_until_told(const void *params, const CpuLaunch *launch, uint64_t first, uint64_t last) {
    (void)params, (void)first, (void)last;
    while (!__atomic_load_n(launch->interrupt, __ATOMIC_RELAXED)) usleep(50); /* TSan delivers signals at calls */
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

static bool third_time(void *arg) { return ++*(int *)arg == 3; }

static void a_launch_is_interrupted(void) {
    int asked = 0;
    LaunchConfig c = config(BLOCKS, NULL);
    c.interrupted = third_time;
    c.interrupted_arg = &asked;
    CHECK(launch(spin_until_told, NULL, &c, false, NULL) == GPU_ERROR_INTERRUPTED);
    CHECK(asked == 3);
}

static volatile sig_atomic_t handled;
static void handler(int number) { handled = number; }

static void *send_sigint(void *arg) {
    (void)arg;
    usleep(20000);
    kill(getpid(), SIGINT);
    return NULL;
}

static bool never(void *arg) {
    (void)arg;
    return false;
}

/* A launch believed to be short runs in the caller, where nobody can ask: the signal itself stops it. */
static void sigint_stops_the_caller(void) {
    uint32_t cost = 1;
    pthread_t thread;
    struct sigaction ours = {.sa_handler = handler}, now;
    sigaction(SIGINT, &ours, NULL);
    LaunchConfig c = config(1, &cost);
    c.interrupted = never;
    pthread_create(&thread, NULL, send_sigint, NULL);
    CHECK(launch(spin_until_told, NULL, &c, false, NULL) == GPU_ERROR_INTERRUPTED);
    pthread_join(thread, NULL);
    CHECK(handled == SIGINT);
    sigaction(SIGINT, NULL, &now);
    CHECK(now.sa_handler == handler && !(now.sa_flags & SA_SIGINFO));
    CHECK(cost > 1000000); /* it was not short after all */
}

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

int main(void) {
    every_block_runs_once();
    launches_of_several_threads();
    a_launch_is_interrupted();
    sigint_stops_the_caller();
    a_raise_is_reported();
    a_forked_child_launches();
    limits();
    for (int n = 1; n <= 3; n++) {
        runtime_cpu_set_threads(n);
        CHECK(runtime_cpu_threads() == n);
        every_block_runs_once();
        a_launch_is_interrupted();
    }
    printf("test_cpu: %s\n", failures ? "FAILED" : "ok");
    return failures != 0;
}
