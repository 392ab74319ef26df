/* first_calls.c - finds which functions of the compiler library a compilation calls, for the linker to put together.
 *
 *     first_calls LIBRARY KERNELS LIBCLC OUT
 *
 * A compilation runs some 15,000 of the library's 80,000 functions, strewn over 35 MB. Side by side they take a quarter
 * of the page faults and of the processor's address translations with them, and a compilation a sixth of its time. OUT
 * is a linker script that puts them first, in the order of their first calls.
 *
 * The library is copied with a breakpoint in each function's first byte. The copy is loaded and compiles KERNELS,
 * modules in the text form of the IR, for the CPU and for a GPU; what traps is noted and gets its byte back. Where that
 * can't be done, OUT orders nothing and a message says why: the library works in any order. */
#define _GNU_SOURCE
#include "../compiler/compiler.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

enum { BREAKPOINT = 0xcc };

typedef struct Function {
    uint64_t at; /* offset in the section .text */
    const char *name;
} Function;

/* Of the one library; a signal's handler needs it. */
static struct {
    const unsigned char *bytes; /* the file */
    size_t size;
    const Elf64_Shdr *text;
    Function *functions; /* by address; some have several names */
    size_t n;
    unsigned char *loaded; /* the copy's .text; NULL: not known yet */
    uint64_t *called;      /* offsets */
    size_t ncalled;
} lib;

static const char *problem;

static bool read_file(const char *path, const unsigned char **bytes, size_t *size) {
    struct stat s;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    bool ok = fstat(file, &s) == 0;
    void *at = ok ? mmap(NULL, (size_t)s.st_size + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0) : MAP_FAILED;
    close(file);
    *bytes = at;
    *size = (size_t)s.st_size;
    return at != MAP_FAILED;
}

static int by_address(const void *a, const void *b) {
    const Function *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* The functions that the symbol table names. */
static bool find_functions(void) {
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)lib.bytes;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(lib.bytes + head->e_shoff), *symbols = NULL;
    const char *names = (const char *)lib.bytes + sections[head->e_shstrndx].sh_offset;
    unsigned text = 0;
    for (unsigned i = 1; i < head->e_shnum; i++) {
        if (strcmp(names + sections[i].sh_name, ".text") == 0) text = i;
        if (sections[i].sh_type == SHT_SYMTAB) symbols = &sections[i];
    }
    if (!text || !symbols) return false;
    lib.text = &sections[text];
    const Elf64_Sym *table = (const Elf64_Sym *)(lib.bytes + symbols->sh_offset);
    const char *strings = (const char *)lib.bytes + sections[symbols->sh_link].sh_offset;
    size_t n = symbols->sh_size / sizeof *table;
    lib.functions = calloc(n, sizeof *lib.functions);
    lib.called = calloc(n, sizeof *lib.called);
    for (size_t i = 0; i < n && lib.functions; i++) {
        if (ELF64_ST_TYPE(table[i].st_info) != STT_FUNC || table[i].st_shndx != text || !table[i].st_size) continue;
        lib.functions[lib.n++] = (Function){table[i].st_value - lib.text->sh_addr, strings + table[i].st_name};
    }
    if (!lib.n || !lib.called) return false;
    qsort(lib.functions, lib.n, sizeof *lib.functions, by_address);
    return true;
}

static bool write_copy(const char *path) {
    unsigned char *bytes = malloc(lib.size);
    FILE *out = bytes ? fopen(path, "wb") : NULL;
    if (!out) return false;
    memcpy(bytes, lib.bytes, lib.size);
    for (size_t i = 0; i < lib.n; i++) bytes[lib.text->sh_offset + lib.functions[i].at] = BREAKPOINT;
    bool ok = fwrite(bytes, 1, lib.size, out) == lib.size;
    free(bytes);
    return fclose(out) == 0 && ok;
}

/* The first trap comes while the library is loaded, in one of its constructors. */
static bool find_loaded(void *at) {
    Dl_info info;
    if (!dladdr(at, &info)) return false;
    lib.loaded = (unsigned char *)info.dli_fbase + lib.text->sh_addr;
    uintptr_t page = (uintptr_t)lib.loaded & ~(uintptr_t)4095;
    size_t size = (uintptr_t)lib.loaded + lib.text->sh_size - page;
    return mprotect((void *)page, size, PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
}

static void on_trap(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)info;
    greg_t *ip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    unsigned char *at = (unsigned char *)(uintptr_t)(*ip - 1);
    if (!lib.loaded && !find_loaded(at)) _exit(1);
    uint64_t offset = (uint64_t)(at - lib.loaded);
    if (offset >= lib.text->sh_size || *at != BREAKPOINT) _exit(1);
    *at = lib.bytes[lib.text->sh_offset + offset];
    lib.called[lib.ncalled++] = offset;
    *ip -= 1;
}

static void compile(const CompilerApi *api, char *text, const CompileOptions *o) {
    Arena arena;
    jmp_buf on_oom;
    char *error = NULL;
    arena_init(&arena, &on_oom);
    if (setjmp(on_oom)) exit(1);
    IrModule *m = ir_parse(&arena, text, &error);
    Image *image = m ? api->compile(m, o, &error) : NULL;
    if (!image) fprintf(stderr, "first_calls: %s\n", error ? error : "no image");
    arena_free(&arena);
}

/* Each module of the file, which begins with a line "kernel NAME". */
static void compile_all(const CompilerApi *api, const char *text, const CompileOptions *o) {
    static const char head[] = "kernel ";
    for (const char *at = strstr(text, head), *next; at; at = next) {
        next = strstr(at + 1, "\nkernel ");
        char *module = next ? strndup(at, (size_t)(next + 1 - at)) : strdup(at);
        compile(api, module, o);
        free(module);
    }
}

/* Loads the copy, constructors and all, and compiles. */
static void run(const char *copy, const char *kernels, const char *libclc) {
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGTRAP, &action, NULL);
    void *handle = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle ? dlsym(handle, "gpu_compiler") : NULL;
    const CompilerApi *(*entry)(void) = NULL;
    memcpy(&entry, &symbol, sizeof entry);
    if (!entry) {
        problem = dlerror();
        return;
    }
    const unsigned char *text;
    size_t size;
    if (!read_file(kernels, &text, &size)) {
        problem = "no kernels";
        return;
    }
    CompileOptions cpu = {.target = TARGET_CPU, .fma = true, .opt = 2}, ptx = cpu;
    ptx.target = TARGET_PTX;
    ptx.sm = 80;
    ptx.libclc_dir = libclc;
    compile_all(entry(), (const char *)text, &cpu);
    compile_all(entry(), (const char *)text, &ptx);
}

static bool write_script(const char *path) {
    FILE *out = fopen(path, "w");
    if (!out) return false;
    fprintf(out, "/* made by cmake/first_calls.c */\nSECTIONS { .text.first_calls : {\n");
    for (size_t i = 0; i < lib.ncalled; i++) {
        Function key = {.at = lib.called[i]};
        const Function *f = bsearch(&key, lib.functions, lib.n, sizeof *f, by_address);
        while (f > lib.functions && f[-1].at == key.at) f--;
        for (; f < lib.functions + lib.n && f->at == key.at; f++) fprintf(out, "*(.text.%s)\n", f->name);
    }
    fprintf(out, "} }\nINSERT BEFORE .text;\n");
    return fclose(out) == 0;
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    char *copy = NULL;
    if (asprintf(&copy, "%s.traps", argv[4]) < 0) return 1;
    if (!read_file(argv[1], &lib.bytes, &lib.size) || !find_functions()) problem = "no symbols";
    else if (!write_copy(copy)) problem = "no copy";
    else run(copy, argv[2], argv[3]);
    unlink(copy);
    if (problem) fprintf(stderr, "first_calls: functions stay in any order: %s\n", problem);
    return write_script(argv[4]) ? 0 : 1;
}
