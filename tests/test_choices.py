"""Indices that are others at an edge: vectors of threads take them to be chosen alike, until they are not.

The `python` device runs one thread after the other, and says what is right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gpu
import numpy as np
import pytest

pytestmark = pytest.mark.one_version

BLOCKS = [5, 33, 64, (16, 4)]
KERNELS: list[Callable[..., Any]] = []


def kernel(f: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel (x, y): x and y have a row for each thread along y and an element for each along x, more or less."""
    KERNELS.append(gpu.jit(f))
    return f


@kernel
def torus(x, y):
    i, j = gpu.grid(2)
    height, width = x.shape
    if i < width and j < height:
        right = i + 1 if i + 1 < width else 0
        down = j + 1 if j + 1 < height else 0
        y[j, i] = x[j - 1, i - 1] + x[j - 1, i] + x[j, right] + x[down, i - 1] + x[down, right]


@kernel
def clamped(x, y):
    i, j = gpu.grid(2)
    height, width = x.shape
    if i < width and j < height:
        left, right = max(i - 1, 0), min(i + 1, width - 1)
        y[j, i] = x[j, right] - x[j, left] if i % 5 else x[j, i]


@kernel
def other_end(x, y):
    i, j = gpu.grid(2)
    if i < x.shape[1] and j < x.shape[0]:
        k = i - 7
        y[j, i] = x[j, k] if k >= -x.shape[1] else 1


@kernel
def two_choices(x, y):
    i, j = gpu.grid(2)
    width = x.shape[1]
    if i < width and j < x.shape[0]:
        k = i + 3
        if k >= width:
            k -= width
        if k >= width:
            k -= width
        if k >= width:
            k -= width
        y[j, i] = x[j, k]


@kernel
def behind_a_store(x, y):
    i, j = gpu.grid(2)
    if i < x.shape[1] and j < x.shape[0]:
        y[j, i] = x[j, i]
        y[j, i] += x[j, i - 1]


@kernel
def in_a_loop(x, y):
    i, j = gpu.grid(2)
    if i < x.shape[1] and j < x.shape[0]:
        total = 0
        for k in range(3):
            total += x[j, i - k - 1 if i > k else k % x.shape[1]]
        y[j, i] = total


@kernel
def with_a_barrier(x, y):
    i, j = gpu.grid(2)
    row = gpu.shared.array(1024, np.int32)
    t = gpu.threadIdx.x + gpu.blockDim.x * gpu.threadIdx.y
    threads = gpu.blockDim.x * gpu.blockDim.y
    row[t] = t * 3
    gpu.syncthreads()
    after = t + 1 if t + 1 < threads else 0
    value = row[after] - row[t - 1 if t else threads - 1]
    gpu.syncthreads()
    row[t] = value
    gpu.syncthreads()
    if i < x.shape[1] and j < x.shape[0]:
        y[j, i] = row[t - 1 if t > 0 else 0] + x[j, i - 1]


def results(k: Callable[..., Any], device: str, block: Any, shape: tuple[int, int], dtype: str) -> np.ndarray:
    x = (np.arange(shape[0] * shape[1]) * 37 % 61).astype(dtype).reshape(shape)
    y = np.zeros(shape, dtype)
    with gpu.device(device):
        k[2, block](x, y)
    return y


@pytest.mark.parametrize("dtype", ["u1", "f8"])
@pytest.mark.parametrize("k", KERNELS, ids=lambda k: k.__name__)
def test_lanes_choose_for_themselves(k: Callable[..., Any], dtype: str) -> None:
    for block in BLOCKS:
        wide, high = block if isinstance(block, tuple) else (block, 1)
        for shape in {(high, 2 * wide), (high, max(1, 2 * wide - 3)), (1, 2)}:
            want = results(k, "python", block, shape, dtype)
            np.testing.assert_array_equal(results(k, "cpu", block, shape, dtype), want, f"{block}, {shape}")


def test_neighbours_are_loaded_together() -> None:
    k = KERNELS[0]
    results(k, "cpu", 64, (1, 128), "f4")
    assert "load <64 x float>" in k.inspect("llvm") or "load <16 x float>" in k.inspect("llvm")
