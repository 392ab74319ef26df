// CUDA's single-precision functions, within the errors that its guide states.
/*
import math
x = np.concatenate([np.linspace(-10, 10, 997), [0, 1e-20, 100.5, 12345.678]]).astype(np.float32)
n = x.size
out = np.zeros((12, n), np.float32)
launch("k", 8, 128, out, x, np.int32(n))
d = x.astype(np.float64)
p = (abs(d) + 1e-3).astype(np.float32).astype(np.float64)
erf = np.vectorize(math.erf)
lgamma = np.vectorize(math.lgamma)
with np.errstate(all="ignore"):
    for i, (want, ulp) in enumerate([(np.sin(d), 2), (np.cos(d), 2), (np.tan(d), 4), (np.exp(d), 2), (np.log(p), 2), (np.power(p, 1.7), 8),
                                     (np.tanh(d), 2), (np.arctan(d), 3), (erf(d), 2), (np.cbrt(d), 2), (lgamma(p), 8), (np.sinh(d / 10), 4)]):
        close(out[i], want, ulp)
*/
extern "C" __global__ void k(float *out, const float *v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = v[i], p = (float)(fabs((double)x) + 1e-3);
    out[i] = sinf(x);
    out[n + i] = cosf(x);
    out[2 * n + i] = tanf(x);
    out[3 * n + i] = expf(x);
    out[4 * n + i] = logf(p);
    out[5 * n + i] = powf(p, 1.7f);
    out[6 * n + i] = tanhf(x);
    out[7 * n + i] = atanf(x);
    out[8 * n + i] = erff(x);
    out[9 * n + i] = cbrtf(x);
    out[10 * n + i] = lgammaf(p);
    out[11 * n + i] = sinhf(x / 10);
}
