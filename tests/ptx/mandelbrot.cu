// The Mandelbrot set: fma and a loop of unknown length.
/*
out = np.zeros((24, 40), np.int32)
launch("k", (5, 3), (8, 8), out, np.int32(40), np.int32(24), np.int32(100))
f = np.float32
def escape(px, py):
    cx, cy, x, y = f(px) * f(3) / f(40) - f(2), f(py) * f(2) / f(24) - f(1), f(0), f(0)
    for n in range(100):
        x, y = f(x * x - y * y + cx), f(f(2) * x * y + cy)
        if x * x + y * y > 4: return n
    return 100
same(out, np.array([[escape(x, y) for x in range(40)] for y in range(24)], np.int32))
*/
// nvcc -fmad=false
extern "C" __global__ void k(int *out, int width, int height, int limit) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y, n;
    if (px >= width || py >= height) return;
    float cx = px * 3.0f / width - 2, cy = py * 2.0f / height - 1, x = 0, y = 0;
    for (n = 0; n < limit; n++) {
        float next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        if (x * x + y * y > 4) break;
    }
    out[py * width + px] = n;
}
