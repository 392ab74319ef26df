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

/* Of "gpu.threadIdx.x" the part behind "gpu." is "threadIdx". */
void suggest_devfn(Suggestion *s, Arena *arena, const char *prefix) {
    size_t n, length = strlen(prefix);
    const DevFn *rows = devfn_table(&n);
    for (size_t i = 0; i < n; i++) {
        const char *name = rows[i].path + length;
        if (strncmp(rows[i].path, prefix, length) != 0) continue;
        if (strchr(name, '.')) name = arena_strndup(arena, name, strcspn(name, "."));
        suggest_among(s, 1, &name);
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

/* ---- names that belong elsewhere ------------------------------------------------------------------------ */

/* Is there a device function, or a group of them, of this path? */
static bool is_known(const char *path) {
    size_t n, length = strlen(path);
    const DevFn *rows = devfn_table(&n);
    for (size_t i = 0; i < n; i++)
        if (strncmp(rows[i].path, path, length) == 0 && (rows[i].path[length] == 0 || rows[i].path[length] == '.'))
            return true;
    return false;
}

/* CUDA C's spelling: __syncthreads is gpu.syncthreads, atomicAdd is gpu.atomic.add. */
static const char *of_cuda_c(Arena *arena, const char *name) {
    if (strncmp(name, "__", 2) == 0) return arena_printf(arena, "gpu.%s", name + 2);
    if (strncmp(name, "atomic", 6) != 0 || !name[6]) return NULL;
    char *word = arena_strdup(arena, name + 6);
    for (char *c = word; *c; c++)
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
    const char *path = arena_printf(arena, "gpu.atomic.%s", word);
    return devfn_find(path) ? path : arena_printf(arena, "%s_", path);
}

const char *suggest_home(Arena *arena, Dialect dialect, const char *name) {
    static const char *const modules[][2] = {{"np", "import numpy as np"},     {"numpy", "import numpy"},
                                             {"math", "import math"},          {"cmath", "import cmath"},
                                             {"cuda", "from gpu import cuda"}, {"gpu", "import gpu"},
                                             {"operator", "import operator"},  {"functools", "import functools"}};
    static const char *const families[] = {"gpu", "math", "numpy", "cmath"};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (strcmp(name, modules[i][0]) == 0) return arena_printf(arena, "%s, at the top of the file", modules[i][1]);
    for (int d = 0; d < DT__COUNT; d++)
        if (strcmp(name, dtype_info[d].name) == 0)
            return arena_printf(arena, "write np.%s, or import the name: from gpu%s import %s", name,
                                dialect == DIALECT_NUMBA ? ".cuda" : "", name);
    const char *found = of_cuda_c(arena, name);
    for (size_t i = 0; !(found && is_known(found)) && i < sizeof families / sizeof *families; i++)
        found = arena_printf(arena, "%s.%s", families[i], name);
    return found && is_known(found) ? dialect_text(arena, dialect, arena_printf(arena, "it is %s", found)) : NULL;
}

const char *suggest_instead(const char *called) {
    static const char *const parts[][2] = {
        {"random", "random numbers of each thread: states made before the launch by "
                   "gpu.random.create_xoroshiro128p_states(n, seed), "
                   "and gpu.random.xoroshiro128p_uniform_float32(states, i) here; or pass an array of them"},
        {"prange",
         "range(...) in a kernel, whose threads run side by side; @gpu.parallel makes kernels of prange loops"},
        {"breakpoint", "after gpu.set_device('python') the function itself runs, thread by thread, under any debugger"},
        {"set_trace", "after gpu.set_device('python') the function itself runs, thread by thread, under any debugger"},
        {"device_array", "memory of a thread's own: gpu.local.array(size, dtype); of all: an array that is passed"},
        {"to_device", "arrays of the device are made before the launch, and passed"},
        {"deque", "a list has append(), pop() and pop(0)"},
        {"heapq.", "a list has append(), pop() and sort()"},
        {"nditer", "for v in a.flat, or for i, v in np.ndenumerate(a)"},
        {"can_cast", "compare dtypes: x.dtype == np.float32, which is known when compiling"},
        {"from_bytes", "shift and add: n = n << 8 | b for each byte"},
        {"tuple_new", "call the class with its fields: Point(*values)"},
        {".append",
         "a list outside of the kernel is a constant: make one in the kernel, or write into an array argument"},
        {".extend",
         "a list outside of the kernel is a constant: make one in the kernel, or write into an array argument"},
        {"time.", "gpu.clock64() counts cycles in a kernel; a launch is timed outside, up to gpu.synchronize()"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(called, parts[i][0])) return parts[i][1];
    return "a kernel calls math, gpu, elementwise numpy functions and plain Python functions; compute the rest before "
           "the launch";
}
