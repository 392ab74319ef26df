/* masks.c - a[mask] where how many elements it takes doesn't matter: a number made of them (a[mask].sum(),
 * np.max(a[mask]), len(a[mask])), and what changes them in place (a[mask] += v).
 *
 * a[mask] = values stores one value after another where the mask is true.
 *
 * The elements themselves never exist: the operation that takes them is looked up from the subscript, and does both. So
 * nothing may happen between the two. */
#include "arrays.h"
#include "evaluator.h"

#include <math.h>
#include <string.h>

/* The operation that uses r, if one alone does, once; else 0. */
static PyRef only_user(const PyFunc *f, PyRef r) {
    PyRef user = 0;
    uint32_t n = 0;
    for (PyBlockId b = 0; b < f->blocks.n; b++) {
        const PyBlock *block = &f->blocks.at[b];
        n += (block->arg == r) + (block->cause == r);
        for (uint32_t i = 0; i < block->instrs.n; i++) {
            const PyInstr *in = &f->instrs.at[block->instrs.at[i]];
            for (uint32_t k = 0; k < in->nargs; k++)
                if (in->args[k] == r) n++, user = block->instrs.at[i];
        }
    }
    return n == 1 ? user : 0;
}

/* Does what is between two operations of a block neither write nor call? */
static bool quiet_between(const Instance *inst, PyRef from, PyRef to) {
    const PyFunc *f = inst->f;
    const PyBlock *block = &f->blocks.at[f->instrs.at[from].block];
    bool inside = false;
    for (uint32_t i = 0; i < block->instrs.n; i++) {
        PyRef r = block->instrs.at[i];
        const PyInstr *in = &f->instrs.at[r];
        if (r == to) return inside;
        for (uint32_t k = 0; inside && k < in->nargs; k++) { /* operators and properties of classes are calls */
            Ty ty = inst->cell[in->args[k]].ty;
            if (ty && ty->kind == TY_INSTANCE) return false;
        }
        switch (in->op) {
        case PY_CONST:
        case PY_GLOBAL:
        case PY_CLOSURE:
        case PY_ATTR:
        case PY_UNARY:
        case PY_BINARY:
        case PY_SUBSCR: break;
        default:
            if (inside) return false;
        }
        inside |= r == from;
    }
    return false;
}

/* `a[mask] op= v`, by its operator: the store that ends it; else 0. */
static PyRef store_of(const Instance *inst, PyRef op) {
    const PyFunc *f = inst->f;
    const PyInstr *in = &f->instrs.at[op];
    if (in->op != PY_BINARY || !(in->imm & PYB_INPLACE) || in->args[0] == in->args[1]) return 0;
    const PyInstr *view = &f->instrs.at[in->args[0]];
    PyRef store = only_user(f, op);
    const PyInstr *to = &f->instrs.at[store];
    if (!store || view->op != PY_SUBSCR || to->op != PY_STORE_SUBSCR || to->args[2] != op) return 0;
    if (to->args[0] != view->args[0] || to->args[1] != view->args[1] || only_user(f, in->args[0]) != op) return 0;
    return quiet_between(inst, in->args[0], op) && quiet_between(inst, op, store) ? store : 0;
}

bool is_mask(Val a, Val i) {
    return !val_poisoned(a) && !val_poisoned(i) && a.ty->kind == TY_ARRAY && val_is_many(i) && i.ty->dtype == DT_BOOL &&
           i.ty->ndim && i.ty->ndim == a.ty->ndim;
}

bool mask_changes(const Frame *fr, PyRef subscript) {
    PyRef op = only_user(fr->inst->f, subscript);
    return op && store_of(fr->inst, op) && fr->inst->f->instrs.at[op].args[0] == subscript;
}

bool mask_operator(const Frame *fr, PyRef op) {
    const PyFunc *f = fr->inst->f;
    const PyInstr *in = &f->instrs.at[op];
    if (in->op != PY_BINARY || !(in->imm & PYB_INPLACE)) return false;
    const PyInstr *view = &f->instrs.at[in->args[0]];
    if (view->op != PY_SUBSCR || !is_mask(fr->vals[view->args[0]], fr->vals[view->args[1]])) return false;
    return store_of(fr->inst, op) != 0; /* goes through the whole function */
}

/* ---- a number made of a[mask] --------------------------------------------------------------------------------- */
enum { METHOD = 1, FUNCTION = 2, ATTRIBUTE = 4 };

static const struct {
    const char *name; /* "len", "numpy.sum" */
    uint8_t as;
} reducers[] = {
    {"numpy.sum", METHOD | FUNCTION},  {"numpy.prod", METHOD | FUNCTION},    {"numpy.mean", METHOD | FUNCTION},
    {"numpy.max", METHOD | FUNCTION},  {"numpy.min", METHOD | FUNCTION},     {"numpy.amax", FUNCTION},
    {"numpy.amin", FUNCTION},          {"numpy.any", METHOD | FUNCTION},     {"numpy.all", METHOD | FUNCTION},
    {"numpy.count_nonzero", FUNCTION}, {"numpy.size", FUNCTION | ATTRIBUTE}, {"builtins.len", FUNCTION}};

static const char *reducer(const char *name, unsigned as) {
    for (size_t i = 0; i < sizeof reducers / sizeof *reducers; i++) {
        const char *full = reducers[i].name;
        if (reducers[i].as & as && strcmp(as == FUNCTION ? full : strchr(full, '.') + 1, name) == 0) return full;
    }
    return NULL;
}

const char *mask_reduced(Eval *e, const Frame *fr, PyRef subscript) {
    const PyFunc *f = fr->inst->f;
    PyRef user = only_user(f, subscript);
    const PyInstr *in = &f->instrs.at[user];
    HostInfo info;
    memset(&info, 0, sizeof info);
    if (!user || !quiet_between(fr->inst, subscript, user)) return NULL;
    if (in->op == PY_ATTR) {
        PyRef call = only_user(f, user);
        const PyInstr *c = &f->instrs.at[call];
        bool called = call && c->op == PY_CALL && c->nargs == 1 && quiet_between(fr->inst, user, call);
        return called ? reducer(in->name, METHOD) : reducer(in->name, ATTRIBUTE);
    }
    if (in->op != PY_CALL || in->nargs != 2 || in->args[1] != subscript || in->kwnames.n) return NULL;
    Val fn = fr->vals[in->args[0]];
    if (val_poisoned(fn) || fn.ty->kind != TY_OBJECT || !e->host->info(e->host->self, fn.ty->obj, &info)) return NULL;
    return info.kind == HOST_NAMED ? reducer(info.path, FUNCTION) : NULL;
}

/* What no element is worse than. */
static Val val_worst(Eval *e, DType d, bool most) {
    if (d == DT_BOOL) return val_const_int(e, SCALAR(d, false), !most);
    if (dt_is_float(d)) return val_const_float(e, SCALAR(d, false), most ? -INFINITY : INFINITY, 0);
    unsigned bits = dtype_info[d].bits;
    Wide top = (Wide)1 << (dtype_info[d].kind == DK_UINT ? bits : bits - 1);
    return val_const_int(e, SCALAR(d, false), !most ? top - 1 : dtype_info[d].kind == DK_UINT ? 0 : -top);
}

/* The elements, with `other` in place of those that the mask leaves out, by one of NumPy's functions. */
static Val reduced(Eval *e, PySpan span, const char *path, Val a, Val mask, Val other) {
    CallSite site = {.span = span, .name = "np.where"};
    Val all = call_devfn(e, &site, devfn_find("numpy.where"), 3, (Val[]){mask, a, other});
    if (val_poisoned(all)) return all;
    site.name = path + 6; /* after "numpy." */
    return call_devfn(e, &site, devfn_find(path), 1, &all);
}

Val mask_number(Eval *e, PySpan span, const char *path, Val a, Val mask) {
    DType d = (DType)a.ty->dtype;
    const char *name = strchr(path, '.') + 1;
    bool most = strstr(name, "max") != NULL, extreme = most || strstr(name, "min") != NULL;
    if (!array_mask_matches(e, span, a, mask)) return val_poison(e);
    if (strcmp(name, "len") == 0 || strcmp(name, "size") == 0) {
        CallSite site = {.span = span, .name = name};
        return val_convert(e, call_devfn(e, &site, devfn_find("numpy.count_nonzero"), 1, &mask), e_python_int(e));
    }
    if (d == DT_RECORD || (dt_is_complex(d) && (extreme || strcmp(name, "mean") == 0)))
        return e_fail(e, span, "write a loop", DIAG_ARG_TYPE, name, e_text(e, a));
    CallSite site = {.span = span, .name = name};
    Val n = extreme || strcmp(name, "mean") == 0 ? call_devfn(e, &site, devfn_find("numpy.count_nonzero"), 1, &mask)
                                                 : (Val){0};
    if (extreme) {
        e_raise_if(e, span, e_cmp(e, PRED_EQ, val_conv_ref(e, n, DT_I64), e_int(e, T_I64, 0)), "ValueError",
                   "zero-size array to reduction operation which has no identity");
        return reduced(e, span, path, a, mask, val_worst(e, d, most));
    }
    if (n.ty) {
        bool whole = dt_is_int(d) || d == DT_BOOL, half = !whole && dtype_info[d].bits == 16;
        DType mean = whole || e_numba(e) ? DT_F64 : d, acc = half && !e_numba(e) ? DT_F32 : mean;
        Val sum = reduced(e, span, "numpy.sum", a, mask, val_const_float(e, SCALAR(acc, false), 0, 0));
        if (val_poisoned(sum)) return sum;
        sum = eval_arith(e, PYB_TRUEDIV, SCALAR(acc, false), sum, val_convert(e, n, SCALAR(acc, false)));
        return val_convert(e, sum, SCALAR(mean, false));
    }
    bool one = strcmp(name, "prod") == 0 || strcmp(name, "all") == 0;
    return reduced(e, span, path, a, mask, val_convert(e, val_int(e, one), SCALAR(d, false)));
}

/* ---- a[mask] = values ------------------------------------------------------------------------------------------- */
typedef struct Filling {
    PySpan span;
    Val target, values;
    Cell next; /* which value comes next */
} Filling;

static void put_next(Eval *e, void *context, const Val *index, Val chosen) {
    Filling *f = context;
    if (val_poisoned(chosen)) return;
    BlockId store = e_new_block(e), done = e_new_block(e);
    e_branch(e, val_ref(e, chosen), store, done);
    e_set_block(e, store);
    Val k = cell_get(e, &f->next), at = val_convert(e, k, e_python_int(e));
    Val v = many_element(e, f->span, f->values, 1, &at);
    if (!val_poisoned(v)) array_put(e, f->span, f->target, index, v);
    cell_set(e, &f->next, eval_arith(e, PYB_ADD, f->next.type, k, val_const_int(e, f->next.type, 1)));
    e_jump(e, done);
    e_set_block(e, done);
}

/* The mask as an array of the thread's own, if it is small: it may be made of what is written. */
static Val mask_now(Eval *e, PySpan span, Val target, Val mask) {
    Wide total;
    if (sizes_known(mask.ty->ndim, many_shape(mask), &total)) return array_copied(e, span, mask);
    array_read_ahead(e, span, target, mask);
    return mask;
}

void mask_put(Eval *e, PySpan span, Val target, Val mask, Val values) {
    Wide total;
    Scalar i64 = SCALAR(DT_I64, false);
    PySpan at = e->value_span.line ? e->value_span : span;
    if (!array_writable(e, span, target)) return;
    if (values.ty->kind == TY_TUPLE) values = array_from_sequence(e, at, values, DT_NONE);
    if (val_poisoned(values) || !array_mask_matches(e, span, target, mask) || !many_fresh(e, span, mask)) return;
    if (values.ty->dtype == DT_RECORD || target.ty->dtype == DT_RECORD || values.ty->ndim != 1) {
        e_fail(e, at, "store them one by one, in a loop", DIAG_STORE_TYPE, e_text(e, target), e_text(e, values));
        return;
    }
    if (!e->building || !many_fresh(e, at, values)) return;
    if (many_settled(e, at, "this assignment", &values, &total)) values = array_copied(e, at, values);
    else array_keep_apart(e, span, target, values);
    mask = mask_now(e, span, target, mask);
    if (val_poisoned(values) || val_poisoned(mask)) return;
    CallSite site = {.span = span, .name = "np.count_nonzero"};
    Val n = call_devfn(e, &site, devfn_find("numpy.count_nonzero"), 1, &mask), size = many_size(values, 0);
    Ref count = val_conv_ref(e, n, DT_I64), given = val_ref(e, size);
    Ref differs = e_cmp(e, PRED_NE, count, given), several = e_cmp(e, PRED_NE, given, e_int(e, T_I64, 1));
    e_raise_if(e, span, e_op2(e, OP_AND, T_BOOL, differs, several), "ValueError",
               "the mask takes another number of elements than there are values");
    Val every = val_rt_int(e, count); /* one value goes to all */
    Filling f = {span, target, many_stretched(e, span, values, 1, &every), cell_new(e, i64, val_const_int(e, i64, 0))};
    many_walk(e, span, mask, target.ty->ndim, many_shape(target), REF_NONE, put_next, &f);
}
