/* test_ptx.c - what becomes of PTX text: places of variables, parameters and registers, labels and scopes, initial
 * values, several sources, source lines. What instructions compute is tested elsewhere. */
#include "launch.h"

#define TEXT(name, body) ".visible .entry " name "()\n{\n" body "ret;\n}\n"

static Memory *memory;
static char log_text[4096];

static PtxCode *load_all(const char *const *texts, uint32_t n) {
    PtxSource sources[4];
    static const char *const names[] = {"a.ptx", "b.ptx", "c.ptx", "d.ptx"};
    for (uint32_t i = 0; i < n; i++) sources[i] = (PtxSource){texts[i], strlen(texts[i]), names[i]};
    PtxLog log = {.buffer = log_text, .size = sizeof log_text};
    log_text[0] = 0;
    return ptx_load(sources, n, memory, 90, &log);
}

static PtxCode *load(const char *text) {
    PtxCode *code = load_all(&text, 1);
    if (!code) failures++, printf("%s\n%s", text, log_text);
    return code;
}

static uint8_t *bytes_of(const PtxCode *code, const char *name) {
    const PtxGlobal *g = ptx_global(code, name);
    return g ? memory_bytes(memory, g->address, g->bytes) : NULL;
}

static uint64_t word(const PtxCode *code, const char *name, int index) {
    uint64_t v;
    memcpy(&v, bytes_of(code, name) + 8 * index, 8);
    return v;
}

/* ---- variables ---------------------------------------------------------------------------------- */

static void initial_values(void) {
    PtxCode *c = load(HEAD ".global .align 4 .u32 numbers[6] = {1, -1, 0x10, 010, 0b101, 7U};\n"
                           ".global .f32 floats[4] = {0f3F800000, 0.5, -2, 1e1};\n"
                           ".global .f64 doubles[2] = {0d3FF0000000000000, 0f40000000};\n"
                           ".const .u16 table[2][3] = {{1, 2}, {4, 5, 6}};\n"
                           ".global .b8 text[] = {\"ab\", 0};\n"
                           ".global .v2 .u32 pair = {3, 4};\n"
                           ".global .u32 scalar = 5, second = 6;\n"
                           ".global .align 16 .b8 zeros[5];\n");
    if (!c) return;
    static const uint32_t numbers[] = {1, UINT32_MAX, 16, 8, 5, 7};
    static const float floats[] = {1, 0.5f, -2, 10};
    static const double doubles[] = {1, 2};
    static const uint16_t table[] = {1, 2, 0, 4, 5, 6};
    static const uint32_t pair[] = {3, 4};
    CHECK(memcmp(bytes_of(c, "numbers"), numbers, sizeof numbers) == 0);
    CHECK(memcmp(bytes_of(c, "floats"), floats, sizeof floats) == 0);
    CHECK(memcmp(bytes_of(c, "doubles"), doubles, sizeof doubles) == 0);
    CHECK(memcmp(bytes_of(c, "table"), table, sizeof table) == 0);
    CHECK(memcmp(bytes_of(c, "text"), "ab", 3) == 0);
    CHECK(memcmp(bytes_of(c, "pair"), pair, sizeof pair) == 0);
    EQUAL(*bytes_of(c, "second"), 6);
    EQUAL(ptx_global(c, "text")->bytes, 3);
    EQUAL(ptx_global(c, "table")->space, SPACE_CONST);
    EQUAL(ptx_global(c, "zeros")->address % 16, 0);
    CHECK(memcmp(bytes_of(c, "zeros"), "\0\0\0\0", 5) == 0);
    ptx_unload(c, memory);
}

static void constant_expressions(void) {
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"-7 / 2", -3},
        {"-7 % 3", -1},
        {"1 << 40 >> 38", 4},
        {"5 & 6 | 8 ^ 1", 13},
        {"~0", -1},
        {"!5 + !0", 1},
        {"3 > 2 ? 10 : 20", 10},
        {"-1 < 1", 1},
        {"-1 < 1U", 0},
        {"(.u64)-1 >> 60", 15},
        {"(.s64)0xFFFFFFFFFFFFFFFF / 2", 0},
        {"WARP_SZ * 2", 64},
        {"1 && 0 || 1", 1},
        {"0x8000000000000000 == 9223372036854775808", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        snprintf(text, sizeof text, HEAD ".global .s64 x = %s;\n", cases[i].text);
        PtxCode *c = load(text);
        if (!c) continue;
        if ((int64_t)word(c, "x", 0) != cases[i].value)
            failures++, printf("%s is not %" PRId64 "\n", cases[i].text, cases[i].value);
        ptx_unload(c, memory);
    }
}

static void addresses_as_initial_values(void) {
    PtxCode *c = load(HEAD ".func f() { ret; }\n"
                           ".func g() { ret; }\n"
                           ".global .b8 data[32];\n"
                           ".global .u64 pointers[5] = {data, data + 8, generic(data) + 4, g, later};\n"
                           ".global .b8 parts[8] = {0xFF(data), 0xFF00(data), 0xFF0000(data), 0xFF000000(data)};\n"
                           ".global .u64 later = later;\n");
    if (!c) return;
    uint64_t data = ptx_global(c, "data")->address;
    EQUAL(word(c, "pointers", 0), data);
    EQUAL(word(c, "pointers", 1), data + 8);
    EQUAL(word(c, "pointers", 2), data + 4);
    EQUAL(word(c, "pointers", 3), FUNCTION_BASE + 16 * (uint64_t)(ptx_function(c, "g") - c->funcs));
    EQUAL(word(c, "pointers", 4), ptx_global(c, "later")->address);
    EQUAL(word(c, "later", 0), ptx_global(c, "later")->address);
    EQUAL((uint32_t)word(c, "parts", 0), (uint32_t)data);
    ptx_unload(c, memory);
}

/* A kernel has the shared memory that it and its callees name; what two kernels share lies at one place for both. */
static void shared_memory_of_each_kernel(void) {
    PtxCode *c =
        load(HEAD ".shared .align 8 .b8 common[24];\n"
                  ".shared .b8 only_a[100];\n"
                  ".shared .b8 only_b[50];\n"
                  ".shared .b8 unused[9999];\n"
                  ".extern .shared .align 32 .b8 dynamic[];\n"
                  ".func f() { .reg .u32 %r<2>; mov.u32 %r1, common; ret; }\n"
                  ".visible .entry a() { .reg .u32 %r<2>; call f; mov.u32 %r1, only_a; mov.u32 %r1, dynamic; ret; }\n"
                  ".visible .entry b() { .reg .u32 %r<2>; .shared .u32 mine; call f; mov.u32 %r1, only_b; mov.u32 %r1, "
                  "mine; ret; }\n"
                  ".visible .entry none() { ret; }\n");
    if (!c) return;
    EQUAL(ptx_global(c, "common")->address, 0);
    EQUAL(ptx_global(c, "only_a")->address, 24);
    EQUAL(ptx_global(c, "only_b")->address, 24);
    EQUAL(ptx_function(c, "a")->shared_bytes, 124);
    EQUAL(ptx_function(c, "a")->dynamic_start, 128);
    EQUAL(ptx_function(c, "b")->shared_bytes, 80);
    EQUAL(ptx_function(c, "none")->shared_bytes, 0);
    ptx_unload(c, memory);
}

/* ---- functions ---------------------------------------------------------------------------------- */

static void parameters_and_directives(void) {
    PtxCode *c = load(HEAD ".visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 16 b, .param .u16 c, "
                           ".param .align 8 .b8 d[12], .param .f32 e)\n"
                           ".maxntid 128, 2\n.minnctapersm 3\n.maxnreg 40\n.pragma \"nounroll\";\n{ ret; }\n"
                           ".entry cluster() .reqntid 64 .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }\n");
    if (!c) return;
    static const uint32_t offsets[] = {0, 8, 16, 24, 36};
    const PtxFunc *k = ptx_function(c, "k");
    EQUAL(k->nparams, 5);
    for (int i = 0; i < 5; i++) EQUAL(k->params[i].offset, offsets[i]);
    CHECK(k->params[1].is_pointer && !k->params[0].is_pointer);
    EQUAL(k->param_bytes, 40);
    EQUAL(k->max_threads[0] * k->max_threads[1] * k->max_threads[2], 256);
    EQUAL(k->min_blocks, 3);
    EQUAL(k->max_registers, 40);
    EQUAL(ptx_function(c, "cluster")->required_threads[0], 64);
    EQUAL(ptx_function(c, "cluster")->cluster[0], 2);
    CHECK(ptx_function(c, "nothing") == NULL);
    ptx_unload(c, memory);
}

/* Scopes beside each other share room in local memory; inner ones lie behind outer ones. */
static void local_memory(void) {
    PtxCode *c = load(HEAD ".visible .entry k() {\n.local .align 8 .b8 depot[40];\n"
                           "{ .param .b64 x; .param .align 16 .b8 y[16]; }\n"
                           "{ .param .b32 x; { .param .b64 z[3]; } }\n"
                           "ret;\n}\n");
    if (!c) return;
    EQUAL(ptx_function(c, "k")->local_bytes, 80); /* 40, 4 and 3 * 8, a multiple of 16 */
    ptx_unload(c, memory);
}

static void registers_in_scopes(void) {
    PtxCode *c = load(HEAD TEXT("k", ".reg .b32 %r<10>, x; .reg .v4 .f32 v; .reg .pred p;\n"
                                     "mov.u32 %r9, 1;\n"
                                     "mov.u32 x, %r9;\n"
                                     "{ .reg .b64 %r<4>, x; mov.u64 %r3, 5; mov.u64 x, %r3; mov.u32 %r9, 2; }\n"
                                     "mov.u32 %r3, x;\n"
                                     "mov.f32 v.y, 0f00000000; mov.f32 v.a, v.g;\n"));
    if (!c) return;
    const PtxInst *in = c->insts;
    EQUAL(in[0].o[0].off, in[1].o[1].off); /* %r9 */
    EQUAL(in[2].o[0].bytes, 8);
    CHECK(in[3].o[0].bytes == 8 && in[3].o[0].off != in[1].o[0].off);
    EQUAL(in[4].o[0].off, in[0].o[0].off); /* the outer %r9: the inner range ends before */
    EQUAL(in[5].o[1].off, in[1].o[0].off);
    EQUAL(in[5].o[0].bytes, 4);
    EQUAL(in[6].o[0].off, in[7].o[1].off); /* y and g */
    ptx_unload(c, memory);
}

static void labels_in_scopes(void) {
    PtxCode *c = load(HEAD TEXT("k", "bra END;\n"
                                     "{ L: bra L; }\n"
                                     "{ bra L; L: bra END; }\n"
                                     "END:\n"));
    if (!c) return;
    EQUAL(c->insts[0].target, 4);
    EQUAL(c->insts[1].target, 1);
    EQUAL(c->insts[2].target, 3);
    EQUAL(c->insts[3].target, 4);
    EQUAL(c->insts[4].control, CONTROL_RET);
    ptx_unload(c, memory);
}

/* The same modifiers in another order, or with another spelling, are the same instruction. */
static void orders_of_modifiers(void) {
    PtxCode *c = load(HEAD TEXT("k", ".reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
                                     "ld.global.relaxed.gpu.u32 %r1, [%rd1];\n"
                                     "ld.relaxed.gpu.global.L1::no_allocate.u32 %r1, [%rd1];\n"
                                     "ld .relaxed .gpu .global .u32 %r1, [%rd1+0];\n"));
    if (!c) return;
    for (int i = 1; i < 3; i++) {
        CHECK(c->insts[0].fn == c->insts[i].fn && c->insts[0].sem == c->insts[i].sem);
        CHECK(c->insts[0].space == c->insts[i].space && c->insts[0].scope == c->insts[i].scope);
    }
    ptx_unload(c, memory);
}

static void source_lines(void) {
    PtxCode *c = load(HEAD ".visible .entry k() {\n"
                           ".reg .u32 %r<2>;\n"
                           ".loc 1 10 3\nmov.u32 %r1, 1;\n"
                           ".loc 1 4 7, function_name $name, inlined_at 1 10 3\nmov.u32 %r1, 2;\n"
                           ".loc 1 2 1, function_name $name + 0, inlined_at 1 4 7\nmov.u32 %r1, 3;\n"
                           "ret;\n}\n"
                           ".file 1 \"/src/a.py\"\n"
                           ".section .debug_str {\n$name:\n.b8 105\n.b8 110\n.b8 0\n}\n"
                           ".section .debug_info { .b32 .debug_abbrev\n.b8 1 }\n");
    if (!c) return;
    const PtxLoc *first = &c->locs[c->insts[0].loc], *second = &c->locs[c->insts[1].loc],
                 *third = &c->locs[c->insts[2].loc];
    CHECK(strcmp(first->file, "/src/a.py") == 0 && strcmp(first->function, "k") == 0);
    EQUAL(first->line, 10);
    EQUAL(first->column, 3);
    EQUAL(first->inlined_at, 0);
    CHECK(strcmp(second->function, "in") == 0);
    CHECK(second->inlined_at == c->insts[0].loc && third->inlined_at == c->insts[1].loc);
    EQUAL(c->insts[0].line, 7);
    ptx_unload(c, memory);
}

static void an_estimate_of_registers(void) {
    /* 40 values are live from before the loop until behind it, one by one before. */
    char text[8000] = HEAD ".visible .entry k(.param .u64 out) { .reg .b32 %r<100>; .reg .b64 %rd<2>; .reg .pred %p;\n",
         part[100];
    for (int i = 0; i < 40; i++) snprintf(part, sizeof part, "mov.u32 %%r%d, %%clock;\n", i), strcat(text, part);
    strcat(text, "L: add.u32 %r0, %r0, 1; setp.lt.u32 %p, %r0, 9; @%p bra L;\n");
    for (int i = 0; i < 40; i++) snprintf(part, sizeof part, "add.u32 %%r50, %%r0, %%r%d;\n", i), strcat(text, part);
    strcat(text, "ret; }\n");
    PtxCode *c = load(text);
    if (!c) return;
    CHECK(c->funcs[0].registers >= 40 && c->funcs[0].registers <= 44);
    ptx_unload(c, memory);
    c = load(HEAD TEXT("k", ""));
    if (c) EQUAL(c->funcs[0].registers, 16);
    ptx_unload(c, memory);
}

/* ---- several sources ---------------------------------------------------------------------------- */

#define USES_G                                                                                                         \
    ".extern .func (.param .b32 r) g(.param .b32 a);\n.extern .global .u32 x;\n"                                       \
    ".visible .entry k() { .reg .b32 %r<3>; .reg .b64 %rd; .param .b32 a; .param .b32 r; mov.u64 %rd, x; "             \
    "st.param.b32 [a], 1; call (r), g, (a); ret; }\n"
#define HAS_G(linkage, value) linkage " .func (.param .b32 r) g(.param .b32 a) { st.param.b32 [r], " value "; ret; }\n"

static void one_module_of_several_sources(void) {
    static const char *const texts[] = {
        HEAD USES_G, HEAD HAS_G(".visible", "1") ".visible .global .u32 x = 7;\n.global .u32 mine = 1;\n",
        HEAD ".global .u32 mine = 2;\n"};
    PtxCode *c = load_all(texts, 3);
    if (!c) failures++, printf("%s", log_text);
    if (!c) return;
    const PtxInst *call = c->insts;
    while (call->control != CONTROL_CALL) call++;
    CHECK(strcmp(c->funcs[call->target].name, "g") == 0 && !c->funcs[call->target].is_extern);
    EQUAL(*bytes_of(c, "x"), 7);
    EQUAL(c->nglobals, 3);
    ptx_unload(c, memory);
}

static void weak_and_common_give_way(void) {
    static const char *const texts[] = {HEAD USES_G, HEAD HAS_G(".weak", "1") ".common .global .u32 x;\n",
                                        HEAD HAS_G(".visible", "2") ".common .global .u32 x;\n",
                                        HEAD HAS_G(".weak", "3")};
    PtxCode *c = load_all(texts, 4);
    if (!c) failures++, printf("%s", log_text);
    if (!c) return;
    EQUAL(c->nfuncs, 2);
    CHECK(!ptx_function(c, "g")->is_weak);
    ptx_unload(c, memory);
}

static void aliases(void) {
    PtxCode *c = load(HEAD ".visible .func f() { ret; }\n.visible .func g();\n.alias g, f;\n" TEXT("k", "call g;\n"));
    if (!c) return;
    const PtxInst *call = c->insts;
    while (call->control != CONTROL_CALL) call++;
    CHECK(strcmp(c->funcs[call->target].name, "f") == 0);
    ptx_unload(c, memory);
}

int main(void) {
    memory = memory_open(UINT64_C(1) << 32);
    initial_values();
    constant_expressions();
    addresses_as_initial_values();
    shared_memory_of_each_kernel();
    parameters_and_directives();
    local_memory();
    registers_in_scopes();
    labels_in_scopes();
    orders_of_modifiers();
    source_lines();
    an_estimate_of_registers();
    one_module_of_several_sources();
    weak_and_common_give_way();
    aliases();
    uint64_t free_bytes, total;
    memory_info(memory, &free_bytes, &total);
    EQUAL(free_bytes, total); /* every module gave back its variables */
    memory_close(memory);
    printf("%s\n", failures ? "failed" : "ok");
    return failures != 0;
}
