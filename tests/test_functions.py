"""Every function of devfn.def, called directly from Python, against CPython and NumPy in value and type.

A call is a text with the names x, y, z for scalars; each list of samples gives the scalars' kinds. What differs from
CPython by design (docs/semantics.md) is said in the cases.
"""

from __future__ import annotations

import cmath
import importlib.util
import itertools
import math
import operator
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gpu
import numpy as np
import pytest
from gpu import _core

ROWS = {path for path, _, _ in _core.devfn_table()}
FLOATS = ["e", "f", "d"]
INTS = list("bhilBHIL")
REALS = ["?", *INTS, *FLOATS]


def typed(kind: str) -> list[Any]:
    """A few scalars of a dtype."""
    dtype = np.dtype(kind)
    if kind == "?":
        return [np.True_, np.False_]
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return [dtype.type(v) for v in (0, 1, 2, 7, 12, info.max, info.min)]
    if dtype.kind == "c":
        return [dtype.type(v) for v in (1.5 - 2j, -0.5 + 3j, 0j, 1)]
    values = (0.0, -0.0, 0.5, -0.75, 1.0, 2.5, -2.5, 7.0, 1e-3, -300.0, math.inf, -math.inf, math.nan)
    return [dtype.type(v) for v in values] + [np.finfo(dtype).tiny, np.finfo(dtype).max]


WEAK_INTS = [0, 1, 2, 7, -3, 12]
WEAK_FLOATS = [0.0, -0.0, 0.5, -0.75, 1.0, 2.5, -2.5, 7.0, 1e-3, math.inf, -math.inf, math.nan]


def arguments(kinds: list[str], count: int) -> Iterator[tuple[Any, ...]]:
    """Tuples of samples: all of one kind, and each kind beside Python numbers."""
    for kind in kinds:
        values = typed(kind)
        if count == 1:
            yield from ((v,) for v in values)
        else:
            yield from ((v, w) for v in values for w in values)
            yield from ((v, 2) for v in values)
            yield from ((v, 0.5) for v in values)


def reference(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What Python gives; NotImplemented where it refuses the types, None where it refuses the values."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except TypeError:
            return NotImplemented
        except (ValueError, OverflowError, ZeroDivisionError, np.exceptions.DTypePromotionError):
            return None


def call(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Our result; NotImplemented where it is a compile error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except gpu.CompileError:
            return NotImplemented


def close(got: Any, want: Any, ulps: float) -> bool:
    """Equal up to a few units in the last place of the type."""
    if got == want or (got != got and want != want):
        return True
    if isinstance(want, (complex, np.complexfloating)):
        parts = close(got.real, want.real, ulps * 8) and close(got.imag, want.imag, ulps * 8)
        return parts or bool(abs(got - want) <= ulps * np.finfo(np.asarray(want).dtype).eps * abs(want))
    if not isinstance(want, (float, np.floating)) or not ulps:
        return False
    dtype = np.dtype(getattr(want, "dtype", float))
    eps = float(np.finfo(dtype).eps)
    tolerance = ulps * max(eps * abs(float(want)), float(np.finfo(dtype).smallest_subnormal))
    return bool(abs(float(got) - float(want)) <= tolerance)


def same(got: Any, want: Any, ulps: float) -> bool:
    """The same type, and values up to `ulps`."""
    if isinstance(want, tuple):
        return isinstance(got, tuple) and all(same(g, w, ulps) for g, w in zip(got, want, strict=True))
    if isinstance(want, np.ndarray) and want.ndim == 0:
        want = want[()]
    return type(got) is type(want) and close(got, want, ulps)


def device_function(text: str, parameters: str = "x, y") -> Any:
    """`text` as the body of a device function."""
    scope: dict[str, Any] = {"np": np, "math": math, "cmath": cmath, "operator": operator}
    exec(f"def f({parameters}):\n    return {text}\n", scope)
    return gpu.jit(device=True, fma=False)(scope["f"])


def undefined(text: str, args: tuple[Any, ...]) -> bool:
    """What NumPy's releases answer differently: 1 // 0 in reciprocal, (-inf) ** 0.5, sinc of a float16 0."""
    if "reciprocal" in text:
        return isinstance(args[0], (int, np.integer, np.bool_)) and args[0] == 0
    if "sinc" in text and isinstance(args[0], np.float16) and args[0] == 0:
        return True
    return "pow" in text and len(args) == 2 and args[0] == -math.inf and args[1] == 0.5


def check(text: str, samples: Iterator[tuple[Any, ...]], ulps: float, count: int, want: Any = None) -> None:
    """Run over the samples; the reference is the text itself in Python, or `want`."""
    parameters = ", ".join("xyz"[:count])
    function = device_function(text, parameters)
    plain = want or eval(f"lambda {parameters}: {text}", {"np": np, "math": math, "cmath": cmath, "operator": operator})
    faults = []
    for args in samples:
        expected = reference(plain, args)
        if expected is None or undefined(text, args):
            continue
        got = call(function, args)
        good = got is expected if got is NotImplemented or expected is NotImplemented else same(got, expected, ulps)
        if not good:
            faults.append(f"{text} of {args!r}: {got!r}, not {expected!r}")
    assert not faults, "\n".join(faults[:12])


# ---- numpy: name, ULPs, kinds
NUMPY_1 = {
    **dict.fromkeys(["sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh"], 4),
    **dict.fromkeys(["arcsinh", "arccosh", "arctanh", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p"], 4),
    **dict.fromkeys(["asin", "acos", "atan", "asinh", "acosh", "atanh", "cbrt", "sinc"], 4),
    **dict.fromkeys(["degrees", "rad2deg", "radians", "deg2rad"], 1),
    **dict.fromkeys(["sqrt", "rint", "floor", "ceil", "trunc", "fix", "negative", "positive"], 0),
    **dict.fromkeys(["absolute", "abs"], 1),
    **dict.fromkeys(["fabs", "sign", "square", "reciprocal", "conjugate", "conj", "isnan", "isinf", "isfinite"], 0),
    **dict.fromkeys(["isposinf", "isneginf", "signbit", "modf", "frexp", "logical_not", "nan_to_num"], 0),
    **dict.fromkeys(["real", "imag", "angle", "round", "around"], 0),
}
NUMPY_INT_1 = ["invert", "bitwise_not", "bitwise_invert", "bitwise_count"]
NUMPY_2 = {
    **dict.fromkeys(["arctan2", "atan2", "hypot", "logaddexp", "logaddexp2", "power", "pow", "float_power"], 8),
    **dict.fromkeys(["copysign", "add", "subtract", "multiply", "divide", "true_divide", "floor_divide"], 0),
    **dict.fromkeys(["remainder", "mod", "fmod", "divmod", "less", "less_equal", "equal", "not_equal", "greater"], 0),
    **dict.fromkeys(["greater_equal", "logical_and", "logical_or", "logical_xor", "minimum", "maximum"], 0),
    **dict.fromkeys(["fmin", "fmax", "heaviside", "nextafter"], 0),
}
NUMPY_INT_2 = ["left_shift", "right_shift", "bitwise_left_shift", "bitwise_right_shift", "bitwise_and", "bitwise_or"]
NUMPY_INT_2 += ["bitwise_xor", "gcd", "lcm"]


def has(name: str) -> bool:
    """Does this NumPy know the name?."""
    return hasattr(np, name)


@pytest.mark.parametrize("name", [n for n in NUMPY_1 if has(n)])
def test_numpy_of_one_number(name: str) -> None:
    kinds = REALS + (["F", "D"] if name in ("absolute", "conjugate", "real", "imag", "isnan", "square") else [])
    if name in ("round", "around"):
        kinds = kinds[1:]  # of a bool NumPy makes a float16
    weak = WEAK_INTS + WEAK_FLOATS
    if np.lib.NumpyVersion(np.__version__) < "2.1.0" and name in ("floor", "ceil", "trunc", "fix"):
        kinds, weak = FLOATS, WEAK_FLOATS  # of integers NumPy 2.0 made floats; kernels do as 2.1
    check(f"np.{name}(x)", arguments(kinds, 1), NUMPY_1[name], 1)
    check(f"np.{name}(x)", iter([(v,) for v in weak]), NUMPY_1[name], 1)


@pytest.mark.parametrize("name", [n for n in NUMPY_INT_1 if has(n)])
def test_numpy_of_one_integer(name: str) -> None:
    check(f"np.{name}(x)", arguments(REALS, 1), 0, 1)


@pytest.mark.parametrize("name", [n for n in NUMPY_2 if has(n)])
def test_numpy_of_two_numbers(name: str) -> None:
    check(f"np.{name}(x, y)", arguments(REALS, 2), NUMPY_2[name], 2)


@pytest.mark.parametrize("name", [n for n in NUMPY_INT_2 if has(n)])
def test_numpy_of_two_integers(name: str) -> None:
    check(f"np.{name}(x, y)", arguments(REALS, 2), 0, 2)


NUMPY_OTHER = {
    "np.ldexp(x, y)": [
        (np.float32(0.75), 3),
        (np.float16(1.5), np.int8(-2)),
        (3, np.int8(2)),
        (True, 2),
        (2.5, np.int32(-3)),
        (2.5, 1030),
        (np.float64(1), -1080),
        (3, 4),
    ],
    "np.ldexp(x, np.int32(y))": [(np.float32(3), 2**20), (np.float32(3), -(2**20)), (np.float64(0.1), 7)],
    "np.spacing(x)": [(v,) for k in FLOATS for v in typed(k) if v == v and v != 0],
    "np.isclose(x, y)": [(1.0, 1.0 + 1e-7), (np.float32(1), 1.1), (3, 3), (math.nan, math.nan), (math.inf, math.inf)],
    "np.isclose(x, y, equal_nan=True)": [(math.nan, math.nan), (1.0, math.nan)],
    "np.isclose(x, y, rtol=0.5, atol=0)": [(1.0, 1.4), (1.0, 3.0), (np.float32(-1), np.float32(-1.5))],
    "np.where(x > 1, x, y)": [
        (np.float32(2), 3),
        (np.int8(0), 5),
        (np.int8(0), 2.5),
        (1, 2),
        (np.int32(7), np.float32(1)),
    ],
    "np.clip(x, 0, 1)": [(np.float32(3),), (np.int8(-3),), (3,), (0.25,), (np.float64(math.nan),)],
    "np.clip(x, -1, None)": [(np.float32(-3),), (np.int64(7),)],
    "np.clip(x, None, 1.5)": [(np.float32(3),), (np.int8(3),)],
    "np.clip(x, a_min=y, a_max=2)": [(np.float32(3), np.float64(1)), (np.uint8(0), np.uint8(1))],
    "np.round(x, 2)": [(np.float64(v),) for v in (0.125, 2.675, -1.005, 1e10, math.inf)] + [(np.float32(0.125),)],
    "np.round(x, -1)": [(np.int32(v),) for v in (0, 5, 15, 25, -15, -25, 14, 16, -14, 2**31 - 10)],
    "np.round(x, decimals=-2)": [(np.float64(v),) for v in (149.0, 150.0, 250.0, -350.0)] + [(np.int16(250),)],
    "np.nan_to_num(x, nan=1.5)": [(np.float32(math.nan),), (np.float64(math.inf),), (np.float16(-math.inf),), (3,)],
    "np.nan_to_num(x, posinf=2.0, neginf=-2.0)": [(np.float32(math.inf),), (np.float64(-math.inf),)],
    "np.sign(x)": [(np.complex64(3 - 4j),), (0j,)]
    + [(complex(a, b),) for a in (math.inf, 0.0, -2.0, math.nan) for b in (-math.inf, -0.0, 1.0)],
    "np.isreal(x)": [(np.complex64(1 + 1j),), (np.complex128(2),), (1j,), (np.int8(3),), (2,), (math.nan,)],
    "np.iscomplex(x)": [(np.complex64(1 + 1j),), (complex(1, math.nan),), (np.float32(2),), (True,)],
    "(np.isrealobj(x), np.iscomplexobj(x))": [(np.complex64(1),), (2j,), (np.float16(2),), (3,)],
    "x ** y": [(np.complex64(5.5), np.complex64(338)), (np.complex128(1e200), np.complex128(2.5))],
    "x ** -1": [(np.float32(3),), (np.float64(10),), (0.1,), (np.float16(-3),), (np.float64(-math.inf),), (16.0,)],
    "np.angle(x)": [(np.complex64(1 + 1j),), (np.complex128(-1),), (1j,), (np.float32(-2),), (-2.0,)],
    "np.angle(x, deg=True)": [(np.complex128(1 + 1j),), (np.float32(-1),)],
}


@pytest.mark.parametrize("text", NUMPY_OTHER)
def test_numpy_others(text: str) -> None:
    samples = NUMPY_OTHER[text]
    check(text, iter(samples), 1, len(samples[0]))


# ---- math: a typed float keeps its type, everything else gives Python's own


def is_float(x: Any) -> bool:
    return isinstance(x, (float, np.floating))


def in_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of math with a kernel's types: floats of the result take the type of the typed floats."""

    def call_typed(*args: Any) -> Any:
        wide = [float(a) if is_float(a) else int(a) for a in args]
        result = function(*wide)
        if not any(isinstance(a, np.floating) for a in args):
            return result
        dtype = np.result_type(*(a.dtype if isinstance(a, np.generic) else a for a in args)).type
        items = [dtype(r) if isinstance(r, float) else r for r in (result if isinstance(result, tuple) else (result,))]
        return tuple(items) if isinstance(result, tuple) else items[0]

    return call_typed


MATH_1 = {
    **dict.fromkeys(
        ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"], 4
    ),
    **dict.fromkeys(["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "erf", "erfc", "cbrt"], 4),
    **dict.fromkeys(["gamma", "lgamma"], 64),
    **dict.fromkeys(["degrees", "radians"], 1),
    **dict.fromkeys(["sqrt", "fabs", "floor", "ceil", "trunc", "isnan", "isinf", "isfinite", "modf", "frexp"], 0),
}
MATH_2 = {"pow": 4, "atan2": 4, "copysign": 0, "fmod": 0, "remainder": 0, "nextafter": 0, "hypot": 2, "isclose": 0}


@pytest.mark.parametrize("name", [n for n in MATH_1 if hasattr(math, n)])
def test_math_of_one_number(name: str) -> None:
    samples = [*arguments(REALS, 1), *((v,) for v in WEAK_INTS + WEAK_FLOATS + [True])]
    if name in ("floor", "ceil", "trunc"):  # Python's integers have 64 bits in a kernel
        samples = [a for a in samples if not abs(float(a[0])) >= 2.0**63]
    check(f"math.{name}(x)", iter(samples), MATH_1[name], 1, in_kernel(getattr(math, name)))


@pytest.mark.parametrize("name", MATH_2)
def test_math_of_two_numbers(name: str) -> None:
    kinds = ["f", "d"]  # a float16 is computed in float32 and rounded
    samples = list(arguments(kinds, 2)) + [(v, w) for v in WEAK_FLOATS for w in WEAK_FLOATS + WEAK_INTS]
    if name == "nextafter":  # the neighbour in the type itself
        check("math.nextafter(x, y)", arguments(FLOATS, 2), 0, 2, lambda x, y: np.nextafter(x, type(x)(y)))
    else:
        check(f"math.{name}(x, y)", iter(samples), MATH_2[name], 2, in_kernel(getattr(math, name)))


COMPLEX = [complex(a, b) for a in (-3.0, -1.0, -0.0, 0.0, 0.5, 2.0) for b in (-2.0, -0.0, 0.0, 1.0, 3.0)]
COMPLEX += [1e-200 + 1e-200j, 3e200 - 4e200j, 0.6 + 0.8j, 0.99999 + 1e-9j, 30 + 1j, -800 + 2j]
CMATH = ["sqrt", "exp", "log", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh"]
CMATH_INVERSE = ["asin", "acos", "atan", "asinh", "acosh", "atanh"]
EXTREMES = [0.0, -0.0, 0.5, -1.0, 1.0, 2.0, 1e-300, 5e-324, 1e200, -1.7e308, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("name", CMATH)
def test_complex(name: str) -> None:
    check(f"cmath.{name}(x)", iter([(z,) for z in COMPLEX]), 4, 1)
    check(f"np.{name}(x)", iter([(np.complex128(z),) for z in COMPLEX]), 4, 1)
    small = [(np.complex64(z),) for z in COMPLEX if 1e-9 < abs(z) < 90]
    check(f"np.{name}(x)", iter(small), 16, 1)
    check(f"cmath.{name}(x)", iter(small), 16, 1, lambda z: np.complex64(getattr(cmath, name)(complex(z))))


@pytest.mark.parametrize("name", CMATH_INVERSE)
def test_inverse_functions_on_both_sides_of_their_branch_cuts(name: str) -> None:
    extremes = [complex(a, b) for a in EXTREMES for b in EXTREMES]
    extremes = [z for z in extremes if not (math.isinf(z.real) and math.isnan(z.imag))]  # C leaves a sign open
    check(f"cmath.{name}(x)", iter([(z,) for z in COMPLEX + extremes]), 4, 1)
    numpy_name = name.replace("a", "arc", 1)
    small = [(np.complex64(z),) for z in COMPLEX if 1e-9 < abs(z) < 90]
    check(f"np.{numpy_name}(x)", iter(small), 16, 1)
    check(f"cmath.{name}(x)", iter(small), 16, 1, lambda z: np.complex64(getattr(cmath, name)(complex(z))))


CMATH_OTHER: dict[str, list[tuple[Any, ...]]] = {
    "cmath.log(x, 10)": [(2 + 1j,), (100,)],
    "cmath.sqrt(x)": [(-2,), (-2.5,), (4,)],
    "cmath.phase(x)": [(z,) for z in COMPLEX],
    "cmath.polar(x)": [(z,) for z in COMPLEX],
    "cmath.rect(x, y)": [(2.0, 0.5), (1, 3), (-0.0, float("-inf")), (0.0, float("nan"))],
    "cmath.isnan(x)": [(1j,), (complex(math.nan, 0),), (complex(0, math.nan),)],
    "cmath.isinf(x)": [(1j,), (complex(math.inf, 0),), (complex(0, -math.inf),)],
    "cmath.isfinite(x)": [(1j,), (complex(math.inf, 0),), (complex(0, math.nan),)],
}


@pytest.mark.parametrize("text", CMATH_OTHER)
def test_cmath_others(text: str) -> None:
    samples = CMATH_OTHER[text]
    check(text, iter(samples), 4, len(samples[0]))


INTEGERS = [0, 1, 2, 3, 4, 7, 12, 18, 35, 64, 99, 2**31, 2**53, 2**62 + 1, 2**63 - 1]
MATH_OTHER: dict[str, list[tuple[Any, ...]]] = {
    "math.log(x, y)": [(8.0, 2), (100, 10.0), (0.5, 3.0)],
    "math.hypot(x, y, 12)": [(3, 4.0), (1e200, 1e200), (0, 0)],
    "math.hypot()": [()],
    "math.hypot(x)": [(-3.0,), (2,)],
    "math.dist((x, y), (1, 2))": [(4, 6), (1.5, 2.0)],
    "math.ldexp(x, y)": [(0.75, 4), (1.0, -1074), (3, 2), (-0.0, 5)],
    "math.ulp(x)": [(v,) for v in (0.0, 1.0, -2.5, 1e300, 1.7976931348623157e308, math.inf, math.nan)],
    "math.gcd(x, y)": [(a, b) for a in INTEGERS for b in (0, 6, -12, 2**40)],
    "math.gcd(x, y, 6)": [(12, 18), (np.int8(-8), np.uint16(12))],
    "math.gcd()": [()],
    "math.lcm(x, y)": [(a, b) for a in INTEGERS[:11] for b in (0, 6, -12, 35)],
    "math.lcm()": [()],
    "math.isqrt(x)": [(v,) for v in INTEGERS] + [(v * v + d,) for v in (3, 94906267, 3037000499) for d in (-1, 0, 1)],
    "math.factorial(x)": [(v,) for v in range(21)],
    "math.comb(x, y)": [(n, k) for n in (0, 1, 5, 20, 62, 66) for k in (0, 1, 2, 5, 31, 33, 70)],
    "math.perm(x, y)": [(n, k) for n in (0, 1, 5, 20) for k in (0, 1, 2, 5, 20, 30)],
    "math.fsum((x, y, 1.0, -1e100))": [(1e100, 1.0), (0.1, 0.2), (math.inf, 1.0)],
    "math.fsum((x, y, 0.3))": [(0.1, 0.2), (1e16, 1.0), (1, 2)],
    "math.prod((x, y, 3))": [(2, 0.5), (np.float32(2), 3), (7, 2)],
    "math.prod((x, y), start=2)": [(2, 3)],
    "math.isclose(x, y, rel_tol=0.1)": [(1.0, 1.05), (1.0, 1.2)],
    "math.isclose(x, y, abs_tol=0.1)": [(0.0, 0.05), (0.0, 0.2)],
    "math.isclose(x, y)": [(1.0, 1.0 + 1e-10), (1, 1), (math.inf, math.inf), (math.nan, math.nan), (1.0, math.inf)],
}


@pytest.mark.parametrize("text", MATH_OTHER)
def test_math_others(text: str) -> None:
    samples = MATH_OTHER[text]
    check(text, iter(samples), 2, len(samples[0]))


def test_sumprod() -> None:
    if not hasattr(math, "sumprod"):
        pytest.skip("math.sumprod is new in Python 3.12")
    check("math.sumprod((x, y), (3, 4))", iter([(1, 2), (0.1, 0.2), (1e16, 1.0)]), 1, 2)
    check("math.sumprod((x, y, -x), (y, 3, y))", iter([(1e10 + 1, 1e10 - 1), (2, 3)]), 1, 2)


def test_fma_rounds_once() -> None:
    fma = device_function("math.fma(x, y, z)", "x, y, z") if hasattr(math, "fma") else None
    if fma is None:
        pytest.skip("math.fma is new in Python 3.13")
    x = 1 + 2.0**-30
    assert fma(x, x, -1.0) == 2.0**-29 + 2.0**-60
    assert fma(np.float32(3), np.float32(4), np.float32(5)) == np.float32(17)


@pytest.mark.parametrize(
    ("text", "value", "want"),
    [
        ("math.sqrt(x)", -1.0, math.nan),
        ("math.log(x)", 0.0, -math.inf),
        ("math.log(x)", -1.0, math.nan),
        ("math.exp(x)", 1000.0, math.inf),
        ("math.gamma(x)", -1.0, math.nan),
        ("math.floor(x)", math.nan, 0),
        ("math.floor(x)", math.inf, 2**63 - 1),
        ("math.ceil(x)", -math.inf, -(2**63)),
        ("math.factorial(x)", -1, 0),
        ("math.isqrt(x)", -1, 0),
        ("int(x)", 1e300, 2**63 - 1),
        ("int(x)", math.nan, 0),
        ("round(x)", -math.inf, -(2**63)),
    ],
)
def test_where_python_raises(text: str, value: Any, want: Any) -> None:
    """The table of defined results: IEEE's answer, or saturation."""
    got = device_function(text, "x")(value)
    assert type(got) is type(want) and (got == want or (got != got and want != want))


# ---- built-in functions, operator, methods
BUILTINS: dict[str, list[tuple[Any, ...]]] = {
    "abs(x)": [(v,) for k in [*REALS, "F", "D"] for v in typed(k)] + [(-3,), (-0.5,), (True,), (3 + 4j,)],
    "min(x, y)": [(3, 4), (2.5, 1.0), (math.nan, 1.0), (1.0, math.nan), (np.int8(3), np.int8(-5)), (0.0, -0.0)],
    "max(x, y)": [(3, 4), (2.5, 1.0), (math.nan, 1.0), (1.0, math.nan), (-0.0, 0.0), (True, False)],
    "max((x, y, 7))": [(3, 4), (9, 1)],
    "min(x, y, -2)": [(3, 4), (-9, 1)],
    "round(x)": [(v,) for k in [*INTS[:-1], *FLOATS] for v in typed(k) if abs(float(v)) < 1e15]
    + [(2.5,), (3.5,), (-0.5,), (7,), (True,)],
    "round(x, 1)": [(np.float64(0.25),), (np.float32(2.55),), (np.int8(3),), (3.25,), (7,)],
    "round(x, -1)": [(15,), (25,), (-25,), (np.int16(1234),), (np.float64(25),)],
    "pow(x, y)": [(2, 3), (2.0, 0.5), (np.float32(2), 3), (np.int8(3), 2)],
    "divmod(x, y)": [(7, 2), (-7, 2), (7.5, -2), (np.int8(-7), 2), (np.float32(7), np.float32(-2))],
    "int(x)": [(2.7,), (-2.7,), (np.float32(3.5),), (np.int8(-3),), (np.uint32(7),), (True,), (np.True_,), (9,)],
    "int()": [()],
    "float(x)": [(3,), (2.5,), (np.float32(0.1),), (np.int8(3),), (True,), (np.float16(0.1),)],
    "float('inf') + float('-1.5')": [()],
    "bool(x)": [(0,), (3,), (0.0,), (math.nan,), (np.float32(0),), (np.int8(2),), (np.False_,)],
    "complex(x, y)": [(1, 2.0), (np.float32(1), np.float32(2))],
    "complex(x)": [(1.5,), (2 + 1j,), (np.complex64(1j),)],
    "len((x, y, 3))": [(1, 2)],
    "len(range(x, y, 3))": [(0, 10), (5, 2), (-7, 7)],
    "sum((x, y))": [(1, 2), (np.float32(0.5), 2), (1.5, 2)],
    "sum((x, y), 10)": [(1, 2)],
    "all((x, y))": [(1, 0), (2.5, 3)],
    "any((x, y))": [(0, 0), (0, 3)],
    "isinstance(x, int)": [(1,), (1.0,), (True,), (np.int32(1),)],
    "isinstance(x, (float, bool))": [(1,), (1.0,), (True,), (np.float64(1),), (np.float32(1),)],
    "isinstance(x, np.floating)": [(np.float32(1),), (1,), (np.int8(1),)],
    "isinstance(x, np.integer)": [(np.uint8(1),), (1,), (np.float32(1),)],
    "isinstance(x, np.float32)": [(np.float32(1),), (np.float64(1),)],
    "tuple((x, y))": [(1, 2.5)],
    "operator.not_(x)": [(0,), (2.5,)],
    "operator.truth(x)": [(0,), (2.5,)],
    "operator.neg(x)": [(3,), (np.float32(2),), (np.uint8(3),)],
    "operator.pos(x)": [(3,), (True,)],
    "operator.invert(x)": [(3,), (np.uint8(3),)],
    "operator.inv(x)": [(3,)],
    "operator.abs(x)": [(-3,)],
    "operator.index(x)": [(np.int8(3),), (7,)],
    "operator.contains((x, y), 3)": [(1, 3), (1, 2)],
    "operator.getitem((x, y), 1)": [(1, 3)],
    "operator.is_(None, None)": [()],
    "operator.is_not(None, None)": [()],
    "x.astype(np.int32)": [(np.float32(2.7),), (np.int8(-3),), (np.uint8(200),)],
    "x.view(np.int32)": [(np.float32(1.5),), (np.uint32(2**31),)],
    "x.view(np.float64)": [(np.int64(2**62),)],
    "x.item()": [(np.float32(1.5),), (np.int8(-3),), (np.True_,)],
    "x.conjugate()": [(np.complex64(1 + 2j),), (np.float32(3),), (1 + 2j,), (3,)],
    "x.conj()": [(np.complex64(1 + 2j),), (np.float32(3),)],
    "x.round(1)": [(np.float64(0.25),), (np.float32(2.55),)],
    "x.clip(0, 2)": [(np.float64(7),), (np.int8(-3),)],
    "x.bit_count()": [(v,) for v in (0, 7, -7, 2**40)],
    "x.bit_length()": [(v,) for v in (0, 1, 7, -8, 2**40)],
    "x.is_integer()": [(np.float32(2.5),), (2.0,), (math.inf,), (np.float64(-3),)],
}
OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor"]
OPERATORS += [
    "iadd",
    "isub",
    "imul",
    "itruediv",
    "ifloordiv",
    "imod",
    "ipow",
    "ilshift",
    "irshift",
    "iand",
    "ior",
    "ixor",
]
COMPARISONS = ["lt", "le", "eq", "ne", "gt", "ge"]


@pytest.mark.parametrize("text", BUILTINS)
def test_builtins(text: str) -> None:
    samples = BUILTINS[text]
    check(text, iter(samples), 2, len(samples[0]))


@pytest.mark.parametrize(
    ("x", "y", "want"),
    [
        (2.5, 1, 1.0),  # weak with weak: the wider
        (np.float32(2), 0.5, np.float32(0.5)),
        (np.int8(3), 5, np.int64(3)),  # a run-time Python integer never narrows
        (np.int8(3), np.uint8(2), np.int16(2)),
        (np.int32(3), np.float32(2), np.float64(2)),
    ],
)
def test_min_has_the_type_of_the_join(x: Any, y: Any, want: Any) -> None:
    got = device_function("min(x, y)")(x, y)
    assert type(got) is type(want) and got == want


@pytest.mark.parametrize("name", OPERATORS)
def test_operator(name: str) -> None:
    check(f"operator.{name}(x, y)", iter([(7, 2), (np.int16(7), np.int16(2)), (np.uint8(9), 3)]), 0, 2)


@pytest.mark.parametrize("name", COMPARISONS)
def test_operator_comparisons(name: str) -> None:
    check(f"operator.{name}(x, y)", iter([(7, 2), (2, 7), (2, 2), (0.5, 2)]), 0, 2)


# ---- gpu, and what works on arrays or in loops only
def test_places_in_the_grid() -> None:
    @gpu.jit
    def kernel(out: Any) -> None:
        x, y, z = gpu.grid(3)
        nx, ny, _ = gpu.gridsize(3)
        at = (z * ny + y) * nx + x
        out[at, 0], out[at, 1], out[at, 2] = x, y, z
        out[at, 3] = gpu.threadIdx.x + 10 * gpu.threadIdx.y + 100 * gpu.threadIdx.z
        out[at, 4] = gpu.blockIdx.x + 10 * gpu.blockIdx.y + 100 * gpu.blockIdx.z
        out[at, 5] = gpu.blockDim.x + 10 * gpu.blockDim.y + 100 * gpu.blockDim.z
        out[at, 6] = gpu.gridDim.x + 10 * gpu.gridDim.y + 100 * gpu.gridDim.z
        out[at, 7] = gpu.laneid + gpu.warpsize

    grid, block = (2, 3, 2), (4, 2, 3)
    shape = [g * b for g, b in zip(grid, block, strict=True)]
    out = np.zeros((math.prod(shape), 8), "i8")
    kernel[grid, block](out)
    for at, row in enumerate(out):
        x, y, z = at % shape[0], at // shape[0] % shape[1], at // shape[0] // shape[1]
        tx, ty, tz = x % 4, y % 2, z % 3
        lane = ((tz * 2 + ty) * 4 + tx) % 32
        assert list(row) == [
            x,
            y,
            z,
            tx + 10 * ty + 100 * tz,
            x // 4 + 10 * (y // 2) + 100 * (z // 3),
            324,
            232,
            32 + lane,
        ]


def test_iteration() -> None:
    @gpu.jit(device=True)
    def f(n: Any) -> Any:
        total = 0
        for i, v in enumerate((3, 4, 5), 10):
            total += i * v
        for a, b in zip((1, 2, 3), range(5)):  # noqa: B905
            total += 100 * a * b
        for k in reversed(range(n)):
            total = total * 3 + k
        return total

    assert f(5) == f.py_func(5)


def test_type_of_a_scalar_converts() -> None:
    assert type(device_function("type(x)(3)", "x")(np.float32(1))) is np.float32


def test_setitem() -> None:
    @gpu.jit
    def kernel(x: Any) -> None:
        operator.setitem(x, gpu.grid(1), 7)

    x = np.zeros(4)
    kernel[1, 4](x)
    assert (x == 7).all()


def test_every_row_has_a_test() -> None:
    """A new row of devfn.def needs a case here, or in the tests of threads and arrays."""
    text = "\n".join([*NUMPY_OTHER, *MATH_OTHER, *BUILTINS])
    folder = Path(__file__).parent
    of_threads = [f"test_{part}.py" for part in ("cooperation", "atomics", "warps", "groups", "bits")]
    of_threads += ["test_whole_arrays.py", "test_print.py", "test_records.py", "test_foreign.py"]
    of_threads += [
        "test_small_arrays.py",
        "test_array_functions.py",
        "test_dates.py",
        "test_pointers.py",
        *(f"constructs/{p.name}" for p in (folder / "constructs").glob("*.py")),
    ]
    here = text + "".join((folder / name).read_text() for name in [Path(__file__).name, *of_threads])
    names = {f"numpy.{n}" for n in [*NUMPY_1, *NUMPY_INT_1, *NUMPY_2, *NUMPY_INT_2]}
    names |= {f"cmath.{n}" for n in CMATH + CMATH_INVERSE}
    names |= {"itemgetter.__call__", "attrgetter.__call__"}
    names |= {f"math.{n}" for n in [*MATH_1, *MATH_2]} | {f"operator.{n}" for n in OPERATORS + COMPARISONS}
    short = {
        "numpy": "np.",
        "builtins": "",
        "scalar": "x.",
        "ndarray": ".",
        "record": ".",
        "list": ".",
        "set": ".",
        "time": ".",
        "str": ".",
        "grid_group": "grid.",
        "thread_block": "block.",
        "tuple": ".",
        "range": ".",
        "namedtuple": ".",
        "dict": ".",
        "object": "super().",
        "cffi": "ffi.",
    }
    missing = []
    for path in sorted(ROWS - names):
        module, _, name = path.partition(".")
        called = short.get(module, module + ".") + name
        if called + "(" not in here and not (module == "gpu" and (called in here or f"cuda.{name}(" in here)):
            missing.append(path)
    assert not missing


def test_the_page_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location(
        "make_functions", Path(__file__).parents[1] / "docs/make_functions.py"
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text() == module.page(), "run docs/make_functions.py"
    assert sum(len(rows) for _, rows in module.sections()) == len(ROWS)


ARGUMENTS = [
    "",
    "x[0]",
    "x",
    "None",
    "(1, 2.5)",
    "()",
    "'text'",
    "z[0]",
    "1.5",
    "7",
    "True",
    "np.float32",
    "math",
    "range(3)",
]
SECONDS = ["", "x", "n", "0", "-1", "None", "z[0]", "x[0], n, 3", "k=1", "*(1, 2, 3)", "1, 2, 3, 4, 5, 6, 7, 8"]


@pytest.mark.one_version
@pytest.mark.parametrize("path", sorted(ROWS))
def test_wrong_arguments_are_a_message(path: str) -> None:
    """Whatever a call has: it compiles, or there is a CompileError."""
    module, _, name = path.partition(".")
    called = {"builtins": "", "numpy": "np.", "scalar": "x[0]."}.get(module, module + ".") + name
    texts = [f"{called}({', '.join(a for a in (first, second) if a)})" for first in ARGUMENTS for second in SECONDS]
    for text in [*texts[:: max(1, len(texts) // 16)], f"{called}({ARGUMENTS[0]})", called]:
        scope: dict[str, Any] = {"np": np, "math": math, "operator": operator, "cmath": cmath, "gpu": gpu}
        exec(f"def f(x, z, n, out):\n    v = {text}\n    out[0] = v[0] if isinstance(v, tuple) else v\n", scope)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                gpu.jit(scope["f"]).compile("f4[::1], c8[::1], int, f8[::1]")
            except gpu.CompileError as error:
                assert "error:" in str(error), text


BFLOAT16 = ["sin", "exp", "log", "sqrt", "tanh", "floor", "rint", "absolute", "negative", "square", "sign", "isnan"]
BFLOAT16_2 = [
    "add",
    "multiply",
    "divide",
    "maximum",
    "fmin",
    "power",
    "floor_divide",
    "remainder",
    "arctan2",
    "nextafter",
]


@pytest.mark.parametrize("name", BFLOAT16 + BFLOAT16_2)
def test_bfloat16(name: str) -> None:
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    values = [bfloat16(v) for v in (0.0, -0.0, 0.5, -0.75, 1.0, 2.5, 7.0, -300.0, math.inf, math.nan)]
    count = 1 if name in BFLOAT16 else 2
    function = device_function(f"np.{name}({', '.join('xy'[:count])})", ", ".join("xy"[:count]))
    for args in itertools.product(values, repeat=count):
        want = reference(getattr(np, name), args)
        got = call(function, args)
        assert type(got) is type(want), args
        near = abs(float(got) - float(want)) <= abs(float(want)) / 128 if float(want) == float(want) else got != got
        assert near or got == want, f"{args}: {got!r}, not {want!r}"


def has_value(function: Any, z: complex) -> bool:
    try:
        function(z)
    except ValueError:  # CPython raises where C99 gives NaN
        return False
    return True


@pytest.mark.parametrize("name", ["exp", "sinh", "cosh", "tanh", "sin", "cos", "tan"])
def test_complex_functions_of_infinities(name: str) -> None:
    parts, function = [0.0, -0.0, 1.5, -2.0, math.inf, -math.inf], getattr(cmath, name)
    numbers = np.array([complex(x, y) for x in parts for y in parts if has_value(function, complex(x, y))])

    @gpu.jit
    def kernel(z, out):
        i = gpu.grid(1)
        out[i] = function(z[i])

    out = np.zeros_like(numbers)
    kernel[1, numbers.size](numbers, out)
    for z, got in zip(numbers.tolist(), out.tolist(), strict=True):
        want = function(z)
        for one, other in ((got.real, want.real), (got.imag, want.imag)):
            same = math.isnan(one) if math.isnan(other) else math.isclose(one, other)
            assert same, (z, got, want)
