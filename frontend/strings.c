/* strings.c - elements and fields that are strings of a fixed size (NumPy's S12 and U12): assigning and comparing.
 *
 * A string is a reference to its place, as a record is; it ends at its last character that isn't zero. What is assigned
 * is cut off at the size and filled up with zeros, as NumPy does it. Loads and stores are one character each. */
#include "devfns.h"
#include "arrays.h"

#include <string.h>

enum { MOST_CHARACTERS = 256 /* each is an instruction or two */ };

/* Characters in memory or, if `codes`, known ones. */
typedef struct Chars {
    RecordKind kind; /* BYTES or TEXT */
    uint32_t n;
    const uint32_t *codes;
    Ty ref; /* of a string in memory, or of bytes */
    Ref at;
} Chars;

static const uint32_t *codes_of(Eval *e, const char *s, uint32_t *n) {
    uint32_t *codes = ARENA_ARRAY(e->arena, uint32_t, strlen(s) + 1);
    for (*n = 0; *s; ++*n) {
        unsigned char lead = (unsigned char)*s++;
        unsigned more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
        uint32_t code = more ? lead & (0x3fu >> more) : lead;
        for (; more && *s; more--) code = code << 6 | ((unsigned char)*s++ & 0x3fu);
        codes[*n] = code;
    }
    return codes;
}

static bool chars_of(Eval *e, Val v, Chars *out) {
    const char *s;
    Wide n;
    *out = (Chars){.kind = RECORD_TEXT};
    if (val_as_str(e, v, &s)) {
        out->codes = codes_of(e, s, &out->n);
        return true;
    }
    out->ref = v.ty;
    if (v.ty->kind == TY_ARRAY && v.ty->weak && val_as_int(v.items[1], &n) && n <= MOST_CHARACTERS) {
        out->kind = RECORD_BYTES;
        out->n = (uint32_t)n;
        out->at = v.items[0].ref[0];
        return true;
    }
    if (v.ty->kind != TY_RECORD || (v.ty->record->kind != RECORD_BYTES && v.ty->record->kind != RECORD_TEXT))
        return false;
    out->kind = (RecordKind)v.ty->record->kind;
    out->n = v.ty->record->bytes / (out->kind == RECORD_TEXT ? 4u : 1u);
    out->at = v.items[0].ref[0];
    return true;
}

static Elem char_elem(RecordKind kind, unsigned align) {
    DType d = kind == RECORD_TEXT ? DT_U32 : DT_U8;
    return (Elem){(uint8_t)d, (uint8_t)(align < elem_align(d, NULL) ? align : elem_align(d, NULL)), NULL};
}

/* The code of character i as an u32; 0 behind the end. */
static Ref char_at(Eval *e, const Chars *c, uint32_t i) {
    if (i >= c->n || c->codes) return e_int(e, T_U32, i < c->n ? c->codes[i] : 0);
    unsigned size = c->kind == RECORD_TEXT ? 4 : 1;
    Ty ty = ty_array(e->types, char_elem(c->kind, c->ref->align), 0, LAYOUT_C, true, (Type)c->ref->space);
    Val v = array_load(e, ty, record_offset(e, (Type)c->ref->space, c->at, i * size));
    return e_conv(e, T_U32, val_ref(e, v));
}

static void too_long(Eval *e, PySpan span, uint32_t n) {
    e_fail(e, span,
           "shorter ones are compared and assigned; arrays and records copy strings of any size before the launch",
           DIAG_CONSTRUCT, "this on a string",
           arena_printf(e->arena, "of %u characters; at most %d", n, MOST_CHARACTERS));
}

static bool is_ascii(const Chars *c) {
    bool ascii = true;
    for (uint32_t i = 0; c->codes && i < c->n; i++) ascii &= c->codes[i] < 128;
    return ascii;
}

void string_store(Eval *e, PySpan span, Val to, Val value) {
    Chars target, source;
    span = e->value_span.line ? e->value_span : span;
    chars_of(e, to, &target);
    bool text = chars_of(e, value, &source);
    bool fits = text && (source.kind == target.kind || (source.codes && is_ascii(&source)));
    if (!fits) {
        const char *help = text && source.kind != target.kind
                               ? "str goes to a string (U), bytes go to a byte string (S)"
                               : "it takes a string: a constant, or another element or field";
        e_fail(e, span, help, DIAG_RECORD_STORE, ty_text(e->types, to.ty), e_text(e, value));
        return;
    }
    if (target.n > MOST_CHARACTERS) {
        too_long(e, span, target.n);
        return;
    }
    unsigned size = target.kind == RECORD_TEXT ? 4 : 1;
    DType d = target.kind == RECORD_TEXT ? DT_U32 : DT_U8;
    Val *codes = ARENA_ARRAY(e->arena, Val, target.n + 1); /* all are read before the first is written */
    for (uint32_t i = 0; i < target.n; i++)
        codes[i] = val_typed(e, d, e_conv(e, dtype_info[d].ir, char_at(e, &source, i)));
    for (uint32_t i = 0; i < target.n; i++)
        array_store(e, char_elem(target.kind, to.ty->align), record_offset(e, (Type)to.ty->space, target.at, i * size),
                    codes[i]);
}

/* From the last character to the first: the order so far, unless these differ. */
Val string_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b) {
    static const Pred preds[] = {[PYC_LT] = PRED_LT, [PYC_LE] = PRED_LE, [PYC_EQ] = PRED_EQ,
                                 [PYC_NE] = PRED_NE, [PYC_GT] = PRED_GT, [PYC_GE] = PRED_GE};
    Chars x, y;
    bool memory = a.ty->kind == TY_RECORD || b.ty->kind == TY_RECORD;
    if (!memory || !chars_of(e, a, &x) || !chars_of(e, b, &y) || x.kind != y.kind) return (Val){0};
    uint32_t n = x.n > y.n ? x.n : y.n;
    if (n > MOST_CHARACTERS) {
        too_long(e, span, n);
        return val_poison(e);
    }
    bool equality = op == PYC_EQ || op == PYC_NE, ends = op == PYC_EQ || op == PYC_LE || op == PYC_GE;
    Ref r = e_int(e, T_BOOL, ends);
    for (uint32_t i = n; i-- > 0;) {
        Ref p = char_at(e, &x, i), q = char_at(e, &y, i), same = e_cmp(e, PRED_EQ, p, q);
        Ref here = equality ? e_int(e, T_BOOL, op == PYC_NE) : e_cmp(e, preds[op], p, q);
        r = e_select(e, T_BOOL, same, r, here);
    }
    return val_typed(e, DT_BOOL, r);
}

/* Characters up to the last that isn't zero; ty NULL: no string. */
Val string_len(Eval *e, PySpan span, Val v) {
    Chars c;
    if (v.ty->kind != TY_RECORD || v.ty->record->kind < RECORD_BYTES) return (Val){0};
    chars_of(e, v, &c);
    if (c.n > MOST_CHARACTERS) {
        too_long(e, span, c.n);
        return val_poison(e);
    }
    Ref n = e_int(e, T_I64, 0), zero = e_int(e, T_U32, 0);
    for (uint32_t i = 0; i < c.n; i++)
        n = e_select(e, T_I64, e_cmp(e, PRED_NE, char_at(e, &c, i), zero), e_int(e, T_I64, i + 1), n);
    return val_rt_int(e, n);
}
