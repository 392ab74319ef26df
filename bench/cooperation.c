/* cooperation.c - the algorithms of cooperation.py as one would write them by hand for a CPU.
 *
 * The same blocks and threads: a block is an iteration of an OpenMP loop, shared memory an array on its stack, a
 * barrier the end of a loop over the block's threads. Arrays don't overlap. Sizes are multiples of the block, which the
 * kernels check all the same. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define TILE 16
#define BLOCK 256
#define BLOCKS _Pragma("omp parallel for schedule(static)")

typedef float *restrict Floats;
typedef const float *restrict Given;

void matmul(Given a, Given b, Floats c, int64_t n) {
    BLOCKS for (int64_t block = 0; block < n / TILE * (n / TILE); block++) {
        int64_t y0 = block / (n / TILE) * TILE, x0 = block % (n / TILE) * TILE;
        float left[TILE][TILE], right[TILE][TILE], total[TILE][TILE] = {{0}};
        for (int64_t k = 0; k < n; k += TILE) {
            for (int y = 0; y < TILE; y++)
                for (int x = 0; x < TILE; x++) {
                    left[y][x] = a[(y0 + y) * n + k + x];
                    right[y][x] = b[(k + y) * n + x0 + x];
                }
            for (int y = 0; y < TILE; y++)
                for (int x = 0; x < TILE; x++) {
                    float sum = total[y][x];
                    for (int i = 0; i < TILE; i++) sum += left[y][i] * right[i][x];
                    total[y][x] = sum;
                }
        }
        for (int y = 0; y < TILE; y++)
            for (int x = 0; x < TILE; x++) c[(y0 + y) * n + x0 + x] = total[y][x];
    }
}

void reduction(Given x, Floats sums, int64_t n) {
    BLOCKS for (int64_t block = 0; block < n / BLOCK; block++) {
        float s[BLOCK];
        for (int t = 0; t < BLOCK; t++) s[t] = x[block * BLOCK + t];
        for (int step = BLOCK / 2; step > 0; step /= 2)
            for (int t = 0; t < step; t++) s[t] += s[t + step];
        sums[block] = s[0];
    }
}

void scan(Given x, Floats out, int64_t n) {
    BLOCKS for (int64_t block = 0; block < n / BLOCK; block++) {
        float s[2][BLOCK];
        int from = 0;
        for (int t = 0; t < BLOCK; t++) s[0][t] = x[block * BLOCK + t];
        for (int step = 1; step < BLOCK; step *= 2) {
            for (int t = 0; t < BLOCK; t++) s[1 - from][t] = t >= step ? s[from][t] + s[from][t - step] : s[from][t];
            from = 1 - from;
        }
        for (int t = 0; t < BLOCK; t++) out[block * BLOCK + t] = s[from][t];
    }
}

void histogram(const uint8_t *restrict pixels, int32_t *restrict bins, int64_t n, int64_t blocks) {
    BLOCKS for (int64_t block = 0; block < blocks; block++) {
        int32_t mine[BLOCK];
        for (int t = 0; t < BLOCK; t++) mine[t] = 0;
        for (int64_t i = block * BLOCK; i < n; i += blocks * BLOCK)
            for (int64_t t = 0; t < BLOCK && i + t < n; t++) mine[pixels[i + t]]++;
        for (int t = 0; t < BLOCK; t++) __atomic_fetch_add(&bins[t], mine[t], __ATOMIC_RELAXED);
    }
}

enum { PATCH = 32, ROWS = 8 };

void transpose(Given a, Floats b, int64_t n) {
    BLOCKS for (int64_t block = 0; block < n / PATCH * (n / PATCH); block++) {
        int64_t y0 = block / (n / PATCH) * PATCH, x0 = block % (n / PATCH) * PATCH;
        float tile[PATCH][PATCH + 1];
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < PATCH; x++)
                for (int j = 0; j < PATCH; j += ROWS) tile[y + j][x] = a[(y0 + y + j) * n + x0 + x];
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < PATCH; x++)
                for (int j = 0; j < PATCH; j += ROWS) b[(x0 + y + j) * n + y0 + x] = tile[x][y + j];
    }
}

void bitonic(Floats x, int64_t n) {
    BLOCKS for (int64_t block = 0; block < n / BLOCK; block++) {
        float s[BLOCK];
        for (int t = 0; t < BLOCK; t++) s[t] = x[block * BLOCK + t];
        for (int k = 2; k <= BLOCK; k *= 2)
            for (int j = k / 2; j > 0; j /= 2)
                for (int t = 0; t < BLOCK; t++) {
                    int other = t ^ j;
                    if (other > t && (s[t] > s[other]) == ((t & k) == 0)) {
                        float swap = s[t];
                        s[t] = s[other];
                        s[other] = swap;
                    }
                }
        for (int t = 0; t < BLOCK; t++) x[block * BLOCK + t] = s[t];
    }
}

enum { RADIUS = 4 };

void stencil(Given x, Floats y, int64_t n) {
    BLOCKS for (int64_t block = 0; block < n / BLOCK; block++) {
        float s[BLOCK + 2 * RADIUS];
        int64_t first = block * BLOCK;
        for (int t = 0; t < BLOCK; t++) s[t + RADIUS] = x[first + t];
        for (int t = 0; t < RADIUS; t++) {
            s[t] = first + t >= RADIUS ? x[first + t - RADIUS] : 0;
            s[t + RADIUS + BLOCK] = first + BLOCK + t < n ? x[first + BLOCK + t] : 0;
        }
        for (int t = 0; t < BLOCK; t++) {
            float sum = 0;
            for (int k = 0; k <= 2 * RADIUS; k++) sum += s[t + k];
            y[first + t] = sum;
        }
    }
}

void shuffles(Given x, Floats sums, int64_t n) {
    BLOCKS for (int64_t warp = 0; warp < n / 32; warp++) {
        float v[32], other[32];
        for (int l = 0; l < 32; l++) v[l] = x[warp * 32 + l];
        for (int step = 16; step > 0; step /= 2) {
            for (int l = 0; l < 32; l++) other[l] = l + step < 32 ? v[l + step] : v[l];
            for (int l = 0; l < 32; l++) v[l] += other[l];
        }
        sums[warp] = v[0];
    }
}

/* ---- without barriers --------------------------------------------------------------------------- */

void naive(Given a, Given b, Floats c, int64_t n) {
    BLOCKS for (int64_t y = 0; y < n; y++) {
        float row[4096];
        memset(row, 0, (size_t)n * sizeof *row);
        for (int64_t k = 0; k < n; k++)
            for (int64_t x = 0; x < n; x++) row[x] += a[y * n + k] * b[k * n + x];
        memcpy(c + y * n, row, (size_t)n * sizeof *row);
    }
}

enum { LANES = 32, MOST = 200 };

void mandelbrot(int32_t *restrict out, int64_t n) {
    BLOCKS for (int64_t y = 0; y < n; y++) for (int64_t x0 = 0; x0 < n; x0 += LANES) {
        float cx[LANES], zx[LANES], zy[LANES], cy = (float)y * (2.0f / (float)n) - 1.0f;
        int32_t count[LANES];
        for (int l = 0; l < LANES; l++) {
            cx[l] = (float)(x0 + l) * (3.0f / (float)n) - 2.0f;
            zx[l] = zy[l] = 0;
            count[l] = 0;
        }
        for (int i = 0; i < MOST; i++) {
            int any = 0;
            for (int l = 0; l < LANES; l++) {
                float xx = zx[l] * zx[l], yy = zy[l] * zy[l];
                int on = xx + yy <= 4.0f;
                float next = 2.0f * zx[l] * zy[l] + cy;
                zy[l] = on ? next : zy[l];
                zx[l] = on ? xx - yy + cx[l] : zx[l];
                count[l] += on;
                any |= on;
            }
            if (!any) break;
        }
        for (int l = 0; l < LANES; l++) out[y * n + x0 + l] = count[l];
    }
}

void nbody(Given x, Given y, Given z, Floats force, int64_t n) {
    enum { STRIP = 64 };
    BLOCKS for (int64_t i0 = 0; i0 < n; i0 += STRIP) {
        float sum[STRIP] = {0};
        for (int64_t j = 0; j < n; j++)
            for (int l = 0; l < STRIP; l++) {
                float dx = x[j] - x[i0 + l], dy = y[j] - y[i0 + l], dz = z[j] - z[i0 + l];
                float d = dx * dx + dy * dy + dz * dz + 0.01f;
                sum[l] += dx / (d * sqrtf(d));
            }
        for (int l = 0; l < STRIP; l++) force[i0 + l] = sum[l];
    }
}
