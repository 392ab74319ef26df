/* cpu_device.c - the CPU as a device: its table of functions, memory, streams and events.
 *
 * A launch returns when it is done, so everything in a stream is done when it is asked for: streams are only names, and
 * an event is the time at which it was recorded. Memory is malloc's. */
#define _GNU_SOURCE
#include "clock.h"
#include "cpu.h"
#include "pool.h"
#include "prints.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGN = 64 /* a cache line, and the widest vector */, DEFAULT_BLOCK = 256, LARGE = 4 << 20 /* bytes */ };

/* In front of each block. */
typedef struct Head {
    _Alignas(ALIGN) size_t bytes;
} Head;

static MemoryStats stats; /* fields are atomic */

/* ---- code -------------------------------------------------------------------------------------- */

static Status load(Device *d, const Image *image, const LoadOptions *o, void *owner, Module **out, Failure *f) {
    (void)o; /* registers and lines are the compiler's */
    Module *m = malloc(sizeof *m);
    if (!m) return failure_memory(f);
    *m = (Module){.device = d, .image = image, .owner = owner};
    *out = m;
    return GPU_OK;
}

static void unload(Device *d, Module *m) {
    (void)d;
    free(m);
}

static Status code_info(Device *d, Module *m, CodeInfo *out, Failure *f) {
    (void)f;
    *out = (CodeInfo){.spill_bytes = -1,
                      .local_bytes = m->image->local_bytes,
                      .shared_bytes = m->image->shared_bytes,
                      .max_threads = (uint32_t)d->info.max_threads_per_block};
    return GPU_OK;
}

/* One block on each core. */
static Status occupancy(Device *d, Module *m, uint32_t threads, uint32_t shared_bytes, uint32_t *blocks, Failure *f) {
    (void)d, (void)m, (void)threads, (void)shared_bytes, (void)f;
    *blocks = 1;
    return GPU_OK;
}

static Status suggest_block(Device *d, Module *m, uint32_t shared_bytes, uint32_t limit, uint32_t *block,
                            uint32_t *grid, Failure *f) {
    (void)d, (void)m, (void)shared_bytes, (void)f;
    *block = limit && limit < DEFAULT_BLOCK ? limit : DEFAULT_BLOCK;
    *grid = (uint32_t)pool_threads();
    return GPU_OK;
}

/* ---- memory ------------------------------------------------------------------------------------ */

static void add(uint64_t *field, uint64_t n) { __atomic_fetch_add(field, n, __ATOMIC_RELAXED); }
static void sub(uint64_t *field, uint64_t n) { __atomic_fetch_sub(field, n, __ATOMIC_RELAXED); }
static uint64_t read_stat(const uint64_t *field) { return __atomic_load_n(field, __ATOMIC_RELAXED); }

static void raise_peak(uint64_t *peak, uint64_t now) {
    uint64_t was = read_stat(peak);
    while (was < now && !__atomic_compare_exchange_n(peak, &was, now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

static uint64_t *kind_field(MemoryKind kind) {
    return kind == MEMORY_DEVICE ? &stats.used : kind == MEMORY_PINNED ? &stats.pinned : &stats.managed;
}

/* kB of a line of /proc/meminfo; 0 if there is none. */
static uint64_t meminfo_kb(const char *key) {
    FILE *file = fopen("/proc/meminfo", "re");
    char line[128];
    unsigned long long kb = 0;
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), ": %llu", &kb) == 1) break;
    if (file) fclose(file);
    return kb;
}

static Status memory_info(Device *d, uint64_t *free_bytes, uint64_t *total_bytes, Failure *f) {
    (void)f;
    *total_bytes = d->info.memory_bytes;
    *free_bytes = meminfo_kb("MemAvailable") * 1024;
    return GPU_OK;
}

static Status out_of_memory(Device *d, size_t bytes, Failure *f) {
    uint64_t available, total;
    memory_info(d, &available, &total, f);
    return failure_set(f, GPU_ERROR_MEMORY,
                       "%.1f MiB were asked of the cpu device; %.1f of %.1f MiB are free, and arrays on it hold %.1f",
                       (double)bytes / 0x1p20, (double)available / 0x1p20, (double)total / 0x1p20,
                       (double)read_stat(&stats.used) / 0x1p20);
}

/* Large memory in large pages: the first use of each small one costs more than what is computed with it. */
static void ask_for_large_pages(void *at, size_t bytes) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = ((uintptr_t)at + page - 1) / page * page;
    if (bytes >= LARGE) madvise((void *)first, bytes - (first - (uintptr_t)at), MADV_HUGEPAGE);
}

static void *beside_others(size_t bytes) {
    Head *head = bytes > SIZE_MAX / 2 ? NULL : aligned_alloc(ALIGN, sizeof *head + (bytes + ALIGN - 1) / ALIGN * ALIGN);
    if (!head) return NULL;
    head->bytes = bytes;
    return head + 1;
}

static Status alloc(Device *d, MemoryKind kind, size_t bytes, uint32_t flags, Stream *s, void **out, Failure *f) {
    (void)s;
    *out = NULL;
    if (bytes == 0) return GPU_OK;
    void *at = kind == MEMORY_DEVICE && flags & DEVICE_SHAREABLE ? cpu_pages_alloc(bytes) : beside_others(bytes);
    if (!at) return out_of_memory(d, bytes, f);
    ask_for_large_pages(at, bytes);
    add(kind_field(kind), bytes);
    if (kind == MEMORY_DEVICE) {
        add(&stats.blocks, 1);
        raise_peak(&stats.peak_used, read_stat(&stats.used));
    }
    add(&stats.allocations, 1);
    *out = at;
    return GPU_OK;
}

static void free_memory(Device *d, MemoryKind kind, void *at) {
    (void)d;
    if (!at) return;
    size_t bytes;
    if (kind != MEMORY_DEVICE || !cpu_pages_free(at, &bytes)) {
        Head *head = (Head *)at - 1;
        bytes = head->bytes;
        free(head);
    }
    sub(kind_field(kind), bytes);
    if (kind == MEMORY_DEVICE) sub(&stats.blocks, 1);
    add(&stats.frees, 1);
}

static Status used_on(Device *d, void *at, Stream *s, Failure *f) {
    (void)d, (void)at, (void)s, (void)f;
    return GPU_OK;
}

/* Any host memory is the device's. */
static Status pin(Device *d, void *at, size_t bytes, uint32_t flags, Failure *f) {
    (void)d, (void)at, (void)bytes, (void)flags, (void)f;
    return GPU_OK;
}

static Status unpin(Device *d, void *at, Failure *f) {
    (void)d, (void)at, (void)f;
    return GPU_OK;
}

static Status device_address(Device *d, void *pinned, void **out, Failure *f) {
    (void)d, (void)f;
    *out = pinned;
    return GPU_OK;
}

/* There is no pool above malloc's: what arrays use is what is held. */
static void memory_stats(Device *d, MemoryStats *out) {
    (void)d;
    *out = (MemoryStats){.used = read_stat(&stats.used),
                         .peak_used = read_stat(&stats.peak_used),
                         .held = read_stat(&stats.used),
                         .peak_held = read_stat(&stats.peak_used),
                         .blocks = read_stat(&stats.blocks),
                         .segments = read_stat(&stats.blocks),
                         .allocations = read_stat(&stats.allocations),
                         .frees = read_stat(&stats.frees),
                         .driver_allocations = read_stat(&stats.allocations),
                         .pinned = read_stat(&stats.pinned),
                         .managed = read_stat(&stats.managed)};
}

static void reset_peaks(Device *d) {
    (void)d;
    __atomic_store_n(&stats.peak_used, read_stat(&stats.used), __ATOMIC_RELAXED);
}

static Status empty_cache(Device *d, Failure *f) {
    (void)d, (void)f;
    return GPU_OK;
}

/* ---- copies ------------------------------------------------------------------------------------ */

static Status copy(Device *d, const Copy *c, Stream *s, Failure *f) {
    (void)s;
    if (c->from_device && c->from_device != d)
        return failure_set(f, GPU_ERROR_UNSUPPORTED, "%s memory can't be copied to the cpu device directly",
                           c->from_device->name);
    if (c->width == 0) return GPU_OK;
    for (size_t i = 0; i < c->rows; i++)
        memmove((char *)c->to + i * c->to_pitch, (const char *)c->from + i * c->from_pitch, c->width);
    return GPU_OK;
}

static Status fill(Device *d, void *at, const void *element, unsigned bytes, size_t count, Stream *s, Failure *f) {
    (void)d, (void)s, (void)f;
    size_t all = count * bytes;
    if (all == 0) return GPU_OK;
    if (bytes == 1) {
        memset(at, *(const uint8_t *)element, count);
        return GPU_OK;
    }
    memcpy(at, element, bytes); /* then what is there is doubled, within what a cache holds */
    for (size_t done = bytes; done < all;) {
        size_t most = bytes < 4096 ? 4096 / bytes * bytes : bytes, n = done < most ? done : most;
        if (n > all - done) n = all - done;
        memcpy((char *)at + done, at, n);
        done += n;
    }
    return GPU_OK;
}

static Status peer_access(Device *d, Device *other, bool *possible, Failure *f) {
    (void)f;
    *possible = d == other;
    return GPU_OK;
}

static Status owner(Device *d, const void *at, int *ordinal, Failure *f) {
    (void)d, (void)at, (void)f;
    *ordinal = -1;
    return GPU_OK;
}

static Status profiler(Device *d, bool records, Failure *f) {
    (void)d, (void)records, (void)f; /* profilers of the CPU need no word */
    return GPU_OK;
}

/* ---- streams and events ------------------------------------------------------------------------ */

static Stream *default_stream(Device *d, DefaultStream which) {
    (void)d;
    static Stream streams[2];
    streams[which].device = runtime_cpu();
    return &streams[which];
}

static Status stream_create(Device *d, uint32_t flags, int priority, Stream **out, Failure *f) {
    (void)flags, (void)priority;
    Stream *s = malloc(sizeof *s);
    if (!s) return failure_memory(f);
    *s = (Stream){.device = d, .handle = s, .owned = true};
    *out = s;
    return GPU_OK;
}

static Status stream_wrap(Device *d, void *handle, Stream **out, Failure *f) {
    Status status = stream_create(d, 0, 0, out, f);
    if (status == GPU_OK) {
        (*out)->handle = handle;
        (*out)->owned = false;
    }
    return status;
}

static void stream_destroy(Stream *s) { free(s); }

static Status stream_query(Stream *s, Failure *f) {
    (void)s, (void)f;
    return GPU_OK;
}

static Status stream_synchronize(Stream *s, const Waiter *w, Failure *f) {
    (void)s, (void)w, (void)f;
    return GPU_OK;
}

static Status stream_wait_event(Stream *s, Event *e, Failure *f) {
    (void)s, (void)e, (void)f;
    return GPU_OK;
}

static Status stream_callback(Stream *s, void (*fn)(void *arg), void *arg, Failure *f) {
    (void)s, (void)f;
    fn(arg);
    return GPU_OK;
}

static Status synchronize(Device *d, const Waiter *w, Failure *f) {
    (void)d, (void)w, (void)f;
    return GPU_OK;
}

static Status event_create(Device *d, uint32_t flags, Event **out, Failure *f) {
    Event *e = malloc(sizeof *e);
    if (!e) return failure_memory(f);
    *e = (Event){.device = d, .timing = !(flags & EVENT_NO_TIMING)};
    *out = e;
    return GPU_OK;
}

static void event_destroy(Event *e) { free(e); }

static Status event_record(Event *e, Stream *s, Failure *f) {
    (void)s, (void)f;
    __atomic_store_n(&e->time_ns, clock_ns(), __ATOMIC_RELAXED);
    return GPU_OK;
}

static Status event_query(Event *e, Failure *f) {
    (void)e, (void)f;
    return GPU_OK;
}

static Status event_synchronize(Event *e, const Waiter *w, Failure *f) {
    (void)e, (void)w, (void)f;
    return GPU_OK;
}

static Status event_elapsed(Event *from, Event *to, float *milliseconds, Failure *f) {
    uint64_t a = read_stat(&from->time_ns), b = read_stat(&to->time_ns);
    if (!from->timing || !to->timing)
        return failure_set(f, GPU_ERROR_VALUE, "an event made with timing=False has no time");
    if (!a || !b) return failure_set(f, GPU_ERROR_VALUE, "the %s event was never recorded", a ? "second" : "first");
    *milliseconds = (float)((double)(int64_t)(b - a) / 1e6);
    return GPU_OK;
}

/* ---- the device -------------------------------------------------------------------------------- */

static const DeviceOps ops = {.kind = "cpu",
                              .shares_host_memory = true,
                              .load = load,
                              .unload = unload,
                              .code_info = code_info,
                              .occupancy = occupancy,
                              .suggest_block = suggest_block,
                              .launch = cpu_launch,
                              .take_printed = cpu_take_printed,
                              .alloc = alloc,
                              .free = free_memory,
                              .used_on = used_on,
                              .pin = pin,
                              .unpin = unpin,
                              .device_address = device_address,
                              .memory_info = memory_info,
                              .memory_stats = memory_stats,
                              .reset_peaks = reset_peaks,
                              .empty_cache = empty_cache,
                              .copy = copy,
                              .fill = fill,
                              .peer_access = peer_access,
                              .owner = owner,
                              .share = cpu_share,
                              .open_shared = cpu_open_shared,
                              .close_shared = cpu_close_shared,
                              .profiler = profiler,
                              .default_stream = default_stream,
                              .stream_create = stream_create,
                              .stream_wrap = stream_wrap,
                              .stream_destroy = stream_destroy,
                              .stream_query = stream_query,
                              .stream_synchronize = stream_synchronize,
                              .stream_wait_event = stream_wait_event,
                              .stream_callback = stream_callback,
                              .synchronize = synchronize,
                              .event_create = event_create,
                              .event_destroy = event_destroy,
                              .event_record = event_record,
                              .event_query = event_query,
                              .event_synchronize = event_synchronize,
                              .event_elapsed = event_elapsed};

static Device cpu = {.ops = &ops,
                     .name = "cpu",
                     .info = {.warp_size = 32,
                              .max_threads_per_block = MOST_BLOCK_THREADS,
                              .max_block_x = MOST_BLOCK_X,
                              .max_block_y = MOST_BLOCK_Y,
                              .max_block_z = MOST_BLOCK_Z,
                              .max_grid_x = MOST_GRID_X,
                              .max_grid_y = MOST_GRID_Y,
                              .max_grid_z = MOST_GRID_Z,
                              .unified_addressing = 1,
                              .managed_memory = 1,
                              .concurrent_managed_access = 1,
                              .pageable_memory_access = 1,
                              .can_map_host_memory = 1,
                              .integrated = 1,
                              .name = "CPU"}};

/* The first line of /proc/cpuinfo that names the model. */
static void read_model(char *name, size_t size) {
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strncmp(line, "model name", 10) == 0 ? strstr(line, ": ") : NULL;
        if (!colon) continue;
        colon[strcspn(colon, "\n")] = 0;
        snprintf(name, size, "%s", colon + 2);
        break;
    }
    if (file) fclose(file);
}

static void describe(void) {
    read_model(cpu.info.name, sizeof cpu.info.name);
    cpu.info.memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    cpu.info.multiprocessors = pool_threads();
}

Device *runtime_cpu(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, describe);
    return &cpu;
}

void runtime_cpu_set_threads(int n) { pool_set_threads(n); }
int runtime_cpu_threads(void) { return pool_threads(); }
