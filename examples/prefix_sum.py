"""Prefix sum of 10^8 numbers in one launch, by decoupled look-back (Merrill and Garland).

Each block adds up its part and publishes the sum. Then it looks back over the blocks before it, which have started
already: it adds sums until it finds a block that knows its whole prefix, and publishes its own.
"""

import gpu
import numpy as np
from common import best_of, check, report, small

THREADS, ITEMS = 160, 8  # a block's part, 1280, divides 10^8
SUM, PREFIX = 1 << 32, 2 << 32  # what the low half of a block's state is


@gpu.jit
def prefix_sum(x, out, state):
    b, t = gpu.blockIdx.x, gpu.threadIdx.x
    start = gpu.shared.array(1, np.int32)
    items = gpu.load(x, ITEMS * gpu.grid(1), width=ITEMS)
    before = gpu.block.scan(sum(items), exclusive=True)
    if t == THREADS - 1:
        mine = np.uint32(before + sum(items))
        prefix = np.uint32(0)
        gpu.atomic.store(state, b, np.uint64(mine) | (SUM if b else PREFIX))
        look = b - 1
        while look >= 0:
            seen = gpu.atomic.load(state, look)
            prefix += np.uint32(seen)  # 0 if it isn't known yet: then look again
            if seen >= PREFIX:
                break
            look -= seen != 0
        gpu.atomic.store(state, b, np.uint64(prefix + mine) | PREFIX)
        start[0] = prefix
    gpu.syncthreads()
    total = start[0] + before
    for k in range(ITEMS):
        total += items[k]
        out[ITEMS * gpu.grid(1) + k] = total


def main() -> None:
    blocks = 50 if small() else 10**8 // (THREADS * ITEMS)
    x = np.random.default_rng(1).integers(-100, 100, blocks * THREADS * ITEMS, np.int32)
    out = np.zeros_like(x)

    def with_kernel() -> None:
        prefix_sum[blocks, THREADS](x, out, np.zeros(blocks, np.uint64))

    with_kernel()
    kernel_s, _ = best_of(with_kernel)
    numpy_s, want = best_of(lambda: np.cumsum(x, dtype=np.int32))
    check("prefix_sum", out, want)
    report("prefix_sum", f"{x.size} numbers in one launch of {blocks} blocks", kernel_s, numpy_s)


if __name__ == "__main__":
    main()
