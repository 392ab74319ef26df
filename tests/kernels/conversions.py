"""int(), float(), bool(), NumPy constructors; stores convert: integers wrap, floats saturate."""

import gpu
import numpy as np


@gpu.jit
def constructors(x, out):
    i = gpu.grid(1)
    if i < x.size:
        out[i, 0] = int(x[i])
        out[i, 1] = float(int(x[i])) / 4
        out[i, 2] = bool(x[i])
        out[i, 3] = np.int8(int(x[i]))
        out[i, 4] = np.float32(x[i]) * np.float32(0.1)


@gpu.jit
def narrow_stores(a, small, unsigned):
    i = gpu.grid(1)
    if i < a.size:
        small[i] = a[i]
        unsigned[i] = a[i]


@gpu.jit
def joins_never_narrow(a, b, out):
    i = gpu.grid(1)
    if i < a.size:
        x = a[i]
        if x > 3:
            x = b[i]
        out[i] = x * x


@gpu.jit
def accumulate(a, out):
    count = 0
    total = 0.0
    for j in range(a.size):
        total += a[j]
        count += 1
    mean = total / count
    out[0] = total
    out[1] = mean


X = np.array([-3.7, -0.2, 0.0, 0.9, 2.5, 100.25])
ARGS = {
    "constructors": lambda: (1, 8, [X.copy(), np.zeros((6, 5))]),
    "narrow_stores": lambda: (
        1,
        8,
        [np.array([0, 1, 127, 100, 3, 70], "i8"), np.zeros(6, "i1"), np.zeros(6, "u2")],
    ),
    "joins_never_narrow": lambda: (1, 8, [np.arange(6, dtype="i2"), np.arange(6, dtype="f4") + 0.5, np.zeros(6)]),
    "accumulate": lambda: (1, 1, [np.linspace(0, 1, 37, dtype="f4"), np.zeros(2, "f4")]),
}

# >>> ir constructors(f8[::1], f8[:, ::1])
# <<<
# >>> ir narrow_stores(i8[::1], i1[::1], u2[::1])
# <<<
# >>> ir joins_never_narrow(i2[::1], f4[::1], f8[::1])
# <<<
# >>> ir accumulate(f4[::1], f4[::1])
# <<<
