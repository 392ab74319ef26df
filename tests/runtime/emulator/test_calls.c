/* test_calls.c - all the ways that PTX has to call functions and to pass values. */
#include "launch.h"

/* Functions stand before the kernel, whose body is the last argument. */
#define WITH(functions, body) HEAD functions BEGIN body "st.global.u32 [%rd2], %r9;\n" END

static void registers_as_parameters(void) {
    WORDS_ARE(WITH(".func (.reg .u32 sum) add(.reg .u32 a, .reg .u32 b) { add.u32 sum, a, b; ret; }\n",
                   "call (%r9), add, (%r0, 10);\n"),
              4, 0, 10, 11, 12, 13);
}

static void several_results(void) {
    WORDS_ARE(WITH(".func (.reg .u32 q, .reg .u64 wide, .reg .pred odd) split(.reg .u32 a) {\n"
                   ".reg .u32 t; div.u32 q, a, 2; mul.wide.u32 wide, a, 1000; and.b32 t, a, 1; setp.ne.u32 odd, t, 0; "
                   "ret; }\n",
                   "call (%r3, %rd3, %p3), split, (%r0);\n"
                   "cvt.u32.u64 %r4, %rd3; add.u32 %r9, %r3, %r4; @%p3 add.u32 %r9, %r9, 500000;\n"),
              4, 0, 0, 501000, 2001, 503001);
}

static void a_result_that_nobody_wants(void) {
    WORDS_ARE(WITH(".func (.reg .u32 r) f(.reg .u32 a) { mov.u32 r, a; ret; }\n",
                   "mov.u32 %r9, 5; call (_), f, (%r0); call f, (%r0);\n"),
              2, 0, 5, 5);
}

static void predicates_as_parameters(void) {
    WORDS_ARE(WITH(".func (.reg .u32 r) choose(.reg .pred p, .reg .u32 a, .reg .u32 b) { selp.u32 r, a, b, p; ret; }\n",
                   "setp.gt.u32 %p1, %r0, 1; call (%r9), choose, (%p1, 7, 8);\n"),
              4, 0, 8, 8, 7, 7);
}

static void results_on_every_way_out(void) {
    WORDS_ARE(WITH(".func (.reg .u32 r) f(.reg .u32 a) { .reg .pred p; setp.lt.u32 p, a, 2; mov.u32 r, 100; @p ret; "
                   "mov.u32 r, 200; }\n",
                   "call (%r9), f, (%r0);\n"),
              4, 0, 100, 100, 200, 200);
}

static void calls_under_a_guard(void) {
    WORDS_ARE(WITH(".func (.reg .u32 r) twice(.reg .u32 a) { add.u32 r, a, a; ret; }\n",
                   "mov.u32 %r9, 1; setp.ge.u32 %p1, %r0, 2; @%p1 call (%r9), twice, (%r0);\n"),
              4, 0, 1, 1, 4, 6);
}

static void arrays_as_parameters(void) {
    WORDS_ARE(
        WITH(".func (.param .align 8 .b8 r[16]) f(.param .align 8 .b8 a[16], .param .u32 n) {\n"
             ".reg .b64 %x<3>; .reg .b32 %n; ld.param.b64 %x0, [a+8]; ld.param.b32 %n, [n]; cvt.u64.u32 %x1, %n;\n"
             "add.u64 %x0, %x0, %x1; st.param.b64 [r+8], %x0; st.param.v2.b32 [r], {%n, 3}; ret; }\n",
             "{ .param .align 8 .b8 a[16]; .param .b32 n; .param .align 8 .b8 r[16];\n"
             "st.param.b64 [a], 0; st.param.b64 [a+8], 40; st.param.b32 [n], %r0;\n"
             "call.uni (r), f, (a, n);\n"
             "ld.param.b32 %r3, [r+4]; ld.param.b32 %r4, [r+8]; ld.param.b32 %r5, [r]; }\n"
             "mul.lo.u32 %r9, %r3, 100; add.u32 %r9, %r9, %r4; add.u32 %r9, %r9, %r5;\n"),
        3, 0, 340, 342, 344);
}

/* The address of a parameter, and of a local variable that the callee writes. */
static void addresses_of_locals(void) {
    WORDS_ARE(
        WITH(".func f(.param .b64 to, .param .b32 a) { .reg .b64 %p<2>; .reg .b32 %v; mov.b64 %p1, a; ld.param.b64 "
             "%p0, [to];\n"
             "ld.param.b32 %v, [%p1]; st.b32 [%p0+4], %v; ret; }\n",
             ".local .align 8 .b8 box[16]; mov.u64 %rd3, box; cvta.local.u64 %rd4, %rd3;\n"
             "{ .param .b64 to; .param .b32 a; st.param.b64 [to], %rd4; st.param.b32 [a], %r0; call f, (to, a); }\n"
             "ld.local.u32 %r9, [box+4]; add.u64 %rd5, %rd3, 4; ld.local.u32 %r3, [%rd5]; add.u32 %r9, %r9, %r3;\n"),
        3, 0, 0, 2, 4);
}

static void by_pointer(void) {
    WORDS_ARE(
        WITH(".func (.param .b32 r) up(.param .b32 a) { .reg .b32 %v; ld.param.b32 %v, [a]; add.u32 %v, %v, 1; "
             "st.param.b32 [r], %v; ret; }\n"
             ".func (.param .b32 r) down(.param .b32 a) { .reg .b32 %v; ld.param.b32 %v, [a]; sub.u32 %v, %v, 1; "
             "st.param.b32 [r], %v; ret; }\n"
             ".global .u64 table[2] = {up, down};\n",
             "and.b32 %r3, %r0, 1; mul.wide.u32 %rd3, %r3, 8; mov.u64 %rd4, table; add.u64 %rd4, %rd4, %rd3; "
             "ld.global.u64 %rd5, [%rd4];\n"
             "{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r0; P: .callprototype (.param .b32 _) _ (.param .b32 "
             "_);\n"
             "call (r), %rd5, (a), P; ld.param.b32 %r9, [r]; }\n"
             "{ .param .b32 a; .param .b32 r; T: .calltargets up, down; st.param.b32 [a], %r9; mov.u64 %rd6, up;\n"
             "call (r), %rd6, (a), T; ld.param.b32 %r9, [r]; }\n"),
        4, 0, 2, 1, 4, 3);
}

static void extern_shared_memory(void) {
    Gpu *g = gpu_open(WITH(
        ".extern .shared .align 4 .b8 dynamic[];\n.shared .u32 fixed[4];\n"
        ".func (.reg .u32 r) get(.reg .u32 at) { .reg .u32 %a; mov.u32 %a, dynamic; add.u32 %a, %a, at; ld.shared.u32 "
        "r, [%a+4]; ret; }\n",
        "st.shared.u32 [fixed], 1; st.shared.u32 [dynamic+8], 77; mov.u64 %rd3, dynamic+4; st.shared.u32 [%rd3], 66;\n"
        "call (%r9), get, (4); add.u32 %r3, dynamic, 0; ld.shared.u32 %r4, [%r3+4]; add.u32 %r9, %r9, %r4;\n"));
    g->spec.dynamic_shared = 16;
    EQUAL(g->spec.func->dynamic_start, 16);
    EQUAL(gpu_launch(g, 1, 1, 0), 0);
    EQUAL(gpu_out(g)[0], 77 + 66);
    gpu_close(g);
}

int main(void) {
    registers_as_parameters();
    several_results();
    a_result_that_nobody_wants();
    predicates_as_parameters();
    results_on_every_way_out();
    calls_under_a_guard();
    arrays_as_parameters();
    addresses_of_locals();
    by_pointer();
    extern_shared_memory();
    printf("%s\n", failures ? "failed" : "ok");
    return failures != 0;
}
