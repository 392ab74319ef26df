/* ops_float.h - what the files of f32 and f64 operations share: flushing, saturation, canonical NaN. */
#ifndef EMU_OPS_FLOAT_H
#define EMU_OPS_FLOAT_H

#include "ops.h"
#include "rounding.h"

#include <math.h>

INLINE float flush(float x) { /* subnormal: zero of the same sign */
    uint32_t b = float_bits(x);
    return float_of(b & 0x7f800000 ? b : b & 0x80000000);
}
INLINE double flush_double(double x) {
    uint64_t b = double_bits(x);
    return double_of(b & UINT64_C(0x7ff0000000000000) ? b : b & UINT64_C(1) << 63);
}
INLINE float canonical(float x) { return x != x ? float_of(0x7fffffff) : x; }
INLINE float clamp01(float x) { /* NaN and -0 give +0 */
    float r = x > 0 ? x : 0.0f;
    return r < 1 ? r : 1.0f;
}
INLINE double clamp01_double(double x) {
    double r = x > 0 ? x : 0.0;
    return r < 1 ? r : 1.0;
}

/* An f32 operation with and without .ftz and .sat, in the order of float_variant(). */
#define FLOAT_UNARY(name, expression)                                                                                  \
    INLINE float name##_value(float x) { return expression; }                                                          \
    UNARY(name, float, float, canonical(name##_value(x)))                                                              \
    UNARY(name##_ftz, float, float, canonical(flush(name##_value(flush(x)))))
#define FLOAT_SLOW_UNARY(name, expression)                                                                             \
    INLINE float name##_value(float x) { return expression; }                                                          \
    SLOW_UNARY(name, float, float, canonical(name##_value(x)))                                                         \
    SLOW_UNARY(name##_ftz, float, float, canonical(flush(name##_value(flush(x)))))
#define FLOAT_BINARY(name, expression)                                                                                 \
    INLINE float name##_value(float x, float y) { return expression; }                                                 \
    BINARY(name, float, float, float, canonical(name##_value(x, y)))                                                   \
    BINARY(name##_ftz, float, float, float, canonical(flush(name##_value(flush(x), flush(y)))))
#define FLOAT_BINARY_SAT(name, expression)                                                                             \
    FLOAT_BINARY(name, expression)                                                                                     \
    BINARY(name##_sat, float, float, float, clamp01(name##_value(x, y)))                                               \
    BINARY(name##_ftz_sat, float, float, float, clamp01(flush(name##_value(flush(x), flush(y)))))
#define FLOAT_TERNARY_SAT(name, expression)                                                                            \
    INLINE float name##_value(float x, float y, float z) { return expression; }                                        \
    TERNARY(name, float, float, float, float, canonical(name##_value(x, y, z)))                                        \
    TERNARY(name##_ftz, float, float, float, float, canonical(flush(name##_value(flush(x), flush(y), flush(z)))))      \
    TERNARY(name##_sat, float, float, float, float, clamp01(name##_value(x, y, z)))                                    \
    TERNARY(name##_ftz_sat, float, float, float, float, clamp01(flush(name##_value(flush(x), flush(y), flush(z)))))
#define FTZ_PAIRS(name)                                                                                                \
    { PAIR(name), PAIR(name##_ftz) }
#define FTZ_SAT_PAIRS(name)                                                                                            \
    { PAIR(name), PAIR(name##_ftz), PAIR(name##_sat), PAIR(name##_ftz_sat) }

static inline int float_variant(const PtxForm *f) { return has(f, FLAG_FTZ) + 2 * has(f, FLAG_SAT); }

/* .rn .rz .rm .rp, or none. */
static inline bool is_direction(unsigned how) { return how <= ROUND_RP; }

/* in->sub of operations that aren't worth a function for each variant: the rounding and these. */
enum { SUB_FTZ = 16, SUB_SAT = 32, SUB_ROUND = 15 };
static inline uint8_t float_sub(const PtxForm *f) {
    unsigned how = rounding(f) ? rounding(f) : ROUND_RN;
    return (uint8_t)(how | (has(f, FLAG_FTZ) ? SUB_FTZ : 0) | (has(f, FLAG_SAT) ? SUB_SAT : 0));
}

#endif
