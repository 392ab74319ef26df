// Shifts of 32 and 64 bits, arithmetic and logical, by variable amounts; funnel shifts.
/*
rng = np.random.default_rng(4)
a = rng.integers(-2**31, 2**31, 64, np.int32)
b = rng.integers(-2**63, 2**63, 64, np.int64)
n = np.arange(64, dtype=np.int32)
out, wide, funnel = np.zeros((3, 64), np.int32), np.zeros((3, 64), np.int64), np.zeros((4, 64), np.uint32)
launch("k", 1, 64, out, wide, funnel, a, b, n)
m = n % 32
same(out[0], a << m)
same(out[1], a >> m)
same(out[2], (a.view(np.uint32) >> m.view(np.uint32)).view(np.int32))
same(wide[0], b << n.astype(np.int64))
same(wide[1], b >> n.astype(np.int64))
same(wide[2], (b.view(np.uint64) >> n.astype(np.uint64)).view(np.int64))
pair = [(int(x) % 2**32 << 32) | (int(y) % 2**32) for x, y in zip(a, b)]   # high a, low b
same(funnel[0], np.array([(p << int(s % 32)) >> 32 & 0xffffffff for p, s in zip(pair, n)], np.uint32))
same(funnel[1], np.array([(p >> int(s % 32)) & 0xffffffff for p, s in zip(pair, n)], np.uint32))
same(funnel[2], np.array([(p << min(int(s), 32)) >> 32 & 0xffffffff for p, s in zip(pair, n)], np.uint32))
same(funnel[3], np.array([(p >> min(int(s), 32)) & 0xffffffff for p, s in zip(pair, n)], np.uint32))
*/
extern "C" __global__ void k(int *out, long long *wide, unsigned *funnel, const int *a, const long long *b, const int *n) {
    int i = threadIdx.x, s = n[i] & 31;
    out[i] = a[i] << s;
    out[64 + i] = a[i] >> s;
    out[128 + i] = (unsigned)a[i] >> s;
    wide[i] = b[i] << n[i];
    wide[64 + i] = b[i] >> n[i];
    wide[128 + i] = (unsigned long long)b[i] >> n[i];
    funnel[i] = __funnelshift_l((unsigned)b[i], a[i], n[i]);
    funnel[64 + i] = __funnelshift_r((unsigned)b[i], a[i], n[i]);
    funnel[128 + i] = __funnelshift_lc((unsigned)b[i], a[i], n[i]);
    funnel[192 + i] = __funnelshift_rc((unsigned)b[i], a[i], n[i]);
}
