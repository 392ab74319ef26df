/* fuzz_decode.c - any bytes as bytecode of any version: a PyFunc or a message, never a crash.
 *
 * The first byte picks the version, the second how many bytes are the exception table; the rest is code. It is
 * compiled as a comprehension, whose own constants hold it again, so that nested code is fuzzed too. */
#include "rowhost.h"

#include "../../frontend/diag.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void wrong(const PyFunc *f, const char *what) {
    if (f) pyfunc_print(f, stderr, false);
    fprintf(stderr, "%s\n", what);
    abort();
}

/* What infer relies on. */
static void check(const PyFunc *f) {
    for (PyBlockId b = 0; b < f->blocks.n; b++) {
        const PyBlock *blk = &f->blocks.at[b];
        for (uint32_t k = 0; k < blk->nsucc; k++)
            if (blk->succ[k] == 0 || blk->succ[k] >= f->blocks.n) wrong(f, "a successor is no block");
        for (uint32_t i = 0; i < blk->instrs.n; i++) {
            const PyInstr *in = &f->instrs.at[blk->instrs.at[i]];
            if (in->op >= PY__COUNT || in->block != b || (in->op == PY_PHI && in->nargs != blk->preds.n))
                wrong(f, "an instruction has a wrong place");
            for (uint32_t k = 0; k < in->nargs; k++)
                if (in->args[k] >= f->instrs.n || (in->args[k] == 0 && in->op != PY_FUNCTION && in->op != PY_CALL_EX))
                    wrong(f, "an operand is no value");
        }
        if ((blk->term == PYT_BRANCH || blk->term == PYT_RETURN) && blk->arg == 0)
            wrong(f, "a branch or return has no value");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    size_t table = data[1] < size - 2 ? data[1] : 0;
    Arena arena;
    arena_init(&arena, NULL);
    RowHost *h = rowhost_fuzz(&arena, 309 + data[0] % 7, data + 2 + table, size - 2 - table, data + 2, table);
    DiagList diags = {.arena = &arena};
    PyFunc *f = pyfunc_from_host(&arena, rowhost_host(h), rowhost_root(h, 0), &diags, false);
    if (f) {
        check(f);
        pyfunc_to_string(f, true);
    } else if (diags.nerrors == 0) {
        wrong(NULL, "given up without a word");
    }
    arena_free(&arena);
    return 0;
}
