// A running sum over a block, then over blocks.
/*
x = np.random.default_rng(19).integers(0, 10, 1000).astype(np.int32)
out, sums = np.zeros(1000, np.int32), np.zeros(4, np.int32)
launch("scan", 4, 256, out, sums, x, np.int32(1000))
launch("add", 4, 256, out, sums, np.int32(1000))
same(out, np.cumsum(x).astype(np.int32))
*/
extern "C" __global__ void scan(int *out, int *sums, const int *x, int n) {
    __shared__ int buffer[2][256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, now = 0;
    buffer[0][t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2, now ^= 1) {
        buffer[!now][t] = buffer[now][t] + (t >= d ? buffer[now][t - d] : 0);
        __syncthreads();
    }
    if (i < n) out[i] = buffer[now][t];
    if (t == 255) sums[blockIdx.x] = buffer[now][t];
}
extern "C" __global__ void add(int *out, const int *sums, int n) {
    int i = blockIdx.x * 256 + threadIdx.x, before = 0;
    for (int b = 0; b < blockIdx.x; b++) before += sums[b];
    if (i < n) out[i] += before;
}
