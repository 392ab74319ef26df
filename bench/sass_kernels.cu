// The kernels of sass_kernels.py in CUDA C, as one would write them by hand. Sizes are int, pointers are __restrict__.
// The strided ones take the strides in elements, as int.
#include <cuda_fp16.h>
#define FULL 0xffffffffu
#define KERNEL extern "C" __global__ void
#define IN(type) const type *__restrict__
#define OUT(type) type *__restrict__
#define GRID_X int(blockIdx.x * blockDim.x + threadIdx.x)
#define GRID_Y int(blockIdx.y * blockDim.y + threadIdx.y)
#define GRID_Z int(blockIdx.z * blockDim.z + threadIdx.z)

KERNEL saxpy32(float a, IN(float) x, OUT(float) y, int n) {
    int i = GRID_X;
    if (i < n) y[i] = a * x[i] + y[i];
}

KERNEL saxpy64(double a, IN(double) x, OUT(double) y, int n) {
    int i = GRID_X;
    if (i < n) y[i] = a * x[i] + y[i];
}

KERNEL grid_stride(float a, IN(float) x, OUT(float) y, int n) {
    for (int i = GRID_X; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}

KERNEL matmul_naive(IN(float) a, IN(float) b, OUT(float) c, int rows, int inner, int columns) {
    int row = GRID_Y, column = GRID_X;
    if (row >= rows || column >= columns) return;
    float total = 0;
    for (int k = 0; k < inner; k++) total += a[row * inner + k] * b[k * columns + column];
    c[row * columns + column] = total;
}

KERNEL matmul_naive_strided(IN(float) a, IN(float) b, OUT(float) c, int rows, int inner, int columns, int a0, int a1, int b0,
                            int b1, int c0, int c1) {
    int row = GRID_Y, column = GRID_X;
    if (row >= rows || column >= columns) return;
    float total = 0;
    for (int k = 0; k < inner; k++) total += a[row * a0 + k * a1] * b[k * b0 + column * b1];
    c[row * c0 + column * c1] = total;
}

KERNEL matmul_half(IN(__half) a, IN(__half) b, OUT(float) c, int inner, int columns) {
    __shared__ __half left[16][16], right[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    float total = 0;
    for (int start = 0; start < inner; start += 16) {
        left[ty][tx] = a[y * inner + start + tx];
        right[ty][tx] = b[(start + ty) * columns + x];
        __syncthreads();
        for (int k = 0; k < 16; k++) total += __half2float(left[ty][k]) * __half2float(right[k][tx]);
        __syncthreads();
    }
    c[y * columns + x] = total;
}

KERNEL transpose(IN(float) a, OUT(float) b, int height, int width) {
    __shared__ float tile[32][33];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
    for (int j = 0; j < 32; j += 8)
        if (x < width && y + j < height) tile[ty + j][tx] = a[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + tx, y = blockIdx.x * 32 + ty;
    for (int j = 0; j < 32; j += 8)
        if (x < height && y + j < width) b[(y + j) * height + x] = tile[tx][ty + j];
}

KERNEL transpose_strided(IN(float) a, OUT(float) b, int height, int width, int a0, int a1, int b0, int b1) {
    __shared__ float tile[32][33];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
    for (int j = 0; j < 32; j += 8)
        if (x < width && y + j < height) tile[ty + j][tx] = a[(y + j) * a0 + x * a1];
    __syncthreads();
    x = blockIdx.y * 32 + tx, y = blockIdx.x * 32 + ty;
    for (int j = 0; j < 32; j += 8)
        if (x < height && y + j < width) b[(y + j) * b0 + x * b1] = tile[tx][ty + j];
}

KERNEL stencil1(IN(float) x, OUT(float) y, int n) {
    __shared__ float part[256 + 6];
    int i = GRID_X, t = threadIdx.x;
    part[t + 3] = i < n ? x[i] : 0;
    if (t < 3) {
        part[t] = i >= 3 ? x[i - 3] : 0;
        part[t + 259] = i + 256 < n ? x[i + 256] : 0;
    }
    __syncthreads();
    float total = 0;
    for (int k = 0; k < 7; k++) total += part[t + k];
    if (i < n) y[i] = total;
}

KERNEL stencil2(IN(float) a, OUT(float) b, int height, int width) {
    int x = GRID_X, y = GRID_Y;
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
        int i = y * width + x;
        b[i] = 0.25f * (a[i - width] + a[i + width] + a[i - 1] + a[i + 1]);
    }
}

KERNEL stencil2_strided(IN(float) a, OUT(float) b, int height, int width, int a0, int a1, int b0, int b1) {
    int x = GRID_X, y = GRID_Y;
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1)
        b[y * b0 + x * b1] = 0.25f * (a[(y - 1) * a0 + x * a1] + a[(y + 1) * a0 + x * a1] + a[y * a0 + (x - 1) * a1] +
                                      a[y * a0 + (x + 1) * a1]);
}

KERNEL stencil3(IN(float) a, OUT(float) b, int depth, int height, int width) {
    int x = GRID_X, y = GRID_Y, z = GRID_Z;
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1 && z > 0 && z < depth - 1) {
        int i = (z * height + y) * width + x, plane = height * width;
        b[i] = a[i] + 0.1f * (a[i - plane] + a[i + plane] + a[i - width] + a[i + width] + a[i - 1] + a[i + 1] - 6 * a[i]);
    }
}

KERNEL reduce_shared(IN(float) x, OUT(float) out, int n) {
    __shared__ float part[256];
    int i = GRID_X, t = threadIdx.x;
    part[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

KERNEL reduce_shuffle(IN(float) x, OUT(float) out, int n) {
    __shared__ float parts[32];
    int t = threadIdx.x;
    float total = 0;
    for (int i = GRID_X; i < n; i += gridDim.x * blockDim.x) total += x[i];
    for (int k = 16; k; k /= 2) total += __shfl_down_sync(FULL, total, k);
    if (t % 32 == 0) parts[t / 32] = total;
    __syncthreads();
    if (t < 32) {
        total = t < blockDim.x / 32 ? parts[t] : 0;
        for (int k = 16; k; k /= 2) total += __shfl_down_sync(FULL, total, k);
        if (t == 0) atomicAdd(out, total);
    }
}

KERNEL block_scan(IN(int) x, OUT(int) y, int n) {
    __shared__ int part[256];
    int i = GRID_X, t = threadIdx.x;
    part[t] = i < n ? x[i] : 0;
    for (int step = 1; step < 256; step *= 2) {
        __syncthreads();
        int before = t >= step ? part[t - step] : 0;
        __syncthreads();
        part[t] += before;
    }
    if (i < n) y[i] = part[t];
}

KERNEL mandelbrot32(OUT(int) out, int height, int width, int most) {
    int x = GRID_X, y = GRID_Y;
    if (x >= width || y >= height) return;
    float cr = -2 + x * (3.0f / width), ci = -1 + y * (2.0f / height), zr = 0, zi = 0;
    int n = 0;
    while (n < most && zr * zr + zi * zi <= 4) {
        float next = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = next;
        n++;
    }
    out[y * width + x] = n;
}

KERNEL n_body(IN(float) bodies, OUT(float) pull, float soft, int n) {
    int i = GRID_X;
    if (i >= n) return;
    float x = bodies[4 * i], y = bodies[4 * i + 1], z = bodies[4 * i + 2], ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; j++) {
        float dx = bodies[4 * j] - x, dy = bodies[4 * j + 1] - y, dz = bodies[4 * j + 2] - z;
        float inverse = 1 / sqrtf(dx * dx + dy * dy + dz * dz + soft);
        float force = bodies[4 * j + 3] * inverse * inverse * inverse;
        ax += dx * force, ay += dy * force, az += dz * force;
    }
    pull[3 * i] = ax, pull[3 * i + 1] = ay, pull[3 * i + 2] = az;
}

KERNEL bitonic_step(OUT(float) x, int distance, int run) {
    int i = GRID_X, partner = i ^ distance;
    if (partner > i) {
        float a = x[i], b = x[partner];
        if (((i & run) == 0) == (a > b)) x[i] = b, x[partner] = a;
    }
}

KERNEL fft_stage(IN(float) re, IN(float) im, OUT(float) to_re, OUT(float) to_im, int size, int n) {
    int t = GRID_X, half = n / 2;
    if (t >= half) return;
    int k = t % size, to = 2 * t - k;
    float angle = -3.14159265f * k / size, c = cosf(angle), s = sinf(angle);
    float ar = re[t], ai = im[t], br = re[t + half], bi = im[t + half], r = c * br - s * bi, i = c * bi + s * br;
    to_re[to] = ar + r, to_im[to] = ai + i, to_re[to + size] = ar - r, to_im[to + size] = ai - i;
}

__device__ unsigned rotate(unsigned x, int n) { return x >> n | x << (32 - n); }

KERNEL sha256(IN(unsigned) messages, OUT(unsigned) digests, IN(unsigned) constants, int n) {
    int i = GRID_X;
    if (i >= n) return;
    unsigned w[64], *out = digests + 8 * i;
    for (int k = 0; k < 16; k++) w[k] = messages[16 * i + k];
    for (int k = 16; k < 64; k++) {
        unsigned s0 = rotate(w[k - 15], 7) ^ rotate(w[k - 15], 18) ^ w[k - 15] >> 3;
        unsigned s1 = rotate(w[k - 2], 17) ^ rotate(w[k - 2], 19) ^ w[k - 2] >> 10;
        w[k] = w[k - 16] + s0 + w[k - 7] + s1;
    }
    unsigned a = out[0], b = out[1], c = out[2], d = out[3], e = out[4], f = out[5], g = out[6], h = out[7];
    for (int k = 0; k < 64; k++) {
        unsigned t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + constants[k] + w[k];
        unsigned t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    out[0] += a, out[1] += b, out[2] += c, out[3] += d, out[4] += e, out[5] += f, out[6] += g, out[7] += h;
}

__device__ float uniform(unsigned *s) {
    *s ^= *s << 13, *s ^= *s >> 17, *s ^= *s << 5;
    return (*s >> 8) * 0x1p-24f;
}

KERNEL pi32(OUT(unsigned) states, int n, OUT(unsigned) hits) {
    int i = GRID_X;
    unsigned s = states[i], inside = 0;
    for (int k = 0; k < n; k++) {
        float x = uniform(&s), y = uniform(&s);
        if (x * x + y * y < 1) inside++;
    }
    states[i] = s;
    atomicAdd(hits, inside);
}

KERNEL life(IN(unsigned char) now, OUT(unsigned char) then, int height, int width) {
    int x = GRID_X, y = GRID_Y, alive = 0;
    if (x >= width || y >= height) return;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) alive += now[(y + dy + height) % height * width + (x + dx + width) % width];
    then[y * width + x] = alive == 3 || (alive == 2 && now[y * width + x]);
}

KERNEL sobel(IN(float) a, OUT(float) out, int height, int width) {
    int x = GRID_X, y = GRID_Y;
    if (x <= 0 || x >= width - 1 || y <= 0 || y >= height - 1) return;
    const float *u = a + (y - 1) * width + x, *m = u + width, *d = m + width;
    float gx = u[1] - u[-1] + 2 * (m[1] - m[-1]) + d[1] - d[-1], gy = d[-1] - u[-1] + 2 * (d[0] - u[0]) + d[1] - u[1];
    out[y * width + x] = sqrtf(gx * gx + gy * gy);
}

KERNEL sobel_strided(IN(float) a, OUT(float) out, int height, int width, int a0, int a1, int out0, int out1) {
    int x = GRID_X, y = GRID_Y;
    if (x <= 0 || x >= width - 1 || y <= 0 || y >= height - 1) return;
#define A(y, x) a[(y) * a0 + (x) * a1]
    float gx = A(y - 1, x + 1) - A(y - 1, x - 1) + 2 * (A(y, x + 1) - A(y, x - 1)) + A(y + 1, x + 1) - A(y + 1, x - 1);
    float gy = A(y + 1, x - 1) - A(y - 1, x - 1) + 2 * (A(y + 1, x) - A(y - 1, x)) + A(y + 1, x + 1) - A(y - 1, x + 1);
    out[y * out0 + x * out1] = sqrtf(gx * gx + gy * gy);
}

__device__ float warp_sum(float v) {
    for (int k = 16; k; k /= 2) v += __shfl_xor_sync(FULL, v, k);
    return v;
}

__device__ float warp_max(float v) {
    for (int k = 16; k; k /= 2) v = fmaxf(v, __shfl_xor_sync(FULL, v, k));
    return v;
}

__device__ void softmax_row(IN(float) x, OUT(float) y, int n, int x1, int y1) {
    float most = -INFINITY, total = 0;
    for (int k = threadIdx.x; k < n; k += 32) most = fmaxf(most, x[k * x1]);
    most = warp_max(most);
    for (int k = threadIdx.x; k < n; k += 32) total += expf(x[k * x1] - most);
    total = warp_sum(total);
    for (int k = threadIdx.x; k < n; k += 32) y[k * y1] = expf(x[k * x1] - most) / total;
}

KERNEL softmax(IN(float) x, OUT(float) y, int n) { softmax_row(x + blockIdx.x * n, y + blockIdx.x * n, n, 1, 1); }

KERNEL softmax_strided(IN(float) x, OUT(float) y, int n, int x0, int x1, int y0, int y1) {
    softmax_row(x + int(blockIdx.x) * x0, y + int(blockIdx.x) * y0, n, x1, y1);
}

KERNEL layernorm(IN(float) x, IN(float) weight, IN(float) bias, OUT(float) y, int n) {
    float total = 0, squares = 0;
    x += blockIdx.x * n, y += blockIdx.x * n;
    for (int k = threadIdx.x; k < n; k += 32) total += x[k], squares += x[k] * x[k];
    float mean = warp_sum(total) / n, scale = 1 / sqrtf(warp_sum(squares) / n - mean * mean + 1e-5f);
    for (int k = threadIdx.x; k < n; k += 32) y[k] = (x[k] - mean) * scale * weight[k] + bias[k];
}

KERNEL spheres(IN(float) rays, IN(float) balls, OUT(float) nearest, int nrays, int nballs) {
    int i = GRID_X;
    if (i >= nrays) return;
    const float *r = rays + 6 * i;
    float ox = r[0], oy = r[1], oz = r[2], dx = r[3], dy = r[4], dz = r[5], best = INFINITY;
    for (int k = 0; k < nballs; k++) {
        float x = ox - balls[4 * k], y = oy - balls[4 * k + 1], z = oz - balls[4 * k + 2], radius = balls[4 * k + 3];
        float b = x * dx + y * dy + z * dz, inner = b * b - (x * x + y * y + z * z - radius * radius);
        if (inner > 0) {
            float t = -b - sqrtf(inner);
            if (0 < t && t < best) best = t;
        }
    }
    nearest[i] = best;
}

KERNEL hash64(IN(unsigned long long) x, OUT(unsigned long long) out, int n) {
    int i = GRID_X;
    if (i >= n) return;
    unsigned long long z = x[i] + 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    out[i] = z ^ z >> 31;
}

KERNEL gather32(IN(float) x, IN(int) index, OUT(float) out, int n) {
    int i = GRID_X;
    if (i < n) out[i] = x[index[i]];
}

KERNEL gather64(IN(float) x, IN(long long) index, OUT(float) out, int n) {
    int i = GRID_X;
    if (i < n) out[i] = x[index[i]];
}

KERNEL scatter_add(IN(float) x, IN(int) index, OUT(float) out, int n) {
    int i = GRID_X;
    if (i < n) atomicAdd(&out[index[i]], x[i]);
}

KERNEL count(IN(unsigned char) x, OUT(int) counts, int n) {
    for (int i = GRID_X; i < n; i += gridDim.x * blockDim.x) atomicAdd(&counts[x[i]], 1);
}
