"""Constructs of Python: constants that specialise."""

from __future__ import annotations

import functools
import numbers
import operator
import types

import gpu
import numpy as np

from . import given
from .classes import Point, Settings, Vec
from .enums import Mode
from .functions import Scaler, helper, power
from .tuples import F4, P


@given(np.float32)
def k_dtype_argument(a, o, n, dt):
    i = gpu.grid(1)
    if dt == np.float32:
        o[i] = dt(1) / dt(3) * i
    else:
        o[i] = undefined_name


def k_dtype_type(a, o, n):
    i = gpu.grid(1)
    o[i] = a.dtype.type(2.5) + np.dtype(np.float32).itemsize + np.float64(i)


def k_isinstance(a, o, n):
    i = gpu.grid(1)
    t = (1, 2.5, True, np.float32(1), (1, 2), "s", None)
    s = isinstance(t[0], int) + 2 * isinstance(t[1], float) + 4 * isinstance(t[2], bool)
    s += 8 * isinstance(t[3], np.floating) + 16 * isinstance(t[4], tuple) + 32 * isinstance(t[5], str)
    o[i] = s + 64 * isinstance(a, np.ndarray) + 128 * isinstance(P(1, 2), P) + 256 * isinstance(P(1, 2), tuple)


def k_isinstance_class(a, o, n):
    i = gpu.grid(1)
    p = Point(1, i)
    o[i] = isinstance(p, Point) + 2 * isinstance(p, Vec) + 4 * isinstance(i, (int, Point))


def k_isinstance_typed(a, o, n):
    i = gpu.grid(1)
    x = np.int32(i)
    s = isinstance(x, np.int32) + 2 * isinstance(x, (np.int64, np.uint32)) + 4 * isinstance(x, np.int32 | np.float32)
    s += 8 * isinstance(np.uint8(1), np.uint8) + 16 * isinstance(i, np.int64) + 32 * isinstance(x, gpu.int32)
    s += 64 * issubclass(np.int32, np.integer) + 128 * (type(x) is np.int32) + 256 * (type(a[i]) == np.int32)
    match x:
        case np.uint32() | np.int64():
            s += 512
        case np.int32():
            s += 1024
    o[i] = s


def k_hasattr(a, o, n):
    i = gpu.grid(1)
    o[i] = hasattr(a, "shape") + 2 * hasattr(i, "shape") + 4 * hasattr(P(1, 2), "x") + getattr(P(i, 2), "x")


def k_getattr(a, o, n):
    i = gpu.grid(1)
    s = 0
    for name in ("x", "y"):
        s += getattr(P(i, 2), name)
    o[i] = s + getattr(P(1, 2), "z", 9)


def k_type_compare(a, o, n):
    i = gpu.grid(1)
    x = np.float32(2)
    o[i] = (type(x) == np.float32) + 2 * (type(x) == np.float64) + 4 * (x.dtype == np.float32) + type(x)(3)


def k_type_of_python(a, o, n):
    i = gpu.grid(1)
    o[i] = (type(n) is int) + 2 * (type(2.5) == float) + 4 * (type(P(1, 2)) is P) + 8 * (type(n) is bool)


def k_callable(a, o, n):
    i = gpu.grid(1)
    o[i] = callable(helper) + 2 * callable(i)


def k_ndim_branch(a, o, n):
    i = gpu.grid(1)
    if a.ndim == 2:
        o[i] = a[i, 0]
    else:
        o[i] = a[i]


def k_debug_constant(a, o, n):
    i = gpu.grid(1)
    if __debug__:
        o[i] = i


def k_fstring_key(a, o, n):
    i = gpu.grid(1)
    k = 1
    o[i] = i + len(f"x{k}") + (f"{'a'}{k}" == "a1")


def k_ellipsis_pass(a, o, n):
    i = gpu.grid(1)
    if i > 100:
        pass
    else:
        ...
    o[i] = i


def k_docstring(a, o, n):
    """A docstring."""
    i: int = gpu.grid(1)
    x: float
    x = a[i]
    o[i] = x


def k_lambda_default(a, o, n):
    i = gpu.grid(1)
    fs = [lambda x, k=k: x * k for k in (1, 2, 3)]
    o[i] = fs[0](i) + fs[2](i)


def k_more_string_methods(a, o, n):
    i = gpu.grid(1)
    parts = " a,b,c ".strip().split(",")
    o[i] = i + len(parts) + ("AB".lower() == "ab") + len("aXbX".replace("X", "--")) + "12".isdigit()


def k_numbers_of_characters(a, o, n):
    i = gpu.grid(1)
    letters = [ord(c) for c in "az"]
    o[i] = (letters[0] <= a[i] + 96 <= letters[1]) + ord("0") + len(chr(10))


def k_dict_made(a, o, n):
    i = gpu.grid(1)
    d = dict(x=i, y=2)
    e = {**d, "z": a[i]}
    o[i] = e["x"] + e["y"] + e["z"] + len(e.keys()) + sum(d.values()) + ("z" in e)


def k_keyed_choices(a, o, n):
    i = gpu.grid(1)
    t = (P(i, 3), P(a[i], 1), P(2, 2))
    low = min(t, key=lambda p: p.x)
    o[i] = low.y + 10 * max(t, key=operator.attrgetter("y")).x + min((), default=4)
    o[i] += sorted(t, key=lambda p: p.y)[0].x


@given(Settings().apply)
def k_method_argument(a, o, n, f):
    i = gpu.grid(1)
    o[i] = f(i)


@given(types.SimpleNamespace(x=F4, k=2), functools.lru_cache(helper))
def k_namespace_argument(a, o, n, p, f):
    i = gpu.grid(1)
    o[i] = f(p.x[i % 8], p.k)


@given(Scaler(2.5))
def k_callable_argument(a, o, n, f):
    i = gpu.grid(1)
    o[i] = f(a[i])


@given(P(Point(1, F4), {"k": (2, Mode.MUL)}))
def k_nested_arguments(a, o, n, p):
    i = gpu.grid(1)
    o[i] = p.x.x + p.x.y[i % 8] + p.y["k"][0] + (p.y["k"][1] == Mode.MUL)


def k_recursion_unrolled(a, o, n):
    i = gpu.grid(1)
    s = 0
    for k in range(4):
        s += power(a[i], k)
    o[i] = s


def k_fibonacci(a, o, n):
    i = gpu.grid(1)
    o[i] = fibonacci(24) % 1000 + i


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def k_try_in_loop(a, o, n):
    i = gpu.grid(1)
    for k in range(n):
        try:
            if k == i:
                continue
            o[i] += k
        finally:
            o[i] += 10


def k_type(a, o, n):
    i = gpu.grid(1)
    x = 1.5
    y = np.float64(2)
    o[i] = (
        (type(x) == float)
        + 2 * (type(x) == np.float64)
        + 4 * (type(y) == np.float64)
        + 8 * (type(a[i]) == np.float32)
        + 16 * isinstance(x, float)
        + 32 * isinstance(y, float)
        + 64 * (type(i) is int)
        + 128 * isinstance(a[i], np.floating)
        + 256 * isinstance(y, (int, np.float64))
        + 512 * isinstance(i, int | float)
        + 1024 * (type(y) is float)
        + 2048 * (type(True) is bool)
        + 4096 * (type((1, 2)) is tuple)
        + 8192 * (type(i > 2) == bool)
    )


def k_isinst(a, o, n):
    i = gpu.grid(1)
    o[i] = (
        isinstance(a, np.ndarray)
        + 2 * isinstance(a[i] > 1, np.bool_)
        + 4 * isinstance(i > 1, bool)
        + 8 * isinstance(np.int32(3), np.integer)
        + 16 * isinstance(3, np.integer)
        + 32 * isinstance(None, type(None))
        + 64 * issubclass(np.float32, np.floating)
        + 128 * isinstance("s", str)
        + 256 * (a.dtype == np.float32)
        + 512 * (type(a[i]) is np.float32)
        + 1024 * isinstance(np.float64(1), float)
    )


def k_isnum(a, o, n):
    i = gpu.grid(1)
    o[i] = (
        isinstance(i, numbers.Number)
        + 2 * isinstance(i, numbers.Integral)
        + 4 * isinstance(1.5, numbers.Real)
        + 8 * isinstance(a[i], numbers.Real)
        + 16 * isinstance(1j, numbers.Complex)
        + 32 * isinstance(1.5, numbers.Integral)
    )
