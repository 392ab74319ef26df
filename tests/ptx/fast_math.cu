// Approximate instructions: ex2, lg2, sin, cos, rcp, rsqrt, sqrt, div.full, tanh.
// nvcc -use_fast_math -arch=sm_75
/*
x = np.linspace(-3, 3, 256).astype(np.float32)
out = np.zeros((8, 256), np.float32)
launch("k", 2, 128, out, x)
d = x.astype(np.float64)
p = np.float32(abs(x) + np.float32(0.5)).astype(np.float64)
for i, want in enumerate([np.sin(d), np.cos(d), np.exp(d), np.log(p), 1 / np.sqrt(p), np.sqrt(p), d / p, np.tanh(d)]):
    assert np.allclose(out[i], want, rtol=2e-3 if i == 7 else 3e-6, atol=1e-6), i
*/
extern "C" __global__ void k(float *out, const float *v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = v[i], p = fabsf(x) + 0.5f;
    out[i] = sinf(x);
    out[256 + i] = cosf(x);
    out[512 + i] = expf(x);
    out[768 + i] = logf(p);
    out[1024 + i] = rsqrtf(p);
    out[1280 + i] = sqrtf(p);
    out[1536 + i] = x / p;
    out[1792 + i] = tanhf(x);
}
