"""What GPUs have instructions for, on the ``python`` device: bits, `fma`, `saturate`, `gpu.fast`, clocks.

Each function gives the type that the compiler gives: a typed number keeps its own, a Python number stays one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ._pynames import _math_function, is_typed_float

FAST = ("sin", "cos", "tan", "exp", "exp2", "log", "log2", "log10", "pow", "sqrt", "tanh")


def bits_of(x: Any) -> tuple[int, int]:
    """The bits of an integer as a number from 0, and how many there are."""
    width = x.dtype.itemsize * 8 if isinstance(x, np.generic) and x.dtype.kind != "b" else 64
    return int(x) & (1 << width) - 1, width


def from_bits(bits: int, width: int, like: Any) -> Any:
    """An integer of the type of `like`, whose low bits are given."""
    bits &= (1 << width) - 1
    if isinstance(like, np.generic) and like.dtype.kind == "u":
        return like.dtype.type(bits)
    value = bits - (1 << width) if bits >> width - 1 else bits
    return like.dtype.type(value) if isinstance(like, np.generic) and like.dtype.kind == "i" else value


def common_dtype(args: tuple[Any, ...]) -> np.dtype[Any] | None:
    """The type that typed arguments have in common; None if there are none."""
    if not any(isinstance(a, np.generic) for a in args):
        return None
    return np.result_type(*(a.dtype if isinstance(a, np.generic) else a for a in args))


# ---- integers


def brev(x: Any) -> Any:
    bits, width = bits_of(x)
    return from_bits(int(f"{bits:0{width}b}"[::-1], 2), width, x)


def byte_perm(x: Any, y: Any, selector: Any) -> np.uint32:
    both = int(x) & 0xFFFFFFFF | (int(y) & 0xFFFFFFFF) << 32
    found = 0
    for k in range(4):
        nibble = int(selector) >> 4 * k & 15
        byte = both >> 8 * (nibble & 7) & 255
        found |= (255 * (byte >> 7) if nibble & 8 else byte) << 8 * k
    return np.uint32(found)


def funnel_shift(right: bool, clamps: bool) -> Callable[[Any, Any, Any], Any]:
    def shifted(lo: Any, hi: Any, shift: Any) -> Any:
        wide = any(isinstance(a, np.generic) and a.dtype.itemsize == 8 for a in (lo, hi))
        width, result = (64, np.uint64) if wide else (32, np.uint32)
        full = (1 << width) - 1
        by = int(shift) & 0xFFFFFFFF
        by = min(by, width) if clamps else by % width
        both = (int(hi) & full) << width | int(lo) & full
        return result((both >> by if right else both << by >> width) & full)

    return shifted


def mulhi(x: Any, y: Any) -> Any:
    dtype = common_dtype((x, y))
    like = 0 if dtype is None else dtype.type(0)
    width = 64 if dtype is None else dtype.itemsize * 8
    return from_bits(int(x) * int(y) >> width, width, like)


# ---- floats


def _rounded(exact: Fraction, dtype: np.dtype[Any]) -> Any:
    """The nearest number of a type, ties to even.

    A narrow type gets it from a double whose last bit says that something was cut off: nothing is rounded twice.
    """
    near = float(exact)
    if dtype.itemsize == 8:
        return dtype.type(near)
    off = exact - Fraction(near)
    if off and not int(math.frexp(near)[0] * 2**53) & 1:
        near = math.nextafter(near, math.inf if off > 0 else -math.inf)
    return dtype.type(near)


def fma(x: Any, y: Any, z: Any) -> Any:
    dtype = common_dtype((x, y, z))
    if dtype is None or dtype.kind in "iub":
        dtype = np.dtype(np.float64)
    if dtype.kind == "c":
        return x * y + z
    a, b, c = (float(dtype.type(v)) for v in (x, y, z))
    typed = any(is_typed_float(v) for v in (x, y, z))
    with np.errstate(all="ignore"):
        plain = dtype.type(a) * dtype.type(b) + dtype.type(c)
    if all(map(math.isfinite, (a, b, c))):
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        if exact:
            try:
                plain = _rounded(exact, dtype)
            except OverflowError:
                plain = dtype.type(math.copysign(math.inf, exact))
    return plain if typed else float(plain)


def _like_math(function: Callable[..., float]) -> Callable[..., Any]:
    """In the type of the arguments, computed as a double."""

    def typed(*args: Any) -> Any:
        dtype = common_dtype(tuple(a for a in args if is_typed_float(a)))
        with np.errstate(all="ignore"):
            found = function(*(np.float64(a) for a in args))
        return float(found) if dtype is None else dtype.type(found)

    return typed


def saturate(x: Any) -> Any:
    held = 0.0 if math.isnan(x) else min(max(float(x), 0.0), 1.0)
    return x.dtype.type(held) if is_typed_float(x) else held


def selp(condition: Any, x: Any, y: Any) -> Any:
    dtype, found = common_dtype((x, y)), x if condition else y
    return found if dtype is None else dtype.type(found)


def functions() -> dict[str, Callable[..., Any]]:
    """By path: what `gpu.<path>` does."""
    start = time.perf_counter_ns()
    found: dict[str, Callable[..., Any]] = {
        "gpu.popc": lambda x: bits_of(x)[0].bit_count(),
        "gpu.ffs": lambda x: (bits_of(x)[0] & -bits_of(x)[0]).bit_length(),
        "gpu.clz": lambda x: bits_of(x)[1] - bits_of(x)[0].bit_length(),
        "gpu.brev": brev,
        "gpu.byte_perm": byte_perm,
        "gpu.mulhi": mulhi,
        "gpu.fma": fma,
        "gpu.rsqrt": _like_math(lambda x: 1 / np.sqrt(x)),
        "gpu.cbrt": _like_math(np.cbrt),
        "gpu.saturate": saturate,
        "gpu.selp": selp,
        "gpu.clock": lambda: np.uint32(time.perf_counter_ns() - start & 0xFFFFFFFF),
        "gpu.clock64": lambda: time.perf_counter_ns() - start,
        "gpu.globaltimer": time.time_ns,
        "gpu.fast.exp10": _like_math(lambda x: np.float64(10) ** x),
        "gpu.fast.div": _like_math(lambda x, y: x / y),
        "gpu.fast.rcp": _like_math(lambda x: 1 / x),
        "gpu.fast.rsqrt": _like_math(lambda x: 1 / np.sqrt(x)),
    }
    shifts = {"l": (False, False), "r": (True, False), "lc": (False, True), "rc": (True, True)}
    found |= {f"gpu.funnelshift_{name}": funnel_shift(*how) for name, how in shifts.items()}
    exact = {"exp2": _like_math(np.exp2)}
    return found | {f"gpu.fast.{name}": exact.get(name) or _math_function(name) for name in FAST}
