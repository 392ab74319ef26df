/* sharing.h - pages of this process that another maps, too: of the CPU device's arrays, and of the emulated GPU's.
 *
 * The pages become those of a file in memory, at the address that they have. Its handle names this process and the
 * descriptor, by which others open it under /proc: as with a GPU's handles, as long as the memory isn't given back. A
 * file of another kind or size, or of another number than the handle says, is not opened, and none can be made shorter.
 * Who writes while pages are exchanged may lose what is written. A child of fork() has shared pages in common with its
 * parent, where it would have copies of others. */
#ifndef GPU_SHARING_H
#define GPU_SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SHARING_PAGE = 4096 };

size_t sharing_whole_pages(size_t bytes);
/* Whole pages that nobody else has become those of a file, with the same contents; -1 and errno: they can't. */
int sharing_begin(void *pages, size_t bytes);
/* The pages are this process's own again, and zero, and the file is closed. False: they stay as they are. */
bool sharing_end(void *pages, size_t bytes, int file);
/* Writes the handle. `bytes`: of the memory, as it was asked for. */
bool sharing_describe(int file, size_t bytes, uint8_t handle[64]);
pid_t sharing_process(const uint8_t handle[64]);   /* whose memory it is */
/* The file of a handle, of this or another process, and how many bytes of it count; -1 and errno: it isn't there any
 * more, or never was. */
int sharing_open(const uint8_t handle[64], size_t *bytes);

#endif
