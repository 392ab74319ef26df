/* fuzz_ir.c - any text as IR: a module or a message with its line, never a crash.
 *
 * What parses is printed and read again, and must print the same. What also verifies goes through
 * the whole pipeline, which must leave IR that verifies. */
#include "../../compiler/compiler.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void wrong(const char *text, const char *what, const char *detail) {
    fprintf(stderr, "%s\n%s: %s\n", text, what, detail);
    abort();
}

static void run_all(IrModule *m, const Pass *passes) {
    for (const Pass *p = passes; p->name; p++) {
        p->run(m);
        if (ir_verify(m)) wrong(ir_to_string(m, false), p->name, ir_verify(m));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena;
    arena_init(&arena, NULL);
    char *error = NULL, *text = arena_strndup(&arena, (const char *)data, size);
    IrModule *m = ir_parse(&arena, text, &error);
    if (!m) {
        if (!error || strncmp(error, "line ", 5) != 0)
            wrong(text, "a message without its line", error ? error : "none");
        arena_free(&arena);
        return 0;
    }
    char *printed = ir_to_string(m, true);
    if (!ir_verify(m)) {
        const IrModule *again = ir_parse(&arena, printed, &error);
        if (!again) wrong(printed, "what was printed doesn't parse", error);
        if (strcmp(printed, ir_to_string(again, true)) != 0)
            wrong(printed, "another text after a second reading", ir_to_string(again, true));
        run_all(m, pipeline_passes);
        run_all(m, pipeline_cpu_passes);
        run_all(m, pipeline_gpu_passes);
        ir_uniformity(m, NULL);
    }
    arena_free(&arena);
    return 0;
}
