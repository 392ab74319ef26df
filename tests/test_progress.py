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


@gpu.jit
def first_waits_for_last(turn, out):
    t = gpu.threadIdx.x
    if t == gpu.blockDim.x - 1:
        for k in range(len(out)):
            out[k] = k + 1
            gpu.threadfence_block()
            gpu.atomic.add(turn, 0, 1)
    if t == 0:
        k = 0
        while k < len(out):  # k stands still while this thread waits
            if gpu.atomic.add(turn, 0, 0) > k:
                out[k] *= 10
                k += 1


@gpu.jit
def first_reads_of_last(turn, out):
    t = gpu.threadIdx.x
    k = 0
    while t == 0 and k < len(out):
        if turn[0] == 1:
            k += 1
    if t == gpu.blockDim.x - 1:
        out[0] = 1
        turn[0] = 1


@gpu.jit
def searches(x, wanted, out):
    low, high = 0, len(x)
    while low < high:
        middle = (low + high) // 2
        if x[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    out[0] = low


@pytest.mark.parametrize("threads", [2, 32, 100])
def test_a_thread_waits_for_a_later_one_of_its_block(threads: int) -> None:
    turn, out = np.zeros(1, "i4"), np.zeros(50)
    first_waits_for_last[1, threads](turn, out)
    assert out.tolist() == [10.0 * (k + 1) for k in range(50)]
    turn, out = np.zeros(1, "i4"), np.zeros(50)
    first_reads_of_last[1, threads](turn, out)
    assert out[0] == 1


def test_a_loop_that_always_gets_further_waits_for_nothing() -> None:
    assert "volatile" in first_reads_of_last.inspect("ir", "i4[::1], f8[::1]")
    assert "volatile" not in searches.inspect("ir", "f8[::1], f8, i8[::1]")
