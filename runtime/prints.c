/* prints.c - logs of what kernels print: made, read, and for the CPU kept until somebody takes what was printed.
 *
 * A launch on the CPU has a log of its own. It is large, since the system gives only the pages that are written to.
 * What ended launches printed hangs in a list that needs no lock, so that a fork at any moment leaves it whole. */
#define _GNU_SOURCE
#include "prints.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LEAST_ROOM = 1024, CPU_ROOM = 256 << 20 };

uint64_t prints_room(uint64_t usual) {
    const char *text = getenv("GPU_PRINT_BUFFER"), *unit;
    static const char units[] = "KMG";
    char *end;
    if (!text || *text < '0' || *text > '9') return usual;
    uint64_t n = strtoull(text, &end, 10);
    if (*end && (unit = strchr(units, *end & ~0x20))) n <<= 10 * (unit - units + 1), end++;
    if (*end) return usual;
    if (n < LEAST_ROOM) n = LEAST_ROOM;
    return n < ((uint64_t)1 << 40) ? n / 8 * 8 : (uint64_t)1 << 40;
}

void prints_init(PrintLog *log, uint64_t room) { *log = (PrintLog){.size = room}; }

/* ---- reading ----------------------------------------------------------------------------------- */

static size_t record_bytes(const PrintRecord *r) { return sizeof *r + (r->words - 1) * sizeof(uint64_t); }

/* Launches in their order, blocks x fastest; records of one block stay as they are. */
static int compare(const void *a, const void *b) {
    const PrintRecord *x = *(const PrintRecord *const *)a, *y = *(const PrintRecord *const *)b;
    if (x->launch != y->launch) return (int32_t)(x->launch - y->launch) < 0 ? -1 : 1;
    for (int i = 2; i >= 0; i--)
        if (x->block[i] != y->block[i]) return x->block[i] < y->block[i] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void sort(Printed *p) {
    size_t n = 0, i = 0;
    for (size_t at = 0; at < p->bytes; n++) at += record_bytes((const PrintRecord *)(p->records + at));
    const PrintRecord **order = malloc(n * sizeof *order);
    uint8_t *sorted = malloc(p->bytes), *to = sorted;
    for (size_t at = 0; order && at < p->bytes; i++) {
        order[i] = (const PrintRecord *)(p->records + at);
        at += record_bytes(order[i]);
    }
    if (order && sorted) { /* without memory they stay in the order in which they came */
        qsort(order, n, sizeof *order, compare);
        for (i = 0; i < n; i++) {
            memcpy(to, order[i], record_bytes(order[i]));
            to += record_bytes(order[i]);
        }
        memcpy(p->records, sorted, p->bytes);
    }
    free(order);
    free(sorted);
}

bool prints_read(const PrintLog *log, uint64_t *from, Printed *out) {
    const uint8_t *records = (const uint8_t *)(log + 1);
    uint64_t at = *from;
    while (at + sizeof(PrintRecord) <= log->size) {
        const PrintRecord *r = (const PrintRecord *)(records + at);
        if (__atomic_load_n(&r->words, __ATOMIC_ACQUIRE) == 0) break;
        at += record_bytes(r);
    }
    *out = (Printed){.bytes = at - *from, .room = log->size};
    if (!out->bytes) return false;
    out->records = malloc(out->bytes);
    if (!out->records) return false;
    memcpy(out->records, records + *from, out->bytes);
    *from = at;
    sort(out);
    return true;
}

/* ---- the CPU's logs ---------------------------------------------------------------------------- */

typedef struct Ended {
    struct Ended *next;
    Printed printed;
} Ended;

static Ended *ended; /* latest first; atomic */

PrintLog *runtime_prints_begin(void) {
    uint64_t room = prints_room(CPU_ROOM);
    void *memory =
        mmap(NULL, sizeof(PrintLog) + room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    prints_init(memory, room);
    return memory;
}

void runtime_prints_end(PrintLog *log) {
    uint64_t from = 0;
    Ended *e = log->used ? calloc(1, sizeof *e) : NULL;
    if (e) {
        bool copied = prints_read(log, &from, &e->printed);
        e->printed.lost = log->lost + (!copied && e->printed.bytes);
        if (!copied) e->printed.bytes = 0;
        e->next = __atomic_load_n(&ended, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&ended, &e->next, e, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {}
        __atomic_store_n(&runtime_cpu()->prints_pending, 1, __ATOMIC_RELEASE);
    }
    munmap(log, sizeof *log + log->size);
}

static bool append(Printed *to, const Printed *p) {
    uint8_t *all = p->bytes ? realloc(to->records, to->bytes + p->bytes) : to->records;
    to->lost += p->lost;
    to->room = p->room;
    if (!p->bytes) return true;
    if (!all) return false;
    memcpy(all + to->bytes, p->records, p->bytes);
    to->records = all;
    to->bytes += p->bytes;
    return true;
}

bool cpu_take_printed(Device *d, Printed *out) {
    *out = (Printed){0};
    __atomic_store_n(&d->prints_pending, 0, __ATOMIC_SEQ_CST);
    Ended *taken = __atomic_exchange_n(&ended, NULL, __ATOMIC_ACQ_REL), *first = NULL;
    while (taken) { /* the earliest first */
        Ended *next = taken->next;
        taken->next = first;
        first = taken;
        taken = next;
    }
    while (first) {
        Ended *next = first->next;
        if (!append(out, &first->printed)) out->lost++;
        free(first->printed.records);
        free(first);
        first = next;
    }
    return out->bytes || out->lost;
}
