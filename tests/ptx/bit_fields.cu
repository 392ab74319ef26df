// bfe, bfi, bfind, fns, szext, bmsk and lop3 as inline PTX.
// nvcc -arch=sm_80
/*
a = np.random.default_rng(6).integers(0, 2**32, 64).astype(np.uint32)
out = np.zeros((8, 64), np.uint32)
launch("k", 1, 64, out, a)
pos, n = np.arange(64) % 29, np.arange(64) % 7
field = (a >> pos.astype(np.uint32)) & ((1 << n) - 1).astype(np.uint32)
same(out[0], field)
signed = np.where((n > 0) & ((field >> np.maximum(n - 1, 0).astype(np.uint32)) & 1 == 1), field.astype(np.int64) - (1 << n), field)
inside = pos + n <= 32
same(out[1][inside], signed.astype(np.int64).astype(np.uint32)[inside])
mask = (((1 << n) - 1) << pos) & 0xffffffff
same(out[2], ((0x12345678 & ~mask) | ((a.astype(np.int64) << pos) & mask)).astype(np.uint32))
same(out[3], np.array([int(x).bit_length() - 1 for x in a]).astype(np.uint32))
same(out[4], (a & 0x0f0f0f0f) ^ ((a >> 3) | 0x33333333))
same(out[5], mask.astype(np.uint32))
nth = [[k for k in range(32) if int(x) >> k & 1] for x in a]
same(out[6], np.array([s[2] if len(s) > 2 else 0xffffffff for s in nth], np.uint32))
same(out[7], np.array([(int(x) & 0x1ff) - (512 if int(x) & 0x100 else 0) for x in a]).astype(np.uint32))
*/
extern "C" __global__ void k(unsigned *out, const unsigned *a) {
    int i = threadIdx.x;
    unsigned x = a[i], pos = i % 29, n = i % 7, r;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(pos), "r"(n));
    out[i] = r;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(pos), "r"(n));
    out[64 + i] = r;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(x), "r"(0x12345678), "r"(pos), "r"(n));
    out[128 + i] = r;
    asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(x));
    out[192 + i] = r;
    asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(r) : "r"(x), "r"(0x0f0f0f0f), "r"((x >> 3) | 0x33333333));
    out[256 + i] = r; // (a & b) ^ c
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(r) : "r"(pos), "r"(n));
    out[320 + i] = r;
    asm("fns.b32 %0, %1, 0, 3;" : "=r"(r) : "r"(x));
    out[384 + i] = r;
    asm("szext.wrap.s32 %0, %1, 9;" : "=r"(r) : "r"(x));
    out[448 + i] = r;
}
