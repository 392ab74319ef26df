// CUDA's SIMD intrinsics on four bytes and two halves of a word.
/*
rng = np.random.default_rng(10)
a, b = rng.integers(0, 2**32, (2, 64)).astype(np.uint32)
out = np.zeros((6, 64), np.uint32)
launch("k", 1, 64, out, a, b)
u8, i8, i16 = (lambda x, t=t: x.view(t).reshape(64, -1) for t in (np.uint8, np.int8, np.int16))
same(out[0], (u8(a) + u8(b)).view(np.uint32).ravel())
same(out[1], np.maximum(i16(a), i16(b)).view(np.uint32).ravel())
same(out[2], abs(u8(a).astype(int) - u8(b)).sum(1).astype(np.uint32))
same(out[3], np.where(i8(a) > i8(b), 255, 0).astype(np.uint8).view(np.uint32).ravel())
same(out[4], np.clip(i16(a).astype(int) + i16(b), -32768, 32767).astype(np.int16).view(np.uint32).ravel())
same(out[5], ((u8(a).astype(int) + u8(b) + 1) // 2).astype(np.uint8).view(np.uint32).ravel())
*/
extern "C" __global__ void k(unsigned *out, const unsigned *a, const unsigned *b) {
    int i = threadIdx.x;
    out[i] = __vadd4(a[i], b[i]);
    out[64 + i] = __vmaxs2(a[i], b[i]);
    out[128 + i] = __vsadu4(a[i], b[i]);
    out[192 + i] = __vcmpgts4(a[i], b[i]);
    out[256 + i] = __vaddss2(a[i], b[i]);
    out[320 + i] = __vavgu4(a[i], b[i]);
}
