/* unroll.c - which loops of a function must be copies of their bodies, found from what inference can't type.
 *
 * A `for` loop over a tuple, a range or the like, whose length is known, is a loop at run time as long as its body can
 * be typed once for all items. Where it can't (items of different types, names as strings, a list that gets longer),
 * the innermost such loop around is unrolled, and the function is inferred again, until nothing is wrong or nothing
 * helps. What is still wrong then is reported from the last version that repaired something. */
#include "evaluator.h"

#include <string.h>

enum { MAX_TIMES = 1024, MAX_ROUNDS = 12 };

/* ---- how often a loop runs ---------------------------------------------------------------------------- */

/* The iterator that a loop starts with, if its header tests one: the same on every way in. */
static bool loop_trips(Eval *e, const Instance *inst, PyBlockId header, Wide *n) {
    const PyFunc *f = inst->f;
    const PyBlock *h = &f->blocks.at[header];
    if (!h->loop_header || h->term != PYT_BRANCH || f->instrs.at[h->arg].op != PY_ITER_HAS) return false;
    const PyInstr *it = &f->instrs.at[f->instrs.at[h->arg].args[0]];
    if (it->op != PY_PHI || it->block != header) return false;
    bool found = false;
    for (uint32_t i = 0; i < it->nargs; i++) {
        Wide m;
        if (h->preds.at[i] >= header || !infer_edge_taken(inst, h->preds.at[i], header)) continue;
        if (!iter_trips(e, inst->cell[it->args[i]], &m) || (found && m != *n)) return false;
        *n = m;
        found = true;
    }
    return found && *n > 0 && *n <= MAX_TIMES;
}

static uint32_t find_loops(Eval *e, const Instance *inst, PyLoop *loops) {
    const PyFunc *f = inst->f;
    uint32_t n = 0;
    Wide times = 0;
    for (PyBlockId b = 0; b < f->blocks.n; b++) {
        if (!inst->reached[b] || !loop_trips(e, inst, b, &times)) continue;
        bool *inside = ARENA_ARRAY(e->arena, bool, f->blocks.n);
        if (!pyloop_body(f, b, inside)) continue;
        PyLoop loop = {.header = b, .inside = inside, .times = (uint32_t)times};
        for (PyBlockId i = 0; i < f->blocks.n; i++) loop.size += inside[i];
        loops[n++] = loop;
    }
    return n;
}

/* ---- what is wrong --------------------------------------------------------------------------------------- */
typedef struct Failure {
    PyBlockId block;
    PySpan span;
} Failure;

/* Runs every instruction once more on the final types, and tells which fail. */
static uint32_t find_failures(Eval *e, Instance *inst, Failure *out) {
    const PyFunc *f = inst->f;
    uint32_t n = 0;
    for (PyBlockId b = 0; b < f->blocks.n; b++) {
        const PyBlock *block = &f->blocks.at[b];
        bool stops = false;
        for (uint32_t i = 0; inst->reached[b] && i < block->instrs.n && !stops; i++) {
            PyRef r = block->instrs.at[i];
            uint32_t before = e->fails;
            if (f->instrs.at[r].op == PY_PHI) e->fails += inst->conflict[r] != NULL;
            else stops = !eval_step(e, e->frame, r).ty;
            if (e->fails != before) out[n++] = (Failure){b, f->instrs.at[r].span};
        }
        if (!inst->reached[b] || stops || block->term != PYT_BRANCH) continue;
        Val c = inst->cell[block->arg];
        uint32_t before = e->fails;
        if (!val_poisoned(c) && c.ty->kind != TY_UNDEF) eval_truth(e, block->term_span, c);
        if (e->fails != before) out[n++] = (Failure){b, block->term_span};
    }
    return n;
}

/* Does every place in `some` fail in `all`, too? Then unrolling has repaired nothing. */
static bool all_fail(const Failure *some, uint32_t nsome, const Failure *all, uint32_t nall) {
    for (uint32_t i = 0; i < nsome; i++) {
        uint32_t k = 0;
        while (k < nall && memcmp(&some[i].span, &all[k].span, sizeof some[i].span) != 0) k++;
        if (k == nall) return false;
    }
    return true;
}

/* The loops to unroll: the innermost around each failure, without those that hold another one of them. */
static uint32_t choose(const PyLoop *loops, uint32_t nloops, const Failure *where, uint32_t nfailures, PyLoop *out) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < nfailures; i++) {
        const PyLoop *best = NULL;
        for (uint32_t k = 0; k < nloops; k++)
            if (loops[k].inside[where[i].block] && (!best || loops[k].size < best->size)) best = &loops[k];
        bool taken = !best;
        for (uint32_t k = 0; k < n && !taken; k++) {
            taken = out[k].header == best->header || best->inside[out[k].header];
            if (taken || !out[k].inside[best->header]) continue;
            out[k] = *best; /* inside the one chosen before */
            taken = true;
        }
        if (!taken) out[n++] = *best;
    }
    for (uint32_t i = 0; i < n; i++) /* replaced ones may stand twice, or in each other */
        for (uint32_t k = i + 1; k < n;)
            if (out[i].inside[out[k].header] || out[k].inside[out[i].header]) {
                if (out[k].size < out[i].size) out[i] = out[k];
                out[k] = out[--n];
            } else {
                k++;
            }
    return n;
}

/* ---- rounds ---------------------------------------------------------------------------------------------- */
static uint32_t count_failures(Eval *e, Instance *inst, Failure **where) {
    Frame fr = {.inst = inst, .vals = inst->cell, .args = inst->args, .caller = e->frame};
    fr.at.file = inst->f->file;
    fr.at.function = inst->f->name;
    *where = ARENA_ARRAY(e->arena, Failure, inst->f->instrs.n + inst->f->blocks.n + 1);
    e->frame = &fr;
    e->depth++;
    uint32_t before = e->fails, n = find_failures(e, inst, *where);
    e->depth--;
    e->frame = fr.caller;
    e->fails = before;
    inst->fails = n + (inst->result_conflict != NULL);
    return n;
}

/* Lists that differ between the ways here may be one as lists that change. */
static void join_lists(Eval *e, const Instance *inst) {
    for (PyRef r = 0; r <= inst->f->instrs.n; r++) {
        const Conflict *c = r < inst->f->instrs.n ? inst->conflict[r] : inst->result_conflict;
        if (c && val_is_list(c->a) && val_is_list(c->b)) lists_change(e, c->a.ty->kind == TY_LIST ? c->b : c->a);
    }
}

static void unroll_loops(Eval *e, Instance *inst) {
    Failure *best, *where;
    uint32_t nbest = count_failures(e, inst, &best), n = nbest, rounds = 0;
    Instance trial = *inst;
    for (where = best; trial.fails && rounds < MAX_ROUNDS && !e->restart; rounds++) {
        PyLoop *loops = ARENA_ARRAY(e->arena, PyLoop, trial.f->blocks.n + 1),
               *chosen = ARENA_ARRAY(e->arena, PyLoop, trial.f->blocks.n + 1);
        uint32_t nchosen = choose(loops, find_loops(e, &trial, loops), where, n, chosen);
        const PyFunc *f = nchosen ? pyfunc_unroll(e->host, e->diags, trial.f, nchosen, chosen) : NULL;
        if (!f) return;
        infer_again(e, &trial, f);
        n = count_failures(e, &trial, &where);
        if (trial.fails && all_fail(best, nbest, where, n)) continue;
        Instance *next = inst->next;
        *inst = trial;
        inst->next = next;
        best = where;
        nbest = n;
    }
}

void unroll_until_typed(Eval *e, Instance *inst) {
    unroll_loops(e, inst);
    if (inst->fails) join_lists(e, inst);
}
