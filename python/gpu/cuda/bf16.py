"""Functions of bfloat16, for kernels: ``bf16.hadd(x, y)``, ``bf16.float32_to_bfloat16_rz(x)``.

Arguments become bfloat16, and so do results. What is computed, is computed in float32 and rounded once more, as
hardware does. Conversions to and from integers of 8 to 64 bits have a rounding mode in their names: rn, rz, rd, ru.
"""

from __future__ import annotations

import math
from typing import Any

import gpu
import numpy as np
from gpu import bfloat16

from . import _rounding as rounding
from ._tables import device_function


def single(x):
    """The value as a float32."""
    return np.float32(bfloat16(x))


def hadd(x, y):
    """X + y."""
    return bfloat16(single(x) + single(y))


def hadd_rn(x, y):
    """X + y, never fused with what follows."""
    return bfloat16(single(x) + single(y))


def hadd_sat(x, y):
    """X + y, brought to 0 to 1; NaN becomes 0."""
    return bfloat16(gpu.saturate(single(x) + single(y)))


def hsub(x, y):
    """X - y."""
    return bfloat16(single(x) - single(y))


def hsub_rn(x, y):
    """X - y, never fused with what follows."""
    return bfloat16(single(x) - single(y))


def hsub_sat(x, y):
    """X - y, brought to 0 to 1; NaN becomes 0."""
    return bfloat16(gpu.saturate(single(x) - single(y)))


def hmul(x, y):
    """The value of x * y."""
    return bfloat16(single(x) * single(y))


def hmul_rn(x, y):
    """The value of x * y, never fused with what follows."""
    return bfloat16(single(x) * single(y))


def hmul_sat(x, y):
    """The value of x * y, brought to 0 to 1; NaN becomes 0."""
    return bfloat16(gpu.saturate(single(x) * single(y)))


def hdiv(x, y):
    """X / y."""
    return bfloat16(single(x) / single(y))


def hfma(x, y, z):
    """The value of x * y + z, rounded once."""
    return bfloat16(gpu.fma(single(x), single(y), single(z)))


def hfma_sat(x, y, z):
    """The value of x * y + z, brought to 0 to 1; NaN becomes 0."""
    return bfloat16(gpu.saturate(gpu.fma(single(x), single(y), single(z))))


def hfma_relu(x, y, z):
    """The value of x * y + z, or 0 where that is negative; NaN stays."""
    r = gpu.fma(single(x), single(y), single(z))
    return bfloat16(np.float32(0)) if r < np.float32(0) else bfloat16(r)


def hneg(x):
    """Minus x."""
    return bfloat16(-single(x))


def habs(x):
    """Magnitude."""
    return bfloat16(abs(single(x)))


def heq(x, y):
    """Whether x == y; False with NaN."""
    return single(x) == single(y)


def hequ(x, y):
    """Whether x == y; True with NaN."""
    return not (single(x) < single(y) or single(x) > single(y))


def hne(x, y):
    """Whether x != y; False with NaN."""
    return single(x) < single(y) or single(x) > single(y)


def hneu(x, y):
    """Whether x != y; True with NaN."""
    return not (single(x) == single(y))


def hge(x, y):
    """Whether x >= y; False with NaN."""
    return single(x) >= single(y)


def hgeu(x, y):
    """Whether x >= y; True with NaN."""
    return not (single(x) < single(y))


def hgt(x, y):
    """Whether x > y; False with NaN."""
    return single(x) > single(y)


def hgtu(x, y):
    """Whether x > y; True with NaN."""
    return not (single(x) <= single(y))


def hle(x, y):
    """Whether x <= y; False with NaN."""
    return single(x) <= single(y)


def hleu(x, y):
    """Whether x <= y; True with NaN."""
    return not (single(x) > single(y))


def hlt(x, y):
    """Whether x < y; False with NaN."""
    return single(x) < single(y)


def hltu(x, y):
    """Whether x < y; True with NaN."""
    return not (single(x) >= single(y))


def hmax(x, y):
    """The larger; the other one, if one is NaN."""
    return bfloat16(np.fmax(single(x), single(y)))


def hmin(x, y):
    """The smaller; the other one, if one is NaN."""
    return bfloat16(np.fmin(single(x), single(y)))


def hmax_nan(x, y):
    """The larger; NaN, if one is."""
    return bfloat16(np.maximum(single(x), single(y)))


def hmin_nan(x, y):
    """The smaller; NaN, if one is."""
    return bfloat16(np.minimum(single(x), single(y)))


def hisnan(x):
    """Whether it is NaN."""
    return math.isnan(single(x))


def hisinf(x):
    """1 for infinity, -1 for minus infinity, else 0."""
    v = single(x)
    return np.int32(0) if not math.isinf(v) else np.int32(1) if v > np.float32(0) else np.int32(-1)


def htrunc(x):
    """Without its fraction."""
    return bfloat16(np.trunc(single(x)))


def hceil(x):
    """The least integer that is no less."""
    return bfloat16(np.ceil(single(x)))


def hfloor(x):
    """The largest integer that is no more."""
    return bfloat16(np.floor(single(x)))


def hrint(x):
    """Rounded to an integer, half to even."""
    return bfloat16(np.rint(single(x)))


def hsqrt(x):
    """Square root."""
    return bfloat16(math.sqrt(single(x)))


def hrsqrt(x):
    """One over the square root."""
    return bfloat16(gpu.rsqrt(single(x)))


def hrcp(x):
    """One over x."""
    return bfloat16(np.float32(1) / single(x))


def hlog(x):
    """Natural logarithm."""
    return bfloat16(math.log(single(x)))


def hlog2(x):
    """Logarithm to base 2."""
    return bfloat16(math.log2(single(x)))


def hlog10(x):
    """Logarithm to base 10."""
    return bfloat16(math.log10(single(x)))


def hcos(x):
    """Cosine."""
    return bfloat16(math.cos(single(x)))


def hsin(x):
    """Sine."""
    return bfloat16(math.sin(single(x)))


def htanh(x):
    """Hyperbolic tangent."""
    return bfloat16(math.tanh(single(x)))


def htanh_approx(x):
    """Hyperbolic tangent."""
    return bfloat16(math.tanh(single(x)))


def hexp(x):
    """E to the power of x."""
    return bfloat16(math.exp(single(x)))


def hexp2(x):
    """2 to the power of x."""
    return bfloat16(np.exp2(single(x)))


def hexp10(x):
    """10 to the power of x."""
    return bfloat16(math.pow(np.float32(10), single(x)))


def float32_to_bfloat16(x):
    """Rounded to nearest."""
    return bfloat16(np.float32(x))


def float64_to_bfloat16(x):
    """Rounded to nearest, once."""
    return rounding.to_bfloat(np.float64(x), "n")


def bfloat16_to_float32(x):
    """As a float32, which is exact."""
    return single(x)


def bfloat16_as_int16(x):
    """The bits, as an int16."""
    return bfloat16(x).view(np.int16)


def int16_as_bfloat16(x):
    """The bfloat16 of these bits."""
    return np.int16(x).view(bfloat16)


def bfloat16_as_uint16(x):
    """The bits, as a uint16."""
    return bfloat16(x).view(np.uint16)


def uint16_as_bfloat16(x):
    """The bfloat16 of these bits."""
    return np.uint16(x).view(bfloat16)


# ---- conversions, which have one name for each type and rounding mode: int32_to_bfloat16_rz, bfloat16_to_uint8_rz, ...


def _conversions() -> dict[str, str]:
    """Expressions of x by the functions' names."""
    found = {}
    for mode in "nzdu":
        found[f"float32_to_bfloat16_r{mode}"] = f"rounding.to_bfloat(np.float64(np.float32(x)), {mode!r})"
        for bits in (8, 16, 32, 64):
            for sign in ("", "u"):
                kind = f"{sign}int{bits}"
                found[f"bfloat16_to_{kind}_r{mode}"] = f"np.{kind}(rounding.whole(single(x), {mode!r}))"
                wide = f"np.{sign}int64(np.{kind}(x))"
                found[f"{kind}_to_bfloat16_r{mode}"] = f"rounding.{sign}int_to_bfloat({wide}, {mode!r})"
    return found


_EXPRESSIONS = _conversions()


def __getattr__(name: str) -> Any:
    if name not in _EXPRESSIONS:
        raise AttributeError(f"bf16 has no function '{name}'")
    source = f"def {name}(x):\n    return {_EXPRESSIONS[name]}\n"
    function = globals()[name] = device_function(source, name, globals())
    return function


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPRESSIONS})
