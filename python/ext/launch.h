/* launch.h - launches on devices: launch.c, and host arrays on the way there and back: stage.c. */
#ifndef GPU_LAUNCH_H
#define GPU_LAUNCH_H

#include "array.h"

/* ---- stage.c ----------------------------------------------------------------------------------- */

enum { FEW_PARTS = 6 };

/* Bytes of the host with a copy on the device; one or several overlapping arrays. */
typedef struct Part {
    uintptr_t first, last;                  /* on the host */
    uintptr_t written_first, written_last;  /* of what the kernel may write; last 0: nothing */
    const Leaf *leaf;
    bool alone;                             /* of one array */
    bool packed;                            /* without the gaps; `strides` are the copy's */
    size_t bytes;
    void *block;
    char *at;                               /* where `first` lies on the device */
    const void *host;                       /* packed: where the array lies on the host */
    const int64_t *host_strides;
    int64_t strides[MAX_DIMS];
} Part;

typedef struct Staged {
    Device *device;
    Stream *stream;
    Part *parts;
    uint32_t n, cap;
    double copying_s;
    Part few[FEW_PARTS];
} Staged;

/* Copies host arrays to the device and makes the leaves point there. stage_close() in either case. */
int stage_in(Staged *s, Bound *b, const Variant *v, Device *d, Stream *stream);
/* After the launch: waits and copies back, if there is anything. */
int stage_out(Staged *s, const Bound *b, Variant *v);
void stage_close(Staged *s);

/* ---- launch.c ---------------------------------------------------------------------------------- */

int launch_image(const DeviceRow *row, Bound *b, Config *c);
int launch_python(const DeviceRow *row, Bound *b, Config *c);
/* Kernels whose exceptions had still to be looked for, and have been by now, are let go. */
void launch_settled(void);
/* k.stats: registers, bytes, occupancy of a specialisation. A dict. */
PyObject *launch_stats(PyObject *module, PyObject *args);

/* ---- faults.c ---------------------------------------------------------------------------------- */

/* Remembers where the arrays of a launch lie, to name the one that a fault is about. */
void faults_remember(const Device *d, const Bound *b, const Variant *v);
/* "array 'x' (float32, shape (10,)): index [10] is out of bounds", or NULL: it isn't known. A new string. */
PyObject *faults_place(const Device *d, const Failure *f);

#endif
