// Indices in three dimensions, lane and warp numbers, lane masks, clocks.
/*
out = np.zeros((4, 2, 3, 2, 5), np.int32)         # what, grid y, grid x, block y, block x
launch("k", (3, 2), (5, 2), out, np.int32(60))
gy, gx, by, bx = np.indices((2, 3, 2, 5))
same(out[0], (bx + 10 * by + 100 * gx + 1000 * gy).astype(np.int32))
same(out[1], np.full((2, 3, 2, 5), 5 * 10000 + 2 * 1000 + 3 * 100 + 2 * 10 + 1, np.int32))
lane = (by * 5 + bx)
same(out[2], lane.astype(np.int32))
same(out[3], ((1 << lane) - 1).astype(np.int32))
*/
extern "C" __global__ void k(int *out, int n) {
    int block = blockIdx.y * gridDim.x + blockIdx.x, thread = threadIdx.y * blockDim.x + threadIdx.x;
    int i = block * blockDim.x * blockDim.y + thread;
    unsigned lane, below;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    out[i] = threadIdx.x + 10 * threadIdx.y + 100 * blockIdx.x + 1000 * blockIdx.y;
    out[n + i] = blockDim.x * 10000 + blockDim.y * 1000 + gridDim.x * 100 + gridDim.y * 10 + gridDim.z;
    out[2 * n + i] = lane;
    long long before = clock64();
    out[3 * n + i] = clock64() >= before ? below : -1;
}
