"""`gpu.guvectorize`: layouts, broadcasting of the other axes, outputs, and what NumPy says of mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gpu
import numpy as np
import pytest


@pytest.fixture(params=["cpu", "emulated", "python"], autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with gpu.device(request.param):
        yield request.param


@gpu.guvectorize(["void(f4[:,:], f4[:,:], f4[:,:])", "void(f8[:,:], f8[:,:], f8[:,:])"], "(m,n),(n,p)->(m,p)")
def product(a: Any, b: Any, out: Any) -> None:
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = a[i, 0] * b[0, j]
            for k in range(1, a.shape[1]):
                total += a[i, k] * b[k, j]
            out[i, j] = total


@gpu.guvectorize("void(i4[:], i4[:], f8[:])", "(n)->(),()")
def sum_and_mean(x: Any, total: Any, mean: Any) -> None:
    total[0] = 0
    for i in range(len(x)):
        total[0] += x[i]
    mean[0] = total[0] / len(x)


@gpu.guvectorize("(n),()->(n)")
def scaled(x: Any, factor: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = x[i] * factor


@gpu.guvectorize(["void(f8[:], f8[:], f8[:])"], "(3),(3)->(3)")
def cross(a: Any, b: Any, out: Any) -> None:
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        out[i] = a[j] * b[k] - a[k] * b[j]


@pytest.mark.parametrize("left", [(2, 3), (5, 2, 3), (4, 1, 2, 3), (4, 5, 2, 3)], ids=str)
@pytest.mark.parametrize("right", [(3, 4), (5, 3, 4)], ids=str)
def test_broadcasting(left: Any, right: Any) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.random(left), rng.random(right)
    np.testing.assert_allclose(product(a, b), a @ b)
    np.testing.assert_allclose(product(a[..., ::-1], b), a[..., ::-1] @ b)
    narrow = product(a.astype("f4"), b.astype("f4"))
    assert narrow.dtype == np.float32
    assert product(a.astype("f4"), b).dtype == np.float64


def test_strides() -> None:
    a = np.arange(60.0).reshape(5, 4, 3).transpose(2, 0, 1)[::-1]
    b = np.asfortranarray(np.arange(20.0).reshape(4, 5))[:, ::2]
    np.testing.assert_array_equal(product(a, b), a @ b)


def test_several_outputs_and_no_elements() -> None:
    x = np.arange(12, dtype=np.int32).reshape(4, 3)
    total, mean = sum_and_mean(x)
    assert (total.dtype, mean.dtype) == (np.int32, np.float64)
    np.testing.assert_array_equal(total, x.sum(1))
    np.testing.assert_array_equal(mean, x.mean(1))
    one, middle = sum_and_mean(x[0])
    assert one == 3 and middle == 1
    assert sum_and_mean(x[:0])[0].shape == (0,)


def test_without_types(device: str) -> None:
    x = np.arange(6, dtype=np.int16).reshape(2, 3)
    out = np.zeros((2, 3), np.float32)
    assert scaled(x, np.array([2.0, 0.5]), out=out) is out
    np.testing.assert_array_equal(out, x * [[2.0], [0.5]])
    if device != "python":
        on_device = gpu.zeros((2, 3), "f4")
        assert scaled(gpu.array(x), 3, on_device) is on_device
        np.testing.assert_array_equal(on_device.copy_to_host(), x * 3)
        np.testing.assert_array_equal(product(gpu.ones((2, 3)), np.ones((3, 2))).copy_to_host(), np.full((2, 2), 3))
    with pytest.raises(TypeError, match="declared without types, so nothing says the type of its result: give out="):
        scaled(x, 2)


def test_fixed_lengths() -> None:
    a = np.random.default_rng(2).random((4, 3))
    np.testing.assert_allclose(cross(a, a[::-1]), np.cross(a, a[::-1]))
    with pytest.raises(ValueError, match=r"mismatch in its core dimension 0.*size 2 is different from 3"):
        cross(a[:, :2], a)


def test_output_over_an_argument() -> None:
    @gpu.guvectorize(["void(f8[:], f8[:])"], "(n)->(n)")
    def backwards(x: Any, out: Any) -> None:
        for i in range(len(x)):
            out[i] = x[len(x) - 1 - i]

    x = np.arange(6.0).reshape(2, 3)
    backwards(x, out=x)
    np.testing.assert_array_equal(x, [[2, 1, 0], [5, 4, 3]])


def declared(signature: str) -> Any:
    return gpu.guvectorize(signature, "(n)->(n)")(lambda x, y: None)


A = np.ones((2, 3))
MISTAKES = {
    "count": (lambda: product(A), TypeError, "accepts 2 positional .* or 3 positional .* Got 1 positional argument."),
    "lengths": (lambda: product(A, A), ValueError, r"operand 1 has a mismatch in its core dimension 0, with gufunc"),
    "dimensions": (lambda: product(A, A[0]), ValueError, r"does not have enough dimensions \(has 1, gufunc core"),
    "types": (lambda: product(A + 1j, A.T), TypeError, "no signature takes .complex128, float64. safely: there are"),
    "out's shape": (lambda: product(A, A.T, out=np.ones((3, 3))), ValueError, "mismatch in its core dimension"),
    "out twice": (lambda: product(A, A.T, A, out=A), ValueError, "cannot specify argument 'out' as both"),
    "loops": (lambda: product(np.ones((2, 2, 3)), np.ones((3, 3, 2))), ValueError, "could not be broadcast together"),
    "layout": (lambda: gpu.guvectorize("(n)->n"), gpu.SignatureError, "a layout is written"),
    "result": (lambda: declared("i4(i4[:], i4[:])"), TypeError, "cannot return values"),
    "parameters": (
        lambda: gpu.guvectorize("(n)->(n)")(lambda x: None),
        TypeError,
        "has 1 parameters, and .* 1 results",
    ),
    "ranks": (lambda: declared("void(f4[:,:], f4[:])"), TypeError, "isn't the type of an operand"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(case: str) -> None:
    call, kind, match = MISTAKES[case]
    with pytest.raises(kind, match=match):
        call()


def test_one_thread_is_noted() -> None:
    with pytest.warns(gpu.PerformanceWarning, match=r"a single thread goes through all elements.*\(n\)->\(\),\(\)"):
        sum_and_mean(np.ones(20_000, np.int32))


def test_a_signature_in_brackets_without_a_result() -> None:
    @gpu.guvectorize(["(f8[:], f8[:])"], "(n)->(n)")
    def running(x: Any, out: Any) -> None:
        total = 0.0
        for i in range(len(x)):
            total += x[i]
            out[i] = total

    assert running(np.ones((2, 3))).tolist() == [[1, 2, 3]] * 2
