"""What is None on one path and a value on another: the results that Python gives, and TypeError where it raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gpu
import numpy as np
import optionals
import pytest
from gpu import cuda

KERNELS = [k for name, k in vars(optionals).items() if name.startswith("k_")]
COMPILED = ["cpu", "emulated"]


def run(kernel: Callable[..., Any], device: str) -> np.ndarray:
    """The output of 16 threads."""
    a, out, t = (np.arange(16) * 3 % 7).astype(np.float32), np.zeros(16), np.arange(16)
    with gpu.device(device):
        gpu.jit(fma=False)(kernel)[1, 16](a, out, t)
        gpu.synchronize()
    return out


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__[2:])
def test_none_on_some_paths(kernel: Callable[..., Any]) -> None:
    want = run(kernel, "python")
    assert len(set(want)) > 1
    for device in COMPILED:
        np.testing.assert_allclose(run(kernel, device), want, rtol=2e-6, err_msg=device)


def adds(a, o, t):
    o[0] = optionals.root(a[0]) + 1


def indexes(a, o, t):
    row = optionals.row(a.reshape(4, 4), t[15])
    o[0] = row[0]


def unpacks(a, o, t):
    x, y = optionals.pair(t[0])
    o[0] = x + y


@pytest.mark.parametrize("device", [*COMPILED, "python"])
@pytest.mark.parametrize("kernel", [adds, indexes, unpacks], ids=lambda k: k.__name__)
def test_none_where_a_value_is_needed(kernel: Callable[..., Any], device: str) -> None:
    with pytest.raises(TypeError, match="None"):
        run(kernel, device)


def test_a_branch_before_saves_the_check() -> None:
    def checked(a, o):
        r = optionals.root(a[0])
        if r is not None and r > 1:
            o[0] = r * r

    def unchecked(a, o):
        o[0] = optionals.root(a[0]) * 2

    raises = [" raise " in gpu.jit(k).inspect("ir", "f4[::1], f8[::1]") for k in (checked, unchecked)]
    assert raises == [False, True]


@pytest.mark.parametrize("device", COMPILED)
def test_in_the_numba_dialect(device: str) -> None:
    @cuda.jit(device=True)
    def quotient(x, y):
        if y == 0:
            return None
        return x // y

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        q = quotient(12, i)
        out[i] = q if q is not None else -1

    out = np.zeros(4, np.int64)
    with gpu.device(device):
        kernel[1, 4](out)
    assert out.tolist() == [-1, 12, 6, 4]
