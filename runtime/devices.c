/* devices.c - the devices of this machine by name: "cpu", "cuda:1", "emulated". */
#include "cuda.h"

#include <stdlib.h>
#include <string.h>

typedef struct Kind {
    const char *name;
    Status (*count)(uint32_t *out, Failure *f);
    Status (*open)(uint32_t ordinal, Device **out, Failure *f);
} Kind;

static Status cpu_count(uint32_t *out, Failure *f) {
    (void)f;
    *out = 1;
    return GPU_OK;
}

static Status cpu_open(uint32_t ordinal, Device **out, Failure *f) {
    (void)ordinal, (void)f;
    *out = runtime_cpu();
    return GPU_OK;
}

static const Kind kinds[] = {
    {"cpu", cpu_count, cpu_open}, {"cuda", cuda_count, cuda_open}, {"emulated", emulated_count, emulated_open}};
enum { NKINDS = sizeof kinds / sizeof *kinds };

static Status unknown(const char *name, Failure *f) {
    return failure_set(f, GPU_ERROR_VALUE,
                       "there is no device '%s': a name is cpu, cuda, cuda:N, emulated or emulated:N", name);
}

/* The row of a name, and the number behind its colon. */
static const Kind *kind_of(const char *name, uint32_t *ordinal) {
    size_t n = strcspn(name, ":");
    *ordinal = 0;
    if (name[n]) {
        char *end;
        const char *digits = name + n + 1;
        unsigned long v = strtoul(digits, &end, 10);
        if (*digits < '0' || *digits > '9' || *end || v >= MOST_DEVICES) return NULL;
        *ordinal = (uint32_t)v;
    }
    for (int i = 0; i < NKINDS; i++)
        if (strlen(kinds[i].name) == n && strncmp(kinds[i].name, name, n) == 0) return &kinds[i];
    return NULL;
}

Status runtime_device(const char *name, Device **out, Failure *f) {
    uint32_t ordinal, n;
    const Kind *k = kind_of(name, &ordinal);
    *out = NULL;
    if (!k) return unknown(name, f);
    Status status = k->count(&n, f);
    if (status != GPU_OK) return status;
    if (ordinal >= n)
        return failure_set(f, GPU_ERROR_VALUE, "there is no device '%s': this machine has %u of that kind", name, n);
    return k->open(ordinal, out, f);
}

Status runtime_count(const char *kind, uint32_t *out, Failure *f) {
    uint32_t ordinal;
    const Kind *k = kind_of(kind, &ordinal);
    *out = 0;
    return k ? k->count(out, f) : unknown(kind, f);
}
