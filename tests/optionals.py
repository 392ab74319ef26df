"""Kernels whose variables and results are None on some paths; test_optionals.py runs them on every device and compares.

Each takes an array of 16 numbers, an output of 16 and a table of 16 integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import gpu
import numpy as np


def root(x):
    if x < 2:
        return None
    return math.sqrt(x)


def double_if_large(x):
    if x > 3:
        return x * 2


def k_result_or_none(a, o, t):
    i = gpu.grid(1)
    r = root(a[i])
    o[i] = -1 if r is None else r


def k_no_return_on_one_path(a, o, t):
    i = gpu.grid(1)
    r = double_if_large(a[i])
    if r is None:
        o[i] = -5
        return
    o[i] = r + 0.5


def k_best_so_far(a, o, t):
    i = gpu.grid(1)
    best = None
    for k in range(i):
        r = root(a[(k * 5) % 16])
        if r is not None and (best is None or r > best):
            best = r
    o[i] = best if best is not None else -1


def k_default_afterwards(a, o, t):
    i = gpu.grid(1)
    x = None
    if t[i] % 3 == 1:
        x = a[i]
    if x is None:
        x = 0.25
    o[i] = x * 2


def k_tests(a, o, t):
    i = gpu.grid(1)
    r = double_if_large(t[i] - 4)
    o[i] = (1 if r else 0) + (2 if not r else 0) + (4 if r == None else 0) + (8 if r != None else 0)  # noqa: E711
    if r:
        o[i] += 100 * r


def k_previous_item(a, o, t):
    i = gpu.grid(1)
    before = None
    total = 0.0
    for x in a[:i]:
        if before is not None:
            total += abs(x - before)
        before = x
    o[i] = total


def pair(x):
    return (x, x * 0.5) if x % 2 else None


def k_tuple_or_none(a, o, t):
    i = gpu.grid(1)
    p = pair(t[i])
    if p is not None:
        x, y = p
        o[i] = x + y + p[1]
    else:
        o[i] = -1


@dataclass(frozen=True)
class Hit:
    at: float
    n: int

    def weight(self):
        return self.at * self.n


def k_instance_or_none(a, o, t):
    i = gpu.grid(1)
    first = None
    for k in range(4):
        if first is None and a[(i + k) % 16] > 4:
            first = Hit(a[(i + k) % 16], k)
    o[i] = first.weight() if first is not None else -1


def row(m, i):
    if i < len(m):
        return m[i]
    return None


def k_array_or_none(a, o, t):
    i = gpu.grid(1)
    m = a.reshape(4, 4)
    r = row(m, i % 6)
    o[i] = -1
    if r is not None:
        o[i] = r[1] + r.sum()


def with_default(x, default=5):
    return default if x is None else x


def k_handed_on(a, o, t):
    i = gpu.grid(1)
    r = root(a[i])
    both = (r, 1)
    o[i] = with_default(r) + 10 * with_default(both[0], 7)


def k_none_on_the_way_round(a, o, t):
    i = gpu.grid(1)
    x = a[i]
    for k in range(5):
        if x is not None:
            o[i] += x
            x = None
        else:
            x = k * 1.0


def find(t, lo, hi, x):
    if lo >= hi:
        return None
    mid = (lo + hi) // 2
    if t[mid] == x:
        return mid
    if t[mid] < x:
        return find(t, mid + 1, hi, x)
    return find(t, lo, mid, x)


def k_search(a, o, t):
    i = gpu.grid(1)
    at = find(t[::2], 0, 8, i)
    o[i] = -1 if at is None else at


def k_over_a_barrier(a, o, t):
    s = gpu.shared.array(16, np.float64)
    i = gpu.threadIdx.x
    x = None
    if i % 3:
        x = a[i]
    s[i] = 0
    gpu.syncthreads()
    if x is not None:
        s[i] = x
    gpu.syncthreads()
    o[i] = s[15 - i] + (100 if x is None else 0)
