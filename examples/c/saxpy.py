"""The kernel that saxpy.c launches: ``gpu ptx saxpy.py:saxpy --arch sm_80 -o saxpy.ptx --header saxpy.h``."""

import gpu


@gpu.jit("float32, float32[::1], float32[::1]")
def saxpy(a, x, y):
    i = gpu.grid(1)
    if i < len(y):
        y[i] = a * x[i] + y[i]
