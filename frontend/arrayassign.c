/* arrayassign.c - assignment to the elements of a view, from a number, an array or an expression.
 *
 * NumPy computes the right side before it stores anything. Here a small one is read before the first store, too; any
 * other is computed and stored element by element, which is the same unless a source overlaps the target. Where that
 * can't be ruled out, a check before the loop looks where the arrays lie: shifted by whole elements, the right
 * direction of the loop makes it the same (as in memmove); what no direction makes right is a ValueError. */
#include "arrays.h"

/* ---- where arrays lie -------------------------------------------------------------------------------- */
static Ref root_of(const Eval *e, Ref p) {
    while (p != REF_NONE && e->m->instrs.at[p].op == OP_ADDR) p = e->m->instrs.at[p].args[0];
    return p;
}

static bool same_value(Val a, Val b) {
    return val_const(a) ? val_const(b) && a.i == b.i : !val_const(b) && a.ref[0] == b.ref[0];
}

/* The same elements at the same indices. */
static bool identical(Eval *e, Val a, Val b) {
    if (array_data(a) != array_data(b) || a.ty->ndim != b.ty->ndim || a.ty->dtype != b.ty->dtype ||
        a.ty->record != b.ty->record)
        return false;
    for (uint32_t k = 0; k < a.ty->ndim; k++)
        if (!same_value(array_size(a, k), array_size(b, k))) return false;
    if (a.ty->layout != LAYOUT_A || b.ty->layout != LAYOUT_A) return a.ty->layout == b.ty->layout;
    for (uint32_t k = 0; k < a.ty->ndim; k++)
        if (!same_value(array_stride(e, a, k), array_stride(e, b, k))) return false;
    return true;
}

static bool is_dynamic(const Eval *e, const Instr *in) {
    return in->op == OP_SHARED && e->m->shared.at[in->imm].dynamic;
}

static bool disjoint(const Eval *e, Val a, Val b) {
    if (a.ty->space != b.ty->space) return true;
    Ref p = root_of(e, array_data(a)), q = root_of(e, array_data(b));
    if (p == REF_NONE || q == REF_NONE || p == q) return false;
    const Instr *x = &e->m->instrs.at[p], *y = &e->m->instrs.at[q];
    if (x->op != y->op) return false;
    if (x->op == OP_ALLOCA || x->op == OP_DATA) return true;
    if (x->op == OP_SHARED) return x->imm != y->imm && !(is_dynamic(e, x) && is_dynamic(e, y));
    if (x->op != OP_PARAM || !(e->req->facts & FACT_NOALIAS)) return false;
    const IrParam *one = &e->m->params.at[x->imm], *other = &e->m->params.at[y->imm];
    return (one->kind != PARAM_CAPTURED || one->flags) && (other->kind != PARAM_CAPTURED || other->flags);
}

/* The first byte of an array, and the one after the last. */
static void extent(Eval *e, Val a, Ref *low, Ref *high) {
    Val first = val_int(e, 0), last = val_int(e, elem_size(elem_of(a.ty))), one = val_int(e, 1), zero = val_int(e, 0);
    for (uint32_t k = 0; k < a.ty->ndim; k++) {
        Val span = size_op(e, PYB_MUL, size_op(e, PYB_SUB, array_size(a, k), one), array_stride(e, a, k));
        first = size_op(e, PYB_ADD, first, size_minmax(e, OP_MIN, span, zero));
        last = size_op(e, PYB_ADD, last, size_minmax(e, OP_MAX, span, zero));
    }
    *low = e_emit(e, OP_ADDR, (Type)a.ty->space, 2, (Ref[]){array_data(a), val_ref(e, first)}, 0, 1);
    *high = e_emit(e, OP_ADDR, (Type)a.ty->space, 2, (Ref[]){array_data(a), val_ref(e, last)}, 0, 1);
}

static Ref both(Eval *e, Ref a, Ref b) { return e_op2(e, OP_AND, T_BOOL, a, b); }
static Ref either(Eval *e, Ref a, Ref b) { return e_op2(e, OP_OR, T_BOOL, a, b); }

static Ref moved(Eval *e, Val a, Ref bytes) {
    return e_emit(e, OP_ADDR, (Type)a.ty->space, 2, (Ref[]){array_data(a), bytes}, 0, 1);
}

/* Does an element of `a` end where the next of `b` begins at the latest, and that before the next of `a`? */
static Ref between(Eval *e, Val a, Val b, Ref step) {
    Ref a_size = e_int(e, T_I64, elem_size(elem_of(a.ty))), b_size = e_int(e, T_I64, elem_size(elem_of(b.ty)));
    Ref before = e_cmp(e, PRED_LE, moved(e, a, a_size), array_data(b));
    return both(e, before, e_cmp(e, PRED_LE, moved(e, b, b_size), moved(e, a, step)));
}

/* Elements that lie between each other, as those of two fields of the same records do. */
static Ref interleaved(Eval *e, Val a, Val b) {
    uint32_t ndim = a.ty->ndim;
    if (!ndim || b.ty->ndim != ndim || a.ty->layout != LAYOUT_A || b.ty->layout != LAYOUT_A) return e_int(e, T_BOOL, 0);
    Ref step = val_ref(e, array_stride(e, a, ndim - 1)), yes = e_cmp(e, PRED_GT, step, e_int(e, T_I64, 0));
    for (uint32_t k = 0; k < ndim; k++) {
        Ref stride = val_ref(e, array_stride(e, a, k)), rest = e_op2(e, OP_FLOORMOD, T_I64, stride, step);
        yes = both(e, yes, e_cmp(e, PRED_EQ, stride, val_ref(e, array_stride(e, b, k))));
        yes = both(e, yes, e_cmp(e, PRED_EQ, rest, e_int(e, T_I64, 0)));
    }
    return both(e, yes, either(e, between(e, a, b, step), between(e, b, a, step)));
}

/* Do the elements of the target lie in the order of the loop, and those of the source as they do? Then `up`: is that
 * towards higher addresses? */
static Ref in_step(Eval *e, Val target, Val source, Ref *up) {
    uint32_t ndim = target.ty->ndim;
    Ref yes =
            e_int(e, T_BOOL, source.ty->ndim == ndim && elem_size(elem_of(source.ty)) == elem_size(elem_of(target.ty))),
        zero = e_int(e, T_I64, 0);
    if (source.ty->ndim != ndim || elem_size(elem_of(source.ty)) != elem_size(elem_of(target.ty))) return *up = yes;
    *up = e_cmp(e, PRED_GE, val_ref(e, array_stride(e, target, 0)), zero);
    for (uint32_t k = 0; k < ndim; k++) {
        Ref stride = val_ref(e, array_stride(e, target, k));
        yes = both(e, yes, e_cmp(e, PRED_EQ, stride, val_ref(e, array_stride(e, source, k))));
        yes = both(e, yes, e_cmp(e, PRED_EQ, val_ref(e, array_size(target, k)), val_ref(e, array_size(source, k))));
        if (k + 1 == ndim) break;
        Val inner = size_op(e, PYB_MUL, array_stride(e, target, k + 1), array_size(target, k + 1));
        yes = both(e, yes, e_cmp(e, PRED_GE, stride, val_ref(e, inner)));
        yes = both(e, yes, e_cmp(e, PRED_GE, val_ref(e, array_stride(e, target, k + 1)), zero));
    }
    return yes;
}

/* Does the source, of one axis, go through the target's elements from the last to the first? */
static Ref mirrored(Eval *e, Val target, Val source) {
    Ref no = e_int(e, T_BOOL, false);
    if (source.ty->ndim != 1 || target.ty->ndim != 1 || source.ty->dtype != target.ty->dtype) return no;
    if (source.ty->dtype == DT_RECORD) return no; /* reading one copies nothing */
    Val size = array_size(target, 0), stride = array_stride(e, target, 0);
    Val back = size_op(e, PYB_SUB, val_int(e, 0), stride);
    Val last = size_op(e, PYB_MUL, size_op(e, PYB_SUB, size, val_int(e, 1)), stride);
    Ref end = e_emit(e, OP_ADDR, (Type)target.ty->space, 2, (Ref[]){array_data(target), val_ref(e, last)}, 0, 1);
    Ref same = e_cmp(e, PRED_EQ, val_ref(e, back), val_ref(e, array_stride(e, source, 0)));
    same = both(e, same, e_cmp(e, PRED_EQ, val_ref(e, size), val_ref(e, array_size(source, 0))));
    return both(e, same, e_cmp(e, PRED_EQ, end, array_data(source)));
}

/* Do the source and the target share no memory? */
static Ref lies_apart(Eval *e, Val target, Val source) {
    Ref from, to, low, high;
    extent(e, target, &low, &high);
    extent(e, source, &from, &to);
    Ref apart = either(e, e_cmp(e, PRED_LE, high, from), e_cmp(e, PRED_LE, to, low));
    return target.ty->layout == LAYOUT_A ? either(e, apart, interleaved(e, target, source)) : apart;
}

/* How target = value is stored element by element so that no element is read after it was written: bools, or REF_NONE
 * if nothing overlaps. Neither: in C order. */
typedef struct Way {
    Ref backward; /* from the last element to the first */
    Ref pairs;    /* the first and the last together, and so on to the middle */
} Way;

static void narrow(Eval *e, Ref *all, Ref one) { *all = *all == REF_NONE ? one : both(e, *all, one); }

/* Emits the check, which raises if there is no way. */
static Way find_way(Eval *e, PySpan span, Val target, uint32_t n, const Leaf *leaves) {
    Ref forward = REF_NONE, backward = REF_NONE, pairs = REF_NONE;
    for (uint32_t i = 0; i < n; i++) {
        Val leaf = leaves[i].array;
        if ((identical(e, target, leaf) && !leaves[i].scattered) || disjoint(e, target, leaf)) continue;
        Ref up, apart = lies_apart(e, target, leaf);
        if (leaves[i].scattered) {
            narrow(e, &forward, apart);
            narrow(e, &backward, apart);
            narrow(e, &pairs, apart);
            continue;
        }
        Ref steps = in_step(e, target, leaf, &up), p = array_data(target), q = array_data(leaf);
        Ref above = e_cmp(e, PRED_GE, q, p), below = e_cmp(e, PRED_LE, q, p);
        narrow(e, &forward, either(e, apart, both(e, steps, e_select(e, T_BOOL, up, above, below))));
        narrow(e, &backward, either(e, apart, both(e, steps, e_select(e, T_BOOL, up, below, above))));
        Ref same = both(e, steps, e_cmp(e, PRED_EQ, p, q));
        narrow(e, &pairs, either(e, either(e, apart, same), mirrored(e, target, leaf)));
    }
    if (forward == REF_NONE) return (Way){REF_NONE, REF_NONE};
    Ref known = either(e, forward, backward);
    Ref none = e_op1(e, OP_NOT, T_BOOL, either(e, known, pairs));
    for (uint32_t k = 0; k < target.ty->ndim; k++)
        none = both(e, none, e_cmp(e, PRED_GT, val_ref(e, array_size(target, k)), e_int(e, T_I64, 0)));
    e_raise_if(e, span, none, "ValueError", "the arrays of this assignment overlap: copy the source first");
    Way w = {e_op1(e, OP_NOT, T_BOOL, forward), REF_NONE};
    if (target.ty->ndim == 1) w.pairs = e_op1(e, OP_NOT, T_BOOL, known);
    return w;
}

void array_read_ahead(Eval *e, PySpan span, Val target, Val value) {
    Leaf leaf[MAX_LEAVES];
    uint32_t n = many_leaves(value, leaf, 0);
    if (!e->building) return;
    Way way = find_way(e, span, target, n < MAX_LEAVES ? n : MAX_LEAVES, leaf);
    if (way.backward != REF_NONE)
        e_raise_if(e, span, way.backward, "ValueError", "out overlaps the source: copy the source first");
}

void array_keep_apart(Eval *e, PySpan span, Val target, Val value) {
    Leaf leaf[MAX_LEAVES];
    uint32_t n = many_leaves(value, leaf, 0);
    for (uint32_t i = 0; e->building && i < n && i < MAX_LEAVES; i++)
        if (!disjoint(e, target, leaf[i].array))
            e_raise_if(e, span, e_op1(e, OP_NOT, T_BOOL, lies_apart(e, target, leaf[i].array)), "ValueError",
                       "the arrays of this assignment overlap: copy the source first");
}

/* ---- stores ------------------------------------------------------------------------------------------ */
typedef struct Fill {
    PySpan span;
    Val target, value;
} Fill;

void array_put(Eval *e, PySpan span, Val target, const Val *index, Val v) {
    Ref p = array_at(e, target, index, target.ty->ndim);
    if (target.ty->dtype == DT_RECORD) record_store(e, span, record_target(e, target.ty, p), v);
    else if (v.ty->kind == TY_RECORD)
        e_fail(e, e->value_span.line ? e->value_span : span, "name a field of the records", DIAG_STORE_TYPE,
               e_text(e, target), e_text(e, v));
    else array_store(e, elem_of(target.ty), p, v);
}

static void fill_one(Eval *e, void *context, const Val *index) {
    const Fill *f = context;
    array_put(e, f->span, f->target, index, f->value);
}

static void store_one(Eval *e, void *context, const Val *index, Val element) {
    const Fill *f = context;
    array_put(e, f->span, f->target, index, element);
}

/* All elements are read before the first is stored. */
static void assign_small(Eval *e, PySpan span, Val target, Val value, Wide total) {
    uint32_t ndim = target.ty->ndim;
    Val *x = ARENA_ARRAY(e->arena, Val, (size_t)total + 1), index[MAX_NDIM];
    value = many_stretched(e, span, value, ndim, target.items + 1);
    for (Wide i = 0; i < total; i++) {
        index_of(e, ndim, target.items + 1, i, index);
        x[i] = many_element(e, span, value, ndim, index);
        if (val_poisoned(x[i])) return;
    }
    for (Wide i = 0; i < total; i++) {
        index_of(e, ndim, target.items + 1, i, index);
        array_put(e, span, target, index, x[i]);
    }
}

static void store_pair(Eval *e, void *context, const Val *index) {
    const Fill *f = context;
    Val last = size_op(e, PYB_SUB, array_size(f->target, 0), val_int(e, 1));
    Val other = size_op(e, PYB_SUB, last, index[0]);
    Val x = many_element(e, f->span, f->value, 1, index), y = many_element(e, f->span, f->value, 1, &other);
    if (val_poisoned(x) || val_poisoned(y)) return;
    array_put(e, f->span, f->target, index, x);
    array_put(e, f->span, f->target, &other, y);
}

static void store_pairs(Eval *e, Fill f) {
    Val n = size_op(e, PYB_ADD, array_size(f.target, 0), val_int(e, 1)),
        half = size_op(e, PYB_FLOORDIV, n, val_int(e, 2));
    f.value = many_stretched(e, f.span, f.value, 1, f.target.items + 1);
    for_each_index(e, 1, &half, REF_NONE, store_pair, &f);
}

/* NumPy drops axes of size 1 in front. */
static Val drop_axes(Eval *e, PySpan span, Val value, uint32_t ndim) {
    Wide n;
    while (value.ty->ndim > ndim && value.ty->kind == TY_ARRAY && val_as_int(array_size(value, 0), &n) && n == 1)
        value = array_element(e, span, value, val_int(e, 0));
    return value;
}

static bool fits(Val target, Val value) {
    uint32_t skip = (uint32_t)target.ty->ndim - value.ty->ndim;
    if (value.ty->ndim > target.ty->ndim) return false;
    for (uint32_t k = 0; k < value.ty->ndim; k++) {
        Wide n, m;
        if (val_as_int(many_size(value, k), &n) && n != 1 && val_as_int(array_size(target, skip + k), &m) && n != m)
            return false;
    }
    return true;
}

bool array_fits(Eval *e, PySpan span, Val target, Val *value) {
    if (!val_is_many(*value)) return true;
    *value = drop_axes(e, span, *value, target.ty->ndim);
    if (fits(target, *value)) return true;
    e_fail(e, span, "sizes are equal, or the value's is 1", DIAG_ASSIGN_SHAPE,
           shape_text(e, value->ty->ndim, many_shape(*value)), shape_text(e, target.ty->ndim, target.items + 1));
    return false;
}

static void assign_many(Eval *e, PySpan span, Val target, Val value) {
    Leaf leaf[MAX_LEAVES];
    uint32_t ndim = target.ty->ndim, n = many_leaves(value, leaf, 0);
    Wide total;
    if (n > MAX_LEAVES) {
        e_fail(e, span, "assign it in steps", DIAG_CONSTRUCT, "this expression", "it has more than 32 arrays");
        return;
    }
    bool references = value.ty->dtype == DT_RECORD; /* reading an element copies nothing */
    if (!references && sizes_known(ndim, target.items + 1, &total) && total <= SMALL_ELEMENTS) {
        assign_small(e, span, target, value, total);
        return;
    }
    Fill f = {span, target, value};
    Way way = find_way(e, span, target, n, leaf);
    if (way.pairs == REF_NONE || references) {
        many_walk(e, span, value, ndim, target.items + 1, way.backward, store_one, &f);
        return;
    }
    BlockId pairs = e_new_block(e), others = e_new_block(e), done = e_new_block(e);
    e_branch(e, way.pairs, pairs, others);
    e_set_block(e, pairs);
    store_pairs(e, f);
    e_jump(e, done);
    e_set_block(e, others);
    many_walk(e, span, value, ndim, target.items + 1, way.backward, store_one, &f);
    e_jump(e, done);
    e_set_block(e, done);
}

void array_assign(Eval *e, PySpan span, Val target, Val value) {
    PySpan at = e->value_span.line ? e->value_span : span;
    if (value.ty->kind == TY_TUPLE && target.ty->dtype != DT_RECORD) value = array_from_sequence(e, at, value, DT_NONE);
    if (val_poisoned(value)) return;
    if (val_is_scalar(value) || value.ty->kind == TY_RECORD || value.ty->kind == TY_TIME) {
        bool convert = target.ty->dtype != DT_RECORD && val_is_scalar(value); /* once, before the loop */
        Fill f = {span, target, convert ? array_stored(e, at, val_dtype(target), value) : value};
        if (!val_poisoned(f.value)) for_each_index(e, target.ty->ndim, target.items + 1, REF_NONE, fill_one, &f);
        return;
    }
    if (!val_is_many(value)) {
        e_fail(e, at, value.ty->kind == TY_TUPLE ? "assign to one record at a time" : NULL, DIAG_STORE_TYPE,
               e_text(e, target), e_text(e, value));
        return;
    }
    if (!e->building || !many_fresh(e, at, value)) return;
    if (array_fits(e, at, target, &value)) assign_many(e, span, target, value);
}

/* ---- a mask ------------------------------------------------------------------------------------------ */
static void store_where(Eval *e, const Fill *f, const Val *index, Val chosen) {
    BlockId store = e_new_block(e), done = e_new_block(e);
    e_branch(e, val_ref(e, chosen), store, done);
    e_set_block(e, store);
    Val v = val_is_many(f->value) ? many_element(e, f->span, f->value, f->target.ty->ndim, index) : f->value;
    if (!val_poisoned(v)) array_put(e, f->span, f->target, index, v);
    e_jump(e, done);
    e_set_block(e, done);
}

static void store_chosen(Eval *e, void *context, const Val *index, Val chosen) {
    if (!val_poisoned(chosen)) store_where(e, context, index, chosen);
}

/* The whole mask is read before the first store. */
static void store_small(Eval *e, const Fill *f, Val mask, Wide total) {
    uint32_t ndim = f->target.ty->ndim;
    Val *chosen = ARENA_ARRAY(e->arena, Val, (size_t)total + 1), index[MAX_NDIM];
    for (Wide i = 0; i < total; i++) {
        index_of(e, ndim, f->target.items + 1, i, index);
        chosen[i] = many_element(e, f->span, mask, ndim, index);
        if (val_poisoned(chosen[i])) return;
    }
    for (Wide i = 0; i < total; i++) {
        index_of(e, ndim, f->target.items + 1, i, index);
        store_where(e, f, index, chosen[i]);
    }
}

/* A mask has the array's shape, without broadcasting; false: reported. */
bool array_mask_matches(Eval *e, PySpan span, Val target, Val mask) {
    Ref differs = REF_NONE;
    for (uint32_t k = 0; k < target.ty->ndim; k++) {
        Val n = array_size(target, k), m = many_size(mask, k);
        if (same_value(n, m)) continue;
        if (val_const(n) && val_const(m)) {
            e_fail(e, span, "a mask has the shape of its array", DIAG_ASSIGN_SHAPE,
                   shape_text(e, mask.ty->ndim, many_shape(mask)), shape_text(e, target.ty->ndim, target.items + 1));
            return false;
        }
        Ref one = e_cmp(e, PRED_NE, val_ref(e, n), val_ref(e, m));
        differs = differs == REF_NONE ? one : either(e, differs, one);
    }
    if (differs != REF_NONE)
        e_raise_if(e, span, differs, "IndexError", "boolean index did not match indexed array: their shapes differ");
    return true;
}

void array_assign_masked(Eval *e, PySpan span, Val target, Val mask, Val value) {
    PySpan at = e->value_span.line ? e->value_span : span;
    Leaf leaf[MAX_LEAVES];
    bool as_it_is = target.ty->dtype == DT_RECORD || val_is_many(value);
    Fill f = {span, target, as_it_is ? value : array_stored(e, at, val_dtype(target), value)};
    if (val_poisoned(f.value) || !e->building || !many_fresh(e, span, mask) ||
        !array_mask_matches(e, span, target, mask))
        return;
    uint32_t ndim = target.ty->ndim, n = many_leaves(mask, leaf, 0);
    Wide total;
    if (n > MAX_LEAVES) {
        e_fail(e, span, "make the mask in steps", DIAG_CONSTRUCT, "this expression", "it has more than 32 arrays");
        return;
    }
    if (sizes_known(ndim, target.items + 1, &total) && total <= SMALL_ELEMENTS) {
        store_small(e, &f, mask, total);
        return;
    }
    Way way = find_way(e, span, target, n, leaf);
    if (way.pairs != REF_NONE)
        e_raise_if(e, span, way.pairs, "ValueError", "the mask overlaps its array: make it of a copy");
    many_walk(e, span, mask, ndim, target.items + 1, way.backward, store_chosen, &f);
}

/* ---- in place ---------------------------------------------------------------------------------------- */
/* NumPy's casting="same_kind". */
static bool same_kind(DType from, DType to) {
    static const uint8_t rank[] = {[DK_BOOL] = 0, [DK_UINT] = 1, [DK_INT] = 2, [DK_FLOAT] = 3, [DK_COMPLEX] = 4};
    return rank[dtype_info[from].kind] <= rank[dtype_info[to].kind];
}

Val array_changed(Eval *e, PySpan span, PyBinary op, Val target, Val value) {
    Val x[] = {target, value}, r = array_lazy(e, span, (ExprOp){EXPR_BINARY, (uint8_t)op, NULL}, 2, x);
    if (val_poisoned(r)) return r;
    if (!e_numba(e) && !same_kind(val_dtype(r), val_dtype(target)))
        return e_fail(e, span, "write a = a + b, which makes a new array, or convert the right side", DIAG_IN_PLACE,
                      dtype_info[r.ty->dtype].name, e_text(e, target));
    return r;
}

Val array_in_place(Eval *e, PySpan span, PyBinary op, Val target, Val value) {
    if (!array_writable(e, span, target)) return val_poison(e);
    Val r = array_changed(e, span, op, target, value);
    if (val_poisoned(r)) return r;
    array_assign(e, span, target, r);
    return target;
}
