/* test_diag.c - reports as text: tabs, wide characters, long spans, no source, colours; each mistake once. */
#include "../../frontend/diag.h"
#include "../../frontend/suggest.h"

#include <stdlib.h>
#include <string.h>

static const char *const lines[] = {
    "\tx = y\t+ z", "日本 = é + 1", "f(a,",        "  b,",     "  c,",
    "  d,",         "  e)",         "for i in x:", "    pass", "bad \xff\xc3 end",
};

static const char *source_line(void *self, const char *file, uint32_t line) {
    (void)self;
    if (strcmp(file, "gone.py") == 0 || line < 1 || line > sizeof lines / sizeof *lines) return NULL;
    return lines[line - 1];
}

static int failures;

static void expect(const char *got, const char *want) {
    if (strcmp(got, want) == 0) return;
    fprintf(stderr, "got:\n%s\nwanted:\n%s\n", got, want);
    failures++;
}

static char *report(Arena *a, const char *file, PySpan span, bool colour) {
    DiagList l = {.arena = a};
    Host host = {.source_line = source_line};
    DiagFrame at = {.file = file, .function = "k", .span = span};
    diag_report(&l, DIAG_NO_NAME, &at, "y");
    return diag_render(&l, &host, NULL, colour);
}

static void test_places(Arena *a) {
    expect(report(a, "t.py", (PySpan){1, 6, 1, 11}, false), "t.py:1:6: error: name 'y' is not defined\n"
                                                            "    1 |     x = y   + z\n"
                                                            "      |         ^^^^^^^");
    expect(report(a, "t.py", (PySpan){2, 6, 2, 11}, false), "t.py:2:6: error: name 'y' is not defined\n"
                                                            "    2 | 日本 = é + 1\n"
                                                            "      |        ^^^^^");
    expect(report(a, "t.py", (PySpan){3, 1, 7, 5}, false), "t.py:3:1: error: name 'y' is not defined\n"
                                                           "    3 | f(a,\n      | ^^^^\n"
                                                           "    4 |   b,\n      |   ^^\n"
                                                           "    5 |   c,\n      |   ^^\n"
                                                           "  ... |\n"
                                                           "    7 |   e)\n      |   ^^");
    expect(report(a, "t.py", (PySpan){8, 1, 9, 9}, false), "t.py:8:1: error: name 'y' is not defined\n"
                                                           "    8 | for i in x:\n      | ^^^^^^^^^^^");
}

static void test_what_is_missing(Arena *a) {
    expect(report(a, "gone.py", (PySpan){3, 1, 3, 5}, false), "gone.py:3:1: error: name 'y' is not defined");
    expect(report(a, "t.py", (PySpan){9, 0, 0, 0}, false), "t.py:9: error: name 'y' is not defined\n    9 |     pass");
    expect(report(a, "t.py", (PySpan){9, 40, 9, 50}, false),
           "t.py:9:40: error: name 'y' is not defined\n    9 |     pass\n      |         ^");
    expect(report(a, NULL, (PySpan){0, 0, 0, 0}, false), "<unknown>: error: name 'y' is not defined");
    const char *odd = report(a, "t.py", (PySpan){10, 5, 10, 7}, false);
    if (!strstr(odd, "^^")) expect(odd, "carets under bytes that are no characters");
}

static void test_colours(Arena *a) {
    expect(report(a, "t.py", (PySpan){9, 5, 9, 9}, true),
           "\033[1mt.py:9:5: \033[0m\033[1;31merror: \033[0m\033[1mname 'y' is not defined\033[0m\n"
           "\033[1;34m    9 | \033[0m    pass\n\033[1;34m      | \033[0m    \033[1;31m^^^^\033[0m");
}

static void test_list(Arena *a) {
    DiagList l = {.arena = a};
    Host host = {.source_line = source_line};
    DiagFrame outer = {.file = "t.py", .function = "outer", .span = {8, 1, 8, 4}};
    DiagFrame late = {.file = "t.py", .function = "k", .span = {9, 5, 9, 9}, .caller = &outer};
    DiagFrame early = {.file = "t.py", .function = "outer", .span = {2, 6, 2, 7}};
    Diag *d = diag_report(&l, DIAG_NO_NAME, &late, "b");
    diag_help(&l, d, "write %s", "c");
    diag_note(&l, d, &early, "it was here");
    diag_note(&l, d, NULL, "and nowhere");
    diag_help(&l, diag_report(&l, DIAG_NO_NAME, &late, "b"), "the same again");
    diag_report(&l, DIAG_FLOAT_OVERFLOW, &early, "float32");
    diag_report(&l, DIAG_NO_NAME, &early, "a");
    outer.span.line = 1; /* the chain was copied */
    if (l.nerrors != 2 || l.diags.n != 3) expect("another number of messages", "2 errors and a warning");
    expect(diag_render(&l, &host, "k()", false),
           "t.py:2:6: error: name 'a' is not defined\n    2 | 日本 = é + 1\n      |        ^\n"
           "\n"
           "t.py:9:5: error: name 'b' is not defined\n    9 |     pass\n      |     ^^^^\n"
           "   note: t.py:2:6: it was here\n    2 | 日本 = é + 1\n      |        ^\n"
           "   note: and nowhere\n"
           "   help: write c\n"
           "   called from outer, t.py:8:1\n    8 | for i in x:\n      | ^^^\n"
           "   in kernel k()");
}

static void test_suggestions(Arena *a) {
    static const struct {
        const char *wrong, *want;
    } cases[] = {
        {"sahpe", "did you mean 'shape'?"},
        {"shap", "did you mean 'shape'?"},
        {"color", NULL},
        {"x", NULL},
        {"shape", NULL},
    };
    static const char *const names[] = {"shape", "size", "ndim"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Suggestion s = {.name = cases[i].wrong};
        suggest_among(&s, 3, names);
        const char *help = suggest_help(a, &s);
        expect(help ? help : "", cases[i].want ? cases[i].want : "");
    }
}

int main(void) {
    Arena a;
    arena_init(&a, NULL);
    test_places(&a);
    test_what_is_missing(&a);
    test_colours(&a);
    test_list(&a);
    test_suggestions(&a);
    arena_free(&a);
    if (!failures) puts("test_diag: ok");
    return failures != 0;
}
