// Producers arrive at a barrier and go on, consumers wait at it: bar.arrive and bar.sync with a count.
/*
out = np.zeros(32, np.int32)
launch("k", 1, 64, out)
same(out, (np.arange(32) * 3 + np.arange(32) * 5)[::-1].astype(np.int32))
*/
extern "C" __global__ void k(int *out) {
    __shared__ int first[32], second[32];
    int t = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        first[t] = t * 3;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        second[t] = t * 5;
        asm volatile("bar.arrive 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        int v = first[31 - t];
        asm volatile("bar.sync 2, 64;" ::: "memory");
        out[t] = v + second[31 - t];
    }
}
