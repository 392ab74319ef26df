/* driver_object.c - user objects: what programs want to be told of when the last graph that needs it is gone.
 *
 * The function that ends one is called by the device's thread, behind the launches that were submitted before. */
#include "driver.h"

#include <stdlib.h>

struct CUuserObject_st {
    Device *device;
    void *value;
    CUhostFn end;
    uint64_t references;
};

struct Kept {
    Kept *next;
    CUuserObject object;
    uint64_t count;
};

typedef struct EndWork {
    Work work;
    void *value;
    CUhostFn end;
} EndWork;

static CUresult run_end(Work *w) {
    ((EndWork *)w)->end(((EndWork *)w)->value);
    return CUDA_SUCCESS;
}

/* Without memory for the work it is never told: the program can't be called with the lock held. */
static void release(CUuserObject o, uint64_t count) {
    if ((o->references -= count) > 0) return;
    EndWork *w = malloc(sizeof *w);
    handle_remove(HANDLE_USER_OBJECT, o);
    if (w) {
        *w = (EndWork){.work = {.run = run_end, .always = true}, .value = o->value, .end = o->end};
        work_push(&w->work, o->device);
    }
    free(o);
}

/* ---- in graphs --------------------------------------------------------------------------------- */

static Kept **find(Kept **list, CUuserObject o) {
    while (*list && (*list)->object != o) list = &(*list)->next;
    return list;
}

/* `move`: the caller's references become the graph's. */
CUresult kept_change(Kept **list, CUuserObject o, uint32_t count, bool add, bool move) {
    if (!handle_is(HANDLE_USER_OBJECT, o) || !count) return CUDA_ERROR_INVALID_VALUE;
    Kept **at = find(list, o);
    if (!add) {
        if (!*at || (*at)->count < count) return CUDA_ERROR_INVALID_VALUE;
        (*at)->count -= count;
        if (!(*at)->count) {
            Kept *k = *at;
            *at = k->next;
            free(k);
        }
        release(o, count);
        return CUDA_SUCCESS;
    }
    if (move && o->references < count) return CUDA_ERROR_INVALID_VALUE;
    if (!*at) *at = calloc(1, sizeof **at);
    if (!*at) return CUDA_ERROR_OUT_OF_MEMORY;
    (*at)->object = o;
    (*at)->count += count;
    if (!move) o->references += count;
    return CUDA_SUCCESS;
}

bool kept_copy(const Kept *from, Kept **to) {
    for (; from; from = from->next)
        if (kept_change(to, from->object, 1, true, false)) return false;
    return true;
}

void kept_drop(Kept **list) {
    while (*list) {
        Kept *k = *list;
        *list = k->next;
        release(k->object, k->count);
        free(k);
    }
}

/* ---- entry points ------------------------------------------------------------------------------ */

enum { USER_OBJECT_NO_DESTRUCTOR_SYNC = 1 };

CUresult cuUserObjectCreate(CUuserObject *out, void *value, CUhostFn end, uint32_t references, uint32_t flags) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuUserObjectCreate, NEEDS_WORKING, &c);
    if (r) return r;
    if (!out || !end || !references || references > INT32_MAX || flags != USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return call_end(CUDA_ERROR_INVALID_VALUE);
    CUuserObject o = malloc(sizeof *o);
    if (!o || !handle_add(HANDLE_USER_OBJECT, o)) {
        free(o);
        return call_end(CUDA_ERROR_OUT_OF_MEMORY);
    }
    *o = (struct CUuserObject_st){.device = c->device, .value = value, .end = end, .references = references};
    *out = o;
    return call_end(CUDA_SUCCESS);
}

static CUresult change(Entry entry, CUuserObject o, uint32_t count, bool add) {
    CUresult r = call_begin(entry, NEEDS_INIT, NULL);
    if (r) return r;
    if (!handle_is(HANDLE_USER_OBJECT, o) || !count || count > INT32_MAX || (!add && o->references < count))
        return call_end(CUDA_ERROR_INVALID_VALUE);
    if (add) o->references += count;
    else release(o, count);
    return call_end(CUDA_SUCCESS);
}

CUresult cuUserObjectRetain(CUuserObject o, uint32_t count) { return change(ENTRY_cuUserObjectRetain, o, count, true); }
CUresult cuUserObjectRelease(CUuserObject o, uint32_t count) {
    return change(ENTRY_cuUserObjectRelease, o, count, false);
}
