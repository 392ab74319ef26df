/* blocks.h - blocks whose threads wait for each other, on the CPU: region by region. */
#ifndef GPU_BLOCKS_H
#define GPU_BLOCKS_H

#include "image.h"

/* How a block's turn ended. */
typedef enum BlockEnd {
    BLOCK_DONE,
    BLOCK_RAISED,
    BLOCK_AT_GRID, /* waits for the other blocks */
    BLOCK_STUCK,
    BLOCK_GOES_ON  /* within blocks.c */
} BlockEnd;

/* Why no thread can go on: the waits of two threads that don't fit, as cut numbers; or one, and others have ended. */
typedef struct Stuck {
    uint32_t block[3], thread[3], other_thread[3];
    uint32_t cut, other_cut;     /* other_cut: UINT32_MAX, if the others have ended */
} Stuck;

/* What shared arrays may ask for. */
enum { BLOCK_ALIGN = 1024 };

/* Bytes of a block's memory, and the same laid out in `memory`, which is aligned to BLOCK_ALIGN. Nothing in it needs to be freed. */
size_t block_bytes(const Image *image, const uint32_t block[3], uint32_t dynamic_shared);
void block_place(CpuBlock *b, const Image *image, const CpuLaunch *launch, void *memory);

/* A block from its start; and on behind a wait for the grid. No allocation, no lock: it may be left at any instruction. */
void block_start(CpuBlock *b, const Image *image, uint64_t number);
BlockEnd block_run(const Image *image, const void *params, CpuBlock *b, Stuck *stuck);

#endif
