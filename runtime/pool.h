/* pool.h - persistent threads that share out the items of a job.
 *
 * Items are handed out in ascending order, in chunks. Several jobs may run at once; idle threads take the oldest
 * that wants them. A thread without work sleeps after some 50 microseconds. */
#ifndef GPU_POOL_H
#define GPU_POOL_H

#include "interrupt.h"

#include <stdint.h>

typedef struct Job {
    /* What to do, set by the caller. `run` handles items first <= i < last, within guard_call(guard, ...) what may take
     * long; false stops the job. */
    bool (*run)(void *arg, Guard *guard, uint64_t first, uint64_t last);
    void *arg;
    uint64_t items, chunk;
    int helpers; /* how many pool threads may join */
    bool join;   /* the caller works too */
    /* Asked now and then in the caller. True: nothing more is handed out, and who works on the job is interrupted. */
    bool (*cancelled)(void *arg);
    void *cancelled_arg;

    /* The pool's. */
    uint64_t next;    /* first item not handed out; atomic */
    bool stopped;     /* by `run` or `cancelled`; atomic */
    bool was_cancelled;
    pid_t caller;     /* while it works on the job; 0: it doesn't. Under the lock */
    int active;       /* pool threads in it; written under the lock, atomic */
    int joined;       /* pool threads that came so far; under the lock */
    unsigned forks;   /* of the process when it began */
    struct Job *link; /* list of jobs that want threads; under the lock */
} Job;

/* Runs a job to its end. Returns true if it was cancelled, also by a fork in `cancelled`, which a child's threads don't
 * survive. */
bool pool_run(Job *job);

int pool_threads(void);       /* how many threads a job gets at most */
void pool_set_threads(int n); /* 0: as many as this process may use cores, or GPU_NUM_THREADS */

#endif
