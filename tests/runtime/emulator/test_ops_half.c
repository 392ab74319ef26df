/* test_ops_half.c - f16 and bf16, alone and in pairs, against exact arithmetic. All numbers for one operand. */
#include "exactfloat.h"
#include "opkit.h"

#include <math.h>

enum { FTZ = 1, SAT = 2, RELU = 4, BF16 = 8, NANS = 16, XORSIGN = 32 }; /* op->flags */
enum { ADD, SUB, MUL, FMA, ABS, NEG, MIN, MAX, EX2, TANH };             /* op->mode */

static Inputs all_f16, some_f16, some_bf16;

static const Small *format(const Op *op) { return op->flags & BF16 ? &small_bf16 : &small_f16; }
static bool is_nan(const Op *op, uint32_t h) { return number_of(format(op), h).kind == IS_NAN; }

static uint32_t flushed(const Op *op, uint32_t h) {
    uint32_t exponent = op->flags & BF16 ? 0x7f80 : 0x7c00;
    return op->flags & FTZ && !(h & exponent) ? h & 0x8000 : h;
}

static double value(const Op *op, uint32_t h) {
    Number n = number_of(format(op), h);
    if (n.kind == IS_NAN) return (double)NAN;
    if (n.kind == IS_INFINITE) return n.negative ? -(double)INFINITY : (double)INFINITY;
    return copysign(ldexp((double)n.value, n.exponent), n.negative ? -1 : 1);
}

static uint32_t extreme(const Op *op, uint32_t a, uint32_t b) {
    uint32_t sign = (a ^ b) & 0x8000, r;
    if (op->flags & XORSIGN) a &= 0x7fff, b &= 0x7fff;
    bool a_nan = is_nan(op, a), b_nan = is_nan(op, b);
    if ((a_nan && b_nan) || (op->flags & NANS && (a_nan || b_nan))) return 0x7fff;
    if (a_nan || b_nan) {
        r = a_nan ? b : a;
    } else {
        int m = a & 0x8000 ? -(int)(a & 0x7fff) - 1 : (int)a, n = b & 0x8000 ? -(int)(b & 0x7fff) - 1 : (int)b;
        r = (op->mode == MAX ? m > n : m < n) ? a : b;
    }
    return op->flags & XORSIGN ? (r & 0x7fff) | sign : r;
}

static uint32_t one(const Op *op, uint32_t a, uint32_t b, uint32_t c) {
    const Small *f = format(op);
    a = flushed(op, a & 0xffff), b = flushed(op, b & 0xffff), c = flushed(op, c & 0xffff);
    uint32_t minus_b = b ^ 0x8000, r;
    switch (op->mode) {
    case ABS: return a & 0x7fff;
    case NEG: return a ^ 0x8000;
    case MIN:
    case MAX: return extreme(op, a, b);
    case EX2: return flushed(op, round_small(f, number_of_double(exp2(value(op, a))), TO_NEAREST, false));
    case TANH: return round_small(f, number_of_double(tanh(value(op, a))), TO_NEAREST, false);
    case ADD: r = round_small(f, sum(number_of(f, a), number_of(f, b), TO_NEAREST), TO_NEAREST, false); break;
    case SUB: r = round_small(f, sum(number_of(f, a), number_of(f, minus_b), TO_NEAREST), TO_NEAREST, false); break;
    case MUL: r = round_small(f, product(number_of(f, a), number_of(f, b)), TO_NEAREST, false); break;
    default:
        r = round_small(f, sum(product(number_of(f, a), number_of(f, b)), number_of(f, c), TO_NEAREST), TO_NEAREST,
                        false);
    }
    if (op->flags & SAT) return is_nan(op, r) || r & 0x8000 ? 0 : r > 0x3c00 ? 0x3c00 : flushed(op, r);
    if (op->flags & RELU && r & 0x8000) r = 0;
    return flushed(op, r);
}

static uint64_t single(const Op *op, const uint64_t *x) {
    return one(op, (uint32_t)x[0], (uint32_t)x[1], (uint32_t)x[2]);
}
static uint64_t pair(const Op *op, const uint64_t *x) {
    uint32_t a = (uint32_t)x[0], b = (uint32_t)x[1], c = (uint32_t)x[2];
    return one(op, a, b, c) | (uint64_t)one(op, a >> 16, b >> 16, c >> 16) << 16;
}

/* A unit of the last place of approximate functions. */
static bool near(const Op *op, uint64_t got, uint64_t wanted) {
    for (unsigned k = 0; k < 32; k += 16) {
        uint32_t g = got >> k & 0xffff, w = wanted >> k & 0xffff;
        if (g != w && (is_nan(op, g) || is_nan(op, w) || g - w + 1 > 2)) return false;
    }
    return true;
}

typedef struct Form {
    const char *name, *operands;
    unsigned mode, sources, flags;
} Form;

static void run(const Form *f, const char *type, const Inputs *in, unsigned more) {
    char text[64], types[64] = "";
    bool two = strchr(type, 'x');
    snprintf(text, sizeof text, "%s.%s %s;", f->name, type, f->operands);
    for (unsigned k = 0; k <= f->sources; k++) strcat(strcat(types, k ? " " : ""), two ? "b32" : "b16");
    op_run(&(Op){.text = text,
                 .types = types,
                 .oracle = two ? pair : single,
                 .mode = f->mode,
                 .flags = f->flags | more,
                 .same = f->mode >= EX2 ? near : NULL},
           in);
}

static void of_f16(void) {
    static const Form binary[] = {
        {"add", "%d, %a, %b", ADD, 2, 0},
        {"add.rn", "%d, %a, %b", ADD, 2, 0},
        {"add.ftz", "%d, %a, %b", ADD, 2, FTZ},
        {"add.sat", "%d, %a, %b", ADD, 2, SAT},
        {"add.ftz.sat", "%d, %a, %b", ADD, 2, FTZ | SAT},
        {"sub", "%d, %a, %b", SUB, 2, 0},
        {"sub.rn.ftz.sat", "%d, %a, %b", SUB, 2, FTZ | SAT},
        {"mul", "%d, %a, %b", MUL, 2, 0},
        {"mul.ftz", "%d, %a, %b", MUL, 2, FTZ},
        {"mul.sat", "%d, %a, %b", MUL, 2, SAT},
        {"fma.rn", "%d, %a, %b, %c", FMA, 3, 0},
        {"fma.rn.ftz", "%d, %a, %b, %c", FMA, 3, FTZ},
        {"fma.rn.sat", "%d, %a, %b, %c", FMA, 3, SAT},
        {"fma.rn.relu", "%d, %a, %b, %c", FMA, 3, RELU},
        {"fma.rn.ftz.relu", "%d, %a, %b, %c", FMA, 3, FTZ | RELU},
        {"min", "%d, %a, %b", MIN, 2, 0},
        {"max", "%d, %a, %b", MAX, 2, 0},
        {"min.ftz", "%d, %a, %b", MIN, 2, FTZ},
        {"max.NaN", "%d, %a, %b", MAX, 2, NANS},
        {"min.ftz.NaN", "%d, %a, %b", MIN, 2, FTZ | NANS},
        {"max.xorsign.abs", "%d, %a, %b", MAX, 2, XORSIGN},
        {"min.NaN.xorsign.abs", "%d, %a, %b", MIN, 2, NANS | XORSIGN},
    };
    static const Form unary[] = {{"abs", "%d, %a", ABS, 1, 0},        {"abs.ftz", "%d, %a", ABS, 1, FTZ},
                                 {"neg", "%d, %a", NEG, 1, 0},        {"neg.ftz", "%d, %a", NEG, 1, FTZ},
                                 {"ex2.approx", "%d, %a", EX2, 1, 0}, {"tanh.approx", "%d, %a", TANH, 1, 0}};
    for (size_t k = 0; k < sizeof binary / sizeof *binary; k++) {
        run(&binary[k], "f16", &some_f16, 0);
        run(&binary[k], "f16x2", &some_f16, 0);
    }
    for (size_t k = 0; k < sizeof unary / sizeof *unary; k++) {
        run(&unary[k], "f16", &all_f16, 0);
        run(&unary[k], "f16x2", &all_f16, 0);
    }
}

static void of_bf16(void) {
    static const Form binary[] = {
        {"add.rn", "%d, %a, %b", ADD, 2, 0},
        {"sub", "%d, %a, %b", SUB, 2, 0},
        {"mul", "%d, %a, %b", MUL, 2, 0},
        {"fma.rn", "%d, %a, %b, %c", FMA, 3, 0},
        {"fma.rn.relu", "%d, %a, %b, %c", FMA, 3, RELU},
        {"min", "%d, %a, %b", MIN, 2, 0},
        {"max.NaN", "%d, %a, %b", MAX, 2, NANS},
        {"max.xorsign.abs", "%d, %a, %b", MAX, 2, XORSIGN},
    };
    static const Form unary[] = {{"abs", "%d, %a", ABS, 1, 0},
                                 {"neg", "%d, %a", NEG, 1, 0},
                                 {"ex2.approx.ftz", "%d, %a", EX2, 1, FTZ},
                                 {"tanh.approx", "%d, %a", TANH, 1, 0}};
    for (size_t k = 0; k < sizeof binary / sizeof *binary; k++) {
        run(&binary[k], "bf16", &some_bf16, BF16);
        run(&binary[k], "bf16x2", &some_bf16, BF16);
    }
    for (size_t k = 0; k < sizeof unary / sizeof *unary; k++) {
        run(&unary[k], "bf16", &all_f16, BF16);
        run(&unary[k], "bf16x2", &all_f16, BF16);
    }
}

/* ---- comparisons ------------------------------------------------------------------------------------ */

static bool halves_hold(const Op *op, uint64_t a, uint64_t b) {
    return float_relation_holds(op->mode, value(op, flushed(op, a & 0xffff)), value(op, flushed(op, b & 0xffff)));
}
static uint64_t compared(const Op *op, const uint64_t *x) { return halves_hold(op, x[0], x[1]); }
/* %d for the lower halves, %q for the upper ones; both and-ed with %c. */
static uint64_t compared_pairs(const Op *op, const uint64_t *x) {
    bool c = (uint32_t)x[2] != 0;
    return (uint64_t)((halves_hold(op, x[0], x[1]) && c) + 2 * (halves_hold(op, x[0] >> 16, x[1] >> 16) && c));
}
static uint64_t set_bits(const Op *op, const uint64_t *x) {
    return (halves_hold(op, x[0], x[1]) ? 0xffff : 0) | (halves_hold(op, x[0] >> 16, x[1] >> 16) ? 0xffff0000 : 0);
}
static uint64_t set_ones(const Op *op, const uint64_t *x) {
    return (halves_hold(op, x[0], x[1]) ? 0x3c00 : 0) | (halves_hold(op, x[0] >> 16, x[1] >> 16) ? 0x3c000000 : 0);
}

static void comparisons(void) {
    char text[80];
    for (unsigned k = 0; k < 14; k++) {
        snprintf(text, sizeof text, "setp.%s.f16 %%d, %%a, %%b;", float_relations[k]);
        op_run(&(Op){.text = text, .types = "pred b16 b16", .oracle = compared, .mode = k}, &some_f16);
        snprintf(text, sizeof text, "setp.%s.ftz.f16 %%d, %%a, %%b;", float_relations[k]);
        op_run(&(Op){.text = text, .types = "pred b16 b16", .oracle = compared, .mode = k, .flags = FTZ}, &some_f16);
        snprintf(text, sizeof text, "setp.%s.bf16 %%d, %%a, %%b;", float_relations[k]);
        op_run(&(Op){.text = text, .types = "pred b16 b16", .oracle = compared, .mode = k, .flags = BF16}, &some_bf16);
        snprintf(text, sizeof text, "setp.%s.and.f16x2 %%d|%%q, %%a, %%b, %%c;", float_relations[k]);
        op_run(&(Op){.text = text, .types = "pred b32 b32 pred", .oracle = compared_pairs, .mode = k}, &some_f16);
        snprintf(text, sizeof text, "set.%s.u32.f16x2 %%d, %%a, %%b;", float_relations[k]);
        op_run(&(Op){.text = text, .types = "b32 b32 b32", .oracle = set_bits, .mode = k}, &some_f16);
        snprintf(text, sizeof text, "set.%s.f16x2.f16x2 %%d, %%a, %%b;", float_relations[k]);
        op_run(&(Op){.text = text, .types = "b32 b32 b32", .oracle = set_ones, .mode = k}, &some_f16);
    }
}

static void forms_that_do_not_exist(void) {
    static const char *const none[][2] = {
        {"add.rz.f16 %d, %a, %b;", "b16 b16 b16"},      {"fma.f16 %d, %a, %b, %c;", "b16 b16 b16 b16"},
        {"div.rn.f16 %d, %a, %b;", "b16 b16 b16"},      {"add.sat.bf16 %d, %a, %b;", "b16 b16 b16"},
        {"ex2.approx.bf16 %d, %a;", "b16 b16"},         {"sqrt.rn.f16 %d, %a;", "b16 b16"},
        {"setp.lt.f16 %d|%q, %a, %b;", "pred b16 b16"}, {"mad.rn.f16 %d, %a, %b, %c;", "b16 b16 b16 b16"},
    };
    for (size_t k = 0; k < sizeof none / sizeof *none; k++) op_refused(none[k][0], none[k][1]);
}

/* Other halves above the ones of interest: pairs are tested with the same inputs. */
static void mix_halves(Inputs *in) {
    for (size_t k = 0; k < in->n; k++)
        for (int j = 0; j < 3; j++)
            in->x[k][j] = (in->x[k][j] & 0xffff) | in->x[(k * 7 + 3) % in->n][(j + 1) % 3] << 16;
}

int main(void) {
    for (uint64_t h = 0; h < 65536; h++) inputs_add(&all_f16, h | (h * 40503 & 0xffff) << 16, 0, 0);
    inputs_cross(&some_f16, special_f16, n_special_f16, true);
    inputs_cross(&some_bf16, special_bf16, n_special_bf16, true);
    for (int k = 0; k < 4000; k++) { /* of sizes that meet */
        uint64_t r = random_bits(), s = random_bits();
        inputs_add(&some_f16, 0x3000 + r % 0x1400, 0x3000 + (r >> 16) % 0x1400, (r >> 63 << 15) + 0x2000 + s % 0x2400);
        inputs_add(&some_bf16, 0x3e00 + r % 0x300, 0x3e00 + (r >> 16) % 0x300, (r >> 63 << 15) + 0x3c00 + s % 0x600);
        inputs_add(&some_f16, r % 0x800, (r >> 16) % 0x3c00, (r >> 63 << 15) + s % 0x800);
        inputs_add(&some_bf16, r % 0x2000, 0x2000 + (r >> 16) % 0x2000, (r >> 63 << 15) + s % 0x180);
    }
    inputs_random(&some_f16, 6000);
    inputs_random(&some_bf16, 6000);
    mix_halves(&some_f16);
    mix_halves(&some_bf16);
    of_f16();
    of_bf16();
    comparisons();
    forms_that_do_not_exist();
    inputs_free(&all_f16);
    inputs_free(&some_f16);
    inputs_free(&some_bf16);
    op_end();
    return failures != 0;
}
