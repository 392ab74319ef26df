/* rowhost.c - see rowhost.h. Objects are numbered; a handle points to one. */
#include "rowhost.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct HostObject {
    HostKind kind;
    int64_t value;
    double re, im;
    const char *text;
    HostRef *items;
    size_t n;
    HostCode code;
} HostObject;

struct RowHost {
    Arena *arena;
    Host host;
    VEC(HostRef) objects;
    VEC(HostRef) roots;
};

/* ---- the table of functions ------------------------------------------------------------------------ */

static bool row_info(void *self, HostRef obj, HostInfo *out) {
    (void)self;
    static const char *const types[] = {"NoneType", "bool",  "int",  "float", "complex", "str",
                                        "ellipsis", "tuple", "list", "dict",  "set",     "slice"};
    memset(out, 0, sizeof *out);
    out->kind = obj->kind;
    out->i64 = (obj->kind == HOST_INT && !obj->text) || obj->kind == HOST_BOOL;
    out->u64 = out->i64 && obj->value >= 0;
    out->bits = (uint64_t)obj->value;
    out->re = obj->kind == HOST_INT ? (double)obj->value : obj->re;
    out->im = obj->im;
    out->text = obj->text;
    out->n = obj->n;
    out->type_name = obj->kind <= HOST_SLICE ? types[obj->kind] : "object";
    return true;
}

static HostRef row_nothing(void *self, HostRef obj, const char *name) {
    (void)self, (void)obj, (void)name;
    return NULL;
}

static HostRef row_attr(void *self, HostRef obj, const char *name) {
    (void)self;
    static const char *const parts[] = {"start", "stop", "step"};
    for (size_t i = 0; i < 3 && obj->kind == HOST_SLICE; i++)
        if (!strcmp(name, parts[i])) return obj->items[i];
    return NULL;
}

static HostRef row_item(void *self, HostRef obj, size_t index) {
    (void)self;
    return index < obj->n ? obj->items[index] : NULL;
}

static HostRef row_lookup(void *self, HostRef dict, HostRef key) {
    (void)self, (void)dict, (void)key;
    return NULL;
}

static bool row_code(void *self, HostRef obj, HostCode *out) {
    (void)self;
    if (obj->kind == HOST_CODE) *out = obj->code;
    return obj->kind == HOST_CODE;
}

static bool row_same(void *self, HostRef a, HostRef b) {
    (void)self;
    return a == b;
}

static HostObject *make(RowHost *h, HostKind kind) {
    HostObject *o = ARENA_NEW(h->arena, HostObject);
    o->kind = kind;
    VEC_PUSH(h->arena, &h->objects, o);
    return o;
}

static HostRef row_make_int(void *self, int64_t v) {
    RowHost *h = self;
    for (uint32_t i = 0; i < h->objects.n; i++) /* small integers are one object each */
        if (h->objects.at[i]->kind == HOST_INT && !h->objects.at[i]->text && h->objects.at[i]->value == v)
            return h->objects.at[i];
    HostObject *o = make(h, HOST_INT);
    o->value = v;
    return o;
}

static HostRef row_make_str(void *self, const char *s) {
    HostObject *o = make(self, HOST_STR);
    o->text = s;
    return o;
}

/* The shortest text that reads back as the number, with a point. */
static const char *real_repr(Arena *arena, double v) {
    for (int digits = 1; digits <= 17; digits++) {
        const char *text = arena_printf(arena, "%.*g", digits, v);
        if (strtod(text, NULL) == v) return strpbrk(text, ".en") ? text : arena_printf(arena, "%s.0", text);
    }
    return "nan";
}

static const char *row_repr(void *self, HostRef obj) {
    RowHost *h = self;
    switch (obj->kind) {
    case HOST_NONE: return "None";
    case HOST_BOOL: return obj->value ? "True" : "False";
    case HOST_INT: return obj->text ? obj->text : arena_printf(h->arena, "%" PRId64, obj->value);
    case HOST_FLOAT: return real_repr(h->arena, obj->re);
    case HOST_COMPLEX: return arena_printf(h->arena, "%.17g%+.17gj", obj->re, obj->im);
    case HOST_STR: return arena_printf(h->arena, "'%s'", obj->text);
    case HOST_CODE: return arena_printf(h->arena, "<code %s>", obj->code.name);
    case HOST_TUPLE: {
        const char *text = "(";
        for (size_t i = 0; i < obj->n; i++)
            text = arena_printf(h->arena, "%s%s%s", text, i ? ", " : "", row_repr(self, obj->items[i]));
        return arena_printf(h->arena, "%s)", text);
    }
    default: return arena_printf(h->arena, "<%s>", obj->text ? obj->text : "object");
    }
}

static const char *row_source_line(void *self, const char *file, uint32_t line) {
    (void)self, (void)file, (void)line;
    return NULL;
}

static HostRef row_import(void *self, const char *module) {
    (void)self, (void)module;
    return NULL;
}

static RowHost *new_host(Arena *arena) {
    RowHost *h = ARENA_NEW(arena, RowHost);
    h->arena = arena;
    h->host = (Host){.self = h,
                     .info = row_info,
                     .global = row_nothing,
                     .closure = row_nothing,
                     .attr = row_attr,
                     .item = row_item,
                     .lookup = row_lookup,
                     .code = row_code,
                     .default_value = row_nothing,
                     .same = row_same,
                     .make_int = row_make_int,
                     .make_str = row_make_str,
                     .repr = row_repr,
                     .source_line = row_source_line,
                     .import = row_import};
    return h;
}

const Host *rowhost_host(RowHost *h) { return &h->host; }
size_t rowhost_nroots(const RowHost *h) { return h->roots.n; }
HostRef rowhost_root(const RowHost *h, size_t i) { return h->roots.at[i]; }

/* ---- reading ------------------------------------------------------------------------------------------ */

typedef struct Reader {
    RowHost *h;
    const char *p;
    unsigned line;
    const char *wrong;
} Reader;

/* The next word of the line, decoded; NULL at its end. */
static const char *word(Reader *r) {
    while (*r->p == ' ') r->p++;
    if (*r->p == '\n' || *r->p == '\0') return NULL;
    const char *start = r->p;
    while (*r->p && *r->p != ' ' && *r->p != '\n') r->p++;
    char *text = arena_strndup(r->h->arena, start, (size_t)(r->p - start)), *out = text;
    for (const char *s = text; *s; s++) {
        if (*s != '%') {
            *out++ = *s;
        } else if (isxdigit((unsigned char)s[1]) && isxdigit((unsigned char)s[2])) {
            *out++ = (char)strtol((char[]){s[1], s[2], 0}, NULL, 16);
            s += 2;
        }
    }
    *out = '\0';
    return text;
}

static int64_t number(Reader *r) {
    const char *w = word(r);
    if (!w) r->wrong = "a number is missing";
    return w ? strtoll(w, NULL, 10) : 0;
}

static double real(Reader *r) {
    const char *w = word(r);
    return w ? strtod(w, NULL) : 0;
}

static bool next_line(Reader *r) {
    while (*r->p && *r->p != '\n') r->p++;
    if (*r->p == '\n') r->p++;
    r->line++;
    return *r->p != '\0';
}

static HostRef object(Reader *r, int64_t i) {
    if (i >= 0 && i < r->h->objects.n) return r->h->objects.at[i];
    r->wrong = "no object has this number";
    return r->h->objects.n ? r->h->objects.at[0] : NULL;
}

static const char **words(Reader *r, size_t *n) {
    VEC(const char *) v = {NULL, 0, 0};
    for (const char *w; (w = word(r)) != NULL;) VEC_PUSH(r->h->arena, &v, w);
    VEC_PUSH(r->h->arena, &v, NULL);
    *n = v.n - 1;
    return v.at;
}

static HostRef *objects(Reader *r, size_t *n) {
    const char **w = words(r, n);
    HostRef *refs = ARENA_ARRAY(r->h->arena, HostRef, *n + 1);
    for (size_t i = 0; i < *n; i++) refs[i] = object(r, strtoll(w[i], NULL, 10));
    return refs;
}

static const uint8_t *bytes(Reader *r, size_t *n) {
    const char *hex = word(r);
    *n = hex ? strlen(hex) / 2 : 0;
    uint8_t *out = ARENA_ARRAY(r->h->arena, uint8_t, *n + 1);
    for (size_t i = 0; i < *n; i++) out[i] = (uint8_t)strtol((char[]){hex[2 * i], hex[2 * i + 1], 0}, NULL, 16);
    return out;
}

static void code_part(Reader *r, HostCode *c, const char *key) {
    size_t n;
    if (!strcmp(key, "version")) c->version = (int)number(r);
    else if (!strcmp(key, "name")) c->name = c->qualname = word(r);
    else if (!strcmp(key, "first")) c->first_line = (uint32_t)number(r);
    else if (!strcmp(key, "flags")) c->flags = (uint32_t)number(r);
    else if (!strcmp(key, "names")) c->names = words(r, &c->nnames);
    else if (!strcmp(key, "varnames")) c->varnames = words(r, &c->nvarnames);
    else if (!strcmp(key, "cellvars")) c->cellvars = words(r, &c->ncellvars);
    else if (!strcmp(key, "freevars")) c->freevars = words(r, &c->nfreevars);
    else if (!strcmp(key, "localsplus")) c->localsplus = words(r, &c->nlocalsplus);
    else if (!strcmp(key, "table")) c->exception_table = bytes(r, &c->exception_table_size);
    else if (!strcmp(key, "consts")) c->consts = objects(r, &c->nconsts);
    else if (!strcmp(key, "bytes")) c->code = bytes(r, &c->code_size);
    else if (!strcmp(key, "args")) {
        c->argcount = (uint32_t)number(r);
        c->posonlyargcount = (uint32_t)number(r);
        c->kwonlyargcount = (uint32_t)number(r);
    } else if (!strcmp(key, "positions")) {
        const char **w = words(r, &n);
        uint32_t(*at)[4] = arena_alloc(r->h->arena, (n / 4 + 1) * sizeof *at);
        for (size_t i = 0; i < n / 4 * 4; i++) at[i / 4][i % 4] = (uint32_t)strtoul(w[i], NULL, 10);
        c->positions = n >= c->code_size / 2 * 4 ? (const uint32_t(*)[4])at : NULL;
    } else {
        r->wrong = "this part of a code object isn't known";
    }
}

static void read_code(Reader *r) {
    HostCode c;
    memset(&c, 0, sizeof c);
    c.file = "rows.py";
    while (next_line(r) && !r->wrong) {
        const char *key = word(r);
        if (!key) continue;
        if (!strcmp(key, "end")) break;
        code_part(r, &c, key);
    }
    make(r->h, HOST_CODE)->code = c;
}

static void read_object(Reader *r, const char *kind) {
    static const struct {
        const char *name;
        HostKind kind;
    } plain[] = {{"none", HOST_NONE},   {"bool", HOST_BOOL},       {"int", HOST_INT},
                 {"float", HOST_FLOAT}, {"complex", HOST_COMPLEX}, {"str", HOST_STR},
                 {"tuple", HOST_TUPLE}, {"slice", HOST_SLICE},     {"other", HOST_OTHER}};
    if (!strcmp(kind, "root")) {
        HostRef root = object(r, number(r));
        VEC_PUSH(r->h->arena, &r->h->roots, root);
        return;
    }
    if (!strcmp(kind, "code")) {
        read_code(r);
        return;
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (strcmp(kind, plain[i].name)) continue;
        HostObject o = {.kind = plain[i].kind};
        switch (o.kind) {
        case HOST_NONE: break;
        case HOST_BOOL: o.value = number(r); break;
        case HOST_INT:
            o.text = word(r); /* kept when it is too large */
            errno = 0;
            o.value = o.text ? strtoll(o.text, NULL, 10) : 0;
            o.text = errno ? o.text : NULL;
            break;
        case HOST_FLOAT: o.re = real(r); break;
        case HOST_COMPLEX:
            o.re = real(r);
            o.im = real(r);
            break;
        case HOST_TUPLE:
        case HOST_SLICE: o.items = objects(r, &o.n); break;
        default: o.text = word(r);
        }
        if ((o.kind == HOST_STR && !o.text) || (o.kind == HOST_SLICE && o.n != 3)) r->wrong = "an object is incomplete";
        HostObject *made = make(r->h, o.kind);
        *made = o;
        if (o.kind == HOST_NONE) r->h->host.none = made;
        return;
    }
    r->wrong = "this kind of object isn't known";
}

RowHost *rowhost_read(Arena *arena, const char *text) {
    Reader r = {.h = new_host(arena), .p = text, .line = 1};
    do {
        const char *kind = word(&r);
        if (kind) read_object(&r, kind);
    } while (!r.wrong && next_line(&r));
    if (r.wrong) {
        fprintf(stderr, "line %u: %s\n", r.line, r.wrong);
        return NULL;
    }
    if (!r.h->host.none) r.h->host.none = make(r.h, HOST_NONE);
    return r.h;
}

RowHost *rowhost_fuzz(Arena *arena, int version, const uint8_t *code, size_t size, const uint8_t *table,
                      size_t table_size) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    RowHost *h = new_host(arena);
    HostObject *obj[8];
    static const HostKind kinds[8] = {HOST_NONE,  HOST_INT,   HOST_BOOL, HOST_STR,
                                      HOST_TUPLE, HOST_SLICE, HOST_CODE, HOST_FLOAT};
    HostRef *refs = ARENA_ARRAY(arena, HostRef, 8);
    for (int i = 0; i < 8; i++) refs[i] = obj[i] = make(h, kinds[i]);
    h->host.none = obj[0];
    obj[3]->text = "k";
    obj[4]->items = ARENA_ARRAY(arena, HostRef, 1);
    obj[4]->items[0] = obj[3];
    obj[4]->n = 1;
    obj[5]->items = refs;
    obj[5]->n = 3;
    const char **n = ARENA_ARRAY(arena, const char *, 8);
    memcpy(n, names, sizeof names);
    HostCode *c = &obj[6]->code;
    *c = (HostCode){.version = version,
                    .code = code,
                    .code_size = size,
                    .exception_table = table,
                    .exception_table_size = table_size,
                    .consts = refs,
                    .nconsts = 8,
                    .names = n,
                    .nnames = 8,
                    .varnames = n,
                    .nvarnames = 4,
                    .cellvars = n + 3,
                    .ncellvars = 2,
                    .freevars = n + 5,
                    .nfreevars = 2,
                    .argcount = 1,
                    .flags = 3,
                    .first_line = 1,
                    .file = "fuzz.py",
                    .name = "<listcomp>",
                    .qualname = "k"};
    if (version >= 311) {
        c->localsplus = n;
        c->nlocalsplus = 7;
    }
    VEC_PUSH(arena, &h->roots, obj[6]);
    return h;
}
