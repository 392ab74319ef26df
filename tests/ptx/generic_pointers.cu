// One function reads through pointers to global, shared, local and constant memory.
/*
x = np.arange(32, dtype=np.int32) + 100
out, kind = np.zeros(32, np.int32), np.zeros((4, 32), np.int32)
launch("k", 1, 32, out, kind, x)
i = np.arange(32)
same(out, np.choose(i % 4, [x, i * 2, i * 3, np.array([7, 8, 9, 10])[i % 4]]).astype(np.int32))
for s in range(4): same(kind[s], (i % 4 == s).astype(np.int32))
*/
__constant__ int table[4] = {7, 8, 9, 10};
__device__ __noinline__ int get(const int *p) { return *p; }
extern "C" __global__ void k(int *out, int *kind, const int *x) {
    __shared__ int shared[32];
    int i = threadIdx.x, local[4];
    shared[i] = i * 2;
    for (int j = 0; j < 4; j++) local[j] = i * 3;
    __syncwarp();
    const int *p = i % 4 == 0 ? x + i : i % 4 == 1 ? shared + i : i % 4 == 2 ? local + i % 3 : table + i % 4;
    out[i] = get(p);
    kind[i] = __isGlobal(p) && p >= x && p < x + 32;
    kind[32 + i] = __isShared(p);
    kind[64 + i] = __isLocal(p);
    kind[96 + i] = p >= table && p < table + 4;
}
