/* takes.c - arrays of integers as indices: x[[0, 2]], x[rows, columns], x[i, :, list], x[np.ix_(rows, columns)].
 *
 * They are broadcast together, and what they take is a copy. It is an expression (EXPR_TAKE) of a view, whose first
 * axes the indices go along, and of the indices; a result of known size is computed at once. As in NumPy the axes of
 * the indices stand where the first index stood if no slice lies between the indices, and else in front; single
 * integers count as indices for that. */
#include "arrays.h"

#include <string.h>

typedef struct Take {
    Val base;         /* its first n axes are those of the indices */
    Val at[MAX_NDIM]; /* arrays */
    uint32_t n, place, ndim;
    Val shape[MAX_NDIM];     /* of the result */
    char axes[MAX_NDIM + 1]; /* of the array that is indexed, as letters */
} Take;

/* ---- what is an array of indices --------------------------------------------------------------------- */
static bool holds_integers(Val v) {
    if (val_poisoned(v)) return false;
    if (val_is_many(v)) return dt_is_int(val_dtype(v));
    if (val_is_scalar(v)) return dt_is_int(val_dtype(v)) || (val_const(v) && v.ty->dtype == DT_BOOL);
    for (uint32_t i = 0; v.ty->kind == TY_TUPLE && i < v.ty->n; i++)
        if (!holds_integers(v.items[i])) return false;
    return v.ty->kind == TY_TUPLE;
}

/* A list as the tuple of its items; others as they are. */
static Val known_items(Eval *e, PySpan span, Val v) {
    v = list_items(e, v);
    if (v.ty->kind == TY_LIST) return list_grows(v) ? v : list_now(e, span, v);
    return v;
}

static bool is_index_array(Eval *e, PySpan span, Val v) {
    if (val_poisoned(v)) return false;
    if (val_is_many(v)) return v.ty->ndim && dt_is_int(val_dtype(v));
    bool building = e->building;
    e->building = false; /* only types are asked for */
    v = known_items(e, span, v);
    e->building = building;
    return !val_poisoned(v) && v.ty->kind == TY_TUPLE && holds_integers(v);
}

bool index_takes(Eval *e, PySpan span, Val a, Val index) {
    if (val_poisoned(a) || val_poisoned(index) || a.ty->kind != TY_ARRAY || a.ty->weak) return false;
    if (val_is_list(index) || val_is_many(index)) return is_index_array(e, span, index);
    bool any = false;
    for (uint32_t i = 0; index.ty->kind == TY_TUPLE && i < index.ty->n; i++)
        any |= is_index_array(e, span, index.items[i]);
    return any;
}

/* A mask of constants as the numbers of those that are true. */
static Val chosen(Eval *e, PySpan span, Val mask, Val size) {
    Val *items = ARENA_ARRAY(e->arena, Val, mask.ty->n + 1);
    uint32_t n = 0;
    Ref differs = e_cmp(e, PRED_NE, val_ref(e, size), e_int(e, T_I64, mask.ty->n));
    e_raise_if(e, span, differs, "IndexError", "boolean index did not match indexed array: their shapes differ");
    for (uint32_t i = 0; i < mask.ty->n; i++)
        if (mask.items[i].i) items[n++] = val_int(e, i);
    return val_tuple(e, n, items);
}

static bool is_mask_of_constants(Val v) {
    bool all = v.ty->kind == TY_TUPLE && v.ty->n;
    for (uint32_t i = 0; all && i < v.ty->n; i++)
        all = val_is_scalar(v.items[i]) && v.items[i].ty->dtype == DT_BOOL && val_const(v.items[i]);
    return all;
}

/* Constants are in range; false: reported. */
static bool in_range(Eval *e, PySpan span, Val v, Val size, uint32_t axis) {
    if (val_is_scalar(v)) return !val_const(v) || !val_poisoned(index_wrapped(e, span, v, size, axis));
    for (uint32_t i = 0; v.ty->kind == TY_TUPLE && i < v.ty->n; i++)
        if (!in_range(e, span, v.items[i], size, axis)) return false;
    return true;
}

static Val index_array(Eval *e, PySpan span, Val v, Val size, uint32_t axis) {
    if (val_is_many(v)) return many_fresh(e, span, v) ? v : val_poison(e);
    v = known_items(e, span, v);
    if (val_poisoned(v)) return v;
    if (is_mask_of_constants(v)) v = chosen(e, span, v, size);
    if (!in_range(e, span, v, size, axis)) return val_poison(e);
    Val a = array_from_sequence(e, span, v, v.ty->n ? DT_NONE : DT_I64);
    if (val_poisoned(a) || dt_is_int(val_dtype(a))) return a;
    return e_fail(e, span, "a list is of integers, or a mask of True and False", DIAG_INDEX_TYPE, e_text(e, a));
}

/* ---- which elements they are ------------------------------------------------------------------------- */

/* Do other items of the subscript lie between the indices? */
static bool are_apart(Eval *e, PySpan span, Val index) {
    uint32_t state = 0; /* 1: in the first indices, 2: after them */
    for (uint32_t i = 0; i < index.ty->n; i++) {
        Val v = index.items[i];
        bool one = val_is_scalar(v) || is_index_array(e, span, v) || (val_is_many(v) && !v.ty->ndim);
        if (one && state == 2) return true;
        if (one) state = 1;
        else if (state == 1) state = 2;
    }
    return false;
}

/* The array with whole slices in place of the indices; false: reported. */
static bool find_base(Eval *e, PySpan span, Val a, Subscript *s, Take *t) {
    Val none = val_none(e), whole = val_composite(e, TY_SLICE, 0, 3, (Val[]){none, none, none});
    uint32_t order[MAX_NDIM], rest[MAX_NDIM], nrest = 0, axis = 0, kept = 0;
    bool before = true;
    for (uint32_t i = 0; i < s->n; i++) {
        Val v = s->at[i];
        bool slice = v.ty->kind == TY_SLICE || v.ty->kind == TY_NONE;
        bool many = !slice && is_index_array(e, span, v);
        if (many) {
            t->at[t->n] = index_array(e, span, v, array_size(a, axis), axis);
            if (val_poisoned(t->at[t->n])) return false;
            t->axes[t->n] = (char)('a' + axis);
            order[t->n++] = kept++;
            s->at[i] = whole;
        } else if (slice) rest[nrest++] = kept++;
        before = before && slice;
        t->place += before;
        axis += v.ty->kind != TY_NONE;
    }
    s->ints = false;
    memcpy(order + t->n, rest, nrest * sizeof *rest);
    t->base = subscript_view(e, span, a, s);
    if (val_poisoned(t->base)) return false;
    t->base = array_permuted(e, t->base, order);
    return true;
}

static bool prepare(Eval *e, PySpan span, Val a, Val index, Take *t) {
    Subscript s;
    Val together[MAX_NDIM];
    uint32_t taken;
    *t = (Take){0};
    if (val_is_list(index) || index.ty->kind != TY_TUPLE) index = val_tuple(e, 1, (Val[]){index});
    if (!subscript_spread(e, span, a, index, &s) || !find_base(e, span, a, &s, t)) return false;
    if (are_apart(e, span, index)) t->place = 0;
    if (!many_broadcast(e, span, t->n, t->at, &taken, together)) return false;
    t->ndim = t->base.ty->ndim - t->n + taken;
    if (t->ndim > MAX_NDIM) {
        e_fail(e, span, NULL, DIAG_CONSTRUCT, "this subscript", "an array has at most 16 axes");
        return false;
    }
    const Val *rest = many_shape(t->base) + t->n;
    for (uint32_t k = 0; k < t->ndim; k++)
        t->shape[k] = k < t->place ? rest[k] : k < t->place + taken ? together[k - t->place] : rest[k - taken];
    return true;
}

/* What stands for the elements: items are the base, the indices, the shape. */
static Val expression(Eval *e, const Take *t) {
    uint32_t n = 1 + t->n;
    Val *items = ARENA_ARRAY(e->arena, Val, n + t->ndim + 1);
    items[0] = t->base;
    vals_copy(items + 1, t->at, t->n);
    vals_copy(items + n, t->shape, t->ndim);
    Val v = {.items = items};
    v.ty = ty_expr(e->types, EXPR_TAKE, t->place, val_dtype(t->base), t->ndim, n + t->ndim, items,
                   arena_strdup(e->arena, t->axes), NULL);
    return many_renewed(e, v);
}

static uint32_t index_count(Val x) { return x.ty->n - x.ty->ndim - 1; }

/* The axes that belong to the indices. */
static uint32_t taken_axes(Val x) { return x.ty->ndim + index_count(x) - x.items[0].ty->ndim; }

/* The index into the base of an element; false: reported. */
static bool base_index(Eval *e, PySpan span, Val x, const Val *index, Val *at) {
    Val base = x.items[0];
    uint32_t n = index_count(x), place = x.ty->layout, taken = taken_axes(x);
    for (uint32_t k = 0; k < n; k++) {
        Val i = many_element(e, span, x.items[1 + k], taken, index + place);
        at[k] = val_poisoned(i) ? i : index_wrapped(e, span, i, array_size(base, k), (uint32_t)(x.ty->name[k] - 'a'));
        if (val_poisoned(at[k])) return false;
    }
    for (uint32_t k = n; k < base.ty->ndim; k++) {
        uint32_t axis = k - n < place ? k - n : k - n + taken;
        at[k] = axis_index(e, array_size(base, k), index[axis]);
    }
    return true;
}

Val take_element(Eval *e, PySpan span, Val x, const Val *index) {
    Val at[MAX_NDIM], base = x.items[0];
    if (!base_index(e, span, x, index, at)) return val_poison(e);
    return array_load(e, base.ty, array_at(e, base, at, base.ty->ndim));
}

/* Sizes that may be 1 at run time: `shape` is that of the expression. */
Val take_stretched(Eval *e, PySpan span, Val x, const Val *shape) {
    uint32_t n = index_count(x), place = x.ty->layout, taken = taken_axes(x);
    Val *items = ARENA_ARRAY(e->arena, Val, x.ty->n + 1), sizes[MAX_NDIM], base = x.items[0];
    vals_copy(items, x.items, x.ty->n);
    for (uint32_t k = 0; k < base.ty->ndim; k++)
        sizes[k] = k < n ? array_size(base, k) : shape[k - n < place ? k - n : k - n + taken];
    items[0] = many_stretched(e, span, base, base.ty->ndim, sizes);
    for (uint32_t k = 0; k < n; k++) items[1 + k] = many_stretched(e, span, x.items[1 + k], taken, shape + place);
    x.items = items;
    x.ty = ty_expr(e->types, EXPR_TAKE, place, val_dtype(base), x.ty->ndim, x.ty->n, items, x.ty->name, NULL);
    return x;
}

/* ---- reading ----------------------------------------------------------------------------------------- */
typedef struct Copy {
    PySpan span;
    Val from, to;
} Copy;

static void copy_record(Eval *e, void *context, const Val *index) {
    const Copy *c = context;
    Val x = take_element(e, c->span, c->from, index);
    if (!val_poisoned(x)) array_put(e, c->span, c->to, index, x);
}

static Val taken_records(Eval *e, PySpan span, Val x) {
    Wide total;
    if (!many_settled(e, span, "an array", &x, &total))
        return e_fail(e, span, "take them one by one", DIAG_CONSTRUCT, "this copy of records",
                      "its size isn't known when compiling");
    Copy c = {span, e->building ? take_stretched(e, span, x, many_shape(x)) : x,
              array_local(e, elem_of(x.items[0].ty), x.ty->ndim, many_shape(x))};
    Epoch epoch = e->epoch;
    for_each_index(e, x.ty->ndim, many_shape(x), REF_NONE, copy_record, &c);
    e->epoch = epoch;
    return c.to;
}

Val array_taken(Eval *e, PySpan span, Val a, Val index) {
    Take t;
    Wide total;
    if (!prepare(e, span, a, index, &t)) return val_poison(e);
    Val x = expression(e, &t);
    if (a.ty->dtype == DT_RECORD) return taken_records(e, span, x);
    if (!sizes_known(t.ndim, t.shape, &total)) return x;
    return total <= SMALL_ELEMENTS ? many_computed(e, span, x, total) : many_array(e, span, x);
}

/* ---- writing ----------------------------------------------------------------------------------------- */

/* Indices and values are read before the first store. */
static void put_small(Eval *e, PySpan span, Val x, Val value, Wide total) {
    uint32_t ndim = x.ty->ndim, n = x.items[0].ty->ndim;
    Val *at = ARENA_ARRAY(e->arena, Val, ((size_t)total + 1) * MAX_NDIM);
    Val *v = ARENA_ARRAY(e->arena, Val, (size_t)total + 1), index[MAX_NDIM];
    value = many_stretched(e, span, value, ndim, many_shape(x));
    for (Wide i = 0; i < total; i++) {
        index_of(e, ndim, many_shape(x), i, index);
        v[i] = many_element(e, span, value, ndim, index);
        if (val_poisoned(v[i]) || !base_index(e, span, x, index, at + i * n)) return;
    }
    for (Wide i = 0; i < total; i++) array_put(e, span, x.items[0], at + i * n, v[i]);
}

/* Values that only run time gives, maybe computed twice. */
static bool same_ref(const Eval *e, Ref a, Ref b, unsigned depth) {
    enum { MOST_DEPTH = 16 };
    if (a == b || a == REF_NONE || b == REF_NONE) return a == b;
    const Instr *x = &e->m->instrs.at[a], *y = &e->m->instrs.at[b];
    bool pure = x->op == OP_CONST || x->op == OP_PARAM || x->op == OP_MUL || x->op == OP_ADD || x->op == OP_ADDR;
    if (!pure || depth > MOST_DEPTH || x->op != y->op || x->type != y->type || x->imm != y->imm || x->nargs != y->nargs)
        return false;
    for (uint32_t i = 0; i < x->nargs; i++)
        if (!same_ref(e, x->args[i], y->args[i], depth + 1)) return false;
    return true;
}

static bool same_parts(const Eval *e, Val a, Val b) {
    if (a.ty != b.ty || a.konst != b.konst || (val_const(a) && a.i != b.i)) return false;
    for (uint32_t i = 0; i < a.ty->n; i++)
        if (!same_parts(e, a.items[i], b.items[i])) return false;
    return same_ref(e, a.ref[0], b.ref[0], 0);
}

/* Of what lies where x does, does the value read only such elements that have the places of those that are stored
 * together? Others are checked at run time to lie apart. */
static bool reads_same_lines(Eval *e, PySpan span, Val x, Val v) {
    if (v.ty->kind == TY_ARRAY) array_keep_apart(e, span, x.items[0], v);
    if (v.ty->kind != TY_EXPR) return true;
    bool take = v.ty->sub == EXPR_TAKE, same = take && same_parts(e, x.items[0], v.items[0]);
    if (same && (v.ty->ndim != x.ty->ndim || v.ty->layout != x.ty->layout || v.ty->n != x.ty->n)) return false;
    for (uint32_t i = same; i < v.ty->n - v.ty->ndim; i++)
        if (!reads_same_lines(e, span, x, v.items[i])) return false;
    return true;
}

/* The elements that the indices take at one place of the other axes: all are read before the first is stored. */
typedef struct Lines {
    PySpan span;
    Val x, value;
    uint32_t n, taken;
    Wide count;
    Val *at, *v; /* indices of each; values */
} Lines;

static void put_line(Eval *e, void *context, const Val *rest) {
    const Lines *l = context;
    Val index[MAX_NDIM], at[MAX_NDIM], base = l->x.items[0];
    uint32_t place = l->x.ty->layout;
    for (Wide b = 0; b < l->count; b++) {
        for (uint32_t k = 0; k < l->x.ty->ndim; k++)
            if (k < place || k >= place + l->taken) index[k] = rest[k < place ? k : k - l->taken];
        index_of(e, l->taken, many_shape(l->x) + place, b, index + place);
        l->v[b] = many_element(e, l->span, l->value, l->x.ty->ndim, index);
        if (val_poisoned(l->v[b])) return;
    }
    for (Wide b = 0; b < l->count; b++) {
        vals_copy(at, l->at + b * l->n, l->n);
        for (uint32_t k = l->n; k < base.ty->ndim; k++) at[k] = axis_index(e, array_size(base, k), rest[k - l->n]);
        array_put(e, l->span, base, at, l->v[b]);
    }
}

static void put_lines(Eval *e, PySpan span, Val x, Val value, Wide count) {
    Lines l = {span, x, value, index_count(x), taken_axes(x), count, NULL, NULL};
    Val index[MAX_NDIM];
    l.at = ARENA_ARRAY(e->arena, Val, (size_t)count * MAX_NDIM + 1);
    l.v = ARENA_ARRAY(e->arena, Val, (size_t)count + 1);
    l.x = take_stretched(e, span, x, many_shape(x));
    l.value = many_stretched(e, span, value, x.ty->ndim, many_shape(x));
    for (Wide b = 0; b < count; b++) {
        index_of(e, l.taken, many_shape(x) + x.ty->layout, b, index);
        for (uint32_t k = 0; k < l.n; k++) {
            Val i = many_element(e, span, l.x.items[1 + k], l.taken, index);
            if (val_poisoned(i)) return;
            l.at[b * l.n + k] = index_wrapped(e, span, i, array_size(x.items[0], k), (uint32_t)(x.ty->name[k] - 'a'));
        }
    }
    Val base = l.x.items[0];
    for_each_index(e, base.ty->ndim - l.n, many_shape(base) + l.n, REF_NONE, put_line, &l);
}

static void put_one(Eval *e, void *context, const Val *index, Val v) {
    const Copy *c = context;
    Val at[MAX_NDIM];
    if (base_index(e, c->span, c->to, index, at)) array_put(e, c->span, c->to.items[0], at, v);
}

/* What writing to the base doesn't change: a copy, if its shape is known. */
static Val apart_from(Eval *e, PySpan span, Val base, Val v) {
    Wide total;
    if (!val_is_many(v)) return v;
    if (v.ty->dtype != DT_RECORD && sizes_known(v.ty->ndim, many_shape(v), &total)) return array_copied(e, span, v);
    array_keep_apart(e, span, base, v);
    return v;
}

static void put_in_loop(Eval *e, PySpan span, Val x, Val value) {
    uint32_t n = index_count(x);
    Val *items = ARENA_ARRAY(e->arena, Val, x.ty->n + 1);
    vals_copy(items, x.items, x.ty->n);
    value = apart_from(e, span, items[0], value);
    for (uint32_t k = 1; k <= n; k++) {
        items[k] = apart_from(e, span, items[0], items[k]);
        if (val_poisoned(items[k])) return;
    }
    if (val_poisoned(value)) return;
    x.items = items;
    x.ty =
        ty_expr(e->types, EXPR_TAKE, x.ty->layout, val_dtype(items[0]), x.ty->ndim, x.ty->n, items, x.ty->name, NULL);
    Copy c = {span, value, take_stretched(e, span, x, many_shape(x))};
    many_walk(e, span, value, x.ty->ndim, many_shape(x), REF_NONE, put_one, &c);
}

/* Does the value take elements of the array itself? */
static bool reads_base(const Eval *e, Val x, Val v) {
    if (v.ty->kind != TY_EXPR) return false;
    if (v.ty->sub == EXPR_TAKE && same_ref(e, array_data(v.items[0]), array_data(x.items[0]), 0)) return true;
    for (uint32_t i = 0; i < v.ty->n - v.ty->ndim; i++)
        if (reads_base(e, x, v.items[i])) return true;
    return false;
}

static void refuse_overlap(Eval *e, PySpan span) {
    e_fail(e, span, "write a loop: for k in range(len(indices)): a[indices[k]] += ...", DIAG_CONSTRUCT,
           "this assignment to several elements",
           "how many there are is known at run time only, and all are read before one is stored");
}

void array_put_taken(Eval *e, PySpan span, Val a, Val index, Val value) {
    Take t;
    Wide total;
    PySpan at = e->value_span.line ? e->value_span : span;
    if (!array_writable(e, span, a) || !prepare(e, span, a, index, &t)) return;
    Val x = expression(e, &t), like = array_made(e, elem_of(a.ty), false, T_PTRL, REF_NONE, t.ndim, t.shape);
    if (value.ty->kind == TY_TUPLE && a.ty->dtype != DT_RECORD) value = array_from_sequence(e, at, value, DT_NONE);
    if (val_is_scalar(value) && a.ty->dtype != DT_RECORD) value = array_stored(e, at, val_dtype(a), value);
    if (val_poisoned(value) || !array_fits(e, at, like, &value) || !e->building) return;
    if (val_is_many(value) && many_settled(e, span, "this assignment", &x, &total))
        many_settled(e, span, "this assignment", &value, &total);
    const Val *shape = many_shape(x);
    bool known = sizes_known(t.ndim, shape, &total), numbers = a.ty->dtype != DT_RECORD;
    if (known && numbers && total <= SMALL_ELEMENTS)
        put_small(e, span, take_stretched(e, span, x, shape), value, total);
    else if (!known && numbers && sizes_known(taken_axes(x), shape + t.place, &total) && total <= SMALL_ELEMENTS) {
        if (reads_same_lines(e, span, x, value)) put_lines(e, span, x, value, total);
        else refuse_overlap(e, at);
    } else if (!known && reads_base(e, x, value)) refuse_overlap(e, at);
    else put_in_loop(e, span, x, value);
}
