/* cachefns.c - gpu.load and gpu.store: elements with a hint for the caches, or several neighbours at once. Neither
 * changes a result.
 *
 * Neighbours are loads and stores of elements that say what the first address is a multiple of; LLVM makes one access
 * of them. Where the compiler doesn't know the alignment, the kernel looks at the address and has both ways. */
#include "devfns.h"
#include "evaluator.h"

#include <string.h>

enum { MOST_WIDTH = 16, WIDE_BYTES = 16 /* the widest access */ };

typedef struct Hint {
    const char *name;
    uint16_t flags;
} Hint;

/* Elements from an address on. */
typedef struct Access {
    Val array;
    Ref at;
    DType dtype;
    uint16_t flags;
    uint32_t n;
} Access;

/* ---- arguments ----------------------------------------------------------------------------------------------- */
static bool choose(Eval *e, const CallSite *site, Val v, uint32_t n, const Hint *hints, uint16_t *out) {
    const char *s, *all = "one of";
    if (!v.ty) return true;
    if (!val_as_str(e, v, &s)) {
        e_fail(e, site->span, NULL, DIAG_ARG_CONSTANT, site->name, "cache", e_text(e, v));
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (strcmp(s, hints[i].name) == 0) return *out = hints[i].flags, true;
        all = arena_printf(e->arena, "%s%s '%s'", all, i ? "," : "", hints[i].name);
    }
    e_fail(e, site->span, all, DIAG_ARG_VALUE, site->name, arena_printf(e->arena, "cache '%s' isn't known", s));
    return false;
}

static bool right_width(Eval *e, const CallSite *site, Wide n, Val array) {
    if (n < 1 || n > MOST_WIDTH || n & (n - 1))
        e_fail(e, site->span, "1, 2, 4, 8 or 16", DIAG_ARG_VALUE, site->name,
               "the number of neighbours is a power of 2");
    else if (array.ty->ndim == 0)
        e_fail(e, site->span, "x[()] reads it", DIAG_ARG_VALUE, site->name, "a 0-d array has no neighbours");
    else return true;
    return false;
}

static bool begin(Eval *e, const CallSite *site, Val array, Val index, bool written, Access *out) {
    if (array.ty->kind != TY_ARRAY || array.ty->weak) {
        bad_arg(e, site, 0, array, "the first argument is the array, the second the index");
        return false;
    }
    if (!want_numbers(e, site, 0, array)) return false;
    if (!array_address(e, arg_span(site, 1), array, index, written, &out->at)) return false;
    out->array = array;
    out->dtype = val_dtype(array);
    /* memory of the block and of the thread has no caches to choose from */
    if (array.ty->space != T_PTR) out->flags &= (uint16_t)~MEM_HINTS;
    return true;
}

/* ---- alignment ------------------------------------------------------------------------------------------------- */

/* Of all elements together, as far as one access reaches. */
static unsigned whole_bytes(const Access *x) {
    unsigned bytes = x->n * dtype_info[x->dtype].bytes;
    return bytes < WIDE_BYTES ? bytes : WIDE_BYTES;
}

static bool can_be_wide(const Access *x) {
    return x->n > 1 && x->array.ty->layout == LAYOUT_C && !(x->flags & MEM_VOLATILE);
}

/* The flags of element k: where an access may begin, they say what its address is a multiple of. */
static uint16_t flags_at(const Access *x, uint32_t k, bool wide) {
    unsigned bytes = whole_bytes(x), at = k * dtype_info[x->dtype].bytes;
    return wide && at % bytes == 0 ? (uint16_t)(x->flags | mem_align_flag(bytes)) : x->flags;
}

/* ---- loads ------------------------------------------------------------------------------------------------------- */
static void load_parts(Eval *e, const Access *x, bool wide, Ref (*out)[2]) {
    Type t = dtype_info[x->dtype].ir;
    for (uint32_t k = 0; k < x->n; k++) {
        Ref at = array_neighbour(e, x->array, x->at, k);
        out[k][0] = e_emit(e, OP_LOAD, t, 1, &at, flags_at(x, k, wide), 0);
        out[k][1] = REF_NONE;
        if (!dt_is_complex(x->dtype)) continue;
        at = imag_address(e, x->dtype, at);
        out[k][1] = e_emit(e, OP_LOAD, t, 1, &at, x->flags, 0);
    }
}

/* Both ways, and what they read. */
static void load_either(Eval *e, const Access *x, Ref (*out)[2]) {
    Ref ways[2][MOST_WIDTH][2];
    BlockId ends[2], wide = e_new_block(e), narrow = e_new_block(e), joined = e_new_block(e);
    Ref aligned = e_emit(e, OP_ALIGNED, T_BOOL, 1, &x->at, 0, whole_bytes(x));
    e_branch(e, aligned, wide, narrow);
    for (int way = 0; way < 2; way++) {
        e_set_block(e, way ? narrow : wide);
        load_parts(e, x, way == 0, ways[way]);
        ends[way] = e_current(e);
        e_jump(e, joined);
    }
    e_set_block(e, joined);
    unsigned parts = dt_is_complex(x->dtype) ? 2 : 1;
    for (uint32_t k = 0; k < x->n; k++) {
        for (unsigned p = 0; p < 2; p++) {
            out[k][p] = p < parts ? e_phi(e, dtype_info[x->dtype].ir) : REF_NONE;
            for (int way = 0; way < 2 && p < parts; way++) e_phi_add(e, out[k][p], ends[way], ways[way][k][p]);
        }
    }
}

Val fn_load(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"ary", "idx", "?cache", "?width"};
    static const Hint hints[] = {{"ca", 0}, {"cg", MEM_L2}, {"cs", MEM_STREAM}, {"lu", MEM_LAST}, {"cv", MEM_VOLATILE}};
    Val v[4], items[MOST_WIDTH];
    Ref parts[MOST_WIDTH][2];
    Access x = {.n = 1};
    Wide width = 1;
    if (!call_bind(e, site, n, args, 4, params, v) ||
        !choose(e, site, v[2], sizeof hints / sizeof *hints, hints, &x.flags) || !begin(e, site, v[0], v[1], false, &x))
        return val_poison(e);
    bool several = v[3].ty && v[3].ty->kind != TY_NONE;
    if (several && !val_as_int(v[3], &width))
        return e_fail(e, site->span, NULL, DIAG_ARG_CONSTANT, site->name, "width", e_text(e, v[3]));
    if (several && !right_width(e, site, width, v[0])) return val_poison(e);
    x.n = (uint32_t)width;
    if (can_be_wide(&x)) load_either(e, &x, parts);
    else load_parts(e, &x, false, parts);
    for (uint32_t k = 0; k < x.n; k++) items[k] = val_scalar(e, typed(x.dtype), parts[k]);
    return several ? val_tuple(e, x.n, items) : items[0];
}

/* ---- stores ------------------------------------------------------------------------------------------------------ */
static void store_parts(Eval *e, const Access *x, bool wide, const Val *values) {
    for (uint32_t k = 0; k < x->n; k++) {
        Ref at = array_neighbour(e, x->array, x->at, k);
        e_emit(e, OP_STORE, T_VOID, 2, (Ref[]){at, values[k].ref[0]}, flags_at(x, k, wide), 0);
        if (!dt_is_complex(x->dtype)) continue;
        at = imag_address(e, x->dtype, at);
        e_emit(e, OP_STORE, T_VOID, 2, (Ref[]){at, values[k].ref[1]}, x->flags, 0);
    }
}

static void store_either(Eval *e, const Access *x, const Val *values) {
    BlockId wide = e_new_block(e), narrow = e_new_block(e), joined = e_new_block(e);
    Ref aligned = e_emit(e, OP_ALIGNED, T_BOOL, 1, &x->at, 0, whole_bytes(x));
    e_branch(e, aligned, wide, narrow);
    for (int way = 0; way < 2; way++) {
        e_set_block(e, way ? narrow : wide);
        store_parts(e, x, way == 0, values);
        e_jump(e, joined);
    }
    e_set_block(e, joined);
}

/* The values in the array's type; false: reported. */
static bool stored_values(Eval *e, const CallSite *site, DType d, uint32_t n, const Val *given, Val *out) {
    for (uint32_t k = 0; k < n; k++) {
        if (!val_is_scalar(given[k])) {
            bad_arg(e, site, 2, given[k], "an element is one number");
            return false;
        }
        out[k] = array_stored(e, arg_span(site, 2), d, given[k]);
        if (val_poisoned(out[k])) return false;
        out[k].ref[0] = val_re(e, out[k]);
        if (dt_is_complex(d)) out[k].ref[1] = val_im(e, out[k]);
    }
    return true;
}

Val fn_store(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"ary", "idx", "val", "?cache"};
    static const Hint hints[] = {{"wb", 0}, {"cg", MEM_L2}, {"cs", MEM_STREAM}, {"wt", MEM_VOLATILE}};
    Val v[4], values[MOST_WIDTH];
    Access x = {.n = 1};
    if (!call_bind(e, site, n, args, 4, params, v) ||
        !choose(e, site, v[3], sizeof hints / sizeof *hints, hints, &x.flags) || !begin(e, site, v[0], v[1], true, &x))
        return val_poison(e);
    bool several = v[2].ty->kind == TY_TUPLE;
    if (several && !right_width(e, site, v[2].ty->n, v[0])) return val_poison(e);
    if (several) x.n = v[2].ty->n;
    if (!stored_values(e, site, x.dtype, x.n, several ? v[2].items : &v[2], values)) return val_poison(e);
    if (can_be_wide(&x)) store_either(e, &x, values);
    else store_parts(e, &x, false, values);
    return val_none(e);
}
