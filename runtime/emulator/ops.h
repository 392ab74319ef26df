/* ops.h - how the ops_*.c files are written: an operation on 32 lanes as an expression on one.
 *
 * Each operation is compiled twice, for any CPU and for one with AVX2 and FMA; the select function takes the one that
 * the machine can run. All lanes are computed, those outside of the mask are then left as they were: for the cheap
 * operations that is quicker than visiting the lanes one by one, and the C compiler turns both loops into vector code.
 * Registers are disjoint or the same, never shifted against each other, so that no iteration depends on another one. */
#ifndef EMU_OPS_H
#define EMU_OPS_H

#include "warp.h"

/* A debug build runs those for any CPU: the tests of the sanitized build are theirs. */
#if defined __x86_64__
#define WITH_AVX2 __attribute__((target("avx2,fma,bmi,bmi2")))
#else
#define WITH_AVX2
#endif
#if defined __x86_64__ && defined NDEBUG
#define HAVE_AVX2                                                                                                      \
    (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&               \
     __builtin_cpu_supports("bmi2"))
#else
#define HAVE_AVX2 0
#endif

#if defined __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#define INLINE static inline __attribute__((always_inline))

typedef struct LanePair {
    LaneFn any, avx2;
} LanePair;
#define PAIR(name)                                                                                                     \
    { name##_any, name##_avx2 }
#define NO_PAIR                                                                                                        \
    { NULL, NULL }

/* Defines the pair of LaneFn that have this body. */
#define LANE_FN(name, ...)                                                                                             \
    static void name##_any(Warp *w, const PtxInst *in, uint32_t mask){__VA_ARGS__} WITH_AVX2 static void name##_avx2(  \
        Warp *w, const PtxInst *in, uint32_t mask) {                                                                   \
        __VA_ARGS__                                                                                                    \
    }

/* d[i] = value for the lanes in mask; `value` has no side effect and no undefined result in any lane. */
#define SET_LANES(mask, D, d, i, value)                                                                                \
    do {                                                                                                               \
        if ((mask) == UINT32_MAX) {                                                                                    \
            INDEPENDENT                                                                                                \
            for (uint32_t i = 0; i < WARP; i++) d[i] = (D)(value);                                                     \
        } else {                                                                                                       \
            INDEPENDENT                                                                                                \
            for (uint32_t i = 0; i < WARP; i++) {                                                                      \
                D new_ = (D)(value);                                                                                   \
                d[i] = (mask) >> i & 1 ? new_ : d[i];                                                                  \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

/* Operations on operands 1, 2, 3, which the expression calls x, y, z, with the result in operand 0. */
#define UNARY(name, D, X, expression)                                                                                  \
    INLINE D name##_1(X x) { return (D)(expression); }                                                                 \
    LANE_FN(name, D *d = lanes(w, &in->o[0]); const X *a = lanes(w, &in->o[1]);                                        \
            SET_LANES(mask, D, d, i, name##_1(a[i]));)
#define BINARY(name, D, X, Y, expression)                                                                              \
    INLINE D name##_1(X x, Y y) { return (D)(expression); }                                                            \
    LANE_FN(name, D *d = lanes(w, &in->o[0]); const X *a = lanes(w, &in->o[1]); const Y *b = lanes(w, &in->o[2]);      \
            SET_LANES(mask, D, d, i, name##_1(a[i], b[i]));)
#define TERNARY(name, D, X, Y, Z, expression)                                                                          \
    INLINE D name##_1(X x, Y y, Z z) { return (D)(expression); }                                                       \
    LANE_FN(name, D *d = lanes(w, &in->o[0]); const X *a = lanes(w, &in->o[1]); const Y *b = lanes(w, &in->o[2]);      \
            const Z *c = lanes(w, &in->o[3]); SET_LANES(mask, D, d, i, name##_1(a[i], b[i], c[i]));)

/* The same for operations that take long: only the lanes of the mask are visited. */
#define SLOW_UNARY(name, D, X, expression)                                                                             \
    INLINE D name##_1(X x) { return (D)(expression); }                                                                 \
    LANE_FN(name, D *d = lanes(w, &in->o[0]); const X *a = lanes(w, &in->o[1]);                                        \
            EACH_LANE(mask, i, d[i] = name##_1(a[i]));)
#define SLOW_BINARY(name, D, X, Y, expression)                                                                         \
    INLINE D name##_1(X x, Y y) { return (D)(expression); }                                                            \
    LANE_FN(name, D *d = lanes(w, &in->o[0]); const X *a = lanes(w, &in->o[1]); const Y *b = lanes(w, &in->o[2]);      \
            EACH_LANE(mask, i, d[i] = name##_1(a[i], b[i]));)

/* Takes the one that this machine can run; false: there is none, the form doesn't exist. */
static inline bool use(PtxInst *in, LanePair pair) {
    in->fn = HAVE_AVX2 ? pair.avx2 : pair.any;
    return in->fn != NULL;
}

/* ---- what select functions ask ----------------------------------------------------------------- */

static inline bool has(const PtxForm *f, unsigned flag) { return f->flags >> flag & 1; }
static inline unsigned rounding(const PtxForm *f) { return f->field[MF_ROUND]; }
/* No other flags than these, and no other fields written than these. */
static inline bool only(const PtxForm *f, uint64_t flags, uint32_t fields) {
    if (f->flags & ~flags) return false;
    for (uint32_t k = 0; k < MF_COUNT; k++)
        if (f->field[k] && !(fields >> k & 1)) return false;
    return true;
}
#define BIT(flag) (UINT64_C(1) << FLAG_##flag)
#define FIELD(field) (1u << MF_##field)

/* Integer types in the order of the tables of integer operations; -1: another type. */
enum { I_U16, I_S16, I_U32, I_S32, I_U64, I_S64, I_COUNT };
static inline int int_index(unsigned type) {
    switch (type) {
    case PT_U16: return I_U16;
    case PT_S16: return I_S16;
    case PT_U32: return I_U32;
    case PT_S32: return I_S32;
    case PT_U64: return I_U64;
    case PT_S64: return I_S64;
    default: return -1;
    }
}

static inline bool is_int(unsigned type) { return int_index(type) >= 0; }
static inline bool is_packed_int(unsigned type) { return type == PT_U16X2 || type == PT_S16X2; }
static inline bool is_float(unsigned type) { return type == PT_F32 || type == PT_F64; }
static inline bool is_half(unsigned type) {
    return type == PT_F16 || type == PT_BF16 || type == PT_F16X2 || type == PT_BF16X2;
}

/* The parts of operations that are defined for integers, floats and halves alike. `op` is one of these. */
typedef enum Arith { OP_ADD, OP_SUB, OP_MUL, OP_FMA, OP_DIV, OP_REM, OP_MIN, OP_MAX, OP_ABS, OP_NEG } Arith;
bool int_arith(Arith op, const PtxForm *f, PtxInst *in); /* ops_int.c */
bool int_mad(const PtxForm *f, PtxInst *in);
bool packed_int_arith(Arith op, const PtxForm *f, PtxInst *in);
bool carry_arith(Arith op, const PtxForm *f, PtxInst *in); /* ops_carry.c */
bool carry_mad(const PtxForm *f, PtxInst *in, bool reads);
bool float_arith(Arith op, const PtxForm *f, PtxInst *in); /* ops_float.c: f32, f64, f32x2 */
bool float_div(const PtxForm *f, PtxInst *in);
bool float_sign(Arith op, const PtxForm *f, PtxInst *in);
bool float_minmax(Arith op, const PtxForm *f, PtxInst *in); /* ops_minmax.c: also of halves */
bool half_arith(Arith op, const PtxForm *f, PtxInst *in);   /* ops_half.c: f16, bf16 and pairs of them */
bool half_sign(Arith op, const PtxForm *f, PtxInst *in);
bool packed_cvt(const PtxForm *f, PtxInst *in); /* ops_pack.c: cvt of packed formats */

#endif
