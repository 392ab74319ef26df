/* control.c - where lanes go: calls, returns, exits, jumps by table; and warp operations, which wait for their lanes.
 *
 * Lanes that call together share a frame of registers; each has its own place in local memory, at the same offset. A
 * warp operation runs when every lane that its mask names, and that hasn't exited, is at one with the same mask. They
 * need not be at the same place: compilers copy code. */
#include "exec.h"

#include <stdlib.h>
#include <string.h>

static Fragment *current(Warp *w) { return &w->scheduler->fragments[w->scheduler->current]; }

/* The current fragment keeps the lanes of `mask`; the others, which a guard holds back, go on behind it. */
static Fragment *keep(Warp *w, uint32_t mask) {
    Fragment *f = current(w);
    uint32_t rest = f->mask & ~mask;
    f->mask = mask;
    if (rest) fragment_add(w, (Fragment){.frame = f->frame, .pc = f->pc + 1, .mask = rest, .turn = f->turn});
    return f;
}

/* ---- frames ------------------------------------------------------------------------------------ */

/* A frame and its registers are one piece of memory, kept for the next call of the function. */
Frame *frame_take(Worker *worker, const PtxFunc *func) {
    size_t index = (size_t)(func - worker->run->code->funcs), header = (sizeof(Frame) + 63) & ~(size_t)63;
    Frame *f = worker->free_frames[index];
    if (f) {
        worker->free_frames[index] = f->parent;
    } else {
        f = aligned_alloc(64, (header + func->frame_bytes + 127) & ~(size_t)63);
        if (!f) return NULL;
        f->made = worker->frames;
        worker->frames = f;
    }
    *f = (Frame){.func = func, .regs = (uint8_t *)f + header, .made = f->made};
    memset(f->regs, 0, func->frame_bytes);
    return f;
}

void frame_release(Worker *worker, Frame *f) {
    size_t index = (size_t)(f->func - worker->run->code->funcs);
    f->parent = worker->free_frames[index];
    worker->free_frames[index] = f;
}

/* ---- calls ------------------------------------------------------------------------------------- */

static void copy_local(Warp *w, uint32_t mask, uint32_t to, uint32_t from, uint32_t bytes) {
    size_t stride = w->run->local_bytes;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint8_t *lane = w->local + (size_t)__builtin_ctz(left) * stride;
        memcpy(lane + to, lane + from, bytes);
    }
    if (w->block->local_written) watch_copy_local(w, mask, to, from, bytes);
}

static uint32_t align16(uint32_t n) { return (n + 15) & ~15u; }

/* The current fragment, of which all lanes call, enters the function. */
static void enter(Warp *w, const PtxInst *in, const PtxFunc *func) {
    const PtxCode *code = w->run->code;
    const PtxCall *call = &code->calls[in->call];
    Fragment *f = current(w);
    Builtin builtin = w->run->builtins[func - code->funcs];
    if (builtin) {
        if (!builtin(w, in, call, f->mask)) f->pc++;
        return;
    }
    uint32_t base = align16(f->frame->top), top = base + align16(func->local_bytes ? func->local_bytes : 1);
    if (top > w->run->local_bytes) fault(w, in, __builtin_ctz(f->mask), FAULT_STACK, SPACE_LOCAL, 0, 0);
    Frame *frame = frame_take(w->block->worker, func);
    if (!frame) fault(w, in, __builtin_ctz(f->mask), FAULT_STACK, SPACE_LOCAL, 0, 0);
    frame->parent = f->frame;
    frame->return_pc = f->pc + 1;
    frame->call = in->call;
    frame->lanes = f->mask;
    frame->depth = f->frame->depth + 1;
    frame->local_base = base;
    frame->top = top;
    if (w->block->local_written) watch_forget_local(w, f->mask, base, func->local_bytes);
    bool indirect = in->control == CONTROL_CALL_INDIRECT;
    for (uint32_t i = 0; i < call->nargs && i < func->nparams; i++) {
        uint32_t to = indirect ? func->params[i].offset : call->args[i].to, bytes = call->args[i].bytes;
        if (bytes > func->params[i].bytes) bytes = func->params[i].bytes;
        copy_local(w, f->mask, base + to, f->frame->local_base + call->args[i].from, bytes);
    }
    f->frame = frame;
    f->pc = func->first;
}

static const PtxFunc *function_at(Warp *w, const PtxInst *in, int lane, uint64_t address) {
    const PtxCode *code = w->run->code;
    uint64_t index = (address - FUNCTION_BASE) / 16;
    if (address < FUNCTION_BASE || (address - FUNCTION_BASE) % 16 || index >= code->nfuncs ||
        code->funcs[index].is_kernel)
        fault(w, in, lane, FAULT_BAD_CALL, SPACE_GENERIC, address, 0);
    return &code->funcs[index];
}

void control_call(Warp *w, const PtxInst *in, uint32_t mask) {
    Fragment *f = keep(w, mask);
    if (in->control == CONTROL_CALL) {
        enter(w, in, &w->run->code->funcs[in->target]);
        return;
    }
    /* Lanes that call different functions part; those which go later come here again. */
    int first = __builtin_ctz(mask);
    uint64_t address = lane_get(w, &in->o[0], first);
    uint32_t same = 0;
    EACH_LANE(mask, i, same |= (uint32_t)(lane_get(w, &in->o[0], i) == address) << i);
    f->mask = same;
    if (mask != same) {
        Scheduler *s = w->scheduler;
        s->fragments[s->n++] = (Fragment){.frame = f->frame, .pc = f->pc, .mask = mask & ~same, .turn = f->turn};
    }
    enter(w, in, function_at(w, in, first, address));
}

void control_return(Warp *w, const PtxInst *in, uint32_t mask) {
    Fragment *f = keep(w, mask);
    Frame *frame = f->frame;
    if (!frame->parent) {
        control_exit(w, mask);
        return;
    }
    (void)in;
    const PtxCall *call = &w->run->code->calls[frame->call];
    uint32_t bytes = call->result_bytes < frame->func->result.bytes ? call->result_bytes : frame->func->result.bytes;
    if (bytes)
        copy_local(w, mask, frame->parent->local_base + call->result_to, frame->local_base + frame->func->result.offset,
                   bytes);
    f->frame = frame->parent;
    f->pc = frame->return_pc;
    frame->lanes &= ~mask;
    if (!frame->lanes) frame_release(w->block->worker, frame);
}

void control_exit(Warp *w, uint32_t mask) {
    Fragment *f = keep(w, mask);
    Scheduler *s = w->scheduler;
    for (Frame *frame = f->frame, *parent; (parent = frame->parent); frame = parent) {
        frame->lanes &= ~mask;
        if (!frame->lanes) frame_release(w->block->worker, frame);
    }
    fragment_remove(w, s->current);
    s->alive &= ~mask;
    w->block->threads -= (uint32_t)__builtin_popcount(mask);
    control_recheck_warp(w);
    barrier_recheck(w->block);
    if (w->run->cluster_blocks > 1) cluster_recheck(w->block);
}

/* ---- brx.idx ----------------------------------------------------------------------------------- */

void control_switch(Warp *w, const PtxInst *in, uint32_t mask) {
    Fragment *f = keep(w, mask);
    const uint32_t *table = w->run->code->tables[in->target];
    Frame *frame = f->frame;
    uint64_t turn = f->turn;
    fragment_remove(w, w->scheduler->current);
    while (mask) {
        int first = __builtin_ctz(mask);
        uint64_t index = lane_get(w, &in->o[0], first);
        /* PTX leaves an index beyond the table undefined: the first target, as good as any, would hide a fault. */
        if (index >= table[0]) fault(w, in, first, FAULT_BAD_CALL, SPACE_GENERIC, index, 0);
        uint32_t same = 0;
        EACH_LANE(mask, i, same |= (uint32_t)(lane_get(w, &in->o[0], i) == index) << i);
        fragment_add(w, (Fragment){.frame = frame, .pc = table[1 + index], .mask = same, .turn = turn});
        mask &= ~same;
    }
}

/* ---- warp operations --------------------------------------------------------------------------- */

static void check_members(Warp *w, const PtxInst *in, uint32_t mask, uint32_t members) {
    uint32_t strangers = mask & ~members, gone = members & w->exist & ~w->scheduler->alive;
    if (strangers) fault(w, in, __builtin_ctz(strangers), FAULT_WARP_MASK, SPACE_GENERIC, members, 0);
    if (gone) fault(w, in, __builtin_ctz(mask), FAULT_WARP_MASK, SPACE_GENERIC, members, 0);
}

static void operate(Warp *w, const PtxInst *in, uint32_t mask, uint32_t members) {
    if (w->run->checks & CHECK_MASKS) check_members(w, in, mask, members);
    w->lanes = mask;
    in->fn(w, in, mask);
    watch_sync(w, mask);
}

static bool same_operation(const PtxInst *a, const PtxInst *b) {
    if (a == b) return true;
    if (a->fn != b->fn || a->sub != b->sub || a->type[0] != b->type[0] || a->vec != b->vec) return false;
    for (int k = 0; k < MAX_OPERANDS; k++) {
        if ((a->o[k].file == FILE_NONE) != (b->o[k].file == FILE_NONE)) return false;
    }
    return true;
}

static void load_frame(Warp *w, Frame *f) {
    w->frame = f;
    w->file[FILE_FRAME] = f->regs;
}

static bool is_pred(const PtxOperand *o) { return o->flags & OPERAND_PRED; }

/* One operation for lanes that are at several places, or in several calls: their operands meet in registers made for
 * it. */
typedef struct Meeting {
    _Alignas(64) uint8_t regs[MAX_OPERANDS][16 * WARP];
    PtxInst in;
} Meeting;

static void copy_operand(Warp *w, const PtxOperand *to, uint8_t *to_regs, const PtxOperand *from, uint8_t *from_regs,
                         uint32_t mask) {
    w->file[FILE_FRAME] = from_regs;
    if (is_pred(from)) {
        uint32_t value = pred_get(w, from);
        w->file[FILE_FRAME] = to_regs;
        pred_set(w, to, mask, value);
        return;
    }
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        w->file[FILE_FRAME] = from_regs;
        uint64_t value = lane_get(w, from, lane);
        w->file[FILE_FRAME] = to_regs;
        lane_set(w, to, lane, value);
    }
}

static void meet(Warp *w, const PtxInst *insts, Fragment **f, uint32_t n, uint32_t mask, uint32_t members) {
    Meeting m = {.in = insts[f[0]->pc]};
    uint8_t *regs = m.regs[0];
    for (int k = 0; k < MAX_OPERANDS; k++) {
        PtxOperand *o = &m.in.o[k];
        if (o->file == FILE_NONE) continue;
        o->file = FILE_FRAME;
        o->off = (uint32_t)k * 16 * WARP;
        o->flags &= (uint8_t)~OPERAND_NOT;
    }
    for (uint32_t i = 0; i < n; i++) {
        for (int k = 0; k < MAX_OPERANDS; k++) {
            const PtxOperand *from = &insts[f[i]->pc].o[k];
            if (from->file != FILE_NONE) copy_operand(w, &m.in.o[k], regs, from, f[i]->frame->regs, f[i]->mask);
        }
    }
    w->file[FILE_FRAME] = regs;
    operate(w, &m.in, mask, members);
    /* Back, the results last: a register may be source and result. */
    for (uint32_t i = 0; i < n; i++) {
        for (int k = MAX_OPERANDS; k-- > 0;) {
            const PtxOperand *to = &insts[f[i]->pc].o[k];
            if (to->file == FILE_FRAME && !(to->flags & OPERAND_NOT))
                copy_operand(w, to, f[i]->frame->regs, &m.in.o[k], regs, f[i]->mask);
        }
    }
}

/* Runs the operation that fragment i waits at, if all its lanes are there. */
static bool try_operation(Warp *w, uint32_t i) {
    Scheduler *s = w->scheduler;
    const PtxInst *insts = w->run->code->insts;
    Fragment *f[WARP] = {&s->fragments[i]};
    uint32_t n = 0, mask = 0, members = s->fragments[i].members;
    bool one_place = true;
    const PtxInst *in = &insts[s->fragments[i].pc];
    for (uint32_t k = 0; k < s->n; k++) {
        Fragment *g = &s->fragments[k];
        if (g->state != WAITS_WARP || g->members != members || !same_operation(in, &insts[g->pc])) continue;
        f[n++] = g;
        mask |= g->mask;
        one_place &= g->pc == f[0]->pc && g->frame == f[0]->frame;
    }
    if (members & s->alive & ~mask) return false;
    load_frame(w, f[0]->frame);
    if (one_place) operate(w, in, mask, members);
    else meet(w, insts, f, n, mask, members);
    for (uint32_t k = 0; k < n; k++) {
        f[k]->state = RUNNABLE;
        f[k]->pc++;
    }
    return true;
}

void control_recheck_warp(Warp *w) {
    Scheduler *s = w->scheduler;
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->fragments[i].state == WAITS_WARP) try_operation(w, i);
    }
}

bool control_warp(Warp *w, const PtxInst *in, uint32_t mask) {
    Scheduler *s = w->scheduler;
    const uint32_t *members = lanes(w, &in->o[in->mask_operand]);
    uint32_t first = members[__builtin_ctz(mask)], different = 0;
    EACH_LANE(mask, i, different |= members[i] ^ first);
    if (!different && !(first & s->alive & ~mask)) {
        uint32_t active = w->lanes;
        operate(w, in, mask, first);
        w->lanes = active;
        return true;
    }
    /* Lanes with different masks wait for different lanes. */
    Fragment *f = keep(w, mask), waits = *f;
    waits.state = WAITS_WARP;
    fragment_remove(w, s->current);
    while (mask) {
        waits.members = members[__builtin_ctz(mask)];
        waits.mask = 0;
        EACH_LANE(mask, i, waits.mask |= (uint32_t)(members[i] == waits.members) << i);
        mask &= ~waits.mask;
        s->fragments[s->n++] = waits;
    }
    control_recheck_warp(w);
    return false;
}
