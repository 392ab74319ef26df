/* ssa.c - variables to values: every LOADVAR becomes the value that reaches it.
 *
 * needs: TAC after pycfg     makes: a new PyFunc, compact, in reverse postorder
 * A phi is placed at each join for each variable that is live there, and goes when all its operands are one value:
 * for the graphs that Python makes, that leaves the fewest. Constants move to their only user, phis are ordered by
 * name, so that the text doesn't depend on the order in which a version loads them. */
#include "pycode.h"

#include <string.h>

/* A store to a variable whose cell an inner function holds; `seq`: values made later in the block have a
 * greater number. */
typedef struct CellStore {
    uint32_t var;
    PyBlockId block;
    PyRef seq, value;
    PySpan span;
} CellStore;

typedef struct Ssa {
    PyCtx *c;
    const PyFunc *tac;
    const PyVars *vars;
    PyFunc *out; /* values with holes, before compaction; its blocks are numbered in reverse postorder */
    PyBlockId *order, *number;
    uint32_t nvars, words;
    uint64_t *live_in; /* by old block */
    PyRef *state;      /* by new block and variable: the value at its end */
    PyRef *subst;      /* by value: what it turned out to be, 0 = itself */
    uint32_t nsubst;
    PyRef *undef; /* by variable: what it is before any assignment */
    bool *captured;
    VEC(CellStore) stores;
    uint32_t changes; /* a variable that changes while an inner function can see it, plus one */
} Ssa;

static PyInstr *instr(const Ssa *s, PyRef r) { return &s->out->instrs.at[r]; }

static PyRef find(const Ssa *s, PyRef r) {
    while (r < s->nsubst && s->subst[r]) r = s->subst[r];
    return r;
}

/* ---- liveness --------------------------------------------------------------------------------------- */

static bool live(const Ssa *s, PyBlockId old, uint32_t var) {
    return s->live_in[(size_t)old * s->words + var / 64] >> (var % 64) & 1;
}

static void find_live(Ssa *s, uint32_t n) {
    uint64_t *bits = ARENA_ARRAY(s->c->arena, uint64_t, s->words);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = n; i-- > 0;) {
            const PyBlock *b = &s->tac->blocks.at[s->order[i]];
            memset(bits, 0, s->words * sizeof *bits);
            for (uint32_t k = 0; k < b->nsucc; k++)
                for (uint32_t w = 0; w < s->words; w++) bits[w] |= s->live_in[(size_t)b->succ[k] * s->words + w];
            for (uint32_t k = b->instrs.n; k-- > 0;) {
                const PyInstr *in = &s->tac->instrs.at[b->instrs.at[k]];
                uint64_t bit = (uint64_t)1 << (in->imm % 64);
                if (in->op == PYX_LOADVAR) bits[in->imm / 64] |= bit;
                else if (in->op == PYX_STOREVAR) bits[in->imm / 64] &= ~bit;
            }
            uint64_t *was = &s->live_in[(size_t)s->order[i] * s->words];
            again |= memcmp(was, bits, s->words * sizeof *bits) != 0;
            memcpy(was, bits, s->words * sizeof *bits);
        }
    }
}

/* ---- renaming ---------------------------------------------------------------------------------------- */

static PyRef add(Ssa *s, const PyInstr *in) {
    VEC_PUSH(s->c->arena, &s->out->instrs, *in);
    return s->out->instrs.n - 1;
}

static PyRef undef_of(Ssa *s, uint32_t var) {
    if (!s->undef[var]) {
        const char *name = s->vars->at.at[var].name;
        s->undef[var] = add(s, &(PyInstr){.op = PY_UNDEF, .name = name ? name : "?", .block = 0});
        VEC_PUSH(s->c->arena, &s->out->blocks.at[0].instrs, s->undef[var]);
    }
    return s->undef[var];
}

static PyRef *state_of(const Ssa *s, PyBlockId b) { return &s->state[(size_t)b * s->nvars]; }

/* What each variable is on entry: a phi where ways meet and it is live. */
static void enter_block(Ssa *s, PyBlockId b) {
    const PyBlock *old = &s->tac->blocks.at[s->order[b]];
    PyRef *now = state_of(s, b);
    if (b == 0) return;
    if (old->preds.n == 1) {
        memcpy(now, state_of(s, s->number[old->preds.at[0]]), s->nvars * sizeof *now);
        return;
    }
    for (uint32_t v = 0; v < s->nvars; v++) {
        if (!live(s, s->order[b], v)) continue;
        PyInstr phi = {.op = PY_PHI, .nargs = (uint16_t)old->preds.n, .block = b, .imm = v};
        phi.name = s->vars->at.at[v].name;
        phi.args = ARENA_ARRAY(s->c->arena, PyRef, old->preds.n);
        now[v] = add(s, &phi);
        VEC_PUSH(s->c->arena, &s->out->blocks.at[b].instrs, now[v]);
    }
}

static void rename_instr(Ssa *s, PyBlockId b, PyRef old, PyRef *map) {
    const PyInstr *in = &s->tac->instrs.at[old];
    PyRef *now = state_of(s, b);
    if (in->op == PYX_LOADVAR) {
        if (!now[in->imm]) now[in->imm] = undef_of(s, in->imm);
        map[old] = now[in->imm];
        return;
    }
    if (in->op == PYX_STOREVAR) {
        now[in->imm] = map[in->args[0]];
        const char *name = s->vars->at.at[in->imm].name;
        PyBlock *block = &s->out->blocks.at[b];
        PyRef last = block->instrs.n ? block->instrs.at[block->instrs.n - 1] : 0;
        if (s->c->names && name)
            VEC_PUSH(s->c->arena, &block->names,
                     ((PyNaming){.after = last, .value = now[in->imm], .name = name, .span = in->span}));
        if (s->captured[in->imm])
            VEC_PUSH(s->c->arena, &s->stores, ((CellStore){in->imm, b, s->out->instrs.n, now[in->imm], in->span}));
        return;
    }
    PyInstr copy = *in;
    copy.block = b;
    copy.args = ARENA_ARRAY(s->c->arena, PyRef, in->nargs + 1u);
    for (uint32_t k = 0; k < in->nargs; k++) copy.args[k] = map[in->args[k]];
    map[old] = add(s, &copy);
    VEC_PUSH(s->c->arena, &s->out->blocks.at[b].instrs, map[old]);
}

static void rename_blocks(Ssa *s, uint32_t n) {
    PyRef *map = ARENA_ARRAY(s->c->arena, PyRef, s->tac->instrs.n + 1);
    for (PyBlockId b = 0; b < n; b++) {
        const PyBlock *old = &s->tac->blocks.at[s->order[b]];
        enter_block(s, b);
        for (uint32_t k = 0; k < old->instrs.n; k++) rename_instr(s, b, old->instrs.at[k], map);
        PyBlock *blk = &s->out->blocks.at[b];
        blk->term = old->term;
        blk->arg = map[old->arg];
        blk->cause = map[old->cause];
        blk->term_span = old->term_span;
        blk->nsucc = old->nsucc;
        for (uint32_t k = 0; k < old->nsucc; k++) blk->succ[k] = s->number[old->succ[k]];
        for (uint32_t k = 0; k < old->preds.n; k++) {
            PyBlockId p = s->number[old->preds.at[k]];
            VEC_PUSH(s->c->arena, &blk->preds, p);
            blk->loop_header |= p >= b;
        }
    }
}

static void fill_phis(Ssa *s, uint32_t n) {
    for (PyBlockId b = 0; b < n; b++) {
        const PyBlock *blk = &s->out->blocks.at[b];
        for (uint32_t i = 0; i < blk->instrs.n; i++) {
            PyRef r = blk->instrs.at[i];
            if (instr(s, r)->op != PY_PHI) continue;
            uint32_t var = instr(s, r)->imm;
            for (uint32_t k = 0; k < blk->preds.n; k++) {
                PyRef v = state_of(s, blk->preds.at[k])[var];
                if (!v) v = undef_of(s, var);
                instr(s, r)->args[k] = v;
            }
        }
    }
}

/* ---- phis that are one value --------------------------------------------------------------------------- */

static bool drop_phi(Ssa *s, PyRef r) {
    const PyInstr *in = instr(s, r);
    PyRef only = 0;
    for (uint32_t k = 0; k < in->nargs; k++) {
        PyRef v = find(s, in->args[k]);
        if (v == r || v == only) continue;
        if (only) return false;
        only = v;
    }
    if (!only) /* a loop that never got a value: only code that can't run */
        return false;
    s->subst[r] = only;
    return true;
}

static void drop_phis(Ssa *s) {
    s->nsubst = s->out->instrs.n;
    s->subst = ARENA_ARRAY(s->c->arena, PyRef, s->nsubst);
    for (bool again = true; again;) {
        again = false;
        for (PyRef r = 1; r < s->nsubst; r++)
            if (instr(s, r)->op == PY_PHI && !s->subst[r]) again |= drop_phi(s, r);
    }
    for (PyRef r = 1; r < s->nsubst; r++)
        for (uint32_t k = 0; k < instr(s, r)->nargs; k++) instr(s, r)->args[k] = find(s, instr(s, r)->args[k]);
    for (PyBlockId b = 0; b < s->out->blocks.n; b++) {
        s->out->blocks.at[b].arg = find(s, s->out->blocks.at[b].arg);
        s->out->blocks.at[b].cause = find(s, s->out->blocks.at[b].cause);
        for (uint32_t i = 0; i < s->out->blocks.at[b].names.n; i++) {
            PyNaming *name = &s->out->blocks.at[b].names.at[i];
            name->value = find(s, name->value);
        }
    }
}

/* ---- what is used ----------------------------------------------------------------------------------------- */

static void mark(PyRef r, bool *used, PyRef *todo, uint32_t *n) {
    if (r && !used[r]) {
        used[r] = true;
        todo[(*n)++] = r;
    }
}

static bool *find_used(const Ssa *s) {
    bool *used = ARENA_ARRAY(s->c->arena, bool, s->out->instrs.n + 1);
    PyRef *todo = ARENA_ARRAY(s->c->arena, PyRef, s->out->instrs.n + 1);
    uint32_t n = 0;
    for (PyBlockId b = 0; b < s->out->blocks.n; b++) {
        const PyBlock *blk = &s->out->blocks.at[b];
        mark(blk->arg, used, todo, &n);
        mark(blk->cause, used, todo, &n);
        for (uint32_t i = 0; i < blk->names.n; i++) mark(blk->names.at[i].value, used, todo, &n);
        for (uint32_t i = 0; i < blk->instrs.n; i++)
            if (!py_is_pure(instr(s, blk->instrs.at[i])->op)) mark(blk->instrs.at[i], used, todo, &n);
    }
    while (n > 0) {
        const PyInstr *in = instr(s, todo[--n]);
        for (uint32_t k = 0; k < in->nargs; k++) mark(in->args[k], used, todo, &n);
    }
    return used;
}

/* ---- cells -------------------------------------------------------------------------------------------------- */

/* An inner function gets the values that its free variables have where it is made. That is what Python does only
 * if none of them changes while the function can still be called: everything below looks for such a change. Then the
 * variable is shared (pyshare.c). */

typedef struct Held {
    Ssa *s;
    PyRef fn;
    bool *holds; /* by value: may be, or contain, the function */
    bool *seen;  /* by block */
    PyBlockId *todo;
    uint32_t ntodo;
} Held;

static void find_holders(Held *h, const bool *used) {
    h->holds[h->fn] = true;
    for (bool again = true; again;) {
        again = false;
        for (PyRef r = 1; r < h->s->out->instrs.n; r++) {
            const PyInstr *in = instr(h->s, r);
            bool carries = in->op != PY_CALL && in->op != PY_CALL_EX && in->op != PY_COMPARE && in->op != PY_IS;
            for (uint32_t k = 0; used[r] && carries && !h->holds[r] && k < in->nargs; k++)
                if (h->holds[in->args[k]]) h->holds[r] = again = true;
        }
    }
}

/* Is the function used in the block, by a value numbered `from` or later and before it is made anew? Sets *made
 * when it is. */
static bool used_in(const Held *h, PyBlockId b, PyRef from, bool *made) {
    const PyBlock *blk = &h->s->out->blocks.at[b];
    for (uint32_t i = 0; i < blk->instrs.n; i++) {
        PyRef r = blk->instrs.at[i];
        const PyInstr *in = instr(h->s, r);
        if (r < from || in->op == PY_PHI) continue;
        if (r == h->fn) {
            *made = true;
            return false;
        }
        for (uint32_t k = 0; k < in->nargs; k++)
            if (h->holds[in->args[k]]) return true;
    }
    *made = false;
    return h->holds[blk->arg];
}

static void follow(Held *h, PyBlockId b) {
    const PyBlock *blk = &h->s->out->blocks.at[b];
    for (uint32_t k = 0; k < blk->nsucc; k++)
        if (!h->seen[blk->succ[k]]) {
            h->seen[blk->succ[k]] = true;
            h->todo[h->ntodo++] = blk->succ[k];
        }
}

static void start_search(Held *h) {
    memset(h->seen, 0, h->s->out->blocks.n * sizeof *h->seen);
    h->ntodo = 0;
}

static bool reaches(Held *h, PyBlockId from, const CellStore *st) {
    if (from == st->block && st->seq > h->fn) return true;
    start_search(h);
    follow(h, from);
    while (h->ntodo > 0) follow(h, h->todo[--h->ntodo]);
    return h->seen[st->block];
}

static bool used_after(Held *h, const CellStore *st) {
    bool made;
    if (used_in(h, st->block, st->seq, &made)) return true;
    start_search(h);
    if (!made) follow(h, st->block);
    while (h->ntodo > 0) {
        PyBlockId b = h->todo[--h->ntodo];
        if (used_in(h, b, 0, &made)) return true;
        if (!made) follow(h, b);
    }
    return false;
}

/* A def that uses its own name in its body means itself, though the name has no value yet where it is made. */
static bool is_own_name(const Held *h, const CellStore *st, const char *name) {
    return find(h->s, st->value) == h->fn && strcmp(instr(h->s, h->fn)->name, name) == 0;
}

static void check_cell(Held *h, PyInstr *cell) {
    uint32_t var = cell->imm2 - 1;
    const char *name = cell->name;
    for (uint32_t i = 0; i < h->s->stores.n; i++) {
        const CellStore *st = &h->s->stores.at[i];
        if (st->var != var || !reaches(h, instr(h->s, h->fn)->block, st) || !used_after(h, st)) continue;
        if (is_own_name(h, st, name)) {
            cell->imm = CELL_ITSELF;
            continue;
        }
        h->s->changes = var + 1;
        return;
    }
}

static void check_cells(Ssa *s, const bool *used) {
    Held h = {.s = s};
    if (s->stores.n == 0) return;
    h.seen = ARENA_ARRAY(s->c->arena, bool, s->out->blocks.n + 1);
    h.todo = ARENA_ARRAY(s->c->arena, PyBlockId, s->out->blocks.n + 1);
    for (PyRef r = 1; r < s->out->instrs.n; r++) {
        const PyInstr *fn = instr(s, r);
        if (fn->op != PY_FUNCTION || !used[r] || !fn->args[2]) continue;
        h.fn = r;
        h.holds = ARENA_ARRAY(s->c->arena, bool, s->out->instrs.n + 1);
        find_holders(&h, used);
        const PyInstr *closure = instr(s, fn->args[2]);
        for (uint32_t k = 0; k < closure->nargs; k++) {
            PyInstr *cell = instr(s, closure->args[k]);
            if (cell->op == PY_CELL && cell->imm2) check_cell(&h, cell);
        }
    }
}

/* ---- compaction ----------------------------------------------------------------------------------------------- */

typedef struct Packer {
    Ssa *s;
    PyFunc *f;
    PyRef *map;
    uint32_t *uses; /* by value: how many users, and the block of the last of them */
    PyBlockId *user;
    bool *by_phi; /* a phi uses it */
    const bool *used;
    PyBlockId b;
} Packer;

static void place(Packer *p, PyRef old) {
    if (p->map[old]) return;
    PyInstr in = *instr(p->s, old);
    in.block = p->b;
    in.imm = in.op == PY_PHI ? 0 : in.imm;
    in.imm2 = in.op == PY_CELL || in.op == PY_FORMAT ? 0 : in.imm2;
    p->map[old] = p->f->instrs.n;
    VEC_PUSH(p->s->c->arena, &p->f->instrs, in);
    VEC_PUSH(p->s->c->arena, &p->f->blocks.at[p->b].instrs, p->map[old]);
}

/* A constant with one user in its block goes right before that, wherever a version loads it. */
static bool waits(const Packer *p, PyRef r) {
    return instr(p->s, r)->op == PY_CONST && p->uses[r] == 1 && !p->by_phi[r] && instr(p->s, r)->block == p->b &&
           p->user[r] == p->b;
}

static void place_consts(Packer *p, const PyRef *args, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        if (args[k] && waits(p, args[k])) place(p, args[k]);
}

static void count_use(Packer *p, PyRef r, PyBlockId b) {
    p->uses[r]++;
    p->user[r] = b;
}

static void count_uses(Packer *p) {
    for (PyBlockId b = 0; b < p->s->out->blocks.n; b++) {
        const PyBlock *blk = &p->s->out->blocks.at[b];
        for (uint32_t i = 0; i < blk->instrs.n; i++) {
            const PyInstr *in = instr(p->s, blk->instrs.at[i]);
            for (uint32_t k = 0; p->used[blk->instrs.at[i]] && k < in->nargs; k++) {
                count_use(p, in->args[k], b);
                p->by_phi[in->args[k]] |= in->op == PY_PHI;
            }
        }
        count_use(p, blk->arg, b);
        count_use(p, blk->cause, b);
        for (uint32_t i = 0; i < blk->names.n; i++) p->by_phi[blk->names.at[i].value] = true; /* it stays where it is */
    }
}

/* PARAMs, then UNDEFs of the entry, then phis by name and by depth on the stack, then the rest as it is. */
static int rank(const PyInstr *in) {
    return in->op == PY_PARAM ? 0 : in->op == PY_UNDEF && in->span.line == 0 ? 1 : in->op == PY_PHI ? 2 : 3;
}

static bool goes_before(const Ssa *s, PyRef x, PyRef y) {
    const PyInstr *a = instr(s, x), *b = instr(s, y);
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    if (rank(a) == 0 || rank(a) == 3) return false;
    if (a->name && b->name) return strcmp(a->name, b->name) < 0;
    if (a->name || b->name) return a->name != NULL;
    const PyVar *v = &s->vars->at.at[a->imm], *w = &s->vars->at.at[b->imm];
    return v->frame != w->frame ? v->frame < w->frame : v->depth < w->depth;
}

/* Insertion sort: few are out of place, and equal ones must keep their order. */
static void sort_block(const Ssa *s, PyBlock *blk) {
    for (uint32_t i = 1; i < blk->instrs.n; i++) {
        PyRef r = blk->instrs.at[i];
        uint32_t k = i;
        for (; k > 0 && goes_before(s, r, blk->instrs.at[k - 1]); k--) blk->instrs.at[k] = blk->instrs.at[k - 1];
        blk->instrs.at[k] = r;
    }
}

/* What follows an instruction that is gone follows what stands there now. */
static void place_names(const Packer *p, const PyBlock *old, PyRef after) {
    for (uint32_t i = 0; i < old->names.n; i++)
        if (old->names.at[i].after == after) old->names.at[i].at = p->f->blocks.at[p->b].instrs.n;
}

static void pack_block(Packer *p, const PyBlock *old) {
    for (uint32_t i = 0; i < old->instrs.n; i++) {
        PyRef r = old->instrs.at[i];
        if (i > 0) place_names(p, old, old->instrs.at[i - 1]);
        const PyInstr *in = instr(p->s, r);
        if (!p->used[r] && in->op != PY_PARAM) continue;
        if (in->op == PY_PHI && p->s->subst[r]) continue;
        if (waits(p, r)) continue;
        if (in->op != PY_PHI) place_consts(p, in->args, in->nargs);
        place(p, r);
    }
    place_consts(p, (PyRef[]){old->arg, old->cause}, 2);
    if (old->instrs.n) place_names(p, old, old->instrs.at[old->instrs.n - 1]);
}

static PyFunc *pack(Ssa *s, const bool *used) {
    uint32_t n = s->out->instrs.n;
    PyFunc *f = ARENA_NEW(s->c->arena, PyFunc);
    Packer p = {.s = s, .f = f, .used = used};
    *f = *s->tac;
    memset(&f->instrs, 0, sizeof f->instrs);
    memset(&f->blocks, 0, sizeof f->blocks);
    VEC_PUSH(s->c->arena, &f->instrs, ((PyInstr){.op = PY_CONST}));
    p.map = ARENA_ARRAY(s->c->arena, PyRef, n + 1);
    p.uses = ARENA_ARRAY(s->c->arena, uint32_t, n + 1);
    p.user = ARENA_ARRAY(s->c->arena, PyBlockId, n + 1);
    p.by_phi = ARENA_ARRAY(s->c->arena, bool, n + 1);
    count_uses(&p);
    for (p.b = 0; p.b < s->out->blocks.n; p.b++) {
        PyBlock *old = &s->out->blocks.at[p.b], blk = *old;
        memset(&blk.instrs, 0, sizeof blk.instrs);
        VEC_PUSH(s->c->arena, &f->blocks, blk);
        sort_block(s, old);
        pack_block(&p, old);
        f->blocks.at[p.b].arg = p.map[old->arg];
        f->blocks.at[p.b].cause = p.map[old->cause];
    }
    for (PyBlockId b = 0; b < f->blocks.n; b++)
        for (uint32_t i = 0; i < f->blocks.at[b].names.n; i++) {
            PyNaming *name = &f->blocks.at[b].names.at[i];
            name->value = p.map[name->value];
        }
    for (PyRef r = 1; r < f->instrs.n; r++)
        for (uint32_t k = 0; k < f->instrs.at[r].nargs; k++) f->instrs.at[r].args[k] = p.map[f->instrs.at[r].args[k]];
    return f;
}

/* Every operand is a value: what infer relies on. Bytecode that no compiler made can break it, by using a place of
 * the stack that no way to it has filled. */
static bool operands_are_values(const PyFunc *f) {
    for (PyRef r = 1; r < f->instrs.n; r++) {
        const PyInstr *in = &f->instrs.at[r];
        if (in->op == PY_FUNCTION || in->op == PY_CALL_EX) continue; /* they may leave some out */
        for (uint32_t k = 0; k < in->nargs; k++)
            if (in->args[k] == 0) return false;
    }
    return true;
}

/* ---- entry ------------------------------------------------------------------------------------------------------- */

PyFunc *pyssa_make(PyCtx *c, const PyFunc *tac, const PyVars *vars, uint32_t *changes) {
    uint32_t nblocks = tac->blocks.n;
    Ssa s = {.c = c, .tac = tac, .vars = vars, .nvars = vars->at.n, .words = vars->at.n / 64 + 1};
    s.order = ARENA_ARRAY(c->arena, PyBlockId, nblocks + 1);
    s.number = ARENA_ARRAY(c->arena, PyBlockId, nblocks + 1);
    uint32_t n = pycfg_order(tac, s.order);
    for (uint32_t i = 0; i < n; i++) s.number[s.order[i]] = i;
    s.live_in = ARENA_ARRAY(c->arena, uint64_t, (size_t)nblocks * s.words);
    s.state = ARENA_ARRAY(c->arena, PyRef, (size_t)n * s.nvars + 1);
    s.undef = ARENA_ARRAY(c->arena, PyRef, s.nvars + 1);
    s.captured = ARENA_ARRAY(c->arena, bool, s.nvars + 1);
    s.out = ARENA_NEW(c->arena, PyFunc);
    VEC_PUSH(c->arena, &s.out->instrs, ((PyInstr){.op = PY_CONST}));
    for (uint32_t i = 0; i < n; i++) VEC_PUSH(c->arena, &s.out->blocks, ((PyBlock){.term = PYT_UNREACHABLE}));
    for (PyRef r = 1; r < tac->instrs.n; r++)
        if (tac->instrs.at[r].op == PY_CELL && tac->instrs.at[r].imm2) s.captured[tac->instrs.at[r].imm2 - 1] = true;
    find_live(&s, n);
    rename_blocks(&s, n);
    fill_phis(&s, n);
    drop_phis(&s);
    bool *used = find_used(&s);
    check_cells(&s, used);
    *changes = c->failed ? 0 : s.changes;
    PyFunc *f = c->failed || s.changes ? NULL : pack(&s, used);
    if (f && !operands_are_values(f)) py_bad(c, (PySpan){0}, "a value is missing on the stack");
    return c->failed ? NULL : f;
}
