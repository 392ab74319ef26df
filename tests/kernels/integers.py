"""Integer operators: Python's signs, wrapping at the width, division by zero is 0, shifts by any amount."""

import gpu
import numpy as np


@gpu.jit
def division(a, b, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i, 0] = a[i] // b[i]
        out[i, 1] = a[i] % b[i]
        q, r = divmod(a[i], b[i])
        out[i, 2] = q * b[i] + r


@gpu.jit
def true_division(a, b, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i] = a[i] / b[i]


@gpu.jit
def wrapping(a, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i, 0] = a[i] + a[i]
        out[i, 1] = a[i] * a[i]
        out[i, 2] = -a[i]
        out[i, 3] = abs(a[i])


@gpu.jit
def bits(a, b, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i, 0] = a[i] & b[i]
        out[i, 1] = a[i] | b[i]
        out[i, 2] = a[i] ^ b[i]
        out[i, 3] = ~a[i]


@gpu.jit
def shifts(a, b, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i, 0] = a[i] << b[i]
        out[i, 1] = a[i] >> b[i]
        out[i, 2] = a[i] << 3
        out[i, 3] = a[i] >> 2


@gpu.jit
def powers(a, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i, 0] = a[i] ** 2
        out[i, 1] = a[i] ** 3
        out[i, 2] = a[i] ** 0


I4 = np.array([-9, 9, -9, 9, -8, 0, 7, -(2**31), 2**31 - 1, 5], "i4")
D4 = np.array([4, -4, -4, 4, 3, 5, -7, -1, 2, 0], "i4")
U1 = np.array([0, 1, 127, 128, 200, 255], "u1")
ARGS = {
    "division": lambda: (1, 16, [I4.copy(), D4.copy(), np.zeros((10, 3), "i4")]),
    "true_division": lambda: (1, 16, [I4.copy(), D4.copy(), np.zeros(10)]),
    "wrapping": lambda: (1, 16, [I4.copy(), np.zeros((10, 4), "i4")]),
    "bits": lambda: (1, 8, [U1.copy(), U1[::-1].copy(), np.zeros((6, 4), "u1")]),
    "shifts": lambda: (1, 16, [I4.copy(), np.array([0, 1, 2, 31, 32, 33, 40, 5, 6, 7], "i4"), np.zeros((10, 4), "i4")]),
    "powers": lambda: (1, 16, [I4.copy(), np.zeros((10, 3), "i4")]),
}

# >>> ir division(i4[::1], i4[::1], i4[:, ::1])
# <<<
# >>> ir true_division(i4[::1], i4[::1], f8[::1])
# <<<
# >>> ir wrapping(i4[::1], i4[:, ::1])
# <<<
# >>> ir bits(u1[::1], u1[::1], u1[:, ::1])
# <<<
# >>> ir shifts(i4[::1], i4[::1], i4[:, ::1])
# <<<
# >>> ir powers(i4[::1], i4[:, ::1])
# <<<
