/* parse.c - PTX text: the stream of words, module-level directives, functions' heads, debug information.
 *
 * After an error the reader goes on behind the statement, so that several mistakes are told at once. */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

/* ---- words -------------------------------------------------------------------------------------- */

void next_token(Parser *p) { lex_next(&p->lexer, &p->token); }

bool is_punct(const Parser *p, uint16_t punct) { return p->token.kind == TOKEN_PUNCT && p->token.punct == punct; }

bool accept(Parser *p, uint16_t punct) {
    if (!is_punct(p, punct)) return false;
    next_token(p);
    return true;
}

bool is_dot(const Parser *p, const char *word) {
    size_t n = strlen(word);
    return p->token.kind == TOKEN_DOT && p->token.length == n + 1 && memcmp(p->token.text + 1, word, n) == 0;
}

bool accept_dot(Parser *p, const char *word) {
    if (!is_dot(p, word)) return false;
    next_token(p);
    return true;
}

bool syntax_error(Parser *p, const char *expected) {
    const Token *t = &p->token;
    if (t->kind == TOKEN_END)
        load_error(p->load, p->source, t->line, "Parsing error: the text ends where %s is expected", expected);
    else
        load_error(p->load, p->source, t->line, "Parsing error near '%.*s': syntax error, %s is expected",
                   t->length > 60 ? 60 : (int)t->length, t->text, expected);
    return false;
}

bool expect(Parser *p, uint16_t punct) {
    char text[4] = {'\'', (char)punct, '\'', 0};
    return accept(p, punct) || syntax_error(p, text);
}

bool parse_u32(Parser *p, uint32_t *value) {
    int64_t v;
    if (!parse_int(p, &v)) return false;
    if (v < 0 || v > UINT32_MAX) return syntax_error(p, "a number that fits 32 bits");
    *value = (uint32_t)v;
    return true;
}

/* Goes on behind the ';' or the braces of what wasn't understood. */
static void recover(Parser *p) {
    while (p->token.kind != TOKEN_END) {
        if (accept(p, ';')) return;
        if (is_punct(p, '{')) {
            lex_skip_braces(&p->lexer);
            next_token(p);
            return;
        }
        next_token(p);
        if (p->token.kind == TOKEN_DOT && (is_dot(p, "visible") || is_dot(p, "entry") || is_dot(p, "func"))) return;
    }
}

/* ---- .version .target .address_size ------------------------------------------------------------- */

/* "8.5": the lexer reads it as a float, so the text is read again. */
static bool parse_version(Parser *p) {
    uint32_t major = 0, minor = 0, i = 0;
    const Token *t = &p->token;
    if (t->kind != TOKEN_FLOAT && t->kind != TOKEN_INT) return syntax_error(p, "a version such as 8.5");
    for (; i < t->length && t->text[i] >= '0' && t->text[i] <= '9' && major < 1000; i++)
        major = major * 10 + (uint32_t)(t->text[i] - '0');
    if (i < t->length && t->text[i] == '.') i++;
    for (; i < t->length && t->text[i] >= '0' && t->text[i] <= '9' && minor < 1000; i++)
        minor = minor * 10 + (uint32_t)(t->text[i] - '0');
    if (i < t->length || major < 1 || major > 99 || minor > 9) return syntax_error(p, "a version such as 8.5");
    p->source->version = (uint16_t)(major * 10 + minor);
    next_token(p);
    return true;
}

/* sm_90, sm_90a, compute_90; then options that change nothing here. */
static bool parse_target(Parser *p) {
    do {
        const Token *t = &p->token;
        if (t->kind != TOKEN_NAME) return syntax_error(p, "a target such as sm_80");
        uint32_t skip = t->length > 3 && memcmp(t->text, "sm_", 3) == 0        ? 3
                        : t->length > 8 && memcmp(t->text, "compute_", 8) == 0 ? 8
                                                                               : 0;
        if (skip) {
            uint32_t sm = 0;
            for (uint32_t i = skip; i < t->length && t->text[i] >= '0' && t->text[i] <= '9' && sm < 1000; i++)
                sm = sm * 10 + (uint32_t)(t->text[i] - '0');
            if (sm < 10 || sm > 999) return syntax_error(p, "a target such as sm_80");
            p->source->sm = (uint16_t)sm;
            if (sm > p->load->sm)
                load_error(p->load, p->source, t->line,
                           "Program with .target '%.*s' cannot be compiled for architecture 'sm_%u'", (int)t->length,
                           t->text, p->load->sm);
        }
        next_token(p);
    } while (accept(p, ','));
    return true;
}

static bool parse_address_size(Parser *p) {
    uint32_t line = p->token.line, bits = 0;
    if (!parse_u32(p, &bits)) return false;
    if (bits != 64) load_error(p->load, p->source, line, "Unsupported .address_size %u: 64 is", bits);
    return true;
}

/* ---- debug information -------------------------------------------------------------------------- */

bool parse_file(Parser *p) {
    uint32_t index = 0;
    if (!parse_u32(p, &index)) return false;
    if (p->token.kind != TOKEN_STRING) return syntax_error(p, "the name of a file");
    Source *s = p->source;
    if (index > 1u << 20) return syntax_error(p, "a smaller number of a file");
    while (s->nfiles <= index)
        STORE_PUSH(&p->load->scratch, s->files, s->nfiles, s->files_room) = (SourceFile){NULL, 0};
    s->files[index] = (SourceFile){p->token.text, p->token.length};
    next_token(p);
    for (int i = 0; i < 2 && accept(p, ','); i++) { /* time and size */
        Value v;
        if (!parse_constant(p, &v)) return false;
    }
    return true;
}

static uint32_t new_loc(Parser *p, uint32_t file, uint32_t line, uint32_t column) {
    Load *load = p->load;
    PtxCode *code = load->code;
    if (code->nlocs == load->locs_room) {
        uint32_t room = load->locs_room, more = room;
        code->locs = store_grow(&load->scratch, code->locs, code->nlocs, &more, sizeof *code->locs);
        load->pending = store_grow(&load->scratch, load->pending, code->nlocs, &room, sizeof *load->pending);
        load->locs_room = room;
    }
    code->locs[code->nlocs] = (PtxLoc){NULL, line, column, p->function ? p->function->symbol->name->text : NULL, 0};
    load->pending[code->nlocs] = (PendingLoc){NULL, file, false};
    return code->nlocs++;
}

/* The caller of an inlined function: a place that a .loc of this function named before, which may be inlined itself. */
static uint32_t find_loc(Parser *p, uint32_t file, uint32_t line, uint32_t column) {
    const PtxCode *code = p->load->code;
    uint32_t first = p->function ? p->function->first_loc : code->nlocs, looked = 0;
    for (uint32_t i = code->nlocs; i-- > first && looked < 200; looked++) {
        const PtxLoc *l = &code->locs[i];
        if (l->line == line && l->column == column && p->load->pending[i].file == file) return i;
    }
    return new_loc(p, file, line, column);
}

/* .loc file line column [, function_name label [+ n], inlined_at file line column] */
bool parse_loc(Parser *p) {
    uint32_t at[3], from[3];
    for (int i = 0; i < 3; i++)
        if (!parse_u32(p, &at[i])) return false;
    Name *function = NULL;
    bool inlined = false;
    while (accept(p, ',')) {
        bool name =
            p->token.kind == TOKEN_NAME && p->token.length == 13 && memcmp(p->token.text, "function_name", 13) == 0;
        bool inlines =
            p->token.kind == TOKEN_NAME && p->token.length == 10 && memcmp(p->token.text, "inlined_at", 10) == 0;
        if (!name && !inlines) return syntax_error(p, "function_name or inlined_at");
        next_token(p);
        if (name) {
            if (p->token.kind != TOKEN_NAME) return syntax_error(p, "a label");
            function = name_get(p->load, p->token.text, p->token.length);
            next_token(p);
            int64_t offset;
            if (accept(p, '+') && !parse_int(p, &offset)) return false;
        } else {
            for (int i = 0; i < 3; i++)
                if (!parse_u32(p, &from[i])) return false;
            inlined = true;
        }
    }
    if (at[1] == 0) return true; /* code of several places, or of none: it counts to the place before */
    uint32_t outer = inlined ? find_loc(p, from[0], from[1], from[2]) : 0;
    p->loc = new_loc(p, at[0], at[1], at[2]);
    p->load->code->locs[p->loc].inlined_at = outer;
    p->load->pending[p->loc].function = function;
    return true;
}

/* Sections are skipped but for the strings of .debug_str, which name inlined functions: `label: .b8 102, 0`. */
static void read_debug_strings(Parser *p) {
    Name *label = NULL;
    char text[256];
    size_t n = 0;
    for (;; next_token(p)) {
    again:
        if (p->token.kind == TOKEN_END || accept(p, '}')) return;
        if (p->token.kind == TOKEN_NAME) {
            Name *name = name_get(p->load, p->token.text, p->token.length);
            next_token(p);
            if (!is_punct(p, ':')) goto again;
            label = name;
            n = 0;
        } else if (p->token.kind == TOKEN_INT && label) {
            if (p->token.value == 0 || n + 1 == sizeof text) {
                label->string = store_string(p->load->keep, text, n);
                label = NULL;
            } else {
                text[n++] = (char)p->token.value;
            }
        }
    }
}

bool parse_section(Parser *p) {
    if (p->token.kind != TOKEN_DOT && p->token.kind != TOKEN_NAME) return syntax_error(p, "the name of a section");
    bool strings = is_dot(p, "debug_str");
    next_token(p);
    if (!is_punct(p, '{')) return syntax_error(p, "'{'");
    if (strings) {
        next_token(p);
        read_debug_strings(p);
    } else {
        lex_skip_braces(&p->lexer);
        next_token(p);
    }
    return true;
}

/* Files and functions of the locs, when all of the source is read. */
static void finish_locs(Parser *p) {
    Load *load = p->load;
    Source *s = p->source;
    const char **paths = STORE_ARRAY(&load->scratch, const char *, s->nfiles + 1);
    for (uint32_t i = 0; i < s->nfiles; i++)
        if (s->files[i].path) paths[i] = store_string(load->keep, s->files[i].path, s->files[i].length);
    for (uint32_t i = s->first_loc; i < load->code->nlocs; i++) {
        PtxLoc *l = &load->code->locs[i];
        const PendingLoc *pending = &load->pending[i];
        l->file = pending->file < s->nfiles ? paths[pending->file] : NULL;
        if (pending->function && pending->function->string) l->function = pending->function->string;
    }
}

/* ---- functions ---------------------------------------------------------------------------------- */

static bool parse_dimensions(Parser *p, uint32_t d[3]) {
    d[0] = d[1] = d[2] = 1;
    for (int i = 0; i < 3; i++) {
        if (!parse_u32(p, &d[i])) return false;
        if (!accept(p, ',')) return true;
    }
    return syntax_error(p, "at most three numbers");
}

/* One of them means something here: "used_bytes_mask 0xfff", which bytes of the load behind it count. */
bool parse_pragma(Parser *p) {
    static const char used[] = "used_bytes_mask ";
    do {
        if (p->token.kind != TOKEN_STRING) return syntax_error(p, "a string");
        if (p->token.length > sizeof used - 1 && memcmp(p->token.text, used, sizeof used - 1) == 0)
            p->used_bytes = (uint32_t)strtoul(p->token.text + sizeof used - 1, NULL, 0);
        next_token(p);
    } while (accept(p, ','));
    return expect(p, ';');
}

/* `.attribute(.managed)`, `(.unified(a, b))`: only .managed means something here. */
static bool parse_attribute(Parser *p, bool *managed) {
    if (!expect(p, '(')) return false;
    for (int depth = 1; depth; next_token(p)) {
        if (p->token.kind == TOKEN_END) return syntax_error(p, "')'");
        if (is_dot(p, "managed")) *managed = true;
        if (is_punct(p, '(')) depth++;
        if (is_punct(p, ')')) depth--;
    }
    return true;
}

/* One of the directives between a function's parameters and its body. */
static bool parse_directive(Parser *p, Function *f) {
    uint32_t ignored;
    bool managed;
    if (accept_dot(p, "maxntid")) return parse_dimensions(p, f->max_threads);
    if (accept_dot(p, "reqntid")) return parse_dimensions(p, f->required_threads);
    if (accept_dot(p, "minnctapersm")) return parse_u32(p, &f->min_blocks);
    if (accept_dot(p, "maxnreg")) return parse_u32(p, &f->max_registers);
    if (accept_dot(p, "reqnctapercluster")) return parse_dimensions(p, f->cluster);
    if (accept_dot(p, "maxnctapersm") || accept_dot(p, "maxclusterrank") || accept_dot(p, "abi_preserve") ||
        accept_dot(p, "abi_preserve_control") || accept_dot(p, "local_maxnreg"))
        return parse_u32(p, &ignored);
    if (accept_dot(p, "explicitcluster") || accept_dot(p, "blocksareclusters")) return true;
    if (accept_dot(p, "noreturn")) return f->is_noreturn = true;
    if (accept_dot(p, "pragma")) return parse_pragma(p);
    if (accept_dot(p, "attribute")) return parse_attribute(p, &managed);
    return syntax_error(p, "a function's directive, '{' or ';'");
}

static Symbol *function_symbol(Parser *p, Name *name, Linkage linkage, uint32_t line) {
    bool old;
    Binding *b = scope_bind(p, name, BIND_SYMBOL, &old);
    if (old && !b->symbol->function) {
        load_error(p->load, p->source, line, "Duplicate definition of '%s'", name->text);
        old = false;
    }
    if (old) {
        if (linkage != LINK_STATIC && linkage != LINK_EXTERN) b->symbol->linkage = (uint8_t)linkage;
        return b->symbol;
    }
    Symbol *s = b->symbol = STORE_NEW(&p->load->scratch, Symbol);
    s->name = name;
    s->linkage = (uint8_t)linkage;
    s->line = line;
    s->source = p->source_index;
    *p->source->last_symbol = s;
    p->source->last_symbol = &s->next;
    return s;
}

static Function *new_function(Load *load, bool is_kernel, uint32_t line) {
    Function *f = STORE_NEW(&load->scratch, Function);
    f->is_kernel = is_kernel;
    f->end = &f->body;
    f->line = line;
    f->index = UINT32_MAX;
    f->first_loc = load->code->nlocs;
    return f;
}

/* [(results)] name [(parameters)]: also of a .callprototype, where the name is `_`. */
static bool parse_head(Parser *p, Function *f, Name **name) {
    if (!f->is_kernel && is_punct(p, '(') && !parse_parameters(p, &f->results, false)) return false;
    if (p->token.kind != TOKEN_NAME) return syntax_error(p, "the name of a function");
    *name = name_get(p->load, p->token.text, p->token.length);
    next_token(p);
    return !is_punct(p, '(') || parse_parameters(p, &f->params, f->is_kernel);
}

/* Parameters, then results, are laid out from 0: in the launch's buffer, or in the function's local memory. */
static bool place_parameters(Parser *p, Function *f) {
    SymbolList *lists[] = {&f->params, &f->results};
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < lists[k]->count; i++) {
            Symbol *s = lists[k]->items[i];
            s->owner = f;
            if (!place_behind(s, &f->local_at)) return syntax_error(p, "less memory for parameters");
            if (s->align > f->local_align) f->local_align = s->align;
        }
    f->param_bytes = (uint32_t)f->local_at;
    if (f->is_kernel) f->local_at = f->local_align = 0;
    f->local_max = f->local_at;
    return true;
}

/* The body makes it a definition: of the symbol that calls above may have named already. */
static bool define_function(Parser *p, Function *f, Linkage linkage) {
    Symbol *s = f->symbol;
    if (s->function && s->function->has_body)
        load_error(p->load, p->source, f->line, "Duplicate definition of function '%s'", s->name->text);
    f->has_body = s->defined = true;
    if (linkage == LINK_EXTERN) s->linkage = LINK_VISIBLE;
    else if (s->linkage == LINK_EXTERN) s->linkage = (uint8_t)linkage;
    if (f->is_kernel && s->linkage == LINK_STATIC) s->linkage = LINK_VISIBLE;
    s->function = f;
    return parse_body(p, f);
}

/* Parameters belong to the scope that is open, the function's own; its name to `module`. */
static bool parse_function_in_scope(Parser *p, Function *f, Linkage linkage, Scope *module) {
    Name *name = NULL;
    if (!parse_head(p, f, &name) || !place_parameters(p, f)) return false;
    Scope *own = p->scope;
    p->scope = module;
    Symbol *s = f->symbol = function_symbol(p, name, linkage, f->line);
    p->scope = own;
    while (!is_punct(p, '{') && !is_punct(p, ';') && p->token.kind != TOKEN_END)
        if (!parse_directive(p, f)) return false;
    if (is_punct(p, '{')) return define_function(p, f, linkage);
    if (!s->function) s->function = f;
    return expect(p, ';');
}

static bool parse_function(Parser *p, bool is_kernel, Linkage linkage) {
    Function *f = new_function(p->load, is_kernel, p->token.line);
    Scope *module = p->scope;
    bool managed;
    if (accept_dot(p, "attribute") && !parse_attribute(p, &managed)) return false;
    scope_enter(p);
    bool good = parse_function_in_scope(p, f, linkage, module);
    scope_leave(p);
    return good;
}

/* .alias f, g; */
static bool parse_alias(Parser *p) {
    Name *names[2];
    uint32_t line = p->token.line;
    for (int i = 0; i < 2; i++) {
        if (p->token.kind != TOKEN_NAME) return syntax_error(p, "the name of a function");
        names[i] = name_get(p->load, p->token.text, p->token.length);
        next_token(p);
        if (i == 0 && !expect(p, ',')) return false;
    }
    Binding *b = scope_find(p, names[0]);
    if (!b || b->kind != BIND_SYMBOL || !b->symbol->function || b->symbol->function->has_body) {
        load_error(p->load, p->source, line, "Function '%s' must be declared, without a body, before its .alias",
                   names[0]->text);
        return expect(p, ';');
    }
    Binding *of = scope_find(p, names[1]);
    if (!of || of->kind != BIND_SYMBOL || !of->symbol->function || of->symbol == b->symbol) {
        load_error(p->load, p->source, line, "'%s' of .alias '%s' is not a function", names[1]->text, names[0]->text);
        return expect(p, ';');
    }
    b->symbol->defined = true;
    b->symbol->alias_of = of->symbol;
    return expect(p, ';');
}

/* ---- the module --------------------------------------------------------------------------------- */

static bool parse_declaration(Parser *p) {
    Linkage linkage = LINK_STATIC;
    bool managed = false;
    for (;;) {
        if (accept_dot(p, "visible")) linkage = LINK_VISIBLE;
        else if (accept_dot(p, "extern")) linkage = LINK_EXTERN;
        else if (accept_dot(p, "weak")) linkage = LINK_WEAK;
        else if (accept_dot(p, "common")) linkage = LINK_COMMON;
        else break;
    }
    if (accept_dot(p, "entry")) return parse_function(p, true, linkage);
    if (accept_dot(p, "func")) return parse_function(p, false, linkage);
    static const struct {
        const char *word;
        Space space;
    } spaces[] = {{"global", SPACE_GLOBAL}, {"const", SPACE_CONST}, {"shared", SPACE_SHARED}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        if (!accept_dot(p, spaces[i].word)) continue;
        if (accept_dot(p, "attribute") && !parse_attribute(p, &managed)) return false;
        return parse_variables(p, spaces[i].space, linkage, managed);
    }
    if (is_dot(p, "tex") || is_dot(p, "local") || is_dot(p, "reg")) {
        load_error(p->load, p->source, p->token.line, "'%.*s' variables outside of functions are not supported",
                   (int)p->token.length, p->token.text);
        recover(p);
        return true;
    }
    return syntax_error(p, "a directive of a module");
}

static bool parse_item(Parser *p) {
    if (accept(p, ';')) return true;
    if (accept_dot(p, "version")) return parse_version(p);
    if (accept_dot(p, "target")) return parse_target(p);
    if (accept_dot(p, "address_size")) return parse_address_size(p);
    if (accept_dot(p, "file")) return parse_file(p);
    if (accept_dot(p, "loc")) return parse_loc(p);
    if (accept_dot(p, "section")) return parse_section(p);
    if (accept_dot(p, "pragma")) return parse_pragma(p);
    if (accept_dot(p, "alias")) return parse_alias(p);
    return parse_declaration(p);
}

/* An initialiser may name what is declared below it. */
static void finish_initialisers(Parser *p) {
    for (Symbol *s = p->source->symbols; s; s = s->next)
        for (Init *in = s->init; in; in = in->next) {
            if (in->symbol.kind != ARG_NAME) continue;
            Binding *b = scope_find(p, in->symbol.name);
            if (!b || !b->symbol) {
                load_error(p->load, p->source, in->line, "Unknown symbol '%s'", in->symbol.name->text);
                continue;
            }
            in->symbol = (Arg){.kind = ARG_SYMBOL, .symbol = b->symbol};
            b->symbol->used = true;
            b->symbol->address_taken++;
        }
}

bool parse_source(Parser *p) {
    uint32_t errors = p->load->log->errors;
    p->source->last_symbol = &p->source->symbols;
    p->source->first_loc = p->load->code->nlocs;
    p->lexer = (Lexer){p->source->text, p->source->end, 1};
    scope_enter(p);
    next_token(p);
    if (!is_dot(p, "version")) syntax_error(p, ".version, which every PTX begins with,");
    while (p->token.kind != TOKEN_END && !load_gives_up(p->load)) {
        if (parse_item(p)) continue;
        recover(p);
    }
    finish_locs(p);
    finish_initialisers(p);
    scope_leave(p);
    return p->load->log->errors == errors;
}
