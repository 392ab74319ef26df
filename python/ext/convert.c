/* convert.c - arguments of a kernel with an explicit signature: converted where that is safe, refused elsewhere.
 *
 * Safe is what NumPy calls a safe cast; a Python number goes to any type of its kind that it fits. In the Numba
 * dialect, where Python numbers have types, that holds for all scalars: existing programs pass 2.0 for float32. Arrays
 * must have the signature's dtype and dimensions; a contiguous one serves where any strides are allowed, a writeable
 * one where a read-only one is asked. */
#include "core.h"

static bool is_signed(DType d) { return dtype_info[d].kind == DK_INT; }

/* Bits of precision of a float type, or of a complex one's parts; the largest integer that all fit is 2 to that. */
static int precision(DType d) {
    switch (d) {
    case DT_F16: return 11;
    case DT_BF16: return 8;
    case DT_F32:
    case DT_C64: return 24;
    default: return 53;
    }
}

/* An integer's value: as written, the upper bytes are zero. */
static int64_t signed_bits(const Leaf *l) {
    int unused = is_signed((DType)l->dtype) ? 64 - (int)dtype_bytes((DType)l->dtype) * 8 : 0;
    return (int64_t)(l->bits[0] << unused) >> unused;
}

static bool is_safe(DType from, DType to) {
    if (from == to || from == DT_BOOL) return true;
    unsigned have = dtype_bytes(from), room = dtype_bytes(to);
    if (dt_is_int(from) && dt_is_int(to))
        return is_signed(from) == is_signed(to) ? have <= room : !is_signed(from) && have < room;
    if (dt_is_int(from))
        return !dt_is_int(to) && to != DT_BOOL && (precision(to) == 53 || (int)have * 8 <= precision(to));
    if (dt_is_float(from) && dt_is_float(to)) return have < room;
    if (dt_is_float(from)) return dt_is_complex(to) && precision(from) <= precision(to);
    return dt_is_complex(from) && to == DT_C128;
}

/* A scalar's kind, as the dtype that a Python number of that kind has. */
static DType kind_of(DType d) {
    return dt_is_int(d) ? DT_I64 : dt_is_float(d) ? DT_F64 : dt_is_complex(d) ? DT_C128 : d;
}

/* Numba's programs pass 0xFFFFFFFF for an int32 and -1 for a uint32: an integer goes by its bits if they are no more.
 */
static bool fits_in_bits(const Leaf *l, int64_t v, DType to) {
    unsigned bits = dtype_bytes(to) * 8;
    if (bits == 64) return true;
    if (v < 0 && l->dtype == DT_U64) return false;
    return v >= -((int64_t)1 << (bits - 1)) && v < (int64_t)1 << bits;
}

/* A number of kind `from` as a typed scalar: int to int needs the value. */
static bool weak_is_safe(DType from, const Leaf *l, DType to) {
    int64_t v = signed_bits(l);
    switch (from) {
    case DT_BOOL: return true;
    case DT_I64:
        if (!dt_is_int(to)) return to != DT_BOOL;
        if (v < 0 && l->dtype == DT_U64) return to == DT_U64;
        if (is_signed(to)) {
            int bits = (int)dtype_bytes(to) * 8 - 1;
            return bits == 63 || (v >= -((int64_t)1 << bits) && v < (int64_t)1 << bits);
        }
        return v >= 0 && (to == DT_U64 || v < (int64_t)1 << (dtype_bytes(to) * 8));
    case DT_F64: return dt_is_float(to) || dt_is_complex(to);
    default: return dt_is_complex(to);
    }
}

/* ---- the value --------------------------------------------------------------------------------- */

static double real_part(const Leaf *l, DType d) {
    if (!dt_is_int(d) && d != DT_BOOL) {
        Type t = dtype_info[d].ir;
        return ir_bits_to_double(t, ir_wrap(t == T_F64 ? T_U64 : t == T_F32 ? T_U32 : T_U16, l->bits[0]));
    }
    return is_signed(d) ? (double)(int64_t)l->bits[0] : (double)l->bits[0];
}

static double imaginary_part(const Leaf *l, DType d) {
    if (d == DT_C128) return ir_bits_to_double(T_F64, l->bits[1]);
    return d == DT_C64 ? ir_bits_to_double(T_F32, l->bits[0] >> 32) : 0;
}

static void convert_value(Leaf *l, DType to) {
    DType from = (DType)l->dtype;
    if (is_signed(from)) l->bits[0] = (uint64_t)signed_bits(l);
    l->dtype = (uint8_t)to;
    if (from == to || ((dt_is_int(from) || from == DT_BOOL) && dt_is_int(to))) {
        if (dtype_bytes(to) < 8) l->bits[0] &= ((uint64_t)1 << dtype_bytes(to) * 8) - 1;
        return;
    }
    if (to == DT_BOOL) {
        l->bits[0] = l->bits[0] != 0;
        return;
    }
    double re = real_part(l, from), im = imaginary_part(l, from);
    Type t = dtype_info[to].ir;
    l->bits[0] = ir_double_to_bits(t, re);
    l->bits[1] = 0;
    if (to == DT_C128) l->bits[1] = ir_double_to_bits(T_F64, im);
    if (to == DT_C64) l->bits[0] |= ir_double_to_bits(T_F32, im) << 32;
}

static DType weak_dtype(ArgKind kind) {
    switch (kind) {
    case ARG_WEAK_BOOL: return DT_BOOL;
    case ARG_WEAK_INT: return DT_I64;
    case ARG_WEAK_FLOAT: return DT_F64;
    case ARG_WEAK_COMPLEX: return DT_C128;
    default: return DT_NONE;
    }
}

/* ---- types side by side ------------------------------------------------------------------------ */

typedef struct Fit {
    Leaf *leaf;    /* the next one */
    bool apply;    /* convert, rather than only look */
    bool numba;    /* scalars convert as Python numbers do */
    uint32_t cost; /* so far: of conversions that keep every value, and of others */
} Fit;

enum { COST_SAFE = 1, COST_OTHER = 1 << 12 };

static bool match_scalar(Fit *m, const ArgType *from, const ArgType *to) {
    Leaf *l = m->leaf++;
    DType weak = m->numba ? kind_of((DType)l->dtype) : weak_dtype((ArgKind)from->kind),
          target = weak_dtype((ArgKind)to->kind);
    bool ok;
    if (target != DT_NONE) ok = weak != DT_NONE ? weak_is_safe(weak, l, target) : is_safe((DType)from->dtype, target);
    else ok = weak != DT_NONE ? weak_is_safe(weak, l, (DType)to->dtype) : is_safe((DType)from->dtype, (DType)to->dtype);
    DType wanted = target != DT_NONE ? target : (DType)to->dtype;
    if (!ok && m->numba && dt_is_int((DType)l->dtype) && dt_is_int(wanted))
        ok = fits_in_bits(l, signed_bits(l), wanted);
    if (m->numba && wanted == DT_BOOL) ok |= dt_is_int((DType)l->dtype); /* a flag of 0 or 1 */
    if (l->dtype != wanted) m->cost += is_safe((DType)l->dtype, wanted) ? COST_SAFE : COST_OTHER;
    if (ok && m->apply) convert_value(l, wanted);
    return ok;
}

/* Are records aligned as the code takes it? Scalars that aren't get code of their own: lay_askew(). */
static bool lies_as(const ArgType *from, const ArgType *to) { return !from->record || from->align >= to->align; }

static bool is_scalar(const ArgType *t) { return t->kind == ARG_SCALAR || weak_dtype((ArgKind)t->kind) != DT_NONE; }

/* A whole number that is no negative one is an address. */
static bool match_pointer(Fit *m, const ArgType *from) {
    Leaf *l = m->leaf++;
    bool address = is_scalar(from) && dt_is_int((DType)l->dtype) && (l->dtype == DT_U64 || signed_bits(l) >= 0);
    if (address && m->apply) convert_value(l, DT_U64);
    return address;
}

/* Numba takes integers of one size for each other: a kernel for int32 reads the bits of a uint32. */
static bool match_elements(Fit *m, const ArgType *from, const ArgType *to) {
    DType a = (DType)from->dtype, b = (DType)to->dtype;
    if (a == b) return from->record == to->record;
    m->cost += COST_OTHER;
    return m->numba && dt_is_int(a) && dt_is_int(b) && dtype_bytes(a) == dtype_bytes(b);
}

static bool match(Fit *m, const ArgType *from, const ArgType *to) {
    if (to->kind == ARG_POINTER && is_scalar(from)) return match_pointer(m, from);
    if (is_scalar(from) && is_scalar(to)) return match_scalar(m, from, to);
    if (from->kind != to->kind) return false;
    switch ((ArgKind)from->kind) {
    case ARG_ARRAY:
        m->leaf++;
        if (from->layout != to->layout) m->cost += COST_SAFE;
        return match_elements(m, from, to) && lies_as(from, to) && from->ndim == to->ndim &&
               (from->layout == to->layout || to->layout == LAYOUT_A) && (to->readonly || !from->readonly);
    case ARG_RECORD:
        m->leaf++;
        return from->record == to->record && lies_as(from, to) && (to->readonly || !from->readonly);
    case ARG_TUPLE:
        if (from->nitems != to->nitems) return false;
        for (uint32_t i = 0; i < from->nitems; i++)
            if (!match(m, &from->items[i], &to->items[i])) return false;
        return true;
    default: return argtype_same(from, to);
    }
}

/* ---- choosing ---------------------------------------------------------------------------------- */

static int refuse(const Bound *b, Arena *a, const ArgType *from, const ArgType *to, uint32_t n, uint32_t nto) {
    if (n != nto) {
        PyErr_Format(PyExc_TypeError, "the signature of %U() has %u types, and the function %u parameters",
                     b->kernel->name, nto, n);
        return -1;
    }
    if (PyTuple_GET_SIZE(b->kernel->signatures) > 1) {
        PyObject *given = types_from_key(b->key, b->key_size);
        if (given)
            PyErr_Format(PyExc_TypeError, "No matching definition of %U() for arguments of types %R among %R",
                         b->kernel->name, given, b->kernel->signatures);
        Py_XDECREF(given);
        return -1;
    }
    Fit m = {b->leaves, false, b->kernel->dialect == DIALECT_NUMBA, 0};
    for (uint32_t i = 0; i < n; i++) {
        if (match(&m, &from[i], &to[i])) continue;
        const char *given = argtype_text(a, &from[i]), *wanted = argtype_text(a, &to[i]);
        PyErr_Format(PyExc_TypeError,
                     "%U(): parameter '%U' is %s by the signature, and %s doesn't convert to it safely",
                     b->kernel->name, PyTuple_GET_ITEM(b->kernel->params, i), wanted, given);
        return -1;
    }
    PyErr_Format(PyExc_TypeError, "%U(): the arguments don't fit the signature", b->kernel->name);
    return -1;
}

/* Whether the arguments fit a signature; `cost`: how well. */
static bool fits(const Bound *b, const ArgType *from, uint32_t n, const ArgType *to, uint32_t nto, bool apply,
                 uint32_t *cost) {
    Fit m = {b->leaves, apply, b->kernel->dialect == DIALECT_NUMBA, 0};
    if (n != nto) return false;
    for (uint32_t i = 0; i < n; i++)
        if (!match(&m, &from[i], &to[i])) return false;
    *cost = m.cost;
    return true;
}

/* Arrays whose elements lie anywhere, in the signature's key. */
static void lay_askew(KeyReader *r, uint8_t *key, Arena *a, const ArgType *from, const ArgType *to, uint32_t n) {
    const uint8_t *start = key;
    for (uint32_t i = 0; i < n; i++) {
        ArgType skipped;
        size_t at = (size_t)(r->at - start);
        if (to[i].kind == ARG_TUPLE && from[i].kind == ARG_TUPLE) {
            r->at += KEY_TUPLE_BYTES;
            lay_askew(r, key, a, from[i].items, to[i].items, to[i].nitems);
            continue;
        }
        key_read(r, a, &skipped);
        if (to[i].kind == ARG_ARRAY && !to[i].record && from[i].align) key[at + 1] |= KEY_ASKEW;
    }
}

static int take_key(Bound *b, const uint8_t *key, uint32_t size) {
    if (size > b->cap_key) {
        uint8_t *larger = PyMem_Malloc(size);
        if (!larger) return PyErr_NoMemory(), -1;
        if (b->key != b->few_key) PyMem_Free(b->key);
        b->key = larger;
        b->cap_key = size;
    }
    memcpy(b->key, key, size);
    b->key_size = size;
    return 0;
}

/* As Numba: two that fit equally well, and not exactly, are an error. */
static int ambiguous(const Bound *b, const ArgType *given, uint32_t n, PyObject *one, PyObject *other) {
    PyObject *types = types_from_argtypes(given, n), *module = types ? PyImport_ImportModule("gpu.cuda._typing") : NULL;
    PyObject *text =
        module ? PyObject_CallMethod(module, "ambiguity", "OO(OO)", b->kernel->function, types, one, other) : NULL;
    if (text) PyErr_SetObject(PyExc_TypeError, text);
    Py_XDECREF(text);
    Py_XDECREF(module);
    Py_XDECREF(types);
    return -1;
}

typedef struct Choice {
    Py_ssize_t best, equal; /* signatures, -1: none */
    uint32_t cost;
} Choice;

static void consider(Choice *c, Py_ssize_t signature, uint32_t cost) {
    if (c->best >= 0 && cost > c->cost) return;
    c->equal = c->best >= 0 && cost == c->cost ? c->equal >= 0 ? c->equal : signature : -1;
    if (c->equal < 0) c->best = signature, c->cost = cost;
}

/* The types of one signature, and their key, which the caller frees. */
static ArgType *read_signature(Arena *a, Bound *b, Py_ssize_t i, uint8_t *volatile *key, uint32_t *size, uint32_t *n) {
    PyMem_Free(*key);
    *key = key_from_types(b->kernel, PyTuple_GET_ITEM(b->kernel->signatures, i), size);
    return *key ? key_types(a, *key, *size, n) : NULL;
}

static int convert_with(Arena *a, Bound *b, uint8_t *volatile *key) {
    PyObject *signatures = b->kernel->signatures;
    Choice c = {-1, -1, 0};
    uint32_t n, nto = 0, size = 0, cost;
    ArgType *from = key_types(a, b->key, b->key_size, &n), *to = NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(signatures); i++) {
        if (!(to = read_signature(a, b, i, key, &size, &nto))) return -1;
        if (fits(b, from, n, to, nto, false, &cost)) consider(&c, i, cost);
    }
    if (c.best < 0) return refuse(b, a, from, to, n, nto);
    if (c.equal >= 0 && c.cost && b->kernel->dialect == DIALECT_NUMBA)
        return ambiguous(b, from, n, PyTuple_GET_ITEM(signatures, c.best), PyTuple_GET_ITEM(signatures, c.equal));
    if (c.best != PyTuple_GET_SIZE(signatures) - 1 && !(to = read_signature(a, b, c.best, key, &size, &nto))) return -1;
    fits(b, from, n, to, nto, true, &cost);
    KeyReader reader = {*key, *key + size};
    lay_askew(&reader, *key, a, from, to, n);
    return take_key(b, *key, size);
}

int convert_to_signature(Bound *b) {
    Arena arena;
    jmp_buf on_oom;
    arena_init(&arena, &on_oom);
    uint8_t *volatile key = NULL;
    volatile int status = -1;
    if (setjmp(on_oom) == 0) status = convert_with(&arena, b, &key);
    else PyErr_NoMemory();
    PyMem_Free(key);
    arena_free(&arena);
    return status;
}
