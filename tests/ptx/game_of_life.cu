// A cellular automaton on a torus, bytes, two buffers.
/*
x = np.random.default_rng(31).integers(0, 2, (32, 48)).astype(np.uint8)
y = np.zeros_like(x)
launch("k", (6, 4), (8, 8), y, x, np.int32(48), np.int32(32))
n = sum(np.roll(x, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0))
same(y, ((n == 3) | ((n == 2) & (x == 1))).astype(np.uint8))
*/
extern "C" __global__ void k(unsigned char *y, const unsigned char *x, int w, int h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y, n = 0;
    for (int a = -1; a <= 1; a++)
        for (int b = -1; b <= 1; b++)
            if (a || b) n += x[(j + a + h) % h * w + (i + b + w) % w];
    y[j * w + i] = n == 3 || (n == 2 && x[j * w + i]);
}
