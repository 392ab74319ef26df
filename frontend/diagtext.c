/* diagtext.c - the report that a person reads:
 *
 *   sobel.py:14:21: error: an index must be an integer, and this is float64
 *      14 |     out[i, j] = img[i / 2, j]
 *         |                     ^^^^^
 *      help: i // 2 is an integer division
 *      in kernel sobel(array(float32, 2d, C), array(float32, 2d, C))
 *
 * Columns of spans count characters from 1; carets are placed by the width that a terminal gives each character.
 * Without columns (Python 3.10) or without a source the report has what there is. */
#include "diag.h"

#include <stdlib.h>
#include <string.h>

enum { TAB_WIDTH = 4, MAX_SPAN_LINES = 4 };

typedef enum Style { PLAIN, BOLD, RED, YELLOW, GREEN, BLUE, STYLE__COUNT } Style;
static const char *const ansi[STYLE__COUNT] = {"\033[0m",    "\033[1m",    "\033[1;31m",
                                               "\033[1;33m", "\033[1;32m", "\033[1;34m"};

typedef struct Text {
    Arena *arena;
    const Host *host;
    bool colour;
    VEC(char) out;
} Text;

static void put(Text *t, const char *s) {
    for (; *s; s++) VEC_PUSH(t->arena, &t->out, *s);
}

static void repeat(Text *t, char c, uint32_t n) {
    while (n--) VEC_PUSH(t->arena, &t->out, c);
}

static void styled(Text *t, Style style, const char *s) {
    if (t->colour) put(t, ansi[style]);
    put(t, s);
    if (t->colour) put(t, ansi[PLAIN]);
}

/* ---- characters --------------------------------------------------------------------------------- */

/* The code point at *s, which moves on. Bytes that aren't UTF-8 count one character each. */
static uint32_t next_char(const char **s) {
    const unsigned char *p = (const unsigned char *)*s;
    unsigned n = p[0] < 0xc0 ? 0u : p[0] < 0xe0 ? 1u : p[0] < 0xf0 ? 2u : p[0] < 0xf8 ? 3u : 0u;
    uint32_t c = n ? p[0] & (0x3fu >> n) : p[0];
    for (unsigned i = 1; i <= n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            *s += 1;
            return p[0];
        }
        c = c << 6 | (p[i] & 0x3f);
    }
    *s += n + 1;
    return c;
}

typedef struct Span32 {
    uint32_t first, last;
} Span32;

static bool in_ranges(const Span32 *r, size_t n, uint32_t c) {
    for (size_t i = 0; i < n; i++)
        if (c >= r[i].first && c <= r[i].last) return true;
    return false;
}

/* Columns of a terminal: 0 for what combines with the character before, 2 for East Asian and pictures. */
static uint32_t char_width(uint32_t c) {
    static const Span32 zero[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
                                  {0x64b, 0x65f},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
                                  {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
    static const Span32 wide[] = {{0x1100, 0x115f},  {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97f},
                                  {0xac00, 0xd7a3},  {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                                  {0xffe0, 0xffe6},  {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff},
                                  {0x20000, 0x3fffd}};
    if (c < 0x300) return 1;
    if (in_ranges(zero, sizeof zero / sizeof *zero, c)) return 0;
    return in_ranges(wide, sizeof wide / sizeof *wide, c) ? 2 : 1;
}

/* Columns that the line takes up to character `col` (from 1), tabs as blanks. */
static uint32_t width_before(const char *line, uint32_t col) {
    uint32_t width = 0;
    for (uint32_t i = 1; *line && i < col; i++) {
        uint32_t c = next_char(&line);
        width += c == '\t' ? TAB_WIDTH - width % TAB_WIDTH : char_width(c);
    }
    return width;
}

static void put_line(Text *t, const char *line) {
    uint32_t width = 0;
    while (*line) {
        const char *from = line;
        uint32_t c = next_char(&line);
        uint32_t w = c == '\t' ? TAB_WIDTH - width % TAB_WIDTH : char_width(c);
        width += w;
        if (c == '\t') repeat(t, ' ', w);
        else if (c >= ' ') put(t, arena_strndup(t->arena, from, (size_t)(line - from)));
    }
}

/* ---- source lines with carets -------------------------------------------------------------------- */
static uint32_t count_chars(const char *line) {
    uint32_t n = 0;
    while (*line) {
        next_char(&line);
        n++;
    }
    return n;
}

static uint32_t first_char(const char *line) { return (uint32_t)strspn(line, " \t\f") + 1; }

/* The part of the span on this line: characters [*from, *to). */
static void span_part(const PySpan *s, uint32_t number, const char *line, uint32_t *from, uint32_t *to) {
    uint32_t last = s->end_line ? s->end_line : s->line, end = count_chars(line) + 1;
    *from = number == s->line ? s->col : first_char(line);
    *to = number == last && s->end_col ? s->end_col : end;
    if (*to > end) *to = end;
    if (*to <= *from) *to = *from + 1;
}

static void excerpt_line(Text *t, const PySpan *s, uint32_t number, const char *line, Style style) {
    styled(t, BLUE, arena_printf(t->arena, "%5u | ", number));
    put_line(t, line);
    put(t, "\n");
    if (!s->col) return;
    uint32_t from, to;
    span_part(s, number, line, &from, &to);
    uint32_t left = width_before(line, from), right = width_before(line, to);
    char *carets = arena_alloc(t->arena, right - left + 2);
    memset(carets, '^', right > left ? right - left : 1);
    styled(t, BLUE, "      | ");
    repeat(t, ' ', left);
    styled(t, style, carets);
    put(t, "\n");
}

/* Does the line open a block? Of a compound statement its first line says enough. */
static bool opens_block(const char *line) {
    const char *hash = strchr(line, '#');
    size_t n = hash ? (size_t)(hash - line) : strlen(line);
    while (n && (line[n - 1] == ' ' || line[n - 1] == '\t')) n--;
    return n && line[n - 1] == ':';
}

static uint32_t last_line(Text *t, const DiagFrame *at) {
    const PySpan *s = &at->span;
    if (s->end_line <= s->line || !s->col) return s->line;
    const char *first = t->host->source_line(t->host->self, at->file, s->line);
    return first && opens_block(first) ? s->line : s->end_line;
}

static void excerpt(Text *t, const DiagFrame *at, Style style) {
    const PySpan *s = &at->span;
    if (!s->line || !at->file) return;
    uint32_t last = last_line(t, at);
    for (uint32_t n = s->line; n <= last; n++) {
        if (n - s->line >= MAX_SPAN_LINES - 1 && n < last) { /* a long span: its first lines and its last one */
            styled(t, BLUE, "  ... |\n");
            n = last;
        }
        const char *line = t->host->source_line(t->host->self, at->file, n);
        if (!line) return;
        excerpt_line(t, s, n, line, style);
    }
}

/* ---- messages ------------------------------------------------------------------------------------- */
static const char *place(Text *t, const DiagFrame *at) {
    const char *file = at->file ? at->file : "<unknown>";
    if (!at->span.line) return file;
    if (!at->span.col) return arena_printf(t->arena, "%s:%u", file, at->span.line);
    return arena_printf(t->arena, "%s:%u:%u", file, at->span.line, at->span.col);
}

static void note(Text *t, const DiagNote *n) {
    styled(t, BLUE, "   note: ");
    if (n->has_place) put(t, arena_printf(t->arena, "%s: ", place(t, &n->at)));
    put(t, n->text);
    put(t, "\n");
    if (n->has_place) excerpt(t, &n->at, BLUE);
}

/* The chain of calls; of a long one, both ends. */
static void callers(Text *t, const DiagFrame *first) {
    enum { NEAR = 4, FAR = 2 };
    unsigned n = 0, k = 0;
    for (const DiagFrame *f = first; f; f = f->caller) n++;
    for (const DiagFrame *f = first; f; f = f->caller, k++) {
        if (!f->span.line) continue; /* Python called it */
        if (n > NEAR + FAR + 1 && k >= NEAR && k < n - FAR) {
            if (k == NEAR) put(t, arena_printf(t->arena, "   ... %u more calls\n", n - NEAR - FAR));
            continue;
        }
        put(t, arena_printf(t->arena, "   called from %s, %s\n", f->function ? f->function : "<unknown>", place(t, f)));
        excerpt(t, f, BLUE);
    }
}

static void message(Text *t, const Diag *d) {
    bool error = diag_severity(d->code) == SEV_ERROR;
    styled(t, BOLD, arena_printf(t->arena, "%s: ", place(t, &d->at)));
    styled(t, error ? RED : YELLOW, error ? "error: " : "warning: ");
    styled(t, BOLD, d->message);
    put(t, "\n");
    excerpt(t, &d->at, error ? RED : YELLOW);
    for (uint32_t i = 0; i < d->notes.n; i++) note(t, &d->notes.at[i]);
    if (d->help) {
        styled(t, GREEN, "   help: ");
        put(t, d->help);
        put(t, "\n");
    }
    callers(t, d->at.caller);
}

static void closing(Text *t, const char *kernel) {
    if (kernel) put(t, arena_printf(t->arena, "   in kernel %s\n", kernel));
    if (t->out.n && t->out.at[t->out.n - 1] == '\n') t->out.n--;
    VEC_PUSH(t->arena, &t->out, '\0');
}

/* Messages stand in the order of the kernel's lines, whatever order found them. */
static const DiagFrame *outermost(const Diag *d) {
    const DiagFrame *f = &d->at;
    while (f->caller) f = f->caller;
    return f;
}

static int by_place(const void *pa, const void *pb) {
    const Diag *a = *(const Diag *const *)pa, *b = *(const Diag *const *)pb;
    const PySpan *x = &outermost(a)->span, *y = &outermost(b)->span;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->col != y->col) return x->col < y->col ? -1 : 1;
    return a < b ? -1 : a > b;
}

char *diag_render(const DiagList *l, const Host *host, const char *kernel, bool colour) {
    Text t = {.arena = l->arena, .host = host, .colour = colour};
    const Diag **order = ARENA_ARRAY(l->arena, const Diag *, l->diags.n + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->diags.n; i++)
        if (!l->nerrors || diag_severity(l->diags.at[i].code) == SEV_ERROR) order[n++] = &l->diags.at[i];
    if (n) qsort(order, n, sizeof *order, by_place);
    for (uint32_t i = 0; i < n; i++) {
        if (i) put(&t, "\n");
        message(&t, order[i]);
    }
    closing(&t, kernel);
    return t.out.at;
}
