/* containers.c - lists, sets and dicts: those outside the kernel as constants, dicts that a kernel makes.
 *
 * All have a length and keys that are known when compiling. What lies outside is read when its items are needed, so
 * that a table of arrays gives the kernel only the array that it names. */
#include "evaluator.h"

#include <string.h>

static bool object_info(Eval *e, Val v, HostInfo *info) {
    memset(info, 0, sizeof *info);
    return v.ty->kind == TY_OBJECT && e->host->info(e->host->self, v.ty->obj, info);
}

/* An enum class may be iterated and asked for its members. */
bool is_enum_class(Eval *e, Val v) {
    HostInfo info;
    return object_info(e, v, &info) && info.kind == HOST_CLASS && info.type_name &&
           (strcmp(info.type_name, "EnumType") == 0 || strcmp(info.type_name, "EnumMeta") == 0);
}

/* ---- containers outside ------------------------------------------------------------------------------------ */
static bool is_container(Eval *e, Val v, HostKind *kind) {
    HostInfo info;
    if (!object_info(e, v, &info)) return false;
    *kind = info.kind;
    return info.kind == HOST_LIST || info.kind == HOST_SET || info.kind == HOST_DICT || info.kind == HOST_STR ||
           is_enum_class(e, v);
}

/* What iterating over it gives, as a tuple; other values stay what they are. */
Val val_items(Eval *e, Val v) {
    HostKind kind;
    if (val_poisoned(v)) return v;
    if (v.ty->kind == TY_DICT) return dict_part(e, v, DICT_KEYS);
    if (v.ty->kind == TY_RECORD) return record_tuple(e, (PySpan){0}, v);
    if (v.ty->kind == TY_INSTANCE) {
        Val it = instance_special(e, (PySpan){0}, v, "__iter__", (Val){0});
        return it.ty ? it : v;
    }
    if (v.ty->kind != TY_OBJECT || !is_container(e, v, &kind)) return v;
    if (kind == HOST_DICT) return dict_part(e, dict_known(e, v), DICT_KEYS);
    HostRef items = e->host->items(e->host->self, v.ty->obj);
    return items ? val_object(e, items) : v;
}

/* A list outside as one whose items are values. */
Val list_items(Eval *e, Val v) {
    HostInfo info;
    bool list = object_info(e, v, &info) && info.kind == HOST_LIST;
    return list ? list_marked(e, val_items(e, v)) : v;
}

/* ---- dicts --------------------------------------------------------------------------------------------------- */
Val dict_of(Eval *e, uint32_t n, const Val *keys_and_values) {
    return val_composite(e, TY_DICT, 0, 2 * n, keys_and_values);
}

/* A dict outside as one whose items are values. */
Val dict_known(Eval *e, Val v) {
    HostInfo info;
    if (!object_info(e, v, &info) || info.kind != HOST_DICT) return v;
    HostRef pairs = e->host->items(e->host->self, v.ty->obj);
    if (!pairs) return v;
    Val *items = ARENA_ARRAY(e->arena, Val, 2 * info.n + 1);
    for (size_t i = 0; i < info.n; i++) {
        HostRef pair = e->host->item(e->host->self, pairs, i);
        for (size_t k = 0; k < 2; k++) items[2 * i + k] = val_object(e, e->host->item(e->host->self, pair, k));
    }
    return dict_of(e, (uint32_t)info.n, items);
}

Val dict_part(Eval *e, Val d, DictPart part) {
    uint32_t n = d.ty->n / 2;
    Val *items = ARENA_ARRAY(e->arena, Val, n + 1);
    for (uint32_t i = 0; i < n; i++)
        items[i] = part == DICT_KEYS     ? d.items[2 * i]
                   : part == DICT_VALUES ? d.items[2 * i + 1]
                                         : val_tuple(e, 2, d.items + 2 * i);
    return val_tuple(e, n, items);
}

/* Are two keys that are known when compiling equal, as Python's == has it? */
static bool same_key(Eval *e, Val a, Val b) {
    double x, y;
    Wide i, k;
    if (val_as_int(a, &i) && val_as_int(b, &k)) return i == k;
    if (val_as_double(a, &x) && val_as_double(b, &y)) return x == y;
    if (a.ty->kind == TY_TUPLE && b.ty->kind == TY_TUPLE && a.ty->n == b.ty->n) {
        for (uint32_t n = 0; n < a.ty->n; n++)
            if (!same_key(e, a.items[n], b.items[n])) return false;
        return true;
    }
    return !val_is_scalar(a) && a.ty == b.ty;
}

static bool is_key(Val v) { return val_is_known(v) && v.ty->kind != TY_ARRAY; }

Val dict_with(Eval *e, PySpan span, Val d, Val key, Val value) {
    if (val_poisoned(d) || val_poisoned(key) || val_poisoned(value)) return val_poison(e);
    d = dict_known(e, d);
    if (d.ty->kind != TY_DICT) return e_fail(e, span, NULL, DIAG_NOT_UNPACKABLE, e_text(e, d));
    if (!is_key(key))
        return e_fail(e, span, "a tuple or an array has run-time indices", DIAG_CONSTRUCT, "a dict with this key",
                      "its keys must be known when compiling");
    uint32_t n = d.ty->n / 2, at = 0;
    Val *items = ARENA_ARRAY(e->arena, Val, 2 * n + 2);
    for (uint32_t i = 0; i < 2 * n; i++) items[i] = d.items[i];
    while (at < n && !same_key(e, items[2 * at], key)) at++;
    if (at == n) items[2 * n] = key;
    items[2 * at + 1] = value;
    return dict_of(e, at == n ? n + 1 : n, items);
}

static const char *key_text(Eval *e, Val key) {
    const char *text;
    Wide i;
    if (val_as_str(e, key, &text)) return arena_printf(e->arena, "'%s'", text);
    return val_as_int(key, &i) ? wide_text(e->arena, i) : e_text(e, key);
}

/* The value of a key that is known, from a dict outside without reading its other items. */
static bool find(Eval *e, Val d, Val key, Val *out) {
    HostInfo info;
    Wide i;
    if (object_info(e, d, &info) && info.kind == HOST_DICT) {
        const Host *h = e->host;
        HostRef k = key.member                                  ? key.member
                    : val_as_int(key, &i) && dt_fits(DT_I64, i) ? h->make_int(h->self, (int64_t)i)
                    : key.ty->kind == TY_OBJECT                 ? key.ty->obj
                                                                : NULL;
        HostRef found = k ? h->lookup(h->self, d.ty->obj, k) : NULL;
        if (found) *out = val_object(e, found);
        if (found || k) return found != NULL;
        d = dict_known(e, d);
    }
    for (uint32_t n = 0; n < d.ty->n / 2; n++)
        if (same_key(e, d.items[2 * n], key)) {
            *out = d.items[2 * n + 1];
            return true;
        }
    return false;
}

bool dict_find(Eval *e, Val d, Val key, Val *out) { return is_key(key) && find(e, d, key, out); }

/* A run-time number chooses among values that have a common type; one that is no key raises KeyError. */
static Val select_value(Eval *e, PySpan span, Val d, Val key) {
    d = dict_known(e, d);
    uint32_t n = d.ty->n / 2;
    Val all = {0}, out = {0}, any = val_bool(e, false);
    for (uint32_t i = 0; i < n; i++)
        if (!val_is_scalar(d.items[2 * i]) || !val_join(e, all, d.items[2 * i + 1], &all))
            return e_fail(e, span, NULL, DIAG_DICT_VALUES, e_text(e, key));
    for (uint32_t i = n; i-- > 0;) {
        Val hit = eval_compare(e, span, PYC_EQ, key, d.items[2 * i]), value = val_coerce(e, d.items[2 * i + 1], all);
        if (val_poisoned(hit)) return hit;
        any = eval_logic(e, false, any, eval_truth(e, span, hit));
        out = out.ty ? val_coerce(e, eval_select(e, span, hit, value, out), all) : value;
    }
    e_raise_if(e, span, val_ref(e, eval_not(e, span, any)), "KeyError", "a key that the dict does not have");
    return out;
}

static const char *keys_help(Eval *e, Val d) {
    HostInfo info;
    if (object_info(e, d, &info)) return "the kernel sees it as it is when it is compiled";
    const char *text = NULL;
    for (uint32_t i = 0; i < d.ty->n / 2 && i < 8; i++) {
        const char *key = key_text(e, d.items[2 * i]);
        text = text ? arena_printf(e->arena, "%s, %s", text, key) : key;
    }
    return text ? arena_printf(e->arena, "its keys are %s%s", text, d.ty->n > 16 ? ", ..." : "") : NULL;
}

Val dict_item(Eval *e, PySpan span, Val d, Val key) {
    Val out;
    if (is_key(key)) {
        if (find(e, d, key, &out)) return out;
        return e_fail(e, span, keys_help(e, d), DIAG_NO_ITEM, ty_text(e->types, d.ty), key_text(e, key));
    }
    Val known = dict_known(e, d);
    if (val_is_scalar(key) && known.ty->n) return select_value(e, span, known, key);
    return e_fail(e, span, "a key is a constant, or a number", DIAG_NO_ITEM, ty_text(e->types, d.ty), e_text(e, key));
}

Val dict_merged(Eval *e, PySpan span, Val a, Val b) {
    if (val_poisoned(a) || val_poisoned(b)) return val_poison(e);
    b = dict_known(e, b);
    if (b.ty->kind != TY_DICT) return e_fail(e, span, NULL, DIAG_NOT_UNPACKABLE, e_text(e, b));
    for (uint32_t i = 0; i < b.ty->n / 2; i++) a = dict_with(e, span, a, b.items[2 * i], b.items[2 * i + 1]);
    return a;
}

Val dict_binary(Eval *e, PySpan span, PyBinary op, bool in_place, Val a, Val b) {
    Val x = dict_known(e, a), y = dict_known(e, b);
    if (x.ty->kind != TY_DICT || y.ty->kind != TY_DICT || op != PYB_OR) return (Val){0};
    if (in_place)
        return e_fail(e, span, "make another one: d = d | other", DIAG_CONSTRUCT, "this change of a dict",
                      "its keys are known when compiling");
    return dict_merged(e, span, x, y);
}

Val dict_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b) {
    bool equality = op == PYC_EQ || op == PYC_NE;
    if (!equality || a.ty->kind == TY_INSTANCE || b.ty->kind == TY_INSTANCE) return (Val){0};
    Val x = dict_known(e, a), y = dict_known(e, b), all, other;
    if (x.ty->kind != TY_DICT && y.ty->kind != TY_DICT) return (Val){0};
    if (x.ty->kind != y.ty->kind || x.ty->n != y.ty->n) return val_bool(e, op == PYC_NE);
    all = val_bool(e, true);
    for (uint32_t i = 0; i < x.ty->n / 2; i++) {
        if (!dict_find(e, y, x.items[2 * i], &other)) return val_bool(e, op == PYC_NE);
        Val same = eval_compare(e, span, PYC_EQ, x.items[2 * i + 1], other);
        if (val_poisoned(same)) return same;
        all = eval_logic(e, true, all, eval_truth(e, span, same));
    }
    return op == PYC_EQ ? all : eval_not(e, span, all);
}

/* ---- methods of constants ------------------------------------------------------------------------------------- */

/* A value that is known, as an object; NULL: it isn't, or none that a host could be asked with. */
HostRef val_as_object(Eval *e, Val v) {
    Wide i;
    if (v.member) return v.member;
    if (v.ty->kind == TY_OBJECT) return v.ty->obj;
    if (v.ty->kind == TY_NONE) return e->host->none;
    if (val_as_int(v, &i) && dt_fits(DT_I64, i)) return e->host->make_int(e->host->self, (int64_t)i);
    return v.konst == KONST_FLOAT ? e->host->make_float(e->host->self, v.f.re) : NULL;
}

/* f(args) of constants, evaluated by Python: methods of strings, members of an enum by value. ty NULL: not constants,
 * or Python raised. */
Val call_constant(Eval *e, HostRef f, uint32_t n, const Val *args) {
    HostRef *objects = ARENA_ARRAY(e->arena, HostRef, n + 1);
    for (uint32_t i = 0; i < n; i++)
        if (!(objects[i] = val_as_object(e, args[i]))) return (Val){0};
    HostRef r = e->host->call(e->host->self, f, n, objects);
    return r ? list_items(e, val_object(e, r)) : (Val){0};
}
