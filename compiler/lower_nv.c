/* lower_nv.c - what only PTX has: the kernel's parameters and launch bounds, special registers, library
 * functions, exceptions through the error record. */
#include "lower.h"

#include <stdio.h>
#include <string.h>

enum { PTX_KERNEL = 71, GLOBAL = 1, SHARED = 3, CONSTANT = 4, GENERIC = 0 };

static bool reads_anew(const IrModule *m) {
    for (BlockId b = 0; b < m->blocks.n; b++)
        for (uint32_t i = 0; !m->blocks.at[b].dead && i < m->blocks.at[b].instrs.n; i++) {
            const Instr *in = &m->instrs.at[m->blocks.at[b].instrs.at[i]];
            if (in->op == OP_LOAD && in->sub & MEM_VOLATILE) return true;
        }
    return false;
}

/* LLVM takes all loads of a readonly argument for invariant, volatile ones too: then `anew` says to leave it out. Loads
 * that are invariant say so themselves. */
static void describe_pointer(Lower *L, const IrParam *p, uint32_t index, bool anew) {
    LLVMAttributeIndex at = index + 1;
    if (p->flags & PARAM_NOALIAS) ll_attribute(L, L->fn, at, "noalias", 0);
    if (!anew && (p->flags & (PARAM_READ | PARAM_WRITTEN)) == PARAM_READ) ll_attribute(L, L->fn, at, "readonly", 0);
    if (p->align) ll_attribute(L, L->fn, at, "align", p->align);
}

static void launch_bounds(Lower *L) {
    const CompileOptions *o = L->o;
    char text[16];
    const struct {
        const char *name;
        uint32_t value;
    } bounds[] = {{"nvvm.maxntid", o->max_threads},
                  {"nvvm.minctasm", o->min_blocks},
                  {"nvvm.maxnreg", o->max_registers},
                  {"nvvm.maxclusterrank", o->sm >= 90 ? o->max_cluster : 0}}; /* older GPUs have no clusters */
    for (unsigned i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        if (!bounds[i].value) continue;
        snprintf(text, sizeof text, "%u", bounds[i].value);
        ll_string_attribute(L, L->fn, bounds[i].name, text);
    }
}

static void begin(Lower *L) {
    const IrModule *m = L->m;
    uint32_t n = m->params.n;
    Ty *types = ARENA_ARRAY(m->arena, Ty, n + 4);
    for (uint32_t i = 0; i < n; i++) types[i] = ll_memory_type(L, (Type)m->params.at[i].type);
    n = hidden_types(L, GLOBAL, types, n);
    L->fn = LLVMAddFunction(L->mod, m->name, LLVMFunctionType(L->void_, types, n, false));
    LLVMSetFunctionCallConv(L->fn, PTX_KERNEL);
    ll_attribute(L, L->fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    bool anew = reads_anew(m);
    for (uint32_t i = 0; i < m->params.n; i++)
        if (type_is_ptr((Type)m->params.at[i].type)) describe_pointer(L, &m->params.at[i], i, anew);
    hidden_params(L, m->params.n);
    launch_bounds(L);
    if (L->o->fastmath) ll_string_attribute(L, L->fn, "denormal-fp-math-f32", "preserve-sign,preserve-sign");
    L->entry = ll_block(L, "entry");
    LLVMPositionBuilderAtEnd(L->b, L->entry);
}

/* A device function with C's calling convention: `.visible .func`. Several results are a struct. */
static void begin_function(Lower *L) {
    const IrModule *m = L->m;
    Ty *types = ARENA_ARRAY(m->arena, Ty, m->params.n + 1), results[MOST_RESULTS], result = L->void_;
    for (uint32_t i = 0; i < m->params.n; i++) types[i] = ll_memory_type(L, (Type)m->params.at[i].type);
    for (uint32_t i = 0; i < m->nresults; i++) results[i] = ll_memory_type(L, m->results[i]);
    if (m->nresults == 1) result = results[0];
    if (m->nresults > 1) result = LLVMStructTypeInContext(L->ctx, results, m->nresults, false);
    L->fn = LLVMAddFunction(L->mod, m->name, LLVMFunctionType(result, types, m->params.n, false));
    ll_attribute(L, L->fn, LLVMAttributeFunctionIndex, "nounwind", 0);
    if (m->nresults == 1 && type_bytes(m->results[0]) < 4)
        ll_attribute(L, L->fn, LLVMAttributeReturnIndex, type_is_signed(m->results[0]) ? "signext" : "zeroext", 0);
    if (L->o->fastmath) ll_string_attribute(L, L->fn, "denormal-fp-math-f32", "preserve-sign,preserve-sign");
    L->entry = ll_block(L, "entry");
    LLVMPositionBuilderAtEnd(L->b, L->entry);
}

static void leave_function(Lower *L, const Instr *ret) {
    const IrModule *m = L->m;
    Val values[MOST_RESULTS];
    for (uint32_t i = 0; i < m->nresults; i++) {
        values[i] = L->value[ret->args[i]];
        if (m->results[i] == T_BOOL) values[i] = LLVMBuildZExt(L->b, values[i], L->i8, "v");
    }
    if (m->nresults == 0) LLVMBuildRetVoid(L->b);
    else if (m->nresults == 1) LLVMBuildRet(L->b, values[0]);
    else LLVMBuildAggregateRet(L->b, values, m->nresults);
}

static Val param(Lower *L, uint32_t index) {
    Val p = LLVMGetParam(L->fn, index);
    if (L->m->params.at[index].type != T_BOOL) return p;
    return ll_icmp(L, LLVMIntNE, p, LLVMConstInt(L->i8, 0, false));
}

static Val sreg(Lower *L, Sreg r) {
    char name[48];
    snprintf(name, sizeof name, "llvm.nvvm.read.ptx.sreg.%s", sreg_names[r]);
    return ll_intrinsic(L, name, NULL, 0, NULL);
}

/* libdevice's names are __nv_sinf and __nv_sin; libclc's are mangled: _Z3sinf and _Z3sind. */
static Val library(Lower *L, const MathInfo *fn, Type t, Ty result, unsigned n, Val *args) {
    char symbol[64];
    if (L->o->fastmath && t == T_F32) {
        Val quick = lower_fastmath(L, fn, args);
        if (quick) return quick;
    }
    if (L->o->libdevice) {
        snprintf(symbol, sizeof symbol, "__nv_%s%s", fn->libdevice, t == T_F32 ? "f" : "");
    } else {
        int at = snprintf(symbol, sizeof symbol, "_Z%zu%s", strlen(fn->libdevice), fn->libdevice);
        for (unsigned i = 0; i < n; i++) symbol[at++] = LLVMTypeOf(args[i]) == L->i32 ? 'i' : t == T_F32 ? 'f' : 'd';
        symbol[at] = 0;
    }
    return ll_relaxed(L, math_call(L, symbol, result, n, args));
}

static void leave(Lower *L, const Instr *ret) {
    (void)ret;
    LLVMBuildRetVoid(L->b);
}

static void where(Lower *L, Val *out) {
    static const Sreg of[6] = {SREG_TID_X, SREG_TID_Y, SREG_TID_Z, SREG_CTAID_X, SREG_CTAID_Y, SREG_CTAID_Z};
    for (unsigned i = 0; i < 6; i++) out[i] = sreg(L, of[i]);
}

static void raise_here(Lower *L, const Instr *in) {
    lower_record(L, in);
    LLVMBuildRetVoid(L->b);
}

static void end(Lower *L) { (void)L; }

const LowerTarget lower_nv = {
    .address_space = {[T_PTR] = GLOBAL, [T_PTRS] = SHARED, [T_PTRC] = CONSTANT, [T_PTRL] = GENERIC},
    .begin = begin,
    .param = param,
    .sreg = sreg,
    .library = library,
    .leave = leave,
    .raise = raise_here,
    .where = where,
    .shared = lower_nv_shared,
    .sync = lower_nv_sync,
    .clock = lower_nv_clock,
    .end = end,
};

const LowerTarget lower_nv_function = {
    .address_space = {[T_PTR] = GLOBAL, [T_PTRS] = SHARED, [T_PTRC] = CONSTANT, [T_PTRL] = GENERIC},
    .begin = begin_function,
    .param = param,
    .sreg = sreg,
    .library = library,
    .leave = leave_function,
    .shared = lower_nv_shared,
    .sync = lower_nv_sync,
    .clock = lower_nv_clock,
    .end = end,
};
