/* iter.c - iterators over arrays, tuples and ranges, enumerate, zip, reversed, len, items of tuples.
 *
 * An iterator is a value without mutable state: has, value and next are functions of it. range.c has what ranges do. */
#include "arrays.h"
#include "devfns.h"

#include <string.h>

static bool is_integer(Val v) { return val_is_scalar(v) && (dt_is_int(val_dtype(v)) || v.ty->dtype == DT_BOOL); }

static uint32_t utf8_length(const char *s) {
    uint32_t n = 0;
    for (; *s; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

Val eval_len(Eval *e, PySpan span, Val v) {
    const char *s;
    if (val_poisoned(v)) return v;
    if (v.ty->kind == TY_TUPLE) return val_int(e, v.ty->n);
    if (v.ty->kind == TY_LIST) return list_length(e, v);
    if (v.ty->kind == TY_ARRAY && v.ty->ndim) return v.items[1];
    Val string = string_len(e, span, v);
    if (string.ty) return string;
    if (v.ty->kind == TY_RECORD) return val_int(e, v.ty->record->n);
    if (v.ty->kind == TY_EXPR) return many_size(v, 0);
    if (v.ty->kind == TY_RANGE) return range_len(e, span, v);
    if (v.ty->kind == TY_DICT) return val_int(e, v.ty->n / 2);
    if (val_as_str(e, v, &s)) return val_int(e, utf8_length(s));
    Val items = val_items(e, v), special = instance_number(e, span, v, "__len__");
    if (special.ty) return special;
    if (!val_poisoned(items) && items.ty->kind == TY_TUPLE) return val_int(e, items.ty->n);
    return e_fail(e, span, "len() takes arrays, tuples and ranges", DIAG_ARG_TYPE, "len", e_text(e, v));
}

/* ---- tuples ------------------------------------------------------------------------------------------ */

static Val different_types(Eval *e, PySpan span, Val t, Val index) {
    for (uint32_t k = 0; k < t.ty->n; k++) /* lists of several lengths may be one as lists that change */
        if (lists_change(e, t.items[k])) return val_poison(e);
    return e_fail(e, span, "only a constant index may choose among items of different types", DIAG_TUPLE_INDEX,
                  e_text(e, t), e_text(e, index));
}

/* A run-time index selects among items that have a common type. Names in a loop stay constants: it is unrolled. */
static Val select_item(Eval *e, PySpan span, Val t, Val index, bool may_wrap) {
    uint32_t n = t.ty->n;
    if (!n && lists_change(e, t)) return val_poison(e);
    if (!n) return e_fail(e, span, NULL, DIAG_TUPLE_RANGE, e_text(e, index), 0);
    Val all = t.items[0];
    for (uint32_t k = 1; k < n; k++)
        if (!val_join(e, all, t.items[k], &all) || (all.ty->kind != t.items[0].ty->kind && all.ty->kind != TY_CHOICE))
            return different_types(e, span, t, index);
    Val wide = val_convert(e, index, e_python_int(e)), out = val_coerce(e, t.items[0], all);
    for (uint32_t k = 1; k < n; k++) {
        Val hit = eval_compare(e, span, PYC_EQ, wide, val_int(e, k));
        if (may_wrap) {
            Val back = eval_compare(e, span, PYC_EQ, wide, val_int(e, (Wide)k - n));
            hit = val_rt_bool(e, e_op2_of(e, OP_OR, T_BOOL, hit, back));
        }
        out = eval_select(e, span, hit, t.items[k], out);
        if (val_poisoned(out)) return out;
        out = val_coerce(e, out, all);
    }
    return out;
}

/* As slice.indices() has the bounds. */
static Val tuple_slice(Eval *e, PySpan span, Val t, Val slice, Wide at[3]) {
    uint32_t n = t.ty->n, count = 0;
    Wide step = at[2], low = step < 0 ? -1 : 0, high = step < 0 ? (Wide)n - 1 : n;
    if (step == 0) return e_fail(e, span, NULL, DIAG_CONSTRUCT, "this slice of a tuple", "its step is 0");
    for (int k = 0; k < 2; k++) {
        if (slice.items[k].ty->kind == TY_NONE) {
            at[k] = (k == 0) == (step > 0) ? low : high;
            continue;
        }
        if (at[k] < 0) at[k] += n;
        at[k] = at[k] < low ? low : at[k] > high ? high : at[k];
    }
    Val *items = ARENA_ARRAY(e->arena, Val, n + 1);
    for (Wide i = at[0]; step > 0 ? i < at[1] : i > at[1]; i += step) items[count++] = t.items[i];
    Val part = val_tuple(e, count, items);
    return t.ty->sub == TUPLE_OF_LIST ? list_marked(e, part) : part;
}

Val tuple_item(Eval *e, PySpan span, Val t, Val index) {
    Wide i;
    uint32_t n = t.ty->n;
    if (index.ty->kind == TY_SLICE) {
        Wide at[3] = {0, n, 1};
        if (!slice_is_constant(index)) {
            if (val_is_list(t) && lists_change(e, t)) return val_poison(e);
            return e_fail(e, span, "use constant bounds", DIAG_CONSTRUCT, "this slice of a tuple",
                          "the length of a tuple is part of its type");
        }
        for (int k = 0; k < 3; k++) val_as_int(index.items[k], &at[k]);
        return tuple_slice(e, span, t, index, at);
    }
    if (!is_integer(index)) return e_fail(e, span, "// is the integer division", DIAG_INDEX_TYPE, e_text(e, index));
    if (val_as_int(index, &i)) {
        if (i < 0) i += n;
        if (i < 0 || i >= n) return e_fail(e, span, NULL, DIAG_TUPLE_RANGE, wide_text(e->arena, index.i), n);
        return t.items[i];
    }
    bool may_wrap = dtype_info[index.ty->dtype].kind == DK_INT;
    if (e->req->boundscheck && e->building) {
        Val wide = val_convert(e, index, e_python_int(e));
        Val low = eval_compare(e, span, PYC_LT, wide, val_int(e, may_wrap ? -(Wide)n : 0));
        Val high = eval_compare(e, span, PYC_GE, wide, val_int(e, n));
        e_raise_if(e, span, e_op2_of(e, OP_OR, T_BOOL, low, high), "IndexError", "tuple index out of range");
    }
    return select_item(e, span, t, index, may_wrap);
}

/* ---- iterators --------------------------------------------------------------------------------------- */
static Val make_iter(Eval *e, IterKind kind, uint32_t n, const Val *items) {
    return val_composite(e, TY_ITER, kind, n, items);
}

Val eval_iter(Eval *e, PySpan span, Val v) {
    v = val_items(e, v);
    if (val_poisoned(v)) return v;
    switch (v.ty->kind) {
    case TY_ITER: return v;
    case TY_RANGE: return range_iter(e, span, v);
    case TY_RECORD: return eval_iter(e, span, record_tuple(e, span, v));
    case TY_ARRAY:
        if (!v.ty->ndim) break;
        return make_iter(e, ITER_SEQ, 3, (Val[]){v, val_int(e, 0), eval_len(e, span, v)});
    case TY_LIST:
        if (list_grows(v)) return make_iter(e, ITER_SEQ, 3, (Val[]){v, val_int(e, 0), val_none(e)});
    /* fallthrough */
    case TY_TUPLE: return make_iter(e, ITER_SEQ, 3, (Val[]){v, val_int(e, 0), eval_len(e, span, v)});
    case TY_EXPR: return eval_iter(e, span, many_array(e, span, v));
    default: break;
    }
    bool number = val_is_scalar(v) && dt_is_int(val_dtype(v));
    return e_fail(e, span, number ? "range(n) counts to n" : NULL, DIAG_NOT_ITERABLE, e_text(e, v));
}

static bool range_trips(Val it, Wide *n) {
    Wide at, stop, step;
    if (!val_as_int(it.items[0], &at) || !val_as_int(it.items[1], &stop) || !val_as_int(it.items[2], &step) || !step)
        return false;
    Wide way = step > 0 ? stop - at : at - stop, by = step > 0 ? step : -step;
    *n = way > 0 ? (way + by - 1) / by : 0;
    return true;
}

static bool zip_trips(Eval *e, Val it, Wide *n) {
    for (uint32_t i = 0; i < it.ty->n; i++) {
        Wide m;
        if (!iter_trips(e, it.items[i], &m)) return false;
        if (i == 0 || m < *n) *n = m;
    }
    return it.ty->n > 0;
}

/* How many items are left, if that is known. */
bool iter_trips(Eval *e, Val it, Wide *n) {
    Wide at, end;
    if (!it.ty || it.ty->kind != TY_ITER) return false;
    switch ((IterKind)it.ty->sub) {
    case ITER_RANGE: return range_trips(it, n);
    case ITER_ND:
        if (!val_as_int(it.items[0], &at) || !val_as_int(it.items[1], &end)) return false;
        *n = end - at;
        return true;
    case ITER_SEQ:
        if (!val_as_int(it.items[1], &at) || !val_as_int(it.items[2], &end)) return false;
        *n = end > at ? end - at : 0;
        return true;
    case ITER_RSEQ:
        if (!val_as_int(it.items[1], &at)) return false;
        *n = at + 1;
        return true;
    case ITER_ENUM: return iter_trips(e, it.items[1], n);
    case ITER_ZIP: return zip_trips(e, it, n);
    }
    return false;
}

Val sequence_items(Eval *e, PySpan span, Val v) {
    enum { MOST_ITEMS = 4096 };
    if (val_poisoned(v) || (v.ty->kind != TY_RANGE && v.ty->kind != TY_ITER && !(v.ty->kind == TY_ARRAY && v.ty->ndim)))
        return v;
    Wide n;
    if (v.ty->kind == TY_ARRAY) v = rows_settled(e, span, v);
    Val it = eval_iter(e, span, v);
    if (val_poisoned(it) || !iter_trips(e, it, &n) || n > MOST_ITEMS) return v;
    Val *items = ARENA_ARRAY(e->arena, Val, (size_t)n + 1);
    for (uint32_t i = 0; i < (uint32_t)n; i++) {
        items[i] = eval_iter_value(e, span, it);
        if (val_poisoned(items[i])) return items[i];
        it = eval_iter_next(e, span, it);
    }
    return val_tuple(e, (uint32_t)n, items);
}

Val eval_enumerate(Eval *e, PySpan span, Val iterable, Val start) {
    if (start.ty && !val_poisoned(start) && (!val_is_scalar(start) || !dt_is_int(val_dtype(start))))
        return e_fail(e, span, "start is an integer", DIAG_ARG_TYPE, "enumerate", e_text(e, start));
    Val count = start.ty ? val_convert(e, start, e_python_int(e)) : val_int(e, 0), it = eval_iter(e, span, iterable);
    if (val_poisoned(it) || val_poisoned(count)) return val_poison(e);
    return make_iter(e, ITER_ENUM, 2, (Val[]){count, it});
}

Val eval_zip(Eval *e, PySpan span, uint32_t n, const Val *iterables) {
    Val *its = ARENA_ARRAY(e->arena, Val, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        its[i] = eval_iter(e, span, iterables[i]);
        if (val_poisoned(its[i])) return val_poison(e);
    }
    return make_iter(e, ITER_ZIP, n, its);
}

Val eval_reversed(Eval *e, PySpan span, Val v) {
    v = val_items(e, v);
    if (val_poisoned(v)) return v;
    Val one = val_int(e, 1);
    if (v.ty->kind == TY_TUPLE) {
        Val *items = ARENA_ARRAY(e->arena, Val, v.ty->n + 1);
        for (uint32_t i = 0; i < v.ty->n; i++) items[i] = v.items[v.ty->n - 1 - i];
        return eval_iter(e, span, val_tuple(e, v.ty->n, items));
    }
    if ((v.ty->kind == TY_ARRAY && v.ty->ndim) || v.ty->kind == TY_RANGE || v.ty->kind == TY_LIST)
        return make_iter(e, ITER_RSEQ, 2, (Val[]){v, eval_binary(e, span, PYB_SUB, eval_len(e, span, v), one)});
    return e_fail(e, span, NULL, DIAG_NOT_ITERABLE, e_text(e, v));
}

static Val add(Eval *e, PyBinary op, Val a, Val b) { return eval_arith(e, op, val_sc(a), a, b); }

Val eval_iter_has(Eval *e, PySpan span, Val it) {
    if (val_poisoned(it)) return it;
    switch ((IterKind)it.ty->sub) {
    case ITER_RANGE: return range_has(e, span, it);
    case ITER_SEQ: {
        bool grows = list_grows(it.items[0]); /* maybe meanwhile */
        return eval_compare(e, span, PYC_LT, it.items[1], grows ? list_length(e, it.items[0]) : it.items[2]);
    }
    case ITER_RSEQ: return eval_compare(e, span, PYC_GE, it.items[1], val_int(e, 0));
    case ITER_ND: return eval_compare(e, span, PYC_LT, it.items[0], it.items[1]);
    case ITER_ENUM: return eval_iter_has(e, span, it.items[1]);
    case ITER_ZIP: break;
    }
    Val all = val_bool(e, it.ty->n != 0);
    for (uint32_t i = 0; i < it.ty->n; i++) {
        Val has = eval_iter_has(e, span, it.items[i]);
        if (val_const(has) && !has.i) return has;
        if (val_const(all) && all.i) all = has;
        else if (!val_const(has)) all = val_rt_bool(e, e_op2_of(e, OP_AND, T_BOOL, all, has));
    }
    return all;
}

/* The tuple of indices, with the element if there is an array. */
static Val nd_value(Eval *e, Val it) {
    Val sizes = it.items[2], array = it.items[3], at[MAX_NDIM], rest = it.items[0];
    for (uint32_t k = sizes.ty->n; k-- > 0;) {
        at[k] = k ? size_op(e, PYB_MOD, rest, sizes.items[k]) : rest;
        rest = size_op(e, PYB_FLOORDIV, rest, sizes.items[k]);
    }
    Val index = val_tuple(e, sizes.ty->n, at);
    if (array.ty->kind != TY_ARRAY) return index;
    return val_tuple(e, 2, (Val[]){index, array_load(e, array.ty, array_at(e, array, at, sizes.ty->n))});
}

static Val nd_iter(Eval *e, uint32_t n, const Val *sizes, Val array) {
    Val total = val_int(e, 1);
    for (uint32_t k = 0; k < n; k++) total = size_op(e, PYB_MUL, total, sizes[k]);
    return make_iter(e, ITER_ND, 4, (Val[]){val_int(e, 0), total, val_tuple(e, n, sizes), array});
}

/* np.ndindex(2, 3), np.ndindex((2, 3)) */
Val fn_ndindex(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    bool tuple = n == 1 && args[0].ty->kind == TY_TUPLE;
    uint32_t ndim = tuple ? args[0].ty->n : n;
    const Val *at = tuple ? args[0].items : args;
    Val sizes[MAX_NDIM];
    if (site->nkw || ndim > MAX_NDIM)
        return e_fail(e, site->span, "such as np.ndindex(2, 3)", DIAG_ARG_VALUE, site->name, "it takes the sizes");
    for (uint32_t k = 0; k < ndim; k++) {
        if (!is_integer(at[k])) return bad_arg(e, site, k, at[k], "a size is an integer");
        sizes[k] = size_minmax(e, OP_MAX, to_size(e, at[k]), val_int(e, 0));
    }
    return nd_iter(e, ndim, sizes, val_none(e));
}

Val fn_ndenumerate(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val a;
    if (!bind_args(e, site, n, args, 1, &a)) return val_poison(e);
    if (!val_is_many(a)) return bad_arg(e, site, 0, a, "it takes an array");
    a = many_array(e, site->span, a);
    return val_poisoned(a) ? a : nd_iter(e, a.ty->ndim, a.items + 1, a);
}

/* Do two items have, in the same place, functions or members that differ? */
static bool differs_in_objects(Ty a, Ty b) {
    bool objects = a->kind == TY_OBJECT || a->kind == TY_FUNCTION;
    if (a == b || a->kind != b->kind || a->n != b->n || objects) return a != b && objects;
    for (uint32_t i = 0; i < a->n; i++)
        if (differs_in_objects(a->items[i], b->items[i])) return true;
    return false;
}

/* Each item has its own type in turn, which a common one would change: then the loop must be unrolled. */
static Val loop_item(Eval *e, PySpan span, Val t, Val index) {
    for (uint32_t k = 1; k < t.ty->n; k++) {
        Ty first = t.items[0].ty, ty = t.items[k].ty;
        if ((val_is_scalar(t.items[k]) && ty != first) || differs_in_objects(first, ty))
            return different_types(e, span, t, index);
    }
    return select_item(e, span, t, index, false);
}

Val eval_iter_value(Eval *e, PySpan span, Val it) {
    if (val_poisoned(it)) return it;
    switch ((IterKind)it.ty->sub) {
    case ITER_RANGE: return range_value(e, it);
    case ITER_SEQ:
    case ITER_RSEQ:
        if (it.items[0].ty->kind == TY_RANGE) return range_item(e, it.items[0], it.items[1]);
        if (it.items[0].ty->kind == TY_LIST) return list_get(e, span, it.items[0], it.items[1]);
        if (it.items[0].ty->kind != TY_TUPLE) return array_element(e, span, it.items[0], it.items[1]);
        if (val_const(it.items[1])) return tuple_item(e, span, it.items[0], it.items[1]);
        return loop_item(e, span, it.items[0], it.items[1]);
    case ITER_ND: return nd_value(e, it);
    case ITER_ENUM: return val_tuple(e, 2, (Val[]){it.items[0], eval_iter_value(e, span, it.items[1])});
    case ITER_ZIP: break;
    }
    Val *items = ARENA_ARRAY(e->arena, Val, it.ty->n + 1);
    for (uint32_t i = 0; i < it.ty->n; i++) items[i] = eval_iter_value(e, span, it.items[i]);
    return val_tuple(e, it.ty->n, items);
}

Val eval_iter_next(Eval *e, PySpan span, Val it) {
    if (val_poisoned(it)) return it;
    Val *items = ARENA_ARRAY(e->arena, Val, it.ty->n + 1);
    vals_copy(items, it.items, it.ty->n);
    switch ((IterKind)it.ty->sub) {
    case ITER_RANGE: items[0] = range_next(e, it); break;
    case ITER_SEQ: items[1] = add(e, PYB_ADD, items[1], val_int(e, 1)); break;
    case ITER_ND: items[0] = add(e, PYB_ADD, items[0], val_int(e, 1)); break;
    case ITER_RSEQ: items[1] = add(e, PYB_SUB, items[1], val_int(e, 1)); break;
    case ITER_ENUM:
        items[0] = add(e, PYB_ADD, items[0], val_int(e, 1));
        items[1] = eval_iter_next(e, span, items[1]);
        break;
    case ITER_ZIP:
        for (uint32_t i = 0; i < it.ty->n; i++) items[i] = eval_iter_next(e, span, items[i]);
        break;
    }
    return make_iter(e, (IterKind)it.ty->sub, it.ty->n, items);
}
