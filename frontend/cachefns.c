/* cachefns.c - gpu.load and gpu.store: an element with a hint for the caches, which changes no result. */
#include "devfns.h"
#include "evaluator.h"

#include <string.h>

typedef struct Hint {
    const char *name;
    uint16_t flags;
} Hint;

static bool choose(Eval *e, const CallSite *site, Val v, uint32_t n, const Hint *hints, uint16_t *out) {
    const char *s, *all = "one of";
    if (!v.ty) return true;
    if (!val_as_str(e, v, &s)) {
        e_fail(e, site->span, NULL, DIAG_ARG_CONSTANT, site->name, "cache", e_text(e, v));
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(s, hints[i].name) == 0) return *out = hints[i].flags, true;
        all = arena_printf(e->arena, "%s%s '%s'", all, i ? "," : "", hints[i].name);
    }
    e_fail(e, site->span, all, DIAG_ARG_VALUE, site->name, arena_printf(e->arena, "cache '%s' isn't known", s));
    return false;
}

static bool element(Eval *e, const CallSite *site, Val array, Val index, bool written, Ref *out) {
    if (array.ty->kind == TY_ARRAY && !array.ty->weak)
        return array_address(e, arg_span(site, 1), array, index, written, out);
    bad_arg(e, site, 0, array, "the first argument is the array, the second the index");
    return false;
}

/* Memory of the block and of the thread has no caches to choose from. */
static uint16_t applied(Val array, uint16_t flags) { return array.ty->space == T_PTR ? flags : 0; }

Val fn_load(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"ary", "idx", "?cache"};
    static const Hint hints[] = {{"ca", 0}, {"cg", MEM_L2}, {"cs", MEM_STREAM}, {"lu", MEM_LAST}, {"cv", MEM_VOLATILE}};
    Val v[3];
    Ref at;
    uint16_t flags = 0;
    if (!call_bind(e, site, n, args, 3, params, v) ||
        !choose(e, site, v[2], sizeof hints / sizeof *hints, hints, &flags) ||
        !element(e, site, v[0], v[1], false, &at))
        return val_poison(e);
    DType d = val_dtype(v[0]);
    flags = applied(v[0], flags);
    Ref re = e_emit(e, OP_LOAD, dtype_info[d].ir, 1, &at, flags, 0);
    if (!dt_is_complex(d)) return val_typed(e, d, re);
    at = imag_address(e, d, at);
    return val_complex(e, typed(d), re, e_emit(e, OP_LOAD, dtype_info[d].ir, 1, &at, flags, 0));
}

Val fn_store(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"ary", "idx", "val", "?cache"};
    static const Hint hints[] = {{"wb", 0}, {"cg", MEM_L2}, {"cs", MEM_STREAM}, {"wt", MEM_VOLATILE}};
    Val v[4];
    Ref at;
    uint16_t flags = 0;
    if (!call_bind(e, site, n, args, 4, params, v) ||
        !choose(e, site, v[3], sizeof hints / sizeof *hints, hints, &flags) || !element(e, site, v[0], v[1], true, &at))
        return val_poison(e);
    if (!val_is_scalar(v[2])) return bad_arg(e, site, 2, v[2], "an element is one number");
    DType d = val_dtype(v[0]);
    Val x = array_stored(e, arg_span(site, 2), d, v[2]);
    if (val_poisoned(x)) return x;
    flags = applied(v[0], flags);
    e_emit(e, OP_STORE, T_VOID, 2, (Ref[]){at, val_re(e, x)}, flags, 0);
    if (!dt_is_complex(d)) return val_none(e);
    at = imag_address(e, d, at);
    e_emit(e, OP_STORE, T_VOID, 2, (Ref[]){at, val_im(e, x)}, flags, 0);
    return val_none(e);
}
