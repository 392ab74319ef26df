/* codekit.c - see codekit.h. */
#define _POSIX_C_SOURCE 200809L
#include "codekit.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *kit_package_path(const char *name, char *out, size_t size) {
    ssize_t n = readlink("/proc/self/exe", out, size - strlen(name) - 32);
    if (n < 0) return NULL;
    out[n] = 0;
    char *slash = strrchr(out, '/');
    strcpy(slash, "/../lib/gpu/");
    return strcat(out, name);
}

const CompilerApi *kit_open(void) {
    char path[4096];
    void *library = dlopen(kit_package_path("libgpu_compiler.so", path, sizeof path), RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    const CompilerApi *(*get)(void);
    *(void **)&get = dlsym(library, "gpu_compiler");
    return get();
}

/* ---- kernels --------------------------------------------------------------------------------- */

static Ref emit(IrModule *m, Op op, Type t, uint32_t n, const Ref *args, uint16_t sub, uint64_t imm) {
    return ir_emit(m, 0, op, t, n, args, sub, imm, 0);
}

static Ref thread_number(IrModule *m) {
    Ref r[2] = {emit(m, OP_SREG, T_I32, 0, NULL, SREG_CTAID_X, 0), emit(m, OP_SREG, T_I32, 0, NULL, SREG_NTID_X, 0)};
    Ref s[2] = {emit(m, OP_MUL, T_I32, 2, r, 0, 0), emit(m, OP_SREG, T_I32, 0, NULL, SREG_TID_X, 0)};
    return emit(m, OP_ADD, T_I32, 2, s, 0, 0);
}

static Ref element(IrModule *m, uint32_t param, Ref i, Type t) {
    Ref at[2] = {emit(m, OP_PARAM, T_PTR, 0, NULL, 0, param), i};
    return emit(m, OP_ADDR, T_PTR, 2, at, 0, type_bytes(t));
}

static void add_param(IrModule *m, uint32_t flags, uint16_t leaf) {
    IrParam p = {.kind = PARAM_DATA, .type = T_PTR, .flags = (uint8_t)flags, .leaf = leaf, .name = "x"};
    VEC_PUSH(m->arena, &m->params, p);
}

/* Operands that aren't values of the type: of operation number `j`, operand k. REF_NONE: it is a value. */
static Ref special_operand(IrModule *m, const KitOp *op, uint32_t j, uint32_t k, Ref i) {
    bool atomic = op->op == OP_ATOMIC || op->op == OP_CAS;
    bool masked = op_info[op->op].flags & SYNC && op->nargs > 1;
    if (atomic && k == 0) return element(m, 3 + j, i, op->type);
    if (masked && k == 0) return ir_const(m, 0, T_U32, UINT32_MAX, 0);
    if (masked && k > 1) return ir_const(m, 0, T_I32, k == 2 ? 5 : 32, 0);
    return REF_NONE;
}

static Ref operand(IrModule *m, const KitOp *op, uint32_t j, uint32_t k, Ref i) {
    Ref special = special_operand(m, op, j, k, i);
    if (special != REF_NONE) return special;
    if (k == 1 && op->constant) return ir_const(m, 0, op->arg_type, *op->constant, 0);
    Type t = op->op == OP_SELECT && k == 0 ? T_BOOL : op->arg_type;
    if (op->op == OP_MATH && op->sub == MATH_LDEXP && k == 1) t = T_I32;
    Ref at = element(m, k % 3, i, t);
    return emit(m, OP_LOAD, t, 1, &at, 0, 0);
}

IrModule *kit_kernel_of(Arena *arena, const KitOp *ops, uint32_t n) {
    IrModule *m = ir_new(arena, "kernel");
    ir_block(m);
    for (uint16_t k = 0; k < 3; k++) add_param(m, PARAM_READONLY | PARAM_NOALIAS | PARAM_READ, k);
    Ref i = thread_number(m);
    for (uint32_t k = 0; k < n; k++) {
        add_param(m, PARAM_NOALIAS | PARAM_WRITTEN, (uint16_t)(3 + k));
        Ref args[4];
        for (uint32_t a = 0; a < ops[k].nargs; a++) args[a] = operand(m, &ops[k], k, a, i);
        Ref value[2];
        value[1] = emit(m, ops[k].op, ops[k].type, ops[k].nargs, args, ops[k].sub, 0);
        value[0] = element(m, 3 + k, i, ops[k].type);
        emit(m, OP_STORE, T_VOID, 2, value, 0, 0);
    }
    emit(m, OP_RET, T_VOID, 0, NULL, 0, 0);
    ir_edges(m);
    return m;
}

IrModule *kit_kernel(Arena *arena, const KitOp *op) { return kit_kernel_of(arena, op, 1); }

static bool takes(Op op, Type t) {
    static const uint8_t flag[] = {[KIND_BOOL] = TAKES_BOOL,
                                   [KIND_INT] = TAKES_INT,
                                   [KIND_UINT] = TAKES_INT,
                                   [KIND_FLOAT] = TAKES_FLOAT,
                                   [KIND_PTR] = TAKES_PTR};
    return op_info[op].takes & flag[type_kind(t)];
}

static Type math_result(MathFn fn, Type t) { return fn == MATH_ILOGB ? T_I32 : t; }

static uint32_t math_args(MathFn fn) {
    static const uint8_t args[] = {
#define MATHFN(name, n, ...) [MATH_##name] = n,
#include "../../compiler/mathfn.def"
#undef MATHFN
    };
    return args[fn];
}

static uint32_t approx_args(ApproxFn fn) {
    static const uint8_t args[] = {
#define APPROXFN(name, text, n, ...) [APPROX_##name] = n,
#include "../../compiler/approxfn.def"
#undef APPROXFN
    };
    return args[fn];
}

uint32_t kit_ops(Type t, KitOp *out, uint32_t max) {
    uint32_t n = 0;
    for (int i = 0; i < OP__COUNT; i++) {
        Op op = (Op)i;
        Typing typing = op_info[op].typing;
        if (!takes(op, t) || op == OP_PHI) continue;
        if (typing == TYPING_SAME && n < max) out[n++] = (KitOp){op, t, t, 0, (uint32_t)op_info[op].args, NULL};
        if (typing == TYPING_SELECT && n < max) out[n++] = (KitOp){op, t, t, 0, 3, NULL};
        for (uint16_t p = 0; typing == TYPING_CMP && p < PRED__COUNT && n < max; p++)
            out[n++] = (KitOp){op, T_BOOL, t, p, 2, NULL};
        for (uint16_t f = 0; op == OP_MATH && (t == T_F32 || t == T_F64) && f < MATH__COUNT && n < max; f++)
            out[n++] = (KitOp){op, math_result((MathFn)f, t), t, f, math_args((MathFn)f), NULL};
        for (uint16_t f = 0; op == OP_APPROX && t == T_F32 && f < APPROX__COUNT && n < max; f++)
            out[n++] = (KitOp){op, t, t, f, approx_args((ApproxFn)f), NULL};
    }
    return n;
}

/* One variant of an operation of several threads, if its row takes t. */
static void put_variant(Op op, Type result, Type t, uint16_t sub, KitOp *out, uint32_t *n, uint32_t max) {
    if (takes(op, t) && *n < max) out[(*n)++] = (KitOp){op, result, t, sub, (uint32_t)op_info[op].args, NULL};
}

uint32_t kit_together(Type t, KitOp *out, uint32_t max) {
    uint32_t n = 0;
    for (unsigned scope = 0; scope < SCOPE__COUNT; scope++) {
        for (unsigned order = 0; order < ORDER__COUNT; order++) {
            bool usual = scope == SCOPE_DEVICE && order == ORDER_RELAXED;
            for (unsigned op = 0; op < ATOMIC__COUNT; op++)
                if (usual || op == ATOMIC_ADD)
                    put_variant(OP_ATOMIC, t, t, ATOMIC_SUB_OF(op, scope, order), out, &n, max);
            put_variant(OP_CAS, t, t, ATOMIC_SUB_OF(0, scope, order), out, &n, max);
        }
    }
    for (uint16_t i = 0; i < SHFL__COUNT; i++) put_variant(OP_SHFL, t, t, i, out, &n, max);
    for (uint16_t i = 0; i < MATCH__COUNT; i++) put_variant(OP_MATCH, T_U32, t, i, out, &n, max);
    for (uint16_t i = 0; i < ATOMIC__COUNT; i++) put_variant(OP_REDUX, t, t, i, out, &n, max);
    for (uint16_t i = 0; i < VOTE__COUNT; i++)
        put_variant(OP_VOTE, i == VOTE_BALLOT ? T_U32 : T_BOOL, t, i, out, &n, max);
    for (uint16_t i = 0; i < BARRIER__COUNT; i++) put_variant(OP_BARRIER_RED, T_I32, t, i, out, &n, max);
    if (t == T_U32) put_variant(OP_ACTIVEMASK, T_U32, t, 0, out, &n, max);
    for (uint16_t i = 0; t == T_I64 && i < CLOCK__COUNT; i++) put_variant(OP_CLOCK, T_I64, t, i, out, &n, max);
    return n;
}

/* ---- values ---------------------------------------------------------------------------------- */

static uint32_t int_values(Type t, uint64_t *out, uint32_t max) {
    static const int64_t small[] = {0, 1, 2, 3, 5, 7, 8, 9, 10, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127};
    unsigned width = type_bits(t);
    uint32_t n = 0;
    for (unsigned i = 0; i < sizeof small / sizeof *small && n + 2 <= max; i++) {
        out[n++] = ir_wrap(t, (uint64_t)small[i]);
        out[n++] = ir_wrap(t, (uint64_t)-small[i]);
    }
    for (unsigned b = 6; b < width && n + 3 <= max; b += b < 20 ? 3 : 5) {
        out[n++] = ir_wrap(t, UINT64_C(1) << b);
        out[n++] = ir_wrap(t, (UINT64_C(1) << b) - 1);
        out[n++] = ir_wrap(t, (UINT64_C(0x9e3779b97f4a7c15) >> (63 - b)));
    }
    uint64_t top = UINT64_C(1) << (width - 1);
    const uint64_t limits[] = {top, top - 1, top + 1, top - 2, ~UINT64_C(0) >> (64 - width), 0x5555555555555555u};
    for (unsigned i = 0; i < 6 && n < max; i++) out[n++] = ir_wrap(t, limits[i]);
    return n;
}

static uint32_t float_values(Type t, uint64_t *out, uint32_t max) {
    static const double values[] = {
        0.0,          0.5,   1.0,    1.5,     2.0,   2.5,    3.0,      7.0,        0.1,        1.0 / 3.0,
        10.0,         127.5, 128.0,  255.49,  255.5, 256.0,  65504.0,  65519.9,    65520.0,    65536.0,
        1e-3,         1e-5,  6.1e-5, 5.96e-8, 3e-8,  1e6,    16777217, 2147483647, 4294967296, 9.3e18,
        1.8446744e19, 1e30,  3.4e38, 1e-38,   1e-44, 1e-300, 1e300,    HUGE_VAL};
    uint32_t n = 0;
    for (unsigned i = 0; i < sizeof values / sizeof *values && n + 2 <= max; i++) {
        out[n++] = ir_double_to_bits(t, values[i]);
        out[n++] = ir_double_to_bits(t, -values[i]);
    }
    uint64_t one = ir_double_to_bits(t, 1.0), inf = ir_double_to_bits(t, HUGE_VAL);
    const uint64_t bits[] = {1, 2, 3, one + 1, one - 1, inf - 1, inf - 2, inf + (inf >> 2), inf >> 5, (inf >> 5) | 1};
    for (unsigned i = 0; i < sizeof bits / sizeof *bits && n < max; i++) out[n++] = bits[i];
    return n;
}

uint32_t kit_values(Type t, uint64_t *out, uint32_t max) {
    if (t == T_BOOL) {
        out[0] = 0, out[1] = 1;
        return 2;
    }
    return type_is_float(t) ? float_values(t, out, max) : int_values(t, out, max);
}

/* ---- running --------------------------------------------------------------------------------- */

void kit_run(const Image *image, const void *params, uint32_t threads, uint32_t block) {
    ErrorRecord error = {0};
    uint32_t grid = (threads + block - 1) / block;
    CpuLaunch launch = {.grid = {grid, 1, 1}, .block = {block, 1, 1}, .error = &error};
    image->cpu_entry(params, &launch, 0, grid);
}

uint64_t kit_get(Type t, const void *array, uint32_t i) {
    uint64_t bits = 0;
    memcpy(&bits, (const char *)array + (size_t)i * type_bytes(t), type_bytes(t));
    return type_is_float(t) ? bits : ir_wrap(t, bits);
}

void kit_put(Type t, void *array, uint32_t i, uint64_t bits) {
    memcpy((char *)array + (size_t)i * type_bytes(t), &bits, type_bytes(t));
}

bool kit_same(Type t, uint64_t a, uint64_t b) {
    if (a == b) return true;
    return type_is_float(t) && isnan(ir_bits_to_double(t, a)) && isnan(ir_bits_to_double(t, b));
}
