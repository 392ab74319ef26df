/* ops_pack.c - cvt to and from packed formats: pairs of f16, bf16, e4m3 and e5m2; cvt.pack of integers. */
#include "half.h"
#include "ops_float.h"

enum { P_ROUND = 15, P_RELU = 16, P_SATFINITE = 32 }; /* in->sub */

static const FloatFormat *element_format(unsigned type) {
    switch (type) {
    case PT_F16X2: return &format_f16;
    case PT_BF16X2: return &format_bf16;
    case PT_E4M3X2: return &format_e4m3;
    case PT_E5M2X2: return &format_e5m2;
    default: return NULL;
    }
}
static bool is_fp8(unsigned type) { return type == PT_E4M3X2 || type == PT_E5M2X2; }
static unsigned element_bits(unsigned type) { return is_fp8(type) ? 8 : 16; }

static uint32_t element_of(unsigned type, uint8_t sub, double x) {
    if (sub & P_RELU && x <= 0) x = 0;
    return (uint32_t)round_double(element_format(type), sub & P_ROUND, sub & P_SATFINITE, x);
}

/* d = {a, b}, a above. */
static void from_f32(Warp *w, const PtxInst *in, uint32_t mask) {
    const float *a = lanes(w, &in->o[1]), *b = lanes(w, &in->o[2]);
    unsigned type = in->type[0], bits = element_bits(type);
    EACH_LANE(mask, i, {
        uint32_t high = element_of(type, in->sub, (double)a[i]);
        uint32_t low = element_of(type, in->sub, (double)b[i]);
        lane_set(w, &in->o[0], i, high << bits | low);
    });
}
#define PACK2(convert, x, y) ((uint32_t)convert(x) << 16 | convert(y))
BINARY(f16x2_f32, uint32_t, float, float, PACK2(half_from_float, x, y))
BINARY(bf16x2_f32, uint32_t, float, float, PACK2(bf16_from_float, x, y))

/* Both elements of a packed format to the other. */
static void repack(Warp *w, const PtxInst *in, uint32_t mask) {
    unsigned to = in->type[0], from = in->type[1], in_bits = element_bits(from), out_bits = element_bits(to);
    EACH_LANE(mask, i, {
        uint64_t x = lane_get(w, &in->o[1], i);
        uint32_t low = element_of(to, in->sub, widen(element_format(from), x & ((1u << in_bits) - 1)));
        uint32_t high = element_of(to, in->sub, widen(element_format(from), x >> in_bits & ((1u << in_bits) - 1)));
        lane_set(w, &in->o[0], i, high << out_bits | low);
    });
}

static bool float_pack(const PtxForm *f, PtxInst *in) {
    unsigned to = f->types[0], from = f->types[1], how = rounding(f);
    bool finite = has(f, FLAG_SATFINITE), relu = has(f, FLAG_RELU), plain = !finite && !relu;
    if (f->ntypes != 2 || in->o[3].file || !only(f, BIT(RELU) | BIT(SATFINITE), FIELD(ROUND))) return false;
    in->sub = (uint8_t)(how | (relu ? P_RELU : 0) | (finite ? P_SATFINITE : 0));
    if (from == PT_F32) {
        if (!in->o[2].file || !element_format(to)) return false;
        if (is_fp8(to) ? how != ROUND_RN || !finite : how != ROUND_RN && how != ROUND_RZ) return false;
        if (to == PT_F16X2 && plain && how == ROUND_RN) return use(in, (LanePair)PAIR(f16x2_f32));
        if (to == PT_BF16X2 && plain && how == ROUND_RN) return use(in, (LanePair)PAIR(bf16x2_f32));
        in->fn = from_f32;
        return true;
    }
    if (in->o[2].file || how != ROUND_RN) return false;
    if (!(is_fp8(to) && from == PT_F16X2 && finite) && !(to == PT_F16X2 && is_fp8(from) && !finite)) return false;
    in->fn = repack;
    return true;
}

/* ---- cvt.pack ------------------------------------------------------------------------------------ */

static uint32_t saturated(unsigned type, int32_t x) {
    int bits = 8 * ptx_types[type].bytes;
    int32_t low = ptx_types[type].kind == KIND_SIGNED ? -(1 << (bits - 1)) : 0;
    int32_t high = low < 0 ? -(low + 1) : (1 << bits) - 1;
    return (uint32_t)(x < low ? low : x > high ? high : x) & ((1u << bits) - 1);
}

/* a above b; bytes stand above the lower half of c. */
static void pack_ints(Warp *w, const PtxInst *in, uint32_t mask) {
    uint32_t *d = lanes(w, &in->o[0]);
    const int32_t *a = lanes(w, &in->o[1]), *b = lanes(w, &in->o[2]);
    const uint32_t *c = in->o[3].file ? lanes(w, &in->o[3]) : NULL;
    int bits = 8 * ptx_types[in->type[0]].bytes;
    EACH_LANE(mask, i, {
        uint32_t both = saturated(in->type[0], a[i]) << bits | saturated(in->type[0], b[i]);
        d[i] = c ? c[i] << 2 * bits | both : both;
    });
}

static bool int_pack(const PtxForm *f, PtxInst *in) {
    unsigned to = f->types[0];
    bool halves = to == PT_U16 || to == PT_S16, bytes = to == PT_U8 || to == PT_S8;
    if (f->flags != (BIT(PACK) | BIT(SAT)) || !only(f, f->flags, 0) || f->types[1] != PT_S32 || !in->o[2].file)
        return false;
    if (halves ? f->ntypes != 2 || in->o[3].file : !bytes || f->ntypes != 3 || f->types[2] != PT_B32 || !in->o[3].file)
        return false;
    if (in->o[0].bytes != 4) return false;
    in->fn = pack_ints;
    return true;
}

bool packed_cvt(const PtxForm *f, PtxInst *in) { return has(f, FLAG_PACK) ? int_pack(f, in) : float_pack(f, in); }
