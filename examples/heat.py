"""The 2-D heat equation by explicit finite differences: a hot disk cools, two buffers change places."""

import gpu
import numpy as np
from common import best_of, check, report, small

ALPHA = 0.2  # diffusivity * dt / dx**2; stable below 0.25


@gpu.jit(fma=False)
def step(old, new):
    x, y = gpu.grid(2)
    height, width = old.shape
    if x >= width or y >= height:
        return
    if x == 0 or y == 0 or x == width - 1 or y == height - 1:
        new[y, x] = old[y, x]
    else:
        around = old[y - 1, x] + old[y + 1, x] + old[y, x - 1] + old[y, x + 1]
        new[y, x] = old[y, x] + ALPHA * (around - 4.0 * old[y, x])


def step_numpy(old: np.ndarray) -> np.ndarray:
    """One step, the same operations in the same order."""
    new = old.copy()
    around = old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]
    new[1:-1, 1:-1] = old[1:-1, 1:-1] + ALPHA * (around - 4.0 * old[1:-1, 1:-1])
    return new


def disk(n: int) -> np.ndarray:
    """Temperatures at the start: 1 in a disk, 0 around it, shape (n, n), float64."""
    y, x = np.mgrid[:n, :n]
    return ((x - n / 2) ** 2 + (y - n / 2) ** 2 < (n / 5) ** 2).astype(np.float64)


def with_kernel(start: np.ndarray, steps: int) -> np.ndarray:
    """The field after `steps` steps."""
    a, b = start.copy(), np.empty_like(start)
    n = len(a)
    launch = step[(-(-n // 32), -(-n // 8)), (32, 8)]
    for _ in range(steps):
        launch(a, b)
        a, b = b, a
    return a


def with_numpy(start: np.ndarray, steps: int) -> np.ndarray:
    """The same with NumPy."""
    a = start
    for _ in range(steps):
        a = step_numpy(a)
    return a


def main() -> None:
    n, steps = (64, 20) if small() else (1024, 200)
    start = disk(n)
    with_kernel(start, 1)
    kernel_s, got = best_of(lambda: with_kernel(start, steps), repeat=1)
    numpy_s, want = best_of(lambda: with_numpy(start, steps), repeat=1)
    check("heat", got, want)
    report("heat", f"{steps} steps on {n} x {n}, centre now {got[n // 2, n // 2]:.6f}", kernel_s, numpy_s)


if __name__ == "__main__":
    main()
