"""Matrix multiplication in tiles: what a block reads into shared memory once serves a whole tile of results."""

import gpu
import numpy as np
from common import best_of, check, report, small

TILE = 16


@gpu.jit
def matmul(a, b, c):
    left = gpu.shared.array((TILE, TILE), np.float32)
    right = gpu.shared.array((TILE, TILE), np.float32)
    x, y = gpu.grid(2)
    tx, ty = gpu.threadIdx.x, gpu.threadIdx.y
    total = np.float32(0)
    for k in range(0, a.shape[1], TILE):
        left[ty, tx] = a[y, k + tx] if y < a.shape[0] and k + tx < a.shape[1] else 0
        right[ty, tx] = b[k + ty, x] if k + ty < b.shape[0] and x < b.shape[1] else 0
        gpu.syncthreads()  # both tiles are complete
        for i in range(TILE):
            total += left[ty, i] * right[i, tx]
        gpu.syncthreads()  # nobody reads them any more
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


def main() -> None:
    rows, inner, columns = (50, 40, 70) if small() else (1000, 900, 1100)
    random = np.random.default_rng(1)
    a, b = random.random((rows, inner), np.float32), random.random((inner, columns), np.float32)
    c = np.zeros((rows, columns), np.float32)
    grid = -(-columns // TILE), -(-rows // TILE)
    matmul[grid, (TILE, TILE)](a, b, c)
    kernel_s, _ = best_of(lambda: matmul[grid, (TILE, TILE)](a, b, c))
    numpy_s, want = best_of(lambda: a @ b)
    check("matmul", c, want, rtol=1e-5)
    report("matmul", f"{rows} x {inner} times {inner} x {columns}", kernel_s, numpy_s)


if __name__ == "__main__":
    main()
