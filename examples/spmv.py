"""A sparse matrix times a vector: a warp adds up each row, its lanes side by side in memory."""

import gpu
import numpy as np
from common import best_of, check, report, small

WARPS = 8  # of a block


@gpu.jit
def spmv(starts, columns, values, x, y):
    row = WARPS * gpu.blockIdx.x + gpu.threadIdx.y
    total = 0.0
    if row < y.size:
        for k in range(starts[row] + gpu.threadIdx.x, starts[row + 1], 32):
            total += values[k] * x[columns[k]]
    total = gpu.warp.reduce(total)
    if row < y.size and gpu.threadIdx.x == 0:
        y[row] = total


def web(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A matrix like one of links between pages: few pages have many, most have few. As (starts, columns, values)."""
    random = np.random.default_rng(1)
    lengths = np.minimum(random.zipf(1.6, n), n // 4)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return starts, random.integers(0, n, starts[-1], np.int32), random.random(starts[-1])


def main() -> None:
    n = 500 if small() else 200_000
    starts, columns, values = web(n)
    x, y = np.random.default_rng(2).random(n), np.zeros(n)
    launch = spmv[-(-n // WARPS), (32, WARPS)]
    launch(starts, columns, values, x, y)
    kernel_s, _ = best_of(lambda: launch(starts, columns, values, x, y))
    numpy_s, want = best_of(lambda: np.add.reduceat(values * x[columns], starts[:-1]))
    check("spmv", y, want, rtol=1e-12)
    report("spmv", f"{n} rows, {len(values)} elements, {np.diff(starts).max()} in the longest row", kernel_s, numpy_s)


if __name__ == "__main__":
    main()
