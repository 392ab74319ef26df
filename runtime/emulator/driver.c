/* driver.c - the emulated driver's state: how a call begins and ends, cuInit, and the handles that are alive. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

Driver driver = {.lock = PTHREAD_MUTEX_INITIALIZER, .finished = PTHREAD_COND_INITIALIZER};

/* The stack of current contexts of this thread; the last is current. A context that was destroyed stays in it. */
enum { MAX_CURRENT = 64 };
static _Thread_local struct {
    CUcontext stack[MAX_CURRENT];
    uint32_t n;
} current;

/* ---- calls ------------------------------------------------------------------------------------- */

/* Counts the call; the error that was asked for, if it is that one's turn. */
static CUresult failure_on_request(Entry entry) {
    uint64_t call = ++driver.calls[entry];
    for (uint32_t i = 0; i < driver.options.nfailing; i++) {
        const Failing *f = &driver.options.failing[i];
        if (f->entry == entry && f->call == call) return f->code;
    }
    return CUDA_SUCCESS;
}

/* At the first call of any function: some may come before cuInit. */
void read_options(void) {
    if (driver.have_options) return;
    driver.have_options = true;
    if (!options_read(&driver.options)) {
        driver.start_error = CUDA_ERROR_INVALID_VALUE;
        return;
    }
    driver.quiet = !strcmp(driver.options.report, "off");
    driver.profiling = strcmp(driver.options.profile, "off") != 0;
}

CUresult call_begin(Entry entry, Needs needs, Context **context) {
    if (driver.forked) return CUDA_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&driver.lock);
    read_options();
    CUresult r = failure_on_request(entry);
    Context *c = NULL;
    if (!r && needs >= NEEDS_INIT && !driver.initialised) r = CUDA_ERROR_NOT_INITIALIZED;
    if (!r && needs >= NEEDS_CONTEXT) {
        c = context_current();
        if (!c)
            r = current.n && current.stack[current.n - 1] ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                                          : CUDA_ERROR_INVALID_CONTEXT;
        if (c && needs == NEEDS_WORKING) r = c->error;
    }
    if (r) return call_end(r);
    if (context) *context = c;
    return CUDA_SUCCESS;
}

CUresult call_end(CUresult result) {
    pthread_mutex_unlock(&driver.lock);
    return result;
}

CUresult call_check(Entry entry, Needs needs) {
    CUresult r = call_begin(entry, needs, NULL);
    return r ? r : call_end(CUDA_SUCCESS);
}

/* ---- start ------------------------------------------------------------------------------------- */

/* The worker threads and what they held aren't there in a child. */
static void after_fork(void) { driver.forked = driver.initialised; }

static CUresult start_device(Device *d, int ordinal) {
    d->ordinal = ordinal;
    d->arch = arch_find(driver.options.sm);
    d->memory = memory_open(driver.options.memory);
    if (!d->memory) return CUDA_ERROR_OUT_OF_MEMORY;
    if (driver.options.checks & CHECK_UNINITIALIZED) memory_track_writes(d->memory);
    d->end = &d->first;
    pthread_cond_init(&d->more, NULL);
    return CUDA_SUCCESS;
}

static CUresult start(void) {
    for (uint32_t i = 0; i < driver.options.devices; i++) {
        CUresult r = start_device(&driver.devices[i], (int)i);
        if (r) return r;
    }
    if (!driver.options.devices) return CUDA_ERROR_NO_DEVICE;
    pthread_atfork(NULL, NULL, after_fork);
    if (strcmp(driver.options.profile, "off") != 0) atexit(profile_at_exit);
    driver.initialised = true;
    return CUDA_SUCCESS;
}

CUresult cuInit(uint32_t flags) {
    CUresult r = call_begin(ENTRY_cuInit, NEEDS_NOTHING, NULL);
    if (r) return r;
    if (flags) return call_end(CUDA_ERROR_INVALID_VALUE);
    /* What it finds stays: the variables are read once. */
    if (!driver.initialised && !driver.start_error) driver.start_error = start();
    return call_end(driver.start_error);
}

Device *device_find(CUdevice ordinal) {
    return ordinal >= 0 && (uint32_t)ordinal < driver.options.devices ? &driver.devices[ordinal] : NULL;
}

/* ---- current contexts -------------------------------------------------------------------------- */

Context *context_find(CUcontext handle) { return handle_is(HANDLE_CONTEXT, handle) ? handle : NULL; }

Context *context_current(void) { return current.n ? context_find(current.stack[current.n - 1]) : NULL; }

CUcontext current_get(void) { return current.n ? current.stack[current.n - 1] : NULL; }

void current_set(CUcontext c) {
    if (!current.n) current.n = 1;
    current.stack[current.n - 1] = c;
    if (!c) current.n--;
}

bool current_push(CUcontext c) {
    if (current.n == MAX_CURRENT) return false;
    current.stack[current.n++] = c;
    return true;
}

CUcontext current_pop(void) { return current.n ? current.stack[--current.n] : NULL; }

/* ---- handles ----------------------------------------------------------------------------------- */

/* An open hash table of what is alive, by address: handles, and buffers by their device address. */
typedef struct Slot {
    uint64_t key; /* 0: free, 1: was removed */
    const void *value;
    HandleKind kind;
} Slot;

static struct {
    Slot *slots;
    size_t size, used; /* used: with removed ones */
} handles;

static size_t hash(uint64_t key, HandleKind kind) {
    return (size_t)(((key >> 4) + kind) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

static Slot *slot_find(HandleKind kind, uint64_t key) {
    if (!handles.size || key < 2) return NULL;
    for (size_t i = hash(key, kind);; i++) {
        Slot *s = &handles.slots[i & (handles.size - 1)];
        if (!s->key) return NULL;
        if (s->key == key && s->kind == kind) return s;
    }
}

static void slot_put(Slot slot) {
    size_t i = hash(slot.key, slot.kind);
    while (handles.slots[i & (handles.size - 1)].key) i++;
    handles.slots[i & (handles.size - 1)] = slot;
    handles.used++;
}

/* Twice what is alive, or as large as it was if most slots were of removed ones. */
static bool grow(void) {
    Slot *old = handles.slots;
    size_t n = handles.size, live = 0;
    for (size_t i = 0; i < n; i++) live += old[i].key > 1;
    size_t size = 64;
    while (size < 4 * (live + 1)) size *= 2;
    Slot *slots = calloc(size, sizeof *slots);
    if (!slots) return false;
    handles.slots = slots;
    handles.size = size;
    handles.used = 0;
    for (size_t i = 0; i < n; i++) {
        if (old[i].key > 1) slot_put(old[i]);
    }
    free(old);
    return true;
}

static bool slot_add(HandleKind kind, uint64_t key, const void *value) {
    if (handles.used * 2 >= handles.size && !grow()) return false;
    slot_put((Slot){key, value, kind});
    return true;
}

static void slot_remove(HandleKind kind, uint64_t key) {
    Slot *s = slot_find(kind, key);
    if (s) *s = (Slot){.key = 1};
}

bool handle_add(HandleKind kind, const void *handle) { return slot_add(kind, (uintptr_t)handle, handle); }
void handle_remove(HandleKind kind, const void *handle) { slot_remove(kind, (uintptr_t)handle); }
bool handle_is(HandleKind kind, const void *handle) { return slot_find(kind, (uintptr_t)handle) != NULL; }

/* ---- buffers ----------------------------------------------------------------------------------- */

bool buffer_add(Buffer *b) {
    if (!slot_add(HANDLE_BUFFER, b->address, b)) return false;
    b->id = ++driver.ids;
    b->next = b->context->buffers;
    b->before = NULL;
    if (b->next) b->next->before = b;
    b->context->buffers = b;
    return true;
}

void buffer_remove(Buffer *b) {
    slot_remove(HANDLE_BUFFER, b->address);
    if (b->next) b->next->before = b->before;
    if (b->before) b->before->next = b->next;
    else b->context->buffers = b->next;
}

Buffer *buffer_at(uint64_t address) {
    Slot *s = slot_find(HANDLE_BUFFER, address);
    return s ? (Buffer *)s->value : NULL;
}

const Alloc *alloc_holding(uint64_t address) {
    for (uint32_t i = 0; i < driver.options.devices; i++) {
        const Alloc *a = memory_find(driver.devices[i].memory, address);
        if (a && !a->freed) return a;
    }
    return NULL;
}

Buffer *buffer_holding(uint64_t address) {
    const Alloc *a = alloc_holding(address);
    return a ? buffer_at(a->address) : NULL;
}
