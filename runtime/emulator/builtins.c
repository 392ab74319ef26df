/* builtins.c - functions that the emulator provides to kernels: vprintf, assertions, the device heap, grid barriers.
 *
 * What a launch prints is kept until it ends, record by record; where it is more than the buffer holds, the oldest
 * records are lost, as on a GPU. */
#include "exec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_PRINTF = 1 << 20, DEFAULT_HEAP = 8 << 20, MAX_SPEC = 32, MAX_TEXT = 1 << 16 };

/* ---- arguments, results ------------------------------------------------------------------------- */

/* One lane's call. */
typedef struct Call {
    Warp *w;
    const PtxInst *in;
    const PtxCall *call;
    int lane;
} Call;

static uint8_t *caller_local(const Call *c) {
    return c->w->local + (size_t)c->lane * c->w->run->local_bytes +
           c->w->scheduler->fragments[c->w->scheduler->current].frame->local_base;
}

static uint64_t argument(const Call *c, uint32_t i) {
    uint64_t value = 0;
    if (i < c->call->nargs) {
        uint32_t bytes = c->call->args[i].bytes;
        memcpy(&value, caller_local(c) + c->call->args[i].from, bytes < 8 ? bytes : 8);
    }
    return value;
}

static void set_result(const Call *c, uint64_t value) {
    uint32_t bytes = c->call->result_bytes < 8 ? c->call->result_bytes : 8;
    memcpy(caller_local(c) + c->call->result_to, &value, bytes);
    if (!c->w->block->local_written || !bytes) return;
    Fragment *f = &c->w->scheduler->fragments[c->w->scheduler->current];
    watch_wrote_local(c->w, c->lane, f->frame->local_base + c->call->result_to, bytes);
}

/* A string in the kernel's memory, cut at `room`. */
static void read_string(const Call *c, uint64_t address, char *out, size_t room) {
    size_t n = 0;
    if (!address) {
        snprintf(out, room, "(null)");
        return;
    }
    for (; n + 1 < room; n++) {
        out[n] = (char)*locate_one(c->w, c->in, c->lane, address + n, 1, ACCESS_READ);
        if (!out[n]) return;
    }
    out[n] = '\0';
}

/* ---- output ------------------------------------------------------------------------------------ */

/* Records are a length and the text. */
static void drop_oldest(Run *run, size_t room) {
    size_t at = 0;
    while (run->printed_bytes - at > room) {
        uint32_t n;
        memcpy(&n, run->printed + at, sizeof n);
        at += sizeof n + n;
    }
    if (at) memmove(run->printed, run->printed + at, run->printed_bytes - at);
    run->printed_bytes -= at;
}

static void print(Run *run, const char *text, uint32_t n) {
    size_t limit = run->spec->printf_bytes ? run->spec->printf_bytes : DEFAULT_PRINTF, need = n + sizeof n;
    pthread_mutex_lock(&run->lock);
    if (need <= limit) {
        /* Making room for a quarter at once keeps many small records from moving the rest each time. */
        if (run->printed_bytes + need > limit)
            drop_oldest(run, limit - need < limit / 4 * 3 ? limit - need : limit / 4 * 3);
        if (run->printed_bytes + need > run->printed_room) {
            size_t room = 2 * (run->printed_bytes + need);
            char *p = realloc(run->printed, room);
            if (p) run->printed = p, run->printed_room = room;
        }
        if (run->printed_bytes + need <= run->printed_room) {
            memcpy(run->printed + run->printed_bytes, &n, sizeof n);
            memcpy(run->printed + run->printed_bytes + sizeof n, text, n);
            run->printed_bytes += need;
        }
    }
    pthread_mutex_unlock(&run->lock);
}

void builtin_flush(Run *run) {
    for (size_t at = 0; at < run->printed_bytes;) {
        uint32_t n;
        memcpy(&n, run->printed + at, sizeof n);
        fwrite(run->printed + at + sizeof n, 1, n, stdout);
        at += sizeof n + n;
    }
    if (run->printed_bytes) fflush(stdout);
    free(run->printed);
}

/* ---- vprintf ----------------------------------------------------------------------------------- */

typedef struct Format {
    Call call;
    uint64_t args, at; /* address of the packed arguments; how far they are read */
    char *out;
    size_t used;
    int count; /* arguments */
} Format;

/* The next argument: each is aligned to its size. */
static uint64_t next_argument(Format *f, uint32_t bytes) {
    uint64_t value = 0;
    f->at = (f->at + bytes - 1) & ~(uint64_t)(bytes - 1);
    memcpy(&value, locate_one(f->call.w, f->call.in, f->call.lane, f->args + f->at, bytes, ACCESS_READ), bytes);
    f->at += bytes;
    f->count++;
    return value;
}

static size_t left(const Format *f) { return MAX_TEXT - f->used; }

static void took(Format *f, int n) {
    if (n > 0) f->used += (size_t)n < left(f) ? (size_t)n : left(f) - 1;
}

/* `spec` is the specification without length modifiers; `wide`: it had l, ll, z, j or t. */
static void print_integer(Format *f, const char *spec, char conversion, bool wide, int shorts) {
    uint64_t v = next_argument(f, wide ? 8 : 4);
    char full[MAX_SPEC + 4];
    bool is_signed = conversion == 'd' || conversion == 'i';
    if (shorts == 1) v = is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
    else if (shorts == 2) v = is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
    else if (!wide) v = is_signed ? (uint64_t)(int32_t)v : (uint32_t)v;
    snprintf(full, sizeof full, "%sll%c", spec, conversion);
    took(f, snprintf(f->out + f->used, left(f), full, (unsigned long long)v));
}

static void print_float(Format *f, const char *spec, char conversion) {
    uint64_t bits = next_argument(f, 8);
    double d;
    char full[MAX_SPEC + 4];
    memcpy(&d, &bits, 8);
    snprintf(full, sizeof full, "%s%c", spec, conversion);
    took(f, snprintf(f->out + f->used, left(f), full, d));
}

static void print_string(Format *f, const char *spec) {
    char full[MAX_SPEC + 4], *text = f->call.w->block->worker->text + 2 * MAX_TEXT;
    read_string(&f->call, next_argument(f, 8), text, MAX_TEXT);
    snprintf(full, sizeof full, "%ss", spec);
    took(f, snprintf(f->out + f->used, left(f), full, text));
}

/* Reads one specification behind a `%`; returns what follows it. */
static const char *print_one(Format *f, const char *p) {
    char spec[MAX_SPEC] = "%";
    size_t n = 1;
    bool wide = false;
    int shorts = 0;
    for (; *p && strchr("-+ #0123456789.*", *p); p++) {
        if (*p == '*') n += (size_t)snprintf(spec + n, 12, "%d", (int)(uint32_t)next_argument(f, 4));
        else spec[n++] = *p;
        if (n > MAX_SPEC - 13) return p + 1;
    }
    for (; *p && strchr("hlLqjzt", *p); p++) {
        if (*p == 'h') shorts++;
        else wide = true;
    }
    spec[n] = '\0';
    if (*p && strchr("diouxXc", *p)) {
        if (*p == 'c') {
            char text[MAX_SPEC + 2];
            snprintf(text, sizeof text, "%sc", spec);
            took(f, snprintf(f->out + f->used, left(f), text, (int)next_argument(f, 4)));
        } else {
            print_integer(f, spec, *p, wide, shorts);
        }
    } else if (*p && strchr("eEfFgGaA", *p)) {
        print_float(f, spec, *p);
    } else if (*p == 's') {
        print_string(f, spec);
    } else if (*p == 'p') {
        took(f, snprintf(f->out + f->used, left(f), "0x%" PRIx64, next_argument(f, 8)));
    } else if (*p == '%') {
        took(f, snprintf(f->out + f->used, left(f), "%%"));
    } else {
        took(f, snprintf(f->out + f->used, left(f), "%s%c", spec, *p ? *p : '%'));
    }
    return *p ? p + 1 : p;
}

static int format(Call c, const char *text, uint64_t args, char *out) {
    Format f = {.call = c, .args = args, .out = out};
    while (*text && left(&f) > 1) {
        if (*text == '%') text = print_one(&f, text + 1);
        else f.out[f.used++] = *text++;
    }
    print(c.w->run, out, (uint32_t)f.used);
    return f.count;
}

/* The worker keeps the texts: a fault may end the launch while they are read. */
static bool builtin_vprintf(Warp *w, const PtxInst *in, const PtxCall *call, uint32_t mask) {
    Worker *worker = w->block->worker;
    if (!worker->text) worker->text = malloc(3 * MAX_TEXT);
    for (uint32_t left_lanes = mask; left_lanes; left_lanes &= left_lanes - 1) {
        Call c = {w, in, call, __builtin_ctz(left_lanes)};
        uint64_t address = argument(&c, 0);
        int n = -1;
        if (address && worker->text) {
            read_string(&c, address, worker->text, MAX_TEXT);
            n = format(c, worker->text, argument(&c, 1), worker->text + MAX_TEXT);
        }
        set_result(&c, (uint64_t)(int64_t)n);
    }
    return false;
}

/* ---- assertions -------------------------------------------------------------------------------- */

static bool builtin_assertfail(Warp *w, const PtxInst *in, const PtxCall *call, uint32_t mask) {
    const uint32_t *block = w->block->index, *n = w->run->spec->block;
    for (uint32_t left_lanes = mask; left_lanes; left_lanes &= left_lanes - 1) {
        Call c = {w, in, call, __builtin_ctz(left_lanes)};
        char message[512], file[512], function[512];
        read_string(&c, argument(&c, 0), message, sizeof message);
        read_string(&c, argument(&c, 1), file, sizeof file);
        read_string(&c, argument(&c, 3), function, sizeof function);
        uint32_t t = w->index * WARP + (uint32_t)c.lane;
        fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file,
                (unsigned)argument(&c, 2), function, block[0], block[1], block[2], t % n[0], t / n[0] % n[1],
                t / n[0] / n[1], message);
    }
    fault(w, in, __builtin_ctz(mask), FAULT_ASSERT, SPACE_GENERIC, 0, 0);
}

/* ---- heap -------------------------------------------------------------------------------------- */

static bool builtin_malloc(Warp *w, const PtxInst *in, const PtxCall *call, uint32_t mask) {
    Run *run = w->run;
    uint64_t limit = run->spec->heap_bytes ? run->spec->heap_bytes : DEFAULT_HEAP;
    for (uint32_t left_lanes = mask; left_lanes; left_lanes &= left_lanes - 1) {
        Call c = {w, in, call, __builtin_ctz(left_lanes)};
        uint64_t bytes = argument(&c, 0), used = memory_heap_used(run->memory);
        bool fits = bytes <= limit && used <= limit - bytes && bytes > 0;
        set_result(&c, fits ? memory_alloc(run->memory, ALLOC_HEAP, bytes, NULL) : 0);
    }
    return false;
}

static bool builtin_free(Warp *w, const PtxInst *in, const PtxCall *call, uint32_t mask) {
    for (uint32_t left_lanes = mask; left_lanes; left_lanes &= left_lanes - 1) {
        Call c = {w, in, call, __builtin_ctz(left_lanes)};
        uint64_t address = argument(&c, 0);
        const Alloc *a = address ? memory_find(w->run->memory, address) : NULL;
        if (!address) continue;
        if (!a || a->freed || a->kind != ALLOC_HEAP || a->address != address)
            fault(w, in, c.lane, FAULT_BAD_FREE, SPACE_GLOBAL, address, 1);
        memory_free(w->run->memory, address);
    }
    return false;
}

/* ---- grid barriers, as numba's cooperative groups call them ----------------------------------------- */

/* 0: not a cooperative launch. */
static bool builtin_grid_handle(Warp *w, const PtxInst *in, const PtxCall *call, uint32_t mask) {
    EACH_LANE(mask, i, {
        Call c = {w, in, call, i};
        set_result(&c, w->run->spec->cooperative);
    });
    return false;
}

static bool builtin_grid_sync(Warp *w, const PtxInst *in, const PtxCall *call, uint32_t mask) {
    if (!w->run->spec->cooperative) fault(w, in, __builtin_ctz(mask), FAULT_NOT_COOPERATIVE, SPACE_GENERIC, 0, 0);
    EACH_LANE(mask, i, {
        Call c = {w, in, call, i};
        set_result(&c, 0);
    });
    barrier_wait_grid(w, in);
    return true;
}

/* ---- the table --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    Builtin function;
} builtins[] = {
#define BUILTIN(name, function) {name, function},
#include "builtins.def"
};

Builtin builtin_find(const char *name) {
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++) {
        if (strcmp(builtins[i].name, name) == 0) return builtins[i].function;
    }
    return NULL;
}
