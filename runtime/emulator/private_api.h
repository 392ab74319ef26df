/* private_api.h - what the emulated driver exports beside the CUDA driver's functions: for programs that know that it is
 * emulated. Plain data; a struct only ever grows at its end, and starts with the size that the caller knows. */
#ifndef EMU_PRIVATE_API_H
#define EMU_PRIVATE_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a kernel ended. Strings may be NULL: not known. */
typedef struct EmulatorFault {
    size_t size;                     /* sizeof this struct: filled in by the caller */
    uint32_t kind;                   /* a row of faults.def; 0: nothing happened */
    uint32_t cuda_error;
    char *what;                      /* "access out of bounds" */
    char *text;                      /* all of it, for a reader: several lines */
    char *kernel, *file, *function;
    uint32_t line, ptx_line;         /* 0: not known */
    uint32_t block[3], thread[3];
    uint32_t space;                  /* Space of ptx.h: 1 global, 2 shared, 3 local, 4 const */
    bool is_write, is_atomic;
    uint64_t address;                /* of the access: an offset in shared or local memory, else a device address */
    uint32_t bytes;
    uint64_t alloc_address, alloc_bytes;   /* the allocation that holds it or is next to it; bytes 0: none is near */
    bool alloc_freed;
    char *other_file;                /* of a race: the other access */
    uint32_t other_line, other_ptx_line, other_block[3], other_thread[3];
    bool other_is_write;
    char *variable;                  /* the one that holds the address, or else, in shared memory, the one before it, elsewhere the nearest */
    uint64_t variable_offset;        /* of the address in it */
} EmulatorFault;

/* Counters of one source line of a kernel. */
typedef struct LineCounters {
    uint64_t instructions;     /* issued for a warp */
    uint64_t lanes;            /* active lanes summed over them */
    uint64_t divergent;        /* branches that split a warp */
    uint64_t branches;
    uint64_t requests, sectors, ideal_sectors;       /* global memory, 32-byte sectors */
    uint64_t shared_requests, shared_waves, ideal_waves;   /* bank conflicts: waves beyond the ideal */
    uint64_t atomic_requests, atomic_rounds;         /* rounds: the most lanes on one address */
    uint64_t bytes_read, bytes_written;
} LineCounters;

typedef struct EmulatorLine {
    const char *kernel, *file; /* file NULL: the code has no line information */
    uint32_t line;
    uint64_t launches;         /* of the kernel's module */
    LineCounters counters;
} EmulatorLine;

#define EMULATOR_API __attribute__((visibility("default")))

/* Takes the newest fault that nobody took: its strings are the caller's until gpuEmulatorFreeFault(). False: there is none. */
EMULATOR_API bool gpuEmulatorTakeFault(EmulatorFault *out);
EMULATOR_API void gpuEmulatorFreeFault(EmulatorFault *fault);
/* Whether faults are printed, too. */
EMULATOR_API void gpuEmulatorPrintFaults(bool print);

/* Counting from now on, or no longer; what was counted stays. */
EMULATOR_API void gpuEmulatorProfile(bool on);
/* All lines counted so far, by kernel, file and line, in one block to be freed by gpuEmulatorFreeLines(), and their number. */
EMULATOR_API EmulatorLine *gpuEmulatorProfileRead(size_t *n);
EMULATOR_API void gpuEmulatorFreeLines(EmulatorLine *lines);
EMULATOR_API void gpuEmulatorProfileClear(void);

/* A device's primary context works again after a fault: its memory and modules are as they were. */
EMULATOR_API void gpuEmulatorForgive(int device);

/* Ends the kernel that runs on a device, without an error: for Ctrl-C. Work behind it goes on. */
EMULATOR_API void gpuEmulatorInterrupt(int device);

#endif
