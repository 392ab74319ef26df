"""Loops in which a block's threads go over memory side by side: on the CPU they go round together.

The `python` device runs one thread after the other, and says what is right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gpu
import numpy as np
import pytest

pytestmark = pytest.mark.one_version

SIZES = [1, 97, 300]
LAUNCHES = [(1, 31), (2, 33), (1, 256), (2, (8, 5))]
SWEEPS: list[Callable[..., Any]] = []
OTHERS: list[Callable[..., Any]] = []


def sweep(f: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel (x, y, n): x float32[n], y float32[n]. It goes round together."""
    SWEEPS.append(gpu.jit(f, fma=False))
    return f


def other(f: Callable[..., Any]) -> Callable[..., Any]:
    """The same, but each thread goes round alone: something is in the way."""
    OTHERS.append(gpu.jit(f, fma=False))
    return f


def number() -> int:
    """The thread in the grid, all of it counted along x."""
    t = gpu.threadIdx.x + gpu.blockDim.x * gpu.threadIdx.y
    return t + gpu.blockIdx.x * gpu.blockDim.x * gpu.blockDim.y


def threads() -> int:
    """Of the whole grid."""
    return gpu.blockDim.x * gpu.blockDim.y * gpu.gridDim.x


@sweep
def all_elements(x, y, n):
    for i in range(number(), n, threads()):
        y[i] = y[i] * 2 + x[i]


@sweep
def while_not_above(x, y, n):
    i = number()
    while i <= n - 1:
        y[i] = y[i] * 2 + x[i]
        i += threads()


@sweep
def branches(x, y, n):
    i = number()
    while n > i:
        if x[i] > 0.5:
            y[i] += x[i]
        elif x[i] > 0.2:
            y[i] -= 1
        i = i + threads()


@sweep
def sums(x, y, n):
    total, indices = np.float32(0), 0
    for i in range(number(), n, threads()):
        total += x[i]
        indices += i
    if number() < n:
        y[number()] = total + indices


@sweep
def values_that_change_places(x, y, n):
    a, b = np.float32(0), np.float32(1)
    for i in range(number(), n, threads()):
        a, b = b, a + x[i]
        y[i] = a - b


@sweep
def histogram(x, y, n):
    bins = gpu.shared.array(16, np.int32)
    t, each = gpu.threadIdx.x + gpu.blockDim.x * gpu.threadIdx.y, gpu.blockDim.x * gpu.blockDim.y
    for b in range(t, 16, each):
        bins[b] = 0
    gpu.syncthreads()
    for i in range(number(), n, threads()):
        gpu.atomic.add(bins, int(x[i] * 16), 1)
    gpu.syncthreads()
    for b in range(t, min(16, n), each):
        gpu.atomic.add(y, b, np.float32(bins[b]))


@sweep
def backwards(x, y, n):
    for i in range(number(), n, threads()):
        y[n - 1 - i] += x[i]


@sweep
def every_other(x, y, n):
    for i in range(2 * number(), n - 1, 2 * threads()):
        y[i] += x[i + 1]
        y[i + 1] -= x[i]


@sweep
def several_times(x, y, n):
    for k in range(3):
        for i in range(number(), n, threads()):
            y[i] = y[i] * k + x[i]


@sweep
def leaps(x, y, n):
    total = np.float32(0)
    for k in range(4):
        i = number() + k * threads()
        if i < n:
            total += x[i]
    if number() < n:
        y[number()] = total


@sweep
def leaps_of_a_constant(x, y, n):
    total = np.float32(0)
    for k in range(3):
        i = number() + 256 * k
        if i < n:
            total += x[i]
            y[i] = total


@other
def short_steps(x, y, n):
    total = np.float32(0)
    for k in range(5):
        i = number() + k
        if i < n:
            total += x[i]
    if number() < n:
        y[number()] = total


@other
def some_have_left(x, y, n):
    if number() >= n - 3:
        return
    for i in range(number(), n, threads()):
        y[i] += 1


@other
def way_out(x, y, n):
    for i in range(number(), n, threads()):
        if x[i] > 0.9:
            break
        y[i] += x[i]


@other
def last_index(x, y, n):
    i = number()
    while i < n:
        y[i] = x[i]
        i += threads()
    if i - threads() >= 0:
        y[i - threads()] = i


@other
def own_steps(x, y, n):
    for i in range(number(), n, threads() * (1 + number() % 2)):
        gpu.atomic.add(y, i % n, np.float32(1))


def results(kernel: Callable[..., Any], device: str, n: int, launch: tuple[int, Any]) -> np.ndarray:
    x = (np.arange(n) * 37 % 64).astype("f4") / 64
    y = np.zeros(n, "f4")
    with gpu.device(device):
        kernel[launch](x, y, n)
    return y


@pytest.mark.parametrize("kernel", [*SWEEPS, *OTHERS], ids=lambda k: k.__name__)
def test_rounds_are_those_of_each_thread(kernel: Callable[..., Any]) -> None:
    for n in SIZES:
        for launch in LAUNCHES:
            want = results(kernel, "python", n, launch)
            np.testing.assert_array_equal(results(kernel, "cpu", n, launch), want, f"{n} elements, {launch}")


@pytest.mark.parametrize("kernel", [*SWEEPS, *OTHERS], ids=lambda k: k.__name__)
def test_who_goes_round_together(kernel: Callable[..., Any]) -> None:
    results(kernel, "cpu", 64, (1, 32))
    assert (".block(" in kernel.inspect("llvm")) == (kernel in SWEEPS)


def test_ends_of_the_type() -> None:
    """A counter that would pass the end of its type behind the last round does so in no thread."""

    @gpu.jit
    def k(y, first, last):
        for i in range(first + gpu.threadIdx.x, last, 32):
            y[i - first] += 1

    for first in (2**31 - 100, 2**63 - 1 - 100, 2**40):
        y = np.zeros(100, np.int32)
        with gpu.device("cpu"):
            k[1, 32](y, first, first + 100)
        assert (y == 1).all()
