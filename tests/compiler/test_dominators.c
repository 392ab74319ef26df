/* test_dominators.c - dominators of random graphs, against their definition: a dominates b when b can't be reached
 * from the entry without a. Also that 20,000 blocks in a chain of `elif` take no noticeable time. */
#include "../../compiler/ir.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint32_t state = 1;

static uint32_t below(uint32_t n) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

static void link_to(IrModule *m, BlockId from, BlockId to) {
    Block *b = &m->blocks.at[from];
    b->succ[b->nsucc++] = to;
}

static IrModule *random_graph(Arena *a, uint32_t blocks) {
    IrModule *m = ir_new(a, "k");
    while (m->blocks.n < blocks) ir_block(m);
    for (BlockId b = 0; b < blocks; b++)
        for (uint32_t n = below(3); n > 0; n--) link_to(m, b, below(blocks));
    ir_edges(m);
    return m;
}

/* Fills reached[] with what the entry reaches without passing `without`. */
static void reach(const IrModule *m, BlockId b, BlockId without, bool *reached) {
    if (b == without || reached[b]) return;
    reached[b] = true;
    for (uint32_t i = 0; i < m->blocks.at[b].nsucc; i++) reach(m, m->blocks.at[b].succ[i], without, reached);
}

static void wrong(const IrModule *m, BlockId a, BlockId b) {
    ir_print(m, stderr, false);
    fprintf(stderr, "b%u and b%u\n", a, b);
    exit(1);
}

static void compare(const IrModule *m) {
    bool live[16] = {0};
    DomTree t = ir_dominators(m);
    reach(m, 0, UINT32_MAX, live);
    for (BlockId a = 0; a < m->blocks.n; a++) {
        bool reached[16] = {0};
        reach(m, 0, a, reached);
        for (BlockId b = 0; b < m->blocks.n; b++) {
            if (!live[a] || !live[b]) continue;
            if (ir_dominates(&t, a, b) == reached[b]) wrong(m, a, b);
        }
        if (a && live[a] && (t.idom[a] == a || !ir_dominates(&t, t.idom[a], a))) wrong(m, t.idom[a], a);
    }
}

/* Tests 0, 2, 4 ... lead each to a block of its own, and those to one last block. */
static IrModule *chain(Arena *a, uint32_t tests) {
    IrModule *m = ir_new(a, "k");
    while (m->blocks.n < 2 * tests + 1) ir_block(m);
    for (BlockId b = 0; b < 2 * tests; b += 2) {
        link_to(m, b, b + 1);
        link_to(m, b, b + 2);
        link_to(m, b + 1, 2 * tests);
    }
    ir_edges(m);
    return m;
}

int main(void) {
    for (int i = 0; i < 20000; i++) {
        Arena a;
        arena_init(&a, NULL);
        compare(random_graph(&a, 1 + below(12)));
        arena_free(&a);
    }
    Arena a;
    arena_init(&a, NULL);
    IrModule *m = chain(&a, 10000);
    clock_t start = clock();
    DomTree t = ir_dominators(m);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (t.idom[20000] != 0 || t.idom[19999] != 19998 || !ir_dominates(&t, 2, 19999)) wrong(m, 0, 20000);
    if (seconds > 0.5) { /* some ms; a quadratic method takes longer */
        fprintf(stderr, "%.2f s for the dominators of a chain of 20,000 blocks\n", seconds);
        return 1;
    }
    arena_free(&a);
    return 0;
}
