"""Conway's Game of Life on a torus: negative indices wrap around as in Python."""

import gpu
import numpy as np
from common import best_of, check, report, small


@gpu.jit
def generation(old, new):
    x, y = gpu.grid(2)
    height, width = old.shape
    if x < width and y < height:
        up, left = y - 1, x - 1  # -1 is the last row, the last column
        down = y + 1 if y + 1 < height else 0
        right = x + 1 if x + 1 < width else 0
        alive = old[up, left] + old[up, x] + old[up, right] + old[y, left]
        alive += old[y, right] + old[down, left] + old[down, x] + old[down, right]
        new[y, x] = alive == 3 or (alive == 2 and old[y, x] == 1)


def generation_numpy(old: np.ndarray) -> np.ndarray:
    """The next generation, uint8 zeros and ones."""
    alive = sum(np.roll(old, (dy, dx), (0, 1)) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx)
    return ((alive == 3) | ((alive == 2) & (old == 1))).astype(np.uint8)


def with_kernel(start: np.ndarray, generations: int) -> np.ndarray:
    """The board after `generations`."""
    a, b = start.copy(), np.empty_like(start)
    height, width = a.shape
    launch = generation[(-(-width // 32), -(-height // 8)), (32, 8)]
    for _ in range(generations):
        launch(a, b)
        a, b = b, a
    return a


def with_numpy(start: np.ndarray, generations: int) -> np.ndarray:
    """The same with NumPy."""
    a = start
    for _ in range(generations):
        a = generation_numpy(a)
    return a


def main() -> None:
    n, generations = (64, 10) if small() else (1000, 100)
    start = np.random.default_rng(4).integers(0, 2, (n, n), dtype=np.uint8)
    with_kernel(start, 1)
    kernel_s, got = best_of(lambda: with_kernel(start, generations), repeat=1)
    numpy_s, want = best_of(lambda: with_numpy(start, generations), repeat=1)
    check("life", got, want)
    report("life", f"{generations} generations of {n} x {n}, {int(got.sum()):,} cells alive", kernel_s, numpy_s)


if __name__ == "__main__":
    main()
