/* blocks.c - runs a block whose threads wait for each other.
 *
 * Generated code runs a thread up to its next wait. Here is decided who may go on: a barrier opens when all threads
 * that haven't ended wait at one; an operation of a warp is done when all lanes that its mask names are there, and
 * ended lanes count as there. Warps take turns, so that a thread that waits for memory doesn't keep the one from
 * running that will write it. Where control is uniform there is nothing to decide. */
#define _GNU_SOURCE
#include "blocks.h"

#include <sched.h>
#include <string.h>

enum { WARP = 32, ALIGN = 64, SPINS = 16 };

/* ---- memory ------------------------------------------------------------------------------------ */

static size_t round_up(size_t n) { return (n + ALIGN - 1) / ALIGN * ALIGN; }

typedef struct Layout {
    size_t shared, frame, common, state, operands, end;
} Layout;

static Layout layout(const Image *image, uint64_t threads, uint32_t dynamic_shared) {
    uint64_t capacity = round_up(threads);
    Layout l = {0};
    l.frame = l.shared + round_up((size_t)image->shared_bytes + dynamic_shared);
    l.common = l.frame + round_up(image->thread_bytes * capacity);
    l.state = l.common + round_up(image->block_bytes);
    l.operands = l.state + round_up(capacity * sizeof(uint32_t));
    l.end = l.operands + round_up(capacity * sizeof(CpuOperand));
    return l;
}

static uint32_t threads_of(const uint32_t block[3]) { return block[0] * block[1] * block[2]; }

size_t block_bytes(const Image *image, const uint32_t block[3], uint32_t dynamic_shared) {
    return layout(image, threads_of(block), dynamic_shared).end;
}

void block_place(CpuBlock *b, const Image *image, const CpuLaunch *launch, void *memory) {
    uint8_t *at = memory;
    memset(b, 0, sizeof *b);
    memcpy(b->grid, launch->grid, sizeof b->grid);
    memcpy(b->block, launch->block, sizeof b->block);
    b->threads = threads_of(b->block);
    b->capacity = round_up(b->threads);
    b->error = launch->error;
    b->print = launch->print;
    b->dynamic_shared = launch->dynamic_shared;
    Layout l = layout(image, b->threads, b->dynamic_shared);
    b->shared = at + l.shared;
    b->frame = at + l.frame;
    b->common = at + l.common;
    b->state = (uint32_t *)(void *)(at + l.state);
    b->operands = (CpuOperand *)(void *)(at + l.operands);
}

/* Where all threads take the same way, the first one's state stands for all. */
void block_start(CpuBlock *b, const Image *image, uint64_t number) {
    uint64_t row = number < b->grid[0] ? 0 : number / b->grid[0];
    b->at[0] = (uint32_t)(number - row * b->grid[0]);
    b->at[1] = (uint32_t)(row < b->grid[1] ? row : row % b->grid[1]);
    b->at[2] = (uint32_t)(row < b->grid[1] ? 0 : row / b->grid[1]);
    memset(b->state, 0, (image->uniform ? 1 : b->threads) * sizeof *b->state);
}

/* ---- threads and their waits ------------------------------------------------------------------- */

static bool waits(uint32_t state) { return state & REGION_WAITS && state != REGION_DONE; }
static bool runs(uint32_t state) { return !(state & REGION_WAITS); }
static uint32_t cut_number(uint32_t state) { return (state & ~REGION_WAITS) - 1; }

/* A thread's wait; only of one that waits. */
static const ImageCut *cut_of(const Image *image, uint32_t state) { return &image->cuts[cut_number(state)]; }

static bool is_block_wide(const ImageCut *c) {
    return c->kind == CUT_BARRIER || c->kind == CUT_BARRIER_RED || c->kind == CUT_GRID;
}

static void go_on(CpuBlock *b, uint32_t thread) { b->state[thread] &= ~REGION_WAITS; }

/* ---- operations of warps ----------------------------------------------------------------------- */

/* The lanes of a warp that take part in one operation. */
typedef struct Group {
    CpuOperand *lane; /* of the warp's first thread */
    uint32_t mask;    /* who is here */
    const ImageCut *cut;
    uint64_t result[WARP];
} Group;

#define EACH(lane, mask)                                                                                               \
    (uint32_t left_##lane = (mask), lane = 0; left_##lane && (lane = (uint32_t)__builtin_ctz(left_##lane), true);      \
     left_##lane &= left_##lane - 1)

/* The lane that a shuffle reads; the own one where that is outside of the segment. */
static uint32_t shuffle_source(uint32_t mode, uint32_t own, const CpuOperand *o) {
    uint32_t width = (uint32_t)o->width, first = own & ~(width - 1), last = first + width - 1;
    int64_t from = 0;
    switch (mode) {
    case SHFL_UP: from = (int64_t)own - o->lane; return from < (int64_t)first ? own : (uint32_t)from;
    case SHFL_DOWN: from = (int64_t)own + o->lane; return from > (int64_t)last ? own : (uint32_t)from;
    case SHFL_XOR: from = (int64_t)(own ^ (uint32_t)o->lane); return from > (int64_t)last ? own : (uint32_t)from & 31;
    default: return first + ((uint32_t)o->lane & (width - 1));
    }
}

static void shuffle(Group *g) {
    for
        EACH(i, g->mask) g->result[i] = g->lane[shuffle_source(g->cut->sub, i, &g->lane[i])].value;
}

static void vote(Group *g) {
    uint32_t ballot = 0;
    for
        EACH(i, g->mask) ballot |= (uint32_t)(g->lane[i].value & 1) << i;
    uint64_t r = g->cut->sub == VOTE_BALLOT ? ballot
                 : g->cut->sub == VOTE_ALL  ? ballot == g->mask
                 : g->cut->sub == VOTE_ANY  ? ballot != 0
                                            : ballot == 0 || ballot == g->mask;
    for
        EACH(i, g->mask) g->result[i] = r;
}

static void match(Group *g) {
    for
        EACH(i, g->mask) {
            uint32_t same = 0;
        for
            EACH(k, g->mask) same |= (uint32_t)(g->lane[k].value == g->lane[i].value) << k;
        g->result[i] = g->cut->sub == MATCH_ANY ? same : same == g->mask ? same : 0;
        }
}

static uint32_t reduce(const ImageCut *c, uint32_t a, uint32_t b) {
    bool less = c->is_signed ? (int32_t)b < (int32_t)a : b < a;
    switch (c->sub) {
    case ATOMIC_ADD: return a + b;
    case ATOMIC_MIN: return less ? b : a;
    case ATOMIC_MAX: return less ? a : b;
    case ATOMIC_AND: return a & b;
    case ATOMIC_OR: return a | b;
    default: return a ^ b;
    }
}

static void redux(Group *g) {
    uint32_t first = (uint32_t)__builtin_ctz(g->mask), sum = (uint32_t)g->lane[first].value;
    for
        EACH(i, g->mask & ~(UINT32_C(1) << first)) sum = reduce(g->cut, sum, (uint32_t)g->lane[i].value);
    for
        EACH(i, g->mask) g->result[i] = sum;
}

static void operate(Group *g) {
    switch ((CutKind)g->cut->kind) {
    case CUT_SHFL: shuffle(g); break;
    case CUT_VOTE: vote(g); break;
    case CUT_MATCH: match(g); break;
    case CUT_REDUX: redux(g); break;
    case CUT_ACTIVEMASK:
        for
            EACH(i, g->mask) g->result[i] = g->mask;
        break;
    default: return; /* CUT_SYNCWARP has no result */
    }
    for
        EACH(i, g->mask) g->lane[i].value = g->result[i];
}

/* ---- a warp's turn ----------------------------------------------------------------------------- */

typedef struct Warp {
    CpuBlock *b;
    const Image *image;
    uint32_t first, count; /* threads */
} Warp;

static uint32_t ended(const Warp *w) {
    uint32_t mask = 0;
    for (uint32_t i = 0; i < w->count; i++) mask |= (uint32_t)(w->b->state[w->first + i] == REGION_DONE) << i;
    return mask;
}

static bool same_operation(const ImageCut *a, const ImageCut *b) {
    return a->kind == b->kind && a->sub == b->sub && a->bytes == b->bytes;
}

/* Lanes that wait for what lane i waits for: the same operation with the same mask. */
static uint32_t partners(const Warp *w, uint32_t lane) {
    const uint32_t *state = w->b->state + w->first;
    const CpuOperand *o = w->b->operands + w->first;
    const ImageCut *c = cut_of(w->image, state[lane]);
    uint32_t mask = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        if (!waits(state[i]) || !same_operation(c, cut_of(w->image, state[i]))) continue;
        bool together = c->kind == CUT_ACTIVEMASK ? state[i] == state[lane] : o[i].mask == o[lane].mask;
        mask |= (uint32_t)together << i;
    }
    return mask;
}

/* Does what lane i waits for, if everybody is there. */
static void try_group(const Warp *w, uint32_t lane) {
    uint32_t here = partners(w, lane), exist = w->count == WARP ? UINT32_MAX : (UINT32_C(1) << w->count) - 1;
    Group g = {.lane = w->b->operands + w->first, .mask = here, .cut = cut_of(w->image, w->b->state[w->first + lane])};
    if (g.cut->kind != CUT_ACTIVEMASK) {
        uint32_t named = (g.lane[lane].mask | UINT32_C(1) << lane) & exist & ~ended(w);
        if (named & ~here) return;
        g.mask = named;
    }
    operate(&g);
    for
        EACH(i, g.mask) go_on(w->b, w->first + i);
}

static void operate_groups(const Warp *w) {
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t state = w->b->state[w->first + i];
        if (!waits(state) || is_block_wide(cut_of(w->image, state)) || cut_of(w->image, state)->kind == CUT_YIELD)
            continue;
        try_group(w, i);
    }
}

/* Runs each region that some thread asks for, once; true: there was one. */
static bool run_regions(const Warp *w, const void *params, bool *raised) {
    bool any = false;
    uint32_t *state = w->b->state + w->first, seen[WARP], n = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        if (!runs(state[i])) continue;
        uint32_t k = 0;
        while (k < n && seen[k] != state[i]) k++;
        if (k == n) seen[n++] = state[i];
    }
    for (uint32_t k = 0; k < n; k++) {
        any = true;
        if (w->image->cpu_region(params, w->b, seen[k], w->first, w->first + w->count) != REGION_RAISED) continue;
        *raised = true;
        return true;
    }
    return any;
}

/* Until all its threads wait for other warps, have ended, or let others run. */
static void run_warp(const Warp *w, const void *params, bool *raised) {
    while (run_regions(w, params, raised)) {
        if (*raised) return;
        operate_groups(w);
    }
    uint32_t *state = w->b->state + w->first;
    for (uint32_t i = 0; i < w->count; i++)
        if (waits(state[i]) && cut_of(w->image, state[i])->kind == CUT_YIELD) go_on(w->b, w->first + i);
}

/* ---- barriers ---------------------------------------------------------------------------------- */

static void reduce_block(const Image *image, CpuBlock *b, const ImageCut *c) {
    uint64_t count = 0, live = 0;
    for (uint32_t t = 0; t < b->threads; t++) {
        if (!image->uniform && b->state[t] == REGION_DONE) continue;
        live++;
        count += b->operands[t].value & 1;
    }
    uint64_t r = c->sub == BARRIER_POPC ? count : c->sub == BARRIER_AND ? count == live : count != 0;
    for (uint32_t t = 0; t < b->threads; t++) b->operands[t].value = r;
}

static void place_of(const CpuBlock *b, uint32_t t, uint32_t out[3]) {
    out[0] = t % b->block[0];
    out[1] = t / b->block[0] % b->block[1];
    out[2] = t / b->block[0] / b->block[1];
}

/* Two threads wait for what doesn't fit together, or for lanes that won't come. */
static BlockEnd report_stuck(const CpuBlock *b, uint32_t t, uint32_t other, Stuck *stuck) {
    memcpy(stuck->block, b->at, sizeof stuck->block);
    place_of(b, t, stuck->thread);
    stuck->cut = cut_number(b->state[t]);
    stuck->other_cut = UINT32_MAX;
    if (other == UINT32_MAX) return BLOCK_STUCK;
    place_of(b, other, stuck->other_thread);
    stuck->other_cut = cut_number(b->state[other]);
    return BLOCK_STUCK;
}

/* A thread that t's operation names and that waits for something else; UINT32_MAX: there is none. */
static uint32_t missing(const CpuBlock *b, uint32_t t) {
    uint32_t first = t / WARP * WARP, last = b->threads - first < WARP ? b->threads : first + WARP;
    for (uint32_t i = first; i < last; i++)
        if (b->operands[t].mask >> (i - first) & 1 && b->state[i] != REGION_DONE && b->state[i] != b->state[t])
            return i;
    return UINT32_MAX;
}

/* All threads wait or have ended. */
static BlockEnd open_barrier(const Image *image, CpuBlock *b, Stuck *stuck) {
    uint32_t first = UINT32_MAX, odd = UINT32_MAX;
    for (uint32_t t = 0; t < b->threads; t++) {
        if (b->state[t] == REGION_DONE) continue;
        const ImageCut *c = cut_of(image, b->state[t]);
        if (!is_block_wide(c)) return report_stuck(b, t, missing(b, t), stuck);
        if (first == UINT32_MAX) first = t;
        else if (odd == UINT32_MAX && !same_operation(c, cut_of(image, b->state[first]))) odd = t;
    }
    if (first == UINT32_MAX) return BLOCK_DONE;
    if (odd != UINT32_MAX) return report_stuck(b, first, odd, stuck);
    const ImageCut *c = cut_of(image, b->state[first]);
    if (c->kind == CUT_BARRIER_RED) reduce_block(image, b, c);
    for (uint32_t t = 0; t < b->threads; t++)
        if (b->state[t] != REGION_DONE) go_on(b, t);
    return c->kind == CUT_GRID ? BLOCK_AT_GRID : BLOCK_GOES_ON;
}

/* ---- a block ----------------------------------------------------------------------------------- */

/* Any control: warps in turn. */
static BlockEnd run_warps(const Image *image, const void *params, CpuBlock *b, Stuck *stuck) {
    for (unsigned round = 0;; round++) {
        bool raised = false, runnable = false;
        for (uint32_t t = 0; t < b->threads; t += WARP) {
            Warp w = {b, image, t, b->threads - t < WARP ? b->threads - t : WARP};
            run_warp(&w, params, &raised);
            if (raised) return BLOCK_RAISED;
        }
        for (uint32_t t = 0; t < b->threads && !runnable; t++) runnable = runs(b->state[t]);
        if (runnable) {
            if (round % SPINS == SPINS - 1) sched_yield(); /* maybe they wait for memory that other blocks write */
            continue;
        }
        BlockEnd end = open_barrier(image, b, stuck);
        if (end != BLOCK_GOES_ON) return end;
    }
}

/* All threads take the same way: the state of the first says where they are. */
static BlockEnd run_uniform(const Image *image, const void *params, CpuBlock *b) {
    uint32_t region = b->state[0];
    while (region != REGION_DONE) {
        region = image->cpu_region(params, b, region, 0, b->threads);
        if (region == REGION_RAISED) return BLOCK_RAISED;
        if (region == REGION_DONE) break;
        const ImageCut *c = &image->cuts[region - 1];
        if (c->kind == CUT_BARRIER_RED) reduce_block(image, b, c);
        if (c->kind != CUT_GRID) continue;
        b->state[0] = region;
        return BLOCK_AT_GRID;
    }
    b->state[0] = REGION_DONE;
    return BLOCK_DONE;
}

BlockEnd block_run(const Image *image, const void *params, CpuBlock *b, Stuck *stuck) {
    return image->uniform ? run_uniform(image, params, b) : run_warps(image, params, b, stuck);
}
