// The four shuffles, whole warps and parts of 8 and 16 lanes, with lanes out of range keeping their own value.
/*
out = np.zeros((8, 32), np.int32)
launch("k", 1, 32, out)
i = np.arange(32)
v = i * 10
same(out[0], np.full(32, 50, np.int32))
same(out[1], np.where(i >= 3, v[i - 3], v).astype(np.int32))
same(out[2], np.where(i + 5 < 32, v[np.minimum(i + 5, 31)], v).astype(np.int32))
same(out[3], v[i ^ 7].astype(np.int32))
same(out[4], v[i // 8 * 8 + 3].astype(np.int32))
same(out[5], np.where(i % 16 >= 2, v[i - 2], v).astype(np.int32))
same(out[6], np.where(i % 8 + 4 < 8, v[np.minimum(i + 4, 31)], v).astype(np.int32))
same(out[7], v[(i + 1) % 32].astype(np.int32))
*/
extern "C" __global__ void k(int *out) {
    int i = threadIdx.x, v = i * 10;
    out[i] = __shfl_sync(~0u, v, 5);
    out[32 + i] = __shfl_up_sync(~0u, v, 3);
    out[64 + i] = __shfl_down_sync(~0u, v, 5);
    out[96 + i] = __shfl_xor_sync(~0u, v, 7);
    out[128 + i] = __shfl_sync(~0u, v, 3, 8);
    out[160 + i] = __shfl_up_sync(~0u, v, 2, 16);
    out[192 + i] = __shfl_down_sync(~0u, v, 4, 8);
    out[224 + i] = __shfl_sync(~0u, v, i + 1);
}
