/* lower_math.c - the MATH operation: LLVM's own intrinsic where both targets select it exactly, else the
 * target's library (libdevice or libclc, libm). */
#include "lower.h"

#include <string.h>

const MathInfo math_info[MATH__COUNT] = {
#define MATHFN(name, args, libdevice, libm, vector, native, ulp64, ulp32)                                              \
    [MATH_##name] = {libdevice, libm, args, vector, native},
#include "mathfn.def"
#undef MATHFN
};

static const MathInfo fmod_info = {"fmod", "fmod", 2, false, NULL};

/* Declares and calls a function that reads and writes nothing and always returns. */
Val math_call(Lower *L, const char *symbol, Ty result, unsigned n, Val *args) {
    Ty types[4];
    for (unsigned i = 0; i < n; i++) types[i] = LLVMTypeOf(args[i]);
    Ty type = LLVMFunctionType(result, types, n, false);
    Val fn = LLVMGetNamedFunction(L->mod, symbol);
    if (!fn) {
        fn = LLVMAddFunction(L->mod, symbol, type);
        static const char *const pure[] = {"nounwind", "willreturn", "nofree", "nosync", "nocallback", "memory"};
        for (unsigned i = 0; i < sizeof pure / sizeof *pure; i++)
            ll_attribute(L, fn, LLVMAttributeFunctionIndex, pure[i], 0);
        /* LLVM 22 makes fmod(x, y) an frem without NaN when x can't be infinite, but x may be NaN itself. */
        if (strncmp(symbol, "fmod", 4) == 0) ll_attribute(L, fn, LLVMAttributeFunctionIndex, "nobuiltin", 0);
    }
    return LLVMBuildCall2(L->b, type, fn, args, n, "m");
}

Val math_fmod(Lower *L, Type t, Val a, Val b) {
    Val args[2] = {a, b};
    return L->target->library(L, &fmod_info, t, LLVMTypeOf(a), 2, args);
}

/* 1 / sqrt(x), each correctly rounded: at most 1.5 ULP in all. */
static Val rsqrt_of(Lower *L, Val x) {
    Val root = ll_relaxed(L, ll_intrinsic(L, "llvm.sqrt", LLVMTypeOf(x), 1, &x));
    return ll_relaxed(L, LLVMBuildFDiv(L->b, ll_float(L, LLVMTypeOf(x), 1.0), root, "v"));
}

bool math_in_vectors(MathFn fn) {
    const MathInfo *info = &math_info[fn];
    return info->native || !info->libm || info->vector;
}

Val lower_math(Lower *L, const Instr *in, Val *a) {
    const MathInfo *fn = &math_info[in->sub];
    Type t = (Type)L->m->instrs.at[in->args[0]].type;
    if (fn->native) return ll_relaxed(L, ll_intrinsic(L, fn->native, ll_type(L, t), in->nargs, a));
    if (!fn->libm) return rsqrt_of(L, a[0]);
    return L->target->library(L, fn, t, ll_type(L, (Type)in->type), in->nargs, a);
}
