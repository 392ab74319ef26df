// Counting and reversing bits, choosing bytes.
/*
rng = np.random.default_rng(5)
a = rng.integers(0, 2**32, 64).astype(np.uint32)
b = rng.integers(0, 2**63, 64).astype(np.uint64)
a[:3], b[:3] = (0, 1, 2**32 - 1), (0, 1, 2**63)
out = np.zeros((8, 64), np.uint32)
rev = np.zeros(64, np.uint64)
launch("k", 1, 64, out, rev, a, b)
bits = lambda x, n: format(int(x), f"0{n}b")
same(out[0], np.array([bits(x, 32).count("1") for x in a], np.uint32))
same(out[1], np.array([len(bits(x, 32)) - len(bits(x, 32).lstrip("0")) for x in a], np.uint32))
same(out[2], np.array([32 - bits(x, 32).rfind("1") if x else 0 for x in a], np.uint32))
same(out[3], np.array([int(bits(x, 32)[::-1], 2) for x in a], np.uint32))
same(out[4], np.array([bits(x, 64).count("1") for x in b], np.uint32))
same(out[5], np.array([64 - int(x).bit_length() for x in b], np.uint32))
same(out[6], np.array([64 - bits(x, 64).rfind("1") if x else 0 for x in b], np.uint32))
both = [int(x).to_bytes(4, "little") + (int(y) & 0xffffffff).to_bytes(4, "little") for x, y in zip(a, b)]
same(out[7], np.array([int.from_bytes(bytes([t[7], t[0], t[5], t[2]]), "little") for t in both], np.uint32))
same(rev, np.array([int(bits(x, 64)[::-1], 2) for x in b], np.uint64))
*/
extern "C" __global__ void k(unsigned *out, unsigned long long *rev, const unsigned *a, const unsigned long long *b) {
    int i = threadIdx.x;
    out[i] = __popc(a[i]);
    out[64 + i] = __clz(a[i]);
    out[128 + i] = __ffs(a[i]);
    out[192 + i] = __brev(a[i]);
    out[256 + i] = __popcll(b[i]);
    out[320 + i] = __clzll(b[i]);
    out[384 + i] = __ffsll(b[i]);
    out[448 + i] = __byte_perm(a[i], (unsigned)b[i], 0x2507);
    rev[i] = __brevll(b[i]);
}
