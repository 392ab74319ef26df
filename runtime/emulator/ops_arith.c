/* ops_arith.c - the opcodes that integers, floats and halves share: by its first type a form goes to the file that
 * computes it. */
#include "ops.h"

static bool carries(const PtxForm *f) { return has(f, FLAG_CC); }

static bool arith(Arith op, const PtxForm *f, PtxInst *in) {
    unsigned type = f->types[0];
    if (carries(f)) return carry_arith(op, f, in);
    if (is_int(type)) return int_arith(op, f, in);
    if (is_packed_int(type)) return packed_int_arith(op, f, in);
    return is_half(type) ? half_arith(op, f, in) : float_arith(op, f, in);
}

bool select_add(const PtxForm *f, PtxInst *in) { return arith(OP_ADD, f, in); }
bool select_sub(const PtxForm *f, PtxInst *in) { return arith(OP_SUB, f, in); }
bool select_mul(const PtxForm *f, PtxInst *in) { return arith(OP_MUL, f, in); }

/* mad of floats is fma. */
bool select_mad(const PtxForm *f, PtxInst *in) {
    if (carries(f)) return carry_mad(f, in, false);
    return is_int(f->types[0]) ? int_mad(f, in) : is_float(f->types[0]) && float_arith(OP_FMA, f, in);
}

bool select_fma(const PtxForm *f, PtxInst *in) {
    return is_half(f->types[0]) ? half_arith(OP_FMA, f, in) : float_arith(OP_FMA, f, in);
}

bool select_div(const PtxForm *f, PtxInst *in) {
    return is_int(f->types[0]) ? int_arith(OP_DIV, f, in) : float_div(f, in);
}

bool select_rem(const PtxForm *f, PtxInst *in) { return int_arith(OP_REM, f, in); }

static bool minmax(Arith op, const PtxForm *f, PtxInst *in) {
    unsigned type = f->types[0];
    if (in->o[3].file && type != PT_F32) return false; /* three operands */
    if (is_int(type)) return int_arith(op, f, in);
    return is_packed_int(type) ? packed_int_arith(op, f, in) : float_minmax(op, f, in);
}

bool select_min(const PtxForm *f, PtxInst *in) { return minmax(OP_MIN, f, in); }
bool select_max(const PtxForm *f, PtxInst *in) { return minmax(OP_MAX, f, in); }

static bool sign(Arith op, const PtxForm *f, PtxInst *in) {
    if (is_int(f->types[0])) return int_arith(op, f, in);
    return is_half(f->types[0]) ? half_sign(op, f, in) : float_sign(op, f, in);
}

bool select_abs(const PtxForm *f, PtxInst *in) { return sign(OP_ABS, f, in); }
bool select_neg(const PtxForm *f, PtxInst *in) { return sign(OP_NEG, f, in); }
