// 128-bit sums and products: carry chains.
/*
rng = np.random.default_rng(7)
a, b = rng.integers(0, 2**64, (2, 32, 2), np.uint64)
a[0], b[0] = 2**64 - 1, (1, 0)
s, d, p = np.zeros((3, 32, 2), np.uint64)
launch("k", 1, 32, s, d, p, a, b)
whole = lambda x: [int(v[0]) | int(v[1]) << 64 for v in x]
split = lambda x: np.array([[v & 2**64 - 1, v >> 64 & 2**64 - 1] for v in x], np.uint64)
same(s, split([x + y for x, y in zip(whole(a), whole(b))]))
same(d, split([x - y for x, y in zip(whole(a), whole(b))]))
same(p, split([x * y for x, y in zip(whole(a), whole(b))]))
*/
typedef unsigned __int128 wide;
extern "C" __global__ void k(wide *s, wide *d, wide *p, const wide *a, const wide *b) {
    int i = threadIdx.x;
    s[i] = a[i] + b[i];
    d[i] = a[i] - b[i];
    p[i] = a[i] * b[i];
}
