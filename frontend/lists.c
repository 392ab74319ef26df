/* lists.c - lists that change: items are assigned, appended, removed.
 *
 * As long as no list of the kernel changes, lists are tuples with a mark (TupleKind). Otherwise each is a Mutable
 * (mutable.c). If all its indices are constants, each item has a type of its own. At a run-time index all items have
 * one type, and lie one behind the other. A list that gets longer has its length in front of them, and room for so many
 * more. What no function here does with a list, it does with its items as a tuple. */
#include "arrays.h"
#include "devfns.h"

#include <string.h>

enum { ROOM = 128, LENGTH_BYTES = 8 };

static Mutable *list(Val v) { return mutable_found(v.ty->made); }

bool list_grows(Val v) { return v.ty && v.ty->kind == TY_LIST && list(v)->grows; }

static bool holds_made(Ty ty) {
    if (ty->made) return true;
    for (uint32_t i = 0; i < ty->n; i++)
        if (holds_made(ty->items[i])) return true;
    return false;
}

bool list_holds_made(Ty ty) {
    const Mutable *m = mutable_found(ty->made);
    bool any = m->elem.ty && holds_made(m->elem.ty);
    for (uint32_t k = 0; k < m->nitems; k++) any |= m->items[k].v.ty && holds_made(m->items[k].v.ty);
    return any;
}

/* ---- which lists change ---------------------------------------------------------------------------------- */

/* The first change of a list has the kernel inferred again, with all lists that are written in it as references; then
 * those of comprehensions. */
bool lists_change(Eval *e, Val v) {
    enum { MOST = 2 };
    if (e->building || v.ty->kind == TY_LIST || !val_is_list(v) || e->lists == MOST) return false;
    e->lists_wanted = e->lists + 1;
    return e->again = true;
}

static Val marked(Eval *e, Val v, TupleKind kind) {
    if (val_poisoned(v) || v.ty->kind != TY_TUPLE || v.ty->fields || v.ty->sub == kind) return v;
    v.ty = ty_composite(e->types, TY_TUPLE, kind, v.ty->n, v.items, NULL, NULL, NULL);
    return v;
}

Val list_marked(Eval *e, Val v) { return marked(e, v, TUPLE_OF_LIST); }

Val set_marked(Eval *e, Val v) { return marked(e, v, TUPLE_OF_SET); }

Val tuple_marked(Eval *e, Val v) { return marked(e, v, TUPLE_ITSELF); }

Val list_given(Eval *e, Val v) {
    enum { ALL = 2 };
    if (e->lists < ALL || val_poisoned(v) || v.ty->kind != TY_TUPLE) return list_marked(e, v);
    return list_of(e, v.ty->n, v.items);
}

/* xs += ys and xs *= n change the list for all its names, so it must be one that may change. */
Val list_operated(Eval *e, PySpan span, Val v) {
    if (v.ty->kind != TY_TUPLE || !val_is_list(v)) return (Val){0};
    if (lists_change(e, v)) return val_poison(e);
    return e_fail(e, span, "list(xs) makes a list that may change", DIAG_CONSTRUCT, "this change of a list",
                  "it is a constant, or isn't made in this kernel");
}

/* Does the instruction go on making the list that r begins? */
static bool goes_on(const PyInstr *in, PyRef r) {
    return (in->op == PY_LIST_EXTEND || in->op == PY_LIST_APPEND || in->op == PY_TO_TUPLE) && in->args[0] == r;
}

/* Is something appended to the list, maybe in a loop, or in one within, as `for x in xs for y in ys` has it? */
static bool is_comprehension(Eval *e, const PyFunc *f, PyRef r) {
    bool *is = ARENA_ARRAY(e->arena, bool, f->instrs.n); /* the list, and PHIs that it goes through */
    is[r] = true;
    for (PyRef k = 1; k < f->instrs.n; k++)
        for (uint32_t i = 0; f->instrs.at[k].op == PY_PHI && i < f->instrs.at[k].nargs; i++)
            is[k] |= is[f->instrs.at[k].args[i]];
    for (PyRef k = 1; k < f->instrs.n; k++)
        if (f->instrs.at[k].op == PY_LIST_APPEND && is[f->instrs.at[k].args[0]]) return true;
    return false;
}

/* A list that is only being made, an index, or the arguments of a call. */
static bool is_passing(const PyFunc *f, PyRef r) {
    bool passing = false, kept = false;
    for (PyRef k = 1; k < f->instrs.n; k++) {
        const PyInstr *in = &f->instrs.at[k];
        bool index = (in->op == PY_SUBSCR || in->op == PY_STORE_SUBSCR) && in->args[1] == r;
        bool here = goes_on(in, r) || index || (in->op == PY_CALL_EX && in->args[1] == r);
        for (uint32_t i = 0; i < in->nargs; i++) kept |= !here && in->args[i] == r;
        passing |= here;
    }
    for (PyBlockId b = 0; b < f->blocks.n; b++) kept |= f->blocks.at[b].arg == r;
    return passing && !kept;
}

/* Lists in the library's functions have known lengths, and items that may differ, but for those that are filled. */
static bool is_librarys(const Eval *e, const PyFunc *f) {
    for (const Frame *fr = e->frame; fr; fr = fr->caller)
        if (fr->inst->f->library && strcmp(fr->inst->f->file, f->file) == 0) return true;
    return false;
}

/* What instruction r gave, a tuple, as a list that may change, if it is one. */
Val list_made(Eval *e, const PyFunc *f, PyRef r, Val v) {
    if (val_poisoned(v) || v.ty->kind != TY_TUPLE) return v;
    v = list_marked(e, v);
    if (!e->lists || !is_list_display(f, r) || is_passing(f, r)) return v;
    bool comprehension = is_comprehension(e, f, r);
    if (comprehension && e->lists < 2) return v;
    if ((comprehension || v.ty->n) && is_librarys(e, f)) return v;
    return list_of(e, v.ty->n, v.items);
}

/* ---- where items lie -------------------------------------------------------------------------------------- */
static uint32_t stride(const Mutable *m) {
    uint32_t bytes = 0, unit = 1;
    mutable_skip(m->elem, &bytes);
    while (unit < 8 && unit < bytes) unit *= 2;
    return (bytes + unit - 1) / unit * unit;
}

static uint32_t offset_of(const Mutable *m, uint32_t k) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < k; i++) mutable_skip(m->items[i].v, &at);
    return at;
}

static uint32_t list_bytes(const Mutable *m) {
    if (!m->uniform) return offset_of(m, m->nitems) + 1;
    return (m->grows ? LENGTH_BYTES + ROOM * stride(m) : 0) + m->count * stride(m) + 1;
}

static bool raise_to(Eval *e, Val *all, Val v) {
    Val joined;
    if (!val_join(e, *all, v, &joined)) return false;
    if (val_same(*all, joined)) return true;
    *all = joined;
    e->again = true;
    return true;
}

/* One type for all items; false: they have none. */
static bool make_uniform(Eval *e, Mutable *m) {
    Val all = {0};
    if (m->uniform) return true;
    for (uint32_t k = 0; k < m->nitems; k++)
        if (!val_join(e, all, m->items[k].v, &all)) return false;
    if (e->building) return false;
    m->elem = all;
    m->uniform = e->again = true;
    return true;
}

static bool make_growing(Eval *e, Mutable *m) {
    if (!make_uniform(e, m)) return false;
    if (!m->grows) m->grows = e->again = true;
    return true;
}

bool lists_join(Eval *e, Mutable *x, Mutable *y) {
    bool same = x->count == y->count && !x->uniform && !y->uniform;
    for (uint32_t k = 0; same && k < x->nitems; k++)
        if (!raise_to(e, &x->items[k].v, y->items[k].v)) return false;
    if (same) return true;
    if (!make_uniform(e, x) || !make_uniform(e, y) || !raise_to(e, &x->elem, y->elem)) return false;
    x->grows |= y->grows || x->count != y->count;
    if (y->count > x->count) x->count = y->count;
    return true;
}

/* ---- making ------------------------------------------------------------------------------------------------ */
static Val different(Eval *e, PySpan span, const Mutable *m, Val v) {
    Val all = m->elem.ty ? m->elem : m->nitems ? m->items[0].v : v;
    return mutable_failed(e, span, "give it items of one type: [0.0] * n", "an item of this list", all, v);
}

static Ref item_address(Eval *e, const Mutable *m, Ref at, Ref index) {
    at = record_offset(e, T_PTRL, at, m->grows ? LENGTH_BYTES : 0);
    return e_emit(e, OP_ADDR, T_PTRL, 2, (Ref[]){at, index}, 0, stride(m));
}

static void store_at(Eval *e, const Mutable *m, Ref at, Ref index, Val v) {
    uint32_t offset = 0;
    if (!e->building || !stride(m)) return;
    mutable_store(e, m->elem, val_coerce(e, v, m->elem), item_address(e, m, at, index), &offset);
}

static void set_length(Eval *e, Val v, Ref n) {
    if (list(v)->grows) e_store(e, v.items[0].ref[0], n);
}

Val list_of(Eval *e, uint32_t n, const Val *items) {
    for (uint32_t k = 0; k < n; k++)
        if (holds_lazy(items[k].ty))
            return e_fail(e, e->frame->at.span, "assign it to an array first", DIAG_CONSTRUCT,
                          "an array expression in this list", "its elements aren't computed yet");
    Mutable *m = mutable_here(e, TY_LIST, NULL, n, items);
    if (!m->items) {
        m->items = ARENA_ARRAY(e->arena, MutableItem, n + 1);
        m->nitems = m->count = n;
        for (uint32_t k = 0; k < n; k++) m->items[k].sure = true;
    }
    for (uint32_t k = 0; k < n; k++) {
        bool ok = m->uniform ? raise_to(e, &m->elem, items[k]) : raise_to(e, &m->items[k].v, items[k]);
        if (!ok) return different(e, e->frame->at.span, m, items[k]);
    }
    Val v = mutable_reference(e, m, e_alloca(e, list_bytes(m)));
    uint32_t offset = 0;
    set_length(e, v, e_int(e, T_I64, n));
    for (uint32_t k = 0; e->building && k < n; k++) {
        if (m->uniform) store_at(e, m, v.items[0].ref[0], e_int(e, T_I64, k), items[k]);
        else mutable_store(e, m->items[k].v, val_coerce(e, items[k], m->items[k].v), v.items[0].ref[0], &offset);
    }
    return v;
}

/* ---- items --------------------------------------------------------------------------------------------------- */
Val list_length(Eval *e, Val v) {
    if (!list(v)->grows) return val_int(e, list(v)->count);
    return val_rt_int(e, e_load(e, T_I64, v.items[0].ref[0]));
}

static Val wrong_index(Eval *e, PySpan span, Val index) {
    bool real = val_is_scalar(index) && dt_is_float(val_dtype(index));
    return e_fail(e, span, real ? "// is the integer division; int(...) truncates" : NULL, DIAG_INDEX_TYPE,
                  e_text(e, index));
}

/* The item's number in *k if that is known, else its run-time index in *at; false: reported. */
static bool find_index(Eval *e, PySpan span, Val v, Val index, Wide *k, Ref *at) {
    const Mutable *m = list(v);
    bool integer = val_is_scalar(index) && (dt_is_int(val_dtype(index)) || index.ty->dtype == DT_BOOL);
    if (!integer) {
        wrong_index(e, span, index);
        return false;
    }
    Wide i;
    *k = -1;
    if (val_as_int(index, &i) && !m->grows) {
        *k = i < 0 ? i + m->count : i;
        if (*k >= 0 && *k < m->count) {
            *at = m->uniform ? e_int(e, T_I64, (int64_t)*k) : REF_NONE;
            return true;
        }
        e_fail(e, span, NULL, DIAG_LIST_RANGE, wide_text(e->arena, i), m->count);
        return false;
    }
    Ref n = val_ref(e, list_length(e, v)), r = val_conv_ref(e, index, DT_I64);
    Ref below = e_cmp(e, PRED_LT, r, e_int(e, T_I64, 0));
    r = e_select(e, T_I64, below, e_op2(e, OP_ADD, T_I64, r, n), r);
    Ref outside = e_cmp(e, PRED_GE, e_conv(e, T_U64, r), e_conv(e, T_U64, n));
    e_raise_if(e, span, outside, "IndexError", "list index out of range");
    *at = r;
    return true;
}

/* Of gpu._sequences. */
static Val call_sequence(Eval *e, const CallSite *site, const char *name, uint32_t n, const Val *args) {
    HostRef m = e->host->import(e->host->self, "gpu._sequences"), f = m ? e->host->attr(e->host->self, m, name) : NULL;
    if (!f) return e_fail(e, site->span, NULL, DIAG_NOT_IN_KERNEL, site->name);
    CallSite s = *site;
    s.fn = NULL;
    return call_python(e, &s, &(Callee){.code = f, .globals = f}, (Val){.ty = ty_object(e->types, f)}, n, args);
}

bool slice_is_constant(Val slice) {
    Wide k;
    for (uint32_t i = 0; i < 3; i++)
        if (slice.items[i].ty->kind != TY_NONE && !val_as_int(slice.items[i], &k)) return false;
    return true;
}

/* A new list. */
static Val list_slice(Eval *e, PySpan span, Val v, Val slice) {
    CallSite site = {.span = span, .name = "[:]"};
    if (list(v)->grows || !slice_is_constant(slice))
        return call_sequence(e, &site, "list_slice", 4, (Val[]){v, slice.items[0], slice.items[1], slice.items[2]});
    Val all = list_now(e, span, v), part = val_poisoned(all) ? all : tuple_item(e, span, all, slice);
    return val_poisoned(part) ? part : list_of(e, part.ty->n, part.items);
}

Val list_get(Eval *e, PySpan span, Val v, Val index) {
    Mutable *m = list(v);
    Wide k;
    Ref at = REF_NONE;
    if (index.ty->kind == TY_SLICE) return list_slice(e, span, v, index);
    if (m->failed || !find_index(e, span, v, index, &k, &at)) return val_poison(e);
    uint32_t offset = 0;
    if (k >= 0 && !m->uniform) {
        offset = offset_of(m, (uint32_t)k);
        return e->building ? mutable_load(e, m->items[k].v, v.items[0].ref[0], &offset) : m->items[k].v;
    }
    if (!make_uniform(e, m))
        return e_fail(e, span, "only a constant index may choose among items of different types", DIAG_TUPLE_INDEX,
                      "list", e_text(e, index));
    if (!m->elem.ty) { /* it is always empty */
        e_raise(e, span, "IndexError", "list index out of range");
        return (Val){0};
    }
    if (!e->building || !stride(m)) return m->elem;
    return mutable_load(e, m->elem, item_address(e, m, v.items[0].ref[0], at), &offset);
}

/* A value as an item; POISON: reported. */
static Val item_value(Eval *e, PySpan span, Val value) {
    if (value.ty->kind == TY_EXPR) value = many_array(e, span, value);
    if (val_poisoned(value) || !holds_lazy(value.ty)) return value;
    return e_fail(e, span, "assign it to an array first", DIAG_CONSTRUCT, "an array expression in a list",
                  "its elements aren't computed yet");
}

static void failed(Eval *e, Mutable *m) {
    e->again |= !e->building && !m->failed;
    m->failed = true;
}

void list_set(Eval *e, PySpan span, Val v, Val index, Val value) {
    Mutable *m = list(v);
    Wide k;
    Ref at = REF_NONE;
    if (index.ty->kind == TY_SLICE) {
        CallSite site = {.span = span, .name = "[:] ="};
        call_sequence(e, &site, "list_set_slice", 5, (Val[]){v, index.items[0], index.items[1], index.items[2], value});
        return;
    }
    value = item_value(e, span, value);
    if (val_poisoned(value)) {
        failed(e, m);
        return;
    }
    if (!find_index(e, span, v, index, &k, &at)) return;
    bool one = k >= 0 && !m->uniform, ok = one || make_uniform(e, m);
    if (!ok || !raise_to(e, one ? &m->items[k].v : &m->elem, value)) {
        different(e, span, m, value);
        failed(e, m);
        return;
    }
    if (!e->building) return;
    uint32_t offset = one ? offset_of(m, (uint32_t)k) : 0;
    if (one) mutable_store(e, m->items[k].v, val_coerce(e, value, m->items[k].v), v.items[0].ref[0], &offset);
    else store_at(e, m, v.items[0].ref[0], at, value);
}

Val list_append(Eval *e, PySpan span, Val v, Val item) {
    Mutable *m = list(v);
    item = item_value(e, span, item);
    if (val_poisoned(item) || !make_growing(e, m) || !raise_to(e, &m->elem, item)) {
        if (!val_poisoned(item)) different(e, span, m, item);
        failed(e, m);
        return val_poison(e);
    }
    if (!e->building) return val_none(e);
    Ref n = e_load(e, T_I64, v.items[0].ref[0]), room = e_int(e, T_I64, (int64_t)m->count + ROOM);
    e_raise_if(e, span, e_cmp(e, PRED_GE, n, room), "MemoryError",
               arena_printf(e->arena, "a list in a kernel has room for %u items more than it begins with", ROOM));
    store_at(e, m, v.items[0].ref[0], n, item);
    e_store(e, v.items[0].ref[0], e_op2(e, OP_ADD, T_I64, n, e_int(e, T_I64, 1)));
    return val_none(e);
}

/* xs.pop(): the last item. */
static Val pop(Eval *e, PySpan span, Val v) {
    if (!make_growing(e, list(v))) return different(e, span, list(v), list(v)->items[list(v)->nitems - 1].v);
    Ref n = val_ref(e, list_length(e, v)), one = e_int(e, T_I64, 1);
    e_raise_if(e, span, e_cmp(e, PRED_EQ, n, e_int(e, T_I64, 0)), "IndexError", "pop from empty list");
    Val last = list_get(e, span, v, val_int(e, -1));
    set_length(e, v, e_op2(e, OP_SUB, T_I64, n, one));
    return last;
}

Val list_now(Eval *e, PySpan span, Val v) {
    const Mutable *m = list(v);
    if (m->grows)
        return e_fail(e, span, "loop over it: for x in xs", DIAG_CONSTRUCT,
                      "this use of a list that gets longer or shorter", "its length is known at run time only");
    Val *items = ARENA_ARRAY(e->arena, Val, m->count + 1);
    for (uint32_t k = 0; k < m->count; k++) {
        items[k] = list_get(e, span, v, val_int(e, k));
        if (val_poisoned(items[k])) return items[k];
    }
    return list_marked(e, val_tuple(e, m->count, items));
}

Val lists_now(Eval *e, PySpan span, Val v) {
    if (val_poisoned(v)) return v;
    if (v.ty->kind == TY_LIST) v = list_now(e, span, v);
    bool any = false;
    for (uint32_t i = 0; v.ty->kind == TY_TUPLE && i < v.ty->n; i++)
        any |= v.items[i].ty->kind == TY_LIST || v.items[i].ty->kind == TY_TUPLE;
    if (!any) return v;
    Val *items = ARENA_ARRAY(e->arena, Val, v.ty->n + 1);
    for (uint32_t i = 0; i < v.ty->n; i++) {
        items[i] = lists_now(e, span, v.items[i]);
        if (val_poisoned(items[i])) return items[i];
    }
    return (Val){.ty = ty_composite(e->types, TY_TUPLE, v.ty->sub, v.ty->n, items, v.ty->obj, v.ty->name, v.ty->fields),
                 .items = items};
}

/* ---- functions and methods ------------------------------------------------------------------------------------- */

/* Lists one of which grows; ty NULL: they aren't two lists. */
Val list_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b) {
    CallSite site = {.span = span, .name = "a comparison"};
    if (!(list_grows(a) && val_is_list(b)) && !(list_grows(b) && val_is_list(a))) return (Val){0};
    if (op == PYC_EQ || op == PYC_NE) {
        Val equal = call_sequence(e, &site, "list_equal", 2, (Val[]){a, b});
        return op == PYC_EQ || val_poisoned(equal) ? equal : eval_not(e, span, equal);
    }
    bool turned = op == PYC_GT || op == PYC_GE;
    return call_sequence(e, &site, op == PYC_LT || op == PYC_GT ? "list_less" : "list_less_or_equal", 2,
                         (Val[]){turned ? b : a, turned ? a : b});
}

Val list_contains(Eval *e, PySpan span, Val v, Val item) {
    CallSite site = {.span = span, .name = "in"};
    return call_sequence(e, &site, "list_contains", 2, (Val[]){v, item});
}

void list_delete(Eval *e, PySpan span, Val v, Val index) {
    CallSite site = {.span = span, .name = "del"};
    if (index.ty->kind == TY_SLICE)
        call_sequence(e, &site, "list_delete_slice", 4, (Val[]){v, index.items[0], index.items[1], index.items[2]});
    else call_sequence(e, &site, "list_pop", 2, (Val[]){v, index});
}

/* xs + ys and xs * n are new lists; xs += ys and xs *= n change xs. */
Val list_binary(Eval *e, PySpan span, PyBinary op, bool in_place, Val a, Val b) {
    CallSite site = {.span = span, .name = op == PYB_ADD ? "+=" : "*="};
    if (in_place && (op == PYB_ADD || op == PYB_MUL) && a.ty->kind == TY_LIST) {
        Val done = call_sequence(e, &site, op == PYB_ADD ? "list_extend" : "list_repeat", 2, (Val[]){a, b});
        return done.ty && val_poisoned(done) ? done : a;
    }
    if (op == PYB_ADD && val_is_list(a) && val_is_list(b) && (list_grows(a) || list_grows(b)))
        return call_sequence(e, &site, "list_joined", 2, (Val[]){a, b});
    Wide n;
    bool times = op == PYB_MUL && (val_is_scalar(a) || val_is_scalar(b)),
         known = val_as_int(a, &n) || val_as_int(b, &n);
    if (times && (!known || list_grows(a) || list_grows(b)))
        return call_sequence(e, &site, "list_times", 2, (Val[]){val_is_list(a) ? a : b, val_is_list(a) ? b : a});
    if (a.ty->kind == TY_LIST) a = list_now(e, span, a);
    if (b.ty->kind == TY_LIST) b = list_now(e, span, b);
    Val v = val_poisoned(a) || val_poisoned(b) ? val_poison(e) : eval_binary(e, span, op, a, b);
    return val_poisoned(v) || v.ty->kind != TY_TUPLE ? v : list_of(e, v.ty->n, v.items);
}

/* What takes a list that changes as it is. */
static bool takes_list(const char *path) {
    static const char *const those[] = {"len",  "enumerate", "zip",   "reversed", "isinstance", "type",
                                        "iter", "callable",  "print", "str",      "repr",       "format"};
    for (size_t i = 0; strncmp(path, "builtins.", 9) == 0 && i < sizeof those / sizeof *those; i++)
        if (strcmp(path + 9, those[i]) == 0) return true;
    static const char *const keep[] = {
        "list.",           "dict.", "namedtuple.", "dataclasses.", "operator.", "functools.partial", "builtins.getattr",
        "builtins.setattr"};
    for (size_t i = 0; i < sizeof keep / sizeof *keep; i++)
        if (strncmp(path, keep[i], strlen(keep[i])) == 0) return true;
    return false;
}

/* What is a loop over a list that grows, or gives another list. */
static const char *list_function(const char *path) {
    static const char *const those[] = {"sum", "min", "max", "any", "all", "list", "sorted"};
    const char *name = strncmp(path, "builtins.", 9) == 0 ? path + 9 : "";
    for (size_t i = 0; i < sizeof those / sizeof *those; i++)
        if (strcmp(name, those[i]) == 0) return name;
    return NULL;
}

/* A call of a device function some of whose arguments may be lists that change; ty NULL: they are in *out as what it
 * takes. */
Val call_with_lists(Eval *e, const CallSite *site, const DevFn *fn, uint32_t n, const Val *args, Val *out) {
    const char *name = list_function(fn->path);
    if (takes_list(fn->path)) {
        vals_copy(out, args, n);
        return (Val){0};
    }
    bool makes = name && (strcmp(name, "list") == 0 || strcmp(name, "sorted") == 0);
    if (name && n && args[0].ty->kind == TY_LIST && (makes || list(args[0])->grows))
        return call_sequence(e, site, arena_printf(e->arena, "list_%s", makes && *name == 'l' ? "copy" : name), n,
                             args);
    bool deep = strncmp(fn->path, "numpy.", 6) == 0 || strncmp(fn->path, "gpu.", 4) == 0;
    for (uint32_t i = 0; i < n; i++) {
        bool now = args[i].ty->kind == TY_LIST && i + site->nkw < n; /* its items may be lists that change, still */
        out[i] = deep ? lists_now(e, site->span, args[i]) : now ? list_now(e, site->span, args[i]) : args[i];
        if (val_poisoned(out[i])) return out[i];
    }
    return (Val){0};
}

/* param: 0 append, 1 pop, 2 one of gpu._sequences */
Val fn_list_method(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    if (site->fn->param == 1 && n == 1) return pop(e, site->span, args[0]);
    if (site->fn->param == 0) {
        if (n != 2 || site->nkw) return e_fail(e, site->span, NULL, DIAG_MISSING_ARG, site->name, "item");
        return list_append(e, site->span, args[0], args[1]);
    }
    return call_sequence(e, site, arena_printf(e->arena, "list_%s", strchr(site->fn->path, '.') + 1), n, args);
}
