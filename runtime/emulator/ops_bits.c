/* ops_bits.c - bits: and or xor not cnot lop3, shifts, fields (bfe bfi bmsk szext), prmt, counts and searches (clz popc
 * bfind brev fns). Shift amounts and field bounds beyond the width are clamped, as PTX defines. */
#include "ops.h"

/* ---- logic -------------------------------------------------------------------------------------- */

#define DEFINE(t, T)                                                                                                   \
    BINARY(and_##t, T, T, T, x &y)                                                                                     \
    BINARY(or_##t, T, T, T, x | y)                                                                                     \
    BINARY(xor_##t, T, T, T, x ^ y)                                                                                    \
    UNARY(not_##t, T, T, ~x)                                                                                           \
    UNARY(cnot_##t, T, T, x == 0)                                                                                      \
    BINARY(shl_##t, T, T, uint32_t, y >= 8 * sizeof(T) ? 0 : (T)(x << (y & (8 * sizeof(T) - 1))))
DEFINE(b16, uint16_t)
DEFINE(b32, uint32_t)
DEFINE(b64, uint64_t)
#undef DEFINE

#define PRED_FN(name, expression)                                                                                      \
    static void name##_any(Warp *w, const PtxInst *in, uint32_t mask) {                                                \
        uint32_t x = pred_get(w, &in->o[1]), y = in->o[2].file ? pred_get(w, &in->o[2]) : 0;                           \
        (void)y;                                                                                                       \
        pred_set(w, &in->o[0], mask, expression);                                                                      \
    }
PRED_FN(and_pred, x &y)
PRED_FN(or_pred, x | y)
PRED_FN(xor_pred, x ^ y)
PRED_FN(not_pred, ~x)
#define PRED_PAIR(name)                                                                                                \
    { name##_any, name##_any }

/* The columns of tables of untyped operations. */
enum { B_PRED, B_16, B_32, B_64, B_COUNT };
static int bits_index(const PtxForm *f) {
    if (f->ntypes != 1 || !only(f, 0, 0)) return -1;
    switch (f->types[0]) {
    case PT_PRED: return B_PRED;
    case PT_B16: return B_16;
    case PT_B32: return B_32;
    case PT_B64: return B_64;
    default: return -1;
    }
}

#define SELECT_BITS(name, pred)                                                                                        \
    bool select_##name(const PtxForm *f, PtxInst *in) {                                                                \
        static const LanePair table[B_COUNT] = {pred, PAIR(name##_b16), PAIR(name##_b32), PAIR(name##_b64)};           \
        int type = bits_index(f);                                                                                      \
        return type >= 0 && use(in, table[type]);                                                                      \
    }
SELECT_BITS(and, PRED_PAIR(and_pred))
SELECT_BITS(or, PRED_PAIR(or_pred))
SELECT_BITS(xor, PRED_PAIR(xor_pred))
SELECT_BITS(not, PRED_PAIR(not_pred))
SELECT_BITS(cnot, NO_PAIR)
SELECT_BITS(shl, NO_PAIR)

/* The table has the result for each of the eight triples of bits. */
INLINE uint32_t lut3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
    uint32_t r = 0;
    for (uint32_t k = 0; k < 8; k++) {
        uint32_t all = table >> k & 1 ? UINT32_MAX : 0;
        r |= all & (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    }
    return r;
}

/* d|p, a, b, c, table, q; p and q go with a BoolOp. */
LANE_FN(lop3, {
    uint32_t *d = lanes(w, &in->o[0]), r[WARP], some = 0;
    const uint32_t *a = lanes(w, &in->o[2]), *b = lanes(w, &in->o[3]), *c = lanes(w, &in->o[4]);
    uint32_t table = *(const uint32_t *)lanes(w, &in->o[5]);
    for (int i = 0; i < WARP; i++) r[i] = lut3(a[i], b[i], c[i], table);
    SET_LANES(mask, uint32_t, d, i, r[i]);
    if (!in->sub) return;
    for (int i = 0; i < WARP; i++) some |= (uint32_t)(r[i] != 0) << i;
    uint32_t q = pred_get(w, &in->o[6]);
    pred_set(w, &in->o[1], mask, in->sub == BOOL_AND ? some & q : some | q);
})

bool select_lop3(const PtxForm *f, PtxInst *in) {
    unsigned how = f->field[MF_BOOL];
    if (f->ntypes != 1 || f->types[0] != PT_B32 || how == BOOL_XOR || !only(f, 0, FIELD(BOOL))) return false;
    if ((how != 0) != (in->o[1].file != FILE_NONE) || (how != 0) != (in->o[6].file != FILE_NONE)) return false;
    in->sub = (uint8_t)how;
    return use(in, (LanePair)PAIR(lop3));
}

/* ---- shifts ------------------------------------------------------------------------------------- */

#define DEFINE(t, T) BINARY(shr_##t, T, T, uint32_t, y >= 8 * sizeof(T) ? 0 : x >> (y & (8 * sizeof(T) - 1)))
DEFINE(u16, uint16_t)
DEFINE(u32, uint32_t)
DEFINE(u64, uint64_t)
#undef DEFINE
#define DEFINE(t, T) BINARY(shr_##t, T, T, uint32_t, x >> (y < 8 * sizeof(T) ? y : 8 * sizeof(T) - 1))
DEFINE(s16, int16_t)
DEFINE(s32, int32_t)
DEFINE(s64, int64_t)
#undef DEFINE

bool select_shr(const PtxForm *f, PtxInst *in) {
    static const LanePair table[I_COUNT] = {PAIR(shr_u16), PAIR(shr_s16), PAIR(shr_u32),
                                            PAIR(shr_s32), PAIR(shr_u64), PAIR(shr_s64)};
    if (f->ntypes != 1 || !only(f, 0, 0)) return false;
    int type = int_index(f->types[0]);
    if (type < 0) { /* untyped: as unsigned */
        int bits = bits_index(f);
        if (bits < B_16) return false;
        type = bits == B_16 ? I_U16 : bits == B_32 ? I_U32 : I_U64;
    }
    return use(in, table[type]);
}

/* y:x shifted by z, of which the upper or the lower half. */
INLINE uint64_t joined(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }
INLINE uint32_t at_most(uint32_t x, uint32_t most) { return x < most ? x : most; }
TERNARY(shf_l_wrap, uint32_t, uint32_t, uint32_t, uint32_t, joined(x, y) << (z & 31) >> 32)
TERNARY(shf_r_wrap, uint32_t, uint32_t, uint32_t, uint32_t, joined(x, y) >> (z & 31))
TERNARY(shf_l_clamp, uint32_t, uint32_t, uint32_t, uint32_t, joined(x, y) << at_most(z, 32) >> 32)
TERNARY(shf_r_clamp, uint32_t, uint32_t, uint32_t, uint32_t, joined(x, y) >> at_most(z, 32))

bool select_shf(const PtxForm *f, PtxInst *in) {
    static const LanePair table[2][2] = {{PAIR(shf_l_wrap), PAIR(shf_l_clamp)}, {PAIR(shf_r_wrap), PAIR(shf_r_clamp)}};
    unsigned side = f->field[MF_MODE];
    bool clamp = has(f, FLAG_CLAMP), wrap = has(f, FLAG_WRAP);
    if (f->ntypes != 1 || f->types[0] != PT_B32 || clamp == wrap || (side != MODE_L && side != MODE_R)) return false;
    return only(f, BIT(CLAMP) | BIT(WRAP), FIELD(MODE)) && use(in, table[side == MODE_R][clamp]);
}

/* ---- fields ------------------------------------------------------------------------------------- */

INLINE uint32_t ones(uint32_t n) { return n >= 32 ? UINT32_MAX : (1u << (n & 31)) - 1; }
INLINE uint64_t ones64(uint32_t n) { return n >= 64 ? UINT64_MAX : (UINT64_C(1) << (n & 63)) - 1; }

/* Position and length of a field are bytes. */
#define DEFINE(t, T, ones_of)                                                                                          \
    INLINE T extract_##t(T x, uint32_t position, uint32_t length, bool is_signed) {                                    \
        const uint32_t width = 8 * sizeof(T);                                                                          \
        uint32_t p = position & 255, n = length & 255;                                                                 \
        uint32_t top = at_most(p + n - 1, width - 1); /* the field's sign, or the number's if the field is longer */   \
        T field = p >= width ? 0 : (T)(x >> (p & (width - 1))) & ones_of(n);                                           \
        T sign = is_signed && n ? (T)(0 - (x >> (top & (width - 1)) & 1)) : 0;                                         \
        uint32_t have = p >= width ? 0 : at_most(n, width - p);                                                        \
        return field | (sign & ~ones_of(have));                                                                        \
    }                                                                                                                  \
    /* The low `length` bits of x at `position` of y. */                                                               \
    INLINE T insert_##t(T x, T y, uint32_t position, uint32_t length) {                                                \
        const uint32_t width = 8 * sizeof(T);                                                                          \
        uint32_t p = position & 255;                                                                                   \
        T field = p >= width ? 0 : (T)(ones_of(length & 255) << (p & (width - 1)));                                    \
        return ((T)(x << (p & (width - 1))) & field) | (y & ~field);                                                   \
    }                                                                                                                  \
    LANE_FN(bfi_##t, T *d = lanes(w, &in->o[0]); const T *a = lanes(w, &in->o[1]), *b = lanes(w, &in->o[2]);           \
            const uint32_t *p = lanes(w, &in->o[3]), *n = lanes(w, &in->o[4]);                                         \
            SET_LANES(mask, T, d, i, insert_##t(a[i], b[i], p[i], n[i]));)
DEFINE(b32, uint32_t, ones)
DEFINE(b64, uint64_t, ones64)
#undef DEFINE
TERNARY(bfe_u32, uint32_t, uint32_t, uint32_t, uint32_t, extract_b32(x, y, z, false))
TERNARY(bfe_s32, uint32_t, uint32_t, uint32_t, uint32_t, extract_b32(x, y, z, true))
TERNARY(bfe_u64, uint64_t, uint64_t, uint32_t, uint32_t, extract_b64(x, y, z, false))
TERNARY(bfe_s64, uint64_t, uint64_t, uint32_t, uint32_t, extract_b64(x, y, z, true))

bool select_bfe(const PtxForm *f, PtxInst *in) {
    static const LanePair table[I_COUNT] = {NO_PAIR,       NO_PAIR,       PAIR(bfe_u32),
                                            PAIR(bfe_s32), PAIR(bfe_u64), PAIR(bfe_s64)};
    int type = int_index(f->types[0]);
    return f->ntypes == 1 && type >= 0 && only(f, 0, 0) && use(in, table[type]);
}

bool select_bfi(const PtxForm *f, PtxInst *in) {
    switch (bits_index(f)) {
    case B_32: return use(in, (LanePair)PAIR(bfi_b32));
    case B_64: return use(in, (LanePair)PAIR(bfi_b64));
    default: return false;
    }
}

INLINE uint32_t mask_wrap(uint32_t start, uint32_t length) { return ones(length & 31) << (start & 31); }
INLINE uint32_t mask_clamp(uint32_t start, uint32_t length) {
    return start >= 32 ? 0 : ones(at_most(length, 32)) << start;
}
BINARY(bmsk_clamp, uint32_t, uint32_t, uint32_t, mask_clamp(x, y))
BINARY(bmsk_wrap, uint32_t, uint32_t, uint32_t, mask_wrap(x, y))

INLINE uint32_t sign_from(uint32_t x, uint32_t n) { /* the low n bits as a signed number, n <= 32 */
    return n == 0 ? 0 : (uint32_t)((int32_t)(x << (32 - n)) >> (32 - n));
}
INLINE uint32_t zero_from(uint32_t x, uint32_t n) { return x & ones(n); }
BINARY(szext_clamp_s32, uint32_t, uint32_t, uint32_t, sign_from(x, at_most(y, 32)))
BINARY(szext_wrap_s32, uint32_t, uint32_t, uint32_t, sign_from(x, y & 31))
BINARY(szext_clamp_u32, uint32_t, uint32_t, uint32_t, zero_from(x, at_most(y, 32)))
BINARY(szext_wrap_u32, uint32_t, uint32_t, uint32_t, zero_from(x, y & 31))

static bool clamps_or_wraps(const PtxForm *f) {
    return f->ntypes == 1 && has(f, FLAG_CLAMP) != has(f, FLAG_WRAP) && only(f, BIT(CLAMP) | BIT(WRAP), 0);
}

bool select_bmsk(const PtxForm *f, PtxInst *in) {
    if (!clamps_or_wraps(f) || f->types[0] != PT_B32) return false;
    return use(in, has(f, FLAG_CLAMP) ? (LanePair)PAIR(bmsk_clamp) : (LanePair)PAIR(bmsk_wrap));
}

bool select_szext(const PtxForm *f, PtxInst *in) {
    static const LanePair table[2][2] = {{PAIR(szext_wrap_u32), PAIR(szext_clamp_u32)},
                                         {PAIR(szext_wrap_s32), PAIR(szext_clamp_s32)}};
    if (!clamps_or_wraps(f) || (f->types[0] != PT_U32 && f->types[0] != PT_S32)) return false;
    return use(in, table[f->types[0] == PT_S32][has(f, FLAG_CLAMP)]);
}

/* ---- prmt --------------------------------------------------------------------------------------- */

/* Byte `k` (0 to 7) of y:x; with bit 3 set its sign, eight times. */
INLINE uint32_t picked(uint64_t bytes, uint32_t k) {
    uint32_t byte = (uint32_t)(bytes >> 8 * (k & 7)) & 0xff;
    return k & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}

/* The selector of the default mode that picks the same bytes as `mode` with this selector. */
INLINE uint32_t selector(uint32_t mode, uint32_t z) {
    uint32_t k = z & 3, s = 0;
    for (uint32_t b = 0; b < 4; b++) {
        uint32_t byte;
        switch (mode) {
        case MODE_F4E: byte = k + b; break;
        case MODE_B4E: byte = (k - b) & 7; break;
        case MODE_RC8: byte = k; break;
        case MODE_ECL: byte = b < k ? k : b; break;
        case MODE_ECR: byte = b < k ? b : k; break;
        default: byte = (k & 1) * 2 + (b & 1); break; /* MODE_RC16 */
        }
        s |= byte << 4 * b;
    }
    return mode ? s : z;
}
INLINE uint32_t permuted(uint64_t bytes, uint32_t s) {
    return picked(bytes, s) | picked(bytes, s >> 4) << 8 | picked(bytes, s >> 8) << 16 | picked(bytes, s >> 12) << 24;
}
/* A constant selector, which is what compilers write, is the same in all lanes. */
LANE_FN(prmt, {
    uint32_t *d = lanes(w, &in->o[0]);
    const uint32_t *a = lanes(w, &in->o[1]), *b = lanes(w, &in->o[2]), *c = lanes(w, &in->o[3]);
    if (in->o[3].file == FILE_CONST) {
        uint32_t s = selector(in->sub, c[0]);
        SET_LANES(mask, uint32_t, d, i, permuted(joined(a[i], b[i]), s));
    } else {
        EACH_LANE(mask, i, d[i] = permuted(joined(a[i], b[i]), selector(in->sub, c[i])));
    }
})

bool select_prmt(const PtxForm *f, PtxInst *in) {
    unsigned mode = f->field[MF_MODE];
    if (f->ntypes != 1 || f->types[0] != PT_B32 || !only(f, 0, FIELD(MODE))) return false;
    if (mode && (mode < MODE_F4E || mode > MODE_RC16)) return false;
    in->sub = (uint8_t)mode;
    return use(in, (LanePair)PAIR(prmt));
}

/* ---- counts and searches ----------------------------------------------------------------------- */

INLINE uint32_t leading_zeros(uint64_t x, uint32_t width) {
    return x ? (uint32_t)__builtin_clzll(x) - (64 - width) : width;
}
INLINE uint32_t population(uint64_t x) {
    x = x - (x >> 1 & UINT64_C(0x5555555555555555));
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(x * UINT64_C(0x0101010101010101) >> 56);
}
INLINE uint64_t reversed(uint64_t x) {
    x = (x >> 1 & UINT64_C(0x5555555555555555)) | (x & UINT64_C(0x5555555555555555)) << 1;
    x = (x >> 2 & UINT64_C(0x3333333333333333)) | (x & UINT64_C(0x3333333333333333)) << 2;
    x = (x >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (x & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
    return __builtin_bswap64(x);
}
/* The highest bit that is set, or that differs from the sign; all ones: none. */
INLINE uint32_t highest(uint64_t x, uint32_t width) { return width - 1 - leading_zeros(x, width); }
INLINE uint64_t unlike_sign(int64_t x) { return (uint64_t)(x < 0 ? ~x : x); }
INLINE uint32_t from_top(uint32_t found, uint32_t width) { return found == UINT32_MAX ? found : width - 1 - found; }

UNARY(clz_b32, uint32_t, uint32_t, leading_zeros(x, 32))
UNARY(clz_b64, uint32_t, uint64_t, leading_zeros(x, 64))
UNARY(popc_b32, uint32_t, uint32_t, population(x))
UNARY(popc_b64, uint32_t, uint64_t, population(x))
UNARY(brev_b32, uint32_t, uint32_t, reversed(x) >> 32)
UNARY(brev_b64, uint64_t, uint64_t, reversed(x))
#define DEFINE(t, T, width, bits)                                                                                      \
    UNARY(bfind_##t, uint32_t, T, highest(bits, width))                                                                \
    UNARY(bfind_shiftamt_##t, uint32_t, T, from_top(highest(bits, width), width))
DEFINE(u32, uint32_t, 32, x)
DEFINE(s32, int32_t, 32, unlike_sign(x))
DEFINE(u64, uint64_t, 64, x)
DEFINE(s64, int64_t, 64, unlike_sign(x))
#undef DEFINE

#define SELECT_COUNT(name)                                                                                             \
    bool select_##name(const PtxForm *f, PtxInst *in) {                                                                \
        switch (bits_index(f)) {                                                                                       \
        case B_32: return use(in, (LanePair)PAIR(name##_b32));                                                         \
        case B_64: return use(in, (LanePair)PAIR(name##_b64));                                                         \
        default: return false;                                                                                         \
        }                                                                                                              \
    }
SELECT_COUNT(clz)
SELECT_COUNT(popc)
SELECT_COUNT(brev)

bool select_bfind(const PtxForm *f, PtxInst *in) {
    static const LanePair table[2][I_COUNT] = {
        {NO_PAIR, NO_PAIR, PAIR(bfind_u32), PAIR(bfind_s32), PAIR(bfind_u64), PAIR(bfind_s64)},
        {NO_PAIR, NO_PAIR, PAIR(bfind_shiftamt_u32), PAIR(bfind_shiftamt_s32), PAIR(bfind_shiftamt_u64),
         PAIR(bfind_shiftamt_s64)},
    };
    int type = int_index(f->types[0]);
    return f->ntypes == 1 && type >= 0 && only(f, BIT(SHIFTAMT), 0) && use(in, table[has(f, FLAG_SHIFTAMT)][type]);
}

/* The n-th set bit of x, counted from bit `base`: n > 0 upwards (1 is the first at or above base), n < 0 downwards,
 * n = 0: base itself if it is set. All ones: there is none. */
INLINE uint32_t nth_set(uint32_t x, uint32_t base, int32_t n) {
    if (base > 31) return UINT32_MAX;
    if (n == 0) return x >> base & 1 ? base : UINT32_MAX;
    int32_t step = n > 0 ? 1 : -1;
    uint32_t left = n > 0 ? (uint32_t)n : 0 - (uint32_t)n;
    for (int32_t at = (int32_t)base; at >= 0 && at < 32; at += step)
        if (x >> at & 1 && --left == 0) return (uint32_t)at;
    return UINT32_MAX;
}
LANE_FN(fns, uint32_t *d = lanes(w, &in->o[0]); const uint32_t *a = lanes(w, &in->o[1]), *b = lanes(w, &in->o[2]);
        const int32_t *c = lanes(w, &in->o[3]); EACH_LANE(mask, i, d[i] = nth_set(a[i], b[i], c[i]));)

bool select_fns(const PtxForm *f, PtxInst *in) { return bits_index(f) == B_32 && use(in, (LanePair)PAIR(fns)); }
