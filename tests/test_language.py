"""Each statement and expression of the language gives on the compiled devices what Python gives."""

import warnings
from collections.abc import Callable
from typing import Any

import gpu
import language
import numpy as np
import pytest

KERNELS = [k for name, k in vars(language).items() if name.startswith("k_")]
DTYPES = ["f4", "f8", "i4", "u1"]


def run(kernel: Callable, dtype: str, device: str) -> np.ndarray:
    """The output of 16 threads."""
    a, out = (np.arange(16) % 7).astype(dtype), np.zeros(16)
    with gpu.device(device), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        gpu.jit(fma=False)(kernel)[1, 16](a, out, 3)
        gpu.synchronize()
    return out


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__[2:])
def test_language(kernel: Callable, dtype: str) -> None:
    try:
        want = run(kernel, dtype, "python")
    except (OverflowError, TypeError) as e:  # NumPy refuses this dtype here: so does the compiler, or it wraps
        pytest.skip(str(e))
    got: Any = run(kernel, dtype, "cpu")
    np.testing.assert_allclose(got, want, rtol=2e-6)


def test_a_variable_that_may_be_unassigned_has_its_name_in_an_expression_too() -> None:
    def kernel(out: Any, n: int) -> None:
        for i in range(n):
            for k in range(i):
                out[k] = 1
            out[i] = k if i > 0 else 0

    with pytest.raises(gpu.TypingError, match="'k' is not assigned on every path"):
        gpu.jit(kernel)[1, 1](np.zeros(4), 3)
