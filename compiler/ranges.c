/* ranges.c - which values integers can have, and what that makes unnecessary.
 *
 * needs: simplify      keeps: all results of accesses that are in bounds
 *
 * Method: intervals, found by walks over the dominator tree, children in reverse postorder. Special
 * registers, shapes and, with FACT_SIZE32, grid * block products have known ranges; a branch on a
 * comparison narrows both sides in the blocks that it dominates, and what they were made of (through
 * conversions and sums with constants), and bounds their difference: behind `t >= step`, `t - step` isn't negative. A
 * PHI joins what its operands have at the end of their predecessors. With loops the walk repeats: PHIs grow until
 * nothing changes, ends that still move in the second walk jump to the end of their type, and a descending walk takes
 * back what the loops' conditions forbid. So `for i in range(n)` gives 0 <= i < n, and a step of unknown size but known
 * sign keeps the start as a bound.
 *
 * The last walk decides comparisons (with them go `select(i < 0, i + n, i)` for indices that can't be
 * negative), branches, and the direction of roundings that don't matter; narrow.c then does index
 * arithmetic in 32 bits.
 *
 * Limits: relations between variables only as they were compared, one interval for a value, nothing through memory,
 * u64 only below 2^63; at most 12 walks, after which PHIs count as unknown. */
#include "ranges.h"

#include "../runtime/image.h"

#include <string.h>

__extension__ typedef __int128 S128;

enum { LOOK_BACK = 2, WALKS = 12, REFINE_DEPTH = 8, MOST_RELATIONS = 32 /* that are looked at */ };

static const Instr *instr(const Ranges *R, Ref r) { return &R->m->instrs.at[r]; }
static Type type_of(const Ranges *R, Ref r) { return (Type)instr(R, r)->type; }
static bool has_range(Type t) { return type_is_int(t) || t == T_BOOL; }

/* ---- intervals ------------------------------------------------------------------------------ */

static Range everything(Type t) {
    if (t == T_BOOL) return (Range){0, 1};
    if (!type_is_int(t) || type_bits(t) == 64) return (Range){INT64_MIN, INT64_MAX};
    int64_t half = INT64_C(1) << (type_bits(t) - 1);
    return type_is_signed(t) ? (Range){-half, half - 1} : (Range){0, 2 * half - 1};
}

static bool known(Type t, Range r) { return t != T_U64 || (r.lo >= 0 && r.hi < INT64_MAX); }

/* lo ... hi if the type holds them all, else everything: then the operation may have wrapped. */
static Range fit(Type t, S128 lo, S128 hi) {
    Range all = everything(t);
    if (lo < all.lo || hi > all.hi || lo > hi) return all;
    Range r = {(int64_t)lo, (int64_t)hi};
    return known(t, r) ? r : all;
}

static Range join(Range a, Range b) {
    if (a.lo > a.hi) return b;
    if (b.lo > b.hi) return a;
    return (Range){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

static Range meet(Range a, Range b) {
    Range r = {a.lo > b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
    return r.lo > r.hi ? a : r; /* contradictions are in code that doesn't run */
}

static Range product(Type t, Range a, Range b) {
    S128 p[4] = {(S128)a.lo * b.lo, (S128)a.lo * b.hi, (S128)a.hi * b.lo, (S128)a.hi * b.hi}, lo = p[0], hi = p[0];
    for (int i = 1; i < 4; i++) {
        lo = p[i] < lo ? p[i] : lo;
        hi = p[i] > hi ? p[i] : hi;
    }
    return fit(t, lo, hi);
}

static int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); } /* b > 0 */

static Range quotient(Op op, Type t, Range a, Range b) {
    if (b.lo <= 0) return a.lo >= 0 && b.lo == 0 ? (Range){0, a.hi} : everything(t); /* x // 0 is 0 */
    bool down = op == OP_FLOORDIV;
    int64_t by_lo = a.lo < 0 ? b.lo : b.hi, by_hi = a.hi < 0 ? b.hi : b.lo;
    return fit(t, down ? floor_divide(a.lo, by_lo) : a.lo / by_lo, down ? floor_divide(a.hi, by_hi) : a.hi / by_hi);
}

/* The result is nearer to 0 than the divisor; of a TRUNCMOD also not farther than the dividend, whose sign it has. */
static Range remainder_of(Op op, Type t, Range a, Range b) {
    if (b.lo == INT64_MIN) return everything(t);
    int64_t most = b.hi > 0 ? b.hi - 1 : 0, least = b.lo < 0 ? b.lo + 1 : 0;
    if (op == OP_TRUNCMOD) {
        int64_t size = most > -least ? most : -least;
        return (Range){a.lo >= 0 ? 0 : a.lo > -size ? a.lo : -size, a.hi <= 0 ? 0 : a.hi < size ? a.hi : size};
    }
    if (a.lo >= 0 && b.lo > a.hi) return a;
    if (a.lo >= 0 && a.hi < most) most = a.hi;
    return (Range){least, most};
}

/* The smallest 2^k - 1 that isn't below v. */
static int64_t all_bits(int64_t v) {
    uint64_t x = (uint64_t)v;
    for (unsigned s = 1; s < 64; s *= 2) x |= x >> s;
    return (int64_t)x;
}

static Range bitwise(Op op, Type t, Range a, Range b) {
    if (t == T_BOOL && op != OP_XOR)
        return op == OP_AND ? (Range){a.lo & b.lo, a.hi & b.hi} : (Range){a.lo | b.lo, a.hi | b.hi};
    if (t == T_BOOL) return everything(t);
    if (op == OP_AND && (a.lo >= 0 || b.lo >= 0)) {
        int64_t most = a.lo >= 0 && (b.lo < 0 || a.hi < b.hi) ? a.hi : b.hi;
        return fit(t, 0, most);
    }
    if (a.lo < 0 || b.lo < 0) return everything(t);
    return fit(t, op == OP_OR ? (a.lo > b.lo ? a.lo : b.lo) : 0, all_bits(a.hi | b.hi));
}

static Range shifted(Op op, Type t, Range a, Range b) {
    if (b.lo < 0 || b.hi >= (int64_t)type_bits(t)) return op == OP_SHR && a.lo >= 0 ? (Range){0, a.hi} : everything(t);
    if (op == OP_SHL) return b.hi > 62 ? everything(t) : product(t, a, (Range){INT64_C(1) << b.lo, INT64_C(1) << b.hi});
    return (Range){a.lo >> (a.lo < 0 ? b.lo : b.hi), a.hi >> (a.hi < 0 ? b.hi : b.lo)};
}

/* ---- leaves --------------------------------------------------------------------------------- */

static Range sreg_range(const Ranges *R, Sreg s) {
    if (R->m->facts & FACT_SIZE32 && s == SREG_CTAID_X) return (Range){0, FACT_SIZE32_GRID - 1};
    if (R->m->facts & FACT_SIZE32 && s == SREG_NCTAID_X) return (Range){1, FACT_SIZE32_GRID};
    static const Range limits[SREG__COUNT] = {
        [SREG_TID_X] = {0, MOST_BLOCK_X - 1},
        [SREG_TID_Y] = {0, MOST_BLOCK_Y - 1},
        [SREG_TID_Z] = {0, MOST_BLOCK_Z - 1},
        [SREG_NTID_X] = {1, MOST_BLOCK_X},
        [SREG_NTID_Y] = {1, MOST_BLOCK_Y},
        [SREG_NTID_Z] = {1, MOST_BLOCK_Z},
        [SREG_CTAID_X] = {0, MOST_GRID_X - 1},
        [SREG_CTAID_Y] = {0, MOST_GRID_Y - 1},
        [SREG_CTAID_Z] = {0, MOST_GRID_Z - 1},
        [SREG_NCTAID_X] = {1, MOST_GRID_X},
        [SREG_NCTAID_Y] = {1, MOST_GRID_Y},
        [SREG_NCTAID_Z] = {1, MOST_GRID_Z},
        [SREG_LANEID] = {0, 31},
        [SREG_DYNAMIC_SHARED] = {0, MOST_SHARED},
    };
    return limits[s];
}

static Range param_range(const Ranges *R, const Instr *in) {
    const IrParam *p = &R->m->params.at[in->imm];
    bool small = R->m->facts & FACT_SIZE32;
    if (p->kind == PARAM_SHAPE) return (Range){0, small ? INT32_MAX - FACT_SIZE32_SPARE : INT64_MAX};
    if (p->kind == PARAM_SCALAR && in->type == T_I64 && R->m->facts & FACT_COUNTS) return (Range){0, INT32_MAX};
    if (p->kind == PARAM_STRIDE && small) return (Range){-INT32_MAX, INT32_MAX};
    return everything((Type)in->type);
}

static Range const_range(const Instr *in) {
    if (in->type == T_U64 && in->imm >= INT64_MAX) return everything(T_U64);
    return (Range){(int64_t)in->imm, (int64_t)in->imm};
}

/* FACT_SIZE32: grid * block stays below 2^31 in each dimension. The axis if r is ctaid * ntid (or
 * nctaid * ntid, when `count`) of one axis, else -1. */
static int grid_product(const Ranges *R, Ref r, bool count) {
    const Instr *in = instr(R, r);
    if (in->op != OP_MUL || !(R->m->facts & FACT_SIZE32)) return -1;
    Sreg a = ir_sreg_of(R->m, in->args[0]), b = ir_sreg_of(R->m, in->args[1]);
    Sreg first = count ? SREG_NCTAID_X : SREG_CTAID_X;
    for (int axis = 0; axis < 3; axis++) {
        Sreg grid = (Sreg)(first + axis), block = (Sreg)(SREG_NTID_X + axis);
        if ((a == grid && b == block) || (a == block && b == grid)) return axis;
    }
    return -1;
}

static bool is_thread_index(const Ranges *R, const Instr *in) {
    for (int i = 0; i < 2; i++) {
        int axis = grid_product(R, in->args[i], false);
        if (axis >= 0 && ir_sreg_of(R->m, in->args[1 - i]) == (Sreg)(SREG_TID_X + axis)) return true;
    }
    return false;
}

/* ---- one operation -------------------------------------------------------------------------- */

static void refine(Ranges *R, Ref cond, bool truth, int depth);

static void undo_to(Ranges *R, uint32_t mark) {
    while (R->refined.n > mark) {
        Refined *u = &R->refined.at[--R->refined.n];
        R->now[u->r] = u->before;
    }
    while (R->relations.n && R->relations.at[R->relations.n - 1].mark > mark) R->relations.n--;
}

/* ---- relations between values ---------------------------------------------------------------- */

/* What a value is made of by conversions and constants, as far as nothing wraps on the way. */
static Sum sum_of(const Ranges *R, Ref r) {
    Sum s = {r, 0};
    for (int steps = 0; steps < REFINE_DEPTH; steps++) {
        const Instr *in = instr(R, s.base);
        Range whole = everything((Type)in->type), x = in->nargs ? R->now[in->args[0]] : whole;
        if (!in->nargs || !type_is_int((Type)in->type) || !type_is_int(type_of(R, in->args[0])) || x.lo > x.hi) break;
        if (type_of(R, in->args[0]) == T_U64 || in->type == T_U64) break;
        S128 plus = 0;
        if (in->op == OP_ADD || in->op == OP_SUB) {
            const Instr *by = instr(R, in->args[1]);
            if (by->op != OP_CONST) break;
            plus = in->op == OP_ADD ? (S128)(int64_t)by->imm : -(S128)(int64_t)by->imm;
        } else if (in->op != OP_CONVERT) {
            break;
        }
        bool exact = x.lo + plus >= whole.lo && x.hi + plus <= whole.hi;
        if (!exact && (in->op == OP_CONVERT || !(in->sub & ARITH_NO_WRAP))) break;
        if (plus + s.plus > INT32_MAX || plus + s.plus < INT32_MIN) break;
        s = (Sum){in->args[0], (int64_t)(plus + s.plus)};
    }
    return s;
}

/* a < b, or a <= b with slack 1. */
static void note_less(Ranges *R, Ref a, Ref b, int64_t slack) {
    if (type_of(R, a) == T_U64 || !type_is_int(type_of(R, a))) return;
    Sum least = sum_of(R, a), most = sum_of(R, b);
    if (instr(R, least.base)->op == OP_CONST || instr(R, most.base)->op == OP_CONST) return;
    least.plus += 1 - slack;
    VEC_PUSH(R->m->arena, &R->refined, ((Refined){a, R->now[a]})); /* a place for the mark */
    VEC_PUSH(R->m->arena, &R->relations, ((Relation){least, most, R->refined.n}));
}

static int64_t least_difference_of(const Ranges *R, Ref a, Sum y) {
    Sum x = sum_of(R, a);
    int64_t best = INT64_MIN;
    for (uint32_t i = R->relations.n; i-- > 0 && R->relations.n - i <= MOST_RELATIONS;) {
        const Relation *r = &R->relations.at[i];
        if (r->least.base != y.base || r->most.base != x.base) continue;
        int64_t least = r->least.plus - y.plus + x.plus - r->most.plus;
        best = least > best ? least : best;
    }
    return best;
}

/* A bound of a - b by what was compared; INT64_MIN: none. Of a sum either part may have been. */
int64_t ranges_least_difference(const Ranges *R, Ref a, Ref b) {
    if (!R->relations.n || type_of(R, a) == T_U64) return INT64_MIN;
    Sum y = sum_of(R, b);
    int64_t best = least_difference_of(R, a, y);
    const Instr *in = instr(R, y.base);
    if (in->op != OP_ADD || !type_is_signed((Type)in->type)) return best;
    Range p = R->now[in->args[0]], q = R->now[in->args[1]], all = everything((Type)in->type);
    if (p.lo > p.hi || q.lo > q.hi || (S128)p.lo + q.lo < all.lo || (S128)p.hi + q.hi > all.hi) return best;
    for (int k = 0; k < 2; k++) {
        Sum part = sum_of(R, in->args[k]);
        Range other = k ? p : q;
        if (other.hi > INT32_MAX || other.hi < INT32_MIN) continue;
        part.plus += y.plus + other.hi;
        int64_t least = least_difference_of(R, a, part);
        best = least > best ? least : best;
    }
    return best;
}

static Range select_range(Ranges *R, const Instr *in, int depth) {
    Range result = {1, 0};
    Range cond = range_at(R, in->args[0], depth);
    int look_back = R->look_back;
    R->look_back = 0; /* conditions of selects in selects would cost without a bound */
    for (int truth = 0; truth < 2; truth++) {
        if (truth < cond.lo || truth > cond.hi) continue;
        uint32_t mark = R->refined.n;
        refine(R, in->args[0], truth, REFINE_DEPTH);
        result = join(result, range_at(R, in->args[truth ? 1 : 2], depth > 0));
        undo_to(R, mark);
    }
    R->look_back = look_back;
    return result;
}

static Range compare_range(Ranges *R, const Instr *in, int depth) {
    Range undecided = {0, 1}, yes = {1, 1}, no = {0, 0};
    Type t = type_of(R, in->args[0]);
    if (!has_range(t)) return undecided;
    Range a = range_at(R, in->args[0], depth), b = range_at(R, in->args[1], depth);
    if (!known(t, a) || !known(t, b)) return undecided;
    switch (in->sub) {
    case PRED_LT: return a.hi < b.lo ? yes : a.lo >= b.hi ? no : undecided;
    case PRED_LE: return a.hi <= b.lo ? yes : a.lo > b.hi ? no : undecided;
    case PRED_GT: return a.lo > b.hi ? yes : a.hi <= b.lo ? no : undecided;
    case PRED_GE: return a.lo >= b.hi ? yes : a.hi < b.lo ? no : undecided;
    default: {
        bool apart = a.hi < b.lo || b.hi < a.lo, same = a.lo == a.hi && b.lo == b.hi && a.lo == b.lo;
        if (!apart && !same) return undecided;
        return same == (in->sub == PRED_EQ) ? yes : no;
    }
    }
}

static Range convert_range(Ranges *R, const Instr *in, int depth) {
    Type t = (Type)in->type, from = type_of(R, in->args[0]);
    if (!has_range(from)) return everything(t);
    Range a = range_at(R, in->args[0], depth);
    if (!known(from, a)) return everything(t);
    if (t == T_BOOL) return a.lo > 0 || a.hi < 0 ? (Range){1, 1} : a.lo == 0 && a.hi == 0 ? a : everything(t);
    return fit(t, a.lo, a.hi);
}

static Range difference(const Ranges *R, const Instr *in, Range a, Range b) {
    S128 lo = (S128)a.lo - b.hi, hi = (S128)a.hi - b.lo;
    int64_t least = ranges_least_difference(R, in->args[0], in->args[1]);
    if (least > lo && least <= hi) lo = least;
    return fit((Type)in->type, lo, hi);
}

/* A sum or product whose operands say too little. */
static Range with_sizes(const Ranges *R, Ref r, Range v) {
    Range bound;
    if (range_in_i32(v) || !sizes_bound(R, r, &bound)) return v;
    return meet(v, bound);
}

static Range binary_range(Ranges *R, Ref r, const Instr *in, int depth) {
    Type t = (Type)in->type;
    Range a = range_at(R, in->args[0], depth), b = range_at(R, in->args[1], depth);
    if (!known(t, a) || !known(t, b)) return everything(t);
    switch (in->op) {
    case OP_ADD:
        if (R->m->facts & FACT_SIZE32 && is_thread_index(R, in)) return (Range){0, INT32_MAX - 1};
        return with_sizes(R, r, fit(t, (S128)a.lo + b.lo, (S128)a.hi + b.hi));
    case OP_SUB: return difference(R, in, a, b);
    case OP_MUL: return with_sizes(R, r, product(t, a, b));
    case OP_FLOORDIV:
    case OP_TRUNCDIV: return quotient((Op)in->op, t, a, b);
    case OP_FLOORMOD:
    case OP_TRUNCMOD: return remainder_of((Op)in->op, t, a, b);
    case OP_MIN: return (Range){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
    case OP_MAX: return (Range){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
    case OP_AND:
    case OP_OR:
    case OP_XOR: return bitwise((Op)in->op, t, a, b);
    case OP_SHL:
    case OP_SHR: return shifted((Op)in->op, t, a, b);
    default: break;
    }
    return everything(t);
}

static Range unary_range(Ranges *R, const Instr *in, int depth) {
    Type t = (Type)in->type;
    Range a = range_at(R, in->args[0], depth);
    if (!known(t, a)) return everything(t);
    if (in->op == OP_NEG) return fit(t, -(S128)a.hi, -(S128)a.lo);
    if (a.lo >= 0) return a;
    return fit(t, a.hi <= 0 ? -(S128)a.hi : 0, -(S128)a.lo > a.hi ? -(S128)a.lo : a.hi); /* ABS */
}

static Range evaluate(Ranges *R, Ref r, int depth) {
    const Instr *in = instr(R, r);
    Type t = (Type)in->type;
    switch (in->op) {
    case OP_CONST: return const_range(in);
    case OP_PARAM: return param_range(R, in);
    case OP_SREG: return sreg_range(R, (Sreg)in->sub);
    case OP_CMP: return compare_range(R, in, depth);
    case OP_SELECT: return select_range(R, in, depth);
    case OP_CONVERT: return convert_range(R, in, depth);
    case OP_NEG:
    case OP_ABS: return unary_range(R, in, depth);
    case OP_NOT: {
        Range a = range_at(R, in->args[0], depth);
        return t == T_BOOL ? (Range){!a.hi, !a.lo} : everything(t);
    }
    case OP_POPC:
    case OP_CLZ:
    case OP_CTZ: return fit(t, 0, type_bits(t));
    case OP_MUL:
        if (grid_product(R, r, false) >= 0) return (Range){0, INT32_MAX - 1};
        if (grid_product(R, r, true) >= 0) return (Range){1, INT32_MAX};
        return binary_range(R, r, in, depth);
    default:
        if (in->nargs == 2 && op_info[in->op].typing == TYPING_SAME && in->op != OP_PHI)
            return binary_range(R, r, in, depth);
        return everything(t);
    }
}

/* Looking back pays only where a condition has narrowed something since the value was computed. */
Range range_at(Ranges *R, Ref r, int depth) {
    Range have = R->now[r];
    const Instr *in = instr(R, r);
    if (!has_range((Type)in->type)) return everything((Type)in->type);
    if (!depth || !R->refined.n || in->nargs == 0 || in->op == OP_PHI || !(op_info[in->op].flags & PURE)) return have;
    return meet(have, evaluate(R, r, depth - 1));
}

/* ---- conditions ----------------------------------------------------------------------------- */

/* r is within lo ... hi here; so is what it was made of. */
static void narrow_to(Ranges *R, Ref r, int64_t lo, int64_t hi, int depth) {
    Type t = type_of(R, r);
    Range before = R->now[r], after = {before.lo > lo ? before.lo : lo, before.hi < hi ? before.hi : hi};
    if (t == T_U64 && after.lo < 0) after.lo = 0;
    if (after.lo > after.hi || !known(t, after) || (after.lo == before.lo && after.hi == before.hi)) return;
    VEC_PUSH(R->m->arena, &R->refined, ((Refined){r, before}));
    R->now[r] = after;
    const Instr *in = instr(R, r);
    if (depth == 0) return;
    if (in->op == OP_CONVERT) {
        Ref x = in->args[0];
        Range all = has_range(type_of(R, x)) ? R->now[x] : (Range){1, 0}, whole = everything(t);
        bool same_bits = t == T_U64 && type_of(R, x) == T_I64; /* below 2^63 it was no negative number */
        bool exact = all.lo >= whole.lo && all.hi <= whole.hi && t != T_U64 && type_of(R, x) != T_U64 && t != T_BOOL;
        if (all.lo <= all.hi && (same_bits || exact)) narrow_to(R, x, after.lo, after.hi, depth - 1);
    } else if ((in->op == OP_ADD || in->op == OP_SUB) && type_is_signed(t)) {
        Range by = R->now[in->args[1]], x = R->now[in->args[0]], whole = everything(t);
        if (by.lo != by.hi) return;
        S128 c = in->op == OP_ADD ? (S128)by.lo : -(S128)by.lo;
        S128 new_lo = after.lo - c, new_hi = after.hi - c;
        if (x.lo + c < whole.lo || x.hi + c > whole.hi || new_lo < whole.lo || new_hi > whole.hi) return;
        narrow_to(R, in->args[0], (int64_t)new_lo, (int64_t)new_hi, depth - 1);
    } else if (in->op == OP_SELECT && R->now[in->args[0]].lo == R->now[in->args[0]].hi) {
        narrow_to(R, in->args[R->now[in->args[0]].lo ? 1 : 2], after.lo, after.hi, depth - 1);
    }
}

/* a < b (or a <= b, with slack 1). */
static void refine_less(Ranges *R, Ref a, Ref b, int64_t slack, int depth) {
    Type t = type_of(R, a);
    Range x = range_at(R, a, R->look_back), y = range_at(R, b, R->look_back);
    bool x_known = known(t, x), y_known = known(t, y);
    note_less(R, a, b, slack);
    if (y_known && (slack || y.hi > INT64_MIN)) narrow_to(R, a, INT64_MIN, y.hi - 1 + slack, depth);
    if (x_known && (slack || x.lo < INT64_MAX)) narrow_to(R, b, x.lo + 1 - slack, INT64_MAX, depth);
}

static void refine_equal(Ranges *R, Ref a, Ref b, bool equal, int depth) {
    Type t = type_of(R, a);
    for (int side = 0; side < 2; side++) {
        Ref x = side ? b : a, other = side ? a : b;
        Range have = range_at(R, x, R->look_back), y = range_at(R, other, R->look_back);
        if (!known(t, y)) continue;
        if (equal) narrow_to(R, x, y.lo, y.hi, depth);
        else if (y.lo == y.hi && have.lo == y.lo && have.lo < have.hi) narrow_to(R, x, have.lo + 1, have.hi, depth);
        else if (y.lo == y.hi && have.hi == y.lo && have.lo < have.hi) narrow_to(R, x, have.lo, have.hi - 1, depth);
    }
}

static void refine_compare(Ranges *R, const Instr *in, bool truth, int depth) {
    static const uint8_t opposite[PRED__COUNT] = {PRED_NE, PRED_EQ, PRED_GE, PRED_GT, PRED_LE, PRED_LT};
    Ref a = in->args[0], b = in->args[1];
    if (!has_range(type_of(R, a))) return;
    switch (truth ? in->sub : opposite[in->sub]) {
    case PRED_LT: refine_less(R, a, b, 0, depth); break;
    case PRED_LE: refine_less(R, a, b, 1, depth); break;
    case PRED_GT: refine_less(R, b, a, 0, depth); break;
    case PRED_GE: refine_less(R, b, a, 1, depth); break;
    case PRED_EQ: refine_equal(R, a, b, true, depth); break;
    default: refine_equal(R, a, b, false, depth); break;
    }
}

/* r is 0 here, or isn't: `if x`. */
static void refine_zero(Ranges *R, Ref r, bool zero, int depth) {
    if (!has_range(type_of(R, r))) return;
    Range have = range_at(R, r, R->look_back);
    if (!known(type_of(R, r), have) || have.lo > have.hi) return;
    if (zero) narrow_to(R, r, 0, 0, depth);
    else if (have.lo < have.hi) narrow_to(R, r, have.lo + (have.lo == 0), have.hi - (have.hi == 0), depth);
}

/* The bool `cond` is `truth` from here on. */
static void refine(Ranges *R, Ref cond, bool truth, int depth) {
    if (depth == 0) return;
    const Instr *in = instr(R, cond);
    narrow_to(R, cond, truth, truth, 0);
    if (in->op == OP_CONVERT) refine_zero(R, in->args[0], !truth, depth - 1);
    if (in->op == OP_NOT) refine(R, in->args[0], !truth, depth - 1);
    else if (in->op == OP_CMP) refine_compare(R, in, truth, depth - 1);
    else if ((in->op == OP_AND && truth) || (in->op == OP_OR && !truth)) {
        refine(R, in->args[0], truth, depth - 1);
        refine(R, in->args[1], truth, depth - 1);
    }
}

static void refine_edge(Ranges *R, BlockId from, BlockId to) {
    const Block *b = &R->m->blocks.at[from];
    if (b->nsucc != 2 || b->succ[0] == b->succ[1]) return;
    refine(R, instr(R, ir_terminator(R->m, from))->args[0], b->succ[0] == to, REFINE_DEPTH);
}

/* ---- decisions of the last walk ------------------------------------------------------------- */

Ref ranges_entry_const(Ranges *R, Type t, uint64_t bits) {
    IrModule *m = R->m;
    Ref r = ir_const(m, 0, t, bits, 0);
    RefVec *entry = &m->blocks.at[0].instrs;
    memmove(entry->at + 1, entry->at, (entry->n - 1) * sizeof(Ref));
    entry->at[0] = r;
    return r;
}

static void become_const(Ranges *R, Ref r, int64_t v) {
    Instr *in = &R->m->instrs.at[r];
    in->op = OP_CONST;
    in->nargs = 0;
    in->sub = 0;
    in->imm = ir_wrap((Type)in->type, (uint64_t)v);
}

/* Both operands become the chosen one; simplify then replaces the instruction by it. */
static void choose(Ranges *R, Ref r, uint32_t first, bool second) {
    Instr *in = &R->m->instrs.at[r];
    in->args[first + !second] = in->args[first + second];
}

/* x % n of a neighbour, (i - 1) % n or (i + 1) % n, is x, x + n or x - n. */
static void decide_remainder(const Ranges *R, Instr *in, Range a, Range b) {
    if (a.lo < -b.lo) return;
    if (a.lo < 0) in->sub |= DIVIDE_FROM_MINUS;
    int64_t least = ranges_least_difference(R, in->args[1], in->args[0]);
    if (a.hi < b.lo || least > 0) in->sub |= DIVIDE_BELOW;
    if (a.hi / 2 < b.lo || least > -b.lo) in->sub |= DIVIDE_ONCE;
}

static void decide_division(const Ranges *R, Instr *in, Range a, Range b) {
    if (a.lo >= 0 && b.lo >= 0)
        in->op = in->op == OP_FLOORDIV ? OP_TRUNCDIV : in->op == OP_FLOORMOD ? OP_TRUNCMOD : in->op;
    if (instr(R, in->args[1])->op == OP_CONST || !type_is_signed((Type)in->type)) return;
    if (b.lo > 0) in->sub |= DIVIDE_BY_POSITIVE;
    if (a.lo >= 0) in->sub |= DIVIDE_NO_SIGN;
    if (b.lo > 0 && (in->op == OP_FLOORMOD || (in->op == OP_TRUNCMOD && a.lo >= 0))) decide_remainder(R, in, a, b);
}

static void decide(Ranges *R, Ref r) {
    Instr *in = &R->m->instrs.at[r];
    Range v = R->now[r];
    bool is_int = has_range((Type)in->type);
    if (is_int && v.lo == v.hi && in->op != OP_PHI && op_info[in->op].flags & PURE) {
        become_const(R, r, v.lo);
        return;
    }
    if (in->op == OP_SELECT) {
        Range c = range_at(R, in->args[0], LOOK_BACK);
        if (c.lo == c.hi) choose(R, r, 1, !c.lo);
    } else if (is_int && in->nargs == 2 && op_info[in->op].typing == TYPING_SAME &&
               known((Type)in->type, R->now[in->args[0]]) && known((Type)in->type, R->now[in->args[1]])) {
        Range a = range_at(R, in->args[0], LOOK_BACK), b = range_at(R, in->args[1], LOOK_BACK);
        if (in->op == OP_MIN && (a.hi <= b.lo || b.hi <= a.lo)) choose(R, r, 0, a.hi > b.lo);
        else if (in->op == OP_MAX && (a.lo >= b.hi || b.lo >= a.hi)) choose(R, r, 0, a.lo < b.hi);
        else if (ir_is_division((Op)in->op)) decide_division(R, in, a, b);
    } else if (in->op == OP_BRANCH && instr(R, in->args[0])->op != OP_CONST) {
        Range c = range_at(R, in->args[0], LOOK_BACK);
        if (c.lo == c.hi) R->found[r] = (uint8_t)(1 + c.lo); /* acted on after the walk, which needs the condition */
    }
}

/* ---- the walk ------------------------------------------------------------------------------- */

static Range phi_range(Ranges *R, Ref r) {
    const Instr *in = instr(R, r);
    Range all = everything((Type)in->type), sum = {1, 0}, old = R->now[r];
    for (uint32_t i = 0; i < in->nargs; i++) sum = join(sum, R->edge_ranges.at[R->edges[r] + i]);
    if (sum.lo > sum.hi) sum = all;
    if (!R->widening) return meet(old, sum);
    if (old.lo > old.hi) return sum;
    Range new = join(old, sum);
    if (new.lo < old.lo) new.lo = new.lo >= 0 ? 0 : all.lo;
    if (new.hi > old.hi) new.hi = all.hi;
    return known((Type)in->type, new) ? new : all;
}

static void visit_edges(Ranges *R, BlockId b) {
    IrModule *m = R->m;
    for (uint32_t s = 0; s < m->blocks.at[b].nsucc; s++) {
        const Block *to = &m->blocks.at[m->blocks.at[b].succ[s]];
        if (!to->instrs.n || instr(R, to->instrs.at[0])->op != OP_PHI) continue;
        uint32_t mark = R->refined.n;
        refine_edge(R, b, m->blocks.at[b].succ[s]);
        for (uint32_t k = 0; k < to->preds.n; k++) {
            if (to->preds.at[k] != b) continue;
            for (uint32_t i = 0; i < to->instrs.n; i++) {
                Ref phi = to->instrs.at[i];
                if (instr(R, phi)->op != OP_PHI) break;
                if (has_range(type_of(R, phi)))
                    R->edge_ranges.at[R->edges[phi] + k] = range_at(R, instr(R, phi)->args[k], LOOK_BACK);
            }
        }
        undo_to(R, mark);
    }
}

/* The one block from which b is entered, not counting ways back to a loop's head; b itself if there are several. */
static BlockId entered_from(const Ranges *R, BlockId b) {
    const Block *block = &R->m->blocks.at[b];
    BlockId from = b;
    for (uint32_t i = 0; i < block->preds.n; i++) {
        if (ir_dominates(R->dominators, b, block->preds.at[i])) continue;
        if (from != b) return b;
        from = block->preds.at[i];
    }
    return from;
}

static void visit_block(Ranges *R, BlockId b) {
    const Block *block = &R->m->blocks.at[b];
    BlockId from = entered_from(R, b);
    if (from != b) refine_edge(R, from, b);
    for (uint32_t i = 0; i < block->instrs.n; i++) {
        Ref r = block->instrs.at[i];
        if (has_range(type_of(R, r))) {
            Range v = instr(R, r)->op == OP_PHI ? phi_range(R, r) : evaluate(R, r, LOOK_BACK);
            if (v.lo != R->now[r].lo || v.hi != R->now[r].hi) R->changed = true;
            R->now[r] = v;
        }
        if (!R->deciding) continue;
        decide(R, r);
        ranges_find_narrow(R, r);
    }
    visit_edges(R, b);
}

typedef struct Tree {
    BlockId *child, *sibling;
    DomTree dominators;
} Tree;

/* Children in reverse postorder, so that all forward predecessors of a block come before it. */
static Tree dominator_tree(const IrModule *m) {
    uint32_t n = m->blocks.n;
    Tree t = {ARENA_ARRAY(m->arena, BlockId, n), ARENA_ARRAY(m->arena, BlockId, n), {0}};
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, n);
    uint32_t live = ir_postorder(m, order);
    t.dominators = ir_dominators(m);
    const BlockId *idom = t.dominators.idom;
    for (uint32_t i = 0; i + 1 < live; i++) { /* the last is the entry */
        t.sibling[order[i]] = t.child[idom[order[i]]];
        t.child[idom[order[i]]] = order[i];
    }
    return t;
}

static void walk(Ranges *R, const Tree *tree) {
    typedef struct Frame {
        BlockId next;
        uint32_t mark;
    } Frame;
    Frame *stack = ARENA_ARRAY(R->m->arena, Frame, R->m->blocks.n + 1);
    uint32_t depth = 0;
    R->changed = false;
    R->refined.n = R->relations.n = 0;
    visit_block(R, 0);
    stack[depth++] = (Frame){tree->child[0], 0};
    while (depth) {
        Frame *f = &stack[depth - 1];
        undo_to(R, f->mark);
        if (!f->next) {
            depth--;
            continue;
        }
        BlockId b = f->next;
        f->next = tree->sibling[b];
        visit_block(R, b);
        stack[depth++] = (Frame){tree->child[b], R->refined.n};
        /* what b's condition narrowed goes when the frame below is seen again */
    }
}

static bool prepare(Ranges *R) {
    IrModule *m = R->m;
    bool phis = false;
    for (BlockId b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++) {
            Ref r = block->instrs.at[i];
            R->now[r] = (Range){1, 0};
            if (instr(R, r)->op != OP_PHI || !has_range(type_of(R, r))) continue;
            phis = true;
            R->edges[r] = R->edge_ranges.n;
            for (uint32_t k = 0; k < instr(R, r)->nargs; k++) VEC_PUSH(m->arena, &R->edge_ranges, ((Range){1, 0}));
        }
    }
    return phis;
}

/* From here on every walk only narrows: a state in which all PHIs may be anything is right. */
static void give_up(Ranges *R) {
    for (BlockId b = 0; b < R->m->blocks.n; b++) {
        const Block *block = &R->m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++) {
            Ref r = block->instrs.at[i];
            if (instr(R, r)->op != OP_PHI || !has_range(type_of(R, r))) continue;
            R->now[r] = everything(type_of(R, r));
            for (uint32_t k = 0; k < instr(R, r)->nargs; k++) R->edge_ranges.at[R->edges[r] + k] = R->now[r];
        }
    }
}

static void act_on_branches(Ranges *R) {
    for (BlockId b = 0; b < R->m->blocks.n; b++) {
        if (R->m->blocks.at[b].dead || R->m->blocks.at[b].nsucc != 2) continue;
        Ref r = ir_terminator(R->m, b);
        if (!R->found[r]) continue;
        bool taken = R->found[r] == 2;
        if (!R->truth[taken]) R->truth[taken] = ranges_entry_const(R, T_BOOL, taken);
        R->m->instrs.at[r].args[0] = R->truth[taken];
    }
}

static Ranges find_ranges(IrModule *m, const Tree *tree) {
    uint32_t n = m->instrs.n;
    Ranges R = {.m = m,
                .dominators = &tree->dominators,
                .now = ARENA_ARRAY(m->arena, Range, n),
                .edges = ARENA_ARRAY(m->arena, uint32_t, n),
                .found = ARENA_ARRAY(m->arena, uint8_t, n),
                .whole = ARENA_ARRAY(m->arena, bool, n),
                .size = n,
                .look_back = LOOK_BACK};
    if (!prepare(&R)) return R;
    R.widening = true;
    int walks = 0;
    do walk(&R, tree);
    while (R.changed && ++walks < WALKS);
    if (R.changed) give_up(&R);
    R.widening = false;
    walk(&R, tree);
    return R;
}

Range *ir_ranges(IrModule *m) {
    Tree tree = dominator_tree(m);
    Ranges R = find_ranges(m, &tree);
    walk(&R, &tree); /* values behind PHIs as they are now */
    undo_to(&R, 0);
    return R.now;
}

void pass_ranges(IrModule *m) {
    Tree tree = dominator_tree(m);
    Ranges R = find_ranges(m, &tree);
    R.deciding = true;
    walk(&R, &tree);
    act_on_branches(&R);
    ranges_narrow(&R);
}
