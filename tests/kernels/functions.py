"""Device functions: plain Python functions and jitted ones, defaults, keywords, several results, closures, lambdas."""

import math

import gpu
import numpy as np

SCALE = 3
OFFSETS = (10, 20.5)


def polar(x, y=1.0, *, squared=False):
    r = x * x + y * y
    if squared:
        return r, x - y
    return math.sqrt(r), x - y


@gpu.jit(device=True)
def clamp(x, low, high):
    return min(max(x, low), high)


def make_kernel(factor):
    @gpu.jit
    def scaled(a, out):
        i = gpu.grid(1)
        if i < a.size:
            out[i] = a[i] * factor + OFFSETS[0]

    return scaled


@gpu.jit
def calls(a, out):
    i = gpu.grid(1)
    if i < a.size:
        r, d = polar(a[i])
        s, _ = polar(y=a[i], x=2.0, squared=True)
        out[i, 0] = r
        out[i, 1] = d
        out[i, 2] = s
        out[i, 3] = clamp(a[i], -1, SCALE) + OFFSETS[1]


@gpu.jit
def local_lambda(a, out):
    i = gpu.grid(1)
    shift = a[0]
    f = lambda v, k=2: (v - shift) * k
    if i < a.size:
        out[i] = f(a[i]) + f(a[i], k=i)


def apply(f, x):
    return f(f(x))


def successor(x):
    return x + 1


@gpu.jit
def functions_as_arguments(a, out):
    i = gpu.grid(1)
    if i < a.size:
        out[i] = apply(successor, a[i]) + apply(abs, a[i])


scaled = make_kernel(2.5)
A = np.linspace(-2, 5, 8)
ARGS = {
    "calls": lambda: (1, 8, [A.copy(), np.zeros((8, 4))]),
    "scaled": lambda: (1, 8, [A.astype("f4"), np.zeros(8, "f4")]),
    "local_lambda": lambda: (1, 8, [A.copy(), np.zeros(8)]),
    "functions_as_arguments": lambda: (1, 8, [np.arange(-4, 4, dtype="i4"), np.zeros(8, "i4")]),
}
RTOL = {"calls": 1e-15, "scaled": 1e-6}

# >>> ir calls(f8[::1], f8[:, ::1])
# <<<
# >>> ir scaled(f4[::1], f4[::1])
# <<<
# >>> ir local_lambda(f8[::1], f8[::1])
# <<<
# >>> ir functions_as_arguments(i4[::1], i4[::1])
# <<<
