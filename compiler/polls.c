/* polls.c - loops that end soon need not look for an interruption.
 *
 * needs: simplify (constants folded)      keeps: everything but Block.poll; sets long_loops
 *
 * The frontend marks the back edge of every loop. A poll is a volatile load and an exit, which keep LLVM from
 * unrolling the loop and from running threads in vectors. Here the mark goes away where the loop counts from a
 * constant in constant steps to a constant bound, and it and the loops inside it together take few rounds. */
#include "loops.h"

enum { MOST_ROUNDS = 1 << 16 };

typedef struct Loop {
    NaturalLoop n;
    uint64_t rounds; /* of the header, and of the loops inside that don't poll; 0: not known */
} Loop;

typedef VEC(Loop) Loops;

static const Instr *instr(const IrModule *m, Ref r) { return &m->instrs.at[r]; }

/* The constant that a value is. */
static bool constant(const IrModule *m, Ref r, int64_t *out) {
    const Instr *in = instr(m, r);
    if (in->op != OP_CONST || !type_is_int((Type)in->type)) return false;
    *out = (int64_t)in->imm;
    return true;
}

/* The counter's start and step, if it is a PHI of the header that every round changes by the same constant. */
static bool counter(const IrModule *m, const Loop *l, Ref phi, int64_t *start, int64_t *step) {
    const Instr *p = instr(m, phi);
    const Block *header = &m->blocks.at[l->n.header];
    bool have_start = false, have_step = false;
    if (p->op != OP_PHI || p->block != l->n.header || !type_is_signed((Type)p->type)) return false;
    for (uint32_t i = 0; i < p->nargs; i++) {
        int64_t v;
        if (!l->n.inside[header->preds.at[i]]) {
            if (!constant(m, p->args[i], &v) || (have_start && v != *start)) return false;
            *start = v, have_start = true;
            continue;
        }
        const Instr *add = instr(m, p->args[i]);
        if (add->op != OP_ADD || add->args[0] != phi || !constant(m, add->args[1], &v)) return false;
        if (have_step && v != *step) return false;
        *step = v, have_step = true;
    }
    return have_start && have_step;
}

/* How often the header runs, where its branch leaves the loop once the counter reaches a constant; else 0. */
static uint64_t count_rounds(const IrModule *m, const Loop *l) {
    const Block *header = &m->blocks.at[l->n.header];
    const Instr *branch = instr(m, header->instrs.at[header->instrs.n - 1]);
    if (branch->op != OP_BRANCH || l->n.inside[header->succ[1]]) return 0;
    const Instr *cmp = instr(m, branch->args[0]);
    int64_t start = 0, step = 0, bound;
    if (cmp->op != OP_CMP || !constant(m, cmp->args[1], &bound) || !counter(m, l, cmp->args[0], &start, &step))
        return 0;
    bool up = (cmp->sub == PRED_LT || cmp->sub == PRED_LE) && step > 0;
    bool down = (cmp->sub == PRED_GT || cmp->sub == PRED_GE) && step < 0;
    const int64_t limit = INT64_C(1) << 30; /* far from any overflow, also in 32 bits */
    if ((!up && !down) || start < -limit || start > limit || bound < -limit || bound > limit || step < -limit ||
        step > limit || type_bits((Type)cmp->type) == 0)
        return 0;
    if (type_bits((Type)instr(m, cmp->args[0])->type) < 32) return 0;
    int64_t distance = up ? bound - start : start - bound;
    return distance < 0 ? 1 : (uint64_t)distance / (uint64_t)(up ? step : -step) + 2;
}

/* All loops, the smallest first, so that inner ones are decided before those around them. */
static Loops find_loops(const IrModule *m) {
    Loops loops = {0};
    DomTree tree = ir_dominators(m);
    for (BlockId b = 0; b < m->blocks.n; b++) {
        Loop l = {.rounds = 0};
        if (m->blocks.at[b].dead || m->blocks.at[b].preds.n < 2 || !loop_find(m, &tree, b, &l.n)) continue;
        l.rounds = count_rounds(m, &l);
        VEC_PUSH(m->arena, &loops, l);
        for (uint32_t k = loops.n - 1; k > 0 && loops.at[k - 1].n.size > loops.at[k].n.size; k--) {
            Loop swap = loops.at[k];
            loops.at[k] = loops.at[k - 1], loops.at[k - 1] = swap;
        }
    }
    return loops;
}

static void take_polls_away(IrModule *m, const NaturalLoop *l) {
    const Block *header = &m->blocks.at[l->header];
    for (uint32_t i = 0; i < header->preds.n; i++)
        if (l->inside[header->preds.at[i]]) m->blocks.at[header->preds.at[i]].poll = false;
}

void pass_polls(IrModule *m) {
    Loops loops = find_loops(m);
    m->long_loops = false;
    for (uint32_t i = 0; i < loops.n; i++) {
        Loop *l = &loops.at[i];
        uint64_t most = 1; /* rounds of an inner loop that runs without a poll */
        for (uint32_t k = 0; k < i; k++) {
            const Loop *inner = &loops.at[k];
            if (!l->n.inside[inner->n.header] || loop_polls(m, &inner->n)) continue;
            if (inner->rounds == 0) most = 0;
            else if (most && inner->rounds > most) most = inner->rounds;
        }
        l->rounds = l->rounds <= MOST_ROUNDS ? l->rounds * most : 0;
        if (l->rounds && l->rounds <= MOST_ROUNDS) take_polls_away(m, &l->n);
        else if (!loop_polls(m, &l->n)) m->long_loops = true;
    }
}
