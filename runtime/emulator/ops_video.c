/* ops_video.c - PTX's video instructions: on one part of each word (vadd ... vmad, vset), or on its two halves or four
 * bytes at once (vadd2 ... vset4).
 *
 * With one part: it is widened, the result is computed exactly and clamped to its part of the destination with .sat;
 * then it is combined with operand 3 by .add, .min or .max, or put into a part of it.
 *
 * With all: a lane of the word is computed exactly, clamped to the result's type with .sat, and put in its place; with
 * .add the lanes' results are added to operand 3 instead. (Byte selectors and masks behind operands aren't known.) */
#include "ops.h"

typedef enum VideoOp { V_ADD, V_SUB, V_AVRG, V_ABSDIFF, V_MIN, V_MAX, V_SET, V_SHL, V_SHR } VideoOp;

/* The PtxInst's sub: */
enum { V_OP = 15, V_SAT = 16, V_SUM = 32, V_QUAD = 64 };

static int32_t part(uint32_t word, uint32_t k, uint32_t bits, bool is_signed) {
    uint32_t v = word << (32 - bits * (k + 1));
    return is_signed ? (int32_t)v >> (32 - bits) : (int32_t)(v >> (32 - bits));
}

static bool compare(uint8_t how, int64_t a, int64_t b) {
    switch (how) {
    case CMP_EQ: return a == b;
    case CMP_NE: return a != b;
    case CMP_LT: return a < b;
    case CMP_LE: return a <= b;
    case CMP_GT: return a > b;
    default: return a >= b;
    }
}

/* By 32 all bits that matter are gone, but it is still too large for any type. */
static int64_t shift_left(int64_t a, int64_t by) {
    if (by >= 32) return a > 0 ? INT64_C(1) << 62 : a < 0 ? -(INT64_C(1) << 62) : 0;
    return (int64_t)((uint64_t)a << by);
}

static int64_t combine(const PtxInst *in, int64_t a, int64_t b) {
    switch ((VideoOp)(in->sub & V_OP)) {
    case V_ADD: return a + b;
    case V_SUB: return a - b;
    case V_AVRG: return (a + b + (a + b >= 0)) >> 1; /* halves round away from zero */
    case V_ABSDIFF: return a < b ? b - a : a - b;
    case V_MIN: return a < b ? a : b;
    case V_MAX: return a < b ? b : a;
    case V_SHL: return shift_left(a, in->vec == FLAG_WRAP ? b & 31 : b > 32 ? 32 : b);
    case V_SHR: return a >> (in->vec == FLAG_WRAP ? b & 31 : b > 32 ? 32 : b);
    default: return compare(in->vec, a, b);
    }
}

static int64_t clamp(int64_t v, uint32_t bits, bool is_signed) {
    int64_t high = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1, low = is_signed ? -high - 1 : 0;
    return v < low ? low : v > high ? high : v;
}

/* One word. in->vec is the comparison of vset. */
static uint32_t video(const PtxInst *in, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t bits = in->sub & V_QUAD ? 8 : 16, mask = (1u << bits) - 1, word = 0, sum = c;
    bool is_signed = in->type[0] == PT_S32;
    for (uint32_t k = 0; k < 32 / bits; k++) {
        int64_t v = combine(in, part(a, k, bits, in->type[1] == PT_S32), part(b, k, bits, in->type[2] == PT_S32));
        if (in->sub & V_SAT) v = clamp(v, bits, is_signed);
        word |= ((uint32_t)v & mask) << bits * k;
        sum += (uint32_t)v;
    }
    return in->sub & V_SUM ? sum : word;
}

static void run_video(Warp *w, const PtxInst *in, uint32_t mask) {
    uint32_t *d = lanes(w, &in->o[0]);
    const uint32_t *a = lanes(w, &in->o[1]), *b = lanes(w, &in->o[2]), *c = lanes(w, &in->o[3]);
    EACH_LANE(mask, i, d[i] = video(in, a[i], b[i], c[i]));
}

static bool words(const PtxForm *f, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        if (f->types[k] != PT_U32 && f->types[k] != PT_S32) return false;
    return f->ntypes == n;
}

static bool select_video(VideoOp op, bool quad, const PtxForm *f, PtxInst *in) {
    if (!words(f, 3) || (f->field[MF_ATOM] && f->field[MF_ATOM] != ATOM_ADD)) return false;
    if (f->field[MF_ATOM] && has(f, FLAG_SAT)) return false;
    if (op == V_SET && (f->field[MF_CMP] < CMP_EQ || f->field[MF_CMP] > CMP_GE)) return false;
    in->sub = (uint8_t)(op | (has(f, FLAG_SAT) ? V_SAT : 0) | (f->field[MF_ATOM] ? V_SUM : 0) | (quad ? V_QUAD : 0));
    in->vec = f->field[MF_CMP];
    in->fn = run_video;
    return true;
}

#define SELECT(name, op)                                                                                               \
    bool select_##name##2(const PtxForm *f, PtxInst *in) { return select_video(op, false, f, in); }                    \
    bool select_##name##4(const PtxForm *f, PtxInst *in) { return select_video(op, true, f, in); }
SELECT(vadd, V_ADD)
SELECT(vsub, V_SUB)
SELECT(vavrg, V_AVRG)
SELECT(vabsdiff, V_ABSDIFF)
SELECT(vmin, V_MIN)
SELECT(vmax, V_MAX)

/* vset's types are those of the operands alone; its result is 0 or 1. */
static bool select_all_set(bool quad, const PtxForm *f, PtxInst *in) {
    PtxForm g = *f;
    if (f->ntypes != 2) return false;
    g.ntypes = 3, g.types[0] = PT_U32, g.types[1] = f->types[0], g.types[2] = f->types[1];
    for (uint32_t k = 0; k < 3; k++) in->type[k] = g.types[k];
    return select_video(V_SET, quad, &g, in);
}
bool select_vset2(const PtxForm *f, PtxInst *in) { return select_all_set(false, f, in); }
bool select_vset4(const PtxForm *f, PtxInst *in) { return select_all_set(true, f, in); }

/* ---- one part of each word ----------------------------------------------------------------------- */

static Part part_of(const PtxOperand *o) { return (Part)(o->flags >> OPERAND_PART); }

/* Where a part begins, and its bits. */
static uint32_t part_bits(Part p, uint32_t *shift) {
    *shift = p >= PART_H0 ? 16u * (uint32_t)(p - PART_H0) : p ? 8u * (uint32_t)(p - PART_B0) : 0;
    return p >= PART_H0 ? 16 : p ? 8 : 32;
}

static int64_t widen(const PtxOperand *o, uint32_t word, bool is_signed) {
    uint32_t shift, bits = part_bits(part_of(o), &shift), v = word << (32 - bits - shift);
    return is_signed ? (int64_t)((int32_t)v >> (32 - bits)) : (int64_t)(v >> (32 - bits));
}

/* in->sem: what is done with c; in->vec: the comparison of vset, .clamp or .wrap of shifts. */
static uint32_t video_part(const PtxInst *in, uint32_t x, uint32_t y, uint32_t c) {
    bool is_signed = in->type[0] == PT_S32;
    int64_t v = combine(in, widen(&in->o[1], x, in->type[1] == PT_S32), widen(&in->o[2], y, in->type[2] == PT_S32));
    uint32_t shift, bits = part_bits(part_of(&in->o[0]), &shift);
    if (in->sub & V_SAT) v = clamp(v, bits, is_signed);
    uint32_t d = (uint32_t)v;
    bool below = is_signed ? (int32_t)d < (int32_t)c : d < c;
    if (in->sem == ATOM_ADD) return d + c;
    if (in->sem == ATOM_MIN) return below ? d : c;
    if (in->sem == ATOM_MAX) return below ? c : d;
    if (bits == 32) return d;
    uint32_t mask = ((1u << bits) - 1) << shift;
    return (d << shift & mask) | (c & ~mask);
}

static void run_part(Warp *w, const PtxInst *in, uint32_t mask) {
    static const uint32_t none[WARP];
    uint32_t *d = lanes(w, &in->o[0]);
    const uint32_t *a = lanes(w, &in->o[1]), *b = lanes(w, &in->o[2]);
    const uint32_t *c = in->o[3].file == FILE_NONE ? none : lanes(w, &in->o[3]);
    EACH_LANE(mask, i, d[i] = video_part(in, a[i], b[i], c[i]));
}

static bool select_part(VideoOp op, const PtxForm *f, PtxInst *in) {
    unsigned second = f->field[MF_ATOM], cmp = f->field[MF_CMP];
    bool merges = part_of(&in->o[0]) != PART_ALL;
    if (!words(f, op == V_SET ? 2 : 3) || (second && merges) || f->noperands != 3 + (second || merges)) return false;
    if (second && second != ATOM_ADD && second != ATOM_MIN && second != ATOM_MAX) return false;
    if (op == V_SET && (cmp < CMP_EQ || cmp > CMP_GE)) return false;
    if (op == V_SHL || op == V_SHR) {
        if (has(f, FLAG_CLAMP) == has(f, FLAG_WRAP) || f->types[2] != PT_U32) return false;
        cmp = has(f, FLAG_WRAP) ? FLAG_WRAP : FLAG_CLAMP;
    }
    if (op == V_SET) in->type[0] = PT_U32, in->type[1] = f->types[0], in->type[2] = f->types[1];
    in->sub = (uint8_t)(op | (has(f, FLAG_SAT) ? V_SAT : 0));
    in->vec = (uint8_t)cmp;
    in->sem = (uint8_t)second;
    in->fn = run_part;
    return true;
}

bool select_vadd(const PtxForm *f, PtxInst *in) { return select_part(V_ADD, f, in); }
bool select_vsub(const PtxForm *f, PtxInst *in) { return select_part(V_SUB, f, in); }
bool select_vabsdiff(const PtxForm *f, PtxInst *in) { return select_part(V_ABSDIFF, f, in); }
bool select_vmin(const PtxForm *f, PtxInst *in) { return select_part(V_MIN, f, in); }
bool select_vmax(const PtxForm *f, PtxInst *in) { return select_part(V_MAX, f, in); }
bool select_vshl(const PtxForm *f, PtxInst *in) { return select_part(V_SHL, f, in); }
bool select_vshr(const PtxForm *f, PtxInst *in) { return select_part(V_SHR, f, in); }
bool select_vset(const PtxForm *f, PtxInst *in) { return select_part(V_SET, f, in); }

/* a * b + c, and 1 more with .po; then a shift, then .sat. in->vec: bits of the shift; in->sem: .po. */
static uint32_t multiply_add(const PtxInst *in, uint32_t x, uint32_t y, uint32_t c) {
    bool sx = in->type[1] == PT_S32, sy = in->type[2] == PT_S32, sat = in->sub & V_SAT;
    int64_t a = widen(&in->o[1], x, sx), b = widen(&in->o[2], y, sy);
    if (sx || sy) {
        int64_t v = (a * b + (int32_t)c + in->sem) >> in->vec;
        return (uint32_t)(sat ? clamp(v, 32, true) : v);
    }
    uint64_t v = ((uint64_t)a * (uint64_t)b + c + in->sem) >> in->vec;
    return sat && v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

static void run_mad(Warp *w, const PtxInst *in, uint32_t mask) {
    uint32_t *d = lanes(w, &in->o[0]);
    const uint32_t *a = lanes(w, &in->o[1]), *b = lanes(w, &in->o[2]), *c = lanes(w, &in->o[3]);
    EACH_LANE(mask, i, d[i] = multiply_add(in, a[i], b[i], c[i]));
}

bool select_vmad(const PtxForm *f, PtxInst *in) {
    unsigned mode = f->field[MF_MODE];
    if (!words(f, 3) || (mode && mode != MODE_SHR7 && mode != MODE_SHR15)) return false;
    in->sub = has(f, FLAG_SAT) ? V_SAT : 0;
    in->vec = mode == MODE_SHR7 ? 7 : mode ? 15 : 0;
    in->sem = has(f, FLAG_PO);
    in->fn = run_mad;
    return true;
}
