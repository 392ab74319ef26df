/* cfg.c - the part of simplify that changes blocks.
 *
 * A branch on a constant becomes a jump, a block that only jumps is bypassed, a block whose only
 * predecessor has no other successor joins it. Predecessor lists and PHI operands are kept in step
 * here, edge by edge; ir_edges() then drops what can't be reached. */
#include "simplify.h"

static Instr *terminator(IrModule *m, BlockId b) { return &m->instrs.at[ir_terminator(m, b)]; }

/* One edge from p to b is gone: drops one operand of each PHI. */
static void remove_pred(IrModule *m, BlockId b, BlockId p, uint32_t which) {
    Block *block = &m->blocks.at[b];
    uint32_t k = 0;
    for (; k < block->preds.n; k++)
        if (block->preds.at[k] == p && which-- == 0) break;
    for (uint32_t i = 0; i < block->instrs.n; i++) {
        Instr *phi = &m->instrs.at[block->instrs.at[i]];
        if (phi->op != OP_PHI) break;
        for (uint32_t j = k; j + 1 < phi->nargs; j++) phi->args[j] = phi->args[j + 1];
        phi->nargs--;
    }
    for (uint32_t j = k; j + 1 < block->preds.n; j++) block->preds.at[j] = block->preds.at[j + 1];
    block->preds.n--;
}

static void branch_to_jump(Simplify *s, BlockId b, unsigned taken) {
    IrModule *m = s->m;
    Block *block = &m->blocks.at[b];
    /* equal successors: their two edges have equal PHI operands, so that either may go */
    remove_pred(m, block->succ[!taken], b, 0);
    block->succ[0] = block->succ[taken];
    block->nsucc = 1;
    Instr *end = terminator(m, b);
    end->op = OP_JUMP;
    end->nargs = 0;
    s->changed = true;
}

void cfg_fold_branches(Simplify *s) {
    IrModule *m = s->m;
    bool any = false;
    for (BlockId b = 0; b < m->blocks.n; b++) {
        Block *block = &m->blocks.at[b];
        if (block->dead || block->nsucc != 2) continue;
        Instr *end = terminator(m, b);
        const Instr *cond = &m->instrs.at[end->args[0]];
        if (cond->op == OP_NOT) {
            BlockId first = block->succ[0];
            end->args[0] = cond->args[0];
            block->succ[0] = block->succ[1];
            block->succ[1] = first;
            cond = &m->instrs.at[end->args[0]];
            s->changed = true;
        }
        if (block->succ[0] == block->succ[1]) branch_to_jump(s, b, 0);
        else if (cond->op == OP_CONST) branch_to_jump(s, b, cond->imm ? 0 : 1);
        else continue;
        any = true;
    }
    if (any) ir_edges(m);
}

static bool has_phi(const IrModule *m, const Block *b) {
    return b->instrs.n && m->instrs.at[b->instrs.at[0]].op == OP_PHI;
}

static bool is_pred(const Block *b, BlockId p) {
    for (uint32_t i = 0; i < b->preds.n; i++)
        if (b->preds.at[i] == p) return true;
    return false;
}

/* The operand of position k of each PHI of `to` once more, at the end. */
static void repeat_operand(IrModule *m, Block *to, uint32_t k) {
    for (uint32_t i = 0; i < to->instrs.n; i++) {
        Instr *phi = &m->instrs.at[to->instrs.at[i]];
        if (phi->op != OP_PHI) break;
        Ref *args = ARENA_ARRAY(m->arena, Ref, phi->nargs + 1);
        for (uint32_t j = 0; j < phi->nargs; j++) args[j] = phi->args[j];
        args[phi->nargs++] = phi->args[k];
        phi->args = args;
    }
}

/* b only jumps: its predecessors go straight to its successor, unless a PHI there would have to
 * tell two edges from one predecessor apart. */
static bool bypass(Simplify *s, BlockId b) {
    IrModule *m = s->m;
    Block *block = &m->blocks.at[b];
    BlockId to = block->succ[0];
    if (b == 0 || to == b || block->instrs.n != 1 || !block->preds.n) return false;
    Block *target = &m->blocks.at[to];
    if (has_phi(m, target))
        for (uint32_t i = 0; i < block->preds.n; i++)
            if (is_pred(target, block->preds.at[i]) || block->preds.n > 8) return false;
    uint32_t k = 0;
    while (target->preds.at[k] != b) k++;
    for (uint32_t i = 0; i < block->preds.n; i++) {
        BlockId p = block->preds.at[i];
        Block *from = &m->blocks.at[p];
        from->succ[from->succ[0] == b ? 0 : 1] = to;
        if (i == 0) {
            target->preds.at[k] = p;
            continue;
        }
        repeat_operand(m, target, k);
        VEC_PUSH(m->arena, &target->preds, p);
    }
    block->preds.n = 0;
    block->dead = true;
    return true;
}

/* b's only successor has no other predecessor: its instructions move to the end of b. */
static bool absorb(Simplify *s, BlockId b) {
    IrModule *m = s->m;
    Block *block = &m->blocks.at[b];
    if (block->nsucc != 1) return false;
    BlockId next = block->succ[0];
    Block *follows = &m->blocks.at[next];
    if (next == b || next == 0 || follows->preds.n != 1) return false;
    block->instrs.n--; /* the jump */
    for (uint32_t i = 0; i < follows->instrs.n; i++) {
        Ref r = follows->instrs.at[i];
        Instr *in = &m->instrs.at[r];
        if (in->op == OP_PHI) {
            simplify_replace(s, r, in->args[0]);
            continue;
        }
        in->block = b;
        VEC_PUSH(m->arena, &block->instrs, r);
    }
    block->nsucc = follows->nsucc;
    for (uint32_t i = 0; i < follows->nsucc; i++) {
        Block *after = &m->blocks.at[follows->succ[i]];
        block->succ[i] = follows->succ[i];
        for (uint32_t k = 0; k < after->preds.n; k++)
            if (after->preds.at[k] == next) after->preds.at[k] = b;
    }
    follows->dead = true;
    follows->preds.n = 0;
    return true;
}

void cfg_merge_blocks(Simplify *s) {
    IrModule *m = s->m;
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, m->blocks.n);
    uint32_t live = ir_postorder(m, order);
    bool any = false;
    for (uint32_t i = live; i-- > 0;) {
        BlockId b = order[i];
        if (m->blocks.at[b].dead) continue;
        while (absorb(s, b)) any = true;
        if (m->blocks.at[b].nsucc == 1 && bypass(s, b)) any = true;
    }
    if (any) {
        s->changed = true;
        ir_edges(m);
    }
}
