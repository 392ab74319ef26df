// st.async, red.async and cp.reduce.async.bulk, with the mbarrier that counts their bytes.
// nvcc -arch=sm_90
/*
i = np.arange(32)
out = np.zeros(32, np.uint32)
launch("stores", 1, 32, out)
same(out, (i * 3).astype(np.uint32))
out = np.zeros(128, np.uint32)
launch("vectors", 1, 32, out)
same(out, np.arange(128, dtype=np.uint32) + 7)
out = np.zeros(32, np.uint32)
launch("sums", 1, 32, out)
same(out, np.full(32, 5 + i.sum(), np.uint32))
ints, floats = np.arange(32, dtype=np.int32) - 20, np.linspace(0, 1, 32).astype(np.float32)
want, sums = np.minimum(ints, 9 - i).astype(np.int32), floats + i.astype(np.float32)
launch("to_global", 1, 32, ints, floats)
same(ints, want)
same(floats, sums.astype(np.float32))
out = np.zeros(32, np.uint32)
launch("in_shared", 1, 32, out)
same(out, (i | 64).astype(np.uint32))
*/
#define SHARED(p) ((unsigned)__cvta_generic_to_shared(p))

__device__ void begin(unsigned long long *bar, int bytes) {
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;"
                     "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(SHARED(bar)), "r"(bytes) : "memory");
    __syncthreads();
}

__device__ void wait(unsigned long long *bar) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }" ::"r"(SHARED(bar)) : "memory");
}

extern "C" __global__ void stores(unsigned *out) {
    __shared__ unsigned long long bar;
    __shared__ unsigned v[32];
    begin(&bar, sizeof v);
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(SHARED(v + threadIdx.x)),
                 "r"(threadIdx.x * 3), "r"(SHARED(&bar)) : "memory");
    wait(&bar);
    out[threadIdx.x] = v[threadIdx.x];
}

extern "C" __global__ void vectors(unsigned *out) {
    __shared__ unsigned long long bar;
    __shared__ uint4 v[32];
    unsigned x = threadIdx.x * 4 + 7;
    begin(&bar, sizeof v);
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(SHARED(v + threadIdx.x)),
                 "r"(x), "r"(x + 1), "r"(x + 2), "r"(x + 3), "r"(SHARED(&bar)) : "memory");
    wait(&bar);
    ((uint4 *)out)[threadIdx.x] = v[threadIdx.x];
}

extern "C" __global__ void sums(unsigned *out) {
    __shared__ unsigned long long bar;
    __shared__ unsigned sum;
    if (threadIdx.x == 0) sum = 5;
    begin(&bar, 128);
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(SHARED(&sum)),
                 "r"(threadIdx.x), "r"(SHARED(&bar)) : "memory");
    wait(&bar);
    out[threadIdx.x] = sum;
}

extern "C" __global__ void to_global(int *ints, float *floats) {
    __shared__ __align__(16) int a[32];
    __shared__ __align__(16) float b[32];
    a[threadIdx.x] = 9 - threadIdx.x;
    b[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x) return;
    asm volatile("fence.proxy.async.shared::cta; cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 [%0], [%1], 128;"
                 "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%2], [%3], 128;"
                 "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::"l"(ints), "r"(SHARED(a)), "l"(floats), "r"(SHARED(b)) : "memory");
}

extern "C" __global__ void in_shared(unsigned *out) {
    __shared__ unsigned long long bar;
    __shared__ __align__(16) unsigned a[32], b[32];
    a[threadIdx.x] = threadIdx.x;
    b[threadIdx.x] = 64;
    begin(&bar, sizeof a);
    if (threadIdx.x == 0)
        asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.or.b32 [%0], [%1], 128, [%2];" ::"r"(SHARED(a)),
                     "r"(SHARED(b)), "r"(SHARED(&bar)) : "memory");
    wait(&bar);
    out[threadIdx.x] = a[threadIdx.x];
}
