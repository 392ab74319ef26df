/* exec.h - a launch while it runs: Run, its host threads (Worker), blocks, and the fragments of their warps.
 *
 *   run.c        a launch: checks, workers, blocks taking turns
 *   block.c      a block: its warps, shared memory, turns of its warps
 *   schedule.c   a warp: which lanes run next, and the loop that runs instructions
 *   control.c    calls, returns, exits; warp operations that wait for lanes
 *   barrier.c    what waits for threads of the block;  cluster.c: of several blocks
 *   locate.c     addresses to bytes;  access.c, atomics.c, async.c, address.c: what has an address
 *   warpops.c    shfl, vote and their kind
 *   builtins.c   functions that the emulator provides
 *   watch.c      uninitialised reads, races;  profile.c: counters;  report.c: faults */
#ifndef EMU_EXEC_H
#define EMU_EXEC_H

#include "emulator.h"
#include "warp.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

/* ---- generic addresses ------------------------------------------------------------------------------ */

/* Where shared, local and parameter memory lie among generic addresses: where no program has its memory. */
#define SHARED_WINDOW UINT64_C(0x010000000000)
#define LOCAL_WINDOW UINT64_C(0x020000000000)
#define PARAM_WINDOW UINT64_C(0x030000000000)
#define WINDOW_BYTES UINT64_C(0x010000000000)

/* The space of a generic address: GLOBAL stands for all that isn't in a window. */
static inline Space generic_space(uint64_t address) {
    switch (address / WINDOW_BYTES) {
    case SHARED_WINDOW / WINDOW_BYTES: return SPACE_SHARED;
    case LOCAL_WINDOW / WINDOW_BYTES: return SPACE_LOCAL;
    case PARAM_WINDOW / WINDOW_BYTES: return SPACE_PARAM;
    default: return SPACE_GLOBAL;
    }
}

/* ---- warps ------------------------------------------------------------------------------------- */

/* Lanes that are at the same place: of one frame, at one pc. A fragment that waits has its pc at what it waits for. */
typedef enum FragmentState { RUNNABLE, WAITS_WARP, WAITS_BLOCK } FragmentState;
typedef struct Fragment {
    Frame *frame;
    uint32_t pc, mask;
    uint8_t state;
    uint32_t members; /* WAITS_WARP: the lanes that must come */
    uint32_t barrier; /* WAITS_BLOCK: which */
    uint64_t turn;    /* when it ran last: the others' come first after a long spin */
} Fragment;

typedef struct Scheduler {
    Fragment fragments[WARP];
    uint32_t n, current;
    uint32_t limit;   /* the run loop looks around when pc reaches it */
    uint32_t alive;   /* lanes that haven't exited */
    bool rotate;      /* fragments spun for long: let the one run that waits longest */
    bool rotated;     /* the current fragment is that one */
    bool observed;    /* while it waited, others read memory that may change before they jumped back */
    uint32_t spins;   /* fragments in a row that did so for long */
    int64_t patience; /* jumps back until then */
    int64_t fuel;     /* lane-instructions until the block looks around */
    uint64_t turns, instructions;
    /* Races: when each lane took part in a warp operation, fenced, and saw what others did. */
    uint32_t synced[WARP], fenced[WARP], observed_at[WARP];
    uint32_t arrived[WARP], joined[WARP]; /* at the last barrier that is over: when it arrived, when it went on */
} Scheduler;

/* Why a warp stopped running. */
typedef enum Pause { PAUSE_SLICE, PAUSE_SPINS, PAUSE_WAITS, PAUSE_DONE } Pause;

/* ---- blocks ------------------------------------------------------------------------------------ */

enum { CLUSTER_BARRIER = 16 /* cluster.c */, GRID_BARRIER, BARRIERS, MAX_WARPS = 32 };

/* One of bar's barriers. Lanes that arrived are kept, so that those which exit needn't come any more. */
typedef struct Barrier {
    uint32_t arrived[MAX_WARPS];
    uint32_t when[MAX_WARPS]; /* races: the clock as the warp arrived */
    uint32_t came;            /* lanes of `arrived` */
    uint32_t count;           /* threads that must come; 0: all of the block */
    uint32_t pc, thread;      /* of the first who came */
    uint32_t popc;
    bool all, any, used;
} Barrier;

/* Blocks that start together; `live` of them haven't ended. */
typedef struct Cluster {
    uint32_t n, live;
    Block *blocks[]; /* by rank; NULL: ended */
} Cluster;

struct Block {
    Run *run;
    struct Worker *worker;
    uint64_t linear;
    Cluster *cluster; /* or NULL: alone */
    uint32_t rank;
    uint32_t arrived[MAX_WARPS],
        passed[MAX_WARPS]; /* barrier.cluster: lanes that wait or will; lanes whose phase is over */
    uint32_t index[3];
    uint8_t *shared;
    uint32_t nwarps;
    uint32_t threads; /* that haven't exited */
    Warp *warps;
    uint64_t executed; /* lane-instructions */
    Barrier barriers[BARRIERS];
    uint8_t *storage;                                /* frames, special registers and schedulers of the warps */
    uint8_t *local, *shared_written, *local_written; /* *_written: bits, with CHECK_UNINITIALIZED */
    void *shadow;                                    /* of shared memory, with CHECK_RACES */
    uint32_t observe_clock;
};

/* ---- launches ---------------------------------------------------------------------------------- */

/* A host thread. Blocks in `active` take turns; usually it is one. */
typedef struct Worker {
    Run *run;
    pthread_t thread;
    Block **active;
    uint32_t nactive, room;
    Block *spare;           /* a finished block, to be used again */
    Frame **free_frames;    /* by function index */
    Frame *frames;          /* all that were made */
    LineCounters *counters; /* by pc; NULL: not wanted */
    AccessCache cache[CACHED_ALLOCS];
    char *text;    /* of vprintf: format, output, a string */
    jmp_buf stop; /* where a fault goes */
} Worker;

/* For the current fragment. True: it waits, at the call, for others. */
typedef bool (*Builtin)(Warp *w, const PtxInst *in, const PtxCall *call, uint32_t mask);

struct Run {
    const LaunchSpec *spec;
    const PtxCode *code;
    const PtxFunc *func;
    Memory *memory;
    const _Atomic uint64_t *epoch; /* of the memory: see AccessCache */
    const uint8_t *params;
    uint32_t threads, nwarps; /* of a block */
    uint32_t nworkers;
    uint32_t cluster_blocks;            /* of a cluster; 1: no clusters */
    uint32_t shared_bytes, local_bytes; /* of a block, of a thread */
    uint32_t reserved_shared;           /* at the end of shared_bytes: add_reserved_shared() */
    uint64_t specials;                  /* the special registers that anything reads which the kernel may call */
    uint32_t checks;
    uint64_t nblocks, blocks_resident; /* resident: how many may take turns on a worker */
    uint64_t start_clock, clock;       /* races: what is older than start_clock was an earlier launch's */
    uint32_t *fences;                  /* races: by block, when it fenced for other blocks */
    uint64_t grid_id;
    Builtin *builtins; /* by function index */
    _Atomic uint64_t next_block;
    _Atomic bool stopped;
    pthread_mutex_t lock; /* report, printed, heap, counters */
    FaultReport *report;
    char *printed; /* records of vprintf */
    size_t printed_bytes, printed_room;
    uint64_t workspace; /* of a cooperative launch: the address that cooperative groups of CUDA C++ read from %envreg */
};

/* run.c: never returns; the first fault of the launch is in the report already. */
_Noreturn void run_abandon(Worker *worker);

/* block.c */
Block *block_create(Worker *worker);
void block_start(Block *b, uint64_t linear); /* puts all threads at the kernel's start */
void block_destroy(Block *b);
Pause block_turn(Block *b);
_Noreturn void block_stuck(Block *b); /* nobody in it, nor in any other, can go on */

/* schedule.c */
Pause warp_run(Warp *w);
Fragment *fragment_add(Warp *w, Fragment f); /* or joins it to its like */
void fragment_remove(Warp *w, uint32_t i);   /* the last one takes its place */
/* Where every lane of the fragment goes on after it waited. */
void fragment_release(Warp *w, uint32_t i);
void clocks_update(Warp *w);

/* control.c: the current fragment's lanes in `mask` do it; the others go on behind it. All leave the current fragment
 * changed or gone: the loop must choose anew. */
void control_call(Warp *w, const PtxInst *in, uint32_t mask);
void control_return(Warp *w, const PtxInst *in, uint32_t mask);
void control_exit(Warp *w, uint32_t mask);
void control_switch(Warp *w, const PtxInst *in, uint32_t mask);
/* True: nobody had to be waited for, the operation is done and the fragment goes on as it is. */
bool control_warp(Warp *w, const PtxInst *in, uint32_t mask);
/* Warp operations and barriers may be complete when lanes have exited. */
void control_recheck_warp(Warp *w);
void frame_release(Worker *worker, Frame *f);
Frame *frame_take(Worker *worker, const PtxFunc *func);

/* barrier.c */
void barrier_arrive(Warp *w, const PtxInst *in, uint32_t mask);
void barrier_recheck(Block *b);
void barrier_wait_grid(Warp *w, const PtxInst *in);
void barrier_recheck_grid(Worker *worker);

/* cluster.c */
uint32_t cluster_blocks(const LaunchSpec *spec); /* in each cluster */
uint64_t cluster_linear(const LaunchSpec *spec, uint64_t cluster, uint32_t rank);
Cluster *cluster_create(uint32_t blocks);
void cluster_leave(Block *b);
/* The block whose shared memory the address is in, and where in it; NULL: there is no such block, or it has ended. */
Block *cluster_block(const Block *b, uint64_t *at);
void cluster_arrive(Warp *w, uint32_t mask);
void cluster_wait(Warp *w, const PtxInst *in, uint32_t mask);
void cluster_recheck(Block *b);

/* ---- accesses ---------------------------------------------------------------------------------- */

enum {
    ACCESS_READ = 1,
    ACCESS_WRITE = 2,
    ACCESS_ATOMIC = 4,
    ACCESS_STRONG = 8 /* volatile, relaxed ...: doesn't race */
};

/* Addresses of one instruction's lanes, and the bytes behind them. */
typedef struct Access {
    uint64_t address[WARP]; /* as written: in the instruction's space */
    uint8_t *host[WARP];
} Access;

/* Finds and checks `bytes` bytes for each lane of the mask at [operand + disp]; ends the launch if they aren't there.
 */
void locate(Warp *w, const PtxInst *in, const PtxOperand *o, int64_t disp, Space space, uint32_t mask, uint32_t bytes,
            unsigned how, Access *a);
/* An operand's address for each lane, whatever it is. */
void read_addresses(const Warp *w, const PtxOperand *o, int64_t disp, uint64_t *address);
/* The same for one lane and a generic address. */
uint8_t *locate_one(Warp *w, const PtxInst *in, int lane, uint64_t address, uint32_t bytes, unsigned how);

/* watch.c: after the bytes are known, before they are read or written. `values`: what will be written, by lane, or
 * NULL. */
void watch(Warp *w, const PtxInst *in, Space space, uint32_t mask, uint32_t bytes, unsigned how, const Access *a,
           const uint8_t (*values)[32]);
/* The same for st, whose values are in operand 1, elements of `element_bytes`. */
void watch_store(Warp *w, const PtxInst *in, uint32_t mask, uint32_t element_bytes, unsigned how, const Access *a);
bool watch_open(Block *b);
void watch_start(Block *b);
void watch_close(Block *b);
void watch_copy_local(Warp *w, uint32_t mask, uint32_t to, uint32_t from, uint32_t bytes);
void watch_wrote_local(Warp *w, int lane, uint32_t from, uint32_t bytes);
void watch_forget_local(Warp *w, uint32_t mask, uint32_t from, uint32_t bytes); /* it is a new call's */
void watch_sync(Warp *w, uint32_t mask);
void watch_fence(Warp *w, uint32_t mask, bool beyond_block);
void watch_observe(Warp *w, uint32_t mask);
/* Lanes that met at a barrier: what they did before `arrived` is over for those which go on at `joined`. */
void watch_meet(Warp *w, uint32_t mask, uint32_t arrived, uint32_t joined);
uint32_t watch_clock(Run *run);

/* profile.c */
void profile_access(Worker *worker, const PtxInst *in, Space space, uint32_t mask, uint32_t bytes, unsigned how,
                    const Access *a);
void profile_merge(Worker *worker);

/* builtins.c */
Builtin builtin_find(const char *name);
void builtin_flush(Run *run);

/* report.c: fault() of an access, which says whether it reads or writes; and with the other side of a race. */
_Noreturn void fault_access(Warp *w, const PtxInst *in, int lane, FaultKind kind, Space space, uint64_t address,
                            uint32_t bytes, unsigned how);
/* What else had a part in a fault: an access that it races with, a barrier where others wait. */
typedef struct Other {
    uint32_t pc, thread;
    uint64_t block;
    bool writes;
} Other;
_Noreturn void fault_race(Warp *w, const PtxInst *in, int lane, Space space, uint64_t address, uint32_t bytes,
                          unsigned how, Other other);
_Noreturn void fault_barrier(Warp *w, const PtxInst *in, int lane, Other other);

/* atomics.c */
bool is_compare_and_swap(const PtxInst *in);
/* A reduction's number for atomic_apply(); -1: there is no such. */
int atomic_step(unsigned op, unsigned type);
void atomic_apply(int step, void *at, uint32_t bytes, uint64_t value);

/* ---- async.c: bytes have come, of each lane, to the mbarriers in an operand */
void mbarrier_complete(Warp *w, const PtxInst *in, uint32_t mask, int operand, const uint32_t *bytes);
/* warpops.c: bar.warp.sync, a form of bar. */
bool select_warp_barrier(const PtxForm *f, PtxInst *in);

#endif
