/* parse_vars.c - declarations of variables, parameters and registers. */
#include "parse.h"

#include <string.h>

enum { MAX_DIMS = 16 };

void list_push(Load *load, SymbolList *list, Symbol *symbol) {
    STORE_PUSH(&load->scratch, list->items, list->count, list->room) = symbol;
}

/* ---- types -------------------------------------------------------------------------------------- */

typedef struct Declared {
    PtxType type;
    uint8_t vec;
    uint32_t align;
    bool is_pointer;
} Declared;

static bool parse_align(Parser *p, uint32_t *align) {
    if (!parse_u32(p, align)) return false;
    if (*align == 0 || (*align & (*align - 1)) || *align > 1u << 16)
        return syntax_error(p, "an alignment that is a power of two");
    return true;
}

/* .align 8 .v4 .f32, and of a kernel's parameter .u64 .ptr .global .align 16 */
static bool parse_type(Parser *p, Declared *d) {
    *d = (Declared){PT_NONE, 1, 0, false};
    uint32_t pointee;
    for (; p->token.kind == TOKEN_DOT;) {
        if (is_dot(p, "align")) {
            next_token(p);
            if (!parse_align(p, d->is_pointer ? &pointee : &d->align)) return false;
            continue;
        }
        if (is_dot(p, "v2") || is_dot(p, "v4")) {
            d->vec = (uint8_t)(p->token.text[2] - '0');
        } else if (is_dot(p, "ptr")) {
            d->is_pointer = true;
        } else if (d->is_pointer) { /* the space that it points to */
            if (!is_dot(p, "global") && !is_dot(p, "const") && !is_dot(p, "shared") && !is_dot(p, "local"))
                return syntax_error(p, "a state space");
        } else {
            const Word *w = spelling_first(&p->load->words, WORD_TYPE, p->token.text + 1, p->token.length - 1);
            if (!w || d->type != PT_NONE) return syntax_error(p, "a type");
            d->type = (PtxType)w->row;
        }
        next_token(p);
    }
    return d->type != PT_NONE || syntax_error(p, "a type");
}

/* [4][8]: false if it is no array. An empty first dimension is 0. */
static bool parse_dims(Parser *p, uint64_t *dims, uint32_t *ndims) {
    *ndims = 0;
    while (accept(p, '[')) {
        int64_t n = 0;
        if (*ndims == MAX_DIMS) return syntax_error(p, "fewer dimensions");
        if (!is_punct(p, ']')) {
            if (!parse_int(p, &n)) return false;
            if (n < 0) return syntax_error(p, "a size that isn't negative");
        } else if (*ndims) {
            return syntax_error(p, "a size: only the first dimension may be left out");
        }
        dims[(*ndims)++] = (uint64_t)n;
        if (!expect(p, ']')) return false;
    }
    return true;
}

/* ---- variables ---------------------------------------------------------------------------------- */

static Symbol *new_variable(Parser *p, Name *name, Space space, const Declared *d) {
    Symbol *s = STORE_NEW(&p->load->scratch, Symbol);
    uint32_t natural = (uint32_t)ptx_types[d->type].bytes * d->vec;
    *s = (Symbol){.name = name,
                  .space = (uint8_t)space,
                  .type = (uint8_t)d->type,
                  .align = d->align  ? d->align
                           : natural ? natural
                                     : 1,
                  .line = p->token.line,
                  .source = p->source_index,
                  .owner = p->function,
                  .is_pointer = d->is_pointer};
    return s;
}

static bool set_size(Parser *p, Symbol *s, const Declared *d, const uint64_t *dims, uint32_t ndims) {
    s->bytes = (uint64_t)ptx_types[d->type].bytes * d->vec;
    for (uint32_t i = 0; i < ndims; i++)
        if (__builtin_mul_overflow(s->bytes, dims[i], &s->bytes) || s->bytes > UINT64_C(1) << 40) {
            load_error(p->load, p->source, s->line, "Variable '%s' is too large", s->name->text);
            s->bytes = 0;
            return false;
        }
    return true;
}

/* A second declaration of a module's variable: `.extern` before or after the definition. */
static void merge(Parser *p, Symbol *old, const Symbol *s) {
    if (old->function || (old->defined && s->defined)) {
        load_error(p->load, p->source, s->line, "Duplicate definition of variable '%s'", s->name->text);
        return;
    }
    if (!s->defined) return;
    Symbol *next = old->next;
    *old = *s;
    old->next = next;
}

bool place_behind(Symbol *s, uint64_t *at) {
    s->place = (*at + s->align - 1) & ~(uint64_t)(s->align - 1);
    *at = s->place + s->bytes;
    return *at < UINT64_C(1) << 31;
}

/* Local and ARG variables get their offset at once. */
static void place_local(Parser *p, Symbol *s) {
    Function *f = p->function;
    if (s->space != SPACE_LOCAL && s->space != SPACE_ARG) return;
    if (!place_behind(s, &f->local_at)) {
        load_error(p->load, p->source, s->line, "Local variables of '%s' need too much memory", f->symbol->name->text);
        f->local_at = 0;
    }
    if (f->local_at > f->local_max) f->local_max = f->local_at;
    if (s->align > f->local_align) f->local_align = s->align;
}

static void declare(Parser *p, Symbol *s) {
    bool old, local = p->function != NULL;
    Binding *b = scope_bind(p, s->name, BIND_SYMBOL, &old);
    if (old && (local || !b->symbol)) {
        load_error(p->load, p->source, s->line, "Duplicate definition of '%s'", s->name->text);
        return;
    }
    if (old) {
        merge(p, b->symbol, s);
        return;
    }
    b->kind = BIND_SYMBOL;
    b->symbol = s;
    if (local) {
        place_local(p, s);
        list_push(p->load, &p->function->variables, s);
    } else {
        *p->source->last_symbol = s;
        p->source->last_symbol = &s->next;
    }
}

/* What is behind the name of one variable: dimensions and initialiser. */
static bool parse_variable(Parser *p, Symbol *s, const Declared *d, Linkage linkage) {
    uint64_t dims[MAX_DIMS], count = 0;
    uint32_t ndims;
    if (!parse_dims(p, dims, &ndims)) return false;
    s->unsized = ndims && dims[0] == 0;
    s->linkage = (uint8_t)linkage;
    s->defined = linkage != LINK_EXTERN;
    if (s->type == PT_PRED) return syntax_error(p, "a type other than .pred");
    if (!set_size(p, s, d, dims, ndims)) return false;
    if (!accept(p, '=')) return true;
    if (s->space != SPACE_GLOBAL && s->space != SPACE_CONST) {
        load_error(p->load, p->source, s->line, "Variable '%s' is in a state space that cannot be initialised",
                   s->name->text);
        return false;
    }
    if (!d->vec || d->vec == 1 || ndims) {
        if (d->vec > 1) dims[ndims++] = d->vec;
    } else {
        dims[0] = d->vec, ndims = 1;
    }
    if (!parse_initialiser(p, s, dims, ndims, &count)) return false;
    if (s->unsized && linkage != LINK_EXTERN) {
        dims[0] = count;
        s->unsized = false;
        if (!set_size(p, s, d, dims, ndims - (d->vec > 1))) return false;
    }
    if (count * ptx_types[s->type].bytes <= s->bytes || s->bytes == 0) return true;
    load_error(p->load, p->source, s->line, "Too many initial values for variable '%s'", s->name->text);
    return false;
}

bool parse_variables(Parser *p, Space space, Linkage linkage, bool managed) {
    Declared d;
    if (is_dot(p, "texref") || is_dot(p, "samplerref") || is_dot(p, "surfref")) {
        load_error(p->load, p->source, p->token.line, "Textures and surfaces are not supported");
        return false;
    }
    if (!parse_type(p, &d)) return false;
    do {
        if (p->token.kind != TOKEN_NAME) return syntax_error(p, "the name of a variable");
        Name *name = name_get(p->load, p->token.text, p->token.length);
        Symbol *s = new_variable(p, name, space, &d);
        next_token(p);
        s->managed = managed;
        if (!parse_variable(p, s, &d, linkage)) return false;
        declare(p, s);
    } while (accept(p, ','));
    return expect(p, ';');
}

/* ---- parameters --------------------------------------------------------------------------------- */

static bool parse_parameter(Parser *p, SymbolList *list, bool is_kernel) {
    Declared d;
    bool in_register = accept_dot(p, "reg"), managed;
    if (!in_register && !accept_dot(p, "param")) return syntax_error(p, ".param");
    if (is_dot(p, "attribute")) return syntax_error(p, "a type"), managed = false;
    if (!parse_type(p, &d)) return false;
    if (p->token.kind != TOKEN_NAME) return syntax_error(p, "the name of a parameter");
    Name *name = name_get(p->load, p->token.text, p->token.length);
    Symbol *s = new_variable(p, name, is_kernel ? SPACE_PARAM : SPACE_ARG, &d);
    uint64_t dims[MAX_DIMS];
    uint32_t ndims;
    next_token(p);
    if (!parse_dims(p, dims, &ndims) || !set_size(p, s, &d, dims, ndims)) return false;
    s->is_param = s->defined = true;
    s->is_reg = in_register;
    list_push(p->load, list, s);
    if (in_register && s->type == PT_PRED) s->bytes = s->align = 4;
    if (name->length == 1 && name->text[0] == '_') return true;
    bool old;
    Binding *b = scope_bind(p, name, in_register ? BIND_REG : BIND_SYMBOL, &old);
    if (old) {
        load_error(p->load, p->source, s->line, "Duplicate definition of parameter '%s'", name->text);
        return true;
    }
    b->symbol = s;
    if (in_register) {
        b->reg = s->reg = STORE_ARRAY(&p->load->scratch, Reg, d.vec);
        for (int i = 0; i < d.vec; i++) s->reg[i] = (Reg){(uint8_t)d.type, d.vec, UINT32_MAX};
        if (d.vec > 1) return syntax_error(p, "a parameter that is no vector");
    }
    return true;
}

bool parse_parameters(Parser *p, SymbolList *list, bool is_kernel) {
    if (!expect(p, '(')) return false;
    if (accept(p, ')')) return true;
    do {
        if (!parse_parameter(p, list, is_kernel)) return false;
    } while (accept(p, ','));
    return expect(p, ')');
}

/* ---- registers ---------------------------------------------------------------------------------- */

static bool parse_range(Parser *p, Name *name, const Declared *d) {
    uint32_t line = p->token.line;
    bool old;
    next_token(p);
    if (p->token.kind != TOKEN_INT || p->token.value > UINT32_MAX) return syntax_error(p, "a number of registers");
    uint32_t count = (uint32_t)p->token.value; /* no expression: '>' would be an operator of it */
    next_token(p);
    if (!expect(p, '>')) return false;
    Binding *b = scope_bind(p, name, BIND_RANGE, &old);
    if (old) {
        load_error(p->load, p->source, line, "Duplicate definition of registers '%s<...>'", name->text);
        return true;
    }
    b->type = (uint8_t)d->type;
    b->vec = d->vec;
    b->count = count;
    return true;
}

bool parse_registers(Parser *p) {
    Declared d;
    if (!parse_type(p, &d)) return false;
    do {
        if (p->token.kind != TOKEN_NAME) return syntax_error(p, "the name of a register");
        Name *name = name_get(p->load, p->token.text, p->token.length);
        uint32_t line = p->token.line;
        next_token(p);
        if (is_punct(p, '<')) {
            if (!parse_range(p, name, &d)) return false;
            continue;
        }
        bool old;
        Binding *b = scope_bind(p, name, BIND_REG, &old);
        if (old) {
            load_error(p->load, p->source, line, "Duplicate definition of '%s'", name->text);
            continue;
        }
        b->reg = STORE_ARRAY(&p->load->scratch, Reg, d.vec);
        for (int i = 0; i < d.vec; i++) b->reg[i] = (Reg){(uint8_t)d.type, d.vec, UINT32_MAX};
    } while (accept(p, ','));
    return expect(p, ';');
}
