"""Every operator on every pair of scalar types gives NumPy's value and type (NEP 50).

The operands reach a device function called from Python: a NumPy scalar is typed, a Python number weak.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import gpu
import numpy as np
import pytest

DTYPES = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
WEAK = ["bool", "int", "float", "complex"]
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert, "abs": abs, "not": operator.not_}
ORDER = {"<", "<=", ">", ">="}


def values(kind: str) -> list[Any]:
    """A few scalars of a kind, edges among them."""
    if kind in WEAK:
        return {"bool": [True, False], "int": [3, -2, 0], "float": [0.5, -3.0], "complex": [1 + 2j, 2 - 1j]}[kind]
    dtype = np.dtype(kind)
    if kind == "?":
        return [np.bool_(True), np.bool_(False)]
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return [dtype.type(v) for v in (7, 2, 0, info.max, info.min)]
    if dtype.kind == "f":
        return [dtype.type(v) for v in (2.5, -0.75, 0.0, np.inf, np.nan)]
    return [dtype.type(v) for v in (1.5 - 2j, -0.5 + 3j, 1 + 0j, 0)]


def reference(f: Callable[..., Any], *args: Any) -> Any:
    """What Python gives; NotImplemented where it refuses the types, None where it refuses the values."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return f(*args)
        except TypeError:
            return NotImplemented
        except (ZeroDivisionError, ValueError, OverflowError):
            return None


def call(function: Callable[..., Any], *args: Any) -> Any:
    """Our result; NotImplemented where it is a compile error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except gpu.CompileError:
            return NotImplemented


def agrees(got: Any, want: Any, exact: bool) -> bool:
    """Equal in type and value; inexact operations up to a few units in the last place."""
    if type(got) is not type(want):
        return False
    if exact or not isinstance(want, (float, complex, np.inexact)):
        return got == want or (got != got and want != want)
    tolerance = 8 * float(np.finfo(np.asarray(want).dtype).eps)
    return bool(np.isclose(got, want, rtol=tolerance, atol=0, equal_nan=True)) or not (
        np.isfinite(want) or np.isfinite(got)
    )


def differs_by_design(x: Any, y: Any) -> bool:
    """Powers whose type in Python depends on the value, and complex powers of what is huge."""
    if isinstance(x, complex) or isinstance(y, (complex, np.complexfloating)):
        return not (abs(complex(x)) < 1e9 and abs(complex(y)) < 1e9)
    return type(x) in (bool, int, float) and type(y) in (bool, int, float) and (x < 0 or y < 0)


def typed(value: Any) -> Any:
    """A Python number as NumPy's scalar of the same kind."""
    return value if value in (None, NotImplemented) else np.asarray(value)[()]


def device_function(text: str, parameters: str) -> Any:
    """`text` as the body of a device function."""
    scope: dict[str, Any] = {}
    exec(f"def f({parameters}):\n    return {text}\n", scope)
    return gpu.jit(device=True, fma=False)(scope["f"])


@pytest.mark.parametrize("symbol", OPERATORS)
@pytest.mark.parametrize("left", DTYPES + WEAK)
def test_binary(symbol: str, left: str) -> None:
    function = device_function(f"x {symbol} y", "x, y")
    faults = []
    for right in DTYPES + WEAK:
        kinds = {np.dtype(k).kind if k not in WEAK else k[0] for k in (left, right)}
        exact = symbol != "**" and "c" not in kinds
        for x in values(left):
            for y in values(right):
                want = reference(OPERATORS[symbol], x, y)
                if symbol in ORDER and "c" in kinds:
                    want = NotImplemented  # complex numbers have no order here
                if want is None:
                    continue  # Python raises for these values: docs/semantics.md says what we give
                if symbol == "**" and differs_by_design(x, y):
                    continue
                if {type(x), type(y)} == {complex, np.float64}:
                    want = typed(want)  # CPython takes np.float64 for a float here, because it is a subclass
                got = call(function, x, y)
                refused = want is NotImplemented or got is NotImplemented
                good = want is got if refused else agrees(got, want, exact)
                if not good:
                    faults.append(f"{x!r} {symbol} {y!r} is {got!r} ({type(got).__name__}), not {want!r}")
    assert not faults, f"{len(faults)}:\n" + "\n".join(faults[:12])


@pytest.mark.parametrize("symbol", UNARY)
@pytest.mark.parametrize("kind", DTYPES + WEAK)
def test_unary(symbol: str, kind: str) -> None:
    function = device_function("abs(x)" if symbol == "abs" else f"{symbol} x", "x")
    for x in values(kind):
        want, got = reference(UNARY[symbol], x), call(function, x)
        if want is NotImplemented or got is NotImplemented:
            assert want is got, f"{symbol}{x!r} is {got!r}, not {want!r}"
        else:
            assert agrees(got, want, exact=np.asarray(x).dtype.kind != "c"), f"{symbol}{x!r} is {got!r}, not {want!r}"
