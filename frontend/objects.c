/* objects.c - instances of classes as values: made, their attributes and methods, operators that their classes define;
 * named tuples and functools.partial.
 *
 * An instance is its class, which is known when compiling, and the values of its fields. While its __init__ runs,
 * `self.x = v` makes the instance that the next line sees. After that it can't change; where a kernel assigns to a
 * field, the instances of that class are references instead (mutable.c). */
#include "evaluator.h"
#include "suggest.h"

#include <string.h>

static const Host *host_of(const Eval *e) { return e->host; }

static bool object_info(Eval *e, HostRef obj, HostInfo *info) {
    memset(info, 0, sizeof *info);
    return obj && host_of(e)->info(host_of(e)->self, obj, info);
}

static HostRef attr_of(Eval *e, HostRef obj, const char *name) {
    return obj ? e->host->attr(e->host->self, obj, name) : NULL;
}

static bool text_is(const char *a, const char *b) { return a && strcmp(a, b) == 0; }

Val object_class(Eval *e, Val v) { return (Val){.ty = ty_object(e->types, v.ty->obj)}; }

/* ---- attributes ------------------------------------------------------------------------------------------ */
static Val method_of(Eval *e, HostRef fn, Val self) {
    Val *items = ARENA_NEW(e->arena, Val);
    *items = self;
    return (Val){.ty = ty_composite(e->types, TY_METHOD, 0, 1, items, fn, NULL, NULL), .items = items};
}

static Val call_with_self(Eval *e, PySpan span, HostRef fn, const char *name, Val self) {
    CallSite site = {.span = span, .name = name};
    return eval_call(e, &site, method_of(e, fn, self), 0, NULL);
}

/* What stands in a class under a name, seen from an instance or, without `self`, from the class. */
static Val bind_attr(Eval *e, PySpan span, HostRef raw, HostRef cls, const Val *self, const char *name) {
    HostInfo info;
    if (!object_info(e, raw, &info)) return (Val){0};
    if (info.kind == HOST_FUNCTION && self) return method_of(e, raw, *self);
    if (text_is(info.type_name, "property") && self) {
        HostRef get = attr_of(e, raw, "fget");
        return get ? call_with_self(e, span, get, name, *self) : (Val){0};
    }
    if (text_is(info.type_name, "cached_property") && self) {
        HostRef get = attr_of(e, raw, "func");
        return get ? call_with_self(e, span, get, name, *self) : (Val){0};
    }
    if (text_is(info.type_name, "staticmethod")) {
        HostRef fn = attr_of(e, raw, "__func__");
        return fn ? val_object(e, fn) : (Val){0};
    }
    if (text_is(info.type_name, "classmethod")) {
        HostRef fn = attr_of(e, raw, "__func__");
        return fn ? method_of(e, fn, (Val){.ty = ty_object(e->types, cls)}) : (Val){0};
    }
    HostRef plain = attr_of(e, cls, name);
    return plain ? val_object(e, plain) : (Val){0};
}

static Val field_of(Eval *e, PySpan span, Val v, const char *name) {
    if (v.ty->made) return mutable_get(e, span, v, name);
    for (uint32_t i = 0; v.ty->fields && i < v.ty->n; i++)
        if (strcmp(v.ty->fields[i], name) == 0) return v.items[i];
    return (Val){0};
}

Val instance_attr(Eval *e, PySpan span, Val v, const char *name) {
    Val f = field_of(e, span, v, name);
    if (f.ty || !v.ty->obj) return f;
    if (strcmp(name, "__class__") == 0) return object_class(e, v);
    HostRef raw = e->host->class_attr(e->host->self, v.ty->obj, NULL, name);
    return raw ? bind_attr(e, span, raw, v.ty->obj, &v, name) : (Val){0};
}

Val super_attr(Eval *e, PySpan span, Val v, const char *name) {
    Val self = v.items[0];
    if (!self.ty->obj) return (Val){0};
    HostRef raw = e->host->class_attr(e->host->self, self.ty->obj, v.ty->obj, name);
    HostInfo info;
    if (strcmp(name, "__init__") == 0 && object_info(e, raw, &info) && info.kind != HOST_FUNCTION) {
        Val *items = ARENA_NEW(e->arena, Val); /* object's does nothing */
        *items = self;
        return (Val){.ty = ty_composite(e->types, TY_METHOD, 0, 1, items, NULL, "object.__init__", NULL),
                     .items = items};
    }
    return raw ? bind_attr(e, span, raw, self.ty->obj, &self, name) : (Val){0};
}

/* super() in a method: `cls` is the class whose code it is. */
Val eval_super(Eval *e, PySpan span, Val cls, Val self) {
    if (val_poisoned(cls) || val_poisoned(self)) return val_poison(e);
    bool known =
        cls.ty->kind == TY_OBJECT && (self.ty->kind == TY_INSTANCE || self.ty->kind == TY_TUPLE) && self.ty->obj;
    if (!known)
        return e_fail(e, span, "call the function that is meant", DIAG_CONSTRUCT, "super()",
                      "it is for methods of instances that are made in the kernel or passed to it");
    Val *items = ARENA_NEW(e->arena, Val);
    *items = self;
    return (Val){.ty = ty_composite(e->types, TY_SUPER, 0, 1, items, cls.ty->obj, NULL, NULL), .items = items};
}

/* An instance whose __init__ runs is no reference, unless its class changes: nobody else may keep it. */
static void keep(Eval *e, Val v) {
    if (v.ty->kind == TY_INSTANCE && v.ty->sub == 1) change_class(e, v.ty->obj);
    for (uint32_t i = 0; i < v.ty->n && v.items; i++) keep(e, v.items[i]);
}

static Val refuse_change(Eval *e, PySpan span, Val v, const char *name) {
    static const char *const help[] = {"a kernel writes elements of arrays",
                                       "make a new one of the class, or dataclasses.replace(x, field=...)",
                                       ("what comes from outside is a copy: make one in the kernel, or "
                                        "dataclasses.replace(x, field=...)")};
    bool instance = v.ty->kind == TY_INSTANCE;
    return e_fail(e, span, help[instance ? 2 : v.ty->kind == TY_TUPLE], DIAG_STORE_ATTRIBUTE, name, e_text(e, v));
}

/* What the class has to say about an assignment: a property, a __setattr__. True: it was done, or reported in *out. */
static bool set_by_class(Eval *e, PySpan span, Val v, const char *name, Val value, Val *out) {
    HostInfo info;
    HostRef raw = e->host->class_attr(e->host->self, v.ty->obj, NULL, "__setattr__");
    *out = v;
    if (v.ty->sub != 1 && object_info(e, raw, &info) && info.kind == HOST_FUNCTION) {
        *out = e_fail(e, span, "dataclasses.replace(x, field=...) makes another one", DIAG_CONSTRUCT, "this assignment",
                      "the class is frozen, or has a __setattr__ of its own");
        return true;
    }
    raw = e->host->class_attr(e->host->self, v.ty->obj, NULL, name);
    if (!object_info(e, raw, &info) || !text_is(info.type_name, "property")) return false;
    HostRef set = attr_of(e, raw, "fset");
    if (!object_info(e, set, &info) || info.kind != HOST_FUNCTION) {
        *out = e_fail(e, span, "give the property a setter", DIAG_STORE_ATTRIBUTE, name, e_text(e, v));
        return true;
    }
    CallSite site = {.span = span, .name = name};
    if (v.ty->sub == 1) change_class(e, v.ty->obj);
    Val done = eval_call(e, &site, method_of(e, set, v), 1, &value);
    if (val_poisoned(done)) *out = val_poison(e);
    return true;
}

/* What an instance has where only its class assigns a field; ty NULL: nothing. */
static Val class_value(Eval *e, Val v, const char *name) {
    HostInfo info;
    HostRef raw = e->host->class_attr(e->host->self, v.ty->obj, NULL, name);
    if (!object_info(e, raw, &info) || info.kind == HOST_FUNCTION || text_is(info.type_name, "member_descriptor"))
        return (Val){0};
    HostRef plain = attr_of(e, v.ty->obj, name);
    return plain ? val_object(e, plain) : (Val){0};
}

/* v.name = value; `making`: v is the self of an __init__, and the result the instance after that. */
Val instance_with(Eval *e, PySpan span, Val v, const char *name, Val value, bool making) {
    Val done;
    if (val_poisoned(v) || val_poisoned(value)) return val_poison(e);
    if (v.ty->kind != TY_INSTANCE) return refuse_change(e, span, v, name);
    if (set_by_class(e, span, v, name, value, &done)) return done;
    keep(e, value);
    if (v.ty->made) return mutable_set(e, span, v, name, value, false, class_value(e, v, name));
    if (!making || !v.ty->sub) return change_class(e, v.ty->obj) ? val_poison(e) : refuse_change(e, span, v, name);
    uint32_t n = v.ty->n, at = 0;
    while (at < n && strcmp(v.ty->fields[at], name) != 0) at++;
    Val *items = ARENA_ARRAY(e->arena, Val, n + 1);
    const char **names = ARENA_ARRAY(e->arena, const char *, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        items[i] = v.items[i];
        names[i] = v.ty->fields[i];
    }
    items[at] = value;
    names[at] = name;
    if (at == n) n++;
    return (Val){.ty = ty_composite(e->types, TY_INSTANCE, v.ty->sub, n, items, v.ty->obj, NULL, names),
                 .items = items};
}

static Val sealed(Eval *e, Val v, unsigned sub) {
    v.ty = ty_composite(e->types, TY_INSTANCE, sub, v.ty->n, v.items, v.ty->obj, NULL, v.ty->fields);
    return v;
}

/* ---- making instances -------------------------------------------------------------------------------------- */

/* Runs an __init__ or __post_init__ on an instance; both return it (translate.c). */
static Val initialise(Eval *e, const CallSite *site, Val v, HostRef init, uint32_t n, const Val *args) {
    Val *all = ARENA_ARRAY(e->arena, Val, n + 1);
    all[0] = v.ty->made ? v : sealed(e, v, 1);
    for (uint32_t i = 0; i < n; i++) all[i + 1] = args[i];
    CallSite s = *site;
    s.arg_spans = NULL;
    Making making = {.of = v.ty->made, .frame = e->frame, .around = e->making};
    if (making.of) e->making = &making;
    Val made = call_python(e, &s, &(Callee){.code = init, .globals = init}, (Val){.ty = ty_object(e->types, init)},
                           n + 1, all);
    e->making = making.around;
    if (!made.ty || made.ty->kind != TY_INSTANCE) return made;
    return v.ty->made ? v : sealed(e, made, 0);
}

typedef struct Fields {
    uint32_t n, nparams;
    const char **names, **params; /* params: as call_bind has them; of fields with init=True */
    HostRef *defaults, *factories;
    uint32_t *param; /* number of the parameter plus one; 0: none */
} Fields;

static bool flag(Eval *e, HostRef obj, const char *name) {
    HostInfo info;
    return object_info(e, attr_of(e, obj, name), &info) && info.kind == HOST_BOOL && info.bits;
}

/* The default of a dataclass's field: NULL where dataclasses.MISSING stands. */
static HostRef given(Eval *e, HostRef field, const char *name) {
    HostInfo info;
    HostRef v = attr_of(e, field, name);
    if (!object_info(e, v, &info) || text_is(info.type_name, "_MISSING_TYPE")) return NULL;
    return v;
}

static bool read_fields(Eval *e, HostRef cls, Fields *f) {
    const Host *h = e->host;
    HostInfo info, kind, name;
    HostRef dict = attr_of(e, cls, "__dataclass_fields__"), pairs = dict ? h->items(h->self, dict) : NULL;
    if (!object_info(e, pairs, &info)) return false;
    *f = (Fields){.n = 0};
    f->names = ARENA_ARRAY(e->arena, const char *, info.n + 1);
    f->params = ARENA_ARRAY(e->arena, const char *, info.n + 1);
    f->defaults = ARENA_ARRAY(e->arena, HostRef, info.n + 1);
    f->factories = ARENA_ARRAY(e->arena, HostRef, info.n + 1);
    f->param = ARENA_ARRAY(e->arena, uint32_t, info.n + 1);
    for (size_t i = 0; i < info.n; i++) {
        HostRef pair = h->item(h->self, pairs, i), field = pair ? h->item(h->self, pair, 1) : NULL;
        HostRef type = attr_of(e, attr_of(e, field, "_field_type"), "name");
        if (!object_info(e, type, &kind) || !text_is(kind.text, "_FIELD")) continue; /* ClassVar, InitVar */
        if (!object_info(e, h->item(h->self, pair, 0), &name)) return false;
        f->names[f->n] = name.text;
        f->defaults[f->n] = given(e, field, "default");
        f->factories[f->n] = given(e, field, "default_factory");
        if (flag(e, field, "init")) {
            bool optional = f->defaults[f->n] || f->factories[f->n];
            f->params[f->nparams++] = optional ? arena_printf(e->arena, "?%s", name.text) : name.text;
            f->param[f->n] = f->nparams;
        }
        f->n++;
    }
    return true;
}

static Val make_dataclass(Eval *e, const CallSite *site, HostRef cls, uint32_t n, const Val *args) {
    Fields f;
    if (!read_fields(e, cls, &f)) return e_fail(e, site->span, NULL, DIAG_NOT_CALLABLE, site->name);
    Val *given_values = ARENA_ARRAY(e->arena, Val, f.nparams + 1), *items = ARENA_ARRAY(e->arena, Val, f.n + 1);
    if (!call_bind(e, site, n, args, f.nparams, f.params, given_values)) return val_poison(e);
    for (uint32_t i = 0; i < f.n; i++) {
        items[i] = f.param[i] ? given_values[f.param[i] - 1] : (Val){0};
        if (items[i].ty) continue;
        HostRef d = f.defaults[i];
        if (!d && f.factories[i]) d = e->host->call(e->host->self, f.factories[i], 0, NULL);
        items[i] = d ? val_object(e, d) : val_none(e);
    }
    Val v = {.ty = ty_composite(e->types, TY_INSTANCE, 0, f.n, items, cls, NULL, f.names), .items = items};
    v = instance_made(e, site->span, v, n, args);
    if (val_poisoned(v)) return v;
    HostRef post = e->host->class_attr(e->host->self, cls, NULL, "__post_init__");
    return post ? initialise(e, site, v, post, 0, NULL) : v;
}

static bool generated_init(Eval *e, HostRef cls) {
    HostRef params = attr_of(e, cls, "__dataclass_params__");
    return params && flag(e, params, "init");
}

static bool has_typed_fields(Eval *e, HostRef cls) {
    HostInfo info;
    HostRef annotations = attr_of(e, cls, "__annotations__");
    return object_info(e, annotations, &info) && info.kind == HOST_DICT && info.n;
}

/* A class in Python that has no __init__ and no __new__. */
static bool is_bare(Eval *e, HostRef cls) {
    static const char *const names[] = {"__init__", "__new__"};
    HostRef object = val_builtin(e, "object");
    if (!object || !e->host->class_attr(e->host->self, cls, NULL, "__dict__")) return false;
    for (int i = 0; i < 2; i++) {
        HostRef own = e->host->class_attr(e->host->self, cls, NULL, names[i]);
        HostRef plain = e->host->class_attr(e->host->self, object, NULL, names[i]);
        if (!own || !plain || !e->host->same(e->host->self, own, plain)) return false;
    }
    return true;
}

Val make_instance(Eval *e, const CallSite *site, HostRef cls, uint32_t n, const Val *args) {
    HostInfo info;
    if (generated_init(e, cls)) return make_dataclass(e, site, cls, n, args);
    if (e_numba(e) && !has_typed_fields(e, cls))
        return e_fail(e, site->span, "declare the types of its fields in the class (x: float), or make it a dataclass",
                      DIAG_CONSTRUCT, site->name,
                      "cuda.jit makes no objects of classes without typed fields; gpu.jit does");
    HostRef init = e->host->class_attr(e->host->self, cls, NULL, "__init__");
    Val v = {.ty = ty_composite(e->types, TY_INSTANCE, 0, 0, NULL, cls, NULL, NULL)};
    if (object_info(e, init, &info) && info.kind == HOST_FUNCTION)
        return initialise(e, site, instance_made(e, site->span, v, n, args), init, n, args);
    return n == 0 && is_bare(e, cls) ? instance_made(e, site->span, v, 0, NULL) : (Val){0};
}

/* dataclasses.replace(x, field=...), and t._replace(field=...) of named tuples. */
Val instance_replaced(Eval *e, const CallSite *site, Val v, uint32_t n, const Val *args) {
    v = instance_now(e, site->span, v);
    if (val_poisoned(v)) return v;
    Val *items = ARENA_ARRAY(e->arena, Val, v.ty->n + 1);
    for (uint32_t i = 0; i < v.ty->n; i++) items[i] = v.items[i];
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = 0;
        while (i < v.ty->n && strcmp(v.ty->fields[i], site->kwnames[k]) != 0) i++;
        if (i == v.ty->n) return e_fail(e, site->span, NULL, DIAG_UNKNOWN_KEYWORD, site->name, site->kwnames[k]);
        items[i] = args[k];
    }
    Ty t = v.ty;
    Val made = {.ty = ty_composite(e->types, t->kind, 0, t->n, items, t->obj, NULL, t->fields), .items = items};
    return instance_made(e, site->span, made, t->n, items);
}

/* ---- operators of classes ------------------------------------------------------------------------------------ */

/* The Python method `name` of an instance called with `other` (maybe absent); ty NULL: it has none. */
Val instance_special(Eval *e, PySpan span, Val v, const char *name, Val other) {
    HostInfo info;
    bool made = v.ty->kind == TY_INSTANCE || (v.ty->kind == TY_TUPLE && v.ty->obj);
    HostRef raw = NULL;
    if (made) raw = e->host->class_attr(e->host->self, v.ty->obj, NULL, name);
    else if (v.ty->kind == TY_OBJECT && object_info(e, v.ty->obj, &info) && info.kind == HOST_OTHER)
        raw = e->host->class_attr(e->host->self, attr_of(e, v.ty->obj, "__class__"), NULL, name);
    if (!object_info(e, raw, &info) || info.kind != HOST_FUNCTION) return (Val){0};
    CallSite site = {.span = span, .name = name};
    return eval_call(e, &site, method_of(e, raw, v), other.ty ? 1 : 0, &other);
}

/* The same of a method whose result Python takes for a number: "__bool__", "__len__", "__int__" or "__float__". */
Val instance_number(Eval *e, PySpan span, Val v, const char *name) {
    Val x = instance_special(e, span, v, name, (Val){0});
    if (!x.ty || val_poisoned(x)) return x;
    bool truth = strcmp(name, "__bool__") == 0, real = strcmp(name, "__float__") == 0;
    bool ok = val_is_scalar(x) && !dt_is_complex(val_dtype(x));
    if (ok && !real) ok = val_dtype(x) == DT_BOOL || (!truth && dt_is_int(val_dtype(x)));
    if (ok) return x;
    const char *kind = truth ? "bool" : real ? "float" : "int";
    return e_fail(e, span, arena_printf(e->arena, "return a value of the type %s there", kind), DIAG_SPECIAL_RESULT,
                  val_text(e->types, v), name, kind, e_text(e, x));
}

static const char *const binary_names[PYB__COUNT] = {
    [PYB_ADD] = "add",       [PYB_AND] = "and",       [PYB_FLOORDIV] = "floordiv", [PYB_LSHIFT] = "lshift",
    [PYB_MATMUL] = "matmul", [PYB_MUL] = "mul",       [PYB_MOD] = "mod",           [PYB_OR] = "or",
    [PYB_POW] = "pow",       [PYB_RSHIFT] = "rshift", [PYB_SUB] = "sub",           [PYB_TRUEDIV] = "truediv",
    [PYB_XOR] = "xor",
};

Val instance_binary(Eval *e, PySpan span, PyBinary op, bool in_place, Val a, Val b) {
    Val v = {0};
    if (in_place) v = instance_special(e, span, a, arena_printf(e->arena, "__i%s__", binary_names[op]), b);
    if (v.ty) return v;
    v = instance_special(e, span, a, arena_printf(e->arena, "__%s__", binary_names[op]), b);
    return v.ty ? v : instance_special(e, span, b, arena_printf(e->arena, "__r%s__", binary_names[op]), a);
}

Val instance_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b) {
    static const char *const names[] = {"__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"};
    static const PyCompare mirrored[] = {PYC_GT, PYC_GE, PYC_EQ, PYC_NE, PYC_LT, PYC_LE};
    bool same = a.ty->kind == TY_INSTANCE && b.ty->kind == TY_INSTANCE && a.ty->obj == b.ty->obj;
    HostRef params = same ? attr_of(e, a.ty->obj, "__dataclass_params__") : NULL;
    bool equality = op == PYC_EQ || op == PYC_NE;
    if (params && flag(e, params, equality ? "eq" : "order")) {
        a = instance_now(e, span, a);
        b = instance_now(e, span, b);
        if (val_poisoned(a) || val_poisoned(b)) return val_poison(e);
        return eval_compare(e, span, op, val_tuple(e, a.ty->n, a.items), val_tuple(e, b.ty->n, b.items));
    }
    Val v = instance_special(e, span, a, names[op], b);
    if (!v.ty) v = instance_special(e, span, b, names[mirrored[op]], a);
    if (v.ty || op != PYC_NE) return v;
    v = instance_special(e, span, a, "__eq__", b);
    return v.ty ? eval_not(e, span, v) : v;
}

/* ---- partial functions ----------------------------------------------------------------------------------------- */
Val make_partial(Eval *e, Val fn, Val args, Val keywords) {
    return val_composite(e, TY_PARTIAL, 0, 3, (Val[]){fn, args, keywords});
}

Val partial_from_host(Eval *e, HostRef obj) {
    static const char *const names[] = {"func", "args", "keywords"};
    Val part[3];
    for (int i = 0; i < 3; i++) {
        HostRef r = attr_of(e, obj, names[i]);
        part[i] = r ? val_object(e, r) : val_poison(e);
        if (val_poisoned(part[i])) return part[i];
    }
    return make_partial(e, part[0], part[1], dict_known(e, part[2]));
}

/* A keyword of the call goes before the partial's own. */
Val call_partial(Eval *e, const CallSite *site, Val fn, uint32_t n, const Val *args) {
    Val first = fn.items[1], kw = fn.items[2];
    uint32_t npos = n - site->nkw, nown = kw.ty->n / 2, at = 0, nkw = 0;
    Val *all = ARENA_ARRAY(e->arena, Val, first.ty->n + n + nown + 1);
    const char **names = ARENA_ARRAY(e->arena, const char *, site->nkw + nown + 1);
    for (uint32_t i = 0; i < first.ty->n; i++) all[at++] = first.items[i];
    for (uint32_t i = 0; i < npos; i++) all[at++] = args[i];
    for (uint32_t k = 0; k < nown; k++) {
        const char *name;
        bool again = false;
        if (!val_as_str(e, kw.items[2 * k], &name)) continue;
        for (uint32_t i = 0; i < site->nkw; i++) again |= strcmp(site->kwnames[i], name) == 0;
        if (again) continue;
        names[nkw++] = name;
        all[at++] = kw.items[2 * k + 1];
    }
    for (uint32_t k = 0; k < site->nkw; k++) {
        names[nkw++] = site->kwnames[k];
        all[at++] = args[npos + k];
    }
    CallSite s = *site;
    s.kwnames = names;
    s.nkw = nkw;
    s.arg_spans = NULL;
    return eval_call(e, &s, fn.items[0], at, all);
}
