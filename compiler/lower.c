/* lower.c - walks a module and builds its LLVM function; types, constants and intrinsics for all of lower*.c.
 *
 * Blocks are lowered in reverse postorder, so that operands exist before their uses; PHI operands are
 * filled in at the end. A block of ours may become several LLVM blocks: `first` and `last` say where
 * edges lead to and come from. */
#include "lower.h"
#include "regions.h"

#include <assert.h>
#include <string.h>

static LowerFn *const lower_table[OP__COUNT] = {
    [OP_ADD] = lower_add,           [OP_SUB] = lower_sub,           [OP_MUL] = lower_mul,
    [OP_DIV] = lower_div,           [OP_FMA] = lower_fma,           [OP_NEG] = lower_neg,
    [OP_ABS] = lower_abs,           [OP_FLOORDIV] = lower_floordiv, [OP_FLOORMOD] = lower_floormod,
    [OP_TRUNCDIV] = lower_truncdiv, [OP_TRUNCMOD] = lower_truncmod, [OP_MIN] = lower_min,
    [OP_MAX] = lower_max,           [OP_FMIN] = lower_fmin,         [OP_FMAX] = lower_fmax,
    [OP_NANMIN] = lower_nanmin,     [OP_NANMAX] = lower_nanmax,     [OP_MULHI] = lower_mulhi,
    [OP_POW] = lower_pow,           [OP_AND] = lower_and,           [OP_OR] = lower_or,
    [OP_XOR] = lower_xor,           [OP_NOT] = lower_not,           [OP_SHL] = lower_shl,
    [OP_SHR] = lower_shr,           [OP_POPC] = lower_popc,         [OP_CLZ] = lower_clz,
    [OP_CTZ] = lower_ctz,           [OP_BREV] = lower_brev,         [OP_CMP] = lower_cmp,
    [OP_SELECT] = lower_select,     [OP_CONVERT] = lower_convert,   [OP_BITCAST] = lower_bitcast,
    [OP_MATH] = lower_math,         [OP_APPROX] = lower_approx,     [OP_ADDR] = lower_addr,
    [OP_LOAD] = lower_load,         [OP_PRMT] = lower_prmt,         [OP_FSHL] = lower_fshl,
    [OP_FSHR] = lower_fshr,         [OP_ATOMIC] = lower_atomic,     [OP_CAS] = lower_cas,
    [OP_PAUSE] = lower_pause,       [OP_FENCE] = lower_fence,       [OP_ALIGNED] = lower_aligned,
    [OP_ADDRESS] = lower_address,   [OP_STORE] = lower_store,       [OP_ALLOCA] = lower_alloca,
    [OP_DATA] = lower_data,
};

/* ---- types and constants --------------------------------------------------------------------- */

Ty ll_scalar(const Lower *L, Type t) {
    switch (type_kind(t)) {
    case KIND_VOID: return L->void_;
    case KIND_BOOL: return L->i1;
    case KIND_PTR: return LLVMPointerTypeInContext(L->ctx, L->target->address_space[t]);
    default: break;
    }
    if (t == T_F32) return L->f32;
    if (t == T_F64) return L->f64;
    switch (type_bytes(t)) {
    case 1: return L->i8;
    case 2: return L->i16;
    case 4: return L->i32;
    default: return L->i64;
    }
}

Ty ll_wide(const Lower *L, Ty scalar) { return L->lanes > 1 ? LLVMVectorType(scalar, L->lanes) : scalar; }

Ty ll_type(const Lower *L, Type t) { return ll_wide(L, ll_scalar(L, t)); }

Ty ll_memory_type(const Lower *L, Type t) { return ll_wide(L, t == T_BOOL ? L->i8 : ll_scalar(L, t)); }

static Val splat(Ty t, Val scalar) {
    Val parts[64];
    unsigned n = LLVMGetVectorSize(t);
    assert(n <= 64);
    for (unsigned i = 0; i < n; i++) parts[i] = scalar;
    return LLVMConstVector(parts, n);
}

static bool is_vector(Ty t) { return LLVMGetTypeKind(t) == LLVMVectorTypeKind; }

Val ll_int(const Lower *L, Ty t, uint64_t v) {
    (void)L;
    if (is_vector(t)) return splat(t, LLVMConstInt(LLVMGetElementType(t), v, false));
    return LLVMConstInt(t, v, false);
}

Val ll_float(const Lower *L, Ty t, double v) {
    (void)L;
    if (is_vector(t)) return splat(t, LLVMConstReal(LLVMGetElementType(t), v));
    return LLVMConstReal(t, v);
}

/* Floats by their bits, so that NaN payloads and signs stay. */
static Val constant(const Lower *L, Type t, uint64_t bits) {
    Ty st = ll_scalar(L, t);
    Val v;
    if (type_is_ptr(t)) {
        v = LLVMConstIntToPtr(LLVMConstInt(L->i64, bits, false), st);
    } else if (t == T_F32 || t == T_F64) {
        v = LLVMConstBitCast(LLVMConstInt(t == T_F32 ? L->i32 : L->i64, bits, false), st);
    } else {
        v = LLVMConstInt(st, bits, false);
    }
    return L->lanes > 1 ? splat(LLVMVectorType(st, L->lanes), v) : v;
}

bool ll_const_int(const IrModule *m, Ref r, uint64_t *out) {
    const Instr *in = &m->instrs.at[r];
    if (in->op != OP_CONST) return false;
    *out = ir_wrap((Type)in->type, in->imm);
    return true;
}

/* ---- small builders ------------------------------------------------------------------------ */

static Val call_intrinsic(Lower *L, const char *name, unsigned noverloads, Ty *overloads, unsigned n, Val *args) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    assert(id);
    Val fn = LLVMGetIntrinsicDeclaration(L->mod, id, overloads, noverloads);
    Ty type = LLVMIntrinsicGetType(L->ctx, id, overloads, noverloads);
    bool is_void = LLVMGetReturnType(type) == L->void_;
    return LLVMBuildCall2(L->b, type, fn, args, n, is_void ? "" : "t");
}

Val ll_intrinsic(Lower *L, const char *name, Ty overload, unsigned n, Val *args) {
    return call_intrinsic(L, name, overload ? 1 : 0, &overload, n, args);
}

Val ll_intrinsic2(Lower *L, const char *name, Ty o1, Ty o2, unsigned n, Val *args) {
    Ty overloads[2] = {o1, o2};
    return call_intrinsic(L, name, 2, overloads, n, args);
}

Val ll_select(Lower *L, Val c, Val a, Val b) { return LLVMBuildSelect(L->b, c, a, b, "s"); }
Val ll_icmp(Lower *L, LLVMIntPredicate p, Val a, Val b) { return LLVMBuildICmp(L->b, p, a, b, "c"); }
Val ll_fcmp(Lower *L, LLVMRealPredicate p, Val a, Val b) { return LLVMBuildFCmp(L->b, p, a, b, "c"); }

Val ll_relaxed(Lower *L, Val v) {
    if (!L->o->fastmath || !LLVMIsAInstruction(v) || !LLVMCanValueUseFastMathFlags(v)) return v;
    LLVMSetFastMathFlags(v, LLVMFastMathNoNaNs | LLVMFastMathNoSignedZeros | LLVMFastMathAllowReciprocal |
                                LLVMFastMathAllowContract | LLVMFastMathApproxFunc);
    return v;
}

void ll_attribute(const Lower *L, Val fn, LLVMAttributeIndex at, const char *name, uint64_t v) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    assert(kind);
    LLVMAddAttributeAtIndex(fn, at, LLVMCreateEnumAttribute(L->ctx, kind, v));
}

void ll_string_attribute(const Lower *L, Val fn, const char *name, const char *value) {
    LLVMAddAttributeAtIndex(
        fn, LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(L->ctx, name, (unsigned)strlen(name), value, (unsigned)strlen(value)));
}

void ll_range(Lower *L, Val v, uint64_t low, uint64_t high) {
    LLVMMetadataRef ends[2] = {LLVMValueAsMetadata(LLVMConstInt(L->i32, low, false)),
                               LLVMValueAsMetadata(LLVMConstInt(L->i32, high, false))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(L->ctx, ends, 2);
    LLVMSetMetadata(v, LLVMGetMDKindIDInContext(L->ctx, "range", 5), LLVMMetadataAsValue(L->ctx, node));
}

LLVMBasicBlockRef ll_block(Lower *L, const char *name) { return LLVMAppendBasicBlockInContext(L->ctx, L->fn, name); }

/* ---- the walk ------------------------------------------------------------------------------ */

enum { MAX_PURE_ARGS = 4 };

static void lower_phi(Lower *L, Ref r) {
    L->value[r] = LLVMBuildPhi(L->b, ll_type(L, (Type)L->m->instrs.at[r].type), "p");
}

Val ll_value(Lower *L, Ref r) {
    Val variable = L->variable ? L->variable[r] : NULL;
    if (!variable) return L->value[r];
    return LLVMBuildLoad2(L->b, ll_type(L, (Type)L->m->instrs.at[r].type), variable, "v");
}

static void print_here(Lower *L, const Instr *in) {
    Val *args = ARENA_ARRAY(L->m->arena, Val, in->nargs + 1);
    for (uint32_t i = 0; i < in->nargs; i++) args[i] = ll_value(L, in->args[i]);
    lower_print(L, in, args);
}

static void lower_instr(Lower *L, Ref r) {
    const Instr *in = &L->m->instrs.at[r];
    const Block *block = &L->m->blocks.at[in->block];
    debug_at(L, in->span);
    switch (in->op) {
    case OP_PHI: lower_phi(L, r); return;
    case OP_CONST: L->value[r] = constant(L, (Type)in->type, in->imm); return;
    case OP_PARAM: L->value[r] = L->target->param(L, (uint32_t)in->imm); return;
    case OP_SREG: L->value[r] = L->target->sreg(L, (Sreg)in->sub); return;
    case OP_JUMP: LLVMBuildBr(L->b, L->first[block->succ[0]]); return;
    case OP_BRANCH:
        LLVMBuildCondBr(L->b, ll_value(L, in->args[0]), L->first[block->succ[0]], L->first[block->succ[1]]);
        return;
    case OP_RET: L->target->leave(L, in); return;
    case OP_RAISE: L->target->raise(L, in); return;
    case OP_PRINT: print_here(L, in); return;
    case OP_CALL: L->value[r] = lower_call(L, in); return;
    case OP_SHARED: L->value[r] = L->target->shared(L, in); return;
    case OP_CLOCK: L->value[r] = L->target->clock(L, in); return;
    case OP_LOAD:
    case OP_STORE:
        if (lower_wide(L, r)) return;
        break;
    case OP_ALLOCA:
        L->value[r] = L->target->local ? L->target->local(L, r) : lower_alloca(L, in, NULL);
        debug_variable(L, r);
        return;
    default: break;
    }
    Val args[MAX_PURE_ARGS];
    assert(in->nargs <= MAX_PURE_ARGS);
    for (uint32_t i = 0; i < in->nargs; i++) args[i] = ll_value(L, in->args[i]);
    bool sync = op_info[in->op].flags & SYNC;
    L->value[r] = sync ? L->target->sync(L, in, args) : lower_operation(L, in, args);
}

Val lower_operation(Lower *L, const Instr *in, Val *args) { return lower_table[in->op](L, in, args); }

Val lower_root(Lower *L, Ref r) {
    lower_instr(L, r);
    return L->value[r];
}

/* A value that lives across a wait is read from its variable from now on. */
static void keep(Lower *L, Ref r) {
    if (L->variable[r]) LLVMBuildStore(L->b, L->value[r], L->variable[r]);
}

void lower_again(Lower *L, Ref r) {
    lower_instr(L, r);
    if (L->variable) keep(L, r);
}

static void lower_block(Lower *L, BlockId id) {
    const Block *b = &L->m->blocks.at[id];
    LLVMPositionBuilderAtEnd(L->b, L->first[id]);
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        const Instr *in = &L->m->instrs.at[b->instrs.at[i]];
        /* an expansion may have left the first block */
        if (op_info[in->op].flags & ENDS) L->last[id] = LLVMGetInsertBlock(L->b);
        if (L->regions && regions_start_with(L->regions, L->m, b->instrs.at[i])) continue;
        lower_instr(L, b->instrs.at[i]);
        if (op_info[in->op].flags & SYNC && L->target->parks) return;
        /* PHIs stand together: those of the block are kept when all are made */
        bool last_phi = in->op == OP_PHI && L->m->instrs.at[b->instrs.at[i + 1]].op != OP_PHI;
        for (uint32_t k = last_phi ? 0 : i; L->variable && (last_phi || in->op != OP_PHI) && k <= i; k++)
            keep(L, b->instrs.at[k]);
    }
}

static void fill_phis(Lower *L, BlockId id) {
    const Block *b = &L->m->blocks.at[id];
    for (uint32_t i = 0; i < b->instrs.n; i++) {
        Ref r = b->instrs.at[i];
        const Instr *in = &L->m->instrs.at[r];
        if (in->op != OP_PHI) break;
        assert(in->nargs == b->preds.n);
        for (uint32_t k = 0; k < in->nargs; k++) {
            BlockId from = b->preds.at[k];
            if (!L->first[from]) continue;
            LLVMPositionBuilderBefore(L->b, LLVMGetBasicBlockTerminator(L->last[from]));
            Val v = ll_value(L, in->args[k]);
            LLVMAddIncoming(L->value[r], &v, &L->last[from], 1);
        }
    }
}

void lower_blocks(Lower *L, const BlockId *order, uint32_t n) {
    LLVMBasicBlockRef start = LLVMGetInsertBlock(L->b);
    for (uint32_t i = n; i-- > 0;) L->first[order[i]] = ll_block(L, "b");
    LLVMPositionBuilderAtEnd(L->b, start);
    LLVMBuildBr(L->b, L->first[order[n - 1]]);
    for (uint32_t i = n; i-- > 0;) lower_block(L, order[i]);
    for (uint32_t i = n; i-- > 0;) fill_phis(L, order[i]);
}

/* One function with the whole body. */
static void lower_whole(Lower *L) {
    BlockId *order = ARENA_ARRAY(L->m->arena, BlockId, L->m->blocks.n);
    L->target->begin(L);
    debug_begin(L);
    uint32_t n = ir_postorder(L->m, order);
    if (L->vectors) cpu_lower_vectors(L, order, n);
    else lower_blocks(L, order, n);
    L->target->end(L);
    debug_end(L);
}

static void set_types(Lower *L) {
    L->i1 = LLVMInt1TypeInContext(L->ctx);
    L->i8 = LLVMInt8TypeInContext(L->ctx);
    L->i16 = LLVMInt16TypeInContext(L->ctx);
    L->i32 = LLVMInt32TypeInContext(L->ctx);
    L->i64 = LLVMInt64TypeInContext(L->ctx);
    L->half = LLVMHalfTypeInContext(L->ctx);
    L->bfloat = LLVMBFloatTypeInContext(L->ctx);
    L->f32 = LLVMFloatTypeInContext(L->ctx);
    L->f64 = LLVMDoubleTypeInContext(L->ctx);
    L->void_ = LLVMVoidTypeInContext(L->ctx);
}

static void set_features(Lower *L, LLVMTargetMachineRef tm) {
    if (L->o->target == TARGET_PTX) {
        L->f16_arithmetic = L->f16_convert = L->f16_from_f64 = L->minimum_of_numbers = true;
        L->bf16_convert = L->o->sm >= 80;
        return;
    }
    char *features = LLVMGetTargetMachineFeatureString(tm);
    L->f16_convert = strstr(features, "+f16c") != NULL;
    L->simd_bits = strstr(features, "+avx512f") ? 512 : strstr(features, "+avx2") ? 256 : 128;
    LLVMDisposeMessage(features);
}

void lower_module(LLVMContextRef ctx, LLVMModuleRef mod, LLVMTargetMachineRef tm, const IrModule *m,
                  const CompileOptions *o, const struct Regions *regions, const struct Vectors *vectors) {
    Arena *a = m->arena;
    Lower lower = {.m = m, .o = o, .ctx = ctx, .mod = mod, .lanes = 1, .regions = regions, .vectors = vectors};
    Lower *L = &lower;
    if (o->target == TARGET_PTX) L->target = m->host_function ? &lower_nv_function : &lower_nv;
    else L->target = m->host_function ? &lower_host : &lower_cpu;
    if (regions) L->target = &lower_cpu_parked;
    L->b = LLVMCreateBuilderInContext(ctx);
    set_types(L);
    set_features(L, tm);
    L->value = ARENA_ARRAY(a, Val, m->instrs.n);
    L->done = ARENA_ARRAY(a, bool, m->instrs.n);
    L->first = ARENA_ARRAY(a, LLVMBasicBlockRef, m->blocks.n);
    L->last = ARENA_ARRAY(a, LLVMBasicBlockRef, m->blocks.n);
    L->data = ARENA_ARRAY(a, Val, m->data.n);
    if (vectors) L->variable = ARENA_ARRAY(a, Val, m->instrs.n);

    if (regions) lower_regions(L);
    else lower_whole(L);
    LLVMDisposeBuilder(L->b);
}
