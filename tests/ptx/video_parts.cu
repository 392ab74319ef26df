// Video instructions on one byte, half or word: vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vset, vmad.
/*
rng = np.random.default_rng(5)
edges = [0, 1, -1, 0x7FFFFFFF, -0x80000000, 0x12F48391, 0x7F01C320, -77, 32, 33]
x = np.array([[a, b, c] for a in edges for b in edges for c in (0, -5, 0x12345678)], np.int64).astype(np.int32)
out = np.zeros((len(x), 14), np.int32)
launch("k", 1, 32, out, x, np.int32(len(x)))

def word(v):
    return np.int64(v & 0xFFFFFFFF).astype(np.uint32).astype(np.int32)

def part(v, shift, bits, signed):
    v = (int(v) & 0xFFFFFFFF) >> shift & (1 << bits) - 1
    return v - (1 << bits) if signed and v >> bits - 1 else v

def clamp(v, low, high):
    return min(max(v, low), high)

S = -(1 << 31), (1 << 31) - 1
U = 0, (1 << 32) - 1
for row, (a, b, c) in zip(out, x):
    a, b, c = int(a), int(b), int(c)
    u, w, n = a & U[1], b & U[1], c & U[1]
    byte = max(part(a, 0, 8, False), part(b, 8, 8, False))
    want = [
        clamp(part(a, 0, 8, False) + part(b, 16, 16, True), *S),
        part(a, 0, 16, True) - part(b, 24, 8, True) + c,
        abs(a - b),
        max(min(a, b), c),
        n & 0xFFFF00FF | byte << 8,
        u << min(part(b, 0, 8, False), 32),
        a >> (part(b, 0, 8, False) & 31),
        part(a, 0, 16, True) * part(b, 16, 16, False) + c,
        min(part(a, 0, 8, False) * part(b, 8, 8, False) + n + 1 >> 7, U[1]),
        a < w,
        (u >= w) + n,
        n & 0xFFFF | clamp(a + b, -(1 << 15), (1 << 15) - 1) << 16,
        clamp(u * w + n, *U),
        clamp(a * w + c >> 15, *S),
    ]
    same(row, np.array([word(v) for v in want], np.int32))
*/
#define PUT(n, text) asm(text : "=r"(d) : "r"(a), "r"(b), "r"(c)); out[i * 14 + n] = d;

extern "C" __global__ void k(int *out, const int *x, int rows) {
    for (int i = threadIdx.x; i < rows; i += blockDim.x) {
        int a = x[i * 3], b = x[i * 3 + 1], c = x[i * 3 + 2], d;
        PUT(0, "vadd.s32.u32.s32.sat %0, %1.b0, %2.h1;")
        PUT(1, "vsub.s32.s32.s32.add %0, %1.h0, %2.b3, %3;")
        PUT(2, "vabsdiff.u32.s32.s32 %0, %1, %2;")
        PUT(3, "vmin.s32.s32.s32.max %0, %1, %2, %3;")
        PUT(4, "vmax.u32.u32.u32 %0.b1, %1.b0, %2.b1, %3;")
        PUT(5, "vshl.u32.u32.u32.clamp %0, %1, %2.b0;")
        PUT(6, "vshr.s32.s32.u32.wrap %0, %1, %2.b0;")
        PUT(7, "vmad.s32.s32.u32 %0, %1.h0, %2.h1, %3;")
        PUT(8, "vmad.u32.u32.u32.po.sat.shr7 %0, %1.b0, %2.b1, %3;")
        PUT(9, "vset.s32.u32.lt %0, %1, %2;")
        PUT(10, "vset.u32.u32.ge.add %0, %1, %2, %3;")
        PUT(11, "vadd.s32.s32.s32.sat %0.h1, %1, %2, %3;")
        PUT(12, "vmad.u32.u32.u32.sat %0, %1, %2, %3;")
        PUT(13, "vmad.s32.s32.u32.sat.shr15 %0, %1, %2, %3;")
    }
}
