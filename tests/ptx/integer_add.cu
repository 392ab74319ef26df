// Sums, differences and products of all integer widths wrap.
/*
rng = np.random.default_rng(1)
for name, t in [("b", np.int8), ("h", np.int16), ("i", np.int32), ("l", np.int64)]:
    info = np.iinfo(t)
    a, b = rng.integers(info.min, info.max, (2, 100), t, endpoint=True)
    a[:2], b[:2] = (info.min, info.max), (-1, 1)
    s, d, p = np.zeros((3, 100), t)
    launch("add_" + name, 4, 32, s, d, p, a, b, np.int32(100))
    same(s, a + b)
    same(d, a - b)
    same(p, a * b)
*/
template <class T> __device__ void add(T *s, T *d, T *p, const T *a, const T *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    s[i] = a[i] + b[i];
    d[i] = a[i] - b[i];
    p[i] = a[i] * b[i];
}
#define KERNEL(name, T) \
    extern "C" __global__ void add_##name(T *s, T *d, T *p, const T *a, const T *b, int n) { add(s, d, p, a, b, n); }
KERNEL(b, signed char)
KERNEL(h, short)
KERNEL(i, int)
KERNEL(l, long long)
