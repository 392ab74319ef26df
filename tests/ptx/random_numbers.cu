// Philox 4x32-10, and a xorshift with 64 bits.
/*
out, wide = np.zeros((64, 4), np.uint32), np.zeros(64, np.uint64)
launch("k", 1, 64, out, wide, np.uint32(0xdeadbeef), np.uint32(0x12345678))
def philox(c, k0, k1):
    for _ in range(10):
        p, q = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(q >> 32) ^ c[1] ^ k0, q & 0xffffffff, (p >> 32) ^ c[3] ^ k1, p & 0xffffffff]
        k0, k1 = (k0 + 0x9E3779B9) & 0xffffffff, (k1 + 0xBB67AE85) & 0xffffffff
    return c
same(out, np.array([philox([i, 0, 0, 0], 0xdeadbeef, 0x12345678) for i in range(64)], np.uint32))
def xorshift(s):
    for _ in range(5):
        s ^= s << 13 & 2**64 - 1
        s ^= s >> 7
        s ^= s << 17 & 2**64 - 1
    return s
same(wide, np.array([xorshift(i + 1) for i in range(64)], np.uint64))
*/
extern "C" __global__ void k(uint4 *out, unsigned long long *wide, unsigned k0, unsigned k1) {
    uint4 c = make_uint4(threadIdx.x, 0, 0, 0);
    for (int r = 0; r < 10; r++) {
        unsigned ph = __umulhi(c.x, 0xD2511F53u), pl = c.x * 0xD2511F53u, qh = __umulhi(c.z, 0xCD9E8D57u), ql = c.z * 0xCD9E8D57u;
        c = make_uint4(qh ^ c.y ^ k0, ql, ph ^ c.w ^ k1, pl);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[threadIdx.x] = c;
    unsigned long long s = threadIdx.x + 1;
    for (int r = 0; r < 5; r++) s ^= s << 13, s ^= s >> 7, s ^= s << 17;
    wide[threadIdx.x] = s;
}
