// bfloat16: conversions and arithmetic.
// nvcc -arch=sm_90
/*
rng = np.random.default_rng(16)
f, g = rng.standard_normal((2, 128)).astype(np.float32)
def bf(x):
    """float32 to bfloat16's bits, rounded to even."""
    u = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((u + 0x7fff + ((u >> 16) & 1)) >> 16).astype(np.uint16)
back = lambda h: (h.astype(np.uint32) << 16).view(np.float32)
out = np.zeros((4, 128), np.uint16)
launch("k", 1, 128, out, f, g)
x, y = back(bf(f)), back(bf(g))
same(out[0], bf(f))
same(out[1], bf(x + y))
same(out[2], bf(x * y))
same(out[3], bf(np.maximum(x, y)))
*/
#include <cuda_bf16.h>
extern "C" __global__ void k(__nv_bfloat16 *out, const float *f, const float *g) {
    int i = threadIdx.x;
    __nv_bfloat16 x = __float2bfloat16_rn(f[i]), y = __float2bfloat16_rn(g[i]);
    out[i] = x;
    out[128 + i] = __hadd_rn(x, y);
    out[256 + i] = __hmul_rn(x, y);
    out[384 + i] = __hmax(x, y);
}
