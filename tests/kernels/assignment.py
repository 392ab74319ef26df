"""Tuple packing and unpacking, swaps, chained and augmented assignment, del, annotations."""

import gpu
import numpy as np


@gpu.jit
def unpack(a, out):
    """A docstring is no code."""
    i = gpu.grid(1)
    if i < out.shape[0]:
        x, y = a[i, 0], a[i, 1]
        x, y = y, x
        (p, q), r = (x + 1, y + 2), x * y
        first, *rest = (p, q, r)
        out[i, 0] = first
        out[i, 1] = rest[0] - rest[1]
        out[i, 2] = len(rest)


@gpu.jit
def chained(out):
    n: int = 3
    a = b = c = n
    a += 1
    b -= 1
    c *= 2
    c //= 4
    a **= 2
    b <<= 3
    b |= 1
    b ^= 5
    b &= 30
    a %= 7
    a >>= 1
    del c
    out[0] = a
    out[1] = b


ARGS = {
    "unpack": lambda: (1, 4, [np.arange(8, dtype="i4").reshape(4, 2), np.zeros((4, 3), "i4")]),
    "chained": lambda: (1, 1, [np.zeros(2, "i4")]),
}

# >>> ir unpack(i4[:, ::1], i4[:, ::1])
# <<<
# >>> ir chained(i4[::1])
# <<<
