// The upper halves of products, signed and unsigned, of 32 and 64 bits.
/*
rng = np.random.default_rng(2)
a, b = rng.integers(-2**31, 2**31, (2, 64), np.int32)
c, d = rng.integers(-2**63, 2**63, (2, 64), np.int64)
hs, hu, ls, lu = np.zeros(64, np.int32), np.zeros(64, np.uint32), np.zeros(64, np.int64), np.zeros(64, np.uint64)
launch("k", 1, 64, hs, hu, ls, lu, a, b, c, d)
A, B, C, D = (x.astype(object) for x in (a, b, c, d))
same(hs, ((A * B) >> 32).astype(np.int32))
same(hu, (((A % 2**32) * (B % 2**32)) >> 32).astype(np.uint32))
same(ls, ((C * D) >> 64).astype(np.int64))
same(lu, (((C % 2**64) * (D % 2**64)) >> 64).astype(np.uint64))
*/
extern "C" __global__ void k(int *hs, unsigned *hu, long long *ls, unsigned long long *lu, const int *a, const int *b,
                             const long long *c, const long long *d) {
    int i = threadIdx.x;
    hs[i] = __mulhi(a[i], b[i]);
    hu[i] = __umulhi(a[i], b[i]);
    ls[i] = __mul64hi(c[i], d[i]);
    lu[i] = __umul64hi(c[i], d[i]);
}
