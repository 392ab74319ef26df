// Double precision: what numpy computes, to the bit.
/*
rng = np.random.default_rng(12)
a, b = rng.standard_normal((2, 128)) * 10.0 ** rng.integers(-100, 100, (2, 128))
out = np.zeros((6, 128))
launch("k", 2, 64, out, a, b)
same(out[0], a + b)
same(out[1], a * b)
same(out[2], a / b)
same(out[3], np.sqrt(abs(a)))
same(out[4], 1 / b)
same(out[5], a - b)
*/
extern "C" __global__ void k(double *out, const double *a, const double *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i] + b[i];
    out[128 + i] = a[i] * b[i];
    out[256 + i] = a[i] / b[i];
    out[384 + i] = sqrt(fabs(a[i]));
    out[512 + i] = 1 / b[i];
    out[640 + i] = a[i] - b[i];
}
