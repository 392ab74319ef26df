/* irtool.c - reads the text form of the kernel IR, runs passes by name, prints what comes out.
 *
 *     irtool [--spans] [--no-verify] [--time N] [PASS ...] < in.ir
 *
 * "roundtrip" prints, parses and prints again, and fails when the texts differ; "uniform" prints what differs between
 * threads, "regions" cuts the kernel where its threads wait and prints what they keep, both with the numbers of the
 * text. Exit status 1 with a message for text that can't be parsed or that breaks an invariant, before or after a pass.
 */
#include "../../compiler/compiler.h"
#include "../../compiler/regions.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *read_all(FILE *f) {
    size_t n = 0, cap = 1 << 16;
    char *text = malloc(cap);
    while (text) {
        n += fread(text + n, 1, cap - 1 - n, f);
        if (n < cap - 1) break;
        cap *= 2;
        char *more = realloc(text, cap);
        if (!more) free(text);
        text = more;
    }
    if (text) text[n] = '\0';
    return text;
}

static int verify(const IrModule *m, const char *when) {
    const char *error = ir_verify(m);
    if (error) fprintf(stderr, "error: %s: %s\n", when, error);
    return error != NULL;
}

static int roundtrip(const IrModule *m) {
    char *error;
    const char *text = ir_to_string(m, true);
    const IrModule *again = ir_parse(m->arena, text, &error);
    if (!again) fprintf(stderr, "error: the printed text doesn't parse: %s\n%s", error, text);
    else if (strcmp(text, ir_to_string(again, true)) != 0)
        fprintf(stderr, "error: the text changes on the way\n%s---\n%s", text, ir_to_string(again, true));
    else return 0;
    return 1;
}

static void uniform(IrModule *m) {
    static const char *const names[] = {"const", "block", "affine", "varying"};
    Uniformity u = ir_uniformity(m, NULL);
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, m->blocks.n);
    uint32_t live = ir_postorder(m, order), value = 0;
    for (uint32_t i = 0; i < live; i++) {
        BlockId b = order[live - 1 - i];
        printf("# b%u%s:", i, u.block_divergent[b] ? " divergent" : "");
        for (uint32_t k = 0; k < m->blocks.at[b].instrs.n; k++) {
            Ref r = m->blocks.at[b].instrs.at[k];
            if (m->instrs.at[r].type == T_VOID) continue;
            printf(" %%%u %s", ++value, names[u.value[r]]);
            if (u.value[r] == SHAPE_AFFINE) printf(" %lld", (long long)u.stride[r]);
        }
        printf("\n");
    }
}

static int regions(IrModule *m) {
    bool warps = true;
    const Regions *r = ir_regions(m, &warps);
    if (!r) return printf("# no regions\n"), 0;
    printf("# %u cuts%s; bytes of a thread: %u, of the block: %u\n", r->cuts.n,
           r->uniform ? " that all threads reach" : "", r->thread_bytes, r->block_bytes);
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, m->blocks.n);
    uint32_t live = ir_postorder(m, order), value = 0;
    for (uint32_t i = 0; i < live; i++) {
        const Block *b = &m->blocks.at[order[live - 1 - i]];
        for (uint32_t k = 0; k < b->instrs.n; k++) {
            Ref v = b->instrs.at[k];
            if (m->instrs.at[v].type == T_VOID) continue;
            value++;
            if (r->slot[v] != NO_SLOT)
                printf("# %%%u at %u of the %s\n", value, r->slot[v], r->shared[v] ? "block" : "thread");
        }
    }
    return verify(m, "regions");
}

static const Pass *find_pass(const char *name) {
    const Pass *const lists[] = {pipeline_passes, pipeline_cpu_passes, pipeline_gpu_passes};
    for (unsigned i = 0; i < 3; i++)
        for (const Pass *p = lists[i]; p->name; p++)
            if (strcmp(p->name, name) == 0) return p;
    return NULL;
}

static int run_pass(IrModule *m, const char *name) {
    if (strcmp(name, "roundtrip") == 0) return roundtrip(m);
    if (strcmp(name, "uniform") == 0) return uniform(m), 0;
    if (strcmp(name, "regions") == 0) return regions(m);
    const Pass *p = find_pass(name);
    if (!p) return fprintf(stderr, "error: no pass '%s'\n", name), 2;
    p->run(m);
    return verify(m, name);
}

/* Microseconds that the whole pipeline takes, the best of n. */
static double best_time(const char *text, long n) {
    double best = 1e30;
    while (n-- > 0) {
        Arena arena;
        arena_init(&arena, NULL);
        char *error;
        IrModule *m = ir_parse(&arena, text, &error);
        if (!m) break;
        struct timespec a, b;
        timespec_get(&a, TIME_UTC);
        for (const Pass *p = pipeline_passes; p->name; p++) p->run(m);
        timespec_get(&b, TIME_UTC);
        double us = (double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) * 1e-3;
        if (us < best) best = us;
        arena_free(&arena);
    }
    return best;
}

int main(int argc, char **argv) {
    bool spans = false, check = true;
    long repeat = 0;
    int i = 1, status = 0;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--spans") == 0) spans = true;
        else if (strcmp(argv[i], "--no-verify") == 0) check = false;
        else if (strcmp(argv[i], "--time") == 0 && i + 1 < argc) repeat = strtol(argv[++i], NULL, 10);
        else return fprintf(stderr, "usage: irtool [--spans] [--no-verify] [--time N] [PASS ...] < in.ir\n"), 2;
    }
    char *text = read_all(stdin), *error = NULL;
    if (!text) return fprintf(stderr, "error: out of memory\n"), 1;
    Arena arena;
    arena_init(&arena, NULL);
    IrModule *m = ir_parse(&arena, text, &error);
    if (!m) fprintf(stderr, "error: %s\n", error), status = 1;
    if (!status && check) status = verify(m, "input");
    for (; !status && i < argc; i++) status = run_pass(m, argv[i]);
    if (!status && repeat) printf("# %.1f us\n", best_time(text, repeat));
    if (!status) ir_print(m, stdout, spans);
    arena_free(&arena);
    free(text);
    return status;
}
