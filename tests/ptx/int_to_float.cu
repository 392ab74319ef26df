// Conversions from integers, and between float and double, with their roundings.
/*
rng = np.random.default_rng(13)
a = rng.integers(-2**63, 2**63, 64, np.int64)
f, d = np.zeros((4, 64), np.float32), np.zeros((2, 64))
launch("k", 1, 64, f, d, a)
same(f[0], a.astype(np.int32).astype(np.float32))
same(f[1], a.astype(np.float32))
same(f[2], a.view(np.uint64).astype(np.float32))
exact = a.astype(np.float64)
near = exact.astype(np.float32)
down = np.where(near.astype(np.float64) > exact, np.nextafter(near, np.float32(-np.inf)), near)
same(f[3], down)
same(d[0], a.astype(np.float64))
same(d[1], a.astype(np.float32).astype(np.float64))
*/
extern "C" __global__ void k(float *f, double *d, const long long *a) {
    int i = threadIdx.x;
    f[i] = (int)a[i];
    f[64 + i] = (float)a[i];
    f[128 + i] = (float)(unsigned long long)a[i];
    f[192 + i] = __double2float_rd((double)a[i]);
    d[i] = (double)a[i];
    d[64 + i] = (float)a[i];
}
