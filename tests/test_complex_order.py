"""The order of complex numbers in NumPy's functions, on all devices and in both dialects."""

from __future__ import annotations

from typing import Any

import gpu
import numpy as np
import pytest
from gpu import cuda

NAMES = ["less", "less_equal", "greater", "greater_equal", "maximum", "minimum", "fmax", "fmin"]
PARTS = [0.0, -0.0, 1.0, -2.5, np.inf, np.nan]


@pytest.mark.parametrize("device", ["python", "cpu", "emulated"])
@pytest.mark.parametrize("jit", [gpu.jit, cuda.jit])
@pytest.mark.parametrize("types", ["FF", "DD", "FD", "Dd"])
@pytest.mark.parametrize("name", NAMES)
def test_order(name: str, types: str, jit: Any, device: str) -> None:
    function = getattr(np, name)
    values = np.array([complex(x, y) for x in PARTS for y in PARTS])
    a, b = (x.ravel() for x in np.meshgrid(values, values))
    a, b = a.astype(types[0]), b.astype(types[1]) if types[1] in "FD" else b.real.copy()

    @jit
    def kernel(a, b, out):
        i = gpu.grid(1)
        if i < out.size:
            out[i] = function(a[i], b[i])

    with np.errstate(invalid="ignore"):
        expected = function(a, b)
    out = np.zeros_like(expected)
    with gpu.device(device):
        kernel[41, 32](a, b, out)
    if expected.dtype == bool:
        np.testing.assert_array_equal(out, expected)
    else:
        np.testing.assert_array_equal(out.real, expected.real)
        np.testing.assert_array_equal(out.imag, expected.imag)


def test_operators_have_none() -> None:
    @gpu.jit
    def kernel(a, out):
        out[0] = a[0] < a[1]

    with gpu.device("cpu"), pytest.raises(gpu.TypingError, match="no order"):
        kernel[1, 1](np.zeros(2, complex), np.zeros(1, bool))
