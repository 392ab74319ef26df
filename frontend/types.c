/* types.c - interned types, their texts, and the table of dtypes. */
#include "types.h"
#include "devfn.h"

#include <ctype.h>
#include <string.h>

const DTypeInfo dtype_info[DT__COUNT + 1] = {
    [DT_BOOL] = {"bool", "b1", 1, 1, DK_BOOL, T_BOOL, DT_BOOL},
    [DT_I8] = {"int8", "i1", 1, 8, DK_INT, T_I8, DT_I8},
    [DT_I16] = {"int16", "i2", 2, 16, DK_INT, T_I16, DT_I16},
    [DT_I32] = {"int32", "i4", 4, 32, DK_INT, T_I32, DT_I32},
    [DT_I64] = {"int64", "i8", 8, 64, DK_INT, T_I64, DT_I64},
    [DT_U8] = {"uint8", "u1", 1, 8, DK_UINT, T_U8, DT_U8},
    [DT_U16] = {"uint16", "u2", 2, 16, DK_UINT, T_U16, DT_U16},
    [DT_U32] = {"uint32", "u4", 4, 32, DK_UINT, T_U32, DT_U32},
    [DT_U64] = {"uint64", "u8", 8, 64, DK_UINT, T_U64, DT_U64},
    [DT_F16] = {"float16", "f2", 2, 16, DK_FLOAT, T_F16, DT_F16},
    [DT_BF16] = {"bfloat16", "", 2, 16, DK_FLOAT, T_BF16, DT_BF16},
    [DT_F32] = {"float32", "f4", 4, 32, DK_FLOAT, T_F32, DT_F32},
    [DT_F64] = {"float64", "f8", 8, 64, DK_FLOAT, T_F64, DT_F64},
    [DT_C64] = {"complex64", "c8", 8, 64, DK_COMPLEX, T_F32, DT_F32},
    [DT_C128] = {"complex128", "c16", 16, 128, DK_COMPLEX, T_F64, DT_F64},
    [DT_RECORD] = {"record", "", 0, 0, DK_RECORD, T_VOID, DT_RECORD},
};

DType dtype_of_code(const char *code) {
    for (DType d = DT_BOOL; d < DT__COUNT; d++)
        if (*code && strcmp(code, dtype_info[d].code) == 0) return d;
    return DT_NONE;
}

Wide dt_min(DType d) { return dtype_info[d].kind == DK_INT ? -((Wide)1 << (dtype_info[d].bits - 1)) : 0; }

Wide dt_max(DType d) {
    unsigned bits = dtype_info[d].bits;
    return ((Wide)1 << (dtype_info[d].kind == DK_INT ? bits - 1 : bits)) - 1;
}

bool dt_fits(DType d, Wide v) { return v >= dt_min(d) && v <= dt_max(d); }

/* ---- interning --------------------------------------------------------------------------------- */
enum { FIRST_BUCKETS = 64 }; /* doubled when there are as many types */

struct Types {
    Arena *arena;
    const Host *host;
    Dialect dialect;
    const TyNode **bucket;
    uint32_t n, nbuckets;
    Ty poison, undef, none, scalar[DT__COUNT][2];
};

uint32_t hash_mix(uint32_t h, uint64_t v) {
    uint64_t x = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(x >> 32) ^ (uint32_t)x;
}

static bool same_fields(const TyNode *a, const TyNode *b) {
    if (!a->fields != !b->fields) return false;
    for (uint32_t i = 0; a->fields && i < a->n; i++)
        if (strcmp(a->fields[i], b->fields[i]) != 0) return false;
    return true;
}

static bool same_object(const Types *t, HostRef a, HostRef b) {
    return a == b || (a && b && t->host->same(t->host->self, a, b));
}

static bool same_node(const Types *t, const TyNode *a, const TyNode *b) {
    if (a->kind != b->kind || a->dtype != b->dtype || a->align != b->align || a->record != b->record ||
        a->ndim != b->ndim || a->layout != b->layout || a->space != b->space || a->sub != b->sub ||
        a->weak != b->weak || a->readonly != b->readonly || a->n != b->n || a->made != b->made)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (a->items[i] != b->items[i]) return false;
    if (!a->name != !b->name || (a->name && strcmp(a->name, b->name) != 0)) return false;
    return same_fields(a, b) && same_object(t, a->obj, b->obj);
}

/* The object isn't hashed: two handles may be one object. */
static uint32_t hash_node(const TyNode *n) {
    uint32_t h =
        hash_mix(n->kind, n->dtype | (unsigned)n->ndim << 8 | (unsigned)n->layout << 16 | (unsigned)n->space << 24);
    h = hash_mix(h, n->sub | (unsigned)n->weak << 8 | (unsigned)n->readonly << 9 | (unsigned)n->align << 16);
    h = hash_mix(h, (uintptr_t)n->record);
    h = hash_mix(h, (uintptr_t)n->made);
    for (uint32_t i = 0; i < n->n; i++) h = hash_mix(h, (uintptr_t)n->items[i]);
    return h;
}

static void grow(Types *t) {
    uint32_t n = 2 * t->nbuckets;
    const TyNode **bucket = ARENA_ARRAY(t->arena, const TyNode *, n);
    for (uint32_t i = 0; i < t->nbuckets; i++)
        for (const TyNode *p = t->bucket[i], *next; p; p = next) {
            next = p->next;
            ((TyNode *)p)->next = bucket[p->hash % n];
            bucket[p->hash % n] = p;
        }
    t->bucket = bucket;
    t->nbuckets = n;
}

static Ty intern(Types *t, const TyNode *key) {
    uint32_t h = hash_node(key);
    for (const TyNode *p = t->bucket[h % t->nbuckets]; p; p = p->next)
        if (p->hash == h && same_node(t, p, key)) return p;
    TyNode *n = ARENA_NEW(t->arena, TyNode);
    *n = *key;
    n->hash = h;
    if (n->n) {
        Ty *items = ARENA_ARRAY(t->arena, Ty, n->n);
        memcpy(items, key->items, n->n * sizeof *items);
        n->items = items;
    }
    if (t->n++ == t->nbuckets) grow(t);
    n->next = t->bucket[h % t->nbuckets];
    t->bucket[h % t->nbuckets] = n;
    return n;
}

Types *types_new(Arena *arena, const Host *host, Dialect dialect) {
    Types *t = ARENA_NEW(arena, Types);
    t->arena = arena;
    t->host = host;
    t->dialect = dialect;
    t->nbuckets = FIRST_BUCKETS;
    t->bucket = ARENA_ARRAY(arena, const TyNode *, t->nbuckets);
    t->poison = intern(t, &(TyNode){.kind = TY_POISON});
    t->undef = intern(t, &(TyNode){.kind = TY_UNDEF});
    t->none = intern(t, &(TyNode){.kind = TY_NONE});
    for (int d = 0; d < DT__COUNT; d++)
        for (int w = 0; w < 2; w++)
            t->scalar[d][w] = intern(t, &(TyNode){.kind = TY_SCALAR, .dtype = (uint8_t)d, .weak = w != 0});
    return t;
}

Ty ty_poison(Types *t) { return t->poison; }
Ty ty_undef(Types *t) { return t->undef; }
Ty ty_none(Types *t) { return t->none; }
Ty ty_scalar(Types *t, DType d, bool weak) { return t->scalar[d][weak]; }
Ty ty_ptr(Types *t, Type space) { return intern(t, &(TyNode){.kind = TY_PTR, .space = (uint8_t)space}); }
Ty ty_dtype(Types *t, DType d) { return intern(t, &(TyNode){.kind = TY_DTYPE, .dtype = (uint8_t)d}); }

Ty ty_dtype_of(Types *t, Elem elem) {
    return intern(t, &(TyNode){.kind = TY_DTYPE, .dtype = elem.dtype, .record = elem.record});
}

Ty ty_object(Types *t, HostRef obj) { return intern(t, &(TyNode){.kind = TY_OBJECT, .obj = obj}); }

Ty ty_array(Types *t, Elem elem, unsigned ndim, Layout layout, bool readonly, Type space) {
    if (ndim <= 1 && layout == LAYOUT_F) layout = LAYOUT_C;
    Ty items[1 + 2 * MAX_NDIM];
    uint32_t n = 1 + ndim * (layout == LAYOUT_A ? 2u : 1u);
    items[0] = ty_ptr(t, space);
    for (uint32_t i = 1; i < n; i++) items[i] = t->scalar[DT_I64][t->dialect == DIALECT_NUMPY];
    return intern(t, &(TyNode){.kind = TY_ARRAY,
                               .dtype = elem.dtype,
                               .align = elem.align,
                               .record = elem.record,
                               .ndim = (uint8_t)ndim,
                               .layout = (uint8_t)layout,
                               .readonly = readonly,
                               .space = (uint8_t)space,
                               .n = n,
                               .items = items});
}

Ty ty_record(Types *t, const Record *r, unsigned align, bool readonly, Type space, HostRef obj) {
    Ty at = ty_ptr(t, space);
    return intern(t, &(TyNode){.kind = TY_RECORD,
                               .dtype = DT_RECORD,
                               .align = (uint8_t)align,
                               .record = r,
                               .readonly = readonly,
                               .space = (uint8_t)space,
                               .obj = obj,
                               .n = 1,
                               .items = &at});
}

Ty ty_made(Types *t, TyKind kind, HostRef obj, struct Mutable *made) {
    Ty at = ty_ptr(t, T_PTRL);
    return intern(
        t, &(TyNode){.kind = kind, .sub = kind == TY_INSTANCE ? 2 : 0, .made = made, .obj = obj, .n = 1, .items = &at});
}

Ty ty_pointer(Types *t, Elem elem, Type space) {
    Ty at = ty_ptr(t, space);
    return intern(t, &(TyNode){.kind = TY_POINTER,
                               .dtype = elem.dtype,
                               .align = elem.align,
                               .space = (uint8_t)space,
                               .n = 1,
                               .items = &at});
}

Ty ty_time(Types *t, const Record *r) {
    Ty ticks = t->scalar[DT_I64][0];
    return intern(t, &(TyNode){.kind = TY_TIME, .dtype = DT_RECORD, .record = r, .n = 1, .items = &ticks});
}

Ty ty_bytes(Types *t, Type space) {
    TyNode node = *ty_array(t, elem_scalar(DT_U8), 1, LAYOUT_C, true, space);
    node.weak = true;
    return intern(t, &node);
}

Ty ty_expr(Types *t, ExprKind kind, unsigned code, DType d, unsigned ndim, uint32_t n, const Val *items,
           const char *name, const char *const *fields) {
    TyNode node = *ty_composite(t, TY_EXPR, kind, n, items, NULL, name, fields);
    node.layout = (uint8_t)code;
    node.dtype = (uint8_t)d;
    node.ndim = (uint8_t)ndim;
    return intern(t, &node);
}

Ty ty_composite(Types *t, TyKind kind, unsigned sub, uint32_t n, const Val *items, HostRef obj, const char *name,
                const char *const *fields) {
    Ty few[8], *types = n <= 8 ? few : ARENA_ARRAY(t->arena, Ty, n);
    TyNode node = {
        .kind = kind, .sub = (uint8_t)sub, .n = n, .items = types, .obj = obj, .name = name, .fields = fields};
    for (uint32_t i = 0; i < n; i++) {
        types[i] = items[i].ty;
        node.parts = types[i]->parts < INT32_MAX - node.parts ? node.parts + types[i]->parts + 1 : INT32_MAX;
        if (types[i]->depth >= node.depth) node.depth = types[i]->depth + 1;
    }
    return intern(t, &node);
}

/* ---- texts ------------------------------------------------------------------------------------- */
static const char *scalar_text(Types *t, DType d, bool weak) {
    if (!weak) return dtype_info[d].name;
    return arena_printf(t->arena, "%s (weak)",
                        d == DT_BOOL  ? "bool"
                        : d == DT_I64 ? "int"
                        : d == DT_F64 ? "float"
                                      : "complex");
}

const char *const time_units[UNIT__COUNT] = {"Y",  "M",  "W",  "D",  "h",  "m",  "s",
                                             "ms", "us", "ns", "ps", "fs", "as", "generic"};

const char *elem_text(Arena *a, DType d, const Record *r) { return r ? record_text(a, r) : dtype_info[d].name; }

static const char *array_text(Types *t, Ty ty) {
    static const char *const layouts[] = {"C", "F", "A"};
    if (ty->weak) return "bytes";
    const char *space = ty->space == T_PTRS ? ", shared" : ty->space == T_PTRL ? ", local" : "";
    const char *askew = elem_is_askew(elem_of(ty)) ? ", unaligned" : "";
    return arena_printf(t->arena, "array(%s, %ud, %s%s%s%s)", elem_text(t->arena, (DType)ty->dtype, ty->record),
                        ty->ndim, layouts[ty->layout], ty->readonly ? ", readonly" : "", space, askew);
}

static const char *items_text(Types *t, const char *open, Ty ty, const char *close) {
    enum { LONG = 400 };
    const char *s = open;
    for (uint32_t i = 0; i < ty->n; i++) {
        bool enough = strlen(s) > LONG;
        s = arena_printf(t->arena, "%s%s%s", s, i ? ", " : "", enough ? "..." : ty_text(t, ty->items[i]));
        if (enough) break;
    }
    return arena_printf(t->arena, "%s%s%s", s, ty->kind == TY_TUPLE && ty->n == 1 ? "," : "", close);
}

static const char *name_of(Types *t, HostRef fn) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    HostRef name = t->host->attr(t->host->self, fn, "__name__");
    bool known = name && t->host->info(t->host->self, name, &info) && info.kind == HOST_STR;
    return known ? info.text : "?";
}

const char *dialect_text(Arena *a, Dialect dialect, const char *text) {
    if (dialect != DIALECT_NUMBA) return text;
    for (const char *p = strstr(text, "gpu."); p; p = strstr(p + 1, "gpu.")) {
        bool word = p == text || !(isalnum((unsigned char)p[-1]) || strchr("_./", p[-1]));
        if (!word || strncmp(p, "gpu.cuda", 8) == 0) continue;
        size_t before = (size_t)(p - text);
        text = arena_printf(a, "%.*scuda.%s", (int)before, text, p + 4);
        p = text + before;
    }
    return text;
}

static const char *object_text(Types *t, HostRef obj) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    if (!t->host->info(t->host->self, obj, &info)) return "object";
    switch (info.kind) {
    case HOST_STR: return "str";
    case HOST_MODULE: return arena_printf(t->arena, "module %s", info.text ? info.text : "?");
    case HOST_FUNCTION: return arena_printf(t->arena, "function %s", name_of(t, obj));
    case HOST_NAMED: {
        const char *path = dialect_text(t->arena, t->dialect, info.path);
        return devfn_find(info.path) ? arena_printf(t->arena, "function %s", path) : path;
    }
    case HOST_CLASS: return arena_printf(t->arena, "class %s", info.text ? info.text : "?");
    case HOST_LIST: return "list";
    case HOST_DICT: return "dict";
    case HOST_SET: return "set";
    default: return info.type_name ? info.type_name : "object";
    }
}

static const char *iter_text(Types *t, Ty ty) {
    static const char *const names[] = {"range iterator", "iterator", "reverse iterator",
                                        "enumerate",      "zip",      "index iterator"};
    (void)t;
    return names[ty->sub];
}

const char *ty_text(Types *t, Ty ty) {
    static const char *const tuples[] = {"tuple(", "list(", "set("};
    if (!ty) return "nothing";
    switch (ty->kind) {
    case TY_POISON: return "unknown";
    case TY_UNDEF: return "unassigned";
    case TY_NONE: return "None";
    case TY_SCALAR: return scalar_text(t, (DType)ty->dtype, ty->weak);
    case TY_PTR: return "pointer";
    case TY_ARRAY: return array_text(t, ty);
    case TY_POINTER: return arena_printf(t->arena, "%s*", dtype_info[ty->dtype].name);
    case TY_RECORD:
    case TY_TIME: return record_text(t->arena, ty->record);
    case TY_EXPR: return arena_printf(t->arena, "array expression(%s, %ud)", dtype_info[ty->dtype].name, ty->ndim);
    case TY_TUPLE: return items_text(t, tuples[ty->sub], ty, ")");
    case TY_SLICE: return "slice";
    case TY_RANGE: return "range";
    case TY_ITER: return iter_text(t, ty);
    case TY_DTYPE: return arena_printf(t->arena, "dtype %s", elem_text(t->arena, (DType)ty->dtype, ty->record));
    case TY_DICT: return "dict";
    case TY_INSTANCE: return name_of(t, ty->obj);
    case TY_SHARED_VAR: return "variable";
    case TY_LIST: return "list";
    case TY_PARTIAL: return "partial function";
    case TY_SUPER: return "super()";
    case TY_OBJECT: return object_text(t, ty->obj);
    case TY_MAYBE: return arena_printf(t->arena, "optional(%s)", ty_text(t, ty->items[1]));
    case TY_FUNCTION: return "function";
    case TY_CHOICE: return arena_printf(t->arena, "%s or another", ty_text(t, ty->items[1]));
    case TY_TEXT: return "text";
    case TY_EXCEPTION: return "exception";
    case TY_GROUP: return ty->sub == GROUP_GRID ? "grid group" : ty->sub == GROUP_BLOCK ? "thread block" : "tile";
    case TY_METHOD: return arena_printf(t->arena, "method %s", ty->name ? ty->name : name_of(t, ty->obj));
    }
    return "?";
}

const char *wide_text(Arena *a, Wide v) {
    char buf[48], *p = buf + sizeof buf;
    bool neg = v < 0;
    __extension__ typedef unsigned __int128 UWide;
    UWide u = neg ? -(UWide)v : (UWide)v;
    *--p = 0;
    do *--p = (char)('0' + (int)(u % 10));
    while (u /= 10);
    if (neg) *--p = '-';
    return arena_strdup(a, p);
}

/* A string with its text, if that is short. */
static const char *quoted(Types *t, HostRef obj) {
    enum { MOST = 40 };
    HostInfo info;
    memset(&info, 0, sizeof info);
    bool str = t->host->info(t->host->self, obj, &info) && info.kind == HOST_STR && info.text;
    if (!str || strlen(info.text) > MOST || strchr(info.text, '\n')) return object_text(t, obj);
    return arena_printf(t->arena, "str '%s'", info.text);
}

const char *val_text(Types *t, Val v) {
    if (v.ty && v.ty->kind == TY_OBJECT) return quoted(t, v.ty->obj);
    if (!v.ty || v.ty->kind != TY_SCALAR || v.konst != KONST_INT) return ty_text(t, v.ty);
    if (v.ty->dtype == DT_BOOL) return v.i ? "True" : "False";
    return arena_printf(t->arena, "%s %s", ty_text(t, v.ty), wide_text(t->arena, v.i));
}
