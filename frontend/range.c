/* range.c - ranges: their checks, lengths, items and membership, and how a loop counts through one.
 *
 * A range has the numbers that it has in Python, also where a step from the last one would pass the end of the type:
 *
 *   steps of 1 and -1           stop at `stop` before they could pass it
 *   other steps upwards, or     the test compares distances from an anchor, the smaller of start and 0, as unsigned
 *   not known when compiling    numbers: a counter above 2^63 - 1 is still beyond `stop`. From a start that isn't
 *                               negative the anchor is 0, and the loop costs what `cur < stop` does
 *   other steps downwards,      a step is cut off at `stop`, unless stop is known to be far enough from the end
 *   and of unsigned numbers
 *   32-bit ranges (Numba)       count in 64 bits
 *
 * Only distances of 2^64 - step and more are left, and raise OverflowError. */
#include "evaluator.h"

static bool is_integer(Val v) { return val_is_scalar(v) && (dt_is_int(val_dtype(v)) || v.ty->dtype == DT_BOOL); }

static const Scalar u64 = {DT_U64, false};

/* ---- arithmetic; constants fold -------------------------------------------------------------------------- */
static Val arith(Eval *e, PyBinary op, Val a, Val b) { return eval_arith(e, op, val_sc(a), a, b); }

static Val compare(Eval *e, PyCompare op, Val a, Val b) {
    return val_convert(e, eval_compare(e, (PySpan){0}, op, a, b), e_python_bool(e));
}

/* The smaller or larger one of two numbers of one type. */
static Val least(Eval *e, Op op, Val a, Val b) {
    if (val_const(a) && val_const(b)) return (a.i < b.i) == (op == OP_MIN) ? a : b;
    return val_of(e, val_sc(a), e_op2_of(e, op, dtype_info[a.ty->dtype].ir, a, b));
}

static Val choose(Eval *e, Val cond, Val a, Val b) { return eval_select(e, (PySpan){0}, cond, a, b); }

static Val both(Eval *e, Val a, Val b) { return eval_logic(e, true, a, b); }

static Val number_like(Eval *e, Val like, Wide i) { return val_const_int(e, val_sc(like), i); }

static void raise_if(Eval *e, PySpan span, Val cond, const char *exception, const char *message) {
    if (!val_const(cond) || cond.i) e_raise_if(e, span, val_ref(e, cond), exception, message);
}

/* ---- ranges ---------------------------------------------------------------------------------------------- */

/* Python's range yields Python ints; Numba's has the width of its arguments. */
static Scalar range_scalar(Eval *e, Val start, Val stop, Val step) {
    if (!e_numba(e)) return e_python_int(e);
    bool narrow = true, is_unsigned = true;
    const Val *all[] = {&start, &stop, &step};
    for (int i = 0; i < 3; i++) {
        if (val_const(*all[i]) && dt_fits(DT_I32, all[i]->i)) continue;
        narrow &= dtype_info[all[i]->ty->dtype].bits <= 32 && all[i]->ty->dtype != DT_U32;
        is_unsigned &= all[i]->ty->dtype == DT_U64;
    }
    if (val_const(start) && val_const(stop) && val_const(step)) return SCALAR(DT_I64, false);
    return SCALAR(narrow ? DT_I32 : is_unsigned ? DT_U64 : DT_I64, false);
}

Val val_range(Eval *e, PySpan span, Val start, Val stop, Val step) {
    Val *all[] = {&start, &stop, &step};
    for (int i = 0; i < 3; i++) {
        if (val_poisoned(*all[i])) return val_poison(e);
        if (is_integer(*all[i])) continue;
        bool is_float = val_is_scalar(*all[i]) && dt_is_float(val_dtype(*all[i]));
        if (is_float && e_numba(e)) { /* range(math.ceil(x)): there that is a float, and a range truncates */
            *all[i] = val_convert(e, *all[i], SCALAR(DT_I64, false));
            continue;
        }
        return e_fail(e, span, is_float ? "int(...) truncates; // is the integer division" : NULL, DIAG_RANGE_ARGUMENT,
                      e_text(e, *all[i]));
    }
    if (val_const(step) && step.i == 0) return e_fail(e, span, NULL, DIAG_RANGE_STEP_ZERO);
    Scalar s = range_scalar(e, start, stop, step);
    for (int i = 0; i < 3; i++) *all[i] = val_convert(e, *all[i], s);
    if (!val_const(step))
        raise_if(e, span, compare(e, PYC_EQ, step, number_like(e, step, 0)), "ValueError",
                 "range() arg 3 must not be zero");
    return val_composite(e, TY_RANGE, 0, 3, (Val[]){start, stop, step});
}

static Val goes_up(Eval *e, Val step) { return compare(e, PYC_GT, step, number_like(e, step, 0)); }

/* The step without its sign. Of -2^63, whose magnitude 64 bits don't hold, one less: too long for any range as well. */
static Val magnitude(Eval *e, Val up, Val step) {
    Val least_step = number_like(e, step, -dt_max(val_dtype(step)));
    Val down = eval_unary(e, (PySpan){0}, PYU_NEG, least(e, OP_MAX, step, least_step));
    return choose(e, up, step, val_convert(e, down, val_sc(step)));
}

/* From the lower end of a range to the upper one; 0 if it is empty. */
static Val distance(Eval *e, PySpan span, Val low, Val high) {
    Val d = arith(e, PYB_SUB, least(e, OP_MAX, high, low), low);
    bool fits = val_const(low) && low.i >= 0;
    if (!fits && !val_const(d))
        raise_if(e, span, compare(e, PYC_LT, d, number_like(e, d, 0)), "OverflowError",
                 "the length of range() does not fit 64 bits");
    return d;
}

/* floor((distance - 1) / magnitude) + 1 */
Val range_len(Eval *e, PySpan span, Val r) {
    Scalar s = e_python_int(e);
    Val start = val_convert(e, r.items[0], s), stop = val_convert(e, r.items[1], s),
        step = val_convert(e, r.items[2], s), up = goes_up(e, step);
    Val low = choose(e, up, start, stop), high = choose(e, up, stop, start), d = distance(e, span, low, high);
    Val mag = magnitude(e, up, step), one = val_convert(e, val_int(e, 1), s);
    if (val_const(mag) && mag.i == 1) return d;
    return arith(e, PYB_ADD, arith(e, PYB_FLOORDIV, arith(e, PYB_SUB, d, one), mag), one);
}

Val range_item(Eval *e, Val r, Val index) {
    Val i = val_convert(e, index, val_sc(r.items[0]));
    return arith(e, PYB_ADD, r.items[0], arith(e, PYB_MUL, i, r.items[2]));
}

/* Between the ends, without stop, and a whole number of steps from start. */
static Val contains_number(Eval *e, Val r, Val x) {
    Val start = r.items[0], stop = r.items[1], step = r.items[2], up = goes_up(e, step);
    x = val_convert(e, x, val_sc(start));
    Val low = choose(e, up, start, stop), high = choose(e, up, stop, start);
    Val not_below = compare(e, PYC_LE, low, x), not_above = compare(e, PYC_LE, x, high);
    Val not_stop = compare(e, PYC_NE, x, stop), inside = both(e, both(e, not_below, not_above), not_stop);
    Val above = arith(e, PYB_SUB, x, start), below = arith(e, PYB_SUB, start, x);
    Val away = val_convert(e, choose(e, up, above, below), u64), mag = val_convert(e, magnitude(e, up, step), u64);
    Val rest = eval_arith(e, PYB_MOD, u64, away, mag);
    return both(e, inside, compare(e, PYC_EQ, rest, val_const_int(e, u64, 0)));
}

Val range_contains(Eval *e, PySpan span, Val item, Val r) {
    if (!val_is_scalar(item)) return val_bool(e, false);
    if (dt_is_complex(val_dtype(item)))
        return e_fail(e, span, "take .real", DIAG_ARG_TYPE, "in range(...)", e_text(e, item));
    Scalar s = val_sc(r.items[0]);
    if (item.konst == KONST_INT && !dt_fits((DType)s.dtype, item.i)) return val_bool(e, false);
    Val x = val_convert(e, item, s), same = compare(e, PYC_EQ, x, item); /* not of 2.5, nor beyond the type */
    return both(e, same, contains_number(e, r, x));
}

/* ---- loops ----------------------------------------------------------------------------------------------- */

/* What ITER_RANGE holds. The counter's type may be wider than that of stop, which is the range's. With an anchor, the
 * test is whether the unsigned distance of the counter from it is below `far`. */
typedef struct Counter {
    Val cur, stop, step;
    Val anchor, far;    /* None: `cur < stop` is the test */
    Val maybe_anchored; /* ty NULL: it is known. A step that was a constant when inference came first left both behind
                         */
} Counter;

static Counter counter_of(Val it) {
    Counter c = {it.items[0], it.items[1], it.items[2], it.items[3], it.items[4], {0}};
    if (c.anchor.ty->kind != TY_MAYBE || c.far.ty->kind != TY_MAYBE) return c;
    c.maybe_anchored = c.anchor.items[0];
    c.anchor = c.anchor.items[1];
    c.far = c.far.items[1];
    return c;
}

static bool anchored(const Counter *c) { return c->anchor.ty->kind != TY_NONE; }

/* The counter can't pass the end of its type. */
static bool never_passes(Val stop, Val step) {
    DType d = val_dtype(stop);
    if (d == DT_I32) return true; /* counts in 64 bits */
    if (!val_const(step)) return false;
    if (step.i == 1 || step.i == -1) return true;
    return val_const(stop) && dt_fits(d, stop.i + step.i - (step.i > 0 ? 1 : -1));
}

static bool is_unit(Val step) { return val_const(step) && (step.i == 1 || step.i == -1); }

/* Counts away from an anchor: 0 of an upward range whose start isn't negative, else start. */
static void set_anchor(Eval *e, PySpan span, Counter *c) {
    Val zero = number_like(e, c->cur, 0), up = goes_up(e, c->step);
    c->anchor = choose(e, up, least(e, OP_MIN, c->cur, zero), c->cur);
    Val above = arith(e, PYB_SUB, least(e, OP_MAX, c->stop, c->anchor), c->anchor);
    Val below = arith(e, PYB_SUB, c->anchor, least(e, OP_MIN, c->stop, c->anchor));
    c->far = choose(e, up, above, below);
    if (val_const(c->anchor) && c->anchor.i == 0) return;
    Val back = choose(e, up, arith(e, PYB_SUB, zero, c->step), c->step);
    Val far = val_convert(e, c->far, u64), limit = val_convert(e, back, u64);
    Val halfway = compare(e, PYC_LT, c->far, zero), beyond = compare(e, PYC_GT, far, limit);
    raise_if(e, span, both(e, halfway, beyond), "OverflowError", "range() spans more than 64 bits hold");
}

Val range_iter(Eval *e, PySpan span, Val r) {
    Counter c = {r.items[0], r.items[1], r.items[2], val_none(e), val_none(e), {0}};
    if (val_dtype(c.cur) == DT_I32 && !is_unit(c.step)) c.cur = val_convert(e, c.cur, SCALAR(DT_I64, false));
    bool maybe_up = !val_const(c.step) || c.step.i > 0;
    if (maybe_up && val_dtype(c.stop) == DT_I64 && !never_passes(c.stop, c.step)) set_anchor(e, span, &c);
    return val_composite(e, TY_ITER, ITER_RANGE, 5, (Val[]){c.cur, c.stop, c.step, c.anchor, c.far});
}

static Val anchored_has(Eval *e, const Counter *c, Val up) {
    Val above = arith(e, PYB_SUB, c->cur, c->anchor), below = arith(e, PYB_SUB, c->anchor, c->cur);
    Val away = val_convert(e, choose(e, up, above, below), u64), far = val_convert(e, c->far, u64);
    return compare(e, PYC_LT, away, far);
}

Val range_has(Eval *e, PySpan span, Val it) {
    Counter c = counter_of(it);
    Val up = goes_up(e, c.step);
    if (anchored(&c) && !c.maybe_anchored.ty) return anchored_has(e, &c, up);
    if (anchored(&c)) {
        it.items = (Val[]){c.cur, c.stop, c.step, val_none(e), val_none(e)};
        return eval_select(e, span, c.maybe_anchored, anchored_has(e, &c, up), range_has(e, span, it));
    }
    Val stop = val_convert(e, c.stop, val_sc(c.cur));
    if (val_const(up)) return compare(e, up.i ? PYC_LT : PYC_GT, c.cur, stop);
    Val below_stop = compare(e, PYC_LT, c.cur, stop), above_stop = compare(e, PYC_GT, c.cur, stop);
    return eval_select(e, span, up, below_stop, above_stop);
}

Val range_value(Eval *e, Val it) {
    Counter c = counter_of(it);
    return val_convert(e, c.cur, val_sc(c.stop));
}

/* A step that ends at stop at the latest. */
static Val cut_step(Eval *e, Val from, Val to, Val mag) {
    Val room = val_convert(e, arith(e, PYB_SUB, to, from), u64);
    return val_convert(e, least(e, OP_MIN, val_convert(e, mag, u64), room), val_sc(from));
}

Val range_next(Eval *e, Val it) {
    Counter c = counter_of(it);
    Val stop = val_convert(e, c.stop, val_sc(c.cur)), step = val_convert(e, c.step, val_sc(c.cur));
    Val on = arith(e, PYB_ADD, c.cur, step);
    if ((anchored(&c) && !c.maybe_anchored.ty) || never_passes(c.stop, c.step)) return on;
    if (val_dtype(c.cur) == DT_U64) return arith(e, PYB_ADD, c.cur, cut_step(e, c.cur, stop, step));
    Val back = arith(e, PYB_SUB, number_like(e, step, 0), step);
    Val down = arith(e, PYB_SUB, c.cur, cut_step(e, stop, c.cur, back));
    return c.maybe_anchored.ty ? choose(e, goes_up(e, c.step), on, down) : down;
}
