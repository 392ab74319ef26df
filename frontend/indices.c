/* indices.c - subscripts: negative indices, slices, views and elements of arrays; items of ranges and of lists and
 * dicts outside the kernel. */
#include "arrays.h"
#include "suggest.h"

#include <string.h>

/* ---- indices ----------------------------------------------------------------------------------------- */

static const char *number_text(Eval *e, Val v) { return arena_printf(e->arena, "%lld", (long long)v.i); }

/* With `boundscheck`: IndexError in NumPy's words. `at` is in 0 ... n-1 if the index is one. */
static Val checked_index(Eval *e, PySpan span, Val index, Val at, Val n, uint32_t axis) {
    if (!e->req->boundscheck || !e->building || (val_const(at) && val_const(n))) return at;
    Ref r = val_ref(e, at), low = e_cmp(e, PRED_LT, r, e_int(e, T_I64, 0)), high = e_cmp(e, PRED_GE, r, val_ref(e, n));
    BlockId bad = e_new_block(e), good = e_new_block(e);
    e_branch(e, e_op2(e, OP_OR, T_BOOL, low, high), bad, good);
    e_set_block(e, bad);
    e->checking = true;
    raise_index_error(e, span, index, axis, n);
    e->checking = false;
    e_set_block(e, good);
    return at;
}

/* An index as a Python integer in 0 ... n-1 if it was in -n ... n-1; absent: reported. */
Val index_wrapped(Eval *e, PySpan span, Val index, Val n, uint32_t axis) {
    if (val_poisoned(index)) return index;
    bool in_array = index.ty->kind == TY_ARRAY && index.ty->ndim == 0 && dt_is_int((DType)index.ty->dtype);
    if (in_array) index = array_load(e, index.ty, array_data(index));
    if (axis < e->nindex_spans && e->index_spans[axis].line) span = e->index_spans[axis];
    if (!val_is_scalar(index) || !dt_is_int(val_dtype(index))) {
        const char *help = "an index is an integer, a slice or a tuple of these";
        if (val_is_scalar(index) && dt_is_float(val_dtype(index)))
            help = "// is the integer division; int(...) truncates";
        if (val_is_scalar(index) && index.ty->dtype == DT_BOOL) help = "int(...) makes an integer of a bool";
        if (val_is_many(index))
            help = index.ty->dtype == DT_BOOL
                       ? "how many elements a mask takes isn't known: np.where(mask, x, y), or a loop that appends to "
                         "a list; x[mask] = "
                         "number, x[mask] += number (made before) and x[mask].sum() are fine; gpu.scan of a mask gives "
                         "each its place in a shorter array"
                       : "a loop takes elements one by one; tuple(...) of a small array is an index";
        if (index.ty->kind == TY_TUPLE) help = "lists and tuples in a subscript are of integers, as in a[:, [0, 2]]";
        if (index.ty->kind == TY_OBJECT) help = group_help(e, index, help);
        return e_fail(e, span, help, DIAG_INDEX_TYPE, e_text(e, index));
    }
    bool is_unsigned = dtype_info[index.ty->dtype].kind == DK_UINT;
    Val i = to_size(e, index);
    if (val_const(i) && val_const(n) && (i.i >= n.i || i.i < -n.i))
        return e_fail(e, span, NULL, DIAG_INDEX_OUT_OF_RANGE, number_text(e, i), "axis", axis, number_text(e, n));
    if (is_unsigned || (val_const(i) && i.i >= 0)) return checked_index(e, span, index, i, n, axis);
    if (val_const(i)) return checked_index(e, span, index, size_op(e, PYB_ADD, i, n), n, axis);
    Ref r = val_ref(e, i), wrap = e_op2(e, OP_ADD, T_I64, r, val_ref(e, n));
    r = e_select(e, T_I64, e_cmp(e, PRED_LT, r, e_int(e, T_I64, 0)), wrap, r);
    return checked_index(e, span, index, val_rt_int(e, r), n, axis);
}

/* One axis of a view. */
typedef struct Axis {
    Val offset, size, stride;
    bool dropped, whole;
} Axis;

/* One of two sizes; a known condition keeps constants constant. */
static Val either(Eval *e, Val c, Val yes, Val no) {
    if (val_const(c)) return c.i ? yes : no;
    return eval_select(e, (PySpan){0}, c, yes, no);
}

static Val clamp(Eval *e, Val v, Val n, Val low, Val high) {
    v = to_size(e, v);
    Val neg = eval_compare(e, (PySpan){0}, PYC_LT, v, val_int(e, 0));
    v = either(e, neg, size_op(e, PYB_ADD, v, n), v);
    return size_minmax(e, OP_MIN, size_minmax(e, OP_MAX, to_size(e, v), low), high);
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
    bool known = step.ty->kind == TY_NONE || val_as_int(step, &by);
    if (known && by == 0) {
        e_fail(e, span, "use a step that isn't 0", DIAG_CONSTRUCT, "this step", "the step of a slice is other than 0");
        return false;
    }
    step = step.ty->kind == TY_NONE ? one : to_size(e, step);
    if (!known)
        e_raise_if(e, span, e_cmp(e, PRED_EQ, val_ref(e, step), e_int(e, T_I64, 0)), "ValueError",
                   "slice step cannot be zero");
    Val up = eval_compare(e, span, PYC_GT, step, zero), minus = val_int(e, -1), end = size_op(e, PYB_SUB, n, one);
    out->whole = start.ty->kind == TY_NONE && stop.ty->kind == TY_NONE && known && by == 1;
    Val low = either(e, up, zero, minus), high = either(e, up, n, end);
    Val first = start.ty->kind == TY_NONE ? either(e, up, low, high) : clamp(e, start, n, low, high);
    Val last = stop.ty->kind == TY_NONE ? either(e, up, high, low) : clamp(e, stop, n, low, high);
    Val mag = either(e, up, step, size_op(e, PYB_SUB, zero, step));
    Val count = known && by < 0 ? size_op(e, PYB_SUB, first, last) : size_op(e, PYB_SUB, last, first);
    if (!known) count = either(e, up, count, size_op(e, PYB_SUB, first, last));
    if (!known || mag.i != 1)
        count = size_op(e, PYB_FLOORDIV, size_op(e, PYB_ADD, count, size_op(e, PYB_SUB, mag, one)), mag);
    out->size = out->whole ? n : size_minmax(e, OP_MAX, count, zero);
    if (known && !out->whole && !val_const(out->size)) out->size.likely = likely_count(s, by);
    out->offset = size_op(e, PYB_MUL, first, stride);
    out->stride = known && by == 1 ? stride : size_op(e, PYB_MUL, stride, step);
    out->dropped = false;
    return true;
}

static bool is_ellipsis(Eval *e, Val v) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    return v.ty->kind == TY_OBJECT && e->host->info(e->host->self, v.ty->obj, &info) && info.kind == HOST_ELLIPSIS;
}

/* The indices of a subscript with ... and missing ones as whole slices, and None where a new axis goes; false:
 * reported. `ints`: all are integers. */
bool subscript_spread(Eval *e, PySpan span, Val array, Val index, Subscript *out) {
    uint32_t n = index.ty->kind == TY_TUPLE ? index.ty->n : 1, ndim = array.ty->ndim, given = 0, axes = 0, stars = 0;
    const Val *at = index.ty->kind == TY_TUPLE ? index.items : &index;
    Val none = val_none(e), whole = val_composite(e, TY_SLICE, 0, 3, (Val[]){none, none, none});
    for (uint32_t i = 0; i < n; i++) {
        if (val_poisoned(at[i])) return false;
        stars += is_ellipsis(e, at[i]);
        given += !is_ellipsis(e, at[i]) && at[i].ty->kind != TY_NONE;
    }
    if (stars > 1 || ndim + n - given > MAX_NDIM) {
        e_fail(e, span, "write : for the other axes", DIAG_CONSTRUCT, "this subscript",
               stars > 1 ? "there is one ... in it at most" : "an array has at most 16 axes");
        return false;
    }
    if (given != n) e->nindex_spans = 0; /* items and axes differ */
    if (given > ndim) {
        Diag *d = e_diag(e, span, DIAG_INDEX_COUNT, given, e_text(e, array));
        e_help(e, d,
               ndim == 0   ? "a 0-d array is read as x[()]"
               : ndim == 1 ? "this array has one axis"
                           : "this array has %u axes",
               ndim);
        return false;
    }
    *out = (Subscript){.ints = given == ndim};
    for (uint32_t i = 0; i < n; i++) {
        if (is_ellipsis(e, at[i])) {
            for (uint32_t k = given; k < ndim; k++, axes++) out->at[out->n++] = whole;
            continue;
        }
        out->ints &= at[i].ty->kind != TY_SLICE && at[i].ty->kind != TY_NONE;
        axes += at[i].ty->kind != TY_NONE;
        out->at[out->n++] = at[i];
    }
    for (; axes < ndim; axes++) out->at[out->n++] = whole;
    return true;
}

/* ---- a[index] ---------------------------------------------------------------------------------------- */
static bool wrap_all(Eval *e, PySpan span, Val a, const Val *index, uint32_t n, Val *out) {
    bool ok = true;
    for (uint32_t k = 0; k < n; k++) {
        out[k] = index_wrapped(e, span, index[k], array_size(a, k), k);
        ok &= !val_poisoned(out[k]);
    }
    return ok;
}

Val subscript_view(Eval *e, PySpan span, Val a, const Subscript *s) {
    Val shape[MAX_NDIM], strides[MAX_NDIM], offset = val_int(e, 0);
    uint32_t ndim = 0, axis = 0, kept = 0;
    bool contiguous = a.ty->layout == LAYOUT_C; /* integers, then one slice with step 1, then whole axes */
    for (uint32_t i = 0; i < s->n; i++) {
        Axis x = {.dropped = true};
        if (s->at[i].ty->kind == TY_NONE) {
            shape[ndim] = val_int(e, 1);
            strides[ndim++] = val_int(e, 0);
            continue;
        }
        Val stride = array_stride(e, a, axis), size = array_size(a, axis);
        if (s->at[i].ty->kind == TY_SLICE) {
            Wide step;
            Val by = s->at[i].items[2];
            if (!slice_axis(e, span, s->at[i], size, stride, &x)) return val_poison(e);
            bool unit = by.ty->kind == TY_NONE || (val_as_int(by, &step) && step == 1);
            contiguous &= unit && (x.whole || kept == 0);
            kept++;
            shape[ndim] = x.size;
            strides[ndim++] = x.stride;
        } else {
            Val at = index_wrapped(e, span, s->at[i], size, axis);
            if (val_poisoned(at)) return at;
            contiguous &= kept == 0;
            x.offset = size_op(e, PYB_MUL, at, stride);
        }
        offset = size_op(e, PYB_ADD, offset, x.offset);
        axis++;
    }
    Ref p = array_data(a);
    if (!val_const(offset) || offset.i)
        p = e_emit(e, OP_ADDR, (Type)a.ty->space, 2, (Ref[]){p, val_ref(e, offset)}, 0, 1);
    Ty ty =
        ty_array(e->types, elem_of(a.ty), ndim, contiguous ? LAYOUT_C : LAYOUT_A, a.ty->readonly, (Type)a.ty->space);
    return array_with(e, ty, p, shape, strides);
}

static Val array_getitem(Eval *e, PySpan span, Val a, Val index) {
    Val in[MAX_NDIM];
    Subscript s;
    const char *name;
    if (is_ellipsis(e, index)) return a;
    if (val_as_str(e, index, &name)) return record_getitem(e, span, a, index);
    if (!subscript_spread(e, span, a, index, &s)) return val_poison(e);
    if (!s.ints && a.ty->weak)
        return e_fail(e, span, "index them one by one", DIAG_CONSTRUCT, "a slice of bytes",
                      "bytes are read one by one");
    if (!s.ints) return subscript_view(e, span, a, &s);
    if (!wrap_all(e, span, a, s.at, a.ty->ndim, in)) return val_poison(e);
    return array_load(e, a.ty, array_at(e, a, in, a.ty->ndim));
}

/* An element of an expression is computed alone. */
static Val expr_getitem(Eval *e, PySpan span, Val x, Val index) {
    Val in[MAX_NDIM];
    Subscript s;
    if (is_ellipsis(e, index)) return x;
    if (!subscript_spread(e, span, x, index, &s) || !many_fresh(e, span, x)) return val_poison(e);
    if (!s.ints)
        return e_fail(e, span, "slice the arrays that it is made of", DIAG_CONSTRUCT, "a slice of this expression",
                      "its elements aren't in memory");
    for (uint32_t k = 0; k < x.ty->ndim; k++) {
        in[k] = index_wrapped(e, span, s.at[k], many_size(x, k), k);
        if (val_poisoned(in[k])) return in[k];
    }
    if (e->building) x = many_stretched(e, span, x, x.ty->ndim, many_shape(x));
    return many_element(e, span, x, x.ty->ndim, in);
}

static Val range_slice(Eval *e, PySpan span, Val r, Val slice) {
    Axis x;
    Val step = to_size(e, r.items[2]);
    if (!slice_axis(e, span, slice, eval_len(e, span, r), step, &x)) return val_poison(e);
    Val start = size_op(e, PYB_ADD, to_size(e, r.items[0]), x.offset);
    return val_range(e, span, start, size_op(e, PYB_ADD, start, size_op(e, PYB_MUL, x.size, x.stride)), x.stride);
}

/* A slice of a constant string. */
static Val string_of_chars(Eval *e, Val chars) {
    const char *all = "", *c;
    for (uint32_t i = 0; i < chars.ty->n; i++)
        if (val_as_str(e, chars.items[i], &c)) all = arena_printf(e->arena, "%s%s", all, c);
    return val_object(e, e->host->make_str(e->host->self, all));
}

static Val item_of_set(Eval *e, PySpan span) {
    return e_fail(e, span, "sorted(s) is a list", DIAG_CONSTRUCT, "an index of a set", "its items have no order");
}

/* What to write where an object that is no container has an index. */
static const char *instead_of_index(Eval *e, Val v, const HostInfo *info) {
    if (info->kind == HOST_FUNCTION)
        return "a kernel launches none: call the function for this thread, f(x), or launch it from Python";
    if (info->kind == HOST_NAMED) return suggest_members(e->arena, info->path);
    return numba_help_for(e, e->host->attr(e->host->self, v.ty->obj, "__class__"));
}

/* Of what lies outside the kernel, of a dict, of a string; Enum["NAME"]. */
static Val container_item(Eval *e, PySpan span, Val v, Val index) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    if (v.ty->kind == TY_OBJECT && !e->host->info(e->host->self, v.ty->obj, &info)) return val_poison(e);
    if (v.ty->kind == TY_DICT || info.kind == HOST_DICT) return dict_item(e, span, v, index);
    const char *name;
    if (val_as_str(e, index, &name)) {
        HostRef members = is_enum_class(e, v) ? e->host->attr(e->host->self, v.ty->obj, "__members__") : NULL;
        HostRef member = members ? e->host->lookup(e->host->self, members, index.ty->obj) : NULL;
        if (member) return val_object(e, member);
    }
    Val special = instance_special(e, span, v, "__getitem__", index);
    if (special.ty) return special;
    if (info.kind != HOST_LIST && info.kind != HOST_STR)
        return e_fail(e, span, instead_of_index(e, v, &info), DIAG_NOT_INDEXABLE, e_text(e, v));
    Wide i;
    if (info.kind == HOST_LIST && val_as_int(index, &i)) { /* one item: the others may be anything */
        HostRef item = e->host->item(e->host->self, v.ty->obj, (size_t)(i < 0 ? i + (Wide)info.n : i));
        if (item) return val_object(e, item);
        return e_fail(e, span, arena_printf(e->arena, "it has %u items", (unsigned)info.n), DIAG_NO_ITEM, e_text(e, v),
                      wide_text(e->arena, i));
    }
    if (info.kind == HOST_SET) return item_of_set(e, span);
    Val items = val_items(e, v);
    if (val_poisoned(items)) return items;
    if (info.kind == HOST_STR && val_is_scalar(index) && !val_const(index))
        return e_fail(e, span, "pass an array of its characters: np.frombuffer(text.encode(), np.uint8)",
                      DIAG_CONSTRUCT, "a character of a string by an index of run time",
                      "strings are known when compiling");
    Val item = tuple_item(e, span, items, index);
    return info.kind == HOST_STR && item.ty->kind == TY_TUPLE ? string_of_chars(e, item) : item;
}

Val eval_getitem(Eval *e, PySpan span, Val v, Val index) {
    if (val_poisoned(v) || val_poisoned(index)) return val_poison(e);
    if (v.ty->kind == TY_ARRAY) return array_getitem(e, span, v, index);
    if (v.ty->kind == TY_RECORD) return record_getitem(e, span, v, index);
    if (v.ty->kind == TY_POINTER) return pointer_getitem(e, span, v, index);
    if (v.ty->kind == TY_EXPR) return expr_getitem(e, span, v, index);
    if (val_is_set(v)) return item_of_set(e, span);
    if (v.ty->kind == TY_TUPLE) return tuple_item(e, span, v, index);
    if (v.ty->kind == TY_LIST) return list_get(e, span, v, index);
    if (v.ty->kind == TY_RANGE && index.ty->kind == TY_SLICE) return range_slice(e, span, v, index);
    if (v.ty->kind == TY_RANGE) {
        Val i = index_wrapped(e, span, index, eval_len(e, span, v), 0);
        if (val_poisoned(i)) return i;
        return range_item(e, v, i);
    }
    if (v.ty->kind == TY_DICT || v.ty->kind == TY_OBJECT) return container_item(e, span, v, index);
    Val special = instance_special(e, span, v, "__getitem__", index);
    if (special.ty) return special;
    return e_fail(e, span,
                  val_is_scalar(v)        ? "declare the argument as an array, or drop the index"
                  : v.ty->kind == TY_NONE ? "pass an array; where None is an answer, test it first: if a is not None"
                                          : NULL,
                  DIAG_NOT_INDEXABLE, e_text(e, v));
}

/* ---- a[index] = value -------------------------------------------------------------------------------- */
bool array_writable(Eval *e, PySpan span, Val a) {
    if (a.ty->kind != TY_ARRAY)
        e_fail(e, span,
               a.ty->kind == TY_TUPLE    ? "a tuple can't be changed: make a new one"
               : a.ty->kind == TY_DICT   ? "a dict can't be changed: make another one, {**d, key: value}; numbers as "
                                           "keys are indices of an array"
               : a.ty->kind == TY_EXPR   ? "give it memory of a size that is known: w = np.empty(4), then w[:] = ..."
               : a.ty->kind == TY_OBJECT ? "what lies outside of the kernel is a constant: write into an array argument"
               : val_is_scalar(a)        ? "a number comes as a copy: pass an array of one element for a result"
                                         : NULL,
               DIAG_NOT_ASSIGNABLE, e_text(e, a));
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
    Val in[MAX_NDIM];
    Subscript s;
    const char *name;
    if (a.ty->kind == TY_RECORD || (a.ty->kind == TY_ARRAY && val_as_str(e, index, &name))) {
        record_setitem(e, span, a, index, value);
        return;
    }
    if (a.ty->kind == TY_POINTER) {
        pointer_setitem(e, span, a, index, value);
        return;
    }
    if (a.ty->kind == TY_LIST) {
        list_set(e, span, a, index, value);
        return;
    }
    if (lists_change(e, a)) return;
    if (!array_writable(e, span, a)) return;
    if (!subscript_spread(e, span, a, index, &s)) return;
    if (!s.ints) {
        Val view = subscript_view(e, span, a, &s);
        if (!val_poisoned(view)) array_assign(e, span, view, value);
        return;
    }
    if (val_is_many(value) && !value.ty->ndim) value = many_element(e, span, value, 0, NULL);
    if (!val_is_scalar(value) && a.ty->dtype != DT_RECORD) {
        bool many = val_is_many(value) || value.ty->kind == TY_TUPLE;
        bool text = value.ty->kind == TY_RECORD && value.ty->record->kind != RECORD_FIELDS;
        const char *help = text   ? "an element is one number, and a kernel doesn't read numbers in text"
                           : many ? "store its items one by one"
                           : value.ty->kind == TY_RECORD ? "an element is one number: name a field of the record"
                                                         : "an element is one number";
        e_fail(e, e->value_span, help, DIAG_STORE_TYPE, e_text(e, a), e_text(e, value));
        return;
    }
    if (!wrap_all(e, span, a, s.at, a.ty->ndim, in)) return;
    Ref p = array_at(e, a, in, a.ty->ndim);
    if (a.ty->dtype == DT_RECORD) record_store(e, span, record_target(e, a.ty, p), value);
    else array_store(e, elem_of(a.ty), p, value);
}

bool array_address(Eval *e, PySpan span, Val a, Val index, bool written, Ref *out) {
    Val in[MAX_NDIM];
    Subscript s;
    if ((written && !array_writable(e, span, a)) || !subscript_spread(e, span, a, index, &s)) return false;
    if (!s.ints) {
        e_fail(e, span, "an index for each axis, as a tuple", DIAG_CONSTRUCT, "this on several elements",
               "it works on one element at a time");
        return false;
    }
    if (!wrap_all(e, span, a, s.at, a.ty->ndim, in)) return false;
    *out = array_at(e, a, in, a.ty->ndim);
    return true;
}
