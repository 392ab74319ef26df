"""Slices of constant length of arrays of any length, as small arrays in functions: NumPy's results, or ValueError."""

from __future__ import annotations

import warnings
from typing import Any

import gpu
import numpy as np
import pytest
from gpu import cuda

# a: 16 numbers, m: 6 x 5, i: 0 ... 2
EXPRESSIONS = """
np.sort(a[:4])[0] + i
a[:4].copy()[i % 3]
a[2:6].sum()
np.sort(a[i:i+4])[2]
np.sort(a[4*i:4*i+4])[1]
np.sort(a[i*2:(i+2)*2])[1]
np.sort(a[i:i+8:2])[1]
np.sort(a[8:2:-2])[0]
np.sort(a[3::-1])[0]
np.sort(a[i+6:i:-2])[0]
np.sort(a[gpu.threadIdx.x:gpu.threadIdx.x+4])[0]
np.sort(a[:4] * 2)[1]
np.sort(a[i:i+4] + a[i+4:i+8])[0]
np.sort(a[2:][:4])[1]
np.median(a[-3:])
np.median(a[-5:-2])
np.dot(m[i, :3], a[:3])
(m[:3,:3] @ a[:3])[1]
np.linalg.det(m[:2,:2])
np.linalg.det(m[i:i+2,1:3])
np.linalg.solve(m[:2,:2], a[:2])[0]
m[:2,:3].sum(axis=0)[1]
np.trace(m[:3,:3])
np.stack((m[i,:3], m[i+1,:3])).sum()
np.sort(m[:2,:3].ravel())[2]
a[i:i+4].reshape(2,2)[1,1]
np.cumsum(a[i:i+3])[-1]
np.concatenate((a[:2], a[i:i+3]))[3]
np.array([a[:2], a[2:4]])[1,0]
np.zeros(len(a[:4])).size + np.empty(a[:4].shape).size
np.where(a[:4] > 2, a[:4], 0).sum()
tuple(a[:3])[1] + max(*a[:3]) + sorted(a[:4])[1] + [*a[i:i+3], 1][2]
""".strip().splitlines()


def kernel(lines: list[str]) -> Any:
    scope: dict[str, Any] = {"gpu": gpu, "np": np}
    body = "".join(f"    o[{k}, i] = {line}\n" for k, line in enumerate(lines))
    exec(f"def kernel(o, a, m):\n    i = gpu.grid(1)\n{body}", scope)
    return scope["kernel"]


@pytest.mark.parametrize("jit", [gpu.jit, cuda.jit])
def test_values(jit: Any, gpu_device: str) -> None:
    a, m = (np.arange(16) * 7 % 11).astype(np.float32), np.random.default_rng(1).random((6, 5)).astype(np.float32)
    want, got = np.zeros((len(EXPRESSIONS), 3)), np.zeros((len(EXPRESSIONS), 3))
    with gpu.device("python"):
        gpu.jit(kernel(EXPRESSIONS))[1, 3](want, a, m)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jit(kernel(EXPRESSIONS))[1, 3](got, a, m)
        gpu.synchronize()
    for line, x, y in zip(EXPRESSIONS, got, want, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, err_msg=line)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_an_array_that_ends_before(device: str) -> None:
    """What takes any length has NumPy's shorter slice; what needs a constant raises."""

    @gpu.jit
    def total(o: Any, a: Any) -> None:
        o[0] = a[2:6].sum() + len(a[2:6]) + np.max(a[-5:])

    @gpu.jit
    def least(o: Any, a: Any) -> None:
        o[0] = np.sort(a[2:6])[0]

    @gpu.jit
    def part(o: Any, a: Any) -> None:
        if a.size >= 6:
            o[0] = np.sort(a[2:6])[0]

    o, a = np.zeros(1), np.array([1.0, 2.0, 3.0, 9.0])
    with gpu.device(device):
        total[1, 1](o, a)
        gpu.synchronize()
        assert o[0] == 12 + 2 + 9
        part[1, 1](o, a)
        with pytest.raises(ValueError, match=r"np\.sort: a slice of 4 elements goes past the end of its array"):
            least[1, 1](o, a)
            gpu.synchronize()
    assert o[0] == 23


def clipped(a: Any) -> Any:
    return np.sort(a)


def test_through_functions_and_variables(gpu_device: str) -> None:
    @gpu.jit
    def kernel(o: Any, a: Any, wide: bool) -> None:
        i = gpu.grid(1)
        part = a[3 * i : 3 * (i + 1)]
        other = part if wide else a[i : i + 3]
        o[i] = clipped(part)[0] + 10 * np.sort(other)[2]

    a = (np.arange(16) * 7 % 11).astype(np.float32)
    for wide in (True, False):
        o = np.zeros(3)
        kernel[1, 3](o, a, wide)
        gpu.synchronize()
        for i in range(3):
            assert o[i] == min(a[3 * i : 3 * i + 3]) + 10 * max(a[3 * i : 3 * i + 3] if wide else a[i : i + 3])


@pytest.mark.parametrize("bounds", [":n", "i:n", "i:2*i", ":", "-n:", "i:i+4:n"])
def test_lengths_that_nobody_knows(bounds: str) -> None:
    scope: dict[str, Any] = {"np": np, "gpu": gpu}
    exec(f"def kernel(o, a, n):\n    i = gpu.grid(1)\n    o[i] = np.sort(a[{bounds}])[0]", scope)
    with pytest.raises(gpu.CompileError, match="name how many elements"):
        gpu.jit(scope["kernel"]).compile("f4[:], f4[:], i8")
