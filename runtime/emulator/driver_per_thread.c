/* driver_per_thread.c - the variants cu..._ptds and cu..._ptsz, which use the calling thread's own default stream.
 *
 * Work of all streams is done in the order of submission here, so they do what the plain ones do. */
#include "driver.h"

/* (int, char *) becomes (int a2, char *a1) and (a2, a1): parameters are numbered from the end. */
#define P1(type) type a1
#define P2(type, ...) type a2, P1(__VA_ARGS__)
#define P3(type, ...) type a3, P2(__VA_ARGS__)
#define P4(type, ...) type a4, P3(__VA_ARGS__)
#define P5(type, ...) type a5, P4(__VA_ARGS__)
#define P6(type, ...) type a6, P5(__VA_ARGS__)
#define P7(type, ...) type a7, P6(__VA_ARGS__)
#define P8(type, ...) type a8, P7(__VA_ARGS__)
#define P9(type, ...) type a9, P8(__VA_ARGS__)
#define P10(type, ...) type a10, P9(__VA_ARGS__)
#define P11(type, ...) type a11, P10(__VA_ARGS__)
#define A1 a1
#define A2 a2, A1
#define A3 a3, A2
#define A4 a4, A3
#define A5 a5, A4
#define A6 a6, A5
#define A7 a7, A6
#define A8 a8, A7
#define A9 a9, A8
#define A10 a10, A9
#define A11 a11, A10
#define PICK(a, b, c, d, e, f, g, h, i, j, k, n, ...) n
#define COUNT(...) PICK(__VA_ARGS__, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#define FORWARD(name, variant, ...)                                                                                    \
    DRIVER_EXPORT CUresult variant(JOIN(P, COUNT(__VA_ARGS__))(__VA_ARGS__));                                          \
    CUresult variant(JOIN(P, COUNT(__VA_ARGS__))(__VA_ARGS__)) { return name(JOIN(A, COUNT(__VA_ARGS__))); }
#define REFUSE(name, variant)                                                                                          \
    DRIVER_EXPORT CUresult variant(void);                                                                              \
    CUresult variant(void) { return name(); }

/* By the table's column `stream`. */
#define IF_NONE(make, name, ...)
#define IF_PTDS(make, name, ...) make(name, name##_ptds, __VA_ARGS__)
#define IF_PTSZ(make, name, ...) make(name, name##_ptsz, __VA_ARGS__)
#define REFUSED_NONE(name)
#define REFUSED_PTDS(name) REFUSE(name, name##_ptds)
#define REFUSED_PTSZ(name) REFUSE(name, name##_ptsz)
#define SPREAD(...) __VA_ARGS__

#define CUDA_USED(name, base, since, stream, parameters) IF_##stream(FORWARD, name, SPREAD parameters)
#define CUDA_MORE CUDA_USED
#define CUDA_REFUSED(name, base, since, stream) REFUSED_##stream(name)
#include "../cuda_api.def"
