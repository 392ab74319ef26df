/* warpops.c - operations over the lanes of a warp: shfl, vote, match, redux, elect, activemask, bar.warp.sync.
 *
 * They run when all lanes that their member mask names are there (control.c); `mask` is these lanes. */
#include "exec.h"
#include "ops.h"

#include <string.h>

static bool flag(const PtxForm *f, unsigned bit) { return f->flags >> bit & 1; }

/* Without .sync, which GPUs up to sm_62 have, an operation takes the lanes that are there. */
static bool needs_members(const PtxForm *f, PtxInst *in, uint8_t operand) {
    if (!flag(f, FLAG_SYNC)) {
        in->control = CONTROL_NONE;
        return in->o[operand].file == FILE_NONE;
    }
    in->control = CONTROL_WARP;
    in->mask_operand = operand;
    return in->o[operand].file != FILE_NONE;
}

/* ---- shfl -------------------------------------------------------------------------------------- */

/* Where lane i reads and whether that is in its segment, as the PTX manual's pseudo code has it. */
#define SHFL(name, from, inside)                                                                                       \
    LANE_FN(name, {                                                                                                    \
        const uint32_t *a = lanes(w, &in->o[2]);                                                                       \
        const uint32_t *b = lanes(w, &in->o[3]);                                                                       \
        const uint32_t *c = lanes(w, &in->o[4]);                                                                       \
        int source[WARP];                                                                                              \
        uint32_t in_segment[WARP];                                                                                     \
        for (int i = 0; i < WARP; i++) {                                                                               \
            int segment = (int)(c[i] >> 8 & 31), delta = (int)(b[i] & 31);                                             \
            int first = i & segment, last = first | ((int)(c[i] & 31) & ~segment), j = from;                           \
            (void)first;                                                                                               \
            in_segment[i] = (inside) ? 1u << i : 0;                                                                    \
            source[i] = (inside) ? j : i;                                                                              \
        }                                                                                                              \
        shfl_move(w, in, mask, a, source, in_segment);                                                                 \
    })

INLINE void shfl_move(Warp *w, const PtxInst *in, uint32_t mask, const uint32_t *a, const int *source,
                      const uint32_t *in_segment) {
    uint32_t *d = lanes(w, &in->o[0]), value[WARP], inside = 0;
    memcpy(value, a, sizeof value); /* d may be a */
    EACH_LANE(mask, i, d[i] = value[source[i]]);
    if (in->o[1].file == FILE_NONE) return;
    for (int i = 0; i < WARP; i++) inside |= in_segment[i];
    pred_set(w, &in->o[1], mask, inside);
}

SHFL(shfl_up, i - delta, j >= last)
SHFL(shfl_down, i + delta, j <= last)
SHFL(shfl_bfly, i ^ delta, j <= last)
SHFL(shfl_idx, first | (delta & ~segment), j <= last)

bool select_shfl(const PtxForm *f, PtxInst *in) {
    static const LanePair modes[] = {[MODE_UP] = PAIR(shfl_up),
                                     [MODE_DOWN] = PAIR(shfl_down),
                                     [MODE_BFLY] = PAIR(shfl_bfly),
                                     [MODE_IDX] = PAIR(shfl_idx)};
    unsigned mode = f->field[MF_MODE];
    if (mode >= sizeof modes / sizeof *modes || !use(in, modes[mode])) return false;
    return f->ntypes == 1 && f->types[0] == PT_B32 && needs_members(f, in, 5);
}

/* ---- vote, activemask, elect --------------------------------------------------------------------- */

static void ballot(Warp *w, const PtxInst *in, uint32_t mask) {
    uint32_t yes = pred_get(w, &in->o[1]) & mask, *d = lanes(w, &in->o[0]);
    EACH_LANE(mask, i, d[i] = yes);
}

static void vote(Warp *w, const PtxInst *in, uint32_t mask) {
    uint32_t yes = pred_get(w, &in->o[1]) & mask;
    bool result = false;
    switch (in->sub) {
    case MODE_ALL: result = yes == mask; break;
    case MODE_ANY: result = yes != 0; break;
    case MODE_UNI: result = yes == mask || yes == 0; break;
    default: break;
    }
    pred_set(w, &in->o[0], mask, result ? UINT32_MAX : 0);
}

bool select_vote(const PtxForm *f, PtxInst *in) {
    in->sub = f->field[MF_MODE];
    bool words = in->sub == MODE_BALLOT,
         mode = words || in->sub == MODE_ALL || in->sub == MODE_ANY || in->sub == MODE_UNI;
    in->fn = words ? ballot : vote;
    return mode && f->ntypes == 1 && f->types[0] == (words ? PT_B32 : PT_PRED) && needs_members(f, in, 2);
}

static void activemask(Warp *w, const PtxInst *in, uint32_t mask) {
    EACH_LANE(mask, i, lane_set(w, &in->o[0], i, mask));
}

bool select_activemask(const PtxForm *f, PtxInst *in) {
    in->fn = activemask;
    return f->ntypes == 1 && f->types[0] == PT_B32;
}

static void elect(Warp *w, const PtxInst *in, uint32_t mask) {
    uint32_t leader = mask & -mask;
    EACH_LANE(mask, i, lane_set(w, &in->o[0], i, (uint32_t)__builtin_ctz(leader)));
    if (in->o[1].file != FILE_NONE) pred_set(w, &in->o[1], mask, leader);
}

bool select_elect(const PtxForm *f, PtxInst *in) {
    in->fn = elect;
    return f->ntypes == 0 && flag(f, FLAG_SYNC) && needs_members(f, in, 2);
}

static void meet_only(Warp *w, const PtxInst *in, uint32_t mask) { (void)w, (void)in, (void)mask; }

/* bar.warp.sync: select_bar leads here. */
bool select_warp_barrier(const PtxForm *f, PtxInst *in) {
    in->fn = meet_only;
    in->control = CONTROL_WARP;
    in->mask_operand = 1;
    return f->ntypes == 0 && in->o[1].file != FILE_NONE && in->o[2].file == FILE_NONE;
}

/* ---- match ------------------------------------------------------------------------------------- */

static void match(Warp *w, const PtxInst *in, uint32_t mask) {
    uint64_t value[WARP];
    uint32_t same[WARP] = {0}, all = 0;
    EACH_LANE(mask, i, value[i] = lane_get(w, &in->o[2], i));
    EACH_LANE(mask, i, {
        for (uint32_t left = mask; left; left &= left - 1) {
            int k = __builtin_ctz(left);
            same[i] |= (uint32_t)(value[k] == value[i]) << k;
        }
        if (same[i] == mask) all = UINT32_MAX;
    });
    if (in->sub == MODE_ANY) {
        EACH_LANE(mask, i, lane_set(w, &in->o[0], i, same[i]));
        return;
    }
    EACH_LANE(mask, i, lane_set(w, &in->o[0], i, all ? mask : 0));
    if (in->o[1].file != FILE_NONE) pred_set(w, &in->o[1], mask, all);
}

bool select_match(const PtxForm *f, PtxInst *in) {
    in->fn = match;
    in->sub = f->field[MF_MODE];
    bool pair = in->o[1].file != FILE_NONE, mode = in->sub == MODE_ALL || (in->sub == MODE_ANY && !pair);
    return mode && f->ntypes == 1 && (f->types[0] == PT_B32 || f->types[0] == PT_B64) && flag(f, FLAG_SYNC) &&
           needs_members(f, in, 3);
}

/* ---- redux ------------------------------------------------------------------------------------- */

enum { REDUX_SIGNED = 16 }; /* or-ed to `sub` */

static uint32_t redux_step(uint8_t op, uint32_t x, uint32_t y) {
    switch (op) {
    case ATOM_ADD | REDUX_SIGNED:
    case ATOM_ADD: return x + y;
    case ATOM_AND: return x & y;
    case ATOM_OR: return x | y;
    case ATOM_XOR: return x ^ y;
    case ATOM_MIN: return y < x ? y : x;
    case ATOM_MAX: return y > x ? y : x;
    case ATOM_MIN | REDUX_SIGNED: return (int32_t)y < (int32_t)x ? y : x;
    default: return (int32_t)y > (int32_t)x ? y : x;
    }
}

static void redux(Warp *w, const PtxInst *in, uint32_t mask) {
    const uint32_t *a = lanes(w, &in->o[1]);
    uint32_t *d = lanes(w, &in->o[0]), result = a[__builtin_ctz(mask)];
    for (uint32_t left = mask & (mask - 1); left; left &= left - 1)
        result = redux_step(in->sub, result, a[__builtin_ctz(left)]);
    EACH_LANE(mask, i, d[i] = result);
}

enum { REDUX_ABS = 1, REDUX_NAN = 2, REDUX_MAX = 4 };

static bool is_nan(uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }

/* Floats in their order as integers: -0 before +0. */
static int64_t float_order(uint32_t bits) { return bits >> 31 ? -(int64_t)(bits & 0x7fffffff) - 1 : (int64_t)bits; }

/* min and max of floats: NaN gives way to a number, or with .NaN wins. */
static void redux_float(Warp *w, const PtxInst *in, uint32_t mask) {
    const uint32_t *a = lanes(w, &in->o[1]);
    uint32_t *d = lanes(w, &in->o[0]), result = 0x7fffffff;
    bool any = false, nan = false;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t x = a[__builtin_ctz(left)] & (in->sub & REDUX_ABS ? 0x7fffffff : UINT32_MAX);
        if (is_nan(x)) {
            nan = true;
            continue;
        }
        bool better = in->sub & REDUX_MAX ? float_order(x) > float_order(result) : float_order(x) < float_order(result);
        if (!any || better) result = x;
        any = true;
    }
    if (nan && in->sub & REDUX_NAN) result = 0x7fffffff;
    EACH_LANE(mask, i, d[i] = result);
}

static bool select_redux_float(const PtxForm *f, PtxInst *in) {
    unsigned op = f->field[MF_ATOM];
    in->fn = redux_float;
    in->sub = (uint8_t)((flag(f, FLAG_ABS) ? REDUX_ABS : 0) | (flag(f, FLAG_NAN) ? REDUX_NAN : 0) |
                        (op == ATOM_MAX ? REDUX_MAX : 0));
    return op == ATOM_MIN || op == ATOM_MAX;
}

bool select_redux(const PtxForm *f, PtxInst *in) {
    unsigned op = f->field[MF_ATOM];
    if (f->ntypes != 1 || !flag(f, FLAG_SYNC) || !needs_members(f, in, 2)) return false;
    if (f->types[0] == PT_F32) return select_redux_float(f, in);
    bool bits = op == ATOM_AND || op == ATOM_OR || op == ATOM_XOR,
         numbers = op == ATOM_ADD || op == ATOM_MIN || op == ATOM_MAX;
    in->fn = redux;
    in->sub = (uint8_t)(op | (f->types[0] == PT_S32 ? REDUX_SIGNED : 0));
    if (flag(f, FLAG_ABS) || flag(f, FLAG_NAN)) return false;
    return (bits && f->types[0] == PT_B32) || (numbers && (f->types[0] == PT_U32 || f->types[0] == PT_S32));
}
