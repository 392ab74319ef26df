/* pythonfns.c - functions of NumPy, itertools and operator that are written in Python, in modules of the package.
 *
 * A row of devfn.def names such a function by its path; "numpy.linalg.det" is numpy_linalg_det there. It's inlined as
 * any function of the user's. */
#include "arrays.h"
#include "devfns.h"

#include <string.h>

/* "numpy.sort" as numpy_sort; methods that have no function of their own are numpy's. */
static HostRef find_in(Eval *e, const char *module, const char *path) {
    char *name = arena_strdup(e->arena, path);
    for (char *c = name; *c; c++)
        if (*c == '.') *c = '_';
    HostRef m = e->host->import(e->host->self, module), f = m ? e->host->attr(e->host->self, m, name) : NULL;
    if (f || !m || strncmp(name, "ndarray_", 8) != 0) return f;
    return e->host->attr(e->host->self, m, arena_printf(e->arena, "numpy_%s", name + 8));
}

/* Those on matrices have a module of their own. */
static HostRef find_function(Eval *e, const char *module, const char *path) {
    HostRef f = find_in(e, module, path);
    return f || strcmp(module, "gpu._smallarrays") != 0 ? f : find_in(e, "gpu._smallmatrices", path);
}

static Val call_function(Eval *e, const CallSite *site, const char *module, uint32_t n, const Val *args) {
    HostRef f = find_function(e, module, site->fn->path);
    if (!f) return e_fail(e, site->span, NULL, DIAG_NOT_IN_KERNEL, site->name);
    CallSite s = *site;
    s.fn = NULL;
    return call_python(e, &s, &(Callee){.code = f, .globals = f}, (Val){.ty = ty_object(e->types, f)}, n, args);
}

/* Parameters that are arrays wherever functions have them. */
static const char array_params[] =
    " a arr array arrays ary b bins element f fp m operands p v values weights x xi xp y ";

/* Argument i as the row names it, with length; varargs have one name. Methods don't name the array. */
static const char *param_name(const CallSite *site, uint32_t n, uint32_t i, size_t *length) {
    const char *name = site->fn->signature;
    if (i + site->nkw >= n) name = site->kwnames[i + site->nkw - n];
    else {
        if (strncmp(site->fn->path, "ndarray.", 8) == 0 && i-- == 0) name = "a";
        else name++;
        while (i-- && *name != '*' && *(name += strcspn(name, ",)"))) name += strspn(name, ", )");
        if (*name == '*') name++;
    }
    *length = strcspn(name, ",=)");
    return name;
}

/* An array's place takes lists and tuples of numbers, too; and so does each place of `arrays`. */
static Val as_array(Eval *e, const CallSite *site, uint32_t n, uint32_t i, Val v) {
    size_t length;
    const char *name = param_name(site, n, i, &length);
    if (v.ty->kind != TY_TUPLE || !length) return v;
    if (!strstr(array_params, arena_printf(e->arena, " %.*s ", (int)length, name))) return v;
    if (length != 6 || strncmp(name, "arrays", 6) != 0) return array_from_sequence(e, arg_span(site, i), v, DT_NONE);
    Val *items = ARENA_ARRAY(e->arena, Val, v.ty->n + 1);
    for (uint32_t k = 0; k < v.ty->n; k++) {
        bool sequence = v.items[k].ty->kind == TY_TUPLE;
        items[k] = sequence ? array_from_sequence(e, arg_span(site, i), v.items[k], DT_NONE) : v.items[k];
        if (val_poisoned(items[k])) return items[k];
    }
    return val_tuple(e, v.ty->n, items);
}

/* Has the array, or each of a tuple of arrays, a shape that is known, if the row says so? Expressions get memory. */
static bool made_small(Eval *e, const CallSite *site, uint32_t i, Val *v) {
    Wide total;
    if (v->ty->kind == TY_TUPLE) {
        Val *items = ARENA_ARRAY(e->arena, Val, v->ty->n + 1);
        bool many = false, ok = true;
        for (uint32_t k = 0; k < v->ty->n; k++) {
            items[k] = v->items[k];
            many |= val_is_many(items[k]);
            ok = ok && made_small(e, site, i, &items[k]);
        }
        if (many && ok) *v = val_tuple(e, v->ty->n, items);
        return ok;
    }
    if (!val_is_many(*v)) return true;
    bool known = site->fn->param ? many_settled(e, arg_span(site, i), site->name, v, &total)
                                 : sizes_known(v->ty->ndim, many_shape(*v), &total);
    if (known) *v = many_array(e, arg_span(site, i), *v);
    if (known || !site->fn->param) return true;
    e_fail(e, arg_span(site, i), "name how many elements: x[:8], x[i:i + 8]; or write the loop", DIAG_ARG_SIZE,
           site->name, e_text(e, *v));
    return false;
}

static Val call_array_function(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val *given = ARENA_ARRAY(e->arena, Val, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        given[i] = as_array(e, site, n, i, args[i]);
        if (val_poisoned(given[i]) || !made_small(e, site, i, &given[i])) return val_poison(e);
    }
    return call_function(e, site, "gpu._smallarrays", n, given);
}

/* Three handlers, since arrays that are views, or that change, live in another way (storage.c).
 * param: 1: arrays have constant shapes */
Val fn_small_array(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    return call_array_function(e, site, n, args);
}

Val fn_small_array_view(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    return call_array_function(e, site, n, args);
}

Val fn_small_array_change(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    return call_array_function(e, site, n, args);
}

/* What a handler leaves to Python: arrays of constant shape. */
Val call_small_array(Eval *e, const CallSite *site, const char *name, uint32_t n, const Val *args) {
    DevFn row = {.path = name, .signature = site->fn->signature, .param = 1};
    CallSite s = *site;
    s.fn = &row;
    return call_array_function(e, &s, n, args);
}

Val fn_sequence(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    return call_function(e, site, "gpu._sequences", n, args);
}
