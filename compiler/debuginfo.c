/* debuginfo.c - the Python file and line of each instruction, as .loc lines in PTX.
 *
 * One subprogram for each Python function; code of an inlined function says where it was called. Only
 * directives are emitted: with more, `ptxas` takes the code for a debug build and stops optimising. */
#include "lower.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

/* In llvm::DICompileUnit::DebugEmissionKind, missing from the C enumeration. */
enum { DEBUG_DIRECTIVES_ONLY = 3, DWARF_VERSION = 2 };

struct Debug {
    LLVMDIBuilderRef builder;
    LLVMMetadataRef type;
    LLVMMetadataRef *scope;    /* of each IrFuncName */
    LLVMMetadataRef *location; /* of each IrSpan; made when first used */
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
    d->scope[func] = LLVMDIBuilderCreateFunction(d->builder, file, name, strlen(name), "", 0, file, line, d->type,
                                                 false, true, line, LLVMDIFlagZero, true);
    return d->scope[func];
}

static void add_flag(Lower *L, const char *name, unsigned value) {
    LLVMMetadataRef v = LLVMValueAsMetadata(LLVMConstInt(L->i32, value, false));
    LLVMAddModuleFlag(L->mod, LLVMModuleFlagBehaviorWarning, name, strlen(name), v);
}

void debug_begin(Lower *L) {
    const IrModule *m = L->m;
    if (!L->o->lineinfo || L->o->target != TARGET_PTX || m->funcs.n == 0) return;
    struct Debug *d = L->debug = ARENA_NEW(m->arena, struct Debug);
    d->builder = LLVMCreateDIBuilder(L->mod);
    d->scope = ARENA_ARRAY(m->arena, LLVMMetadataRef, m->funcs.n);
    d->location = ARENA_ARRAY(m->arena, LLVMMetadataRef, m->spans.n + 1);
    LLVMMetadataRef file = file_of(L, &m->funcs.at[0]);
    LLVMDIBuilderCreateCompileUnit(d->builder, LLVMDWARFSourceLanguagePython, file, "gpu", 3, true, "", 0, 0, "", 0,
                                   (LLVMDWARFEmissionKind)DEBUG_DIRECTIVES_ONLY, 0, false, false, "", 0, "", 0);
    d->type = LLVMDIBuilderCreateSubroutineType(d->builder, file, NULL, 0, LLVMDIFlagZero);
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

void debug_end(Lower *L) {
    if (!L->debug) return;
    LLVMSetCurrentDebugLocation2(L->b, NULL);
    LLVMDIBuilderFinalize(L->debug->builder);
    LLVMDisposeDIBuilder(L->debug->builder);
}
