/* pool.h - persistent threads that share out the items of a job.
 *
 * Items are handed out in ascending order, in chunks. Several jobs may run at once; idle threads take the oldest
 * that wants them. Nothing spins: a thread without work sleeps. */
#ifndef GPU_POOL_H
#define GPU_POOL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Job {
    /* What to do, set by the caller. `run` handles items first <= i < last; false stops the job. */
    bool (*run)(void *arg, uint64_t first, uint64_t last);
    void *arg;
    uint64_t items, chunk;
    int helpers; /* how many pool threads may join */
    bool join;   /* the caller works too, and asks `cancelled` between chunks */
    /* Asked now and then while the caller waits. True: nothing more is handed out, and `on_cancel` is told at once. */
    bool (*cancelled)(void *arg);
    void *cancelled_arg;
    void (*on_cancel)(void *arg);

    /* The pool's. */
    uint64_t next;    /* first item not handed out; atomic */
    int active;       /* pool threads in it; under the pool's lock */
    int joined;       /* pool threads that came so far; under the lock */
    struct Job *link; /* list of jobs that want threads; under the lock */
} Job;

/* Runs a job to its end. Returns true if it was cancelled. */
bool pool_run(Job *job);

int pool_threads(void);       /* how many threads a job gets at most */
void pool_set_threads(int n); /* 0: as many as this process may use cores, or GPU_NUM_THREADS */

#endif
