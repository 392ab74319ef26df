/* lower_float.c - floats: f16 and bf16 by way of f32, conversions, Python's division.
 *
 * f16 and bf16 are held as their bits. An operation on them widens to f32, computes and rounds back;
 * one rounding to f32 in between is harmless for + - * / and sqrt, since f32 has more than twice their
 * precision. Where it isn't (fused multiply-add, f64 and 64-bit integers to bf16) the step in between
 * rounds to odd: its last bit remembers that something was lost, so the final rounding is right. */
#include "lower.h"

static Ty bits_type(Lower *L, Val f) {
    Ty t = LLVMTypeOf(f);
    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) t = LLVMGetElementType(t);
    return ll_wide(L, t == L->f64 ? L->i64 : t == L->f32 ? L->i32 : L->i16);
}

static Val as_bits(Lower *L, Val f) { return LLVMBuildBitCast(L->b, f, bits_type(L, f), "bits"); }
static Val as_f32(Lower *L, Val bits) { return LLVMBuildBitCast(L->b, bits, ll_wide(L, L->f32), "f"); }
static Val as_f64(Lower *L, Val bits) { return LLVMBuildBitCast(L->b, bits, ll_wide(L, L->f64), "f"); }
static Val as_half(Lower *L, Val bits) { return LLVMBuildBitCast(L->b, bits, ll_wide(L, L->half), "h"); }
static Val is_nan(Lower *L, Val f) { return ll_fcmp(L, LLVMRealUNO, f, f); }

static Val and_bits(Lower *L, Val v, uint64_t mask) {
    return LLVMBuildAnd(L->b, v, ll_int(L, LLVMTypeOf(v), mask), "m");
}
static Val add_bits(Lower *L, Val v, uint64_t n) { return LLVMBuildAdd(L->b, v, ll_int(L, LLVMTypeOf(v), n), "a"); }
static Val shift_right(Lower *L, Val v, unsigned n) { return LLVMBuildLShr(L->b, v, ll_int(L, LLVMTypeOf(v), n), "r"); }
static Val to_16(Lower *L, Val v) { return LLVMBuildTrunc(L->b, v, ll_wide(L, L->i16), "w"); }
static Val below(Lower *L, Val v, uint64_t limit) { return ll_icmp(L, LLVMIntULT, v, ll_int(L, LLVMTypeOf(v), limit)); }

/* ---- f16 without instructions for it --------------------------------------------------------- */

/* Exponent and mantissa moved to their f32 places, then scaled by 2^112: subnormals come out normal. */
static Val f16_to_f32(Lower *L, Val h) {
    Val w = LLVMBuildZExt(L->b, h, ll_wide(L, L->i32), "w");
    Ty t = LLVMTypeOf(w);
    Val sign = LLVMBuildShl(L->b, and_bits(L, w, 0x8000), ll_int(L, t, 16), "sign");
    Val magnitude = LLVMBuildShl(L->b, and_bits(L, w, 0x7fff), ll_int(L, t, 13), "em");
    Val scaled = as_bits(L, LLVMBuildFMul(L->b, as_f32(L, magnitude), ll_float(L, ll_wide(L, L->f32), 0x1p112), "f"));
    Val special = LLVMBuildOr(L->b, magnitude, ll_int(L, t, 0x7f800000), "sp");
    Val v = ll_select(L, below(L, magnitude, 0x0f800000), scaled, special);
    return as_f32(L, LLVMBuildOr(L->b, v, sign, "v"));
}

/* Normals round by an integer addition; subnormals by a float addition that aligns them with 0.5's last bit. */
static Val f32_to_f16(Lower *L, Val f) {
    Val bits = as_bits(L, f);
    Ty t = LLVMTypeOf(bits);
    Val a = and_bits(L, bits, 0x7fffffff), sign = shift_right(L, and_bits(L, bits, 0x80000000), 16);
    Val odd = and_bits(L, shift_right(L, a, 13), 1);
    Val normal = shift_right(L, LLVMBuildAdd(L->b, add_bits(L, a, 0xc8000fff), odd, "n"), 13);
    Val small = LLVMBuildFAdd(L->b, as_f32(L, a), ll_float(L, ll_wide(L, L->f32), 0.5), "s");
    small = LLVMBuildSub(L->b, as_bits(L, small), ll_int(L, t, 0x3f000000), "s");
    Val r = ll_select(L, below(L, a, 0x38800000), small, normal);
    r = ll_select(L, below(L, a, 0x47800000), r, ll_int(L, t, 0x7c00));
    r = ll_select(L, below(L, a, 0x7f800001), r, ll_int(L, t, 0x7e00));
    return to_16(L, LLVMBuildOr(L->b, r, sign, "h"));
}

/* ---- widening and rounding ------------------------------------------------------------------- */

static Val bf16_to_f32(Lower *L, Val v) {
    Val w = LLVMBuildZExt(L->b, v, ll_wide(L, L->i32), "w");
    return as_f32(L, LLVMBuildShl(L->b, w, ll_int(L, LLVMTypeOf(w), 16), "w"));
}

static Val f32_to_bf16(Lower *L, Val f) {
    Val bits = as_bits(L, f);
    Val odd = and_bits(L, shift_right(L, bits, 16), 1);
    Val rounded = shift_right(L, LLVMBuildAdd(L->b, add_bits(L, bits, 0x7fff), odd, "n"), 16);
    Val quiet = LLVMBuildOr(L->b, shift_right(L, bits, 16), ll_int(L, LLVMTypeOf(bits), 0x40), "q");
    return to_16(L, ll_select(L, is_nan(L, f), quiet, rounded));
}

Val float_widen(Lower *L, Type t, Val v) {
    if (t == T_BF16) return bf16_to_f32(L, v);
    if (t != T_F16) return v;
    if (!L->f16_convert) return f16_to_f32(L, v);
    return LLVMBuildFPExt(L->b, as_half(L, v), ll_wide(L, L->f32), "f");
}

Val float_narrow(Lower *L, Type t, Val v) {
    if (t == T_BF16 && L->bf16_convert) return as_bits(L, LLVMBuildFPTrunc(L->b, v, ll_wide(L, L->bfloat), "b"));
    if (t == T_BF16) return f32_to_bf16(L, v);
    if (t != T_F16) return v;
    if (!L->f16_convert) return f32_to_f16(L, v);
    return as_bits(L, LLVMBuildFPTrunc(L->b, v, ll_wide(L, L->half), "h"));
}

/* f64 to f32 rounded to odd: towards zero, with the last bit set if anything was lost. */
static Val odd_f32(Lower *L, Val d) {
    Val f = LLVMBuildFPTrunc(L->b, d, ll_wide(L, L->f32), "f");
    Val back = LLVMBuildFPExt(L->b, f, LLVMTypeOf(d), "back");
    Val inexact = ll_fcmp(L, LLVMRealONE, back, d);
    Val away = ll_fcmp(L, LLVMRealOGT, ll_intrinsic(L, "llvm.fabs", LLVMTypeOf(d), 1, &back),
                       ll_intrinsic(L, "llvm.fabs", LLVMTypeOf(d), 1, &d));
    Val bits = as_bits(L, f);
    Ty t = LLVMTypeOf(bits);
    Val down = LLVMBuildSub(L->b, bits, LLVMBuildZExt(L->b, away, t, "z"), "down");
    return as_f32(L, LLVMBuildOr(L->b, down, LLVMBuildZExt(L->b, inexact, t, "z"), "odd"));
}

static Val from_f64(Lower *L, Type t, Val d) {
    if (t == T_F64) return d;
    if (t == T_F32) return LLVMBuildFPTrunc(L->b, d, ll_wide(L, L->f32), "f");
    if (t == T_F16 && L->f16_from_f64) return as_bits(L, LLVMBuildFPTrunc(L->b, d, ll_wide(L, L->half), "h"));
    return float_narrow(L, t, odd_f32(L, d));
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static Val arith(Lower *L, Op op, Val x, Val y) {
    switch (op) {
    case OP_ADD: return ll_relaxed(L, LLVMBuildFAdd(L->b, x, y, "v"));
    case OP_SUB: return ll_relaxed(L, LLVMBuildFSub(L->b, x, y, "v"));
    case OP_MUL: return ll_relaxed(L, LLVMBuildFMul(L->b, x, y, "v"));
    default: return ll_relaxed(L, LLVMBuildFDiv(L->b, x, y, "v"));
    }
}

static Val float_arith(Lower *L, const Instr *in, Val *a) {
    Type t = (Type)in->type;
    if (t == T_F16 && L->f16_arithmetic && in->op != OP_DIV)
        return as_bits(L, arith(L, (Op)in->op, as_half(L, a[0]), as_half(L, a[1])));
    return float_narrow(L, t, arith(L, (Op)in->op, float_widen(L, t, a[0]), float_widen(L, t, a[1])));
}

static Val integer_or_float(Lower *L, const Instr *in, Val *a, LLVMOpcode op) {
    if (type_is_float((Type)in->type)) return float_arith(L, in, a);
    Val v = LLVMBuildBinOp(L->b, op, a[0], a[1], "v");
    if (in->sub & ARITH_NO_WRAP && LLVMIsABinaryOperator(v)) {
        if (type_is_signed((Type)in->type)) LLVMSetNSW(v, true);
        else LLVMSetNUW(v, true);
    }
    return v;
}

Val lower_add(Lower *L, const Instr *in, Val *a) { return integer_or_float(L, in, a, LLVMAdd); }
Val lower_sub(Lower *L, const Instr *in, Val *a) { return integer_or_float(L, in, a, LLVMSub); }
Val lower_mul(Lower *L, const Instr *in, Val *a) { return integer_or_float(L, in, a, LLVMMul); }
Val lower_div(Lower *L, const Instr *in, Val *a) { return float_arith(L, in, a); }

/* The exact product of two small floats and c, summed in f64 and rounded to odd there: the error of
 * the sum (Knuth's two-sum, exact) says whether and to which side something was lost. */
static Val small_fma(Lower *L, Type t, Val *a) {
    Val w[3];
    Ty f64 = ll_wide(L, L->f64);
    for (int i = 0; i < 3; i++) w[i] = LLVMBuildFPExt(L->b, float_widen(L, t, a[i]), f64, "d");
    Val p = LLVMBuildFMul(L->b, w[0], w[1], "p"), c = w[2];
    Val s = LLVMBuildFAdd(L->b, p, c, "s");
    Val pp = LLVMBuildFSub(L->b, s, c, "pp"), cc = LLVMBuildFSub(L->b, s, pp, "cc");
    Val error = LLVMBuildFAdd(L->b, LLVMBuildFSub(L->b, p, pp, "dp"), LLVMBuildFSub(L->b, c, cc, "dc"), "err");
    Val zero = ll_float(L, f64, 0.0);
    Val inexact = ll_fcmp(L, LLVMRealONE, error, zero); /* false for infinities: their error is NaN */
    /* The sum was rounded away from zero if the error points back to zero. */
    Val away = ll_fcmp(L, LLVMRealOLT, LLVMBuildFMul(L->b, error, s, "es"), zero);
    Val bits = as_bits(L, s);
    Ty t64 = LLVMTypeOf(bits);
    bits = LLVMBuildSub(L->b, bits, LLVMBuildZExt(L->b, away, t64, "z"), "down");
    bits = LLVMBuildOr(L->b, bits, LLVMBuildZExt(L->b, inexact, t64, "z"), "odd");
    return from_f64(L, t, as_f64(L, bits));
}

Val lower_fma(Lower *L, const Instr *in, Val *a) {
    Type t = (Type)in->type;
    if (t == T_F32 || t == T_F64) return ll_relaxed(L, ll_intrinsic(L, "llvm.fma", ll_type(L, t), 3, a));
    if (t != T_F16 || !L->f16_arithmetic) return small_fma(L, t, a);
    Val h[3] = {as_half(L, a[0]), as_half(L, a[1]), as_half(L, a[2])};
    return as_bits(L, ll_intrinsic(L, "llvm.fma", ll_wide(L, L->half), 3, h));
}

static bool is_small(Type t) { return t == T_F16 || t == T_BF16; }

Val lower_neg(Lower *L, const Instr *in, Val *a) {
    Type t = (Type)in->type;
    if (!type_is_float(t)) return LLVMBuildNeg(L->b, a[0], "v");
    if (is_small(t)) return LLVMBuildXor(L->b, a[0], ll_int(L, ll_type(L, t), 0x8000), "v");
    return LLVMBuildFNeg(L->b, a[0], "v");
}

Val lower_abs(Lower *L, const Instr *in, Val *a) {
    Type t = (Type)in->type;
    if (type_kind(t) == KIND_UINT) return a[0];
    if (is_small(t)) return and_bits(L, a[0], 0x7fff);
    if (type_is_float(t)) return ll_intrinsic(L, "llvm.fabs", ll_type(L, t), 1, a);
    Val args[2] = {a[0], LLVMConstInt(L->i1, 0, false)};
    return ll_intrinsic(L, "llvm.abs", ll_type(L, t), 2, args);
}

/* ---- order ----------------------------------------------------------------------------------- */

static Val compare(Lower *L, Type t, Pred p, Val x, Val y) {
    static const LLVMRealPredicate real[] = {LLVMRealOEQ, LLVMRealUNE, LLVMRealOLT,
                                             LLVMRealOLE, LLVMRealOGT, LLVMRealOGE};
    static const LLVMIntPredicate is_signed[] = {LLVMIntEQ, LLVMIntNE, LLVMIntSLT, LLVMIntSLE, LLVMIntSGT, LLVMIntSGE};
    static const LLVMIntPredicate is_unsigned[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntULT,
                                                   LLVMIntULE, LLVMIntUGT, LLVMIntUGE};
    if (type_is_float(t)) return ll_fcmp(L, real[p], float_widen(L, t, x), float_widen(L, t, y));
    return ll_icmp(L, type_is_signed(t) ? is_signed[p] : is_unsigned[p], x, y);
}

Val lower_cmp(Lower *L, const Instr *in, Val *a) {
    Type t = (Type)L->m->instrs.at[in->args[0]].type;
    return compare(L, t, (Pred)in->sub, a[0], a[1]);
}

Val lower_min(Lower *L, const Instr *in, Val *a) {
    return ll_select(L, compare(L, (Type)in->type, PRED_LT, a[1], a[0]), a[1], a[0]);
}

Val lower_max(Lower *L, const Instr *in, Val *a) {
    return ll_select(L, compare(L, (Type)in->type, PRED_GT, a[1], a[0]), a[1], a[0]);
}

/* fmin and fmax: one instruction of GPUs, elsewhere spelled out, since LLVM's minnum leaves the sign of zero open:
 * where neither is less, both are equal (then the bits differ at most in zero's sign: or and and choose it) or one is
 * NaN. */
static Val c_minmax(Lower *L, Type t, Pred p, Val x, Val y) {
    if (L->minimum_of_numbers && !is_small(t)) {
        Val args[2] = {x, y};
        return ll_intrinsic(L, p == PRED_LT ? "llvm.minimumnum" : "llvm.maximumnum", LLVMTypeOf(x), 2, args);
    }
    Val fx = float_widen(L, t, x), fy = float_widen(L, t, y);
    Val bx = LLVMBuildBitCast(L->b, x, bits_type(L, x), "bx"), by = LLVMBuildBitCast(L->b, y, bits_type(L, y), "by");
    if (is_small(t)) bx = x, by = y;
    Val equal = p == PRED_LT ? LLVMBuildOr(L->b, bx, by, "eq") : LLVMBuildAnd(L->b, bx, by, "eq");
    equal = LLVMBuildBitCast(L->b, equal, LLVMTypeOf(x), "eq");
    LLVMRealPredicate less = p == PRED_LT ? LLVMRealOLT : LLVMRealOGT;
    Val r = ll_select(L, ll_fcmp(L, less, fx, fy), x, y);
    r = ll_select(L, ll_fcmp(L, LLVMRealOEQ, fx, fy), equal, r);
    return ll_select(L, is_nan(L, fy), x, r);
}

Val lower_fmin(Lower *L, const Instr *in, Val *a) { return c_minmax(L, (Type)in->type, PRED_LT, a[0], a[1]); }
Val lower_fmax(Lower *L, const Instr *in, Val *a) { return c_minmax(L, (Type)in->type, PRED_GT, a[0], a[1]); }

/* Of equal operands (zeros) f32 and f64 take the second, the small floats the first: see fold.c. */
static Val nan_wins(Lower *L, Type t, Pred strict, Pred weak, Val x, Val y) {
    Val first = compare(L, t, is_small(t) ? weak : strict, x, y);
    return ll_select(L, LLVMBuildOr(L->b, first, is_nan(L, float_widen(L, t, x)), "o"), x, y);
}

Val lower_nanmin(Lower *L, const Instr *in, Val *a) {
    return nan_wins(L, (Type)in->type, PRED_LT, PRED_LE, a[0], a[1]);
}
Val lower_nanmax(Lower *L, const Instr *in, Val *a) {
    return nan_wins(L, (Type)in->type, PRED_GT, PRED_GE, a[0], a[1]);
}

Val lower_select(Lower *L, const Instr *in, Val *a) { return (void)in, ll_select(L, a[0], a[1], a[2]); }

/* ---- Python's division ------------------------------------------------------------------------ */

static Val copysign_of(Lower *L, Val magnitude, Val sign) {
    Val args[2] = {magnitude, sign};
    return ll_intrinsic(L, "llvm.copysign", LLVMTypeOf(magnitude), 2, args);
}

/* NumPy's divmod, in f32 or f64. */
static void divmod(Lower *L, Type wide, Val a, Val b, Val *quotient, Val *modulus) {
    Ty t = LLVMTypeOf(a);
    Val zero = ll_float(L, t, 0.0), one = ll_float(L, t, 1.0);
    Val mod = math_fmod(L, wide, a, b);
    Val div = LLVMBuildFDiv(L->b, LLVMBuildFSub(L->b, a, mod, "d"), b, "div");
    Val nonzero = ll_fcmp(L, LLVMRealUNE, mod, zero);
    Val differ = LLVMBuildXor(L->b, ll_fcmp(L, LLVMRealOLT, b, zero), ll_fcmp(L, LLVMRealOLT, mod, zero), "x");
    Val adjust = LLVMBuildAnd(L->b, nonzero, differ, "adj");
    Val m = ll_select(L, adjust, LLVMBuildFAdd(L->b, mod, b, "m"), mod);
    m = ll_select(L, nonzero, m, copysign_of(L, zero, b));
    Val by_zero = ll_fcmp(L, LLVMRealOEQ, b, zero);
    *modulus = ll_select(L, by_zero, mod, m);
    div = ll_select(L, adjust, LLVMBuildFSub(L->b, div, one, "d"), div);
    Val floor = ll_intrinsic(L, "llvm.floor", t, 1, &div);
    Val up = ll_fcmp(L, LLVMRealOGT, LLVMBuildFSub(L->b, div, floor, "e"), ll_float(L, t, 0.5));
    floor = ll_select(L, up, LLVMBuildFAdd(L->b, floor, one, "f"), floor);
    Val ratio = LLVMBuildFDiv(L->b, a, b, "ratio");
    Val q = ll_select(L, ll_fcmp(L, LLVMRealUNE, div, zero), floor, copysign_of(L, zero, ratio));
    *quotient = ll_select(L, by_zero, ratio, q);
}

static Val python_division(Lower *L, const Instr *in, Val *a, bool want_quotient) {
    Type t = (Type)in->type;
    Val q, m;
    divmod(L, t == T_F64 ? T_F64 : T_F32, float_widen(L, t, a[0]), float_widen(L, t, a[1]), &q, &m);
    return float_narrow(L, t, want_quotient ? q : m);
}

Val lower_floordiv(Lower *L, const Instr *in, Val *a) {
    return type_is_float((Type)in->type) ? python_division(L, in, a, true) : lower_int_floordiv(L, in, a);
}

Val lower_floormod(Lower *L, const Instr *in, Val *a) {
    return type_is_float((Type)in->type) ? python_division(L, in, a, false) : lower_int_floormod(L, in, a);
}

Val lower_truncdiv(Lower *L, const Instr *in, Val *a) { return lower_int_truncdiv(L, in, a); }

Val lower_truncmod(Lower *L, const Instr *in, Val *a) {
    Type t = (Type)in->type;
    if (!type_is_float(t)) return lower_int_truncmod(L, in, a);
    return float_narrow(L, t,
                        math_fmod(L, t == T_F64 ? T_F64 : T_F32, float_widen(L, t, a[0]), float_widen(L, t, a[1])));
}

/* ---- conversions ------------------------------------------------------------------------------- */

static Val float_to_int(Lower *L, Type from, Type to, Val v) {
    v = float_widen(L, from, v);
    const char *name = type_is_signed(to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    return ll_intrinsic2(L, name, ll_type(L, to), LLVMTypeOf(v), 1, &v);
}

/* A 64-bit integer that f64 can't hold exactly: its last eleven bits become one sticky bit. */
static Val sticky_64(Lower *L, Type from, Val v) {
    Ty t = LLVMTypeOf(v);
    Val lost = ll_icmp(L, LLVMIntNE, and_bits(L, v, 0x7ff), ll_int(L, t, 0));
    Val sticky = LLVMBuildShl(L->b, LLVMBuildZExt(L->b, lost, t, "z"), ll_int(L, t, 11), "st");
    Val odd = LLVMBuildOr(L->b, and_bits(L, v, ~0x7ffull), sticky, "odd");
    Val exact = type_is_signed(from) ? below(L, add_bits(L, v, 1ull << 53), 1ull << 54) : below(L, v, 1ull << 53);
    return ll_select(L, exact, v, odd);
}

static Val int_to_float(Lower *L, Type from, Type to, Val v) {
    bool is_signed = type_is_signed(from);
    Ty t = ll_wide(L, to == T_F64 || to == T_BF16 ? L->f64 : L->f32);
    if (to == T_BF16 && type_bytes(from) == 8) v = sticky_64(L, from, v);
    Val f = is_signed ? LLVMBuildSIToFP(L->b, v, t, "f") : LLVMBuildUIToFP(L->b, v, t, "f");
    if (to == T_BF16) return from_f64(L, to, f);
    /* f32 has every f16 integer exactly, and what it rounds is beyond f16's range. */
    return to == T_F16 ? float_narrow(L, to, f) : f;
}

static Val float_to_float(Lower *L, Type from, Type to, Val v) {
    if (from == to) return v;
    if (from == T_F64) return from_f64(L, to, v);
    v = float_widen(L, from, v);
    return to == T_F64 ? LLVMBuildFPExt(L->b, v, ll_wide(L, L->f64), "d") : float_narrow(L, to, v);
}

static Val to_bool(Lower *L, Type from, Val v) {
    if (from == T_BOOL) return v;
    if (!type_is_float(from)) return ll_icmp(L, LLVMIntNE, v, ll_int(L, LLVMTypeOf(v), 0));
    v = float_widen(L, from, v);
    return ll_fcmp(L, LLVMRealUNE, v, ll_float(L, LLVMTypeOf(v), 0.0));
}

static Val int_to_int(Lower *L, Type from, Type to, Val v) {
    Ty t = ll_type(L, to);
    if (type_bits(to) == type_bits(from)) return v;
    if (type_bits(to) < type_bits(from)) return LLVMBuildTrunc(L->b, v, t, "v");
    return type_is_signed(from) ? LLVMBuildSExt(L->b, v, t, "v") : LLVMBuildZExt(L->b, v, t, "v");
}

/* The low half of a parameter, widened again: a distance for pointers. As a shift left and right, which LLVM makes of
 * it, ptxas wouldn't see that a product with it is one of 32 bits, which is one instruction with the sum. */
static bool is_param_low(const Lower *L, Ref r) {
    const Instr *in = &L->m->instrs.at[r];
    if (L->o->target != TARGET_PTX || in->op != OP_CONVERT || in->type != T_I32) return false;
    const Instr *whole = &L->m->instrs.at[in->args[0]];
    return whole->op == OP_PARAM && whole->type == T_I64;
}

static Val param_low(Lower *L, Ref r) {
    Val whole = LLVMBuildBitCast(L->b, L->value[L->m->instrs.at[r].args[0]], L->f64, "p");
    return ll_intrinsic(L, "llvm.nvvm.d2i.lo", NULL, 1, &whole);
}

Val lower_convert(Lower *L, const Instr *in, Val *a) {
    Type from = (Type)L->m->instrs.at[in->args[0]].type, to = (Type)in->type;
    if (to == T_BOOL) return to_bool(L, from, a[0]);
    if (type_is_float(from))
        return type_is_float(to) ? float_to_float(L, from, to, a[0]) : float_to_int(L, from, to, a[0]);
    if (type_is_float(to)) return int_to_float(L, from, to, a[0]);
    bool is_distance = to == T_I64 && is_param_low(L, in->args[0]);
    return int_to_int(L, from, to, is_distance ? param_low(L, in->args[0]) : a[0]);
}

Val lower_bitcast(Lower *L, const Instr *in, Val *a) {
    return LLVMBuildBitCast(L->b, a[0], ll_type(L, (Type)in->type), "v");
}
