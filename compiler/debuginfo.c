/* debuginfo.c - the Python file and line of each instruction, as .loc lines in PTX; for debuggers also functions,
 * variables and their types.
 *
 * One subprogram for each Python function; code of an inlined function says where it was called. Unless the code is
 * for a debugger only directives are emitted: with more, `ptxas` takes it for a debug build and stops optimising. */
#include "lower.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

/* In llvm::DICompileUnit::DebugEmissionKind, missing from the C enumeration. */
enum { DEBUG_FULL = 1, DEBUG_DIRECTIVES_ONLY = 3, DWARF_VERSION = 2 };

enum { ATE_BOOLEAN = 2, ATE_COMPLEX = 3, ATE_FLOAT = 4, ATE_SIGNED = 5, ATE_UNSIGNED = 7 }; /* DW_ATE_ */
enum { CLASS_CONST = 4, CLASS_SHARED = 8 }; /* address classes of CUDA's debugger; without one a pointer is generic */
enum { TAG_POINTER = 0x0f };                /* DW_TAG_pointer_type */

struct Debug {
    LLVMDIBuilderRef builder;
    LLVMMetadataRef type;
    LLVMMetadataRef *scope;    /* of each IrFuncName */
    LLVMMetadataRef *location; /* of each IrSpan; made when first used */
    const IrVar **variable;    /* by Ref of its ALLOCA; NULL where there are none */
};

/* A file name as it may stand between quotes in PTX. */
static LLVMMetadataRef file_of(Lower *L, const IrFuncName *f) {
    char *name = arena_strdup(L->m->arena, f->file ? f->file : "unknown");
    for (char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == '"' || *c == '\\') *c = '_';
    return LLVMDIBuilderCreateFile(L->debug->builder, name, strlen(name), "", 0);
}

static LLVMMetadataRef scope_of(Lower *L, uint32_t func, uint32_t line) {
    struct Debug *d = L->debug;
    if (d->scope[func]) return d->scope[func];
    const IrFuncName *f = &L->m->funcs.at[func];
    const char *name = f->name ? f->name : L->m->name;
    LLVMMetadataRef file = file_of(L, f);
    const char *symbol = func == 0 && L->o->debug ? L->m->name : "";
    if (L->o->debug && f->line) line = f->line;
    d->scope[func] = LLVMDIBuilderCreateFunction(d->builder, file, name, strlen(name), symbol, strlen(symbol), file,
                                                 line, d->type, false, true, line, LLVMDIFlagZero, !L->o->debug);
    return d->scope[func];
}

static void add_flag(Lower *L, const char *name, unsigned value) {
    LLVMMetadataRef v = LLVMValueAsMetadata(LLVMConstInt(L->i32, value, false));
    LLVMAddModuleFlag(L->mod, LLVMModuleFlagBehaviorWarning, name, strlen(name), v);
}

/* ---- types of variables -------------------------------------------------------------------------------------- */
static LLVMMetadataRef type_of(Lower *L, const IrVarType *t);

static unsigned encoding(const IrVarType *t) {
    if (t->kind == VAR_COMPLEX) return ATE_COMPLEX;
    switch (type_kind((Type)t->type)) {
    case KIND_BOOL: return ATE_BOOLEAN;
    case KIND_FLOAT: return ATE_FLOAT;
    case KIND_INT: return ATE_SIGNED;
    default: return ATE_UNSIGNED;
    }
}

static LLVMMetadataRef struct_type(Lower *L, const IrVarType *t) {
    LLVMDIBuilderRef b = L->debug->builder;
    LLVMMetadataRef file = file_of(L, &L->m->funcs.at[0]);
    LLVMMetadataRef *members = ARENA_ARRAY(L->m->arena, LLVMMetadataRef, t->n + 1);
    for (uint32_t i = 0; i < t->n; i++)
        members[i] =
            LLVMDIBuilderCreateMemberType(b, file, t->fields[i], strlen(t->fields[i]), NULL, 0, t->items[i]->bytes * 8u,
                                          0, t->offsets[i] * 8u, LLVMDIFlagZero, type_of(L, t->items[i]));
    return LLVMDIBuilderCreateStructType(b, file, t->name, strlen(t->name), file, 0, t->bytes * 8u, 0, LLVMDIFlagZero,
                                         NULL, members, t->n, 0, NULL, "", 0);
}

static LLVMMetadataRef type_of(Lower *L, const IrVarType *t) {
    LLVMDIBuilderRef b = L->debug->builder;
    switch ((IrVarKind)t->kind) {
    case VAR_STRUCT: return struct_type(L, t);
    case VAR_POINTER: {
        LLVMMetadataRef to = t->items ? type_of(L, t->items[0]) : NULL;
        if (t->type != T_PTRS && t->type != T_PTRC) {
            LLVMMetadataRef generic = LLVMDIBuilderCreateQualifiedType(b, TAG_POINTER, to);
            return t->made ? LLVMDIBuilderCreateArtificialType(b, generic) : generic;
        }
        unsigned space = t->type == T_PTRS ? CLASS_SHARED : CLASS_CONST;
        return LLVMDIBuilderCreatePointerType(b, to, t->bytes * 8u, 0, space, "", 0);
    }
    case VAR_LIST: {
        LLVMMetadataRef range = LLVMDIBuilderGetOrCreateSubrange(b, 0, t->n);
        return LLVMDIBuilderCreateArrayType(b, t->bytes * 8u, 0, type_of(L, t->items[0]), &range, 1);
    }
    default:
        return LLVMDIBuilderCreateBasicType(b, t->name, strlen(t->name), t->bytes * 8u, encoding(t), LLVMDIFlagZero);
    }
}

/* Of the kernel: nothing, and its arguments that have values at run time. */
static LLVMMetadataRef function_type(Lower *L, LLVMMetadataRef file) {
    const IrModule *m = L->m;
    LLVMMetadataRef *types = ARENA_ARRAY(m->arena, LLVMMetadataRef, m->vars.n + 1);
    uint32_t n = 1;
    for (uint32_t i = 0; i < m->vars.n; i++)
        if (m->vars.at[i].arg && !m->spans.at[m->vars.at[i].span].inlined_at)
            types[n++] = type_of(L, m->vars.at[i].type);
    return LLVMDIBuilderCreateSubroutineType(L->debug->builder, file, types, n, LLVMDIFlagZero);
}

void debug_begin(Lower *L) {
    const IrModule *m = L->m;
    bool full = L->o->debug;
    if (!(L->o->lineinfo || full) || L->o->target != TARGET_PTX || m->funcs.n == 0) return;
    struct Debug *d = L->debug = ARENA_NEW(m->arena, struct Debug);
    d->builder = LLVMCreateDIBuilder(L->mod);
    d->scope = ARENA_ARRAY(m->arena, LLVMMetadataRef, m->funcs.n);
    d->location = ARENA_ARRAY(m->arena, LLVMMetadataRef, m->spans.n + 1);
    LLVMMetadataRef file = file_of(L, &m->funcs.at[0]);
    /* Debuggers know expressions of C++ and none of Python. */
    LLVMDWARFSourceLanguage language = full ? LLVMDWARFSourceLanguageC_plus_plus : LLVMDWARFSourceLanguagePython;
    LLVMDIBuilderCreateCompileUnit(d->builder, language, file, "gpu", 3, !full, "", 0, 0, "", 0,
                                   (LLVMDWARFEmissionKind)(full ? DEBUG_FULL : DEBUG_DIRECTIVES_ONLY), 0, false, false,
                                   "", 0, "", 0);
    d->type =
        full ? function_type(L, file) : LLVMDIBuilderCreateSubroutineType(d->builder, file, NULL, 0, LLVMDIFlagZero);
    d->variable = m->vars.n ? ARENA_ARRAY(m->arena, const IrVar *, m->instrs.n) : NULL;
    for (uint32_t i = 0; i < m->vars.n; i++) d->variable[m->vars.at[i].at] = &m->vars.at[i];
    add_flag(L, "Debug Info Version", LLVMDebugMetadataVersion());
    add_flag(L, "Dwarf Version", DWARF_VERSION);
    uint32_t line = m->spans.n > 1 ? m->spans.at[1].line : 1;
    LLVMSetSubprogram(L->fn, scope_of(L, 0, line));
}

static LLVMMetadataRef location_of(Lower *L, uint32_t span) {
    struct Debug *d = L->debug;
    if (d->location[span]) return d->location[span];
    const IrSpan *s = &L->m->spans.at[span];
    LLVMMetadataRef at = s->inlined_at ? location_of(L, s->inlined_at) : NULL;
    uint32_t func = at ? s->func : 0; /* code that wasn't inlined belongs to the kernel */
    d->location[span] = LLVMDIBuilderCreateDebugLocation(L->ctx, s->line, s->col, scope_of(L, func, s->line), at);
    return d->location[span];
}

void debug_at(Lower *L, uint32_t span) {
    if (!L->debug) return;
    bool known = span && span < L->m->spans.n;
    LLVMSetCurrentDebugLocation2(L->b, known ? location_of(L, span) : NULL);
}

void debug_variable(Lower *L, Ref place) {
    struct Debug *d = L->debug;
    const IrVar *v = d && d->variable ? d->variable[place] : NULL;
    if (!v) return;
    const IrSpan *s = &L->m->spans.at[v->span];
    uint32_t func = s->inlined_at ? s->func : 0;
    LLVMMetadataRef at = location_of(L, v->span), scope = scope_of(L, func, s->line), type = type_of(L, v->type);
    LLVMMetadataRef file = file_of(L, &L->m->funcs.at[func]),
                    where = LLVMDIBuilderCreateExpression(d->builder, NULL, 0);
    LLVMMetadataRef variable =
        v->arg ? LLVMDIBuilderCreateParameterVariable(d->builder, scope, v->name, strlen(v->name), v->arg, file,
                                                      s->line, type, true, LLVMDIFlagZero)
               : LLVMDIBuilderCreateAutoVariable(d->builder, scope, v->name, strlen(v->name), file, s->line, type, true,
                                                 LLVMDIFlagZero, 0);
    LLVMDIBuilderInsertDeclareRecordAtEnd(d->builder, L->value[place], variable, where, at, LLVMGetInsertBlock(L->b));
}

void debug_end(Lower *L) {
    if (!L->debug) return;
    LLVMSetCurrentDebugLocation2(L->b, NULL);
    LLVMDIBuilderFinalize(L->debug->builder);
    LLVMDisposeDIBuilder(L->debug->builder);
}
