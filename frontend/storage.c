/* storage.c - where the arrays that a thread makes live, as variables take one after another.
 *
 * An operator or call that makes an array has one piece of memory, which each execution writes anew. In a loop
 *
 *     v = v + w
 *
 * the array of the last iteration would be gone while it is read. So a variable that joins small arrays (a PHI) has
 * memory of its own, into which each edge copies: then no pointer joins, and LLVM keeps the elements in registers. A
 * copy is another array than its source. Nobody can tell if no array that may be the same is written, or if the
 * variable is the only name that is still used; otherwise the PHI joins pointers. What then would be overwritten while
 * it is in use is refused.
 *
 * Which values may be one array is a partition of the values of one function: views, tuples, PHIs and calls join it. */
#include "arrays.h"
#include "devfns.h"

#include <string.h>

typedef struct Plan {
    Eval *e;
    const Instance *inst;
    const PyFunc *f;
    uint32_t *number; /* of the values that hold arrays of the thread's own, from 1 */
    PyRef *value;     /* by number */
    uint32_t n, words;
    uint32_t *class_of;      /* by number: union-find */
    bool *written, *foreign; /* by class: stored to; made by a caller */
    bool *returned;
    uint64_t *live; /* at the start of each block, after its PHIs */
    bool *in_loop;  /* blocks */
    bool *copies;   /* PHIs, by PyRef */
} Plan;

/* ---- values ------------------------------------------------------------------------------------------ */
static bool holds_local(Ty ty) {
    if (!ty) return false;
    if (ty->made) return true;
    if (ty->kind == TY_ARRAY || ty->kind == TY_RECORD) return ty->space == T_PTRL;
    for (uint32_t i = 0; i < ty->n; i++)
        if (holds_local(ty->items[i])) return true;
    return false;
}

static uint32_t number_of(const Plan *p, PyRef r) { return r ? p->number[r] : 0; }

static uint32_t class_of(const Plan *p, uint32_t i) {
    while (p->class_of[i] != i) i = p->class_of[i];
    return i;
}

static void join(Plan *p, uint32_t a, uint32_t b) {
    if (a && b) p->class_of[class_of(p, a)] = class_of(p, b);
}

static void number_values(Plan *p) {
    for (PyRef r = 1; r < p->f->instrs.n; r++) {
        if (!p->inst->reached[p->f->instrs.at[r].block] || !holds_local(p->inst->cell[r].ty)) continue;
        p->value[++p->n] = r;
        p->number[r] = p->n;
        p->class_of[p->n] = p->n;
    }
    p->words = (p->n + 64) / 64;
}

/* ---- what operations do with arrays ------------------------------------------------------------------ */

/* The row of devfn.def that an instruction calls; NULL: something else. */
static const DevFn *called(const Eval *e, const Instance *inst, const PyInstr *in) {
    return devfn_of(e, inst->cell[in->args[0]]);
}

static bool starts(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

static bool gives_view(const DevFn *fn) {
    return fn->call == fn_array_view || fn->call == fn_array_reshape || fn->call == fn_array_ravel ||
           fn->call == fn_array_transpose || fn->call == fn_array_swapaxes || (fn->call == fn_np_array && fn->param) ||
           fn->call == fn_np_part || fn->call == fn_small_array_view || fn->call == fn_ndenumerate;
}

/* Only reads its arrays, and gives an array of its own, if any. */
static bool only_reads(const DevFn *fn) {
    return fn &&
           (starts(fn->path, "numpy.") || starts(fn->path, "ndarray.") || starts(fn->path, "builtins.") ||
            starts(fn->path, "math.")) &&
           fn->call != fn_array_fill && fn->call != fn_small_array_change && fn->call != fn_np_running;
}

bool devfn_makes(const DevFn *fn) { return only_reads(fn) && !gives_view(fn); }

static const CallEffects anything = {true, true, true};

static bool holds_made(Ty ty) {
    if (!ty || ty->made) return ty != NULL;
    for (uint32_t i = 0; i < ty->n; i++)
        if (holds_made(ty->items[i])) return true;
    return false;
}

/* Does a list get items of another one that are objects? */
static bool extends_objects(const Instance *inst, const PyInstr *in) {
    Ty from = inst->cell[in->args[in->nargs - 1]].ty;
    return !from || from->kind != TY_LIST || list_holds_made(from);
}

/* Is this a store of what holds an object, to another? */
static bool keeps_object(const Instance *inst, const PyInstr *in) {
    if (in->op == PY_BINARY && in->imm & PYB_INPLACE && inst->cell[in->args[0]].ty)
        return inst->cell[in->args[0]].ty->kind == TY_LIST && extends_objects(inst, in);
    if (in->op != PY_STORE_ATTR && in->op != PY_STORE_SUBSCR && in->op != PY_SHARED_SET) return false;
    Ty of = inst->cell[in->args[0]].ty;
    return of && of->made && holds_local(inst->cell[in->args[in->nargs - 1]].ty);
}

static bool changes_first(const PyInstr *in) {
    return in->op == PY_STORE_SUBSCR || in->op == PY_STORE_ATTR || in->op == PY_SHARED_SET ||
           (in->op == PY_BINARY && in->imm & PYB_INPLACE);
}

/* Of all versions of the function that a call reaches, as far as theirs are known. */
static CallEffects effects_of_call(const Eval *e, const Instance *inst, const PyInstr *in) {
    if (in->op != PY_CALL) return anything;
    const DevFn *fn = called(e, inst, in);
    if (fn) {
        bool extend = strcmp(fn->path, "list.extend") == 0, list = starts(fn->path, "list.");
        return (CallEffects){!only_reads(fn), !gives_view(fn), extend ? extends_objects(inst, in) : list};
    }
    Val callee = inst->cell[in->args[0]];
    bool function = callee.ty && callee.ty->obj &&
                    (callee.ty->kind == TY_OBJECT || callee.ty->kind == TY_FUNCTION || callee.ty->kind == TY_METHOD);
    for (uint32_t i = 0; i < e->funcs.n && function; i++) {
        const FuncEntry *f = &e->funcs.at[i];
        if (f->ninstances && (f->code == callee.ty->obj || e->host->same(e->host->self, f->code, callee.ty->obj)))
            return f->effects;
    }
    return anything;
}

static void add_effects(CallEffects *all, CallEffects some) {
    all->writes |= some.writes;
    all->makes |= some.makes;
    all->keeps |= some.keeps;
}

/* Of all that a function does in one of its specialisations. */
static CallEffects effects_of(const Eval *e, const Instance *inst) {
    CallEffects all = {0};
    for (PyRef r = 1; r < inst->f->instrs.n && !(all.writes && all.makes && all.keeps); r++) {
        const PyInstr *in = &inst->f->instrs.at[r];
        if (!inst->reached[in->block]) continue;
        bool local = holds_local(inst->cell[r].ty);
        if (in->op == PY_CALL || in->op == PY_CALL_EX) {
            CallEffects one = effects_of_call(e, inst, in);
            all.writes |= one.writes;
            all.makes |= one.makes && local;
            all.keeps |= one.keeps;
        } else if (changes_first(in)) {
            all.writes |= holds_local(inst->cell[in->args[0]].ty);
            all.keeps |= keeps_object(inst, in);
        } else if (in->op == PY_BINARY || in->op == PY_UNARY || in->op == PY_COMPARE || in->op == PY_PHI)
            all.makes |= local;
    }
    return all;
}

/* Functions call each other, in circles, too: what is known grows until nothing is new. */
static void find_effects(Eval *e) {
    if (e->effects_known == e->instances) return;
    for (uint32_t i = 0; i < e->funcs.n; i++) e->funcs.at[i].effects = (CallEffects){0};
    for (bool changed = true; changed;) {
        changed = false;
        for (Instance *i = e->instances; i; i = i->next) {
            CallEffects *of = &func_entry(e, i->base)->effects, before = *of;
            add_effects(of, effects_of(e, i));
            changed |= memcmp(&before, of, sizeof before) != 0;
        }
    }
    e->effects_known = e->instances;
}

static CallEffects call_effects(const Plan *p, const PyInstr *in) { return effects_of_call(p->e, p->inst, in); }

/* a[[0, 2]], a[indices]: a copy. */
static bool takes_copies(const Plan *p, const PyInstr *in) {
    Val index = p->inst->cell[in->args[1]];
    if (val_poisoned(index)) return false;
    return index_takes(p->e, in->span, p->inst->cell[in->args[0]], list_items(p->e, index));
}

/* Is the result memory of the instruction's own? */
static bool makes(const Plan *p, const PyInstr *in, PyRef r) {
    Ty ty = p->inst->cell[r].ty;
    bool list = ty->kind == TY_LIST, slice = false;
    switch ((PyOp)in->op) {
    case PY_LIST:
    case PY_LIST_EXTEND: return list;
    case PY_BINARY: return (list || ty->kind == TY_ARRAY) && !(in->imm & PYB_INPLACE && p->number[in->args[0]]);
    case PY_UNARY:
    case PY_COMPARE: return ty->kind == TY_ARRAY;
    case PY_SUBSCR:
        slice = p->inst->cell[in->args[1]].ty && p->inst->cell[in->args[1]].ty->kind == TY_SLICE;
        return list ? slice : ty->kind == TY_ARRAY && takes_copies(p, in);
    case PY_CALL:
    case PY_CALL_EX: return call_effects(p, in).makes;
    default: return false;
    }
}

/* May the result be operand number i, or a view of it? */
static bool may_be_operand(const Plan *p, const PyInstr *in, PyRef r, uint32_t i) {
    bool array = p->inst->cell[r].ty->kind == TY_ARRAY || p->inst->cell[r].ty->kind == TY_LIST;
    if (in->op == PY_BINARY && in->imm & PYB_INPLACE && i && array) return false;
    if (in->op != PY_CALL) return !makes(p, in, r) || in->op == PY_CALL_EX;
    const DevFn *fn = called(p->e, p->inst, in);
    return !only_reads(fn) || gives_view(fn) || p->inst->cell[r].ty->kind == TY_EXPR;
}

static bool is_call(const PyInstr *in) { return in->op == PY_CALL || in->op == PY_CALL_EX; }

/* May one operand be an item of another after this? */
static bool keeps(const Plan *p, const PyInstr *in) {
    if (is_call(in)) return call_effects(p, in).keeps;
    return (in->op == PY_STORE_ATTR && number_of(p, in->args[1])) || keeps_object(p->inst, in);
}

static void join_operands(Plan *p, const PyInstr *in) {
    uint32_t first = 0;
    for (uint32_t i = 0; i < in->nargs; i++) {
        if (!first) first = number_of(p, in->args[i]);
        join(p, number_of(p, in->args[i]), first);
    }
}

static void classify(Plan *p) {
    for (PyRef r = 1; r < p->f->instrs.n; r++) {
        const PyInstr *in = &p->f->instrs.at[r];
        if (!p->inst->reached[in->block]) continue;
        for (uint32_t i = 0; p->number[r] && i < in->nargs; i++)
            if (may_be_operand(p, in, r, i)) join(p, p->number[r], number_of(p, in->args[i]));
        if (keeps(p, in)) join_operands(p, in);
    }
    for (PyRef r = 1; r < p->f->instrs.n; r++) {
        const PyInstr *in = &p->f->instrs.at[r];
        if (!p->inst->reached[in->block]) continue;
        bool call = is_call(in) && call_effects(p, in).writes;
        bool store = changes_first(in);
        for (uint32_t i = 0; i < in->nargs && (call || (store && i == 0)); i++)
            if (number_of(p, in->args[i])) p->written[class_of(p, p->number[in->args[i]])] = true;
        if (p->number[r] && (in->op == PY_PARAM || in->op == PY_CLOSURE)) p->foreign[class_of(p, p->number[r])] = true;
    }
    for (PyBlockId b = 0; b < p->f->blocks.n; b++) {
        const PyBlock *block = &p->f->blocks.at[b];
        if (p->inst->reached[b] && block->term == PYT_RETURN && number_of(p, block->arg))
            p->returned[class_of(p, p->number[block->arg])] = true;
    }
}

/* ---- what is still used ------------------------------------------------------------------------------ */
static void set(uint64_t *s, uint32_t i, bool on) {
    if (on) s[i / 64] |= (uint64_t)1 << i % 64;
    else s[i / 64] &= ~((uint64_t)1 << i % 64);
}

static bool has(const uint64_t *s, uint32_t i) { return s[i / 64] >> i % 64 & 1; }

static void use(const Plan *p, uint64_t *s, PyRef r) {
    if (number_of(p, r)) set(s, p->number[r], true);
}

/* The values in use at the end of a block. */
static void live_out(const Plan *p, PyBlockId b, uint64_t *s) {
    const PyBlock *block = &p->f->blocks.at[b];
    memset(s, 0, p->words * sizeof *s);
    use(p, s, block->arg);
    for (uint32_t k = 0; k < block->nsucc; k++) {
        PyBlockId to = block->succ[k];
        const PyBlock *next = &p->f->blocks.at[to];
        uint64_t *in = p->live + (size_t)to * p->words;
        for (uint32_t w = 0; w < p->words; w++) s[w] |= in[w];
        for (uint32_t i = 0; i < next->instrs.n; i++) {
            const PyInstr *phi = &p->f->instrs.at[next->instrs.at[i]];
            if (phi->op != PY_PHI) break;
            if (p->number[next->instrs.at[i]]) set(s, p->number[next->instrs.at[i]], false);
        }
        for (uint32_t i = 0; i < next->instrs.n; i++) {
            const PyInstr *phi = &p->f->instrs.at[next->instrs.at[i]];
            if (phi->op != PY_PHI) break;
            for (uint32_t a = 0; a < phi->nargs; a++)
                if (next->preds.at[a] == b) use(p, s, phi->args[a]);
        }
    }
}

/* From the end of a block back to before its instruction `stop`, or to after its PHIs. */
static void live_back(const Plan *p, PyBlockId b, uint64_t *s, uint32_t stop) {
    const PyBlock *block = &p->f->blocks.at[b];
    for (uint32_t i = block->instrs.n; i-- > stop;) {
        PyRef r = block->instrs.at[i];
        const PyInstr *in = &p->f->instrs.at[r];
        if (in->op == PY_PHI) return;
        if (p->number[r]) set(s, p->number[r], false);
        for (uint32_t a = 0; a < in->nargs; a++) use(p, s, in->args[a]);
    }
}

static void find_live(Plan *p) {
    uint64_t *s = ARENA_ARRAY(p->e->arena, uint64_t, p->words);
    p->live = ARENA_ARRAY(p->e->arena, uint64_t, (size_t)p->f->blocks.n * p->words);
    for (bool changed = true; changed;) {
        changed = false;
        for (PyBlockId b = p->f->blocks.n; b-- > 0;) {
            if (!p->inst->reached[b]) continue;
            live_out(p, b, s);
            live_back(p, b, s, 0);
            uint64_t *in = p->live + (size_t)b * p->words;
            changed |= memcmp(in, s, p->words * sizeof *s) != 0;
            memcpy(in, s, p->words * sizeof *s);
        }
    }
}

bool *loop_blocks(Arena *arena, const PyFunc *f) {
    bool *in = ARENA_ARRAY(arena, bool, f->blocks.n + 1);
    for (PyBlockId b = 0; b < f->blocks.n; b++)
        for (uint32_t s = 0; s < f->blocks.at[b].nsucc; s++)
            for (PyBlockId k = f->blocks.at[b].succ[s]; k <= b; k++) in[k] = true;
    return in;
}

/* ---- PHIs that copy ---------------------------------------------------------------------------------- */
static bool can_copy(Val v) {
    Wide total;
    if (v.ty->made) return v.ty->kind == TY_INSTANCE;
    return v.ty->kind == TY_ARRAY && v.ty->dtype != DT_RECORD && v.ty->space == T_PTRL && v.ty->layout != LAYOUT_A &&
           sizes_known(v.ty->ndim, v.items + 1, &total) && total <= SMALL_ELEMENTS;
}

static bool is_alone(const Plan *p, uint32_t i, const uint64_t *s) {
    for (uint32_t k = 1; k <= p->n; k++)
        if (k != i && has(s, k) && class_of(p, k) == class_of(p, i)) return false;
    return true;
}

static void choose_copies(Plan *p) {
    for (uint32_t i = 1; i <= p->n; i++) {
        PyRef r = p->value[i];
        const PyInstr *in = &p->f->instrs.at[r];
        if (in->op != PY_PHI || p->inst->conflict[r] || !can_copy(p->inst->cell[r])) continue;
        uint32_t c = class_of(p, i);
        bool hidden = p->foreign[c] && (p->written[c] || p->returned[c]); /* a caller has another name for it */
        bool alone = is_alone(p, i, p->live + (size_t)in->block * p->words);
        bool told = p->written[c] || p->inst->cell[r].ty->made; /* objects by `is`, too */
        p->copies[r] = !hidden && (!told || alone);
    }
}

/* ---- memory that is overwritten while it is in use --------------------------------------------------- */

/* An object that is in the set may now be an item of the others that the instruction has: so are those, and what may be
 * the same as they. */
static bool spread(const Plan *p, const PyInstr *in, uint64_t *s) {
    bool any = false, grew = false;
    for (uint32_t a = 0; a < in->nargs; a++) any |= number_of(p, in->args[a]) && has(s, p->number[in->args[a]]);
    if (!any || !keeps(p, in)) return false;
    for (uint32_t a = 0; a < (is_call(in) ? in->nargs : 1u); a++) {
        uint32_t n = number_of(p, in->args[a]);
        for (uint32_t k = 1; n && holds_made(p->inst->cell[in->args[a]].ty) && k <= p->n; k++) {
            if (has(s, k) || class_of(p, k) != class_of(p, n)) continue;
            set(s, k, true);
            grew = true;
        }
    }
    return grew;
}

/* What may be the array or object that value number i made, or have it as an item: found through uses, but not through
 * copies. */
static void derived(const Plan *p, uint32_t from, uint64_t *s) {
    memset(s, 0, p->words * sizeof *s);
    set(s, from, true);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i <= p->n; i++) {
            PyRef r = p->value[i];
            const PyInstr *in = &p->f->instrs.at[r];
            if (has(s, i) || p->copies[r]) continue;
            for (uint32_t a = 0; a < in->nargs; a++)
                if (number_of(p, in->args[a]) && has(s, p->number[in->args[a]]) && may_be_operand(p, in, r, a)) {
                    set(s, i, true);
                    changed = true;
                    break;
                }
        }
        for (PyRef r = 1; r < p->f->instrs.n; r++)
            if (p->inst->reached[p->f->instrs.at[r].block]) changed |= spread(p, &p->f->instrs.at[r], s);
    }
}

/* May it write its array while it still reads another? So does Python's code, a user's or the library's. */
static bool reads_late(const Plan *p, const PyInstr *in, PyRef r) {
    if (p->inst->cell[r].ty->kind == TY_LIST && in->op != PY_LIST && in->op != PY_LIST_EXTEND) return true;
    if (in->op == PY_SUBSCR) return takes_copies(p, in);
    const DevFn *fn = in->op == PY_CALL ? called(p->e, p->inst, in) : NULL;
    return is_call(in) && (!fn || fn->call == fn_small_array || fn->call == fn_np_running);
}

static uint32_t place_of(const PyBlock *b, PyRef r) {
    uint32_t i = 0;
    while (b->instrs.at[i] != r) i++;
    return i;
}

static void check_site(const Plan *p, uint32_t i, uint64_t *after, uint64_t *same) {
    PyRef r = p->value[i];
    const PyInstr *in = &p->f->instrs.at[r];
    bool late = reads_late(p, in, r);
    live_out(p, in->block, after);
    live_back(p, in->block, after, p->copies[r] ? 0 : place_of(&p->f->blocks.at[in->block], r) + 1);
    for (uint32_t a = 0; a < in->nargs && late; a++) use(p, after, in->args[a]); /* it may still read them */
    derived(p, i, same);
    for (uint32_t k = 1; k <= p->n; k++) {
        if (k == i || !has(after, k) || !has(same, k)) continue;
        bool object = holds_made(p->inst->cell[r].ty);
        e_fail(p->e, in->span,
               object ? "make the objects before the loop, and assign to their fields"
                      : "make the arrays before the loop, and assign to their elements: a[:] = ...",
               DIAG_CONSTRUCT, object ? "this object" : "this array",
               "it takes the memory of the one made an iteration before, which is still in use");
        return;
    }
}

static void check_sites(const Plan *p) {
    uint64_t *after = ARENA_ARRAY(p->e->arena, uint64_t, p->words),
             *same = ARENA_ARRAY(p->e->arena, uint64_t, p->words);
    for (uint32_t i = 1; i <= p->n; i++) {
        PyRef r = p->value[i];
        const PyInstr *in = &p->f->instrs.at[r];
        if (p->in_loop[in->block] && (p->copies[r] || makes(p, in, r))) check_site(p, i, after, same);
    }
}

const bool *phis_that_copy(Eval *e, const Instance *inst) {
    const PyFunc *f = inst->f;
    uint32_t n = f->instrs.n;
    bool any = false;
    for (PyRef r = 1; r < n && !any; r++)
        any = inst->reached[f->instrs.at[r].block] &&
              (f->instrs.at[r].op == PY_PHI ? holds_local(inst->cell[r].ty) : holds_made(inst->cell[r].ty));
    Plan p = {.e = e, .inst = inst, .f = f, .copies = ARENA_ARRAY(e->arena, bool, n)};
    if (!any) return p.copies;
    find_effects(e);
    p.number = ARENA_ARRAY(e->arena, uint32_t, n);
    p.value = ARENA_ARRAY(e->arena, PyRef, n + 1);
    p.class_of = ARENA_ARRAY(e->arena, uint32_t, n + 1);
    p.written = ARENA_ARRAY(e->arena, bool, n + 1);
    p.foreign = ARENA_ARRAY(e->arena, bool, n + 1);
    p.returned = ARENA_ARRAY(e->arena, bool, n + 1);
    p.in_loop = loop_blocks(e->arena, f);
    number_values(&p);
    classify(&p);
    find_live(&p);
    choose_copies(&p);
    check_sites(&p);
    return p.copies;
}

/* ---- copying ----------------------------------------------------------------------------------------- */
Val copying_phi(Eval *e, Val abstract) {
    if (abstract.ty->made) return mutable_like(e, abstract);
    Val a = array_local(e, elem_of(abstract.ty), abstract.ty->ndim, abstract.items + 1);
    return array_with(e, abstract.ty, array_data(a), abstract.items + 1, NULL);
}

void edge_read(Eval *e, EdgeCopies *c, Val phi, Val v) {
    Val index[MAX_NDIM];
    Wide total;
    uint32_t ndim = phi.ty->ndim;
    if (val_poisoned(v) || !e->building || array_data(v) == array_data(phi)) return;
    if (phi.ty->made) {
        mutable_copy(e, c, phi, v);
        return;
    }
    sizes_known(ndim, phi.items + 1, &total);
    for (Wide i = 0; i < total; i++) {
        index_of(e, ndim, phi.items + 1, i, index);
        EdgeCopy one = {array_at(e, phi, index, ndim), elem_of(phi.ty),
                        array_load(e, v.ty, array_at(e, v, index, ndim)), REF_NONE};
        VEC_PUSH(e->arena, c, one);
    }
}

void edge_write(Eval *e, const EdgeCopies *c) {
    Epoch epoch = e->epoch;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->at[i].part != REF_NONE) e_store(e, c->at[i].to, c->at[i].part);
        else array_store(e, c->at[i].elem, c->at[i].to, c->at[i].v);
    e->epoch = epoch;
}
