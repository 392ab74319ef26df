"""NumPy's functions on small arrays in kernels: value, type and shape as NumPy has them."""

from __future__ import annotations

import warnings
from typing import Any

import gpu
import numpy as np
import pytest
from gpu import cuda

# x: 8 numbers; m: 3 x 4; q: 3 x 3; spd: symmetric, positive; k: integers; c: 2 x 2 x 3; s: 4 of int8, whose sums have
# no room in it; t: 3 bools; h: 2 of float16 (65504 is the greatest); w: 4 numbers, of which one is NaN
CALLS = """
np.pad(x, 1)
np.pad(x, (1, 2))
np.pad(x, 2, mode="edge")
np.pad(m, 1)
np.pad(m, ((1,0),(0,2)), constant_values=3)
np.meshgrid(x[:3], x[:2])[0]
np.meshgrid(x[:3], x[:2], indexing="ij")[1]
np.linalg.cholesky(spd)
np.linalg.qr(q)[0]
np.linalg.qr(q)[1]
np.linalg.eigh(spd)[0]
np.linalg.eigvalsh(spd)
np.abs(np.linalg.eigh(spd)[1])
np.linalg.slogdet(q)[1]
np.linalg.norm(x, ord=1)
np.linalg.norm(x, np.inf)
np.linalg.norm(m, axis=1)
np.linalg.norm(m, axis=1, keepdims=True)
np.linalg.norm(x, 2)
np.linalg.norm(q, 'fro')
np.linalg.multi_dot([q, q, q])
np.cross(x[:3], m[:, :3])
np.cross(m[:, :3], m[:, 1:])
np.gradient(x)
np.gradient(x, 2.0)
np.correlate(x, x[:3])
np.correlate(x, x[:3], "full")
np.convolve(x, x[:3], mode="same")
np.convolve(x, x[:3], "valid")
np.histogram(x, bins=4, range=(0, 8))[0]
np.histogram(x, np.array([0., 2., 4., 8.]))[0]
np.sum(m, axis=1, keepdims=True)
m.sum(axis=0, keepdims=True)
m.mean(axis=1, keepdims=True)
m.max(axis=-1, keepdims=True)
m.sum(axis=(0, 1))
np.argsort(m, axis=1)
np.argsort(x, kind="stable")
np.sort(x, kind="mergesort")
np.cumsum(m, axis=1)
np.cumsum(m, axis=0)
np.cumsum(m)
np.cumprod(x)
np.median(m, axis=0)
np.percentile(x, [25, 50])
np.quantile(x, 0.5)
np.average(m, axis=0)
np.average(m, axis=0, weights=x[:3])
np.repeat(m, 2, axis=0)
np.repeat(x[:3], [1, 2, 3])
np.tile(x[:2], (2, 2))
np.take(m, [0, 2], axis=1)
np.append(m, m, axis=0)
np.delete(x, 2)
np.delete(m, 5)
np.delete(m, 1, axis=0)
np.insert(x, 2, 9.)
np.diff(m, axis=0)
np.ediff1d(x)
np.rot90(m, 2)
np.rot90(m, -1)
np.flip(m, 1)
np.flip(m, (0, 1))
np.roll(m, (1, 1), axis=(0, 1))
np.roll(m, 1, axis=1)
np.concatenate((m, m), axis=None)
np.column_stack((x[:3], x[3:6]))
np.dstack((m, m))
np.array_split(x, 3)[0]
np.split(x, [2, 5])[1]
np.vsplit(m, 3)[0]
np.hsplit(m, 2)[1]
np.broadcast_to(x[:4], (3, 4))
np.logspace(0, 2, 5)
np.linspace(0, 1, 5, dtype=np.float32)
np.vander(x[:3])
np.vander(x[:3], 2)
np.diagonal(q)
np.diagflat(x[:3])
np.triu_indices(3)[0]
np.tril_indices(3, -1)[1]
np.diag_indices(3)[0]
np.indices((2, 3))[1]
np.fliplr(m)
np.tensordot(q, q, 1)
np.inner(q, q)
np.nanstd(x)
np.nanvar(x)
np.nanmedian(x)
np.nanargmax(x)
np.nanmean(m, axis=0)
np.nansum(m, axis=1)
np.nan_to_num(x)
np.cov(m)
np.searchsorted(np.sort(x), x[:3], "right")
np.ravel_multi_index((1, 2), (3, 4))
np.rollaxis(m, 1)
np.squeeze(m[:1], 0)
np.atleast_3d(x)
(np.fill_diagonal(q, 3), q)[1]
np.apply_along_axis(np.sum, 0, m)
np.sort(m, axis=None)
x.item(2)
m.item(1, 2)
m.diagonal()
q.trace()
x.cumsum()
x.searchsorted(3.)
m.squeeze()
np.nanvar(m, axis=0)
np.linalg.norm(m, np.inf)
np.linalg.norm(x, 3)
np.linalg.norm(m, 2, axis=0)
np.cumprod(m, 0)
np.pad(m, 2, mode="reflect")
np.pad(x, 3, mode="wrap")
np.linalg.qr(m)[0]
np.linalg.qr(m)[1]
np.quantile(x, [0.1, 0.9])
np.quantile(x, np.array([0.1, 0.9]))
np.percentile(m, [25, 50, 75], axis=0)
np.quantile(m, (0.25, 0.5), axis=1)
np.argsort(m, axis=0)
np.argsort(m, axis=None)
np.take(m, 1, axis=1)
np.take(m, (1, 0), axis=0)
np.split(m, 2, axis=1)[1]
np.tile(m, (2, 1))
np.tile(m, 2)
np.var(m, axis=1, keepdims=True)
m - m.mean(axis=1, keepdims=True)
np.sum(x, keepdims=True)
m.argmax(axis=0, keepdims=True)
np.histogram(x, bins=4, range=(0, 8))[1]
np.delete(x, -1)
np.insert(x, 0, 9.)
np.array_split(x, 3)[2]
np.unravel_index(5, (2, 3))[1]
np.bincount(k % 4, minlength=5)
np.bincount(k % 4, x, 5)
np.logspace(0, 2, 3, base=2.0)
np.nanargmin(x)
x[3:4].item()
np.inner(m, m[0])
np.inner(x[:3], q)
np.apply_along_axis(lambda line: twice(line).sum(), 0, m)
np.flip(c, (0, 2))
np.flip(c)
np.take(x, k[:3] % 4)
np.median(s)
np.median(t)
np.median(h)
np.median(s.reshape(2, 2), axis=0)
np.nanmedian(s)
np.quantile(w, 0.1)
np.quantile(k, 1)
np.gradient(s)
np.gradient(s.astype(np.uint8))
np.diff(t)
np.diff(x, 9)
np.average(s, weights=s)
np.average(m, weights=m)
np.polyval(s, 2)
np.trapezoid(m)
np.trapezoid(m, x[:4])
np.trapezoid(m, m)
np.nanvar(x[:2], ddof=2)
np.nanvar(k[:2], ddof=2)
np.nanvar(w + x[:4] * 1j)
np.linspace(-2.5, 0, 6, dtype=np.int32)
np.triu(c)
np.tril(x[:3], -1)
np.stack((c, c), axis=3)
np.stack((c, c), axis=2)
np.linalg.norm(s, 1)
np.linalg.norm(s, np.inf)
np.linalg.norm(s, 3)
np.linalg.norm(s.reshape(2, 2), 1)
np.linalg.norm(h, 0)
np.linalg.norm(x, 3, keepdims=True)
np.linalg.norm(m, axis=(0, 1))
np.linalg.norm(m, 1, (1, 0))
np.correlate(t, t, "full")
np.linalg.slogdet(q * np.float32(1e30))[1]
np.concatenate(([0.5], x[:2], (7,)))
np.hstack((1.5, x[:2]))
np.isin([1, 9], x)
np.linalg.solve([[4, 1], [1, 3]], x[:2])
np.median([3, 1, 2])
np.sort(a=(3, 1, 2))
np.linalg.norm([[3, 4], [5, -6]], ord=1)
np.interp([0.5, 1.5], [0, 1, 2], fp=(3, 5, 9))
np.average(x[:3], weights=(1, 2, 3))
np.meshgrid([1, 2], [3, 4, 5])[1]
np.apply_along_axis(np.sum, 0, [[1, 2], [3, 4]])
np.einsum("i,i", [1, 2], x[:2])
x[:2].searchsorted([0.5, 2])
isinstance(x * 2, np.ndarray)
np.rot90(c)
np.vdot(q, q)
np.vdot(q * 1j, q).imag
np.diag(m, 9)
np.pad(m, ((1, 2),))
np.pad(m, (1,), mode="edge")
np.linalg.qr(np.triu(-q))[1]
np.take(x, k[:4].reshape(2, 2) % 4)
np.quantile(np.array([-np.inf, 1.0, np.inf]), 0.4)
""".strip().splitlines()
PART = 24


def twice(x: Any) -> Any:
    return x * 2


def function_of(call: str) -> Any:
    source = f"""\
def f(a):
    x = a[:8].copy()
    m = a[:12].copy().reshape(3, 4)
    q = a[:9].copy().reshape(3, 3) + np.eye(3, dtype=np.float32) * 4
    spd = q @ q.T + np.eye(3, dtype=np.float32)
    k = x.astype(np.int64)
    c = a[:12].copy().reshape(2, 2, 3)
    s = np.array([-128, 127, 100, 90], np.int8)
    t = np.array([True, False, True])
    h = np.array([60000, 50000], np.float16)
    w = np.array([1, np.nan, 2, 3])
    return {call}
"""
    scope: dict[str, Any] = {"np": np, "twice": twice}
    exec(source, scope)
    return scope["f"]


def kernel_of(functions: list[Any], results: list[Any]) -> Any:
    """Make a kernel that stores each function's result, its axes, size and the size of an item."""
    body = ""
    for k, result in enumerate(results):
        body += f"    r = f{k}(a)\n"
        if isinstance(result, np.ndarray):
            body += f"    info[{k}, 0], info[{k}, 1], info[{k}, 2] = r.ndim, r.size, r.itemsize\n    t = np.ravel(r)\n"
            body += f"    for j in range(t.size):\n        o[{k}, j] = t[j]\n"
        else:
            body += f"    o[{k}, 0] = r\n"
    scope = {"np": np, **{f"f{k}": f for k, f in enumerate(functions)}}
    exec("def kernel(o, info, a):\n" + body, scope)
    return scope["kernel"]


@pytest.mark.parametrize("first", range(0, len(CALLS), PART))
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_as_numpy(first: int, device: str) -> None:
    calls = CALLS[first : first + PART]
    functions = [function_of(call) for call in calls]
    a = (np.arange(16) * 7 % 11 + 1).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = [f(a.copy()) for f in functions]
    o, info = np.zeros((len(calls), 100)), np.zeros((len(calls), 3), np.int64)
    with gpu.device(device), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gpu.jit(kernel_of(functions, wanted))[1, 1](o, info, a)
        gpu.synchronize()
    for call, want, got, sizes in zip(calls, wanted, o, info, strict=True):
        flat = np.ravel(want)
        np.testing.assert_allclose(got[: flat.size], flat, rtol=2e-5, atol=1e-5, err_msg=call)
        if isinstance(want, np.ndarray):
            assert tuple(sizes) == (want.ndim, want.size, want.itemsize), call


def test_in_the_numba_dialect() -> None:
    """Those that don't depend on how operators widen numbers."""

    @cuda.jit
    def kernel(o: Any, a: Any) -> None:
        o[0] = np.einsum("ij,ij->", a[:2, :2], a[:2, :2])
        o[1] = np.linalg.eigh(a[:2, :2])[0][1]
        o[2] = a[:2, :3].sum(axis=1, keepdims=True)[1, 0]

    a, o = np.array([[2.0, 1.0, 5.0], [1.0, 2.0, 6.0]]), np.zeros(3)
    with gpu.device("cpu"):
        kernel[1, 1](o, a)
    np.testing.assert_allclose(o, [10, 3, 9])


def helper(x: Any) -> Any:
    return x + 1000


def test_lambdas_see_the_globals_of_where_they_were_written(gpu_device: str) -> None:
    @gpu.jit
    def kernel(o: Any, a: Any) -> None:
        o[:2] = np.apply_along_axis(lambda line: helper(line).sum(), 1, a[:2, :3])

    a, o = np.array([[2.0, 1.0, 5.0], [1.0, 2.0, 6.0]]), np.zeros(2)
    kernel[1, 1](o, a)
    gpu.synchronize()
    assert (o == [3008, 3009]).all()


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("o[0] = np.bincount(k, minlength=4)[0]", ValueError),
        ("o[0] = np.linalg.cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]))[0, 0]", np.linalg.LinAlgError),
        ("o[0] = np.convolve(o[:3], o[:2], 'zzz')[0]", ValueError),
        ("o[0] = np.split(o[:4], 3)[0][0]", ValueError),
        ("o[0] = np.delete(o[:3], 3)[0]", IndexError),
        ("o[0] = np.concatenate((o[:4].reshape(2, 2), o[:2].reshape(2, 1)))[0, 0]", ValueError),
        ("o[0] = np.stack((o[:3], o[:1]))[0, 0]", ValueError),
        ("o[0] = np.vstack((o[:3], o[:1]))[0, 0]", ValueError),
        ("o[0] = np.quantile(o[:3], 1.5)", ValueError),
        ("o[0] = np.gradient(o[:1])[0]", ValueError),
        ("o[0] = np.diff(o[:3], -1)[0]", ValueError),
        ("o[0] = np.average(o[:3], weights=o[:2])", (ValueError, TypeError)),
        ("o[0] = np.average(o[:3], weights=np.array([1, -1, 0]))", ZeroDivisionError),
        ("o[0] = np.convolve(o[:4].reshape(2, 2), o[:2])[0]", ValueError),
        ("o[0] = np.diagonal(o[:3])[0]", ValueError),
        ("o[0] = np.rot90(o[:3])[0]", ValueError),
        ("o[0] = np.linalg.norm(o.reshape(2, 2, 2), 1)", ValueError),
        ("o[0] = np.ravel_multi_index((1, 4), (2, 4))", ValueError),
    ],
)
def test_errors_are_numpys(body: str, error: type[Exception] | tuple[type[Exception], ...]) -> None:
    scope: dict[str, Any] = {"np": np}
    exec(f"def kernel(o, k):\n    {body}", scope)
    for device in ("python", "cpu") if "minlength" not in body else ("cpu",):
        with gpu.device(device), pytest.raises(error):
            gpu.jit(scope["kernel"])[1, 1](np.zeros(8), np.array([1, 5]))
            gpu.synchronize()
