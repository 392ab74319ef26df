/* promote.c - reads the tables of promote.def. */
#include "promote.h"

enum { DT_NO = 0xfe, DT_SAME = 0xfd }; /* entries that are no types */

typedef enum Rules { RULES_PYTHON, RULES_NUMPY, RULES_NUMBA, RULES__COUNT } Rules;
typedef enum Class { CLASS_BOOL, CLASS_INT, CLASS_HALF, CLASS_FLOAT, CLASS_COMPLEX, CLASS__COUNT } Class;
enum { WEAK_BOOL, WEAK_INT, WEAK_FLOAT, WEAK_COMPLEX, WEAK__COUNT };

#define ROW(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)                                                               \
    {                                                                                                                  \
        DT_##a, DT_##b, DT_##c, DT_##d, DT_##e, DT_##f, DT_##g, DT_##h, DT_##i, DT_##j, DT_##k, DT_##l, DT_##m,        \
            DT_##n, DT_##o                                                                                             \
    }
#define COMMON(dialect, left, ...)
#define WEAK(type, ...)
#define WEAK_JOIN(type, ...)
#define BINARY(rules, op, ...)
#define UNARY(rules, op, ...)

static const uint8_t common[2][DT__COUNT][DT__COUNT] = {
#undef COMMON
#define COMMON(dialect, left, ...) [DIALECT_##dialect][DT_##left] = ROW(__VA_ARGS__),
#include "promote.def"
#undef COMMON
#define COMMON(dialect, left, ...)
};

static const uint8_t weak_meets[WEAK__COUNT][DT__COUNT] = {
#undef WEAK
#define WEAK(type, ...) [WEAK_##type] = ROW(__VA_ARGS__),
#include "promote.def"
#undef WEAK
#define WEAK(type, ...)
};

static const uint8_t weak_joins[WEAK__COUNT][DT__COUNT] = {
#undef WEAK_JOIN
#define WEAK_JOIN(type, ...) [WEAK_##type] = ROW(__VA_ARGS__),
#include "promote.def"
#undef WEAK_JOIN
#define WEAK_JOIN(type, ...)
};

static const uint8_t binary[RULES__COUNT][PYB__COUNT][CLASS__COUNT] = {
#undef BINARY
#define BINARY(rules, op, b, i, h, f, c) [RULES_##rules][PYB_##op] = {DT_##b, DT_##i, DT_##h, DT_##f, DT_##c},
#include "promote.def"
#undef BINARY
#define BINARY(rules, op, ...)
};

static const uint8_t unary[RULES__COUNT][3][CLASS__COUNT] = {
#undef UNARY
#define UNARY(rules, op, b, i, h, f, c) [RULES_##rules][PYU_##op] = {DT_##b, DT_##i, DT_##h, DT_##f, DT_##c},
#include "promote.def"
};

static Class class_of(DType d) {
    switch (dtype_info[d].kind) {
    case DK_BOOL: return CLASS_BOOL;
    case DK_FLOAT: return dtype_info[d].bits == 16 ? CLASS_HALF : CLASS_FLOAT;
    case DK_COMPLEX: return CLASS_COMPLEX;
    default: return CLASS_INT;
    }
}

static unsigned weak_kind(Scalar s) {
    return s.dtype == DT_BOOL  ? WEAK_BOOL
           : s.dtype == DT_I64 ? WEAK_INT
           : s.dtype == DT_F64 ? WEAK_FLOAT
                               : WEAK_COMPLEX;
}

static Rules rules_of(Dialect dialect, bool weak) {
    return dialect == DIALECT_NUMBA ? RULES_NUMBA : weak ? RULES_PYTHON : RULES_NUMPY;
}

/* Python numbers widen in the order of their kinds: bool, int, float, complex. */
static Scalar wider_weak(Scalar a, Scalar b) { return weak_kind(a) >= weak_kind(b) ? a : b; }

static bool typed(uint8_t d, Scalar *out) {
    *out = SCALAR(d, false);
    return d != DT_NO;
}

bool promote_common(Dialect dialect, Scalar a, Scalar b, Scalar *out) {
    if (dialect == DIALECT_NUMBA || (!a.weak && !b.weak)) return typed(common[dialect][a.dtype][b.dtype], out);
    if (a.weak && b.weak) {
        *out = wider_weak(a, b);
        return true;
    }
    return typed(a.weak ? weak_meets[weak_kind(a)][b.dtype] : weak_meets[weak_kind(b)][a.dtype], out);
}

/* Where Numba looks at the left operand only: shifts, and a float to an integer power. */
static uint8_t numba_common(PyBinary op, Scalar a, Scalar b) {
    DKind left = dtype_info[a.dtype].kind;
    if (op == PYB_LSHIFT || op == PYB_RSHIFT) {
        if (class_of((DType)b.dtype) > CLASS_INT || class_of((DType)a.dtype) > CLASS_INT) return DT_F64;
        return left == DK_UINT ? DT_U64 : DT_I64;
    }
    if (op == PYB_POW && left == DK_FLOAT && class_of((DType)b.dtype) <= CLASS_INT) return a.dtype;
    return common[DIALECT_NUMBA][a.dtype][b.dtype];
}

bool promote_binary(Dialect dialect, PyBinary op, Scalar a, Scalar b, Scalar *left, Scalar *right, Scalar *result) {
    Scalar s;
    promote_common(dialect, a, b, &s);
    if (dialect == DIALECT_NUMBA) s.dtype = numba_common(op, a, b);
    uint8_t d = binary[rules_of(dialect, s.weak)][op][class_of((DType)s.dtype)];
    if (d == DT_NO) return false;
    if (d != DT_SAME) s.dtype = d;
    *left = *right = *result = s;
    return true;
}

bool promote_unary(Dialect dialect, PyUnary op, Scalar a, Scalar *operand, Scalar *result) {
    Scalar s = a;
    if (dialect == DIALECT_NUMBA) s = SCALAR(common[dialect][a.dtype][a.dtype], false);
    uint8_t d = unary[rules_of(dialect, s.weak)][op][class_of((DType)s.dtype)];
    if (d == DT_NO) return false;
    if (d != DT_SAME) s.dtype = d;
    *operand = *result = s;
    /* Numba's: what is done to an integer is done at its width, then it gets wide: -uint8(1) is 255 */
    if (dialect == DIALECT_NUMBA && class_of((DType)a.dtype) == CLASS_INT) *operand = SCALAR(a.dtype, false);
    return true;
}

/* Integers compare as integers, whatever arithmetic would make of them: a Python integer is never cut to a
 * narrow operand's type, and no type holds both uint64 and negative numbers. */
bool promote_compare(Dialect dialect, Scalar a, Scalar b, Scalar *operand, bool *exact) {
    bool ints = class_of((DType)a.dtype) <= CLASS_INT && class_of((DType)b.dtype) <= CLASS_INT;
    if (!ints) {
        *exact = false;
        return promote_common(dialect, a, b, operand);
    }
    *operand = SCALAR(common[DIALECT_NUMPY][a.dtype][b.dtype], a.weak && b.weak);
    *exact = operand->dtype == DT_F64;
    return true;
}

bool promote_join(Dialect dialect, Scalar a, Scalar b, Scalar *out) {
    bool ints = class_of((DType)a.dtype) <= CLASS_INT && class_of((DType)b.dtype) <= CLASS_INT;
    if (dialect == DIALECT_NUMBA) {
        typed(common[DIALECT_NUMPY][a.dtype][b.dtype], out);
        if (ints && out->dtype == DT_F64) out->dtype = DT_I64; /* uint64 with a signed one: no detour through floats */
        return true;
    }
    if (a.weak && b.weak) return promote_common(dialect, a, b, out);
    if (a.weak != b.weak)
        return typed(a.weak ? weak_joins[weak_kind(a)][b.dtype] : weak_joins[weak_kind(b)][a.dtype], out);
    return typed(common[DIALECT_NUMPY][a.dtype][b.dtype], out) && !(ints && out->dtype == DT_F64);
}
