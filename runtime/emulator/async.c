/* async.c - cp.async, cp.async.bulk and mbarrier.
 *
 * A copy is done where it is issued: a right program can't tell. An mbarrier is a 64-bit word in shared memory, whose
 * layout is the implementation's own; this one's: pending arrivals (bits 0-19), arrivals of a phase (20-39), bytes that
 * are still to come (40-60, a signed number), and the parity of the phase (63). A state, which arrive returns, is the
 * word before the arrival. */
#include "locate.h"

#include <string.h>

/* ---- cp.async ---------------------------------------------------------------------------------- */

/* [to], [from], bytes, bytes that are read: what is beyond them becomes zero. */
static void copy(Warp *w, const PtxInst *in, uint32_t mask) {
    Access to, from;
    const PtxOperand *o = in->o;
    uint32_t bytes = (uint32_t)lane_get(w, &o[2], __builtin_ctz(mask)), reading = 0, size[WARP];
    if (bytes != 16 && (in->sub == CACHE_CG || (bytes != 4 && bytes != 8)))
        fault(w, in, __builtin_ctz(mask), FAULT_MISALIGNED, SPACE_SHARED, bytes, 0);
    EACH_LANE(mask, i, {
        uint64_t n = o[3].file == FILE_NONE ? bytes : lane_get(w, &o[3], i);
        size[i] = n < bytes ? (uint32_t)n : bytes;
        reading |= (uint32_t)(size[i] > 0) << i;
    });
    locate(w, in, &o[0], in->disp, SPACE_SHARED, mask, bytes, ACCESS_WRITE, &to);
    if (w->watching) watch(w, in, SPACE_SHARED, mask, bytes, ACCESS_WRITE, &to, NULL);
    if (reading) locate(w, in, &o[1], 0, SPACE_GLOBAL, reading, bytes, ACCESS_READ, &from);
    if (reading && w->watching) watch(w, in, SPACE_GLOBAL, reading, bytes, ACCESS_READ, &from, NULL);
    EACH_LANE(mask, i, {
        memset(to.host[i], 0, bytes);
        if (size[i]) memcpy(to.host[i], from.host[i], size[i]);
    });
}

static bool select_copy(const PtxForm *f, PtxInst *in, uint8_t cache) {
    in->fn = copy;
    in->sub = cache;
    return f->ntypes == 0;
}

bool select_cp_async_ca(const PtxForm *f, PtxInst *in) { return select_copy(f, in, CACHE_CA); }
bool select_cp_async_cg(const PtxForm *f, PtxInst *in) { return select_copy(f, in, CACHE_CG); }

/* ---- the word of an mbarrier --------------------------------------------------------------------- */

enum { COUNT_BITS = 20, COUNT_MAX = (1 << COUNT_BITS) - 1, TX_BITS = 21 };
#define PHASE_BIT (UINT64_C(1) << 63)

typedef struct Word {
    uint32_t pending, expected;
    int32_t tx;
    bool phase;
} Word;

static Word unpack(uint64_t bits) {
    uint32_t tx = (uint32_t)(bits >> 2 * COUNT_BITS) & ((1u << TX_BITS) - 1);
    return (Word){(uint32_t)bits & COUNT_MAX, (uint32_t)(bits >> COUNT_BITS) & COUNT_MAX, (int32_t)(tx << 11) >> 11,
                  (bits & PHASE_BIT) != 0};
}

static uint64_t pack(Word b) {
    uint64_t tx = (uint32_t)b.tx & ((1u << TX_BITS) - 1);
    return b.pending | (uint64_t)b.expected << COUNT_BITS | tx << 2 * COUNT_BITS | (b.phase ? PHASE_BIT : 0);
}

/* A phase ends when all have arrived and all bytes have come; the next one begins. */
static Word advance(Word b) {
    if (b.pending == 0 && b.tx == 0) {
        b.pending = b.expected;
        b.phase = !b.phase;
    }
    return b;
}

/* Where the lanes' barriers are. They order what comes before an arrival and behind a wait. */
static void locate_barrier(Warp *w, const PtxInst *in, uint32_t mask, int operand, Access *a) {
    unsigned how = ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC;
    locate(w, in, &in->o[operand], in->disp, (Space)in->space, mask, 8, how, a);
    if (w->watching) watch(w, in, (Space)in->space, mask, 8, how, a, NULL);
    watch_fence(w, mask, false);
    watch_observe(w, mask);
}

static uint64_t load_word(const Access *a, int lane) {
    uint64_t bits;
    memcpy(&bits, a->host[lane], 8);
    return bits;
}

static void store_word(const Access *a, int lane, Word b) {
    uint64_t bits = pack(b);
    memcpy(a->host[lane], &bits, 8);
}

/* ---- mbarrier ---------------------------------------------------------------------------------- */

static void init(Warp *w, const PtxInst *in, uint32_t mask) {
    Access a;
    locate(w, in, &in->o[0], in->disp, (Space)in->space, mask, 8, ACCESS_WRITE, &a);
    if (w->watching) watch(w, in, (Space)in->space, mask, 8, ACCESS_WRITE, &a, NULL);
    EACH_LANE(mask, i, {
        uint32_t n = (uint32_t)lane_get(w, &in->o[1], i);
        if (n == 0 || n > COUNT_MAX) fault(w, in, i, FAULT_MBARRIER, SPACE_SHARED, n, 0);
        store_word(&a, i, (Word){.pending = n, .expected = n});
    });
}

static void invalidate(Warp *w, const PtxInst *in, uint32_t mask) {
    Access a;
    locate(w, in, &in->o[0], in->disp, (Space)in->space, mask, 8, ACCESS_WRITE, &a);
    if (w->watching) watch(w, in, (Space)in->space, mask, 8, ACCESS_WRITE, &a, NULL);
}

enum { ARRIVES = 1, DROPS = 2, EXPECTS = 4, COMPLETES = 8 }; /* `sub` */

/* state, [barrier], count or bytes; expect_tx and complete_tx alone have no state. */
static void arrive(Warp *w, const PtxInst *in, uint32_t mask) {
    Access a;
    int k = in->sub & ARRIVES ? 1 : 0;
    const PtxOperand *number = &in->o[k + 1];
    locate_barrier(w, in, mask, k, &a);
    EACH_LANE(mask, i, {
        uint64_t before = load_word(&a, i);
        Word b = unpack(before);
        uint32_t given = number->file == FILE_NONE ? 1 : (uint32_t)lane_get(w, number, i);
        uint32_t count = !(in->sub & ARRIVES) ? 0 : in->sub & EXPECTS ? 1 : given;
        if (count > b.pending || (in->sub & ARRIVES && b.expected == 0))
            fault(w, in, i, FAULT_MBARRIER, SPACE_SHARED, a.address[i], 0);
        if (in->sub & EXPECTS) b.tx = (int32_t)((uint32_t)b.tx + given);
        if (in->sub & COMPLETES) b.tx = (int32_t)((uint32_t)b.tx - given);
        if (in->sub & DROPS) b.expected -= count;
        b.pending -= count;
        store_word(&a, i, advance(b));
        if (k) lane_set(w, &in->o[0], i, before);
    });
}

/* p, [barrier], state or parity: true when that phase is over. */
static void test(Warp *w, const PtxInst *in, uint32_t mask, bool parity) {
    Access a;
    uint32_t over = 0;
    locate_barrier(w, in, mask, 1, &a);
    EACH_LANE(mask, i, {
        uint64_t given = lane_get(w, &in->o[2], i);
        bool phase = parity ? given & 1 : (given & PHASE_BIT) != 0;
        over |= (uint32_t)(unpack(load_word(&a, i)).phase != phase) << i;
    });
    pred_set(w, &in->o[0], mask, over);
    w->observed = true;
}

static void test_state(Warp *w, const PtxInst *in, uint32_t mask) { test(w, in, mask, false); }
static void test_parity(Warp *w, const PtxInst *in, uint32_t mask) { test(w, in, mask, true); }

static void pending_count(Warp *w, const PtxInst *in, uint32_t mask) {
    EACH_LANE(mask, i, lane_set(w, &in->o[0], i, unpack(lane_get(w, &in->o[1], i)).pending));
}

/* cp.async.mbarrier.arrive: the copies before it are done. Without .noinc it first adds the arrival that it makes. */
static void copies_arrive(Warp *w, const PtxInst *in, uint32_t mask) {
    Access a;
    locate_barrier(w, in, mask, 0, &a);
    if (!in->sub) return;
    EACH_LANE(mask, i, {
        Word b = unpack(load_word(&a, i));
        if (b.pending == 0) fault(w, in, i, FAULT_MBARRIER, SPACE_SHARED, a.address[i], 0);
        b.pending--;
        store_word(&a, i, advance(b));
    });
}

void mbarrier_complete(Warp *w, const PtxInst *in, uint32_t mask, int operand, const uint32_t *bytes) {
    Access a;
    unsigned how = ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC;
    locate(w, in, &in->o[operand], 0, SPACE_SHARED, mask, 8, how, &a);
    if (w->watching) watch(w, in, SPACE_SHARED, mask, 8, how, &a, NULL);
    watch_fence(w, mask, false);
    EACH_LANE(mask, i, {
        Word word = unpack(load_word(&a, i));
        word.tx = (int32_t)((uint32_t)word.tx - bytes[i]);
        store_word(&a, i, advance(word));
    });
}

/* ---- cp.async.bulk ------------------------------------------------------------------------------ */

typedef struct Bulk {
    Space to, from;
    bool counts; /* the bytes, at the barrier in operand 3 */
} Bulk;
static const Bulk bulks[] = {
    {SPACE_SHARED, SPACE_GLOBAL, true}, {SPACE_SHARED, SPACE_SHARED, true}, {SPACE_GLOBAL, SPACE_SHARED, false}};

static void move_chunk(Warp *w, const PtxInst *in, uint32_t lane, const Bulk *b, uint64_t to_address,
                       uint64_t from_address) {
    Access to, from;
    to.address[lane] = to_address;
    from.address[lane] = from_address;
    locate_lanes(w, in, b->from, 1u << lane, 16, ACCESS_READ, &from);
    if (w->watching) watch(w, in, b->from, 1u << lane, 16, ACCESS_READ, &from, NULL);
    locate_lanes(w, in, b->to, 1u << lane, 16, ACCESS_WRITE, &to);
    if (w->watching) watch(w, in, b->to, 1u << lane, 16, ACCESS_WRITE, &to, NULL);
    memcpy(to.host[lane], from.host[lane], 16);
}

/* [to], [from], bytes, [barrier]: 16 bytes at a time, lane by lane. */
static void bulk_copy(Warp *w, const PtxInst *in, uint32_t mask) {
    const Bulk *b = &bulks[in->sub];
    uint64_t to[WARP], from[WARP];
    uint32_t size[WARP];
    all_addresses(w, &in->o[0], in->disp, to);
    all_addresses(w, &in->o[1], 0, from);
    EACH_LANE(mask, i, {
        uint32_t bytes = size[i] = (uint32_t)lane_get(w, &in->o[2], i);
        if (bytes % 16) fault(w, in, i, FAULT_MISALIGNED, b->to, to[i], bytes);
        for (uint32_t at = 0; at < bytes; at += 16) move_chunk(w, in, (uint32_t)i, b, to[i] + at, from[i] + at);
    });
    if (b->counts) mbarrier_complete(w, in, mask, 3, size);
}

static bool select_bulk(const PtxForm *f, PtxInst *in, uint8_t which) {
    in->fn = bulk_copy;
    in->sub = which;
    return f->ntypes == 0;
}

bool select_bulk_to_shared(const PtxForm *f, PtxInst *in) { return select_bulk(f, in, 0); }
bool select_bulk_in_shared(const PtxForm *f, PtxInst *in) { return select_bulk(f, in, 1); }
bool select_bulk_to_global(const PtxForm *f, PtxInst *in) { return select_bulk(f, in, 2); }

/* ---- rows of ptxops.def -------------------------------------------------------------------------- */

static bool barrier_form(const PtxForm *f, PtxInst *in, LaneFn fn, unsigned sub) {
    in->fn = fn;
    in->sub = (uint8_t)sub;
    in->space = f->field[MF_SPACE] ? (uint8_t)(f->field[MF_SPACE] - 1) : SPACE_GENERIC;
    return f->ntypes == 1 && f->types[0] == PT_B64 && (in->space == SPACE_GENERIC || in->space == SPACE_SHARED);
}

bool select_mbarrier_init(const PtxForm *f, PtxInst *in) { return barrier_form(f, in, init, 0); }
bool select_mbarrier_inval(const PtxForm *f, PtxInst *in) { return barrier_form(f, in, invalidate, 0); }
bool select_mbarrier_arrive(const PtxForm *f, PtxInst *in) { return barrier_form(f, in, arrive, ARRIVES); }
bool select_mbarrier_arrive_drop(const PtxForm *f, PtxInst *in) { return barrier_form(f, in, arrive, ARRIVES | DROPS); }
bool select_mbarrier_arrive_expect_tx(const PtxForm *f, PtxInst *in) {
    return barrier_form(f, in, arrive, ARRIVES | EXPECTS);
}
bool select_mbarrier_arrive_drop_expect_tx(const PtxForm *f, PtxInst *in) {
    return barrier_form(f, in, arrive, ARRIVES | DROPS | EXPECTS);
}
bool select_mbarrier_test(const PtxForm *f, PtxInst *in) { return barrier_form(f, in, test_state, 0); }
bool select_mbarrier_test_parity(const PtxForm *f, PtxInst *in) { return barrier_form(f, in, test_parity, 0); }
bool select_mbarrier_pending_count(const PtxForm *f, PtxInst *in) { return barrier_form(f, in, pending_count, 0); }
bool select_cp_async_mbarrier(const PtxForm *f, PtxInst *in) {
    return barrier_form(f, in, copies_arrive, f->flags >> FLAG_NOINC & 1);
}

bool select_mbarrier_expect_tx(const PtxForm *f, PtxInst *in) { return barrier_form(f, in, arrive, EXPECTS); }
bool select_mbarrier_complete_tx(const PtxForm *f, PtxInst *in) { return barrier_form(f, in, arrive, COMPLETES); }
