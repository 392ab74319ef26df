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


@pytest.mark.parametrize("align", [None, 1, 2, 16, 32, 256, 1024])
def test_arrays_begin_at_multiples_of_their_alignment(align: int | None) -> None:
    @cuda.jit
    def kernel(of_shared, of_own, sums):
        i = cuda.grid(1)
        byte = cuda.shared.array(1, np.uint8)
        shared = cuda.shared.array((3, 64), np.int32, alignment=align)
        own = cuda.local.array((2, 3), np.int16, alignment=align)
        byte[0] = 1
        for k in range(3):
            own[i % 2, k] = shared[k, i] = i * k
        of_shared[i] = shared.ctypes.data
        of_own[i] = own.ctypes.data
        sums[i] = own[i % 2, 2] + shared[1, i]

    of_shared, of_own, sums = (np.zeros(64, np.uint64) for _ in range(3))
    for name in DEVICES[1:]:
        with gpu.device(name):
            kernel[1, 64](of_shared, of_own, sums)
        assert not np.any(of_shared % (align or 4)) and not np.any(of_own % (align or 2))
        assert len(set(of_shared)) == 1
        assert sums.tolist() == [3 * i for i in range(64)]


def test_dynamic_shared_memory_begins_at_its_alignment() -> None:
    @cuda.jit
    def kernel(out):
        static = cuda.shared.array(3, np.uint8)
        dynamic = cuda.shared.array(0, np.uint8, alignment=256)
        static[2] = 1
        dynamic[dynamic.size - 1] = 2
        out[0] = dynamic.ctypes.data % 256
        out[1] = static[2] + dynamic[dynamic.size - 1]
        out[2] = dynamic.size

    out = np.zeros(3, np.int64)
    for name in DEVICES[1:]:
        with gpu.device(name):
            kernel[1, 1, 0, 500](out)
        assert out.tolist() == [0, 3, 500]


def test_the_address_of_an_array_is_a_number(device: str) -> None:
    @gpu.jit
    def kernel(x, out):
        i = gpu.grid(1)
        if i < len(x):
            out[0, i] = x[i:].ctypes.data - x.ctypes.data
            out[1, i] = x.T.ctypes.data % 8
            out[2, i] = x[::-1][i:].ctypes.data - x.ctypes.data

    x, out = np.arange(20.0), np.ones((3, 20), np.int64)
    kernel[1, 32](x, out)
    np.testing.assert_array_equal(out, [np.arange(20) * 8, np.zeros(20), 8 * np.arange(20)[::-1]])


@pytest.mark.parametrize(("align", "kind"), [(0, ValueError), (-4, ValueError), (2048, ValueError), (1.0, TypeError)])
def test_other_alignments_are_refused(align: Any, kind: type) -> None:
    @cuda.jit
    def kernel(x):
        x[0] = cuda.local.array(4, np.float64, alignment=align)[0]

    with pytest.raises(gpu.TypingError, match=r"Alignment must be|alignment must be a constant integer") as raised:
        kernel[1, 1](np.zeros(1))
    assert isinstance(raised.value, ValueError) == (kind is ValueError)
