/* suggest.h - "did you mean": start with the wrong name, offer names, ask for the help text. */
#ifndef GPU_SUGGEST_H
#define GPU_SUGGEST_H

#include "devfn.h"

typedef struct Suggestion { const char *name, *best; unsigned distance; } Suggestion;

void suggest_among(Suggestion *s, uint32_t n, const char *const *names);
void suggest_devfn(Suggestion *s, const char *prefix);              /* rows of devfn.def: "numpy." */
const char *suggest_members(Arena *arena, const char *path);        /* "there is gpu.threadIdx.x, ..."; NULL: it has none */
const char *suggest_help(Arena *arena, const Suggestion *s);        /* NULL: nothing is near enough */

#endif
