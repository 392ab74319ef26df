/* lanes.c - single lanes of an operand, at any width. See warp.h. */
#include "warp.h"

uint64_t lane_get(const Warp *w, const PtxOperand *o, int lane) {
    const void *p = lanes(w, o);
    switch (o->bytes) {
    case 1:
    case 2: return ((const uint16_t *)p)[lane];
    case 4: return ((const uint32_t *)p)[lane];
    case 16: return ((const uint64_t *)p)[2 * lane];
    default: return ((const uint64_t *)p)[lane];
    }
}

void lane_set(const Warp *w, const PtxOperand *o, int lane, uint64_t bits) {
    void *p = lanes(w, o);
    switch (o->bytes) {
    case 1:
    case 2: ((uint16_t *)p)[lane] = (uint16_t)bits; break;
    case 4: ((uint32_t *)p)[lane] = (uint32_t)bits; break;
    case 16:
        ((uint64_t *)p)[2 * lane] = bits;
        ((uint64_t *)p)[2 * lane + 1] = 0;
        break;
    default: ((uint64_t *)p)[lane] = bits; break;
    }
}
