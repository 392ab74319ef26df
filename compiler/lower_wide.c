/* lower_wide.c - neighbours that the frontend loads or stores together, as one access of a GPU.
 *
 * The first of a group says by its flags that its address is a multiple of the group's bytes. The others follow it in
 * the block, at constant distances, with nothing between that touches memory. The first makes the whole access; the
 * others find their value made. One that is gone, since nobody wants it, is read all the same. */
#include "lower.h"

enum { MOST_LANES = 16 };
enum { ALONE = MEM_VOLATILE | MEM_UNALIGNED | MEM_ORDERED }; /* of an access that is in no group */

typedef struct Group {
    Ref lane[MOST_LANES]; /* the accesses; REF_NONE: gone */
    unsigned n, bytes;    /* elements; bytes in all */
    Type type;
    Val at;
} Group;

static const Instr *instr(const Lower *L, Ref r) { return &L->m->instrs.at[r]; }

/* Bytes from `base` to a pointer that was made from it by constants; false: it wasn't. */
static bool distance(const Lower *L, Ref pointer, Ref base, uint64_t *out) {
    *out = 0;
    for (; pointer != base; pointer = instr(L, pointer)->args[0]) {
        const Instr *in = instr(L, pointer);
        uint64_t index;
        if (in->op != OP_ADDR || !ll_const_int(L->m, in->args[1], &index)) return false;
        *out += index * in->imm;
    }
    return true;
}

static Type accessed_type(const Lower *L, const Instr *in) {
    return (Type)(in->op == OP_LOAD ? in->type : instr(L, in->args[1])->type);
}

static bool touches_memory(const Instr *in) {
    return op_info[in->op].flags & (READS | WRITES | ENDS | SYNC) || in->op == OP_CLOCK;
}

/* Those of the same kind that follow instruction `first`; false: it stands alone. */
static bool find_group(const Lower *L, Ref first, Group *g) {
    const Instr *head = instr(L, first);
    const Block *b = &L->m->blocks.at[head->block];
    *g = (Group){.type = accessed_type(L, head), .bytes = mem_align(head->sub)};
    unsigned each = type_bytes(g->type), found = 0;
    g->n = g->bytes / each;
    if (L->o->target != TARGET_PTX || g->n < 2 || g->n > MOST_LANES || head->sub & ALONE) return false;
    uint32_t i = 0;
    while (b->instrs.at[i] != first) i++;
    for (; i < b->instrs.n; i++) {
        Ref r = b->instrs.at[i];
        const Instr *in = instr(L, r);
        uint64_t offset;
        if (!touches_memory(in)) continue;
        bool alike = in->op == head->op && (in->sub & MEM_HINTS) == (head->sub & MEM_HINTS) && !(in->sub & ALONE) &&
                     accessed_type(L, in) == g->type;
        if (!alike || !distance(L, in->args[0], head->args[0], &offset) || offset % each || offset >= g->bytes ||
            g->lane[offset / each])
            break;
        if (in->op == OP_STORE && !L->value[in->args[1]]) break;
        g->lane[offset / each] = r;
        found++;
    }
    /* a store writes nothing that isn't asked for */
    return found > 1 && (head->op == OP_LOAD || found == g->n);
}

/* ---- the whole access -------------------------------------------------------------------------------------------- */
static void load_group(Lower *L, const Instr *head, const Group *g) {
    Ty memory = ll_memory_type(L, g->type), vector = LLVMVectorType(memory, g->n);
    Val all;
    if (ll_hinted(L, head->sub, g->at)) {
        all = ll_load_hinted(L, head->sub, vector, g->bytes, g->at);
    } else {
        all = LLVMBuildLoad2(L->b, vector, g->at, "w");
        LLVMSetAlignment(all, g->bytes);
        if (head->sub & MEM_INVARIANT) ll_mark_invariant(L, all);
    }
    for (unsigned i = 0; i < g->n; i++) {
        if (!g->lane[i]) continue;
        Val v = LLVMBuildExtractElement(L->b, all, ll_int(L, L->i32, i), "v");
        L->value[g->lane[i]] = g->type == T_BOOL ? ll_icmp(L, LLVMIntNE, v, ll_int(L, memory, 0)) : v;
    }
}

static void store_group(Lower *L, const Instr *head, const Group *g) {
    Ty memory = ll_memory_type(L, g->type);
    Val all = LLVMGetUndef(LLVMVectorType(memory, g->n));
    for (unsigned i = 0; i < g->n; i++) {
        Val v = L->value[instr(L, g->lane[i])->args[1]];
        if (g->type == T_BOOL) v = LLVMBuildZExt(L->b, v, memory, "v");
        all = LLVMBuildInsertElement(L->b, all, v, ll_int(L, L->i32, i), "w");
    }
    if (ll_hinted(L, head->sub, g->at)) {
        ll_store_hinted(L, head->sub, g->bytes, g->at, all);
        return;
    }
    LLVMSetAlignment(LLVMBuildStore(L->b, all, g->at), g->bytes);
}

bool lower_wide(Lower *L, Ref r) {
    const Instr *in = instr(L, r);
    if (L->done[r]) return true;
    Group g;
    if (!mem_align(in->sub) || !find_group(L, r, &g)) return false;
    g.at = ll_value(L, in->args[0]);
    if (in->op == OP_LOAD) load_group(L, in, &g);
    else store_group(L, in, &g);
    for (unsigned i = 0; i < g.n; i++)
        if (g.lane[i]) L->done[g.lane[i]] = true;
    return true;
}
