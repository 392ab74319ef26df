/* ir.c - the tables that ops.def, types.def and mathfn.def declare (approxfn.def too), and building the graph: values,
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
    T_B = TAKES_BOOL,
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

const char *const approxfn_names[APPROX__COUNT] = {
#define APPROXFN(name, text, ...) [APPROX_##name] = text,
#include "approxfn.def"
#undef APPROXFN
};

const uint8_t approxfn_args[APPROX__COUNT] = {
#define APPROXFN(name, text, args, ...) [APPROX_##name] = args,
#include "approxfn.def"
#undef APPROXFN
};

const uint8_t approxfn_exact[APPROX__COUNT] = {
#define APPROXFN(name, text, args, exact, error) [APPROX_##name] = MATH_##exact,
#include "approxfn.def"
#undef APPROXFN
};

const char *const sreg_names[SREG__COUNT] = {
    "tid.x",   "tid.y",   "tid.z",    "ntid.x",   "ntid.y",   "ntid.z", "ctaid.x",
    "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z", "laneid", "dynamic_smem_size",
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

uint32_t shared_layout(const IrModule *m, uint32_t *offsets) {
    uint32_t end = 0, last = 16;
    for (uint32_t i = 0; i < m->shared.n; i++) {
        const IrShared *s = &m->shared.at[i];
        uint32_t align = s->align ? s->align : 16;
        if (s->dynamic && align > last) last = align;
        if (s->dynamic) continue;
        end = (end + align - 1) / align * align;
        if (offsets) offsets[i] = end;
        end += s->bytes;
    }
    return (end + last - 1) / last * last;
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

bool ir_is_division(Op op) { return op == OP_FLOORDIV || op == OP_FLOORMOD || op == OP_TRUNCDIV || op == OP_TRUNCMOD; }

bool ir_is_warp_op(Op op) {
    return op == OP_SYNCWARP || op == OP_SHFL || op == OP_VOTE || op == OP_MATCH || op == OP_REDUX ||
           op == OP_ACTIVEMASK;
}

Sreg ir_sreg_of(const IrModule *m, Ref r) {
    const Instr *in = &m->instrs.at[r];
    while (in->op == OP_CONVERT && type_is_int((Type)in->type) && type_bits((Type)in->type) >= 32)
        in = &m->instrs.at[in->args[0]];
    return in->op == OP_SREG ? (Sreg)in->sub : SREG__COUNT;
}

Ref ir_terminator(const IrModule *m, BlockId b) {
    const RefVec *list = &m->blocks.at[b].instrs;
    if (!list->n) return REF_NONE;
    Ref last = list->at[list->n - 1];
    return op_info[m->instrs.at[last].op].flags & ENDS ? last : REF_NONE;
}

/* Depth first, the second successor before the first, so that the reverse of the postorder has a branch's taken
 * side first and a loop's body before its exit. parent[] has preorder numbers, by preorder number. */
static uint32_t depth_first(const IrModule *m, BlockId *postorder, BlockId *preorder, uint32_t *parent) {
    uint32_t n = m->blocks.n, count = 0, finished = 0, depth = 0;
    if (!n) return 0;
    typedef struct {
        BlockId b;
        uint32_t number;
        uint8_t left;
    } Frame;
    Frame *stack = ARENA_ARRAY(m->arena, Frame, n);
    bool *seen = ARENA_ARRAY(m->arena, bool, n);
    stack[depth++] = (Frame){0, count, m->blocks.at[0].nsucc};
    seen[0] = true;
    preorder[count] = 0;
    parent[count++] = 0;
    while (depth) {
        Frame *f = &stack[depth - 1];
        if (!f->left) {
            postorder[finished++] = f->b;
            depth--;
            continue;
        }
        BlockId s = m->blocks.at[f->b].succ[--f->left];
        if (seen[s]) continue;
        seen[s] = true;
        stack[depth++] = (Frame){s, count, m->blocks.at[s].nsucc};
        preorder[count] = s;
        parent[count++] = f->number;
    }
    return count;
}

uint32_t ir_postorder(const IrModule *m, BlockId *order) {
    uint32_t n = m->blocks.n;
    return depth_first(m, order, ARENA_ARRAY(m->arena, BlockId, n), ARENA_ARRAY(m->arena, uint32_t, n));
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

    RefVec *now = ARENA_ARRAY(m->arena, RefVec, n);
    for (BlockId b = 0; b < n; b++) {
        const Block *from = &m->blocks.at[b];
        if (from->dead) continue;
        for (uint32_t s = 0; s < from->nsucc; s++) VEC_PUSH(m->arena, &now[from->succ[s]], b);
    }
    uint32_t *edges = ARENA_ARRAY(m->arena, uint32_t, n); /* into b, by where they come from; 0 between blocks */
    for (BlockId b = 0; b < n; b++) {
        Block *to = &m->blocks.at[b];
        uint32_t old_n = to->preds.n, kept = 0;
        uint32_t *keep = ARENA_ARRAY(m->arena, uint32_t, old_n);
        for (uint32_t k = 0; k < now[b].n; k++) edges[now[b].at[k]]++;
        for (uint32_t i = 0; i < old_n; i++) {
            if (!edges[to->preds.at[i]]) continue;
            edges[to->preds.at[i]]--;
            keep[kept++] = i;
        }
        if (kept < old_n) keep_phi_operands(m, to, old_n, keep, kept);
        for (uint32_t k = 0; k < kept; k++) to->preds.at[k] = to->preds.at[keep[k]];
        to->preds.n = kept;
        for (uint32_t k = 0; k < now[b].n; k++) {
            if (!edges[now[b].at[k]]) continue;
            edges[now[b].at[k]]--;
            VEC_PUSH(m->arena, &to->preds, now[b].at[k]);
        }
    }
}

/* ---- dominators ------------------------------------------------------------------------------ */

/* Semi-NCA (Georgiadis: "Linear-time algorithms for dominators and related problems"), as nearly linear as matters. A
 * chain of 5,000 `elif` has blocks with 5,000 predecessors and a tree as deep, where simpler methods are quadratic.
 * All arrays are by preorder number. */
typedef struct SemiNca {
    uint32_t *parent; /* in the tree of the walk; shortened by best_label() */
    uint32_t *semi, *label, *idom, *stack;
} SemiNca;

/* The vertex with the least semidominator on the way up from v, among those numbered from `linked` on. */
static uint32_t best_label(SemiNca *s, uint32_t v, uint32_t linked) {
    if (s->parent[v] < linked) return s->label[v];
    uint32_t depth = 0;
    do {
        s->stack[depth++] = v;
        v = s->parent[v];
    } while (s->parent[v] >= linked);
    uint32_t up = v, best = s->label[v];
    while (depth) {
        v = s->stack[--depth];
        s->parent[v] = s->parent[up];
        if (s->semi[best] < s->semi[s->label[v]]) s->label[v] = s->label[up];
        else best = s->label[v];
        up = v;
    }
    return s->label[v];
}

static void find_semidominators(const IrModule *m, SemiNca *s, const BlockId *preorder, const uint32_t *number,
                                uint32_t live) {
    for (uint32_t i = 0; i < live; i++) {
        s->semi[i] = s->label[i] = i;
        s->idom[i] = s->parent[i];
    }
    for (uint32_t i = live; i-- > 1;) {
        const Block *b = &m->blocks.at[preorder[i]];
        s->semi[i] = s->parent[i];
        for (uint32_t k = 0; k < b->preds.n; k++) {
            BlockId p = b->preds.at[k];
            if (preorder[number[p]] != p) continue; /* not live */
            uint32_t semi = s->semi[best_label(s, number[p], i + 1)];
            if (semi < s->semi[i]) s->semi[i] = semi;
        }
    }
    for (uint32_t i = 1; i < live; i++)
        while (s->idom[i] > s->semi[i]) s->idom[i] = s->idom[s->idom[i]];
}

DomTree ir_dominators(const IrModule *m) {
    Arena *a = m->arena;
    uint32_t n = m->blocks.n;
    DomTree t = {ARENA_ARRAY(a, BlockId, n), ARENA_ARRAY(a, uint32_t, n), ARENA_ARRAY(a, uint32_t, n)};
    BlockId *preorder = ARENA_ARRAY(a, BlockId, n);
    uint32_t *number = ARENA_ARRAY(a, uint32_t, n), *next = ARENA_ARRAY(a, uint32_t, n);
    SemiNca s = {ARENA_ARRAY(a, uint32_t, n), ARENA_ARRAY(a, uint32_t, n), ARENA_ARRAY(a, uint32_t, n),
                 ARENA_ARRAY(a, uint32_t, n), ARENA_ARRAY(a, uint32_t, n)};
    uint32_t live = depth_first(m, ARENA_ARRAY(a, BlockId, n), preorder, s.parent);
    for (uint32_t i = 0; i < live; i++) number[preorder[i]] = i;
    find_semidominators(m, &s, preorder, number, live);

    /* A dominator has a lower number: sizes are summed from the end, and places handed out from the start. */
    for (uint32_t i = live; i-- > 0;) {
        BlockId b = preorder[i];
        t.idom[b] = preorder[s.idom[i]];
        t.size[b]++;
        if (i) t.size[t.idom[b]] += t.size[b];
    }
    for (uint32_t i = 0; i < live; i++) {
        BlockId b = preorder[i];
        if (i) t.at[b] = next[t.idom[b]];
        next[b] = t.at[b] + 1;
        if (i) next[t.idom[b]] += t.size[b];
    }
    return t;
}

bool ir_dominates(const DomTree *t, BlockId a, BlockId b) { return t->at[b] - t->at[a] < t->size[a]; }
