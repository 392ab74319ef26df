"""`from gpu import cuda`: Numba's names and typing rules (NBEP 1) through the same compiler."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from gpu import cuda


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit("void(float32[:], float32[:])")
def with_a_signature(a, out):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if i < out.shape[0]:
        out[i] = math.sqrt(a[i])


@cuda.jit(device=True)
def square(x):
    return x * x


@cuda.jit
def grid_stride(a, out):
    start, step = cuda.grid(1), cuda.gridsize(1)
    for i in range(start, a.size, step):
        out[i] = square(a[i])


def test_vector_add_after_changing_the_import() -> None:
    a, b, out = np.arange(100.0), np.ones(100), np.zeros(100)
    add[4, 32](a, b, out)
    assert out.tolist() == (a + b).tolist()


def test_device_arrays() -> None:
    a = np.arange(50, dtype=np.float32)
    d_a = cuda.to_device(a)
    d_out = cuda.device_array(50, np.float32)
    with_a_signature[2, 32](d_a, d_out)
    cuda.synchronize()
    assert np.array_equal(d_out.copy_to_host(), np.sqrt(a))
    back = np.zeros_like(a)
    d_out.copy_to_host(back)
    assert np.array_equal(back, np.sqrt(a))


def test_to_device_copies() -> None:
    a = np.zeros(4)
    d = cuda.to_device(a)
    add[1, 4](d, np.ones(4), d)
    assert a.sum() == 0 and d.copy_to_host().sum() == 4


def test_ranges_of_floats_truncate() -> None:
    @cuda.jit
    def count(x, out):
        for i in range(math.ceil(x) + 1):  # math.ceil of a float is a float
            out[0] += i

    out = np.zeros(1, np.int64)
    count[1, 1](3.2, out)
    assert out[0] == 0 + 1 + 2 + 3 + 4


def test_the_larger_of_two_floats_is_a_number() -> None:
    @cuda.jit
    def larger(x, d, out):
        out[0] = max(x[0], x[1])
        out[1] = max(x[0], 0.0)  # float32 with float64, C's fmax too
        out[2] = min(d[0], x[0])
        out[3] = max(x[0], 1)  # of a float and an integer, of three, and of a tuple it is Python's
        out[4] = max(x[0], x[1], 2.0)
        out[5] = max((x[1], x[0]))
        out[6] = math.copysign(1.0, max(d[1], -d[1]))

    out = np.zeros(7)
    larger[1, 1](np.array([math.nan, 5], np.float32), np.array([-3.0, -0.0]), out)
    assert np.array_equal(out, [5, 0, -3, math.nan, math.nan, 5, 1], equal_nan=True)


def test_grid_stride_and_device_function() -> None:
    a, out = np.arange(100, dtype=np.int32), np.zeros(100, np.int32)
    grid_stride[2, 8](a, out)
    assert out.tolist() == (a * a).tolist()


def result_type(text: str, *args: Any) -> Any:
    """Type and value of an expression of x and y in the Numba dialect."""
    scope: dict[str, Any] = {"math": math, "np": np}
    exec(f"def f(x, y):\n    return {text}\n", scope)
    return cuda.jit(device=True)(scope["f"])(*args)


@pytest.mark.parametrize(
    ("text", "x", "y", "want"),
    [
        ("x * y", np.int32(70000), np.int32(70000), np.int64(4900000000)),
        ("x + y", np.int8(100), np.int8(100), np.int64(200)),
        ("x + y", np.uint8(200), np.uint8(100), np.uint64(300)),
        ("x - y", np.uint32(1), np.int32(2), np.int64(-1)),
        ("-x", np.uint8(28), None, np.uint64(228)),
        ("~x", np.uint16(3), None, np.uint64(65532)),
        ("-x", np.int8(-128), None, np.int64(-128)),
        ("x + 1", np.int16(32767), 0, np.int64(32768)),
        ("x / y", np.int32(7), np.int32(2), np.float64(3.5)),
        ("x // y", np.int32(-7), np.int32(2), np.int64(-4)),
        ("x % y", np.int32(-7), np.int32(3), np.int64(2)),
        ("x * 0.5", np.float32(3), 0, np.float64(1.5)),
        ("x * y", np.float32(3), np.float32(0.5), np.float32(1.5)),
        ("x + y", np.float32(1), np.int32(2), np.float64(3)),
        ("x + y", np.bool_(True), np.bool_(True), np.int64(2)),
        ("math.sqrt(x)", np.float32(4), 0, np.float32(2)),
        ("math.sqrt(x)", np.int32(4), 0, np.float64(2)),
        ("-x", np.int32(-5), 0, np.int64(5)),
        ("x << y", np.int32(1), np.int32(40), np.int64(1 << 40)),
        ("x & y", np.int32(6), np.int32(3), np.int64(2)),
        ("x < y", np.uint64(2**63), np.int64(-1), np.bool_(False)),
    ],
)
def test_types(text: str, x: Any, y: Any, want: Any) -> None:
    got = result_type(text, x, y)
    assert got == want
    assert np.asarray(got).dtype == np.asarray(want).dtype


def test_inner_functions_have_defaults() -> None:
    @cuda.jit
    def kernel(out):
        def shifted(x, by=2, *, times=3, plus=out[1]):
            return (x + by) * times + plus

        out[0] = shifted(5) + shifted(1, times=1)

    out = np.array([0.0, 0.5])
    kernel[1, 1](out)
    assert out[0] == 21.5 + 3.5


def test_variables_unify() -> None:
    @cuda.jit
    def kernel(out, a):
        acc = 0
        for i in range(a.size):
            acc += a[i] * 0.5
        out[0] = acc

    out = np.zeros(1)
    kernel[1, 1](out, np.array([1.5, 2.25]))
    assert out[0] == 1.875


def test_forall_and_configurations() -> None:
    out = np.zeros(1000)
    add.forall(1000)(np.ones(1000), np.ones(1000), out)
    assert (out == 2).all()
    stream = cuda.stream()
    add[8, 128, stream](np.ones(1000), np.ones(1000), out)
    stream.synchronize()
    assert (out == 2).all()


def test_integers_as_flags() -> None:
    @cuda.jit("void(int32[:], boolean)")
    def store(out, flag):
        out[0] = 7 if flag else 3

    out = np.zeros(1, np.int32)
    for flag, want in ((1, 7), (0, 3), (256, 7), (-(2**32), 7), (np.uint8(1), 7), (np.bool_(False), 3), (True, 7)):
        store[1, 1](out, flag)
        assert out[0] == want, flag
    for flag in (1.0, np.float32(1), 1j):
        with pytest.raises(TypeError, match="bool by the signature"):
            store[1, 1](out, flag)


def test_an_array_without_axes_is_an_index() -> None:
    @cuda.jit
    def pick(out, rows, i, j):
        out[0] = rows[i][j]
        out[j] = rows[i, 0]

    out, rows = np.zeros(3), np.arange(6.0).reshape(2, 3)
    pick[1, 1](out, rows, np.array(-1), np.array(2, np.uint8))
    assert out.tolist() == [5, 0, 3]
