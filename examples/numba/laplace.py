"""Laplace's equation over a hole in a map: the heights of the Jacksboro fault, which Matplotlib ships, in part cut out.

Jacobi's method: each point becomes the mean of its neighbours until no point changes by more than a bound. An atomic
maximum in each block of threads finds the largest change.
"""

import sys

import numpy as np
from gpu import cuda
from matplotlib import cbook

TILE = 16


@cuda.jit
def jacobi(old, new, hole, change):
    largest = cuda.shared.array(1, np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if tx == 0 and ty == 0:
        largest[0] = 0.0
    cuda.syncthreads()

    x, y = cuda.grid(2)
    if 1 <= y < old.shape[0] - 1 and 1 <= x < old.shape[1] - 1 and hole[y, x]:
        value = 0.25 * (old[y - 1, x] + old[y + 1, x] + old[y, x - 1] + old[y, x + 1])
        new[y, x] = value
        cuda.atomic.max(largest, 0, abs(value - old[y, x]))
    cuda.syncthreads()
    if tx == 0 and ty == 0:
        cuda.atomic.max(change, 0, largest[0])


def solve(heights, hole, bound, most):
    """The heights with the hole filled in, and the number of iterations."""
    old = cuda.to_device(heights)
    new = cuda.to_device(heights)
    hole = cuda.to_device(hole)
    change = cuda.device_array(1, np.float32)
    blocks = (-(-heights.shape[1] // TILE), -(-heights.shape[0] // TILE))
    for iteration in range(1, most + 1):
        change.copy_to_device(np.zeros(1, np.float32))
        jacobi[blocks, (TILE, TILE)](old, new, hole, change)
        old, new = new, old
        if iteration % 50 == 0 and change.copy_to_host()[0] < bound:
            break
    return old.copy_to_host(), iteration


def with_numpy(heights, hole, iterations):
    """The same number of iterations."""
    a = heights.copy()
    for _ in range(iterations):
        mean = np.float32(0.25) * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a[1:-1, 1:-1] = np.where(hole[1:-1, 1:-1], mean, a[1:-1, 1:-1])
    return a


def main():
    with cbook.get_sample_data("jacksboro_fault_dem.npz") as file:
        heights = np.ascontiguousarray(file["elevation"], np.float32)
    if "--small" in sys.argv:
        heights = np.ascontiguousarray(heights[:80, :80])
    rows, columns = heights.shape
    y, x = np.mgrid[:rows, :columns]
    hole = ((y - rows / 2) / (rows / 4)) ** 2 + ((x - columns / 2) / (columns / 4)) ** 2 < 1
    damaged = np.where(hole, heights[~hole].mean(), heights).astype(np.float32)

    got, iterations = solve(damaged, hole, 0.01, 4000)
    want = with_numpy(damaged, hole, iterations)
    assert np.allclose(got, want, rtol=0, atol=0.05)
    off = float(np.abs(got - heights)[hole].mean())
    print(
        f"laplace: {int(hole.sum()):,} points of a map of {columns} x {rows} filled in by {iterations} iterations, "
        f"{off:.1f} m off on average; equals NumPy"
    )


if __name__ == "__main__":
    main()
