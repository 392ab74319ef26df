/* cluster.c - clusters: blocks that start together on one worker, meet at a barrier and see each other's shared memory.
 *
 * An address of shared::cluster is one of shared memory with 1 + the block's rank in its upper byte; without it is
 * the block's own. A barrier has two halves: lanes arrive, and wait later. The phase may be over by then. */
#include "exec.h"

#include <stdlib.h>
#include <string.h>

enum { RANK_SHIFT = 24 };

uint32_t cluster_blocks(const LaunchSpec *spec) {
    uint32_t n = 1;
    for (int k = 0; k < 3; k++) n *= spec->cluster[k] ? spec->cluster[k] : 1;
    return n;
}

/* ---- which blocks ------------------------------------------------------------------------------ */

/* Clusters are tiles of the grid; in one, ranks go up along x first. */
uint64_t cluster_linear(const LaunchSpec *spec, uint64_t cluster, uint32_t rank) {
    uint64_t linear = 0, scale = 1;
    for (int k = 0; k < 3; k++) {
        uint32_t size = spec->cluster[k] ? spec->cluster[k] : 1, tiles = spec->grid[k] / size;
        linear += (cluster % tiles * size + rank % size) * scale;
        cluster /= tiles;
        rank /= size;
        scale *= spec->grid[k];
    }
    return linear;
}

Cluster *cluster_create(uint32_t blocks) {
    Cluster *c = calloc(1, sizeof *c + blocks * sizeof *c->blocks);
    if (c) c->live = c->n = blocks;
    return c;
}

void cluster_leave(Block *b) {
    Cluster *c = b->cluster;
    if (!c) return;
    c->blocks[b->rank] = NULL;
    b->cluster = NULL;
    if (--c->live == 0) free(c);
}

/* ---- shared memory of the others ------------------------------------------------------------------- */

Block *cluster_block(const Block *b, uint64_t *at) {
    uint64_t mark = *at >> RANK_SHIFT;
    *at &= (UINT64_C(1) << RANK_SHIFT) - 1;
    if (mark == 0 || mark - 1 == b->rank) return (Block *)(uintptr_t)b;
    return b->cluster && mark <= b->cluster->n ? b->cluster->blocks[mark - 1] : NULL;
}

/* The address that the same variable has in another block. */
static void mapa(Warp *w, const PtxInst *in, uint32_t mask) {
    uint64_t a[WARP];
    read_addresses(w, &in->o[1], in->disp, a);
    EACH_LANE(mask, i, {
        uint64_t rank = lane_get(w, &in->o[2], i), own = (UINT64_C(1) << RANK_SHIFT) - 1;
        if (rank >= cluster_blocks(w->run->spec)) fault(w, in, i, FAULT_RANK, SPACE_SHARED, a[i], 0);
        uint64_t base = a[i] >= SHARED_WINDOW ? SHARED_WINDOW : 0;
        lane_set(w, &in->o[0], i, base + (a[i] & own) + ((rank + 1) << RANK_SHIFT));
    });
}

bool select_mapa(const PtxForm *f, PtxInst *in) {
    in->fn = mapa;
    return f->ntypes == 1 && (f->types[0] == PT_U32 || f->types[0] == PT_U64);
}

static void getctarank(Warp *w, const PtxInst *in, uint32_t mask) {
    uint64_t a[WARP];
    read_addresses(w, &in->o[1], in->disp, a);
    EACH_LANE(mask, i, {
        uint64_t mark = a[i] >> RANK_SHIFT & 0xff;
        lane_set(w, &in->o[0], i, mark ? mark - 1 : w->block->rank);
    });
}

bool select_getctarank(const PtxForm *f, PtxInst *in) {
    in->fn = getctarank;
    return f->ntypes == 1 && (f->types[0] == PT_U32 || f->types[0] == PT_U64);
}

/* ---- barrier.cluster --------------------------------------------------------------------------- */

static bool lanes_came(const Block *b) {
    for (uint32_t i = 0; i < b->nwarps; i++) {
        if (b->warps[i].scheduler->alive & ~b->arrived[i]) return false;
    }
    return true;
}

static void release_waiting(Block *b) {
    for (uint32_t i = 0; i < b->nwarps; i++) {
        Warp *w = &b->warps[i];
        Scheduler *s = w->scheduler;
        b->passed[i] |= b->arrived[i];
        b->arrived[i] = 0;
        for (uint32_t k = 0; k < s->n; k++) {
            if (s->fragments[k].state != WAITS_BLOCK || s->fragments[k].barrier != CLUSTER_BARRIER) continue;
            b->passed[i] &= ~s->fragments[k].mask;
            fragment_release(w, k);
        }
    }
}

/* A cluster of one block needs no Cluster. */
static uint32_t siblings(Block *b, Block **one, Block ***all) {
    *one = b;
    *all = b->cluster ? b->cluster->blocks : one;
    return b->cluster ? b->cluster->n : 1;
}

void cluster_recheck(Block *b) {
    Block *one, **all;
    uint32_t n = siblings(b, &one, &all);
    bool used = false;
    for (uint32_t i = 0; i < n; i++) {
        if (!all[i] || all[i]->threads == 0) continue;
        if (!lanes_came(all[i])) return;
        used = true;
    }
    uint32_t clock = used && b->run->checks & CHECK_RACES ? watch_clock(b->run) : 0;
    for (uint32_t i = 0; used && i < n; i++) {
        if (!all[i]) continue;
        release_waiting(all[i]);
        if (!clock) continue;
        b->run->fences[all[i]->linear] = all[i]->observe_clock = clock;
        for (uint32_t k = 0; k < all[i]->nwarps; k++) watch_meet(&all[i]->warps[k], UINT32_MAX, clock, clock);
    }
}

static void barrier_fence(Warp *w, uint32_t mask) {
    watch_fence(w, mask, true);
    watch_observe(w, mask);
}

/* The current fragment's lanes in `mask`; the others go on. */
void cluster_arrive(Warp *w, uint32_t mask) {
    Block *b = w->block;
    w->scheduler->fragments[w->scheduler->current].pc++;
    barrier_fence(w, mask);
    b->arrived[w->index] |= mask;
    cluster_recheck(b);
}

/* Lanes whose phase is over already go on; a lane that never arrived would wait for ever. */
void cluster_wait(Warp *w, const PtxInst *in, uint32_t mask) {
    Scheduler *s = w->scheduler;
    Block *b = w->block;
    Fragment f = s->fragments[s->current];
    uint32_t waiting = mask & ~b->passed[w->index], lost = waiting & ~b->arrived[w->index], on = f.mask & ~waiting;
    if (lost) fault(w, in, __builtin_ctz(lost), FAULT_BARRIER, SPACE_GENERIC, 0, 0);
    barrier_fence(w, mask);
    b->passed[w->index] &= ~mask;
    fragment_remove(w, s->current);
    if (on) fragment_add(w, (Fragment){.frame = f.frame, .pc = f.pc + 1, .mask = on, .turn = f.turn});
    if (!waiting) return;
    s->fragments[s->n++] =
        (Fragment){.frame = f.frame, .pc = f.pc, .mask = waiting, .state = WAITS_BLOCK, .barrier = CLUSTER_BARRIER};
}
