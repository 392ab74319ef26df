/* numbawords.c - notes with what Numba says of the same mistake. Programs that were written for it catch its errors,
 * and their tests look for its words; the message itself is this compiler's. numbawords.def has those that need nothing
 * but the message's own arguments; the rest is put together where the mistake is found. */
#include "evaluator.h"

#include <string.h>

static const char *const words[DIAG__COUNT] = {
#define NUMBA_WORDS(code, format) [DIAG_##code] = format,
#include "numbawords.def"
#undef NUMBA_WORDS
};

static void say(Eval *e, Diag *d, const char *text) { diag_note(e->diags, d, NULL, "Numba says: %s", text); }

void numba_words_of(Eval *e, Diag *d, va_list args) {
    if (!e_numba(e) || !words[d->code]) return;
    say(e, d, arena_vprintf(e->arena, words[d->code], args));
    if (d->code == DIAG_NO_NAME && d->at.caller)
        diag_note(e->diags, d, NULL, "During: resolving callee type: type(CUDADispatcher(<function %s>))",
                  e->frame->inst->f->name);
}

void e_numba_says(Eval *e, Diag *d, const char *fmt, ...) {
    if (!d || !e_numba(e)) return;
    if (words[d->code] && d->notes.n) d->notes.n--; /* the words of the place itself say more */
    va_list ap;
    va_start(ap, fmt);
    say(e, d, arena_vprintf(e->arena, fmt, ap));
    va_end(ap);
}

/* What to write in the place of an object of numba's own, or of gpu.cuda's, of this class, or of such a class that is
 * called. */
static const struct {
    const char *name, *help;
} instead[] = {
    {"_Intrinsic", "@intrinsic makes code of Numba's compiler: write a plain Python function, which kernels call"},
    {"StencilFunc",
     "a stencil is Numba's for the CPU: read the neighbours of each thread's element, x[i - 1] + x[i + 1]"},
    {"GUFunc", "it works on whole arrays, from Python: call the function that it was made of"},
    {"DUFunc", "it works on whole arrays, from Python: call the function that it was made of"},
    {"Reduce", "it works on whole arrays, from Python: add up in a loop, or with cuda.atomic.add"},
    {"List", "items of the thread's own: cuda.local.array(size, dtype); of all: an array, np.array(...) of the list"},
    {"Dict", "a Python dict of constants, made outside of the kernel; or pass its keys and values as arrays"},
};

const char *numba_help_for(Eval *e, HostRef cls) {
    const Host *h = e->host;
    HostInfo module, of;
    memset(&module, 0, sizeof module);
    memset(&of, 0, sizeof of);
    HostRef name = cls ? h->attr(h->self, cls, "__module__") : NULL;
    if (!name || !h->info(h->self, name, &module) || module.kind != HOST_STR) return NULL;
    bool numbas = strncmp(module.text, "numba.", 6) == 0 && strncmp(module.text, "numba.cuda.", 11) != 0;
    if (!numbas && strcmp(module.text, "gpu.cuda._programs") != 0) return NULL;
    h->info(h->self, cls, &of);
    for (size_t i = 0; of.text && i < sizeof instead / sizeof *instead; i++)
        if (strcmp(of.text, instead[i].name) == 0) return instead[i].help;
    return "it is Numba's, for its own compiler: kernels call plain Python functions";
}

/* "Tuple(Literal[int](1), int32)", as Numba writes the types of an argument. */
const char *numba_type_text(Eval *e, Val v) {
    Wide i;
    if (val_is_scalar(v) && dt_is_int(val_dtype(v)) && val_as_int(v, &i))
        return arena_printf(e->arena, "Literal[int](%s)", wide_text(e->arena, i));
    if (v.ty->kind != TY_TUPLE) return e_text(e, v);
    const char *text = "";
    for (uint32_t k = 0; k < v.ty->n; k++)
        text = arena_printf(e->arena, "%s%s%s", text, k ? ", " : "", numba_type_text(e, v.items[k]));
    return arena_printf(e->arena, "Tuple(%s)", text);
}

/* What it says of a call whose arguments no signature takes. */
const char *numba_call_text(Eval *e, const PyFunc *f, uint32_t n, const Val *args) {
    const char *types = "";
    for (uint32_t i = 0; i < n; i++) types = arena_printf(e->arena, "%s%s%s", types, i ? ", " : "", e_text(e, args[i]));
    return arena_printf(e->arena, "Invalid use of type(CUDADispatcher(<function %s>)) with parameters (%s)", f->name,
                        types);
}

/* Numba's classes of numbers have no methods as attributes: float.as_integer_ratio. */
void numba_of_method(Eval *e, Diag *d, HostRef method) {
    static const char *const classes[][2] = {
        {"bool", "bool"}, {"int", "int64"}, {"float", "float64"}, {"complex", "complex128"}};
    HostInfo name;
    memset(&name, 0, sizeof name);
    HostRef cls = e->host->attr(e->host->self, method, "__objclass__"),
            text = cls ? e->host->attr(e->host->self, method, "__name__") : NULL;
    if (!d || !text || !e->host->info(e->host->self, text, &name) || name.kind != HOST_STR) return;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        HostRef one = val_builtin(e, classes[i][0]);
        if (one && e->host->same(e->host->self, one, cls))
            e_numba_says(e, d, "Unknown attribute '%s' of type class(%s)", name.text, classes[i][1]);
    }
}

/* Of an array whose dtype no kernel has: the variable is the one that the line assigns to. */
void numba_untyped(Eval *e, Diag *d, PySpan span) {
    if (!d || !e_numba(e)) return;
    const char *line = e->host->source_line(e->host->self, e->frame->inst->f->file, span.line);
    if (!line) return;
    line += strspn(line, " \t");
    size_t n = strcspn(line, " =,.[(:");
    const char *after = line + n + strspn(line + n, " ");
    if (n && after[0] == '=' && after[1] != '=')
        e_numba_says(e, d, "Cannot infer the type of variable '%.*s'", (int)n, line);
}
