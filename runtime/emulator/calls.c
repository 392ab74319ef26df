/* calls.c - calls: which bytes of local memory go from the caller to the callee and back.
 *
 * Arguments and results in registers become ARG variables that are stored before the call and loaded behind it, so that
 * running a call only copies local memory. The parameters of a function lie at the start of its local memory, in
 * order; so those of a function that is called by pointer are known from the prototype. */
#include "decode.h"

#include <stdio.h>
#include <string.h>

static bool call_error(Decoder *d, const Stmt *s, const char *what, const char *name) {
    load_error(d->load, d->source, s->line, "%s in call of '%s'", what, name);
    return false;
}

/* A variable of the caller that the text doesn't have. */
static bool new_slot(Decoder *d, const Symbol *formal, Symbol **slot) {
    Symbol *v = *slot = STORE_NEW(&d->load->scratch, Symbol);
    v->name = formal->name;
    v->space = SPACE_ARG;
    v->type = formal->type;
    v->bytes = formal->bytes;
    v->align = formal->align;
    v->defined = true;
    v->owner = d->f;
    if (!place_behind(v, &d->f->local_max)) return false;
    v->real = v;
    return true;
}

static const char *move_spelling(const char *op, PtxType type, char *text, size_t n) {
    snprintf(text, n, "%s.param.%s", op, type == PT_PRED ? "b32" : ptx_types[type].spelling);
    return text;
}

/* st.param [slot], value; or the other way. A predicate travels as 0 or 1. */
static bool store_slot(Decoder *d, const Stmt *s, Symbol *slot, const Arg *value) {
    char text[40];
    Arg args[2] = {{.kind = ARG_SYMBOL, .address = true, .symbol = slot}, *value};
    if (slot->type == PT_PRED) {
        Reg *r = STORE_NEW(&d->load->scratch, Reg);
        *r = (Reg){PT_B32, 1, UINT32_MAX};
        Arg select[4] = {{.kind = ARG_REG, .reg = r}, {.kind = ARG_INT, .value = 1}, {.kind = ARG_INT}, *value};
        if (!emit(d, s, "selp.b32", select, 4)) return false;
        args[1] = select[0];
    }
    return emit(d, s, move_spelling("st", slot->type, text, sizeof text), args, 2);
}

static bool load_slot(Decoder *d, const Stmt *s, Symbol *slot, const Arg *value) {
    char text[40];
    Arg args[2] = {*value, {.kind = ARG_SYMBOL, .address = true, .symbol = slot}};
    if (slot->type != PT_PRED) return emit(d, s, move_spelling("ld", slot->type, text, sizeof text), args, 2);
    Reg *r = STORE_NEW(&d->load->scratch, Reg);
    *r = (Reg){PT_B32, 1, UINT32_MAX};
    Arg compare[3] = {*value, {.kind = ARG_REG, .reg = r}, {.kind = ARG_INT}};
    args[0] = compare[1];
    return emit(d, s, "ld.param.b32", args, 2) && emit(d, s, "setp.ne.s32", compare, 3);
}

/* ---- parameters in registers -------------------------------------------------------------------- */

bool load_register_parameters(Decoder *d) {
    Stmt s = {.line = d->f->line};
    for (uint32_t i = 0; i < d->f->params.count; i++) {
        Symbol *p = d->f->params.items[i];
        Arg value = {.kind = ARG_REG, .reg = p->reg};
        if (p->is_reg && p->reg && !load_slot(d, &s, p, &value)) return false;
    }
    return true;
}

bool store_register_results(Decoder *d, const Stmt *ret) {
    for (uint32_t i = 0; i < d->f->results.count; i++) {
        Symbol *r = d->f->results.items[i];
        Arg value = {.kind = ARG_REG, .reg = r->reg};
        if (r->is_reg && r->reg && !store_slot(d, ret, r, &value)) return false;
    }
    return true;
}

/* ---- calls -------------------------------------------------------------------------------------- */

/* Whose parameters the call has: the function, or the prototype of a call by pointer. */
static Function *callee(Decoder *d, const Stmt *s, const Call *c, PtxInst *in) {
    if (c->target.kind == ARG_SYMBOL) {
        Symbol *target = c->target.symbol->real ? c->target.symbol->real : c->target.symbol;
        if (!target->function || target->function->is_kernel || target->function->index == UINT32_MAX) {
            call_error(d, s, "No device function", target->name->text);
            return NULL;
        }
        in->control = CONTROL_CALL;
        in->target = target->function->index;
        return target->function;
    }
    if (c->target.kind != ARG_REG || ptx_types[c->target.reg->type].bytes != 8) {
        const char *name = c->target.kind == ARG_NAME ? c->target.name->text : "?";
        if (c->target.kind == ARG_NAME) load_error(d->load, d->source, s->line, "Unknown symbol '%s'", name);
        else if (c->target.kind != ARG_NONE) operand_error(d, s, "Arguments mismatch");
        return NULL;
    }
    Label *l = c->prototype ? find_label(d->f, c->prototype, s->scope) : NULL;
    in->control = CONTROL_CALL_INDIRECT;
    in->o[0] = register_operand(d, c->target.reg);
    if (l && l->kind == LABEL_PROTOTYPE) return l->prototype;
    if (l && l->kind == LABEL_CALLTARGETS)
        for (uint32_t i = 0; i < d->load->functions.count; i++)
            if (d->load->functions.items[i]->name == l->targets[0]) return d->load->functions.items[i]->function;
    operand_error(d, s, "Prototype is missing");
    return NULL;
}

/* The caller's variable for one argument. */
static bool argument(Decoder *d, const Stmt *s, const Arg *a, const Symbol *formal, bool is_result, Symbol **slot) {
    bool variable = a->kind == ARG_SYMBOL && !a->symbol->function && a->symbol->space == SPACE_ARG && a->value == 0;
    if (variable) {
        *slot = a->symbol;
        if (a->symbol->bytes == formal->bytes) return true;
        load_error(d->load, d->source, s->line, "Type of argument does not match formal parameter '%s'",
                   formal->name->text);
        return false;
    }
    if (is_result && a->kind != ARG_REG && a->kind != ARG_SINK) return operand_error(d, s, "Arguments mismatch");
    if (formal->bytes > 8 || a->kind == ARG_VECTOR) return operand_error(d, s, "Arguments mismatch");
    return new_slot(d, formal, slot) && (is_result || store_slot(d, s, *slot, a));
}

static bool pass_arguments(Decoder *d, const Stmt *s, const Function *f, PtxCall *call) {
    const Call *c = s->call;
    if (c->nargs != f->params.count) return operand_error(d, s, "Wrong number of arguments");
    call->nargs = c->nargs;
    call->args = store_alloc(d->load->keep, c->nargs, sizeof *call->args);
    for (uint32_t i = 0; i < c->nargs; i++) {
        const Symbol *formal = f->params.items[i];
        Symbol *slot = NULL;
        if (!argument(d, s, &c->args[i], formal, false, &slot)) return false;
        call->args[i].from = (uint32_t)slot->place;
        call->args[i].to = (uint32_t)formal->place;
        call->args[i].bytes = (uint32_t)formal->bytes;
    }
    return true;
}

/* Results come back as one piece, so the caller's variables lie as the callee's do. */
static bool take_results(Decoder *d, const Stmt *s, const Function *f, PtxCall *call, Symbol **slots) {
    const Call *c = s->call;
    if (c->nresults > f->results.count) return operand_error(d, s, "Wrong number of arguments");
    for (uint32_t i = 0; i < c->nresults; i++) {
        const Symbol *formal = f->results.items[i], *first = f->results.items[0];
        if (!argument(d, s, &c->results[i], formal, true, &slots[i])) return false;
        if (slots[i]->place - slots[0]->place != formal->place - first->place)
            return call_error(d, s, "Several results that are no registers", "?");
        if (i == 0) call->result_to = (uint32_t)slots[0]->place;
        call->result_bytes = (uint32_t)(formal->place + formal->bytes - first->place);
    }
    return true;
}

/* Behind the call: results that the text wants in registers. */
static bool load_results(Decoder *d, const Stmt *s, Symbol **slots) {
    for (uint32_t i = 0; i < s->call->nresults; i++) {
        const Arg *a = &s->call->results[i];
        if (a->kind == ARG_REG && !load_slot(d, s, slots[i], a)) return false;
    }
    return true;
}

static void place_prototype(Function *f) {
    uint64_t at = 0;
    for (uint32_t i = 0; i < f->params.count; i++) place_behind(f->params.items[i], &at);
    for (uint32_t i = 0; i < f->results.count; i++) place_behind(f->results.items[i], &at);
}

/* Whose results the call has: a function without any may be declared with one elsewhere, which is then undefined. */
static Function *results_of(const Call *c, Function *f) {
    Function *declared = c->target.kind == ARG_SYMBOL ? c->target.symbol->function : NULL;
    if (f->results.count || !declared || declared == f || !declared->results.count) return f;
    place_prototype(declared);
    return declared;
}

bool decode_call(Decoder *d, const Stmt *s) {
    PtxInst in = {0};
    PtxCall call = {0};
    Function *f = callee(d, s, s->call, &in);
    if (!f) return false;
    if (f->index == UINT32_MAX) place_prototype(f);
    Symbol **slots = STORE_ARRAY(&d->load->scratch, Symbol *, s->call->nresults + 1);
    if (!pass_arguments(d, s, f, &call) || !take_results(d, s, results_of(s->call, f), &call, slots)) return false;
    in.call = d->ncalls;
    STORE_PUSH(d->load->keep, d->code->calls, d->ncalls, d->calls_room) = call;
    PtxForm form = s->op->form;
    return decode_plain(d, s, &in, &form, NULL) && load_results(d, s, slots);
}
