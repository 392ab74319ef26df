"""The promotion tables, whole, against NumPy's operators and against what numba-cuda infers."""

from __future__ import annotations

import functools
import json
import operator
import os
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ml_dtypes = pytest.importorskip("ml_dtypes")

NUMPY_2_0 = np.lib.NumpyVersion(np.__version__) < "2.1.0"
DTYPES: dict[str, Any] = {
    name: np.dtype(getattr(ml_dtypes, name, None) or name).type
    for name in [
        "bool",
        *("int8", "int16", "int32", "int64"),
        *("uint8", "uint16", "uint32", "uint64"),
        *("float16", "bfloat16", "float32", "float64"),
        *("complex64", "complex128"),
    ]
}
WEAK: dict[str, Any] = {"bool:weak": bool, "int64:weak": int, "float64:weak": float, "complex128:weak": complex}
NAMES = {**DTYPES, **WEAK}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "@": operator.matmul,
}
UNARY = {"neg": operator.neg, "pos": operator.pos, "invert": operator.invert}


@functools.cache
def table(dialect: str) -> dict[tuple[str, ...], str]:
    """Lines of the tool: (operator, types ...) to the result."""
    tool = Path(os.environ["GPU_BUILD"]) / "bin" / "promotetool"
    text = subprocess.run([tool, dialect], capture_output=True, text=True, check=True).stdout
    return {tuple(line.split()[:-1]): line.split()[-1] for line in text.splitlines()}


def name_of(value: Any) -> str:
    """The table's name of a value's type."""
    if isinstance(value, (np.generic, np.ndarray)) or hasattr(value, "dtype"):
        return str(value.dtype)
    return next(name for name, kind in WEAK.items() if kind is type(value))


def evaluate(function: Callable[..., Any], *kinds: str) -> str:
    """The type that Python gives for ones of these types; `-` where it refuses."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return name_of(function(*(NAMES[k](1) for k in kinds)))
        except TypeError:
            return "-"


@pytest.mark.parametrize("left", NAMES)
@pytest.mark.parametrize("symbol", BINARY)
def test_operators_are_numpys(symbol: str, left: str) -> None:
    got = {right: table("numpy")[symbol, left, right] for right in NAMES}
    want = {right: evaluate(BINARY[symbol], left, right) for right in NAMES}
    if NUMPY_2_0 and left in ("bfloat16", "int64:weak"):
        other = "int64:weak" if left == "bfloat16" else "bfloat16"
        want[other] = got[other]  # NumPy 2.0 made a float32 of them, if anything
    for right in NAMES:  # np.complex128 is Python's complex too, whose operators may answer for it
        if want[right] == "complex128:weak" and not (left in WEAK and right in WEAK):
            want[right] = "complex128"
    assert got == want


@pytest.mark.parametrize("symbol", UNARY)
def test_unary_operators_are_numpys(symbol: str) -> None:
    got = {kind: table("numpy")[symbol, kind] for kind in NAMES}
    assert got == {kind: evaluate(UNARY[symbol], kind) for kind in NAMES}


def is_integer(kind: str) -> bool:
    return kind.split(":")[0] in ("bool", "int64") or (kind in DTYPES and np.dtype(DTYPES[kind]).kind in "iub")


@pytest.mark.parametrize("dialect", ["numpy", "numba"])
def test_comparisons_hold_both_operands(dialect: str) -> None:
    """Integers are compared in a type that holds both, or exactly."""
    for (symbol, left, right), got in ((k, v) for k, v in table(dialect).items() if len(k) == 3):
        if symbol != "?" or not (is_integer(left) and is_integer(right)):
            continue
        kinds = [DTYPES[k.split(":")[0]] for k in (left, right)]
        holder = np.result_type(*kinds)
        assert got.split(":")[0] == ("exact" if holder.kind == "f" else holder.name)


def test_joins_never_narrow() -> None:
    """Two assignments of a variable get a type that holds every value of both, or none."""
    for (symbol, left, right), got in ((k, v) for k, v in table("numpy").items() if len(k) == 3):
        if symbol != ":":
            continue
        kinds = [k.split(":")[0] for k in (left, right)]
        assert got == table("numpy")[":", right, left]
        if got == "-":
            assert "uint64" in kinds and any(is_integer(k) for k in (left, right))
            continue
        result = np.dtype(DTYPES[got.split(":")[0]])
        assert got.endswith(":weak") == (left.endswith(":weak") and right.endswith(":weak"))
        for kind, full in zip(kinds, (left, right), strict=True):
            weak_float = full in ("float64:weak", "complex128:weak")
            if weak_float:  # takes the width of a typed float
                assert result.kind in ("c" if kind == "complex128" else "cf")
            else:
                whole = np.dtype(DTYPES[kind])
                assert np.can_cast(whole, result, "safe") or (got == "float32" and kind == "float16")


def test_numba_is_numba_cudas() -> None:
    """Against a table that numba-cuda 0.30.4 printed; what differs on purpose stands here."""
    reference = json.loads((Path(__file__).parent / "numba_types.json").read_text())
    differs = {"bool ** int32": "int64"}  # numba-cuda finds float32 by the order of its signatures
    for key, want in reference.items():
        left, symbol, right = key.split()
        got = table("numba")[symbol, left, right]
        if symbol == ":" and "uint64" in (left, right) and want == "float64" and is_integer(left) and is_integer(right):
            want = "int64"  # Numba makes the variable a float, and bit operations on it an error
        assert got == differs.get(key, want), key
