"""Folding of constants against independent arithmetic: exact fractions, Python's integers, NumPy."""

from __future__ import annotations

import math
import os
import re
import subprocess
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

TOOL = Path(os.environ.get("GPU_BUILD", Path(__file__).parents[2] / "build")) / "bin" / "irtool"
pytestmark = [pytest.mark.skipif(not TOOL.exists(), reason="irtool isn't built"), pytest.mark.one_version]

INTS = {f"{s}{n}": (s == "i", n) for s in "iu" for n in (8, 16, 32, 64)}
# bits of the mantissa, least and greatest exponent
FLOATS = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127), "f64": (53, -1022, 1023)}
NUMPY: dict[str, Any] = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
PREDICATES: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


# ---- values -----------------------------------------------------------------------------------------------


def wrap(t: str, v: int) -> int:
    """The integer modulo the width of a type."""
    signed, bits = INTS[t]
    v &= (1 << bits) - 1
    return v - (1 << bits) if signed and v >> (bits - 1) else v


def limits(t: str) -> tuple[int, int]:
    """The least and greatest value of an integer type."""
    signed, bits = INTS[t]
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)


def ints(t: str) -> list[int]:
    """Edge values of an integer type."""
    low, high = limits(t)
    return sorted(
        {wrap(t, v) for v in (0, 1, 2, 3, 7, 10, 31, 32, 63, 64, 100, -1, -2, -3, -7, low, low + 1, high, high - 1)}
    )


def rounded(t: str, v: Fraction) -> float:
    """The float of a type nearest to a fraction, ties to even; too large is infinite."""
    bits, lowest, highest = FLOATS[t]
    if v == 0:
        return 0.0
    exponent = max(math.floor(math.log2(abs(v.numerator)) - math.log2(v.denominator)) - 2, lowest)
    while abs(v) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    quantum = Fraction(2) ** (exponent - bits + 1)
    result = round(v / quantum) * quantum
    if abs(result) >= Fraction(2) ** (highest + 1):
        return math.inf if v > 0 else -math.inf
    return abs(float(result)) if v > 0 else -abs(float(result))


def floats(t: str) -> list[float]:
    """Edge values of a float type."""
    bits, lowest, highest = FLOATS[t]
    most = float(Fraction(2) ** (highest + 1) - Fraction(2) ** (highest - bits + 1))
    tiny = float(Fraction(2) ** (lowest - bits + 1))
    plain = [rounded(t, Fraction(v)) for v in (1, -1, 0.5, 1.5, -2.5, 3, 0.1, -0.3, 255, 1000.5)]
    return [0.0, -0.0, *plain, most, -most, tiny, -tiny, 2.0**lowest, math.inf, -math.inf, math.nan]


def literal(t: str, v: Any) -> str:
    """A constant as the IR writes it."""
    if t == "bool":
        return "true" if v else "false"
    if t in INTS:
        return str(v)
    if math.isnan(v):
        return {"f16": "nan:0x7e00", "bf16": "nan:0x7fc0", "f32": "nan:0x7fc00000", "f64": "nan:0x7ff8000000000000"}[t]
    return repr(v)


def value(t: str, text: str) -> Any:
    """What a literal of the IR stands for."""
    if t == "bool":
        return text == "true"
    if t in INTS:
        return int(text)
    if text.startswith("nan"):
        return math.nan
    if text.lstrip("-") == "inf":
        return float(text)
    return math.copysign(rounded(t, Fraction(text)), -1.0 if text[0] == "-" else 1.0)


def same(a: Any, b: Any) -> bool:
    """Equal, NaN with NaN, zeros by their sign."""
    if isinstance(a, float) or isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    return bool(a == b)


def fold(op: str, result: str, types: list[str], rows: list[tuple[Any, ...]]) -> list[Any]:
    """The folded result of `op` for each row of operands."""
    lines = ["kernel k", 'param ptr data "out" leaf 0', "b0:", "  %1 = param ptr 0"]
    n = 1
    for row in rows:
        lines += [
            f"  %{n + i + 1} = const {t} {literal(t, v)}" for i, (t, v) in enumerate(zip(types, row, strict=True))
        ]
        names = ", ".join(f"%{n + i + 1}" for i in range(len(row)))
        n += len(row) + 1
        lines += [f"  %{n} = {op} {result} {names}", f"  store %1, %{n}"]
    lines += ["  ret", ""]
    run = subprocess.run([TOOL, "simplify"], input="\n".join(lines), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    constants = {m[1]: value(m[2], m[3]) for m in re.finditer(r"(%\d+) = const (\w+) (\S+)", run.stdout)}
    stored = re.findall(r"store %\d+, (%\d+)", run.stdout)
    assert len(stored) == len(rows), run.stdout
    assert all(s in constants for s in stored), "something wasn't folded: " + run.stdout
    return [constants[s] for s in stored]


def check(op: str, result: str, types: list[str], rows: list[tuple[Any, ...]], want: Callable[..., Any]) -> None:
    """Folds all rows and compares with `want(*row)`."""
    got = fold(op, result, types, rows)
    wrong = [
        f"{op} {result} {row} is {g}, not {want(*row)}"
        for row, g in zip(rows, got, strict=True)
        if not same(g, want(*row))
    ]
    assert not wrong, f"{len(wrong)}: " + "; ".join(wrong[:8])


# ---- integers ---------------------------------------------------------------------------------------------


def int_ops(t: str) -> dict[str, Callable[..., int]]:
    """Every integer operation of a type, on Python's integers before wrapping."""
    bits = INTS[t][1]

    def trunc(a: int, b: int) -> int:
        return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)

    def power(a: int, b: int) -> int:
        if b < 0:
            return {1: 1, -1: 1 if b % 2 == 0 else -1}.get(a, 0)
        return pow(a, b, 1 << bits)

    def unsigned(v: int) -> int:
        return v & ((1 << bits) - 1)

    return {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "floordiv": lambda a, b: a // b if b else 0,
        "floormod": lambda a, b: a % b if b else 0,
        "truncdiv": trunc,
        "truncmod": lambda a, b: a - trunc(a, b) * b if b else 0,
        "min": min,
        "max": max,
        "mulhi": lambda a, b: (a * b) >> bits,
        "pow": power,
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
        "shl": lambda a, b: a << unsigned(b) if unsigned(b) < bits else 0,
        "shr": lambda a, b: a >> min(unsigned(b), bits),
        "neg": lambda a: -a,
        "abs": abs,
        "not": lambda a: ~a,
        "popc": lambda a: bin(unsigned(a)).count("1"),
        "clz": lambda a: bits - unsigned(a).bit_length(),
        "ctz": lambda a: (unsigned(a) & -unsigned(a)).bit_length() - 1 if a else bits,
        "brev": lambda a: int(f"{unsigned(a):0{bits}b}"[::-1], 2),
    }


@pytest.mark.parametrize("t", INTS)
def test_integers(t: str) -> None:
    for op, f in int_ops(t).items():
        rows = (
            [(a,) for a in ints(t)]
            if op in ("neg", "abs", "not", "popc", "clz", "ctz", "brev")
            else list(product(ints(t), ints(t)))
        )
        check(op, t, [t] * len(rows[0]), rows, lambda *v, f=f: wrap(t, f(*v)))


def test_bools() -> None:
    both = list(product((False, True), repeat=2))
    for op, f in {"and": lambda a, b: a and b, "or": lambda a, b: a or b, "xor": lambda a, b: a != b}.items():
        check(op, "bool", ["bool", "bool"], both, f)
    check("not", "bool", ["bool"], [(False,), (True,)], lambda a: not a)


@pytest.mark.parametrize("t", [*INTS, *FLOATS, "bool"])
def test_comparisons(t: str) -> None:
    values: list[Any] = [False, True] if t == "bool" else ints(t) if t in INTS else floats(t)
    for name, f in PREDICATES.items():
        check(f"cmp.{name}", "bool", [t, t], list(product(values, values)), f)
    rows = [(c, *pair) for c in (False, True) for pair in product(values[:4], values[-4:])]
    check("select", t, ["bool", t, t], rows, lambda c, a, b: a if c else b)


# ---- floats -----------------------------------------------------------------------------------------------


def exact(t: str, op: str, *v: float) -> float:
    """One operation, rounded once."""
    if op == "fma" and math.isfinite(v[0]) and math.isfinite(v[1]) and not math.isfinite(v[2]):
        return v[2]  # the product is finite, however large
    if not all(map(math.isfinite, v)) or (op == "div" and v[1] == 0):
        with np.errstate(all="ignore"):
            a = [np.float64(x) for x in v]
            f: Any = {"add": lambda: a[0] + a[1], "sub": lambda: a[0] - a[1], "mul": lambda: a[0] * a[1],
                      "div": lambda: a[0] / a[1], "fma": lambda: a[0] * a[1] + a[2]}[op]  # fmt: skip
            return float(f())
    x = [Fraction(n) for n in v]
    total = {"add": lambda: x[0] + x[1], "sub": lambda: x[0] - x[1], "mul": lambda: x[0] * x[1],
             "div": lambda: x[0] / x[1], "fma": lambda: x[0] * x[1] + x[2]}[op]()  # fmt: skip
    if total:
        return rounded(t, total)
    sign = [math.copysign(1, n) for n in v]
    if op in ("mul", "div"):
        return math.copysign(0.0, sign[0] * sign[1])
    parts = {"add": (sign[0], sign[1]), "sub": (sign[0], -sign[1]), "fma": (sign[0] * sign[1], sign[-1])}[op]
    zeros = v[0] == v[1] == 0 if op != "fma" else v[0] * v[1] == 0 and v[2] == 0
    return -0.0 if zeros and parts == (-1, -1) else 0.0


@pytest.mark.parametrize("t", FLOATS)
def test_float_arithmetic(t: str) -> None:
    pairs = list(product(floats(t), floats(t)))
    for op in ("add", "sub", "mul", "div"):
        check(op, t, [t, t], pairs, lambda a, b, op=op: exact(t, op, a, b))
    few = [v for v in floats(t) if v not in (255, -1.0, 0.5)]
    check("fma", t, [t, t, t], list(product(few, few, few)), lambda *v: exact(t, "fma", *v))
    check("neg", t, [t], [(v,) for v in floats(t)], lambda a: math.copysign(a, -math.copysign(1, a)))
    check("abs", t, [t], [(v,) for v in floats(t)], abs)


@pytest.mark.parametrize("t", NUMPY)
def test_float_division(t: str) -> None:
    def with_numpy(f: Any) -> Callable[[float, float], float]:
        def run(a: float, b: float) -> float:
            with np.errstate(all="ignore"):
                return float(f(NUMPY[t](a), NUMPY[t](b)))

        return run

    pairs = list(product(floats(t), floats(t)))
    for op, f in {"floordiv": np.floor_divide, "floormod": np.remainder, "truncmod": np.fmod}.items():
        check(op, t, [t, t], pairs, with_numpy(f))
    untied = [(a, b) for a, b in pairs if a or b]  # the sign of min(0.0, -0.0) depends on NumPy's build
    check("nanmin", t, [t, t], untied, with_numpy(np.minimum))
    check("nanmax", t, [t, t], untied, with_numpy(np.maximum))


@pytest.mark.parametrize("t", FLOATS)
def test_least_and_greatest(t: str) -> None:
    def order(v: float) -> tuple[float, float]:
        return v, math.copysign(1, v)

    def ignoring_nan(choose: Any) -> Callable[[float, float], float]:
        return lambda a, b: b if math.isnan(a) else a if math.isnan(b) else choose(a, b, key=order)

    pairs = list(product(floats(t), floats(t)))
    check("min", t, [t, t], pairs, lambda a, b: b if b < a else a)
    check("max", t, [t, t], pairs, lambda a, b: b if b > a else a)
    check("fmin", t, [t, t], pairs, ignoring_nan(min))
    check("fmax", t, [t, t], pairs, ignoring_nan(max))


@pytest.mark.parametrize("t", ["f32", "f64"])
def test_functions(t: str) -> None:
    def total(f: Callable[[float], float]) -> Callable[[float], float]:
        return lambda a: a if not math.isfinite(a) else math.copysign(float(f(a)), a)

    rows = [(v,) for v in floats(t)]
    for name, f in {"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "rint": round}.items():
        check(f"math.{name}", t, [t], rows, total(f))
    check("math.sqrt", t, [t], rows, lambda a: a if a == 0 else float(np.sqrt(NUMPY[t](a))) if a > 0 else math.nan)
    check("math.copysign", t, [t, t], list(product(floats(t)[:-1], floats(t)[:-1])), math.copysign)


# ---- conversions ------------------------------------------------------------------------------------------


def converted(to: str, v: Any) -> Any:
    """A value as another type, by ops.def."""
    if to == "bool":
        return v != 0
    if to in FLOATS:
        return float(v) if isinstance(v, float) and (not math.isfinite(v) or v == 0) else rounded(to, Fraction(v))
    if not isinstance(v, float):
        return wrap(to, int(v))
    low, high = limits(to)
    if math.isnan(v):
        return 0
    return high if v == math.inf else low if v == -math.inf else min(max(math.trunc(v), low), high)


@pytest.mark.parametrize("source", [*INTS, *FLOATS, "bool"])
def test_conversions(source: str) -> None:
    values: list[Any] = [False, True] if source == "bool" else []
    if source in FLOATS:
        values = floats(source)
    if source in INTS:
        near = [(1 << 53) + 1, (1 << 62) + (1 << 54) + 1, (1 << 24) + 1, 65520, 65519, 257, (1 << 60) + (1 << 52) + 1]
        values = sorted({*ints(source), *(wrap(source, v) for v in near), *(wrap(source, -v) for v in near)})
    for to in [*INTS, *FLOATS, "bool"]:
        if to != source:
            check("convert", to, [source], [(v,) for v in values], lambda v, to=to: converted(to, v))


def test_the_same_bits_as_another_type() -> None:
    check("bitcast", "i32", ["f32"], [(1.0,), (-0.0,)], lambda v: {1.0: 0x3F800000, 0.0: -(1 << 31)}[v])
    check("bitcast", "f16", ["i16"], [(0x3C00,), (-(1 << 15),)], lambda v: 1.0 if v > 0 else -0.0)
    check("bitcast", "u64", ["f64"], [(-2.0,)], lambda v: 0xC000000000000000)
