/* cpu.h - the CPU device's own parts: launches (cpu.c), memory, streams and the table (cpu_device.c). */
#ifndef GPU_CPU_H
#define GPU_CPU_H

#include "runtime.h"

Status cpu_launch(Device *d, Module *m, const void *params, const LaunchConfig *c, Failure *f);

#endif
