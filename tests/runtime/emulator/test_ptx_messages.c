/* test_ptx_messages.c - what the reader says of PTX that is wrong: the line, and what is the matter with it. Nothing is
 * guessed, nothing crashes, and several mistakes are told at once. */
#include "launch.h"

#define K(body)                                                                                                        \
    HEAD ".visible .entry k(.param .u64 p) {\n.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; "  \
         ".reg .f16 %h;\n" body "\nret;\n}\n"
/* Lines of the body begin here. */
#define BODY 6

static Memory *memory;
static char log_text[8192];

static PtxLog read_all(const PtxSource *sources, uint32_t n) {
    PtxLog log = {.buffer = log_text, .size = sizeof log_text};
    log_text[0] = 0;
    PtxCode *code = ptx_load(sources, n, memory, 90, &log);
    if (code && log.errors) failures++, printf("loaded in spite of errors:\n%s", log_text);
    ptx_unload(code, memory);
    return log;
}

static PtxLog read_text(const char *text) { return read_all(&(PtxSource){text, strlen(text), "k.ptx"}, 1); }

typedef struct Case {
    const char *text;
    uint32_t line;
    const char *message;
} Case;

static void expect(const Case *c) {
    char at[40];
    PtxLog log = read_text(c->text);
    snprintf(at, sizeof at, "k.ptx, line %u; error   : ", c->line);
    const char *place = c->line ? strstr(log_text, at) : log_text;
    if (!log.errors || !place || !strstr(place, c->message))
        failures++, printf("%s\nwanted: line %u, %s\ngot: %s\n", c->text, c->line, c->message, log_text);
}

static void messages(void) {
    static const Case cases[] = {
        {"", 1, "the text ends where .version"},
        {"hello", 1, "near 'hello'"},
        {HEAD ".visible .entry k(", 4, "the text ends"},
        {HEAD ".visible .entry k() {", 4, "the text ends where '}'"},
        {".version 8.0\n.target sm_100\n", 2, "cannot be compiled for architecture 'sm_90'"},
        {".version 8.0\n.target sm_80\n.address_size 32\n", 3, "Unsupported .address_size 32"},
        /* instructions */
        {K("addd.u32 %r1, %r2, %r3;"), BODY, "Not a name of any known instruction: 'addd'"},
        {K("add.foo.u32 %r1, %r2, %r3;"), BODY, "modifier '.foo' of instruction 'add'"},
        {K("add.wide.u32 %r1, %r2, %r3;"), BODY, "modifier '.wide' of instruction 'add'"},
        {K("add.u8 %r1, %r2, %r3;"), BODY, "'add.u8'"},
        {K("add %r1, %r2, %r3;"), BODY, "Type is missing for instruction 'add'"},
        {K("and.f32 %f1, %f2, %f3;"), BODY, "Unsupported form of an instruction: 'and.f32'"},
        {K("wgmma.fence.sync.aligned;"), BODY, "'wgmma'"},
        /* operands */
        {K("add.u32 %r1, %r2;"), BODY, "Arguments mismatch for instruction 'add.u32'"},
        {K("add.u32 %r1, %r2, %r3, %r4;"), BODY, "Arguments mismatch"},
        {K("add.u32 %r1, %r2, %rd3;"), BODY, "Arguments mismatch"},
        {K("add.u32 %r1, %r2.b0, %r3;"), BODY, "near '.b0'"},
        {K("ld.global.u32 %r1, [%rd1.b0];"), BODY, "near '.b0'"},
        {K("vadd.u32.u32.u32 %r1.b0, %r2, %r3;"), BODY, "Unsupported form"},
        {K("add.f32 %f1, %f2, 1;"), BODY, "Arguments mismatch"},
        {K("add.f16 %h, %h, 1;"), BODY, "Arguments mismatch"},
        {K("add.u32 %r1, %r2, 1.5;"), BODY, "Arguments mismatch"},
        {K("add.u32 5, %r2, %r3;"), BODY, "Arguments mismatch"},
        {K("mov.u32 %tid.x, %r2;"), BODY, "Arguments mismatch"},
        {K("add.u32 %r1, _, %r3;"), BODY, "Arguments mismatch"},
        {K("add.u32 %r1, !%r2, %r3;"), BODY, "Arguments mismatch"},
        {K("add.u32 %r1|%p1, %r2, %r3;"), BODY, "Arguments mismatch"},
        {K("add.u32 %r1, [%rd1], %r3;"), BODY, "Arguments mismatch"},
        {K("add.u32 %r1, %r2, %r9;"), BODY, "Unknown symbol '%r9'"},
        {K("add.u32 %r1, %r2, foo;"), BODY, "Unknown symbol 'foo'"},
        {K("ld.global.u32 %r1, %rd1;"), BODY, "Arguments mismatch"},
        {K("ld.global.v2.u32 {%r1, %r2, %r3}, [%rd1];"), BODY, "Wrong number of vector elements"},
        {K("ld.global.u32 {%r1, %r2}, [%rd1];"), BODY, "Wrong number of vector elements"},
        {K("ld.global.v2.u32 %r1, [%rd1];"), BODY, "Vector operand expected"},
        {K("ld.global.u32 %r1, [p];"), BODY, "State space mismatch"},
        {K("ld.shared.u32 %r1, [%f1];"), BODY, "Arguments mismatch"},
        {K("mov.b64 {%r1, %r2, %r3}, %rd1;"), BODY, "Arguments mismatch"},
        {K("@%r1 add.u32 %r1, %r2, %r3;"), BODY, "a predicate is expected"},
        {K("add.u32 %r1, %r2, 1 / 0;"), BODY, "Division by zero"},
        {K("add.u32 %r1, %r2 %r3;"), BODY, "',' is expected"},
        /* control */
        {K("bra NOWHERE;"), BODY, "Unknown label 'NOWHERE'"},
        {K("{ L: }\nbra L;"), BODY + 1, "Unknown label 'L'"},
        {K("L: bra L;\nL: bra L;"), BODY + 1, "Duplicate definition of label 'L'"},
        {K("T: .branchtargets A, B;\nA: brx.idx %r1, T;"), BODY, "Unknown label 'B'"},
        {K("bra %r1;"), BODY, "Arguments mismatch"},
        {K("call f;"), BODY, "Unknown symbol 'f'"},
        {K("call %rd1, ();"), BODY, "Prototype is missing"},
        {HEAD ".func f(.param .u32 a) { ret; }\n.entry k() { call f;\nret; }\n", 5, "Wrong number of arguments"},
        {HEAD ".func f(.param .u32 a) { ret; }\n.entry k() { .param .u64 x; call f, (x);\nret; }\n", 5,
         "does not match formal parameter 'a'"},
        {HEAD ".entry f() { ret; }\n.entry k() { call f;\nret; }\n", 5, "No device function in call of 'f'"},
        {HEAD ".extern .func f();\n.entry k() { call f;\nret; }\n", 4, "Unresolved extern function 'f'"},
        {HEAD ".extern .global .u32 x;\n.entry k() { .reg .b64 %r; mov.u64 %r, x;\nret; }\n", 4,
         "Unresolved extern variable 'x'"},
        /* declarations */
        {HEAD ".global .u32 x;\n.global .u32 x;\n", 5, "Duplicate definition of variable 'x'"},
        {HEAD ".func f() { ret; }\n.func f() { ret; }\n", 5, "Duplicate definition of function 'f'"},
        {K(".reg .b32 %r1, %x;\n.reg .b64 %x;"), BODY + 1, "Duplicate definition of '%x'"},
        {HEAD ".global .u32 x[2] = {1, 2, 3};\n", 4, "Too many initial values for variable 'x'"},
        {HEAD ".shared .u32 x = 1;\n", 4, "cannot be initialised"},
        {HEAD ".global .u32 x = nothing;\n", 4, "needs a 64-bit element"},
        {HEAD ".global .u64 x = nothing;\n", 4, "Unknown symbol 'nothing'"},
        {HEAD ".global .u32 x = 0f3F8;\n", 4, "near '0f3F8'"},
        {HEAD ".global .align 3 .u32 x;\n", 4, "a power of two"},
        {HEAD ".global .u32 x[-1];\n", 4, "isn't negative"},
        {HEAD ".global .u32 x[4294967295][4294967295];\n", 4, "Variable 'x' is too large"},
        {HEAD ".global .texref t;\n", 4, "Textures and surfaces are not supported"},
        {HEAD ".entry k() { .shared .b8 x[50000]; .reg .b32 %r; mov.u32 %r, x; ret; }\n", 0,
         "Entry function 'k' uses too much shared data (0xc350 bytes, 0xc000 max)"},
        {HEAD ".entry k() { .local .b8 x[600000]; ret; }\n", 0, "Function 'k' uses too much local memory"},
        {HEAD ".const .b8 x[70000];\n", 0, "too much global constant data"},
        {HEAD ".global .b8 x[1099511627776];\n", 0, "Out of memory for variable 'x'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) expect(&cases[i]);
}

static uint32_t count(const char *text, const char *what) {
    uint32_t n = 0;
    for (const char *p = text; (p = strstr(p, what)); p++) n++;
    return n;
}

/* The line itself stands below each message; after one mistake the next is found; after twenty it is enough. */
static void several_mistakes_at_once(void) {
    PtxLog log = read_text(K("addd.u32 %r1, {%r2, %r3}, 5;\n"
                             "  mul.lo.u32 %r1, %r2, nothing +;\n"
                             "sub.u32 %r1, %r2, %r77;\n"
                             "sub.u32 %r1, %r2, %r77;"));
    EQUAL(log.errors, 3);
    CHECK(strstr(log_text, "    mul.lo.u32 %r1, %r2, nothing +;\n") != NULL);
    CHECK(strstr(log_text, "Unknown symbol '%r77'") != NULL);
    char text[4000] = HEAD ".entry k() {\n";
    for (int i = 0; i < 50; i++) strcat(text, "foo.u32 a;\n");
    strcat(text, "}\n");
    read_text(text);
    EQUAL(count(log_text, "error   :"), 20);
    CHECK(strstr(log_text, "more errors are not shown") != NULL);
}

static void linking(void) {
    static const char *const f = HEAD ".visible .func f() { ret; }\n",
                             *use = HEAD ".extern .func f();\n.entry k() { call f;\nret; }\n";
    PtxSource twice[] = {{f, strlen(f), "one"}, {f, strlen(f), "two"}};
    read_all(twice, 2);
    CHECK(strstr(log_text, "Multiple definition of 'f' in 'two', first defined in 'one'") != NULL);
    PtxSource missing[] = {{use, strlen(use), "one"}, {HEAD, strlen(HEAD), "two"}};
    read_all(missing, 2);
    CHECK(strstr(log_text, "Undefined reference to 'f' in 'one'") != NULL);
}

/* Any piece of a text is refused or read; a log that is too short stays a string. */
static void pieces_of_a_text(void) {
    const char *text = K("L: add.u32 %r1, %r2, 3; ld.global.v2.u32 {%r1, _}, [%rd1+8];\n"
                         "@!%p1 bra L; { .param .b32 a; st.param.b32 [a], 0x7f; }");
    size_t n = strlen(text);
    for (size_t i = 0; i <= n; i++) {
        char *piece = malloc(i + 1); /* so that reading behind it is found */
        memcpy(piece, text, i);
        PtxLog log = {.buffer = log_text, .size = i % 40};
        memset(log_text, 'x', 41);
        PtxCode *code = ptx_load(&(PtxSource){piece, i, "k.ptx"}, 1, memory, 90, &log);
        CHECK(!code == !!log.errors);
        CHECK(i == 0 || log.size == 0 || !log.errors || memchr(log_text, 0, log.size));
        ptx_unload(code, memory);
        free(piece);
    }
}

int main(void) {
    memory = memory_open(UINT64_C(1) << 32);
    messages();
    several_mistakes_at_once();
    linking();
    pieces_of_a_text();
    memory_close(memory);
    printf("%s\n", failures ? "failed" : "ok");
    return failures != 0;
}
