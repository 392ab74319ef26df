/* sharedfns.c - arrays that a kernel makes (gpu.shared.array, gpu.local.array, gpu.const.array_like), barriers
 * and fences.
 *
 * A shared array belongs to the place in the source that makes it, as a `__shared__` variable of CUDA C does: a loop,
 * or a function that is called twice, gets the same one again. Dynamic ones (shape 0) all start where the static ones
 * end, and are as long as the launch says. */
#include "warpfns.h"

#include <string.h>

enum { STATIC_SHARED = 48 * 1024, LOCAL_BYTES = 512 * 1024, ALLOCA_ALIGN = 16, MOST_ALIGN = 1024 };

/* ---- arguments ------------------------------------------------------------------------------------------- */
typedef struct Request {
    Elem elem;
    uint32_t ndim, align;
    Val shape[MAX_NDIM];
    Wide bytes;
    bool dynamic;
} Request;

static const Val *axes_of(const Val *shape, uint32_t *n) {
    if (shape->ty->kind != TY_TUPLE) return *n = 1, shape;
    *n = shape->ty->n;
    return shape->items;
}

/* Sizes are constants: the compiler lays memory out. */
static bool read_shape(Eval *e, const CallSite *site, Val shape, bool may_be_dynamic, Request *r) {
    const Val *axes = axes_of(&shape, &r->ndim);
    Wide size = 1;
    if (r->ndim > MAX_NDIM || r->ndim == 0) {
        e_fail(e, arg_span(site, 0), "such as 64 or (8, 8)", DIAG_ARG_VALUE, site->name,
               r->ndim ? "an array has at most 16 axes" : "an array needs an axis");
        return false;
    }
    for (uint32_t k = 0; k < r->ndim; k++) {
        Wide n;
        bool integer = val_is_scalar(axes[k]) && dt_is_int(val_dtype(axes[k]));
        if (!integer || !val_as_int(axes[k], &n)) {
            Diag *d = e_diag(e, arg_span(site, 0), DIAG_ARG_CONSTANT, site->name, "shape", e_text(e, axes[k]));
            e_help(e, d, "%s",
                   !integer         ? "a size is an integer"
                   : may_be_dynamic ? "use numbers, globals, or variables of an enclosing function; "
                                      "gpu.shared.array(0, dtype) takes its size from the launch"
                                    : SIZE_HELP);
            e_numba_says(e, d,
                         "No implementation of function Function(<function %s>) found for signature:\n \n "
                         ">>> array(shape=%s, dtype=class(%s))",
                         strncmp(site->name, "cuda.", 5) ? site->name : site->name + 5, numba_type_text(e, shape),
                         elem_text(e->arena, r->elem.dtype, r->elem.record));
            return false;
        }
        if (n < 0 || (n == 0 && (!may_be_dynamic || r->ndim > 1))) {
            e_fail(e, arg_span(site, 0),
                   may_be_dynamic ? "shape 0 stands for dynamic shared memory, in one axis; view() and reshape() give "
                                    "it others"
                                  : NULL,
                   DIAG_ARG_VALUE, site->name, "sizes must be above 0");
            return false;
        }
        r->shape[k] = val_int(e, n);
        size = size > INT32_MAX ? size : size * n;
    }
    r->dynamic = size == 0;
    r->bytes = size * elem_size(r->elem);
    return true;
}

/* That of an element at the least. */
static bool read_align(Eval *e, const CallSite *site, Val v, Request *r) {
    Wide align = 0;
    r->align = r->elem.align;
    if (!v.ty || v.ty->kind == TY_NONE) return true;
    if (!val_is_scalar(v) || !dt_is_int(val_dtype(v)) || !val_as_int(v, &align)) {
        Diag *d = e_diag(e, site->span, DIAG_ARG_CONSTANT, site->name, "alignment", e_text(e, v));
        e_numba_says(e, d, "RequireLiteralValue: alignment must be a constant integer");
        return false;
    }
    if (align < 1 || align > MOST_ALIGN || (align & (align - 1))) {
        e_fail(e, site->span, NULL, DIAG_ALIGNMENT, site->name, MOST_ALIGN, wide_text(e->arena, align));
        return false;
    }
    if (align > r->align) r->align = (uint32_t)align;
    return true;
}

static bool read_request(Eval *e, const CallSite *site, uint32_t n, const Val *args, bool shared, Request *r) {
    static const char *const params[] = {"shape", "dtype", "?alignment"};
    Val v[3];
    *r = (Request){.bytes = 0};
    if (!call_bind(e, site, n, args, 3, params, v)) return false;
    const char *text;
    if (!val_elem_named(e, v[1], &r->elem) && val_as_str(e, v[1], &text)) {
        e_fail(e, arg_span(site, 1), "a dtype is written np.float32 or \"float32\"", DIAG_ARG_VALUE, site->name,
               arena_printf(e->arena, "Invalid NumPy dtype specified: '%s'", text));
        return false;
    }
    if (!val_elem_named(e, v[1], &r->elem)) {
        Diag *d = e_diag(e, arg_span(site, 1), DIAG_ARG_TYPE, site->name, e_text(e, v[1]));
        e_help(e, d, "%s", "a dtype is written np.float32 or \"float32\"");
        numba_untyped(e, d, site->span);
        return false;
    }
    return read_shape(e, site, v[0], shared, r) && read_align(e, site, v[2], r);
}

/* ---- making arrays ----------------------------------------------------------------------------------------- */
/* What a message says of it. */
static ImageShared shown(const Request *r) {
    ImageShared s = {.dtype = (uint8_t)r->elem.dtype, .item = (uint16_t)elem_size(r->elem)};
    if (r->dynamic || r->ndim > sizeof s.shape / sizeof *s.shape) return s;
    s.ndim = (uint8_t)r->ndim;
    for (uint32_t k = 0; k < r->ndim; k++) s.shape[k] = (int64_t)r->shape[k].i;
    return s;
}

static uint32_t shared_index(Eval *e, const CallSite *site, const Request *r) {
    const Instance *inst = e->frame->inst;
    for (uint32_t i = 0; site->at && i < e->shared.n; i++) {
        const SharedEntry *known = &e->shared.at[i];
        const IrShared *is = &e->m->shared.at[known->index];
        bool copy = site->at->origin && known->at->origin == site->at->origin && is->bytes == r->bytes &&
                    is->align == r->align && is->dynamic == r->dynamic; /* of an unrolled loop */
        if (known->inst == inst && (known->at == site->at || copy)) return known->index;
    }
    IrShared s = {.bytes = (uint32_t)r->bytes, .align = r->align, .dynamic = r->dynamic, .span = e->span};
    s.shown = shown(r);
    VEC_PUSH(e->arena, &e->m->shared, s);
    VEC_PUSH(e->arena, &e->shared, ((SharedEntry){inst, site->at, e->m->shared.n - 1}));
    return e->m->shared.n - 1;
}

static Wide static_bytes(const Eval *e) {
    Wide sum = 0;
    for (uint32_t i = 0; i < e->m->shared.n; i++) {
        const IrShared *s = &e->m->shared.at[i];
        if (!s->dynamic) sum = (sum + s->align - 1) / s->align * s->align + s->bytes;
    }
    return sum;
}

static Val too_large(Eval *e, const CallSite *site, Wide bytes, const char *what, Wide most, const char *help) {
    return e_fail(e, site->span, help, DIAG_ARG_VALUE, site->name,
                  arena_printf(e->arena, "%s takes %s bytes, and there are at most %s", what,
                               wide_text(e->arena, bytes), wide_text(e->arena, most)));
}

static Val make_shared(Eval *e, const CallSite *site, Request *r) {
    static const char help[] =
        "gpu.shared.array(0, dtype) takes its size from the launch, k[grid, block, stream, bytes], "
        "and can be larger";
    if (r->bytes > STATIC_SHARED) return too_large(e, site, r->bytes, "the array", STATIC_SHARED, help);
    Ref data = REF_NONE;
    if (e->building) {
        data = e_emit(e, OP_SHARED, T_PTRS, 0, NULL, 0, shared_index(e, site, r));
        if (static_bytes(e) > STATIC_SHARED)
            return too_large(e, site, static_bytes(e), "with the arrays before, it", STATIC_SHARED, help);
    }
    if (r->dynamic) {
        Ref bytes = e_conv(e, T_I64, e_sreg(e, SREG_DYNAMIC_SHARED));
        Ref size = e_int(e, T_I64, elem_size(r->elem));
        r->shape[0] = val_rt_int(e, e_op2(e, OP_TRUNCDIV, T_I64, bytes, size));
    }
    return array_made(e, r->elem, false, T_PTRS, data, r->ndim, r->shape);
}

Val fn_shared_array(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Request r;
    return read_request(e, site, n, args, true, &r) ? make_shared(e, site, &r) : val_poison(e);
}

Val shared_array(Eval *e, const CallSite *site, DType d, uint32_t ndim, const Val *shape) {
    Request r = {.elem = elem_scalar(d), .ndim = ndim, .align = elem_scalar(d).align};
    r.bytes = dtype_info[d].bytes;
    for (uint32_t k = 0; k < ndim; k++) {
        r.shape[k] = shape[k];
        r.bytes *= shape[k].i;
    }
    return make_shared(e, site, &r);
}

/* Memory of the thread's own has addresses of ALLOCA_ALIGN; beyond that there is room to begin later. */
static Ref local_memory(Eval *e, const Request *r, uint16_t place) {
    uint32_t room = r->align > ALLOCA_ALIGN ? r->align - ALLOCA_ALIGN : 0;
    Ref memory = e_emit(e, OP_ALLOCA, T_PTRL, 0, NULL, place, (uint64_t)r->bytes + room);
    if (!room) return memory;
    Ref address = e_emit(e, OP_ADDRESS, T_I64, 1, &memory, 0, 0);
    Ref missing =
        e_op2(e, OP_AND, T_I64, e_op2(e, OP_SUB, T_I64, e_int(e, T_I64, 0), address), e_int(e, T_I64, r->align - 1));
    return e_emit(e, OP_ADDR, T_PTRL, 2, (Ref[]){memory, missing}, 0, 1);
}

Val fn_local_array(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Request r;
    if (!read_request(e, site, n, args, false, &r)) return val_poison(e);
    if (r.bytes > LOCAL_BYTES)
        return too_large(e, site, r.bytes, "the array", LOCAL_BYTES, "a part of an array argument for each thread");
    uint16_t place = 0;
    if (e->building && e->m->locals.n < UINT16_MAX) {
        VEC_PUSH(e->arena, &e->m->locals, shown(&r));
        place = (uint16_t)e->m->locals.n;
    }
    return array_made(e, r.elem, false, T_PTRL, local_memory(e, &r, place), r.ndim, r.shape);
}

/* A captured array is constant already: in constant memory if it is small. */
Val fn_array_like(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"ndarray"};
    Val a;
    if (!call_bind(e, site, n, args, 1, params, &a)) return val_poison(e);
    bool captured =
        a.ty->kind == TY_ARRAY && a.ty->readonly && a.items[0].ty->kind == TY_PTR &&
        val_is_known((Val){.ty = ty_composite(e->types, TY_TUPLE, 0, a.ty->ndim, a.items + 1, NULL, NULL, NULL),
                           .items = a.items + 1});
    if (captured) return a;
    if (e_numba(e) && a.ty->kind == TY_ARRAY) return a; /* an argument stays where it is, as in Numba */
    return e_fail(e, arg_span(site, 0), "a global, or a variable of an enclosing function, that is a NumPy array",
                  DIAG_ARG_TYPE, site->name, e_text(e, a));
}

/* ---- barriers and fences --------------------------------------------------------------------------------------- */
Val fn_syncthreads(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    if (!no_arguments(e, site, n, args)) return val_poison(e);
    e_emit(e, OP_BARRIER, T_VOID, 0, NULL, 0, 0);
    return val_none(e);
}

/* param: BarrierRed. A Python int or bool; Numba's are int32. */
Val fn_syncthreads_red(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"predicate"};
    Val v;
    if (!call_bind(e, site, n, args, 1, params, &v)) return val_poison(e);
    Val truth = eval_truth(e, site->span, v);
    if (val_poisoned(truth)) return truth;
    Ref p = val_ref(e, truth);
    Ref r = e_emit(e, OP_BARRIER_RED, T_I32, 1, &p, site->fn->param, 0);
    if (e_numba(e)) return val_typed(e, DT_I32, r);
    if (site->fn->param == BARRIER_POPC) return val_rt_int(e, e_conv(e, T_I64, r));
    return val_rt_bool(e, e_conv(e, T_BOOL, r));
}

/* param: Scope */
Val fn_threadfence(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    if (!no_arguments(e, site, n, args)) return val_poison(e);
    e_emit(e, OP_FENCE, T_VOID, 0, NULL, site->fn->param, 0);
    return val_none(e);
}
