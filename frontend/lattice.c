/* lattice.c - equality and join of abstract values: a type, and constants that are known exactly.
 *
 * Bottom is a value without a type (not reached yet). Joins never narrow: a Python constant that fits takes
 * the type that it meets, everything else follows the promotion table. */
#include "evaluator.h"

#include <math.h>
#include <string.h>

static bool same_double(double a, double b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }

static bool same_const(Val a, Val b) {
    if (a.konst != b.konst) return false;
    switch (a.konst) {
    case KONST_INT: return a.i == b.i;
    case KONST_FLOAT: return same_double(a.f.re, b.f.re);
    case KONST_COMPLEX: return same_double(a.f.re, b.f.re) && same_double(a.f.im, b.f.im);
    default: return true;
    }
}

bool val_same(Val a, Val b) {
    if (a.ty != b.ty || a.member != b.member || a.likely != b.likely || !same_const(a, b)) return false;
    if (a.items == b.items) return true;
    for (uint32_t i = 0; a.ty && i < a.ty->n; i++)
        if (!val_same(a.items[i], b.items[i])) return false;
    return true;
}

/* Equal for values that are the same: all NaNs are. */
uint32_t val_hash(Val v) {
    uint32_t h = hash_mix(v.konst, (uintptr_t)v.ty);
    if (v.konst == KONST_INT) h = hash_mix(h, (uint64_t)v.i);
    if (v.konst == KONST_FLOAT && !isnan(v.f.re)) {
        uint64_t bits;
        memcpy(&bits, &v.f.re, sizeof bits);
        h = hash_mix(h, bits);
    }
    for (uint32_t i = 0; v.ty && i < v.ty->n; i++) h = hash_mix(h, val_hash(v.items[i]));
    return h;
}

static bool has_refs(Val v) {
    if (v.ref[0] != REF_NONE || v.ref[1] != REF_NONE) return true;
    for (uint32_t i = 0; v.ty && i < v.ty->n; i++)
        if (has_refs(v.items[i])) return true;
    return false;
}

Val val_abstract(Eval *e, Val v) {
    if (!has_refs(v)) return v;
    v.ref[0] = v.ref[1] = REF_NONE;
    if (!v.ty || !v.ty->n) return v;
    Val *items = ARENA_ARRAY(e->arena, Val, v.ty->n);
    for (uint32_t i = 0; i < v.ty->n; i++) items[i] = val_abstract(e, v.items[i]);
    v.items = items;
    return v;
}

bool val_is_known(Val v) {
    if (v.ty->kind == TY_SCALAR) return val_const(v);
    if (v.ty->kind == TY_PTR) return false;
    for (uint32_t i = 0; i < v.ty->n; i++)
        if (!val_is_known(v.items[i])) return false;
    return true;
}

/* ---- join ------------------------------------------------------------------------------------------ */

/* Does the Python constant have a value in the typed scalar t, so that it may take this type? */
static bool constant_fits(Val c, DType t) {
    if (c.konst == KONST_INT && c.ty->dtype == DT_BOOL) return t == DT_BOOL;
    if (c.konst == KONST_INT) {
        if (t == DT_BOOL) return false;
        if (dt_is_int(t)) return dt_fits(t, c.i);
        Wide mag = c.i < 0 ? -c.i : c.i;
        DType part = dtype_info[t].part;
        unsigned digits = part == DT_F64 ? 53 : part == DT_F32 ? 24 : part == DT_F16 ? 11 : 8;
        return mag <= (Wide)1 << digits;
    }
    if (dt_is_int(t) || t == DT_BOOL) return false;
    if (c.konst == KONST_COMPLEX) return dt_is_complex(t);
    return !isfinite(c.f.re) || (dtype_info[t].part != DT_F16 && fabs(c.f.re) <= 3.4028234663852886e38) ||
           fabs(c.f.re) <= 65504 || dtype_info[t].part == DT_F64;
}

/* A Python integer that the joined integer type can't hold has no value in it. */
static bool constant_lost(Val c, Scalar s) {
    return val_const(c) && c.ty->weak && c.konst == KONST_INT && !s.weak && dt_is_int((DType)s.dtype) &&
           !dt_fits((DType)s.dtype, c.i);
}

static bool join_scalars(Eval *e, Val a, Val b, Val *out) {
    Scalar s;
    if (val_const(a) && a.ty->weak && !b.ty->weak && constant_fits(a, val_dtype(b))) s = val_sc(b);
    else if (val_const(b) && b.ty->weak && !a.ty->weak && constant_fits(b, val_dtype(a))) s = val_sc(a);
    else if (!promote_join(e->dialect, val_sc(a), val_sc(b), &s)) return false;
    if (constant_lost(a, s) || constant_lost(b, s)) return false;
    *out = (Val){.ty = ty_scalar(e->types, (DType)s.dtype, s.weak)};
    if (a.ty == b.ty && val_const(a) && same_const(a, b)) { /* an enum member and its number */
        *out = a;
        out->member = NULL;
    }
    return true;
}

static bool join_arrays(Eval *e, Val a, Val b, Val *out) {
    Ty x = a.ty, y = b.ty;
    if (x->dtype != y->dtype || x->record != y->record || x->align != y->align || x->ndim != y->ndim ||
        x->space != y->space || x->weak != y->weak)
        return false;
    Layout layout = x->layout == y->layout ? (Layout)x->layout : LAYOUT_A;
    Ty ty = x->weak ? x : ty_array(e->types, elem_of(x), x->ndim, layout, x->readonly || y->readonly, (Type)x->space);
    Val *items = ARENA_ARRAY(e->arena, Val, ty->n);
    for (uint32_t i = 0; i < ty->n; i++) {
        items[i] = (Val){.ty = ty->items[i]};
        if (i < x->n && i < y->n && val_same(a.items[i], b.items[i])) items[i] = val_abstract(e, a.items[i]);
    }
    *out = (Val){.ty = ty, .items = items};
    return true;
}

/* References to records of one layout; the bytes of the host's aren't known any more. */
static bool join_records(Eval *e, Val a, Val b, Val *out) {
    Ty x = a.ty, y = b.ty;
    if (x->record != y->record || x->space != y->space) return false;
    unsigned align = x->align < y->align ? x->align : y->align;
    Ty ty = ty_record(e->types, x->record, align, x->readonly || y->readonly, (Type)x->space, NULL);
    Val *items = ARENA_NEW(e->arena, Val);
    *items = (Val){.ty = ty->items[0]};
    *out = (Val){.ty = ty, .items = items};
    return true;
}

static bool same_names(Ty a, Ty b) {
    if (!a->fields != !b->fields) return false;
    for (uint32_t i = 0; a->fields && i < a->n; i++)
        if (strcmp(a->fields[i], b->fields[i]) != 0) return false;
    return true;
}

static bool join_items(Eval *e, Val a, Val b, Val *out) {
    Ty x = a.ty, y = b.ty;
    if (x->n != y->n || x->sub != y->sub || x->obj != y->obj || !same_names(x, y)) return false;
    if (!x->name != !y->name || (x->name && strcmp(x->name, y->name) != 0)) return false;
    Val *items = ARENA_ARRAY(e->arena, Val, x->n + 1);
    for (uint32_t i = 0; i < x->n; i++)
        if (!val_join(e, a.items[i], b.items[i], &items[i])) return false;
    *out = (Val){.items = items};
    out->ty = ty_composite(e->types, x->kind, x->sub, x->n, items, x->obj, x->name, x->fields);
    return true;
}

/* Array expressions of one form, whose operands differ in constants and layouts alone: no element's type changes. */
static bool join_exprs(Eval *e, Val a, Val b, Val *out) {
    Ty x = a.ty, y = b.ty;
    if (x->layout != y->layout || x->dtype != y->dtype || x->ndim != y->ndim) return false;
    if (!join_items(e, a, b, out)) return false;
    for (uint32_t i = 0; i < x->n; i++) {
        Ty both = out->items[i].ty;
        if (both->dtype != x->items[i]->dtype || both->dtype != y->items[i]->dtype) return false;
        if (both->weak != x->items[i]->weak || both->weak != y->items[i]->weak) return false;
    }
    out->ty =
        ty_expr(e->types, (ExprKind)x->sub, x->layout, (DType)x->dtype, x->ndim, x->n, out->items, x->name, x->fields);
    out->i = -1;
    return true;
}

bool val_join(Eval *e, Val a, Val b, Val *out) {
    if (!a.ty || val_same(a, b)) {
        *out = val_abstract(e, b);
        return true;
    }
    if (!b.ty) {
        *out = val_abstract(e, a);
        return true;
    }
    if (text_join(e, a, b, out) || choice_join(e, a, b, out)) return true;
    if (a.ty->made && b.ty->made) return mutable_join(e, a, b, out);
    if (a.ty->kind != b.ty->kind && val_is_list(a) && val_is_list(b)) { /* one changes: so does the other, next time */
        lists_change(e, a.ty->kind == TY_LIST ? b : a);
        return false;
    }
    if (a.ty->kind != b.ty->kind || a.ty->kind == TY_MAYBE) return maybe_join(e, a, b, out);
    switch (a.ty->kind) {
    case TY_SCALAR: return join_scalars(e, a, b, out);
    case TY_ARRAY: return join_arrays(e, a, b, out);
    case TY_RECORD: return join_records(e, a, b, out);
    case TY_POINTER: *out = pointer_at(e, elem_of(a.ty), (Type)a.ty->space, REF_NONE); return a.ty == b.ty;
    case TY_TIME: return time_join(e, a, b, out);
    case TY_PTR: *out = (Val){.ty = a.ty}; return a.ty == b.ty;
    case TY_EXPR: return join_exprs(e, a, b, out);
    case TY_TUPLE:
    case TY_SLICE:
    case TY_RANGE:
    case TY_ITER:
    case TY_FUNCTION:
    case TY_METHOD:
    case TY_DICT:
    case TY_PARTIAL:
    case TY_SUPER:
    case TY_GROUP:
    case TY_TEXT:
    case TY_EXCEPTION: return join_items(e, a, b, out);
    case TY_INSTANCE: {
        bool made = a.ty->sub == 1 && b.ty->sub == 1 && a.ty->obj == b.ty->obj;
        if (join_items(e, a, b, out)) return true;
        if (made) change_class(e, a.ty->obj); /* an __init__ that assigns some fields on some ways only */
        return false;
    }
    default: /* compile-time objects: the same or nothing */ *out = a; return a.ty == b.ty;
    }
}
