/* test_native.c - every operation in native code against fold.c, which defines what it means.
 *
 * Every operation x type runs on all pairs of edge values, for several block sizes so that both vectors
 * and what is left over are met; operations with fast paths for a constant operand run on constants too. */
#include "codekit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 128, MAX_CASES = 1 << 14, BLOCK = 61 };

static const CompilerApi *api;
static unsigned failures, checks;
static _Alignas(64) unsigned char a[MAX_CASES * 8], b[MAX_CASES * 8], c[MAX_CASES * 8], out[MAX_CASES * 8];

static const CompileOptions options = {.target = TARGET_CPU, .opt = 2};

static void complain(const KitOp *op, const char *what) {
    failures++;
    const char *fn = op->op == OP_MATH ? mathfn_names[op->sub] : "";
    fprintf(stderr, "%s %s (%s) -> %s: %s\n", op_info[op->op].name, fn, type_info[op->arg_type].text,
            type_info[op->type].text, what);
}

static Image *compile(Arena *arena, const KitOp *op) {
    char *error = NULL;
    Image *image = api->compile(kit_kernel(arena, op), &options, &error);
    if (!image) complain(op, error ? error : "no image");
    free(error);
    return image;
}

static void discard(Image *image) {
    api->unload(image);
    gpu_image_free(image);
}

/* Fills the operands with all pairs (or, for three operands, many triples); returns their number. */
static uint32_t fill(const KitOp *op) {
    uint64_t values[MAX_VALUES], firsts[MAX_VALUES];
    uint32_t n = kit_values(op->arg_type, values, MAX_VALUES);
    uint32_t nfirst = op->op == OP_SELECT ? kit_values(T_BOOL, firsts, MAX_VALUES) : n;
    Type first = op->op == OP_SELECT ? T_BOOL : op->arg_type;
    if (op->op != OP_SELECT) memcpy(firsts, values, sizeof values);
    uint32_t total = op->nargs == 1 ? n : op->nargs == 2 ? nfirst * n : MAX_CASES;
    if (total > MAX_CASES) total = MAX_CASES;
    uint64_t random = 88172645463325252u;
    for (uint32_t i = 0; i < total; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        bool triple = op->nargs == 3;
        kit_put(first, a, i, firsts[triple ? random % nfirst : i % nfirst]);
        kit_put(op->arg_type, b, i, values[triple ? (random >> 20) % n : i / nfirst % n]);
        kit_put(op->arg_type, c, i, values[(random >> 40) % n]);
    }
    return total;
}

static uint64_t expected(const KitOp *op, uint32_t i, bool *known) {
    Type first = op->op == OP_SELECT ? T_BOOL : op->arg_type;
    uint64_t args[3] = {kit_get(first, a, i), op->constant ? *op->constant : kit_get(op->arg_type, b, i),
                        kit_get(op->arg_type, c, i)};
    uint64_t r = 0;
    *known = ir_fold(op->op, op->type, op->sub, op->arg_type, op->nargs, args, &r);
    return r;
}

static void check_results(const KitOp *op, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        bool known;
        uint64_t want = expected(op, i, &known), got = kit_get(op->type, out, i);
        if (!known) return;
        checks++;
        if (kit_same(op->type, want, got)) continue;
        char text[160];
        snprintf(text, sizeof text, "of %llx, %llx, %llx is %llx, not %llx",
                 (unsigned long long)kit_get(op->arg_type, a, i),
                 (unsigned long long)(op->constant ? *op->constant : kit_get(op->arg_type, b, i)),
                 (unsigned long long)kit_get(op->arg_type, c, i), (unsigned long long)got, (unsigned long long)want);
        complain(op, text);
        return;
    }
}

static void test_op(const KitOp *op) {
    Arena arena;
    arena_init(&arena, NULL);
    Image *image = compile(&arena, op);
    if (image) {
        uint32_t n = fill(op);
        memset(out, 0xcd, sizeof out);
        /* params.c may drop what isn't used */
        void *arrays[4] = {a, b, c, out}, *params[4];
        for (uint32_t i = 0; i < image->nparams; i++)
            params[image->params[i].offset / 8] = arrays[image->params[i].leaf];
        kit_run(image, params, n / BLOCK * BLOCK, BLOCK);
        check_results(op, n / BLOCK * BLOCK);
        discard(image);
    }
    arena_free(&arena);
}

static void test_constants(Type t) {
    static const Op ops[] = {OP_FLOORDIV, OP_FLOORMOD, OP_TRUNCDIV, OP_TRUNCMOD, OP_SHL, OP_SHR, OP_POW};
    static const int64_t constants[] = {0, 1, 2, 3, 7, 8, 10, 64, -1, -2, -3, -8, INT64_MIN, INT64_MAX};
    for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++) {
        for (unsigned k = 0; k < sizeof constants / sizeof *constants; k++) {
            uint64_t v = (uint64_t)constants[k];
            if (v == (uint64_t)INT64_MIN) v = UINT64_C(1) << (type_bits(t) - 1);
            if (v == (uint64_t)INT64_MAX) v = (UINT64_C(1) << (type_bits(t) - 1)) - 1;
            v = ir_wrap(t, v);
            KitOp op = {ops[i], t, t, 0, 2, &v};
            test_op(&op);
        }
    }
}

static void test_conversions(Type from) {
    for (int to = T_BOOL; to <= T_F64; to++) {
        KitOp op = {OP_CONVERT, (Type)to, from, 0, 1, NULL};
        test_op(&op);
        if (from == T_BOOL || to == T_BOOL || type_bytes(from) != type_bytes((Type)to)) continue;
        op.op = OP_BITCAST;
        test_op(&op);
    }
}

int main(void) {
    api = kit_open();
    for (int t = T_BOOL; t <= T_F64; t++) {
        KitOp ops[128];
        uint32_t n = kit_ops((Type)t, ops, 128);
        for (uint32_t i = 0; i < n; i++)
            if (api->legality(ops[i].op, (Type)t, ops[i].sub, &options) != LEGAL_REFUSE) test_op(&ops[i]);
        if (type_is_int((Type)t)) test_constants((Type)t);
        test_conversions((Type)t);
    }
    printf("%u results compared, %u operations wrong\n", checks, failures);
    return failures != 0;
}
