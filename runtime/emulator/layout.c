/* layout.c - where variables lie: global and constant ones in the device's memory, shared ones in a block's.
 *
 * A shared variable has one offset, whatever kernel runs, since device functions name it too. A kernel reserves only
 * what it and its callees use: variables that several kernels use are placed first, each behind all that the kernels
 * which use it have so far. */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STATIC_SHARED = 48 << 10, MAX_CONST = 64 << 10, MAX_LOCAL = 512 << 10, MAX_PARAMS = 32764 };

/* ---- shared memory ------------------------------------------------------------------------------ */

typedef struct Sharer {
    struct Sharer *next;
    uint32_t kernel;
} Sharer;
typedef struct Shared {
    Symbol *symbol;
    Sharer *kernels;
    uint32_t nkernels, order;
} Shared;

typedef struct SharedLayout {
    Load *load;
    Shared *vars;
    uint32_t nvars, vars_room;
    uint64_t *end;         /* by function index: bytes of a kernel so far */
    uint32_t *start_align; /* of its dynamic shared memory */
    uint32_t *seen;        /* by function index: the last kernel + 1 that reached it */
    uint32_t *stack;
} SharedLayout;

static void add_sharer(SharedLayout *l, Symbol *s, uint32_t kernel) {
    if (s->unsized && !s->defined) {
        if (s->align > l->start_align[kernel]) l->start_align[kernel] = s->align;
        return;
    }
    if (!s->mark) {
        STORE_PUSH(&l->load->scratch, l->vars, l->nvars, l->vars_room) = (Shared){s, NULL, 0, l->nvars};
        s->mark = l->nvars;
    }
    Shared *v = &l->vars[s->mark - 1];
    if (v->kernels && v->kernels->kernel == kernel) return;
    Sharer *k = STORE_NEW(&l->load->scratch, Sharer);
    *k = (Sharer){v->kernels, kernel};
    v->kernels = k;
    v->nkernels++;
}

static void visit(SharedLayout *l, const Symbol *s, uint32_t kernel, uint32_t *depth) {
    uint32_t i = s->function->index;
    if (i == UINT32_MAX || l->seen[i] == kernel + 1) return;
    l->seen[i] = kernel + 1;
    l->stack[(*depth)++] = i;
}

/* All that a kernel reaches by calls; who calls by pointer may reach every function whose address is taken. */
static void reach(SharedLayout *l, uint32_t kernel) {
    const SymbolList *functions = &l->load->functions;
    uint32_t depth = 0;
    bool pointers = false;
    visit(l, functions->items[kernel], kernel, &depth);
    while (depth) {
        const Function *f = functions->items[l->stack[--depth]]->function;
        for (uint32_t i = 0; i < f->uses.count; i++) {
            Symbol *s = f->uses.items[i]->real ? f->uses.items[i]->real : f->uses.items[i];
            if (s->function) visit(l, s, kernel, &depth);
            else add_sharer(l, s, kernel);
        }
        if (!f->calls_pointers || pointers) continue;
        pointers = true;
        for (uint32_t i = 0; i < functions->count; i++)
            if (functions->items[i]->address_taken) visit(l, functions->items[i], kernel, &depth);
    }
}

static int by_sharers(const void *a, const void *b) {
    const Shared *x = a, *y = b;
    if (x->nkernels != y->nkernels) return x->nkernels < y->nkernels ? 1 : -1;
    return x->order < y->order ? -1 : 1;
}

static void place_shared(SharedLayout *l) {
    if (l->nvars > 1) qsort(l->vars, l->nvars, sizeof *l->vars, by_sharers);
    for (uint32_t i = 0; i < l->nvars; i++) {
        Shared *v = &l->vars[i];
        uint64_t at = 0;
        for (const Sharer *k = v->kernels; k; k = k->next)
            if (l->end[k->kernel] > at) at = l->end[k->kernel];
        place_behind(v->symbol, &at);
        for (const Sharer *k = v->kernels; k; k = k->next) l->end[k->kernel] = at;
    }
}

static void layout_shared(Load *load) {
    uint32_t n = load->functions.count;
    SharedLayout l = {.load = load,
                      .end = STORE_ARRAY(&load->scratch, uint64_t, n + 1),
                      .start_align = STORE_ARRAY(&load->scratch, uint32_t, n + 1),
                      .seen = STORE_ARRAY(&load->scratch, uint32_t, n + 1),
                      .stack = STORE_ARRAY(&load->scratch, uint32_t, n + 1)};
    for (uint32_t i = 0; i < n; i++)
        if (load->functions.items[i]->function->is_kernel) reach(&l, i);
    place_shared(&l);
    for (uint32_t i = 0; i < n; i++) {
        PtxFunc *f = &load->code->funcs[i];
        if (l.end[i] > MAX_STATIC_SHARED)
            load_fatal(load, "Entry function '%s' uses too much shared data (0x%llx bytes, 0x%x max)", f->name,
                       (unsigned long long)l.end[i], MAX_STATIC_SHARED);
        uint32_t align = l.start_align[i] > 16 ? l.start_align[i] : 16;
        f->shared_bytes = (uint32_t)l.end[i];
        f->dynamic_start = (f->shared_bytes + align - 1) & ~(align - 1);
    }
}

/* ---- functions ---------------------------------------------------------------------------------- */

static PtxParam param_of(const Symbol *s) {
    return (PtxParam){s->name->text, (uint32_t)s->place, (uint32_t)s->bytes, s->align, s->type, s->is_pointer};
}

static void layout_function(Load *load, const Symbol *s, PtxFunc *func, uint32_t local_align) {
    const Function *f = s->function;
    *func = (PtxFunc){.name = s->name->text,
                      .is_kernel = f->is_kernel,
                      .is_extern = !f->has_body,
                      .is_weak = s->linkage == LINK_WEAK,
                      .is_visible = s->linkage == LINK_VISIBLE || s->linkage == LINK_WEAK,
                      .nparams = f->params.count,
                      .param_bytes = f->param_bytes,
                      .min_blocks = f->min_blocks,
                      .max_registers = f->max_registers,
                      .line = f->line + load->sources[s->source].first_line};
    memcpy(func->max_threads, f->max_threads, sizeof func->max_threads);
    memcpy(func->required_threads, f->required_threads, sizeof func->required_threads);
    memcpy(func->cluster, f->cluster, sizeof func->cluster);
    func->params = STORE_ARRAY(load->keep, PtxParam, f->params.count);
    for (uint32_t i = 0; i < f->params.count; i++) func->params[i] = param_of(f->params.items[i]);
    if (f->results.count) func->result = param_of(f->results.items[0]);
    for (uint32_t i = 1; i < f->results.count; i++) /* several are copied as one */
        func->result.bytes = (uint32_t)(f->results.items[i]->place + f->results.items[i]->bytes) - func->result.offset;
    uint64_t local = (f->local_max + local_align - 1) & ~(uint64_t)(local_align - 1);
    if (local > MAX_LOCAL)
        load_fatal(load, "Function '%s' uses too much local memory (0x%llx bytes, 0x%x max)", func->name,
                   (unsigned long long)local, MAX_LOCAL);
    func->local_bytes = (uint32_t)local;
    if (f->is_kernel && f->param_bytes > MAX_PARAMS)
        load_fatal(load, "Formal parameter space overflowed in function '%s' (0x%x bytes, 0x%x max)", func->name,
                   f->param_bytes, MAX_PARAMS);
}

static void layout_functions(Load *load) {
    const SymbolList *functions = &load->functions;
    uint32_t align = 16;
    for (uint32_t i = 0; i < functions->count; i++)
        if (functions->items[i]->function->local_align > align) align = functions->items[i]->function->local_align;
    load->code->funcs = STORE_ARRAY(load->keep, PtxFunc, functions->count);
    load->code->nfuncs = functions->count;
    for (uint32_t i = 0; i < functions->count; i++)
        layout_function(load, functions->items[i], &load->code->funcs[i], align);
}

/* ---- global and constant memory ----------------------------------------------------------------- */

static bool in_memory(const Symbol *s) { return s->space == SPACE_GLOBAL || s->space == SPACE_CONST; }

/* Room for one variable; false: out of memory. */
static bool place_global(Load *load, Symbol *s) {
    AllocKind kind = s->managed ? ALLOC_MANAGED : s->space == SPACE_CONST ? ALLOC_CONST : ALLOC_GLOBAL;
    uint64_t extra = s->align > 256 ? s->align : 0, bytes = (s->bytes ? s->bytes : 1) + extra;
    uint64_t address = memory_alloc(load->memory, kind, bytes, s->name->text);
    if (!address) {
        load->log->out_of_memory = true;
        load_fatal(load, "Out of memory for variable '%s' of %llu bytes", s->name->text, (unsigned long long)s->bytes);
        return false;
    }
    STORE_PUSH(load->keep, load->allocations->addresses, load->allocations->count, load->allocations->room) = address;
    s->place = extra ? (address + s->align - 1) & ~(uint64_t)(s->align - 1) : address;
    uint8_t *host = memory_bytes(load->memory, address, bytes);
    if (!host) return false;
    memset(host, 0, bytes);
    memory_wrote(load->memory, address, bytes);
    return true;
}

static bool place_variable(Load *load, Symbol *s, uint64_t *const_bytes) {
    if (s->function || s->real != s) return true;
    if (in_memory(s)) {
        if (!place_global(load, s)) return false;
        if (s->space == SPACE_CONST) place_behind(&(Symbol){.align = s->align, .bytes = s->bytes}, const_bytes);
    } else if (s->space != SPACE_SHARED) {
        return true;
    }
    STORE_PUSH(load->keep, load->code->globals, load->code->nglobals, load->globals_room) =
        (PtxGlobal){s->name->text, s->place, s->bytes, s->space, !s->defined};
    return true;
}

static bool layout_globals(Load *load) {
    for (uint32_t i = 0; i < load->nsources; i++) {
        uint64_t const_bytes = 0;
        for (Symbol *s = load->sources[i].symbols; s; s = s->next) {
            if (!place_variable(load, s, &const_bytes)) return false;
            if (!s->function || s->function->index == UINT32_MAX || s->real != s) continue;
            for (uint32_t k = 0; k < s->function->variables.count; k++)
                if (!place_variable(load, s->function->variables.items[k], &const_bytes)) return false;
        }
        if (const_bytes > MAX_CONST)
            load_fatal(load, "File uses too much global constant data (0x%llx bytes, 0x%x max)",
                       (unsigned long long)const_bytes, MAX_CONST);
    }
    return true;
}

/* ---- initial values ----------------------------------------------------------------------------- */

static void initialise_with_address(Load *load, const Symbol *s, const Init *in, uint64_t *bits) {
    const Symbol *of = in->symbol.symbol->real;
    uint64_t address = 0;
    if (of && of->function && of->function->index != UINT32_MAX)
        address = FUNCTION_BASE + UINT64_C(16) * of->function->index;
    else if (of && !of->function && in_memory(of)) address = of->place;
    else
        load_error(load, &load->sources[s->source], in->line, "The address of '%s' is no initial value for '%s'",
                   in->symbol.symbol->name->text, s->name->text);
    *bits = ((address + in->value) & in->mask) >> in->shift;
}

static void initialise(Load *load, const Symbol *s) {
    uint8_t *host = s->init ? memory_bytes(load->memory, s->place, s->bytes) : NULL;
    for (const Init *in = s->init; in; in = in->next) {
        uint64_t bits = in->value;
        if (in->symbol.kind == ARG_SYMBOL) initialise_with_address(load, s, in, &bits);
        else if (in->symbol.kind == ARG_NAME)
            load_error(load, &load->sources[s->source], in->line, "Unknown symbol '%s'", in->symbol.name->text);
        if (host && in->at + in->bytes <= s->bytes) memcpy(host + in->at, &bits, in->bytes < 8 ? in->bytes : 8);
    }
}

static void initialise_all(Load *load) {
    for (uint32_t i = 0; i < load->nsources; i++)
        for (const Symbol *s = load->sources[i].symbols; s; s = s->next) {
            if (!s->function && s->real == s && in_memory(s)) initialise(load, s);
            if (!s->function || s->function->index == UINT32_MAX || s->real != s) continue;
            for (uint32_t k = 0; k < s->function->variables.count; k++) {
                const Symbol *v = s->function->variables.items[k];
                if (in_memory(v)) initialise(load, v);
            }
        }
}

bool layout_module(Load *load) {
    uint32_t errors = load->log->errors;
    for (uint32_t i = 0; i < load->functions.count; i++) { /* what is declared inside of functions is their own */
        const SymbolList *v = &load->functions.items[i]->function->variables;
        for (uint32_t k = 0; k < v->count; k++) v->items[k]->real = v->items[k];
    }
    layout_functions(load);
    layout_shared(load);
    if (load->log->errors != errors || !layout_globals(load)) return false;
    initialise_all(load);
    return load->log->errors == errors;
}
