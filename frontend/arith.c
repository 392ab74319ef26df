/* arith.c - the operators on values: promotion by the dialect's table, constants folded, IR emitted.
 *
 * Python numbers fold exactly (integers far beyond 64 bits); typed constants fold with the IR's own
 * rules, so that a folded result is the one that the device would compute. */
#include "arrays.h"

#include <math.h>
#include <string.h>

static const char *const binary_text[PYB__COUNT] = {
    [PYB_ADD] = "+", [PYB_AND] = "&",     [PYB_FLOORDIV] = "//", [PYB_LSHIFT] = "<<", [PYB_MATMUL] = "@",
    [PYB_MUL] = "*", [PYB_MOD] = "%",     [PYB_OR] = "|",        [PYB_POW] = "**",    [PYB_RSHIFT] = ">>",
    [PYB_SUB] = "-", [PYB_TRUEDIV] = "/", [PYB_XOR] = "^",
};
static const char *const compare_text[] = {"<", "<=", "==", "!=", ">", ">="};
static const char *const unary_text[] = {"-", "+", "~"};
static const Pred compare_pred[] = {PRED_LT, PRED_LE, PRED_EQ, PRED_NE, PRED_GT, PRED_GE};

static bool is_int_kind(Val v) { return val_is_scalar(v) && (dt_is_int(val_dtype(v)) || v.ty->dtype == DT_BOOL); }

/* ---- exact arithmetic of Python constants ------------------------------------------------------------ */
static const Wide wide_limit = (Wide)1 << 100;

static Wide floor_div(Wide a, Wide b) {
    if (!b) return 0;
    Wide q = a / b;
    return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

/* False: too large, or no integer. */
static bool wide_arith(PyBinary op, Wide a, Wide b, Wide *out) {
    Wide r = 1;
    switch (op) {
    case PYB_ADD: r = a + b; break;
    case PYB_SUB: r = a - b; break;
    case PYB_AND: r = a & b; break;
    case PYB_OR: r = a | b; break;
    case PYB_XOR: r = a ^ b; break;
    case PYB_FLOORDIV: r = floor_div(a, b); break;
    case PYB_MOD: r = b ? a - floor_div(a, b) * b : 0; break;
    case PYB_RSHIFT:
        if (b < 0) return false;
        r = a >> (b > 126 ? 126 : (int)b);
        break;
    case PYB_MUL:
        if (__builtin_mul_overflow(a, b, &r)) return false;
        break;
    case PYB_LSHIFT:
        if (b < 0 || (a && b > 100)) return false;
        if (__builtin_mul_overflow(a, (Wide)1 << (a ? (int)b : 0), &r)) return false;
        break;
    case PYB_POW:
        if (b < 0 || ((a > 1 || a < -1) && b > 100)) return false;
        if (a >= -1 && a <= 1) b = b ? 2 - b % 2 : 0; /* only the parity matters */
        for (; b > 0; b--)
            if (__builtin_mul_overflow(r, a, &r)) return false;
        break;
    default: return false;
    }
    *out = r;
    return r <= wide_limit && r >= -wide_limit;
}

static double double_arith(PyBinary op, double a, double b) {
    switch (op) {
    case PYB_ADD: return a + b;
    case PYB_SUB: return a - b;
    case PYB_MUL: return a * b;
    case PYB_TRUEDIV: return a / b;
    default: return pow(a, b);
    }
}

/* ---- arithmetic on scalars of one type ---------------------------------------------------------------- */
static Op arith_op(PyBinary op, DType d) {
    bool logical = d == DT_BOOL;
    switch (op) {
    case PYB_ADD: return logical ? OP_OR : OP_ADD;
    case PYB_MUL: return logical ? OP_AND : OP_MUL;
    case PYB_SUB: return OP_SUB;
    case PYB_AND: return OP_AND;
    case PYB_OR: return OP_OR;
    case PYB_XOR: return OP_XOR;
    case PYB_FLOORDIV: return OP_FLOORDIV;
    case PYB_MOD: return OP_FLOORMOD;
    case PYB_LSHIFT: return OP_SHL;
    case PYB_RSHIFT: return OP_SHR;
    case PYB_TRUEDIV: return OP_DIV;
    default: return OP_POW;
    }
}

/* A binary IR operation on scalars of one type; typed constants fold. */
static Val ir_binary(Eval *e, Op op, Scalar s, Val a, Val b) {
    DType d = (DType)s.dtype;
    Type t = dtype_info[d].ir;
    if (val_const(a) && val_const(b)) {
        uint64_t bits, in[2] = {val_bits(a, d), val_bits(b, d)};
        if (ir_fold(op, t, 0, t, 2, in, &bits)) return val_from_bits(e, s, bits);
    }
    Ref x = val_ref(e, a), y = val_ref(e, b);
    return val_of(e, s, e_op2(e, op, t, x, y));
}

/* x ** n for a small constant n, by multiplication; x ** -1 of a float is 1 / x, which is rounded once. */
static bool power_by_products(Eval *e, Scalar s, Val a, Val b, Val *out) {
    double n;
    if (!val_as_double(b, &n)) return false;
    if (n == -1 && dt_is_float((DType)s.dtype)) {
        *out = eval_arith(e, PYB_TRUEDIV, s, val_convert(e, val_int(e, 1), s), a);
        return true;
    }
    if (n != 1 && n != 2 && n != 3 && n != 4) return false;
    Val sq = n > 1 ? ir_binary(e, OP_MUL, s, a, a) : a;
    *out = n == 3 ? ir_binary(e, OP_MUL, s, sq, a) : n == 4 ? ir_binary(e, OP_MUL, s, sq, sq) : sq;
    return true;
}

static Val float_power(Eval *e, Scalar s, Val a, Val b) {
    Val out;
    double x, y;
    DType d = (DType)s.dtype;
    if (val_as_double(a, &x) && val_as_double(b, &y)) return val_const_float(e, s, pow(x, y), 0);
    if (power_by_products(e, s, a, b, &out)) return out;
    Type t = d == DT_F64 ? T_F64 : T_F32; /* the half types compute in float32 */
    Ref base = e_conv(e, t, val_ref(e, a)), exponent = e_conv(e, t, val_ref(e, b));
    Ref r = e_math2(e, MATH_POW, t, base, exponent);
    return val_of(e, s, e_conv(e, dtype_info[d].ir, r));
}

Val eval_arith(Eval *e, PyBinary op, Scalar s, Val a, Val b) {
    DType d = (DType)s.dtype;
    Wide r;
    if (dt_is_complex(d)) return complex_arith(e, op, s, a, b);
    if (s.weak && a.konst == KONST_INT && b.konst == KONST_INT && dt_is_int(d)) {
        if (wide_arith(op, a.i, b.i, &r)) return val_const_int(e, s, r);
        return e_fail(e, (PySpan){0}, NULL, DIAG_CONST_ARITH, binary_text[op], val_text(e->types, a),
                      val_text(e->types, b));
    }
    if (dt_is_float(d) && op == PYB_POW) return float_power(e, s, a, b);
    if (d == DT_F64 && a.konst == KONST_FLOAT && b.konst == KONST_FLOAT && op != PYB_FLOORDIV && op != PYB_MOD)
        return val_const_float(e, s, double_arith(op, a.f.re, b.f.re), 0);
    Val out;
    if (op == PYB_POW && !val_const(a) && power_by_products(e, s, a, b, &out)) return out;
    return ir_binary(e, arith_op(op, d), s, a, b);
}

/* ---- binary operators --------------------------------------------------------------------------------- */
/* Each item of a tuple is a value of its own in the code: of more than MOST_VALUE_PARTS, eval_step() says so. */
enum { MOST_TIMES = 1024, MOST_ITEMS = 2 * MOST_VALUE_PARTS };

static Val tuple_binary(Eval *e, PyBinary op, Val a, Val b) {
    if (op == PYB_MUL && a.ty->kind != TY_TUPLE) return tuple_binary(e, op, b, a);
    if (val_is_set(a)) return (Val){0};
    Wide times = 1;
    uint32_t extra = 0;
    if (op == PYB_MUL) {
        if (!val_as_int(b, &times) || times > MOST_TIMES) return (Val){0};
        if (times < 0) times = 0;
    } else if (op == PYB_ADD && a.ty->kind == TY_TUPLE && b.ty->kind == TY_TUPLE && a.ty->sub == b.ty->sub) {
        extra = b.ty->n;
    } else {
        return (Val){0};
    }
    uint64_t total = (uint64_t)a.ty->n * (uint64_t)times + extra;
    if (total > MOST_ITEMS) return (Val){0};
    uint32_t n = 0;
    Val *items = ARENA_ARRAY(e->arena, Val, total + 1);
    for (Wide k = 0; k < times; k++)
        for (uint32_t i = 0; i < a.ty->n; i++) items[n++] = a.items[i];
    for (uint32_t i = 0; i < extra; i++) items[n++] = b.items[i];
    Val all = val_tuple(e, n, items);
    return a.ty->sub == TUPLE_OF_LIST ? list_marked(e, all) : all;
}

/* Strings joined and repeated, members of a Flag combined: Python does it. */
static Val constant_binary(Eval *e, PyBinary op, Val a, Val b) {
    static const char *const names[PYB__COUNT] = {
        [PYB_ADD] = "add", [PYB_MUL] = "mul", [PYB_AND] = "and_", [PYB_OR] = "or_", [PYB_XOR] = "xor"};
    HostInfo info;
    const char *s;
    memset(&info, 0, sizeof info);
    bool member = a.ty->kind == TY_OBJECT && e->host->info(e->host->self, a.ty->obj, &info) && info.kind == HOST_ENUM;
    member |= a.member && b.member; /* of an IntFlag */
    bool text = val_as_str(e, a, &s) || (op == PYB_MUL && val_as_str(e, b, &s));
    Wide times = 0;
    if (text && op == PYB_MUL && ((val_as_int(a, &times) || val_as_int(b, &times)) && times > MOST_TIMES))
        return (Val){0};
    if (!names[op] || !(text || member)) return (Val){0};
    HostRef module = e->host->import(e->host->self, "operator"),
            f = module ? e->host->attr(e->host->self, module, names[op]) : NULL;
    return f ? call_constant(e, f, 2, (Val[]){a, b}) : (Val){0};
}

const char *group_help(Eval *e, Val v, const char *help) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    if (v.ty->kind != TY_OBJECT || !e->host->info(e->host->self, v.ty->obj, &info) || info.kind != HOST_NAMED)
        return help;
    const char *members = suggest_members(e->arena, info.path);
    return members ? members : help;
}

static Val operand_error(Eval *e, PySpan span, const char *op, Val a, Val b) {
    const char *help = group_help(e, a, group_help(e, b, NULL));
    if (help) return e_fail(e, span, help, DIAG_OPERAND_TYPES, op, e_text(e, a), e_text(e, b));
    if (strcmp(op, "-") == 0 && val_is_scalar(a) && val_is_scalar(b) && a.ty->dtype == DT_BOOL &&
        b.ty->dtype == DT_BOOL)
        return e_fail(e, span, "^ is the exclusive or; int(...) makes numbers of bools", DIAG_BOOL_SUBTRACT);
    if (time_operands(a, b, &help)) {
    } else if (a.ty->kind == TY_ARRAY || b.ty->kind == TY_ARRAY) help = "the other side is a number or an array, too";
    else if (a.ty->kind == TY_RECORD && a.ty->record->kind != RECORD_FIELDS)
        help = "strings of a fixed size are compared with their kind, and assigned";
    else if (a.ty->kind == TY_RECORD && b.ty->kind == TY_RECORD)
        help = "records with fields of the same names are equal or not; else compare fields";
    else if (a.ty->kind == TY_RECORD || b.ty->kind == TY_RECORD) help = "name a field, as in r.x or r['x']";
    else if (a.ty->kind == TY_DICT || b.ty->kind == TY_DICT) help = "dicts have |, ==, != and `in`";
    else if (a.ty->kind == TY_NONE || b.ty->kind == TY_NONE) help = "test it with `is None` first";
    else if (strcmp(op, "*") == 0 && (a.ty->kind == TY_TUPLE || b.ty->kind == TY_TUPLE))
        help = "how often is a constant up to 1024; gpu.local.array(size, dtype) makes an array";
    else if (strcmp(op, "@") == 0) help = "it multiplies vectors and matrices";
    else if (is_int_kind(a) && is_int_kind(b))
        help = "no integer type holds both: convert one of them, with np.uint64(...) or np.int64(...)";
    else if (val_is_scalar(a) && val_is_scalar(b) && (dt_is_float(val_dtype(a)) || dt_is_float(val_dtype(b))))
        help = "convert with int(...) first";
    else if (a.ty->kind == TY_TEXT || b.ty->kind == TY_TEXT || val_as_str(e, a, &help) || val_as_str(e, b, &help))
        help = "text is for print and exceptions; str(...) makes text of a value";
    return e_fail(e, span, help, DIAG_OPERAND_TYPES, op, e_text(e, a), e_text(e, b));
}

/* Python's and Numba's integers to a constant negative power are floats; NumPy's refuse. */
static bool negative_power(Eval *e, PySpan span, Val *a, Val *b, Val *out) {
    Wide n;
    if (!is_int_kind(*a) || !is_int_kind(*b) || !val_as_int(*b, &n) || n >= 0) return false;
    if (!a->ty->weak && !e_numba(e)) {
        *out = e_fail(e, span, "convert the base to a float first", DIAG_NEGATIVE_POWER, e_text(e, *b));
        return true;
    }
    *a = val_convert(e, *a, e_python_float(e));
    *b = val_convert(e, *b, e_python_float(e));
    return false;
}

/* In debug mode a division by zero raises, as Python's does. NumPy's float % 0.0 is no division by zero but nan. */
static void check_divisor(Eval *e, PySpan span, PyBinary op, Val b) {
    bool divides = op == PYB_TRUEDIV || op == PYB_FLOORDIV || op == PYB_MOD;
    if (!e->req->debug || !e->building || !divides || dt_is_complex(val_dtype(b))) return;
    if (e->req->fastmath && dt_is_float(val_dtype(b))) return;
    bool wide_float = dt_is_float(val_dtype(b)) && dtype_info[b.ty->dtype].bits > 16;
    if (op == PYB_MOD && wide_float && !b.ty->weak && !e_numba(e)) return;
    if (val_const(b) && (b.konst == KONST_INT ? b.i != 0 : b.f.re != 0)) return;
    Ref r = val_ref(e, b);
    Type t = dtype_info[b.ty->dtype].ir;
    Ref zero = type_is_float(t) ? e_float(e, t, 0) : e_int(e, t, 0);
    e->checking = true;
    e_raise_if(e, span, e_cmp(e, PRED_EQ, r, zero), "ZeroDivisionError", "division by zero");
    e->checking = false;
}

/* Has an operator elements to work on, on both sides? */
static bool elementwise(Val a, Val b) {
    bool left = val_is_many(a) || val_is_scalar(a) || a.ty->kind == TY_TUPLE;
    bool right = val_is_many(b) || val_is_scalar(b) || b.ty->kind == TY_TUPLE;
    return left && right && (val_is_many(a) || val_is_many(b));
}

static Val array_binary(Eval *e, PySpan span, PyBinary op, bool in_place, Val a, Val b) {
    if (op == PYB_MATMUL) return array_matmul(e, span, a, b, false);
    if (in_place && a.ty->kind == TY_ARRAY) return array_in_place(e, span, op, a, b);
    return array_map(e, span, (ExprOp){EXPR_BINARY, (uint8_t)op, NULL}, 2, (Val[]){a, b});
}

/* A member of an IntEnum is a Python int beside Python's numbers; NumPy takes it for an int64. */
static Val member_beside(Eval *e, Val v, Val other) {
    bool typed = val_is_many(other) || (val_is_scalar(other) && !other.ty->weak);
    return v.member && typed ? val_convert(e, v, SCALAR(DT_I64, false)) : v;
}

static bool is_class(Eval *e, Val v) {
    HostInfo info;
    DType d;
    memset(&info, 0, sizeof info);
    if (v.ty->kind == TY_TUPLE) return v.ty->n && is_class(e, v.items[0]);
    return v.ty->kind == TY_NONE || val_as_dtype(e, v, &d) ||
           (v.ty->kind == TY_OBJECT && e->host->info(e->host->self, v.ty->obj, &info) && info.kind == HOST_CLASS);
}

/* int | float, for isinstance(): a tuple of classes. */
static Val class_union(Eval *e, Val a, Val b) {
    if (!is_class(e, a) || !is_class(e, b)) return (Val){0};
    return val_tuple(e, 2, (Val[]){a, b});
}

Val eval_binary(Eval *e, PySpan span, PyBinary op, Val a, Val b) {
    bool in_place = op & PYB_INPLACE;
    op &= ~(unsigned)PYB_INPLACE;
    if (val_poisoned(a) || val_poisoned(b)) return val_poison(e);
    a = member_beside(e, a, b);
    b = member_beside(e, b, a);
    if (elementwise(a, b)) return array_binary(e, span, op, in_place, a, b);
    if (in_place && (op == PYB_ADD || op == PYB_MUL) && a.ty->kind != TY_LIST) {
        Val changed = list_operated(e, span, list_items(e, a));
        if (changed.ty) return changed;
    }
    if (a.ty->kind == TY_LIST || b.ty->kind == TY_LIST) return list_binary(e, span, (PyBinary)op, in_place, a, b);
    if (!val_is_scalar(a) || !val_is_scalar(b)) {
        Val v = time_binary(e, span, (PyBinary)op, a, b);
        if (!v.ty) v = set_binary(e, span, (PyBinary)op, in_place, a, b);
        if (!v.ty) v = dict_binary(e, span, (PyBinary)op, in_place, a, b);
        if (!v.ty) v = instance_binary(e, span, (PyBinary)op, in_place, a, b);
        if (!v.ty) v = text_binary(e, span, (PyBinary)op, a, b);
        if (!v.ty && op == PYB_OR) v = class_union(e, a, b);
        if (v.ty) return v;
        Val x = list_items(e, a), y = list_items(e, b);
        v = x.ty->kind == TY_TUPLE || y.ty->kind == TY_TUPLE ? tuple_binary(e, op, x, y) : constant_binary(e, op, a, b);
        return v.ty ? v : operand_error(e, span, binary_text[op], a, b);
    }
    Val out = a.member && b.member ? constant_binary(e, (PyBinary)op, a, b) : (Val){0};
    if (out.member) return out;
    if (op == PYB_POW && negative_power(e, span, &a, &b, &out)) return out;
    Scalar left, right, result;
    if (!promote_binary(e->dialect, op, val_sc(a), val_sc(b), &left, &right, &result))
        return operand_error(e, span, binary_text[op], a, b);
    a = val_meet(e, span, a, left);
    b = val_meet(e, span, b, right);
    if (val_poisoned(a) || val_poisoned(b)) return val_poison(e);
    check_divisor(e, span, op, b);
    return val_convert(e, eval_arith(e, op, left, a, b), result);
}

/* ---- unary operators ---------------------------------------------------------------------------------- */
static Val unary_arith(Eval *e, PyUnary op, Scalar s, Val a) {
    DType d = (DType)s.dtype;
    if (op == PYU_POS) return a;
    if (dt_is_complex(d)) return complex_unary(e, op, s, a);
    if (s.weak && a.konst == KONST_INT && dt_is_int(d)) return val_const_int(e, s, op == PYU_NEG ? -a.i : ~a.i);
    if (a.konst == KONST_FLOAT && op == PYU_NEG) return val_const_float(e, s, -a.f.re, 0);
    Type t = dtype_info[d].ir;
    Op ir = op == PYU_NEG ? OP_NEG : OP_NOT;
    if (val_const(a)) {
        uint64_t bits, in = val_bits(a, d);
        if (ir_fold(ir, t, 0, t, 1, &in, &bits)) return val_from_bits(e, s, bits);
    }
    return val_of(e, s, e_op1(e, ir, t, val_ref(e, a)));
}

/* ~ of a member of a Flag. */
static Val constant_invert(Eval *e, Val a) {
    HostRef module = a.ty->kind == TY_OBJECT || a.member ? e->host->import(e->host->self, "operator") : NULL;
    HostRef f = module ? e->host->attr(e->host->self, module, "invert") : NULL;
    return f ? call_constant(e, f, 1, &a) : (Val){0};
}

Val eval_unary(Eval *e, PySpan span, PyUnary op, Val a) {
    Scalar operand, result;
    if (val_poisoned(a)) return a;
    if (val_is_many(a)) return array_map(e, span, (ExprOp){EXPR_UNARY, (uint8_t)op, NULL}, 1, &a);
    Val time = time_unary(e, op, a);
    if (time.ty) return time;
    static const char *const special_names[] = {"__neg__", "__pos__", "__invert__"};
    Val special = val_is_scalar(a) ? (Val){0} : instance_special(e, span, a, special_names[op], (Val){0});
    if (!special.ty && op == PYU_INVERT) special = constant_invert(e, a);
    if (special.ty) return special;
    if (!val_is_scalar(a) || !promote_unary(e->dialect, op, val_sc(a), &operand, &result))
        return e_fail(e, span, val_is_scalar(a) && dt_is_float(val_dtype(a)) ? "convert with int(...) first" : NULL,
                      DIAG_OPERAND_TYPE, unary_text[op], e_text(e, a));
    return val_convert(e, unary_arith(e, op, operand, val_convert(e, a, operand)), result);
}

/* ---- comparison --------------------------------------------------------------------------------------- */
static bool pred_holds(Pred p, int order) {
    switch (p) {
    case PRED_EQ: return order == 0;
    case PRED_NE: return order != 0;
    case PRED_LT: return order < 0;
    case PRED_LE: return order <= 0;
    case PRED_GT: return order > 0;
    default: return order >= 0;
    }
}

static Pred swapped(Pred p) {
    static const Pred table[] = {[PRED_EQ] = PRED_EQ, [PRED_NE] = PRED_NE, [PRED_LT] = PRED_GT,
                                 [PRED_LE] = PRED_GE, [PRED_GT] = PRED_LT, [PRED_GE] = PRED_LE};
    return table[p];
}

static bool compare_consts(Pred p, Val a, Val b, bool *out) {
    if (a.konst == KONST_INT && b.konst == KONST_INT) {
        *out = pred_holds(p, a.i < b.i ? -1 : a.i > b.i);
        return true;
    }
    if (a.konst != KONST_FLOAT || b.konst != KONST_FLOAT) return false;
    double x = a.f.re, y = b.f.re;
    *out = isnan(x) || isnan(y) ? p == PRED_NE : pred_holds(p, x < y ? -1 : x > y);
    return true;
}

/* What a comparison gives: Python's bool for two Python numbers, np.bool_ as soon as one operand is typed. */
static Scalar truth_type(Eval *e, Val a, Val b) {
    return a.ty->weak && b.ty->weak ? e_python_bool(e) : SCALAR(DT_BOOL, false);
}

/* A signed against an unsigned 64-bit integer, as numbers. */
static Ref compare_mixed(Eval *e, Pred p, Val s, Val u) {
    Ref a = val_ref(e, s), b = val_conv_ref(e, u, DT_U64);
    Ref neg = e_cmp(e, PRED_LT, a, e_int(e, dtype_info[s.ty->dtype].ir, 0));
    Ref cmp = e_cmp(e, p, e_conv(e, T_U64, a), b);
    bool below = p == PRED_LT || p == PRED_LE || p == PRED_NE; /* what a negative number gives */
    if (below) return e_op2(e, OP_OR, T_BOOL, neg, cmp);
    return e_op2(e, OP_AND, T_BOOL, e_op1(e, OP_NOT, T_BOOL, neg), cmp);
}

static Val compare_complex(Eval *e, PySpan span, const char *op, Pred p, DType d, Val a, Val b) {
    if (p != PRED_EQ && p != PRED_NE)
        return e_fail(e, span, "compare abs(...) or the real parts", DIAG_COMPLEX_ORDER, op, e_text(e, a),
                      e_text(e, b));
    a = val_convert(e, a, SCALAR(d, false));
    b = val_convert(e, b, SCALAR(d, false));
    Ref ar = val_re(e, a), br = val_re(e, b), ai = val_im(e, a), bi = val_im(e, b);
    Ref re = e_cmp(e, p, ar, br), im = e_cmp(e, p, ai, bi);
    return val_rt_bool(e, e_op2(e, p == PRED_EQ ? OP_AND : OP_OR, T_BOOL, re, im));
}

/* A Python integer constant outside the range of the integer type that it's compared with. */
bool val_integer_outside(Pred p, Val a, Val b, bool *out) {
    bool swap = !val_const(a);
    Val c = swap ? b : a, v = swap ? a : b;
    if (!c.ty->weak || c.konst != KONST_INT || val_const(v) || !is_int_kind(v) || dt_fits(val_dtype(v), c.i))
        return false;
    int order = c.i < dt_min(val_dtype(v)) ? -1 : 1; /* of c against any v */
    *out = pred_holds(p, swap ? -order : order);
    return true;
}

/* An integer against a constant that its type holds is compared in this type: no widening. */
static bool compare_narrow(Val a, Val b, Scalar *s) {
    Val c = val_const(a) ? a : b, v = val_const(a) ? b : a;
    if (c.konst != KONST_INT || val_const(v) || !dt_is_int(val_dtype(v)) || !dt_fits(val_dtype(v), c.i)) return false;
    *s = val_sc(v);
    return true;
}

static Val compare_numbers(Eval *e, PySpan span, PyCompare op, Val a, Val b) {
    Pred p = compare_pred[op];
    bool exact = false, holds;
    Scalar s;
    if (is_int_kind(a) && is_int_kind(b) && (compare_consts(p, a, b, &holds) || val_integer_outside(p, a, b, &holds)))
        return val_bool(e, holds);
    if (!promote_compare(e->dialect, val_sc(a), val_sc(b), &s, &exact))
        return operand_error(e, span, compare_text[op], a, b);
    if (is_int_kind(a) && is_int_kind(b) && compare_narrow(a, b, &s)) exact = false;
    DType d = (DType)s.dtype;
    if (dt_is_complex(d)) return compare_complex(e, span, compare_text[op], p, d, a, b);
    bool a_signed = dtype_info[a.ty->dtype].kind == DK_INT, b_signed = dtype_info[b.ty->dtype].kind == DK_INT;
    if (exact && a_signed != b_signed)
        return val_rt_bool(e, a_signed ? compare_mixed(e, p, a, b) : compare_mixed(e, swapped(p), b, a));
    a = val_convert(e, a, s);
    b = val_convert(e, b, s);
    if (compare_consts(p, a, b, &holds)) return val_bool(e, holds);
    Ref x = val_ref(e, a), y = val_ref(e, b);
    return val_rt_bool(e, e_cmp(e, p, x, y));
}

static Val compare_scalars(Eval *e, PySpan span, PyCompare op, Val a, Val b) {
    Val v = compare_numbers(e, span, op, a, b);
    return val_poisoned(v) ? v : val_convert(e, v, truth_type(e, a, b));
}

Val eval_logic(Eval *e, bool both, Val a, Val b) {
    Wide x;
    if (val_as_int(a, &x)) return (x != 0) == both ? b : a;
    if (val_as_int(b, &x)) return (x != 0) == both ? a : b;
    Ref p = val_ref(e, a), q = val_ref(e, b);
    return val_rt_bool(e, e_op2(e, both ? OP_AND : OP_OR, T_BOOL, p, q));
}

/* Tuples compare item by item: equality of all, or the order of the first that differ. Beside a list, a tuple is
 * another thing. */
static Val compare_tuples(Eval *e, PySpan span, PyCompare op, Val a, Val b) {
    bool equality = op == PYC_EQ || op == PYC_NE;
    if (a.ty->sub != b.ty->sub)
        return equality ? val_bool(e, op == PYC_NE) : operand_error(e, span, compare_text[op], a, b);
    uint32_t n = a.ty->n < b.ty->n ? a.ty->n : b.ty->n;
    if (equality && a.ty->n != b.ty->n) return val_bool(e, op == PYC_NE);
    if (equality) {
        Val all = val_bool(e, op == PYC_EQ);
        for (uint32_t i = 0; i < n; i++) {
            Val v = eval_compare(e, span, op, a.items[i], b.items[i]);
            if (val_poisoned(v)) return v;
            all = eval_logic(e, op == PYC_EQ, all, v);
        }
        return all;
    }
    Wide by_length = (Wide)a.ty->n - (Wide)b.ty->n;
    Val out = eval_compare(e, span, op, val_int(e, by_length), val_int(e, 0));
    for (uint32_t i = n; i-- > 0;) {
        PyCompare strict = op == PYC_LE ? PYC_LT : op == PYC_GE ? PYC_GT : op;
        Val less = eval_compare(e, span, strict, a.items[i], b.items[i]),
            same = eval_compare(e, span, PYC_EQ, a.items[i], b.items[i]);
        if (val_poisoned(less) || val_poisoned(same)) return val_poison(e);
        out = eval_logic(e, false, less, eval_logic(e, true, same, out));
    }
    return out;
}

/* The dtype that NumPy understands a string as: "float32", "f4", "<f4", "float", "?". */
static bool dtype_of_name(const char *s, DType *out) {
    static const struct {
        const char *name;
        DType d;
    } names[] = {
        {"?", DT_BOOL},   {"int", DT_I64},    {"float", DT_F64},  {"complex", DT_C128},
        {"half", DT_F16}, {"single", DT_F32}, {"double", DT_F64},
    };
    if (*s == '<' || *s == '=' || *s == '|') s++;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(s, names[i].name) == 0) {
            *out = names[i].d;
            return true;
        }
    *out = dtype_of_code(s);
    for (DType d = DT_BOOL; d < DT__COUNT; d++)
        if (strcmp(s, dtype_info[d].name) == 0) *out = d;
    return *out != DT_NONE;
}

bool val_elem_named(Eval *e, Val v, Elem *out) {
    DType d;
    if (v.ty && v.ty->kind == TY_DTYPE && v.ty->record) *out = elem_record(v.ty->record, v.ty->record->align);
    else if (val_dtype_named(e, v, &d)) *out = elem_scalar(d);
    else return false;
    return true;
}

/* np.float32, "f4" ... beside a dtype. */
bool val_dtype_named(Eval *e, Val v, DType *out) {
    const char *s;
    return val_as_dtype(e, v, out) || (val_as_str(e, v, &s) && dtype_of_name(s, out));
}

/* Things known when compiling: strings by value, dtypes by type, other objects by identity. */
static bool compare_known(Eval *e, PyCompare op, Val a, Val b, bool *out) {
    const char *x, *y;
    Elem p, q;
    if (val_as_str(e, a, &x) && val_as_str(e, b, &y)) {
        *out = pred_holds(compare_pred[op], strcmp(x, y));
        return true;
    }
    if (op != PYC_EQ && op != PYC_NE) return false;
    bool same = a.ty == b.ty;
    DType c, d;
    if (a.ty->kind == TY_DTYPE || b.ty->kind == TY_DTYPE)
        same = val_elem_named(e, a, &p) && val_elem_named(e, b, &q) && p.dtype == q.dtype && p.record == q.record;
    else if (val_as_dtype(e, a, &c) && val_as_dtype(e, b, &d)) same = c == d;
    else if (a.ty->kind == TY_ARRAY || b.ty->kind == TY_ARRAY) return false;
    *out = same == (op == PYC_EQ);
    return true;
}

Val eval_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b) {
    bool holds;
    if (val_poisoned(a) || val_poisoned(b)) return val_poison(e);
    Val lists = list_compare(e, span, op, a, b);
    if (lists.ty) return lists;
    if (a.ty->kind == TY_LIST && !list_grows(a)) a = list_now(e, span, a);
    if (b.ty->kind == TY_LIST && !list_grows(b)) b = list_now(e, span, b);
    if (val_poisoned(a) || val_poisoned(b)) return val_poison(e);
    if (val_is_scalar(a) && val_is_scalar(b)) return compare_scalars(e, span, op, a, b);
    if (elementwise(a, b)) return array_map(e, span, (ExprOp){EXPR_COMPARE, (uint8_t)op, NULL}, 2, (Val[]){a, b});
    Val sets = set_compare(e, span, op, a, b);
    if (sets.ty) return sets;
    Val dicts = dict_compare(e, span, op, a, b);
    if (dicts.ty) return dicts;
    if (a.ty->kind == TY_TUPLE) b = list_items(e, b);
    if (b.ty->kind == TY_TUPLE) a = list_items(e, a);
    if (a.ty->kind == TY_TUPLE && b.ty->kind == TY_TUPLE) return compare_tuples(e, span, op, a, b);
    Val special = time_compare(e, span, op, a, b);
    if (!special.ty) special = string_compare(e, span, op, a, b);
    if (!special.ty) special = instance_compare(e, span, op, a, b);
    if (special.ty) return special;
    if (a.ty->kind == TY_TIME || b.ty->kind == TY_TIME) return operand_error(e, span, compare_text[op], a, b);
    if (a.ty->kind == TY_INSTANCE || b.ty->kind == TY_INSTANCE || a.ty->kind == TY_DICT || b.ty->kind == TY_DICT)
        return operand_error(e, span, compare_text[op], a, b);
    bool records = a.ty->kind == TY_RECORD || b.ty->kind == TY_RECORD;
    Val equal = records ? record_compare(e, span, op, a, b) : (Val){0};
    if (equal.ty) return equal;
    equal = text_compare(e, span, op, a, b);
    if (!equal.ty) equal = choice_compare(e, span, op, a, b);
    if (equal.ty) return equal;
    bool text = a.ty->kind == TY_TEXT || b.ty->kind == TY_TEXT; /* made on the host, later */
    if (!records && !text && compare_known(e, op, a, b, &holds)) return val_bool(e, holds);
    return operand_error(e, span, compare_text[op], a, b);
}

static bool is_bool(Val v) { return val_is_scalar(v) && v.ty->dtype == DT_BOOL; }

static bool is_made(Val v) { return v.ty->kind == TY_TUPLE || v.ty->kind == TY_INSTANCE || v.ty->kind == TY_DICT; }

/* True and False are one object each, and so are NumPy's: equal ones of one type are identical. */
Val eval_is(Eval *e, PySpan span, Val a, Val b, bool negate) {
    if (val_poisoned(a) || val_poisoned(b)) return val_poison(e);
    if (a.ty->kind == TY_MAYBE && b.ty->kind == TY_NONE) return maybe_is_none(e, span, a, negate);
    if (b.ty->kind == TY_MAYBE && a.ty->kind == TY_NONE) return maybe_is_none(e, span, b, negate);
    if (a.ty->kind == TY_NONE || b.ty->kind == TY_NONE) return val_bool(e, (a.ty == b.ty) != negate);
    Val chosen = choice_is(e, span, a, b, negate);
    if (chosen.ty) return chosen;
    if (a.member || b.member) return val_bool(e, (a.member == b.member) != negate); /* of an IntEnum */
    if (is_bool(a) && is_bool(b) && a.ty->weak == b.ty->weak)
        return val_convert(e, eval_compare(e, span, negate ? PYC_NE : PYC_EQ, a, b), e_python_bool(e));
    if (is_bool(a) || is_bool(b) || val_is_scalar(a) != val_is_scalar(b)) return val_bool(e, negate);
    if (val_is_list(a) && val_is_list(b) && lists_change(e, a.ty->made ? b : a)) return val_poison(e);
    if (a.ty->made || b.ty->made) {
        Ref same = a.ty == b.ty ? e_cmp(e, negate ? PRED_NE : PRED_EQ, a.items[0].ref[0], b.items[0].ref[0]) : REF_NONE;
        return a.ty == b.ty ? val_rt_bool(e, same) : val_bool(e, negate);
    }
    bool dtypes = a.ty->kind == TY_DTYPE || b.ty->kind == TY_DTYPE; /* a dtype and its scalar type are one here */
    bool made = is_made(a) || is_made(b);                           /* equal ones may be one or two */
    bool objects = !dtypes && !made && a.ty->kind != TY_TEXT && b.ty->kind != TY_TEXT && !val_is_scalar(a) &&
                   !val_is_scalar(b) && val_is_known(a) && val_is_known(b);
    if (objects) return val_bool(e, (a.ty == b.ty) != negate);
    return e_fail(e, span, "use == to compare values", DIAG_NO_IDENTITY, e_text(e, a), e_text(e, b));
}

/* Color.RED in Color.RED | Color.BLUE: Python decides. */
static Val flag_contains(Eval *e, Val item, Val c) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    HostRef obj = c.member ? c.member : c.ty->kind == TY_OBJECT ? c.ty->obj : NULL;
    bool member = obj && e->host->info(e->host->self, obj, &info) && info.kind == HOST_ENUM;
    HostRef f = member ? e->host->attr(e->host->self, obj, "__contains__") : NULL;
    return f ? call_constant(e, f, 1, &item) : (Val){0};
}

Val eval_contains(Eval *e, PySpan span, Val item, Val c, bool negate) {
    const char *x, *y;
    if (val_poisoned(item) || val_poisoned(c)) return val_poison(e);
    if (val_as_str(e, item, &x) && val_as_str(e, c, &y)) return val_bool(e, (strstr(y, x) != NULL) != negate);
    if (c.ty->kind == TY_RANGE) {
        Val has = range_contains(e, span, item, c);
        return negate ? eval_not(e, span, has) : has;
    }
    if (val_as_str(e, c, &y)) return e_fail(e, span, NULL, DIAG_OPERAND_TYPES, "in", e_text(e, item), e_text(e, c));
    Val special = instance_special(e, span, c, "__contains__", item);
    if (special.ty) return negate ? eval_not(e, span, special) : eval_truth(e, span, special);
    Val flags = flag_contains(e, item, c);
    if (flags.ty) return negate ? eval_not(e, span, flags) : flags;
    if (list_grows(c)) {
        Val has = list_contains(e, span, c, item);
        return negate ? eval_not(e, span, has) : has;
    }
    c = c.ty->kind == TY_LIST ? list_now(e, span, c) : val_items(e, c);
    if (val_poisoned(c)) return c;
    if (c.ty->kind == TY_TUPLE) {
        Val any = val_bool(e, false);
        for (uint32_t i = 0; i < c.ty->n; i++) {
            Val v = eval_compare(e, span, PYC_EQ, item, c.items[i]);
            if (val_poisoned(v)) return v;
            any = eval_logic(e, false, any, eval_truth(e, span, v));
        }
        return negate ? eval_not(e, span, any) : any;
    }
    if (val_is_many(c) && val_is_scalar(item)) {
        Val has = array_contains(e, span, item, c);
        return negate ? eval_not(e, span, has) : has;
    }
    return e_fail(e, span, "`in` works on tuples, ranges and arrays", DIAG_NOT_CONTAINER, e_text(e, c));
}

/* ---- truth -------------------------------------------------------------------------------------------- */
/* Python says it of strings, containers and members of a Flag; other things are true. */
static Val object_truth(Eval *e, Val v) {
    HostInfo info;
    const char *s;
    memset(&info, 0, sizeof info);
    if (val_as_str(e, v, &s)) return val_bool(e, *s != 0);
    if (!e->host->info(e->host->self, v.ty->obj, &info)) return val_poison(e);
    if (info.kind == HOST_LIST || info.kind == HOST_DICT || info.kind == HOST_SET) return val_bool(e, info.n != 0);
    HostRef f = info.kind == HOST_ENUM ? e->host->attr(e->host->self, v.ty->obj, "__bool__") : NULL;
    Val truth = f ? call_constant(e, f, 0, NULL) : (Val){0};
    return truth.ty && val_is_scalar(truth) ? truth : val_bool(e, true);
}

Val eval_truth(Eval *e, PySpan span, Val v) {
    if (val_poisoned(v)) return val_poison(e);
    switch (v.ty->kind) {
    case TY_SCALAR: return val_convert(e, v, e_python_bool(e));
    case TY_NONE: return val_bool(e, false);
    case TY_MAYBE: return maybe_truth(e, span, v);
    case TY_TIME: return eval_truth(e, span, v.items[0]);
    case TY_TUPLE:
    case TY_DICT: return val_bool(e, v.ty->n != 0);
    case TY_FUNCTION:
    case TY_DTYPE:
    case TY_PARTIAL:
    case TY_METHOD: return val_bool(e, true);
    case TY_INSTANCE: {
        Val special = instance_number(e, span, v, "__bool__");
        if (!special.ty) special = instance_number(e, span, v, "__len__");
        return special.ty ? eval_truth(e, span, special) : val_bool(e, true);
    }
    case TY_OBJECT: return object_truth(e, v);
    case TY_CHOICE: return choice_truth(e, span, v);
    case TY_LIST:
    case TY_RANGE: return eval_truth(e, span, eval_len(e, span, v));
    default:
        return e_fail(e, span, val_is_many(v) ? "test one element; np.any(...) and np.all(...) test all" : NULL,
                      DIAG_NO_TRUTH, e_text(e, v));
    }
}

Val eval_not(Eval *e, PySpan span, Val v) {
    v = eval_truth(e, span, v);
    if (val_poisoned(v)) return v;
    if (val_const(v)) return val_bool(e, !v.i);
    return val_rt_bool(e, e_op1(e, OP_NOT, T_BOOL, val_ref(e, v)));
}

/* ---- conditional expression ----------------------------------------------------------------------------- */
static Val select_parts(Eval *e, Ref c, Val a, Val b, Val target) {
    if (target.ty->kind == TY_SCALAR && !val_const(target)) {
        Type t = dtype_info[target.ty->dtype].ir;
        target.ref[0] = e_select(e, t, c, a.ref[0], b.ref[0]);
        if (dt_is_complex(val_dtype(target))) target.ref[1] = e_select(e, t, c, a.ref[1], b.ref[1]);
    }
    if (target.ty->kind == TY_PTR) target.ref[0] = e_select(e, (Type)target.ty->space, c, a.ref[0], b.ref[0]);
    Val *items = ARENA_ARRAY(e->arena, Val, target.ty->n + 1);
    for (uint32_t i = 0; i < target.ty->n; i++) items[i] = select_parts(e, c, a.items[i], b.items[i], target.items[i]);
    target.items = items;
    return target;
}

Val eval_select(Eval *e, PySpan span, Val cond, Val a, Val b) {
    Val target;
    cond = eval_truth(e, span, cond);
    if (val_poisoned(cond) || val_poisoned(a) || val_poisoned(b)) return val_poison(e);
    if (!val_join(e, a, b, &target)) return e_fail(e, span, NULL, DIAG_BRANCHES_UNIFY, e_text(e, a), e_text(e, b));
    if (val_const(cond)) return val_coerce(e, cond.i ? a : b, target);
    return select_parts(e, val_ref(e, cond), val_coerce(e, a, target), val_coerce(e, b, target), target);
}
