/* step.c - one instruction of Python SSA on values: what inference and building have in common. */
#include "arrays.h"
#include "suggest.h"

#include <string.h>

typedef struct Step {
    Eval *e;
    Frame *fr;
    const PyInstr *in;
    PySpan span;
} Step;

/* What takes the items of a generator expression at once, or checks that it may (CALL). */
static bool takes_items(unsigned op) {
    return op == PY_CALL || op == PY_CALL_EX || op == PY_LIST_EXTEND || op == PY_SET_UPDATE || op == PY_TO_TUPLE ||
           op == PY_UNPACK_ITEM || op == PY_UNPACK_EX || op == PY_CONTAINS || op == PY_GEN_PLACE;
}

/* A list that changes is taken as its items at that moment. */
static bool takes_list_items(const PyInstr *in, uint32_t i) {
    switch ((PyOp)in->op) {
    case PY_UNPACK_ITEM:
    case PY_UNPACK_EX:
    case PY_TO_TUPLE:
    case PY_LIST_EXTEND:
    case PY_SET_UPDATE:
    case PY_CALL_EX:
    case PY_MATCH_SEQ: return true;
    case PY_SUBSCR:
    case PY_STORE_SUBSCR: return i == 1;
    default: return false;
    }
}

/* Operand number i; 0 gives an absent value. */
static Val arg(const Step *s, uint32_t i) {
    PyRef r = i < s->in->nargs ? s->in->args[i] : 0;
    if (!r) return (Val){0};
    const PyInstr *made = &s->fr->inst->f->instrs.at[r];
    if (made->op == PY_GEN_PLACE && !takes_items(s->in->op))
        return e_fail(s->e, made->span, "make it a list: [ ]", DIAG_CONSTRUCT,
                      "a generator expression that no call takes at once", "a kernel has no suspended code");
    check_defined(s->e, s->fr, s->in->block, r, s->span);
    Val v = s->fr->vals[r];
    bool unpacked = s->in->op == PY_UNPACK_ITEM && v.ty && list_grows(v);
    if (v.ty && v.ty->kind == TY_LIST && !unpacked && takes_list_items(s->in, i)) return list_now(s->e, s->span, v);
    return v.ty && v.ty->kind == TY_UNDEF ? val_poison(s->e) : v;
}

/* The same where a value is needed: what may be None raises if it is. */
static Val needed(const Step *s, uint32_t i) {
    Val v = arg(s, i);
    if (!v.ty || v.ty->kind != TY_MAYBE) return v;
    return maybe_value(s->e, s->span, v, maybe_is_known(s->fr, s->in->block, s->in->args[i]));
}

static Val arg_or_none(const Step *s, uint32_t i) {
    Val v = arg(s, i);
    return v.ty ? v : val_none(s->e);
}

/* All operands from `first` on; false: one of them is POISON. */
static bool args_from(const Step *s, uint32_t first, Val **out) {
    bool ok = true;
    *out = ARENA_ARRAY(s->e->arena, Val, s->in->nargs + 1u);
    for (uint32_t i = first; i < s->in->nargs; i++) {
        (*out)[i - first] = arg_or_none(s, i);
        ok &= !val_poisoned((*out)[i - first]);
    }
    return ok;
}

static Val refuse(const Step *s, const char *what, const char *why, const char *help) {
    return e_fail(s->e, s->span, help, DIAG_CONSTRUCT, what, why);
}

static Val val_function(Eval *e, HostRef code, const Val items[3]) {
    Val *kept = ARENA_ARRAY(e->arena, Val, 4);
    vals_copy(kept, items, 3);
    kept[3] = (Val){.ty = ty_object(e->types, e->frame->inst->callee.globals)};
    return (Val){.ty = ty_composite(e->types, TY_FUNCTION, 0, 4, kept, code, NULL, NULL), .items = kept};
}

/* ---- names ------------------------------------------------------------------------------------------- */
static Val step_global(const Step *s) {
    Eval *e = s->e;
    HostRef r = e->host->global(e->host->self, s->fr->inst->callee.globals, s->in->name);
    if (r) return val_object(e, r);
    const PyFunc *f = s->fr->inst->f;
    Suggestion near = {.name = s->in->name};
    suggest_among(&near, f->nvarnames, f->varnames);
    const char *help = suggest_home(e->arena, e->dialect, s->in->name);
    suggest_devfn(&near, e->arena, "builtins.");
    return e_fail(e, s->span, help ? help : suggest_help(e->arena, &near), DIAG_NO_NAME, s->in->name);
}

/* The inner function that is running, with what it has captured. */
static Val own_function(const Step *s, Val closure) {
    Val self = s->fr->self.ty ? s->fr->self : s->fr->inst->callee.self;
    Val items[3] = {self.items[0], self.items[1], closure};
    return val_function(s->e, self.ty->obj, items);
}

static Val shared_value(const Step *s, Val place) {
    Val v = mutable_get(s->e, s->span, place, s->in->name);
    return v.ty ? v : e_fail(s->e, s->span, NULL, DIAG_NEVER_ASSIGNED, s->in->name);
}

/* Of variables that inner functions change (pyshare.c). */
static Val step_shared(const Step *s) {
    Eval *e = s->e;
    if (s->in->op == PY_SHARED) return mutable_new(e, TY_SHARED_VAR, NULL, 0, NULL);
    Val place = arg(s, 0);
    if (val_poisoned(place)) return place;
    if (s->in->op == PY_SHARED_GET) return shared_value(s, place);
    Val v = arg(s, 1);
    if (val_poisoned(v)) return v;
    if (place.ty->kind != TY_SHARED_VAR)
        return refuse(s, "an assignment to a nonlocal variable here",
                      "a variable outside of the kernel is a constant of it",
                      "make the variable in the kernel, or write the result into an array");
    v = mutable_set(e, s->span, place, s->in->name, v, s->in->imm == 1, (Val){0});
    return val_poisoned(v) ? v : val_none(e);
}

static Val step_closure(const Step *s) {
    Eval *e = s->e;
    const Callee *c = &s->fr->inst->callee;
    if (!c->closure.ty) {
        HostRef r = e->host->closure(e->host->self, c->code, s->in->name);
        return r ? val_object(e, r) : e_fail(e, s->span, NULL, DIAG_NO_FREE, s->in->name);
    }
    HostCode code;
    memset(&code, 0, sizeof code);
    if (!e->host->code(e->host->self, c->code, &code)) return val_poison(e);
    Val closure = s->fr->closure.ty ? s->fr->closure : c->closure;
    for (size_t i = 0; i < code.nfreevars && closure.ty->kind == TY_TUPLE && i < closure.ty->n; i++) {
        if (strcmp(code.freevars[i], s->in->name) != 0) continue;
        bool place = closure.items[i].ty->kind == TY_SHARED_VAR;
        if (place && s->in->imm != 1) return shared_value(s, closure.items[i]);
        bool itself = closure.items[i].ty->kind == TY_NONE && strcmp(code.name, s->in->name) == 0;
        return itself ? own_function(s, closure) : closure.items[i];
    }
    return e_fail(e, s->span, NULL, DIAG_NO_FREE, s->in->name);
}

static Val step_import(const Step *s) {
    Eval *e = s->e;
    HostRef r = e->host->import(e->host->self, s->in->name);
    return r ? val_object(e, r) : e_fail(e, s->span, NULL, DIAG_NO_MODULE, s->in->name);
}

/* ---- displays ---------------------------------------------------------------------------------------- */
static Val step_tuple(const Step *s) {
    Val *items;
    return args_from(s, 0, &items) ? val_tuple(s->e, s->in->nargs, items) : val_poison(s->e);
}

/* Defaults of an inner function's keyword-only parameters come as a dict, which nobody wrote. */
static bool is_defaults(const Step *s) {
    const PyFunc *f = s->fr->inst->f;
    for (PyRef r = 1; r < f->instrs.n; r++) {
        const PyInstr *in = &f->instrs.at[r];
        if (in->op == PY_FUNCTION && &f->instrs.at[in->args[1]] == s->in) return true;
    }
    return false;
}

/* Programs for Numba count on being told of what it doesn't compile. */
static Val step_map(const Step *s) {
    Val *kv, d = dict_of(s->e, 0, NULL);
    if (e_numba(s->e) && s->in->nargs && !is_defaults(s))
        return e_fail(s->e, s->span, "make the dict outside of the kernel, where its keys and values are constants",
                      DIAG_CONSTRUCT, "a dict", "cuda.jit makes none; gpu.jit does");
    if (!args_from(s, 0, &kv)) return val_poison(s->e);
    for (uint32_t i = 0; i + 1u < s->in->nargs; i += 2) d = dict_with(s->e, s->span, d, kv[i], kv[i + 1]);
    return d;
}

static bool is_only_tested(const Step *s) {
    const PyFunc *f = s->fr->inst->f;
    for (PyRef r = 1; r < f->instrs.n; r++) {
        const PyInstr *in = &f->instrs.at[r];
        for (uint32_t k = 0; k < in->nargs; k++)
            if (&f->instrs.at[in->args[k]] == s->in && !(in->op == PY_CONTAINS && k == 1)) return false;
    }
    return true;
}

static Val step_set(const Step *s) {
    Val *items, set = set_marked(s->e, val_tuple(s->e, 0, NULL));
    if (!args_from(s, 0, &items)) return val_poison(s->e);
    bool only_tested = is_only_tested(s);
    for (uint32_t i = 0; i < s->in->nargs; i++) set = set_with(s->e, s->span, set, items[i], only_tested);
    return set;
}

static Val step_set_update(const Step *s) {
    Val set = arg(s, 0), items = arg(s, 1);
    if (val_poisoned(set) || val_poisoned(items)) return val_poison(s->e);
    items = sequence_items(s->e, s->span, val_items(s->e, items));
    if (val_poisoned(items) || items.ty->kind != TY_TUPLE)
        return e_fail(s->e, s->span, "unpack a tuple", DIAG_NOT_UNPACKABLE, e_text(s->e, items));
    for (uint32_t i = 0; i < items.ty->n; i++) set = set_with(s->e, s->span, set, items.items[i], false);
    return set;
}

/* The items of a list or a tuple, and more of them. */
static Val with_items(const Step *s, Val a, uint32_t n, const Val *items) {
    Val more = val_tuple(s->e, n, items);
    return eval_binary(s->e, s->span, PYB_ADD, a, val_is_list(a) ? list_marked(s->e, more) : more);
}

/* f(*t, x); in a comprehension the length differs between iterations, and the PHI reports it. */
static Val step_append(const Step *s) {
    Val a = arg(s, 0), item = arg(s, 1);
    if (val_poisoned(a) || val_poisoned(item)) return val_poison(s->e);
    if (a.ty->kind == TY_LIST) {
        Val done = list_append(s->e, s->span, a, item);
        return val_poisoned(done) ? done : a;
    }
    if (a.ty->kind != TY_TUPLE) return e_fail(s->e, s->span, NULL, DIAG_NOT_UNPACKABLE, e_text(s->e, a));
    return with_items(s, a, 1, &item);
}

static Val step_extend(const Step *s) {
    Val a = arg(s, 0), b = arg(s, 1);
    if (val_poisoned(a) || val_poisoned(b)) return val_poison(s->e);
    if (a.ty->kind == TY_TUPLE && b.ty->kind == TY_ARRAY) b = sequence_items(s->e, s->span, b);
    if (val_poisoned(b)) return b;
    if (a.ty->kind == TY_TUPLE && b.ty->kind == TY_TUPLE) return with_items(s, a, b.ty->n, b.items);
    return e_fail(s->e, s->span, "unpack a tuple", DIAG_NOT_UNPACKABLE, e_text(s->e, b));
}

/* ---- unpacking --------------------------------------------------------------------------------------- */

static const char *unpack_help(const Step *s, Val v, bool range) {
    uint32_t n = s->in->imm2;
    if (range) return "its length isn't known when compiling";
    if (!val_is_scalar(v) || n < 2 || n > 3) return NULL;
    return arena_printf(s->e->arena, "it is one number; gpu.grid(%u) gives %u", n, n);
}

/* As Python says it. */
static void check_count(const Step *s, Val n) {
    Eval *e = s->e;
    Ref wanted = e_int(e, T_I64, s->in->imm2);
    e_raise_if(e, s->span, e_cmp(e, PRED_LT, val_ref(e, n), wanted), "ValueError",
               arena_printf(e->arena, "not enough values to unpack (expected %u)", s->in->imm2));
    e_raise_if(e, s->span, e_cmp(e, PRED_LT, wanted, val_ref(e, n)), "ValueError",
               arena_printf(e->arena, "too many values to unpack (expected %u)", s->in->imm2));
}

/* An array, whose length may be known at run time only, or a range of constants unpacks item by item. */
static Val unpack_sequence(const Step *s, Val v) {
    Eval *e = s->e;
    bool array = (v.ty->kind == TY_ARRAY && v.ty->ndim) || list_grows(v), range = v.ty->kind == TY_RANGE;
    Val n = array || range ? eval_len(e, s->span, v) : (Val){0};
    Wide len;
    bool known = (array || range) && val_as_int(n, &len);
    if (!array && !known) return e_fail(e, s->span, unpack_help(s, v, range), DIAG_NOT_UNPACKABLE, e_text(e, v));
    if (known && len != s->in->imm2) return e_fail(e, s->span, NULL, DIAG_UNPACK_COUNT, (unsigned)len, s->in->imm2);
    if (!known && s->in->imm == 0) check_count(s, n);
    return eval_getitem(e, s->span, v, val_int(e, s->in->imm));
}

static Val step_unpack(const Step *s) {
    Val v = needed(s, 0);
    if (val_poisoned(v)) return v;
    v = val_items(s->e, v);
    if (!val_poisoned(v) && v.ty->kind != TY_ARRAY) v = sequence_items(s->e, s->span, v);
    if (val_poisoned(v)) return v;
    if (v.ty->kind != TY_TUPLE) return unpack_sequence(s, v);
    if (v.ty->n != s->in->imm2) return e_fail(s->e, s->span, NULL, DIAG_UNPACK_COUNT, v.ty->n, s->in->imm2);
    return v.items[s->in->imm];
}

static Val step_unpack_ex(const Step *s) {
    Val v = needed(s, 0);
    uint32_t before = s->in->imm2 >> 16, after = s->in->imm2 & 0xffff, i = s->in->imm;
    if (val_poisoned(v)) return v;
    v = sequence_items(s->e, s->span, val_items(s->e, v));
    if (val_poisoned(v)) return v;
    if (v.ty->kind != TY_TUPLE) return e_fail(s->e, s->span, NULL, DIAG_NOT_UNPACKABLE, e_text(s->e, v));
    if (v.ty->n < before + after) return e_fail(s->e, s->span, NULL, DIAG_UNPACK_COUNT, v.ty->n, before + after);
    if (i == before) return list_given(s->e, val_tuple(s->e, v.ty->n - before - after, v.items + before));
    return v.items[i < before ? i : v.ty->n - after + (i - before - 1)];
}

/* ---- calls ------------------------------------------------------------------------------------------- */

/* A callee as the source spells it: "np.sin"; NULL: it has no name. */
static const char *callee_name(const Step *s, PyRef r) {
    const PyInstr *in = &s->fr->inst->f->instrs.at[r];
    if (in->op == PY_ATTR) {
        const char *of = callee_name(s, in->args[0]);
        return of ? arena_printf(s->e->arena, "%s.%s", of, in->name) : in->name;
    }
    return in->name;
}

static const char *callee_text(const Step *s) {
    const char *name = callee_name(s, s->in->args[0]);
    if (name) return name;
    return s->fr->inst->f->instrs.at[s->in->args[0]].op == PY_FUNCTION ? "<lambda>" : "this";
}

/* Functions written in Python take what may be None. */
static bool takes_none(const Step *s, Val fn) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    if (fn.ty->kind == TY_DTYPE || (fn.ty->kind == TY_METHOD && !fn.ty->obj)) return false;
    if (fn.ty->kind != TY_OBJECT || !s->e->host->info(s->e->host->self, fn.ty->obj, &info)) return true;
    return info.kind != HOST_NAMED && info.kind != HOST_FOREIGN;
}

/* What may be None is taken for a value, except by what looks at None itself. */
static bool need_all(const Step *s, Val fn, uint32_t n, Val *args) {
    Eval *e = s->e;
    const DevFn *row = devfn_of(e, fn);
    bool looks = row && row->kind == DEV_NONE;
    for (uint32_t i = 0; i < n; i++) {
        if (args[i].ty->kind != TY_MAYBE) continue;
        bool known = maybe_is_known(s->fr, s->in->block, s->in->args[i + 1]);
        if (looks && !known) {
            e_fail(e, s->span, "test it with `is None` first", DIAG_ARG_TYPE, callee_text(s), e_text(e, args[i]));
            return false;
        }
        args[i] = maybe_value(e, s->span, args[i], known);
    }
    return true;
}

static bool is_function(Val v) {
    return v.ty->kind == TY_FUNCTION || v.ty->kind == TY_PARTIAL || v.ty->kind == TY_METHOD;
}

/* Arguments that are generator expressions: what takes them, and what Python does meanwhile. `before`: how many
 * operations the kernel had before the call, after its arguments. */
static bool generators_in_order(const Step *s, Val fn, const Val *args, uint32_t before, bool called) {
    const PyInstr *instrs = s->fr->inst->f->instrs.at;
    bool calls = false;
    for (uint32_t k = 1; called && k < s->in->nargs; k++) calls |= is_function(args[k - 1]);
    for (uint32_t k = 1; s->e->building && k < s->in->nargs; k++) {
        PyRef place = s->in->args[k];
        if (instrs[place].op != PY_GEN_PLACE) continue;
        if (!called && !generator_taker(s->e, instrs[place].span, fn)) return false;
        uint32_t begin = called ? before : s->fr->marks[place];
        if ((!called || calls) && !generator_in_order(s->e, instrs[place].span, place, begin)) return false;
    }
    return true;
}

/* The a[mask] that an attribute or a call takes the elements of, to make a number of them; 0: it takes something else.
 */
static PyRef masked_operand(const Step *s, const char **name) {
    const PyInstr *instrs = s->fr->inst->f->instrs.at;
    PyRef r = s->in->op == PY_CALL && s->in->nargs == 2 ? s->in->args[1] : s->in->args[0];
    if (s->in->op == PY_CALL && instrs[r].op == PY_ATTR) r = instrs[r].args[0];
    if (instrs[r].op != PY_SUBSCR || !is_mask(s->fr->vals[instrs[r].args[0]], s->fr->vals[instrs[r].args[1]])) return 0;
    *name = mask_reduced(s->e, s->fr, r);
    return *name ? r : 0;
}

static Val step_mask(const Step *s, PyRef r, const char *name) {
    const PyInstr *in = &s->fr->inst->f->instrs.at[r];
    return mask_number(s->e, s->span, name, s->fr->vals[in->args[0]], s->fr->vals[in->args[1]]);
}

static Val step_call(const Step *s) {
    Eval *e = s->e;
    const char *reducer;
    PyRef masked = masked_operand(s, &reducer);
    if (masked) return step_mask(s, masked, reducer);
    uint32_t n = s->in->nargs - 1u;
    Val fn = needed(s, 0), *args;
    bool ok = args_from(s, 1, &args);
    if (!ok || val_poisoned(fn)) return val_poison(e);
    if (!takes_none(s, fn) && !need_all(s, fn, n, args)) return val_poison(e);
    PySpan *spans = ARENA_ARRAY(e->arena, PySpan, n + 1);
    for (uint32_t i = 0; i < n; i++) spans[i] = s->fr->inst->f->instrs.at[s->in->args[i + 1]].span;
    CallSite site = {.span = s->span,
                     .name = callee_text(s),
                     .kwnames = s->in->kwnames.at,
                     .nkw = s->in->kwnames.n,
                     .arg_spans = spans,
                     .at = s->in};
    uint32_t before = e->building ? e->m->instrs.n : 0;
    if (!generators_in_order(s, fn, args, before, false)) return val_poison(e);
    Val v = eval_call(e, &site, fn, n, args);
    return generators_in_order(s, fn, args, before, true) ? v : val_poison(e);
}

static Val step_call_ex(const Step *s) {
    Eval *e = s->e;
    Val fn = arg(s, 0), pos = arg(s, 1), kw = arg_or_none(s, 2);
    if (val_poisoned(fn) || val_poisoned(pos) || val_poisoned(kw)) return val_poison(e);
    pos = sequence_items(e, s->span, val_items(e, pos));
    kw = dict_known(e, kw);
    if (val_poisoned(pos) || val_poisoned(kw)) return val_poison(e);
    if (pos.ty->kind != TY_TUPLE) return e_fail(e, s->span, "unpack a tuple", DIAG_NOT_UNPACKABLE, e_text(e, pos));
    if (kw.ty->kind != TY_DICT && kw.ty->kind != TY_NONE)
        return e_fail(e, s->span, NULL, DIAG_NOT_UNPACKABLE, e_text(e, kw));
    uint32_t nkw = kw.ty->n / 2;
    Val *args = ARENA_ARRAY(e->arena, Val, pos.ty->n + nkw + 1);
    const char **names = ARENA_ARRAY(e->arena, const char *, nkw + 1);
    for (uint32_t i = 0; i < pos.ty->n; i++) args[i] = pos.items[i];
    for (uint32_t i = 0; i < nkw; i++) {
        args[pos.ty->n + i] = kw.items[2 * i + 1];
        if (!val_as_str(e, kw.items[2 * i], &names[i]))
            return e_fail(e, s->span, "keywords are strings", DIAG_NOT_UNPACKABLE, e_text(e, kw));
    }
    CallSite site = {.span = s->span, .name = callee_text(s), .kwnames = names, .nkw = nkw, .at = s->in};
    return eval_call(e, &site, fn, pos.ty->n + nkw, args);
}

static Val step_function(const Step *s) {
    Val items[3];
    for (uint32_t i = 0; i < 3; i++) {
        items[i] = arg_or_none(s, i);
        if (val_poisoned(items[i])) return items[i];
    }
    return val_function(s->e, s->in->obj, items);
}

Val eval_exception(Eval *e, PySpan span, Val v) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    if (val_poisoned(v) || v.ty->kind == TY_EXCEPTION) return v;
    if (v.ty->kind == TY_OBJECT && e->host->info(e->host->self, v.ty->obj, &info) && info.kind == HOST_CLASS &&
        info.is_exception)
        return (Val){.ty = ty_composite(e->types, TY_EXCEPTION, 0, 0, NULL, v.ty->obj, info.text, NULL)};
    return e_fail(e, span, "such as ValueError(\"what is wrong\")", DIAG_NOT_EXCEPTION, e_text(e, v));
}

/* ---- f-strings --------------------------------------------------------------------------------------- */
static Val step_string(const Step *s, bool format) {
    Val *items;
    if (!args_from(s, 0, &items)) return val_poison(s->e);
    if (!format) return eval_join(s->e, s->span, s->in->nargs, items);
    Val spec = s->in->nargs > 1 ? items[1] : (Val){0};
    return eval_format(s->e, s->span, "an f-string", (char)s->in->imm, items[0], spec);
}

/* ---- a float64 chain of Python numbers that ends in a float32 array ----------------------------------------- */
typedef struct Weak {
    const PyInstr *first;
    uint32_t ops, visits;
} Weak;

static void find_weak(const Step *s, PyRef r, Weak *w) {
    const PyInstr *in = &s->fr->inst->f->instrs.at[r];
    Val v = s->fr->inst->cell[r];
    if (!v.ty || v.ty->kind != TY_SCALAR || !v.ty->weak || val_const(v) || w->visits++ > 200) return;
    if (in->op == PY_BINARY || in->op == PY_UNARY || in->op == PY_PHI) {
        w->ops += in->op == PY_BINARY;
        for (uint32_t i = 0; i < in->nargs; i++) find_weak(s, in->args[i], w);
        return;
    }
    bool earlier = !w->first || in->span.line < w->first->span.line ||
                   (in->span.line == w->first->span.line && in->span.col < w->first->span.col);
    if (earlier) w->first = in;
}

static const char *source_of(const Step *s, const PyInstr *in) {
    if (in->op == PY_CALL) return arena_printf(s->e->arena, "%s(...)", callee_name(s, in->args[0]));
    return in->name ? in->name : in->op == PY_ITER_VALUE ? "range(...)" : in->op == PY_SUBSCR ? "shape" : "this number";
}

static void warn_widened(const Step *s, Val array, Val value) {
    DType d = val_dtype(array);
    if (!s->e->building || val_poisoned(value) || !val_is_scalar(value) || !value.ty->weak || val_const(value)) return;
    if (value.ty->dtype != DT_F64 || !dt_is_float(d) || d == DT_F64) return;
    Weak w = {0};
    find_weak(s, s->in->args[2], &w);
    if (!w.first || !w.ops) return;
    Diag *diag = e_diag(s->e, w.first->span, DIAG_WIDENS, source_of(s, w.first), dtype_info[d].name);
    e_help(s->e, diag, "start from %s: np.%s(...)", dtype_info[d].name, dtype_info[d].name);
}

/* The place of an operand: its own, or where the line names the variable. */
static PySpan operand_span(const Step *s, uint32_t i) {
    const PyFunc *f = s->fr->inst->f;
    const PyInstr *in = &f->instrs.at[s->in->args[i]];
    bool variable = in->op == PY_PARAM || in->op == PY_PHI || in->op == PY_UNDEF;
    if (!variable && in->span.col && in->span.line == s->span.line) return in->span;
    PySpan line = span_first_line(s->e, f, s->span);
    return variable && in->name ? span_of_name(s->e, f, line, in->name) : line;
}

/* Tells array indexing where the items of the subscript stand in the source. */
static void set_index_spans(const Step *s) {
    const PyFunc *f = s->fr->inst->f;
    const PyInstr *index = &f->instrs.at[s->in->args[1]];
    uint32_t n = index->op == PY_TUPLE ? index->nargs : 1;
    PySpan *spans = ARENA_ARRAY(s->e->arena, PySpan, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const PyInstr *item = index->op == PY_TUPLE ? &f->instrs.at[index->args[i]] : index;
        if (item->op != PY_PARAM) spans[i] = item->span;
        else if (item->name) spans[i] = span_of_name(s->e, f, span_first_line(s->e, f, s->span), item->name);
    }
    s->e->index_spans = spans;
    s->e->nindex_spans = n;
}

/* A list that is written there; of constants, Python extends an empty one by a tuple. */
bool is_list_display(const PyFunc *f, PyRef r) {
    const PyInstr *in = &f->instrs.at[r];
    return in->op == PY_LIST || (in->op == PY_LIST_EXTEND && is_list_display(f, in->args[0]));
}

/* A list as an index takes several rows in NumPy, where a tuple takes one element. Of integers index_takes() knows. */
static bool refuse_list(const Step *s, Val a, Val index) {
    if (a.ty->kind != TY_ARRAY || !val_is_list(index)) return false;
    const char *name;
    if (index.ty && index.ty->n && val_as_str(s->e, index.items[0], &name))
        e_fail(s->e, s->span, "name one field: a['x']", DIAG_CONSTRUCT, "a list as an index",
               "it takes several fields");
    else
        e_fail(s->e, s->span, "a tuple takes an element: a[i, j]; a list of integers takes rows", DIAG_CONSTRUCT,
               "a list as an index", "it takes several rows");
    return true;
}

static Val step_subscr(const Step *s) {
    Val a = needed(s, 0), i = list_items(s->e, needed(s, 1));
    if (val_poisoned(a) || val_poisoned(i)) return val_poison(s->e);
    if (index_takes(s->e, s->span, a, i)) return array_taken(s->e, s->span, a, i);
    if (refuse_list(s, a, i)) return val_poison(s->e);
    PyRef self = (PyRef)(s->in - s->fr->inst->f->instrs.at);
    if (is_mask(a, i) && mask_changes(s->fr, self)) return a;
    if (is_mask(a, i) && mask_reduced(s->e, s->fr, self)) return val_none(s->e); /* step_mask() knows */
    if (s->e->building) set_index_spans(s);
    Val v = eval_getitem(s->e, s->span, a, i);
    s->e->nindex_spans = 0;
    return v;
}

/* a[i] += v of several elements: the operator has changed them in place, and what is stored is the view itself. */
static bool stored_in_place(const Step *s, Val v) {
    const PyInstr *value = &s->fr->inst->f->instrs.at[s->in->args[2]];
    if (v.ty->kind != TY_ARRAY || value->op != PY_BINARY || !(value->imm & PYB_INPLACE)) return false;
    const PyInstr *view = &s->fr->inst->f->instrs.at[value->args[0]];
    return view->op == PY_SUBSCR && view->args[0] == s->in->args[0] && view->args[1] == s->in->args[1];
}

static void store(const Step *s, Val a, Val i, Val v) {
    Eval *e = s->e;
    if (index_takes(e, s->span, a, i)) {
        array_put_taken(e, s->span, a, i, v);
        return;
    }
    if (stored_in_place(s, v)) return;
    bool changed = s->fr->inst->f->instrs.at[s->in->args[2]].op == PY_BINARY && mask_operator(s->fr, s->in->args[2]);
    bool mask = is_mask(a, i), several = val_is_many(v) || v.ty->kind == TY_TUPLE;
    if (mask && (val_is_scalar(v) || changed)) {
        if (array_writable(e, s->span, a)) array_assign_masked(e, s->span, a, i, v);
    } else if (mask && several && a.ty->dtype != DT_RECORD) mask_put(e, s->span, a, i, v);
    else if (!refuse_list(s, a, i)) {
        if (e->building) set_index_spans(s);
        if (a.ty->kind == TY_ARRAY) warn_widened(s, a, v);
        eval_setitem(e, s->span, a, i, v);
        e->nindex_spans = 0;
    }
}

static Val step_store(const Step *s) {
    Val a = needed(s, 0), i = list_items(s->e, needed(s, 1)), v = needed(s, 2);
    if (val_poisoned(a) || val_poisoned(v) || val_poisoned(i)) return val_none(s->e);
    if (s->e->building) s->e->value_span = operand_span(s, 2);
    store(s, a, i, v);
    s->e->value_span = (PySpan){0};
    return val_none(s->e);
}

static Val step_slice(const Step *s) {
    Val items[3];
    for (uint32_t i = 0; i < 3; i++) {
        items[i] = arg_or_none(s, i);
        if (val_poisoned(items[i])) return items[i];
    }
    Val v = val_composite(s->e, TY_SLICE, 0, 3, items);
    Wide step = 1;
    bool bounds = items[0].ty->kind != TY_NONE && items[1].ty->kind != TY_NONE;
    if (bounds && (items[2].ty->kind == TY_NONE || val_as_int(items[2], &step)) &&
        !(val_const(items[0]) && val_const(items[1])))
        v.likely = likely_between(s->fr, s->in->args[0], s->in->args[1], step);
    return v;
}

static Val step_match_seq(const Step *s) {
    Val v = arg(s, 0);
    return val_poisoned(v) ? v : val_bool(s->e, (v.ty->kind == TY_TUPLE && !val_is_set(v)) || v.ty->kind == TY_RANGE);
}

/* r.x = value; `v` was read already, as the source has it: the value first */
static Val store_field(const Step *s, Val v) {
    Val value = needed(s, 1);
    if (val_poisoned(value)) return value;
    if (s->e->building) s->e->value_span = operand_span(s, 1);
    record_setattr(s->e, s->span, v, s->in->name, value);
    s->e->value_span = (PySpan){0};
    return val_none(s->e);
}

static Val step_store_attr(const Step *s) {
    Val v = needed(s, 0);
    if (val_poisoned(v)) return v;
    if (v.ty->kind == TY_RECORD || (v.ty->kind == TY_ARRAY && v.ty->record)) return store_field(s, v);
    Val value = arg(s, 1);
    return instance_with(s->e, s->span, v, s->in->name, value, s->in->imm != 0);
}

/* Patterns of classes and dicts, super(), generator expressions. */
static Val step_made(const Step *s) {
    Eval *e = s->e;
    Val v[3];
    for (uint32_t i = 0; i < 3; i++) {
        v[i] = i < s->in->nargs ? arg(s, i) : val_none(e);
        if (val_poisoned(v[i])) return val_poison(e);
    }
    switch ((PyOp)s->in->op) {
    case PY_MATCH_MAP: return val_bool(e, dict_known(e, v[0]).ty->kind == TY_DICT);
    case PY_MATCH_CLASS: return match_class(e, s->span, v[0], v[1], v[2], s->in->imm);
    case PY_MATCH_KEYS: return match_keys(e, v[0], v[1]);
    case PY_SUPER: return eval_super(e, s->span, v[0], v[1]);
    case PY_GEN_START:
        if (e->building) generator_mark(e, (PyRef)(s->in - s->fr->inst->f->instrs.at));
        return generator_start(e, s->span, v[0]);
    case PY_GEN_STEP: return generator_step(e, s->span, v[0], v[1], v[2]);
    case PY_GEN_DONE: return generator_done(e, v[0], v[1]);
    default: return generator_end(e, v[0], v[1]);
    }
}

static Val step_to_tuple(const Step *s) {
    Val v = arg(s, 0);
    if (val_poisoned(v)) return v;
    v = sequence_items(s->e, s->span, val_items(s->e, v));
    if (val_poisoned(v) || v.ty->kind == TY_TUPLE) return tuple_marked(s->e, v);
    return e_fail(s->e, s->span, NULL, DIAG_NOT_UNPACKABLE, e_text(s->e, v));
}

/* In bytecode that no compiler makes, a loop may find something else. */
static Val step_iter(const Step *s, Val it) {
    Eval *e = s->e;
    if (val_poisoned(it)) return it;
    if (it.ty->kind != TY_ITER) return e_fail(e, s->span, NULL, DIAG_NOT_ITERABLE, e_text(e, it));
    if (s->in->op == PY_ITER_HAS) return eval_iter_has(e, s->span, it);
    return s->in->op == PY_ITER_VALUE ? eval_iter_value(e, s->span, it) : eval_iter_next(e, s->span, it);
}

/* Operations of one operand. */
static Val step_unary(const Step *s) {
    Eval *e = s->e;
    if (s->in->op == PY_CELL && s->in->imm == CELL_ITSELF) return val_none(e); /* step_closure() knows */
    bool any = s->in->op == PY_CELL || s->in->op == PY_NOT;
    Val x = any ? arg(s, 0) : needed(s, 0);
    switch ((PyOp)s->in->op) {
    case PY_CELL: return x;
    case PY_UNARY: return eval_unary(e, s->span, (PyUnary)s->in->imm, x);
    case PY_NOT: return eval_not(e, s->span, x);
    case PY_ATTR: {
        const char *reducer;
        PyRef masked = masked_operand(s, &reducer);
        if (!masked) return eval_attr(e, s->span, x, s->in->name);
        return strcmp(s->in->name, "size") == 0 ? step_mask(s, masked, reducer) : x; /* None; the call does it */
    }
    case PY_ITER:
        if (e->building && !generator_before_loop(e, s->in->args[0], 0)) return val_poison(e);
        return eval_iter(e, e->building ? operand_span(s, 0) : s->span, x);
    case PY_ITER_HAS:
    case PY_ITER_VALUE:
    case PY_ITER_NEXT: return step_iter(s, x);
    default: return eval_len(e, s->span, x); /* MATCH_LEN */
    }
}

/* What `a[mask] op= y` stores, where the mask holds. */
static Val step_mask_operator(const Step *s, Val a, Val y) {
    if (val_poisoned(a) || val_poisoned(y)) return val_poison(s->e);
    if (val_is_scalar(y)) return array_changed(s->e, s->span, (PyBinary)(s->in->imm % PYB_INPLACE), a, y);
    return e_fail(s->e, s->span, "write a loop: if mask[i]: a[i] += b[i]", DIAG_CONSTRUCT,
                  "a[mask] with an operator and several values", "which element gets which isn't known");
}

/* Operations of two operands, which are read in the order of the source. */
static Val step_binary(const Step *s) {
    Eval *e = s->e;
    Val x = arg(s, 0), y = arg(s, 1);
    Val types = s->in->op == PY_COMPARE || s->in->op == PY_IS ? compare_types(e, s->fr, x, y) : (Val){0};
    if (s->in->op == PY_CONTAINS) types = types_among(e, s->fr, x, y);
    if (types.ty) return types;
    bool equal = s->in->op == PY_COMPARE && (s->in->imm == PYC_EQ || s->in->imm == PYC_NE);
    if (equal && x.ty && y.ty && (x.ty->kind == TY_NONE || y.ty->kind == TY_NONE)) {
        if (x.ty->kind == TY_MAYBE || y.ty->kind == TY_MAYBE) return eval_is(e, s->span, x, y, s->in->imm == PYC_NE);
    } else if (s->in->op != PY_IS) {
        x = needed(s, 0);
        y = needed(s, 1);
    }
    if (s->in->op == PY_BINARY && mask_operator(s->fr, (PyRef)(s->in - s->fr->inst->f->instrs.at)))
        return step_mask_operator(s, x, y);
    bool in_place = s->in->op == PY_BINARY && s->in->imm & PYB_INPLACE && e->building && x.ty->kind == TY_EXPR;
    if (in_place && !lazy_changes_alone(e, s->fr))
        return refuse(s, "this operator in place", "the array may have another name, which changes with it",
                      "write x = x + y, which makes a new array, if the other may stay");
    switch ((PyOp)s->in->op) {
    case PY_BINARY: return eval_binary(e, s->span, (PyBinary)s->in->imm, x, y);
    case PY_COMPARE: return eval_compare(e, s->span, (PyCompare)s->in->imm, x, y);
    case PY_IS: return eval_is(e, s->span, x, y, s->in->imm != 0);
    default: return eval_contains(e, s->span, x, y, s->in->imm != 0);
    }
}

static Val as_list(const Step *s, Val v) {
    return list_made(s->e, s->fr->inst->f, (PyRef)(s->in - s->fr->inst->f->instrs.at), v);
}

/* Displays, and what Python has beyond a kernel's values. */
static Val step_collection(const Step *s) {
    switch ((PyOp)s->in->op) {
    case PY_TUPLE: return step_tuple(s);
    case PY_LIST: return as_list(s, step_tuple(s));
    case PY_SET: return step_set(s);
    case PY_SET_UPDATE: return step_set_update(s);
    case PY_SET_ADD: {
        Val set = arg(s, 0), item = arg(s, 1);
        return set_with(s->e, s->span, set, item, false);
    }
    case PY_MAP: return step_map(s);
    case PY_MAP_ADD: {
        Val d = arg(s, 0), key = arg(s, 1), value = arg(s, 2);
        return dict_with(s->e, s->span, d, key, value);
    }
    case PY_MAP_UPDATE: {
        Val a = arg(s, 0), b = arg(s, 1);
        return dict_merged(s->e, s->span, a, b);
    }
    case PY_LIST_EXTEND: return as_list(s, step_extend(s));
    case PY_LIST_APPEND: return step_append(s);
    case PY_TO_TUPLE: return step_to_tuple(s);
    case PY_FORMAT: return step_string(s, true);
    case PY_STRING: return step_string(s, false);
    case PY_UNPACK_ITEM: return step_unpack(s);
    case PY_UNPACK_EX: return step_unpack_ex(s);
    default: return val_poison(s->e); /* PHI */
    }
}

static Val do_step(Eval *e, Frame *fr, PyRef r) {
    const PyInstr *in = &fr->inst->f->instrs.at[r];
    Step step = {e, fr, in, in->span}, *s = &step;
    fr->at.span = in->span;
    fr->in = in;
    fr->guarded = in->guarded;
    e_set_span(e, in->span);
    switch ((PyOp)in->op) {
    case PY_CONST: return val_object(e, in->obj);
    case PY_PARAM: return fr->args[in->imm];
    case PY_UNDEF: return (Val){.ty = ty_undef(e->types)};
    case PY_GLOBAL: return step_global(s);
    case PY_CLOSURE: return step_closure(s);
    case PY_SHARED:
    case PY_SHARED_GET:
    case PY_SHARED_SET: return step_shared(s);
    case PY_IMPORT: return step_import(s);
    case PY_CELL:
    case PY_UNARY:
    case PY_NOT:
    case PY_ATTR:
    case PY_ITER:
    case PY_ITER_HAS:
    case PY_ITER_VALUE:
    case PY_ITER_NEXT:
    case PY_MATCH_LEN: return step_unary(s);
    case PY_BINARY:
    case PY_COMPARE:
    case PY_IS:
    case PY_CONTAINS: return step_binary(s);
    case PY_STORE_ATTR: return step_store_attr(s);
    case PY_SUBSCR: return step_subscr(s);
    case PY_STORE_SUBSCR: return step_store(s);
    case PY_DEL_SUBSCR: {
        Val of = arg(s, 0), at = arg(s, 1);
        if (of.ty && of.ty->kind == TY_LIST && !val_poisoned(at)) {
            list_delete(e, s->span, of, at);
            return val_none(e);
        }
        if (of.ty && lists_change(e, of)) return val_poison(e);
        if (of.ty && of.ty->kind == TY_DICT) /* versions differ in how they take the keys out */
            return refuse(s, "a dict without some of its keys (del, or the rest of a match)",
                          "a dict in a kernel has a fixed size",
                          "name the keys that stay: {key: d[key] for key in ('a', 'b')}");
        return refuse(s, "del of an item", "arrays keep their size", "store a value that means nothing");
    }
    case PY_SLICE: return step_slice(s);
    case PY_CALL: return step_call(s);
    case PY_CALL_EX: return step_call_ex(s);
    case PY_FUNCTION: return step_function(s);
    case PY_MATCH_SEQ: return step_match_seq(s);
    case PY_MATCH_MAP:
    case PY_MATCH_CLASS:
    case PY_MATCH_KEYS:
    case PY_SUPER:
    case PY_GEN_START:
    case PY_GEN_STEP:
    case PY_GEN_DONE:
    case PY_GEN_END: return step_made(s);
    case PY_GEN_PLACE:
        if (e->building) generator_mark(e, r);
        return arg(s, 1);
    default: return step_collection(s);
    }
}

/* Loops that are unrolled make values of values: x = (x, x). */
Val eval_step(Eval *e, Frame *fr, PyRef r) {
    Val v = do_step(e, fr, r);
    bool fits = !v.ty || (v.ty->parts <= MOST_VALUE_PARTS && v.ty->depth <= DEEPEST_VALUE);
    if (!e->building) spend_steps(e, v.ty && fits ? 1 + v.ty->parts / 8 : 1);
    if (fits) return v;
    return e_fail(e, fr->in->span, "keep numbers in an array", DIAG_TOO_LARGE, MOST_VALUE_PARTS, DEEPEST_VALUE);
}
