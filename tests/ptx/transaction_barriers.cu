// mbarrier: phases, arrivals that leave, counts of bytes, waiting by state and by parity.
// nvcc -arch=sm_90
/*
out, seen = np.zeros((3, 64), np.int32), np.zeros(6, np.uint32)
launch("k", 1, 64, out, seen)
i = np.arange(64)
same(out[0], ((63 - i) * 3).astype(np.int32))
same(out[1], ((63 - i) * 3 + 1000).astype(np.int32))
same(out[2], np.full(64, 7, np.int32))
same(seen, np.array([1, 0, 1, 0, 0, 1], np.uint32))
*/
__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ bool test(unsigned b, unsigned parity) {
    unsigned done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(b), "r"(parity) : "memory");
    return done;
}
extern "C" __global__ void k(int *out, unsigned *seen) {
    __shared__ unsigned long long barrier, transfer, leaving;
    __shared__ int v[64];
    int i = threadIdx.x;
    unsigned b = address(&barrier), t = address(&transfer), l = address(&leaving), done;
    unsigned long long state;
    if (i == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(b), "r"(64));
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(t), "r"(1));
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(l), "r"(2));
    }
    __syncthreads();
    v[i] = i * 3;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(b) : "memory");
    if (i == 0) {
        asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(done) : "l"(state));
        seen[0] = done >= 1 && done <= 64; // others may have come before
    }
    do asm volatile("{ .reg .pred p; mbarrier.try_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                    : "=r"(done) : "r"(b), "l"(state) : "memory");
    while (!done);
    out[i] = v[63 - i];
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(b) : "memory");
    while (!test(b, 1)) {}
    v[i] += 1000;
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(b) : "memory");
    do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2, 1000; selp.u32 %0, 1, 0, p; }"
                    : "=r"(done) : "r"(b), "r"(0) : "memory");
    while (!done);
    out[64 + i] = v[63 - i];
    __syncthreads();
    if (i == 0) { // the phase ends when all bytes came
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(t), "r"(48) : "memory");
        seen[1] = test(t, 0);
        asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cta.b64 [%0], %1;" ::"r"(t), "r"(48) : "memory");
        seen[2] = test(t, 0);
        asm volatile("mbarrier.arrive_drop.shared.b64 _, [%0];" ::"r"(l) : "memory");
        seen[3] = test(l, 0);
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(l) : "memory");
        seen[4] = test(l, 1);
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(l) : "memory"); // one is enough since the other left
        seen[5] = test(l, 1);
        asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(l) : "memory");
    }
    out[128 + i] = 7;
}
