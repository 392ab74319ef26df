// Compaction: lanes that keep their number agree on places, one of them takes room for all.
/*
x = np.random.default_rng(26).integers(0, 100, 512).astype(np.int32)
out, n = np.zeros(512, np.int32), np.zeros(1, np.int32)
launch("k", 4, 128, out, n, x)
keep = x[x % 3 == 0]
assert n[0] == keep.size
same(np.sort(out[: n[0]]), np.sort(keep))
*/
extern "C" __global__ void k(int *out, int *n, const int *x) {
    int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    if (v % 3) return;
    unsigned mask = __activemask(), lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    int leader = __ffs(mask) - 1, base = 0;
    if (lane == leader) base = atomicAdd(n, __popc(mask));
    base = __shfl_sync(mask, base, leader);
    out[base + __popc(mask & ((1u << lane) - 1))] = v;
}
