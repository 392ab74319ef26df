// Sorting a block's numbers.
/*
x = np.random.default_rng(22).integers(-1000, 1000, 512, np.int32)
launch("k", 1, 512, x)
same(x, np.sort(x))
same(np.bincount(x + 1000), np.bincount(np.random.default_rng(22).integers(-1000, 1000, 512, np.int32) + 1000))
*/
extern "C" __global__ void k(int *x) {
    __shared__ int v[512];
    int t = threadIdx.x;
    v[t] = x[t];
    for (int size = 2; size <= 512; size *= 2)
        for (int stride = size / 2; stride; stride /= 2) {
            __syncthreads();
            int other = t ^ stride;
            if (other > t && (v[t] > v[other]) == ((t & size) == 0)) {
                int swap = v[t];
                v[t] = v[other];
                v[other] = swap;
            }
        }
    __syncthreads();
    x[t] = v[t];
}
