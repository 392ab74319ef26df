/* pool.c - the threads behind the CPU device. See pool.h.
 *
 * One mutex guards the list of jobs and the counts; the items themselves are handed out with one atomic addition a
 * chunk. Waking a thread costs 45 to 80 microseconds, so who is likely to be wanted again at once, or waits for the
 * last chunk of somebody else, looks out for about as long before it sleeps. Threads are started when a job first wants
 * them, block all signals but those of interrupt.h (Python handles signals in its main thread) and live as long as the
 * process. */
#define _GNU_SOURCE
#include "pool.h"
#include "clock.h"
#include "cores.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_THREADS = 1024, STACK_BYTES = 8 << 20, POLL_NS = 20 * 1000 * 1000, LOOKOUT_NS = 50 * 1000 };

typedef struct Worker Worker;
struct Worker {
    pid_t tid;
    const Job *job; /* or NULL */
    Worker *link;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work; /* a job wants threads */
    pthread_cond_t done; /* a thread left a job */
    Job *jobs;           /* oldest first */
    Worker *workers;
    int chosen; /* threads a job may have, by pool_set_threads(); 0: the default */
    int usual;  /* the default; 0: not yet asked */
    int started, idle;
    int looking_out; /* threads without work that don't sleep yet */
    int called;      /* how many of those are wanted; written under the lock, atomic */
    unsigned forks;  /* between the first process and this one */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- how many ---------------------------------------------------------------------------------- */

static int default_threads(void) {
    const char *text = getenv("GPU_NUM_THREADS");
    char *end;
    long n = text ? strtol(text, &end, 10) : 0;
    if (text && end != text && *end == '\0' && n > 0) return n < MAX_THREADS ? (int)n : MAX_THREADS;
    int cores = cores_usable();
    return cores < MAX_THREADS ? cores : MAX_THREADS;
}

/* Called with the lock held. */
static int wanted(void) {
    if (pool.chosen) return pool.chosen;
    if (pool.usual == 0) pool.usual = default_threads();
    return pool.usual;
}

int pool_threads(void) {
    pthread_mutex_lock(&pool.lock);
    int n = wanted();
    pthread_mutex_unlock(&pool.lock);
    return n;
}

void pool_set_threads(int n) {
    pthread_mutex_lock(&pool.lock);
    pool.chosen = n < 0 ? 0 : n < MAX_THREADS ? n : MAX_THREADS;
    pool.usual = 0;
    pthread_mutex_unlock(&pool.lock);
}

/* ---- fork -------------------------------------------------------------------------------------- */

static void before_fork(void) { pthread_mutex_lock(&pool.lock); }
static void after_fork_parent(void) { pthread_mutex_unlock(&pool.lock); }

/* The child has none of the threads: start anew. It may have other cores. */
static void after_fork_child(void) {
    /* Jobs of other threads are gone with those threads; the lock was held by the forking thread. */
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.work, NULL);
    pthread_cond_init(&pool.done, NULL);
    pool.jobs = NULL;
    pool.workers = NULL; /* they were on stacks that nobody uses now */
    pool.started = pool.idle = pool.usual = pool.looking_out = pool.called = 0;
    pool.forks++;
}

static void initialise(void) { pthread_atfork(before_fork, after_fork_parent, after_fork_child); }

/* ---- handing out ------------------------------------------------------------------------------- */

static bool exhausted(const Job *job) { return __atomic_load_n(&job->next, __ATOMIC_RELAXED) >= job->items; }

/* Interrupts all that are in the code of a job but the calling thread. */
static void interrupt_others(const Job *job) {
    pid_t self = interrupt_self();
    pthread_mutex_lock(&pool.lock);
    for (const Worker *w = pool.workers; w; w = w->link)
        if (w->job == job && w->tid != self) interrupt_thread(w->tid);
    if (job->caller && job->caller != self) interrupt_thread(job->caller);
    pthread_mutex_unlock(&pool.lock);
}

static bool is_stopped(const Job *job) { return __atomic_load_n(&job->stopped, __ATOMIC_SEQ_CST); }

/* Nothing more is handed out. Additions of chunks may follow, so half the range is left for them. */
static void stop(Job *job) {
    __atomic_store_n(&job->next, (uint64_t)1 << 63, __ATOMIC_RELAXED);
    __atomic_store_n(&job->stopped, true, __ATOMIC_SEQ_CST);
    interrupt_others(job);
}

/* Runs one chunk; false when there is none. */
static bool run_chunk(Job *job, Guard *guard) {
    if (exhausted(job)) return false;
    uint64_t first = __atomic_fetch_add(&job->next, job->chunk, __ATOMIC_RELAXED);
    if (first >= job->items) return false;
    uint64_t last = job->items - first > job->chunk ? first + job->chunk : job->items;
    if (!job->run(job->arg, guard, first, last) && !is_stopped(job)) stop(job);
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

/* For the other hardware thread of the core. */
static void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Goes round for LOOKOUT_NS at most, while *count is zero (or isn't). */
static void look_out(const int *count, bool while_zero) {
    uint64_t end = clock_ns() + LOOKOUT_NS;
    do
        for (int i = 0; i < 16; i++) {
            if ((__atomic_load_n(count, __ATOMIC_ACQUIRE) == 0) != while_zero) return;
            relax();
        }
    while (clock_ns() < end);
}

/* The oldest job that wants another thread. Called with the lock held. */
static Job *find_job(void) {
    for (Job *job = pool.jobs; job; job = job->link)
        if (job->joined < job->helpers && !exhausted(job)) return job;
    return NULL;
}

/* Called with the lock held; false: nobody called in time. */
static bool called_soon(void) {
    pool.looking_out++;
    pthread_mutex_unlock(&pool.lock);
    look_out(&pool.called, true);
    pthread_mutex_lock(&pool.lock);
    pool.looking_out--;
    bool called = pool.called > 0;
    if (called) __atomic_store_n(&pool.called, pool.called - 1, __ATOMIC_RELAXED);
    return called;
}

static void sleep_until_called(void) {
    pool.idle++;
    pthread_cond_wait(&pool.work, &pool.lock);
    pool.idle--;
}

static void *worker(void *unused) {
    (void)unused;
    Worker self = {.tid = interrupt_self()};
    pthread_mutex_lock(&pool.lock);
    self.link = pool.workers;
    pool.workers = &self;
    for (;;) {
        Job *job;
        while (!(job = find_job()))
            if (!called_soon() && !find_job()) sleep_until_called();
        job->joined++;
        __atomic_store_n(&job->active, job->active + 1, __ATOMIC_RELAXED);
        self.job = job;
        pthread_mutex_unlock(&pool.lock);
        Guard guard = {.stop = &job->stopped};
        while (run_chunk(job, &guard)) {}
        pthread_mutex_lock(&pool.lock);
        self.job = NULL;
        /* The last one out tells the caller, who owns the job: it is not touched after that. */
        int left = job->active - 1;
        __atomic_store_n(&job->active, left, __ATOMIC_RELEASE);
        if (left == 0) pthread_cond_broadcast(&pool.done);
    }
    return NULL;
}

/* Wakes or starts threads for a job just listed. Called with the lock held; true if somebody may come. */
static bool summon(const Job *job) {
    int awake = pool.looking_out - pool.called;
    if (awake > job->helpers) awake = job->helpers;
    __atomic_store_n(&pool.called, pool.called + awake, __ATOMIC_RELEASE);
    int need = job->helpers - awake;
    for (int i = 0; i < need && i < pool.idle; i++) pthread_cond_signal(&pool.work);
    if (pool.idle >= need || pool.started >= wanted()) return pool.started > 0;
    sigset_t all, old;
    pthread_attr_t attr;
    sigfillset(&all);
    sigdelset(&all, SIGURG);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (int missing = need - pool.idle; missing > 0 && pool.started < wanted(); missing--) {
        pthread_t thread;
        if (pthread_create(&thread, &attr, worker, NULL) != 0) break;
        pool.started++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return pool.started > 0;
}

/* ---- the caller -------------------------------------------------------------------------------- */

static bool asked_to_stop(void *arg) {
    Job *job = arg;
    if (!job->cancelled || !job->cancelled(job->cancelled_arg)) return false;
    job->was_cancelled = true;
    stop(job);
    return true;
}

/* Whether the job's pool threads are gone: this is a child, forked by `cancelled`. */
static bool forked(const Job *job) { return job->forks != pool.forks; }

static void set_caller(Job *job, pid_t tid) {
    pthread_mutex_lock(&pool.lock);
    job->caller = tid;
    pthread_mutex_unlock(&pool.lock);
}

/* Works on its own job. Code that takes long is interrupted to ask; between short chunks the asking is done here. It
 * may be dear (it takes the GIL), so not at every chunk. */
static void work(Job *job) {
    Guard guard = {.ask = job->cancelled ? asked_to_stop : NULL, .arg = job, .stop = &job->stopped};
    uint64_t asked = job->cancelled ? clock_ns() : 0;
    if (job->helpers > 0) set_caller(job, interrupt_self());
    while (run_chunk(job, &guard)) {
        if (!job->cancelled || is_stopped(job)) continue;
        uint64_t now = clock_ns();
        if (now - asked < POLL_NS) continue;
        if (asked_to_stop(job)) break;
        asked = clock_ns();
    }
    if (job->helpers > 0) set_caller(job, 0);
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
 * its next question. Threads of a stopped job are interrupted until they have left. */
static void wait_for(Job *job) {
    struct timespec until = next_poll();
    if (job->join && !is_stopped(job)) look_out(&job->active, false);
    pthread_mutex_lock(&pool.lock);
    while (!forked(job) && (job->active > 0 || !exhausted(job))) {
        if (!job->cancelled && !is_stopped(job)) {
            pthread_cond_wait(&pool.done, &pool.lock);
        } else if (pthread_cond_timedwait(&pool.done, &pool.lock, &until) != 0) {
            pthread_mutex_unlock(&pool.lock);
            if (is_stopped(job)) interrupt_others(job);
            else asked_to_stop(job);
            until = next_poll();
            pthread_mutex_lock(&pool.lock);
        }
    }
    unlink_job(job);
    pthread_mutex_unlock(&pool.lock);
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
        job->forks = pool.forks;
        /* If no thread could ever be made, the caller does the work. */
        if (!summon(job)) job->join = true;
        pthread_mutex_unlock(&pool.lock);
    } else {
        job->join = true;
    }
    if (job->join) work(job);
    if (job->helpers == 0) return job->was_cancelled;
    wait_for(job);
    return job->was_cancelled || forked(job);
}
