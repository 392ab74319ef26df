/* uniform.c - what differs between the threads of a block: values, and which blocks they reach.
 *
 * The shape of a value is about threads that execute it together, in the same iteration of every
 * loop around it: the same constant, the same value, a value that grows by a constant stride with
 * threadIdx.x (stride 0: it differs along y or z only), or anything.
 *
 * Method: shapes rise from CONST in sweeps over the blocks. A branch on a condition that isn't
 * uniform is divergent: the blocks that it reaches before its immediate postdominator may be reached
 * by some threads only. From its successors labels spread along the edges; where two different ones
 * meet, threads that went different ways meet, and the PHIs there differ (where only one arm leads,
 * as into a loop inside an `if`, they don't). A loop that a divergent branch can leave is left in
 * different iterations: what was computed inside and is used outside differs. All this repeats until
 * nothing changes; a branch is looked at twice at most.
 *
 * Where a thread raises, the launch fails: what becomes of the others behind that place is asked of those that are
 * left, so a way that can only raise parts nobody.
 *
 * The same for the lanes of a vector, threads that follow each other along x and run in lock step: threadIdx.y is one
 * value for them, and so is what they load together from one place.
 *
 * Limits: otherwise only loads from memory that nothing writes are uniform; comparisons of affine values aren't;
 * control flow that isn't made of loops with one entry counts as divergent as a whole. */
#include "loops.h"
#include "vectors.h"

#include <string.h>

enum { UNSET = 255, NO_LOOP = 0 };

typedef struct Analysis {
    IrModule *m;
    Uniformity u;
    const IrLanes *lanes; /* NULL: threads of a block */
    BlockId *order;       /* reverse postorder */
    uint32_t live;
    DomTree tree;
    BlockId *ipdom;       /* blocks.n is the common exit */
    VEC(IrLoop) loops;    /* loops.at[0] is unused */
    uint32_t *loop_of;    /* = u.loop_of */
    uint8_t *join;        /* of each block: the worst condition whose ways meet here */
    uint8_t *branch_done; /* of each block: the shape of the condition that was dealt with */
    bool irreducible, changed;
} Analysis;

static const Instr *instr(const Analysis *A, Ref r) { return &A->m->instrs.at[r]; }

/* ---- graph ---------------------------------------------------------------------------------- */

/* The blocks from which an end can be reached, in postorder of the reversed graph; number: the place of each in it. */
static uint32_t reversed_postorder(const Analysis *A, BlockId *order, uint32_t *number, bool *seen) {
    const IrModule *m = A->m;
    uint32_t n = m->blocks.n, count = 0, *next = ARENA_ARRAY(m->arena, uint32_t, n + 1);
    BlockId *stack = ARENA_ARRAY(m->arena, BlockId, n + 1);
    for (uint32_t i = 0; i < A->live; i++) {
        BlockId b = A->order[i];
        if (m->blocks.at[b].nsucc || seen[b]) continue;
        uint32_t depth = 0;
        stack[depth++] = b;
        seen[b] = true;
        while (depth) {
            BlockId top = stack[depth - 1];
            const Block *block = &m->blocks.at[top];
            if (next[top] == block->preds.n) {
                number[top] = count;
                order[count++] = top;
                depth--;
                continue;
            }
            BlockId p = block->preds.at[next[top]++];
            if (!seen[p]) seen[p] = true, stack[depth++] = p;
        }
    }
    return count;
}

/* The blocks from which a way leads to an end of this kind. */
static void find_ways_to(const Analysis *A, Op kind, bool *leads) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = A->live; i-- > 0;) {
            BlockId b = A->order[i];
            const Block *block = &A->m->blocks.at[b];
            Ref end = ir_terminator(A->m, b);
            bool found = end != REF_NONE && instr(A, end)->op == kind;
            for (uint32_t s = 0; s < block->nsucc; s++) found = found || leads[block->succ[s]];
            changed |= found != leads[b];
            leads[b] = found;
        }
    }
}

/* Blocks from which every way raises, loops among them; none if that is true of the whole kernel. */
static void find_doomed(Analysis *A) {
    uint32_t n = A->m->blocks.n;
    bool *returns = ARENA_ARRAY(A->m->arena, bool, n);
    find_ways_to(A, OP_RAISE, A->u.doomed);
    find_ways_to(A, OP_RET, returns);
    for (BlockId b = 0; b < n; b++) A->u.doomed[b] = A->u.doomed[b] && !returns[b];
    if (A->u.doomed[0]) memset(A->u.doomed, 0, n * sizeof *A->u.doomed);
}

/* Does only one way from b not raise? */
static bool parts_nobody(const Analysis *A, BlockId b) {
    const Block *block = &A->m->blocks.at[b];
    return block->nsucc == 2 && A->u.doomed[block->succ[0]] != A->u.doomed[block->succ[1]];
}

/* Where the ways from b's successors meet; an endless loop counts as an exit: who goes there doesn't come back. */
static BlockId meeting_point(const Analysis *A, BlockId b, const uint32_t *number, const bool *seen) {
    const Block *block = &A->m->blocks.at[b];
    BlockId exit = A->m->blocks.n, best = block->nsucc ? UINT32_MAX : exit;
    for (uint32_t s = 0; s < block->nsucc; s++) {
        if (A->u.doomed[block->succ[s]] && !A->u.doomed[b]) continue;
        BlockId p = seen[block->succ[s]] ? block->succ[s] : exit;
        if (A->ipdom[p] == UINT32_MAX) continue;
        if (best == UINT32_MAX) best = p;
        while (p != best) {
            while (number[p] < number[best]) p = A->ipdom[p];
            while (number[best] < number[p]) best = A->ipdom[best];
        }
    }
    return best;
}

/* Immediate postdominators, by the dominator algorithm on the reversed graph with one exit after
 * all ends. A block from which no end can be reached gets the exit. */
static void postdominators(Analysis *A) {
    IrModule *m = A->m;
    BlockId exit = m->blocks.n, *order = ARENA_ARRAY(m->arena, BlockId, exit + 1);
    uint32_t *number = ARENA_ARRAY(m->arena, uint32_t, exit + 1);
    bool *seen = ARENA_ARRAY(m->arena, bool, exit + 1);
    for (BlockId b = 0; b < exit; b++) A->ipdom[b] = UINT32_MAX;
    uint32_t count = reversed_postorder(A, order, number, seen);
    number[exit] = count;
    A->ipdom[exit] = exit;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = count; i-- > 0;) {
            BlockId best = meeting_point(A, order[i], number, seen);
            if (best != A->ipdom[order[i]]) changed = true;
            A->ipdom[order[i]] = best;
        }
    }
    for (BlockId b = 0; b < exit; b++)
        if (A->ipdom[b] == UINT32_MAX) A->ipdom[b] = exit;
}

static bool in_loop(const Analysis *A, BlockId b, uint32_t loop) {
    uint32_t l = A->loop_of[b];
    while (l != loop && l != NO_LOOP) l = A->loops.at[l].parent;
    return l == loop;
}

/* Outer headers come first in the order, so that a block's innermost loop is the last one that has it. */
static void find_loops(Analysis *A) {
    IrModule *m = A->m;
    uint32_t *place = ARENA_ARRAY(m->arena, uint32_t, m->blocks.n);
    for (uint32_t i = 0; i < A->live; i++) place[A->order[i]] = i;
    VEC_PUSH(m->arena, &A->loops, (IrLoop){0});
    for (uint32_t i = 0; i < A->live; i++) {
        BlockId h = A->order[i];
        bool is_header = false;
        for (uint32_t k = 0; k < m->blocks.at[h].preds.n; k++) {
            BlockId p = m->blocks.at[h].preds.at[k];
            if (place[p] < i) continue;
            if (ir_dominates(&A->tree, h, p)) is_header = true;
            else A->irreducible = true;
        }
        if (!is_header || A->irreducible) continue;
        NaturalLoop loop;
        if (!loop_find(m, &A->tree, h, &loop)) continue;
        VEC_PUSH(m->arena, &A->loops, ((IrLoop){h, A->loop_of[h], false}));
        for (BlockId b = 0; b < m->blocks.n; b++)
            if (loop.inside[b]) A->loop_of[b] = A->loops.n - 1;
    }
}

/* ---- values --------------------------------------------------------------------------------- */

typedef struct Form {
    uint8_t shape;
    int64_t stride;
    bool exact;
} Form;

static const Form varying = {SHAPE_VARYING, 0, false};

static Form form_of(const Analysis *A, Ref r) { return (Form){A->u.value[r], A->u.stride[r], A->u.exact[r]}; }

static Form affine(int64_t stride, bool exact) { return (Form){SHAPE_AFFINE, stride, exact}; }

static Form sreg_form(const Analysis *A, Sreg s) {
    if (s == SREG_TID_X) return affine(1, true);
    if ((s == SREG_TID_Y || s == SREG_TID_Z) && !A->lanes) return affine(0, true);
    if (s == SREG_LANEID && A->lanes && A->lanes->warps) return affine(1, true);
    return s == SREG_LANEID ? varying : (Form){SHAPE_BLOCK, 0, true};
}

static bool const_value(const Analysis *A, Ref r, int64_t *v) {
    const Instr *in = instr(A, r);
    *v = (int64_t)in->imm;
    return in->op == OP_CONST && type_is_int((Type)in->type);
}

/* May an i32 index that grows by `stride` be taken to do so without a wrap? An access in bounds has an offset that is
 * SPARE away from where i32 ends: shared memory is small, arrays with FACT_SIZE32 too. So from the index of a lane that
 * is in bounds to that of any other lane of a vector nothing wraps, and what addresses the others have doesn't matter.
 */
static bool stays_in_array(const Analysis *A, const Instr *addr, int64_t stride) {
    enum { SPARE = FACT_SIZE32_SPARE / 64 /* the most lanes */ };
    Ref base = addr->args[0];
    while (instr(A, base)->op == OP_ADDR) base = instr(A, base)->args[0];
    const Instr *root = instr(A, base);
    bool is_array = root->op == OP_PARAM && A->m->params.at[root->imm].kind == PARAM_DATA;
    bool small = root->op == OP_SHARED || (is_array && A->m->facts & FACT_SIZE32);
    if (!A->lanes || !small || addr->imm > SPARE) return false;
    return stride < SPARE / (int64_t)(addr->imm | 1) && -stride < SPARE / (int64_t)(addr->imm | 1);
}

static bool is_interleaved(const Analysis *A, Ref pointer) {
    return A->lanes && A->lanes->unit && A->lanes->unit[pointer];
}

/* Operations that keep a stride that isn't 0. */
static Form linear_form(const Analysis *A, const Instr *in, const Form *f) {
    uint64_t s0 = (uint64_t)f[0].stride, s1 = in->nargs > 1 ? (uint64_t)f[1].stride : 0;
    bool exact = f[0].exact && (in->nargs < 2 || f[1].exact), same = in->sub & ARITH_NO_WRAP;
    int64_t c;
    switch (in->op) {
    case OP_ADD: return type_is_int((Type)in->type) ? affine((int64_t)(s0 + s1), exact && same) : varying;
    case OP_SUB: return type_is_int((Type)in->type) ? affine((int64_t)(s0 - s1), exact && same) : varying;
    case OP_MUL:
        if (const_value(A, in->args[1], &c)) return affine((int64_t)(s0 * (uint64_t)c), exact && same);
        if (const_value(A, in->args[0], &c)) return affine((int64_t)(s1 * (uint64_t)c), exact && same);
        return varying;
    case OP_SHL:
        if (!const_value(A, in->args[1], &c) || c < 0 || c >= (int64_t)type_bits((Type)in->type)) return varying;
        return affine((int64_t)(s0 << c), false);
    case OP_CONVERT: {
        Type from = instr(A, in->args[0])->type;
        if (!type_is_int((Type)in->type) || !type_is_int(from)) return varying;
        bool wider = type_bits((Type)in->type) > type_bits(from);
        if (wider && !f[0].exact) return varying;
        return affine(f[0].stride, f[0].exact && wider && type_is_signed((Type)in->type));
    }
    case OP_ADDR:
        if (is_interleaved(A, in->args[0])) return varying;
        if (type_bits(instr(A, in->args[1])->type) < 64 && s1 && !f[1].exact && !stays_in_array(A, in, f[1].stride))
            return varying;
        return affine((int64_t)(s0 + s1 * in->imm), false);
    case OP_SELECT:
        if (f[0].shape == SHAPE_AFFINE && f[0].stride) return varying;
        return f[1].stride == f[2].stride ? affine(f[1].stride, f[1].exact && f[2].exact) : varying;
    default: return varying;
    }
}

/* ---- a vector that is a warp ---- */

static bool is_sreg(const Analysis *A, Ref r, Sreg s) { return ir_sreg_of(A->m, r) == s; }

static bool is_block_size(const Analysis *A, Ref r) {
    return is_sreg(A, r, SREG_NTID_X) || is_sreg(A, r, SREG_NTID_Y) || is_sreg(A, r, SREG_NTID_Z);
}

static bool is_converted(const Instr *in) {
    return in->op == OP_CONVERT && type_is_int((Type)in->type) && type_bits((Type)in->type) >= 32;
}

/* How many rows of the block come before: one number for a warp, not below 0, and 0 where a block has one row. */
static bool counts_rows(const Analysis *A, Ref r) {
    const Instr *in = instr(A, r);
    switch (in->op) {
    case OP_SREG: return in->sub == SREG_TID_Y || in->sub == SREG_TID_Z;
    case OP_CONVERT: return is_converted(in) && counts_rows(A, in->args[0]);
    case OP_MUL:
        return (counts_rows(A, in->args[0]) && is_block_size(A, in->args[1])) ||
               (counts_rows(A, in->args[1]) && is_block_size(A, in->args[0]));
    case OP_ADD: return counts_rows(A, in->args[0]) && counts_rows(A, in->args[1]);
    default: return false;
    }
}

/* A multiple of 32: a row is made of warps, or there is only one. */
static bool is_whole_rows(const Analysis *A, Ref r) {
    const Instr *in = instr(A, r);
    if (in->op != OP_MUL) return false;
    return (is_sreg(A, in->args[1], SREG_NTID_X) && counts_rows(A, in->args[0])) ||
           (is_sreg(A, in->args[0], SREG_NTID_X) && counts_rows(A, in->args[1]));
}

/* threadIdx.x, or the thread's number in the block. */
static bool is_thread_number(const Analysis *A, Ref r) {
    const Instr *in = instr(A, r);
    if (is_sreg(A, r, SREG_TID_X)) return true;
    if (is_converted(in)) return is_thread_number(A, in->args[0]);
    if (in->op != OP_ADD) return false;
    return (is_sreg(A, in->args[1], SREG_TID_X) && is_whole_rows(A, in->args[0])) ||
           (is_sreg(A, in->args[0], SREG_TID_X) && is_whole_rows(A, in->args[1]));
}

/* The thread's number by or with a constant: the number of the warp, the lane, `x < 32`. */
static bool warp_form(const Analysis *A, const Instr *in, Form *out) {
    int64_t c;
    if (!A->lanes || !A->lanes->warps || in->nargs != 2) return false;
    if (!is_thread_number(A, in->args[0]) || !const_value(A, in->args[1], &c) || c < 1) return false;
    bool whole = c % 32 == 0;
    switch (in->op) {
    case OP_AND: *out = affine(1, true); return c == 31;
    case OP_FLOORMOD:
    case OP_TRUNCMOD: *out = affine(1, true); return c == 32;
    case OP_SHR: *out = (Form){SHAPE_BLOCK, 0, true}; return c >= 5 && c < 31;
    case OP_FLOORDIV:
    case OP_TRUNCDIV: *out = (Form){SHAPE_BLOCK, 0, true}; return whole;
    case OP_CMP: *out = (Form){SHAPE_BLOCK, 0, true}; return whole && (in->sub == PRED_LT || in->sub == PRED_GE);
    default: return false;
    }
}

/* With one mask for all lanes, they all get the same. */
static Form collective_form(const Analysis *A, const Instr *in) {
    if (!A->lanes || !A->lanes->warps) return varying;
    if (in->op == OP_ACTIVEMASK) return (Form){SHAPE_BLOCK, 0, true};
    Form mask = form_of(A, in->args[0]);
    if (mask.shape == UNSET) return mask;
    return mask.shape <= SHAPE_BLOCK ? (Form){SHAPE_BLOCK, 0, true} : varying;
}

/* The worst of the operands; an affine one stays so in operations that are linear in it. */
static Form pure_form(const Analysis *A, const Instr *in) {
    Form f[3] = {{0}};
    uint8_t worst = SHAPE_CONST;
    bool strides = false;
    for (uint32_t i = 0; i < in->nargs; i++) {
        Form g = form_of(A, in->args[i]);
        if (g.shape == UNSET) return (Form){UNSET, 0, false};
        if (i < 3) f[i] = g;
        if (g.shape > worst) worst = g.shape;
        strides |= g.stride != 0;
    }
    Form special;
    if (warp_form(A, in, &special)) return special;
    if (in->op == OP_SELECT && A->lanes && A->lanes->choice) {
        uint8_t choice = A->lanes->choice[in - A->m->instrs.at];
        if (choice == CHOICE_FIRST || choice == CHOICE_SECOND) return f[choice == CHOICE_FIRST ? 1 : 2];
        if (choice == CHOICE_EITHER && f[1].stride == f[2].stride && f[1].shape <= SHAPE_AFFINE &&
            f[2].shape <= SHAPE_AFFINE)
            return affine(f[1].stride, f[1].exact && f[2].exact);
    }
    if (worst == SHAPE_AFFINE && strides) return linear_form(A, in, f);
    return (Form){worst, 0, worst != SHAPE_VARYING};
}

/* Operands that threads bring along from different ways differ. */
static Form phi_form(const Analysis *A, const Instr *in) {
    Form sum = {UNSET, 0, true};
    uint8_t join = A->join[in->block];
    bool one = true;
    for (uint32_t i = 0; i < in->nargs; i++) {
        Form f = form_of(A, in->args[i]);
        if (in->args[i] != in->args[0]) one = false;
        if (f.shape == UNSET) continue;
        bool exact = sum.exact && f.exact, first = sum.shape == UNSET;
        if (!first && f.stride != sum.stride) return varying;
        sum = (Form){first || f.shape > sum.shape ? f.shape : sum.shape, f.stride, exact};
    }
    if (sum.shape == UNSET || one) return sum;
    if (join == SHAPE_VARYING || sum.shape == SHAPE_VARYING) return varying;
    if (sum.shape == SHAPE_CONST) sum.shape = SHAPE_BLOCK;
    if (join == SHAPE_AFFINE) sum.shape = SHAPE_AFFINE;
    return sum;
}

static Form load_form(const Analysis *A, const Instr *in) {
    Form f = form_of(A, in->args[0]);
    if (f.shape == UNSET) return f;
    bool same = (in->sub & MEM_INVARIANT || A->lanes) && !is_interleaved(A, in->args[0]);
    if (!same || in->sub & MEM_VOLATILE || f.stride || f.shape == SHAPE_VARYING) return varying;
    return (Form){f.shape == SHAPE_CONST ? SHAPE_BLOCK : f.shape, 0, true};
}

static Form evaluate(const Analysis *A, const Instr *in) {
    switch (in->op) {
    case OP_CONST:
    case OP_SHARED:
    case OP_DATA: return (Form){SHAPE_CONST, 0, true};
    case OP_PARAM: return (Form){SHAPE_BLOCK, 0, true};
    case OP_SREG: return sreg_form(A, (Sreg)in->sub);
    case OP_BARRIER_RED: return (Form){SHAPE_BLOCK, 0, true};
    case OP_VOTE:
    case OP_REDUX:
    case OP_ACTIVEMASK: return collective_form(A, in);
    case OP_ALLOCA: return is_interleaved(A, (Ref)(in - A->m->instrs.at)) ? (Form){SHAPE_BLOCK, 0, true} : varying;
    case OP_PHI: return phi_form(A, in);
    case OP_LOAD: return load_form(A, in);
    default: return op_info[in->op].flags & PURE ? pure_form(A, in) : varying;
    }
}

/* Shapes only rise: a value that would change its stride is VARYING. */
static bool raise_to(Analysis *A, Ref r, Form f) {
    uint8_t old = A->u.value[r];
    if (f.shape == UNSET || old == SHAPE_VARYING) return false;
    if (old == SHAPE_AFFINE && f.shape == SHAPE_AFFINE && f.stride != A->u.stride[r]) f = varying;
    bool less_exact = old != UNSET && A->u.exact[r] && !f.exact;
    if (old != UNSET && f.shape <= old && !less_exact) return false;
    if (old != UNSET && f.shape < old) f.shape = old, f.stride = A->u.stride[r];
    A->u.value[r] = f.shape;
    A->u.stride[r] = f.stride;
    A->u.exact[r] = f.exact && (old == UNSET || A->u.exact[r]);
    return true;
}

static void sweep(Analysis *A) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < A->live; i++) {
            const Block *b = &A->m->blocks.at[A->order[i]];
            for (uint32_t k = 0; k < b->instrs.n; k++) {
                const Instr *in = instr(A, b->instrs.at[k]);
                if (in->type != T_VOID && raise_to(A, b->instrs.at[k], evaluate(A, in))) changed = true;
            }
        }
    }
}

/* ---- control -------------------------------------------------------------------------------- */

static void note_join(Analysis *A, BlockId b, uint8_t shape) {
    if (A->join[b] < shape) A->join[b] = shape, A->changed = true;
}

/* Threads part at b: marks what they reach apart, and where their ways meet. */
static void diverge(Analysis *A, BlockId b, uint8_t shape) {
    IrModule *m = A->m;
    BlockId end = A->ipdom[b];
    BlockId *label = ARENA_ARRAY(m->arena, BlockId, m->blocks.n); /* + 1 */
    VEC(BlockId) work = {0};
    for (uint32_t s = 0; s < m->blocks.at[b].nsucc; s++) {
        BlockId to = m->blocks.at[b].succ[s];
        label[to] = to + 1;
        VEC_PUSH(m->arena, &work, to);
    }
    while (work.n) {
        BlockId from = work.at[--work.n];
        if (from == end) continue;
        A->u.block_divergent[from] = true;
        if (from == b) continue;
        for (uint32_t s = 0; s < m->blocks.at[from].nsucc; s++) {
            BlockId to = m->blocks.at[from].succ[s];
            if (label[to] == label[from]) continue;
            if (!label[to]) label[to] = label[from];
            else if (label[to] == to + 1 && A->join[to] >= shape) continue;
            else {
                label[to] = to + 1;
                note_join(A, to, shape);
            }
            VEC_PUSH(m->arena, &work, to);
        }
    }
    for (uint32_t l = A->loop_of[b]; l != NO_LOOP; l = A->loops.at[l].parent) {
        if (end < m->blocks.n && in_loop(A, end, l)) break;
        A->loops.at[l].divergent = true;
    }
    A->changed = true;
}

/* Some threads raise, and those that are left go on together. The blocks in which they do so are no loops. */
static void raise_apart(Analysis *A, BlockId b, uint8_t shape) {
    for (uint32_t i = 0; i < A->live; i++) {
        const Block *block = &A->m->blocks.at[A->order[i]];
        bool reached = false;
        for (uint32_t k = 0; k < block->preds.n; k++)
            reached |= block->preds.at[k] == b ||
                       (A->u.doomed[block->preds.at[k]] && A->u.block_divergent[block->preds.at[k]]);
        if (!A->u.doomed[A->order[i]] || !reached) continue;
        A->u.block_divergent[A->order[i]] = true;
        note_join(A, A->order[i], shape);
    }
}

static void look_at_branches(Analysis *A) {
    for (uint32_t i = 0; i < A->live; i++) {
        BlockId b = A->order[i];
        if (A->m->blocks.at[b].nsucc != 2 || (A->lanes && A->lanes->agree && A->lanes->agree[b])) continue;
        Ref cond = instr(A, ir_terminator(A->m, b))->args[0];
        uint8_t shape = form_of(A, cond).shape;
        if (shape == UNSET || shape <= SHAPE_BLOCK || A->branch_done[b] >= shape) continue;
        A->branch_done[b] = shape;
        if (parts_nobody(A, b)) raise_apart(A, b, shape);
        else diverge(A, b, shape);
    }
}

/* Was r computed in a loop that threads leave at different times, seen from outside? */
static bool left_divergently(const Analysis *A, Ref r, BlockId use) {
    for (uint32_t l = A->loop_of[instr(A, r)->block]; l != NO_LOOP; l = A->loops.at[l].parent)
        if (A->loops.at[l].divergent && !in_loop(A, use, l)) return true;
    return false;
}

/* ... then it differs. */
static void mark_left_values(Analysis *A) {
    for (uint32_t i = 0; i < A->live && A->loops.n > 1; i++) {
        const Block *b = &A->m->blocks.at[A->order[i]];
        for (uint32_t k = 0; k < b->instrs.n; k++) {
            const Instr *in = instr(A, b->instrs.at[k]);
            for (uint32_t a = 0; a < in->nargs; a++)
                if (A->u.value[in->args[a]] != SHAPE_CONST && left_divergently(A, in->args[a], in->block))
                    A->changed |= raise_to(A, in->args[a], varying);
        }
    }
}

static void everything_varies(Analysis *A) {
    for (Ref r = 0; r < A->m->instrs.n; r++) {
        A->u.value[r] = SHAPE_VARYING;
        A->u.stride[r] = 0;
    }
    for (BlockId b = 0; b < A->m->blocks.n; b++) A->u.block_divergent[b] = true;
}

/* What is known beforehand. */
static void begin_with(Analysis *A, const Uniformity *floor, const bool *kept) {
    for (Ref r = 0; r < A->m->instrs.n; r++) {
        if (!kept[r] || floor->value[r] == SHAPE_CONST) continue;
        A->u.value[r] = floor->value[r];
        A->u.stride[r] = floor->stride[r];
        A->u.exact[r] = floor->exact[r];
    }
}

Uniformity ir_uniformity(IrModule *m, const IrLanes *lanes) {
    uint32_t n = m->blocks.n, values = m->instrs.n;
    Analysis A = {.m = m,
                  .lanes = lanes,
                  .order = ARENA_ARRAY(m->arena, BlockId, n),
                  .ipdom = ARENA_ARRAY(m->arena, BlockId, n + 1),
                  .loop_of = ARENA_ARRAY(m->arena, uint32_t, n),
                  .join = ARENA_ARRAY(m->arena, uint8_t, n),
                  .branch_done = ARENA_ARRAY(m->arena, uint8_t, n)};
    A.u = (Uniformity){.value = ARENA_ARRAY(m->arena, uint8_t, values),
                       .stride = ARENA_ARRAY(m->arena, int64_t, values),
                       .exact = ARENA_ARRAY(m->arena, bool, values),
                       .block_divergent = ARENA_ARRAY(m->arena, bool, n),
                       .doomed = ARENA_ARRAY(m->arena, bool, n),
                       .loop_of = A.loop_of};
    memset(A.u.value, UNSET, values);
    A.live = ir_postorder(m, A.order);
    for (uint32_t i = 0; i < A.live / 2; i++) {
        BlockId swap = A.order[i];
        A.order[i] = A.order[A.live - 1 - i];
        A.order[A.live - 1 - i] = swap;
    }
    A.tree = ir_dominators(m);
    find_doomed(&A);
    postdominators(&A);
    find_loops(&A);
    A.u.loops = A.loops.at;
    A.u.nloops = A.loops.n;
    A.u.irreducible = A.irreducible;
    if (A.irreducible) {
        everything_varies(&A);
        return A.u;
    }
    if (lanes && lanes->kept) begin_with(&A, lanes->floor, lanes->kept);
    do {
        A.changed = false;
        sweep(&A);
        look_at_branches(&A);
        mark_left_values(&A);
    } while (A.changed);
    for (Ref r = 0; r < values; r++)
        if (A.u.value[r] == UNSET) A.u.value[r] = SHAPE_VARYING; /* not in a live block */
    return A.u;
}
