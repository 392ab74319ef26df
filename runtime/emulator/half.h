/* half.h - half and bfloat16 as floats, and back to the nearest, ties to even. */
#ifndef EMU_HALF_H
#define EMU_HALF_H

#include <stdint.h>
#include <string.h>

#define HALF_INLINE static inline __attribute__((always_inline))

/* yes ? a : b as arithmetic: loops over it become vector code, which gcc doesn't make of several branches. */
HALF_INLINE uint32_t pick_bits(uint32_t yes, uint32_t a, uint32_t b) { return b ^ ((a ^ b) & (0 - yes)); }

/* Of subnormals the fraction above 2^-14 is a difference. */
HALF_INLINE float half_to_float(uint16_t h) {
    uint32_t digits = (uint32_t)(h & 0x7fff) << 13, above = digits + (113u << 23), small, bits;
    float f;
    memcpy(&f, &above, 4);
    f -= 0x1p-14f;
    memcpy(&small, &f, 4);
    bits = pick_bits(digits < 0x00800000, small, digits + (112u << 23));
    bits |= pick_bits(digits >= 0x0f800000, 0x7f800000, 0) | (uint32_t)(h & 0x8000) << 16;
    memcpy(&f, &bits, 4);
    return f;
}

HALF_INLINE uint16_t half_from_float(float f) {
    uint32_t bits, small, sign;
    memcpy(&bits, &f, 4);
    sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    memcpy(&f, &bits, 4);
    f += 0.5f; /* of a subnormal the addition rounds: a unit of 2^-24 is the last bit of 0.5 */
    memcpy(&small, &f, 4);
    uint32_t normal = (bits - (112u << 23) + 0xfff + (bits >> 13 & 1)) >> 13;
    uint32_t h = pick_bits(bits < 0x38800000, small - 0x3f000000, normal);
    h = pick_bits(bits >= 0x477ff000, 0x7c00, h) | sign; /* from halfway to 65536 on */
    h = pick_bits(bits > 0x7f800000, 0x7fff, h);
    return (uint16_t)h;
}

HALF_INLINE float bf16_to_float(uint16_t b) {
    uint32_t bits = (uint32_t)b << 16;
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

HALF_INLINE uint16_t bf16_from_float(float f) {
    uint32_t bits;
    memcpy(&bits, &f, 4);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)pick_bits((bits & 0x7fffffff) > 0x7f800000, 0x7fff, rounded);
}

#endif
