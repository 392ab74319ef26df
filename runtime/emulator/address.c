/* address.c - what has an address but moves no data: cvta, isspacep, prefetch; alloca; fences and hints. */
#include "exec.h"

static bool flag(const PtxForm *f, unsigned bit) { return f->flags >> bit & 1; }

/* ---- cvta, isspacep ---------------------------------------------------------------------------- */

static uint64_t window(Space space) {
    switch (space) {
    case SPACE_SHARED: return SHARED_WINDOW;
    case SPACE_LOCAL: return LOCAL_WINDOW;
    case SPACE_PARAM: return PARAM_WINDOW;
    default: return 0;
    }
}

static void put(Warp *w, const PtxOperand *o, uint32_t mask, const uint64_t *values) {
    if (o->bytes == 4) {
        uint32_t *d = lanes(w, o);
        EACH_LANE(mask, i, d[i] = (uint32_t)values[i]);
    } else {
        uint64_t *d = lanes(w, o);
        EACH_LANE(mask, i, d[i] = values[i]);
    }
}

static void cvta(Warp *w, const PtxInst *in, uint32_t mask) {
    uint64_t a[WARP], base = window(in->space);
    read_addresses(w, &in->o[1], in->disp, a);
    EACH_LANE(mask, i, a[i] += base);
    put(w, &in->o[0], mask, a);
}

static void cvta_to(Warp *w, const PtxInst *in, uint32_t mask) {
    uint64_t a[WARP], base = window(in->space);
    read_addresses(w, &in->o[1], in->disp, a);
    EACH_LANE(mask, i, a[i] -= base);
    put(w, &in->o[0], mask, a);
}

bool select_cvta(const PtxForm *f, PtxInst *in) {
    if (!f->field[MF_SPACE] || f->ntypes != 1 || (f->types[0] != PT_U64 && f->types[0] != PT_U32)) return false;
    in->space = (uint8_t)(f->field[MF_SPACE] - 1);
    in->fn = flag(f, FLAG_TO) ? cvta_to : cvta;
    return true;
}

static bool is_const(Warp *w, uint64_t address) {
    const Alloc *a = memory_find(w->run->memory, address);
    return a && !a->freed && a->kind == ALLOC_CONST;
}

static void isspacep(Warp *w, const PtxInst *in, uint32_t mask) {
    uint64_t a[WARP];
    uint32_t yes = 0;
    read_addresses(w, &in->o[1], in->disp, a);
    EACH_LANE(mask, i, {
        Space space = generic_space(a[i]);
        if (in->space == SPACE_CONST) yes |= (uint32_t)(space == SPACE_GLOBAL && is_const(w, a[i])) << i;
        else yes |= (uint32_t)(space == (Space)in->space) << i;
    });
    pred_set(w, &in->o[0], mask, yes);
}

bool select_isspacep(const PtxForm *f, PtxInst *in) {
    if (!f->field[MF_SPACE] || f->ntypes) return false;
    in->space = (uint8_t)(f->field[MF_SPACE] - 1);
    in->fn = isspacep;
    return true;
}

/* ---- alloca ------------------------------------------------------------------------------------ */

/* Lanes of a frame share where their local memory is free, so that all get what the greediest asks for. */
static void take_local(Warp *w, const PtxInst *in, uint32_t mask) {
    Frame *f = w->frame;
    uint64_t most = 0, align = in->o[2].file == FILE_NONE ? 16 : lane_get(w, &in->o[2], __builtin_ctz(mask));
    int greediest = __builtin_ctz(mask);
    EACH_LANE(mask, i, {
        uint64_t n = lane_get(w, &in->o[1], i);
        if (n > most) most = n, greediest = i;
    });
    if (align < 16 || align & (align - 1)) align = 16;
    uint64_t at = (f->top + align - 1) & ~(align - 1), end = at + ((most + 15) & ~UINT64_C(15));
    if (most > w->run->local_bytes || end > w->run->local_bytes)
        fault(w, in, greediest, FAULT_STACK, SPACE_LOCAL, at, 0);
    f->top = (uint32_t)end;
    EACH_LANE(mask, i, lane_set(w, &in->o[0], i, at));
}

bool select_alloca(const PtxForm *f, PtxInst *in) {
    in->fn = take_local;
    return f->ntypes == 1 && (f->types[0] == PT_U32 || f->types[0] == PT_U64);
}

bool is_alloca(const PtxInst *in) { return in->fn == take_local; }

static void stacksave(Warp *w, const PtxInst *in, uint32_t mask) {
    EACH_LANE(mask, i, lane_set(w, &in->o[0], i, w->frame->top));
}

/* While some lanes of the frame are elsewhere, what they took must stay. */
static void stackrestore(Warp *w, const PtxInst *in, uint32_t mask) {
    uint64_t top = 0;
    EACH_LANE(mask, i, {
        uint64_t t = lane_get(w, &in->o[0], i);
        if (t > top) top = t;
    });
    if (mask == w->frame->lanes && top < w->frame->top) w->frame->top = (uint32_t)top;
}

bool select_stacksave(const PtxForm *f, PtxInst *in) {
    in->fn = stacksave;
    return f->ntypes == 1;
}

bool select_stackrestore(const PtxForm *f, PtxInst *in) {
    in->fn = stackrestore;
    return f->ntypes == 1;
}

/* ---- order and hints --------------------------------------------------------------------------- */

/* The emulator has no caches; what other host threads do is ordered by a fence of the host's. */
static void fence(Warp *w, const PtxInst *in, uint32_t mask) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    watch_fence(w, mask, in->scope != SCOPE_CTA);
    watch_observe(w, mask);
}

bool select_fence(const PtxForm *f, PtxInst *in) {
    in->fn = fence;
    in->scope = f->field[MF_SCOPE];
    return f->ntypes == 0;
}

static void nothing(Warp *w, const PtxInst *in, uint32_t mask) { (void)w, (void)in, (void)mask; }

/* prefetch, discard, applypriority, griddepcontrol, pmevent, setmaxnreg: no effect on results. */
bool select_hint(const PtxForm *f, PtxInst *in) {
    (void)f;
    in->fn = nothing;
    return true;
}

/* Control instructions have no fn: the loop in schedule.c does them. */
bool select_control(const PtxForm *f, PtxInst *in) {
    (void)in;
    return f->ntypes == 0;
}

bool select_nanosleep(const PtxForm *f, PtxInst *in) {
    (void)in;
    return f->ntypes == 1 && f->types[0] == PT_U32;
}
