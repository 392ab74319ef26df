// Shared memory whose size the launch gives, behind some that the kernel has.
/*
x = np.arange(192, dtype=np.int32)
out = np.zeros(192, np.int32)
launch("k", 1, 192, out, x, shared=192 * 4)
same(out, x[::-1] + 192 * 191 // 2 % 1000)
big = np.zeros(64, np.float64)
launch("large", 1, 64, big, shared=60000)
same(big, np.arange(64)[::-1] * 2.0)
*/
extern __shared__ int dynamic[];
__device__ __noinline__ int from_behind(int t, int n) { return dynamic[n - 1 - t]; }
extern "C" __global__ void k(int *out, const int *x) {
    __shared__ int fixed;
    int t = threadIdx.x;
    if (t == 0) fixed = 192 * 191 / 2 % 1000;
    dynamic[t] = x[t];
    __syncthreads();
    out[t] = from_behind(t, blockDim.x) + fixed;
}
extern "C" __global__ void large(double *out) {
    double *d = (double *)dynamic;
    int t = threadIdx.x;
    d[7000 + t] = t * 2.0;
    __syncthreads();
    out[t] = d[7000 + 63 - t];
}
