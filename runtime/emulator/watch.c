/* watch.c - checks of accesses that are made on request: uninitialised reads and data races; and where counting starts.
 *
 * Written bytes have a bit each. For races every 4-byte word has a Shadow: who wrote it last, and two that have read it
 * since, each with the time by a clock that ticks at everything that orders accesses. Two accesses of different
 * threads, not both reads and not both atomic, race unless one of these came between:
 *   - a barrier of their block that both came to,
 *   - for lanes of a warp: a warp operation that both took part in,
 *   - a fence by the first (between blocks: by its block), then an atomic operation or a strong read by the second.
 * The last two forget who met whom, so that some races are missed and none is invented. A write of what is there
 * already races with nothing: many threads that set one flag are no mistake. */
#include "exec.h"

#include <stdlib.h>
#include <string.h>

/* An access, packed since every word of memory has four. */
typedef struct Mark {
    uint32_t clock, pc, block;
    uint16_t thread;
    uint8_t bytes; /* of the word, a bit each; 0: no access */
    bool atomic;
} Mark;
typedef struct Shadow {
    Mark writer, changer; /* the last plain write, the last atomic operation or strong write */
    Mark reader[2];
} Shadow;

/* One lane's access. `write` and `read` are both set for an atomic operation. */
typedef struct Touch {
    const PtxInst *in;
    int lane;
    Space space; /* never generic */
    uint64_t address;
    uint32_t bytes;
    unsigned how;
    const Access *all;
    uint32_t mask;
    const uint8_t (*values)[32];
    bool silent; /* a write of what is there already */
} Touch;

/* ---- of a block -------------------------------------------------------------------------------- */

static size_t bits_bytes(uint32_t bytes) { return bytes / 8 + 1; }

bool watch_open(Block *b) {
    Run *run = b->run;
    size_t threads = (size_t)run->nwarps * WARP;
    bool ok = true;
    if (run->checks & CHECK_UNINITIALIZED) {
        b->shared_written = malloc(bits_bytes(run->shared_bytes));
        b->local_written = malloc(threads * bits_bytes(run->local_bytes));
        ok = b->shared_written && b->local_written;
    }
    if (run->checks & CHECK_RACES) {
        b->shadow = malloc((run->shared_bytes / 4 + 2) * sizeof(Shadow));
        ok = ok && b->shadow;
    }
    return ok;
}

void watch_start(Block *b) {
    Run *run = b->run;
    if (b->shared_written) {
        uint32_t reserved = run->reserved_shared, start = run->shared_bytes - reserved;
        memset(b->shared_written, 0, bits_bytes(run->shared_bytes));
        if (reserved) memset(b->shared_written + start / 8, 0xff, reserved / 8);
    }
    if (b->local_written) memset(b->local_written, 0, (size_t)run->nwarps * WARP * bits_bytes(run->local_bytes));
    if (b->shadow) memset(b->shadow, 0, (run->shared_bytes / 4 + 2) * sizeof(Shadow));
    b->observe_clock = 0;
}

void watch_close(Block *b) {
    free(b->shared_written);
    free(b->local_written);
    free(b->shadow);
}

uint32_t watch_clock(Run *run) { return (uint32_t)(run->clock = memory_clock(run->memory, 1)); }

void watch_meet(Warp *w, uint32_t mask, uint32_t arrived, uint32_t joined) {
    Scheduler *s = w->scheduler;
    EACH_LANE(mask, i, {
        s->arrived[i] = arrived > s->arrived[i] ? arrived : s->arrived[i];
        s->joined[i] = joined > s->joined[i] ? joined : s->joined[i];
    });
}

/* What lanes did before an operation of the warp is over for the others in it; and those know of other warps what any
 * of them had seen. */
void watch_sync(Warp *w, uint32_t mask) {
    if (!(w->run->checks & CHECK_RACES)) return;
    Scheduler *s = w->scheduler;
    uint32_t clock = watch_clock(w->run), seen = 0;
    EACH_LANE(mask, i, seen = s->observed_at[i] > seen ? s->observed_at[i] : seen);
    EACH_LANE(mask, i, {
        s->synced[i] = clock;
        s->observed_at[i] = seen;
    });
}

/* A lane fences for those, too, which it met in the warp's last operation, up to there: one lane often arrives at a
 * barrier for its warp. */
void watch_fence(Warp *w, uint32_t mask, bool beyond_block) {
    Run *run = w->run;
    Scheduler *s = w->scheduler;
    if (!(run->checks & CHECK_RACES)) return;
    uint32_t clock = watch_clock(run), met = s->synced[__builtin_ctz(mask)];
    for (int i = 0; i < WARP; i++) {
        if (mask >> i & 1) s->fenced[i] = clock;
        else if (s->synced[i] == met && met > s->fenced[i]) s->fenced[i] = met;
    }
    if (beyond_block) run->fences[w->block->linear] = clock;
}

void watch_observe(Warp *w, uint32_t mask) {
    if (!(w->run->checks & CHECK_RACES)) return;
    uint32_t clock = watch_clock(w->run);
    EACH_LANE(mask, i, w->scheduler->observed_at[i] = clock);
    w->block->observe_clock = clock;
}

/* ---- uninitialised reads ------------------------------------------------------------------------ */

static bool all_set(const uint8_t *bits, uint64_t at, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (!(__atomic_load_n(&bits[(at + i) / 8], __ATOMIC_RELAXED) >> (at + i) % 8 & 1)) return false;
    }
    return true;
}

static void set_bits(uint8_t *bits, uint64_t at, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        __atomic_fetch_or(&bits[(at + i) / 8], (uint8_t)(1u << (at + i) % 8), __ATOMIC_RELAXED);
}

static uint8_t *local_bits(const Warp *w, int lane) {
    return w->block->local_written + (w->index * WARP + (uint32_t)lane) * bits_bytes(w->run->local_bytes);
}

/* The bits of what a lane touches, and where in them it starts; NULL: not kept. */
static uint8_t *bits_of(Warp *w, const Touch *t, uint64_t *at) {
    *at = t->address;
    if (t->space == SPACE_SHARED) return w->block->shared_written;
    if (t->space == SPACE_LOCAL) return local_bits(w, t->lane);
    if (t->space != SPACE_GLOBAL) return NULL;
    const Alloc *a = memory_find(w->run->memory, t->address);
    *at = a ? t->address - a->address : 0;
    return a ? a->written : NULL;
}

static void check_written(Warp *w, const Touch *t) {
    uint64_t at;
    uint8_t *bits = bits_of(w, t, &at);
    if (!bits) return;
    if (t->how & ACCESS_READ && !all_set(bits, at, t->bytes))
        fault_access(w, t->in, t->lane, FAULT_UNINITIALIZED, t->space, t->address, t->bytes, t->how);
    if (t->how & ACCESS_WRITE) set_bits(bits, at, t->bytes);
}

void watch_copy_local(Warp *w, uint32_t mask, uint32_t to, uint32_t from, uint32_t bytes) {
    EACH_LANE(mask, lane, {
        uint8_t *bits = local_bits(w, lane);
        for (uint32_t i = 0; i < bytes; i++) {
            uint8_t bit = (uint8_t)(1u << (to + i) % 8);
            if (bits[(from + i) / 8] >> (from + i) % 8 & 1) bits[(to + i) / 8] |= bit;
            else bits[(to + i) / 8] &= (uint8_t)~bit;
        }
    });
}

void watch_wrote_local(Warp *w, int lane, uint32_t from, uint32_t bytes) { set_bits(local_bits(w, lane), from, bytes); }

void watch_forget_local(Warp *w, uint32_t mask, uint32_t from, uint32_t bytes) {
    EACH_LANE(mask, lane, {
        uint8_t *bits = local_bits(w, lane);
        for (uint32_t i = from; i < from + bytes; i++) bits[i / 8] &= (uint8_t) ~(1u << i % 8);
    });
}

/* ---- races ------------------------------------------------------------------------------------- */

static bool is_ordered(const Warp *w, int lane, const Mark *m) {
    const Block *b = w->block;
    if (m->block != (uint32_t)b->linear) return w->run->fences[m->block] > m->clock && b->observe_clock > m->clock;
    const Scheduler *theirs = b->warps[m->thread / WARP].scheduler, *mine = w->scheduler;
    uint32_t other = m->thread % WARP;
    if (theirs->arrived[other] > m->clock && mine->joined[lane] > m->clock) return true;
    if (theirs == mine && (int)other == lane) return true;
    if (theirs == mine && mine->synced[other] > m->clock && mine->synced[lane] > m->clock) return true;
    return theirs->fenced[other] > m->clock && mine->observed_at[lane] > m->clock;
}

/* Lanes that store one value to one address with one instruction. */
static bool same_store(const Warp *w, const Touch *t, const Mark *m) {
    uint32_t other = m->thread % WARP, pc = (uint32_t)(t->in - w->run->code->insts);
    if (!t->values || m->pc != pc || m->block != (uint32_t)w->block->linear || m->thread / WARP != w->index ||
        !(t->mask >> other & 1))
        return false;
    return t->all->address[other] == t->all->address[t->lane] &&
           memcmp(t->values[other], t->values[t->lane], t->bytes) == 0;
}

static bool same_register(const PtxOperand *a, const PtxOperand *b) {
    return a->file == FILE_FRAME && b->file == FILE_FRAME && a->off == b->off;
}

/* The register is what a compare-and-swap of the function compares with, itself or by up to `moves` copies. */
static bool is_compared(const Warp *w, const PtxOperand *r, int moves) {
    const PtxFunc *f = w->frame->func;
    for (uint32_t pc = f->first; pc < f->end; pc++) {
        const PtxInst *in = &w->run->code->insts[pc];
        if (is_compare_and_swap(in) && same_register(&in->o[2], r)) return true;
        bool copy = in->control == CONTROL_NONE && same_register(&in->o[1], r) && in->o[2].file == FILE_NONE;
        if (copy && moves > 0 && !same_register(&in->o[0], r) && is_compared(w, &in->o[0], moves - 1)) return true;
    }
    return false;
}

/* The read that a loop of compare-and-swap starts with, `old = *p; do ... while ((seen = cas(p, old, new)) != old)`:
 * what it gets is only a guess. */
static bool only_guesses(const Warp *w, const PtxInst *in) {
    return !(in->o[0].flags & OPERAND_VECTOR) && is_compared(w, &in->o[0], 3);
}

static bool is_plain_read(unsigned how) { return !(how & (ACCESS_WRITE | ACCESS_ATOMIC | ACCESS_STRONG)); }

static void check_mark(Warp *w, const Touch *t, const Mark *m, uint8_t bytes, bool writer) {
    bool atomic = t->how & (ACCESS_ATOMIC | ACCESS_STRONG);
    if (!(m->bytes & bytes) || m->clock < (uint32_t)w->run->start_clock || (m->atomic && atomic) ||
        is_ordered(w, t->lane, m))
        return;
    if (t->silent && !m->atomic) return;
    if (writer && same_store(w, t, m)) return;
    if (m->atomic && is_plain_read(t->how) && only_guesses(w, t->in)) return;
    if (!writer && atomic && only_guesses(w, &w->run->code->insts[m->pc])) return;
    Other other = {.pc = m->pc, .thread = m->thread, .block = m->block, .writes = writer};
    fault_race(w, t->in, t->lane, t->space, t->address, t->bytes, t->how, other);
}

static void note_reader(Shadow *s, const Mark *m, uint32_t start) {
    Mark *r = s->reader;
    bool first_old = !r[0].bytes || r[0].clock < start, first_mine = r[0].block == m->block && r[0].thread == m->thread;
    r[first_old || first_mine ? 0 : 1] = *m;
}

static void touch_word(Warp *w, const Touch *t, Shadow *s, uint8_t bytes) {
    Mark m = {.clock = (uint32_t)w->run->clock,
              .pc = (uint32_t)(t->in - w->run->code->insts),
              .block = (uint32_t)w->block->linear,
              .thread = (uint16_t)(w->index * WARP + (uint32_t)t->lane),
              .bytes = bytes,
              .atomic = (t->how & (ACCESS_ATOMIC | ACCESS_STRONG)) != 0};
    check_mark(w, t, &s->writer, bytes, true);
    check_mark(w, t, &s->changer, bytes, true);
    if (!(t->how & ACCESS_WRITE)) {
        note_reader(s, &m, (uint32_t)w->run->start_clock);
        return;
    }
    check_mark(w, t, &s->reader[0], bytes, false);
    check_mark(w, t, &s->reader[1], bytes, false);
    if (m.atomic) s->changer = m;
    else *s = (Shadow){.writer = m};
}

static Shadow *shadow_of(Warp *w, const Touch *t, uint64_t *base) {
    *base = 0;
    if (t->space == SPACE_SHARED) return w->block->shadow;
    if (t->space != SPACE_GLOBAL) return NULL;
    const Alloc *a = memory_find(w->run->memory, t->address);
    if (!a || a->kind == ALLOC_CONST) return NULL;
    *base = a->address / 4;
    return a->shadow ? a->shadow : memory_shadow(w->run->memory, a, sizeof(Shadow));
}

static void check_race(Warp *w, const Touch *t) {
    uint64_t base, end = t->address + t->bytes;
    Shadow *shadow = shadow_of(w, t, &base);
    if (!shadow) return;
    for (uint64_t word = t->address / 4; word * 4 < end; word++) {
        unsigned from = t->address > word * 4 ? (unsigned)(t->address - word * 4) : 0;
        unsigned to = end - word * 4 < 4 ? (unsigned)(end - word * 4) : 4;
        touch_word(w, t, &shadow[word - base], (uint8_t)((1u << to) - (1u << from)));
    }
}

/* ---- all accesses come here when something is to be watched ---------------------------------------- */

/* The lanes of a generic access that are in the space, with addresses as that space has them. */
static uint32_t lanes_in(const Access *a, uint32_t mask, Space space, uint64_t window, Access *out) {
    uint32_t in = 0;
    EACH_LANE(mask, i, {
        in |= (uint32_t)(generic_space(a->address[i]) == space) << i;
        out->address[i] = a->address[i] - window;
        out->host[i] = a->host[i];
    });
    return in;
}

static void watch_space(Warp *w, const PtxInst *in, Space space, uint32_t mask, uint32_t bytes, unsigned how,
                        const Access *a, const uint8_t (*values)[32]) {
    if (w->block->worker->counters) profile_access(w->block->worker, in, space, mask, bytes, how, a);
    uint32_t checks = w->run->checks;
    EACH_LANE(mask, i, {
        if (space == SPACE_SHARED && a->address[i] >= w->run->shared_bytes)
            continue; /* another block's of the cluster */
        Touch t = {.in = in,
                   .lane = i,
                   .space = space,
                   .address = a->address[i],
                   .bytes = bytes,
                   .how = how,
                   .all = a,
                   .mask = mask,
                   .values = values};
        if (checks & CHECK_UNINITIALIZED) check_written(w, &t);
        t.silent = values && memcmp(a->host[i], values[i], bytes) == 0;
        if (checks & CHECK_RACES) check_race(w, &t);
    });
}

void watch(Warp *w, const PtxInst *in, Space space, uint32_t mask, uint32_t bytes, unsigned how, const Access *a,
           const uint8_t (*values)[32]) {
    if (space != SPACE_GENERIC) {
        watch_space(w, in, space == SPACE_ARG ? SPACE_LOCAL : space, mask, bytes, how, a, values);
        return;
    }
    static const struct {
        Space space;
        uint64_t window;
    } parts[] = {
        {SPACE_GLOBAL, 0}, {SPACE_SHARED, SHARED_WINDOW}, {SPACE_LOCAL, LOCAL_WINDOW}, {SPACE_PARAM, PARAM_WINDOW}};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        Access part;
        uint32_t there = lanes_in(a, mask, parts[k].space, parts[k].window, &part);
        if (there) watch_space(w, in, parts[k].space, there, bytes, how, &part, values);
    }
}

void watch_store(Warp *w, const PtxInst *in, uint32_t mask, uint32_t element_bytes, unsigned how, const Access *a) {
    uint8_t values[WARP][32];
    const PtxOperand *o = &in->o[1];
    for (uint32_t k = 0; k < in->vec; k++) {
        const PtxOperand *e = o->flags & OPERAND_VECTOR ? &w->run->code->vectors[o->off + k] : o;
        if (e->bytes == 16) {
            const uint8_t *s = lanes(w, e);
            EACH_LANE(mask, i, memcpy(values[i] + k * 16, s + 16 * i, 16));
            continue;
        }
        EACH_LANE(mask, i, {
            uint64_t v = lane_get(w, e, i);
            memcpy(values[i] + k * element_bytes, &v, element_bytes);
        });
    }
    watch(w, in, in->space, mask, element_bytes * in->vec, how, a, (const uint8_t(*)[32])values);
}
