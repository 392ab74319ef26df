/* test_control.c - branches, loops, calls, spin locks: who runs when. */
#include "launch.h"

static void branches_meet_again(void) {
    /* Even and odd lanes part; the sum over a ballot behind the branch shows that they are one again. */
    Gpu *g = gpu_open(KERNEL("and.b32 %r3, %r0, 1;\n"
                             "setp.eq.u32 %p0, %r3, 0;\n"
                             "@%p0 bra EVEN;\n"
                             "mov.u32 %r4, 100;\n"
                             "bra JOIN;\n"
                             "EVEN: mov.u32 %r4, 200;\n"
                             "JOIN: activemask.b32 %r5;\n"
                             "st.global.u32 [%rd2], %r4;\n"
                             "st.global.u32 [%rd2+256], %r5;\n"));
    EQUAL(gpu_launch(g, 1, 32, 0), 0);
    for (int i = 0; i < 32; i++) {
        EQUAL(gpu_out(g)[i], i % 2 ? 100 : 200);
        EQUAL(gpu_out(g)[64 + i], UINT32_MAX);
    }
    gpu_close(g);
}

static void loops_of_different_length(void) {
    /* Lane i adds 1..i. */
    Gpu *g = gpu_open(KERNEL("mov.u32 %r3, 0; mov.u32 %r4, 0;\n"
                             "LOOP: setp.ge.u32 %p0, %r3, %r0;\n"
                             "@%p0 bra DONE;\n"
                             "add.u32 %r3, %r3, 1; add.u32 %r4, %r4, %r3;\n"
                             "bra LOOP;\n"
                             "DONE: activemask.b32 %r5;\n"
                             "st.global.u32 [%rd2], %r4; st.global.u32 [%rd2+256], %r5;\n"));
    EQUAL(gpu_launch(g, 1, 20, 0), 0);
    for (uint32_t i = 0; i < 20; i++) {
        EQUAL(gpu_out(g)[i], i * (i + 1) / 2);
        EQUAL(gpu_out(g)[64 + i], (1u << 20) - 1);
    }
    gpu_close(g);
}

static void guards_and_partial_warps(void) {
    WORDS_ARE(KERNEL("setp.lt.u32 %p0, %r0, 2;\n"
                     "mov.u32 %r3, 7;\n"
                     "@%p0 mov.u32 %r3, 9;\n"
                     "@!%p0 add.u32 %r3, %r3, %r0;\n"
                     "st.global.u32 [%rd2], %r3;\n"),
              4, 0, 9, 9, 9, 10, 0);
}

static void exits_under_a_guard(void) {
    WORDS_ARE(KERNEL("setp.ge.u32 %p0, %r0, 2;\n"
                     "@%p0 exit;\n"
                     "st.global.u32 [%rd2], 5;\n"),
              4, 0, 5, 5, 0, 0);
}

static void switches_by_table(void) {
    WORDS_ARE(KERNEL("TABLE: .branchtargets A, B, C;\n"
                     "rem.u32 %r3, %r0, 3;\n"
                     "brx.idx %r3, TABLE;\n"
                     "A: mov.u32 %r4, 10; bra OUT;\n"
                     "B: mov.u32 %r4, 20; bra OUT;\n"
                     "C: mov.u32 %r4, 30;\n"
                     "OUT: st.global.u32 [%rd2], %r4;\n"),
              5, 0, 10, 20, 30, 10, 20);
}

static const char factorial[] = HEAD ".visible .func (.param .b32 result) fact(.param .b32 x)\n{\n"
                                     ".reg .pred %p<2>; .reg .b32 %r<8>;\n"
                                     "ld.param.u32 %r0, [x];\n"
                                     "setp.le.u32 %p0, %r0, 1;\n"
                                     "@%p0 bra ONE;\n"
                                     "sub.u32 %r1, %r0, 1;\n"
                                     "{ .param .b32 a; .param .b32 b;\n"
                                     "st.param.b32 [a], %r1;\n"
                                     "call (b), fact, (a);\n"
                                     "ld.param.b32 %r2, [b]; }\n"
                                     "mul.lo.u32 %r3, %r0, %r2;\n"
                                     "st.param.b32 [result], %r3;\n"
                                     "ret;\n"
                                     "ONE: st.param.b32 [result], 1;\n"
                                     "ret;\n}\n" BEGIN "{ .param .b32 a; .param .b32 b;\n"
                                     "st.param.b32 [a], %r0;\n"
                                     "call (b), fact, (a);\n"
                                     "ld.param.b32 %r2, [b]; }\n"
                                     "activemask.b32 %r5;\n"
                                     "st.global.u32 [%rd2], %r2; st.global.u32 [%rd2+256], %r5;\n" END;

static void recursion_to_different_depths(void) {
    Gpu *g = gpu_open(factorial);
    static const uint32_t facts[] = {1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880};
    EQUAL(gpu_launch(g, 1, 10, 0), 0);
    for (int i = 0; i < 10; i++) {
        EQUAL(gpu_out(g)[i], facts[i]);
        EQUAL(gpu_out(g)[64 + i], 0x3ff);
    }
    gpu_close(g);
}

static void recursion_without_end(void) {
    FAULTS(HEAD ".visible .func f()\n{\ncall f, ();\nret;\n}\n" BEGIN "call f, ();\n" END, 0, 32, FAULT_STACK, 0,
           "call f, ();\nret");
}

static void exits_inside_a_function(void) {
    /* Odd lanes end in the function, two calls deep; the others come back and meet. */
    WORDS_ARE(HEAD ".visible .func inner(.param .b32 x)\n{\n.reg .pred %p<2>; .reg .b32 %r<4>;\n"
                   "ld.param.u32 %r0, [x]; and.b32 %r1, %r0, 1; setp.ne.u32 %p0, %r1, 0;\n@%p0 exit;\nret;\n}\n"
                   ".visible .func outer(.param .b32 x)\n{\n.reg .b32 %r<2>;\nld.param.u32 %r0, [x];\n"
                   "{ .param .b32 a; st.param.b32 [a], %r0; call inner, (a); }\nret;\n}\n" BEGIN
                   "{ .param .b32 a; st.param.b32 [a], %r0; call outer, (a); }\n"
                   "activemask.b32 %r3; st.global.u32 [%rd2], %r3; bar.sync 0;\n" END,
              6, 0, 0x15, 0, 0x15, 0, 0x15, 0);
}

static void indirect_calls(void) {
    /* Lanes call different functions through pointers that they load. */
    Gpu *g =
        gpu_open(HEAD ".visible .func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %r<4>;\n"
                      "ld.param.b32 %r0, [x]; add.u32 %r1, %r0, %r0; st.param.b32 [r], %r1; ret;\n}\n"
                      ".visible .func (.param .b32 r) square(.param .b32 x)\n{\n.reg .b32 %r<4>;\n"
                      "ld.param.b32 %r0, [x]; mul.lo.u32 %r1, %r0, %r0; st.param.b32 [r], %r1; ret;\n}\n"
                      ".global .u64 table[2] = {twice, square};\n" BEGIN
                      "mov.u64 %rd3, table; and.b32 %r3, %r0, 1; mul.wide.u32 %rd4, %r3, 8; add.u64 %rd3, %rd3, %rd4;\n"
                      "ld.global.u64 %rd5, [%rd3];\n"
                      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0;\n"
                      "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                      "call (b), %rd5, (a), P;\n"
                      "ld.param.b32 %r4, [b]; }\n"
                      "st.global.u32 [%rd2], %r4;\n" END);
    EQUAL(gpu_launch(g, 1, 32, 0), 0);
    for (uint32_t i = 0; i < 32; i++) EQUAL(gpu_out(g)[i], i % 2 ? i * i : 2 * i);
    gpu_close(g);
    FAULTS(HEAD BEGIN "mov.u64 %rd5, 12345;\n"
                      "P: .callprototype _ ();\n"
                      "call %rd5, (), P;\n" END,
           0, 32, FAULT_BAD_CALL, 0, "call %rd5");
}

/* Every lane of every warp takes the lock at in[0], counts in out[0] without atomics, and lets go. */
#define LOCK                                                                                                           \
    "SPIN: atom.global.cas.b32 %r3, [%rd1], 0, 1;\n"                                                                   \
    "setp.ne.u32 %p0, %r3, 0;\n"                                                                                       \
    "@%p0 bra SPIN;\n"                                                                                                 \
    "ld.volatile.global.u32 %r4, [%rd0]; add.u32 %r4, %r4, 1; st.volatile.global.u32 [%rd0], %r4;\n"                   \
    "fence.acq_rel.gpu;\n"                                                                                             \
    "atom.global.exch.b32 %r3, [%rd1], 0;\n"

static void spin_locks_inside_a_warp_and_between(void) {
    Gpu *g = gpu_open(KERNEL(LOCK));
    EQUAL(gpu_launch(g, 4, 256, 0), 0);
    EQUAL(gpu_out(g)[0], 1024);
    g->spec.threads = 4;
    EQUAL(gpu_launch(g, 8, 128, 0), 0);
    EQUAL(gpu_out(g)[0], 2048);
    gpu_close(g);
}

static void warps_wait_for_each_other(void) {
    /* The last warp sets a flag that the first ones spin on: each must get its turn. */
    RUNS(KERNEL("setp.ge.u32 %p0, %r0, 224;\n"
                "@%p0 bra SET;\n"
                "SPIN: ld.volatile.global.u32 %r3, [%rd0];\n"
                "setp.eq.u32 %p1, %r3, 0;\n"
                "@%p1 bra SPIN;\n"
                "bra OUT;\n"
                "SET: st.volatile.global.u32 [%rd0], 1;\n"
                "OUT:\n"),
         0, 1, 256);
}

static void blocks_wait_for_later_blocks(void) {
    /* Block 0 waits for the last one, which a GPU with room for all of them allows. */
    RUNS(KERNEL("setp.eq.u32 %p0, %r1, 7;\n"
                "@%p0 bra SET;\n"
                "SPIN: ld.acquire.gpu.global.u32 %r3, [%rd0];\n"
                "setp.eq.u32 %p1, %r3, 0;\n"
                "@%p1 bra SPIN;\n"
                "bra OUT;\n"
                "SET: st.release.gpu.global.u32 [%rd0], 1;\n"
                "OUT:\n"),
         0, 8, 32);
}

static void endless_loops_end(void) {
    Gpu *g = gpu_open(KERNEL("LOOP: bra LOOP;\n"));
    g->spec.budget = 1000000;
    EQUAL(gpu_launch(g, 1, 32, 0), 702);
    EQUAL(g->report.kind, FAULT_BUDGET);
    volatile bool stop = true;
    g->spec.budget = 0;
    g->spec.stop = &stop;
    EQUAL(gpu_launch(g, 1, 32, 0), 702);
    gpu_close(g);
}

static void traps(void) { FAULTS(KERNEL("setp.eq.u32 %p0, %r0, 5;\n@%p0 trap;\n"), 0, 32, FAULT_TRAP, 5, "@%p0 trap"); }

static void dynamic_stack(void) {
    WORDS_ARE(KERNEL("stacksave.u64 %rd3;\n"
                     "alloca.u64 %rd4, 64, 16;\n"
                     "st.local.u32 [%rd4+4], %r0;\n"
                     "alloca.u64 %rd5, 64, 16;\n"
                     "st.local.u32 [%rd5+4], 99;\n"
                     "ld.local.u32 %r3, [%rd4+4];\n"
                     "stackrestore.u64 %rd3;\n"
                     "st.global.u32 [%rd2], %r3;\n"),
              3, 0, 0, 1, 2);
}

static void clocks_go_on(void) {
    WORDS_ARE(KERNEL("mov.u64 %rd3, %clock64;\n"
                     "LOOP: mov.u64 %rd4, %clock64; sub.u64 %rd5, %rd4, %rd3;\n"
                     "setp.lt.u64 %p0, %rd5, 1000;\n"
                     "@%p0 bra LOOP;\n"
                     "st.global.u32 [%rd2], 1;\n"),
              2, 0, 1, 1);
}

int main(void) {
    branches_meet_again();
    loops_of_different_length();
    guards_and_partial_warps();
    exits_under_a_guard();
    switches_by_table();
    recursion_to_different_depths();
    recursion_without_end();
    exits_inside_a_function();
    indirect_calls();
    spin_locks_inside_a_warp_and_between();
    warps_wait_for_each_other();
    blocks_wait_for_later_blocks();
    endless_loops_end();
    traps();
    dynamic_stack();
    clocks_go_on();
    if (failures == 0) printf("ok\n");
    return failures != 0;
}
