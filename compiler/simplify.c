/* simplify.c - constant folding, algebra, common subexpressions, dead code, clean-up of the blocks.
 *
 * needs: a module that verifies      keeps: everything observable; the order of what READS or WRITES
 *
 * Rounds of: fold branches; one walk in reverse postorder, in which each instruction is simplified
 * (algebra.c) and looked up among the equal ones that dominate it; merge blocks; drop what nothing
 * uses. Every operation is total, so that nothing is lost by evaluating a pure one earlier: leaves
 * (constants, parameters, special registers) stand once, at the start of the entry block. A round
 * is linear in the size of the function; a second one sees what the first uncovered, and more than
 * a few are rare, so that their number is bounded.
 *
 * Left to LLVM: loads and stores, loops, if-conversion, strength reduction, reassociation beyond
 * two constants, equal induction variables. */
#include "simplify.h"

#include <string.h>

enum { ROUNDS = 8, LONGEST_CHAIN = 16 };

Ref simplify_find(Simplify *s, Ref r) {
    Ref end = r;
    while (end < s->same_as.n && s->same_as.at[end]) end = s->same_as.at[end];
    while (r != end) {
        Ref up = s->same_as.at[r];
        s->same_as.at[r] = end;
        r = up;
    }
    return end;
}

void simplify_replace(Simplify *s, Ref r, Ref by) {
    while (s->same_as.n <= r) VEC_PUSH(s->m->arena, &s->same_as, REF_NONE);
    by = simplify_find(s, by);
    if (by == r) return;
    s->same_as.at[r] = by;
    s->changed = true;
}

/* ---- equal instructions --------------------------------------------------------------------- */

static bool is_leaf(const Instr *in) {
    return in->op == OP_CONST || in->op == OP_PARAM || in->op == OP_SREG || in->op == OP_DATA;
}

static uint32_t mix(uint64_t h) {
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 32);
}

static uint32_t hash_of(const Instr *in) {
    uint64_t h = mix(in->op | (uint64_t)in->type << 8 | (uint64_t)in->sub << 16 | (uint64_t)in->nargs << 32) ^ in->imm;
    if (op_info[in->op].flags & COMMUTES) return mix(h ^ ((uint64_t)in->args[0] + in->args[1]));
    for (uint32_t i = 0; i < in->nargs; i++) h = mix(h ^ in->args[i]) + (h << 7);
    return mix(in->op == OP_PHI ? h ^ in->block : h);
}

static bool equal(const Instr *a, const Instr *b) {
    if (a->op != b->op || a->type != b->type || a->sub != b->sub || a->imm != b->imm || a->nargs != b->nargs)
        return false;
    if (a->op == OP_PHI && a->block != b->block) return false;
    bool same = a->nargs == 0 || memcmp(a->args, b->args, a->nargs * sizeof(Ref)) == 0;
    if (same || !(op_info[a->op].flags & COMMUTES)) return same;
    return a->args[0] == b->args[1] && a->args[1] == b->args[0];
}

static void table_clear(Simplify *s) {
    uint32_t size = 64;
    while (size < s->m->instrs.n) size *= 2;
    if (size > s->table_mask + 1 || !s->table) s->table = ARENA_ARRAY(s->m->arena, uint32_t, size);
    else memset(s->table, 0, size * sizeof *s->table);
    s->table_mask = size - 1;
}

static void table_add(Simplify *s, Ref r, uint32_t slot) {
    while (s->next.n <= r) VEC_PUSH(s->m->arena, &s->next, REF_NONE);
    s->next.at[r] = s->table[slot];
    s->table[slot] = r;
}

/* An equal value whose block dominates; r itself (now in the table) when there is none. */
static Ref find_equal(Simplify *s, Ref r, const DomTree *tree) {
    const Instr *in = &s->m->instrs.at[r];
    bool shared = op_info[in->op].flags & PURE
                      ? in->op != OP_ALLOCA
                      : in->op == OP_LOAD && in->sub & MEM_INVARIANT && !(in->sub & MEM_VOLATILE);
    if (!shared) return r;
    uint32_t slot = hash_of(in) & s->table_mask;
    Ref other = s->table[slot];
    for (int i = 0; other && i < LONGEST_CHAIN; i++, other = s->next.at[other])
        if (other != r && equal(&s->m->instrs.at[other], in) &&
            ir_dominates(tree, s->m->instrs.at[other].block, in->block))
            return other;
    table_add(s, r, slot);
    return r;
}

/* ---- the walk ------------------------------------------------------------------------------- */

static Ref add_leaf(Simplify *s, Ref r) {
    Instr *in = &s->m->instrs.at[r];
    in->block = 0;
    uint32_t slot = hash_of(in) & s->table_mask;
    for (Ref other = s->table[slot]; other; other = s->next.at[other])
        if (equal(&s->m->instrs.at[other], in)) return other;
    table_add(s, r, slot);
    VEC_PUSH(s->m->arena, &s->leaves, r);
    return r;
}

Ref simplify_const(Simplify *s, Type t, uint64_t bits) {
    Instr in = {.op = OP_CONST, .type = (uint8_t)t, .imm = ir_wrap(t, bits)};
    uint32_t slot = hash_of(&in) & s->table_mask;
    for (Ref other = s->table[slot]; other; other = s->next.at[other])
        if (equal(&s->m->instrs.at[other], &in)) return other;
    VEC_PUSH(s->m->arena, &s->m->instrs, in);
    Ref r = s->m->instrs.n - 1;
    table_add(s, r, slot);
    VEC_PUSH(s->m->arena, &s->leaves, r);
    return r;
}

static void substitute(Simplify *s, Instr *in) {
    for (uint32_t i = 0; i < in->nargs; i++) in->args[i] = simplify_find(s, in->args[i]);
}

static void walk_block(Simplify *s, BlockId b, const DomTree *tree) {
    IrModule *m = s->m;
    RefVec *list = &m->blocks.at[b].instrs;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        Ref r = list->at[i];
        substitute(s, &m->instrs.at[r]);
        Ref same = is_leaf(&m->instrs.at[r]) ? add_leaf(s, r) : simplify_instr(s, r);
        if (same == r && is_leaf(&m->instrs.at[r])) continue;
        if (same == r) same = find_equal(s, r, tree);
        if (same == r) list->at[kept++] = r;
        else simplify_replace(s, r, same);
    }
    list->n = kept;
}

/* The leaves go in front of the entry block, where they dominate everything. */
static void place_leaves(Simplify *s) {
    RefVec *entry = &s->m->blocks.at[0].instrs;
    uint32_t n = s->leaves.n, old = entry->n;
    if (!n) return;
    for (uint32_t i = 0; i < n; i++) VEC_PUSH(s->m->arena, entry, REF_NONE);
    memmove(entry->at + n, entry->at, old * sizeof(Ref));
    memcpy(entry->at, s->leaves.at, n * sizeof(Ref));
    s->leaves.n = 0;
}

static void substitute_all(Simplify *s) {
    for (BlockId b = 0; b < s->m->blocks.n; b++) {
        const Block *block = &s->m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++)
            substitute(s, &s->m->instrs.at[block->instrs.at[i]]);
    }
}

static void walk(Simplify *s) {
    IrModule *m = s->m;
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, m->blocks.n);
    uint32_t live = ir_postorder(m, order);
    DomTree tree = ir_dominators(m);
    table_clear(s);
    for (uint32_t i = live; i-- > 0;) walk_block(s, order[i], &tree);
    place_leaves(s);
    substitute_all(s); /* operands that come along back edges */
}

/* ---- dead code ------------------------------------------------------------------------------ */

static bool has_effect(const Instr *in) {
    return op_info[in->op].flags & (WRITES | ENDS | SYNC) || (in->op == OP_LOAD && in->sub & MEM_VOLATILE);
}

static void drop_dead(IrModule *m) {
    bool *used = ARENA_ARRAY(m->arena, bool, m->instrs.n);
    RefVec work = {0};
    for (BlockId b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++) {
            Ref r = block->instrs.at[i];
            if (!has_effect(&m->instrs.at[r])) continue;
            used[r] = true;
            VEC_PUSH(m->arena, &work, r);
        }
    }
    while (work.n) {
        const Instr *in = &m->instrs.at[work.at[--work.n]];
        for (uint32_t i = 0; i < in->nargs; i++) {
            if (used[in->args[i]]) continue;
            used[in->args[i]] = true;
            VEC_PUSH(m->arena, &work, in->args[i]);
        }
    }
    for (BlockId b = 0; b < m->blocks.n; b++) {
        RefVec *list = &m->blocks.at[b].instrs;
        uint32_t kept = 0;
        for (uint32_t i = 0; i < list->n; i++)
            if (used[list->at[i]]) list->at[kept++] = list->at[i];
        list->n = kept;
    }
}

void pass_simplify(IrModule *m) {
    Simplify s = {.m = m, .changed = true};
    for (int round = 0; round < ROUNDS && s.changed; round++) {
        s.changed = false;
        cfg_fold_branches(&s);
        walk(&s);
        cfg_merge_blocks(&s);
        substitute_all(&s);
        drop_dead(m);
    }
}
