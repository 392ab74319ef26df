/* test_checks.c - what the emulator finds in wrong kernels, and that it finds nothing in right ones. */
#include "launch.h"

/* ---- always ------------------------------------------------------------------------------------ */

static void out_of_bounds(void) {
#define LANE_BYTE "cvt.u64.u32 %rd3, %r0; add.u64 %rd3, %rd3, %rd0;\n"
    /* The last of 32 lanes is one byte behind the end of 16384 bytes, reading and writing; then nobody is. */
    FAULTS(KERNEL(LANE_BYTE "ld.global.u8 %r3, [%rd3+16353];\n"), 0, 32, FAULT_OUT_OF_BOUNDS, 31, "ld.global.u8");
    FAULTS(KERNEL(LANE_BYTE "st.global.u8 [%rd3+16353], 1;\n"), 0, 32, FAULT_OUT_OF_BOUNDS, 31, "st.global.u8");
    RUNS(KERNEL(LANE_BYTE "st.global.u8 [%rd3+16352], 1;\n"), 0, 1, 32);
    FAULTS(KERNEL("st.global.u32 [%rd2+-4], 1;\n"), 0, 32, FAULT_OUT_OF_BOUNDS, 0, "st.global");
    FAULTS(KERNEL("mov.u64 %rd3, 0;\nld.global.u32 %r3, [%rd3];\n"), 0, 32, FAULT_OUT_OF_BOUNDS, 0, "ld.global.u32");
    FAULTS(KERNEL("mov.u64 %rd3, 0;\natom.global.add.u32 %r3, [%rd3], 1;\n"), 0, 32, FAULT_OUT_OF_BOUNDS, 0, "atom");
    FAULTS(HEAD ".shared .b32 s[4];\n" BEGIN
                "mov.u32 %r3, s; mad.lo.u32 %r3, %r0, 4, %r3;\nst.shared.u32 [%r3], 1;\n" END,
           0, 32, FAULT_OUT_OF_BOUNDS, 4, "st.shared");
    FAULTS(KERNEL("mov.u32 %r3, 100000;\nst.local.u32 [%r3], 1;\n"), 0, 32, FAULT_OUT_OF_BOUNDS, 0, "st.local");
}

static void what_a_report_says(void) {
    Gpu *g = gpu_open(HEAD ".file 1 \"kernel.py\"\n" BEGIN ".loc 1 42 5\nst.global.u32 [%rd2+16380], 1;\n" END);
    g->spec.block[1] = 1;
    EQUAL(gpu_launch(g, 2, 64, 0), 700);
    const FaultReport *r = &g->report;
    EQUAL(r->line, 42);
    CHECK(r->file && strcmp(r->file, "kernel.py") == 0);
    CHECK(strcmp(r->kernel, "k") == 0 && r->is_write && !r->is_atomic);
    EQUAL(r->thread[0], 1);
    EQUAL(r->block[0], 0);
    EQUAL(r->bytes, 4);
    EQUAL(r->address, g->out + WORDS * 4);
    EQUAL(r->alloc.address, g->out);
    EQUAL(r->alloc.bytes, WORDS * 4);
    char *text = fault_text(r);
    CHECK(strstr(text, "k(): access out of bounds: write of 4 bytes of global memory"));
    CHECK(strstr(text, "right behind the end of an allocation of 16384 bytes"));
    CHECK(strstr(text, "kernel.py:42, PTX line 11, block (0,0,0), thread (1,0,0)"));
    if (failures) printf("%s\n", text);
    free(text);
    gpu_close(g);
}

static void use_after_free(void) {
    Gpu *g = gpu_open(KERNEL("ld.global.u32 %r3, [%rd1+8];\n"));
    EQUAL(gpu_launch(g, 1, 32, 0), 0);
    memory_free(g->memory, g->in);
    EQUAL(gpu_launch(g, 1, 32, 0), 700);
    EQUAL(g->report.kind, FAULT_USE_AFTER_FREE);
    CHECK(g->report.alloc.freed && g->report.alloc.address == g->in);
    gpu_close(g);
}

static void misaligned(void) {
    FAULTS(KERNEL("cvt.u64.u32 %rd3, %r0; add.u64 %rd3, %rd3, %rd0;\nld.global.u32 %r3, [%rd3];\n"), 0, 32,
           FAULT_MISALIGNED, 1, "ld.global.u32");
    FAULTS(KERNEL("ld.global.v4.u32 {%r3,%r4,%r5,%r6}, [%rd2];\n"), 0, 32, FAULT_MISALIGNED, 1, "ld.global.v4");
    FAULTS(KERNEL(".pragma \"used_bytes_mask 0xfff\";\nld.global.v4.u32 {%r3,%r4,%r5,%r6}, [%rd2];\n"), 0, 32,
           FAULT_MISALIGNED, 1, "ld.global.v4");
}

static void wrong_spaces(void) {
    FAULTS(HEAD ".shared .b32 s;\n" BEGIN
                "mov.u64 %rd3, s; cvta.shared.u64 %rd3, %rd3;\nld.global.u32 %r3, [%rd3];\n" END,
           0, 32, FAULT_ADDRESS_SPACE, 0, "ld.global.u32");
    FAULTS(HEAD ".shared .b32 s;\n" BEGIN "st.shared.u32 [%rd0], 1;\n" END, 0, 32, FAULT_ADDRESS_SPACE, 0, "st.shared");
    FAULTS(HEAD ".const .u32 c = 1;\n" BEGIN "mov.u64 %rd3, c; cvta.const.u64 %rd3, %rd3;\nst.u32 [%rd3], 2;\n" END, 0,
           32, FAULT_WRITE_TO_CONST, 0, "st.u32");
}

/* ---- uninitialised reads ------------------------------------------------------------------------- */

static uint32_t launch_tracked(const char *ptx, uint32_t threads) {
    Gpu *g = gpu_open(ptx);
    memory_track_writes(g->memory);
    memory_free(g->memory, g->out);
    g->out = memory_alloc(g->memory, ALLOC_DEVICE, WORDS * 4, NULL); /* nothing is written yet */
    memory_wrote(g->memory, g->out + 128, 61);
    g->spec.checks = CHECK_UNINITIALIZED;
    gpu_launch(g, 1, threads, 0);
    uint32_t kind = g->report.kind, thread = g->report.thread[0];
    gpu_close(g);
    return kind == FAULT_NONE ? UINT32_MAX : kind == FAULT_UNINITIALIZED ? thread : UINT32_MAX - 1;
}

static void uninitialised_reads(void) {
    EQUAL(launch_tracked(KERNEL("ld.global.u32 %r3, [%rd2];\n"), 32), 0);
    EQUAL(launch_tracked(KERNEL("ld.global.u32 %r3, [%rd2+128];\n"), 32), 15); /* 61 bytes: the 16th word lacks three */
    EQUAL(launch_tracked(KERNEL("ld.global.u32 %r3, [%rd2+128];\n"), 15), UINT32_MAX);
#define LAST_FOUR                                                                                                      \
    "ld.global.v4.u32 {%r3,%r4,%r5,%r6}, [%rd0+176];\n" /* the last three of the 61 bytes are in the third */
    EQUAL(launch_tracked(KERNEL(LAST_FOUR), 1), 0);
    EQUAL(launch_tracked(KERNEL(".pragma \"used_bytes_mask 0xfff\";\n" LAST_FOUR), 1), UINT32_MAX);
    EQUAL(launch_tracked(KERNEL(".pragma \"used_bytes_mask 0xffff\";\n" LAST_FOUR), 1), 0);
    EQUAL(
        launch_tracked(KERNEL("st.global.u32 [%rd2], 1; ld.global.u32 %r3, [%rd2]; ld.global.u32 %r4, [%rd1];\n"), 32),
        UINT32_MAX);
    EQUAL(launch_tracked(KERNEL("atom.global.add.u32 %r3, [%rd2], 1;\n"), 32), 0);
    EQUAL(launch_tracked(HEAD ".shared .b32 s[32];\n" BEGIN
                              "mov.u32 %r3, s; setp.lt.u32 %p0, %r0, 5; mad.lo.u32 %r4, %r0, 4, %r3;\n"
                              "@%p0 st.shared.u32 [%r4], 1;\nld.shared.u32 %r5, [%r4];\n" END,
                         32),
          5);
    EQUAL(launch_tracked(HEAD BEGIN ".local .b32 l[4];\nst.local.u32 [l], 1; ld.local.u32 %r3, [l+4];\n" END, 32), 0);
    EQUAL(launch_tracked(HEAD BEGIN ".local .b32 l[4];\nst.local.u32 [l+4], 1; ld.local.u32 %r3, [l+4];\n" END, 32),
          UINT32_MAX);
    EQUAL(launch_tracked(
              HEAD ".func (.param .b32 r) f(.param .b32 x)\n{\n.reg .b32 %r<2>; .local .b32 l[2];\n"
                   "ld.param.u32 %r0, [x]; st.local.u32 [l], %r0; ld.local.u32 %r1, [l]; st.param.b32 [r], %r1; "
                   "ret;\n}\n" BEGIN
                   "{ .param .b32 a; .param .b32 b; st.param.b32 [a], 3; call (b), f, (a); ld.param.u32 %r3, [b]; }\n"
                   "st.global.u32 [%rd2], %r3;\n" END,
              32),
          UINT32_MAX);
}

/* ---- races ------------------------------------------------------------------------------------- */

#define SHARED_CELL                                                                                                    \
    HEAD ".shared .align 4 .b32 s[1024];\n" BEGIN                                                                      \
         "mov.u32 %r3, s; mad.lo.u32 %r4, %r0, 4, %r3; xor.b32 %r5, %r0, 1; mad.lo.u32 %r6, %r5, 4, %r3; xor.b32 "     \
         "%r7, %r0, 32; mad.lo.u32 %r8, %r7, 4, %r3;\n"

static void races_in_shared_memory(void) {
    /* Write mine, read another warp's: with and without the barrier. */
    FAULTS(SHARED_CELL "st.shared.u32 [%r4], %r0;\nld.shared.u32 %r9, [%r8];\n" END, CHECK_RACES, 64, FAULT_RACE, 32,
           "st.shared");
    RUNS(SHARED_CELL "st.shared.u32 [%r4], %r0; bar.sync 0; ld.shared.u32 %r9, [%r8];\n" END, CHECK_RACES, 4, 64);
    /* The missing second barrier of a loop: the next round's write meets the last one's read. */
    FAULTS(SHARED_CELL
           "st.shared.u32 [%r4], %r0; bar.sync 0;\nld.shared.u32 %r9, [%r8];\nst.shared.u32 [%r4], 7;\n" END,
           CHECK_RACES, 64, FAULT_RACE, 0, "ld.shared");
    /* In a warp: __syncwarp orders, lock step doesn't. */
    FAULTS(SHARED_CELL "st.shared.u32 [%r4], %r0;\nld.shared.u32 %r9, [%r6];\n" END, CHECK_RACES, 32, FAULT_RACE, 0,
           "ld.shared");
    RUNS(SHARED_CELL "st.shared.u32 [%r4], %r0; bar.warp.sync -1; ld.shared.u32 %r9, [%r6]; bar.warp.sync -1; "
                     "st.shared.u32 [%r4], 1;\n" END,
         CHECK_RACES, 2, 32);
    /* All to one cell: different values race, one value doesn't. */
    FAULTS(SHARED_CELL "xor.b32 %r9, %r0, 64;\nst.shared.u32 [s], %r9;\n" END, CHECK_RACES, 32, FAULT_RACE, 1,
           "st.shared");
    RUNS(SHARED_CELL "st.shared.u32 [s], 5;\n" END, CHECK_RACES, 1, 128);
    /* Neighbouring bytes are different places. */
    RUNS(SHARED_CELL "add.u32 %r9, %r3, %r0; st.shared.u8 [%r9], %r0;\n" END, CHECK_RACES, 1, 64);
    /* Atomics don't race with each other, but with a plain read. */
    RUNS(SHARED_CELL "atom.shared.add.u32 %r9, [s], 1;\n" END, CHECK_RACES, 1, 64);
    FAULTS(SHARED_CELL "atom.shared.add.u32 %r9, [s], 1;\nld.shared.u32 %r9, [s];\n" END, CHECK_RACES, 64, FAULT_RACE,
           0, "ld.shared");
}

static void what_a_race_report_says(void) {
    Gpu *g = gpu_open(
        HEAD ".shared .align 4 .b32 s[64];\n.file 1 \"k.py\"\n" BEGIN
             "mov.u32 %r3, s; mad.lo.u32 %r4, %r0, 4, %r3; xor.b32 %r7, %r0, 32; mad.lo.u32 %r8, %r7, 4, %r3;\n"
             ".loc 1 7 1\nst.shared.u32 [%r4], %r0;\n.loc 1 8 1\nld.shared.u32 %r9, [%r8];\n" END);
    g->spec.checks = CHECK_RACES;
    gpu_launch(g, 1, 64, 0);
    const FaultReport *r = &g->report;
    EQUAL(r->kind, FAULT_RACE);
    EQUAL(r->line, 7); /* the second warp writes what the first has read */
    EQUAL(r->other_line, 8);
    CHECK(r->is_write && !r->other_is_write);
    EQUAL(r->thread[0], 32);
    EQUAL(r->other_thread[0], 0);
    char *text = fault_text(r);
    CHECK(strstr(text, "k(): data race: write of 4 bytes of shared memory") &&
          strstr(text, "\n  and a read at k.py:8"));
    free(text);
    /* With both checks, what is read too early counts as not written: the other warp comes later. */
    g->spec.checks = CHECK_RACES | CHECK_UNINITIALIZED;
    gpu_launch(g, 1, 64, 0);
    EQUAL(r->kind, FAULT_UNINITIALIZED);
    text = fault_text(r);
    CHECK(strstr(text, "a barrier is missing before\n  at k.py:8"));
    free(text);
    gpu_close(g);
}

static uint32_t race_between_blocks(const char *ptx) {
    Gpu *g = gpu_open(ptx);
    g->spec.checks = CHECK_RACES;
    gpu_launch(g, 4, 32, 0);
    uint32_t first = g->report.kind;
    if (!first) gpu_launch(g, 4, 32, 0); /* launches are ordered */
    uint32_t kind = g->report.kind;
    gpu_close(g);
    return kind;
}

static void races_between_blocks(void) {
    EQUAL(race_between_blocks(KERNEL("add.u32 %r3, %r0, %r1; st.global.u32 [%rd2], %r3;\n")), FAULT_RACE);
    EQUAL(
        race_between_blocks(KERNEL("ld.global.u32 %r3, [%rd1]; mul.wide.u32 %rd3, %r1, 128; add.u64 %rd3, %rd3, %rd2;\n"
                                   "add.u32 %r3, %r3, 1; st.global.u32 [%rd3], %r3;\n")),
        FAULT_NONE);
    EQUAL(race_between_blocks(KERNEL("ld.global.u32 %r3, [%rd1];\n"
                                     "setp.eq.u32 %p0, %r1, 3; @%p0 st.global.u32 [%rd1], 5;\n")),
          FAULT_RACE);
    /* The last block to come, known by an atomic behind a fence, reads what all have written. */
    EQUAL(race_between_blocks(KERNEL("mul.wide.u32 %rd3, %r1, 128; add.u64 %rd3, %rd3, %rd2;\n"
                                     "add.u32 %r3, %r0, %r1; st.global.u32 [%rd3+128], %r3;\n"
                                     "membar.gl; bar.sync 0;\n"
                                     "setp.ne.u32 %p0, %r0, 0; @%p0 exit;\n"
                                     "atom.global.inc.u32 %r4, [%rd1], 3; setp.ne.u32 %p1, %r4, 3; @%p1 exit;\n"
                                     "membar.gl; ld.global.u32 %r5, [%rd0+136]; ld.global.u32 %r6, [%rd0+264];\n")),
          FAULT_NONE);
}

static void guesses_are_no_races(void) {
    /* A loop of compare-and-swap may start with a plain read. */
    RUNS(KERNEL("ld.global.u32 %r3, [%rd0];\n"
                "AGAIN: add.u32 %r4, %r3, 1; atom.global.cas.b32 %r5, [%rd0], %r3, %r4;\n"
                "setp.ne.u32 %p0, %r5, %r3; mov.u32 %r3, %r5;\n"
                "@%p0 bra AGAIN;\n"),
         CHECK_RACES, 3, 64);
}

static void locks_are_no_races(void) {
    RUNS(KERNEL("SPIN: atom.global.cas.b32 %r3, [%rd1], 0, 1;\n"
                "setp.ne.u32 %p0, %r3, 0;\n"
                "@%p0 bra SPIN;\n"
                "membar.gl; ld.global.u32 %r4, [%rd0]; add.u32 %r4, %r4, 1; st.global.u32 [%rd0], %r4; membar.gl;\n"
                "atom.global.exch.b32 %r3, [%rd1], 0;\n"),
         CHECK_RACES, 3, 64);
}

/* The first warp writes, its lane 0 tells the second, whose lane 0 waits for that; all lanes of it read. */
#define HANDED_ON(before, after)                                                                                       \
    HEAD ".shared .b32 s[32];\n.shared .b32 told;\n" BEGIN                                                             \
         "setp.eq.u32 %p2, %r0, 0; @%p2 st.shared.u32 [told], 0; bar.sync 0;\n"                                        \
         "mov.u32 %r5, s; and.b32 %r6, %r0, 31; mad.lo.u32 %r7, %r6, 4, %r5; sub.u32 %r8, 31, %r6; mad.lo.u32 %r8, "   \
         "%r8, 4, %r5;\n"                                                                                              \
         "setp.eq.u32 %p0, %r6, 0; setp.ge.u32 %p1, %r0, 32; @%p1 bra SECOND;\n"                                       \
         "st.shared.u32 [%r7], %r0;\n" before "@%p0 red.release.cta.shared.add.u32 [told], 1;\nbra OUT;\n"             \
         "SECOND: @!%p0 bra MEET;\n"                                                                                   \
         "SPIN: ld.acquire.cta.shared.u32 %r9, [told]; setp.eq.u32 %p3, %r9, 0;\n@%p3 bra SPIN;\n"                     \
         "MEET:\n" after "ld.shared.u32 %r10, [%r8];\nOUT:\n" END
#define MEETS "bar.warp.sync -1;\n"

static void lanes_speak_for_their_warp(void) {
    RUNS(HANDED_ON(MEETS, MEETS), CHECK_RACES, 1, 64);
    FAULTS(HANDED_ON("", MEETS), CHECK_RACES, 64, FAULT_RACE, 32, "ld.shared.u32 %r10");
    FAULTS(HANDED_ON(MEETS, ""), CHECK_RACES, 64, FAULT_RACE, 33, "ld.shared.u32 %r10");
}

/* ---- functions of the device runtime ---------------------------------------------------------------- */

#define HEAP                                                                                                           \
    HEAD ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n" BEGIN            \
         "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 64; call (r), malloc, (n); ld.param.b64 %rd3, [r]; }\n"
#define FREE "{ .param .b64 p; st.param.b64 [p], %rd3; call free, (p); }\n"

static void the_heap(void) {
    RUNS(HEAP "st.u32 [%rd3+60], 1;\n" FREE END, 0, 2, 40);
    FAULTS(HEAP "st.u32 [%rd3+64], 1;\n" FREE END, 0, 1, FAULT_OUT_OF_BOUNDS, 0, "st.u32");
    FAULTS(HEAP FREE "st.u32 [%rd3], 1;\n" END, 0, 1, FAULT_USE_AFTER_FREE, 0, "st.u32");
    FAULTS(HEAP FREE "AGAIN: " FREE END, 0, 1, FAULT_BAD_FREE, 0, "AGAIN");
}

static char *printed(const char *ptx, uint32_t blocks, uint32_t threads, uint32_t room) {
    static char text[4096];
    Gpu *g = gpu_open(ptx);
    g->spec.printf_bytes = room;
    FILE *old = stdout, *capture = tmpfile();
    stdout = capture;
    uint32_t error = gpu_launch(g, blocks, threads, 0);
    stdout = old;
    rewind(capture);
    text[fread(text, 1, sizeof text - 1, capture)] = '\0';
    fclose(capture);
    EQUAL(error, 0);
    gpu_close(g);
    return text;
}

#define PRINTF                                                                                                         \
    HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"                                      \
         ".global .align 1 .b8 word[4] = {97, 98, 99, 0};\n"
#define CALL_PRINTF                                                                                                    \
    "mov.u64 %rd5, format; cvta.global.u64 %rd5, %rd5; mov.u64 %rd6, buffer; cvta.local.u64 %rd6, %rd6;\n"             \
    "{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd5; st.param.b64 [a], %rd6; call (r), "        \
    "vprintf, (f, a); ld.param.b32 %r9, [r]; }\n"

static void prints(void) {
    /* "%d %5.2f|%s|%c %x %lld %%\n" */
    CHECK(
        strcmp(printed(
                   PRINTF
                   ".global .align 1 .b8 format[27] = "
                   "{37,100,32,37,53,46,50,102,124,37,115,124,37,99,32,37,120,32,37,108,108,100,32,37,37,10,0};\n" BEGIN
                   ".local .align 8 .b8 buffer[48];\n"
                   "sub.s32 %r3, 0, %r0; st.local.u32 [buffer], %r3; mov.f64 %fd0, 0d400921FB54442D18; st.local.f64 "
                   "[buffer+8], %fd0;\n"
                   "mov.u64 %rd3, word; cvta.global.u64 %rd3, %rd3; st.local.u64 [buffer+16], %rd3; st.local.u32 "
                   "[buffer+24], 90; st.local.u32 [buffer+28], 255;\n"
                   "st.local.u64 [buffer+32], -5;\n" CALL_PRINTF END,
                   1, 2, 0),
               "0  3.14|abc|Z ff -5 %\n-1  3.14|abc|Z ff -5 %\n") == 0);
    /* "%u\n" of 20 blocks in a buffer that holds the last three. */
    CHECK(strcmp(printed(PRINTF ".global .align 1 .b8 format[4] = {37,117,10,0};\n" BEGIN
                                ".local .align 8 .b8 buffer[8];\n"
                                "st.local.u32 [buffer], %r1;\n" CALL_PRINTF END,
                         20, 1, 24),
                 "17\n18\n19\n") == 0);
}

static void prints_what_isnt_there(void) {
    /* "%s" of a null pointer is said; another bad one ends the launch. */
    FAULTS(PRINTF ".global .align 1 .b8 format[3] = {37,115,0};\n" BEGIN ".local .align 8 .b8 buffer[8];\n"
                  "st.local.u64 [buffer], 4096;\n" CALL_PRINTF END,
           0, 1, FAULT_OUT_OF_BOUNDS, 0, "{ .param .b64 f");
}

/* ---- counters ---------------------------------------------------------------------------------- */

static LineCounters counted(const char *ptx, const char *at, uint32_t threads) {
    Gpu *g = gpu_open(ptx);
    Profile profile = {.counters = calloc(g->code->ninsts, sizeof(LineCounters))};
    LineCounters sum = {0};
    g->spec.profile = &profile;
    EQUAL(gpu_launch(g, 1, threads, 0), 0);
    uint32_t line = 1;
    for (const char *p = ptx, *end = strstr(ptx, at); p < end; p++) line += *p == '\n';
    for (uint32_t pc = 0; pc < g->code->ninsts; pc++) {
        if (g->code->insts[pc].line == line) sum = profile.counters[pc];
    }
    free(profile.counters);
    gpu_close(g);
    return sum;
}

static void coalescing(void) {
    LineCounters c = counted(KERNEL("\nld.global.u32 %r3, [%rd2];\n"), "ld.global.u32", 64);
    EQUAL(c.instructions, 2);
    EQUAL(c.lanes, 64);
    EQUAL(c.requests, 2);
    EQUAL(c.sectors, 8);
    EQUAL(c.ideal_sectors, 8);
    EQUAL(c.bytes_read, 256);
    c = counted(KERNEL("mul.wide.u32 %rd3, %r0, 128; add.u64 %rd3, %rd3, %rd0;\nld.global.u32 %r3, [%rd3];\n"),
                "ld.global.u32", 32);
    EQUAL(c.sectors, 32);
    EQUAL(c.ideal_sectors, 4);
    c = counted(KERNEL("\nst.global.u32 [%rd2+4], 1;\n"), "st.global.u32", 32);
    EQUAL(c.sectors, 5);
    EQUAL(c.bytes_written, 128);
}

static void bank_conflicts(void) {
    char ptx[2048];
    static const struct {
        const char *bytes;
        unsigned waves;
    } cases[] = {{"4", 1}, {"8", 2}, {"128", 32}, {"132", 1}, {"0", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fill(ptx, sizeof ptx,
             HEAD ".shared .align 4 .b32 s[1100];\n" BEGIN
                  "mov.u32 %r3, s; mad.lo.u32 %r4, %r0, $, %r3;\nld.shared.u32 %r5, [%r4];\n" END,
             cases[i].bytes, NULL);
        LineCounters c = counted(ptx, "ld.shared", 32);
        EQUAL(c.shared_waves, cases[i].waves);
        EQUAL(c.ideal_waves, 1);
    }
}

static void divergence_and_atomics(void) {
    LineCounters c =
        counted(KERNEL("and.b32 %r3, %r0, 1; setp.eq.u32 %p0, %r3, 0;\n@%p0 bra OUT;\nadd.u32 %r3, %r3, 1;\nOUT:\n"),
                "@%p0 bra", 32);
    EQUAL(c.branches, 1);
    EQUAL(c.divergent, 1);
    c = counted(KERNEL("and.b32 %r3, %r0, 1; setp.eq.u32 %p0, %r3, 0;\n@%p0 bra OUT;\nadd.u32 %r3, %r3, 1;\nOUT:\n"),
                "add.u32 %r3, %r3, 1", 32);
    EQUAL(c.lanes, 16);
    c = counted(KERNEL("\nred.global.add.u32 [%rd0], 1;\n"), "red.global", 32);
    EQUAL(c.atomic_requests, 1);
    EQUAL(c.atomic_rounds, 32);
}

int main(void) {
    out_of_bounds();
    what_a_report_says();
    use_after_free();
    misaligned();
    wrong_spaces();
    uninitialised_reads();
    races_in_shared_memory();
    what_a_race_report_says();
    races_between_blocks();
    guesses_are_no_races();
    locks_are_no_races();
    lanes_speak_for_their_warp();
    the_heap();
    prints();
    prints_what_isnt_there();
    coalescing();
    bank_conflicts();
    divergence_and_atomics();
    if (failures == 0) printf("ok\n");
    return failures != 0;
}
