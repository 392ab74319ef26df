// A three-dimensional stencil in double precision, without fused operations.
// nvcc -fmad=false
/*
x = np.random.default_rng(33).standard_normal((6, 7, 9))
y = x.copy()
launch("k", (2, 2, 2), (8, 4, 4), y, x, np.int32(9), np.int32(7), np.int32(6))
want = x.copy()
c = x[1:-1, 1:-1, 1:-1]
sum = x[1:-1, 1:-1, :-2] + x[1:-1, 1:-1, 2:] + x[1:-1, :-2, 1:-1] + x[1:-1, 2:, 1:-1] + x[:-2, 1:-1, 1:-1] + x[2:, 1:-1, 1:-1]
want[1:-1, 1:-1, 1:-1] = c + 0.1 * (sum - 6.0 * c)
same(y, want)
*/
extern "C" __global__ void k(double *y, const double *x, int nx, int ny, int nz) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i < 1 || j < 1 || k < 1 || i >= nx - 1 || j >= ny - 1 || k >= nz - 1) return;
    int at = (k * ny + j) * nx + i, dz = ny * nx;
    double sum = x[at - 1] + x[at + 1] + x[at - nx] + x[at + nx] + x[at - dz] + x[at + dz];
    y[at] = x[at] + 0.1 * (sum - 6.0 * x[at]);
}
