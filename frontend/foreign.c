/* foreign.c - calls of declared functions: code that is compiled elsewhere, in C's calling convention or in Numba's.
 *
 * The declaration (python/gpu/_foreign.py) says the types: of each parameter a dtype, (dtype, ndim) for an array,
 * (dtype, None) for a pointer. C gets an array as a pointer to its first element. Numba's functions return a status and
 * write their result through a pointer, which comes first; an array is its parts: two unused pointers, how many items,
 * the bytes of one, data, shape, strides. */
#include "devfns.h"
#include "evaluator.h"

#include <string.h>

typedef struct Call {
    Eval *e;
    const CallSite *site;
    const char *symbol;
    bool numba;
    RefVec args;
} Call;

static void push(Call *c, Ref r) { VEC_PUSH(c->e->arena, &c->args, r); }

static HostRef part(Call *c, HostRef obj, const char *name, HostInfo *info) {
    const Host *h = c->e->host;
    memset(info, 0, sizeof *info);
    HostRef r = h->attr(h->self, obj, name);
    return r && h->info(h->self, r, info) ? r : NULL;
}

static bool wrong(Call *c, uint32_t i, Val v, const char *help) {
    bool own = c->site->arg_spans && c->site->arg_spans[i].col;
    PySpan span = own ? c->site->arg_spans[i] : c->site->span;
    e_fail(c->e, span, help, DIAG_ARG_TYPE, c->site->name, e_text(c->e, v));
    return false;
}

static bool scalar_arg(Call *c, uint32_t i, Val v, DType d) {
    Eval *e = c->e;
    const char *help = arena_printf(e->arena, "it is declared with %s here", dtype_info[d].name);
    if (!val_is_scalar(v)) return wrong(c, i, v, help);
    DType from = val_dtype(v);
    if (dt_is_complex(from) || (dt_is_float(from) && (dt_is_int(d) || d == DT_BOOL))) return wrong(c, i, v, help);
    push(c, val_conv_ref(e, v, d));
    return true;
}

static bool array_arg(Call *c, uint32_t i, Val v, DType d, bool pointer, uint32_t ndim) {
    Eval *e = c->e;
    if (pointer && v.ty->kind == TY_POINTER && v.ty->dtype == d) {
        push(c, v.items[0].ref[0]);
        return true;
    }
    bool is_array = v.ty->kind == TY_ARRAY && !v.ty->weak && v.ty->dtype == d && (pointer || v.ty->ndim == ndim);
    if (!is_array)
        return wrong(c, i, v,
                     pointer ? arena_printf(e->arena, "it is declared with a pointer to %s here", dtype_info[d].name)
                             : arena_printf(e->arena, "it is declared with an array of %s of %u dimension%s here",
                                            dtype_info[d].name, ndim, ndim == 1 ? "" : "s"));
    pointer |= !c->numba;
    if (v.ty->readonly) return wrong(c, i, v, "it may write to the array: pass one that isn't read-only");
    if (pointer && v.ty->layout != LAYOUT_C)
        return wrong(c, i, v, "C gets a pointer to the first element: pass an array in C order");
    if (pointer) {
        push(c, v.items[0].ref[0]);
        return true;
    }
    v = array_flatten_to_a(e, v);
    Val count = val_int(e, 1);
    for (uint32_t k = 0; k < ndim; k++) count = eval_binary(e, c->site->span, PYB_MUL, count, v.items[1 + k]);
    for (int k = 0; k < 2; k++) push(c, e_int(e, T_I64, 0));
    push(c, val_conv_ref(e, count, DT_I64));
    push(c, e_int(e, T_I64, dtype_info[d].bytes));
    push(c, v.items[0].ref[0]);
    for (uint32_t k = 0; k < 2 * ndim; k++) push(c, val_conv_ref(e, v.items[1 + k], DT_I64));
    return true;
}

/* A parameter's type: a dtype, or a tuple of dtype and number of dimensions. */
static bool one_arg(Call *c, uint32_t i, HostRef type, Val v) {
    const Host *h = c->e->host;
    HostInfo info, dtype, ndim;
    memset(&info, 0, sizeof info);
    memset(&dtype, 0, sizeof dtype);
    memset(&ndim, 0, sizeof ndim);
    if (!type || !h->info(h->self, type, &info)) return false;
    if (info.kind == HOST_DTYPE) return scalar_arg(c, i, v, info.type);
    if (!h->info(h->self, h->item(h->self, type, 0), &dtype) || !h->info(h->self, h->item(h->self, type, 1), &ndim))
        return false;
    return array_arg(c, i, v, dtype.type, ndim.kind == HOST_NONE, (uint32_t)ndim.bits);
}

static uint32_t number_of(Eval *e, const char *symbol, HostRef obj) {
    for (uint32_t i = 0; i < e->m->foreign.n; i++)
        if (strcmp(e->m->foreign.at[i].symbol, symbol) == 0 &&
            e->host->same(e->host->self, e->m->foreign.at[i].host_ref, obj))
            return i;
    VEC_PUSH(e->arena, &e->m->foreign, ((IrForeign){symbol, obj}));
    return e->m->foreign.n - 1;
}

/* C's result is the value. Numba's is a status; the value is behind a pointer. */
static Val emit_call(Call *c, HostRef obj, DType result) {
    Eval *e = c->e;
    bool none = result == DT_NONE;
    Type t = none ? T_VOID : dtype_info[result].ir;
    if (!e->building) return none ? val_none(e) : val_typed(e, result, REF_NONE);
    uint32_t number = number_of(e, c->symbol, obj);
    Ref r = e_emit(e, OP_CALL, c->numba ? T_I32 : t, c->args.n, c->args.at, 0, number);
    if (!c->numba) return none ? val_none(e) : val_typed(e, result, r);
    Ref no_error = e_int(e, T_I32, 0), is_none = e_int(e, T_I32, -2);
    Ref not_zero = e_cmp(e, PRED_NE, r, no_error), not_none = e_cmp(e, PRED_NE, r, is_none);
    Ref failed = e_op2(e, OP_AND, T_BOOL, not_zero, not_none);
    e_raise_if(e, c->site->span, failed, "RuntimeError",
               arena_printf(e->arena, "%s() returned a status that says it failed", c->symbol));
    return none ? val_none(e) : val_typed(e, result, e_load(e, t, c->args.at[0]));
}

/* ffi.from_buffer(x) of cffi: args[0] is the FFI object. */
Val fn_from_buffer(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/self", "/array"};
    Val v[2];
    if (!call_bind(e, site, n, args, 2, params, v)) return val_poison(e);
    return v[1].ty->kind == TY_ARRAY ? v[1] : bad_arg(e, site, 1, v[1], NULL);
}

Val call_foreign(Eval *e, const CallSite *site, HostRef obj, uint32_t n, const Val *args) {
    HostInfo symbol, abi, types, result;
    Call c = {.e = e, .site = site};
    HostRef list = part(&c, obj, "_parameters", &types);
    part(&c, obj, "_result", &result);
    if (!list || !part(&c, obj, "_symbol", &symbol) || !part(&c, obj, "_abi", &abi)) return val_poison(e);
    c.symbol = symbol.text;
    c.numba = strcmp(abi.text, "numba") == 0;
    if (site->nkw) return e_fail(e, site->span, NULL, DIAG_UNKNOWN_KEYWORD, site->name, site->kwnames[0]);
    if (n > types.n) return e_fail(e, site->span, NULL, DIAG_TOO_MANY_ARGS, site->name, (unsigned)types.n, n);
    if (n < types.n) return e_fail(e, site->span, NULL, DIAG_TOO_FEW_ARGS, site->name, (unsigned)types.n, n);
    /* also where there is no result */
    if (c.numba) push(&c, e_emit(e, OP_ALLOCA, T_PTRL, 0, NULL, 0, 16));
    for (uint32_t i = 0; i < n; i++)
        if (!one_arg(&c, i, e->host->item(e->host->self, list, i), args[i])) return val_poison(e);
    return emit_call(&c, obj, result.kind == HOST_DTYPE ? result.type : DT_NONE);
}
