/* array.h - arrays on a device, streams and events: the structs that the launch path reads.
 *
 * Python's gpu.Array is a subclass of ArrayBase (array.c) with indexing, printing and conversion (python/gpu/_array.py).
 * Conventions as in core.h. */
#ifndef GPU_ARRAY_H
#define GPU_ARRAY_H

#include "core.h"

/* ---- stream.c ---------------------------------------------------------------------------------- */

typedef struct StreamObject {
    PyObject_HEAD
    Device *device;
    Stream *stream;          /* NULL: the legacy default stream */
    bool destroy;            /* made or wrapped by us: stream_destroy() when this object goes */
    PyObject *owner;         /* of a wrapped handle, or NULL */
} StreamObject;

typedef struct EventObject {
    PyObject_HEAD
    Device *device;
    Event *event;
} EventObject;

extern PyTypeObject Stream_Type, Event_Type;

/* The stream that `o` names on the device: None, the current one; 0, the legacy default one; a Stream of this device.
 * *object: the Stream, borrowed, or NULL. 0, or -1 with TypeError or ValueError. */
int stream_named(PyObject *o, const Device *d, Stream **out, PyObject **object);
/* The stream of the innermost `with stream:` of this thread on the device, or NULL: the default stream. */
StreamObject *stream_current(const Device *d);

/* ---- array.c ----------------------------------------------------------------------------------- */

/* Memory that arrays share; freed with the last of them, in the order of its stream. */
typedef struct MemoryObject {
    PyObject_HEAD
    Device *device;
    char *at;                /* as kernels address it */
    char *host;              /* as the host addresses it; NULL: it can't */
    size_t bytes;
    MemoryKind kind;
    PyObject *stream;        /* the Stream that it was allocated for, or NULL */
    PyObject *owner;         /* of foreign memory, or NULL: ours */
} MemoryObject;

typedef struct ArrayObject {
    PyObject_HEAD
    MemoryObject *memory;
    Device *device;
    char *data;              /* as kernels address it */
    uint8_t dtype, ndim, layout;    /* DType, Layout */
    bool readonly, askew;           /* askew: scalars that aren't where their type wants them */
    const Record *record;
    uint8_t key[KEY_ARRAY_BYTES];   /* its part of a specialisation's key: 4 bytes unless elements are records */
    int64_t *shape, *strides;       /* in one block; strides in bytes */
    PyObject *weakrefs;
} ArrayObject;

extern PyTypeObject Array_Type, Memory_Type;

static inline bool array_check(PyObject *o) { return PyObject_TypeCheck(o, &Array_Type); }
static inline Stream *memory_stream(const MemoryObject *m) {
    return m->stream ? ((const StreamObject *)m->stream)->stream : NULL;
}
/* Work on a stream uses the memory: freeing it waits for that, too. */
static inline Status memory_used_on(const MemoryObject *m, Stream *s, Failure *f) {
    if (m->kind != MEMORY_DEVICE || m->owner || memory_stream(m) == s) return GPU_OK;
    return m->device->ops->used_on(m->device, m->at, s, f);
}
/* Where the host reads and writes the array; NULL: nowhere. */
static inline char *array_host(const ArrayObject *a) {
    return a->memory->host ? a->memory->host + (a->data - a->memory->at) : NULL;
}
/* As numpy_array() gives it, but the address is the device's. */
void array_describe(const ArrayObject *a, HostArray *out);
/* An array of the class `type`. Takes over the reference to `memory`. */
PyObject *array_make(PyTypeObject *type, MemoryObject *memory, const HostArray *h);
PyObject *array_ints(const int64_t *at, int n);      /* a tuple, of a shape or of strides */
/* Functions of the module, by their names there. */
PyObject *array_dtype_known(PyObject *module, PyObject *dtype);
PyObject *array_memory_info(PyObject *module, PyObject *name);      /* (free, total) */
PyObject *array_memory_stats(PyObject *module, PyObject *args);     /* (name, reset): a dict */
PyObject *array_empty_cache(PyObject *module, PyObject *name);

/* ---- pending.c --------------------------------------------------------------------------------- */

/* Frees memory. The GIL is let go where that may wait. */
void memory_give_back(Device *d, MemoryKind kind, char *at);
/* Takes memory that nobody uses into the device's list; false: it has none, and the memory is to be given back. */
bool pending_keep(const Device *d, MemoryKind kind, char *at, size_t bytes);
bool pending_release(const Device *d);      /* gives all back; false: there was none */
PyObject *pending_read(PyObject *module, PyObject *name);      /* (items, bytes, the device's bytes) */
PyObject *pending_hold(PyObject *module, PyObject *args);      /* (name, hold) */
PyObject *pending_limits(PyObject *module, PyObject *args);    /* (items, part of a device's memory) */

/* ---- arrayindex.c ------------------------------------------------------------------------------ */

PyObject *array_index(PyObject *self, PyObject *key);   /* a view; None: not a plain key, or out of bounds */

/* ---- dlpack.c ---------------------------------------------------------------------------------- */

/* dlpack_export(array, device type, device id, versioned, copied): a capsule. */
PyObject *dlpack_export(PyObject *module, PyObject *args);
/* dlpack_import(capsule): (device type, device id, address, shape, strides or None, dtype, readonly, owner). */
PyObject *dlpack_import(PyObject *module, PyObject *capsule);
/* An argument of a launch on the device, by DLPack: 1; 0: it has none; -1 with an exception. By the table of functions of
 * its type, which makes no objects, and by its methods; then the memory stays valid while `*keep`, a new reference, lives.
 * *on_device: it is the device's own memory. *stream: the driver's handle of the stream that works on it; NULL: the
 * legacy default one. */
int dlpack_exchange(PyObject *o, const Device *d, HostArray *out, bool *on_device, void **stream);
int dlpack_array(PyObject *o, const Device *d, HostArray *out, PyObject **keep, bool *on_device, void **stream);

/* ---- arraycopy.c ------------------------------------------------------------------------------- */

/* One side of a copy: an array on a device, or on the host (device NULL). */
typedef struct Place {
    Device *device;
    HostArray array;
    Stream *stream;     /* of a source on another device than the destination: in whose order it is read */
} Place;

/* to[...] = from, of the same shape and dtype, any strides, also overlapping; in a stream of the destination's device,
 * or of the source's if only that is on a device. Without the GIL. The waiter may be NULL. */
Status place_copy(const Place *to, const Place *from, Stream *s, const Waiter *w, Failure *f);
/* Fills a contiguous array. */
Status place_fill(const Place *to, const void *element, Stream *s, Failure *f);

#endif
