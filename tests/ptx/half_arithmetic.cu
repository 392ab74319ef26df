// Half precision: every operation rounds to float16.
// nvcc -arch=sm_80
/*
rng = np.random.default_rng(14)
a, b = (rng.standard_normal((2, 256)) * 10.0 ** rng.integers(-4, 4, (2, 256))).astype(np.float16)
out = np.zeros((7, 256), np.float16)
launch("k", 2, 128, out, a, b)
with np.errstate(all="ignore"):
    same(out[0], a + b)
    same(out[1], a - b)
    same(out[2], a * b)
    exact = (a.astype(np.float64) * b + a.astype(np.float64))
    same(out[3], exact.astype(np.float16))
    same(out[4], np.maximum(a, b))
    same(out[5], np.floor(a))
    same(out[6], a.astype(np.float32).astype(np.float16) * np.float16(-1))
*/
#include <cuda_fp16.h>
extern "C" __global__ void k(__half *out, const __half *a, const __half *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __hadd_rn(a[i], b[i]);
    out[256 + i] = __hsub_rn(a[i], b[i]);
    out[512 + i] = __hmul_rn(a[i], b[i]);
    out[768 + i] = __hfma(a[i], b[i], a[i]);
    out[1024 + i] = __hmax(a[i], b[i]);
    out[1280 + i] = hfloor(a[i]);
    out[1536 + i] = __float2half(-__half2float(a[i]));
}
