"""`gpu.parallel`: loops over `gpu.prange` give what the plain function gives, on every device; races are refused."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import gpu
import numpy as np
import pytest
from gpu import prange

GLOBAL = np.arange(100.0)
SCALE = 3


@pytest.fixture(params=["cpu", "emulated", "python"])
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with gpu.device(request.param):
        yield request.param


def dot(x: Any, y: Any) -> Any:
    s = 0.0
    for i in prange(len(x)):
        s += x[i] * y[i]
    return s


def elementwise(x: Any, y: Any, a: Any) -> None:
    for i in gpu.prange(x.shape[0]):
        y[i] = a * x[i] + y[i]


def many_reductions(x: Any) -> Any:
    count, product, small, large, least, bits, mixed = 0, 1.0, math.inf, x[0], x[0], -1, 0
    for i in gpu.prange(len(x)):
        v = x[i]
        if v < 2:
            continue
        count += 1
        product = product * (1 + v / 1000)
        small = min(small, v)
        large = max(v, large)
        if least > v:
            least = v
        bits &= int(v) | 8
        mixed -= i
    return count, product, small, large, least, bits, mixed


def several_loops(x: Any, out: Any) -> Any:
    total = 0.0
    for i in gpu.prange(len(x)):
        total += x[i]
    mean = total / len(x)
    spread = 0.0
    for i in gpu.prange(len(x)):
        d = x[i] - mean
        spread += d * d
    if spread > 0:
        for i in gpu.prange(len(x)):
            out[i] = (x[i] - mean) / math.sqrt(spread / len(x))
    return mean


def time_steps(a: Any, b: Any, steps: int) -> Any:
    for _ in range(steps):
        for i in prange(1, a.shape[0] - 1):
            for j in prange(1, a.shape[1] - 1):
                b[i, j] = (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) / 4
        a, b = b, a
    return a.sum()


def histogram(keys: Any, bins: Any, weights: Any) -> None:
    for i in gpu.prange(keys.size):
        bins[keys[i] % len(bins)] += weights[i]


def columns(x: Any, out: Any) -> None:
    for i in gpu.prange(x.shape[0]):
        for j in range(x.shape[1]):
            out[j] += x[i, j]


def ranges(out: Any, start: Any, stop: Any, step: Any) -> Any:
    s = 0
    for i in gpu.prange(start, stop, step):
        out[abs(i)] = i
        s += i
    return s


def helpers(x: Any, f: Any, pair: Any) -> Any:
    def local(v: Any) -> Any:
        return v

    s = local(0.0)
    for i in gpu.prange(len(x)):
        row = x[i]
        inner = 0.0
        for v in row:
            inner += f(v) * pair.weight
        s += inner + pair.shift + SCALE + GLOBAL[i % 100]
    return s


Pair = namedtuple("Pair", "weight shift")


def cube(v: Any) -> Any:
    return v**3


def first_of(x: Any, target: Any) -> Any:
    at = len(x)
    for i in gpu.prange(len(x)):
        if x[i] == target:
            at = min(at, i)
    return at


def in_place(a: Any, n: int = 10, *, step: int = 1) -> Any:
    for i in gpu.prange(n):
        a[i * step] -= i
    return None


def in_its_own_elements(a: Any, n: Any) -> None:
    for i in gpu.prange(0, n, 2):
        a[i, 0] = a[i + 1, 0] + a[i, 1]
        a[i, 2], a[i + 1, 3] = a[i, 0], a[i + 1, 2]
    for i in gpu.prange(1, n):
        a[i, 1] = a[i, 1] * a[0, 1] + a[i - 1, 2]


RNG = np.random.default_rng(4)
X = np.round(RNG.random(150) * 50, 1)
CASES: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = {
    "dot": (dot, lambda: (X, X[::-1])),
    "dot of float32": (dot, lambda: (X.astype("f4"), X.astype("f4"))),
    "dot of integers": (dot, lambda: (X.astype("i4"), X.astype("i2"))),
    "one": (dot, lambda: (X[:1], X[:1])),
    "none": (dot, lambda: (X[:0], X[:0])),
    "elementwise": (elementwise, lambda: (X, X.astype("f4"), 2.5)),
    "elementwise, strides": (elementwise, lambda: (X[::-2], np.ones((75, 2))[:, 1], np.float32(0.5))),
    "reductions": (many_reductions, lambda: (X,)),
    "loops": (several_loops, lambda: (X, np.zeros(150))),
    "time steps": (time_steps, lambda: (RNG.random((9, 7)), np.zeros((9, 7)), 3)),
    "histogram": (histogram, lambda: (np.arange(90), np.zeros(7, np.int64), np.ones(90, np.int64))),
    "columns": (columns, lambda: (np.arange(60.0).reshape(20, 3), np.zeros(3))),
    "range": (ranges, lambda: (np.zeros(60, int), 3, 50, 4)),
    "backwards": (ranges, lambda: (np.zeros(60, int), 50, -10, -3)),
    "empty range": (ranges, lambda: (np.zeros(60, int), 5, 5, 1)),
    "helpers": (helpers, lambda: (X.reshape(50, 3), cube, Pair(0.5, 2))),
    "first": (first_of, lambda: (X, X[70])),
    "own elements": (in_its_own_elements, lambda: (np.arange(40.0).reshape(10, 4), 10)),
    "defaults": (in_place, lambda: (np.zeros(30),)),
}


@pytest.mark.parametrize("case", CASES)
def test_like_python(case: str, device: str) -> None:
    function, arguments = CASES[case]
    plain, ours = arguments(), arguments()
    if case == "time steps":
        ours = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in plain)
    with np.errstate(all="ignore"):
        expected = function(*plain)
    found = gpu.parallel(function)(*ours)
    assert type(found) is type(expected)
    for a, b in zip(*((v if isinstance(v, tuple) else (v,)) for v in (found, expected)), strict=True):
        assert type(a) is type(b), (a, b)
        if b is not None:
            np.testing.assert_allclose(a, b, rtol=1e-5)
    for a, b in zip(ours, plain, strict=True):
        if isinstance(a, np.ndarray):
            np.testing.assert_allclose(a, b, rtol=1e-5)


def test_sums_are_the_same_on_all_devices() -> None:
    x = RNG.random(5000).astype("f4")
    sums = set()
    for name in ("cpu", "emulated"):
        with gpu.device(name):
            sums.add(gpu.parallel(dot)(x, x).tobytes())
    assert len(sums) == 1


def test_arrays_of_a_device() -> None:
    with gpu.device("emulated"):
        x = gpu.array(X)
    y = gpu.zeros(150, device="emulated")
    gpu.parallel(elementwise)(x, y, 3.0)  # runs where they are
    np.testing.assert_array_equal(y.copy_to_host(), X * 3)


def test_options_methods_and_closures(device: str) -> None:
    weights = np.arange(10.0)

    class Model:
        def __init__(self) -> None:
            self.scale, self.seen = 2.0, np.zeros(10)

        @gpu.parallel(fma=False)
        def total(self, x: Any) -> Any:
            s = 0.0
            for i in gpu.prange(x.shape[0]):
                self.seen[i] = x[i]
                s += x[i] * self.scale * weights[i]
            return s + self.seen[9]

    assert Model().total(np.ones(10)) == 91
    weights[:] = 1  # a free variable is read at each call
    assert Model().total(np.ones(10)) == 21


def test_globals_that_are_arrays_are_read_at_each_call() -> None:
    def total() -> Any:
        s = 0.0
        for i in gpu.prange(100):
            s += GLOBAL[i]
        return s

    run = gpu.parallel(total)
    before = run()
    GLOBAL[0] += 5
    try:
        assert run() == before + 5
    finally:
        GLOBAL[0] -= 5


# ---- what is refused


def carried(x: Any) -> None:
    last = 0.0
    for i in gpu.prange(len(x)):
        x[i] = last
        last = x[i] * 2


def prefix_sum(x: Any) -> None:
    s = 0.0
    for i in gpu.prange(len(x)):
        s += x[i]
        x[i] = s


def two_operations(x: Any) -> Any:
    s = 1.0
    for i in gpu.prange(len(x)):
        s += x[i]
        s *= 2
    return s


def read_after(x: Any) -> Any:
    for i in gpu.prange(len(x)):
        t = x[i]
    return t


def index_after(x: Any) -> Any:
    for i in gpu.prange(len(x)):
        x[i] = 0
    return i


def one_element(x: Any) -> None:
    for i in gpu.prange(len(x)):
        x[0] += x[i]


def stored_by_all(x: Any) -> None:
    for i in gpu.prange(len(x)):
        for j in range(3):
            x[j] = i


def scaled_by_all(x: Any) -> None:
    for i in gpu.prange(len(x)):
        x[int(x[i])] *= 2


def from_the_left(x: Any) -> None:
    for i in gpu.prange(1, len(x)):
        x[i] = x[i - 1] + 1


def gauss_seidel(a: Any) -> None:
    for i in gpu.prange(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            a[i, j] = (a[i - 1, j] + a[i + 1, j]) / 2


def by_the_first(x: Any) -> None:
    for i in gpu.prange(len(x)):
        x[i] /= x[0]


def two_stores(x: Any) -> None:
    for i in gpu.prange(len(x) - 1):
        x[i] = 1
        x[1 + i] = 2


def returns(x: Any) -> Any:
    for i in gpu.prange(len(x)):
        if x[i] > 1:
            return i
    return -1


def breaks(x: Any) -> None:
    for i in gpu.prange(len(x)):
        if x[i] > 1:
            break


def sometimes(x: Any) -> None:
    for i in gpu.prange(len(x)):
        if x[i] > 1:
            t = 2
        x[i] = t


def has_else(x: Any) -> None:
    for i in gpu.prange(len(x)):
        x[i] = 0
    else:
        x[0] = 1


def no_loop(x: Any) -> None:
    x[0] = 1


REFUSED = {
    carried: r"'last' is handed from one iteration to the next(.|\n)*x\[i\] = last\n *\| *\^\^\^\^",
    prefix_sum: "'s' is handed from one iteration to the next",
    two_operations: "'s' is handed from one iteration to the next",
    read_after: "'t' is assigned in the parallel loop of line .* last isn't known(.|\n)*return t",
    index_after: "'i' is assigned in the parallel loop",
    one_element: r"all iterations change this element at the same time(.|\n)*add to a variable, s \+= ",
    stored_by_all: "all iterations assign this element, and which one does it last isn't known",
    scaled_by_all: "two iterations may change this element at the same time(.|\n)*are atomic",
    from_the_left: r"another iteration writes this element: x\[i\] is assigned in(.|\n)*x\[i - 1\] \+ 1",
    gauss_seidel: r"another iteration writes this element: a\[i, j\]",
    by_the_first: r"another iteration writes this element: x\[i\](.|\n)*x\[i\] /= x\[0\]",
    two_stores: "another iteration writes this element",
    returns: "'return' in a parallel loop",
    breaks: "'break' in a parallel loop: the other iterations run at the same time",
    sometimes: "'t' isn't assigned before this on every path through an iteration",
    has_else: "a parallel loop has no 'else'",
    no_loop: "no_loop has no loop over gpu.prange",
}


@pytest.mark.parametrize("function", REFUSED)
def test_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(gpu.UnsupportedError, match=REFUSED[function]):
        gpu.parallel(function)


def test_refused_when_called() -> None:
    with pytest.raises(TypeError, match="the reduction 's' is a number, and this is ndarray"):

        @gpu.parallel
        def f(x: Any, s: Any) -> Any:
            for i in gpu.prange(len(x)):
                s += x[i]
            return s

        f(np.ones(3), np.zeros(2))
    scope: dict[str, Any] = {"gpu": gpu}
    exec("def g(n):\n    for i in gpu.prange(n):\n        pass\n", scope)
    with pytest.raises(gpu.UnsupportedError, match="the source of g isn't there"):
        gpu.parallel(scope["g"])
    with pytest.raises(TypeError, match="@parallel takes a Python function, and this is the class int"):
        gpu.parallel(int)


def test_an_error_in_a_loop_shows_its_line() -> None:
    def f(x: Any) -> None:
        for i in gpu.prange(len(x)):
            x[i] = x.missing[i]

    with pytest.raises(gpu.CompileError, match=r"test_parallel.py:\d+:.*missing(.|\n)*x\[i\] = x.missing"):
        gpu.parallel(f)(np.ones(3))


def test_an_exception_in_a_loop(device: str) -> None:
    @gpu.parallel
    def f(x: Any) -> None:
        for i in gpu.prange(len(x)):
            if x[i] < 0:
                raise ValueError("negative")

    f(np.ones(3))
    with pytest.raises(ValueError, match="negative"):
        f(np.array([1.0, -1.0]))
        gpu.synchronize()


def test_a_list_is_refused_by_the_name_of_its_variable() -> None:
    @gpu.parallel
    def collect(x: Any, found: Any) -> None:
        for i in gpu.prange(len(x)):
            found.append(x[i])

    with pytest.raises(TypeError, match=r"'found', which the loop reads, takes an array.* this is a list"):
        collect(np.zeros(3), [])
