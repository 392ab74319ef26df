"""C, Fortran and strided arrays of several dimensions; negative indices; attributes."""

import gpu
import numpy as np


@gpu.jit
def transpose(a, out):
    x, y = gpu.grid(2)
    if x < a.shape[1] and y < a.shape[0]:
        out[x, y] = a[y, x]


@gpu.jit
def negative_indices(a, out):
    i = gpu.grid(1)
    if i < a.shape[0]:
        out[-1 - i] = a[i - 2, -1] + a[-i, 0]


@gpu.jit
def attributes(a, out):
    out[0] = a.ndim
    out[1] = a.size
    out[2] = len(a)
    out[3] = a.shape[-1]
    out[4] = a.strides[0]
    out[5] = a.itemsize
    if a.ndim == 3 and a.dtype == np.float32:
        out[6] = a[1, 0, 1] + len(a.shape)
    else:
        out[6] = a.no_such_attribute


@gpu.jit
def rows(a, out):
    i = gpu.grid(1)
    if i < a.shape[0]:
        row = a[i]
        total = 0.0
        for j in range(len(row)):
            total += row[j] + a[i][j]
        out[i] = total


@gpu.jit
def zero_dimensional(a, out):
    out[()] = a[()] + 1


CUBE = np.arange(24, dtype="f4").reshape(2, 3, 4)
ARGS = {
    "transpose": lambda: ((1, 1), (8, 8), [np.arange(15.0).reshape(3, 5), np.zeros((5, 3), order="F")]),
    "negative_indices": lambda: (1, 4, [np.arange(24.0).reshape(4, 6)[:, ::-2], np.zeros(8)[::2]]),
    "attributes": lambda: (1, 1, [CUBE.copy(), np.zeros(7, "i8")]),
    "rows": lambda: (1, 4, [np.arange(12, dtype="f4").reshape(3, 4)[:, ::2], np.zeros(3, "f4")]),
    "zero_dimensional": lambda: (1, 1, [np.array(41), np.array(0)]),
}

# >>> ir transpose(f8[:, ::1], f8[::1, :])
# <<<
# >>> ir negative_indices(f8[:, :], f8[:])
# <<<
# >>> ir attributes(f4[:, :, ::1], i8[::1])
# <<<
# >>> ir rows(f4[:, :], f4[::1])
# <<<
# >>> ir zero_dimensional(array(int64, 0d, C), array(int64, 0d, C))
# <<<
