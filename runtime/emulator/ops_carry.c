/* ops_carry.c - add, sub and mad of 32- and 64-bit integers that read (addc subc madc) or write (.cc) the carry flag,
 * one bit a lane in the frame.
 *
 * A subtraction adds the complement and 1, so its carry is 1 where it didn't borrow: so GPUs have it, and nvcc's
 * 128-bit division reads a borrow with addc. The manual calls the flag a borrow, which is the same to subc alone. */
#include "ops.h"

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

/* in->sub of these operations. */
enum { READS_CARRY = 1, WRITES_CARRY = 2 };

/* `sum` and `carry` of p, q and the incoming carry k; `none` of DEFINE is the k of an operation that reads none. */
#define ADDS(U, p, q, k, sum, carry)                                                                                   \
    U sum = (U)((p) + (q) + (k));                                                                                      \
    uint32_t carry = (k) ? sum <= (p) : sum < (p)
#define SUBTRACTS(U, p, q, k, sum, carry)                                                                              \
    U sum = (U)((p) - (q) - !(k));                                                                                     \
    uint32_t carry = (k) ? (p) >= (q) : (p) > (q)

#define DEFINE(name, U, STEP, none, first, second)                                                                     \
    static void name(Warp *w, const PtxInst *in, uint32_t mask) {                                                      \
        U *d = lanes(w, &in->o[0]);                                                                                    \
        const U *a = lanes(w, &in->o[1]), *b = lanes(w, &in->o[2]);                                                    \
        const U *c = in->o[3].file ? lanes(w, &in->o[3]) : a;                                                          \
        uint32_t carries = in->sub & READS_CARRY ? w->frame->carry : (none), out = 0;                                  \
        (void)c;                                                                                                       \
        EACH_LANE(mask, i, {                                                                                           \
            U k = carries >> i & 1;                                                                                    \
            STEP(U, (first), (second), k, sum, carry);                                                                 \
            d[i] = sum;                                                                                                \
            out |= carry << i;                                                                                         \
        });                                                                                                            \
        if (in->sub & WRITES_CARRY) w->frame->carry = (w->frame->carry & ~mask) | out;                                 \
    }
DEFINE(add_32, uint32_t, ADDS, 0, a[i], b[i])
DEFINE(add_64, uint64_t, ADDS, 0, a[i], b[i])
DEFINE(sub_32, uint32_t, SUBTRACTS, UINT32_MAX, a[i], b[i])
DEFINE(sub_64, uint64_t, SUBTRACTS, UINT32_MAX, a[i], b[i])
DEFINE(mad_lo_32, uint32_t, ADDS, 0, a[i] * b[i], c[i])
DEFINE(mad_lo_64, uint64_t, ADDS, 0, a[i] * b[i], c[i])
DEFINE(mad_hi_u32, uint32_t, ADDS, 0, (uint32_t)((uint64_t)a[i] * b[i] >> 32), c[i])
DEFINE(mad_hi_s32, uint32_t, ADDS, 0, (uint32_t)((uint64_t)((int64_t)(int32_t)a[i] * (int32_t)b[i]) >> 32), c[i])
DEFINE(mad_hi_u64, uint64_t, ADDS, 0, (uint64_t)((UInt128)a[i] * b[i] >> 64), c[i])
DEFINE(mad_hi_s64, uint64_t, ADDS, 0, (uint64_t)((UInt128)((Int128)(int64_t)a[i] * (int64_t)b[i]) >> 64), c[i])

static bool carry_flags(const PtxForm *f, PtxInst *in, bool reads, uint32_t fields) {
    int type = int_index(f->types[0]);
    if (f->ntypes != 1 || type < I_U32 || !only(f, BIT(CC), fields)) return false;
    if (!reads && !has(f, FLAG_CC)) return false;
    in->sub = (uint8_t)((reads ? READS_CARRY : 0) | (has(f, FLAG_CC) ? WRITES_CARRY : 0));
    return true;
}

static bool use_carry(const PtxForm *f, PtxInst *in, bool reads, LaneFn narrow, LaneFn wide) {
    if (!carry_flags(f, in, reads, 0)) return false;
    in->fn = int_index(f->types[0]) >= I_U64 ? wide : narrow;
    return true;
}

bool carry_arith(Arith op, const PtxForm *f, PtxInst *in) {
    return op == OP_ADD ? use_carry(f, in, false, add_32, add_64)
                        : op == OP_SUB && use_carry(f, in, false, sub_32, sub_64);
}
bool select_addc(const PtxForm *f, PtxInst *in) { return use_carry(f, in, true, add_32, add_64); }
bool select_subc(const PtxForm *f, PtxInst *in) { return use_carry(f, in, true, sub_32, sub_64); }

bool carry_mad(const PtxForm *f, PtxInst *in, bool reads) {
    static const LaneFn high[I_COUNT] = {
        [I_U32] = mad_hi_u32, [I_S32] = mad_hi_s32, [I_U64] = mad_hi_u64, [I_S64] = mad_hi_s64};
    if (!carry_flags(f, in, reads, FIELD(PART))) return false;
    int type = int_index(f->types[0]);
    unsigned part = f->field[MF_PART];
    if (part == PART_HI) in->fn = high[type];
    else if (part == PART_LO) in->fn = type >= I_U64 ? mad_lo_64 : mad_lo_32;
    else return false;
    return true;
}
bool select_madc(const PtxForm *f, PtxInst *in) { return carry_mad(f, in, true); }
