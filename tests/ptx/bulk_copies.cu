// cp.async.bulk: many bytes at once into shared memory, counted at an mbarrier, and back to global memory.
// nvcc -arch=sm_90 -std=c++17
/*
x = np.arange(256, dtype=np.int32) * 7
out, back = np.zeros(256, np.int32), np.zeros(256, np.int32)
launch("k", 1, 256, out, back, x)
same(out, x[::-1].copy())
same(back, x + 1)
*/
#include <cooperative_groups.h>
#include <cuda/barrier>
extern "C" __global__ void k(int *out, int *back, const int *in) {
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    __shared__ __align__(16) int s[256];
    if (threadIdx.x == 0) init(&b, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(cooperative_groups::this_thread_block(), s, in, cuda::aligned_size_t<16>(1024), b);
    b.arrive_and_wait();
    out[threadIdx.x] = s[255 - threadIdx.x];
    __syncthreads();
    s[threadIdx.x]++;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(back), "r"((unsigned)__cvta_generic_to_shared(s)), "r"(1024)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
