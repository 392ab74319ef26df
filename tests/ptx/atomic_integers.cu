// All atomic operations on 32-bit integers.
/*
x = np.random.default_rng(24).integers(-1000, 1000, 256, np.int32)
out = np.array([0, 0, 10**6, -10**6, -1, 0, 0, 0, 5], np.int32)
launch("k", 2, 128, out, x)
u = x.view(np.uint32)
same(out[:7], np.array([x.sum(), -x.sum(), x.min(), x.max(), np.bitwise_and.reduce(x), np.bitwise_or.reduce(x), np.bitwise_xor.reduce(x)], np.int32))
same(out[7:8], np.array([256 % 11], np.int32))      # inc wraps after 10
same(out[8:9], np.array([(5 - 256) % 21], np.int32))   # dec wraps to 20
*/
extern "C" __global__ void k(int *out, const int *x) {
    int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(out, v);
    atomicSub(out + 1, v);
    atomicMin(out + 2, v);
    atomicMax(out + 3, v);
    atomicAnd(out + 4, v);
    atomicOr(out + 5, v);
    atomicXor(out + 6, v);
    atomicInc((unsigned *)out + 7, 10);
    atomicDec((unsigned *)out + 8, 20);
}
