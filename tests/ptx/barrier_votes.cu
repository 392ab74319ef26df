// Barriers that count, and and or over the block.
/*
x = np.random.default_rng(21).integers(0, 10, 384).astype(np.int32)
out = np.zeros((3, 3), np.int32)
launch("k", 3, 128, out, x)
rows = x.reshape(3, 128)
same(out[:, 0], (rows > 4).sum(1).astype(np.int32))
same(out[:, 1], (rows < 10).all(1).astype(np.int32))
same(out[:, 2], (rows == 11).any(1).astype(np.int32))
*/
extern "C" __global__ void k(int *out, const int *x) {
    int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    int count = __syncthreads_count(v > 4), all = __syncthreads_and(v < 10), any = __syncthreads_or(v == 11);
    if (threadIdx.x == 17) {
        out[3 * blockIdx.x] = count;
        out[3 * blockIdx.x + 1] = all != 0;
        out[3 * blockIdx.x + 2] = any != 0;
    }
}
