/* ahead.c - divisions that are the same for all threads of a block are done before the first branch, for the CPU.
 *
 * needs: the end of the pipeline      keeps: what the kernel does
 *
 * Every operation is total, so that none of them has to wait for a condition; LLVM sees divisions that may trap, and
 * leaves them there, once for each lane. In front, one is done for all threads. What ranges.c proved of an operation
 * behind a condition doesn't hold there, and is forgotten. */
#include "ir.h"

enum { DEEPEST = 8 };

typedef struct Ahead {
    IrModule *m;
    RefVec moved; /* operands before what is made of them */
} Ahead;

static bool is_same(const Instr *in) {
    return in->op == OP_CONST || in->op == OP_PARAM ||
           (in->op == OP_SREG && in->sub != SREG_TID_X && in->sub != SREG_TID_Y && in->sub != SREG_TID_Z &&
            in->sub != SREG_LANEID);
}

static bool is_arithmetic(Op op) {
    return op == OP_ADD || op == OP_SUB || op == OP_MUL || op == OP_NEG || op == OP_MIN || op == OP_MAX ||
           op == OP_CONVERT || ir_is_division(op);
}

/* Made of what is the same for all threads, by integer arithmetic alone. */
static bool can_move(const Ahead *A, Ref r, int depth) {
    const Instr *in = &A->m->instrs.at[r];
    if (is_same(in)) return true;
    if (!depth || !is_arithmetic((Op)in->op) || !type_is_int((Type)in->type)) return false;
    for (uint32_t i = 0; i < in->nargs; i++)
        if (!type_is_int((Type)A->m->instrs.at[in->args[i]].type) || !can_move(A, in->args[i], depth - 1)) return false;
    return true;
}

static void move(Ahead *A, Ref r) {
    Instr *in = &A->m->instrs.at[r];
    if (in->block == 0) return;
    for (uint32_t i = 0; i < in->nargs; i++) move(A, in->args[i]);
    in->block = 0;
    if (is_arithmetic((Op)in->op)) in->sub = 0;
    VEC_PUSH(A->m->arena, &A->moved, r);
}

void pass_ahead(IrModule *m) {
    Ahead A = {.m = m};
    for (BlockId b = 1; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++) {
            Ref r = block->instrs.at[i];
            if (ir_is_division((Op)m->instrs.at[r].op) && can_move(&A, r, DEEPEST)) move(&A, r);
        }
    }
    if (!A.moved.n) return;
    for (BlockId b = 1; b < m->blocks.n; b++) {
        RefVec *list = &m->blocks.at[b].instrs;
        uint32_t kept = 0;
        for (uint32_t i = 0; i < list->n; i++)
            if (m->instrs.at[list->at[i]].block == b) list->at[kept++] = list->at[i];
        list->n = kept;
    }
    RefVec *entry = &m->blocks.at[0].instrs;
    Ref end = entry->at[--entry->n];
    for (uint32_t i = 0; i < A.moved.n; i++) VEC_PUSH(m->arena, entry, A.moved.at[i]);
    VEC_PUSH(m->arena, entry, end);
}
