"""float16 arithmetic rounds after each operation; complex numbers."""

import gpu
import numpy as np


@gpu.jit
def half(a, b, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i, 0] = a[i] + b[i]
        out[i, 1] = a[i] * b[i] - a[i]
        out[i, 2] = a[i] / b[i]
        out[i, 3] = a[i] * 0.1


@gpu.jit
def complex_numbers(a, b, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i, 0] = a[i] + b[i]
        out[i, 1] = a[i] - b[i]
        out[i, 2] = -a[i] * 2j
        out[i, 3] = a[i].conjugate()
        out[i, 4] = complex(a[i].imag, b[i].real)
        out[i, 5] = 1 if a[i] == b[i] else 0


H = np.array([0.1, 1.5, -2.25, 1000, 6.1e-5, 3e-7, 65504, -0.0], "f2")
Z = np.array([1 + 2j, -0.5 + 0.25j, 3 - 4j, 0, 1j])
ARGS = {
    "half": lambda: (1, 8, [H.copy(), H[::-1].copy(), np.zeros((8, 4), "f2")]),
    "complex_numbers": lambda: (1, 8, [Z.copy(), Z[::-1].copy(), np.zeros((5, 6), "c16")]),
}

# >>> ir half(f2[::1], f2[::1], f2[:, ::1])
# <<<
# >>> ir complex_numbers(c16[::1], c16[::1], c16[:, ::1])
# <<<
