/* ops_int.c - arithmetic of integers: add sub mul mad div rem min max abs neg sad mul24 mad24 dp2a dp4a, also of packed
 * 16-bit ones. Everything wraps unless .sat says otherwise; a division by zero gives all ones, as on a GPU. */
#include "ops.h"

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

/* Runs X for each integer type: its suffix, the type, the unsigned one to calculate in, the one of twice the width. */
#define EACH_NARROW(X)                                                                                                 \
    X(u16, uint16_t, uint32_t, uint32_t)                                                                               \
    X(s16, int16_t, uint32_t, int32_t)                                                                                 \
    X(u32, uint32_t, uint32_t, uint64_t)                                                                               \
    X(s32, int32_t, uint32_t, int64_t)
#define EACH_INT(X) EACH_NARROW(X) X(u64, uint64_t, uint64_t, UInt128) X(s64, int64_t, uint64_t, Int128)
#define TABLE(op)                                                                                                      \
    { PAIR(op##_u16), PAIR(op##_s16), PAIR(op##_u32), PAIR(op##_s32), PAIR(op##_u64), PAIR(op##_s64) }
#define SIGNED_TABLE(op)                                                                                               \
    { NO_PAIR, PAIR(op##_s16), NO_PAIR, PAIR(op##_s32), NO_PAIR, PAIR(op##_s64) }

/* ---- one type for all operands ----------------------------------------------------------------- */

#define DEFINE(t, T, U, W)                                                                                             \
    BINARY(add_##t, T, T, T, (U)x + (U)y)                                                                              \
    BINARY(sub_##t, T, T, T, (U)x - (U)y)                                                                              \
    BINARY(mul_##t, T, T, T, (U)x *(U)y)                                                                               \
    BINARY(hi_##t, T, T, T, (W)x *(W)y >> 8 * sizeof(T))                                                               \
    TERNARY(mad_##t, T, T, T, T, (U)x *(U)y + (U)z)                                                                    \
    TERNARY(mad_hi_##t, T, T, T, T, (U)((W)x * (W)y >> 8 * sizeof(T)) + (U)z)                                          \
    BINARY(min_##t, T, T, T, y < x ? y : x)                                                                            \
    BINARY(max_##t, T, T, T, y > x ? y : x)                                                                            \
    TERNARY(sad_##t, T, T, T, T, (U)z + (x < y ? (U)y - (U)x : (U)x - (U)y))
EACH_INT(DEFINE)
#undef DEFINE

#define DEFINE(t, T, U, W)                                                                                             \
    BINARY(wide_##t, W, T, T, (W)x *(W)y)                                                                              \
    TERNARY(mad_wide_##t, W, T, T, W, (uint64_t)((W)x * (W)y) + (uint64_t)z)
EACH_NARROW(DEFINE)
#undef DEFINE

#define DEFINE(t, T)                                                                                                   \
    SLOW_BINARY(div_##t, T, T, T, y ? x / y : (T)-1)                                                                   \
    SLOW_BINARY(rem_##t, T, T, T, y ? x % y : (T)-1)
DEFINE(u16, uint16_t)
DEFINE(u32, uint32_t)
DEFINE(u64, uint64_t)
#undef DEFINE
/* -1 apart: the smallest number divided by it overflows. */
#define DEFINE(t, T, U)                                                                                                \
    SLOW_BINARY(div_##t, T, T, T, y == 0 ? -1 : y == -1 ? (T)(0 - (U)x) : x / y)                                       \
    SLOW_BINARY(rem_##t, T, T, T, y == 0 ? -1 : y == -1 ? 0 : x % y)                                                   \
    UNARY(abs_##t, T, T, x < 0 ? (T)(0 - (U)x) : x)                                                                    \
    UNARY(neg_##t, T, T, 0 - (U)x)
DEFINE(s16, int16_t, uint32_t)
DEFINE(s32, int32_t, uint32_t)
DEFINE(s64, int64_t, uint64_t)
#undef DEFINE

INLINE int32_t clamp_s32(int64_t x) { return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : (int32_t)x; }
BINARY(add_sat, int32_t, int32_t, int32_t, clamp_s32((int64_t)x + y))
BINARY(sub_sat, int32_t, int32_t, int32_t, clamp_s32((int64_t)x - y))
TERNARY(mad_hi_sat, int32_t, int32_t, int32_t, int32_t, clamp_s32(((int64_t)x * y >> 32) + z))
BINARY(min_relu, int32_t, int32_t, int32_t, (y < x ? y : x) < 0 ? 0 : (y < x ? y : x))
BINARY(max_relu, int32_t, int32_t, int32_t, (y > x ? y : x) < 0 ? 0 : (y > x ? y : x))

static bool saturating(Arith op, const PtxForm *f, PtxInst *in) {
    if (f->types[0] != PT_S32 || !only(f, BIT(SAT), 0)) return false;
    return op == OP_ADD ? use(in, (LanePair)PAIR(add_sat)) : op == OP_SUB && use(in, (LanePair)PAIR(sub_sat));
}

static bool minmax_relu(Arith op, const PtxForm *f, PtxInst *in) {
    if (f->types[0] != PT_S32 || !only(f, BIT(RELU), 0)) return false;
    return op == OP_MIN ? use(in, (LanePair)PAIR(min_relu)) : op == OP_MAX && use(in, (LanePair)PAIR(max_relu));
}

static bool multiply(const PtxForm *f, PtxInst *in, int type) {
    static const LanePair parts[][I_COUNT] = {
        [PART_LO] = TABLE(mul),
        [PART_HI] = TABLE(hi),
        [PART_WIDE] = {PAIR(wide_u16), PAIR(wide_s16), PAIR(wide_u32), PAIR(wide_s32), NO_PAIR, NO_PAIR},
    };
    unsigned part = f->field[MF_PART];
    return part && only(f, 0, FIELD(PART)) && use(in, parts[part][type]);
}

bool int_arith(Arith op, const PtxForm *f, PtxInst *in) {
    static const LanePair table[][I_COUNT] = {
        [OP_ADD] = TABLE(add), [OP_SUB] = TABLE(sub), [OP_DIV] = TABLE(div),        [OP_REM] = TABLE(rem),
        [OP_MIN] = TABLE(min), [OP_MAX] = TABLE(max), [OP_ABS] = SIGNED_TABLE(abs), [OP_NEG] = SIGNED_TABLE(neg),
    };
    int type = int_index(f->types[0]);
    if (type < 0 || f->ntypes != 1) return false;
    if (op == OP_MUL) return multiply(f, in, type);
    if (has(f, FLAG_SAT)) return saturating(op, f, in);
    if (has(f, FLAG_RELU)) return minmax_relu(op, f, in);
    return only(f, 0, 0) && op != OP_FMA && use(in, table[op][type]);
}

bool int_mad(const PtxForm *f, PtxInst *in) {
    static const LanePair parts[][I_COUNT] = {
        [PART_LO] = TABLE(mad),
        [PART_HI] = TABLE(mad_hi),
        [PART_WIDE] = {PAIR(mad_wide_u16), PAIR(mad_wide_s16), PAIR(mad_wide_u32), PAIR(mad_wide_s32), NO_PAIR,
                       NO_PAIR},
    };
    int type = int_index(f->types[0]);
    unsigned part = f->field[MF_PART];
    if (type < 0 || f->ntypes != 1 || !part || !only(f, BIT(SAT), FIELD(PART))) return false;
    if (has(f, FLAG_SAT)) return type == I_S32 && part == PART_HI && use(in, (LanePair)PAIR(mad_hi_sat));
    return use(in, parts[part][type]);
}

bool select_sad(const PtxForm *f, PtxInst *in) {
    static const LanePair table[I_COUNT] = TABLE(sad);
    int type = int_index(f->types[0]);
    return type >= 0 && f->ntypes == 1 && only(f, 0, 0) && use(in, table[type]);
}

/* ---- two 16-bit numbers in a register ---------------------------------------------------------- */

INLINE uint32_t pack16(uint32_t low, uint32_t high) { return (low & 0xffff) | high << 16; }
INLINE int32_t min_s32(int32_t a, int32_t b) { return a < b ? a : b; }
INLINE int32_t max_s32(int32_t a, int32_t b) { return a > b ? a : b; }
#define LOW_S(x) ((int32_t)(int16_t)(x))
#define HIGH_S(x) ((int32_t)(x) >> 16)
#define BOTH_S(op, x, y) pack16((uint32_t)op(LOW_S(x), LOW_S(y)), (uint32_t)op(HIGH_S(x), HIGH_S(y)))
#define LOW_U(x) ((int32_t)((x)&0xffff))
#define HIGH_U(x) ((int32_t)((x) >> 16))
#define BOTH_U(op, x, y) pack16((uint32_t)op(LOW_U(x), LOW_U(y)), (uint32_t)op(HIGH_U(x), HIGH_U(y)))
#define POSITIVE_MIN(a, b) max_s32(min_s32(a, b), 0)
#define POSITIVE_MAX(a, b) max_s32(max_s32(a, b), 0)

BINARY(add_x2, uint32_t, uint32_t, uint32_t, pack16(x + y, (x >> 16) + (y >> 16)))
BINARY(min_u16x2, uint32_t, uint32_t, uint32_t, BOTH_U(min_s32, x, y))
BINARY(max_u16x2, uint32_t, uint32_t, uint32_t, BOTH_U(max_s32, x, y))
BINARY(min_s16x2, uint32_t, uint32_t, uint32_t, BOTH_S(min_s32, x, y))
BINARY(max_s16x2, uint32_t, uint32_t, uint32_t, BOTH_S(max_s32, x, y))
BINARY(min_relu_s16x2, uint32_t, uint32_t, uint32_t, BOTH_S(POSITIVE_MIN, x, y))
BINARY(max_relu_s16x2, uint32_t, uint32_t, uint32_t, BOTH_S(POSITIVE_MAX, x, y))

bool packed_int_arith(Arith op, const PtxForm *f, PtxInst *in) {
    bool is_signed = f->types[0] == PT_S16X2, relu = has(f, FLAG_RELU);
    if (f->ntypes != 1 || !is_packed_int(f->types[0]) || !only(f, BIT(RELU), 0)) return false;
    if (relu && (!is_signed || (op != OP_MIN && op != OP_MAX))) return false;
    switch (op) {
    case OP_ADD: return use(in, (LanePair)PAIR(add_x2));
    case OP_MIN:
        if (relu) return use(in, (LanePair)PAIR(min_relu_s16x2));
        return use(in, is_signed ? (LanePair)PAIR(min_s16x2) : (LanePair)PAIR(min_u16x2));
    case OP_MAX:
        if (relu) return use(in, (LanePair)PAIR(max_relu_s16x2));
        return use(in, is_signed ? (LanePair)PAIR(max_s16x2) : (LanePair)PAIR(max_u16x2));
    default: return false;
    }
}

/* ---- 24 bits ------------------------------------------------------------------------------------ */

INLINE int64_t product24_u32(uint32_t x, uint32_t y) { return (int64_t)(x & 0xffffff) * (int64_t)(y & 0xffffff); }
INLINE int64_t product24_s32(uint32_t x, uint32_t y) {
    return (int64_t)((int32_t)(x << 8) >> 8) * (int64_t)((int32_t)(y << 8) >> 8);
}

#define DEFINE(t)                                                                                                      \
    BINARY(mul24_lo_##t, uint32_t, uint32_t, uint32_t, product24_##t(x, y))                                            \
    BINARY(mul24_hi_##t, uint32_t, uint32_t, uint32_t, product24_##t(x, y) >> 16)                                      \
    TERNARY(mad24_lo_##t, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)product24_##t(x, y) + z)                   \
    TERNARY(mad24_hi_##t, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)(product24_##t(x, y) >> 16) + z)
DEFINE(u32)
DEFINE(s32)
#undef DEFINE
TERNARY(mad24_hi_sat, uint32_t, uint32_t, uint32_t, uint32_t, clamp_s32((product24_s32(x, y) >> 16) + (int32_t)z))

static bool is_24(const PtxForm *f) {
    return f->ntypes == 1 && (f->types[0] == PT_U32 || f->types[0] == PT_S32) &&
           (f->field[MF_PART] == PART_LO || f->field[MF_PART] == PART_HI) && only(f, BIT(SAT), FIELD(PART));
}

bool select_mul24(const PtxForm *f, PtxInst *in) {
    static const LanePair table[2][2] = {{PAIR(mul24_lo_u32), PAIR(mul24_lo_s32)},
                                         {PAIR(mul24_hi_u32), PAIR(mul24_hi_s32)}};
    return is_24(f) && !has(f, FLAG_SAT) && use(in, table[f->field[MF_PART] == PART_HI][f->types[0] == PT_S32]);
}

bool select_mad24(const PtxForm *f, PtxInst *in) {
    static const LanePair table[2][2] = {{PAIR(mad24_lo_u32), PAIR(mad24_lo_s32)},
                                         {PAIR(mad24_hi_u32), PAIR(mad24_hi_s32)}};
    bool is_signed = f->types[0] == PT_S32, hi = f->field[MF_PART] == PART_HI;
    if (!is_24(f)) return false;
    if (has(f, FLAG_SAT)) return is_signed && hi && use(in, (LanePair)PAIR(mad24_hi_sat));
    return use(in, table[hi][is_signed]);
}

/* ---- dot products of bytes --------------------------------------------------------------------- */

/* Element k of x, `bits` wide. */
#define FIELD_U(x, bits, k) ((int32_t)((x) >> (bits) * (k) & ((1u << (bits)) - 1)))
#define FIELD_S(x, bits, k) ((int32_t)((x) << (32 - (bits) * ((k) + 1))) >> (32 - (bits)))
#define DOT4(A, B, x, y)                                                                                               \
    (A(x, 8, 0) * B(y, 8, 0) + A(x, 8, 1) * B(y, 8, 1) + A(x, 8, 2) * B(y, 8, 2) + A(x, 8, 3) * B(y, 8, 3))
#define DOT2(A, B, x, y, k) (A(x, 16, 0) * B(y, 8, k) + A(x, 16, 1) * B(y, 8, k + 1))

#define DEFINE(t, A, B)                                                                                                \
    TERNARY(dp4a_##t, uint32_t, uint32_t, uint32_t, uint32_t, z + (uint32_t)DOT4(A, B, x, y))                          \
    TERNARY(dp2a_lo_##t, uint32_t, uint32_t, uint32_t, uint32_t, z + (uint32_t)DOT2(A, B, x, y, 0))                    \
    TERNARY(dp2a_hi_##t, uint32_t, uint32_t, uint32_t, uint32_t, z + (uint32_t)DOT2(A, B, x, y, 2))
DEFINE(uu, FIELD_U, FIELD_U)
DEFINE(us, FIELD_U, FIELD_S)
DEFINE(su, FIELD_S, FIELD_U)
DEFINE(ss, FIELD_S, FIELD_S)
#undef DEFINE
#define SIGNS(op)                                                                                                      \
    {                                                                                                                  \
        {PAIR(op##_uu), PAIR(op##_us)}, { PAIR(op##_su), PAIR(op##_ss) }                                               \
    }

static bool is_dot(const PtxForm *f) {
    for (int k = 0; k < 2; k++)
        if (f->types[k] != PT_U32 && f->types[k] != PT_S32) return false;
    return f->ntypes == 2 && only(f, 0, FIELD(PART));
}

bool select_dp4a(const PtxForm *f, PtxInst *in) {
    static const LanePair table[2][2] = SIGNS(dp4a);
    return is_dot(f) && !f->field[MF_PART] && use(in, table[f->types[0] == PT_S32][f->types[1] == PT_S32]);
}

bool select_dp2a(const PtxForm *f, PtxInst *in) {
    static const LanePair table[2][2][2] = {SIGNS(dp2a_lo), SIGNS(dp2a_hi)};
    unsigned part = f->field[MF_PART];
    if (!is_dot(f) || (part != PART_LO && part != PART_HI)) return false;
    return use(in, table[part == PART_HI][f->types[0] == PT_S32][f->types[1] == PT_S32]);
}
