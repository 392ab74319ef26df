// The naive lock of a warp: every lane spins until it has it. Deadlocks where lanes aren't scheduled independently.
/*
lock, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
launch("k", 1, 32, lock, total)
same(total, np.array([32], np.int32))
*/
extern "C" __global__ void k(int *lock, volatile int *total) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *total += 1;
    __threadfence();
    atomicExch(lock, 0);
}
