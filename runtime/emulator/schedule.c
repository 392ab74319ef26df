/* schedule.c - which lanes of a warp run next, and the loop that runs them.
 *
 * A warp is a list of fragments, lanes that are at one place. The deepest call runs first, in it the lowest pc; those
 * at one place become one. So lanes that a branch parted meet again behind it, without any analysis of the code. A
 * fragment that jumps back for long while others could run steps aside for the one that ran longest ago: a lane that
 * spins until another lane of its warp lets go of a lock gets it.
 *
 * The loop looks around only where something may have changed: at a jump, and where pc reaches the next fragment's. */
#include "exec.h"

#include <string.h>
#include <time.h>

#define NOWHERE UINT32_MAX /* pc of the fragment that runs: no other can be at its place */
enum { PATIENCE = 1 << 16, SPIN_COST = 1 << 10, ROTATED_COST = 1 << 6 };

/* ---- fragments --------------------------------------------------------------------------------- */

static bool alike(const Fragment *a, const Fragment *b) {
    return a->state == RUNNABLE && b->state == RUNNABLE && a->pc == b->pc && a->frame == b->frame;
}

Fragment *fragment_add(Warp *w, Fragment f) {
    Scheduler *s = w->scheduler;
    for (uint32_t i = 0; i < s->n; i++) {
        if (!alike(&s->fragments[i], &f)) continue;
        s->fragments[i].mask |= f.mask;
        return &s->fragments[i];
    }
    s->fragments[s->n] = f;
    return &s->fragments[s->n++];
}

void fragment_remove(Warp *w, uint32_t i) {
    Scheduler *s = w->scheduler;
    s->fragments[i] = s->fragments[--s->n];
}

void fragment_release(Warp *w, uint32_t i) {
    Fragment *f = &w->scheduler->fragments[i];
    f->state = RUNNABLE;
    f->pc++;
}

static bool comes_first(const Fragment *a, const Fragment *b, bool rotate) {
    if (rotate) return a->turn < b->turn;
    if (a->frame->depth != b->frame->depth) return a->frame->depth > b->frame->depth;
    return a->pc < b->pc;
}

/* Joins all that are where `best` is, and says how far it may run before it meets another. */
static uint32_t join(Warp *w, uint32_t best) {
    Scheduler *s = w->scheduler;
    s->limit = UINT32_MAX;
    for (uint32_t i = s->n; i-- > 0;) {
        Fragment *f = &s->fragments[i], *b = &s->fragments[best];
        if (i == best) continue;
        if (alike(f, b)) {
            b->mask |= f->mask;
            if (best == s->n - 1) best = i;
            fragment_remove(w, i);
        } else if (f->state == RUNNABLE && f->frame == b->frame && f->pc > b->pc && f->pc < s->limit) {
            s->limit = f->pc;
        }
    }
    return best;
}

static bool nobody_waits_longer(const Scheduler *s, uint32_t best) {
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->fragments[i].state == RUNNABLE && s->fragments[i].turn < s->fragments[best].turn) return false;
    }
    return true;
}

/* False: none can run. A spin may call functions and part its lanes on the way round, which all end here: patience
 * lasts until the one that waits longest runs. */
static bool choose(Warp *w) {
    Scheduler *s = w->scheduler;
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->fragments[i].state != RUNNABLE) continue;
        if (best == UINT32_MAX || comes_first(&s->fragments[i], &s->fragments[best], s->rotate)) best = i;
    }
    if (best == UINT32_MAX) return false;
    if (s->rotated || nobody_waits_longer(s, best)) {
        s->patience = PATIENCE;
        s->observed = false;
    }
    s->rotated = s->rotate;
    s->current = join(w, best);
    s->fragments[s->current].turn = ++s->turns;
    if (s->rotate) {
        s->limit = UINT32_MAX;
        s->patience = PATIENCE / ROTATED_COST;
        s->rotate = false;
    }
    return true;
}

static uint32_t runnable(const Scheduler *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) n += s->fragments[i].state == RUNNABLE;
    return n;
}

/* ---- clocks ------------------------------------------------------------------------------------ */

static void set_clock(Warp *w, SpecialReg r, uint32_t bytes, uint64_t value) {
    PtxOperand o = {.file = FILE_SPECIAL, .bytes = (uint8_t)bytes, .off = (uint32_t)r * SPECIAL_BYTES};
    for (int i = 0; i < WARP; i++) lane_set(w, &o, i, value);
}

void clocks_update(Warp *w) {
    uint64_t cycles = w->scheduler->instructions;
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    uint64_t ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    set_clock(w, SR_CLOCK, 4, cycles);
    set_clock(w, SR_CLOCK_HI, 4, cycles >> 32);
    set_clock(w, SR_CLOCK64, 8, cycles);
    set_clock(w, SR_GLOBALTIMER, 8, ns);
    set_clock(w, SR_GLOBALTIMER_LO, 4, ns);
    set_clock(w, SR_GLOBALTIMER_HI, 4, ns >> 32);
}

/* ---- the loop ---------------------------------------------------------------------------------- */

/* Without the instruction, which not every CPU has, counting bits takes as long as an operation. */
static inline uint32_t count_lanes(uint32_t mask) {
    return mask == UINT32_MAX ? WARP : (uint32_t)__builtin_popcount(mask);
}

static inline void charge(Scheduler *s, uint32_t instructions, uint32_t active) {
    s->instructions += instructions;
    s->fuel -= (int64_t)instructions * count_lanes(active);
}

static void jumped_back(Warp *w) {
    Scheduler *s = w->scheduler;
    s->patience -= w->observed ? SPIN_COST : 1;
    s->observed |= w->observed;
    w->observed = false;
}

/* The lanes in `taken` jump, those of `stay` don't; the current fragment becomes the ones with the lower pc, which are
 * returned with their pc. */
static uint32_t split(Warp *w, const PtxInst *in, uint32_t pc, uint32_t taken, uint32_t stay, uint32_t *next) {
    Scheduler *s = w->scheduler;
    bool back = in->target <= pc;
    Fragment other = {
        .frame = w->frame, .pc = back ? pc + 1 : in->target, .mask = back ? stay : taken, .turn = ++s->turns};
    s->fragments[s->current].mask = w->lanes = back ? taken : stay;
    fragment_add(w, other);
    if (other.pc < s->limit) s->limit = other.pc;
    *next = back ? in->target : pc + 1;
    return w->lanes;
}

static void count(Worker *worker, const PtxInst *in, uint32_t pc, uint32_t active, uint32_t mask) {
    LineCounters *c = &worker->counters[pc];
    c->instructions++;
    c->lanes += count_lanes(mask);
    if (in->control != CONTROL_BRA) return;
    c->branches++;
    c->divergent += mask != 0 && mask != active;
}

/* All but plain instructions and jumps. False: the current fragment isn't what it was. */
static bool control(Warp *w, const PtxInst *in, uint32_t mask) {
    Scheduler *s = w->scheduler;
    switch ((Control)in->control) {
    case CONTROL_CLOCK:
        clocks_update(w);
        in->fn(w, in, mask);
        return true;
    case CONTROL_WARP: return control_warp(w, in, mask);
    case CONTROL_BRX: control_switch(w, in, mask); return false;
    case CONTROL_CALL:
    case CONTROL_CALL_INDIRECT: control_call(w, in, mask); return false;
    case CONTROL_RET: control_return(w, in, mask); return false;
    case CONTROL_EXIT: control_exit(w, mask); return false;
    case CONTROL_TRAP: fault(w, in, __builtin_ctz(mask), FAULT_TRAP, SPACE_GENERIC, 0, 0);
    case CONTROL_BARRIER: barrier_arrive(w, in, mask); return false;
    case CONTROL_YIELD:
        s->patience = 0;
        s->observed = s->rotate = true;
        s->fragments[s->current].pc++;
        return false;
    case CONTROL_NONE:
    case CONTROL_BRA: break;
    }
    return true;
}

/* Runs the current fragment until it waits, jumps past another, or has run for long. */
static inline __attribute__((always_inline)) void run_fragment(Warp *w, const PtxInst *insts, bool counting) {
    Scheduler *s = w->scheduler;
    Fragment *f = &s->fragments[s->current];
    uint32_t pc = f->pc, from = pc, active = f->mask;
    f->pc = NOWHERE;
    w->frame = f->frame;
    w->file[FILE_FRAME] = f->frame->regs;
    w->lanes = active;
    for (;;) {
        const PtxInst *in = &insts[pc];
        uint32_t mask = active;
        if (in->has_guard) {
            uint32_t guard = *(const uint32_t *)(w->file[FILE_FRAME] + in->guard);
            mask &= in->guard_not ? ~guard : guard;
        }
        if (counting) count(w->block->worker, in, pc, active, mask);
        if (in->control == CONTROL_NONE || mask == 0) {
            if (mask) in->fn(w, in, mask);
            if (++pc < s->limit) continue;
            charge(s, pc - from, active);
            break;
        }
        charge(s, pc + 1 - from, active);
        if (in->control == CONTROL_BRA) {
            uint32_t next = in->target;
            if (mask != active) active = split(w, in, pc, mask, active & ~mask, &next);
            if (next <= pc) jumped_back(w);
            pc = from = next;
            if (pc < s->limit && s->patience > 0 && s->fuel > 0) continue;
            break;
        }
        f->pc = pc;
        if (!control(w, in, mask)) return;
        f->pc = NOWHERE;
        from = ++pc;
        if (pc >= s->limit || s->fuel <= 0) break;
    }
    f->pc = pc;
}

static inline __attribute__((always_inline)) Pause run(Warp *w, bool counting) {
    Scheduler *s = w->scheduler;
    const PtxInst *insts = w->run->code->insts;
    s->spins = 0;
    while (choose(w)) {
        run_fragment(w, insts, counting);
        if (s->fuel <= 0) return PAUSE_SLICE;
        if (s->patience > 0) continue;
        s->rotate = true;
        /* When all that could run only wait for memory to change, it is for another warp to change it. */
        if (s->observed && ++s->spins >= runnable(s)) return PAUSE_SPINS;
    }
    return s->alive ? PAUSE_WAITS : PAUSE_DONE;
}

Pause warp_run(Warp *w) { return w->block->worker->counters ? run(w, true) : run(w, false); }
