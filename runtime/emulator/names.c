/* names.c - words, the scopes that give them meaning, and the spellings of instructions. */
#include "parse.h"

#include <stdio.h>
#include <string.h>

/* ---- words -------------------------------------------------------------------------------------- */

static void more_slots(Load *load) {
    uint32_t slots = load->name_slots ? load->name_slots * 4 : 256;
    Name **table = STORE_ARRAY(&load->scratch, Name *, slots);
    for (uint32_t i = 0; i < load->name_slots; i++)
        for (Name *n = load->names[i], *next; n; n = next) {
            next = n->chain;
            n->chain = table[n->hash & (slots - 1)];
            table[n->hash & (slots - 1)] = n;
        }
    load->names = table;
    load->name_slots = slots;
}

static Name *lookup(const Load *load, const char *text, size_t n, uint32_t hash) {
    if (!load->name_slots) return NULL;
    for (Name *name = load->names[hash & (load->name_slots - 1)]; name; name = name->chain)
        if (name->hash == hash && name->length == n && memcmp(name->text, text, n) == 0) return name;
    return NULL;
}

/* %r12 is number 12 of the stem %r; %r012 and what is too large have none. */
static void split(Load *load, Name *name) {
    uint32_t digits = 0;
    while (digits + 1 < name->length && name->text[name->length - 1 - digits] >= '0' &&
           name->text[name->length - 1 - digits] <= '9')
        digits++;
    if (digits == 0 || digits > 9) return;
    const char *first = name->text + name->length - digits;
    if (digits > 1 && *first == '0') return;
    uint32_t number = 0;
    for (uint32_t i = 0; i < digits; i++) number = number * 10 + (uint32_t)(first[i] - '0');
    name->number = number;
    name->stem = name_get(load, name->text, name->length - digits);
}

Name *name_get(Load *load, const char *text, size_t n) {
    uint32_t hash = spelling_hash(text, n);
    Name *name = lookup(load, text, n, hash);
    if (name) return name;
    if (load->nnames >= load->name_slots) more_slots(load);
    load->nnames++;
    name = STORE_NEW(&load->scratch, Name);
    name->text = store_string(load->keep, text, n);
    name->length = (uint32_t)n;
    name->hash = hash;
    Name **slot = &load->names[hash & (load->name_slots - 1)];
    name->chain = *slot;
    *slot = name;
    if (text[n - 1] >= '0' && text[n - 1] <= '9') split(load, name);
    return name;
}

/* ---- scopes ------------------------------------------------------------------------------------- */

void scope_enter(Parser *p) {
    Scope *s = STORE_NEW(&p->load->scratch, Scope);
    s->parent = p->scope;
    s->depth = p->scope ? p->scope->depth + 1 : 0;
    s->id = p->nscopes++;
    p->scope = s;
}

void scope_leave(Parser *p) {
    for (Binding *b = p->scope->bindings; b; b = b->next)
        *(b->kind == BIND_RANGE ? &b->name->range : &b->name->binding) = b->outer;
    p->scope = p->scope->parent;
}

static Binding *bind(Load *load, Scope *scope, Name *name, BindingKind kind) {
    Binding *b = STORE_NEW(&load->scratch, Binding), **place = kind == BIND_RANGE ? &name->range : &name->binding;
    b->name = name;
    b->kind = (uint8_t)kind;
    b->depth = scope->depth;
    b->outer = *place;
    *place = b;
    b->next = scope->bindings;
    scope->bindings = b;
    return b;
}

Binding *scope_bind(Parser *p, Name *name, BindingKind kind, bool *old) {
    Binding *there = kind == BIND_RANGE ? name->range : name->binding;
    *old = there && there->depth == p->scope->depth;
    return *old ? there : bind(p->load, p->scope, name, kind);
}

/* A register of a range is bound when it is first named, in the scope of the range. */
static Binding *from_range(Parser *p, Name *name, const Binding *range) {
    Scope *s = p->scope;
    while (s->depth > range->depth) s = s->parent;
    Binding *b = bind(p->load, s, name, BIND_REG);
    b->reg = STORE_ARRAY(&p->load->scratch, Reg, range->vec);
    for (int i = 0; i < range->vec; i++) b->reg[i] = (Reg){range->type, range->vec, UINT32_MAX};
    return b;
}

Binding *scope_find(Parser *p, Name *name) {
    Binding *b = name->binding;
    if (name->stem)
        for (Binding *r = name->stem->range; r && (!b || r->depth > b->depth); r = r->outer)
            if (name->number < r->count) return from_range(p, name, r);
    return b;
}

/* ---- spellings ---------------------------------------------------------------------------------- */

static const char *complaint(Load *load, const char *what, const char *word, size_t n, const char *opcode) {
    char text[200];
    snprintf(text, sizeof text, opcode ? "%s '%.*s' of instruction '%s'" : "%s '%.*s'", what, n > 80 ? 80 : (int)n,
             word, opcode);
    return store_string(&load->scratch, text, strlen(text));
}

/* The longest opcode that the words start with: bar.warp.sync before bar. */
static size_t find_opcode(Load *load, Spelling *s) {
    size_t ends[8], n = 0;
    for (size_t i = 1; i <= s->length && n < sizeof ends / sizeof *ends; i++)
        if (i == s->length || s->text[i] == '.') ends[n++] = i;
    while (n-- > 0) {
        const Word *w = spelling_first(&load->words, WORD_OPCODE, s->text, ends[n]);
        if (!w) continue;
        s->opcode = &ptx_opcodes[w->row];
        return ends[n];
    }
    s->error = complaint(load, "Not a name of any known instruction:", s->text, ends[0], NULL);
    return 0;
}

/* Fits a modifier in: the meaning that the opcode knows and that isn't taken. */
static bool add_modifier(Load *load, Spelling *s, const char *word, size_t n) {
    PtxForm *f = &s->form;
    const Word *w = spelling_first(&load->words, WORD_MODIFIER, word, n);
    for (; w; w = spelling_next(&load->words, w)) {
        const PtxModifier *m = &ptx_modifiers[w->row];
        if (m->field == MF_FLAG) {
            uint64_t bit = UINT64_C(1) << m->value;
            if (m->value == FLAG_HINT) return true;
            if (!(s->opcode->flags & bit) || (f->flags & bit)) continue;
            f->flags |= bit;
        } else {
            if (!(s->opcode->fields & 1u << m->field) || f->field[m->field]) continue;
            f->field[m->field] = m->value;
            if (n == 15 && memcmp(word, "shared::cluster", n) == 0) f->flags |= UINT64_C(1) << FLAG_CLUSTER_SPACE;
        }
        return true;
    }
    w = spelling_first(&load->words, WORD_TYPE, word, n);
    if (!w || f->ntypes == sizeof f->types) return false;
    f->types[f->ntypes++] = (uint8_t)w->row;
    return true;
}

static void read_spelling(Load *load, Spelling *s) {
    size_t at = find_opcode(load, s);
    s->form.sm = load->sm;
    if (!s->opcode) return;
    while (at < s->length) {
        const char *word = s->text + at + 1, *end = s->text + s->length, *dot = memchr(word, '.', (size_t)(end - word));
        size_t n = (size_t)((dot ? dot : end) - word);
        if (!add_modifier(load, s, word, n)) {
            s->error = complaint(load, "Unexpected or unknown modifier", word - 1, n + 1, s->opcode->name);
            s->opcode = NULL;
            return;
        }
        at += n + 1;
    }
}

Spelling *spelling_get(Load *load, const char *text, size_t n) {
    uint32_t hash = spelling_hash(text, n);
    Spelling **slot = &load->spellings[hash % (sizeof load->spellings / sizeof *load->spellings)];
    for (Spelling *s = *slot; s; s = s->chain)
        if (s->hash == hash && s->length == n && memcmp(s->text, text, n) == 0) return s;
    Spelling *s = STORE_NEW(&load->scratch, Spelling);
    s->text = store_string(&load->scratch, text, n);
    s->length = (uint32_t)n;
    s->hash = hash;
    s->chain = *slot;
    *slot = s;
    read_spelling(load, s);
    return s;
}
