/* cpu_pages.c - memory of the CPU device in pages of its own, which another process may open.
 *
 * Other memory lies beside what belongs to others, and has no handle. A tree by address knows all such memory, and what
 * was opened of other processes: any address in it finds it. */
#define _GNU_SOURCE
#include "cpu.h"
#include "sharing.h"

#include <errno.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct Pages {
    const char *at;
    size_t bytes; /* whole pages; 1 in what is searched for */
    size_t asked;
    int file;    /* that they are pages of; -1: none yet */
    bool opened; /* another process's */
} Pages;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *tree;

static void take(void) { pthread_mutex_lock(&lock); }
static void leave(void) { pthread_mutex_unlock(&lock); }
static void initialise(void) { pthread_atfork(take, leave, leave); }

/* Ranges that overlap are equal. */
static int compare(const void *left, const void *right) {
    const Pages *a = left, *b = right;
    return a->at + a->bytes <= b->at ? -1 : b->at + b->bytes <= a->at ? 1 : 0;
}

/* Called with the lock held. */
static Pages *holding(const void *at) {
    Pages wanted = {.at = at, .bytes = 1}, **found = tfind(&wanted, &tree, compare);
    return found ? *found : NULL;
}

/* Frees it unless it is listed. */
static bool enlist(Pages *p) {
    pthread_once(&once, initialise);
    take();
    bool listed = tsearch(p, &tree, compare) != NULL;
    leave();
    if (!listed) free(p);
    return listed;
}

void *cpu_pages_alloc(size_t bytes) {
    Pages *p = bytes > SIZE_MAX / 2 ? NULL : malloc(sizeof *p);
    if (!p) return NULL;
    char *at = aligned_alloc(SHARING_PAGE, sharing_whole_pages(bytes));
    *p = (Pages){.at = at, .bytes = sharing_whole_pages(bytes), .asked = bytes, .file = -1};
    if (at && enlist(p)) return at;
    if (!at) free(p);
    free(at);
    return NULL;
}

bool cpu_pages_free(void *at, size_t *bytes) {
    if ((uintptr_t)at % SHARING_PAGE) return false;
    take();
    Pages *p = holding(at);
    if (p) tdelete(p, &tree, compare);
    leave();
    if (!p) return false;
    *bytes = p->asked;
    /* Memory that stays shared is no longer malloc's to give to others. */
    if (p->file < 0 || sharing_end(at, p->bytes, p->file)) free(at);
    free(p);
    return true;
}

static Status refuse(Failure *f, const char *what) {
    return failure_set(f, GPU_ERROR_UNSUPPORTED, "the cpu device can't %s: %s", what, strerror(errno));
}

Status cpu_share(Device *d, const void *at, SharedMemory *out, Failure *f) {
    (void)d;
    Status status = GPU_OK;
    take();
    Pages *p = holding(at);
    if (!p || p->opened) {
        status = failure_set(f, GPU_ERROR_UNSUPPORTED, "%s",
                             p ? "memory of another process is passed on by the process that it is of"
                               : "on the cpu device only arrays that cuda.to_device and cuda.device_array made, "
                                 "and their views, have handles");
    } else {
        if (p->file < 0) p->file = sharing_begin((void *)(uintptr_t)p->at, p->bytes);
        if (p->file < 0 || !sharing_describe(p->file, p->asked, out->handle)) status = refuse(f, "share memory");
        out->offset = (size_t)((const char *)at - p->at);
    }
    leave();
    return status;
}

Status cpu_open_shared(Device *d, const SharedMemory *shared, void **out, Failure *f) {
    (void)d;
    *out = NULL;
    size_t bytes;
    int file = sharing_open(shared->handle, &bytes);
    if (file < 0) return refuse(f, "open the memory of this handle");
    bytes = sharing_whole_pages(bytes);
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (at == MAP_FAILED) return refuse(f, "open the memory of this handle");
    Pages *p = malloc(sizeof *p);
    if (p) *p = (Pages){.at = at, .bytes = bytes, .file = -1, .opened = true};
    if (p && enlist(p)) {
        *out = at;
        return GPU_OK;
    }
    munmap(at, bytes);
    return failure_memory(f);
}

Status cpu_close_shared(Device *d, void *opened, Failure *f) {
    (void)d;
    take();
    Pages *p = holding(opened);
    bool good = p && p->opened && p->at == opened;
    if (good) tdelete(p, &tree, compare);
    leave();
    if (!good) return failure_set(f, GPU_ERROR_VALUE, "no memory of another process is open at this address");
    munmap(opened, p->bytes);
    free(p);
    return GPU_OK;
}
