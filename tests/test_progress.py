"""A loop that waits for memory sees what others write there."""

from __future__ import annotations

import threading

import gpu
import numpy as np
import pytest


@gpu.jit
def wait_for_block_0(flag, out, n):
    if gpu.blockIdx.x == 0:
        s = 0.0
        for i in range(n):
            s += i * 0.5
        out[0] = s
        flag[0] = 1
    else:
        rounds = 0
        while flag[0] == 0:
            rounds += 1
        out[1] = 1


@gpu.jit
def wait_for_host(flag, out):
    seen = flag[0]
    while seen == 0 and out[1] == 0:
        seen = flag[0]
    out[0] = seen


@gpu.jit
def no_wait(x, out):
    i = 0
    while x[i] != 0:
        i += 1
    out[0] = i


def test_one_block_waits_for_another() -> None:
    flag, out = np.zeros(1, "i4"), np.zeros(2)
    wait_for_block_0[2, 1](flag, out, 20_000_000)
    assert out[1] == 1 and out[0] > 0


def test_a_launch_waits_for_the_host() -> None:
    flag, out = np.zeros(1, "i4"), np.zeros(2)
    timer = threading.Timer(0.2, lambda: flag.__setitem__(0, 7))
    timer.start()
    wait_for_host[1, 1](flag, out)
    timer.join()
    assert out[0] == 7


@pytest.mark.parametrize(("kernel", "volatile"), [(wait_for_host, True), (no_wait, False)])
def test_only_loads_that_are_waited_for(kernel: gpu.Kernel, volatile: bool) -> None:
    assert ("volatile" in kernel.inspect("ir", "i4[::1], f8[::1]")) == volatile
    assert ("ld.volatile" in kernel.inspect("ptx", "i4[::1], f8[::1]")) == volatile
