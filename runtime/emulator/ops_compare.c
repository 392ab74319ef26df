/* ops_compare.c - setp, set, selp, slct: comparisons of integers, bits, floats, halves and pairs of halves.
 *
 * Every comparison is one of five - equal, less, less or equal, different, both numbers - with its operands swapped or
 * its result inverted: `a geu b`, true also for NaN, is not (a < b). */
#include "half.h"
#include "ops_float.h"

typedef enum Relation { R_EQ, R_LT, R_LE, R_DIFFER /* and no NaN */, R_NUMBERS, R_COUNT } Relation;
enum { SWAPPED = 1, INVERTED = 2, BOOL_SHIFT = 2 }; /* in->sub; the BoolOp is above them */

typedef struct Comparison {
    uint8_t relation, how;
} Comparison;

static const Comparison of_floats[] = {
    [CMP_EQ] = {R_EQ, 0},
    [CMP_NE] = {R_DIFFER, 0},
    [CMP_LT] = {R_LT, 0},
    [CMP_LE] = {R_LE, 0},
    [CMP_GT] = {R_LT, SWAPPED},
    [CMP_GE] = {R_LE, SWAPPED},
    [CMP_EQU] = {R_DIFFER, INVERTED},
    [CMP_NEU] = {R_EQ, INVERTED},
    [CMP_LTU] = {R_LE, SWAPPED | INVERTED},
    [CMP_LEU] = {R_LT, SWAPPED | INVERTED},
    [CMP_GTU] = {R_LE, INVERTED},
    [CMP_GEU] = {R_LT, INVERTED},
    [CMP_NUM] = {R_NUMBERS, 0},
    [CMP_NAN] = {R_NUMBERS, INVERTED},
};
static const Comparison of_integers[] = {
    [CMP_EQ] = {R_EQ, 0},       [CMP_NE] = {R_EQ, INVERTED}, [CMP_LT] = {R_LT, 0}, [CMP_LE] = {R_LE, 0},
    [CMP_GT] = {R_LT, SWAPPED}, [CMP_GE] = {R_LE, SWAPPED},  [CMP_LO] = {R_LT, 0}, [CMP_LS] = {R_LE, 0},
    [CMP_HI] = {R_LT, SWAPPED}, [CMP_HS] = {R_LE, SWAPPED},
};

/* ---- one relation, 32 lanes --------------------------------------------------------------------- */

/* Two loops, of which compilers make vector code: M, as wide as T, is all ones where the condition holds. */
#define RELATION(name, T, M, get, condition)                                                                           \
    INLINE uint32_t name##_mask(const T *restrict a, const T *restrict b) {                                            \
        M yes[WARP];                                                                                                   \
        uint32_t m = 0;                                                                                                \
        for (int i = 0; i < WARP; i++) {                                                                               \
            T x = get(a[i]), y = get(b[i]);                                                                            \
            yes[i] = (M)(-(M)(condition));                                                                             \
        }                                                                                                              \
        for (int i = 0; i < WARP; i++) m |= (uint32_t)yes[i] & 1u << i;                                                \
        return m;                                                                                                      \
    }                                                                                                                  \
    static uint32_t name##_of(const void *a, const void *b) { return name##_mask(a, b); }                              \
    LANE_FN(setp_##name, const T *a = lanes(w, &in->o[in->sub & SWAPPED ? 3 : 2]);                                     \
            const T *b = lanes(w, &in->o[in->sub & SWAPPED ? 2 : 3]); finish_setp(w, in, mask, name##_mask(a, b));)

/* p = result BoolOp c, q = not result BoolOp c. */
INLINE uint32_t combine(unsigned op, uint32_t t, uint32_t c) {
    return op == BOOL_AND ? t & c : op == BOOL_OR ? t | c : op == BOOL_XOR ? t ^ c : t;
}

INLINE void finish_setp(Warp *w, const PtxInst *in, uint32_t mask, uint32_t m) {
    if (in->sub & INVERTED) m = ~m;
    if (in->sub >> BOOL_SHIFT || in->o[1].file) {
        unsigned op = in->sub >> BOOL_SHIFT;
        uint32_t c = op ? pred_get(w, &in->o[4]) : 0;
        if (in->o[1].file) pred_set(w, &in->o[1], mask, combine(op, ~m, c));
        m = combine(op, m, c);
    }
    pred_set(w, &in->o[0], mask, m);
}

#define SAME(x) (x)
#define DEFINE(t, T, M, get)                                                                                           \
    RELATION(eq_##t, T, M, get, x == y)                                                                                \
    RELATION(lt_##t, T, M, get, x < y)                                                                                 \
    RELATION(le_##t, T, M, get, x <= y)
DEFINE(u16, uint16_t, int16_t, SAME)
DEFINE(s16, int16_t, int16_t, SAME)
DEFINE(u32, uint32_t, int32_t, SAME)
DEFINE(s32, int32_t, int32_t, SAME)
DEFINE(u64, uint64_t, int64_t, SAME)
DEFINE(s64, int64_t, int64_t, SAME)
DEFINE(f32, float, int32_t, SAME)
DEFINE(f32_ftz, float, int32_t, flush)
DEFINE(f64, double, int64_t, SAME)
#undef DEFINE
#define DEFINE(t, T, M, get)                                                                                           \
    RELATION(differ_##t, T, M, get, x<y || x> y)                                                                       \
    RELATION(numbers_##t, T, M, get, (x == x) & (y == y))
DEFINE(f32, float, int32_t, SAME)
DEFINE(f32_ftz, float, int32_t, flush)
DEFINE(f64, double, int64_t, SAME)
#undef DEFINE

/* What is compared: the types of the instruction, and .ftz. */
enum { C_U16, C_S16, C_U32, C_S32, C_U64, C_S64, C_F32, C_F32_FTZ, C_F64, C_COUNT };

#define INT_ROW(t)                                                                                                     \
    { PAIR(setp_eq_##t), PAIR(setp_lt_##t), PAIR(setp_le_##t), NO_PAIR, NO_PAIR }
#define FLOAT_ROW(t)                                                                                                   \
    { PAIR(setp_eq_##t), PAIR(setp_lt_##t), PAIR(setp_le_##t), PAIR(setp_differ_##t), PAIR(setp_numbers_##t) }
static const LanePair setp_table[C_COUNT][R_COUNT] = {
    INT_ROW(u16), INT_ROW(s16),   INT_ROW(u32),       INT_ROW(s32),   INT_ROW(u64),
    INT_ROW(s64), FLOAT_ROW(f32), FLOAT_ROW(f32_ftz), FLOAT_ROW(f64),
};

#undef INT_ROW
#undef FLOAT_ROW

static int compared(unsigned type, bool ftz) {
    switch (type) {
    case PT_B16: return C_U16;
    case PT_B32: return C_U32;
    case PT_B64: return C_U64;
    case PT_F32: return ftz ? C_F32_FTZ : C_F32;
    case PT_F64: return C_F64;
    default: return int_index(type); /* in the order of C_U16 ... C_S64 */
    }
}

/* Which operators a type has: bits can be equal or not, lo ls hi hs are for unsigned integers. */
static bool comparison_of(unsigned op, unsigned type, Comparison *c) {
    if (!op) return false;
    if (is_float(type) || is_half(type)) {
        if (op >= CMP_LO && op <= CMP_HS) return false;
        *c = of_floats[op];
        return true;
    }
    if (op > CMP_HS || (ptx_types[type].kind == KIND_BITS && op > CMP_NE)) return false;
    if (op >= CMP_LO && ptx_types[type].kind != KIND_UNSIGNED) return false;
    *c = of_integers[op];
    return true;
}

/* ---- halves ------------------------------------------------------------------------------------- */

enum { HALF_FTZ = 32, HALF_BF16 = 64 }; /* in in->sub */

/* Lane i's half at halves[stride * i]. */
static void read_halves(const uint16_t *halves, int stride, uint8_t sub, float *to) {
    for (int i = 0; i < WARP; i++) {
        uint16_t h = halves[stride * i];
        if (sub & HALF_FTZ && !(h & 0x7c00)) h &= 0x8000;
        to[i] = sub & HALF_BF16 ? bf16_to_float(h) : half_to_float(h);
    }
}

static uint32_t compare_halves(Warp *w, const PtxInst *in, const PtxOperand *x, const PtxOperand *y, int stride,
                               int half) {
    float a[WARP], b[WARP];
    read_halves((const uint16_t *)lanes(w, in->sub & SWAPPED ? y : x) + half, stride, in->sub, a);
    read_halves((const uint16_t *)lanes(w, in->sub & SWAPPED ? x : y) + half, stride, in->sub, b);
    uint32_t m;
    switch (in->vec) {
    case R_EQ: m = eq_f32_mask(a, b); break;
    case R_LT: m = lt_f32_mask(a, b); break;
    case R_LE: m = le_f32_mask(a, b); break;
    case R_DIFFER: m = differ_f32_mask(a, b); break;
    default: m = numbers_f32_mask(a, b); break;
    }
    return in->sub & INVERTED ? ~m : m;
}

static unsigned bool_of(const PtxInst *in) { return in->sub >> BOOL_SHIFT & 3; }

static void setp_half(Warp *w, const PtxInst *in, uint32_t mask) {
    uint32_t m = compare_halves(w, in, &in->o[2], &in->o[3], 1, 0), c = bool_of(in) ? pred_get(w, &in->o[4]) : 0;
    pred_set(w, &in->o[0], mask, combine(bool_of(in), m, c));
}

/* p tells of the lower halves, q, which may be left out, of the upper ones. */
static void setp_half_pair(Warp *w, const PtxInst *in, uint32_t mask) {
    uint32_t low = compare_halves(w, in, &in->o[2], &in->o[3], 2, 0), c = bool_of(in) ? pred_get(w, &in->o[4]) : 0;
    if (in->o[1].file) {
        uint32_t high = compare_halves(w, in, &in->o[2], &in->o[3], 2, 1);
        pred_set(w, &in->o[1], mask, combine(bool_of(in), high, c));
    }
    pred_set(w, &in->o[0], mask, combine(bool_of(in), low, c));
}

static bool is_pair(unsigned type) { return type == PT_F16X2 || type == PT_BF16X2; }

static bool half_sub(const PtxForm *f, PtxInst *in, unsigned type, Comparison c) {
    bool bf16 = type == PT_BF16 || type == PT_BF16X2;
    if (bf16 && has(f, FLAG_FTZ)) return false;
    in->sub |= (uint8_t)((bf16 ? HALF_BF16 : 0) | (has(f, FLAG_FTZ) ? HALF_FTZ : 0));
    in->vec = c.relation;
    return true;
}

/* ---- setp --------------------------------------------------------------------------------------- */

/* A BoolOp comes with its operand, neither without the other. */
static bool takes_bool(const PtxForm *f, PtxInst *in, Comparison c, const PtxOperand *operand) {
    unsigned op = f->field[MF_BOOL];
    in->sub = (uint8_t)(c.how | op << BOOL_SHIFT);
    return (op != 0) == (operand->file != FILE_NONE);
}

bool select_setp(const PtxForm *f, PtxInst *in) {
    unsigned type = f->types[0];
    Comparison c;
    if (f->ntypes != 1 || !only(f, BIT(FTZ), FIELD(CMP) | FIELD(BOOL))) return false;
    if (!comparison_of(f->field[MF_CMP], type, &c) || !takes_bool(f, in, c, &in->o[4])) return false;
    if (is_half(type)) {
        if (!half_sub(f, in, type, c) || (!is_pair(type) && in->o[1].file)) return false;
        in->fn = is_pair(type) ? setp_half_pair : setp_half;
        return true;
    }
    int row = compared(type, has(f, FLAG_FTZ));
    return row >= 0 && (!has(f, FLAG_FTZ) || type == PT_F32) && use(in, setp_table[row][c.relation]);
}

/* ---- set ---------------------------------------------------------------------------------------- */

typedef uint32_t (*MaskFn)(const void *a, const void *b);
#define INT_ROW(t)                                                                                                     \
    { eq_##t##_of, lt_##t##_of, le_##t##_of, NULL, NULL }
#define FLOAT_ROW(t)                                                                                                   \
    { eq_##t##_of, lt_##t##_of, le_##t##_of, differ_##t##_of, numbers_##t##_of }
static const MaskFn mask_table[C_COUNT][R_COUNT] = {
    INT_ROW(u16), INT_ROW(s16),   INT_ROW(u32),       INT_ROW(s32),   INT_ROW(u64),
    INT_ROW(s64), FLOAT_ROW(f32), FLOAT_ROW(f32_ftz), FLOAT_ROW(f64),
};

/* "True" in a register of the type. */
static uint64_t truth(unsigned type) {
    switch (type) {
    case PT_F32: return 0x3f800000;
    case PT_F16: return 0x3c00;
    case PT_BF16: return 0x3f80;
    case PT_F16X2: return 0x3c003c00;
    case PT_BF16X2: return 0x3f803f80;
    default: return UINT64_MAX;
    }
}

/* The lanes of `low` get the lower half of what is true, those of `high` the upper half. */
static void write_truth(Warp *w, const PtxInst *in, uint32_t mask, uint32_t low, uint32_t high) {
    uint64_t yes = truth(in->type[0]);
    EACH_LANE(mask, i, {
        uint64_t keep = (low >> i & 1 ? 0xffff : 0) | (high >> i & 1 ? UINT64_C(0xffffffffffff0000) : 0);
        lane_set(w, &in->o[0], i, yes & keep);
    });
}

static uint32_t with_bool(Warp *w, const PtxInst *in, uint32_t m) {
    return bool_of(in) ? combine(bool_of(in), m, pred_get(w, &in->o[3])) : m;
}

/* in->vec: the comparison's place in mask_table. */
static void set(Warp *w, const PtxInst *in, uint32_t mask) {
    const void *a = lanes(w, &in->o[in->sub & SWAPPED ? 2 : 1]), *b = lanes(w, &in->o[in->sub & SWAPPED ? 1 : 2]);
    uint32_t m = mask_table[in->vec / R_COUNT][in->vec % R_COUNT](a, b);
    m = with_bool(w, in, in->sub & INVERTED ? ~m : m);
    write_truth(w, in, mask, m, m);
}

static void set_half(Warp *w, const PtxInst *in, uint32_t mask) {
    uint32_t m = with_bool(w, in, compare_halves(w, in, &in->o[1], &in->o[2], 1, 0));
    write_truth(w, in, mask, m, m);
}

static void set_half_pair(Warp *w, const PtxInst *in, uint32_t mask) {
    uint32_t low = with_bool(w, in, compare_halves(w, in, &in->o[1], &in->o[2], 2, 0));
    uint32_t high = with_bool(w, in, compare_halves(w, in, &in->o[1], &in->o[2], 2, 1));
    write_truth(w, in, mask, low, high);
}

static bool set_result(unsigned to, unsigned from) {
    bool word = to == PT_U32 || to == PT_S32;
    if (is_pair(from)) return word || to == from;
    if (is_half(from)) return word || to == PT_U16 || to == PT_S16 || to == from;
    return word || to == PT_F32 || to == PT_F16 || to == PT_BF16;
}

bool select_set(const PtxForm *f, PtxInst *in) {
    unsigned from = f->types[1];
    Comparison c;
    if (f->ntypes != 2 || !only(f, BIT(FTZ), FIELD(CMP) | FIELD(BOOL)) || !set_result(f->types[0], from)) return false;
    if (!comparison_of(f->field[MF_CMP], from, &c) || !takes_bool(f, in, c, &in->o[3])) return false;
    if (is_half(from)) {
        in->fn = is_pair(from) ? set_half_pair : set_half;
        return half_sub(f, in, from, c);
    }
    int row = compared(from, has(f, FLAG_FTZ));
    if (row < 0 || (has(f, FLAG_FTZ) && (from != PT_F32 || f->types[0] == PT_BF16))) return false;
    in->vec = (uint8_t)(row * R_COUNT + c.relation);
    in->fn = set;
    return true;
}

/* ---- selp, slct ---------------------------------------------------------------------------------- */

#define DEFINE(t, T)                                                                                                   \
    LANE_FN(selp_##t, T *d = lanes(w, &in->o[0]); const T *a = lanes(w, &in->o[1]), *b = lanes(w, &in->o[2]);          \
            uint32_t c = pred_get(w, &in->o[3]); SET_LANES(mask, T, d, i, c >> i & 1 ? a[i] : b[i]);)                  \
    TERNARY(slct_s32_##t, T, T, T, int32_t, z >= 0 ? x : y)                                                            \
    TERNARY(slct_f32_##t, T, T, T, float, z >= 0 ? x : y)                                                              \
    TERNARY(slct_ftz_f32_##t, T, T, T, float, flush(z) >= 0 ? x : y)
DEFINE(16, uint16_t)
DEFINE(32, uint32_t)
DEFINE(64, uint64_t)
#undef DEFINE

static int size_index(unsigned type) {
    unsigned kind = ptx_types[type].kind;
    if (kind == KIND_PRED || kind == KIND_PACKED || is_half(type) || type == PT_TF32) return -1;
    return ptx_types[type].bytes == 2 ? 0 : ptx_types[type].bytes == 4 ? 1 : ptx_types[type].bytes == 8 ? 2 : -1;
}

bool select_selp(const PtxForm *f, PtxInst *in) {
    static const LanePair table[] = {PAIR(selp_16), PAIR(selp_32), PAIR(selp_64)};
    int size = size_index(f->types[0]);
    return f->ntypes == 1 && size >= 0 && only(f, 0, 0) && use(in, table[size]);
}

bool select_slct(const PtxForm *f, PtxInst *in) {
    static const LanePair table[3][3] = {{PAIR(slct_s32_16), PAIR(slct_s32_32), PAIR(slct_s32_64)},
                                         {PAIR(slct_f32_16), PAIR(slct_f32_32), PAIR(slct_f32_64)},
                                         {PAIR(slct_ftz_f32_16), PAIR(slct_ftz_f32_32), PAIR(slct_ftz_f32_64)}};
    int size = size_index(f->types[0]), by;
    if (f->ntypes != 2 || size < 0 || !only(f, BIT(FTZ), 0)) return false;
    if (f->types[1] == PT_S32 && !has(f, FLAG_FTZ)) by = 0;
    else if (f->types[1] == PT_F32) by = 1 + has(f, FLAG_FTZ);
    else return false;
    return use(in, table[by][size]);
}
