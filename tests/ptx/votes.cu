// all, any, ballot and uni, in whole and in part of a warp.
/*
x = np.arange(64, dtype=np.int32)
out = np.zeros((6, 64), np.uint32)
launch("k", 1, 64, out, x)
lane = np.arange(64) % 32
same(out[0], (np.arange(64) // 32 == 1).astype(np.uint32))
same(out[1], (np.arange(64) // 32 == 0).astype(np.uint32))
same(out[2], np.full(64, 0x55555555, np.uint32))
odd = lane % 2 == 1
same(out[3], np.where(odd, 0x88888888, 0x0).astype(np.uint32))
same(out[4], np.where(lane < 7, 0x7f, 0xffffff80).astype(np.uint32))
same(out[5], np.ones(64, np.uint32))
*/
extern "C" __global__ void k(unsigned *out, const int *x) {
    int i = threadIdx.x, lane = i % 32;
    out[i] = __all_sync(~0u, x[i] >= 32);
    out[64 + i] = __any_sync(~0u, x[i] == 20);
    out[128 + i] = __ballot_sync(~0u, x[i] % 2 == 0);
    if (lane % 2) out[192 + i] = __ballot_sync(0xaaaaaaaa, lane % 4 == 3);
    if (lane < 7) out[256 + i] = __activemask();
    else out[256 + i] = __activemask();
    int same;
    asm("{ .reg .pred p, q; setp.gt.s32 p, %1, -1; vote.sync.uni.pred q, p, -1; selp.s32 %0, 1, 0, q; }" : "=r"(same) : "r"(i));
    out[320 + i] = same;
}
