// cp.async from global to shared memory: 4, 8 and 16 bytes, groups, zeros for what isn't read.
// nvcc -arch=sm_80
/*
x = np.arange(256, dtype=np.int32) + 1
out = np.zeros((4, 32), np.int32)
launch("k", 1, 32, out, x)
i = np.arange(32)
same(out[0], x[31 - i])
same(out[1], x[64 + (31 - i) * 2 + 1])
same(out[2], x[128 + (31 - i) * 4 + 3])
same(out[3], np.where((31 - i) % 4 < 2, x[(31 - i) // 4 * 4 + (31 - i) % 4], 0).astype(np.int32))
*/
__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void k(int *out, const int *x) {
    __shared__ __align__(16) int a[32], b[64], c[128], d[32];
    int i = threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address(a + i)), "l"(x + i) : "memory");
    asm volatile("cp.async.ca.shared.global [%0], [%1+256], 8;" ::"r"(address(b + 2 * i)), "l"(x + 2 * i) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(c + 4 * i)), "l"(x + 128 + 4 * i) : "memory");
    if (i < 8) asm volatile("cp.async.cg.shared::cta.global.L2::128B [%0], [%1], 16, %2;" ::"r"(address(d + 4 * i)), "l"(x + 4 * i), "r"(8) : "memory");
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 1;" ::: "memory");
    __syncwarp();
    out[i] = a[31 - i];
    out[32 + i] = b[2 * (31 - i) + 1];
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
    out[64 + i] = c[4 * (31 - i) + 3];
    out[96 + i] = d[31 - i];
}
