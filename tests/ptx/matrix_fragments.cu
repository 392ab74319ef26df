// Tensor cores by CUDA's wmma: halves, bytes and doubles, rows and columns, from global and shared memory.
// nvcc -arch=sm_80
/*
rng = np.random.default_rng(40)
a, b = rng.integers(-8, 9, (2, 16, 16)).astype(np.float16)
c = rng.integers(-8, 9, (16, 16)).astype(np.float32)
out = np.zeros((2, 16, 16), np.float32)
launch("halves", 1, 32, out, a, b, c)
exact = a.astype(np.float64) @ b
same(out[0], (exact + c).astype(np.float32))
same(out[1], (2 * (a.astype(np.float64) @ b.T)).T.astype(np.float32).copy())
x = rng.integers(-128, 128, (32, 16)).astype(np.int8)
y = rng.integers(-128, 128, (16, 8)).astype(np.int8)
ints = np.zeros((32, 8), np.int32)
launch("bytes", 1, 32, ints, x, y)
same(ints, x.astype(np.int32) @ y.astype(np.int32))
p, q, product = rng.integers(-99, 99, (8, 4)) / 8, rng.integers(-99, 99, (4, 8)) / 8, np.zeros((8, 8))
launch("doubles", 1, 32, product, p, q)
same(product, p @ q)
*/
#include <mma.h>
using namespace nvcuda::wmma;
extern "C" __global__ void halves(float *out, const half *a, const half *b, const float *c) {
    __shared__ half shared[16 * 16];
    for (int i = threadIdx.x; i < 256; i += 32) shared[i] = a[i];
    __syncwarp();
    fragment<matrix_a, 16, 16, 16, half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, half, row_major> fb;
    fragment<matrix_b, 16, 16, 16, half, col_major> ft;
    fragment<accumulator, 16, 16, 16, float> fc, fd;
    load_matrix_sync(fa, shared, 16);
    load_matrix_sync(fb, b, 16);
    load_matrix_sync(ft, b, 16);
    load_matrix_sync(fc, c, 16, mem_row_major);
    mma_sync(fd, fa, fb, fc);
    store_matrix_sync(out, fd, 16, mem_row_major);
    fill_fragment(fd, 0);
    mma_sync(fd, fa, ft, fd);
    for (int i = 0; i < fd.num_elements; i++) fd.x[i] *= 2;
    store_matrix_sync(out + 256, fd, 16, mem_col_major);
}
extern "C" __global__ void bytes(int *out, const signed char *x, const signed char *y) {
    fragment<matrix_a, 32, 8, 16, signed char, row_major> fx;
    fragment<matrix_b, 32, 8, 16, signed char, row_major> fy;
    fragment<accumulator, 32, 8, 16, int> f;
    load_matrix_sync(fx, x, 16);
    load_matrix_sync(fy, y, 8);
    fill_fragment(f, 0);
    mma_sync(f, fx, fy, f);
    store_matrix_sync(out, f, 8, mem_row_major);
}
extern "C" __global__ void doubles(double *out, const double *p, const double *q) {
    fragment<matrix_a, 8, 8, 4, double, row_major> fp;
    fragment<matrix_b, 8, 8, 4, double, row_major> fq;
    fragment<accumulator, 8, 8, 4, double> f;
    load_matrix_sync(fp, p, 4);
    load_matrix_sync(fq, q, 8);
    fill_fragment(f, 0);
    mma_sync(f, fp, fq, f);
    store_matrix_sync(out, f, 8, mem_row_major);
}
