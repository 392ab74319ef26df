/* interrupt.c - the signals that leave generated code, and the thread that sends one. See interrupt.h.
 *
 * A call that asks is published in `watched`, with a number in `calls`. The watcher wakes every INTERRUPT_NS; when it
 * finds the same call twice, that call takes long, and its thread gets the signal. So short calls cost two stores.
 * When nothing was called for a while the watcher sleeps until the next call wakes it. */
#define _GNU_SOURCE
#include "interrupt.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

enum { QUIET_ROUNDS = 40, WATCHER_STACK = 256 << 10 };

/* The guard of the code that this thread is in; NULL outside, and while it is asked. The handler reads it, so it has
 * a place that needs no allocation. */
static _Thread_local Guard *volatile inside __attribute__((tls_model("initial-exec")));
static _Thread_local pid_t self;

/* ---- the signal ---------------------------------------------------------------------------------- */

static struct sigaction others; /* what was there before ours */
static pthread_mutex_t installing = PTHREAD_MUTEX_INITIALIZER;

/* A handler that calls ours in turn must not send the two round in a circle. */
static void pass_on(int number, siginfo_t *info, void *context) {
    static _Thread_local bool passing __attribute__((tls_model("initial-exec")));
    if (passing) return;
    passing = true;
    if (others.sa_flags & SA_SIGINFO) others.sa_sigaction(number, info, context);
    else if (others.sa_handler != SIG_DFL && others.sa_handler != SIG_IGN) others.sa_handler(number);
    passing = false;
}

static void watch(Guard *g);
static void unwatch(Guard *g);

static bool stopped(const Guard *g) { return g->stop && __atomic_load_n(g->stop, __ATOMIC_ACQUIRE); }

/* Whoever is asked may run Python code: it may take long, launch, fork. */
static bool leave(Guard *g) {
    if (stopped(g)) return true;
    if (!g->ask) return false;
    unwatch(g);
    bool yes = g->ask(g->arg);
    watch(g);
    return yes || stopped(g);
}

static void on_signal(int number, siginfo_t *info, void *context) {
    if (info->si_code != SI_QUEUE || info->si_value.sival_ptr != &others) {
        pass_on(number, info, context);
        return;
    }
    Guard *g = inside;
    if (!g) return;
    int error = errno;
    inside = NULL;
    if (leave(g)) siglongjmp(g->env, 1);
    inside = g;
    errno = error;
}

/* SIGURG, since by default it is ignored, debuggers let it pass, and few use it. Somebody may have taken it after us;
 * then ours goes before theirs. Nothing is blocked while the handler runs, so leaving it restores no mask. */
static void install(void) {
    struct sigaction now, ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER};
    pthread_mutex_lock(&installing);
    if (sigaction(SIGURG, NULL, &now) == 0 && !((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_signal)) {
        others = now;
        sigaction(SIGURG, &ours, NULL);
    }
    pthread_mutex_unlock(&installing);
}

void interrupt_thread(pid_t tid) {
    siginfo_t info = {.si_signo = SIGURG, .si_code = SI_QUEUE};
    install();
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = &others; /* known by this address */
    syscall(SYS_rt_tgsigqueueinfo, info.si_pid, tid, SIGURG, &info);
}

/* ---- faults -------------------------------------------------------------------------------------- */

static const int fault_signals[] = {SIGSEGV, SIGBUS};
enum { FAULT_SIGNALS = sizeof fault_signals / sizeof *fault_signals };
static struct sigaction fault_others[FAULT_SIGNALS]; /* what was there before ours */

static bool writes(const void *context) {
#if defined(__x86_64__)
    return ((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & 2; /* of the page fault's error code */
#else
    (void)context;
    return false;
#endif
}

/* Not of generated code: who was there before handles it, and by default that ends the process. */
static void pass_fault_on(int number, siginfo_t *info, void *context) {
    const struct sigaction *other = &fault_others[number == SIGBUS];
    if (other->sa_flags & SA_SIGINFO) other->sa_sigaction(number, info, context);
    else if (other->sa_handler != SIG_DFL && other->sa_handler != SIG_IGN) other->sa_handler(number);
    else {
        sigaction(number, other, NULL);
        if (info->si_code <= 0) raise(number); /* somebody sent it; else the access is tried again */
    }
}

static void on_fault(int number, siginfo_t *info, void *context) {
    Guard *g = inside;
    if (!g || info->si_code <= 0) {
        pass_fault_on(number, info, context);
        return;
    }
    inside = NULL;
    g->fault = (MemoryFault){true, writes(context), (uintptr_t)info->si_addr};
    siglongjmp(g->env, 1);
}

static void install_faults(void) {
    struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    for (int i = 0; i < FAULT_SIGNALS; i++) sigaction(fault_signals[i], &ours, &fault_others[i]);
}

/* ---- the watcher --------------------------------------------------------------------------------- */

static pid_t watched;  /* the thread whose call asks, or 0; atomic */
static uint32_t calls; /* so far; atomic */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool up, asleep; /* changed under the lock; atomic */
} watcher = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static void doze(void) {
    pthread_mutex_lock(&watcher.lock);
    __atomic_store_n(&watcher.asleep, true, __ATOMIC_SEQ_CST);
    /* A call that begins now either sees `asleep` or is seen here. */
    if (__atomic_load_n(&watched, __ATOMIC_SEQ_CST)) __atomic_store_n(&watcher.asleep, false, __ATOMIC_SEQ_CST);
    while (watcher.asleep) pthread_cond_wait(&watcher.wake, &watcher.lock);
    pthread_mutex_unlock(&watcher.lock);
}

static void *watch_calls(void *unused) {
    const struct timespec round = {0, INTERRUPT_NS};
    uint32_t seen = 0;
    for (unsigned quiet = 0;; quiet++) {
        nanosleep(&round, NULL);
        pid_t tid = __atomic_load_n(&watched, __ATOMIC_SEQ_CST);
        uint32_t now = __atomic_load_n(&calls, __ATOMIC_SEQ_CST);
        if (tid && now == seen) interrupt_thread(tid);
        if (tid || now != seen) quiet = 0;
        seen = now;
        if (quiet < QUIET_ROUNDS) continue;
        doze();
        quiet = 0;
    }
    return unused;
}

static bool start_watcher(void) {
    sigset_t all, old;
    pthread_attr_t attr;
    pthread_t thread;
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, WATCHER_STACK);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool up = pthread_create(&thread, &attr, watch_calls, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return up;
}

static void wake_watcher(void) {
    pthread_mutex_lock(&watcher.lock);
    if (!watcher.up) __atomic_store_n(&watcher.up, start_watcher(), __ATOMIC_RELEASE);
    if (watcher.asleep) {
        __atomic_store_n(&watcher.asleep, false, __ATOMIC_SEQ_CST);
        pthread_cond_signal(&watcher.wake);
    }
    pthread_mutex_unlock(&watcher.lock);
}

/* Only the thread that forked is in the child. It can't be one that is watched: code that is asked isn't. */
static void after_fork(void) {
    pthread_mutex_init(&installing, NULL);
    pthread_mutex_init(&watcher.lock, NULL);
    pthread_cond_init(&watcher.wake, NULL);
    watcher.up = watcher.asleep = false;
    watched = 0;
    self = 0;
}

static void register_fork(void) { pthread_atfork(NULL, NULL, after_fork); }

pid_t interrupt_self(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (self) return self;
    pthread_once(&once, register_fork);
    return self = gettid();
}

static void watch(Guard *g) {
    pid_t nobody = 0;
    __atomic_store_n(&calls, __atomic_load_n(&calls, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    g->watched =
        __atomic_compare_exchange_n(&watched, &nobody, interrupt_self(), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&watcher.up, __ATOMIC_ACQUIRE) || __atomic_load_n(&watcher.asleep, __ATOMIC_SEQ_CST))
        wake_watcher();
}

static void unwatch(Guard *g) {
    if (g->watched) __atomic_store_n(&watched, 0, __ATOMIC_RELEASE);
    g->watched = false;
}

/* ---- calls --------------------------------------------------------------------------------------- */

/* The kernel gives a handler fresh floating-point modes, and a jump out of it keeps those: so they are put back. */
static unsigned modes(void) {
#if defined(__SSE__)
    return _mm_getcsr();
#else
    return 0;
#endif
}

static void set_modes(unsigned saved) {
#if defined(__SSE__)
    _mm_setcsr(saved);
#else
    (void)saved;
#endif
}

bool guard_call(Guard *g, void (*code)(void *arg), void *arg) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install_faults);
    g->modes = modes();
    g->fault.happened = false;
    if (g->ask) watch(g);
    if (sigsetjmp(g->env, 0)) {
        set_modes(g->modes);
        if (g->ask) unwatch(g);
        return false;
    }
    inside = g;
    /* Who set `stop` earlier may have sent the signal too early. */
    bool run = !stopped(g);
    if (run) code(arg);
    inside = NULL;
    if (g->ask) unwatch(g);
    return run;
}
