/* linalg.c - products of vectors and matrices: @, np.dot, np.cross, np.outer, np.linalg.norm, np.trace.
 *
 * Vectors of any length give a number; what gives an array has a constant shape. Products are summed in the order of
 * the elements, in the common type, and each product and sum may be one fused operation. */
#include "arrays.h"
#include "devfns.h"

#include <string.h>

/* ---- sums of products -------------------------------------------------------------------------------- */
typedef struct Product {
    PySpan span;
    Val a, b; /* 1 or 2 axes each */
    Val out;  /* the result, if it is an array */
    DType type;
    Val inner;       /* elements of each sum */
    Val row, column; /* of the element being computed; absent without that axis */
    Cell sum;
} Product;

static Val term(Eval *e, const Product *p, Val k) {
    Val left[2] = {p->row, k}, right[2] = {k, p->column};
    uint32_t n = p->a.ty->ndim, m = p->b.ty->ndim;
    Val x = many_element(e, p->span, p->a, n, n == 1 ? &k : left),
        y = many_element(e, p->span, p->b, m, m == 1 ? &k : right);
    if (val_poisoned(x) || val_poisoned(y)) return val_poison(e);
    Scalar s = SCALAR(p->type, false);
    return eval_arith(e, PYB_MUL, s, val_convert(e, x, s), val_convert(e, y, s));
}

static void add_term(Eval *e, void *context, const Val *index) {
    Product *p = context;
    Val x = term(e, p, index[0]);
    if (!val_poisoned(x)) cell_set(e, &p->sum, eval_arith(e, PYB_ADD, SCALAR(p->type, false), cell_get(e, &p->sum), x));
}

/* The sum over k of a[row, k] * b[k, column]. */
static Val sum_of_products(Eval *e, Product *p) {
    Scalar s = SCALAR(p->type, false);
    Val zero = val_convert(e, val_int(e, 0), s);
    Wide n;
    if (!val_as_int(p->inner, &n) || n > SMALL_ELEMENTS || n == 0) {
        p->sum = cell_new(e, s, zero);
        for_each_index(e, 1, &p->inner, REF_NONE, add_term, p);
        return cell_get(e, &p->sum);
    }
    Val sum = term(e, p, val_int(e, 0));
    for (Wide k = 1; k < n && e->building && !val_poisoned(sum); k++)
        sum = eval_arith(e, PYB_ADD, s, sum, term(e, p, val_int(e, k)));
    return sum;
}

/* ---- products ---------------------------------------------------------------------------------------- */

/* Both axes have one length; false: they can't, reported. Checked at run time where that isn't known. */
static bool one_length(Eval *e, PySpan span, Val a, Val b, Val x, Val y, Val *out) {
    Wide n, m;
    bool x_known = val_as_int(x, &n), y_known = val_as_int(y, &m);
    *out = x_known ? x : y;
    if (x_known && y_known) {
        if (n == m) return true;
        e_fail(e, span, "the last axis of the left side is as long as the first of the right", DIAG_PRODUCT_SHAPES,
               shape_text(e, a.ty->ndim, many_shape(a)), shape_text(e, b.ty->ndim, many_shape(b)));
        return false;
    }
    if (e->building && x.ref[0] == y.ref[0] && x.ref[0] != REF_NONE) return true;
    e_raise_if(e, span, e_cmp(e, PRED_NE, val_ref(e, x), val_ref(e, y)), "ValueError",
               "the shapes of this product don't go together");
    return true;
}

static void product_element(Eval *e, void *context, const Val *index) {
    Product *p = context;
    uint32_t used = 0;
    if (p->a.ty->ndim == 2) p->row = index[used++];
    if (p->b.ty->ndim == 2) p->column = index[used];
    Val x = sum_of_products(e, p);
    if (!val_poisoned(x)) array_store(e, elem_scalar(p->type), array_at(e, p->out, index, p->out.ty->ndim), x);
}

/* All elements are computed before one is stored: the result of the last iteration of a loop may be an operand. */
static void product_small(Eval *e, Product *p, Wide total) {
    Val *x = ARENA_ARRAY(e->arena, Val, (size_t)total + 1), index[2];
    uint32_t ndim = p->out.ty->ndim;
    for (Wide i = 0; i < total; i++) {
        uint32_t used = 0;
        index_of(e, ndim, many_shape(p->out), i, index);
        if (p->a.ty->ndim == 2) p->row = index[used++];
        if (p->b.ty->ndim == 2) p->column = index[used];
        x[i] = sum_of_products(e, p);
        if (val_poisoned(x[i])) return;
    }
    for (Wide i = 0; i < total; i++) {
        index_of(e, ndim, many_shape(p->out), i, index);
        array_store(e, elem_scalar(p->type), array_at(e, p->out, index, ndim), x[i]);
    }
}

static Val product_array(Eval *e, Product *p) {
    Val shape[2];
    Wide total;
    uint32_t ndim = 0;
    if (p->a.ty->ndim == 2) shape[ndim++] = many_size(p->a, 0);
    if (p->b.ty->ndim == 2) shape[ndim++] = many_size(p->b, 1);
    if (!shape_settled(e, p->span, "a product", ndim, shape, &total) || total > INT32_MAX / 16)
        return e_fail(e, p->span, "write the loops, or take rows: a[i] @ b[j]", DIAG_CONSTRUCT, "this product",
                      "its shape isn't known when compiling");
    p->out = array_local(e, elem_scalar(p->type), ndim, shape);
    if (!e->building) return p->out;
    if (total <= SMALL_ELEMENTS) {
        product_small(e, p, total);
        return p->out;
    }
    Val out = p->out; /* may be an operand, from the last iteration of a loop */
    p->out = array_local(e, elem_scalar(p->type), ndim, shape);
    for_each_index(e, ndim, shape, REF_NONE, product_element, p);
    array_assign(e, p->span, out, p->out);
    return out;
}

static bool operand(Eval *e, PySpan span, Val *v) {
    if (v->ty->kind == TY_TUPLE) *v = array_from_sequence(e, span, *v, DT_NONE);
    if (val_poisoned(*v)) return false;
    if (!val_is_many(*v) || v->ty->dtype == DT_RECORD || v->ty->ndim < 1 || v->ty->ndim > 2) {
        e_fail(e, span, "the operands are vectors and matrices", DIAG_OPERAND_TYPE, "this product", e_text(e, *v));
        return false;
    }
    return many_fresh(e, span, *v);
}

Val array_matmul(Eval *e, PySpan span, Val a, Val b, bool dot) {
    Scalar s;
    bool number = dot && ((val_is_scalar(a) && val_is_many(b)) || (val_is_many(a) && val_is_scalar(b)));
    if (number) return array_map(e, span, (ExprOp){EXPR_BINARY, PYB_MUL, NULL}, 2, (Val[]){a, b});
    if (!operand(e, span, &a) || !operand(e, span, &b)) return val_poison(e);
    Product p = {.span = span, .a = a, .b = b};
    promote_common(DIALECT_NUMPY, SCALAR(a.ty->dtype, false), SCALAR(b.ty->dtype, false), &s);
    p.type = (DType)s.dtype;
    if (!one_length(e, span, a, b, many_size(a, a.ty->ndim - 1u), many_size(b, 0), &p.inner)) return val_poison(e);
    bool kept = e->keep_products;
    Epoch epoch = e->epoch;
    e->keep_products = false;
    Val v = a.ty->ndim == 1 && b.ty->ndim == 1 ? sum_of_products(e, &p) : product_array(e, &p);
    e->keep_products = kept;
    e->epoch = epoch;
    return v;
}

/* param: 0 np.dot, where a number is a factor; 1 np.matmul; 2 np.inner, where rows meet rows */
Val fn_np_dot(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val v[2];
    if (!bind_args(e, site, n, args, 2, v)) return val_poison(e);
    bool dot = site->fn->param != 1, inner = site->fn->param == 2;
    if (val_is_scalar(v[0]) && val_is_scalar(v[1]) && dot) return eval_binary(e, site->span, PYB_MUL, v[0], v[1]);
    if (inner && val_is_many(v[1]) && v[1].ty->ndim == 2 && val_is_many(v[0])) {
        v[1] = many_array(e, site->span, v[1]);
        if (val_poisoned(v[1])) return v[1];
        v[1] = array_permuted(e, v[1], (uint32_t[]){1, 0});
    }
    return array_matmul(e, site->span, v[0], v[1], dot);
}

/* The left side conjugated. */
Val fn_np_vdot(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val v[2];
    if (!bind_args(e, site, n, args, 2, v)) return val_poison(e);
    for (int i = 0; i < 2; i++)
        if (val_is_many(v[i]) && v[i].ty->ndim > 1) return call_small_array(e, site, "vdot_of", n, args);
    if (val_is_many(v[0]) && dt_is_complex(val_dtype(v[0]))) {
        CallSite conj = {.span = site->span, .fn = devfn_find("numpy.conjugate"), .name = "np.conjugate"};
        v[0] = array_lazy(e, site->span, (ExprOp){EXPR_CALL, 0, &conj}, 1, v);
        if (val_poisoned(v[0])) return v[0];
    }
    return array_matmul(e, site->span, v[0], v[1], false);
}

/* ---- others ------------------------------------------------------------------------------------------ */
static bool vectors(Eval *e, const CallSite *site, uint32_t n, Val *v) {
    for (uint32_t i = 0; i < n; i++) {
        if (v[i].ty->kind == TY_TUPLE) v[i] = array_from_sequence(e, site->span, v[i], DT_NONE);
        if (val_poisoned(v[i])) return false;
        if (!val_is_many(v[i]) || v[i].ty->dtype == DT_RECORD || v[i].ty->ndim != 1) {
            bad_arg(e, site, i, v[i], "it takes vectors: arrays of one axis");
            return false;
        }
        if (!many_fresh(e, site->span, v[i])) return false;
    }
    return true;
}

/* a[:, None] * b */
Val fn_np_outer(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val v[2];
    if (!bind_args(e, site, n, args, 2, v) || !vectors(e, site, 2, v)) return val_poison(e);
    Val a = many_array(e, site->span, v[0]), none = val_none(e);
    if (val_poisoned(a)) return a;
    Val whole = val_composite(e, TY_SLICE, 0, 3, (Val[]){none, none, none});
    Val column = eval_getitem(e, site->span, a, val_tuple(e, 2, (Val[]){whole, none}));
    return array_map(e, site->span, (ExprOp){EXPR_BINARY, PYB_MUL, NULL}, 2, (Val[]){column, v[1]});
}

/* The product of two vectors of three elements; also of run-time length, which is then checked. */
Val fn_np_cross(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val v[2], x[2][3], items[3], three = val_int(e, 3);
    if (!bind_args(e, site, n, args, 2, v)) return val_poison(e);
    if ((val_is_many(v[0]) && v[0].ty->ndim == 2) || (val_is_many(v[1]) && v[1].ty->ndim == 2))
        return call_small_array(e, site, "cross_of", n, args);
    if (!vectors(e, site, 2, v)) return val_poison(e);
    for (uint32_t i = 0; i < 2; i++) {
        Val size = many_size(v[i], 0);
        Wide known;
        if (val_as_int(size, &known) && known != 3) return bad_arg(e, site, i, v[i], "it takes vectors of 3 elements");
        if (!val_const(size))
            e_raise_if(e, site->span, e_cmp(e, PRED_NE, val_ref(e, size), e_int(e, T_I64, 3)), "ValueError",
                       "np.cross takes vectors of 3 elements");
        if (e->building) v[i] = many_stretched(e, site->span, v[i], 1, &three);
        for (Wide k = 0; k < 3; k++) {
            Val at = val_int(e, k);
            x[i][k] = many_element(e, site->span, v[i], 1, &at);
            if (val_poisoned(x[i][k])) return x[i][k];
        }
    }
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t a = (k + 1) % 3, b = (k + 2) % 3;
        Val first = eval_binary(e, site->span, PYB_MUL, x[0][a], x[1][b]);
        items[k] = eval_binary(e, site->span, PYB_SUB, first, eval_binary(e, site->span, PYB_MUL, x[0][b], x[1][a]));
        if (val_poisoned(items[k])) return items[k];
    }
    return array_from_sequence(e, site->span, val_tuple(e, 3, items), DT_NONE);
}

typedef struct Norm {
    Scalar type; /* of the sum: a real float */
    Cell sum;
} Norm;

static void add_square(Eval *e, void *context, const Val *index, Val x) {
    (void)index;
    Norm *w = context;
    Val parts[2] = {x, {0}};
    if (dt_is_complex(val_dtype(x))) {
        Scalar part = SCALAR(dtype_info[x.ty->dtype].part, false);
        parts[0] = val_of(e, part, val_re(e, x));
        parts[1] = val_of(e, part, val_im(e, x));
    }
    for (int i = 0; i < 2 && parts[i].ty; i++) {
        Val y = val_convert(e, parts[i], w->type);
        cell_set(e, &w->sum,
                 eval_arith(e, PYB_ADD, w->type, cell_get(e, &w->sum), eval_arith(e, PYB_MUL, w->type, y, y)));
    }
}

/* The square root of the sum of squares, of all elements. */
Val fn_np_norm(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val v;
    if (n > 1) return call_small_array(e, site, "norm_of", n, args);
    if (!bind_args(e, site, n, args, 1, &v)) return val_poison(e);
    if (v.ty->kind == TY_TUPLE) v = array_from_sequence(e, site->span, v, DT_NONE);
    if (val_poisoned(v)) return v;
    if (!val_is_many(v) || v.ty->dtype == DT_RECORD) return bad_arg(e, site, 0, v, "it takes a vector or a matrix");
    if (!many_fresh(e, site->span, v)) return val_poison(e);
    DType d = dtype_info[v.ty->dtype].part;
    if (!dt_is_float(d)) d = DT_F64;
    bool half = d == DT_F16 || d == DT_BF16;
    Norm w = {.type = typed(half ? DT_F32 : d)};
    Epoch epoch = e->epoch;
    w.sum = cell_new(e, w.type, val_convert(e, val_int(e, 0), w.type));
    many_walk(e, site->span, v, v.ty->ndim, many_shape(v), REF_NONE, add_square, &w);
    Ref root = e_math1(e, MATH_SQRT, dtype_info[w.type.dtype].ir, val_ref(e, cell_get(e, &w.sum)));
    e->epoch = epoch;
    return val_convert(e, val_of(e, w.type, root), typed(d));
}

Val fn_np_trace(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val a;
    Wide rows, columns, total;
    if (!bind_args(e, site, n, args, 1, &a)) return val_poison(e);
    if (!val_is_many(a) || a.ty->dtype == DT_RECORD || a.ty->ndim != 2)
        return bad_arg(e, site, 0, a, "it takes a matrix");
    if (!many_fresh(e, site->span, a)) return val_poison(e);
    many_settled(e, site->span, site->name, &a, &total);
    if (!val_as_int(many_size(a, 0), &rows) || !val_as_int(many_size(a, 1), &columns))
        return e_fail(e, site->span, "write the loop", DIAG_ARG_CONSTANT, site->name, "shape",
                      shape_text(e, 2, many_shape(a)));
    DType d = val_dtype(a);
    Scalar s = typed(dt_is_int(d) || d == DT_BOOL ? (dtype_info[d].kind == DK_UINT ? DT_U64 : DT_I64) : d);
    Val sum = val_convert(e, val_int(e, 0), s);
    for (Wide i = 0; i < rows && i < columns; i++) {
        Val at[] = {val_int(e, i), val_int(e, i)}, x = many_element(e, site->span, a, 2, at);
        if (val_poisoned(x)) return x;
        sum = eval_arith(e, PYB_ADD, s, sum, val_convert(e, x, s));
    }
    return sum;
}
