/* test_ops_float.c - f32 and f64 instructions against the host's arithmetic in its own rounding modes, and approximate
 * functions against bounds. */
#include "opkit.h"

#include <fenv.h>
#include <math.h>

static Inputs singles, doubles;

static uint32_t bits32(float x) {
    uint32_t b;
    memcpy(&b, &x, 4);
    return b;
}
static float single(uint64_t b) {
    uint32_t low = (uint32_t)b;
    float x;
    memcpy(&x, &low, 4);
    return x;
}
static uint64_t bits64(double x) {
    uint64_t b;
    memcpy(&b, &x, 8);
    return b;
}
static double wide(uint64_t b) {
    double x;
    memcpy(&x, &b, 8);
    return x;
}

/* ---- arithmetic ----------------------------------------------------------------------------------- */

enum { FTZ = 1, SAT = 2 };
enum { ADD, SUB, MUL, FMA, DIV, RCP, SQRT };
static const struct {
    const char *name;
    int mode;
} roundings[] = {{".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};

static float flushed(float x) { return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x; }

/* op->mode: the operation, and the rounding from bit 8. volatile: the compiler doesn't know of roundings. */
static float single_result(unsigned operation, volatile float x, volatile float y, volatile float z) {
    volatile float one = 1, r;
    switch (operation) {
    case ADD: r = x + y; break;
    case SUB: r = x - y; break;
    case MUL: r = x * y; break;
    case FMA: r = fmaf(x, y, z); break;
    case DIV: r = x / y; break;
    case RCP: r = one / x; break;
    default: r = sqrtf(x); break;
    }
    return r;
}
static double double_result(unsigned operation, volatile double x, volatile double y, volatile double z) {
    volatile double one = 1, r;
    switch (operation) {
    case ADD: r = x + y; break;
    case SUB: r = x - y; break;
    case MUL: r = x * y; break;
    case FMA: r = fma(x, y, z); break;
    case DIV: r = x / y; break;
    case RCP: r = one / x; break;
    default: r = sqrt(x); break;
    }
    return r;
}

static uint64_t rounded_single(const Op *op, const uint64_t *x) {
    float a = single(x[0]), b = single(x[1]), c = single(x[2]), r;
    if (op->flags & FTZ) a = flushed(a), b = flushed(b), c = flushed(c);
    fesetround(roundings[op->mode >> 8].mode);
    r = single_result(op->mode & 255, a, b, c);
    fesetround(FE_TONEAREST);
    if (op->flags & FTZ) r = flushed(r);
    if (op->flags & SAT) r = isnan(r) || r <= 0 ? 0 : r > 1 ? 1 : r;
    return isnan(r) ? 0x7fffffff : bits32(r);
}
static uint64_t rounded_double(const Op *op, const uint64_t *x) {
    fesetround(roundings[op->mode >> 8].mode);
    double r = double_result(op->mode & 255, wide(x[0]), wide(x[1]), wide(x[2]));
    fesetround(FE_TONEAREST);
    return bits64(r);
}
static bool both_nan(const Op *op, uint64_t got, uint64_t wanted) {
    (void)op;
    return isnan(wide(got)) && isnan(wide(wanted));
}

static const struct {
    const char *name, *operands;
    unsigned operation, sources;
    bool sat, f32x2;
} arithmetic[] = {
    {"add", "%d, %a, %b", ADD, 2, true, true},      {"sub", "%d, %a, %b", SUB, 2, true, true},
    {"mul", "%d, %a, %b", MUL, 2, true, true},      {"fma", "%d, %a, %b, %c", FMA, 3, true, true},
    {"mad", "%d, %a, %b, %c", FMA, 3, true, false}, {"div", "%d, %a, %b", DIV, 2, false, false},
    {"rcp", "%d, %a", RCP, 1, false, false},        {"sqrt", "%d, %a", SQRT, 1, false, false},
};

static const char *repeated(char *room, const char *type, unsigned sources) {
    room[0] = '\0';
    for (unsigned k = 0; k <= sources; k++) strcat(strcat(room, k ? " " : ""), type);
    return room;
}

static void every_rounding(void) {
    char text[64], all[64];
    for (size_t k = 0; k < sizeof arithmetic / sizeof *arithmetic; k++)
        for (unsigned r = 0; r < 4; r++) {
            for (unsigned flags = 0; flags < (arithmetic[k].sat ? 4 : 2); flags++) {
                snprintf(text, sizeof text, "%s%s%s%s.f32 %s;", arithmetic[k].name, roundings[r].name,
                         flags & FTZ ? ".ftz" : "", flags & SAT ? ".sat" : "", arithmetic[k].operands);
                op_run(&(Op){.text = text,
                             .types = repeated(all, "f32", arithmetic[k].sources),
                             .oracle = rounded_single,
                             .mode = arithmetic[k].operation | r << 8,
                             .flags = flags},
                       &singles);
            }
            snprintf(text, sizeof text, "%s%s.f64 %s;", arithmetic[k].name, roundings[r].name, arithmetic[k].operands);
            op_run(&(Op){.text = text,
                         .types = repeated(all, "f64", arithmetic[k].sources),
                         .oracle = rounded_double,
                         .mode = arithmetic[k].operation | r << 8,
                         .same = both_nan},
                   &doubles);
        }
}

/* Two numbers a register: of the inputs' lower halves, and of their halves in another order. */
static uint64_t rounded_pair(const Op *op, const uint64_t *x) {
    uint64_t high[3] = {x[0] >> 32, x[1] >> 32, x[2] >> 32};
    return rounded_single(op, x) | rounded_single(op, high) << 32;
}
static void pairs(void) {
    char text[64], all[64];
    Inputs both = {NULL, 0, 0};
    for (size_t k = 0; k + 7 < singles.n; k += 3) {
        const uint64_t *x = singles.x[k], *y = singles.x[k + 7];
        inputs_add(&both, (uint32_t)x[0] | y[1] << 32, (uint32_t)x[1] | y[0] << 32, (uint32_t)x[2] | y[2] << 32);
    }
    for (size_t k = 0; k < 4; k++)
        for (unsigned r = 0; r < 8; r++) {
            snprintf(text, sizeof text, "%s%s%s.f32x2 %s;", arithmetic[k].name, roundings[r & 3].name,
                     r > 3 ? ".ftz" : "", arithmetic[k].operands);
            op_run(&(Op){.text = text,
                         .types = repeated(all, "f32x2", arithmetic[k].sources),
                         .oracle = rounded_pair,
                         .mode = arithmetic[k].operation | (r & 3) << 8,
                         .flags = r > 3 ? FTZ : 0},
                   &both);
        }
    inputs_free(&both);
}

/* ---- without rounding ------------------------------------------------------------------------------ */

#define ORACLE(name, expression)                                                                                       \
    static uint64_t name(const Op *op, const uint64_t *x) {                                                            \
        float a = op->flags & FTZ ? flushed(single(x[0])) : single(x[0]),                                              \
              b = op->flags & FTZ ? flushed(single(x[1])) : single(x[1]);                                              \
        (void)a, (void)b;                                                                                              \
        return (uint64_t)(expression);                                                                                 \
    }
ORACLE(absolute, bits32(a) & 0x7fffffff)
ORACLE(negated, bits32(a) ^ 0x80000000)
ORACLE(with_sign, (x[0] & 0x80000000) | (x[1] & 0x7fffffff))
ORACLE(absolute64, x[0] & INT64_MAX)
ORACLE(negated64, x[0] ^ UINT64_C(1) << 63)
ORACLE(with_sign64, (x[0] & UINT64_C(1) << 63) | (x[1] & INT64_MAX))

/* min and max: op->mode 1 is max; flags: .ftz, .NaN, .xorsign.abs, three operands. */
enum { NANS = 4, XORSIGN = 8, THREE = 16, ABS = 32 };
static uint32_t pick(uint32_t p, uint32_t q, bool max, unsigned flags) {
    uint32_t sign = (p ^ q) & 0x80000000;
    if (flags & (XORSIGN | ABS)) p &= 0x7fffffff, q &= 0x7fffffff;
    bool p_nan = isnan(single(p)), q_nan = isnan(single(q));
    if ((p_nan && q_nan) || (flags & NANS && (p_nan || q_nan))) return 0x7fffffff;
    uint32_t r;
    if (p_nan) r = q;
    else if (q_nan) r = p;
    else { /* as numbers of sign and magnitude, which tells zeros apart */
        int64_t m = p & 0x80000000 ? -(int64_t)(p & 0x7fffffff) - 1 : p,
                n = q & 0x80000000 ? -(int64_t)(q & 0x7fffffff) - 1 : q;
        r = (max ? m > n : m < n) ? p : q;
    }
    return flags & XORSIGN ? (r & 0x7fffffff) | sign : r;
}
static uint64_t extreme(const Op *op, const uint64_t *x) {
    uint32_t v[3];
    for (int k = 0; k < 3; k++) v[k] = bits32(op->flags & FTZ ? flushed(single(x[k])) : single(x[k]));
    uint32_t r = pick(v[0], v[1], op->mode, op->flags);
    return op->flags & THREE ? pick(r, v[2], op->mode, op->flags) : r;
}
static uint64_t extreme64(const Op *op, const uint64_t *x) {
    double a = wide(x[0]), b = wide(x[1]);
    if (isnan(a)) return x[1];
    if (isnan(b)) return x[0];
    if (a == b) return op->mode ? x[0] & x[1] : x[0] | x[1];
    return (op->mode ? a > b : a < b) ? x[0] : x[1];
}

static void signs_and_extremes(void) {
    static const Op ops[] = {
        {"abs.f32 %d, %a;", "f32 f32", absolute, 0, 0, NULL},
        {"abs.ftz.f32 %d, %a;", "f32 f32", absolute, 0, FTZ, NULL},
        {"neg.f32 %d, %a;", "f32 f32", negated, 0, 0, NULL},
        {"neg.ftz.f32 %d, %a;", "f32 f32", negated, 0, FTZ, NULL},
        {"copysign.f32 %d, %a, %b;", "f32 f32 f32", with_sign, 0, 0, NULL},
        {"min.f32 %d, %a, %b;", "f32 f32 f32", extreme, 0, 0, NULL},
        {"max.f32 %d, %a, %b;", "f32 f32 f32", extreme, 1, 0, NULL},
        {"min.ftz.f32 %d, %a, %b;", "f32 f32 f32", extreme, 0, FTZ, NULL},
        {"max.ftz.f32 %d, %a, %b;", "f32 f32 f32", extreme, 1, FTZ, NULL},
        {"min.NaN.f32 %d, %a, %b;", "f32 f32 f32", extreme, 0, NANS, NULL},
        {"max.ftz.NaN.f32 %d, %a, %b;", "f32 f32 f32", extreme, 1, NANS | FTZ, NULL},
        {"min.xorsign.abs.f32 %d, %a, %b;", "f32 f32 f32", extreme, 0, XORSIGN, NULL},
        {"max.NaN.xorsign.abs.f32 %d, %a, %b;", "f32 f32 f32", extreme, 1, XORSIGN | NANS, NULL},
        {"min.f32 %d, %a, %b, %c;", "f32 f32 f32 f32", extreme, 0, THREE, NULL},
        {"max.ftz.NaN.abs.f32 %d, %a, %b, %c;", "f32 f32 f32 f32", extreme, 1, THREE | ABS | FTZ | NANS, NULL},
    };
    static const Op ops64[] = {
        {"abs.f64 %d, %a;", "f64 f64", absolute64, 0, 0, NULL},
        {"neg.f64 %d, %a;", "f64 f64", negated64, 0, 0, NULL},
        {"copysign.f64 %d, %a, %b;", "f64 f64 f64", with_sign64, 0, 0, NULL},
        {"min.f64 %d, %a, %b;", "f64 f64 f64", extreme64, 0, 0, both_nan},
        {"max.f64 %d, %a, %b;", "f64 f64 f64", extreme64, 1, 0, both_nan},
    };
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) op_run(&ops[k], &singles);
    for (size_t k = 0; k < sizeof ops64 / sizeof *ops64; k++) op_run(&ops64[k], &doubles);
}

/* op->mode: the class. */
static uint64_t in_class(int kind, unsigned class) {
    static const unsigned classes[6] = {/* finite, infinite, number, notanumber, normal, subnormal */
                                        0x7, 0x8, 0xf, 0x10, 0x4, 0x2};
    unsigned is = kind == FP_ZERO ? 1 : kind == FP_SUBNORMAL ? 2 : kind == FP_NORMAL ? 4 : kind == FP_INFINITE ? 8 : 16;
    return (classes[class] & is) != 0;
}
static uint64_t class32(const Op *op, const uint64_t *x) { return in_class(fpclassify(single(x[0])), op->mode); }
static uint64_t class64(const Op *op, const uint64_t *x) { return in_class(fpclassify(wide(x[0])), op->mode); }

static void classes(void) {
    static const char *const names[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
    char text[64];
    for (unsigned k = 0; k < 6; k++) {
        snprintf(text, sizeof text, "testp.%s.f32 %%d, %%a;", names[k]);
        op_run(&(Op){.text = text, .types = "pred f32", .oracle = class32, .mode = k}, &singles);
        snprintf(text, sizeof text, "testp.%s.f64 %%d, %%a;", names[k]);
        op_run(&(Op){.text = text, .types = "pred f64", .oracle = class64, .mode = k}, &doubles);
    }
}

/* ---- comparisons ------------------------------------------------------------------------------------ */

static uint64_t compared32(const Op *op, const uint64_t *x) {
    float a = single(x[0]), b = single(x[1]);
    if (op->flags & FTZ) a = flushed(a), b = flushed(b);
    bool t = float_relation_holds(op->mode, (double)a, (double)b);
    return (uint64_t)(t + 2 * !t);
}
static uint64_t compared64(const Op *op, const uint64_t *x) {
    bool t = float_relation_holds(op->mode, wide(x[0]), wide(x[1]));
    return (uint64_t)(t + 2 * !t);
}
static uint64_t set32(const Op *op, const uint64_t *x) { return compared32(op, x) & 1 ? UINT32_MAX : 0; }
static uint64_t set32_one(const Op *op, const uint64_t *x) { return compared32(op, x) & 1 ? 0x3f800000 : 0; }
static uint64_t chosen(const Op *op, const uint64_t *x) {
    float c = op->flags & FTZ ? flushed(single(x[2])) : single(x[2]);
    return c >= 0 ? x[0] : x[1];
}

static void comparisons(void) {
    char text[64];
    for (unsigned k = 0; k < 14; k++) {
        snprintf(text, sizeof text, "setp.%s.f32 %%d|%%q, %%a, %%b;", float_relations[k]);
        op_run(&(Op){.text = text, .types = "pred f32 f32", .oracle = compared32, .mode = k}, &singles);
        snprintf(text, sizeof text, "setp.%s.ftz.f32 %%d|%%q, %%a, %%b;", float_relations[k]);
        op_run(&(Op){.text = text, .types = "pred f32 f32", .oracle = compared32, .mode = k, .flags = FTZ}, &singles);
        snprintf(text, sizeof text, "setp.%s.f64 %%d|%%q, %%a, %%b;", float_relations[k]);
        op_run(&(Op){.text = text, .types = "pred f64 f64", .oracle = compared64, .mode = k}, &doubles);
        snprintf(text, sizeof text, "set.%s.u32.f32 %%d, %%a, %%b;", float_relations[k]);
        op_run(&(Op){.text = text, .types = "u32 f32 f32", .oracle = set32, .mode = k}, &singles);
        snprintf(text, sizeof text, "set.%s.ftz.f32.f32 %%d, %%a, %%b;", float_relations[k]);
        op_run(&(Op){.text = text, .types = "f32 f32 f32", .oracle = set32_one, .mode = k, .flags = FTZ}, &singles);
    }
    op_run(&(Op){.text = "slct.f32.f32 %d, %a, %b, %c;", .types = "f32 f32 f32 f32", .oracle = chosen}, &singles);
    op_run(
        &(Op){.text = "slct.ftz.f32.f32 %d, %a, %b, %c;", .types = "f32 f32 f32 f32", .oracle = chosen, .flags = FTZ},
        &singles);
}

/* ---- approximations ---------------------------------------------------------------------------------- */

enum { EX2, LG2, SIN, COS, TANH, RSQRT, APPROX_RCP, APPROX_SQRT, APPROX_DIV, FULL_DIV };

static float function(unsigned which, float a, float b) {
    double x = (double)a, y = (double)b, m = fabs(y);
    switch (which) {
    case EX2: return (float)exp2(x);
    case LG2: return (float)log2(x);
    case SIN: return (float)sin(x);
    case COS: return (float)cos(x);
    case TANH: return (float)tanh(x);
    case RSQRT: return (float)(1 / sqrt(x));
    case APPROX_RCP: return (float)(1 / x);
    case APPROX_SQRT: return (float)sqrt(x);
    case APPROX_DIV: return m > 0x1p126 && m <= (double)3.4028234664e38f ? (float)(x * copysign(0, y)) : (float)(x / y);
    default: return (float)(x / y);
    }
}
static uint64_t approximated(const Op *op, const uint64_t *x) {
    float a = single(x[0]), b = single(x[1]);
    if (op->flags & FTZ) a = flushed(a), b = flushed(b);
    float r = function(op->mode, a, b);
    if (op->flags & FTZ) r = flushed(r);
    return isnan(r) ? 0x7fffffff : bits32(r);
}
/* One unit in the last place; tanh may be wrong by 2^-11. */
static bool near(const Op *op, uint64_t got, uint64_t wanted) {
    uint64_t units = op->mode == TANH ? 4 : 1;
    if (isnan(single(got)) || isnan(single(wanted))) return false;
    return got - wanted + units <= 2 * units;
}

static void approximations(void) {
    static const struct {
        const char *name, *operands;
        unsigned which;
        bool ftz;
    } functions[] = {
        {"ex2.approx", "%d, %a", EX2, true},
        {"lg2.approx", "%d, %a", LG2, true},
        {"sin.approx", "%d, %a", SIN, true},
        {"cos.approx", "%d, %a", COS, true},
        {"tanh.approx", "%d, %a", TANH, false},
        {"rsqrt.approx", "%d, %a", RSQRT, true},
        {"rcp.approx", "%d, %a", APPROX_RCP, true},
        {"sqrt.approx", "%d, %a", APPROX_SQRT, true},
        {"div.approx", "%d, %a, %b", APPROX_DIV, true},
        {"div.full", "%d, %a, %b", FULL_DIV, true},
    };
    char text[64];
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        for (unsigned ftz = 0; ftz <= functions[k].ftz; ftz++) {
            snprintf(text, sizeof text, "%s%s.f32 %s;", functions[k].name, ftz ? ".ftz" : "", functions[k].operands);
            op_run(&(Op){.text = text,
                         .types = functions[k].which < APPROX_DIV ? "f32 f32" : "f32 f32 f32",
                         .oracle = approximated,
                         .mode = functions[k].which,
                         .flags = ftz,
                         .same = near},
                   &singles);
        }
}

/* rcp and rsqrt of f64: 20 bits of a fraction; the last 32 bits of operand and result are zeros. */
static uint64_t gross(const Op *op, const uint64_t *x) {
    double a = wide(x[0] & UINT64_C(0xffffffff00000000));
    if (fpclassify(a) == FP_SUBNORMAL) a = copysign(0, a);
    double r = op->mode ? 1 / sqrt(a) : 1 / a;
    return bits64(fpclassify(r) == FP_SUBNORMAL ? copysign(0, r) : r);
}
static bool near_gross(const Op *op, uint64_t got, uint64_t wanted) {
    if (got & UINT32_MAX) return false;
    if (isnan(wide(wanted))) return isnan(wide(got));
    if (!isnormal(wide(wanted))) return got == wanted;
    (void)op;
    return fabs(wide(got) / wide(wanted) - 1) < 0x1p-19;
}
static uint64_t inverse_root(const Op *op, const uint64_t *x) {
    (void)op;
    return bits64(1 / sqrt(wide(x[0])));
}
static bool near64(const Op *op, uint64_t got, uint64_t wanted) {
    return both_nan(op, got, wanted) || got - wanted + 1 <= 2;
}

static void gross_approximations(void) {
    static const Op ops[] = {{"rcp.approx.ftz.f64 %d, %a;", "f64 f64", gross, 0, 0, near_gross},
                             {"rsqrt.approx.ftz.f64 %d, %a;", "f64 f64", gross, 1, 0, near_gross},
                             {"rsqrt.approx.f64 %d, %a;", "f64 f64", inverse_root, 0, 0, near64}};
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) op_run(&ops[k], &doubles);
}

static void forms_that_do_not_exist(void) {
    static const char *const none[][2] = {
        {"add.ftz.f64 %d, %a, %b;", "f64 f64 f64"},
        {"add.sat.f64 %d, %a, %b;", "f64 f64 f64"},
        {"fma.f32 %d, %a, %b, %c;", "f32 f32 f32 f32"},
        {"div.f32 %d, %a, %b;", "f32 f32 f32"},
        {"div.approx.f64 %d, %a, %b;", "f64 f64 f64"},
        {"rcp.approx.f64 %d, %a;", "f64 f64"},
        {"sqrt.f64 %d, %a;", "f64 f64"},
        {"sin.f32 %d, %a;", "f32 f32"},
        {"sin.approx.f64 %d, %a;", "f64 f64"},
        {"min.NaN.f64 %d, %a, %b;", "f64 f64 f64"},
        {"min.xorsign.f32 %d, %a, %b;", "f32 f32 f32"},
        {"setp.lo.f32 %d, %a, %b;", "pred f32 f32"},
        {"setp.lt.ftz.f64 %d, %a, %b;", "pred f64 f64"},
        {"tanh.approx.ftz.f32 %d, %a;", "f32 f32"},
        {"add.rni.f32 %d, %a, %b;", "f32 f32 f32"},
        {"rem.f32 %d, %a, %b;", "f32 f32 f32"},
    };
    for (size_t k = 0; k < sizeof none / sizeof *none; k++) op_refused(none[k][0], none[k][1]);
}

/* Pairs whose sums and products are near the limits of rounding: close exponents, few bits, near the ends of the range.
 */
static void add_hard_inputs(void) {
    for (int k = 0; k < 6000; k++) {
        uint64_t e = random_bits() % 255, r = random_bits();
        uint64_t a = e << 23 | (r & 0x7fffff), b = (e + r % 60 - 30) << 23 | (r >> 23 & 0x7fffff),
                 few = k % 2 ? 0x7fffff : 0x700007;
        inputs_add(&singles, (a & (0x7f800000 | few)) | (r >> 60 << 31), (b & (0x7f800000 | few)) ^ (r >> 61 << 31),
                   r >> 32);
        inputs_add(&singles, a, (254 - e) << 23 | (r >> 9 & 0x7fffff),
                   (uint64_t)1 << 31 | (127 + r % 3) << 23 | (r >> 20 & 0x7fffff));
        e = random_bits() % 2047, r = random_bits();
        uint64_t bits = UINT64_MAX >> 12, q = random_bits(), p = e << 52 | (r & bits);
        inputs_add(&doubles, p ^ q >> 63 << 63, (e + q % 120 - 60) << 52 | (k % 2 ? q & bits : q & 7), random_bits());
        inputs_add(&doubles, p, (2046 - e) << 52 | (q & bits),
                   UINT64_C(1) << 63 | (1023 - q % 2 * (q >> 8) % 110) << 52 | (r * 5 & bits));
        inputs_add(&doubles, (e % 100) << 52 | (r & bits), (1000 - q % 60) << 52 | (k % 3 ? q & bits : 0),
                   r * q >> (q & 63));
    }
}

int main(void) {
    inputs_cross(&singles, special_f32, n_special_f32, true);
    inputs_cross(&doubles, special_f64, n_special_f64, true);
    add_hard_inputs();
    inputs_random(&singles, 3000);
    inputs_random(&doubles, 3000);
    every_rounding();
    pairs();
    signs_and_extremes();
    classes();
    comparisons();
    approximations();
    gross_approximations();
    forms_that_do_not_exist();
    inputs_free(&singles);
    inputs_free(&doubles);
    op_end();
    return failures != 0;
}
