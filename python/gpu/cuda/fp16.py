"""Functions of halves, for kernels: ``cuda.fp16.hadd(x, y)``. Arguments become float16, and so do results.

What hardware computes in float32 and rounds is computed so on every device.
"""

from __future__ import annotations

import math

import gpu
import numpy as np


def hadd(x, y):
    """X + y, rounded once."""
    return np.float16(np.float32(np.float16(x)) + np.float32(np.float16(y)))


def hsub(x, y):
    """X - y, rounded once."""
    return np.float16(np.float32(np.float16(x)) - np.float32(np.float16(y)))


def hmul(x, y):
    """The value of x * y, rounded once."""
    return np.float16(np.float32(np.float16(x)) * np.float32(np.float16(y)))


def hdiv(x, y):
    """X / y, rounded once."""
    return np.float16(np.float32(np.float16(x)) / np.float32(np.float16(y)))


def hfma(x, y, z):
    """The value of x * y + z, rounded once."""
    return np.float16(np.float64(np.float16(x)) * np.float64(np.float16(y)) + np.float64(np.float16(z)))


def hneg(x):
    """Minus x."""
    return np.float16(-np.float16(x))


def habs(x):
    """Magnitude."""
    return np.float16(abs(np.float16(x)))


def hsin(x):
    """Sine."""
    return np.float16(math.sin(np.float32(np.float16(x))))


def hcos(x):
    """Cosine."""
    return np.float16(math.cos(np.float32(np.float16(x))))


def hlog(x):
    """Natural logarithm."""
    return np.float16(math.log(np.float32(np.float16(x))))


def hlog10(x):
    """Logarithm to base 10."""
    return np.float16(math.log10(np.float32(np.float16(x))))


def hlog2(x):
    """Logarithm to base 2."""
    return np.float16(math.log2(np.float32(np.float16(x))))


def hexp(x):
    """E to the power of x."""
    return np.float16(math.exp(np.float32(np.float16(x))))


def hexp10(x):
    """10 to the power of x."""
    return np.float16(math.pow(np.float32(10), np.float32(np.float16(x))))


def hexp2(x):
    """2 to the power of x."""
    return np.float16(np.exp2(np.float32(np.float16(x))))


def hsqrt(x):
    """Square root."""
    return np.float16(math.sqrt(np.float32(np.float16(x))))


def hrsqrt(x):
    """One over the square root."""
    return np.float16(gpu.rsqrt(np.float32(np.float16(x))))


def hfloor(x):
    """The largest integer that is no more."""
    return np.float16(np.floor(np.float32(np.float16(x))))


def hceil(x):
    """The least integer that is no less."""
    return np.float16(np.ceil(np.float32(np.float16(x))))


def hrcp(x):
    """One over x."""
    return np.float16(np.float32(1) / np.float32(np.float16(x)))


def hrint(x):
    """Rounded to an integer, half to even."""
    return np.float16(np.rint(np.float32(np.float16(x))))


def htrunc(x):
    """Without its fraction."""
    return np.float16(np.trunc(np.float32(np.float16(x))))


def heq(x, y):
    """Whether x == y."""
    return np.float32(np.float16(x)) == np.float32(np.float16(y))


def hne(x, y):
    """Whether x != y."""
    return np.float32(np.float16(x)) != np.float32(np.float16(y))


def hge(x, y):
    """Whether x >= y."""
    return np.float32(np.float16(x)) >= np.float32(np.float16(y))


def hgt(x, y):
    """Whether x > y."""
    return np.float32(np.float16(x)) > np.float32(np.float16(y))


def hle(x, y):
    """Whether x <= y."""
    return np.float32(np.float16(x)) <= np.float32(np.float16(y))


def hlt(x, y):
    """Whether x < y."""
    return np.float32(np.float16(x)) < np.float32(np.float16(y))


def hmax(x, y):
    """The larger; the other one, if one is NaN."""
    return np.float16(np.fmax(np.float32(np.float16(x)), np.float32(np.float16(y))))


def hmin(x, y):
    """The smaller; the other one, if one is NaN."""
    return np.float16(np.fmin(np.float32(np.float16(x)), np.float32(np.float16(y))))
