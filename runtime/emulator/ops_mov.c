/* ops_mov.c - mov: registers, immediates, symbols, special registers, predicates; vectors packed and unpacked. */
#include "exec.h"
#include "ops.h"

#include <string.h>

#define DEFINE(t, T) UNARY(mov_##t, T, T, x)
DEFINE(16, uint16_t)
DEFINE(32, uint32_t)
DEFINE(64, uint64_t)
#undef DEFINE

static void mov_pred(Warp *w, const PtxInst *in, uint32_t mask) {
    pred_set(w, &in->o[0], mask, pred_get(w, &in->o[1]));
}

static void mov_128(Warp *w, const PtxInst *in, uint32_t mask) {
    uint64_t *d = lanes(w, &in->o[0]);
    const uint64_t *a = lanes(w, &in->o[1]);
    EACH_LANE(mask, i, {
        uint64_t low = a[2 * i], high = a[2 * i + 1];
        d[2 * i] = low;
        d[2 * i + 1] = high;
    });
}

/* A register of another width, of which the low part is wanted. */
static void mov_cut(Warp *w, const PtxInst *in, uint32_t mask) {
    EACH_LANE(mask, i, lane_set(w, &in->o[0], i, lane_get(w, &in->o[1], i)));
}

/* The address of a local variable, as its state space counts. */
static void mov_local(Warp *w, const PtxInst *in, uint32_t mask) {
    uint32_t base = w->frame->local_base;
    EACH_LANE(mask, i, lane_set(w, &in->o[0], i, lane_get(w, &in->o[1], i) + base));
}

/* ---- vectors ------------------------------------------------------------------------------------ */

static inline const PtxOperand *element_of(const Warp *w, const PtxOperand *o, int k) {
    return &w->run->code->vectors[o->off + (uint32_t)k];
}

/* Elements are 1 byte wide in registers of 2, too: in->vec has how many bytes each stands for. */
static void pack(Warp *w, const PtxInst *in, uint32_t mask) {
    uint8_t *d = lanes(w, &in->o[0]), made[16];
    int n = in->o[1].bytes, bytes = in->vec, width = in->o[0].bytes;
    EACH_LANE(mask, i, {
        for (int k = 0; k < n; k++) {
            uint64_t x = lane_get(w, element_of(w, &in->o[1], k), i);
            memcpy(made + k * bytes, &x, (size_t)bytes);
        }
        memcpy(d + i * width, made, (size_t)width);
    });
}

static void unpack(Warp *w, const PtxInst *in, uint32_t mask) {
    const uint8_t *a = lanes(w, &in->o[1]);
    int n = in->o[0].bytes, bytes = in->vec, width = in->o[1].bytes;
    EACH_LANE(mask, i, {
        uint8_t all[16];
        memcpy(all, a + i * width, (size_t)width);
        for (int k = 0; k < n; k++) {
            uint64_t x = 0;
            memcpy(&x, all + k * bytes, (size_t)bytes);
            lane_set(w, element_of(w, &in->o[0], k), i, x);
        }
    });
}

/* The usual ones: two halves. */
#define DEFINE(t, W, H)                                                                                                \
    LANE_FN(pack_##t, W *d = lanes(w, &in->o[0]); const H *low = lanes(w, element_of(w, &in->o[1], 0));                \
            const H *high = lanes(w, element_of(w, &in->o[1], 1));                                                     \
            SET_LANES(mask, W, d, i, (W)low[i] | (W)high[i] << 8 * sizeof(H));)                                        \
    LANE_FN(unpack_##t, const W *a = lanes(w, &in->o[1]); H *low = lanes(w, element_of(w, &in->o[0], 0));              \
            H *high = lanes(w, element_of(w, &in->o[0], 1)); W both[WARP]; memcpy(both, a, sizeof both);               \
            SET_LANES(mask, H, low, i, both[i]); SET_LANES(mask, H, high, i, both[i] >> 8 * sizeof(H));)
DEFINE(32, uint32_t, uint16_t)
DEFINE(64, uint64_t, uint32_t)
#undef DEFINE

static bool is_vector(const PtxOperand *o) { return o->flags & OPERAND_VECTOR; }

static bool mov_vector(PtxInst *in, uint32_t bytes) {
    bool packs = is_vector(&in->o[1]);
    uint32_t n = packs ? in->o[1].bytes : in->o[0].bytes;
    if (packs == is_vector(&in->o[0]) || n < 2 || bytes % n) return false;
    if (n == 2 && bytes == 4) return use(in, packs ? (LanePair)PAIR(pack_32) : (LanePair)PAIR(unpack_32));
    if (n == 2 && bytes == 8) return use(in, packs ? (LanePair)PAIR(pack_64) : (LanePair)PAIR(unpack_64));
    in->vec = (uint8_t)(bytes / n);
    in->fn = packs ? pack : unpack;
    return true;
}

bool select_mov(const PtxForm *f, PtxInst *in) {
    uint32_t bytes = ptx_types[f->types[0]].bytes;
    if (f->ntypes != 1 || !only(f, 0, 0)) return false;
    if (f->types[0] == PT_PRED) {
        in->fn = mov_pred;
        return true;
    }
    if (bytes < 2 || ptx_types[f->types[0]].kind == KIND_PACKED || is_half(f->types[0])) return false;
    if (is_vector(&in->o[0]) || is_vector(&in->o[1]))
        return ptx_types[f->types[0]].kind == KIND_BITS && mov_vector(in, bytes);
    if (in->o[1].flags & OPERAND_LOCAL) in->fn = mov_local;
    else if (in->o[1].bytes != bytes) in->fn = mov_cut;
    else if (bytes == 16) in->fn = mov_128;
    else
        return use(in, bytes == 2   ? (LanePair)PAIR(mov_16)
                       : bytes == 4 ? (LanePair)PAIR(mov_32)
                                    : (LanePair)PAIR(mov_64));
    return true;
}
