/* pystack.c - the stack that translate runs in the mind, and the operations, blocks and variables it makes.
 *
 * A value stays in its block: spill() writes what is on the stack at the end of a block to variables, and
 * value_of() reads them where they are first used. */
#include "translate.h"

#include <string.h>

/* ---- reports --------------------------------------------------------------------------------- */

static DiagFrame frame_at(const PyCtx *c, PySpan span) {
    if (span.line == 0) span.line = c->code->first_line;
    return (DiagFrame){.file = c->code->file, .function = c->code->name, .span = span};
}

void py_bad(PyCtx *c, PySpan span, const char *why) {
    DiagFrame at = frame_at(c, span);
    if (!c->failed) {
        Diag *d = diag_report(c->diags, DIAG_BYTECODE, &at, c->code->name, why);
        diag_help(c->diags, d, "a tool that rewrites bytecode may have changed it; decorate the original function");
    }
    c->failed = true;
}

void py_refuse(PyCtx *c, PySpan span, Refusal what) {
    static const struct {
        const char *what, *why, *help;
    } texts[] = {
#define X(name, what, why, help) {what, why, help},
        REFUSALS(X)
#undef X
    };
    DiagFrame at = frame_at(c, span);
    Diag *d = diag_report(c->diags, DIAG_CONSTRUCT, &at, texts[what].what, texts[what].why);
    diag_help(c->diags, d, "%s", texts[what].help);
    c->failed = true;
}

void tr_bad(Translator *t, const char *why) { py_bad(t->c, t->span, why); }

/* ---- blocks, operations, variables ------------------------------------------------------------ */

PyBlockId tr_new_block(Translator *t) {
    VEC_PUSH(t->c->arena, &t->f->blocks, ((PyBlock){.term = PYT_UNREACHABLE}));
    return t->f->blocks.n - 1;
}

uint32_t tr_new_var(Translator *t, const char *name, uint32_t frame, uint32_t depth) {
    VEC_PUSH(t->c->arena, &t->vars->at, ((PyVar){name, frame, depth}));
    return t->vars->at.n - 1;
}

PyInstr *tr_instr(Translator *t, PyRef r) { return &t->f->instrs.at[r]; }

PyRef tr_emit_n(Translator *t, unsigned op, uint32_t nargs, const PyRef *args) {
    PyRef r = t->f->instrs.n;
    PyInstr in = {.op = (uint16_t)op, .nargs = (uint16_t)nargs, .span = t->span, .block = t->cur};
    in.guarded = t->guarded;
    in.origin = r;
    in.args = ARENA_ARRAY(t->c->arena, PyRef, nargs ? nargs : 1);
    if (nargs > 0) memcpy(in.args, args, nargs * sizeof *args);
    VEC_PUSH(t->c->arena, &t->f->instrs, in);
    VEC_PUSH(t->c->arena, &t->f->blocks.at[t->cur].instrs, r);
    return r;
}

PyRef tr_emit0(Translator *t, unsigned op) { return tr_emit_n(t, op, 0, NULL); }
PyRef tr_emit1(Translator *t, unsigned op, PyRef a) { return tr_emit_n(t, op, 1, &a); }
PyRef tr_emit2(Translator *t, unsigned op, PyRef a, PyRef b) { return tr_emit_n(t, op, 2, (PyRef[]){a, b}); }
PyRef tr_emit3(Translator *t, unsigned op, PyRef a, PyRef b, PyRef c) {
    return tr_emit_n(t, op, 3, (PyRef[]){a, b, c});
}

PyRef tr_with_imm(Translator *t, PyRef r, uint32_t imm) {
    tr_instr(t, r)->imm = imm;
    return r;
}
PyRef tr_with_name(Translator *t, PyRef r, const char *name) {
    tr_instr(t, r)->name = name;
    return r;
}

PyRef tr_emit_const(Translator *t, HostRef obj) {
    PyRef r = tr_emit0(t, PY_CONST);
    tr_instr(t, r)->obj = obj;
    const char *repr = t->c->host->repr ? t->c->host->repr(t->c->host->self, obj) : NULL;
    return tr_with_name(t, r, repr ? arena_strdup(t->c->arena, repr) : "?");
}

PyRef tr_load_var(Translator *t, uint32_t var) { return tr_with_imm(t, tr_emit0(t, PYX_LOADVAR), var); }
void tr_store_var(Translator *t, uint32_t var, PyRef v) { tr_with_imm(t, tr_emit1(t, PYX_STOREVAR, v), var); }

void tr_terminate(Translator *t, PyTerm term, PyRef arg, uint32_t nsucc, PyBlockId a, PyBlockId b) {
    PyBlock *blk = &t->f->blocks.at[t->cur];
    blk->term = term;
    blk->arg = arg;
    blk->term_span = t->span;
    blk->nsucc = (uint8_t)nsucc;
    blk->succ[0] = a;
    blk->succ[1] = b;
}

/* The instruction of a value made in this block, if it is `op`. */
PyInstr *tr_made_here(Translator *t, PyRef r, PyOp op) {
    PyInstr *in = tr_instr(t, r);
    return in->op == op && in->block == t->cur ? in : NULL;
}

/* ---- the stack --------------------------------------------------------------------------------- */

uint32_t tr_stack_var(Translator *t, Frame *fr, uint32_t depth) {
    while (fr->stackvar.n <= depth) {
        uint32_t var = tr_new_var(t, NULL, fr->nesting, fr->stackvar.n);
        VEC_PUSH(t->c->arena, &fr->stackvar, var);
    }
    return fr->stackvar.at[depth];
}

void tr_push_entry(Translator *t, Entry e) {
    if (t->stack.n >= MAX_DEPTH) tr_bad(t, "the stack is too deep");
    else VEC_PUSH(t->c->arena, &t->stack, e);
}

void tr_push(Translator *t, PyRef v) {
    tr_push_entry(t, (Entry){E_VALUE, v, tr_instr(t, v)->op == PY_FUNCTION ? v : 0});
}

/* The n-th entry from the top; NULL and a report when there are fewer. */
Entry *tr_peek(Translator *t, uint32_t n) {
    if (n >= 1 && n <= t->stack.n) return &t->stack.at[t->stack.n - n];
    tr_bad(t, "the stack is empty");
    return NULL;
}

/* A value that came with the block is read where it is first used. */
PyRef tr_value_of(Translator *t, Frame *fr, Entry *e) {
    if (!e || e->kind == E_NULL) {
        if (e) tr_bad(t, "a value is missing on the stack");
        return 0;
    }
    if (e->kind == E_SLOT) *e = (Entry){E_VALUE, tr_load_var(t, tr_stack_var(t, fr, e->at)), e->made};
    return e->at;
}

PyRef tr_pop(Translator *t, Frame *fr) {
    PyRef v = tr_value_of(t, fr, tr_peek(t, 1));
    if (t->stack.n > 0) t->stack.n--;
    return v;
}

PyRef tr_top(Translator *t, Frame *fr, uint32_t n) { return tr_value_of(t, fr, tr_peek(t, n)); }

/* Pops n values into an array, the deepest first. NULL when there aren't so many. */
PyRef *tr_pop_n(Translator *t, Frame *fr, uint32_t n) {
    if (n > t->stack.n) {
        tr_bad(t, "the stack is empty");
        return NULL;
    }
    PyRef *v = ARENA_ARRAY(t->c->arena, PyRef, n + 1);
    for (uint32_t i = 0; i < n; i++) v[i] = tr_top(t, fr, n - i);
    t->stack.n -= n;
    return v;
}

/* What is on the stack where a block ends goes to the variables of the places. */
void tr_spill(Translator *t, Frame *fr) {
    uint32_t n = t->stack.n;
    for (uint32_t i = 0; i < n; i++)
        if (t->stack.at[i].kind == E_SLOT && t->stack.at[i].at != i) tr_value_of(t, fr, &t->stack.at[i]);
    for (uint32_t i = 0; i < n; i++) {
        if (t->stack.at[i].kind != E_VALUE) continue;
        const PyInstr *in = tr_instr(t, t->stack.at[i].at);
        uint32_t var = tr_stack_var(t, fr, i);
        if (in->op != PYX_LOADVAR || in->imm != var || in->block != t->cur) /* else it is there already */
            tr_store_var(t, var, t->stack.at[i].at);
    }
}

/* The block of a jump's target, which gets the first `depth` places of the stack. */
PyBlockId tr_enter(Translator *t, Frame *fr, uint32_t instr_index, uint32_t depth) {
    uint32_t b = fr->flow.block_of[instr_index];
    StackShape *s = &fr->shapes[b];
    if (!s->known) {
        *s = (StackShape){true, depth, ARENA_ARRAY(t->c->arena, bool, depth + 1),
                          ARENA_ARRAY(t->c->arena, PyRef, depth + 1)};
        for (uint32_t i = 0; i < depth; i++) s->empty[i] = t->stack.at[i].kind == E_NULL;
        for (uint32_t i = 0; i < depth; i++) s->made[i] = t->stack.at[i].made;
        fr->block_of[b] = tr_new_block(t);
        VEC_PUSH(t->c->arena, &fr->todo, b);
    }
    bool same = s->depth == depth;
    for (uint32_t i = 0; same && i < depth; i++) same = s->empty[i] == (t->stack.at[i].kind == E_NULL);
    if (!same) tr_bad(t, "two ways to one place have different stacks");
    return fr->block_of[b];
}

bool tr_host_info(Translator *t, HostRef obj, HostInfo *info) {
    memset(info, 0, sizeof *info);
    return obj && t->c->host->info(t->c->host->self, obj, info);
}
