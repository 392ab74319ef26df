/* locate.h - from addresses to bytes, quickly: what every load and store does for its 32 lanes.
 *
 * Most accesses of a warp go to the allocation that the same instruction used last. Often the lanes' bytes lie side by
 * side, or all want the same: then there is one check for all, and the bytes move as one. Else all lanes are checked in
 * one loop; only where that fails is each looked at, in locate.c, which tells what is wrong. */
#ifndef EMU_LOCATE_H
#define EMU_LOCATE_H

#include "exec.h"
#include "ops.h"

/* Each lane by itself; a->address is there already. */
void locate_lanes(Warp *w, const PtxInst *in, Space space, uint32_t mask, uint32_t bytes, unsigned how, Access *a);

static inline AccessCache *locate_cache(const Warp *w, const PtxInst *in) {
    return &w->cache[(uintptr_t)in / sizeof *in % CACHED_ALLOCS];
}

/* Which kinds of allocations an instruction of the space may touch. */
static inline bool kind_fits(uint8_t kind, Space space) {
    return space == SPACE_GENERIC || (space == SPACE_CONST) == (kind == ALLOC_CONST);
}

/* Memory that one check covers: a piece of [start, start + size), at address + delta on the host. */
typedef struct Room {
    uint64_t start, size;
    uintptr_t delta;
} Room;

/* What an access most likely goes to; size 0: look at each lane. Local memory is one lane's. */
INLINE Room likely_room(const Warp *w, const PtxInst *in, Space space, uint64_t first, unsigned how) {
    const AccessCache *c = locate_cache(w, in);
    switch (space) {
    case SPACE_SHARED: return (Room){0, w->run->shared_bytes, (uintptr_t)w->block->shared};
    case SPACE_LOCAL:
    case SPACE_ARG: return (Room){0, w->run->local_bytes, (uintptr_t)w->local};
    case SPACE_PARAM: return (Room){0, how & ACCESS_WRITE ? 0 : w->run->func->param_bytes, (uintptr_t)w->run->params};
    case SPACE_GENERIC:
        if (generic_space(first) == SPACE_SHARED)
            return (Room){SHARED_WINDOW, w->run->shared_bytes, (uintptr_t)w->block->shared - (uintptr_t)SHARED_WINDOW};
        break;
    case SPACE_GLOBAL:
    case SPACE_CONST: break;
    }
    bool fits = c->epoch == atomic_load_explicit(w->run->epoch, memory_order_acquire) && kind_fits(c->kind, space) &&
                !(c->kind == ALLOC_CONST && how & ACCESS_WRITE);
    return (Room){c->address, fits ? c->bytes : 0, c->delta};
}

/* The bits that an address must not have: of the size, or of the power of two above it if some bytes are left out. */
INLINE uint32_t low_bits_of(uint32_t bytes) {
    return bytes & (bytes - 1) ? (2u << (31 - __builtin_clz(bytes))) - 1 : bytes - 1;
}

/* ---- lanes side by side, or all at one address ----------------------------------------------------- */

typedef enum Pattern { SCATTERED, ROW, SAME } Pattern;

/* How the lanes' addresses follow each other, `step` bytes being each one's. */
INLINE Pattern find_pattern(const Warp *w, const PtxOperand *o, uint32_t step) {
    if (o->file == FILE_CONST || o->file == FILE_NONE) return SAME;
    uint64_t row = 0, same = 0;
    if (o->bytes == 4) {
        const uint32_t *r = lanes(w, o), first = r[0];
        uint32_t row4 = 0, same4 = 0;
        for (uint32_t i = 0; i < WARP; i++) {
            uint32_t d = r[i] - first;
            same4 |= d;
            row4 |= d - i * step;
        }
        row = row4;
        same = same4;
    } else {
        const uint64_t *r = lanes(w, o), first = r[0];
        for (uint32_t i = 0; i < WARP; i++) {
            uint64_t d = r[i] - first;
            same |= d;
            row |= d - i * step;
        }
    }
    return !row ? ROW : !same ? SAME : SCATTERED;
}

/* For a whole warp: the first lane's bytes, when the others' follow or are the same. NULL: neither, or not all is well.
 */
INLINE uint8_t *locate_pattern(Warp *w, const PtxInst *in, const PtxOperand *o, uint32_t bytes, unsigned how,
                               Pattern *pattern) {
    Space space = (Space)in->space;
    if (space == SPACE_LOCAL || space == SPACE_ARG) return NULL;
    *pattern = find_pattern(w, o, bytes);
    if (*pattern == SCATTERED || (*pattern == ROW && bytes & (bytes - 1))) return NULL;
    uint64_t first = (uint64_t)in->disp;
    if (o->file != FILE_NONE)
        first =
            o->bytes == 4 ? (uint32_t)(*(const uint32_t *)lanes(w, o) + first) : *(const uint64_t *)lanes(w, o) + first;
    uint32_t total = *pattern == ROW ? bytes * WARP : bytes;
    Room room = likely_room(w, in, space, first, how);
    if (total > room.size || first - room.start > room.size - total || first & low_bits_of(bytes)) return NULL;
    return (uint8_t *)(uintptr_t)(first + room.delta);
}

/* ---- lanes anywhere ---------------------------------------------------------------------------- */

/* True: all lanes of the mask are in the room and aligned; a->host is filled in. */
INLINE bool all_inside(Access *a, uint32_t mask, Room room, uint32_t bytes) {
    if (bytes > room.size) return false;
    uint64_t last = room.size - bytes, low_bits = 0, outside = 0;
    for (uint32_t i = 0; i < WARP; i++) {
        uint64_t address = a->address[i], off = address - room.start, used = -(uint64_t)(mask >> i & 1);
        outside |= (off > last ? used : 0);
        low_bits |= address & used;
        a->host[i] = (uint8_t *)(uintptr_t)(address + room.delta);
    }
    return !outside && !(low_bits & low_bits_of(bytes));
}

/* An operand's address for each lane: 4- or 8-byte registers, offsets from the frame's locals. */
INLINE void all_addresses(const Warp *w, const PtxOperand *o, int64_t disp, uint64_t *address) {
    uint64_t add = (uint64_t)disp + (o->flags & OPERAND_LOCAL ? w->frame->local_base : 0);
    if (o->file == FILE_NONE) {
        for (uint32_t i = 0; i < WARP; i++) address[i] = add;
    } else if (o->bytes == 4) {
        const uint32_t *r = lanes(w, o);
        for (uint32_t i = 0; i < WARP; i++) address[i] = (uint32_t)(r[i] + (uint32_t)add);
    } else {
        const uint64_t *r = lanes(w, o);
        for (uint32_t i = 0; i < WARP; i++) address[i] = r[i] + add;
    }
}

INLINE void locate_inline(Warp *w, const PtxInst *in, const PtxOperand *o, int64_t disp, Space space, uint32_t mask,
                          uint32_t bytes, unsigned how, Access *a) {
    all_addresses(w, o, disp, a->address);
    Room room = likely_room(w, in, space, a->address[__builtin_ctz(mask)], how);
    if (!all_inside(a, mask, room, bytes)) {
        locate_lanes(w, in, space, mask, bytes, how, a);
    } else if (space == SPACE_LOCAL || space == SPACE_ARG) {
        size_t stride = w->run->local_bytes;
        for (uint32_t i = 0; i < WARP; i++) a->host[i] += i * stride;
    }
}

#endif
