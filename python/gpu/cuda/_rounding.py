"""Arithmetic rounded in a direction ('n' to nearest, 'd' down, 'u' up, 'z' to zero), as device functions.

Each computes the result to nearest, and the sign of what that lost, from which the neighbour follows. That is exact, on
every device, but for `fma` where the product alone overflows or what is lost is below the smallest float64.
"""

from __future__ import annotations

import math

import gpu
import numpy as np


def up(x):
    """The next float64 above."""
    bits = x.view(np.int64)
    if x == 0.0:
        bits = np.int64(1)
    elif x > 0.0:
        bits = np.int64(bits + 1)
    else:
        bits = np.int64(bits - 1)
    return bits.view(np.float64)


def upf(x):
    """The next float32 above."""
    bits = x.view(np.int32)
    if x == 0.0:
        bits = np.int32(1)
    elif x > 0.0:
        bits = np.int32(bits + 1)
    else:
        bits = np.int32(bits - 1)
    return bits.view(np.float32)


def directed(x, rest, mode):
    """A float64 that is the exact value rounded to nearest, and the sign of what was lost, for 'n', 'd', 'u' or 'z'."""
    if rest == 0.0 or rest != rest or mode == "n" or (mode == "z" and x == 0.0):
        return x
    if mode == "u" or (mode == "z" and x < 0.0):
        return up(x) if rest > 0.0 else x
    return -up(-x) if rest < 0.0 else x


def directedf(x, rest, mode):
    """As `directed`, in float32."""
    if rest == 0.0 or rest != rest or mode == "n" or (mode == "z" and x == np.float32(0)):
        return x
    if mode == "u" or (mode == "z" and x < np.float32(0)):
        return upf(x) if rest > 0.0 else x
    return np.float32(-upf(np.float32(-x))) if rest < 0.0 else x


def lost(exact, rest, x):
    """The sign of exact + rest - x; rest is much smaller than a unit in the last place of exact."""
    return exact - x if exact != x else rest


def to_float(exact, rest, mode):
    """The float64 exact + rest as a float32."""
    x = np.float32(exact)
    return directedf(x, lost(exact, rest, np.float64(x)), mode)


def zero_sum(x, y, s, mode):
    """The sum of opposite numbers is -0 when rounded down."""
    return -0.0 if mode == "d" and s == 0.0 and (x != 0.0 or math.copysign(1.0, x) != math.copysign(1.0, y)) else s


def add_rest(x, y, s):
    """What rounding the sum s of x and y lost, exactly; where s overflows, its sign."""
    if s - s != 0.0:
        return -s if x - x == 0.0 and y - y == 0.0 else 0.0
    back = s - x
    return (x - (s - back)) + (y - back)


def add(x, y, mode):
    """The sum of two float64."""
    s = x + y
    return zero_sum(x, y, directed(s, add_rest(x, y, s), mode), mode)


def addf(x, y, mode):
    """The sum of two float32."""
    a = np.float64(x)
    b = np.float64(y)
    s = a + b
    r = to_float(s, add_rest(a, b, s), mode)
    return np.float32(zero_sum(a, b, np.float64(r), mode))


def scaled(x, e):
    """A float64 times 2**e, -1000 <= e <= 1000."""
    return x * (np.int64(1023 + e) << 52).view(np.float64)


def mul(x, y, mode):
    """The product of two float64."""
    p = x * y
    if p - p != 0.0:
        return directed(p, -p if x - x == 0.0 and y - y == 0.0 else 0.0, mode)
    if abs(p) > 1e-290 or x == 0.0 or y == 0.0:
        return directed(p, gpu.fma(x, y, -p), mode)
    # too small for what is lost to be a float64: compared at 2**600 or 2**1200 times the size
    e = 300 if abs(x) < 1e-100 else 0
    f = 300 if abs(y) < 1e-100 else 0
    a = scaled(x, 2 * e)
    b = scaled(y, 2 * f)
    big = a * b
    return directed(p, lost(big, gpu.fma(a, b, -big), scaled(scaled(p, e + f), e + f)), mode)


def mulf(x, y, mode):
    """The product of two float32, which is exact in float64."""
    return to_float(np.float64(x) * np.float64(y), 0.0, mode)


def div(x, y, mode):
    """The quotient of two float64."""
    q = x / y
    if q - q != 0.0 or x == 0.0 or y - y != 0.0:
        finite = q == q and x - x == 0.0 and y != 0.0
        lost_sign = math.copysign(1.0, x) * math.copysign(1.0, y)
        return directed(q, lost_sign if x - x == 0.0 and x != 0.0 and y - y != 0.0 else (-q if finite else 0.0), mode)
    # the sign of x - q y over y, with all three brought to a middling size; 2**e is how much q was brought up
    a = x
    b = y
    e = 0
    if abs(b) > 1e150:
        b = scaled(b, -600)
        e -= 600
    elif abs(b) < 1e-150:
        b = scaled(b, 600)
        e += 600
    if abs(a) > 1e150:
        a = scaled(a, -600)
        e += 600
    elif abs(a) < 1e-150:
        a = scaled(a, 600)
        e -= 600
    middle = a / b
    rest = gpu.fma(-middle, b, a) * math.copysign(1.0, b)
    back = middle  # q as it would be at that size, in two steps that are exact
    back = scaled(scaled(q, -(e // 2)), -(e - e // 2))
    return directed(q, lost(middle, rest, back), mode)


def divf(x, y, mode):
    """The quotient of two float32."""
    a = np.float64(x)
    b = np.float64(y)
    q = a / b
    return to_float(q, gpu.fma(-q, b, a) * math.copysign(1.0, b) if q - q == 0.0 else 0.0, mode)


def sqrt(x, mode):
    """The square root of a float64."""
    s = math.sqrt(x)
    if not x > 0.0 or x == math.inf:
        return s
    if x < 1e-250:
        return scaled(directed(scaled(s, 400), -gpu.fma(scaled(s, 400), scaled(s, 400), -scaled(x, 800)), mode), -400)
    return directed(s, -gpu.fma(s, s, -x), mode)


def sqrtf(x, mode):
    """The square root of a float32."""
    a = np.float64(x)
    s = math.sqrt(a)
    return to_float(s, -gpu.fma(s, s, -a) if a > 0.0 and a < math.inf else 0.0, mode)


def fma(x, y, z, mode):
    """The sum x * y + z of float64, rounded once."""
    r = gpu.fma(x, y, z)
    finite = x - x == 0.0 and y - y == 0.0 and z - z == 0.0
    if mode == "n" or not finite:
        return r
    if r - r != 0.0:
        return directed(r, -r, mode)
    # Boldo and Muller: what rounding lost is the sum of two float64
    p = x * y
    rest = gpu.fma(x, y, -p)
    a = z + rest
    a_rest = add_rest(z, rest, a)
    b = p + a
    b_rest = add_rest(p, a, b)
    c = (b - r) + b_rest
    d = c + a_rest
    return zero_sum(p, z, directed(r, d, mode), mode)


def fmaf(x, y, z, mode):
    """The sum x * y + z of float32, rounded once."""
    p = np.float64(x) * np.float64(y)
    c = np.float64(z)
    s = p + c
    r = to_float(s, add_rest(p, c, s), mode)
    return np.float32(zero_sum(p, c, np.float64(r), mode))


def from_int(i, mode):
    """An int64 as a float64."""
    x = np.float64(i)
    return directed(x, -1.0 if x >= 9223372036854775808.0 else np.float64(np.int64(i - np.int64(x))), mode)


def from_intf(i, mode):
    """An int64 as a float32."""
    x = np.float32(i)
    return directedf(x, -1.0 if x >= np.float32(9223372036854775808.0) else np.float64(np.int64(i - np.int64(x))), mode)


def from_uint(i, mode):
    """A uint64 as a float64."""
    x = np.float64(i)
    over = x >= 18446744073709551616.0
    return directed(x, -1.0 if over else np.float64(np.int64(np.uint64(i - np.uint64(x)))), mode)


def from_uintf(i, mode):
    """A uint64 as a float32."""
    x = np.float32(i)
    over = x >= np.float32(18446744073709551616.0)
    return directedf(x, -1.0 if over else np.float64(np.int64(np.uint64(i - np.uint64(x)))), mode)


def whole(x, mode):
    """A float rounded to an integer."""
    if mode == "n":
        return np.rint(x)
    if mode == "d":
        return np.floor(x)
    return np.ceil(x) if mode == "u" else np.trunc(x)


def upb(x):
    """The next bfloat16 above."""
    bits = x.view(np.int16)
    if np.float32(x) == np.float32(0):
        bits = np.int16(1)
    elif np.float32(x) > np.float32(0):
        bits = np.int16(bits + 1)
    else:
        bits = np.int16(bits - 1)
    return bits.view(gpu.bfloat16)


def to_bfloat(x, mode):
    """A float64 as a bfloat16, rounded once."""
    f = to_float(x, 0.0, "z")
    if np.float64(f) != x and x == x:  # to odd: what is lost here isn't forgotten
        f = np.int32(f.view(np.int32) | 1).view(np.float32)
    r = gpu.bfloat16(f)
    rest = np.float64(f) - np.float64(np.float32(r))
    if rest == 0.0 or rest != rest or mode == "n" or (mode == "z" and np.float32(r) == np.float32(0)):
        return r
    if mode == "u" or (mode == "z" and np.float32(r) < np.float32(0)):
        return upb(r) if rest > 0.0 else r
    return gpu.bfloat16(-np.float32(upb(gpu.bfloat16(-np.float32(r))))) if rest < 0.0 else r


def int_to_bfloat(i, mode):
    """An int64 as a bfloat16, rounded once."""
    x = from_int(i, "z")
    if np.int64(x) != i:
        x = np.int64(x.view(np.int64) | 1).view(np.float64)
    return to_bfloat(x, mode)


def uint_to_bfloat(i, mode):
    """A uint64 as a bfloat16, rounded once."""
    x = from_uint(i, "z")
    if np.uint64(x) != i:
        x = np.int64(x.view(np.int64) | 1).view(np.float64)
    return to_bfloat(x, mode)
