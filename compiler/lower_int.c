/* lower_int.c - integer arithmetic and bits, total for every operand.
 *
 * LLVM leaves division by zero, MIN / -1 and shifts by the width undefined or poison: here a harmless
 * operand takes the dangerous one's place first, and the defined result is chosen afterwards. The
 * choices fold away when the divisor or the amount is a constant. */
#include "lower.h"

static bool is_signed(const Instr *in) { return type_is_signed((Type)in->type); }
static Ty type_of(Lower *L, const Instr *in) { return ll_type(L, (Type)in->type); }
static uint64_t bits_of(const Instr *in) { return type_bits((Type)in->type); }

/* 1 where the divisor is 0, or is -1 (x / -1 is taken from the negation, so that MIN / -1 can't trap). */
static Val safe_divisor(Lower *L, const Instr *in, Val b) {
    Ty t = LLVMTypeOf(b);
    Val bad = ll_icmp(L, LLVMIntEQ, b, ll_int(L, t, 0));
    if (is_signed(in)) bad = LLVMBuildOr(L->b, bad, ll_icmp(L, LLVMIntEQ, b, LLVMConstAllOnes(t)), "bad");
    return ll_select(L, bad, ll_int(L, t, 1), b);
}

static Val zero_if_divisor_is_zero(Lower *L, Val b, Val v) {
    Val zero = ll_int(L, LLVMTypeOf(b), 0);
    return ll_select(L, ll_icmp(L, LLVMIntEQ, b, zero), zero, v);
}

static bool power_of_two(const Lower *L, const Instr *in, unsigned *shift) {
    uint64_t c;
    if (!ll_const_int(L->m, in->args[1], &c) || c == 0 || (c & (c - 1))) return false;
    *shift = (unsigned)__builtin_ctzll(c);
    return !(is_signed(in) && *shift + 1 >= bits_of(in));
}

/* No vector instruction divides integers, and float64 holds any of 32 bits: a quotient of them isn't rounded up to the
 * next integer, which is at least 2^-32 of it away. */
static bool divides_as_floats(const Lower *L, Val d) {
    return L->lanes > 1 && !LLVMIsConstant(d) && LLVMGetIntTypeWidth(LLVMGetElementType(LLVMTypeOf(d))) <= 32;
}

static Val quotient(Lower *L, Val a, Val d, bool is_signed) {
    if (!divides_as_floats(L, d)) return is_signed ? LLVMBuildSDiv(L->b, a, d, "q") : LLVMBuildUDiv(L->b, a, d, "q");
    Ty t = LLVMTypeOf(a), wide = ll_wide(L, L->f64);
    LLVMOpcode up = is_signed ? LLVMSIToFP : LLVMUIToFP, down = is_signed ? LLVMFPToSI : LLVMFPToUI;
    Val q = LLVMBuildFDiv(L->b, LLVMBuildCast(L->b, up, a, wide, "a"), LLVMBuildCast(L->b, up, d, wide, "d"), "q");
    return LLVMBuildCast(L->b, down, q, t, "q");
}

static Val remainder_of(Lower *L, Val a, Val d, bool is_signed) {
    if (!divides_as_floats(L, d)) return is_signed ? LLVMBuildSRem(L->b, a, d, "r") : LLVMBuildURem(L->b, a, d, "r");
    return LLVMBuildSub(L->b, a, LLVMBuildMul(L->b, quotient(L, a, d, is_signed), d, "m"), "r");
}

/* A divisor that needs no care. On a CPU lanes that are masked out divide, too: what is known doesn't hold for them. */
static bool plain_divisor(const Lower *L, const Instr *in) {
    uint64_t c;
    if (in->sub & DIVIDE_BY_POSITIVE && L->o->target == TARGET_PTX) return true;
    return ll_const_int(L->m, in->args[1], &c) && c != 0 && !(is_signed(in) && (int64_t)c == -1);
}

/* Signed, but the numbers aren't: an unsigned division is shorter. */
static bool no_signs(const Instr *in) {
    return (in->sub & DIVIDE_BY_POSITIVE) && (in->sub & DIVIDE_NO_SIGN) &&
           (in->op == OP_TRUNCDIV || in->op == OP_TRUNCMOD);
}

Val lower_int_truncdiv(Lower *L, const Instr *in, Val *a) {
    if (plain_divisor(L, in)) return quotient(L, a[0], a[1], is_signed(in) && !no_signs(in));
    Val d = safe_divisor(L, in, a[1]);
    if (!is_signed(in)) return zero_if_divisor_is_zero(L, a[1], quotient(L, a[0], d, false));
    Val q = quotient(L, a[0], d, true);
    Val minus_one = ll_icmp(L, LLVMIntEQ, a[1], LLVMConstAllOnes(LLVMTypeOf(a[1])));
    q = ll_select(L, minus_one, LLVMBuildNeg(L->b, a[0], "n"), q);
    return zero_if_divisor_is_zero(L, a[1], q);
}

static Val least(Lower *L, const Instr *in, Val x, Val y) {
    if (bits_of(in) > 32) return ll_select(L, ll_icmp(L, LLVMIntULT, y, x), y, x);
    return ll_intrinsic(L, "llvm.umin", type_of(L, in), 2, (Val[]){x, y});
}

/* x % n for -n <= x < 2 * n: as unsigned numbers the least of x + n and x, then that or n less, unless x < n. */
static Val once_around(Lower *L, const Instr *in, Val x, Val n) {
    if (is_signed(in) && !(in->sub & DIVIDE_NO_SIGN)) x = least(L, in, x, LLVMBuildAdd(L->b, x, n, "r"));
    return in->sub & DIVIDE_BELOW ? x : least(L, in, x, LLVMBuildSub(L->b, x, n, "r"));
}

/* x % -1 is 0, and so is x % 1, which the safe divisor computes. */
Val lower_int_truncmod(Lower *L, const Instr *in, Val *a) {
    if (in->sub & DIVIDE_ONCE) return once_around(L, in, a[0], a[1]);
    Val d = plain_divisor(L, in) ? a[1] : safe_divisor(L, in, a[1]);
    return remainder_of(L, a[0], d, is_signed(in) && !no_signs(in));
}

/* Whether the truncated remainder is non-zero and has not the divisor's sign. */
static Val must_adjust(Lower *L, Val r, Val d) {
    Val zero = ll_int(L, LLVMTypeOf(r), 0);
    Val nonzero = ll_icmp(L, LLVMIntNE, r, zero);
    Val differ = ll_icmp(L, LLVMIntSLT, LLVMBuildXor(L->b, r, d, "x"), zero);
    return LLVMBuildAnd(L->b, nonzero, differ, "adj");
}

Val lower_int_floordiv(Lower *L, const Instr *in, Val *a) {
    unsigned shift;
    Ty t = type_of(L, in);
    if (power_of_two(L, in, &shift))
        return is_signed(in) ? LLVMBuildAShr(L->b, a[0], ll_int(L, t, shift), "q")
                             : LLVMBuildLShr(L->b, a[0], ll_int(L, t, shift), "q");
    if (!is_signed(in)) return lower_int_truncdiv(L, in, a);
    bool plain = plain_divisor(L, in);
    Val d = plain ? a[1] : safe_divisor(L, in, a[1]);
    Val q = quotient(L, a[0], d, true);
    Val r = LLVMBuildSub(L->b, a[0], LLVMBuildMul(L->b, q, d, "m"), "r");
    Val less = LLVMBuildSExt(L->b, must_adjust(L, r, d), t, "less");
    q = LLVMBuildAdd(L->b, q, less, "q");
    if (plain) return q;
    Val minus_one = ll_icmp(L, LLVMIntEQ, a[1], LLVMConstAllOnes(t));
    q = ll_select(L, minus_one, LLVMBuildNeg(L->b, a[0], "n"), q);
    return zero_if_divisor_is_zero(L, a[1], q);
}

static Val floormod(Lower *L, const Instr *in, Val *a) {
    Ty t = type_of(L, in);
    if (in->sub & DIVIDE_FROM_MINUS && in->op == OP_FLOORMOD && is_signed(in)) {
        Val n = plain_divisor(L, in) ? a[1] : safe_divisor(L, in, a[1]);
        return LLVMBuildURem(L->b, LLVMBuildAdd(L->b, a[0], a[1], "x"), n, "r");
    }
    Val r = lower_int_truncmod(L, in, a);
    if (!is_signed(in)) return r;
    if (in->sub & DIVIDE_BY_POSITIVE) {
        Val negative = ll_icmp(L, LLVMIntSLT, r, ll_int(L, t, 0));
        return LLVMBuildAdd(L->b, r, ll_select(L, negative, a[1], ll_int(L, t, 0)), "r");
    }
    Val d = plain_divisor(L, in) ? a[1] : safe_divisor(L, in, a[1]);
    Val more = ll_select(L, must_adjust(L, r, d), d, ll_int(L, t, 0));
    return LLVMBuildAdd(L->b, r, more, "r");
}

/* An index that wraps around, (i + 1) % n, is in range nearly always, and a CPU's division takes as long as twenty
 * other operations: 0 <= x < n is looked at first. */
static Val guarded_floormod(Lower *L, const Instr *in, Val *a) {
    Ty t = type_of(L, in);
    Val below = ll_icmp(L, LLVMIntULT, a[0], a[1]);
    if (is_signed(in)) below = LLVMBuildAnd(L->b, ll_icmp(L, LLVMIntSGT, a[1], ll_int(L, t, 0)), below, "in");
    LLVMBasicBlockRef divide = ll_block(L, "divide"), done = ll_block(L, "divided"), from[2];
    from[0] = LLVMGetInsertBlock(L->b);
    LLVMBuildCondBr(L->b, below, done, divide);
    LLVMPositionBuilderAtEnd(L->b, divide);
    Val values[2] = {a[0], floormod(L, in, a)};
    from[1] = LLVMGetInsertBlock(L->b);
    LLVMBuildBr(L->b, done);
    LLVMPositionBuilderAtEnd(L->b, done);
    Val r = LLVMBuildPhi(L->b, t, "r");
    LLVMAddIncoming(r, values, from, 2);
    return r;
}

Val lower_int_floormod(Lower *L, const Instr *in, Val *a) {
    unsigned shift;
    uint64_t c;
    Ty t = type_of(L, in);
    if (power_of_two(L, in, &shift)) return LLVMBuildAnd(L->b, a[0], ll_int(L, t, (1ull << shift) - 1), "r");
    if (in->sub & DIVIDE_ONCE) return once_around(L, in, a[0], a[1]);
    bool divides = L->o->target == TARGET_CPU && L->lanes == 1 && !ll_const_int(L->m, in->args[1], &c);
    return divides ? guarded_floormod(L, in, a) : floormod(L, in, a);
}

Val lower_mulhi(Lower *L, const Instr *in, Val *a) {
    Ty t = type_of(L, in);
    Ty twice = ll_wide(L, LLVMIntTypeInContext(L->ctx, (unsigned)bits_of(in) * 2));
    LLVMOpcode extend = is_signed(in) ? LLVMSExt : LLVMZExt;
    Val x = LLVMBuildCast(L->b, extend, a[0], twice, "x"), y = LLVMBuildCast(L->b, extend, a[1], twice, "y");
    Val p = LLVMBuildMul(L->b, x, y, "p");
    return LLVMBuildTrunc(L->b, LLVMBuildLShr(L->b, p, ll_int(L, twice, bits_of(in)), "h"), t, "h");
}

/* ---- integer power ------------------------------------------------------------------------- */

/* Squaring in straight line for a small constant exponent. */
static Val power_of_constant(Lower *L, Val base, uint64_t e) {
    Val result = NULL;
    for (; e; e >>= 1) {
        if (e & 1) result = result ? LLVMBuildMul(L->b, result, base, "p") : base;
        if (e > 1) base = LLVMBuildMul(L->b, base, base, "sq");
    }
    return result ? result : ll_int(L, LLVMTypeOf(base), 1);
}

/* Squaring in a loop; in vectors the lanes that are done keep multiplying by one. */
static Val power_loop(Lower *L, Val base, Val exponent) {
    Ty t = LLVMTypeOf(base);
    Val one = ll_int(L, t, 1), zero = ll_int(L, t, 0);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b), loop = ll_block(L, "pow"), done = ll_block(L, "powdone");
    LLVMBuildBr(L->b, loop);
    LLVMPositionBuilderAtEnd(L->b, loop);
    Val r = LLVMBuildPhi(L->b, t, "r"), b = LLVMBuildPhi(L->b, t, "b"), e = LLVMBuildPhi(L->b, t, "e");
    Val odd = ll_icmp(L, LLVMIntNE, LLVMBuildAnd(L->b, e, one, "odd"), zero);
    Val r2 = LLVMBuildMul(L->b, r, ll_select(L, odd, b, one), "r2");
    Val b2 = LLVMBuildMul(L->b, b, b, "b2"), e2 = LLVMBuildLShr(L->b, e, one, "e2");
    Val more = ll_icmp(L, LLVMIntNE, e2, zero);
    if (L->lanes > 1) more = ll_intrinsic(L, "llvm.vector.reduce.or", LLVMTypeOf(more), 1, &more);
    LLVMBuildCondBr(L->b, more, loop, done);
    Val ri[2] = {one, r2}, bi[2] = {base, b2}, ei[2] = {exponent, e2};
    LLVMBasicBlockRef from[2] = {before, loop};
    LLVMAddIncoming(r, ri, from, 2);
    LLVMAddIncoming(b, bi, from, 2);
    LLVMAddIncoming(e, ei, from, 2);
    LLVMPositionBuilderAtEnd(L->b, done);
    return r2;
}

/* For a negative exponent: 1 for base 1, +-1 by the exponent's parity for base -1, else 0. */
static Val inverse_power(Lower *L, Val base, Val exponent) {
    Ty t = LLVMTypeOf(base);
    Val one = ll_int(L, t, 1), zero = ll_int(L, t, 0), minus = LLVMConstAllOnes(t);
    Val odd = ll_icmp(L, LLVMIntNE, LLVMBuildAnd(L->b, exponent, one, "odd"), zero);
    Val of_minus = ll_select(L, odd, minus, one);
    Val r = ll_select(L, ll_icmp(L, LLVMIntEQ, base, minus), of_minus, zero);
    return ll_select(L, ll_icmp(L, LLVMIntEQ, base, one), one, r);
}

Val lower_pow(Lower *L, const Instr *in, Val *a) {
    uint64_t e;
    bool constant = ll_const_int(L->m, in->args[1], &e);
    bool negative = constant && is_signed(in) && (int64_t)e < 0;
    if (constant && !negative && e <= 64) return power_of_constant(L, a[0], e);
    if (!is_signed(in)) return power_loop(L, a[0], a[1]);
    Ty t = type_of(L, in);
    Val below = ll_icmp(L, LLVMIntSLT, a[1], ll_int(L, t, 0));
    Val inverse = inverse_power(L, a[0], a[1]);
    if (negative) return inverse;
    Val loop = power_loop(L, a[0], ll_select(L, below, ll_int(L, t, 0), a[1]));
    return ll_select(L, below, inverse, loop);
}

/* ---- bits ---------------------------------------------------------------------------------- */

Val lower_and(Lower *L, const Instr *in, Val *a) { return (void)in, LLVMBuildAnd(L->b, a[0], a[1], "v"); }
Val lower_or(Lower *L, const Instr *in, Val *a) { return (void)in, LLVMBuildOr(L->b, a[0], a[1], "v"); }
Val lower_xor(Lower *L, const Instr *in, Val *a) { return (void)in, LLVMBuildXor(L->b, a[0], a[1], "v"); }
Val lower_not(Lower *L, const Instr *in, Val *a) { return (void)in, LLVMBuildNot(L->b, a[0], "v"); }

Val lower_shl(Lower *L, const Instr *in, Val *a) {
    Ty t = type_of(L, in);
    Val fits = ll_icmp(L, LLVMIntULT, a[1], ll_int(L, t, bits_of(in)));
    Val amount = LLVMBuildAnd(L->b, a[1], ll_int(L, t, bits_of(in) - 1), "n");
    return ll_select(L, fits, LLVMBuildShl(L->b, a[0], amount, "v"), ll_int(L, t, 0));
}

Val lower_shr(Lower *L, const Instr *in, Val *a) {
    Ty t = type_of(L, in);
    Val top = ll_int(L, t, bits_of(in) - 1);
    Val fits = ll_icmp(L, LLVMIntULT, a[1], ll_int(L, t, bits_of(in)));
    if (is_signed(in)) return LLVMBuildAShr(L->b, a[0], ll_select(L, fits, a[1], top), "v");
    Val amount = LLVMBuildAnd(L->b, a[1], top, "n");
    return ll_select(L, fits, LLVMBuildLShr(L->b, a[0], amount, "v"), ll_int(L, t, 0));
}

Val lower_popc(Lower *L, const Instr *in, Val *a) { return ll_intrinsic(L, "llvm.ctpop", type_of(L, in), 1, a); }
Val lower_brev(Lower *L, const Instr *in, Val *a) { return ll_intrinsic(L, "llvm.bitreverse", type_of(L, in), 1, a); }

Val lower_fshl(Lower *L, const Instr *in, Val *a) { return ll_intrinsic(L, "llvm.fshl", type_of(L, in), 3, a); }
Val lower_fshr(Lower *L, const Instr *in, Val *a) { return ll_intrinsic(L, "llvm.fshr", type_of(L, in), 3, a); }

/* Byte i of the result: the byte of the pair that nibble i names, or its sign eight times. */
static Val permuted_byte(Lower *L, Ty t, Val pair, Val nibble) {
    Ty wide = ll_wide(L, L->i64);
    Val shift = LLVMBuildMul(L->b, LLVMBuildAnd(L->b, nibble, ll_int(L, t, 7), "n"), ll_int(L, t, 8), "bit");
    Val byte = LLVMBuildLShr(L->b, pair, LLVMBuildZExt(L->b, shift, wide, "w"), "byte");
    byte = LLVMBuildAnd(L->b, LLVMBuildTrunc(L->b, byte, t, "byte"), ll_int(L, t, 255), "byte");
    Val sign = ll_icmp(L, LLVMIntUGT, byte, ll_int(L, t, 127));
    Val spread = ll_select(L, sign, ll_int(L, t, 255), ll_int(L, t, 0));
    Val wants = ll_icmp(L, LLVMIntNE, LLVMBuildAnd(L->b, nibble, ll_int(L, t, 8), "m"), ll_int(L, t, 0));
    return ll_select(L, wants, spread, byte);
}

Val lower_prmt(Lower *L, const Instr *in, Val *a) {
    Ty t = type_of(L, in), wide = ll_wide(L, L->i64);
    if (L->o->target == TARGET_PTX) return ll_intrinsic(L, "llvm.nvvm.prmt", NULL, 3, a);
    Val pair = LLVMBuildShl(L->b, LLVMBuildZExt(L->b, a[1], wide, "high"), ll_int(L, wide, 32), "high");
    pair = LLVMBuildOr(L->b, pair, LLVMBuildZExt(L->b, a[0], wide, "low"), "pair");
    Val r = ll_int(L, t, 0);
    for (unsigned i = 0; i < 4; i++) {
        Val nibble = LLVMBuildLShr(L->b, a[2], ll_int(L, t, 4 * i), "nibble");
        Val byte = permuted_byte(L, t, pair, nibble);
        r = LLVMBuildOr(L->b, r, LLVMBuildShl(L->b, byte, ll_int(L, t, 8 * i), "b"), "r");
    }
    return r;
}

Val lower_clz(Lower *L, const Instr *in, Val *a) {
    Val args[2] = {a[0], LLVMConstInt(L->i1, 0, false)};
    return ll_intrinsic(L, "llvm.ctlz", type_of(L, in), 2, args);
}

Val lower_ctz(Lower *L, const Instr *in, Val *a) {
    Val args[2] = {a[0], LLVMConstInt(L->i1, 0, false)};
    return ll_intrinsic(L, "llvm.cttz", type_of(L, in), 2, args);
}
