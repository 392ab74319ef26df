/* half.h - half and bfloat16 as floats, and back to the nearest, ties to even. */
#ifndef EMU_HALF_H
#define EMU_HALF_H

#include <stdint.h>
#include <string.h>

static inline float half_to_float(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff, bits;
    float f;
    if (exponent == 0) {
        f = (float)fraction * 0x1p-24f;
        memcpy(&bits, &f, 4);
    } else {
        bits = (exponent == 31 ? 255 : exponent + 112) << 23 | fraction << 13;
    }
    bits |= sign;
    memcpy(&f, &bits, 4);
    return f;
}

static inline uint16_t half_from_float(float f) {
    uint32_t bits;
    memcpy(&bits, &f, 4);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return 0x7fff;
    if (magnitude >= 0x477ff000) return sign | 0x7c00; /* from halfway to 65536 on */
    if (magnitude < 0x38800000) {                      /* subnormal: let the addition round */
        float m;
        memcpy(&m, &magnitude, 4);
        m += 0.5f; /* a unit of 2^-24 is the last bit of 0.5 */
        memcpy(&magnitude, &m, 4);
        return (uint16_t)(sign | (magnitude - 0x3f000000));
    }
    uint32_t odd = magnitude >> 13 & 1;
    return (uint16_t)(sign | ((magnitude - (112u << 23) + 0xfff + odd) >> 13));
}

static inline float bf16_to_float(uint16_t b) {
    uint32_t bits = (uint32_t)b << 16;
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static inline uint16_t bf16_from_float(float f) {
    uint32_t bits;
    memcpy(&bits, &f, 4);
    if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#endif
