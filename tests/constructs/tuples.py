"""Constructs of Python: tuples."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

import gpu
import numpy as np

from . import given


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
