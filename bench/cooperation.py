"""Kernels whose threads cooperate, on the CPU device, beside the same algorithms written by hand in C.

cooperation.c has the C: the same blocks and threads, barriers as the ends of loops, OpenMP over the blocks, compiled
here with -O3 -march=native. Both take turns in one process, some calls each: OpenMP's threads go round for a while
after a call and would hold the cores that ours want. The minimum of all calls counts, results are compared.
A ratio of 1 means as fast as C.

    python bench/cooperation.py [--rounds 7] [--only matmul,scan] [--cc gcc]
"""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import gpu
import numpy as np

TILE, BLOCK, PATCH, ROWS, RADIUS, MOST = 16, 256, 32, 8, 4, 200
TURN, REST = 5, 0.02  # calls in a turn, seconds before it
syncthreads, threadIdx, blockIdx, shared = gpu.syncthreads, gpu.threadIdx, gpu.blockIdx, gpu.shared


@gpu.jit
def matmul(a, b, c):
    left = shared.array((TILE, TILE), np.float32)
    right = shared.array((TILE, TILE), np.float32)
    x, y = gpu.grid(2)
    tx, ty = threadIdx.x, threadIdx.y
    total = np.float32(0)
    for k in range(0, a.shape[1], TILE):
        left[ty, tx] = a[y, k + tx]
        right[ty, tx] = b[k + ty, x]
        syncthreads()
        for i in range(TILE):
            total += left[ty, i] * right[i, tx]
        syncthreads()
    c[y, x] = total


@gpu.jit
def reduction(x, sums):
    s = shared.array(BLOCK, np.float32)
    t, i = threadIdx.x, gpu.grid(1)
    s[t] = x[i] if i < x.size else np.float32(0)
    syncthreads()
    step = BLOCK // 2
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        syncthreads()
        step //= 2
    if t == 0:
        sums[blockIdx.x] = s[0]


@gpu.jit
def scan(x, out):
    s = shared.array((2, BLOCK), np.float32)
    t, i = threadIdx.x, gpu.grid(1)
    source = 0
    s[0, t] = x[i] if i < x.size else np.float32(0)
    syncthreads()
    step = 1
    while step < BLOCK:
        if t >= step:
            s[1 - source, t] = s[source, t] + s[source, t - step]
        else:
            s[1 - source, t] = s[source, t]
        source = 1 - source
        syncthreads()
        step *= 2
    if i < x.size:
        out[i] = s[source, t]


@gpu.jit
def histogram(pixels, bins):
    mine = shared.array(256, np.int32)
    t = threadIdx.x
    mine[t] = 0
    syncthreads()
    for i in range(gpu.grid(1), pixels.size, gpu.gridsize(1)):
        gpu.atomic.add(mine, pixels[i], 1)
    syncthreads()
    gpu.atomic.add(bins, t, mine[t])


@gpu.jit
def transpose(a, b):
    tile = shared.array((PATCH, PATCH + 1), np.float32)
    tx, ty = threadIdx.x, threadIdx.y
    x, y = blockIdx.x * PATCH + tx, blockIdx.y * PATCH + ty
    for j in range(0, PATCH, ROWS):
        tile[ty + j, tx] = a[y + j, x]
    syncthreads()
    x, y = blockIdx.y * PATCH + tx, blockIdx.x * PATCH + ty
    for j in range(0, PATCH, ROWS):
        b[y + j, x] = tile[tx, ty + j]


@gpu.jit
def bitonic(x):
    s = shared.array(BLOCK, np.float32)
    t, i = threadIdx.x, gpu.grid(1)
    s[t] = x[i]
    syncthreads()
    k = 2
    while k <= BLOCK:
        j = k // 2
        while j > 0:
            other = t ^ j
            if other > t and (s[t] > s[other]) == ((t & k) == 0):
                s[t], s[other] = s[other], s[t]
            syncthreads()
            j //= 2
        k *= 2
    x[i] = s[t]


@gpu.jit
def stencil(x, y):
    s = shared.array(BLOCK + 2 * RADIUS, np.float32)
    t, i = threadIdx.x, gpu.grid(1)
    s[t + RADIUS] = x[i] if i < x.size else np.float32(0)
    if t < RADIUS:
        s[t] = x[i - RADIUS] if i >= RADIUS else np.float32(0)
        s[t + RADIUS + BLOCK] = x[i + BLOCK] if i + BLOCK < x.size else np.float32(0)
    syncthreads()
    total = np.float32(0)
    for k in range(2 * RADIUS + 1):
        total += s[t + k]
    if i < x.size:
        y[i] = total


@gpu.jit
def shuffles(x, sums):
    i = gpu.grid(1)
    v = x[i]
    step = 16
    while step > 0:
        v += gpu.shfl_down_sync(0xFFFFFFFF, v, step)
        step //= 2
    if i % 32 == 0:
        sums[i // 32] = v


@gpu.jit
def naive(a, b, c):
    x, y = gpu.grid(2)
    if x < c.shape[1] and y < c.shape[0]:
        total = np.float32(0)
        for k in range(a.shape[1]):
            total += a[y, k] * b[k, x]
        c[y, x] = total


@gpu.jit
def mandelbrot(out):
    x, y = gpu.grid(2)
    n = out.shape[0]
    if x < n and y < n:
        cx, cy = np.float32(x) * np.float32(3 / n) - np.float32(2), np.float32(y) * np.float32(2 / n) - np.float32(1)
        zx = zy = np.float32(0)
        count = 0
        while count < MOST and zx * zx + zy * zy <= 4:
            zx, zy = zx * zx - zy * zy + cx, 2 * zx * zy + cy
            count += 1
        out[y, x] = count


@gpu.jit
def nbody(x, y, z, force):
    i = gpu.grid(1)
    if i < x.size:
        total = np.float32(0)
        for j in range(x.size):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            d = dx * dx + dy * dy + dz * dz + np.float32(0.01)
            total += dx / (d * np.sqrt(d))
        force[i] = total


class Row(NamedTuple):
    """A kernel with its launch. `ours` and `theirs` are the arguments; the last of each (`result`) is compared."""

    kernel: Callable
    grid: int | tuple[int, int]
    block: int | tuple[int, int]
    ours: list
    theirs: list
    result: int
    reset: bool = False  # the result is also an input: it starts anew for each call
    close: float = 1e-4


def rows() -> list[Row]:
    """All kernels at a size that takes milliseconds: more than a launch, less than memory's noise."""
    rng = np.random.default_rng(7)
    n, edge = 1 << 21, 512
    x = rng.random(n, np.float32)
    a, b = rng.random((edge, edge), np.float32), rng.random((edge, edge), np.float32)
    wide = rng.random((1024, 1024), np.float32)
    pixels = rng.integers(0, 256, 1 << 23, np.uint8)
    p = [rng.random(2048, np.float32) for _ in range(3)]

    def twice(shape: int | tuple[int, int], dtype: str = "f4") -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(shape, dtype), np.zeros(shape, dtype)

    def row(kernel, grid, block, given, out, *more, **options) -> Row:
        return Row(kernel, grid, block, [*given, out[0]], [*given, out[1], *more], len(given), **options)

    squares = edge // TILE
    sort = x[: 1 << 18].copy(), x[: 1 << 18].copy()
    return [
        row(matmul, (squares, squares), (TILE, TILE), [a, b], twice(a.shape), edge),
        row(reduction, n // BLOCK, BLOCK, [x], twice(n // BLOCK), n),
        row(scan, n // BLOCK, BLOCK, [x], twice(n), n),
        row(histogram, 64, BLOCK, [pixels], twice(256, "i4"), pixels.size, 64, reset=True),
        row(transpose, (32, 32), (PATCH, ROWS), [wide], twice(wide.shape), 1024),
        row(bitonic, sort[0].size // BLOCK, BLOCK, [], sort, sort[0].size, reset=True),
        row(stencil, n // BLOCK, BLOCK, [x], twice(n), n),
        row(shuffles, n // BLOCK, BLOCK, [x], twice(n // 32), n),
        row(naive, (edge // BLOCK, edge), BLOCK, [a, b], twice(a.shape), edge),
        row(mandelbrot, (2, 512), BLOCK, [], twice((512, 512), "i4"), 512, close=0.02),
        row(nbody, 2048 // BLOCK, BLOCK, p, twice(2048), 2048),
    ]


def library(cc: str, folder: str) -> ctypes.CDLL:
    """cooperation.c as a library."""
    path = Path(folder) / "cooperation.so"
    source = Path(__file__).with_suffix(".c")
    flags = ["-O3", "-march=native", "-fopenmp", "-std=c17", "-fno-math-errno", "-shared", "-fPIC"]
    subprocess.run([cc, *flags, source, "-o", path, "-lm"], check=True)
    return ctypes.CDLL(str(path))


def seconds(call: Callable[[], None]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def turn(call: Callable[[], None], out: np.ndarray, given: np.ndarray | None) -> float:
    """The quickest of some calls in a row, each with the values given in its output."""
    time.sleep(REST)
    best = float("inf")
    for _ in range(TURN):
        if given is not None:
            out[:] = given
        best = min(best, seconds(call))
    return best


def compare(row: Row, lib: ctypes.CDLL, rounds: int) -> tuple[float, float, float]:
    """Seconds of ours, of C, and of our first call with its compilation; ours is checked against C's result."""
    name = row.kernel.__name__
    args = [ctypes.c_void_p(v.ctypes.data) if isinstance(v, np.ndarray) else ctypes.c_int64(v) for v in row.theirs]
    outs = row.ours[row.result], row.theirs[row.result]
    given = tuple(o.copy() for o in outs) if row.reset else (None, None)
    launch = row.kernel[row.grid, row.block]
    ours = theirs = float("inf")
    first = seconds(lambda: launch(*row.ours))
    for _ in range(rounds):
        ours = min(ours, turn(lambda: launch(*row.ours), outs[0], given[0]))
        theirs = min(theirs, turn(lambda: getattr(lib, name)(*args), outs[1], given[1]))
    off = ~np.isclose(*outs, rtol=1e-3, atol=1e-6)
    if off.mean() > row.close:  # a rounding decides when a point of Mandelbrot's set escapes
        raise SystemExit(f"{name}: {off.sum()} of {off.size} elements differ from C")
    return ours, theirs, first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", help="names, separated by commas")
    parser.add_argument("--cc", default=os.environ.get("CC", "gcc"))
    options = parser.parse_args()
    only = options.only.split(",") if options.only else None
    print(f"{'':12}{'gpu':>12}{'C':>12}{'ratio':>8}{'first call':>14}")
    with tempfile.TemporaryDirectory() as folder, gpu.device("cpu"):
        lib = library(options.cc, folder)
        for row in rows():
            name = row.kernel.__name__
            if only and name not in only:
                continue
            ours, theirs, first = compare(row, lib, options.rounds)
            print(
                f"{name:12}{ours * 1e3:9.3f} ms{theirs * 1e3:9.3f} ms{ours / theirs:8.2f}{first * 1e3:11.1f} ms",
                flush=True,
            )


if __name__ == "__main__":
    main()
