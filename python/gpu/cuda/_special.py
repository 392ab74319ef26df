"""Functions of libdevice that neither Python nor the compiler has, as device functions in float64.

Kernels call them through `gpu.cuda.libdevice`. All are good to a few units in the last place, except that Bessel
functions are so in absolute terms: near their zeros the relative error grows, as CUDA's does.
"""

from __future__ import annotations

import math

import gpu
import numpy as np

SQRT_HALF = 0.7071067811865476
SQRT_HALF_REST = -4.833646656726457e-17
TWO_OVER_SQRT_PI = 1.1283791670955126
ONE_OVER_SQRT_PI = 0.5641895835477563
TWO_OVER_PI = 0.6366197723675814
EULER_GAMMA = 0.5772156649015329


def sinpi(x):
    """Sine of pi x."""
    r = x - 2.0 * np.rint(x * 0.5)
    a = abs(r)
    if a <= 0.25:
        s = math.sin(math.pi * a)
    elif a < 0.75:
        s = math.cos(math.pi * (0.5 - a))
    else:
        s = math.sin(math.pi * (1.0 - a))
    return math.copysign(s, r) if a != 0.0 else math.copysign(s, x)


def cospi(x):
    """Cosine of pi x."""
    a = abs(x - 2.0 * np.rint(x * 0.5))
    if a <= 0.25:
        return math.cos(math.pi * a)
    if a < 0.75:
        return math.sin(math.pi * (0.5 - a))
    return -math.cos(math.pi * (1.0 - a))


def round_away(x):
    """Rounded to an integer, halves away from zero."""
    t = np.trunc(x)
    return t + math.copysign(1.0, x) if abs(x - t) >= 0.5 else t


def erfcx(x):
    """exp(x * x) * erfc(x)."""
    a = abs(x)
    if a < 5.0:
        square = a * a
        r = math.exp(square) * (1.0 + gpu.fma(a, a, -square)) * math.erfc(a)
    else:
        f = a
        for k in range(25, 0, -1):
            f = a + 0.5 * k / f
        r = ONE_OVER_SQRT_PI / f
    if x < 0.0:
        return 2.0 * math.exp(x * x) - r
    return r


def erfinv(x):
    """The number whose erf is x."""
    a = abs(x)
    if not a < 1.0:
        return x / 0.0 if a == 1.0 else math.nan
    w = -math.log((1.0 - a) * (1.0 + a))
    if w < 5.0:
        w -= 2.5
        p = 2.81022636e-08
        p = 3.43273939e-07 + p * w
        p = -3.5233877e-06 + p * w
        p = -4.39150654e-06 + p * w
        p = 0.00021858087 + p * w
        p = -0.00125372503 + p * w
        p = -0.00417768164 + p * w
        p = 0.246640727 + p * w
        p = 1.50140941 + p * w
    else:
        w = math.sqrt(w) - 3.0
        p = -0.000200214257
        p = 0.000100950558 + p * w
        p = 0.00134934322 + p * w
        p = -0.00367342844 + p * w
        p = 0.00573950773 + p * w
        p = -0.0076224613 + p * w
        p = 0.00943887047 + p * w
        p = 1.00167406 + p * w
        p = 2.83297682 + p * w
    y = p * a
    for _ in range(2):  # Halley's rule
        f = math.erf(y) - a if a < 0.5 else (1.0 - a) - math.erfc(y)
        u = f / (TWO_OVER_SQRT_PI * math.exp(-y * y))
        y -= u / (1.0 + y * u)
    return math.copysign(y, x)


def erfcinv(x):
    """The number whose erfc is x."""
    if x >= 0.5:
        return erfinv(1.0 - x)
    if not x > 0.0:
        return math.inf if x == 0.0 else math.nan
    log_x = math.log(x)
    y = math.sqrt(max(0.1, -log_x - 0.5 * math.log(math.pi * max(0.5, -log_x))))
    for _ in range(5):  # Newton's rule on the logarithm
        scaled = erfcx(y)
        y -= (gpu.fma(y, y, log_x) - math.log(scaled)) * scaled / TWO_OVER_SQRT_PI
    return y


def normcdf(x):
    """Cumulative distribution function of the normal distribution."""
    t = -x * SQRT_HALF
    rest = gpu.fma(-x, SQRT_HALF, -t) - x * SQRT_HALF_REST
    p = math.erfc(t)
    if 0.0 < t < 27.0:
        p -= TWO_OVER_SQRT_PI * math.exp(-t * t) * rest
    return 0.5 * p


def normcdfinv(x):
    """The number whose normcdf is x."""
    return -1.4142135623730951 * erfcinv(2.0 * x)


def remquo(x, y):
    """IEEE remainder, and the last three bits of the quotient with its sign."""
    r = math.remainder(x, y)
    b = abs(y)
    z = np.fmod(abs(x), 8.0 * b)
    q = np.int32(np.rint(z / b)) if b > 0.0 and z == z else np.int32(0)
    if q * b - z > 0.5 * b:
        q -= 1
    q = np.int32(q & 7)
    return r, np.int32(-q) if (x < 0.0) != (y < 0.0) else q


# ---- Bessel functions: backward recurrence up to 25, the asymptotic expansion above


def _recur(x):
    """J0, J1, Y0 and Y1 at 0 < x <= 25, by Miller's backward recurrence and Neumann's series."""
    if x < 1e-8:
        log = TWO_OVER_PI * (math.log(0.5 * x) + EULER_GAMMA)
        return 1.0, 0.5 * x, log, -TWO_OVER_PI / x
    top = 2 * int(0.5 * (x + 12.0 * gpu.cbrt(x) + 20.0))
    above = 0.0
    here = 1e-300 if x > 0.1 else 1e-290
    norm = 0.0
    even = 0.0
    odd = 0.0
    for k in range(top, 0, -1):
        # here is J_k, above J_(k+1), both times an unknown factor
        half = k // 2
        sign = 1.0 if half % 2 == 0 else -1.0
        if k % 2 == 0:
            norm += 2.0 * here
            even += sign * here / half
        elif half > 0:
            odd += sign * k * here / (half * (half + 1))
        below = 2.0 * k / x * here - above
        above = here
        here = below
    norm += here
    j0 = here / norm
    j1 = above / norm
    log = math.log(0.5 * x)
    y0 = TWO_OVER_PI * ((log + EULER_GAMMA) * j0 - 2.0 * even / norm)
    y1 = TWO_OVER_PI * (-j0 / x + (log + EULER_GAMMA - 1.0) * j1 - odd / norm)
    return j0, j1, y0, y1


def _asymptotic(x, order):
    """J and Y of order 0 or 1 at x > 25, by Hankel's expansion."""
    mu = 4.0 * order * order
    p = 1.0
    q = 0.0
    term = 1.0
    for k in range(1, 25):
        term *= (mu - (2.0 * k - 1.0) * (2.0 * k - 1.0)) / (k * 8.0 * x)
        step = k % 4
        if step == 1:
            q += term
        elif step == 2:
            p -= term
        elif step == 3:
            q -= term
        else:
            p += term
    # cos and sin of x - (order / 2 + 1 / 4) pi, by the sine and cosine of x alone: no digits of x get lost
    s = math.sin(x)
    c = math.cos(x)
    if order == 0:
        cosine = SQRT_HALF * (c + s)
        sine = SQRT_HALF * (s - c)
    else:
        cosine = SQRT_HALF * (s - c)
        sine = -SQRT_HALF * (s + c)
    scale = math.sqrt(TWO_OVER_PI / x)
    return scale * (p * cosine - q * sine), scale * (p * sine + q * cosine)


def j0(x):
    """Bessel function of the first kind, order 0."""
    a = abs(x)
    if a == 0.0:
        return 1.0
    if a <= 25.0:
        return _recur(a)[0]
    return 0.0 if a == math.inf else _asymptotic(a, 0)[0]


def j1(x):
    """Bessel function of the first kind, order 1."""
    a = abs(x)
    if a == 0.0:
        return x
    if a <= 25.0:
        r = _recur(a)[1]
    else:
        r = 0.0 if a == math.inf else _asymptotic(a, 1)[0]
    return math.copysign(1.0, x) * r


def y0(x):
    """Bessel function of the second kind, order 0."""
    if not x > 0.0:
        return -math.inf if x == 0.0 else math.nan
    if x <= 25.0:
        return _recur(x)[2]
    return 0.0 if x == math.inf else _asymptotic(x, 0)[1]


def y1(x):
    """Bessel function of the second kind, order 1."""
    if not x > 0.0:
        return -math.inf if x == 0.0 else math.nan
    if x <= 25.0:
        return _recur(x)[3]
    return 0.0 if x == math.inf else _asymptotic(x, 1)[1]


def jn(n, x):
    """Bessel function of the first kind, order n >= 0."""
    if n < 0 or x != x:
        return math.nan
    if n == 0:
        return j0(x)
    if n == 1:
        return j1(x)
    a = abs(x)
    sign = -1.0 if x < 0.0 and n % 2 == 1 else 1.0
    if a == 0.0 or a == math.inf:
        return 0.0
    if n <= a:  # upward, where that is stable
        below = j0(a)
        here = j1(a)
        for k in range(1, n):
            above = 2.0 * k / a * here - below
            below = here
            here = above
        return sign * here
    top = 2 * int(0.5 * (n + math.sqrt(60.0 * n) + 10.0))
    above = 0.0
    here = 1e-300
    norm = 0.0
    wanted = 0.0
    for k in range(top, 0, -1):
        if k == n:
            wanted = here
        if k % 2 == 0:
            norm += 2.0 * here
        below = 2.0 * k / a * here - above
        above = here
        here = below
        if abs(here) > 1e250:
            here *= 1e-250
            above *= 1e-250
            norm *= 1e-250
            wanted *= 1e-250
    return sign * wanted / (norm + here)


def yn(n, x):
    """Bessel function of the second kind, order n >= 0."""
    if n < 0:
        return math.nan
    if not x > 0.0:
        return -math.inf if x == 0.0 else math.nan
    below = y0(x)
    if n == 0:
        return below
    here = y1(x)
    for k in range(1, n):
        if here == -math.inf:
            break
        above = 2.0 * k / x * here - below
        below = here
        here = above
    return here
