/* live.c - how many registers a function would take on a GPU: an estimate for occupancy and for "too many resources".
 *
 * A register is live from its first mention to its last, in the order of the text; one that is live where a loop
 * begins, and is mentioned inside, stays live to the loop's end. The most 32-bit values that are live at once are what
 * ptxas would need if it neither spilled nor moved code. */
#include "decode.h"

enum { LEAST = 16, MOST = 255, DEEPEST = 64 };

/* A backward jump: the loop from its target to itself. */
typedef struct Loop {
    uint32_t start, end, parent; /* parent: one more than the index of the next larger loop; 0: none */
} Loop;

typedef struct Life {
    uint32_t first, last;
    uint8_t words; /* 32-bit registers */
} Life;

typedef struct Lives {
    const Decoder *d;
    Life *lives; /* by 64 bytes of the frame: a register begins in each */
    uint32_t nlives;
    Loop *loops;
    uint32_t nloops, loops_room;
    uint32_t *innermost; /* by pc: one more than the smallest loop around it */
} Lives;

static void mention(Lives *l, const PtxOperand *o, uint32_t at) {
    if (o->file != FILE_FRAME || o->flags & OPERAND_PRED) return;
    Life *life = &l->lives[o->off / 64];
    if (!life->words) *life = (Life){at, at, (uint8_t)(o->bytes < 8 ? 1 : o->bytes / 4)};
    life->last = at;
}

static void mention_all(Lives *l, const PtxInst *in, uint32_t at) {
    for (int k = 0; k < MAX_OPERANDS; k++) {
        const PtxOperand *o = &in->o[k];
        if (o->flags & OPERAND_VECTOR)
            for (uint32_t e = 0; e < o->bytes; e++) mention(l, &l->d->vectors[o->off + e], at);
        else mention(l, o, at);
    }
}

/* Calls `each` for all backward jumps, by their places. */
static void each_jump_back(Lives *l, uint32_t *end,
                           void (*each)(Lives *l, uint32_t *end, uint32_t start, uint32_t pc)) {
    const Decoder *d = l->d;
    for (uint32_t pc = d->func->first; pc < d->func->end; pc++) {
        const PtxInst *in = &d->insts[pc];
        if (in->control == CONTROL_BRA && in->target <= pc) each(l, end, in->target, pc);
        if (in->control != CONTROL_BRX) continue;
        const uint32_t *table = d->code->tables[in->target];
        for (uint32_t i = 1; i <= table[0]; i++)
            if (table[i] <= pc) each(l, end, table[i], pc);
    }
}

/* Jumps to one place are one loop, up to the last of them. */
static void note_end(Lives *l, uint32_t *end, uint32_t start, uint32_t pc) { end[start - l->d->func->first] = pc; }

static void add_loop(Lives *l, uint32_t *end, uint32_t start, uint32_t pc) {
    uint32_t *last = &end[start - l->d->func->first];
    if (*last != pc) return;
    *last = UINT32_MAX;
    STORE_PUSH(&l->d->load->scratch, l->loops, l->nloops, l->loops_room) = (Loop){start, pc, 0};
}

/* The loops come by their ends. Those that begin behind a later one's start lie in it. */
static void nest_loops(Lives *l) {
    uint32_t first = l->d->func->first, depth = 0;
    uint32_t *open = STORE_ARRAY(&l->d->load->scratch, uint32_t, l->nloops + 1);
    for (uint32_t i = 0; i < l->nloops; i++) {
        while (depth && l->loops[open[depth - 1]].start >= l->loops[i].start) l->loops[open[--depth]].parent = i + 1;
        /* What no inner loop has is this one's; behind the last inner one's end there is nothing else. */
        for (uint32_t pc = l->loops[i].end + 1; pc-- > l->loops[i].start;) {
            uint32_t *slot = &l->innermost[pc - first];
            if (*slot) pc = l->loops[*slot - 1].start;
            else *slot = i + 1;
        }
        open[depth++] = i;
    }
}

static uint32_t last_use(const Lives *l, const Life *life) {
    uint32_t last = life->last;
    uint32_t i = l->innermost[last - l->d->func->first];
    for (int steps = 0; i && steps < DEEPEST; i = l->loops[i - 1].parent, steps++)
        if (l->loops[i - 1].start > life->first && l->loops[i - 1].end > last) last = l->loops[i - 1].end;
    return last;
}

void estimate_registers(Decoder *d) {
    Store *scratch = &d->load->scratch;
    uint32_t n = d->func->end - d->func->first;
    Lives l = {.d = d, .nlives = (uint32_t)(d->frame_at / 64) + 1};
    l.lives = STORE_ARRAY(scratch, Life, l.nlives);
    l.innermost = STORE_ARRAY(scratch, uint32_t, n + 1);
    for (uint32_t pc = d->func->first; pc < d->func->end; pc++) mention_all(&l, &d->insts[pc], pc);
    uint32_t *end = STORE_ARRAY(scratch, uint32_t, n + 1);
    each_jump_back(&l, end, note_end);
    each_jump_back(&l, end, add_loop);
    nest_loops(&l);
    int32_t *change = STORE_ARRAY(scratch, int32_t, n + 2), now = 0, most = 0;
    for (uint32_t i = 0; i < l.nlives; i++) {
        if (!l.lives[i].words) continue;
        change[l.lives[i].first - d->func->first] += l.lives[i].words;
        change[last_use(&l, &l.lives[i]) - d->func->first] -= l.lives[i].words;
    }
    for (uint32_t i = 0; i <= n; i++) {
        now += change[i];
        if (now > most) most = now;
    }
    uint32_t limit = d->func->max_registers && d->func->max_registers < MOST ? d->func->max_registers : MOST;
    uint32_t got = (uint32_t)most < LEAST ? LEAST : (uint32_t)most;
    d->func->registers = got > limit ? limit : got;
}
