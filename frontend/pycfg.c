/* pycfg.c - one canonical control flow graph for what the compilers of different Python versions make of one source.
 *
 * needs: TAC, where a value never leaves its block     keeps: that
 * Versions differ in where they copy code (the test of a while loop at its end, short tails that return), in how
 * `and` and `or` jump, and in what they leave on the stack. The rules here are repeated until none applies:
 *   fold      a branch on a constant, on `not`, on `is not`; a branch whose ways are one
 *   skip      a block that only jumps
 *   thread    a branch on a value that the branch before it tested
 *   copy      a short tail that returns or raises, and takes its value from the stack, for each way to it: some
 *             versions do for some ways, and 3.10 has no columns by which one could tell that they did
 *   sweep     stores nobody reads, values nobody uses
 *   merge     equal ends of blocks with equal successors, of the same source line
 *   join      a block with the only block that leads to it */
#include "pycode.h"

#include <string.h>

enum { MAX_ROUNDS = 40, MAX_MERGED_BLOCKS = 4000, MAX_COPIED = 4 };

typedef struct Cfg {
    PyCtx *c;
    PyFunc *f;
    const PyVars *vars;
    PyBlockId *order;
    uint32_t norder;
    bool changed;
    uint64_t *live_in; /* by block: bits of variables */
    uint32_t words;
    bool *captured; /* by variable: an inner function holds its cell */
} Cfg;

static PyBlock *block(const Cfg *g, PyBlockId b) { return &g->f->blocks.at[b]; }
static PyInstr *instr(const Cfg *g, PyRef r) { return &g->f->instrs.at[r]; }
static bool on_stack(const Cfg *g, uint32_t var) { return g->vars->at.at[var].name == NULL; }

bool py_is_pure(unsigned op) {
    switch (op) {
    case PY_CONST:
    case PY_UNDEF:
    case PY_PHI:
    case PY_CLOSURE:
    case PY_SLICE:
    case PY_TUPLE:
    case PY_LIST:
    case PY_SET:
    case PY_MAP:
    case PY_FUNCTION:
    case PY_CELL:
    case PY_STRING:
    case PY_IS:
    case PY_NOT:
    case PYX_LOADVAR: return true;
    default: return false;
    }
}

/* ---- order, predecessors ---------------------------------------------------------------------- */

uint32_t pycfg_order(const PyFunc *f, PyBlockId *order) {
    uint32_t n = f->blocks.n, depth = 0, count = 0;
    uint8_t *state = ARENA_ARRAY(f->arena, uint8_t, n + 1); /* 0 new, then 1 + how many successors were visited */
    PyBlockId *stack = ARENA_ARRAY(f->arena, PyBlockId, n + 1);
    stack[depth++] = 0;
    state[0] = 1;
    while (depth > 0) {
        PyBlockId b = stack[depth - 1];
        const PyBlock *blk = &f->blocks.at[b];
        if (state[b] > blk->nsucc) {
            order[count++] = b;
            depth--;
            continue;
        }
        PyBlockId s = blk->succ[blk->nsucc - state[b]]; /* the false way first, so that the true one comes first */
        state[b]++;
        if (state[s] == 0) {
            state[s] = 1;
            stack[depth++] = s;
        }
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        PyBlockId x = order[i];
        order[i] = order[count - 1 - i];
        order[count - 1 - i] = x;
    }
    return count;
}

void pycfg_preds(PyFunc *f) {
    PyBlockId *order = ARENA_ARRAY(f->arena, PyBlockId, f->blocks.n + 1);
    uint32_t n = pycfg_order(f, order);
    for (uint32_t i = 0; i < f->blocks.n; i++) f->blocks.at[i].preds.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const PyBlock *b = &f->blocks.at[order[i]];
        for (uint32_t k = 0; k < b->nsucc; k++) VEC_PUSH(f->arena, &f->blocks.at[b->succ[k]].preds, order[i]);
    }
}

static void refresh(Cfg *g) {
    g->order = ARENA_ARRAY(g->c->arena, PyBlockId, g->f->blocks.n + 1);
    g->norder = pycfg_order(g->f, g->order);
    pycfg_preds(g->f);
}

/* ---- fold --------------------------------------------------------------------------------------- */

/* 1 true, 0 false, -1 not known. */
static int truth(const Cfg *g, PyRef r) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    if (instr(g, r)->op != PY_CONST || !g->c->host->info(g->c->host->self, instr(g, r)->obj, &info)) return -1;
    switch (info.kind) {
    case HOST_NONE: return 0;
    case HOST_BOOL:
    case HOST_INT: return !(info.i64 || info.u64) || info.bits != 0;
    case HOST_FLOAT: return info.re != 0;
    default: return -1;
    }
}

static uint32_t uses_in_block(const Cfg *g, const PyBlock *b, PyRef r) {
    uint32_t n = (b->arg == r) + (b->cause == r);
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        const PyInstr *in = instr(g, b->instrs.at[i]);
        for (uint32_t k = 0; k < in->nargs; k++) n += in->args[k] == r;
    }
    return n;
}

static void make_jump(PyBlock *b, PyBlockId to) {
    b->term = PYT_JUMP;
    b->arg = 0;
    b->nsucc = 1;
    b->succ[0] = to;
}

static void swap_ways(PyBlock *b) {
    PyBlockId x = b->succ[0];
    b->succ[0] = b->succ[1];
    b->succ[1] = x;
}

static bool fold_branch(const Cfg *g, PyBlock *b) {
    if (b->term != PYT_BRANCH) return false;
    int known = truth(g, b->arg);
    if (b->succ[0] == b->succ[1] || known >= 0) {
        make_jump(b, b->succ[known == 0 ? 1 : 0]);
        return true;
    }
    PyInstr *cond = instr(g, b->arg);
    if (cond->op == PY_NOT && uses_in_block(g, b, b->arg) == 1) {
        b->arg = cond->args[0];
        cond->op = PY_UNDEF; /* unused: swept */
        cond->nargs = 0;
        swap_ways(b);
        return true;
    }
    if (cond->op == PY_IS && cond->imm == 1 && uses_in_block(g, b, b->arg) == 1) {
        cond->imm = 0;
        swap_ways(b);
        return true;
    }
    return false;
}

static void fold(Cfg *g) {
    for (uint32_t i = 0; i < g->norder; i++)
        while (fold_branch(g, block(g, g->order[i]))) g->changed = true;
}

/* ---- skip, thread --------------------------------------------------------------------------------- */

static PyBlockId behind_empty(const Cfg *g, PyBlockId b) {
    for (uint32_t n = 0; n < g->f->blocks.n; n++) {
        const PyBlock *blk = block(g, b);
        if (blk->instrs.n > 0 || blk->term != PYT_JUMP || blk->succ[0] == b) return b;
        b = blk->succ[0];
    }
    return b;
}

static void skip(Cfg *g) {
    for (uint32_t i = 0; i < g->norder; i++) {
        PyBlock *b = block(g, g->order[i]);
        for (uint32_t k = 0; k < b->nsucc; k++) {
            PyBlockId to = behind_empty(g, b->succ[k]);
            g->changed |= to != b->succ[k];
            b->succ[k] = to;
        }
    }
}

/* What the block leaves in the variable; 0 when it doesn't store there. */
static PyRef last_store(const Cfg *g, const PyBlock *b, uint32_t var) {
    for (uint32_t i = b->instrs.n; i-- > 0;) {
        const PyInstr *in = instr(g, b->instrs.at[i]);
        if (in->op == PYX_STOREVAR && in->imm == var) return in->args[0];
    }
    return 0;
}

static void thread(Cfg *g) {
    for (uint32_t i = 0; i < g->norder; i++) {
        PyBlock *b = block(g, g->order[i]);
        for (uint32_t k = 0; b->term == PYT_BRANCH && k < 2; k++) {
            const PyBlock *to = block(g, b->succ[k]);
            if (to->instrs.n != 1 || to->term != PYT_BRANCH || to == b) continue;
            const PyInstr *test = instr(g, to->instrs.at[0]);
            if (test->op == PYX_LOADVAR && to->arg == to->instrs.at[0] && on_stack(g, test->imm) &&
                last_store(g, b, test->imm) == b->arg) {
                b->succ[k] = to->succ[k];
                g->changed = true;
            }
        }
    }
}

/* ---- copy ------------------------------------------------------------------------------------------- */

/* Counts as the compilers count instructions, so that whatever they copy is copied here too. */
static bool is_short_tail(const Cfg *g, const PyBlock *b) {
    if (b->term != PYT_RETURN && b->term != PYT_RAISE) return false;
    uint32_t weight = 1;
    bool from_stack = false;
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        const PyInstr *in = instr(g, b->instrs.at[i]);
        if (in->op == PYX_LOADVAR && on_stack(g, in->imm)) from_stack = true;
        else if (in->op != PY_CONST && in->op != PY_SLICE && !(in->op == PY_UNPACK_ITEM && in->imm > 0)) weight++;
    }
    return from_stack && weight <= MAX_COPIED;
}

static PyRef copied(const PyBlock *from, const PyRef *copies, PyRef r) {
    for (uint32_t i = 0; i < from->instrs.n; i++)
        if (from->instrs.at[i] == r) return copies[i];
    return r;
}

static void copy_into(Cfg *g, PyBlockId pred, const PyBlock *tail) {
    PyRef *copies = ARENA_ARRAY(g->c->arena, PyRef, tail->instrs.n + 1);
    for (uint32_t i = 0; i < tail->instrs.n; i++) {
        PyInstr in = *instr(g, tail->instrs.at[i]);
        PyRef *args = ARENA_ARRAY(g->c->arena, PyRef, in.nargs + 1u);
        for (uint32_t k = 0; k < in.nargs; k++) args[k] = copied(tail, copies, in.args[k]);
        in.args = args;
        in.block = pred;
        copies[i] = g->f->instrs.n;
        VEC_PUSH(g->c->arena, &g->f->instrs, in);
        VEC_PUSH(g->c->arena, &block(g, pred)->instrs, copies[i]);
    }
    PyBlock *b = block(g, pred);
    b->term = tail->term;
    b->arg = copied(tail, copies, tail->arg);
    b->cause = copied(tail, copies, tail->cause);
    b->term_span = tail->term_span;
    b->nsucc = 0;
}

/* The way k of a branch gets a tail of its own. */
static void copy_for_way(Cfg *g, PyBlockId pred, uint32_t k, const PyBlock *tail) {
    VEC_PUSH(g->c->arena, &g->f->blocks, ((PyBlock){.term = PYT_UNREACHABLE}));
    PyBlockId made = g->f->blocks.n - 1;
    copy_into(g, made, tail);
    block(g, pred)->succ[k] = made;
}

static void copy_tail(Cfg *g, PyBlockId id) {
    const PyBlock tail = *block(g, id);
    uint32_t left = tail.preds.n;
    for (uint32_t i = 0; i < tail.preds.n; i++) {
        PyBlockId pred = tail.preds.at[i];
        if (block(g, pred)->term == PYT_JUMP) {
            copy_into(g, pred, &tail);
            left--;
        }
    }
    g->changed |= left < tail.preds.n;
    for (uint32_t i = 0; i < tail.preds.n; i++)
        for (uint32_t k = 0; k < block(g, tail.preds.at[i])->nsucc && left > 1; k++)
            if (block(g, tail.preds.at[i])->succ[k] == id) {
                copy_for_way(g, tail.preds.at[i], k, &tail);
                g->changed = true;
                left--;
            }
}

static void copy_tails(Cfg *g) {
    for (uint32_t i = 0; i < g->norder; i++)
        if (is_short_tail(g, block(g, g->order[i]))) copy_tail(g, g->order[i]);
}

/* ---- sweep -------------------------------------------------------------------------------------------- */

/* A stack place read in the block that wrote it needs no variable. */
static void forward(Cfg *g, PyBlock *b, PyRef *subst) {
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        PyInstr *in = instr(g, b->instrs.at[i]);
        for (uint32_t k = 0; k < in->nargs; k++)
            if (subst[in->args[k]]) in->args[k] = subst[in->args[k]];
        if (in->op != PYX_LOADVAR || !on_stack(g, in->imm)) continue;
        for (uint32_t k = i; k-- > 0;) {
            const PyInstr *st = instr(g, b->instrs.at[k]);
            if (st->op == PYX_STOREVAR && st->imm == in->imm) {
                subst[b->instrs.at[i]] = st->args[0];
                break;
            }
        }
    }
    if (subst[b->arg]) b->arg = subst[b->arg];
    if (subst[b->cause]) b->cause = subst[b->cause];
}

#define BIT_SET(bits, v) ((bits)[(v) / 64] |= (uint64_t)1 << ((v) % 64))
#define BIT_CLEAR(bits, v) ((bits)[(v) / 64] &= ~((uint64_t)1 << ((v) % 64)))
#define BIT_GET(bits, v) ((bits)[(v) / 64] >> ((v) % 64) & 1)

static void live_out(const Cfg *g, const PyBlock *b, uint64_t *live) {
    memset(live, 0, g->words * sizeof *live);
    for (uint32_t k = 0; k < b->nsucc; k++)
        for (uint32_t w = 0; w < g->words; w++) live[w] |= g->live_in[(size_t)b->succ[k] * g->words + w];
}

static void liveness(Cfg *g) {
    g->words = g->vars->at.n / 64 + 1;
    g->live_in = ARENA_ARRAY(g->c->arena, uint64_t, (size_t)g->f->blocks.n * g->words);
    uint64_t *live = ARENA_ARRAY(g->c->arena, uint64_t, g->words);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = g->norder; i-- > 0;) {
            const PyBlock *b = block(g, g->order[i]);
            live_out(g, b, live);
            for (uint32_t k = b->instrs.n; k-- > 0;) {
                const PyInstr *in = instr(g, b->instrs.at[k]);
                if (in->op == PYX_LOADVAR) BIT_SET(live, in->imm);
                else if (in->op == PYX_STOREVAR) BIT_CLEAR(live, in->imm);
            }
            uint64_t *was = &g->live_in[(size_t)g->order[i] * g->words];
            if (memcmp(was, live, g->words * sizeof *live) != 0) {
                memcpy(was, live, g->words * sizeof *live);
                again = true;
            }
        }
    }
}

/* Backwards, so that what only the dropped used is dropped too. */
static void sweep_block(Cfg *g, PyBlock *b, uint64_t *live, bool *used) {
    live_out(g, b, live);
    used[b->arg] = used[b->cause] = true;
    uint32_t kept = b->instrs.n;
    for (uint32_t i = b->instrs.n; i-- > 0;) {
        PyRef r = b->instrs.at[i];
        const PyInstr *in = instr(g, r);
        bool converted = in->op == PY_FORMAT && !used[r]; /* a string nobody reads */
        bool named = g->c->names && in->op == PYX_STOREVAR && g->vars->at.at[in->imm].name;
        if (named) used[in->args[0]] = true; /* a debugger shows it */
        if (in->op == PYX_STOREVAR ? !named && !BIT_GET(live, in->imm) && !g->captured[in->imm]
                                   : !used[r] && (py_is_pure(in->op) || converted))
            continue;
        if (in->op == PYX_LOADVAR) BIT_SET(live, in->imm);
        else if (in->op == PYX_STOREVAR) BIT_CLEAR(live, in->imm);
        for (uint32_t k = 0; k < in->nargs; k++) used[in->args[k]] = true;
        b->instrs.at[--kept] = r;
    }
    g->changed |= kept > 0;
    b->instrs.n -= kept;
    if (kept > 0) memmove(b->instrs.at, b->instrs.at + kept, b->instrs.n * sizeof(PyRef));
}

static void sweep(Cfg *g) {
    PyRef *subst = ARENA_ARRAY(g->c->arena, PyRef, g->f->instrs.n + 1);
    bool *used = ARENA_ARRAY(g->c->arena, bool, g->f->instrs.n + 1);
    for (uint32_t i = 0; i < g->norder; i++) forward(g, block(g, g->order[i]), subst);
    liveness(g);
    uint64_t *live = ARENA_ARRAY(g->c->arena, uint64_t, g->words);
    for (uint32_t i = 0; i < g->norder; i++) sweep_block(g, block(g, g->order[i]), live, used);
}

/* ---- merge ----------------------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

static bool same_instr(const Cfg *g, const PyInstr *a, const PyInstr *b, bool any_line) {
    if (a->op != b->op || a->nargs != b->nargs || a->imm != b->imm || a->imm2 != b->imm2 ||
        a->kwnames.n != b->kwnames.n || !same_text(a->name, b->name) || (!any_line && a->span.line != b->span.line))
        return false;
    for (uint32_t i = 0; i < a->kwnames.n; i++)
        if (!same_text(a->kwnames.at[i], b->kwnames.at[i])) return false;
    return a->obj == b->obj || (a->obj && b->obj && g->c->host->same(g->c->host->self, a->obj, b->obj));
}

/* How far from the end of its block a value is made; far away for none. */
static uint32_t from_end(const PyBlock *b, PyRef r) {
    for (uint32_t i = b->instrs.n; r && i-- > 0;)
        if (b->instrs.at[i] == r) return b->instrs.n - i;
    return r ? UINT32_MAX - 1 : UINT32_MAX;
}

static bool same_operand(const PyBlock *a, PyRef x, const PyBlock *b, PyRef y, uint32_t *need) {
    uint32_t p = from_end(a, x), q = from_end(b, y);
    if (p != q) return false;
    if (p != UINT32_MAX && p > *need) *need = p;
    return true;
}

/* The longest equal ends of two blocks that use nothing made before them. A constant that is returned
 * may have another line: `return` at the end of a function is copied with the line of where it came from. */
static uint32_t equal_ends(const Cfg *g, const PyBlock *a, const PyBlock *b) {
    uint32_t best = 0, need = 0, n = a->instrs.n < b->instrs.n ? a->instrs.n : b->instrs.n;
    bool exits = a->nsucc == 0;
    if (!same_operand(a, a->arg, b, b->arg, &need) || !same_operand(a, a->cause, b, b->cause, &need)) return 0;
    for (uint32_t k = 1; k <= n; k++) {
        PyRef x = a->instrs.at[a->instrs.n - k], y = b->instrs.at[b->instrs.n - k];
        const PyInstr *p = instr(g, x), *q = instr(g, y);
        bool returned = a->term == PYT_RETURN && a->arg == x && p->op == PY_CONST;
        if (!same_instr(g, p, q, returned) || (exits && p->op == PYX_LOADVAR && on_stack(g, p->imm))) break;
        bool operands = true;
        for (uint32_t i = 0; i < p->nargs && operands; i++)
            operands = same_operand(a, p->args[i], b, q->args[i], &need);
        if (!operands) break;
        if (need <= k) best = k;
    }
    return best;
}

/* The last n instructions of block b become those of a block of their own, to which b jumps. */
static PyBlockId split_end(Cfg *g, PyBlockId id, uint32_t n) {
    if (block(g, id)->instrs.n == n && id != 0) return id;
    PyBlock end = *block(g, id);
    end.instrs.at = NULL;
    end.instrs.n = end.instrs.cap = 0;
    end.preds.at = NULL;
    end.preds.n = end.preds.cap = 0;
    VEC_PUSH(g->c->arena, &g->f->blocks, end);
    PyBlockId made = g->f->blocks.n - 1;
    PyBlock *b = block(g, id), *e = block(g, made);
    for (uint32_t i = b->instrs.n - n; i < b->instrs.n; i++) {
        VEC_PUSH(g->c->arena, &e->instrs, b->instrs.at[i]);
        instr(g, b->instrs.at[i])->block = made;
    }
    b->instrs.n -= n;
    b->cause = 0;
    make_jump(b, made);
    return made;
}

static bool merge_pair(Cfg *g, PyBlockId a, PyBlockId b) {
    const PyBlock *x = block(g, a), *y = block(g, b);
    if (a == b || x->term != y->term || x->nsucc != y->nsucc || x->instrs.n == 0 || y->instrs.n == 0) return false;
    for (uint32_t k = 0; k < x->nsucc; k++)
        if (x->succ[k] != y->succ[k]) return false;
    uint32_t n = equal_ends(g, x, y);
    if (n == 0) return false;
    PyBlockId end = split_end(g, a, n);
    PyBlock *other = block(g, b);
    other->instrs.n -= n;
    other->cause = 0;
    make_jump(other, end);
    return true;
}

/* Pairs of blocks that lead to the same place, or to none. */
static bool merge_among(Cfg *g, const PyBlockId *among, uint32_t n) {
    bool merged = false;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++) merged |= merge_pair(g, among[i], among[k]);
    return merged;
}

/* Works from the predecessors as they were; what a merge changed is compared as it is now, or in the next round. */
static bool merge_all(Cfg *g) {
    PyBlockId *exits = ARENA_ARRAY(g->c->arena, PyBlockId, g->norder + 1);
    uint32_t nexits = 0;
    bool merged = false;
    for (uint32_t i = 0; i < g->norder; i++) {
        const PyBlock b = *block(g, g->order[i]);
        if (b.nsucc == 0) exits[nexits++] = g->order[i];
        if (b.preds.n > 1) merged |= merge_among(g, b.preds.at, b.preds.n);
    }
    return merge_among(g, exits, nexits) || merged;
}

static void merge(Cfg *g) {
    if (g->norder > MAX_MERGED_BLOCKS) return;
    while (merge_all(g)) {
        g->changed = true;
        refresh(g);
        skip(g);
        refresh(g);
    }
}

/* ---- join --------------------------------------------------------------------------------------------------- */

static void join(Cfg *g) {
    for (uint32_t i = 0; i < g->norder; i++) {
        PyBlockId a = g->order[i];
        for (;;) {
            PyBlock *b = block(g, a);
            PyBlockId next = b->succ[0];
            if (b->term != PYT_JUMP || next == a || next == 0 || block(g, next)->preds.n != 1) break;
            PyBlock *n = block(g, next);
            for (uint32_t k = 0; k < n->instrs.n; k++) {
                instr(g, n->instrs.at[k])->block = a;
                VEC_PUSH(g->c->arena, &b->instrs, n->instrs.at[k]);
            }
            b->term = n->term;
            b->arg = n->arg;
            b->cause = n->cause;
            b->term_span = n->term_span;
            b->nsucc = n->nsucc;
            b->succ[0] = n->succ[0];
            b->succ[1] = n->succ[1];
            n->instrs.n = 0;
            n->nsucc = 0;
            n->term = PYT_UNREACHABLE;
            n->preds.n = 0;
            for (uint32_t k = 0; k < b->nsucc; k++) {
                PyBlock *s = block(g, b->succ[k]);
                for (uint32_t p = 0; p < s->preds.n; p++)
                    if (s->preds.at[p] == next) s->preds.at[p] = a;
            }
            g->changed = true;
        }
    }
}

void pycfg_clean(PyCtx *c, PyFunc *f, const PyVars *vars) {
    Cfg g = {.c = c, .f = f, .vars = vars};
    g.captured = ARENA_ARRAY(c->arena, bool, vars->at.n + 1);
    for (uint32_t r = 1; r < f->instrs.n; r++)
        if (f->instrs.at[r].op == PY_CELL) g.captured[f->instrs.at[r].imm2 - 1] = true;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        static void (*const rules[])(Cfg *) = {fold, skip, thread, copy_tails, sweep, merge, join};
        g.changed = false;
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
            refresh(&g);
            rules[i](&g);
        }
        if (!g.changed) return;
    }
}
