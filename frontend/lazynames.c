/* lazynames.c - may an array expression be changed in place?
 *
 * An expression has no memory: `t += 1` makes another one of it, and gives it to the name t. That is what NumPy does
 * only if nothing else holds the array: no other name, tuple, caller or inner function sees the change. Whether it is
 * so is read off the uses of the value; what can't be told is taken for a second name. */
#include "arrays.h"
#include "evaluator.h"

#include <string.h>

/* Instruction number `at` of a block. */
typedef struct Place {
    PyBlockId block;
    uint32_t at;
} Place;

static Place place_of(const PyFunc *f, PyRef r) {
    PyBlockId b = f->instrs.at[r].block;
    for (uint32_t i = 0; i < f->blocks.at[b].instrs.n; i++)
        if (f->blocks.at[b].instrs.at[i] == r) return (Place){b, i};
    return (Place){b, 0};
}

/* The blocks that control may enter after `from`, up to where the value is made anew. */
static bool *entered_after(Arena *arena, const PyFunc *f, Place from, PyBlockId made) {
    bool *in = ARENA_ARRAY(arena, bool, f->blocks.n + 1);
    PyBlockId *stack = ARENA_ARRAY(arena, PyBlockId, f->blocks.n + 2);
    uint32_t n = 0;
    stack[n++] = from.block;
    while (n) {
        const PyBlock *b = &f->blocks.at[stack[--n]];
        for (uint32_t s = 0; s < b->nsucc; s++) {
            if (b->succ[s] == made || in[b->succ[s]]) continue;
            in[b->succ[s]] = true;
            stack[n++] = b->succ[s];
        }
    }
    return in;
}

/* Does the use only look at elements, so that its result doesn't hold the array itself? */
static bool only_looks(const Eval *e, const Frame *fr, const PyInstr *use, PyRef r) {
    switch ((PyOp)use->op) {
    case PY_UNARY:
    case PY_BINARY:
    case PY_COMPARE:
    case PY_NOT:
    case PY_IS:
    case PY_CONTAINS:
    case PY_ATTR:
    case PY_SUBSCR:
    case PY_FORMAT: return true;
    case PY_CALL: {
        Val result = fr->vals[(PyRef)(use - fr->inst->f->instrs.at)];
        return devfn_makes(devfn_of(e, fr->vals[use->args[0]])) || !result.ty || !holds_lazy(result.ty);
    }
    case PY_STORE_SUBSCR: return use->args[2] == r && fr->vals[use->args[0]].ty->kind == TY_ARRAY;
    default: return false;
    }
}

/* Is nothing done with r after `op`, and nothing before that keeps it? */
static bool used_last(Eval *e, const Frame *fr, const PyInstr *op, PyRef r) {
    const PyFunc *f = fr->inst->f;
    Place here = place_of(f, (PyRef)(op - f->instrs.at));
    bool *after = entered_after(e->arena, f, here, f->instrs.at[r].block);
    for (PyRef k = 1; k < f->instrs.n; k++) {
        const PyInstr *use = &f->instrs.at[k];
        for (uint32_t i = 0; i < use->nargs; i++) {
            if (use->args[i] != r) continue;
            Place p = place_of(f, k);
            if (use->op == PY_PHI || after[p.block] || (p.block == here.block && p.at > here.at)) return false;
            if (use != op && !only_looks(e, fr, use, r)) return false;
        }
    }
    for (PyBlockId b = 0; b < f->blocks.n; b++)
        if (f->blocks.at[b].arg == r && (after[b] || b == here.block)) return false;
    return true;
}

static bool held_once(Eval *e, const Frame *fr, const PyInstr *op, PyRef r);

/* All expressions that the call of this function was given are held by nothing else. */
static bool given_away(Eval *e, const Frame *fr) {
    const Frame *from = fr->caller;
    if (!from || !from->in) return false;
    for (uint32_t i = 0; i < from->in->nargs; i++) {
        PyRef r = from->in->args[i];
        if (!r || !from->vals[r].ty || !holds_lazy(from->vals[r].ty)) continue;
        if (from->vals[r].ty->kind != TY_EXPR || !held_once(e, from, from->in, r)) return false;
    }
    return true;
}

static bool held_once(Eval *e, const Frame *fr, const PyInstr *op, PyRef r) {
    const PyInstr *in = &fr->inst->f->instrs.at[r];
    if (!used_last(e, fr, op, r)) return false;
    switch ((PyOp)in->op) {
    case PY_UNARY:
    case PY_BINARY:
    case PY_COMPARE: return true;
    case PY_SUBSCR: return val_is_many(fr->vals[in->args[0]]); /* a copy; of a tuple it would be the item */
    case PY_PARAM: return given_away(e, fr);
    case PY_CALL:
        if (devfn_makes(devfn_of(e, fr->vals[in->args[0]]))) return true;
        for (uint32_t i = 0; i < in->nargs; i++)
            if (fr->vals[in->args[i]].ty && holds_lazy(fr->vals[in->args[i]].ty)) return false;
        return true;
    default: return false;
    }
}

bool lazy_changes_alone(Eval *e, const Frame *fr) { return held_once(e, fr, fr->in, fr->in->args[0]); }
