// Two halves in a register: packed arithmetic, comparisons, conversions.
// nvcc -arch=sm_80
/*
rng = np.random.default_rng(15)
a, b = rng.standard_normal((2, 128, 2)).astype(np.float16)
out, sums = np.zeros((4, 128, 2), np.float16), np.zeros(128, np.float32)
launch("k", 1, 128, out, sums, a, b)
same(out[0], a + b)
same(out[1], a * b)
same(out[2], (a.astype(np.float64) * b + b).astype(np.float16))
same(out[3], (a < b).astype(np.float16))
same(sums, a[:, 0].astype(np.float32) + a[:, 1].astype(np.float32))
*/
#include <cuda_fp16.h>
extern "C" __global__ void k(__half2 *out, float *sums, const __half2 *a, const __half2 *b) {
    int i = threadIdx.x;
    out[i] = __hadd2_rn(a[i], b[i]);
    out[128 + i] = __hmul2_rn(a[i], b[i]);
    out[256 + i] = __hfma2(a[i], b[i], b[i]);
    out[384 + i] = __hlt2(a[i], b[i]);
    float2 f = __half22float2(a[i]);
    sums[i] = f.x + f.y;
}
