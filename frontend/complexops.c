/* complexops.c - arithmetic of complex numbers on their parts, with NumPy's formulas.
 *
 * Products aren't fused here: z * conj(z) must have an imaginary part of exactly 0. */
#include "evaluator.h"

#include <complex.h>
#include <math.h>

#ifndef CMPLX /* glibc defines it for gcc only */
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif

typedef struct Parts {
    Ref re, im;
} Parts;

/* Here and elsewhere: of the arguments of one call at most one emits, since C leaves their order open. */
static Parts parts_of(Eval *e, Val v) {
    Ref re = val_re(e, v), im = val_im(e, v);
    return (Parts){re, im};
}

static Parts multiply(Eval *e, Type t, Parts a, Parts b) {
    Ref rr = e_op2(e, OP_MUL, t, a.re, b.re), ii = e_op2(e, OP_MUL, t, a.im, b.im);
    Ref re = e_op2(e, OP_SUB, t, rr, ii);
    Ref ri = e_op2(e, OP_MUL, t, a.re, b.im), ir = e_op2(e, OP_MUL, t, a.im, b.re);
    return (Parts){re, e_op2(e, OP_ADD, t, ri, ir)};
}

static Ref parts_are_zero(Eval *e, Type t, Parts z) {
    Ref zero = e_float(e, t, 0);
    Ref re = e_cmp(e, PRED_EQ, z.re, zero), im = e_cmp(e, PRED_EQ, z.im, zero);
    return e_op2(e, OP_AND, T_BOOL, re, im);
}

/* Smith's method, with both of its cases written as one by selecting the larger part of b. */
static Parts divide(Eval *e, Type t, Parts a, Parts b) {
    Ref abs_re = e_op1(e, OP_ABS, t, b.re), abs_im = e_op1(e, OP_ABS, t, b.im);
    Ref c = e_cmp(e, PRED_GE, abs_re, abs_im);
    Ref big = e_select(e, t, c, b.re, b.im), small = e_select(e, t, c, b.im, b.re);
    Ref ratio = e_op2(e, OP_DIV, t, small, big);
    Ref one = e_float(e, t, 1);
    Ref scale = e_op2(e, OP_DIV, t, one, e_op2(e, OP_ADD, t, big, e_op2(e, OP_MUL, t, small, ratio)));
    Ref x = e_select(e, t, c, a.re, a.im), y = e_select(e, t, c, a.im, a.re);
    Ref re = e_op2(e, OP_MUL, t, e_op2(e, OP_ADD, t, x, e_op2(e, OP_MUL, t, y, ratio)), scale);
    Ref p = e_op2(e, OP_SUB, t, a.im, e_op2(e, OP_MUL, t, a.re, ratio));
    Ref q = e_op2(e, OP_SUB, t, e_op2(e, OP_MUL, t, a.im, ratio), a.re);
    Ref im = e_op2(e, OP_MUL, t, e_select(e, t, c, p, q), scale);
    Ref is_zero = parts_are_zero(e, t, b);
    re = e_select(e, t, is_zero, e_op2(e, OP_DIV, t, a.re, abs_re), re);
    im = e_select(e, t, is_zero, e_op2(e, OP_DIV, t, a.im, abs_im), im);
    return (Parts){re, im};
}

/* A small constant integer power, by squaring, as NumPy does. */
static Parts int_power(Eval *e, Type t, Parts a, int n) {
    Ref re = e_float(e, t, 1), im = e_float(e, t, 0);
    Parts one = {re, im}, r = one;
    unsigned left = (unsigned)(n < 0 ? -n : n);
    for (bool first = true; left; left >>= 1, a = left ? multiply(e, t, a, a) : a) {
        if (!(left & 1)) continue;
        r = first ? a : multiply(e, t, r, a);
        first = false;
    }
    return n < 0 ? divide(e, t, one, r) : r;
}

/* exp(b * log(a)); 0 to a power with a positive real part is 0, to any other but 0 nan. */
static Parts general_power(Eval *e, Type t, Parts a, Parts b) {
    Ref zero = e_float(e, t, 0);
    Ref log = e_math1(e, MATH_LOG, t, e_math2(e, MATH_HYPOT, t, a.re, a.im));
    Ref angle = e_math2(e, MATH_ATAN2, t, a.im, a.re);
    Parts p = multiply(e, t, b, (Parts){log, angle});
    Ref size = e_math1(e, MATH_EXP, t, p.re);
    Ref re = e_op2(e, OP_MUL, t, size, e_math1(e, MATH_COS, t, p.im));
    Ref im = e_op2(e, OP_MUL, t, size, e_math1(e, MATH_SIN, t, p.im));
    im = e_select(e, t, e_cmp(e, PRED_EQ, p.im, zero), p.im,
                  im); /* a real number stays one: inf * sin(0) would be nan */
    Ref null = parts_are_zero(e, t, a), none = parts_are_zero(e, t, b);
    Ref of_null = e_select(e, t, e_cmp(e, PRED_GT, b.re, zero), zero, e_float(e, t, NAN));
    re = e_select(e, t, null, of_null, re);
    im = e_select(e, t, null, of_null, im);
    re = e_select(e, t, none, e_float(e, t, 1), re);
    return (Parts){re, e_select(e, t, none, zero, im)};
}

static Parts power(Eval *e, Type t, Val a, Val b) {
    if (b.konst == KONST_COMPLEX && b.f.im == 0 && b.f.re == floor(b.f.re) && fabs(b.f.re) < 100)
        return int_power(e, t, parts_of(e, a), (int)b.f.re);
    Parts x = parts_of(e, a), y = parts_of(e, b);
    return general_power(e, t, x, y);
}

static bool fold(PyBinary op, Val a, Val b, double complex *out) {
    if (a.konst != KONST_COMPLEX || b.konst != KONST_COMPLEX) return false;
    double complex x = CMPLX(a.f.re, a.f.im), y = CMPLX(b.f.re, b.f.im);
    switch (op) {
    case PYB_ADD: *out = x + y; return true;
    case PYB_SUB: *out = x - y; return true;
    case PYB_MUL: *out = CMPLX(a.f.re * b.f.re - a.f.im * b.f.im, a.f.re * b.f.im + a.f.im * b.f.re); return true;
    default: return false;
    }
}

Val complex_arith(Eval *e, PyBinary op, Scalar s, Val a, Val b) {
    double complex z;
    if (fold(op, a, b, &z)) return val_const_float(e, s, creal(z), cimag(z));
    Type t = dtype_info[s.dtype].ir;
    bool kept = e->keep_products;
    e->keep_products = true;
    Parts r, x = {REF_NONE, REF_NONE}, y = x;
    if (op != PYB_POW) {
        x = parts_of(e, a);
        y = parts_of(e, b);
    }
    if (op == PYB_ADD || op == PYB_SUB) {
        Op ir = op == PYB_ADD ? OP_ADD : OP_SUB;
        r.re = e_op2(e, ir, t, x.re, y.re);
        r.im = e_op2(e, ir, t, x.im, y.im);
    } else if (op == PYB_MUL) {
        r = multiply(e, t, x, y);
    } else if (op == PYB_TRUEDIV) {
        r = divide(e, t, x, y);
    } else {
        r = power(e, t, a, b);
    }
    e->keep_products = kept;
    return val_complex(e, s, r.re, r.im);
}

Val complex_unary(Eval *e, PyUnary op, Scalar s, Val a) {
    (void)op; /* the table has no ~ for complex numbers */
    if (a.konst == KONST_COMPLEX) return val_const_float(e, s, -a.f.re, -a.f.im);
    Type t = dtype_info[s.dtype].ir;
    Ref re = e_op1(e, OP_NEG, t, val_re(e, a)), im = e_op1(e, OP_NEG, t, val_im(e, a));
    return val_complex(e, s, re, im);
}
