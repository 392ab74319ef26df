/* arrayloop.c - loops that a rule emits over the indices of a shape, and their variables.
 *
 * Small constant shapes are unrolled, so that memory of the thread's own becomes registers. In infer mode the body
 * runs once, with indices that nobody knows. */
#include "arrays.h"

bool sizes_known(uint32_t ndim, const Val *sizes, Wide *total) {
    *total = 1;
    for (uint32_t k = 0; k < ndim; k++) {
        Wide n;
        if (!val_as_int(sizes[k], &n)) return false;
        *total = *total > INT32_MAX && n ? *total : *total * n;
    }
    return true;
}

void index_of(Eval *e, uint32_t ndim, const Val *sizes, Wide i, Val *index) {
    for (uint32_t k = ndim; k-- > 0;) {
        Wide n = sizes[k].i ? sizes[k].i : 1;
        index[k] = val_int(e, i % n);
        i /= n;
    }
}

typedef struct Loop {
    Eval *e;
    uint32_t ndim;
    const Val *sizes;
    Ref backward;
    AtIndex *each;
    void *context;
    Val index[MAX_NDIM];
} Loop;

/* The loop over an axis, and in it those over the axes after it. */
static void loop_axis(Loop *l, uint32_t axis) {
    Eval *e = l->e;
    if (axis == l->ndim) {
        l->each(e, l->context, l->index);
        return;
    }
    if (!e->building) {
        l->index[axis] = val_rt_int(e, REF_NONE);
        loop_axis(l, axis + 1);
        return;
    }
    Ref size = val_ref(e, l->sizes[axis]), zero = e_int(e, T_I64, 0), one = e_int(e, T_I64, 1);
    Ref last = l->backward != REF_NONE ? e_op2(e, OP_SUB, T_I64, size, one) : REF_NONE;
    BlockId before = e_current(e), head = e_new_block(e), body = e_new_block(e), done = e_new_block(e);
    e_jump(e, head);
    e_set_block(e, head);
    Ref i = e_phi(e, T_I64);
    e_branch(e, e_cmp(e, PRED_LT, i, size), body, done);
    e_set_block(e, body);
    Ref at = i;
    if (last != REF_NONE) at = e_select(e, T_I64, l->backward, e_op2(e, OP_SUB, T_I64, last, i), i);
    l->index[axis] = val_rt_int(e, at);
    loop_axis(l, axis + 1);
    Ref next = e_op2(e, OP_ADD, T_I64, i, one);
    e_phi_add(e, i, before, zero);
    e_phi_add(e, i, e_current(e), next);
    e_jump(e, head);
    e_set_block(e, done);
}

void for_each_index(Eval *e, uint32_t ndim, const Val *sizes, Ref backward, AtIndex *each, void *context) {
    Loop l = {e, ndim, sizes, backward, each, context, {{0}}};
    Wide total;
    if (!e->building || !sizes_known(ndim, sizes, &total) || total > SMALL_ELEMENTS || backward != REF_NONE) {
        loop_axis(&l, 0);
        return;
    }
    for (Wide i = 0; i < total; i++) {
        index_of(e, ndim, sizes, i, l.index);
        each(e, context, l.index);
    }
}

/* ---- variables --------------------------------------------------------------------------------------- */

/* Nothing else is in this memory: expressions stay what they are. */
static void put(Eval *e, const Cell *c, Val v) {
    Epoch epoch = e->epoch;
    array_store(e, elem_scalar((DType)c->type.dtype), c->at, v);
    e->epoch = epoch;
}

Cell cell_new(Eval *e, Scalar type, Val first) {
    Cell c = {.type = SCALAR(type.dtype, false)};
    c.at = e_alloca(e, dtype_info[type.dtype].bytes);
    put(e, &c, first);
    return c;
}

Val cell_get(Eval *e, const Cell *c) {
    return array_load(e, ty_array(e->types, elem_scalar((DType)c->type.dtype), 0, LAYOUT_C, false, T_PTRL), c->at);
}

void cell_set(Eval *e, const Cell *c, Val v) { put(e, c, v); }
