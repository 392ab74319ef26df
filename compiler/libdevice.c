/* libdevice.c - adds the library functions that a PTX module calls.
 *
 * libdevice is one bitcode file, read lazily: giving its functions a linkage that may be dropped makes
 * the linker take only what is called. libclc's functions were split at build time into one file for
 * each function, named by its mangled symbol. Afterwards everything but the kernel is internal. */
#include "emit.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <string.h>

static const char *name_of(LLVMValueRef f) {
    size_t n;
    return LLVMGetValueName2(f, &n);
}

static bool is_missing(const IrModule *m, LLVMValueRef f) {
    return !foreign_is_declared(m, name_of(f)) && LLVMIsDeclaration(f) && LLVMGetFirstUse(f) &&
           !LLVMGetIntrinsicID(f) && strcmp(name_of(f), "__nvvm_reflect");
}

static const char *first_missing(Unit *u, const IrModule *m) {
    for (LLVMValueRef f = LLVMGetFirstFunction(u->mod); f; f = LLVMGetNextFunction(f))
        if (is_missing(m, f)) return arena_strdup(u->arena, name_of(f));
    return NULL;
}

/* LLVM said what is wrong in its own terms; this says which file. */
static bool bad_file(Unit *u, const char *path) {
    const char *why = u->error ? u->error : "unknown error";
    u->error = NULL;
    unit_fail(u, "the library of math functions %s can't be used: %s", path, why);
    return false;
}

/* Links what the module needs from a bitcode file. */
static bool link_file(Unit *u, const char *path) {
    LLVMMemoryBufferRef buffer;
    LLVMModuleRef library;
    char *message = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message)) {
        unit_fail(u, "can't read the library of math functions %s: %s", path, message);
        LLVMDisposeMessage(message);
        return false;
    }
    if (LLVMGetBitcodeModuleInContext2(u->ctx, buffer, &library)) {
        LLVMDisposeMemoryBuffer(buffer);
        return bad_file(u, path);
    }
    LLVMSetTarget(library, LLVMGetTarget(u->mod));
    LLVMSetDataLayout(library, LLVMGetDataLayoutStr(u->mod));
    for (LLVMValueRef f = LLVMGetFirstFunction(library); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) == LLVMExternalLinkage)
            LLVMSetLinkage(f, LLVMLinkOnceODRLinkage);
    if (!LLVMLinkModules2(u->mod, library) && !u->error) return true;
    return bad_file(u, path);
}

/* What all copies of one library function may add to a kernel. Some sines of 200 instructions are faster without a
 * call; hundreds of them take seconds here and minutes in ptxas. */
enum { INLINE_INSTRS = 10000 };

static bool too_large_to_inline(LLVMValueRef f) {
    unsigned instrs = 0, uses = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef in = LLVMGetFirstInstruction(b); in; in = LLVMGetNextInstruction(in)) instrs++;
    for (LLVMUseRef use = LLVMGetFirstUse(f); use; use = LLVMGetNextUse(use)) uses++;
    return uses > 1 && instrs > INLINE_INSTRS / uses;
}

static void replace_attribute(Unit *u, LLVMValueRef f, const char *old, const char *new) {
    unsigned drop = LLVMGetEnumAttributeKindForName(old, strlen(old));
    unsigned add = LLVMGetEnumAttributeKindForName(new, strlen(new));
    LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, drop);
    LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(u->ctx, add, 0));
}

static void make_internal(Unit *u) {
    for (LLVMValueRef f = LLVMGetFirstFunction(u->mod); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || LLVMGetLinkage(f) != LLVMLinkOnceODRLinkage) continue;
        LLVMSetLinkage(f, LLVMInternalLinkage);
        if (too_large_to_inline(f)) replace_attribute(u, f, "alwaysinline", "noinline");
    }
}

static void set_flush_to_zero(Unit *u) {
    static const char name[] = "nvvm-reflect-ftz";
    LLVMValueRef one = LLVMConstInt(LLVMInt32TypeInContext(u->ctx), 1, false);
    LLVMAddModuleFlag(u->mod, LLVMModuleFlagBehaviorOverride, name, sizeof name - 1, LLVMValueAsMetadata(one));
}

void library_link(Unit *u, const IrModule *m) {
    if (u->o->target != TARGET_PTX) return;
    if (u->o->fastmath) set_flush_to_zero(u);
    const char *missing = first_missing(u, m);
    while (missing) {
        const char *path = u->o->libdevice;
        if (!path && !u->o->libclc_dir) {
            unit_fail(u, "%s: neither libdevice nor the bundled math functions were found", missing);
            return;
        }
        if (!path) path = arena_printf(u->arena, "%s/%s.bc", u->o->libclc_dir, missing);
        if (!link_file(u, path)) return;
        const char *next = first_missing(u, m);
        if (next && !strcmp(next, missing)) {
            unit_fail(u, "%s is not in %s", missing, path);
            return;
        }
        missing = next;
    }
    make_internal(u);
}
