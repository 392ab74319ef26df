/* eval.c - the evaluator's state: messages, making and reading values, emission of IR.
 *
 * In infer mode everything that makes IR returns REF_NONE. In build mode an operation with a missing operand
 * (the leavings of a reported error) does too, so that rules needn't look. */
#include "evaluator.h"

#include <assert.h>
#include <math.h>
#include <string.h>

bool e_numba(const Eval *e) { return e->dialect == DIALECT_NUMBA; }
Arena *e_arena(const Eval *e) { return e->arena; }
Types *e_types(const Eval *e) { return e->types; }
const char *e_text(Eval *e, Val v) { return val_text(e->types, v); }

/* ---- messages -------------------------------------------------------------------------------------- */
/* A mistake that is met while types are inferred may be one of this round alone: what remains is reported when code is
 * built. The last one is kept for where it left a variable of a loop without type, which is all that the builder sees.
 */
static DiagList *listener(Eval *e, DiagCode code) {
    if (e->building) return e->diags;
    e->fails += diag_severity(code) == SEV_ERROR;
    e->unheard = (DiagList){.arena = e->arena};
    return &e->unheard;
}

/* What goes wrong in this package's own Python is shown where the user called it, with that line as a note. */
static Diag *report(Eval *e, PySpan span, DiagCode code, va_list ap) {
    const Frame *user = e->frame;
    DiagFrame at = user->at;
    if (span.line) at.span = span;
    while (user->library && user->caller) user = user->caller;
    bool elsewhere = user != e->frame;
    DiagList *l = listener(e, code);
    va_list again;
    va_copy(again, ap);
    Diag *d = diag_vreport(l, code, elsewhere ? &user->at : &at, ap);
    numba_words_of(e, d, again);
    if (elsewhere) diag_note(l, d, &at, "in the code of this package");
    va_end(again);
    return d;
}

Diag *e_diag(Eval *e, PySpan span, DiagCode code, ...) {
    if (!e->building && diag_severity(code) != SEV_ERROR) return NULL;
    va_list ap;
    va_start(ap, code);
    Diag *d = report(e, span, code, ap);
    va_end(ap);
    return e->building ? d : NULL;
}

void e_help(Eval *e, Diag *d, const char *fmt, ...) {
    if (!d) return;
    va_list ap;
    va_start(ap, fmt);
    const char *text = arena_vprintf(e->arena, fmt, ap);
    va_end(ap);
    diag_help(e->diags, d, "%s", dialect_text(e->arena, e->dialect, text));
}

Val e_fail(Eval *e, PySpan span, const char *help, DiagCode code, ...) {
    va_list ap;
    va_start(ap, code);
    Diag *d = report(e, span, code, ap);
    va_end(ap);
    if (help && d) diag_help(e->diags, d, "%s", dialect_text(e->arena, e->dialect, help));
    return val_poison(e);
}

/* ---- making values --------------------------------------------------------------------------------- */
Val val_poison(Eval *e) { return (Val){.ty = ty_poison(e->types)}; }
Val val_none(Eval *e) { return (Val){.ty = ty_none(e->types)}; }

Val val_scalar(Eval *e, Scalar s, const Ref ref[2]) {
    return (Val){.ty = ty_scalar(e->types, (DType)s.dtype, s.weak), .ref = {ref[0], ref[1]}};
}

Val val_of(Eval *e, Scalar s, Ref r) { return val_scalar(e, s, (Ref[2]){r, REF_NONE}); }
Val val_typed(Eval *e, DType d, Ref r) { return val_of(e, SCALAR(d, false), r); }
Val val_complex(Eval *e, Scalar s, Ref re, Ref im) { return val_scalar(e, s, (Ref[2]){re, im}); }

Val val_const_int(Eval *e, Scalar s, Wide i) {
    Val v = {.ty = ty_scalar(e->types, (DType)s.dtype, s.weak), .konst = KONST_INT};
    v.i = i;
    return v;
}

/* The bits of a double rounded to a real float type. */
uint64_t double_bits(DType d, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (d == DT_F64) return bits;
    uint64_t out = 0;
    ir_fold(OP_CONVERT, dtype_info[d].ir, 0, T_F64, 1, &bits, &out);
    return out;
}

static double bits_double(DType d, uint64_t bits) {
    if (d != DT_F64) {
        uint64_t wide = 0;
        ir_fold(OP_CONVERT, T_F64, 0, dtype_info[d].ir, 1, &bits, &wide);
        bits = wide;
    }
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double rounded(DType d, double x) { return d == DT_F64 ? x : bits_double(d, double_bits(d, x)); }

Val val_const_float(Eval *e, Scalar s, double re, double im) {
    DType part = dtype_info[s.dtype].part;
    Val v = {.ty = ty_scalar(e->types, (DType)s.dtype, s.weak)};
    v.konst = dt_is_complex((DType)s.dtype) ? KONST_COMPLEX : KONST_FLOAT;
    v.f.re = rounded(part, re);
    v.f.im = v.konst == KONST_COMPLEX ? rounded(part, im) : 0;
    return v;
}

/* A constant of an integer, bool or real float type from its IR bits. */
Val val_from_bits(Eval *e, Scalar s, uint64_t bits) {
    DType d = (DType)s.dtype;
    if (dt_is_float(d)) return val_const_float(e, s, bits_double(d, bits), 0);
    bits = ir_wrap(dtype_info[d].ir, bits);
    return val_const_int(e, s, dtype_info[d].kind == DK_INT ? (Wide)(int64_t)bits : (Wide)bits);
}

Val val_int(Eval *e, Wide i) {
    Scalar s = e_python_int(e);
    if (!s.weak && i > dt_max(DT_I64)) s.dtype = DT_U64; /* a large literal is uint64 in Numba */
    return val_const_int(e, s, i);
}

Val val_float(Eval *e, double x) { return val_const_float(e, e_python_float(e), x, 0); }
Val val_bool(Eval *e, bool b) { return val_const_int(e, e_python_bool(e), b); }
Val val_rt_int(Eval *e, Ref i64) { return val_of(e, e_python_int(e), i64); }
Val val_rt_bool(Eval *e, Ref b) { return val_of(e, e_python_bool(e), b); }
Val val_rt_float(Eval *e, Ref f64) { return val_of(e, e_python_float(e), f64); }

static const Val *keep_items(Eval *e, uint32_t n, const Val *items) {
    if (!n) return NULL;
    Val *kept = ARENA_ARRAY(e->arena, Val, n);
    memcpy(kept, items, n * sizeof *kept);
    return kept;
}

Val val_composite(Eval *e, TyKind kind, unsigned sub, uint32_t n, const Val *items) {
    return (Val){.ty = ty_composite(e->types, kind, sub, n, items, NULL, NULL, NULL), .items = keep_items(e, n, items)};
}

Val val_tuple(Eval *e, uint32_t n, const Val *items) { return val_composite(e, TY_TUPLE, 0, n, items); }

static Val tuple_from_host(Eval *e, HostRef obj, const HostInfo *info) {
    Val *items = ARENA_ARRAY(e->arena, Val, info->n + 1);
    if (e->nested == DEEPEST_VALUE)
        return e_fail(e, (PySpan){0}, "keep numbers in an array", DIAG_TOO_LARGE, MOST_VALUE_PARTS, DEEPEST_VALUE);
    for (size_t i = 0; i < info->n; i++) {
        e->nested++;
        items[i] = val_object(e, e->host->item(e->host->self, obj, i));
        e->nested--;
        if (val_poisoned(items[i])) return val_poison(e);
    }
    HostRef cls = info->fields ? e->host->attr(e->host->self, obj, "__class__") : NULL;
    return (Val){.ty = ty_composite(e->types, TY_TUPLE, 0, (uint32_t)info->n, items, cls, NULL, info->fields),
                 .items = items};
}

static Val int_from_host(Eval *e, const HostInfo *info) {
    if (info->i64) return val_int(e, (Wide)(int64_t)info->bits);
    if (info->u64) return val_int(e, (Wide)info->bits);
    Wide v = 0;
    const char *p = info->text ? info->text : "0";
    bool neg = *p == '-';
    for (p += neg; *p >= '0' && *p <= '9'; p++) {
        if (v > ((Wide)1 << 120)) return e_fail(e, (PySpan){0}, NULL, DIAG_INT_TOO_LARGE, info->text);
        v = v * 10 + (*p - '0');
    }
    return val_int(e, neg ? -v : v);
}

static Val scalar_from_host(Eval *e, const HostInfo *info) {
    Scalar s = SCALAR(info->type, false);
    if (dt_is_float(info->type) || dt_is_complex(info->type)) return val_const_float(e, s, info->re, info->im);
    return val_from_bits(e, s, info->bits);
}

/* start, stop and step of a range or a slice made outside. */
static void bounds_from_host(Eval *e, HostRef obj, Val part[3]) {
    static const char *const names[] = {"start", "stop", "step"};
    for (int i = 0; i < 3; i++) part[i] = val_object(e, e->host->attr(e->host->self, obj, names[i]));
}

static Val range_from_host(Eval *e, HostRef obj) {
    Val part[3];
    bounds_from_host(e, obj, part);
    return val_range(e, (PySpan){0}, part[0], part[1], part[2]);
}

/* Also those in the tuples of constants that 3.14 makes of x[:, 0]. */
static Val slice_from_host(Eval *e, HostRef obj) {
    Val part[3];
    bounds_from_host(e, obj, part);
    return val_composite(e, TY_SLICE, 0, 3, part);
}

/* obj.method: the function, and the object that it gets first. Python makes a new one at each look. */
static Val bound_method(Eval *e, HostRef obj) {
    HostRef fn = e->host->attr(e->host->self, obj, "__func__"), self = e->host->attr(e->host->self, obj, "__self__");
    if (!fn || !self) return (Val){.ty = ty_object(e->types, obj)};
    Val *items = ARENA_NEW(e->arena, Val);
    *items = val_object(e, self);
    return (Val){.ty = ty_composite(e->types, TY_METHOD, 0, 1, items, fn, NULL, NULL), .items = items};
}

static Val other_from_host(Eval *e, HostRef obj, const HostInfo *info) {
    if (info->type_name && strcmp(info->type_name, "range") == 0) return range_from_host(e, obj);
    if (info->type_name && strcmp(info->type_name, "method") == 0) return bound_method(e, obj);
    if (info->type_name && strcmp(info->type_name, "partial") == 0) return partial_from_host(e, obj);
    if (info->type_name && strcmp(info->type_name, "_lru_cache_wrapper") == 0)
        return val_object(e, e->host->attr(e->host->self, obj, "__wrapped__"));
    return (Val){.ty = ty_object(e->types, obj)};
}

Val val_object(Eval *e, HostRef obj) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    if (!obj || !e->host->info(e->host->self, obj, &info)) return val_poison(e);
    switch (info.kind) {
    case HOST_NONE: return val_none(e);
    case HOST_BOOL: return val_bool(e, info.bits != 0);
    case HOST_INT: return int_from_host(e, &info);
    case HOST_FLOAT: return val_float(e, info.re);
    case HOST_COMPLEX: return val_const_float(e, SCALAR(DT_C128, e->dialect == DIALECT_NUMPY), info.re, info.im);
    case HOST_SCALAR: return scalar_from_host(e, &info);
    case HOST_TUPLE: return tuple_from_host(e, obj, &info);
    case HOST_DTYPE: return (Val){.ty = ty_dtype_of(e->types, (Elem){(uint8_t)info.type, 0, info.record})};
    case HOST_RECORD: return record_captured(e, obj, info.array);
    case HOST_ARRAY: return array_captured(e, info.array, false);
    case HOST_BYTES: return array_captured(e, info.array, true);
    case HOST_SLICE: return slice_from_host(e, obj);
    case HOST_OTHER: return other_from_host(e, obj, &info);
    case HOST_NAMED: {
        const DevFn *fn = devfn_find(info.path);
        if (fn && devfn_is_value(fn)) return devfn_call(fn)(e, &(CallSite){.fn = fn, .name = info.path}, 0, NULL);
        return (Val){.ty = ty_object(e->types, obj)};
    }
    case HOST_ENUM: { /* a member of an IntEnum is its number */
        bool number = e->host->attr(e->host->self, obj, "real") != NULL;
        HostRef value = number ? e->host->attr(e->host->self, obj, "value") : NULL;
        if (!value) return (Val){.ty = ty_object(e->types, obj)};
        Val v = val_object(e, value);
        v.member = obj;
        return v;
    }
    case HOST_STR: /* strings are the same if their texts are */
        obj = info.text ? e->host->make_str(e->host->self, info.text) : obj;
        return (Val){.ty = ty_object(e->types, obj)};
    default: return (Val){.ty = ty_object(e->types, obj)};
    }
}

/* An object of Python's builtins. */
HostRef val_builtin(Eval *e, const char *name) {
    HostRef module = e->host->import(e->host->self, "builtins");
    return module ? e->host->attr(e->host->self, module, name) : NULL;
}

/* ---- reading values -------------------------------------------------------------------------------- */
uint64_t val_bits(Val v, DType d) {
    if (v.konst == KONST_INT) {
        if (dt_is_float(d)) return double_bits(d, (double)v.i);
        return ir_wrap(dtype_info[d].ir, (uint64_t)v.i);
    }
    return double_bits(dtype_info[d].part, v.f.re);
}

static Ref emit_const(Eval *e, Type t, uint64_t bits) {
    return e->building ? ir_const(e->m, e->cur, t, bits, e->span) : REF_NONE;
}

Ref val_ref(Eval *e, Val v) {
    if (!val_const(v)) return v.ref[0];
    if (v.konst == KONST_INT && !dt_fits(val_dtype(v), v.i)) { /* a Python integer that only a constant could hold */
        e_fail(e, (PySpan){0}, "an integer at run time has 64 bits; float(...) holds larger numbers",
               DIAG_CONST_DOES_NOT_FIT, wide_text(e->arena, v.i), dtype_info[v.ty->dtype].name);
        return REF_NONE;
    }
    return emit_const(e, dtype_info[v.ty->dtype].ir, val_bits(v, val_dtype(v)));
}

Ref val_re(Eval *e, Val v) { return val_ref(e, v); }

Ref val_im(Eval *e, Val v) {
    if (!val_const(v)) return v.ref[1];
    DType part = dtype_info[v.ty->dtype].part;
    return emit_const(e, dtype_info[part].ir, double_bits(part, v.f.im));
}

bool val_as_int(Val v, Wide *out) {
    if (!v.ty || v.ty->kind != TY_SCALAR || v.konst != KONST_INT) return false;
    *out = v.i;
    return true;
}

bool val_as_double(Val v, double *out) {
    if (!v.ty || v.ty->kind != TY_SCALAR) return false;
    if (v.konst == KONST_INT) *out = (double)v.i;
    else if (v.konst == KONST_FLOAT) *out = v.f.re;
    else return false;
    return true;
}

bool val_as_str(Eval *e, Val v, const char **out) {
    HostInfo info;
    memset(&info, 0, sizeof info);
    if (!v.ty || v.ty->kind != TY_OBJECT || !e->host->info(e->host->self, v.ty->obj, &info)) return false;
    if (info.kind != HOST_STR) return false;
    *out = info.text;
    return true;
}

bool val_as_dtype(Eval *e, Val v, DType *out) {
    static const struct {
        const char *path;
        DType d;
    } builtins[] = {
        {"builtins.bool", DT_BOOL},
        {"builtins.int", DT_I64},
        {"builtins.float", DT_F64},
        {"builtins.complex", DT_C128},
    };
    HostInfo info;
    memset(&info, 0, sizeof info);
    if (!v.ty) return false;
    if (v.ty->kind == TY_DTYPE) {
        *out = val_dtype(v);
        return !v.ty->record;
    }
    if (v.ty->kind != TY_OBJECT || !e->host->info(e->host->self, v.ty->obj, &info) || info.kind != HOST_NAMED)
        return false;
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (strcmp(info.path, builtins[i].path) == 0) {
            *out = builtins[i].d;
            return true;
        }
    return false;
}

/* ---- emission -------------------------------------------------------------------------------------- */
bool e_terminated(const Eval *e) {
    const Block *b = &e->m->blocks.at[e->cur];
    return b->instrs.n && (op_info[e->m->instrs.at[b->instrs.at[b->instrs.n - 1]].op].flags & ENDS);
}

/* Adds a span to the module for what is emitted from now on. */
void e_set_span(Eval *e, PySpan span) {
    if (!e->building) return;
    const Frame *fr = e->frame;
    if (fr->library) {
        e->span = fr->inlined_at;
        return;
    }
    IrSpan s = {fr->func, span.line, span.col, span.end_line, span.end_col, fr->inlined_at};
    if (e->span && memcmp(&e->m->spans.at[e->span], &s, sizeof s) == 0) return;
    e->span = e->m->spans.n;
    VEC_PUSH(e->arena, &e->m->spans, s);
}

/* A device function that Python calls is one thread of no block. */
static void check_threads(Eval *e, Op op) {
    if (!e->req->host_function || !(op_info[op].flags & SYNC || op == OP_SHARED)) return;
    e_fail(e, (PySpan){0}, "launch a kernel that calls it", DIAG_HOST_THREADS,
           op == OP_SHARED ? "shared memory belongs to a block" : "this works among threads");
}

/* A thread ends where it raises: a `finally` around would not run. What debug mode checks is no part of the program. */
static void check_finally(Eval *e, uint64_t site) {
    const Frame *fr = e->frame;
    if (e->checking) return;
    while (fr && !fr->guarded) fr = fr->caller;
    if (!fr) return;
    const char *name = e->m->sites.at[site].exception;
    e_fail(e, (PySpan){0},
           fr == e->frame ? "do it before the try, or without it" : "call it before the try, or without it",
           DIAG_CONSTRUCT, arena_printf(e->arena, "what may raise %s inside try/finally", name),
           "a thread ends where it raises, and leaves the finally block out");
}

Ref e_emit(Eval *e, Op op, Type t, uint32_t n, const Ref *args, uint16_t sub, uint64_t imm) {
    if (!e->building) return REF_NONE;
    check_threads(e, op);
    for (uint32_t i = 0; i < n; i++)
        if (args[i] == REF_NONE) return REF_NONE;
    if (e_terminated(e)) e->cur = ir_block(e->m); /* after e_raise: unreachable */
    if (op == OP_RAISE) check_finally(e, imm);
    if (op == OP_ALLOCA && e->recursion) return frame_memory(e, imm);
    if (op_info[op].flags & (WRITES | SYNC) && !(op_info[op].flags & ENDS)) {
        bool local = op == OP_STORE && e->m->instrs.at[args[0]].type == T_PTRL;
        local ? e->epoch.local++ : e->epoch.other++;
    }
    return ir_emit(e->m, e->cur, op, t, n, args, sub, imm, e->span);
}

/* Before the end of a block that may have one already. */
Ref e_emit_early(Eval *e, BlockId b, Op op, Type t, uint32_t nargs, const Ref *args, uint64_t imm) {
    Ref r = ir_emit(e->m, b, op, t, nargs, args, 0, imm, e->span);
    Block *block = &e->m->blocks.at[b];
    uint32_t n = block->instrs.n;
    if (n < 2 || !(op_info[e->m->instrs.at[block->instrs.at[n - 2]].op].flags & ENDS)) return r;
    block->instrs.at[n - 1] = block->instrs.at[n - 2];
    block->instrs.at[n - 2] = r;
    return r;
}

/* In the entry block: what is in it lasts while the kernel runs, also through a loop around the place. In a function
 * that calls itself, it lasts as long as the call. */
Ref e_alloca(Eval *e, uint64_t bytes) {
    if (!e->building) return REF_NONE;
    if (e->recursion) return frame_memory(e, bytes);
    return e_emit_early(e, 0, OP_ALLOCA, T_PTRL, 0, NULL, bytes);
}

Ref e_op1(Eval *e, Op op, Type t, Ref a) { return e_emit(e, op, t, 1, &a, 0, 0); }

/* `sub` 1 on an ADD, SUB or MUL keeps it out of FMA until the end of building. */
Ref e_op2(Eval *e, Op op, Type t, Ref a, Ref b) {
    bool keep = e->keep_products && (op == OP_ADD || op == OP_SUB || op == OP_MUL);
    return e_emit(e, op, t, 2, (Ref[]){a, b}, keep, 0);
}

Ref e_op3(Eval *e, Op op, Type t, Ref a, Ref b, Ref c) { return e_emit(e, op, t, 3, (Ref[]){a, b, c}, 0, 0); }
Ref e_op2_of(Eval *e, Op op, Type t, Val a, Val b) {
    Ref x = val_ref(e, a), y = val_ref(e, b);
    return e_op2(e, op, t, x, y);
}

Ref e_cmp(Eval *e, Pred p, Ref a, Ref b) { return e_emit(e, OP_CMP, T_BOOL, 2, (Ref[]){a, b}, (uint16_t)p, 0); }
Ref e_select(Eval *e, Type t, Ref c, Ref a, Ref b) { return e_op3(e, OP_SELECT, t, c, a, b); }

Ref e_conv(Eval *e, Type t, Ref a) {
    if (!e->building || a == REF_NONE || e->m->instrs.at[a].type == t) return a;
    return e_op1(e, OP_CONVERT, t, a);
}

/* With fastmath Numba takes a GPU's instruction for tanh, which is rougher than what fastmath makes of others. */
Ref e_math1(Eval *e, MathFn f, Type t, Ref a) {
    if (f == MATH_TANH && t == T_F32 && e_numba(e) && e->req->fastmath)
        return e_emit(e, OP_APPROX, t, 1, &a, APPROX_TANH, 0);
    return e_emit(e, OP_MATH, t, 1, &a, (uint16_t)f, 0);
}

Ref e_math2(Eval *e, MathFn f, Type t, Ref a, Ref b) { return e_emit(e, OP_MATH, t, 2, (Ref[]){a, b}, (uint16_t)f, 0); }
Ref e_sreg(Eval *e, Sreg s) { return e_emit(e, OP_SREG, T_I32, 0, NULL, (uint16_t)s, 0); }
Ref e_int(Eval *e, Type t, int64_t v) { return emit_const(e, t, ir_wrap(t, (uint64_t)v)); }

Ref e_float(Eval *e, Type t, double v) {
    DType d = t == T_F16 ? DT_F16 : t == T_BF16 ? DT_BF16 : t == T_F32 ? DT_F32 : DT_F64;
    return emit_const(e, t, double_bits(d, v));
}

Ref e_load(Eval *e, Type t, Ref ptr) { return e_emit(e, OP_LOAD, t, 1, &ptr, 0, 0); }
void e_store(Eval *e, Ref ptr, Ref value) { e_emit(e, OP_STORE, T_VOID, 2, (Ref[]){ptr, value}, 0, 0); }

BlockId e_new_block(Eval *e) { return e->building ? ir_block(e->m) : 0; }
BlockId e_current(Eval *e) { return e->cur; }

void e_set_block(Eval *e, BlockId b) {
    if (e->building) e->cur = b;
}

static void set_succ(Eval *e, BlockId from, uint8_t n, BlockId a, BlockId b) {
    Block *block = &e->m->blocks.at[from];
    block->nsucc = n;
    block->succ[0] = a;
    block->succ[1] = b;
}

void e_jump(Eval *e, BlockId to) {
    if (!e->building) return;
    e_emit(e, OP_JUMP, T_VOID, 0, NULL, 0, 0);
    set_succ(e, e->cur, 1, to, 0);
}

void e_branch(Eval *e, Ref cond, BlockId yes, BlockId no) {
    if (!e->building) return;
    if (cond == REF_NONE || yes == no) {
        e_jump(e, yes);
        return;
    }
    e_emit(e, OP_BRANCH, T_VOID, 1, &cond, 0, 0);
    set_succ(e, e->cur, 2, yes, no);
}

void e_ret(Eval *e, uint32_t n, const Ref *values) { e_emit(e, OP_RET, T_VOID, n, values, 0, 0); }

Ref e_phi(Eval *e, Type t) { return e->building ? ir_emit(e->m, e->cur, OP_PHI, t, 0, NULL, 0, 0, e->span) : REF_NONE; }

void e_phi_add(Eval *e, Ref phi, BlockId pred, Ref value) {
    if (!e->building || phi == REF_NONE || value == REF_NONE) return;
    VEC_PUSH(e->arena, &e->feeds, ((PhiFeed){phi, pred, value}));
}

/* Enters the collected operands in the order of each block's predecessors. */
void e_finish_phis(Eval *e) {
    IrModule *m = e->m;
    ir_edges(m);
    for (uint32_t i = 0; i < e->feeds.n; i++) {
        const PhiFeed *f = &e->feeds.at[i];
        Instr *phi = &m->instrs.at[f->phi];
        const Block *b = &m->blocks.at[phi->block];
        if (b->dead) continue;
        if (!phi->args) {
            phi->nargs = b->preds.n;
            phi->args = ARENA_ARRAY(e->arena, Ref, b->preds.n ? b->preds.n : 1);
        }
        for (uint32_t p = 0; p < b->preds.n; p++)
            if (b->preds.at[p] == f->pred) phi->args[p] = f->value;
    }
}

void e_raise(Eval *e, PySpan span, const char *exception, const char *message) {
    if (!e->building) return;
    e_set_span(e, span);
    IrSite site = {.exception = exception, .message = message, .span = e->span};
    site.host_ref = e->host->global(e->host->self, e->req->function, exception);
    VEC_PUSH(e->arena, &e->m->sites, site);
    e_emit(e, OP_RAISE, T_VOID, 0, NULL, 0, e->m->sites.n - 1);
}

void e_raise_if(Eval *e, PySpan span, Ref cond, const char *exception, const char *message) {
    BlockId bad = e_new_block(e), good = e_new_block(e);
    e_branch(e, cond, bad, good);
    e_set_block(e, bad);
    e_raise(e, span, exception, message);
    e_set_block(e, good);
}
