/* sets.c - sets: tuples with a mark, whose items differ.
 *
 * Which items a set has is known when compiling, so its items are constants, but for a set that serves `in` alone.
 * Sets outside the kernel are constants, too. Items come in the order in which they are written; Python defines none.
 */
#include "devfns.h"
#include "evaluator.h"

/* A set as one of a kernel; ty NULL: it is something else. */
static Val set_items(Eval *e, Val v) {
    HostInfo info = {0};
    if (val_is_set(v)) return v;
    bool outside = v.ty->kind == TY_OBJECT && e->host->info(e->host->self, v.ty->obj, &info) && info.kind == HOST_SET;
    return outside ? set_marked(e, val_items(e, v)) : (Val){0};
}

static Val unknown(Eval *e, PySpan span) {
    return e_fail(e, span, "use a tuple", DIAG_CONSTRUCT, "this set",
                  "how many of its items differ is known at run time only");
}

/* 1: the set has the item, 0: it hasn't, -1: reported. */
static int has(Eval *e, PySpan span, Val set, Val item) {
    for (uint32_t i = 0; i < set.ty->n; i++) {
        Val same = eval_compare(e, span, PYC_EQ, set.items[i], item);
        if (!val_poisoned(same) && !val_const(same)) unknown(e, span);
        if (val_poisoned(same) || !val_const(same)) return -1;
        if (same.i) return 1;
    }
    return 0;
}

Val set_with(Eval *e, PySpan span, Val set, Val item, bool only_tested) {
    if (val_poisoned(set) || val_poisoned(item)) return val_poison(e);
    int there = only_tested && !val_is_known(item) ? 0 : has(e, span, set, item);
    if (there) return there > 0 ? set : val_poison(e);
    Val *items = ARENA_ARRAY(e->arena, Val, set.ty->n + 1);
    vals_copy(items, set.items, set.ty->n);
    items[set.ty->n] = item;
    return set_marked(e, val_tuple(e, set.ty->n + 1, items));
}

/* Those of a that b has, or has not. POISON: reported. */
static Val chosen(Eval *e, PySpan span, Val a, Val b, bool common) {
    Val *items = ARENA_ARRAY(e->arena, Val, a.ty->n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < a.ty->n; i++) {
        int there = has(e, span, b, a.items[i]);
        if (there < 0) return val_poison(e);
        if (there == common) items[n++] = a.items[i];
    }
    return set_marked(e, val_tuple(e, n, items));
}

static Val united(Eval *e, PySpan span, Val a, Val b) {
    if (val_poisoned(b)) return b;
    for (uint32_t i = 0; i < b.ty->n; i++) a = set_with(e, span, a, b.items[i], false);
    return a;
}

static Val combined(Eval *e, PySpan span, PyBinary op, Val a, Val b) {
    if (op == PYB_OR) return united(e, span, a, b);
    if (op == PYB_XOR) {
        Val left = chosen(e, span, a, b, false), right = chosen(e, span, b, a, false);
        return val_poisoned(left) || val_poisoned(right) ? val_poison(e) : united(e, span, left, right);
    }
    return chosen(e, span, a, b, op == PYB_AND);
}

Val set_binary(Eval *e, PySpan span, PyBinary op, bool in_place, Val a, Val b) {
    Val x = set_items(e, a), y = set_items(e, b);
    if (!x.ty || !y.ty || (op != PYB_OR && op != PYB_AND && op != PYB_SUB && op != PYB_XOR)) return (Val){0};
    if (in_place)
        return e_fail(e, span, "make another one: s = s | t", DIAG_CONSTRUCT, "this change of a set",
                      "its items are known when compiling");
    return combined(e, span, op, x, y);
}

/* Is each item of a one of b? */
static bool within(Eval *e, PySpan span, Val a, Val b, bool *ok) {
    bool all = true;
    for (uint32_t i = 0; i < a.ty->n; i++) {
        int there = has(e, span, b, a.items[i]);
        *ok &= there >= 0;
        all &= there > 0;
    }
    return all;
}

Val set_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b) {
    Val x = set_items(e, a), y = set_items(e, b);
    bool ok = true, equality = op == PYC_EQ || op == PYC_NE;
    if ((!x.ty && !y.ty) || a.ty->kind == TY_INSTANCE || b.ty->kind == TY_INSTANCE) return (Val){0};
    if (!x.ty || !y.ty) return equality ? val_bool(e, op == PYC_NE) : (Val){0};
    if (op == PYC_GT || op == PYC_GE) return set_compare(e, span, op == PYC_GT ? PYC_LT : PYC_LE, b, a);
    bool part = within(e, span, x, y, &ok), same = part && x.ty->n == y.ty->n;
    if (!ok) return val_poison(e);
    return val_bool(e, equality ? same == (op == PYC_EQ) : part && (op == PYC_LE || !same));
}

Val set_of(Eval *e, PySpan span, uint32_t n, const Val *items) {
    Val set = set_marked(e, val_tuple(e, 0, NULL));
    for (uint32_t i = 0; i < n; i++) set = set_with(e, span, set, items[i], false);
    return set;
}

/* The items of any iterable of known length, as a set; POISON: reported. */
static Val as_set(Eval *e, const CallSite *site, Val v) {
    Val items = sequence_items(e, site->span, val_items(e, v));
    if (!val_poisoned(items) && items.ty->kind != TY_TUPLE)
        return e_fail(e, site->span, "it takes what has a length that is known when compiling", DIAG_ARG_TYPE,
                      site->name, e_text(e, v));
    return val_poisoned(items) ? items : set_of(e, site->span, items.ty->n, items.items);
}

/* param: a SetMethod */
Val fn_set_method(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/self", "/other"};
    Val x[2];
    if (!call_bind(e, site, n, args, 2, params, x)) return val_poison(e);
    Val other = as_set(e, site, x[1]);
    if (val_poisoned(other)) return other;
    switch ((SetMethod)site->fn->param) {
    case SET_ISSUBSET: return set_compare(e, site->span, PYC_LE, x[0], other);
    case SET_ISSUPERSET: return set_compare(e, site->span, PYC_GE, x[0], other);
    case SET_ISDISJOINT: {
        Val common = chosen(e, site->span, x[0], other, true);
        return val_poisoned(common) ? common : val_bool(e, common.ty->n == 0);
    }
    case SET_UNION: return combined(e, site->span, PYB_OR, x[0], other);
    case SET_INTERSECTION: return combined(e, site->span, PYB_AND, x[0], other);
    case SET_DIFFERENCE: return combined(e, site->span, PYB_SUB, x[0], other);
    case SET_SYMMETRIC: return combined(e, site->span, PYB_XOR, x[0], other);
    }
    return val_poison(e);
}
