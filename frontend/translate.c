/* translate.c - canonical stack instructions to operations on values, by running the stack in the mind.
 *
 * Variables, and what is on the stack between blocks, are read with LOADVAR and written with STOREVAR; ssa.c
 * turns them into values. A comprehension that Python 3.10 and 3.11 make into a function and call at once is
 * translated in place, as 3.12 compiles it: a Frame for each code object that is being translated. */
#include "pycode.h"

#include <string.h>

typedef enum EntryKind { E_VALUE, E_SLOT, E_NULL } EntryKind;

/* One place of the stack: a value of this block, what the block found in place `at` on entry, or an empty half
 * of a callable. */
typedef struct Entry { EntryKind kind; uint32_t at; } Entry;

/* The stack on entry of a block: its depth, and which places are empty halves. */
typedef struct StackShape { bool known; uint32_t depth; bool *empty; } StackShape;

/* Where a slot of the code object lives: a variable, or a free variable of the outermost function. */
typedef struct Place { uint32_t var; const char *free; } Place;

enum { MAX_DEPTH = 4096, MAX_NESTING = 16 };

typedef struct Frame {
    PyCtx *c;
    CCode code;
    Flow flow;
    Place *places;          /* by slot */
    VEC(uint32_t) stackvar; /* by depth */
    PyBlockId *block_of;    /* by flow block */
    StackShape *shapes;          /* by flow block */
    VEC(uint32_t) todo;
    PyBlockId return_to;    /* a comprehension: where it goes on, and the variable that takes its value */
    uint32_t return_var, nesting;
} Frame;

typedef struct Translator {
    PyCtx *c;
    PyFunc *f;
    PyVars *vars;
    PyBlockId cur;
    VEC(Entry) stack;
    PySpan span;
    uint32_t nframes;
} Translator;

/* ---- reports --------------------------------------------------------------------------------- */

static DiagFrame frame_at(const PyCtx *c, PySpan span) {
    if (span.line == 0)
        span.line = c->code->first_line;
    return (DiagFrame){ .file = c->code->file, .function = c->code->name, .span = span };
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
    static const struct { const char *what, *why, *help; } texts[] = {
#define X(name, what, why, help) { what, why, help },
        REFUSALS(X)
#undef X
    };
    DiagFrame at = frame_at(c, span);
    Diag *d = diag_report(c->diags, DIAG_CONSTRUCT, &at, texts[what].what, texts[what].why);
    diag_help(c->diags, d, "%s", texts[what].help);
    c->failed = true;
}

static void bad(Translator *t, const char *why) { py_bad(t->c, t->span, why); }

/* ---- blocks, operations, variables ------------------------------------------------------------ */

static PyBlockId new_block(Translator *t) {
    VEC_PUSH(t->c->arena, &t->f->blocks, ((PyBlock){ .term = PYT_UNREACHABLE }));
    return t->f->blocks.n - 1;
}

static uint32_t new_var(Translator *t, const char *name, uint32_t frame, uint32_t depth) {
    VEC_PUSH(t->c->arena, &t->vars->at, ((PyVar){ name, frame, depth }));
    return t->vars->at.n - 1;
}

static PyInstr *instr(Translator *t, PyRef r) { return &t->f->instrs.at[r]; }

static PyRef emit_n(Translator *t, unsigned op, uint32_t nargs, const PyRef *args) {
    PyRef r = t->f->instrs.n;
    PyInstr in = { .op = (uint16_t)op, .nargs = (uint16_t)nargs, .span = t->span, .block = t->cur };
    in.args = ARENA_ARRAY(t->c->arena, PyRef, nargs ? nargs : 1);
    if (nargs > 0)
        memcpy(in.args, args, nargs * sizeof *args);
    VEC_PUSH(t->c->arena, &t->f->instrs, in);
    VEC_PUSH(t->c->arena, &t->f->blocks.at[t->cur].instrs, r);
    return r;
}

static PyRef emit0(Translator *t, unsigned op) { return emit_n(t, op, 0, NULL); }
static PyRef emit1(Translator *t, unsigned op, PyRef a) { return emit_n(t, op, 1, &a); }
static PyRef emit2(Translator *t, unsigned op, PyRef a, PyRef b) { return emit_n(t, op, 2, (PyRef[]){ a, b }); }
static PyRef emit3(Translator *t, unsigned op, PyRef a, PyRef b, PyRef c) { return emit_n(t, op, 3, (PyRef[]){ a, b, c }); }

static PyRef with_imm(Translator *t, PyRef r, uint32_t imm) { instr(t, r)->imm = imm; return r; }
static PyRef with_name(Translator *t, PyRef r, const char *name) { instr(t, r)->name = name; return r; }

static PyRef emit_const(Translator *t, HostRef obj) {
    PyRef r = emit0(t, PY_CONST);
    instr(t, r)->obj = obj;
    const char *repr = t->c->host->repr ? t->c->host->repr(t->c->host->self, obj) : NULL;
    return with_name(t, r, repr ? arena_strdup(t->c->arena, repr) : "?");
}

static PyRef load_var(Translator *t, uint32_t var) { return with_imm(t, emit0(t, PYX_LOADVAR), var); }
static void store_var(Translator *t, uint32_t var, PyRef v) { with_imm(t, emit1(t, PYX_STOREVAR, v), var); }

static void terminate(Translator *t, PyTerm term, PyRef arg, uint32_t nsucc, PyBlockId a, PyBlockId b) {
    PyBlock *blk = &t->f->blocks.at[t->cur];
    blk->term = term;
    blk->arg = arg;
    blk->term_span = t->span;
    blk->nsucc = (uint8_t)nsucc;
    blk->succ[0] = a;
    blk->succ[1] = b;
}

/* The instruction of a value made in this block, if it is `op`. */
static PyInstr *made_here(Translator *t, PyRef r, PyOp op) {
    PyInstr *in = instr(t, r);
    return in->op == op && in->block == t->cur ? in : NULL;
}

/* ---- the stack --------------------------------------------------------------------------------- */

static uint32_t stack_var(Translator *t, Frame *fr, uint32_t depth) {
    while (fr->stackvar.n <= depth) {
        uint32_t var = new_var(t, NULL, fr->nesting, fr->stackvar.n);
        VEC_PUSH(t->c->arena, &fr->stackvar, var);
    }
    return fr->stackvar.at[depth];
}

static void push_entry(Translator *t, Entry e) {
    if (t->stack.n >= MAX_DEPTH)
        bad(t, "the stack is too deep");
    else
        VEC_PUSH(t->c->arena, &t->stack, e);
}

static void push(Translator *t, PyRef v) { push_entry(t, (Entry){ E_VALUE, v }); }

/* The n-th entry from the top; NULL and a report when there are fewer. */
static Entry *peek(Translator *t, uint32_t n) {
    if (n >= 1 && n <= t->stack.n)
        return &t->stack.at[t->stack.n - n];
    bad(t, "the stack is empty");
    return NULL;
}

/* A value that came with the block is read where it is first used. */
static PyRef value_of(Translator *t, Frame *fr, Entry *e) {
    if (!e || e->kind == E_NULL) {
        if (e)
            bad(t, "a value is missing on the stack");
        return 0;
    }
    if (e->kind == E_SLOT)
        *e = (Entry){ E_VALUE, load_var(t, stack_var(t, fr, e->at)) };
    return e->at;
}

static PyRef pop(Translator *t, Frame *fr) {
    PyRef v = value_of(t, fr, peek(t, 1));
    if (t->stack.n > 0)
        t->stack.n--;
    return v;
}

static PyRef top(Translator *t, Frame *fr, uint32_t n) { return value_of(t, fr, peek(t, n)); }

/* Pops n values into an array, the deepest first. NULL when there aren't so many. */
static PyRef *pop_n(Translator *t, Frame *fr, uint32_t n) {
    if (n > t->stack.n) {
        bad(t, "the stack is empty");
        return NULL;
    }
    PyRef *v = ARENA_ARRAY(t->c->arena, PyRef, n + 1);
    for (uint32_t i = 0; i < n; i++)
        v[i] = top(t, fr, n - i);
    t->stack.n -= n;
    return v;
}

/* What is on the stack where a block ends goes to the variables of the places. */
static void spill(Translator *t, Frame *fr) {
    uint32_t n = t->stack.n;
    for (uint32_t i = 0; i < n; i++)
        if (t->stack.at[i].kind == E_SLOT && t->stack.at[i].at != i)
            value_of(t, fr, &t->stack.at[i]);
    for (uint32_t i = 0; i < n; i++) {
        if (t->stack.at[i].kind != E_VALUE)
            continue;
        const PyInstr *in = instr(t, t->stack.at[i].at);
        uint32_t var = stack_var(t, fr, i);
        if (in->op != PYX_LOADVAR || in->imm != var || in->block != t->cur)   /* else it is there already */
            store_var(t, var, t->stack.at[i].at);
    }
}

/* The block of a jump's target, which gets the first `depth` places of the stack. */
static PyBlockId enter(Translator *t, Frame *fr, uint32_t instr_index, uint32_t depth) {
    uint32_t b = fr->flow.block_of[instr_index];
    StackShape *s = &fr->shapes[b];
    if (!s->known) {
        *s = (StackShape){ true, depth, ARENA_ARRAY(t->c->arena, bool, depth + 1) };
        for (uint32_t i = 0; i < depth; i++)
            s->empty[i] = t->stack.at[i].kind == E_NULL;
        fr->block_of[b] = new_block(t);
        VEC_PUSH(t->c->arena, &fr->todo, b);
    }
    bool same = s->depth == depth;
    for (uint32_t i = 0; same && i < depth; i++)
        same = s->empty[i] == (t->stack.at[i].kind == E_NULL);
    if (!same)
        bad(t, "two ways to one place have different stacks");
    return fr->block_of[b];
}

/* ---- operations with more to them ---------------------------------------------------------------- */

static bool host_info(Translator *t, HostRef obj, HostInfo *info) {
    memset(info, 0, sizeof *info);
    return obj && t->c->host->info(t->c->host->self, obj, info);
}

static HostRef const_obj(Translator *t, int32_t index) {
    return index < 0 ? t->c->host->none : t->c->code->consts[index];
}

/* 3.14 folds constant slices: taken apart here, so that one form is left. */
static PyRef emit_slice_const(Translator *t, HostRef obj) {
    static const char *const parts[3] = { "start", "stop", "step" };
    PyRef v[3];
    for (int i = 0; i < 3; i++) {
        HostRef part = t->c->host->attr(t->c->host->self, obj, parts[i]);
        v[i] = emit_const(t, part ? part : t->c->host->none);
    }
    return emit3(t, PY_SLICE, v[0], v[1], v[2]);
}

static void do_const(Translator *t, HostRef obj) {
    HostInfo info;
    push(t, host_info(t, obj, &info) && info.kind == HOST_SLICE ? emit_slice_const(t, obj) : emit_const(t, obj));
}

static bool same_value(Translator *t, PyRef a, PyRef b) {
    const PyInstr *x = instr(t, a), *y = instr(t, b);
    return a == b || (x->op == PY_CONST && y->op == PY_CONST && t->c->host->same(t->c->host->self, x->obj, y->obj));
}

/* Versions differ in whether `x[a:b] op= v` makes its slice once or twice; here it is made once. */
static void do_slice(Translator *t, Frame *fr, uint32_t n) {
    if (n != 2 && n != 3) {
        bad(t, "a slice has two or three parts");
        return;
    }
    PyRef step = n == 3 ? pop(t, fr) : 0, stop = pop(t, fr), start = pop(t, fr);
    if (t->c->failed)
        return;
    if (n == 2)
        step = emit_const(t, t->c->host->none);
    for (uint32_t i = t->f->blocks.at[t->cur].instrs.n; i-- > 0;) {
        PyRef r = t->f->blocks.at[t->cur].instrs.at[i];
        const PyInstr *in = instr(t, r);
        if (in->op == PY_SLICE && same_value(t, in->args[0], start) && same_value(t, in->args[1], stop)
            && same_value(t, in->args[2], step)) {
            push(t, r);
            return;
        }
    }
    push(t, emit3(t, PY_SLICE, start, stop, step));
}

static void do_key_map(Translator *t, Frame *fr, uint32_t n) {
    PyRef keys = pop(t, fr), *values = pop_n(t, fr, n);
    HostInfo info;
    if (t->c->failed)
        return;
    HostRef tuple = instr(t, keys)->op == PY_CONST ? instr(t, keys)->obj : NULL;
    if (!host_info(t, tuple, &info) || info.kind != HOST_TUPLE || info.n != n) {
        bad(t, "a dict has no tuple of keys");
        return;
    }
    PyRef *kv = ARENA_ARRAY(t->c->arena, PyRef, 2 * (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++) {
        kv[2 * i] = emit_const(t, t->c->host->item(t->c->host->self, tuple, i));
        kv[2 * i + 1] = values[i];
    }
    push(t, emit_n(t, PY_MAP, 2 * n, kv));
}

static void do_extend(Translator *t, Frame *fr, uint32_t n, PyOp op) {
    PyRef v = pop(t, fr), old = top(t, fr, n);
    if (t->c->failed)
        return;
    *peek(t, n) = (Entry){ E_VALUE, emit2(t, op, old, v) };
}

static void do_add_pair(Translator *t, Frame *fr, uint32_t n) {
    PyRef value = pop(t, fr), key = pop(t, fr), old = top(t, fr, n);
    if (t->c->failed)
        return;
    *peek(t, n) = (Entry){ E_VALUE, emit3(t, PY_MAP_ADD, old, key, value) };
}

/* Some releases put empty pieces into a string. One formatted piece is a string already. */
static void do_string(Translator *t, Frame *fr, uint32_t n) {
    PyRef *piece = pop_n(t, fr, n);
    uint32_t kept = 0;
    HostInfo info;
    for (uint32_t i = 0; !t->c->failed && i < n; i++) {
        const PyInstr *in = instr(t, piece[i]);
        if (in->op != PY_CONST || !host_info(t, in->obj, &info) || info.kind != HOST_STR || !info.text || info.text[0])
            piece[kept++] = piece[i];
    }
    if (!t->c->failed)
        push(t, kept == 1 && instr(t, piece[0])->op == PY_FORMAT ? piece[0] : emit_n(t, PY_STRING, kept, piece));
}

/* CONVERT leaves a FORMAT with a conversion and imm2 = 1, which the real FORMAT takes up. */
static void do_format(Translator *t, Frame *fr, bool with_spec, uint32_t conversion) {
    PyRef spec = with_spec ? pop(t, fr) : 0, v = pop(t, fr);
    if (t->c->failed)
        return;
    PyInstr *converted = made_here(t, v, PY_FORMAT);
    if (converted && converted->imm2 == 1) {
        converted->imm2 = 0;    /* unused from now on, and dropped */
        conversion = converted->imm;
        v = converted->args[0];
    }
    push(t, with_imm(t, emit_n(t, PY_FORMAT, with_spec ? 2 : 1, (PyRef[]){ v, spec }), conversion));
}

static void do_convert(Translator *t, Frame *fr, uint32_t conversion) {
    PyRef v = pop(t, fr);
    if (t->c->failed)
        return;
    PyRef r = with_imm(t, emit1(t, PY_FORMAT, v), conversion);
    instr(t, r)->imm2 = 1;
    push(t, r);
}

/* A tuple that is taken apart at once never exists. */
static void do_unpack(Translator *t, Frame *fr, uint32_t n) {
    PyRef v = pop(t, fr);
    if (t->c->failed)
        return;
    const PyInstr *tuple = made_here(t, v, PY_TUPLE);
    PyRef *item = ARENA_ARRAY(t->c->arena, PyRef, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        if (tuple && tuple->nargs == n) {
            item[i] = tuple->args[i];
            continue;
        }
        item[i] = with_imm(t, emit1(t, PY_UNPACK_ITEM, v), i);
        instr(t, item[i])->imm2 = n;
        tuple = NULL;
    }
    while (n-- > 0)
        push(t, item[n]);
}

static void do_unpack_ex(Translator *t, Frame *fr, uint32_t before, uint32_t after) {
    PyRef v = pop(t, fr);
    uint32_t n = before + 1 + after;
    if (t->c->failed || n > MAX_DEPTH) {
        bad(t, "too many variables are unpacked");
        return;
    }
    PyRef *item = ARENA_ARRAY(t->c->arena, PyRef, n);
    for (uint32_t i = 0; i < n; i++) {
        item[i] = with_imm(t, emit1(t, PY_UNPACK_EX, v), i);
        instr(t, item[i])->imm2 = before << 16 | (after & 0xffff);
    }
    while (n-- > 0)
        push(t, item[n]);
}

/* ---- functions and calls -------------------------------------------------------------------------- */

enum { MF_DEFAULTS = 1, MF_KWDEFAULTS = 2, MF_ANNOTATIONS = 4, MF_CLOSURE = 8, MF_ANNOTATE = 16 };

/* Annotations of an inner function are evaluated for nothing: what they are made of goes, back to the first
 * thing that has an effect. */
static void discard(Translator *t, PyRef r) {
    PyInstr *in = instr(t, r);
    if (in->block != t->cur || !(py_is_pure(in->op) || in->op == PY_GLOBAL || in->op == PY_ATTR || in->op == PY_SUBSCR))
        return;
    in->op = PY_UNDEF;      /* pure and unused: dropped later */
    for (uint32_t i = 0; i < in->nargs; i++)
        if (in->args[i])
            discard(t, in->args[i]);
    in->nargs = 0;
}

static void do_function(Translator *t, Frame *fr, uint32_t flags, bool named) {
    if (named)
        pop(t, fr);
    PyRef code = pop(t, fr), part[3] = { 0, 0, 0 };
    if (flags & MF_CLOSURE)
        part[2] = pop(t, fr);
    PyRef annotations = flags & MF_ANNOTATIONS ? pop(t, fr) : 0;
    if (flags & MF_KWDEFAULTS)
        part[1] = pop(t, fr);
    if (flags & MF_DEFAULTS)
        part[0] = pop(t, fr);
    if (t->c->failed)
        return;
    HostCode inner;
    HostRef obj = instr(t, code)->op == PY_CONST ? instr(t, code)->obj : NULL;
    memset(&inner, 0, sizeof inner);
    if (!obj || !t->c->host->code(t->c->host->self, obj, &inner)) {
        bad(t, "a function is made of something that isn't code");
        return;
    }
    if (annotations)
        discard(t, annotations);
    PyRef r = emit_n(t, PY_FUNCTION, 3, part);
    instr(t, r)->obj = obj;
    push(t, with_name(t, r, inner.name));
}

static void do_func_attr(Translator *t, Frame *fr, uint32_t flag) {
    PyRef fn = pop(t, fr), v = pop(t, fr);
    if (t->c->failed)
        return;
    PyInstr *in = made_here(t, fn, PY_FUNCTION);
    if (!in) {
        bad(t, "an attribute is set in something that isn't a new function");
        return;
    }
    switch (flag) {
    case MF_DEFAULTS:   in->args[0] = v; break;
    case MF_KWDEFAULTS: in->args[1] = v; break;
    case MF_CLOSURE:    in->args[2] = v; break;
    default:            discard(t, v);
    }
    push(t, fn);
}

/* Pops what stands for the callable and gives it, and the receiver in *self when both halves are there. */
static PyRef pop_callable(Translator *t, Frame *fr, bool halves, PyRef *self) {
    *self = 0;
    if (!halves)
        return pop(t, fr);
    Entry *b = peek(t, 1), *a = peek(t, 2);
    if (t->c->failed)
        return 0;
    bool a_empty = a->kind == E_NULL, b_empty = b->kind == E_NULL;
    if (a_empty && b_empty) {
        bad(t, "a callable is missing");
        return 0;
    }
    PyRef callee = a_empty ? value_of(t, fr, b) : value_of(t, fr, a);
    if (!a_empty && !b_empty)
        *self = value_of(t, fr, b);
    t->stack.n -= 2;
    return callee;
}

static bool read_names(Translator *t, HostRef tuple, uint32_t nargs, const char ***names, uint32_t *n) {
    HostInfo info, item;
    if (!host_info(t, tuple, &info) || info.kind != HOST_TUPLE || info.n > nargs) {
        bad(t, "a call has no tuple of keyword names");
        return false;
    }
    *n = (uint32_t)info.n;
    *names = ARENA_ARRAY(t->c->arena, const char *, info.n + 1);
    for (uint32_t i = 0; i < *n; i++) {
        if (!host_info(t, t->c->host->item(t->c->host->self, tuple, i), &item) || item.kind != HOST_STR) {
            bad(t, "a keyword isn't a name");
            return false;
        }
        (*names)[i] = arena_strdup(t->c->arena, item.text);
    }
    return true;
}

static bool inline_comprehension(Translator *t, Frame *fr, PyRef fn, PyRef arg);

static void do_call(Translator *t, Frame *fr, const CInstr *in) {
    uint32_t nargs = (uint32_t)in->arg, nnames = 0;
    const char **names = NULL;
    HostRef tuple = in->kw ? t->c->code->consts[in->kw - 1] : NULL;
    if (in->op == C_CALL_KW) {
        PyRef k = pop(t, fr);
        tuple = !t->c->failed && instr(t, k)->op == PY_CONST ? instr(t, k)->obj : NULL;
    }
    PyRef self, *args = pop_n(t, fr, nargs);
    PyRef callee = t->c->failed ? 0 : pop_callable(t, fr, in->arg2 == 0, &self);
    if (t->c->failed || ((tuple || in->op == C_CALL_KW) && !read_names(t, tuple, nargs, &names, &nnames)))
        return;
    uint32_t extra = self ? 1 : 0, n = 1 + extra + nargs;
    if (n > UINT16_MAX) {
        bad(t, "a call has too many arguments");
        return;
    }
    if (nargs + extra == 1 && inline_comprehension(t, fr, callee, self ? self : args[0]))
        return;
    PyRef *all = ARENA_ARRAY(t->c->arena, PyRef, n);
    all[0] = callee;
    all[extra] = extra ? self : callee;
    memcpy(all + 1 + extra, args, nargs * sizeof *args);
    PyRef r = emit_n(t, PY_CALL, n, all);
    instr(t, r)->kwnames.at = names;
    instr(t, r)->kwnames.n = nnames;
    push(t, r);
}

static void do_call_ex(Translator *t, Frame *fr, bool with_map, bool halves) {
    PyRef map = 0, self;
    if (with_map) {
        const Entry *e = peek(t, 1);
        if (e && e->kind == E_NULL)
            t->stack.n--;
        else
            map = pop(t, fr);
    }
    PyRef args = pop(t, fr), callee = t->c->failed ? 0 : pop_callable(t, fr, halves, &self);
    if (t->c->failed)
        return;
    if (self) {
        bad(t, "a call of unpacked arguments has a receiver");
        return;
    }
    push(t, emit3(t, PY_CALL_EX, callee, args, map));
}

static void do_import(Translator *t, Frame *fr, const char *name) {
    PyRef names = pop(t, fr), level = pop(t, fr);
    HostInfo info;
    if (t->c->failed)
        return;
    if (instr(t, level)->op != PY_CONST || !host_info(t, instr(t, level)->obj, &info) || info.kind != HOST_INT
        || info.bits != 0) {
        py_refuse(t->c, t->span, REFUSE_RELATIVE);
        return;
    }
    bool plain = instr(t, names)->op == PY_CONST && t->c->host->same(t->c->host->self, instr(t, names)->obj, t->c->host->none);
    PyRef r = with_name(t, emit0(t, PY_IMPORT), name);
    const char *dot = strchr(name, '.');
    if (plain && dot)       /* `import a.b` imports both and binds a */
        r = with_name(t, emit0(t, PY_IMPORT), arena_strndup(t->c->arena, name, (size_t)(dot - name)));
    push(t, r);
}

static void do_builtin(Translator *t, int32_t number) {
    static const char *const names[] = { "AssertionError", "NotImplementedError", "tuple", "all", "any" };
    push(t, with_name(t, emit0(t, PY_GLOBAL), names[number]));
}

/* ---- variables ------------------------------------------------------------------------------------ */

static void do_load(Translator *t, Frame *fr, int32_t slot) {
    const Place *p = &fr->places[slot];
    push(t, p->free ? with_name(t, emit0(t, PY_CLOSURE), p->free) : load_var(t, p->var));
}

static void do_cellref(Translator *t, Frame *fr, int32_t slot) {
    const Place *p = &fr->places[slot];
    do_load(t, fr, slot);
    if (p->free || t->c->failed)
        return;
    PyRef r = emit1(t, PY_CELL, t->stack.at[t->stack.n - 1].at);
    with_name(t, r, fr->code.slots[slot].name);
    instr(t, r)->imm2 = p->var + 1;     /* ssa.c checks that the variable keeps its value, and clears this */
    t->stack.at[t->stack.n - 1].at = r;
}

static void do_store(Translator *t, Frame *fr, int32_t slot, PyRef v) {
    if (fr->places[slot].free)
        py_refuse(t->c, t->span, REFUSE_NONLOCAL);
    else if (!t->c->failed)
        store_var(t, fr->places[slot].var, v);
}

static void do_delete(Translator *t, Frame *fr, int32_t slot) {
    do_store(t, fr, slot, with_name(t, emit0(t, PY_UNDEF), fr->code.slots[slot].name));
}

/* ---- one instruction ------------------------------------------------------------------------------ */

static void do_ends(Translator *t, Frame *fr, const CInstr *in, uint32_t next);

static void do_shuffle(Translator *t, Frame *fr, const CInstr *in) {
    Entry *e = peek(t, (uint32_t)in->arg);
    if (!e)
        return;
    Entry x = *e;
    switch (in->op) {
    case C_COPY:
        if (x.kind == E_SLOT) {
            value_of(t, fr, e);
            x = *e;
        }
        push_entry(t, x);
        break;
    case C_SWAP:
        *e = *peek(t, 1);
        *peek(t, 1) = x;
        break;
    default:        /* ROT */
        x = *peek(t, 1);
        for (uint32_t i = 1; i < (uint32_t)in->arg; i++)
            *peek(t, i) = *peek(t, i + 1);
        *e = x;
    }
}

static void do_binary(Translator *t, Frame *fr, PyOp op, uint32_t imm) {
    PyRef b = pop(t, fr), a = pop(t, fr);
    if (!t->c->failed)
        push(t, with_imm(t, emit2(t, op, a, b), imm));
}

static void do_unary(Translator *t, Frame *fr, PyOp op, uint32_t imm) {
    PyRef a = pop(t, fr);
    if (!t->c->failed)
        push(t, with_imm(t, emit1(t, op, a), imm));
}

static void do_sequence(Translator *t, Frame *fr, PyOp op, uint32_t n) {
    PyRef *v = n > UINT16_MAX ? NULL : pop_n(t, fr, n);
    if (v && !t->c->failed)
        push(t, emit_n(t, op, n, v));
    else
        bad(t, "a display has too many items");
}

static void do_attr(Translator *t, Frame *fr, const char *name) {
    PyRef v = pop(t, fr);
    if (!t->c->failed)
        push(t, with_name(t, emit1(t, PY_ATTR, v), name));
}

/* Pops in CPython's order: the container is above the value, the index on top. */
static void do_stores(Translator *t, Frame *fr, const CInstr *in) {
    PyRef b = pop(t, fr), a = pop(t, fr), v = in->op == C_STORE_SUBSCR ? pop(t, fr) : 0;
    if (t->c->failed)
        return;
    switch (in->op) {
    case C_STORE_SUBSCR: emit3(t, PY_STORE_SUBSCR, a, b, v); break;
    case C_DEL_SUBSCR:   emit2(t, PY_DEL_SUBSCR, a, b); break;
    default:             with_name(t, emit2(t, PY_STORE_ATTR, b, a), t->c->code->names[in->arg]);
    }
}

static void do_peeking(Translator *t, Frame *fr, const CInstr *in) {
    PyRef v = top(t, fr, 1);
    if (t->c->failed)
        return;
    switch (in->op) {
    case C_LEN:       push(t, emit1(t, PY_MATCH_LEN, v)); break;
    case C_MATCH_SEQ: push(t, emit1(t, PY_MATCH_SEQ, v)); break;
    default:          push(t, with_name(t, emit1(t, PY_ATTR, v), t->c->code->names[in->arg]));
    }
}

static void do_instr(Translator *t, Frame *fr, const CInstr *in, uint32_t index) {
    uint32_t n = (uint32_t)in->arg;
    switch ((COp)in->op) {
    case C_NOP: case C_EXT:  break;
    case C_POP:
        if (peek(t, 1))
            t->stack.n--;
        break;
    case C_PUSH_NULL:  push_entry(t, (Entry){ E_NULL, 0 }); break;
    case C_COPY: case C_SWAP: case C_ROT: do_shuffle(t, fr, in); break;
    case C_CONST:      do_const(t, const_obj(t, in->arg)); break;
    case C_INT:        do_const(t, t->c->host->make_int(t->c->host->self, in->arg)); break;
    case C_BUILTIN:    do_builtin(t, in->arg); break;
    case C_LOAD:       do_load(t, fr, in->arg); break;
    case C_LOAD_CLEAR: do_load(t, fr, in->arg); do_delete(t, fr, in->arg); break;
    case C_STORE:      do_store(t, fr, in->arg, pop(t, fr)); break;
    case C_DELETE:     do_delete(t, fr, in->arg); break;
    case C_CELLREF:    do_cellref(t, fr, in->arg); break;
    case C_GLOBAL:     push(t, with_name(t, emit0(t, PY_GLOBAL), t->c->code->names[n])); break;
    case C_ATTR:       do_attr(t, fr, t->c->code->names[n]); break;
    case C_UNARY:      do_unary(t, fr, PY_UNARY, n); break;
    case C_NOT:        do_unary(t, fr, PY_NOT, 0); break;
    case C_BINARY:     do_binary(t, fr, PY_BINARY, n); break;
    case C_COMPARE:    do_binary(t, fr, PY_COMPARE, n); break;
    case C_IS:         do_binary(t, fr, PY_IS, n); break;
    case C_CONTAINS:   do_binary(t, fr, PY_CONTAINS, n); break;
    case C_SUBSCR:     do_binary(t, fr, PY_SUBSCR, 0); break;
    case C_STORE_ATTR: case C_STORE_SUBSCR: case C_DEL_SUBSCR: do_stores(t, fr, in); break;
    case C_SLICE:      do_slice(t, fr, n); break;
    case C_TUPLE:      do_sequence(t, fr, PY_TUPLE, n); break;
    case C_LIST:       do_sequence(t, fr, PY_LIST, n); break;
    case C_SET:        do_sequence(t, fr, PY_SET, n); break;
    case C_MAP:        do_sequence(t, fr, PY_MAP, 2 * n); break;
    case C_KEY_MAP:    do_key_map(t, fr, n); break;
    case C_STRING:     do_string(t, fr, n); break;
    case C_EXTEND:     do_extend(t, fr, n, (PyOp)in->arg2); break;
    case C_ADD_PAIR:   do_add_pair(t, fr, n); break;
    case C_TO_TUPLE:   do_unary(t, fr, PY_TO_TUPLE, 0); break;
    case C_CONVERT:    do_convert(t, fr, n); break;
    case C_FORMAT:     do_format(t, fr, in->arg, (uint32_t)in->arg2); break;
    case C_UNPACK:
        if (n > MAX_DEPTH)
            bad(t, "too many variables are unpacked");
        else
            do_unpack(t, fr, n);
        break;
    case C_UNPACK_EX:  do_unpack_ex(t, fr, n & 0xff, n >> 8); break;
    case C_ITER:       do_unary(t, fr, PY_ITER, 0); break;
    case C_CALL: case C_CALL_KW: do_call(t, fr, in); break;
    case C_CALL_EX:    do_call_ex(t, fr, in->arg, in->arg2 == 0); break;
    case C_FUNCTION:   do_function(t, fr, n, in->arg2); break;
    case C_FUNC_ATTR:  do_func_attr(t, fr, n); break;
    case C_IMPORT:     do_import(t, fr, t->c->code->names[n]); break;
    case C_LEN: case C_MATCH_SEQ: case C_IMPORT_FROM: do_peeking(t, fr, in); break;
    default:           do_ends(t, fr, in, index + 1);
    }
}

/* ---- where blocks end ------------------------------------------------------------------------------ */

static void jump_to(Translator *t, Frame *fr, uint32_t target) {
    spill(t, fr);
    terminate(t, PYT_JUMP, 0, 1, enter(t, fr, target, t->stack.n), 0);
}

static void branch(Translator *t, Frame *fr, const CInstr *in, uint32_t next) {
    PyRef v = pop(t, fr);
    bool keeps = in->op == C_JUMP_OR_POP;
    if (t->c->failed)
        return;
    if (keeps)
        push(t, v);
    spill(t, fr);
    PyBlockId taken = enter(t, fr, in->target, t->stack.n);
    PyBlockId other = enter(t, fr, next, keeps ? t->stack.n - 1 : t->stack.n);
    terminate(t, PYT_BRANCH, v, 2, in->arg ? taken : other, in->arg ? other : taken);
}

/* The body begins with a block of its own that takes the item and steps the iterator. */
static void for_iter(Translator *t, Frame *fr, const CInstr *in, uint32_t next) {
    spill(t, fr);
    uint32_t depth = t->stack.n;
    if (!peek(t, 1))
        return;
    uint32_t iter = stack_var(t, fr, depth - 1);
    PyRef has = emit1(t, PY_ITER_HAS, load_var(t, iter));
    PyBlockId step = new_block(t), done = enter(t, fr, in->target, depth - 1);
    terminate(t, PYT_BRANCH, has, 2, step, done);
    t->cur = step;
    PyRef it = load_var(t, iter), v = emit1(t, PY_ITER_VALUE, it), it2 = emit1(t, PY_ITER_NEXT, it);
    store_var(t, iter, it2);
    t->stack.at[depth - 1] = (Entry){ E_SLOT, depth - 1 };
    push(t, v);
    jump_to(t, fr, next);
}

static void raise(Translator *t, Frame *fr, uint32_t n) {
    PyRef cause = n == 2 ? pop(t, fr) : 0, exc = n >= 1 ? pop(t, fr) : 0;
    if (n > 2)
        bad(t, "a raise has an exception and a cause at most");
    terminate(t, PYT_RAISE, exc, 0, 0, 0);
    t->f->blocks.at[t->cur].cause = cause;
}

static void return_value(Translator *t, Frame *fr) {
    PyRef v = pop(t, fr);
    if (t->c->failed)
        return;
    if (fr->nesting == 0) {
        terminate(t, PYT_RETURN, v, 0, 0, 0);
        return;
    }
    store_var(t, fr->return_var, v);
    terminate(t, PYT_JUMP, 0, 1, fr->return_to, 0);
}

static void do_ends(Translator *t, Frame *fr, const CInstr *in, uint32_t next) {
    switch ((COp)in->op) {
    case C_JUMP:     jump_to(t, fr, in->target); break;
    case C_JUMP_IF:
    case C_JUMP_OR_POP: branch(t, fr, in, next); break;
    case C_FOR_ITER: for_iter(t, fr, in, next); break;
    case C_RETURN:   return_value(t, fr); break;
    case C_RAISE:    raise(t, fr, (uint32_t)in->arg); break;
    default:         bad(t, "the code of an exception handler is reached without one");
    }
}

static void translate_block(Translator *t, Frame *fr, uint32_t b) {
    const FlowBlock *fb = &fr->flow.blocks.at[b];
    const StackShape *s = &fr->shapes[b];
    t->cur = fr->block_of[b];
    t->stack.n = 0;
    for (uint32_t i = 0; i < s->depth; i++)
        push_entry(t, s->empty[i] ? (Entry){ E_NULL, 0 } : (Entry){ E_SLOT, i });
    for (uint32_t i = fb->first; i < fb->end && !t->c->failed; i++) {
        t->span = fr->code.instrs.at[i].span;
        do_instr(t, fr, &fr->code.instrs.at[i], i);
    }
    COp last = (COp)fr->code.instrs.at[fb->end - 1].op;
    bool ended = last == C_JUMP || last == C_JUMP_IF || last == C_JUMP_OR_POP || last == C_FOR_ITER
        || last == C_RETURN || last == C_RAISE;
    if (!t->c->failed && !ended)
        jump_to(t, fr, fb->end);
}

/* Decodes the code of t->c and translates it, starting in block `entry` with an empty stack. */
static void translate_code(Translator *t, Frame *fr, PyBlockId entry) {
    uint32_t n = fr->flow.blocks.n;
    fr->block_of = ARENA_ARRAY(t->c->arena, PyBlockId, n);
    fr->shapes = ARENA_ARRAY(t->c->arena, StackShape, n);
    t->cur = entry;
    t->stack.n = 0;
    terminate(t, PYT_JUMP, 0, 1, enter(t, fr, 0, 0), 0);
    while (fr->todo.n > 0 && !t->c->failed)
        translate_block(t, fr, fr->todo.at[--fr->todo.n]);
}

/* ---- comprehensions of 3.10 and 3.11 ---------------------------------------------------------------- */

static bool is_comprehension(const char *name) {
    return !strcmp(name, "<listcomp>") || !strcmp(name, "<setcomp>") || !strcmp(name, "<dictcomp>");
}

/* The variables of the inner code: its free variables are those of the outer, through the closure's cells. */
static bool place_inner(Translator *t, Frame *inner, PyRef closure) {
    const PyInstr *cells = closure ? made_here(t, closure, PY_TUPLE) : NULL;
    uint32_t nfree = 0;
    for (uint32_t s = 0; s < inner->code.nslots; s++) {
        const PySlot *slot = &inner->code.slots[s];
        if (slot->kind != SLOT_FREE) {
            inner->places[s].var = new_var(t, slot->name, inner->nesting, s);
            continue;
        }
        const PyInstr *cell = cells && nfree < cells->nargs ? instr(t, cells->args[nfree++]) : NULL;
        if (!cell || (cell->op != PY_CELL && cell->op != PY_CLOSURE))
            return false;
        inner->places[s] = cell->op == PY_CELL ? (Place){ cell->imm2 - 1, NULL } : (Place){ 0, cell->name };
    }
    return true;
}

/* Translates the call of a comprehension's function in place, as later versions compile it. */
static bool inline_comprehension(Translator *t, Frame *fr, PyRef fn, PyRef arg) {
    const PyInstr *made = made_here(t, fn, PY_FUNCTION);
    if (!made || !is_comprehension(made->name) || fr->nesting >= MAX_NESTING)
        return false;
    HostCode code;
    PyCtx c = *t->c, *outer = t->c;
    memset(&code, 0, sizeof code);
    if (!outer->host->code(outer->host->self, made->obj, &code) || code.argcount != 1)
        return false;
    Frame *inner = ARENA_NEW(c.arena, Frame);
    inner->c = &c;
    inner->nesting = fr->nesting + 1;
    c.code = &code;
    if (!pycode_decode(&c, &inner->code) || !pycode_flow(&c, &inner->code, &inner->flow)) {
        outer->failed = true;
        return true;
    }
    inner->places = ARENA_ARRAY(c.arena, Place, inner->code.nslots + 1);
    if (!place_inner(t, inner, made->args[2])) {
        bad(t, "a comprehension's closure isn't one");
        return true;
    }
    discard(t, fn);
    store_var(t, inner->places[0].var, arg);
    spill(t, fr);
    VEC(Entry) saved = { t->stack.at, t->stack.n, t->stack.cap };
    PySpan span = t->span;
    t->stack.at = NULL;
    t->stack.n = t->stack.cap = 0;
    inner->return_to = new_block(t);
    inner->return_var = stack_var(t, fr, saved.n);
    t->c = &c;
    translate_code(t, inner, t->cur);
    t->c = outer;
    outer->failed |= c.failed;
    t->span = span;
    t->cur = inner->return_to;
    t->stack.at = saved.at;
    t->stack.n = saved.n;
    t->stack.cap = saved.cap;
    for (uint32_t i = 0; i < t->stack.n; i++)
        if (t->stack.at[i].kind != E_NULL)
            t->stack.at[i] = (Entry){ E_SLOT, i };
    push_entry(t, (Entry){ E_SLOT, t->stack.n });
    return true;
}

/* ---- the whole function ------------------------------------------------------------------------------ */

static void add_params(Translator *t, const HostCode *code, uint32_t nslots) {
    enum { VARARGS = 4, VARKEYWORDS = 8 };
    uint32_t n = code->argcount + code->kwonlyargcount, total = n;
    total += (code->flags & VARARGS ? 1 : 0) + (code->flags & VARKEYWORDS ? 1 : 0);
    if (total > code->nvarnames || total > nslots || code->argcount > total) {
        bad(t, "there are fewer variables than parameters");
        return;
    }
    for (uint32_t i = 0; i < total; i++) {
        PyParam p = { .name = code->varnames[i], .kwonly = i >= code->argcount && i < n };
        p.vararg = i == n && (code->flags & VARARGS);
        p.varkw = i >= n && !p.vararg;
        VEC_PUSH(t->c->arena, &t->f->params, p);
        t->span = (PySpan){ .line = code->first_line };
        PyRef r = with_name(t, with_imm(t, emit0(t, PY_PARAM), i), p.name);
        store_var(t, i, r);     /* variable i is slot i */
    }
    t->f->nposonly = code->posonlyargcount;
}

static PyFunc *translate(PyCtx *c, PyVars *vars) {
    const HostCode *code = c->code;
    PyFunc *f = ARENA_NEW(c->arena, PyFunc);
    Translator t = { .c = c, .f = f, .vars = vars };
    Frame fr = { .c = c };
    if (!pycode_decode(c, &fr.code) || !pycode_flow(c, &fr.code, &fr.flow))
        return NULL;
    f->arena = c->arena;
    f->file = code->file;
    f->name = code->name;
    f->qualname = code->qualname ? code->qualname : code->name;
    f->first_line = code->first_line;
    f->nvarnames = fr.code.nslots;
    f->varnames = ARENA_ARRAY(c->arena, const char *, fr.code.nslots + 1);
    VEC_PUSH(c->arena, &f->instrs, ((PyInstr){ .op = PY_CONST }));
    fr.places = ARENA_ARRAY(c->arena, Place, fr.code.nslots + 1);
    for (uint32_t s = 0; s < fr.code.nslots; s++) {
        const PySlot *slot = &fr.code.slots[s];
        f->varnames[s] = slot->name;
        fr.places[s] = (Place){ new_var(&t, slot->name, 0, s), slot->kind == SLOT_FREE ? slot->name : NULL };
    }
    t.cur = new_block(&t);
    add_params(&t, code, fr.code.nslots);
    if (!c->failed)
        translate_code(&t, &fr, 0);
    return c->failed ? NULL : f;
}

PyFunc *pyfunc_from_host(Arena *arena, const Host *host, HostRef function_or_code, struct DiagList *diags) {
    HostCode code;
    PyVars vars = { .at = { NULL, 0, 0 } };
    memset(&code, 0, sizeof code);
    if (!host->code(host->self, function_or_code, &code)) {
        DiagFrame at = { .file = NULL };
        diag_report(diags, DIAG_NO_CODE, &at, host->repr ? host->repr(host->self, function_or_code) : "this object");
        return NULL;
    }
    PyCtx c = { .arena = arena, .host = host, .diags = diags, .code = &code };
    PyFunc *tac = translate(&c, &vars);
    if (!tac)
        return NULL;
    pycfg_clean(&c, tac, &vars);
    return pyssa_make(&c, tac, &vars);
}
