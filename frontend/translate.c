/* translate.c - canonical stack instructions to operations on values, by running the stack in the mind.
 *
 * Variables, and what is on the stack between blocks, are read with LOADVAR and written with STOREVAR; ssa.c
 * turns them into values. pystack.c has the stack, pycalls.c what concerns functions. */
#include "translate.h"

#include <string.h>

/* ---- operations with more to them ---------------------------------------------------------------- */

static HostRef const_obj(Translator *t, int32_t index) {
    return index < 0 ? t->c->host->none : t->c->code->consts[index];
}

/* 3.14 folds constant slices: taken apart here, so that one form is left. */
static PyRef emit_slice_const(Translator *t, HostRef obj) {
    static const char *const parts[3] = {"start", "stop", "step"};
    PyRef v[3];
    for (int i = 0; i < 3; i++) {
        HostRef part = t->c->host->attr(t->c->host->self, obj, parts[i]);
        v[i] = tr_emit_const(t, part ? part : t->c->host->none);
    }
    return tr_emit3(t, PY_SLICE, v[0], v[1], v[2]);
}

static void do_const(Translator *t, HostRef obj) {
    HostInfo info;
    tr_push(t,
            tr_host_info(t, obj, &info) && info.kind == HOST_SLICE ? emit_slice_const(t, obj) : tr_emit_const(t, obj));
}

static bool same_value(Translator *t, PyRef a, PyRef b) {
    const PyInstr *x = tr_instr(t, a), *y = tr_instr(t, b);
    return a == b || (x->op == PY_CONST && y->op == PY_CONST && t->c->host->same(t->c->host->self, x->obj, y->obj));
}

enum { MAX_LOOK_BACK = 500 };

/* Versions differ in whether `x[a:b] op= v` makes its slice once or twice; here it is made once. */
static void do_slice(Translator *t, Frame *fr, uint32_t n) {
    if (n != 2 && n != 3) {
        tr_bad(t, "a slice has two or three parts");
        return;
    }
    PyRef step = n == 3 ? tr_pop(t, fr) : 0, stop = tr_pop(t, fr), start = tr_pop(t, fr);
    if (t->c->failed) return;
    if (n == 2) step = tr_emit_const(t, t->c->host->none);
    uint32_t made = t->f->blocks.at[t->cur].instrs.n;
    for (uint32_t i = made; i-- > 0 && made - i < MAX_LOOK_BACK;) {
        PyRef r = t->f->blocks.at[t->cur].instrs.at[i];
        const PyInstr *in = tr_instr(t, r);
        if (in->op == PY_SLICE && same_value(t, in->args[0], start) && same_value(t, in->args[1], stop) &&
            same_value(t, in->args[2], step)) {
            tr_push(t, r);
            return;
        }
    }
    tr_push(t, tr_emit3(t, PY_SLICE, start, stop, step));
}

static void do_key_map(Translator *t, Frame *fr, uint32_t n) {
    PyRef keys = tr_pop(t, fr), *values = tr_pop_n(t, fr, n);
    HostInfo info;
    if (t->c->failed) return;
    HostRef tuple = tr_instr(t, keys)->op == PY_CONST ? tr_instr(t, keys)->obj : NULL;
    if (!tr_host_info(t, tuple, &info) || info.kind != HOST_TUPLE || info.n != n) {
        tr_bad(t, "a dict has no tuple of keys");
        return;
    }
    PyRef *kv = ARENA_ARRAY(t->c->arena, PyRef, 2 * (size_t)n + 1);
    for (uint32_t i = 0; i < n; i++) {
        kv[2 * i] = tr_emit_const(t, t->c->host->item(t->c->host->self, tuple, i));
        kv[2 * i + 1] = values[i];
    }
    tr_push(t, tr_emit_n(t, PY_MAP, 2 * n, kv));
}

/* Of a long display, Python makes an empty list and appends each item: as the display that it is, it isn't as many
 * lists as it has items. Its room, imm2, doubles. */
static PyRef longer_list(Translator *t, const PyInstr *list, PyRef item) {
    uint32_t n = list->nargs, room = list->imm2;
    PyRef *items = list->args;
    if (n >= room) {
        room = 2 * n + 1;
        items = ARENA_ARRAY(t->c->arena, PyRef, room);
        for (uint32_t i = 0; i < n; i++) items[i] = list->args[i];
    }
    items[n] = item;
    PyRef r = tr_emit_n(t, PY_LIST, 0, NULL);
    tr_instr(t, r)->args = items;
    tr_instr(t, r)->nargs = (uint16_t)(n + 1);
    tr_instr(t, r)->imm2 = room;
    return r;
}

static void do_extend(Translator *t, Frame *fr, uint32_t n, PyOp op) {
    PyRef v = tr_pop(t, fr), old = tr_top(t, fr, n);
    if (t->c->failed) return;
    const PyInstr *list = op == PY_LIST_APPEND ? tr_made_here(t, old, PY_LIST) : NULL;
    if (list && list->nargs < UINT16_MAX) {
        PyRef longer = longer_list(t, list, v);
        *tr_peek(t, n) = (Entry){E_VALUE, longer, 0};
        return;
    }
    *tr_peek(t, n) = (Entry){E_VALUE, tr_emit2(t, op, old, v), 0};
}

static void do_add_pair(Translator *t, Frame *fr, uint32_t n) {
    PyRef value = tr_pop(t, fr), key = tr_pop(t, fr), old = tr_top(t, fr, n);
    if (t->c->failed) return;
    *tr_peek(t, n) = (Entry){E_VALUE, tr_emit3(t, PY_MAP_ADD, old, key, value), 0};
}

/* Some releases put empty pieces into a string. One formatted piece is a string already. */
static void do_string(Translator *t, Frame *fr, uint32_t n) {
    PyRef *piece = tr_pop_n(t, fr, n);
    uint32_t kept = 0;
    HostInfo info;
    for (uint32_t i = 0; !t->c->failed && i < n; i++) {
        const PyInstr *in = tr_instr(t, piece[i]);
        if (in->op != PY_CONST || !tr_host_info(t, in->obj, &info) || info.kind != HOST_STR || !info.text ||
            info.text[0])
            piece[kept++] = piece[i];
    }
    if (!t->c->failed)
        tr_push(t,
                kept == 1 && tr_instr(t, piece[0])->op == PY_FORMAT ? piece[0] : tr_emit_n(t, PY_STRING, kept, piece));
}

/* CONVERT leaves a FORMAT with a conversion and imm2 = 1, which the real FORMAT takes up. */
static void do_format(Translator *t, Frame *fr, bool with_spec, uint32_t conversion) {
    PyRef spec = with_spec ? tr_pop(t, fr) : 0, v = tr_pop(t, fr);
    if (t->c->failed) return;
    PyInstr *converted = tr_made_here(t, v, PY_FORMAT);
    if (converted && converted->imm2 == 1) {
        converted->imm2 = 0; /* unused from now on, and dropped */
        conversion = converted->imm;
        v = converted->args[0];
    }
    tr_push(t, tr_with_imm(t, tr_emit_n(t, PY_FORMAT, with_spec ? 2 : 1, (PyRef[]){v, spec}), conversion));
}

static void do_convert(Translator *t, Frame *fr, uint32_t conversion) {
    PyRef v = tr_pop(t, fr);
    if (t->c->failed) return;
    PyRef r = tr_with_imm(t, tr_emit1(t, PY_FORMAT, v), conversion);
    tr_instr(t, r)->imm2 = 1;
    tr_push(t, r);
}

/* A tuple that is taken apart at once never exists. */
static void do_unpack(Translator *t, Frame *fr, uint32_t n) {
    PyRef v = tr_pop(t, fr);
    if (t->c->failed) return;
    const PyInstr *tuple = tr_made_here(t, v, PY_TUPLE);
    PyRef *item = ARENA_ARRAY(t->c->arena, PyRef, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        if (tuple && tuple->nargs == n) {
            item[i] = tuple->args[i];
            continue;
        }
        item[i] = tr_with_imm(t, tr_emit1(t, PY_UNPACK_ITEM, v), i);
        tr_instr(t, item[i])->imm2 = n;
        tuple = NULL;
    }
    while (n-- > 0) tr_push(t, item[n]);
}

static void do_unpack_ex(Translator *t, Frame *fr, uint32_t before, uint32_t after) {
    PyRef v = tr_pop(t, fr);
    uint32_t n = before + 1 + after;
    if (t->c->failed || n > MAX_DEPTH) {
        tr_bad(t, "too many variables are unpacked");
        return;
    }
    PyRef *item = ARENA_ARRAY(t->c->arena, PyRef, n);
    for (uint32_t i = 0; i < n; i++) {
        item[i] = tr_with_imm(t, tr_emit1(t, PY_UNPACK_EX, v), i);
        tr_instr(t, item[i])->imm2 = before << 16 | (after & 0xffff);
    }
    while (n-- > 0) tr_push(t, item[n]);
}

static void do_builtin(Translator *t, int32_t number) {
    static const char *const names[] = {"AssertionError", "NotImplementedError"};
    tr_push(t, tr_with_name(t, tr_emit0(t, PY_GLOBAL), names[number]));
}

/* ---- variables ------------------------------------------------------------------------------------ */

static void do_load(Translator *t, Frame *fr, int32_t slot) {
    const Place *p = &fr->places[slot];
    tr_push(t, p->free ? tr_with_name(t, tr_emit0(t, PY_CLOSURE), p->free) : tr_load_var(t, p->var));
}

static void do_cellref(Translator *t, Frame *fr, int32_t slot) {
    const Place *p = &fr->places[slot];
    do_load(t, fr, slot);
    if (!t->c->failed && p->free) tr_with_imm(t, t->stack.at[t->stack.n - 1].at, 1);
    if (p->free || t->c->failed) return;
    t->stack.at[t->stack.n - 1].at = tr_cell(t, t->stack.at[t->stack.n - 1].at, p->var);
}

static void do_store(Translator *t, Frame *fr, int32_t slot, PyRef v) {
    const char *name = fr->places[slot].free;
    if (name && !t->c->failed && tr_instr(t, v)->op == PY_UNDEF) py_refuse(t->c, t->span, REFUSE_DEL_NONLOCAL);
    else if (name && !t->c->failed)
        tr_with_name(
            t, tr_emit2(t, PY_SHARED_SET, tr_with_imm(t, tr_with_name(t, tr_emit0(t, PY_CLOSURE), name), 1), v), name);
    else if (!t->c->failed) tr_store_var(t, fr->places[slot].var, v);
}

static void do_delete(Translator *t, Frame *fr, int32_t slot) {
    do_store(t, fr, slot, tr_with_name(t, tr_emit0(t, PY_UNDEF), fr->code.slots[slot].name));
}

/* ---- one instruction ------------------------------------------------------------------------------ */

static void do_ends(Translator *t, Frame *fr, const CInstr *in, uint32_t next);

static void do_shuffle(Translator *t, Frame *fr, const CInstr *in) {
    Entry *e = tr_peek(t, (uint32_t)in->arg);
    if (!e) return;
    Entry x = *e;
    switch (in->op) {
    case C_COPY:
        if (x.kind == E_SLOT) {
            tr_value_of(t, fr, e);
            x = *e;
        }
        tr_push_entry(t, x);
        break;
    case C_SWAP:
        *e = *tr_peek(t, 1);
        *tr_peek(t, 1) = x;
        break;
    default: /* ROT */
        x = *tr_peek(t, 1);
        for (uint32_t i = 1; i < (uint32_t)in->arg; i++) *tr_peek(t, i) = *tr_peek(t, i + 1);
        *e = x;
    }
}

static void do_binary(Translator *t, Frame *fr, PyOp op, uint32_t imm) {
    PyRef b = tr_pop(t, fr), a = tr_pop(t, fr);
    if (!t->c->failed) tr_push(t, tr_with_imm(t, tr_emit2(t, op, a, b), imm));
}

static void do_unary(Translator *t, Frame *fr, PyOp op, uint32_t imm) {
    PyRef a = tr_pop(t, fr);
    if (!t->c->failed) tr_push(t, tr_with_imm(t, tr_emit1(t, op, a), imm));
}

/* The last operation of the block, if it makes v. */
static PyInstr *just_made(Translator *t, PyRef v) {
    const PyBlock *b = &t->f->blocks.at[t->cur];
    return b->instrs.n > 0 && b->instrs.at[b->instrs.n - 1] == v ? tr_instr(t, v) : NULL;
}

/* Versions differ in which `not`s they fold: here `not` of `is` and `in` is their negation, and of three only
 * one is left. */
static void do_not(Translator *t, Frame *fr) {
    PyRef v = tr_pop(t, fr);
    PyInstr *in = t->c->failed ? NULL : just_made(t, v);
    if (in && (in->op == PY_IS || in->op == PY_CONTAINS)) {
        in->imm ^= 1;
        tr_push(t, v);
    } else if (in && in->op == PY_NOT && tr_instr(t, in->args[0])->op == PY_NOT && in->args[0] == v - 1) {
        t->f->blocks.at[t->cur].instrs.n--;
        tr_push(t, in->args[0]);
    } else if (!t->c->failed) {
        tr_push(t, tr_emit1(t, PY_NOT, v));
    }
}

/* A truth that the next instruction tests anyway needs no operation. */
static void do_to_bool(Translator *t, Frame *fr, uint32_t index) {
    uint8_t next = index + 1 < fr->code.instrs.n ? fr->code.instrs.at[index + 1].op : (uint8_t)C_NOP;
    if (next == C_JUMP_IF || next == C_NOT) return;
    PyRef v = tr_pop(t, fr);
    PyInstr *in = t->c->failed ? NULL : just_made(t, v);
    if (in && (in->op == PY_IS || in->op == PY_CONTAINS || in->op == PY_NOT)) tr_push(t, v);
    else if (!t->c->failed) tr_push(t, tr_emit1(t, PY_NOT, tr_emit1(t, PY_NOT, v)));
}

static void do_sequence(Translator *t, Frame *fr, PyOp op, uint32_t n) {
    PyRef *v = n > UINT16_MAX ? NULL : tr_pop_n(t, fr, n);
    if (v && !t->c->failed) tr_push(t, tr_emit_n(t, op, n, v));
    else tr_bad(t, "a display has too many items");
}

static void do_attr(Translator *t, Frame *fr, const char *name) {
    PyRef v = tr_pop(t, fr);
    if (!t->c->failed) tr_push(t, tr_with_name(t, tr_emit1(t, PY_ATTR, v), name));
}

/* self.name = v in an __init__ makes a new self. */
static void store_attr(Translator *t, const Frame *fr, PyRef of, PyRef v, const char *name) {
    bool self = t->initialiser && fr->nesting == 0 && tr_instr(t, of)->op == PYX_LOADVAR && tr_instr(t, of)->imm == 0;
    PyRef r = tr_with_name(t, tr_emit2(t, PY_STORE_ATTR, of, v), name);
    if (self) tr_store_var(t, 0, tr_with_imm(t, r, 1));
}

/* Pops in CPython's order: the container is above the value, the index on top. */
static void do_stores(Translator *t, Frame *fr, const CInstr *in) {
    PyRef b = tr_pop(t, fr), a = tr_pop(t, fr), v = in->op == C_STORE_SUBSCR ? tr_pop(t, fr) : 0;
    if (t->c->failed) return;
    switch (in->op) {
    case C_STORE_SUBSCR: tr_emit3(t, PY_STORE_SUBSCR, a, b, v); break;
    case C_DEL_SUBSCR: tr_emit2(t, PY_DEL_SUBSCR, a, b); break;
    default: store_attr(t, fr, b, a, t->c->code->names[in->arg]);
    }
}

static void do_peeking(Translator *t, Frame *fr, const CInstr *in) {
    PyRef v = tr_top(t, fr, 1);
    if (t->c->failed) return;
    switch (in->op) {
    case C_MATCH_MAP: tr_push(t, tr_emit1(t, PY_MATCH_MAP, v)); break;
    case C_LEN: tr_push(t, tr_emit1(t, PY_MATCH_LEN, v)); break;
    case C_MATCH_SEQ: tr_push(t, tr_emit1(t, PY_MATCH_SEQ, v)); break;
    default: tr_push(t, tr_with_name(t, tr_emit1(t, PY_ATTR, v), t->c->code->names[in->arg]));
    }
}

/* Displays, strings and unpacking. */
static void do_collection(Translator *t, Frame *fr, const CInstr *in, uint32_t index) {
    uint32_t n = (uint32_t)in->arg;
    switch ((COp)in->op) {
    case C_SLICE: do_slice(t, fr, n); break;
    case C_TUPLE: do_sequence(t, fr, PY_TUPLE, n); break;
    case C_LIST: do_sequence(t, fr, PY_LIST, n); break;
    case C_SET: do_sequence(t, fr, PY_SET, n); break;
    case C_MAP: do_sequence(t, fr, PY_MAP, 2 * n); break;
    case C_KEY_MAP: do_key_map(t, fr, n); break;
    case C_STRING: do_string(t, fr, n); break;
    case C_EXTEND: do_extend(t, fr, n, (PyOp)in->arg2); break;
    case C_ADD_PAIR: do_add_pair(t, fr, n); break;
    case C_TO_TUPLE: do_unary(t, fr, PY_TO_TUPLE, 0); break;
    case C_CONVERT: do_convert(t, fr, n); break;
    case C_FORMAT: do_format(t, fr, in->arg, (uint32_t)in->arg2); break;
    case C_UNPACK:
        if (n > MAX_DEPTH) tr_bad(t, "too many variables are unpacked");
        else do_unpack(t, fr, n);
        break;
    case C_UNPACK_EX: do_unpack_ex(t, fr, n & 0xff, n >> 8); break;
    default: do_ends(t, fr, in, index + 1);
    }
}

static void do_operation(Translator *t, Frame *fr, const CInstr *in, uint32_t index) {
    uint32_t n = (uint32_t)in->arg;
    switch ((COp)in->op) {
    case C_UNARY: do_unary(t, fr, PY_UNARY, n); break;
    case C_NOT: do_not(t, fr); break;
    case C_TO_BOOL: do_to_bool(t, fr, index); break;
    case C_BINARY: do_binary(t, fr, PY_BINARY, n); break;
    case C_COMPARE: do_binary(t, fr, PY_COMPARE, n); break;
    case C_IS: do_binary(t, fr, PY_IS, n); break;
    case C_CONTAINS: do_binary(t, fr, PY_CONTAINS, n); break;
    case C_SUBSCR: do_binary(t, fr, PY_SUBSCR, 0); break;
    default: do_collection(t, fr, in, index);
    }
}

/* Patterns of classes and dicts, super(). */
static void do_objects(Translator *t, Frame *fr, const CInstr *in) {
    if (in->op == C_MATCH_KEYS) {
        PyRef keys = tr_top(t, fr, 1), subject = tr_top(t, fr, 2);
        if (!t->c->failed) tr_push(t, tr_emit2(t, PY_MATCH_KEYS, subject, keys));
        return;
    }
    PyRef c = tr_pop(t, fr), b = tr_pop(t, fr), a = tr_pop(t, fr);
    if (t->c->failed) return;
    if (in->op == C_MATCH_CLASS) tr_push(t, tr_with_imm(t, tr_emit3(t, PY_MATCH_CLASS, a, b, c), (uint32_t)in->arg));
    else tr_push(t, tr_super(t, a, b, c));
}

/* An item of a generator expression goes to what consumes it; what needs no more leaves the loop. */
static void do_yield(Translator *t, Frame *fr) {
    PyRef v = tr_pop(t, fr);
    if (!fr->generator) tr_bad(t, "a yield outside a generator expression");
    if (t->c->failed) return;
    tr_spill(t, fr);
    PyRef consumer = tr_load_var(t, fr->consumer), items = tr_load_var(t, fr->items);
    PyRef more = tr_emit3(t, PY_GEN_STEP, consumer, items, v);
    tr_store_var(t, fr->items, more);
    PyRef done = tr_emit2(t, PY_GEN_DONE, consumer, more);
    PyBlockId leave = tr_new_block(t), on = tr_new_block(t);
    tr_terminate(t, PYT_BRANCH, done, 2, leave, on);
    t->cur = leave;
    tr_end_generator(t, fr);
    t->cur = on;
    for (uint32_t i = 0; i < t->stack.n; i++)
        if (t->stack.at[i].kind != E_NULL) t->stack.at[i] = (Entry){E_SLOT, i, t->stack.at[i].made};
    tr_push(t, tr_emit_const(t, t->c->host->none));
}

static void do_instr(Translator *t, Frame *fr, const CInstr *in, uint32_t index) {
    uint32_t n = (uint32_t)in->arg;
    switch ((COp)in->op) {
    case C_NOP:
    case C_EXT: break;
    case C_POP:
        if (tr_peek(t, 1)) t->stack.n--;
        break;
    case C_PUSH_NULL: tr_push_entry(t, (Entry){E_NULL, 0, 0}); break;
    case C_COPY:
    case C_SWAP:
    case C_ROT: do_shuffle(t, fr, in); break;
    case C_CONST: do_const(t, const_obj(t, in->arg)); break;
    case C_INT: do_const(t, t->c->host->make_int(t->c->host->self, in->arg)); break;
    case C_BUILTIN: do_builtin(t, in->arg); break;
    case C_LOAD: do_load(t, fr, in->arg); break;
    case C_LOAD_CLEAR:
        do_load(t, fr, in->arg);
        if (!t->c->failed) tr_instr(t, t->stack.at[t->stack.n - 1].at)->imm2 = SAVED;
        do_delete(t, fr, in->arg);
        break;
    case C_STORE: do_store(t, fr, in->arg, tr_pop(t, fr)); break;
    case C_DELETE: do_delete(t, fr, in->arg); break;
    case C_CELLREF: do_cellref(t, fr, in->arg); break;
    case C_GLOBAL: tr_push(t, tr_with_name(t, tr_emit0(t, PY_GLOBAL), t->c->code->names[n])); break;
    case C_ATTR: do_attr(t, fr, t->c->code->names[n]); break;
    case C_STORE_ATTR:
    case C_STORE_SUBSCR:
    case C_DEL_SUBSCR: do_stores(t, fr, in); break;
    case C_ITER: do_unary(t, fr, PY_ITER, 0); break;
    case C_CALL:
    case C_CALL_KW: tr_call(t, fr, in); break;
    case C_CALL_EX: tr_call_ex(t, fr, in->arg, in->arg2 == 0); break;
    case C_FUNCTION: tr_function(t, fr, n, in->arg2); break;
    case C_FUNC_ATTR: tr_func_attr(t, fr, n); break;
    case C_IMPORT: tr_import(t, fr, t->c->code->names[n]); break;
    case C_LEN:
    case C_MATCH_SEQ:
    case C_MATCH_MAP:
    case C_IMPORT_FROM: do_peeking(t, fr, in); break;
    case C_MATCH_CLASS:
    case C_MATCH_KEYS:
    case C_SUPER: do_objects(t, fr, in); break;
    case C_YIELD: do_yield(t, fr); break;
    default: do_operation(t, fr, in, index);
    }
}

/* ---- where blocks end ------------------------------------------------------------------------------ */

static void jump_to(Translator *t, Frame *fr, uint32_t target) {
    tr_spill(t, fr);
    tr_terminate(t, PYT_JUMP, 0, 1, tr_enter(t, fr, target, t->stack.n), 0);
}

static void branch(Translator *t, Frame *fr, const CInstr *in, uint32_t next) {
    PyRef v = tr_pop(t, fr);
    bool keeps = in->op == C_JUMP_OR_POP;
    if (t->c->failed) return;
    if (keeps) tr_push(t, v);
    tr_spill(t, fr);
    PyBlockId taken = tr_enter(t, fr, in->target, t->stack.n);
    PyBlockId other = tr_enter(t, fr, next, keeps ? t->stack.n - 1 : t->stack.n);
    tr_terminate(t, PYT_BRANCH, v, 2, in->arg ? taken : other, in->arg ? other : taken);
}

/* The body begins with a block of its own that takes the item and steps the iterator. */
static void for_iter(Translator *t, Frame *fr, const CInstr *in, uint32_t next) {
    tr_spill(t, fr);
    uint32_t depth = t->stack.n;
    if (!tr_peek(t, 1)) return;
    uint32_t iter = tr_stack_var(t, fr, depth - 1);
    PyRef has = tr_emit1(t, PY_ITER_HAS, tr_load_var(t, iter));
    PyBlockId step = tr_new_block(t), done = tr_enter(t, fr, in->target, depth - 1);
    tr_terminate(t, PYT_BRANCH, has, 2, step, done);
    t->cur = step;
    PyRef it = tr_load_var(t, iter), v = tr_emit1(t, PY_ITER_VALUE, it), it2 = tr_emit1(t, PY_ITER_NEXT, it);
    tr_store_var(t, iter, it2);
    t->stack.at[depth - 1] = (Entry){E_SLOT, depth - 1, 0};
    tr_push(t, v);
    jump_to(t, fr, next);
}

static void raise(Translator *t, Frame *fr, uint32_t n) {
    PyRef cause = n == 2 ? tr_pop(t, fr) : 0, exc = n >= 1 ? tr_pop(t, fr) : 0;
    if (n > 2) tr_bad(t, "a raise has an exception and a cause at most");
    tr_terminate(t, PYT_RAISE, exc, 0, 0, 0);
    t->f->blocks.at[t->cur].cause = cause;
}

static void return_value(Translator *t, Frame *fr) {
    PyRef v = tr_pop(t, fr);
    if (t->c->failed) return;
    if (fr->generator) {
        tr_end_generator(t, fr);
        return;
    }
    if (fr->nesting == 0 && t->initialiser) v = tr_load_var(t, 0);
    if (fr->nesting == 0) {
        tr_terminate(t, PYT_RETURN, v, 0, 0, 0);
        return;
    }
    tr_store_var(t, fr->return_var, v);
    tr_terminate(t, PYT_JUMP, 0, 1, fr->return_to, 0);
}

static void do_ends(Translator *t, Frame *fr, const CInstr *in, uint32_t next) {
    switch ((COp)in->op) {
    case C_JUMP: jump_to(t, fr, in->target); break;
    case C_JUMP_IF:
    case C_JUMP_OR_POP: branch(t, fr, in, next); break;
    case C_FOR_ITER: for_iter(t, fr, in, next); break;
    case C_RETURN: return_value(t, fr); break;
    case C_RAISE: raise(t, fr, (uint32_t)in->arg); break;
    default: tr_bad(t, "the code of an exception handler is reached without one");
    }
}

static void translate_block(Translator *t, Frame *fr, uint32_t b) {
    const FlowBlock *fb = &fr->flow.blocks.at[b];
    const StackShape *s = &fr->shapes[b];
    t->cur = fr->block_of[b];
    t->stack.n = 0;
    for (uint32_t i = 0; i < s->depth; i++)
        tr_push_entry(t, s->empty[i] ? (Entry){E_NULL, 0, 0} : (Entry){E_SLOT, i, s->made[i]});
    for (uint32_t i = fb->first; i < fb->end && !t->c->failed; i++) {
        t->span = fr->code.instrs.at[i].span;
        t->guarded = fr->guarded || fr->code.instrs.at[i].guarded;
        do_instr(t, fr, &fr->code.instrs.at[i], i);
    }
    COp last = (COp)fr->code.instrs.at[fb->end - 1].op;
    bool ended = last == C_JUMP || last == C_JUMP_IF || last == C_JUMP_OR_POP || last == C_FOR_ITER ||
                 last == C_RETURN || last == C_RAISE;
    if (!t->c->failed && !ended) jump_to(t, fr, fb->end);
}

/* Decodes the code of t->c and translates it, starting in block `entry` with an empty stack. */
void tr_code(Translator *t, Frame *fr, PyBlockId entry) {
    uint32_t n = fr->flow.blocks.n;
    fr->block_of = ARENA_ARRAY(t->c->arena, PyBlockId, n);
    fr->shapes = ARENA_ARRAY(t->c->arena, StackShape, n);
    t->cur = entry;
    t->stack.n = 0;
    tr_terminate(t, PYT_JUMP, 0, 1, tr_enter(t, fr, 0, 0), 0);
    while (fr->todo.n > 0 && !t->c->failed) translate_block(t, fr, fr->todo.at[--fr->todo.n]);
}

/* ---- the whole function ------------------------------------------------------------------------------ */

static void add_params(Translator *t, const HostCode *code, uint32_t nslots) {
    enum { VARARGS = 4, VARKEYWORDS = 8 };
    uint32_t n = code->argcount + code->kwonlyargcount, total = n;
    total += (code->flags & VARARGS ? 1 : 0) + (code->flags & VARKEYWORDS ? 1 : 0);
    if (total > code->nvarnames || total > nslots || code->argcount > total) {
        tr_bad(t, "there are fewer variables than parameters");
        return;
    }
    for (uint32_t i = 0; i < total; i++) {
        PyParam p = {.name = code->varnames[i], .kwonly = i >= code->argcount && i < n};
        p.vararg = i == n && (code->flags & VARARGS);
        p.varkw = i >= n && !p.vararg;
        VEC_PUSH(t->c->arena, &t->f->params, p);
        t->span = (PySpan){.line = code->first_line};
        PyRef r = tr_with_name(t, tr_with_imm(t, tr_emit0(t, PY_PARAM), i), p.name);
        tr_store_var(t, i, r); /* variable i is slot i */
    }
    t->f->nposonly = code->posonlyargcount;
}

static bool is_initialiser(const HostCode *code) {
    return code->argcount > 0 && (!strcmp(code->name, "__init__") || !strcmp(code->name, "__post_init__"));
}

static PyFunc *translate(PyCtx *c, PyVars *vars) {
    const HostCode *code = c->code;
    PyFunc *f = ARENA_NEW(c->arena, PyFunc);
    Translator t = {.c = c, .f = f, .vars = vars, .initialiser = is_initialiser(code)};
    Frame fr = {.nesting = 0};
    if (!pycode_decode(c, &fr.code) || !pycode_flow(c, &fr.code, &fr.flow)) return NULL;
    f->arena = c->arena;
    f->file = code->file;
    f->name = code->name;
    f->qualname = code->qualname ? code->qualname : code->name;
    f->first_line = code->first_line;
    f->library = code->library;
    f->nvarnames = fr.code.nslots;
    f->varnames = ARENA_ARRAY(c->arena, const char *, fr.code.nslots + 1);
    VEC_PUSH(c->arena, &f->instrs, ((PyInstr){.op = PY_CONST}));
    fr.places = ARENA_ARRAY(c->arena, Place, fr.code.nslots + 1);
    for (uint32_t s = 0; s < fr.code.nslots; s++) {
        const PySlot *slot = &fr.code.slots[s];
        f->varnames[s] = slot->name;
        fr.places[s] = (Place){tr_new_var(&t, slot->name, 0, s), slot->kind == SLOT_FREE ? slot->name : NULL};
    }
    t.cur = tr_new_block(&t);
    add_params(&t, code, fr.code.nslots);
    if (!c->failed) tr_code(&t, &fr, 0);
    return c->failed ? NULL : f;
}

/* Found in several passes over the code, but read from top to bottom. */
static void sort_messages(DiagList *diags, uint32_t first) {
    for (uint32_t i = first + 1; i < diags->diags.n; i++) {
        Diag d = diags->diags.at[i];
        uint32_t k = i;
        for (; k > first && diags->diags.at[k - 1].at.span.line > d.at.span.line; k--)
            diags->diags.at[k] = diags->diags.at[k - 1];
        diags->diags.at[k] = d;
    }
}

PyFunc *pyfunc_from_host(Arena *arena, const Host *host, HostRef function_or_code, struct DiagList *diags, bool names) {
    PySource *source = ARENA_NEW(arena, PySource);
    source->vars = ARENA_NEW(arena, PyVars);
    if (!host->code(host->self, function_or_code, &source->code)) {
        DiagFrame at = {.file = NULL};
        diag_report(diags, DIAG_NO_CODE, &at, host->repr ? host->repr(host->self, function_or_code) : "this object");
        return NULL;
    }
    PyCtx c = {.arena = arena, .host = host, .diags = diags, .code = &source->code, .names = names};
    uint32_t first = diags->diags.n;
    PyFunc *tac = translate(&c, source->vars);
    if (!tac) {
        sort_messages(diags, first);
        return NULL;
    }
    pycfg_clean(&c, tac, source->vars);
    pyshare_assigned(&c, tac, source->vars);
    source->tac = tac;
    source->names = names;
    PyFunc *f = pyshare_ssa(&c, tac, source->vars);
    if (f) f->source = source;
    return f;
}
