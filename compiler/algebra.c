/* algebra.c - the part of simplify that looks at one instruction.
 *
 * Only identities that hold for every input, bit for bit: wrapping for integers; for floats those
 * that keep NaN, infinities and the sign of zero (x + 0.0 isn't one, x + -0.0 is). The result is an
 * existing value, a constant, or the same instruction in a simpler or more regular form: constants
 * on the right, x - c as x + -c, sums of constants together. */
#include "simplify.h"

typedef struct View {
    Simplify *s;
    Ref r;
    Op op;
    Type type;
    uint32_t nargs;
    Ref a, b;
    bool a_const, b_const;
    uint64_t av, bv; /* their bits when constant */
} View;

static Instr *at(const View *v, Ref r) { return &v->s->m->instrs.at[r]; }

static View look(Simplify *s, Ref r) {
    const Instr *in = &s->m->instrs.at[r];
    View v = {.s = s, .r = r, .op = (Op)in->op, .type = (Type)in->type, .nargs = in->nargs};
    if (v.nargs > 0) {
        v.a = in->args[0];
        v.a_const = at(&v, v.a)->op == OP_CONST;
        v.av = at(&v, v.a)->imm;
    }
    if (v.nargs > 1) {
        v.b = in->args[1];
        v.b_const = at(&v, v.b)->op == OP_CONST;
        v.bv = at(&v, v.b)->imm;
    }
    return v;
}

static Ref constant(const View *v, uint64_t bits) { return simplify_const(v->s, v->type, bits); }

static uint64_t all_ones(Type t) { return ir_wrap(t, ~UINT64_C(0)); }

static void become(const View *v, Op op, uint32_t nargs, Ref a, Ref b) {
    Instr *in = at(v, v->r);
    in->op = (uint8_t)op;
    in->nargs = nargs;
    if (op != OP_CMP) in->sub = 0; /* what was proven of the old form */
    in->args[0] = a;
    if (nargs > 1) in->args[1] = b;
    v->s->changed = true;
}

static Ref fold_constants(const View *v) {
    uint64_t args[3], result;
    const Instr *in = at(v, v->r);
    if (in->nargs == 0 || in->nargs > 3) return REF_NONE;
    for (uint32_t i = 0; i < in->nargs; i++) {
        const Instr *arg = at(v, in->args[i]);
        if (arg->op != OP_CONST) return REF_NONE;
        args[i] = arg->imm;
    }
    if (!ir_fold(v->op, v->type, in->sub, at(v, in->args[0])->type, in->nargs, args, &result)) return REF_NONE;
    return constant(v, result);
}

/* (x + c) + d, (x * c) * d, (x & c) & d ...: one operation with one constant. */
static Ref reassociate(const View *v) {
    const Instr *inner = at(v, v->a);
    if (!v->b_const || inner->op != v->op || !type_is_int(v->type)) return v->r;
    const Instr *c = at(v, inner->args[1]);
    if (c->op != OP_CONST) return v->r;
    uint64_t both[2] = {c->imm, v->bv}, sum;
    if (!ir_fold(v->op, v->type, 0, v->type, 2, both, &sum)) return v->r;
    Ref x = inner->args[0];
    become(v, v->op, 2, x, constant(v, sum));
    return v->r;
}

static Ref int_sum(const View *v) {
    if (v->op == OP_SUB) {
        if (v->a == v->b) return constant(v, 0);
        if (v->b_const) {
            become(v, OP_ADD, 2, v->a, constant(v, ir_wrap(v->type, 0 - v->bv)));
            return v->r;
        }
        if (v->a_const && v->av == 0) become(v, OP_NEG, 1, v->b, 0);
        return v->r;
    }
    if (v->b_const && v->bv == 0) return v->a;
    return reassociate(v);
}

static Ref int_product(const View *v) {
    if (v->b_const && v->bv == 0) return v->b;
    if (v->b_const && v->bv == 1) return v->a;
    return reassociate(v);
}

static Ref int_quotient(const View *v) {
    bool mod = v->op == OP_FLOORMOD || v->op == OP_TRUNCMOD;
    if (v->a_const && v->av == 0) return v->a; /* 0 // x, 0 % x, also for x = 0 */
    if (v->b_const && v->bv == 0) return v->b;
    if (v->b_const && v->bv == 1) return mod ? constant(v, 0) : v->a;
    return v->r;
}

static Ref bitwise(const View *v) {
    bool is_and = v->op == OP_AND, is_or = v->op == OP_OR;
    if (v->a == v->b) return v->op == OP_XOR ? constant(v, 0) : v->a;
    if (v->b_const) {
        if (v->bv == 0) return is_and ? v->b : v->a;
        if (v->bv == all_ones(v->type)) {
            if (is_and) return v->a;
            if (is_or) return v->b;
            become(v, OP_NOT, 1, v->a, 0);
            return v->r;
        }
    }
    return reassociate(v);
}

static Ref shift(const View *v) {
    if (v->a_const && v->av == 0) return v->a;
    return v->b_const && v->bv == 0 ? v->a : v->r;
}

static Ref float_arith(const View *v) {
    double b = v->b_const ? ir_bits_to_double(v->type, v->bv) : 0.0;
    bool negative_zero = v->b_const && v->bv == UINT64_C(1) << (type_bits(v->type) - 1);
    if (!v->b_const) return v->r;
    if (v->op == OP_ADD && negative_zero) return v->a;
    if (v->op == OP_SUB && v->bv == 0) return v->a;
    if ((v->op == OP_MUL || v->op == OP_DIV) && b == 1.0) return v->a;
    return v->r;
}

static Ref arith(const View *v) {
    if (type_is_float(v->type)) return float_arith(v);
    switch (v->op) {
    case OP_ADD:
    case OP_SUB: return int_sum(v);
    case OP_MUL: return int_product(v);
    case OP_SHL:
    case OP_SHR: return shift(v);
    default: return int_quotient(v);
    }
}

/* -(-x) and ~~x; the complement of a comparison that can't meet a NaN. */
static Ref unary(const View *v) {
    static const uint8_t opposite[PRED__COUNT] = {PRED_NE, PRED_EQ, PRED_GE, PRED_GT, PRED_LE, PRED_LT};
    const Instr *inner = at(v, v->a);
    if (inner->op == v->op && v->op != OP_ABS) return inner->args[0];
    if (v->op == OP_ABS && (inner->op == OP_ABS || type_kind(v->type) == KIND_UINT)) return v->a;
    if (v->op != OP_NOT || inner->op != OP_CMP) return v->r;
    bool may_be_nan = type_is_float(at(v, inner->args[0])->type);
    if (may_be_nan && inner->sub != PRED_EQ && inner->sub != PRED_NE) return v->r;
    Instr *in = at(v, v->r);
    in->sub = opposite[inner->sub];
    in->args = ARENA_ARRAY(v->s->m->arena, Ref, 2);
    become(v, OP_CMP, 2, inner->args[0], inner->args[1]);
    return v->r;
}

static uint16_t swapped(uint16_t pred) {
    static const uint8_t mirror[PRED__COUNT] = {PRED_EQ, PRED_NE, PRED_GT, PRED_GE, PRED_LT, PRED_LE};
    return mirror[pred];
}

/* The smallest and largest values of an integer type, as constants hold them. */
static uint64_t least(Type t) { return type_is_signed(t) ? ir_wrap(t, UINT64_C(1) << (type_bits(t) - 1)) : 0; }
static uint64_t greatest(Type t) { return type_is_signed(t) ? ~least(t) : all_ones(t); }

static Ref compare(const View *v) {
    Instr *in = at(v, v->r);
    Type t = at(v, v->a)->type;
    bool holds_for_equal = in->sub == PRED_EQ || in->sub == PRED_LE || in->sub == PRED_GE;
    if (v->a == v->b && !type_is_float(t)) return constant(v, holds_for_equal);
    if (v->a_const && !v->b_const) {
        in->sub = swapped(in->sub);
        become(v, OP_CMP, 2, v->b, v->a);
        return v->r;
    }
    if (!v->b_const) return v->r;
    if (t == T_BOOL && (in->sub == PRED_EQ || in->sub == PRED_NE)) {
        if ((in->sub == PRED_NE) == (v->bv == 0)) return v->a;
        become(v, OP_NOT, 1, v->a, 0);
        return v->r;
    }
    if (type_is_int(t)) {
        if (v->bv == least(t) && (in->sub == PRED_LT || in->sub == PRED_GE)) return constant(v, in->sub == PRED_GE);
        if (v->bv == greatest(t) && (in->sub == PRED_GT || in->sub == PRED_LE)) return constant(v, in->sub == PRED_LE);
        const Instr *inner = at(v, v->a); /* int(flag) == 0, != 0 */
        if (inner->op == OP_CONVERT && at(v, inner->args[0])->type == T_BOOL && v->bv == 0 && in->sub <= PRED_NE) {
            if (in->sub == PRED_NE) return inner->args[0];
            become(v, OP_NOT, 1, inner->args[0], 0);
        }
    }
    return v->r;
}

static Ref select(const View *v) {
    Instr *in = at(v, v->r);
    Ref c = v->a, yes = in->args[1], no = in->args[2];
    if (v->a_const) return v->av ? yes : no;
    if (yes == no) return yes;
    if (at(v, c)->op == OP_NOT) {
        become(v, OP_SELECT, 2, at(v, c)->args[0], no);
        in->args[2] = yes;
        in->nargs = 3;
        return v->r;
    }
    if (v->type != T_BOOL) return v->r;
    bool yes_const = at(v, yes)->op == OP_CONST, no_const = at(v, no)->op == OP_CONST;
    bool yes_value = at(v, yes)->imm, no_value = at(v, no)->imm;
    if (yes_const && no_const && yes_value) return c;
    if (yes_const && no_const) become(v, OP_NOT, 1, c, 0);
    else if (yes_const && yes_value) become(v, OP_OR, 2, c, no);
    else if (no_const && !no_value) become(v, OP_AND, 2, c, yes);
    return v->r;
}

/* Every value of `from` is a value of `to`. */
static bool embeds(Type to, Type from) {
    unsigned a = type_bits(from), b = type_bits(to);
    if (from == T_BOOL || to == T_BOOL) return from == T_BOOL && to != T_BOOL;
    if (type_is_int(from) && type_is_int(to)) {
        if (type_is_signed(from)) return type_is_signed(to) && b >= a;
        return type_is_signed(to) ? b > a : b >= a;
    }
    if (type_is_float(from) && type_is_float(to)) return b > a || to == from;
    if (!type_is_int(from)) return false;
    return a <= (to == T_F64 ? 32u : to == T_F32 ? 16u : 8u); /* 53, 24, 11 and 8 bits of mantissa */
}

static Ref convert(const View *v) {
    const Instr *inner = at(v, v->a);
    Type through = inner->type;
    if (through == v->type) return v->a;
    if (inner->op != OP_CONVERT) return v->r;
    Type from = at(v, inner->args[0])->type;
    bool cut =
        type_is_int(v->type) && type_is_int(through) && type_is_int(from) && type_bits(through) >= type_bits(v->type);
    if (embeds(through, from) || cut) {
        Ref x = inner->args[0];
        if (from == v->type) return x;
        become(v, OP_CONVERT, 1, x, 0);
    }
    return v->r;
}

/* All operands are one value, or the PHI itself. */
static Ref phi(const View *v) {
    const Instr *in = at(v, v->r);
    Ref only = REF_NONE;
    for (uint32_t i = 0; i < in->nargs; i++) {
        Ref x = in->args[i];
        if (x == v->r || x == only) continue;
        if (only) return v->r;
        only = x;
    }
    return only ? only : v->r;
}

static Ref rules(const View *v) {
    switch (v->op) {
    case OP_PHI: return phi(v);
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_FLOORDIV:
    case OP_FLOORMOD:
    case OP_TRUNCDIV:
    case OP_TRUNCMOD:
    case OP_SHL:
    case OP_SHR: return arith(v);
    case OP_MIN:
    case OP_MAX:
    case OP_FMIN:
    case OP_FMAX:
    case OP_NANMIN:
    case OP_NANMAX: return v->a == v->b ? v->a : v->r;
    case OP_AND:
    case OP_OR:
    case OP_XOR: return bitwise(v);
    case OP_NEG:
    case OP_NOT:
    case OP_ABS: return unary(v);
    case OP_CMP: return compare(v);
    case OP_SELECT: return select(v);
    case OP_CONVERT: return convert(v);
    case OP_BITCAST: return at(v, v->a)->type == v->type ? v->a : v->r;
    case OP_ADDR: return v->b_const && v->bv == 0 ? v->a : v->r;
    default: return v->r;
    }
}

/* Each round makes the instruction simpler, so that a few always suffice. */
Ref simplify_instr(Simplify *s, Ref r) {
    for (int round = 0; round < 8; round++) {
        View v = look(s, r);
        Ref folded = fold_constants(&v);
        if (folded) return folded;
        if (op_info[v.op].flags & COMMUTES && v.a_const && !v.b_const) {
            Instr *in = at(&v, r);
            in->args[0] = v.b;
            in->args[1] = v.a;
            s->changed = true;
            continue;
        }
        Op before = v.op;
        Ref args[3] = {v.a, v.b, v.nargs > 2 ? s->m->instrs.at[r].args[2] : REF_NONE};
        Ref same = rules(&v);
        if (same != r) return same;
        const Instr *now = &s->m->instrs.at[r];
        bool moved = now->op != before || now->nargs != v.nargs;
        for (uint32_t i = 0; i < now->nargs && i < 3 && !moved; i++) moved = now->args[i] != args[i];
        if (!moved) return r;
    }
    return r;
}
