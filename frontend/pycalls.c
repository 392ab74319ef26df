/* pycalls.c - making functions, calling them, importing modules; part of translate.
 *
 * The call of a comprehension that Python 3.10 and 3.11 make into a function is translated in place, as 3.12
 * compiles it. */
#include "translate.h"

#include <string.h>

/* ---- functions -------------------------------------------------------------------------- */

enum { MF_DEFAULTS = 1, MF_KWDEFAULTS = 2, MF_ANNOTATIONS = 4, MF_CLOSURE = 8, MF_ANNOTATE = 16 };

enum { MAX_ANNOTATION = 100 };

/* Annotations of an inner function are evaluated for nothing: what they are made of goes, back to the first
 * thing that has an effect. */
static void discard(Translator *t, PyRef r, PyBlockId made_in, uint32_t depth) {
    PyInstr *in = tr_instr(t, r);
    if (depth > MAX_ANNOTATION || in->block != made_in ||
        !(py_is_pure(in->op) || in->op == PY_GLOBAL || in->op == PY_ATTR || in->op == PY_SUBSCR))
        return;
    in->op = PY_UNDEF; /* pure and unused: dropped later */
    for (uint32_t i = 0; i < in->nargs; i++)
        if (in->args[i]) discard(t, in->args[i], made_in, depth + 1);
    in->nargs = 0;
}

void tr_function(Translator *t, Frame *fr, uint32_t flags, bool named) {
    if (named) tr_pop(t, fr);
    PyRef code = tr_pop(t, fr), part[3] = {0, 0, 0};
    if (flags & MF_CLOSURE) part[2] = tr_pop(t, fr);
    PyRef annotations = flags & MF_ANNOTATIONS ? tr_pop(t, fr) : 0;
    if (flags & MF_KWDEFAULTS) part[1] = tr_pop(t, fr);
    if (flags & MF_DEFAULTS) part[0] = tr_pop(t, fr);
    if (t->c->failed) return;
    HostCode inner;
    HostRef obj = tr_instr(t, code)->op == PY_CONST ? tr_instr(t, code)->obj : NULL;
    memset(&inner, 0, sizeof inner);
    if (!obj || !t->c->host->code(t->c->host->self, obj, &inner)) {
        tr_bad(t, "a function is made of something that isn't code");
        return;
    }
    if (annotations) discard(t, annotations, t->cur, 0);
    PyRef r = tr_emit_n(t, PY_FUNCTION, 3, part);
    tr_instr(t, r)->obj = obj;
    tr_push(t, tr_with_name(t, r, inner.name));
}

PyRef tr_cell(Translator *t, PyRef value, uint32_t var) {
    PyRef r = tr_with_name(t, tr_emit1(t, PY_CELL, value), t->vars->at.at[var].name);
    tr_instr(t, r)->imm2 = var + 1; /* ssa.c checks that the variable keeps its value, and clears this */
    return r;
}

/* From 3.13 cells are pushed by plain loads, and only here it shows that they are. */
static PyRef make_closure(Translator *t, PyRef tuple) {
    const PyInstr *in = tr_made_here(t, tuple, PY_TUPLE);
    if (!in) {
        tr_bad(t, "a closure isn't a tuple of cells");
        return 0;
    }
    PyRef *cells = in->args;
    uint32_t n = in->nargs;
    bool changed = false;
    for (uint32_t i = 0; i < n; i++) {
        changed |= tr_instr(t, cells[i])->op == PYX_LOADVAR;
        if (tr_instr(t, cells[i])->op == PY_CLOSURE) tr_with_imm(t, cells[i], 1);
    }
    for (uint32_t i = 0; changed && i < n; i++) {
        const PyInstr *cell = tr_instr(t, cells[i]);
        if (cell->op == PYX_LOADVAR) cells[i] = tr_cell(t, cells[i], cell->imm);
        else if (cell->op == PY_CLOSURE) /* again, so that all are in order */
            cells[i] = tr_with_imm(t, tr_with_name(t, tr_emit0(t, PY_CLOSURE), cell->name), 1);
    }
    return changed ? tr_emit_n(t, PY_TUPLE, n, cells) : tuple;
}

void tr_func_attr(Translator *t, Frame *fr, uint32_t flag) {
    PyRef fn = tr_pop(t, fr), v = tr_pop(t, fr);
    if (t->c->failed) return;
    PyInstr *in = tr_made_here(t, fn, PY_FUNCTION);
    if (!in) {
        tr_bad(t, "an attribute is set in something that isn't a new function");
        return;
    }
    switch (flag) {
    case MF_DEFAULTS: in->args[0] = v; break;
    case MF_KWDEFAULTS: in->args[1] = v; break;
    case MF_CLOSURE: {
        PyRef closure = make_closure(t, v);
        PyInstr copy = *tr_instr(t, fn);
        if (t->c->failed) return;
        fn = tr_emit_n(t, PY_FUNCTION, 3, (PyRef[]){copy.args[0], copy.args[1], closure});
        tr_instr(t, fn)->obj = copy.obj;
        tr_with_name(t, fn, copy.name);
        break;
    }
    default: discard(t, v, t->cur, 0);
    }
    tr_push(t, fn);
}

/* ---- comprehensions of 3.10 and 3.11 ---------------------------------------------------------------- */

static bool is_comprehension(const char *name) {
    return !strcmp(name, "<listcomp>") || !strcmp(name, "<setcomp>") || !strcmp(name, "<dictcomp>") ||
           !strcmp(name, "<genexpr>");
}

/* The function that the next instruction calls with the value that is on top after this one; 0: none, or it takes more.
 */
static PyRef consumer_of(Translator *t, Frame *fr, const CInstr *in) {
    const CInstr *end = fr->code.instrs.at + fr->code.instrs.n, *next = in + 1;
    while (next < end && next->op == C_NOP) next++;
    if (next >= end || next->op != C_CALL || next->arg != 1 || next->kw || t->stack.n < 1) return 0;
    if (next->arg2) return tr_value_of(t, fr, tr_peek(t, 1));
    if (t->stack.n < 2) return 0;
    Entry *b = tr_peek(t, 1), *a = tr_peek(t, 2);
    if ((a->kind == E_NULL) == (b->kind == E_NULL)) return 0;
    return tr_value_of(t, fr, a->kind == E_NULL ? b : a);
}

/* What the loop over a generator expression leaves for its consumer. */
void tr_end_generator(Translator *t, Frame *fr) {
    PyRef consumer = tr_load_var(t, fr->consumer), items = tr_load_var(t, fr->items);
    tr_store_var(t, fr->return_var, tr_emit2(t, PY_GEN_END, consumer, items));
    tr_terminate(t, PYT_JUMP, 0, 1, fr->return_to, 0);
}

/* Its items are made before they are used: with a loop or a variable they would take turns. */
static bool goes_to_a_call(const Frame *fr, const CInstr *in) {
    const CInstr *end = fr->code.instrs.at + fr->code.instrs.n, *next = in + 1;
    while (next < end && next->op == C_NOP) next++;
    return next < end && next->op != C_ITER && next->op != C_STORE && next->op != C_RETURN && next->op != C_FOR_ITER;
}

static void begin_generator(Translator *t, Frame *fr, Frame *inner, const CInstr *in) {
    if (!goes_to_a_call(fr, in)) py_refuse(t->c, t->span, REFUSE_GENEXPR);
    PyRef consumer = consumer_of(t, fr, in);
    if (!consumer) consumer = tr_emit_const(t, t->c->host->none);
    inner->generator = true;
    inner->consumer = tr_new_var(t, NULL, inner->nesting, MAX_DEPTH);
    inner->items = tr_new_var(t, NULL, inner->nesting, MAX_DEPTH + 1);
    tr_store_var(t, inner->consumer, consumer);
    PyRef start = tr_emit1(t, PY_GEN_START, consumer);
    tr_store_var(t, inner->items, start);
    inner->start = tr_new_var(t, NULL, inner->nesting, MAX_DEPTH + 2);
    tr_store_var(t, inner->start, start);
}

/* The variables of the inner code: its free variables are those of the outer, through the closure's cells. */
static bool place_inner(Translator *t, Frame *inner, PyRef closure) {
    const PyInstr *cells = closure && tr_instr(t, closure)->op == PY_TUPLE ? tr_instr(t, closure) : NULL;
    uint32_t nfree = 0;
    for (uint32_t s = 0; s < inner->code.nslots; s++) {
        const PySlot *slot = &inner->code.slots[s];
        if (slot->kind != SLOT_FREE) {
            inner->places[s].var = tr_new_var(t, slot->name, inner->nesting, s);
            continue;
        }
        const PyInstr *cell = cells && nfree < cells->nargs ? tr_instr(t, cells->args[nfree++]) : NULL;
        if (!cell || (cell->op != PY_CELL && cell->op != PY_CLOSURE)) return false;
        inner->places[s] = cell->op == PY_CELL ? (Place){cell->imm2 - 1, NULL} : (Place){0, cell->name};
    }
    return true;
}

/* Translates the call of a comprehension's function in place, as later versions compile it. */
static bool inline_comprehension(Translator *t, Frame *fr, PyRef fn, PyRef arg, const CInstr *in) {
    const PyInstr *made = fn ? tr_instr(t, fn) : NULL;
    if (!made || made->op != PY_FUNCTION || !is_comprehension(made->name) || fr->nesting >= MAX_NESTING) return false;
    HostCode code;
    PyCtx c = *t->c, *outer = t->c;
    memset(&code, 0, sizeof code);
    if (!outer->host->code(outer->host->self, made->obj, &code) || code.argcount != 1) return false;
    Frame *inner = ARENA_NEW(c.arena, Frame);
    inner->nesting = fr->nesting + 1;
    inner->guarded = t->guarded;
    c.code = &code;
    c.in_place = !strcmp(made->name, "<genexpr>");
    if (!pycode_decode(&c, &inner->code) || !pycode_flow(&c, &inner->code, &inner->flow)) {
        outer->failed = true;
        return true;
    }
    inner->places = ARENA_ARRAY(c.arena, Place, inner->code.nslots + 1);
    if (!place_inner(t, inner, made->args[2])) {
        tr_bad(t, "a comprehension's closure isn't one");
        return true;
    }
    discard(t, fn, made->block, 0);
    tr_store_var(t, inner->places[0].var, arg);
    if (c.in_place) begin_generator(t, fr, inner, in);
    tr_spill(t, fr);
    VEC(Entry) saved = {t->stack.at, t->stack.n, t->stack.cap};
    PySpan span = t->span;
    const bool guarded = t->guarded;
    t->stack.at = NULL;
    t->stack.n = t->stack.cap = 0;
    inner->return_to = tr_new_block(t);
    inner->return_var = tr_stack_var(t, fr, saved.n);
    t->c = &c;
    tr_code(t, inner, t->cur);
    t->c = outer;
    outer->failed |= c.failed;
    t->span = span;
    t->guarded = guarded;
    t->cur = inner->return_to;
    t->stack.at = saved.at;
    t->stack.n = saved.n;
    t->stack.cap = saved.cap;
    for (uint32_t i = 0; i < t->stack.n; i++)
        if (t->stack.at[i].kind != E_NULL) t->stack.at[i] = (Entry){E_SLOT, i, t->stack.at[i].made};
    tr_push_entry(t, (Entry){E_SLOT, t->stack.n, 0});
    if (!inner->generator) return true;
    PyRef start = tr_load_var(t, inner->start), items = tr_pop(t, fr);
    tr_push(t, tr_emit2(t, PY_GEN_PLACE, start, items));
    return true;
}

/* ---- calls ------------------------------------------------------------------------------------------ */

/* Pops what stands for the callable and gives it, the receiver in *self when both halves are there, and in *made the
 * FUNCTION that it is. */
static PyRef pop_callable(Translator *t, Frame *fr, bool halves, PyRef *self, PyRef *made) {
    *self = *made = 0;
    if (!halves) {
        if (t->stack.n) *made = tr_peek(t, 1)->made;
        return tr_pop(t, fr);
    }
    Entry *b = tr_peek(t, 1), *a = tr_peek(t, 2);
    if (t->c->failed) return 0;
    bool a_empty = a->kind == E_NULL, b_empty = b->kind == E_NULL;
    if (a_empty && b_empty) {
        tr_bad(t, "a callable is missing");
        return 0;
    }
    PyRef callee = a_empty ? tr_value_of(t, fr, b) : tr_value_of(t, fr, a);
    *made = a_empty ? b->made : a->made;
    if (!a_empty && !b_empty) *self = tr_value_of(t, fr, b);
    t->stack.n -= 2;
    return callee;
}

static bool read_names(Translator *t, HostRef tuple, uint32_t nargs, const char ***names, uint32_t *n) {
    HostInfo info, item;
    if (!tr_host_info(t, tuple, &info) || info.kind != HOST_TUPLE || info.n > nargs) {
        tr_bad(t, "a call has no tuple of keyword names");
        return false;
    }
    *n = (uint32_t)info.n;
    *names = ARENA_ARRAY(t->c->arena, const char *, info.n + 1);
    for (uint32_t i = 0; i < *n; i++) {
        if (!tr_host_info(t, t->c->host->item(t->c->host->self, tuple, i), &item) || item.kind != HOST_STR) {
            tr_bad(t, "a keyword isn't a name");
            return false;
        }
        (*names)[i] = arena_strdup(t->c->arena, item.text);
    }
    return true;
}

/* `super` is the global of that name. */
PyRef tr_super(Translator *t, PyRef super, PyRef cls, PyRef self) {
    if (tr_instr(t, super)->op == PY_GLOBAL) tr_instr(t, super)->op = PY_UNDEF; /* unused: dropped later */
    return tr_emit2(t, PY_SUPER, cls, self);
}

/* super(), whose class is a hidden free variable, or super(cls, self); 0: another call. */
static PyRef call_of_super(Translator *t, const Frame *fr, PyRef super, uint32_t nargs, const PyRef *args) {
    if (nargs == 2) return tr_super(t, super, args[0], args[1]);
    bool method = false;
    for (uint32_t s = 0; s < fr->code.nslots; s++)
        method |= fr->code.slots[s].kind == SLOT_FREE && !strcmp(fr->code.slots[s].name, "__class__");
    if (nargs || !method || fr->nesting || !t->f->params.n) return 0;
    PyRef cls = tr_with_name(t, tr_emit0(t, PY_CLOSURE), "__class__");
    return tr_super(t, super, cls, tr_load_var(t, 0));
}

void tr_call(Translator *t, Frame *fr, const CInstr *in) {
    uint32_t nargs = (uint32_t)in->arg, nnames = 0;
    const char **names = NULL;
    HostRef tuple = in->kw ? t->c->code->consts[in->kw - 1] : NULL;
    if (in->op == C_CALL_KW) {
        PyRef k = tr_pop(t, fr);
        tuple = !t->c->failed && tr_instr(t, k)->op == PY_CONST ? tr_instr(t, k)->obj : NULL;
    }
    PyRef self, made, *args = tr_pop_n(t, fr, nargs);
    PyRef callee = t->c->failed ? 0 : pop_callable(t, fr, in->arg2 == 0, &self, &made);
    if (t->c->failed || ((tuple || in->op == C_CALL_KW) && !read_names(t, tuple, nargs, &names, &nnames))) return;
    uint32_t extra = self ? 1 : 0, n = 1 + extra + nargs;
    if (n > UINT16_MAX) {
        tr_bad(t, "a call has too many arguments");
        return;
    }
    if (nargs + extra == 1 && inline_comprehension(t, fr, made, self ? self : args[0], in)) return;
    if (tr_instr(t, callee)->op == PY_GLOBAL && !strcmp(tr_instr(t, callee)->name, "super") && !self) {
        PyRef super = call_of_super(t, fr, callee, nargs, args);
        if (super) {
            tr_push(t, super);
            return;
        }
    }
    PyRef *all = ARENA_ARRAY(t->c->arena, PyRef, n);
    all[0] = callee;
    all[extra] = extra ? self : callee;
    memcpy(all + 1 + extra, args, nargs * sizeof *args);
    PyRef r = tr_emit_n(t, PY_CALL, n, all);
    tr_instr(t, r)->kwnames.at = names;
    tr_instr(t, r)->kwnames.n = nnames;
    const PyInstr *fn = tr_instr(t, callee);
    if (t->initialiser && fr->nesting == 0 && fn->op == PY_ATTR && !strcmp(fn->name, "__init__")) {
        tr_store_var(t, 0, r); /* the instance after a base's __init__ */
        r = tr_emit_const(t, t->c->host->none);
    }
    tr_push(t, r);
}

void tr_call_ex(Translator *t, Frame *fr, bool with_map, bool halves) {
    PyRef map = 0, self, made;
    if (with_map) {
        const Entry *e = tr_peek(t, 1);
        if (e && e->kind == E_NULL) t->stack.n--;
        else map = tr_pop(t, fr);
    }
    PyRef args = tr_pop(t, fr), callee = t->c->failed ? 0 : pop_callable(t, fr, halves, &self, &made);
    if (t->c->failed) return;
    if (self) {
        tr_bad(t, "a call of unpacked arguments has a receiver");
        return;
    }
    tr_push(t, tr_emit3(t, PY_CALL_EX, callee, args, map));
}

void tr_import(Translator *t, Frame *fr, const char *name) {
    PyRef names = tr_pop(t, fr), level = tr_pop(t, fr);
    HostInfo info;
    if (t->c->failed) return;
    if (tr_instr(t, level)->op != PY_CONST || !tr_host_info(t, tr_instr(t, level)->obj, &info) ||
        info.kind != HOST_INT || info.bits != 0) {
        py_refuse(t->c, t->span, REFUSE_RELATIVE);
        return;
    }
    bool plain = tr_instr(t, names)->op == PY_CONST &&
                 t->c->host->same(t->c->host->self, tr_instr(t, names)->obj, t->c->host->none);
    PyRef r = tr_with_name(t, tr_emit0(t, PY_IMPORT), name);
    const char *dot = strchr(name, '.');
    if (plain && dot) /* `import a.b` imports both and binds a */
        r = tr_with_name(t, tr_emit0(t, PY_IMPORT), arena_strndup(t->c->arena, name, (size_t)(dot - name)));
    tr_push(t, r);
}
