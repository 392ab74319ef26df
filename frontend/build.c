/* build.c - the IR of a function from its inferred types: blocks in reverse postorder, PHIs for the parts of
 * values, conversions at the ends of the predecessors, calls inline.
 *
 * Emission happens at e->cur; a rule may leave it in another block than it found it in, so a Python block is a
 * chain of IR blocks. PHI operands are collected and entered when all edges are known. */
#include "arrays.h"
#include "evaluator.h"

#include <string.h>

/* Where the returns of a function go. */
typedef struct Body {
    Eval *e;
    Frame *fr;
    Instance *inst;
    BlockId *entry;     /* first IR block of each Python block; 0: not made yet */
    BlockId exit;       /* inline: the continuation; 0: the kernel itself */
    const bool *copies; /* PHIs into whose memory the edges copy */
    Val *memory;        /* of those */
    const bool *in_loop;
    bool *stale; /* PHIs of array expressions whose arrays may have changed on a way to them */
    Val result;  /* inline: PHIs in `exit`; ty NULL: never returns */
    bool stale_result;
} Body;

/* ---- blocks and PHIs --------------------------------------------------------------------------------- */
static bool is_later(const PySpan *a, const PySpan *b) {
    return a->line > b->line || (a->line == b->line && a->col > b->col);
}

/* Where a value is used first: the place of one that was made nowhere, such as a variable that is this or that
 * parameter. */
static PySpan first_use(const Eval *e, const PyFunc *f, PyRef r) {
    for (PyRef k = 1; k < f->instrs.n; k++) {
        const PyInstr *in = &f->instrs.at[k];
        for (uint32_t i = 0; i < in->nargs && in->op != PY_PHI; i++)
            if (in->args[i] == r && in->span.line) {
                const char *name = f->instrs.at[r].name;
                return name ? span_of_name(e, f, span_first_line(e, f, in->span), name) : in->span;
            }
    }
    return f->instrs.at[r].span;
}

/* "float64 here"; of a parameter, its name. */
static void note_type(Eval *e, Diag *d, const DiagFrame *at, const PyInstr *from, PySpan span, Val v) {
    DiagFrame here = *at;
    here.span = span;
    if (from->op == PY_PARAM && from->name)
        diag_note(e->diags, d, NULL, "'%s' is %s", from->name, val_text(e->types, v));
    else if (span.line && from->op != PY_PARAM) diag_note(e->diags, d, &here, "%s here", val_text(e->types, v));
}

static bool is_member(Eval *e, Val v) {
    HostInfo info;
    return v.ty->kind == TY_OBJECT && e->host->info(e->host->self, v.ty->obj, &info) && info.kind == HOST_ENUM;
}

static void report_conflict(Body *b, PyRef r) {
    Eval *e = b->e;
    const Conflict *c = b->inst->conflict[r];
    const PyInstr *in = &b->inst->f->instrs.at[r];
    const PyInstr *from[2] = {&b->inst->f->instrs.at[c->from_a], &b->inst->f->instrs.at[c->from_b]};
    if (from[1]->op == PY_LIST_APPEND || from[1]->op == PY_GEN_STEP) {
        e_fail(e, from[1]->span, "write a loop, or a list: [ ]", DIAG_CONSTRUCT, "a list that grows",
               "how many items there are is part of a value's type");
        return;
    }
    if (from[1]->op == PY_MAP_ADD || from[1]->op == PY_SET_ADD) {
        e_fail(e, from[1]->span, "what run time counts is an array, whose indices are the keys", DIAG_CONSTRUCT,
               from[1]->op == PY_MAP_ADD ? "a dict that grows" : "a set that grows",
               "its keys must be known when compiling");
        return;
    }
    /* A parameter has no place of its own; of an expression, what stands later in the source is a part of it. */
    bool first = from[1]->op == PY_PARAM || (!in->name && is_later(&from[0]->span, &from[1]->span));
    bool nowhere = from[0]->op == PY_PARAM && from[1]->op == PY_PARAM;
    const PySpan span = nowhere ? first_use(e, b->inst->f, r) : from[first ? 0 : 1]->span;
    Diag *d = in->name
                  ? e_diag(e, span, DIAG_CANNOT_UNIFY, in->name, val_text(e->types, c->a), val_text(e->types, c->b))
                  : e_diag(e, span, DIAG_BRANCHES_UNIFY, val_text(e->types, c->a), val_text(e->types, c->b));
    if (d && is_member(e, c->a) && is_member(e, c->b))
        diag_help(e->diags, d, "run time chooses among members of one enum: choose between their values");
    if (d && c->a.ty->kind == TY_FUNCTION && c->b.ty->kind == TY_FUNCTION)
        diag_help(e->diags, d,
                  "run time chooses among functions that use no array of the kernel's own, and no variable "
                  "that changes: give them such as arguments");
    if (d && (c->a.ty->kind == TY_TEXT || c->b.ty->kind == TY_TEXT))
        diag_help(e->diags, d, "text is put together when it is printed: print the pieces, or keep numbers");
    for (int i = 0; d && i < 2; i++)
        if (from[i]->op != PY_PARAM || in->name) note_type(e, d, &b->fr->at, from[i], from[i]->span, i ? c->b : c->a);
}

/* The IR block where a Python block begins, with its PHIs. */
static BlockId enter(Body *b, PyBlockId py) {
    if (b->entry[py]) return b->entry[py];
    Eval *e = b->e;
    BlockId saved = e->cur;
    b->entry[py] = e->cur = ir_block(e->m);
    const PyBlock *block = &b->inst->f->blocks.at[py];
    for (uint32_t i = 0; i < block->instrs.n; i++) {
        PyRef r = block->instrs.at[i];
        const PyInstr *in = &b->inst->f->instrs.at[r];
        if (in->op != PY_PHI) break;
        e_set_span(e, in->span);
        Val v = b->inst->cell[r];
        if (b->inst->conflict[r]) report_conflict(b, r);
        b->fr->vals[r] = !v.ty || b->inst->conflict[r] ? val_poison(e) : b->copies[r] ? b->memory[r] : val_phi(e, v);
    }
    e->cur = saved;
    return b->entry[py];
}

/* Operands of the PHIs of succ[s], at the end of the current IR block. When both successors are one block, it has two
 * edges from here, in this order. */
static void feed_phis(Body *b, PyBlockId from, uint32_t s) {
    Eval *e = b->e;
    const PyBlock *source = &b->inst->f->blocks.at[from];
    PyBlockId to = source->succ[s];
    bool second = s == 1 && source->succ[0] == to;
    const PyBlock *block = &b->inst->f->blocks.at[to];
    EdgeCopies copies = {0};
    enter(b, to);
    for (uint32_t i = 0; i < block->instrs.n; i++) {
        PyRef r = block->instrs.at[i];
        const PyInstr *in = &b->inst->f->instrs.at[r];
        if (in->op != PY_PHI) break;
        Val phi = b->fr->vals[r], abs = b->inst->cell[r];
        if (val_poisoned(phi) || phi.ty->kind == TY_UNDEF) continue;
        int skip = second;
        for (uint32_t p = 0; p < in->nargs; p++) {
            if (block->preds.at[p] != from) continue;
            if (skip-- > 0) continue;
            Val v = maybe_narrowed(b->fr, from, to, in->args[p], b->fr->vals[in->args[p]]);
            bool unassigned = v.ty && v.ty->kind == TY_UNDEF;
            b->stale[r] |= v.ty && !many_is_fresh(e, v);
            if (b->copies[r] && unassigned) break;
            if (b->copies[r]) edge_read(e, &copies, phi, v);
            else val_phi_feed(e, phi, e->cur, unassigned ? val_zero(e, abs) : val_coerce(e, v, abs));
            break;
        }
    }
    edge_write(e, &copies);
}

/* Do edges into the block copy arrays? */
static bool copies_into(const Body *b, PyBlockId to) {
    const PyBlock *block = &b->inst->f->blocks.at[to];
    for (uint32_t i = 0; i < block->instrs.n && b->inst->f->instrs.at[block->instrs.at[i]].op == PY_PHI; i++)
        if (b->copies[block->instrs.at[i]]) return true;
    return false;
}

static void jump_to(Body *b, PyBlockId from, uint32_t s) {
    PyBlockId to = b->inst->f->blocks.at[from].succ[s];
    feed_phis(b, from, s);
    e_jump(b->e, enter(b, to));
}

/* ---- ends of blocks ---------------------------------------------------------------------------------- */
static Val used(Body *b, PyBlockId py, PyRef r, PySpan span) {
    check_defined(b->e, b->fr, py, r, span);
    Val v = b->fr->vals[r];
    return v.ty && v.ty->kind == TY_UNDEF ? val_poison(b->e) : v;
}

static void end_branch(Body *b, PyBlockId py, const PyBlock *block) {
    Eval *e = b->e;
    bool *taken = b->inst->edge[py];
    Val c = eval_truth(e, block->term_span, used(b, py, block->arg, block->term_span));
    if (taken[0] != taken[1]) {
        jump_to(b, py, taken[0] ? 0 : 1);
        return;
    }
    Ref cond = val_poisoned(c) ? REF_NONE : val_ref(e, c);
    if (block->succ[0] != block->succ[1] && !copies_into(b, block->succ[0]) && !copies_into(b, block->succ[1])) {
        feed_phis(b, py, 0);
        feed_phis(b, py, 1);
        e_branch(e, cond, enter(b, block->succ[0]), enter(b, block->succ[1]));
        return;
    }
    /* PHIs tell two edges to one block apart by their blocks; and what an edge copies happens on that edge alone. */
    BlockId yes = ir_block(e->m), no = ir_block(e->m);
    e_branch(e, cond, yes, no);
    e->cur = yes;
    jump_to(b, py, 0);
    e->cur = no;
    jump_to(b, py, 1);
}

/* The type of what goes back to Python, for the caller that makes Python objects of it. */
ArgType argtype_of(Eval *e, Ty ty) {
    static const ArgKind weak[DT__COUNT] = {
        [DT_BOOL] = ARG_WEAK_BOOL, [DT_I64] = ARG_WEAK_INT, [DT_F64] = ARG_WEAK_FLOAT, [DT_C128] = ARG_WEAK_COMPLEX};
    ArgType t = {.kind = ARG_NONE, .dtype = DT_NONE};
    if (ty->kind == TY_SCALAR) {
        t.kind = (uint8_t)(ty->weak ? weak[ty->dtype] : ARG_SCALAR);
        t.dtype = ty->dtype;
    } else if (ty->kind == TY_POINTER) {
        t.kind = ARG_POINTER;
        t.dtype = ty->dtype;
    } else if (ty->kind == TY_TIME) {
        t.kind = ARG_RECORD;
        t.dtype = DT_RECORD;
        t.record = ty->record;
        t.align = (uint8_t)ty->record->align;
    } else if (ty->kind == TY_TUPLE) {
        ArgType *items = ARENA_ARRAY(e->arena, ArgType, ty->n + 1);
        for (uint32_t i = 0; i < ty->n; i++) items[i] = argtype_of(e, ty->items[i]);
        t.kind = ARG_TUPLE;
        t.object = ty->obj;
        t.nitems = ty->n;
        t.items = items;
        t.fields = ty->fields;
    }
    return t;
}

static void return_from_kernel(Body *b, PySpan span, Val v) {
    Eval *e = b->e;
    if (val_poisoned(v)) return;
    if (!e->req->host_function) {
        if (v.ty->kind != TY_NONE) e_fail(e, span, "store the result in an array", DIAG_KERNEL_RETURNS, e_text(e, v));
        else e_ret(e, 0, NULL);
        return;
    }
    if (v.ty->kind == TY_NONE) {
        e_ret(e, 0, NULL);
        return;
    }
    if (!val_poisoned(b->inst->result)) v = val_coerce(e, v, b->inst->result);
    CallSite site = {.span = span, .name = b->inst->f->name};
    v = call_declared_result(e, &site, b->inst, v);
    if (val_poisoned(v)) return;
    RefVec out = {0};
    ArgType type;
    if (!host_result(e, span, v, &out, &type)) return;
    if (e->req->result) *e->req->result = type;
    e->m->nresults = out.n;
    for (uint32_t i = 0; i < out.n; i++) e->m->results[i] = out.at[i] ? (Type)e->m->instrs.at[out.at[i]].type : T_VOID;
    e_ret(e, out.n, out.at);
}

static void end_return(Body *b, PyBlockId py, const PyBlock *block) {
    Eval *e = b->e;
    Val v = block->arg ? used(b, py, block->arg, block->term_span) : val_none(e);
    if (block->arg) v = maybe_narrowed(b->fr, py, py, block->arg, v);
    if (!b->exit) {
        return_from_kernel(b, block->term_span, v);
        return;
    }
    if (!val_poisoned(b->inst->result) && !val_poisoned(v)) {
        b->stale_result |= !many_is_fresh(e, v);
        val_phi_feed(e, b->result, e->cur, val_coerce(e, v, b->inst->result));
    }
    e_jump(e, b->exit);
}

static void end_raise(Body *b, PyBlockId py, const PyBlock *block) {
    Eval *e = b->e;
    if (!block->arg) {
        e_fail(e, block->term_span, "name the exception", DIAG_BARE_RAISE);
        return;
    }
    Val v = eval_exception(e, block->term_span, used(b, py, block->arg, block->term_span));
    if (!val_poisoned(v)) eval_raise(e, block->term_span, v);
}

static void end_block(Body *b, PyBlockId py) {
    const PyBlock *block = &b->inst->f->blocks.at[py];
    b->fr->at.span = block->term_span;
    b->fr->guarded = block->term == PYT_BRANCH && b->inst->f->instrs.at[block->arg].guarded;
    e_set_span(b->e, block->term_span);
    switch (block->term) {
    case PYT_JUMP: jump_to(b, py, 0); break;
    case PYT_BRANCH: end_branch(b, py, block); break;
    case PYT_RETURN: end_return(b, py, block); break;
    case PYT_RAISE: end_raise(b, py, block); break;
    case PYT_UNREACHABLE: break;
    }
    if (!e_terminated(b->e)) e_ret(b->e, 0, NULL); /* after an error; never reached otherwise */
}

/* ---- the body ---------------------------------------------------------------------------------------- */
/* For inspect('types'): the expressions of the kernel itself that have values; not literals, names and steps of loops.
 */
static void record_type(Body *b, const PyInstr *in, Val v) {
    Eval *e = b->e;
    if (!e->typed || b->exit || !in->span.line || val_poisoned(v) || v.ty->kind == TY_OBJECT || v.ty->kind == TY_ITER)
        return;
    switch (in->op) {
    case PY_UNARY:
    case PY_BINARY:
    case PY_COMPARE:
    case PY_NOT:
    case PY_IS:
    case PY_CONTAINS:
    case PY_ATTR:
    case PY_SUBSCR:
    case PY_TUPLE:
    case PY_LIST:
    case PY_CALL:
    case PY_CALL_EX:
    case PY_FUNCTION: break;
    default: return;
    }
    VEC_PUSH(e->arena, &e->typed->at, ((TypedSpan){in->span, ty_text(e->types, v.ty)}));
}

static void build_block(Body *b, PyBlockId py) {
    const PyBlock *block = &b->inst->f->blocks.at[py];
    b->e->cur = enter(b, py);
    if (b->in_loop[py]) b->e->epoch.other++, b->e->epoch.local++; /* what comes later in the loop came before, too */
    uint32_t named = 0;
    for (uint32_t i = 0; i < block->instrs.n; i++) {
        PyRef r = block->instrs.at[i];
        const PyInstr *in = &b->inst->f->instrs.at[r];
        if (in->op != PY_PHI) named = name_variables(b->e, b->fr, block, named, i);
        if (in->op == PY_PHI) {
            if (!b->in_loop[py] && !b->stale[r]) b->fr->vals[r] = many_renewed(b->e, b->fr->vals[r]);
            continue;
        }
        Val v = eval_step(b->e, b->fr, r);
        if (!v.ty) {
            if (!e_terminated(b->e)) e_ret(b->e, 0, NULL);
            return;
        }
        b->fr->vals[r] = v;
        if (val_poisoned(v) && !b->e->diags->nerrors && !b->e->untyped.file) b->e->untyped = b->fr->at;
        record_type(b, in, v);
    }
    name_variables(b->e, b->fr, block, named, UINT32_MAX);
    end_block(b, py);
}

static void build_body(Body *b) {
    const PyFunc *f = b->inst->f;
    if (b->inst->unsettled)
        e_fail(b->e, (PySpan){.line = f->first_line}, "give variables one type before the loop", DIAG_CONSTRUCT,
               f->name, "the types of its variables grow without end");
    b->entry = ARENA_ARRAY(b->e->arena, BlockId, f->blocks.n);
    b->copies = phis_that_copy(b->e, b->inst);
    b->in_loop = loop_blocks(b->e->arena, f);
    b->stale = ARENA_ARRAY(b->e->arena, bool, f->instrs.n);
    b->memory = ARENA_ARRAY(b->e->arena, Val, f->instrs.n);
    for (PyRef r = 1; r < f->instrs.n; r++)
        if (b->copies[r]) b->memory[r] = copying_phi(b->e, b->inst->cell[r]);
    e_jump(b->e, enter(b, 0));
    for (PyBlockId py = 0; py < f->blocks.n; py++)
        if (b->inst->reached[py]) build_block(b, py);
}

static uint32_t function_number(Eval *e, const PyFunc *f) {
    IrModule *m = e->m;
    for (uint32_t i = 0; i < m->funcs.n; i++)
        if (strcmp(m->funcs.at[i].file, f->file) == 0 && strcmp(m->funcs.at[i].name, f->qualname) == 0) return i;
    VEC_PUSH(e->arena, &m->funcs, ((IrFuncName){f->file, f->qualname, def_line(e, f)}));
    return m->funcs.n - 1;
}

static Frame make_frame(Eval *e, Instance *inst, const Val *args) {
    Frame fr = {.inst = inst, .args = args, .caller = e->frame, .func = function_number(e, inst->f)};
    fr.vals = ARENA_ARRAY(e->arena, Val, inst->f->instrs.n);
    fr.at.file = inst->f->file;
    fr.at.function = inst->f->qualname;
    if (e->frame) {
        bool inner = e->frame->library && strcmp(e->frame->inst->f->file, inst->f->file) == 0;
        fr.library = inst->f->library || inner;
        DiagFrame *caller = ARENA_NEW(e->arena, DiagFrame); /* diagnostics keep it */
        *caller = e->frame->at;
        fr.at.caller = caller;
        fr.inlined_at = e->span;
    }
    return fr;
}

/* Where a function returns this value. */
static PySpan return_span(const Instance *inst, PyRef r) {
    const PyInstr *in = &inst->f->instrs.at[r];
    if (in->op != PY_PARAM && in->span.line) return in->span;
    for (PyBlockId k = 0; k < inst->f->blocks.n; k++) {
        const PyBlock *block = &inst->f->blocks.at[k];
        if (inst->reached[k] && block->term == PYT_RETURN && block->arg == r) return block->term_span;
    }
    return in->span;
}

static void report_result(Eval *e, const Instance *inst) {
    const Conflict *c = inst->result_conflict;
    Diag *d =
        e_diag(e, return_span(inst, c->from_b), DIAG_RESULT_UNIFY, inst->f->name, e_text(e, c->a), e_text(e, c->b));
    DiagFrame at = e->frame->at;
    at.span = return_span(inst, c->from_a);
    if (d && at.span.line) diag_note(e->diags, d, &at, "%s here", e_text(e, c->a));
    if (inst->recursive) e_numba_says(e, d, "Return type of recursive function does not converge");
}

Val build_at(Eval *e, Instance *inst, const Callee *callee, const Val *args, BlockId exit) {
    Frame fr = make_frame(e, inst, args);
    fr.closure = callee->closure;
    fr.self = callee->self;
    Body b = {.e = e, .fr = &fr, .inst = inst, .exit = exit};
    uint32_t span = e->span;
    BlockId from = e->cur;
    e->frame = &fr;
    e->depth++;
    if (inst->result_conflict) report_result(e, inst);
    e->cur = b.exit;
    b.result = inst->result.ty ? val_phi(e, inst->result) : (Val){0};
    e->cur = from;
    build_body(&b);
    e->depth--;
    e->frame = fr.caller;
    e->cur = b.exit;
    e->span = span;
    return b.result.ty && !b.stale_result ? many_renewed(e, b.result) : b.result;
}

Val build_inline(Eval *e, Instance *inst, const Callee *callee, const Val *args) {
    return build_at(e, inst, callee, args, ir_block(e->m));
}

/* A kernel or function called from Python that calls itself: its body is that of the recursion. */
static void build_kernel_again(Eval *e, Instance *inst, Body *b) {
    Val v = build_recursive(e, inst, &inst->callee, b->fr->args);
    return_from_kernel(b, (PySpan){.line = inst->f->first_line}, v.ty ? v : val_none(e));
    if (!e_terminated(e)) e_ret(e, 0, NULL);
}

void build_kernel(Eval *e, Instance *inst, const Val *args) {
    Frame fr = make_frame(e, inst, args);
    Body b = {.e = e, .fr = &fr, .inst = inst};
    e->frame = &fr;
    if (inst->recursive) build_kernel_again(e, inst, &b);
    else {
        if (inst->result_conflict) report_result(e, inst);
        build_body(&b);
    }
    e_finish_phis(e);
    finish_recursions(e);
    e->frame = fr.caller;
}
