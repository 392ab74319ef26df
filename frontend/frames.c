/* frames.c - where the values of a function that calls itself are while it does.
 *
 * recursion.c has built a body and calls of it, each of which still goes straight on. Here, recursion by recursion,
 * inner ones first:
 *
 *   - what a call passes on unchanged in every call isn't passed, and what has no operands moves to the kernel's entry;
 *   - the values that are defined in the body and still used after a call are stored before it and loaded after it;
 *   - calls jump to the entry, and from the exit a chain of comparisons with the frame's number leads back;
 *   - a value that is loaded has several definitions now: PHIs join them again.
 *
 * A frame: the number of the call that made it, the activation's arrays, then what its call saves, which ends where
 * the callee's frame begins. Places are offsets in one stack, so the address of a caller's frame is known from the
 * callee's. All are IR instructions as others, and the passes and back ends know nothing of recursion. */
#include "evaluator.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_STACK = 256 * 1024 /* bytes of each thread */ };

typedef struct Saved {
    Ref value, loaded;
    uint32_t offset;
} Saved;

typedef VEC(Saved) SavedVec;

typedef struct Frames {
    Eval *e;
    IrModule *m;
    Recursion *r;
    uint32_t unit;    /* what places are multiples of */
    bool *inside;     /* blocks from the entry to the exit */
    uint32_t *number; /* by Ref, of the first `numbered`: values defined inside, from 1; others 0 */
    Ref *value;       /* by number */
    uint32_t n, words, numbered;
    uint64_t *live;         /* at the start of each block, before its PHIs */
    uint32_t *first_use;    /* by number: where its blocks begin in `use`; the next one's are the end of it */
    BlockId *use;           /* the blocks that have a value as an operand */
    const CallAgain **call; /* by block: that leaves from its end, and isn't connected yet */
    SavedVec *saved;        /* by call */
    uint32_t *bytes;        /* by call: of what is saved */
    Ref *at_start;          /* by block, of the value being repaired; REF_NONE: not asked yet */
    Ref *at_end;            /* by block: REF_NONE: as at the start */
} Frames;

static Instr *instr(const Frames *F, Ref r) { return &F->m->instrs.at[r]; }
static bool is_dead(const Frames *F, const CallAgain *c) { return F->m->blocks.at[c->from].dead; }
static uint32_t rounded(uint32_t bytes, uint32_t unit) { return (bytes + unit - 1) / unit * unit; }
static void set_const(IrModule *m, Ref r, uint32_t v) {
    if (r != REF_NONE) m->instrs.at[r].imm = v;
}

static Ref emit(Frames *F, BlockId b, Op op, Type t, uint32_t n, const Ref *args, uint64_t imm) {
    return e_emit_early(F->e, b, op, t, n, args, imm);
}

static Ref constant(Frames *F, Type t, int64_t v) { return emit(F, 0, OP_CONST, t, 0, NULL, ir_wrap(t, (uint64_t)v)); }

/* ---- the body's blocks and values -------------------------------------------------------------------- */
static void find_inside(Frames *F) {
    IrModule *m = F->m;
    VEC(BlockId) todo = {0};
    F->inside = ARENA_ARRAY(m->arena, bool, m->blocks.n);
    VEC_PUSH(m->arena, &todo, F->r->entry);
    while (todo.n) {
        BlockId b = todo.at[--todo.n];
        if (F->inside[b] || b == F->r->done) continue;
        F->inside[b] = true;
        for (uint32_t s = 0; s < m->blocks.at[b].nsucc; s++) VEC_PUSH(m->arena, &todo, m->blocks.at[b].succ[s]);
    }
}

/* What has no operands is the same everywhere: it is computed in the kernel's entry. */
static void hoist(Frames *F) {
    IrModule *m = F->m;
    RefVec moved = {0};
    for (BlockId b = 1; b < m->blocks.n; b++) {
        Block *block = &m->blocks.at[b];
        uint32_t kept = 0;
        for (uint32_t i = 0; F->inside[b] && i < block->instrs.n; i++) {
            Ref r = block->instrs.at[i];
            const Instr *in = instr(F, r);
            bool free = in->nargs == 0 && in->op != OP_PHI && op_info[in->op].flags & PURE;
            if (free) VEC_PUSH(m->arena, &moved, r);
            else block->instrs.at[kept++] = r;
        }
        if (F->inside[b]) block->instrs.n = kept;
    }
    Block *entry = &m->blocks.at[0];
    Ref end = entry->instrs.at[--entry->instrs.n];
    for (uint32_t i = 0; i < moved.n; i++) {
        instr(F, moved.at[i])->block = 0;
        VEC_PUSH(m->arena, &entry->instrs, moved.at[i]);
    }
    VEC_PUSH(m->arena, &entry->instrs, end);
}

static void replace_in(RefVec *refs, const Ref *by) {
    for (uint32_t i = 0; i < refs->n; i++)
        if (by[refs->at[i]]) refs->at[i] = by[refs->at[i]];
}

/* by[r]: what stands for r from now on; REF_NONE: r itself. */
static void replace_values(Frames *F, const Ref *by) {
    for (Ref r = 1; r < F->m->instrs.n; r++) {
        Instr *in = instr(F, r);
        for (uint32_t k = 0; k < in->nargs; k++)
            if (by[in->args[k]]) in->args[k] = by[in->args[k]];
    }
    for (uint32_t i = 0; i < F->e->recursions.n; i++) {
        Recursion *r = F->e->recursions.at[i];
        replace_in(&r->results, by);
        for (uint32_t k = 0; k < r->calls.n; k++) replace_in(&r->calls.at[k].args, by);
    }
}

static bool is_passed_on(const Frames *F, uint32_t param) {
    for (uint32_t k = 0; k < F->r->calls.n; k++) {
        const CallAgain *c = &F->r->calls.at[k];
        if (!is_dead(F, c) && c->args.at[param] != F->r->params.at[param]) return false;
    }
    return true;
}

static void drop_from_block(Block *b, Ref r) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < b->instrs.n; i++)
        if (b->instrs.at[i] != r) b->instrs.at[kept++] = b->instrs.at[i];
    b->instrs.n = kept;
}

/* Parameters that all calls pass on as they are have the first call's value. */
static void drop_params(Frames *F) {
    Ref *by = ARENA_ARRAY(F->m->arena, Ref, F->m->instrs.n);
    bool any = false;
    for (uint32_t i = 0; i < F->r->params.n; i++) {
        Ref phi = F->r->params.at[i];
        if (!is_passed_on(F, i)) continue;
        by[phi] = instr(F, phi)->args[0];
        F->r->params.at[i] = REF_NONE;
        drop_from_block(&F->m->blocks.at[F->r->entry], phi);
        any = true;
    }
    if (any) replace_values(F, by);
}

static void number_values(Frames *F) {
    IrModule *m = F->m;
    F->number = ARENA_ARRAY(m->arena, uint32_t, m->instrs.n);
    F->value = ARENA_ARRAY(m->arena, Ref, m->instrs.n + 1);
    F->numbered = m->instrs.n;
    for (BlockId b = 0; b < m->blocks.n; b++) {
        const Block *block = &m->blocks.at[b];
        for (uint32_t i = 0; F->inside[b] && i < block->instrs.n; i++) {
            if (instr(F, block->instrs.at[i])->type == T_VOID) continue;
            F->value[++F->n] = block->instrs.at[i];
            F->number[block->instrs.at[i]] = F->n;
        }
    }
    F->words = F->n / 64 + 1;
}

/* ---- what is still used ------------------------------------------------------------------------------ */
static void set(uint64_t *s, uint32_t i, bool on) {
    if (i && on) s[i / 64] |= (uint64_t)1 << i % 64;
    else if (i) s[i / 64] &= ~((uint64_t)1 << i % 64);
}

static bool has(const uint64_t *s, uint32_t i) { return s[i / 64] >> i % 64 & 1; }

static uint64_t *live_at(const Frames *F, BlockId b) { return F->live + (size_t)b * F->words; }

/* At the end of a block. */
static void live_out(const Frames *F, BlockId b, uint64_t *s) {
    const Block *block = &F->m->blocks.at[b];
    memset(s, 0, F->words * sizeof *s);
    for (uint32_t k = 0; k < block->nsucc; k++) {
        const Block *to = &F->m->blocks.at[block->succ[k]];
        if (!F->inside[block->succ[k]]) continue;
        for (uint32_t w = 0; w < F->words; w++) s[w] |= live_at(F, block->succ[k])[w];
        for (uint32_t i = 0; i < to->instrs.n; i++) {
            const Instr *phi = instr(F, to->instrs.at[i]);
            if (phi->op != OP_PHI) break;
            for (uint32_t p = 0; p < to->preds.n && p < phi->nargs; p++)
                if (to->preds.at[p] == b) set(s, F->number[phi->args[p]], true);
        }
    }
}

static void find_calls(Frames *F) {
    F->call = (const CallAgain **)arena_alloc(F->m->arena, F->m->blocks.n * sizeof *F->call);
    for (uint32_t i = 0; i < F->e->recursions.n; i++) {
        const Recursion *r = F->e->recursions.at[i];
        for (uint32_t k = 0; k < r->calls.n && !r->connected; k++) F->call[r->calls.at[k].from] = &r->calls.at[k];
    }
}

/* The exit will ask where the frame is, and PHIs of an entry for what a call passes. */
static void live_in(const Frames *F, BlockId b, uint64_t *s) {
    const Block *block = &F->m->blocks.at[b];
    live_out(F, b, s);
    if (b == F->r->exit) set(s, F->number[F->r->place], true);
    for (uint32_t i = 0; F->call[b] && i < F->call[b]->args.n; i++) set(s, F->number[F->call[b]->args.at[i]], true);
    for (uint32_t i = block->instrs.n; i-- > 0;) {
        const Instr *in = instr(F, block->instrs.at[i]);
        set(s, F->number[block->instrs.at[i]], false);
        for (uint32_t k = 0; in->op != OP_PHI && k < in->nargs; k++) set(s, F->number[in->args[k]], true);
    }
}

static void find_live(Frames *F) {
    IrModule *m = F->m;
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, m->blocks.n);
    uint32_t n = ir_postorder(m, order);
    uint64_t *s = ARENA_ARRAY(m->arena, uint64_t, F->words);
    F->live = ARENA_ARRAY(m->arena, uint64_t, (size_t)m->blocks.n * F->words);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < n; i++) {
            if (!F->inside[order[i]]) continue;
            live_in(F, order[i], s);
            changed |= memcmp(s, live_at(F, order[i]), F->words * sizeof *s) != 0;
            memcpy(live_at(F, order[i]), s, F->words * sizeof *s);
        }
    }
}

/* ---- saving and loading ------------------------------------------------------------------------------ */
static Ref address(Frames *F, BlockId b, Ref place, int64_t offset) {
    Ref at = emit(F, b, OP_ADDR, T_PTRL, 2, (Ref[]){F->e->stack, place}, 1);
    return offset ? emit(F, b, OP_ADDR, T_PTRL, 2, (Ref[]){at, constant(F, T_I32, offset)}, 1) : at;
}

/* The largest first, so that all are aligned. The activation's own place is known from its callee's. */
static void place_values(Frames *F, uint32_t k) {
    const CallAgain *c = &F->r->calls.at[k];
    const uint64_t *s = live_at(F, c->back);
    uint32_t end = 0;
    for (unsigned size = 8; size; size /= 2)
        for (uint32_t i = 1; i <= F->n; i++) {
            Ref v = F->value[i];
            if (!has(s, i) || type_bytes((Type)instr(F, v)->type) != size) continue;
            bool known = v == F->r->place && c->caller == F->r;
            VEC_PUSH(F->m->arena, &F->saved[k], ((Saved){v, REF_NONE, known ? UINT32_MAX : end}));
            end += known ? 0 : size;
        }
    F->bytes[k] = rounded(end, F->unit);
}

static void save_and_load(Frames *F, uint32_t k) {
    const CallAgain *c = &F->r->calls.at[k];
    Ref top = F->r->place; /* where the call comes back, the place of the callee's frame: see repair_uses() */
    for (uint32_t i = 0; i < F->saved[k].n; i++) {
        Saved *s = &F->saved[k].at[i];
        Type t = (Type)instr(F, s->value)->type;
        if (s->offset == UINT32_MAX) {
            s->loaded = emit(F, c->back, OP_SUB, T_I32, 2, (Ref[]){top, c->step}, 0);
            continue;
        }
        int64_t at = (int64_t)s->offset - F->bytes[k];
        emit(F, c->from, OP_STORE, T_VOID, 2, (Ref[]){address(F, c->from, c->base, at), s->value}, 0);
        s->loaded = emit(F, c->back, OP_LOAD, t, 1, (Ref[]){address(F, c->back, top, at)}, 0);
    }
    set_const(F->m, c->step, rounded(c->caller->bytes, F->unit) + F->bytes[k]);
}

/* ---- the ways there and back ------------------------------------------------------------------------- */
static void set_jump(IrModule *m, BlockId from, BlockId to) {
    m->blocks.at[from].succ[0] = to;
    m->blocks.at[from].nsucc = 1;
}

/* The exit asks which call made the frame. */
static void connect(Frames *F) {
    IrModule *m = F->m;
    Recursion *r = F->r;
    BlockId at = r->exit;
    Ref who = emit(F, at, OP_LOAD, T_U32, 1, (Ref[]){address(F, at, r->place, 0)}, 0);
    m->blocks.at[at].instrs.n--; /* the jump to `done` */
    for (uint32_t k = 0; k < r->calls.n; k++) {
        const CallAgain *c = &r->calls.at[k];
        if (is_dead(F, c)) continue;
        set_jump(m, c->from, r->entry);
        BlockId next = ir_block(m);
        Ref hit = ir_emit(m, at, OP_CMP, T_BOOL, 2, (Ref[]){who, constant(F, T_U32, k + 1)}, PRED_EQ, 0, 0);
        ir_emit(m, at, OP_BRANCH, T_VOID, 1, &hit, 0, 0, 0);
        m->blocks.at[at].nsucc = 2;
        m->blocks.at[at].succ[0] = c->back;
        m->blocks.at[at].succ[1] = next;
        at = next;
    }
    ir_emit(m, at, OP_JUMP, T_VOID, 0, NULL, 0, 0, 0);
    set_jump(m, at, r->done);
    r->connected = true;
    ir_edges(m);
}

static const CallAgain *call_from(const Recursion *r, BlockId b) {
    for (uint32_t k = 0; k < r->calls.n; k++)
        if (r->calls.at[k].from == b) return &r->calls.at[k];
    return NULL;
}

/* A PHI of the entry: the first call's value, and those of the others. */
static void feed_entry(Frames *F, Ref phi, uint32_t param) {
    const Block *entry = &F->m->blocks.at[F->r->entry];
    Ref first = instr(F, phi)->args[0], *args = ARENA_ARRAY(F->m->arena, Ref, entry->preds.n);
    for (uint32_t p = 0; p < entry->preds.n; p++) {
        const CallAgain *c = call_from(F->r, entry->preds.at[p]);
        args[p] = !c ? first : phi == F->r->place ? c->base : c->args.at[param];
    }
    instr(F, phi)->args = args;
    instr(F, phi)->nargs = entry->preds.n;
}

static void feed_phis(Frames *F) {
    feed_entry(F, F->r->place, 0);
    for (uint32_t i = 0; i < F->r->params.n; i++)
        if (F->r->params.at[i] != REF_NONE) feed_entry(F, F->r->params.at[i], i);
    for (uint32_t k = 0; k < F->r->calls.n; k++) {
        const CallAgain *c = &F->r->calls.at[k];
        for (uint32_t i = 0; !is_dead(F, c) && i < c->results.n; i++) {
            Instr *phi = instr(F, c->results.at[i]);
            phi->nargs = 1;
            phi->args = ARENA_ARRAY(F->m->arena, Ref, 1);
            phi->args[0] = F->r->results.at[i];
        }
    }
}

/* ---- values with several definitions ----------------------------------------------------------------- */
static Ref value_at_start(Frames *F, Ref v, BlockId b);

static Ref value_at_end(Frames *F, Ref v, BlockId b) {
    return F->at_end[b] != REF_NONE ? F->at_end[b] : value_at_start(F, v, b);
}

static Ref value_at_start(Frames *F, Ref v, BlockId b) {
    if (F->at_start[b] != REF_NONE) return F->at_start[b];
    const Block *block = &F->m->blocks.at[b];
    if (block->preds.n == 1) return F->at_start[b] = value_at_end(F, v, block->preds.at[0]);
    uint32_t n = block->preds.n;
    Ref *args = ARENA_ARRAY(F->m->arena, Ref, n);
    Ref phi = ir_emit(F->m, b, OP_PHI, (Type)instr(F, v)->type, 0, NULL, 0, 0, instr(F, v)->span);
    F->at_start[b] = phi;
    for (uint32_t p = 0; p < n; p++) args[p] = value_at_end(F, v, F->m->blocks.at[b].preds.at[p]);
    instr(F, phi)->args = args;
    instr(F, phi)->nargs = n;
    return phi;
}

/* In the block that defines it, a value is itself; where a call comes back, it is what was there before it is loaded.
 */
static void repair_uses(Frames *F, Ref v, BlockId b, uint32_t instrs) {
    const Block *block = &F->m->blocks.at[b];
    for (uint32_t i = 0; i < block->instrs.n; i++) {
        Ref r = block->instrs.at[i];
        if (r >= instrs) continue; /* a PHI made here */
        for (uint32_t k = 0; k < instr(F, r)->nargs; k++) {
            if (instr(F, r)->args[k] != v) continue;
            if (instr(F, r)->op == OP_PHI) {
                Ref now = value_at_end(F, v, F->m->blocks.at[b].preds.at[k]);
                instr(F, r)->args[k] = now;
            } else if (b != instr(F, v)->block) {
                Ref now = value_at_start(F, v, b);
                instr(F, r)->args[k] = now;
            }
            block = &F->m->blocks.at[b];
        }
    }
}

/* What calls of recursions around this one pass is no operand yet. */
static void repair_arguments(Frames *F, Ref v) {
    for (uint32_t i = 0; i < F->e->recursions.n; i++) {
        Recursion *r = F->e->recursions.at[i];
        for (uint32_t k = 0; k < r->calls.n && !r->connected; k++) {
            CallAgain *c = &r->calls.at[k];
            for (uint32_t a = 0; !is_dead(F, c) && a < c->args.n; a++)
                if (c->args.at[a] == v) c->args.at[a] = value_at_end(F, v, c->from);
        }
    }
}

/* Each block once for each value that it uses; without `use`, only how many they are. */
static void list_uses(Frames *F, uint32_t *end, BlockId *use) {
    BlockId *last = ARENA_ARRAY(F->m->arena, BlockId, F->n + 1); /* and 1 more: 0 is none */
    for (BlockId b = 0; b < F->m->blocks.n; b++) {
        const Block *block = &F->m->blocks.at[b];
        for (uint32_t i = 0; !block->dead && i < block->instrs.n; i++) {
            const Instr *in = instr(F, block->instrs.at[i]);
            for (uint32_t k = 0; k < in->nargs; k++) {
                uint32_t v = in->args[k] < F->numbered ? F->number[in->args[k]] : 0;
                if (!v || last[v] == b + 1) continue;
                last[v] = b + 1;
                if (use) use[end[v]] = b;
                end[v]++;
            }
        }
    }
}

static void find_uses(Frames *F) {
    uint32_t *count = ARENA_ARRAY(F->m->arena, uint32_t, F->n + 1), *end = ARENA_ARRAY(F->m->arena, uint32_t, F->n + 1);
    list_uses(F, count, NULL);
    F->first_use = ARENA_ARRAY(F->m->arena, uint32_t, F->n + 2);
    for (uint32_t v = 0; v <= F->n; v++) F->first_use[v + 1] = F->first_use[v] + count[v];
    F->use = ARENA_ARRAY(F->m->arena, BlockId, F->first_use[F->n + 1] + 1);
    for (uint32_t v = 0; v <= F->n; v++) end[v] = F->first_use[v];
    list_uses(F, end, F->use);
}

static void repair(Frames *F, Ref v) {
    IrModule *m = F->m;
    uint32_t blocks = m->blocks.n, instrs = m->instrs.n;
    memset(F->at_start, 0, blocks * sizeof *F->at_start);
    memset(F->at_end, 0, blocks * sizeof *F->at_end);
    F->at_end[instr(F, v)->block] = v;
    for (uint32_t k = 0; k < F->r->calls.n; k++)
        for (uint32_t i = 0; i < F->saved[k].n; i++)
            if (F->saved[k].at[i].value == v) F->at_end[F->r->calls.at[k].back] = F->saved[k].at[i].loaded;
    for (uint32_t i = F->first_use[F->number[v]]; i < F->first_use[F->number[v] + 1]; i++)
        repair_uses(F, v, F->use[i], instrs);
    repair_arguments(F, v);
}

static void repair_values(Frames *F) {
    IrModule *m = F->m;
    bool *done = ARENA_ARRAY(m->arena, bool, F->n + 1);
    find_uses(F);
    F->at_start = ARENA_ARRAY(m->arena, Ref, m->blocks.n);
    F->at_end = ARENA_ARRAY(m->arena, Ref, m->blocks.n);
    for (uint32_t k = 0; k < F->r->calls.n; k++)
        for (uint32_t i = 0; i < F->saved[k].n; i++) {
            Ref v = F->saved[k].at[i].value;
            if (!done[F->number[v]]) repair(F, v);
            done[F->number[v]] = true;
        }
}

/* ---- all ---------------------------------------------------------------------------------------------- */
static void finish(Eval *e, Recursion *r, uint32_t unit) {
    Frames F = {.e = e, .m = e->m, .r = r, .unit = unit};
    ir_edges(e->m);
    if (e->m->blocks.at[r->entry].dead) return;
    find_inside(&F);
    hoist(&F);
    drop_params(&F);
    number_values(&F);
    find_calls(&F);
    find_live(&F);
    F.saved = ARENA_ARRAY(e->arena, SavedVec, r->calls.n + 1);
    F.bytes = ARENA_ARRAY(e->arena, uint32_t, r->calls.n + 1);
    for (uint32_t k = 0; k < r->calls.n; k++)
        if (!is_dead(&F, &r->calls.at[k])) place_values(&F, k);
    for (uint32_t k = 0; k < r->calls.n; k++)
        if (!is_dead(&F, &r->calls.at[k])) save_and_load(&F, k);
    connect(&F);
    feed_phis(&F);
    repair_values(&F);
    if (r->around) set_const(e->m, r->outer_step, rounded(r->around->bytes, unit));
}

/* How large the stack is, and where a frame may lie at most. */
static void size_stack(Eval *e, uint32_t unit) {
    IrModule *m = e->m;
    uint64_t frame = 0, step = 0, depth = e->req->recursion_limit;
    for (uint32_t i = 0; i < e->recursions.n; i++) {
        const Recursion *r = e->recursions.at[i];
        if (rounded(r->bytes, unit) > frame) frame = rounded(r->bytes, unit);
        for (uint32_t k = 0; k < r->calls.n; k++)
            if (m->instrs.at[r->calls.at[k].step].imm > step) step = m->instrs.at[r->calls.at[k].step].imm;
        if (r->outer_step && m->instrs.at[r->outer_step].imm > step) step = m->instrs.at[r->outer_step].imm;
    }
    uint64_t most = frame + step > LARGEST_STACK ? 0 : (LARGEST_STACK - frame) / (step ? step : 1) * step;
    uint64_t limit = depth * step < most ? depth * step : most;
    if (!limit && step)
        e_fail(e, (PySpan){0}, "make its arrays smaller, or in the kernel", DIAG_CONSTRUCT, "this recursion",
               "the arrays of one call are larger than the stack of a thread");
    m->instrs.at[e->stack].imm = limit + frame;
    for (uint32_t i = 0; i < e->recursions.n; i++) {
        const Recursion *r = e->recursions.at[i];
        set_const(m, r->outer_limit, (uint32_t)limit);
        for (uint32_t k = 0; k < r->calls.n; k++) set_const(m, r->calls.at[k].limit, (uint32_t)limit);
    }
}

void finish_recursions(Eval *e) {
    enum { PLAIN = 8, WITH_ARRAYS = 16 };
    uint32_t unit = PLAIN;
    if (e->diags->nerrors || !e->recursions.n) return;
    for (uint32_t i = 0; i < e->recursions.n; i++)
        if (e->recursions.at[i]->bytes > sizeof(uint32_t)) unit = WITH_ARRAYS;
    for (uint32_t i = 0; i < e->recursions.n; i++) finish(e, e->recursions.at[i], unit);
    size_stack(e, unit);
    ir_edges(e->m);
}
