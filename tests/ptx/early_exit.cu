// Threads that are done leave; the others go on and meet at barriers.
/*
x = np.arange(300, dtype=np.int32)
out = np.full(300, -1, np.int32)
launch("k", 3, 128, out, x, np.int32(300))
same(out, np.where(x % 5 == 0, -1, np.where(x % 5 == 1, x * 10, x + 1000)))
*/
extern "C" __global__ void k(int *out, const int *x, int n) {
    __shared__ int base;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || x[i] % 5 == 0) return;
    if (threadIdx.x == 1) base = 1000;
    __syncthreads();
    if (x[i] % 5 == 1) {
        out[i] = x[i] * 10;
        return;
    }
    __syncthreads();
    out[i] = x[i] + base;
}
