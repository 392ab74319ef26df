/* driver_options.c - environment variables of the emulated driver (driver_options.def), and its architectures. */
#define _POSIX_C_SOURCE 200809L
#include "driver.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- architectures ----------------------------------------------------------------------------- */

/* Limits of a multiprocessor as NVIDIA documents them for the architecture; how many there are is ours: few, so that
 * programs which fill the device start few blocks. */
static const Arch archs[] = {
    /* sm threads blocks shared  opt-in  reserved */
    {70, 2048, 32, 98304, 98304, 0, 16},       {75, 1024, 16, 65536, 65536, 0, 16},
    {80, 2048, 32, 167936, 166912, 1024, 16},  {86, 1536, 16, 102400, 101376, 1024, 16},
    {87, 1536, 16, 167936, 166912, 1024, 16},  {89, 1536, 24, 102400, 101376, 1024, 16},
    {90, 2048, 32, 233472, 232448, 1024, 16},  {100, 2048, 32, 233472, 232448, 1024, 16},
    {103, 2048, 32, 233472, 232448, 1024, 16}, {120, 1536, 24, 102400, 101376, 1024, 16},
    {121, 1536, 24, 102400, 101376, 1024, 16},
};

const Arch *arch_find(uint32_t sm) {
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        if ((uint32_t)archs[i].sm == sm) return &archs[i];
    }
    return NULL;
}

/* ---- reading ----------------------------------------------------------------------------------- */

typedef enum OptionId {
#define OPTION(name, default_, values, text) OPT_##name,
#include "driver_options.def"
    OPT_COUNT
} OptionId;

static const struct {
    const char *name, *standard, *values;
} table[OPT_COUNT] = {
#define OPTION(name, default_, values, text) {#name, default_, values},
#include "driver_options.def"
};

static const char *value(OptionId id) {
    const char *v = getenv(table[id].name);
    return v && *v ? v : table[id].standard;
}

static bool bad(OptionId id) {
    fprintf(stderr, "gpu emulator: %s=%s: it takes %s\n", table[id].name, value(id), table[id].values);
    return false;
}

/* A number from `low` to `high`, with K, M or G for powers of 1024 if `units`. */
static bool number(OptionId id, uint64_t low, uint64_t high, bool units, uint64_t *out) {
    const char *text = value(id);
    char *end;
    errno = 0;
    uint64_t n = strtoull(text, &end, 10);
    if (end == text || errno || *text == '-') return bad(id);
    int shift = !units ? 0 : *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (shift) end++;
    if (*end || n > high >> shift || n << shift < low) return bad(id);
    *out = n << shift;
    return true;
}

static bool small(OptionId id, uint32_t low, uint32_t high, uint32_t *out) {
    uint64_t n;
    if (!number(id, low, high, false, &n)) return false;
    *out = (uint32_t)n;
    return true;
}

/* The length of the item at *text, up to a comma, and whether there is one; *text moves on. */
static bool item(const char **text, const char **start, size_t *length) {
    if (!**text) return false;
    *start = *text;
    *length = strcspn(*text, ",");
    *text += *length;
    if (**text) ++*text;
    return true;
}

static bool read_checks(uint32_t *checks) {
    static const struct {
        const char *name;
        uint32_t bits;
    } names[] = {
        {"uninit", CHECK_UNINITIALIZED},
        {"races", CHECK_RACES},
        {"barriers", CHECK_BARRIERS},
        {"masks", CHECK_MASKS},
        {"none", 0},
        {"all", CHECK_UNINITIALIZED | CHECK_RACES | CHECK_BARRIERS | CHECK_MASKS},
    };
    const char *text = value(OPT_GPU_EMULATOR_CHECK), *start;
    size_t length;
    *checks = 0;
    while (item(&text, &start, &length)) {
        size_t i = 0, n = sizeof names / sizeof *names;
        while (i < n && (strlen(names[i].name) != length || memcmp(names[i].name, start, length) != 0)) i++;
        if (i == n) return bad(OPT_GPU_EMULATOR_CHECK);
        *checks |= names[i].bits;
    }
    return true;
}

/* Adds a Failing for each entry that has this name, exported or base. */
static bool add_failing(Options *o, const char *name, size_t length, uint64_t call, CUresult code) {
    static const struct {
        const char *name, *base;
    } entries[ENTRY_COUNT] = {
#define CUDA_USED(name, base, since, stream, parameters) {#name, #base},
#define CUDA_MORE CUDA_USED
#define CUDA_REFUSED(name, base, since, stream) {#name, #base},
#include "../cuda_api.def"
    };
    bool found = false;
    for (int e = 0; e < ENTRY_COUNT; e++) {
        bool same = (strlen(entries[e].name) == length && !memcmp(entries[e].name, name, length)) ||
                    (strlen(entries[e].base) == length && !memcmp(entries[e].base, name, length));
        if (!same) continue;
        if (o->nfailing == MAX_FAILURES) return false;
        o->failing[o->nfailing++] = (Failing){(Entry)e, call, code};
        found = true;
    }
    return found;
}

static bool read_failing(Options *o) {
    const char *text = value(OPT_GPU_EMULATOR_FAIL), *start;
    size_t length;
    while (item(&text, &start, &length)) {
        size_t name = strcspn(start, ":,");
        if (name >= length) return bad(OPT_GPU_EMULATOR_FAIL);
        char *end;
        uint64_t call = strtoull(start + name + 1, &end, 10);
        long code = *end == '=' ? strtol(end + 1, &end, 10) : CUDA_ERROR_UNKNOWN;
        if (end != start + length || !call || code <= 0 || code > CUDA_ERROR_UNKNOWN ||
            !add_failing(o, start, name, call, (CUresult)code)) {
            return bad(OPT_GPU_EMULATOR_FAIL);
        }
    }
    return true;
}

bool options_read(Options *o) {
    uint32_t blocking;
    if (!small(OPT_GPU_EMULATOR_DEVICES, 0, MAX_DEVICES, &o->devices)) return false;
    if (!small(OPT_GPU_EMULATOR_SM, 0, 1000, &o->sm)) return false;
    if (!arch_find(o->sm)) return bad(OPT_GPU_EMULATOR_SM);
    if (!small(OPT_GPU_EMULATOR_DRIVER, 10000, 99999, &o->driver)) return false;
    if (!number(OPT_GPU_EMULATOR_MEMORY, 1 << 20, UINT64_C(1) << 40, true, &o->memory)) return false;
    if (!number(OPT_GPU_EMULATOR_BUDGET, 0, UINT64_MAX, false, &o->budget)) return false;
    if (!small(OPT_GPU_EMULATOR_THREADS, 1, 256, &o->threads)) return false;
    if (!small(OPT_CUDA_LAUNCH_BLOCKING, 0, 1, &blocking)) return false;
    o->blocking = blocking;
    /* Copies: the program may change its environment. */
    o->report = strdup(value(OPT_GPU_EMULATOR_REPORT));
    o->profile = strdup(value(OPT_GPU_EMULATOR_PROFILE));
    if (!o->report || !o->profile) return false;
    return read_checks(&o->checks) && read_failing(o);
}
