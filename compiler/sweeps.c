/* sweeps.c - loops in which the threads of a block go over memory side by side go round together, for the CPU.
 *
 * needs: the end of the pipeline      keeps: what the kernel does
 *
 *   for i in range(grid(1), n, gridsize(1)): body
 *
 * One vector of threads after the other would run through all of memory in steps of the whole grid, and touch a part of
 * a cache line in each. So the loop counts for the block, with a barrier on its way back, and a guard says which
 * threads have a round left:
 *
 *   for u in range(base, n, step): (if u + delta < n: i = u + delta, body); barrier
 *
 * where base is the start of the block's first thread, and delta how far after it a thread starts.
 * regions.c then makes a loop over the block's threads of each round. What the body carries from round to round lies in
 * the threads' slots.
 *
 * A loop that all threads go round equally often, with leaps from round to round, only gets the barrier.
 *
 * Only where all this is known to be the same: the start grows with the thread's index, step and end are the block's,
 * no sum of them wraps, and the body is short, without loops, waits or ways out. */
#include "loops.h"
#include "ranges.h"

#include <string.h>

enum { MOST_BODY = 100 /* operations; a longer one has enough to do between two accesses */, DEEPEST = 16 };

#define LARGE (INT64_C(1) << 60) /* sums of two such don't wrap */

typedef struct Sweep {
    IrModule *m;
    const Uniformity *u;
    const Range *range;
    Uniformity threads;
    bool possible; /* the kernel may wait at one more place */
    NaturalLoop loop;
    BlockId header, latch, before, body, exit; /* `before` leads to the header; `body` and `exit` follow it */
    BlockId merge;
    Ref counter, start, step, end;
    bool or_equal; /* counter <= end */
    uint32_t span;
} Sweep;

static const Instr *instr(const Sweep *S, Ref r) { return &S->m->instrs.at[r]; }
static Type type_of(const Sweep *S, Ref r) { return (Type)instr(S, r)->type; }
static bool inside(const Sweep *S, Ref r) { return S->loop.inside[instr(S, r)->block]; }

static bool within(const Sweep *S, Ref r, int64_t lo, int64_t hi) {
    Range have = S->range[r];
    return have.lo <= have.hi && have.lo >= lo && have.hi <= hi;
}

/* ---- the shape of the loop ------------------------------------------------------------------------ */

/* Made of what is there before the loop. */
static bool is_fixed(const Sweep *S, Ref r, unsigned depth) {
    const Instr *in = instr(S, r);
    if (!inside(S, r)) return true;
    if (depth > DEEPEST || in->op == OP_PHI || !(op_info[in->op].flags & PURE)) return false;
    for (uint32_t i = 0; i < in->nargs; i++)
        if (!is_fixed(S, in->args[i], depth + 1)) return false;
    return true;
}

static bool is_the_blocks(const Sweep *S, Ref r) { return S->u->value[r] <= SHAPE_BLOCK && is_fixed(S, r, 0); }

static bool is_counter_type(Type t) { return t == T_I64 || t == T_I32 || t == T_U32; }

/* Does a conversion of x to t keep its value? */
static bool keeps(const Sweep *S, Type t, Ref x) {
    if (t == T_U32) return within(S, x, 0, UINT32_MAX);
    if (t == T_U64) return within(S, x, 0, INT64_MAX);
    return t == T_I64 ? type_of(S, x) != T_U64 : t == T_I32 && range_in_i32(S->range[x]);
}

/* The header's PHI that r is, through conversions that keep its value; REF_NONE: it is another. */
static Ref counter_of(const Sweep *S, Ref r) {
    while (instr(S, r)->op == OP_CONVERT) {
        Ref x = instr(S, r)->args[0];
        if (!type_is_int(type_of(S, x)) || !keeps(S, type_of(S, r), x)) return REF_NONE;
        r = x;
    }
    bool is_counter = instr(S, r)->op == OP_PHI && instr(S, r)->block == S->header && instr(S, r)->nargs == 2;
    return is_counter && is_counter_type(type_of(S, r)) ? r : REF_NONE;
}

/* counter < end, or <=: what leads into the body. */
static bool find_condition(Sweep *S) {
    const Block *h = &S->m->blocks.at[S->header];
    const Instr *in = instr(S, instr(S, ir_terminator(S->m, S->header))->args[0]);
    S->span = in->span;
    if (h->nsucc != 2 || in->op != OP_CMP || !type_is_int(type_of(S, in->args[0]))) return false;
    if (!S->loop.inside[h->succ[0]] || S->loop.inside[h->succ[1]]) return false;
    S->body = h->succ[0], S->exit = h->succ[1];
    bool less = in->sub == PRED_LT || in->sub == PRED_LE, greater = in->sub == PRED_GT || in->sub == PRED_GE;
    if (!less && !greater) return false;
    S->or_equal = in->sub == PRED_LE || in->sub == PRED_GE;
    S->counter = counter_of(S, in->args[greater]);
    S->end = in->args[!greater];
    return S->counter && is_the_blocks(S, S->end) && within(S, S->end, type_of(S, S->end) == T_U64 ? 0 : -LARGE, LARGE);
}

/* counter + step, each round. */
static bool find_step(Sweep *S) {
    const Block *h = &S->m->blocks.at[S->header];
    uint32_t back = h->preds.at[0] == S->latch ? 0 : 1;
    S->start = instr(S, S->counter)->args[!back];
    const Instr *in = instr(S, instr(S, S->counter)->args[back]);
    if (in->op != OP_ADD || (in->args[0] != S->counter && in->args[1] != S->counter)) return false;
    S->step = in->args[in->args[0] == S->counter];
    if (!is_the_blocks(S, S->step) || !within(S, S->step, 1, LARGE) || !within(S, S->start, -LARGE, LARGE))
        return false;
    Type t = type_of(S, S->counter);
    int64_t most = t == T_I32 ? INT32_MAX : t == T_U32 ? UINT32_MAX : INT64_MAX;
    return in->sub & ARITH_NO_WRAP || S->range[S->end].hi + S->range[S->step].hi < most;
}

static bool is_harmless(const Sweep *S, BlockId b, const Instr *in) {
    if (op_info[in->op].flags & (PURE | ENDS)) return true;
    if (b == S->header) return false;
    return in->op == OP_ATOMIC || ((in->op == OP_LOAD || in->op == OP_STORE) && !(in->sub & MEM_VOLATILE));
}

/* One way in, one way back, one way out; nothing that a barrier in the loop could change. */
static bool is_closed(Sweep *S) {
    const Block *h = &S->m->blocks.at[S->header];
    uint32_t back = S->loop.inside[h->preds.at[0]] ? 0 : 1, size = 0;
    S->latch = h->preds.at[back], S->before = h->preds.at[!back];
    if (S->u->block_divergent[S->before] || S->loop.inside[S->before] || S->latch == S->header) return false;
    for (BlockId b = 0; b < S->m->blocks.n; b++) {
        const Block *block = &S->m->blocks.at[b];
        if (block->dead || !S->loop.inside[b]) continue;
        if (S->u->loop_of[b] != S->u->loop_of[S->header] || !block->nsucc) return false;
        for (uint32_t s = 0; s < block->nsucc; s++)
            if (!S->loop.inside[block->succ[s]] && b != S->header) return false;
        for (uint32_t i = 0; i < block->instrs.n; i++)
            if (!is_harmless(S, b, instr(S, block->instrs.at[i]))) return false;
        size += block->instrs.n;
    }
    return size <= MOST_BODY;
}

/* Behind the loop only what it carries is used, and not the counter, which would have gone further. */
static bool leaves_little(const Sweep *S) {
    for (BlockId b = 0; b < S->m->blocks.n; b++) {
        const Block *block = &S->m->blocks.at[b];
        if (block->dead || S->loop.inside[b]) continue;
        for (uint32_t i = 0; i < block->instrs.n; i++) {
            const Instr *in = instr(S, block->instrs.at[i]);
            for (uint32_t a = 0; a < in->nargs; a++) {
                const Instr *from = instr(S, in->args[a]);
                if (!S->loop.inside[from->block]) continue;
                if (from->op != OP_PHI || from->block != S->header || in->args[a] == S->counter) return false;
            }
        }
    }
    return true;
}

/* ---- what is accessed -------------------------------------------------------------------------------- */

enum { NEAR = 16, LEAP = 512 /* bytes */, MOST_SHIFT = 16, MOST_CARRIED = 4, STREAM_BODY = 40 };

static bool beside_neighbour(const Uniformity *lanes, Ref at) {
    return lanes->value[at] == SHAPE_AFFINE && lanes->stride[at] && lanes->stride[at] <= NEAR &&
           lanes->stride[at] >= -NEAR;
}

/* Does a thread access what lies beside what its neighbour does? */
static bool side_by_side(const Sweep *S) {
    Uniformity lanes = ir_uniformity(S->m, &(IrLanes){0});
    for (BlockId b = 0; b < S->m->blocks.n; b++) {
        const Block *block = &S->m->blocks.at[b];
        for (uint32_t i = 0; S->loop.inside[b] && i < block->instrs.n; i++) {
            const Instr *in = instr(S, block->instrs.at[i]);
            if ((in->op == OP_LOAD || in->op == OP_STORE) && beside_neighbour(&lanes, in->args[0])) return true;
        }
    }
    return false;
}

/* How far a value moves from round to round. */
#define FAR_AWAY INT64_MAX
#define UNKNOWN INT64_MIN

static bool is_threads_of_block(const Sweep *S, Ref r) {
    const Instr *in = instr(S, r);
    if (in->op == OP_CONVERT) return is_threads_of_block(S, in->args[0]);
    if (in->op == OP_MUL) return is_threads_of_block(S, in->args[0]) || is_threads_of_block(S, in->args[1]);
    return in->op == OP_SREG && (in->sub == SREG_NTID_X || in->sub == SREG_NCTAID_X);
}

static int64_t times(int64_t move, int64_t factor) {
    if (move == UNKNOWN || move == FAR_AWAY) return move;
    int64_t product;
    return __builtin_mul_overflow(move, factor, &product) || product == FAR_AWAY ? UNKNOWN : product;
}

static int64_t scaled(const Sweep *S, int64_t move, Ref factor) {
    const Instr *in = instr(S, factor);
    if (in->op == OP_CONST) return times(move, (int64_t)in->imm);
    return move != UNKNOWN && is_threads_of_block(S, factor) ? FAR_AWAY : UNKNOWN;
}

static int64_t move_of_phi(const Sweep *S, Ref r) {
    const Block *h = &S->m->blocks.at[S->header];
    const Instr *in = instr(S, r), *next = instr(S, in->args[h->preds.at[0] == S->latch ? 0 : 1]);
    if (in->block != S->header || next->op != OP_ADD || (next->args[0] != r && next->args[1] != r)) return UNKNOWN;
    return scaled(S, 1, next->args[next->args[0] == r]);
}

static int64_t move_of(const Sweep *S, Ref r, unsigned depth) {
    const Instr *in = instr(S, r);
    if (is_fixed(S, r, 0)) return 0;
    if (depth > DEEPEST) return UNKNOWN;
    if (in->op == OP_PHI) return move_of_phi(S, r);
    if (in->op == OP_CONVERT && type_is_int((Type)in->type)) return move_of(S, in->args[0], depth + 1);
    if (in->op != OP_ADD && in->op != OP_MUL && in->op != OP_ADDR && in->op != OP_SHL) return UNKNOWN;
    int64_t x = move_of(S, in->args[0], depth + 1), y = move_of(S, in->args[1], depth + 1);
    if (in->op == OP_MUL && x && y) return UNKNOWN;
    if (in->op == OP_MUL) return x ? scaled(S, x, in->args[1]) : scaled(S, y, in->args[0]);
    if (in->op == OP_SHL) {
        const Instr *by = instr(S, in->args[1]);
        return by->op == OP_CONST && by->imm < MOST_SHIFT ? times(x, INT64_C(1) << by->imm) : UNKNOWN;
    }
    if (in->op == OP_ADDR) y = times(y, (int64_t)in->imm);
    return x && y ? UNKNOWN : x ? x : y;
}

static bool leaps(const Sweep *S, Ref at) {
    int64_t move = move_of(S, at, 0);
    return move != UNKNOWN && (move >= LEAP || move <= -LEAP);
}

/* All that is loaded and stored lies side by side, and the next round does so far away; little is carried along. */
static bool streams(const Sweep *S) {
    Uniformity lanes = ir_uniformity(S->m, &(IrLanes){0});
    uint32_t accesses = 0, carried = 0, size = 0;
    for (BlockId b = 0; b < S->m->blocks.n; b++) {
        const Block *block = &S->m->blocks.at[b];
        for (uint32_t i = 0; S->loop.inside[b] && i < block->instrs.n; i++, size++) {
            const Instr *in = instr(S, block->instrs.at[i]);
            if (in->op == OP_PHI && b == S->header) carried++;
            if (in->op != OP_LOAD && in->op != OP_STORE) continue;
            if (type_of(S, in->args[0]) != T_PTR || !beside_neighbour(&lanes, in->args[0]) || !leaps(S, in->args[0]))
                return false;
            accesses++;
        }
    }
    return accesses && carried <= MOST_CARRIED && size <= STREAM_BODY;
}

/* ---- base and delta --------------------------------------------------------------------------------- */

/* A value at thread 0 of the block, and what others have more, as i64; REF_NONE: nothing. */
typedef struct Parts {
    bool ok;
    Ref base, delta;
} Parts;

static Ref emit(Sweep *S, BlockId b, Op op, Type t, Ref x, Ref y) {
    bool sum = op == OP_ADD || op == OP_MUL; /* of what was found to fit */
    return ir_emit(S->m, b, op, t, y ? 2 : 1, (Ref[]){x, y}, sum ? ARITH_NO_WRAP : 0, 0, S->span);
}

static Ref sum(Sweep *S, BlockId b, Ref x, Ref y) { return x && y ? emit(S, b, OP_ADD, T_I64, x, y) : x ? x : y; }

static Ref as_i64(Sweep *S, BlockId b, Ref r) {
    return type_of(S, r) != T_I64 ? emit(S, b, OP_CONVERT, T_I64, r, REF_NONE) : r;
}

static Parts parts_of(Sweep *S, BlockId b, Ref r, unsigned depth);

static Parts parts_of_product(Sweep *S, BlockId b, const Instr *in, Parts x, Parts y) {
    Ref factor = x.delta ? in->args[1] : in->args[0];
    if ((x.delta && y.delta) || !within(S, factor, 0, LARGE)) return (Parts){0};
    Ref base = x.base && y.base ? emit(S, b, OP_MUL, T_I64, x.base, y.base) : REF_NONE;
    return (Parts){true, base, emit(S, b, OP_MUL, T_I64, x.delta ? x.delta : y.delta, as_i64(S, b, factor))};
}

/* Only operations that grow with the thread's index, and whose result is the exact one. */
static Parts parts_of(Sweep *S, BlockId b, Ref r, unsigned depth) {
    Instr in = *instr(S, r);
    Type t = (Type)in.type;
    if (!is_counter_type(t) || !within(S, r, -LARGE, LARGE)) return (Parts){0};
    if (S->u->value[r] <= SHAPE_BLOCK) return (Parts){true, as_i64(S, b, r), REF_NONE};
    if (in.op == OP_SREG) return (Parts){in.sub <= SREG_TID_Z, REF_NONE, as_i64(S, b, r)};
    bool exact = in.op == OP_CONVERT ? type_is_int(type_of(S, in.args[0])) && keeps(S, t, in.args[0])
                                     : t == T_I64 || in.sub & ARITH_NO_WRAP;
    if (depth > DEEPEST || !exact || (in.op != OP_ADD && in.op != OP_MUL && in.op != OP_CONVERT)) return (Parts){0};
    Parts x = parts_of(S, b, in.args[0], depth + 1);
    if (!x.ok || in.op == OP_CONVERT) return x;
    Parts y = parts_of(S, b, in.args[1], depth + 1);
    if (!y.ok) return y;
    if (in.op == OP_MUL) return parts_of_product(S, b, &in, x, y);
    return (Parts){true, sum(S, b, x.base, y.base), sum(S, b, x.delta, y.delta)};
}

/* ---- rewriting --------------------------------------------------------------------------------------- */

/* What is_fixed() found, in block b. */
static Ref fixed(Sweep *S, BlockId b, Ref r) {
    if (!inside(S, r)) return r;
    Instr in = *instr(S, r);
    Ref *args = ARENA_ARRAY(S->m->arena, Ref, in.nargs + 1);
    for (uint32_t i = 0; i < in.nargs; i++) args[i] = fixed(S, b, in.args[i]);
    return ir_emit(S->m, b, (Op)in.op, (Type)in.type, in.nargs, args, in.sub, in.imm, in.span);
}

static Ref emit_end(Sweep *S, BlockId b, Ref cond, BlockId to, BlockId other) {
    Block *block = &S->m->blocks.at[b];
    block->succ[0] = to, block->succ[1] = other, block->nsucc = cond ? 2 : 1;
    return ir_emit(S->m, b, cond ? OP_BRANCH : OP_JUMP, T_VOID, cond ? 1 : 0, &cond, 0, 0, S->span);
}

static void redirect(Sweep *S, BlockId from, BlockId old, BlockId to) {
    Block *b = &S->m->blocks.at[from];
    for (uint32_t s = 0; s < b->nsucc; s++)
        if (b->succ[s] == old) b->succ[s] = to;
}

static void replace_pred(Sweep *S, BlockId of, BlockId old, BlockId by) {
    Block *b = &S->m->blocks.at[of];
    for (uint32_t k = 0; k < b->preds.n; k++)
        if (b->preds.at[k] == old) b->preds.at[k] = by;
}

static void add_pred(Sweep *S, BlockId of, BlockId pred) { VEC_PUSH(S->m->arena, &S->m->blocks.at[of].preds, pred); }

static Ref compare(Sweep *S, BlockId b, Ref x, Ref end) {
    return ir_emit(S->m, b, OP_CMP, T_BOOL, 2, (Ref[]){x, end}, S->or_equal ? PRED_LE : PRED_LT, 0, S->span);
}

/* The counter becomes a sum in the guard. Its value there; i64. */
static Ref make_counter(Sweep *S, BlockId guard, Ref u, Ref delta) {
    Ref at = emit(S, guard, OP_ADD, T_I64, u, delta), narrow = at;
    Type t = type_of(S, S->counter);
    if (t != T_I64) narrow = emit(S, guard, OP_CONVERT, t, at, REF_NONE);
    Instr *in = &S->m->instrs.at[S->counter], *by = &S->m->instrs.at[narrow];
    in->op = by->op, in->sub = by->sub, in->nargs = by->nargs, in->args = by->args, in->block = guard;
    RefVec *list = &S->m->blocks.at[guard].instrs;
    list->at[list->n - 1] = S->counter;
    return at == narrow ? S->counter : at;
}

/* The header keeps its PHIs but the counter; the rest moves to the guard, where a thread's own counter is. The block's
 * counter. */
static Ref split_header(Sweep *S, BlockId guard, Ref base, Ref delta, Ref end) {
    IrModule *m = S->m;
    RefVec old = m->blocks.at[S->header].instrs;
    m->blocks.at[S->header].instrs = (RefVec){0};
    Ref u = ir_emit(m, S->header, OP_PHI, T_I64, 2, (Ref[]){base, base}, 0, 0, S->span);
    for (uint32_t i = 0; i < old.n; i++)
        if (instr(S, old.at[i])->op == OP_PHI && old.at[i] != S->counter)
            VEC_PUSH(m->arena, &m->blocks.at[S->header].instrs, old.at[i]);
    emit_end(S, S->header, compare(S, S->header, u, end), guard, S->exit);
    Ref at = make_counter(S, guard, u, delta);
    for (uint32_t i = 0; i < old.n; i++) {
        Instr *in = &m->instrs.at[old.at[i]];
        if (old.at[i] == S->counter || in->op == OP_PHI || op_info[in->op].flags & ENDS) continue;
        in->block = guard;
        VEC_PUSH(m->arena, &m->blocks.at[guard].instrs, old.at[i]);
    }
    emit_end(S, guard, compare(S, guard, at, end), S->body, S->merge);
    return u;
}

/* On the way back each PHI of the header takes what the round made of it, or itself if the thread had none. */
static void end_round(Sweep *S, Ref u, Ref step) {
    IrModule *m = S->m;
    uint32_t back = m->blocks.at[S->header].preds.at[0] == S->latch ? 0 : 1;
    for (uint32_t i = 1; instr(S, m->blocks.at[S->header].instrs.at[i])->op == OP_PHI; i++) {
        Ref phi = m->blocks.at[S->header].instrs.at[i], made = instr(S, phi)->args[back];
        if (made == phi) continue;
        Ref merged = ir_emit(m, S->merge, OP_PHI, type_of(S, phi), 2, (Ref[]){made, phi}, 0, 0, S->span);
        m->instrs.at[phi].args[back] = merged;
    }
    ir_emit(m, S->merge, OP_BARRIER, T_VOID, 0, NULL, 0, 0, S->span);
    Ref next = emit(S, S->merge, OP_ADD, T_I64, u, step);
    m->instrs.at[u].args[back] = next;
    emit_end(S, S->merge, REF_NONE, S->header, 0);
}

static void rewrite(Sweep *S, BlockId setup, Parts start) {
    IrModule *m = S->m;
    BlockId guard = ir_block(m);
    S->merge = ir_block(m);
    Ref base = start.base, delta = start.delta;
    Ref step = as_i64(S, setup, fixed(S, setup, S->step)), end = as_i64(S, setup, fixed(S, setup, S->end));
    if (!base) base = ir_const(m, setup, T_I64, 0, S->span);
    emit_end(S, setup, REF_NONE, S->header, 0);
    end_round(S, split_header(S, guard, base, delta, end), step);

    redirect(S, S->before, S->header, setup);
    add_pred(S, setup, S->before);
    replace_pred(S, S->header, S->before, setup);
    add_pred(S, guard, S->header);
    replace_pred(S, S->body, S->header, guard);
    redirect(S, S->latch, S->header, S->merge);
    add_pred(S, S->merge, S->latch);
    add_pred(S, S->merge, guard);
    replace_pred(S, S->header, S->latch, S->merge);
}

/* ---- the pass ----------------------------------------------------------------------------------------- */

static bool is_obstacle(const Instr *in) {
    return in->op == OP_ALLOCA || in->op == OP_RAISE || in->op == OP_NANOSLEEP || in->op == OP_CAS;
}

/* All that waits does so for the block, and all threads come there; what can't be done in vectors isn't there. */
static bool may_wait_more(const IrModule *m, const Uniformity *u) {
    bool warps = false;
    for (BlockId b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++) {
            const Instr *in = &m->instrs.at[block->instrs.at[i]];
            if (is_obstacle(in)) return false;
            if (!(op_info[in->op].flags & SYNC)) continue;
            if (ir_is_warp_op((Op)in->op)) warps = true;
            else if (u->block_divergent[b]) return false;
        }
    }
    return !warps;
}

/* Might it be one? So far nothing was analysed. */
static bool may_sweep(const IrModule *m, const DomTree *tree, BlockId h, NaturalLoop *loop) {
    const Block *block = &m->blocks.at[h];
    if (block->dead || block->preds.n != 2 || block->nsucc != 2 || m->instrs.at[block->instrs.at[0]].op != OP_PHI)
        return false;
    return m->instrs.at[m->instrs.at[ir_terminator(m, h)].args[0]].op == OP_CMP && loop_find(m, tree, h, loop);
}

/* Threads that may have another number of rounds. */
static bool go_together(Sweep *S) {
    if (!S->range) S->range = ir_ranges(S->m);
    if (!find_condition(S) || !find_step(S) || !leaves_little(S) || !side_by_side(S)) return false;
    BlockId setup = ir_block(S->m);
    Parts start = parts_of(S, setup, S->start, 0);
    if (start.ok && start.delta) return rewrite(S, setup, start), true;
    S->m->blocks.at[setup].dead = true;
    return false;
}

/* Threads that go together as it is. */
static bool wait_each_round(Sweep *S) {
    if (S->u->block_divergent[S->latch] || !streams(S)) return false;
    RefVec *list = &S->m->blocks.at[S->latch].instrs;
    Ref end = list->at[--list->n];
    ir_emit(S->m, S->latch, OP_BARRIER, T_VOID, 0, NULL, 0, 0, instr(S, end)->span);
    VEC_PUSH(S->m->arena, &S->m->blocks.at[S->latch].instrs, end);
    return true;
}

static bool sweep(Sweep *S) {
    if (!S->u) {
        S->threads = ir_uniformity(S->m, NULL);
        S->u = &S->threads;
        S->possible = !S->u->irreducible && may_wait_more(S->m, S->u);
    }
    if (!S->possible || !is_closed(S)) return false;
    return S->u->loops[S->u->loop_of[S->header]].divergent ? go_together(S) : wait_each_round(S);
}

void pass_sweeps(IrModule *m) {
    BlockId blocks = m->blocks.n;
    DomTree tree = ir_dominators(m);
    Sweep s = {.m = m};
    for (BlockId h = 1; h < blocks; h++) {
        s.header = h;
        if (!may_sweep(m, &tree, h, &s.loop) || !sweep(&s)) continue;
        tree = ir_dominators(m);
        s = (Sweep){.m = m};
    }
}
