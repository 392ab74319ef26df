"""Threads that return early, from inside loops too."""

import gpu
import numpy as np


@gpu.jit
def guard_first(a, out):
    i = gpu.grid(1)
    if i >= out.size:
        return
    if a[i] < 0:
        out[i] = -1
        return
    out[i] = a[i] * 2


@gpu.jit
def from_a_loop(a, out):
    i = gpu.grid(1)
    if i >= out.size:
        return
    for j in range(a.size):
        if a[j] > i:
            out[i] = j
            return
    out[i] = 77


A = np.array([3, -1, 4, -1, 5, 9, -2, 6], "i4")
ARGS = {
    "guard_first": lambda: (2, 8, [A.copy(), np.zeros(8, "i4")]),
    "from_a_loop": lambda: (2, 8, [A.copy(), np.zeros(12, "i4")]),
}

# >>> ir guard_first(i4[::1], i4[::1])
# <<<
# >>> ir from_a_loop(i4[::1], i4[::1])
# <<<
