/* pyshare.c - variables that inner functions assign, or see change, as places in memory.
 *
 * needs: TAC after pycfg     keeps: that a value never leaves its block
 * An inner function gets the values that its free variables have where it is made (ssa.c). Where that isn't what Python
 * does, the variable becomes a place that both have: its loads and stores are SHARED_GET and SHARED_SET, and what the
 * cell holds is the place. */
#include "pycode.h"

#include <string.h>

enum { MAX_NESTED = 16 };

static bool is_free(const HostCode *code, const char *name) {
    for (size_t i = 0; i < code->nfreevars; i++)
        if (strcmp(code->freevars[i], name) == 0) return true;
    return false;
}

/* Does the code, or that of a function inside, assign its free variable `name`? */
static bool assigns(PyCtx *c, HostRef obj, const char *name, unsigned depth) {
    HostCode code;
    CCode instrs = {0};
    PyCtx inner = *c;
    memset(&code, 0, sizeof code);
    if (depth > MAX_NESTED || !c->host->code(c->host->self, obj, &code) || !is_free(&code, name)) return false;
    inner.code = &code;
    if (!pycode_decode(&inner, &instrs)) return false; /* reported */
    for (uint32_t i = 0; i < instrs.instrs.n; i++) {
        const CInstr *in = &instrs.instrs.at[i];
        if (in->op != C_STORE && in->op != C_DELETE) continue;
        const PySlot *slot = &instrs.slots[in->arg];
        if (slot->kind == SLOT_FREE && strcmp(slot->name, name) == 0) return true;
    }
    for (size_t i = 0; i < code.nconsts; i++) {
        HostInfo info;
        memset(&info, 0, sizeof info);
        if (c->host->info(c->host->self, code.consts[i], &info) && info.kind == HOST_CODE &&
            assigns(c, code.consts[i], name, depth + 1))
            return true;
    }
    return false;
}

typedef struct Share {
    Arena *arena;
    PyFunc *f;
    uint32_t var, place; /* the variable; the one that has its place */
    bool *read;          /* by value: something other than a cell uses it */
    const char *name;
} Share;

static PyRef add(Share *s, PyBlockId b, PyInstr in, PyRef arg) {
    in.args = ARENA_ARRAY(s->arena, PyRef, 2);
    in.args[0] = arg;
    in.nargs = arg ? 1 : 0;
    in.block = b;
    in.origin = s->f->instrs.n;
    VEC_PUSH(s->arena, &s->f->instrs, in);
    VEC_PUSH(s->arena, &s->f->blocks.at[b].instrs, s->f->instrs.n - 1);
    return s->f->instrs.n - 1;
}

static PyRef load_place(Share *s, PyBlockId b, PySpan span) {
    return add(s, b, (PyInstr){.op = PYX_LOADVAR, .imm = s->place, .span = span}, 0);
}

static void find_reads(Share *s) {
    s->read = ARENA_ARRAY(s->arena, bool, s->f->instrs.n);
    for (PyBlockId b = 0; b < s->f->blocks.n; b++) {
        const PyBlock *block = &s->f->blocks.at[b];
        s->read[block->arg] = s->read[block->cause] = true;
        for (uint32_t i = 0; i < block->instrs.n; i++) {
            const PyInstr *in = &s->f->instrs.at[block->instrs.at[i]];
            for (uint32_t k = 0; in->op != PY_CELL && k < in->nargs; k++) s->read[in->args[k]] = true;
        }
    }
}

/* `sure`: no function that could read the variable is there yet. */
static void share_instr(Share *s, PyBlockId b, PyRef r, PyRef *cell, bool sure) {
    PyInstr in = s->f->instrs.at[r];
    bool variable = (in.op == PYX_LOADVAR || in.op == PYX_STOREVAR) && in.imm == s->var;
    if (variable && (in.op == PYX_STOREVAR || s->read[r])) {
        PyRef place = load_place(s, b, in.span), *args = ARENA_ARRAY(s->arena, PyRef, 2);
        bool store = in.op == PYX_STOREVAR;
        cell[r] = args[0] = place;
        args[1] = store ? in.args[0] : 0;
        in.args = args;
        in.nargs = store ? 2 : 1;
        in.op = store ? PY_SHARED_SET : PY_SHARED_GET;
        in.imm = store && sure;
        in.name = s->name;
    } else if (variable) {
        in.imm = s->place;
        cell[r] = r;
    } else if (in.op == PY_CELL && in.imm2 == s->var + 1) {
        PyRef *place =
            ARENA_ARRAY(s->arena, PyRef, 1); /* the operands may be those of the function that this is a copy of */
        *place = cell[in.args[0]];
        in.args = place;
        in.imm2 = 0;
    }
    s->f->instrs.at[r] = in;
    VEC_PUSH(s->arena, &s->f->blocks.at[b].instrs, r);
}

/* From 3.12 a comprehension's variables are the function's, under the same names. */
static bool is_of_comprehension(PyCtx *c, const PyFunc *f, const PyVars *vars, uint32_t var) {
    for (PyRef r = 1; r < f->instrs.n; r++) {
        const PyInstr *in = &f->instrs.at[r];
        if (in->op != PYX_LOADVAR || in->imm != var || in->imm2 != SAVED) continue;
        DiagFrame at = {.file = c->code->file, .function = c->code->name, .span = in->span};
        Diag *d = diag_report(c->diags, DIAG_CAPTURE, &at, vars->at.at[var].name);
        diag_help(c->diags, d, "give the function a default: lambda k=k: ...");
        return c->failed = true;
    }
    return false;
}

static void share(PyCtx *c, PyFunc *f, PyVars *vars, uint32_t var) {
    if (is_of_comprehension(c, f, vars, var)) return;
    Share s = {.arena = c->arena, .f = f, .var = var, .place = vars->at.n, .name = vars->at.at[var].name};
    PyRef *cell = ARENA_ARRAY(c->arena, PyRef, f->instrs.n);
    PyVar place = vars->at.at[var];
    VEC_PUSH(c->arena, &vars->at, place);
    find_reads(&s);
    for (PyBlockId b = 0; b < f->blocks.n; b++) {
        PyBlock *block = &f->blocks.at[b];
        uint32_t n = block->instrs.n;
        PyRef *old = block->instrs.at;
        bool sure = b == 0;
        block->instrs.at = NULL;
        block->instrs.n = block->instrs.cap = 0;
        if (b == 0) {
            PyRef made = add(&s, b, (PyInstr){.op = PY_SHARED, .name = s.name, .span = {.line = f->first_line}}, 0);
            add(&s, b, (PyInstr){.op = PYX_STOREVAR, .imm = s.place}, made);
        }
        for (uint32_t i = 0; i < n; i++) {
            share_instr(&s, b, old[i], cell, sure);
            sure &= f->instrs.at[old[i]].op != PY_FUNCTION;
        }
    }
}

/* The variables that inner functions assign. */
void pyshare_assigned(PyCtx *c, PyFunc *f, PyVars *vars) {
    uint32_t n = f->instrs.n, nvars = vars->at.n;
    bool *shared = ARENA_ARRAY(c->arena, bool, nvars + 1);
    for (PyRef r = 1; r < n; r++) {
        const PyInstr *fn = &f->instrs.at[r];
        if (fn->op != PY_FUNCTION || !fn->args[2] || f->instrs.at[fn->args[2]].op != PY_TUPLE) continue;
        const PyInstr *closure = &f->instrs.at[fn->args[2]];
        for (uint32_t k = 0; k < closure->nargs; k++) {
            const PyInstr *cell = &f->instrs.at[closure->args[k]];
            if (cell->op == PY_CELL && cell->imm2) shared[cell->imm2 - 1] |= assigns(c, fn->obj, cell->name, 0);
        }
    }
    for (uint32_t v = 0; v < nvars; v++)
        if (shared[v]) share(c, f, vars, v);
}

PyFunc *pyshare_ssa(PyCtx *c, PyFunc *tac, PyVars *vars) {
    uint32_t changes = 0;
    PyFunc *f = pyssa_make(c, tac, vars, &changes);
    while (changes && !c->failed) {
        share(c, tac, vars, changes - 1);
        f = c->failed ? NULL : pyssa_make(c, tac, vars, &changes);
    }
    return f;
}
