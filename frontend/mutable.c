/* mutable.c - what changes after it was made: instances whose fields are assigned, variables that inner functions
 * share.
 *
 * Other values never change, and need no place. These are references to a place in the thread's own memory, so that
 * all names of an object see what is done to it, as in Python; LLVM puts the parts into registers where nothing hides
 * which object is meant. A Mutable stands for all objects that one instruction of a function makes from arguments of
 * the same types. Its items' types and constants join everything that is stored to them anywhere, so they are known
 * only when all of the kernel is inferred: a store that raises one has it inferred again. An item that is one constant
 * for ever takes no memory.
 *
 * An item that isn't assigned wherever the object is made has a mark beside it, which is tested when it is read. */
#include "arrays.h"

#include <string.h>

enum { MARK_BYTES = 4 };

Mutable *mutable_found(Mutable *m) {
    while (m->same) m = m->same;
    return m;
}

static bool same_key(const Mutable *m, uint32_t n, const Val *key) {
    if (m->nkey != n) return false;
    for (uint32_t i = 0; i < n; i++)
        if (m->key[i] != key[i].ty) return false;
    return true;
}

/* That of the instruction which is being evaluated. */
Mutable *mutable_here(Eval *e, TyKind kind, HostRef obj, uint32_t nkey, const Val *key) {
    const PyFunc *base = e->frame->inst->base;
    PyRef origin = e->frame->in ? e->frame->in->origin : 0;
    for (Mutable *m = e->mutables; m; m = m->next)
        if (m->base == base && m->origin == origin && m->kind == kind && m->obj == obj && same_key(m, nkey, key))
            return mutable_found(m);
    Mutable *m = ARENA_NEW(e->arena, Mutable);
    *m = (Mutable){.base = base, .origin = origin, .kind = kind, .obj = obj, .nkey = nkey, .next = e->mutables};
    Ty *types = ARENA_ARRAY(e->arena, Ty, nkey + 1);
    for (uint32_t i = 0; i < nkey; i++) types[i] = key[i].ty;
    m->key = types;
    e->mutables = m;
    return m;
}

Val mutable_reference(Eval *e, Mutable *m, Ref at) {
    Val *items = ARENA_NEW(e->arena, Val);
    *items = (Val){.ty = ty_ptr(e->types, T_PTRL), .ref = {at, REF_NONE}};
    return (Val){.ty = ty_made(e->types, m->kind, m->obj, m), .items = items};
}

/* ---- where items lie ------------------------------------------------------------------------------------- */
static void skip(uint32_t *at, uint32_t bytes) { *at = (*at + bytes - 1) / bytes * bytes + bytes; }

void mutable_skip(Val abs, uint32_t *at) {
    if (!abs.ty) return;
    if (abs.ty->kind == TY_PTR) skip(at, type_bytes((Type)abs.ty->space));
    if (abs.ty->kind == TY_SCALAR && !val_const(abs)) {
        uint32_t bytes = type_bytes(dtype_info[abs.ty->dtype].ir);
        skip(at, bytes);
        if (dt_is_complex(val_dtype(abs))) *at += bytes;
    }
    for (uint32_t i = 0; i < abs.ty->n; i++) mutable_skip(abs.items[i], at);
}

/* Item number k, or the end of all; its mark comes first. */
static uint32_t offset_of(const Mutable *m, uint32_t k) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < k; i++) {
        if (!m->items[i].sure) skip(&at, MARK_BYTES);
        mutable_skip(m->items[i].v, &at);
    }
    return at;
}

static Ref part_address(Eval *e, Ref at, uint32_t *offset, uint32_t bytes) {
    skip(offset, bytes);
    return record_offset(e, T_PTRL, at, *offset - bytes);
}

Val mutable_load(Eval *e, Val abs, Ref at, uint32_t *offset) {
    if (abs.ty->kind == TY_PTR) {
        Type t = (Type)abs.ty->space;
        abs.ref[0] = e_load(e, t, part_address(e, at, offset, type_bytes(t)));
    }
    if (abs.ty->kind == TY_SCALAR && !val_const(abs)) {
        Type t = dtype_info[abs.ty->dtype].ir;
        for (int i = 0; i < (dt_is_complex(val_dtype(abs)) ? 2 : 1); i++)
            abs.ref[i] = e_load(e, t, part_address(e, at, offset, type_bytes(t)));
    }
    if (!abs.ty->n) return abs;
    Val *items = ARENA_ARRAY(e->arena, Val, abs.ty->n);
    for (uint32_t i = 0; i < abs.ty->n; i++) items[i] = mutable_load(e, abs.items[i], at, offset);
    abs.items = items;
    return abs;
}

void mutable_store(Eval *e, Val abs, Val v, Ref at, uint32_t *offset) {
    if (abs.ty->kind == TY_PTR) e_store(e, part_address(e, at, offset, type_bytes((Type)abs.ty->space)), v.ref[0]);
    if (abs.ty->kind == TY_SCALAR && !val_const(abs)) {
        uint32_t bytes = type_bytes(dtype_info[abs.ty->dtype].ir);
        bool parts = dt_is_complex(val_dtype(abs));
        Ref re = parts ? val_re(e, v) : val_ref(e, v), im = parts ? val_im(e, v) : REF_NONE;
        e_store(e, part_address(e, at, offset, bytes), re);
        if (parts) e_store(e, part_address(e, at, offset, bytes), im);
    }
    for (uint32_t i = 0; i < abs.ty->n; i++) mutable_store(e, abs.items[i], v.items[i], at, offset);
}

/* ---- what items are --------------------------------------------------------------------------------------- */
static uint32_t find_item(const Mutable *m, const char *name) {
    uint32_t k = 0;
    while (k < m->nitems && strcmp(m->items[k].name, name) != 0) k++;
    return k;
}

static uint32_t add_item(Eval *e, Mutable *m, const char *name) {
    MutableItem *items = ARENA_ARRAY(e->arena, MutableItem, m->nitems + 1);
    for (uint32_t i = 0; i < m->nitems; i++) items[i] = m->items[i];
    items[m->nitems] = (MutableItem){.name = name};
    m->items = items;
    e->again = true;
    return m->nitems++;
}

/* The item takes what `v` is, too; false: they have no common type. */
static bool raise_item(Eval *e, Mutable *m, uint32_t k, Val v) {
    Val all;
    if (!val_join(e, m->items[k].v, v, &all)) return false;
    if (val_same(m->items[k].v, all)) return true;
    m->items[k].v = all;
    e->again = true;
    return true;
}

static bool fields_join(Eval *e, Mutable *x, const Mutable *y) {
    for (uint32_t i = 0; i < y->nitems; i++) {
        uint32_t k = find_item(x, y->items[i].name);
        if (k == x->nitems) add_item(e, x, y->items[i].name);
        else x->items[k].sure &= y->items[i].sure;
        if (!raise_item(e, x, k, y->items[i].v)) return false;
    }
    for (uint32_t i = 0; i < x->nitems; i++)
        if (find_item(y, x->items[i].name) == y->nitems) x->items[i].sure = false;
    return true;
}

bool mutable_join(Eval *e, Val a, Val b, Val *out) {
    Mutable *x = mutable_found(a.ty->made), *y = mutable_found(b.ty->made);
    if (x->kind != y->kind || x->obj != y->obj) return false;
    if (x != y) {
        if (!(x->kind == TY_LIST ? lists_join(e, x, y) : fields_join(e, x, y))) return false;
        y->same = x;
        x->merged = e->again = true;
    }
    *out = mutable_reference(e, x, REF_NONE);
    return true;
}

/* ---- making ------------------------------------------------------------------------------------------------ */
static void set_mark(Eval *e, const Mutable *m, Ref at, uint32_t k, bool assigned) {
    if (!m->items[k].sure) e_store(e, record_offset(e, T_PTRL, at, offset_of(m, k)), e_int(e, T_U32, assigned));
}

Val mutable_new(Eval *e, TyKind kind, HostRef obj, uint32_t nkey, const Val *key) {
    Mutable *m = mutable_here(e, kind, obj, nkey, key);
    uint32_t bytes = offset_of(m, m->nitems);
    Ref at = e_alloca(e, bytes ? bytes : 1);
    for (uint32_t k = 0; e->building && k < m->nitems; k++) {
        const MutableItem *item = &m->items[k];
        uint32_t offset = offset_of(m, k) + (item->sure ? 0 : MARK_BYTES);
        set_mark(e, m, at, k, item->initial.ty != NULL);
        if (item->initial.ty) mutable_store(e, item->v, val_coerce(e, item->initial, item->v), at, &offset);
    }
    return mutable_reference(e, m, at);
}

/* Runs the block on every way through the function? */
static bool always_runs(Eval *e, const PyFunc *f, PyBlockId b) {
    bool *seen = ARENA_ARRAY(e->arena, bool, f->blocks.n + 1);
    VEC(PyBlockId) todo = {0};
    seen[b] = true;
    if (b) VEC_PUSH(e->arena, &todo, 0);
    while (todo.n) {
        PyBlockId at = todo.at[--todo.n];
        const PyBlock *block = &f->blocks.at[at];
        if (seen[at]) continue;
        seen[at] = true;
        if (block->term == PYT_RETURN) return false;
        for (uint32_t s = 0; s < block->nsucc; s++) VEC_PUSH(e->arena, &todo, block->succ[s]);
    }
    return true;
}

/* Is what happens now a part of every making of the object? */
static bool is_always_made(Eval *e, const Mutable *m) {
    const Making *k = e->making;
    while (k && mutable_found(k->of) != m) k = k->around;
    if (!k) return false;
    for (const Frame *fr = e->frame; fr && fr != k->frame; fr = fr->caller)
        if (!fr->in || !always_runs(e, fr->inst->f, fr->in->block)) return false;
    return true;
}

/* ---- items --------------------------------------------------------------------------------------------------- */
bool holds_lazy(Ty ty) {
    if (ty->kind == TY_EXPR) return true;
    for (uint32_t i = 0; i < ty->n; i++)
        if (holds_lazy(ty->items[i])) return true;
    return false;
}

/* What is read from the item means nothing: a store to it is wrong, and that is reported. */
static Val item_failed(Eval *e, Mutable *m, uint32_t k) {
    e->again |= !e->building && !m->items[k].failed;
    m->items[k].failed = true;
    return val_poison(e);
}

Val mutable_failed(Eval *e, PySpan span, const char *help, const char *name, Val was, Val is) {
    bool lists = was.ty && is.ty && val_is_list(was) && val_is_list(is);
    if (lists && lists_change(e, was.ty->kind == TY_LIST ? is : was)) return val_poison(e);
    StoreFailure f = {name, val_text(e->types, was), val_text(e->types, is), e->frame->at};
    f.at.span = span;
    if (!e->failed_store.name) e->failed_store = f;
    return e_fail(e, span, help, DIAG_CANNOT_UNIFY, f.name, f.was, f.is);
}

static Val store_failed(Eval *e, PySpan span, const Mutable *m, uint32_t k, Val v) {
    const char *name = m->kind == TY_INSTANCE ? arena_printf(e->arena, ".%s", m->items[k].name) : m->items[k].name;
    return mutable_failed(e, span, "give it values of one type", name, m->items[k].v, v);
}

/* Is what is stored to the item wherever an object is made? If not, all begin with `initial`, if there is that. */
static void make_sure(Eval *e, Mutable *m, uint32_t k, bool sure, Val initial) {
    MutableItem *item = &m->items[k];
    if (item->sure || m->merged || e->building) return;
    item->sure = sure || is_always_made(e, m);
    if (!item->sure && initial.ty && !item->initial.ty && raise_item(e, m, k, initial)) {
        item->initial = val_abstract(e, initial);
        item->sure = true;
    }
    e->again |= item->sure;
}

/* `sure`: wherever such an object is made, this happens to it before it is read. POISON: reported. */
Val mutable_set(Eval *e, PySpan span, Val of, const char *name, Val v, bool sure, Val initial) {
    Mutable *m = mutable_found(of.ty->made);
    uint32_t k = find_item(m, name);
    if (k == m->nitems) {
        if (e->building) return val_poison(e); /* inference stored it, or reported why not */
        add_item(e, m, name);
    }
    if (v.ty->kind == TY_EXPR) v = many_array(e, span, v);
    if (val_poisoned(v)) return item_failed(e, m, k);
    if (holds_lazy(v.ty))
        return e_fail(e, span, "assign it to an array first", DIAG_CONSTRUCT, "an array expression in this",
                      "its elements aren't computed yet");
    if (!raise_item(e, m, k, v)) {
        store_failed(e, span, m, k, v);
        return item_failed(e, m, k);
    }
    make_sure(e, m, k, sure, initial);
    if (!e->building) return of;
    uint32_t at = offset_of(m, k);
    set_mark(e, m, of.items[0].ref[0], k, true);
    if (!m->items[k].sure) at += MARK_BYTES;
    mutable_store(e, m->items[k].v, val_coerce(e, v, m->items[k].v), of.items[0].ref[0], &at);
    return of;
}

static void check_mark(Eval *e, PySpan span, const Mutable *m, Ref object, uint32_t *at, const char *name) {
    Ref mark = e_load(e, T_U32, part_address(e, object, at, MARK_BYTES));
    bool field = m->kind == TY_INSTANCE;
    e_raise_if(e, span, e_cmp(e, PRED_EQ, mark, e_int(e, T_U32, 0)), field ? "AttributeError" : "NameError",
               field ? arena_printf(e->arena, "'%s' was not assigned in this object", name)
                     : arena_printf(e->arena, "variable '%s' has no value yet", name));
}

/* ty NULL: there is no such item. */
Val mutable_get(Eval *e, PySpan span, Val of, const char *name) {
    Mutable *m = mutable_found(of.ty->made);
    uint32_t k = find_item(m, name);
    if (k == m->nitems) return (Val){0};
    if (!m->items[k].v.ty || m->items[k].failed) return val_poison(e);
    if (!e->building) return m->items[k].v;
    uint32_t at = offset_of(m, k);
    if (!m->items[k].sure) check_mark(e, span, m, of.items[0].ref[0], &at, name);
    return mutable_load(e, m->items[k].v, of.items[0].ref[0], &at);
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */
Val mutable_like(Eval *e, Val abstract) {
    Mutable *m = mutable_found(abstract.ty->made);
    return mutable_reference(e, m, e_alloca(e, offset_of(m, m->nitems) + 1));
}

static void copy_part(Eval *e, EdgeCopies *c, Type t, Ref to, Ref from, uint32_t *offset) {
    Ref part = e_load(e, t, part_address(e, from, offset, type_bytes(t)));
    EdgeCopy one = {.to = record_offset(e, T_PTRL, to, *offset - type_bytes(t)), .part = part};
    VEC_PUSH(e->arena, c, one);
}

static void copy_parts(Eval *e, EdgeCopies *c, Val abs, Ref to, Ref from, uint32_t *offset) {
    if (!abs.ty) return;
    if (abs.ty->kind == TY_PTR) copy_part(e, c, (Type)abs.ty->space, to, from, offset);
    if (abs.ty->kind == TY_SCALAR && !val_const(abs))
        for (int i = 0; i < (dt_is_complex(val_dtype(abs)) ? 2 : 1); i++)
            copy_part(e, c, dtype_info[abs.ty->dtype].ir, to, from, offset);
    for (uint32_t i = 0; i < abs.ty->n; i++) copy_parts(e, c, abs.items[i], to, from, offset);
}

/* Building only: reads what `from` is; edge_write() makes `to` that. */
void mutable_copy(Eval *e, EdgeCopies *c, Val to, Val from) {
    const Mutable *m = mutable_found(to.ty->made);
    uint32_t offset = 0;
    for (uint32_t k = 0; k < m->nitems; k++) {
        if (!m->items[k].sure) copy_part(e, c, T_U32, to.items[0].ref[0], from.items[0].ref[0], &offset);
        copy_parts(e, c, m->items[k].v, to.items[0].ref[0], from.items[0].ref[0], &offset);
    }
}

/* ---- instances --------------------------------------------------------------------------------------------------- */
bool class_changes(const Eval *e, HostRef cls) {
    for (uint32_t i = 0; i < e->changing.n; i++)
        if (e->host->same(e->host->self, e->changing.at[i], cls)) return true;
    return false;
}

/* Fields of its instances are assigned: from now on they are references. False: they have been already. */
bool change_class(Eval *e, HostRef cls) {
    if (e->building || class_changes(e, cls)) return false;
    VEC_PUSH(e->arena, &e->changing, cls);
    e->again = true;
    return true;
}

/* An instance with these fields, as one that may change, if its class does. */
Val instance_made(Eval *e, PySpan span, Val v, uint32_t nkey, const Val *key) {
    if (v.ty->kind != TY_INSTANCE || v.ty->sub == 2 || !class_changes(e, v.ty->obj)) return v;
    Val made = mutable_new(e, TY_INSTANCE, v.ty->obj, nkey, key);
    for (uint32_t i = 0; i < v.ty->n; i++)
        if (val_poisoned(mutable_set(e, span, made, v.ty->fields[i], v.items[i], true, (Val){0}))) return val_poison(e);
    return made;
}

/* What it is now, as a value; other values as they are. */
Val instance_now(Eval *e, PySpan span, Val v) {
    if (val_poisoned(v) || v.ty->kind != TY_INSTANCE || v.ty->sub != 2) return v;
    const Mutable *m = mutable_found(v.ty->made);
    Val *items = ARENA_ARRAY(e->arena, Val, m->nitems + 1);
    const char **names = ARENA_ARRAY(e->arena, const char *, m->nitems + 1);
    for (uint32_t i = 0; i < m->nitems; i++) {
        names[i] = m->items[i].name;
        items[i] = mutable_get(e, span, v, names[i]);
        if (val_poisoned(items[i])) return items[i];
    }
    return (Val){.ty = ty_composite(e->types, TY_INSTANCE, 0, m->nitems, items, v.ty->obj, NULL, names),
                 .items = items};
}

/* The names of the fields it may have. */
uint32_t instance_names(Eval *e, Val v, const char *const **names) {
    if (!v.ty->made) {
        *names = v.ty->fields;
        return v.ty->fields ? v.ty->n : 0;
    }
    const Mutable *m = mutable_found(v.ty->made);
    const char **all = ARENA_ARRAY(e->arena, const char *, m->nitems + 1);
    for (uint32_t i = 0; i < m->nitems; i++) all[i] = m->items[i].name;
    *names = all;
    return v.ty->kind == TY_INSTANCE ? m->nitems : 0; /* items of lists have none */
}
