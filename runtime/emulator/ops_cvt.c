/* ops_cvt.c - cvt between integers and floats: the select function, quick versions of the usual forms, and one that
 * does any form lane by lane. Conversions to and from packed formats are in ops_pack.c.
 *
 * Registers may be wider than the types: a source's upper part is ignored, a result is extended by its type's sign. */
#include "half.h"
#include "ops_float.h"

__extension__ typedef __int128 Int128;

/* ---- integers to integers ----------------------------------------------------------------------- */

/* Keeps the bits of `keep`; then `sign`, the type's sign bit if it has a sign, is extended. */
typedef struct Extension {
    uint64_t keep, sign;
} Extension;

static Extension extension(unsigned type) {
    unsigned bits = 8u * ptx_types[type].bytes;
    uint64_t keep = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    return (Extension){keep, ptx_types[type].kind == KIND_SIGNED ? keep ^ keep >> 1 : 0};
}
#define EXTEND(T, x, keep, sign) (T)((((T)(x) & (T)(keep)) ^ (T)(sign)) - (T)(sign))

/* From a register of type S to one of type D, calculated in W. */
#define DEFINE(name, D, S, W)                                                                                          \
    LANE_FN(name, D *d = lanes(w, &in->o[0]); const S *a = lanes(w, &in->o[1]); Extension to = extension(in->type[0]); \
            Extension from = extension(in->type[1]);                                                                   \
            SET_LANES(mask, D, d, i, EXTEND(W, EXTEND(W, a[i], from.keep, from.sign), to.keep, to.sign));)
DEFINE(i16_16, uint16_t, uint16_t, uint16_t)
DEFINE(i16_32, uint16_t, uint32_t, uint32_t)
DEFINE(i16_64, uint16_t, uint64_t, uint64_t)
DEFINE(i32_16, uint32_t, uint16_t, uint32_t)
DEFINE(i32_32, uint32_t, uint32_t, uint32_t)
DEFINE(i32_64, uint32_t, uint64_t, uint64_t)
DEFINE(i64_16, uint64_t, uint16_t, uint64_t)
DEFINE(i64_32, uint64_t, uint32_t, uint64_t)
DEFINE(i64_64, uint64_t, uint64_t, uint64_t)
#undef DEFINE
UNARY(u64_u32, uint64_t, uint32_t, x)
UNARY(s64_s32, int64_t, int32_t, x)
UNARY(u32_u64, uint32_t, uint64_t, x)

static int width_index(uint8_t bytes) { return bytes <= 2 ? 0 : bytes == 4 ? 1 : 2; }

static uint8_t register_bytes(unsigned type) { return ptx_types[type].bytes < 2 ? 2 : ptx_types[type].bytes; }

/* No register is wider than it must be. */
static bool full_width(const PtxForm *f, const PtxInst *in) {
    return in->o[0].bytes == register_bytes(f->types[0]) && in->o[1].bytes == register_bytes(f->types[1]);
}

static bool int_to_int(const PtxForm *f, PtxInst *in) {
    static const LanePair table[3][3] = {{PAIR(i16_16), PAIR(i16_32), PAIR(i16_64)},
                                         {PAIR(i32_16), PAIR(i32_32), PAIR(i32_64)},
                                         {PAIR(i64_16), PAIR(i64_32), PAIR(i64_64)}};
    unsigned to = f->types[0], from = f->types[1];
    if (full_width(f, in) && ptx_types[to].bytes == 8) {
        if (from == PT_U32) return use(in, (LanePair)PAIR(u64_u32));
        if (from == PT_S32) return use(in, (LanePair)PAIR(s64_s32));
    }
    if (full_width(f, in) && ptx_types[to].bytes == 4 && ptx_types[from].bytes == 8)
        return use(in, (LanePair)PAIR(u32_u64));
    return use(in, table[width_index(in->o[0].bytes)][width_index(in->o[1].bytes)]);
}

/* ---- floats to integers, the usual forms --------------------------------------------------------- */

/* Out of range: the nearest that there is. `below` is an S less than `end`, with which D's numbers end, and no less
 * than the last of them that S has. */
#define TO_INT(name, D, S, start, below, end, last, nan)                                                               \
    INLINE D name(S x) {                                                                                               \
        S y = x > (start) ? x : (start);                                                                               \
        y = y < (below) ? y : (below);                                                                                 \
        D r = (D)y;                                                                                                    \
        r = x >= (end) ? (last) : r;                                                                                   \
        return x != x ? (nan) : r;                                                                                     \
    }
TO_INT(s8_of_f32, int16_t, float, -128.0f, 127.0f, 128.0f, INT8_MAX, 0)
TO_INT(u8_of_f32, uint16_t, float, 0.0f, 255.0f, 256.0f, UINT8_MAX, 0)
TO_INT(s16_of_f32, int16_t, float, -0x1p15f, 32767.0f, 0x1p15f, INT16_MAX, 0)
TO_INT(u16_of_f32, uint16_t, float, 0.0f, 65535.0f, 0x1p16f, UINT16_MAX, 0)
TO_INT(s16_of_f64, int16_t, double, -0x1p15, 32767.0, 0x1p15, INT16_MAX, INT16_MIN)
TO_INT(u16_of_f64, uint16_t, double, 0.0, 65535.0, 0x1p16, UINT16_MAX, 0x8000)
TO_INT(s32_of_f32, int32_t, float, -0x1p31f, 0x1.fffffep30f, 0x1p31f, INT32_MAX, 0)
TO_INT(u32_of_f32, uint32_t, float, 0.0f, 0x1.fffffep31f, 0x1p32f, UINT32_MAX, 0)
TO_INT(s64_of_f32, int64_t, float, -0x1p63f, 0x1.fffffep62f, 0x1p63f, INT64_MAX, INT64_MIN)
TO_INT(u64_of_f32, uint64_t, float, 0.0f, 0x1.fffffep63f, 0x1p64f, UINT64_MAX, UINT64_C(1) << 63)
TO_INT(s32_of_f64, int32_t, double, -0x1p31, 2147483647.0, 0x1p31, INT32_MAX, INT32_MIN)
TO_INT(u32_of_f64, uint32_t, double, 0.0, 4294967295.0, 0x1p32, UINT32_MAX, 0x80000000)
TO_INT(s64_of_f64, int64_t, double, -0x1p63, 0x1.fffffffffffffp62, 0x1p63, INT64_MAX, INT64_MIN)
TO_INT(u64_of_f64, uint64_t, double, 0.0, 0x1.fffffffffffffp63, 0x1p64, UINT64_MAX, UINT64_C(1) << 63)

#define DEFINE(to, from, D, S, suffix)                                                                                 \
    UNARY(rni_##to##_##from, D, S, to##_of_##from(__builtin_rint##suffix(x)))                                          \
    UNARY(rzi_##to##_##from, D, S, to##_of_##from(x))                                                                  \
    UNARY(rmi_##to##_##from, D, S, to##_of_##from(__builtin_floor##suffix(x)))                                         \
    UNARY(rpi_##to##_##from, D, S, to##_of_##from(__builtin_ceil##suffix(x)))
DEFINE(s8, f32, int16_t, float, f) /* registers have 16 bits at least */
DEFINE(u8, f32, uint16_t, float, f)
DEFINE(s16, f32, int16_t, float, f)
DEFINE(u16, f32, uint16_t, float, f)
DEFINE(s32, f32, int32_t, float, f)
DEFINE(u32, f32, uint32_t, float, f)
DEFINE(s64, f32, int64_t, float, f)
DEFINE(u64, f32, uint64_t, float, f)
DEFINE(s16, f64, int16_t, double, )
DEFINE(u16, f64, uint16_t, double, )
DEFINE(s32, f64, int32_t, double, )
DEFINE(u32, f64, uint32_t, double, )
DEFINE(s64, f64, int64_t, double, )
DEFINE(u64, f64, uint64_t, double, )
#undef DEFINE

/* Every half is a float. */
#define DEFINE(to, D)                                                                                                  \
    UNARY(rni_##to##_f16, D, uint16_t, to##_of_f32(__builtin_rintf(half_to_float(x))))                                 \
    UNARY(rzi_##to##_f16, D, uint16_t, to##_of_f32(half_to_float(x)))                                                  \
    UNARY(rmi_##to##_f16, D, uint16_t, to##_of_f32(__builtin_floorf(half_to_float(x))))                                \
    UNARY(rpi_##to##_f16, D, uint16_t, to##_of_f32(__builtin_ceilf(half_to_float(x))))
DEFINE(s16, int16_t)
DEFINE(u16, uint16_t)
DEFINE(s32, int32_t)
DEFINE(u32, uint32_t)
DEFINE(s64, int64_t)
#undef DEFINE

/* ---- integers to floats, floats to floats -------------------------------------------------------- */

#define DEFINE(from, S)                                                                                                \
    UNARY(rn_f32_##from, float, S, x)                                                                                  \
    UNARY(rn_f64_##from, double, S, x)                                                                                 \
    /* What isn't exact as a float is beyond all halves. */                                                            \
    UNARY(rn_f16_##from, uint16_t, S, half_from_float((float)x))
DEFINE(s16, int16_t)
DEFINE(u16, uint16_t)
DEFINE(s32, int32_t)
DEFINE(u32, uint32_t)
DEFINE(s64, int64_t)
DEFINE(u64, uint64_t)
#undef DEFINE

UNARY(rn_f32_f64, float, double, canonical((float)x))
UNARY(rn_ftz_f32_f64, float, double, canonical(flush((float)x)))
UNARY(f64_f32, double, float, x)
UNARY(ftz_f64_f32, double, float, flush(x))
UNARY(f32_f16, float, uint16_t, canonical(half_to_float(x)))
UNARY(sat_f32_f32, float, float, clamp01(x))
UNARY(sat_ftz_f32_f32, float, float, clamp01(flush(x)))
UNARY(f32_bf16, float, uint16_t, bf16_to_float(x))
UNARY(rn_f16_f32, uint16_t, float, half_from_float(x))
UNARY(rn_bf16_f32, uint16_t, float, bf16_from_float(x))
#define DEFINE(t, S, suffix, result)                                                                                   \
    UNARY(rni_##t, S, S, result(__builtin_rint##suffix(x)))                                                            \
    UNARY(rzi_##t, S, S, result(__builtin_trunc##suffix(x)))                                                           \
    UNARY(rmi_##t, S, S, result(__builtin_floor##suffix(x)))                                                           \
    UNARY(rpi_##t, S, S, result(__builtin_ceil##suffix(x)))
DEFINE(f32, float, f, canonical)
DEFINE(f64, double, , )
#undef DEFINE

/* Forms that have a version of their own: exactly these types, rounding and flags, registers of the types' widths. */
typedef struct Quick {
    uint8_t to, from, rounding, ftz;
    LanePair pair;
} Quick;
#define TO(T, t, F, f)                                                                                                 \
    {PT_##T, PT_##F, ROUND_RNI, 2, PAIR(rni_##t##_##f)}, {PT_##T, PT_##F, ROUND_RZI, 2, PAIR(rzi_##t##_##f)},          \
        {PT_##T, PT_##F, ROUND_RMI, 0, PAIR(rmi_##t##_##f)}, {                                                         \
        PT_##T, PT_##F, ROUND_RPI, 0, PAIR(rpi_##t##_##f)                                                              \
    }
#define FROM(T, t)                                                                                                     \
    {PT_F32, PT_##T, ROUND_RN, 2, PAIR(rn_f32_##t)}, {PT_F64, PT_##T, ROUND_RN, 0, PAIR(rn_f64_##t)}, {                \
        PT_F16, PT_##T, ROUND_RN, 0, PAIR(rn_f16_##t)                                                                  \
    }
#define WHOLE(T, t)                                                                                                    \
    {PT_##T, PT_##T, ROUND_RNI, 0, PAIR(rni_##t)}, {PT_##T, PT_##T, ROUND_RZI, 0, PAIR(rzi_##t)},                      \
        {PT_##T, PT_##T, ROUND_RMI, 0, PAIR(rmi_##t)}, {                                                               \
        PT_##T, PT_##T, ROUND_RPI, 0, PAIR(rpi_##t)                                                                    \
    }
static const Quick quick[] = {
    TO(S8, s8, F32, f32),
    TO(U8, u8, F32, f32),
    TO(S16, s16, F32, f32),
    TO(U16, u16, F32, f32),
    TO(S32, s32, F32, f32),
    TO(U32, u32, F32, f32),
    TO(S64, s64, F32, f32),
    TO(U64, u64, F32, f32),
    TO(S16, s16, F16, f16),
    TO(U16, u16, F16, f16),
    TO(S32, s32, F16, f16),
    TO(U32, u32, F16, f16),
    TO(S64, s64, F16, f16),
    TO(S16, s16, F64, f64),
    TO(U16, u16, F64, f64),
    TO(S32, s32, F64, f64),
    TO(U32, u32, F64, f64),
    TO(S64, s64, F64, f64),
    TO(U64, u64, F64, f64),
    FROM(S16, s16),
    FROM(U16, u16),
    FROM(S32, s32),
    FROM(U32, u32),
    FROM(S64, s64),
    FROM(U64, u64),
    WHOLE(F32, f32),
    WHOLE(F64, f64),
    {PT_F32, PT_F64, ROUND_RN, 0, PAIR(rn_f32_f64)},
    {PT_F32, PT_F64, ROUND_RN, 1, PAIR(rn_ftz_f32_f64)},
    {PT_F64, PT_F32, ROUND_NONE, 0, PAIR(f64_f32)},
    {PT_F64, PT_F32, ROUND_NONE, 1, PAIR(ftz_f64_f32)},
    {PT_F32, PT_F16, ROUND_NONE, 0, PAIR(f32_f16)},
    {PT_F32, PT_BF16, ROUND_NONE, 0, PAIR(f32_bf16)},
    {PT_F16, PT_F32, ROUND_RN, 0, PAIR(rn_f16_f32)},
    {PT_BF16, PT_F32, ROUND_RN, 0, PAIR(rn_bf16_f32)},
};

/* ftz 2: flushing doesn't change the result. .sat of integers is what happens anyway. */
static bool use_quick(const PtxForm *f, PtxInst *in) {
    bool to_int = ptx_types[f->types[0]].kind != KIND_FLOAT;
    if (!full_width(f, in) || !only(f, BIT(FTZ) | (to_int ? BIT(SAT) : 0), FIELD(ROUND))) return false;
    for (size_t k = 0; k < sizeof quick / sizeof *quick; k++) {
        const Quick *q = &quick[k];
        if (q->to == f->types[0] && q->from == f->types[1] && q->rounding == rounding(f) &&
            (q->ftz == 2 || q->ftz == has(f, FLAG_FTZ)))
            return use(in, q->pair);
    }
    return false;
}

/* ---- any form ------------------------------------------------------------------------------------ */

enum { V_ROUND = 15, V_FTZ = 16, V_SAT = 32, V_RELU = 64, V_SATFINITE = 128 }; /* in->sub */

static const FloatFormat *format_of(unsigned type) {
    switch (type) {
    case PT_F16: return &format_f16;
    case PT_BF16: return &format_bf16;
    case PT_F32: return &format_f32;
    case PT_F64: return &format_f64;
    case PT_TF32: return &format_tf32;
    default: return NULL;
    }
}

static bool is_any_float(unsigned type) { return format_of(type) != NULL; }
static bool is_any_int(unsigned type) {
    unsigned kind = ptx_types[type].kind;
    return kind == KIND_SIGNED || kind == KIND_UNSIGNED;
}

static double read_float(unsigned type, uint64_t bits, uint8_t sub) {
    switch (type) {
    case PT_F16: return (double)half_to_float((uint16_t)bits);
    case PT_BF16: return (double)bf16_to_float((uint16_t)bits);
    case PT_F32: return (double)(sub & V_FTZ ? flush(float_of((uint32_t)bits)) : float_of((uint32_t)bits));
    default: return double_of(bits);
    }
}

static double whole(double x, unsigned how) {
    switch (how) {
    case ROUND_RNI: return rint(x);
    case ROUND_RZI: return trunc(x);
    case ROUND_RMI: return floor(x);
    case ROUND_RPI: return ceil(x);
    default: return x;
    }
}

static Int128 smallest(unsigned type) {
    return ptx_types[type].kind == KIND_SIGNED ? -((Int128)1 << (8 * ptx_types[type].bytes - 1)) : 0;
}
static Int128 largest(unsigned type) {
    return ((Int128)1 << (8 * ptx_types[type].bytes - (ptx_types[type].kind == KIND_SIGNED))) - 1;
}

static uint64_t clamped(unsigned type, Int128 x) {
    if (x < smallest(type)) x = smallest(type);
    if (x > largest(type)) x = largest(type);
    return (uint64_t)x;
}

static uint64_t float_to_int(unsigned to, unsigned from, double x, uint8_t sub) {
    bool wide = from == PT_F64 || ptx_types[to].bytes == 8;
    if (x != x) return wide ? UINT64_C(1) << (8 * ptx_types[to].bytes - 1) : 0;
    x = whole(x, sub & V_ROUND);
    return clamped(to, x >= 0x1p65 ? (Int128)1 << 65 : x <= -0x1p65 ? -((Int128)1 << 65) : (Int128)x);
}

/* The magnitude and sign of an integer in a register. */
static Int128 read_int(unsigned type, uint64_t bits) {
    Extension e = extension(type);
    uint64_t x = EXTEND(uint64_t, bits, e.keep, e.sign);
    return e.sign ? (Int128)(int64_t)x : (Int128)x;
}

static uint64_t int_to_float(unsigned to, Int128 x, uint8_t sub) {
    if (sub & V_SAT) x = x < 0 ? 0 : x > 1 ? 1 : x;
    return round_to(format_of(to), sub & V_ROUND, false, x < 0, 0, (uint64_t)(x < 0 ? -x : x));
}

static uint64_t float_to_float(unsigned to, double x, uint8_t sub) {
    unsigned how = sub & V_ROUND;
    if (sub & V_SAT) x = clamp01_double(x);
    if (sub & V_RELU && x <= 0) x = 0;
    x = whole(x, how);
    uint64_t r = round_double(format_of(to), how >= ROUND_RNI || !how ? ROUND_RN : how, sub & V_SATFINITE, x);
    if (to == PT_TF32) return x != x ? 0x7fffffff : r << 13;
    return to == PT_F32 && sub & V_FTZ ? float_bits(flush(float_of((uint32_t)r))) : r;
}

static uint64_t converted(const PtxInst *in, uint64_t bits) {
    unsigned to = in->type[0], from = in->type[1];
    if (is_any_int(from)) {
        Int128 x = read_int(from, bits);
        if (is_any_float(to)) return int_to_float(to, x, in->sub);
        return in->sub & V_SAT ? clamped(to, x) : (uint64_t)x;
    }
    double x = read_float(from, bits, in->sub);
    if (is_any_int(to)) return float_to_int(to, from, x, in->sub);
    if (to == PT_F64) { /* keeps a NaN's payload */
        x = in->sub & V_SAT ? clamp01_double(x) : x;
        return double_bits(whole(x, in->sub & V_ROUND));
    }
    return float_to_float(to, x, in->sub);
}

static void any_form(Warp *w, const PtxInst *in, uint32_t mask) {
    Extension e = is_any_int(in->type[0]) ? extension(in->type[0]) : (Extension){UINT64_MAX, 0};
    EACH_LANE(mask, i, {
        uint64_t r = converted(in, lane_get(w, &in->o[1], i));
        lane_set(w, &in->o[0], i, EXTEND(uint64_t, r, e.keep, e.sign));
    });
}

/* ---- forms --------------------------------------------------------------------------------------- */

static bool rounds_to_int(unsigned how) { return how >= ROUND_RNI; }
static bool rounds_float(unsigned how) { return how >= ROUND_RN && how <= ROUND_RP; }

static bool narrow_flags(const PtxForm *f) {
    unsigned to = f->types[0], how = rounding(f);
    bool relu = has(f, FLAG_RELU), finite = has(f, FLAG_SATFINITE);
    if (!relu && !finite) return true;
    return f->types[1] == PT_F32 && (to == PT_F16 || to == PT_BF16) && (how == ROUND_RN || how == ROUND_RZ) &&
           !has(f, FLAG_SAT) && !has(f, FLAG_FTZ);
}

static bool to_tf32(const PtxForm *f) {
    unsigned how = rounding(f);
    if (f->types[1] != PT_F32 || !only(f, BIT(RELU) | BIT(SATFINITE), FIELD(ROUND))) return false;
    return how == ROUND_RNA ? !has(f, FLAG_RELU) : how == ROUND_RN || how == ROUND_RZ;
}

static bool float_form(const PtxForm *f) {
    unsigned to = f->types[0], from = f->types[1], how = rounding(f);
    uint32_t wide = ptx_types[to].bytes, narrow = ptx_types[from].bytes;
    if (to == PT_TF32) return to_tf32(f);
    if (from == PT_TF32 || !narrow_flags(f)) return false;
    if (to == from) return !how || rounds_to_int(how);
    if (wide > narrow) return !how || (from == PT_BF16 && rounds_float(how));
    return rounds_float(how);
}

/* .sat limits something, and bf16 has none. */
static bool may_saturate(unsigned to, unsigned from) {
    if (to == PT_BF16 || from == PT_BF16) return false;
    return !is_any_int(to) || !is_any_int(from) || smallest(from) < smallest(to) || largest(from) > largest(to);
}

static bool scalar_form(const PtxForm *f) {
    unsigned to = f->types[0], from = f->types[1], how = rounding(f);
    bool ints = is_any_int(to) && is_any_int(from), floats = is_any_float(to) && is_any_float(from);
    if (!only(f, BIT(FTZ) | BIT(SAT) | BIT(RELU) | BIT(SATFINITE), FIELD(ROUND))) return false;
    if (has(f, FLAG_FTZ) && to != PT_F32 && from != PT_F32) return false;
    if (has(f, FLAG_SAT) && !may_saturate(to, from)) return false;
    if (floats) return float_form(f);
    if (has(f, FLAG_RELU) || has(f, FLAG_SATFINITE)) return false;
    if (ints) return !how;
    if (is_any_int(to)) return is_any_float(from) && from != PT_TF32 && rounds_to_int(how);
    return is_any_int(from) && is_any_float(to) && to != PT_TF32 && rounds_float(how);
}

bool select_cvt(const PtxForm *f, PtxInst *in) {
    if (f->ntypes < 2) return false;
    if (in->o[2].file || has(f, FLAG_PACK) || ptx_types[f->types[0]].kind == KIND_PACKED) return packed_cvt(f, in);
    if (f->ntypes != 2 || !scalar_form(f)) return false;
    if (is_any_int(f->types[0]) && is_any_int(f->types[1]) && !has(f, FLAG_SAT)) return int_to_int(f, in);
    if (use_quick(f, in)) return true;
    if (f->types[0] == PT_F32 && f->types[1] == PT_F32 && !rounding(f) && has(f, FLAG_SAT))
        return use(in, has(f, FLAG_FTZ) ? (LanePair)PAIR(sat_ftz_f32_f32) : (LanePair)PAIR(sat_f32_f32));
    in->sub = (uint8_t)(rounding(f) | (has(f, FLAG_FTZ) ? V_FTZ : 0) | (has(f, FLAG_SAT) ? V_SAT : 0) |
                        (has(f, FLAG_RELU) ? V_RELU : 0) | (has(f, FLAG_SATFINITE) ? V_SATFINITE : 0));
    in->fn = any_form;
    return true;
}
