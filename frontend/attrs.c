/* attrs.c - attributes: of arrays, numbers, dtypes, tuples, and of host objects, which Python answers. */
#include "arrays.h"
#include "suggest.h"

#include <string.h>

static Val method(Eval *e, const char *family, Val self, const char *name) {
    const DevFn *fn = devfn_find(arena_printf(e->arena, "%s.%s", family, name));
    if (!fn) return (Val){0};
    Val *items = ARENA_NEW(e->arena, Val);
    *items = self;
    return (Val){.ty = ty_composite(e->types, TY_METHOD, 0, 1, items, NULL, fn->path, NULL), .items = items};
}

static const char *const group_families[] = {
    [GROUP_GRID] = "grid_group", [GROUP_BLOCK] = "thread_block", [GROUP_TILE] = "tile"};

static Val scalar_part(Eval *e, Val v, bool imag) {
    DType d = val_dtype(v);
    bool weak = v.ty->weak;
    if (!dt_is_complex(d)) {
        if (d == DT_BOOL && weak) v = val_convert(e, v, e_python_int(e));
        return imag ? val_convert(e, val_int(e, 0), val_sc(v)) : v;
    }
    Scalar part = SCALAR(dtype_info[d].part, weak);
    if (val_const(v)) return val_const_float(e, part, imag ? v.f.im : v.f.re, 0);
    return val_of(e, part, imag ? val_im(e, v) : val_re(e, v));
}

static Val scalar_attr(Eval *e, Val v, const char *name) {
    if (v.member) { /* of an IntEnum */
        HostRef r = e->host->attr(e->host->self, v.member, name);
        if (r) return val_object(e, r);
    }
    if (strcmp(name, "real") == 0) return scalar_part(e, v, false);
    if (strcmp(name, "imag") == 0) return scalar_part(e, v, true);
    if (v.ty->weak && dt_is_int(val_dtype(v)) && strcmp(name, "numerator") == 0) return v;
    if (v.ty->weak && dt_is_int(val_dtype(v)) && strcmp(name, "denominator") == 0) return val_int(e, 1);
    if (!v.ty->weak) {
        if (strcmp(name, "dtype") == 0) return (Val){.ty = ty_dtype(e->types, val_dtype(v))};
        if (strcmp(name, "itemsize") == 0 || strcmp(name, "nbytes") == 0)
            return val_int(e, dtype_info[v.ty->dtype].bytes);
        if (strcmp(name, "ndim") == 0) return val_int(e, 0);
        if (strcmp(name, "size") == 0) return val_int(e, 1);
        if (strcmp(name, "shape") == 0) return val_tuple(e, 0, NULL);
        if (strcmp(name, "T") == 0) return v;
    }
    return method(e, "scalar", v, name);
}

/* x.ctypes.data: Numba's is of type uintp. */
static Val address_of(Eval *e, Val pointer) {
    Ref address = e_emit(e, OP_ADDRESS, T_I64, 1, &pointer.items[0].ref[0], 0, 0);
    return e_numba(e) ? val_typed(e, DT_U64, e_conv(e, T_U64, address)) : val_rt_int(e, address);
}

static Val dtype_attr(Eval *e, Val v, const char *name) {
    static const char kinds[] = "biufcV";
    DType d = val_dtype(v);
    if (strcmp(name, "itemsize") == 0) return val_int(e, elem_bytes(d, v.ty->record));
    if (strcmp(name, "names") == 0) return v.ty->record ? record_names(e, v.ty->record) : val_none(e);
    if (strcmp(name, "type") == 0 || strcmp(name, "dtype") == 0) return v;
    const char *text = NULL;
    if (strcmp(name, "name") == 0 || strcmp(name, "__name__") == 0) text = dtype_info[d].name;
    if (strcmp(name, "kind") == 0) text = arena_printf(e->arena, "%c", kinds[dtype_info[d].kind]);
    HostRef s = text ? e->host->make_str(e->host->self, text) : NULL;
    return s ? val_object(e, s) : (Val){0};
}

static Val range_attr(Val v, const char *name) {
    static const char *const names[] = {"start", "stop", "step"};
    for (int i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0) return v.items[i];
    return (Val){0};
}

static Val object_attr(Eval *e, Val v, const char *name) {
    HostRef r = NULL;
    HostInfo info;
    memset(&info, 0, sizeof info);
    if (e->host->info(e->host->self, v.ty->obj, &info) && (info.kind == HOST_STR || info.kind == HOST_DICT)) {
        Val m = method(e, info.kind == HOST_STR ? "str" : "dict", v, name);
        if (m.ty) return m;
    }
    uint32_t i = 0;
    while (i < e->attrs.n && (e->attrs.at[i].obj != v.ty->obj || strcmp(e->attrs.at[i].name, name) != 0)) i++;
    if (i < e->attrs.n) r = e->attrs.at[i].value;
    else {
        r = e->host->attr(e->host->self, v.ty->obj, name);
        VEC_PUSH(e->arena, &e->attrs, ((AttrEntry){v.ty->obj, r, name}));
    }
    return r ? val_object(e, r) : (Val){0};
}

/* A cffi.FFI, whose from_buffer() Numba programs call for declared functions. */
static bool is_cffi(Eval *e, Val v) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    return e->host->info(e->host->self, v.ty->obj, &info) && info.kind == HOST_OTHER && info.type_name &&
           strcmp(info.type_name, "FFI") == 0;
}

/* The help for an attribute that isn't there: one with a name like it. */
static const char *similar_attr(Eval *e, Val v, const char *name) {
    static const char *const of_arrays[] = {"shape",    "ndim",   "size", "strides", "dtype",
                                            "itemsize", "nbytes", "T",    "flat",    "ctypes"};
    static const char *const of_scalars[] = {"real", "imag", "dtype", "itemsize"};
    static const char *const gone[][3] = {
        {"int", "int", "np.int64"},   {"float", "float", "np.float64"},  {"complex", "complex", "np.complex128"},
        {"bool", "bool", "np.bool_"}, {"float_", "float", "np.float64"}, {"Inf", "np.inf", "math.inf"},
        {"NaN", "np.nan", "math.nan"}};
    static const char *const changing[] = {"append", "extend", "insert", "pop",     "remove",
                                           "sort",   "add",    "update", "discard", "clear"};
    static const char *const of_python[][2] = {{"to_bytes", "shift and mask: (n >> 8 * k) & 255"},
                                               {"as_integer_ratio", "math.frexp(x) gives a fraction and an exponent"},
                                               {"hex", "text has it: f\"{x!r}\"; x.view(np.int64) has the bits"}};
    Suggestion s = {.name = name};
    for (size_t i = 0; v.ty->kind == TY_SCALAR && i < sizeof of_python / sizeof *of_python; i++)
        if (strcmp(name, of_python[i][0]) == 0) return of_python[i][1];
    for (size_t i = 0; v.ty->kind == TY_TUPLE && i < sizeof changing / sizeof *changing; i++)
        if (strcmp(name, changing[i]) == 0)
            return e_numba(e) ? "a list or set in a kernel is a tuple of fixed length: count, and write into "
                                "gpu.local.array(size, dtype)"
                              : "a tuple or set can't be changed: make another one, (*t, x) or {*s, x}, or a list";
    if (v.ty->kind == TY_DICT) return "a dict in a kernel can't be changed: make another one, {**d, 'key': value}";
    HostInfo info;
    memset(&info, 0, sizeof info);
    if (val_is_many(v)) {
        suggest_among(&s, sizeof of_arrays / sizeof *of_arrays, of_arrays);
        suggest_devfn(&s, e->arena, "ndarray.");
    }
    if (v.ty->kind == TY_SCALAR) {
        suggest_among(&s, sizeof of_scalars / sizeof *of_scalars, of_scalars);
        suggest_devfn(&s, e->arena, "scalar.");
    }
    if (v.ty->kind == TY_LIST) suggest_devfn(&s, e->arena, "list.");
    if (v.ty->kind == TY_GROUP) suggest_devfn(&s, e->arena, arena_printf(e->arena, "%s.", group_families[v.ty->sub]));
    if (v.ty->record) suggest_fields(&s, v.ty->record);
    const char *const *fields;
    uint32_t nfields = instance_names(e, v, &fields);
    suggest_among(&s, nfields, fields);
    if (v.ty->kind == TY_OBJECT && e->host->info(e->host->self, v.ty->obj, &info)) {
        const char *of = info.kind == HOST_NAMED ? info.path : info.text;
        if (of && strcmp(of, "gpu.cuda") == 0) of = "gpu";
        if (of) suggest_devfn(&s, e->arena, arena_printf(e->arena, "%s.", of));
    }
    bool numpys = info.kind == HOST_MODULE && info.text && strcmp(info.text, "numpy") == 0;
    for (size_t i = 0; numpys && i < sizeof gone / sizeof *gone; i++)
        if (strcmp(name, gone[i][0]) == 0)
            return arena_printf(e->arena, "NumPy has it no more: write %s, or %s", gone[i][1], gone[i][2]);
    const char *help = suggest_help(e->arena, &s);
    if (help) return help;
    if (info.kind == HOST_NAMED && info.path) return suggest_members(e->arena, info.path);
    if (info.kind == HOST_MODULE && info.text && (strcmp(info.text, "gpu") == 0 || strcmp(info.text, "gpu.cuda") == 0))
        return suggest_home(e->arena, e->dialect, name);
    if (v.ty->kind == TY_SCALAR && devfn_find(arena_printf(e->arena, "numpy.%s", name)))
        return arena_printf(e->arena, "it is a function: np.%s(...)", name);
    return NULL;
}

Val find_attr(Eval *e, PySpan span, Val v, const char *name) {
    Val r = {0};
    const char *text;
    if (val_poisoned(v)) return v;
    switch (v.ty->kind) {
    case TY_ARRAY:
        if (v.ty->weak) break;
        if (strcmp(name, "flat") == 0) return array_flat(e, span, v);
        if (strcmp(name, "ctypes") == 0) return pointer_at(e, elem_of(v.ty), (Type)v.ty->space, array_data(v));
        r = array_attr(e, v, name);
        if (!r.ty) r = method(e, "ndarray", v, name);
        if (!r.ty && v.ty->record) r = record_attr(e, span, v, name);
        break;
    case TY_POINTER: r = strcmp(name, "data") ? r : address_of(e, v); break;
    case TY_EXPR:
        r = array_attr(e, v, name);
        if (!r.ty) r = method(e, "ndarray", v, name);
        break;
    case TY_SCALAR: r = scalar_attr(e, v, name); break;
    case TY_TIME: r = method(e, "time", v, name); break;
    case TY_RECORD:
        r = record_attr(e, span, v, name);
        if (!r.ty) r = method(e, "record", v, name);
        break;
    case TY_DTYPE: r = dtype_attr(e, v, name); break;
    case TY_TUPLE:
        r = v.ty->fields ? method(e, "namedtuple", v, name) : (Val){0};
        if (!r.ty) r = instance_attr(e, span, v, name);
        if (!r.ty) r = method(e, val_is_set(v) ? "set" : "tuple", v, name);
        break;
    case TY_LIST: r = method(e, "list", v, name); break;
    case TY_INSTANCE: r = instance_attr(e, span, v, name); break;
    case TY_SUPER: r = super_attr(e, span, v, name); break;
    case TY_DICT: r = method(e, "dict", v, name); break;
    case TY_RANGE:
    case TY_SLICE:
        r = range_attr(v, name);
        if (!r.ty && v.ty->kind == TY_RANGE) r = method(e, "range", v, name);
        break;
    case TY_OBJECT:
        r = val_as_str(e, v, &text) ? method(e, "str", v, name) : is_cffi(e, v) ? method(e, "cffi", v, name) : (Val){0};
        if (!r.ty) r = object_attr(e, v, name);
        break;
    case TY_TEXT: r = method(e, "str", v, name); break;
    case TY_CHOICE: r = choice_attr(e, span, v, name); break;
    case TY_GROUP: r = method(e, group_families[v.ty->sub], v, name); break;
    default: break;
    }
    return r;
}

Val eval_attr(Eval *e, PySpan span, Val v, const char *name) {
    Val r = find_attr(e, span, v, name);
    if (!r.ty && devfn_find(arena_printf(e->arena, "list.%s", name)) && lists_change(e, v)) return val_poison(e);
    if (!r.ty) r = overloaded_attr(e, span, v, name);
    if (r.ty) return r;
    const char *help = similar_attr(e, v, name);
    if (!help && v.ty->kind == TY_ARRAY && v.ty->record) help = fields_text(e->arena, v.ty->record);
    if (!help && v.ty->kind == TY_RECORD) help = fields_text(e->arena, v.ty->record);
    if (!help && v.ty->kind == TY_ARRAY && !v.ty->weak)
        help = "write a loop over the elements, or call the method before the launch";
    if (v.ty->kind == TY_OBJECT) { /* of a class itself, or of an object of one */
        const char *numbas = numba_help_for(e, v.ty->obj);
        help = numbas ? numbas : help;
    }
    return e_fail(e, span, help, DIAG_NO_ATTRIBUTE, ty_text(e->types, v.ty), name);
}
