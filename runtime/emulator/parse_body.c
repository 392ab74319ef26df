/* parse_body.c - a function's body: declarations, labels, statements with their operands, nested scopes. */
#include "parse.h"

#include <string.h>

enum { MAX_DEPTH = 1000, MAX_ELEMENTS = 256 };

/* ---- symbols and labels ------------------------------------------------------------------------- */

/* A symbol is named often, and mostly by the function that named it last. */
void use_symbol(Load *load, Function *f, Symbol *s) {
    s->used = true;
    if (s->is_param || (!s->function && s->space != SPACE_SHARED)) return;
    if (s->last_user == f) return;
    s->last_user = f;
    list_push(load, &f->uses, s);
}

static uint32_t label_slot(const Function *f, const Name *name, const Scope *scope) {
    return (name->hash ^ scope->id * 0x9e3779b9u) & (f->label_slots - 1);
}

static Label *label_in(const Function *f, const Name *name, const Scope *scope) {
    if (!f->label_slots) return NULL;
    for (Label *l = f->labels[label_slot(f, name, scope)]; l; l = l->chain)
        if (l->name == name && l->scope == scope) return l;
    return NULL;
}

Label *find_label(const Function *f, Name *name, const Scope *scope) {
    for (; scope; scope = scope->parent) {
        Label *l = label_in(f, name, scope);
        if (l) return l;
    }
    return NULL;
}

static void more_label_slots(Parser *p, Function *f) {
    f->label_slots = f->label_slots ? f->label_slots * 4 : 16;
    f->labels = STORE_ARRAY(&p->load->scratch, Label *, f->label_slots);
    for (Label *l = f->first_label; l; l = l->next) {
        Label **slot = &f->labels[label_slot(f, l->name, l->scope)];
        l->chain = *slot;
        *slot = l;
    }
}

static Label *new_label(Parser *p, Name *name, LabelKind kind, uint32_t line) {
    Function *f = p->function;
    if (label_in(f, name, p->scope))
        load_error(p->load, p->source, line, "Duplicate definition of label '%s'", name->text);
    if (f->nlabels >= f->label_slots) more_label_slots(p, f);
    f->nlabels++;
    Label *l = STORE_NEW(&p->load->scratch, Label), **slot;
    *l = (Label){.name = name, .scope = p->scope, .kind = (uint8_t)kind, .line = line, .stmt = f->nstmts};
    slot = &f->labels[label_slot(f, name, p->scope)];
    l->chain = *slot;
    *slot = l;
    l->next = f->first_label;
    f->first_label = l;
    return l;
}

/* ---- operands ----------------------------------------------------------------------------------- */

static bool is_component(const Token *t, uint32_t *index) {
    static const char names[] = "xyzwrgba";
    if (t->kind != TOKEN_DOT || t->length != 2) return false;
    const char *at = strchr(names, t->text[1]);
    if (!at) return false;
    *index = (uint32_t)(at - names) % 4;
    return true;
}

/* .b0 ... .h1 behind a register */
static Part word_part(const Token *t) {
    if (t->kind != TOKEN_DOT || t->length != 3) return PART_ALL;
    char digit = t->text[2];
    if (t->text[1] == 'b' && digit >= '0' && digit <= '3') return (Part)(PART_B0 + digit - '0');
    return t->text[1] == 'h' && (digit == '0' || digit == '1') ? (Part)(PART_H0 + digit - '0') : PART_ALL;
}

static void vector_of(Parser *p, Arg *a, Reg *reg) {
    a->kind = ARG_VECTOR;
    a->count = reg->vec;
    a->elements = STORE_ARRAY(&p->load->scratch, Arg, reg->vec);
    for (uint32_t i = 0; i < a->count; i++) a->elements[i] = (Arg){.kind = ARG_REG, .reg = &reg[i]};
}

/* %tid.x, %laneid; the name was read, the component not. */
static bool special_register(Parser *p, Arg *a, const Token *name) {
    const Token *t = &p->token;
    uint32_t n = name->length, component;
    bool dotted = t->kind == TOKEN_DOT && t->text == name->text + n && is_component(t, &component);
    if (dotted) n += t->length;
    const Word *w = spelling_first(&p->load->words, WORD_SPECIAL, name->text, n);
    if (!w) return false;
    if (dotted) next_token(p);
    a->kind = ARG_SPECIAL;
    a->special = w->row;
    return true;
}

static bool parse_symbol_offset(Parser *p, Arg *a) {
    int64_t more;
    if (is_punct(p, '+') || is_punct(p, '-')) {
        if (!parse_int(p, &more)) return false;
        a->value = more;
    } else if (a->kind == ARG_SYMBOL && accept(p, '[')) { /* x[2]: the third element */
        if (!parse_int(p, &more) || !expect(p, ']')) return false;
        a->value = (int64_t)((uint64_t)more * ptx_types[a->symbol->type].bytes);
    }
    return true;
}

static bool parse_name_arg(Parser *p, Arg *a) {
    Token t = p->token;
    Name *name = name_get(p->load, t.text, t.length);
    next_token(p);
    if (name->length == 1 && name->text[0] == '_') {
        a->kind = ARG_SINK;
        return true;
    }
    Binding *b = scope_find(p, name);
    uint32_t component;
    if (b && b->reg) {
        a->kind = ARG_REG;
        a->reg = b->reg;
        if (b->reg->vec == 1) {
            if (p->parts && p->token.text == t.text + t.length) a->part = (uint8_t)word_part(&p->token);
            if (a->part) next_token(p);
            return true;
        }
        if (p->token.text == t.text + t.length && is_component(&p->token, &component) && component < b->reg->vec) {
            a->reg = &b->reg[component];
            next_token(p);
        } else {
            vector_of(p, a, b->reg);
        }
        return true;
    }
    if (b) {
        a->kind = ARG_SYMBOL;
        a->symbol = b->symbol;
        b->symbol->address_taken++;
        if (p->function) use_symbol(p->load, p->function, b->symbol);
        else b->symbol->used = true;
        return parse_symbol_offset(p, a);
    }
    if (t.text[0] == '%' && special_register(p, a, &t)) return true;
    if (t.text[0] == '%') {
        if (name->unknown_in != p->function) /* once is enough */
            load_error(p->load, p->source, t.line, "Unknown symbol '%s'", name->text);
        name->unknown_in = p->function;
        return true;
    }
    a->kind = ARG_NAME;
    a->name = name;
    return parse_symbol_offset(p, a);
}

static bool parse_vector(Parser *p, Arg *a) {
    Arg elements[MAX_ELEMENTS];
    uint32_t n = 0;
    do {
        if (n == MAX_ELEMENTS) return syntax_error(p, "fewer elements of a vector");
        if (is_punct(p, '{') || is_punct(p, '[')) return syntax_error(p, "a register");
        if (!parse_arg(p, &elements[n++])) return false;
    } while (accept(p, ','));
    a->kind = ARG_VECTOR;
    a->count = n;
    a->elements = STORE_ARRAY(&p->load->scratch, Arg, n);
    memcpy(a->elements, elements, n * sizeof *elements);
    return expect(p, '}');
}

/* [%rd1+8], [x], [x+4], [16] */
static bool parse_address_arg(Parser *p, Arg *a) {
    if (is_punct(p, '{') || is_punct(p, '[')) return syntax_error(p, "an address");
    if (!parse_arg(p, a)) return false;
    if (a->kind == ARG_REG && (is_punct(p, '+') || is_punct(p, '-')) && !parse_int(p, &a->value)) return false;
    a->address = true;
    return expect(p, ']');
}

static bool parse_number_arg(Parser *p, Arg *a) {
    Value v;
    if (!parse_constant(p, &v)) return false;
    a->kind = v.is_float ? ARG_FLOAT : ARG_INT;
    a->value = v.bits;
    a->bytes = v.bytes;
    return true;
}

bool parse_arg(Parser *p, Arg *a) {
    *a = (Arg){0};
    const Token *t = &p->token;
    if (is_punct(p, '!')) { /* !%p, or a constant */
        Lexer ahead = p->lexer;
        Token next;
        lex_next(&ahead, &next);
        if (next.kind == TOKEN_NAME && next.text[0] != 'W') {
            next_token(p);
            a->negated = true;
            bool good = parse_name_arg(p, a);
            a->negated = true;
            return good;
        }
    }
    if (t->kind == TOKEN_NAME && !(t->length == 7 && memcmp(t->text, "WARP_SZ", 7) == 0)) return parse_name_arg(p, a);
    if (accept(p, '{')) return parse_vector(p, a);
    if (accept(p, '[')) return parse_address_arg(p, a);
    return parse_number_arg(p, a);
}

/* ---- statements --------------------------------------------------------------------------------- */

static Arg *copy_args(Parser *p, const Arg *args, uint32_t n) {
    Arg *copy = STORE_ARRAY(&p->load->scratch, Arg, n);
    if (n) memcpy(copy, args, n * sizeof *args);
    return copy;
}

/* (a, b, c) */
static bool parse_list(Parser *p, Arg **args, uint32_t *n) {
    uint32_t room = 0;
    if (!expect(p, '(')) return false;
    if (accept(p, ')')) return true;
    do {
        Arg a;
        if (!parse_arg(p, &a)) return false;
        STORE_PUSH(&p->load->scratch, *args, *n, room) = a;
    } while (accept(p, ','));
    return expect(p, ')');
}

/* call [(results),] target [, (args)] [, prototype]; */
static bool parse_call(Parser *p, Stmt *s) {
    Call *c = s->call = STORE_NEW(&p->load->scratch, Call);
    if (is_punct(p, '(') && (!parse_list(p, &c->results, &c->nresults) || !expect(p, ','))) return false;
    if (!parse_arg(p, &c->target)) return false;
    if (c->target.kind == ARG_SYMBOL) c->target.symbol->address_taken--;
    else p->function->calls_pointers = true;
    while (accept(p, ',')) {
        if (is_punct(p, '(')) {
            if (c->args || c->prototype) return syntax_error(p, "';'");
            if (!parse_list(p, &c->args, &c->nargs)) return false;
        } else {
            if (p->token.kind != TOKEN_NAME || c->prototype) return syntax_error(p, "the label of a prototype");
            c->prototype = name_get(p->load, p->token.text, p->token.length);
            next_token(p);
        }
    }
    return expect(p, ';');
}

static bool parse_args(Parser *p, Stmt *s) {
    Arg args[MAX_OPERANDS + 2];
    uint32_t n = 0;
    while (!accept(p, ';')) {
        if (n == sizeof args / sizeof *args) return syntax_error(p, "fewer operands");
        Arg *a = &args[n++];
        if (!parse_arg(p, a)) return false;
        if (accept(p, '|')) a->pair = true;
        else if (!is_punct(p, ';') && !expect(p, ',')) return false;
    }
    if (n && args[n - 1].pair) return syntax_error(p, "an operand behind '|'");
    s->args = copy_args(p, args, n);
    s->nargs = n;
    return true;
}

/* The opcode with its modifiers as one text. They may have blanks between them, though nobody writes that. */
static Spelling *parse_spelling(Parser *p, const Token *first) {
    Token suffix;
    Lexer at_name = p->lexer;
    at_name.at = first->text + first->length;
    at_name.line = first->line;
    lex_suffix(&at_name, &suffix);
    p->lexer = at_name;
    next_token(p);
    size_t n = first->length + suffix.length;
    if (p->token.kind != TOKEN_DOT) return spelling_get(p->load, first->text, n);
    char text[256];
    if (n >= sizeof text) return spelling_get(p->load, first->text, n);
    memcpy(text, first->text, n);
    while (p->token.kind == TOKEN_DOT && n + p->token.length < sizeof text) {
        memcpy(text + n, p->token.text, p->token.length);
        n += p->token.length;
        next_token(p);
    }
    return spelling_get(p->load, text, n);
}

/* The braces of an operand close before the next ';' does. */
static bool at_vector(const Parser *p) {
    Lexer ahead = p->lexer;
    Token t;
    do lex_next(&ahead, &t);
    while (t.kind != TOKEN_END && !(t.kind == TOKEN_PUNCT && (t.punct == '}' || t.punct == ';' || t.punct == '{')));
    return t.punct == '}';
}

/* What follows '}' tells whether it ended an operand. */
static bool ends_vector(const Parser *p) {
    Lexer ahead = p->lexer;
    Token t;
    lex_next(&ahead, &t);
    return t.kind == TOKEN_PUNCT && (t.punct == ',' || t.punct == ';' || t.punct == ']');
}

/* After an error: behind the next ';' of this function. */
static void skip_statement(Parser *p) {
    while (p->token.kind != TOKEN_END) {
        if (accept(p, ';')) return;
        if (is_punct(p, '{') && !at_vector(p)) return;
        if (is_punct(p, '}') && !ends_vector(p)) return;
        if (is_punct(p, '{')) lex_skip_braces(&p->lexer);
        next_token(p);
    }
}

static bool parse_guard(Parser *p, Stmt *s) {
    Arg a;
    s->guard_not = accept(p, '!');
    if (!parse_arg(p, &a)) return false;
    if (a.kind == ARG_NONE) return true; /* told already */
    if (a.kind != ARG_REG || a.reg->type != PT_PRED) return syntax_error(p, "a predicate");
    s->guard = a.reg;
    return true;
}

static bool parse_instruction(Parser *p, Stmt *s) {
    Token first = p->token;
    if (first.kind != TOKEN_NAME || first.text[0] == '%') return syntax_error(p, "an instruction");
    s->line = first.line;
    s->op = parse_spelling(p, &first);
    if (s->op->error) {
        load_error(p->load, p->source, s->line, "%s", s->op->error);
        skip_statement(p);
        return true;
    }
    const PtxOpcode *op = s->op->opcode;
    if (op->control == CONTROL_CALL || op->control == CONTROL_CALL_INDIRECT) return parse_call(p, s);
    p->parts = op->operands[1] & O_PART;
    bool good = parse_args(p, s);
    p->parts = false;
    return good;
}

static bool parse_statement(Parser *p) {
    Stmt s = {.loc = p->loc, .scope = p->scope, .line = p->token.line, .used_bytes = p->used_bytes};
    p->used_bytes = 0;
    if (accept(p, '@') && !parse_guard(p, &s)) return false;
    if (!parse_instruction(p, &s)) return false;
    if (!s.op || s.op->error) return true;
    Stmt *kept = STORE_NEW(&p->load->scratch, Stmt);
    *kept = s;
    *p->function->end = kept;
    p->function->end = &kept->next;
    p->function->nstmts++;
    return true;
}

/* ---- what isn't an instruction ------------------------------------------------------------------ */

static bool parse_names(Parser *p, Label *l) {
    uint32_t room = 0;
    do {
        if (p->token.kind != TOKEN_NAME) return syntax_error(p, "a name");
        Name *name = name_get(p->load, p->token.text, p->token.length);
        STORE_PUSH(&p->load->scratch, l->targets, l->ntargets, room) = name;
        next_token(p);
    } while (accept(p, ','));
    return expect(p, ';');
}

/* label: .callprototype (.param .b32 _) _ (.param .b64 _); */
static bool parse_prototype(Parser *p, Label *l) {
    Function *f = l->prototype = STORE_NEW(&p->load->scratch, Function);
    if (is_punct(p, '(') && !parse_parameters(p, &f->results, false)) return false;
    if (p->token.kind != TOKEN_NAME) return syntax_error(p, "'_'");
    next_token(p);
    if (is_punct(p, '(') && !parse_parameters(p, &f->params, false)) return false;
    while (!accept(p, ';')) {
        uint32_t ignored;
        if (accept_dot(p, "noreturn")) continue;
        if ((accept_dot(p, "abi_preserve") || accept_dot(p, "abi_preserve_control")) && parse_u32(p, &ignored))
            continue;
        return syntax_error(p, "';'");
    }
    return true;
}

static bool parse_label(Parser *p) {
    Name *name = name_get(p->load, p->token.text, p->token.length);
    uint32_t line = p->token.line;
    next_token(p);
    next_token(p); /* ':' */
    if (accept_dot(p, "branchtargets")) return parse_names(p, new_label(p, name, LABEL_BRANCHTARGETS, line));
    if (accept_dot(p, "calltargets")) return parse_names(p, new_label(p, name, LABEL_CALLTARGETS, line));
    if (accept_dot(p, "callprototype")) return parse_prototype(p, new_label(p, name, LABEL_PROTOTYPE, line));
    new_label(p, name, LABEL_CODE, line);
    return true;
}

static bool at_label(const Parser *p) {
    if (p->token.kind != TOKEN_NAME) return false;
    Lexer ahead = p->lexer;
    Token next;
    lex_next(&ahead, &next);
    return next.kind == TOKEN_PUNCT && next.punct == ':';
}

static bool parse_body_directive(Parser *p) {
    static const struct {
        const char *word;
        Space space;
    } spaces[] = {{"local", SPACE_LOCAL},
                  {"shared", SPACE_SHARED},
                  {"param", SPACE_ARG},
                  {"global", SPACE_GLOBAL},
                  {"const", SPACE_CONST}};
    if (accept_dot(p, "reg")) return parse_registers(p);
    if (accept_dot(p, "loc")) return parse_loc(p);
    if (accept_dot(p, "file")) return parse_file(p);
    if (accept_dot(p, "pragma")) return parse_pragma(p);
    if (accept_dot(p, "section")) return parse_section(p);
    Linkage linkage = accept_dot(p, "extern") ? LINK_EXTERN : LINK_STATIC;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (accept_dot(p, spaces[i].word)) return parse_variables(p, spaces[i].space, linkage, false);
    return syntax_error(p, "a directive of a function's body");
}

static bool parse_one(Parser *p) {
    if (p->token.kind == TOKEN_DOT) return parse_body_directive(p);
    if (at_label(p)) return parse_label(p);
    return parse_statement(p);
}

bool parse_body(Parser *p, Function *f) {
    uint32_t depth = 0;
    p->function = f;
    p->loc = 0;
    f->first_loc = p->load->code->nlocs;
    do {
        if (accept(p, '{')) {
            if (++depth > MAX_DEPTH) {
                load_error(p->load, p->source, p->token.line, "Scopes are nested too deeply");
                break;
            }
            scope_enter(p);
            p->scope->local_at = f->local_at;
        } else if (is_punct(p, '}')) {
            f->local_at = p->scope->local_at;
            scope_leave(p);
            depth--;
            if (depth) next_token(p);
        } else if (!accept(p, ';') && !parse_one(p)) {
            skip_statement(p);
        }
        if (p->token.kind == TOKEN_END || load_gives_up(p->load)) break;
    } while (depth);
    p->function = NULL;
    for (; depth; depth--) scope_leave(p);
    if (is_punct(p, '}')) next_token(p);
    else if (!load_gives_up(p->load)) syntax_error(p, "'}'");
    return true;
}
