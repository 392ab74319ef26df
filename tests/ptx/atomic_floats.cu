// Atomic sums of float, double, half and pairs of halves.
// nvcc -arch=sm_80
/*
f, d, h, h2 = np.zeros(1, np.float32), np.zeros(1), np.zeros(2, np.float16), np.zeros(2, np.float16)
launch("k", 2, 64, f, d, h, h2)
n = np.arange(128)
same(f, np.array([n.sum()], np.float32))
same(d, np.array([n.sum() * 0.5]))
same(h[:1], np.array([128], np.float16))
same(h2, np.array([128, 256], np.float16))
*/
#include <cuda_fp16.h>
extern "C" __global__ void k(float *f, double *d, __half *h, __half2 *h2) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(f, (float)i);
    atomicAdd(d, i * 0.5);
    atomicAdd(h, __float2half(1));
    atomicAdd(h2, __floats2half2_rn(1, 2));
}
