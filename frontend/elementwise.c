/* elementwise.c - operators and functions on all elements of arrays, with NumPy's broadcasting.
 *
 * What an operator does with two elements is what it does with two numbers: the rule for scalars is asked for each
 * element. A result of up to SMALL_ELEMENTS elements is computed at once, into an array of the thread's own: all
 * elements are read before the first is written. Any other result is an expression (TY_EXPR), a value that holds its
 * operands; it costs no memory, and is computed element by element where it is stored, summed or indexed. NumPy
 * computes it where it stands, so memory must not have changed in between: Eval.epoch tells, and what may be stale is
 * refused. */
#include "arrays.h"

#include <string.h>

/* ---- shapes ------------------------------------------------------------------------------------------ */
const char *shape_text(Eval *e, uint32_t ndim, const Val *shape) {
    const char *s = "(";
    for (uint32_t k = 0; k < ndim; k++) {
        Wide n;
        const char *size = val_as_int(shape[k], &n) ? wide_text(e->arena, n) : "n";
        s = arena_printf(e->arena, "%s%s%s", s, k ? ", " : "", size);
    }
    return arena_printf(e->arena, "%s%s)", s, ndim == 1 ? "," : "");
}

/* The size of an axis of two operands; false: they don't go together. */
static bool join_sizes(Eval *e, Val a, Val b, Val *out) {
    Wide x = 0, y = 0;
    bool a_known = val_as_int(a, &x), b_known = val_as_int(b, &y);
    bool same = !a_known && !b_known && a.ref[0] == b.ref[0] && a.ref[0] != REF_NONE;
    if (a_known && b_known && x != y && x != 1 && y != 1) return false;
    if (same || (b_known && y == 1) || (a_known && x != 1)) *out = a;
    else if (b_known || (a_known && x == 1)) *out = b;
    else *out = eval_select(e, (PySpan){0}, eval_compare(e, (PySpan){0}, PYC_EQ, a, val_int(e, 1)), b, a);
    return true;
}

bool many_broadcast(Eval *e, PySpan span, uint32_t n, const Val *v, uint32_t *ndim, Val *shape) {
    *ndim = 0;
    for (uint32_t i = 0; i < n; i++)
        if (val_is_many(v[i]) && v[i].ty->ndim > *ndim) *ndim = v[i].ty->ndim;
    for (uint32_t k = 0; k < *ndim; k++) shape[k] = val_int(e, 1);
    for (uint32_t i = 0; i < n; i++) {
        if (!val_is_many(v[i])) continue;
        uint32_t m = v[i].ty->ndim, skip = *ndim - m;
        for (uint32_t k = 0; k < m; k++) {
            if (join_sizes(e, shape[skip + k], many_size(v[i], k), &shape[skip + k])) continue;
            uint32_t first = 0;
            while (!val_is_many(v[first])) first++;
            e_fail(e, span, "sizes are equal, or one of them is 1", DIAG_SHAPES,
                   shape_text(e, v[first].ty->ndim, many_shape(v[first])), shape_text(e, m, many_shape(v[i])));
            return false;
        }
    }
    return true;
}

/* ---- elements ---------------------------------------------------------------------------------------- */
Val many_element_type(Eval *e, Val v) {
    if (v.ty->dtype == DT_RECORD && record_is_time(v.ty->record))
        return time_of(e, v.ty->record, (Val){.ty = ty_scalar(e->types, DT_I64, false)});
    if (v.ty->dtype == DT_RECORD) return record_at(e, elem_of(v.ty), v.ty->readonly, (Type)v.ty->space, REF_NONE);
    return (Val){.ty = ty_scalar(e->types, val_dtype(v), false)};
}

/* A size that may be 1 at run time where the whole has another one takes index 0. */
Val axis_index(Eval *e, Val size, Val index) {
    Wide n;
    if (!val_as_int(size, &n)) return index;
    return n == 1 ? val_int(e, 0) : index;
}

static Val array_element_at(Eval *e, Val a, uint32_t n, const Val *index) {
    Val at[MAX_NDIM];
    uint32_t skip = n - a.ty->ndim;
    for (uint32_t k = 0; k < a.ty->ndim; k++) at[k] = axis_index(e, array_size(a, k), index[skip + k]);
    return array_load(e, a.ty, array_at(e, a, at, a.ty->ndim));
}

static const char *const numba_names[PYB__COUNT] = {
    [PYB_ADD] = "numpy.add",           [PYB_AND] = "numpy.bitwise_and",     [PYB_FLOORDIV] = "numpy.floor_divide",
    [PYB_LSHIFT] = "numpy.left_shift", [PYB_MUL] = "numpy.multiply",        [PYB_MOD] = "numpy.remainder",
    [PYB_OR] = "numpy.bitwise_or",     [PYB_POW] = "numpy.power",           [PYB_RSHIFT] = "numpy.right_shift",
    [PYB_SUB] = "numpy.subtract",      [PYB_TRUEDIV] = "numpy.true_divide", [PYB_XOR] = "numpy.bitwise_xor",
};

/* In Numba's dialect arrays keep the widths that its operators on scalars widen. */
static Val apply_binary(Eval *e, PySpan span, PyBinary op, const Val *x) {
    const DevFn *fn = e_numba(e) && numba_names[op] ? devfn_find(numba_names[op]) : NULL;
    if (!fn) return eval_binary(e, span, op, x[0], x[1]);
    return call_devfn(e, &(CallSite){.span = span, .name = fn->path}, fn, 2, x);
}

static Val apply_unary(Eval *e, PySpan span, PyUnary op, Val x) {
    static const char *const names[] = {
        [PYU_NEG] = "numpy.negative", [PYU_POS] = "numpy.positive", [PYU_INVERT] = "numpy.invert"};
    const DevFn *fn = e_numba(e) ? devfn_find(names[op]) : NULL;
    if (!fn) return eval_unary(e, span, op, x);
    return call_devfn(e, &(CallSite){.span = span, .name = fn->path}, fn, 1, &x);
}

static Val apply(Eval *e, PySpan span, ExprOp op, uint32_t n, const Val *x) {
    Val v;
    switch (op.kind) {
    case EXPR_BINARY: v = apply_binary(e, span, (PyBinary)op.code, x); break;
    case EXPR_UNARY: v = apply_unary(e, span, (PyUnary)op.code, x[0]); break;
    case EXPR_COMPARE: v = eval_compare(e, span, (PyCompare)op.code, x[0], x[1]); break;
    case EXPR_CALL: v = call_devfn(e, op.site, op.site->fn, n, x); break;
    default: v = val_convert(e, x[0], SCALAR(op.code, false)); break;
    }
    if (!val_poisoned(v) && val_is_scalar(v) && v.ty->weak) v = val_convert(e, v, SCALAR(v.ty->dtype, false));
    return v;
}

/* The operation of an expression, with its function's keywords. */
static ExprOp op_of(Eval *e, PySpan span, Ty ty) {
    ExprOp op = {(ExprKind)ty->sub, ty->layout, NULL};
    if (op.kind != EXPR_CALL) return op;
    CallSite *site = ARENA_NEW(e->arena, CallSite);
    uint32_t n = ty->n - ty->ndim, first = 0;
    while (ty->fields && first < n && !*ty->fields[first]) first++;
    *site = (CallSite){.span = span, .fn = devfn_find(ty->name), .name = ty->name};
    if (ty->fields) {
        site->kwnames = ty->fields + first;
        site->nkw = n - first;
    }
    op.site = site;
    return op;
}

Val many_element(Eval *e, PySpan span, Val v, uint32_t n, const Val *index) {
    if (!val_is_many(v)) return v;
    uint32_t skip = n - v.ty->ndim;
    if (v.ty->kind == TY_ARRAY) return array_element_at(e, v, n, index);
    if (v.ty->sub == EXPR_TAKE) return take_element(e, span, v, index + skip);
    uint32_t operands = v.ty->n - v.ty->ndim;
    Val *x = ARENA_ARRAY(e->arena, Val, operands + 1);
    for (uint32_t i = 0; i < operands; i++) {
        x[i] = many_element(e, span, v.items[i], v.ty->ndim, index ? index + skip : NULL);
        if (val_poisoned(x[i])) return x[i];
    }
    return apply(e, span, op_of(e, span, v.ty), operands, x);
}

static Epoch epoch_of(Val v) { return (Epoch){(uint32_t)((uint64_t)v.i >> 32), (uint32_t)v.i}; }

/* ---- results ----------------------------------------------------------------------------------------- */

/* What the expression's arrays may have been changed by: writes to the thread's own memory, and all others. */
static bool is_stale(Val v, Epoch made, Epoch now) {
    if (v.ty->kind == TY_ARRAY && v.ty->space == T_PTRC) return false;
    if (v.ty->kind == TY_ARRAY) return v.ty->space == T_PTRL ? made.local != now.local : made.other != now.other;
    bool stale = false;
    for (uint32_t i = 0; v.ty->kind == TY_EXPR && i < v.ty->n - v.ty->ndim; i++)
        stale |= is_stale(v.items[i], made, now);
    return stale;
}

static Wide packed_epoch(Epoch x) { return (Wide)((uint64_t)x.other << 32 | x.local); }

bool many_is_fresh(const Eval *e, Val v) {
    if (v.ty->kind == TY_EXPR) return !e->building || (v.i >= 0 && !is_stale(v, epoch_of(v), e->epoch));
    bool fresh = true;
    for (uint32_t i = 0; v.ty->kind == TY_TUPLE && i < v.ty->n; i++) fresh &= many_is_fresh(e, v.items[i]);
    return fresh;
}

Val many_renewed(Eval *e, Val v) {
    if (v.ty->kind == TY_EXPR) v.i = e->building ? packed_epoch(e->epoch) : -1;
    if (v.ty->kind != TY_TUPLE) return v;
    Val *items = ARENA_ARRAY(e->arena, Val, v.ty->n + 1);
    for (uint32_t i = 0; i < v.ty->n; i++) items[i] = many_renewed(e, v.items[i]);
    v.items = items;
    return v;
}

bool many_fresh(Eval *e, PySpan span, Val v) {
    if (v.ty->kind != TY_EXPR || many_is_fresh(e, v)) return true;
    e_fail(e, span, "write the expression where it is used, or store it: t[:] = ...", DIAG_CONSTRUCT,
           "this array expression",
           "its size isn't a small constant, and its arrays may have changed since it was made");
    return false;
}

Val array_local(Eval *e, Elem elem, uint32_t ndim, const Val *shape) {
    Wide total = 1;
    sizes_known(ndim, shape, &total);
    uint64_t bytes = (uint64_t)(total ? total : 1) * elem_size(elem);
    Ref data = e_alloca(e, bytes);
    return array_made(e, elem, false, T_PTRL, data, ndim, shape);
}

/* An expression as an array, all its elements read before one is written. */
Val many_computed(Eval *e, PySpan span, Val expr, Wide total) {
    uint32_t ndim = expr.ty->ndim;
    Epoch epoch = e->epoch;
    DType d = val_dtype(expr);
    if (!e->building) return array_local(e, elem_scalar(d), ndim, many_shape(expr));
    expr = many_stretched(e, span, expr, ndim, many_shape(expr));
    Val *out = ARENA_ARRAY(e->arena, Val, (size_t)total + 1), index[MAX_NDIM];
    for (Wide i = 0; i < total; i++) {
        index_of(e, ndim, many_shape(expr), i, index);
        out[i] = many_element(e, span, expr, ndim, index);
        if (val_poisoned(out[i])) return out[i];
    }
    Val a = array_local(e, elem_scalar(d), ndim, many_shape(expr));
    for (Wide i = 0; i < total; i++) {
        index_of(e, ndim, many_shape(expr), i, index);
        array_store(e, elem_scalar(d), array_at(e, a, index, ndim), out[i]);
    }
    e->epoch = epoch;
    return a;
}

static Val make_expr(Eval *e, ExprOp op, DType d, uint32_t n, const Val *x, uint32_t ndim, const Val *shape) {
    Val *items = ARENA_ARRAY(e->arena, Val, n + ndim + 1);
    vals_copy(items, x, n);
    vals_copy(items + n, shape, ndim);
    const char *name = NULL, **fields = NULL;
    if (op.kind == EXPR_CALL) {
        name = op.site->fn->path;
        if (op.site->nkw) {
            fields = ARENA_ARRAY(e->arena, const char *, n + ndim);
            for (uint32_t i = 0; i < n + ndim; i++) fields[i] = "";
            for (uint32_t i = 0; i < op.site->nkw; i++) fields[n - op.site->nkw + i] = op.site->kwnames[i];
        }
    }
    Val v = {.ty = ty_expr(e->types, op.kind, op.code, d, ndim, n + ndim, items, name, fields), .items = items};
    return many_renewed(e, v);
}

/* What one element of the result is, without emitting anything. */
static Val result_type(Eval *e, PySpan span, ExprOp op, uint32_t n, const Val *x) {
    Val *types = ARENA_ARRAY(e->arena, Val, n + 1);
    bool building = e->building;
    for (uint32_t i = 0; i < n; i++) types[i] = val_is_many(x[i]) ? many_element_type(e, x[i]) : val_abstract(e, x[i]);
    e->building = false;
    Val v = apply(e, span, op, n, types);
    e->building = building;
    if (val_poisoned(v) && building) apply(e, span, op, n, types); /* reports */
    return v;
}

/* An expression holds its operands, so that a variable used twice is in it twice: it may not double without end. */
enum { MOST_NODES = 128 };

static uint32_t count_nodes(Val v, uint32_t n) {
    if (!val_is_many(v) || n > MOST_NODES) return n;
    n++;
    for (uint32_t i = 0; v.ty->kind == TY_EXPR && i < v.ty->n - v.ty->ndim; i++) n = count_nodes(v.items[i], n);
    return n;
}

Val array_lazy(Eval *e, PySpan span, ExprOp op, uint32_t n, const Val *operands) {
    Val *x = ARENA_ARRAY(e->arena, Val, n + 1), shape[MAX_NDIM];
    uint32_t ndim, nodes = 0;
    for (uint32_t i = 0; i < n; i++) {
        x[i] = operands[i].ty->kind == TY_TUPLE ? array_from_sequence(e, span, operands[i], DT_NONE) : operands[i];
        if (val_poisoned(x[i]) || !many_fresh(e, span, x[i])) return val_poison(e);
        nodes = count_nodes(x[i], nodes);
    }
    if (nodes > MOST_NODES)
        return e_fail(e, span, "store a part of it in an array", DIAG_CONSTRUCT, "this expression",
                      "it works on more than 128 arrays and parts");
    Val one = result_type(e, span, op, n, x);
    if (val_poisoned(one)) return one;
    if (!val_is_scalar(one))
        return e_fail(e, span, "call it on the elements, in a loop", DIAG_CONSTRUCT, "this on an array",
                      "it gives several values for each element");
    if (!many_broadcast(e, span, n, x, &ndim, shape)) return val_poison(e);
    return make_expr(e, op, val_dtype(one), n, x, ndim, shape);
}

Val array_map(Eval *e, PySpan span, ExprOp op, uint32_t n, const Val *operands) {
    Wide total;
    Val v = array_lazy(e, span, op, n, operands);
    if (val_poisoned(v)) return v;
    if (!v.ty->ndim) return many_element(e, span, v, 0, NULL);
    bool small = sizes_known(v.ty->ndim, many_shape(v), &total) && total <= SMALL_ELEMENTS;
    return small ? many_computed(e, span, v, total) : v;
}

uint32_t many_leaves(Val v, Leaf *out, uint32_t n) {
    uint32_t first = n;
    if (!val_is_many(v) || n > MAX_LEAVES) return n;
    if (v.ty->kind == TY_ARRAY) {
        if (n < MAX_LEAVES) out[n] = (Leaf){v, false};
        return n + 1;
    }
    for (uint32_t i = 0; i < v.ty->n - v.ty->ndim; i++) n = many_leaves(v.items[i], out, n);
    for (uint32_t i = first; v.ty->sub == EXPR_TAKE && i < n && i < MAX_LEAVES; i++) out[i].scattered = true;
    return n;
}

/* ---- sizes that only a launch knows ------------------------------------------------------------------- */
static bool same_size(Val size, Val whole) {
    Wide n, m;
    if (val_as_int(size, &n) && (n == 1 || (val_as_int(whole, &m) && n == m))) return true;
    return !val_const(size) && !val_const(whole) && size.ref[0] == whole.ref[0];
}

static void and_sizes_equal(Eval *e, Val v, uint32_t ndim, const Val *shape, Ref *equal) {
    if (!val_is_many(v)) return;
    const Val *whole = shape + (ndim - v.ty->ndim);
    bool take = v.ty->kind == TY_EXPR && v.ty->sub == EXPR_TAKE;
    for (uint32_t k = 0; (take || v.ty->kind == TY_ARRAY) && k < v.ty->ndim; k++) {
        if (same_size(many_size(v, k), whole[k])) continue;
        Ref same = e_cmp(e, PRED_EQ, val_ref(e, many_size(v, k)), val_ref(e, whole[k]));
        *equal = *equal == REF_NONE ? same : e_op2(e, OP_AND, T_BOOL, *equal, same);
    }
    uint32_t operands = v.ty->kind == TY_EXPR ? v.ty->n - v.ty->ndim : 0;
    if (!take)
        for (uint32_t i = 0; i < operands; i++) and_sizes_equal(e, v.items[i], v.ty->ndim, whole, equal);
    else /* indices go along axes of their own */
        for (uint32_t i = 1; i < operands; i++)
            and_sizes_equal(e, v.items[i], v.ty->ndim + operands - 1 - v.items[0].ty->ndim,
                            many_shape(v) + v.ty->layout, equal);
}

bool many_sizes_equal(Eval *e, Val v, uint32_t ndim, const Val *shape, Ref *equal) {
    *equal = REF_NONE;
    and_sizes_equal(e, v, ndim, shape, equal);
    return *equal == REF_NONE;
}

/* Axes of size 1 get stride 0. */
static Val stretched_array(Eval *e, PySpan span, Val a, uint32_t ndim, const Val *shape) {
    Val strides[MAX_NDIM];
    Ref zero = e_int(e, T_I64, 0), one = e_int(e, T_I64, 1);
    bool all = true;
    for (uint32_t k = 0; k < a.ty->ndim; k++) {
        Val size = array_size(a, k), whole = shape[ndim - a.ty->ndim + k];
        strides[k] = array_stride(e, a, k);
        if (same_size(size, whole)) continue;
        all = false;
        Ref n = val_ref(e, size), differs = e_cmp(e, PRED_NE, n, val_ref(e, whole)), single = e_cmp(e, PRED_EQ, n, one);
        Ref wrong = e_op2(e, OP_AND, T_BOOL, differs, e_op1(e, OP_NOT, T_BOOL, single));
        e_raise_if(e, span, wrong, "ValueError", "the shapes of these arrays don't go together");
        strides[k] = val_rt_int(e, e_select(e, T_I64, single, zero, val_ref(e, strides[k])));
    }
    if (all) return a;
    Ty ty = ty_array(e->types, elem_of(a.ty), a.ty->ndim, LAYOUT_A, a.ty->readonly, (Type)a.ty->space);
    return array_with(e, ty, array_data(a), a.items + 1, strides);
}

Val many_stretched(Eval *e, PySpan span, Val v, uint32_t ndim, const Val *shape) {
    if (!val_is_many(v)) return v;
    if (v.ty->kind == TY_ARRAY) return stretched_array(e, span, v, ndim, shape);
    if (v.ty->sub == EXPR_TAKE) return take_stretched(e, span, v, shape + (ndim - v.ty->ndim));
    uint32_t n = v.ty->n, operands = n - v.ty->ndim;
    Val *items = ARENA_ARRAY(e->arena, Val, n + 1);
    vals_copy(items, v.items, n);
    for (uint32_t i = 0; i < operands; i++) items[i] = many_stretched(e, span, items[i], ndim, shape);
    v.items = items;
    v.ty = ty_expr(e->types, (ExprKind)v.ty->sub, v.ty->layout, val_dtype(v), v.ty->ndim, n, items, v.ty->name,
                   v.ty->fields);
    return v;
}

typedef struct Walk {
    PySpan span;
    Val v;
    uint32_t ndim;
    AtElement *each;
    void *context;
} Walk;

static void walk_one(Eval *e, void *context, const Val *index) {
    const Walk *w = context;
    Val x = many_element(e, w->span, w->v, w->ndim, index);
    if (!val_poisoned(x)) w->each(e, w->context, index, x);
}

void many_walk(Eval *e, PySpan span, Val v, uint32_t ndim, const Val *shape, Ref backward, AtElement *each,
               void *context) {
    Walk w = {span, v, ndim, each, context};
    Ref equal;
    if (!e->building || many_sizes_equal(e, v, ndim, shape, &equal)) {
        for_each_index(e, ndim, shape, backward, walk_one, &w);
        return;
    }
    BlockId fast = e_new_block(e), slow = e_new_block(e), done = e_new_block(e);
    e_branch(e, equal, fast, slow);
    e_set_block(e, fast);
    for_each_index(e, ndim, shape, backward, walk_one, &w);
    e_jump(e, done);
    e_set_block(e, slow);
    w.v = many_stretched(e, span, v, ndim, shape);
    for_each_index(e, ndim, shape, backward, walk_one, &w);
    e_jump(e, done);
    e_set_block(e, done);
}

/* ---- an expression stored as it is ------------------------------------------------------------------- */
Val many_array(Eval *e, PySpan span, Val v) {
    Wide total;
    if (v.ty->kind != TY_EXPR) return v;
    if (!many_fresh(e, span, v)) return val_poison(e);
    if (!many_settled(e, span, "an array", &v, &total))
        return e_fail(e, span, "assign it to a slice: out[i, :] = ...", DIAG_CONSTRUCT, "this array",
                      "its size isn't known when compiling");
    Epoch epoch = e->epoch;
    Val a = array_local(e, elem_scalar(val_dtype(v)), v.ty->ndim, many_shape(v));
    array_assign(e, span, a, v);
    e->epoch = epoch;
    return a;
}
