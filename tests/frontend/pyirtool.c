/* pyirtool.c - prints the PyFunc of each root of rows on standard input, or its messages.
 *
 * pyirtool [--spans] < rows */
#include "rowhost.h"

#include "../../frontend/diag.h"

#include <stdlib.h>
#include <string.h>

static char *read_all(Arena *arena, FILE *in) {
    VEC(char) text = {NULL, 0, 0};
    for (int c; (c = getc(in)) != EOF;) VEC_PUSH(arena, &text, (char)c);
    VEC_PUSH(arena, &text, '\0');
    return text.at;
}

static void print_messages(const DiagList *diags) {
    for (uint32_t i = 0; i < diags->diags.n; i++) {
        const Diag *d = &diags->diags.at[i];
        printf("%s:%u: %s: %s\n", d->at.function, d->at.span.line, diag_exception(d->code), d->message);
        if (d->help) printf("  help: %s\n", d->help);
    }
}

int main(int argc, char **argv) {
    bool spans = argc > 1 && !strcmp(argv[1], "--spans");
    Arena arena;
    arena_init(&arena, NULL);
    RowHost *h = rowhost_read(&arena, read_all(&arena, stdin));
    for (size_t i = 0; h && i < rowhost_nroots(h); i++) {
        DiagList diags = {.arena = &arena};
        PyFunc *f = pyfunc_from_host(&arena, rowhost_host(h), rowhost_root(h, i), &diags, false);
        if (f) pyfunc_print(f, stdout, spans);
        print_messages(&diags);
        putchar('\n');
    }
    arena_free(&arena);
    return h ? 0 : 1;
}
