/* arraymake.c - arrays that a kernel makes with NumPy's names: np.zeros(3), np.array([a, b, c]), np.eye(2).
 *
 * They are memory of the thread's own. The compiler lays it out, so shapes are constants; each time the statement is
 * executed the elements are set anew. */
#include "arrays.h"
#include "devfns.h"

#include <math.h>
#include <string.h>

enum { LOCAL_BYTES = 512 * 1024, MOST_COUNTED = 4096 /* items of np.arange, which are stored one by one */ };

/* ---- shapes and types -------------------------------------------------------------------------------- */
static bool fits_memory(Eval *e, PySpan span, const char *name, Elem elem, Wide total) {
    Wide bytes = total * elem_size(elem);
    if (bytes <= LOCAL_BYTES) return true;
    e_fail(e, span, "use a part of an array argument for each thread", DIAG_ARG_VALUE, name,
           arena_printf(e->arena, "a thread has %u KiB for arrays of its own, and this takes %s",
                        (unsigned)(LOCAL_BYTES / 1024), wide_text(e->arena, (bytes + 1023) / 1024)));
    return false;
}

static bool constant_shape(Eval *e, const CallSite *site, Val v, uint32_t *ndim, Val *shape) {
    uint32_t n = v.ty->kind == TY_TUPLE ? v.ty->n : 1;
    const Val *at = v.ty->kind == TY_TUPLE ? v.items : &v;
    if (n > MAX_NDIM) {
        e_fail(e, arg_span(site, 0), NULL, DIAG_ARG_VALUE, site->name, "an array has at most 16 axes");
        return false;
    }
    for (uint32_t k = 0; k < n; k++) {
        Wide size;
        Val one = at[k];
        if (val_is_scalar(one) && one.likely) shape_settled(e, site->span, site->name, 1, &one, &size);
        if (!val_is_scalar(one) || !dt_is_int(val_dtype(one)) || !val_as_int(one, &size)) {
            double x;
            if (val_is_scalar(one) && val_as_double(one, &x)) {
                e_fail(e, arg_span(site, 0), "// is the integer division; int(...) truncates", DIAG_ARG_VALUE,
                       site->name, "a size is an integer");
                return false;
            }
            e_fail(e, arg_span(site, 0), SIZE_HELP, DIAG_ARG_CONSTANT, site->name, "shape", e_text(e, at[k]));
            return false;
        }
        if (size < 0 || size > INT32_MAX) {
            e_fail(e, arg_span(site, 0), NULL, DIAG_ARG_VALUE, site->name, "a size is 0 or more, and below 2**31");
            return false;
        }
        shape[k] = val_int(e, size);
    }
    *ndim = n;
    return true;
}

/* The dtype argument; the default if it isn't there. */
static bool elem_arg(Eval *e, const CallSite *site, Val v, Elem fallback, Elem *out) {
    *out = fallback;
    if (!v.ty || v.ty->kind == TY_NONE || val_elem_named(e, v, out)) return true;
    e_fail(e, site->span, "a dtype is written np.float32 or \"float32\"", DIAG_ARG_TYPE, site->name, e_text(e, v));
    return false;
}

/* Of numbers. */
static bool dtype_arg(Eval *e, const CallSite *site, Val v, DType fallback, DType *out) {
    *out = fallback;
    if (!v.ty || v.ty->kind == TY_NONE || val_dtype_named(e, v, out)) return true;
    e_fail(e, site->span, "a dtype is written np.float32 or \"float32\"", DIAG_ARG_TYPE, site->name, e_text(e, v));
    return false;
}

/* A new array with one value in all elements; POISON `value`: with what happens to be there. */
static Val filled(Eval *e, const CallSite *site, Elem elem, uint32_t ndim, const Val *shape, Val value) {
    Wide total;
    if (!sizes_known(ndim, shape, &total) || !fits_memory(e, site->span, site->name, elem, total)) return val_poison(e);
    Epoch epoch = e->epoch;
    Val a = array_local(e, elem, ndim, shape);
    if (!val_poisoned(value)) array_assign(e, site->span, a, value);
    e->epoch = epoch;
    return a;
}

/* param: 0 zeros, 1 ones, 2 empty */
static Val fill_of(Eval *e, unsigned param) { return param == 2 ? val_poison(e) : val_int(e, param); }

Val fn_np_zeros(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"shape", "?dtype"};
    Val v[2], shape[MAX_NDIM];
    uint32_t ndim;
    Elem elem;
    if (!call_bind(e, site, n, args, 2, params, v) || !constant_shape(e, site, v[0], &ndim, shape) ||
        !elem_arg(e, site, v[1], elem_scalar(DT_F64), &elem))
        return val_poison(e);
    return filled(e, site, elem, ndim, shape, fill_of(e, site->fn->param));
}

/* A fill value has the dtype that NumPy gives np.array(value). */
static DType own_dtype(Val v) {
    Wide i;
    if (v.ty->weak && val_as_int(v, &i) && !dt_fits(DT_I64, i) && dt_fits(DT_U64, i)) return DT_U64;
    return val_dtype(v);
}

Val fn_np_full(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"shape", "fill_value", "?dtype"};
    Val v[3], shape[MAX_NDIM];
    uint32_t ndim;
    DType d;
    if (!call_bind(e, site, n, args, 3, params, v) || !constant_shape(e, site, v[0], &ndim, shape))
        return val_poison(e);
    bool numbers = val_is_scalar(v[1]) || val_is_many(v[1]);
    if (!numbers) return bad_arg(e, site, 1, v[1], "it is a number, or an array");
    if (!dtype_arg(e, site, v[2], own_dtype(v[1]), &d)) return val_poison(e);
    return filled(e, site, elem_scalar(d), ndim, shape, v[1]);
}

/* param: 0 zeros_like, 1 ones_like, 2 empty_like, 3 full_like */
Val fn_np_like(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"a", "?dtype"}, *const full[] = {"a", "fill_value", "?dtype"};
    bool has_value = site->fn->param == 3;
    Val v[3];
    Elem elem;
    Wide total;
    if (!call_bind(e, site, n, args, has_value ? 3 : 2, has_value ? full : params, v)) return val_poison(e);
    if (!val_is_many(v[0])) return bad_arg(e, site, 0, v[0], "it takes an array");
    if (!elem_arg(e, site, v[has_value ? 2 : 1], elem_of(v[0].ty), &elem)) return val_poison(e);
    if (!many_settled(e, site->span, site->name, &v[0], &total))
        return e_fail(e, arg_span(site, 0), SIZE_HELP, DIAG_ARG_SIZE, site->name, e_text(e, v[0]));
    return filled(e, site, elem, v[0].ty->ndim, many_shape(v[0]), has_value ? v[1] : fill_of(e, site->fn->param));
}

/* ---- np.array(...) ----------------------------------------------------------------------------------- */
typedef struct Items {
    Eval *e;
    PySpan span;
    uint32_t ndim;
    Val shape[MAX_NDIM];
    Wide total;
    DType dtype; /* of all together */
    Val *out;
    Wide n;
} Items;

/* The shape of nested tuples and arrays; false: it isn't one, reported. */
static bool sequence_shape(Items *s, Val v, uint32_t depth) {
    bool many = val_is_many(v), tuple = v.ty->kind == TY_TUPLE;
    uint32_t more = many ? v.ty->ndim : tuple;
    if (!many && !tuple && !val_is_scalar(v)) {
        e_fail(s->e, s->span, "its items are numbers, or tuples and arrays of them", DIAG_STORE_TYPE, "an array",
               e_text(s->e, v));
        return false;
    }
    Val *shape = s->shape + depth;
    if (depth + more > MAX_NDIM || (many && v.ty->dtype == DT_RECORD)) {
        e_fail(s->e, s->span, "assign to its elements one by one", DIAG_STORE_TYPE, "an array", e_text(s->e, v));
        return false;
    }
    if (tuple) shape[0] = val_int(s->e, v.ty->n);
    if (many) vals_copy(shape, many_shape(v), more);
    if (!tuple || !v.ty->n) {
        s->ndim = depth + more;
        return true;
    }
    return sequence_shape(s, v.items[0], depth + 1);
}

static bool collect(Items *s, Val v, uint32_t depth) {
    Eval *e = s->e;
    Scalar both;
    bool many = val_is_many(v), tuple = v.ty->kind == TY_TUPLE;
    uint32_t more = many ? v.ty->ndim : 0;
    Wide total;
    bool matches = many && v.ty->dtype == DT_RECORD ? false
                   : tuple                          ? depth < s->ndim && s->shape[depth].i == v.ty->n
                                                    : depth + more == s->ndim;
    if (many && matches) many_settled(e, s->span, "np.array", &v, &total);
    for (uint32_t k = 0; k < more && matches; k++)
        matches = val_const(many_size(v, k)) && many_size(v, k).i == s->shape[depth + k].i;
    if (!matches || (!tuple && !many && !val_is_scalar(v))) {
        e_fail(e, s->span, "all rows have one length", DIAG_CONSTRUCT, "this array", "its items differ in shape");
        return false;
    }
    for (uint32_t i = 0; tuple && i < v.ty->n; i++)
        if (!collect(s, v.items[i], depth + 1)) return false;
    if (tuple) return true;
    DType d = own_dtype(v);
    if (s->dtype == DT_NONE) s->dtype = d;
    else if (promote_common(DIALECT_NUMPY, typed(s->dtype), typed(d), &both)) s->dtype = (DType)both.dtype;
    Wide count = 1;
    Val index[MAX_NDIM];
    if (many) sizes_known(more, many_shape(v), &count);
    for (Wide i = 0; i < count; i++, s->n++) {
        if (many) index_of(e, more, many_shape(v), i, index);
        s->out[s->n] = e->building ? many_element(e, s->span, v, more, index) : v;
        if (val_poisoned(s->out[s->n])) return false;
    }
    return true;
}

Val array_from_sequence(Eval *e, PySpan span, Val sequence, DType d) {
    Items s = {.e = e, .span = span, .dtype = DT_NONE};
    if (!sequence_shape(&s, sequence, 0)) return val_poison(e);
    if (!shape_settled(e, span, "np.array", s.ndim, s.shape, &s.total))
        return e_fail(e, span, "assign it to a slice: out[i, :] = ...", DIAG_CONSTRUCT, "this array",
                      "its size isn't known when compiling");
    if (!fits_memory(e, span, "np.array", elem_scalar(DT_C128), s.total)) return val_poison(e);
    s.out = ARENA_ARRAY(e->arena, Val, (size_t)s.total + 1);
    if (!collect(&s, sequence, 0)) return val_poison(e);
    if (d == DT_NONE) d = s.dtype == DT_NONE ? DT_F64 : s.dtype;
    Epoch epoch = e->epoch;
    Val a = array_local(e, elem_scalar(d), s.ndim, s.shape), index[MAX_NDIM];
    for (Wide i = 0; e->building && i < s.total; i++) {
        index_of(e, s.ndim, s.shape, i, index);
        array_store(e, elem_scalar(d), array_at(e, a, index, s.ndim), s.out[i]);
    }
    e->epoch = epoch;
    return a;
}

static Val copied_records(Eval *e, PySpan span, Val a, DType d) {
    Wide total;
    Elem elem = elem_of(a.ty);
    if (d != DT_RECORD || !many_settled(e, span, "copy", &a, &total))
        return e_fail(e, span, "copy record by record", DIAG_CONSTRUCT, "this copy",
                      d == DT_RECORD ? "its size isn't known when compiling" : "records don't become numbers");
    if (!fits_memory(e, span, "copy", elem, total)) return val_poison(e);
    Epoch epoch = e->epoch;
    Val to = array_local(e, elem, a.ty->ndim, many_shape(a));
    array_assign(e, span, to, a);
    e->epoch = epoch;
    return to;
}

/* A copy, of another type if one is asked for. */
static Val copied(Eval *e, PySpan span, Val a, DType d) {
    Wide total;
    if (a.ty->dtype == DT_RECORD || d == DT_RECORD) return copied_records(e, span, a, d);
    ExprOp op = {EXPR_CONVERT, (uint8_t)d, NULL};
    if (dt_is_complex(val_dtype(a)) && !dt_is_complex(d) && d != DT_BOOL)
        return e_fail(e, span, "take .real, .imag or abs(...)", DIAG_COMPLEX_TO_REAL, e_text(e, a), dtype_info[d].name);
    many_settled(e, span, "copy", &a, &total);
    Val v = array_map(e, span, op, 1, &a);
    if (val_poisoned(v) || v.ty->kind != TY_EXPR) return v;
    return sizes_known(v.ty->ndim, many_shape(v), &total) && fits_memory(e, span, "copy", elem_scalar(d), total)
               ? many_array(e, span, v)
               : v;
}

Val array_copied(Eval *e, PySpan span, Val a) { return copied(e, span, a, val_dtype(a)); }

/* param: 0 np.array, 1 np.asarray, which takes an array as it is, 2 np.ascontiguousarray, which does if it is in C
 * order */
Val fn_np_array(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"object", "?dtype"};
    Val v[2];
    DType d;
    if (!call_bind(e, site, n, args, 2, params, v) || !dtype_arg(e, site, v[1], DT_NONE, &d)) return val_poison(e);
    if (val_is_many(v[0])) {
        bool same = d == DT_NONE || d == val_dtype(v[0]), c = v[0].ty->kind == TY_ARRAY && v[0].ty->layout == LAYOUT_C;
        if (same && (site->fn->param == 1 || (site->fn->param == 2 && c))) return v[0];
        return copied(e, site->span, v[0], d == DT_NONE ? val_dtype(v[0]) : d);
    }
    if (val_is_scalar(v[0]) || v[0].ty->kind == TY_TUPLE) return array_from_sequence(e, site->span, v[0], d);
    return bad_arg(e, site, 0, v[0], "it takes a tuple or list of numbers, or an array");
}

Val fn_array_copy(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val a;
    if (!bind_args(e, site, n, args, 1, &a)) return val_poison(e);
    if (!val_is_many(a)) return bad_arg(e, site, 0, a, "it takes an array");
    return copied(e, site->span, a, val_dtype(a));
}

Val fn_array_astype(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/self", "dtype"};
    Val v[2];
    DType d;
    if (!call_bind(e, site, n, args, 2, params, v) || !dtype_arg(e, site, v[1], DT_NONE, &d)) return val_poison(e);
    if (d == DT_NONE) return bad_arg(e, site, 1, v[1], "a dtype is written np.float32");
    return copied(e, site->span, v[0], d);
}

Val fn_array_fill(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/self", "value"};
    Val v[2];
    if (!call_bind(e, site, n, args, 2, params, v) || !array_writable(e, site->span, v[0])) return val_poison(e);
    if (!val_is_scalar(v[1])) return bad_arg(e, site, 1, v[1], "it is one number");
    array_assign(e, site->span, v[0], v[1]);
    return val_none(e);
}

/* ---- patterns ---------------------------------------------------------------------------------------- */
static bool constants(Eval *e, const CallSite *site, uint32_t n, const Val *v) {
    double x;
    for (uint32_t i = 0; i < n; i++)
        if (!val_as_double(v[i], &x)) {
            e_fail(e, site->span, "range(...) counts with run-time bounds", DIAG_ARG_CONSTANT, site->name, "bounds",
                   e_text(e, v[i]));
            return false;
        }
    return true;
}

/* start + i * ((start + step) - start), as NumPy fills it. */
static Val arange_items(Eval *e, const CallSite *site, DType d, const Val *v, Wide count) {
    double start = 0, step = 0;
    Wide from = 0, by = 0;
    bool integers = val_as_int(v[0], &from) && val_as_int(v[2], &by);
    val_as_double(v[0], &start);
    val_as_double(v[2], &step);
    double delta = (start + step) - start;
    Val *items = ARENA_ARRAY(e->arena, Val, (size_t)count + 1);
    for (Wide i = 0; i < count; i++)
        items[i] = integers ? val_int(e, from + i * by) : val_float(e, start + (double)i * delta);
    return array_from_sequence(e, site->span, val_tuple(e, (uint32_t)count, items), d);
}

Val fn_np_arange(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"start", "?stop", "?step", "?dtype"};
    Val v[4];
    DType d;
    Scalar s;
    Wide by;
    if (!call_bind(e, site, n, args, 4, params, v)) return val_poison(e);
    if (!v[1].ty || v[1].ty->kind == TY_NONE) v[1] = v[0], v[0] = val_int(e, 0);
    if (!v[2].ty || v[2].ty->kind == TY_NONE) v[2] = val_int(e, 1);
    if (!constants(e, site, 3, v) || !dtype_arg(e, site, v[3], DT_NONE, &d)) return val_poison(e);
    if (d == DT_NONE) {
        promote_common(DIALECT_NUMPY, typed(val_dtype(v[0])), typed(val_dtype(v[1])), &s);
        promote_common(DIALECT_NUMPY, s, typed(val_dtype(v[2])), &s);
        d = (DType)s.dtype == DT_BOOL ? DT_I64 : (DType)s.dtype;
    }
    double start = 0, stop = 0, step = 0;
    val_as_double(v[0], &start);
    val_as_double(v[1], &stop);
    val_as_double(v[2], &step);
    if (step == 0 || (val_as_int(v[2], &by) && by == 0))
        return e_fail(e, site->span, NULL, DIAG_ARG_VALUE, site->name, "the step is 0");
    double count = ceil((stop - start) / step);
    if (!(count > 0)) count = 0;
    if (count > MOST_COUNTED)
        return e_fail(e, site->span, "range(...) counts without memory", DIAG_ARG_VALUE, site->name,
                      "an array of more than 4096 numbers");
    return arange_items(e, site, d, v, (Wide)count);
}

/* param: 1 np.identity, which is square */
Val fn_np_eye(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const eye[] = {"N", "?M", "?k", "?dtype"}, *const identity[] = {"n", "?dtype"};
    bool square = site->fn->param;
    Val v[4] = {{0}}, shape[MAX_NDIM];
    uint32_t ndim;
    Wide k = 0;
    DType d;
    if (!call_bind(e, site, n, args, square ? 2 : 4, square ? identity : eye, v)) return val_poison(e);
    if (square) v[3] = v[1], v[1] = (Val){0};
    Val sizes[] = {v[0], v[1].ty && v[1].ty->kind != TY_NONE ? v[1] : v[0]};
    if (!constant_shape(e, site, val_tuple(e, 2, sizes), &ndim, shape) || !dtype_arg(e, site, v[3], DT_F64, &d))
        return val_poison(e);
    if (v[2].ty && !val_as_int(v[2], &k))
        return e_fail(e, site->span, NULL, DIAG_ARG_CONSTANT, site->name, "k", e_text(e, v[2]));
    Val a = filled(e, site, elem_scalar(d), 2, shape, val_int(e, 0));
    Epoch epoch = e->epoch;
    for (Wide i = 0; !val_poisoned(a) && i < shape[0].i; i++)
        if (i + k >= 0 && i + k < shape[1].i)
            array_store(e, elem_scalar(d), array_at(e, a, (Val[]){val_int(e, i), val_int(e, i + k)}, 2), val_int(e, 1));
    e->epoch = epoch;
    return a;
}
