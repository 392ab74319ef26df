/* driver_work.c - each device's queue: work in the order in which it was submitted, done by a thread of the device. */
#define _POSIX_C_SOURCE 200809L
#include "driver.h"

#include <signal.h>
#include <stdlib.h>

static _Thread_local bool is_worker;

bool work_is_mine(void) { return is_worker; }

/* Takes the first piece of work and does it without the lock. Work of a context that has failed is dropped, but for
 * what gives something back. */
static void do_first(Device *d) {
    Work *w = d->first;
    d->first = w->next;
    if (!d->first) d->end = &d->first;
    Context *c = w->context;
    bool skip = c->error && !w->always;
    CUresult r = CUDA_SUCCESS;
    d->stop = false;
    pthread_mutex_unlock(&driver.lock);
    if (!skip) r = w->run(w);
    pthread_mutex_lock(&driver.lock);
    if (r && !c->error) c->error = r;
    if (w->end) w->end(w);
    d->done = w->number;
    pthread_cond_broadcast(&driver.finished);
    free(w);
}

static void *worker(void *arg) {
    Device *d = arg;
    is_worker = true;
    pthread_mutex_lock(&driver.lock);
    for (;;) {
        while (!d->first) pthread_cond_wait(&d->more, &driver.lock);
        do_first(d);
    }
    return NULL;
}

bool work_start(Device *d) {
    if (d->started) return true;
    pthread_t thread;
    pthread_attr_t attr;
    sigset_t all, before;
    /* The program's signal handlers run in its own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    d->started = pthread_create(&thread, &attr, worker, d) == 0;
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return d->started;
}

static uint64_t enqueue(Work *w, Device *d, Context *c) {
    w->context = c;
    w->next = NULL;
    w->number = ++d->submitted;
    *d->end = w;
    d->end = &w->next;
    pthread_cond_signal(&d->more);
    return w->number;
}

void work_push(Work *w, Device *d) { enqueue(w, d, &d->primary); }

uint64_t work_submit(Work *w, Stream *s) {
    if (s->capture) return graph_add(w, s);
    return s->last = enqueue(w, s->context->device, s->context);
}

void work_wait(Device *d, uint64_t number) {
    while (d->done < number) pthread_cond_wait(&driver.finished, &driver.lock);
}

CUresult work_sync(Context *c, uint64_t number) {
    if (is_worker) return CUDA_ERROR_NOT_PERMITTED;
    work_wait(c->device, number);
    return c->error;
}

CUresult work_idle(Context *c) { return work_sync(c, c->device->submitted); }

CUresult work_finish(Stream *s) {
    return driver.options.blocking && !is_worker ? work_sync(s->context, s->last) : CUDA_SUCCESS;
}
