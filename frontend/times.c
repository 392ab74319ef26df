/* times.c - dates and differences of dates, numpy.datetime64 and numpy.timedelta64: an int64 that counts ticks of a
 * unit.
 *
 * A value is a TY_TIME with one item, the ticks; the smallest int64 is NaT, which everything made of it is, too. Where
 * two units meet, the result has the finer one. Years and months are no fixed number of days, and don't mix with the
 * rest. Results are NumPy's in both dialects; ticks that overflow wrap. */
#include "devfns.h"
#include "arrays.h"

#include <math.h>
#include <string.h>

static const Scalar ticks_type = {DT_I64, false};

/* ---- types ------------------------------------------------------------------------------------------- */
#define TIME(k, u) [u] = {.bytes = 8, .align = 8, .kind = (k), .unit = (u)}
#define TIMES(k)                                                                                                       \
    {                                                                                                                  \
        TIME(k, UNIT_Y), TIME(k, UNIT_M), TIME(k, UNIT_W), TIME(k, UNIT_D), TIME(k, UNIT_H), TIME(k, UNIT_MIN),        \
            TIME(k, UNIT_S), TIME(k, UNIT_MS), TIME(k, UNIT_US), TIME(k, UNIT_NS), TIME(k, UNIT_PS), TIME(k, UNIT_FS), \
            TIME(k, UNIT_AS), TIME(k, UNIT_GENERIC)                                                                    \
    }

static const Record *time_record(RecordKind kind, TimeUnit unit) {
    static const Record dates[UNIT__COUNT] = TIMES(RECORD_DATE), deltas[UNIT__COUNT] = TIMES(RECORD_DELTA);
    return kind == RECORD_DATE ? &dates[unit] : &deltas[unit];
}

/* Of equal types there is one record, whoever made the given one. */
Val time_of(Eval *e, const Record *r, Val ticks) {
    Val *items = ARENA_NEW(e->arena, Val);
    *items = ticks;
    return (Val){.ty = ty_time(e->types, time_record((RecordKind)r->kind, (TimeUnit)r->unit)), .items = items};
}

static Val made(Eval *e, RecordKind kind, TimeUnit unit, Val ticks) {
    return time_of(e, time_record(kind, unit), ticks);
}

Val time_ticks(Eval *e, const void *bytes) {
    int64_t ticks;
    memcpy(&ticks, bytes, sizeof ticks);
    return val_const_int(e, ticks_type, ticks);
}

static Elem ticks_elem(Elem time) { return (Elem){DT_I64, time.align, NULL}; }

Val time_load(Eval *e, Elem elem, Ref p) {
    Ty ty = ty_array(e->types, ticks_elem(elem), 0, LAYOUT_C, true, T_PTR);
    return time_of(e, elem.record, array_load(e, ty, p));
}

static bool is_time(Val v) { return v.ty->kind == TY_TIME; }
static bool is_date(Val v) { return is_time(v) && v.ty->record->kind == RECORD_DATE; }
static bool is_delta(Val v) { return is_time(v) && v.ty->record->kind == RECORD_DELTA; }
static bool is_integer(Val v) { return val_is_scalar(v) && dt_is_int(val_dtype(v)); }
static TimeUnit unit_of(Val v) { return (TimeUnit)v.ty->record->unit; }

/* ---- units ------------------------------------------------------------------------------------------- */
/* Ticks of `fine` in one of `coarse`; 0: none of them is a whole number. */
static Wide unit_ratio(TimeUnit coarse, TimeUnit fine) {
    static const int steps[UNIT__COUNT] = {
        [UNIT_M] = 12,    [UNIT_D] = 7,     [UNIT_H] = 24,    [UNIT_MIN] = 60,  [UNIT_S] = 60,   [UNIT_MS] = 1000,
        [UNIT_US] = 1000, [UNIT_NS] = 1000, [UNIT_PS] = 1000, [UNIT_FS] = 1000, [UNIT_AS] = 1000};
    Wide ratio = 1;
    if (coarse == UNIT_GENERIC || fine == UNIT_GENERIC) return 1;
    if (coarse > fine || (coarse <= UNIT_M) != (fine <= UNIT_M)) return 0;
    for (unsigned u = coarse + 1u; u <= fine; u++) ratio *= steps[u];
    return ratio;
}

static bool common_unit(TimeUnit a, TimeUnit b, TimeUnit *out) {
    *out = a == UNIT_GENERIC || (b != UNIT_GENERIC && b > a) ? b : a;
    return unit_ratio(a == *out ? b : a, *out) != 0;
}

static Val nat(Eval *e) { return val_const_int(e, ticks_type, INT64_MIN); }
static Val is_nat(Eval *e, Val ticks) { return eval_compare(e, (PySpan){0}, PYC_EQ, ticks, nat(e)); }
static Val unless_nat(Eval *e, Val test, Val ticks) {
    return eval_select(e, (PySpan){0}, is_nat(e, test), nat(e), ticks);
}

/* Both ticks are known, or wrap at run time. */
static Val calculated(Eval *e, Op op, Val a, Val b) { return val_of(e, ticks_type, e_op2_of(e, op, T_I64, a, b)); }

static Val in_unit(Eval *e, Val v, TimeUnit unit) {
    Val ticks = v.items[0];
    Wide up = unit_ratio(unit_of(v), unit), down = unit_ratio(unit, unit_of(v));
    if (up == 1 || (!up && !down)) return ticks;
    Val factor = val_const_int(e, ticks_type, (int64_t)(up ? up : down));
    return unless_nat(e, ticks, calculated(e, up ? OP_MUL : OP_FLOORDIV, ticks, factor));
}

bool time_join(Eval *e, Val a, Val b, Val *out) {
    TimeUnit unit;
    if (a.ty->record->kind != b.ty->record->kind || !common_unit(unit_of(a), unit_of(b), &unit)) return false;
    *out = made(e, (RecordKind)a.ty->record->kind, unit, (Val){.ty = ty_scalar(e->types, DT_I64, false)});
    return true;
}

Val time_coerce(Eval *e, Val v, Val target) {
    Val ticks = val_coerce(e, in_unit(e, v, unit_of(target)), target.items[0]);
    return val_poisoned(ticks) ? ticks : time_of(e, target.ty->record, ticks);
}

bool time_operands(Val a, Val b, const char **help) {
    TimeUnit unit;
    if (!is_time(a) && !is_time(b)) return false;
    if (is_time(a) && is_time(b) && !common_unit(unit_of(a), unit_of(b), &unit))
        *help = "years and months are no fixed number of days: x.astype('datetime64[D]') before the launch makes days";
    else if (is_date(a) && is_date(b)) *help = "dates are subtracted and compared; a timedelta64 is added";
    else *help = "a timedelta64 is added to its kind and to dates, multiplied and divided by numbers";
    return true;
}

/* ---- operators --------------------------------------------------------------------------------------- */
/* An integer beside a time counts ticks of its unit. */
static Val as_time(Eval *e, Val v, Val other) {
    if (is_time(v) || !is_integer(v) || !is_time(other)) return v;
    return made(e, RECORD_DELTA, unit_of(other), val_convert(e, v, ticks_type));
}

static Val sum(Eval *e, PyBinary op, Val a, Val b) {
    TimeUnit unit;
    bool dates = is_date(a) && is_date(b);
    if (!common_unit(unit_of(a), unit_of(b), &unit)) return (Val){0};
    if (dates ? op != PYB_SUB : is_date(b) && op == PYB_SUB) return (Val){0};
    Val x = in_unit(e, a, unit), y = in_unit(e, b, unit);
    Val ticks = calculated(e, op == PYB_ADD ? OP_ADD : OP_SUB, x, y);
    ticks = unless_nat(e, x, unless_nat(e, y, ticks));
    return made(e, !dates && (is_date(a) || is_date(b)) ? RECORD_DATE : RECORD_DELTA, unit, ticks);
}

/* The number that a float makes of the ticks: cut off towards zero; nan and what doesn't fit is NaT. */
static Val scaled(Eval *e, PyBinary op, Val delta, Val by) {
    Scalar f64 = SCALAR(DT_F64, false);
    Val x = val_convert(e, delta.items[0], f64), y = val_convert(e, by, f64);
    Val r = eval_arith(e, op == PYB_MUL ? PYB_MUL : PYB_TRUEDIV, f64, x, y);
    Val limit = val_const_float(e, f64, 9223372036854775808.0, 0),
        low = val_const_float(e, f64, -9223372036854775808.0, 0);
    Val fits = eval_logic(e, true, eval_compare(e, (PySpan){0}, PYC_LT, r, limit),
                          eval_compare(e, (PySpan){0}, PYC_GT, r, low));
    Val ticks = eval_select(e, (PySpan){0}, fits, val_convert(e, r, ticks_type), nat(e));
    return made(e, RECORD_DELTA, unit_of(delta), unless_nat(e, delta.items[0], ticks));
}

static Val multiplied(Eval *e, PyBinary op, Val delta, Val by) {
    Val ticks = delta.items[0];
    if (!is_integer(by)) return scaled(e, op, delta, by);
    by = val_convert(e, by, ticks_type);
    Val r = calculated(e, op == PYB_MUL ? OP_MUL : OP_TRUNCDIV, ticks, by);
    if (op != PYB_MUL)
        r = eval_select(e, (PySpan){0}, eval_compare(e, (PySpan){0}, PYC_EQ, by, val_const_int(e, ticks_type, 0)),
                        nat(e), r);
    return made(e, RECORD_DELTA, unit_of(delta), unless_nat(e, ticks, r));
}

/* How often b is in a, whole or not, and what is left. */
static Val quotient(Eval *e, PyBinary op, Val a, Val b) {
    TimeUnit unit;
    Scalar f64 = SCALAR(DT_F64, false);
    if (!common_unit(unit_of(a), unit_of(b), &unit)) return (Val){0};
    Val x = in_unit(e, a, unit), y = in_unit(e, b, unit), zero = val_const_int(e, ticks_type, 0);
    Val lost = eval_logic(e, false, is_nat(e, x), is_nat(e, y));
    if (op == PYB_TRUEDIV) {
        Val r = eval_arith(e, PYB_TRUEDIV, f64, val_convert(e, x, f64), val_convert(e, y, f64));
        return eval_select(e, (PySpan){0}, lost, val_const_float(e, f64, NAN, 0), r);
    }
    if (op == PYB_FLOORDIV) return eval_select(e, (PySpan){0}, lost, zero, calculated(e, OP_FLOORDIV, x, y));
    lost = eval_logic(e, false, lost, eval_compare(e, (PySpan){0}, PYC_EQ, y, zero));
    return made(e, RECORD_DELTA, unit, eval_select(e, (PySpan){0}, lost, nat(e), calculated(e, OP_FLOORMOD, x, y)));
}

Val time_binary(Eval *e, PySpan span, PyBinary op, Val a, Val b) {
    (void)span;
    if (!is_time(a) && !is_time(b)) return (Val){0};
    if (op == PYB_ADD || op == PYB_SUB) {
        a = as_time(e, a, b);
        b = as_time(e, b, a);
        return is_time(a) && is_time(b) ? sum(e, op, a, b) : (Val){0};
    }
    bool divides = op == PYB_TRUEDIV || op == PYB_FLOORDIV;
    if (is_delta(a) && is_delta(b)) return divides || op == PYB_MOD ? quotient(e, op, a, b) : (Val){0};
    if (op == PYB_MUL && is_delta(b)) return time_binary(e, span, op, b, a);
    bool number = val_is_scalar(b) && (dt_is_int(val_dtype(b)) || dt_is_float(val_dtype(b)));
    return is_delta(a) && number && (divides || op == PYB_MUL) ? multiplied(e, op, a, b) : (Val){0};
}

Val time_unary(Eval *e, PyUnary op, Val v) {
    if (!is_delta(v) || op == PYU_INVERT) return (Val){0};
    if (op == PYU_POS) return v;
    return made(e, RECORD_DELTA, unit_of(v), calculated(e, OP_SUB, val_const_int(e, ticks_type, 0), v.items[0]));
}

Val time_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b) {
    TimeUnit unit;
    if (is_delta(a)) b = as_time(e, b, a);
    if (is_delta(b)) a = as_time(e, a, b);
    if (!is_time(a) || !is_time(b) || a.ty->record->kind != b.ty->record->kind) return (Val){0};
    if (!common_unit(unit_of(a), unit_of(b), &unit)) return (Val){0};
    Val x = in_unit(e, a, unit), y = in_unit(e, b, unit);
    Val r = eval_compare(e, span, op, x, y), lost = eval_logic(e, false, is_nat(e, x), is_nat(e, y));
    return val_convert(e,
                       op == PYC_NE ? eval_logic(e, false, lost, r) : eval_logic(e, true, eval_not(e, span, lost), r),
                       SCALAR(DT_BOOL, false));
}

/* ---- assigning --------------------------------------------------------------------------------------- */
void time_store(Eval *e, PySpan span, Val to, Val value) {
    const Record *r = to.ty->record;
    TimeUnit unit;
    const char *help = "np.datetime64(...) and np.timedelta64(...) make them of constants and of integers";
    value = r->kind == RECORD_DELTA && is_integer(value)
                ? made(e, RECORD_DELTA, (TimeUnit)r->unit, val_convert(e, value, ticks_type))
                : value;
    bool fits = is_time(value) && value.ty->record->kind == r->kind;
    if (fits && !common_unit(unit_of(value), (TimeUnit)r->unit, &unit)) {
        help = "years and months are no fixed number of days";
        fits = false;
    }
    if (fits) array_store(e, ticks_elem(elem_of(to.ty)), to.items[0].ref[0], in_unit(e, value, (TimeUnit)r->unit));
    else
        e_fail(e, e->value_span.line ? e->value_span : span, help, DIAG_RECORD_STORE, ty_text(e->types, to.ty),
               e_text(e, value));
}

/* ---- functions --------------------------------------------------------------------------------------- */
static bool unit_named(const char *name, TimeUnit *out) {
    for (TimeUnit u = UNIT_Y; u < UNIT_GENERIC; u++)
        if (strcmp(time_units[u], name) == 0) {
            *out = u;
            return true;
        }
    return false;
}

/* numpy.datetime64 and timedelta64. param: RecordKind. Of constants NumPy makes them. */
Val fn_np_time(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/value", "?unit"};
    Val v[2];
    const char *name;
    TimeUnit unit = UNIT_GENERIC;
    RecordKind kind = (RecordKind)site->fn->param;
    if (!call_bind(e, site, n, args, 2, params, v)) return val_poison(e);
    if (!is_time(v[0]) && val_is_known(v[0]) && (!v[1].ty || val_is_known(v[1]))) {
        HostRef numpy = e->host->import(e->host->self, "numpy");
        HostRef cls =
            numpy ? e->host->attr(e->host->self, numpy, kind == RECORD_DATE ? "datetime64" : "timedelta64") : NULL;
        Val made_outside = cls ? call_constant(e, cls, v[1].ty ? 2 : 1, v) : (Val){0};
        if (made_outside.ty && is_time(made_outside)) return made_outside;
        return bad_arg(e, site, 0, v[0], "NumPy makes none of it");
    }
    if (v[1].ty && (!val_as_str(e, v[1], &name) || !unit_named(name, &unit)))
        return bad_arg(e, site, 1, v[1], "a unit is one of 'Y' 'M' 'W' 'D' 'h' 'm' 's' 'ms' 'us' 'ns' 'ps' 'fs' 'as'");
    if (is_time(v[0]) && v[0].ty->record->kind == kind) {
        if (!v[1].ty) return v[0];
        if (unit_ratio(unit_of(v[0]), unit) || unit_ratio(unit, unit_of(v[0])))
            return made(e, kind, unit, in_unit(e, v[0], unit));
        return bad_arg(e, site, 0, v[0], "years and months are no fixed number of days");
    }
    if (!is_integer(v[0]) || (kind == RECORD_DATE && !v[1].ty))
        return bad_arg(e, site, 0, v[0], "it is made of a constant, or of an integer and a unit");
    return made(e, kind, unit, val_convert(e, v[0], ticks_type));
}

Val fn_np_isnat(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val v;
    if (!bind_args(e, site, n, args, 1, &v)) return val_poison(e);
    if (!is_time(v)) return bad_arg(e, site, 0, v, "it takes a datetime64 or a timedelta64; np.isnan takes numbers");
    return val_convert(e, is_nat(e, v.items[0]), SCALAR(DT_BOOL, false));
}

/* t.astype(dtype), t.view(dtype): the ticks as a number, or another unit. */
Val fn_time_astype(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/self", "dtype"};
    Val v[2];
    DType d;
    if (!call_bind(e, site, n, args, 2, params, v)) return val_poison(e);
    const Record *r = v[1].ty->kind == TY_DTYPE ? v[1].ty->record : NULL;
    if (r && r->kind == v[0].ty->record->kind &&
        (unit_ratio(unit_of(v[0]), (TimeUnit)r->unit) || unit_ratio((TimeUnit)r->unit, unit_of(v[0]))))
        return time_of(e, r, in_unit(e, v[0], (TimeUnit)r->unit));
    if (val_dtype_named(e, v[1], &d) && d == DT_I64) return v[0].items[0];
    return bad_arg(e, site, 1, v[1],
                   "np.int64 gives the ticks; np.datetime64(x, 's') and np.timedelta64(x, 's') change the unit");
}

/* abs() */
Val time_abs(Eval *e, Val v) {
    if (!is_delta(v)) return (Val){0};
    return made(e, RECORD_DELTA, unit_of(v), val_of(e, ticks_type, e_op1(e, OP_ABS, T_I64, val_ref(e, v.items[0]))));
}
