/* decode.c - statements of a function -> instructions of the interpreter. */
#include "decode.h"
#include "warp.h"

#include <string.h>

/* ---- instructions ------------------------------------------------------------------------------- */

/* Room for one more, with its fixup beside it. */
static void make_room(Decoder *d) {
    uint32_t room = d->insts_room;
    d->insts = store_grow(&d->load->scratch, d->insts, d->ninsts, &d->insts_room, sizeof *d->insts);
    d->fixups = store_grow(&d->load->scratch, d->fixups, d->ninsts, &room, sizeof *d->fixups);
}

static void fill_in(const Decoder *d, const Stmt *s, const PtxForm *f, PtxInst *in) {
    for (uint32_t i = 0; i < f->ntypes && i < sizeof in->type; i++) in->type[i] = f->types[i];
    in->space = f->field[MF_SPACE] ? f->field[MF_SPACE] - 1 : SPACE_GENERIC;
    in->vec = f->field[MF_VEC] ? f->field[MF_VEC] : 1;
    in->sem = f->field[MF_SEM];
    in->scope = f->field[MF_SCOPE];
    in->line = s->line + d->source->first_line;
    in->loc = s->loc;
}

/* LLVM loads three elements as four, or as two of twice the size, if their address is a multiple of what it loads, and
 * says which bytes aren't used: they may lie behind the end. */
static void leave_out_unused(const Stmt *s, PtxInst *in) {
    uint32_t bytes = ptx_types[in->type[0]].bytes, used = 32u - (uint32_t)__builtin_clz(s->used_bytes);
    uint32_t n = bytes ? (used + bytes - 1) / bytes : 0;
    if (n == 0 || n > in->vec) return;
    in->vec = (uint8_t)n;
    in->unused = (uint8_t)(n * bytes - used);
}

static bool has_jump(const PtxInst *in) { return in->control == CONTROL_BRA || in->control == CONTROL_BRX; }

/* The instruction itself, when what comes before it is there. */
bool decode_plain(Decoder *d, const Stmt *s, PtxInst *in, PtxForm *form, Label *target) {
    if (s->guard) {
        in->has_guard = true;
        in->guard_not = s->guard_not;
        in->guard = register_operand(d, s->guard).off;
    }
    fill_in(d, s, form, in);
    if (!s->op->opcode->select(form, in)) {
        load_error(d->load, d->source, s->line, "Unsupported form of an instruction: '%s'", s->op->text);
        return false;
    }
    if (s->used_bytes) leave_out_unused(s, in);
    if (has_jump(in) && !target) return operand_error(d, s, "Label expected");
    make_room(d);
    d->fixups[d->ninsts] = target;
    d->insts[d->ninsts++] = *in;
    return true;
}

bool decode_statement(Decoder *d, const Stmt *s) {
    const PtxOpcode *op = s->op->opcode;
    if (op->control == CONTROL_CALL || op->control == CONTROL_CALL_INDIRECT) return decode_call(d, s);
    if (op->control == CONTROL_RET && !store_register_results(d, s)) return false;
    PtxForm form = s->op->form;
    PtxInst in = {.control = op->control};
    Label *target = NULL;
    return decode_operands(d, s, &form, &in, &target) && decode_plain(d, s, &in, &form, target);
}

bool emit(Decoder *d, const Stmt *s, const char *spelling, const Arg *args, uint32_t nargs) {
    Arg *copy = STORE_ARRAY(&d->load->scratch, Arg, nargs);
    if (nargs) memcpy(copy, args, nargs * sizeof *args);
    Stmt made = *s;
    made.op = spelling_get(d->load, spelling, strlen(spelling));
    made.args = copy;
    made.nargs = nargs;
    made.call = NULL;
    if (made.op->opcode) return decode_statement(d, &made);
    load_error(d->load, d->source, s->line, "%s", made.op->error);
    return false;
}

/* ---- jumps -------------------------------------------------------------------------------------- */

/* The pcs of .branchtargets, once for each list. */
static uint32_t jump_table(Decoder *d, Label *l) {
    if (l->table) return l->table - 1;
    uint32_t *table = STORE_ARRAY(d->load->keep, uint32_t, l->ntargets + 1);
    table[0] = l->ntargets;
    for (uint32_t i = 0; i < l->ntargets; i++) {
        const Label *t = find_label(d->f, l->targets[i], l->scope);
        if (!t || t->kind != LABEL_CODE)
            load_error(d->load, d->source, l->line, "Unknown label '%s'", l->targets[i]->text);
        else table[i + 1] = d->stmt_pc[t->stmt];
    }
    STORE_PUSH(d->load->keep, d->code->tables, d->ntables, d->tables_room) = table;
    l->table = d->ntables;
    return l->table - 1;
}

static void patch_jumps(Decoder *d) {
    for (uint32_t i = d->func->first; i < d->ninsts; i++) {
        Label *l = d->fixups[i];
        if (!l) continue;
        d->insts[i].target = l->kind == LABEL_CODE ? d->stmt_pc[l->stmt] : jump_table(d, l);
    }
}

/* ---- functions ---------------------------------------------------------------------------------- */

/* Threads get to the end of the function's text: it returns there. */
static bool reaches_end(const Decoder *d) {
    for (const Label *l = d->f->first_label; l; l = l->next)
        if (l->kind == LABEL_CODE && l->stmt == d->f->nstmts) return true;
    if (d->ninsts == d->func->first) return true;
    const PtxInst *in = &d->insts[d->ninsts - 1];
    return in->has_guard || !(in->control == CONTROL_RET || in->control == CONTROL_EXIT || in->control == CONTROL_BRA ||
                              in->control == CONTROL_BRX || in->control == CONTROL_TRAP);
}

static uint64_t special_bit(const PtxOperand *o) {
    return o->file == FILE_SPECIAL ? UINT64_C(1) << o->off / SPECIAL_BYTES : 0;
}

/* What a launch asks, so that it needn't read the instructions each time. */
static void summarise(Decoder *d) {
    PtxFunc *func = d->func;
    func->is_leaf = true;
    for (uint32_t i = func->first; i < func->end; i++) {
        const PtxInst *in = &d->insts[i];
        if (in->control == CONTROL_CALL || in->control == CONTROL_CALL_INDIRECT || is_alloca(in)) func->is_leaf = false;
        for (const PtxOperand *o = in->o; o < in->o + MAX_OPERANDS; o++) {
            func->specials |= special_bit(o);
            for (uint32_t k = 0; o->flags & OPERAND_VECTOR && k < o->bytes; k++)
                func->specials |= special_bit(&d->vectors[o->off + k]);
        }
    }
}

static void decode_function(Decoder *d, Symbol *symbol, PtxFunc *func) {
    Function *f = symbol->function;
    Load *load = d->load;
    d->f = f;
    d->func = func;
    d->source = &load->sources[symbol->source];
    d->frame_at = 0;
    d->preds = 0;
    memset(d->sinks, 0, sizeof d->sinks);
    d->stmt_pc = STORE_ARRAY(&load->scratch, uint32_t, f->nstmts + 1);
    func->first = d->ninsts;
    uint32_t i = 0;
    Stmt last = {.line = f->line};
    load_register_parameters(d);
    for (const Stmt *s = f->body; s && !load_gives_up(load); s = s->next) {
        d->stmt_pc[i++] = d->ninsts;
        decode_statement(d, s);
        last.line = s->line;
        last.loc = s->loc;
    }
    d->stmt_pc[i] = d->ninsts;
    if (reaches_end(d)) emit(d, &last, "ret", NULL, 0);
    func->end = d->ninsts;
    summarise(d);
    patch_jumps(d);
    func->frame_bytes = (uint32_t)((d->frame_at + 63) & ~UINT64_C(63));
    if (f->local_max > func->local_bytes) func->local_bytes = (uint32_t)((f->local_max + 15) & ~UINT64_C(15));
    if (!load->log->errors) estimate_registers(d);
}

/* Puts what grew into the module. */
static void keep_all(Decoder *d) {
    Store *keep = d->load->keep;
    PtxCode *code = d->code;
    code->ninsts = d->ninsts;
    code->insts = STORE_ARRAY(keep, PtxInst, d->ninsts + 1);
    if (d->ninsts) memcpy(code->insts, d->insts, d->ninsts * sizeof *d->insts);
    code->vectors = STORE_ARRAY(keep, PtxOperand, d->nvectors + 1);
    if (d->nvectors) memcpy(code->vectors, d->vectors, d->nvectors * sizeof *d->vectors);
    uint8_t *constants = STORE_ARRAY(keep, uint8_t, d->constants_bytes + 64);
    code->constants = constants + (-(uintptr_t)constants & 63);
    if (d->constants_bytes) memcpy(code->constants, d->constants, d->constants_bytes);
    PtxLoc *locs = STORE_ARRAY(keep, PtxLoc, code->nlocs);
    memcpy(locs, code->locs, code->nlocs * sizeof *locs);
    code->locs = locs;
}

bool decode_functions(Load *load) {
    uint32_t errors = load->log->errors;
    Decoder *d = STORE_NEW(&load->scratch, Decoder);
    d->load = load;
    d->code = load->code;
    for (uint32_t i = 0; i < load->functions.count && !load_gives_up(load); i++)
        if (load->functions.items[i]->function->has_body)
            decode_function(d, load->functions.items[i], &load->code->funcs[i]);
    keep_all(d);
    return load->log->errors == errors;
}
