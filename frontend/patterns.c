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

bool generator_taker(Eval *e, PySpan span, Val consumer) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    bool object = consumer.ty->kind == TY_OBJECT && e->host->info(e->host->self, consumer.ty->obj, &info);
    bool method = consumer.ty->kind == TY_METHOD && !consumer.ty->obj; /* of no class of the program's */
    if (method || (object && info.kind == HOST_NAMED)) return true;
    e_fail(e, span, "make it a list: [ ]", DIAG_CONSTRUCT, "a generator expression for a function of yours",
           "its items are made before the function begins");
    return false;
}

Val generator_start(Eval *e, PySpan span, Val consumer) {
    if (consumer.ty->kind != TY_NONE && !generator_taker(e, span, consumer)) return val_poison(e);
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

/* ---- what is done in another order than Python does it -------------------------------------------------------------
 */
void generator_mark(Eval *e, PyRef r) {
    Frame *fr = e->frame;
    if (!fr->marks) fr->marks = ARENA_ARRAY(e->arena, uint32_t, fr->inst->f->instrs.n);
    fr->marks[r] = e->m->instrs.n;
}

/* What operations do to the thread's own memory, and to all else. */
typedef struct Effects {
    bool reads[2], writes[2];
} Effects;

static Effects effects_of(const Eval *e, uint32_t begin, uint32_t end) {
    Effects x = {0};
    for (uint32_t i = begin; i < end; i++) {
        const Instr *in = &e->m->instrs.at[i];
        unsigned flags = op_info[in->op].flags;
        bool check = in->op == OP_RAISE && (e->req->debug || e->req->boundscheck);
        bool memory = in->op == OP_LOAD || in->op == OP_STORE || in->op == OP_ATOMIC || in->op == OP_CAS;
        bool own = memory && e->m->instrs.at[in->args[0]].type == T_PTRL;
        for (int k = 0; k < 2 && !check; k++) {
            if (memory && own != (k == 0)) continue;
            x.reads[k] |= (flags & (READS | SYNC)) != 0;
            x.writes[k] |= (flags & (WRITES | SYNC)) != 0;
        }
    }
    return x;
}

bool generator_in_order(Eval *e, PySpan span, PyRef place, uint32_t begin) {
    const Frame *fr = e->frame;
    PyRef start = fr->inst->f->instrs.at[place].args[0];
    Effects items = effects_of(e, fr->marks[start], fr->marks[place]), others = effects_of(e, begin, e->m->instrs.n);
    bool ordered = true;
    for (int k = 0; k < 2; k++) {
        if (items.writes[k] && (others.reads[k] || others.writes[k])) ordered = false;
        if (others.writes[k] && items.reads[k]) ordered = false;
    }
    if (!ordered)
        e_fail(e, span, "make it a list: [ ]", DIAG_CONSTRUCT, "a generator expression whose order matters",
               "all its items are made here; Python makes them one by one, after the arguments that follow");
    return ordered;
}

/* enumerate() and its like take an item when they are asked for one. */
static bool is_lazy(const Eval *e, Val fn) {
    static const char *const names[] = {"enumerate", "filter", "iter", "map", "zip"};
    HostInfo info;
    memset(&info, 0, sizeof info);
    if (!fn.ty || fn.ty->kind != TY_OBJECT || !e->host->info(e->host->self, fn.ty->obj, &info) ||
        info.kind != HOST_NAMED)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(info.path, "builtins.", 9) == 0 && strcmp(info.path + 9, names[i]) == 0) return true;
    return strncmp(info.path, "itertools.", 10) == 0;
}

enum { MOST_NESTED = 16 };

bool generator_before_loop(Eval *e, PyRef iterated, uint32_t depth) {
    const Frame *fr = e->frame;
    const PyInstr *in = &fr->inst->f->instrs.at[iterated];
    if (in->op == PY_GEN_PLACE && depth) {
        Effects items = effects_of(e, fr->marks[in->args[0]], fr->marks[iterated]);
        if (!items.reads[0] && !items.reads[1] && !items.writes[0] && !items.writes[1]) return true;
        e_fail(e, in->span, "make it a list: [ ]", DIAG_CONSTRUCT,
               "a generator expression that takes turns with a loop",
               "all its items are made before the loop, which may change what they are made of");
        return false;
    }
    if (in->op != PY_CALL || depth > MOST_NESTED || !is_lazy(e, fr->vals[in->args[0]])) return true;
    for (uint32_t k = 1; k < in->nargs; k++)
        if (!generator_before_loop(e, in->args[k], depth + 1)) return false;
    return true;
}
