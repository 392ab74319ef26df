/* test_math.c - the functions of MATH on the CPU: how far they are from the exact result, in ULP.
 *
 * The reference is C's function in the next wider type. Threads run in vectors and one by one, so that libm and
 * libmvec are both measured. With -v it prints the table that docs quote. */
#define _GNU_SOURCE
#include "codekit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 4096, BLOCK = 1000 }; /* a block is 62 vectors of 16 and 8 threads more */

typedef long double Wide;

/* How to measure a function: its reference, the range of its operands, and the ULP that docs promise. */
typedef struct Row {
    MathFn fn;
    Wide (*one)(Wide);
    Wide (*two)(Wide, Wide);
    double low, high;
    double ulp;
} Row;

static Wide wide_rsqrt(Wide x) { return 1 / sqrtl(x); }

static const Row rows[] = {
    {MATH_SQRT, sqrtl, NULL, 0, 1e6, 0.5},     {MATH_RSQRT, wide_rsqrt, NULL, 1e-3, 1e6, 1.5},
    {MATH_EXP, expl, NULL, -80, 80, 4},        {MATH_EXP2, exp2l, NULL, -120, 120, 4},
    {MATH_EXP10, exp10l, NULL, -35, 35, 4},    {MATH_EXPM1, expm1l, NULL, -5, 5, 4},
    {MATH_LOG, logl, NULL, 1e-6, 1e6, 4},      {MATH_LOG2, log2l, NULL, 1e-6, 1e6, 4},
    {MATH_LOG10, log10l, NULL, 1e-6, 1e6, 4},  {MATH_LOG1P, log1pl, NULL, -0.9, 10, 4},
    {MATH_POW, NULL, powl, 0.01, 20, 4},       {MATH_SIN, sinl, NULL, -100, 100, 4},
    {MATH_COS, cosl, NULL, -100, 100, 4},      {MATH_TAN, tanl, NULL, -100, 100, 4},
    {MATH_ASIN, asinl, NULL, -1, 1, 4},        {MATH_ACOS, acosl, NULL, -1, 1, 4},
    {MATH_ATAN, atanl, NULL, -50, 50, 4},      {MATH_ATAN2, NULL, atan2l, -5, 5, 4},
    {MATH_SINH, sinhl, NULL, -20, 20, 4},      {MATH_COSH, coshl, NULL, -20, 20, 4},
    {MATH_TANH, tanhl, NULL, -10, 10, 4},      {MATH_ASINH, asinhl, NULL, -50, 50, 4},
    {MATH_ACOSH, acoshl, NULL, 1, 50, 4},      {MATH_ATANH, atanhl, NULL, -0.99, 0.99, 4},
    {MATH_ERF, erfl, NULL, -4, 4, 4},          {MATH_ERFC, erfcl, NULL, -4, 8, 4},
    {MATH_TGAMMA, tgammal, NULL, 0.1, 20, 10}, {MATH_LGAMMA, lgammal, NULL, 2.5, 100, 7},
    {MATH_HYPOT, NULL, hypotl, -100, 100, 4},  {MATH_CBRT, cbrtl, NULL, -100, 100, 4},
};

static const CompilerApi *api;
static unsigned failures;
static _Alignas(64) unsigned char a[N * 8], b[N * 8], out[N * 8];

static double random_in(double low, double high, uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return low + (high - low) * (double)(*state >> 11) * 0x1p-53;
}

static bool run(const KitOp *op) {
    static const CompileOptions o = {.target = TARGET_CPU, .opt = 2};
    Arena arena;
    arena_init(&arena, NULL);
    char *error = NULL;
    Image *image = api->compile(kit_kernel(&arena, op), &o, &error);
    if (!image) {
        failures++;
        fprintf(stderr, "%s: %s\n", mathfn_names[op->sub], error);
        free(error);
    } else {
        void *arrays[4] = {a, b, b, out}, *params[4];
        for (uint32_t i = 0; i < image->nparams; i++)
            params[image->params[i].offset / 8] = arrays[image->params[i].leaf];
        kit_run(image, params, N / BLOCK * BLOCK, BLOCK);
        api->unload(image);
        gpu_image_free(image);
    }
    arena_free(&arena);
    return image != NULL;
}

static double ulp_between(Type t, double got, Wide want) {
    double rounded = t == T_F32 ? (double)(float)want : (double)want;
    if (isnan(got) && isnan(rounded)) return 0;
    if (isinf(rounded) || isinf(got)) return got == rounded ? 0 : HUGE_VAL;
    double unit = t == T_F32 ? (double)(nextafterf(fabsf((float)rounded), INFINITY) - fabsf((float)rounded))
                             : nextafter(fabs(rounded), INFINITY) - fabs(rounded);
    return (double)(fabsl((Wide)got - want) / (Wide)unit);
}

static void measure(const Row *r, Type t, bool verbose) {
    KitOp op = {OP_MATH, t, t, (uint16_t)r->fn, r->two ? 2 : 1, NULL};
    uint64_t state = 88172645463325252u;
    for (uint32_t i = 0; i < N; i++) {
        kit_put(t, a, i, ir_double_to_bits(t, random_in(r->low, r->high, &state)));
        kit_put(t, b, i, ir_double_to_bits(t, random_in(r->low, r->high, &state)));
    }
    if (!run(&op)) return;
    double worst = 0, where = 0;
    for (uint32_t i = 0; i < N / BLOCK * BLOCK; i++) {
        Wide x = ir_bits_to_double(t, kit_get(t, a, i)), y = ir_bits_to_double(t, kit_get(t, b, i));
        double ulp = ulp_between(t, ir_bits_to_double(t, kit_get(t, out, i)), r->two ? r->two(x, y) : r->one(x));
        if (ulp > worst) worst = ulp, where = (double)x;
    }
    if (verbose) printf("%-8s %s %.2f\n", mathfn_names[r->fn], type_info[t].text, worst);
    if (worst <= r->ulp) return;
    failures++;
    fprintf(stderr, "%s of %s is %.2f ULP off at %.17g\n", mathfn_names[r->fn], type_info[t].text, worst, where);
}

/* Results that people take for exact: the function of x (and y) must be this very number. */
static void check_exact(MathFn fn, Type t, uint32_t nargs, double x, double y, double want) {
    KitOp op = {OP_MATH, t, t, (uint16_t)fn, nargs, NULL};
    for (uint32_t i = 0; i < N; i++) {
        kit_put(t, a, i, ir_double_to_bits(t, x));
        kit_put(t, b, i, ir_double_to_bits(t, y));
    }
    if (!run(&op)) return;
    for (uint32_t i = 0; i < BLOCK; i += BLOCK - 1) { /* the first is in a vector, the last is not */
        double got = ir_bits_to_double(t, kit_get(t, out, i));
        if (got == want) continue;
        failures++;
        fprintf(stderr, "%s(%g, %g) of %s is %.17g, not %g\n", mathfn_names[fn], x, y, type_info[t].text, got, want);
    }
}

/* Zeros, infinities, NaN and operands outside the domain give what libm gives. */
static void check_special(const Row *r, Type t) {
    static const double values[] = {0.0,   -0.0, HUGE_VAL, -HUGE_VAL, NAN,   -1,  2,
                                    1e300, 1e38, -1e38,    1e-310,    1e-40, 710, -746};
    enum { COUNT = sizeof values / sizeof *values };
    KitOp op = {OP_MATH, t, t, (uint16_t)r->fn, r->two ? 2 : 1, NULL};
    for (uint32_t i = 0; i < N; i++) {
        kit_put(t, a, i, ir_double_to_bits(t, values[i % COUNT]));
        kit_put(t, b, i, ir_double_to_bits(t, values[i / COUNT % COUNT]));
    }
    if (!run(&op)) return;
    for (uint32_t i = 0; i < BLOCK; i++) {
        double x = ir_bits_to_double(t, kit_get(t, a, i)), y = ir_bits_to_double(t, kit_get(t, b, i));
        double got = ir_bits_to_double(t, kit_get(t, out, i));
        Wide want = r->two ? r->two(x, y) : r->one(x);
        if (ulp_between(t, got, want) <= r->ulp + 1 && (!signbit(got) == !signbit(want) || isnan(got))) continue;
        failures++;
        fprintf(stderr, "%s(%g, %g) of %s is %g, not %Lg\n", mathfn_names[r->fn], x, y, type_info[t].text, got, want);
        return;
    }
}

int main(int argc, char **argv) {
    bool verbose = argc > 1 && !strcmp(argv[1], "-v");
    api = kit_open();
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        measure(&rows[i], T_F32, verbose);
        measure(&rows[i], T_F64, verbose);
        check_special(&rows[i], T_F32);
        check_special(&rows[i], T_F64);
    }
    for (Type t = T_F32; t <= T_F64; t++) {
        for (int k = 2; k < 12; k += 3) {
            check_exact(MATH_POW, t, 2, k, 3, k * k * k);
            check_exact(MATH_EXP2, t, 1, k, 0, ldexp(1, k));
            check_exact(MATH_LOG2, t, 1, ldexp(1, k), 0, k);
            check_exact(MATH_LOG10, t, 1, pow(10, k > 8 ? 8 : k), 0, k > 8 ? 8 : k);
            check_exact(MATH_CBRT, t, 1, k * k * k, 0, k);
            check_exact(MATH_EXP10, t, 1, k > 8 ? 8 : k, 0, pow(10, k > 8 ? 8 : k));
            check_exact(MATH_HYPOT, t, 2, 3 * k, 4 * k, 5 * k);
        }
        check_exact(MATH_EXP, t, 1, 0, 0, 1);
        check_exact(MATH_LOG, t, 1, 1, 0, 0);
        check_exact(MATH_COS, t, 1, 0, 0, 1);
        check_exact(MATH_POW, t, 2, -2, 3, -8);
        check_exact(MATH_POW, t, 2, 0, 0, 1);
        check_exact(MATH_POW, t, 2, 10, -2, t == T_F32 ? (double)0.01f : 0.01);
    }
    printf("%u failures\n", failures);
    return failures != 0;
}
