/* foreign.c - what else is compiled into a module: the LLVM bitcode or text that its declared functions come with.
 *
 * A link belongs to one kind of target; one for the other is passed over, so that a function may come with both. What
 * is left undefined must be found by the driver (links of its own kind) or at an address in this process. */
#include "emit.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <string.h>

bool foreign_is_llvm(const ForeignLink *l) { return l->kind == LINK_LLVM; }

static bool bad_link(Unit *u, const ForeignLink *l, const char *why) {
    const char *reason = why ? why : u->error ? u->error : "unknown error";
    reason = arena_strdup(u->arena, reason);
    u->error = NULL;
    unit_fail(u, "%s can't be linked: %s", l->name, reason);
    return false;
}

static LLVMModuleRef read_link(Unit *u, const ForeignLink *l) {
    LLVMModuleRef mod = NULL;
    char *message = NULL;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(l->data, l->size, l->name);
    LLVMBool failed = LLVMParseIRInContext2(u->ctx, buffer, &mod, &message);
    if (!failed && LLVMVerifyModule(mod, LLVMReturnStatusAction, &message)) failed = true;
    if (failed) bad_link(u, l, message);
    if (message) LLVMDisposeMessage(message);
    if (!failed) return mod;
    if (mod) LLVMDisposeModule(mod);
    return NULL;
}

static bool is_for_target(const Unit *u, LLVMModuleRef mod) {
    const char *triple = LLVMGetTarget(mod);
    if (!*triple) return true;
    bool nvidia = strncmp(triple, "nvptx", 5) == 0;
    return nvidia == (u->o->target == TARGET_PTX);
}

/* Code for our processor, whichever its author had in mind. */
static void adopt(Unit *u, LLVMModuleRef mod) {
    static const char *const attributes[] = {"target-cpu", "target-features", "tune-cpu"};
    LLVMSetTarget(mod, LLVMGetTarget(u->mod));
    LLVMSetDataLayout(mod, LLVMGetDataLayoutStr(u->mod));
    for (LLVMValueRef f = LLVMGetFirstFunction(mod); f; f = LLVMGetNextFunction(f))
        for (unsigned i = 0; i < sizeof attributes / sizeof *attributes; i++)
            LLVMRemoveStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, attributes[i],
                                             (unsigned)strlen(attributes[i]));
}

/* What nobody calls is left out by the linker. */
static void make_optional(LLVMModuleRef mod) {
    for (LLVMValueRef f = LLVMGetFirstFunction(mod); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) == LLVMExternalLinkage)
            LLVMSetLinkage(f, LLVMLinkOnceODRLinkage);
}

static void make_internal(Unit *u) {
    for (LLVMValueRef f = LLVMGetFirstFunction(u->mod); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) == LLVMLinkOnceODRLinkage)
            LLVMSetLinkage(f, LLVMInternalLinkage);
}

/* Several links may call each other's functions: they are one module before it is joined to ours, which takes what it
 * needs. */
static bool link_all(Unit *u) {
    LLVMModuleRef all = NULL;
    for (uint32_t i = 0; i < u->o->nlinks && !u->error; i++) {
        const ForeignLink *l = &u->o->links[i];
        LLVMModuleRef mod = foreign_is_llvm(l) ? read_link(u, l) : NULL;
        if (mod && !is_for_target(u, mod)) LLVMDisposeModule(mod);
        else if (mod) {
            adopt(u, mod);
            if (!all) all = mod;
            else if (LLVMLinkModules2(all, mod)) bad_link(u, l, NULL);
        }
    }
    if (!all) return !u->error;
    if (u->error) {
        LLVMDisposeModule(all);
        return false;
    }
    make_optional(all);
    if (LLVMLinkModules2(u->mod, all) && !u->error) unit_fail(u, "the linked code can't be joined to the kernel");
    return !u->error;
}

static bool has_address(const Unit *u, const char *symbol) {
    for (uint32_t i = 0; i < u->o->nsymbols; i++)
        if (strcmp(u->o->symbols[i].name, symbol) == 0) return true;
    return false;
}

static bool driver_links(const Unit *u) {
    for (uint32_t i = 0; i < u->o->nlinks; i++)
        if (!foreign_is_llvm(&u->o->links[i])) return true;
    return false;
}

void foreign_link(Unit *u, const IrModule *m) {
    if (!m->foreign.n || !link_all(u)) return;
    make_internal(u);
    for (uint32_t i = 0; i < m->foreign.n && !u->error; i++) {
        const char *symbol = m->foreign.at[i].symbol;
        LLVMValueRef f = LLVMGetNamedFunction(u->mod, symbol);
        if (!f || !LLVMIsDeclaration(f)) continue;
        if (u->o->target == TARGET_PTX && !driver_links(u))
            unit_fail(
                u,
                "%s() is declared, and nothing defines it for a GPU: link=... takes PTX, a cubin, or LLVM bitcode "
                "for nvptx64",
                symbol);
        if (u->o->target == TARGET_CPU && !has_address(u, symbol))
            unit_fail(
                u,
                "%s() is declared, and nothing defines it for the CPU: cpu=... takes a function of ctypes or the "
                "path of a shared library, link=... LLVM bitcode for this machine, or CUDA C where a C++ compiler "
                "is installed%s",
                symbol,
                driver_links(u) ? ". What is linked is code for GPUs: gpu.device(\"emulated\") runs it without one"
                                : "");
    }
}

bool foreign_is_declared(const IrModule *m, const char *name) {
    for (uint32_t i = 0; i < m->foreign.n; i++)
        if (strcmp(m->foreign.at[i].symbol, name) == 0) return true;
    return false;
}
