// mma, ldmatrix and stmatrix with the layouts of the PTX manual.
// nvcc -arch=sm_90
/*
rng = np.random.default_rng(41)
a, b = rng.integers(-8, 9, (16, 16)).astype(np.float16), rng.integers(-8, 9, (16, 8)).astype(np.float16)
out = np.zeros((16, 8), np.float32)
launch("halves", 1, 32, out, a, b)
same(out, (a.astype(np.float64) @ b).astype(np.float32))
x, y = rng.integers(-128, 128, (16, 32)).astype(np.int8), rng.integers(0, 256, (32, 8)).astype(np.uint8)
ints = np.zeros((16, 8), np.int32)
launch("bytes", 1, 32, ints, x, y.T.copy())
same(ints, x.astype(np.int32) @ y.astype(np.int32))
p, q = rng.standard_normal((8, 4)), rng.standard_normal((4, 8))
d = np.zeros((8, 8))
launch("doubles", 1, 32, d, p, q)
assert np.allclose(d, p @ q, rtol=1e-15, atol=1e-15)
rows = np.arange(256, dtype=np.uint16)
turned = np.zeros_like(rows)
launch("turn", 1, 32, turned, rows)
same(turned, rows.reshape(4, 8, 8).transpose(0, 2, 1).ravel().copy())
launch("move", 1, 32, turned, rows)
same(turned[:64], rows[:64].reshape(8, 8).T.ravel().copy())
*/
#include <cuda_fp16.h>
__device__ unsigned address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void halves(float *out, const half *a, const half *b) {
    __shared__ __align__(16) half sa[16 * 16], sb[16 * 8];
    int lane = threadIdx.x;
    for (int i = lane; i < 256; i += 32) sa[i] = a[i];
    for (int i = lane; i < 128; i += 32) sb[i] = b[i];
    __syncwarp();
    unsigned ra[4], rb[2];
    float c[4] = {0, 0, 0, 0};
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3])
                 : "r"(address(sa + lane % 16 * 16 + lane / 16 * 8)));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(rb[0]), "=r"(rb[1])
                 : "r"(address(sb + lane % 16 * 8)));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    for (int i = 0; i < 4; i++) out[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = c[i];
}
extern "C" __global__ void bytes(int *out, const unsigned *x, const unsigned *y) {
    int lane = threadIdx.x, g = lane / 4, t = lane % 4, c[4] = {0, 0, 0, 0};
    unsigned a[4], b[2];
    for (int r = 0; r < 4; r++) a[r] = x[(g + r % 2 * 8) * 8 + t + r / 2 * 4];
    for (int r = 0; r < 2; r++) b[r] = y[g * 8 + t + r * 4];
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    for (int i = 0; i < 4; i++) out[(g + i / 2 * 8) * 8 + t * 2 + i % 2] = c[i];
}
extern "C" __global__ void doubles(double *out, const double *p, const double *q) {
    int g = threadIdx.x / 4, t = threadIdx.x % 4;
    double c[2] = {0, 0};
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(p[g * 4 + t]), "d"(q[t * 8 + g]));
    out[g * 8 + t * 2] = c[0];
    out[g * 8 + t * 2 + 1] = c[1];
}
extern "C" __global__ void turn(unsigned *out, const unsigned *rows) {
    __shared__ __align__(16) unsigned s[128], u[128];
    int lane = threadIdx.x;
    for (int i = lane; i < 128; i += 32) s[i] = rows[i];
    __syncwarp();
    unsigned r[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address(s + 4 * lane)));
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address(u + 4 * lane)), "r"(r[0]), "r"(r[1]),
                 "r"(r[2]), "r"(r[3])
                 : "memory");
    __syncwarp();
    for (int i = lane; i < 128; i += 32) out[i] = u[i];
}
extern "C" __global__ void move(unsigned *out, const unsigned *rows) {
    unsigned r;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(rows[threadIdx.x]));
    out[threadIdx.x] = r;
}
