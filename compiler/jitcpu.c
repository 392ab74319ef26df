/* jitcpu.c - loads native objects into the process, through LLVM's ORC.
 *
 * One LLJIT serves the process. Each object goes into a dynamic library of its own, so that two kernels
 * may have the same symbols; libraries are used again after unloading, since ORC can't delete them.
 * Objects may call only what is found here: libm, libmvec, C's memory functions, 128-bit division. */
#define _POSIX_C_SOURCE 200809L
#include "emit.h"

#include <dlfcn.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct LoadedCode {
    LLVMOrcJITDylibRef library;
    LoadedCode *next; /* in the list of those to use again */
};

/* The process's JIT: made once, never ended, since code of it may run until the process does. */
static struct {
    pthread_once_t once;
    LLVMOrcLLJITRef jit;
    char *error;
    void *handles[3];     /* libm, libmvec, libc */
    pthread_mutex_t lock; /* of what follows */
    LoadedCode *free;
    unsigned libraries;
} jit = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

/* libgcc's part of 128-bit division, which LLVM calls where it computes the trip count of a loop. */
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;
extern Int128 __divti3(Int128, Int128), __modti3(Int128, Int128);
extern UInt128 __udivti3(UInt128, UInt128), __umodti3(UInt128, UInt128);

static const struct {
    const char *name;
    uintptr_t at;
} libgcc[] = {{"__divti3", (uintptr_t)__divti3},
              {"__modti3", (uintptr_t)__modti3},
              {"__udivti3", (uintptr_t)__udivti3},
              {"__umodti3", (uintptr_t)__umodti3}};

/* Errors come back from the call that failed; ORC would print them as well. */
static void stay_silent(void *ctx, LLVMErrorRef error) {
    (void)ctx;
    LLVMConsumeError(error);
}

static void start(void) {
    LLVMErrorRef error = LLVMOrcCreateLLJIT(&jit.jit, NULL);
    if (error) {
        char *text = LLVMGetErrorMessage(error);
        jit.error = strdup(text);
        LLVMDisposeErrorMessage(text);
    } else {
        LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(jit.jit), stay_silent, NULL);
    }
    static const char *const names[3] = {"libm.so.6", "libmvec.so.1", "libc.so.6"};
    for (unsigned i = 0; i < 3; i++) jit.handles[i] = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
}

static void *find_symbol(const char *name) {
    for (size_t i = 0; i < sizeof libgcc / sizeof *libgcc; i++)
        if (strcmp(libgcc[i].name, name) == 0) return (void *)libgcc[i].at;
    for (unsigned i = 0; i < 3; i++) {
        void *at = jit.handles[i] ? dlsym(jit.handles[i], name) : NULL;
        if (at) return at;
    }
    return NULL;
}

/* Called by ORC for symbols that an object needs: defines those that are found. */
static LLVMErrorRef generate(LLVMOrcDefinitionGeneratorRef self, void *ctx, LLVMOrcLookupStateRef *state,
                             LLVMOrcLookupKind kind, LLVMOrcJITDylibRef library, LLVMOrcJITDylibLookupFlags flags,
                             LLVMOrcCLookupSet set, size_t n) {
    (void)self, (void)ctx, (void)state, (void)kind, (void)flags;
    for (size_t i = 0; i < n; i++) {
        void *at = find_symbol(LLVMOrcSymbolStringPoolEntryStr(set[i].Name));
        if (!at) continue;
        LLVMOrcRetainSymbolStringPoolEntry(set[i].Name);
        LLVMOrcCSymbolMapPair pair = {set[i].Name,
                                      {(LLVMOrcExecutorAddress)(uintptr_t)at,
                                       {LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0}}};
        LLVMErrorRef error = LLVMOrcJITDylibDefine(library, LLVMOrcAbsoluteSymbols(&pair, 1));
        if (error) return error;
    }
    return LLVMErrorSuccess;
}

static LoadedCode *take_library(void) {
    pthread_mutex_lock(&jit.lock);
    LoadedCode *code = jit.free;
    if (code) jit.free = code->next;
    unsigned number = code ? 0 : jit.libraries++;
    pthread_mutex_unlock(&jit.lock);
    if (code) return code;
    code = calloc(1, sizeof *code);
    if (!code) return NULL;
    char name[24];
    snprintf(name, sizeof name, "kernel%u", number);
    code->library = LLVMOrcExecutionSessionCreateBareJITDylib(LLVMOrcLLJITGetExecutionSession(jit.jit), name);
    LLVMOrcJITDylibAddGenerator(code->library, LLVMOrcCreateCustomCAPIDefinitionGenerator(generate, NULL, NULL));
    return code;
}

void jit_unload(LoadedCode *code) {
    if (!code) return;
    LLVMErrorRef error = LLVMOrcJITDylibClear(code->library);
    if (error) { /* the library can't be used again; it stays as it is */
        LLVMConsumeError(error);
        free(code);
        return;
    }
    pthread_mutex_lock(&jit.lock);
    code->next = jit.free;
    jit.free = code;
    pthread_mutex_unlock(&jit.lock);
}

typedef struct Lookup {
    void *address;
    LLVMErrorRef error;
} Lookup;

static void on_lookup(LLVMErrorRef error, LLVMOrcCSymbolMapPairs result, size_t n, void *ctx) {
    Lookup *l = ctx;
    l->error = error;
    if (!error && n) l->address = (void *)(uintptr_t)result[0].Sym.Address;
}

static LLVMErrorRef look_up(LoadedCode *code, const char *symbol, void **address) {
    LLVMOrcCJITDylibSearchOrderElement order = {code->library, LLVMOrcJITDylibLookupFlagsMatchAllSymbols};
    LLVMOrcCLookupSetElement wanted = {LLVMOrcLLJITMangleAndIntern(jit.jit, symbol),
                                       LLVMOrcSymbolLookupFlagsRequiredSymbol};
    Lookup l = {NULL, NULL};
    /* No tasks are sent to other threads, so the answer is there when this returns. */
    LLVMOrcExecutionSessionLookup(LLVMOrcLLJITGetExecutionSession(jit.jit), LLVMOrcLookupKindStatic, &order, 1, &wanted,
                                  1, on_lookup, &l);
    *address = l.address;
    return l.error;
}

static LLVMErrorRef define_symbols(LoadedCode *code, const CompileOptions *o) {
    for (uint32_t i = 0; i < o->nsymbols; i++) {
        LLVMOrcCSymbolMapPair pair = {LLVMOrcLLJITMangleAndIntern(jit.jit, o->symbols[i].name),
                                      {(LLVMOrcExecutorAddress)o->symbols[i].address,
                                       {LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0}}};
        LLVMErrorRef error = LLVMOrcJITDylibDefine(code->library, LLVMOrcAbsoluteSymbols(&pair, 1));
        if (error) return error;
    }
    return LLVMErrorSuccess;
}

LoadedCode *jit_load(const void *object, size_t size, const char *symbol, const CompileOptions *o, void **address,
                     Arena *a, char **error) {
    pthread_once(&jit.once, start);
    if (!jit.jit) {
        *error = arena_printf(a, "the JIT can't start: %s", jit.error ? jit.error : "unknown");
        return NULL;
    }
    LoadedCode *code = take_library();
    if (!code) {
        *error = arena_strdup(a, "out of memory");
        return NULL;
    }
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(object, size, symbol);
    LLVMErrorRef failed = define_symbols(code, o);
    if (failed) LLVMDisposeMemoryBuffer(buffer);
    else failed = LLVMOrcLLJITAddObjectFile(jit.jit, code->library, buffer);
    if (!failed) failed = look_up(code, symbol, address);
    if (!failed && *address) return code;
    char *text = failed ? LLVMGetErrorMessage(failed) : NULL;
    *error = arena_printf(a, "can't load the native code: %s", text ? text : "no entry");
    if (text) LLVMDisposeErrorMessage(text);
    jit_unload(code);
    return NULL;
}
