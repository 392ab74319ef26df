// Reductions of a warp in one instruction.
// nvcc -arch=sm_80
/*
x = np.random.default_rng(27).integers(-2**31, 2**31, 32, np.int32)
out = np.zeros((7, 32), np.int32)
launch("k", 1, 32, out, x)
for row, want in zip(out, [x.sum(dtype=np.int32), x.min(), x.max(), np.bitwise_and.reduce(x), np.bitwise_or.reduce(x), np.bitwise_xor.reduce(x), x.view(np.uint32).max().view(np.int32)]):
    same(row, np.full(32, want, np.int32))
*/
extern "C" __global__ void k(int *out, const int *x) {
    int i = threadIdx.x, v = x[i];
    out[i] = __reduce_add_sync(~0u, v);
    out[32 + i] = __reduce_min_sync(~0u, v);
    out[64 + i] = __reduce_max_sync(~0u, v);
    out[96 + i] = (int)__reduce_and_sync(~0u, (unsigned)v);
    out[128 + i] = (int)__reduce_or_sync(~0u, (unsigned)v);
    out[160 + i] = (int)__reduce_xor_sync(~0u, (unsigned)v);
    out[192 + i] = (int)__reduce_max_sync(~0u, (unsigned)v);
}
