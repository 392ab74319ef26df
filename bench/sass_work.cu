// The kernels of sass_work.py in CUDA C, as one would write them by hand. Sizes are int, pointers are __restrict__.
// The strided ones take the strides in elements, as int.
#include <cuda_fp16.h>
#define FULL 0xffffffffu
#define KERNEL extern "C" __global__ void
#define IN(type) const type *__restrict__
#define OUT(type) type *__restrict__
#define GRID_X int(blockIdx.x * blockDim.x + threadIdx.x)
#define GRID_Y int(blockIdx.y * blockDim.y + threadIdx.y)

KERNEL conv2d(IN(float) image, IN(float) weights, OUT(float) out, int height, int width, int rows, int columns) {
    int x = GRID_X, y = GRID_Y, across = width + columns - 1;
    if (x >= width || y >= height) return;
    float total = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) total += image[(y + i) * across + x + j] * weights[i * columns + j];
    out[y * width + x] = total;
}

KERNEL conv2d_strided(IN(float) image, IN(float) weights, OUT(float) out, int height, int width, int rows, int columns,
                      int a0, int a1, int w0, int w1, int b0, int b1) {
    int x = GRID_X, y = GRID_Y;
    if (x >= width || y >= height) return;
    float total = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) total += image[(y + i) * a0 + (x + j) * a1] * weights[i * w0 + j * w1];
    out[y * b0 + x * b1] = total;
}

KERNEL batched(IN(float) a, IN(float) b, OUT(float) c, int n, int rows, int inner, int columns) {
    int i = GRID_X;
    if (i >= n) return;
    for (int row = 0; row < 4; row++)
        for (int column = 0; column < 4; column++) {
            float total = 0;
            for (int k = 0; k < 4; k++)
                total += a[(i * rows + row) * inner + k] * b[(i * inner + k) * columns + column];
            c[(i * rows + row) * columns + column] = total;
        }
}

KERNEL lu(OUT(float) all, int count, int n) {
    int i = GRID_X;
    if (i >= count) return;
    float *a = all + i * n * n;
    for (int k = 0; k < n; k++)
        for (int row = k + 1; row < n; row++) {
            float factor = a[row * n + k] / a[k * n + k];
            a[row * n + k] = factor;
            for (int column = k + 1; column < n; column++) a[row * n + column] -= factor * a[k * n + column];
        }
}

KERNEL cholesky(IN(float) all, OUT(float) results, int count, int n) {
    int i = GRID_X;
    if (i >= count) return;
    const float *a = all + i * n * n;
    float *out = results + i * n * n;
    for (int row = 0; row < n; row++)
        for (int column = 0; column <= row; column++) {
            float total = a[row * n + column];
            for (int k = 0; k < column; k++) total -= out[row * n + k] * out[column * n + k];
            out[row * n + column] = row == column ? sqrtf(total) : total / out[column * n + column];
        }
}

KERNEL jacobi(IN(float) a, OUT(float) b, int height, int width) {
    __shared__ float tile[18][18];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1, x = GRID_X, y = GRID_Y, i = y * width + x;
    if (x < width && y < height) {
        tile[ty][tx] = a[i];
        if (tx == 1 && x > 0) tile[ty][0] = a[i - 1];
        if (tx == 16 && x + 1 < width) tile[ty][17] = a[i + 1];
        if (ty == 1 && y > 0) tile[0][tx] = a[i - width];
        if (ty == 16 && y + 1 < height) tile[17][tx] = a[i + width];
    }
    __syncthreads();
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1)
        b[i] = 0.25f * (tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1]);
}

KERNEL warp_scan(IN(int) x, OUT(int) y, int n) {
    int i = GRID_X, lane = threadIdx.x % 32, v = i < n ? x[i] : 0;
    for (int k = 1; k < 32; k *= 2) {
        int before = __shfl_up_sync(FULL, v, k);
        if (lane >= k) v += before;
    }
    if (i < n) y[i] = v;
}

KERNEL segments(IN(float) x, IN(int) starts, OUT(float) sums, int n) {
    int i = GRID_X;
    if (i >= n) return;
    float total = 0;
    for (int k = starts[i]; k < starts[i + 1]; k++) total += x[k];
    sums[i] = total;
}

KERNEL digits(IN(unsigned) keys, int shift, OUT(int) counts, int n) {
    __shared__ int mine[16];
    int t = threadIdx.x;
    if (t < 16) mine[t] = 0;
    __syncthreads();
    for (int i = GRID_X; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[keys[i] >> shift & 15], 1);
    __syncthreads();
    if (t < 16) counts[t * gridDim.x + blockIdx.x] = mine[t];
}

KERNEL bfs(IN(int) starts, IN(int) edges, OUT(int) distance, int level, OUT(int) changed, int n) {
    int i = GRID_X;
    if (i >= n || distance[i] != level) return;
    for (int k = starts[i]; k < starts[i + 1]; k++) {
        int to = edges[k];
        if (distance[to] < 0) {
            distance[to] = level + 1;
            changed[0] = 1;
        }
    }
}

KERNEL kmeans(IN(float) points, IN(float) centres, OUT(int) nearest, int n, int clusters, int dimensions) {
    int i = GRID_X;
    if (i >= n) return;
    int best = 0;
    float least = INFINITY;
    for (int k = 0; k < clusters; k++) {
        float square = 0;
        for (int j = 0; j < dimensions; j++) {
            float d = points[i * dimensions + j] - centres[k * dimensions + j];
            square += d * d;
        }
        if (square < least) best = k, least = square;
    }
    nearest[i] = best;
}

KERNEL distances(IN(float) a, IN(float) b, OUT(float) out, int rows, int columns, int dimensions) {
    int j = GRID_X, i = GRID_Y;
    if (i >= rows || j >= columns) return;
    float square = 0;
    for (int k = 0; k < dimensions; k++) {
        float d = a[i * dimensions + k] - b[j * dimensions + k];
        square += d * d;
    }
    out[i * columns + j] = sqrtf(square);
}

KERNEL distances_strided(IN(float) a, IN(float) b, OUT(float) out, int rows, int columns, int dimensions, int a0, int a1,
                         int b0, int b1, int c0, int c1) {
    int j = GRID_X, i = GRID_Y;
    if (i >= rows || j >= columns) return;
    float square = 0;
    for (int k = 0; k < dimensions; k++) {
        float d = a[i * a0 + k * a1] - b[j * b0 + k * b1];
        square += d * d;
    }
    out[i * c0 + j * c1] = sqrtf(square);
}

KERNEL grey(IN(unsigned char) image, OUT(unsigned char) out, int height, int width) {
    int x = GRID_X, y = GRID_Y;
    if (x >= width || y >= height) return;
    const unsigned char *pixel = image + 3 * (y * width + x);
    out[y * width + x] = (pixel[0] * 77 + pixel[1] * 150 + pixel[2] * 29) >> 8;
}

KERNEL resize(IN(float) a, OUT(float) out, int height, int width, int from_height, int from_width) {
    int x = GRID_X, y = GRID_Y;
    if (x >= width || y >= height) return;
    float fx = (x + 0.5f) * from_width / width - 0.5f, fy = (y + 0.5f) * from_height / height - 0.5f;
    int left = (int)floorf(fx), top = (int)floorf(fy);
    float u = fx - left, v = fy - top;
    int x0 = max(left, 0), y0 = max(top, 0), x1 = min(left + 1, from_width - 1), y1 = min(top + 1, from_height - 1);
    const float *r0 = a + y0 * from_width, *r1 = a + y1 * from_width;
    float upper = r0[x0] + u * (r0[x1] - r0[x0]), lower = r1[x0] + u * (r1[x1] - r1[x0]);
    out[y * width + x] = upper + v * (lower - upper);
}

KERNEL dft(IN(float) re, IN(float) im, OUT(float) to_re, OUT(float) to_im, int n) {
    int k = GRID_X;
    if (k >= n) return;
    float sr = 0, si = 0, step = -6.283185307179586f * k / n, cs = cosf(step), ss = sinf(step), c = 1, s = 0;
    for (int i = 0; i < n; i++) {
        sr += re[i] * c - im[i] * s;
        si += re[i] * s + im[i] * c;
        float next = c * cs - s * ss;
        s = c * ss + s * cs, c = next;
    }
    to_re[k] = sr, to_im[k] = si;
}

KERNEL axpy_half(float a, IN(__half) x, OUT(__half) y, int n) {
    int i = GRID_X;
    if (i < n) y[i] = __float2half(a * __half2float(x[i]) + __half2float(y[i]));
}

KERNEL powmod(IN(unsigned long long) x, unsigned long long exponent, unsigned long long modulus,
              OUT(unsigned long long) out, int n) {
    int i = GRID_X;
    if (i >= n) return;
    unsigned long long base = x[i] % modulus, result = 1;
    for (unsigned long long e = exponent; e; e >>= 1) {
        if (e & 1) result = result * base % modulus;
        base = base * base % modulus;
    }
    out[i] = result;
}

KERNEL philox(OUT(unsigned) out, unsigned k0, unsigned k1, int n) {
    int i = GRID_X;
    if (i >= n) return;
    unsigned c0 = i, c1 = 0, c2 = 0, c3 = 0;
    for (int k = 0; k < 10; k++) {
        unsigned long long p0 = 0xD2511F53ull * c0, p1 = 0xCD9E8D57ull * c2;
        c0 = unsigned(p1 >> 32) ^ c1 ^ k0, c1 = unsigned(p1);
        c2 = unsigned(p0 >> 32) ^ c3 ^ k1, c3 = unsigned(p0);
        k0 += 0x9E3779B9, k1 += 0xBB67AE85;
    }
    out[4 * i] = c0, out[4 * i + 1] = c1, out[4 * i + 2] = c2, out[4 * i + 3] = c3;
}

KERNEL leapfrog(OUT(float) place, OUT(float) speed, IN(float) force, float dt, int n) {
    int i = GRID_X;
    if (i >= n) return;
    for (int k = 0; k < 3; k++) {
        speed[3 * i + k] += force[3 * i + k] * dt;
        place[3 * i + k] += speed[3 * i + k] * dt;
    }
}

KERNEL ising(OUT(signed char) spins, IN(float) uniform, float beta, int colour, int height, int width) {
    int x = GRID_X, y = GRID_Y;
    if (x >= width || y >= height || (x + y) % 2 != colour) return;
    int up = y ? y - 1 : height - 1, down = y + 1 == height ? 0 : y + 1;
    int left = x ? x - 1 : width - 1, right = x + 1 == width ? 0 : x + 1;
    int around = spins[down * width + x] + spins[up * width + x] + spins[y * width + right] + spins[y * width + left];
    float energy = 2.0f * spins[y * width + x] * around;
    if (energy < 0 || uniform[y * width + x] < expf(-beta * energy)) spins[y * width + x] = -spins[y * width + x];
}

KERNEL compact(IN(float) x, float limit, OUT(float) out, OUT(int) count, int n) {
    int i = GRID_X;
    if (i >= n) return;
    float v = x[i];
    if (v > limit) out[atomicAdd(count, 1)] = v;
}
