"""Thread and block indices in one to three dimensions, grid strides."""

import gpu
import numpy as np


@gpu.jit
def all_parts(out):
    x, y, z = gpu.grid(3)
    w, h, d = gpu.gridsize(3)
    if x < w and y < h and z < d:
        out[z, y, x, 0] = gpu.threadIdx.x + 10 * gpu.threadIdx.y + 100 * gpu.threadIdx.z
        out[z, y, x, 1] = gpu.blockIdx.x + 10 * gpu.blockIdx.y + 100 * gpu.blockIdx.z
        out[z, y, x, 2] = gpu.blockDim.x + 10 * gpu.blockDim.y + 100 * gpu.blockDim.z
        out[z, y, x, 3] = gpu.gridDim.x + 10 * gpu.gridDim.y + 100 * gpu.gridDim.z


@gpu.jit
def grid_stride(a, out):
    for i in range(gpu.grid(1), a.size, gpu.gridsize(1)):
        out[i] = a[i] + 1


@gpu.jit
def lanes(out):
    i = gpu.grid(1)
    if i < out.size:
        out[i] = gpu.laneid + gpu.warpsize


ARGS = {
    "all_parts": lambda: ((2, 3, 2), (3, 2, 2), [np.zeros((4, 6, 6, 4), "i4")]),
    "grid_stride": lambda: (2, 4, [np.arange(30, dtype="i4"), np.zeros(30, "i4")]),
    "lanes": lambda: (2, 48, [np.zeros(96, "i4")]),
}

# >>> ir all_parts(i4[:, :, :, ::1])
# <<<
# >>> ir grid_stride(i4[::1], i4[::1])
# <<<
# >>> ir lanes(i4[::1])
# <<<
