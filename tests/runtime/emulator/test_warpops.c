/* test_warpops.c - shfl, vote, match, redux, elect, bar.warp.sync; barriers of the block and of the grid. */
#include "launch.h"

/* ---- shfl -------------------------------------------------------------------------------------- */

/* What lane i gets from `mode` with b and c, by the manual's pseudo code, written anew. */
static uint32_t shuffled(const char *mode, uint32_t i, uint32_t b, uint32_t c, bool *valid) {
    uint32_t segment = c >> 8 & 31, most = (i & segment) | (c & 31 & ~segment), from = 0;
    b &= 31;
    if (strcmp(mode, "up") == 0) {
        *valid = (int)i - (int)b >= (int)most;
        from = i - b;
    } else if (strcmp(mode, "down") == 0) {
        *valid = i + b <= most;
        from = i + b;
    } else if (strcmp(mode, "bfly") == 0) {
        from = i ^ b;
        *valid = from <= most;
    } else {
        from = (i & segment) | (b & ~segment);
        *valid = from <= most;
    }
    return *valid ? from : i;
}

static void shuffles(void) {
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    for (int m = 0; m < 4; m++) {
        char ptx[2048];
        fill(ptx, sizeof ptx,
             KERNEL("mul.lo.u32 %r3, %r0, 3; add.u32 %r3, %r3, 100;\n"
                    "ld.global.u32 %r4, [%rd1]; ld.global.u32 %r5, [%rd1+4];\n"
                    "shfl.sync.$.b32 %r6|%p0, %r3, %r4, %r5, 0xffffffff;\n"
                    "selp.u32 %r7, 1, 0, %p0;\n"
                    "st.global.u32 [%rd2], %r6; st.global.u32 [%rd2+128], %r7;\n"),
             modes[m], NULL);
        Gpu *g = gpu_open(ptx);
        if (!g) return;
        static const uint32_t clamps[] = {0x1f, 0, 0x181f, 0x1800, 0x100f, 0x1c03, 0x7};
        for (uint32_t b = 0; b < 40; b += 3) {
            for (size_t c = 0; c < sizeof clamps / sizeof *clamps; c++) {
                gpu_in(g)[0] = b;
                gpu_in(g)[1] = clamps[c];
                EQUAL(gpu_launch(g, 1, 32, 0), 0);
                for (uint32_t i = 0; i < 32; i++) {
                    bool valid;
                    uint32_t from = shuffled(modes[m], i, b, clamps[c], &valid);
                    EQUAL(gpu_out(g)[i], 100 + 3 * from);
                    EQUAL(gpu_out(g)[32 + i], valid);
                }
            }
        }
        gpu_close(g);
    }
}

static void halves_of_a_warp_apart(void) {
    /* Both sides of a branch shuffle, each with the mask of its lanes, at different places. */
    WORDS_ARE(KERNEL("setp.lt.u32 %p0, %r0, 2;\n"
                     "@%p0 bra LOW;\n"
                     "shfl.sync.bfly.b32 %r3, %r0, 1, 31, 0xc;\n"
                     "bra OUT;\n"
                     "LOW: shfl.sync.bfly.b32 %r3, %r0, 1, 31, 0x3;\n"
                     "add.u32 %r3, %r3, 100;\n"
                     "OUT: st.global.u32 [%rd2], %r3;\n"),
              4, 0, 101, 100, 3, 2);
}

static void one_operation_at_two_places(void) {
    /* The compiler copied the shuffle into both sides of a branch: the whole warp takes part. */
    Gpu *g = gpu_open(KERNEL("and.b32 %r4, %r0, 1; setp.eq.u32 %p0, %r4, 0;\n"
                             "@%p0 bra EVEN;\n"
                             "shfl.sync.bfly.b32 %r3|%p1, %r0, 1, 31, -1;\n"
                             "bra OUT;\n"
                             "EVEN: mov.u32 %r5, %r0; shfl.sync.bfly.b32 %r3|%p1, %r5, 1, 31, -1;\n"
                             "OUT: selp.u32 %r6, 1000, 0, %p1; add.u32 %r3, %r3, %r6; st.global.u32 [%rd2], %r3;\n"));
    EQUAL(gpu_launch(g, 1, 32, 0), 0);
    for (uint32_t i = 0; i < 32; i++) EQUAL(gpu_out(g)[i], 1000 + (i ^ 1));
    gpu_close(g);
}

static void masks_by_lane(void) {
    /* Lanes of one fragment with different masks: those which match.any found. */
    Gpu *g = gpu_open(KERNEL("rem.u32 %r3, %r0, 3;\n"
                             "match.any.sync.b32 %r4, %r3, -1;\n"
                             "redux.sync.add.u32 %r5, %r0, %r4;\n"
                             "st.global.u32 [%rd2], %r5; st.global.u32 [%rd2+128], %r4;\n"));
    EQUAL(gpu_launch(g, 1, 32, 0), 0);
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t mask = 0, sum = 0;
        for (uint32_t k = i % 3; k < 32; k += 3) mask |= 1u << k, sum += k;
        EQUAL(gpu_out(g)[i], sum);
        EQUAL(gpu_out(g)[32 + i], mask);
    }
    gpu_close(g);
}

/* ---- vote, match, redux, elect ------------------------------------------------------------------- */

static void votes(void) {
    WORDS_ARE(KERNEL("setp.lt.u32 %p0, %r0, 3;\n"
                     "vote.sync.ballot.b32 %r3, %p0, 0xff;\n"
                     "vote.sync.all.pred %p1, %p0, 0xff; selp.u32 %r4, 1, 0, %p1;\n"
                     "vote.sync.any.pred %p2, !%p0, 0xff; selp.u32 %r5, 1, 0, %p2;\n"
                     "vote.sync.uni.pred %p3, %p0, 0xff; selp.u32 %r6, 1, 0, %p3;\n"
                     "setp.ne.u32 %p4, %r0, 0;\n@%p4 exit;\n"
                     "st.global.v4.u32 [%rd0], {%r3, %r4, %r5, %r6};\n"),
              8, 0, 7, 0, 1, 0);
}

static void match_all(void) {
    WORDS_ARE(KERNEL("match.all.sync.b32 %r3|%p0, 5, 0xf; selp.u32 %r4, 1, 0, %p0;\n"
                     "match.all.sync.b32 %r5|%p1, %r0, 0xf; selp.u32 %r6, 1, 0, %p1;\n"
                     "cvt.u64.u32 %rd3, %r0; match.any.sync.b64 %r7, %rd3, 0xf; add.u32 %r5, %r5, %r7;\n"
                     "setp.ne.u32 %p4, %r0, 2;\n@%p4 exit;\n"
                     "st.global.v4.u32 [%rd0], {%r3, %r4, %r5, %r6};\n"),
              4, 0, 15, 1, 4, 0);
}

static void reductions(void) {
    WORDS_ARE(
        KERNEL(
            "sub.s32 %r3, 2, %r0;\n"
            "redux.sync.min.s32 %r4, %r3, 0xff; redux.sync.max.s32 %r5, %r3, 0xff;\n"
            "redux.sync.min.u32 %r6, %r3, 0xff; redux.sync.max.u32 %r7, %r3, 0xff;\n"
            "redux.sync.and.b32 %r8, %r0, 0xff; redux.sync.or.b32 %r9, %r0, 0xff; redux.sync.xor.b32 %r10, %r0, 0xff;\n"
            "redux.sync.add.s32 %r11, %r3, 0xff;\n"
            "setp.ne.u32 %p4, %r0, 7;\n@%p4 exit;\n"
            "st.global.v4.u32 [%rd0], {%r4, %r5, %r6, %r7}; st.global.v4.u32 [%rd0+16], {%r8, %r9, %r10, %r11};\n"),
        8, 0, (uint32_t)-5, 2, 0, UINT32_MAX, 0, 7, 0, (uint32_t)-12);
}

static void elections(void) {
    WORDS_ARE(KERNEL("mov.u32 %r3, 0; elect.sync %r4|%p0, 0x3c;\n"
                     "@%p0 mov.u32 %r3, 1;\n"
                     "mad.lo.u32 %r3, %r4, 10, %r3;\n"
                     "st.global.u32 [%rd2], %r3;\n"),
              1, 0, 1);
}

static void exited_lanes_need_not_come(void) {
    WORDS_ARE(KERNEL("setp.gt.u32 %p0, %r0, 1;\n@%p0 exit;\n"
                     "shfl.sync.bfly.b32 %r3, %r0, 1, 31, -1;\n"
                     "st.global.u32 [%rd2], %r3;\n"),
              32, 0, 1, 0, 0);
}

/* ---- barriers ---------------------------------------------------------------------------------- */

static void a_barrier_orders_shared_memory(void) {
    Gpu *g =
        gpu_open(HEAD ".shared .b32 s[256];\n" BEGIN
                      "mov.u32 %r3, s; shl.b32 %r4, %r0, 2; add.u32 %r4, %r3, %r4; st.shared.u32 [%r4], %r0;\n"
                      "bar.sync 0;\n"
                      "xor.b32 %r5, %r0, 255; shl.b32 %r5, %r5, 2; add.u32 %r5, %r3, %r5; ld.shared.u32 %r6, [%r5];\n"
                      "st.global.u32 [%rd2], %r6;\n" END);
    g->spec.checks = CHECK_RACES | CHECK_UNINITIALIZED | CHECK_BARRIERS;
    EQUAL(gpu_launch(g, 3, 256, 0), 0);
    for (uint32_t i = 0; i < 256; i++) EQUAL(gpu_out(g)[i], i ^ 255);
    gpu_close(g);
}

static void barriers_that_reduce(void) {
    WORDS_ARE(KERNEL("setp.lt.u32 %p0, %r0, 40;\n"
                     "barrier.cta.red.popc.aligned.u32 %r3, 0, %p0;\n"
                     "bar.red.and.pred %p1, 1, 64, %p0; selp.u32 %r4, 1, 0, %p1;\n"
                     "bar.red.or.pred %p2, 0, !%p0; selp.u32 %r5, 1, 0, %p2;\n"
                     "setp.ne.u32 %p4, %r0, 63;\n@%p4 exit;\n"
                     "st.global.u32 [%rd0], %r3; st.global.u32 [%rd0+4], %r4; st.global.u32 [%rd0+8], %r5;\n"),
              64, 0, 40, 0, 1);
}

static void producers_and_consumers(void) {
    /* The second warp writes and arrives; the first waits for it: 64 threads, of which 32 wait. */
    WORDS_ARE(KERNEL("setp.ge.u32 %p0, %r0, 32;\n"
                     "@%p0 bra WRITE;\n"
                     "barrier.sync 3, 64;\n"
                     "ld.global.u32 %r3, [%rd2+256]; st.global.u32 [%rd2], %r3;\n"
                     "ret;\n"
                     "WRITE: add.u32 %r4, %r0, 1000; st.global.u32 [%rd2+128], %r4;\n"
                     "barrier.arrive 3, 64;\n"),
              64, 0, 1032, 1033, 1034);
}

static void barriers_of_exited_warps(void) {
    const char *ptx = KERNEL("setp.ge.u32 %p0, %r0, 40;\n"
                             "@%p0 exit;\n"
                             "bar.sync 0;\n"
                             "bar.sync 0;\n");
    RUNS(ptx, 0, 2, 128);
    FAULTS(ptx, CHECK_BARRIERS, 128, FAULT_BARRIER, 40, "bar.sync");
}

static void barriers_in_both_branches(void) {
    const char *ptx = KERNEL("setp.ge.u32 %p0, %r0, 32;\n"
                             "@%p0 bra HIGH;\n"
                             "bar.sync 0;\n"
                             "bra OUT;\n"
                             "HIGH: barrier.sync 0;\n"
                             "OUT:\n");
    RUNS(ptx, 0, 1, 64);
    FAULTS(ptx, CHECK_BARRIERS, 64, FAULT_BARRIER, 32, "HIGH: barrier.sync");
}

static void deadlocks_are_found(void) {
    FAULTS(KERNEL("setp.ge.u32 %p0, %r0, 32;\n"
                  "@%p0 bra HIGH;\n"
                  "barrier.sync 1;\n"
                  "ret;\n"
                  "HIGH: barrier.sync 2;\n"),
           0, 64, FAULT_DEADLOCK, 0, "barrier.sync 1");
    FAULTS(KERNEL("setp.ge.u32 %p0, %r0, 16;\n"
                  "@%p0 bra HIGH;\n"
                  "bar.warp.sync 0xffffffff;\n"
                  "HIGH: bar.sync 0;\n"),
           0, 32, FAULT_WARP_MASK, 0, "bar.warp.sync");
}

static void wrong_masks_are_found(void) {
    FAULTS(KERNEL("bar.warp.sync 0xffff;\n"), CHECK_MASKS, 32, FAULT_WARP_MASK, 16, "bar.warp.sync");
    FAULTS(KERNEL("setp.ge.u32 %p0, %r0, 16;\n@%p0 exit;\n"
                  "bar.warp.sync -1;\n"),
           CHECK_MASKS, 32, FAULT_WARP_MASK, 0, "bar.warp.sync");
    RUNS(KERNEL("bar.warp.sync -1;\n"), CHECK_MASKS, 1, 20);
}

static void grids_wait_for_each_other(void) {
    /* As cooperative groups do: a word in the launch's workspace, counted by atomics. */
    Gpu *g = gpu_open(KERNEL("setp.ne.u32 %p0, %r0, 0;\n"
                             "mov.b32 %r3, %envreg1; mov.b32 %r4, %envreg2; mov.b64 %rd3, {%r4, %r3};\n"
                             "mov.u32 %r5, %nctaid.x;\n"
                             "bar.sync 0;\n"
                             "@%p0 bra WAIT;\n"
                             "mul.wide.u32 %rd4, %r1, 4; add.u64 %rd4, %rd4, %rd0; st.global.u32 [%rd4+64], 1;\n"
                             "atom.add.release.gpu.u32 %r6, [%rd3+4], 1;\n"
                             "SPIN: ld.acquire.gpu.u32 %r6, [%rd3+4]; setp.lt.u32 %p1, %r6, %r5;\n"
                             "@%p1 bra SPIN;\n"
                             "WAIT: bar.sync 0;\n"
                             "setp.ge.u32 %p2, %r0, %r5;\n@%p2 exit;\n"
                             "ld.global.u32 %r7, [%rd2+64]; atom.global.add.u32 %r8, [%rd0], %r7;\n"));
    g->spec.cooperative = true;
    for (uint32_t checks = 0; checks <= CHECK_RACES; checks += CHECK_RACES) {
        g->spec.checks = checks;
        memset(gpu_out(g), 0, 256);
        EQUAL(gpu_launch(g, 20, 64, 0), 0);
        EQUAL(gpu_out(g)[0], 400);
    }
    gpu_close(g);
}

static void grid_barriers_of_numba(void) {
    const char *ptx =
        HEAD ".extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 a);\n"
             ".extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 a, .param .b32 b);\n" BEGIN
             "{ .param .b32 a; .param .b64 r; st.param.b32 [a], 1; call (r), cudaCGGetIntrinsicHandle, (a);\n"
             "ld.param.b64 %rd5, [r]; }\n"
             "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd3, %rd3, %rd0; st.global.u32 [%rd3], %r1;\n"
             "{ .param .b64 a; .param .b32 b; .param .b32 r; st.param.b64 [a], %rd5; st.param.b32 [b], 0;\n"
             "call (r), cudaCGSynchronize, (a, b); ld.param.b32 %r5, [r]; }\n"
             "mov.u32 %r3, %nctaid.x; sub.u32 %r3, %r3, %r1; mul.wide.u32 %rd4, %r3, 4; add.u64 %rd4, %rd4, %rd0;\n"
             "ld.global.u32 %r4, [%rd4+-4]; st.global.u32 [%rd3+400], %r4;\n" END;
    Gpu *g = gpu_open(ptx);
    g->spec.cooperative = true;
    g->spec.checks = CHECK_RACES;
    EQUAL(gpu_launch(g, 10, 40, 0), 0);
    for (uint32_t i = 0; i < 10; i++) EQUAL(gpu_out(g)[100 + i], 9 - i);
    g->spec.cooperative = false;
    EQUAL(gpu_launch(g, 10, 40, 0), 719);
    EQUAL(g->report.kind, FAULT_NOT_COOPERATIVE);
    gpu_close(g);
}

/* ---- clusters ---------------------------------------------------------------------------------- */

static void blocks_of_a_cluster(void) {
    /* Each block writes its index to its shared memory and reads that of the next rank in the cluster of 3. */
    Gpu *g = gpu_open(
        HEAD ".shared .align 4 .b32 s[4];\n" BEGIN
             "mov.u32 %r3, %cluster_ctarank; mov.u32 %r4, %cluster_nctarank; mov.u32 %r5, %clusterid.x;\n"
             "add.u32 %r6, %r1, 100; st.shared.u32 [s], %r6;\n"
             "barrier.cluster.arrive.release; barrier.cluster.wait.acquire;\n"
             "add.u32 %r7, %r3, 1; rem.u32 %r7, %r7, %r4;\n"
             "mov.u32 %r8, s; mapa.shared::cluster.u32 %r9, %r8, %r7; ld.shared::cluster.u32 %r10, [%r9];\n"
             "mov.u64 %rd3, s; cvta.shared.u64 %rd3, %rd3; mapa.u64 %rd4, %rd3, %r7; ld.u32 %r11, [%rd4];\n"
             "getctarank.shared::cluster.u32 %r12, %r9;\n"
             "mul.wide.u32 %rd5, %r1, 16; add.u64 %rd5, %rd5, %rd0; st.global.v4.u32 [%rd5], {%r10, %r11, %r12, %r5};\n"
             "barrier.cluster.arrive; barrier.cluster.wait;\n" END);
    if (!g) return;
    g->spec.cluster[0] = 3;
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        g->spec.threads = threads;
        EQUAL(gpu_launch(g, 12, 40, 0), 0);
        for (uint32_t b = 0; b < 12; b++) {
            uint32_t next = b / 3 * 3 + (b + 1) % 3, *out = gpu_out(g) + 4 * b;
            EQUAL(out[0], 100 + next);
            EQUAL(out[1], 100 + next);
            EQUAL(out[2], next % 3);
            EQUAL(out[3], b / 3);
        }
    }
    gpu_close(g);
}

static void halves_of_a_cluster_barrier(void) {
    /* The phase ends while a warp is between arriving and waiting: it doesn't wait for the next one. */
    RUNS(KERNEL("setp.lt.u32 %p0, %r0, 32; mov.u32 %r3, 0;\n"
                "barrier.cluster.arrive.relaxed.aligned;\n"
                "@!%p0 bra WAIT;\n"
                "SPIN: ld.volatile.global.u32 %r4, [%rd0]; setp.eq.u32 %p1, %r4, 0;\n"
                "@%p1 bra SPIN;\n"
                "WAIT: barrier.cluster.wait;\n"
                "st.volatile.global.u32 [%rd0], 1;\n"
                "barrier.cluster.arrive; barrier.cluster.wait;\n"),
         0, 1, 64);
    FAULTS(KERNEL("barrier.cluster.wait;\n"), 0, 32, FAULT_BARRIER, 0, "barrier.cluster.wait");
    FAULTS(KERNEL("mov.u32 %r3, 0;\nmapa.shared::cluster.u32 %r4, %r3, 1;\n"), 0, 32, FAULT_RANK, 0, "mapa");
}

int main(void) {
    blocks_of_a_cluster();
    halves_of_a_cluster_barrier();
    shuffles();
    halves_of_a_warp_apart();
    one_operation_at_two_places();
    masks_by_lane();
    votes();
    match_all();
    reductions();
    elections();
    exited_lanes_need_not_come();
    a_barrier_orders_shared_memory();
    barriers_that_reduce();
    producers_and_consumers();
    barriers_of_exited_warps();
    barriers_in_both_branches();
    deadlocks_are_found();
    wrong_masks_are_found();
    grids_wait_for_each_other();
    grid_barriers_of_numba();
    if (failures == 0) printf("ok\n");
    return failures != 0;
}
