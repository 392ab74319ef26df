/* parse_expr.c - constant expressions, as C has them over 64-bit integers, and initialisers of variables. */
#include "parse.h"

#include <stdio.h>
#include <string.h>

enum { MAX_NESTING = 200 };

static bool parse_ternary(Parser *p, Value *v);
static bool parse_unary(Parser *p, Value *v);

static Value int_value(uint64_t bits, bool is_unsigned) { return (Value){(int64_t)bits, is_unsigned, false, 8}; }

static bool too_deep(Parser *p) {
    load_error(p->load, p->source, p->token.line, "Expression is nested too deeply");
    return false;
}

static bool needs_int(Parser *p, const Value *v) {
    if (!v->is_float) return true;
    load_error(p->load, p->source, p->token.line,
               "Constant expression has a floating-point operand where an integer is needed");
    return false;
}

/* ---- operands ----------------------------------------------------------------------------------- */

/* (.s64) and (.u64) before an operand. */
static bool parse_cast(Parser *p, Value *v, bool *was_cast) {
    Lexer before = p->lexer;
    Token token = p->token;
    *was_cast = false;
    if (!accept(p, '(')) return true;
    bool is_signed = is_dot(p, "s64"), is_unsigned = is_dot(p, "u64");
    if (!is_signed && !is_unsigned) {
        p->lexer = before;
        p->token = token;
        return true;
    }
    next_token(p);
    *was_cast = true;
    if (!expect(p, ')') || !parse_unary(p, v) || !needs_int(p, v)) return false;
    v->is_unsigned = is_unsigned;
    return true;
}

static bool parse_primary(Parser *p, Value *v) {
    const Token *t = &p->token;
    bool was_cast;
    if (t->kind == TOKEN_INT) {
        *v = int_value(t->value, t->is_unsigned);
    } else if (t->kind == TOKEN_FLOAT) {
        *v = (Value){(int64_t)t->value, false, true, t->bytes};
    } else if (t->kind == TOKEN_NAME && t->length == 7 && memcmp(t->text, "WARP_SZ", 7) == 0) {
        *v = int_value(WARP, false);
    } else if (is_punct(p, '(')) {
        if (!parse_cast(p, v, &was_cast)) return false;
        if (was_cast) return true;
        next_token(p);
        return parse_ternary(p, v) && expect(p, ')');
    } else {
        return syntax_error(p, "a constant");
    }
    next_token(p);
    return true;
}

static bool parse_unary(Parser *p, Value *v) {
    if (p->nesting > MAX_NESTING) return too_deep(p);
    uint16_t op = is_punct(p, '-') || is_punct(p, '+') || is_punct(p, '!') || is_punct(p, '~') ? p->token.punct : 0;
    if (!op) return parse_primary(p, v);
    next_token(p);
    p->nesting++;
    bool good = parse_unary(p, v);
    p->nesting--;
    if (!good) return false;
    if (v->is_float) {
        if (op == '-') v->bits ^= v->bytes == 4 ? INT64_C(0x80000000) : INT64_MIN;
        return op == '-' || op == '+' || needs_int(p, v);
    }
    switch (op) {
    case '-': v->bits = (int64_t)(0 - (uint64_t)v->bits); break;
    case '~': v->bits = ~v->bits; break;
    case '!': *v = int_value(v->bits == 0, false); break;
    default: break;
    }
    return true;
}

/* ---- operators ---------------------------------------------------------------------------------- */

static int precedence(const Parser *p) {
    if (p->token.kind != TOKEN_PUNCT) return 0;
    switch (p->token.punct) {
    case '*':
    case '/':
    case '%': return 10;
    case '+':
    case '-': return 9;
    case PUNCT_SHL:
    case PUNCT_SHR: return 8;
    case '<':
    case '>':
    case PUNCT_LE:
    case PUNCT_GE: return 7;
    case PUNCT_EQ:
    case PUNCT_NE: return 6;
    case '&': return 5;
    case '^': return 4;
    case '|': return 3;
    case PUNCT_AND: return 2;
    case PUNCT_OR: return 1;
    default: return 0;
    }
}

static bool divide(Parser *p, uint16_t op, int64_t a, int64_t b, bool u, uint64_t *r) {
    if (b == 0) {
        load_error(p->load, p->source, p->token.line, "Division by zero in a constant expression");
        return false;
    }
    if (u) *r = op == '/' ? (uint64_t)a / (uint64_t)b : (uint64_t)a % (uint64_t)b;
    else if (b == -1) *r = op == '/' ? 0 - (uint64_t)a : 0;
    else *r = (uint64_t)(op == '/' ? a / b : a % b);
    return true;
}

static uint64_t shifted(uint16_t op, int64_t a, uint64_t n, bool u) {
    if (op == PUNCT_SHL) return n > 63 ? 0 : (uint64_t)a << n;
    if (u) return n > 63 ? 0 : (uint64_t)a >> n;
    return (uint64_t)(a >> (n > 63 ? 63 : n));
}

static bool combine(Parser *p, uint16_t op, Value *v, const Value *w) {
    if (!needs_int(p, v) || !needs_int(p, w)) return false;
    bool u = v->is_unsigned || w->is_unsigned;
    int64_t a = v->bits, b = w->bits;
    uint64_t x = (uint64_t)a, y = (uint64_t)b, r = 0;
    bool less = u ? x < y : a < b, compared = false;
    switch (op) {
    case '*': r = x * y; break;
    case '/':
    case '%':
        if (!divide(p, op, a, b, u, &r)) return false;
        break;
    case '+': r = x + y; break;
    case '-': r = x - y; break;
    case PUNCT_SHL:
    case PUNCT_SHR: r = shifted(op, a, y, v->is_unsigned), u = v->is_unsigned; break;
    case '&': r = x & y; break;
    case '^': r = x ^ y; break;
    case '|': r = x | y; break;
    case '<': r = less, compared = true; break;
    case '>': r = !less && x != y, compared = true; break;
    case PUNCT_LE: r = less || x == y, compared = true; break;
    case PUNCT_GE: r = !less, compared = true; break;
    case PUNCT_EQ: r = x == y, compared = true; break;
    case PUNCT_NE: r = x != y, compared = true; break;
    case PUNCT_AND: r = x && y, compared = true; break;
    default: r = x || y, compared = true; break;
    }
    *v = int_value(r, u && !compared);
    return true;
}

static bool parse_binary(Parser *p, Value *v, int least) {
    if (!parse_unary(p, v)) return false;
    for (int level; (level = precedence(p)) >= least && level;) {
        uint16_t op = p->token.punct;
        Value w;
        next_token(p);
        if (!parse_binary(p, &w, level + 1) || !combine(p, op, v, &w)) return false;
    }
    return true;
}

static bool parse_ternary(Parser *p, Value *v) {
    if (++p->nesting > MAX_NESTING) return too_deep(p);
    bool good = parse_binary(p, v, 1);
    if (good && accept(p, '?')) {
        Value yes, no;
        good = needs_int(p, v) && parse_ternary(p, &yes) && expect(p, ':') && parse_ternary(p, &no);
        if (good) *v = v->bits ? yes : no;
    }
    p->nesting--;
    return good;
}

bool parse_constant(Parser *p, Value *v) {
    p->nesting = 0;
    return parse_ternary(p, v);
}

bool parse_int(Parser *p, int64_t *value) {
    Value v;
    if (!parse_constant(p, &v) || !needs_int(p, &v)) return false;
    *value = v.bits;
    return true;
}

/* ---- initialisers ------------------------------------------------------------------------------- */

/* A number in the type of an element, as its bits. */
static bool convert(Parser *p, const Value *v, PtxType type, uint64_t *bits) {
    bool is_float = ptx_types[type].kind == KIND_FLOAT;
    if (v->is_float && (type == PT_F64 || type == PT_F32)) {
        double d;
        float f;
        uint32_t low = (uint32_t)v->bits;
        if (v->bytes == 4) memcpy(&f, &low, 4), d = (double)f;
        else memcpy(&d, &v->bits, 8), f = (float)d;
        if (type == PT_F64) memcpy(bits, &d, 8);
        else if (v->bytes == 4) *bits = low; /* a NaN keeps its bits */
        else memcpy(&low, &f, 4), *bits = low;
        return true;
    }
    if (v->is_float && v->bytes == ptx_types[type].bytes && !is_float) { /* .b32 with 0f... */
        *bits = (uint64_t)v->bits;
        return true;
    }
    if (v->is_float) {
        load_error(p->load, p->source, p->token.line, "Floating-point value cannot initialise a .%s",
                   ptx_types[type].spelling);
        return false;
    }
    if (type == PT_F64 || type == PT_F32) {
        double d = v->is_unsigned ? (double)(uint64_t)v->bits : (double)v->bits;
        float f = (float)d;
        uint32_t low;
        if (type == PT_F64) memcpy(bits, &d, 8);
        else memcpy(&low, &f, 4), *bits = low;
        return true;
    }
    *bits = (uint64_t)v->bits;
    return true;
}

/* symbol, symbol + 8, generic(symbol) + 8 */
static bool parse_address(Parser *p, Init *in) {
    bool generic = p->token.length == 7 && memcmp(p->token.text, "generic", 7) == 0;
    if (generic) {
        next_token(p);
        if (!expect(p, '(')) return false;
    }
    if (!parse_arg(p, &in->symbol)) return false;
    if (generic && !expect(p, ')')) return false;
    if (in->symbol.kind != ARG_SYMBOL && in->symbol.kind != ARG_NAME) return syntax_error(p, "a variable or function");
    if (is_punct(p, '+') || is_punct(p, '-')) {
        int64_t more;
        if (!parse_int(p, &more)) return false;
        in->value = (uint64_t)more;
    }
    in->value += (uint64_t)in->symbol.value;
    in->symbol.value = 0;
    return true;
}

/* 0xFF00(symbol): those bits of the address, moved down. */
static bool parse_masked(Parser *p, Init *in, uint64_t mask) {
    if (mask == 0) return syntax_error(p, "a mask of ones");
    in->mask = mask;
    in->shift = (uint8_t)__builtin_ctzll(mask);
    next_token(p);
    return parse_address(p, in) && expect(p, ')');
}

static bool parse_element(Parser *p, Symbol *s, uint64_t at) {
    Init *in = STORE_NEW(&p->load->scratch, Init);
    in->at = at;
    in->bytes = ptx_types[s->type].bytes;
    in->mask = UINT64_MAX;
    in->line = p->token.line;
    const Token *t = &p->token;
    bool masked = false;
    if (t->kind == TOKEN_INT) { /* a mask only if a parenthesis follows */
        Lexer ahead = p->lexer;
        Token next;
        lex_next(&ahead, &next);
        masked = next.kind == TOKEN_PUNCT && next.punct == '(';
    }
    if (masked) {
        uint64_t mask = t->value;
        next_token(p);
        if (!parse_masked(p, in, mask)) return false;
    } else if (t->kind == TOKEN_NAME && !(t->length == 7 && memcmp(t->text, "WARP_SZ", 7) == 0)) {
        if (!parse_address(p, in)) return false;
        if (in->bytes < 8) {
            load_error(p->load, p->source, in->line, "Address of '%s' needs a 64-bit element",
                       in->symbol.kind == ARG_SYMBOL ? in->symbol.symbol->name->text : in->symbol.name->text);
            return false;
        }
    } else {
        Value v;
        if (!parse_constant(p, &v) || !convert(p, &v, s->type, &in->value)) return false;
        if (in->value == 0) return true; /* memory is zero */
    }
    in->next = s->init; /* backwards: layout.c doesn't mind */
    s->init = in;
    return true;
}

/* The text of a string in elements of a byte. */
static bool parse_text(Parser *p, Symbol *s, uint64_t *count) {
    if (ptx_types[s->type].bytes != 1) return syntax_error(p, "a number");
    for (uint32_t i = 0; i < p->token.length; i++) {
        char c = p->token.text[i];
        Init *in = STORE_NEW(&p->load->scratch, Init);
        *in = (Init){s->init, (*count)++, (uint8_t)c, 1, 0, UINT64_MAX, {0}, p->token.line};
        s->init = in;
    }
    next_token(p);
    return true;
}

/* Nested braces of the dimensions: a list shorter than its dimension leaves zeros. `element`: bytes of what an inner
 * list fills. */
typedef struct Shape {
    const uint64_t *dims;
    uint32_t ndims;
} Shape;

static bool parse_list(Parser *p, Symbol *s, Shape shape, uint64_t base, uint64_t *count, uint32_t depth) {
    uint64_t inner = 1;
    for (uint32_t i = 1; i < shape.ndims; i++) inner *= shape.dims[i];
    Shape rest = {shape.dims + 1, shape.ndims ? shape.ndims - 1 : 0};
    uint64_t n = 0;
    while (!is_punct(p, '}')) {
        if (is_punct(p, '{')) {
            uint64_t ignored = 0;
            if (depth > 8 || shape.ndims < 2) return syntax_error(p, "a number");
            next_token(p);
            if (!parse_list(p, s, rest, base + n, &ignored, depth + 1)) return false;
            n += inner;
        } else if (p->token.kind == TOKEN_STRING) {
            uint64_t at = base + n, before = at;
            if (!parse_text(p, s, &at)) return false;
            n += at - before;
        } else {
            if (!parse_element(p, s, (base + n) * ptx_types[s->type].bytes)) return false;
            n++;
        }
        if (!accept(p, ',')) break;
    }
    *count = n;
    return expect(p, '}');
}

bool parse_initialiser(Parser *p, Symbol *s, const uint64_t *dims, uint32_t ndims, uint64_t *count) {
    *count = 0;
    if (accept(p, '{')) return parse_list(p, s, (Shape){dims, ndims}, 0, count, 0);
    if (p->token.kind == TOKEN_STRING) return parse_text(p, s, count);
    *count = 1;
    return parse_element(p, s, 0);
}
