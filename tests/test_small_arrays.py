"""NumPy's functions on small arrays in kernels, compared with NumPy's own, which the device `python` runs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gpu
import numpy as np
import pytest
from generate.writer import function_of


def small(a):
    """The first 16 elements in an array of constant shape."""
    b = np.zeros(16, np.float32)
    for k in range(16):
        b[k] = a[k]
    return b


def k_where(a, o):
    i = gpu.grid(1)
    t = a[:8] - 2
    u = np.where(t > 0, t, -t)
    o[i] = u.sum() + np.where(t > i, 1, 0).sum()


def k_sort(a, o):
    i = gpu.grid(1)
    t = np.zeros(5)
    for k in range(5):
        t[k] = (k * 3 + i) % 5
    u = np.sort(t)
    v = np.argsort(t)
    o[i] = u[0] + u[4] * 10 + v[0] * 100 + t[0]


def k_sort_m(a, o):
    i = gpu.grid(1)
    t = np.zeros(5)
    for k in range(5):
        t[k] = (k * 3 + i) % 5
    t.sort()
    o[i] = t[0] + t[4] * 10 + t.argsort()[2]


def k_searchsorted(a, o):
    i = gpu.grid(1)
    t = np.array([1.0, 3.0, 5.0, 9.0])
    o[i] = np.searchsorted(t, i) + 10 * np.searchsorted(t, 3.0, side="right") + np.searchsorted(a[:6], 2.5)


def k_linspace(a, o):
    i = gpu.grid(1)
    t = np.linspace(0, i, 5)
    u = np.arange(4) * 2
    w = np.arange(1, 2, 0.25)
    o[i] = t[1] + t.sum() + u.sum() + w.sum() + len(w)


def k_concat(a, o):
    a = small(a)
    i = gpu.grid(1)
    t = np.concatenate((a[:3], np.arange(2.0)))
    s = np.stack((t, t * 2))
    o[i] = (
        t.sum() * (i + 1)
        + s[1, 2]
        + s.shape[0]
        + np.vstack((t, t)).sum()
        + np.hstack((t, t)).sum()
        + np.append(t, 3.0).sum()
    )


def k_cumsum(a, o):
    a = small(a)
    i = gpu.grid(1)
    t = a[:5] + i
    c = np.cumsum(t)
    p = np.cumprod(t)
    d = np.diff(t)
    o[i] = c[4] + p[2] + d.sum() + t.cumsum()[1]


def k_interp(a, o):
    i = gpu.grid(1)
    o[i] = np.interp(i / 2, np.array([0.0, 2.0, 5.0]), np.array([1.0, 3.0, -1.0])) + np.clip(i, 2, 5)


def k_clip(a, o):
    a = small(a)
    i = gpu.grid(1)
    t = np.clip(a[:6], 1, 4)
    o[i] = t.sum() + i + a[:4].clip(1, 2).sum()


def k_roll(a, o):
    a = small(a)
    i = gpu.grid(1)
    t = np.roll(a[:5], 2)
    f = np.flip(a[:5])
    o[i] = (
        t[0]
        + f[0] * 10
        + np.roll(a[:5], -1)[0] * 100
        + np.fliplr(a[:6].reshape(2, 3))[0, 0]
        + np.flipud(a[:6].reshape(2, 3))[0, 0]
        + i
    )


def k_outer(a, o):
    a = small(a)
    i = gpu.grid(1)
    t = np.outer(a[:3], a[1:4])
    c = np.cross(a[:3] + i, a[2:5])
    o[i] = t[2, 1] + c[0] + c[2] + np.trace(t) + np.inner(a[:3], a[1:4]) + np.vdot(a[:3], a[1:4])


def k_eye(a, o):
    i = gpu.grid(1)
    e = np.eye(3)
    d = np.identity(2)
    k = np.eye(3, k=1)
    o[i] = e.sum() + d[0, 0] + k[0, 1] + np.diag(e).sum() + np.tri(3).sum() + np.full((2, 2), i).sum()


def k_linalg(a, o):
    i = gpu.grid(1)
    m = np.eye(3) * (i + 2)
    m[0, 2] = 1
    v = np.array([1.0, 2.0, 3.0])
    o[i] = np.linalg.norm(v) + np.linalg.det(m) + np.linalg.inv(m)[0, 2] + np.linalg.solve(m, v)[1] + np.linalg.norm(m)


def k_matpow(a, o):
    i = gpu.grid(1)
    m = np.array([[1.0, 1.0], [1.0, 0.0]])
    r = np.linalg.matrix_power(m, 5)
    o[i] = r[0, 1] + i + np.kron(m, m).sum()


def k_unique(a, o):
    a = small(a)
    i = gpu.grid(1)
    o[i] = (
        np.count_nonzero(a[:8] > i)
        + np.argmax(a)
        + np.ptp(a[:5])
        + np.std(a[:5])
        + np.var(a[:5])
        + np.median(a[:5])
        + np.percentile(a[:5], 30)
    )


def k_average(a, o):
    a = small(a)
    i = gpu.grid(1)
    o[i] = (
        np.average(a[:4], weights=a[1:5])
        + np.allclose(a[:3], a[:3])
        + np.array_equal(a[:3], a[:3])
        + np.isin(a[1], (1, 2))
        + np.nansum(a[:4])
        + np.nanprod(a[:4])
        + np.nanmax(a[:4])
        + i
    )


def k_tile(a, o):
    a = small(a)
    i = gpu.grid(1)
    o[i] = (
        np.tile(a[:3], 2).sum()
        + np.repeat(a[:3], 2)[2]
        + np.expand_dims(a[:3], 0).shape[0]
        + np.squeeze(a[:3].reshape(1, 3)).shape[0]
        + np.atleast_1d(a[i]).sum()
    )


def k_take(a, o):
    a = small(a)
    i = gpu.grid(1)
    o[i] = (
        np.take(a, (1, 2)).sum()
        + a.take((1, i)).sum()
        + np.select((a[i] > 4, a[i] > 2), (1.0, 2.0), 0)
        + np.ravel(a[:4]).sum()
        + np.zeros_like(a[:4]).sum()
    )


def k_polyval(a, o):
    a = small(a)
    i = gpu.grid(1)
    o[i] = np.polyval(np.array([1.0, 2.0, 3.0]), i) + np.trapezoid(a[:4]) + np.convolve(a[:3], a[:2])[1]


def k_triu(a, o):
    a = small(a)
    i = gpu.grid(1)
    m = np.ones((3, 3))
    o[i] = (
        np.triu(m).sum()
        + np.tril(m, -1).sum()
        + i
        + np.rot90(m)[0, 0]
        + np.swapaxes(m, 0, 1).sum()
        + np.moveaxis(m, 0, 1).sum()
        + np.split(a[:4], 2)[1].sum()
    )


def k_more(a, o):
    i = gpu.grid(1)
    a = small(a)
    m = a[:9].reshape((3, 3)) + np.eye(3, dtype=np.float32) * (i + 1)
    o[i] = np.argsort(a[:5] * 3 + i)[1] + a[:7].searchsorted(3.5) + a.repeat(2)[5] + a[:4].reshape((1, 4)).squeeze()[1]
    o[i] += np.quantile(a[:6], 0.3) + np.atleast_2d(a[:3]).shape[0] + np.nanmean(a[:5]) + np.nanmin(a[2:5])
    o[i] += np.linalg.det(m) * 1e-3 + np.linalg.inv(m)[2, 1] + np.linalg.solve(m, np.eye(3, dtype=np.float32))[0, 0]
    o[i] += np.sort(m, axis=0)[0, 1] + np.sort(m)[2, 0] + np.stack((a[:2], a[2:4]), axis=1)[1, 0] + np.diff(a[:5], 2)[1]
    o[i] += (
        np.concatenate((m, m * 2), axis=1)[1, 4] + np.flip(m)[0, 1] + np.roll(m, 1, axis=0)[0, 0] + np.roll(m, 2)[1, 1]
    )


def k_nan_is_last(a, o):
    i = gpu.grid(1)
    t = np.array([2.0, np.nan, a[i], 1.0])
    u = np.sort(t)
    o[i] = u[0] * 100 + u[2] + (u[3] != u[3]) * 7 + np.argsort(t)[3] * 1000


def k_mask_set(a, o):
    i = gpu.grid(1)
    t = np.zeros(6)
    for k in range(6):
        t[k] = k * (i % 4) - 4
    t[t > 2] = 9.0
    o[i] = t.sum() + t[0] * 3
    m = t.reshape((2, 3))
    m[m < 0] = i
    o[i] += m.sum()


def k_index_array(a, o):
    i = gpu.grid(1)
    t = np.zeros(6)
    idx = np.array((0, 2, 4))
    t[idx] = 3.5
    t[idx] += 1
    u = t[idx]
    t[(1,)] = 2
    o[i] = u.sum() + t.sum() + i


def k_index_list(a, o):
    i = gpu.grid(1)
    t = np.zeros(6)
    for k in range(6):
        t[k] = k * i
    u = t[[0, 2, 5]]
    t[[1, 3]] = 7
    o[i] = u[1] + u.sum() + t[1] + t[3] + len(u) + a[[0, i, 3]].sum()
    t[[0, i % 6]] = (4, 5)
    o[i] += t[0] + t[i % 6] * 10
    s = 0.0
    for k in range(3):
        u = t[[k, k + 1]]
        s += u[0] * u[1]
    o[i] += s


def k_index_lists_whose_values_move(a, o):
    i = gpu.grid(1)
    t = np.array([3, 1, 2, 0])
    t[[1, 0]] = t[:2]
    t[np.array([2, 3])] = t[1:3]
    t[t[2:]] = 10 + t[:2]
    a[[i, i]] = a[i : i + 1]
    m = np.arange(6).reshape(3, 2)
    m[[1, 2]] = m[:2]
    m[[2, 0]] = m[1][::-1]
    o[i] = t[0] + 20 * t[1] + 400 * t[2] + 8000 * t[3] + m[0, 1] * 10 + m[2, 0] + m[1, 1] * 100 + a[i]


def k_index_pairs(a, o):
    i = gpu.grid(1)
    m = np.arange(12.0).reshape(3, 4) + i
    m[np.ix_([0, 2], [1, 3])] *= 2
    o[i] = m[np.ix_([0, 1], (i % 4, 1))].sum() + m[2, 3] + np.ix_([1, 0], [2])[0].shape[1]


def k_types_of_joined_arrays(a, o):
    i = gpu.grid(1)
    t = np.ones(2, np.uint8)
    joined = np.concatenate((t, np.ones(2, np.int16)))
    o[i] = np.append(t, 2).itemsize + 10 * joined.itemsize + 100 * np.stack((t, t)).itemsize


def k_more_axes(a, o):
    i = gpu.grid(1)
    m = np.array([[1, 4, 9], [2, i, 7]])
    d = np.diff(m)
    o[i] = d[1, 0] + d[0, 1] * 10 + np.isin(m, (4, 7)).sum() * 100 + np.kron(m[0], m[1, :2])[3] * 1000


def k_index_rows(a, o):
    i = gpu.grid(1)
    m = np.zeros((3, 4))
    for k in range(12):
        m[k // 4, k % 4] = k + i
    r = m[[0, 2]]
    m[[1, 2]] = 5
    m[[0, 1]] = r
    o[i] = r.sum() + m[2, 2] + m[1, 3] * 10


KERNELS = [k for name, k in list(globals().items()) if name.startswith("k_")]


def run(kernel: Callable[..., Any], device: str) -> np.ndarray:
    """The output of 16 threads."""
    a, out = (np.arange(16) % 7).astype(np.float32), np.zeros(16)
    with gpu.device(device), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gpu.jit(fma=False)(kernel)[1, 16](a, out)
        gpu.synchronize()
    return out


def numpy_reads_first() -> bool:
    """NumPy 2.2 takes indices from an array while it writes to it, and may leave its bounds; later ones don't."""
    t = np.array([9, 9, 3, 2])
    t[t[2:]] = np.array([0, 1])
    return t.tolist() == [9, 9, 1, 0]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__[2:])
def test_small_array(kernel: Callable[..., Any]) -> None:
    if kernel is k_index_lists_whose_values_move and not numpy_reads_first():
        pytest.skip("this NumPy changes indices that it has yet to read")
    want = run(kernel, "python")
    assert want.any()
    for device in ("cpu", "emulated"):
        np.testing.assert_allclose(run(kernel, device), want, rtol=2e-5, err_msg=device)


@pytest.mark.parametrize("device", ["python", "cpu", "emulated"])
def test_a_singular_matrix_raises(device: str) -> None:
    def kernel(o):
        m = np.ones((2, 2))
        o[0] = np.linalg.inv(m)[0, 0]

    with gpu.device(device), pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        gpu.jit(kernel)[1, 1](np.zeros(1))
        gpu.synchronize()


WRONG_MATRICES = {
    "det": (lambda m: np.linalg.det(m[:, :1]), np.linalg.LinAlgError, "must be square"),
    "inv": (lambda m: np.linalg.inv(m[:1])[0, 0], np.linalg.LinAlgError, "must be square"),
    "solve": (lambda m: np.linalg.solve(m, m[0, :1])[0], ValueError, "solve"),
    "power": (lambda m: np.linalg.matrix_power(m, -1)[0, 0], ValueError, "negative power"),
}


@pytest.mark.parametrize("case", WRONG_MATRICES)
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_a_matrix_that_makes_no_sense_raises(case: str, device: str) -> None:
    function, exception, message = WRONG_MATRICES[case]

    @gpu.jit
    def kernel(o):
        m = np.array([[1.0, 2.0], [3.0, 5.0]])
        o[0] = function(m)

    with gpu.device(device), pytest.raises(exception, match=message) as caught:
        kernel[1, 1](np.zeros(1))
        gpu.synchronize()
    assert Path(__file__).name in str(caught.value)  # the user's line, not one of the library


def test_what_has_no_constant_shape() -> None:
    with pytest.raises(gpu.TypingError, match=r"np.sort\(\) needs an array whose size is known when compiling"):
        gpu.jit(lambda a: np.sort(a)).compile("f4[::1]")
    with pytest.raises(gpu.UnsupportedError, match="count in a loop"):
        gpu.jit(lambda a: np.unique(a)).compile("f4[::1]")


def test_mistakes_in_python_of_this_package_are_shown_where_it_is_called() -> None:
    with pytest.raises(gpu.TypingError) as caught:
        gpu.jit(lambda x, n: np.linspace(0, 1, n)).compile("f4[::1], i8")
    first, *rest = str(caught.value).splitlines()
    assert "test_small_arrays.py" in first
    assert any("_smallarrays.py" in line and "in the code of this package" in line for line in rest)
    assert any("of an array argument each thread can take a row" in line for line in rest)


@pytest.mark.parametrize(
    "size", ["abs(-3)", "abs(np.int64(-3))", "int(np.ceil(2.5))", "int(np.trunc(np.float64(3.5)))"]
)
def test_sizes_are_computed_when_compiling(size: str) -> None:
    names: dict = {"np": np}
    exec(f"def kernel(out):\n    out[0] = np.ones({size}).size\n", names)
    out = np.zeros(1, np.int32)
    gpu.jit(names["kernel"])[1, 1](out)
    assert out[0] == 3


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_rows_of_unknown_length_whose_values_move(device: str) -> None:
    def apart(m, x):
        m[[1, 0]] = x[:2]

    def moves(m, x):
        m[[1, 0]] = m[:2]

    with gpu.device(device):
        m, x = np.zeros((3, 4)), np.arange(12.0).reshape(3, 4)
        gpu.jit(apart)[1, 1](m, x)
        gpu.synchronize()
        assert (m[:2] == x[1::-1]).all()
        with pytest.raises(ValueError, match="the arrays of this assignment overlap"):
            gpu.jit(moves)[1, 1](m, x)
            gpu.synchronize()


def test_as_many_values_as_indices() -> None:
    def three_of_two(x):
        x[[0, 1, 2]] = x[:2]

    with pytest.raises(ValueError, match="shapes of these arrays don't go together"):
        gpu.jit(three_of_two)[1, 1](np.zeros(4))


@pytest.mark.parametrize("made", ["np.roll(w, 1)", "w[[2, 0, 1]]", "w[np.array([1, 0, 2])]", "np.cumsum(w[::-1])"])
def test_what_reads_the_array_that_it_made_an_iteration_before(made: str) -> None:
    source = f"""\
def kernel(o):
    v = np.arange(3)
    w = v
    for _ in range(3):
        w = {made}
    v[1] += 2
    o[:3] = w
"""
    with pytest.raises(gpu.UnsupportedError, match="the memory of the one made an iteration before"):
        gpu.jit(function_of(source, 0)).compile("i8[::1]")
