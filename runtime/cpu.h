/* cpu.h - the CPU device's own parts: launches (cpu.c), memory that is shared with other processes (cpu_pages.c),
 * memory, streams and the table (cpu_device.c). */
#ifndef GPU_CPU_H
#define GPU_CPU_H

#include "runtime.h"

Status cpu_launch(Device *d, Module *m, const void *params, const LaunchConfig *c, Failure *f);

void *cpu_pages_alloc(size_t bytes);              /* in pages of its own; NULL: no memory */
bool cpu_pages_free(void *at, size_t *bytes);     /* false: it is no such memory. `bytes`: what was asked for */
Status cpu_share(Device *d, const void *at, SharedMemory *out, Failure *f);
Status cpu_open_shared(Device *d, const SharedMemory *shared, void **out, Failure *f);
Status cpu_close_shared(Device *d, void *opened, Failure *f);

#endif
