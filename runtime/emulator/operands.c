/* operands.c - operands as written -> where their lanes lie, checked against the rules of the opcode. */
#include "decode.h"
#include "warp.h"

#include <string.h>

bool operand_error(Decoder *d, const Stmt *s, const char *what) {
    load_error(d->load, d->source, s->line, "%s for instruction '%s'", what, s->op->text);
    return false;
}

static bool mismatch(Decoder *d, const Stmt *s) { return operand_error(d, s, "Arguments mismatch"); }

/* ---- places ------------------------------------------------------------------------------------- */

uint32_t frame_register(Decoder *d, uint32_t bytes) {
    uint64_t off = d->frame_at;
    d->frame_at += (uint64_t)(bytes < 2 ? 2 : bytes) * WARP;
    if (d->frame_at < UINT32_MAX / 2) return (uint32_t)off;
    load_fatal(d->load, "Function '%s' has too many registers", d->func->name);
    d->frame_at = 0;
    return 0;
}

/* Sixteen masks fill the place of 64 bytes. */
uint32_t frame_predicate(Decoder *d) {
    if (d->preds % 16 == 0) d->pred_line = frame_register(d, 2);
    return d->pred_line + 4 * (d->preds++ % 16);
}

PtxOperand register_operand(Decoder *d, Reg *r) {
    bool pred = r->type == PT_PRED;
    uint32_t bytes = ptx_types[r->type].bytes;
    if (r->off == UINT32_MAX) r->off = pred ? frame_predicate(d) : frame_register(d, bytes);
    return (PtxOperand){FILE_FRAME, (uint8_t)(pred ? 4 : bytes < 2 ? 2 : bytes), pred ? OPERAND_PRED : 0, r->off};
}

/* `_`: a register that is written and never read. */
static PtxOperand sink_operand(Decoder *d, uint32_t bytes, bool pred) {
    uint32_t *sink = &d->sinks[pred ? 0 : bytes < 2 ? 2 : bytes];
    if (!*sink) *sink = 1 + (pred ? frame_predicate(d) : frame_register(d, bytes));
    return (PtxOperand){FILE_FRAME, (uint8_t)(pred ? 4 : bytes < 2 ? 2 : bytes), pred ? OPERAND_PRED : 0, *sink - 1};
}

static uint32_t constant_slot(uint64_t bits, uint32_t bytes) {
    return (uint32_t)((bits + bytes) * UINT64_C(0x9e3779b97f4a7c15) >> 54);
}

/* bytes 0: a predicate's mask. */
static uint32_t constant_place(Decoder *d, uint64_t bits, uint32_t bytes) {
    uint32_t *slot = &d->constant_slots[constant_slot(bits, bytes)];
    for (uint32_t i = *slot; i; i = d->constant_list[i - 1].next) {
        const Constant *c = &d->constant_list[i - 1];
        if (c->bits == bits && c->bytes == bytes) return c->off;
    }
    uint32_t room = bytes ? bytes * WARP : 64;
    if (d->constants_bytes + room > d->constants_room) {
        d->constants_room = d->constants_room ? d->constants_room * 2 : 8192;
        uint8_t *grown = store_alloc(&d->load->scratch, d->constants_room, 1);
        if (d->constants_bytes) memcpy(grown, d->constants, d->constants_bytes);
        d->constants = grown;
    }
    uint32_t off = d->constants_bytes;
    d->constants_bytes += room;
    if (bytes)
        for (uint32_t i = 0; i < WARP; i++) memcpy(d->constants + off + i * bytes, &bits, bytes);
    else memcpy(d->constants + off, &bits, 4);
    STORE_PUSH(&d->load->scratch, d->constant_list, d->nconstants, d->constant_list_room) =
        (Constant){bits, off, *slot, (uint8_t)bytes};
    *slot = d->nconstants;
    return off;
}

PtxOperand constant_operand(Decoder *d, uint64_t bits, uint32_t bytes) {
    if (bytes < 2) bytes = 2;
    if (bytes < 8) bits &= (UINT64_C(1) << 8 * bytes) - 1;
    return (PtxOperand){FILE_CONST, (uint8_t)bytes, 0, constant_place(d, bits, bytes)};
}

static PtxOperand constant_predicate(Decoder *d, bool value) {
    return (PtxOperand){FILE_CONST, 4, OPERAND_PRED, constant_place(d, value ? UINT32_MAX : 0, 0)};
}

/* ---- types -------------------------------------------------------------------------------------- */

/* What a rule says about one operand. */
typedef struct Want {
    uint8_t type, bytes, kind;
    bool wider, dest, any, part; /* any: every register but a predicate; part: may be named */
} Want;

static bool kinds_agree(const Want *w, PtxType reg) {
    uint8_t kind = ptx_types[reg].kind;
    if (kind == KIND_BITS || w->kind == KIND_BITS) return true;
    return (kind == KIND_FLOAT) == (w->kind == KIND_FLOAT);
}

static bool fits(const Want *w, PtxType reg) {
    if (w->type == PT_PRED || reg == PT_PRED) return w->type == PT_PRED && reg == PT_PRED;
    if (w->any) return true;
    uint8_t bytes = ptx_types[reg].bytes;
    bool may_be_wider = w->wider && !(w->kind == KIND_FLOAT && ptx_types[reg].kind == KIND_FLOAT);
    return (may_be_wider ? bytes >= w->bytes : bytes == w->bytes) && kinds_agree(w, reg);
}

static bool want_type(Want *w, const PtxForm *f, uint32_t index, uint32_t times) {
    if (index >= f->ntypes) return false;
    const PtxTypeInfo *t = &ptx_types[f->types[index]];
    w->type = f->types[index];
    w->bytes = (uint8_t)(t->bytes * times);
    w->kind = t->kind;
    return true;
}

static bool want(Want *w, const PtxForm *f, uint16_t rule, bool dest) {
    *w = (Want){.wider = rule & O_WIDER, .dest = dest, .part = rule & O_PART};
    switch (rule & O_RULE) {
    case O_T0:
    case O_T0_PAIR:
    case O_ANY: return want_type(w, f, 0, 1);
    case O_VEC: w->wider = true; return want_type(w, f, 0, 1);
    case O_T1: return want_type(w, f, 1, 1);
    case O_T2: return want_type(w, f, 2, 1);
    case O_WIDE: return want_type(w, f, 0, f->field[MF_PART] == PART_WIDE ? 2 : 1);
    case O_U16: w->type = PT_U16; break;
    case O_U32:
    case O_U32_PAIR: w->type = PT_U32; break;
    case O_U64: w->type = PT_U64; break;
    case O_REGISTERS:
        w->any = true;
        w->type = PT_F32;
        break;
    default: w->type = PT_PRED; break;
    }
    w->bytes = ptx_types[w->type].bytes;
    w->kind = ptx_types[w->type].kind;
    return true;
}

/* ---- constants ---------------------------------------------------------------------------------- */

static bool integer_operand(Decoder *d, const Stmt *s, const Arg *a, const Want *w, PtxOperand *o) {
    if (w->dest || w->bytes > 8) return mismatch(d, s);
    if (w->type == PT_PRED) *o = constant_predicate(d, a->value != 0);
    else if (w->kind == KIND_FLOAT) return mismatch(d, s);
    else *o = constant_operand(d, (uint64_t)a->value, w->bytes);
    return true;
}

/* 0f... is a float's bits, 0d... and decimal ones a double's; a bit type takes those of its width. */
static bool float_operand(Decoder *d, const Stmt *s, const Arg *a, const Want *w, PtxOperand *o) {
    if (w->dest) return mismatch(d, s);
    uint64_t bits = (uint64_t)a->value;
    if (w->type == PT_F32 && a->bytes == 8) {
        double wide;
        memcpy(&wide, &bits, 8);
        float narrow = (float)wide;
        bits = 0;
        memcpy(&bits, &narrow, 4);
    } else if (w->type == PT_F64 && a->bytes == 4) {
        float narrow;
        memcpy(&narrow, &bits, 4);
        double wide = (double)narrow;
        memcpy(&bits, &wide, 8);
    } else if (a->bytes != w->bytes || (w->kind != KIND_FLOAT && w->kind != KIND_BITS)) {
        return mismatch(d, s);
    }
    *o = constant_operand(d, bits, w->bytes);
    return true;
}

/* ---- symbols ------------------------------------------------------------------------------------ */

static Symbol *real(Symbol *s) { return s->real ? s->real : s; }

static bool is_dynamic_shared(const Symbol *s) { return s->space == SPACE_SHARED && !s->function && !s->defined; }

static bool is_mov(const Stmt *s) { return strcmp(s->op->opcode->name, "mov") == 0; }

static bool takes_local_address(const Stmt *s) {
    return strcmp(s->op->opcode->name, "mov") == 0 || strcmp(s->op->opcode->name, "cvta") == 0;
}

/* The value that another operation takes from a register: made before it. */
static bool by_register(Decoder *d, const Stmt *s, const char *spelling, const Arg *args, uint32_t nargs,
                        uint32_t bytes, PtxOperand *o) {
    Reg *r = STORE_NEW(&d->load->scratch, Reg);
    *r = (Reg){bytes == 2 ? PT_B16 : bytes == 4 ? PT_B32 : PT_B64, 1, UINT32_MAX};
    Arg all[3] = {{.kind = ARG_REG, .reg = r}};
    memcpy(all + 1, args, nargs * sizeof *args);
    if (!emit(d, s, spelling, all, nargs + 1)) return false;
    *o = register_operand(d, r);
    return true;
}

static bool dynamic_shared(Decoder *d, const Stmt *s, int64_t more, uint32_t bytes, PtxOperand *o) {
    Arg args[2] = {{.kind = ARG_SPECIAL, .special = SR_DYNAMIC_SMEM_START}, {.kind = ARG_INT, .value = more}};
    if (more) return by_register(d, s, bytes == 4 ? "add.u32" : "add.u64", args, 2, bytes, o);
    if (bytes == 4 && !is_mov(s)) return by_register(d, s, "mov.u32", args, 1, bytes, o);
    *o = (PtxOperand){FILE_SPECIAL, 8, 0, SR_DYNAMIC_SMEM_START * SPECIAL_BYTES};
    return true;
}

static bool symbol_operand(Decoder *d, const Stmt *s, const Arg *a, const Want *w, PtxOperand *o) {
    Symbol *sym = real(a->symbol);
    uint64_t value = sym->place + (uint64_t)a->value;
    if (w->dest || (w->bytes != 4 && w->bytes != 8) || w->kind == KIND_FLOAT) return mismatch(d, s);
    if (sym->function) {
        if (w->bytes != 8 || sym->function->index == UINT32_MAX) return mismatch(d, s);
        *o = constant_operand(d, FUNCTION_BASE + UINT64_C(16) * sym->function->index + (uint64_t)a->value, 8);
        return true;
    }
    if (is_dynamic_shared(sym)) return dynamic_shared(d, s, a->value, w->bytes, o);
    if ((sym->space == SPACE_GLOBAL || sym->space == SPACE_CONST) && w->bytes != 8) return mismatch(d, s);
    if ((sym->space == SPACE_LOCAL || sym->space == SPACE_ARG) && !takes_local_address(s))
        return by_register(d, s, w->bytes == 4 ? "mov.u32" : "mov.u64", a, 1, w->bytes, o);
    *o = constant_operand(d, value, w->bytes);
    if (sym->space == SPACE_LOCAL || sym->space == SPACE_ARG) o->flags |= OPERAND_LOCAL;
    return true;
}

/* ---- one operand -------------------------------------------------------------------------------- */

static bool special_operand(Decoder *d, const Stmt *s, const Arg *a, const Want *w, PtxInst *in, PtxOperand *o) {
    uint8_t bytes = ptx_specials[a->special].bytes;
    bool short_read = w->bytes < bytes && (w->wider || (w->bytes == 2 && bytes == 4)); /* %tid.x once had 16 bits */
    bool internal = a->special == SR_DYNAMIC_SMEM_START;
    if (w->dest || w->kind == KIND_FLOAT || (w->bytes != bytes && !short_read && !internal)) return mismatch(d, s);
    if (w->bytes != bytes && !w->wider && !is_mov(s)) /* operations read lanes of their own width */
        return by_register(d, s, w->bytes == 2 ? "mov.u16" : "mov.u32", a, 1, w->bytes, o);
    *o = (PtxOperand){FILE_SPECIAL, bytes, 0, (uint32_t)a->special * SPECIAL_BYTES};
    if (a->special >= SR_CLOCK && a->special <= SR_GLOBALTIMER_HI && in->control == CONTROL_NONE)
        in->control = CONTROL_CLOCK;
    return true;
}

static bool vector_operand(Decoder *d, const Stmt *s, const Arg *a, const Want *w, PtxInst *in, PtxOperand *o);

static bool data_operand(Decoder *d, const Stmt *s, const Arg *a, const Want *w, PtxInst *in, PtxOperand *o) {
    if (a->address || (a->negated && w->type != PT_PRED)) return mismatch(d, s);
    switch (a->kind) {
    case ARG_REG:
        if (!fits(w, a->reg->type)) return mismatch(d, s);
        if (a->part && !w->part) return mismatch(d, s);
        *o = register_operand(d, a->reg);
        o->flags |= (uint8_t)(a->part << OPERAND_PART);
        break;
    case ARG_SPECIAL: return special_operand(d, s, a, w, in, o);
    case ARG_INT: return integer_operand(d, s, a, w, o);
    case ARG_FLOAT: return float_operand(d, s, a, w, o);
    case ARG_SYMBOL: return symbol_operand(d, s, a, w, o);
    case ARG_VECTOR: return vector_operand(d, s, a, w, in, o);
    case ARG_SINK:
        if (!w->dest) return mismatch(d, s);
        *o = sink_operand(d, w->bytes, w->type == PT_PRED);
        break;
    case ARG_NAME: load_error(d->load, d->source, s->line, "Unknown symbol '%s'", a->name->text); return false;
    default: return false; /* an unknown register: told already */
    }
    if (a->negated) {
        if (w->dest) return mismatch(d, s);
        o->flags |= OPERAND_NOT;
    }
    return true;
}

static bool vector_operand(Decoder *d, const Stmt *s, const Arg *a, const Want *w, PtxInst *in, PtxOperand *o) {
    PtxOperand elements[256];
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->elements[i].kind == ARG_VECTOR || !data_operand(d, s, &a->elements[i], w, in, &elements[i]))
            return false;
    }
    *o = (PtxOperand){FILE_NONE, (uint8_t)a->count, OPERAND_VECTOR, d->nvectors};
    for (uint32_t i = 0; i < a->count; i++)
        STORE_PUSH(&d->load->scratch, d->vectors, d->nvectors, d->vectors_room) = elements[i];
    return true;
}

/* mov packs and unpacks: elements share the type's bytes, and `mov.v4` isn't one of these. */
static bool packed_operand(Decoder *d, const Stmt *s, const Arg *a, Want *w, PtxInst *in, PtxOperand *o) {
    if (a->count == 0 || w->bytes % a->count) return mismatch(d, s);
    static const uint8_t types[17] = {[1] = PT_B8, [2] = PT_B16, [4] = PT_B32, [8] = PT_B64};
    uint8_t type = types[w->bytes / a->count];
    if (!type) return mismatch(d, s);
    Want element = {.type = type, .bytes = ptx_types[type].bytes, .kind = KIND_BITS, .dest = w->dest};
    return vector_operand(d, s, a, &element, in, o);
}

/* ---- addresses ---------------------------------------------------------------------------------- */

/* .param is the launch's buffer in a kernel, local memory in device functions and around calls. */
static void settle_param_space(const Decoder *d, const Symbol *base, PtxForm *f) {
    if (f->field[MF_SPACE] != 1 + SPACE_PARAM) return;
    bool arg = base ? base->space == SPACE_ARG : !d->f->is_kernel;
    if (arg) f->field[MF_SPACE] = 1 + SPACE_ARG;
}

static bool space_mismatch(Decoder *d, const Stmt *s) {
    load_error(d->load, d->source, s->line, "State space mismatch between instruction and address in instruction '%s'",
               s->op->opcode->name);
    return false;
}

static bool space_agrees(Decoder *d, const Stmt *s, const Symbol *sym, PtxForm *f) {
    if (!f->field[MF_SPACE] && sym->space != SPACE_CONST && sym->space != SPACE_PARAM) {
        f->field[MF_SPACE] = (uint8_t)(1 + sym->space);
        return true;
    }
    Space space = (Space)(f->field[MF_SPACE] - 1);
    if (space == (Space)sym->space) return true;
    return space_mismatch(d, s);
}

static bool symbol_address(Decoder *d, const Stmt *s, const Arg *a, PtxForm *f, uint16_t rule, bool first,
                           PtxOperand *o) {
    Symbol *sym = real(a->symbol);
    if (sym->function) return mismatch(d, s);
    settle_param_space(d, sym, f);
    if (first && (s->op->opcode->fields & 1u << MF_SPACE) && !space_agrees(d, s, sym, f)) return false;
    if (rule & O_SHARED && sym->space != SPACE_SHARED) return space_mismatch(d, s);
    if (is_dynamic_shared(sym)) return dynamic_shared(d, s, 0, 8, o);
    *o = constant_operand(d, sym->place, 8);
    if (sym->space == SPACE_LOCAL || sym->space == SPACE_ARG) o->flags |= OPERAND_LOCAL;
    return true;
}

/* What is added to the register stays apart: in->disp. There is one for an instruction; others are added before it. */
static bool address_operand(Decoder *d, const Stmt *s, const Arg *a, PtxForm *f, uint16_t rule, bool first, PtxInst *in,
                            PtxOperand *o) {
    if (!a->address) return mismatch(d, s);
    int64_t disp = a->value;
    if (a->kind == ARG_REG) {
        PtxType type = a->reg->type;
        if ((ptx_types[type].bytes != 4 && ptx_types[type].bytes != 8) || ptx_types[type].kind == KIND_FLOAT)
            return mismatch(d, s);
        settle_param_space(d, NULL, f);
        *o = register_operand(d, a->reg);
    } else if (a->kind == ARG_SYMBOL) {
        if (!symbol_address(d, s, a, f, rule, first, o)) return false;
    } else if (a->kind == ARG_INT) {
        settle_param_space(d, NULL, f);
        *o = constant_operand(d, 0, 8);
    } else if (a->kind == ARG_NAME) {
        load_error(d->load, d->source, s->line, "Unknown symbol '%s'", a->name->text);
        return false;
    } else {
        return a->kind == ARG_NONE ? false : mismatch(d, s);
    }
    if (first) {
        in->disp = disp;
        return true;
    }
    if (disp == 0 && !(o->flags & OPERAND_LOCAL)) return true;
    if (o->flags & OPERAND_LOCAL || a->kind == ARG_INT) return mismatch(d, s);
    if (a->kind == ARG_SYMBOL && !is_dynamic_shared(real(a->symbol))) {
        *o = constant_operand(d, real(a->symbol)->place + (uint64_t)disp, 8);
        return true;
    }
    if (a->kind == ARG_SYMBOL) return dynamic_shared(d, s, disp, 8, o);
    Arg args[2] = {{.kind = ARG_REG, .reg = a->reg}, {.kind = ARG_INT, .value = disp}};
    uint32_t bytes = o->bytes;
    return by_register(d, s, bytes == 4 ? "add.u32" : "add.u64", args, 2, bytes, o);
}

/* ---- all operands ------------------------------------------------------------------------------- */

static bool label_operand(Decoder *d, const Stmt *s, const Arg *a, PtxInst *in, Label **target) {
    Label *l = a->kind == ARG_NAME ? find_label(d->f, a->name, s->scope) : NULL;
    if (!l || l->kind != (in->control == CONTROL_BRX ? LABEL_BRANCHTARGETS : LABEL_CODE)) {
        if (a->kind != ARG_NAME) return mismatch(d, s);
        load_error(d->load, d->source, s->line, "Unknown label '%s'", a->name->text);
        return false;
    }
    *target = l;
    return true;
}

/* The first operand is written unless the opcode is one of those that only read. */
static bool is_destination(const Stmt *s, const PtxForm *f, uint32_t slot, uint16_t rule) {
    uint8_t control = s->op->opcode->control;
    if (slot || rule & O_SOURCE) return false;
    return control == CONTROL_NONE || control == CONTROL_WARP || (control == CONTROL_BARRIER && f->ntypes);
}

static bool one_operand(Decoder *d, const Stmt *s, const Arg *a, uint16_t rule, uint32_t slot, bool first_address,
                        PtxForm *f, PtxInst *in, Label **target) {
    PtxOperand *o = &in->o[slot];
    Want w;
    switch (rule & O_RULE) {
    case O_ADDRESS: return address_operand(d, s, a, f, rule, first_address, in, o);
    case O_LABEL: return label_operand(d, s, a, in, target);
    default: break;
    }
    if (!want(&w, f, rule, is_destination(s, f, slot, rule))) return operand_error(d, s, "Type is missing");
    if (a->kind == ARG_VECTOR) {
        if ((rule & O_RULE) == O_ANY && !f->field[MF_VEC]) return packed_operand(d, s, a, &w, in, o);
        if ((rule & O_RULE) != O_VEC && (rule & O_RULE) != O_ANY && (rule & O_RULE) != O_REGISTERS)
            return mismatch(d, s);
        uint32_t count = f->field[MF_VEC];
        if ((s->op->opcode->fields & 1u << MF_VEC) && (count ? count : 1) != a->count)
            return operand_error(d, s, "Wrong number of vector elements");
    } else if ((rule & O_RULE) == O_VEC && f->field[MF_VEC] > 1) {
        return operand_error(d, s, "Vector operand expected");
    }
    return data_operand(d, s, a, &w, in, o);
}

static bool is_absent(uint16_t rule, const PtxForm *f) { return rule & O_TYPED && !f->ntypes; }

/* d|p are two operands with one rule; absent optional operands leave their slots empty. */
bool decode_operands(Decoder *d, const Stmt *s, PtxForm *f, PtxInst *in, Label **target) {
    const uint16_t *rules = s->op->opcode->operands;
    uint32_t required = 0, given = 0, slot = 0, at = 0, addresses = 0;
    for (uint32_t r = 0; r < MAX_OPERANDS && rules[r]; r++)
        required += !is_absent(rules[r], f) && !(rules[r] & O_OPTIONAL) && (rules[r] & O_RULE) != O_ALL_LANES;
    for (uint32_t i = 0; i < s->nargs; i++) given += !s->args[i].pair;
    if (given < required) return mismatch(d, s);
    uint32_t optional = given - required;
    for (uint32_t r = 0; r < MAX_OPERANDS && rules[r]; r++) {
        uint16_t rule = rules[r], base = rule & O_RULE;
        bool pair = base == O_T0_PAIR || base == O_PRED_PAIR || base == O_U32_PAIR;
        if (slot + pair >= MAX_OPERANDS) return mismatch(d, s);
        if (base == O_ALL_LANES) {
            in->o[slot++] = constant_operand(d, UINT32_MAX, 4);
            continue;
        }
        if (is_absent(rule, f) || (rule & O_OPTIONAL && !optional)) {
            slot += 1u + pair;
            continue;
        }
        optional -= (rule & O_OPTIONAL) != 0;
        const Arg *a = &s->args[at++];
        if (a->pair && !pair) return mismatch(d, s);
        if (!one_operand(d, s, a, rule, slot, addresses == 0, f, in, target)) return false;
        addresses += base == O_ADDRESS;
        if (a->pair) {
            Want p = {.type = PT_PRED, .kind = KIND_PRED, .dest = true};
            if (!data_operand(d, s, &s->args[at++], &p, in, &in->o[slot + 1])) return false;
        }
        slot += 1u + pair;
    }
    if (at != s->nargs) return mismatch(d, s);
    f->noperands = (uint8_t)s->nargs;
    return true;
}
