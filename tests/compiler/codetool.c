/* codetool.c - IR text through the compiler library: prints one stage, or runs it on the CPU.
 *
 *   codetool [options] FILE.ir       - is standard input
 *     --sm 90a        PTX for this GPU (default: the CPU)
 *     --ptx 80        the PTX version
 *     --stage NAME    ir, llvm, llvm-opt, asm (default); run: calls the entry with one block of one thread
 *     --libdevice F, --libclc DIR      libraries of math functions
 *     --lineinfo, --fastmath, --opt N
 *     --repeat N      compile N times and say how much processor time the first and the last took */
#define _POSIX_C_SOURCE 200809L
#include "../../compiler/compiler.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct Args {
    CompileOptions o;
    const char *stage, *file;
    int repeat;
} Args;

_Noreturn static void die(const char *what, const char *why) {
    fprintf(stderr, "codetool: %s: %s\n", what, why);
    exit(1);
}

/* The library beside this program's folder: <build>/bin/codetool, <build>/lib/gpu/libgpu_compiler.so. */
static const CompilerApi *open_compiler(void) {
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
    if (n < 0) die("readlink", "failed");
    path[n] = 0;
    strcpy(strrchr(path, '/'), "/../lib/gpu/libgpu_compiler.so");
    void *library = dlopen(path, RTLD_NOW);
    if (!library) die("dlopen", dlerror());
    const CompilerApi *(*get)(void);
    *(void **)&get = dlsym(library, "gpu_compiler");
    return get();
}

static char *read_all(const char *path) {
    FILE *f = strcmp(path, "-") ? fopen(path, "r") : stdin;
    if (!f) die(path, "can't be read");
    size_t n = 0, cap = 1 << 16;
    char *text = malloc(cap);
    for (size_t got; text && (got = fread(text + n, 1, cap - n - 1, f)) > 0;) {
        n += got;
        if (cap - n < 2) text = realloc(text, cap *= 2);
    }
    if (!text) die(path, "out of memory");
    text[n] = 0;
    if (f != stdin) fclose(f);
    return text;
}

static Args parse_args(int argc, char **argv) {
    Args a = {.o = {.target = TARGET_CPU, .opt = 2, .fma = true}, .stage = "asm", .repeat = 1};
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
        if (!strcmp(name, "--lineinfo")) a.o.lineinfo = true;
        else if (!strcmp(name, "--fastmath")) a.o.fastmath = true;
        else if (name[0] != '-' || !name[1]) a.file = name;
        else {
            i++;
            if (!strcmp(name, "--sm")) {
                a.o.target = TARGET_PTX;
                char *end;
                a.o.sm = (uint16_t)strtol(value, &end, 10);
                a.o.sm_suffix = *end;
            } else if (!strcmp(name, "--ptx")) a.o.ptx_version = (uint16_t)atoi(value);
            else if (!strcmp(name, "--stage")) a.stage = value;
            else if (!strcmp(name, "--libdevice")) a.o.libdevice = value;
            else if (!strcmp(name, "--libclc")) a.o.libclc_dir = value;
            else if (!strcmp(name, "--opt")) a.o.opt = (uint8_t)atoi(value);
            else if (!strcmp(name, "--repeat")) a.repeat = atoi(value);
            else die(name, "no such option");
        }
    }
    if (!a.file) die("usage", "codetool [options] FILE.ir");
    return a;
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void print_stage(const CompilerApi *api, IrModule *m, const Args *a) {
    static const char *const names[] = {"ir", "llvm", "llvm-opt", "asm"};
    char *error = NULL;
    for (unsigned i = 0; i < 4; i++) {
        if (strcmp(names[i], a->stage)) continue;
        char *text = api->text(m, &a->o, (Stage)i, &error);
        if (!text) die("compile", error ? error : "nothing");
        if (a->repeat == 1) fputs(text, stdout);
        free(text);
        return;
    }
    die(a->stage, "no such stage");
}

int main(int argc, char **argv) {
    Args a = parse_args(argc, argv);
    char *text = read_all(a.file);
    double before = now_ms();
    const CompilerApi *api = open_compiler();
    double opened = now_ms();
    for (int i = 0; i < a.repeat; i++) {
        Arena arena;
        arena_init(&arena, NULL);
        char *error = NULL;
        IrModule *m = ir_parse(&arena, text, &error);
        if (!m) die(a.file, error);
        double start = now_ms();
        print_stage(api, m, &a);
        double end = now_ms();
        if (a.repeat > 1 && (i == 0 || i == a.repeat - 1))
            printf("open %.2f ms, compilation %d: %.2f ms\n", opened - before, i + 1, end - start);
        arena_free(&arena);
    }
    free(text);
    return 0;
}
