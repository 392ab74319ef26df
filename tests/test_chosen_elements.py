"""a[mask] where it makes one number or changes elements in place: as NumPy has it, with arrays of any size."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import gpu
import numpy as np
import pytest
from gpu import cuda

TYPES = ["bool", "int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "complex64"]


def sums(out: Any, a: Any, m: Any) -> None:
    out[0], out[1], out[2] = a[m].sum(), a[m].prod(), np.sum(a[a != 1])
    out[3], out[4], out[5] = a[m].any(), np.all(a[m]), np.count_nonzero(a[m])
    out[6], out[7], out[8] = len(a[m]), a[a == 1].size, np.size(a[m])


def extremes(out: Any, a: Any, m: Any) -> None:
    out[0], out[1], out[2], out[3] = a[m].min(), a[m].max(), np.amin(a[m]), np.max(a[a != 1])
    out[4], out[5] = a[m].mean(), np.mean(a[a != 1])


def run(kernel: Callable[..., Any], device: str, *args: Any, jit: Any = gpu.jit) -> None:
    with gpu.device(device), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        jit(kernel)[1, 1](*args)
        gpu.synchronize()


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("shape", [(7,), (2, 3)])
@pytest.mark.parametrize("kernel", [sums, extremes])
def test_numbers(kernel: Callable[..., Any], shape: tuple[int, ...], device: str) -> None:
    for name in TYPES if device == "cpu" else ["int8", "uint64", "float32"]:
        if name == "complex64" and kernel is extremes:
            continue
        a = (np.arange(np.prod(shape)) % 5 + (3 if name != "bool" else 0)).astype(name).reshape(shape)
        mask = (np.arange(a.size) % 3 != 1).reshape(shape)
        want, got = np.zeros(9, np.complex128), np.zeros(9, np.complex128)
        kernel(want, a, mask)
        run(kernel, device, got, a, mask)
        np.testing.assert_allclose(got, want, rtol=2e-3 if name == "float16" else 1e-6, err_msg=name)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_no_element_and_nan(device: str) -> None:
    def kernel(out: Any, a: Any) -> None:
        out[0], out[1], out[2] = a[a > 9].sum(), a[a > 9].mean(), len(a[a > 9])
        out[3], out[4], out[5] = a[a != 1].max(), a[a == a].max(), a[a == a].sum()

    a, out, want = np.array([1.0, np.nan, -np.inf, 3.0]), np.zeros(6), np.zeros(6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernel(want, a)
    run(kernel, device, out, a)
    np.testing.assert_array_equal(out, want)

    def greatest(out: Any, a: Any) -> None:
        out[0] = a[a > 9].max()

    with pytest.raises(ValueError, match="zero-size array"):
        run(greatest, device, out, a)


def test_numbers_in_the_numba_dialect() -> None:
    """The mean of float32 is float64 there."""
    a, out = np.array([1, 2**-24, 1, 5], np.float32), np.zeros(9, np.complex128)
    run(extremes, "cpu", out, a, np.array([True, True, False, False]), jit=cuda.jit)
    assert out[4] == (1 + 2**-24) / 2 and out[1] == 1


def changes(a: Any, b: Any, m: Any, v: Any) -> None:
    a[a > 3] += v
    a[m] *= 2
    b[b < a.ndim * 3] -= 1
    b[m] = b[m].max() if len(b[m]) > 0 else 7


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("shape", [(7,), (50,), (2, 3)])
@pytest.mark.parametrize("name", ["float32", "int16"])
def test_changes_in_place(name: str, shape: tuple[int, ...], device: str) -> None:
    results = []
    for where in ("python", device):
        a = (np.arange(np.prod(shape)) % 9).astype(name).reshape(shape)
        b, mask = np.arange(a.size, dtype=np.int64).reshape(shape), (np.arange(a.size) % 3 != 1).reshape(shape)
        run(changes, where, a, b, mask, 2)
        results.append((a, b))
    for got, want in zip(results[1], results[0], strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("device", ["python", "cpu", "emulated"])
def test_changes_of_small_arrays_of_the_thread(device: str) -> None:
    def kernel(out: Any) -> None:
        t = np.arange(4.0)
        t[t > 1] /= 2
        t[t < 1] -= 3
        out[:4] = t
        out[4] = t[t < 0].sum()

    out = np.zeros(5)
    run(kernel, device, out)
    np.testing.assert_array_equal(out, [-3, 1, 1, 1.5, -3])


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_only_chosen_elements_are_touched(device: str) -> None:
    """A division by the others would raise in debug mode; a mask of another shape raises."""

    def divide(a: Any, m: Any) -> None:
        a[m] //= a[0]

    a = np.array([2, 5, 6], np.int64)
    run(divide, device, a, np.array([False, True, False]), jit=gpu.jit(debug=True))
    np.testing.assert_array_equal(a, [2, 2, 6])
    with pytest.raises(IndexError, match="boolean index did not match"):
        run(divide, device, a, np.ones(2, bool))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("a[m] += b", "several values"),
        ("a[m] += a[m]", "an index must be an integer"),
        ("c = a[m]; a[0] = 1; b[0] = c.sum()", "an index must be an integer"),
        ("c = a[m]; b[0] = c.sum(); b[1] = c.max()", "an index must be an integer"),
        ("a[m] += change(a)", "an index must be an integer"),
        ("i[m] += 0.5", "doesn't go into"),
        ("b[0] = a[m].sum(0)", "an index must be an integer"),
        ("b[0] = (a[m] * 2).sum()", "an index must be an integer"),
    ],
)
def test_what_is_refused(body: str, why: str) -> None:
    scope: dict[str, Any] = {"change": lambda a: gpu.atomic.add(a, 0, 1)}
    exec(f"def kernel(a, b, m, i):\n    {body}\n", scope)
    with pytest.raises(gpu.CompileError, match=why):
        gpu.jit(scope["kernel"]).compile("f4[:], f4[:], bool[:], i4[:]")
