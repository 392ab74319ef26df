/* driver_private.c - faults of kernels and counters of source lines: what they say, to whom (private_api.h). */
#define _POSIX_C_SOURCE 200809L
#include "driver.h"
#include "warp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- faults ------------------------------------------------------------------------------------ */

/* The file that an option names, to add to; closed by close_report(). NULL: it is off. */
static FILE *open_report(const char *where) {
    if (!strcmp(where, "off")) return NULL;
    if (!strcmp(where, "stderr")) return stderr;
    FILE *f = fopen(where, "a");
    if (!f) fprintf(stderr, "gpu emulator: can't write to %s\n", where);
    return f;
}

static void close_report(FILE *f) {
    fflush(f);
    if (f != stderr) fclose(f);
}

static char *copy(const char *s) { return s ? strdup(s) : NULL; }

static const char *const fault_names[FAULT_COUNT] = {
#define FAULT(name, cuda_error, text) text,
#include "faults.def"
};

void report_fault(const FaultReport *r) {
    char *text = fault_text(r);
    EmulatorFault f = {
        .size = sizeof f,
        .kind = r->kind,
        .cuda_error = r->cuda_error,
        .what = copy(r->kind < FAULT_COUNT ? fault_names[r->kind] : ""),
        .text = text,
        .kernel = copy(r->kernel),
        .file = copy(r->file),
        .function = copy(r->function),
        .line = r->line,
        .ptx_line = r->ptx_line,
        .space = r->space,
        .is_write = r->is_write,
        .is_atomic = r->is_atomic,
        .address = r->address,
        .bytes = r->bytes,
        .alloc_address = r->alloc.address,
        .alloc_bytes = r->alloc.bytes,
        .alloc_freed = r->alloc.freed,
        .other_file = copy(r->other_file),
        .other_line = r->other_line,
        .other_ptx_line = r->other_ptx_line,
        .other_is_write = r->other_is_write,
        .variable = copy(r->variable),
        .variable_offset = r->variable_offset,
    };
    memcpy(f.block, r->block, sizeof f.block);
    memcpy(f.thread, r->thread, sizeof f.thread);
    memcpy(f.other_block, r->other_block, sizeof f.other_block);
    memcpy(f.other_thread, r->other_thread, sizeof f.other_thread);
    pthread_mutex_lock(&driver.lock);
    if (!driver.quiet && text) {
        FILE *out = open_report(driver.options.report);
        if (out) {
            fprintf(out, "gpu emulator: %s\n", text);
            close_report(out);
        }
    }
    gpuEmulatorFreeFault(&driver.fault);
    driver.fault = f;
    pthread_mutex_unlock(&driver.lock);
}

void gpuEmulatorFreeFault(EmulatorFault *f) {
    char *strings[] = {f->what, f->text, f->kernel, f->file, f->function, f->other_file, f->variable};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) free(strings[i]);
    *f = (EmulatorFault){.size = f->size};
}

bool gpuEmulatorTakeFault(EmulatorFault *out) {
    if (driver.forked || out->size < sizeof *out) return false;
    pthread_mutex_lock(&driver.lock);
    bool any = driver.fault.kind != FAULT_NONE;
    if (any) {
        size_t size = out->size;
        *out = driver.fault;
        out->size = size;
        driver.fault = (EmulatorFault){.kind = FAULT_NONE};
    }
    pthread_mutex_unlock(&driver.lock);
    return any;
}

void gpuEmulatorPrintFaults(bool print) {
    if (driver.forked) return;
    pthread_mutex_lock(&driver.lock);
    read_options();
    driver.quiet = !print;
    pthread_mutex_unlock(&driver.lock);
}

void gpuEmulatorForgive(int device) {
    Device *d = device_find(device);
    if (driver.forked) return;
    pthread_mutex_lock(&driver.lock);
    if (d) d->primary.error = CUDA_SUCCESS;
    pthread_mutex_unlock(&driver.lock);
}

void gpuEmulatorInterrupt(int device) {
    Device *d = device_find(device);
    if (d) d->stop = true;
}

/* ---- counters ---------------------------------------------------------------------------------- */

/* What was counted in modules that are gone, and room for what is asked for. Strings are kept once, for good. */
typedef struct Lines {
    EmulatorLine *lines;
    size_t n, room;
} Lines;

static Lines kept;

Profile *profile_of(Module *m) {
    if (!driver.profiling) return NULL;
    if (!m->profile.counters) m->profile.counters = calloc(m->code->ninsts, sizeof *m->profile.counters);
    return m->profile.counters ? &m->profile : NULL;
}

static int compare(const void *a, const void *b) {
    const EmulatorLine *x = a, *y = b;
    int c = strcmp(x->kernel, y->kernel);
    if (!c) c = strcmp(x->file ? x->file : "", y->file ? y->file : "");
    return c ? c : (x->line > y->line) - (x->line < y->line);
}

/* A copy of a string that lives as long as the process; equal ones are one. NULL: no memory. */
static const char *intern(const char *s) {
    static struct Interned {
        struct Interned *next;
        char text[];
    } * all;
    for (struct Interned *i = all; i; i = i->next) {
        if (!strcmp(i->text, s)) return i->text;
    }
    size_t n = strlen(s) + 1;
    struct Interned *i = malloc(sizeof *i + n);
    if (!i) return NULL;
    memcpy(i->text, s, n);
    i->next = all;
    all = i;
    return i->text;
}

static void add_line(Lines *l, EmulatorLine line) {
    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 256;
        EmulatorLine *lines = realloc(l->lines, room * sizeof *lines);
        if (!lines) return;
        l->lines = lines;
        l->room = room;
    }
    l->lines[l->n++] = line;
}

/* LineCounters is nothing but 64-bit counters. */
static void add_counters(LineCounters *to, const LineCounters *from) {
    uint64_t *t = (uint64_t *)to;
    const uint64_t *f = (const uint64_t *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *t; i++) t[i] += f[i];
}

/* Sorted, one of each line. */
static void merge(Lines *l) {
    if (!l->n) return;
    qsort(l->lines, l->n, sizeof *l->lines, compare);
    size_t n = 1;
    for (size_t i = 1; i < l->n; i++) {
        EmulatorLine *last = &l->lines[n - 1];
        if (compare(last, &l->lines[i])) {
            l->lines[n++] = l->lines[i];
        } else {
            add_counters(&last->counters, &l->lines[i].counters);
            last->launches += l->lines[i].launches;
        }
    }
    l->n = n;
}

static void add_function(Lines *l, const Module *m, const PtxFunc *f) {
    const PtxCode *code = m->code;
    const char *kernel = intern(f->name);
    Lines mine = {0};
    for (uint32_t pc = f->first; pc < f->end && kernel; pc++) {
        const LineCounters *c = &m->profile.counters[pc];
        if (!c->instructions) continue;
        uint32_t loc = code->insts[pc].loc;
        const char *file = loc ? code->locs[loc].file : NULL;
        add_line(&mine, (EmulatorLine){.kernel = kernel,
                                       .file = file ? intern(file) : NULL,
                                       .line = loc ? code->locs[loc].line : 0,
                                       .counters = *c});
    }
    merge(&mine);
    for (size_t i = 0; i < mine.n; i++) {
        mine.lines[i].launches = m->profile.launches;
        add_line(l, mine.lines[i]);
    }
    free(mine.lines);
}

static void add_module(Lines *l, const Module *m) {
    for (uint32_t i = 0; m->profile.counters && i < m->code->nfuncs; i++) add_function(l, m, &m->code->funcs[i]);
}

void profile_keep(Module *m) {
    add_module(&kept, m);
    merge(&kept);
    free(m->profile.counters);
    m->profile = (Profile){0};
}

static void add_context(Lines *l, const Context *c) {
    for (const Module *m = c->modules; m; m = m->next) add_module(l, m);
}

/* Of what is there and what is gone. */
static Lines collect(void) {
    Lines all = {0};
    for (size_t i = 0; i < kept.n; i++) add_line(&all, kept.lines[i]);
    for (uint32_t i = 0; i < driver.options.devices; i++) {
        if (driver.devices[i].primary.retained) add_context(&all, &driver.devices[i].primary);
    }
    for (const Context *c = driver.contexts; c; c = c->next) add_context(&all, c);
    merge(&all);
    return all;
}

void gpuEmulatorProfile(bool on) {
    if (driver.forked) return;
    pthread_mutex_lock(&driver.lock);
    read_options();
    driver.profiling = on;
    pthread_mutex_unlock(&driver.lock);
}

EmulatorLine *gpuEmulatorProfileRead(size_t *n) {
    *n = 0;
    if (driver.forked) return NULL;
    pthread_mutex_lock(&driver.lock);
    for (uint32_t i = 0; driver.initialised && i < driver.options.devices; i++)
        work_wait(&driver.devices[i], driver.devices[i].submitted);
    Lines all = collect();
    pthread_mutex_unlock(&driver.lock);
    *n = all.n;
    return all.lines;
}

void gpuEmulatorFreeLines(EmulatorLine *lines) { free(lines); }

static void clear_context(Context *c) {
    for (Module *m = c->modules; m; m = m->next) {
        if (m->profile.counters) memset(m->profile.counters, 0, m->code->ninsts * sizeof *m->profile.counters);
        m->profile.launches = 0;
    }
}

void gpuEmulatorProfileClear(void) {
    if (driver.forked) return;
    pthread_mutex_lock(&driver.lock);
    kept.n = 0;
    for (uint32_t i = 0; i < driver.options.devices; i++) {
        if (driver.devices[i].primary.retained) clear_context(&driver.devices[i].primary);
    }
    for (Context *c = driver.contexts; c; c = c->next) clear_context(c);
    pthread_mutex_unlock(&driver.lock);
}

/* ---- at the end of the program ----------------------------------------------------------------- */

static double ratio(uint64_t a, uint64_t b) { return b ? (double)a / (double)b : 0; }

static void print_line(FILE *out, const EmulatorLine *l) {
    const LineCounters *c = &l->counters;
    fprintf(out, "%12llu %6.1f %9llu %10llu %8.2f %10llu %8.2f %9llu %8.2f  %s:%u %s\n",
            (unsigned long long)c->instructions, ratio(c->lanes, c->instructions), (unsigned long long)c->divergent,
            (unsigned long long)c->requests, ratio(c->sectors, c->ideal_sectors),
            (unsigned long long)c->shared_requests, ratio(c->shared_waves, c->ideal_waves),
            (unsigned long long)c->atomic_requests, ratio(c->atomic_rounds, c->atomic_requests),
            l->file ? l->file : "?", l->line, l->kernel);
}

void profile_at_exit(void) {
    if (driver.forked) return;
    FILE *out = open_report(driver.options.profile);
    if (!out) return;
    size_t n;
    EmulatorLine *lines = gpuEmulatorProfileRead(&n);
    fprintf(out, "%12s %6s %9s %10s %8s %10s %8s %9s %8s  line, kernel\n", "instructions", "lanes", "divergent",
            "global", "sectors", "shared", "waves", "atomics", "rounds");
    for (size_t i = 0; i < n; i++) print_line(out, &lines[i]);
    close_report(out);
    gpuEmulatorFreeLines(lines);
}
