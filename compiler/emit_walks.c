/* emit_walks.c - how far LLVM's vectoriser would walk to find which values are the same for all lanes.
 *
 * It asks that of a value's operands, of theirs and so on up to the first that differs, again each time (LLVM 22,
 * isSingleScalar): where values are the same and each is an operand twice, as in s = s * s, forty of them take longer
 * than anybody can wait. So the steps are counted before, each value once, for the innermost loops, which are those
 * that it looks at. Values from outside of the loop are where a walk ends, as loads and calls are. */
#include "emit.h"

enum { MANY_STEPS = 1000000 };

typedef struct Walks {
    Arena *arena;
    const void **key; /* blocks and instructions, by their hash */
    uint32_t *number; /* theirs, from 1 */
    uint32_t mask;
    LLVMBasicBlockRef *block; /* by number, as all that follows */
    uint32_t nblocks;
    bool *reached;   /* of a block: from the entry */
    uint32_t *order; /* the blocks' numbers: each behind those that it leads to, but for the ways back in loops */
    uint32_t nordered, *place; /* place: of a block in that order */
    uint32_t *loop, *size; /* of a block: the header of the smallest loop around it, or 0; how many blocks that has */
    uint32_t *in;          /* of an instruction: its block */
    double *steps;
    bool *differs;
} Walks;

static uint32_t *number_of(const Walks *w, const void *key) {
    uint32_t h = (uint32_t)(((uintptr_t)key >> 4) * UINT32_C(2654435761));
    while (w->key[h & w->mask] && w->key[h & w->mask] != key) h++;
    w->key[h & w->mask] = key;
    return &w->number[h & w->mask];
}

static void number_all(Walks *w, LLVMValueRef f, uint32_t instrs) {
    uint32_t room = 64, blocks = 0, n = 0;
    w->nblocks = LLVMCountBasicBlocks(f);
    while (room < 2 * (instrs + w->nblocks)) room *= 2;
    w->key = ARENA_ARRAY(w->arena, const void *, room);
    w->number = ARENA_ARRAY(w->arena, uint32_t, room);
    w->mask = room - 1;
    w->block = ARENA_ARRAY(w->arena, LLVMBasicBlockRef, w->nblocks + 1);
    w->reached = ARENA_ARRAY(w->arena, bool, w->nblocks + 1);
    w->order = ARENA_ARRAY(w->arena, uint32_t, w->nblocks + 1);
    w->place = ARENA_ARRAY(w->arena, uint32_t, w->nblocks + 1);
    w->loop = ARENA_ARRAY(w->arena, uint32_t, w->nblocks + 1);
    w->size = ARENA_ARRAY(w->arena, uint32_t, w->nblocks + 1);
    w->in = ARENA_ARRAY(w->arena, uint32_t, instrs + 1);
    w->steps = ARENA_ARRAY(w->arena, double, instrs + 1);
    w->differs = ARENA_ARRAY(w->arena, bool, instrs + 1);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        w->block[++blocks] = b;
        *number_of(w, b) = blocks;
        for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in))
            w->in[*number_of(w, in) = ++n] = blocks;
    }
}

/* ---- loops ------------------------------------------------------------------------------------- */

/* From `latch` back to the header, by the blocks that lead there. */
static void fill_loop(Walks *w, uint32_t header, uint32_t latch) {
    bool *seen = ARENA_ARRAY(w->arena, bool, w->nblocks + 1);
    uint32_t *found = ARENA_ARRAY(w->arena, uint32_t, w->nblocks + 1), n = 0;
    seen[header] = true;
    found[n++] = header;
    if (latch != header) found[n++] = latch;
    seen[latch] = true;
    for (uint32_t i = 1; i < n; i++)
        for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(w->block[found[i]])); use;
             use = LLVMGetNextUse(use)) {
            LLVMValueRef user = LLVMGetUser(use);
            uint32_t from = LLVMIsATerminatorInst(user) ? *number_of(w, LLVMGetInstructionParent(user)) : 0;
            if (!from || seen[from] || !w->reached[from]) continue;
            seen[from] = true;
            found[n++] = from;
        }
    for (uint32_t i = 0; i < n; i++)
        if (!w->loop[found[i]] || w->size[found[i]] > n) w->loop[found[i]] = header, w->size[found[i]] = n;
}

static LLVMValueRef terminator(const Walks *w, uint32_t b) { return LLVMGetBasicBlockTerminator(w->block[b]); }

/* Depth first from the entry. */
static void find_order(Walks *w) {
    uint32_t *path = ARENA_ARRAY(w->arena, uint32_t, w->nblocks + 1),
             *next = ARENA_ARRAY(w->arena, uint32_t, w->nblocks + 1);
    uint32_t depth = 0;
    path[depth++] = 1;
    w->reached[1] = true;
    while (depth) {
        uint32_t b = path[depth - 1];
        if (next[b] == LLVMGetNumSuccessors(terminator(w, b))) {
            w->place[b] = w->nordered;
            w->order[w->nordered++] = b;
            depth--;
            continue;
        }
        uint32_t to = *number_of(w, LLVMGetSuccessor(terminator(w, b), next[b]++));
        if (w->reached[to]) continue;
        w->reached[to] = true;
        path[depth++] = to;
    }
}

/* An edge to a block that was left no earlier closes a loop; one block may close several. */
static void find_loops(Walks *w) {
    for (uint32_t b = 1; b <= w->nblocks; b++) {
        unsigned n = w->reached[b] ? LLVMGetNumSuccessors(terminator(w, b)) : 0;
        for (unsigned i = 0; i < n; i++) {
            uint32_t to = *number_of(w, LLVMGetSuccessor(terminator(w, b), i));
            if (w->place[to] >= w->place[b]) fill_loop(w, to, b);
        }
    }
}

/* ---- walks ------------------------------------------------------------------------------------- */

/* Are the lanes' values of it the same if the operands' are? The walk goes on there. */
static bool walks_on(LLVMValueRef in) {
    switch (LLVMGetInstructionOpcode(in)) {
    case LLVMLoad:
    case LLVMStore:
    case LLVMCall:
    case LLVMAlloca:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMFence: return false;
    default: return !LLVMIsATerminatorInst(in);
    }
}

static void count(Walks *w, LLVMValueRef in, uint32_t b) {
    uint32_t n = *number_of(w, in);
    bool load = LLVMGetInstructionOpcode(in) == LLVMLoad;
    w->steps[n] = 1;
    w->differs[n] = LLVMIsAPHINode(in) && w->loop[b] == b;
    if (w->differs[n] || !(load || walks_on(in))) return;
    for (int i = 0; i < LLVMGetNumOperands(in) && !w->differs[n]; i++) {
        LLVMValueRef x = LLVMGetOperand(in, (unsigned)i);
        uint32_t of = LLVMIsAInstruction(x) ? *number_of(w, x) : 0;
        if (!of || w->loop[w->in[of]] != w->loop[b]) continue;
        if (!load) w->steps[n] += w->steps[of];
        w->differs[n] = w->differs[of];
    }
}

static bool function_ends(Unit *u, LLVMValueRef f, uint32_t instrs) {
    Walks w = {.arena = u->arena};
    number_all(&w, f, instrs);
    find_order(&w);
    find_loops(&w);
    double all = 0;
    for (uint32_t i = w.nordered; i-- > 0;) {
        uint32_t b = w.order[i];
        for (LLVMValueRef in = LLVMGetFirstInstruction(w.block[b]); in && w.loop[b]; in = LLVMGetNextInstruction(in)) {
            count(&w, in, b);
            all += w.steps[*number_of(&w, in)];
        }
    }
    return all < MANY_STEPS;
}

bool emit_walks_end(Unit *u) {
    for (LLVMValueRef f = LLVMGetFirstFunction(u->mod); f; f = LLVMGetNextFunction(f)) {
        uint32_t instrs = 0;
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in)) instrs++;
        if (instrs && !function_ends(u, f, instrs)) return false;
    }
    return true;
}
