/* locals.c - where in a PTX kernel's local memory its arrays lie, for messages about faults.
 *
 * LLVM gives them places one behind the other, each aligned to 16 bytes, and keeps some in registers instead. Its PTX
 * tells how many bytes there are in all: if only one choice of arrays takes that many, they are known. */
#include "compiler.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

typedef struct Locals {
    Ref at[MOST]; /* as they lie: lower_alloca() puts each new one in front */
    uint32_t n;
    bool too_many;
} Locals;

static uint64_t room_of(const IrModule *m, Ref r) { return (m->instrs.at[r].imm + 15) / 16 * 16; }

static Locals find_locals(const IrModule *m) {
    Locals l = {.n = 0};
    BlockId *order = ARENA_ARRAY(m->arena, BlockId, m->blocks.n);
    uint32_t n = ir_postorder(m, order);
    for (uint32_t i = 0; i < n; i++) {
        const RefVec *instrs = &m->blocks.at[order[i]].instrs;
        for (uint32_t k = instrs->n; k-- > 0;) {
            if (m->instrs.at[instrs->at[k]].op != OP_ALLOCA) continue;
            if (l.n == MOST) l.too_many = true;
            else l.at[l.n++] = instrs->at[k];
        }
    }
    return l;
}

/* ".local .align 16 .b8 __local_depot0[96];" */
static uint64_t depot_bytes(const char *ptx) {
    const char *entry = strstr(ptx, ".entry");
    const char *depot = entry ? strstr(entry, "__local_depot") : NULL;
    const char *size = depot ? strchr(depot, '[') : NULL;
    return size ? strtoull(size + 1, NULL, 10) : 0;
}

/* The one set of arrays that takes so many bytes, a bit each; 0: there is none, or more than one. */
static uint32_t which_are_there(const IrModule *m, const Locals *l, uint64_t bytes) {
    uint32_t found = 0;
    for (uint32_t set = 1; set < 1u << l->n; set++) {
        uint64_t sum = 0, last = 0;
        for (uint32_t i = 0; i < l->n; i++)
            if (set >> i & 1) sum += room_of(m, l->at[i]), last = m->instrs.at[l->at[i]].imm;
        /* the end may be aligned or not */
        if (bytes != sum && bytes != sum - (last + 15) / 16 * 16 + last) continue;
        if (found) return 0;
        found = set;
    }
    return found;
}

bool locals_fill(Image *image, const IrModule *m) {
    if (!m->locals.n || !image->ptx) return true;
    Locals l = find_locals(m);
    if (!l.n || l.too_many) return true;
    uint32_t set = which_are_there(m, &l, depot_bytes(image->ptx)), offset = 0;
    if (!(image->locals = calloc(l.n, sizeof *image->locals))) return false;
    for (uint32_t i = 0; i < l.n; i++) {
        if (!(set >> i & 1)) continue;
        const Instr *in = &m->instrs.at[l.at[i]];
        ImageShared *out = &image->locals[image->nlocals++];
        if (in->sub) *out = m->locals.at[in->sub - 1];
        out->offset = offset;
        out->line = in->span < m->spans.n ? m->spans.at[in->span].line : 0;
        offset += (uint32_t)room_of(m, l.at[i]);
    }
    return true;
}
