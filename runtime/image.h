/* image.h - what a compilation leaves: code and how to launch it. Plain data, one malloc'ed block
 * per pointer, freed by gpu_image_free(). The compiler fills it in, the runtime and the Python
 * extension read it. Nothing of LLVM or Python in it. */
#ifndef GPU_IMAGE_H
#define GPU_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A parameter as the launch packs it, at `offset` in the parameter buffer, naturally aligned.
 * The same buffer serves the CPU's entry and cuLaunchKernel's. */
typedef struct ImageParam {
    uint8_t kind;       /* ParamKind of compiler/ir.h */
    uint8_t type;       /* Type of compiler/ir.h */
    uint8_t bytes;
    uint16_t axis;
    uint8_t flags;      /* PARAM_READONLY, PARAM_WRITTEN, PARAM_READ ... of compiler/ir.h */
    uint16_t leaf;      /* which flattened argument */
    uint32_t offset;
} ImageParam;

/* A captured array that isn't part of the code: a parameter, PARAM_CAPTURED, has its address on the device. */
typedef struct ImageCapture {
    const void *bytes;           /* on the host, of whoever gave them to the compiler */
    size_t size;
} ImageCapture;

typedef struct ImageSite {       /* a `raise` or `assert` in the source */
    char *exception, *message;
    char *file, *function;
    uint32_t line;
    void *host_ref;              /* IrSite.host_ref; the extension owns the reference */
} ImageSite;

enum { MOST_RAISE_VALUES = 16, MOST_PRINT_VALUES = 64 };

/* Written by the first thread that raises, by compare-and-swap on `site`. Index 0 = nothing. */
typedef struct ErrorRecord {
    uint32_t site;               /* 1 + index into sites */
    uint32_t thread[3], block[3];
    uint32_t pad;
    uint64_t values[MOST_RAISE_VALUES]; /* RAISE's operands: integers extended by their sign, bool 0 or 1, floats as f64 */
} ErrorRecord;

/* What one print shows. `words` is written last, for the host may look before. */
typedef struct PrintRecord {
    uint32_t words;              /* 1 + the number of values, 8 bytes each, that follow; 0: not written yet */
    uint32_t site;               /* number of the print in its image */
    uint64_t owner;              /* PrintTarget's */
    uint32_t launch;
    uint32_t thread[3], block[3];
    uint32_t pad;
} PrintRecord;

/* Records lie one behind the other after this head, in memory that was zero. A thread takes its place by adding to `used`,
 * so that they need no order; a place beyond `size` isn't written to. */
typedef struct PrintLog {
    uint64_t used;               /* bytes that were asked for: maybe more than there are */
    uint64_t size;               /* bytes that there are */
    uint64_t lost;               /* records without a place */
    uint64_t pad;
} PrintLog;

/* What a kernel that prints gets, and puts in its records. */
typedef struct PrintTarget {
    uint64_t log;                /* address of a PrintLog */
    uint64_t owner;              /* Module.owner, for whoever reads the records */
    uint64_t launch;             /* counts up, so that they can be put in order */
} PrintTarget;

/* The largest launch, on every device as on CUDA's. Compiled code relies on it: a device must refuse more. */
enum {
    MOST_BLOCK_X = 1024, MOST_BLOCK_Y = 1024, MOST_BLOCK_Z = 64, MOST_BLOCK_THREADS = 1024,
    MOST_GRID_X = INT32_MAX, MOST_GRID_Y = 65535, MOST_GRID_Z = 65535,
    MOST_SHARED = 256 * 1024 /* bytes of a block; GPUs have up to 227 KiB */
};

/* What a CPU entry gets beside its parameters. Layout is known to compiler/lower_cpu.c. */
typedef struct CpuLaunch {
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;     /* bytes */
    uint32_t start[3];           /* the block with which a CpuEntry begins; see cpu_start_at */
    ErrorRecord *error;
    PrintTarget print;           /* of images that print */
} CpuLaunch;

/* Makes `first` the block with which an entry begins; 0 needs no call. */
static inline void cpu_start_at(CpuLaunch *launch, uint64_t first) {
    launch->start[0] = (uint32_t)(first % launch->grid[0]);
    launch->start[1] = (uint32_t)(first / launch->grid[0] % launch->grid[1]);
    launch->start[2] = (uint32_t)(first / launch->grid[0] / launch->grid[1]);
}

/* Runs blocks first <= b < last of the launch, in linear order (x fastest); launch->start is that of `first`. */
typedef void (*CpuEntry)(const void *params, const CpuLaunch *launch, uint64_t first, uint64_t last);

/* ---- kernels whose threads wait for each other on the CPU ----
 *
 * Code is cut into regions; a region runs until its threads wait or end. What waits for what is decided by the runtime
 * (blocks.c), which also does the operations that combine values of several threads. */

typedef enum CutKind {
    CUT_BARRIER, CUT_BARRIER_RED, CUT_GRID,                     /* wait for all threads of the block, the grid */
    CUT_SYNCWARP, CUT_SHFL, CUT_VOTE, CUT_MATCH, CUT_REDUX, CUT_ACTIVEMASK,  /* wait for lanes of the warp */
    CUT_YIELD                                                   /* lets others run */
} CutKind;

/* Variants of the operations that combine values; `sub` of the IR's. Their semantics: compiler/ir.h, compiler/ops.def. */
typedef enum AtomicOp {
    ATOMIC_ADD, ATOMIC_SUB, ATOMIC_MIN, ATOMIC_MAX, ATOMIC_FMIN, ATOMIC_FMAX, ATOMIC_AND, ATOMIC_OR, ATOMIC_XOR, ATOMIC_EXCH,
    ATOMIC_INC, ATOMIC_DEC, ATOMIC__COUNT
} AtomicOp;
typedef enum BarrierRed { BARRIER_POPC, BARRIER_AND, BARRIER_OR, BARRIER__COUNT } BarrierRed;
typedef enum Shuffle { SHFL_UP, SHFL_DOWN, SHFL_XOR, SHFL_IDX, SHFL__COUNT } Shuffle;
typedef enum Vote { VOTE_ALL, VOTE_ANY, VOTE_EQ, VOTE_BALLOT, VOTE__COUNT } Vote;
typedef enum Match { MATCH_ANY, MATCH_ALL, MATCH__COUNT } Match;

typedef struct ImageCut {
    uint8_t kind;                /* CutKind */
    uint8_t sub;                 /* BarrierRed, Shuffle, Vote, Match; AtomicOp of CUT_REDUX */
    uint8_t bytes;               /* of the value */
    bool is_signed;
    uint32_t line;
    char *file;
} ImageCut;

/* What a thread brings to its wait, and takes from it. */
typedef struct CpuOperand { uint64_t value; uint32_t mask; int32_t lane, width; uint32_t pad; } CpuOperand;

#define REGION_DONE UINT32_C(0xffffffff)
#define REGION_RAISED UINT32_C(0xfffffffe)
#define REGION_WAITS UINT32_C(0x80000000)

/* A block that runs. Layout is known to compiler/lower_cpu_regions.c. */
typedef struct CpuBlock {
    uint32_t grid[3], block[3], at[3];
    uint32_t threads;            /* of the block */
    uint32_t dynamic_shared;     /* bytes */
    uint64_t capacity;           /* threads that the frame has room for: a multiple of 64 */
    uint64_t more;               /* blocks that follow this one in the same call; of images that are `straight` */
    ErrorRecord *error;
    PrintTarget print;
    uint8_t *shared;             /* memory: the static arrays, then the launch's dynamic bytes */
    uint8_t *frame, *common;     /* slots of the threads; of the block */
    uint32_t *state;             /* of each thread: the region that it runs next, maybe with REGION_WAITS; REGION_DONE */
    CpuOperand *operands;        /* of each thread */
} CpuBlock;

/* Runs the threads first <= t < last whose state is `region` until they wait or end. Kernels with uniform control run all
 * threads, and return the region that follows; `straight` ones run to their end, and then as many blocks as `more` says. */
typedef uint32_t (*CpuRegion)(const void *params, CpuBlock *block, uint32_t region, uint32_t first, uint32_t last);

/* A host function (device function called from Python): arguments and results by pointer to 8-byte slots
 * is what the libffi path avoids; it is a plain C function of the scalar types. Several results come
 * through a pointer to a struct of 8-byte slots, passed first. */

/* Code for the driver to link with a kernel's PTX: the first ones are its CUjitInputType. */
typedef enum LinkKind { LINK_CUBIN, LINK_PTX, LINK_FATBIN, LINK_OBJECT, LINK_LIBRARY, LINK_LLVM /* the compiler's own */ } LinkKind;
typedef struct ImageLink {
    uint8_t kind;                /* LinkKind */
    void *data;                  /* PTX is NUL-terminated, beyond `size` */
    size_t size;
    char *name;
} ImageLink;

/* An array in static shared memory, which PTX calls shared_k, in constant data (data_k), or in a thread's own memory. */
typedef struct ImageShared {
    uint8_t dtype, ndim;         /* dtype: the frontend's, for messages */
    uint16_t item;               /* bytes of an element */
    uint32_t line;               /* that makes it */
    uint32_t offset;             /* of a local one, in the kernel's local memory */
    int64_t shape[4];
} ImageShared;

typedef struct Image {
    char *entry;                 /* symbol */
    char *ptx;                   /* NUL-terminated; NULL for the CPU */
    void *object;                /* ELF relocatable for the CPU; NULL for PTX */
    size_t object_size;
    CpuEntry cpu_entry;          /* set by the compiler library when it has loaded the object */
    CpuRegion cpu_region;        /* in place of cpu_entry, if the kernel has shared memory or waits */
    ImageCut *cuts;              /* cut k is what region k + 1 follows */
    uint32_t ncuts, thread_bytes, block_bytes;  /* of the frame */
    bool uniform;                /* all threads of a block take the same cuts */
    bool straight;               /* and nothing at them is for the runtime to do */
    uint32_t shape_facts;        /* of the CPU: facts of the block's shape that the code takes to be so (compiler/ir.h) */
    bool grid_sync;              /* waits for the whole grid: every launch is cooperative */
    void *host_fn;               /* host functions: address */
    void *code;                  /* the compiler library's handle of the loaded code; unload() gives it back */
    ImageParam *params;
    uint32_t nparams, params_bytes;
    ImageCapture *captures;      /* NULL: none */
    ImageSite *sites;
    uint32_t nsites;
    ImageLink *links;
    uint32_t nlinks;
    bool calls_out;              /* native code that calls what isn't ours: it may hold locks, and is never interrupted */
    bool no_loops;               /* every thread ends soon: nothing needs to interrupt it */
    bool raises;                 /* PTX kernels and host functions have a hidden parameter: pointer to the ErrorRecord */
    bool prints;                 /* and behind it three more: the fields of a PrintTarget */
    ImageShared *shared;         /* those of up to 4 axes; `ndim` of others is 0 */
    uint32_t nshared;
    ImageShared *data;           /* captured arrays in the code */
    uint32_t ndata;
    ImageShared *locals;         /* of PTX, as they lie in memory; those that aren't the program's have an `ndim` of 0 */
    uint32_t nlocals;            /* 0: none, or it isn't known where they lie */
    bool kept;                   /* the code was made before, and lay in the folder for it */
    uint32_t shared_bytes, local_bytes;
    uint16_t sm, ptx_version;    /* 80, 70 */
} Image;

void gpu_image_free(Image *image);

#endif
