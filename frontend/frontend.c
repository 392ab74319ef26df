/* frontend.c - the frontend's entry: argument types become parameters and values, the function is inferred and built.
 */
#include "evaluator.h"

#include <string.h>

/* ---- texts of argument types --------------------------------------------------------------------------- */
static const char *tuple_text(Arena *arena, const ArgType *t) {
    static const char *const forms[] = {"tuple(", "instance(", "dict(", "partial("};
    const char *s = forms[t->form];
    for (uint32_t i = 0; i < t->nitems; i++)
        s = arena_printf(arena, "%s%s%s", s, i ? ", " : "", argtype_text(arena, &t->items[i]));
    return arena_printf(arena, "%s)", s);
}

const char *argtype_text(Arena *arena, const ArgType *t) {
    static const char *const layouts[] = {"C", "F", "A"};
    switch ((ArgKind)t->kind) {
    case ARG_NONE: return "None";
    case ARG_WEAK_BOOL: return "bool (weak)";
    case ARG_WEAK_INT: return "int (weak)";
    case ARG_WEAK_FLOAT: return "float (weak)";
    case ARG_WEAK_COMPLEX: return "complex (weak)";
    case ARG_SCALAR: return dtype_info[t->dtype].name;
    case ARG_ARRAY:
        return arena_printf(
            arena, "array(%s, %ud, %s%s%s)", t->record ? record_text(arena, t->record) : dtype_info[t->dtype].name,
            t->ndim, layouts[t->layout], t->readonly ? ", readonly" : "", !t->record && t->align ? ", unaligned" : "");
    case ARG_POINTER: return arena_printf(arena, "%s*", dtype_info[t->dtype].name);
    case ARG_RECORD: return record_text(arena, t->record);
    case ARG_TUPLE: return tuple_text(arena, t);
    case ARG_TEXT: return "text";
    case ARG_OBJECT: return "object";
    }
    return "?";
}

/* The size stands for the layout: names are told apart by the module that they are in. */
static const char *mangled_record(Arena *arena, const Record *r) { return arena_printf(arena, "V%u", r->bytes); }

/* Short and readable, such as saxpy_f_f4c1_f4c1; what isn't a letter or digit becomes '_'. */
static const char *mangled_arg(Arena *arena, const ArgType *t) {
    static const char *const codes[DT__COUNT] = {"b1", "i1", "i2",  "i4", "i8", "u1", "u2", "u4",
                                                 "u8", "f2", "bf2", "f4", "f8", "c8", "c16"};
    static const char layouts[] = "cfa";
    switch ((ArgKind)t->kind) {
    case ARG_NONE: return "n";
    case ARG_WEAK_BOOL: return "b";
    case ARG_WEAK_INT: return "i";
    case ARG_WEAK_FLOAT: return "f";
    case ARG_WEAK_COMPLEX: return "c";
    case ARG_SCALAR: return codes[t->dtype];
    case ARG_ARRAY:
        return arena_printf(arena, "%s%c%u%s", t->record ? mangled_record(arena, t->record) : codes[t->dtype],
                            layouts[t->layout], t->ndim, t->readonly ? "r" : "");
    case ARG_POINTER: return arena_printf(arena, "p%s", codes[t->dtype]);
    case ARG_RECORD: return mangled_record(arena, t->record);
    case ARG_TUPLE: {
        const char *s = "t";
        for (uint32_t i = 0; i < t->nitems; i++) s = arena_printf(arena, "%s%s", s, mangled_arg(arena, &t->items[i]));
        return arena_printf(arena, "%s$", s);
    }
    case ARG_TEXT:
    case ARG_OBJECT: break;
    }
    return "o";
}

/* Of a symbol that is too long to read, the beginning and a hash of all. */
static const char *shortened(Arena *arena, const char *s) {
    enum { MOST = 200, KEPT = 160 };
    if (strlen(s) <= MOST) return s;
    uint64_t h = UINT64_C(14695981039346656037);
    for (const char *p = s; *p; p++) h = (h ^ (unsigned char)*p) * UINT64_C(1099511628211);
    return arena_printf(arena, "%.*s_%016llx", KEPT, s, (unsigned long long)h);
}

const char *frontend_mangle(Arena *arena, const char *name, const ArgType *args, uint32_t nargs) {
    char *s = arena_strdup(arena, name);
    for (char *p = s; *p; p++) {
        bool word =
            (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_' || (*p >= '0' && *p <= '9' && p > s);
        if (!word) *p = '_';
    }
    for (uint32_t i = 0; i < nargs; i++) s = arena_printf(arena, "%s_%s", s, mangled_arg(arena, &args[i]));
    return shortened(arena, s);
}

/* ---- arguments as values --------------------------------------------------------------------------------- */
typedef struct Params {
    Eval *e;
    uint16_t leaf;
} Params;

static Ref add_param(Params *p, ParamKind kind, unsigned axis, Type type, unsigned flags, unsigned align,
                     const char *name) {
    Eval *e = p->e;
    if (!e->building) return REF_NONE;
    IrParam param = {.kind = (uint8_t)kind,
                     .axis = (uint16_t)axis,
                     .type = (uint8_t)type,
                     .flags = (uint8_t)flags,
                     .leaf = p->leaf,
                     .align = (uint16_t)align,
                     .name = name};
    VEC_PUSH(e->arena, &e->m->params, param);
    return e_emit(e, OP_PARAM, type, 0, NULL, 0, e->m->params.n - 1);
}

static Val array_argument(Params *p, const ArgType *a, const char *name) {
    Eval *e = p->e;
    Ref shape[MAX_NDIM], strides[MAX_NDIM];
    unsigned part = a->align ? a->align : type_bytes(dtype_info[a->dtype].ir);
    unsigned flags =
        (a->readonly ? (unsigned)PARAM_READONLY : 0) | (e->req->facts & FACT_NOALIAS ? (unsigned)PARAM_NOALIAS : 0);
    Ref data = add_param(p, PARAM_DATA, 0, T_PTR, flags, e->req->facts & FACT_ALIGN16 ? 16 : part, name);
    for (unsigned k = 0; k < a->ndim; k++) shape[k] = add_param(p, PARAM_SHAPE, k, T_I64, 0, 0, name);
    for (unsigned k = 0; k < a->ndim; k++)
        strides[k] = a->layout == LAYOUT_A ? add_param(p, PARAM_STRIDE, k, T_I64, 0, 0, name) : REF_NONE;
    p->leaf++;
    return array_param(e, a, data, shape, strides);
}

static Val scalar_argument(Params *p, DType d, bool weak, const char *name) {
    Eval *e = p->e;
    Type t = dtype_info[d].ir;
    Ref re = add_param(p, PARAM_SCALAR, 0, t, 0, 0, name);
    Ref im = dt_is_complex(d) ? add_param(p, PARAM_SCALAR, 1, t, 0, 0, name) : REF_NONE;
    p->leaf++;
    return val_scalar(e, SCALAR(d, weak && e->dialect == DIALECT_NUMPY), (Ref[2]){re, im});
}

/* It may point into any array. */
static Val pointer_argument(Params *p, const ArgType *a, const char *name) {
    Eval *e = p->e;
    Ref at = add_param(p, PARAM_SCALAR, 0, T_PTR, 0, type_bytes(dtype_info[a->dtype].ir), name);
    p->leaf++;
    return pointer_at(e, elem_scalar((DType)a->dtype), T_PTR, at);
}

static bool any_pointer(const ArgType *args, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (args[i].kind == ARG_POINTER || (args[i].kind == ARG_TUPLE && any_pointer(args[i].items, args[i].nitems)))
            return true;
    return false;
}

/* The object whose parts these are. */
static Val parts_argument(Eval *e, const ArgType *a, const Val *items) {
    TyKind kind = a->form == FORM_INSTANCE ? TY_INSTANCE : TY_TUPLE;
    if (a->form == FORM_PARTIAL) return make_partial(e, items[0], items[1], items[2]);
    if (a->form != FORM_DICT)
        return (Val){.ty = ty_composite(e->types, kind, 0, a->nitems, items, a->object, NULL, a->fields),
                     .items = items};
    Val *pairs = ARENA_ARRAY(e->arena, Val, 2 * a->nitems + 1);
    for (uint32_t i = 0; i < a->nitems; i++) {
        pairs[2 * i] = val_object(e, e->host->make_str(e->host->self, a->fields[i]));
        pairs[2 * i + 1] = items[i];
    }
    return dict_of(e, a->nitems, pairs);
}

/* Words of the record's bytes, which are put together in memory of the thread; LLVM takes what is read from the words
 * themselves. In the Numba dialect, the address of the caller's record. */
static Val record_argument(Params *p, const ArgType *a, const char *name) {
    Eval *e = p->e;
    uint32_t words = (a->record->bytes + 7) / 8;
    bool numba = e->dialect == DIALECT_NUMBA;
    if (record_is_time(a->record)) {
        Ref ticks = add_param(p, PARAM_RECORD, 0, T_U64, 0, 0, name);
        p->leaf++;
        return time_of(e, a->record, val_typed(e, DT_I64, e_conv(e, T_I64, ticks)));
    }
    if (numba) {
        Ref at = add_param(p, PARAM_DATA, 0, T_PTR, 0, a->align, name);
        p->leaf++;
        return record_at(e, elem_record(a->record, a->align), a->readonly, T_PTR, at);
    }
    Ref at = e_emit(e, OP_ALLOCA, T_PTRL, 0, NULL, 0, words * 8u);
    for (uint32_t i = 0; i < words; i++) {
        Ref word = add_param(p, PARAM_RECORD, i, T_U64, 0, 0, name);
        e_store(e, record_offset(e, T_PTRL, at, i * 8u), word);
    }
    p->leaf++;
    return record_at(e, elem_record(a->record, a->record->align), true, T_PTRL, at);
}

static Val argument(Params *p, const ArgType *a, const char *name) {
    Eval *e = p->e;
    switch ((ArgKind)a->kind) {
    case ARG_NONE: return val_none(e);
    case ARG_WEAK_BOOL: return scalar_argument(p, DT_BOOL, true, name);
    case ARG_WEAK_INT: return scalar_argument(p, DT_I64, true, name);
    case ARG_WEAK_FLOAT: return scalar_argument(p, DT_F64, true, name);
    case ARG_WEAK_COMPLEX: return scalar_argument(p, DT_C128, true, name);
    case ARG_SCALAR: return scalar_argument(p, (DType)a->dtype, false, name);
    case ARG_ARRAY: return array_argument(p, a, name);
    case ARG_POINTER: return pointer_argument(p, a, name);
    case ARG_RECORD: return record_argument(p, a, name);
    case ARG_TUPLE: {
        Val *items = ARENA_ARRAY(e->arena, Val, a->nitems + 1);
        for (uint32_t i = 0; i < a->nitems; i++)
            items[i] = argument(p, &a->items[i],
                                a->fields ? arena_printf(e->arena, "%s.%s", name, a->fields[i])
                                          : arena_printf(e->arena, "%s[%u]", name, i));
        return parts_argument(e, a, items);
    }
    case ARG_OBJECT: return val_object(e, a->object);
    case ARG_TEXT: break; /* comes from kernels alone */
    }
    return val_poison(e);
}

/* The values of all parameters: an argument's, or the parameter's default. False: one is missing. */
static bool arguments(Eval *e, const PyFunc *f, Val *out) {
    Params p = {.e = e};
    for (uint32_t i = 0; i < f->params.n; i++) {
        const PyParam *param = &f->params.at[i];
        if (i < e->req->nargs) {
            out[i] = argument(&p, &e->req->args[i], param->name);
            continue;
        }
        HostRef d =
            param->vararg || param->varkw ? NULL : e->host->default_value(e->host->self, e->req->function, param->name);
        if (!d) return false;
        out[i] = val_object(e, d);
    }
    if (e->building && any_pointer(e->req->args, e->req->nargs)) expect_overlap(e);
    return true;
}

enum { MAX_ROUNDS = 200 };

/* What a mistake in a loop makes of the loop's variables hides the mistake from the builder: inference met it. */
static void report_untyped(Eval *e) {
    for (uint32_t i = 0; i < e->unheard.diags.n; i++) VEC_PUSH(e->arena, &e->diags->diags, e->unheard.diags.at[i]);
    e->diags->nerrors += e->unheard.nerrors;
    if (!e->diags->nerrors) diag_report(e->diags, DIAG_UNTYPED, &e->untyped);
}

/* ---- the entry ----------------------------------------------------------------------------------------- */
static bool kernel_arguments(Eval *e, const PyFunc *f, Val *out) {
    Instance here = {.f = f, .callee = {.code = e->req->function, .globals = e->req->function}};
    Frame fr = {.inst = &here, .at = {.file = f->file, .function = f->qualname, .span = {.line = f->first_line}}};
    e->frame = &fr;
    for (uint32_t i = 0; i < f->params.n; i++)
        if (i >= e->req->nargs && (f->params.at[i].vararg || f->params.at[i].varkw)) {
            e->building = true;
            e_fail(e, (PySpan){0}, "give it a fixed list of parameters", DIAG_PARAMETER_KIND, f->params.at[i].name);
            return false;
        }
    bool ok = arguments(e, f, out);
    if (!ok) {
        e->building = true;
        e_fail(e, (PySpan){0}, NULL, DIAG_TOO_FEW_ARGS, f->qualname, f->params.n, e->req->nargs);
    }
    e->frame = NULL;
    return ok;
}

IrModule *frontend_compile(Arena *arena, const FrontendRequest *req, DiagList *diags, TypedSpans *types) {
    Eval *e = ARENA_NEW(arena, Eval);
    *e = (Eval){.arena = arena, .host = req->host, .req = req, .dialect = req->dialect, .diags = diags, .typed = types};
    e->types = types_new(arena, req->host, req->dialect);
    const PyFunc *f = func_for(e, req->function);
    if (!f || diags->nerrors) return NULL;
    Val *args = ARENA_ARRAY(arena, Val, f->params.n + 1);
    if (!kernel_arguments(e, f, args)) return NULL;
    Callee callee = {.code = req->function, .globals = req->function};
    Instance *inst = infer_instance(e, f, &callee, f->params.n, args);
    /* Each time, another parameter of a recursion has lost its constants, or something that changes is more than it was
     * taken for. */
    for (uint32_t round = 0; !e->spent && (e->restart || (e->again && round < MAX_ROUNDS)); round++) {
        e->restart = e->again = false;
        if (e->lists_wanted > e->lists) { /* what was found of objects so far may be of other types */
            e->lists = e->lists_wanted;
            e->mutables = NULL;
            e->failed_store = (StoreFailure){0};
        }
        forget_instances(e, NULL);
        inst = infer_instance(e, f, &callee, f->params.n, args);
    }
    if (e->spent) return NULL;
    e->m = ir_new(arena, frontend_mangle(arena, f->name, req->args, req->nargs));
    e->m->facts = req->facts;
    e->m->host_function = req->host_function;
    if (!e->m->funcs.n) VEC_PUSH(arena, &e->m->funcs, ((IrFuncName){f->file, f->qualname, def_line(e, f)}));
    e->cur = e->m->blocks.n ? 0 : ir_block(e->m);
    e->building = true;
    if (!kernel_arguments(e, f, args)) return NULL;
    build_kernel(e, inst, args);
    const StoreFailure *store = &e->failed_store;
    if (store->name && !diags->nerrors)
        diag_report(diags, DIAG_CANNOT_UNIFY, &store->at, store->name, store->was, store->is);
    if (!diags->nerrors && e->untyped.file) report_untyped(e);
    if (diags->nerrors) return NULL;
    contract_products(e->m, req->fma);
    return e->m;
}
