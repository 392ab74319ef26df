/* fuzz_ptx.c - any text as PTX: a module, or messages that name lines; never a crash, and nothing left in memory. */
#include "../../../runtime/emulator/emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void wrong(const uint8_t *data, size_t size, const char *what, const char *detail) {
    fwrite(data, 1, size, stderr);
    fprintf(stderr, "\n%s: %s\n", what, detail);
    abort();
}

/* What the interpreter relies on. */
static void check(const uint8_t *data, size_t size, const PtxCode *code) {
    for (uint32_t i = 0; i < code->ninsts; i++) {
        const PtxInst *in = &code->insts[i];
        if (!in->fn && in->control == CONTROL_NONE) wrong(data, size, "an instruction", "without a function");
        if (in->control == CONTROL_BRA && in->target > code->ninsts) wrong(data, size, "a jump", "out of the code");
        if (in->control == CONTROL_CALL && in->target >= code->nfuncs) wrong(data, size, "a call", "of no function");
        if (in->loc >= code->nlocs) wrong(data, size, "a place", "that isn't there");
    }
    for (uint32_t i = 0; i < code->nfuncs; i++)
        if (code->funcs[i].end > code->ninsts || code->funcs[i].first > code->funcs[i].end)
            wrong(data, size, "a function", code->funcs[i].name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static Memory *memory;
    if (!memory) memory = memory_open(UINT64_C(1) << 30);
    char buffer[4096] = "";
    PtxLog log = {.buffer = buffer, .size = sizeof buffer};
    /* Two sources, if there is a line of dashes. */
    const uint8_t *cut = size ? memchr(data, '\f', size) : NULL;
    size_t first = cut ? (size_t)(cut - data) : size;
    PtxSource sources[2] = {{(const char *)data, first, "a"}, {NULL, 0, "b"}};
    if (cut) sources[1] = (PtxSource){(const char *)cut + 1, size - first - 1, "b"};
    PtxCode *code = ptx_load(sources, cut ? 2 : 1, memory, 120, &log);
    if (code) check(data, size, code);
    else if (!log.errors && !log.out_of_memory) wrong(data, size, "refused", "without a message");
    ptx_unload(code, memory);
    return 0;
}
