"""Work on whole arrays in a kernel: each statement gives on the compiled devices what it gives in NumPy."""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable
from typing import Any

import gpu
import numpy as np
import pytest

DEVICES = ["cpu", "emulated"]

# One thread, with vectors a and b (10), matrices m and k (4, 5), the integer n = 3 and the output o (40 float64).
ASSIGNMENT = """
a[1:5] = 7
a[:] = 0
a[...] = 1
m[0] = 3
m[:, 0] = 4
m[1, :] = k[2, :]
m[:, 1] = b[:4]
a[::2] = b[1::2]
a[::-1] = b
a[-3:] = b[:3]
a[n:] = b[n:]
a[2 * n:] = 5
a[n:n] = 3
m[:] = k
m[...] = b[:5]
m[1:3, ::2] = b[3]
m[:, ::-1] = k
m.T[0] = b[:4]
m.T[:] = k.T
a[1:4] = (1, 2, 3)
a[1:4] = [n, 2, 3]
m[:2, :2] = [[1, 2], [3, 4]]
m[:, None, 0] = k[:4, 1:2]
a[:5] = k[1] + m[2]
m[1:3] *= k[1:3]
a[2:5] += 2
a[::3] -= b[::3][:4]
m[0] += k[1]
a += b
m[:, 2] = m[:, 1] * 2 + k[:, 0]
a[:1] = b[:1]
a[:n] = m[0, :n] + k[1, :n] * b[:n]
a[1:] = a[:-1]
a[:-1] = a[1:]
a[2:] += a[:-2]
m[1:] = m[:-1]
m[:, 1:] = m[:, :-1]
a[0] = m[1:2, 1:2][0, 0]
a.fill(3)
a.flat[3] = 9
m.flat[7] = 9
m.reshape(20)[3:7] = b[:4]
m.reshape(-1)[n] = 4
m.ravel()[2] = 4
m.view(m.dtype)[1] = 3
m.swapaxes(0, 1)[2] = k[:, 0]
m.transpose(1, 0)[1] = k[:, 0]
np.transpose(m)[3, :2] = 1
a[:] = a.conj() + b.conjugate()
a[:] = b.clip(2, 5) - a.clip(max=n)
m[:] = k.round() + k.clip(min=n)
o[:20] = k.flatten() * 2
o[:10] = np.ascontiguousarray(a) + np.ascontiguousarray(a[::-1])
o[:10] = a.imag + a.real
o[:10] = (a * 2j).imag + (a * 3).real + (b + 1).imag
o[:10] = np.isreal(a) + np.iscomplex(b)
"""
VALUES = """
np.sum(a)
a.sum()
m.sum()
m.T.sum()
np.sum(m[1])
np.sum(m[:, 1] * k[:, 2])
np.sum(a * 2 - b)
np.prod(a[1:4])
a[:3].prod()
np.min(a), np.max(m), np.amin(b), np.amax(b)
m.min(), m.T.max(), a[2:].min()
np.argmin(a), np.argmax(m), a.argmax(), m.T.argmin()
np.mean(a), m.mean(), np.mean(m[:, 0])
np.var(a), np.std(m), a.std(), m.var()
np.std(a, ddof=1)
np.ptp(a)
np.any(a > 3), np.all(a > 3), (a == a).all(), (a != a).any()
np.count_nonzero(a)
a.any(), a.all()
np.sum(a > 2)
np.sum(a, dtype=np.float64)
3 in a, 77 in a, 3 not in m
sum(a), min(a), max(a), any(a), all(a)
sum(a[:n], 5)
len(a[1:n]), len(m), m[1:].shape[0]
a @ b, np.matmul(a, b)
np.dot(a, b), np.inner(a[:3], b[:3]), a.dot(b), np.vdot(a, b)
m[0] @ k[1]
np.linalg.norm(a[:3] * 1.5)
(a + b)[3], (m * k)[1, 2], (a * 2)[-1]
(a + b).shape[0], (m + k).ndim, (a * b).size
a.size, a.ndim, m.nbytes, m.itemsize, m.strides[0], m.shape[1]
a[..., 1], m[1, ..., 2], a[None, 2][0]
m[1:n, 1:n][0, 1]
a[n::-1][0], a[::n][1], a[-2::-n][1], a[5:0:-n][1], len(a[n:0:-n]), len(a[::-n])
m[:, None].shape[1], m[None].ndim
np.where(a > b, a, b)[2]
np.sum(np.where(a > 3, a, 0))
np.max(np.abs(a - b))
np.sum(np.sqrt(abs(a)))
abs(a - b).max()
np.sum(np.minimum(a, b)), np.sum(np.clip(a, 1, 4)), np.sum(np.clip(a, a_min=2, a_max=None))
m.T[1, 2], m.swapaxes(0, 1)[1, 2], m.reshape(2, 10)[1, 3], m.reshape((5, 4))[1, 3], m.reshape(-1, 2)[3, 1]
np.reshape(m, (2, 10))[1, 3], np.ravel(m)[7], np.swapaxes(m, 0, 1)[1, 2]
np.trace(np.array([[1, 2], [3, 4]]))
np.array_equal(a, b), np.array_equal(a, a), np.array_equal(a[:3], m), np.allclose(a, a + 0), np.allclose(a, b, atol=99)
m[tuple(np.array([1, 2]))], m[(1, 2)]
np.shape(m)[1], np.ndim(m), np.size(m), np.ndim(n), np.size(2.5), len(np.shape(a[0])), np.size(a + b)
m.flatten()[7], m[1:].flatten().sum(), a[::2].flatten()[1]
np.digitize(n, b[:2]), np.digitize(9, a[:2]), len(a.flatten())
np.isrealobj(a), np.iscomplexobj(a), np.iscomplexobj(1j)
(1, 2, 3, 4)[::2][1], (1, 2, 3)[::-1][0], (1, 2, 3, 4)[-2:][0], len((1, 2, 3)[5:])
"""
SMALL = r"""
v = np.array([1, 2, 3]); o[:3] = v; o[3] = v[n - 1]
v = np.zeros(3); v[1] = a[2]; o[:3] = v
v = np.ones((2, 2), a.dtype); v += k[0, 0]; o[0] = v.sum()
v = np.empty(4); v[:] = a[:4]; o[:4] = v[::-1]
v = np.full(3, 2.5); w = np.full((2,), a[1]); o[:3] = v; o[3:5] = w
v = np.array((a[0], a[1], 0.5)); w = -v; o[:3] = w * 2 + v / 4
v = np.array([[a[0], 1], [2, 3]]); w = v @ v; o[:2] = w[0]; o[2:4] = w[1]; o[4:6] = w @ v[0]; o[6:8] = v[1] @ w
v = np.eye(3); w = np.identity(3) * 2; o[:9] = (v + w).ravel(); o[9:18] = np.eye(3, k=1).flatten()
v = np.arange(4); o[:4] = v; o[4:7] = np.arange(1, 7, 2); o[7:9] = np.arange(0, 1, 0.5); \
o[9:13] = np.arange(3, -1, -1)
v = np.zeros_like(np.ones(0)); w = np.empty_like(v); o[0] = len(v) + len(w)
v = np.array([1.5, 2.5]); w = np.zeros_like(v); w += v; u = np.full_like(v, 4); o[:2] = w; \
o[2:4] = u + np.ones_like(v)
x = np.array([1., 2, 3]); y = np.array([0.5, 0, 1]); o[:3] = np.cross(x, y); \
o[3] = np.linalg.norm(x); o[4:13] = np.outer(x, y).ravel()
x = np.array([1., 2, 3]); o[0:3] = np.sqrt(x); o[3:6] = x ** 2; o[6:9] = 1 / x; \
o[9:12] = np.where(x > 1, x, 0); o[12:15] = x % 2
x = np.array([1, 2, 3]); y = x[:, None] * x; o[:9] = y.reshape(9); o[9:12] = y.sum(axis=0); \
o[12:15] = y.max(axis=1); o[15] = y[1:, 1:].sum()
x = np.array([[1, 5], [7, 2]]); o[:2] = x.argmax(axis=0); o[2:4] = x.mean(axis=-1); o[4:6] = np.any(x > 4, axis=1)
x = np.array([3, 1, 2]); o[:3] = x.astype(np.float32) / 2; o[3:6] = x.copy(); \
o[6:9] = np.array(x, dtype=np.int8); o[9] = np.copy(x)[0]
x = np.array([3, 1]); y = np.asarray(x); y[0] = 8; o[:2] = x; z = np.array(x); z[1] = 5; o[2:4] = x
x = np.array([1, 2, 3], dtype=np.uint8); o[:3] = x * 200; o[3:6] = x - 2; o[6] = x.sum(); \
o[7:10] = ~x; o[10] = (x == 2)[1]
x = np.array([1, 2]); y = x; y += 3; o[:2] = x; y = y + 1; o[2:4] = x
x = np.array([True, False]); o[:2] = x; o[2:4] = x | np.array([False, False]); o[4:6] = x + 1
x = np.array([1, 2, 3]); o[0], o[1], o[2] = x; p, *q = x; o[3] = p
x = np.array([[1, 2], [3, 4]]); o[:2] = x.T[0]; o[2:6] = x.T.copy().ravel(); \
o[6:10] = x.T.flatten(); o[10:14] = x.T.ravel()
x = np.zeros(100); x[7] = 3; y = x.reshape(10, 10); o[:10] = y[0] + y[1]; o[10] = (x * 2).sum(); \
z = y @ y; o[11] = z[0, 7]
x = np.zeros((3, 0)); o[0] = x.size; o[1] = x.sum(); o[2] = len(x)
x = np.array(5); o[0] = x; o[1] = x + 1; o[2] = x[()]; o[3] = x.ndim
x = np.array([1 + 2j, 3]); o[0] = x.real[0]; o[1] = x.imag[0]; o[2] = abs(x)[1]; x.imag[1] = 4; \
o[3] = x[1].imag; o[4] = np.vdot(x, x).real; o[5:7] = x.conj().imag; o[7:9] = np.iscomplex(x); o[9:11] = np.sign(x).real
x = np.array([1, 3, 5.5]); y = np.array([0, 3, 9.]); o[:3] = np.digitize(y, x); o[3:6] = np.digitize(y, x, True); \
o[6] = np.digitize(3, x[::-1]); o[7] = np.digitize(3, x[::-1], right=True); o[8] = np.digitize(2, x[:1]); \
o[9:12] = x.imag
x = np.array([4, 5, 6]); o[:2] = x[np.array([0, 2])[1] - 1:]; o[3] = x[-1]
x = np.array([1, 2, 4]); o[:3] = np.cumsum(x); o[3:6] = x.cumprod(); np.cumsum(a, out=o[10:20]); np.cumsum(a, out=a)
np.cumprod(a[:4], dtype=np.int32, out=o[:4]); a[:4].cumsum(out=o[4:8])
x = np.array([1., 2, 4]); o[:3] = np.exp(x); o[3:6] = np.round(x / 3, 2); o[6:9] = np.power(x, 2); \
o[9:12] = np.maximum(x, 2.5)
"""
LOOPS = r"""
s = 0\nfor x in a: s += x\no[0] = s
s = 0\nfor row in m: s += row[1] * row.sum()\no[0] = s
for i, x in enumerate(a): o[i] = x * i
for i, row in enumerate(m): o[i] = row[i]
for x, y in zip(a, m[1]): o[int(x) % 8] += y
for i, x in enumerate(reversed(a)): o[i] = x
for i, x in enumerate(m.T[1]): o[i] = x
for i, j in np.ndindex(2, 3): o[i * 3 + j] = m[i, j]
for i in np.ndindex((2, 2)): o[i[0] + 2 * i[1]] = m[i]
for (i, j), x in np.ndenumerate(m): o[i * 5 + j] = x * j
for i, x in enumerate(m.flat): o[i] = x
for x in np.array([3, 4]): o[int(x)] = x
for i, x in enumerate(np.array([[1, 2], [3, 4]]).T): o[i] = x[0] - x[1]
v = np.zeros(3)\nfor i in range(n): v = v + a[i]\no[:3] = v
v = np.zeros(3)\nfor i in range(n): v += a[i]\no[:3] = v
v = np.ones(2); w = np.zeros(2)\nfor i in range(n): v, w = w, v + w\no[:2] = v; o[2:4] = w
v = np.zeros(2); old = v\nfor i in range(n):\n    old = v\n    v = v + 1\no[:2] = v; o[2:4] = old
v = w = np.zeros(2)\nfor i in range(n):\n    x = v + 1.5\n    if i == 1: w = x\n    v = v + x\no[:2] = v; o[2] = w[1]
v = np.eye(2); r = np.array([[0, 1], [2, 1]])\nfor i in range(n): v = v @ r\no[:4] = v.ravel()
v = np.zeros(2)\nwhile True:\n    w = v + 1\n    if w[0] > 3: break\n    v = w\no[:2] = v; o[2:4] = w
v = np.zeros(2); w = np.ones(2)\nx = v if n > 2 else w\nx[0] = 7\no[:2] = v; o[2:4] = w
v = np.zeros(2)\nif n > 2: w = v\nelse: w = np.ones(2)\nw[1] = 5\no[:2] = v
v = np.zeros(3)\nfor i in range(n):\n    v = v + a[:3]\n    v[0] = i\no[:3] = v
v = np.zeros(3)\nfor i in range(n):\n    w = v\n    w[i] = 4\no[:3] = v
v = halved(np.ones(3), n); w = halved(v, 0); w[0] = 9\no[:3] = v; o[3:6] = w
v = np.zeros(2)\nfor i in range(n):\n    for j in range(n):\n        v = v + i\n    v = v * 2\no[:2] = v
v = np.arange(100).reshape(10, 10)\nfor i in range(2): v[:] = v @ v % 7\no[:10] = v[3]
for i in range(n): a[:] = twice(b) + a
total = 0\nfor i in range(n):\n    t = a[i:] * 2\n    total += t.sum() + t[0]\no[0] = total
"""
EXACT = ["i4", "u1", "f4"]


def halved(x: Any, n: int) -> Any:
    for _ in range(n):
        x = x * 0.5
    return x


def twice(x: Any) -> Any:
    return x * 2


def limited(x: Any, low: Any = None, by: int = 1) -> Any:
    if low is not None:
        x = np.maximum(x, low)
    return (x * 3 if x[0] > by else x * 5) - 1


def less(x: Any, by: Any) -> Any:
    x -= by
    return x


def itself(x: Any) -> Any:
    return x


def both(x: Any) -> Any:
    return x + 1, twice(x)


def either(x: Any, y: Any) -> Any:
    if x[0] > 2:
        return x + y[1:]
    return x + y[:-1]


# Functions that return expressions of arrays whose size run time knows.
RETURNED = """
a[:] = twice(b)
a[:] = twice(twice(b)) + limited(a, n)
a[:] = limited(b, by=n) * n
x, y = both(a); b[:] = x * y
a[1:] = either(a[1:], b); b[1:] = either(b[1:], a)
o[0] = twice(a).sum() + limited(b, by=100)[3] + len(both(m)[1])
x = twice(b) if a[1] > n else b * 4; a[:] = x + 1
x = twice(b); x += 1; x *= a; a[:] = x
x = b * 2; s = x.sum() + x[2]; y = x + 1; x -= s; a[:] = x * y
a[:] = less(b * 2, n); x = b * 3; b[:] = less(np.sqrt(x), 1)
x = np.sqrt(b); x /= 2; o[0] = x.sum(); x = b.copy(); x -= 3; a[:] = x
"""

# Operators in place on an expression that something else holds, which would have to change as well.
SHARED = """
x = b * 2; y = x; x -= 1; a[:] = y
x = y = b * 2; x += 3; a[:] = x + y
x = b * 2; less(x, 3); a[:] = x
x = b * 2; y = less(x, 1); a[:] = x
x = (b * 2, 1); y = x[0]; y += 1; a[:] = x[0]
x = b * 2; y = np.asarray(x); y += 1; a[:] = x
x = b * 2; y = itself(x); y += 1; a[:] = x
x = b * 2; y = itself(x); x += 1; a[:] = y
"""


def lines(table: str) -> list[str]:
    """Rows; a row may go on after a backslash."""
    return [line for line in table.replace("\\\n", "").splitlines() if line]


def kernel(text: str) -> Callable:
    """A kernel with these statements."""
    body = "\n".join("    " + line for line in text.split("\n"))
    code = compile(f"def kernel(a, b, m, k, n, o):\n{body}\n", f"<{text}>", "exec")
    scope: dict[str, Any] = {"np": np, "halved": halved}
    scope |= {"twice": twice, "limited": limited, "both": both, "either": either, "less": less, "itself": itself}
    exec(code, scope)
    assert isinstance(scope["kernel"], types.FunctionType)
    return scope["kernel"]


def run(text: str, dtype: str, device: str) -> list[np.ndarray]:
    """The arrays after one thread; values differ from each other, and fit int8."""
    a, b = (np.arange(10) * 7 % 11).astype(dtype), (np.arange(10) * 5 % 13 + 1).astype(dtype)
    m, k = (np.arange(20) * 3 % 7).reshape(4, 5).astype(dtype), (np.arange(20) * 5 % 9).reshape(4, 5).astype(dtype)
    args = [a, b, m, k, 3, np.zeros(40)]
    with gpu.device(device), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        gpu.jit(fma=False)(kernel(text))[1, 1](*args)
        gpu.synchronize()
    return [x for x in args if isinstance(x, np.ndarray)]


def check(text: str, dtype: str, device: str) -> None:
    try:
        want = run(text, dtype, "python")
    except (TypeError, OverflowError, AttributeError) as e:  # NumPy refuses this type here
        pytest.skip(str(e))
    rtol = 2e-6 if dtype == "f4" else 1e-12
    for got, expected in zip(run(text, dtype, device), want, strict=True):
        np.testing.assert_allclose(got, expected, rtol=rtol)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("text", lines(ASSIGNMENT))
def test_assignment(text: str, dtype: str, device: str) -> None:
    check(text, dtype, device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("text", lines(VALUES))
def test_values(text: str, dtype: str, device: str) -> None:
    check(f"for i, x in enumerate(({text},)): o[i] = x", dtype, device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("text", lines(SMALL))
def test_arrays_of_the_thread(text: str, device: str) -> None:
    check(text, "f8", device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("text", lines(LOOPS))
def test_loops(text: str, device: str) -> None:
    check(text.replace("\\n", "\n"), "i4", device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("text", lines(RETURNED))
def test_returned_expressions(text: str, device: str) -> None:
    check(text, "f8", device)


@pytest.mark.parametrize("text", lines(SHARED))
def test_shared_expressions_do_not_change_in_place(text: str) -> None:
    with pytest.raises(gpu.CompileError, match="the array may have another name, which changes with it"):
        run(text, "f8", "cpu")


def test_a_returned_expression_is_used_before_its_arrays_change() -> None:
    def changes(x: Any) -> Any:
        t = x * 2
        x[0] = 9
        return t

    def at_once(x: Any, y: Any) -> None:
        y[:] = changes(x)

    def later(x: Any, y: Any) -> None:
        t = twice(x)
        x[0] = 9
        y[:] = t

    for kernel in (at_once, later):
        with pytest.raises(gpu.CompileError, match="its arrays may have changed"):
            gpu.jit(kernel)[1, 1](np.ones(3), np.zeros(3))


# In the Numba dialect arrays keep the widths that scalars lose; a is int32 (the greatest, 3), f is float32.
NUMBA = [
    ("(a + a[:1])[0]", -2),
    ("(a + 1)[0]", 2**31),
    ("(-a - a[:1])[0]", 2),
    ("a.sum()", 2**31 + 2),
    ("(f * 2)[0] - f[0]", float(np.float32(0.1))),
    ("np.mean(f)", (float(np.float32(0.1)) + 0.5) / 2),
    ("(a // 2)[1] + np.zeros(2)[0]", 1),
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("text, want", NUMBA)
def test_numba_dialect(text: str, want: float, device: str) -> None:
    from gpu import cuda

    scope: dict[str, Any] = {"np": np}
    exec(f"def kernel(a, f, o):\n    o[0] = {text}\n", scope)
    out = np.zeros(1)
    with gpu.device(device), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cuda.jit(scope["kernel"])[1, 1](np.array([2**31 - 1, 3], "i4"), np.array([0.1, 0.5], "f4"), out)
    assert out[0] == pytest.approx(want, rel=1e-7)


def test_shapes_that_differ_at_run_time_raise() -> None:
    def kernel(a: Any, b: Any) -> None:
        a[:] = b * 2

    for device in DEVICES:
        a = np.zeros(100)
        with gpu.device(device):
            gpu.jit(kernel)[1, 1](a, np.ones(1))
            assert (a == 2).all()
            with pytest.raises(ValueError, match="don't go together"):
                gpu.jit(kernel)[1, 1](a, np.ones(3))
                gpu.synchronize()


@pytest.mark.parametrize("device", DEVICES)
def test_overlapping_arguments(device: str) -> None:
    def kernel(a: Any, b: Any, c: Any) -> None:
        a[:] = b + c

    whole = np.arange(300.0)
    want = whole.copy()
    want[1:101] = want[:100] + want[150:250]
    with gpu.device(device):
        x = gpu.to_device(whole) if hasattr(gpu, "to_device") else gpu.array(whole)
        gpu.jit(kernel)[1, 1](x[1:101], x[:100], x[150:250])
        gpu.synchronize()
    np.testing.assert_array_equal(np.asarray(x.get() if hasattr(x, "get") else x), want)


@pytest.mark.parametrize("device", DEVICES)
def test_long_arrays_overlap_in_any_way(device: str) -> None:
    def kernel(a: Any, m: Any) -> None:
        a[1:] = a[:-1]
        a[:-2] = a[2:] + a[:-2]
        a[:] = a[::-1] + a
        a[10:70] = a[10:70][::-1]
        m[1:] = m[:-1]
        m[:, 1:] = m[:, :-1]

    def got(on: str) -> list[np.ndarray]:
        args = [np.arange(100.0), np.arange(200.0).reshape(10, 20)]
        with gpu.device(on):
            gpu.jit(kernel)[1, 1](*args)
            gpu.synchronize()
        return args

    for x, y in zip(got(device), got("python"), strict=True):
        np.testing.assert_array_equal(x, y)


def test_what_no_order_makes_right_raises() -> None:
    def kernel(m: Any) -> None:
        m[:] = m.T

    m = np.arange(100.0).reshape(10, 10)
    with gpu.device("cpu"), pytest.raises(ValueError, match="overlap"):
        gpu.jit(kernel)[1, 1](m)
