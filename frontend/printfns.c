/* printfns.c - print, formatted text, and the values that exceptions carry.
 *
 * A kernel makes no text. What would be one is kept as what it is made of: values, and how Python puts them together
 * (TY_TEXT). The values go to the host in a record (runtime/image.h) with their types, so that Python's own formatting
 * says what is shown. Text goes to print, into exceptions and into other text; nothing else takes it. */
#include "devfns.h"
#include "evaluator.h"

#include <string.h>

/* ---- what can be shown ------------------------------------------------------------------------------------- */

static Val text_of(Eval *e, TextKind kind, const char *name, uint32_t n, const Val *items, const char *const *fields) {
    Val *kept = ARENA_ARRAY(e->arena, Val, n + 1);
    vals_copy(kept, items, n);
    return (Val){.ty = ty_composite(e->types, TY_TEXT, kind, n, kept, NULL, name, fields), .items = kept};
}

static Val constant_string(Eval *e, const char *text) {
    HostRef r = e->host->make_str(e->host->self, text);
    return r ? val_object(e, r) : val_poison(e);
}

/* The elements of an array whose shape is known, as nested tuples. */
static Val elements(Eval *e, PySpan span, Val array, uint32_t axis, Val *index) {
    if (axis == array.ty->ndim) return eval_getitem(e, span, array, val_tuple(e, axis, index));
    uint32_t n = (uint32_t)array.items[1 + axis].i;
    Val *items = ARENA_ARRAY(e->arena, Val, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        index[axis] = val_int(e, i);
        items[i] = elements(e, span, array, axis + 1, index);
        if (val_poisoned(items[i])) return items[i];
    }
    return val_tuple(e, n, items);
}

/* What a call from Python returns is an array of the argument's memory: address, shape, strides in bytes. */
static const char by_call[] = "a call from Python";

static Val array_view(Eval *e, Val v) {
    if (v.ty->weak || v.ty->record || (v.ty->space != T_PTR && v.ty->space != T_PTRC)) return (Val){0};
    v = array_flatten_to_a(e, v);
    return text_of(e, TEXT_VIEW, dtype_info[v.ty->dtype].name, v.ty->n, v.items, NULL);
}

static Val shown_array(Eval *e, PySpan span, Val v) {
    Wide n, all = 1;
    Val index[MAX_NDIM];
    for (uint32_t k = 0; k < v.ty->ndim; k++) {
        if (!val_as_int(v.items[1 + k], &n) || n < 0 || n > MOST_PRINT_VALUES) return (Val){0};
        all *= n;
    }
    if (v.ty->weak || v.ty->record || all > MOST_PRINT_VALUES) return (Val){0};
    Val nested = elements(e, span, v, 0, index);
    return val_poisoned(nested) ? nested : text_of(e, TEXT_ARRAY, dtype_info[v.ty->dtype].name, 1, &nested, NULL);
}

/* gpu.threadIdx and its kind are shown as (x, y, z). Other objects are known when compiling: Python shows them. */
static Val shown_object(Eval *e, Val v) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    if (!e->host->info(e->host->self, v.ty->obj, &info)) return (Val){0};
    if (info.kind == HOST_LIST || info.kind == HOST_DICT || info.kind == HOST_OTHER) return (Val){0};
    const DevFn *x = info.kind == HOST_NAMED ? devfn_find(arena_printf(e->arena, "%s.x", info.path)) : NULL;
    if (!x || x->kind != DEV_VALUE) return v;
    Val at[3];
    for (int i = 0; i < 3; i++) {
        const DevFn *fn = devfn_find(arena_printf(e->arena, "%s.%c", info.path, "xyz"[i]));
        at[i] = fn->call(e, &(CallSite){.fn = fn, .name = fn->path}, 0, NULL);
    }
    return val_tuple(e, 3, at);
}

static Val shown(Eval *e, PySpan span, const char *what, Val v);

/* Items of a tuple, dict or instance, at out; false: one can't be shown. */
static bool shown_items(Eval *e, PySpan span, const char *what, Val v, Val *out) {
    for (uint32_t i = 0; i < v.ty->n; i++) {
        out[i] = shown(e, span, what, v.items[i]);
        if (val_poisoned(out[i])) return false;
    }
    return true;
}

/* Python makes an object of that class, without its __init__, and says how it looks. */
static Val shown_instance(Eval *e, PySpan span, const char *what, Val v) {
    Val *items = ARENA_ARRAY(e->arena, Val, v.ty->n + 1);
    const char **fields = ARENA_ARRAY(e->arena, const char *, v.ty->n + 1);
    items[0] = (Val){.ty = ty_object(e->types, v.ty->obj)};
    fields[0] = "";
    for (uint32_t i = 0; i < v.ty->n; i++) fields[i + 1] = v.ty->fields[i];
    if (!shown_items(e, span, what, v, items + 1)) return val_poison(e);
    return text_of(e, TEXT_INSTANCE, "", v.ty->n + 1, items, fields);
}

/* Its fields by their names: how they lie in memory doesn't show. */
static Val shown_record(Eval *e, PySpan span, const char *what, Val v) {
    const Record *r = v.ty->record;
    Val *items = ARENA_ARRAY(e->arena, Val, r->n + 1), fields = record_tuple(e, span, v);
    const char **names = ARENA_ARRAY(e->arena, const char *, r->n + 1);
    if (val_poisoned(fields) || !shown_items(e, span, what, fields, items)) return val_poison(e);
    for (uint32_t i = 0; i < r->n; i++) names[i] = r->fields[i].name;
    return text_of(e, TEXT_RECORD, "", r->n, items, names);
}

/* A value as text keeps it; POISON: reported as what() can't show it. */
static Val shown(Eval *e, PySpan span, const char *what, Val v) {
    Val r = {0};
    switch (v.ty->kind) {
    case TY_POISON:
    case TY_SCALAR:
    case TY_NONE:
    case TY_TEXT: return v;
    case TY_DTYPE: return constant_string(e, elem_text(e->arena, (DType)v.ty->dtype, v.ty->record));
    case TY_RECORD:
        if (v.ty->record->kind != RECORD_FIELDS) break;
        return shown_record(e, span, what, v);
    case TY_OBJECT: r = shown_object(e, v); break;
    case TY_ARRAY: r = what == by_call ? array_view(e, v) : shown_array(e, span, v); break;
    case TY_INSTANCE:
        v = instance_now(e, span, v);
        if (val_poisoned(v)) return v;
        if (v.ty->sub == 0) return shown_instance(e, span, what, v);
        break;
    case TY_TIME: return text_of(e, TEXT_TIME, record_text(e->arena, v.ty->record), 1, v.items, NULL);
    case TY_LIST: {
        v = list_now(e, span, v);
        if (val_poisoned(v)) return v;
        Val *items = ARENA_ARRAY(e->arena, Val, v.ty->n + 1);
        return shown_items(e, span, what, v, items) ? text_of(e, TEXT_LIST, "", v.ty->n, items, NULL) : val_poison(e);
    }
    case TY_DICT: {
        Val *items = ARENA_ARRAY(e->arena, Val, v.ty->n + 1);
        return shown_items(e, span, what, v, items) ? text_of(e, TEXT_DICT, "", v.ty->n, items, NULL) : val_poison(e);
    }
    case TY_TUPLE: {
        if (val_is_set(v)) break;
        Val *items = ARENA_ARRAY(e->arena, Val, v.ty->n + 1);
        if (!shown_items(e, span, what, v, items)) return val_poison(e);
        if (v.ty->sub == TUPLE_OF_LIST) return text_of(e, TEXT_LIST, "", v.ty->n, items, NULL);
        Ty ty = ty_composite(e->types, TY_TUPLE, v.ty->sub, v.ty->n, items, v.ty->obj, v.ty->name, v.ty->fields);
        return (Val){.ty = ty, .items = items};
    }
    default: break;
    }
    if (r.ty) return r;
    if (what == by_call) {
        const char *help = "return the numbers that it is made of";
        if (v.ty->kind == TY_ARRAY) help = "its memory ends with the call: write into an array argument";
        if (v.ty->kind == TY_MAYBE)
            help = "return a value on every path: where a function ends without return, it is None";
        return e_fail(e, span, help, DIAG_HOST_RESULT, e_text(e, v));
    }
    return e_fail(e, span,
                  v.ty->kind == TY_ARRAY ? "give its elements; an array of a few elements whose shape is constant "
                                           "can be shown whole"
                                         : "give the numbers that it is made of",
                  DIAG_NOT_SHOWN, what, e_text(e, v));
}

/* ---- one of several constant strings ----------------------------------------------------------------------- */

enum { MOST_CHOICES = 64 };

/* "a\x1fb\x1f" of a choice, "a\x1f" of a string; NULL: neither. */
static const char *choices_of(Eval *e, Val v) {
    const char *s;
    if (v.ty->kind == TY_TEXT && v.ty->sub == TEXT_CHOICE) return v.ty->name;
    if (!val_as_str(e, v, &s) || strchr(s, CHOICE_END)) return NULL;
    return arena_printf(e->arena, "%s%c", s, CHOICE_END);
}

/* Which of the choices is the first one of `word`; -1: none is. *count: how many there are. */
static int choice_in(const char *choices, const char *word, int *count) {
    size_t length = (size_t)(strchr(word, CHOICE_END) - word) + 1;
    int found = -1;
    *count = 0;
    for (const char *at = choices; *at; at = strchr(at, CHOICE_END) + 1, ++*count)
        if (strncmp(at, word, length) == 0) found = *count;
    return found;
}

static const char *next_choice(const char *at) { return strchr(at, CHOICE_END) + 1; }

bool text_join(Eval *e, Val a, Val b, Val *out) {
    const char *all = choices_of(e, a), *more = all ? choices_of(e, b) : NULL;
    int count;
    if (!more) return false;
    if (a.ty->kind == TY_OBJECT && strcmp(all, more) == 0) { /* two objects, one text */
        *out = val_abstract(e, a);
        return true;
    }
    for (; *more; more = next_choice(more)) {
        bool there = choice_in(all, more, &count) >= 0;
        if (count == MOST_CHOICES) return false;
        if (!there) all = arena_printf(e->arena, "%s%.*s", all, (int)(next_choice(more) - more), more);
    }
    Val index = val_rt_int(e, REF_NONE);
    *out = text_of(e, TEXT_CHOICE, all, 1, &index, NULL);
    return true;
}

Val text_coerce(Eval *e, Val v, Val target) {
    const char *from = choices_of(e, v), *to = target.ty->name;
    int count, i = 0;
    if (v.ty == target.ty) return v;
    Val index = val_int(e, choice_in(to, from, &count));
    if (v.ty->kind == TY_TEXT) { /* numbers of more choices */
        Ref old = val_ref(e, v.items[0]), r = val_ref(e, index);
        for (const char *at = next_choice(from); *at; at = next_choice(at)) {
            Ref is = e_cmp(e, PRED_EQ, old, e_int(e, T_I64, ++i));
            r = e_select(e, T_I64, is, e_int(e, T_I64, choice_in(to, at, &count)), r);
        }
        index = val_rt_int(e, r);
    }
    index = val_coerce(e, index, target.items[0]);
    return text_of(e, TEXT_CHOICE, to, 1, &index, NULL);
}

Val text_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b) {
    const char *s;
    int count;
    if (val_as_str(e, a, &s)) return b.ty->kind == TY_TEXT ? text_compare(e, span, op, b, a) : (Val){0};
    bool choice = a.ty->kind == TY_TEXT && a.ty->sub == TEXT_CHOICE && val_as_str(e, b, &s);
    if (!choice || (op != PYC_EQ && op != PYC_NE)) return (Val){0};
    const char *wanted = choices_of(e, b);
    return eval_compare(e, span, op, a.items[0], val_int(e, wanted ? choice_in(a.ty->name, wanted, &count) : -1));
}

/* ---- f-strings, str(), format() ---------------------------------------------------------------------------- */

/* Of constants that need no formatting; NULL: not one. */
static const char *constant_text(Eval *e, Val v) {
    const char *s;
    Wide i;
    if (val_as_str(e, v, &s)) return s;
    if (!val_as_int(v, &i) || !dt_fits(DT_I64, i)) return NULL;
    return v.ty->dtype == DT_BOOL ? (i ? "True" : "False") : arena_printf(e->arena, "%lld", (long long)i);
}

Val eval_format(Eval *e, PySpan span, const char *what, char conversion, Val v, Val spec) {
    if (val_poisoned(v)) return v;
    const char *plain = !spec.ty && conversion != 'r' && conversion != 'a' ? constant_text(e, v) : NULL;
    if (plain) return constant_string(e, plain);
    const char *s;
    if (spec.ty && spec.ty->kind != TY_TEXT && !val_as_str(e, spec, &s))
        return e_fail(e, span, NULL, DIAG_ARG_TYPE, what, e_text(e, spec));
    Val items[2] = {shown(e, span, what, v), spec};
    if (val_poisoned(items[0])) return items[0];
    const char text[2] = {conversion, 0};
    return text_of(e, TEXT_FORMAT, arena_strdup(e->arena, text), spec.ty ? 2 : 1, items, NULL);
}

Val eval_join(Eval *e, PySpan span, uint32_t n, const Val *pieces) {
    enum { MOST_BYTES = 1 << 20 };
    const char *text = "", *piece;
    bool constant = true;
    for (uint32_t i = 0; i < n; i++) {
        if (val_poisoned(pieces[i])) return pieces[i];
        bool known = val_as_str(e, pieces[i], &piece);
        if (!known && pieces[i].ty->kind != TY_TEXT)
            return e_fail(e, span, "str(...) makes text of it", DIAG_NOT_SHOWN, "a text", e_text(e, pieces[i]));
        constant &= known;
        if (constant) text = arena_printf(e->arena, "%s%s", text, piece);
        if (strlen(text) > MOST_BYTES) return e_fail(e, span, NULL, DIAG_TEXT_TOO_LONG, MOST_BYTES);
    }
    return constant ? constant_string(e, text) : text_of(e, TEXT_JOIN, "", n, pieces, NULL);
}

static bool is_text(Eval *e, Val v) {
    const char *s;
    return v.ty->kind == TY_TEXT || val_as_str(e, v, &s);
}

Val text_binary(Eval *e, PySpan span, PyBinary op, Val a, Val b) {
    if (!is_text(e, a)) return (Val){0};
    if (op == PYB_ADD && is_text(e, b)) return eval_join(e, span, 2, (Val[]){a, b});
    if (op != PYB_MOD) return (Val){0};
    Val items[2] = {a, shown(e, span, "%", b)};
    return val_poisoned(items[1]) ? items[1] : text_of(e, TEXT_PERCENT, "", 2, items, NULL);
}

/* param: 0 str, 1 repr, 2 ascii */
Val fn_text(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    if (n == 0 && site->fn->param == 0) return constant_string(e, "");
    static const char *const params[] = {"/object"};
    Val v;
    if (!call_bind(e, site, n, args, 1, params, &v)) return val_poison(e);
    return eval_format(
        e, arg_span(site, 0), site->name, "sra" [site->fn->param], v, (Val) { 0 });
}

Val fn_format(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"/value", "/?format_spec"};
    Val v[2];
    if (!call_bind(e, site, n, args, 2, params, v)) return val_poison(e);
    return eval_format(e, site->span, site->name, 0, v[0], v[1]);
}

/* bin(), oct(), hex(); param: 0, 1, 2. */
Val fn_digits(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val x;
    if (!bind_args(e, site, n, args, 1, &x) || !want_ints(e, site, 1, &x)) return val_poison(e);
    HostRef format = val_const(x) ? val_builtin(e, "format") : NULL;
    Val spec = constant_string(e, arena_printf(e->arena, "#%c", "box"[site->fn->param]));
    Val text = format ? call_constant(e, format, 2, (Val[]){x, spec}) : (Val){0};
    return text.ty ? text : eval_format(e, site->span, site->name, 0, x, spec);
}

/* "...".format(...) of a constant string. */
Val fn_str_format(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    Val *items = ARENA_ARRAY(e->arena, Val, n);
    const char **names = ARENA_ARRAY(e->arena, const char *, n);
    for (uint32_t i = 0; i < n; i++) {
        names[i] = i + site->nkw < n ? "" : site->kwnames[i + site->nkw - n];
        items[i] = shown(e, site->span, "format", args[i]);
        if (val_poisoned(items[i])) return items[i];
    }
    return text_of(e, TEXT_METHOD, "", n, items, names);
}

/* ---- what goes to the host --------------------------------------------------------------------------------- */

typedef struct Message {
    Eval *e;
    RefVec values;
    const char *text; /* for people who read the IR */
} Message;

static void put_text(Message *m, const char *s) { m->text = arena_printf(m->e->arena, "%s%s", m->text, s); }

static void put_values(Message *m, Val v) {
    Eval *e = m->e;
    put_text(m, "{}");
    VEC_PUSH(e->arena, &m->values, val_ref(e, v));
    if (dt_is_complex(val_dtype(v))) VEC_PUSH(e->arena, &m->values, val_im(e, v));
}

static ArgType object_type(Eval *e, const char *text) {
    return (ArgType){.kind = ARG_OBJECT, .dtype = DT_NONE, .object = e->host->make_str(e->host->self, text)};
}

static ArgType describe(Message *m, Val v);

static ArgType describe_items(Message *m, ArgKind kind, uint32_t nfirst, const ArgType *first, Val v) {
    ArgType *items = ARENA_ARRAY(m->e->arena, ArgType, nfirst + v.ty->n + 1);
    if (nfirst) memcpy(items, first, nfirst * sizeof *items);
    for (uint32_t i = 0; i < v.ty->n; i++) items[nfirst + i] = describe(m, v.items[i]);
    return (ArgType){.kind = (uint8_t)kind, .dtype = DT_NONE, .nitems = nfirst + v.ty->n, .items = items};
}

/* A text's items: the TextKind's name, a word more that it has (frontend.h), then its values. */
static ArgType describe_text(Message *m, Val v) {
    static const char *const kinds[] = {
        [TEXT_JOIN] = "join",   [TEXT_FORMAT] = "format", [TEXT_PERCENT] = "percent",   [TEXT_METHOD] = "method",
        [TEXT_ARRAY] = "array", [TEXT_DICT] = "dict",     [TEXT_INSTANCE] = "instance", [TEXT_RECORD] = "record",
        [TEXT_VIEW] = "view",   [TEXT_VALUE] = "value",   [TEXT_CHOICE] = "choice",     [TEXT_LIST] = "list",
        [TEXT_TIME] = "time"};
    Eval *e = m->e;
    const ArgType first[2] = {object_type(e, kinds[v.ty->sub]), object_type(e, v.ty->name)};
    ArgType t = describe_items(m, ARG_TEXT, 2, first, v);
    if (!v.ty->fields) return t;
    const char **fields = ARENA_ARRAY(e->arena, const char *, t.nitems + 1);
    for (uint32_t i = 0; i < t.nitems; i++) fields[i] = i < 2 ? "" : v.ty->fields[i - 2];
    t.fields = fields;
    return t;
}

/* The type of a value that is shown; its numbers go to m->values, depth first. */
static ArgType describe(Message *m, Val v) {
    const char *s;
    ArgType t = argtype_of(m->e, v.ty);
    switch (v.ty->kind) {
    case TY_SCALAR: put_values(m, v); break;
    case TY_TIME: put_values(m, v.items[0]); break;
    case TY_PTR:
        t.kind = ARG_WEAK_INT;
        VEC_PUSH(m->e->arena, &m->values, v.ref[0]);
        break;
    case TY_TUPLE:
        t = describe_items(m, ARG_TUPLE, 0, NULL, v);
        t.fields = v.ty->fields;
        t.object = v.ty->obj;
        break;
    case TY_TEXT: return describe_text(m, v);
    case TY_OBJECT:
        t.kind = ARG_OBJECT;
        t.object = v.ty->obj;
        put_text(m, val_as_str(m->e, v, &s) ? s : "{}");
        break;
    default: break;
    }
    return t;
}

/* The types of n values, all of which can be shown; false: there are too many numbers in them. */
static bool message_of(Eval *e, PySpan span, const char *what, uint32_t most, uint32_t n, const Val *args, Message *m,
                       const ArgType **types) {
    ArgType *t = ARENA_ARRAY(e->arena, ArgType, n + 1);
    *m = (Message){.e = e, .text = ""};
    for (uint32_t i = 0; i < n; i++) t[i] = describe(m, args[i]);
    *types = t;
    if (m->values.n <= most) return true;
    e_fail(e, span, "show a part of them at a time", DIAG_MESSAGE_VALUES, what, m->values.n, most);
    return false;
}

/* ---- print ------------------------------------------------------------------------------------------------- */

/* sep= and end=: None is Python's own. */
static bool print_text(Eval *e, const CallSite *site, uint32_t i, Val v, Val *out) {
    *out = v;
    if (v.ty->kind == TY_NONE || is_text(e, v)) return true;
    e_fail(e, arg_span(site, i), "give text or None", DIAG_ARG_TYPE, site->name, e_text(e, v));
    return false;
}

static bool print_keyword(Eval *e, const CallSite *site, uint32_t i, const char *name, Val v, Val *ends) {
    if (strcmp(name, "sep") == 0) return print_text(e, site, i, v, &ends[0]);
    if (strcmp(name, "end") == 0) return print_text(e, site, i, v, &ends[1]);
    if (strcmp(name, "file") == 0 || strcmp(name, "flush") == 0)
        e_fail(e, site->span, "output goes to sys.stdout when the launch is waited for", DIAG_KEYWORD_UNUSED, name,
               site->name);
    else e_fail(e, site->span, "it is print(*values, sep=' ', end='\\n')", DIAG_UNKNOWN_KEYWORD, site->name, name);
    return false;
}

Val fn_print(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    uint32_t npos = n - site->nkw;
    Val *shows = ARENA_ARRAY(e->arena, Val, npos + 2); /* sep, end, then the values */
    shows[0] = shows[1] = val_none(e);
    for (uint32_t k = 0; k < site->nkw; k++)
        if (!print_keyword(e, site, npos + k, site->kwnames[k], args[npos + k], shows)) return val_poison(e);
    for (uint32_t i = 0; i < npos; i++) {
        shows[2 + i] = shown(e, arg_span(site, i), site->name, args[i]);
        if (val_poisoned(shows[2 + i])) return val_poison(e);
    }
    if (!e->building) return val_none(e);
    Message m;
    IrPrint p = {.nargs = npos + 2, .span = e->span};
    const ArgType *types;
    if (!message_of(e, site->span, site->name, MOST_PRINT_VALUES, npos + 2, shows, &m, &types)) return val_poison(e);
    p.args = types;
    p.text = m.text;
    VEC_PUSH(e->arena, &e->m->prints, p);
    e_emit(e, OP_PRINT, T_VOID, m.values.n, m.values.at, 0, e->m->prints.n - 1);
    return val_none(e);
}

/* ---- results of calls from Python -------------------------------------------------------------------------- */

static bool only_numbers(Val v) {
    if (v.ty->kind == TY_SCALAR || v.ty->kind == TY_TIME) return true;
    bool all = v.ty->kind == TY_TUPLE && !v.ty->obj;
    for (uint32_t i = 0; all && i < v.ty->n; i++) all = only_numbers(v.items[i]);
    return all;
}

/* As a record has it: 8 bytes. */
static Ref as_slot(Eval *e, Ref r) {
    Type t = (Type)e->m->instrs.at[r].type;
    if (type_is_ptr(t)) return r;
    return e_conv(e, type_is_float(t) ? T_F64 : type_is_signed(t) || t == T_BOOL ? T_I64 : T_U64, r);
}

bool host_result(Eval *e, PySpan span, Val v, RefVec *out, ArgType *type) {
    Message m = {.e = e, .text = ""};
    bool plain = only_numbers(v);
    if (!plain) {
        Val value = shown(e, span, by_call, v);
        if (val_poisoned(value)) return false;
        v = text_of(e, TEXT_VALUE, "", 1, &value, NULL);
    }
    *type = describe(&m, v);
    *out = m.values;
    for (uint32_t i = 0; i < out->n; i++) {
        if (out->at[i] == REF_NONE) return false; /* reported */
        if (!plain) out->at[i] = as_slot(e, out->at[i]);
    }
    if (out->n <= MOST_RESULTS) return true;
    e_fail(e, span, "write them into an array argument", DIAG_MESSAGE_VALUES, "return", out->n, MOST_RESULTS);
    return false;
}

/* ---- exceptions -------------------------------------------------------------------------------------------- */

/* Ends the thread with a TY_EXCEPTION. One constant string is the site's own message. */
void eval_raise(Eval *e, PySpan span, Val v) {
    IrSite site = {
        .exception = v.ty->name ? v.ty->name : "Exception", .message = "", .host_ref = v.ty->obj, .span = e->span};
    Message m = {.e = e};
    bool plain = v.ty->n == 0 || (v.ty->n == 1 && val_as_str(e, v.items[0], &site.message));
    if (!plain) {
        Val *args = ARENA_ARRAY(e->arena, Val, v.ty->n);
        for (uint32_t i = 0; i < v.ty->n; i++) {
            args[i] = shown(e, span, site.exception, v.items[i]);
            if (val_poisoned(args[i])) return;
        }
        const ArgType *types;
        if (!message_of(e, span, site.exception, MOST_RAISE_VALUES, v.ty->n, args, &m, &types)) return;
        site.message = m.text;
        site.args = types;
        site.nargs = v.ty->n;
    }
    VEC_PUSH(e->arena, &e->m->sites, site);
    e_emit(e, OP_RAISE, T_VOID, m.values.n, m.values.at, 0, e->m->sites.n - 1);
}

void raise_index_error(Eval *e, PySpan span, Val index, uint32_t axis, Val n) {
    Val text[] = {constant_string(e, "index "), eval_format(e, span, "IndexError", 0, index, (Val){0}),
                  constant_string(e, arena_printf(e->arena, " is out of bounds for axis %u with size ", axis)),
                  eval_format(e, span, "IndexError", 0, n, (Val){0})};
    Val message = eval_join(e, span, 4, text);
    HostRef cls = e->host->global(e->host->self, e->req->function, "IndexError");
    eval_raise(
        e, span,
        (Val){.ty = ty_composite(e->types, TY_EXCEPTION, 0, 1, &message, cls, "IndexError", NULL), .items = &message});
}
