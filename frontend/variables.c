/* variables.c - what a debugger shows: the variables of the kernel, and of the functions that it calls, in memory.
 *
 * Each variable that has values of a type lies in an ALLOCA of its own, into which every assignment stores, so that it
 * can be looked at wherever the thread stops. Numbers, arrays, tuples, records, and what may be None have places;
 * others, such as ranges and functions, exist only while compiling. */
#include "arrays.h"

#include <string.h>

typedef struct Part {
    Ref ref;
    uint32_t offset;
} Part;

/* A value taken apart: what is stored where. */
typedef struct Parts {
    Eval *e;
    VEC(Part) at;
} Parts;

enum { MOST_PARTS = 256, WORD = 8 };

static const IrVarType *var_type(Parts *p, IrVarType t) {
    IrVarType *made = ARENA_NEW(p->e->arena, IrVarType);
    *made = t;
    return made;
}

static const IrVarType *number(Parts *p, DType d) {
    const DTypeInfo *info = &dtype_info[d];
    return var_type(p, (IrVarType){.name = info->name,
                                   .kind = dt_is_complex(d) ? VAR_COMPLEX : VAR_NUMBER,
                                   .type = (uint8_t)info->ir,
                                   .bytes = info->bytes});
}

static void put(Parts *p, Ref ref, uint32_t offset) { VEC_PUSH(p->e->arena, &p->at, ((Part){ref, offset})); }

static const IrVarType *scalar(Parts *p, Val v, uint32_t offset) {
    DType d = val_dtype(v);
    if (!dt_is_complex(d)) put(p, val_ref(p->e, v), offset);
    else {
        put(p, val_re(p->e, v), offset);
        put(p, val_im(p->e, v), offset + dtype_info[dtype_info[d].part].bytes);
    }
    return number(p, d);
}

static const IrVarType *list_of_type(Parts *p, const IrVarType *item, uint32_t n) {
    const IrVarType **items = ARENA_ARRAY(p->e->arena, const IrVarType *, 1);
    items[0] = item;
    return var_type(p, (IrVarType){.name = "", .kind = VAR_LIST, .bytes = item->bytes * n, .n = n, .items = items});
}

/* ---- records, where they lie ----------------------------------------------------------------------------- */
static const IrVarType *record_type(Parts *p, const Record *r) {
    const IrVarType **items = ARENA_ARRAY(p->e->arena, const IrVarType *, r->n + 1);
    const char **fields = ARENA_ARRAY(p->e->arena, const char *, r->n + 1);
    uint32_t *offsets = ARENA_ARRAY(p->e->arena, uint32_t, r->n + 1), n = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const RecordField *f = &r->fields[i];
        if (f->dtype == DT_NONE) continue;
        const IrVarType *t = f->dtype == DT_RECORD ? record_type(p, f->record) : number(p, f->dtype);
        for (unsigned k = f->ndim; k-- > 0;) t = list_of_type(p, t, (uint32_t)f->shape[k]);
        items[n] = t;
        fields[n] = f->name;
        offsets[n++] = f->offset;
    }
    return var_type(p, (IrVarType){.name = record_text(p->e->arena, r),
                                   .kind = VAR_STRUCT,
                                   .bytes = r->bytes,
                                   .n = n,
                                   .items = items,
                                   .fields = fields,
                                   .offsets = offsets});
}

static const IrVarType *pointer_type(Parts *p, Ty to, Type space) {
    const IrVarType **items = ARENA_ARRAY(p->e->arena, const IrVarType *, 1);
    items[0] = to->record ? record_type(p, to->record) : number(p, (DType)to->dtype);
    bool made = space == T_PTR && (to->space == T_PTRS || to->space == T_PTRC);
    return var_type(
        p, (IrVarType){
               .name = "", .kind = VAR_POINTER, .type = (uint8_t)space, .made = made, .bytes = WORD, .items = items});
}

/* ---- values in parts --------------------------------------------------------------------------------------- */
static const IrVarType *take_apart(Parts *p, Val v, uint32_t offset);

typedef struct Members {
    const IrVarType **types;
    const char **names;
    uint32_t *offsets, n, end, start;
} Members;

static Members members(Parts *p, uint32_t most, uint32_t start) {
    return (Members){.types = ARENA_ARRAY(p->e->arena, const IrVarType *, most + 1),
                     .names = ARENA_ARRAY(p->e->arena, const char *, most + 1),
                     .offsets = ARENA_ARRAY(p->e->arena, uint32_t, most + 1),
                     .start = start};
}

/* Parts lie at multiples of 8 bytes: none has to be larger. */
static void add_member(Members *m, const char *name, const IrVarType *t) {
    m->names[m->n] = name;
    m->types[m->n] = t;
    m->offsets[m->n++] = m->end;
    m->end += (t->bytes + WORD - 1) / WORD * WORD;
}

static const IrVarType *members_type(Parts *p, const Members *m, const char *name) {
    return var_type(p, (IrVarType){.name = name,
                                   .kind = VAR_STRUCT,
                                   .bytes = m->end ? m->end : WORD,
                                   .n = m->n,
                                   .items = m->types,
                                   .fields = m->names,
                                   .offsets = m->offsets});
}

/* What Numba's arrays have before the data; its scripts for debuggers look for them. Nothing counts references here. */
static void numba_members(Parts *p, Members *m, Val flat, uint32_t ndim, uint32_t item_bytes) {
    Eval *e = p->e;
    const IrVarType *nowhere = var_type(p, (IrVarType){.name = "", .kind = VAR_POINTER, .type = T_PTR, .bytes = WORD});
    Ref nitems = e_int(e, T_I64, 1), none = e_int(e, T_I64, 0);
    for (uint32_t k = 0; k < ndim; k++)
        nitems = e_emit(e, OP_MUL, T_I64, 2, (Ref[]){nitems, val_conv_ref(e, flat.items[1 + k], DT_I64)}, 0, 0);
    const Ref values[] = {none, none, nitems, e_int(e, T_I64, item_bytes)};
    static const char *const names[] = {"meminfo", "parent", "nitems", "itemsize"};
    for (uint32_t i = 0; i < 4; i++) {
        put(p, values[i], m->start + m->end);
        add_member(m, names[i], i < 2 ? nowhere : number(p, DT_I64));
    }
}

/* {data, shape[ndim], strides[ndim]}, strides in bytes. Numba's have more, and their data have a generic address. */
static const IrVarType *array_parts(Parts *p, Val v, uint32_t offset) {
    Eval *e = p->e;
    Val flat = array_flatten_to_a(e, v);
    uint32_t ndim = v.ty->ndim;
    Members m = members(p, 7, offset);
    Ref data = flat.items[0].ref[0];
    Type space = (Type)v.ty->space;
    if (e_numba(e)) {
        numba_members(p, &m, flat, ndim, elem_size(elem_of(v.ty)));
        if (space == T_PTRS || space == T_PTRC) data = e_emit(e, OP_ADDRESS, T_I64, 1, &data, 0, 0);
        space = T_PTR;
    }
    put(p, data, offset + m.end);
    add_member(&m, "data", pointer_type(p, v.ty, space));
    for (uint32_t k = 0; k < 2 * ndim; k++)
        put(p, val_conv_ref(e, flat.items[1 + k], DT_I64), offset + m.end + WORD * k);
    for (uint32_t k = 0; ndim && k < 2; k++)
        add_member(&m, k ? "strides" : "shape", list_of_type(p, number(p, DT_I64), ndim));
    return members_type(p, &m, ty_text(e->types, v.ty));
}

/* Items that have no value at run time aren't shown. */
static const IrVarType *tuple_parts(Parts *p, Val v, uint32_t offset) {
    Members m = members(p, v.ty->n, offset);
    for (uint32_t i = 0; i < v.ty->n; i++) {
        char *name = arena_strdup(p->e->arena, "f0000");
        snprintf(name + 1, 5, "%u", i % 10000);
        const IrVarType *t = take_apart(p, v.items[i], offset + m.end);
        if (t) add_member(&m, v.ty->fields ? v.ty->fields[i] : name, t);
    }
    return members_type(p, &m, ty_text(p->e->types, v.ty));
}

static const IrVarType *take_apart(Parts *p, Val v, uint32_t offset) {
    if (!v.ty) return NULL;
    switch (v.ty->kind) {
    case TY_SCALAR: return scalar(p, v, offset);
    case TY_ARRAY: return array_parts(p, v, offset);
    case TY_TUPLE: return v.ty->parts <= MOST_PARTS ? tuple_parts(p, v, offset) : NULL;
    case TY_RECORD: put(p, v.items[0].ref[0], offset); return pointer_type(p, v.ty, (Type)v.ty->space);
    default: return NULL;
    }
}

/* ---- places ------------------------------------------------------------------------------------------------- */
static uint32_t argument_number(const PyFunc *f, const char *name) {
    for (uint32_t i = 0; i < f->params.n; i++)
        if (strcmp(f->params.at[i].name, name) == 0) return i + 1;
    return 0;
}

/* Texts of types leave out the fields of named tuples, and the ends of long ones. */
static bool same_type(const IrVarType *a, const IrVarType *b) {
    if (a->kind != b->kind || a->type != b->type || a->bytes != b->bytes || a->n != b->n) return false;
    if (a->made != b->made || !a->items != !b->items || strcmp(a->name, b->name) != 0) return false;
    uint32_t items = a->kind == VAR_STRUCT ? a->n : a->items != NULL;
    for (uint32_t i = 0; i < items; i++) {
        bool named = a->kind != VAR_STRUCT || (a->offsets[i] == b->offsets[i] && !strcmp(a->fields[i], b->fields[i]));
        if (!named || !same_type(a->items[i], b->items[i])) return false;
    }
    return true;
}

/* A function has an own set for each place where it is called. */
static Ref place_of(Eval *e, const char *name, const IrVarType *t) {
    const IrSpan *here = &e->m->spans.at[e->span];
    for (uint32_t i = e->m->vars.n; i-- > 0;) {
        const IrVar *v = &e->m->vars.at[i];
        const IrSpan *there = &e->m->spans.at[v->span];
        if (there->func == here->func && there->inlined_at == here->inlined_at && strcmp(v->name, name) == 0 &&
            same_type(v->type, t))
            return v->at;
    }
    uint32_t arg = argument_number(e->frame->inst->f, name);
    for (uint32_t i = 0; i < e->m->vars.n; i++) { /* of another type: the argument is the first */
        const IrVar *v = &e->m->vars.at[i];
        const IrSpan *there = &e->m->spans.at[v->span];
        if (v->arg == arg && there->func == here->func && there->inlined_at == here->inlined_at) arg = 0;
    }
    Ref at = e_alloca(e, t->bytes);
    VEC_PUSH(e->arena, &e->m->vars, ((IrVar){name, t, arg, e->span, at}));
    return at;
}

static bool all_there(const Parts *p) {
    for (uint32_t i = 0; i < p->at.n; i++)
        if (p->at.at[i].ref == REF_NONE) return false;
    return p->at.n > 0;
}

/* The stores are no part of the program: what is computed later of the thread's memory is as fresh as before. */
static void keep(Eval *e, const char *name, PySpan span, Val v) {
    Parts p = {.e = e};
    Epoch epoch = e->epoch;
    const PyFunc *f = e->frame->inst->f;
    if (span.line <= f->first_line) span = (PySpan){.line = def_line(e, f)}; /* an argument */
    e_set_span(e, span);
    const IrVarType *t = val_poisoned(v) ? NULL : take_apart(&p, v, 0);
    if (t && all_there(&p)) {
        Ref at = place_of(e, name, t);
        for (uint32_t i = 0; i < p.at.n; i++) {
            Ref to = p.at.at[i].offset
                         ? e_emit(e, OP_ADDR, T_PTRL, 2, (Ref[]){at, e_int(e, T_I64, p.at.at[i].offset)}, 0, 1)
                         : at;
            e_emit(e, OP_STORE, T_VOID, 2, (Ref[]){to, p.at.at[i].ref}, MEM_VOLATILE, 0);
        }
    }
    e->epoch = epoch;
}

static void keep_phis(Eval *e, const Frame *fr, const PyBlock *block) {
    for (uint32_t i = 0; i < block->instrs.n; i++) {
        const PyInstr *in = &fr->inst->f->instrs.at[block->instrs.at[i]];
        if (in->op != PY_PHI) return;
        if (in->name) keep(e, in->name, in->span, fr->vals[block->instrs.at[i]]);
    }
}

uint32_t name_variables(Eval *e, Frame *fr, const PyBlock *block, uint32_t next, uint32_t i) {
    if (!e->req->variables || !e->building || e->recursion || fr->library || e_terminated(e)) return next;
    uint32_t before = i == UINT32_MAX ? block->instrs.n : i;
    if (before && fr->inst->f->instrs.at[block->instrs.at[before - 1]].op == PY_PHI) keep_phis(e, fr, block);
    for (; next < block->names.n && block->names.at[next].at <= i; next++) {
        const PyNaming *name = &block->names.at[next];
        if (name->value) keep(e, name->name, name->span, fr->vals[name->value]);
    }
    return next;
}

uint32_t def_line(Eval *e, const PyFunc *f) {
    enum { MOST_LINES = 200 };
    bool looks = e->req->variables && strcmp(f->name, "<lambda>") != 0;
    for (uint32_t k = 0; looks && k < MOST_LINES; k++) {
        const char *line = e->host->source_line(e->host->self, f->file, f->first_line + k);
        if (!line) break;
        line += strspn(line, " \t");
        if (strncmp(line, "def ", 4) == 0 || strncmp(line, "async def ", 10) == 0) return f->first_line + k;
    }
    return f->first_line;
}
