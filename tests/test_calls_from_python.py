"""Device functions called from Python: arguments and results of all kinds, as on the ``python`` device."""

from __future__ import annotations

import collections
import dataclasses
import enum
from typing import Any

import gpu
import numpy as np
import pytest

DEVICES = ["python", "cpu", "emulated"]
Point = collections.namedtuple("Point", "x y")
TABLE = np.arange(6.0).reshape(2, 3)


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Ray:
    start: float
    step: int


def call(device: str, function: Any, *args: Any) -> Any:
    with gpu.device(device):
        return gpu.jit(device=True)(function)(*args)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda pair, a: pair[0] + a[pair[1]], ((1.5, 2), np.arange(3.0))),
        (lambda p: p, (Point(1, np.float32(2.5)),)),
        (lambda p: Point(p.y, (p.x, True)), (Point(1, 2.5),)),
        (lambda r: r, (Ray(1.5, 2),)),
        (lambda r: Ray(r.start + 1, r.step * 2), (Ray(1.5, 2),)),
        (lambda x: {"x": x, "twice": (2 * x, None)}, (np.float32(1.25),)),
        (lambda a, b: (a, b, a + b, a * b, a - b, (a, b) * 8), (1, 2)),
        (lambda x: (x, "text", Colour.RED), (1 + 2j,)),
        (lambda x: f"{x:.2f}", (2.5,)),
        (lambda z: (z, Point(z.real, z)), (np.complex64(1 - 2j),)),
        (lambda i, j, f: Point(i, (j, f)), (np.int8(-3), np.uint64(2**64 - 1), np.float16(0.1))),
    ],
)
def test_values(device: str, function: Any, args: tuple[Any, ...]) -> None:
    got, expected = call(device, function, *args), function(*args)
    assert type(got) is type(expected) and repr(got) == repr(expected)


@pytest.mark.parametrize("device", DEVICES)
def test_arrays(device: str) -> None:
    a = np.arange(12, dtype="f4").reshape(4, 3)
    whole, part, column, (first, n) = (
        call(device, lambda a: a, a),
        call(device, lambda a: a[1:3, ::2], a),
        call(device, lambda p: p.x[:, 1], Point(a, 0)),
        call(device, lambda a: (a[-1], len(a)), a),
    )
    assert np.array_equal(part, a[1:3, ::2]) and np.array_equal(column, a[:, 1]) and np.array_equal(whole, a)
    assert np.array_equal(first, a[-1]) and n == 4 and whole.dtype == a.dtype
    part[0, 0] = -1  # the memory is the argument's
    assert a[1, 0] == -1 and np.shares_memory(column, a)
    del a
    assert part[0, 0] == -1
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    assert not call(device, lambda a: a[1:], frozen).flags.writeable


def test_a_captured_array_comes_as_a_copy() -> None:
    got = call("cpu", lambda i: TABLE[i], 1)
    assert got.tolist() == [3, 4, 5] and not np.shares_memory(got, TABLE)


def test_what_cant_come_back() -> None:
    def local(x):
        a = gpu.local.array(3, np.float32)
        a[0] = x
        return a

    with pytest.raises(gpu.TypingError, match=r"can't return array.*local"):
        call("cpu", local, 1.0)
    with pytest.raises(gpu.TypingError, match="can't return range"):
        call("cpu", lambda n: range(n), 3)
    with pytest.raises(gpu.UnsupportedError, match="65 numbers"):
        call("cpu", lambda x: (x,) * 65, 3)
