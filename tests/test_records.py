"""Records in kernels: every device leaves in the arrays what NumPy leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gpu
import numpy as np
import pytest

DEVICES = ("cpu", "emulated", "python")
INNER = np.dtype([("a", "f8"), ("b", "i2")], align=True)
PARTICLE = np.dtype([("id", "i4"), ("inner", INNER), ("vec", "f4", 3), ("grid", "u2", (2, 2)), ("on", "?")], align=True)
PACKED = np.dtype(
    [("id", "u1"), ("inner", [("a", "f8"), ("b", "i2")]), ("vec", "f4", 3), ("grid", "u2", (2, 2)), ("on", "?")]
)
SPREAD = np.dtype(
    {
        "names": ["id", "inner", "vec", "grid", "on"],
        "formats": ["i8", [("a", "f4"), ("b", "f8")], ("f8", 3), ("i4", (2, 2)), "?"],
        "offsets": [40, 64, 8, 88, 2],
        "itemsize": 120,
    }
)
TWICE = [np.array((2.5, -7), INNER)[()], np.rec.array((2.5, -7), INNER)[()]]


def filled(dtype: Any, n: int = 5) -> np.ndarray:
    """Records of different numbers, and of 0x55 where no field is."""
    r = np.full(n * dtype.itemsize, 0x55, np.uint8).view(dtype)
    r["id"] = np.arange(n) + 1
    r["inner"]["a"] = np.arange(n) * 1.5
    r["inner"]["b"] = -np.arange(n)
    r["vec"] = np.arange(3 * n).reshape(n, 3) / 4
    r["grid"] = np.arange(4 * n).reshape(n, 2, 2)
    r["on"] = np.arange(n) % 2
    return r


def reads(r, out):
    i = gpu.grid(1)
    e = r[i]
    out[i] = e.id + e["inner"].a * 2 + e.inner["b"] + e.vec[1] + e["grid"][1, 0]
    if e.on:
        out[i] += 1000


def writes(r, out):
    i = gpu.grid(1)
    e = r[i]
    e.id = i * 3
    e["inner"]["a"] = 0.5
    e.inner.b += 7
    e.vec[2] = e.vec[0] + 1
    e["grid"][0, i % 2] = 9
    r[i].on = not e.on


def columns(r, out):
    i = gpu.grid(1)
    ids, a, vec = r["id"], r["inner"]["a"], r.vec
    out[i] = ids[i] + a[-1] + vec[i, 2] + len(ids) + r["grid"].shape[2] + r["on"][i]
    ids[i] = vec.shape[1]
    r.inner.b[i] += 1


def numbered(r, out):
    i = gpu.grid(1)
    e = r[i]
    out[i] = e[0] + e[-4][0] + len(e) + e[2][1]
    e[0] = 4


def unpacked(r, out):
    i = gpu.grid(1)
    a, b = r[i].inner
    out[i] = a - b
    for x in r[i].inner:
        out[i] += x


def whole(r, out):
    i = gpu.grid(1)
    if i > 0:
        r[i] = r[0]
        r[i].id = 77


def whole_inner(r, out):
    i = gpu.grid(1)
    r[i].inner = (i, i + 0.75)
    if i == 1:
        r[i].inner = r[0]["inner"]
    if i == 2:
        r[i].inner = 3
    out[i] = r[i].inner.a


def swapped(r, out):
    i = gpu.grid(1)
    if i < 2:
        keep = r[i].copy()
        r[i] = r[4 - i]
        r[4 - i] = keep
        keep.id = 100
        out[i] = keep.id + r[4 - i].id


def compared(r, out):
    i = gpu.grid(1)
    out[i] = 10 * (r[i] == r[2]) + (r[i].inner != r[3].inner)


def chosen(r, out):
    i = gpu.grid(1)
    e = r[0] if i % 2 else r[i]
    out[i] = e.id
    for k in range(i):
        e = r[k]
    e.inner.b = 50 + i


def scale(e, factor):
    e.vec[0] = e.vec[0] * factor
    return e


def passed(r, out):
    i = gpu.grid(1)
    out[i] = scale(r[i], 3).inner.a


def iterated(r, out):
    if gpu.grid(1) == 0:
        for k, e in enumerate(r):
            out[k] = e.id
            e.id = k
        for e in r:
            out[0] += e.vec[0]


def facts(r, out):
    i = gpu.grid(1)
    e = r[i]
    out[i] = r.itemsize + r.nbytes + len(e.dtype.names) + r.dtype.itemsize + r["vec"].ndim + e.itemsize
    if r.dtype == e.dtype:
        out[i] += 0.5


KERNELS = [
    reads,
    writes,
    columns,
    numbered,
    unpacked,
    whole,
    whole_inner,
    swapped,
    compared,
    chosen,
    passed,
    iterated,
    facts,
]


def run(device: str, kernel: Callable[..., Any], args: list[Any], n: int = 5) -> list[Any]:
    """The arguments after a launch of a block of n threads."""
    with gpu.device(device):
        gpu.jit(kernel)[1, n](*args)
    return args


def reference(kernel: Callable[..., Any], args: list[Any], n: int = 5) -> list[Any]:
    """The arguments after the plain function ran on record arrays, thread by thread."""
    for i in range(n):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(gpu, "grid", lambda ndim, i=i: i)
            kernel(*[a.view(np.recarray) if isinstance(a, np.ndarray) and a.dtype.names else a for a in args])
    return args


def copied(args: list[Any]) -> list[Any]:
    """Copies to the last byte: NumPy's leave out what isn't a field."""
    return [np.frombuffer(bytearray(a.tobytes()), a.dtype).reshape(a.shape) for a in args]


def same(got: list[Any], wanted: list[Any]) -> None:
    for g, w in zip(got, wanted, strict=True):
        assert g.tobytes() == w.tobytes(), f"{g}\n{w}"


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [PARTICLE, PACKED, SPREAD], ids=["aligned", "packed", "spread"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_kernels(kernel: Callable[..., Any], dtype: np.dtype, device: str) -> None:
    args = [filled(dtype), np.zeros(5)]
    wanted = reference(kernel, copied(args))
    same(run(device, kernel, args), wanted)
