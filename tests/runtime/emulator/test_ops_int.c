/* test_ops_int.c - integer and bit instructions against definitions in 128-bit arithmetic and bit by bit, as the PTX
 * manual writes them. */
#include "opkit.h"

__extension__ typedef __int128 Int128;

static Inputs ints; /* pairs and triples of special numbers, and random ones */

/* The types of integers: op->mode is the width, op->flags whether it has a sign. */
typedef struct IntType {
    const char *name;
    unsigned bits;
    bool is_signed;
} IntType;
static const IntType types[] = {{"u16", 16, false}, {"s16", 16, true},  {"u32", 32, false},
                                {"s32", 32, true},  {"u64", 64, false}, {"s64", 64, true}};

static Int128 number(uint64_t x, unsigned bits, bool is_signed) {
    uint64_t low = bits == 64 ? x : x & ((UINT64_C(1) << bits) - 1);
    if (!is_signed) return (Int128)low;
    return (Int128)(int64_t)(low << (64 - bits)) >> (64 - bits);
}
#define A number(x[0], op->mode, op->flags)
#define B number(x[1], op->mode, op->flags)
#define C number(x[2], op->mode, op->flags)

#define ORACLE(name, expression)                                                                                       \
    static uint64_t name(const Op *op, const uint64_t *x) {                                                            \
        (void)op;                                                                                                      \
        return (uint64_t)(expression);                                                                                 \
    }

/* ---- arithmetic of every type -------------------------------------------------------------------- */

ORACLE(add, A + B)
ORACLE(sub, A - B)
ORACLE(min, A < B ? A : B)
ORACLE(max, A > B ? A : B)
ORACLE(quotient, B == 0 ? -1 : A / B)
ORACLE(rest, B == 0 ? -1 : A % B)
ORACLE(sad, C + (A < B ? B - A : A - B))
ORACLE(negated, -A)
ORACLE(absolute, A < 0 ? -A : A)

/* Products of 64-bit numbers don't fit a signed 128-bit one when unsigned: by halves. */
static uint64_t high_half(const Op *op, const uint64_t *x) {
    if (op->mode < 64) return (uint64_t)(A * B >> op->mode);
    uint64_t a = x[0], b = x[1], a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32), middle2 = a0 * b1 + (middle & UINT32_MAX);
    uint64_t high = a1 * b1 + (middle >> 32) + (middle2 >> 32);
    if (op->flags) high -= (a >> 63 ? b : 0) + (b >> 63 ? a : 0);
    return high;
}
ORACLE(low_half, x[0] * x[1])
ORACLE(mad_low, x[0] * x[1] + x[2])
ORACLE(mad_high, high_half(op, x) + x[2])
ORACLE(wide, A *B)
ORACLE(mad_wide, (uint64_t)(A *B) + x[2])

static void run(const char *name, const char *operands, const IntType *t, int sources, Oracle oracle) {
    char text[64], all[64];
    snprintf(text, sizeof text, "%s.%s %s;", name, t->name, operands);
    snprintf(all, sizeof all, "%s %s%s%s%s%s", t->name, t->name, sources > 1 ? " " : "", sources > 1 ? t->name : "",
             sources > 2 ? " " : "", sources > 2 ? t->name : "");
    op_run(&(Op){.text = text, .types = all, .oracle = oracle, .mode = t->bits, .flags = t->is_signed}, &ints);
}

static void arithmetic(void) {
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        const IntType *t = &types[k];
        run("add", "%d, %a, %b", t, 2, add);
        run("sub", "%d, %a, %b", t, 2, sub);
        run("mul.lo", "%d, %a, %b", t, 2, low_half);
        run("mul.hi", "%d, %a, %b", t, 2, high_half);
        run("mad.lo", "%d, %a, %b, %c", t, 3, mad_low);
        run("mad.hi", "%d, %a, %b, %c", t, 3, mad_high);
        run("min", "%d, %a, %b", t, 2, min);
        run("max", "%d, %a, %b", t, 2, max);
        run("div", "%d, %a, %b", t, 2, quotient);
        run("rem", "%d, %a, %b", t, 2, rest);
        run("sad", "%d, %a, %b, %c", t, 3, sad);
        if (!t->is_signed) continue;
        run("neg", "%d, %a", t, 1, negated);
        run("abs", "%d, %a", t, 1, absolute);
    }
}

static void products_twice_as_wide(void) {
    static const char *const twice[] = {"u32", "s32", "u64", "s64"};
    for (size_t k = 0; k < 4; k++) {
        const IntType *t = &types[k];
        char text[64], all[64];
        snprintf(text, sizeof text, "mul.wide.%s %%d, %%a, %%b;", t->name);
        snprintf(all, sizeof all, "%s %s %s", twice[k], t->name, t->name);
        op_run(&(Op){.text = text, .types = all, .oracle = wide, .mode = t->bits, .flags = t->is_signed}, &ints);
        snprintf(text, sizeof text, "mad.wide.%s %%d, %%a, %%b, %%c;", t->name);
        snprintf(all, sizeof all, "%s %s %s %s", twice[k], t->name, t->name, twice[k]);
        op_run(&(Op){.text = text, .types = all, .oracle = mad_wide, .mode = t->bits, .flags = t->is_signed}, &ints);
    }
}

/* ---- one type each -------------------------------------------------------------------------------- */

static Int128 clamp32(Int128 x) { return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x; }
#define S32(k) number(x[k], 32, true)
#define U32(k) number(x[k], 32, false)
ORACLE(add_sat, clamp32(S32(0) + S32(1)))
ORACLE(sub_sat, clamp32(S32(0) - S32(1)))
ORACLE(mad_sat, clamp32((S32(0) * S32(1) >> 32) + S32(2)))
ORACLE(min_relu, S32(0) < 0 || S32(1) < 0 ? 0 : S32(0) < S32(1) ? S32(0) : S32(1))
ORACLE(max_relu, S32(0) < 0 && S32(1) < 0 ? 0 : S32(0) > S32(1) ? S32(0) : S32(1))

#define U24(k) number(x[k], 24, false)
#define S24(k) number(x[k], 24, true)
ORACLE(mul24_lo_u, U24(0) * U24(1))
ORACLE(mul24_hi_u, U24(0) * U24(1) >> 16)
ORACLE(mul24_lo_s, S24(0) * S24(1))
ORACLE(mul24_hi_s, S24(0) * S24(1) >> 16)
ORACLE(mad24_lo_s, S24(0) * S24(1) + S32(2))
ORACLE(mad24_hi_u, (U24(0) * U24(1) >> 16) + U32(2))
ORACLE(mad24_sat, clamp32((S24(0) * S24(1) >> 16) + S32(2)))

/* op->mode: signs of a (bit 0) and b (bit 1). */
static uint64_t dot(const Op *op, const uint64_t *x) {
    Int128 sum = (Int128)x[2];
    for (unsigned k = 0; k < 4; k++)
        sum += number(x[0] >> 8 * k, 8, op->mode & 1) * number(x[1] >> 8 * k, 8, op->mode & 2);
    return (uint64_t)sum;
}
static uint64_t dot_halves(const Op *op, const uint64_t *x) { /* op->flags: which half of b */
    Int128 sum = (Int128)x[2];
    for (unsigned k = 0; k < 2; k++)
        sum += number(x[0] >> 16 * k, 16, op->mode & 1) * number(x[1] >> (8 * k + 16 * op->flags), 8, op->mode & 2);
    return (uint64_t)sum;
}

/* op->mode: what is done with each of two halves. */
static uint64_t halves(const Op *op, const uint64_t *x) {
    uint64_t r = 0;
    for (unsigned k = 0; k < 2; k++) {
        Int128 a = number(x[0] >> 16 * k, 16, op->flags), b = number(x[1] >> 16 * k, 16, op->flags), h;
        switch (op->mode) {
        case 0: h = a + b; break;
        case 1: h = a < b ? a : b; break;
        case 2: h = a > b ? a : b; break;
        case 3: h = a < 0 || b < 0 ? 0 : a < b ? a : b; break;
        default: h = a < 0 && b < 0 ? 0 : a > b ? a : b; break;
        }
        r |= ((uint64_t)h & 0xffff) << 16 * k;
    }
    return r;
}

static void special_arithmetic(void) {
    static const Op ops[] = {
        {"add.sat.s32 %d, %a, %b;", "s32 s32 s32", add_sat, 0, 0, NULL},
        {"sub.sat.s32 %d, %a, %b;", "s32 s32 s32", sub_sat, 0, 0, NULL},
        {"mad.hi.sat.s32 %d, %a, %b, %c;", "s32 s32 s32 s32", mad_sat, 0, 0, NULL},
        {"min.relu.s32 %d, %a, %b;", "s32 s32 s32", min_relu, 0, 0, NULL},
        {"max.relu.s32 %d, %a, %b;", "s32 s32 s32", max_relu, 0, 0, NULL},
        {"mul24.lo.u32 %d, %a, %b;", "u32 u32 u32", mul24_lo_u, 0, 0, NULL},
        {"mul24.hi.u32 %d, %a, %b;", "u32 u32 u32", mul24_hi_u, 0, 0, NULL},
        {"mul24.lo.s32 %d, %a, %b;", "u32 u32 u32", mul24_lo_s, 0, 0, NULL},
        {"mul24.hi.s32 %d, %a, %b;", "u32 u32 u32", mul24_hi_s, 0, 0, NULL},
        {"mad24.lo.s32 %d, %a, %b, %c;", "u32 u32 u32 u32", mad24_lo_s, 0, 0, NULL},
        {"mad24.hi.u32 %d, %a, %b, %c;", "u32 u32 u32 u32", mad24_hi_u, 0, 0, NULL},
        {"mad24.hi.sat.s32 %d, %a, %b, %c;", "u32 u32 u32 u32", mad24_sat, 0, 0, NULL},
        {"dp4a.u32.u32 %d, %a, %b, %c;", "u32 u32 u32 u32", dot, 0, 0, NULL},
        {"dp4a.s32.u32 %d, %a, %b, %c;", "u32 u32 u32 u32", dot, 1, 0, NULL},
        {"dp4a.u32.s32 %d, %a, %b, %c;", "u32 u32 u32 u32", dot, 2, 0, NULL},
        {"dp4a.s32.s32 %d, %a, %b, %c;", "u32 u32 u32 u32", dot, 3, 0, NULL},
        {"dp2a.lo.u32.u32 %d, %a, %b, %c;", "u32 u32 u32 u32", dot_halves, 0, 0, NULL},
        {"dp2a.hi.s32.u32 %d, %a, %b, %c;", "u32 u32 u32 u32", dot_halves, 1, 1, NULL},
        {"dp2a.lo.u32.s32 %d, %a, %b, %c;", "u32 u32 u32 u32", dot_halves, 2, 0, NULL},
        {"dp2a.hi.s32.s32 %d, %a, %b, %c;", "u32 u32 u32 u32", dot_halves, 3, 1, NULL},
        {"add.u16x2 %d, %a, %b;", "b32 b32 b32", halves, 0, 0, NULL},
        {"add.s16x2 %d, %a, %b;", "b32 b32 b32", halves, 0, 1, NULL},
        {"min.u16x2 %d, %a, %b;", "b32 b32 b32", halves, 1, 0, NULL},
        {"max.s16x2 %d, %a, %b;", "b32 b32 b32", halves, 2, 1, NULL},
        {"min.relu.s16x2 %d, %a, %b;", "b32 b32 b32", halves, 3, 1, NULL},
        {"max.relu.s16x2 %d, %a, %b;", "b32 b32 b32", halves, 4, 1, NULL},
    };
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) op_run(&ops[k], &ints);
}

/* ---- carries -------------------------------------------------------------------------------------- */

/* The low half of a is added to the low half of b, then the high halves with the carry. */
ORACLE(sum_of_halves, x[0] + x[1])
ORACLE(difference_of_halves, x[0] - x[1])
ORACLE(carry_of_sum, x[0] + x[1] < x[0])
ORACLE(borrow_of_difference, -(uint64_t)(x[0] < x[1]))
ORACLE(no_borrow, x[0] >= x[1]) /* the flag is the carry of a + ~b + 1, whatever reads it */
ORACLE(wide_multiply_add, x[0] * x[1] + x[2])

#define HALVES "{ .reg .b32 a0, a1, b0, b1, c0, c1, d0, d1; mov.b64 {a0, a1}, %a; mov.b64 {b0, b1}, %b; "
static void carries(void) {
    static const Op ops[] = {
        {HALVES "add.cc.u32 d0, a0, b0; addc.u32 d1, a1, b1; mov.b64 %d, {d0, d1}; }", "b64 b64 b64", sum_of_halves, 0,
         0, NULL},
        {HALVES "sub.cc.u32 d0, a0, b0; subc.u32 d1, a1, b1; mov.b64 %d, {d0, d1}; }", "b64 b64 b64",
         difference_of_halves, 0, 0, NULL},
        {HALVES
         "add.cc.s32 d0, a0, b0; addc.cc.s32 d1, a1, b1; addc.s32 c0, 0, 0; mov.u32 c1, 0; mov.b64 %d, {c0, c1}; }",
         "b64 b64 b64", carry_of_sum, 0, 0, NULL},
        {HALVES "sub.cc.s32 d0, a0, b0; subc.cc.s32 d1, a1, b1; subc.s32 c0, 0, 0; cvt.s64.s32 %d, c0; }",
         "b64 b64 b64", borrow_of_difference, 0, 0, NULL},
        {"{ .reg .b64 t; add.cc.u64 t, %a, %b; addc.u64 %d, 0, 0; }", "b64 b64 b64", carry_of_sum, 0, 0, NULL},
        {"{ .reg .b64 t; sub.cc.u64 t, %a, %b; subc.s64 %d, 0, 0; }", "b64 b64 b64", borrow_of_difference, 0, 0, NULL},
        {"{ .reg .b64 t; sub.cc.u64 t, %a, %b; addc.u64 %d, 0, 0; }", "b64 b64 b64", no_borrow, 0, 0, NULL},
        {HALVES
         "mov.b64 {c0, c1}, %c; mad.lo.cc.u32 d0, a0, b0, c0; madc.hi.u32 d1, a0, b0, c1; mad.lo.u32 d1, a0, b1, d1;"
         "mad.lo.u32 d1, a1, b0, d1; mov.b64 %d, {d0, d1}; }",
         "b64 b64 b64 b64", wide_multiply_add, 0, 0, NULL},
    };
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) op_run(&ops[k], &ints);
}

/* ---- bits ----------------------------------------------------------------------------------------- */

static uint64_t bit(uint64_t x, uint64_t k) { return k < 64 ? x >> k & 1 : 0; }
#define W op->mode
#define LOW(x) (W == 64 ? (x) : (x) & ((UINT64_C(1) << W) - 1))

ORACLE(and_, x[0] & x[1])
ORACLE(or_, x[0] | x[1])
ORACLE(xor_, x[0] ^ x[1])
ORACLE(not_, ~x[0])
ORACLE(cnot_, LOW(x[0]) == 0)
ORACLE(shl_, (uint32_t)x[1] >= W ? 0 : x[0] << (x[1] & 63))
ORACLE(shr_, (uint32_t)x[1] >= W ? (A < 0 ? -1 : 0) : A >> (x[1] & 63))

static uint64_t zeros(const Op *op, const uint64_t *x) {
    uint64_t n = 0;
    while (n < W && !bit(x[0], W - 1 - n)) n++;
    return n;
}
static uint64_t set_bits(const Op *op, const uint64_t *x) {
    uint64_t n = 0;
    for (unsigned k = 0; k < W; k++) n += bit(x[0], k);
    return n;
}
static uint64_t mirrored(const Op *op, const uint64_t *x) {
    uint64_t r = 0;
    for (unsigned k = 0; k < W; k++) r |= bit(x[0], k) << (W - 1 - k);
    return r;
}
/* op->flags: 1 signed, 2 shiftamt. */
static uint64_t found(const Op *op, const uint64_t *x) {
    uint64_t skip = op->flags & 1 ? bit(x[0], W - 1) : 0;
    for (unsigned k = W; k-- > 0;)
        if (bit(x[0], k) != skip) return op->flags & 2 ? W - 1 - k : k;
    return UINT32_MAX;
}
static uint64_t field(const Op *op, const uint64_t *x) {
    unsigned msb = W - 1, pos = x[1] & 255, len = x[2] & 255;
    uint64_t r = 0, sign = 0;
    if (op->flags && len) sign = bit(x[0], pos + len - 1 < msb ? pos + len - 1 : msb);
    for (unsigned k = 0; k <= msb; k++) r |= (k < len && pos + k <= msb ? bit(x[0], pos + k) : sign) << k;
    return r;
}
static uint64_t with_field(const Op *op, const uint64_t *x) { /* a into ~a, at b, of c bits */
    unsigned msb = W - 1, pos = x[1] & 255, len = x[2] & 255;
    uint64_t r = ~x[0];
    for (unsigned k = 0; k < len && pos + k <= msb; k++)
        r = (r & ~(UINT64_C(1) << (pos + k))) | bit(x[0], k) << (pos + k);
    return r;
}

static void typed_bits(void) {
    static const IntType bits[] = {{"b16", 16, false}, {"b32", 32, false}, {"b64", 64, false}};
    for (size_t k = 0; k < 3; k++) {
        const IntType *t = &bits[k];
        char text[64], all[64];
        run("and", "%d, %a, %b", t, 2, and_);
        run("or", "%d, %a, %b", t, 2, or_);
        run("xor", "%d, %a, %b", t, 2, xor_);
        run("not", "%d, %a", t, 1, not_);
        run("cnot", "%d, %a", t, 1, cnot_);
        snprintf(text, sizeof text, "shl.%s %%d, %%a, %%b;", t->name);
        snprintf(all, sizeof all, "%s %s u32", t->name, t->name);
        op_run(&(Op){.text = text, .types = all, .oracle = shl_, .mode = t->bits}, &ints);
        snprintf(text, sizeof text, "shr.%s %%d, %%a, %%b;", t->name);
        op_run(&(Op){.text = text, .types = all, .oracle = shr_, .mode = t->bits}, &ints);
        if (t->bits == 16) continue;
        run("brev", "%d, %a", t, 1, mirrored);
        snprintf(all, sizeof all, "u32 %s", t->name);
        snprintf(text, sizeof text, "clz.%s %%d, %%a;", t->name);
        op_run(&(Op){.text = text, .types = all, .oracle = zeros, .mode = t->bits}, &ints);
        snprintf(text, sizeof text, "popc.%s %%d, %%a;", t->name);
        op_run(&(Op){.text = text, .types = all, .oracle = set_bits, .mode = t->bits}, &ints);
        snprintf(text, sizeof text, "{ .reg .%s t; not.%s t, %%a; bfi.%s %%d, %%a, t, %%b, %%c; }", t->name, t->name,
                 t->name);
        snprintf(all, sizeof all, "%s %s u32 u32", t->name, t->name);
        op_run(&(Op){.text = text, .types = all, .oracle = with_field, .mode = t->bits}, &ints);
    }
    for (size_t k = 0; k < 6; k++) {
        const IntType *t = &types[k];
        char text[64], all[64];
        snprintf(text, sizeof text, "shr.%s %%d, %%a, %%b;", t->name);
        snprintf(all, sizeof all, "%s %s u32", t->name, t->name);
        op_run(&(Op){.text = text, .types = all, .oracle = shr_, .mode = t->bits, .flags = t->is_signed}, &ints);
        if (t->bits == 16) continue;
        snprintf(text, sizeof text, "bfe.%s %%d, %%a, %%b, %%c;", t->name);
        snprintf(all, sizeof all, "%s %s u32 u32", t->name, t->name);
        op_run(&(Op){.text = text, .types = all, .oracle = field, .mode = t->bits, .flags = t->is_signed}, &ints);
        snprintf(text, sizeof text, "bfind.%s %%d, %%a;", t->name);
        snprintf(all, sizeof all, "u32 %s", t->name);
        op_run(&(Op){.text = text, .types = all, .oracle = found, .mode = t->bits, .flags = t->is_signed}, &ints);
        snprintf(text, sizeof text, "bfind.shiftamt.%s %%d, %%a;", t->name);
        op_run(&(Op){.text = text, .types = all, .oracle = found, .mode = t->bits, .flags = t->is_signed | 2u}, &ints);
    }
}

static uint64_t by_table(const Op *op, const uint64_t *x) { /* op->mode: the table */
    uint64_t r = 0;
    for (unsigned k = 0; k < 32; k++)
        r |= (uint64_t)(op->mode >> (bit(x[0], k) * 4 + bit(x[1], k) * 2 + bit(x[2], k)) & 1) << k;
    return r;
}

static void lop3(void) {
    for (unsigned table = 0; table < 256; table++) {
        char text[64];
        snprintf(text, sizeof text, "lop3.b32 %%d, %%a, %%b, %%c, %u;", table);
        Inputs few = {ints.x, table % 16 ? 256 : 4096, 0};
        op_run(&(Op){.text = text, .types = "b32 b32 b32 b32", .oracle = by_table, .mode = table}, &few);
    }
}

#define PAIR ((uint64_t)(uint32_t)x[1] << 32 | (uint32_t)x[0])
#define N ((uint32_t)x[2])
ORACLE(shf_l_wrap, PAIR << (N & 31) >> 32)
ORACLE(shf_r_wrap, PAIR >> (N & 31))
ORACLE(shf_l_clamp, N >= 32 ? (uint32_t)x[0] : PAIR << N >> 32)
ORACLE(shf_r_clamp, N >= 32 ? (uint32_t)x[1] : PAIR >> N)

/* op->flags: .wrap */
static uint64_t mask_of(const Op *op, const uint64_t *x) {
    uint64_t start = (uint32_t)x[0], length = (uint32_t)x[1], r = 0;
    if (op->flags) start &= 31, length &= 31;
    for (uint64_t k = 0; k < 32; k++) r |= (uint64_t)(k >= start && k - start < length) << k;
    return r;
}
/* op->mode: signed */
static uint64_t extended(const Op *op, const uint64_t *x) {
    uint64_t n = (uint32_t)x[1], r = 0;
    if (op->flags) n &= 31;
    for (uint64_t k = 0; k < 32; k++) r |= (k < n ? bit(x[0], k) : n && op->mode ? bit(x[0], n - 1) : 0) << k;
    return r;
}

/* op->mode: 0 default, then f4e b4e rc8 ecl ecr rc16 as the manual's table lists the four bytes. */
static uint64_t permuted(const Op *op, const uint64_t *x) {
    static const char *const chosen[7][4] = {{0},
                                             {"3210", "4321", "5432", "6543"},
                                             {"5670", "6701", "7012", "0123"},
                                             {"0000", "1111", "2222", "3333"},
                                             {"3210", "3211", "3222", "3333"},
                                             {"0000", "1110", "2210", "3210"},
                                             {"1010", "3232", "1010", "3232"}};
    uint64_t bytes = PAIR, r = 0;
    for (unsigned k = 0; k < 4; k++) {
        unsigned pick = op->mode ? (unsigned)(chosen[op->mode][N & 3][3 - k] - '0') : N >> 4 * k & 15;
        uint64_t byte = bytes >> 8 * (pick & 7) & 0xff;
        if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
        r |= byte << 8 * k;
    }
    return r;
}

static uint64_t nth(const Op *op, const uint64_t *x) {
    (void)op;
    uint32_t mask = (uint32_t)x[0], base = x[1] & 31;
    int32_t offset = (int32_t)(x[2] % 81) - 40;
    if (offset == 0) return bit(mask, base) ? base : UINT32_MAX;
    int pos = (int)base, count = abs(offset) - 1, step = offset > 0 ? 1 : -1;
    for (; pos >= 0 && pos < 32; pos += step) {
        if (!bit(mask, (uint64_t)pos)) continue;
        if (count == 0) return (uint64_t)pos;
        count--;
    }
    return UINT32_MAX;
}

static void untyped_bits(void) {
    static const Op ops[] = {
        {"shf.l.wrap.b32 %d, %a, %b, %c;", "b32 b32 b32 b32", shf_l_wrap, 0, 0, NULL},
        {"shf.r.wrap.b32 %d, %a, %b, %c;", "b32 b32 b32 b32", shf_r_wrap, 0, 0, NULL},
        {"shf.l.clamp.b32 %d, %a, %b, %c;", "b32 b32 b32 b32", shf_l_clamp, 0, 0, NULL},
        {"shf.r.clamp.b32 %d, %a, %b, %c;", "b32 b32 b32 b32", shf_r_clamp, 0, 0, NULL},
        {"bmsk.clamp.b32 %d, %a, %b;", "b32 b32 b32", mask_of, 0, 0, NULL},
        {"bmsk.wrap.b32 %d, %a, %b;", "b32 b32 b32", mask_of, 0, 1, NULL},
        {"szext.clamp.u32 %d, %a, %b;", "b32 b32 b32", extended, 0, 0, NULL},
        {"szext.clamp.s32 %d, %a, %b;", "b32 b32 b32", extended, 1, 0, NULL},
        {"szext.wrap.u32 %d, %a, %b;", "b32 b32 b32", extended, 0, 1, NULL},
        {"szext.wrap.s32 %d, %a, %b;", "b32 b32 b32", extended, 1, 1, NULL},
        {"prmt.b32 %d, %a, %b, %c;", "b32 b32 b32 b32", permuted, 0, 0, NULL},
        {"prmt.b32.f4e %d, %a, %b, %c;", "b32 b32 b32 b32", permuted, 1, 0, NULL},
        {"prmt.b32.b4e %d, %a, %b, %c;", "b32 b32 b32 b32", permuted, 2, 0, NULL},
        {"prmt.b32.rc8 %d, %a, %b, %c;", "b32 b32 b32 b32", permuted, 3, 0, NULL},
        {"prmt.b32.ecl %d, %a, %b, %c;", "b32 b32 b32 b32", permuted, 4, 0, NULL},
        {"prmt.b32.ecr %d, %a, %b, %c;", "b32 b32 b32 b32", permuted, 5, 0, NULL},
        {"prmt.b32.rc16 %d, %a, %b, %c;", "b32 b32 b32 b32", permuted, 6, 0, NULL},
        {"{ .reg .b32 s; .reg .b64 t; and.b32 s, %b, 31; rem.u64 t, %c, 81; cvt.u32.u64 %d, t; sub.s32 %d, %d, 40;"
         "fns.b32 %d, %a, s, %d; }",
         "b32 b32 b32 b64", nth, 0, 0, NULL},
    };
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) op_run(&ops[k], &ints);
}

/* ---- comparisons and choices ---------------------------------------------------------------------- */

enum { EQ, NE, LT, LE, GT, GE };
static bool holds(unsigned relation, Int128 a, Int128 b) {
    switch (relation) {
    case EQ: return a == b;
    case NE: return a != b;
    case LT: return a < b;
    case LE: return a <= b;
    case GT: return a > b;
    default: return a >= b;
    }
}
/* op->flags: 1 signed, the relation from bit 1, the BoolOp from bit 8. */
static uint64_t compared(const Op *op, const uint64_t *x) {
    bool t = holds(op->flags >> 1 & 7, number(x[0], W, op->flags & 1), number(x[1], W, op->flags & 1)),
         c = (uint32_t)x[2] != 0;
    switch (op->flags >> 8) {
    case 1: return (uint64_t)((t && c) + 2 * (!t && c));
    case 2: return (uint64_t)((t || c) + 2 * (!t || c));
    case 3: return (uint64_t)((t != c) + 2 * (!t != c));
    default: return (uint64_t)(t + 2 * !t);
    }
}

static void comparisons(void) {
    static const struct {
        const char *name;
        unsigned relation;
    } relations[] = {{"eq", EQ}, {"ne", NE}, {"lt", LT}, {"le", LE}, {"gt", GT},
                     {"ge", GE}, {"lo", LT}, {"ls", LE}, {"hi", GT}, {"hs", GE}};
    static const char *const bools[] = {"", ".and", ".or", ".xor"};
    for (size_t k = 0; k < 6; k++)
        for (size_t r = 0; r < 10; r++)
            for (unsigned b = 0; b < 4; b++) {
                const IntType *t = &types[k];
                char text[64], all[64];
                snprintf(text, sizeof text, "setp.%s%s.%s %%d|%%q, %%a, %%b%s;", relations[r].name, bools[b], t->name,
                         b ? ", %c" : "");
                snprintf(all, sizeof all, "pred %s %s%s", t->name, t->name, b ? " pred" : "");
                if (r > 5 && t->is_signed) {
                    op_refused(text, all);
                    continue;
                }
                unsigned flags = t->is_signed | relations[r].relation << 1 | b << 8;
                Inputs few = {ints.x, 2048, 0};
                op_run(&(Op){.text = text, .types = all, .oracle = compared, .mode = t->bits, .flags = flags},
                       b ? &few : &ints);
            }
    op_refused("setp.lt.b32 %d, %a, %b;", "pred b32 b32");
}

ORACLE(less, holds(LT, S32(0), S32(1)) ? UINT64_MAX : 0)
ORACLE(less_as_float, holds(LT, S32(0), S32(1)) ? 0x3f800000 : 0)
ORACLE(chosen_by_sign, S32(2) >= 0 ? x[0] : x[1])
ORACLE(chosen, (uint32_t)x[2] ? x[0] : x[1])
ORACLE(chosen_not, (uint32_t)x[2] ? x[1] : x[0])
ORACLE(of_three, ((uint32_t)x[0] != 0) ^ ((uint32_t)x[1] != 0 && (uint32_t)x[2] != 0))

static void choices(void) {
    static const Op ops[] = {
        {"set.lt.u32.s32 %d, %a, %b;", "u32 s32 s32", less, 0, 0, NULL},
        {"set.lt.f32.s32 %d, %a, %b;", "f32 s32 s32", less_as_float, 0, 0, NULL},
        {"slct.u64.s32 %d, %a, %b, %c;", "u64 u64 u64 s32", chosen_by_sign, 0, 0, NULL},
        {"slct.b16.s32 %d, %a, %b, %c;", "b16 b16 b16 s32", chosen_by_sign, 0, 0, NULL},
        {"selp.b16 %d, %a, %b, %c;", "b16 b16 b16 pred", chosen, 0, 0, NULL},
        {"selp.f32 %d, %a, %b, %c;", "b32 b32 b32 pred", chosen, 0, 0, NULL},
        {"selp.u64 %d, %a, %b, !%c;", "b64 b64 b64 pred", chosen_not, 0, 0, NULL},
        {"{ .reg .pred t; and.pred t, %b, %c; xor.pred %d, %a, t; }", "pred pred pred pred", of_three, 0, 0, NULL},
        {"{ .reg .pred t, u; not.pred t, %b; or.pred t, t, !%c; not.pred u, t; xor.pred %d, %a, u; }",
         "pred pred pred pred", of_three, 0, 0, NULL},
    };
    Inputs zeros_too = {NULL, 0, 0};
    for (size_t k = 0; k < 4096; k++)
        inputs_add(&zeros_too, k & 1 ? random_bits() : 0, k & 2 ? random_bits() : 0, k & 4 ? random_bits() : 0);
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        op_run(&ops[k], strstr(ops[k].types, "pred") ? &zeros_too : &ints);
    inputs_free(&zeros_too);
}

/* ---- moves ----------------------------------------------------------------------------------------- */

ORACLE(same, x[0])
ORACLE(joined, (x[0] & 0xffff) | (x[1] & 0xffff) << 16)
ORACLE(swapped_words, x[0] >> 32 | x[0] << 32)
ORACLE(swapped_bytes, (x[0] >> 8 & 0xff00ff) | (x[0] & 0xff00ff) << 8)
ORACLE(swapped_halves, x[0] >> 48 | (x[0] >> 16 & 0xffff0000) | (x[0] << 16 & UINT64_C(0xffff00000000)) | x[0] << 48)
ORACLE(exclusive, x[0] ^ x[1])

static void moves(void) {
    static const Op ops[] = {
        {"mov.b16 %d, %a;", "b16 b16", same, 0, 0, NULL},
        {"mov.f32 %d, %a;", "b32 b32", same, 0, 0, NULL},
        {"mov.u64 %d, %a;", "b64 b64", same, 0, 0, NULL},
        {"mov.b32 %d, {%a, %b};", "b32 b16 b16", joined, 0, 0, NULL},
        {"{ .reg .b32 l, h; mov.b64 {l, h}, %a; mov.b64 %d, {h, l}; }", "b64 b64", swapped_words, 0, 0, NULL},
        {"{ .reg .b16 a<4>; mov.b64 {a0, a1, a2, a3}, %a; mov.b64 %d, {a3, a2, a1, a0}; }", "b64 b64", swapped_halves,
         0, 0, NULL},
        {"{ .reg .b8 a<4>; mov.b32 {a0, a1, a2, a3}, %a; mov.b32 %d, {a1, a0, a3, a2}; }", "b32 b32", swapped_bytes, 0,
         0, NULL},
        {"{ .reg .b128 t; .reg .b64 l, h; mov.b128 t, {%a, %b}; mov.b128 {l, h}, t; xor.b64 %d, l, h; }", "b64 b64 b64",
         exclusive, 0, 0, NULL},
        {"{ .reg .b32 l; mov.b64 {l, _}, %a; mov.b32 %d, l; }", "b32 b64", same, 0, 0, NULL},
    };
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) op_run(&ops[k], &ints);
}

/* Special registers of another width than the operation's, and the address of dynamic shared memory in 32 bits. */
static void operands_of_another_width(void) {
    WORDS_ARE(HEAD ".extern .shared .b32 dynamic[];\n.shared .b32 fixed[4];\n" BEGIN
                   "st.shared.u32 [fixed], 1;\nmov.u32 %r3, dynamic;\nadd.u32 %r4, dynamic, 4;\n"
                   "add.u32 %r5, dynamic, %r0;\nsub.u32 %r4, %r4, %r3;\nsub.u32 %r5, %r5, %r3;\n"
                   "mad.lo.u32 %r4, %r5, 256, %r4;\nst.global.u32 [%rd2], %r4;\n" END,
              3, 0, 0x004, 0x104, 0x204);
    WORDS_ARE(KERNEL("mov.u16 %h0, %tid.x;\nadd.u16 %h1, %tid.x, 1;\nmov.b32 %r3, {%h0, %h1};\n"
                     "st.global.u32 [%rd2], %r3;\n"),
              3, 0, 0x10000, 0x20001, 0x30002);
    WORDS_ARE(KERNEL("cvt.u64.u32 %rd3, %tid.x;\ncvt.u16.u32 %h0, %tid.x;\ncvt.u16.u64 %h1, %rd3;\n"
                     "mov.b32 %r3, {%h0, %h1};\nst.global.u32 [%rd2], %r3;\n"),
              3, 0, 0, 0x10001, 0x20002);
}

static void forms_that_do_not_exist(void) {
    static const char *const none[][2] = {
        {"add.b32 %d, %a, %b;", "b32 b32 b32"},
        {"add.sat.u32 %d, %a, %b;", "u32 u32 u32"},
        {"add.u8 %d, %a, %b;", "u8 u8 u8"},
        {"add.rn.s32 %d, %a, %b;", "s32 s32 s32"},
        {"mul.u32 %d, %a, %b;", "u32 u32 u32"},
        {"mul.wide.u64 %d, %a, %b;", "b64 b64 b64"},
        {"abs.u32 %d, %a;", "u32 u32"},
        {"neg.u32 %d, %a;", "u32 u32"},
        {"and.u32 %d, %a, %b;", "u32 u32 u32"},
        {"shl.u32 %d, %a, %b;", "u32 u32 u32"},
        {"popc.b16 %d, %a;", "u32 b16"},
        {"bfe.b32 %d, %a, %b, %c;", "b32 b32 b32 b32"},
        {"mad.lo.sat.s32 %d, %a, %b, %c;", "s32 s32 s32 s32"},
        {"dp4a.u32 %d, %a, %b, %c;", "u32 u32 u32 u32"},
        {"selp.pred %d, %a, %b, %c;", "pred pred pred pred"},
        {"shf.l.b32 %d, %a, %b, %c;", "b32 b32 b32 b32"},
        {"add.cc.u16 %d, %a, %b;", "u16 u16 u16"},
        {"min.relu.u32 %d, %a, %b;", "u32 u32 u32"},
        {"mov.b8 %d, %a;", "u8 u8"},
        {"rem.f32 %d, %a, %b;", "f32 f32 f32"},
    };
    for (size_t k = 0; k < sizeof none / sizeof *none; k++) op_refused(none[k][0], none[k][1]);
}

int main(void) {
    inputs_cross(&ints, special_ints, n_special_ints, true);
    for (size_t k = 0; k < ints.n; k += 3) ints.x[k][2] &= 63; /* shifts and positions of use */
    for (size_t k = 1; k < ints.n; k += 3) ints.x[k][1] &= 63, ints.x[k][2] &= 63;
    inputs_random(&ints, 2000);
    arithmetic();
    products_twice_as_wide();
    special_arithmetic();
    carries();
    typed_bits();
    lop3();
    untyped_bits();
    comparisons();
    choices();
    moves();
    operands_of_another_width();
    forms_that_do_not_exist();
    inputs_free(&ints);
    op_end();
    return failures != 0;
}
