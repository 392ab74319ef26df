/* runtime.h - devices: memory, streams, events, code and launches, on the CPU and on GPUs alike.
 *
 * A device is a struct of functions: `d->ops->launch(d, ...)`. There is one Device for each GPU, alive as long as the
 * process. Conventions:
 *   - Every function may be called from any thread; none needs or takes the GIL. What may wait is said.
 *   - They return a Status. Unless it is GPU_OK or GPU_NOT_READY, `*f` tells why and is to be given to failure_clear();
 *     before that it need not be initialised.
 *   - A Stream pointer may be NULL: the legacy default stream, which waits for the others and they for it.
 *   - Work in a stream runs in order. On the CPU everything is done when the call returns; streams are always empty. */
#ifndef GPU_RUNTIME_H
#define GPU_RUNTIME_H

#include "image.h"

typedef enum Status {
#define STATUS(name, exception, meaning) GPU_##name,
#include "status.def"
    GPU__STATUSES
} Status;

typedef struct Device Device;
typedef struct Module Module;
typedef struct Stream Stream;
typedef struct Event Event;

/* ---- failures ---------------------------------------------------------------------------------- */

typedef struct Failure {
    Status status;
    int code;               /* the driver's, else 0 */
    const char *call;       /* the driver's function, "cuMemAlloc"; else NULL. Static */
    char *text;             /* what happened and what to do about it; malloc'ed; NULL: no memory for a text */
    char *log;              /* the driver's JIT log; malloc'ed, or NULL */
    void *owner;            /* RAISED: Module.owner of the kernel that raised */
    ErrorRecord record;     /* RAISED */
    /* FAULT: what is known about the access; `kernel` is NULL otherwise. Strings are malloc'ed. */
    struct {
        bool known_thread;                /* file, line, block, thread: on the emulator */
        char *kernel, *file, *variable;   /* variable: of the code, "shared_0", which the address is in or behind */
        uint32_t line, block[3], thread[3];
        uint64_t variable_offset;   /* of the address in the variable */
        uint64_t address, base;     /* base: where the allocation starts that is meant; 0: not known */
        uint32_t bytes;
        bool in_global;     /* else the address is an offset in shared or local memory */
        bool in_local;      /* known of faults on the emulator */
        bool is_write;
    } fault;
} Failure;

Status failure_set(Failure *f, Status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
Status failure_memory(Failure *f);      /* malloc gave NULL */
void failure_clear(Failure *f);

/* ---- what a device is -------------------------------------------------------------------------- */

typedef struct DeviceInfo {
#define INFO(field, attribute, meaning) int32_t field;
#include "device_info.def"
    char name[256];                     /* "NVIDIA H100", or the processor's */
    uint8_t uuid[16];
    uint64_t memory_bytes;
    int32_t driver_version;             /* 12040 for CUDA 12.4; 0 on the CPU */
} DeviceInfo;

/* ---- memory ------------------------------------------------------------------------------------ */

typedef enum MemoryKind {
    MEMORY_DEVICE,      /* from the caching pool, in stream order */
    MEMORY_PINNED,      /* host memory that copies fast; kernels may use it by device_address() */
    MEMORY_MANAGED      /* moves between host and device by itself */
} MemoryKind;

enum { PINNED_MAPPED = 1, PINNED_PORTABLE = 2, PINNED_WRITE_COMBINED = 4, MANAGED_HOST = 8 /* attached to the host */,
       DEVICE_SHAREABLE = 16 /* another process may be given it */ };

/* Bytes unless said. The pool's figures are those of MEMORY_DEVICE; blocks are what arrays got, segments what the
 * driver gave. */
typedef struct MemoryStats {
    uint64_t used, peak_used;           /* in blocks that arrays hold */
    uint64_t held, peak_held;           /* in segments */
    uint64_t cached;                    /* held and not used */
    uint64_t largest_free;              /* the largest block in the cache */
    uint64_t blocks, segments;          /* how many */
    uint64_t allocations, frees;        /* how many ever */
    uint64_t driver_allocations;        /* how many of them asked the driver */
    uint64_t retries;                   /* how often the cache was emptied to go on */
    uint64_t pinned, managed;           /* in use */
} MemoryStats;

/* How another process finds memory of a device: the driver's handle is of the allocation that it is in. */
typedef struct SharedMemory {
    uint8_t handle[64];
    size_t offset;
} SharedMemory;

/* Called now and then by whoever waits; true: stop waiting (Ctrl-C). On the CPU that may be a signal's handler that
 * interrupted the kernel; no lock of ours is held then. `interrupted` may be NULL. */
typedef struct Waiter {
    bool (*interrupted)(void *arg);
    void *arg;
} Waiter;

typedef enum CopyKind { COPY_TO_DEVICE, COPY_TO_HOST, COPY_ON_DEVICE } CopyKind;

/* `rows` runs of `width` bytes, `to_pitch` and `from_pitch` apart; rows 1 is a plain copy. */
typedef struct Copy {
    CopyKind kind;
    void *to;
    const void *from;
    size_t width, rows, to_pitch, from_pitch;
    Device *from_device;                /* COPY_ON_DEVICE from another device; NULL: the same. Rows must be 1 then */
    const Waiter *waiter;               /* for where the copy has to wait for the stream; may be NULL */
} Copy;

/* ---- streams and events ------------------------------------------------------------------------ */

struct Stream {
    Device *device;
    void *handle;       /* the driver's; what other libraries call the stream pointer */
    bool owned;         /* made by stream_create */
};

typedef enum DefaultStream { STREAM_LEGACY, STREAM_PER_THREAD } DefaultStream;

enum { STREAM_NON_BLOCKING = 1 /* doesn't wait for the legacy default stream */ };
enum { EVENT_NO_TIMING = 1, EVENT_BLOCKING = 2, EVENT_INTERPROCESS = 4 };

/* ---- code -------------------------------------------------------------------------------------- */

/* An Image on a device. */
struct Module {
    Device *device;
    const Image *image;
    void *owner;            /* the caller's: comes back in Failure.owner */
    /* Counts launches whose exceptions haven't been looked for. While it isn't 0, `owner` and `image` must live; those of an image
     * that prints also while Device.prints_pending isn't 0. Atomic. */
    uint32_t unsettled;
};

typedef struct LoadOptions {
    uint16_t max_registers;     /* 0: no limit */
    int8_t opt;                 /* 0 to 3; -1: the driver's choice */
    bool lineinfo;
    bool debug;                 /* the code has debug information, which is for code that isn't optimised */
} LoadOptions;

/* Of a kernel as the device runs it. */
typedef struct CodeInfo {
    uint32_t registers, local_bytes, shared_bytes, constant_bytes;  /* a thread's, a thread's, a block's, the module's */
    int32_t spill_bytes;        /* registers stored to local memory by a thread; -1: not known */
    uint32_t max_threads;       /* the largest block that its registers allow */
    uint32_t max_dynamic_shared;
    uint32_t ptx_version, binary_version;   /* 80 for 8.0; 90 for sm_90 */
} CodeInfo;

typedef struct LaunchConfig {
    uint32_t grid[3], block[3];
    uint32_t cluster[3];        /* blocks of a cluster; {0}: none */
    uint32_t shared_bytes;      /* dynamic */
    bool cooperative;
    Stream *stream;
    bool waited;                /* the caller waits for it at once: nobody else is told of its exceptions */
    /* Called now and then while the caller waits; true means stop (Ctrl-C). May be NULL. */
    bool (*interrupted)(void *arg);
    void *interrupted_arg;
    /* What former launches of this image took, in picoseconds a thread; 0 = unknown. Kept by the caller (any thread may
     * read and write it), brought up to date by the device: it decides whether waking the pool pays. May be NULL. */
    uint32_t *cost;
} LaunchConfig;

/* What kernels printed: PrintRecords, one behind the other, malloc'ed, and how many more found no place in a log of `room`
 * bytes. */
typedef struct Printed {
    uint8_t *records;
    size_t bytes;
    uint64_t lost, room;
} Printed;

/* ---- the functions of a device ----------------------------------------------------------------- */

typedef struct DeviceOps {
    const char *kind;           /* "cpu", "cuda", "emulated" */
    bool runs_ptx;              /* wants Images of PTX for its sm and PTX version; else native ones */
    bool shares_host_memory;    /* kernels use host arrays in place */

    /* Code. Unloading waits for launches of the module. */
    Status (*load)(Device *d, const Image *image, const LoadOptions *o, void *owner, Module **out, Failure *f);
    void (*unload)(Device *d, Module *m);
    Status (*code_info)(Device *d, Module *m, CodeInfo *out, Failure *f);
    /* Blocks of this size that fit a multiprocessor at once. */
    Status (*occupancy)(Device *d, Module *m, uint32_t threads, uint32_t shared_bytes, uint32_t *blocks, Failure *f);
    /* The block size (at most `limit`; 0: any) that fills the device best, and the least grid that does. */
    Status (*suggest_block)(Device *d, Module *m, uint32_t shared_bytes, uint32_t limit, uint32_t *block, uint32_t *grid,
                            Failure *f);
    /* `params` as the image's table says; read before the call returns. RAISED: this or an earlier launch raised. */
    Status (*launch)(Device *d, Module *m, const void *params, const LaunchConfig *c, Failure *f);
    /* What was printed since the last call; false: nothing. Of launches that still run, what is complete. */
    bool (*take_printed)(Device *d, Printed *out);

    /* Memory. `flags`: PINNED_*, MANAGED_*, DEVICE_*; 0 bytes gives NULL. Device memory belongs to its stream: it may be used
     * there at once, and freed there while kernels run. */
    Status (*alloc)(Device *d, MemoryKind kind, size_t bytes, uint32_t flags, Stream *s, void **out, Failure *f);
    void (*free)(Device *d, MemoryKind kind, void *at);
    /* Another stream uses a block of device memory: freeing it waits for that stream too. */
    Status (*used_on)(Device *d, void *at, Stream *s, Failure *f);
    Status (*pin)(Device *d, void *at, size_t bytes, uint32_t flags, Failure *f);    /* host memory that is there */
    Status (*unpin)(Device *d, void *at, Failure *f);
    Status (*device_address)(Device *d, void *pinned, void **out, Failure *f);
    Status (*memory_info)(Device *d, uint64_t *free_bytes, uint64_t *total_bytes, Failure *f);
    void (*memory_stats)(Device *d, MemoryStats *out);
    void (*reset_peaks)(Device *d);
    Status (*empty_cache)(Device *d, Failure *f);    /* gives what nobody uses back to the driver; may wait */

    /* Copies and fills, in stream order. Pageable host memory may be changed once the call returns; what is copied to
     * it is there when the call returns. Pinned memory must be left alone until the stream has come so far. */
    Status (*copy)(Device *d, const Copy *c, Stream *s, Failure *f);
    /* `count` elements of 1, 2, 4, 8 or 16 bytes, one after the other. */
    Status (*fill)(Device *d, void *at, const void *element, unsigned bytes, size_t count, Stream *s, Failure *f);
    Status (*peer_access)(Device *d, Device *other, bool *possible, Failure *f);
    /* The ordinal of the device of this kind whose memory `at` is in; -1: the driver doesn't know it. */
    Status (*owner)(Device *d, const void *at, int *ordinal, Failure *f);
    /* Memory that another process opens. Nothing orders its work: whoever shares or closes waits for the device before. */
    Status (*share)(Device *d, const void *at, SharedMemory *out, Failure *f);
    Status (*open_shared)(Device *d, const SharedMemory *shared, void **out, Failure *f);   /* the start of the allocation */
    Status (*close_shared)(Device *d, void *opened, Failure *f);
    /* The vendor's profilers record from here on, or no further. */
    Status (*profiler)(Device *d, bool records, Failure *f);

    /* Streams. `priority`: 0 is normal, negative more urgent. */
    Stream *(*default_stream)(Device *d, DefaultStream which);      /* always there */
    Status (*stream_create)(Device *d, uint32_t flags, int priority, Stream **out, Failure *f);
    Status (*stream_wrap)(Device *d, void *handle, Stream **out, Failure *f);   /* another library's; not destroyed */
    void (*stream_destroy)(Stream *s);                              /* its work goes on */
    Status (*stream_query)(Stream *s, Failure *f);                  /* OK or NOT_READY */
    Status (*stream_synchronize)(Stream *s, const Waiter *w, Failure *f);
    Status (*stream_wait_event)(Stream *s, Event *e, Failure *f);   /* what comes later in s waits; returns at once */
    /* Calls fn(arg) when the stream comes here, in a thread of the driver's; it must not call the runtime. */
    Status (*stream_callback)(Stream *s, void (*fn)(void *arg), void *arg, Failure *f);
    Status (*synchronize)(Device *d, const Waiter *w, Failure *f);

    Status (*event_create)(Device *d, uint32_t flags, Event **out, Failure *f);
    void (*event_destroy)(Event *e);
    Status (*event_record)(Event *e, Stream *s, Failure *f);
    Status (*event_query)(Event *e, Failure *f);                    /* OK or NOT_READY; OK before it is recorded */
    Status (*event_synchronize)(Event *e, const Waiter *w, Failure *f);
    Status (*event_elapsed)(Event *from, Event *to, float *milliseconds, Failure *f);
} DeviceOps;

struct Device {
    const DeviceOps *ops;
    char name[24];              /* "cpu", "cuda:0", "emulated:1" */
    uint32_t index;             /* counts the devices that this process opened, from 0 */
    int ordinal;                /* the driver's number; 0 for the CPU */
    DeviceInfo info;
    uint16_t sm;                /* 90; 0 for the CPU */
    uint16_t ptx_version;       /* the newest that its driver reads; 0 for the CPU */
    uint32_t prints_pending;    /* something was or may yet be printed that nobody took; atomic */
};

struct Event {
    Device *device;
    void *handle;       /* the driver's */
    uint64_t time_ns;   /* of the CPU: when it was recorded */
    bool timing;
};

/* ---- the devices of this machine ---------------------------------------------------------------- */

enum { MOST_DEVICES = 64 };

/* The device of a name: "cpu", "cuda:1", "cuda" (cuda:0), "emulated". Opened at the first call, which for a GPU loads
 * its driver. In a forked child of a process that had opened it: NO_DEVICE for a GPU. */
Status runtime_device(const char *name, Device **out, Failure *f);
/* How many devices of a kind ("cpu", "cuda", "emulated") there are; for "cuda" this loads the driver. 0 with a failure:
 * why there are none. */
Status runtime_count(const char *kind, uint32_t *out, Failure *f);

/* The log of native code of no launch, or NULL: no memory. At the end what it printed becomes the CPU device's. */
PrintLog *runtime_prints_begin(void);
void runtime_prints_end(PrintLog *log);
/* Calls code(arg): native code of the image and no launch, interrupted as `w` says. ERROR_INTERRUPTED, ERROR_FAULT: it was left before
 * its end. */
Status runtime_call(const Image *image, void (*code)(void *arg), void *arg, const Waiter *w, Failure *f);

Device *runtime_cpu(void);             /* the process's CPU device; its threads start at the first launch */
void runtime_cpu_set_threads(int n);   /* 0 = all cores this process may use */
int runtime_cpu_threads(void);

#endif
