/* infer.c - types and constants of one function: sparse conditional propagation to a fixed point.
 *
 * Only executable edges carry values, so branches that a constant decides are dropped before they are typed.
 * Blocks are swept in their order until nothing rises, again from where a change may be seen first. A PHI joins its
 * executable operands; POISON and unassigned operands don't count there: what is wrong is reported when the function is
 * built, from the final types.
 *
 * An instance (function, types and constants of its arguments) is inferred once. */
#include "evaluator.h"

enum {
    FREE_SWEEPS = 12,
    MAX_SWEEPS = 60,
    FREE_ROUNDS = 4,
    MAX_ROUNDS = 12,
    BUCKETS = 1024,
    MAX_STEPS = 2 * 1000 * 1000 /* of which each takes a microsecond */
};

/* ---- instances --------------------------------------------------------------------------------------- */
bool same_callee(const Eval *e, const Callee *a, const Callee *b) {
    if (a->code != b->code && !e->host->same(e->host->self, a->code, b->code)) return false;
    return !a->closure.ty == !b->closure.ty && (!a->closure.ty || val_same(a->closure, b->closure));
}

FuncEntry *func_entry(Eval *e, const PyFunc *f) {
    uint32_t i = 0;
    while (e->funcs.at[i].f != f) i++;
    return &e->funcs.at[i];
}

static uint32_t hash_call(const PyFunc *f, const Callee *c, uint32_t n, const Val *args) {
    uint32_t h = hash_mix(n, (uintptr_t)f);
    if (c->closure.ty) h = hash_mix(h, val_hash(c->closure));
    for (uint32_t k = 0; k < n; k++) h = hash_mix(h, val_hash(args[k]));
    return h;
}

static Instance *find_instance(const Eval *e, uint32_t hash, const PyFunc *f, const Callee *c, uint32_t n,
                               const Val *args) {
    for (Instance *i = e->alike ? e->alike[hash % BUCKETS] : NULL; i; i = i->next_alike) {
        if (i->hash != hash || i->base != f || i->nargs != n || !same_callee(e, &i->callee, c)) continue;
        uint32_t k = 0;
        while (k < n && val_same(i->args[k], args[k])) k++;
        if (k == n) return i;
    }
    return NULL;
}

static void keep_instance(Eval *e, Instance *i, uint32_t hash) {
    if (!e->alike) e->alike = ARENA_ARRAY(e->arena, Instance *, BUCKETS);
    i->hash = hash;
    i->next = e->instances;
    i->next_alike = e->alike[hash % BUCKETS];
    e->instances = e->alike[hash % BUCKETS] = i;
    func_entry(e, i->base)->ninstances++;
}

/* In each bucket, too, the last one that was made comes first. */
void forget_instances(Eval *e, const Instance *since) {
    for (Instance *i = e->instances; i != since; i = e->instances = i->next) {
        e->alike[i->hash % BUCKETS] = i->next_alike;
        func_entry(e, i->base)->ninstances--;
    }
}

/* Nothing is known of the function yet. */
static void start(Eval *e, Instance *i, const PyFunc *f) {
    i->f = f;
    i->cell = ARENA_ARRAY(e->arena, Val, f->instrs.n);
    i->maybe_undef = ARENA_ARRAY(e->arena, bool, f->instrs.n);
    i->conflict = ARENA_ARRAY(e->arena, Conflict *, f->instrs.n);
    i->edge = arena_alloc(e->arena, f->blocks.n * sizeof *i->edge);
    i->reached = ARENA_ARRAY(e->arena, bool, f->blocks.n);
    i->stops = ARENA_ARRAY(e->arena, bool, f->blocks.n);
    i->result = (Val){0};
    i->result_conflict = NULL;
    i->unsettled = false;
}

static Instance *new_instance(Eval *e, uint32_t hash, const PyFunc *f, const Callee *c, uint32_t n, const Val *args) {
    Instance *i = ARENA_NEW(e->arena, Instance);
    i->base = f;
    i->callee = *c;
    if (c->closure.ty) i->callee.closure = val_abstract(e, c->closure);
    if (c->self.ty) i->callee.self = val_abstract(e, c->self);
    i->nargs = n;
    i->args = ARENA_ARRAY(e->arena, Val, n + 1);
    for (uint32_t k = 0; k < n; k++) i->args[k] = val_abstract(e, args[k]);
    start(e, i, f);
    keep_instance(e, i, hash);
    return i;
}

/* ---- its end -------------------------------------------------------------------------------------------- */

/* Functions that call each other with other types or constants each time may have more versions than anybody can wait
 * for. */
void spend_steps(Eval *e, uint32_t n) {
    e->steps += n;
    if (e->steps <= MAX_STEPS || e->spent) return;
    const Frame *kernel = e->frame;
    while (kernel->caller) kernel = kernel->caller;
    const FuncEntry *most = e->funcs.at;
    for (uint32_t i = 0; i < e->funcs.n; i++)
        if (e->funcs.at[i].ninstances > most->ninstances) most = &e->funcs.at[i];
    Diag *d = diag_report(e->diags, DIAG_TOO_MANY_VERSIONS, &kernel->at, most->f->name);
    diag_help(e->diags, d, "let fewer of its calls differ in them: write a loop, keep numbers in an array");
    e->spent = e->restart = true;
}

/* ---- one sweep --------------------------------------------------------------------------------------- */
typedef struct Sweep {
    Eval *e;
    Frame *fr;
    Instance *inst;
    const PyBlockId *loop_start; /* of each block */
    PyBlockId block;             /* being swept */
    PyBlockId again;             /* where the next sweep starts; blocks.n: nothing changed */
    uint32_t number;             /* of sweeps since the last new edge */
} Sweep;

/* Where the outermost loop around each block starts (the block itself without one): a change in the block is seen by
 * later blocks in the same sweep, and by no block before that one. */
static PyBlockId *loop_starts(const Eval *e, const PyFunc *f) {
    PyBlockId *start = ARENA_ARRAY(e->arena, PyBlockId, f->blocks.n);
    for (PyBlockId b = 0; b < f->blocks.n; b++) start[b] = b;
    for (PyBlockId b = 0; b < f->blocks.n; b++) {
        const PyBlock *block = &f->blocks.at[b];
        for (uint32_t s = 0; s < block->nsucc; s++)
            for (PyBlockId in = block->succ[s]; in <= b; in++)
                if (start[in] > block->succ[s]) start[in] = block->succ[s];
    }
    return start;
}

static void changed(Sweep *w) {
    PyBlockId from = w->loop_start[w->block];
    if (from < w->again) w->again = from;
}

bool infer_edge_taken(const Instance *inst, PyBlockId from, PyBlockId to) {
    const PyBlock *b = &inst->f->blocks.at[from];
    for (uint32_t s = 0; s < b->nsucc; s++)
        if (b->succ[s] == to && inst->edge[from][s]) return true;
    return false;
}

static void conflict(Sweep *w, Conflict **slot, Val a, Val b, PyRef from_a, PyRef from_b) {
    if (*slot) return;
    *slot = ARENA_NEW(w->e->arena, Conflict);
    **slot = (Conflict){a, b, from_a, from_b};
}

static bool contributes(Val v) { return v.ty && v.ty->kind != TY_POISON && v.ty->kind != TY_UNDEF; }

static void set_cell(Sweep *w, PyRef r, Val v) {
    if (val_same(w->inst->cell[r], v)) return;
    w->inst->cell[r] = v;
    changed(w);
}

static void sweep_phi(Sweep *w, PyRef r) {
    Instance *inst = w->inst;
    const PyInstr *in = &inst->f->instrs.at[r];
    const PyBlock *b = &inst->f->blocks.at[in->block];
    Val v = {0}, poison = {0};
    PyRef from = 0;
    bool undef = false;
    if (inst->conflict[r]) return;
    for (uint32_t i = 0; i < in->nargs; i++) {
        if (!infer_edge_taken(inst, b->preds.at[i], in->block)) continue;
        Val a = maybe_narrowed(w->fr, b->preds.at[i], in->block, in->args[i], inst->cell[in->args[i]]), joined;
        undef |= inst->maybe_undef[in->args[i]] || (a.ty && a.ty->kind == TY_UNDEF);
        if (a.ty && a.ty->kind == TY_POISON) poison = a;
        if (!contributes(a)) continue;
        if (!val_join(w->e, v, a, &joined)) {
            conflict(w, &inst->conflict[r], v, a, from, in->args[i]);
            set_cell(w, r, val_poison(w->e));
            return;
        }
        from = in->args[i];
        v = joined;
    }
    if (poison.ty && v.ty && v.ty->kind == TY_TUPLE) v = poison; /* its length may be wrong, too */
    if (!v.ty) v = poison.ty ? poison : undef ? (Val){.ty = ty_undef(w->e->types)} : v;
    if (w->number > FREE_SWEEPS && contributes(v) && contributes(inst->cell[r]) &&
        !val_join(w->e, inst->cell[r], v, &v))
        v = val_poison(w->e);
    if (undef != inst->maybe_undef[r]) changed(w);
    inst->maybe_undef[r] = undef;
    if (undef && e_numba(w->e) && contributes(v)) v = val_without_constants(w->e, v);
    if (v.ty) set_cell(w, r, val_abstract(w->e, v));
}

static void take_edge(Sweep *w, PyBlockId from, uint32_t s) {
    Instance *inst = w->inst;
    PyBlockId to = inst->f->blocks.at[from].succ[s];
    if (inst->edge[from][s]) return;
    changed(w);
    w->number = 0; /* what follows a loop is reached when the loop has settled, and then needs sweeps of its own */
    inst->edge[from][s] = inst->reached[to] = true;
}

static void sweep_terminator(Sweep *w, PyBlockId b) {
    const PyBlock *block = &w->inst->f->blocks.at[b];
    if (block->term == PYT_JUMP) take_edge(w, b, 0);
    if (block->term != PYT_BRANCH) return;
    Val v = w->inst->cell[block->arg];
    Val c = val_poisoned(v) || v.ty->kind == TY_UNDEF ? val_poison(w->e) : eval_truth(w->e, block->term_span, v);
    if (!val_const(c) || c.i) take_edge(w, b, 0);
    if (!val_const(c) || !c.i) take_edge(w, b, 1);
}

static void sweep_block(Sweep *w, PyBlockId b) {
    const PyBlock *block = &w->inst->f->blocks.at[b];
    w->block = b;
    w->inst->stops[b] = false;
    for (uint32_t i = 0; i < block->instrs.n; i++) {
        PyRef r = block->instrs.at[i];
        const PyInstr *in = &w->inst->f->instrs.at[r];
        if (in->op == PY_PHI) {
            sweep_phi(w, r);
            continue;
        }
        bool fixed = in->op == PY_CONST || in->op == PY_UNDEF || in->op == PY_GLOBAL || in->op == PY_IMPORT;
        if (fixed && w->inst->cell[r].ty) continue;
        Val v = eval_step(w->e, w->fr, r);
        if (!v.ty) { /* a call that never returns */
            w->inst->stops[b] = true;
            return;
        }
        set_cell(w, r, v);
    }
    sweep_terminator(w, b);
}

static Val join_results(Sweep *w) {
    Instance *inst = w->inst;
    Val v = {0}, poison = {0};
    PyRef from = 0;
    for (PyBlockId b = 0; b < inst->f->blocks.n; b++) {
        const PyBlock *block = &inst->f->blocks.at[b];
        if (!inst->reached[b] || inst->stops[b] || block->term != PYT_RETURN) continue;
        Val a = maybe_narrowed(w->fr, b, b, block->arg, inst->cell[block->arg]);
        if (!contributes(a)) {
            poison = val_poison(w->e);
            continue;
        }
        if (!val_join(w->e, v, a, &v)) {
            conflict(w, &inst->result_conflict, v, a, from, block->arg);
            return val_poison(w->e);
        }
        from = block->arg;
    }
    return v.ty ? v : poison;
}

static void infer(Eval *e, Instance *inst) {
    enum { START = 16 };
    Frame fr = {.inst = inst, .vals = inst->cell, .args = inst->args, .caller = e->frame};
    fr.at.file = inst->f->file;
    fr.at.function = inst->f->name;
    bool building = e->building;
    e->building = false;
    e->frame = &fr;
    e->depth++;
    spend_steps(e, START);
    PyBlockId n = inst->f->blocks.n;
    Sweep w = {.e = e, .fr = &fr, .inst = inst, .loop_start = loop_starts(e, inst->f)};
    inst->reached[0] = true;
    while (w.again < n && w.number++ < MAX_SWEEPS && !e->restart) {
        PyBlockId first = w.again;
        w.again = n;
        for (PyBlockId b = first; b < n; b++)
            if (inst->reached[b]) sweep_block(&w, b);
    }
    inst->unsettled = w.again < n;
    inst->result = join_results(&w);
    e->depth--;
    e->frame = fr.caller;
    e->building = building;
}

void infer_again(Eval *e, Instance *inst, const PyFunc *f) {
    start(e, inst, f);
    infer(e, inst);
}

/* A function that calls itself is inferred again with what it was found to return, until that is what it returns. The
 * first time, the calls inside return nothing: the result comes from the ways without them. */
static void settle_recursion(Eval *e, Instance *inst) {
    for (uint32_t round = 0; inst->recursive && !e->restart; round++) {
        Val had = inst->assumed, result = inst->result;
        if (val_same(had, result) || !result.ty || val_poisoned(result)) return;
        if (round > FREE_ROUNDS && !val_join(e, had, result, &result)) result = val_poison(e);
        if (round > MAX_ROUNDS) {
            inst->unsettled = true;
            return;
        }
        forget_instances(e, inst); /* they took its result for something else */
        inst->assumed = val_abstract(e, result);
        infer_again(e, inst, inst->base);
        unroll_until_typed(e, inst);
    }
}

Instance *infer_instance(Eval *e, const PyFunc *f, const Callee *callee, uint32_t nargs, const Val *args) {
    uint32_t hash = hash_call(f, callee, nargs, args);
    Instance *inst = find_instance(e, hash, f, callee, nargs, args);
    if (!inst) {
        inst = new_instance(e, hash, f, callee, nargs, args);
        bool building = e->building;
        e->building = false;
        infer(e, inst);
        unroll_until_typed(e, inst);
        settle_recursion(e, inst);
        e->building = building;
    }
    if (!e->building) e->fails += inst->fails;
    return inst;
}
