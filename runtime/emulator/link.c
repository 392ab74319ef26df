/* link.c - several sources become one module: who defines what the others declare.
 *
 * Names that are neither .visible, .weak nor .common belong to their source. One definition of a .visible name is
 * allowed; .weak ones give way to it, or to the first of them; of .common ones the largest stays. */
#include "parse.h"

#include <string.h>

static const Source *source_of(const Load *load, const Symbol *s) { return &load->sources[s->source]; }

static bool is_shared_with_others(const Symbol *s) { return s->linkage != LINK_STATIC && s->linkage != LINK_EXTERN; }

/* Which of two definitions of one name stays. */
static Symbol *choose(Load *load, Symbol *a, Symbol *b) {
    bool weak_a = a->linkage != LINK_VISIBLE, weak_b = b->linkage != LINK_VISIBLE;
    if (a->linkage == LINK_COMMON && b->linkage == LINK_COMMON) return b->bytes > a->bytes ? b : a;
    if (weak_a && weak_b) return a->linkage == LINK_COMMON ? b : a;
    if (weak_a) return b;
    if (weak_b) return a;
    if (load->nsources > 1)
        load_fatal(load, "Multiple definition of '%s' in '%s', first defined in '%s'", a->name->text,
                   source_of(load, b)->name, source_of(load, a)->name);
    return a;
}

static void offer(Load *load, Symbol *s) {
    if (!s->defined || !is_shared_with_others(s)) return;
    s->name->linked = s->name->linked ? choose(load, s->name->linked, s) : s;
}

static void settle(Symbol *s) {
    bool mine = s->defined && !is_shared_with_others(s);
    s->real = mine ? s : s->name->linked;
    if (!s->real && s->defined) s->real = s;
    /* Memory of the launch, and functions of the emulator, have no definition. */
    if (!s->real && !s->function && s->space == SPACE_SHARED && s->unsized) s->real = s;
    if (!s->real && s->function && ptx_builtin(s->name->text)) s->real = s->name->linked = s;
}

static bool same_interface(const SymbolList *a, const SymbolList *b) {
    if (a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->items[i]->bytes != b->items[i]->bytes) return false;
    return true;
}

/* An alias stands for a function of its source, perhaps by other aliases. */
static void settle_alias(Load *load, Symbol *s) {
    Symbol *of = s;
    for (int steps = 0; of->alias_of && steps < 100; steps++) of = of->alias_of;
    if (!of->real || !of->real->function->has_body)
        load_error(load, source_of(load, s), s->line, ".alias '%s' stands for no function with a body", s->name->text);
    s->real = of->real;
}

/* What returns nothing may be declared with a result, which is then undefined: linkers of machine code take that, and
 * numba declares such functions so. */
static bool same_results(const Function *declared, const Function *defined) {
    return !defined->results.count || same_interface(&declared->results, &defined->results);
}

/* What is used needs a definition of the same kind. */
static void check(Load *load, Symbol *s) {
    if (s->alias_of) settle_alias(load, s);
    if (s->real && s->used) s->real->used = true;
    const char *what = s->function ? "function" : "variable";
    if (!s->real) {
        if (!s->used) return;
        if (load->nsources > 1)
            load_fatal(load, "Undefined reference to '%s' in '%s'", s->name->text, source_of(load, s)->name);
        else load_error(load, source_of(load, s), s->line, "Unresolved extern %s '%s'", what, s->name->text);
        return;
    }
    const Symbol *r = s->real;
    if (r == s || s->alias_of) return;
    bool same_kind = !r->function == !s->function && (s->function || s->space == r->space);
    if (!same_kind)
        load_fatal(load, "'%s' is declared in '%s' otherwise than it is defined in '%s'", s->name->text,
                   source_of(load, s)->name, source_of(load, r)->name);
    else if (s->function && s->used &&
             !(same_interface(&s->function->params, &r->function->params) && same_results(s->function, r->function)))
        load_fatal(load, "Function '%s' is declared in '%s' with other parameters than it is defined with in '%s'",
                   s->name->text, source_of(load, s)->name, source_of(load, r)->name);
}

static void number_function(Load *load, Symbol *s) {
    if (!s->function || s->real != s || s->function->index != UINT32_MAX) return;
    if (!s->function->has_body && !s->used) return;
    s->function->index = load->functions.count;
    list_push(load, &load->functions, s);
}

bool link_sources(Load *load) {
    uint32_t errors = load->log->errors;
    for (uint32_t i = 0; i < load->nsources; i++)
        for (Symbol *s = load->sources[i].symbols; s; s = s->next) offer(load, s);
    for (uint32_t i = 0; i < load->nsources; i++)
        for (Symbol *s = load->sources[i].symbols; s; s = s->next) settle(s);
    for (uint32_t i = 0; i < load->nsources; i++)
        for (Symbol *s = load->sources[i].symbols; s; s = s->next) check(load, s);
    for (uint32_t i = 0; i < load->nsources; i++)
        for (Symbol *s = load->sources[i].symbols; s; s = s->next) number_function(load, s);
    return load->log->errors == errors;
}
