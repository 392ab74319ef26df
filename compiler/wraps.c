/* wraps.c - indices that may count from the end, for GPUs.
 *
 *   select(i < 0, i + n, i)      ->      as unsigned numbers: min(i, i + n)
 *
 * needs: the end of the pipeline      keeps: all accesses that are in bounds
 *
 * An i below 0 is large as an unsigned number, and i + n is then the small one; otherwise i is. A GPU does the sum and
 * the minimum in one or two instructions, without a predicate. Below -n both are below 0, but not the same: so this is
 * done only where that is out of bounds, because the choice ends in addresses of arrays, and no sum with it on the way
 * is known not to be below 0. i and n have to fit i32; a CPU wants to see the choice, which its vectors guard. */
#include "ranges.h"

typedef struct Wraps {
    IrModule *m;
    const Range *range; /* by Ref; NULL: not yet asked for */
    bool *exact;        /* by Ref: another number below 0 would make a difference */
} Wraps;

static const Instr *instr(const Wraps *W, Ref r) { return &W->m->instrs.at[r]; }

/* Operands that only become parts of its result. */
static bool passes_on(const Instr *in, uint32_t operand) {
    switch (in->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_PHI: return type_is_int((Type)in->type);
    case OP_CONVERT: return type_is_int((Type)in->type) && type_bits((Type)in->type) >= 32;
    case OP_SELECT: return operand > 0 && type_is_int((Type)in->type);
    default: return false;
    }
}

static bool is_in_array(const Wraps *W, Ref pointer) {
    const Instr *in = instr(W, pointer);
    while (in->op == OP_ADDR) in = instr(W, in->args[0]);
    return in->op == OP_SHARED || in->op == OP_DATA || in->op == OP_ALLOCA ||
           (in->op == OP_PARAM && W->m->params.at[in->imm].kind == PARAM_DATA);
}

static bool is_harmless(const Wraps *W, Ref user, uint32_t operand) {
    const Instr *in = instr(W, user);
    if (in->op == OP_ADDR) return operand == 1 && is_in_array(W, in->args[0]);
    return passes_on(in, operand) && W->range[user].lo < 0;
}

static void find_exact(Wraps *W) {
    IrModule *m = W->m;
    RefVec work = {0};
    for (BlockId b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++) {
            const Instr *in = instr(W, block->instrs.at[i]);
            for (uint32_t k = 0; k < in->nargs; k++) {
                if (W->exact[in->args[k]] || is_harmless(W, block->instrs.at[i], k)) continue;
                W->exact[in->args[k]] = true;
                VEC_PUSH(m->arena, &work, in->args[k]);
            }
        }
    }
    while (work.n) {
        const Instr *in = instr(W, work.at[--work.n]);
        for (uint32_t k = 0; k < in->nargs; k++) {
            if (W->exact[in->args[k]] || !passes_on(in, k)) continue;
            W->exact[in->args[k]] = true;
            VEC_PUSH(m->arena, &work, in->args[k]);
        }
    }
}

/* The i32 that r is, or was made of; REF_NONE: there is none. */
static Ref small(const Wraps *W, Ref r) {
    const Instr *in = instr(W, r);
    if (in->type == T_I32) return r;
    return in->op == OP_CONVERT && instr(W, in->args[0])->type == T_I32 ? in->args[0] : REF_NONE;
}

static bool is_zero(const Wraps *W, Ref r) { return instr(W, r)->op == OP_CONST && instr(W, r)->imm == 0; }

static bool is_size(const Wraps *W, Ref r) {
    const Instr *in = instr(W, r);
    if (in->op == OP_CONVERT && type_is_int((Type)in->type)) in = instr(W, in->args[0]);
    if (in->op == OP_CONST) return in->imm <= INT32_MAX;
    return in->op == OP_PARAM && W->m->params.at[in->imm].kind == PARAM_SHAPE && W->m->facts & FACT_SIZE32;
}

/* The n of select(i < 0, i + n, i). */
static Ref size_added(const Wraps *W, const Instr *in) {
    if (in->op != OP_SELECT || (in->type != T_I64 && in->type != T_I32)) return REF_NONE;
    const Instr *below = instr(W, in->args[0]), *sum = instr(W, in->args[1]);
    Ref i = in->args[2], x = small(W, i);
    if (!x || below->op != OP_CMP || below->sub != PRED_LT || !is_zero(W, below->args[1]) || sum->op != OP_ADD)
        return REF_NONE;
    if (below->args[0] != i && small(W, below->args[0]) != x) return REF_NONE;
    for (int k = 0; k < 2; k++)
        if (sum->args[k] == i && is_size(W, sum->args[1 - k])) return sum->args[1 - k];
    return REF_NONE;
}

/* A new instruction, placed before the one that is looked at. */
static Ref add(Wraps *W, RefVec *list, const Instr *like, Op op, Type t, Ref a, Ref b) {
    IrModule *m = W->m;
    Instr in = {.op = (uint8_t)op, .type = (uint8_t)t, .nargs = b ? 2 : 1, .span = like->span, .block = like->block};
    in.args = ARENA_ARRAY(m->arena, Ref, 2);
    in.args[0] = a, in.args[1] = b;
    VEC_PUSH(m->arena, &m->instrs, in);
    VEC_PUSH(m->arena, list, m->instrs.n - 1);
    return m->instrs.n - 1;
}

static void choose_least(Wraps *W, RefVec *list, Ref r, Ref n) {
    Instr old = *instr(W, r);
    Ref x = add(W, list, &old, OP_CONVERT, T_U32, small(W, old.args[2]), REF_NONE);
    Ref size = add(W, list, &old, OP_CONVERT, T_U32, n, REF_NONE);
    Ref sum = add(W, list, &old, OP_ADD, T_U32, x, size);
    Ref least = add(W, list, &old, OP_MIN, T_U32, x, sum);
    if (old.type == T_I64) least = add(W, list, &old, OP_CONVERT, T_I32, least, REF_NONE);
    Instr *in = &W->m->instrs.at[r];
    in->op = OP_CONVERT;
    in->nargs = 1;
    in->args[0] = least;
}

void pass_wraps(IrModule *m) {
    Wraps W = {.m = m};
    for (BlockId b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        RefVec list = {0};
        bool changed = false;
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++) {
            Ref r = block->instrs.at[i], n = size_added(&W, instr(&W, r));
            if (n && !W.range) {
                W.range = ir_ranges(m);
                W.exact = ARENA_ARRAY(m->arena, bool, m->instrs.n);
                find_exact(&W);
            }
            if (n && (W.range[r].lo >= 0 || !W.exact[r])) {
                choose_least(&W, &list, r, n);
                changed = true;
            }
            VEC_PUSH(m->arena, &list, r);
        }
        if (changed) m->blocks.at[b].instrs = list;
    }
}
