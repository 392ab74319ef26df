/* overloads.c - functions that a program registered with Numba's overload: types in, a Python function out, which is
 * called. */
#include "evaluator.h"

/* The type as the program's function gets it; what no parameter of a kernel can be is an object: the words for it. */
static ArgType type_for_host(Eval *e, Ty ty) {
    if (ty->kind == TY_TUPLE) {
        ArgType *items = ARENA_ARRAY(e->arena, ArgType, ty->n + 1);
        for (uint32_t i = 0; i < ty->n; i++) items[i] = type_for_host(e, ty->items[i]);
        return (ArgType){.kind = ARG_TUPLE,
                         .dtype = DT_NONE,
                         .object = ty->obj,
                         .nitems = ty->n,
                         .items = items,
                         .fields = ty->fields};
    }
    ArgType t = argtype_of(e, ty);
    switch (ty->kind) {
    case TY_NONE:
    case TY_SCALAR: break;
    case TY_ARRAY:
    case TY_RECORD:
        t.kind = ty->kind == TY_ARRAY ? ARG_ARRAY : ARG_RECORD;
        t.dtype = ty->kind == TY_ARRAY ? ty->dtype : DT_NONE;
        t.record = ty->record;
        t.align = ty->record ? ty->align : 0;
        t.ndim = ty->ndim;
        t.layout = ty->layout;
        t.readonly = ty->kind == TY_ARRAY && ty->readonly;
        break;
    default:
        t.kind = ARG_OBJECT;
        t.object = ty->kind == TY_OBJECT ? ty->obj : e->host->make_str(e->host->self, ty_text(e->types, ty));
    }
    return t;
}

/* An integer, a bool or a string that the compiler knows; NULL: it isn't one. */
static HostRef constant_for_host(Eval *e, Val v) {
    const char *text;
    Wide i;
    if (val_as_str(e, v, &text)) return e->host->make_str(e->host->self, text);
    if (!val_is_scalar(v) || !val_as_int(v, &i) || i < INT64_MIN || i > INT64_MAX) return NULL;
    return e->host->make_int(e->host->self, (int64_t)i);
}

static HostRef choose(Eval *e, const CallSite *site, HostRef function, uint32_t n, const Val *args, const char **why) {
    const Host *h = e->host;
    if (!h->overload || e->dialect != DIALECT_NUMBA) return NULL;
    ArgType *types = ARENA_ARRAY(e->arena, ArgType, n + 1);
    HostRef *constants = ARENA_ARRAY(e->arena, HostRef, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        types[i] = type_for_host(e, args[i].ty);
        constants[i] = constant_for_host(e, args[i]);
    }
    return h->overload(h->self, function, n, types, constants, site->nkw, site->kwnames, why);
}

static Val call_chosen(Eval *e, const CallSite *site, HostRef chosen, uint32_t n, const Val *args) {
    const Callee callee = {.code = chosen, .globals = chosen};
    return call_python(e, site, &callee, (Val){.ty = ty_object(e->types, chosen)}, n, args);
}

bool call_overload(Eval *e, const CallSite *site, HostRef function, bool own, uint32_t n, const Val *args, Val *out) {
    const char *why = NULL;
    HostRef chosen = choose(e, site, function, n, args, &why);
    if (own) why = NULL;
    if (chosen) *out = call_chosen(e, site, chosen, n, args);
    else if (why) *out = e_fail(e, site->span, NULL, DIAG_ARG_VALUE, site->name, why);
    return chosen || why;
}

/* What is registered for ".name" is called with the value; for ".name()" it is what the method is called by. */
Val overloaded_attr(Eval *e, PySpan span, Val v, const char *name) {
    const Host *h = e->host;
    const CallSite site = {.span = span, .name = name};
    const char *why = NULL;
    HostRef key = h->make_str(h->self, arena_printf(e->arena, ".%s", name));
    HostRef chosen = key ? choose(e, &site, key, 1, &v, &why) : NULL;
    if (chosen) return call_chosen(e, &site, chosen, 1, &v);
    key = h->make_str(h->self, arena_printf(e->arena, ".%s()", name));
    chosen = key ? choose(e, &site, key, 1, &v, &why) : NULL;
    if (!chosen) return (Val){0};
    Val *items = ARENA_NEW(e->arena, Val);
    *items = v;
    return (Val){.ty = ty_composite(e->types, TY_METHOD, 0, 1, items, chosen, NULL, NULL), .items = items};
}
