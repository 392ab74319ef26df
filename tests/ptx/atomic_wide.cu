// Atomics on 64 bits, in global and shared memory, and a 16-bit compare-and-swap.
/*
out = np.array([0, 2**63, 0, 0, 0], np.uint64)
small = np.zeros(2, np.uint16)
launch("k", 2, 64, out, small)
n = np.arange(128, dtype=np.uint64)
same(out, np.array([(n * 2**33).sum(), 0, 127 * 2**33, np.bitwise_or.reduce(n << np.uint64(40)), 2 * sum(range(64))], np.uint64))
same(small, np.array([128, 0], np.uint16))
*/
extern "C" __global__ void k(unsigned long long *out, unsigned short *small) {
    __shared__ unsigned long long sum;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0) sum = 0;
    __syncthreads();
    atomicAdd(out, (unsigned long long)i << 33);
    atomicMin(out + 1, (unsigned long long)i << 33);
    atomicMax(out + 2, (unsigned long long)i << 33);
    atomicOr(out + 3, (unsigned long long)i << 40);
    atomicAdd(&sum, (unsigned long long)t);
    unsigned short old = *(volatile unsigned short *)small, assumed;
    do {
        assumed = old;
        old = atomicCAS(small, assumed, (unsigned short)(assumed + 1));
    } while (old != assumed);
    __syncthreads();
    if (t == 0) atomicAdd(out + 4, sum);
}
