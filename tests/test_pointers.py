"""Addresses as arguments of kernels: Numba's CPointer."""

from __future__ import annotations

from typing import Any

import gpu
import numpy as np
import pytest
from gpu import cuda, types

DEVICES = ["python", "cpu", "emulated"]


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> Any:
    with gpu.device(request.param):
        yield request.param


def address_of(x: Any) -> int:
    return int(x.gpu_data.device_pointer)


def test_elements(device: str) -> None:
    @cuda.jit(types.void(types.CPointer(types.float32), types.int32, types.CPointer(types.uint8), types.int32))
    def kernel(r, a, x, n):
        i = cuda.grid(1)
        if i < n:
            r[i] += a * x[i]
            r[i - n] = r[i]
            x[i] += 1

    r, x = cuda.to_device(np.arange(16, dtype=np.float32)), cuda.to_device(np.arange(8, dtype=np.uint8))
    kernel[1, 32](address_of(r[8:]), 3, address_of(x), 8)
    expected = np.arange(8, 16) + 3 * np.arange(8)
    np.testing.assert_array_equal(r.copy_to_host(), [*expected, *expected])
    np.testing.assert_array_equal(x.copy_to_host(), np.arange(1, 9))


@pytest.mark.parametrize("function, order", [(gpu.carray, "C"), (gpu.farray, "F")])
def test_arrays_of_addresses(function: Any, order: str, device: str) -> None:
    @cuda.jit("void(CPointer(float64), int64, float64[:])")
    def kernel(p, rows, sums):
        x = function(p, (rows, 3), dtype=np.float64)
        i = cuda.grid(1)
        if i < x.shape[0]:
            x[i, 1] *= 10
            sums[i] = x[i].sum()

    x, sums = cuda.to_device(np.arange(12.0)), np.zeros(4)
    kernel[1, 8](address_of(x), 4, sums)
    expected = np.arange(12.0).reshape((4, 3), order=order)
    expected[:, 1] *= 10
    np.testing.assert_array_equal(x.copy_to_host(), expected.ravel(order))
    np.testing.assert_array_equal(sums, expected.sum(1))


def test_device_functions_and_branches(device: str) -> None:
    @cuda.jit
    def total(p, n):
        s = 0
        for k in range(n):
            s += p[k]
        return s

    @cuda.jit(types.void(types.CPointer(types.int64), types.CPointer(types.int64), types.CPointer(types.int64)))
    def kernel(p, q, out):
        i = cuda.grid(1)
        chosen = p if i % 2 else q
        out[i] = total(chosen, 4)

    p, q, out = (cuda.to_device(np.arange(4) + k) for k in (0, 10, 0))
    kernel[1, 4](address_of(p), address_of(q), address_of(out))
    assert out.copy_to_host().tolist() == [46, 6, 46, 6]


def test_pointers_may_meet(device: str) -> None:
    @cuda.jit(types.void(types.CPointer(types.int64), types.int64[::1]))
    def kernel(p, x):
        s = 0
        for k in range(3):
            p[k] = k + 1
            s += x[k]
        x[3] = s

    x = cuda.to_device(np.zeros(4, np.int64))
    kernel[1, 1](address_of(x), x)
    assert x.copy_to_host().tolist() == [1, 2, 3, 6]


def test_mistakes() -> None:
    @cuda.jit(types.void(types.CPointer(types.int64)))
    def kernel(p):
        p[0] = 1

    with gpu.device("cpu"):
        with pytest.raises(TypeError, match=r"int64\*"):
            kernel[1, 1](1.5)
        with pytest.raises(TypeError, match=r"int64\*"):
            kernel[1, 1](np.zeros(3, np.int64))
        with pytest.raises(gpu.TypingError, match="carray"):
            cuda.jit(types.void(types.CPointer(types.int64)))(lambda p: p[:2].fill(0))
