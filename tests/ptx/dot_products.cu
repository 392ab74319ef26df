// Sums of absolute differences, dp4a and dp2a, mul24.
// nvcc -arch=sm_75
/*
rng = np.random.default_rng(9)
a, b = rng.integers(-2**31, 2**31, (2, 64), np.int32)
out = np.zeros((6, 64), np.int32)
launch("k", 1, 64, out, a, b)
i8, u8, i16 = (lambda x, t=t: x.view(t).reshape(64, -1).astype(np.int64) for t in (np.int8, np.uint8, np.int16))
cut = lambda x: x.astype(np.int64).astype(np.int32)
same(out[0], cut(abs(a.astype(np.int64) - b) + 5))
same(out[1], cut((i8(a) * i8(b)).sum(1) + 100))
same(out[2], cut((u8(a) * u8(b)).sum(1) + 100))
same(out[3], cut((i16(a) * i8(b)[:, :2]).sum(1) + 7))
same(out[4], cut((i16(a) * i8(b)[:, 2:]).sum(1) + 7))
low = lambda x: (x.astype(np.int64) << 40 >> 40)
same(out[5], cut(low(a) * low(b)))
*/
#include <sm_61_intrinsics.h>
extern "C" __global__ void k(int *out, const int *a, const int *b) {
    int i = threadIdx.x;
    out[i] = __sad(a[i], b[i], 5u);
    out[64 + i] = __dp4a(a[i], b[i], 100);
    out[128 + i] = (int)__dp4a((unsigned)a[i], (unsigned)b[i], 100u);
    out[192 + i] = __dp2a_lo(a[i], b[i], 7);
    out[256 + i] = __dp2a_hi(a[i], b[i], 7);
    out[320 + i] = __mul24(a[i], b[i]);
}
