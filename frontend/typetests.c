/* typetests.c - types that a kernel compares: `type(x) == np.float64`, `x.dtype is y.dtype`, `type(x) in (int, float)`.
 *
 * A TY_DTYPE stands for NumPy's class and for the dtype, which differ in what they are equal to; here the instructions
 * that made the operands are asked which it is. */
#include "evaluator.h"

#include <string.h>

static const PyInstr *maker(const Frame *fr, PyRef r) { return &fr->inst->f->instrs.at[r]; }

static bool is_type_call(Eval *e, const Frame *fr, PyRef r) {
    const PyInstr *in = maker(fr, r);
    const DevFn *fn = in->op == PY_CALL ? devfn_of(e, fr->vals[in->args[0]]) : NULL;
    return fn && strcmp(fn->path, "builtins.type") == 0;
}

/* np.float64 is a class, and another type than float; np.dtype("f8") equals float. What a name stands for tells which
 * of the two a TY_DTYPE is. */
typedef enum DtypeForm { FORM_UNKNOWN, FORM_CLASS, FORM_DTYPE } DtypeForm;

static DtypeForm dtype_form(Eval *e, const Frame *fr, PyRef r) {
    const PyInstr *in = maker(fr, r);
    HostRef obj = in->op == PY_CONST ? in->obj : NULL;
    if (in->op == PY_CALL) return is_type_call(e, fr, r) ? FORM_CLASS : FORM_DTYPE;
    if (in->op == PY_GLOBAL) obj = e->host->global(e->host->self, fr->inst->callee.globals, in->name);
    if (in->op == PY_ATTR) {
        Val of = fr->vals[in->args[0]];
        if (!of.ty || of.ty->kind != TY_OBJECT) return strcmp(in->name, "type") == 0 ? FORM_CLASS : FORM_DTYPE;
        obj = e->host->attr(e->host->self, of.ty->obj, in->name);
    }
    if (!obj) return FORM_UNKNOWN;
    return e->host->attr(e->host->self, obj, "__mro__") ? FORM_CLASS : FORM_DTYPE;
}

static bool is_scalar_class(Eval *e, const Frame *fr, PyRef r) { return dtype_form(e, fr, r) == FORM_CLASS; }

/* == of float and a TY_DTYPE that may be either. */
static Val compare_unknown(Eval *e, PySpan span, Val x, Val y) {
    Val v = eval_compare(e, span, PYC_EQ, x, y);
    if (e_numba(e) || !val_const(v) || !v.i) return (Val){0};
    return e_fail(e, span, "np.dtype(t) == np.float64 compares dtypes; type(x) == np.float64 types", DIAG_CONSTRUCT,
                  "a comparison of a Python type with this",
                  "it may be a class of NumPy, which differs, or a dtype, which is equal");
}

/* `type(x) in (np.float32, np.float64)` compares each as == does. 0: nothing of this is known to differ. */
Val types_among(Eval *e, const Frame *fr, Val x, Val types) {
    const PyInstr *in = fr->in;
    const PyInstr *made = maker(fr, in->args[1]);
    bool object = !val_poisoned(x) && x.ty->kind == TY_OBJECT;
    bool scalar = !val_poisoned(x) && x.ty->kind == TY_DTYPE && is_scalar_class(e, fr, in->args[0]);
    if ((!object && !scalar) || made->op != PY_TUPLE || val_poisoned(types) || types.ty->n != made->nargs)
        return (Val){0};
    Val *kept = ARENA_ARRAY(e->arena, Val, types.ty->n + 1);
    uint32_t n = 0;
    for (uint32_t k = 0; k < types.ty->n; k++) {
        TyKind kind = (TyKind)types.items[k].ty->kind;
        bool differs = object ? kind == TY_DTYPE && is_scalar_class(e, fr, made->args[k]) : kind == TY_OBJECT;
        if (!differs) kept[n++] = types.items[k];
    }
    return eval_contains(e, in->span, x, val_tuple(e, n, kept), in->imm != 0);
}

/* type(x) == np.float64: of a Python float it's float, which is another type though it is an equal dtype. Types are
 * also compared by `is`. */
Val compare_types(Eval *e, const Frame *fr, Val x, Val y) {
    const PyInstr *in = fr->in;
    bool left = is_type_call(e, fr, in->args[0]), right = is_type_call(e, fr, in->args[1]);
    if (val_poisoned(x) || val_poisoned(y) || (in->op == PY_IS && !left && !right)) return (Val){0};
    bool one = x.ty->kind == TY_DTYPE, other = y.ty->kind == TY_DTYPE, differ;
    if (in->op == PY_COMPARE) {
        PyRef dtype = in->args[one ? 0 : 1];
        if (one == other || (in->imm != PYC_EQ && in->imm != PYC_NE)) return (Val){0};
        DtypeForm form = dtype_form(e, fr, dtype);
        if (form == FORM_UNKNOWN && (x.ty->kind == TY_OBJECT || y.ty->kind == TY_OBJECT))
            return compare_unknown(e, in->span, x, y);
        if (form != FORM_CLASS) return (Val){0};
        differ = in->imm == PYC_NE;
        return x.ty->kind == TY_OBJECT || y.ty->kind == TY_OBJECT ? val_bool(e, differ) : (Val){0};
    }
    if (!one && !other) return (Val){0};
    return val_bool(e, (x.ty == y.ty) != (in->imm != 0));
}
