"""Parallel loops, for `programs`; without gpu.parallel they are ordinary functions."""

from __future__ import annotations

import gpu


def axpy(x, y, out):
    for i in gpu.prange(len(out)):
        out[i] = abs(2 * x[i]) + abs(y[-1 - i])


def total(x, y, out):
    s = 0
    for i in gpu.prange(len(x)):
        s += x[i] * 2
    return s


def span(x, y, out):
    low, high = 1000, -1000
    for i in gpu.prange(len(x)):
        low = min(low, x[i])
        high = max(high, x[i])
    return high - low


def counted(x, y, out):
    out[:] = 0
    n = 0
    for i in gpu.prange(len(x)):
        out[int(abs(x[i])) % len(out)] += 1
        if x[i] > 2:
            n += 1
    return n


def rows(x, y, out):
    for k in range(2):
        for i in gpu.prange(len(out)):
            t = x[i] + k
            if t > 3:
                continue
            out[i] = abs(t * y[i])
