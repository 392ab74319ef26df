// Locks inside a warp whose spins call functions, or part their lanes on the way round.
/*
locks, total, seen = np.zeros(2, np.int32), np.zeros(2, np.int32), np.zeros(64, np.int32)
launch("k", 2, 64, locks, total, seen)
same(total, np.array([128, 128], np.int32))
*/
__device__ __noinline__ bool take(int *lock) { return atomicCAS(lock, 0, 1) == 0; }
__device__ __noinline__ void give(int *lock) {
    __threadfence();
    atomicExch(lock, 0);
}
extern "C" __global__ void k(int *lock, volatile int *total, volatile int *seen) {
    while (!take(lock)) {}
    total[0] += 1;
    give(lock);
    for (int n = 0; atomicCAS(lock + 1, 0, 1) != 0;) {
        if (threadIdx.x & 1) {
            seen[threadIdx.x] = n;
            n += 3;
        } else {
            n++;
            seen[threadIdx.x] = -n;
        }
    }
    total[1] += 1;
    give(lock + 1);
}
