/* launch.h - small kernels in PTX, run by the emulator's core: what the tests of execution share.
 *
 * A kernel `k` gets two pointers, `out` and `in`, and a number `n`. KERNEL() writes its frame: in its body %rd0 and
 * %rd1 are the pointers, %r0 the index of the thread in its block, %r1 that of the block, %r2 is n, and %rd2 the
 * address of the thread's own word out[tid]. */
#ifndef TEST_LAUNCH_H
#define TEST_LAUNCH_H

#include "../../../runtime/emulator/emulator.h"
#include "../../../runtime/emulator/warp.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int failures;

#define CHECK(x) ((x) ? (void)0 : (void)(failures++, printf("%s:%d: %s\n", __FILE__, __LINE__, #x)))
#define EQUAL(got, wanted)                                                                                             \
    do {                                                                                                               \
        uint64_t got_ = (uint64_t)(got), wanted_ = (uint64_t)(wanted);                                                 \
        if (got_ != wanted_)                                                                                           \
            failures++,                                                                                                \
                printf("%s:%d: %s is 0x%" PRIx64 ", not 0x%" PRIx64 "\n", __FILE__, __LINE__, #got, got_, wanted_);    \
    } while (0)

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define BEGIN                                                                                                          \
    ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n"                                           \
    ".reg .pred %p<16>; .reg .b16 %h<16>; .reg .b32 %r<64>; .reg .b64 %rd<32>; .reg .f32 %f<16>; .reg .f64 %fd<16>;\n" \
    "ld.param.u64 %rd0, [out]; ld.param.u64 %rd1, [in]; ld.param.u32 %r2, [n];\n"                                      \
    "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd2, %r0, 4; add.u64 %rd2, %rd2, %rd0;\n"
#define END "ret;\n}\n"
#define KERNEL(body) HEAD BEGIN body END

enum { WORDS = 4096 };

typedef struct Gpu {
    Memory *memory;
    PtxCode *code;
    uint64_t out, in; /* WORDS words each, `in` first: zero at first */
    LaunchSpec spec;  /* what launch() changes nothing of: checks, budget, ... */
    FaultReport report;
    char log[2048];
} Gpu;

/* The text with each `$` replaced by the next of the strings; NULL ends them. */
const char *fill(char *room, size_t size, const char *text, ...);

/* Reads the PTX; fails the test and prints the log if that fails. Blocks are of 32 threads until set otherwise. */
Gpu *gpu_open(const char *ptx);
void gpu_close(Gpu *g);
uint32_t *gpu_out(const Gpu *g);
uint32_t *gpu_in(const Gpu *g);
/* Returns the error; a fault's text is checked by expect_fault(). */
uint32_t gpu_launch(Gpu *g, uint32_t blocks, uint32_t threads, uint32_t n);
/* Runs a kernel that must end well, with one block; the words that it wrote are compared. */
void expect_words(const char *file, int line, const char *ptx, uint32_t threads, uint32_t n, const uint32_t *words,
                  uint32_t nwords);
/* Runs one that must end with this fault, in this thread, at the line of the PTX that has the text `at`. */
void expect_fault(const char *file, int line, const char *ptx, uint32_t checks, uint32_t threads, FaultKind kind,
                  uint32_t thread, const char *at);
void expect_none(const char *file, int line, const char *ptx, uint32_t checks, uint32_t blocks, uint32_t threads);

#define WORDS_ARE(ptx, threads, n, ...)                                                                                \
    do {                                                                                                               \
        const uint32_t words_[] = {__VA_ARGS__};                                                                       \
        expect_words(__FILE__, __LINE__, ptx, threads, n, words_, sizeof words_ / sizeof *words_);                     \
    } while (0)
#define FAULTS(ptx, checks, threads, kind, thread, at)                                                                 \
    expect_fault(__FILE__, __LINE__, ptx, checks, threads, kind, thread, at)
#define RUNS(ptx, checks, blocks, threads) expect_none(__FILE__, __LINE__, ptx, checks, blocks, threads)

#endif
