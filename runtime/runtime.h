/* runtime.h - devices: load an Image, launch it, wait for it.
 *
 * A device is a struct of functions. Status codes, out-parameters, one undo path; no Python, no LLVM here.
 * Every function may be called from any thread, without the GIL. */
#ifndef GPU_RUNTIME_H
#define GPU_RUNTIME_H

#include "image.h"

typedef enum Status {
    GPU_OK, GPU_ERROR_MEMORY, GPU_ERROR_INTERRUPTED, GPU_ERROR_RAISED /* a kernel raised: see the record */,
    GPU_ERROR_LAUNCH, GPU_ERROR_UNSUPPORTED
} Status;

typedef struct LaunchConfig {
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;
    void *stream;
    /* Called now and then while the caller waits; true means stop (Ctrl-C). May be NULL. */
    bool (*interrupted)(void *arg);
    void *interrupted_arg;
    /* What former launches of this image took, in picoseconds a thread; 0 = unknown. Kept by the caller (any thread may
     * read and write it), brought up to date by the device: it decides whether waking the pool pays. May be NULL. */
    uint32_t *cost;
} LaunchConfig;

typedef struct Device Device;
struct Device {
    const char *name;                                              /* "cpu" */
    Status (*launch)(Device *d, const Image *image, const void *params, const LaunchConfig *c, ErrorRecord *error);
    Status (*synchronize)(Device *d);
    uint32_t max_threads_per_block, max_block[3], max_grid[3];
};

Device *runtime_cpu(void);             /* the process's CPU device; its threads start at the first launch */
void runtime_cpu_set_threads(int n);   /* 0 = all cores this process may use */
int runtime_cpu_threads(void);

#endif
