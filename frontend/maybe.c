/* maybe.c - values that may be None: what a variable or a result is that is None on one path and something on another.
 *
 * Such a value has two items: whether it is there, and the value, which means nothing if it isn't. It is compared with
 * None, tested, kept in variables and handed on; any other use of it needs the value, and raises TypeError where that
 * is None, as Python does, unless a branch before has made sure that it is there. */
#include "evaluator.h"

/* Can a value of this type be told from None at run time? Not what only compilation knows, nor arrays of the thread's
 * own, which must have a place. */
static bool may_be_none(Ty ty) {
    if (ty->made) return true;
    bool kind = ty->kind == TY_SCALAR || ty->kind == TY_RECORD || ty->kind == TY_TIME || ty->kind == TY_TUPLE ||
                ty->kind == TY_INSTANCE || ty->kind == TY_ARRAY || (ty->kind == TY_PTR && ty->space != T_PTRL);
    for (uint32_t i = 0; kind && i < ty->n; i++) kind = may_be_none(ty->items[i]);
    return kind;
}

static Val maybe(Eval *e, Val there, Val value) {
    return val_composite(e, TY_MAYBE, 0, 2, (Val[]){val_convert(e, there, e_python_bool(e)), value});
}

/* Of None and a value, or of two that may be None; false: they aren't such. */
bool maybe_join(Eval *e, Val a, Val b, Val *out) {
    if (a.ty->kind != TY_MAYBE && b.ty->kind != TY_MAYBE && a.ty->kind != TY_NONE && b.ty->kind != TY_NONE)
        return false;
    Val there[2], value[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++) {
        Val v = i ? b : a;
        if (v.ty->kind == TY_MAYBE) there[i] = v.items[0], value[i] = v.items[1];
        else there[i] = val_bool(e, v.ty->kind != TY_NONE);
        if (v.ty->kind != TY_MAYBE && v.ty->kind != TY_NONE) value[i] = v;
        if (value[i].ty && !may_be_none(value[i].ty)) return false;
    }
    Val t, v;
    if (!val_join(e, there[0], there[1], &t) || !val_join(e, value[0], value[1], &v)) return false;
    *out = val_abstract(e, maybe(e, t, v));
    return true;
}

Val maybe_coerce(Eval *e, Val v, Val target) {
    Val there = v.ty->kind == TY_MAYBE ? v.items[0] : val_bool(e, v.ty->kind != TY_NONE);
    Val value = v.ty->kind == TY_NONE ? val_zero(e, target.items[1])
                                      : val_coerce(e, v.ty->kind == TY_MAYBE ? v.items[1] : v, target.items[1]);
    Val *items = ARENA_ARRAY(e->arena, Val, 2);
    items[0] = val_coerce(e, there, target.items[0]);
    items[1] = value;
    return (Val){.ty = target.ty, .items = items};
}

Val maybe_is_none(Eval *e, PySpan span, Val v, bool negate) {
    return negate ? v.items[0] : eval_not(e, span, v.items[0]);
}

Val maybe_truth(Eval *e, PySpan span, Val v) {
    return eval_logic(e, true, v.items[0], eval_truth(e, span, v.items[1]));
}

/* The value; `known`: it is there. */
Val maybe_value(Eval *e, PySpan span, Val v, bool known) {
    Val there = v.items[0];
    if (known || (val_const(there) && there.i)) return v.items[1];
    if (e->building) e_raise_if(e, span, val_ref(e, eval_not(e, span, there)), "TypeError", "this value is None");
    return v.items[1];
}

/* ---- what branches before have made sure of --------------------------------------------------------------- */

static bool is_none(const Frame *fr, PyRef r) { return fr->vals[r].ty && fr->vals[r].ty->kind == TY_NONE; }

/* Does the condition, being this, say that value r isn't None? */
static bool says_there(const Frame *fr, PyRef condition, bool holds, PyRef r) {
    const PyInstr *in = &fr->inst->f->instrs.at[condition];
    for (; in->op == PY_NOT; holds = !holds) condition = in->args[0], in = &fr->inst->f->instrs.at[condition];
    if (condition == r) return holds; /* `if v:` */
    bool unequal = in->op == PY_IS ? in->imm != 0 : in->op == PY_COMPARE && in->imm == PYC_NE;
    if (in->op != PY_IS && !(in->op == PY_COMPARE && (in->imm == PYC_EQ || in->imm == PYC_NE))) return false;
    bool one = (in->args[0] == r && is_none(fr, in->args[1])) || (in->args[1] == r && is_none(fr, in->args[0]));
    return one && holds == unequal;
}

static bool edge_says(const Frame *fr, PyBlockId from, PyBlockId to, PyRef r) {
    const PyBlock *p = &fr->inst->f->blocks.at[from];
    bool two = p->term == PYT_BRANCH && p->succ[0] != p->succ[1];
    return two && says_there(fr, p->arg, p->succ[0] == to, r);
}

/* Is value r there in the block, by the branches on the one way to it? */
bool maybe_is_known(const Frame *fr, PyBlockId b, PyRef r) {
    enum { MOST = 200 };
    const PyFunc *f = fr->inst->f;
    for (int steps = 0; steps < MOST && f->blocks.at[b].preds.n == 1; steps++) {
        PyBlockId from = f->blocks.at[b].preds.at[0];
        if (edge_says(fr, from, b, r)) return true;
        b = from;
    }
    return false;
}

/* Value r as it goes along an edge, or out of the function (to: the block itself). */
Val maybe_narrowed(const Frame *fr, PyBlockId from, PyBlockId to, PyRef r, Val v) {
    if (!v.ty || v.ty->kind != TY_MAYBE) return v;
    return (from != to && edge_says(fr, from, to, r)) || maybe_is_known(fr, from, r) ? v.items[1] : v;
}
