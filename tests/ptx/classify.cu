// testp, comparisons with NaN of all kinds, and what PTX calls num and nan.
/*
x = np.array([0, -0.0, 1, -1e-40, 1e-45, 1e38, np.inf, -np.inf, np.nan, 2e-38], np.float32)
n = x.size
out = np.zeros((10, n), np.int32)
launch("k", 1, n, out, x)
finite, nan, inf, tiny = np.isfinite(x), np.isnan(x), np.isinf(x), np.finfo(np.float32).tiny
for row, want in zip(out, [finite, inf, ~nan, nan, finite & (abs(x) >= tiny), finite & (abs(x) < tiny) & (x != 0),
                           (x == 1) | nan, (x < 1) | nan, ~nan, nan]):
    same(row, want.astype(np.int32))
*/
#define TEST(row, name) asm("{ .reg .pred p; " name "; selp.s32 %0, 1, 0, p; }" : "=r"(r) : "f"(x[i]), "f"(1.0f)); out[row * n + i] = r;
extern "C" __global__ void k(int *out, const float *x) {
    int i = threadIdx.x, n = blockDim.x, r;
    TEST(0, "testp.finite.f32 p, %1")
    TEST(1, "testp.infinite.f32 p, %1")
    TEST(2, "testp.number.f32 p, %1")
    TEST(3, "testp.notanumber.f32 p, %1")
    TEST(4, "testp.normal.f32 p, %1")
    TEST(5, "testp.subnormal.f32 p, %1")
    TEST(6, "setp.equ.f32 p, %1, %2")
    TEST(7, "setp.ltu.f32 p, %1, %2")
    TEST(8, "setp.num.f32 p, %1, %2")
    TEST(9, "setp.nan.f32 p, %1, %2")
}
