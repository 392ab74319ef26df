/* lower_approx.c - the APPROX operation: a GPU's quick instructions for float32, as CUDA C's __sinf and its kind are
 * made of them; the exact function on the CPU. */
#include "lower.h"

#include <stdio.h>

/* ---- the instructions ---------------------------------------------------------------------------------------- */
static Val relaxed(Val v) {
    if (LLVMIsAInstruction(v)) LLVMSetFastMathFlags(v, LLVMFastMathApproxFunc);
    return v;
}

/* LLVM's intrinsic of an instruction; with fastmath, subnormals are zero. */
static Val quick(Lower *L, const char *name, const char *suffix, Ty overload, Val x) {
    char text[48];
    snprintf(text, sizeof text, "llvm.nvvm.%s.approx%s%s", name, L->o->fastmath ? ".ftz" : "", suffix);
    return ll_intrinsic(L, text, overload, 1, &x);
}

static Val quick1(Lower *L, const char *name, Val x) { return quick(L, name, ".f", NULL, x); }
static Val power_of_2(Lower *L, Val x) { return quick(L, "ex2", "", L->f32, x); }

static Val divided(Lower *L, Val x, Val y) { return relaxed(LLVMBuildFDiv(L->b, x, y, "q")); }

static Val scaled(Lower *L, Val x, double by) { return LLVMBuildFMul(L->b, x, ll_float(L, L->f32, by), "q"); }

static Val on_gpu(Lower *L, ApproxFn f, Val *a) {
    const double log2_e = 1.44269504088896340736, log2_10 = 3.32192809488736234787, ln_2 = 0.69314718055994530942,
                 log10_2 = 0.30102999566398119521;
    switch (f) {
    case APPROX_SIN: return quick1(L, "sin", a[0]);
    case APPROX_COS: return quick1(L, "cos", a[0]);
    case APPROX_TAN: {
        Val sine = quick1(L, "sin", a[0]);
        return divided(L, sine, quick1(L, "cos", a[0]));
    }
    case APPROX_EXP: return power_of_2(L, scaled(L, a[0], log2_e));
    case APPROX_EXP2: return power_of_2(L, a[0]);
    case APPROX_EXP10: return power_of_2(L, scaled(L, a[0], log2_10));
    case APPROX_LOG: return scaled(L, quick1(L, "lg2", a[0]), ln_2);
    case APPROX_LOG2: return quick1(L, "lg2", a[0]);
    case APPROX_LOG10: return scaled(L, quick1(L, "lg2", a[0]), log10_2);
    case APPROX_POW: return power_of_2(L, LLVMBuildFMul(L->b, a[1], quick1(L, "lg2", a[0]), "q"));
    case APPROX_DIV: return divided(L, a[0], a[1]);
    case APPROX_RCP: return divided(L, ll_float(L, L->f32, 1), a[0]);
    case APPROX_SQRT: return quick1(L, "sqrt", a[0]);
    case APPROX_RSQRT: return quick1(L, "rsqrt", a[0]);
    default:
        if (L->o->sm < 80 && L->o->ptx_version < 70) /* legal_ptx_version() gives more, unless it was told not to */
            return L->target->library(L, &math_info[MATH_TANH], T_F32, L->f32, 1, a);
        return relaxed(ll_intrinsic(L, "llvm.tanh", L->f32, 1, a));
    }
}

/* tanh.approx is too rough for a function that nobody asked to be so. */
Val lower_fastmath(Lower *L, const MathInfo *fn, Val *args) {
    for (unsigned f = 0; f < APPROX__COUNT; f++)
        if (approxfn_exact[f] != MATH__COUNT && fn == &math_info[approxfn_exact[f]] && f != APPROX_TANH)
            return on_gpu(L, (ApproxFn)f, args);
    return NULL;
}

Val lower_approx(Lower *L, const Instr *in, Val *a) {
    ApproxFn f = (ApproxFn)in->sub;
    if (L->o->target == TARGET_PTX) return on_gpu(L, f, a);
    Instr exact = *in;
    exact.sub = approxfn_exact[f];
    if (exact.sub != MATH__COUNT) return lower_math(L, &exact, a);
    Val one = ll_float(L, ll_type(L, T_F32), 1);
    return ll_relaxed(L, f == APPROX_RCP ? LLVMBuildFDiv(L->b, one, a[0], "v") : LLVMBuildFDiv(L->b, a[0], a[1], "v"));
}
