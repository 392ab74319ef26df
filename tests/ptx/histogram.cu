// Counting in shared memory, then in global memory.
/*
x = np.random.default_rng(23).integers(0, 64, 5000).astype(np.uint8)
out = np.zeros(64, np.uint32)
launch("k", 4, 128, out, x, np.int32(5000))
same(out, np.bincount(x, minlength=64).astype(np.uint32))
*/
extern "C" __global__ void k(unsigned *out, const unsigned char *x, int n) {
    __shared__ unsigned bins[64];
    if (threadIdx.x < 64) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[x[i]], 1u);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
