/* test_entry.c - what surrounds a kernel's body on the CPU: blocks and threads, exceptions, the
 * thread's own memory, constant data, host functions, loading and unloading, several compilations at once. */
#define _POSIX_C_SOURCE 200809L
#include "codekit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const CompilerApi *api;
static unsigned failures;

#define CHECK(condition, ...)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) failures++, fprintf(stderr, "%s: ", __func__), fprintf(stderr, __VA_ARGS__);                 \
    } while (0)

static Image *compile_text(const char *text) {
    static const CompileOptions o = {.target = TARGET_CPU, .opt = 2};
    Arena arena;
    arena_init(&arena, NULL);
    char *error = NULL;
    IrModule *m = ir_parse(&arena, text, &error);
    if (!m || (error = ir_verify(m))) {
        fprintf(stderr, "bad test: %s\n", error);
        exit(1);
    }
    Image *image = api->compile(m, &o, &error);
    if (!image) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    arena_free(&arena);
    return image;
}

static void discard(Image *image) {
    api->unload(image);
    gpu_image_free(image);
}

/* ---- threads and blocks -------------------------------------------------------------------- */

static const char indices[] = "kernel indices\n"
                              "param ptr data \"out\" leaf 0 written\n"
                              "b0:\n"
                              "  %1 = sreg.ctaid.z i32\n  %2 = sreg.nctaid.y i32\n  %3 = mul i32 %1, %2\n"
                              "  %4 = sreg.ctaid.y i32\n  %5 = add i32 %3, %4\n"
                              "  %6 = sreg.nctaid.x i32\n  %7 = mul i32 %5, %6\n"
                              "  %8 = sreg.ctaid.x i32\n  %9 = add i32 %7, %8\n"
                              "  %10 = sreg.ntid.z i32\n  %11 = mul i32 %9, %10\n"
                              "  %12 = sreg.tid.z i32\n  %13 = add i32 %11, %12\n"
                              "  %14 = sreg.ntid.y i32\n  %15 = mul i32 %13, %14\n"
                              "  %16 = sreg.tid.y i32\n  %17 = add i32 %15, %16\n"
                              "  %18 = sreg.ntid.x i32\n  %19 = mul i32 %17, %18\n"
                              "  %20 = sreg.tid.x i32\n  %21 = add i32 %19, %20\n"
                              "  %22 = param ptr 0\n  %23 = addr ptr %22, %21, 4\n"
                              "  %24 = sreg.laneid i32\n  %25 = const i32 32\n  %26 = mul i32 %21, %25\n"
                              "  %27 = add i32 %26, %24\n  store %23, %27\n  ret\n";

/* Each thread of a 3-D launch writes its number and its lane, in ranges of blocks of every size. */
static void test_indices(void) {
    enum { GRID = 2 * 3 * 4, BLOCK = 5 * 3 * 2, N = GRID * BLOCK };
    Image *image = compile_text(indices);
    static int out[N];
    void *params[1] = {out};
    CpuLaunch launch = {.grid = {2, 3, 4}, .block = {5, 3, 2}};
    for (uint64_t step = 1; step <= GRID; step += 5) {
        memset(out, 0xff, sizeof out);
        for (uint64_t first = 0; first < GRID; first += step) {
            cpu_start_at(&launch, first);
            image->cpu_entry(params, &launch, first, first + step < GRID ? first + step : GRID);
        }
        for (int i = 0; i < N; i++)
            if (out[i] != i * 32 + i % BLOCK % 32) {
                CHECK(false, "thread %d wrote %d\n", i, out[i]);
                break;
            }
    }
    out[0] = -7;
    image->cpu_entry(params, &launch, 3, 3);
    CHECK(out[0] == -7, "an empty range ran\n");
    discard(image);
}

/* ---- exceptions ---------------------------------------------------------------------------- */

static const char raising[] =
    "kernel raising\n"
    "param ptr data \"out\" leaf 0 written\n"
    "site \"KeyError\" \"first\"\nsite \"ValueError\" \"second\"\n"
    "b0:\n"
    "  %1 = sreg.ctaid.x i32\n  %2 = const i32 3\n  %3 = cmp.eq bool %1, %2\n"
    "  %4 = sreg.tid.x i32\n  %5 = const i32 7\n  %6 = cmp.eq bool %4, %5\n"
    "  %7 = and bool %3, %6\n  branch %7, b1, b2\n"
    "b1:\n"
    "  %8 = const i8 -5\n  %9 = const f32 1.5\n  %10 = const bool true\n"
    "  raise 1, %8, %9, %10\n"
    "b2:\n"
    "  %11 = sreg.ntid.x i32\n  %12 = mul i32 %1, %11\n  %13 = add i32 %12, %4\n"
    "  %14 = param ptr 0\n  %15 = addr ptr %14, %13, 1\n  %16 = const i8 1\n  store %15, %16\n"
    "  ret\n";

static void test_raise(void) {
    Image *image = compile_text(raising);
    char out[6 * 10] = {0};
    void *params[1] = {out};
    ErrorRecord e = {0};
    CpuLaunch launch = {.grid = {6, 1, 1}, .block = {10, 1, 1}, .error = &e};
    image->cpu_entry(params, &launch, 0, 6);
    double value;
    memcpy(&value, &e.values[1], sizeof value);
    const char *exception = e.site && e.site <= image->nsites ? image->sites[e.site - 1].exception : "nothing";
    CHECK(!strcmp(exception, "ValueError") && e.thread[0] == 7 && e.block[0] == 3 && e.block[1] == 0,
          "%s at thread %u of block %u\n", exception, e.thread[0], e.block[0]);
    CHECK((int64_t)e.values[0] == -5 && value == 1.5 && e.values[2] == 1, "wrong values\n");
    CHECK(out[36] == 1 && out[40] == 0, "threads before it ran, blocks after it did not: %d %d\n", out[36], out[40]);
    CHECK(image->raises, "it raises\n");
    discard(image);
}

/* ---- memory -------------------------------------------------------------------------------- */

/* A thread fills 4 bytes of its own memory through a variable index and adds constants up from them. */
static const char memory[] = "kernel memory\n"
                             "param ptr data \"out\" leaf 0 written\n"
                             "data align 4 const \"0a00000014000000\"\n"
                             "b0:\n"
                             "  %1 = alloca ptrl 8\n  %2 = sreg.tid.x i32\n  %3 = const i32 1\n  %4 = and i32 %2, %3\n"
                             "  %5 = addr ptrl %1, %4, 4\n  store %5, %2\n"
                             "  %6 = load i32 %5\n  %7 = data ptrc 0\n  %8 = addr ptrc %7, %4, 4\n  %9 = load i32 %8\n"
                             "  %10 = add i32 %6, %9\n  %11 = param ptr 0\n  %12 = addr ptr %11, %2, 4\n"
                             "  store %12, %10\n  ret\n";

static void test_memory(void) {
    Image *image = compile_text(memory);
    int out[100];
    void *params[1] = {out};
    kit_run(image, params, 100, 100);
    for (int i = 0; i < 100; i++) CHECK(out[i] == i + (i & 1 ? 20 : 10), "thread %d has %d\n", i, out[i]);
    discard(image);
}

/* ---- host functions -------------------------------------------------------------------------- */

static void test_host(void) {
    Image *one = compile_text("function exp f64\nparam f64 scalar \"x\" leaf 0\n"
                              "b0:\n  %1 = param f64 0\n  %2 = math.exp f64 %1\n  %3 = add f64 %2, %1\n  ret %3\n");
    double (*f)(double);
    *(void **)&f = one->host_fn;
    CHECK(f && f(0.0) == 1.0, "exp(0) + 0 is %g\n", f(0.0));
    discard(one);

    Image *two = compile_text("function pair i8, bool\nparam i8 scalar \"x\" leaf 0\nparam bool scalar \"y\" leaf 1\n"
                              "b0:\n  %1 = param i8 0\n  %2 = param bool 1\n  %3 = neg i8 %1\n  %4 = not bool %2\n"
                              "  ret %3, %4\n");
    int64_t slots[2] = {0, 0};
    void (*g)(int64_t *, int8_t, uint8_t);
    *(void **)&g = two->host_fn;
    g(slots, 5, 1);
    CHECK((int8_t)slots[0] == -5 && (uint8_t)slots[1] == 0, "pair gave %d and %d\n", (int8_t)slots[0],
          (uint8_t)slots[1]);
    discard(two);

    Image *raises = compile_text("function check i16\nparam i16 scalar \"x\" leaf 0\nsite \"ValueError\" \"negative\"\n"
                                 "b0:\n  %1 = param i16 0\n  %2 = const i16 0\n  %3 = cmp.lt bool %1, %2\n"
                                 "  branch %3, b1, b2\nb1:\n  raise 0, %1\nb2:\n  ret %1\n");
    ErrorRecord e = {0};
    int16_t (*h)(int16_t, ErrorRecord *);
    *(void **)&h = raises->host_fn;
    CHECK(h(7, &e) == 7 && e.site == 0, "7 was refused\n");
    CHECK(h(-3, &e) == 0 && e.site == 1 && (int64_t)e.values[0] == -3, "-3 was taken\n");
    discard(raises);
}

/* ---- several at once, and many in turn -------------------------------------------------------- */

static void *compile_some(void *arg) {
    for (int i = 0; i < 10; i++) {
        Image *image = compile_text(i & 1 ? memory : indices);
        if (i & 1) {
            int out[32];
            void *params[1] = {out};
            kit_run(image, params, 32, 32);
            if (out[31] != 31 + 20) *(int *)arg = 1;
        }
        discard(image);
    }
    return NULL;
}

static void test_threads(void) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int wrong[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, compile_some, &wrong[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(!wrong[i], "thread %d got a wrong result\n", i);
    }
}

int main(void) {
    api = kit_open();
    test_indices();
    test_raise();
    test_memory();
    test_host();
    test_threads();
    printf("%u failures\n", failures);
    return failures != 0;
}
