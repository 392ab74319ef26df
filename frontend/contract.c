/* contract.c - a product that only a sum uses becomes an FMA, so that every device rounds it once.
 *
 * Decided here and not in a back end: all compiled devices agree to the bit. A float32 or float64 MUL is taken if its
 * only use is an ADD or SUB; of two products the left one. Products of complex arithmetic
 * carry `sub` 1 and stay; the mark is cleared here. */
#include "evaluator.h"

static uint32_t *count_uses(const IrModule *m) {
    uint32_t *uses = ARENA_ARRAY(m->arena, uint32_t, m->instrs.n);
    for (BlockId b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        for (uint32_t i = 0; i < block->instrs.n; i++) {
            const Instr *in = &m->instrs.at[block->instrs.at[i]];
            for (uint32_t k = 0; k < in->nargs; k++) uses[in->args[k]]++;
        }
    }
    return uses;
}

static bool fusible(const IrModule *m, const uint32_t *uses, Ref r) {
    const Instr *p = &m->instrs.at[r];
    return p->op == OP_MUL && !p->sub && uses[r] == 1;
}

static Ref negated(IrModule *m, RefVec *out, const Instr *sum, Ref r) {
    Instr neg = {.op = OP_NEG,
                 .type = sum->type,
                 .nargs = 1,
                 .args = ARENA_ARRAY(m->arena, Ref, 1),
                 .span = sum->span,
                 .block = sum->block};
    neg.args[0] = r;
    VEC_PUSH(m->arena, &m->instrs, neg);
    VEC_PUSH(m->arena, out, m->instrs.n - 1);
    return m->instrs.n - 1;
}

/* x * y + z, x * y - z = x * y + -z, z - x * y = -x * y + z. */
static void fuse(IrModule *m, RefVec *out, Ref r, uint32_t product) {
    Instr sum = m->instrs.at[r];
    const Instr mul = m->instrs.at[sum.args[product]];
    Ref x = mul.args[0], y = mul.args[1], z = sum.args[1 - product];
    if (sum.op == OP_SUB && product == 0) z = negated(m, out, &sum, z);
    if (sum.op == OP_SUB && product == 1) x = negated(m, out, &sum, x);
    Instr *in = &m->instrs.at[r];
    in->op = OP_FMA;
    in->nargs = 3;
    in->args = ARENA_ARRAY(m->arena, Ref, 3);
    in->args[0] = x;
    in->args[1] = y;
    in->args[2] = z;
}

static void contract_block(IrModule *m, BlockId b, const uint32_t *uses) {
    RefVec old = m->blocks.at[b].instrs, out = {0};
    for (uint32_t i = 0; i < old.n; i++) {
        Ref r = old.at[i];
        const Instr *in = &m->instrs.at[r];
        bool sum = (in->op == OP_ADD || in->op == OP_SUB) && (in->type == T_F32 || in->type == T_F64) && !in->sub;
        if (sum && fusible(m, uses, in->args[0])) fuse(m, &out, r, 0);
        else if (sum && fusible(m, uses, in->args[1])) fuse(m, &out, r, 1);
        VEC_PUSH(m->arena, &out, r);
    }
    m->blocks.at[b].instrs = out;
}

void contract_products(IrModule *m, bool fma) {
    const uint32_t *uses = fma ? count_uses(m) : NULL;
    for (BlockId b = 0; fma && b < m->blocks.n; b++)
        if (!m->blocks.at[b].dead) contract_block(m, b, uses);
    for (Ref r = 1; r < m->instrs.n; r++) {
        Instr *in = &m->instrs.at[r];
        if (in->op == OP_ADD || in->op == OP_SUB || in->op == OP_MUL) in->sub = 0;
    }
}
