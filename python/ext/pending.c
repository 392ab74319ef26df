/* pending.c - memory that nobody uses and that its device hasn't got back yet: the list that Numba's programs count.
 *
 * Only devices that are watched have one. There what arrays leave behind waits until it is more than the limits say, or
 * until somebody clears the list; while it is held (cuda.defer_cleanup) limits don't count, but a failing allocation
 * does. Called with the GIL, which guards all of it. */
#include "array.h"

#include <stdlib.h>

typedef struct Item {
    MemoryKind kind;
    char *at;
} Item;

typedef struct Pending {
    struct Pending *next;
    Device *device;
    Item *items;
    size_t count, room;
    uint64_t bytes, total; /* of what is in the list; of the device's memory */
    int held;
} Pending;

static Pending *watched;
static size_t most_items = 10;   /* that a list has at most */
static double most_memory = 0.2; /* of the device's, that a list has at most */

static Pending *pending_of(const Device *d) {
    Pending *p = watched;
    while (p && p->device != d) p = p->next;
    return p;
}

void memory_give_back(Device *d, MemoryKind kind, char *at) {
    if (kind == MEMORY_DEVICE) d->ops->free(d, kind, at);
    else {
        /* The driver may wait for kernels that use it, and those for a callback that needs the GIL. */
        Py_BEGIN_ALLOW_THREADS
        d->ops->free(d, kind, at);
        Py_END_ALLOW_THREADS
    }
}

static void release(Pending *p) {
    Item *items = p->items;
    size_t n = p->count;
    p->items = NULL; /* another thread may add some meanwhile */
    p->count = p->room = 0;
    p->bytes = 0;
    for (size_t i = 0; i < n; i++) memory_give_back(p->device, items[i].kind, items[i].at);
    free(items);
}

bool pending_release(const Device *d) {
    Pending *p = pending_of(d);
    if (!p || !p->count) return false;
    release(p);
    return true;
}

bool pending_keep(const Device *d, MemoryKind kind, char *at, size_t bytes) {
    Pending *p = watched ? pending_of(d) : NULL;
    if (!p || !at) return false;
    if (p->count == p->room) {
        size_t room = p->room ? 2 * p->room : 16;
        Item *items = realloc(p->items, room * sizeof *items);
        if (!items) return false;
        p->items = items;
        p->room = room;
    }
    p->items[p->count++] = (Item){kind, at};
    p->bytes += bytes;
    if (!p->held && (p->count > most_items || (double)p->bytes > (double)p->total * most_memory)) release(p);
    return true;
}

/* ---- functions of the module ------------------------------------------------------------------- */

static Pending *watch(Device *d) {
    Pending *p = pending_of(d);
    if (p) return p;
    uint64_t free_bytes;
    Failure f;
    p = calloc(1, sizeof *p);
    if (!p) return PyErr_NoMemory(), NULL;
    if (d->ops->memory_info(d, &free_bytes, &p->total, &f) != GPU_OK) {
        free(p);
        return errors_from_failure(&f, d, NULL), NULL;
    }
    p->device = d;
    p->next = watched;
    return watched = p;
}

PyObject *pending_read(PyObject *module, PyObject *name) {
    (void)module;
    const char *text = PyUnicode_AsUTF8(name);
    Device *d = text ? device_named(text) : NULL;
    const Pending *p = d ? watch(d) : NULL;
    return p ? Py_BuildValue("(nKK)", (Py_ssize_t)p->count, p->bytes, p->total) : NULL;
}

PyObject *pending_hold(PyObject *module, PyObject *args) {
    (void)module;
    const char *name;
    int hold;
    if (!PyArg_ParseTuple(args, "sp:pending_hold", &name, &hold)) return NULL;
    Device *d = device_named(name);
    Pending *p = d ? watch(d) : NULL;
    if (!p) return NULL;
    p->held += hold ? 1 : -1;
    Py_RETURN_NONE;
}

PyObject *pending_limits(PyObject *module, PyObject *args) {
    (void)module;
    Py_ssize_t items;
    double memory;
    if (!PyArg_ParseTuple(args, "nd:pending_limits", &items, &memory)) return NULL;
    most_items = items < 0 ? 0 : (size_t)items;
    most_memory = memory;
    Py_RETURN_NONE;
}
