/* async_stores.c - cp.reduce.async.bulk, st.async, red.async: what they store is there at once, as in async.c. */
#include "locate.h"

#include <string.h>

/* ---- cp.reduce.async.bulk ------------------------------------------------------------------------ */

static void reduce_one(Warp *w, const PtxInst *in, int lane, Space space, uint64_t to_address, uint64_t from_address) {
    Access to, from;
    uint32_t bytes = ptx_types[in->type[0]].bytes, mask = 1u << lane;
    unsigned how = ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC;
    uint64_t value = 0;
    to.address[lane] = to_address;
    from.address[lane] = from_address;
    locate_lanes(w, in, SPACE_SHARED, mask, bytes, ACCESS_READ, &from);
    if (w->watching) watch(w, in, SPACE_SHARED, mask, bytes, ACCESS_READ, &from, NULL);
    locate_lanes(w, in, space, mask, bytes, how, &to);
    if (w->watching) watch(w, in, space, mask, bytes, how, &to, NULL);
    memcpy(&value, from.host[lane], bytes);
    atomic_apply(in->sub, to.host[lane], bytes, value);
}

/* [to], [from], bytes: element by element. */
static void reduce(Warp *w, const PtxInst *in, uint32_t mask, Space space, uint32_t *size) {
    uint64_t to[WARP], from[WARP];
    uint32_t bytes = ptx_types[in->type[0]].bytes;
    all_addresses(w, &in->o[0], in->disp, to);
    all_addresses(w, &in->o[1], 0, from);
    EACH_LANE(mask, i, {
        size[i] = (uint32_t)lane_get(w, &in->o[2], i);
        if ((size[i] | to[i] | from[i]) % 16) fault(w, in, i, FAULT_MISALIGNED, space, to[i], size[i]);
        for (uint32_t at = 0; at < size[i]; at += bytes) reduce_one(w, in, i, space, to[i] + at, from[i] + at);
    });
}

static void reduce_to_global(Warp *w, const PtxInst *in, uint32_t mask) {
    uint32_t size[WARP];
    reduce(w, in, mask, SPACE_GLOBAL, size);
}

static void reduce_in_shared(Warp *w, const PtxInst *in, uint32_t mask) {
    uint32_t size[WARP];
    reduce(w, in, mask, SPACE_SHARED, size);
    mbarrier_complete(w, in, mask, 3, size);
}

static bool select_step(const PtxForm *f, PtxInst *in, LaneFn fn) {
    int step = f->ntypes == 1 ? atomic_step(f->field[MF_ATOM], f->types[0]) : -1;
    if (step < 0) return false;
    in->sub = (uint8_t)step;
    in->fn = fn;
    return true;
}

static bool is_half_type(unsigned type) { return type == PT_F16 || type == PT_BF16; }

bool select_reduce_to_global(const PtxForm *f, PtxInst *in) {
    bool noftz = is_half_type(f->types[0]) && f->field[MF_ATOM] == ATOM_ADD;
    return noftz == has(f, FLAG_NOFTZ) && select_step(f, in, reduce_to_global);
}
bool select_reduce_in_shared(const PtxForm *f, PtxInst *in) {
    unsigned type = f->types[0];
    bool integer = ptx_types[type].bytes == 4 || type == PT_U64 || type == PT_S64;
    return integer && ptx_types[type].kind != KIND_FLOAT && select_step(f, in, reduce_in_shared);
}

/* ---- st.async, red.async ------------------------------------------------------------------------- */

static const PtxOperand *element(const Warp *w, const PtxOperand *o, uint32_t k) {
    return o->flags & OPERAND_VECTOR ? &w->run->code->vectors[o->off + k] : o;
}

/* [to], value or values, [barrier] */
static void store(Warp *w, const PtxInst *in, uint32_t mask, unsigned how) {
    Access to;
    uint32_t bytes = ptx_types[in->type[0]].bytes, size[WARP];
    locate(w, in, &in->o[0], in->disp, SPACE_SHARED, mask, bytes * in->vec, how, &to);
    if (w->watching) watch(w, in, SPACE_SHARED, mask, bytes * in->vec, how, &to, NULL);
    EACH_LANE(mask, i, {
        size[i] = bytes * in->vec;
        for (uint32_t k = 0; k < in->vec; k++) {
            uint64_t value = lane_get(w, element(w, &in->o[1], k), i);
            if (how & ACCESS_ATOMIC) atomic_apply(in->sub, to.host[i], bytes, value);
            else memcpy(to.host[i] + k * bytes, &value, bytes);
        }
    });
    mbarrier_complete(w, in, mask, 2, size);
}

static void st_async(Warp *w, const PtxInst *in, uint32_t mask) { store(w, in, mask, ACCESS_WRITE); }
static void red_async(Warp *w, const PtxInst *in, uint32_t mask) {
    store(w, in, mask, ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC);
}

static bool is_word(unsigned type) {
    unsigned bytes = ptx_types[type].bytes;
    return (bytes == 4 || bytes == 8) && ptx_types[type].kind != KIND_PACKED && type != PT_TF32;
}

bool select_st_async(const PtxForm *f, PtxInst *in) {
    in->vec = f->field[MF_VEC] ? f->field[MF_VEC] : 1;
    in->fn = st_async;
    return f->ntypes == 1 && is_word(f->types[0]) && in->vec * ptx_types[f->types[0]].bytes <= 16;
}

bool select_red_async(const PtxForm *f, PtxInst *in) {
    return f->ntypes == 1 && is_word(f->types[0]) && ptx_types[f->types[0]].kind != KIND_FLOAT &&
           select_step(f, in, red_async);
}
