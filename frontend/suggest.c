/* suggest.c - the known name that a misspelled one is nearest to. */
#include "suggest.h"

#include <string.h>

enum { MAX_NAME = 40 };

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* Letters to change, add, drop or swap with their neighbour to get from a to b. */
static unsigned distance(const char *a, const char *b) {
    unsigned row[3][MAX_NAME + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > MAX_NAME || m > MAX_NAME) return MAX_NAME;
    for (size_t j = 0; j <= m; j++) row[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            now[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]), least(last[j], now[j - 1]) + 1);
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

void suggest_among(Suggestion *s, uint32_t n, const char *const *names) {
    for (uint32_t i = 0; i < n; i++) {
        unsigned d = distance(s->name, names[i]);
        if (d && (!s->best || d < s->distance)) *s = (Suggestion){s->name, names[i], d};
    }
}

void suggest_devfn(Suggestion *s, const char *prefix) {
    size_t n, length = strlen(prefix);
    const DevFn *rows = devfn_table(&n);
    for (size_t i = 0; i < n; i++) {
        const char *name = rows[i].path + length;
        if (strncmp(rows[i].path, prefix, length) == 0 && !strchr(name, '.')) suggest_among(s, 1, &name);
    }
}

const char *suggest_members(Arena *arena, const char *path) {
    size_t n, length = strlen(path);
    const DevFn *rows = devfn_table(&n);
    const char *text = NULL;
    for (size_t i = 0; i < n; i++) {
        if (strncmp(rows[i].path, path, length) != 0 || rows[i].path[length] != '.') continue;
        text = text ? arena_printf(arena, "%s, %s", text, rows[i].path) : rows[i].path;
    }
    return text ? arena_printf(arena, "there is %s", text) : NULL;
}

const char *suggest_help(Arena *arena, const Suggestion *s) {
    size_t length = strlen(s->name);
    unsigned limit = length < 3 ? 0 : length < 6 ? 1 : 2;
    return s->best && s->distance <= limit ? arena_printf(arena, "did you mean '%s'?", s->best) : NULL;
}
