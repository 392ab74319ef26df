/* block.c - a block of threads: its warps, its shared and local memory, and the turns that its warps take.
 *
 * What a warp needs (scheduler, special registers, the kernel's registers) lies in one piece of memory, which the next
 * block uses again. */
#include "exec.h"

#include <stdlib.h>
#include <string.h>

enum { SLICE = 1 << 18, SMS = 132 };

static size_t align64(size_t n) { return (n + 63) & ~(size_t)63; }

/* ---- special registers ------------------------------------------------------------------------- */

static const uint8_t special_bytes[SR_COUNT] = {
#define SPECIAL(name, spelling, bytes) [SR_##name] = bytes,
#include "special.def"
};

/* Registers that nothing in the kernel reads aren't set: there are many, and launches are short. */
static bool is_read(const Warp *w, SpecialReg r) { return w->run->specials >> r & 1; }

static void special_set(Warp *w, SpecialReg r, int lane, uint64_t value) {
    uint8_t *at = w->special + (size_t)r * SPECIAL_BYTES;
    if (special_bytes[r] == 4) ((uint32_t *)at)[lane] = (uint32_t)value;
    else ((uint64_t *)at)[lane] = value;
}

static void special_all(Warp *w, SpecialReg r, uint64_t value) {
    for (int lane = 0; lane < WARP && is_read(w, r); lane++) special_set(w, r, lane, value);
}

/* Three registers, x y z, one after the other. */
static void special_xyz(Warp *w, SpecialReg x, const uint32_t value[3]) {
    for (unsigned k = 0; k < 3; k++) special_all(w, x + k, value[k]);
}

static uint64_t lane_value(SpecialReg r, uint32_t t, const uint32_t ntid[3]) {
    uint32_t bit = 1u << t % WARP;
    switch (r) {
    case SR_TID_X: return t % ntid[0];
    case SR_TID_Y: return t / ntid[0] % ntid[1];
    case SR_TID_Z: return t / ntid[0] / ntid[1];
    case SR_LANEID: return t % WARP;
    case SR_LANEMASK_EQ: return bit;
    case SR_LANEMASK_LT: return bit - 1;
    case SR_LANEMASK_LE: return bit | (bit - 1);
    case SR_LANEMASK_GT: return (uint32_t) ~(bit | (bit - 1));
    default: return (uint32_t) ~(bit - 1);
    }
}

static void set_lane_registers(Warp *w, const uint32_t ntid[3]) {
    static const SpecialReg by_lane[] = {SR_TID_X,       SR_TID_Y,       SR_TID_Z,       SR_LANEID,     SR_LANEMASK_EQ,
                                         SR_LANEMASK_LT, SR_LANEMASK_LE, SR_LANEMASK_GT, SR_LANEMASK_GE};
    for (size_t k = 0; k < sizeof by_lane / sizeof *by_lane; k++) {
        SpecialReg r = by_lane[k];
        for (uint32_t lane = 0; lane < WARP && is_read(w, r); lane++)
            special_set(w, r, (int)lane, lane_value(r, w->index * WARP + lane, ntid));
    }
}

static uint32_t cluster_size(const LaunchSpec *spec, int k) { return spec->cluster[k] ? spec->cluster[k] : 1; }

/* What is the same for all blocks of the launch. */
static void set_launch_registers(Warp *w) {
    const Run *run = w->run;
    const LaunchSpec *spec = run->spec;
    set_lane_registers(w, spec->block);
    special_xyz(w, SR_NTID_X, spec->block);
    special_xyz(w, SR_NCTAID_X, spec->grid);
    uint32_t explicit = 0;
    for (int k = 0; k < 3; k++) {
        uint32_t n = cluster_size(spec, k);
        explicit |= spec->cluster[k] != 0;
        special_all(w, SR_NCLUSTERID_X + (unsigned)k, spec->grid[k] / n);
        special_all(w, SR_CLUSTER_NCTAID_X + (unsigned)k, n);
    }
    special_all(w, SR_CLUSTER_NCTARANK, run->cluster_blocks);
    special_all(w, SR_IS_EXPLICIT_CLUSTER, explicit);
    special_all(w, SR_WARPID, w->index);
    special_all(w, SR_NWARPID, run->nwarps);
    special_all(w, SR_NSMID, SMS);
    special_all(w, SR_GRIDID, run->grid_id);
    special_all(w, SR_TOTAL_SMEM_SIZE, run->shared_bytes - run->reserved_shared);
    special_all(w, SR_AGGR_SMEM_SIZE, run->shared_bytes);
    special_all(w, SR_RESERVED_SMEM_OFFSET_BEGIN, run->shared_bytes - run->reserved_shared);
    special_all(w, SR_RESERVED_SMEM_OFFSET_END, run->shared_bytes);
    special_all(w, SR_RESERVED_SMEM_OFFSET_CAP, run->reserved_shared);
    special_all(w, SR_RESERVED_SMEM_OFFSET_0, run->shared_bytes - run->reserved_shared);
    special_all(w, SR_RESERVED_SMEM_OFFSET_1, run->shared_bytes - run->reserved_shared / 2);
    special_all(w, SR_DYNAMIC_SMEM_SIZE, spec->dynamic_shared);
    special_all(w, SR_DYNAMIC_SMEM_START, run->func->dynamic_start);
    special_all(w, SR_ENVREG1, run->workspace >> 32);
    special_all(w, SR_ENVREG2, run->workspace);
}

static void set_block_registers(Warp *w, const Block *b) {
    const LaunchSpec *spec = b->run->spec;
    special_xyz(w, SR_CTAID_X, b->index);
    for (int k = 0; k < 3; k++) {
        uint32_t n = cluster_size(spec, k);
        special_all(w, SR_CLUSTERID_X + (unsigned)k, b->index[k] / n);
        special_all(w, SR_CLUSTER_CTAID_X + (unsigned)k, b->index[k] % n);
    }
    special_all(w, SR_CLUSTER_CTARANK, b->rank);
    special_all(w, SR_SMID, b->linear % SMS);
}

/* ---- making and starting ----------------------------------------------------------------------- */

static size_t warp_bytes(const Run *run) {
    return align64(sizeof(Scheduler)) + align64(SR_COUNT * SPECIAL_BYTES) + align64(sizeof(Frame)) +
           align64(run->func->frame_bytes + 64);
}

static void warp_create(Block *b, uint32_t i) {
    Run *run = b->run;
    uint8_t *at = b->storage + i * warp_bytes(run);
    Warp *w = &b->warps[i];
    uint32_t threads = run->threads - i * WARP;
    *w = (Warp){.block = b, .run = run, .index = i, .exist = threads >= WARP ? UINT32_MAX : (1u << threads) - 1};
    w->scheduler = (Scheduler *)at;
    w->special = at + align64(sizeof(Scheduler));
    w->frame = (Frame *)(w->special + align64(SR_COUNT * SPECIAL_BYTES));
    w->frame->regs = (uint8_t *)w->frame + align64(sizeof(Frame));
    w->local = b->local + (size_t)i * WARP * run->local_bytes;
    w->file[FILE_CONST] = run->code->constants;
    w->file[FILE_SPECIAL] = w->special;
    w->cache = b->worker->cache;
    w->watching = (run->checks & (CHECK_UNINITIALIZED | CHECK_RACES)) != 0 || b->worker->counters;
    set_launch_registers(w);
}

Block *block_create(Worker *worker) {
    Run *run = worker->run;
    Block *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    size_t threads = (size_t)run->nwarps * WARP;
    b->run = run;
    b->worker = worker;
    b->nwarps = run->nwarps;
    b->warps = calloc(run->nwarps, sizeof *b->warps);
    b->storage = aligned_alloc(64, run->nwarps * warp_bytes(run));
    b->shared = calloc(run->shared_bytes + 16, 1);
    b->local = calloc(threads, run->local_bytes + 1);
    bool ok = b->warps && b->storage && b->shared && b->local && watch_open(b);
    if (!ok) {
        block_destroy(b);
        return NULL;
    }
    for (uint32_t i = 0; i < run->nwarps; i++) warp_create(b, i);
    return b;
}

void block_destroy(Block *b) {
    if (!b) return;
    cluster_leave(b);
    watch_close(b);
    free(b->warps);
    free(b->storage);
    free(b->shared);
    free(b->local);
    free(b);
}

static void warp_start(Warp *w) {
    const PtxFunc *func = w->run->func;
    Frame *f = (Frame *)(w->special + align64(SR_COUNT * SPECIAL_BYTES));
    Scheduler *s = w->scheduler;
    memset(f->regs, 0, func->frame_bytes);
    *f = (Frame){.func = func, .regs = f->regs, .lanes = w->exist, .top = func->local_bytes};
    w->frame = f;
    w->observed = false;
    *s = (Scheduler){.n = 1, .alive = w->exist, .fragments = {{.frame = f, .pc = func->first, .mask = w->exist}}};
    set_block_registers(w, w->block);
}

/* The system's part of shared memory starts as zeros; the rest is what the last block left. */
static void clear_reserved(Block *b) {
    uint32_t bytes = b->run->reserved_shared, start = b->run->shared_bytes - bytes;
    if (bytes) memset(b->shared + start, 0, bytes);
}

void block_start(Block *b, uint64_t linear) {
    const uint32_t *grid = b->run->spec->grid;
    b->linear = linear;
    b->index[0] = (uint32_t)(linear % grid[0]);
    b->index[1] = (uint32_t)(linear / grid[0] % grid[1]);
    b->index[2] = (uint32_t)(linear / grid[0] / grid[1]);
    b->threads = b->run->threads;
    b->executed = 0;
    memset(b->barriers, 0, sizeof b->barriers);
    memset(b->arrived, 0, sizeof b->arrived);
    memset(b->passed, 0, sizeof b->passed);
    watch_start(b);
    clear_reserved(b);
    for (uint32_t i = 0; i < b->nwarps; i++) warp_start(&b->warps[i]);
}

/* ---- turns ------------------------------------------------------------------------------------- */

_Noreturn static void fault_here(Warp *w, FaultKind kind) {
    const Scheduler *s = w->scheduler;
    const Fragment *f = &s->fragments[s->current < s->n ? s->current : 0];
    fault(w, &w->run->code->insts[f->pc], __builtin_ctz(f->mask), kind, SPACE_GENERIC, 0, 0);
}

static void check_budget(Warp *w) {
    Run *run = w->run;
    const LaunchSpec *spec = run->spec;
    bool told = spec->stop && *spec->stop;
    if (w->scheduler->n && (told || (spec->budget && w->block->executed >= spec->budget))) fault_here(w, FAULT_BUDGET);
    if (atomic_load_explicit(&run->stopped, memory_order_relaxed)) run_abandon(w->block->worker);
}

static Pause warp_turn(Warp *w) {
    Block *b = w->block;
    Scheduler *s = w->scheduler;
    uint64_t budget = w->run->spec->budget;
    int64_t fuel = budget && budget - b->executed < SLICE ? (int64_t)(budget - b->executed) : SLICE;
    s->fuel = fuel;
    Pause pause = warp_run(w);
    b->executed += (uint64_t)(fuel - s->fuel);
    check_budget(w);
    return pause;
}

/* Says which lanes wait for what. */
void block_stuck(Block *b) {
    Warp *first = NULL;
    for (uint32_t i = 0; i < b->nwarps; i++) {
        Warp *w = &b->warps[i];
        Scheduler *s = w->scheduler;
        for (uint32_t k = 0; k < s->n; k++) {
            if (!first) first = w;
            s->current = k;
            if (s->fragments[k].state == WAITS_WARP) fault_here(w, FAULT_WARP_MASK);
        }
    }
    fault_here(first, FAULT_DEADLOCK);
}

Pause block_turn(Block *b) {
    bool ran = false, spun = true;
    for (uint32_t i = 0; i < b->nwarps && b->threads; i++) {
        Warp *w = &b->warps[i];
        uint64_t before = w->scheduler->instructions;
        if (!w->scheduler->alive) continue;
        Pause pause = warp_turn(w);
        ran |= w->scheduler->instructions != before;
        spun &= pause == PAUSE_SPINS || pause == PAUSE_WAITS;
    }
    if (b->threads == 0) return PAUSE_DONE;
    if (!ran) return PAUSE_WAITS;
    return spun ? PAUSE_SPINS : PAUSE_SLICE;
}
