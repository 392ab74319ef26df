// PTX's SIMD video instructions, as inline PTX.
/*
rng = np.random.default_rng(42)
a, b, c = rng.integers(0, 2**32, (3, 64)).astype(np.uint32)
out = np.zeros((9, 64), np.uint32)
launch("k", 1, 64, out, a, b, c)
u8, s8, s16, u16 = (lambda x, t=t: x.view(t).reshape(64, -1).astype(np.int64) for t in (np.uint8, np.int8, np.int16, np.uint16))
words = lambda x, t: np.ascontiguousarray(x.astype(t)).view(np.uint32).ravel()
same(out[0], words(s16(a) + s16(b), np.int16))
same(out[1], words(np.clip(u8(a) + u8(b), 0, 255), np.uint8))
same(out[2], words(s16(a) - s16(b), np.int16))
same(out[3], words(np.clip(s8(a) - s8(b), -128, 127), np.int8))
average = u8(a) + u8(b) + 1 >> 1
same(out[4], words(average, np.uint8))
same(out[5], (c.astype(np.int64) + abs(u16(a) - u16(b)).sum(1)).astype(np.uint32))
same(out[6], words(np.minimum(s8(a), s8(b)), np.int8))
same(out[7], words(np.maximum(u16(a), u16(b)), np.uint16))
same(out[8], words(s8(a) > s8(b), np.uint8))
*/
#define OP(row, name) asm(name " %0, %1, %2, %3;" : "=r"(r) : "r"(a[i]), "r"(b[i]), "r"(c[i])); out[64 * row + i] = r;
extern "C" __global__ void k(unsigned *out, const unsigned *a, const unsigned *b, const unsigned *c) {
    int i = threadIdx.x;
    unsigned r;
    OP(0, "vadd2.s32.s32.s32")
    OP(1, "vadd4.u32.u32.u32.sat")
    OP(2, "vsub2.s32.s32.s32")
    OP(3, "vsub4.s32.s32.s32.sat")
    OP(4, "vavrg4.u32.u32.u32")
    OP(5, "vabsdiff2.u32.u32.u32.add")
    OP(6, "vmin4.s32.s32.s32")
    OP(7, "vmax2.u32.u32.u32")
    OP(8, "vset4.s32.s32.gt")
}
