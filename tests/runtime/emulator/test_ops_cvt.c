/* test_ops_cvt.c - conversions: every pair of types, every rounding, registers wider than the type. */
#include "exactfloat.h"
#include "opkit.h"

#include <fenv.h>
#include <math.h>

typedef struct Type {
    const char *name;
    unsigned bits;
    bool is_signed;
    const Small *small;
} Type; /* small: floats but f64 */

static const Type ints[] = {{"u8", 8, false, NULL},   {"s8", 8, true, NULL},    {"u16", 16, false, NULL},
                            {"s16", 16, true, NULL},  {"u32", 32, false, NULL}, {"s32", 32, true, NULL},
                            {"u64", 64, false, NULL}, {"s64", 64, true, NULL}};
static const Type floats[] = {{"f16", 16, false, &small_f16},
                              {"bf16", 16, false, &small_bf16},
                              {"f32", 32, false, &small_f32},
                              {"f64", 64, false, NULL}};
enum { INTS = 8, FLOATS = 4 };
static const struct {
    const char *name;
    Way way;
    int mode;
} roundings[] = {{".rn", TO_NEAREST, FE_TONEAREST},
                 {".rz", TO_ZERO, FE_TOWARDZERO},
                 {".rm", DOWN, FE_DOWNWARD},
                 {".rp", UP, FE_UPWARD}};

enum { SAT = 1, FTZ = 2, RELU = 4, FINITE = 8 };

/* op->mode: the two types and the rounding; op->flags. */
#define MODE(to, from, rounding) ((unsigned)(to) | (unsigned)(from) << 8 | (unsigned)(rounding) << 16)
#define TO (op->mode & 255)
#define FROM (op->mode >> 8 & 255)
#define ROUNDING (op->mode >> 16)

static Inputs integers, numbers[FLOATS];

static Exact128 as_integer(const Type *t, uint64_t x) {
    uint64_t low = t->bits == 64 ? x : x & ((UINT64_C(1) << t->bits) - 1);
    return t->is_signed ? (Exact128)(int64_t)(low << (64 - t->bits)) >> (64 - t->bits) : (Exact128)low;
}

static uint64_t limited(const Type *t, Exact128 x) {
    Exact128 least = t->is_signed ? -((Exact128)1 << (t->bits - 1)) : 0,
             most = ((Exact128)1 << (t->bits - t->is_signed)) - 1;
    return (uint64_t)(x < least ? least : x > most ? most : x);
}

/* ---- integers ------------------------------------------------------------------------------------- */

/* The result in a register of op->flags >> 8 bits. */
static uint64_t extended(const Op *op, uint64_t r) {
    uint64_t whole = (uint64_t)as_integer(&ints[TO], r);
    unsigned width = op->flags >> 8;
    return width == 64 || !width ? whole : whole & ((UINT64_C(1) << width) - 1);
}
static uint64_t integer_to_integer(const Op *op, const uint64_t *x) {
    Exact128 n = as_integer(&ints[FROM], x[0]);
    return extended(op, op->flags & SAT ? limited(&ints[TO], n) : (uint64_t)n);
}

static bool limits(const Type *to, const Type *from) {
    return to->bits - to->is_signed < from->bits - from->is_signed ||
           (from->is_signed && (!to->is_signed || to->bits < from->bits));
}

static void between_integers(void) {
    char text[64], types[64];
    for (int to = 0; to < INTS; to++)
        for (int from = 0; from < INTS; from++) {
            unsigned d = ints[to].bits < 16 ? 16 : ints[to].bits, a = ints[from].bits < 16 ? 16 : ints[from].bits;
            for (unsigned sat = 0; sat < 2; sat++) {
                snprintf(text, sizeof text, "cvt%s.%s.%s %%d, %%a;", sat ? ".sat" : "", ints[to].name, ints[from].name);
                for (unsigned wide_d = d; wide_d <= 64; wide_d *= 2)
                    for (unsigned wide_a = a; wide_a <= 64; wide_a *= 2) {
                        snprintf(types, sizeof types, "b%u b%u", wide_d, wide_a);
                        if (sat && !limits(&ints[to], &ints[from])) op_refused(text, types);
                        else
                            op_run(&(Op){.text = text,
                                         .types = types,
                                         .oracle = integer_to_integer,
                                         .mode = MODE(to, from, 0),
                                         .flags = sat | wide_d << 8},
                                   &integers);
                    }
            }
        }
}

/* ---- integers and floats --------------------------------------------------------------------------- */

static uint32_t bits32(float x) {
    uint32_t b;
    memcpy(&b, &x, 4);
    return b;
}
static uint64_t bits64(double x) {
    uint64_t b;
    memcpy(&b, &x, 8);
    return b;
}
static double of_bits(uint64_t b) {
    double x;
    memcpy(&x, &b, 8);
    return x;
}

static uint64_t integer_to_float(const Op *op, const uint64_t *x) {
    Exact128 n = as_integer(&ints[FROM], x[0]);
    if (op->flags & SAT) n = n < 0 ? 0 : n > 1 ? 1 : n;
    if (floats[TO].small)
        return round_small(floats[TO].small, (Number){IS_NUMBER, n < 0, n, 0}, roundings[ROUNDING].way, false);
    if (!n) return 0; /* compilers make -0 of it when rounding down */
    fesetround(roundings[ROUNDING].mode);
    volatile int64_t low = (int64_t)n;
    volatile uint64_t high = (uint64_t)n;
    double r = ints[FROM].is_signed ? (double)low : (double)high;
    fesetround(FE_TONEAREST);
    return bits64(r);
}

static Number number(const Op *op, const uint64_t *x) {
    const Small *s = floats[FROM].small;
    if (!s) return number_of_double(of_bits(x[0]));
    Number n = number_of(s, (uint32_t)x[0]);
    bool subnormal = !(x[0] >> s->fraction_bits & ((1u << s->exponent_bits) - 1));
    if (op->flags & FTZ && s == &small_f32 && subnormal) n.value = 0;
    return n;
}

/* Rounds to an integer, exactly. */
static Exact128 whole(Number n, Way way) {
    Exact128 m = n.value;
    if (n.exponent >= 0)
        return n.exponent > 70 && m ? (m > 0 ? 1 : -1) * ((Exact128)1 << 100) : m * ((Exact128)1 << n.exponent);
    if (n.exponent < -100) return m == 0 ? 0 : way == UP && m > 0 ? 1 : way == DOWN && m < 0 ? -1 : 0;
    Exact128 unit = (Exact128)1 << -n.exponent, down = (m >= 0 ? m : m - unit + 1) / unit, rest = m - down * unit;
    switch (way) {
    case DOWN: return down;
    case UP: return down + (rest != 0);
    case TO_ZERO: return down + (m < 0 && rest != 0);
    default: return down + (2 * rest > unit || (2 * rest == unit && down & 1));
    }
}

static uint64_t float_to_integer(const Op *op, const uint64_t *x) {
    const Type *t = &ints[TO];
    Number n = number(op, x);
    if (n.kind == IS_NAN) return extended(op, t->bits == 64 || !floats[FROM].small ? UINT64_C(1) << (t->bits - 1) : 0);
    Exact128 m =
        n.kind == IS_INFINITE ? (n.negative ? -1 : 1) * ((Exact128)1 << 100) : whole(n, roundings[ROUNDING].way);
    return extended(op, limited(t, m));
}

static const char *register_of(unsigned bits) { return bits <= 16 ? "b16" : bits == 32 ? "b32" : "b64"; }

static void between_integers_and_floats(void) {
    char text[64], types[64];
    for (int i = 0; i < INTS; i++)
        for (int f = 0; f < FLOATS; f++)
            for (int r = 0; r < 4; r++)
                for (unsigned flags = 0; flags < 4; flags++) {
                    if (flags & SAT && f == 1) continue; /* bf16 has no .sat */
                    if (flags & FTZ && f != 2) continue;
                    const char *ftz = flags & FTZ ? ".ftz" : "", *sat = flags & SAT ? ".sat" : "";
                    unsigned wide = (ints[i].bits < 16 ? 16 : ints[i].bits) << 8;
                    snprintf(text, sizeof text, "cvt%s%s%s.%s.%s %%d, %%a;", roundings[r].name, ftz, sat,
                             floats[f].name, ints[i].name);
                    snprintf(types, sizeof types, "%s %s", register_of(floats[f].bits), register_of(ints[i].bits));
                    op_run(&(Op){.text = text,
                                 .types = types,
                                 .oracle = integer_to_float,
                                 .mode = MODE(f, i, r),
                                 .flags = flags},
                           &integers);
                    snprintf(text, sizeof text, "cvt%si%s%s.%s.%s %%d, %%a;", roundings[r].name, ftz, sat, ints[i].name,
                             floats[f].name);
                    snprintf(types, sizeof types, "%s %s", register_of(ints[i].bits), register_of(floats[f].bits));
                    op_run(&(Op){.text = text,
                                 .types = types,
                                 .oracle = float_to_integer,
                                 .mode = MODE(i, f, r),
                                 .flags = flags | wide},
                           &numbers[f]);
                }
}

/* ---- floats ----------------------------------------------------------------------------------------- */

static uint64_t flushed32(const Op *op, uint64_t r) {
    return op->flags & FTZ && !(r & 0x7f800000) ? r & 0x80000000 : r;
}

static Number clamped(const Op *op, Number n) {
    Number zero = {IS_NUMBER, false, 0, 0}, one = {IS_NUMBER, false, 1, 0};
    if (op->flags & RELU && n.kind != IS_NAN && n.negative) return zero;
    if (!(op->flags & SAT)) return n;
    if (n.kind == IS_NAN || n.negative) return zero;
    if (n.kind == IS_INFINITE || whole(n, DOWN) >= 1) return one;
    return n;
}

/* To a format narrower than f64. */
static uint64_t float_to_float(const Op *op, const uint64_t *x) {
    Number n = clamped(op, number(op, x));
    uint64_t r = round_small(floats[TO].small, n, roundings[ROUNDING].way, op->flags & FINITE);
    return TO == 2 ? flushed32(op, r) : r;
}

static double wide_value(const Op *op, const uint64_t *x) {
    Number n = clamped(op, number(op, x));
    if (n.kind == IS_NAN) return (double)NAN;
    double m = n.kind == IS_INFINITE ? (double)INFINITY : ldexp((double)(n.value < 0 ? -n.value : n.value), n.exponent);
    return n.negative ? -m : m;
}
static uint64_t float_to_double(const Op *op, const uint64_t *x) { return bits64(wide_value(op, x)); }
/* The integral value of a float, in its own type; also with .sat. */
static uint64_t float_to_whole(const Op *op, const uint64_t *x) {
    fesetround(roundings[ROUNDING].mode);
    volatile double v = wide_value(op, x);
    double r = nearbyint(v);
    fesetround(FE_TONEAREST);
    if (!floats[TO].small) return bits64(r);
    return round_small(floats[TO].small, isnan(r) ? (Number){IS_NAN, false, 0, 0} : number_of_double(r), TO_NEAREST,
                       false);
}
static bool both_nan(const Op *op, uint64_t got, uint64_t wanted) {
    if (TO != 3) return false;
    return isnan(of_bits(got)) && isnan(of_bits(wanted));
}
/* A NaN of bf16 is shifted: any NaN. */
static bool nan32(const Op *op, uint64_t got, uint64_t wanted) {
    (void)op;
    return (got & 0x7fffffff) > 0x7f800000 && (wanted & 0x7fffffff) > 0x7f800000;
}

static void between_floats(void) {
    char text[64], types[64];
    for (int to = 0; to < FLOATS; to++)
        for (int from = 0; from < FLOATS; from++)
            for (unsigned flags = 0; flags < 4; flags++)
                for (int r = 0; r < 4; r++) {
                    bool narrows = floats[to].bits <= floats[from].bits && to != from, same = to == from;
                    if (flags & SAT && (to == 1 || from == 1)) continue;
                    if (flags & FTZ && to != 2 && from != 2) continue;
                    if (!narrows && !same && r) continue;
                    Op op = {.text = text, .types = types, .mode = MODE(to, from, r), .flags = flags, .same = both_nan};
                    op.oracle = same ? float_to_whole : to == 3 ? float_to_double : float_to_float;
                    if (to == 2 && from == 1) op.same = nan32;
                    snprintf(text, sizeof text, "cvt%s%s%s%s.%s.%s %%d, %%a;", narrows || same ? roundings[r].name : "",
                             same ? "i" : "", flags & FTZ ? ".ftz" : "", flags & SAT ? ".sat" : "", floats[to].name,
                             floats[from].name);
                    snprintf(types, sizeof types, "%s %s", register_of(floats[to].bits),
                             register_of(floats[from].bits));
                    op_run(&op, &numbers[from]);
                }
}

/* ---- narrow formats --------------------------------------------------------------------------------- */

static const Small *const narrow[] = {&small_f16, &small_bf16, &small_e4m3, &small_e5m2, &small_tf32};
static const char *const narrow_names[] = {"f16x2", "bf16x2", "e4m3x2", "e5m2x2", "tf32"};
static const unsigned narrow_bits[] = {16, 16, 8, 8, 0};

static uint32_t element(const Op *op, Number n) {
    return round_small(narrow[TO], clamped(op, n), ROUNDING == 4 ? TIES_AWAY : roundings[ROUNDING].way,
                       op->flags & FINITE);
}
static uint64_t pair_of_f32(const Op *op, const uint64_t *x) {
    return (uint64_t)element(op, number_of(&small_f32, (uint32_t)x[0])) << narrow_bits[TO] |
           element(op, number_of(&small_f32, (uint32_t)x[1]));
}
static uint64_t pair_of_pair(const Op *op, const uint64_t *x) {
    unsigned bits = narrow_bits[FROM];
    uint32_t low = (uint32_t)x[0] & ((1u << bits) - 1), high = (uint32_t)x[0] >> bits & ((1u << bits) - 1);
    return (uint64_t)element(op, number_of(narrow[FROM], high)) << narrow_bits[TO] |
           element(op, number_of(narrow[FROM], low));
}
static uint64_t tf32(const Op *op, const uint64_t *x) {
    Number n = number_of(&small_f32, (uint32_t)x[0]);
    return n.kind == IS_NAN ? 0x7fffffff : (uint64_t)element(op, n) << 13;
}
static uint64_t one_of_f32(const Op *op, const uint64_t *x) {
    return element(op, number_of(&small_f32, (uint32_t)x[0]));
}

static void narrow_formats(void) {
    char text[80];
    for (unsigned relu = 0; relu < 2; relu++) {
        const char *zero = relu ? ".relu" : "";
        unsigned flags = relu ? RELU : 0;
        for (int to = 0; to < 2; to++)
            for (int r = 0; r < 2; r++)
                for (unsigned finite = 0; finite < 2; finite++) {
                    const char *most = finite ? ".satfinite" : "";
                    unsigned all = flags | (finite ? FINITE : 0);
                    snprintf(text, sizeof text, "cvt%s%s%s.%s.f32 %%d, %%a, %%b;", roundings[r].name, zero, most,
                             narrow_names[to]);
                    op_run(&(Op){.text = text,
                                 .types = "b32 b32 b32",
                                 .oracle = pair_of_f32,
                                 .mode = MODE(to, 2, r),
                                 .flags = all},
                           &numbers[2]);
                    snprintf(text, sizeof text, "cvt%s%s%s.%s.f32 %%d, %%a;", roundings[r].name, zero, most,
                             floats[to].name);
                    op_run(&(Op){.text = text,
                                 .types = "b16 b32",
                                 .oracle = one_of_f32,
                                 .mode = MODE(to, 2, r),
                                 .flags = all},
                           &numbers[2]);
                }
        for (int to = 2; to < 4; to++) {
            snprintf(text, sizeof text, "cvt.rn.satfinite%s.%s.f32 %%d, %%a, %%b;", zero, narrow_names[to]);
            op_run(&(Op){.text = text,
                         .types = "b16 b32 b32",
                         .oracle = pair_of_f32,
                         .mode = MODE(to, 2, 0),
                         .flags = flags | FINITE},
                   &numbers[2]);
            snprintf(text, sizeof text, "cvt.rn.satfinite%s.%s.f16x2 %%d, %%a;", zero, narrow_names[to]);
            op_run(&(Op){.text = text,
                         .types = "b16 b32",
                         .oracle = pair_of_pair,
                         .mode = MODE(to, 0, 0),
                         .flags = flags | FINITE},
                   &numbers[0]);
            snprintf(text, sizeof text, "cvt.rn%s.f16x2.%s %%d, %%a;", zero, narrow_names[to]);
            op_run(
                &(Op){.text = text, .types = "b32 b16", .oracle = pair_of_pair, .mode = MODE(0, to, 0), .flags = flags},
                &numbers[0]);
        }
        for (int r = 0; r < 2; r++) {
            snprintf(text, sizeof text, "cvt%s%s.tf32.f32 %%d, %%a;", roundings[r].name, zero);
            op_run(&(Op){.text = text, .types = "b32 b32", .oracle = tf32, .mode = MODE(4, 2, r), .flags = flags},
                   &numbers[2]);
        }
    }
    op_run(&(Op){.text = "cvt.rna.tf32.f32 %d, %a;", .types = "b32 b32", .oracle = tf32, .mode = MODE(4, 2, 4)},
           &numbers[2]);
    op_run(&(Op){.text = "cvt.rna.satfinite.tf32.f32 %d, %a;",
                 .types = "b32 b32",
                 .oracle = tf32,
                 .mode = MODE(4, 2, 4),
                 .flags = FINITE},
           &numbers[2]);
}

/* op->mode: the type; op->flags: whether there is a third source. */
static uint64_t packed_integers(const Op *op, const uint64_t *x) {
    const Type *t = &ints[TO], *word = &ints[5];
    uint64_t mask = (UINT64_C(1) << t->bits) - 1;
    uint64_t high = limited(t, as_integer(word, x[0])) & mask, low = limited(t, as_integer(word, x[1])) & mask;
    return (op->flags ? x[2] << 2 * t->bits : 0) | high << t->bits | low;
}

static void packed(void) {
    static const Op ops[] = {
        {"cvt.pack.sat.u16.s32 %d, %a, %b;", "b32 b32 b32", packed_integers, 2, 0, NULL},
        {"cvt.pack.sat.s16.s32 %d, %a, %b;", "b32 b32 b32", packed_integers, 3, 0, NULL},
        {"cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c;", "b32 b32 b32 b32", packed_integers, 0, 1, NULL},
        {"cvt.pack.sat.s8.s32.b32 %d, %a, %b, %c;", "b32 b32 b32 b32", packed_integers, 1, 1, NULL},
    };
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) op_run(&ops[k], &integers);
}

static void forms_that_do_not_exist(void) {
    static const char *const none[][2] = {
        {"cvt.f32.s32 %d, %a;", "b32 b32"},
        {"cvt.s32.f32 %d, %a;", "b32 b32"},
        {"cvt.rn.s32.f32 %d, %a;", "b32 b32"},
        {"cvt.rni.f32.s32 %d, %a;", "b32 b32"},
        {"cvt.f32.f64 %d, %a;", "b32 b64"},
        {"cvt.rn.f64.f32 %d, %a;", "b64 b32"},
        {"cvt.rn.u16.u32 %d, %a;", "b16 b32"},
        {"cvt.ftz.f64.f16 %d, %a;", "b64 b16"},
        {"cvt.rm.f16x2.f32 %d, %a, %b;", "b32 b32 b32"},
        {"cvt.rn.e4m3x2.f32 %d, %a, %b;", "b16 b32 b32"},
        {"cvt.u32.b32 %d, %a;", "b32 b32"},
        {"cvt.rna.f16.f32 %d, %a;", "b16 b32"},
        {"cvt.pack.u16.s32 %d, %a, %b;", "b32 b32 b32"},
        {"cvt.u32.u64 %d, %a;", "b32 b32"},
    };
    for (size_t k = 0; k < sizeof none / sizeof *none; k++) op_refused(none[k][0], none[k][1]);
}

/* Numbers near halfway points and limits of the narrower formats. */
static void add_floats(void) {
    static const int limits_at[] = {-1074, -150, -149, -134, -133, -127, -126, -25, -24, -17, -16,
                                    -15,   -14,  -10,  -9,   -7,   -6,   -1,   0,   1,   7,   8,
                                    9,     15,   16,   31,   32,   63,   64,   127, 128, 1023};
    for (uint64_t h = 0; h < 65536; h++) {
        inputs_add(&numbers[0], h | (h * 40503 & 0xffff) << 16, 0, 0);
        inputs_add(&numbers[1], h, 0, 0);
    }
    for (size_t k = 0; k < n_special_f32; k++)
        inputs_add(&numbers[2], special_f32[k], special_f32[(k * 7 + 5) % n_special_f32], 0);
    for (size_t k = 0; k < n_special_f64; k++) inputs_add(&numbers[3], special_f64[k], 0, 0);
    for (int k = 0; k < 20000; k++) {
        uint64_t r = random_bits();
        double unit = ldexp(1, limits_at[r % (sizeof limits_at / sizeof *limits_at)]),
               digits = ldexp(1, (int)(r >> 8 & 31));
        double x = unit * (1 + floor((double)(r >> 40) / 0x1p24 * digits * 2) / digits / 2),
               y = k % 3 ? x : nextafter(x, k % 2 ? 0 : 1e308);
        if (r >> 13 & 1) y = -y;
        inputs_add(&numbers[3], bits64(y), 0, 0);
        inputs_add(&numbers[2], bits32((float)y), bits32((float)-x * 3), 0);
    }
    inputs_random(&numbers[2], 4000);
    inputs_random(&numbers[3], 4000);
}

int main(void) {
    for (size_t k = 0; k < n_special_ints; k++)
        for (int64_t d = -2; d <= 2; d++)
            inputs_add(&integers, special_ints[k] + (uint64_t)d, special_ints[(k * 5 + 3) % n_special_ints], k);
    for (int k = 0; k < 1000; k++) { /* few digits, then a half or nearly one */
        uint64_t r = random_bits(), n = r >> (r & 63);
        unsigned cut = (unsigned)(r >> 6 & 31);
        inputs_add(&integers, n, r, 0);
        inputs_add(&integers, (n >> cut << cut) + (UINT64_C(1) << cut >> 1) + (r >> 12) % 3 - 1, ~r, 0);
    }
    add_floats();
    between_integers();
    between_integers_and_floats();
    between_floats();
    narrow_formats();
    packed();
    forms_that_do_not_exist();
    inputs_free(&integers);
    for (int k = 0; k < FLOATS; k++) inputs_free(&numbers[k]);
    op_end();
    return failures != 0;
}
