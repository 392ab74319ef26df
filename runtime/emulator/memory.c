/* memory.c - a device's memory. See memory.h.
 *
 * Two windows of the same size are reserved once: one that nobody may touch, whose addresses are given out, and one
 * behind it with the bytes, whose pages the system hands out as they are used. Addresses go up until the window ends
 * and only then fill gaps, so that a freed address stays wrong for long. A sorted list has an entry for each
 * allocation, and for the last few thousand freed ones.
 *
 * Constant memory has a small window of its own below 2^32: programs keep its addresses in 32 bits, too. */
#define _GNU_SOURCE
#include "memory.h"
#include "../sharing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GRANULE = 256, MAX_FREED = 4096, NEAR_BYTES = 1 << 20 };
#define LARGEST_WINDOW (UINT64_C(1) << 42)
#define PAGE UINT64_C(4096)
#define CONSTANT_WINDOW (UINT64_C(1) << 26)
#ifndef MAP_32BIT
#define MAP_32BIT 0 /* elsewhere addresses are as they come: programs must keep all 64 bits */
#endif
#define RETURN_BYTES                                                                                                   \
    (UINT64_C(16) << 10) /* from this size on, a freed allocation's pages go back to the system at once */

typedef struct Window {
    uint8_t *at, *alias;
    uint64_t bytes, next; /* next: where the next allocation goes, from the start of the window */
} Window;

struct Memory {
    pthread_mutex_t lock;
    Window window, constants;
    Alloc **items; /* by address */
    size_t n, room, freed;
    uint64_t total, used, heap, serial, clock;
    _Atomic uint64_t epoch;
    bool track;
};

/* ---- the windows ------------------------------------------------------------------------------- */

static uint8_t *reserve(uint64_t bytes, int access, int flags) {
    void *p = mmap(NULL, bytes, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    if (p == MAP_FAILED) return NULL;
    madvise(p, bytes, MADV_DONTDUMP);
    return p;
}

static bool reserve_both(Window *w, uint64_t bytes, int flags) {
    w->at = reserve(bytes, PROT_NONE, flags);
    if (!w->at) return false;
    w->alias = reserve(bytes, PROT_READ | PROT_WRITE, 0);
    if (!w->alias) {
        munmap(w->at, bytes);
        return false;
    }
    w->bytes = bytes;
    return true;
}

static void release_both(Window *w) {
    if (!w->bytes) return;
    munmap(w->at, w->bytes);
    munmap(w->alias, w->bytes);
}

Memory *memory_open(uint64_t total_bytes) {
    Memory *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->total = total_bytes;
    atomic_init(&m->epoch, 1);
    pthread_mutex_init(&m->lock, NULL);
    /* The more there is beyond the total, the later an address comes back. Guards and rounding need some of it. */
    uint64_t bytes = (total_bytes + (UINT64_C(1) << 30)) & ~UINT64_C(4095);
    uint64_t wanted = bytes;
    bool constants = reserve_both(&m->constants, CONSTANT_WINDOW, MAP_32BIT);
    while (wanted < bytes * 32 && wanted * 2 <= LARGEST_WINDOW) wanted *= 2;
    for (; constants && wanted >= bytes; wanted /= 2) {
        if (reserve_both(&m->window, wanted, 0)) return m;
    }
    release_both(&m->constants);
    pthread_mutex_destroy(&m->lock);
    free(m);
    return NULL;
}

static void destroy(Alloc *a) {
    if (a->file >= 0) close(a->file);
    free(a->written);
    free(a->shadow);
    free((char *)(uintptr_t)a->name);
    free(a);
}

void memory_close(Memory *m) {
    if (!m) return;
    for (size_t i = 0; i < m->n; i++) destroy(m->items[i]);
    free(m->items);
    release_both(&m->window);
    release_both(&m->constants);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

void memory_track_writes(Memory *m) {
    pthread_mutex_lock(&m->lock);
    m->track = true;
    pthread_mutex_unlock(&m->lock);
}

/* ---- the list; all with the lock held -------------------------------------------------------------- */

/* The index of the first allocation that starts behind the address. */
static size_t behind(const Memory *m, uint64_t address) {
    size_t low = 0, high = m->n;
    if (high > 0 && m->items[high - 1]->address <= address) return high;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (m->items[middle]->address <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

static Alloc *holder(const Memory *m, uint64_t address) {
    size_t i = behind(m, address);
    if (i == 0) return NULL;
    Alloc *a = m->items[i - 1];
    return address - a->address < a->bytes ? a : NULL;
}

static void drop(Memory *m, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        m->freed -= m->items[i]->freed;
        destroy(m->items[i]);
    }
    memmove(&m->items[from], &m->items[to], (m->n - to) * sizeof *m->items);
    m->n -= to - from;
}

/* The pages that lie wholly between two addresses of the window go back to the system. */
static void give_back(const Memory *m, uint64_t from, uint64_t to) {
    uint64_t alias = (uint64_t)(uintptr_t)m->window.alias - (uint64_t)(uintptr_t)m->window.at;
    uint64_t first = (from + alias + PAGE - 1) & ~(PAGE - 1), end = (to + alias) & ~(PAGE - 1);
    if (end > first) madvise((void *)(uintptr_t)first, end - first, MADV_DONTNEED);
}

static bool in_window(const Window *w, const Alloc *a) { return a->address - (uint64_t)(uintptr_t)w->at < w->bytes; }

/* Forgets about half of the freed allocations, the older ones, when there are too many. Where they lay, up to what
 * stays on both sides, nothing is needed. */
static void forget_old(Memory *m) {
    if (m->freed < 2 * MAX_FREED) return;
    double serials = 0;
    for (size_t i = 0; i < m->n; i++) serials += m->items[i]->freed ? (double)m->items[i]->serial : 0;
    double mean = serials / (double)m->freed;
    size_t kept = 0;
    uint64_t from = (uint64_t)(uintptr_t)m->window.at, to = from; /* to: the end of what is forgotten since `from` */
    for (size_t i = 0; i < m->n; i++) {
        Alloc *a = m->items[i];
        bool old = a->freed && (double)a->serial <= mean, inside = in_window(&m->window, a);
        if (inside && old) to = a->address + a->bytes;
        if (inside && !old) {
            if (to > from) give_back(m, from, a->address);
            from = to = a->address + a->bytes;
        }
        if (old) destroy(a);
        else m->items[kept++] = a;
    }
    if (to > from) give_back(m, from, to);
    m->freed -= m->n - kept;
    m->n = kept;
}

static bool insert(Memory *m, Alloc *a) {
    forget_old(m);
    if (m->n == m->room) {
        size_t room = m->room ? 2 * m->room : 64;
        Alloc **items = realloc(m->items, room * sizeof *items);
        if (!items) return false;
        m->items = items;
        m->room = room;
    }
    size_t i = behind(m, a->address);
    memmove(&m->items[i + 1], &m->items[i], (m->n - i) * sizeof *m->items);
    m->items[i] = a;
    m->n++;
    m->used += a->kind == ALLOC_HOST ? 0 : a->bytes;
    m->heap += a->kind == ALLOC_HEAP ? a->bytes : 0;
    atomic_fetch_add_explicit(&m->epoch, 1, memory_order_release);
    return true;
}

static Alloc *create(Memory *m, AllocKind kind, uint64_t bytes, const char *name) {
    Alloc *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    a->kind = (uint8_t)kind;
    a->bytes = bytes;
    a->file = -1;
    a->serial = ++m->serial;
    a->name = name ? strdup(name) : NULL;
    a->written = m->track ? calloc(bytes / 8 + 1, 1) : NULL;
    if ((name && !a->name) || (m->track && !a->written)) {
        destroy(a);
        return NULL;
    }
    return a;
}

/* ---- places ------------------------------------------------------------------------------------ */

/* What the driver gives has pages of its own: they may be shared with another process. */
static uint64_t granule(uint8_t kind) { return kind == ALLOC_DEVICE ? PAGE : GRANULE; }
static uint64_t up(uint64_t n, uint64_t step) { return (n + step - 1) & ~(step - 1); }
static uint64_t padded(const Alloc *a) { return up(a->bytes + GRANULE, granule(a->kind)); } /* with a guard */

/* A gap between live allocations of the window, when its end is reached; UINT64_MAX: none. */
static uint64_t find_gap(Memory *m, const Window *w, uint64_t need, uint64_t step) {
    uint64_t start = (uint64_t)(uintptr_t)w->at, free_from = start;
    for (size_t i = 0; i < m->n; i++) {
        const Alloc *a = m->items[i];
        if (a->freed || !in_window(w, a)) continue;
        if (a->address >= free_from + need) return free_from - start;
        free_from = up(a->address + padded(a), step);
    }
    return start + w->bytes >= free_from + need ? free_from - start : UINT64_MAX;
}

/* Freed allocations that lay in [address, address + bytes) are forgotten: somebody else will. */
static void take_over(Memory *m, uint64_t address, uint64_t bytes) {
    size_t to = behind(m, address + bytes - 1), from = to;
    while (from > 0 && m->items[from - 1]->freed && m->items[from - 1]->address + m->items[from - 1]->bytes > address)
        from--;
    if (from < to) drop(m, from, to);
}

static bool place(Memory *m, Alloc *a) {
    Window *w = a->kind == ALLOC_CONST ? &m->constants : &m->window;
    uint64_t need = padded(a), step = granule(a->kind), at = up(w->next, step);
    if (a->bytes > w->bytes || need > w->bytes) return false;
    if (at + need > w->bytes) {
        at = find_gap(m, w, need, step);
        if (at == UINT64_MAX) return false;
    } else {
        w->next = at + need;
    }
    a->address = (uint64_t)(uintptr_t)w->at + at;
    a->host = w->alias + at;
    take_over(m, a->address, need);
    return true;
}

/* ---- allocations ------------------------------------------------------------------------------- */

static uint64_t alloc_locked(Memory *m, AllocKind kind, uint64_t bytes, const char *name) {
    if (bytes > m->total || m->used > m->total - bytes) return 0;
    Alloc *a = create(m, kind, bytes, name);
    if (!a) return 0;
    if (!place(m, a) || !insert(m, a)) {
        destroy(a);
        return 0;
    }
    return a->address;
}

uint64_t memory_alloc(Memory *m, AllocKind kind, uint64_t bytes, const char *name) {
    pthread_mutex_lock(&m->lock);
    uint64_t address = alloc_locked(m, kind, bytes ? bytes : 1, name);
    pthread_mutex_unlock(&m->lock);
    return address;
}

static Alloc *starting_at(const Memory *m, uint64_t address, bool host) {
    Alloc *a = holder(m, address);
    return a && !a->freed && a->address == address && (a->host == (uint8_t *)(uintptr_t)address) == host ? a : NULL;
}

static void retire(Memory *m, Alloc *a) {
    if (a->file >= 0 && sharing_end(a->host, sharing_whole_pages(a->bytes), a->file)) a->file = -1;
    a->freed = true;
    m->freed++;
    m->used -= a->kind == ALLOC_HOST ? 0 : a->bytes;
    m->heap -= a->kind == ALLOC_HEAP ? a->bytes : 0;
    free(a->written);
    free(a->shadow);
    a->written = NULL;
    a->shadow = NULL;
    atomic_fetch_add_explicit(&m->epoch, 1, memory_order_release);
}

bool memory_free(Memory *m, uint64_t address) {
    pthread_mutex_lock(&m->lock);
    Alloc *a = starting_at(m, address, false);
    if (a) {
        retire(m, a);
        if (a->bytes >= RETURN_BYTES && in_window(&m->window, a)) give_back(m, a->address, a->address + a->bytes);
    }
    pthread_mutex_unlock(&m->lock);
    return a != NULL;
}

int memory_share(Memory *m, uint64_t address) {
    pthread_mutex_lock(&m->lock);
    Alloc *a = starting_at(m, address, false);
    if (a && a->kind != ALLOC_DEVICE) a = NULL;
    if (a && a->file < 0) a->file = sharing_begin(a->host, sharing_whole_pages(a->bytes));
    int file = a ? a->file : -1;
    pthread_mutex_unlock(&m->lock);
    return file;
}

uint64_t memory_open_shared(Memory *m, int file, uint64_t bytes) {
    pthread_mutex_lock(&m->lock);
    uint64_t address = alloc_locked(m, ALLOC_DEVICE, bytes, NULL);
    Alloc *a = address ? holder(m, address) : NULL;
    int access = PROT_READ | PROT_WRITE;
    if (a && mmap(a->host, sharing_whole_pages(bytes), access, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED) {
        a->file = file;
        if (a->written) memset(a->written, 0xff, bytes / 8 + 1); /* what the other does with it isn't seen */
    } else if (a) {
        retire(m, a);
        address = 0;
    }
    pthread_mutex_unlock(&m->lock);
    return address;
}

bool memory_register(Memory *m, void *host, uint64_t bytes, AllocKind kind) {
    if (!host || bytes == 0) return false;
    uint64_t address = (uint64_t)(uintptr_t)host;
    pthread_mutex_lock(&m->lock);
    take_over(m, address, bytes);
    size_t i = behind(m, address + bytes - 1);
    bool overlaps = i > 0 && m->items[i - 1]->address + m->items[i - 1]->bytes > address;
    Alloc *a = overlaps ? NULL : create(m, kind, bytes, NULL);
    if (a) {
        a->address = address;
        a->host = host;
        if (a->written) memset(a->written, 0xff, bytes / 8 + 1); /* what the host does with it isn't seen */
        if (!insert(m, a)) {
            destroy(a);
            a = NULL;
        }
    }
    pthread_mutex_unlock(&m->lock);
    return a != NULL;
}

bool memory_unregister(Memory *m, void *host) {
    pthread_mutex_lock(&m->lock);
    Alloc *a = starting_at(m, (uint64_t)(uintptr_t)host, true);
    if (a) retire(m, a);
    pthread_mutex_unlock(&m->lock);
    return a != NULL;
}

/* ---- looking up -------------------------------------------------------------------------------- */

const Alloc *memory_find(Memory *m, uint64_t address) {
    pthread_mutex_lock(&m->lock);
    const Alloc *a = holder(m, address);
    pthread_mutex_unlock(&m->lock);
    return a;
}

bool memory_nearest(Memory *m, uint64_t address, Alloc *out) {
    pthread_mutex_lock(&m->lock);
    size_t i = behind(m, address);
    const Alloc *below = i > 0 ? m->items[i - 1] : NULL, *above = i < m->n ? m->items[i] : NULL;
    uint64_t under = below ? address - (below->address + below->bytes) : UINT64_MAX;
    uint64_t over = above ? above->address - address : UINT64_MAX;
    const Alloc *a = under <= over ? below : above;
    bool near = a && (under <= over ? under : over) < NEAR_BYTES;
    if (near) *out = *a;
    pthread_mutex_unlock(&m->lock);
    return near;
}

uint8_t *memory_bytes(Memory *m, uint64_t address, uint64_t bytes) {
    pthread_mutex_lock(&m->lock);
    const Alloc *a = holder(m, address);
    uint8_t *p = a && !a->freed && bytes <= a->bytes - (address - a->address) ? a->host + (address - a->address) : NULL;
    pthread_mutex_unlock(&m->lock);
    return p;
}

void memory_wrote(Memory *m, uint64_t address, uint64_t bytes) {
    pthread_mutex_lock(&m->lock);
    Alloc *a = m->track ? holder(m, address) : NULL;
    if (a && a->written) {
        uint64_t at = address - a->address, end = bytes < a->bytes - at ? at + bytes : a->bytes;
        for (; at < end && at % 8; at++) a->written[at / 8] |= (uint8_t)(1u << at % 8);
        if (at < end) memset(a->written + at / 8, 0xff, (end - at) / 8);
        for (at = end - (at < end ? (end - at) % 8 : 0); at < end; at++) a->written[at / 8] |= (uint8_t)(1u << at % 8);
    }
    pthread_mutex_unlock(&m->lock);
}

void memory_info(const Memory *m, uint64_t *free_bytes, uint64_t *total_bytes) {
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&m->lock;
    pthread_mutex_lock(lock);
    *free_bytes = m->total - m->used;
    *total_bytes = m->total;
    pthread_mutex_unlock(lock);
}

uint64_t memory_heap_used(Memory *m) {
    pthread_mutex_lock(&m->lock);
    uint64_t heap = m->heap;
    pthread_mutex_unlock(&m->lock);
    return heap;
}

const _Atomic uint64_t *memory_epoch(const Memory *m) { return &m->epoch; }

void *memory_shadow(Memory *m, const Alloc *a, size_t bytes_a_word) {
    pthread_mutex_lock(&m->lock);
    Alloc *mine = holder(m, a->address);
    if (mine && !mine->shadow) mine->shadow = calloc(a->bytes / 4 + 2, bytes_a_word);
    void *shadow = mine ? mine->shadow : NULL;
    pthread_mutex_unlock(&m->lock);
    return shadow;
}

uint64_t memory_clock(Memory *m, uint64_t advance) {
    pthread_mutex_lock(&m->lock);
    uint64_t now = m->clock += advance;
    pthread_mutex_unlock(&m->lock);
    return now;
}
