/* ir.c - the tables that ops.def, types.def and mathfn.def declare, and building the graph: values,
 * blocks, edges, dominators. */
#include "ir.h"

#include <assert.h>
#include <string.h>

const TypeInfo type_info[T__COUNT] = {
#define TYPE(name, text, bytes, kind) [T_##name] = {text, bytes, kind},
#include "types.def"
#undef TYPE
};

/* The columns of ops.def in the spelling of the header. */
enum {
    VAR = OP_VAR,
    T_I = TAKES_INT,
    T_F = TAKES_FLOAT,
    T_P = TAKES_PTR,
    T_IF = TAKES_INT | TAKES_FLOAT,
    T_IB = TAKES_INT | TAKES_BOOL,
    T_IFB = TAKES_INT | TAKES_FLOAT | TAKES_BOOL,
    T_IFBP = TAKES_ANY,
    T_ANY = TAKES_ANY
};

const OpInfo op_info[OP__COUNT] = {
#define OP(name, args, flags, typing, types, meaning)                                                                  \
    [OP_##name] = {#name, args, flags, TYPING_##typing, types, meaning},
#include "ops.def"
#undef OP
};

/* libdevice's names are ours in lower case. */
const char *const mathfn_names[MATH__COUNT] = {
#define MATHFN(name, args, libdevice, ...) [MATH_##name] = libdevice,
#include "mathfn.def"
#undef MATHFN
};

const uint8_t mathfn_args[MATH__COUNT] = {
#define MATHFN(name, args, ...) [MATH_##name] = args,
#include "mathfn.def"
#undef MATHFN
};

const char *const sreg_names[SREG__COUNT] = {
    "tid.x",   "tid.y",   "tid.z",    "ntid.x",   "ntid.y",   "ntid.z", "ctaid.x",
    "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z", "laneid",
};

IrModule *ir_new(Arena *arena, const char *name) {
    IrModule *m = ARENA_NEW(arena, IrModule);
    m->arena = arena;
    m->name = arena_strdup(arena, name);
    VEC_PUSH(arena, &m->instrs, (Instr){0}); /* REF_NONE */
    VEC_PUSH(arena, &m->spans, (IrSpan){0});
    return m;
}

BlockId ir_block(IrModule *m) {
    VEC_PUSH(m->arena, &m->blocks, (Block){0});
    return m->blocks.n - 1;
}

uint64_t ir_wrap(Type t, uint64_t bits) {
    unsigned width = type_bits(t);
    if (width == 0 || width >= 64) return bits;
    uint64_t low = bits & ((UINT64_C(1) << width) - 1);
    if (type_is_signed(t) && low >> (width - 1)) low |= ~UINT64_C(0) << width;
    return low;
}

Ref ir_emit(IrModule *m, BlockId b, Op op, Type type, uint32_t nargs, const Ref *args, uint16_t sub, uint64_t imm,
            uint32_t span) {
    Instr in = {
        .op = (uint8_t)op, .type = (uint8_t)type, .sub = sub, .nargs = nargs, .imm = imm, .span = span, .block = b};
    if (nargs) {
        in.args = ARENA_ARRAY(m->arena, Ref, nargs);
        memcpy(in.args, args, nargs * sizeof(Ref));
    }
    VEC_PUSH(m->arena, &m->instrs, in);
    Ref r = m->instrs.n - 1;
    RefVec *list = &m->blocks.at[b].instrs;
    VEC_PUSH(m->arena, list, r);
    if (op == OP_PHI) {
        uint32_t i = list->n - 1;
        for (; i > 0 && m->instrs.at[list->at[i - 1]].op != OP_PHI; i--) list->at[i] = list->at[i - 1];
        list->at[i] = r;
    }
    return r;
}

Ref ir_const(IrModule *m, BlockId b, Type type, uint64_t bits, uint32_t span) {
    return ir_emit(m, b, OP_CONST, type, 0, NULL, 0, ir_wrap(type, bits), span);
}

unsigned type_takes(Type t) {
    switch (type_kind(t)) {
    case KIND_BOOL: return TAKES_BOOL;
    case KIND_INT:
    case KIND_UINT: return TAKES_INT;
    case KIND_FLOAT: return TAKES_FLOAT;
    case KIND_PTR: return TAKES_PTR;
    default: return 0;
    }
}

Ref ir_terminator(const IrModule *m, BlockId b) {
    const RefVec *list = &m->blocks.at[b].instrs;
    if (!list->n) return REF_NONE;
    Ref last = list->at[list->n - 1];
    return op_info[m->instrs.at[last].op].flags & ENDS ? last : REF_NONE;
}

/* Depth first, the second successor before the first, so that the reverse of the order has a
 * branch's taken side first and a loop's body before its exit. */
uint32_t ir_postorder(const IrModule *m, BlockId *order) {
    uint32_t n = m->blocks.n, count = 0, depth = 0;
    if (!n) return 0;
    typedef struct {
        BlockId b;
        uint8_t left;
    } Frame;
    Frame *stack = ARENA_ARRAY(m->arena, Frame, n);
    bool *seen = ARENA_ARRAY(m->arena, bool, n);
    stack[depth++] = (Frame){0, m->blocks.at[0].nsucc};
    seen[0] = true;
    while (depth) {
        Frame *f = &stack[depth - 1];
        if (!f->left) {
            order[count++] = f->b;
            depth--;
            continue;
        }
        BlockId s = m->blocks.at[f->b].succ[--f->left];
        if (seen[s]) continue;
        seen[s] = true;
        stack[depth++] = (Frame){s, m->blocks.at[s].nsucc};
    }
    return count;
}

/* Drops from every PHI of b the operands whose place isn't in keep[]. */
static void keep_phi_operands(IrModule *m, Block *b, uint32_t old_n, const uint32_t *keep, uint32_t kept) {
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        Instr *phi = &m->instrs.at[b->instrs.at[i]];
        if (phi->op != OP_PHI) break;
        if (phi->nargs != old_n) continue; /* its operands aren't there yet */
        for (uint32_t k = 0; k < kept; k++) phi->args[k] = phi->args[keep[k]];
        phi->nargs = kept;
    }
}

/* Predecessors that stay keep their order, so that PHI operands stay in place; new ones follow. */
void ir_edges(IrModule *m) {
    uint32_t n = m->blocks.n;
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, n);
    uint32_t live = ir_postorder(m, order);
    for (BlockId b = 0; b < n; b++) m->blocks.at[b].dead = true;
    for (uint32_t i = 0; i < live; i++) m->blocks.at[order[i]].dead = false;

    /* edges[b]: how many edges into b were found so far that the old list may claim */
    RefVec *now = ARENA_ARRAY(m->arena, RefVec, n);
    for (BlockId b = 0; b < n; b++) {
        const Block *from = &m->blocks.at[b];
        if (from->dead) continue;
        for (uint32_t s = 0; s < from->nsucc; s++) VEC_PUSH(m->arena, &now[from->succ[s]], b);
    }
    for (BlockId b = 0; b < n; b++) {
        Block *to = &m->blocks.at[b];
        uint32_t old_n = to->preds.n, kept = 0;
        uint32_t *keep = ARENA_ARRAY(m->arena, uint32_t, old_n);
        for (uint32_t i = 0; i < old_n; i++) {
            for (uint32_t k = 0; k < now[b].n; k++) {
                if (now[b].at[k] != to->preds.at[i]) continue;
                keep[kept++] = i;
                now[b].at[k] = UINT32_MAX;
                break;
            }
        }
        if (kept < old_n) keep_phi_operands(m, to, old_n, keep, kept);
        for (uint32_t k = 0; k < kept; k++) to->preds.at[k] = to->preds.at[keep[k]];
        to->preds.n = kept;
        for (uint32_t k = 0; k < now[b].n; k++)
            if (now[b].at[k] != UINT32_MAX) VEC_PUSH(m->arena, &to->preds, now[b].at[k]);
    }
}

/* Cooper, Harvey and Kennedy: "A simple, fast dominance algorithm". */
void ir_dominators(const IrModule *m, BlockId *idom) {
    uint32_t n = m->blocks.n;
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, n);
    uint32_t *number = ARENA_ARRAY(m->arena, uint32_t, n);
    uint32_t live = ir_postorder(m, order);
    memset(idom, 0, n * sizeof *idom);
    bool *done = ARENA_ARRAY(m->arena, bool, n);
    for (uint32_t i = 0; i < live; i++) number[order[i]] = i;
    done[0] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = live; i-- > 0;) {
            BlockId b = order[i];
            if (b == 0) continue;
            BlockId best = UINT32_MAX;
            for (uint32_t k = 0; k < m->blocks.at[b].preds.n; k++) {
                BlockId p = m->blocks.at[b].preds.at[k];
                if (!done[p]) continue;
                BlockId q = best == UINT32_MAX ? p : best;
                while (p != q) {
                    while (number[p] < number[q]) p = idom[p];
                    while (number[q] < number[p]) q = idom[q];
                }
                best = p;
            }
            assert(best != UINT32_MAX);
            if (!done[b] || idom[b] != best) changed = true;
            done[b] = true;
            idom[b] = best;
        }
    }
}

/* Walks up from b; the tree is shallow in practice. */
bool ir_dominates(const BlockId *idom, BlockId a, BlockId b) {
    while (b != a && b != 0) b = idom[b];
    return a == b;
}
