/* records.c - elements of structured dtypes: references to records, their fields, whole records.
 *
 * A record is an address and its layout; reading a field loads from there and assigning to it stores there, as with
 * NumPy's records, which are views of their array. A field of an array of records is an array with the records'
 * strides. A field that the kernel can't read (a string, another byte order) is in the way only if it is named. */
#include "devfns.h"
#include "arrays.h"

#include <string.h>

/* ---- text -------------------------------------------------------------------------------------------- */
enum { SHOWN_FIELDS = 12 };

static uint32_t field_bytes(const RecordField *f) {
    uint32_t bytes = elem_bytes(f->dtype, f->record);
    for (uint32_t k = 0; k < f->ndim; k++) bytes *= (uint32_t)f->shape[k];
    return bytes;
}

/* What NumPy takes as the alignment of a field of a dtype that is made from this text. */
static uint32_t written_align(const RecordField *f);

/* Does the dtype lay its fields out one after the other, each where its type wants it if `align`? */
static bool laid_out(const Record *r, bool align) {
    uint32_t at = 0, most = 1;
    for (uint32_t i = 0; i < r->n; i++) {
        const RecordField *f = &r->fields[i];
        if (f->opaque) return true; /* how large it is isn't known here */
        uint32_t a = align ? written_align(f) : 1;
        if (a > most) most = a;
        at = (at + a - 1) / a * a;
        if (f->offset != at) return false;
        at += field_bytes(f);
    }
    return (at + most - 1) / most * most == r->bytes;
}

static uint32_t written_align(const RecordField *f) {
    uint32_t most = 1;
    if (!f->record || f->record->kind) return elem_align(f->dtype, f->record);
    for (uint32_t i = 0; i < f->record->n && laid_out(f->record, true); i++) {
        const RecordField *inner = &f->record->fields[i];
        uint32_t a = inner->opaque ? 1 : written_align(inner);
        if (a > most) most = a;
    }
    return most;
}

static const char *field_text(Arena *a, const RecordField *f) {
    if (f->opaque) return f->opaque;
    const char *s = f->record ? record_text(a, f->record) : dtype_info[f->dtype].name;
    for (uint32_t k = 0; k < f->ndim; k++)
        s = arena_printf(a, "%s%s%lld%s", s, k ? ", " : "[", (long long)f->shape[k], k + 1u < f->ndim ? "" : "]");
    return s;
}

static const char *value_text(Arena *a, const Record *r) {
    if (r->kind == RECORD_BYTES) return arena_printf(a, "S%u", r->bytes);
    if (r->kind == RECORD_TEXT) return arena_printf(a, "U%u", r->bytes / 4);
    const char *name = r->kind == RECORD_DATE ? "datetime64" : "timedelta64";
    return r->unit == UNIT_GENERIC ? name : arena_printf(a, "%s[%s]", name, time_units[r->unit]);
}

const char *record_text(Arena *a, const Record *r) {
    if (r->kind != RECORD_FIELDS) return value_text(a, r);
    const char *s = "record(";
    bool aligned = laid_out(r, true), packed = !aligned && laid_out(r, false);
    for (uint32_t i = 0; i < r->n && i < SHOWN_FIELDS; i++) {
        const RecordField *f = &r->fields[i];
        s = arena_printf(a, "%s%s%s: %s", s, i ? ", " : "", f->name, field_text(a, f));
        if (!aligned && !packed) s = arena_printf(a, "%s @ %u", s, f->offset);
    }
    if (r->n > SHOWN_FIELDS) s = arena_printf(a, "%s, ... %u fields", s, r->n);
    if (!aligned && !packed) return arena_printf(a, "%s, %u bytes)", s, r->bytes);
    return arena_printf(a, packed ? "%s, packed)" : "%s)", s);
}

/* ---- making references --------------------------------------------------------------------------------- */
Val record_at(Eval *e, Elem elem, bool readonly, Type space, Ref at) {
    Val *items = ARENA_NEW(e->arena, Val);
    Ty ty = ty_record(e->types, elem.record, elem.align, readonly, space, NULL);
    *items = (Val){.ty = ty->items[0], .ref = {at, REF_NONE}};
    return (Val){.ty = ty, .items = items};
}

Val record_captured(Eval *e, HostRef obj, const HostArray *a) {
    Val array = array_captured(e, a, false);
    Val *items = ARENA_NEW(e->arena, Val);
    *items = array.items[0];
    Ty ty = ty_record(e->types, a->record, a->record->align, true, (Type)array.ty->space, obj);
    Val r = {.ty = ty, .items = items};
    return record_is_time(a->record) ? time_of(e, a->record, time_ticks(e, a->data)) : r;
}

Ref record_offset(Eval *e, Type space, Ref at, uint32_t bytes) {
    if (!bytes || !e->building) return at;
    return e_emit(e, OP_ADDR, space, 2, (Ref[]){at, e_int(e, T_I64, bytes)}, 0, 1);
}

/* The bytes of a record that was captured; NULL: they aren't known. */
static const char *known_bytes(Eval *e, Val r) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    bool known = r.ty->obj && e->host->info(e->host->self, r.ty->obj, &info) && info.kind == HOST_RECORD;
    return known ? info.array->data : NULL;
}

/* ---- fields -------------------------------------------------------------------------------------------- */
static const RecordField *find_field(const Record *r, const char *name) {
    for (uint32_t i = 0; i < r->n; i++)
        if (strcmp(r->fields[i].name, name) == 0) return &r->fields[i];
    for (uint32_t i = 0; i < r->n; i++)
        if (r->fields[i].title && strcmp(r->fields[i].title, name) == 0) return &r->fields[i];
    return NULL;
}

void suggest_fields(Suggestion *s, const Record *r) {
    for (uint32_t i = 0; i < r->n; i++) suggest_among(s, 1, &r->fields[i].name);
}

const char *fields_text(Arena *a, const Record *r) {
    const char *s = r->n == 1 ? "its field is " : "its fields are ";
    for (uint32_t i = 0; i < r->n && i < SHOWN_FIELDS; i++)
        s = arena_printf(a, "%s%s'%s'", s, i ? ", " : "", r->fields[i].name);
    return r->n > SHOWN_FIELDS ? arena_printf(a, "%s, ...", s) : s;
}

static Val no_field(Eval *e, PySpan span, Val v, const char *name) {
    Suggestion s = {.name = name};
    suggest_fields(&s, v.ty->record);
    const char *help = suggest_help(e->arena, &s);
    return e_fail(e, span, help ? help : fields_text(e->arena, v.ty->record), DIAG_NO_FIELD, ty_text(e->types, v.ty),
                  name);
}

static bool readable(Eval *e, PySpan span, const RecordField *f) {
    if (!f->opaque) return true;
    e_fail(e, span, "the kernel can use the other fields, and copy whole records", DIAG_FIELD_OPAQUE, f->name,
           f->opaque);
    return false;
}

static unsigned aligned_at(unsigned align, uint32_t offset) {
    while (offset % align) align /= 2;
    return align;
}

/* The elements of a field at an address with the alignment of `of`. */
static Elem field_elem(Ty of, const RecordField *f) {
    unsigned align = aligned_at(of->align, f->offset), natural = elem_align(f->dtype, f->record);
    return (Elem){(uint8_t)f->dtype, (uint8_t)(align < natural ? align : natural), f->record};
}

/* The field as an array: of one record, or with `before` axes of the array that it is a field of. */
static Val field_array(Eval *e, PySpan span, Val of, const RecordField *f, uint32_t before, Ref at) {
    Val shape[MAX_NDIM], strides[MAX_NDIM], step = val_int(e, elem_bytes(f->dtype, f->record));
    if (before + f->ndim > MAX_NDIM)
        return e_fail(e, span, NULL, DIAG_CONSTRUCT, "this field",
                      arena_printf(e->arena, "with the array's own it has %u axes", before + f->ndim));
    for (uint32_t k = 0; k < before; k++) {
        shape[k] = of.items[1 + k];
        strides[k] = array_stride(e, of, k);
    }
    for (uint32_t k = f->ndim; k-- > 0;) {
        shape[before + k] = val_int(e, f->shape[k]);
        strides[before + k] = step;
        step = eval_arith(e, PYB_MUL, e_python_int(e), step, shape[before + k]);
    }
    Ty ty = ty_array(e->types, field_elem(of.ty, f), before + f->ndim, before ? LAYOUT_A : LAYOUT_C, of.ty->readonly,
                     (Type)of.ty->space);
    return array_with(e, ty, at, shape, strides);
}

static Val constant_field(Eval *e, const RecordField *f, const char *bytes) {
    DType part = dtype_info[f->dtype].part;
    uint64_t bits[2] = {0, 0};
    bool pair = dt_is_complex(f->dtype);
    for (unsigned i = 0; i <= pair; i++)
        memcpy(&bits[i], bytes + f->offset + i * dtype_info[part].bytes, dtype_info[part].bytes);
    if (!pair) return val_from_bits(e, SCALAR(f->dtype, false), f->dtype == DT_BOOL ? bits[0] != 0 : bits[0]);
    Val re = val_from_bits(e, SCALAR(part, false), bits[0]), im = val_from_bits(e, SCALAR(part, false), bits[1]);
    return val_const_float(e, SCALAR(f->dtype, false), re.f.re, im.f.re);
}

static Val read_field(Eval *e, PySpan span, Val r, const RecordField *f) {
    Type space = (Type)r.ty->space;
    if (!readable(e, span, f)) return val_poison(e);
    const char *bytes = f->ndim || f->record ? NULL : known_bytes(e, r);
    if (bytes) return constant_field(e, f, bytes);
    Ref at = record_offset(e, space, r.items[0].ref[0], f->offset);
    if (f->ndim) return field_array(e, span, r, f, 0, at);
    Elem elem = field_elem(r.ty, f);
    return array_load(e, ty_array(e->types, elem, 0, LAYOUT_C, r.ty->readonly, space), at);
}

static Val read_column(Eval *e, PySpan span, Val array, const RecordField *f) {
    if (!readable(e, span, f)) return val_poison(e);
    return field_array(e, span, array, f, array.ty->ndim,
                       record_offset(e, (Type)array.ty->space, array_data(array), f->offset));
}

/* The one record of an array without dimensions. */
static Val only_record(Eval *e, Val v) {
    bool only = v.ty->kind == TY_ARRAY && !v.ty->ndim;
    return only ? array_load(e, v.ty, array_data(v)) : v;
}

static Val read_any(Eval *e, PySpan span, Val v, const RecordField *f) {
    v = only_record(e, v);
    return v.ty->kind == TY_RECORD ? read_field(e, span, v, f) : read_column(e, span, v, f);
}

/* The host's string of a name, made once: the types of strings are told apart by their objects. */
static HostRef name_object(Eval *e, const char *name) {
    for (uint32_t i = 0; i < e->attrs.n; i++)
        if (!e->attrs.at[i].obj && e->attrs.at[i].name == name) return e->attrs.at[i].value;
    HostRef made = e->host->make_str(e->host->self, name);
    VEC_PUSH(e->arena, &e->attrs, ((AttrEntry){NULL, made, name}));
    return made;
}

Val record_names(Eval *e, const Record *r) {
    Val *items = ARENA_ARRAY(e->arena, Val, r->n + 1);
    for (uint32_t i = 0; i < r->n; i++) items[i] = val_object(e, name_object(e, r->fields[i].name));
    return val_tuple(e, r->n, items);
}

Val record_attr(Eval *e, PySpan span, Val v, const char *name) {
    const RecordField *f = find_field(v.ty->record, name);
    if (f) return read_any(e, span, v, f);
    if (v.ty->kind != TY_RECORD) return (Val){0};
    if (strcmp(name, "dtype") == 0) return (Val){.ty = ty_dtype_of(e->types, elem_of(v.ty))};
    if (strcmp(name, "itemsize") == 0 || strcmp(name, "nbytes") == 0) return val_int(e, v.ty->record->bytes);
    return (Val){0};
}

/* The field that an index names or counts; NULL: reported. */
static const RecordField *indexed_field(Eval *e, PySpan span, Val v, Val index) {
    const Record *r = v.ty->record;
    const char *name;
    Wide i;
    if (e->nindex_spans == 1 && e->index_spans[0].line) span = e->index_spans[0];
    if (v.ty->kind == TY_RECORD && r->kind != RECORD_FIELDS) {
        e_fail(e, span, "strings of a fixed size are compared and assigned whole", DIAG_NOT_INDEXABLE, e_text(e, v));
        return NULL;
    }
    if (!r) {
        e_fail(e, span, "an index is an integer, a slice or a tuple of these", DIAG_INDEX_TYPE, e_text(e, index));
        return NULL;
    }
    if (val_as_str(e, index, &name)) {
        const RecordField *f = find_field(r, name);
        if (!f) no_field(e, span, v, name);
        return f;
    }
    if (!val_as_int(index, &i)) {
        e_fail(e, span, "each field has a type of its own: which one is read is known when compiling",
               DIAG_FIELD_CONSTANT, e_text(e, index));
        return NULL;
    }
    if (i >= (Wide)r->n || i < -(Wide)r->n) {
        e_fail(e, span, fields_text(e->arena, r), DIAG_FIELD_RANGE, wide_text(e->arena, i), r->n);
        return NULL;
    }
    return &r->fields[i < 0 ? i + (Wide)r->n : i];
}

Val record_getitem(Eval *e, PySpan span, Val v, Val index) {
    const RecordField *f = indexed_field(e, span, v, index);
    return f ? read_any(e, span, v, f) : val_poison(e);
}

Val record_tuple(Eval *e, PySpan span, Val v) {
    const Record *r = v.ty->record;
    Val *items = ARENA_ARRAY(e->arena, Val, r->n + 1);
    for (uint32_t i = 0; i < r->n; i++) {
        items[i] = read_field(e, span, v, &r->fields[i]);
        if (val_poisoned(items[i])) return val_poison(e);
    }
    return val_tuple(e, r->n, items);
}

/* ---- assigning ------------------------------------------------------------------------------------------- */
static bool may_write(Eval *e, PySpan span, Val v) {
    if (!v.ty->readonly) return true;
    const char *help =
        v.ty->space == T_PTRC ? "what a kernel captures is constant: pass it as an argument"
        : v.ty->space == T_PTRL
            ? "a record comes by its value: r.copy() may be changed, an array of records brings changes back"
            : "pass a writable array";
    e_fail(e, span, help, DIAG_RECORD_READONLY, ty_text(e->types, v.ty));
    return false;
}

/* view[...] = value */
static void fill_array(Eval *e, PySpan span, Val view, Val value) {
    Val whole[MAX_NDIM], none = val_none(e);
    for (uint32_t k = 0; k < view.ty->ndim; k++) whole[k] = val_composite(e, TY_SLICE, 0, 3, (Val[]){none, none, none});
    eval_setitem(e, span, view, val_tuple(e, view.ty->ndim, whole), value);
}

static void write_field(Eval *e, PySpan span, Val r, const RecordField *f, Val value) {
    Type space = (Type)r.ty->space;
    if (!readable(e, span, f)) return;
    Ref at = record_offset(e, space, r.items[0].ref[0], f->offset);
    Elem elem = field_elem(r.ty, f);
    if (f->ndim) fill_array(e, span, field_array(e, span, r, f, 0, at), value);
    else if (f->record) record_store(e, span, record_at(e, elem, r.ty->readonly, space, at), value);
    else if (val_is_scalar(value)) array_store(e, elem, at, value);
    else
        e_fail(e, e->value_span.line ? e->value_span : span, "the field is one number", DIAG_FIELD_TYPE, f->name,
               dtype_info[f->dtype].name, e_text(e, value));
}

static void write_any(Eval *e, PySpan span, Val v, const RecordField *f, Val value) {
    if (!may_write(e, span, v)) return;
    v = only_record(e, v);
    if (v.ty->kind == TY_RECORD) {
        write_field(e, span, v, f, value);
        return;
    }
    Val view = read_column(e, span, v, f);
    if (!val_poisoned(view)) fill_array(e, span, view, value);
}

void record_setitem(Eval *e, PySpan span, Val v, Val index, Val value) {
    const RecordField *f = indexed_field(e, span, v, index);
    if (f) write_any(e, span, v, f, value);
}

bool record_setattr(Eval *e, PySpan span, Val v, const char *name, Val value) {
    const RecordField *f = find_field(v.ty->record, name);
    if (f) write_any(e, span, v, f, value);
    else no_field(e, span, v, name);
    return f != NULL;
}

enum { UNROLLED_BYTES = 256 };

/* The widest integer at whose multiples both records, and all that is left of them, lie. */
static Type copy_word(unsigned align, uint32_t bytes) {
    align = aligned_at(align, bytes);
    return align >= 8 ? T_U64 : align == 4 ? T_U32 : align == 2 ? T_U16 : T_U8;
}

static void copy_words(Eval *e, Val to, Val from, Type word, uint32_t first, uint32_t n) {
    uint32_t bytes = type_bytes(word);
    Ref *words = ARENA_ARRAY(e->arena, Ref, n + 1);
    for (uint32_t i = 0; i < n; i++)
        words[i] = e_load(e, word, record_offset(e, (Type)from.ty->space, from.items[0].ref[0], (first + i) * bytes));
    for (uint32_t i = 0; i < n; i++)
        e_store(e, record_offset(e, (Type)to.ty->space, to.items[0].ref[0], (first + i) * bytes), words[i]);
}

/* Word by word in a loop, for records that would be many instructions. */
static void copy_loop(Eval *e, Val to, Val from, Type word, uint32_t n) {
    BlockId before = e_current(e), body = e_new_block(e), after = e_new_block(e);
    Ref zero = e_int(e, T_I64, 0);
    e_jump(e, body);
    e_set_block(e, body);
    Ref i = e_phi(e, T_I64);
    uint64_t bytes = type_bytes(word);
    Ref at = e_emit(e, OP_ADDR, (Type)from.ty->space, 2, (Ref[]){from.items[0].ref[0], i}, 0, bytes);
    Ref value = e_load(e, word, at);
    e_store(e, e_emit(e, OP_ADDR, (Type)to.ty->space, 2, (Ref[]){to.items[0].ref[0], i}, 0, bytes), value);
    Ref next = e_op2(e, OP_ADD, T_I64, i, e_int(e, T_I64, 1));
    e_phi_add(e, i, before, zero);
    e_phi_add(e, i, body, next);
    e_branch(e, e_cmp(e, PRED_LT, next, e_int(e, T_I64, n)), body, after);
    e_set_block(e, after);
}

static void copy_record(Eval *e, Val to, Val from) {
    uint32_t bytes = to.ty->record->bytes;
    Type word = copy_word(to.ty->align < from.ty->align ? to.ty->align : from.ty->align, bytes);
    uint32_t n = bytes / type_bytes(word);
    if (bytes <= UNROLLED_BYTES && n <= 64) copy_words(e, to, from, word, 0, n);
    else if (e->building) copy_loop(e, to, from, word, n);
}

static Val record_fail(Eval *e, PySpan span, Val to, Val value, const char *help) {
    return e_fail(e, e->value_span.line ? e->value_span : span, help, DIAG_RECORD_STORE, ty_text(e->types, to.ty),
                  e_text(e, value));
}

/* As NumPy assigns: a record of the same layout as it is, others and tuples field by field in their order; one number
 * to all fields. */
void record_store(Eval *e, PySpan span, Val to, Val value) {
    const Record *r = to.ty->record;
    if (val_poisoned(value) || !may_write(e, span, to)) return;
    if (r->kind != RECORD_FIELDS) {
        if (record_is_time(r)) time_store(e, span, to, value);
        else string_store(e, span, to, value);
        return;
    }
    if (value.ty->kind == TY_RECORD && value.ty->record == r) {
        copy_record(e, to, value);
        return;
    }
    if (value.ty->kind == TY_RECORD) value = value.ty->record->n == r->n ? record_tuple(e, span, value) : value;
    if (val_poisoned(value)) return;
    if (value.ty->kind == TY_RECORD || (value.ty->kind == TY_TUPLE && value.ty->n != r->n)) {
        record_fail(e, span, to, value, arena_printf(e->arena, "it has %u fields: as many values are needed", r->n));
        return;
    }
    if (value.ty->kind != TY_TUPLE && !val_is_scalar(value)) {
        record_fail(e, span, to, value,
                    "a record takes a record, a tuple with a value for each field, or one number for all");
        return;
    }
    for (uint32_t i = 0; i < r->n; i++)
        write_field(e, span, to, &r->fields[i], value.ty->kind == TY_TUPLE ? value.items[i] : value);
}

/* ---- comparing ------------------------------------------------------------------------------------------- */
static Val fields_equal(Eval *e, PySpan span, Val a, Val b);

static Val arrays_equal(Eval *e, PySpan span, Val a, Val b) {
    Wide n = 0;
    bool same = a.ty->ndim == b.ty->ndim;
    for (uint32_t k = 0; same && k < a.ty->ndim; k++)
        same = val_as_int(a.items[1 + k], &n) && a.items[1 + k].i == b.items[1 + k].i;
    if (!same) return e_fail(e, span, NULL, DIAG_OPERAND_TYPES, "==", e_text(e, a), e_text(e, b));
    Val all = val_typed(e, DT_BOOL, e_int(e, T_BOOL, 1));
    if (!val_as_int(a.items[1], &n)) return all;
    for (Wide i = 0; i < n; i++) {
        Val index = val_int(e, i);
        Val one = fields_equal(e, span, array_element(e, span, a, index), array_element(e, span, b, index));
        if (val_poisoned(one)) return one;
        all = eval_logic(e, true, all, one);
    }
    return all;
}

static Val fields_equal(Eval *e, PySpan span, Val a, Val b) {
    if (val_poisoned(a) || val_poisoned(b)) return val_poison(e);
    if (a.ty->kind == TY_ARRAY && b.ty->kind == TY_ARRAY) return arrays_equal(e, span, a, b);
    return eval_compare(e, span, PYC_EQ, a, b);
}

Val record_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b) {
    const Record *x = a.ty->record, *y = b.ty->record;
    bool same = a.ty->kind == b.ty->kind && x->n == y->n && (op == PYC_EQ || op == PYC_NE);
    for (uint32_t i = 0; same && i < x->n; i++) same = strcmp(x->fields[i].name, y->fields[i].name) == 0;
    if (!same) return (Val){0};
    Val all = val_typed(e, DT_BOOL, e_int(e, T_BOOL, 1));
    for (uint32_t i = 0; i < x->n; i++) {
        Val one = fields_equal(e, span, read_field(e, span, a, &x->fields[i]), read_field(e, span, b, &y->fields[i]));
        if (val_poisoned(one)) return one;
        all = eval_logic(e, true, all, one);
    }
    return op == PYC_EQ ? all : val_typed(e, DT_BOOL, e_op1(e, OP_NOT, T_BOOL, val_ref(e, all)));
}

/* ---- r.copy() ---------------------------------------------------------------------------------------------- */
Val fn_record_copy(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/self"};
    Val from;
    if (!call_bind(e, site, n, args, 1, params, &from)) return val_poison(e);
    const Record *r = from.ty->record;
    Ref at = e_alloca(e, r->bytes);
    Val to = record_at(e, elem_record(r, r->align), false, T_PTRL, at);
    copy_record(e, to, from);
    return to;
}
