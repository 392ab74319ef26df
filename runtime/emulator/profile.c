/* profile.c - what an access costs on a GPU, counted by instruction.
 *
 * Global memory moves in sectors of 32 bytes; the ideal is what the lanes' bytes would need if they lay side by side.
 * Shared memory has 32 banks of 4 bytes; a wave serves each bank once, and lanes that want the same word share it. */
#include "exec.h"

#include <stdlib.h>
#include <string.h>

enum { SECTOR = 32, BANKS = 32, MAX_SECTORS = WARP * 2 };

/* Adds the value to a small set; true: it was new. */
static bool add_new(uint64_t *set, uint32_t *n, uint64_t value) {
    for (uint32_t i = *n; i-- > 0;) {
        if (set[i] == value) return false;
    }
    set[(*n)++] = value;
    return true;
}

static uint64_t count_sectors(const Access *a, uint32_t mask, uint32_t bytes) {
    uint64_t sectors[MAX_SECTORS];
    uint32_t n = 0;
    EACH_LANE(mask, i, {
        add_new(sectors, &n, a->address[i] / SECTOR);
        add_new(sectors, &n, (a->address[i] + bytes - 1) / SECTOR);
    });
    return n;
}

/* Accesses of 8 and 16 bytes go in 2 and 4 parts of the warp. */
static uint64_t count_waves(const Access *a, uint32_t mask, uint32_t bytes) {
    uint32_t parts = bytes <= 4 ? 1 : bytes / 4, width = WARP / (parts > WARP ? WARP : parts);
    uint64_t waves = 0;
    for (uint32_t part = 0; part < WARP; part += width) {
        uint64_t words[BANKS * 8];
        uint32_t load[BANKS] = {0}, most = 0, n = 0;
        uint32_t lanes_here = mask & (width == WARP ? UINT32_MAX : ((1u << width) - 1) << part);
        EACH_LANE(lanes_here, i, {
            for (uint64_t word = a->address[i] / 4; word <= (a->address[i] + bytes - 1) / 4; word++) {
                if (add_new(words, &n, word) && ++load[word % BANKS] > most) most = load[word % BANKS];
            }
        });
        waves += most;
    }
    return waves;
}

static uint64_t count_rounds(const Access *a, uint32_t mask) {
    uint64_t most = 0;
    EACH_LANE(mask, i, {
        uint64_t same = 0;
        for (uint32_t left = mask; left; left &= left - 1) same += a->address[__builtin_ctz(left)] == a->address[i];
        if (same > most) most = same;
    });
    return most;
}

static uint64_t up(uint64_t n, uint64_t unit) { return (n + unit - 1) / unit; }

void profile_access(Worker *worker, const PtxInst *in, Space space, uint32_t mask, uint32_t bytes, unsigned how,
                    const Access *a) {
    LineCounters *c = &worker->counters[in - worker->run->code->insts];
    uint64_t moved = (uint64_t)bytes * (uint64_t)__builtin_popcount(mask);
    if (how & ACCESS_READ) c->bytes_read += moved;
    if (how & ACCESS_WRITE) c->bytes_written += moved;
    if (how & ACCESS_ATOMIC) {
        c->atomic_requests++;
        c->atomic_rounds += count_rounds(a, mask);
    }
    if (space == SPACE_GLOBAL) {
        c->requests++;
        c->sectors += count_sectors(a, mask, bytes);
        c->ideal_sectors += up(moved, SECTOR);
    } else if (space == SPACE_SHARED) {
        c->shared_requests++;
        c->shared_waves += count_waves(a, mask, bytes);
        c->ideal_waves += up(moved, BANKS * 4);
    }
}

void profile_merge(Worker *worker) {
    Run *run = worker->run;
    if (!worker->counters) return;
    pthread_mutex_lock(&run->lock);
    for (uint32_t pc = 0; pc < run->code->ninsts; pc++) {
        const uint64_t *from = (const uint64_t *)&worker->counters[pc];
        uint64_t *to = (uint64_t *)&run->spec->profile->counters[pc];
        for (size_t k = 0; k < sizeof(LineCounters) / sizeof *to; k++) to[k] += from[k];
    }
    pthread_mutex_unlock(&run->lock);
}
