/* lex.h - the words of PTX text. */
#ifndef EMU_LEX_H
#define EMU_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum TokenKind {
    TOKEN_END,
    TOKEN_NAME,   /* foo, %r1, $L__BB0_1, _ */
    TOKEN_DOT,    /* .global, .shared::cta, .L2::128B */
    TOKEN_INT,    /* value; is_unsigned: has a U or needs 64 bits */
    TOKEN_FLOAT,  /* value has the bits; bytes 4: 0f..., 8: 0d... and decimal */
    TOKEN_STRING, /* text without the quotes, escapes as written */
    TOKEN_PUNCT,  /* punct: a character, or one of the two-character ones below */
    TOKEN_BAD     /* no word of PTX */
} TokenKind;

enum { PUNCT_SHL = 256, PUNCT_SHR, PUNCT_EQ, PUNCT_NE, PUNCT_LE, PUNCT_GE, PUNCT_AND, PUNCT_OR };

typedef struct Token {
    uint8_t kind, bytes;
    bool is_unsigned;
    uint16_t punct;
    uint32_t line, length;
    const char *text;
    uint64_t value;
} Token;

/* `at` runs to `end`, where a NUL stands. A copy of it is a place to come back to. */
typedef struct Lexer {
    const char *at, *end;
    uint32_t line;
} Lexer;

void lex_next(Lexer *l, Token *t);
/* Behind a name: the dotted words that follow it at once, as one text: ".global.v4.f32" of ld.global.v4.f32. */
void lex_suffix(Lexer *l, Token *t);
/* Skips to behind the brace that closes an open one. */
void lex_skip_braces(Lexer *l);

#endif
