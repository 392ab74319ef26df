/* lower_cpu_raise.c - lanes of a vector that raise.
 *
 * The way to a RAISE is made at the branch where lanes leave for it, once for each such branch. Those that raise aren't
 * on any more, the others go on: of all threads that raise the first is reported, and a lower lane may raise later in
 * the code. Behind the vector the launch ends (`raised`). */
#include "lower_cpu_body.h"

#include <assert.h>

#define NO_LANE UINT32_MAX

static const Instr *instr(const Lower *L, Ref r) { return &L->m->instrs.at[r]; }

static bool is_doomed(const Lower *L, BlockId b) { return L->body->u->doomed[b]; }

bool lanes_raise_from(const Lower *L, BlockId b) {
    const Block *block = &L->m->blocks.at[b];
    return block->nsucc == 2 && is_doomed(L, block->succ[0]) != is_doomed(L, block->succ[1]);
}

/* The exception of the first lane that is on, unless a lane before it has raised. */
static void note_first(Lower *L, const Instr *raise) {
    CpuState *c = L->cpu;
    Val lane = lanes_first_on(L, L->body->now), number = LLVMBuildTrunc(L->b, lane, L->i32, "lane");
    LLVMBasicBlockRef note = ll_block(L, "note"), done = ll_block(L, "noted");
    Val sooner = ll_icmp(L, LLVMIntULT, number, LLVMBuildLoad2(L->b, L->i32, c->raised, "raised"));
    LLVMBuildCondBr(L->b, sooner, note, done);
    LLVMPositionBuilderAtEnd(L->b, note);
    LLVMBuildStore(L->b, number, c->raised);
    Val *args = ARENA_ARRAY(L->m->arena, Val, raise->nargs + 1), vector_at = c->thread[0];
    for (uint32_t i = 0; i < raise->nargs; i++)
        args[i] = lanes_one(L, raise->args[i], lanes_spill(L, raise->args[i]), lane);
    c->thread[0] = LLVMBuildNUWAdd(L->b, vector_at, number, "x");
    lower_record_again(L, raise, args);
    c->thread[0] = vector_at;
    LLVMBuildBr(L->b, done);
    LLVMPositionBuilderAtEnd(L->b, done);
}

/* PHIs have the operands of the way on which the lanes come. */
static void enter(Lower *L, BlockId from, uint32_t k) {
    const Block *to = &L->m->blocks.at[L->m->blocks.at[from].succ[k]];
    uint32_t a = lanes_operand_of(L, from, k), n = 0;
    Val *in = ARENA_ARRAY(L->m->arena, Val, to->instrs.n);
    for (; instr(L, to->instrs.at[n])->op == OP_PHI; n++) {
        Ref phi = to->instrs.at[n], r = instr(L, phi)->args[a];
        in[n] = lane_kind(L, phi) == LANE_VECTOR ? lanes_value(L, r) : lanes_held(L, r);
    }
    for (uint32_t i = 0; i < n; i++) L->value[to->instrs.at[i]] = in[i];
}

/* `lanes` (NULL: all) of those at the end of `from` go to its k-th successor, and raise. */
static void raise_there(Lower *L, BlockId from, uint32_t k, Val lanes) {
    struct Body *B = L->body;
    Val now = B->now;
    bool parted = B->parted;
    B->now = lanes;
    B->parted = lanes != NULL;
    for (;;) {
        enter(L, from, k);
        from = L->m->blocks.at[from].succ[k];
        k = 0;
        const Block *block = &L->m->blocks.at[from];
        for (uint32_t i = 0; i + 1 < block->instrs.n; i++) lanes_instr(L, block->instrs.at[i]);
        const Instr *end = instr(L, block->instrs.at[block->instrs.n - 1]);
        debug_at(L, end->span);
        if (end->op != OP_RAISE) continue;
        note_first(L, end);
        break;
    }
    B->now = now;
    B->parted = parted;
}

static Val without(Lower *L, Val mask, Val lanes) { return ll_select(L, lanes, LLVMConstNull(LLVMTypeOf(mask)), mask); }

/* All lanes that are on raise. */
void lanes_raise_together(Lower *L, BlockId b, uint32_t k) {
    raise_there(L, b, k, L->body->now);
    LLVMBuildBr(L->b, L->cpu->latch);
}

/* Those of whom the condition says so. Gives those that are left; NULL: of all that are on, in a block without a mask.
 */
Val lanes_raise(Lower *L, BlockId b, Val cond) {
    struct Body *B = L->body;
    uint32_t k = is_doomed(L, L->m->blocks.at[b].succ[1]);
    Val no = LLVMBuildNot(L->b, cond, "no"), lanes = lanes_both(L, B->now, k ? no : cond);
    LLVMBasicBlockRef raise = ll_block(L, "raise"), go = ll_block(L, "go");
    assert(B->on_variable);
    LLVMBuildCondBr(L->b, lanes_any(L, lanes), raise, go);
    LLVMPositionBuilderAtEnd(L->b, raise);
    raise_there(L, b, k, lanes);
    Val left = without(L, lanes_on(L), lanes);
    LLVMBuildStore(L->b, left, B->on_variable);
    LLVMBuildCondBr(L->b, lanes_any(L, left), go, L->cpu->latch);
    LLVMPositionBuilderAtEnd(L->b, go);
    return B->parted ? lanes_both(L, B->now, k ? cond : no) : NULL;
}

/* The full body takes nobody to raise, or it is left. */
void lanes_raise_elsewhere(Lower *L, BlockId b, Ref cond) {
    LLVMBasicBlockRef go = ll_block(L, "go");
    Verdict v = lanes_judge(L, cond);
    bool first = is_doomed(L, L->m->blocks.at[b].succ[0]);
    LLVMBuildCondBr(L->b, first ? v.none : v.all, go, L->body->other);
    LLVMPositionBuilderAtEnd(L->b, go);
}

/* Does the body have to know at any time who has raised? */
bool lanes_may_raise(const Lower *L) {
    const struct Body *B = L->body;
    for (uint32_t i = 0; i < B->n; i++) {
        BlockId b = B->order[i];
        if (!lanes_raise_from(L, b)) continue;
        Ref cond = instr(L, ir_terminator(L->m, b))->args[0];
        if (B->u->block_divergent[b]) return true; /* only some are here, whatever the condition says */
        if (lane_kind(L, cond) != LANE_SCALAR && !(B->full && B->v->agree[b])) return true;
    }
    return false;
}

void lanes_raise_variable(Lower *L) {
    if (!L->m->sites.n) return;
    L->cpu->raised = lanes_variable(L, L->i32, "raised");
    LLVMBuildStore(L->b, LLVMConstInt(L->i32, NO_LANE, false), L->cpu->raised);
}

/* At the latch: away if a lane of the vector has raised. */
void lanes_leave_if_raised(Lower *L, LLVMBasicBlockRef to) {
    if (!L->cpu->raised) return;
    LLVMBasicBlockRef go = ll_block(L, "go");
    Val raised = LLVMBuildLoad2(L->b, L->i32, L->cpu->raised, "raised");
    LLVMBuildCondBr(L->b, ll_icmp(L, LLVMIntEQ, raised, LLVMConstInt(L->i32, NO_LANE, false)), go, to);
    LLVMPositionBuilderAtEnd(L->b, go);
}
