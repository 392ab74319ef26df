/* ownarrays.c - which arrays of a thread's own can lie side by side for the threads of a vector.
 *
 *   element k of threads 0, 1, 2 ..., then element k + 1 of threads 0, 1, 2 ...
 *
 * So that lanes that look at the same element look at neighbours in memory. That takes elements of one size, and
 * pointers that nobody else sees: each is made by ADDR from one array, and only read and written through. See
 * vectors.h. */
#include "vectors.h"

#include <string.h>

static const Instr *instr(const IrModule *m, Ref r) { return &m->instrs.at[r]; }

/* By Ref: the array that the pointer is made from; REF_NONE: none. Operands of ADDR stand before it but for PHIs, which
 * are no pointers into such arrays. */
static void find_roots(const IrModule *m, const BlockId *order, uint32_t n, Ref *root) {
    for (uint32_t i = n; i-- > 0;) {
        const Block *block = &m->blocks.at[order[i]];
        for (uint32_t k = 0; k < block->instrs.n; k++) {
            Ref r = block->instrs.at[k];
            if (instr(m, r)->op == OP_ALLOCA) root[r] = r;
            else if (instr(m, r)->op == OP_ADDR) root[r] = root[instr(m, r)->args[0]];
        }
    }
}

/* A plain access of so many bytes; 0: what else is done with a pointer. */
static unsigned accessed(const IrModule *m, const Instr *in, uint32_t arg) {
    if ((in->op != OP_LOAD && in->op != OP_STORE) || arg != 0) return 0;
    Type t = (Type)(in->op == OP_LOAD ? in->type : instr(m, in->args[1])->type);
    return in->sub & (MEM_UNALIGNED | MEM_VOLATILE) || type_is_ptr(t) ? 0 : type_bytes(t);
}

/* Does the step lead from one element to the start of another? */
static bool is_whole(const IrModule *m, const Instr *addr, unsigned bytes) {
    const Instr *index = instr(m, addr->args[1]);
    uint64_t step = index->op == OP_CONST ? addr->imm * index->imm : addr->imm;
    return bytes && step % bytes == 0;
}

/* Sets the size of elements of each array; false: some use doesn't fit. */
static bool look_at_uses(const IrModule *m, const Ref *root, uint8_t *unit) {
    for (BlockId b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++) {
            const Instr *in = instr(m, block->instrs.at[i]);
            for (uint32_t a = 0; a < in->nargs; a++) {
                Ref array = root[in->args[a]];
                if (!array || (in->op == OP_ADDR && a == 0)) continue;
                unsigned bytes = accessed(m, in, a);
                if (!bytes || (unit[array] && unit[array] != bytes)) return false;
                unit[array] = (uint8_t)bytes;
            }
        }
    }
    return true;
}

uint8_t *ir_own_arrays(const IrModule *m) {
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, m->blocks.n);
    Ref *root = ARENA_ARRAY(m->arena, Ref, m->instrs.n);
    uint8_t *unit = ARENA_ARRAY(m->arena, uint8_t, m->instrs.n);
    find_roots(m, order, ir_postorder(m, order), root);
    if (!look_at_uses(m, root, unit)) return NULL;
    for (Ref r = 1; r < m->instrs.n; r++) {
        if (!root[r]) continue;
        if (!unit[root[r]]) unit[root[r]] = 1; /* nobody looks at it */
        unit[r] = unit[root[r]];
        if (instr(m, r)->op == OP_ADDR && !is_whole(m, instr(m, r), unit[r])) return NULL;
    }
    return unit;
}
