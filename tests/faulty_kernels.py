"""Kernels with a fault each, and a right one: programs for `gpu check` and for the plugin of pytest."""

import sys

import gpu
import numpy as np


@gpu.jit
def reverse(x):
    """A race: nothing waits between the stores and the loads of other threads."""
    tile = gpu.shared.array(64, np.float32)
    i = gpu.threadIdx.x
    tile[i] = x[i]
    x[i] = tile[63 - i]


@gpu.jit
def shift(x):
    """The last thread reads behind the array."""
    i = gpu.grid(1)
    x[i] = x[i + 1]


@gpu.jit
def fails(x):
    """Raises."""
    assert x[0] > 0, "not positive"


@gpu.jit
def add_one(x):
    """Right."""
    x[gpu.grid(1)] += 1


if __name__ == "__main__":
    globals()[sys.argv[1]][1, 64](np.zeros(64, np.float32))
