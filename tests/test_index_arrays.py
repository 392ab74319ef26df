"""Lists and arrays of integers as indices, read, written and changed in place: NumPy's results in both dialects."""

from __future__ import annotations

import warnings
from typing import Any

import gpu
import numpy as np
import pytest
from gpu import cuda

# a: 16 numbers; m: 6 x 5; c: 2 x 2 x 3; many: 5 indices; few: 4 of uint8; i: 0 ... 2 where elements are read
READS = """
m[[0, 1], [1, 0]].sum() + i
m[:, [1, 0]][i, 1]
m[[2, 0], 1:][1, 2]
m[..., [0, 1]][i, 1]
m[np.ix_([0, 2], [1, 3])][1, 0]
m[[0, 2]][1, i] + m[[0, -1]][1, i]
m[[-1, -2], [-2, i]][1]
c[:, [0, 1], 1][1, 1] + c[0, :, [0, 1]][1, 0] + c[[0, 1], :, [0, 1]][1, 1]
c[:, [0, 1], [1, 0]][1, 1] + c[[0, 1], None, [1, 0]][1, 0, 1] + c[:, [0, 1], ..., [1, 0]][1, 0]
c[:, [[0, 1], [1, 0]], 0][1, 1, 0]
a[[0, i, 2 * i + 1]].sum()
a[np.array([3, 1, 2])][i] + a[np.arange(4)[::-1]][i]
np.sort(a[[5, 3, 1]])[0]
(a[[0, 1]] * 2 + a[[i, 1]])[0]
m[[True, False, True, False, False, False]][1, i] + m[:, [True, False, True, False, False]][i, 1]
m[(0, 1), (1, i)][1] + m[1, [0, 2]][1] + m[[0, 2], 1][1]
a[LIST][i] + m[LIST, 0][i] + m[:, LIST][i, 1]
m[ROWS][1, 0] + m[ROWS, COLUMNS][1, 0]
a[[j for j in range(3)]][i] + a[list((1, 2, 3))][i] + a[sorted((3, 1, 2))][0]
rows(m, (0, 1)) + i
m[[0, 1] if i > 0 else [1, 2]][0, 1]
m[[0, 1] + [2]][2, i] + m[[5, 0, 1][1:]][0, i]
a[some(i)].sum() + m[some(i) % 3, 1].sum()
a[many].sum() + a[many][2] + (a[many] * a[many]).sum() + np.dot(a[many], a[many])
(a[many[1:4]] * a[0:3]).sum() + np.max(a[many + 1]) + len(a[many])
m[many % 5, 0].sum() + m[many % 5].sum()
a[a[:3].astype(np.int32)][1] + sum(a[[1, 2]])
m[:3][[0, 2], :3].sum() + m[:3, 1:4][[0, 2]][1, 1]
a[[]].size
""".strip().splitlines()

WRITES = """
m[[0, 2]] = 7
m[[0, 2], [1, 3]] = (5, 6)
m[[0, 2], [1, 3]] += 1
m[:, [1, 0]] = m[:, [0, 1]]
m[:3, [1, 0]] = m[:3, [0, 1]]
m[[1, 0]] = m[[0, 1]]
m[[many[2], 1]] = m[[1, many[2]]]
m[:, [0, 2]] = m[:, [2, 0]] * 2
m[[0, 1], :] -= m[[1, 2], :]
m[[0, 1, 2]] = m[[1, 2, 0]] + m[[2, 0, 1]]
m[np.ix_([0, 2], [1, 3])] = np.array([[1.0, 2.0], [3.0, 4.0]])
m[np.ix_([0, 2], [1, 3])] *= 2
a[[1, 1, 1]] += 1
a[[1, 2, 1]] = (7, 8, 9)
a[[0, 2, 4]] = a[[4, 2, 0]]
a[many] = 3
a[many] = many
m[many] = 2
m[many[:3], :] = a[:5]
m[[0, -1], 1:3] = 9
m[..., [0, 1]] = a[:2]
m[[[0, 1], [2, 3]], 0] = np.array([[1, 2], [3, 4]])
m[1, [0, 2]] = m[1, [2, 0]]
m[[0, 2], 1] += a[:2]
a[LIST] = 5; a[ROWS] *= 2; m[:, LIST] = 4; m[LIST, LIST] = a[3:6]
a[some(1)] = 8; a[some(1)] += some(2)
a[[True] * 3 + [False] * 13] = 2
a[-1 - np.arange(3)] = a[:3]
a[many[::-1]] = np.arange(5.0)
m[[2, 1]] = a[:5]
m[1:3][[0, 1], [0, 1]] = 2; m.T[[0, 1]] = 3; m[[0, 2], None, :2] = 6
t = a[[1, 2]]; t[0] = 50; a[5] = t[0]
t = a[[1, 2, 3]]; a[1] = 77; a[0] = t[0]
a[few] = 5; a[few[2:4]] += 2
c[:, [0, 1], [1, 0]] = 8; c[0, :, [0, 1]] = 2; c[[0, 1], 1] += 2; c[[1], ..., [0, 2]] = 5
""".strip().splitlines()

LIST = [2, 0, 1]
ROWS, COLUMNS = np.array([2, 0]), np.array([[1], [2]])


def rows(m: Any, at: Any) -> Any:
    return m[at]


def some(i: Any) -> Any:
    t = np.zeros(4, np.int32)
    for k in range(4):
        t[k] = (k * 3 + i) % 4 - 2
    return t


def kernel(body: list[str]) -> Any:
    scope = dict(globals())
    exec("def kernel(o, a, m, c, many, few):\n    i = gpu.grid(1)\n" + "".join(f"    {x}\n" for x in body), scope)
    return scope["kernel"]


def data() -> list[Any]:
    a, m = (np.arange(16) * 7 % 11).astype(np.float32), np.random.default_rng(1).random((6, 5)).astype(np.float32)
    return [a, m, np.arange(12.0).reshape(2, 2, 3), np.array([3, -1, 3, 0, 5]), np.array([3, 1, 2, 7], np.uint8)]


def launch(jit: Any, function: Any, threads: int, *args: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jit(function)[1, threads](*args)
        gpu.synchronize()


@pytest.mark.parametrize("jit", [gpu.jit, cuda.jit])
def test_reads(jit: Any, gpu_device: str) -> None:
    want, got = np.zeros((len(READS), 3)), np.zeros((len(READS), 3))
    function = kernel([f"o[{k}, i] = {line}" for k, line in enumerate(READS)])
    with gpu.device("python"):
        launch(gpu.jit, function, 3, want, *data())
    launch(jit, function, 3, got, *data())
    for line, x, y in zip(READS, got, want, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, err_msg=line)


@pytest.mark.parametrize("jit", [gpu.jit, cuda.jit])
def test_writes(jit: Any, gpu_device: str) -> None:
    """Each line works on arrays of its own."""
    body = []
    for k, line in enumerate(WRITES):
        body += [f"a, m, c = as_[{k}], ms[{k}], cs[{k}]", line]
    scope = dict(globals())
    exec("def kernel(as_, ms, cs, many, few):\n" + "".join(f"    {x}\n" for x in body), scope)

    def stacked() -> list[Any]:
        return [np.stack([x] * len(WRITES)) for x in data()[:3]] + data()[3:]

    want, got = stacked(), stacked()
    scope["kernel"](*want)
    launch(jit, scope["kernel"], 1, *got)
    for x, y in zip(got[:3], want[:3], strict=True):
        for k, line in enumerate(WRITES):
            np.testing.assert_allclose(x[k], y[k], rtol=1e-6, err_msg=line)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_records(device: str) -> None:
    def function(r: Any, o: Any) -> None:
        t = r[[2, 0]]
        r[0]["x"] = 9
        o[0], o[1] = t[1]["x"], t[0]["y"]
        r[[1, 2]] = r[[2, 1]]

    dtype = np.dtype([("x", "f4"), ("y", "i2")])
    want, got = (np.array([(1, 2), (3, 4), (5, 6)], dtype) for _ in range(2))
    o, p = np.zeros(2), np.zeros(2)
    function(want, o)
    with gpu.device(device):
        launch(gpu.jit, function, 1, got, p)
    assert (got == want).all() and (o == p).all()


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize(
    ("body", "error", "words"),
    [
        ("o[0] = a[many * 4].sum()", IndexError, "index 20 is out of bounds for axis 0 with size 16"),
        ("o[0] = m[1, many].sum()", IndexError, "index 5 is out of bounds for axis 1 with size 5"),
        ("m[:, [many[4], 0]] = 1", IndexError, "index 5 is out of bounds for axis 1 with size 5"),
        ("a[many] = m[0, :3]", ValueError, "the shapes of these arrays don't go together"),
        ("m[many[:2], many] = 0", ValueError, "the shapes of these arrays don't go together"),
        ("a[many] = a[3:8]", ValueError, "overlap"),
        ("m[[True, False]] = 1", IndexError, "boolean index did not match"),
    ],
)
def test_errors_at_run_time(body: str, error: type[Exception], words: str, device: str) -> None:
    with gpu.device(device), pytest.raises(error, match=words):
        launch(
            gpu.jit(boundscheck=True), kernel([body]), 1, np.zeros(1), *data()[:3], *[x * 4 // 4 for x in data()[3:]]
        )


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("a[many] += 1", "how many there are is known at run time only"),
        ("a[many] = a[many] * 2", "how many there are is known at run time only"),
        ("c[[0, 2]] = 1", "out of range"),
        ("c[[0, 1], [0, 1, 0]]", "don't go together"),
        ("a[[0, 1, 2]] = (1, 2)", "doesn't fill"),
        ("a[[0.5]] = 1", "a list as an index"),
        ("m[[0, 1], [0], [1]] = 1", "3 indices"),
    ],
)
def test_what_is_refused(body: str, why: str) -> None:
    with pytest.raises(gpu.CompileError, match=why):
        gpu.jit(kernel([body.replace("c[", "np.zeros((2, 2))[")])).compile(
            "f4[:], f4[:], f4[:, :], f8[:, :, :], i8[:], u1[:]"
        )
