// Modular exponentiation with 64-bit remainders, greatest common divisors, integer square roots.
/*
a = np.arange(1, 129, dtype=np.uint64) * 1234567
out, g, r = np.zeros(128, np.uint64), np.zeros(128, np.uint32), np.zeros(128, np.uint32)
launch("k", 1, 128, out, g, r, a)
same(out, np.array([pow(int(x), 65537, 1000000007) for x in a], np.uint64))
same(g, np.gcd(a, 360360).astype(np.uint32))
import math
same(r, np.array([math.isqrt(int(x)) for x in a], np.uint32))
*/
extern "C" __global__ void k(unsigned long long *out, unsigned *g, unsigned *r, const unsigned long long *a) {
    int i = threadIdx.x;
    unsigned long long base = a[i] % 1000000007, result = 1;
    for (unsigned e = 65537; e; e >>= 1) {
        if (e & 1) result = result * base % 1000000007;
        base = base * base % 1000000007;
    }
    out[i] = result;
    unsigned x = (unsigned)a[i], y = 360360;
    while (y) {
        unsigned t = x % y;
        x = y;
        y = t;
    }
    g[i] = x;
    r[i] = (unsigned)sqrt((double)a[i]);
}
