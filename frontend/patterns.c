/* patterns.c - match patterns of classes and dicts; what consumes a generator expression.
 *
 * A generator expression is a loop where its consumer stands. sum, any and all take its items one by one, also when
 * only run time knows how many there are; any and all stop as soon as they can. Others get a tuple, whose length must
 * be known: then the loop is unrolled. */
#include "devfn.h"
#include "evaluator.h"

#include <string.h>

/* ---- patterns ------------------------------------------------------------------------------------------------ */
static const char *builtin_name(Eval *e, Val cls) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    bool named =
        cls.ty->kind == TY_OBJECT && e->host->info(e->host->self, cls.ty->obj, &info) && info.kind == HOST_NAMED;
    return named && strncmp(info.path, "builtins.", 9) == 0 ? info.path + 9 : NULL;
}

/* int(x), str(s), np.float32(x): the subject itself. */
static bool matches_itself(Eval *e, Val cls) {
    static const char *const names[] = {"bool", "bytes", "dict", "float", "int", "list", "set", "str", "tuple"};
    const char *name = builtin_name(e, cls);
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return cls.ty->kind == TY_DTYPE;
}

enum { MOST_PARTS = 256 };

Val match_class(Eval *e, PySpan span, Val subject, Val cls, Val names, uint32_t positional) {
    bool known = true, is = instance_of(e, subject, cls, &known);
    if (!known) return e_fail(e, span, NULL, DIAG_PATTERN_CLASS, e_text(e, cls));
    if (!is) return val_none(e);
    if (positional > MOST_PARTS)
        return e_fail(e, span, NULL, DIAG_PATTERN_COUNT, e_text(e, cls), MOST_PARTS, positional);
    Val *items = ARENA_ARRAY(e->arena, Val, positional + names.ty->n + 1);
    uint32_t n = 0;
    if (positional && matches_itself(e, cls)) {
        if (positional > 1) return e_fail(e, span, NULL, DIAG_PATTERN_COUNT, e_text(e, cls), 1, positional);
        items[n++] = subject;
    } else if (positional) {
        HostRef args = cls.ty->kind == TY_OBJECT ? e->host->attr(e->host->self, cls.ty->obj, "__match_args__") : NULL;
        Val order = args ? val_object(e, args) : val_tuple(e, 0, NULL);
        if (order.ty->kind != TY_TUPLE || order.ty->n < positional)
            return e_fail(e, span, NULL, DIAG_PATTERN_COUNT, e_text(e, cls), order.ty->n, positional);
        for (; n < positional; n++) {
            const char *name;
            Val v = val_as_str(e, order.items[n], &name) ? find_attr(e, span, subject, name) : (Val){0};
            if (!v.ty) return val_none(e);
            items[n] = v;
        }
    }
    for (uint32_t i = 0; i < names.ty->n; i++) {
        const char *name;
        Val v = val_as_str(e, names.items[i], &name) ? find_attr(e, span, subject, name) : (Val){0};
        if (!v.ty) return val_none(e);
        items[n++] = v;
    }
    return val_tuple(e, n, items);
}

Val match_keys(Eval *e, Val subject, Val keys) {
    Val *items = ARENA_ARRAY(e->arena, Val, keys.ty->n + 1);
    for (uint32_t i = 0; i < keys.ty->n; i++)
        if (!dict_find(e, subject, keys.items[i], &items[i])) return val_none(e);
    return val_tuple(e, keys.ty->n, items);
}

/* ---- generator expressions --------------------------------------------------------------------------------------- */
typedef enum Consumer { COLLECTS, SUMS, FINDS_ANY, FINDS_ALL, FINDS_LEAST, FINDS_MOST } Consumer;

static Consumer consumer_kind(Eval *e, Val consumer) {
    static const char *const names[] = {
        [SUMS] = "sum", [FINDS_ANY] = "any", [FINDS_ALL] = "all", [FINDS_LEAST] = "min", [FINDS_MOST] = "max"};
    const char *name = builtin_name(e, consumer);
    for (int k = SUMS; name && k <= FINDS_MOST; k++)
        if (strcmp(name, names[k]) == 0) return (Consumer)k;
    return COLLECTS;
}

Val generator_start(Eval *e, PySpan span, Val consumer) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    bool object = consumer.ty->kind == TY_OBJECT && e->host->info(e->host->self, consumer.ty->obj, &info);
    if (consumer.ty->kind != TY_NONE && !(object && info.kind == HOST_NAMED))
        return e_fail(e, span, "make it a list: [ ]", DIAG_CONSTRUCT, "a generator expression for a function of yours",
                      "its items are made before the function begins");
    switch (consumer_kind(e, consumer)) {
    case SUMS: return val_int(e, 0);
    case FINDS_ANY: return val_bool(e, false);
    case FINDS_ALL: return val_bool(e, true);
    default: return val_tuple(e, 0, NULL);
    }
}

static Val better(Eval *e, PySpan span, Val consumer, Val items, Val item) {
    const DevFn *fn = devfn_find(consumer_kind(e, consumer) == FINDS_LEAST ? "builtins.min" : "builtins.max");
    CallSite site = {.span = span, .name = consumer_kind(e, consumer) == FINDS_LEAST ? "min" : "max", .fn = fn};
    Val v = items.ty->n ? fn->call(e, &site, 2, (Val[]){items.items[0], item}) : item;
    return val_poisoned(v) ? v : val_tuple(e, 1, &v);
}

Val generator_step(Eval *e, PySpan span, Val consumer, Val items, Val item) {
    switch (consumer_kind(e, consumer)) {
    case SUMS: return eval_binary(e, span, PYB_ADD, items, item);
    case FINDS_ANY:
    case FINDS_ALL: return eval_truth(e, span, item);
    case FINDS_LEAST:
    case FINDS_MOST: return better(e, span, consumer, items, item);
    case COLLECTS: break;
    }
    return eval_binary(e, span, PYB_ADD, items, val_tuple(e, 1, &item));
}

Val generator_done(Eval *e, Val consumer, Val items) {
    switch (consumer_kind(e, consumer)) {
    case FINDS_ANY: return items;
    case FINDS_ALL: return eval_not(e, (PySpan){0}, items);
    default: return val_bool(e, false);
    }
}

Val generator_end(Eval *e, Val consumer, Val items) {
    Consumer kind = consumer_kind(e, consumer);
    return kind == SUMS || kind == FINDS_ANY || kind == FINDS_ALL ? val_tuple(e, 1, &items) : items;
}
