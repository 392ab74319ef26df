/* memory.h - a device's memory: addresses that only kernels may use, the bytes behind them, and who owns them.
 *
 * Device memory is mapped twice: at the addresses that the driver gives out, without access rights, so that host code
 * which touches a device pointer faults as on a GPU; and at an alias, where the emulator reads and writes. Host memory
 * that the device may use (pinned, mapped, managed) is its own alias. All functions may be called from any thread. */
#ifndef EMU_MEMORY_H
#define EMU_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Memory Memory;

typedef enum AllocKind {
    ALLOC_DEVICE,
    ALLOC_HOST,
    ALLOC_MANAGED,
    ALLOC_GLOBAL, /* a module's variable */
    ALLOC_CONST,
    ALLOC_HEAP /* malloc() in a kernel */
} AllocKind;

typedef struct Alloc {
    uint64_t address, bytes;
    uint8_t *host;    /* the alias */
    uint8_t kind;     /* AllocKind */
    bool freed;       /* its address isn't given out again before it must be */
    uint64_t serial;  /* counts allocations: in messages */
    const char *name; /* a module's variable (a copy is kept); else NULL */
    uint8_t *written; /* a bit a byte, when uninitialised reads are looked for; else NULL */
    void *shadow;     /* of the race detector; else NULL */
    int file;         /* that its pages are of, since another process may open them; else -1 */
} Alloc;

/* An allocation that was accessed lately: most accesses go to it again. Good while memory_epoch() stays the same. */
typedef struct AccessCache {
    uint64_t epoch, address, bytes;
    uintptr_t delta; /* host address - address, modulo 2^64 */
    uint8_t kind;
    const Alloc *alloc;
} AccessCache;

Memory *memory_open(uint64_t total_bytes); /* what the device pretends to have; NULL: the address space isn't there */
void memory_close(Memory *m);
/* From now on, remember which bytes of allocations were written, for CHECK_UNINITIALIZED. */
void memory_track_writes(Memory *m);
/* 0: out of memory. Aligned to 256 bytes, ALLOC_DEVICE to pages, in which nothing else lies; never merges with a
 * neighbour: at least one unmapped byte between. */
uint64_t memory_alloc(Memory *m, AllocKind kind, uint64_t bytes, const char *name);
bool memory_free(Memory *m, uint64_t address);                               /* false: no allocation starts there */
/* Memory of ALLOC_DEVICE that another process may open, by the file that its pages are of from now on; -1: none starts
 * there, or the system can't. Nothing may be running. */
int memory_share(Memory *m, uint64_t address);
uint64_t memory_open_shared(Memory *m, int file, uint64_t bytes); /* ALLOC_DEVICE with those pages; 0: no memory */
bool memory_register(Memory *m, void *host, uint64_t bytes, AllocKind kind); /* host memory that kernels may use */
bool memory_unregister(Memory *m, void *host);
/* The allocation that holds the address, also a freed one; NULL: none. It stays readable until it is freed and as many
 * other allocations after it. */
const Alloc *memory_find(Memory *m, uint64_t address);
/* The allocation that ends or starts closest to an address that none holds: for messages. False: none is near. */
bool memory_nearest(Memory *m, uint64_t address, Alloc *out);
/* The bytes behind [address, address + bytes) for the driver's copies; NULL: not all of them in one live allocation. */
uint8_t *memory_bytes(Memory *m, uint64_t address, uint64_t bytes);
void memory_wrote(Memory *m, uint64_t address, uint64_t bytes); /* the host initialised it */
void memory_info(const Memory *m, uint64_t *free_bytes, uint64_t *total_bytes);
uint64_t memory_heap_used(Memory *m); /* bytes of ALLOC_HEAP */
/* A count that changes whenever an allocation comes or goes: never 0. */
const _Atomic uint64_t *memory_epoch(const Memory *m);

/* The race detector: a record of `bytes_a_word` for each aligned 4-byte word of the allocation, zero at first; NULL: no
 * memory. And a clock that no launch turns back, so that what earlier launches recorded is known to be old. */
void *memory_shadow(Memory *m, const Alloc *a, size_t bytes_a_word);
uint64_t memory_clock(Memory *m, uint64_t advance);

#endif
