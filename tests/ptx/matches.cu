// Lanes that have the same value find each other.
// nvcc -arch=sm_75
/*
x = np.array([3, 3, 7, 1, 7, 3, 0, 1] * 4, np.int32)
out, all_ = np.zeros((2, 32), np.uint32), np.zeros((2, 32), np.int32)
launch("k", 1, 32, out, all_, x)
any_ = np.array([sum(1 << j for j in range(32) if x[j] == v) for v in x], np.uint32)
same(out[0], any_)
same(out[1], any_)
same(all_[0], np.zeros(32, np.int32))
same(all_[1], np.ones(32, np.int32))
*/
extern "C" __global__ void k(unsigned *out, int *all, const int *x) {
    int i = threadIdx.x, p;
    out[i] = __match_any_sync(~0u, x[i]);
    out[32 + i] = __match_any_sync(~0u, (long long)x[i] << 40);
    __match_all_sync(~0u, x[i], &p);
    all[i] = p;
    __match_all_sync(~0u, 5, &p);
    all[32 + i] = p;
}
