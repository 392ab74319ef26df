/* arrayreduce.c - sums, extremes and searches over the elements of an array, in the thread that calls.
 *
 * Accumulators have NumPy's types: sums of integers and bools have 64 bits, float16 is summed in float32. Floats are
 * added in the order of the elements (NumPy adds in pairs, which rounds otherwise). */
#include "arrays.h"
#include "devfns.h"

#include <math.h>
#include <string.h>

/* A reduction being emitted: what its loop over the elements needs. */
typedef struct Reducer {
    PySpan span;
    Reduction kind;
    Scalar in;       /* elements are converted to it */
    Cell acc, at, n; /* n: elements so far (ARG) */
    Val mean;        /* VAR */
} Reducer;

static bool is_max(Reduction k) { return k == REDUCE_MAX || k == REDUCE_ARGMAX; }

/* ---- one element more -------------------------------------------------------------------------------- */
static Val better(Eval *e, Reduction kind, DType d, Val a, Val b) {
    Op op = dt_is_float(d) ? (is_max(kind) ? OP_NANMAX : OP_NANMIN) : is_max(kind) ? OP_MAX : OP_MIN;
    if (d == DT_BOOL) op = is_max(kind) ? OP_OR : OP_AND;
    return val_typed(e, d, e_op2_of(e, op, dtype_info[d].ir, a, b));
}

/* The first of the best elements; a nan is better than any number. */
static void step_arg(Eval *e, Reducer *r, Val x) {
    DType d = (DType)r->in.dtype;
    Val best = cell_get(e, &r->acc), n = cell_get(e, &r->n);
    Ref a = val_ref(e, x), b = val_ref(e, best), wins = e_cmp(e, is_max(r->kind) ? PRED_GT : PRED_LT, a, b);
    if (dt_is_float(d)) {
        Ref number = e_op1(e, OP_NOT, T_BOOL, is_nan(e, b));
        wins = e_op2(e, OP_OR, T_BOOL, wins, e_op2(e, OP_AND, T_BOOL, number, is_nan(e, a)));
    }
    Type t = dtype_info[d].ir;
    cell_set(e, &r->acc, val_typed(e, d, e_select(e, t, wins, a, b)));
    Ref at = e_select(e, T_I64, wins, val_ref(e, n), val_ref(e, cell_get(e, &r->at)));
    cell_set(e, &r->at, val_typed(e, DT_I64, at));
    cell_set(e, &r->n, eval_arith(e, PYB_ADD, typed(DT_I64), n, val_const_int(e, typed(DT_I64), 1)));
}

/* |x - mean|**2 */
static Val deviation(Eval *e, const Reducer *r, Val x) {
    Val diff = eval_arith(e, PYB_SUB, r->in, x, r->mean);
    if (!dt_is_complex((DType)r->in.dtype)) return eval_arith(e, PYB_MUL, r->in, diff, diff);
    Scalar part = typed(dtype_info[r->in.dtype].part);
    Val re = val_of(e, part, val_re(e, diff)), im = val_of(e, part, val_im(e, diff));
    return eval_arith(e, PYB_ADD, part, eval_arith(e, PYB_MUL, part, re, re), eval_arith(e, PYB_MUL, part, im, im));
}

static void step(Eval *e, void *context, const Val *index, Val x) {
    (void)index;
    Reducer *r = context;
    Val acc = cell_get(e, &r->acc);
    if (r->kind == REDUCE_ANY || r->kind == REDUCE_ALL || r->kind == REDUCE_COUNT) {
        x = val_convert(e, eval_truth(e, r->span, x), typed(DT_BOOL));
        if (r->kind == REDUCE_COUNT) acc = eval_arith(e, PYB_ADD, typed(DT_I64), acc, val_convert(e, x, typed(DT_I64)));
        else acc = val_typed(e, DT_BOOL, e_op2_of(e, r->kind == REDUCE_ANY ? OP_OR : OP_AND, T_BOOL, acc, x));
        cell_set(e, &r->acc, acc);
        return;
    }
    x = val_convert(e, x, r->in);
    switch (r->kind) {
    case REDUCE_ARGMIN:
    case REDUCE_ARGMAX: step_arg(e, r, x); return;
    case REDUCE_MIN:
    case REDUCE_MAX: acc = better(e, r->kind, (DType)r->in.dtype, acc, x); break;
    case REDUCE_PROD: acc = eval_arith(e, PYB_MUL, r->in, acc, x); break;
    case REDUCE_VAR: acc = eval_arith(e, PYB_ADD, r->acc.type, acc, deviation(e, r, x)); break;
    default: acc = eval_arith(e, PYB_ADD, r->in, acc, x); break;
    }
    cell_set(e, &r->acc, acc);
}

/* ---- types ------------------------------------------------------------------------------------------- */
static DType sum_type(DType d) {
    if (d == DT_BOOL || dtype_info[d].kind == DK_INT) return DT_I64;
    return dtype_info[d].kind == DK_UINT ? DT_U64 : d;
}

/* Numba's means are float64, of float32 too. */
static DType mean_type(const Eval *e, DType d) {
    return dt_is_int(d) || d == DT_BOOL || (e_numba(e) && dt_is_float(d)) ? DT_F64 : d;
}

/* The type in which a float is added up. */
static DType accumulator(DType d) { return d == DT_F16 || d == DT_BF16 ? DT_F32 : d; }

/* ---- all elements ------------------------------------------------------------------------------------ */
static Val walked(Eval *e, Reducer *r, Val v, Val first) {
    Epoch epoch = e->epoch;
    r->acc = cell_new(e, SCALAR(first.ty->dtype, false), first);
    many_walk(e, r->span, v, v.ty->ndim, many_shape(v), REF_NONE, step, r);
    Val out = cell_get(e, &r->acc);
    e->epoch = epoch;
    return out;
}

static Val count_of(Eval *e, Val v) {
    Val n = val_int(e, 1);
    for (uint32_t k = 0; k < v.ty->ndim; k++) n = size_op(e, PYB_MUL, n, many_size(v, k));
    return n;
}

/* An extreme needs an element. */
static bool has_elements(Eval *e, PySpan span, const char *name, Val n) {
    Wide known;
    if (val_as_int(n, &known)) {
        if (known) return true;
        e_fail(e, span, NULL, DIAG_ARG_VALUE, name, "an array without elements has none");
        return false;
    }
    e_raise_if(e, span, e_cmp(e, PRED_EQ, val_ref(e, n), e_int(e, T_I64, 0)), "ValueError",
               "zero-size array to reduction operation which has no identity");
    return true;
}

static Val first_element(Eval *e, PySpan span, Val v) {
    Val index[MAX_NDIM];
    for (uint32_t k = 0; k < v.ty->ndim; k++) index[k] = val_int(e, 0);
    if (e->building) v = many_stretched(e, span, v, v.ty->ndim, many_shape(v));
    return many_element(e, span, v, v.ty->ndim, index);
}

static Val extreme(Eval *e, PySpan span, const char *name, Reduction kind, Val v) {
    DType d = val_dtype(v), in = kind >= REDUCE_ARGMIN && d == DT_BOOL ? DT_I8 : d;
    if (dt_is_complex(d)) return e_fail(e, span, "take .real, .imag or abs(...)", DIAG_ARG_TYPE, name, e_text(e, v));
    if (!has_elements(e, span, name, count_of(e, v))) return val_poison(e);
    Reducer r = {.span = span, .kind = kind, .in = typed(in)};
    Epoch epoch = e->epoch;
    Val zero = val_const_int(e, typed(DT_I64), 0);
    bool arg = kind == REDUCE_ARGMIN || kind == REDUCE_ARGMAX;
    if (arg) r.at = cell_new(e, typed(DT_I64), zero), r.n = cell_new(e, typed(DT_I64), zero);
    Val first = first_element(e, span, v);
    if (val_poisoned(first)) return first;
    Val best = walked(e, &r, v, val_convert(e, first, typed(in)));
    Val out = arg ? cell_get(e, &r.at) : best;
    e->epoch = epoch;
    return out;
}

static Val sum_of(Eval *e, PySpan span, Val v, DType d) {
    DType acc = accumulator(d);
    Reducer r = {.span = span, .kind = REDUCE_SUM, .in = typed(acc)};
    return val_convert(e, walked(e, &r, v, val_convert(e, val_int(e, 0), typed(acc))), typed(d));
}

static Val divided(Eval *e, Val sum, Val n) {
    DType d = val_dtype(sum);
    if (!dt_is_complex(d)) return eval_arith(e, PYB_TRUEDIV, typed(d), sum, val_convert(e, n, typed(d)));
    Scalar part = typed(dtype_info[d].part);
    Val by = val_convert(e, n, part);
    Val re = eval_arith(e, PYB_TRUEDIV, part, val_of(e, part, val_re(e, sum)), by);
    Val im = eval_arith(e, PYB_TRUEDIV, part, val_of(e, part, val_im(e, sum)), by);
    Ref x = val_ref(e, re), y = val_ref(e, im);
    return val_complex(e, typed(d), x, y);
}

static Val mean_of(Eval *e, PySpan span, Val v, DType acc) {
    return divided(e, sum_of(e, span, v, acc), count_of(e, v));
}

static Val variance(Eval *e, PySpan span, Val v, DType acc, Val ddof) {
    Reducer r = {.span = span, .kind = REDUCE_VAR, .in = typed(acc), .mean = mean_of(e, span, v, acc)};
    DType part = dtype_info[acc].part;
    Val sum = walked(e, &r, v, val_const_float(e, typed(part), 0, 0));
    Val n = size_op(e, PYB_SUB, count_of(e, v), to_size(e, ddof));
    return divided(e, sum, size_minmax(e, OP_MAX, n, val_int(e, 0)));
}

static Val product_of(Eval *e, PySpan span, Val v, DType d) {
    DType acc = accumulator(d);
    Reducer r = {.span = span, .kind = REDUCE_PROD, .in = typed(acc)};
    return val_convert(e, walked(e, &r, v, val_convert(e, val_int(e, 1), typed(acc))), typed(d));
}

static Val truth_of(Eval *e, PySpan span, Reduction kind, Val v) {
    Reducer r = {.span = span, .kind = kind, .in = typed(DT_BOOL)};
    Scalar s = typed(kind == REDUCE_COUNT ? DT_I64 : DT_BOOL);
    return walked(e, &r, v, val_const_int(e, s, kind == REDUCE_ALL));
}

/* What the caller asks for: a dtype for the accumulator (DT_NONE: NumPy's), delta degrees of freedom. */
typedef struct Options {
    Reduction kind;
    DType dtype;
    Val ddof;
    const char *name;
} Options;

static Val reduced(Eval *e, PySpan span, const Options *o, Val v) {
    DType d = val_dtype(v), mean = o->dtype == DT_NONE ? mean_type(e, d) : o->dtype;
    switch (o->kind) {
    case REDUCE_SUM: return sum_of(e, span, v, o->dtype == DT_NONE ? sum_type(d) : o->dtype);
    case REDUCE_PROD: return product_of(e, span, v, o->dtype == DT_NONE ? sum_type(d) : o->dtype);
    case REDUCE_ANY:
    case REDUCE_ALL:
    case REDUCE_COUNT: return truth_of(e, span, o->kind, v);
    case REDUCE_MEAN: return val_convert(e, mean_of(e, span, v, accumulator(mean)), typed(mean));
    case REDUCE_VAR:
    case REDUCE_STD: {
        Val r = variance(e, span, v, accumulator(mean), o->ddof);
        Scalar s = typed(val_dtype(r)), out = typed(dtype_info[mean].part);
        if (o->kind == REDUCE_STD) r = val_of(e, s, e_math1(e, MATH_SQRT, dtype_info[s.dtype].ir, val_ref(e, r)));
        return val_convert(e, r, out);
    }
    case REDUCE_PTP: {
        Val high = extreme(e, span, o->name, REDUCE_MAX, v), low = extreme(e, span, o->name, REDUCE_MIN, v);
        return val_poisoned(high) ? high : eval_binary(e, span, PYB_SUB, high, low);
    }
    default: return extreme(e, span, o->name, o->kind, v);
    }
}

/* ---- along an axis ----------------------------------------------------------------------------------- */

/* The elements of an array that differ in one axis only. */
static Val line_of(Eval *e, Val a, uint32_t axis, const Val *rest) {
    Val at[MAX_NDIM], size = array_size(a, axis), stride = array_stride(e, a, axis);
    for (uint32_t k = 0; k < a.ty->ndim; k++) at[k] = k == axis ? val_int(e, 0) : rest[k < axis ? k : k - 1];
    Ty ty = ty_array(e->types, elem_of(a.ty), 1, LAYOUT_A, a.ty->readonly, (Type)a.ty->space);
    return array_with(e, ty, array_at(e, a, at, a.ty->ndim), &size, &stride);
}

typedef struct AlongAxis {
    PySpan span;
    const Options *options;
    Val a, out;
    uint32_t axis;
} AlongAxis;

static void reduce_line(Eval *e, void *context, const Val *rest) {
    const AlongAxis *w = context;
    Val x = reduced(e, w->span, w->options, line_of(e, w->a, w->axis, rest));
    if (!val_poisoned(x)) array_store(e, elem_of(w->out.ty), array_at(e, w->out, rest, w->out.ty->ndim), x);
}

static Val reduce_axis(Eval *e, const CallSite *site, const Options *o, Val a, uint32_t axis) {
    Val shape[MAX_NDIM];
    Wide total;
    uint32_t ndim = a.ty->ndim - 1u;
    many_settled(e, site->span, site->name, &a, &total);
    a = many_array(e, site->span, a);
    if (val_poisoned(a)) return a;
    for (uint32_t k = 0; k < ndim; k++) shape[k] = array_size(a, k < axis ? k : k + 1);
    if (!shape_settled(e, site->span, site->name, ndim, shape, &total) || total > INT32_MAX / 16)
        return e_fail(e, site->span, "loop over the other axes, and take the whole of a[i]", DIAG_CONSTRUCT, site->name,
                      "the shape of its result isn't known when compiling");
    bool building = e->building;
    Val rest[MAX_NDIM];
    for (uint32_t k = 0; k < ndim; k++) rest[k] = val_rt_int(e, REF_NONE);
    e->building = false;
    Val one = reduced(e, site->span, o, line_of(e, a, axis, rest));
    e->building = building;
    if (val_poisoned(one)) return reduced(e, site->span, o, a); /* reports */
    Epoch epoch = e->epoch;
    AlongAxis w = {site->span, o, a, array_local(e, elem_scalar(val_dtype(one)), ndim, shape), axis};
    for_each_index(e, ndim, shape, REF_NONE, reduce_line, &w);
    Val out =
        array_local(e, elem_scalar(val_dtype(one)), ndim, shape); /* may be `a`, from the last iteration of a loop */
    array_assign(e, site->span, out, w.out);
    e->epoch = epoch;
    return out;
}

/* ---- functions --------------------------------------------------------------------------------------- */
static bool numbers(Eval *e, const CallSite *site, Val *a) {
    if (a->ty->kind == TY_TUPLE) *a = array_from_sequence(e, site->span, *a, DT_NONE);
    if (val_is_scalar(*a)) *a = array_from_sequence(e, site->span, *a, DT_NONE);
    if (val_poisoned(*a)) return false;
    if (val_is_many(*a) && a->ty->dtype != DT_RECORD) return many_fresh(e, site->span, *a);
    bad_arg(e, site, 0, *a, "it takes an array, or a tuple of numbers");
    return false;
}

/* An axis as a constant, or `ndim`: all of them. False: reported. */
static bool reduced_axis(Eval *e, const CallSite *site, Val v, Wide ndim, Wide *axis) {
    *axis = ndim;
    if (!v.ty || v.ty->kind == TY_NONE || (v.ty->kind == TY_TUPLE && v.ty->n == ndim)) return true;
    if (v.ty->kind == TY_TUPLE && v.ty->n == 1) v = v.items[0];
    if (!val_as_int(v, axis)) {
        e_fail(e, site->span, "one axis, as a constant", DIAG_ARG_CONSTANT, site->name, "axis", e_text(e, v));
        return false;
    }
    if (*axis >= -ndim && *axis < ndim) {
        *axis += *axis < 0 ? ndim : 0;
        return true;
    }
    e_fail(e, site->span, NULL, DIAG_ARG_VALUE, site->name,
           arena_printf(e->arena, "there is no axis %s: the array has %u", wide_text(e->arena, *axis), (unsigned)ndim));
    return false;
}

/* keepdims: what was reduced stays as axes of one element. */
static Val with_axes(Eval *e, Val r, Val a, Wide axis) {
    Val shape[MAX_NDIM], one = val_int(e, 1);
    uint32_t ndim = a.ty->ndim;
    if (val_poisoned(r) || !ndim) return r;
    for (uint32_t k = 0; k < ndim; k++) shape[k] = k == axis || axis == ndim ? one : many_size(r, k < axis ? k : k - 1);
    if (!val_is_scalar(r)) return array_made(e, elem_of(r.ty), false, (Type)r.ty->space, array_data(r), ndim, shape);
    for (uint32_t k = 0; k < ndim; k++) shape[k] = one;
    Epoch epoch = e->epoch;
    Val out = array_local(e, elem_scalar(val_dtype(r)), ndim, shape);
    array_store(e, elem_of(out.ty), array_data(out), r);
    e->epoch = epoch;
    return out;
}

/* param: Reduction; np.sum(a, axis, dtype, keepdims=), np.var(a, axis, dtype, ddof=, keepdims=), np.max(a, axis,
 * keepdims=) */
Val fn_np_reduce(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[3][5] = {{"a", "?axis", "?keepdims"},
                                             {"a", "?axis", "?dtype", "?keepdims"},
                                             {"a", "?axis", "?dtype", "?ddof", "?keepdims"}};
    Options o = {.kind = (Reduction)site->fn->param, .dtype = DT_NONE, .name = site->name};
    uint32_t takes = o.kind == REDUCE_VAR || o.kind == REDUCE_STD ? 2 : o.kind <= REDUCE_MEAN ? 1 : 0;
    Val v[5] = {{0}};
    if (n - site->nkw > takes + 2) return e_fail(e, site->span, NULL, DIAG_TOO_MANY_ARGS, site->name, takes + 2, n);
    if (!call_bind(e, site, n, args, takes + 3, params[takes], v) || !numbers(e, site, &v[0])) return val_poison(e);
    Val keep = v[takes + 2], dtype = takes ? v[2] : (Val){0};
    if (dtype.ty && dtype.ty->kind != TY_NONE && !val_dtype_named(e, dtype, &o.dtype))
        return e_fail(e, site->span, "a dtype is written np.float32", DIAG_ARG_TYPE, site->name, e_text(e, dtype));
    o.ddof = takes == 2 && v[3].ty ? v[3] : val_int(e, 0);
    if (!val_is_scalar(o.ddof) || !is_integral(o.ddof)) return bad_arg(e, site, 3, o.ddof, "ddof is an integer");
    Wide axis, ndim = v[0].ty->ndim, keeps = 0;
    if (keep.ty && !val_as_int(keep, &keeps))
        return e_fail(e, site->span, NULL, DIAG_ARG_CONSTANT, site->name, "keepdims", e_text(e, keep));
    if (!reduced_axis(e, site, v[1], ndim, &axis)) return val_poison(e);
    Val r =
        axis == ndim || ndim == 1 ? reduced(e, site->span, &o, v[0]) : reduce_axis(e, site, &o, v[0], (uint32_t)axis);
    return keeps ? with_axes(e, r, v[0], axis) : r;
}

/* ---- Python's own: they iterate ---------------------------------------------------------------------- */
typedef struct Iterated {
    const CallSite *site;
    Scalar type;
    Cell acc;
} Iterated;

static void add_one(Eval *e, void *context, const Val *index, Val x) {
    (void)index;
    Iterated *w = context;
    cell_set(e, &w->acc, eval_arith(e, PYB_ADD, w->type, cell_get(e, &w->acc), val_convert(e, x, w->type)));
}

static void choose_one(Eval *e, void *context, const Val *index, Val x) {
    (void)index;
    Iterated *w = context;
    DType d = (DType)w->type.dtype;
    bool max = w->site->fn->param;
    Op op = e_numba(e) && dt_is_float(d) ? (max ? OP_FMAX : OP_FMIN) : max ? OP_MAX : OP_MIN;
    if (d == DT_BOOL) op = max ? OP_OR : OP_AND;
    cell_set(e, &w->acc, val_typed(e, d, e_op2_of(e, op, dtype_info[d].ir, cell_get(e, &w->acc), x)));
}

static bool one_axis(Eval *e, const CallSite *site, Val v) {
    if (v.ty->ndim == 1 && v.ty->dtype != DT_RECORD) return many_fresh(e, site->span, v);
    bad_arg(e, site, 0, v,
            v.ty->dtype == DT_RECORD
                ? "records have no order and no sum: name a field"
                : "the items of this array are rows; np.sum(...), np.min(...) and np.any(...) take all elements");
    return false;
}

/* sum(a, start): what 0 + a[0] + a[1] + ... gives. */
Val array_python_sum(Eval *e, const CallSite *site, Val v, Val start) {
    if (!one_axis(e, site, v)) return val_poison(e);
    bool building = e->building;
    e->building = false;
    Val type = eval_binary(e, site->span, PYB_ADD, val_abstract(e, start), many_element_type(e, v));
    e->building = building;
    if (val_poisoned(type) || !val_is_scalar(type))
        return eval_binary(e, site->span, PYB_ADD, start, many_element_type(e, v));
    Iterated w = {site, typed(val_dtype(type)), {{0}, REF_NONE}};
    Epoch epoch = e->epoch;
    w.acc = cell_new(e, w.type, val_convert(e, start, w.type));
    many_walk(e, site->span, v, 1, many_shape(v), REF_NONE, add_one, &w);
    Val out = cell_get(e, &w.acc);
    e->epoch = epoch;
    return out;
}

/* min(a), max(a): b if b < a else a, from the first to the last. */
Val array_python_minmax(Eval *e, const CallSite *site, Val v) {
    if (!one_axis(e, site, v) || !has_elements(e, site->span, site->name, many_size(v, 0))) return val_poison(e);
    if (dt_is_complex(val_dtype(v))) return bad_arg(e, site, 0, v, "complex numbers have no order");
    Iterated w = {site, typed(val_dtype(v)), {{0}, REF_NONE}};
    Epoch epoch = e->epoch;
    Val first = first_element(e, site->span, v);
    if (val_poisoned(first)) return first;
    w.acc = cell_new(e, w.type, first);
    many_walk(e, site->span, v, 1, many_shape(v), REF_NONE, choose_one, &w);
    Val out = cell_get(e, &w.acc);
    e->epoch = epoch;
    return out;
}

Val array_python_any(Eval *e, const CallSite *site, Val v, bool any) {
    if (!one_axis(e, site, v)) return val_poison(e);
    return val_convert(e, truth_of(e, site->span, any ? REDUCE_ANY : REDUCE_ALL, v), e_python_bool(e));
}

Val array_contains(Eval *e, PySpan span, Val item, Val a) {
    Val equal = array_lazy(e, span, (ExprOp){EXPR_COMPARE, PYC_EQ, NULL}, 2, (Val[]){a, item});
    if (val_poisoned(equal)) return equal;
    return val_convert(e, truth_of(e, span, REDUCE_ANY, equal), e_python_bool(e));
}

/* ---- running sums and products ------------------------------------------------------------------------ */
typedef struct Running {
    PyBinary op;
    Scalar type;
    Cell acc;
    Val out;
} Running;

static void run_one(Eval *e, void *context, const Val *index, Val x) {
    Running *w = context;
    Val acc = eval_arith(e, w->op, w->type, cell_get(e, &w->acc), val_convert(e, x, w->type));
    cell_set(e, &w->acc, acc);
    array_store(e, elem_of(w->out.ty), array_at(e, w->out, index, 1), acc);
}

static Val running_target(Eval *e, const CallSite *site, Val a, Val out, DType d) {
    Val shape;
    Wide n;
    if (out.ty && out.ty->kind != TY_NONE) {
        if (!array_writable(e, site->span, out)) return val_poison(e);
        if (out.ty->ndim != 1 || out.ty->dtype == DT_RECORD)
            return e_fail(e, site->span, "it has one axis", DIAG_ARG_TYPE, site->name, e_text(e, out));
        e_raise_if(e, site->span, e_cmp(e, PRED_NE, val_ref(e, array_size(out, 0)), val_ref(e, many_size(a, 0))),
                   "ValueError", "out has another length");
        return out;
    }
    shape = many_size(a, 0);
    if (!shape_settled(e, site->span, site->name, 1, &shape, &n) || n > INT32_MAX / 16)
        return e_fail(e, site->span, "give it where to put the sums: out=...", DIAG_CONSTRUCT, site->name,
                      "the length of its result isn't known when compiling");
    return array_local(e, elem_scalar(d), 1, &shape);
}

/* param: PYB_ADD, PYB_MUL. Element i of the source is read before element i of `out` is written: they may be one array.
 */
Val fn_np_running(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"a", "?axis", "?dtype", "?out"};
    Val v[4];
    DType d = DT_NONE;
    if (!call_bind(e, site, n, args, 4, params, v) || !numbers(e, site, &v[0])) return val_poison(e);
    Wide axis = 0;
    if (v[0].ty->ndim > 1 && !v[2].ty && !v[3].ty) {
        CallSite s = {.span = site->span, .fn = site->fn, .name = site->name, .at = site->at};
        const char *name = site->fn->param == PYB_MUL ? "running_products" : "running_sums";
        return call_small_array(e, &s, name, 2, (Val[]){v[0], v[1].ty ? v[1] : val_none(e)});
    }
    if (v[0].ty->ndim != 1 ||
        (v[1].ty && v[1].ty->kind != TY_NONE && (!val_as_int(v[1], &axis) || axis < -1 || axis > 0)))
        return bad_arg(e, site, 0, v[0], "it takes an array of one axis");
    if (v[2].ty && v[2].ty->kind != TY_NONE && !val_dtype_named(e, v[2], &d))
        return e_fail(e, site->span, "a dtype is written np.float32", DIAG_ARG_TYPE, site->name, e_text(e, v[2]));
    if (d == DT_NONE) d = sum_type(val_dtype(v[0]));
    Epoch epoch = e->epoch;
    bool given = v[3].ty && v[3].ty->kind != TY_NONE;
    Running w = {(PyBinary)site->fn->param, typed(d), {{0}, REF_NONE}, running_target(e, site, v[0], v[3], d)};
    if (val_poisoned(w.out)) return w.out;
    if (given) array_read_ahead(e, site->span, w.out, v[0]);
    w.acc = cell_new(e, w.type, val_convert(e, val_int(e, w.op == PYB_MUL), w.type));
    many_walk(e, site->span, v[0], 1, many_shape(v[0]), REF_NONE, run_one, &w);
    if (!given) e->epoch = epoch;
    return w.out;
}

/* ---- comparing whole arrays --------------------------------------------------------------------------- */
static bool same_shapes(Val a, Val b) {
    bool same = a.ty->ndim == b.ty->ndim;
    for (uint32_t k = 0; same && k < a.ty->ndim; k++) {
        Wide n, m;
        same = !val_as_int(many_size(a, k), &n) || !val_as_int(many_size(b, k), &m) || n == m;
    }
    return same;
}

/* Shapes that differ when compiling give False, as in NumPy; those that differ at run time raise. */
Val fn_array_equal(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val v[2];
    if (!bind_args(e, site, n, args, 2, v)) return val_poison(e);
    for (uint32_t i = 0; i < 2; i++)
        if (!numbers(e, site, &v[i])) return val_poison(e);
    if (!same_shapes(v[0], v[1])) return val_bool(e, false);
    Val equal = array_lazy(e, site->span, (ExprOp){EXPR_COMPARE, PYC_EQ, NULL}, 2, v);
    if (val_poisoned(equal)) return equal;
    return val_convert(e, truth_of(e, site->span, REDUCE_ALL, equal), e_python_bool(e));
}

/* All of np.isclose(a, b, ...). */
Val fn_np_allclose(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    CallSite s = *site;
    s.fn = devfn_find("numpy.isclose");
    Val close = array_lazy(e, site->span, (ExprOp){EXPR_CALL, 0, &s}, n, args);
    if (val_poisoned(close)) return close;
    return val_convert(e, truth_of(e, site->span, REDUCE_ALL, close), e_python_bool(e));
}
