/* test_blocks.c - blocks whose threads wait for each other, with C functions in the place of compiled regions. */
#include "../../runtime/blocks.h"

#include <stdio.h>
#include <stdlib.h>

static int failures;

#define CHECK(x) ((x) ? (void)0 : (void)(failures++, printf("%s:%d: %s\n", __FILE__, __LINE__, #x)))

enum { THREADS = 70 };

/* What the kernels below read and write. */
typedef struct Params {
    uint64_t out[THREADS];
    unsigned flag;
} Params;

static uint64_t *shared_of(CpuBlock *b) { return (uint64_t *)(void *)b->shared; }

/* A wait and what follows it: cut k is followed by region k + 1. */
static uint32_t wait_at(uint32_t cut) { return (cut + 1) | REGION_WAITS; }

/* shared[t] = t; threads below 10 end; barrier; out[t] = shared[last - t] */
static uint32_t turned(const void *params, CpuBlock *b, uint32_t region, uint32_t first, uint32_t last) {
    Params *p = *(Params *const *)params;
    for (uint32_t t = first; t < last; t++) {
        if (b->state[t] != region) continue;
        if (region == 0) shared_of(b)[t] = t;
        else p->out[t] = shared_of(b)[THREADS - 1 - t];
        b->state[t] = region == 0 && t >= 10 ? wait_at(0) : REGION_DONE;
    }
    return 0;
}

/* The same for all threads at once. */
static uint32_t turned_uniform(const void *params, CpuBlock *b, uint32_t region, uint32_t first, uint32_t last) {
    Params *p = *(Params *const *)params;
    for (uint32_t t = first; t < last; t++) {
        if (region == 0) shared_of(b)[t] = t;
        else p->out[t] = shared_of(b)[THREADS - 1 - t];
    }
    return region == 0 ? 1 : REGION_DONE;
}

/* out[t] = the value of lane t ^ 1, or with `alone`, lane 3 goes to a barrier instead. */
static uint32_t swapped(const void *params, CpuBlock *b, uint32_t region, uint32_t first, uint32_t last) {
    Params *p = *(Params *const *)params;
    for (uint32_t t = first; t < last; t++) {
        if (b->state[t] != region) continue;
        if (region == 1) p->out[t] = b->operands[t].value;
        b->operands[t] = (CpuOperand){.value = t * 5, .mask = UINT32_MAX, .lane = 1, .width = 32};
        b->state[t] = region == 1 ? REGION_DONE : p->flag && t == 3 ? wait_at(1) : wait_at(0);
    }
    return 0;
}

/* The first thread waits until the last has raised the flag. */
static uint32_t spinning(const void *params, CpuBlock *b, uint32_t region, uint32_t first, uint32_t last) {
    Params *p = *(Params *const *)params;
    for (uint32_t t = first; t < last; t++) {
        if (b->state[t] != region) continue;
        if (t == THREADS - 1) p->flag = 1;
        b->state[t] = t == 0 && !p->flag ? wait_at(0) : REGION_DONE;
        p->out[t] += t == 0;
    }
    return 0;
}

/* out[t] = how many threads of the block have an odd number */
static uint32_t counting(const void *params, CpuBlock *b, uint32_t region, uint32_t first, uint32_t last) {
    Params *p = *(Params *const *)params;
    for (uint32_t t = first; t < last; t++) {
        if (b->state[t] != region) continue;
        if (region == 1) p->out[t] = b->operands[t].value;
        else b->operands[t].value = t & 1;
        b->state[t] = region == 1 ? REGION_DONE : wait_at(0);
    }
    return 0;
}

static BlockEnd run(CpuRegion region, bool uniform, ImageCut *cuts, uint32_t ncuts, Params *p, Stuck *stuck) {
    Image image = {.cpu_region = region, .cuts = cuts, .ncuts = ncuts, .uniform = uniform, .shared_bytes = THREADS * 8};
    CpuLaunch launch = {.grid = {3, 2, 1}, .block = {35, 2, 1}};
    size_t bytes = (block_bytes(&image, launch.block, 0) + 63) / 64 * 64;
    void *memory = aligned_alloc(64, bytes), *params = p;
    CpuBlock b;
    block_place(&b, &image, &launch, memory);
    block_start(&b, &image, 4);
    CHECK(b.threads == THREADS && b.at[0] == 1 && b.at[1] == 1 && b.at[2] == 0);
    BlockEnd end = block_run(&image, &params, &b, stuck);
    free(memory);
    return end;
}

static void barriers(void) {
    ImageCut cut = {.kind = CUT_BARRIER};
    for (unsigned uniform = 0; uniform < 2; uniform++) {
        Params p = {0};
        Stuck stuck;
        CHECK(run(uniform ? turned_uniform : turned, uniform, &cut, 1, &p, &stuck) == BLOCK_DONE);
        for (uint32_t t = 0; t < THREADS; t++) CHECK(p.out[t] == (uniform || t >= 10 ? THREADS - 1 - t : 0));
    }
}

static void counts(void) {
    ImageCut cut = {.kind = CUT_BARRIER_RED, .sub = BARRIER_POPC};
    Params p = {0};
    Stuck stuck;
    CHECK(run(counting, false, &cut, 1, &p, &stuck) == BLOCK_DONE);
    for (uint32_t t = 0; t < THREADS; t++) CHECK(p.out[t] == THREADS / 2);
}

static void shuffles(void) {
    ImageCut cuts[] = {{.kind = CUT_SHFL, .sub = SHFL_XOR, .bytes = 8}, {.kind = CUT_BARRIER}};
    Params p = {0};
    Stuck stuck;
    CHECK(run(swapped, false, cuts, 2, &p, &stuck) == BLOCK_DONE);
    for (uint32_t t = 0; t < THREADS; t++) CHECK(p.out[t] == (t ^ 1) * 5);
}

static void what_does_not_fit_is_reported(void) {
    ImageCut cuts[] = {{.kind = CUT_SHFL, .sub = SHFL_XOR, .bytes = 8}, {.kind = CUT_BARRIER}};
    Params p = {.flag = 1};
    Stuck stuck = {0};
    CHECK(run(swapped, false, cuts, 2, &p, &stuck) == BLOCK_STUCK);
    CHECK(stuck.block[0] == 1 && stuck.block[1] == 1);
    CHECK(stuck.thread[0] == 0 && stuck.cut == 0);
    CHECK(stuck.other_thread[0] == 3 && stuck.other_cut == 1);
}

static void who_waits_for_memory_lets_others_run(void) {
    ImageCut cut = {.kind = CUT_YIELD};
    Params p = {0};
    Stuck stuck;
    CHECK(run(spinning, false, &cut, 1, &p, &stuck) == BLOCK_DONE);
    CHECK(p.flag == 1 && p.out[0] == 2);
}

int main(void) {
    barriers();
    counts();
    shuffles();
    what_does_not_fit_is_reported();
    who_waits_for_memory_lets_others_run();
    printf("test_blocks: %s\n", failures ? "FAILED" : "ok");
    return failures != 0;
}
