// add.cc, addc, sub.cc, subc, mad.lo.cc, madc.hi as inline PTX: 96 bits.
/*
rng = np.random.default_rng(8)
a, b = rng.integers(0, 2**32, (2, 32, 3)).astype(np.uint32)
a[0] = 2**32 - 1
b[0] = (1, 0, 0)
out = np.zeros((3, 32, 3), np.uint32)
launch("k", 1, 32, out, a, b)
whole = lambda x: [sum(int(w) << 32 * i for i, w in enumerate(v)) for v in x]
split = lambda x: np.array([[v >> 32 * i & 2**32 - 1 for i in range(3)] for v in x], np.uint32)
same(out[0], split([x + y for x, y in zip(whole(a), whole(b))]))
same(out[1], split([x - y for x, y in zip(whole(a), whole(b))]))
same(out[2], split([x + int(v[0]) * int(w[0]) for x, v, w in zip(whole(a), a, b)]))
*/
extern "C" __global__ void k(unsigned *out, const unsigned *a, const unsigned *b) {
    int i = 3 * threadIdx.x;
    unsigned x, y, z;
    asm("add.cc.u32 %0, %3, %6; addc.cc.u32 %1, %4, %7; addc.u32 %2, %5, %8;"
        : "=&r"(x), "=&r"(y), "=&r"(z)
        : "r"(a[i]), "r"(a[i + 1]), "r"(a[i + 2]), "r"(b[i]), "r"(b[i + 1]), "r"(b[i + 2]));
    out[i] = x, out[i + 1] = y, out[i + 2] = z;
    asm("sub.cc.u32 %0, %3, %6; subc.cc.u32 %1, %4, %7; subc.u32 %2, %5, %8;"
        : "=&r"(x), "=&r"(y), "=&r"(z)
        : "r"(a[i]), "r"(a[i + 1]), "r"(a[i + 2]), "r"(b[i]), "r"(b[i + 1]), "r"(b[i + 2]));
    out[96 + i] = x, out[96 + i + 1] = y, out[96 + i + 2] = z;
    asm("mad.lo.cc.u32 %0, %3, %6, %3; madc.hi.cc.u32 %1, %3, %6, %4; addc.u32 %2, %5, 0;"
        : "=&r"(x), "=&r"(y), "=&r"(z)
        : "r"(a[i]), "r"(a[i + 1]), "r"(a[i + 2]), "r"(b[i]));
    out[192 + i] = x, out[192 + i + 1] = y, out[192 + i + 2] = z;
}
