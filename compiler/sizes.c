/* sizes.c - the part of ranges.c that knows products which stay small although their factors alone needn't.
 *
 * With FACT_SIZE32 the sizes of one array multiply to less than 2^31, so that
 *   y * width + x      is below height * width, behind y < height and x < width of one array;
 *   blockIdx.x * part  isn't above n + gridDim.x, where part is n over gridDim.x, rounded up or down: a block's share.
 * Asked only where the factors' own ranges say too little. */
#include "ranges.h"

enum { MOST_SIZE = INT32_MAX - FACT_SIZE32_SPARE, DEEPEST = 6, MOST_LOOKED_AT = 16 };

static const Instr *instr(const Ranges *R, Ref r) { return &R->m->instrs.at[r]; }

/* What r is made of by conversions that keep its value. */
static Ref without_conversions(const Ranges *R, Ref r) {
    for (const Instr *in; in = instr(R, r), in->op == OP_CONVERT; r = in->args[0]) {
        Type from = (Type)instr(R, in->args[0])->type, to = (Type)in->type;
        if (!type_is_int(from) || !type_is_int(to) || type_bits(to) < 32) break;
        Range v = R->now[in->args[0]];
        if (!range_in_i32(v) || (v.lo < 0 && !type_is_signed(to))) break;
    }
    return r;
}

/* ---- sizes of one array ---------------------------------------------------------------------- */

/* A number that isn't below 0, and is below the product of some sizes of an array. */
typedef struct Below {
    uint32_t leaf, axes; /* no axes: nothing is known */
} Below;

/* The sizes whose product r is. */
static Below sizes_of(const Ranges *R, Ref r, int depth) {
    const Instr *in = instr(R, without_conversions(R, r));
    if (in->op == OP_PARAM) {
        const IrParam *p = &R->m->params.at[in->imm];
        return (Below){p->leaf, p->kind == PARAM_SHAPE && p->axis < 32 ? UINT32_C(1) << p->axis : 0};
    }
    if (in->op != OP_MUL || !depth) return (Below){0};
    Below a = sizes_of(R, in->args[0], depth - 1), b = sizes_of(R, in->args[1], depth - 1);
    if (!a.axes || !b.axes || a.leaf != b.leaf || a.axes & b.axes) return (Below){0};
    return (Below){a.leaf, a.axes | b.axes};
}

/* The size that a comparison put r below. */
static Below compared(const Ranges *R, Ref r) {
    for (uint32_t i = R->relations.n; i-- > 0 && R->relations.n - i <= MOST_LOOKED_AT;) {
        Ref most = R->relations.at[i].most.base;
        Below size = sizes_of(R, most, 1);
        if (size.axes && ranges_least_difference(R, most, r) >= 1) return size;
    }
    return (Below){0};
}

static Below find_below(const Ranges *R, Ref r, int depth);

/* y * size, as a part of an index: (y + 1) * size is below the product. */
static Below row_below(const Ranges *R, Ref r, Ref *size, int depth) {
    const Instr *in = instr(R, without_conversions(R, r));
    if (in->op != OP_MUL || !depth) return (Below){0};
    for (int k = 0; k < 2; k++) {
        Below s = sizes_of(R, in->args[k], 1), y = s.axes ? find_below(R, in->args[1 - k], depth - 1) : s;
        *size = in->args[k];
        if (y.axes && y.leaf == s.leaf && !(y.axes & s.axes)) return (Below){s.leaf, y.axes | s.axes};
    }
    return (Below){0};
}

static Below find_below(const Ranges *R, Ref r, int depth) {
    const Instr *in = instr(R, without_conversions(R, r));
    Below b = R->now[r].lo >= 0 ? compared(R, r) : (Below){0};
    if (b.axes || in->op != OP_ADD || !depth) return b;
    for (int k = 0; k < 2; k++) {
        Ref size, x = in->args[1 - k];
        b = row_below(R, in->args[k], &size, depth - 1);
        if (b.axes && R->now[x].lo >= 0 && ranges_least_difference(R, size, x) >= 1) return b;
    }
    return (Below){0};
}

/* ---- a block's share ------------------------------------------------------------------------- */

/* r * *by isn't above the result; INT64_MAX: not known. */
static int64_t share(const Ranges *R, Ref r, Ref *by) {
    const Instr *in = instr(R, without_conversions(R, r));
    bool up = in->op == OP_NEG; /* -(-n // g) */
    if (up) in = instr(R, without_conversions(R, in->args[0]));
    if (in->op != OP_FLOORDIV && (up || in->op != OP_TRUNCDIV)) return INT64_MAX;
    Range n = R->now[in->args[0]], g = R->now[ *by = in->args[1]];
    if (g.lo <= 0 || !range_in_i32(n) || !range_in_i32(g)) return INT64_MAX;
    if (up) return n.hi <= 0 ? g.hi - 1 - n.lo : INT64_MAX;
    return n.lo >= 0 ? n.hi : INT64_MAX;
}

static bool is_below(const Ranges *R, Ref r, Ref limit) {
    const Instr *a = instr(R, without_conversions(R, r)), *b = instr(R, without_conversions(R, limit));
    if (R->now[r].lo < 0) return false;
    if (a->op == OP_SREG && b->op == OP_SREG && a->sub >= SREG_CTAID_X && a->sub <= SREG_CTAID_Z)
        return b->sub == a->sub - SREG_CTAID_X + SREG_NCTAID_X;
    return ranges_least_difference(R, limit, r) >= 1;
}

/* The most that part * i is, for an i below what part was divided by; *part: the factor. */
static int64_t most_of_share(const Ranges *R, Ref r, Ref *part) {
    const Instr *in = instr(R, without_conversions(R, r));
    for (int k = 0; k < 2 && in->op == OP_MUL; k++) {
        Ref by;
        int64_t most = share(R, *part = in->args[k], &by);
        if (most != INT64_MAX && is_below(R, in->args[1 - k], by)) return most;
    }
    return INT64_MAX;
}

/* ---- what ranges.c asks ---------------------------------------------------------------------- */

bool sizes_bound(const Ranges *R, Ref r, Range *out) {
    const Instr *in = instr(R, r);
    Ref other;
    if (!(R->m->facts & FACT_SIZE32) || !type_is_signed((Type)in->type) || type_bits((Type)in->type) < 32) return false;
    if (in->op == OP_MUL && (sizes_of(R, r, DEEPEST).axes || row_below(R, r, &other, DEEPEST).axes)) {
        *out = (Range){0, MOST_SIZE};
        return true;
    }
    if (in->op == OP_ADD && find_below(R, r, DEEPEST).axes) {
        *out = (Range){0, MOST_SIZE - 1};
        return true;
    }
    int64_t most = most_of_share(R, r, &other);
    for (int k = 0; k < 2 && in->op == OP_ADD; k++) {
        int64_t before = most_of_share(R, in->args[k], &other); /* part * i + part */
        if (before != INT64_MAX && in->args[1 - k] == other) most = before;
    }
    if (most == INT64_MAX) return false;
    *out = (Range){0, most};
    return true;
}
