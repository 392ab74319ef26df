/* irtext.c - prints a module in the text form that IR.md describes; irparse.c reads it back.
 *
 * The text is canonical: blocks stand in reverse postorder and blocks and values are numbered in
 * the order of the text, so that two modules that differ only in their history print the same.
 * It also prints a broken module, so that one can see what is wrong with it. */
#include "irtext.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const param_kind_names[] = {"data", "shape", "stride", "scalar", "record", "captured"};
const char *const pred_names[PRED__COUNT] = {"eq", "ne", "lt", "le", "gt", "ge"};
static const char *const atomic_names[ATOMIC__COUNT] = {"add", "sub", "min", "max",  "fmin", "fmax",
                                                        "and", "or",  "xor", "exch", "inc",  "dec"};
static const char *const barrier_names[BARRIER__COUNT] = {"popc", "and", "or"};
static const char *const shuffle_names[SHFL__COUNT] = {"up", "down", "xor", "idx"};
static const char *const vote_names[VOTE__COUNT] = {"all", "any", "eq", "ballot"};
static const char *const match_names[MATCH__COUNT] = {"any", "all"};
static const char *const clock_names[CLOCK__COUNT] = {"cycles", "time"};
const char *const scope_names[SCOPE__COUNT] = {"device", "block", "system"};
static const char *const fence_names[FENCE__COUNT] = {"device",         "block",         "system",
                                                      "acq_rel_device", "acq_rel_block", "acq_rel_system"};
const char *const order_names[ORDER__COUNT] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};

IrSubNames sub_names(Op op) {
    switch (op) {
    case OP_CMP: return (IrSubNames){pred_names, PRED__COUNT};
    case OP_SREG: return (IrSubNames){sreg_names, SREG__COUNT};
    case OP_MATH: return (IrSubNames){mathfn_names, MATH__COUNT};
    case OP_APPROX: return (IrSubNames){approxfn_names, APPROX__COUNT};
    case OP_FENCE: return (IrSubNames){fence_names, FENCE__COUNT};
    case OP_ATOMIC:
    case OP_REDUX: return (IrSubNames){atomic_names, ATOMIC__COUNT};
    case OP_BARRIER_RED: return (IrSubNames){barrier_names, BARRIER__COUNT};
    case OP_SHFL: return (IrSubNames){shuffle_names, SHFL__COUNT};
    case OP_VOTE: return (IrSubNames){vote_names, VOTE__COUNT};
    case OP_MATCH: return (IrSubNames){match_names, MATCH__COUNT};
    case OP_CLOCK: return (IrSubNames){clock_names, CLOCK__COUNT};
    default: return (IrSubNames){NULL, 0};
    }
}

const IrFlagName mem_flag_names[] = {
    {"unaligned", MEM_UNALIGNED}, {"volatile", MEM_VOLATILE}, {"invariant", MEM_INVARIANT}, {"l2", MEM_L2},
    {"stream", MEM_STREAM},       {"last", MEM_LAST},         {"align2", MEM_ALIGN2},       {"align4", MEM_ALIGN4},
    {"align8", MEM_ALIGN8},       {"align16", MEM_ALIGN16},   {"ordered", MEM_ORDERED},     {NULL, 0}};
const IrFlagName arith_flag_names[] = {{"nowrap", ARITH_NO_WRAP}, {NULL, 0}};
static const IrFlagName addr_flag_names[] = {{"step", ADDR_STEP}, {NULL, 0}};
const IrFlagName divide_flag_names[] = {{"bypositive", DIVIDE_BY_POSITIVE},
                                        {"nosign", DIVIDE_NO_SIGN},
                                        {"fromminus", DIVIDE_FROM_MINUS},
                                        {"once", DIVIDE_ONCE},
                                        {"below", DIVIDE_BELOW},
                                        {NULL, 0}};
const IrFlagName param_flag_names[] = {{"readonly", PARAM_READONLY},
                                       {"noalias", PARAM_NOALIAS},
                                       {"written", PARAM_WRITTEN},
                                       {"read", PARAM_READ},
                                       {NULL, 0}};
const IrFlagName fact_names[] = {{"size32", FACT_SIZE32},
                                 {"align16", FACT_ALIGN16},
                                 {"noalias", FACT_NOALIAS},
                                 {"warps", FACT_WARPS},
                                 {"row", FACT_ROW},
                                 {"counts", FACT_COUNTS},
                                 {NULL, 0}};

const IrFlagName *sub_flag_names(Op op) {
    if (op == OP_LOAD || op == OP_STORE) return mem_flag_names;
    if (ir_is_division(op)) return divide_flag_names;
    if (op == OP_ADDR) return addr_flag_names;
    return op == OP_ADD || op == OP_SUB || op == OP_MUL ? arith_flag_names : NULL;
}

typedef struct Printer {
    const IrModule *m;
    bool spans;
    VEC(char) out;
    uint32_t *value_number; /* of each Ref; 0 = not in the text */
    uint32_t *block_number;
} Printer;

static void put(Printer *p, const char *s) {
    for (; *s; s++) VEC_PUSH(p->m->arena, &p->out, *s);
}

__attribute__((format(printf, 2, 3))) static void putf(Printer *p, const char *fmt, ...) {
    char text[160];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    put(p, text);
}

static void put_string(Printer *p, const char *s) {
    put(p, "\"");
    for (; s && *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') putf(p, "\\%c", c);
        else if (c < 32 || c == 127) putf(p, "\\x%02x", c);
        else VEC_PUSH(p->m->arena, &p->out, (char)c);
    }
    put(p, "\"");
}

static void put_flags(Printer *p, const IrFlagName *names, unsigned flags, const char *before) {
    for (; names->name; names++)
        if (flags & names->flag) putf(p, "%s%s", before, names->name);
}

/* The shortest decimal that reads back as the same value, or the bits of a NaN. */
static void put_float(Printer *p, Type t, uint64_t bits) {
    double v = ir_bits_to_double(t, bits);
    if (isnan(v)) {
        putf(p, "nan:0x%llx", (unsigned long long)bits);
        return;
    }
    if (isinf(v)) {
        put(p, v < 0 ? "-inf" : "inf");
        return;
    }
    char text[40];
    bool whole = fabs(v) < 1e15 && v == floor(v);
    if (whole) snprintf(text, sizeof text, "%.1f", v);
    for (int digits = 1; digits <= 17 && !whole; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        double back = strtod(text, NULL);
        if (ir_double_to_bits(t, back) == bits) break;
    }
    for (char *c = text; *c; c++)
        if (*c == ',') *c = '.'; /* the locale's decimal point */
    put(p, text);
    if (!strpbrk(text, ".e")) put(p, ".0");
}

static void put_const(Printer *p, Type t, uint64_t bits) {
    switch (type_kind(t)) {
    case KIND_BOOL: put(p, bits ? "true" : "false"); break;
    case KIND_INT: putf(p, "%lld", (long long)bits); break;
    case KIND_UINT: putf(p, "%llu", (unsigned long long)bits); break;
    case KIND_FLOAT: put_float(p, t, bits); break;
    default: putf(p, "0x%llx", (unsigned long long)bits); break;
    }
}

static void put_value(Printer *p, Ref r) {
    uint32_t n = r < p->m->instrs.n ? p->value_number[r] : 0;
    if (n) putf(p, "%%%u", n);
    else putf(p, "%%lost%u", r);
}

static void put_block(Printer *p, BlockId b) {
    if (b < p->m->blocks.n && p->block_number[b] != UINT32_MAX) putf(p, "b%u", p->block_number[b]);
    else putf(p, "b?%u", b);
}

/* Scope and order where they aren't the usual ones: an atomic is relaxed at device scope. */
static void put_memory_order(Printer *p, uint16_t sub) {
    if (atomic_scope(sub)) putf(p, ".%s", atomic_scope(sub) < SCOPE__COUNT ? scope_names[atomic_scope(sub)] : "?");
    if (atomic_order(sub)) putf(p, ".%s", atomic_order(sub) < ORDER__COUNT ? order_names[atomic_order(sub)] : "?");
}

static void put_name(Printer *p, const Instr *in) {
    for (const char *s = op_info[in->op].name; *s; s++)
        VEC_PUSH(p->m->arena, &p->out, (char)tolower((unsigned char)*s));
    IrSubNames names = sub_names((Op)in->op);
    unsigned sub = in->op == OP_ATOMIC ? atomic_op(in->sub) : in->sub;
    if (names.names) putf(p, ".%s", sub < names.count ? names.names[sub] : "?");
    if (in->op == OP_ATOMIC || in->op == OP_CAS) put_memory_order(p, in->sub);
    if (sub_flag_names((Op)in->op)) put_flags(p, sub_flag_names((Op)in->op), in->sub, ".");
}

/* PHI operands are named by their predecessor and sorted by its number. */
static void put_phi(Printer *p, const Instr *in) {
    const Block *b = &p->m->blocks.at[in->block];
    if (b->preds.n != in->nargs) {
        for (uint32_t i = 0; i < in->nargs; i++) {
            put(p, i ? ", ?:" : " ?:");
            put_value(p, in->args[i]);
        }
        return;
    }
    uint32_t *at = ARENA_ARRAY(p->m->arena, uint32_t, in->nargs);
    for (uint32_t i = 0; i < in->nargs; i++) {
        uint32_t k = i;
        for (; k > 0 && p->block_number[b->preds.at[at[k - 1]]] > p->block_number[b->preds.at[i]]; k--)
            at[k] = at[k - 1];
        at[k] = i;
    }
    for (uint32_t i = 0; i < in->nargs; i++) {
        put(p, i ? ", " : " ");
        put_block(p, b->preds.at[at[i]]);
        put(p, ":");
        put_value(p, in->args[at[i]]);
    }
}

static void put_operands(Printer *p, const Instr *in) {
    const char *sep = " ";
    bool site_first = in->op == OP_RAISE || in->op == OP_PRINT || in->op == OP_CALL;
    if (site_first) {
        putf(p, " %llu", (unsigned long long)in->imm);
        sep = ", ";
    }
    for (uint32_t i = 0; i < in->nargs; i++, sep = ", ") {
        put(p, sep);
        put_value(p, in->args[i]);
    }
    if (in->op == OP_CONST) {
        put(p, sep);
        put_const(p, in->type, in->imm);
    } else if (op_info[in->op].flags & IMM && !site_first) {
        putf(p, "%s%lld", sep, (long long)in->imm);
    }
    if (op_info[in->op].flags & ENDS) {
        const Block *b = &p->m->blocks.at[in->block];
        for (uint32_t s = 0; s < b->nsucc; s++, sep = ", ") {
            put(p, sep);
            put_block(p, b->succ[s]);
        }
    }
}

static void put_instr(Printer *p, Ref r) {
    const Instr *in = &p->m->instrs.at[r];
    put(p, "  ");
    if (in->type != T_VOID) {
        put_value(p, r);
        put(p, " = ");
    }
    put_name(p, in);
    if (in->type != T_VOID) putf(p, " %s", in->type < T__COUNT ? type_info[in->type].text : "?");
    if (in->op == OP_PHI) put_phi(p, in);
    else put_operands(p, in);
    if (p->spans && in->span) putf(p, " !%u", in->span);
    put(p, "\n");
}

static void put_data(Printer *p, const IrData *d) {
    putf(p, "data align %u%s \"", d->align, d->in_const ? " const" : "");
    for (size_t i = 0; i < d->size; i++) putf(p, "%02x", ((const unsigned char *)d->bytes)[i]);
    put(p, "\"\n");
}

static void put_shared(Printer *p, const IrShared *s) {
    if (s->dynamic) putf(p, "shared dynamic align %u\n", s->align);
    else putf(p, "shared %u align %u\n", s->bytes, s->align);
}

static void put_header(Printer *p) {
    const IrModule *m = p->m;
    putf(p, "%s ", m->host_function ? "function" : "kernel");
    put(p, m->name);
    for (uint32_t i = 0; m->host_function && i < m->nresults; i++)
        putf(p, "%s%s", i ? ", " : " ", type_info[m->results[i]].text);
    put(p, "\n");
    if (m->facts) {
        put(p, "facts");
        put_flags(p, fact_names, m->facts, " ");
        put(p, "\n");
    }
    for (uint32_t i = 0; i < m->params.n; i++) {
        const IrParam *q = &m->params.at[i];
        putf(p, "param %s %s ", type_info[q->type].text, param_kind_names[q->kind]);
        put_string(p, q->name);
        putf(p, " leaf %u", q->leaf);
        if (q->axis) putf(p, " axis %u", q->axis);
        if (q->align) putf(p, " align %u", q->align);
        put_flags(p, param_flag_names, q->flags, " ");
        put(p, "\n");
    }
    for (uint32_t i = 0; i < m->data.n; i++) put_data(p, &m->data.at[i]);
    for (uint32_t i = 0; i < m->shared.n; i++) put_shared(p, &m->shared.at[i]);
    for (uint32_t i = 0; i < m->sites.n; i++) {
        put(p, "site ");
        put_string(p, m->sites.at[i].exception);
        put(p, " ");
        put_string(p, m->sites.at[i].message);
        if (p->spans && m->sites.at[i].span) putf(p, " !%u", m->sites.at[i].span);
        put(p, "\n");
    }
    for (uint32_t i = 0; i < m->foreign.n; i++) {
        put(p, "foreign ");
        put_string(p, m->foreign.at[i].symbol);
        put(p, "\n");
    }
    for (uint32_t i = 0; i < m->prints.n; i++) {
        put(p, "message ");
        put_string(p, m->prints.at[i].text);
        if (p->spans && m->prints.at[i].span) putf(p, " !%u", m->prints.at[i].span);
        put(p, "\n");
    }
}

static void put_spans(Printer *p) {
    const IrModule *m = p->m;
    for (uint32_t i = 0; i < m->funcs.n; i++) {
        put(p, "func ");
        put_string(p, m->funcs.at[i].file);
        put(p, " ");
        put_string(p, m->funcs.at[i].name);
        put(p, "\n");
    }
    for (uint32_t i = 1; i < m->spans.n; i++) {
        const IrSpan *s = &m->spans.at[i];
        putf(p, "span func %u %u:%u-%u:%u", s->func, s->line, s->col, s->end_line, s->end_col);
        if (s->inlined_at) putf(p, " at !%u", s->inlined_at);
        put(p, "\n");
    }
}

char *ir_to_string(const IrModule *m, bool spans) {
    Printer p = {.m = m, .spans = spans};
    uint32_t n = m->blocks.n, values = 0;
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, n);
    p.value_number = ARENA_ARRAY(m->arena, uint32_t, m->instrs.n);
    p.block_number = ARENA_ARRAY(m->arena, uint32_t, n);
    uint32_t live = ir_postorder(m, order);
    for (BlockId b = 0; b < n; b++) p.block_number[b] = UINT32_MAX;
    for (uint32_t i = 0; i < live; i++) {
        const Block *b = &m->blocks.at[order[live - 1 - i]];
        p.block_number[order[live - 1 - i]] = i;
        for (uint32_t k = 0; k < b->instrs.n; k++)
            if (m->instrs.at[b->instrs.at[k]].type != T_VOID) p.value_number[b->instrs.at[k]] = ++values;
    }
    put_header(&p);
    if (spans) put_spans(&p);
    for (uint32_t i = 0; i < live; i++) {
        const Block *b = &m->blocks.at[order[live - 1 - i]];
        putf(&p, "b%u:\n", i);
        for (uint32_t k = 0; k < b->instrs.n; k++) put_instr(&p, b->instrs.at[k]);
    }
    VEC_PUSH(m->arena, &p.out, '\0');
    return p.out.at;
}

void ir_print(const IrModule *m, FILE *out, bool spans) { fputs(ir_to_string(m, spans), out); }
