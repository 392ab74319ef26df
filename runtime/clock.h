/* clock.h - the time that only goes on, for all that waits, measures or learns how long something takes. */
#ifndef GPU_CLOCK_H
#define GPU_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since some moment. */
static inline uint64_t clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

#endif
