/* cuda_pool.c - the cache of device memory, in stream order.
 *
 * The driver is asked for segments, which are split into blocks. What is freed is merged with its free neighbours and
 * waits in a bin of its size for the next allocation on the same stream, which may have it at once, since the stream
 * runs in order. A block that other streams have used first waits for events in those; so does one of the per-thread
 * default stream, whose name means another stream in each thread.
 *
 * Bins are for sizes between a power of two and the next, in eight steps; the smallest block that fits is looked for in
 * the bin of its size, then the first of the next bin that has any. Small blocks (up to 1 MiB) come from segments of
 * their own, so that a few of them don't keep a large segment alive.
 *
 * The lock is never held while the driver waits for the device: what runs may wait for a callback in Python, and that
 * for a thread that wants the lock.
 *
 * An exact pool keeps nothing: each block is a segment of just its size, so that what watches the driver's allocations
 * (the emulator, compute-sanitizer) sees an access beyond an array. It is the emulator's; GPU_MEMORY_POOL=0 or 1 says
 * otherwise. */
#include "cuda.h"

#include <stdlib.h>
#include <string.h>

enum {
    ROUND = 512,
    SMALL = 1 << 20, /* the largest small block */
    SMALL_SEGMENT = 2 << 20,
    LARGE_SEGMENT = 20 << 20, /* for blocks up to half of it; others get a segment of their own */
    LARGE_ROUND = 2 << 20,
    STEPS = 8,
    BINS = 40 * STEPS,
    LOOK = 32, /* blocks of a bin that are looked at for the best fit */
    MOST_EVENTS = 64
};

struct Block {
    CUdeviceptr address;
    size_t bytes;
    Block *left, *right; /* in the segment; both NULL: it is the whole segment */
    Block *next, *prev;  /* in the bin; `next` also in the lists of blocks that are stuck or released */
    Block *chain;        /* in the table */
    StreamPool *owner;
    bool small, used;
    uint32_t nuses, cap_uses;
    CUstream *uses;
};

/* What is free on one stream. */
struct StreamPool {
    StreamPool *next;
    CUstream stream;
    uint32_t blocks; /* that it owns, free or used */
    bool ended;      /* destroyed: what it had goes to the legacy default stream's when `end` has come */
    bool stuck;      /* no event could be had: when release_free() has waited for the device */
    bool waited_for; /* it was stuck when that began */
    CUevent end;
    Block *bins[2][BINS];
    uint64_t filled[2][BINS / 64];
};

struct Pending {
    Pending *next;
    Block *block;
    uint32_t n;
    CUevent events[];
};

void pool_open(Pool *p, bool exact) {
    const char *asked = getenv("GPU_MEMORY_POOL");
    memset(p, 0, sizeof *p);
    p->exact = asked && *asked ? strcmp(asked, "0") == 0 : exact;
    pthread_mutex_init(&p->lock, NULL);
}

/* ---- bins -------------------------------------------------------------------------------------- */

static uint32_t bin_of(size_t bytes) {
    size_t units = bytes / ROUND ? bytes / ROUND : 1;
    uint32_t log = 63u - (uint32_t)__builtin_clzll(units);
    uint32_t step =
        log < 3 ? (uint32_t)(units << (3 - log)) & (STEPS - 1) : (uint32_t)(units >> (log - 3)) & (STEPS - 1);
    uint32_t bin = log * STEPS + step;
    return bin < BINS ? bin : BINS - 1;
}

static void put(Block *b) {
    StreamPool *s = b->owner;
    uint32_t bin = bin_of(b->bytes);
    Block **head = &s->bins[b->small][bin];
    b->prev = NULL;
    b->next = *head;
    if (*head) (*head)->prev = b;
    *head = b;
    s->filled[b->small][bin / 64] |= (uint64_t)1 << (bin % 64);
}

static void take(Block *b) {
    StreamPool *s = b->owner;
    uint32_t bin = bin_of(b->bytes);
    if (b->next) b->next->prev = b->prev;
    if (b->prev) b->prev->next = b->next;
    else s->bins[b->small][bin] = b->next;
    if (!s->bins[b->small][bin]) s->filled[b->small][bin / 64] &= ~((uint64_t)1 << (bin % 64));
}

/* The first bin from `bin` on that has blocks; BINS: none. */
static uint32_t next_filled(const StreamPool *s, bool small, uint32_t bin) {
    while (bin < BINS) {
        uint64_t bits = s->filled[small][bin / 64] >> (bin % 64);
        if (bits) return bin + (uint32_t)__builtin_ctzll(bits);
        bin = (bin / 64 + 1) * 64;
    }
    return BINS;
}

static Block *best_in(Block *b, size_t bytes) {
    Block *best = NULL;
    for (int i = 0; b && i < LOOK; b = b->next, i++)
        if (b->bytes >= bytes && (!best || b->bytes < best->bytes)) best = b;
    return best;
}

static Block *find_free(StreamPool *s, size_t bytes, bool small) {
    uint32_t first = bin_of(bytes);
    for (uint32_t bin = next_filled(s, small, first); bin < BINS; bin = next_filled(s, small, bin + 1)) {
        Block *b = best_in(s->bins[small][bin], bytes);
        if (b) return b;
    }
    return NULL;
}

/* ---- blocks ------------------------------------------------------------------------------------ */

static uint32_t slot_of(const Pool *p, CUdeviceptr at) {
    return (uint32_t)((at / ROUND * 0x9E3779B97F4A7C15u) >> 32) & (p->ntable - 1);
}

static bool grow_table(Pool *p) {
    uint32_t n = p->ntable ? 2 * p->ntable : 256;
    Block **table = calloc(n, sizeof(Block *)), **old = p->table;
    if (!table) return p->ntable != 0; /* longer chains work too */
    uint32_t nold = p->ntable;
    p->table = table;
    p->ntable = n;
    for (uint32_t i = 0; i < nold; i++)
        for (Block *b = old[i], *next; b; b = next) {
            next = b->chain;
            b->chain = table[slot_of(p, b->address)];
            table[slot_of(p, b->address)] = b;
        }
    free(old);
    return true;
}

static Block *new_block(Pool *p, StreamPool *owner, CUdeviceptr at, size_t bytes, bool small) {
    if (p->nblocks >= p->ntable && !grow_table(p)) return NULL;
    Block *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->address = at;
    b->bytes = bytes;
    b->owner = owner;
    b->small = small;
    Block **slot = &p->table[slot_of(p, at)];
    b->chain = *slot;
    *slot = b;
    owner->blocks++;
    p->nblocks++;
    return b;
}

static void unlink_block(Pool *p, Block *b) {
    Block **at = &p->table[slot_of(p, b->address)];
    while (*at != b) at = &(*at)->chain;
    *at = b->chain;
    b->owner->blocks--;
    p->nblocks--;
}

static void free_block(Block *b) {
    free(b->uses);
    free(b);
}

static void drop_block(Pool *p, Block *b) {
    unlink_block(p, b);
    free_block(b);
}

static Block *block_at(Pool *p, CUdeviceptr at) {
    Block *b = p->ntable ? p->table[slot_of(p, at)] : NULL;
    while (b && b->address != at) b = b->chain;
    return b;
}

/* Cuts off what isn't needed, if it is worth a block. */
static void split(Pool *p, Block *b, size_t bytes) {
    size_t rest = b->bytes - bytes;
    if (rest < (b->small ? (size_t)ROUND : (size_t)SMALL + 1)) return;
    Block *right = new_block(p, b->owner, b->address + bytes, rest, b->small);
    if (!right) return;
    b->bytes = bytes;
    right->left = b;
    right->right = b->right;
    if (b->right) b->right->left = right;
    b->right = right;
    put(right);
}

static bool is_free(const Block *b, const StreamPool *owner) { return b && !b->used && b->owner == owner; }

/* To its bin, with what is free beside it. */
static void give_back(Pool *p, Block *b) {
    b->used = false;
    b->nuses = 0;
    if (is_free(b->right, b->owner)) {
        Block *r = b->right;
        take(r);
        b->bytes += r->bytes;
        b->right = r->right;
        if (r->right) r->right->left = b;
        drop_block(p, r);
    }
    if (is_free(b->left, b->owner)) {
        Block *l = b->left;
        take(l);
        l->bytes += b->bytes;
        l->right = b->right;
        if (b->right) b->right->left = l;
        drop_block(p, b);
        b = l;
    }
    put(b);
}

/* ---- streams ----------------------------------------------------------------------------------- */

static bool is_legacy(CUstream s) { return s == NULL || s == CU_STREAM_LEGACY; }

/* The per-thread default stream waits for the legacy one, so that it may have the blocks of that. */
static StreamPool *pool_of(Pool *p, CUstream s) {
    if (is_legacy(s) || s == CU_STREAM_PER_THREAD) s = NULL;
    for (StreamPool *t = p->streams; t; t = t->next)
        if (t->stream == s && !t->ended) return t;
    StreamPool *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->stream = s;
    t->next = p->streams;
    p->streams = t;
    return t;
}

static bool add_use(Block *b, CUstream s) {
    for (uint32_t i = 0; i < b->nuses; i++)
        if (b->uses[i] == s) return true;
    if (b->nuses == b->cap_uses) {
        uint32_t cap = b->cap_uses ? 2 * b->cap_uses : 4;
        CUstream *uses = realloc(b->uses, cap * sizeof *uses);
        if (!uses) return false;
        b->uses = uses;
        b->cap_uses = cap;
    }
    b->uses[b->nuses++] = s;
    return true;
}

/* ---- blocks that other streams use ------------------------------------------------------------- */

static CUevent get_event(CudaDevice *d) {
    Pool *p = &d->pool;
    CUevent e = NULL;
    if (p->nevents) return p->events[--p->nevents];
    return d->cu->cuEventCreate(&e, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS ? e : NULL;
}

static void put_event(CudaDevice *d, CUevent e) {
    Pool *p = &d->pool;
    if (!p->events && (p->events = malloc(MOST_EVENTS * sizeof *p->events))) p->cap_events = MOST_EVENTS;
    if (p->nevents < p->cap_events) p->events[p->nevents++] = e;
    else d->cu->cuEventDestroy_v2(e);
}

/* Off the pool's books; flush() gives it to the driver. */
static void release(CudaDevice *d, Block *b) {
    Pool *p = &d->pool;
    p->stats.held -= b->bytes;
    p->stats.segments--;
    unlink_block(p, b);
    b->next = p->released;
    p->released = b;
}

/* Without the lock: the driver waits for all that runs, and that perhaps for a thread that wants the lock. */
static void flush(CudaDevice *d) {
    Pool *p = &d->pool;
    pthread_mutex_lock(&p->lock);
    Block *b = p->released;
    p->released = NULL;
    pthread_mutex_unlock(&p->lock);
    while (b) {
        Block *next = b->next;
        d->cu->cuMemFree_v2(b->address); /* a failure would be the next call's too */
        free_block(b);
        b = next;
    }
}

/* An event that is recorded in the stream. One from the store may have ended with a context that somebody reset: it
 * goes. */
static CUevent record_event(CudaDevice *d, CUstream s) {
    for (;;) {
        bool stored = d->pool.nevents;
        CUevent e = get_event(d);
        if (!e || d->cu->cuEventRecord(e, s) == CUDA_SUCCESS) return e;
        if (stored) continue;
        put_event(d, e);
        return NULL;
    }
}

/* Until events behind all that uses the block. Where they can't be had, until somebody has waited for the device. */
static void defer(CudaDevice *d, Block *b) {
    Pool *p = &d->pool;
    Pending *w = malloc(sizeof *w + b->nuses * sizeof *w->events);
    uint32_t n = 0;
    for (; w && n < b->nuses; n++) {
        /* The legacy default stream's event is behind everything in the threads' default streams. */
        CUstream s = b->uses[n] == CU_STREAM_PER_THREAD ? NULL : b->uses[n];
        if (!(w->events[n] = record_event(d, s))) break;
    }
    if (w && n == b->nuses) {
        *w = (Pending){.next = p->pending, .block = b, .n = n};
        p->pending = w;
        return;
    }
    while (w && n) put_event(d, w->events[--n]);
    free(w);
    b->next = p->stuck;
    p->stuck = b;
}

static bool all_done(CudaDevice *d, Pending *w) {
    while (w->n) {
        if (d->cu->cuEventQuery(w->events[w->n - 1]) == CUDA_ERROR_NOT_READY) return false;
        put_event(d, w->events[--w->n]); /* done, or the context is lost */
    }
    return true;
}

static void end_use(CudaDevice *d, Block *b) {
    if (d->pool.exact) release(d, b);
    else give_back(&d->pool, b);
}

static void collect(CudaDevice *d) {
    Pool *p = &d->pool;
    for (Pending **at = &p->pending; *at;) {
        Pending *w = *at;
        if (!all_done(d, w)) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        end_use(d, w->block);
        free(w);
    }
}

static void move_block(Block *b, StreamPool *to) {
    b->owner->blocks--;
    to->blocks++;
    b->owner = to;
}

/* What an ended stream had, once all its work is done. Blocks in use follow when they are freed. */
static void hand_over(CudaDevice *d, StreamPool *from) {
    Pool *p = &d->pool;
    StreamPool *to = pool_of(p, NULL);
    if (!to || from->stuck) return;
    if (from->end && d->cu->cuEventQuery(from->end) == CUDA_ERROR_NOT_READY) return;
    if (from->end) put_event(d, from->end);
    from->end = NULL;
    for (int small = 0; small < 2; small++)
        for (uint32_t bin = next_filled(from, small, 0); bin < BINS; bin = next_filled(from, small, bin)) {
            Block *b = from->bins[small][bin];
            take(b);
            move_block(b, to);
            give_back(p, b);
        }
}

static void collect_streams(CudaDevice *d) {
    for (StreamPool **at = &d->pool.streams; *at;) {
        StreamPool *s = *at;
        if (s->ended) hand_over(d, s);
        if (s->ended && !s->end && !s->stuck && s->blocks == 0) {
            *at = s->next;
            free(s);
        } else {
            at = &s->next;
        }
    }
}

/* What a stream that ends has done to others' blocks: the legacy default stream waits for it instead. */
static void pass_uses(CudaDevice *d, CUstream s) {
    Pool *p = &d->pool;
    CUevent e = NULL;
    for (uint32_t i = 0; i < p->ntable; i++)
        for (Block *b = p->table[i]; b; b = b->chain)
            for (uint32_t u = 0; u < b->nuses; u++) {
                if (b->uses[u] != s) continue;
                if (!e && (e = get_event(d)) && d->cu->cuEventRecord(e, s) == CUDA_SUCCESS)
                    d->cu->cuStreamWaitEvent(NULL, e, 0);
                b->uses[u] = NULL;
            }
    if (e) put_event(d, e);
}

void pool_stream_ends(CudaDevice *d, CUstream s) {
    Pool *p = &d->pool;
    if (is_legacy(s) || s == CU_STREAM_PER_THREAD) return;
    pthread_mutex_lock(&p->lock);
    for (StreamPool *t = p->streams; t; t = t->next) {
        if (t->stream != s || t->ended) continue;
        t->ended = true;
        t->end = get_event(d);
        if (t->end && d->cu->cuEventRecord(t->end, s) == CUDA_SUCCESS) continue;
        if (t->end) put_event(d, t->end);
        t->end = NULL;
        t->stuck = true;
    }
    collect_streams(d);
    pass_uses(d, s);
    pthread_mutex_unlock(&p->lock);
}

/* ---- the driver's memory ----------------------------------------------------------------------- */

static void count_held(Pool *p, size_t bytes) {
    p->stats.held += bytes;
    p->stats.segments++;
    p->stats.driver_allocations++;
    if (p->stats.held > p->stats.peak_held) p->stats.peak_held = p->stats.held;
}

/* What is stuck now has ended when the device has been waited for. */
static CUresult wait_for_stuck(CudaDevice *d) {
    Pool *p = &d->pool;
    pthread_mutex_lock(&p->lock);
    Block *stuck = p->stuck;
    p->stuck = NULL;
    for (StreamPool *s = p->streams; s; s = s->next) s->waited_for = s->stuck;
    pthread_mutex_unlock(&p->lock);
    CUresult r = d->cu->cuCtxSynchronize();
    pthread_mutex_lock(&p->lock);
    for (StreamPool *s = p->streams; !r && s; s = s->next)
        if (s->waited_for) s->stuck = false;
    while (stuck) {
        Block *b = stuck;
        stuck = b->next;
        if (!r) {
            end_use(d, b);
            continue;
        }
        b->next = p->stuck;
        p->stuck = b;
    }
    pthread_mutex_unlock(&p->lock);
    return r;
}

/* Gives the driver every segment that is free as a whole. Waits, since work may still use them; without the lock. */
static CUresult release_free(CudaDevice *d) {
    Pool *p = &d->pool;
    CUresult r = wait_for_stuck(d);
    pthread_mutex_lock(&p->lock);
    collect(d);
    collect_streams(d);
    for (StreamPool *s = p->streams; s; s = s->next)
        for (int small = 0; small < 2; small++)
            for (uint32_t bin = 0; bin < BINS; bin++)
                for (Block *b = s->bins[small][bin], *next; b; b = next) {
                    next = b->next;
                    if (b->left || b->right) continue;
                    take(b);
                    release(d, b);
                }
    pthread_mutex_unlock(&p->lock);
    flush(d);
    return r;
}

static size_t segment_bytes(const Pool *p, size_t bytes) {
    if (p->exact) return bytes;
    if (bytes <= SMALL) return SMALL_SEGMENT;
    if (bytes <= LARGE_SEGMENT / 2) return LARGE_SEGMENT;
    return (bytes + LARGE_ROUND - 1) / LARGE_ROUND * LARGE_ROUND;
}

/* Asks the driver: for what segments usually have, else for just enough, else again with an empty cache. Without the
 * lock, since the driver may wait. */
static CUresult ask_driver(CudaDevice *d, size_t bytes, CUdeviceptr *at, size_t *got) {
    *got = segment_bytes(&d->pool, bytes);
    size_t enough = bytes <= SMALL || d->pool.exact ? *got : (bytes + LARGE_ROUND - 1) / LARGE_ROUND * LARGE_ROUND;
    CUresult r = d->cu->cuMemAlloc_v2(at, *got);
    if (r == CUDA_ERROR_OUT_OF_MEMORY && *got > enough) r = d->cu->cuMemAlloc_v2(at, *got = enough);
    if (r != CUDA_ERROR_OUT_OF_MEMORY) return r;
    __atomic_fetch_add(&d->pool.stats.retries, 1, __ATOMIC_RELAXED);
    release_free(d);
    if (bytes > SMALL) *got = bytes;
    return d->cu->cuMemAlloc_v2(at, *got);
}

static Status out_of_memory(CudaDevice *d, size_t bytes, Failure *f) {
    size_t left = 0, total = d->base.info.memory_bytes;
    d->cu->cuMemGetInfo_v2(&left, &total);
    const MemoryStats *s = &d->pool.stats;
    failure_set(
        f, GPU_ERROR_MEMORY,
        "%s has no room for %.1f MiB: of its %.0f MiB %.1f are free; arrays of this process hold %.1f, its cache "
        "%.1f (already emptied, the rest lies between arrays), others the rest. Free arrays, or work on smaller "
        "pieces",
        d->base.name, (double)bytes / 0x1p20, (double)total / 0x1p20, (double)left / 0x1p20, (double)s->used / 0x1p20,
        (double)(s->held - s->used) / 0x1p20);
    f->code = CUDA_ERROR_OUT_OF_MEMORY;
    f->call = "cuMemAlloc";
    return GPU_ERROR_MEMORY;
}

static Status new_segment(CudaDevice *d, StreamPool *s, size_t bytes, Block **out, Failure *f) {
    CUdeviceptr at;
    size_t got;
    pthread_mutex_unlock(&d->pool.lock);
    CUresult r = ask_driver(d, bytes, &at, &got);
    pthread_mutex_lock(&d->pool.lock);
    if (r == CUDA_ERROR_OUT_OF_MEMORY) return out_of_memory(d, bytes, f);
    if (r) return cuda_fail(d, d->cu, r, "cuMemAlloc", f);
    *out = new_block(&d->pool, s, at, got, bytes <= SMALL);
    if (!*out) {
        d->cu->cuMemFree_v2(at);
        return failure_memory(f);
    }
    count_held(&d->pool, got);
    return GPU_OK;
}

/* ---- allocation -------------------------------------------------------------------------------- */

static Status allocate(CudaDevice *d, size_t bytes, CUstream stream, Block **out, Failure *f) {
    Pool *p = &d->pool;
    StreamPool *s = pool_of(p, stream);
    if (!s) return failure_memory(f);
    if (p->pending) collect(d);
    Block *b = find_free(s, bytes, bytes <= SMALL);
    if (!b && !p->exact) {
        collect_streams(d);
        b = find_free(s, bytes, bytes <= SMALL);
    }
    if (b) take(b);
    else {
        Status status = new_segment(d, s, bytes, &b, f);
        if (status != GPU_OK) return status;
    }
    if (!p->exact) split(p, b, bytes);
    b->used = true;
    b->nuses = 0;
    /* Exact blocks wait for their own stream too, since they leave it. */
    if ((p->exact || stream == CU_STREAM_PER_THREAD) && !add_use(b, stream)) {
        end_use(d, b);
        return failure_memory(f);
    }
    *out = b;
    return GPU_OK;
}

Status pool_alloc(CudaDevice *d, size_t bytes, CUstream stream, CUdeviceptr *out, Failure *f) {
    Pool *p = &d->pool;
    Block *b = NULL;
    size_t rounded = p->exact ? bytes : (bytes + ROUND - 1) / ROUND * ROUND;
    pthread_mutex_lock(&p->lock);
    Status status = rounded < bytes ? out_of_memory(d, bytes, f) : allocate(d, rounded, stream, &b, f);
    if (status == GPU_OK) {
        *out = b->address;
        p->stats.used += b->bytes;
        p->stats.blocks++;
        p->stats.allocations++;
        if (p->stats.used > p->stats.peak_used) p->stats.peak_used = p->stats.used;
    }
    pthread_mutex_unlock(&p->lock);
    if (p->exact) flush(d);
    return status;
}

void pool_free(CudaDevice *d, CUdeviceptr at) {
    Pool *p = &d->pool;
    pthread_mutex_lock(&p->lock);
    Block *b = block_at(p, at);
    if (b && b->used) {
        p->stats.used -= b->bytes;
        p->stats.blocks--;
        p->stats.frees++;
        if (b->owner->ended) hand_over(d, b->owner);
        StreamPool *legacy = b->owner->ended && !b->owner->end ? pool_of(p, NULL) : NULL;
        if (legacy) move_block(b, legacy);
        if (b->nuses) defer(d, b);
        else give_back(p, b);
    }
    pthread_mutex_unlock(&p->lock);
}

bool pool_used_on(CudaDevice *d, CUdeviceptr at, CUstream s) {
    Pool *p = &d->pool;
    bool noted = true;
    pthread_mutex_lock(&p->lock);
    Block *b = block_at(p, at);
    bool own = b && (b->owner->stream == s || (is_legacy(s) && is_legacy(b->owner->stream)));
    if (b && b->used && !own) noted = add_use(b, s);
    pthread_mutex_unlock(&p->lock);
    return noted;
}

void pool_collect(CudaDevice *d) {
    pthread_mutex_lock(&d->pool.lock);
    if (d->pool.pending) collect(d);
    pthread_mutex_unlock(&d->pool.lock);
    flush(d);
}

Status pool_empty(CudaDevice *d, Failure *f) {
    CUresult r = release_free(d);
    pthread_mutex_lock(&d->pool.lock);
    while (d->pool.nevents) d->cu->cuEventDestroy_v2(d->pool.events[--d->pool.nevents]);
    pthread_mutex_unlock(&d->pool.lock);
    return r ? cuda_fail(d, d->cu, r, "cuCtxSynchronize", f) : GPU_OK;
}

void pool_stats(CudaDevice *d, MemoryStats *out) {
    Pool *p = &d->pool;
    pthread_mutex_lock(&p->lock);
    *out = p->stats;
    out->cached = out->held - out->used;
    out->largest_free = 0;
    for (const StreamPool *s = p->streams; s; s = s->next)
        for (int small = 0; small < 2; small++)
            for (uint32_t bin = next_filled(s, small, 0); bin < BINS; bin = next_filled(s, small, bin + 1))
                for (const Block *b = s->bins[small][bin]; b; b = b->next)
                    if (b->bytes > out->largest_free) out->largest_free = b->bytes;
    pthread_mutex_unlock(&p->lock);
}
