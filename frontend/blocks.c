/* blocks.c - canonical instructions to basic blocks, of what can run without an exception.
 *
 * Code that only an exception reaches (handlers) is never reached here, and so never looked at. Constructs
 * outside the language are all reported, so that one run shows them all. */
#include "pycode.h"

static bool ends_block(COp op) {
    return op == C_JUMP || op == C_JUMP_IF || op == C_JUMP_OR_POP || op == C_FOR_ITER || op == C_RETURN ||
           op == C_RAISE || op == C_HANDLER;
}

static bool has_target(COp op) { return op == C_JUMP || op == C_JUMP_IF || op == C_JUMP_OR_POP || op == C_FOR_ITER; }

static bool falls_through(COp op) { return op != C_JUMP && op != C_RETURN && op != C_RAISE && op != C_HANDLER; }

static void cut(PyCtx *c, const CCode *code, Flow *out) {
    uint32_t n = code->instrs.n;
    bool *leader = ARENA_ARRAY(c->arena, bool, n + 1);
    leader[0] = true;
    for (uint32_t i = 0; i < n; i++) {
        COp op = (COp)code->instrs.at[i].op;
        if (has_target(op)) leader[code->instrs.at[i].target] = true;
        if (ends_block(op)) leader[i + 1] = true;
    }
    out->block_of = ARENA_ARRAY(c->arena, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        if (leader[i]) VEC_PUSH(c->arena, &out->blocks, ((FlowBlock){.first = i}));
        out->block_of[i] = out->blocks.n - 1;
        out->blocks.at[out->blocks.n - 1].end = i + 1;
    }
}

static void visit(Flow *flow, uint32_t b, uint32_t tries, uint32_t *todo, uint32_t *ntodo) {
    if (flow->blocks.at[b].reached) return;
    flow->blocks.at[b].reached = true;
    flow->blocks.at[b].tries = tries;
    todo[(*ntodo)++] = b;
}

/* What a `finally` guards, in 3.10: between the NOPs that enter and leave. How many are open at the block's end. */
static uint32_t guard(const CCode *code, const FlowBlock *fb) {
    uint32_t tries = fb->tries;
    for (uint32_t i = fb->first; i < fb->end; i++) {
        CInstr *in = &code->instrs.at[i];
        if (in->op == C_NOP && in->arg == LEAVES_TRY && tries) tries--;
        in->guarded = tries > 0;
        if (in->op == C_NOP && in->arg == ENTERS_TRY) tries++;
    }
    return tries;
}

/* What the flags of the code object say; false when that is all there is to say. */
static bool refuse_kind(PyCtx *c) {
    enum { OPTIMIZED = 1, COROUTINE = 0x80, ITERABLE_COROUTINE = 0x100, ASYNC_GENERATOR = 0x200 };
    PySpan span = {.line = c->code->first_line};
    if (c->code->flags & (COROUTINE | ITERABLE_COROUTINE | ASYNC_GENERATOR)) py_refuse(c, span, REFUSE_ASYNC);
    else if (!(c->code->flags & OPTIMIZED)) py_refuse(c, span, REFUSE_CLASS_BODY);
    return !c->failed;
}

/* Every construct outside the language that can be reached; of a generator the first yield. */
static void refuse_instrs(PyCtx *c, const CCode *code, const Flow *flow) {
    enum { GENERATOR = 0x20 };
    bool yields = false;
    for (uint32_t b = 0; b < flow->blocks.n; b++) {
        const FlowBlock *fb = &flow->blocks.at[b];
        for (uint32_t i = fb->first; fb->reached && i < fb->end; i++) {
            const CInstr *in = &code->instrs.at[i];
            bool generator = in->op == C_YIELD || (in->op == C_REFUSE && in->arg == REFUSE_GENERATOR);
            if (generator && (yields || c->in_place)) continue;
            yields |= generator;
            if (generator) py_refuse(c, in->span, REFUSE_GENERATOR);
            else if (in->op == C_REFUSE) py_refuse(c, in->span, (Refusal)in->arg);
        }
    }
    if (!yields && !c->in_place && c->code->flags & GENERATOR)
        py_refuse(c, (PySpan){.line = c->code->first_line}, REFUSE_GENERATOR);
    pycode_refuse_try(c, code);
}

bool pycode_flow(PyCtx *c, const CCode *code, Flow *out) {
    *out = (Flow){.block_of = NULL};
    if (!refuse_kind(c)) return false;
    if (code->instrs.n == 0) {
        py_bad(c, (PySpan){.line = c->code->first_line}, "there is no code");
        return false;
    }
    cut(c, code, out);
    uint32_t *todo = ARENA_ARRAY(c->arena, uint32_t, out->blocks.n), ntodo = 0;
    visit(out, 0, 0, todo, &ntodo);
    while (ntodo > 0) {
        uint32_t b = todo[--ntodo];
        const CInstr *last = &code->instrs.at[out->blocks.at[b].end - 1];
        uint32_t tries = guard(code, &out->blocks.at[b]);
        if (has_target((COp)last->op)) visit(out, out->block_of[last->target], tries, todo, &ntodo);
        if (!falls_through((COp)last->op)) continue;
        if (b + 1 >= out->blocks.n) {
            py_bad(c, last->span, "the code runs past its end");
            return false;
        }
        visit(out, b + 1, tries, todo, &ntodo);
    }
    refuse_instrs(c, code, out);
    return !c->failed;
}
