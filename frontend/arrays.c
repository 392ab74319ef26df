/* arrays.c - elements and views of arrays: addresses, negative indices, slices, loads and stores.
 *
 * A C-contiguous array's strides are computed from its shape, so that it has no stride parameters and the
 * index arithmetic is a Horner scheme in elements; LAYOUT_A sums bytes. Indices are 64 bits here; passes narrow them.
 */
#include "evaluator.h"
#include "suggest.h"

#include <math.h>
#include <string.h>

static Val shape_at(Val a, uint32_t axis) { return a.items[1 + axis]; }
static Ref data_of(Val a) { return a.items[0].ref[0]; }

/* Arithmetic on shapes and indices; constants fold. */
static Val pi(Eval *e, PyBinary op, Val a, Val b) { return eval_arith(e, op, e_python_int(e), a, b); }
static Val to_pi(Eval *e, Val v) { return val_convert(e, v, e_python_int(e)); }

static Val pi_minmax(Eval *e, Op op, Val a, Val b) {
    if (val_const(a) && val_const(b)) return (a.i < b.i) == (op == OP_MIN) ? a : b;
    return val_rt_int(e, e_op2_of(e, op, T_I64, a, b));
}

/* Bytes from one element to the next along an axis. */
static Val stride_at(Eval *e, Val a, uint32_t axis) {
    if (a.ty->layout == LAYOUT_A) return a.items[1 + a.ty->ndim + axis];
    Val s = val_int(e, dtype_info[a.ty->dtype].bytes);
    uint32_t from = a.ty->layout == LAYOUT_C ? axis + 1 : 0, to = a.ty->layout == LAYOUT_C ? a.ty->ndim : axis;
    for (uint32_t k = from; k < to; k++) s = pi(e, PYB_MUL, s, shape_at(a, k));
    return s;
}

/* ---- making arrays ----------------------------------------------------------------------------------- */
static Val make_array(Eval *e, Ty ty, Ref data, const Val *shape, const Val *strides) {
    Val *items = ARENA_ARRAY(e->arena, Val, ty->n);
    items[0] = (Val){.ty = ty_ptr(e->types, (Type)ty->space), .ref = {data, REF_NONE}};
    for (uint32_t k = 0; k < ty->ndim; k++) items[1 + k] = shape[k];
    for (uint32_t k = 0; k < ty->ndim && ty->layout == LAYOUT_A; k++) items[1 + ty->ndim + k] = strides[k];
    return (Val){.ty = ty, .items = items};
}

Val array_made(Eval *e, DType d, bool readonly, Type space, Ref data, uint32_t ndim, const Val *shape) {
    return make_array(e, ty_array(e->types, d, ndim, LAYOUT_C, readonly, space), data, shape, NULL);
}

Val array_param(Eval *e, const ArgType *a, Ref data, const Ref *shape, const Ref *strides) {
    Val s[MAX_NDIM], t[MAX_NDIM];
    for (uint32_t k = 0; k < a->ndim; k++) {
        s[k] = val_rt_int(e, shape ? shape[k] : REF_NONE);
        t[k] = val_rt_int(e, strides ? strides[k] : REF_NONE);
    }
    Ty ty = ty_array(e->types, (DType)a->dtype, a->ndim, (Layout)a->layout, a->readonly, T_PTR);
    return make_array(e, ty, data, s, t);
}

Val array_flatten_to_a(Eval *e, Val a) {
    if (a.ty->layout == LAYOUT_A) return a;
    Val strides[MAX_NDIM];
    for (uint32_t k = 0; k < a.ty->ndim; k++) strides[k] = stride_at(e, a, k);
    Ty ty = ty_array(e->types, val_dtype(a), a.ty->ndim, LAYOUT_A, a.ty->readonly, (Type)a.ty->space);
    return make_array(e, ty, data_of(a), a.items + 1, strides);
}

/* A captured array in C order, whatever its own strides. */
static void copy_in_order(const HostArray *a, uint32_t axis, const char *from, char **to) {
    size_t bytes = dtype_info[a->dtype].bytes;
    if (axis == a->ndim) {
        memcpy(*to, from, bytes);
        *to += bytes;
        return;
    }
    for (int64_t i = 0; i < a->shape[axis]; i++) copy_in_order(a, axis + 1, from + i * a->strides[axis], to);
}

enum {
    CONST_BYTES = 32768,  /* what goes to constant memory, of the 64 KiB there are */
    LARGE_BYTES = 1 << 20 /* what makes PTX so long that compiling it takes a while */
};

static uint32_t captured_data(Eval *e, const HostArray *a, size_t size) {
    for (uint32_t i = 0; i < e->data.n; i++)
        if (e->data.at[i].data == a) return e->data.at[i].index;
    const void *bytes = a->data;
    if (a->layout != LAYOUT_C) {
        char *copy = arena_alloc(e->arena, size + 1), *to = copy;
        copy_in_order(a, 0, a->data, &to);
        bytes = copy;
    }
    if (size > LARGE_BYTES)
        e_help(e, e_diag(e, (PySpan){0}, DIAG_CAPTURED_LARGE, (unsigned)(size >> 20)),
               "as an argument it is copied once, and each specialisation compiles as quickly as any other");
    VEC_PUSH(e->arena, &e->m->data, ((IrData){bytes, size, 16, size <= CONST_BYTES}));
    VEC_PUSH(e->arena, &e->data, ((DataEntry){a, e->m->data.n - 1}));
    return e->m->data.n - 1;
}

Val array_captured(Eval *e, const HostArray *a, bool is_bytes) {
    Val shape[MAX_NDIM];
    size_t size = dtype_info[a->dtype].bytes;
    for (uint32_t k = 0; k < a->ndim; k++) {
        shape[k] = val_int(e, a->shape[k]);
        size *= (size_t)a->shape[k];
    }
    Type space = size <= CONST_BYTES ? T_PTRC : T_PTR;
    Ref data = e->building ? e_emit(e, OP_DATA, space, 0, NULL, 0, captured_data(e, a, size)) : REF_NONE;
    Ty ty = is_bytes ? ty_bytes(e->types, space) : ty_array(e->types, a->dtype, a->ndim, LAYOUT_C, true, space);
    return make_array(e, ty, data, shape, NULL);
}

/* ---- indices ----------------------------------------------------------------------------------------- */

static const char *number_text(Eval *e, Val v) { return arena_printf(e->arena, "%lld", (long long)v.i); }

/* gpu.threadIdx is a group of values, and which of them is meant must be said. */
static const char *index_object_help(Eval *e, Val index, const char *help) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    if (!e->host->info(e->host->self, index.ty->obj, &info) || info.kind != HOST_NAMED) return help;
    const char *members = suggest_members(e->arena, info.path);
    return members ? members : help;
}

/* An index as a Python integer in 0 ... n-1 if it was in -n ... n-1; absent: reported. */
static Val wrapped_index(Eval *e, PySpan span, Val index, Val n, uint32_t axis) {
    if (val_poisoned(index)) return index;
    if (axis < e->nindex_spans && e->index_spans[axis].line) span = e->index_spans[axis];
    if (!val_is_scalar(index) || !dt_is_int(val_dtype(index))) {
        const char *help = "an index is an integer, a slice or a tuple of these";
        if (val_is_scalar(index) && dt_is_float(val_dtype(index)))
            help = "// is the integer division; int(...) truncates";
        if (val_is_scalar(index) && index.ty->dtype == DT_BOOL) help = "int(...) makes an integer of a bool";
        if (index.ty->kind == TY_OBJECT) help = index_object_help(e, index, help);
        return e_fail(e, span, help, DIAG_INDEX_TYPE, e_text(e, index));
    }
    bool is_unsigned = dtype_info[index.ty->dtype].kind == DK_UINT;
    Val i = to_pi(e, index);
    if (val_const(i) && val_const(n) && (i.i >= n.i || i.i < -n.i))
        return e_fail(e, span, NULL, DIAG_INDEX_OUT_OF_RANGE, number_text(e, i), "axis", axis, number_text(e, n));
    if (is_unsigned || (val_const(i) && i.i >= 0)) return i;
    if (val_const(i)) return pi(e, PYB_ADD, i, n);
    Ref r = val_ref(e, i), wrap = e_op2(e, OP_ADD, T_I64, r, val_ref(e, n));
    return val_rt_int(e, e_select(e, T_I64, e_cmp(e, PRED_LT, r, e_int(e, T_I64, 0)), wrap, r));
}

/* One axis of a view. */
typedef struct Axis {
    Val offset, size, stride;
    bool dropped, whole;
} Axis;

static Val clamp(Eval *e, Val v, Val n, Val low, Val high) {
    v = to_pi(e, v);
    Val neg = eval_compare(e, (PySpan){0}, PYC_LT, v, val_int(e, 0));
    v = eval_select(e, (PySpan){0}, neg, pi(e, PYB_ADD, v, n), v);
    return pi_minmax(e, OP_MIN, pi_minmax(e, OP_MAX, to_pi(e, v), low), high);
}

static bool slice_bound_ok(Eval *e, PySpan span, Val v) {
    if (v.ty->kind == TY_NONE || (val_is_scalar(v) && dt_is_int(val_dtype(v)))) return true;
    e_fail(e, span, "the bounds of a slice are integers", DIAG_INDEX_TYPE, e_text(e, v));
    return false;
}

/* start:stop:step of an axis of n elements, as slice.indices() has it. */
static bool slice_axis(Eval *e, PySpan span, Val s, Val n, Val stride, Axis *out) {
    Val start = s.items[0], stop = s.items[1], step = s.items[2], one = val_int(e, 1), zero = val_int(e, 0);
    Wide by = 1;
    for (int k = 0; k < 3; k++)
        if (val_poisoned(s.items[k]) || !slice_bound_ok(e, span, s.items[k])) return false;
    if (step.ty->kind != TY_NONE && (!val_as_int(step, &by) || by == 0)) {
        e_fail(e, span, "use a constant that isn't 0", DIAG_CONSTRUCT, "this step",
               "the step of a slice is a constant other than 0");
        return false;
    }
    out->whole = start.ty->kind == TY_NONE && stop.ty->kind == TY_NONE && by == 1;
    Val low = by > 0 ? zero : val_int(e, -1), high = by > 0 ? n : pi(e, PYB_SUB, n, one);
    Val first = start.ty->kind == TY_NONE ? (by > 0 ? low : high) : clamp(e, start, n, low, high);
    Val last = stop.ty->kind == TY_NONE ? (by > 0 ? high : low) : clamp(e, stop, n, low, high);
    Val span_len = by > 0 ? pi(e, PYB_SUB, last, first) : pi(e, PYB_SUB, first, last);
    Wide mag = by > 0 ? by : -by;
    if (mag != 1) span_len = pi(e, PYB_FLOORDIV, pi(e, PYB_ADD, span_len, val_int(e, mag - 1)), val_int(e, mag));
    out->size = out->whole ? n : pi_minmax(e, OP_MAX, span_len, zero);
    out->offset = pi(e, PYB_MUL, first, stride);
    out->stride = by == 1 ? stride : pi(e, PYB_MUL, stride, val_int(e, by));
    out->dropped = false;
    return true;
}

static bool is_ellipsis(Eval *e, Val v) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    return v.ty->kind == TY_OBJECT && e->host->info(e->host->self, v.ty->obj, &info) && info.kind == HOST_ELLIPSIS;
}

/* The indices of a subscript with ... and missing ones as whole slices; false: reported. `ints`: all are integers. */
static bool spread_indices(Eval *e, PySpan span, Val array, Val index, Val *out, bool *ints) {
    uint32_t n = index.ty->kind == TY_TUPLE ? index.ty->n : 1, ndim = array.ty->ndim, given = 0, used = 0;
    const Val *at = index.ty->kind == TY_TUPLE ? index.items : &index;
    Val none = val_none(e), whole = val_composite(e, TY_SLICE, 0, 3, (Val[]){none, none, none});
    for (uint32_t i = 0; i < n; i++) {
        if (val_poisoned(at[i])) return false;
        given += !is_ellipsis(e, at[i]);
    }
    if (given != n) e->nindex_spans = 0; /* an ellipsis: items and axes differ */
    if (given > ndim) {
        Diag *d = e_diag(e, span, DIAG_INDEX_COUNT, given, e_text(e, array));
        e_help(e, d,
               ndim == 0   ? "a 0-d array is read as x[()]"
               : ndim == 1 ? "this array has one axis"
                           : "this array has %u axes",
               ndim);
        return false;
    }
    bool seen = false;
    *ints = given == ndim;
    for (uint32_t i = 0; i < n; i++) {
        if (is_ellipsis(e, at[i])) {
            for (uint32_t k = seen ? ndim : given; k < ndim; k++) out[used++] = whole;
            seen = true;
            continue;
        }
        if (at[i].ty->kind == TY_NONE) {
            e_fail(e, span, "index the axes that there are", DIAG_CONSTRUCT, "None as an index",
                   "a view can't get a new axis");
            return false;
        }
        *ints &= at[i].ty->kind != TY_SLICE;
        out[used++] = at[i];
    }
    while (used < ndim) out[used++] = whole;
    return true;
}

/* ---- addresses --------------------------------------------------------------------------------------- */

/* index[k] in range. Horner in elements for contiguous arrays, a sum of bytes for others. */
static Ref element_address(Eval *e, Val a, const Val *index, uint32_t n) {
    uint32_t bytes = dtype_info[a.ty->dtype].bytes, ndim = a.ty->ndim;
    Val sum = val_int(e, 0);
    if (a.ty->layout == LAYOUT_A) {
        for (uint32_t k = 0; k < n; k++) sum = pi(e, PYB_ADD, sum, pi(e, PYB_MUL, index[k], stride_at(e, a, k)));
        return n ? e_emit(e, OP_ADDR, (Type)a.ty->space, 2, (Ref[]){data_of(a), val_ref(e, sum)}, 0, 1) : data_of(a);
    }
    for (uint32_t k = 0; k < ndim; k++) {
        uint32_t axis = a.ty->layout == LAYOUT_C ? k : ndim - 1 - k;
        if (k) sum = pi(e, PYB_MUL, sum, shape_at(a, axis));
        if (axis < n) sum = k ? pi(e, PYB_ADD, sum, index[axis]) : index[axis];
    }
    return n ? e_emit(e, OP_ADDR, (Type)a.ty->space, 2, (Ref[]){data_of(a), val_ref(e, sum)}, 0, bytes) : data_of(a);
}

Ref imag_address(Eval *e, DType d, Ref p) {
    if (!e->building || p == REF_NONE) return REF_NONE;
    return e_emit(e, OP_ADDR, (Type)e->m->instrs.at[p].type, 2, (Ref[]){p, e_int(e, T_I64, 1)}, 0,
                  dtype_info[d].bytes / 2u);
}

static Val load_element(Eval *e, Ty array, Ref p) {
    DType d = (DType)array->dtype;
    Type t = dtype_info[d].ir;
    if (array->weak) return to_pi(e, val_typed(e, d, e_load(e, t, p)));
    if (!dt_is_complex(d)) return val_typed(e, d, e_load(e, t, p));
    Ref re = e_load(e, t, p), im = e_load(e, t, imag_address(e, d, p));
    return val_complex(e, SCALAR(d, false), re, im);
}

Val array_element(Eval *e, PySpan span, Val a, Val index) {
    (void)span;
    index = to_pi(e, index);
    Ref p = element_address(e, a, &index, 1);
    if (a.ty->ndim == 1) return load_element(e, a.ty, p);
    Layout layout = a.ty->layout == LAYOUT_C ? LAYOUT_C : LAYOUT_A;
    Val strides[MAX_NDIM];
    for (uint32_t k = 1; k < a.ty->ndim && layout == LAYOUT_A; k++) strides[k - 1] = stride_at(e, a, k);
    Ty ty = ty_array(e->types, val_dtype(a), a.ty->ndim - 1u, layout, a.ty->readonly, (Type)a.ty->space);
    return make_array(e, ty, p, a.items + 2, strides);
}

/* ---- a[index] ---------------------------------------------------------------------------------------- */
static bool wrap_all(Eval *e, PySpan span, Val a, const Val *index, uint32_t n, Val *out) {
    bool ok = true;
    for (uint32_t k = 0; k < n; k++) {
        out[k] = wrapped_index(e, span, index[k], shape_at(a, k), k);
        ok &= !val_poisoned(out[k]);
    }
    return ok;
}

static Val general_view(Eval *e, PySpan span, Val a, const Val *index) {
    Val shape[MAX_NDIM], strides[MAX_NDIM], offset = val_int(e, 0);
    uint32_t ndim = 0;
    bool contiguous = a.ty->layout == LAYOUT_C; /* integers, then one slice with step 1, then whole axes */
    for (uint32_t k = 0; k < a.ty->ndim; k++) {
        Axis x = {.dropped = true};
        Val stride = stride_at(e, a, k);
        if (index[k].ty->kind == TY_SLICE) {
            Wide step;
            if (!slice_axis(e, span, index[k], shape_at(a, k), stride, &x)) return val_poison(e);
            bool unit = index[k].items[2].ty->kind == TY_NONE || (val_as_int(index[k].items[2], &step) && step == 1);
            contiguous &= unit && (x.whole || ndim == 0);
            shape[ndim] = x.size;
            strides[ndim++] = x.stride;
        } else {
            Val i = wrapped_index(e, span, index[k], shape_at(a, k), k);
            if (val_poisoned(i)) return i;
            contiguous &= ndim == 0;
            x.offset = pi(e, PYB_MUL, i, stride);
        }
        offset = pi(e, PYB_ADD, offset, x.offset);
    }
    Ref p = data_of(a);
    if (!val_const(offset) || offset.i)
        p = e_emit(e, OP_ADDR, (Type)a.ty->space, 2, (Ref[]){p, val_ref(e, offset)}, 0, 1);
    Ty ty = ty_array(e->types, val_dtype(a), ndim, contiguous ? LAYOUT_C : LAYOUT_A, a.ty->readonly, (Type)a.ty->space);
    return make_array(e, ty, p, shape, strides);
}

static Val array_getitem(Eval *e, PySpan span, Val a, Val index) {
    Val at[MAX_NDIM], in[MAX_NDIM];
    bool ints;
    if (is_ellipsis(e, index)) return a;
    if (!spread_indices(e, span, a, index, at, &ints)) return val_poison(e);
    if (!ints && a.ty->weak)
        return e_fail(e, span, "index them one by one", DIAG_CONSTRUCT, "a slice of bytes",
                      "bytes are read one by one");
    if (!ints) return general_view(e, span, a, at);
    if (!wrap_all(e, span, a, at, a.ty->ndim, in)) return val_poison(e);
    return load_element(e, a.ty, element_address(e, a, in, a.ty->ndim));
}

/* A list or dict outside the kernel: a constant key takes an item as a constant. */
static Val container_item(Eval *e, PySpan span, Val v, const HostInfo *info, Val index) {
    const Host *h = e->host;
    HostRef obj = v.ty->obj, item = NULL;
    const char *text;
    Wide i;
    bool list = info->kind == HOST_LIST, number = val_as_int(index, &i) && dt_fits(DT_I64, i);
    if (!number && (list || index.ty->kind != TY_OBJECT))
        return e_fail(e, span, "make it a NumPy array, which run-time indices read", DIAG_NOT_INDEXABLE,
                      arena_printf(e->arena, "a %s with %s", ty_text(e->types, v.ty), e_text(e, index)));
    if (list) item = h->item(h->self, obj, (size_t)(i < 0 ? i + (Wide)info->n : i));
    else item = h->lookup(h->self, obj, number ? h->make_int(h->self, (int64_t)i) : index.ty->obj);
    if (item) return val_object(e, item);
    const char *key = number                        ? wide_text(e->arena, i)
                      : val_as_str(e, index, &text) ? arena_printf(e->arena, "'%s'", text)
                                                    : e_text(e, index);
    return e_fail(e, span,
                  list ? arena_printf(e->arena, "it has %u items", (unsigned)info->n)
                       : "the kernel sees it as it is when it is compiled",
                  DIAG_NO_ITEM, ty_text(e->types, v.ty), key);
}

static Val range_slice(Eval *e, PySpan span, Val r, Val slice) {
    Axis x;
    Val step = to_pi(e, r.items[2]);
    if (!slice_axis(e, span, slice, eval_len(e, span, r), step, &x)) return val_poison(e);
    Val start = pi(e, PYB_ADD, to_pi(e, r.items[0]), x.offset);
    return val_range(e, span, start, pi(e, PYB_ADD, start, pi(e, PYB_MUL, x.size, x.stride)), x.stride);
}

Val eval_getitem(Eval *e, PySpan span, Val v, Val index) {
    if (val_poisoned(v) || val_poisoned(index)) return val_poison(e);
    if (v.ty->kind == TY_ARRAY) return array_getitem(e, span, v, index);
    if (v.ty->kind == TY_TUPLE) return tuple_item(e, span, v, index);
    if (v.ty->kind == TY_RANGE && index.ty->kind == TY_SLICE) return range_slice(e, span, v, index);
    if (v.ty->kind == TY_RANGE) {
        Val i = wrapped_index(e, span, index, eval_len(e, span, v), 0);
        if (val_poisoned(i)) return i;
        return range_item(e, v, i);
    }
    HostInfo info;
    memset(&info, 0, sizeof info);
    if (v.ty->kind == TY_OBJECT && e->host->info(e->host->self, v.ty->obj, &info) &&
        (info.kind == HOST_LIST || info.kind == HOST_DICT))
        return container_item(e, span, v, &info, index);
    return e_fail(e, span, val_is_scalar(v) ? "declare the argument as an array, or drop the index" : NULL,
                  DIAG_NOT_INDEXABLE, e_text(e, v));
}

/* ---- a[index] = value -------------------------------------------------------------------------------- */
Val array_stored(Eval *e, PySpan span, DType d, Val v) {
    Scalar s = SCALAR(d, false);
    Wide i;
    if (dt_is_complex(val_dtype(v)) && !dt_is_complex(d))
        return e_fail(e, span, "store .real, .imag or abs(...)", DIAG_COMPLEX_TO_REAL, e_text(e, v),
                      dtype_info[d].name);
    if (v.ty->weak && v.ty->dtype == DT_I64 && val_as_int(v, &i) && dt_is_int(d) && !dt_fits(d, i) && !e_numba(e)) {
        Wide wrapped = val_from_bits(e, s, (uint64_t)i).i;
        return e_fail(e, span, arena_printf(e->arena, "%s is what its low bits are", wide_text(e->arena, wrapped)),
                      DIAG_CONST_DOES_NOT_FIT, wide_text(e->arena, i), dtype_info[d].name);
    }
    Val c = val_convert(e, v, s);
    double from, to;
    if (val_as_double(v, &from) && val_as_double(c, &to) && isfinite(from) && !isfinite(to))
        e_diag(e, span, DIAG_FLOAT_OVERFLOW, dtype_info[d].name);
    return c;
}

static void store_element(Eval *e, DType d, Ref p, Val v) {
    Val c = array_stored(e, e->value_span, d, v);
    if (val_poisoned(c)) return;
    if (!dt_is_complex(d)) {
        e_store(e, p, val_ref(e, c));
        return;
    }
    e_store(e, p, val_re(e, c));
    Ref at = imag_address(e, d, p);
    e_store(e, at, val_im(e, c));
}

/* An array whose elements this thread may write; false: reported. */
static bool writable(Eval *e, PySpan span, Val a) {
    if (a.ty->kind != TY_ARRAY)
        e_fail(e, span, a.ty->kind == TY_TUPLE ? "a tuple can't be changed: make a new one" : NULL, DIAG_NOT_ASSIGNABLE,
               e_text(e, a));
    else if (a.ty->readonly)
        e_fail(e, span,
               a.ty->space == T_PTRC ? "captured arrays are constants: pass it as an argument"
                                     : "pass a writable array",
               DIAG_READONLY, e_text(e, a));
    else return true;
    return false;
}

void eval_setitem(Eval *e, PySpan span, Val a, Val index, Val value) {
    if (val_poisoned(a) || val_poisoned(index) || val_poisoned(value)) return;
    Val at[MAX_NDIM], in[MAX_NDIM];
    bool ints;
    if (!writable(e, span, a)) return;
    if (!spread_indices(e, span, a, index, at, &ints)) return;
    if (!ints) {
        e_fail(e, span, "write a loop over the elements", DIAG_CONSTRUCT, "assigning to several elements",
               "a thread stores one element at a time");
        return;
    }
    if (!val_is_scalar(value)) {
        bool many = value.ty->kind == TY_ARRAY || value.ty->kind == TY_TUPLE;
        e_fail(e, e->value_span, many ? "store its items one by one" : "an element is one number", DIAG_STORE_TYPE,
               e_text(e, a), e_text(e, value));
        return;
    }
    if (!wrap_all(e, span, a, at, a.ty->ndim, in)) return;
    store_element(e, val_dtype(a), element_address(e, a, in, a.ty->ndim), value);
}

bool array_address(Eval *e, PySpan span, Val a, Val index, bool written, Ref *out) {
    Val at[MAX_NDIM], in[MAX_NDIM];
    bool ints;
    if ((written && !writable(e, span, a)) || !spread_indices(e, span, a, index, at, &ints)) return false;
    if (!ints) {
        e_fail(e, span, "an index for each axis, as a tuple", DIAG_CONSTRUCT, "this on several elements",
               "it works on one element at a time");
        return false;
    }
    if (!wrap_all(e, span, a, at, a.ty->ndim, in)) return false;
    *out = element_address(e, a, in, a.ty->ndim);
    return true;
}

/* ---- attributes -------------------------------------------------------------------------------------- */
Val array_attr(Eval *e, Val a, const char *name) {
    uint32_t ndim = a.ty->ndim;
    Val size = val_int(e, 1), strides[MAX_NDIM], shape[MAX_NDIM];
    for (uint32_t k = 0; k < ndim; k++) size = pi(e, PYB_MUL, size, shape_at(a, k));
    if (strcmp(name, "shape") == 0) return val_tuple(e, ndim, a.items + 1);
    if (strcmp(name, "ndim") == 0) return val_int(e, ndim);
    if (strcmp(name, "size") == 0) return size;
    if (strcmp(name, "itemsize") == 0) return val_int(e, dtype_info[a.ty->dtype].bytes);
    if (strcmp(name, "nbytes") == 0) return pi(e, PYB_MUL, size, val_int(e, dtype_info[a.ty->dtype].bytes));
    if (strcmp(name, "dtype") == 0) return (Val){.ty = ty_dtype(e->types, val_dtype(a))};
    if (strcmp(name, "strides") == 0) {
        for (uint32_t k = 0; k < ndim; k++) strides[k] = stride_at(e, a, k);
        return val_tuple(e, ndim, strides);
    }
    if (strcmp(name, "T") != 0) return (Val){0};
    Val f = a.ty->layout == LAYOUT_A ? array_flatten_to_a(e, a) : a;
    Layout layout = a.ty->layout == LAYOUT_C ? LAYOUT_F : a.ty->layout == LAYOUT_F ? LAYOUT_C : LAYOUT_A;
    for (uint32_t k = 0; k < ndim; k++) {
        shape[k] = shape_at(f, ndim - 1 - k);
        if (layout == LAYOUT_A) strides[k] = stride_at(e, f, ndim - 1 - k);
    }
    return make_array(e, ty_array(e->types, val_dtype(a), ndim, layout, a.ty->readonly, (Type)a.ty->space), data_of(a),
                      shape, strides);
}
