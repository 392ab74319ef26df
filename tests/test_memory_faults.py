"""Accesses to memory that isn't there, on the CPU device: an exception, and the process goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from typing import Any

import gpu
import numpy as np
import pytest

pytestmark = pytest.mark.one_version

FAR = 1 << 40


@pytest.fixture(autouse=True)
def _cpu() -> Any:
    with gpu.device("cpu"):
        yield


@gpu.jit
def write(x, n):
    x[gpu.grid(1) + n] = 1.0


@gpu.jit
def read_in_a_loop(x, n):
    i = gpu.grid(1)
    total = 0.0
    for j in range(100):
        total += x[i + j * n]
    x[i] = total


@gpu.jit
def beside_a_barrier(x, n):
    tile = gpu.shared.array(32, np.float64)
    tile[gpu.threadIdx.x] = x[gpu.threadIdx.x + n]
    gpu.syncthreads()
    x[gpu.threadIdx.x] = tile[31 - gpu.threadIdx.x]


@gpu.jit(device=True)
def item(x, n):
    return x[n]


@pytest.mark.parametrize("blocks", [1, 3, 10_000])
@pytest.mark.parametrize("kernel", [write, read_in_a_loop, beside_a_barrier], ids=lambda k: k.__name__)
def test_a_fault_is_an_exception(kernel: gpu.Kernel, blocks: int) -> None:
    x = np.zeros(32)
    with pytest.raises(gpu.DeviceFault, match=r"memory that isn't there.*boundscheck=True"):
        kernel[blocks, 32](x, FAR)
    kernel[1, 32](x, 0)  # goes on


def test_the_nearest_array_is_named() -> None:
    x = np.zeros(10)
    with pytest.raises(gpu.DeviceFault, match=r"writes to .*\n.*'x' \(float64, shape \(10,\)\): there is no index"):
        write[1, 32](x, FAR)


def test_a_device_function_that_python_calls() -> None:
    with pytest.raises(gpu.DeviceFault, match=r"kernel item_f8c1_i: a thread reads"):
        item(np.zeros(3), FAR)
    assert item(np.arange(3.0), 2) == 2.0


def test_faults_in_many_threads() -> None:
    caught = []

    def run() -> None:
        with gpu.device("cpu"):
            for _ in range(20):
                try:
                    write[50, 32](np.zeros(8), FAR)
                except gpu.DeviceFault as error:
                    caught.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(caught) == 80


@pytest.mark.parametrize("option", ["", "faulthandler"])
def test_faults_of_others_are_theirs(option: str) -> None:
    program = (
        "import ctypes, gpu, numpy as np\n"
        "with gpu.device('cpu'): gpu.jit(lambda x: None)[1, 1](np.zeros(1))\n"
        "print('here', flush=True)\n"
        "ctypes.string_at(0)\n"
    )
    arguments = [sys.executable, *(["-X", option] if option else []), "-c", program]
    run = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert run.stdout == "here\n"
    sanitized = "AddressSanitizer: SEGV" in run.stderr  # has a handler of its own
    assert sanitized or run.returncode == -signal.SIGSEGV
    assert sanitized or ("Segmentation fault" in run.stderr) == bool(option)
