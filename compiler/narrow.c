/* narrow.c - index arithmetic in 32 bits, where ranges.c proves that it fits.
 *
 * During the last walk ranges_find_narrow() notes three things: i64 values that fit i32 and are made
 * of values that do; comparisons, divisions and conversions of such values; addresses whose index may
 * be computed in i32. ranges_narrow() starts from the uses: narrow(r) gives r as an i32, by doing r's
 * operation in i32, or by cutting r's low half off. What was done in i32 isn't done in i64 again: the
 * old value becomes a conversion of the new one, which goes when nobody wants it. What is above i32
 * but fits u32 is done there: the index of `range(gpu.grid(1), n, gpu.gridsize(1))` passes n, which
 * may be the largest i32, by up to the number of threads.
 *
 * An index needs more than intervals: y * width + x of two unknown numbers isn't below 2^31. But with
 * FACT_SIZE32 the offset of an access within its array is. So, for an array that is a parameter, sums
 * and products are computed in i32 when each part is not negative and fits (a part is then never
 * above the whole; a product that is multiplied further is by a size of the array, which isn't 0 when
 * something is in it, or by a constant). An index along an axis times its stride isn't above the array's extent, and
 * neither is a sum of such products, whatever their signs. Other offsets made with strides are computed modulo 2^32,
 * which gives the right ones as well. Only an access that is out of bounds sees a difference. Constants are
 * added last, so that a[y, x - 1] and a[y, x + 1] share their address but for an offset that is part of
 * the instruction: arrays leave enough room on both sides of i32 that this doesn't wrap either. */
#include "ranges.h"

enum { DEEPEST = 64, INDEX_DEPTH = 8, MOST_OFFSET = FACT_SIZE32_SPARE / 4 };

static const Instr *instr(const Ranges *R, Ref r) { return &R->m->instrs.at[r]; }
static Type type_of(const Ranges *R, Ref r) { return (Type)instr(R, r)->type; }

/* What a choice that ranges.c made, such as the one for negative indices, leaves of r. */
static Ref chosen(const IrModule *m, Ref r) {
    for (;;) {
        const Instr *in = &m->instrs.at[r];
        if (in->op != OP_SELECT || in->args[1] != in->args[2]) return r;
        r = in->args[1];
    }
}

static bool fits(Ranges *R, Ref r) { return range_in_i32(range_at(R, r, 2)); }
static bool fits_unsigned(Ranges *R, Ref r) { return range_in_u32(range_at(R, r, 2)); }

/* ---- what can be narrow --------------------------------------------------------------------- */

/* Operations whose i32 form gives the same value when operands and result fit. */
static bool has_narrow_form(Op op) {
    switch (op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_NEG:
    case OP_ABS:
    case OP_FLOORDIV:
    case OP_FLOORMOD:
    case OP_TRUNCDIV:
    case OP_TRUNCMOD:
    case OP_MIN:
    case OP_MAX:
    case OP_POW:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT:
    case OP_SHL:
    case OP_SHR:
    case OP_SELECT:
    case OP_PHI: return true;
    default: return false;
    }
}

/* The same for u32. */
static bool has_unsigned_form(Op op) {
    return has_narrow_form(op) && op != OP_NEG && op != OP_ABS && op != OP_NOT && op != OP_POW;
}

static bool operands_fit(Ranges *R, Ref r) {
    const Instr *in = instr(R, r);
    for (uint32_t i = 0; i < in->nargs; i++) {
        if (type_of(R, in->args[i]) != T_I64) continue;
        bool ok = in->op == OP_PHI ? range_in_i32(R->edge_ranges.at[R->edges[r] + i]) : fits(R, in->args[i]);
        if (!ok) return false;
    }
    return true;
}

static bool operands_fit_unsigned(Ranges *R, Ref r) {
    const Instr *in = instr(R, r);
    for (uint32_t i = 0; i < in->nargs; i++) {
        Type t = type_of(R, in->args[i]);
        if (t != T_I64 && t != T_U64) continue;
        bool ok = in->op == OP_PHI ? range_in_u32(R->edge_ranges.at[R->edges[r] + i]) : fits_unsigned(R, in->args[i]);
        if (!ok) return false;
    }
    return true;
}

/* ---- indices -------------------------------------------------------------------------------- */

/* What is known of a part of an index: the most that it can be, without the sizes or the stride that multiply it; the
 * axes of those sizes. Their product is below 2^31, and so is a stride. */
typedef struct Part {
    bool ok;
    double most;
    uint32_t axes;
} Part;

enum { HAS_STRIDE = INT32_MIN }; /* in axes: the index along one axis times its stride */

static const IrParam *param_of(const Ranges *R, Ref r) {
    const Instr *in = instr(R, r);
    return in->op == OP_PARAM ? &R->m->params.at[in->imm] : NULL;
}

static bool is_size_of(const Ranges *R, Ref r, unsigned leaf) {
    const IrParam *p = param_of(R, r);
    return p && p->kind == PARAM_SHAPE && p->leaf == leaf && p->axis < 31;
}

static bool is_stride_of(const Ranges *R, Ref r, unsigned leaf) {
    const IrParam *p = param_of(R, r);
    return p && p->kind == PARAM_STRIDE && p->leaf == leaf;
}

static Part index_part(Ranges *R, Ref r, unsigned leaf, int depth);

static Part index_product(Ranges *R, Ref x, Ref factor, unsigned leaf, int depth) {
    const Instr *f = instr(R, factor);
    Part none = {0};
    if (is_size_of(R, factor, leaf)) {
        Part p = index_part(R, x, leaf, depth);
        uint32_t axis = UINT32_C(1) << param_of(R, factor)->axis;
        if (!p.ok || p.axes & (axis | HAS_STRIDE)) return none;
        return (Part){true, p.most, p.axes | axis};
    }
    if (is_stride_of(R, factor, leaf)) {
        Part p = index_part(R, x, leaf, depth);
        return p.ok && !p.axes ? (Part){true, p.most, HAS_STRIDE} : none;
    }
    if (f->op == OP_CONST && (int64_t)f->imm >= 1 && (int64_t)f->imm <= INT32_MAX) {
        Part p = index_part(R, x, leaf, depth);
        p.most *= (double)f->imm;
        return p;
    }
    Range a = range_at(R, x, 2), b = range_at(R, factor, 2);
    if (a.lo < 0 || b.lo < 0 || !range_in_i32(a) || !range_in_i32(b)) return none;
    R->whole[x] = R->whole[factor] = true;
    return (Part){true, (double)a.hi * (double)b.hi, 0};
}

/* select(i < 0, i + n, i): from 0 to n for an i that is in bounds along its axis, whose size is n. */
static bool may_count_from_end(Ranges *R, Ref r, unsigned leaf) {
    const Instr *in = instr(R, r), *sum = in->op == OP_SELECT ? instr(R, in->args[1]) : in;
    if (sum == in || sum->op != OP_ADD || instr(R, in->args[0])->op != OP_CMP) return false;
    Ref i = in->args[2];
    bool adds_size = (sum->args[0] == i && is_size_of(R, sum->args[1], leaf)) ||
                     (sum->args[1] == i && is_size_of(R, sum->args[0], leaf));
    return adds_size && fits(R, i);
}

static Part index_part(Ranges *R, Ref r, unsigned leaf, int depth) {
    Range v = range_at(R, r, 2);
    if (range_in_i32(v) && (v.lo >= 0 || may_count_from_end(R, r, leaf))) {
        R->whole[r] = true;
        return (Part){true, v.lo >= 0 ? (double)v.hi : 0x1p31, 0};
    }
    const Instr *in = instr(R, chosen(R->m, r));
    if (depth == 0 || in->type != T_I64) return (Part){0};
    if (in->op == OP_ADD) {
        Part a = index_part(R, in->args[0], leaf, depth - 1), b = index_part(R, in->args[1], leaf, depth - 1);
        return (Part){a.ok && b.ok, a.most + b.most, a.axes | b.axes};
    }
    if (in->op != OP_MUL) return (Part){0};
    Part p = index_product(R, in->args[0], in->args[1], leaf, depth - 1);
    return p.ok ? p : index_product(R, in->args[1], in->args[0], leaf, depth - 1);
}

/* Is a stride of the array a factor of some part? */
static bool has_stride(const Ranges *R, Ref r, unsigned leaf, int depth) {
    const Instr *in = instr(R, chosen(R->m, r));
    if (param_of(R, r)) return is_stride_of(R, r, leaf);
    if (depth == 0 || (in->op != OP_ADD && in->op != OP_MUL)) return false;
    return has_stride(R, in->args[0], leaf, depth - 1) || has_stride(R, in->args[1], leaf, depth - 1);
}

/* Below 2^64 the i64 index can't have wrapped into the array. */
static uint8_t find_index(Ranges *R, const Instr *addr) {
    const IrParam *p = param_of(R, addr->args[0]);
    if (!p || p->kind != PARAM_DATA || !(R->m->facts & FACT_SIZE32) || (int64_t)addr->imm < 1) return 0;
    Part part = index_part(R, addr->args[1], p->leaf, INDEX_DEPTH);
    if (part.ok && part.most * (part.axes ? 0x1p31 : 1.0) < 0x1p64) return NARROW_INDEX;
    return has_stride(R, addr->args[1], p->leaf, INDEX_DEPTH) ? NARROW_MODULO : 0;
}

void ranges_find_narrow(Ranges *R, Ref r) {
    const Instr *in = instr(R, r);
    if (in->op == OP_ADDR) {
        if (type_of(R, in->args[1]) != T_I64) return;
        R->found[r] = fits(R, in->args[1]) ? NARROW_USE : find_index(R, in);
        return;
    }
    if (in->op == OP_CMP || in->op == OP_CONVERT) {
        Type t = type_of(R, in->args[0]);
        bool wide = t == T_I64 || (t == T_U64 && in->op == OP_CMP);
        if (t == T_I64 && operands_fit(R, r)) R->found[r] = NARROW_USE;
        else if (wide && operands_fit_unsigned(R, r)) R->found[r] = NARROW_UNSIGNED_USE;
        return;
    }
    if (in->type != T_I64) return;
    if (has_narrow_form((Op)in->op) && range_in_i32(R->now[r]) && operands_fit(R, r)) R->found[r] = NARROW_VALUE;
    else if (has_unsigned_form((Op)in->op) && range_in_u32(R->now[r]) && operands_fit_unsigned(R, r))
        R->found[r] = NARROW_UNSIGNED;
}

/* ---- rewriting ------------------------------------------------------------------------------ */

/* What is made of a value behind its place. */
typedef enum Form {
    FORM_I32, /* its low half */
    FORM_U32,
    FORM_PART,   /* as a part of an index, without wrapping */
    FORM_MODULO, /* as one whose sums may wrap */
    FORM_APART,  /* as a part without its constants */
    FORM_INDEX,  /* as an index with its constants behind all others */
    FORM__COUNT
} Form;

typedef struct Narrow {
    Ranges *R;
    IrModule *m;
    Ref *small[2];           /* the i32, the u32 that has r's value where r fits; REF_NONE: not made yet */
    Ref *before;             /* an instruction to place before r: its twin of 32 bits, of which r is a conversion */
    Ref *after[FORM__COUNT]; /* instructions to place after r */
} Narrow;

static Ref new_instr(Narrow *N, Op op, Type t, const Instr *like, uint32_t nargs, const Ref *args, uint16_t sub) {
    IrModule *m = N->m;
    Instr in = {
        .op = (uint8_t)op, .type = (uint8_t)t, .sub = sub, .nargs = nargs, .span = like->span, .block = like->block};
    in.args = ARENA_ARRAY(m->arena, Ref, nargs);
    for (uint32_t i = 0; i < nargs; i++) in.args[i] = args[i];
    VEC_PUSH(m->arena, &m->instrs, in);
    return m->instrs.n - 1;
}

static Instr *at(Narrow *N, Ref r) { return &N->m->instrs.at[r]; }

/* What holds for the twin, where the result of the old operation and its operands fit. */
static uint16_t twin_flags(const Instr *old) {
    if (ir_is_division((Op)old->op)) return old->sub;
    return old->op == OP_ADD || old->op == OP_SUB || old->op == OP_MUL ? ARITH_NO_WRAP : 0;
}

static Ref narrow(Narrow *N, Ref r, bool is_signed, int depth);

/* r's operation in 32 bits. The twin is known before its operands are made: PHIs lead back to themselves. */
static Ref make_twin(Narrow *N, Ref r, bool is_signed, int depth) {
    Instr old = *at(N, r);
    Type t = is_signed ? T_I32 : T_U32;
    Ref twin = new_instr(N, (Op)old.op, t, &old, old.nargs, old.args, twin_flags(&old));
    N->small[!is_signed][r] = N->before[r] = twin;
    for (uint32_t i = 0; i < old.nargs; i++)
        if (at(N, old.args[i])->type == T_I64) {
            Ref x = narrow(N, old.args[i], is_signed, depth - 1);
            at(N, twin)->args[i] = x;
        }
    return twin;
}

/* What r is a conversion of without loss where r fits; REF_NONE: it isn't one. */
static Ref converted(Narrow *N, const Instr *in, bool is_signed) {
    if (in->op != OP_CONVERT) return REF_NONE;
    Type from = (Type)at(N, in->args[0])->type;
    return from == (is_signed ? T_I32 : T_U32) ? in->args[0] : REF_NONE;
}

static Ref narrow(Narrow *N, Ref r, bool is_signed, int depth) {
    Ref *small = &N->small[!is_signed][r];
    if (*small) return *small;
    Instr in = *at(N, r);
    Type t = is_signed ? T_I32 : T_U32;
    Ref x = converted(N, &in, is_signed);
    if (x) return *small = x;
    if (in.op == OP_CONST) return *small = ranges_entry_const(N->R, t, in.imm);
    if (N->R->found[r] == (is_signed ? NARROW_VALUE : NARROW_UNSIGNED) && depth > 0)
        return make_twin(N, r, is_signed, depth);
    if (!is_signed && in.op == OP_CONVERT && at(N, in.args[0])->type == T_I64 && depth > 0)
        return *small = narrow(N, in.args[0], false, depth - 1);
    Ref whole = !is_signed && N->R->found[r] == NARROW_VALUE ? narrow(N, r, true, depth) : r;
    return *small = N->after[is_signed ? FORM_I32 : FORM_U32][r] = new_instr(N, OP_CONVERT, t, &in, 1, &whole, 0);
}

static bool adds_constant(Narrow *N, Ref r) {
    const Instr *in = at(N, r), *c = in->op == OP_ADD ? at(N, in->args[1]) : NULL;
    return c && c->op == OP_CONST && (int64_t)c->imm >= -MOST_OFFSET && (int64_t)c->imm <= MOST_OFFSET;
}

/* Whether r is a part that isn't taken apart further. */
static bool is_whole(Narrow *N, Ref r) {
    return N->R->whole[r] || N->R->found[r] == NARROW_VALUE || N->R->found[chosen(N->m, r)] == NARROW_VALUE;
}

/* The sum of the constants of an index. */
static int64_t constant_part(Narrow *N, Ref r, int depth) {
    bool whole = is_whole(N, r);
    r = chosen(N->m, r);
    const Instr *in = at(N, r);
    if (depth == 0 || in->op != OP_ADD) return 0;
    if (adds_constant(N, r))
        return (int64_t)at(N, in->args[1])->imm + (whole ? 0 : constant_part(N, in->args[0], depth - 1));
    if (whole) return 0;
    Ref a = in->args[0], b = in->args[1];
    return constant_part(N, a, depth - 1) + constant_part(N, b, depth - 1);
}

/* r as part of an index: right for accesses in bounds, so that only addresses use it. As FORM_APART without its
 * constants. */
static Ref narrow_part(Narrow *N, Ref r, Form form, int depth) {
    bool apart = form == FORM_APART && depth > 0, whole = is_whole(N, r);
    Ref left = chosen(N->m, r);
    if (apart && adds_constant(N, left)) {
        Ref x = at(N, left)->args[0];
        return whole ? narrow(N, x, true, DEEPEST) : narrow_part(N, x, form, depth - 1);
    }
    bool value = N->R->found[r] == NARROW_VALUE || N->R->found[left] == NARROW_VALUE;
    if (depth == 0 || value || (form != FORM_MODULO && N->R->whole[r])) return narrow(N, r, true, DEEPEST);
    r = left;
    Instr old = *at(N, r);
    if (old.op != OP_ADD && old.op != OP_MUL) return narrow(N, r, true, DEEPEST);
    Ref *made = &N->after[form][r];
    if (*made) return *made;
    Form inner = old.op == OP_MUL && form == FORM_APART ? FORM_PART : form;
    Ref args[2];
    for (int i = 0; i < 2; i++) args[i] = narrow_part(N, old.args[i], inner, depth - 1);
    return *made = new_instr(N, (Op)old.op, T_I32, &old, 2, args, form == FORM_MODULO ? 0 : ARITH_NO_WRAP);
}

static Ref narrow_index(Narrow *N, Ref r) {
    int64_t c = constant_part(N, r, INDEX_DEPTH);
    if (c == 0 || c < -MOST_OFFSET || c > MOST_OFFSET) return narrow_part(N, r, FORM_PART, INDEX_DEPTH);
    Ref *made = &N->after[FORM_INDEX][r];
    if (*made) return *made;
    Instr old = *at(N, r);
    Ref args[2] = {narrow_part(N, r, FORM_APART, INDEX_DEPTH),
                   ranges_entry_const(N->R, T_I32, ir_wrap(T_I32, (uint64_t)c))};
    return *made = new_instr(N, OP_ADD, T_I32, &old, 2, args, ARITH_NO_WRAP);
}

static void narrow_use(Narrow *N, Ref r) {
    uint8_t found = N->R->found[r];
    Instr *in = at(N, r);
    if (found == NARROW_VALUE || found == NARROW_UNSIGNED) { /* division is dear enough to start from */
        if (ir_is_division((Op)in->op)) narrow(N, r, found == NARROW_VALUE, DEEPEST);
        return;
    }
    if (in->op == OP_ADDR) {
        Ref index = in->args[1];
        Ref x = found == NARROW_USE     ? narrow(N, index, true, DEEPEST)
                : found == NARROW_INDEX ? narrow_index(N, index)
                                        : narrow_part(N, index, FORM_MODULO, INDEX_DEPTH);
        at(N, r)->args[1] = x;
        return;
    }
    for (uint32_t i = 0; i < at(N, r)->nargs; i++) {
        Ref x = narrow(N, at(N, r)->args[i], found == NARROW_USE, DEEPEST);
        at(N, r)->args[i] = x;
    }
}

static void become_conversion(Narrow *N, Ref r) {
    Instr *in = at(N, r);
    in->op = OP_CONVERT;
    in->sub = 0;
    in->nargs = 1;
    in->args = ARENA_ARRAY(N->m->arena, Ref, 1);
    in->args[0] = N->before[r];
}

static void place_after(Narrow *N, RefVec *list, Ref r) {
    for (int i = 0; i < FORM__COUNT; i++)
        if (N->after[i][r]) VEC_PUSH(N->m->arena, list, N->after[i][r]);
}

/* Puts the new instructions of a block in their places: PHIs stay in front. */
static void place(Narrow *N, Block *b, uint32_t original) {
    Arena *arena = N->m->arena;
    RefVec list = {0};
    uint32_t phis = 0;
    while (phis < b->instrs.n && at(N, b->instrs.at[phis])->op == OP_PHI) phis++;
    for (uint32_t i = 0; i < phis; i++) {
        Ref r = b->instrs.at[i];
        VEC_PUSH(arena, &list, N->before[r] ? N->before[r] : r);
    }
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        Ref r = b->instrs.at[i];
        if (r >= original) { /* a constant that narrow() put in front of the entry block */
            VEC_PUSH(arena, &list, r);
            continue;
        }
        if (i >= phis && N->before[r]) VEC_PUSH(arena, &list, N->before[r]);
        if (N->before[r]) become_conversion(N, r);
        if (i >= phis || N->before[r]) VEC_PUSH(arena, &list, r);
        place_after(N, &list, r);
    }
    b->instrs = list;
}

void ranges_narrow(Ranges *R) {
    IrModule *m = R->m;
    uint32_t n = m->instrs.n;
    Narrow N = {.R = R, .m = m, .before = ARENA_ARRAY(m->arena, Ref, n)};
    for (int i = 0; i < 2; i++) N.small[i] = ARENA_ARRAY(m->arena, Ref, n);
    for (int i = 0; i < FORM__COUNT; i++) N.after[i] = ARENA_ARRAY(m->arena, Ref, n);
    bool any = false;
    for (Ref r = 1; r < n; r++) {
        if (r >= R->size || !R->found[r] || m->instrs.at[r].op == OP_BRANCH || m->blocks.at[m->instrs.at[r].block].dead)
            continue;
        narrow_use(&N, r);
        any = true;
    }
    for (BlockId b = 0; any && b < m->blocks.n; b++)
        if (!m->blocks.at[b].dead) place(&N, &m->blocks.at[b], n);
}
