"""Kernels that use one construct of Python each; test_constructs.py runs them on every device and compares.

Each takes an array of 16 numbers, an output of 16 and the integer 3; `given` adds arguments.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import itertools
import math
import numbers
import operator
import types
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import gpu
import numpy as np

ARGUMENTS: dict[Callable[..., Any], tuple[Any, ...]] = {}


def given(*args: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds arguments to the launches of a kernel."""

    def keep(kernel: Callable[..., Any]) -> Callable[..., Any]:
        ARGUMENTS[kernel] = args
        return kernel

    return keep


# ---- tuples


class P(NamedTuple):
    x: Any
    y: Any


Q = namedtuple("Q", "a b", defaults=(7,))
F4 = np.arange(8, dtype=np.float32)
I4 = np.arange(8, dtype=np.int32) * 2


@given((F4, I4))
def k_tuple_of_arrays(a, o, n, t):
    i = gpu.grid(1)
    o[i] = t[0][i % 8] + t[1][i % 8]


@given((F4, F4 * 2, F4 * 3))
def k_tuple_of_arrays_variable(a, o, n, t):
    i = gpu.grid(1)
    o[i] = t[i % 3][i % 8]


@given((F4, F4 * 2, F4 * 3))
def k_tuple_of_arrays_loop(a, o, n, t):
    i = gpu.grid(1)
    s = 0.0
    for x in t:
        s += x[i % 8]
    o[i] = s


@given((1, 2.5, (F4, 3)))
def k_tuple_nested_argument(a, o, n, t):
    i = gpu.grid(1)
    o[i] = t[0] + t[1] + t[2][0][i % 8] + t[2][1]


@given((1, 2.5, F4))
def k_tuple_mixed_loop(a, o, n, t):
    i = gpu.grid(1)
    s = 0.0
    for x in t:
        if isinstance(x, (int, float)):
            s += x
        else:
            s += x[i % 8]
    o[i] = s


@given((1, 2.5, F4))
def k_tuple_mixed_range(a, o, n, t):
    i = gpu.grid(1)
    s = 0.0
    for k in range(len(t)):
        if k < 2:
            s += t[k]
        else:
            s += t[k][i % 8]
    o[i] = s


def k_tuple_names(a, o, n):
    i = gpu.grid(1)
    s = 0
    for name in ("a", "b", "c"):
        if name == "b":
            s += i
        else:
            s += 10
    o[i] = s


def k_tuple_enumerate_mixed(a, o, n):
    i = gpu.grid(1)
    s = 0.0
    for k, x in enumerate((1, 2.5, np.float32(3.25))):
        s += k * x
    o[i] = s + i


def k_tuple_zip_mixed(a, o, n):
    i = gpu.grid(1)
    s = 0.0
    for name, x in zip(("a", "b"), (1, 2.5)):
        if name == "a":
            s += x * i
        else:
            s -= x
    o[i] = s


def k_tuple_index_variable(a, o, n):
    i = gpu.grid(1)
    t = (5, 7, 11, 13)
    o[i] = t[i % 4] + t[-(i % 4) - 1]


def k_tuple_slices(a, o, n):
    i = gpu.grid(1)
    t = (1, 2.5, i, a[i])
    r = t[::-1]
    o[i] = r[0] + t[1:][0] * 3 + t[-2:][0] + len(t[1:3]) + t[::2][1] + t[:-1][-1]


def k_tuple_star_target(a, o, n):
    i = gpu.grid(1)
    first, *rest = (a[i], 2, 3.5)
    *most, last = (1, i, 4)
    o[i] = first + rest[0] + rest[1] + most[1] + last


def k_tuple_star_display(a, o, n):
    i = gpu.grid(1)
    t = (1, 2)
    u = (*t, i, *(3, 4))
    o[i] = u[2] + u[4] + len(u)


def k_tuple_star_list(a, o, n):
    i = gpu.grid(1)
    t = (1, 2)
    u = [*t, i]
    o[i] = u[2] + u[0] + len(u)


def k_tuple_reductions(a, o, n):
    i = gpu.grid(1)
    t = (a[i], 2, 3.5)
    o[i] = sum(t) + min(t) + max(t) + any(t) + all(t) * 2


def k_tuple_sum_start(a, o, n):
    i = gpu.grid(1)
    o[i] = sum((1, 2, i), 10) + sum((i, 1), start=5)


def k_tuple_sorted(a, o, n):
    i = gpu.grid(1)
    t = sorted((a[i], a[(i + 1) % 16], a[(i + 5) % 16]))
    o[i] = t[0] + 10 * t[1] + 100 * t[2]


def k_tuple_sorted_reverse(a, o, n):
    i = gpu.grid(1)
    t = sorted((a[i], a[(i + 1) % 16], a[(i + 5) % 16]), reverse=True)
    o[i] = t[0] + 10 * t[1] + 100 * t[2]


def k_tuple_in(a, o, n):
    i = gpu.grid(1)
    o[i] = (a[i] in (1, 3, 5)) + 2 * ("b" in ("a", "b"))


def k_tuple_compare(a, o, n):
    i = gpu.grid(1)
    t = (i, a[i])
    o[i] = (t < (5, 2)) + 2 * (t == (3, 3)) + 4 * (t >= (7, 0)) + 8 * (t != (1, 1))


def k_tuple_concatenate(a, o, n):
    i = gpu.grid(1)
    t = (1, 2) + (i,) * 2
    t += (a[i],)
    o[i] = t[0] + t[3] * t[4] + len(t * 2)


def k_tuple_index_count(a, o, n):
    i = gpu.grid(1)
    t = (4, 5, 5, 6)
    o[i] = t.index(5) + 10 * t.count(5) + i


def k_tuple_comprehension_constant(a, o, n):
    i = gpu.grid(1)
    t = [x * 2 for x in (1, 2, i)]
    o[i] = t[0] + t[1] + t[2]


def k_tuple_of_generator(a, o, n):
    i = gpu.grid(1)
    t = tuple(x * 2 for x in (1, 2, i))
    o[i] = t[0] + t[1] + t[2]


def k_comprehension_range(a, o, n):
    i = gpu.grid(1)
    t = [a[(i + k) % 16] for k in range(3)]
    o[i] = t[0] + 10 * t[1] + 100 * t[2]


def k_comprehension_condition(a, o, n):
    i = gpu.grid(1)
    t = [k * i for k in range(6) if k % 2 == 0]
    o[i] = t[0] + t[1] + t[2] + len(t)


def k_comprehension_nested(a, o, n):
    i = gpu.grid(1)
    t = [[x * y + i for x in range(2)] for y in range(3)]
    o[i] = t[0][1] + t[2][1] * 10 + len(t)


def k_sum_generator(a, o, n):
    i = gpu.grid(1)
    o[i] = sum(a[(i + k) % 16] * k for k in range(4))


def k_any_all_generator(a, o, n):
    i = gpu.grid(1)
    o[i] = any(a[(i + k) % 16] == 3 for k in range(3)) + 2 * all(a[(i + k) % 16] > 0 for k in range(3))


def k_max_generator(a, o, n):
    i = gpu.grid(1)
    o[i] = max(a[(i + k) % 16] for k in range(3)) + min([a[(i + k) % 16] for k in range(3)])


def k_list_local(a, o, n):
    i = gpu.grid(1)
    t = [1, i, a[i]]
    o[i] = t[0] + t[1] + t[2] + t[i % 3]


def k_list_append_constant(a, o, n):
    i = gpu.grid(1)
    s = 0
    for x in [3, 4, 5]:
        s = s * 10 + x
    o[i] = s + i


def k_dict_comprehension(a, o, n):
    i = gpu.grid(1)
    d = {k: k * i for k in (1, 2, 3)}
    o[i] = d[2] + d[3]


def k_set_membership(a, o, n):
    i = gpu.grid(1)
    o[i] = (i in {1, 3, 5}) + 2 * (a[i] in {2, 4})


@given(P(2, F4))
def k_named_tuple_argument(a, o, n, p):
    i = gpu.grid(1)
    o[i] = p.x * p.y[i % 8] + len(p)


def k_named_tuple_replace(a, o, n):
    i = gpu.grid(1)
    p = P(a[i], i)
    q = p._replace(y=5)
    o[i] = q.x * 10 + q.y + len(P._fields) + len(q._fields)


def k_named_tuple_defaults(a, o, n):
    i = gpu.grid(1)
    q = Q(i)
    o[i] = q.a + q.b


def k_named_tuple_unpack(a, o, n):
    i = gpu.grid(1)
    x, y = P(a[i], i)
    o[i] = x - y


def k_named_tuple_in_loop(a, o, n):
    i = gpu.grid(1)
    p = P(0.0, 1.0)
    for k in range(n):
        p = P(p.x + a[i], p.y * 2)
    o[i] = p.x + p.y


def k_named_tuple_asdict(a, o, n):
    i = gpu.grid(1)
    o[i] = P(i, 2)._asdict()["y"] + i


def k_tuple_swap_loop(a, o, n):
    i = gpu.grid(1)
    x, y = 0, 1
    for _ in range(i):
        x, y = y, x + y
    o[i] = x


def k_tuple_phi(a, o, n):
    i = gpu.grid(1)
    t = (1, 2.0) if i > 5 else (3, a[i])
    o[i] = t[0] + t[1]


def k_tuple_reversed(a, o, n):
    i = gpu.grid(1)
    s = 0.0
    for x in reversed((1, i, 2.5)):
        s = s * 10 + x
    o[i] = s


def k_nested_unpack(a, o, n):
    i = gpu.grid(1)
    s = 0
    for k, (x, y) in enumerate(((1, 2), (3, 4))):
        s += k * x * y
    o[i] = s + i


def k_tuple_constructor(a, o, n):
    i = gpu.grid(1)
    t = tuple([i, 2]) + tuple((3,)) + tuple(range(2))
    u = list(t)
    o[i] = t[0] + t[3] + len(u)


# ---- enums


class Mode(enum.IntEnum):
    ADD = 1
    MUL = 2


class Color(enum.Enum):
    RED = 1
    GREEN = 2.5
    NAME = "abc"


class Bits(enum.IntFlag):
    A = 1
    B = 2
    C = 4


class Plain(enum.Flag):
    A = 1
    B = 2


@given(Mode.MUL)
def k_enum_argument(a, o, n, mode):
    i = gpu.grid(1)
    if mode == Mode.ADD:
        o[i] = a[i] + 2
    elif mode == Mode.MUL:
        o[i] = a[i] * 2


@given(Color.GREEN)
def k_enum_member_argument(a, o, n, c):
    i = gpu.grid(1)
    if c is Color.GREEN:
        o[i] = c.value + i
    o[i] += len(c.name)


def k_enum_int_attributes(a, o, n):
    i = gpu.grid(1)
    o[i] = Mode.MUL.value + len(Mode.MUL.name) + Mode.ADD * i


def k_enum_beside_typed_numbers(a, o, n):
    i = gpu.grid(1)
    third = (Mode.MUL * (a[:4] / np.float32(3)))[1]
    o[i] = (Mode.MUL + np.int8(125 - i)) / 7 + third + (Mode.ADD + 1) * np.float32(0.1)


def k_enum_name_compare(a, o, n):
    i = gpu.grid(1)
    o[i] = i + (Mode.ADD.name == "ADD") + (Color.NAME.value == "abc") * 2


def k_enum_flag(a, o, n):
    i = gpu.grid(1)
    o[i] = (i & Bits.B) + (Bits.A | Bits.C) + bool(i & Bits.A)


def k_enum_identity(a, o, n):
    i = gpu.grid(1)
    m = Mode.MUL
    if m is Mode.MUL and m is not Mode.ADD:
        o[i] = i + 1


def k_enum_plain_flag(a, o, n):
    i = gpu.grid(1)
    m = Plain.A | Plain.B
    if Plain.A in m:
        o[i] = m.value + i


def k_enum_local(a, o, n):
    i = gpu.grid(1)
    m = Mode.ADD if i > 4 else Mode.MUL
    o[i] = 5 if m == Mode.ADD else 6


def k_enum_match(a, o, n):
    i = gpu.grid(1)
    m = i % 3
    match m:
        case Mode.ADD:
            o[i] = 10
        case Mode.MUL:
            o[i] = 20
        case _:
            o[i] = 30


def k_enum_by_value(a, o, n):
    i = gpu.grid(1)
    o[i] = i + (Mode(2) == Mode.MUL) + (Color["RED"] is Color.RED)


def k_enum_iterate(a, o, n):
    i = gpu.grid(1)
    s = 0
    for m in Mode:
        s += m * i
    o[i] = s + len(Mode)


# ---- dataclasses and small classes


@dataclass
class Point:
    x: float
    y: float = 2.0

    def norm2(self):
        return self.x * self.x + self.y * self.y

    @property
    def total(self):
        return self.x + self.y

    def moved(self, dx):
        return Point(self.x + dx, self.y)

    @staticmethod
    def twice(v):
        return v * 2

    @classmethod
    def of(cls, v):
        return cls(v, v)

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)


@dataclass(frozen=True)
class Config:
    scale: float
    table: Any
    mode: str = "add"
    inner: Any = None


class Vec:
    x: np.float32
    y: np.float32

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def dot(self, other):
        return self.x * other.x + self.y * other.y


@given(Point(1.5, 2))
def k_dataclass_argument(a, o, n, p):
    i = gpu.grid(1)
    o[i] = p.x * i + p.y


@given(Point(1.5, 2))
def k_dataclass_methods(a, o, n, p):
    i = gpu.grid(1)
    o[i] = p.norm2() + p.total + Point.twice(i) + p.moved(i).x


def k_dataclass_made(a, o, n):
    i = gpu.grid(1)
    p = Point(a[i], y=i)
    o[i] = p.norm2() + Point(3).y


def k_dataclass_classmethod(a, o, n):
    i = gpu.grid(1)
    o[i] = Point.of(i).total


def k_dataclass_operator(a, o, n):
    i = gpu.grid(1)
    p = Point(a[i], 1) + Point(2, i)
    o[i] = p.x * 100 + p.y


def k_dataclass_equal(a, o, n):
    i = gpu.grid(1)
    o[i] = (Point(i, 1) == Point(3, 1)) + i


@given(Config(0.5, F4, "mul", Point(1, 2)))
def k_dataclass_frozen_nested(a, o, n, c):
    i = gpu.grid(1)
    if c.mode == "mul":
        o[i] = c.scale * c.table[i % 8] + c.inner.y
    else:
        o[i] = 1


@given(Config(0.5, F4))
def k_dataclass_none_field(a, o, n, c):
    i = gpu.grid(1)
    if c.inner is None and c.mode == "add":
        o[i] = c.scale + c.table[i % 8]


def k_dataclass_in_loop(a, o, n):
    i = gpu.grid(1)
    p = Point(0.0, 1.0)
    for k in range(n):
        p = p.moved(a[i])
    o[i] = p.x + p.y


def k_class_made(a, o, n):
    i = gpu.grid(1)
    v = Vec(np.float32(a[i]), np.float32(2))
    w = Vec(np.float32(i), np.float32(3))
    o[i] = v.dot(w)


@given(Vec(np.float32(1.5), np.float32(2.5)))
def k_class_argument(a, o, n, v):
    i = gpu.grid(1)
    o[i] = v.x * i + v.y


def k_dataclass_replace(a, o, n):
    i = gpu.grid(1)
    p = dataclasses.replace(Point(1.0, 2.0), x=a[i])
    o[i] = p.x + p.y + dataclasses.astuple(p)[1]


def k_dataclass_passed(a, o, n):
    i = gpu.grid(1)
    o[i] = length(Point(i, 2)) + length(P(3, i))


def length(p):
    return p.x * p.x + p.y


@given((Point(1, 2), [Point(3, 4)][0]))
def k_dataclass_tuple_argument(a, o, n, t):
    i = gpu.grid(1)
    o[i] = t[0].x + t[1].y * i + t[i % 2].x


def k_dataclass_phi(a, o, n):
    i = gpu.grid(1)
    p = Point(1.0, 2.0) if i > 5 else Point(3.0, float(i))
    o[i] = p.x + p.y


class Settings:
    rate = 0.25
    table = I4
    names = ("a", "b")

    def __init__(self):
        self.gain = 3

    def apply(self, v):
        return v * self.gain + self.rate


SETTINGS = Settings()


def k_global_object(a, o, n):
    i = gpu.grid(1)
    o[i] = SETTINGS.gain * i + SETTINGS.table[i % 8] + Settings.rate + SETTINGS.apply(i)


def k_bound_method_value(a, o, n):
    i = gpu.grid(1)
    f = SETTINGS.apply
    o[i] = f(a[i])


# ---- None, constants, dicts


@given(None)
def k_none_argument(a, o, n, x):
    i = gpu.grid(1)
    if x is None:
        o[i] = i
    else:
        o[i] = x[i]


@given(F4)
def k_optional_array(a, o, n, x=None):
    i = gpu.grid(1)
    o[i] = i if x is None else x[i % 8]


def k_none_or(a, o, n, x=None):
    i = gpu.grid(1)
    y = x or 5
    o[i] = y * i


@given("mul")
def k_string_mode(a, o, n, mode):
    i = gpu.grid(1)
    if mode == "add":
        o[i] = a[i] + 1
    elif mode == "mul":
        o[i] = a[i] * 2
    else:
        o[i] = -1


@given("mul")
def k_string_match(a, o, n, mode):
    i = gpu.grid(1)
    match mode:
        case "add" | "sub":
            o[i] = 1
        case "mul":
            o[i] = a[i] * 3


def k_string_methods(a, o, n):
    i = gpu.grid(1)
    s = "Some_text"
    o[i] = i + s.startswith("Some") + s.endswith("x") + len(s.upper()) + (s[0] == "S") + s.count("e") + s.find("t")


TABLE = {"a": 3, "b": 4.5}
NUMBERED = {0: 10, 1: 20, 5: 30}
MIXED = {"f": np.float32(2), "t": (1, 2), "array": I4}
LISTS = [[1, 2], [3, 4]]


def k_dict_constant(a, o, n):
    i = gpu.grid(1)
    o[i] = TABLE["a"] * i + TABLE["b"] + ("a" in TABLE) + ("z" in TABLE) + len(TABLE)


def k_dict_get(a, o, n):
    i = gpu.grid(1)
    o[i] = TABLE.get("a") + TABLE.get("z", 9) + i


def k_dict_run_time_key(a, o, n):
    i = gpu.grid(1)
    k = 5 if i % 3 == 2 else i % 3
    o[i] = NUMBERED[k]


def k_dict_mixed(a, o, n):
    i = gpu.grid(1)
    o[i] = MIXED["f"] * MIXED["t"][1] + MIXED["array"][i % 8]


def k_dict_iterate(a, o, n):
    i = gpu.grid(1)
    s = 0
    for k in NUMBERED:
        s += k
    for k, v in NUMBERED.items():
        s += k * v
    for v in NUMBERED.values():
        s += v
    o[i] = s + i


def k_dict_local(a, o, n):
    i = gpu.grid(1)
    d = {"x": i, "y": a[i]}
    o[i] = d["x"] + d["y"] * 2


def k_dict_local_int_keys(a, o, n):
    i = gpu.grid(1)
    d = {1: i, 2: a[i]}
    o[i] = d[1] + d[2] * 2


@given({"scale": 2.0, "x": F4})
def k_dict_argument(a, o, n, d):
    i = gpu.grid(1)
    o[i] = d["scale"] * d["x"][i % 8]


def k_dict_enum_key(a, o, n):
    i = gpu.grid(1)
    o[i] = i + BY_MODE[Mode.MUL] + BY_COLOR[Color.RED]


BY_MODE = {Mode.ADD: 5, Mode.MUL: 6}
BY_COLOR = {Color.RED: 7, Color.GREEN: 8}


def k_list_global(a, o, n):
    i = gpu.grid(1)
    s = 0
    for row in LISTS:
        for x in row:
            s += x
    o[i] = s + LISTS[1][i % 2] + len(LISTS) + LISTS[-1][0]


def k_list_in(a, o, n):
    i = gpu.grid(1)
    o[i] = (i in [1, 2, 3]) + (3 in LISTS[1])


FROZEN = frozenset((1, 4, 9))


def k_set_global(a, o, n):
    i = gpu.grid(1)
    o[i] = i in FROZEN


# ---- functions


def helper(x, y=2, *, z=3):
    return x * y + z


def spread(*args, **kwargs):
    s = 0
    for v in args:
        s += v
    for k in kwargs:
        s += kwargs[k]
    return s + len(args) * 100 + len(kwargs) * 1000


def keywords(x, **options):
    if "scale" in options:
        x *= options["scale"]
    if options.get("shift", 0):
        x += options["shift"]
    return x


def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


def power(x, k):
    return 1 if k == 0 else x * power(x, k - 1)


def tuple_sum(t):
    if len(t) == 0:
        return 0
    return t[0] + tuple_sum(t[1:])


def k_call_forms(a, o, n):
    i = gpu.grid(1)
    o[i] = helper(a[i]) + helper(1, z=a[i]) + helper(y=i, x=2)


def k_call_spread(a, o, n):
    i = gpu.grid(1)
    o[i] = spread(1, 2, i) + spread(a[i], u=2, v=i)


def k_call_keywords(a, o, n):
    i = gpu.grid(1)
    o[i] = keywords(i, scale=3) + keywords(i, shift=1) + keywords(1)


def k_call_star(a, o, n):
    i = gpu.grid(1)
    t = (i, 4)
    d = {"z": 5}
    o[i] = helper(*t) + helper(*t, **d) + helper(*[1, 2], z=i)


def k_recursion_constant(a, o, n):
    i = gpu.grid(1)
    o[i] = factorial(5) + power(a[i], 3)


def k_recursion_tuple(a, o, n):
    i = gpu.grid(1)
    o[i] = tuple_sum((1, i, a[i]))


def k_several_results(a, o, n):
    i = gpu.grid(1)
    q, r = divmod(i, 3)
    lo, hi = both(a[i], i)
    o[i] = q * 10 + r + lo - hi * 100


def both(x, y):
    return min(x, y), max(x, y)


@given(helper)
def k_function_argument(a, o, n, f):
    i = gpu.grid(1)
    o[i] = f(i, 5)


@given(lambda x: x * 3)
def k_lambda_argument(a, o, n, f):
    i = gpu.grid(1)
    o[i] = f(a[i])


def compose(f, g):
    return lambda x: f(g(x))


def k_compose(a, o, n):
    i = gpu.grid(1)
    h = compose(lambda x: x + 1, lambda x: x * 2)
    o[i] = h(a[i])


def k_partial_inside(a, o, n):
    i = gpu.grid(1)
    f = functools.partial(helper, 2, z=i)
    o[i] = f(3) + f(y=1)


PARTIAL = functools.partial(helper, y=5)


def k_partial_global(a, o, n):
    i = gpu.grid(1)
    o[i] = PARTIAL(i)


@given(functools.partial(helper, z=1))
def k_partial_argument(a, o, n, f):
    i = gpu.grid(1)
    o[i] = f(i)


def k_reduce(a, o, n):
    i = gpu.grid(1)
    o[i] = functools.reduce(operator.add, (1, i, a[i])) + functools.reduce(lambda x, y: x * y, (2, 3), i)


def k_map_filter(a, o, n):
    i = gpu.grid(1)
    s = 0
    for v in map(lambda x: x * i, (1, 2, 3)):
        s += v
    t = tuple(map(operator.add, (1, 2), (i, a[i])))
    o[i] = s + t[0] + t[1] * 10


def k_filter(a, o, n):
    i = gpu.grid(1)
    s = 0
    for v in filter(lambda x: x > 1, (1, 2, 3)):
        s += v
    o[i] = s + i


def k_zip_tuple(a, o, n):
    i = gpu.grid(1)
    t = tuple(zip((1, 2), (i, a[i])))
    o[i] = t[0][1] + t[1][0] * 10 + t[1][1]


def k_operator_functions(a, o, n):
    i = gpu.grid(1)
    f = operator.itemgetter(1)
    o[i] = operator.mul(i, 3) + operator.neg(i) + operator.floordiv(i, 2) + f((1, i))


def k_attrgetter(a, o, n):
    i = gpu.grid(1)
    o[i] = operator.attrgetter("x")(P(i, 2))


OPS = {"add": operator.add, "mul": operator.mul, "f": lambda x, y: x - y}


@given("mul")
def k_function_table(a, o, n, op):
    i = gpu.grid(1)
    o[i] = OPS[op](a[i], 2) + OPS["f"](i, 1)


FUNCTIONS = (helper, lambda x: x + 10)


def k_function_tuple(a, o, n):
    i = gpu.grid(1)
    s = 0
    for f in FUNCTIONS:
        s += f(i)
    o[i] = s


def same(f):
    return f


def logged(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs) + 1

    return inner


@same
def decorated(x):
    return x * 7


@logged
def wrapped(x, y=1):
    return x * 2 + y


def k_decorated(a, o, n):
    i = gpu.grid(1)
    o[i] = decorated(i) + wrapped(i) + wrapped(i, y=3)


@functools.lru_cache(maxsize=None)
def cached(x):
    return x + 4


def k_cached_function(a, o, n):
    i = gpu.grid(1)
    o[i] = cached(a[i])


def k_closures(a, o, n):
    i = gpu.grid(1)
    t = (1, i)

    def f(x):
        return x + t[1] + a[0]

    def g(h, x):
        return h(x) * 2

    o[i] = g(f, 3)


def adder(k, table):
    def add(x):
        return x + k + table[1]

    return add


ADD5 = adder(5, (1, 2.5))
ADD_ARRAY = adder(1, I4)


def k_closure_outside(a, o, n):
    i = gpu.grid(1)
    o[i] = ADD5(i) + ADD_ARRAY(i)


def k_default_expression(a, o, n):
    i = gpu.grid(1)

    def f(x, y=(i, 2)):
        return x + y[0] * y[1]

    o[i] = f(1) + f(1, (2, 3))


def k_callable_object(a, o, n):
    i = gpu.grid(1)
    o[i] = SCALER(i)


class Scaler:
    def __init__(self, k):
        self.k = k

    def __call__(self, x):
        return x * self.k


SCALER = Scaler(4)


# ---- control


def k_while_true(a, o, n):
    i = gpu.grid(1)
    k = 0
    while True:
        k += 1
        if k * k > i:
            break
        if k > 10:
            return
    o[i] = k


def k_match_tuple(a, o, n):
    i = gpu.grid(1)
    match (i % 2, a[i]):
        case (0, 2 | 4):
            o[i] = 1
        case (0, x) if x > 3:
            o[i] = x * 10
        case (1, x):
            o[i] = -x
        case _:
            o[i] = 99


def k_match_named_tuple(a, o, n):
    i = gpu.grid(1)
    match P(i % 3, a[i]):
        case P(0, y):
            o[i] = y
        case P(x=1):
            o[i] = 50
        case P(x, y):
            o[i] = x + y * 2


def k_match_dataclass(a, o, n):
    i = gpu.grid(1)
    match Point(i % 3, a[i]):
        case Point(x=0, y=v):
            o[i] = v
        case Point(1, v):
            o[i] = v * 2
        case Point():
            o[i] = 7


def k_match_type(a, o, n):
    i = gpu.grid(1)
    match n:
        case float():
            o[i] = 1
        case int(k):
            o[i] = k * i


def k_match_star(a, o, n):
    i = gpu.grid(1)
    match (1, i, a[i]):
        case (1, *rest):
            o[i] = rest[0] + rest[1]


def k_match_none(a, o, n, x=None):
    i = gpu.grid(1)
    match x:
        case None:
            o[i] = i
        case _:
            o[i] = x[i]


def k_match_as(a, o, n):
    i = gpu.grid(1)
    match i % 4:
        case (1 | 2) as k:
            o[i] = k * 5
        case k:
            o[i] = k


def k_match_dotted(a, o, n):
    i = gpu.grid(1)
    match i % 5:
        case Settings.rate:
            o[i] = 1
        case SETTINGS.gain:
            o[i] = 2
        case _:
            o[i] = 3


def k_match_dict(a, o, n):
    i = gpu.grid(1)
    match {"kind": "add", "value": i}:
        case {"kind": "mul"} | {"sort": _}:
            o[i] = 1
        case {"kind": "add", "value": v}:
            o[i] = v + 2


def k_try_finally(a, o, n):
    i = gpu.grid(1)
    try:
        o[i] = a[i]
    finally:
        o[i] += 1


def k_try_finally_return(a, o, n):
    i = gpu.grid(1)
    o[i] = finally_result(i, o)


def finally_result(i, o):
    try:
        if i > 5:
            return 1
        o[i] = 7
    finally:
        o[(i + 1) % 16] = o[(i + 1) % 16]
    return 2


def k_for_else(a, o, n):
    i = gpu.grid(1)
    for k in range(5):
        if a[k] > i:
            o[i] = k
            break
    else:
        o[i] = -1


def k_for_else_tuple(a, o, n):
    i = gpu.grid(1)
    for k in (1, 2.5, 4):
        if k > i:
            o[i] = k
            break
    else:
        o[i] = -1


def k_for_continue_tuple(a, o, n):
    i = gpu.grid(1)
    s = 0.0
    for k in (1, 2.5, np.float32(4)):
        if k == i:
            continue
        s += k
    o[i] = s


def k_nested_unrolled(a, o, n):
    i = gpu.grid(1)
    s = 0.0
    for x in (1, 2.5):
        for y in ("a", 3):
            if y == "a":
                s += x
            else:
                s += y * i
    o[i] = s


def k_delete(a, o, n):
    i = gpu.grid(1)
    x = 1
    del x
    x = a[i]
    o[i] = x


def k_assert(a, o, n):
    i = gpu.grid(1)
    assert n > 0
    assert isinstance(n, int), "n"
    o[i] = n


def k_walrus_while(a, o, n):
    i = gpu.grid(1)
    k = i
    while (k := k - 2) > 0:
        o[i] += k


def k_walrus_comprehension(a, o, n):
    i = gpu.grid(1)
    t = [(y := k * i) + y for k in range(3)]
    o[i] = t[2] + y


def k_augmented(a, o, n):
    i = gpu.grid(1)
    t = (1,)
    t += (i,)
    x = 7
    x //= 2
    x <<= 2
    x |= 1
    x ^= 3
    x **= 2
    x %= 50
    o[i] = x + t[1]
    o[i] -= 2
    o[i] //= 3


def k_chained_assignment(a, o, n):
    i = gpu.grid(1)
    x = y = o[i] = a[i]
    o[i] += x + y


def k_global_statement(a, o, n):
    global SETTINGS
    i = gpu.grid(1)
    o[i] = SETTINGS.gain + i


def k_conditional_import(a, o, n):
    import math

    i = gpu.grid(1)
    o[i] = math.sqrt(i)


def k_from_import(a, o, n):
    from math import pi, sqrt

    i = gpu.grid(1)
    o[i] = sqrt(i) * pi


# ---- constants that specialise


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


def k_big_literals(a, o, n):
    i = gpu.grid(1)
    o[i] = (2**80 >> 78) + 10**30 // 10**29 + 0xFFFFFFFFFFFFFFFF % 1000 + i


def k_debug_constant(a, o, n):
    i = gpu.grid(1)
    if __debug__:
        o[i] = i


def k_fstring_key(a, o, n):
    i = gpu.grid(1)
    k = 1
    o[i] = i + len(f"x{k}") + (f"{'a'}{k}" == "a1")


def k_bool_arithmetic(a, o, n):
    i = gpu.grid(1)
    b = np.bool_(i > 3)
    c = np.bool_(i % 2)
    o[i] = (b + c) + 2 * (b * c) + 4 * (b | c) + 8 * (b ^ c) + 16 * (True + (i > 2))


def k_abs_builtins(a, o, n):
    i = gpu.grid(1)
    o[i] = abs(-i) + round(2.5) + int(3.7) + float(2) + bool(i) + pow(2, 3) + divmod(7, 2)[1]


def k_complex(a, o, n):
    i = gpu.grid(1)
    z = complex(i, 1)
    o[i] = abs(z) + z.conjugate().imag + (z * 1j).real + (z == complex(3, 1))


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


def k_enumerate_start(a, o, n):
    i = gpu.grid(1)
    s = 0
    for k, x in enumerate((2, 3, i), start=1):
        s += k * x
    o[i] = s


def k_slice_object(a, o, n):
    i = gpu.grid(1)
    s = slice(2, 6)
    o[i] = a[s][i % 4] + s.start


def k_unpack_range(a, o, n):
    i = gpu.grid(1)
    x, y, z = range(3)
    o[i] = x + y * 10 + z * 100 + i


@dataclass
class Defaults:
    x: int = 3
    y: Any = field(default=4)
    z: Any = field(default_factory=tuple)


def k_dataclass_field_defaults(a, o, n):
    i = gpu.grid(1)
    d = Defaults()
    o[i] = d.x + d.y + i + len(d.z)


@dataclass
class Derived(Point):
    z: float = 1.0

    def norm2(self):
        return super().norm2() + self.z * self.z

    def __post_init__(self):
        pass


def k_dataclass_inherited(a, o, n):
    i = gpu.grid(1)
    d = Derived(i, 2, 3)
    o[i] = d.total + d.z


def k_dataclass_super(a, o, n):
    i = gpu.grid(1)
    o[i] = Derived(i, 2, 3).norm2()


class Base:
    def __init__(self, x):
        super().__init__()
        self.x = x

    def value(self):
        return self.x


class Child(Base):
    def __init__(self, x, y):
        super().__init__(x * 2)
        self.y = y
        self.x = self.x + 1

    def value(self):
        return super().value() * self.y

    def __getitem__(self, k):
        return self.x + k

    def __len__(self):
        return 7

    def __contains__(self, k):
        return k == 3

    def __bool__(self):
        return self.y > 4

    def __lt__(self, other):
        return self.y < other.y

    def __neg__(self):
        return Child(-self.x, self.y)

    def __rmul__(self, k):
        return self.x * k


def k_class_inherited_init(a, o, n):
    i = gpu.grid(1)
    o[i] = Child(a[i], i).value()


def k_class_special_methods(a, o, n):
    i = gpu.grid(1)
    c = Child(a[i], i)
    o[i] = c[2] + len(c) + (3 in c) + (c < Child(1, 5)) * 10 + 3 * c
    if c:
        o[i] += 100


def k_more_string_methods(a, o, n):
    i = gpu.grid(1)
    parts = " a,b,c ".strip().split(",")
    o[i] = i + len(parts) + ("AB".lower() == "ab") + len("aXbX".replace("X", "--")) + "12".isdigit()


def k_dict_made(a, o, n):
    i = gpu.grid(1)
    d = dict(x=i, y=2)
    e = {**d, "z": a[i]}
    o[i] = e["x"] + e["y"] + e["z"] + len(e.keys()) + sum(d.values()) + ("z" in e)


def k_dataclass_asdict(a, o, n):
    i = gpu.grid(1)
    o[i] = dataclasses.asdict(Point(i, 2))["y"] + sum(dataclasses.astuple(Point(i, 2)))


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


def k_sum_of_run_time_length(a, o, n):
    i = gpu.grid(1)
    o[i] = sum(a[k] for k in range(i)) + any(a[k] == 5 for k in range(n)) + all(a[k] < 5 for k in range(i))


def k_generator_in_loop(a, o, n):
    i = gpu.grid(1)
    s = 0
    for x in [k * i for k in (1, 2, 3)]:
        s += x
    o[i] = s + sum((k for k in (1, 2)), 10)


def k_loop_break_unrolled(a, o, n):
    i = gpu.grid(1)
    s = 0.0
    for x in (1, 2.5, "stop", 4):
        if x == "stop":
            break
        if x > a[i]:
            continue
        s += x
    o[i] = s + 1


def k_loop_over_fields(a, o, n):
    i = gpu.grid(1)
    p = P(i, a[i])
    s = 0
    for name in p._fields:
        s += getattr(p, name)
    for name, value in p._asdict().items():
        if name == "x":
            s += 10 * value
    o[i] = s


def k_string_iterated(a, o, n):
    i = gpu.grid(1)
    s = 0
    for c in "abca":
        if c == "a":
            s += i
        else:
            s += 1
    o[i] = s


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


def k_count_run_time(a, o, n):
    i = gpu.grid(1)
    t = (i, 2, a[i], 2)
    o[i] = t.count(2) + 10 * t.index(i)


def k_tuple_repeated_compare(a, o, n):
    i = gpu.grid(1)
    o[i] = ((i,) * 2 == (3, 3)) + ((1, "a") == (1, "a")) * 2 + ((1, 2) < (1, 2, 3)) * 4 + i


def k_try_in_loop(a, o, n):
    i = gpu.grid(1)
    for k in range(n):
        try:
            if k == i:
                continue
            o[i] += k
        finally:
            o[i] += 10


def k_vector_made(a, o, n):
    i = gpu.grid(1)
    v = gpu.float4(gpu.float2(a[i], 1), i, 4)
    w = gpu.float4(*(1, 2), gpu.float2(3, 4))
    o[i] = v.x + v.y * 10 + v.z * 100 + v.w + w.z + len(v) + v[1]


def k_vector_arithmetic(a, o, n):
    i = gpu.grid(1)
    v = gpu.float3(a[i], i, 2)
    w = 2 * v + gpu.float3(1, 2, 3) / 4 - 1
    k = gpu.int2(i, 7) % 3 + gpu.int2(5, i) // 2
    o[i] = w.x + w.y * 10 + w.z * 100 + k.x + k.y + v.dot(w) + (-v).x + abs(-v).y


def k_vector_equal(a, o, n):
    i = gpu.grid(1)
    o[i] = (gpu.int3(i, 1, 2) == gpu.int3(3, 1, 2)) + 2 * (gpu.int2(1, i) != gpu.int2(1, 4))


@given(gpu.double2(1.5, 2), (gpu.uchar4(1, 2, 3, 255), F4))
def k_vector_argument(a, o, n, v, t):
    i = gpu.grid(1)
    o[i] = scaled(v, i).y + t[0].w + (t[0] + gpu.uchar4(1, 1, 1, 1)).w


def scaled(v, k):
    return v * k


def k_vector_in_loop(a, o, n):
    i = gpu.grid(1)
    s = gpu.float2(0, 1)
    for k in range(n):
        s = s + gpu.float2(a[k], s.x)
    o[i] = s.x + s.y


def k_comprehension_of_a_choice(a, o, n):
    i = gpu.grid(1)
    t = [x + i for x in ((1, 2) if i > 3 else (3, 4))]
    s = sum(x * i for x in (n if i > 2 else 5, sum(k for k in (i, 1) if k)))
    o[i] = t[0] + t[1] * 10 + s


@given(np.int32(2**31 - 1), np.float16(9.3))
def k_items_keep_their_types(a, o, n, large, half):
    i = gpu.grid(1)
    s = 0.0
    for x in (large, i):
        s += x + large  # int32 wraps, a Python integer takes int32's type
    o[i] = s + sum(x for x in (half, i)) + sum(x * n for x in (i, half))


def k_set_comp(a, o, n):
    i = gpu.grid(1)
    s = {k % 3 for k in range(7)}
    o[i] = 1 if i in s else 0
    o[i] += len(s)


def k_set_display(a, o, n):
    i = gpu.grid(1)
    o[i] = 1 if i in {1, 2, 3} else 0


def k_zip_strict(a, o, n):
    i = gpu.grid(1)
    s = 0
    for x, y in zip((1, 2), (i, 4), strict=True):
        s += x * y
    o[i] = s


def k_range_obj(a, o, n):
    i = gpu.grid(1)
    r = range(2, 20, 3)
    q = r[1:4]
    o[i] = len(r) + r[2] + (i in r) * 7 + q[0] + len(q) + r[-1] + r.start + r.step + r.index(8) + r.count(5)


def k_int_methods(a, o, n):
    i = gpu.grid(1)
    o[i] = (
        i.bit_length()
        + i.bit_count() * 10
        + (5).bit_length()
        + (-i).bit_length()
        + i.conjugate()
        + i.real
        + i.numerator
        + i.denominator
    )


def k_math_prod(a, o, n):
    i = gpu.grid(1)
    o[i] = math.prod((i, 2, 3)) + math.prod(range(1, 5)) + math.prod((2, i), start=3)


def k_comb(a, o, n):
    i = gpu.grid(1)
    o[i] = math.comb(i, 2) + math.perm(i, 2) + math.comb(5, 2) + math.perm(4) + math.comb(i + 5, i)


def k_operator(a, o, n):
    i = gpu.grid(1)
    o[i] = (
        operator.add(i, 2)
        + operator.mul(i, 3)
        + operator.itemgetter(1)((1, i))
        + operator.neg(i)
        + operator.floordiv(i, 2)
        + operator.mod(i, 3)
        + operator.lt(i, 3)
        + operator.and_(i, 6)
        + operator.truth(i)
        + operator.getitem((1, i), 1)
        + operator.index(i)
        + operator.contains((1, 2), i)
        + operator.xor(i, 5)
        + operator.inv(i)
        + operator.pos(i)
        + operator.not_(i)
        + operator.concat((1,), (i,))[1]
        + operator.countOf((1, i), 1)
        + operator.abs(i)
    )


def k_methodcaller(a, o, n):
    i = gpu.grid(1)
    o[i] = operator.methodcaller("conjugate")(complex(i, 1)).imag + operator.attrgetter("real")(complex(i, 1))


def k_product(a, o, n):
    i = gpu.grid(1)
    s = 0
    for x, y in itertools.product((1, 2), (i, 4)):
        s += x * y
    for x, y in itertools.product(range(2), repeat=2):
        s += x * 10 + y * i
    o[i] = s


def k_chain(a, o, n):
    i = gpu.grid(1)
    s = 0
    for x in itertools.chain((1, 2), (i, 4.5)):
        s = s * 2 + x
    for x in itertools.repeat(i, 3):
        s += x
    for x in itertools.accumulate((1, i, 3)):
        s += x * 3
    for x, y in itertools.pairwise((1, i, 3)):
        s += x * y
    o[i] = s


def k_itertools2(a, o, n):
    i = gpu.grid(1)
    s = 0
    for x, y in itertools.combinations((1, i, 3), 2):
        s += x * y
    for x, y in itertools.permutations((1, i, 3), 2):
        s += x * y * 2
    for x in itertools.islice((1, i, 3, 4), 1, 3):
        s += x
    for x, y in itertools.zip_longest((1, i), (3,), fillvalue=7):
        s += x * y
    for x in itertools.starmap(lambda p, q: p * q, ((1, i), (2, 3))):
        s += x
    for x in itertools.compress((1, i, 3), (1, 0, 1)):
        s += x
    o[i] = s


def k_count(a, o, n):
    i = gpu.grid(1)
    s = 0
    for k, x in zip(itertools.count(2), (i, 5)):
        s += k * x
    o[i] = s


class Hue(enum.Flag):
    R = 1
    G = 2
    B = 4


@given(Hue.R | Hue.B)
def k_flag(a, o, n, c):
    i = gpu.grid(1)
    o[i] = 1 if c & Hue.R else 0
    if Hue.G in c:
        o[i] += 2
    if Hue.B in c:
        o[i] += 4
    if (c & ~Hue.R) == Hue.B:
        o[i] += 8
    o[i] += c.value * 100


class Both:
    K = 5

    def __init__(self, x, y):
        self.x = x
        self.y = y

    @staticmethod
    def s(k):
        return k * 2

    @classmethod
    def make(cls, k):
        return cls(k, k + cls.K)

    @property
    def norm(self):
        return self.x * self.x + self.y

    def __call__(self, k):
        return self.x + k

    def __add__(self, o):
        return Both(self.x + o.x, self.y + o.y)

    def __radd__(self, o):
        return Both(self.x + o, self.y)

    def __getitem__(self, k):
        return self.x if k == 0 else self.y

    def __len__(self):
        return 2

    def __iter__(self):
        return iter((self.x, self.y))

    def __bool__(self):
        return self.x > 3

    def __eq__(self, o):
        return self.x == o.x

    def __lt__(self, o):
        return self.x < o.x

    def __neg__(self):
        return Both(-self.x, -self.y)

    def __contains__(self, k):
        return self.x == k

    def __abs__(self):
        return self.x + self.y

    def __float__(self):
        return float(self.x)

    def __int__(self):
        return int(self.x)

    def __matmul__(self, o):
        return self.x * o.x + self.y * o.y

    def __hash__(self):
        return 1


def k_class1(a, o, n):
    i = gpu.grid(1)
    v = Both.make(i)
    o[i] = Both.s(3) + v.norm + v(4) + Both.K + v.K + (v + v).y + (3 + v).x + v[1] + v[0] + len(v)


def k_class_iter(a, o, n):
    i = gpu.grid(1)
    v = Both(i, 2)
    s = 0
    for x in v:
        s = s * 10 + x
    x, y = v
    o[i] = s + x + y


def k_class_bool(a, o, n):
    i = gpu.grid(1)
    v = Both(i, 2)
    if v:
        o[i] = 1
    if not v:
        o[i] += 2
    o[i] += (v == Both(3, 1)) * 4 + (v != Both(3, 1)) * 8 + (v < Both(5, 1)) * 16 + (v > Both(5, 1)) * 32


def k_class_misc(a, o, n):
    i = gpu.grid(1)
    v = Both(i, 2)
    o[i] = (-v).x + (i in v) + abs(v) + float(v) + int(v) + v @ v + bool(v) + sum(v) + max(v) + tuple(v)[1]


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


def k_combinations_again(a, o, n):
    i = gpu.grid(1)
    o[i] = sum(x * y for x, y in itertools.combinations_with_replacement((1, i, 3), 2)) + len(tuple(iter_of(i)))


class Steps:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter(range(3))


def iter_of(n):
    return [x + n for x in Steps(n)]


def k_type_limits(a, o, n):
    i = gpu.grid(1)
    low = np.finfo(np.float32).max
    for x in a:
        low = min(low, x)
    room = np.iinfo(np.int16).max - np.iinfo("u1").bits + np.iinfo(n).min / 2**62
    o[i] = low + room + np.finfo(a.dtype).eps * 2**23 + np.finfo(a[i]).tiny
