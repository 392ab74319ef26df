/* calls.c - calls: device functions, Python functions (specialised, then built inline), constructors, exceptions.
 *
 * A Python function is inferred once for each set of types and constants of its arguments; building it
 * happens at each call, so that the IR has no calls. */
#include "arrays.h"

#include <string.h>

enum {
    MAX_DEPTH = 64,
    MAX_CALLS = 20000,
    FEW_CALLS = 8,            /* in each other, for which each stack is large enough */
    STACK_OF_CALL = 48 * 1024 /* that one more takes with all that it does, and what follows */
};

/* ---- binding ----------------------------------------------------------------------------------------- */
static const char *param_name(const char *p) {
    while (*p == '/' || *p == '?') p++;
    return p;
}

static bool marked(const char *p, char mark) {
    for (; *p == '/' || *p == '?'; p++)
        if (*p == mark) return true;
    return false;
}

/* "math.sin(x)", "f(x, y=..., *, z)": what a call that doesn't bind should look like. */
static const char *call_help(Eval *e, const CallSite *site, const PyFunc *f) {
    if (!f)
        return site->fn && *site->fn->signature
                   ? arena_printf(e->arena, "it is %s%s", site->fn->path, site->fn->signature)
                   : NULL;
    const char *s = arena_printf(e->arena, "it is %s(", f->name);
    bool star = false;
    for (uint32_t i = 0; i < f->params.n; i++) {
        const PyParam *p = &f->params.at[i];
        const char *mark = p->vararg ? "*" : p->varkw ? "**" : p->kwonly && !star ? "*, " : "";
        star |= p->vararg || p->kwonly;
        s = arena_printf(e->arena, "%s%s%s%s", s, i ? ", " : "", mark, p->name);
    }
    return arena_printf(e->arena, "%s)", s);
}

static bool bind_failed(Eval *e, const CallSite *site, const PyFunc *f, DiagCode code, const char *name) {
    e_fail(e, site->span, call_help(e, site, f), code, site->name, name);
    return false;
}

bool call_bind(Eval *e, const CallSite *site, uint32_t n, const Val *args, uint32_t nparams, const char *const *params,
               Val *out) {
    uint32_t npos = n - site->nkw;
    memset(out, 0, nparams * sizeof *out);
    if (npos > nparams) {
        e_fail(e, site->span, call_help(e, site, NULL), DIAG_TOO_MANY_ARGS, site->name, nparams, npos);
        return false;
    }
    for (uint32_t i = 0; i < npos; i++) out[i] = args[i];
    for (uint32_t k = 0; k < site->nkw; k++) {
        uint32_t i = 0;
        while (i < nparams && (marked(params[i], '/') || strcmp(param_name(params[i]), site->kwnames[k]) != 0)) i++;
        if (i == nparams) return bind_failed(e, site, NULL, DIAG_UNKNOWN_KEYWORD, site->kwnames[k]);
        if (out[i].ty) return bind_failed(e, site, NULL, DIAG_ARG_TWICE, site->kwnames[k]);
        out[i] = args[npos + k];
    }
    for (uint32_t i = 0; i < nparams; i++)
        if (!out[i].ty && !marked(params[i], '?'))
            return bind_failed(e, site, NULL, DIAG_MISSING_ARG, param_name(params[i]));
    return true;
}

/* ---- Python functions -------------------------------------------------------------------------------- */
static const DiagFrame *call_chain(Eval *e, const Frame *fr) {
    if (!fr) return NULL;
    DiagFrame *at = ARENA_NEW(e->arena, DiagFrame);
    *at = fr->at;
    at->caller = call_chain(e, fr->caller);
    return at;
}

PyFunc *func_for(Eval *e, HostRef code) {
    for (uint32_t i = 0; i < e->funcs.n; i++)
        if (e->funcs.at[i].code == code || e->host->same(e->host->self, e->funcs.at[i].code, code))
            return e->funcs.at[i].f;
    uint32_t before = e->diags->diags.n;
    PyFunc *f = pyfunc_from_host(e->arena, e->host, code, e->diags, e->req->variables);
    for (uint32_t i = before; i < e->diags->diags.n; i++) e->diags->diags.at[i].at.caller = call_chain(e, e->frame);
    VEC_PUSH(e->arena, &e->funcs, ((FuncEntry){.code = code, .f = f}));
    return f;
}

/* The defaults of an inner function are values made where it was; those of others are the host's. */
static Val default_of(Eval *e, const Callee *c, Val fn, const PyFunc *f, uint32_t i, uint32_t npositional) {
    const char *name = f->params.at[i].name;
    if (fn.ty->kind != TY_FUNCTION) {
        HostRef d = e->host->default_value(e->host->self, c->code, name);
        return d ? val_object(e, d) : (Val){0};
    }
    Val defaults = fn.items[0], kw = fn.items[1];
    if (f->params.at[i].kwonly) {
        Val key = val_object(e, e->host->make_str(e->host->self, name)), v;
        return kw.ty->kind == TY_DICT && dict_find(e, kw, key, &v) ? v : (Val){0};
    }
    if (defaults.ty->kind != TY_TUPLE || i + defaults.ty->n < npositional) return (Val){0};
    return defaults.items[i + defaults.ty->n - npositional];
}

typedef struct Binding {
    Val *out;
    uint32_t npos, vararg, varkw;
} Binding;

static Binding param_kinds(Eval *e, const PyFunc *f) {
    Binding b = {ARENA_ARRAY(e->arena, Val, f->params.n + 1), 0, UINT32_MAX, UINT32_MAX};
    for (uint32_t i = 0; i < f->params.n; i++) {
        const PyParam *p = &f->params.at[i];
        if (p->vararg) b.vararg = i;
        else if (p->varkw) b.varkw = i;
        else if (!p->kwonly) b.npos++;
    }
    return b;
}

static bool bind_keywords(Eval *e, const CallSite *site, const PyFunc *f, Binding *b, uint32_t npos, const Val *args) {
    Val *extra = ARENA_ARRAY(e->arena, Val, 2 * site->nkw + 1);
    uint32_t nextra = 0;
    for (uint32_t k = 0; k < site->nkw; k++) {
        uint32_t i = f->nposonly;
        while (i < f->params.n &&
               (i == b->vararg || i == b->varkw || strcmp(f->params.at[i].name, site->kwnames[k]) != 0))
            i++;
        if (i == f->params.n) {
            if (b->varkw == UINT32_MAX) return bind_failed(e, site, f, DIAG_UNKNOWN_KEYWORD, site->kwnames[k]);
            extra[2 * nextra] = val_object(e, e->host->make_str(e->host->self, site->kwnames[k]));
            extra[2 * nextra++ + 1] = args[npos + k];
            continue;
        }
        if (b->out[i].ty) return bind_failed(e, site, f, DIAG_ARG_TWICE, site->kwnames[k]);
        b->out[i] = args[npos + k];
    }
    if (b->varkw != UINT32_MAX) b->out[b->varkw] = dict_of(e, nextra, extra);
    return true;
}

static bool bind_python(Eval *e, const CallSite *site, const Callee *c, Val fn, const PyFunc *f, uint32_t n,
                        const Val *args, Val **out) {
    Binding b = param_kinds(e, f);
    uint32_t npos = n - site->nkw;
    if (npos > b.npos && b.vararg == UINT32_MAX) {
        e_fail(e, site->span, call_help(e, site, f), DIAG_TOO_MANY_ARGS, site->name, b.npos, npos);
        return false;
    }
    for (uint32_t i = 0; i < npos && i < b.npos; i++) b.out[i] = args[i];
    if (b.vararg != UINT32_MAX)
        b.out[b.vararg] = npos > b.npos ? val_tuple(e, npos - b.npos, args + b.npos) : val_tuple(e, 0, NULL);
    if (!bind_keywords(e, site, f, &b, npos, args)) return false;
    for (uint32_t i = 0; i < f->params.n; i++) {
        if (b.out[i].ty) continue;
        b.out[i] = default_of(e, c, fn, f, i, b.npos);
        if (!b.out[i].ty) return bind_failed(e, site, f, DIAG_MISSING_ARG, f->params.at[i].name);
    }
    *out = b.out;
    return true;
}

/* What jit(signatures, device=True) declares of a function: a tuple of dtypes, the result's and then the parameters',
 * for each signature, with None where it says no scalar type. `base`: where the signature begins that fits the
 * arguments best.
 */
typedef struct Declared {
    HostRef types; /* NULL: it declares nothing */
    uint32_t base;
} Declared;

static bool declared_at(Eval *e, Declared d, uint32_t index, DType *out) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    HostRef item = e->host->item(e->host->self, d.types, d.base + index);
    if (!item || !e->host->info(e->host->self, item, &info) || info.kind != HOST_DTYPE) return false;
    *out = info.type;
    return true;
}

/* How far a type is from another: 0 the same, more where values get lost. */
static uint32_t distance(DType from, DType to) {
    enum { WIDER = 1, SIGNED = 2, OTHER_KIND = 1 << 4, NARROWER = 1 << 8, TRUNCATES = 1 << 12, DROPS = 1 << 16 };
    if (from == to) return 0;
    if (dtype_info[from].kind == dtype_info[to].kind)
        return dtype_info[from].bytes < dtype_info[to].bytes ? WIDER : NARROWER;
    if (dtype_info[from].kind == DK_UINT && dtype_info[to].kind == DK_INT &&
        dtype_info[from].bytes < dtype_info[to].bytes)
        return SIGNED;
    if (dt_is_complex(from)) return DROPS;
    if (dt_is_float(from)) return dt_is_complex(to) ? OTHER_KIND : TRUNCATES;
    return dt_is_int(to) ? NARROWER : OTHER_KIND;
}

static uint32_t misfit(Eval *e, Declared d, uint32_t nparams, const Val *args) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < nparams; i++) {
        DType to;
        if (args[i].ty && val_is_scalar(args[i]) && declared_at(e, d, i + 1, &to))
            sum += distance(val_dtype(args[i]), to);
    }
    return sum;
}

/* Tell whether NumPy converts values of a type to another safely: none gets lost. An int of Python's must fit. */
static bool is_safe(Val v, DType to) {
    Scalar s = val_sc(v);
    DKind from = dtype_info[s.dtype].kind, kind = dtype_info[to].kind;
    uint32_t size = dtype_info[s.dtype].bytes, room = dtype_info[dtype_info[to].part].bytes;
    if (from == DK_BOOL || s.dtype == to) return true;
    if (s.weak) {
        if (from == DK_INT && dt_is_int(to)) return v.konst != KONST_INT || dt_fits(to, v.i);
        return kind >= (from == DK_INT ? DK_FLOAT : from);
    }
    switch (from) {
    case DK_INT:
    case DK_UINT:
        if (dt_is_int(to)) return room > size && (kind == from || kind == DK_INT);
        return kind >= DK_FLOAT && room >= (size < 4 ? 2 * size : 8);
    case DK_FLOAT: return kind >= DK_FLOAT && room >= size && (room > size || kind == DK_COMPLEX);
    default: return kind == DK_COMPLEX && room >= dtype_info[dtype_info[s.dtype].part].bytes;
    }
}

/* A vectorized function takes the first signature that all arguments convert to safely, as when it gets arrays. */
static bool all_safe(Eval *e, Declared d, uint32_t nparams, const Val *args) {
    for (uint32_t i = 0; i < nparams; i++) {
        DType to;
        if (args[i].ty && val_is_scalar(args[i]) && declared_at(e, d, i + 1, &to) && !is_safe(args[i], to))
            return false;
    }
    return true;
}

static Declared declared_types(Eval *e, const Callee *callee, uint32_t nparams, const Val *args) {
    Declared best = {NULL, 0};
    HostInfo info;
    memset(&info, 0, sizeof info);
    if (callee->code != callee->globals) return best; /* an inner function */
    HostRef types = e->host->attr(e->host->self, callee->globals, "_declared");
    bool found = types && e->host->info(e->host->self, types, &info) && info.kind == HOST_TUPLE;
    if (!found || info.n == 0 || info.n % (nparams + 1)) return best;
    uint32_t n = (uint32_t)info.n, least = UINT32_MAX;
    HostRef order = e->host->attr(e->host->self, callee->globals, "_first_safe");
    bool first_safe = order && e->host->info(e->host->self, order, &info) && info.kind == HOST_BOOL;
    best.types = types;
    for (uint32_t base = 0; n > nparams + 1 && base < n; base += nparams + 1) {
        Declared d = {types, base};
        if (first_safe && all_safe(e, d, nparams, args)) return d;
        uint32_t cost = misfit(e, d, nparams, args);
        if (cost < least) least = cost, best.base = base;
    }
    return best;
}

/* Makes a value the scalar that the signature declares at `index`. Numba truncates a float for an integer. */
static bool convert_declared(Eval *e, const CallSite *site, Declared d, uint32_t index, Val *v,
                             const char *numba_says) {
    DType to;
    if (!declared_at(e, d, index, &to) || val_poisoned(*v)) return true;
    bool ok = val_is_scalar(*v);
    if (ok) {
        DType from = val_dtype(*v);
        ok = to == DT_BOOL || dt_is_complex(to) ||
             !(dt_is_complex(from) || (dt_is_float(from) && dt_is_int(to) && !e_numba(e)));
    }
    if (!ok) {
        Diag *diag = e_diag(e, site->span, DIAG_ARG_TYPE, site->name, e_text(e, *v));
        e_help(e, diag, "its signature says %s", dtype_info[to].name);
        e_numba_says(e, diag, "%s", numba_says);
        return false;
    }
    *v = val_convert(e, *v, SCALAR(to, false));
    return true;
}

static Val declared_result(Eval *e, const CallSite *site, Declared d, Val result) {
    if (!d.types || !result.ty || !val_is_scalar(result)) return result;
    return convert_declared(e, site, d, 0, &result, "No conversion of the result") ? result : val_poison(e);
}

Val call_declared_result(Eval *e, const CallSite *site, const Instance *inst, Val result) {
    return declared_result(e, site, declared_types(e, &inst->callee, inst->f->params.n, inst->args), result);
}

/* A call whose result is known and that does nothing else needs to be built only once. */
static Val build_call(Eval *e, Instance *inst, const Callee *callee, const Val *args) {
    uint32_t first = e->m->instrs.n;
    Val v = inst->recursive ? build_recursive(e, inst, callee, args) : build_inline(e, inst, callee, args);
    bool pure = v.ty && val_is_known(v) && v.ty->kind != TY_POISON;
    for (uint32_t i = first; pure && i < e->m->instrs.n; i++) {
        Op op = (Op)e->m->instrs.at[i].op;
        pure = op == OP_JUMP || op == OP_BRANCH || (op_info[op].flags & PURE);
    }
    inst->foldable = pure;
    return v;
}

/* A call inside a call of the same function with arguments of the same types and constants. */
static Val call_running(Eval *e, const CallSite *site, Instance *inst, const Callee *callee, const Val *args) {
    if (!e->building) {
        inst->recursive = true;
        return inst->assumed;
    }
    Recursion *r = recursion_of(e, inst);
    if (r->inst->result.ty) return call_again(e, site->span, r, callee, args);
    return e_fail(e, site->span, "let it return without that call where it ends", DIAG_RECURSION, inst->f->name);
}

static Val call_new(Eval *e, Instance *inst, const Callee *callee, const Val *args) {
    if (!e->building || inst->foldable) return inst->result;
    return build_call(e, inst, callee, args);
}

/* Threads of other libraries may have small stacks. */
static bool stack_ends(const Eval *e) {
    return e->depth >= FEW_CALLS && e->host->stack_left && e->host->stack_left(e->host->self) < STACK_OF_CALL;
}

/* A recursion that constants would end, but not soon: they are taken as run-time values. */
static Val too_deep(Eval *e, const CallSite *site, const PyFunc *f, uint32_t n, const Val *args) {
    if (!e->building && widen_recursion(e, f, n, args)) return val_poison(e);
    return e_fail(e, site->span, NULL, DIAG_TOO_DEEP, (unsigned)MAX_DEPTH, f->name);
}

Val call_python(Eval *e, const CallSite *site, const Callee *callee, Val fn, uint32_t n, const Val *args) {
    const PyFunc *f = func_for(e, callee->code);
    if (e->restart) return val_poison(e);
    if (!f) { /* what can't be translated was reported at the first call */
        if (!e->diags->nerrors) e_fail(e, site->span, NULL, DIAG_NO_CODE, site->name);
        return val_poison(e);
    }
    Val *bound;
    if (!bind_python(e, site, callee, fn, f, n, args, &bound)) return val_poison(e);
    Declared declared = declared_types(e, callee, f->params.n, bound);
    for (uint32_t i = 0; declared.types && i < f->params.n; i++)
        if (!convert_declared(e, site, declared, i + 1, &bound[i], numba_call_text(e, f, n, args)))
            return val_poison(e);
    widen_arguments(e, f, f->params.n, bound);
    Instance *running = running_instance(e, f, callee, f->params.n, bound);
    if (running) return declared_result(e, site, declared, call_running(e, site, running, callee, bound));
    if (!e->building && recursion_multiplies(e, f) && widen_recursion(e, f, f->params.n, bound)) return val_poison(e);
    if (e->depth >= MAX_DEPTH) return too_deep(e, site, f, f->params.n, bound);
    if (stack_ends(e))
        return e_fail(e, site->span, "compile it in a thread with a larger stack", DIAG_TOO_DEEP, (unsigned)e->depth,
                      f->name);
    if (e->building && ++e->calls > MAX_CALLS)
        return e_fail(e, site->span, "write a loop", DIAG_TOO_MANY_CALLS, (unsigned)MAX_CALLS, f->name);
    Instance *inst = infer_instance(e, f, callee, f->params.n, bound);
    return declared_result(e, site, declared, call_new(e, inst, callee, bound));
}

/* ---- other callables --------------------------------------------------------------------------------- */
static bool any_poison(uint32_t n, const Val *args) {
    for (uint32_t i = 0; i < n; i++)
        if (val_poisoned(args[i])) return true;
    return false;
}

/* Does the function, which takes numbers, get arrays, whose elements it works on? */
static bool maps(const DevFn *fn, uint32_t n, const Val *args) {
    bool elements = fn->kind == DEV_EACH || (fn->kind == DEV_FN && strncmp(fn->path, "numpy.", 6) == 0), many = false;
    for (uint32_t i = 0; i < n; i++) many |= val_is_many(args[i]);
    return elements && many;
}

/* A ufunc's parameters, by its signature "(x1, x2)"; 0: it has optional ones. */
static uint32_t operands(const DevFn *fn) {
    if (strncmp(fn->path, "numpy.", 6) || fn->kind != DEV_FN || !fn->signature || strpbrk(fn->signature, "=.*"))
        return 0;
    uint32_t n = 1;
    for (const char *c = fn->signature; *c; c++) n += *c == ',';
    return n;
}

/* np.sin(x, out), np.add(x, y, out=out): the last argument is an array that gets the results. */
static bool has_out(const CallSite *site, const DevFn *fn, uint32_t n, const Val *args) {
    uint32_t takes = operands(fn);
    bool named = site->nkw == 1 && strcmp(site->kwnames[0], "out") == 0;
    return takes && n == takes + 1 && (site->nkw == 0 || named) && ty_is(args[n - 1].ty, TY_ARRAY);
}

static Val call_into(Eval *e, const CallSite *site, const DevFn *fn, uint32_t n, const Val *args) {
    CallSite s = *site;
    Val target = args[n - 1];
    s.nkw = 0;
    if (!array_writable(e, site->span, target)) return val_poison(e);
    Val v = call_devfn(e, &s, fn, n - 1, args);
    if (val_poisoned(v)) return v;
    array_assign(e, site->span, target, v);
    return target;
}

Val call_devfn(Eval *e, const CallSite *site, const DevFn *fn, uint32_t n, const Val *args) {
    if (has_out(site, fn, n, args)) return call_into(e, site, fn, n, args);
    CallSite s = *site;
    s.fn = fn;
    if (e->lists) {
        Val *now = ARENA_ARRAY(e->arena, Val, n + 1), made = call_with_lists(e, &s, fn, n, args, now);
        if (made.ty) return made;
        args = now;
    }
    if (maps(fn, n, args)) {
        s.arg_spans = NULL;
        return array_map(e, site->span, (ExprOp){EXPR_CALL, 0, &s}, n, args);
    }
    bool kept = e->keep_products;
    e->keep_products = true; /* what a function is made of rounds as it is written */
    Val v = fn->call(e, &s, n, args);
    e->keep_products = kept;
    return v;
}

static Val construct(Eval *e, const CallSite *site, DType d, uint32_t n, const Val *args) {
    if (n == 0) return val_convert(e, val_int(e, 0), SCALAR(d, false));
    if (n > 1) return e_fail(e, site->span, NULL, DIAG_TOO_MANY_ARGS, site->name, 1, n);
    if (args[0].ty->kind == TY_INSTANCE) { /* its class says what number it is */
        Val number = instance_number(e, site->span, args[0], dt_is_int(d) ? "__int__" : "__float__");
        if (number.ty) return val_poisoned(number) ? number : construct(e, site, d, 1, &number);
    }
    if (!val_is_scalar(args[0])) return e_fail(e, site->span, NULL, DIAG_ARG_TYPE, site->name, e_text(e, args[0]));
    if (dt_is_complex(val_dtype(args[0])) && !dt_is_complex(d) && d != DT_BOOL)
        return e_fail(e, site->span, "take .real, .imag or abs(...)", DIAG_COMPLEX_TO_REAL, e_text(e, args[0]),
                      dtype_info[d].name);
    Wide i;
    if (!e_numba(e) && args[0].ty->weak && args[0].ty->dtype == DT_I64 && val_as_int(args[0], &i) && dt_is_int(d) &&
        !dt_fits(d, i))
        return e_fail(e, site->span, NULL, DIAG_CONST_DOES_NOT_FIT, wide_text(e->arena, i), dtype_info[d].name);
    return val_convert(e, args[0], SCALAR(d, false));
}

static bool is_numpy_dtype(Eval *e, HostRef cls) {
    HostRef numpy = e->host->import(e->host->self, "numpy"),
            dtype = numpy ? e->host->attr(e->host->self, numpy, "dtype") : NULL;
    return dtype && e->host->same(e->host->self, dtype, cls);
}

static Val named_tuple(Eval *e, const CallSite *site, HostRef cls, HostRef names, uint32_t count, uint32_t n,
                       const Val *args) {
    const Host *h = e->host;
    HostRef defaults = h->attr(h->self, cls, "_field_defaults");
    const char **fields = ARENA_ARRAY(e->arena, const char *, count + 1),
               **params = ARENA_ARRAY(e->arena, const char *, count + 1);
    HostRef *value = ARENA_ARRAY(e->arena, HostRef, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        HostInfo name;
        memset(&name, 0, sizeof name);
        HostRef field = h->item(h->self, names, i);
        h->info(h->self, field, &name);
        fields[i] = name.text ? name.text : "?";
        value[i] = defaults ? h->lookup(h->self, defaults, field) : NULL;
        params[i] = value[i] ? arena_printf(e->arena, "?%s", fields[i]) : fields[i];
    }
    Val *items = ARENA_ARRAY(e->arena, Val, count + 1);
    if (!call_bind(e, site, n, args, count, params, items)) return val_poison(e);
    for (uint32_t i = 0; i < count; i++)
        if (!items[i].ty) items[i] = val_object(e, value[i]);
    return (Val){.ty = ty_composite(e->types, TY_TUPLE, 0, count, items, cls, NULL, fields), .items = items};
}

/* A named tuple's class has _fields; what other classes make are members of enums, exceptions and instances. */
static Val call_class(Eval *e, const CallSite *site, HostRef cls, const HostInfo *info, uint32_t n, const Val *args) {
    HostInfo fields;
    memset(&fields, 0, sizeof fields);
    const char *numbas = numba_help_for(e, cls);
    if (numbas) return e_fail(e, site->span, numbas, DIAG_NOT_IN_KERNEL, site->name);
    if (info->is_exception)
        return (Val){.ty = ty_composite(e->types, TY_EXCEPTION, 0, n, args, cls, info->text, NULL), .items = args};
    HostRef tuple = val_builtin(e, "tuple");
    bool named = tuple && e->host->subclass(e->host->self, cls, tuple);
    HostRef names = named ? e->host->attr(e->host->self, cls, "_fields") : NULL;
    if (!names || !e->host->info(e->host->self, names, &fields) || fields.kind != HOST_TUPLE) {
        bool members = is_enum_class(e, (Val){.ty = ty_object(e->types, cls)});
        Val v = members ? call_constant(e, cls, n, args) : make_instance(e, site, cls, n, args);
        if (v.ty) return v;
        if (members)
            return e_fail(e, site->span, "compare with the values of the members", DIAG_MEMBER_CONSTANT, site->name);
        return e_fail(e, site->span, suggest_instead(site->name), DIAG_NOT_IN_KERNEL, site->name);
    }
    return named_tuple(e, site, cls, names, (uint32_t)fields.n, n, args);
}

/* A call whose first argument isn't in the source. */
typedef struct MethodCall {
    CallSite site;
    uint32_t n;
    const Val *args;
} MethodCall;

static MethodCall with_self(Eval *e, const CallSite *site, Val self, uint32_t n, const Val *args) {
    Val *all = ARENA_ARRAY(e->arena, Val, n + 1);
    all[0] = self;
    vals_copy(all + 1, args, n);
    MethodCall call = {*site, n + 1, all};
    call.site.arg_spans = NULL;
    return call;
}

/* An object that is called, by its class's __call__. */
static Val call_special(Eval *e, const CallSite *site, Val fn, uint32_t n, const Val *args) {
    HostRef cls = fn.ty->kind == TY_INSTANCE ? fn.ty->obj : e->host->attr(e->host->self, fn.ty->obj, "__class__");
    HostRef call = cls ? e->host->class_attr(e->host->self, cls, NULL, "__call__") : NULL;
    bool instance = fn.ty->kind == TY_INSTANCE;
    const char *numbas = numba_help_for(e, cls);
    HostInfo info;
    memset(&info, 0, sizeof info);
    if (numbas || !call || !e->host->info(e->host->self, call, &info) || info.kind != HOST_FUNCTION) {
        const char *help = numbas ? numbas : instance ? NULL : suggest_instead(site->name);
        Diag *d = e_diag(e, site->span, instance ? DIAG_NOT_CALLABLE : DIAG_NOT_IN_KERNEL,
                         instance ? e_text(e, fn) : site->name);
        if (d && help) diag_help(e->diags, d, "%s", dialect_text(e->arena, e->dialect, help));
        if (numbas)
            e_numba_says(e, d, "Untyped global name '%s': Cannot determine Numba type of its class", site->name);
        else numba_of_method(e, d, fn.ty->obj);
        return val_poison(e);
    }
    MethodCall m = with_self(e, site, fn, n, args);
    return call_python(e, &m.site, &(Callee){.code = call, .globals = call}, (Val){.ty = ty_object(e->types, call)},
                       m.n, m.args);
}

static Val no_dtype(Eval *e, const CallSite *site, const char *name) {
    Diag *d = e_diag(e, site->span, DIAG_ARG_VALUE, site->name,
                     arena_printf(e->arena, "kernels have no values of dtype '%s'", name));
    e_help(e, d, "%s", "a dtype is written np.float32 or \"float32\"");
    numba_untyped(e, d, site->span);
    return val_poison(e);
}

static Val call_object(Eval *e, const CallSite *site, Val fn, uint32_t n, const Val *args) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    HostRef obj = fn.ty->obj;
    DType d;
    const char *name;
    if (n == 1 && val_dtype_named(e, args[0], &d) && is_numpy_dtype(e, obj)) return (Val){.ty = ty_dtype(e->types, d)};
    if (n == 1 && val_as_str(e, args[0], &name) && is_numpy_dtype(e, obj)) return no_dtype(e, site, name);
    if (!e->host->info(e->host->self, obj, &info)) return val_poison(e);
    Val chosen;
    bool own = info.kind == HOST_NAMED && devfn_find(info.path);
    if (call_overload(e, site, obj, own, n, args, &chosen)) return chosen;
    switch (info.kind) {
    case HOST_FUNCTION: return call_python(e, site, &(Callee){.code = obj, .globals = obj}, fn, n, args);
    case HOST_FOREIGN: return call_foreign(e, site, obj, n, args);
    case HOST_CLASS: return call_class(e, site, obj, &info, n, args);
    case HOST_NAMED: {
        const DevFn *named = devfn_find(info.path);
        if (named) return call_devfn(e, site, named, n, args);
        const char *help = group_help(e, fn, suggest_instead(site->name));
        return e_fail(e, site->span, help, DIAG_NOT_IN_KERNEL, site->name);
    }
    case HOST_OTHER: return call_special(e, site, fn, n, args);
    default: return e_fail(e, site->span, NULL, DIAG_NOT_CALLABLE, ty_text(e->types, fn.ty));
    }
}

Val eval_call(Eval *e, const CallSite *site, Val fn, uint32_t n, const Val *args) {
    if (val_poisoned(fn) || any_poison(n, args)) return val_poison(e);
    switch (fn.ty->kind) {
    case TY_DTYPE:
        if (!fn.ty->record) return construct(e, site, val_dtype(fn), n, args);
        return e_fail(e, site->span, NULL, DIAG_NOT_CALLABLE, ty_text(e->types, fn.ty));
    case TY_OBJECT: return call_object(e, site, fn, n, args);
    case TY_PARTIAL: return call_partial(e, site, fn, n, args);
    case TY_CHOICE: return choice_call(e, site, fn, n, args);
    case TY_INSTANCE: return call_special(e, site, fn, n, args);
    case TY_FUNCTION: {
        Callee c = {.code = fn.ty->obj, .globals = fn.items[3].ty->obj, .closure = fn.items[2], .self = fn};
        return call_python(e, site, &c, fn, n, args);
    }
    case TY_METHOD: {
        MethodCall m = with_self(e, site, fn.items[0], n, args);
        if (fn.ty->obj) return call_object(e, &m.site, (Val){.ty = ty_object(e->types, fn.ty->obj)}, m.n, m.args);
        return call_devfn(e, &m.site, devfn_find(fn.ty->name), m.n, m.args);
    }
    default:
        return e_fail(e, site->span,
                      val_is_scalar(fn)         ? "a number isn't a function: is a * missing?"
                      : fn.ty->kind == TY_TUPLE ? "a tuple isn't a function: no ( ) behind x.shape, [ ] for an item"
                      : fn.ty->kind == TY_ARRAY ? "an array isn't a function: its elements are x[i]"
                                                : NULL,
                      DIAG_NOT_CALLABLE, ty_text(e->types, fn.ty));
    }
}
