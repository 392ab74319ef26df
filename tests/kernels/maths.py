"""math functions keep float32; NumPy functions follow the ufunc's loops."""

import math

import gpu
import numpy as np


@gpu.jit
def float32_stays(x, out):
    i = gpu.grid(1)
    if i < x.size:
        out[i] = math.sin(x[i]) * math.exp(-x[i]) + math.sqrt(x[i]) + math.fabs(x[i] - 1)


@gpu.jit
def rounding(x, out):
    i = gpu.grid(1)
    if i < x.size:
        out[i, 0] = math.floor(x[i])
        out[i, 1] = math.ceil(x[i])
        out[i, 2] = math.trunc(x[i])
        out[i, 3] = round(x[i])
        out[i, 4] = np.rint(x[i])
        out[i, 5] = math.copysign(1.0, x[i])


@gpu.jit
def tests(x, out):
    i = gpu.grid(1)
    if i < x.size:
        out[i, 0] = math.isnan(x[i])
        out[i, 1] = math.isinf(x[i])
        out[i, 2] = np.isfinite(x[i])
        out[i, 3] = np.signbit(x[i])


@gpu.jit
def minimum_and_maximum(x, y, out):
    i = gpu.grid(1)
    if i < x.size:
        out[i, 0] = min(x[i], y[i])
        out[i, 1] = max(x[i], y[i])
        out[i, 2] = np.minimum(x[i], y[i])
        out[i, 3] = np.maximum(x[i], y[i])
        out[i, 4] = np.fmin(x[i], y[i])
        out[i, 5] = np.fmax(x[i], y[i])
        out[i, 6] = min(x[i], y[i], 0.5)


@gpu.jit
def select(x, out):
    i = gpu.grid(1)
    if i < x.size:
        out[i] = np.where(x[i] > 0, x[i], -1)


X = np.array([0.25, 0.5, 1.0, 1.5, 2.5, 3.75], "f4")
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -2.5, 3.5])
ARGS = {
    "float32_stays": lambda: (1, 8, [X.copy(), np.zeros(6, "f4")]),
    "rounding": lambda: (1, 8, [np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 1e10, -7.3]), np.zeros((8, 6))]),
    "tests": lambda: (1, 8, [SPECIAL.copy(), np.zeros((8, 4), "i4")]),
    "minimum_and_maximum": lambda: (1, 8, [SPECIAL.copy(), np.roll(SPECIAL, 3), np.zeros((8, 7))]),
    "select": lambda: (1, 8, [X - 1, np.zeros(6, "f4")]),
}
RTOL = {"float32_stays": 1e-6}

# >>> ir float32_stays(f4[::1], f4[::1])
# <<<
# >>> ir rounding(f8[::1], f8[:, ::1])
# <<<
# >>> ir tests(f8[::1], i4[:, ::1])
# <<<
# >>> ir minimum_and_maximum(f8[::1], f8[::1], f8[:, ::1])
# <<<
# >>> ir select(f4[::1], f4[::1])
# <<<
