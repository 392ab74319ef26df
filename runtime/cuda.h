/* cuda.h - the CUDA device's own parts. Nothing outside of runtime/ includes this.
 *
 *   cuda_load.c     the driver's library: found, opened, asked for its functions; why there is none
 *   cuda_error.c    CUresult -> Failure: what it means here and what to do; exceptions that kernels raised
 *   cuda_device.c   devices, contexts, properties; the table of functions
 *   cuda_memory.c   memory of all kinds;  cuda_pool.c  the cache of device memory;  cuda_copy.c  copies and fills
 *   cuda_stream.c   streams, events, waiting
 *   cuda_module.c   PTX -> code on the device;  cuda_launch.c  launches
 *
 * No lock is taken while another is held, and none is held while the driver waits. */
#ifndef GPU_CUDA_H
#define GPU_CUDA_H

#include "cuda_abi.h"
#include "emulator/private_api.h"
#include "runtime.h"

#include <pthread.h>

/* ---- cuda_load.c ------------------------------------------------------------------------------- */

/* A driver library. There may be two at once: NVIDIA's and the emulator's. Functions that an old one lacks are NULL. */
typedef struct CudaDriver {
    const char *kind;       /* "cuda", "emulated" */
    int version;            /* 12040 */
#define CUDA_USED(name, base, since, stream, parameters) CUresult(*name) parameters;
#include "cuda_api.def"
    /* The emulator's own; NULL elsewhere. */
    bool (*take_fault)(EmulatorFault *out);
    void (*free_fault)(EmulatorFault *fault);
    void (*print_faults)(bool print);
    void (*forgive)(int device);
    void (*interrupt)(int device);
    void (*profile)(bool on);
    EmulatorLine *(*profile_read)(size_t *n);
    void (*free_lines)(EmulatorLine *lines);
} CudaDriver;

enum { OLDEST_DRIVER = 11000 };

/* The opened and initialised driver of a kind; NO_DEVICE with the reason. Asked for once. */
Status cuda_driver(const char *kind, const CudaDriver **out, Failure *f);
/* This process was forked from one that had initialised the driver: it must not be called. */
bool cuda_forked(const CudaDriver *cu);

/* ---- cuda_pool.c ------------------------------------------------------------------------------- */

typedef struct CudaDevice CudaDevice;
typedef struct Block Block;
typedef struct StreamPool StreamPool;
typedef struct Pending Pending;

typedef struct Pool {
    pthread_mutex_t lock;
    bool exact;                 /* nothing is kept, no size is rounded */
    StreamPool *streams;
    Pending *pending;           /* freed, and used by work that may still run */
    Block *stuck;               /* the same, without an event: until the cache is emptied */
    Block *released;            /* to be given to the driver */
    Block **table;              /* by address */
    uint32_t ntable, nblocks;
    CUevent *events;            /* to be used again */
    uint32_t nevents, cap_events;
    MemoryStats stats;          /* pinned and managed are atomic, the rest is under the lock */
} Pool;

void pool_open(Pool *p, bool exact);
Status pool_alloc(CudaDevice *d, size_t bytes, CUstream s, CUdeviceptr *out, Failure *f);
void pool_free(CudaDevice *d, CUdeviceptr at);
bool pool_used_on(CudaDevice *d, CUdeviceptr at, CUstream s);    /* false: no memory to note it */
void pool_stream_ends(CudaDevice *d, CUstream s);     /* before it is destroyed */
void pool_collect(CudaDevice *d);     /* gives back what waited for events that have come */
Status pool_empty(CudaDevice *d, Failure *f);
void pool_stats(CudaDevice *d, MemoryStats *out);

/* ---- cuda_memory.c ----------------------------------------------------------------------------- */

/* Host memory that the driver knows, and managed memory. */
typedef struct Region {
    uintptr_t address;
    size_t bytes;
    uint8_t kind;               /* MemoryKind */
    bool registered;            /* not ours: only pinned */
    uint32_t flags;
    uint32_t nuses;
    CUstream uses[4];           /* streams with copies from or to it; more: all */
} Region;

typedef struct FreePinned FreePinned;

typedef struct Regions {
    pthread_mutex_t lock;
    Region *at;                 /* by address */
    uint32_t n, cap;
    FreePinned *free;           /* pinned blocks to be used again */
} Regions;

Status cuda_alloc(Device *d, MemoryKind kind, size_t bytes, uint32_t flags, Stream *s, void **out, Failure *f);
void cuda_free(Device *d, MemoryKind kind, void *at);
Status cuda_used_on(Device *d, void *at, Stream *s, Failure *f);
Status cuda_pin(Device *d, void *at, size_t bytes, uint32_t flags, Failure *f);
Status cuda_unpin(Device *d, void *at, Failure *f);
Status cuda_device_address(Device *d, void *pinned, void **out, Failure *f);
Status cuda_share(Device *d, const void *at, SharedMemory *out, Failure *f);
Status cuda_open_shared(Device *d, const SharedMemory *shared, void **out, Failure *f);
Status cuda_close_shared(Device *d, void *opened, Failure *f);
Status cuda_memory_info(Device *d, uint64_t *free_bytes, uint64_t *total_bytes, Failure *f);
void cuda_memory_stats(Device *d, MemoryStats *out);
void cuda_reset_peaks(Device *d);
Status cuda_empty_cache(Device *d, Failure *f);
/* Host memory takes part in a copy on a stream; false: it is pageable. */
bool cuda_region_used(CudaDevice *d, const void *host, CUstream s);
void cuda_regions_stream_ends(CudaDevice *d, CUstream s);

/* ---- cuda_module.c ----------------------------------------------------------------------------- */

typedef struct CudaModule {
    Module base;
    CUmodule module;
    CUfunction function;
    uint32_t params_bytes;      /* with the hidden parameters */
    uint32_t hidden_offset;
    uint32_t static_shared;
    uint32_t dynamic_shared;    /* what a launch may ask for by now; atomic */
    int32_t spill_bytes;        /* stored by a thread; -1: the driver doesn't say */
} CudaModule;

Status cuda_load(Device *d, const Image *image, const LoadOptions *o, void *owner, Module **out, Failure *f);
void cuda_unload(Device *d, Module *m);
Status cuda_code_info(Device *d, Module *m, CodeInfo *out, Failure *f);
Status cuda_occupancy(Device *d, Module *m, uint32_t threads, uint32_t shared_bytes, uint32_t *blocks, Failure *f);
Status cuda_suggest_block(Device *d, Module *m, uint32_t shared_bytes, uint32_t limit, uint32_t *block, uint32_t *grid,
                          Failure *f);

/* ---- cuda_device.c ----------------------------------------------------------------------------- */

enum { RECENT = 8, MOST_WATCHES = 64, PAGE = 4096 /* records lie in whole pages */ };

struct CudaDevice {
    Device base;
    const CudaDriver *cu;
    CUdevice handle;
    CUcontext context;          /* the primary one */
    bool emulated;
    Stream defaults[2];
    Pool pool;
    Regions regions;

    pthread_mutex_t lock;       /* of what follows */
    struct Watch *watches, *free_watches;
    Stream **streams;           /* those that we made and that live */
    uint32_t nstreams, cap_streams;
    char *fault;                /* the first fault: why nothing works any more; NULL: all is well */
    uint64_t peers;             /* devices whose memory is mapped here, by index */

    struct {
        PrintLog *log;          /* mapped host memory; NULL: no module prints */
        CUdeviceptr address;
        uint64_t read;          /* bytes of it that were taken */
        uint64_t launches, ticket;
        uint32_t launching;     /* threads that are about to launch a kernel that prints */
        bool busy, several_streams;     /* launched, and not known to have ended */
        CUstream stream;
    } print;

    uint64_t ticket;            /* counts launches that may raise or print; atomic */
    uint32_t unsettled;         /* watches, and 1 while print.busy; atomic */
    const Module *recent[RECENT];   /* launched since the last wait; atomic */
    uint32_t nrecent;
};

Status cuda_count(uint32_t *out, Failure *f);
Status cuda_open(uint32_t ordinal, Device **out, Failure *f);
Status emulated_count(uint32_t *out, Failure *f);
Status emulated_open(uint32_t ordinal, Device **out, Failure *f);

/* Makes the device's context the thread's; cuda_leave() brings back what was there before. */
Status cuda_enter(CudaDevice *d, CUcontext *before, Failure *f);
void cuda_leave(CudaDevice *d, CUcontext before);
static inline CUstream cuda_stream_of(const Stream *s) { return s ? (CUstream)s->handle : NULL; }

/* ---- cuda_error.c ------------------------------------------------------------------------------ */

/* The failure of a driver call, "cuMemAlloc". `d` may be NULL. */
Status cuda_fail(CudaDevice *d, const CudaDriver *cu, CUresult r, const char *call, Failure *f);
const char *cuda_error_name(const CudaDriver *cu, CUresult r);
const char *cuda_error_text(const CudaDriver *cu, CUresult r);
const char *cuda_error_advice(CUresult r);
void cuda_launched(CudaDevice *d, const Module *m);     /* remembers its name for reports of faults */
void cuda_forget(CudaDevice *d, const Module *m);       /* it is unloaded, or (NULL) all have ended */

/* ---- cuda_raise.c ------------------------------------------------------------------------------ */

/* Launches of one module, in one stream, by one thread, whose exceptions haven't been looked for. Under the device's
 * lock. */
typedef struct Watch {
    CudaModule *module;
    CUstream stream;
    pthread_t thread;
    bool waited;                /* as in the LaunchConfig */
    uint64_t ticket;            /* of the last launch; UINT64_MAX: it is under way. Atomic */
    ErrorRecord *record;        /* the first exception; mapped host memory */
    CUdeviceptr address;        /* of the record, on the device */
    struct Watch *next;         /* of the device's watches, or of those that are free */
} Watch;

Status cuda_watch(CudaDevice *d, CudaModule *m, const LaunchConfig *c, Watch **out, Failure *f);   /* before a launch */
void cuda_watched(CudaDevice *d, Watch *w);                 /* behind it */
void cuda_unwatch(CudaDevice *d, const CudaModule *m);      /* all of the module */

/* After a wait: RAISED if a kernel did. What was launched before the ticket was drawn has ended: all of it, or only
 * what is in `s`. */
uint64_t cuda_ticket(CudaDevice *d);
uint64_t cuda_new_ticket(CudaDevice *d);                    /* of a launch, behind it */
Status cuda_settle(CudaDevice *d, bool all, CUstream s, uint64_t ticket, Failure *f);

/* ---- cuda_prints.c ----------------------------------------------------------------------------- */

Status cuda_prints_open(CudaDevice *d, Failure *f);     /* for the first module that prints */
PrintTarget cuda_prints_launching(CudaDevice *d, const CudaModule *m);
void cuda_prints_launched(CudaDevice *d, CUstream s, bool ok);
void cuda_prints_settle(CudaDevice *d, bool all, CUstream s, uint64_t ticket);  /* under the lock */
bool cuda_take_printed(Device *d, Printed *out);

/* ---- cuda_stream.c ----------------------------------------------------------------------------- */

Stream *cuda_default_stream(Device *d, DefaultStream which);
Status cuda_stream_create(Device *d, uint32_t flags, int priority, Stream **out, Failure *f);
Status cuda_stream_wrap(Device *d, void *handle, Stream **out, Failure *f);
void cuda_stream_destroy(Stream *s);
Status cuda_stream_query(Stream *s, Failure *f);
Status cuda_wait(CudaDevice *d, CUstream s, const Waiter *w, Failure *f); /* in its context; settles nothing */
Status cuda_stream_synchronize(Stream *s, const Waiter *w, Failure *f);
Status cuda_stream_wait_event(Stream *s, Event *e, Failure *f);
Status cuda_stream_callback(Stream *s, void (*fn)(void *arg), void *arg, Failure *f);
Status cuda_synchronize(Device *d, const Waiter *w, Failure *f);
Status cuda_event_create(Device *d, uint32_t flags, Event **out, Failure *f);
void cuda_event_destroy(Event *e);
Status cuda_event_record(Event *e, Stream *s, Failure *f);
Status cuda_event_query(Event *e, Failure *f);
Status cuda_event_synchronize(Event *e, const Waiter *w, Failure *f);
Status cuda_event_elapsed(Event *from, Event *to, float *milliseconds, Failure *f);

/* ---- cuda_copy.c, cuda_launch.c ---------------------------------------------------------------- */

Status cuda_copy(Device *d, const Copy *c, Stream *s, Failure *f);
Status cuda_fill(Device *d, void *at, const void *element, unsigned bytes, size_t count, Stream *s, Failure *f);
Status cuda_owner(Device *d, const void *at, int *ordinal, Failure *f);
Status cuda_peer_access(Device *d, Device *other, bool *possible, Failure *f);
Status cuda_launch(Device *d, Module *m, const void *params, const LaunchConfig *c, Failure *f);

#endif
