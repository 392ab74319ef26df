"""Constructs of Python: functions."""

from __future__ import annotations

import functools
import math
import operator

import gpu
import numpy as np

from . import given
from .tuples import I4, P


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


def k_function_chosen_at_run_time(a, o, n):
    def halved(x):
        return x / 2

    i = gpu.grid(1)
    f = math.sin if i % 2 else math.cos
    g = halved
    if i > 5:
        g = np.sqrt
    elif i > 3:
        g = lambda x: x * x if x > 2 else -x  # noqa: E731
    h = f if a[i] > 3 else g
    o[i] = f(a[i]) + g(a[i]) * 10 + h(2.0) * 100 + (g is halved) * 1000


def k_function_that_returns_or_not(a, o, n):
    i = gpu.grid(1)

    def changes(k):
        o[k] += 5

    def changes_much(k):
        for j in range(3):
            o[k] += j * 10

    f = changes
    if a[i] > 2:
        f = changes_much
    for _ in range(i % 3):
        f(i)


def k_function_from_a_list(a, o, n):
    i = gpu.grid(1)
    fs = [lambda x: x + 1, np.sqrt, abs]
    o[i] = fs[i % 3](a[i]) + {"half": fs[-1]}["half"](-2)
    for k, (f, x) in enumerate(((math.sin, a), (len, a), (abs, -1))):
        o[i] += f(x[i] if k == 0 else x)
