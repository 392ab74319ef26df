/* sizes.c - how long a slice is unless its array ends before: x[:4], x[2:6], x[-3:], x[i:i + 4].
 *
 * NumPy cuts such a slice at the array's end, so its length is known at run time only, and what works on arrays of any
 * length takes it so. But what needs a constant (np.sort, copy(), a result that is an array) takes the length that the
 * slice was written with, Val.likely, and checks it: a shorter one raises ValueError. So `likely` is a guess that
 * nothing relies on without a check. */
#include "arrays.h"

/* ---- the difference of two bounds -------------------------------------------------------------------- */

/* A sum of multiples of values, and a constant. */
enum { MOST_TERMS = 6, MOST_DEPTH = 8 };

typedef struct Linear {
    const Frame *fr;
    PyRef of[MOST_TERMS];
    Wide by[MOST_TERMS];
    uint32_t n;
    Wide plus;
    bool failed;
} Linear;

static void add_term(Linear *l, PyRef r, Wide by) {
    uint32_t i = 0;
    while (i < l->n && !congruent(l->fr->inst->f, l->of[i], r, true)) i++;
    if (i == MOST_TERMS) {
        l->failed = true;
        return;
    }
    if (i == l->n) l->n++, l->of[i] = r, l->by[i] = 0;
    l->by[i] += by;
}

static bool constant_of(const Frame *fr, PyRef r, Wide *out) {
    Val v = fr->vals[r];
    return v.ty && v.ty->kind == TY_SCALAR && dt_is_int(val_dtype(v)) && val_as_int(v, out) &&
           *out<INT32_MAX && * out> - INT32_MAX;
}

static void add_linear(Linear *l, PyRef r, Wide by, unsigned depth) {
    const PyInstr *in = &l->fr->inst->f->instrs.at[r];
    Wide c;
    if (constant_of(l->fr, r, &c)) {
        l->plus += by * c;
        return;
    }
    unsigned op = in->imm & ~(unsigned)PYB_INPLACE;
    if (in->op != PY_BINARY || depth > MOST_DEPTH || by > INT32_MAX || by < -INT32_MAX) {
        add_term(l, r, by);
        return;
    }
    if (op == PYB_ADD || op == PYB_SUB) {
        add_linear(l, in->args[0], by, depth + 1);
        add_linear(l, in->args[1], op == PYB_SUB ? -by : by, depth + 1);
    } else if (op == PYB_MUL && constant_of(l->fr, in->args[0], &c)) add_linear(l, in->args[1], by * c, depth + 1);
    else if (op == PYB_MUL && constant_of(l->fr, in->args[1], &c)) add_linear(l, in->args[0], by * c, depth + 1);
    else add_term(l, r, by);
}

static uint32_t steps(Wide distance, Wide by) {
    if (by < 0) distance = -distance, by = -by;
    Wide n = by && distance > 0 ? (distance + by - 1) / by : 0;
    return n < INT32_MAX ? (uint32_t)n : 0;
}

uint32_t likely_between(const Frame *fr, PyRef start, PyRef stop, Wide step) {
    Linear l = {.fr = fr};
    add_linear(&l, stop, 1, 0);
    add_linear(&l, start, -1, 0);
    for (uint32_t i = 0; i < l.n; i++)
        if (l.by[i]) return 0;
    return l.failed ? 0 : steps(l.plus, step);
}

/* ---- slices and shapes ------------------------------------------------------------------------------- */
uint32_t likely_count(Val slice, Wide step) {
    Wide start = 0, stop = 0;
    bool from = slice.items[0].ty->kind != TY_NONE, to = slice.items[1].ty->kind != TY_NONE;
    if (slice.likely) return slice.likely;
    if ((from && !val_as_int(slice.items[0], &start)) || (to && !val_as_int(slice.items[1], &stop))) return 0;
    if (from && to && (start < 0) == (stop < 0)) return steps(stop - start, step);
    if (!from && to && (step > 0) == (stop >= 0)) return steps(step > 0 ? stop : stop + 1, step);
    if (from && !to && (step > 0) == (start < 0)) return steps(step > 0 ? -start : -1 - start, step);
    return 0;
}

/* A size that isn't known, but maybe likely. */
static bool settles(uint32_t n, const Val *sizes) {
    bool all = true, any = false;
    for (uint32_t k = 0; k < n; k++) {
        any |= !val_const(sizes[k]);
        all &= val_const(sizes[k]) || sizes[k].likely;
    }
    return any && all;
}

static void settle(Eval *e, PySpan span, const char *name, uint32_t n, const Val *sizes, Val *out) {
    for (uint32_t k = 0; k < n; k++) {
        Val size = sizes[k]; /* `out` may be `sizes` */
        out[k] = size;
        if (val_const(size)) continue;
        out[k] = val_int(e, size.likely);
        Ref differs = e_cmp(e, PRED_NE, val_ref(e, size), e_int(e, T_I64, size.likely));
        const char *message = arena_printf(e->arena, "%s: a slice of %u elements goes past the end of its array", name,
                                           (unsigned)size.likely);
        e_raise_if(e, span, differs, "ValueError", message);
    }
}

bool shape_settled(Eval *e, PySpan span, const char *name, uint32_t n, Val *shape, Wide *total) {
    if (settles(n, shape)) settle(e, span, name, n, shape, shape);
    return sizes_known(n, shape, total);
}

static Val settled(Eval *e, PySpan span, const char *name, Val v) {
    uint32_t shape = v.ty->kind == TY_ARRAY ? 1 : v.ty->n - v.ty->ndim;
    Val *items = ARENA_ARRAY(e->arena, Val, v.ty->n + 1);
    if (!val_is_many(v) || !settles(v.ty->ndim, v.items + shape)) return v;
    vals_copy(items, v.items, v.ty->n);
    for (uint32_t i = 0; i < shape && v.ty->kind == TY_EXPR; i++) items[i] = settled(e, span, name, items[i]);
    settle(e, span, name, v.ty->ndim, v.items + shape, items + shape);
    v.items = items;
    return v;
}

bool many_settled(Eval *e, PySpan span, const char *name, Val *v, Wide *total) {
    *v = settled(e, span, name, *v);
    return sizes_known(v->ty->ndim, many_shape(*v), total);
}

Val rows_settled(Eval *e, PySpan span, Val array) {
    Val *items = ARENA_ARRAY(e->arena, Val, array.ty->n + 1);
    if (!array.ty->ndim || !settles(1, many_shape(array))) return array;
    vals_copy(items, array.items, array.ty->n);
    settle(e, span, "its items", 1, array.items + 1, items + 1);
    array.items = items;
    return array;
}
