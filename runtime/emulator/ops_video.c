/* ops_video.c - PTX's SIMD video instructions on two halves or four bytes of a word: vadd2 ... vset4.
 *
 * A lane of the word is computed exactly, clamped to the result's type with .sat, and put in its place; with .add the
 * lanes' results are added to operand 3 instead. (Byte selectors and masks behind operands aren't known.) */
#include "ops.h"

typedef enum VideoOp { V_ADD, V_SUB, V_AVRG, V_ABSDIFF, V_MIN, V_MAX, V_SET } VideoOp;

/* The PtxInst's sub: */
enum { V_OP = 15, V_SAT = 16, V_SUM = 32, V_QUAD = 64 };

static int32_t part(uint32_t word, uint32_t k, uint32_t bits, bool is_signed) {
    uint32_t v = word << (32 - bits * (k + 1));
    return is_signed ? (int32_t)v >> (32 - bits) : (int32_t)(v >> (32 - bits));
}

static bool compare(uint8_t how, int32_t a, int32_t b) {
    switch (how) {
    case CMP_EQ: return a == b;
    case CMP_NE: return a != b;
    case CMP_LT: return a < b;
    case CMP_LE: return a <= b;
    case CMP_GT: return a > b;
    default: return a >= b;
    }
}

static int32_t combine(VideoOp op, uint8_t how, int32_t a, int32_t b) {
    switch (op) {
    case V_ADD: return a + b;
    case V_SUB: return a - b;
    case V_AVRG: return (a + b + (a + b >= 0)) >> 1; /* halves round away from zero */
    case V_ABSDIFF: return a < b ? b - a : a - b;
    case V_MIN: return a < b ? a : b;
    case V_MAX: return a < b ? b : a;
    default: return compare(how, a, b);
    }
}

static int32_t clamp(int32_t v, uint32_t bits, bool is_signed) {
    int32_t high = (1 << (is_signed ? bits - 1 : bits)) - 1, low = is_signed ? -high - 1 : 0;
    return v < low ? low : v > high ? high : v;
}

/* One word. in->vec is the comparison of vset. */
static uint32_t video(const PtxInst *in, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t bits = in->sub & V_QUAD ? 8 : 16, mask = (1u << bits) - 1, word = 0, sum = c;
    bool is_signed = in->type[0] == PT_S32;
    for (uint32_t k = 0; k < 32 / bits; k++) {
        int32_t v = combine(in->sub & V_OP, in->vec, part(a, k, bits, in->type[1] == PT_S32),
                            part(b, k, bits, in->type[2] == PT_S32));
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

static bool select_video(VideoOp op, bool quad, const PtxForm *f, PtxInst *in) {
    if (f->ntypes != 3) return false;
    for (uint32_t k = 0; k < 3; k++)
        if (f->types[k] != PT_U32 && f->types[k] != PT_S32) return false;
    if (f->field[MF_ATOM] && f->field[MF_ATOM] != ATOM_ADD) return false;
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
static bool select_vset(bool quad, const PtxForm *f, PtxInst *in) {
    PtxForm g = *f;
    if (f->ntypes != 2) return false;
    g.ntypes = 3, g.types[0] = PT_U32, g.types[1] = f->types[0], g.types[2] = f->types[1];
    for (uint32_t k = 0; k < 3; k++) in->type[k] = g.types[k];
    return select_video(V_SET, quad, &g, in);
}
bool select_vset2(const PtxForm *f, PtxInst *in) { return select_vset(false, f, in); }
bool select_vset4(const PtxForm *f, PtxInst *in) { return select_vset(true, f, in); }
