"""match on constants, alternatives, captures and guards."""

import gpu
import numpy as np


@gpu.jit
def classify(a, out):
    i = gpu.grid(1)
    if i < a.size:
        match a[i]:
            case 0:
                out[i] = 10
            case 1 | 2:
                out[i] = 20
            case x if x < 0:
                out[i] = -x
            case _:
                out[i] = 99


@gpu.jit
def pairs(a, out):
    i = gpu.grid(1)
    if i < a.size:
        match (a[i] % 2, a[i] % 3):
            case (0, 0):
                out[i] = 6
            case (0, r):
                out[i] = 100 + r
            case (_, 0):
                out[i] = 3
            case _:
                out[i] = 1


ARGS = {
    "classify": lambda: (1, 8, [np.arange(-3, 5, dtype="i4"), np.zeros(8, "i4")]),
    "pairs": lambda: (1, 12, [np.arange(12, dtype="i4"), np.zeros(12, "i4")]),
}

# >>> ir classify(i4[::1], i4[::1])
# <<<
# >>> ir pairs(i4[::1], i4[::1])
# <<<
