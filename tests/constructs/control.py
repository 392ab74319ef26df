"""Constructs of Python: control."""

from __future__ import annotations

import math

import gpu
import numpy as np

from .classes import SETTINGS, Point, Settings
from .tuples import P


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


def k_try_finally_that_calls(a, o, n):
    i = gpu.grid(1)
    try:
        o[i] = doubled(a[i])
    finally:
        o[i] += checked(a[i])
    o[i] += checked(a[i])


def doubled(x):
    return x * 2


def checked(x):
    if x < 0:
        raise ValueError("negative")
    return x


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

    i = gpu.grid(1)
    o[i] = math.sqrt(i)


def k_from_import(a, o, n):
    from math import pi, sqrt

    i = gpu.grid(1)
    o[i] = sqrt(i) * pi


def k_range_with_a_step_of_run_time(a, o, n):
    i = gpu.grid(1)
    for p in range(2, 6):
        for q in range(p * p, 20, p):
            o[i] += q + i
