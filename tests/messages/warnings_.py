"""What compiles with a warning."""

import gpu
from gpu import cuda


@gpu.jit
def widens(x, out):
    i = gpu.grid(1)
    out[i] = i * 0.25


@gpu.jit
def narrows(x, out):
    i = gpu.grid(1)
    out[i] = x[i] + i


@gpu.jit
def overflows(x, out):
    out[0] = x[0] * 1e300


@cuda.jit
def unassigned_in_numba(x, out):
    i = cuda.grid(1)
    if x[i] > 0:
        value = x[i]
    out[i] = value


# >>> message widens(f4[::1], f4[::1])
# PerformanceWarning: warnings_.py:9: 'gpu.grid(...)' makes this float64 arithmetic, and the result is stored as float32; start from float32: np.float32(...)
# <<<
# >>> message narrows(i1[::1], i1[::1])
# UserWarning: warnings_.py:16: a Python integer becomes int8 here; values that don't fit wrap around; np.int64(...) on the other operand keeps 64 bits
# <<<
# >>> message overflows(f4[::1], f4[::1])
# UserWarning: warnings_.py:21: this float is too large for float32 and becomes inf
# <<<
# >>> message unassigned_in_numba(f4[::1], f4[::1])
# UserWarning: warnings_.py:29: 'value' is not assigned on every path to here; it is 0 there
# <<<
