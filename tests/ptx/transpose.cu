// A transposition by tiles in shared memory, two-dimensional blocks and grids.
/*
x = np.arange(70 * 45, dtype=np.float32).reshape(70, 45)
out = np.zeros((45, 70), np.float32)
launch("k", (2, 3), (32, 8), out, x, np.int32(70), np.int32(45))
same(out, x.T.copy())
*/
extern "C" __global__ void k(float *out, const float *in, int rows, int columns) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < columns && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * columns + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < rows && y + j < columns) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
