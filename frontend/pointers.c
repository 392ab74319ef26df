/* pointers.c - addresses as arguments (Numba's CPointer): elements are counted from there, backwards, too; nothing
 * checks that they are there. carray and farray make arrays of them. */
#include "devfns.h"
#include "arrays.h"

Val pointer_at(Eval *e, Elem elem, Type space, Ref at) {
    Ty ty = ty_pointer(e->types, elem, space);
    Val *items = ARENA_NEW(e->arena, Val);
    *items = (Val){.ty = ty->items[0], .ref = {at, REF_NONE}};
    return (Val){.ty = ty, .items = items};
}

/* The address of p[index]; false: reported. */
static bool address(Eval *e, PySpan span, Val p, Val index, Ref *out) {
    if (!val_is_scalar(index) || (!dt_is_int(val_dtype(index)) && val_dtype(index) != DT_BOOL)) {
        e_fail(e, span, "carray(p, shape) makes an array of it, which has axes and slices", DIAG_INDEX_TYPE,
               e_text(e, index));
        return false;
    }
    *out = REF_NONE;
    if (!e->building) return true;
    Ref i = val_conv_ref(e, index, DT_I64);
    *out = e_emit(e, OP_ADDR, (Type)p.ty->space, 2, (Ref[]){p.items[0].ref[0], i}, 0, elem_size(elem_of(p.ty)));
    return true;
}

static Ty element(Eval *e, Val p) { return ty_array(e->types, elem_of(p.ty), 0, LAYOUT_C, false, (Type)p.ty->space); }

Val pointer_getitem(Eval *e, PySpan span, Val p, Val index) {
    Ref at;
    return address(e, span, p, index, &at) ? array_load(e, element(e, p), at) : val_poison(e);
}

void pointer_setitem(Eval *e, PySpan span, Val p, Val index, Val value) {
    Ref at;
    if (!address(e, span, p, index, &at)) return;
    if (val_is_scalar(value)) array_store(e, elem_of(p.ty), at, value);
    else
        e_fail(e, e->value_span.line ? e->value_span : span, "an element is one number", DIAG_STORE_TYPE, e_text(e, p),
               e_text(e, value));
}

/* carray(ptr, shape, dtype=None), farray. param: Layout */
Val fn_carray(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"ptr", "shape", "?dtype"};
    Val v[3], *shape;
    DType d;
    if (!call_bind(e, site, n, args, 3, params, v)) return val_poison(e);
    if (v[0].ty->kind != TY_POINTER)
        return bad_arg(e, site, 0, v[0], "it takes a parameter that is declared CPointer(...)");
    bool typed = v[2].ty && v[2].ty->kind != TY_NONE;
    if (typed && (!val_dtype_named(e, v[2], &d) || d != val_dtype(v[0])))
        return bad_arg(e, site, 2, v[2], arena_printf(e->arena, "it points to %s", dtype_info[v[0].ty->dtype].name));
    uint32_t ndim = v[1].ty->kind == TY_TUPLE ? v[1].ty->n : 1;
    if (ndim > MAX_NDIM) return bad_arg(e, site, 1, v[1], "an array has at most 16 axes");
    shape = ARENA_ARRAY(e->arena, Val, ndim + 1);
    for (uint32_t k = 0; k < ndim; k++) {
        shape[k] = v[1].ty->kind == TY_TUPLE ? v[1].items[k] : v[1];
        if (!val_is_scalar(shape[k]) || !dt_is_int(val_dtype(shape[k])))
            return bad_arg(e, site, 1, v[1], "a shape is an integer or a tuple of them");
        shape[k] = val_convert(e, shape[k], e_python_int(e));
    }
    Ty ty = ty_array(e->types, elem_of(v[0].ty), ndim, (Layout)site->fn->param, false, (Type)v[0].ty->space);
    return array_with(e, ty, v[0].items[0].ref[0], shape, NULL);
}
