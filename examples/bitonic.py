"""Bitonic sort: pairs at a distance are put in order; distances within a block's part stay in shared memory."""

import gpu
import numpy as np
from common import best_of, check, report, small

PART = 1024  # of a block, which has half as many threads


@gpu.jit(device=True)
def in_order(x, i, distance, run):
    """Puts x[i] and its partner in the order that their run wants: upwards in every other one."""
    partner = i + distance
    if (x[i] > x[partner]) == ((i & run) == 0):
        x[i], x[partner] = x[partner], x[i]


@gpu.jit(device=True)
def lower(t, distance):
    """The lower element of pair number t."""
    return t + (t & -distance)


@gpu.jit
def far(x, distance, run):
    in_order(x, lower(gpu.grid(1), distance), distance, run)


@gpu.jit
def near(x, first, last):
    """All distances below PART of the runs first, 2 * first ... last."""
    part = gpu.shared.array(PART, np.float32)
    t, start = gpu.threadIdx.x, PART * gpu.blockIdx.x
    for k in range(t, PART, PART // 2):
        part[k] = x[start + k]
    run = first
    while run <= last:
        distance = min(run, PART) // 2
        while distance:
            gpu.syncthreads()
            i = lower(t, distance)
            if (part[i] > part[i + distance]) == ((start + i & run) == 0):
                part[i], part[i + distance] = part[i + distance], part[i]
            distance //= 2
        run *= 2
    gpu.syncthreads()
    for k in range(t, PART, PART // 2):
        x[start + k] = part[k]


def sort(x: gpu.Array) -> None:
    """Sort in place; the size is a power of 2, at least PART."""
    blocks, run = x.size // PART, 2 * PART
    near[blocks, PART // 2](x, 2, PART)
    while run <= x.size:
        distance = run // 2
        while distance >= PART:
            far[blocks, PART // 2](x, distance, run)
            distance //= 2
        near[blocks, PART // 2](x, run, run)
        run *= 2


def main() -> None:
    n = 1 << (12 if small() else 21)
    numbers = np.random.default_rng(1).standard_normal(n, np.float32)

    def with_kernels() -> gpu.Array:
        x = gpu.array(numbers)
        sort(x)
        gpu.synchronize()
        return x

    with_kernels()
    kernel_s, got = best_of(with_kernels)
    numpy_s, want = best_of(lambda: np.sort(numbers))
    check("bitonic", got.copy_to_host(), want)
    report("bitonic", f"{n} numbers sorted", kernel_s, numpy_s)


if __name__ == "__main__":
    main()
