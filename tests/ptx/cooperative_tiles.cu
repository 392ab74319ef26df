// Cooperative groups: tiles of 8 lanes, and lanes that came together.
/*
x = np.arange(64, dtype=np.int32)
out, size = np.zeros(64, np.int32), np.zeros(64, np.int32)
launch("k", 1, 64, out, size, x)
same(out, np.repeat(x.reshape(8, 8).sum(1), 8).astype(np.int32))
same(size, np.where(x % 3 == 0, np.repeat((x.reshape(2, 32) % 3 == 0).sum(1), 32), 0).astype(np.int32))
*/
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(int *out, int *size, const int *x) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int v = x[block.thread_rank()];
    for (int d = 4; d; d /= 2) v += tile.shfl_xor(v, d);
    out[block.thread_rank()] = v;
    block.sync();
    if (x[block.thread_rank()] % 3 == 0) {
        cg::coalesced_group together = cg::coalesced_threads();
        size[block.thread_rank()] = together.size();
    }
}
