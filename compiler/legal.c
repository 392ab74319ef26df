/* legal.c - operation x type x target: emitted by LLVM itself, expanded by us, or refused.
 *
 * What LLVM can't select ends the process, so nothing gets there that this file doesn't let through:
 * compile() runs legal_check() on the finished IR, and a test compiles everything that isn't refused for
 * every GPU. */
#include "legal.h"

#include "emit.h"
#include "lower.h"

#include <ctype.h>
#include <string.h>

enum { CONSTANT_BYTES = 65536, PARAM_BYTES = 4096, PARAM_BYTES_LARGE = 32764 };
/* PTX versions that first have the instruction for tanh on sm_75, labels in debug information, more parameters. */
enum { PTX_TANH = 70, PTX_DEBUG = 75, PTX_LARGE_PARAMS = 81 };

/* Arithmetic on f16 and bf16 goes through f32, but for f16's own instructions on GPUs. */
static Legality small_float(Op op, Type t, const CompileOptions *o) {
    bool native =
        t == T_F16 && o->target == TARGET_PTX && (op == OP_ADD || op == OP_SUB || op == OP_MUL || op == OP_FMA);
    return native ? LEGAL_NATIVE : LEGAL_EXPAND;
}

static Legality math(Type t, uint16_t sub, const CompileOptions *o) {
    if ((t != T_F32 && t != T_F64) || sub >= MATH__COUNT) return LEGAL_REFUSE;
    if (math_info[sub].native) return LEGAL_NATIVE;
    if (o->target == TARGET_CPU) return LEGAL_EXPAND;
    return o->libdevice || o->libclc_dir ? LEGAL_EXPAND : LEGAL_REFUSE;
}

/* fmod comes from the library. */
static bool needs_library(Op op, Type t) {
    return type_is_float(t) && (op == OP_FLOORDIV || op == OP_FLOORMOD || op == OP_TRUNCMOD);
}

/* Atomics by CAS: floats but for f32 and f64 sums, and small types inside the word around them. */
static Legality atomic(Op op, Type t, uint16_t sub) {
    AtomicOp what = atomic_op(sub);
    bool sum = what == ATOMIC_ADD || what == ATOMIC_SUB, bits = what >= ATOMIC_AND && what <= ATOMIC_XOR;
    bool wraps = what == ATOMIC_INC || what == ATOMIC_DEC;
    if (t == T_BOOL || (op == OP_CAS && what)) return LEGAL_REFUSE;
    if (wraps) return t == T_U32 || t == T_U64 ? LEGAL_NATIVE : LEGAL_REFUSE;
    if (what == ATOMIC_FMIN || what == ATOMIC_FMAX) return type_is_float(t) ? LEGAL_EXPAND : LEGAL_REFUSE;
    if (type_is_float(t)) {
        if (bits) return LEGAL_REFUSE;
        return (sum && type_bits(t) >= 32) || what == ATOMIC_EXCH || op == OP_CAS ? LEGAL_NATIVE : LEGAL_EXPAND;
    }
    return type_bits(t) < 32 ? LEGAL_EXPAND : LEGAL_NATIVE;
}

/* Operations that wait for other threads, and shared memory. */
static Legality together(Op op, Type t, uint16_t sub, const CompileOptions *o) {
    if (op == OP_GRIDSYNC) return o->target == TARGET_CPU ? LEGAL_NATIVE : LEGAL_EXPAND;
    if (op == OP_REDUX) {
        bool known =
            sub == ATOMIC_ADD || sub == ATOMIC_MIN || sub == ATOMIC_MAX || (sub >= ATOMIC_AND && sub <= ATOMIC_XOR);
        if (!known || type_bits(t) != 32 || !type_is_int(t)) return LEGAL_REFUSE;
        return o->sm >= 80 && o->target == TARGET_PTX ? LEGAL_NATIVE : LEGAL_EXPAND;
    }
    if (o->target == TARGET_CPU) return op == OP_SHARED ? LEGAL_NATIVE : LEGAL_EXPAND;
    bool words = op == OP_SHFL || op == OP_MATCH;
    return words && type_bits(t) != 32 ? LEGAL_EXPAND : LEGAL_NATIVE;
}

Legality legal_operation(Op op, Type t, uint16_t sub, const CompileOptions *o) {
    if (op_info[op].takes != TAKES_ANY && !(op_info[op].takes & type_takes(t))) return LEGAL_REFUSE;
    if (op == OP_MATH) return math(t, sub, o);
    if (op == OP_ATOMIC || op == OP_CAS) return atomic(op, t, sub);
    bool of_block = op == OP_SHARED || (op == OP_SREG && sub == SREG_DYNAMIC_SHARED);
    if (op_info[op].flags & SYNC || of_block) return together(op, t, sub, o);
    if (op == OP_PRMT) return t != T_U32 ? LEGAL_REFUSE : o->target == TARGET_PTX ? LEGAL_NATIVE : LEGAL_EXPAND;
    if (needs_library(op, t) && o->target == TARGET_PTX && !o->libdevice && !o->libclc_dir) return LEGAL_REFUSE;
    bool small = t == T_F16 || t == T_BF16;
    switch (op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_DIV:
    case OP_FMA: return small ? small_float(op, t, o) : LEGAL_NATIVE;
    case OP_FLOORDIV:
    case OP_FLOORMOD:
    case OP_TRUNCDIV:
    case OP_TRUNCMOD:
    case OP_POW:
    case OP_SHL:
    case OP_SHR:
    case OP_MULHI:
    case OP_MIN:
    case OP_MAX:
    case OP_FMIN:
    case OP_FMAX:
    case OP_NANMIN:
    case OP_NANMAX:
    case OP_PRINT:
    case OP_RAISE: return LEGAL_EXPAND;
    case OP_CONVERT:
    case OP_CMP:
    case OP_ABS:
    case OP_NEG: return small ? LEGAL_EXPAND : LEGAL_NATIVE;
    default: return LEGAL_NATIVE;
    }
}

/* The type that decides about an instruction. */
static Type deciding_type(const IrModule *m, const Instr *in) {
    bool second = in->op == OP_STORE || in->op == OP_SELECT || in->op == OP_ATOMIC || in->op == OP_CAS ||
                  (op_info[in->op].flags & SYNC && in->nargs > 1);
    if (second) return (Type)m->instrs.at[in->args[1]].type;
    if (in->op == OP_LOAD || in->nargs == 0 || in->op == OP_PHI) return (Type)in->type;
    return (Type)m->instrs.at[in->args[0]].type;
}

static char *check_instr(const IrModule *m, const Instr *in, const CompileOptions *o) {
    Type t = deciding_type(m, in);
    if (op_info[in->op].flags & ENDS) return NULL;
    if (legal_operation((Op)in->op, t, in->sub, o) != LEGAL_REFUSE) return NULL;
    const char *what = in->op == OP_MATH && in->sub < MATH__COUNT ? mathfn_names[in->sub] : op_info[in->op].name;
    const char *why = o->target == TARGET_PTX && !o->libdevice && !o->libclc_dir
                          ? "the library of math functions was not found"
                          : "the target has no such operation";
    return arena_printf(m->arena, "%s of %s can't be compiled: %s", what, type_info[t].text, why);
}

static char *check_sizes(const IrModule *m, const CompileOptions *o) {
    if (o->target != TARGET_PTX) return NULL;
    size_t constant = 0;
    for (uint32_t i = 0; i < m->data.n; i++) constant += m->data.at[i].in_const ? m->data.at[i].size : 0;
    if (constant > CONSTANT_BYTES)
        return arena_printf(m->arena, "the kernel's constant arrays take %zu bytes; a GPU has %d", constant,
                            CONSTANT_BYTES);
    uint32_t end = 0, most = o->ptx_version >= PTX_LARGE_PARAMS ? PARAM_BYTES_LARGE : PARAM_BYTES;
    const char *first = NULL;
    for (uint32_t i = 0; i < m->params.n; i++) {
        param_offset(&end, (Type)m->params.at[i].type);
        if (end > most && !first) first = m->params.at[i].name;
    }
    if (!first) return NULL;
    return arena_printf(
        m->arena, "the kernel's parameters take %u bytes, and %u fit: from '%s' on there is no room; pass an array",
        end, most, first);
}

static bool has_tanh(const IrModule *m) {
    for (Ref r = 1; r < m->instrs.n; r++)
        if (m->instrs.at[r].op == OP_APPROX && m->instrs.at[r].sub == APPROX_TANH) return true;
    return false;
}

/* Code that needs more than the lowest version is made for one that has it, if the caller leaves it open. */
uint16_t legal_ptx_version(const IrModule *m, const CompileOptions *o) {
    uint32_t end = 0;
    uint16_t lowest;
    if (o->target != TARGET_PTX || o->ptx_version || !target_known(o->sm, o->sm_suffix, &lowest)) return o->ptx_version;
    for (uint32_t i = 0; i < m->params.n; i++) param_offset(&end, (Type)m->params.at[i].type);
    uint16_t least = end > PARAM_BYTES ? PTX_LARGE_PARAMS : o->debug ? PTX_DEBUG : has_tanh(m) ? PTX_TANH : 0;
    return lowest < least ? least : o->ptx_version;
}

/* LLVM ends the process for a symbol that PTX can't spell. */
static char *check_form(const IrModule *m, const CompileOptions *o) {
    for (const char *c = m->name; *c; c++)
        if (!strchr("_$", *c) && !isalnum((unsigned char)*c))
            return arena_printf(m->arena, "'%s' can't be the name of a kernel's symbol", m->name);
    if (!m->host_function || o->target != TARGET_PTX) return NULL;
    if (m->sites.n) /* who calls it has no record for it */
        return arena_printf(m->arena, "%s raises an exception: as a device function for other code it can't", m->name);
    if (m->prints.n) return arena_printf(m->arena, "%s prints: as a device function for other code it can't", m->name);
    return NULL;
}

char *legal_check(const IrModule *m, const CompileOptions *o) {
    char *error = check_form(m, o);
    if (!error) error = check_sizes(m, o);
    for (uint32_t b = 0; b < m->blocks.n && !error; b++) {
        const Block *block = &m->blocks.at[b];
        for (uint32_t i = 0; i < block->instrs.n && !error && !block->dead; i++)
            error = check_instr(m, &m->instrs.at[block->instrs.at[i]], o);
    }
    return error;
}
