// Sums, products, fma, quotients and roots of floats in all four rounding modes.
/*
from fractions import Fraction
from math import isqrt
rng = np.random.default_rng(11)
a, b, c = (rng.standard_normal((3, 64)) * 10.0 ** rng.integers(-10, 10, (3, 64))).astype(np.float32)
out = np.zeros((20, 64), np.float32)
launch("k", 1, 64, out, a, b, c)
def rounded(exact, mode):
    """`exact` (a Fraction) as the float32 that the mode asks for."""
    f = np.float32(float(exact))
    around = sorted([np.nextafter(f, np.float32(-np.inf)), f, np.nextafter(f, np.float32(np.inf))])
    below = max(x for x in around if Fraction(float(x)) <= exact)
    above = min(x for x in around if Fraction(float(x)) >= exact)
    if mode == "d": return below
    if mode == "u": return above
    if mode == "z": return below if exact > 0 else above
    low, high = exact - Fraction(float(below)), Fraction(float(above)) - exact
    if low != high: return below if low < high else above
    return below if below.view(np.int32) % 2 == 0 else above
F = lambda x: [Fraction(float(v)) for v in x]
for m, mode in enumerate("nzdu"):
    same(out[5 * m], np.array([rounded(x + y, mode) for x, y in zip(F(a), F(b))], np.float32))
    same(out[5 * m + 1], np.array([rounded(x * y, mode) for x, y in zip(F(a), F(b))], np.float32))
    same(out[5 * m + 2], np.array([rounded(x * y + z, mode) for x, y, z in zip(F(a), F(b), F(c))], np.float32))
    same(out[5 * m + 3], np.array([rounded(x / y, mode) for x, y in zip(F(a), F(b))], np.float32))
    root = [Fraction(isqrt(int(abs(x) * 4**200)), 2**200) for x in F(c)]   # exact roots have few bits: these are exact
    root = np.array([rounded(r, mode) if r * r == abs(x) else rounded(r + Fraction(1, 2**201), mode) for r, x in zip(root, F(c))], np.float32)
    same(out[5 * m + 4], root)
*/
extern "C" __global__ void k(float *out, const float *a, const float *b, const float *c) {
    int i = threadIdx.x;
    float x = a[i], y = b[i], z = c[i];
#define MODE(m, r)                          \
    out[(5 * m) * 64 + i] = __fadd_r##r(x, y);     \
    out[(5 * m + 1) * 64 + i] = __fmul_r##r(x, y); \
    out[(5 * m + 2) * 64 + i] = __fmaf_r##r(x, y, z); \
    out[(5 * m + 3) * 64 + i] = __fdiv_r##r(x, y); \
    out[(5 * m + 4) * 64 + i] = __fsqrt_r##r(fabsf(z));
    MODE(0, n)
    MODE(1, z)
    MODE(2, d)
    MODE(3, u)
}
