"""Python numbers are weak: float32 arrays stay float32, whatever literals and arguments meet them."""

import gpu
import numpy as np


@gpu.jit
def saxpy(a, x, y):
    i = gpu.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i] * 0.5 - 1


@gpu.jit
def weak_float_with_integer_element(a, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i] = a[i] * 0.5 + 1.25


@gpu.jit
def constants_fit_small_types(a, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i] = (a[i] + 100) * 2 - 7


F4 = np.linspace(-3, 3, 50, dtype="f4")
I1 = np.arange(-60, 60, dtype="i1")
ARGS = {
    "saxpy": lambda: (2, 32, [0.1, F4.copy(), F4[::-1].copy()]),
    "weak_float_with_integer_element": lambda: (4, 32, [I1.copy(), np.zeros(120)]),
    "constants_fit_small_types": lambda: (4, 32, [I1.copy(), np.zeros(120, "i1")]),
}
RTOL = {"saxpy": 1e-6}  # x * y + z may be fused

# >>> ir saxpy(float, f4[::1], f4[::1])
# <<<
# >>> ir weak_float_with_integer_element(i1[::1], f8[::1])
# <<<
# >>> ir constants_fit_small_types(i1[::1], i1[::1])
# <<<
