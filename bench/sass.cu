// The kernels of the examples in CUDA C, as one would write them by hand: what bench/sass.py compares the generated code with.
// Sizes are int, pointers are __restrict__, and each kernel does the same work in the same order.
#define LEVELS 256
#define FULL 0xffffffffu

extern "C" __global__ void saxpy(float a, const float *__restrict__ x, const float *__restrict__ y,
                                 float *__restrict__ out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __fadd_rn(__fmul_rn(a, x[i]), y[i]);
}

__device__ float normal_cdf(float x) { return 0.5f * erfcf(-x * 0.7071067811865476f); }

extern "C" __global__ void black_scholes(const float *__restrict__ price, const float *__restrict__ strike,
                                         const float *__restrict__ years, float *__restrict__ call,
                                         float *__restrict__ put, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = price[i], k = strike[i], t = years[i];
    float root = 0.30f * sqrtf(t);
    float d1 = (logf(s / k) + (0.02f + 0.5f * 0.30f * 0.30f) * t) / root;
    float d2 = d1 - root;
    float discounted = k * expf(-0.02f * t);
    call[i] = s * normal_cdf(d1) - discounted * normal_cdf(d2);
    put[i] = discounted * normal_cdf(-d2) - s * normal_cdf(-d1);
}

__device__ int escape_time(double cr, double ci) {
    double zr = 0, zi = 0;
    for (int n = 0; n < 200; n++) {
        double zr2 = __dmul_rn(zr, zr), zi2 = __dmul_rn(zi, zi);
        if (__dadd_rn(zr2, zi2) > 4.0) return n;
        zi = __dadd_rn(__dmul_rn(__dmul_rn(2.0, zr), zi), ci);
        zr = __dadd_rn(__dsub_rn(zr2, zi2), cr);
    }
    return 200;
}

extern "C" __global__ void mandelbrot(int *__restrict__ out, int height, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    double cr = __dadd_rn(-2.0, __dmul_rn(x, __ddiv_rn(2.6, width)));
    double ci = __dadd_rn(-1.15, __dmul_rn(y, __ddiv_rn(2.3, height)));
    out[y * width + x] = escape_time(cr, ci);
}

extern "C" __global__ void matmul(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c,
                                  int rows, int inner, int columns) {
    __shared__ float left[16][16], right[16][16];
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int tx = threadIdx.x, ty = threadIdx.y;
    float total = 0;
    for (int k = 0; k < inner; k += 16) {
        left[ty][tx] = y < rows && k + tx < inner ? a[y * inner + k + tx] : 0;
        right[ty][tx] = k + ty < inner && x < columns ? b[(k + ty) * columns + x] : 0;
        __syncthreads();
        for (int i = 0; i < 16; i++) total += left[ty][i] * right[i][tx];
        __syncthreads();
    }
    if (y < rows && x < columns) c[y * columns + x] = total;
}

extern "C" __global__ void histogram(const unsigned char *__restrict__ pixels, long long *__restrict__ counts, int n) {
    __shared__ int mine[LEVELS];
    int part = (n + gridDim.x - 1) / gridDim.x, first = part * blockIdx.x, last = min(first + part, n);
    for (int level = threadIdx.x; level < LEVELS; level += blockDim.x) mine[level] = 0;
    __syncthreads();
    for (int i = first + threadIdx.x; i < last; i += blockDim.x) atomicAdd(&mine[pixels[i]], 1);
    __syncthreads();
    for (int level = threadIdx.x; level < LEVELS; level += blockDim.x)
        atomicAdd((unsigned long long *)&counts[level], (unsigned long long)mine[level]);
}

extern "C" __global__ void near(float *__restrict__ x, int first, int last) {
    __shared__ float part[1024];
    int t = threadIdx.x, start = 1024 * blockIdx.x;
    for (int k = t; k < 1024; k += 512) part[k] = x[start + k];
    for (int run = first; run <= last; run *= 2) {
        for (int distance = min(run, 1024) / 2; distance; distance /= 2) {
            __syncthreads();
            int i = t + (t & -distance);
            if ((part[i] > part[i + distance]) == (((start + i) & run) == 0)) {
                float held = part[i];
                part[i] = part[i + distance];
                part[i + distance] = held;
            }
        }
    }
    __syncthreads();
    for (int k = t; k < 1024; k += 512) x[start + k] = part[k];
}

extern "C" __global__ void far(float *__restrict__ x, int distance, int run) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, i = t + (t & -distance);
    if ((x[i] > x[i + distance]) == ((i & run) == 0)) {
        float held = x[i];
        x[i] = x[i + distance];
        x[i + distance] = held;
    }
}

__device__ unsigned long long next(unsigned long long *s) {
    unsigned long long s0 = s[0], s1 = s[1], result = s0 + s1;
    s1 ^= s0;
    s[0] = (s0 << 55 | s0 >> 9) ^ s1 ^ s1 << 14;
    s[1] = s1 << 36 | s1 >> 28;
    return result;
}

__device__ float uniform(unsigned long long *s) { return (float)((double)(next(s) >> 11) * 0x1p-53); }

extern "C" __global__ void hits(unsigned long long *__restrict__ states, int n, unsigned long long *__restrict__ total) {
    __shared__ int parts[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, inside = 0, lane = threadIdx.x % 32;
    unsigned long long s[2] = {states[2 * i], states[2 * i + 1]};
    for (int k = 0; k < n; k++) {
        float x = uniform(s), y = uniform(s);
        inside += x * x + y * y <= 1;
    }
    states[2 * i] = s[0], states[2 * i + 1] = s[1];
    for (int k = 16; k; k /= 2) inside += __shfl_down_sync(FULL, inside, k);
    if (!lane) parts[threadIdx.x / 32] = inside;
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < blockDim.x / 32; w++) inside += parts[w];
    atomicAdd(total, (unsigned long long)inside);
}

extern "C" __global__ void spmv(const long long *__restrict__ starts, const int *__restrict__ columns,
                                const double *__restrict__ values, const double *__restrict__ x, double *__restrict__ y,
                                int n) {
    int row = 8 * blockIdx.x + threadIdx.y;
    double total = 0;
    if (row < n)
        for (long long k = starts[row] + threadIdx.x; k < starts[row + 1]; k += 32) total += values[k] * x[columns[k]];
    for (int k = 16; k; k /= 2) total += __shfl_down_sync(FULL, total, k);
    if (row < n && threadIdx.x == 0) y[row] = total;
}

__device__ int root(const int *parent, int i) {
    while (parent[i] != i) i = parent[i];
    return i;
}

__device__ void unite(int *parent, int i, int j) {
    i = root(parent, i), j = root(parent, j);
    while (i != j) {
        if (i < j) {
            int held = i;
            i = j, j = held;
        }
        int old = atomicMin(&parent[i], j);
        if (old == i) break;
        i = root(parent, old);
        j = root(parent, j);
    }
}

extern "C" __global__ void link(const bool *__restrict__ bright, int *parent, int height, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height || !bright[y * width + x]) return;
    int i = y * width + x;
    if (x && bright[i - 1]) unite(parent, i, i - 1);
    if (y && bright[i - width]) unite(parent, i, i - width);
}

__constant__ float BINOMIAL[5] = {1 / 16.f, 4 / 16.f, 6 / 16.f, 4 / 16.f, 1 / 16.f};

extern "C" __global__ void blur(const float *__restrict__ image, float *__restrict__ out, int height, int width) {
    __shared__ float part[12][36];
    int tx = threadIdx.x, ty = threadIdx.y, left = 32 * blockIdx.x - 2, top = 8 * blockIdx.y - 2;
    for (int row = ty; row < 12; row += 8)
        for (int column = tx; column < 36; column += 32) {
            int y = min(max(top + row, 0), height - 1), x = min(max(left + column, 0), width - 1);
            part[row][column] = image[y * width + x];
        }
    __syncthreads();
    float total = 0;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            total = __fadd_rn(total, __fmul_rn(__fmul_rn(BINOMIAL[i], BINOMIAL[j]), part[ty + i][tx + j]));
    int x = blockIdx.x * blockDim.x + tx, y = blockIdx.y * blockDim.y + ty;
    if (y < height && x < width) out[y * width + x] = total;
}

extern "C" __global__ void prefix_sum(const int *__restrict__ x, int *__restrict__ out,
                                      volatile unsigned long long *state) {
    __shared__ int start, parts[5];
    int b = blockIdx.x, t = threadIdx.x, lane = t % 32, warp = t / 32, items[8], own = 0;
    const int4 *wide = (const int4 *)x + 2 * (b * blockDim.x + t);
    *(int4 *)items = wide[0], *(int4 *)(items + 4) = wide[1];
    for (int k = 0; k < 8; k++) own += items[k];
    int upto = own;
    for (int k = 1; k < 32; k *= 2) {
        int before = __shfl_up_sync(FULL, upto, k);
        if (lane >= k) upto += before;
    }
    if (lane == 31) parts[warp] = upto;
    __syncthreads();
    int before = upto - own;
    for (int w = 0; w < warp; w++) before += parts[w];
    __syncthreads();
    if (t == 159) {
        unsigned mine = before + own, prefix = 0;
        __threadfence();
        state[b] = mine | (b ? 1ull << 32 : 2ull << 32);
        for (int look = b - 1; look >= 0;) {
            unsigned long long seen = state[look];
            prefix += (unsigned)seen;
            if (seen >= 2ull << 32) break;
            look -= seen != 0;
        }
        state[b] = (prefix + mine) | 2ull << 32;
        start = prefix;
    }
    __syncthreads();
    int total = start + before;
    int4 *to = (int4 *)out + 2 * (b * blockDim.x + t);
    for (int k = 0; k < 8; k++) items[k] = total += items[k];
    to[0] = *(int4 *)items, to[1] = *(int4 *)(items + 4);
}
