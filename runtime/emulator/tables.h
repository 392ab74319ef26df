/* tables.h - the tables of PTX (opcodes, modifiers, types, special registers) as arrays, found by spelling. */
#ifndef EMU_TABLES_H
#define EMU_TABLES_H

#include "ptx.h"

typedef struct PtxModifier {
    const char *spelling;
    uint8_t field, value;
} PtxModifier;
typedef struct PtxSpecial {
    const char *spelling;
    uint8_t bytes;
} PtxSpecial;

extern const PtxOpcode ptx_opcodes[];
extern const PtxModifier ptx_modifiers[];
extern const PtxSpecial ptx_specials[];

typedef enum WordKind { WORD_OPCODE, WORD_MODIFIER, WORD_TYPE, WORD_SPECIAL } WordKind;
typedef struct Word {
    const char *text;
    uint16_t length;
    uint8_t kind;
    uint16_t row;
    uint32_t next;
} Word;

enum { SPELLING_SLOTS = 1024 };
typedef struct Spellings {
    Word *words;
    uint32_t count;
    uint32_t slots[SPELLING_SLOTS];
} Spellings;

bool spellings_open(Spellings *s); /* false: out of memory */
void spellings_close(Spellings *s);
/* The row of that kind with this spelling; then others that have the same spelling. NULL: none. */
const Word *spelling_first(const Spellings *s, WordKind kind, const char *word, size_t n);
const Word *spelling_next(const Spellings *s, const Word *w);

uint32_t spelling_hash(const char *s, size_t n);

#endif
