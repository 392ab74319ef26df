/* lex.c - the words of PTX text: names, dotted words, numbers, strings, punctuation. */
#include "lex.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (uint8_t)c >= 0x80;
}
static bool is_name(char c) { return is_start(c) || is_digit(c); }

static int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void skip_blanks(Lexer *l) {
    while (l->at < l->end) {
        char c = *l->at;
        if (c == '\n') {
            l->line++;
            l->at++;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
            l->at++;
        } else if (c == '/' && l->at[1] == '/') {
            while (l->at < l->end && *l->at != '\n') l->at++;
        } else if (c == '/' && l->at[1] == '*') {
            l->at += 2;
            while (l->at < l->end && !(*l->at == '*' && l->at[1] == '/')) l->line += *l->at++ == '\n';
            if (l->at < l->end) l->at += 2;
        } else {
            return;
        }
    }
}

/* The words of ".global.v4" from a '.': at least one letter or digit behind it, "::" inside. */
static const char *dotted_end(const char *p, bool all) {
    while (*p == '.' && is_name(p[1])) {
        p++;
        while (is_name(*p) || (*p == ':' && p[1] == ':' && is_name(p[2]))) p += *p == ':' ? 2 : 1;
        if (!all) break;
    }
    return p;
}

/* ---- numbers ------------------------------------------------------------------------------------ */

/* 0f3F800000 and 0d...: exactly the digits of the bits. */
static const char *hex_float(Token *t, const char *p, int digits) {
    uint64_t bits = 0;
    for (int i = 0; i < digits; i++) {
        int d = hex_digit(p[i]);
        if (d < 0) return NULL;
        bits = bits << 4 | (uint64_t)d;
    }
    t->kind = TOKEN_FLOAT;
    t->bytes = (uint8_t)(digits / 2);
    t->value = bits;
    return p + digits;
}

static const char *decimal_float(Token *t, const char *p) {
    char copy[64];
    size_t n = 0;
    const char *q = p;
    while (is_digit(*q) || *q == '.' || ((*q == 'e' || *q == 'E')) ||
           ((*q == '+' || *q == '-') && q > p && (q[-1] == 'e' || q[-1] == 'E')))
        q++;
    if ((n = (size_t)(q - p)) >= sizeof copy) return NULL;
    memcpy(copy, p, n);
    copy[n] = 0;
    char *stop;
    double value = strtod(copy, &stop);
    if (*stop) return NULL;
    t->kind = TOKEN_FLOAT;
    t->bytes = 8;
    memcpy(&t->value, &value, 8);
    return q;
}

static const char *integer(Token *t, const char *p, unsigned base) {
    uint64_t value = 0;
    const char *start = p;
    for (;; p++) {
        int d = hex_digit(*p);
        if (d < 0 || d >= (int)base) break;
        if (value > (UINT64_MAX - (uint64_t)d) / base) return NULL;
        value = value * base + (uint64_t)d;
    }
    if (p == start) return NULL;
    t->kind = TOKEN_INT;
    t->is_unsigned = value > INT64_MAX;
    if (*p == 'U') {
        t->is_unsigned = true;
        p++;
    }
    t->value = value;
    return p;
}

static const char *number(Token *t, const char *p) {
    if (*p == '0') {
        char c = p[1];
        if (c == 'f' || c == 'F') return hex_float(t, p + 2, 8);
        if (c == 'd' || c == 'D') return hex_float(t, p + 2, 16);
        if (c == 'x' || c == 'X') return integer(t, p + 2, 16);
        if (c == 'b' || c == 'B') return integer(t, p + 2, 2);
    }
    const char *q = p;
    while (is_digit(*q)) q++;
    if (*q == '.' ? !is_start(q[1]) || q[1] == 'e' || q[1] == 'E' : *q == 'e' || *q == 'E') return decimal_float(t, p);
    return integer(t, p, *p == '0' && is_digit(p[1]) ? 8 : 10);
}

/* ---- tokens ------------------------------------------------------------------------------------- */

static const char *punctuation(Token *t, const char *p) {
    static const struct {
        char text[3];
        uint16_t punct;
    } pairs[] = {
        {"<<", PUNCT_SHL}, {">>", PUNCT_SHR}, {"==", PUNCT_EQ},  {"!=", PUNCT_NE},
        {"<=", PUNCT_LE},  {">=", PUNCT_GE},  {"&&", PUNCT_AND}, {"||", PUNCT_OR},
    };
    t->kind = TOKEN_PUNCT;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (p[0] == pairs[i].text[0] && p[1] == pairs[i].text[1]) {
            t->punct = pairs[i].punct;
            return p + 2;
        }
    if (!*p || !strchr("{}()[]<>,;:=@!|+-*/%&^~?.", *p)) return NULL;
    t->punct = (uint8_t)*p;
    return p + 1;
}

static const char *string(Token *t, const char *p, const char *end) {
    const char *q = p + 1;
    while (q < end && *q != '"' && *q != '\n') q += *q == '\\' && q + 1 < end && q[1] != '\n' ? 2 : 1;
    if (q >= end || *q != '"') return NULL;
    t->kind = TOKEN_STRING;
    t->text = p + 1;
    t->length = (uint32_t)(q - p - 1);
    return q + 1;
}

void lex_next(Lexer *l, Token *t) {
    skip_blanks(l);
    const char *p = l->at, *q;
    *t = (Token){.line = l->line, .text = p};
    if (p >= l->end) return;
    char c = *p;
    if (is_start(c) || (c == '%' && is_start(p[1]))) {
        q = p + 1;
        while (is_name(*q)) q++;
        t->kind = TOKEN_NAME;
    } else if (is_digit(c) || (c == '.' && is_digit(p[1]) && !is_start(p[2]))) {
        q = number(t, p);
    } else if (c == '.' && is_name(p[1])) {
        q = dotted_end(p, false);
        t->kind = TOKEN_DOT;
    } else if (c == '"') {
        q = string(t, p, l->end);
    } else {
        q = punctuation(t, p);
    }
    if (!q) {
        t->kind = TOKEN_BAD;
        for (q = p + 1; is_name(*q); q++) {}
    }
    if (t->kind != TOKEN_STRING) t->length = (uint32_t)(q - p);
    l->at = q;
}

void lex_suffix(Lexer *l, Token *t) {
    const char *q = dotted_end(l->at, true);
    *t = (Token){.kind = TOKEN_DOT, .line = l->line, .text = l->at, .length = (uint32_t)(q - l->at)};
    l->at = q;
}

void lex_skip_braces(Lexer *l) {
    Token t;
    for (uint32_t depth = 1; depth;) {
        lex_next(l, &t);
        if (t.kind == TOKEN_END) return;
        if (t.kind == TOKEN_PUNCT && t.punct == '{') depth++;
        if (t.kind == TOKEN_PUNCT && t.punct == '}') depth--;
    }
}
