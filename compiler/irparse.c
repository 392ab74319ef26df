/* irparse.c - reads the text form of IR.md.
 *
 * Any input gives a module or a message with its line; nothing is trusted. The module is well
 * formed as a data structure (every index is in bounds, PHI operands follow the predecessors), but
 * only ir_verify says whether its types and its dominance are right. After the first error
 * everything that is read is empty, so that the loops end by themselves. */
#include "irtext.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_BLOCK UINT32_MAX

typedef struct Word {
    const char *at;
    size_t n;
} Word;

/* What is known of an instruction beside its Instr until names are resolved. */
typedef struct Pending {
    uint32_t line;
    VEC(uint32_t) labels; /* of a PHI's operands */
} Pending;

typedef struct Parser {
    Arena *arena;
    IrModule *m;
    const char *at;
    uint32_t line;
    size_t text_size;
    char *error;
    VEC(Ref) values;          /* by number in the text */
    VEC(uint32_t) blocks;     /* by number in the text; BlockId + 1 */
    VEC(Pending) pending;     /* by Ref */
    VEC(uint32_t) span_lines; /* for references checked at the end: pairs (span, line) */
} Parser;

__attribute__((format(printf, 3, 4))) static void fail_at(Parser *p, uint32_t line, const char *fmt, ...) {
    if (p->error) return;
    va_list ap;
    va_start(ap, fmt);
    char *text = arena_vprintf(p->arena, fmt, ap);
    va_end(ap);
    p->error = arena_printf(p->arena, "line %u: %s", line, text);
}

/* ---- characters and words ------------------------------------------------------------------- */

static char peek(Parser *p) {
    if (p->error) return '\0';
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\r') p->at++;
    if (*p->at == '#') p->at += strcspn(p->at, "\n");
    return *p->at;
}

static bool accept(Parser *p, char c) {
    if (peek(p) != c) return false;
    p->at++;
    return true;
}

static void expect(Parser *p, char c) {
    if (!accept(p, c)) fail_at(p, p->line, "expected '%c'", c);
}

static bool at_line_end(Parser *p) {
    char c = peek(p);
    return c == '\n' || c == '\0';
}

static bool word_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$'; }

static Word word(Parser *p) {
    peek(p);
    Word w = {p->at, 0};
    if (p->error) return w;
    while (word_char(*p->at)) p->at++;
    w.n = (size_t)(p->at - w.at);
    if (!w.n) fail_at(p, p->line, "expected a word");
    return w;
}

static bool is(Word w, const char *text) { return strlen(text) == w.n && memcmp(w.at, text, w.n) == 0; }

/* A whole number below 2^64 with an optional sign. */
static uint64_t number(Parser *p, bool *negative) {
    bool minus = accept(p, '-');
    if (negative) *negative = minus;
    if (!isdigit((unsigned char)peek(p))) {
        fail_at(p, p->line, "expected a number");
        return 0;
    }
    char *end;
    errno = 0;
    unsigned long long v = strtoull(p->at, &end, 0);
    if (errno || (minus && !negative)) fail_at(p, p->line, "the number doesn't fit");
    p->at = end;
    return v;
}

static uint32_t small_number(Parser *p, uint64_t limit) {
    uint64_t v = number(p, NULL);
    if (v > limit) {
        fail_at(p, p->line, "the number %llu is too large", (unsigned long long)v);
        return 0;
    }
    return (uint32_t)v;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static char *string(Parser *p) {
    expect(p, '"');
    VEC(char) s = {0};
    while (!p->error && *p->at != '"') {
        char c = *p->at;
        if (c == '\0' || c == '\n') {
            fail_at(p, p->line, "the string doesn't end");
            break;
        }
        p->at++;
        if (c == '\\') {
            c = *p->at;
            if (c == 'x' && hex_digit(p->at[1]) >= 0 && hex_digit(p->at[2]) >= 0) {
                c = (char)(hex_digit(p->at[1]) * 16 + hex_digit(p->at[2]));
                p->at += 3;
            } else if (c == '"' || c == '\\') {
                p->at++;
            } else {
                fail_at(p, p->line, "unknown escape in a string");
            }
        }
        VEC_PUSH(p->arena, &s, c);
    }
    if (!p->error) p->at++;
    VEC_PUSH(p->arena, &s, '\0');
    return s.at;
}

/* ---- names of tables ------------------------------------------------------------------------ */

static Type type_name(Parser *p) {
    Word w = word(p);
    for (int t = T_VOID + 1; t < T__COUNT; t++)
        if (is(w, type_info[t].text)) return (Type)t;
    fail_at(p, p->line, "'%.*s' is not a type", (int)w.n, w.at);
    return T_VOID;
}

static unsigned flag_of(const IrFlagName *names, Word w) {
    for (; names->name; names++)
        if (is(w, names->name)) return names->flag;
    return 0;
}

static Op op_of(Word w) {
    for (int op = 0; op < OP__COUNT; op++) {
        const char *name = op_info[op].name;
        size_t i = 0;
        while (i < w.n && name[i] && tolower((unsigned char)name[i]) == w.at[i]) i++;
        if (i == w.n && !name[i]) return (Op)op;
    }
    return OP__COUNT;
}

static bool lookup(const char *const *names, unsigned count, Word w, uint16_t *sub) {
    for (unsigned i = 0; i < count; i++) {
        if (!is(w, names[i])) continue;
        *sub = (uint16_t)i;
        return true;
    }
    return false;
}

/* Takes the part before the next dot. */
static Word next_part(Word *w) {
    const char *dot = memchr(w->at, '.', w->n);
    Word one = {w->at, dot ? (size_t)(dot - w->at) : w->n};
    w->at += one.n + (dot != NULL);
    w->n -= one.n + (dot != NULL);
    return one;
}

/* "add.block.acquire": operation, then scope and order where they aren't the usual ones. */
static bool atomic_sub(Op op, Word w, uint16_t *sub) {
    uint16_t what = 0, scope = SCOPE_DEVICE, order = ORDER_RELAXED;
    IrSubNames names = sub_names(op);
    if (names.names && !lookup(names.names, names.count, next_part(&w), &what)) return false;
    while (w.n) {
        Word one = next_part(&w);
        if (!lookup(scope_names, SCOPE__COUNT, one, &scope) && !lookup(order_names, ORDER__COUNT, one, &order))
            return false;
    }
    *sub = ATOMIC_SUB_OF(what, scope, order);
    return true;
}

/* What stands after the first dot of an operation's name. */
static uint16_t sub_of(Parser *p, Op op, Word w) {
    uint16_t sub = 0;
    bool ok = w.n == 0;
    IrSubNames names = sub_names(op);
    if (op == OP_ATOMIC || op == OP_CAS) ok = atomic_sub(op, w, &sub);
    else if (names.names) ok = lookup(names.names, names.count, w, &sub);
    else if (sub_flag_names(op)) {
        for (ok = true; ok && w.n;) {
            unsigned flag = flag_of(sub_flag_names(op), next_part(&w));
            if (!flag) ok = false;
            sub |= (uint16_t)flag;
        }
    }
    if (!ok) fail_at(p, p->line, "%s has no variant '%.*s'", op_info[op].name, (int)w.n, w.at);
    return sub;
}

/* ---- the header ----------------------------------------------------------------------------- */

static void parse_param(Parser *p) {
    IrParam q = {.type = (uint8_t)type_name(p)};
    Word kind = word(p);
    uint16_t k = 0;
    if (!lookup(param_kind_names, 6, kind, &k))
        fail_at(p, p->line, "'%.*s' is no kind of parameter", (int)kind.n, kind.at);
    q.kind = (uint8_t)k;
    q.name = string(p);
    while (!at_line_end(p)) {
        Word w = word(p);
        unsigned flag = flag_of(param_flag_names, w);
        if (flag) q.flags |= (uint8_t)flag;
        else if (is(w, "leaf")) q.leaf = (uint16_t)small_number(p, UINT16_MAX);
        else if (is(w, "axis")) q.axis = (uint16_t)small_number(p, UINT16_MAX);
        else if (is(w, "align")) q.align = (uint16_t)small_number(p, UINT16_MAX);
        else fail_at(p, p->line, "unknown word '%.*s' at a parameter", (int)w.n, w.at);
    }
    VEC_PUSH(p->arena, &p->m->params, q);
}

static void parse_data(Parser *p) {
    IrData d = {0};
    while (!p->error && peek(p) != '"') {
        Word w = word(p);
        if (is(w, "align")) d.align = small_number(p, 4096);
        else if (is(w, "const")) d.in_const = true;
        else fail_at(p, p->line, "unknown word '%.*s' at data", (int)w.n, w.at);
    }
    const char *hex = string(p);
    size_t n = strlen(hex);
    unsigned char *bytes = arena_alloc(p->arena, n / 2 + 1);
    for (size_t i = 0; i + 1 < n; i += 2) {
        int high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);
        if (high < 0 || low < 0) fail_at(p, p->line, "data is written in hexadecimal digits");
        bytes[i / 2] = (unsigned char)(high * 16 + low);
    }
    if (n % 2) fail_at(p, p->line, "half a byte of data");
    d.bytes = bytes;
    d.size = n / 2;
    VEC_PUSH(p->arena, &p->m->data, d);
}

/* "shared 1024 align 16", "shared dynamic align 8" */
static void parse_shared(Parser *p) {
    IrShared s = {.align = 16};
    if (isdigit((unsigned char)peek(p))) s.bytes = small_number(p, INT32_MAX);
    else if (is(word(p), "dynamic")) s.dynamic = true;
    else fail_at(p, p->line, "shared has a number of bytes, or is dynamic");
    if (!at_line_end(p)) {
        if (!is(word(p), "align")) fail_at(p, p->line, "expected 'align'");
        s.align = small_number(p, 4096);
    }
    VEC_PUSH(p->arena, &p->m->shared, s);
}

/* "!7", a reference to a span that may stand later. */
static uint32_t span_ref(Parser *p) {
    if (!accept(p, '!')) return 0;
    uint32_t s = small_number(p, UINT32_MAX);
    VEC_PUSH(p->arena, &p->span_lines, s);
    VEC_PUSH(p->arena, &p->span_lines, p->line);
    return s;
}

static void parse_site(Parser *p) {
    IrSite s = {.exception = string(p)};
    s.message = string(p);
    s.span = span_ref(p);
    VEC_PUSH(p->arena, &p->m->sites, s);
}

static void parse_message(Parser *p) {
    IrPrint m = {.text = string(p)};
    m.span = span_ref(p);
    VEC_PUSH(p->arena, &p->m->prints, m);
}

static void parse_span(Parser *p) {
    IrSpan s = {0};
    if (!is(word(p), "func")) fail_at(p, p->line, "expected 'func'");
    s.func = small_number(p, UINT32_MAX);
    s.line = small_number(p, UINT32_MAX);
    expect(p, ':');
    s.col = small_number(p, UINT32_MAX);
    expect(p, '-');
    s.end_line = small_number(p, UINT32_MAX);
    expect(p, ':');
    s.end_col = small_number(p, UINT32_MAX);
    if (!at_line_end(p)) {
        if (!is(word(p), "at")) fail_at(p, p->line, "expected 'at'");
        s.inlined_at = span_ref(p);
    }
    if (s.inlined_at >= p->m->spans.n) fail_at(p, p->line, "a span is inlined at one that stands before it");
    if (s.func >= p->m->funcs.n) fail_at(p, p->line, "no such func");
    VEC_PUSH(p->arena, &p->m->spans, s);
}

static bool parse_header_line(Parser *p, Word w) {
    if (is(w, "param")) parse_param(p);
    else if (is(w, "data")) parse_data(p);
    else if (is(w, "shared")) parse_shared(p);
    else if (is(w, "site")) parse_site(p);
    else if (is(w, "message")) parse_message(p);
    else if (is(w, "foreign")) VEC_PUSH(p->arena, &p->m->foreign, ((IrForeign){.symbol = string(p)}));
    else if (is(w, "span")) parse_span(p);
    else if (is(w, "func")) {
        IrFuncName f = {.file = string(p)};
        f.name = string(p);
        VEC_PUSH(p->arena, &p->m->funcs, f);
    } else if (is(w, "facts")) {
        while (!at_line_end(p)) {
            unsigned flag = flag_of(fact_names, word(p));
            if (!flag) fail_at(p, p->line, "unknown fact");
            p->m->facts |= flag;
        }
    } else return false;
    return true;
}

static void parse_title(Parser *p) {
    Word w = word(p);
    bool function = is(w, "function");
    if (!function && !is(w, "kernel")) fail_at(p, p->line, "expected 'kernel' or 'function'");
    Word name = word(p);
    p->m->name = arena_strndup(p->arena, name.at, name.n);
    p->m->host_function = function;
    while (function && !at_line_end(p)) {
        if (p->m->nresults == MOST_RESULTS) {
            fail_at(p, p->line, "more than %d results", MOST_RESULTS);
            break;
        }
        p->m->results[p->m->nresults++] = type_name(p);
        if (!accept(p, ',')) break;
    }
}

/* ---- instructions --------------------------------------------------------------------------- */

static uint64_t parse_float(Parser *p, Type t) {
    peek(p);
    if (strncmp(p->at, "nan:", 4) == 0) {
        p->at += 4;
        return number(p, NULL) & (type_bits(t) == 64 ? ~UINT64_C(0) : (UINT64_C(1) << type_bits(t)) - 1);
    }
    char *end;
    double v = strtod(p->at, &end);
    if (end == p->at) fail_at(p, p->line, "expected a number");
    p->at = end;
    return ir_double_to_bits(t, v);
}

static uint64_t parse_const(Parser *p, Type t) {
    if (type_is_float(t)) return parse_float(p, t);
    if (t == T_BOOL) {
        Word w = word(p);
        if (!is(w, "true") && !is(w, "false")) fail_at(p, p->line, "a bool is true or false");
        return is(w, "true");
    }
    bool negative;
    uint64_t v = number(p, &negative);
    if (negative) v = 0 - v;
    bool wrong_sign = type_is_signed(t) ? negative != (v >> 63 & 1) : negative;
    if ((wrong_sign && v) || ir_wrap(t, v) != v) fail_at(p, p->line, "the constant doesn't fit %s", type_info[t].text);
    return v;
}

static uint32_t numbered(Parser *p) {
    /* no text can use more numbers than it has characters: larger ones would only cost memory */
    return small_number(p, p->text_size);
}

/* One operand: a value, a block, a block with a value (PHI), or an immediate. */
static void parse_operand(Parser *p, Instr *in, RefVec *args, Pending *pending, uint32_t *succ, uint8_t *nsucc,
                          bool *has_imm) {
    if (accept(p, '%')) {
        VEC_PUSH(p->arena, args, numbered(p));
        return;
    }
    if (in->op == OP_CONST || peek(p) != 'b') {
        if (*has_imm) fail_at(p, p->line, "more than one immediate");
        *has_imm = true;
        bool negative = false;
        in->imm = in->op == OP_CONST ? parse_const(p, in->type) : number(p, &negative);
        if (negative) in->imm = 0 - in->imm;
        return;
    }
    p->at++;
    uint32_t block = numbered(p);
    if (accept(p, ':')) {
        expect(p, '%');
        VEC_PUSH(p->arena, args, numbered(p));
        VEC_PUSH(p->arena, &pending->labels, block);
    } else if (*nsucc < 2) {
        succ[(*nsucc)++] = block;
    } else {
        fail_at(p, p->line, "more than two successors");
    }
}

static void check_operands(Parser *p, const Instr *in, const Pending *pending, uint8_t nsucc, bool has_imm) {
    const OpInfo *info = &op_info[in->op];
    if (has_imm != ((info->flags & IMM) != 0))
        fail_at(p, p->line, "%s %s an immediate", info->name, has_imm ? "doesn't have" : "needs");
    if (pending->labels.n != (in->op == OP_PHI ? in->nargs : 0))
        fail_at(p, p->line, "a phi, and nothing else, has block:value operands");
    if (nsucc && !(info->flags & ENDS)) fail_at(p, p->line, "%s has no successors", info->name);
}

static void parse_instr(Parser *p, BlockId b, Word w, uint32_t result) {
    const char *dot = memchr(w.at, '.', w.n);
    Word base = {w.at, dot ? (size_t)(dot - w.at) : w.n};
    Word sub = {dot ? dot + 1 : w.at, dot ? w.n - base.n - 1 : 0};
    Op op = op_of(base);
    if (op == OP__COUNT) {
        fail_at(p, p->line, "unknown operation '%.*s'", (int)base.n, base.at);
        return;
    }
    if (dot && !sub.n) fail_at(p, p->line, "nothing after the dot");
    Instr in = {.op = (uint8_t)op, .sub = sub_of(p, op, sub)};
    if (result) in.type = (uint8_t)type_name(p);
    RefVec args = {0};
    Pending pending = {.line = p->line};
    uint32_t succ[2] = {0, 0};
    uint8_t nsucc = 0;
    bool has_imm = false;
    for (bool more = !at_line_end(p) && peek(p) != '!'; more; more = accept(p, ','))
        parse_operand(p, &in, &args, &pending, succ, &nsucc, &has_imm);
    in.nargs = args.n;
    check_operands(p, &in, &pending, nsucc, has_imm);
    uint32_t span = span_ref(p);
    if (p->error) return;
    Ref r = ir_emit(p->m, b, op, in.type, args.n, args.at, in.sub, in.imm, span);
    VEC_PUSH(p->arena, &p->pending, pending);
    if (op_info[op].flags & ENDS) {
        Block *block = &p->m->blocks.at[b];
        memcpy(block->succ, succ, sizeof succ);
        block->nsucc = nsucc;
    }
    if (!result) return;
    while (p->values.n <= result) VEC_PUSH(p->arena, &p->values, REF_NONE);
    if (p->values.at[result]) fail_at(p, p->line, "%%%u is defined twice", result);
    p->values.at[result] = r;
}

static void parse_label(Parser *p, uint32_t n) {
    expect(p, ':');
    if (p->error) return;
    BlockId b = ir_block(p->m);
    if (!at_line_end(p)) fail_at(p, p->line, "nothing may follow a label");
    while (p->blocks.n <= n) VEC_PUSH(p->arena, &p->blocks, 0);
    if (p->blocks.at[n]) fail_at(p, p->line, "b%u is defined twice", n);
    p->blocks.at[n] = b + 1;
}

/* "b12": a label, if a colon follows; no operation's name looks like it. */
static bool label_number(Word w, uint32_t *n) {
    if (w.n < 2 || w.n > 9 || w.at[0] != 'b') return false;
    *n = 0;
    for (size_t i = 1; i < w.n; i++) {
        if (!isdigit((unsigned char)w.at[i])) return false;
        *n = *n * 10 + (uint32_t)(w.at[i] - '0');
    }
    return true;
}

static void parse_line(Parser *p) {
    uint32_t label, nblocks = p->m->blocks.n;
    if (accept(p, '%')) {
        uint32_t result = numbered(p);
        expect(p, '=');
        Word w = word(p);
        if (!nblocks) fail_at(p, p->line, "an instruction before the first block");
        else if (!result) fail_at(p, p->line, "values are numbered from 1");
        else if (!p->error) parse_instr(p, nblocks - 1, w, result);
        return;
    }
    Word w = word(p);
    if (p->error) return;
    if (label_number(w, &label)) {
        if (label > p->text_size) fail_at(p, p->line, "the number %u is too large", label);
        else parse_label(p, label);
    } else if (!nblocks && parse_header_line(p, w)) {
        return;
    } else if (!nblocks) {
        fail_at(p, p->line, "unknown line '%.*s'", (int)w.n, w.at);
    } else {
        parse_instr(p, nblocks - 1, w, 0);
    }
}

/* ---- names to indices ----------------------------------------------------------------------- */

static BlockId find_block(const Parser *p, uint32_t n) {
    return n < p->blocks.n && p->blocks.at[n] ? p->blocks.at[n] - 1 : NO_BLOCK;
}

/* Puts a PHI's operands in the order of its block's predecessors. Those of dead blocks go. */
static void order_phi(Parser *p, Ref r) {
    Instr *in = &p->m->instrs.at[r];
    Pending *pending = &p->pending.at[r];
    const Block *b = &p->m->blocks.at[in->block];
    Ref *ordered = ARENA_ARRAY(p->arena, Ref, b->preds.n);
    uint32_t left = 0;
    for (uint32_t i = 0; i < in->nargs; i++) {
        BlockId from = find_block(p, pending->labels.at[i]);
        if (from == NO_BLOCK) fail_at(p, pending->line, "b%u is not defined", pending->labels.at[i]);
        else if (p->m->blocks.at[from].dead) continue;
        uint32_t k = 0;
        while (k < b->preds.n && (b->preds.at[k] != from || ordered[k])) k++;
        if (k == b->preds.n) fail_at(p, pending->line, "b%u is not a predecessor", pending->labels.at[i]);
        else ordered[k] = in->args[i], left++;
    }
    if (left != b->preds.n) fail_at(p, pending->line, "the phi lacks an operand for a predecessor");
    in->args = ordered;
    in->nargs = b->preds.n;
}

static void resolve(Parser *p) {
    IrModule *m = p->m;
    for (Ref r = 1; r < m->instrs.n && !p->error; r++) {
        Instr *in = &m->instrs.at[r];
        for (uint32_t i = 0; i < in->nargs; i++) {
            uint32_t n = in->args[i];
            in->args[i] = n < p->values.n ? p->values.at[n] : REF_NONE;
            if (!in->args[i]) fail_at(p, p->pending.at[r].line, "%%%u is not defined", n);
        }
        if (!(op_info[in->op].flags & ENDS)) continue;
        Block *b = &m->blocks.at[in->block];
        if (r != b->instrs.at[b->instrs.n - 1]) {
            fail_at(p, p->pending.at[r].line, "%s isn't the last instruction of its block", op_info[in->op].name);
            continue;
        }
        for (uint32_t s = 0; s < b->nsucc; s++) {
            uint32_t n = b->succ[s];
            b->succ[s] = find_block(p, n);
            if (b->succ[s] == NO_BLOCK) fail_at(p, p->pending.at[r].line, "b%u is not defined", n);
        }
    }
    for (uint32_t i = 0; i < p->span_lines.n; i += 2)
        if (p->span_lines.at[i] >= m->spans.n)
            fail_at(p, p->span_lines.at[i + 1], "there is no span %u", p->span_lines.at[i]);
    if (!m->blocks.n) fail_at(p, p->line, "no blocks");
    if (p->error) return;
    ir_edges(m);
    for (Ref r = 1; r < m->instrs.n && !p->error; r++)
        if (m->instrs.at[r].op == OP_PHI && !m->blocks.at[m->instrs.at[r].block].dead) order_phi(p, r);
}

IrModule *ir_parse(Arena *arena, const char *text, char **error) {
    Parser p = {.arena = arena, .m = ir_new(arena, ""), .at = text, .line = 1, .text_size = strlen(text)};
    VEC_PUSH(arena, &p.pending, (Pending){0});
    bool title = false;
    while (!p.error && peek(&p) != '\0') {
        if (!at_line_end(&p)) {
            if (title) parse_line(&p);
            else parse_title(&p);
            title = true;
            if (!at_line_end(&p)) fail_at(&p, p.line, "unexpected text: '%.*s'", (int)strcspn(p.at, "\n"), p.at);
        }
        if (accept(&p, '\n')) p.line++;
    }
    if (!title) fail_at(&p, p.line, "no kernel");
    if (!p.error) resolve(&p);
    *error = p.error;
    return p.error ? NULL : p.m;
}
