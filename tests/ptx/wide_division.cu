// 128-bit division: nvcc reads what a subtraction borrowed with addc.
/*
rng = np.random.default_rng(5)
a, b = rng.integers(0, 2**64, (2, 64, 2), np.uint64)
b[:48, 1] >>= np.repeat(np.arange(0, 64, 16, dtype=np.uint64), 12)
b[48:, 1], b[60:, 0] = 0, (1, 2, 3, 10)
q, r = np.zeros((2, 64, 2), np.uint64)
launch("k", 1, 64, q, r, a, b)
whole = lambda x: [int(v[0]) | int(v[1]) << 64 for v in x]
split = lambda x: np.array([[v & 2**64 - 1, v >> 64] for v in x], np.uint64)
same(q, split([x // y for x, y in zip(whole(a), whole(b))]))
same(r, split([x % y for x, y in zip(whole(a), whole(b))]))
*/
typedef unsigned __int128 wide;
extern "C" __global__ void k(wide *q, wide *r, const wide *a, const wide *b) {
    int i = threadIdx.x;
    q[i] = a[i] / b[i];
    r[i] = a[i] % b[i];
}
