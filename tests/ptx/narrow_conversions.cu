// Chars and shorts: sign and zero extension, truncation, saturation.
/*
a = np.arange(-300, 212, dtype=np.int32) * 131
out = np.zeros((6, 512), np.int32)
launch("k", 4, 128, out, a)
same(out[0], a.astype(np.int8).astype(np.int32))
same(out[1], a.astype(np.uint8).astype(np.int32))
same(out[2], a.astype(np.int16).astype(np.int32))
same(out[3], a.astype(np.uint16).astype(np.int32))
same(out[4], np.clip(a, -128, 127))
same(out[5], np.clip(a, 0, 65535))
*/
extern "C" __global__ void k(int *out, const int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, r;
    out[i] = (signed char)a[i];
    out[512 + i] = (unsigned char)a[i];
    out[1024 + i] = (short)a[i];
    out[1536 + i] = (unsigned short)a[i];
    short s;
    asm("{ .reg .s16 t; cvt.sat.s8.s32 t, %1; mov.b16 %0, t; }" : "=h"(s) : "r"(a[i]));
    out[2048 + i] = s;
    unsigned short u;
    asm("cvt.sat.u16.s32 %0, %1;" : "=h"(u) : "r"(a[i]));
    r = u;
    out[2560 + i] = r;
}
