// Sums and maxima by shuffles, of all types that a shuffle is made for.
/*
x = np.random.default_rng(25).integers(-1000, 1000, 128).astype(np.int32)
i, f, d = np.zeros(4, np.int32), np.zeros(4, np.float32), np.zeros(4)
launch("k", 1, 128, i, f, d, x)
rows = x.reshape(4, 32)
same(i, rows.sum(1).astype(np.int32))
same(f, rows.max(1).astype(np.float32))
same(d, rows.sum(1) * 0.5)
*/
template <class T> __device__ T sum(T v) {
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
    return v;
}
extern "C" __global__ void k(int *i, float *f, double *d, const int *x) {
    int v = x[threadIdx.x], lane = threadIdx.x % 32, w = threadIdx.x / 32;
    int si = sum(v);
    double sd = sum(v * 0.5);
    float m = (float)v;
    for (int o = 16; o; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    if (lane == 0) i[w] = si, f[w] = m, d[w] = sd;
}
