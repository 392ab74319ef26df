/* tables.c - the tables of PTX as arrays, and one index over all their spellings.
 *
 * The index is made for each load: 400 words take less time than one kernel, and nothing global changes. */
#include "tables.h"

#include "warp.h"

#include <stdlib.h>
#include <string.h>

const PtxTypeInfo ptx_types[PT_COUNT] = {
#define PTX_TYPE(name, spelling, bytes, kind) [PT_##name] = {spelling, bytes, kind},
#include "ptxtypes.def"
};

#define F(flag) (UINT64_C(1) << FLAG_##flag)
#define M(field) (1u << MF_##field)
const PtxOpcode ptx_opcodes[] = {
#define PTX_OP(name, flags, fields, control, select, ...) {#name, flags, fields, control, {__VA_ARGS__}, select},
#include "ptxops.def"
    {NULL, 0, 0, 0, {0}, NULL}};

const PtxModifier ptx_modifiers[] = {
#define MODIFIER(spelling, field, value) {spelling, field, value},
#include "modifiers.def"
    {NULL, 0, 0}};

const PtxSpecial ptx_specials[SR_COUNT] = {
#define SPECIAL(name, spelling, bytes) [SR_##name] = {spelling, bytes},
#include "special.def"
};

bool ptx_builtin(const char *name) {
    static const char *const names[] = {
#define BUILTIN(spelling, function) spelling,
#include "builtins.def"
        NULL};
    for (const char *const *n = names; *n; n++)
        if (strcmp(*n, name) == 0) return true;
    return false;
}

/* ---- the index ---------------------------------------------------------------------------------- */

uint32_t spelling_hash(const char *s, size_t n) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++) h = (h ^ (uint8_t)s[i]) * 16777619u;
    return h ^ h >> 15;
}

static void spelling_add(Spellings *s, const char *word, WordKind kind, size_t row) {
    if (!*word) return;
    size_t n = strlen(word);
    Word *w = &s->words[s->count++];
    uint32_t *slot = &s->slots[spelling_hash(word, n) % SPELLING_SLOTS];
    *w = (Word){word, (uint16_t)n, (uint8_t)kind, (uint16_t)row, *slot};
    *slot = s->count; /* one more than the index */
}

bool spellings_open(Spellings *s) {
    size_t ops = sizeof ptx_opcodes / sizeof *ptx_opcodes - 1, mods = sizeof ptx_modifiers / sizeof *ptx_modifiers - 1;
    s->count = 0;
    s->words = malloc((ops + mods + PT_COUNT + SR_COUNT) * sizeof *s->words);
    if (!s->words) return false;
    memset(s->slots, 0, sizeof s->slots);
    /* A row that stands first is found first. */
    for (size_t i = ops; i-- > 0;) spelling_add(s, ptx_opcodes[i].name, WORD_OPCODE, i);
    for (size_t i = mods; i-- > 0;) spelling_add(s, ptx_modifiers[i].spelling, WORD_MODIFIER, i);
    for (size_t i = 1; i < PT_COUNT; i++) spelling_add(s, ptx_types[i].spelling, WORD_TYPE, i);
    for (size_t i = 0; i < SR_COUNT; i++) spelling_add(s, ptx_specials[i].spelling, WORD_SPECIAL, i);
    return true;
}

void spellings_close(Spellings *s) { free(s->words); }

static const Word *spelling_match(const Spellings *s, uint32_t i, WordKind kind, const char *word, size_t n) {
    for (; i; i = s->words[i - 1].next) {
        const Word *w = &s->words[i - 1];
        if (w->kind == kind && w->length == n && memcmp(w->text, word, n) == 0) return w;
    }
    return NULL;
}

const Word *spelling_first(const Spellings *s, WordKind kind, const char *word, size_t n) {
    uint32_t i = s->slots[spelling_hash(word, n) % SPELLING_SLOTS];
    return spelling_match(s, i, kind, word, n);
}

const Word *spelling_next(const Spellings *s, const Word *w) {
    return spelling_match(s, w->next, w->kind, w->text, w->length);
}
