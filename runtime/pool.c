/* pool.c - the threads behind the CPU device. See pool.h.
 *
 * One mutex guards the list of jobs and the counts; the items themselves are handed out with one atomic addition a
 * chunk. Threads are started when a job first wants them, block all signals (Python handles those in its main thread)
 * and live as long as the process. */
#define _GNU_SOURCE
#include "pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_THREADS = 1024, STACK_BYTES = 8 << 20, POLL_NS = 20 * 1000 * 1000 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work; /* a job wants threads */
    pthread_cond_t done; /* a thread left a job */
    Job *jobs;           /* oldest first */
    int wanted;          /* threads a job may have; 0: not yet asked */
    int started, idle;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- how many ---------------------------------------------------------------------------------- */

static int usable_cores(void) {
    /* The set may be larger than cpu_set_t holds: grow until the kernel takes it. */
    for (int n = CPU_SETSIZE; n <= 1 << 20; n *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)n);
        if (!set) break;
        size_t size = CPU_ALLOC_SIZE((size_t)n);
        CPU_ZERO_S(size, set);
        int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (count > 0) return count < MAX_THREADS ? count : MAX_THREADS;
    }
    return 1;
}

static int default_threads(void) {
    const char *text = getenv("GPU_NUM_THREADS");
    char *end;
    long n = text ? strtol(text, &end, 10) : 0;
    if (text && end != text && *end == '\0' && n > 0) return n < MAX_THREADS ? (int)n : MAX_THREADS;
    return usable_cores();
}

int pool_threads(void) {
    pthread_mutex_lock(&pool.lock);
    if (pool.wanted == 0) pool.wanted = default_threads();
    int n = pool.wanted;
    pthread_mutex_unlock(&pool.lock);
    return n;
}

void pool_set_threads(int n) {
    pthread_mutex_lock(&pool.lock);
    pool.wanted = n <= 0 ? default_threads() : n < MAX_THREADS ? n : MAX_THREADS;
    pthread_mutex_unlock(&pool.lock);
}

/* ---- fork -------------------------------------------------------------------------------------- */

static void before_fork(void) { pthread_mutex_lock(&pool.lock); }
static void after_fork_parent(void) { pthread_mutex_unlock(&pool.lock); }

/* The child has none of the threads: start anew. */
static void after_fork_child(void) {
    /* Jobs of other threads are gone with those threads; the lock was held by the forking thread. */
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.work, NULL);
    pthread_cond_init(&pool.done, NULL);
    pool.jobs = NULL;
    pool.started = pool.idle = 0;
    pool.wanted = 0;
}

static void initialise(void) { pthread_atfork(before_fork, after_fork_parent, after_fork_child); }

/* ---- handing out ------------------------------------------------------------------------------- */

static bool exhausted(const Job *job) { return __atomic_load_n(&job->next, __ATOMIC_RELAXED) >= job->items; }

/* Nothing more is handed out. Additions of chunks may follow, so half the range is left for them. */
static void stop(Job *job) { __atomic_store_n(&job->next, (uint64_t)1 << 63, __ATOMIC_RELAXED); }

/* Runs one chunk; false when there is none. */
static bool run_chunk(Job *job) {
    if (exhausted(job)) return false;
    uint64_t first = __atomic_fetch_add(&job->next, job->chunk, __ATOMIC_RELAXED);
    if (first >= job->items) return false;
    uint64_t last = job->items - first > job->chunk ? first + job->chunk : job->items;
    if (!job->run(job->arg, first, last)) stop(job);
    return true;
}

static void unlink_job(Job *job) {
    for (Job **at = &pool.jobs; *at; at = &(*at)->link) {
        if (*at == job) {
            *at = job->link;
            return;
        }
    }
}

/* The oldest job that wants another thread. Called with the lock held. */
static Job *find_job(void) {
    for (Job *job = pool.jobs; job; job = job->link)
        if (job->joined < job->helpers && !exhausted(job)) return job;
    return NULL;
}

static void *worker(void *unused) {
    (void)unused;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        Job *job;
        while (!(job = find_job())) {
            pool.idle++;
            pthread_cond_wait(&pool.work, &pool.lock);
            pool.idle--;
        }
        job->joined++;
        job->active++;
        pthread_mutex_unlock(&pool.lock);
        while (run_chunk(job)) {}
        pthread_mutex_lock(&pool.lock);
        /* The last one out tells the caller, who owns the job: it is not touched after that. */
        if (--job->active == 0) pthread_cond_broadcast(&pool.done);
    }
    return NULL;
}

/* Wakes or starts threads for a job just listed. Called with the lock held; true if somebody may come. */
static bool summon(const Job *job) {
    int need = job->helpers;
    for (int i = 0; i < need && i < pool.idle; i++) pthread_cond_signal(&pool.work);
    if (pool.idle >= need || pool.started >= pool.wanted) return pool.started > 0;
    sigset_t all, old;
    pthread_attr_t attr;
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (int missing = need - pool.idle; missing > 0 && pool.started < pool.wanted; missing--) {
        pthread_t thread;
        if (pthread_create(&thread, &attr, worker, NULL) != 0) break;
        pool.started++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return pool.started > 0;
}

/* ---- the caller -------------------------------------------------------------------------------- */

static bool asked_to_stop(Job *job) {
    if (!job->cancelled || !job->cancelled(job->cancelled_arg)) return false;
    stop(job);
    if (job->on_cancel) job->on_cancel(job->arg);
    return true;
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Works on its own job; true if it was cancelled. Asking may be dear (it takes the GIL), so not at every chunk. */
static bool work(Job *job) {
    int64_t asked = job->cancelled ? now_ns() : 0;
    while (run_chunk(job)) {
        if (!job->cancelled) continue;
        int64_t now = now_ns();
        if (now - asked < POLL_NS) continue;
        if (asked_to_stop(job)) return true;
        asked = now_ns();
    }
    return false;
}

static struct timespec next_poll(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += POLL_NS;
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    return t;
}

/* Until nobody is in the job and nothing is left of it. The ends of other jobs wake this one as well, and don't put off
 * its next question. */
static bool wait_for(Job *job, bool cancelled) {
    struct timespec until = next_poll();
    pthread_mutex_lock(&pool.lock);
    while (job->active > 0 || !exhausted(job)) {
        if (cancelled || !job->cancelled) {
            pthread_cond_wait(&pool.done, &pool.lock);
        } else if (pthread_cond_timedwait(&pool.done, &pool.lock, &until) != 0) {
            pthread_mutex_unlock(&pool.lock);
            cancelled = asked_to_stop(job);
            until = next_poll();
            pthread_mutex_lock(&pool.lock);
        }
    }
    unlink_job(job);
    pthread_mutex_unlock(&pool.lock);
    return cancelled;
}

bool pool_run(Job *job) {
    pthread_once(&once, initialise);
    int most = pool_threads();
    if (job->helpers > most) job->helpers = most;
    if (job->helpers > 0) {
        pthread_mutex_lock(&pool.lock);
        Job **end = &pool.jobs;
        while (*end) end = &(*end)->link;
        *end = job;
        /* If no thread could ever be made, the caller does the work. */
        if (!summon(job)) job->join = true;
        pthread_mutex_unlock(&pool.lock);
    } else {
        job->join = true;
    }
    bool cancelled = job->join && work(job);
    if (job->helpers > 0) cancelled = wait_for(job, cancelled);
    return cancelled;
}
