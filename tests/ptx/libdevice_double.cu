// CUDA's double-precision functions.
/*
import math
x = np.concatenate([np.linspace(-10, 10, 497), [0, 1e-200, 100.5, 123456.789]])
n = x.size
out = np.zeros((10, n))
launch("k", 4, 128, out, x, np.int32(n))
p = abs(x) + 1e-3
erf = np.vectorize(math.erf)
with np.errstate(all="ignore"):
    for i, (want, ulp) in enumerate([(np.sin(x), 2), (np.cos(x), 2), (np.exp(x), 2), (np.log(p), 2), (np.power(p, 1.7), 3), (np.tanh(x), 2),
                                     (np.arctan2(x, 2.0), 3), (erf(x), 3), (np.hypot(x, 3.0), 3), (1 / np.sqrt(p), 2)]):
        close(out[i], want, ulp)
*/
extern "C" __global__ void k(double *out, const double *v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = v[i], p = fabs(x) + 1e-3;
    out[i] = sin(x);
    out[n + i] = cos(x);
    out[2 * n + i] = exp(x);
    out[3 * n + i] = log(p);
    out[4 * n + i] = pow(p, 1.7);
    out[5 * n + i] = tanh(x);
    out[6 * n + i] = atan2(x, 2.0);
    out[7 * n + i] = erf(x);
    out[8 * n + i] = hypot(x, 3.0);
    out[9 * n + i] = rsqrt(p);
}
