"""Constructs of Python: None, constants, dicts."""

from __future__ import annotations

import gpu
import numpy as np

from . import given
from .enums import Color, Mode
from .tuples import F4, I4


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
MORE = {"z": 3}
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


def k_dict_or(a, o, n):
    i = gpu.grid(1)
    d = {"x": a[i], "y": 2} | {"y": 5} | MORE
    o[i] = d["x"] + d["y"] * d["z"] + len(d)


def k_dict_equal(a, o, n):
    i = gpu.grid(1)
    d, same = {"x": a[i], "y": n}, {"y": n, "x": a[0]}
    o[i] = (d == same) + 2 * (d != same) + 4 * (d == {"x": a[i]}) + 8 * ({1: 2} == {1.0: 2}) + 16 * (MORE == {"z": 3})


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


EIGHT_BYTES = np.float64
EIGHT_BYTES_DTYPE = np.dtype("f8")


def is_double(t):
    return t == np.float64


def k_types_are_not_dtypes(a, o, n):
    i = gpu.grid(1)
    weak, typed = type(1.5), type(o[0])
    answers = (
        (
            weak == np.float64,
            is_double(weak),
            weak == EIGHT_BYTES,
            weak in (np.float32, np.float64),
            float == np.float64,
        ),
        (
            weak == EIGHT_BYTES_DTYPE,
            weak == o.dtype,
            o.dtype == float,
            weak in (int, float),
            np.dtype(weak) == np.float64,
        ),
        (typed == np.float64, is_double(typed), typed in (int, float), typed == float, o.dtype.type == float),
    )
    for row in answers:
        for answer in row:
            o[i] = o[i] * 2 + (1 if answer else 0)


EVERY_OTHER = slice(1, None, 2)
A_COLUMN = (slice(None), 1)


def k_slices_made_outside(a, o, n):
    i = gpu.grid(1)
    m = a[:6].reshape(2, 3)
    o[i] = a[EVERY_OTHER][i % 3] + m[A_COLUMN][i % 2] + m[:, 2][i % 2]
