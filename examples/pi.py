"""Monte Carlo estimate of pi: points of a square that lie in the circle, each thread with random numbers of its own."""

import gpu
import numpy as np
from common import best_of, check, report, small
from gpu import random


@gpu.jit
def hits(states, n, total):
    i = gpu.grid(1)
    inside = 0
    for _ in range(n):
        x = random.xoroshiro128p_uniform_float32(states, i)
        y = random.xoroshiro128p_uniform_float32(states, i)
        inside += x * x + y * y <= 1
    found = gpu.block.reduce(inside)
    if gpu.threadIdx.x == 0:
        gpu.atomic.add(total, 0, found)


def with_numpy(n: int) -> float:
    """The estimate from `n` points."""
    generator = np.random.default_rng(1)
    x, y = generator.random(n, np.float32), generator.random(n, np.float32)
    return 4 * np.count_nonzero(x * x + y * y <= 1) / n


def main() -> None:
    blocks, threads, each = (4, 64, 500) if small() else (64, 256, 3000)
    n = blocks * threads * each
    states = random.create_xoroshiro128p_states(blocks * threads, seed=1)

    def estimate() -> float:
        total = np.zeros(1, np.int64)
        hits[blocks, threads](states, each, total)
        return float(4 * total[0] / n)

    estimate()
    kernel_s, got = best_of(estimate)
    numpy_s, want = best_of(lambda: with_numpy(n), repeat=1)
    deviation = np.sqrt(np.pi * (4 - np.pi) / n)  # of an estimate from n points
    check("pi", np.array([got, want]), np.pi, atol=5 * deviation)
    report("pi", f"{got:.5f} from {n} points", kernel_s, numpy_s, agrees="is as near as NumPy's")


if __name__ == "__main__":
    main()
