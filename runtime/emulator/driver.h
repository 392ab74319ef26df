/* driver.h - the emulator as a CUDA driver: what the files driver_*.c share.
 *
 *   driver.c           the process's state, the beginning and end of each call, handles
 *   driver_work.c      each device's queue of work and the thread that does it
 *   driver_options.c   environment variables, failures on request
 *   driver_names.c     cuGetProcAddress, error texts, what is refused by name
 *   driver_*.c         the entry points by subject, as in cuda_api.def
 *   driver_private.c   what our own runtime asks beside (private_api.h)
 *
 * A device does its work in the order in which it was submitted, over all streams, on a thread of its own: so every stream
 * is in order, an event that was recorded before is done before, and callers see that work isn't done when a call returns.
 *
 * One lock guards everything here but what the worker threads are doing. A call begins with call_begin() and ends with
 * call_end(); between them it has the lock, but for work_wait(), which gives it up while it waits. */
#ifndef EMU_DRIVER_H
#define EMU_DRIVER_H

#include <pthread.h>

#include "../cuda_abi.h"
#include "emulator.h"
#include "private_api.h"

#define DRIVER_EXPORT __attribute__((visibility("default")))

/* ---- the entry points -------------------------------------------------------------------------- */

#define CUDA_USED(name, base, since, stream, parameters) DRIVER_EXPORT CUresult name parameters;
#define CUDA_MORE CUDA_USED
#define CUDA_REFUSED(name, base, since, stream) DRIVER_EXPORT CUresult name(void);
#include "../cuda_api.def"

typedef enum Entry {
#define CUDA_USED(name, base, since, stream, parameters) ENTRY_##name,
#define CUDA_MORE CUDA_USED
#define CUDA_REFUSED(name, base, since, stream) ENTRY_##name,
#include "../cuda_api.def"
    ENTRY_COUNT
} Entry;

/* ---- options ----------------------------------------------------------------------------------- */

enum { MAX_DEVICES = 16, MAX_FAILURES = 32 };

typedef struct Failing { Entry entry; uint64_t call; CUresult code; } Failing;    /* the call-th call of entry fails */

typedef struct Options {
    uint32_t devices, sm, driver, checks, threads;
    uint64_t memory, budget;
    const char *report, *profile;      /* a file, "stderr" or "off" */
    bool blocking;
    Failing failing[MAX_FAILURES];
    uint32_t nfailing;
} Options;

/* False: a value makes no sense; stderr has been told which. */
bool options_read(Options *o);
void read_options(void);                   /* once, with the lock: the first call of any function does it */

/* ---- architectures ----------------------------------------------------------------------------- */

typedef struct Arch {
    int sm, threads, blocks, shared, shared_optin, shared_reserved, multiprocessors;   /* threads ... shared: of a multiprocessor */
} Arch;

const Arch *arch_find(uint32_t sm);        /* NULL: not known */

/* ---- objects ----------------------------------------------------------------------------------- */

typedef enum HandleKind {
    HANDLE_NONE, HANDLE_CONTEXT, HANDLE_STREAM, HANDLE_EVENT, HANDLE_MODULE, HANDLE_FUNCTION, HANDLE_LIBRARY, HANDLE_KERNEL, HANDLE_LINK,
    HANDLE_POOL, HANDLE_BUFFER, HANDLE_GRAPH, HANDLE_GRAPH_EXEC, HANDLE_USER_OBJECT
} HandleKind;

typedef struct Device Device;
typedef struct CUctx_st Context;
typedef struct CUstream_st Stream;
typedef struct CUevent_st Event;
typedef struct CUmod_st Module;
typedef struct CUfunc_st Function;
typedef struct CUmemPoolHandle_st Pool;
typedef struct Work Work;
typedef struct CUgraph_st Graph;

/* Work in a device's queue. `run` is called without the lock, on the device's thread; its result, if not CUDA_SUCCESS, is
 * the context's error from then on. */
struct Work {
    Work *next;
    CUresult (*run)(Work *w);
    void (*end)(Work *w);      /* with the lock, after run or instead of it; may be NULL */
    Context *context;
    uint64_t number;           /* in the queue */
    bool always;               /* also when the context has failed */
    /* For graphs, which keep copies of it: */
    uint8_t node;              /* CUgraphNodeType */
    uint32_t bytes;            /* of all of the work, with what stands behind this */
    const PtxCode *code;       /* that it runs */
};

/* What a stream has had captured: its pieces of work, and how many of them the streams that end the capture wait for. */
typedef struct Captures { bool origin; uint64_t n, joined; } Captures;

struct CUstream_st {
    Context *context;
    Stream *next;
    uint32_t flags;
    int priority;
    uint64_t id, last;         /* last: number of the newest work */
    Graph *capture;            /* NULL: work is done */
    Captures captures;
};

struct CUevent_st {
    Context *context;
    Event *next;
    uint32_t flags;
    bool recorded, destroyed;
    uint32_t pending;          /* pieces of work that will set it */
    Device *device;            /* where it was recorded last */
    uint64_t number;           /* of that work */
    double time;               /* milliseconds, when that was done */
    uint64_t captured_in, captured_stream, captured_at;   /* recorded last in a capture: ids of graph and stream, Captures.n */
};

/* A piece of memory that a caller owns. */
typedef struct Buffer {
    uint64_t address, bytes, id;
    AllocKind kind;
    bool registered;           /* host memory of the caller's own */
    bool opened;               /* another process's */
    bool sync_memops;
    bool freeing;              /* cuMemFreeAsync has it in the queue */
    uint32_t flags;            /* cuMemHostAlloc's or cuMemAllocManaged's */
    Context *context;
    Device *device;
    Pool *pool;                /* NULL: not from a pool */
    struct Buffer *next, *before;
} Buffer;

struct CUctx_st {
    Device *device;
    Context *next;
    bool primary;
    uint32_t retained;         /* by how many; a primary one is active unless it is 0 */
    uint32_t flags;
    uint64_t id;
    CUresult error;            /* of work that failed: every later call returns it */
    CUfunc_cache cache_config;
    CUsharedconfig shared_config;
    size_t limits[CU_LIMIT_MAX];
    Stream legacy, per_thread;
    Stream *streams;
    Event *events;
    Module *modules;
    Buffer *buffers;
};

struct CUfunc_st {
    Module *module;
    Function *next;
    const PtxFunc *func;
    uint32_t dynamic_shared;   /* most that a launch may ask for */
    int carveout, cluster_policy;
    bool any_cluster;
    /* What the functions before cuLaunchKernel set one by one. */
    struct {
        uint32_t block[3], shared, bytes;
        uint8_t *params;       /* func->param_bytes of them; NULL: none set */
    } old;
};

struct CUmod_st {
    Context *context;
    Module *next;
    PtxCode *code;
    Function *functions;
    Profile profile;           /* counters NULL: none collected */
    struct CUlib_st *library;  /* it belongs to one; else NULL */
    uint32_t max_registers;    /* CU_JIT_MAX_REGISTERS; 0: no limit */
};

struct Device {
    int ordinal;
    const Arch *arch;
    Memory *memory;
    Context primary;
    Pool *default_pool, *pool;
    /* The queue. */
    Work *first, **end;
    uint64_t submitted, done;
    bool started;
    pthread_cond_t more;
    volatile bool stop;        /* abandon the launch that runs */
};

typedef struct Driver {
    pthread_mutex_t lock;
    pthread_cond_t finished;   /* some work */
    bool initialised, have_options;
    CUresult start_error;      /* of the first cuInit, for good */
    volatile bool forked;      /* this is a child of a process that used the driver */
    Options options;
    Device devices[MAX_DEVICES];
    Context *contexts;         /* made by cuCtxCreate */
    Graph *graphs;
    uint64_t ids;              /* given to contexts, streams, buffers */
    uint64_t calls[ENTRY_COUNT];
    bool quiet, profiling;     /* private_api.h */
    EmulatorFault fault;       /* the newest that nobody took */
} Driver;

extern Driver driver;

/* ---- calls ------------------------------------------------------------------------------------- */

typedef enum Needs {
    NEEDS_NOTHING,             /* works before cuInit */
    NEEDS_INIT,
    NEEDS_CONTEXT,             /* a current one, failed or not */
    NEEDS_WORKING              /* a current one that hasn't failed */
} Needs;

/* Takes the lock unless it returns an error. `context` may be NULL. */
CUresult call_begin(Entry entry, Needs needs, Context **context);
CUresult call_end(CUresult result);        /* gives the lock back, returns the result */

/* The same without a lock held on return: for what only looks at its arguments. */
CUresult call_check(Entry entry, Needs needs);

Device *device_find(CUdevice ordinal);     /* NULL: there is none */
Context *context_find(CUcontext handle);   /* NULL: not a live one */
Context *context_current(void);            /* of this thread; NULL: none */
/* This thread's stack of current contexts; handles in it may be dead. */
CUcontext current_get(void);
void current_set(CUcontext c);
bool current_push(CUcontext c);            /* false: full */
CUcontext current_pop(void);               /* NULL: empty */

/* A set of the handles that are alive: what callers pass may be anything. */
bool handle_add(HandleKind kind, const void *handle);      /* false: no memory */
void handle_remove(HandleKind kind, const void *handle);
bool handle_is(HandleKind kind, const void *handle);
/* Buffers are found by their address. */
bool buffer_add(Buffer *b);                /* gives it an id and puts it into its context; false: no memory */
void buffer_remove(Buffer *b);
Buffer *buffer_at(uint64_t address);       /* that starts there; NULL: none */
const Alloc *alloc_holding(uint64_t address);   /* a live one on any device, a module's variable too; NULL: none */
Buffer *buffer_holding(uint64_t address);  /* NULL: none */
void buffer_drop(Buffer *b);               /* frees it and what it stands for */
/* Memory of `kind` that belongs to the context; `host` is the caller's own memory to register, or NULL. */
CUresult buffer_make(Context *c, AllocKind kind, void *host, uint64_t bytes, uint32_t flags, Buffer **out);
void pool_gave_back(Pool *p, uint64_t bytes);

/* ---- contexts, streams: their parts ------------------------------------------------------------- */

bool context_open(Context *c, Device *d, uint32_t flags);   /* false: no memory or no thread */
void context_close(Context *c);            /* waits, and ends everything in it */
void stream_drop(Stream *s);
void event_drop(Event *e);
void module_drop(Module *m);

/* The stream that a handle means in a context; NULL: none. */
Stream *stream_find(Context *c, CUstream handle);

/* call_begin() and the stream. A stream's own context counts, whatever is current: the default ones are the current's. */
CUresult stream_begin(Entry entry, CUstream handle, Stream **s);

/* ---- graphs, with the lock --------------------------------------------------------------------- */

CUresult graph_refuse(Stream *s);                          /* under capture, which ends: the error */
uint64_t graph_add(Work *w, Stream *s);                    /* what work_submit() does under capture */
void graph_record(Event *e, const Stream *s);              /* under capture */
CUresult graph_wait(Stream *s, const Event *e);            /* either under capture */
void graph_stream_gone(Stream *s);
/* driver_object.c: what a graph keeps alive, a list of its own. */
typedef struct Kept Kept;
bool kept_copy(const Kept *from, Kept **to);               /* false: no memory; what was copied is in `to` */
void kept_drop(Kept **list);
CUresult kept_change(Kept **list, CUuserObject o, uint32_t count, bool add, bool move);
void graphs_forget(const Context *c, const PtxCode *code); /* either may be NULL: it goes */

/* ---- work -------------------------------------------------------------------------------------- */

bool work_start(Device *d);                                /* its queue and thread */
void work_push(Work *w, Device *d);                        /* into no stream, of no context's but the primary one */
uint64_t work_submit(Work *w, Stream *s);                  /* the queue owns w from now on, and frees it */
void work_wait(Device *d, uint64_t number);                /* gives up the lock meanwhile */
CUresult work_sync(Context *c, uint64_t number);           /* waits; the context's error */
CUresult work_idle(Context *c);                            /* waits for all of its device's work */
bool work_is_mine(void);                                   /* this is a device's thread: it may not wait */
CUresult work_finish(Stream *s);                           /* after a submission: waits if CUDA_LAUNCH_BLOCKING says so */

/* ---- modules ----------------------------------------------------------------------------------- */

/* The PTX in an image: texts of the image itself, or owned. */
typedef struct Sources {
    PtxSource *list;
    uint32_t n;
    char **owned;              /* n; NULL where the text is the image's */
    uint32_t max_registers;    /* that the linker was told; 0: none */
} Sources;

/* Reads PTX text, a fat binary, or what cuLinkComplete makes. `size` 0: the image tells its size itself. On an error the
 * log says what is wrong with it; only on success there is something to close. */
CUresult image_open(const void *image, size_t size, uint32_t sm, PtxLog *log, Sources *out);
void image_close(Sources *s);
bool image_copy(Sources *s);                               /* owns all of its texts from now on; false: no memory */
bool image_join(Sources *s, Sources *more);                /* takes the owned texts of `more`; false: no memory */
/* One image of several, malloc'ed; NULL: no memory. */
void *image_pack(const Sources *s, size_t *size);
void log_add(PtxLog *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What cuModuleLoadDataEx and its kind are told and answer. */
typedef struct JitOptions {
    PtxLog log;                /* ours, of LOG_BYTES */
    char *error, *info;        /* the caller's */
    size_t error_size, info_size;
    void **error_used, **info_used, **wall_time;
    uint32_t max_registers;    /* 0: no limit */
    double started;
} JitOptions;
enum { LOG_BYTES = 8192 };

CUresult jit_begin(JitOptions *o, uint32_t n, const CUjit_option *options, void **values);
void jit_copy_log(JitOptions *o);
void jit_end(JitOptions *o);                               /* copies the log, too */

char *file_read(const char *path, size_t *size);           /* malloc'ed, ended by a NUL; NULL: can't be read */

CUresult module_make(Context *c, const Sources *sources, JitOptions *o, Module **out);
Function *module_function(Module *m, const char *name);    /* NULL: no such kernel */
CUresult module_global(const Module *m, const char *name, CUdeviceptr *address, size_t *bytes);
/* A CUkernel's function in a context, where its library is loaded if it isn't yet. */
CUresult kernel_function(Context *c, CUkernel kernel, Function **out);
/* What a CUfunction means, or a CUkernel where the interface lets one stand for it. */
CUresult function_find(Context *c, CUfunction handle, Function **out);

/* The common parts of cuFunc... and cuKernel... */
CUresult function_attribute(const Function *f, CUfunction_attribute which, int *value);
CUresult function_set_attribute(Function *f, CUfunction_attribute which, int value);
CUresult function_parameter(const Function *f, size_t index, size_t *offset, size_t *bytes);

/* With the lock, which it keeps. */
CUresult launch_function(Context *c, Function *f, const CUlaunchConfig *config, void **params, void **extra,
                         bool cooperative);

/* Of a copy of work that may be a launch: counters are asked for now, or no longer. */
void launch_again(Work *w);

/* What a block of a kernel takes of a multiprocessor. */
typedef struct Footprint {
    const Arch *arch;
    uint32_t registers, shared;      /* of a thread; of a block, static */
    uint32_t max_threads;            /* of the largest block that registers and directives allow */
} Footprint;

Footprint function_footprint(const Function *f);
uint32_t footprint_blocks(const Footprint *f, uint32_t threads, uint64_t dynamic_shared);  /* at once on a multiprocessor */

/* ---- reports ----------------------------------------------------------------------------------- */

void report_fault(const FaultReport *report);              /* takes the lock */
Profile *profile_of(Module *m);                            /* NULL: not profiling */
void profile_keep(Module *m);                              /* before a module goes */
void profile_at_exit(void);

#endif
