/* opkit.c - see opkit.h. */
#include "opkit.h"

#include <math.h>
#include <stdarg.h>

enum { BATCH = 16384 }; /* inputs of a launch */

/* One device for all instructions: opening it takes longer than running them. */
static Memory *memory;
static uint64_t buffers[4]; /* d, a, b, c: 8 bytes for each input */

static void open_memory(void) {
    if (memory) return;
    memory = memory_open(UINT64_C(1) << 28);
    for (int k = 0; k < 4; k++) buffers[k] = memory_alloc(memory, ALLOC_DEVICE, BATCH * 8, NULL);
}

void op_end(void) {
    if (memory) memory_close(memory);
    memory = NULL;
}

static uint64_t *buffer(int k) { return (uint64_t *)memory_bytes(memory, buffers[k], BATCH * 8); }

/* ---- the kernel ---------------------------------------------------------------------------------- */

typedef struct Text {
    char room[4096];
    size_t used;
} Text;

static void add(Text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(Text *t, const char *format, ...) {
    va_list values;
    va_start(values, format);
    t->used += (size_t)vsnprintf(t->room + t->used, sizeof t->room - t->used, format, values);
    va_end(values);
}

/* A register's type: packed ones are bits. */
static const char *bits_of(const char *type) {
    if (strstr(type, "e4m3x2") || strstr(type, "e5m2x2")) return "b16";
    if (strcmp(type, "f32x2") == 0 || strstr(type, "64")) return "b64";
    if (strchr(type, 'x') || strstr(type, "32")) return "b32";
    return strstr(type, "8") ? "b8" : "b16";
}

static int split(const char *types, char words[4][16]) {
    int n = 0;
    for (; n < 4 && sscanf(types, "%15s", words[n]) == 1; n++) {
        types += strspn(types, " ");
        types += strcspn(types, " ");
    }
    return n;
}

static void load(Text *t, const char *name, const char *type, int k) {
    if (strcmp(type, "pred") == 0) {
        add(t, "ld.global.u32 %%w, [%%p%d];\nsetp.ne.u32 %%%s, %%w, 0;\n", k, name);
    } else {
        add(t, "ld.global.%s %%%s, [%%p%d];\n", bits_of(type), name, k);
    }
}

enum { ALIASED = 1, GUARDED = 2 };

/* With ALIASED %a is the name of the result too. */
static void instruction(Text *t, const char *text, unsigned how) {
    if (how & GUARDED) add(t, "@%%on ");
    for (; *text; text++) {
        if (how & ALIASED && text[0] == '%' && text[1] == 'd') add(t, "%%a"), text++;
        else add(t, "%c", *text);
    }
    add(t, "\n");
}

static const char *write_kernel(Text *t, const Op *op, unsigned how) {
    static const char *const names[] = {"d", "a", "b", "c"};
    char types[4][16];
    int n = split(op->types, types);
    bool pred = strcmp(types[0], "pred") == 0;
    t->used = 0;
    add(t, ".version 9.0\n.target sm_100a\n.address_size 64\n"
           ".visible .entry k(.param .u64 d, .param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n, .param .u32 "
           "on)\n{\n"
           ".reg .pred %%q, %%on; .reg .b32 %%w, %%i, %%v; .reg .b64 %%p<4>, %%o;\n");
    for (int k = 0; k < n; k++) {
        bool is_pred = strcmp(types[k], "pred") == 0;
        add(t, ".reg .%s %%%s;\n", is_pred ? "pred" : bits_of(types[k]), names[k]);
    }
    add(t, "mov.u32 %%i, %%ctaid.x; mov.u32 %%w, %%tid.x; mad.lo.u32 %%i, %%i, 256, %%w;\n"
           "ld.param.u32 %%w, [n]; setp.ge.u32 %%on, %%i, %%w; @%%on exit;\nmul.wide.u32 %%o, %%i, 8;\n");
    for (int k = 0; k < n; k++) add(t, "ld.param.u64 %%p%d, [%s]; add.u64 %%p%d, %%p%d, %%o;\n", k, names[k], k, k);
    for (int k = 0; k < n; k++) load(t, names[k], types[k], k);
    add(t, "setp.ne.u32 %%q, 0, 0;\nld.param.u32 %%w, [on]; mov.u32 %%v, %%laneid; shr.u32 %%w, %%w, %%v; and.b32 %%w, "
           "%%w, 1;\n"
           "setp.ne.u32 %%on, %%w, 0;\n");
    instruction(t, op->text, how);
    if (pred) {
        add(t, "selp.u32 %%w, 1, 0, %%d; selp.u32 %%v, 2, 0, %%q; or.b32 %%w, %%w, %%v; st.global.u32 [%%p0], %%w;\n");
    } else {
        add(t, "st.global.%s [%%p0], %%%s;\n", bits_of(types[0]), how & ALIASED ? "a" : "d");
    }
    add(t, "ret;\n}\n");
    return t->room;
}

static PtxCode *read_kernel(const char *ptx, char *log_room, size_t log_size) {
    PtxSource source = {ptx, strlen(ptx), "test"};
    PtxLog log = {.buffer = log_room, .size = log_size};
    open_memory();
    return ptx_load(&source, 1, memory, 100, &log);
}

/* ---- running it ---------------------------------------------------------------------------------- */

static bool launch(const PtxCode *code, uint32_t n, uint32_t on) {
    struct {
        uint64_t d, a, b, c;
        uint32_t n, on;
    } params = {buffers[0], buffers[1], buffers[2], buffers[3], n, on};
    LaunchSpec spec = {.code = code,
                       .func = ptx_function(code, "k"),
                       .memory = memory,
                       .params = &params,
                       .grid = {(n + 255) / 256, 1, 1},
                       .block = {256, 1, 1}};
    FaultReport report;
    return emulator_run(&spec, &report) == 0;
}

/* What lies in a result before the instruction runs. */
static uint64_t old_result(const char *type) { return strcmp(type, "pred") == 0 ? 1 : UINT64_C(0x5a5a5a5a5a5a5a5a); }

static uint64_t width_mask(const char *type) {
    if (strcmp(type, "pred") == 0) return 3;
    const char *bits = bits_of(type);
    return strcmp(bits, "b64") == 0   ? UINT64_MAX
           : strcmp(bits, "b32") == 0 ? UINT32_MAX
           : strcmp(bits, "b16") == 0 ? 0xffff
                                      : 0xff;
}

static bool compare(const Op *op, const char *type, const uint64_t (*x)[3], size_t n, unsigned how, uint32_t on) {
    static const char *const ways[] = {"", ", in place", ", guarded", ", guarded and in place"};
    uint64_t mask = width_mask(type);
    for (size_t i = 0; i < n; i++) {
        bool ran = on >> i % 32 & 1;
        uint64_t got = buffer(0)[i] & mask;
        uint64_t wanted = (ran ? op->oracle(op, x[i]) : how & ALIASED ? x[i][0] : old_result(type)) & mask;
        if (got == wanted || (ran && op->same && op->same(op, got, wanted))) continue;
        failures++;
        printf("%s of 0x%" PRIx64 ", 0x%" PRIx64 ", 0x%" PRIx64 " is 0x%" PRIx64 ", not 0x%" PRIx64 " (lane %zu%s)\n",
               op->text, x[i][0], x[i][1], x[i][2], got, wanted, i % 32, ways[how]);
        return false;
    }
    return true;
}

static void run_batch(const Op *op, const char *type, const PtxCode *code, const uint64_t (*x)[3], size_t n,
                      unsigned how) {
    uint32_t on = how & GUARDED ? (uint32_t)random_bits() : UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        buffer(0)[i] = old_result(type);
        for (int k = 0; k < 3; k++) buffer(k + 1)[i] = x[i][k];
    }
    if (!launch(code, (uint32_t)n, on)) {
        failures++;
        printf("%s doesn't run\n", op->text);
        return;
    }
    compare(op, type, x, n, how, on);
}

void op_run(const Op *op, const Inputs *in) {
    char types[4][16] = {{0}}, log[1024] = "";
    int n = split(op->types, types);
    bool sequence = *op->text == '{';
    bool in_place = n > 1 && strcmp(bits_of(types[0]), bits_of(types[1])) == 0 && !strstr(op->types, "pred");
    Text *text = malloc(sizeof *text);
    for (unsigned how = 0; how < 4; how++) {
        if ((how & ALIASED && !in_place) || (how && sequence)) continue;
        PtxCode *code = read_kernel(write_kernel(text, op, how), log, sizeof log);
        if (!code) {
            failures++;
            printf("%s isn't accepted: %s\n", op->text, log);
            break;
        }
        size_t most = how ? 2048 : in->n; /* a sample shows whether masks and aliases are respected */
        for (size_t at = 0; at < in->n && at < most; at += BATCH) {
            size_t batch = in->n - at < BATCH ? in->n - at : BATCH;
            run_batch(op, types[0], code, (const uint64_t(*)[3])in->x + at, batch < most ? batch : most, how);
        }
        ptx_unload(code, memory);
    }
    free(text);
}

void op_refused(const char *instruction_text, const char *types) {
    Op op = {.text = instruction_text, .types = types};
    char log[1024] = "";
    Text *text = malloc(sizeof *text);
    PtxCode *code = read_kernel(write_kernel(text, &op, 0), log, sizeof log);
    if (code) {
        failures++;
        printf("%s is accepted\n", instruction_text);
        ptx_unload(code, memory);
    }
    free(text);
}

/* ---- inputs -------------------------------------------------------------------------------------- */

uint64_t random_bits(void) {
    static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

#define COUNTED(name, ...)                                                                                             \
    const uint64_t name[] = {__VA_ARGS__};                                                                             \
    const size_t n_##name = sizeof name / sizeof *name;
COUNTED(special_ints, 0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 0x7fff, 0x8000,
        0x8001, 0xffff, 0x10000, 0x7fffff, 0x800000, 0xffffff, 0x12345678, 0x7fffffff, 0x80000000, 0x80000001,
        0xfffffffe, 0xffffffff, UINT64_C(0x100000000), UINT64_C(0x123456789abcdef0), INT64_MAX, UINT64_C(1) << 63,
        (UINT64_C(1) << 63) + 1, UINT64_MAX - 1, UINT64_MAX)
COUNTED(special_f32, 0, 0x80000000, 1, 0x80000001, 2, 0x7fffff, 0x807fffff, 0x800000, 0x80800000, 0x800001, 0x3f800000,
        0xbf800000, 0x3f800001, 0x3f7fffff, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40000000, 0x40200000, 0xc0200000,
        0x40490fdb, 0x4b000000, 0x4b7fffff, 0x4b800000, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x4f800000,
        0x5f000000, 0xdf000000, 0x5f800000, 0x7e800000, 0x7e800001, 0x7f000000, 0x7f7fffff, 0xff7fffff, 0x7f800000,
        0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0x33800000, 0x33800001, 0x34000000, 0x1, 0x00400000)
COUNTED(special_f64, 0, UINT64_C(0x8000000000000000), 1, UINT64_C(0x8000000000000001), UINT64_C(0x000fffffffffffff),
        UINT64_C(0x0010000000000000), UINT64_C(0x8010000000000000), UINT64_C(0x3ff0000000000000),
        UINT64_C(0xbff0000000000000), UINT64_C(0x3ff0000000000001), UINT64_C(0x3fefffffffffffff),
        UINT64_C(0x3fe0000000000000), UINT64_C(0x4000000000000000), UINT64_C(0x3fd5555555555555),
        UINT64_C(0x3ca0000000000000), UINT64_C(0x3ca0000000000001), UINT64_C(0x3cb0000000000000),
        UINT64_C(0x41dfffffffc00000), UINT64_C(0x41e0000000000000), UINT64_C(0xc1e0000000000000),
        UINT64_C(0x41f0000000000000), UINT64_C(0x43e0000000000000), UINT64_C(0x43dfffffffffffff),
        UINT64_C(0xc3e0000000000000), UINT64_C(0x43f0000000000000), UINT64_C(0x47efffffe0000000),
        UINT64_C(0x47efffffefffffff), UINT64_C(0x47effffff0000000), UINT64_C(0x36a0000000000000),
        UINT64_C(0x3690000000000000), UINT64_C(0x3690000000000001), UINT64_C(0x7fefffffffffffff),
        UINT64_C(0xffefffffffffffff), UINT64_C(0x7ff0000000000000), UINT64_C(0xfff0000000000000),
        UINT64_C(0x7ff8000000000000), UINT64_C(0xfff8000000000001), UINT64_C(0x5fe0000000000000),
        UINT64_C(0x1ff0000000000000), UINT64_C(0x2000000000000001), UINT64_C(0x4004000000000000))
COUNTED(special_f16, 0, 0x8000, 1, 0x8001, 0x3ff, 0x83ff, 0x400, 0x8400, 0x3c00, 0xbc00, 0x3c01, 0x3bff, 0x3800, 0x4000,
        0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0x7800, 0x0200, 0x1000, 0x4248)
COUNTED(special_bf16, 0, 0x8000, 1, 0x8001, 0x7f, 0x807f, 0x80, 0x8080, 0x3f80, 0xbf80, 0x3f81, 0x3f7f, 0x3f00, 0x4000,
        0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81, 0x7f00, 0x0040, 0x4049)

void inputs_add(Inputs *in, uint64_t a, uint64_t b, uint64_t c) {
    if (in->n == in->room) {
        in->room = in->room ? 2 * in->room : 1024;
        in->x = realloc(in->x, in->room * sizeof *in->x);
    }
    uint64_t *x = in->x[in->n++];
    x[0] = a, x[1] = b, x[2] = c;
}

void inputs_cross(Inputs *in, const uint64_t *list, size_t count, bool three) {
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            if (!three) {
                inputs_add(in, list[i], list[j], 0);
                continue;
            }
            for (size_t k = 0; k < 6; k++) inputs_add(in, list[i], list[j], list[random_bits() % count]);
        }
}

void inputs_random(Inputs *in, size_t n) {
    for (size_t i = 0; i < n; i++) inputs_add(in, random_bits(), random_bits(), random_bits());
}

void inputs_free(Inputs *in) {
    free(in->x);
    *in = (Inputs){NULL, 0, 0};
}

/* ---- comparisons ------------------------------------------------------------------------------------ */

const char *const float_relations[14] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                         "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
bool float_relation_holds(unsigned relation, double a, double b) {
    bool unordered = isnan(a) || isnan(b);
    if (relation >= 12) return unordered == (relation == 13);
    if (unordered) return relation >= 6;
    switch (relation % 6) {
    case 0: return a == b;
    case 1: return a != b;
    case 2: return a < b;
    case 3: return a <= b;
    case 4: return a > b;
    default: return a >= b;
    }
}
