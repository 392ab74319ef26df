/* pyunroll.c - a loop as copies of its body, for loops whose variables have another type each time.
 *
 * needs: the TAC that a function was made of (PySource)     keeps: that a value never leaves its block
 * In TAC no value crosses a block, so a copy of the loop's blocks is a copy of the loop. The entry leads to the first
 * copy, each way back to the next one, the last one's to the loop as it was, whose test is false by then. */
#include "pycode.h"

enum { MAX_COPIED_INSTRS = 20000 };

typedef struct Unroll {
    Arena *arena;
    PyFunc *f;        /* being made */
    bool *inside;     /* by block of the function that is copied */
    PyBlockId *copy;  /* by block: its current copy */
    PyRef *map;       /* by value: its current copy */
    uint32_t nblocks; /* of the function that is copied */
    PyBlockId header;
} Unroll;

bool pyloop_body(const PyFunc *f, PyBlockId header, bool *inside) {
    uint32_t n = 0;
    PyBlockId *todo = ARENA_ARRAY(f->arena, PyBlockId, f->blocks.n + 1);
    inside[header] = true;
    const PyBlock *h = &f->blocks.at[header];
    for (uint32_t i = 0; i < h->preds.n; i++)
        if (h->preds.at[i] >= header && !inside[h->preds.at[i]]) {
            inside[h->preds.at[i]] = true;
            todo[n++] = h->preds.at[i];
        }
    while (n > 0) {
        const PyBlock *b = &f->blocks.at[todo[--n]];
        for (uint32_t i = 0; i < b->preds.n; i++)
            if (!inside[b->preds.at[i]]) {
                if (b->preds.at[i] < header) return false; /* another way in */
                inside[b->preds.at[i]] = true;
                todo[n++] = b->preds.at[i];
            }
    }
    return true;
}

static void copy_instrs(Unroll *u, PyBlockId from) {
    for (uint32_t i = 0; i < u->f->blocks.at[from].instrs.n; i++) {
        PyRef r = u->f->blocks.at[from].instrs.at[i];
        PyInstr in = u->f->instrs.at[r];
        PyRef *args = ARENA_ARRAY(u->arena, PyRef, in.nargs + 1u);
        for (uint32_t k = 0; k < in.nargs; k++) args[k] = u->map[in.args[k]];
        in.args = args;
        in.block = u->copy[from];
        u->map[r] = u->f->instrs.n;
        VEC_PUSH(u->arena, &u->f->instrs, in);
        VEC_PUSH(u->arena, &u->f->blocks.at[u->copy[from]].instrs, u->map[r]);
    }
}

/* A copy of the body whose ways back lead to the header itself. */
static void copy_body(Unroll *u) {
    for (PyBlockId b = 0; b < u->nblocks; b++) {
        if (!u->inside[b]) continue;
        PyBlock block = u->f->blocks.at[b];
        block.instrs.at = NULL;
        block.instrs.n = block.instrs.cap = 0;
        block.preds.at = NULL;
        block.preds.n = block.preds.cap = 0;
        u->copy[b] = u->f->blocks.n;
        VEC_PUSH(u->arena, &u->f->blocks, block);
    }
    for (PyBlockId b = 0; b < u->nblocks; b++) {
        if (!u->inside[b]) continue;
        copy_instrs(u, b);
        PyBlock *made = &u->f->blocks.at[u->copy[b]];
        made->arg = u->map[made->arg];
        made->cause = u->map[made->cause];
        for (uint32_t k = 0; k < made->nsucc; k++) {
            PyBlockId to = made->succ[k];
            if (to != u->header && u->inside[to]) made->succ[k] = u->copy[to];
        }
    }
}

static void redirect(PyBlock *b, PyBlockId from, PyBlockId to) {
    for (uint32_t k = 0; k < b->nsucc; k++)
        if (b->succ[k] == from) b->succ[k] = to;
}

/* The TAC again, with room for more; instructions and blocks of the old one stay as they are. */
static PyFunc *shallow_copy(Arena *arena, const PyFunc *tac) {
    PyFunc *f = ARENA_NEW(arena, PyFunc);
    *f = *tac;
    f->instrs.at = NULL;
    f->instrs.n = f->instrs.cap = 0;
    f->blocks.at = NULL;
    f->blocks.n = f->blocks.cap = 0;
    for (uint32_t i = 0; i < tac->instrs.n; i++) {
        VEC_PUSH(arena, &f->instrs, tac->instrs.at[i]);
        if (!f->instrs.at[i].origin) f->instrs.at[i].origin = i;
    }
    for (uint32_t i = 0; i < tac->blocks.n; i++) {
        VEC_PUSH(arena, &f->blocks, tac->blocks.at[i]);
        f->blocks.at[i].preds.at = NULL; /* to be found again */
        f->blocks.at[i].preds.n = f->blocks.at[i].preds.cap = 0;
    }
    return f;
}

static uint32_t body_size(const PyFunc *f, const bool *inside, uint32_t nblocks) {
    uint32_t n = 0;
    for (PyBlockId b = 0; b < nblocks; b++)
        if (inside[b]) n += f->blocks.at[b].instrs.n + 1;
    return n;
}

/* One loop of `f`, in TAC. False: it is no loop with one way in, or too much. */
static bool unroll(Arena *arena, PyFunc *f, PyBlockId header, const bool *inside_ssa, const PyBlockId *order,
                   uint32_t norder, uint32_t times) {
    Unroll u = {.arena = arena, .f = f, .nblocks = f->blocks.n, .header = header};
    u.inside = ARENA_ARRAY(arena, bool, f->blocks.n);
    u.copy = ARENA_ARRAY(arena, PyBlockId, f->blocks.n);
    u.map = ARENA_ARRAY(arena, PyRef, f->instrs.n);
    for (uint32_t i = 0; i < norder; i++) u.inside[order[i]] = inside_ssa[i];
    if ((uint64_t)body_size(f, u.inside, u.nblocks) * times > MAX_COPIED_INSTRS) return false;
    PyBlockId *last = ARENA_ARRAY(arena, PyBlockId, u.nblocks);
    for (uint32_t k = 0; k < times; k++) {
        copy_body(&u);
        for (PyBlockId b = 0; b < u.nblocks; b++) {
            if (k == 0 ? !u.inside[b] : u.inside[b])
                redirect(&f->blocks.at[k == 0 ? b : last[b]], header, u.copy[header]);
        }
        for (PyBlockId b = 0; b < u.nblocks; b++)
            if (u.inside[b]) last[b] = u.copy[b];
    }
    return true;
}

PyFunc *pyfunc_unroll(const Host *host, struct DiagList *diags, const PyFunc *f, uint32_t n, const PyLoop *loops) {
    const PySource *source = f->source;
    Arena *arena = f->arena;
    PyBlockId *order = ARENA_ARRAY(arena, PyBlockId, source->tac->blocks.n + 1);
    uint32_t norder = pycfg_order(source->tac, order);
    PyFunc *tac = shallow_copy(arena, source->tac);
    bool any = false;
    for (uint32_t i = 0; i < n; i++)
        any |= unroll(arena, tac, order[loops[i].header], loops[i].inside, order, norder, loops[i].times);
    if (!any) return NULL;
    pycfg_preds(tac);
    PyCtx c = {.arena = arena, .host = host, .diags = diags, .code = &source->code, .names = source->names};
    PyFunc *made = pyshare_ssa(&c, tac, source->vars);
    if (!made) return NULL;
    PySource *again = ARENA_NEW(arena, PySource);
    *again = *source;
    again->tac = tac;
    made->source = again;
    return made;
}
