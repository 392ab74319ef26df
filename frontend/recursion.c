/* recursion.c - functions that call themselves at run time.
 *
 * Where constants end a recursion, each call is an instance of its own and is built inline. Where a call meets the same
 * instance in the chain of its callers, only run time knows the end. Then the function gets one body inside the kernel,
 * a loop whose variables are the parameters: a call puts what its caller still needs into a stack in the thread's own
 * memory and jumps to the body's entry; the body's exit looks in its frame where to go on. So there are no calls that
 * only a machine's stack bounds: how deep they go is checked, and barriers, messages and exceptions work as in any
 * loop.
 *
 * This file finds such calls and builds the body and the calls. What has to be kept over a call shows when everything
 * is built: frames.c adds it, and the ways back. Until then a call is a straight line, as if it were an instruction. */
#include "evaluator.h"

enum {
    MOST_CONSTANTS = 256, /* instances of a function inside itself, before its constants become run-time values */
    MAX_BODIES = 400
};

/* ---- finding ----------------------------------------------------------------------------------------- */
static bool same_arguments(const Instance *inst, const PyFunc *f, uint32_t n, const Val *args) {
    if (inst->base != f || inst->nargs != n) return false;
    uint32_t k = 0;
    while (k < n && val_same(inst->args[k], args[k])) k++;
    return k == n;
}

Recursion *recursion_of(const Eval *e, const Instance *inst) {
    Recursion *r = e->recursion;
    while (r && r->inst != inst) r = r->around;
    return r;
}

Instance *running_instance(const Eval *e, const PyFunc *f, const Callee *c, uint32_t n, const Val *args) {
    for (const Frame *fr = e->frame; fr; fr = fr->caller) {
        if (!same_arguments(fr->inst, f, n, args) || !same_callee(e, &fr->inst->callee, c)) continue;
        if (!e->building || recursion_of(e, fr->inst)) return fr->inst;
    }
    return NULL;
}

/* ---- constants that change from call to call --------------------------------------------------------- */
Val val_without_constants(Eval *e, Val v) {
    if (v.ty->kind == TY_SCALAR) return (Val){.ty = v.ty};
    Val *items = ARENA_ARRAY(e->arena, Val, v.ty->n + 1);
    for (uint32_t i = 0; i < v.ty->n; i++) items[i] = val_without_constants(e, v.items[i]);
    v.items = items;
    return v;
}

static bool is_widened(const Eval *e, const PyFunc *f, uint32_t param) {
    for (uint32_t i = 0; i < e->widened.n; i++)
        if (e->widened.at[i].f == f && e->widened.at[i].param == param) return true;
    return false;
}

bool widen_recursion(Eval *e, const PyFunc *f, uint32_t n, const Val *args) {
    const Frame *fr = e->frame;
    while (fr && (fr->inst->base != f || fr->inst->nargs != n)) fr = fr->caller;
    for (uint32_t k = 0; fr && k < n; k++) {
        Val had = fr->inst->args[k];
        if (had.ty != args[k].ty || val_same(had, args[k]) || is_widened(e, f, k)) continue;
        VEC_PUSH(e->arena, &e->widened, ((Widened){f, k}));
        e->restart = true;
    }
    return e->restart;
}

bool recursion_multiplies(Eval *e, const PyFunc *f) { return func_entry(e, f)->ninstances > MOST_CONSTANTS; }

void widen_arguments(Eval *e, const PyFunc *f, uint32_t n, Val *args) {
    for (uint32_t k = 0; e->widened.n && k < n; k++)
        if (is_widened(e, f, k) && !val_poisoned(args[k]))
            args[k] = val_coerce(e, args[k], val_without_constants(e, val_abstract(e, args[k])));
}

/* ---- the frame --------------------------------------------------------------------------------------- */
static Ref stack_address(Eval *e, Ref place) {
    if (e->stack == REF_NONE)
        e->stack = e_emit_early(e, 0, OP_ALLOCA, T_PTRL, 0, NULL, 0); /* frames.c says how large */
    return e_emit(e, OP_ADDR, T_PTRL, 2, (Ref[]){e->stack, place}, 0, 1);
}

Ref frame_memory(Eval *e, uint64_t bytes) {
    enum { ALIGN = 16, LARGEST = 1 << 20 };
    Recursion *r = e->recursion;
    r->bytes = (r->bytes + ALIGN - 1) / ALIGN * ALIGN;
    Ref offset = e_emit_early(e, r->entry, OP_CONST, T_I32, 0, NULL, r->bytes);
    if (bytes > LARGEST) bytes = LARGEST; /* frames.c reports it */
    r->bytes += (uint32_t)bytes;
    return e_emit_early(e, r->entry, OP_ADDR, T_PTRL, 2, (Ref[]){r->frame, offset}, 1);
}

/* ---- calls ------------------------------------------------------------------------------------------- */

/* The refs of a value's parts. */
static void collect_refs(Eval *e, Val v, RefVec *out) {
    for (int i = 0; i < 2; i++)
        if (v.ref[i] != REF_NONE) VEC_PUSH(e->arena, out, v.ref[i]);
    for (uint32_t i = 0; i < v.ty->n; i++) collect_refs(e, v.items[i], out);
}

/* The arguments as the PHIs of the parameters take them, and what an inner function has captured. */
static void collect_arguments(Eval *e, const Instance *inst, Val closure, const Val *args, RefVec *out) {
    for (uint32_t i = 0; i < inst->nargs; i++) collect_refs(e, val_coerce(e, args[i], inst->args[i]), out);
    if (closure.ty) collect_refs(e, val_coerce(e, closure, inst->callee.closure), out);
}

/* Is a part of the type of this kind; a pointer, into this memory? */
static bool holds(Ty ty, TyKind kind, Type space) {
    if (ty->kind == kind && (kind != TY_PTR || ty->space == space)) return true;
    for (uint32_t i = 0; i < ty->n; i++)
        if (holds(ty->items[i], kind, space)) return true;
    return false;
}

/* An expression of arrays is computed where it is used: it has no value that could be kept. What an array of the frame
 * points to is gone after the call. */
static bool can_recur(Eval *e, PySpan span, const Instance *inst) {
    for (uint32_t i = 0; i < inst->nargs; i++)
        if (holds(inst->args[i].ty, TY_EXPR, T_VOID)) {
            e_fail(e, span, "give it an array that holds the result", DIAG_CONSTRUCT, "this argument",
                   "arithmetic on whole arrays can't be passed to a function that calls itself");
            return false;
        }
    if (inst->result.ty && holds(inst->result.ty, TY_PTR, T_PTRL)) {
        e_fail(e, span, "store the result in an array that it gets as an argument", DIAG_CONSTRUCT,
               arena_printf(e->arena, "the result of %s()", inst->f->name),
               "an array of a function that calls itself ends with the call");
        return false;
    }
    return true;
}

/* Where the next frame lies: `step` bytes, to be set, behind the innermost activation's. Raises if there is no room. */
static Ref next_place(Eval *e, PySpan span, const Instance *inst, Ref *step, Ref *limit) {
    *step = e_emit_early(e, 0, OP_CONST, T_I32, 0, NULL, 0);
    *limit = e_emit_early(e, 0, OP_CONST, T_I32, 0, NULL, 0);
    Ref place = e_emit(e, OP_ADD, T_I32, 2, (Ref[]){e->recursion->place, *step}, 0, 0);
    e_raise_if(e, span, e_cmp(e, PRED_GT, place, *limit), "RecursionError",
               arena_printf(e->arena, "maximum recursion depth exceeded in %s()", inst->f->name));
    return place;
}

static void feed_refs(Eval *e, const RefVec *phis, BlockId pred, const RefVec *values) {
    for (uint32_t i = 0; i < phis->n && i < values->n; i++) e_phi_add(e, phis->at[i], pred, values->at[i]);
}

static void store_number(Eval *e, Ref place, uint32_t number) {
    e_store(e, stack_address(e, place), e_int(e, T_U32, number));
}

/* PHIs of the results where the call comes back; a zero stands for each until frames.c knows the way. */
static Val results_back(Eval *e, const Recursion *r, CallAgain *c) {
    Val v = val_phi(e, r->inst->result);
    collect_refs(e, v, &c->results);
    for (uint32_t i = 0; i < c->results.n; i++) {
        Type t = (Type)e->m->instrs.at[c->results.at[i]].type;
        e_phi_add(e, c->results.at[i], c->from, e_emit_early(e, 0, OP_CONST, t, 0, NULL, 0));
    }
    return v;
}

Val call_again(Eval *e, PySpan span, Recursion *r, const Callee *callee, const Val *args) {
    CallAgain c = {.caller = e->recursion};
    if (!can_recur(e, span, r->inst)) return val_poison(e);
    e_set_span(e, span);
    c.base = next_place(e, span, r->inst, &c.step, &c.limit);
    collect_arguments(e, r->inst, callee->closure, args, &c.args);
    store_number(e, c.base, r->calls.n + 1);
    c.from = e->cur;
    c.back = ir_block(e->m);
    BlockId after = ir_block(e->m);
    e_jump(e, c.back);
    e->cur = c.back;
    Val result = results_back(e, r, &c);
    e_jump(e, after);
    e->cur = after;
    e->epoch.other++, e->epoch.local++;
    VEC_PUSH(e->arena, &r->calls, c);
    return result;
}

/* ---- the body ---------------------------------------------------------------------------------------- */

/* The entry: PHIs, the frame's address. */
static void open_body(Eval *e, Recursion *r, BlockId from, Ref place, const RefVec *args, Val *params, Val *closure) {
    const Instance *inst = r->inst;
    e->cur = r->entry;
    r->place = e_phi(e, T_I32);
    e_phi_add(e, r->place, from, place);
    for (uint32_t i = 0; i < inst->nargs; i++) {
        params[i] = val_phi(e, inst->args[i]);
        collect_refs(e, params[i], &r->params);
    }
    if (inst->callee.closure.ty) {
        *closure = val_phi(e, inst->callee.closure);
        collect_refs(e, *closure, &r->params);
    }
    feed_refs(e, &r->params, from, args);
    r->frame = stack_address(e, r->place);
}

Val build_recursive(Eval *e, Instance *inst, const Callee *callee, const Val *args) {
    PySpan span = e->frame->at.span;
    if (!can_recur(e, span, inst)) return val_poison(e);
    if (e->recursions.n >= MAX_BODIES)
        return e_fail(e, span, "let fewer of them call each other", DIAG_TOO_MANY_BODIES, (unsigned)MAX_BODIES,
                      inst->f->name);
    Recursion *r = ARENA_NEW(e->arena, Recursion);
    RefVec given = {0};
    *r = (Recursion){.inst = inst, .bytes = 4, .around = e->recursion};
    Ref place = e->recursion ? next_place(e, span, inst, &r->outer_step, &r->outer_limit) : e_int(e, T_I32, 0);
    collect_arguments(e, inst, callee->closure, args, &given);
    store_number(e, place, 0);
    r->entry = ir_block(e->m);
    r->exit = ir_block(e->m);
    r->done = ir_block(e->m);
    BlockId from = e->cur;
    e_jump(e, r->entry);
    Val *params = ARENA_ARRAY(e->arena, Val, inst->nargs + 1);
    Callee inner = *callee;
    open_body(e, r, from, place, &given, params, &inner.closure);
    e->recursion = r;
    e->epoch.other++, e->epoch.local++;
    Val result = build_at(e, inst, &inner, params, r->exit);
    e->recursion = r->around;
    if (result.ty && !val_poisoned(result)) collect_refs(e, result, &r->results);
    e_jump(e, r->done);
    e->cur = r->done;
    e->epoch.other++, e->epoch.local++;
    VEC_PUSH(e->arena, &e->recursions, r);
    return result;
}
