/* emulator.h - the emulator's core, as the driver entry points (driver_*.c) use it. */
#ifndef EMU_EMULATOR_H
#define EMU_EMULATOR_H

#include "memory.h"
#include "private_api.h"    /* LineCounters */
#include "ptx.h"

/* ---- modules ----------------------------------------------------------------------------------- */

typedef struct PtxSource { const char *text; size_t size; const char *name; } PtxSource;

/* Errors as ptxas writes them: "name, line 12; error : ...". */
typedef struct PtxLog { char *buffer; size_t size, used; uint32_t errors; bool out_of_memory; } PtxLog;

/* Links the sources to one module (extern functions and variables of one are found in another), places its globals in
 * `memory`, decodes. NULL: see the log. Tolerates trailing NULs. */
PtxCode *ptx_load(const PtxSource *sources, uint32_t n, Memory *memory, uint16_t sm, PtxLog *log);
void ptx_unload(PtxCode *code, Memory *memory);
const PtxFunc *ptx_function(const PtxCode *code, const char *name);
const PtxGlobal *ptx_global(const PtxCode *code, const char *name);

/* ---- launches ---------------------------------------------------------------------------------- */

enum { CHECK_UNINITIALIZED = 1, CHECK_RACES = 2, CHECK_BARRIERS = 4, CHECK_MASKS = 8 };

typedef struct LaunchSpec {
    const PtxCode *code;
    const PtxFunc *func;
    Memory *memory;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t dynamic_shared;
    const void *params;        /* func->param_bytes, laid out as its parameters */
    bool cooperative;          /* all blocks are resident */
    uint32_t checks;
    uint64_t budget;           /* lane-instructions of a thread block; 0: no limit */
    uint32_t threads;          /* host threads that run blocks; 0 and 1: in order, deterministic */
    uint32_t stack_bytes;      /* of a thread, for recursion and indirect calls (CU_LIMIT_STACK_SIZE); 0: 16 KiB */
    uint32_t printf_bytes;     /* what a launch may print (CU_LIMIT_PRINTF_FIFO_SIZE); 0: 1 MiB */
    uint64_t heap_bytes;       /* what kernels may malloc (CU_LIMIT_MALLOC_HEAP_SIZE); 0: 8 MiB */
    struct Profile *profile;   /* counters by PTX instruction, or NULL */
    const volatile bool *stop; /* becomes true: end with FAULT_BUDGET soon; or NULL */
} LaunchSpec;

/* The first fault of a launch, with what is known about it. */
typedef struct FaultReport {
    uint32_t kind;             /* FaultKind; 0: none */
    uint32_t cuda_error;
    const char *kernel;
    const char *file, *function;   /* from .loc; NULL: not known */
    uint32_t line, ptx_line;   /* Python (or C) line, line in the PTX text */
    uint32_t block[3], thread[3];
    uint8_t space;
    bool is_write, is_atomic;
    uint64_t address;          /* of the access: an offset in shared or local memory, else a device address */
    uint32_t bytes;
    Alloc alloc;               /* the allocation that holds it or is next to it; bytes 0: none is near */
    const char *variable;      /* the one that holds it, or else the one before it, elsewhere the nearest; NULL: none */
    uint64_t variable_offset, variable_bytes;
    /* Races: the other access. */
    uint32_t other_ptx_line, other_line, other_block[3], other_thread[3];
    const char *other_file;
    bool other_is_write;
} FaultReport;

uint32_t emulator_run(const LaunchSpec *spec, FaultReport *report);    /* CUDA error code, 0: well */
/* One line and some more, malloc'ed: "k(): out of bounds by ... at file:line, block (0,0,0), thread (3,0,0) ...". */
char *fault_text(const FaultReport *report);

/* ---- profile ----------------------------------------------------------------------------------- */

typedef struct Profile {
    LineCounters *counters;    /* by pc: code->ninsts of them */
    uint64_t launches;
} Profile;

#endif
