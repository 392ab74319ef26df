"""Functions that call themselves give on the compiled devices what Python gives; too deep a call is an exception."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gpu
import numpy as np
import pytest
import recursions

KERNELS = [k for name, k in vars(recursions).items() if name.startswith("k_")]
COMPILED = ["cpu", "emulated"]


def run(kernel: Callable[..., Any], device: str, **options: Any) -> np.ndarray:
    """The output of 16 threads."""
    a, out, t = (np.arange(16) % 7).astype(np.float32), np.zeros(16), np.arange(16)
    with gpu.device(device):
        gpu.jit(fma=False, **options)(kernel)[1, 16](a, out, t)
        gpu.synchronize()
    return out


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__[2:])
def test_recursion(kernel: Callable[..., Any]) -> None:
    want = run(kernel, "python")
    assert want.any()
    for device in COMPILED:
        np.testing.assert_allclose(run(kernel, device), want, rtol=2e-6, err_msg=device)


def down(n):
    return 0 if n == 0 else 1 + down(n - 1)


def k_down(a, o, t):
    o[gpu.grid(1)] = down(t[3] * 100)


@pytest.mark.parametrize("device", COMPILED)
def test_depth_has_a_limit(device: str) -> None:
    with pytest.raises(RecursionError, match=r"maximum recursion depth exceeded in down\(\)") as raised:
        run(k_down, device)
    assert "test_recursion.py" in str(raised.value)
    assert run(k_down, device, recursion_limit=400)[0] == 300


@pytest.mark.parametrize("device", COMPILED)
def test_endless_recursion_ends(device: str) -> None:
    def kernel(o):
        o[0] = endless(o[0])

    def endless(x):
        return x if x < 0 else endless(x + 1)

    with gpu.device(device), pytest.raises(RecursionError):
        gpu.jit(kernel)[1, 1](np.zeros(1))
        gpu.synchronize()


@pytest.mark.parametrize("device", ["python", *COMPILED])
def test_exceptions_and_print_inside(device: str, capfd: pytest.CaptureFixture[str]) -> None:
    def countdown(n):
        assert n != 7, "seven"
        if n == 0:
            return
        print("at", n)
        countdown(n - 1)

    @gpu.jit
    def kernel(t, k):
        countdown(t[k])

    with gpu.device(device):
        kernel[1, 1](np.arange(16), 3)
        gpu.synchronize()
        assert capfd.readouterr().out == "at 3\nat 2\nat 1\n"
        with pytest.raises(AssertionError, match="seven"):
            kernel[1, 1](np.arange(16), 9)
            gpu.synchronize()


@pytest.mark.parametrize("device", ["python", *COMPILED])
def test_called_from_python(device: str) -> None:
    f = gpu.jit(device=True)(recursions.fib)
    with gpu.device(device):
        assert f(15) == 610
        assert f(np.int32(7)) == 13


@pytest.mark.parametrize("device", COMPILED)
def test_the_numba_dialect(device: str) -> None:
    from gpu import cuda

    fact = cuda.jit(lambda n: 1 if n == 0 else n * fact(n - 1), device=True)

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = fact(x[i])

    out = np.zeros(8, np.int64)
    with gpu.device(device):
        kernel[1, 8](np.arange(8, dtype=np.int32), out)
        gpu.synchronize()
    np.testing.assert_array_equal(out, [1, 1, 2, 6, 24, 120, 720, 5040])


def test_limit_is_checked() -> None:
    for wrong in (0, -1, 1.5, True, 100_000):
        with pytest.raises(TypeError, match="recursion_limit"):
            gpu.jit(recursion_limit=wrong)
