/* params.c - which parameters a kernel needs, and what it does with its arrays.
 *
 * needs: simplify (unused code is gone)      keeps: everything but the numbers of parameters and sites
 *
 * A pointer is traced through ADDR, PHI and SELECT to the PARAMs that it may come from. A store
 * makes those WRITTEN, a load READ; a load whose sources are all constant data, or arrays that
 * nothing writes and that no written array overlaps (NOALIAS, or a kernel without any store), is
 * INVARIANT. What a pointer that is stored points to (recursion keeps it) counts as read and written.
 * Then parameters and sites without a use go, and the others move up.
 *
 * Another kernel or the host may write an array meanwhile; as in CUDA, a kernel that must see that
 * uses volatile accesses or atomics, which are never INVARIANT. */
#include "ir.h"

typedef struct Trace {
    IrModule *m;
    uint32_t *seen; /* by Ref: the number of the access that last came by */
    uint32_t access;
    RefVec work, sources;
} Trace;

static void visit(Trace *t, Ref r) {
    if (t->seen[r] == t->access) return;
    t->seen[r] = t->access;
    VEC_PUSH(t->m->arena, &t->work, r);
}

/* Fills t->sources with the values that a pointer starts from. */
static void find_sources(Trace *t, Ref pointer) {
    t->access++;
    t->sources.n = t->work.n = 0;
    visit(t, pointer);
    while (t->work.n) {
        Ref r = t->work.at[--t->work.n];
        const Instr *in = &t->m->instrs.at[r];
        switch (in->op) {
        case OP_ADDR: visit(t, in->args[0]); break;
        case OP_SELECT:
            visit(t, in->args[1]);
            visit(t, in->args[2]);
            break;
        case OP_PHI:
            for (uint32_t i = 0; i < in->nargs; i++) visit(t, in->args[i]);
            break;
        default: VEC_PUSH(t->m->arena, &t->sources, r); break;
        }
    }
}

static bool stores_at(const Instr *in) { return in->op == OP_STORE || in->op == OP_ATOMIC || in->op == OP_CAS; }
static bool loads_at(const Instr *in) { return in->op == OP_LOAD || in->op == OP_ATOMIC || in->op == OP_CAS; }

/* A pointer that goes where it can't be traced: what it points to is read and written. */
static void mark_lost(Trace *t, Ref pointer) {
    if (!type_is_ptr((Type)t->m->instrs.at[pointer].type)) return;
    find_sources(t, pointer);
    for (uint32_t k = 0; k < t->sources.n; k++) {
        const Instr *source = &t->m->instrs.at[t->sources.at[k]];
        if (source->op == OP_PARAM) t->m->params.at[source->imm].flags |= PARAM_READ | PARAM_WRITTEN;
    }
}

/* A foreign function reads and writes what it gets a pointer to, and maybe more. */
static bool mark_call(Trace *t, const Instr *call) {
    for (uint32_t a = 0; a < call->nargs; a++) mark_lost(t, call->args[a]);
    return true;
}

/* Sets READ and WRITTEN; whether the kernel stores through a pointer that isn't its own memory. */
static bool mark_accesses(Trace *t) {
    IrModule *m = t->m;
    bool stores = false;
    for (uint32_t i = 0; i < m->params.n; i++) m->params.at[i].flags &= (uint8_t) ~(PARAM_READ | PARAM_WRITTEN);
    for (BlockId b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++) {
            const Instr *in = &m->instrs.at[block->instrs.at[i]];
            if (in->op == OP_CALL) stores |= mark_call(t, in);
            if (in->op == OP_STORE) mark_lost(t, in->args[1]);
            if (!loads_at(in) && !stores_at(in)) continue;
            find_sources(t, in->args[0]);
            for (uint32_t k = 0; k < t->sources.n; k++) {
                const Instr *source = &m->instrs.at[t->sources.at[k]];
                if (source->op == OP_PARAM)
                    m->params.at[source->imm].flags |=
                        (uint8_t)((loads_at(in) ? PARAM_READ : 0) | (stores_at(in) ? PARAM_WRITTEN : 0));
                stores |= stores_at(in) && source->op != OP_ALLOCA && source->op != OP_SHARED;
            }
        }
    }
    return stores;
}

static bool source_is_invariant(const IrModule *m, const Instr *source, bool stores) {
    if (source->op == OP_DATA) return true;
    if (source->op != OP_PARAM) return false;
    unsigned flags = m->params.at[source->imm].flags;
    return !stores || (flags & PARAM_NOALIAS && !(flags & PARAM_WRITTEN));
}

static void mark_invariant(Trace *t, bool stores) {
    IrModule *m = t->m;
    for (BlockId b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++) {
            Instr *in = &m->instrs.at[block->instrs.at[i]];
            if (in->op != OP_LOAD || in->sub & MEM_VOLATILE) continue;
            find_sources(t, in->args[0]);
            bool invariant = t->sources.n > 0;
            for (uint32_t k = 0; k < t->sources.n; k++)
                invariant &= source_is_invariant(m, &m->instrs.at[t->sources.at[k]], stores);
            if (invariant) in->sub |= MEM_INVARIANT;
        }
    }
}

/* Numbers anew what instructions of `op` name by their immediate; moved[old] is the new number + 1. */
static uint32_t renumber(IrModule *m, Op op, uint32_t n, uint32_t *moved) {
    uint32_t kept = 0;
    for (int naming = 0; naming < 2; naming++) {
        for (BlockId b = 0; b < m->blocks.n; b++) {
            const Block *block = &m->blocks.at[b];
            for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++) {
                Instr *in = &m->instrs.at[block->instrs.at[i]];
                if (in->op != op) continue;
                if (naming) in->imm = moved[in->imm] - 1;
                else moved[in->imm] = 1;
            }
        }
        for (uint32_t i = 0; i < n && !naming; i++)
            if (moved[i]) moved[i] = ++kept;
    }
    return kept;
}

static bool looks_at_others(const Instr *in) {
    return in->op == OP_ATOMIC || in->op == OP_CAS || (in->op == OP_LOAD && in->sub & MEM_VOLATILE);
}

/* Facts that only operations of warps, or loops that may wait, ask for. */
static void drop_facts(IrModule *m) {
    uint32_t asked = 0;
    for (BlockId b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++)
            asked |= ir_is_warp_op((Op)m->instrs.at[block->instrs.at[i]].op) ? FACT_WARPS
                     : looks_at_others(&m->instrs.at[block->instrs.at[i]])   ? FACT_ROW
                                                                             : 0;
    }
    m->facts &= ~(uint32_t)(FACT_WARPS | FACT_ROW) | asked;
}

/* Parameters, and places that raise or print, which nothing names. */
static void drop_unused(IrModule *m) {
    uint32_t *moved = ARENA_ARRAY(m->arena, uint32_t, m->params.n);
    uint32_t kept = renumber(m, OP_PARAM, m->params.n, moved);
    for (uint32_t i = 0; i < m->params.n; i++)
        if (moved[i]) m->params.at[moved[i] - 1] = m->params.at[i];
    m->params.n = kept;
    moved = ARENA_ARRAY(m->arena, uint32_t, m->sites.n);
    kept = renumber(m, OP_RAISE, m->sites.n, moved);
    for (uint32_t i = 0; i < m->sites.n; i++)
        if (moved[i]) m->sites.at[moved[i] - 1] = m->sites.at[i];
    m->sites.n = kept;
    moved = ARENA_ARRAY(m->arena, uint32_t, m->prints.n);
    kept = renumber(m, OP_PRINT, m->prints.n, moved);
    for (uint32_t i = 0; i < m->prints.n; i++)
        if (moved[i]) m->prints.at[moved[i] - 1] = m->prints.at[i];
    m->prints.n = kept;
}

void pass_params(IrModule *m) {
    Trace t = {.m = m, .seen = ARENA_ARRAY(m->arena, uint32_t, m->instrs.n)};
    bool stores = mark_accesses(&t);
    mark_invariant(&t, stores);
    drop_unused(m);
    drop_facts(m);
}
