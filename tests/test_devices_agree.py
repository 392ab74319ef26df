"""The compiled devices agree: every operator on every pair of dtypes to the bit, functions within their bounds.

`cpu` is what test_operators.py and test_functions.py compare with NumPy; here `emulated`, which executes the PTX, is
compared with it.
"""

from __future__ import annotations

import functools
import itertools
import warnings
from typing import Any

import gpu
import numpy as np
import pytest
from test_operators import DTYPES, OPERATORS, ORDER, UNARY, reference

pytestmark = [pytest.mark.one_version, pytest.mark.slow]

FLOATS = ["f2", "f4", "f8"]
UNARY_FUNCTIONS = [
    "sqrt",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "cbrt",
    "rint",
    "floor",
    "ceil",
    "trunc",
    "fix",
    "negative",
    "absolute",
    "fabs",
    "sign",
    "square",
    "reciprocal",
    "degrees",
    "radians",
    "sinc",
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
    "nextafter",
    "spacing",
]
BINARY_FUNCTIONS = [
    "arctan2",
    "hypot",
    "copysign",
    "fmod",
    "remainder",
    "floor_divide",
    "minimum",
    "maximum",
    "fmin",
    "fmax",
    "logaddexp",
    "logaddexp2",
    "heaviside",
    "nextafter",
    "power",
    "float_power",
]


def edges(dtype: str) -> np.ndarray[Any, Any]:
    """Values of a dtype at which things go wrong."""
    d = np.dtype(dtype)
    if d.kind == "b":
        return np.array([False, True])
    if d.kind in "iu":
        info = np.iinfo(d)
        near = [0, 1, 2, 3, 7, 8, 31, 33, 64, 100, info.max, info.max - 1, info.max // 2, info.min, info.min + 1]
        return np.array([*near, *(-n for n in (1, 2, 3, 7) if d.kind == "i")], d)
    if d.kind == "f":
        info = np.finfo(d)
        some = [0, 1, 1.5, 2, 2.5, 3, 0.1, 7.25, 100, 1e4, info.max, info.tiny, info.smallest_subnormal, info.eps]
        return np.array([s * v for v in [*some, np.inf] for s in (1, -1)] + [np.nan], d)
    parts = [0.0, -0.0, 1.5, -2.0, 100.0, np.inf, np.nan]
    return np.array([complex(a, b) for a in parts for b in parts[:5]], d)


def pairs(left: str, right: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    both = list(itertools.product(edges(left), edges(right)))
    return np.array([x for x, _ in both], left), np.array([y for _, y in both], right)


def kernel(expressions: tuple[str, ...], parameters: str, **options: Any) -> Any:
    """One kernel that stores each expression of x and y to an array of its own."""
    outs = ", ".join(f"o{n}" for n in range(len(expressions)))
    lines = [f"def k({', '.join(f'{p}_' for p in parameters)}, {outs}):", "    i = gpu.grid(1)"]
    lines.append(f"    if i < {parameters[0]}_.size:")
    lines += [f"        {p} = {p}_[i]" for p in parameters]
    lines += [f"        o{n}[i] = {e}" for n, e in enumerate(expressions)]
    scope = {"gpu": gpu, "np": np}
    exec("\n".join(lines) + "\n", scope)
    return gpu.jit(**options)(scope["k"])


def results(
    device: str, expressions: tuple[str, ...], dtypes: list[Any], inputs: dict[str, Any], **options: Any
) -> list[np.ndarray[Any, Any]]:
    first = next(iter(inputs.values()))
    outs = [np.zeros(first.size, d) for d in dtypes]
    with gpu.device(device), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernel(expressions, "".join(inputs), **options)[(first.size + 63) // 64, 64](*inputs.values(), *outs)
    return outs


def same(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Equal bits, or NaN on both sides."""
    if a.dtype.kind == "c":
        part = a.real.dtype
        whole = same(a.view(part), b.view(part)).reshape(-1, 2)
        return whole[:, 0] & whole[:, 1]
    bits = f"u{a.dtype.itemsize}"
    return (a.view(bits) == b.view(bits)) | ((a != a) & (b != b))


def near(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], ulps: float) -> np.ndarray[Any, Any]:
    """Within some units in the last place, or of what underflows."""
    if a.dtype.kind not in "fc":
        return a == b
    info = np.finfo(a.dtype)
    with np.errstate(all="ignore"):
        close = np.abs(a - b) <= ulps * info.eps * np.maximum(np.abs(a), info.tiny)
    return close | same(a, b)


def differences(got: Any, want: Any, good: Any, expression: str, inputs: dict[str, Any]) -> list[str]:
    where = np.flatnonzero(~good)[:3]
    return [
        f"{expression} with {', '.join(f'{n} = {v[i]!r}' for n, v in inputs.items())}: "
        f"emulated {got[i]!r}, cpu {want[i]!r}"
        for i in where
    ]


def compare(expressions: dict[str, float], dtypes: list[Any], inputs: dict[str, Any], **options: Any) -> list[str]:
    """Faults of expressions, each with its bound in ULP (0: to the bit)."""
    texts = tuple(expressions)
    got = results("emulated", texts, dtypes, inputs, **options)
    want = results("cpu", texts, dtypes, inputs, **options)
    faults = []
    for text, ulps, a, b in zip(texts, expressions.values(), got, want, strict=True):
        faults += differences(a, b, near(a, b, ulps) if ulps else same(a, b), text, inputs)
    return faults


def numpy_type(f: Any, *arrays: Any) -> np.dtype[Any] | None:
    """The dtype of NumPy's result; None if it refuses the types."""
    out = reference(f, *(a[:0] for a in arrays))
    return None if out is NotImplemented or out is None else out.dtype


@pytest.mark.parametrize("left", DTYPES)
def test_operators(left: str) -> None:
    faults: list[str] = []
    for right in DTYPES:
        x, y = pairs(left, right)
        complex_pair = "c" in (x.dtype.kind, y.dtype.kind)
        expressions, dtypes = {}, []
        for symbol, f in OPERATORS.items():
            dtype = numpy_type(f, x, y)
            if dtype is None or (symbol in ORDER and complex_pair):
                continue
            if symbol == "**" and complex_pair:
                continue  # through exp and log: test_functions.py
            expressions[f"x {symbol} y"] = 32 if symbol == "**" and dtype.kind == "f" else 0
            dtypes.append(dtype)
        faults += compare(expressions, dtypes, {"x": x, "y": y})
    assert not faults, f"{len(faults)}:\n" + "\n".join(faults[:20])


@pytest.mark.parametrize("dtype", DTYPES)
def test_unary_operators_and_conversions(dtype: str) -> None:
    x = edges(dtype)
    expressions, dtypes = {}, []
    for symbol, f in UNARY.items():
        if symbol == "not":
            continue
        wanted = numpy_type(f, x)
        if wanted is not None:
            expressions["abs(x)" if symbol == "abs" else f"{symbol}x"] = 2 if x.dtype.kind == "c" else 0
            dtypes.append(wanted)
    for to in DTYPES:
        if x.dtype.kind == "c" and np.dtype(to).kind != "c":
            continue
        expressions[f"x.astype(np.{np.dtype(to).name.replace('bool', 'bool_')})"] = 0
        dtypes.append(to)
    faults = compare(expressions, dtypes, {"x": x})
    assert not faults, "\n".join(faults[:20])


@functools.cache
def bound(name: str) -> float:
    """Twice what both sides may be off, for functions that approximate; exact ones agree to the bit."""
    exact = "rint floor ceil trunc fix negative absolute fabs sign square reciprocal isnan isinf isfinite signbit sqrt "
    exact += "copysign minimum maximum fmin fmax heaviside nextafter spacing fmod remainder floor_divide"
    return 0 if name in exact.split() else 64


def patterns(dtype: str, n: int) -> np.ndarray[Any, Any]:
    """Random bits as values of a float dtype: all sizes, subnormal ones too; NaN without a sign."""
    bits = np.dtype(f"u{np.dtype(dtype).itemsize}")
    values = np.random.default_rng(8).integers(0, np.iinfo(bits).max, n, bits, endpoint=True).view(dtype)
    return np.where(np.isnan(values), np.dtype(dtype).type("nan"), values)


@pytest.mark.parametrize("dtype", FLOATS)
def test_functions(dtype: str) -> None:
    x = np.concatenate([edges(dtype), np.linspace(-3, 3, 200).astype(dtype), patterns(dtype, 3000)])
    unary = {f"np.{name}(x)": bound(name) for name in UNARY_FUNCTIONS if name != "nextafter"}
    with np.errstate(all="ignore"):
        dtypes = [getattr(np, text[3:-3])(x[:0]).dtype for text in unary]
    faults = compare(unary, dtypes, {"x": x})
    a, b = (
        np.concatenate([p, q]) for p, q in zip(pairs(dtype, dtype), np.split(patterns(dtype, 6000), 2), strict=True)
    )
    binary = {f"np.{name}(x, y)": bound(name) for name in BINARY_FUNCTIONS}
    dtypes = [getattr(np, name)(a[:0], b[:0]).dtype for name in BINARY_FUNCTIONS]
    faults += compare(binary, dtypes, {"x": a, "y": b})
    assert not faults, f"{len(faults)}:\n" + "\n".join(faults[:20])


@pytest.mark.parametrize("dtype", FLOATS)
def test_contraction(dtype: str) -> None:
    """Which products and sums are fused is decided before either device's code is made."""
    x, y = pairs(dtype, dtype)
    z = np.roll(x, 3)
    faults = []
    for fma in (True, False):
        texts = dict.fromkeys(["x * y + z", "z - x * y", "x * y - z * x", "(x + y) * z", "-(x * y) - z"], 0.0)
        faults += compare(texts, [dtype] * len(texts), {"x": x, "y": y, "z": z}, fma=fma)
    assert not faults, "\n".join(faults[:20])
