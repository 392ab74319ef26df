/* test_polls.c - which loops keep their look for an interruption (polls.c). */
#include "../../compiler/ir.h"

#include <stdlib.h>
#include <string.h>

typedef struct Case {
    const char *name;
    const char *start, *step, *bound, *pred; /* the outer loop; a bound of "param" is only known at run time */
    const char *inner_bound;                 /* of a loop from 0 in steps of 1 inside it; NULL: none */
    bool inner_polls;
    unsigned left; /* polls after the pass */
} Case;

static const Case cases[] = {
    {"a hundred rounds", "0", "1", "100", "lt", NULL, false, 0},
    {"downwards", "10", "-1", "0", "gt", NULL, false, 0},
    {"down to its bound", "10", "-2", "0", "ge", NULL, false, 0},
    {"no round at all", "5", "1", "0", "lt", NULL, false, 0},
    {"a bound from the launch", "0", "1", "param", "lt", NULL, false, 1},
    {"a million rounds", "0", "1", "1000000", "lt", NULL, false, 1},
    {"the wrong way", "0", "-1", "100", "lt", NULL, false, 1},
    {"until it meets a number", "0", "3", "100", "ne", NULL, false, 1},
    {"two short ones", "0", "1", "100", "lt", "100", true, 0},
    {"together too long", "0", "1", "300", "lt", "300", true, 1},
    {"a long one inside", "0", "1", "10", "lt", "param", true, 1},
    {"a long one inside that does not poll", "0", "1", "10", "lt", "param", false, 1},
};

static const char *value(Arena *a, const char *bound) {
    return strcmp(bound, "param") ? arena_printf(a, "const i64 %s", bound) : "param i64 0";
}

static IrModule *build(Arena *a, const Case *c) {
    const char *head =
        arena_printf(a,
                     "kernel k\nparam i64 scalar \"n\" leaf 0\nparam ptr data \"p\" leaf 1\n"
                     "b0:\n  %%1 = const i64 %s\n  %%2 = const i64 %s\n  %%3 = %s\n"
                     "  %%8 = const i64 0\n  %%9 = const i64 1\n  %%13 = %s\n  %%7 = param ptr 1\n  jump b1\n"
                     "b1:\n  %%4 = phi i64 b0:%%1, %s:%%5\n  %%6 = cmp.%s bool %%4, %%3\n",
                     c->start, c->step, value(a, c->bound), value(a, c->inner_bound ? c->inner_bound : "0"),
                     c->inner_bound ? "b5" : "b2", c->pred);
    const char *simple =
        "  branch %6, b2, b3\nb2: poll\n  store %7, %4\n  %5 = add i64 %4, %2\n  jump b1\nb3:\n  ret\n";
    const char *nested = arena_printf(a,
                                      "  branch %%6, b2, b6\n"
                                      "b2:\n  jump b3\n"
                                      "b3:\n  %%10 = phi i64 b2:%%8, b4:%%11\n  %%12 = cmp.lt bool %%10, %%13\n"
                                      "  branch %%12, b4, b5\n"
                                      "b4:%s\n  store %%7, %%10\n  %%11 = add i64 %%10, %%9\n  jump b3\n"
                                      "b5: poll\n  %%5 = add i64 %%4, %%2\n  jump b1\n"
                                      "b6:\n  ret\n",
                                      c->inner_polls ? " poll" : "");
    char *error = NULL;
    IrModule *m = ir_parse(a, arena_printf(a, "%s%s", head, c->inner_bound ? nested : simple), &error);
    if (!m || (error = ir_verify(m))) {
        fprintf(stderr, "%s: bad test: %s\n", c->name, error);
        exit(1);
    }
    return m;
}

int main(void) {
    unsigned failures = 0;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena arena;
        arena_init(&arena, NULL);
        IrModule *m = build(&arena, &cases[i]);
        pass_polls(m);
        unsigned left = 0;
        for (uint32_t b = 0; b < m->blocks.n; b++) left += m->blocks.at[b].poll;
        if (left != cases[i].left) {
            failures++;
            fprintf(stderr, "%s: %u polls are left, not %u\n", cases[i].name, left, cases[i].left);
        }
        arena_free(&arena);
    }
    printf("%u failures\n", failures);
    return failures != 0;
}
