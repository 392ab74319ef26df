/* decode.c - bytecode of CPython 3.10 to 3.14 to canonical stack instructions.
 *
 * The only file that knows versions. pyopnums.def gives the number of each opcode in each version, pyops.def its
 * meaning; what is left to code here is how an operand is read. Any string of bytes is answered with instructions
 * or with a report: every index that comes from bytecode is checked here, so that later steps can trust it. */
#include "pycode.h"

#include <string.h>

typedef enum OperandKind {
    O_FIXED,
    O_TWICE,
    O_ARG,
    O_BIT,
    O_CONST,
    O_CONST_RETURN,
    O_NAME,
    O_GLOBAL,
    O_ATTR,
    O_METHOD,
    O_SLOT,
    O_DEREF,
    O_PAIR,
    O_NB,
    O_CMP,
    O_CMP_BOOL,
    O_SLICED,
    O_FORMAT,
    O_CONVERT,
    O_COMMON,
    O_KW_NAMES,
    O_INTRINSIC,
    O_FWD,
    O_BACK,
    O_ABS,
    O_NONE_FWD,
    O_SUPER,
    O_MATCH,
    O_SETUP,
    O_NONE_BACK
} OperandKind;

typedef enum PyName {
    PYN_none,
#define PYOP(name, since, until, op, operand, value) PYN_##name,
#define PYOP_SINCE(name, since, until, op, operand, value)
#include "pyops.def"
#undef PYOP
#undef PYOP_SINCE
    PYN__COUNT
} PyName;
_Static_assert(PYN__COUNT <= 256, "names are kept in bytes");

typedef struct OpRow {
    uint8_t name;
    uint16_t since, until;
    uint8_t op, operand;
    int16_t value;
} OpRow;

static const OpRow rows[] = {
#define PYOP(name, since, until, op, operand, value) {PYN_##name, since, until, C_##op, O_##operand, value},
#define PYOP_SINCE(name, since, until, op, operand, value) PYOP(name, since, until, op, operand, value)
#include "pyops.def"
#undef PYOP
#undef PYOP_SINCE
};

/* The first row of each name. */
enum {
#define PYOP(name, since, until, op, operand, value) ROW_##name##_##since,
#define PYOP_SINCE(name, since, until, op, operand, value) ROW_##name##_##since,
#include "pyops.def"
#undef PYOP
#undef PYOP_SINCE
    ROW__COUNT
};
static const uint16_t first_row[PYN__COUNT] = {
#define PYOP(name, since, until, op, operand, value) [PYN_##name] = ROW_##name##_##since,
#define PYOP_SINCE(name, since, until, op, operand, value)
#include "pyops.def"
#undef PYOP
#undef PYOP_SINCE
};

enum { FIRST_VERSION = 310, LAST_VERSION = 314 };
static const struct {
    uint8_t name, caches;
} numbers[LAST_VERSION - FIRST_VERSION + 1][256] = {
#define PYOPNUM(version, number, name, caches) [(version)-FIRST_VERSION][number] = {PYN_##name, caches},
#include "pyopnums.def"
#undef PYOPNUM
};

/* How 3.14 numbers what LOAD_COMMON_CONSTANT pushes: two exceptions, of which earlier versions know the first, and the
 * functions that it compares with what `tuple`, `all` and `any` are. */
enum { COMMON_FUNCTIONS = 2, NCOMMON = 5 };

typedef struct Decoder {
    PyCtx *c;
    CCode *out;
    const HostCode *code;
    uint32_t nunits;
    uint32_t *at_unit;   /* code unit -> first canonical instruction, UINT32_MAX inside of one */
    uint32_t unit, next; /* of the instruction being decoded, and behind its caches */
    uint32_t arg, kw;
    PySpan span;
} Decoder;

static const OpRow *row_of(int version, uint8_t number, unsigned *caches) {
    uint8_t name = numbers[version - FIRST_VERSION][number].name;
    *caches = numbers[version - FIRST_VERSION][number].caches;
    if (name == PYN_none) return NULL;
    for (const OpRow *r = &rows[first_row[name]]; r < rows + ROW__COUNT && r->name == name; r++)
        if (version >= r->since && version <= r->until) return r;
    return NULL;
}

static PySpan span_at(const HostCode *code, uint32_t unit) {
    if (!code->positions || unit >= code->code_size / 2) return (PySpan){0, 0, 0, 0};
    const uint32_t *p = code->positions[unit];
    return (PySpan){.line = p[0], .col = p[2], .end_line = p[1], .end_col = p[3]};
}

static CInstr *emit(Decoder *d, COp op, int32_t arg, int32_t arg2) {
    VEC_PUSH(d->c->arena, &d->out->instrs,
             ((CInstr){.op = (uint8_t)op, .arg = arg, .arg2 = arg2, .unit = d->unit, .span = d->span}));
    return &d->out->instrs.at[d->out->instrs.n - 1];
}

static bool below(Decoder *d, size_t index, size_t n, const char *why) {
    if (index < n) return true;
    py_bad(d->c, d->span, why);
    return false;
}

static bool emit_name(Decoder *d, COp op, uint32_t index) {
    if (!below(d, index, d->code->nnames, "a name number is out of range")) return false;
    emit(d, op, (int32_t)index, 0);
    return true;
}

static bool emit_const(Decoder *d, uint32_t index) {
    if (!below(d, index, d->code->nconsts, "a constant number is out of range")) return false;
    emit(d, C_CONST, (int32_t)index, 0);
    return true;
}

static bool emit_slot(Decoder *d, COp op, uint32_t slot) {
    if (!below(d, slot, d->out->nslots, "a variable number is out of range")) return false;
    emit(d, op, (int32_t)slot, 0);
    return true;
}

/* The empty half of a callable is below it until 3.12, above it later. */
static bool emit_global(Decoder *d) {
    bool half = d->arg & 1, above = d->code->version >= 313;
    if (half && !above) emit(d, C_PUSH_NULL, 0, 0);
    if (!emit_name(d, C_GLOBAL, d->arg >> 1)) return false;
    if (half && above) emit(d, C_PUSH_NULL, 0, 0);
    return true;
}

/* Until 3.10 cells had numbers of their own: the cell variables, then the free ones. */
static bool emit_deref(Decoder *d, COp op, uint32_t index) {
    uint32_t slot = index;
    if (d->code->version < 311) {
        const HostCode *code = d->code;
        if (!below(d, index, code->ncellvars + code->nfreevars, "a cell number is out of range")) return false;
        bool free_var = index >= code->ncellvars;
        const char *name = free_var ? code->freevars[index - code->ncellvars] : code->cellvars[index];
        for (slot = 0; slot < d->out->nslots; slot++)
            if ((d->out->slots[slot].kind == SLOT_FREE) == free_var && !strcmp(d->out->slots[slot].name, name)) break;
    }
    if (!below(d, slot, d->out->nslots, "a cell number is out of range")) return false;
    emit(d, op, (int32_t)slot, 0);
    return true;
}

static bool emit_binary(Decoder *d) {
    if (d->arg == 26 && d->code->version >= 314) {
        emit(d, C_SUBSCR, 0, 0);
        return true;
    }
    if (!below(d, d->arg, 2 * PYB__COUNT, "an operator number is out of range")) return false;
    bool inplace = d->arg >= PYB__COUNT;
    emit(d, C_BINARY, inplace ? (int32_t)((d->arg - PYB__COUNT) | PYB_INPLACE) : (int32_t)d->arg, 0);
    return true;
}

/* The numbers of CALL_INTRINSIC_1. */
static bool emit_intrinsic(Decoder *d) {
    switch (d->arg) {
    case 2: emit(d, C_REFUSE, REFUSE_IMPORT_STAR, 0); return true;
    case 3: emit(d, C_HANDLER, 0, 0); return true;
    case 4: emit(d, C_REFUSE, REFUSE_ASYNC, 0); return true;
    case 5: emit(d, C_UNARY, PYU_POS, 0); return true;
    case 6: emit(d, C_TO_TUPLE, 0, 0); return true;
    case 7:
    case 8:
    case 9:
    case 10:
    case 11: emit(d, C_REFUSE, REFUSE_TYPE_PARAMS, 0); return true;
    default: py_bad(d->c, d->span, "an intrinsic number is out of range"); return false;
    }
}

/* The target stays a code unit until all instructions are known. */
static bool emit_jump(Decoder *d, COp op, int32_t value, OperandKind kind) {
    int64_t target = kind == O_ABS    ? (int64_t)d->arg
                     : kind == O_BACK ? (int64_t)d->next - d->arg
                                      : (int64_t)d->next + d->arg;
    if (target < 0 || target >= d->nunits) {
        py_bad(d->c, d->span, "a jump leaves the code");
        return false;
    }
    emit(d, op, value, 0)->target = (uint32_t)target;
    return true;
}

static bool emit_none_jump(Decoder *d, const OpRow *r) {
    emit(d, C_CONST, -1, 0);
    emit(d, C_IS, 0, 0);
    return emit_jump(d, (COp)r->op, r->value, r->operand == O_NONE_FWD ? O_FWD : O_BACK);
}

static bool emit_call_names(Decoder *d) {
    if (!below(d, d->arg, d->code->nconsts, "a constant number is out of range")) return false;
    d->kw = d->arg + 1; /* for the CALL that follows */
    return true;
}

static const int32_t conversions[4] = {0, 's', 'r', 'a'};

/* Reads the operand of one instruction as its row says. */
/* Rows whose operand is a number that must be in a range. */
static bool emit_number(Decoder *d, const OpRow *r) {
    COp op = (COp)r->op;
    uint32_t comparison = d->arg >> r->value;
    switch ((OperandKind)r->operand) {
    case O_CONVERT:
        return below(d, d->arg, 4, "a conversion number is out of range") &&
               (emit(d, op, conversions[d->arg], 0), true);
    case O_COMMON:
        return below(d, d->arg, NCOMMON, "a common constant is out of range") &&
               (emit(d, op, (int32_t)d->arg, 0), true);
    case O_CMP_BOOL: /* bit 4 asks for a bool */
    case O_CMP:
        if (!below(d, comparison, PYC_GE + 1, "a comparison number is out of range")) return false;
        emit(d, op, (int32_t)comparison, 0);
        if (r->operand == O_CMP_BOOL && d->arg & 16) emit(d, C_TO_BOOL, 0, 0);
        return true;
    default: /* O_ARG */
        if (!below(d, d->arg, 1u << 24, "an operand is out of range")) return false;
        emit(d, op, (int32_t)d->arg, r->value);
        if (op == C_CALL) {
            d->out->instrs.at[d->out->instrs.n - 1].kw = d->kw;
            d->kw = 0;
        }
        return true;
    }
}

static void setup_finally(Decoder *d);

static bool emit_row(Decoder *d, const OpRow *r) {
    COp op = (COp)r->op;
    switch ((OperandKind)r->operand) {
    case O_TWICE:
        emit(d, op, r->value, 0);
        emit(d, op, r->value, 0);
        return true;
    case O_FIXED: emit(d, op, r->value, 0); return true;
    case O_BIT: emit(d, op, (int32_t)(d->arg & 1), r->value); return true;
    case O_CONST: return emit_const(d, d->arg);
    case O_CONST_RETURN: return emit_const(d, d->arg) && (emit(d, C_RETURN, 0, 0), true);
    case O_NAME: return emit_name(d, op, d->arg);
    case O_METHOD: return emit_name(d, op, d->arg) && (emit(d, C_PUSH_NULL, 0, 0), true);
    case O_GLOBAL: return emit_global(d);
    case O_ATTR: return emit_name(d, op, d->arg >> 1) && (!(d->arg & 1) || (emit(d, C_PUSH_NULL, 0, 0), true));
    case O_SLOT: return emit_slot(d, op, d->arg);
    case O_DEREF: return emit_deref(d, op, d->arg);
    case O_PAIR: return emit_slot(d, op, d->arg >> 4) && emit_slot(d, (COp)r->value, d->arg & 15);
    case O_NB: return emit_binary(d);
    case O_SLICED:
        emit(d, C_SLICE, 2, 0);
        emit(d, op, 0, 0);
        return true;
    case O_INTRINSIC: return emit_intrinsic(d);
    case O_KW_NAMES: return emit_call_names(d);
    case O_FWD:
    case O_BACK:
    case O_ABS: return emit_jump(d, op, r->value, (OperandKind)r->operand);
    case O_NONE_FWD:
    case O_NONE_BACK: return emit_none_jump(d, r);
    case O_SUPER:
        emit(d, op, 0, 0);
        return emit_name(d, C_ATTR, d->arg >> 2) && (!(d->arg & 1) || (emit(d, C_PUSH_NULL, 0, 0), true));
    case O_MATCH:
        if (!emit_number(d, r) || d->code->version > 310) return d->code->version > 310;
        emit(d, C_COPY, 1, 0);
        emit(d, C_CONST, -1, 0);
        emit(d, C_IS, 1, 0);
        return true;
    case O_SETUP:
        emit(d, op, ENTERS_TRY, 0);
        setup_finally(d);
        return true;
    case O_FORMAT: emit(d, op, d->arg & 4 ? 1 : 0, conversions[d->arg & 3]); return true;
    case O_CONVERT:
    case O_COMMON:
    case O_CMP_BOOL:
    case O_CMP:
    case O_ARG: return emit_number(d, r);
    }
    return false;
}

/* Locals, then cell variables that aren't locals, then free variables: the order of 3.11's fast locals. */
static void decode_slots(Decoder *d) {
    const HostCode *code = d->code;
    size_t n = code->localsplus ? code->nlocalsplus : code->nvarnames + code->ncellvars;
    PySlot *slots = ARENA_ARRAY(d->c->arena, PySlot, n + code->nfreevars + 1);
    uint32_t k = 0;
    if (code->localsplus) {
        size_t nfree = code->nfreevars < n ? code->nfreevars : n;
        for (; k < n; k++) slots[k] = (PySlot){code->localsplus[k], k >= n - nfree ? SLOT_FREE : SLOT_LOCAL};
    } else {
        for (; k < code->nvarnames; k++) slots[k] = (PySlot){code->varnames[k], SLOT_LOCAL};
    }
    for (size_t i = 0; i < code->ncellvars; i++) {
        uint32_t j = 0;
        while (j < k && (slots[j].kind == SLOT_FREE || strcmp(slots[j].name, code->cellvars[i]))) j++;
        if (j < k) slots[j].kind = SLOT_CELL;
        else if (!code->localsplus) slots[k++] = (PySlot){code->cellvars[i], SLOT_CELL};
    }
    for (size_t i = 0; i < code->nfreevars && !code->localsplus; i++)
        slots[k++] = (PySlot){code->freevars[i], SLOT_FREE};
    d->out->slots = slots;
    d->out->nslots = k;
}

/* FOR_ITER's operand leads to the clean-up of the iterator, which canonical FOR_ITER does itself: 3.12 has END_FOR
 * there, which drops two entries, 3.13 END_FOR and POP_TOP, 3.14 END_FOR and POP_ITER. */
static bool skip_end_for(Decoder *d, CInstr *in) {
    if (d->code->version < 312) return true;
    uint32_t skip = d->code->version == 312 ? 1 : 2, unit = in->target;
    unsigned caches;
    for (uint32_t i = 0; i < skip; i++, unit++) {
        const OpRow *r = row_of(d->code->version, d->code->code[2 * (size_t)unit], &caches);
        if (!r || r->op != C_POP || (i == 0 && r->name != PYN_END_FOR) || unit + 1 >= d->nunits) {
            py_bad(d->c, in->span, "a loop doesn't end in END_FOR");
            return false;
        }
    }
    in->target = unit;
    return true;
}

static bool resolve_targets(Decoder *d) {
    for (uint32_t i = 0; i < d->out->instrs.n; i++) {
        CInstr *in = &d->out->instrs.at[i];
        if (in->op != C_JUMP && in->op != C_JUMP_IF && in->op != C_JUMP_OR_POP && in->op != C_FOR_ITER) continue;
        if (in->op == C_FOR_ITER && !skip_end_for(d, in)) return false;
        if (d->at_unit[in->target] == UINT32_MAX) {
            py_bad(d->c, in->span, "a jump leads into the middle of an instruction");
            return false;
        }
        in->target = d->at_unit[in->target];
    }
    return true;
}

/* 3.14 tests whether `tuple`, `all` or `any` is the builtin, and then does its work on a generator expression in line.
 * The call beside that is right for every function, and is what earlier versions have: always there. */
static void take_calls(CCode *code) {
    for (uint32_t i = 0; i + 2 < code->instrs.n; i++) {
        CInstr *in = &code->instrs.at[i];
        if (in->op != C_BUILTIN || in->arg < COMMON_FUNCTIONS) continue;
        if (in[1].op != C_IS || in[2].op != C_JUMP_IF) continue;
        in->op = C_POP; /* the copy of the function that is compared */
        in[1].op = C_NOP;
        in[2].op = C_JUMP;
    }
}

/* Code units to instructions. */
static bool decode_units(Decoder *d) {
    const HostCode *code = d->code;
    uint32_t start = 0;
    d->arg = 0;
    for (d->unit = 0; d->unit < d->nunits; d->unit = d->next) {
        unsigned caches;
        const OpRow *r = row_of(code->version, code->code[2 * (size_t)d->unit], &caches);
        d->arg = d->arg << 8 | code->code[2 * (size_t)d->unit + 1];
        d->next = d->unit + 1 + caches;
        d->span = span_at(code, d->unit);
        if (!r || d->next > d->nunits) {
            py_bad(d->c, d->span,
                   r ? "the last instruction is cut off" : "an opcode is unknown in this version of Python");
            return false;
        }
        if (r->op == C_EXT) continue;
        d->at_unit[start] = d->out->instrs.n;
        if (!emit_row(d, r)) return false;
        if (d->out->instrs.n == d->at_unit[start]) emit(d, C_NOP, 0, 0);
        start = d->next;
        d->arg = 0;
    }
    return true;
}

static const OpRow *row_at(const Decoder *d, uint32_t unit) {
    unsigned caches;
    return unit < d->nunits ? row_of(d->code->version, d->code->code[2 * (size_t)unit], &caches) : NULL;
}

/* Where the word `try` stands, for the message. */
static PySpan try_span(const Decoder *d, uint32_t start) {
    const OpRow *before =
        start > 0 ? row_at(d, start - 1) : NULL; /* the `try` itself is a NOP before what it protects */
    PySpan span = span_at(d->code, before && before->name == PYN_NOP ? start - 1 : start);
    span.end_line = span.line;
    span.end_col = span.col ? span.col + 3 : 0;
    return span;
}

/* Is there a `raise`? */
static bool raises_between(const Decoder *d, uint32_t start, uint32_t end) {
    for (uint32_t i = start; i < end && i < d->nunits; i++) {
        const OpRow *r = row_at(d, i);
        if (r && r->name == PYN_RAISE_VARARGS) return true;
    }
    return false;
}

/* A handler at PUSH_EXC_INFO belongs to a `try` or `with`; those of inlined comprehensions have none. That of a
 * `finally` runs its block and raises again; nothing but an exception leads to it, and the block stands on the other
 * ways, too. */
static void refuse_try(Decoder *d, const CCode *code, uint32_t first, uint32_t start, uint32_t end, uint32_t target) {
    const OpRow *at = row_at(d, target), *after = row_at(d, target + 1);
    if (!at || at->name != PYN_PUSH_EXC_INFO || (after && after->name == PYN_WITH_EXCEPT_START)) return;
    bool except = after && after->name == PYN_POP_TOP;
    for (uint32_t i = target + 1; !except && i < d->nunits; i++) {
        const OpRow *r = row_at(d, i);
        if (r && r->name == PYN_RERAISE) break;
        except = r && (r->name == PYN_CHECK_EXC_MATCH || r->name == PYN_CHECK_EG_MATCH || r->name == PYN_POP_EXCEPT);
    }
    if (except || raises_between(d, start, end))
        py_refuse(d->c, try_span(d, first), except ? REFUSE_TRY : REFUSE_FINALLY);
    for (uint32_t i = 0; i < code->instrs.n; i++)
        code->instrs.at[i].guarded |= code->instrs.at[i].unit >= start && code->instrs.at[i].unit < end;
}

/* 3.10: an `except` begins with the exception's three parts, which it drops or copies. */
static void setup_finally(Decoder *d) {
    uint32_t target = d->next + d->arg;
    const OpRow *r = row_at(d, target);
    bool except = !r || r->name == PYN_POP_TOP || r->name == PYN_DUP_TOP, raises = raises_between(d, d->next, target);
    if (r && r->name == PYN_WITH_EXCEPT_START) return;
    PySpan span = d->span;
    if (except || raises) emit(d, C_REFUSE, except ? REFUSE_TRY : REFUSE_FINALLY, 0)->span = span;
}

/* 3.11's table of protected ranges: numbers of six bits a byte, bit 6 says that more follow; four make an entry. */
void pycode_refuse_try(PyCtx *c, const CCode *code) {
    Decoder decoder = {.c = c, .code = c->code, .nunits = (uint32_t)(c->code->code_size / 2)}, *d = &decoder;
    const uint8_t *p = c->code->exception_table, *end = p ? p + c->code->exception_table_size : NULL;
    uint32_t target = UINT32_MAX, start = 0; /* of the last `try`, which may have several ranges */
    while (p && p < end) {
        uint32_t field[4] = {0, 0, 0, 0};
        for (int k = 0; k < 4; k++)
            for (bool more = true; more; p++) {
                if (p >= end) return;
                field[k] = field[k] << 6 | (*p & 63);
                more = *p & 64;
            }
        if (field[2] >= d->nunits || field[0] >= d->nunits) continue;
        if (field[2] != target) start = field[0];
        target = field[2];
        refuse_try(d, code, start, field[0], field[0] + field[1], target);
    }
}

bool pycode_decode(PyCtx *c, CCode *out) {
    const HostCode *code = c->code;
    Decoder d = {.c = c, .out = out, .code = code, .nunits = (uint32_t)(code->code_size / 2)};
    memset(out, 0, sizeof *out);
    if (code->version < FIRST_VERSION || code->version > LAST_VERSION || code->code_size > 1u << 26) {
        py_bad(c, (PySpan){.line = code->first_line}, "this version of Python isn't known");
        return false;
    }
    decode_slots(&d);
    d.at_unit = ARENA_ARRAY(c->arena, uint32_t, d.nunits + 1);
    memset(d.at_unit, 0xff, sizeof(uint32_t) * d.nunits);
    if (!decode_units(&d) || !resolve_targets(&d)) return false;
    take_calls(d.out);
    return true;
}
