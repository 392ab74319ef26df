/* devfn.c - finds the rows of devfn.def by path. */
#include "devfns.h"

#include <string.h>

static const DevFn rows[] = {
#define DEVFN(path, signature, handler, param, doc) {path, signature, handler, param, false, false, doc},
#define DEVARRAY(path, signature, handler, param, doc) {path, signature, handler, param, false, true, doc},
#define DEVVALUE(path, handler, param, doc) {path, "", handler, param, true, false, doc},
#define REFUSED(path, help)
#include "devfn.def"
#undef DEVFN
#undef DEVARRAY
#undef DEVVALUE
#undef REFUSED
};

/* Known names that a kernel can't use: their doc line is what to write instead. */
static const DevFn refused[] = {
#define DEVFN(path, signature, handler, param, doc)
#define DEVARRAY(path, signature, handler, param, doc)
#define DEVVALUE(path, handler, param, doc)
#define REFUSED(path, help) {path, "", fn_refused, 0, false, true, help},
#include "devfn.def"
#undef DEVFN
#undef DEVARRAY
#undef DEVVALUE
#undef REFUSED
};

Val fn_refused(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    (void)n;
    (void)args;
    return e_fail(e, site->span, site->fn->doc, DIAG_NOT_IN_KERNEL, site->name);
}

static const DevFn *find_in(const DevFn *table, size_t count, const char *path) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(table[i].path, path) == 0) return &table[i];
    return NULL;
}

const DevFn *devfn_find(const char *path) {
    const DevFn *fn = find_in(rows, sizeof rows / sizeof *rows, path);
    return fn ? fn : find_in(refused, sizeof refused / sizeof *refused, path);
}

DevCall *devfn_call(const DevFn *fn) { return fn->call; }
bool devfn_is_value(const DevFn *fn) { return fn->is_value; }

const DevFn *devfn_table(size_t *count) {
    *count = sizeof rows / sizeof *rows;
    return rows;
}
