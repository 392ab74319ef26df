/* test_targets.c - every operation x type x GPU compiles to PTX, and ptxas takes it where it is installed.
 *
 * All operations on a type go into one kernel for each GPU; what the legality table refuses must give a
 * message and no more. The libraries of math functions are both tried. */
#define _XOPEN_SOURCE 700
#include "codekit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_OPS = 256 };

static const CompilerApi *api;
static unsigned failures, kernels, assembled;
static char libclc[4096], ptxas[4096], libdevice[8192];

typedef struct Gpu {
    uint16_t sm;
    char suffix;
    bool assemble;
} Gpu;

static const Gpu gpus[] = {{75, 0, true},    {80, 0, true},     {86, 0, false},  {87, 0, false},    {88, 0, false},
                           {89, 0, false},   {90, 0, true},     {90, 'a', true}, {100, 0, true},    {100, 'a', false},
                           {100, 'f', true}, {101, 0, false},   {103, 0, false}, {103, 'a', false}, {110, 0, false},
                           {120, 0, true},   {120, 'a', false}, {121, 0, false}, {121, 'f', false}};

/* The operations on t, conversions to every type among them, as far as the target takes them. */
static uint32_t legal_ops(Type t, const CompileOptions *o, KitOp *out) {
    uint32_t n = kit_ops(t, out, MAX_OPS), kept = 0;
    n += kit_together(t, out + n, MAX_OPS - n);
    for (int to = T_BOOL; to <= T_F64; to++) {
        out[n++] = (KitOp){OP_CONVERT, (Type)to, t, 0, 1, NULL};
        bool cast = t != T_BOOL && to != T_BOOL && type_bytes(t) == type_bytes((Type)to);
        if (cast) out[n++] = (KitOp){OP_BITCAST, (Type)to, t, 0, 1, NULL};
    }
    for (uint32_t i = 0; i < n; i++)
        if (api->legality(out[i].op, t, out[i].sub, o) != LEGAL_REFUSE) out[kept++] = out[i];
    return kept;
}

static void complain(const Gpu *g, Type t, const char *what) {
    failures++;
    fprintf(stderr, "sm_%u%.1s %s: %s\n", g->sm, g->suffix ? &g->suffix : "", type_info[t].text, what);
}

static void assemble(const Gpu *g, Type t, const char *ptx) {
    char path[] = "/tmp/gpu_targets_XXXXXX", command[8192];
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f) return;
    fputs(ptx, f);
    fclose(f);
    snprintf(command, sizeof command, "%s -arch sm_%u%.1s -O0 %s -o /dev/null", ptxas, g->sm,
             g->suffix ? &g->suffix : "", path);
    if (system(command) != 0) complain(g, t, "ptxas refuses it");
    else assembled++;
    unlink(path);
}

static void test_type(const Gpu *g, Type t, const CompileOptions *o, bool may_assemble) {
    Arena arena;
    arena_init(&arena, NULL);
    KitOp ops[MAX_OPS];
    uint32_t n = legal_ops(t, o, ops);
    char *error = NULL;
    Image *image = api->compile(kit_kernel_of(&arena, ops, n), o, &error);
    kernels++;
    if (!image) complain(g, t, error ? error : "no image");
    else if (may_assemble && ptxas[0]) assemble(g, t, image->ptx);
    free(error);
    gpu_image_free(image);
    arena_free(&arena);
}

/* What is refused ends in a message, not in LLVM. */
static void test_refusals(Type t) {
    static const CompileOptions bare = {.target = TARGET_PTX, .sm = 80, .opt = 2};
    KitOp ops[MAX_OPS];
    uint32_t n = kit_ops(t, ops, MAX_OPS);
    n += kit_together(t, ops + n, MAX_OPS - n);
    for (uint32_t i = 0; i < n; i++) {
        if (api->legality(ops[i].op, t, ops[i].sub, &bare) != LEGAL_REFUSE) continue;
        Arena arena;
        arena_init(&arena, NULL);
        char *error = NULL;
        IrModule *m = kit_kernel(&arena, &ops[i]);
        bool valid = ir_verify(m) == NULL; /* others never get there: the verifier tells of them */
        Image *image = valid ? api->compile(m, &bare, &error) : NULL;
        if (valid && (image || !error)) complain(&gpus[1], t, "compiled although it is refused");
        free(error);
        gpu_image_free(image);
        arena_free(&arena);
    }
}

static void test_bad_targets(void) {
    static const CompileOptions bad[] = {{.target = TARGET_PTX, .sm = 74},
                                         {.target = TARGET_PTX, .sm = 999},
                                         {.target = TARGET_PTX, .sm = 80, .sm_suffix = 'a'},
                                         {.target = TARGET_PTX, .sm = 90, .ptx_version = 70},
                                         {.target = TARGET_PTX, .sm = 80, .ptx_version = 79},
                                         {.target = TARGET_PTX, .sm = 80, .ptx_version = 99}};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        Arena arena;
        arena_init(&arena, NULL);
        static const KitOp add = {OP_ADD, T_F32, T_F32, 0, 2, NULL};
        char *error = NULL;
        Image *image = api->compile(kit_kernel(&arena, &add), &bad[i], &error);
        if (image || !error || !strstr(error, "sm_")) {
            failures++;
            fprintf(stderr, "bad target %u: %s\n", i, error ? error : "no message");
        }
        free(error);
        arena_free(&arena);
    }
}

/* ptxas from PATH, and libdevice from the toolkit that it belongs to; each stays empty if it isn't there. */
static void find_toolkit(void) {
    FILE *f = popen("command -v ptxas", "r");
    char found[2048] = "";
    if (!f) return;
    if (fgets(found, sizeof found, f)) found[strcspn(found, "\n")] = 0;
    pclose(f);
    if (!realpath(found, ptxas)) return;
    snprintf(libdevice, sizeof libdevice, "%.*s/../nvvm/libdevice/libdevice.10.bc", (int)(strrchr(ptxas, '/') - ptxas),
             ptxas);
    if (access(libdevice, R_OK) != 0) libdevice[0] = 0;
}

/* A library that can't be read is named in the message. */
static void test_bad_library(void) {
    static const char garbage[] = "BC\xc0\xde, but no bitcode";
    char path[] = "/tmp/gpu_library_XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, garbage, sizeof garbage) < 0) exit(1);
    close(fd);
    const char *const files[] = {path, "/nonexistent/libdevice.bc"};
    for (unsigned i = 0; i < 2; i++) {
        const CompileOptions o = {.target = TARGET_PTX, .sm = 80, .opt = 2, .libdevice = files[i]};
        static const KitOp sine = {OP_MATH, T_F32, T_F32, MATH_SIN, 1, NULL};
        Arena arena;
        arena_init(&arena, NULL);
        char *error = NULL;
        Image *image = api->compile(kit_kernel(&arena, &sine), &o, &error);
        if (image || !error || !strstr(error, files[i])) complain(&gpus[1], T_F32, error ? error : "no message");
        free(error);
        gpu_image_free(image);
        arena_free(&arena);
    }
    unlink(path);
}

/* Options that show in the text. */
static void test_options(void) {
    static const char *const wanted[] = {".maxntid 256", ".minnctapersm 2", ".maxnreg 64", ".version 8.0",
                                         "add.ftz.f32"};
    CompileOptions o = {.target = TARGET_PTX,
                        .sm = 80,
                        .opt = 2,
                        .max_threads = 256,
                        .min_blocks = 2,
                        .max_registers = 64,
                        .ptx_version = 80,
                        .fastmath = true};
    Arena arena;
    arena_init(&arena, NULL);
    static const KitOp add = {OP_ADD, T_F32, T_F32, 0, 2, NULL};
    char *error = NULL;
    Image *image = api->compile(kit_kernel(&arena, &add), &o, &error);
    for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!image || !strstr(image->ptx, wanted[i])) complain(&gpus[1], T_F32, wanted[i]);
    if (image && image->ptx_version != 80) complain(&gpus[1], T_F32, "the image has another PTX version");
    free(error);
    gpu_image_free(image);
    arena_free(&arena);
}

int main(void) {
    api = kit_open();
    find_toolkit();
    kit_package_path("libclc", libclc, sizeof libclc);
    for (unsigned i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        const Gpu *g = &gpus[i];
        CompileOptions o = {.target = TARGET_PTX, .sm = g->sm, .sm_suffix = g->suffix, .opt = 2, .libclc_dir = libclc};
        for (int t = T_BOOL; t <= T_F64; t++) {
            test_type(g, (Type)t, &o, g->assemble);
            if (!libdevice[0] || !type_is_float((Type)t)) continue;
            o.libdevice = libdevice;
            test_type(g, (Type)t, &o, g->assemble && g->sm != 100);
            o.fastmath = true;
            test_type(g, (Type)t, &o, g->sm == 80);
            o.fastmath = false;
            o.libdevice = NULL;
        }
    }
    for (int t = T_BOOL; t <= T_F64; t++) test_refusals((Type)t);
    test_bad_targets();
    test_options();
    test_bad_library();
    printf("%u kernels, %u through ptxas, %u failures%s\n", kernels, assembled, failures,
           libdevice[0] ? "" : " (no libdevice)");
    return failures != 0;
}
