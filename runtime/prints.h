/* prints.h - what kernels print, on the host's side: reading logs (image.h) of any device, and the CPU's own. */
#ifndef GPU_PRINTS_H
#define GPU_PRINTS_H

#include "runtime.h"

/* The bytes of a log for records: GPU_PRINT_BUFFER ("65536", "64K", "16M"), else `usual`. */
uint64_t prints_room(uint64_t usual);
void prints_init(PrintLog *log, uint64_t room);         /* memory of sizeof *log + room bytes, all zero but for its head */
/* The records from offset *from on that are complete, sorted by launch and block; *from goes behind them. False: there are
 * none, or no memory for a copy. */
bool prints_read(const PrintLog *log, uint64_t *from, Printed *out);

bool cpu_take_printed(Device *d, Printed *out);

#endif
