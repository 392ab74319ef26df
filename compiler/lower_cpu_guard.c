/* lower_cpu_guard.c - what a condition says of all lanes of a vector at once.
 *
 * A guard compares what grows along x with what all lanes share: its two ends tell of all of them, or one of the ends.
 * Where that isn't known to be exact, the lanes are asked. */
#include "lower_cpu_body.h"

static const Instr *instr(const Lower *L, Ref r) { return &L->m->instrs.at[r]; }

static Val last_lane(Lower *L, Ref r) {
    Val v = lanes_held(L, r);
    if (lane_kind(L, r) != LANE_FIRST) return v;
    uint64_t far = (uint64_t)L->body->u->stride[r] * (L->body->lanes - 1);
    if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind) {
        Val offset = LLVMConstInt(L->i64, far, false);
        return LLVMBuildGEP2(L->b, L->i8, v, &offset, 1, "last");
    }
    return LLVMBuildAdd(L->b, v, LLVMConstInt(LLVMTypeOf(v), far, false), "last");
}

/* Neither side wraps: the two ends of the vector tell of all lanes. */
static bool is_straight(const Lower *L, const Instr *in) {
    if (in->op != OP_CMP || in->sub == PRED_NE) return false;
    for (uint32_t i = 0; i < 2; i++)
        if (lane_kind(L, in->args[i]) == LANE_VECTOR ||
            (lane_kind(L, in->args[i]) == LANE_FIRST && !L->body->u->exact[in->args[i]]))
            return false;
    return true;
}

/* How fast the left side runs away from the right one. */
static int64_t drift(const Lower *L, const Instr *in) {
    return (int64_t)((uint64_t)L->body->u->stride[in->args[0]] - (uint64_t)L->body->u->stride[in->args[1]]);
}

static Val compare_as(Lower *L, const Instr *in, Pred p, const Val *sides) {
    Instr other = *in;
    Val args[2] = {sides[0], sides[1]};
    other.sub = (uint16_t)p;
    return lower_cmp(L, &other, args);
}

/* Ends on the same side of equality. */
static Verdict judge_equality(Lower *L, const Instr *in, const Val *first, const Val *last) {
    Val below = LLVMBuildAnd(L->b, compare_as(L, in, PRED_LT, first), compare_as(L, in, PRED_LT, last), "below");
    Val above = LLVMBuildAnd(L->b, compare_as(L, in, PRED_GT, first), compare_as(L, in, PRED_GT, last), "above");
    Val both_equal = LLVMBuildAnd(L->b, lower_cmp(L, in, (Val[]){first[0], first[1]}),
                                  lower_cmp(L, in, (Val[]){last[0], last[1]}), "all");
    return (Verdict){both_equal, LLVMBuildOr(L->b, below, above, "none")};
}

/* Was the value computed on the way here, from operands that are still to be had? Others come alone, in a variable. */
static bool has_operands(const Lower *L, Ref r) { return !L->variable[r]; }

Verdict lanes_judge(Lower *L, Ref cond) {
    const Instr *in = instr(L, cond);
    if (lane_kind(L, cond) == LANE_SCALAR)
        return (Verdict){lanes_held(L, cond), LLVMBuildNot(L->b, lanes_held(L, cond), "none")};
    bool operands = has_operands(L, cond);
    if (operands && is_straight(L, in)) {
        Val first[2] = {lanes_held(L, in->args[0]), lanes_held(L, in->args[1])};
        Val last[2] = {last_lane(L, in->args[0]), last_lane(L, in->args[1])};
        if (in->sub == PRED_EQ) return judge_equality(L, in, first, last);
        /* as one side runs away from the other, it is true up to some lane or from some lane on */
        bool up_to = (in->sub == PRED_LT || in->sub == PRED_LE) == (drift(L, in) >= 0);
        Val a = lower_cmp(L, in, first), b = lower_cmp(L, in, last);
        return (Verdict){up_to ? b : a, LLVMBuildNot(L->b, up_to ? a : b, "none")};
    }
    if (operands && (in->op == OP_AND || in->op == OP_OR)) {
        Verdict a = lanes_judge(L, in->args[0]), b = lanes_judge(L, in->args[1]);
        return in->op == OP_AND
                   ? (Verdict){LLVMBuildAnd(L->b, a.all, b.all, "all"), LLVMBuildOr(L->b, a.none, b.none, "none")}
                   : (Verdict){LLVMBuildOr(L->b, a.all, b.all, "all"), LLVMBuildAnd(L->b, a.none, b.none, "none")};
    }
    Val v = lanes_value(L, cond), now = L->body->now;
    if (L->body->parted) {
        Val yes = lanes_both(L, now, v), no = lanes_both(L, now, LLVMBuildNot(L->b, v, "no"));
        return (Verdict){LLVMBuildNot(L->b, lanes_any(L, no), "all"), LLVMBuildNot(L->b, lanes_any(L, yes), "none")};
    }
    return (Verdict){lanes_all(L, v), LLVMBuildNot(L->b, lanes_any(L, v), "none")};
}

/* Does what is known of the vector's lanes go on in those behind? Where a vector is a warp, its lanes count from 0
 * again in the next one, and what they have found out together is news there. */
static bool goes_on(const Lower *L, Ref r) {
    const Instr *in = instr(L, r);
    if (!L->vectors->warps) return true;
    switch (in->op) {
    case OP_CONST:
    case OP_PARAM: return true;
    case OP_SREG: return in->sub != SREG_LANEID;
    case OP_ADD:
    case OP_SUB:
    case OP_MUL: return goes_on(L, in->args[0]) && goes_on(L, in->args[1]);
    case OP_CONVERT: return goes_on(L, in->args[0]);
    default: return false;
    }
}

/* Is the guard false for all vectors that follow along x? NULL: that isn't known. */
Val lanes_false_behind(Lower *L, Ref cond) {
    const Instr *in = instr(L, cond);
    if (lane_kind(L, cond) != LANE_VECTOR || !has_operands(L, cond) || !is_straight(L, in)) return NULL;
    if (!goes_on(L, in->args[0]) || !goes_on(L, in->args[1])) return NULL;
    int64_t d = drift(L, in);
    bool less = in->sub == PRED_LT || in->sub == PRED_LE;
    Val last[2] = {last_lane(L, in->args[0]), last_lane(L, in->args[1])};
    if (in->sub == PRED_EQ) return d ? compare_as(L, in, d > 0 ? PRED_GE : PRED_LE, last) : NULL;
    return (less ? d >= 0 : d <= 0) ? LLVMBuildNot(L->b, lower_cmp(L, in, last), "stop") : NULL;
}
