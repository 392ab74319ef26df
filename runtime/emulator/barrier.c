/* barrier.c - barriers of a block: lanes arrive, wait, and go on when all that must have come are there.
 *
 * Without a count a barrier waits for all threads that haven't exited; with one, for that many, where a warp whose
 * lanes are all there counts as 32. `sub` of the instruction is a BarrierOp; operands: result, barrier, count,
 * predicate. */
#include "exec.h"

#include <string.h>

typedef enum BarrierOp { BAR_SYNC, BAR_ARRIVE, BAR_POPC, BAR_AND, BAR_OR, CLUSTER_ARRIVE, CLUSTER_WAIT } BarrierOp;

static bool is_reduction(const PtxInst *in) { return in->sub == BAR_POPC || in->sub == BAR_AND || in->sub == BAR_OR; }

static bool has_count(const PtxInst *in) { return in->o[2].file != FILE_NONE; }

static bool all_came(const Block *b, const Barrier *bar) {
    if (!bar->count && bar->came < b->threads) return false;
    uint32_t came = 0;
    for (uint32_t i = 0; i < b->nwarps; i++) {
        uint32_t missing = b->warps[i].scheduler->alive & ~bar->arrived[i];
        if (!bar->count && missing) return false;
        if (bar->arrived[i]) came += missing ? (uint32_t)__builtin_popcount(bar->arrived[i]) : WARP;
    }
    return came >= bar->count;
}

/* On request: all threads of the block must come, and to the same instruction. */
static void check_complete(const Block *b, const Barrier *bar) {
    if (bar->count) return;
    for (uint32_t i = 0; i < b->nwarps; i++) {
        Warp *w = &b->warps[i];
        uint32_t gone = w->exist & ~bar->arrived[i];
        Other same = {.pc = bar->pc, .block = b->linear};
        if (gone) fault_barrier(w, &w->run->code->insts[bar->pc], __builtin_ctz(gone), same);
    }
}

static void release(Warp *w, uint32_t i, const Barrier *bar, uint32_t clock) {
    Scheduler *s = w->scheduler;
    Fragment *f = &s->fragments[i];
    const PtxInst *in = &w->run->code->insts[f->pc];
    if (in->control == CONTROL_BARRIER && is_reduction(in)) {
        w->frame = f->frame;
        w->file[FILE_FRAME] = f->frame->regs;
        if (in->sub == BAR_POPC) EACH_LANE(f->mask, lane, lane_set(w, &in->o[0], lane, bar->popc));
        else pred_set(w, &in->o[0], f->mask, (in->sub == BAR_AND ? bar->all : bar->any) ? UINT32_MAX : 0);
    }
    watch_meet(w, f->mask, 0, clock);
    fragment_release(w, i);
}

static void complete(Block *b, uint32_t id) {
    Barrier *bar = &b->barriers[id];
    if (b->run->checks & CHECK_BARRIERS && id != GRID_BARRIER) check_complete(b, bar);
    uint32_t clock = b->run->checks & CHECK_RACES ? watch_clock(b->run) : 0;
    for (uint32_t i = 0; i < b->nwarps; i++) {
        Warp *w = &b->warps[i];
        Scheduler *s = w->scheduler;
        for (uint32_t k = 0; k < s->n; k++) {
            if (s->fragments[k].state == WAITS_BLOCK && s->fragments[k].barrier == id) release(w, k, bar, clock);
        }
        if (!clock) continue;
        watch_meet(w, bar->arrived[i], bar->when[i], 0);
        if (!bar->count) watch_meet(w, w->exist & ~s->alive, clock, 0); /* who ended has arrived for ever */
    }
    bar->used = false;
}

void barrier_recheck(Block *b) {
    if (b->threads == 0) return;
    for (uint32_t id = 0; id < CLUSTER_BARRIER; id++) {
        if (b->barriers[id].used && all_came(b, &b->barriers[id])) complete(b, id);
    }
    if (b->barriers[GRID_BARRIER].used) barrier_recheck_grid(b->worker);
}

/* ---- the grid's barrier: all blocks are this worker's ------------------------------------------------ */

void barrier_wait_grid(Warp *w, const PtxInst *in) {
    Fragment *f = &w->scheduler->fragments[w->scheduler->current];
    Barrier *bar = &w->block->barriers[GRID_BARRIER];
    if (!bar->used) *bar = (Barrier){.used = true, .pc = (uint32_t)(in - w->run->code->insts)};
    bar->came += (uint32_t)__builtin_popcount(f->mask);
    bar->arrived[w->index] |= f->mask;
    if (w->run->checks & CHECK_RACES) bar->when[w->index] = watch_clock(w->run);
    f->state = WAITS_BLOCK;
    f->barrier = GRID_BARRIER;
    barrier_recheck_grid(w->block->worker);
}

void barrier_recheck_grid(Worker *worker) {
    Run *run = worker->run;
    for (uint32_t i = 0; i < worker->nactive; i++) {
        Block *b = worker->active[i];
        if (b->threads && !(b->barriers[GRID_BARRIER].used && all_came(b, &b->barriers[GRID_BARRIER]))) return;
    }
    uint32_t clock = run->checks & CHECK_RACES ? watch_clock(run) : 0;
    for (uint32_t i = 0; i < worker->nactive; i++) {
        Block *b = worker->active[i];
        if (!b->threads) continue;
        complete(b, GRID_BARRIER);
        if (clock) run->fences[b->linear] = b->observe_clock = clock;
    }
}

/* Lanes that use one barrier arrive. */
static void arrive(Warp *w, const PtxInst *in, uint32_t mask, uint32_t id) {
    Barrier *bar = &w->block->barriers[id];
    if (!bar->used) {
        *bar = (Barrier){.used = true,
                         .all = true,
                         .pc = (uint32_t)(in - w->run->code->insts),
                         .thread = w->index * WARP + (uint32_t)__builtin_ctz(mask)};
        if (has_count(in)) bar->count = (uint32_t)lane_get(w, &in->o[2], __builtin_ctz(mask));
    } else if ((w->run->checks & CHECK_BARRIERS) && &w->run->code->insts[bar->pc] != in && !bar->count) {
        fault_barrier(w, in, __builtin_ctz(mask),
                      (Other){.pc = bar->pc, .thread = bar->thread, .block = w->block->linear});
    }
    bar->came += (uint32_t)__builtin_popcount(mask & ~bar->arrived[w->index]);
    bar->arrived[w->index] |= mask;
    if (w->run->checks & CHECK_RACES) bar->when[w->index] = watch_clock(w->run);
    if (!is_reduction(in)) return;
    uint32_t votes = pred_get(w, &in->o[3]) & mask;
    bar->popc += (uint32_t)__builtin_popcount(votes);
    bar->any |= votes != 0;
    bar->all &= votes == mask;
}

static uint32_t barrier_id(Warp *w, const PtxInst *in, int lane) {
    uint64_t id = lane_get(w, &in->o[1], lane);
    if (id >= CLUSTER_BARRIER) fault(w, in, lane, FAULT_BARRIER, SPACE_GENERIC, id, 0);
    return (uint32_t)id;
}

void barrier_arrive(Warp *w, const PtxInst *in, uint32_t mask) {
    Scheduler *s = w->scheduler;
    if (in->sub == CLUSTER_ARRIVE || in->sub == CLUSTER_WAIT) {
        if (in->sub == CLUSTER_ARRIVE) cluster_arrive(w, mask);
        else cluster_wait(w, in, mask);
        return;
    }
    Fragment f = s->fragments[s->current];
    fragment_remove(w, s->current);
    uint32_t on = f.mask & ~mask; /* who goes on at once: lanes that a guard holds back, and those which only arrive */
    while (mask) {
        uint32_t id = barrier_id(w, in, __builtin_ctz(mask)), same = 0;
        if (in->o[1].file == FILE_CONST) same = mask;
        else EACH_LANE(mask, i, same |= (uint32_t)(barrier_id(w, in, i) == id) << i);
        mask &= ~same;
        arrive(w, in, same, id);
        if (in->sub == BAR_ARRIVE) on |= same;
        else
            s->fragments[s->n++] =
                (Fragment){.frame = f.frame, .pc = f.pc, .mask = same, .state = WAITS_BLOCK, .barrier = id};
    }
    if (on) fragment_add(w, (Fragment){.frame = f.frame, .pc = f.pc + 1, .mask = on, .turn = f.turn});
    barrier_recheck(w->block);
}

/* ---- rows of ptxops.def ------------------------------------------------------------------------- */

static bool flag(const PtxForm *f, unsigned bit) { return f->flags >> bit & 1; }

static bool select_cluster(const PtxForm *f, PtxInst *in) {
    if (f->noperands || f->ntypes) return false;
    in->sub = f->field[MF_MODE] == MODE_ARRIVE ? CLUSTER_ARRIVE : CLUSTER_WAIT;
    return f->field[MF_MODE] == MODE_ARRIVE || flag(f, FLAG_WAIT);
}

static bool select_reduction(const PtxForm *f, PtxInst *in) {
    if (f->ntypes != 1 || in->o[1].file == FILE_NONE) return false;
    if (flag(f, FLAG_POPC)) {
        in->sub = BAR_POPC;
        return f->types[0] == PT_U32;
    }
    unsigned op = f->field[MF_ATOM];
    in->sub = op == ATOM_AND ? BAR_AND : BAR_OR;
    return f->types[0] == PT_PRED && (op == ATOM_AND || op == ATOM_OR);
}

bool select_bar(const PtxForm *f, PtxInst *in) {
    if (flag(f, FLAG_WARP)) return f->field[MF_MODE] == MODE_SYNC && select_warp_barrier(f, in);
    if (flag(f, FLAG_CLUSTER_BARRIER)) return select_cluster(f, in);
    if (f->field[MF_MODE] == MODE_RED) return select_reduction(f, in);
    in->sub = f->field[MF_MODE] == MODE_ARRIVE ? BAR_ARRIVE : BAR_SYNC;
    if (f->ntypes || in->o[1].file == FILE_NONE) return false;
    return f->field[MF_MODE] == MODE_SYNC || (f->field[MF_MODE] == MODE_ARRIVE && has_count(in));
}
