"""and, or, not give operands, not bools; comparisons chain; conditional expressions and walrus."""

import gpu
import numpy as np


@gpu.jit
def boolean_operators(a, b, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i, 0] = a[i] and b[i]
        out[i, 1] = a[i] or b[i]
        out[i, 2] = not a[i]
        out[i, 3] = a[i] > 0 and b[i] > 0 or not (a[i] or b[i])


@gpu.jit
def chained(a, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i] = 2 if -1 <= a[i] < 2 != 5 else (1 if a[i] == 3 else 0)


@gpu.jit
def walrus(a, out):
    i = gpu.grid(1)
    if i < a.size:
        if (twice := a[i] * 2) > 3:
            out[i] = twice
        else:
            out[i] = -twice


@gpu.jit
def guard_by_short_circuit(a, out):
    i = gpu.grid(1)
    if i < out.size and i + 3 < a.size and a[i + 3] > 0:
        out[i] = 1


A = np.array([-2, -1, 0, 0, 1, 2, 3, 4], "i4")
ARGS = {
    "boolean_operators": lambda: (1, 8, [A.copy(), A[::-1].copy(), np.zeros((8, 4), "i4")]),
    "chained": lambda: (1, 8, [A.copy(), np.zeros(8, "i4")]),
    "walrus": lambda: (1, 8, [A.copy(), np.zeros(8, "i4")]),
    "guard_by_short_circuit": lambda: (1, 16, [A.copy(), np.zeros(10, "i4")]),
}

# >>> ir boolean_operators(i4[::1], i4[::1], i4[:, ::1])
# <<<
# >>> ir chained(i4[::1], i4[::1])
# <<<
# >>> ir walrus(i4[::1], i4[::1])
# <<<
# >>> ir guard_by_short_circuit(i4[::1], i4[::1])
# <<<
