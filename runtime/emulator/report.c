/* report.c - faults: what is known when one happens, and the words for it. */
#include "exec.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    uint32_t cuda_error;
    const char *text;
} kinds[FAULT_COUNT] = {
#define FAULT(name, cuda_error, text) [FAULT_##name] = {cuda_error, text},
#include "faults.def"
};

/* ---- a fault happens ---------------------------------------------------------------------------- */

static void thread_index(const Run *run, uint32_t t, uint32_t out[3]) {
    const uint32_t *n = run->spec->block;
    out[0] = t % n[0];
    out[1] = t / n[0] % n[1];
    out[2] = t / n[0] / n[1];
}

static void block_index(const Run *run, uint64_t b, uint32_t out[3]) {
    const uint32_t *n = run->spec->grid;
    out[0] = (uint32_t)(b % n[0]);
    out[1] = (uint32_t)(b / n[0] % n[1]);
    out[2] = (uint32_t)(b / n[0] / n[1]);
}

/* The line that the instruction comes from: of inlined code, where it was written. */
static const PtxLoc *loc_of(const Run *run, const PtxInst *in) {
    return in->loc && in->loc < run->code->nlocs ? &run->code->locs[in->loc] : NULL;
}

/* The variable of shared memory that the address is in, or that ends before it. */
static void find_variable(const PtxCode *code, FaultReport *r) {
    const PtxGlobal *best = NULL;
    for (uint32_t i = 0; i < code->nglobals; i++) {
        const PtxGlobal *g = &code->globals[i];
        if (g->space != SPACE_SHARED || g->is_extern || g->address > r->address) continue;
        if (!best || g->address > best->address) best = g;
    }
    if (!best) return;
    r->variable = best->name;
    r->variable_offset = r->address - best->address;
    r->variable_bytes = best->bytes;
}

static FaultReport describe(Warp *w, const PtxInst *in, int lane, FaultKind kind, Space space, uint64_t address,
                            uint32_t bytes) {
    const Run *run = w->run;
    const PtxLoc *loc = loc_of(run, in);
    FaultReport r = {.kind = kind,
                     .cuda_error = kinds[kind].cuda_error,
                     .kernel = run->func->name,
                     .ptx_line = in->line,
                     .space = (uint8_t)space,
                     .address = address,
                     .bytes = bytes};
    if (loc) {
        r.file = loc->file;
        r.line = loc->line;
        r.function = loc->function;
    }
    memcpy(r.block, w->block->index, sizeof r.block);
    thread_index(run, w->index * WARP + (uint32_t)lane, r.thread);
    if (bytes && (space == SPACE_GLOBAL || space == SPACE_CONST || space == SPACE_GENERIC)) {
        const Alloc *a = memory_find(run->memory, address);
        if (a) r.alloc = *a;
        else memory_nearest(run->memory, address, &r.alloc);
        r.variable = r.alloc.name;
        r.variable_offset = address - r.alloc.address;
    } else if (bytes && space == SPACE_SHARED) {
        r.alloc = (Alloc){.bytes = run->shared_bytes};
        find_variable(run->code, &r);
    } else if (bytes && space == SPACE_LOCAL) {
        r.alloc = (Alloc){.bytes = run->local_bytes};
    } else if (bytes && space == SPACE_PARAM) {
        r.alloc = (Alloc){.bytes = run->func->param_bytes};
    }
    return r;
}

_Noreturn static void stop_with(Warp *w, const FaultReport *r) {
    Run *run = w->run;
    pthread_mutex_lock(&run->lock);
    if (!run->report->kind) *run->report = *r;
    pthread_mutex_unlock(&run->lock);
    run_abandon(w->block->worker);
}

void fault(Warp *w, const PtxInst *in, int lane, FaultKind kind, Space space, uint64_t address, uint32_t bytes) {
    FaultReport r = describe(w, in, lane, kind, space, address, bytes);
    stop_with(w, &r);
}

void fault_access(Warp *w, const PtxInst *in, int lane, FaultKind kind, Space space, uint64_t address, uint32_t bytes,
                  unsigned how) {
    FaultReport r = describe(w, in, lane, kind, space, address, bytes);
    r.is_write = how & ACCESS_WRITE;
    r.is_atomic = how & ACCESS_ATOMIC;
    stop_with(w, &r);
}

static void add_other(const Warp *w, FaultReport *r, Other other) {
    const PtxInst *in = &w->run->code->insts[other.pc];
    const PtxLoc *loc = loc_of(w->run, in);
    r->other_is_write = other.writes;
    r->other_ptx_line = in->line;
    if (loc) {
        r->other_file = loc->file;
        r->other_line = loc->line;
    }
    block_index(w->run, other.block, r->other_block);
    thread_index(w->run, other.thread, r->other_thread);
}

void fault_race(Warp *w, const PtxInst *in, int lane, Space space, uint64_t address, uint32_t bytes, unsigned how,
                Other other) {
    FaultReport r = describe(w, in, lane, FAULT_RACE, space, address, bytes);
    r.is_write = how & ACCESS_WRITE;
    r.is_atomic = how & ACCESS_ATOMIC;
    add_other(w, &r, other);
    stop_with(w, &r);
}

void fault_barrier(Warp *w, const PtxInst *in, int lane, Other other) {
    FaultReport r = describe(w, in, lane, FAULT_BARRIER, SPACE_GENERIC, 0, 0);
    add_other(w, &r, other);
    stop_with(w, &r);
}

/* ---- in words ---------------------------------------------------------------------------------- */

typedef struct Text {
    char *at;
    size_t used, room;
} Text;

static __attribute__((format(printf, 2, 3))) void say(Text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->at ? t->at + t->used : NULL, t->at ? t->room - t->used : 0, format, args);
    va_end(args);
    if (n > 0) t->used += (size_t)n;
}

static const char *space_name(uint8_t space) {
    static const char *const names[] = {
        [SPACE_GENERIC] = "generic", [SPACE_GLOBAL] = "global",   [SPACE_SHARED] = "shared", [SPACE_LOCAL] = "local",
        [SPACE_CONST] = "constant",  [SPACE_PARAM] = "parameter", [SPACE_ARG] = "local"};
    return space < sizeof names / sizeof *names ? names[space] : "?";
}

static void say_place(Text *t, const char *file, uint32_t line, uint32_t ptx_line, const uint32_t block[3],
                      const uint32_t thread[3]) {
    if (file) say(t, "%s:%u, ", file, line);
    say(t, "PTX line %u, block (%u,%u,%u), thread (%u,%u,%u)", ptx_line, block[0], block[1], block[2], thread[0],
        thread[1], thread[2]);
}

static const char *access_name(bool is_atomic, bool is_write) {
    return is_atomic ? "atomic operation" : is_write ? "write" : "read";
}

static void say_alloc(Text *t, const FaultReport *r) {
    static const char *const kind_names[] = {
        [ALLOC_DEVICE] = "an allocation", [ALLOC_HOST] = "host memory",   [ALLOC_MANAGED] = "managed memory",
        [ALLOC_GLOBAL] = "the variable",  [ALLOC_CONST] = "the constant", [ALLOC_HEAP] = "memory from malloc()"};
    const Alloc *a = &r->alloc;
    uint64_t end = a->address + a->bytes;
    if (r->space != SPACE_GLOBAL && r->space != SPACE_CONST && r->space != SPACE_GENERIC) {
        bool outside = r->kind == FAULT_OUT_OF_BOUNDS || r->kind == FAULT_ADDRESS_SPACE;
        if (outside) say(t, "; there are %" PRIu64 " bytes of %s memory", a->bytes, space_name(r->space));
        if (r->variable)
            say(t, "; that is at offset %" PRIu64 " of %s, which has %" PRIu64 " bytes", r->variable_offset,
                r->variable, r->variable_bytes);
        return;
    }
    if (!a->bytes) {
        say(t, r->address < 4096 ? "; that is a null pointer" : "; nothing is allocated near it");
        return;
    }
    if (r->address == end) say(t, "; that is right behind the end of ");
    else if (r->address > end) say(t, "; that is %" PRIu64 " bytes behind the end of ", r->address - end);
    else if (r->address < a->address) say(t, "; that is %" PRIu64 " bytes before ", a->address - r->address);
    else say(t, "; that is at offset %" PRIu64 " in ", r->address - a->address);
    say(t, "%s", kind_names[a->kind]);
    if (a->name) say(t, " %s", a->name);
    say(t, " of %" PRIu64 " bytes at 0x%" PRIx64 "%s", a->bytes, a->address, a->freed ? ", which was freed" : "");
}

static void say_report(Text *t, const FaultReport *r) {
    say(t, "%s(): %s", r->kernel ? r->kernel : "?", kinds[r->kind < FAULT_COUNT ? r->kind : 0].text);
    if (r->kind == FAULT_MEMORY) return;
    if (r->kind == FAULT_WARP_MASK && r->address) say(t, " (mask 0x%08" PRIx64 ")", r->address);
    if (r->kind == FAULT_BAD_FREE) {
        say(t, ": 0x%" PRIx64, r->address);
        say_alloc(t, r);
    } else if (r->bytes) {
        say(t, ": %s of %u byte%s of %s memory at 0x%" PRIx64, access_name(r->is_atomic, r->is_write), r->bytes,
            r->bytes == 1 ? "" : "s", space_name(r->space), r->address);
        say_alloc(t, r);
        /* Warps take turns: one that waits for nothing reads before the others write. */
        if (r->kind == FAULT_UNINITIALIZED && r->space == SPACE_SHARED)
            say(t, "; if other threads write it, a barrier is missing before");
    }
    say(t, "\n  at ");
    say_place(t, r->file, r->line, r->ptx_line, r->block, r->thread);
    if (r->function && strcmp(r->function, r->kernel) != 0) say(t, ", in %s", r->function);
    if (r->kind == FAULT_BARRIER && r->other_ptx_line == r->ptx_line) say(t, ": this thread has ended");
    if (!r->other_ptx_line || (r->kind == FAULT_BARRIER && r->other_ptx_line == r->ptx_line)) return;
    say(t, r->kind == FAULT_BARRIER ? "\n  while others wait at "
           : r->other_is_write      ? "\n  and a write at "
                                    : "\n  and a read at ");
    say_place(t, r->other_file, r->other_line, r->other_ptx_line, r->other_block, r->other_thread);
}

char *fault_text(const FaultReport *report) {
    Text t = {0};
    say_report(&t, report);
    t = (Text){.at = malloc(t.used + 1), .room = t.used + 1};
    if (t.at) say_report(&t, report);
    return t.at;
}
