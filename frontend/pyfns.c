/* pyfns.c - functions on Python's own values: sequences, dicts, strings, attributes, classes, functions of functions.
 *
 * Sequences have a length that is known when compiling; what is done to each item is done in the code as often. */
#include "devfns.h"
#include "evaluator.h"

#include <string.h>

static bool host_info(Eval *e, Val v, HostInfo *info) {
    memset(info, 0, sizeof *info);
    return v.ty->kind == TY_OBJECT && e->host->info(e->host->self, v.ty->obj, info);
}

/* An argument as the tuple of its items; false: reported. */
static bool items_of(Eval *e, const CallSite *site, uint32_t i, Val *v) {
    Val items = sequence_items(e, site->span, val_items(e, *v));
    if (val_poisoned(items)) return false;
    if (items.ty->kind != TY_TUPLE) {
        bad_arg(e, site, i, *v,
                items.ty->kind == TY_ARRAY ? "its length isn't known when compiling: write a loop"
                                           : "it takes what has a length that is known when compiling");
        return false;
    }
    *v = items;
    return true;
}

static Val call_one(Eval *e, const CallSite *site, Val fn, uint32_t n, const Val *args) {
    CallSite s = {.span = site->span, .name = site->name, .at = site->at};
    return eval_call(e, &s, fn, n, args);
}

/* ---- sequences ------------------------------------------------------------------------------------------------- */
/* param: 0 a tuple, 1 a list, 2 a set */
Val fn_tuple(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/?iterable"};
    Val x;
    if (!call_bind(e, site, n, args, 1, params, &x)) return val_poison(e);
    if (x.ty && !items_of(e, site, 0, &x)) return val_poison(e);
    Val all = x.ty ? val_tuple(e, x.ty->n, x.items) : val_tuple(e, 0, NULL);
    if (site->fn->param == 2) return set_of(e, site->span, all.ty->n, all.items);
    return site->fn->param ? list_given(e, all) : all;
}

/* The items in order, by exchanges of neighbours: stable, as Python's. */
static bool exchange(Eval *e, const CallSite *site, bool reverse, Val *keys, Val *items, uint32_t i) {
    Val swap = eval_compare(e, site->span, PYC_LT, keys[reverse ? i : i + 1], keys[reverse ? i + 1 : i]);
    bool apart = keys != items;
    for (int k = 0; k < (apart ? 2 : 1); k++) {
        Val *v = k ? items : keys, low = v[i], high = v[i + 1];
        if (val_const(swap)) {
            v[i] = swap.i ? high : low;
            v[i + 1] = swap.i ? low : high;
            continue;
        }
        v[i] = eval_select(e, site->span, swap, high, low);
        v[i + 1] = eval_select(e, site->span, swap, low, high);
        if (val_poisoned(v[i]) || val_poisoned(v[i + 1])) return false;
    }
    return true;
}

Val fn_sorted(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    enum { MOST = 64 };
    static const char *const params[] = {"/iterable", "?key", "?reverse"};
    Val v[3], all = {0};
    Wide reverse = 0;
    if (!call_bind(e, site, n, args, 3, params, v) || !items_of(e, site, 0, &v[0])) return val_poison(e);
    if (v[2].ty && !val_as_int(v[2], &reverse))
        return e_fail(e, site->span, NULL, DIAG_ARG_CONSTANT, site->name, "reverse", e_text(e, v[2]));
    uint32_t count = v[0].ty->n;
    if (count > MOST)
        return e_fail(e, site->span, "sort before the launch", DIAG_ARG_VALUE, site->name, "more than 64 items");
    Val *items = ARENA_ARRAY(e->arena, Val, count + 1), *keys = items;
    for (uint32_t i = 0; i < count; i++)
        if (!val_join(e, all, v[0].items[i], &all)) return bad_arg(e, site, 0, v[0], "items of one type have an order");
    bool known = val_is_known(v[0]);
    for (uint32_t i = 0; i < count; i++) items[i] = known ? v[0].items[i] : val_coerce(e, v[0].items[i], all);
    if (v[1].ty && v[1].ty->kind != TY_NONE) {
        keys = ARENA_ARRAY(e->arena, Val, count + 1);
        for (uint32_t i = 0; i < count; i++)
            if (val_poisoned(keys[i] = call_one(e, site, v[1], 1, &items[i]))) return val_poison(e);
    }
    for (uint32_t end = count; end > 1; end--)
        for (uint32_t i = 0; i + 1 < end; i++)
            if (!exchange(e, site, reverse != 0, keys, items, i)) return val_poison(e);
    return list_given(e, val_tuple(e, count, items));
}

/* All functions and the items of all iterables as long as the shortest; the iterables have lengths that are known. */
Val fn_map(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    if (site->nkw) return e_fail(e, site->span, NULL, DIAG_UNKNOWN_KEYWORD, site->name, site->kwnames[0]);
    if (n < 2) return e_fail(e, site->span, NULL, DIAG_TOO_FEW_ARGS, site->name, 2, n);
    Val *from = ARENA_ARRAY(e->arena, Val, n), *given = ARENA_ARRAY(e->arena, Val, n);
    uint32_t count = UINT32_MAX;
    for (uint32_t i = 1; i < n; i++) {
        from[i] = args[i];
        if (!items_of(e, site, i, &from[i])) return val_poison(e);
        if (from[i].ty->n < count) count = from[i].ty->n;
    }
    Val *out = ARENA_ARRAY(e->arena, Val, count + 1);
    for (uint32_t k = 0; k < count; k++) {
        for (uint32_t i = 1; i < n; i++) given[i - 1] = from[i].items[k];
        out[k] = call_one(e, site, args[0], n - 1, given);
        if (val_poisoned(out[k])) return val_poison(e);
    }
    return val_tuple(e, count, out);
}

/* What is left must be known when compiling. */
Val fn_filter(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    if (!bind_args(e, site, n, args, 2, x) || !items_of(e, site, 1, &x[1])) return val_poison(e);
    Val *out = ARENA_ARRAY(e->arena, Val, x[1].ty->n + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < x[1].ty->n; i++) {
        Val item = x[1].items[i], kept = x[0].ty->kind == TY_NONE ? item : call_one(e, site, x[0], 1, &item);
        if (val_poisoned(kept)) return val_poison(e);
        kept = eval_truth(e, site->span, kept);
        if (val_poisoned(kept)) return kept;
        if (!val_const(kept))
            return e_fail(e, site->span, "write a loop with an `if`", DIAG_ARG_VALUE, site->name,
                          "which items are left is known at run time only");
        if (kept.i) out[count++] = item;
    }
    return val_tuple(e, count, out);
}

Val fn_reduce(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/function", "/iterable", "?initial"};
    Val v[3];
    if (!call_bind(e, site, n, args, 3, params, v) || !items_of(e, site, 1, &v[1])) return val_poison(e);
    Val r = v[2];
    if (!r.ty && !v[1].ty->n)
        return e_fail(e, site->span, "give it an initial value", DIAG_ARG_VALUE, site->name,
                      "there is nothing to combine");
    for (uint32_t i = 0; i < v[1].ty->n; i++) {
        r = r.ty ? call_one(e, site, v[0], 2, (Val[]){r, v[1].items[i]}) : v[1].items[i];
        if (val_poisoned(r)) return val_poison(e);
    }
    return r;
}

Val fn_slice(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/start", "/?stop", "/?step"};
    Val v[3];
    if (!call_bind(e, site, n, args, 3, params, v)) return val_poison(e);
    Val none = val_none(e), start = v[1].ty ? v[0] : none, stop = v[1].ty ? v[1] : v[0];
    return val_composite(e, TY_SLICE, 0, 3, (Val[]){start, stop, v[2].ty ? v[2] : none});
}

/* param: 0 count, 1 index */
Val fn_tuple_find(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    bool index = site->fn->param;
    if (!bind_args(e, site, n, args, 2, x)) return val_poison(e);
    Val r = index ? (Val){0} : val_int(e, 0), found = val_bool(e, false);
    for (uint32_t i = x[0].ty->n; i-- > 0;) {
        Val hit = eval_truth(e, site->span, eval_compare(e, site->span, PYC_EQ, x[1], x[0].items[i]));
        if (val_poisoned(hit)) return hit;
        found = eval_logic(e, false, found, hit);
        if (!index) r = eval_binary(e, site->span, PYB_ADD, r, hit);
        else r = r.ty ? eval_select(e, site->span, hit, val_int(e, i), r) : val_int(e, i);
    }
    if (!index) return r;
    if (val_const(found) && !found.i)
        return e_fail(e, site->span, NULL, DIAG_NO_ITEM, e_text(e, x[0]), e_text(e, x[1]));
    if (!val_const(found))
        e_raise_if(e, site->span, val_ref(e, eval_not(e, site->span, found)), "ValueError",
                   "tuple.index(x): x not in tuple");
    return r;
}

/* ---- named tuples and dataclasses ------------------------------------------------------------------------ */
Val fn_replace(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    bool made = n && (args[0].ty->kind == TY_INSTANCE || (args[0].ty->kind == TY_TUPLE && args[0].ty->fields));
    bool ok = n - site->nkw == 1 && made;
    if (!ok) return e_fail(e, site->span, NULL, DIAG_ARG_TYPE, site->name, n ? e_text(e, args[0]) : "nothing");
    return instance_replaced(e, site, args[0], site->nkw, args + 1);
}

/* param: 0 a dict, 1 a tuple */
Val fn_as_parts(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    if (!bind_args(e, site, n, args, 1, &x)) return val_poison(e);
    x = instance_now(e, site->span, x);
    if (val_poisoned(x)) return x;
    if (!x.ty->fields) return bad_arg(e, site, 0, x, NULL);
    if (site->fn->param) return val_tuple(e, x.ty->n, x.items);
    Val *pairs = ARENA_ARRAY(e->arena, Val, 2 * x.ty->n + 1);
    for (uint32_t i = 0; i < x.ty->n; i++) {
        pairs[2 * i] = val_object(e, e->host->make_str(e->host->self, x.ty->fields[i]));
        pairs[2 * i + 1] = x.items[i];
    }
    return dict_of(e, x.ty->n, pairs);
}

/* ---- dicts and strings ------------------------------------------------------------------------------- */
Val fn_dict(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val d = dict_of(e, 0, NULL);
    uint32_t npos = n - site->nkw;
    if (npos > 1) return e_fail(e, site->span, NULL, DIAG_TOO_MANY_ARGS, site->name, 1, npos);
    if (npos) {
        Val known = dict_known(e, args[0]);
        if (known.ty->kind == TY_DICT) d = known;
        else {
            Val pairs = args[0];
            if (!items_of(e, site, 0, &pairs)) return val_poison(e);
            for (uint32_t i = 0; i < pairs.ty->n; i++) {
                Val pair = pairs.items[i];
                if (pair.ty->kind != TY_TUPLE || pair.ty->n != 2) return bad_arg(e, site, 0, args[0], "it takes pairs");
                d = dict_with(e, site->span, d, pair.items[0], pair.items[1]);
            }
        }
    }
    for (uint32_t i = 0; i < site->nkw; i++)
        d = dict_with(e, site->span, d, val_object(e, e->host->make_str(e->host->self, site->kwnames[i])),
                      args[npos + i]);
    return d;
}

Val fn_dict_get(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/self", "/key", "/?default"};
    Val v[3], found;
    if (!call_bind(e, site, n, args, 3, params, v)) return val_poison(e);
    if (dict_find(e, v[0], v[1], &found)) return found;
    if (val_is_known(v[1])) return v[2].ty ? v[2] : val_none(e);
    return e_fail(e, site->span, "a key is a constant here; d[key] takes a number", DIAG_ARG_CONSTANT, site->name,
                  "key", e_text(e, v[1]));
}

/* param: DictPart */
Val fn_dict_part(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    return bind_args(e, site, n, args, 1, &x) ? dict_part(e, dict_known(e, x), (DictPart)site->fn->param)
                                              : val_poison(e);
}

/* A method of a string, on constants: Python evaluates it. */
Val fn_str_method(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    const char *name = strchr(site->fn->path, '.') + 1;
    HostRef f = e->host->attr(e->host->self, args[0].ty->obj, name);
    Val *given = ARENA_ARRAY(e->arena, Val, n + 1);
    for (uint32_t i = 1; i < n; i++) given[i - 1] = args[i];
    Val v = f && !site->nkw ? call_constant(e, f, n - 1, given) : (Val){0};
    return v.ty ? v
                : e_fail(e, site->span, NULL, DIAG_ARG_VALUE, site->name,
                         "its arguments must be constants that Python takes");
}

/* Python writes an f-string of many pieces as "".join(...), too. */
Val fn_str_join(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/self", "/iterable"};
    Val v[2];
    if (!call_bind(e, site, n, args, 2, params, v) || !items_of(e, site, 1, &v[1])) return val_poison(e);
    uint32_t many = v[1].ty->n, count = 0;
    Val *pieces = ARENA_ARRAY(e->arena, Val, 2 * (size_t)many + 1);
    for (uint32_t i = 0; i < many; i++) {
        if (i) pieces[count++] = v[0];
        pieces[count++] = v[1].items[i];
    }
    return eval_join(e, site->span, count, pieces);
}

/* A builtin on constants, such as ord("a"): Python evaluates it. */
Val fn_of_constants(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    HostRef builtins = e->host->import(e->host->self, "builtins");
    HostRef f = builtins ? e->host->attr(e->host->self, builtins, strchr(site->fn->path, '.') + 1) : NULL;
    Val v = f && !site->nkw ? call_constant(e, f, n, args) : (Val){0};
    return v.ty ? v
                : e_fail(e, site->span, NULL, DIAG_ARG_VALUE, site->name,
                         "its argument must be a constant that Python takes");
}

/* ---- attributes and classes -------------------------------------------------------------------------- */

/* param: 0 getattr, 1 hasattr */
Val fn_getattr(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/x", "/name", "/?default"};
    Val v[3];
    const char *name;
    bool has = site->fn->param;
    if (!call_bind(e, site, n, args, has ? 2 : 3, params, v)) return val_poison(e);
    if (has) v[2] = (Val){0};
    if (!val_as_str(e, v[1], &name))
        return e_fail(e, site->span, NULL, DIAG_ARG_CONSTANT, site->name, "name", e_text(e, v[1]));
    if (!has && !v[2].ty) return eval_attr(e, site->span, v[0], name);
    Val found = find_attr(e, site->span, v[0], name);
    return has ? val_bool(e, found.ty != NULL) : found.ty ? found : v[2];
}

Val fn_callable(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    HostInfo info;
    if (!bind_args(e, site, n, args, 1, &x)) return val_poison(e);
    bool yes =
        x.ty->kind == TY_FUNCTION || x.ty->kind == TY_METHOD || x.ty->kind == TY_PARTIAL || x.ty->kind == TY_DTYPE;
    if (host_info(e, x, &info))
        yes = info.kind == HOST_FUNCTION || info.kind == HOST_NAMED || info.kind == HOST_CLASS ||
              e->host->attr(e->host->self, x.ty->obj, "__call__") != NULL;
    if (x.ty->kind == TY_INSTANCE) yes = e->host->class_attr(e->host->self, x.ty->obj, NULL, "__call__") != NULL;
    return val_bool(e, yes);
}

/* np.finfo(type) or np.iinfo(type), of whose attributes the kernel makes constants: one object for all calls. */
static HostRef limits_of(Eval *e, const char *path, DType d) {
    HostRef numpy = e->host->import(e->host->self, "numpy");
    HostRef type = numpy ? e->host->attr(e->host->self, numpy, dtype_info[d].name) : NULL;
    for (uint32_t i = 0; i < e->attrs.n; i++)
        if (e->attrs.at[i].obj == type && strcmp(e->attrs.at[i].name, path) == 0) return e->attrs.at[i].value;
    HostRef limits = type ? e->host->attr(e->host->self, numpy, path + strlen("numpy.")) : NULL;
    HostRef r = limits ? e->host->call(e->host->self, limits, 1, &type) : NULL;
    VEC_PUSH(e->arena, &e->attrs, ((AttrEntry){type, r, path}));
    return r;
}

Val fn_type_limits(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    DType d;
    if (!bind_args(e, site, n, args, 1, &x)) return val_poison(e);
    if (val_poisoned(x)) return x;
    bool known = val_is_scalar(x) || val_dtype_named(e, x, &d);
    if (known && val_is_scalar(x)) d = (DType)x.ty->dtype;
    HostRef r = known ? limits_of(e, site->fn->path, d) : NULL;
    return r ? val_object(e, r) : e_fail(e, site->span, NULL, DIAG_ARG_TYPE, site->name, e_text(e, x));
}

/* The class of a value; NULL: it is no Python object of a class that kernels know. */
static HostRef class_of(Eval *e, Val x) {
    static const char *const numbers[DT__COUNT] = {
        [DT_BOOL] = "bool", [DT_I64] = "int", [DT_F64] = "float", [DT_C128] = "complex"};
    if (x.member) return e->host->attr(e->host->self, x.member, "__class__");
    switch (x.ty->kind) {
    case TY_SCALAR: return x.ty->weak ? val_builtin(e, numbers[x.ty->dtype]) : NULL;
    case TY_TUPLE:
        return x.ty->obj ? x.ty->obj : val_builtin(e, val_is_list(x) ? "list" : val_is_set(x) ? "set" : "tuple");
    case TY_INSTANCE: return x.ty->obj;
    case TY_LIST: return val_builtin(e, "list");
    case TY_DICT: return val_builtin(e, "dict");
    case TY_RANGE: return val_builtin(e, "range");
    case TY_SLICE: return val_builtin(e, "slice");
    case TY_NONE: return e->host->attr(e->host->self, e->host->none, "__class__");
    case TY_OBJECT: return e->host->attr(e->host->self, x.ty->obj, "__class__");
    default: return NULL;
    }
}

Val fn_type(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    if (!bind_args(e, site, n, args, 1, &x)) return val_poison(e);
    if (val_is_scalar(x) && !is_weak(x)) return (Val){.ty = ty_dtype(e_types(e), val_dtype(x))};
    HostRef cls = class_of(e, x);
    return cls ? val_object(e, cls) : bad_arg(e, site, 0, x, "isinstance(x, ...) tests what it is");
}

static bool is_python(Eval *e, Val x, const char *name) {
    bool scalar = val_is_scalar(x), own = scalar && (x.ty->weak || e_numba(e));
    DType d = scalar ? val_dtype(x) : DT_NONE;
    HostInfo info;
    if (strcmp(name, "object") == 0) return true;
    if (strcmp(name, "bool") == 0) return own && d == DT_BOOL;
    if (strcmp(name, "int") == 0) return own && (d == DT_BOOL || dt_is_int(d));
    if (strcmp(name, "float") == 0) return scalar && (d == DT_F64 || (e_numba(e) && dt_is_float(d)));
    if (strcmp(name, "complex") == 0) return scalar && (d == DT_C128 || (e_numba(e) && dt_is_complex(d)));
    if (strcmp(name, "NoneType") == 0) return x.ty->kind == TY_NONE;
    if (strcmp(name, "tuple") == 0) return x.ty->kind == TY_TUPLE && x.ty->sub == TUPLE_ITSELF;
    if (strcmp(name, "dict") == 0 && x.ty->kind == TY_DICT) return true;
    if (strcmp(name, "list") == 0 && val_is_list(x)) return true;
    if (strcmp(name, "set") == 0) return val_is_set(x);
    if (strcmp(name, "range") == 0) return x.ty->kind == TY_RANGE;
    if (!host_info(e, x, &info)) return false;
    if (strcmp(name, "str") == 0) return info.kind == HOST_STR;
    if (strcmp(name, "list") == 0) return info.kind == HOST_LIST;
    return strcmp(name, "dict") == 0 && info.kind == HOST_DICT;
}

/* The abstract classes of numpy, and ndarray. */
static bool is_numpy(Val x, const char *name) {
    if (strcmp(name, "ndarray") == 0) return x.ty->kind == TY_ARRAY || x.ty->kind == TY_EXPR;
    if (!val_is_scalar(x) || x.ty->weak) return false;
    DKind k = dtype_info[x.ty->dtype].kind;
    if (strcmp(name, "generic") == 0) return true;
    if (strcmp(name, "number") == 0) return k != DK_BOOL;
    if (strcmp(name, "integer") == 0) return k == DK_INT || k == DK_UINT;
    if (strcmp(name, "signedinteger") == 0) return k == DK_INT;
    if (strcmp(name, "unsignedinteger") == 0) return k == DK_UINT;
    if (strcmp(name, "floating") == 0) return k == DK_FLOAT;
    if (strcmp(name, "complexfloating") == 0) return k == DK_COMPLEX;
    return strcmp(name, "inexact") == 0 && (k == DK_FLOAT || k == DK_COMPLEX);
}

/* The abstract classes of the module numbers: which of their instances kernels have. */
static bool is_number(Eval *e, Val x, HostRef cls, const char *name) {
    HostInfo module;
    memset(&module, 0, sizeof module);
    HostRef m = e->host->attr(e->host->self, cls, "__module__");
    if (!val_is_scalar(x) || !m || !e->host->info(e->host->self, m, &module) || !module.text ||
        strcmp(module.text, "numbers") != 0)
        return false;
    DKind k = dtype_info[x.ty->dtype].kind;
    bool whole = k == DK_INT || k == DK_UINT || (k == DK_BOOL && x.ty->weak); /* np.bool_ is no number */
    if (strcmp(name, "Integral") == 0 || strcmp(name, "Rational") == 0) return whole;
    if (strcmp(name, "Real") == 0) return whole || k == DK_FLOAT;
    return whole || k == DK_FLOAT || k == DK_COMPLEX; /* Number, Complex */
}

bool instance_of(Eval *e, Val x, Val cls, bool *known) {
    HostInfo info;
    if (cls.ty->kind == TY_TUPLE) {
        bool any = false;
        for (uint32_t i = 0; i < cls.ty->n; i++) any |= instance_of(e, x, cls.items[i], known);
        return any;
    }
    if (cls.ty->kind == TY_NONE) return x.ty->kind == TY_NONE;
    if (cls.ty->kind == TY_DTYPE) return val_is_scalar(x) && !x.ty->weak && x.ty->dtype == cls.ty->dtype;
    if (!host_info(e, cls, &info)) *known = false;
    if (info.type_name && strcmp(info.type_name, "UnionType") == 0) /* int | float */
        return instance_of(e, x, val_object(e, e->host->attr(e->host->self, cls.ty->obj, "__args__")), known);
    if (info.kind == HOST_NAMED && strncmp(info.path, "builtins.", 9) == 0) return is_python(e, x, info.path + 9);
    *known &= info.kind == HOST_CLASS;
    if (!*known) return false;
    HostRef own = class_of(e, x);
    return (own && e->host->subclass(e->host->self, own, cls.ty->obj)) ||
           (info.text && (is_numpy(x, info.text) || is_number(e, x, cls.ty->obj, info.text)));
}

Val fn_isinstance(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    bool known = true;
    if (!bind_args(e, site, n, args, 2, x)) return val_poison(e);
    bool r = instance_of(e, x[0], x[1], &known);
    return known ? val_bool(e, r) : bad_arg(e, site, 1, x[1], "it takes classes, or a tuple of classes");
}

/* Of types of numbers, as isinstance() of a number of that type. */
static bool subclass_of(Eval *e, Val cls, Val of, bool *known) {
    HostInfo info;
    if (of.ty->kind == TY_TUPLE) {
        bool any = false;
        for (uint32_t i = 0; i < of.ty->n; i++) any |= subclass_of(e, cls, of.items[i], known);
        return any;
    }
    if (cls.ty->kind == TY_DTYPE && !cls.ty->record)
        return instance_of(e, (Val){.ty = ty_scalar(e->types, val_dtype(cls), false)}, of, known);
    bool classes = host_info(e, cls, &info) && (info.kind == HOST_CLASS || info.kind == HOST_NAMED);
    *known &= classes && host_info(e, of, &info) && (info.kind == HOST_CLASS || info.kind == HOST_NAMED);
    return *known && e->host->subclass(e->host->self, cls.ty->obj, of.ty->obj);
}

Val fn_issubclass(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    bool known = true;
    if (!bind_args(e, site, n, args, 2, x)) return val_poison(e);
    bool r = subclass_of(e, x[0], x[1], &known);
    return known ? val_bool(e, r) : bad_arg(e, site, 1, x[1], "it takes classes that are known when compiling");
}

Val fn_itself(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    return bind_args(e, site, n, args, 1, &x) ? x : val_poison(e);
}

/* ---- functions of functions -------------------------------------------------------------------------- */
Val fn_partial(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    uint32_t npos = n - site->nkw;
    if (!npos) return e_fail(e, site->span, NULL, DIAG_TOO_FEW_ARGS, site->name, 1, 0);
    Val kw = dict_of(e, 0, NULL);
    for (uint32_t i = 0; i < site->nkw; i++)
        kw = dict_with(e, site->span, kw, val_object(e, e->host->make_str(e->host->self, site->kwnames[i])),
                       args[npos + i]);
    return make_partial(e, args[0], val_tuple(e, npos - 1, args + 1), kw);
}

/* operator.itemgetter and attrgetter: a method of the tuple of their keys. param: 0 items, 1 attributes */
Val fn_getter(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const names[] = {"itemgetter.__call__", "attrgetter.__call__"};
    if (site->nkw || !n) return e_fail(e, site->span, NULL, DIAG_TOO_FEW_ARGS, site->name, 1, 0);
    Val *self = ARENA_NEW(e->arena, Val);
    *self = val_tuple(e, n, args);
    return (Val){.ty = ty_composite(e->types, TY_METHOD, 0, 1, self, NULL, names[site->fn->param], NULL),
                 .items = self};
}

static Val get_attributes(Eval *e, const CallSite *site, Val v, const char *path) {
    for (const char *dot = strchr(path, '.'); dot; path = dot + 1, dot = strchr(path, '.'))
        v = eval_attr(e, site->span, v, arena_strndup(e->arena, path, (size_t)(dot - path)));
    return eval_attr(e, site->span, v, path);
}

Val fn_getter_call(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x[2];
    const char *name;
    if (!bind_args(e, site, n, args, 2, x)) return val_poison(e);
    Val *out = ARENA_ARRAY(e->arena, Val, x[0].ty->n + 1);
    for (uint32_t i = 0; i < x[0].ty->n; i++) {
        Val key = x[0].items[i];
        if (!site->fn->param) out[i] = eval_getitem(e, site->span, x[1], key);
        else if (val_as_str(e, key, &name)) out[i] = get_attributes(e, site, x[1], name);
        else return e_fail(e, site->span, NULL, DIAG_ARG_CONSTANT, site->name, "attr", e_text(e, key));
        if (val_poisoned(out[i])) return out[i];
    }
    return x[0].ty->n == 1 ? out[0] : val_tuple(e, x[0].ty->n, out);
}
