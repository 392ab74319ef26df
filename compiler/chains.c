/* chains.c - addresses in loops are made in steps, what changes least first, for GPUs.
 *
 *   addr p, (y + i) * w + (x + j), 4     with i that counts an outer loop, and j an inner one:
 *
 *   addr (addr (addr p, y * w + x, 4), i64(i) * i64(w), 4), j, 4
 *
 * needs: the end of the pipeline      keeps: all addresses
 *
 * LLVM then adds to a pointer what a round adds, where it would compute the whole index in 32 bits again: it can't know
 * that the sums of such an index don't wrap, which narrow.c has proven (ARITH_NO_WRAP). Since the exact sum fits, its
 * parts can be added in any order as long as each is exact: a part that was there is, and a product of 64 bits.
 * (y + i) * w is taken apart where neither y nor i is below 0, so that y * w is no larger than all of it and exact. */
#include "loops.h"
#include "ranges.h"

enum { MOST_TERMS = 12, DEEPEST = 8 };

typedef struct Loop {
    BlockId header;
    uint32_t parent, depth;
} Loop;

/* a * b, or a alone. */
typedef struct Term {
    Ref a, b;
    uint32_t depth; /* of the loop that it changes in, seen from the address */
    bool counts;    /* a counts that loop, b is fixed in it */
} Term;

typedef struct Chains {
    IrModule *m;
    Range *range;      /* made when it is needed */
    VEC(Loop) loops;   /* from 1 */
    uint32_t *loop_of; /* by block: the innermost loop */
    uint32_t *home;    /* by Ref: the innermost loop in which it changes */
    BlockId here;      /* where the address stands */
    Term terms[MOST_TERMS];
    uint32_t n;
} Chains;

static const Instr *instr(const Chains *C, Ref r) { return &C->m->instrs.at[r]; }

/* ---- which loops values change in ---------------------------------------------------------------- */

static void find_loops(Chains *C, const DomTree *tree, const BlockId *order, uint32_t n) {
    VEC_PUSH(C->m->arena, &C->loops, ((Loop){0}));
    for (uint32_t i = n; i-- > 0;) {
        NaturalLoop found;
        if (!loop_find(C->m, tree, order[i], &found)) continue;
        uint32_t parent = C->loop_of[order[i]];
        Loop loop = {order[i], parent, C->loops.at[parent].depth + 1};
        for (BlockId b = 0; b < C->m->blocks.n; b++)
            if (found.inside[b]) C->loop_of[b] = C->loops.n;
        VEC_PUSH(C->m->arena, &C->loops, loop);
    }
}

/* The innermost loop that is around both. */
static uint32_t common_loop(const Chains *C, uint32_t a, uint32_t b) {
    while (a != b) {
        uint32_t *deeper = C->loops.at[a].depth > C->loops.at[b].depth ? &a : &b;
        *deeper = C->loops.at[*deeper].parent;
    }
    return a;
}

static void find_home(Chains *C, Ref r) {
    const Instr *in = instr(C, r);
    uint32_t here = C->loop_of[in->block], home = 0;
    bool made_of_operands = op_info[in->op].flags & PURE && in->op != OP_PHI;
    if (!made_of_operands) home = here;
    for (uint32_t i = 0; made_of_operands && i < in->nargs; i++) {
        uint32_t of = common_loop(C, C->home[in->args[i]], here);
        if (C->loops.at[of].depth > C->loops.at[home].depth) home = of;
    }
    C->home[r] = home;
}

static void find_homes(Chains *C, const BlockId *order, uint32_t n) {
    for (uint32_t i = n; i-- > 0;) {
        const Block *b = &C->m->blocks.at[order[i]];
        for (uint32_t k = 0; k < b->instrs.n; k++) find_home(C, b->instrs.at[k]);
    }
}

static uint32_t loop_seen(const Chains *C, Ref r) { return common_loop(C, C->home[r], C->loop_of[C->here]); }
static uint32_t depth_of(const Chains *C, Ref r) { return r ? C->loops.at[loop_seen(C, r)].depth : 0; }

/* ---- the parts of an index ------------------------------------------------------------------------ */

static bool is_exact(const Instr *in, Op op) { return in->op == op && in->type == T_I32 && in->sub & ARITH_NO_WRAP; }

/* Whether some parts of r change in other loops than others. */
static bool is_mixed(const Chains *C, Ref r, int deepest) {
    const Instr *in = instr(C, r);
    if (!deepest || (!is_exact(in, OP_ADD) && !is_exact(in, OP_MUL))) return false;
    for (int i = 0; i < 2; i++)
        if (is_mixed(C, in->args[i], deepest - 1)) return true;
    return in->op == OP_ADD && depth_of(C, in->args[0]) != depth_of(C, in->args[1]);
}

static bool not_below_0(Chains *C, Ref r, int deepest) {
    const Instr *in = instr(C, r);
    if (!C->range) C->range = ir_ranges(C->m);
    if (C->range[r].lo >= 0 && C->range[r].lo <= C->range[r].hi) return true;
    return deepest && (is_exact(in, OP_ADD) || is_exact(in, OP_MUL)) && not_below_0(C, in->args[0], deepest - 1) &&
           not_below_0(C, in->args[1], deepest - 1);
}

/* r grows by something fixed in each round of the loop that it changes in. */
static bool counts_loop(const Chains *C, Ref r) {
    const Instr *in = instr(C, r);
    const Loop *loop = &C->loops.at[loop_seen(C, r)];
    if (!loop->depth || in->op != OP_PHI || in->block != loop->header || in->type != T_I32) return false;
    for (uint32_t i = 0; i < in->nargs; i++) {
        const Instr *next = instr(C, in->args[i]);
        if (next->op == OP_ADD && (next->args[0] == r || next->args[1] == r))
            return C->loops.at[C->home[next->args[next->args[0] == r]]].depth < loop->depth;
    }
    return false;
}

static void add_term(Chains *C, Ref a, Ref b) {
    const Instr *in = instr(C, a);
    if (!b && is_exact(in, OP_MUL) && (counts_loop(C, in->args[0]) || counts_loop(C, in->args[1]))) {
        bool second = counts_loop(C, in->args[1]);
        a = in->args[second], b = in->args[!second];
    }
    Term t = {.a = a, .b = b};
    uint32_t x = depth_of(C, a), y = depth_of(C, b);
    t.depth = x > y ? x : y;
    t.counts = counts_loop(C, a) && y < x;
    if (C->n < MOST_TERMS) C->terms[C->n] = t;
    C->n++;
}

static void find_terms(Chains *C, Ref r, Ref factor, int deepest) {
    const Instr *in = instr(C, r);
    Ref a = in->nargs ? in->args[0] : REF_NONE, b = in->nargs > 1 ? in->args[1] : REF_NONE;
    bool mixed = is_mixed(C, r, deepest);
    if (mixed && in->op == OP_ADD && (!factor || (not_below_0(C, a, DEEPEST) && not_below_0(C, b, DEEPEST)))) {
        find_terms(C, a, factor, deepest - 1);
        find_terms(C, b, factor, deepest - 1);
    } else if (mixed && in->op == OP_MUL && !factor) {
        bool second = is_mixed(C, b, deepest - 1);
        find_terms(C, second ? b : a, second ? a : b, deepest - 1);
    } else {
        add_term(C, r, factor);
    }
}

static bool is_worth_it(const Chains *C) {
    for (uint32_t i = 0; i < C->n; i++)
        if (C->terms[i].counts && C->terms[i].b) return true;
    return false;
}

/* ---- the chain -------------------------------------------------------------------------------------- */

static Ref add(Chains *C, RefVec *list, Ref like, Op op, Type t, Ref a, Ref b, uint64_t imm) {
    IrModule *m = C->m;
    Instr in = {.op = (uint8_t)op, .type = (uint8_t)t, .nargs = b ? 2 : 1, .imm = imm, .block = C->here};
    in.span = instr(C, like)->span;
    in.args = ARENA_ARRAY(m->arena, Ref, 2);
    in.args[0] = a, in.args[1] = b;
    VEC_PUSH(m->arena, &m->instrs, in);
    VEC_PUSH(m->arena, list, m->instrs.n - 1);
    return m->instrs.n - 1;
}

static Ref as_index(Chains *C, RefVec *list, Ref like, const Term *t) {
    if (!t->b) return t->a;
    if (!t->counts) {
        Ref product = add(C, list, like, OP_MUL, T_I32, t->a, t->b, 0);
        C->m->instrs.at[product].sub = ARITH_NO_WRAP;
        return product;
    }
    Ref a = add(C, list, like, OP_CONVERT, T_I64, t->a, REF_NONE, 0);
    Ref b = add(C, list, like, OP_CONVERT, T_I64, t->b, REF_NONE, 0);
    return add(C, list, like, OP_MUL, T_I64, a, b, 0);
}

static bool is_constant(const Chains *C, const Term *t) { return !t->b && instr(C, t->a)->op == OP_CONST; }

/* What is fixed comes first, then outer loops; a constant last, since it is part of the access. */
static void sort_terms(Chains *C) {
    for (uint32_t i = 1; i < C->n; i++)
        for (uint32_t k = i; k > 0; k--) {
            Term *t = &C->terms[k - 1], last = t[1];
            if (is_constant(C, &last) || (last.depth >= t->depth && !is_constant(C, t))) break;
            t[1] = *t, *t = last;
        }
}

static void make_chain(Chains *C, RefVec *list, Ref r) {
    Ref base = instr(C, r)->args[0];
    uint64_t size = instr(C, r)->imm;
    sort_terms(C);
    for (uint32_t i = 0; i < C->n; i++) {
        Ref index = as_index(C, list, r, &C->terms[i]);
        if (i + 1 < C->n) {
            base = add(C, list, r, OP_ADDR, T_PTR, base, index, size);
            C->m->instrs.at[base].sub = ADDR_STEP;
        } else {
            Instr *in = &C->m->instrs.at[r];
            in->args = ARENA_ARRAY(C->m->arena, Ref, 2);
            in->args[0] = base, in->args[1] = index;
            in->sub |= ADDR_STEP;
        }
    }
}

static void change_block(Chains *C, BlockId b) {
    IrModule *m = C->m;
    RefVec list = {0};
    bool changed = false;
    C->here = b;
    for (uint32_t i = 0; i < m->blocks.at[b].instrs.n; i++) {
        Ref r = m->blocks.at[b].instrs.at[i];
        const Instr *in = instr(C, r);
        C->n = 0;
        if (in->op == OP_ADDR && in->type == T_PTR && instr(C, in->args[1])->type == T_I32)
            find_terms(C, in->args[1], REF_NONE, DEEPEST);
        if (C->n && C->n <= MOST_TERMS && is_worth_it(C)) {
            make_chain(C, &list, r);
            changed = true;
        }
        VEC_PUSH(m->arena, &list, r);
    }
    if (changed) m->blocks.at[b].instrs = list;
}

void pass_chains(IrModule *m) {
    Chains C = {.m = m};
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, m->blocks.n);
    uint32_t n = ir_postorder(m, order);
    DomTree tree = ir_dominators(m);
    C.loop_of = ARENA_ARRAY(m->arena, uint32_t, m->blocks.n);
    find_loops(&C, &tree, order, n);
    if (C.loops.n == 1) return;
    C.home = ARENA_ARRAY(m->arena, uint32_t, m->instrs.n);
    find_homes(&C, order, n);
    for (BlockId b = 0; b < m->blocks.n; b++)
        if (!m->blocks.at[b].dead && C.loop_of[b]) change_block(&C, b);
}
