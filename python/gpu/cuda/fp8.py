"""Floating point numbers of 8 bits, for kernels: ``fp8.fp8_e4m3(x)``, ``float32(y)``, conversions of their bits.

A value is an object that holds the bits, made of a number and converted by the names of types (``float32(v)``,
``int8(v)``). What is computed, is computed in other types. As in CUDA, values are rounded to the nearest, half to even,
and those out of range become the largest; E8M0, which has an exponent alone, is a scale: it leaves the sign away and is
rounded upwards. Conversions named ``cvt_...`` take and give bits, as ``uint8``, and say what becomes of the rest.
"""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np

E8M0_BIAS, E8M0_NAN, E8M0_LARGEST = 127, 0xFF, 0xFE


class saturation_t(IntEnum):  # Numba's name
    """What becomes of values out of range: infinity or NaN, or the largest finite one."""

    NOSAT = 0
    SATFINITE = 1


class fp8_interpretation_t(IntEnum):  # Numba's name
    """Bits of exponent and mantissa: E4M3 has no infinity."""

    E4M3 = 0
    E5M2 = 1


class round_mode(IntEnum):
    """Ways to round, with the numbers of CUDA's ``cudaRoundMode``."""

    cudaRoundNearest = 0
    cudaRoundZero = 1
    cudaRoundPosInf = 2
    cudaRoundMinInf = 3


def _encoded(x, saturated, mantissa, bias, largest, over):
    """The bits of the nearest value; `largest` and `over`: bits of the largest finite one and of what is beyond."""
    value = np.float64(x)
    sign = 0x80 if math.copysign(1.0, value) < 0 else 0
    size = abs(value)
    if math.isnan(value):
        return np.uint8(0x7F)
    if math.isinf(value):
        return np.uint8(sign | (largest if saturated else over))
    exponent = max(math.frexp(size)[1] - 1, 1 - bias) if size > 0 else 1 - bias
    steps = np.int64(np.rint(math.ldexp(size, mantissa - exponent)))
    bits = ((exponent + bias) << mantissa) + steps - (1 << mantissa)
    if bits > largest:
        bits = np.int64(largest if saturated else over)
    return np.uint8(sign | bits)


def _decoded(bits, mantissa, bias):
    """The value of finite bits."""
    exponent = (np.int64(bits) & 0x7F) >> mantissa
    part = np.int64(bits) & ((1 << mantissa) - 1)
    size = (
        math.ldexp(np.float64(part + (1 << mantissa)), exponent - bias - mantissa)
        if exponent > 0
        else math.ldexp(np.float64(part), 1 - bias - mantissa)
    )
    return np.float32(-size if np.int64(bits) & 0x80 else size)


def _e5m2(x, saturated):
    return _encoded(x, saturated, 2, 15, 0x7B, 0x7C)


def _e4m3(x, saturated):
    return _encoded(x, saturated, 3, 7, 0x7E, 0x7F)


def _of_e5m2(bits):
    size = np.int64(bits) & 0x7F
    if size > 0x7C:
        return np.float32(math.nan)
    if size == 0x7C:
        return np.float32(-math.inf if np.int64(bits) & 0x80 else math.inf)
    return _decoded(bits, 2, 15)


def _of_e4m3(bits):
    return np.float32(math.nan) if np.int64(bits) & 0x7F == 0x7F else _decoded(bits, 3, 7)


def _e8m0(x, saturated, rounding):
    """The exponent of a number, rounded to zero or upwards, with the bias."""
    size = abs(np.float64(x))
    if math.isnan(size):
        return np.uint8(E8M0_NAN)
    if math.isinf(size):
        return np.uint8(E8M0_LARGEST if saturated else E8M0_NAN)
    part, exponent = math.frexp(size)
    bits = exponent - 1 + E8M0_BIAS
    if rounding == round_mode.cudaRoundPosInf and part > 0.5:
        bits += 1
    if size == 0.0 or bits < 0:
        bits = 0
    if bits > E8M0_LARGEST:
        bits = E8M0_LARGEST if saturated else E8M0_NAN
    return np.uint8(bits)


def _of_e8m0(bits):
    return np.float32(math.nan) if bits == E8M0_NAN else np.float32(math.ldexp(1.0, np.int64(bits) - E8M0_BIAS))


class bfloat16_raw:  # Numba's name
    """The bits of a bfloat16.

    Attributes
    ----------
    x : uint16
    """

    x: np.uint16

    def __init__(self, x):
        self.x = np.uint16(x)

    def __float__(self):
        return np.float64(np.uint32(np.uint32(self.x) << np.uint32(16)).view(np.float32))


class fp8_e5m2:  # Numba's name
    """5 bits of exponent, 2 of mantissa, as IEEE's formats are made."""

    bits: np.uint8

    def __init__(self, x):
        self.bits = _e5m2(x, True)

    def __float__(self):
        return np.float64(_of_e5m2(self.bits))

    def __int__(self):
        return np.int64(_of_e5m2(self.bits))


class fp8_e4m3:  # Numba's name
    """4 bits of exponent, 3 of mantissa; no infinity."""

    bits: np.uint8

    def __init__(self, x):
        self.bits = _e4m3(x, True)

    def __float__(self):
        return np.float64(_of_e4m3(self.bits))

    def __int__(self):
        return np.int64(_of_e4m3(self.bits))


class fp8_e8m0:  # Numba's name
    """A power of two."""

    bits: np.uint8

    def __init__(self, x):
        self.bits = _e8m0(x, True, round_mode.cudaRoundPosInf)

    def __float__(self):
        return np.float64(_of_e8m0(self.bits))

    def __int__(self):
        return np.int64(_of_e8m0(self.bits))


def cvt_double_to_fp8(x, saturate, interpretation):
    """Bits of the nearest value of a format."""
    saturated = saturate == saturation_t.SATFINITE
    return _e4m3(x, saturated) if interpretation == fp8_interpretation_t.E4M3 else _e5m2(x, saturated)


def cvt_float_to_fp8(x, saturate, interpretation):
    """Bits of the nearest value of a format."""
    return cvt_double_to_fp8(np.float32(x), saturate, interpretation)


def cvt_bfloat16raw_to_fp8(x, saturate, interpretation):
    """Bits of the nearest value of a format."""
    return cvt_double_to_fp8(float(x), saturate, interpretation)


def cvt_double_to_e8m0(x, saturate, rounding):
    """Bits of a power of two; `rounding` is CUDA's ``cudaRoundZero`` or ``cudaRoundPosInf``."""
    return _e8m0(x, saturate == saturation_t.SATFINITE, rounding)


def cvt_float_to_e8m0(x, saturate, rounding):
    """Bits of a power of two."""
    return cvt_double_to_e8m0(np.float32(x), saturate, rounding)


def cvt_bfloat16raw_to_e8m0(x, saturate, rounding):
    """Bits of a power of two."""
    return cvt_double_to_e8m0(float(x), saturate, rounding)


def cvt_e8m0_to_bf16raw(x):
    """The bfloat16 of a power of two: 2**-127 is a subnormal one."""
    bits = np.uint16(x)
    return bfloat16_raw(0x7FFF if bits == E8M0_NAN else 0x40 if bits == 0 else bits << 7)


__all__ = [
    "bfloat16_raw",
    "cvt_bfloat16raw_to_e8m0",
    "cvt_bfloat16raw_to_fp8",
    "cvt_double_to_e8m0",
    "cvt_double_to_fp8",
    "cvt_e8m0_to_bf16raw",
    "cvt_float_to_e8m0",
    "cvt_float_to_fp8",
    "fp8_e4m3",
    "fp8_e5m2",
    "fp8_e8m0",
    "fp8_interpretation_t",
    "round_mode",
    "saturation_t",
]
