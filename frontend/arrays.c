/* arrays.c - arrays as values: data pointer, shape, strides; addresses, loads and stores of elements, attributes.
 *
 * A C-contiguous array's strides are computed from its shape, so that it has no stride parameters and the
 * index arithmetic is a Horner scheme in elements; LAYOUT_A sums bytes. Indices are 64 bits here; passes narrow them.
 * indices.c makes views and elements of subscripts.
 */
#include "arrays.h"

#include <math.h>
#include <string.h>

Val size_minmax(Eval *e, Op op, Val a, Val b) {
    if (val_const(a) && val_const(b)) return (a.i < b.i) == (op == OP_MIN) ? a : b;
    return val_rt_int(e, e_op2_of(e, op, T_I64, a, b));
}

Val array_stride(Eval *e, Val a, uint32_t axis) {
    if (a.ty->layout == LAYOUT_A) return a.items[1 + a.ty->ndim + axis];
    Val s = val_int(e, elem_size(elem_of(a.ty)));
    uint32_t from = a.ty->layout == LAYOUT_C ? axis + 1 : 0, to = a.ty->layout == LAYOUT_C ? a.ty->ndim : axis;
    for (uint32_t k = from; k < to; k++) s = size_op(e, PYB_MUL, s, array_size(a, k));
    return s;
}

/* ---- making arrays ----------------------------------------------------------------------------------- */
Val array_with(Eval *e, Ty ty, Ref data, const Val *shape, const Val *strides) {
    Val *items = ARENA_ARRAY(e->arena, Val, ty->n);
    items[0] = (Val){.ty = ty_ptr(e->types, (Type)ty->space), .ref = {data, REF_NONE}};
    for (uint32_t k = 0; k < ty->ndim; k++) items[1 + k] = shape[k];
    for (uint32_t k = 0; k < ty->ndim && ty->layout == LAYOUT_A; k++) items[1 + ty->ndim + k] = strides[k];
    return (Val){.ty = ty, .items = items};
}

Val array_made(Eval *e, Elem elem, bool readonly, Type space, Ref data, uint32_t ndim, const Val *shape) {
    return array_with(e, ty_array(e->types, elem, ndim, LAYOUT_C, readonly, space), data, shape, NULL);
}

Val array_param(Eval *e, const ArgType *a, Ref data, const Ref *shape, const Ref *strides) {
    Val s[MAX_NDIM], t[MAX_NDIM];
    for (uint32_t k = 0; k < a->ndim; k++) {
        s[k] = val_rt_int(e, shape ? shape[k] : REF_NONE);
        t[k] = val_rt_int(e, strides ? strides[k] : REF_NONE);
    }
    Elem elem = a->record ? elem_record(a->record, a->align) : elem_scalar((DType)a->dtype);
    if (!a->record && a->align) elem.align = a->align;
    Ty ty = ty_array(e->types, elem, a->ndim, (Layout)a->layout, a->readonly, T_PTR);
    return array_with(e, ty, data, s, t);
}

Val array_flatten_to_a(Eval *e, Val a) {
    if (a.ty->layout == LAYOUT_A) return a;
    Val strides[MAX_NDIM];
    for (uint32_t k = 0; k < a.ty->ndim; k++) strides[k] = array_stride(e, a, k);
    Ty ty = ty_array(e->types, elem_of(a.ty), a.ty->ndim, LAYOUT_A, a.ty->readonly, (Type)a.ty->space);
    return array_with(e, ty, array_data(a), a.items + 1, strides);
}

/* A captured array in C order, whatever its own strides. */
static void copy_in_order(const HostArray *a, uint32_t axis, const char *from, char **to) {
    size_t bytes = elem_bytes(a->dtype, a->record);
    if (axis == a->ndim) {
        memcpy(*to, from, bytes);
        *to += bytes;
        return;
    }
    for (int64_t i = 0; i < a->shape[axis]; i++) copy_in_order(a, axis + 1, from + i * a->strides[axis], to);
}

enum { CONST_BYTES = 32768 /* what goes to constant memory, of the 64 KiB there are */ };

static uint32_t captured_data(Eval *e, const HostArray *a, size_t size) {
    for (uint32_t i = 0; i < e->data.n; i++)
        if (e->data.at[i].data == a) return e->data.at[i].index;
    const void *bytes = a->data;
    if (a->layout != LAYOUT_C) {
        char *copy = arena_alloc(e->arena, size + 1), *to = copy;
        copy_in_order(a, 0, a->data, &to);
        bytes = copy;
    }
    ImageShared shown = {.dtype = (uint8_t)a->dtype, .item = (uint16_t)elem_bytes(a->dtype, a->record)};
    if (a->ndim <= sizeof shown.shape / sizeof *shown.shape) {
        shown.ndim = a->ndim;
        memcpy(shown.shape, a->shape, a->ndim * sizeof *shown.shape);
    }
    VEC_PUSH(e->arena, &e->m->data, ((IrData){bytes, size, 16, size <= CONST_BYTES, shown}));
    VEC_PUSH(e->arena, &e->data, ((DataEntry){a, e->m->data.n - 1}));
    return e->m->data.n - 1;
}

/* A large array, whose address the launch gives. Nobody writes it, unless it is on a device. */
static Ref captured_param(Eval *e, const HostArray *a, size_t size) {
    uint32_t which = 0;
    while (which < e->m->captures.n && e->m->captures.at[which].bytes != a->data) which++;
    if (which == e->m->captures.n) {
        IrParam p = {
            .kind = PARAM_CAPTURED, .type = T_PTR, .flags = PARAM_READONLY | PARAM_NOALIAS, .name = "captured"};
        if (a->on_device) p.flags = 0;
        p.leaf = (uint16_t)which;
        p.align = (uintptr_t)a->data % 16 ? (uint16_t)elem_align(a->dtype, a->record) : 16;
        VEC_PUSH(e->arena, &e->m->captures, ((IrCapture){a->data, size}));
        VEC_PUSH(e->arena, &e->m->params, p);
    }
    uint32_t param = 0;
    while (e->m->params.at[param].kind != PARAM_CAPTURED || e->m->params.at[param].leaf != which) param++;
    return e_emit(e, OP_PARAM, T_PTR, 0, NULL, 0, param);
}

static Ref captured_address(Eval *e, const HostArray *a, size_t size, Type space) {
    bool apart = size > CONST_BYTES && a->layout == LAYOUT_C && !e->req->self_contained && !e->req->host_function;
    if (!e->building) return REF_NONE;
    return apart ? captured_param(e, a, size) : e_emit(e, OP_DATA, space, 0, NULL, 0, captured_data(e, a, size));
}

/* What the arguments are to LLVM: arrays that a captured one may overlap. */
void expect_overlap(Eval *e) {
    for (uint32_t i = 0; i < e->m->params.n; i++)
        if (e->m->params.at[i].kind == PARAM_DATA) e->m->params.at[i].flags &= (uint8_t)~PARAM_NOALIAS;
    e->m->facts &= ~(uint32_t)FACT_NOALIAS;
}

/* An array on a device, at an address that the launch gives. */
static Val captured_there(Eval *e, const HostArray *a) {
    Val shape[MAX_NDIM], strides[MAX_NDIM];
    if (e->req->self_contained || e->req->host_function)
        return e_fail(e, (PySpan){0}, "pass the array as an argument", DIAG_CAPTURED_THERE);
    for (uint32_t k = 0; k < a->ndim; k++) {
        shape[k] = val_int(e, a->shape[k]);
        strides[k] = val_int(e, a->strides[k]);
    }
    Ref data = REF_NONE;
    if (e->building) {
        expect_overlap(e);
        data = captured_param(e, a, elem_bytes(a->dtype, a->record));
    }
    Elem elem = a->record ? elem_record(a->record, a->record->align) : elem_scalar(a->dtype);
    if (a->askew) elem.align = 1;
    return array_with(e, ty_array(e->types, elem, a->ndim, a->layout, a->readonly, T_PTR), data, shape, strides);
}

Val array_captured(Eval *e, const HostArray *a, bool is_bytes) {
    if (a->on_device) return captured_there(e, a);
    Val shape[MAX_NDIM];
    size_t size = elem_bytes(a->dtype, a->record);
    for (uint32_t k = 0; k < a->ndim; k++) {
        shape[k] = val_int(e, a->shape[k]);
        size *= (size_t)a->shape[k];
    }
    Type space = size <= CONST_BYTES ? T_PTRC : T_PTR;
    Ref data = captured_address(e, a, size, space);
    Elem elem = a->record ? elem_record(a->record, a->record->align) : elem_scalar(a->dtype);
    Ty ty = is_bytes ? ty_bytes(e->types, space) : ty_array(e->types, elem, a->ndim, LAYOUT_C, true, space);
    return array_with(e, ty, data, shape, NULL);
}

/* ---- addresses --------------------------------------------------------------------------------------- */

/* index[k] in range. Horner in elements for contiguous arrays, a sum of bytes for others. */
Ref array_at(Eval *e, Val a, const Val *index, uint32_t n) {
    uint32_t bytes = elem_size(elem_of(a.ty)), ndim = a.ty->ndim;
    Val sum = val_int(e, 0);
    if (a.ty->layout == LAYOUT_A) {
        for (uint32_t k = 0; k < n; k++)
            sum = size_op(e, PYB_ADD, sum, size_op(e, PYB_MUL, index[k], array_stride(e, a, k)));
        return n ? e_emit(e, OP_ADDR, (Type)a.ty->space, 2, (Ref[]){array_data(a), val_ref(e, sum)}, 0, 1)
                 : array_data(a);
    }
    for (uint32_t k = 0; k < ndim; k++) {
        uint32_t axis = a.ty->layout == LAYOUT_C ? k : ndim - 1 - k;
        if (k) sum = size_op(e, PYB_MUL, sum, array_size(a, axis));
        if (axis < n) sum = k ? size_op(e, PYB_ADD, sum, index[axis]) : index[axis];
    }
    return n ? e_emit(e, OP_ADDR, (Type)a.ty->space, 2, (Ref[]){array_data(a), val_ref(e, sum)}, 0, bytes)
             : array_data(a);
}

Ref imag_address(Eval *e, DType d, Ref p) {
    if (!e->building || p == REF_NONE) return REF_NONE;
    return e_emit(e, OP_ADDR, (Type)e->m->instrs.at[p].type, 2, (Ref[]){p, e_int(e, T_I64, 1)}, 0,
                  dtype_info[d].bytes / 2u);
}

/* A field of a packed record may lie anywhere. */
static uint16_t mem_sub(Elem elem) {
    if (!elem_is_askew(elem)) return 0;
    return (uint16_t)(MEM_UNALIGNED | (elem.align > 1 ? mem_align_flag(elem.align) : 0));
}

static Ref load_part(Eval *e, Elem elem, Ref p) {
    return e_emit(e, OP_LOAD, dtype_info[elem.dtype].ir, 1, &p, mem_sub(elem), 0);
}

Val array_load(Eval *e, Ty array, Ref p) {
    DType d = (DType)array->dtype;
    Elem elem = elem_of(array);
    if (d == DT_RECORD && record_is_time(elem.record)) return time_load(e, elem, p);
    if (d == DT_RECORD) return record_at(e, elem, array->readonly, (Type)array->space, p);
    if (array->weak) return to_size(e, val_typed(e, d, load_part(e, elem, p)));
    if (!dt_is_complex(d)) return val_typed(e, d, load_part(e, elem, p));
    Ref re = load_part(e, elem, p), im = load_part(e, elem, imag_address(e, d, p));
    return val_complex(e, SCALAR(d, false), re, im);
}

Val array_element(Eval *e, PySpan span, Val a, Val index) {
    (void)span;
    index = to_size(e, index);
    Ref p = array_at(e, a, &index, 1);
    if (a.ty->ndim == 1) return array_load(e, a.ty, p);
    Layout layout = a.ty->layout == LAYOUT_C ? LAYOUT_C : LAYOUT_A;
    Val strides[MAX_NDIM];
    for (uint32_t k = 1; k < a.ty->ndim && layout == LAYOUT_A; k++) strides[k - 1] = array_stride(e, a, k);
    Ty ty = ty_array(e->types, elem_of(a.ty), a.ty->ndim - 1u, layout, a.ty->readonly, (Type)a.ty->space);
    return array_with(e, ty, p, a.items + 2, strides);
}

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

static void store_part(Eval *e, Elem elem, Ref p, Ref v) {
    e_emit(e, OP_STORE, T_VOID, 2, (Ref[]){p, v}, mem_sub(elem), 0);
}

void array_store(Eval *e, Elem elem, Ref p, Val v) {
    DType d = (DType)elem.dtype;
    Val c = array_stored(e, e->value_span, d, v);
    if (val_poisoned(c)) return;
    if (!dt_is_complex(d)) {
        store_part(e, elem, p, val_ref(e, c));
        return;
    }
    store_part(e, elem, p, val_re(e, c));
    Ref at = imag_address(e, d, p);
    store_part(e, elem, at, val_im(e, c));
}

/* The k-th element after the one at p, along the last axis. */
Ref array_neighbour(Eval *e, Val a, Ref p, uint32_t k) {
    if (!k || p == REF_NONE) return p;
    Type space = (Type)a.ty->space;
    if (a.ty->layout == LAYOUT_C)
        return e_emit(e, OP_ADDR, space, 2, (Ref[]){p, e_int(e, T_I64, k)}, 0, elem_size(elem_of(a.ty)));
    Val offset = size_op(e, PYB_MUL, array_stride(e, a, a.ty->ndim - 1u), val_int(e, k));
    return e_emit(e, OP_ADDR, space, 2, (Ref[]){p, val_ref(e, offset)}, 0, 1);
}

/* ---- attributes -------------------------------------------------------------------------------------- */
static Val shape_attr(Eval *e, Val a, const char *name) {
    uint32_t ndim = a.ty->ndim;
    Val size = val_int(e, 1), item = val_int(e, elem_size(elem_of(a.ty)));
    for (uint32_t k = 0; k < ndim; k++) size = size_op(e, PYB_MUL, size, many_size(a, k));
    if (strcmp(name, "shape") == 0) return val_tuple(e, ndim, many_shape(a));
    if (strcmp(name, "ndim") == 0) return val_int(e, ndim);
    if (strcmp(name, "size") == 0) return size;
    if (strcmp(name, "itemsize") == 0) return item;
    if (strcmp(name, "nbytes") == 0) return size_op(e, PYB_MUL, size, item);
    return strcmp(name, "dtype") == 0 ? (Val){.ty = ty_dtype_of(e->types, elem_of(a.ty))} : (Val){0};
}

static Val turned(Eval *e, Val a) {
    uint32_t ndim = a.ty->ndim;
    Val strides[MAX_NDIM], shape[MAX_NDIM];
    Val f = a.ty->layout == LAYOUT_A ? array_flatten_to_a(e, a) : a;
    Layout layout = a.ty->layout == LAYOUT_C ? LAYOUT_F : a.ty->layout == LAYOUT_F ? LAYOUT_C : LAYOUT_A;
    for (uint32_t k = 0; k < ndim; k++) {
        shape[k] = array_size(f, ndim - 1 - k);
        if (layout == LAYOUT_A) strides[k] = array_stride(e, f, ndim - 1 - k);
    }
    return array_with(e, ty_array(e->types, elem_of(a.ty), ndim, layout, a.ty->readonly, (Type)a.ty->space),
                      array_data(a), shape, strides);
}

/* The parts of an expression; and .imag of a real array, which can't be written to, is computed where it is used. */
static Val computed_part(Eval *e, Val a, bool imag) {
    CallSite site = {.fn = devfn_find(imag ? "numpy.imag" : "numpy.real"), .name = imag ? "np.imag" : "np.real"};
    return array_map(e, (PySpan){0}, (ExprOp){EXPR_CALL, 0, &site}, 1, &a);
}

/* .real and .imag of a complex array are views. */
static Val part_of(Eval *e, Val a, bool imag) {
    DType d = val_dtype(a);
    if (d == DT_RECORD) return (Val){0};
    if (a.ty->kind != TY_ARRAY || (imag && !dt_is_complex(d))) return computed_part(e, a, imag);
    if (!dt_is_complex(d)) return a;
    Val f = array_flatten_to_a(e, a);
    Elem part = {(uint8_t)dtype_info[d].part, a.ty->align, NULL};
    Ty ty = ty_array(e->types, part, a.ty->ndim, LAYOUT_A, a.ty->readonly, (Type)a.ty->space);
    Ref data = imag ? imag_address(e, d, array_data(a)) : array_data(a);
    return array_with(e, ty, data, f.items + 1, f.items + 1 + a.ty->ndim);
}

Val array_attr(Eval *e, Val a, const char *name) {
    Val v = shape_attr(e, a, name), strides[MAX_NDIM];
    if (v.ty) return v;
    if (strcmp(name, "real") == 0 || strcmp(name, "imag") == 0) return part_of(e, a, *name == 'i');
    if (a.ty->kind != TY_ARRAY) return v;
    if (strcmp(name, "T") == 0) return turned(e, a);
    if (strcmp(name, "strides") != 0) return v;
    for (uint32_t k = 0; k < a.ty->ndim; k++) strides[k] = array_stride(e, a, k);
    return val_tuple(e, a.ty->ndim, strides);
}
