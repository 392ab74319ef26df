// Division and remainder, by variables and by constants, which become multiplications.
/*
rng = np.random.default_rng(3)
a = rng.integers(-2**31, 2**31, 128, np.int32)
b = rng.integers(-1000, 1000, 128, np.int32)
b[b == 0] = 7
q, r, u, c, w = np.zeros(128, np.int32), np.zeros(128, np.int32), np.zeros(128, np.uint32), np.zeros(128, np.int32), np.zeros(128, np.int64)
launch("k", 2, 64, q, r, u, c, w, a, b)
A, B = a.astype(np.int64), b.astype(np.int64)
quotient = np.sign(A) * np.sign(B) * (abs(A) // abs(B))
same(q, quotient.astype(np.int32))
same(r, (A - quotient * B).astype(np.int32))
same(u, a.view(np.uint32) // b.view(np.uint32))
same(c, (np.sign(A) * (abs(A) // 7) + np.sign(A) * (abs(A) % 10)).astype(np.int32))
big = A * 1000003
same(w, np.sign(big) * np.sign(B) * (abs(big) // abs(B)))
*/
extern "C" __global__ void k(int *q, int *r, unsigned *u, int *c, long long *w, const int *a, const int *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    q[i] = a[i] / b[i];
    r[i] = a[i] % b[i];
    u[i] = (unsigned)a[i] / (unsigned)b[i];
    c[i] = a[i] / 7 + a[i] % 10;
    w[i] = (long long)a[i] * 1000003 / b[i];
}
