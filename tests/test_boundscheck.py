"""boundscheck=True: an index out of bounds raises what NumPy raises, on every device, wherever an index may stand."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import gpu
import numpy as np
import pytest

DEVICES = ("python", "cpu", "emulated")


def store(x, n):
    x[gpu.grid(1) + n] = 1.0


def negative(x, n):
    x[0] = x[-n - 5]


def second_axis(x, n):
    x.reshape(2, 2)[1, n + 1] = 2.0


def view(x, n):
    x[:n][n] = 3.0


def atomic(x, n):
    gpu.atomic.add(x, n + 3, 1.0)


def in_shared_memory(x, n):
    tile = gpu.shared.array(2, np.float32)
    tile[gpu.threadIdx.x + n] = 1.0
    gpu.syncthreads()
    x[0] = tile[0]


def in_local_memory(x, n):
    mine = gpu.local.array(3, np.float32)
    for i in range(n + 3):
        mine[i] = i
    x[0] = mine[2]


def of_a_tuple(x, n):
    x[0] = (1, 2, 3)[n + 2]


def helper(x, i):
    return x[i]


def in_a_device_function(x, n):
    x[0] = helper(x, n + 3)


KERNELS = [
    (store, "index 4 is out of bounds for axis 0 with size 4"),
    (negative, "index -6 is out of bounds for axis 0 with size 4"),
    (second_axis, "index 2 is out of bounds for axis 1 with size 2"),
    (view, "index 1 is out of bounds for axis 0 with size 1"),
    (atomic, "index 4 is out of bounds for axis 0 with size 4"),
    (in_shared_memory, "index 2 is out of bounds for axis 0 with size 2"),
    (in_local_memory, "index 3 is out of bounds for axis 0 with size 3"),
    (of_a_tuple, "tuple index out of range"),
    (in_a_device_function, "index 4 is out of bounds for axis 0 with size 4"),
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("kernel", "message"), KERNELS, ids=lambda x: getattr(x, "__name__", ""))
def test_an_index_out_of_bounds_raises(kernel: Any, message: str, device: str) -> None:
    with gpu.device(device):
        with pytest.raises(IndexError) as caught:
            gpu.jit(boundscheck=True)(kernel)[1, 4](np.zeros(4), 1)
            gpu.synchronize()
        assert str(caught.value).startswith(message)
        assert "test_boundscheck.py:" in str(caught.value)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("option", ["boundscheck", "debug"])
def test_what_is_in_bounds_is_the_same(option: str, device: str) -> None:
    @gpu.jit(**{option: True})
    def reverse(x, y):
        i = gpu.grid(1)
        if i < len(x):
            y[i] = x[-1 - i]

    x, y = np.arange(5.0), np.zeros(5)
    with gpu.device(device):
        reverse[1, 8](x, y)
        gpu.synchronize()
    assert (y == x[::-1]).all()


def test_the_environment_asks_for_it() -> None:
    program = "import gpu\nprint(gpu.jit(lambda x: None).options['boundscheck'])"
    for value, asked in (("1", "True"), ("0", "False")):
        run = subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "GPU_BOUNDSCHECK": value}, text=True,
            capture_output=True, check=True,
        )  # fmt: skip
        assert run.stdout.strip() == asked
