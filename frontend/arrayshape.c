/* arrayshape.c - the same memory in another way: other shapes, axes in another order, another type.
 *
 * No element moves. What NumPy would have to copy is refused, and says so; flatten() and copy() make copies. */
#include "arrays.h"
#include "devfns.h"

#include <string.h>

/* An array in C order; POISON: reported, with what the array is needed for. An expression is computed. */
static Val in_order(Eval *e, const CallSite *site, Val a, const char *why) {
    if (!val_is_many(a)) return bad_arg(e, site, 0, a, "it takes an array");
    a = many_array(e, site->span, a);
    if (val_poisoned(a) || a.ty->layout == LAYOUT_C) return a;
    return e_fail(e, site->span, "index it as it is, or take .copy() of a small one", DIAG_CONSTRUCT, site->name, why);
}

static Val product(Eval *e, uint32_t n, const Val *items) {
    Val size = val_int(e, 1);
    for (uint32_t k = 0; k < n; k++) size = size_op(e, PYB_MUL, size, items[k]);
    return size;
}

static Val remade(Eval *e, Val a, Elem elem, uint32_t ndim, const Val *shape) {
    return array_made(e, elem, a.ty->readonly, (Type)a.ty->space, array_data(a), ndim, shape);
}

static void raise_unless_equal(Eval *e, PySpan span, Val a, Val b, const char *message) {
    if (val_const(a) && val_const(b)) return;
    e_raise_if(e, span, e_cmp(e, PRED_NE, val_ref(e, a), val_ref(e, b)), "ValueError", message);
}

Val fn_array_view(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/self", "dtype"};
    Val v[2], shape[MAX_NDIM];
    Elem elem;
    if (!call_bind(e, site, n, args, 2, params, v)) return val_poison(e);
    if (!val_elem_named(e, v[1], &elem))
        return e_fail(e, site->span, "a dtype is written np.float32", DIAG_ARG_TYPE, site->name, e_text(e, v[1]));
    Val a = in_order(e, site, v[0], "only an array in C order can be seen as another type");
    if (val_poisoned(a)) return a;
    if (elem.align > a.ty->align) elem.align = a.ty->align;
    uint32_t ndim = a.ty->ndim, from = elem_size(elem_of(a.ty)), to = elem_size(elem);
    Wide last = 0;
    bool known = ndim && val_as_int(a.items[ndim], &last);
    if (from != to && (!ndim || (known && last * from % to)))
        return e_fail(e, site->span, "the bytes of the last axis are a multiple of the new type's", DIAG_ARG_TYPES,
                      site->name, e_text(e, a), elem_text(e->arena, (DType)elem.dtype, elem.record));
    for (uint32_t k = 0; k < ndim; k++) shape[k] = array_size(a, k);
    if (from != to) {
        Val bytes = size_op(e, PYB_MUL, shape[ndim - 1], val_int(e, from));
        shape[ndim - 1] = size_op(e, PYB_FLOORDIV, bytes, val_int(e, to));
    }
    return remade(e, a, elem, ndim, shape);
}

/* ---- shapes ------------------------------------------------------------------------------------------ */

/* A size that only run time knows may be -1, too. Without one among the constants the others are made what they stand
 * for. */
static void fill_in_late(Eval *e, PySpan span, Val total, uint32_t n, Val *shape) {
    Ref open[MAX_NDIM], seen = REF_NONE, one = e_int(e, T_I64, 1), below = e_int(e, T_I64, -1);
    Val known[MAX_NDIM];
    static const char wrong[] = "cannot reshape: one size may be -1, and no other below 0";
    for (uint32_t k = 0; k < n; k++) {
        open[k] = REF_NONE;
        known[k] = shape[k];
        if (val_const(shape[k])) continue;
        Ref size = val_ref(e, shape[k]);
        open[k] = e_cmp(e, PRED_EQ, size, below);
        e_raise_if(e, span, e_cmp(e, PRED_LT, size, below), "ValueError", wrong);
        if (seen) e_raise_if(e, span, e_op2(e, OP_AND, T_BOOL, seen, open[k]), "ValueError", wrong);
        seen = seen ? e_op2(e, OP_OR, T_BOOL, seen, open[k]) : open[k];
        known[k] = val_rt_int(e, e_select(e, T_I64, open[k], one, size));
    }
    if (!seen) return;
    Ref others = val_ref(e, product(e, n, known));
    Ref divisor = e_select(e, T_I64, e_cmp(e, PRED_EQ, others, e_int(e, T_I64, 0)), one, others);
    Ref rest = val_ref(e, size_op(e, PYB_FLOORDIV, total, val_rt_int(e, divisor)));
    for (uint32_t k = 0; k < n; k++)
        if (open[k]) shape[k] = val_rt_int(e, e_select(e, T_I64, open[k], rest, val_ref(e, shape[k])));
}

/* One size may be -1: what the others leave. */
static bool fill_in(Eval *e, const CallSite *site, Val total, uint32_t n, Val *shape) {
    uint32_t missing = n;
    Wide size;
    for (uint32_t k = 0; k < n; k++) {
        if (!val_is_scalar(shape[k]) || !dt_is_int(val_dtype(shape[k]))) {
            e_fail(e, site->span, "a size is an integer", DIAG_ARG_TYPE, site->name, e_text(e, shape[k]));
            return false;
        }
        shape[k] = to_size(e, shape[k]);
        if (!val_as_int(shape[k], &size) || size >= 0) continue;
        if (size != -1 || missing < n) {
            e_fail(e, site->span, NULL, DIAG_ARG_VALUE, site->name, "one size may be -1, and no other below 0");
            return false;
        }
        missing = k;
    }
    if (missing == n) {
        fill_in_late(e, site->span, total, n, shape);
        return true;
    }
    shape[missing] = val_int(e, 1);
    shape[missing] = size_op(e, PYB_FLOORDIV, total, product(e, n, shape));
    return true;
}

Val fn_array_reshape(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val shape[MAX_NDIM];
    if (site->nkw || n < 2 || n > MAX_NDIM)
        return e_fail(e, site->span, "such as x.reshape(8, -1)", DIAG_ARG_VALUE, site->name, "it takes the new sizes");
    Val a = in_order(e, site, args[0], "only an array in C order has another shape without a copy");
    if (val_poisoned(a)) return a;
    bool tuple = n == 2 && args[1].ty->kind == TY_TUPLE && args[1].ty->n <= MAX_NDIM;
    uint32_t ndim = tuple ? args[1].ty->n : n - 1;
    vals_copy(shape, tuple ? args[1].items : args + 1, ndim);
    Val total = product(e, a.ty->ndim, a.items + 1);
    if (!fill_in(e, site, total, ndim, shape)) return val_poison(e);
    Val all = product(e, ndim, shape);
    Wide before, after;
    if (val_as_int(total, &before) && val_as_int(all, &after) && before != after)
        return e_fail(e, site->span, NULL, DIAG_ARG_VALUE, site->name,
                      arena_printf(e->arena, "%s elements don't become %s", wide_text(e->arena, before),
                                   wide_text(e->arena, after)));
    raise_unless_equal(e, site->span, total, all, "cannot reshape: another number of elements");
    return remade(e, a, elem_of(a.ty), ndim, shape);
}

/* A copy of run-time size costs no memory: it is an expression. */
static Val flat_copy(Eval *e, const CallSite *site, Val a) {
    const DevFn *copy = devfn_find("ndarray.copy");
    bool order = a.ty->kind == TY_ARRAY && a.ty->layout == LAYOUT_C, one = val_is_many(a) && a.ty->ndim == 1;
    if (val_is_many(a) && !order && !one)
        return e_fail(e, site->span, "np.ndenumerate(x) goes through the elements with their indices", DIAG_CONSTRUCT,
                      site->name, "it copies, and only elements in C order are found by one index");
    if (!one) {
        a = in_order(e, site, a, "");
        if (val_poisoned(a)) return a;
        Val total = product(e, a.ty->ndim, a.items + 1);
        a = remade(e, a, elem_of(a.ty), 1, &total);
    }
    return copy->call(e, &(CallSite){.span = site->span, .fn = copy, .name = site->name}, 1, &a);
}

Val fn_np_shape(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const names[] = {"shape", "ndim", "size"};
    Val a;
    if (!bind_args(e, site, n, args, 1, &a)) return val_poison(e);
    if (val_is_many(a)) return eval_attr(e, site->span, a, names[site->fn->param]);
    if (!want_scalars(e, site, 1, &a, false)) return val_poison(e);
    return site->fn->param ? val_int(e, site->fn->param == 2) : val_tuple(e, 0, NULL);
}

/* param: 0 isrealobj, 1 iscomplexobj, which ask for the type. */
Val fn_np_is_complex_type(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    if (!bind_args(e, site, n, args, 1, &x)) return val_poison(e);
    if (!val_is_many(x) && !want_scalars(e, site, 1, &x, false)) return val_poison(e);
    return val_bool(e, dt_is_complex(val_dtype(x)) == (site->fn->param == 1));
}

/* param: 1 flatten, which always makes a copy; ravel makes one of a small array that isn't in C order. */
Val fn_array_ravel(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val a;
    Wide size;
    if (!bind_args(e, site, n, args, 1, &a)) return val_poison(e);
    bool copies = val_is_many(a) && (site->fn->param || a.ty->kind == TY_EXPR || a.ty->layout != LAYOUT_C);
    bool known = copies && many_settled(e, site->span, site->name, &a, &size);
    if (known) {
        ExprOp same = {EXPR_CONVERT, a.ty->dtype, NULL};
        a = many_array(e, site->span, array_lazy(e, site->span, same, 1, &a));
        if (val_poisoned(a)) return a;
    } else if (site->fn->param) return flat_copy(e, site, a);
    a = in_order(e, site, a, "only an array in C order has one axis without a copy");
    if (val_poisoned(a)) return a;
    Val total = product(e, a.ty->ndim, a.items + 1);
    return remade(e, a, elem_of(a.ty), 1, &total);
}

Val array_flat(Eval *e, PySpan span, Val a) {
    if (a.ty->layout != LAYOUT_C)
        return e_fail(e, span, "np.ndenumerate(x) goes through the elements with their indices", DIAG_CONSTRUCT, "flat",
                      "this array isn't in C order");
    Val total = product(e, a.ty->ndim, a.items + 1);
    return remade(e, a, elem_of(a.ty), 1, &total);
}

/* ---- axes -------------------------------------------------------------------------------------------- */

/* A constant axis, counted from the end if negative. */
static bool read_axis(Eval *e, const CallSite *site, Val v, uint32_t ndim, uint32_t *out) {
    Wide axis;
    if (!val_as_int(v, &axis)) {
        e_fail(e, site->span, NULL, DIAG_ARG_CONSTANT, site->name, "axis", e_text(e, v));
        return false;
    }
    if (axis < -(Wide)ndim || axis >= (Wide)ndim) {
        e_fail(e, site->span, NULL, DIAG_ARG_VALUE, site->name,
               arena_printf(e->arena, "there is no axis %s: the array has %u", wide_text(e->arena, axis), ndim));
        return false;
    }
    *out = (uint32_t)(axis < 0 ? axis + ndim : axis);
    return true;
}

Val array_permuted(Eval *e, Val a, const uint32_t *order) {
    uint32_t ndim = a.ty->ndim;
    Val shape[MAX_NDIM], strides[MAX_NDIM];
    bool kept = true, turned = true;
    for (uint32_t k = 0; k < ndim; k++) {
        kept &= order[k] == k;
        turned &= order[k] == ndim - 1 - k;
    }
    if (kept) return a;
    bool c = a.ty->layout == LAYOUT_C, f = a.ty->layout == LAYOUT_F;
    Layout layout = turned && (c || f) ? (c ? LAYOUT_F : LAYOUT_C) : LAYOUT_A;
    for (uint32_t k = 0; k < ndim; k++) {
        shape[k] = array_size(a, order[k]);
        if (layout == LAYOUT_A) strides[k] = array_stride(e, a, order[k]);
    }
    Ty ty = ty_array(e->types, elem_of(a.ty), ndim, layout, a.ty->readonly, (Type)a.ty->space);
    return array_with(e, ty, array_data(a), shape, strides);
}

static bool some_array(Eval *e, const CallSite *site, Val *a) {
    if (val_is_many(*a)) *a = many_array(e, site->span, *a);
    else bad_arg(e, site, 0, *a, "it takes an array");
    return val_is_many(*a);
}

/* x.transpose(), x.transpose(1, 0), x.transpose((1, 0)), np.transpose(x, (1, 0)) */
Val fn_array_transpose(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"a", "?axes"};
    Val v[2], a = n ? args[0] : (Val){0};
    uint32_t order[MAX_NDIM], seen = 0;
    if (n <= 2 && !call_bind(e, site, n, args, 2, params, v)) return val_poison(e);
    if (!some_array(e, site, &a)) return val_poison(e);
    uint32_t ndim = a.ty->ndim, given = n - 1;
    const Val *axes = args + 1;
    if (n == 2 && args[1].ty->kind == TY_TUPLE) given = args[1].ty->n, axes = args[1].items;
    bool none = n == 1 || (n == 2 && args[1].ty->kind == TY_NONE);
    if (!none && given != ndim)
        return e_fail(e, site->span, NULL, DIAG_ARG_VALUE, site->name, "it takes each axis once, or none");
    for (uint32_t k = 0; k < ndim; k++) {
        order[k] = ndim - 1 - k;
        if (!none && !read_axis(e, site, axes[k], ndim, &order[k])) return val_poison(e);
        seen |= 1u << order[k];
    }
    if (seen != (1u << ndim) - 1)
        return e_fail(e, site->span, NULL, DIAG_ARG_VALUE, site->name, "it takes each axis once, or none");
    return array_permuted(e, a, order);
}

Val fn_array_swapaxes(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"a", "axis1", "axis2"};
    Val v[3];
    uint32_t order[MAX_NDIM], axis[2];
    if (!call_bind(e, site, n, args, 3, params, v) || !some_array(e, site, &v[0])) return val_poison(e);
    for (uint32_t i = 0; i < 2; i++)
        if (!read_axis(e, site, v[1 + i], v[0].ty->ndim, &axis[i])) return val_poison(e);
    for (uint32_t k = 0; k < v[0].ty->ndim; k++) order[k] = k == axis[0] ? axis[1] : k == axis[1] ? axis[0] : k;
    return array_permuted(e, v[0], order);
}
