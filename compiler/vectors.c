/* vectors.c - which blocks run in vectors of threads, and what is known of the lanes. See vectors.h.
 *
 * needs: the end of the pipeline, regions      keeps: the module
 *
 * LLVM vectorises loops over threads by itself, if they are short and straight. What it leaves: loops inside of a
 * thread, lanes that part, and loops over threads between barriers, whose independence it can't see. */
#include "vectors.h"

#include <string.h>

/* For elements of up to 4 bytes; half as many for 8 bytes. Rows of a block are often as short as SHORT; a thread's own
 * loop gains from more independent lanes, which fill latencies and whole cache lines. */
enum { SHORTEST = 8, SHORT = 16, LONG = 32, LONGEST = 64, WARP = 32 };

enum { MOST_OWN = 32 << 10 /* bytes of arrays of all lanes: they should stay near, and lie on the stack */ };

/* Two bodies with masks are several times the code, and LLVM takes time by the square of it. */
enum { MOST_INSTRS = 1000, MOST_BLOCKS = 120 };

enum { WORTH_A_GATHER = 6 /* operations of floats */ };

typedef struct Plan {
    IrModule *m;
    const Regions *r;
    bool warps;
    Vectors *v;
    bool *kept; /* by Ref: lives across a cut */
    const uint8_t *unit;
} Plan;

static const Instr *instr(const Plan *P, Ref r) { return &P->m->instrs.at[r]; }

static bool in_loop(const Uniformity *u, BlockId b, uint32_t loop) {
    uint32_t l = u->loop_of[b];
    while (l && l != loop) l = u->loops[l].parent;
    return l == loop;
}

/* ---- what isn't done in vectors ------------------------------------------------------------------ */

static bool is_serial(const Plan *P, const Instr *in) {
    switch (in->op) {
    case OP_ATOMIC:
    case OP_CAS:
    case OP_FENCE:
    case OP_PAUSE:
    case OP_PRINT: /* see prints_in_turn */
    case OP_RAISE: return false;
    case OP_LOAD:
    case OP_STORE: return type_is_ptr((Type)(in->op == OP_LOAD ? in->type : instr(P, in->args[1])->type));
    default: return !(op_info[in->op].flags & (PURE | SYNC | ENDS));
    }
}

/* A division of 64-bit integers, which no vector instruction does: each lane would take as long as alone, the idle ones
 * as well. One by one, an index that wraps around isn't divided at all (lower_int.c). */
static bool is_division(const Plan *P, Ref r) {
    const Instr *in = instr(P, r);
    return ir_is_division((Op)in->op) && type_is_int((Type)in->type) && type_bits((Type)in->type) > 32 &&
           P->v->masked.value[r] == SHAPE_VARYING && instr(P, in->args[1])->op != OP_CONST;
}

/* An access whose address is each lane's own. */
static bool is_anywhere(const Plan *P, const Instr *in, bool own) {
    if (in->op != OP_LOAD && !(own && in->op == OP_STORE)) return false;
    return P->v->masked.value[in->args[0]] == SHAPE_VARYING && (!own || (P->unit && P->unit[in->args[0]]));
}

/* Loads from anywhere, by lanes that go round a loop each as often as it likes, and little to compute: as with the rows
 * of a sparse matrix. One by one, a thread reads what lies side by side, and none waits for the longest. Also accesses
 * anywhere in an array of the thread's own, in any loop: alone, a thread has it all near. */
static bool gathers_raggedly(const Plan *P, uint32_t loop) {
    const Uniformity *u = &P->v->masked;
    uint32_t gathers = 0, others = 0;
    bool own = !u->loops[loop].divergent;
    for (BlockId b = 0; b < P->m->blocks.n; b++) {
        const Block *block = &P->m->blocks.at[b];
        if (block->dead || !in_loop(u, b, loop)) continue;
        for (uint32_t i = 0; i < block->instrs.n; i++) {
            const Instr *in = instr(P, block->instrs.at[i]);
            if (is_anywhere(P, in, own)) gathers++;
            else if (type_is_float((Type)in->type) && in->op != OP_PHI && in->op != OP_LOAD) others++;
        }
    }
    return gathers && others < WORTH_A_GATHER * gathers;
}

static void find_ragged(Plan *P) {
    const Uniformity *u = &P->v->masked;
    bool *ragged = ARENA_ARRAY(P->m->arena, bool, u->nloops);
    for (uint32_t l = 1; l < u->nloops; l++) ragged[l] = gathers_raggedly(P, l);
    for (BlockId b = 0; b < P->m->blocks.n; b++)
        for (uint32_t l = u->loop_of[b]; l; l = u->loops[l].parent)
            if (ragged[l]) P->v->serial[b] = true;
}

static bool waits(const Plan *P, BlockId b) {
    const Block *block = &P->m->blocks.at[b];
    return P->r && block->instrs.n > 1 && P->r->is_cut[block->instrs.at[block->instrs.n - 2]];
}

/* Ways to a RAISE are made where lanes leave for them (lower_cpu_raise.c): they are straight, and nobody waits there.
 */
static bool raises_oddly(const Plan *P, const Uniformity *u, BlockId b) {
    const Block *block = &P->m->blocks.at[b];
    if (!u->doomed[b]) return instr(P, ir_terminator(P->m, b))->op == OP_RAISE;
    if (block->nsucc == 2) return true;
    for (uint32_t i = 0; i < block->preds.n; i++)
        if (waits(P, block->preds.at[i])) return true;
    for (uint32_t i = 0; i < block->instrs.n; i++)
        if (op_info[instr(P, block->instrs.at[i])->op].flags & SYNC) return true;
    return false;
}

/* Whether some instruction is such; those that no block holds any more don't count. */
static bool any_instr(const Plan *P, bool (*is)(const Plan *P, Ref r)) {
    for (BlockId b = 0; b < P->m->blocks.n; b++) {
        const Block *block = &P->m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++)
            if (is(P, block->instrs.at[i])) return true;
    }
    return false;
}

/* Is the block in a loop that a thread goes through without a wait? */
static bool in_inner_loop(const Plan *P, const Uniformity *u, BlockId at) {
    bool waited = false;
    for (BlockId b = 0; b < P->m->blocks.n; b++)
        waited |= !P->m->blocks.at[b].dead && waits(P, b) && in_loop(u, b, u->loop_of[at]);
    return u->loop_of[at] && !waited;
}

static bool is_print(const Plan *P, Ref r) { return instr(P, r)->op == OP_PRINT; }
static bool is_raise(const Plan *P, Ref r) { return instr(P, r)->op == OP_RAISE; }

/* Threads print one after the other. So do lanes, if each comes to one place only, once between two waits, and none
 * ends before that. And a thread that prints in any case is no slower alone. */
static bool prints_in_turn(const Plan *P, const Uniformity *u) {
    uint32_t prints = 0;
    for (BlockId b = 0; b < P->m->blocks.n; b++) {
        const Block *block = &P->m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++)
            if (is_print(P, block->instrs.at[i]) && (prints++ || !u->block_divergent[b] || in_inner_loop(P, u, b)))
                return false;
    }
    return !prints || !any_instr(P, is_raise);
}

static void find_serial(Plan *P) {
    bool in_turn = prints_in_turn(P, &P->v->masked);
    for (BlockId b = 0; b < P->m->blocks.n; b++) {
        const Block *block = &P->m->blocks.at[b];
        for (uint32_t i = 0; !in_turn && !block->dead && i < block->instrs.n; i++)
            if (is_print(P, block->instrs.at[i])) P->v->serial[b] = true;
        if (!block->dead && raises_oddly(P, &P->v->masked, b)) P->v->serial[b] = true;
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++)
            if (is_serial(P, instr(P, block->instrs.at[i])) || (!P->warps && is_division(P, block->instrs.at[i])))
                P->v->serial[b] = true;
    }
    if (!P->warps) find_ragged(P);
}

static bool is_alloca(const Plan *P, Ref r) { return instr(P, r)->op == OP_ALLOCA; }

/* Bytes of the thread's own arrays. */
static uint64_t own_bytes(const Plan *P) {
    uint64_t bytes = 0;
    for (BlockId b = 0; b < P->m->blocks.n; b++) {
        const Block *block = &P->m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++)
            if (is_alloca(P, block->instrs.at[i])) bytes += instr(P, block->instrs.at[i])->imm;
    }
    return bytes;
}

/* Sets P->unit; false: arrays can't be those of a vector's lanes, or are too large for that. */
static bool find_arrays(Plan *P) {
    P->unit = NULL;
    if (!any_instr(P, is_alloca)) return true;
    if (own_bytes(P) > MOST_OWN / SHORTEST) return false;
    P->unit = ir_own_arrays(P->m);
    return P->unit != NULL;
}

/* A kept pointer would be one of a thread, and in vectors they are those of the first lane. */
static bool keeps_own_pointers(const Plan *P) {
    for (Ref k = 1; P->unit && P->r && k < P->m->instrs.n; k++)
        if (P->unit[k] && !is_alloca(P, k) && P->r->slot[k] != NO_SLOT) return true;
    return false;
}

static bool is_large(const IrModule *m) {
    uint32_t blocks = 0, instrs = 0;
    for (BlockId b = 0; b < m->blocks.n; b++) {
        if (m->blocks.at[b].dead) continue;
        blocks++;
        instrs += m->blocks.at[b].instrs.n;
    }
    return blocks > MOST_BLOCKS || instrs > MOST_INSTRS;
}

/* ---- warps --------------------------------------------------------------------------------------- */

static bool is_warp_op(const Plan *P, Ref r) { return ir_is_warp_op((Op)instr(P, r)->op); }
static bool waits_for_block(const Plan *P, Ref r) { return op_info[instr(P, r)->op].flags & SYNC && !is_warp_op(P, r); }
static bool is_yield(const Plan *P, Ref r) { return instr(P, r)->op == OP_NANOSLEEP; }
static bool is_obstacle(const Plan *P, Ref r) { return is_serial(P, instr(P, r)) || is_yield(P, r); }

/* All lanes come to an operation of warps, all threads to one of the block. */
static bool comes_together(const IrModule *m, Ref r, const Uniformity *lanes, const Uniformity *threads) {
    const Instr *in = &m->instrs.at[r];
    if (!(op_info[in->op].flags & SYNC)) return true;
    if (!ir_is_warp_op((Op)in->op)) return !threads->block_divergent[in->block];
    return !lanes->block_divergent[in->block] && (!in->nargs || lanes->value[in->args[0]] <= SHAPE_BLOCK);
}

bool ir_warps_are_vectors(IrModule *m) {
    Plan P = {.m = m};
    if (!(m->facts & FACT_WARPS) || is_large(m) || !any_instr(&P, is_warp_op) || any_instr(&P, is_obstacle))
        return false;
    if (any_instr(&P, is_print)) return false;
    if (!find_arrays(&P) || own_bytes(&P) > MOST_OWN / WARP || (P.unit && any_instr(&P, waits_for_block))) return false;
    Uniformity lanes = ir_uniformity(m, &(IrLanes){.warps = true, .unit = P.unit}), threads = ir_uniformity(m, NULL);
    if (lanes.irreducible) return false;
    for (BlockId b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        if (!block->dead && raises_oddly(&P, &lanes, b)) return false;
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++)
            if (!comes_together(m, block->instrs.at[i], &lanes, &threads)) return false;
    }
    return true;
}

/* ---- guards -------------------------------------------------------------------------------------- */

/* A comparison of something that grows along x with what all lanes share, or several. */
static bool is_guard(const Plan *P, const Uniformity *u, Ref cond, unsigned depth) {
    const Instr *in = instr(P, cond);
    if (u->value[cond] <= SHAPE_BLOCK) return true;
    if (depth > 4) return false;
    if (in->op == OP_CMP)
        return in->sub != PRED_NE && u->value[in->args[0]] <= SHAPE_AFFINE && u->value[in->args[1]] <= SHAPE_AFFINE;
    if (in->op != OP_AND && in->op != OP_OR && in->op != OP_NOT) return false;
    for (uint32_t i = 0; i < in->nargs; i++)
        if (!is_guard(P, u, in->args[i], depth + 1)) return false;
    return true;
}

/* An array of the thread's own begins again with the body, but where it lives across cuts. */
static bool is_written(const Plan *P, const Instr *in) {
    bool own = in->op == OP_STORE && P->unit && P->unit[in->args[0]] && !(P->r && P->r->cuts.n);
    return op_info[in->op].flags & WRITES && !own;
}

static bool writes(const Plan *P, BlockId b) {
    const Block *block = &P->m->blocks.at[b];
    for (uint32_t i = 0; i < block->instrs.n; i++)
        if (is_written(P, instr(P, block->instrs.at[i]))) return true;
    return false;
}

/* By block: something may have been written since the region's start. A body that is left then can't start again. */
static bool *find_written(const Plan *P) {
    const IrModule *m = P->m;
    bool *after = ARENA_ARRAY(m->arena, bool, m->blocks.n);
    for (bool changed = true; changed;) {
        changed = false;
        for (BlockId b = 0; b < m->blocks.n; b++) {
            const Block *block = &m->blocks.at[b];
            bool now = !block->dead && writes(P, b);
            for (uint32_t i = 0; !block->dead && !now && i < block->preds.n; i++)
                now = after[block->preds.at[i]] && !waits(P, block->preds.at[i]);
            if (now && !after[b]) after[b] = changed = true;
        }
    }
    return after;
}

static void find_guards(Plan *P, const bool *written) {
    const IrModule *m = P->m;
    const Uniformity *u = &P->v->masked;
    for (BlockId b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        if (block->dead || block->nsucc != 2 || written[b]) continue;
        Ref cond = instr(P, ir_terminator(m, b))->args[0];
        bool raises = u->doomed[block->succ[0]] != u->doomed[block->succ[1]]; /* once, if ever */
        /* to start again behind some rounds would be dear */
        if (!raises && (in_inner_loop(P, u, b) || !is_guard(P, u, cond, 0))) continue;
        P->v->agree[b] = u->value[cond] > SHAPE_BLOCK;
    }
}

/* ---- choices ------------------------------------------------------------------------------------- */

static VectorChoice choice_of(const Plan *P, const Uniformity *u, Ref r) {
    const Instr *in = instr(P, r);
    if (in->op != OP_SELECT || u->value[r] != SHAPE_VARYING || !type_is_int((Type)in->type)) return CHOICE_NONE;
    if (u->value[in->args[0]] <= SHAPE_BLOCK || !is_guard(P, u, in->args[0], 0)) return CHOICE_NONE;
    Ref a = in->args[1], b = in->args[2];
    if (u->value[a] > SHAPE_AFFINE || u->value[b] > SHAPE_AFFINE) return CHOICE_NONE;
    if (u->stride[a] && u->stride[b]) return u->stride[a] == u->stride[b] ? CHOICE_EITHER : CHOICE_NONE;
    return u->stride[a] ? CHOICE_FIRST : u->stride[b] ? CHOICE_SECOND : CHOICE_NONE;
}

/* `k + size if k < 0 else k`: an index that counts from the end if it is negative. Lanes differ in that next to 0
 * alone. */
static bool counts_from_end(const Plan *P, Ref r) {
    const Instr *in = instr(P, r);
    if (in->op != OP_SELECT) return false;
    const Instr *cond = instr(P, in->args[0]), *sum = instr(P, in->args[1]);
    if (cond->op != OP_CMP || cond->sub != PRED_LT || cond->args[0] != in->args[2] || sum->op != OP_ADD) return false;
    const Instr *zero = instr(P, cond->args[1]);
    return zero->op == OP_CONST && zero->imm == 0 && (sum->args[0] == in->args[2] || sum->args[1] == in->args[2]);
}

/* Where the full body may still be left. True: there is another one. */
static bool find_choices(Plan *P, const bool *written, const Uniformity *u) {
    bool found = false;
    for (BlockId b = 0; b < P->m->blocks.n; b++) {
        const Block *block = &P->m->blocks.at[b];
        bool dirty = block->dead, wraps = u->block_divergent[b] || in_inner_loop(P, &P->v->masked, b);
        for (uint32_t i = 0; !dirty && i < block->preds.n; i++)
            dirty = written[block->preds.at[i]] && !waits(P, block->preds.at[i]);
        for (uint32_t i = 0; i < block->instrs.n && !dirty; i++) {
            Ref r = block->instrs.at[i];
            dirty = is_written(P, instr(P, r));
            if (wraps && !counts_from_end(P, r))
                continue; /* to start again behind some rounds, or for some lanes, is dear */
            if (P->v->choice[r] != CHOICE_NONE || P->kept[r]) continue;
            P->v->choice[r] = (uint8_t)choice_of(P, u, r);
            found |= P->v->choice[r] != CHOICE_NONE;
        }
    }
    return found;
}

/* What lanes that have parted already decide is a mask, too. */
static bool drop_parted(Plan *P) {
    Vectors *v = P->v;
    bool changed = false;
    for (BlockId b = 0; b < P->m->blocks.n; b++) {
        if (!v->full.block_divergent[b]) continue;
        changed |= v->agree[b];
        v->agree[b] = false;
        for (uint32_t i = 0; i < P->m->blocks.at[b].instrs.n; i++) {
            uint8_t *choice = &v->choice[P->m->blocks.at[b].instrs.at[i]];
            if (counts_from_end(P, P->m->blocks.at[b].instrs.at[i])) continue;
            changed |= *choice != CHOICE_NONE;
            *choice = CHOICE_NONE;
        }
    }
    return changed;
}

/* A choice may be made of another one. */
static void analyse_full(Plan *P, const bool *written) {
    enum { MOST_ROUNDS = 4 };
    Vectors *v = P->v;
    IrLanes lanes = {P->warps, v->agree, v->choice, P->unit, &v->masked, P->kept};
    for (unsigned round = 0;; round++) {
        do v->full = ir_uniformity(P->m, &lanes);
        while (drop_parted(P));
        if (round == MOST_ROUNDS || !find_choices(P, written, &v->full)) return;
    }
}

/* ---- order --------------------------------------------------------------------------------------- */

/* Reverse postorder, in which what follows a loop's header is moved behind the loop unless it belongs to it. */
static void find_order(Plan *P) {
    const IrModule *m = P->m;
    const Uniformity *u = &P->v->masked;
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, m->blocks.n), *sorted = ARENA_ARRAY(m->arena, BlockId, m->blocks.n);
    uint32_t n = ir_postorder(m, order);
    for (uint32_t i = 0; i < n / 2; i++) {
        BlockId swap = order[i];
        order[i] = order[n - 1 - i];
        order[n - 1 - i] = swap;
    }
    for (uint32_t l = 1; l < u->nloops; l++) { /* outer loops come first */
        uint32_t first = 0, k = 0;
        while (order[first] != u->loops[l].header) first++;
        for (uint32_t i = first; i < n; i++)
            if (in_loop(u, order[i], l)) sorted[k++] = order[i];
        P->v->last[l] = first + k - 1;
        for (uint32_t i = first; i < n; i++)
            if (!in_loop(u, order[i], l)) sorted[k++] = order[i];
        memcpy(order + first, sorted, k * sizeof *order);
    }
    for (uint32_t i = 0; i < n; i++) P->v->place[order[i]] = i;
}

/* ---- uses ---------------------------------------------------------------------------------------- */

static void note_use(Plan *P, Ref r, BlockId at) {
    const Uniformity *u = &P->v->masked;
    BlockId from = instr(P, r)->block;
    uint32_t l = u->loop_of[from];
    if (from != at) P->v->leaves_block[r] = true;
    if (l && !in_loop(u, at, l)) P->v->leaves_loop[r] = true;
}

/* A PHI's operand is used at the end of the predecessor. */
static void find_uses(Plan *P) {
    for (BlockId b = 0; b < P->m->blocks.n; b++) {
        const Block *block = &P->m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++) {
            const Instr *in = instr(P, block->instrs.at[i]);
            for (uint32_t a = 0; a < in->nargs; a++)
                note_use(P, in->args[a], in->op == OP_PHI ? block->preds.at[a] : b);
        }
    }
}

/* ---- is it worth it? ------------------------------------------------------------------------------ */

/* Bytes of the largest type of vectors in the full body. Addresses don't count: few of them are vectors. */
static unsigned widest(const Plan *P) {
    unsigned bytes = 1;
    for (BlockId b = 0; b < P->m->blocks.n; b++) {
        const Block *block = &P->m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++) {
            Ref r = block->instrs.at[i];
            Type t = (Type)instr(P, r)->type;
            if (P->v->full.value[r] == SHAPE_VARYING && !type_is_ptr(t) && type_bytes(t) > bytes) bytes = type_bytes(t);
        }
    }
    return bytes;
}

static bool looks_at_rows(const Plan *P, Ref r) {
    const Instr *in = instr(P, r);
    return in->op == OP_SREG && (in->sub == SREG_TID_Y || in->sub == SREG_TID_Z);
}

/* A sum or so: what a loop carries for each lane. */
static bool is_carried(const Plan *P, Ref r) {
    return instr(P, r)->op == OP_PHI && P->v->full.value[r] == SHAPE_VARYING && P->v->full.loop_of[instr(P, r)->block];
}

static bool any_choice(const Plan *P) {
    for (Ref r = 1; r < P->m->instrs.n; r++)
        if (P->v->choice[r]) return true;
    return false;
}

/* Is the value computed, without memory, from what the loop changes with each round? */
static bool moves_with(const Plan *P, Ref r, uint32_t loop, unsigned depth) {
    enum { DEEPEST = 6 };
    const Instr *in = instr(P, r);
    if (depth > DEEPEST || in->op == OP_LOAD || !in_loop(&P->v->full, in->block, loop)) return false;
    if (in->op == OP_PHI) return in->block == P->v->full.loops[loop].header;
    for (uint32_t i = 0; i < in->nargs; i++)
        if (moves_with(P, in->args[i], loop, depth + 1)) return true;
    return false;
}

/* Does each lane go along a row of its own? The cache has to hold a line for each until the next round, and the lines
 * of rows whose length is a power of two compete for a few of its places. */
static bool walks_along_rows(const Plan *P) {
    const Uniformity *u = &P->v->full;
    for (BlockId b = 0; b < P->m->blocks.n; b++) {
        const Block *block = &P->m->blocks.at[b];
        uint32_t loop = block->dead ? 0 : u->loop_of[b];
        for (uint32_t i = 0; loop && i < block->instrs.n; i++) {
            const Instr *in = instr(P, block->instrs.at[i]);
            if ((in->op != OP_LOAD && in->op != OP_STORE) || u->value[in->args[0]] != SHAPE_VARYING) continue;
            if (!(P->unit && P->unit[in->args[0]]) && moves_with(P, in->args[0], loop, 0)) return true;
        }
    }
    return false;
}

/* A row that is too short for a full vector is left to the masked body, which has no choices. Where the full one has no
 * masks at all, that is several times slower, so a second full body takes such rows, as those of blocks of 16 x 16. */
static void count_lanes(Plan *P) {
    unsigned full = LONGEST, masked = LONG, carried = 0;
    bool parts = P->warps || (P->r && P->r->cuts.n);
    for (BlockId b = 0; b < P->m->blocks.n; b++) {
        const Block *block = &P->m->blocks.at[b];
        if (block->dead) continue;
        if (P->v->full.block_divergent[b]) full = LONG, parts = true;
        for (uint32_t i = 0; i < block->instrs.n; i++) carried += is_carried(P, block->instrs.at[i]);
    }
    if (carried > 2) full = LONG;
    if (walks_along_rows(P)) full = SHORT;
    if (P->v->rows) masked = SHORT;
    if (P->v->rows && any_choice(P)) full = SHORT;
    if (P->r && P->r->cuts.n) full = P->v->rows ? SHORT : LONG, masked = SHORT;
    unsigned bytes = widest(P);
    if (bytes > 4) full /= 2, masked /= 2;
    if (bytes == 1 && full < LONG) full = LONG;
    while (full > SHORTEST && full * own_bytes(P) > MOST_OWN) full /= 2;
    P->v->full_lanes = P->warps ? WARP : full;
    P->v->masked_lanes = P->warps ? WARP : masked < full ? masked : full;
    P->v->narrow_lanes = P->v->rows && !parts && masked < full ? masked : 0;
}

static bool is_choice(const Plan *P, Ref r) { return choice_of(P, &P->v->masked, r) != CHOICE_NONE; }

/* Without waits LLVM does as well where a thread has no loops, addresses don't depend on a choice, and nobody raises or
 * prints. */
static bool worth_it(const Plan *P) {
    if (P->r && P->r->cuts.n) return P->r->uniform;
    if (P->v->masked.nloops < 2 && !any_instr(P, is_choice) && !any_instr(P, is_raise) && !any_instr(P, is_print))
        return false;
    for (BlockId b = 0; b < P->m->blocks.n; b++)
        if (!P->m->blocks.at[b].dead && P->v->serial[b]) return false;
    return true;
}

Vectors *ir_vectors(IrModule *m, const Regions *r, bool warps) {
    Arena *a = m->arena;
    Plan plan = {.m = m, .r = r, .warps = warps, .v = ARENA_NEW(a, Vectors)};
    Plan *P = &plan;
    Vectors *v = P->v;
    if ((!warps && is_large(m)) || !find_arrays(P) || (r && ((r->cuts.n == 0 && !warps) || !r->uniform))) return NULL;
    v->agree = ARENA_ARRAY(a, bool, m->blocks.n);
    v->choice = ARENA_ARRAY(a, uint8_t, m->instrs.n);
    v->serial = ARENA_ARRAY(a, bool, m->blocks.n);
    v->place = ARENA_ARRAY(a, uint32_t, m->blocks.n);
    v->leaves_block = ARENA_ARRAY(a, bool, m->instrs.n);
    v->leaves_loop = ARENA_ARRAY(a, bool, m->instrs.n);
    P->kept = ARENA_ARRAY(a, bool, m->instrs.n);
    for (Ref k = 1; r && k < m->instrs.n; k++) P->kept[k] = r->slot[k] != NO_SLOT;
    if (keeps_own_pointers(P)) return NULL;
    v->unit = P->unit;
    v->masked = ir_uniformity(m, &(IrLanes){.warps = warps, .unit = P->unit});
    if (v->masked.irreducible) return NULL;
    find_serial(P);
    if (!warps && !worth_it(P)) return NULL;
    v->last = ARENA_ARRAY(a, uint32_t, v->masked.nloops);
    const bool *written = find_written(P);
    find_guards(P, written);
    analyse_full(P, written);
    find_order(P);
    find_uses(P);
    v->rows = any_instr(P, looks_at_rows);
    v->warps = warps;
    count_lanes(P);
    return v;
}
