// Infinities, NaN, signed zeros and subnormals through arithmetic, comparisons, min and max.
/*
v = np.array([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-38, 3e38, -3e38], np.float32)
a, b = (x.ravel().astype(np.float32) for x in np.meshgrid(v, v))
n = a.size
out, flags = np.zeros((5, n), np.float32), np.zeros((6, n), np.int32)
launch("k", 5, 32, out, flags, a, b, np.int32(n))
with np.errstate(all="ignore"):
    same(out[0], a + b)
    same(out[1], a * b)
    same(out[2], a / b)
    same(out[3], np.where(a == b, np.where(np.signbit(a), a, b), np.fmin(a, b)).astype(np.float32))
    same(out[4], np.where(a == b, np.where(np.signbit(a), b, a), np.fmax(a, b)).astype(np.float32))
for i, f in enumerate([a < b, a <= b, a == b, a != b, ~(a < b), np.isnan(a) | np.isnan(b)]):
    same(flags[i], f.astype(np.int32))
*/
extern "C" __global__ void k(float *out, int *flags, const float *a, const float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i];
    out[i] = x + y;
    out[n + i] = x * y;
    out[2 * n + i] = x / y;
    out[3 * n + i] = fminf(x, y);
    out[4 * n + i] = fmaxf(x, y);
    flags[i] = x < y;
    flags[n + i] = x <= y;
    flags[2 * n + i] = x == y;
    flags[3 * n + i] = x != y;
    flags[4 * n + i] = !(x < y);
    flags[5 * n + i] = isnan(x) || isnan(y);
}
