"""`a[mask] = number` in kernels: masks that are arrays or comparisons, of any size; NumPy's results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gpu
import numpy as np
import pytest
from gpu import cuda


def comparison(x: Any, other: Any) -> None:
    x[x > 3] = 0


def function_of_elements(x: Any, other: Any) -> None:
    x[np.isnan(x)] = -1.5


def both_conditions(x: Any, other: Any) -> None:
    x[(x > 2) & ~(x >= 6)] = 9


def another_array(x: Any, other: Any) -> None:
    x[other > 3] = x[1]


def value_from_itself(x: Any, other: Any) -> None:
    x[x < x[-1]] = x[-1]


def shifted_forwards(x: Any, other: Any) -> None:
    x[1:][x[:-1] > 3] = 0


def shifted_backwards(x: Any, other: Any) -> None:
    x[:-1][x[1:] > 3] = 0


def two_axes(x: Any, other: Any) -> None:
    x.reshape(2, 50)[x.reshape(2, 50) % 2 == 0] = 0.25


def own_array(x: Any, other: Any) -> None:
    a = np.zeros(4)
    a[:] = x[1:5]
    a[a[::-1] > 2] = 7
    x[1:5] = a


MASKS = [value for value in list(globals().values()) if getattr(value, "__module__", "") == __name__]


@pytest.mark.parametrize("masks", MASKS, ids=lambda f: f.__name__)
def test_elements_under_a_mask(masks: Callable[..., None], gpu_device: str) -> None:
    x = np.arange(100.0)
    x[7] = np.nan
    expected, other = x.copy(), x[::-1].copy()
    masks(expected, other)
    gpu.jit(masks)[1, 1](x, other)
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("dtype", ["i1", "u4", "f4", "c8", "?"])
def test_the_value_becomes_an_element(dtype: str, gpu_device: str) -> None:
    @gpu.jit
    def ones(x: Any, mask: Any) -> None:
        x[mask] = 1

    x, mask = np.zeros((3, 5), dtype), np.eye(3, 5) > 0
    ones[1, 1](x, mask)
    assert (x == mask).all()


def test_a_mask_of_another_shape(gpu_device: str) -> None:
    @gpu.jit
    def clear(x: Any, mask: Any) -> None:
        x[mask] = 0

    x = np.ones(100)
    with pytest.raises(IndexError, match="boolean index did not match indexed array"):
        clear[1, 1](x, np.ones(99, bool))
    assert x.all()


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_a_mask_that_reads_what_was_stored_is_refused(device: str) -> None:
    @gpu.jit
    def mirrored(x: Any) -> None:
        x[x[::-1] > 3] = 0

    with gpu.device(device), pytest.raises(ValueError, match="the mask overlaps its array"):
        mirrored[1, 1](np.arange(100.0))


VALUES = """
a[a > 5] = np.arange(8.0)
a[a > 5] = (1, 2, 3, 4, 5, 6, 7, 8)
a[:8][a[:8] > 5] = a[8:12]
a[a > 5] = b
a[a > 5] = b[:1]
m[m > 4] = np.arange(7)
m[m % 2 == 0] = b[: 6]
t = a[:6].copy(); t[t > 4] = (1, 2, 3); a[:6] = t
t = a[:6].copy(); t[np.array([True, False, True, False, False, True])] = a[:3]; a[:6] = t
"""


@pytest.mark.parametrize("jit", [gpu.jit, cuda.jit])
def test_several_values(jit: Any, gpu_device: str) -> None:
    for line in VALUES.strip().splitlines():
        scope: dict[str, Any] = {"np": np}
        exec(f"def kernel(a, m, b):\n    {line}", scope)
        want, got = ([np.arange(16.0) * 7 % 11, np.arange(12).reshape(3, 4), np.arange(8.0) / 2] for _ in range(2))
        scope["kernel"](*want)
        jit(scope["kernel"])[1, 1](*got)
        gpu.synchronize()
        for x, y in zip(got, want, strict=True):
            np.testing.assert_array_equal(x, y, err_msg=line)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_as_many_values_as_the_mask_takes(device: str) -> None:
    @gpu.jit
    def kernel(a: Any, b: Any) -> None:
        a[a > 5] = b

    with gpu.device(device), pytest.raises(ValueError, match="another number of elements than there are values"):
        kernel[1, 1](np.arange(9.0), np.zeros(2))
        gpu.synchronize()
