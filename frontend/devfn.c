/* devfn.c - finds the rows of devfn.def by path. */
#include "devfns.h"
#include "evaluator.h"

#include <string.h>

static const DevFn rows[] = {
#define DEVFN(path, signature, handler, param, doc) {path, signature, handler, param, DEV_FN, doc},
#define DEVEACH(path, signature, handler, param, doc) {path, signature, handler, param, DEV_EACH, doc},
#define DEVARRAY(path, signature, handler, param, doc) {path, signature, handler, param, DEV_ARRAY, doc},
#define DEVNONE(path, signature, handler, param, doc) {path, signature, handler, param, DEV_NONE, doc},
#define DEVVALUE(path, handler, param, doc) {path, "", handler, param, DEV_VALUE, doc},
#include "devfn.def"
};

/* Known names that a kernel can't use: their doc line is what to write instead. */
static const DevFn refused[] = {
#define DEVFN(path, signature, handler, param, doc)
#define REFUSED(path, help) {path, "", fn_refused, 0, DEV_ARRAY, help},
#include "devfn.def"
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

const DevFn *devfn_of(const Eval *e, Val fn) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    if (!fn.ty) return NULL;
    if (fn.ty->kind == TY_METHOD) return fn.ty->obj ? NULL : devfn_find(fn.ty->name);
    if (fn.ty->kind != TY_OBJECT || !e->host->info(e->host->self, fn.ty->obj, &info) || info.kind != HOST_NAMED)
        return NULL;
    return devfn_find(info.path);
}

DevCall *devfn_call(const DevFn *fn) { return fn->call; }
bool devfn_is_value(const DevFn *fn) { return fn->kind == DEV_VALUE; }

const DevFn *devfn_table(size_t *count) {
    *count = sizeof rows / sizeof *rows;
    return rows;
}
