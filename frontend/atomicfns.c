/* atomicfns.c - gpu.atomic.*: one step on an element that no other thread's can come between.
 *
 * They work on elements of arguments and of shared arrays. A complex number is added to part by part; a bool is changed
 * as the byte that it is. Everything else is one operation of the IR, with the element's own type. */
#include "devfns.h"
#include "evaluator.h"

#include <string.h>

/* What an operation takes beside integers. */
enum { ALSO_FLOAT = 1, ALSO_COMPLEX = 2, ALSO_BOOL = 4, ONLY_COUNTERS = 8 };

static const uint8_t takes[ATOMIC__COUNT] = {
    [ATOMIC_ADD] = ALSO_FLOAT | ALSO_COMPLEX,
    [ATOMIC_SUB] = ALSO_FLOAT | ALSO_COMPLEX,
    [ATOMIC_MIN] = ALSO_FLOAT,
    [ATOMIC_MAX] = ALSO_FLOAT,
    [ATOMIC_FMIN] = ALSO_FLOAT,
    [ATOMIC_FMAX] = ALSO_FLOAT,
    [ATOMIC_AND] = ALSO_BOOL,
    [ATOMIC_OR] = ALSO_BOOL,
    [ATOMIC_XOR] = ALSO_BOOL,
    [ATOMIC_EXCH] = ALSO_FLOAT | ALSO_BOOL,
    [ATOMIC_INC] = ONLY_COUNTERS,
    [ATOMIC_DEC] = ONLY_COUNTERS,
};

static const char *type_help(AtomicOp op, DType d) {
    if (takes[op] & ONLY_COUNTERS) return "it counts in uint32 and uint64 elements";
    if (dt_is_complex(d)) return "complex elements can be added to; use .view(np.float32) of the array for their parts";
    if (dt_is_float(d)) return "it works on the bits of integers: .view(np.uint32) of the array gives them";
    return "use an array of uint8 for flags that are counted";
}

static bool type_ok(AtomicOp op, DType d) {
    if (takes[op] & ONLY_COUNTERS) return d == DT_U32 || d == DT_U64;
    if (d == DT_BOOL) return takes[op] & ALSO_BOOL;
    if (dt_is_complex(d)) return takes[op] & ALSO_COMPLEX;
    return dt_is_int(d) || takes[op] & ALSO_FLOAT;
}

/* ---- scope="device", order="relaxed" ----------------------------------------------------------------------- */
static bool choose(Eval *e, const CallSite *site, Val v, const char *param, unsigned n, const char *const *names,
                   unsigned *out) {
    const char *s, *all = NULL;
    if (!v.ty) return true;
    if (!val_as_str(e, v, &s)) {
        e_fail(e, site->span, NULL, DIAG_ARG_CONSTANT, site->name, param, e_text(e, v));
        return false;
    }
    for (unsigned i = 0; i < n; i++) {
        if (strcmp(s, names[i]) == 0) return *out = i, true;
        all = arena_printf(e->arena, "%s%s'%s'", all ? all : "one of ", all ? ", " : "", names[i]);
    }
    e_fail(e, site->span, all, DIAG_ARG_VALUE, site->name, arena_printf(e->arena, "%s '%s' isn't known", param, s));
    return false;
}

static bool scope_and_order(Eval *e, const CallSite *site, const Val *v, unsigned *scope, unsigned *order) {
    static const char *const scopes[SCOPE__COUNT] = {
        [SCOPE_DEVICE] = "device", [SCOPE_BLOCK] = "block", [SCOPE_SYSTEM] = "system"};
    static const char *const orders[ORDER__COUNT] = {[ORDER_RELAXED] = "relaxed",
                                                     [ORDER_ACQUIRE] = "acquire",
                                                     [ORDER_RELEASE] = "release",
                                                     [ORDER_ACQ_REL] = "acq_rel",
                                                     [ORDER_SEQ_CST] = "seq_cst"};
    return choose(e, site, v[0], "scope", SCOPE__COUNT, scopes, scope) &&
           choose(e, site, v[1], "order", ORDER__COUNT, orders, order);
}

/* ---- elements ---------------------------------------------------------------------------------------------- */
typedef struct Element {
    DType dtype;
    Type type; /* as it is changed: a bool as its byte */
    Ref at;
    uint16_t sub;
} Element;

static bool element(Eval *e, const CallSite *site, Val array, Val index, Element *out) {
    if (array.ty->kind != TY_ARRAY) {
        bad_arg(e, site, 0, array, "the first argument is the array, the second the index: (x, i, value)");
        return false;
    }
    if (array.ty->space == T_PTRL) {
        bad_arg(e, site, 0, array, "no other thread sees a local array: assign to its element");
        return false;
    }
    if (!want_numbers(e, site, 0, array)) return false;
    out->dtype = val_dtype(array);
    out->type = out->dtype == DT_BOOL ? T_U8 : dtype_info[out->dtype].ir;
    return array_address(e, arg_span(site, 1), array, index, true, &out->at);
}

static bool operand(Eval *e, const CallSite *site, uint32_t i, DType d, Val v, Val *out) {
    if (!val_is_scalar(v)) {
        bad_arg(e, site, i, v, "an element is one number");
        return false;
    }
    *out = array_stored(e, arg_span(site, i), d, v);
    return !val_poisoned(*out);
}

static Ref operand_ref(Eval *e, const Element *x, Val v) { return e_conv(e, x->type, val_ref(e, v)); }

static Val old_value(Eval *e, const Element *x, Ref old) {
    return val_typed(e, x->dtype, x->dtype == DT_BOOL ? e_conv(e, T_BOOL, old) : old);
}

static Ref change(Eval *e, const Element *x, Ref at, Ref v) {
    return e_emit(e, OP_ATOMIC, x->type, 2, (Ref[]){at, v}, x->sub, 0);
}

/* param: AtomicOp */
Val fn_atomic(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"ary", "idx", "val", "?scope", "?order"};
    AtomicOp op = (AtomicOp)site->fn->param;
    Val v[5], value;
    Element x;
    unsigned scope = SCOPE_DEVICE, order = ORDER_RELAXED;
    if (!call_bind(e, site, n, args, 5, params, v) || !scope_and_order(e, site, v + 3, &scope, &order) ||
        !element(e, site, v[0], v[1], &x))
        return val_poison(e);
    if (!type_ok(op, x.dtype))
        return e_fail(e, arg_span(site, 0), type_help(op, x.dtype), DIAG_ARG_TYPE, site->name, e_text(e, v[0]));
    if (!operand(e, site, 2, x.dtype, v[2], &value)) return val_poison(e);
    if (op == ATOMIC_FMIN && !dt_is_float(x.dtype)) op = ATOMIC_MIN;
    if (op == ATOMIC_FMAX && !dt_is_float(x.dtype)) op = ATOMIC_MAX;
    x.sub = ATOMIC_SUB_OF(op, scope, order);
    if (!dt_is_complex(x.dtype)) return old_value(e, &x, change(e, &x, x.at, operand_ref(e, &x, value)));
    Ref re = change(e, &x, x.at, val_re(e, value)), at = imag_address(e, x.dtype, x.at);
    return val_complex(e, typed(x.dtype), re, change(e, &x, at, val_im(e, value)));
}

static Val compare_and_swap(Eval *e, const CallSite *site, const Val *v, uint32_t first, Val index) {
    Element x;
    Val old, value;
    unsigned scope = SCOPE_DEVICE, order = ORDER_RELAXED;
    if (!scope_and_order(e, site, v + first + 2, &scope, &order) || !element(e, site, v[0], index, &x))
        return val_poison(e);
    if (dt_is_complex(x.dtype))
        return e_fail(e, arg_span(site, 0), "integers, floats and bools are compared in one step", DIAG_ARG_TYPE,
                      site->name, e_text(e, v[0]));
    if (!operand(e, site, first, x.dtype, v[first], &old) ||
        !operand(e, site, first + 1, x.dtype, v[first + 1], &value))
        return val_poison(e);
    Ref expected = operand_ref(e, &x, old), stored = operand_ref(e, &x, value);
    return old_value(e, &x,
                     e_emit(e, OP_CAS, x.type, 3, (Ref[]){x.at, expected, stored}, ATOMIC_SUB_OF(0, scope, order), 0));
}

Val fn_atomic_cas(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"ary", "idx", "old", "val", "?scope", "?order"};
    Val v[6];
    if (!call_bind(e, site, n, args, 6, params, v)) return val_poison(e);
    return compare_and_swap(e, site, v, 2, v[1]);
}

/* Numba's older function: the first element of the array. */
Val fn_atomic_compare_and_swap(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"ary", "old", "val", "?scope", "?order"};
    Val v[5], zeros[MAX_NDIM];
    if (!call_bind(e, site, n, args, 5, params, v)) return val_poison(e);
    uint32_t ndim = v[0].ty->kind == TY_ARRAY ? v[0].ty->ndim : 1;
    for (uint32_t k = 0; k < ndim; k++) zeros[k] = val_int(e, 0);
    return compare_and_swap(e, site, v, 1, val_tuple(e, ndim, zeros));
}

/* ---- loads and stores in one piece, with an order ------------------------------------------------------------ */
static void fence(Eval *e, unsigned scope, unsigned order) {
    unsigned sub = order == ORDER_SEQ_CST ? scope : scope + FENCE_LIGHT;
    if (order != ORDER_RELAXED) e_emit(e, OP_FENCE, T_VOID, 0, NULL, (uint16_t)sub, 0);
}

static bool ordered_element(Eval *e, const CallSite *site, Val array, Val index, Element *x) {
    if (!element(e, site, array, index, x)) return false;
    if (!dt_is_complex(x->dtype)) return true;
    bad_arg(e, site, 0, array, "the two parts of a complex number are read one after the other: x[i]");
    return false;
}

Val fn_atomic_load(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"ary", "idx", "?scope", "?order"};
    Val v[4];
    Element x;
    unsigned scope = SCOPE_DEVICE, order = ORDER_ACQUIRE;
    if (!call_bind(e, site, n, args, 4, params, v) || !scope_and_order(e, site, v + 2, &scope, &order) ||
        !ordered_element(e, site, v[0], v[1], &x))
        return val_poison(e);
    if (order == ORDER_RELEASE || order == ORDER_ACQ_REL)
        return e_fail(e, site->span, "one of 'relaxed', 'acquire', 'seq_cst'", DIAG_ARG_VALUE, site->name,
                      "a load releases nothing");
    if (order == ORDER_SEQ_CST) e_emit(e, OP_FENCE, T_VOID, 0, NULL, (uint16_t)scope, 0);
    Ref r = e_emit(e, OP_LOAD, dtype_info[x.dtype].ir, 1, &x.at, MEM_VOLATILE, 0);
    fence(e, scope, order);
    return val_typed(e, x.dtype, r);
}

Val fn_atomic_store(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"ary", "idx", "val", "?scope", "?order"};
    Val v[5], value;
    Element x;
    unsigned scope = SCOPE_DEVICE, order = ORDER_RELEASE;
    if (!call_bind(e, site, n, args, 5, params, v) || !scope_and_order(e, site, v + 3, &scope, &order) ||
        !ordered_element(e, site, v[0], v[1], &x) || !operand(e, site, 2, x.dtype, v[2], &value))
        return val_poison(e);
    if (order == ORDER_ACQUIRE || order == ORDER_ACQ_REL)
        return e_fail(e, site->span, "one of 'relaxed', 'release', 'seq_cst'", DIAG_ARG_VALUE, site->name,
                      "a store acquires nothing");
    fence(e, scope, order);
    e_emit(e, OP_STORE, T_VOID, 2, (Ref[]){x.at, val_ref(e, value)}, MEM_VOLATILE, 0);
    if (order == ORDER_SEQ_CST) e_emit(e, OP_FENCE, T_VOID, 0, NULL, (uint16_t)scope, 0);
    return val_none(e);
}
