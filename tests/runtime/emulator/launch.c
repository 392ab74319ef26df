/* launch.c - see launch.h. */
#include "launch.h"

#include <stdarg.h>

int failures;

const char *fill(char *room, size_t size, const char *text, ...) {
    va_list strings;
    size_t n = 0;
    va_start(strings, text);
    for (; *text && n + 1 < size; text++) {
        if (*text == '$') n += (size_t)snprintf(room + n, size - n, "%s", va_arg(strings, const char *));
        else room[n++] = *text;
    }
    va_end(strings);
    room[n < size ? n : size - 1] = '\0';
    return room;
}

Gpu *gpu_open(const char *ptx) {
    Gpu *g = calloc(1, sizeof *g);
    PtxSource source = {ptx, strlen(ptx), "test"};
    PtxLog log = {.buffer = g->log, .size = sizeof g->log};
    g->memory = memory_open(UINT64_C(1) << 30);
    g->code = ptx_load(&source, 1, g->memory, 80, &log);
    if (!g->code) {
        failures++;
        printf("not accepted: %.*s\n%s\n", (int)log.used, g->log, ptx);
        gpu_close(g);
        return NULL;
    }
    g->in = memory_alloc(g->memory, ALLOC_DEVICE, WORDS * 4, NULL);
    g->out = memory_alloc(g->memory, ALLOC_DEVICE, WORDS * 4, NULL);
    memset(gpu_in(g), 0, WORDS * 4);
    memset(gpu_out(g), 0, WORDS * 4);
    g->spec = (LaunchSpec){
        .code = g->code, .func = ptx_function(g->code, "k"), .memory = g->memory, .budget = UINT64_C(1) << 32};
    return g;
}

void gpu_close(Gpu *g) {
    if (g->code) ptx_unload(g->code, g->memory);
    memory_close(g->memory);
    free(g);
}

uint32_t *gpu_out(const Gpu *g) { return (uint32_t *)memory_bytes(g->memory, g->out, WORDS * 4); }
uint32_t *gpu_in(const Gpu *g) { return (uint32_t *)memory_bytes(g->memory, g->in, WORDS * 4); }

uint32_t gpu_launch(Gpu *g, uint32_t blocks, uint32_t threads, uint32_t n) {
    struct {
        uint64_t out, in;
        uint32_t n;
    } params = {g->out, g->in, n};
    LaunchSpec spec = g->spec;
    spec.grid[0] = blocks;
    spec.block[0] = threads;
    spec.grid[1] = spec.grid[2] = spec.block[2] = 1;
    if (!spec.block[1]) spec.block[1] = 1;
    spec.params = &params;
    return emulator_run(&spec, &g->report);
}

static void tell(const char *file, int line, const FaultReport *report) {
    char *text = fault_text(report);
    printf("%s:%d: %s\n", file, line, text);
    free(text);
}

void expect_words(const char *file, int line, const char *ptx, uint32_t threads, uint32_t n, const uint32_t *words,
                  uint32_t nwords) {
    Gpu *g = gpu_open(ptx);
    if (!g) return;
    if (gpu_launch(g, 1, threads, n)) {
        failures++;
        tell(file, line, &g->report);
    }
    for (uint32_t i = 0; i < nwords; i++) {
        if (gpu_out(g)[i] == words[i]) continue;
        failures++;
        printf("%s:%d: word %u is 0x%x, not 0x%x\n", file, line, i, gpu_out(g)[i], words[i]);
        break;
    }
    gpu_close(g);
}

static uint32_t line_of(const char *ptx, const char *at) {
    const char *found = strstr(ptx, at);
    uint32_t line = 1;
    for (const char *p = ptx; found && p < found; p++) line += *p == '\n';
    return line;
}

void expect_fault(const char *file, int line, const char *ptx, uint32_t checks, uint32_t threads, FaultKind kind,
                  uint32_t thread, const char *at) {
    Gpu *g = gpu_open(ptx);
    if (!g) return;
    g->spec.checks = checks;
    gpu_launch(g, 1, threads, 0);
    const FaultReport *r = &g->report;
    if (r->kind != (uint32_t)kind || r->thread[0] != thread || r->ptx_line != line_of(ptx, at)) {
        failures++;
        printf("%s:%d: expected fault %d of thread %u at PTX line %u\n", file, line, (int)kind, thread,
               line_of(ptx, at));
        tell(file, line, r);
    }
    gpu_close(g);
}

void expect_none(const char *file, int line, const char *ptx, uint32_t checks, uint32_t blocks, uint32_t threads) {
    Gpu *g = gpu_open(ptx);
    if (!g) return;
    g->spec.checks = checks;
    if (gpu_launch(g, blocks, threads, 0)) {
        failures++;
        tell(file, line, &g->report);
    }
    gpu_close(g);
}
