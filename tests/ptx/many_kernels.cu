// Kernels of one module that share device functions, and each have shared memory of their own.
/*
x = np.arange(64, dtype=np.int32)
a, b = np.zeros(64, np.int32), np.zeros(64, np.float32)
launch("first", 1, 64, a, x)
launch("second", 1, 64, b, x)
same(a, x[::-1] * 2)
same(b, np.roll(x, 1).astype(np.float32) + 0.5)
*/
__shared__ int common[64];
__device__ __noinline__ void put(int i, int v) { common[i] = v; }
__device__ __noinline__ int get(int i) { return common[i]; }
extern "C" __global__ void first(int *out, const int *x) {
    __shared__ int mine[64];
    int i = threadIdx.x;
    put(i, x[i]);
    mine[i] = 2;
    __syncthreads();
    out[i] = get(63 - i) * mine[63 - i];
}
extern "C" __global__ void second(float *out, const int *x) {
    __shared__ float half[32];
    int i = threadIdx.x;
    put((i + 1) % 64, x[i]);
    if (i < 32) half[i] = 0.5f;
    __syncthreads();
    out[i] = get(i) + half[i % 32];
}
