/* suggest.h - "did you mean": start with the wrong name, offer names, ask for the help text. */
#ifndef GPU_SUGGEST_H
#define GPU_SUGGEST_H

#include "devfn.h"
#include "types.h"

typedef struct Suggestion { const char *name, *best; unsigned distance; } Suggestion;

void suggest_among(Suggestion *s, uint32_t n, const char *const *names);
void suggest_devfn(Suggestion *s, Arena *arena, const char *prefix);   /* rows of devfn.def: "numpy." */
const char *suggest_members(Arena *arena, const char *path);        /* "there is gpu.threadIdx.x, ..."; NULL: it has none */
const char *suggest_help(Arena *arena, const Suggestion *s);        /* NULL: nothing is near enough */
/* Where a name that isn't defined is found: of a module, of CUDA C, a dtype's; NULL: nowhere. */
const char *suggest_home(Arena *arena, Dialect dialect, const char *name);
/* What to do without a Python function, by its name as the source spells it. */
const char *suggest_instead(const char *called);

#endif
