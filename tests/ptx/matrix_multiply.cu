// A product of matrices by tiles.
/*
rng = np.random.default_rng(20)
a, b = rng.integers(-4, 5, (50, 40)).astype(np.float32), rng.integers(-4, 5, (40, 30)).astype(np.float32)
out = np.zeros((50, 30), np.float32)
launch("k", (2, 4), (16, 16), out, a, b, np.int32(50), np.int32(40), np.int32(30))
same(out, a @ b)
*/
extern "C" __global__ void k(float *out, const float *a, const float *b, int m, int inner, int n) {
    __shared__ float ta[16][16], tb[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k0 = 0; k0 < inner; k0 += 16) {
        int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
        ta[threadIdx.y][threadIdx.x] = y < m && ka < inner ? a[y * inner + ka] : 0;
        tb[threadIdx.y][threadIdx.x] = x < n && kb < inner ? b[kb * n + x] : 0;
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        __syncthreads();
    }
    if (x < n && y < m) out[y * n + x] = sum;
}
