"""What PTX must not contain: arithmetic of float64 that nobody asked for, divisions of indices one size away."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any

import golden
import gpu
import numpy as np
import pytest

FLOAT64 = re.compile(r"^\s*(?:@!?%p\d+\s+)?(\w[.\w]*\.f64[.\w]*)", re.MULTILINE)
# an argument that is a Python float is a float64 until it is rounded
ROUNDED = "cvt.rn.f32.f64"
# sines of large angles: the reduction ends in one product of float64
SINES = {"cvt.rn.f64.s64", "mul.rn.f64", ROUNDED}


def float64_of(kernel: Any, signature: str) -> set[str]:
    """The instructions of float64 in a kernel's PTX, but parameters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ptx = kernel.inspect("ptx", signature, arch="sm_90")
    return {name for name in FLOAT64.findall(ptx) if not name.startswith(("ld.param", "mov"))}


def of_float32(block: golden.Block) -> bool:
    """Whether a golden kernel's arguments are float32 or float16, and none is wider."""
    return bool(re.search(r"\bf[24]", block.signature)) and not re.search(r"f8|float64|c16|int64$", block.signature)


GOLDEN = {
    (path.stem, block.kernel, block.signature): block
    for path in sorted(golden.FOLDER.glob("*.py"))
    for block in golden.blocks(path)
    if block.kernel and block.signature and of_float32(block)
}


@pytest.mark.parametrize("block", GOLDEN.values(), ids=str)
def test_golden_kernels_of_float32_have_no_float64(block: golden.Block) -> None:
    allowed = SINES if "sin" in block.path.read_text() else {ROUNDED}
    assert float64_of(getattr(golden.load(block.path), block.kernel), block.signature) <= allowed


@gpu.jit
def scaled(x, y):
    i = gpu.grid(1)
    if i < x.size:
        y[i] = (x[i] * 0.5 + 1 - x[i] / 3) ** 2 + 2**0.5


@gpu.jit
def mean(x, y):
    total = 0.0
    for i in range(x.size):
        total += x[i]
    y[0] = total / x.size + math.exp(-total) + math.sqrt(total) * math.pi


@gpu.jit
def chosen(x, y):
    i = gpu.grid(1)
    if i < x.size:
        y[i] = max(x[i], 0.0) if x[i] > 1e-3 else min(x[i], 1) + abs(x[i]) % 2


@gpu.jit
def positions(x, y):
    """An index becomes a float32 where it meets one."""
    i = gpu.grid(1)
    if i < x.size:
        y[i] = x[i] * i + np.float32(i) / np.float32(x.size) + np.float32(0.5) ** 2


@gpu.jit
def sums(x, y):
    part = gpu.shared.array(256, np.float32)
    part[gpu.threadIdx.x] = x[gpu.grid(1)]
    gpu.syncthreads()
    y[gpu.blockIdx.x] = gpu.block.reduce(part[gpu.threadIdx.x]) / gpu.blockDim.x


@gpu.jit
def whole(x, y):
    i = gpu.grid(1)
    if i < x.shape[0]:
        v = x[i, :3] * 2.0 - 1
        y[i] = np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + 0.1


@pytest.mark.parametrize("kernel", [scaled, mean, chosen, positions, sums, whole], ids=lambda k: k.__name__)
def test_float32_stays_float32(kernel: Any) -> None:
    first = "f4[:, ::1]" if kernel is whole else "f4[::1]"
    assert not float64_of(kernel, f"{first}, f4[::1]")


@gpu.jit
def around(a, b):
    x, y = gpu.grid(2)
    height, width = a.shape
    if x < width and y < height:
        b[y, x] = a[(y + 1) % height, x] + a[y - 1, x] + a[y, (x - 1) % width]


def test_what_wraps_around_is_not_divided() -> None:
    ptx = around.inspect("ptx", "i4[:, ::1], i4[:, ::1]", arch="sm_90")
    assert not re.search(r"\b(rem|div)\.", ptx)
    assert ptx.count("min.u32") == 3


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (4, 3)])
def test_around(device: str, shape: tuple[int, int]) -> None:
    a = np.arange(shape[0] * shape[1], dtype=np.int32).reshape(shape)
    b = np.zeros_like(a)
    with gpu.device(device):
        around[1, (8, 8)](a, b)
    want = np.roll(a, -1, 0) + np.roll(a, 1, 0) + np.roll(a, 1, 1)
    np.testing.assert_array_equal(b, want)


@gpu.jit
def same_for_all(a, n, out):
    """The first thread of a vector doesn't divide; what the others divide doesn't differ between them."""
    x = gpu.grid(1)
    height, width = a.shape
    if 0 < x < width - 1:
        out[x] = a[a.size % height, a.size % width] + a[(x + n - 7) % height, 0] + (n + width) // height


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_divisions_behind_a_guard(device: str) -> None:
    a = np.arange(1, 29, dtype=np.int32).reshape(4, 7)
    out = np.zeros(7, np.int64)
    with gpu.device(device):
        same_for_all[1, 12](a, 3, out)
    assert out.tolist() == [0, *(1 + int(a[(x - 4) % 4, 0]) + 2 for x in range(1, 6)), 0]
