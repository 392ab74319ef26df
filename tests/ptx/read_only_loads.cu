// Loads through the read-only cache, streaming and cache-hint accesses.
// nvcc -arch=sm_80
/*
x = np.arange(256, dtype=np.float32)
out = np.zeros((3, 256), np.float32)
launch("k", 2, 128, out, x)
same(out[0], x + 1)
same(out[1], x * 2)
same(out[2], x - 3)
*/
extern "C" __global__ void k(float *__restrict__ out, const float *__restrict__ x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __ldg(x + i) + 1;
    __stcs(out + 256 + i, __ldcs(x + i) * 2);
    float v;
    asm volatile("ld.global.L1::evict_last.L2::128B.f32 %0, [%1];" : "=f"(v) : "l"(x + i));
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 0.5;" : "=l"(policy));
    asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(x + i), "l"(policy));
    __stwt(out + 512 + i, v - 3);
}
