/* verify.c - says in words which invariant of the IR a module breaks.
 *
 * Each check returns at the first violation, so that later checks may rely on earlier ones: first
 * the shape of the graph, then operands and types, then dominance. Everything else in this zone
 * relies on a module that passes. */
#include "ir.h"
#include "irtext.h"

#include <ctype.h>
#include <string.h>

typedef struct Verifier {
    const IrModule *m;
    DomTree tree;
    uint32_t *place; /* position of each Ref in its block, from 1; 0 = in no live block */
    char *error;
    Ref at; /* the instruction that is being looked at */
} Verifier;

/* Records the first message; always false, so that a check reads `return fail(...)`. */
__attribute__((format(printf, 2, 3))) static bool fail(Verifier *v, const char *fmt, ...) {
    if (v->error) return false;
    va_list ap;
    va_start(ap, fmt);
    char *text = arena_vprintf(v->m->arena, fmt, ap);
    va_end(ap);
    const Instr *in = v->at && v->at < v->m->instrs.n ? &v->m->instrs.at[v->at] : NULL;
    if (in && in->op < OP__COUNT)
        text = arena_printf(v->m->arena, "%s (value %u, block %u): %s", op_info[in->op].name, v->at, in->block, text);
    v->error = text;
    return false;
}

/* ---- the graph ------------------------------------------------------------------------------ */

static bool check_instr_shape(Verifier *v, BlockId b, uint32_t i) {
    const IrModule *m = v->m;
    const Block *block = &m->blocks.at[b];
    Ref r = block->instrs.at[i];
    v->at = r;
    if (r == REF_NONE || r >= m->instrs.n) return fail(v, "block %u lists value %u, which doesn't exist", b, r);
    const Instr *in = &m->instrs.at[r];
    if (in->op >= OP__COUNT) return fail(v, "value %u has no such operation (%u)", r, in->op);
    if (in->type >= T__COUNT) return fail(v, "no such type (%u)", in->type);
    if (in->block != b || v->place[r]) return fail(v, "stands in block %u but belongs to block %u", b, in->block);
    v->place[r] = i + 1;
    const OpInfo *info = &op_info[in->op];
    if (info->args != OP_VAR && in->nargs != (uint32_t)info->args)
        return fail(v, "takes %d operands, has %u", info->args, in->nargs);
    if (in->op == OP_PHI && i > 0 && m->instrs.at[block->instrs.at[i - 1]].op != OP_PHI)
        return fail(v, "a phi after other instructions");
    bool last = i + 1 == block->instrs.n;
    if (last != ((info->flags & ENDS) != 0))
        return fail(v, last ? "the block doesn't end" : "the block ends before its last instruction");
    if (in->span >= m->spans.n) return fail(v, "no such span (%u)", in->span);
    return true;
}

static bool check_successors(Verifier *v, BlockId b) {
    const Block *block = &v->m->blocks.at[b];
    v->at = block->instrs.at[block->instrs.n - 1];
    Op op = (Op)v->m->instrs.at[v->at].op;
    unsigned want = op == OP_BRANCH ? 2 : op == OP_JUMP ? 1 : 0;
    if (block->nsucc != want) return fail(v, "has %u successors, not %u", block->nsucc, want);
    return true;
}

/* How often b occurs among the successors of p and among the preds of the other must agree. */
static bool check_preds(Verifier *v, BlockId b) {
    const Block *block = &v->m->blocks.at[b];
    for (uint32_t i = 0; i < block->preds.n; i++) {
        BlockId p = block->preds.at[i];
        if (p >= v->m->blocks.n || v->m->blocks.at[p].dead)
            return fail(v, "block %u has the predecessor %u, which is dead", b, p);
        uint32_t listed = 0, edges = 0;
        for (uint32_t k = 0; k < block->preds.n; k++) listed += block->preds.at[k] == p;
        for (uint32_t s = 0; s < v->m->blocks.at[p].nsucc; s++) edges += v->m->blocks.at[p].succ[s] == b;
        if (listed != edges)
            return fail(v, "block %u lists the predecessor %u %u times, the edges say %u", b, p, listed, edges);
    }
    for (uint32_t i = 0; i < block->instrs.n; i++) {
        v->at = block->instrs.at[i];
        const Instr *in = &v->m->instrs.at[v->at];
        if (in->op != OP_PHI) break;
        if (!block->preds.n) return fail(v, "a phi in the entry block");
        if (in->nargs != block->preds.n) return fail(v, "%u operands for %u predecessors", in->nargs, block->preds.n);
        for (uint32_t k = 1; k < in->nargs; k++)
            if (block->preds.at[k] == block->preds.at[k - 1] && in->args[k] != in->args[k - 1])
                return fail(v, "two values from one predecessor");
    }
    return true;
}

static bool check_graph(Verifier *v) {
    const IrModule *m = v->m;
    if (!m->blocks.n) return fail(v, "no blocks");
    for (BlockId b = 0; b < m->blocks.n; b++)
        for (uint32_t s = 0; s < m->blocks.at[b].nsucc; s++)
            if (m->blocks.at[b].nsucc > 2 || m->blocks.at[b].succ[s] >= m->blocks.n)
                return fail(v, "block %u has a bad successor", b);
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, m->blocks.n);
    uint32_t live = ir_postorder(m, order), edges = 0, preds = 0;
    for (uint32_t i = 0; i < live; i++) {
        const Block *block = &m->blocks.at[order[i]];
        v->at = REF_NONE;
        if (block->dead) return fail(v, "block %u is marked dead but can be reached", order[i]);
        if (!block->instrs.n) return fail(v, "block %u is empty", order[i]);
        for (uint32_t k = 0; k < block->instrs.n; k++)
            if (!check_instr_shape(v, order[i], k)) return false;
        if (!check_successors(v, order[i])) return false;
        edges += block->nsucc;
        preds += block->preds.n;
    }
    v->at = REF_NONE;
    uint32_t marked = 0;
    for (BlockId b = 0; b < m->blocks.n; b++) marked += !m->blocks.at[b].dead;
    if (marked != live) return fail(v, "a block that can't be reached isn't marked dead");
    if (m->blocks.at[0].preds.n) return fail(v, "the entry block has predecessors");
    for (uint32_t i = 0; i < live; i++)
        if (!check_preds(v, order[i])) return false;
    v->at = REF_NONE;
    if (edges != preds) return fail(v, "%u edges, but %u predecessors are listed", edges, preds);
    return true;
}

/* ---- operands and types --------------------------------------------------------------------- */

static Type arg_type(const Verifier *v, const Instr *in, uint32_t i) { return v->m->instrs.at[in->args[i]].type; }

static bool check_args_defined(Verifier *v, const Instr *in) {
    for (uint32_t i = 0; i < in->nargs; i++) {
        Ref a = in->args[i];
        if (a == REF_NONE || a >= v->m->instrs.n || !v->place[a])
            return fail(v, "operand %u is value %u, which is not in the function", i, a);
        if (v->m->instrs.at[a].type == T_VOID) return fail(v, "operand %u has no value", i);
    }
    return true;
}

static bool check_leaf(Verifier *v, const Instr *in) {
    const IrModule *m = v->m;
    switch (in->op) {
    case OP_CONST:
        if (ir_wrap(in->type, in->imm) != in->imm) return fail(v, "the constant has bits beyond its type");
        return true;
    case OP_PARAM:
        if (in->imm >= m->params.n) return fail(v, "no such parameter");
        if (in->type != m->params.at[in->imm].type) return fail(v, "the parameter has another type");
        return true;
    case OP_SREG:
        if (in->type != T_I32 || in->sub >= SREG__COUNT) return fail(v, "a special register is an i32 of the list");
        if (m->host_function) return fail(v, "a host function has no threads");
        return true;
    case OP_ALLOCA:
        if (in->type != T_PTRL || in->imm == 0) return fail(v, "alloca gives a ptrl to at least one byte");
        if (in->sub > m->locals.n) return fail(v, "no such local array");
        return true;
    case OP_SHARED:
        if (in->type != T_PTRS) return fail(v, "shared gives a ptrs");
        if (in->imm >= m->shared.n) return fail(v, "no such shared array");
        return true;
    case OP_DATA:
        if (in->type != T_PTRC && in->type != T_PTR) return fail(v, "data gives a ptrc or ptr");
        if (in->imm >= m->data.n) return fail(v, "no such data");
        return true;
    default: return fail(v, "unknown operation");
    }
}

static bool check_math(Verifier *v, const Instr *in) {
    if (in->sub >= MATH__COUNT) return fail(v, "no such function");
    if (in->nargs != mathfn_args[in->sub])
        return fail(v, "%s takes %u operands", mathfn_names[in->sub], mathfn_args[in->sub]);
    Type t = arg_type(v, in, 0);
    if (t != T_F32 && t != T_F64) return fail(v, "functions take f32 or f64");
    for (uint32_t i = 1; i < in->nargs; i++)
        if (arg_type(v, in, i) != (in->sub == MATH_LDEXP ? T_I32 : t))
            return fail(v, "operand %u of %s has the wrong type", i, mathfn_names[in->sub]);
    if (in->type != (in->sub == MATH_ILOGB ? T_I32 : t))
        return fail(v, "%s has another result type", mathfn_names[in->sub]);
    return true;
}

/* ATOMIC and CAS: which operation takes which type. */
static bool check_atomic(Verifier *v, const Instr *in) {
    if (!type_is_ptr(arg_type(v, in, 0))) return fail(v, "works at a pointer");
    Type t = in->type;
    for (uint32_t i = 1; i < in->nargs; i++)
        if (arg_type(v, in, i) != t) return fail(v, "operand %u isn't of the result's type", i);
    if (!(type_takes(t) & op_info[in->op].takes)) return fail(v, "doesn't take %s", type_info[t].text);
    if (atomic_scope(in->sub) >= SCOPE__COUNT || atomic_order(in->sub) >= ORDER__COUNT || in->sub >> 9)
        return fail(v, "no such scope or order");
    if (in->op == OP_CAS) return atomic_op(in->sub) == 0 || fail(v, "cas has no operation");
    bool small = type_bits(t) < 32;
    switch (atomic_op(in->sub)) {
    case ATOMIC_ADD:
    case ATOMIC_SUB:
    case ATOMIC_MIN:
    case ATOMIC_MAX:
    case ATOMIC_EXCH: return true;
    case ATOMIC_FMIN:
    case ATOMIC_FMAX: return type_is_float(t) || fail(v, "is for floats");
    case ATOMIC_AND:
    case ATOMIC_OR:
    case ATOMIC_XOR: return type_is_int(t) || fail(v, "is for integers");
    case ATOMIC_INC:
    case ATOMIC_DEC: return (type_kind(t) == KIND_UINT && !small) || fail(v, "is for u32 and u64");
    default: return fail(v, "no such operation");
    }
}

/* Operations of several threads: an optional mask first, then a value. */
static bool check_together(Verifier *v, const Instr *in) {
    static const struct {
        uint8_t op, masked;
        Type arg, result;
    } rules[] = {
        /* T_VOID as argument: any that the row takes; as result: the argument's type */
        {OP_BARRIER_RED, 0, T_BOOL, T_I32}, {OP_SYNCWARP, 0, T_U32, T_VOID},  {OP_SHFL, 1, T_VOID, T_VOID},
        {OP_VOTE, 1, T_BOOL, T_BOOL},       {OP_MATCH, 1, T_VOID, T_U32},     {OP_REDUX, 1, T_VOID, T_VOID},
        {OP_ACTIVEMASK, 0, T_VOID, T_U32},  {OP_NANOSLEEP, 0, T_U32, T_VOID}, {OP_CLOCK, 0, T_VOID, T_I64},
    };
    unsigned k = 0;
    while (k < sizeof rules / sizeof *rules && rules[k].op != in->op) k++;
    if (k == sizeof rules / sizeof *rules) return in->nargs == 0 || fail(v, "takes no operands");
    if (rules[k].masked && arg_type(v, in, 0) != T_U32) return fail(v, "the mask is a u32");
    Type t = in->nargs > rules[k].masked ? arg_type(v, in, rules[k].masked) : T_VOID;
    if (rules[k].arg ? t != rules[k].arg : in->nargs && !(type_takes(t) & op_info[in->op].takes))
        return fail(v, "the operand has the wrong type");
    Type result = rules[k].result ? rules[k].result : t;
    if (in->op == OP_VOTE && in->sub == VOTE_BALLOT) result = T_U32;
    if (in->type != result && in->type != T_VOID) return fail(v, "the result has the wrong type");
    for (uint32_t i = 2; in->op == OP_SHFL && i < 4; i++)
        if (arg_type(v, in, i) != T_I32) return fail(v, "lane and width are i32");
    bool sums = in->sub == ATOMIC_ADD || in->sub == ATOMIC_MIN || in->sub == ATOMIC_MAX ||
                (in->sub >= ATOMIC_AND && in->sub <= ATOMIC_XOR);
    if (in->op == OP_REDUX && (!sums || type_bits(t) != 32)) return fail(v, "add, min, max, and, or, xor of 32 bits");
    return true;
}

/* What goes into a record for the host. */
static bool check_values(Verifier *v, const Instr *in, uint32_t most) {
    if (in->nargs > most) return fail(v, "%u values, and a record holds %u", in->nargs, most);
    for (uint32_t i = 0; i < in->nargs; i++)
        if (type_is_ptr(arg_type(v, in, i)) || arg_type(v, in, i) == T_VOID) return fail(v, "only numbers are shown");
    return true;
}

static bool check_ends(Verifier *v, const Instr *in) {
    const IrModule *m = v->m;
    if (in->op == OP_BRANCH && arg_type(v, in, 0) != T_BOOL) return fail(v, "the condition isn't a bool");
    if (in->op == OP_RAISE && in->imm >= m->sites.n) return fail(v, "no such site");
    if (in->op == OP_RAISE) return check_values(v, in, MOST_RAISE_VALUES);
    if (in->op == OP_RET) {
        uint32_t want = m->host_function ? m->nresults : 0;
        if (in->nargs != want) return fail(v, "returns %u values, the function has %u results", in->nargs, want);
        for (uint32_t i = 0; i < in->nargs; i++)
            if (arg_type(v, in, i) != m->results[i]) return fail(v, "result %u has the wrong type", i);
    }
    return true;
}

/* TYPING_FREE and TYPING_VOID: the rules that ops.def states in words. */
static bool check_special(Verifier *v, const Instr *in) {
    const OpInfo *info = &op_info[in->op];
    const IrModule *m = v->m;
    switch (in->op) {
    case OP_BITCAST:
        if (!(type_takes(in->type) & info->takes) || !(type_takes(arg_type(v, in, 0)) & info->takes) ||
            type_bytes(in->type) != type_bytes(arg_type(v, in, 0)))
            return fail(v, "between integers and floats of one size only");
        return true;
    case OP_MATH: return check_math(v, in);
    case OP_APPROX:
        if (in->sub >= APPROX__COUNT || in->nargs != approxfn_args[in->sub])
            return fail(v, "another number of operands");
        if (in->type != T_F32 || arg_type(v, in, 0) != T_F32 || arg_type(v, in, in->nargs - 1) != T_F32)
            return fail(v, "takes and gives f32");
        return true;
    case OP_ADDR:
        if (!type_is_ptr(in->type) || arg_type(v, in, 0) != in->type)
            return fail(v, "the result is a pointer of the operand's kind");
        if (arg_type(v, in, 1) != T_I32 && arg_type(v, in, 1) != T_I64) return fail(v, "the index is i32 or i64");
        return true;
    case OP_ALIGNED:
        if (!type_is_ptr(arg_type(v, in, 0)) || in->type != T_BOOL) return fail(v, "asks a pointer, and gives a bool");
        if (in->imm < 2 || in->imm > 16 || in->imm & (in->imm - 1)) return fail(v, "asks for 2, 4, 8 or 16 bytes");
        return true;
    case OP_ADDRESS:
        if (!type_is_ptr(arg_type(v, in, 0)) || in->type != T_I64) return fail(v, "asks a pointer, and gives an i64");
        return true;
    case OP_LOAD:
        if (!type_is_ptr(arg_type(v, in, 0))) return fail(v, "loads from a pointer");
        if (!(type_takes(in->type) & info->takes)) return fail(v, "can't load a %s", type_info[in->type].text);
        return true;
    case OP_STORE:
        if (!type_is_ptr(arg_type(v, in, 0))) return fail(v, "stores to a pointer");
        if (!(type_takes(arg_type(v, in, 1)) & info->takes))
            return fail(v, "can't store a %s", type_info[arg_type(v, in, 1)].text);
        return true;
    case OP_ATOMIC:
    case OP_CAS: return check_atomic(v, in);
    case OP_PAUSE:
    case OP_FENCE: return true;
    case OP_CALL: return in->imm < m->foreign.n || fail(v, "no such function");
    case OP_PRINT:
        if (in->imm >= m->prints.n) return fail(v, "no such message");
        return check_values(v, in, MOST_PRINT_VALUES);
    case OP_CLOCK: return check_together(v, in);
    default:
        return info->flags & ENDS ? check_ends(v, in) : info->flags & SYNC ? check_together(v, in) : check_leaf(v, in);
    }
}

/* `sub` where it holds flags or nothing; an enumeration is checked with the types. */
static bool check_sub(Verifier *v, const Instr *in) {
    unsigned allowed = 0;
    if (in->op == OP_ATOMIC || in->op == OP_CAS) return true; /* check_atomic() saw it */
    IrSubNames names = sub_names((Op)in->op);
    if (names.names) return in->sub < names.count || fail(v, "no such variant (%u)", in->sub);
    switch (in->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL: allowed = type_is_int((Type)in->type) ? ARITH_NO_WRAP : 0; break;
    case OP_FLOORDIV:
    case OP_TRUNCDIV: allowed = type_is_int((Type)in->type) ? DIVIDE_BY_POSITIVE | DIVIDE_NO_SIGN : 0; break;
    case OP_FLOORMOD:
    case OP_TRUNCMOD:
        if (!type_is_int((Type)in->type)) break;
        allowed = DIVIDE_BY_POSITIVE | DIVIDE_NO_SIGN | DIVIDE_FROM_MINUS | DIVIDE_ONCE | DIVIDE_BELOW;
        break;
    case OP_ADDR: allowed = ADDR_STEP; break;
    case OP_LOAD: allowed = MEM_UNALIGNED | MEM_VOLATILE | MEM_INVARIANT | MEM_HINTS | MEM_ALIGNS | MEM_ORDERED; break;
    case OP_STORE: allowed = MEM_UNALIGNED | MEM_VOLATILE | MEM_L2 | MEM_STREAM | MEM_ALIGNS; break;
    case OP_ALLOCA: return true; /* which local array: check_leaf() saw it */
    default: break;
    }
    if (in->sub & ~allowed) return fail(v, "flags %u don't belong here", in->sub);
    return true;
}

static bool check_types(Verifier *v, const Instr *in) {
    const OpInfo *info = &op_info[in->op];
    if ((info->typing == TYPING_VOID) != (in->type == T_VOID) && in->op != OP_CALL)
        return fail(v, in->type == T_VOID ? "needs a type" : "has no result");
    uint32_t first = info->typing == TYPING_SELECT ? 1 : 0;
    switch (info->typing) {
    case TYPING_CMP:
        if (in->type != T_BOOL || in->sub >= PRED__COUNT)
            return fail(v, "a comparison gives a bool by one of six predicates");
        if (arg_type(v, in, 0) != arg_type(v, in, 1))
            return fail(v, "compares %s with %s", type_info[arg_type(v, in, 0)].text,
                        type_info[arg_type(v, in, 1)].text);
        break;
    case TYPING_SELECT:
        if (arg_type(v, in, 0) != T_BOOL) return fail(v, "the condition isn't a bool");
        /* fall through */
    case TYPING_SAME:
        for (uint32_t i = first; i < in->nargs; i++)
            if (arg_type(v, in, i) != in->type)
                return fail(v, "operand %u is %s, the result %s", i, type_info[arg_type(v, in, i)].text,
                            type_info[in->type].text);
        if (in->op == OP_PRMT && in->type != T_U32) return fail(v, "is for u32");
        break;
    case TYPING_CONV: break;
    default: return check_special(v, in);
    }
    Type decides = in->nargs > first ? arg_type(v, in, first) : in->type;
    if (!(type_takes(decides) & info->takes)) return fail(v, "doesn't take %s", type_info[decides].text);
    if (!(type_takes(in->type) & (info->typing == TYPING_CMP ? TAKES_BOOL : info->takes)))
        return fail(v, "doesn't give %s", type_info[in->type].text);
    return true;
}

/* ---- dominance ------------------------------------------------------------------------------ */

static bool check_dominance(Verifier *v, const Instr *in) {
    for (uint32_t i = 0; i < in->nargs; i++) {
        Ref a = in->args[i];
        BlockId from = v->m->instrs.at[a].block;
        bool ok;
        if (in->op == OP_PHI) ok = ir_dominates(&v->tree, from, v->m->blocks.at[in->block].preds.at[i]);
        else if (from == in->block) ok = v->place[a] < v->place[v->at];
        else ok = ir_dominates(&v->tree, from, in->block);
        if (!ok) return fail(v, "operand %u (value %u, block %u) isn't defined on every way here", i, a, from);
    }
    return true;
}

static bool check_instrs(Verifier *v) {
    const IrModule *m = v->m;
    for (int dominance = 0; dominance < 2; dominance++) {
        for (BlockId b = 0; b < m->blocks.n; b++) {
            const Block *block = &m->blocks.at[b];
            if (block->dead) continue;
            for (uint32_t i = 0; i < block->instrs.n; i++) {
                v->at = block->instrs.at[i];
                const Instr *in = &m->instrs.at[v->at];
                bool ok = dominance ? check_dominance(v, in)
                                    : check_args_defined(v, in) && check_types(v, in) && check_sub(v, in);
                if (!ok) return false;
            }
        }
    }
    return true;
}

static bool check_header(Verifier *v) {
    const IrModule *m = v->m;
    if (!m->name || !*m->name) return fail(v, "no name");
    for (const char *c = m->name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != '$')
            return fail(v, "the name has the character '%c'", *c);
    if (m->nresults > MOST_RESULTS) return fail(v, "too many results");
    for (uint32_t i = 0; i < m->params.n; i++) {
        const IrParam *p = &m->params.at[i];
        bool pointer = p->type < T__COUNT && type_is_ptr(p->type);
        if (p->type == T_VOID || p->type >= T__COUNT || p->kind > PARAM_CAPTURED)
            return fail(v, "parameter %u has a bad type or kind", i);
        bool memory = p->kind == PARAM_DATA || p->kind == PARAM_CAPTURED;
        if (pointer != memory && !(pointer && p->kind == PARAM_SCALAR))
            return fail(v, "parameter %u: data and captured are pointers, and a scalar may be one", i);
        if ((p->kind == PARAM_SHAPE || p->kind == PARAM_STRIDE) && p->type != T_I64)
            return fail(v, "parameter %u: a shape or stride is an i64", i);
    }
    return true;
}

char *ir_verify(const IrModule *m) {
    Verifier v = {.m = m, .place = ARENA_ARRAY(m->arena, uint32_t, m->instrs.n)};
    if (!check_header(&v) || !check_graph(&v)) return v.error;
    v.tree = ir_dominators(m);
    check_instrs(&v);
    return v.error;
}
