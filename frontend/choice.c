/* choice.c - functions and enum members that run time chooses: f = sin if x > 0 else cos.
 *
 * Of such a value the alternatives are known when compiling, as its items after the first, which is the number of the
 * one that is meant. What is asked of it is asked of each alternative: attributes and comparisons are selected among, a
 * call branches. Alternatives are objects of the host, and inner functions that close over nothing but constants. */
#include "evaluator.h"

#include <string.h>

enum { MOST_ALTERNATIVES = 16 };

static bool object_of(Eval *e, Val v, HostInfo *info) {
    memset(info, 0, sizeof *info);
    return v.ty->kind == TY_OBJECT && e->host->info(e->host->self, v.ty->obj, info);
}

static bool has_memory(Ty ty) {
    if (ty->made || ty->space == T_PTRL) return true;
    for (uint32_t i = 0; i < ty->n; i++)
        if (has_memory(ty->items[i])) return true;
    return false;
}

/* Members of one enum, or functions, are alternatives. */
static bool is_function(Eval *e, Val v) {
    HostInfo info;
    if (v.ty->kind == TY_FUNCTION) return !has_memory(v.ty);
    if (!object_of(e, v, &info)) return false;
    const DevFn *fn = info.kind == HOST_NAMED ? devfn_find(info.path) : NULL;
    return info.kind == HOST_FUNCTION || (fn && !devfn_is_value(fn));
}

static HostRef enum_of(Eval *e, Val v) {
    HostInfo info;
    if (!object_of(e, v, &info) || info.kind != HOST_ENUM) return NULL;
    return e->host->attr(e->host->self, v.ty->obj, "__class__");
}

static bool go_together(Eval *e, Val a, Val b) {
    if (is_function(e, a)) return is_function(e, b);
    HostRef x = enum_of(e, a), y = x ? enum_of(e, b) : NULL;
    return y && e->host->same(e->host->self, x, y);
}

static uint32_t alternatives_of(const Val *v, const Val **first) {
    bool choice = v->ty->kind == TY_CHOICE;
    *first = choice ? v->items + 1 : v;
    return choice ? v->ty->n - 1 : 1;
}

static bool is_same(Val a, Val b) {
    return a.ty == b.ty || (a.ty->kind == TY_FUNCTION && b.ty->kind == TY_FUNCTION && a.ty->obj == b.ty->obj);
}

/* The number of an alternative; n: there is none like this. */
static uint32_t number_of(const Val *all, uint32_t n, Val v) {
    uint32_t i = 0;
    while (i < n && !is_same(all[i], v)) i++;
    return i;
}

bool choice_join(Eval *e, Val a, Val b, Val *out) {
    const Val *mine, *others;
    uint32_t n = alternatives_of(&a, &mine), more = alternatives_of(&b, &others);
    if ((n == 1 && more == 1 && is_same(*mine, *others)) || !go_together(e, *mine, *others)) return false;
    Val items[MOST_ALTERNATIVES + 1];
    items[0] = val_rt_int(e, REF_NONE);
    for (uint32_t i = 0; i < n; i++) items[1 + i] = val_abstract(e, mine[i]);
    for (uint32_t i = 0; i < more; i++) {
        uint32_t k = number_of(items + 1, n, others[i]);
        if (k == MOST_ALTERNATIVES || !val_join(e, k < n ? items[1 + k] : (Val){0}, others[i], &items[1 + k]))
            return false;
        n += k == n;
    }
    *out = val_composite(e, TY_CHOICE, 0, n + 1, items);
    return true;
}

Val choice_coerce(Eval *e, Val v, Val target) {
    const Val *all, *mine;
    uint32_t n = alternatives_of(&target, &all), k = alternatives_of(&v, &mine);
    Val *items = ARENA_ARRAY(e->arena, Val, n + 1), at = val_int(e, number_of(all, n, mine[0]));
    for (uint32_t i = 1; i < k; i++) {
        Ref is = e_cmp(e, PRED_EQ, val_ref(e, v.items[0]), e_int(e, T_I64, i));
        Ref number = e_int(e, T_I64, number_of(all, n, mine[i]));
        at = val_rt_int(e, e_select(e, T_I64, is, number, val_ref(e, at)));
    }
    items[0] = val_coerce(e, v.ty == target.ty ? v.items[0] : at, target.items[0]);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t from = number_of(mine, k, all[i]);
        items[1 + i] = from < k ? val_coerce(e, mine[from], all[i]) : val_zero(e, all[i]);
    }
    return (Val){.ty = target.ty, .items = items};
}

/* ---- what is asked of it ------------------------------------------------------------------------------- */
typedef struct Asking {
    Val (*ask)(Eval *e, PySpan span, Val one, const struct Asking *q);
    Val other;
    const char *name;
    PyCompare op;
    bool negate;
} Asking;

/* The answer of the alternative that is meant; ty NULL: one has none. */
static Val asked(Eval *e, PySpan span, Val choice, const Asking *q) {
    uint32_t n = choice.ty->n - 1;
    Val out = q->ask(e, span, choice.items[n], q);
    for (uint32_t k = n - 1; k-- > 0 && out.ty;) {
        Val v = q->ask(e, span, choice.items[1 + k], q);
        if (!v.ty) return v;
        out = eval_select(e, span, eval_compare(e, span, PYC_EQ, choice.items[0], val_int(e, k)), v, out);
    }
    return out;
}

static Val ask_attr(Eval *e, PySpan span, Val one, const Asking *q) { return find_attr(e, span, one, q->name); }
static Val ask_compare(Eval *e, PySpan span, Val one, const Asking *q) {
    return eval_compare(e, span, q->op, one, q->other);
}
static Val ask_is(Eval *e, PySpan span, Val one, const Asking *q) { return eval_is(e, span, one, q->other, q->negate); }
static Val ask_truth(Eval *e, PySpan span, Val one, const Asking *q) {
    (void)q;
    return eval_truth(e, span, one);
}

Val choice_attr(Eval *e, PySpan span, Val choice, const char *name) {
    return asked(e, span, choice, &(Asking){.ask = ask_attr, .name = name});
}

Val choice_truth(Eval *e, PySpan span, Val choice) { return asked(e, span, choice, &(Asking){.ask = ask_truth}); }

/* Of two values, one of them a choice. */
static Val compared(Eval *e, PySpan span, Val a, Val b, Asking q) {
    bool first = a.ty->kind == TY_CHOICE;
    q.other = first ? b : a;
    return asked(e, span, first ? a : b, &q);
}

Val choice_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b) {
    if (a.ty->kind != TY_CHOICE && b.ty->kind != TY_CHOICE) return (Val){0};
    if (op != PYC_EQ && op != PYC_NE) return (Val){0};
    return compared(e, span, a, b, (Asking){.ask = ask_compare, .op = op});
}

Val choice_is(Eval *e, PySpan span, Val a, Val b, bool negate) {
    if (a.ty->kind != TY_CHOICE && b.ty->kind != TY_CHOICE) return (Val){0};
    return compared(e, span, a, b, (Asking){.ask = ask_is, .negate = negate});
}

/* ---- calls ----------------------------------------------------------------------------------------------- */
Val choice_call(Eval *e, const CallSite *site, Val choice, uint32_t n, const Val *args) {
    uint32_t count = choice.ty->n - 1;
    Val results[MOST_ALTERNATIVES], all = {0};
    BlockId ends[MOST_ALTERNATIVES], after = e_new_block(e);
    for (uint32_t k = 0; k < count; k++) {
        BlockId next = 0;
        if (k + 1 < count) {
            BlockId here = e_new_block(e);
            next = e_new_block(e);
            e_branch(e, e_cmp(e, PRED_EQ, val_ref(e, choice.items[0]), e_int(e, T_I64, k)), here, next);
            e_set_block(e, here);
        }
        results[k] = eval_call(e, site, choice.items[1 + k], n, args);
        if (val_poisoned(results[k])) return results[k];
        if (!val_join(e, all, results[k], &all))
            return e_fail(e, site->span, NULL, DIAG_BRANCHES_UNIFY, e_text(e, all), e_text(e, results[k]));
        ends[k] = e_current(e);
        if (k + 1 < count) e_set_block(e, next);
    }
    for (uint32_t k = 0; k < count; k++) {
        e_set_block(e, ends[k]);
        results[k] = val_coerce(e, results[k], all);
        e_jump(e, after);
    }
    e_set_block(e, after);
    Val out = val_phi(e, all);
    for (uint32_t k = 0; k < count; k++) val_phi_feed(e, out, ends[k], results[k]);
    return out;
}
