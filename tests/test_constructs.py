"""Each construct of Python that kernels may use gives on the compiled devices what Python gives."""

import warnings
from collections.abc import Callable
from typing import Any

import constructs
import gpu
import numpy as np
import pytest

KERNELS = [k for name, k in vars(constructs).items() if name.startswith("k_")]


def run(kernel: Callable[..., Any], device: str) -> np.ndarray:
    """The output of 16 threads."""
    a, out = (np.arange(16) % 7).astype(np.float32), np.zeros(16)
    with gpu.device(device), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        gpu.jit(fma=False)(kernel)[1, 16](a, out, 3, *constructs.ARGUMENTS.get(kernel, ()))
        gpu.synchronize()
    return out


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__[2:])
def test_construct(kernel: Callable[..., Any]) -> None:
    want = run(kernel, "python")
    assert want.any()
    for device in ("cpu", "emulated"):
        np.testing.assert_allclose(run(kernel, device), want, rtol=2e-6, err_msg=device)
