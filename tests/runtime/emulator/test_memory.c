/* test_memory.c - the device's memory: allocations, loads and stores of all widths and spaces, atomics. */
#include "launch.h"

/* ---- allocations ------------------------------------------------------------------------------- */

static void allocations(void) {
    Memory *m = memory_open(1 << 20);
    uint64_t a = memory_alloc(m, ALLOC_DEVICE, 100, NULL), b = memory_alloc(m, ALLOC_DEVICE, 100, NULL), total, left;
    CHECK(a && b && a % 256 == 0 && b > a + 100);
    CHECK(memory_find(m, a + 99)->address == a);
    CHECK(memory_find(m, a + 100) == NULL);
    CHECK(memory_bytes(m, a + 50, 50) && !memory_bytes(m, a + 50, 51));
    memory_info(m, &left, &total);
    EQUAL(total - left, 200);
    CHECK(!memory_free(m, a + 1));
    CHECK(memory_free(m, a) && !memory_free(m, a));
    CHECK(memory_find(m, a)->freed);
    CHECK(!memory_bytes(m, a, 1));
    EQUAL(memory_alloc(m, ALLOC_DEVICE, 1 << 21, NULL), 0);
    int host[10];
    CHECK(memory_register(m, host, sizeof host, ALLOC_HOST) && !memory_register(m, host + 1, 4, ALLOC_HOST));
    CHECK(memory_bytes(m, (uint64_t)(uintptr_t)host, sizeof host) == (uint8_t *)host);
    CHECK(memory_unregister(m, host) && !memory_unregister(m, host));
    CHECK(memory_register(m, host, sizeof host, ALLOC_HOST));
    memory_close(m);
}

static void many_allocations(void) {
    /* More than the window holds at once, so that addresses come back; none overlaps a live one. */
    Memory *m = memory_open(64 << 20);
    uint64_t live[16] = {0};
    for (uint64_t i = 0; i < 300000; i++) {
        uint64_t *slot = &live[i * 7 % 16];
        if (*slot) CHECK(memory_free(m, *slot));
        *slot = memory_alloc(m, ALLOC_DEVICE, i % 100 == 0 ? 4 << 20 : 1000, NULL);
        CHECK(*slot);
        if (!*slot) break;
        memcpy(memory_bytes(m, *slot, 8), &i, 8);
    }
    uint64_t left, total;
    for (int i = 0; i < 16; i++) CHECK(!live[i] || memory_free(m, live[i]));
    memory_info(m, &left, &total);
    EQUAL(left, total);
    memory_close(m);
}

static long resident_bytes(void) {
    long size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld %ld", &size, &resident) == 2);
    if (f) fclose(f);
    return resident * 4096;
}

static void freed_pages_go_back(void) {
    enum { BYTES = 4000, COUNT = 60000, MANY = 64 << 20 };
    Memory *m = memory_open(UINT64_C(8) << 30);
    uint64_t kept[COUNT / 1000];
    long before = resident_bytes();
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t a = memory_alloc(m, ALLOC_DEVICE, BYTES, NULL);
        memset(memory_bytes(m, a, BYTES), (int)(i / 1000), BYTES);
        if (i % 1000 == 500) kept[i / 1000] = a;
        else memory_free(m, a);
    }
    CHECK(resident_bytes() - before < MANY);
    for (int i = 0; i < COUNT / 1000; i++) {
        const uint8_t *p = memory_bytes(m, kept[i], BYTES);
        CHECK(p[0] == i && p[BYTES - 1] == i && memcmp(p, p + 1, BYTES - 1) == 0);
    }
    memory_close(m);
}

/* ---- ld and st --------------------------------------------------------------------------------- */

static void widths_and_signs(void) {
    Gpu *g = gpu_open(KERNEL(
        "ld.global.s8 %r3, [%rd1]; ld.global.u8 %r4, [%rd1]; ld.global.s16 %r5, [%rd1]; ld.global.u16 %r6, [%rd1];\n"
        "ld.global.s32 %rd3, [%rd1]; ld.global.s8 %h0, [%rd1]; ld.global.b8 %h1, [%rd1];\n"
        "st.global.v4.u32 [%rd0], {%r3, %r4, %r5, %r6};\n"
        "st.global.u64 [%rd0+16], %rd3; st.global.v2.u16 [%rd0+24], {%h0, %h1};\n"
        "st.global.u8 [%rd0+28], %r3; st.global.u8 [%rd0+29], %h0; st.global.u16 [%rd0+30], %rd3;\n"));
    gpu_in(g)[0] = 0x8090a0f0;
    EQUAL(gpu_launch(g, 1, 1, 0), 0);
    static const uint32_t expected[] = {0xfffffff0, 0xf0,       0xffffa0f0, 0xa0f0,
                                        0x8090a0f0, 0xffffffff, 0x00f0fff0, 0xa0f0f0f0};
    for (size_t i = 0; i < 8; i++) EQUAL(gpu_out(g)[i], expected[i]);
    gpu_close(g);
}

static void vectors_and_halves(void) {
    WORDS_ARE(KERNEL("mov.b64 %rd3, 0x1122334455667788;\n"
                     "st.global.v2.u64 [%rd0], {%rd3, 7};\n"
                     "ld.global.v4.u16 {%h0, %h1, _, %h3}, [%rd0];\n"
                     "st.global.v2.b16 [%rd0+16], {%h1, %h3};\n"
                     "ld.global.v2.f32 {%f0, %f1}, [%rd0]; st.global.f32 [%rd0+20], %f1;\n"),
              1, 0, 0x55667788, 0x11223344, 7, 0, 0x11225566, 0x11223344);
}

static void spaces(void) {
    /* One value by every way: shared, local, constant, parameter, generic addresses of each. */
    WORDS_ARE(
        HEAD
        ".shared .align 4 .b8 s[8];\n.const .u32 c[2] = {11, 22};\n.global .u32 v = 33;\n" BEGIN
        ".local .align 8 .b8 l[16];\n"
        "mov.u32 %r3, s; st.shared.u32 [%r3+4], 44; st.local.u32 [l+8], 55;\n"
        "mov.u64 %rd3, s; cvta.shared.u64 %rd3, %rd3; ld.u32 %r4, [%rd3+4];\n"
        "mov.u64 %rd4, l; cvta.local.u64 %rd4, %rd4; ld.u32 %r5, [%rd4+8];\n"
        "ld.const.u32 %r6, [c+4]; mov.u64 %rd5, c; cvta.const.u64 %rd5, %rd5; ld.u32 %r7, [%rd5];\n"
        "ld.global.u32 %r8, [v]; mov.u64 %rd6, v; cvta.global.u64 %rd6, %rd6; ld.u32 %r9, [%rd6];\n"
        "cvta.to.shared.u64 %rd7, %rd3; ld.shared.u32 %r10, [%rd7+4];\n"
        "isspacep.shared %p0, %rd3; isspacep.local %p1, %rd4; isspacep.global %p2, %rd6; isspacep.shared %p3, %rd4;\n"
        "selp.u32 %r11, 1, 0, %p0; selp.u32 %r12, 1, 0, %p1; selp.u32 %r13, 1, 0, %p2; selp.u32 %r14, 1, 0, %p3;\n"
        "st.global.v4.u32 [%rd0], {%r4, %r5, %r6, %r7}; st.global.v2.u32 [%rd0+16], {%r8, %r9}; st.global.u32 "
        "[%rd0+24], %r10;\n"
        "st.global.v4.u32 [%rd0+32], {%r11, %r12, %r13, %r14};\n" END,
        1, 0, 44, 55, 22, 11, 33, 33, 44, 0, 1, 1, 1, 0);
}

static void lanes_in_different_spaces(void) {
    WORDS_ARE(HEAD ".shared .align 4 .b32 s[4];\n" BEGIN
                   "mov.u64 %rd3, s; cvta.shared.u64 %rd3, %rd3; mul.wide.u32 %rd4, %r0, 4; add.u64 %rd3, %rd3, %rd4;\n"
                   "and.b32 %r3, %r0, 1; setp.eq.u32 %p0, %r3, 0; selp.b64 %rd5, %rd2, %rd3, %p0;\n"
                   "add.u32 %r4, %r0, 7; st.u32 [%rd5], %r4; ld.u32 %r5, [%rd5]; st.global.u32 [%rd2+16], %r5;\n" END,
              4, 0, 7, 0, 9, 0, 7, 8, 9, 10);
}

static void dynamic_shared_memory(void) {
    Gpu *g =
        gpu_open(HEAD ".shared .align 8 .b8 fixed[12];\n.extern .shared .align 8 .b8 dyn[];\n" BEGIN
                      "mov.u64 %rd3, dyn; cvt.u32.u64 %r3, %rd3; st.shared.u32 [%r3+36], 5;\n"
                      "st.global.u32 [%rd0], %r3; mov.u32 %r4, %dynamic_smem_size; st.global.u32 [%rd0+4], %r4;\n" END);
    g->spec.dynamic_shared = 40;
    EQUAL(gpu_launch(g, 1, 1, 0), 0);
    EQUAL(gpu_out(g)[0] % 8, 0);
    EQUAL(gpu_out(g)[1], 40);
    g->spec.dynamic_shared = 39;
    EQUAL(gpu_launch(g, 1, 1, 0), 700);
    gpu_close(g);
}

/* ---- atomics ----------------------------------------------------------------------------------- */

/* atom on in[0] by one lane: what it returns, what it leaves. */
static void atomic(const char *operation, const char *type, uint64_t old, uint64_t b, uint64_t result) {
    for (int shared = 0; shared < 2; shared++) {
        char ptx[2048];
        bool wide = strstr(type, "64") != NULL, half = strcmp(type, "f16") == 0 || strcmp(type, "bf16") == 0;
        const char *reg = wide ? "%rd" : half ? "%h" : "%r", *bits = wide ? "64" : half ? "16" : "32";
        fill(ptx, sizeof ptx,
             HEAD ".shared .align 8 .b8 s[8];\n" BEGIN "ld.global.u64 %rd10, [%rd1]; st.shared.u64 [s], %rd10;\n"
                  "ld.global.b$ $3, [%rd1+8];\n"
                  "atom.$.$.$ $4, [$], $3;\n"
                  "ld.shared.u64 %rd10, [s]; $\n"
                  "st.global.b$ [%rd0], $4;\n" END,
             bits, reg, shared ? "shared" : "global", operation, type, reg, shared ? "s" : "%rd1", reg,
             shared ? "st.global.u64 [%rd1], %rd10;" : "", bits, reg, NULL);
        Gpu *g = gpu_open(ptx);
        if (!g) return;
        memcpy(gpu_in(g), &old, 8);
        memcpy(gpu_in(g) + 2, &b, 8);
        int before = failures;
        EQUAL(gpu_launch(g, 1, 1, 0), 0);
        uint64_t now, got;
        memcpy(&now, gpu_in(g), 8);
        memcpy(&got, gpu_out(g), 8);
        EQUAL(now, result);
        EQUAL(got, old);
        if (failures != before) printf("  in atom.%s.%s\n", operation, type);
        gpu_close(g);
    }
}

static void atomic_operations(void) {
    atomic("add", "u32", 0xffffffff, 2, 1);
    atomic("add", "s32", 5, (uint32_t)-7, (uint32_t)-2);
    atomic("add", "u64", UINT64_MAX, 3, 2);
    atomic("add", "f32", 0x3f800000, 0x40000000, 0x40400000);
    atomic("add", "f64", 0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000);
    atomic("add.noftz", "f16", 0x3c00, 0x4000, 0x4200);
    atomic("add.noftz", "bf16", 0x3f80, 0x4000, 0x4040);
    atomic("add.noftz", "f16x2", 0x3c003c00, 0x40003c00, 0x42004000);
    atomic("add.noftz", "bf16x2", 0x3f803f80, 0x40003f80, 0x40404000);
    atomic("min", "u32", 5, 0xffffffff, 5);
    atomic("min", "s32", 5, 0xffffffff, 0xffffffff);
    atomic("max", "u32", 5, 0xffffffff, 0xffffffff);
    atomic("max", "s32", 5, 0xffffffff, 5);
    atomic("min", "u64", 5, UINT64_MAX, 5);
    atomic("min", "s64", 5, UINT64_MAX, UINT64_MAX);
    atomic("max", "u64", 5, UINT64_MAX, UINT64_MAX);
    atomic("max", "s64", 5, UINT64_MAX, 5);
    atomic("and", "b32", 0xff0f, 0x0ff0, 0x0f00);
    atomic("or", "b64", 0xf000000000000000, 0xf, 0xf00000000000000f);
    atomic("xor", "b32", 0xff, 0xf0, 0x0f);
    atomic("exch", "b32", 1, 2, 2);
    atomic("exch", "b64", 1, UINT64_C(1) << 40, UINT64_C(1) << 40);
    atomic("inc", "u32", 4, 5, 5);
    atomic("inc", "u32", 5, 5, 0);
    atomic("inc", "u32", 9, 5, 0);
    atomic("dec", "u32", 0, 5, 5);
    atomic("dec", "u32", 9, 5, 5);
    atomic("dec", "u32", 3, 5, 2);
}

static void subnormal_sums(void) {
    /* In global memory they become zero, in shared memory not: the manual says so. */
    WORDS_ARE(HEAD ".shared .align 4 .b32 s;\n" BEGIN "st.global.u32 [%rd0], 1; st.shared.u32 [s], 1;\n"
                   "mov.b32 %f0, 2; red.global.add.f32 [%rd0], %f0; red.shared.add.f32 [s], %f0;\n"
                   "ld.shared.u32 %r3, [s]; st.global.u32 [%rd0+4], %r3;\n" END,
              1, 0, 0, 3);
}

static void compare_and_swap(void) {
    WORDS_ARE(KERNEL("atom.global.cas.b32 %r3, [%rd0], 0, 5; atom.global.cas.b32 %r4, [%rd0], 0, 6; "
                     "atom.global.cas.b16 %h0, [%rd0+4], 0, 7;\n"
                     "mov.u64 %rd3, 0; mov.u64 %rd4, 9; atom.global.cas.b64 %rd5, [%rd0+8], %rd3, %rd4;\n"
                     "st.global.v2.u32 [%rd0+16], {%r3, %r4};\n"),
              1, 0, 5, 7, 9, 0, 0, 5);
    WORDS_ARE(KERNEL(".reg .b128 %q<4>; mov.u64 %rd3, 1; mov.u64 %rd4, 2; mov.b128 %q0, {%rd3, %rd4};\n"
                     "atom.global.exch.b128 %q1, [%rd0], %q0; atom.global.cas.b128 %q2, [%rd0+16], %q1, %q0;\n"),
              1, 0, 1, 0, 2, 0, 1, 0, 2, 0);
}

static void vectors_of_floats(void) {
    WORDS_ARE(
        KERNEL("mov.f32 %f0, 0f3F800000; mov.f32 %f1, 0f40000000;\n"
               "red.global.add.v2.f32 [%rd0], {%f0, %f1}; atom.global.v2.f32.add {%f2, %f3}, [%rd0], {%f0, %f1};\n"
               "st.global.v2.f32 [%rd0+8], {%f2, %f3};\n"),
        1, 0, 0x40000000, 0x40800000, 0x3f800000, 0x40000000);
}

static void all_lanes_count(void) {
    Gpu *g =
        gpu_open(KERNEL("red.relaxed.gpu.global.add.u32 [%rd0], 1; red.global.add.f64 [%rd0+8], 0d3FF0000000000000;\n"
                        "atom.global.max.u32 %r3, [%rd0+16], %r0;\n"));
    g->spec.threads = 4;
    EQUAL(gpu_launch(g, 50, 100, 0), 0);
    double sum;
    memcpy(&sum, gpu_out(g) + 2, 8);
    EQUAL(gpu_out(g)[0], 5000);
    CHECK(sum == 5000);
    EQUAL(gpu_out(g)[4], 99);
    gpu_close(g);
}

int main(void) {
    allocations();
    many_allocations();
    freed_pages_go_back();
    widths_and_signs();
    vectors_and_halves();
    spaces();
    lanes_in_different_spaces();
    dynamic_shared_memory();
    atomic_operations();
    subnormal_sums();
    compare_and_swap();
    vectors_of_floats();
    all_lanes_count();
    if (failures == 0) printf("ok\n");
    return failures != 0;
}
