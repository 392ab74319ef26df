"""A loop that waits for memory sees what others write there."""

from __future__ import annotations

import threading

import gpu
import numpy as np
import pytest

pytestmark = pytest.mark.one_version


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


# ---- one thread of a block waits for other blocks -----------------------------------------------------------------


@gpu.jit
def sums_of_blocks_before(x, out, state):
    """Each block's first thread waits for the block before it."""
    t, b = gpu.threadIdx.x, gpu.blockIdx.x
    before = gpu.shared.array(1, np.int64)
    i = gpu.grid(1)
    total = gpu.block.reduce(x[i])
    if t == 0:
        sum_before = np.int64(0)
        if b > 0:
            while gpu.atomic.load(state, 2 * b - 2) == 0:
                pass
            sum_before = state[2 * b - 1]
        state[2 * b + 1] = sum_before + total
        gpu.atomic.store(state, 2 * b, np.int64(1))
        before[0] = sum_before
    gpu.syncthreads()
    out[i] = before[0] + x[i]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("block", [1, 31, 32, 33, 97, 256])
def test_a_thread_waits_for_the_block_before(block: int, device: str) -> None:
    x = np.arange(40 * block, dtype=np.int64) % 1000
    out = np.zeros_like(x)
    with gpu.device(device):
        sums_of_blocks_before[40, block](x, out, np.zeros(80, np.int64))
    before = np.cumsum(x.reshape(40, block).sum(axis=1)) - x.reshape(40, block).sum(axis=1)
    assert (out == np.repeat(before, block) + x).all()


@gpu.jit
def waits_in_each_row(flags, out):
    """Threads (0, 0) and (0, 1) of one block: the first waits for the second, which `threadIdx.x == 0` doesn't tell."""
    if gpu.threadIdx.x == 0:
        if gpu.threadIdx.y == 0:
            while gpu.atomic.load(flags, 0) == 0:
                pass
            out[0] = flags[1]
        else:
            flags[1] = 42
            gpu.atomic.store(flags, 0, np.int32(1))
    gpu.syncthreads()


@gpu.jit
def waits_for_a_neighbour(flags, out):
    """Thread 0 waits for what thread 1 writes before the barrier, and thread 2 for what all write."""
    t = gpu.threadIdx.x
    if t == 0:
        while gpu.atomic.load(flags, 0) == 0:
            pass
        out[0] = flags[1]
    if t == 1:
        flags[1] = 42
        gpu.atomic.store(flags, 0, np.int32(1))
    if t == 2:
        while gpu.atomic.load(flags, 2) < gpu.blockDim.x - 3:
            pass
    if t > 2:
        gpu.atomic.add(flags, 2, 1)
    gpu.syncthreads()


@gpu.jit
def waits_for_what_lies_in_shared_memory(flags, out):
    t = gpu.threadIdx.x
    s = gpu.shared.array(1, np.int32)
    if t == 0:
        s[0] = 0
    gpu.syncthreads()
    if t == 0:
        while gpu.atomic.load(s, 0) < gpu.blockDim.x * gpu.blockDim.y - 1:
            pass
        out[0] = 42
    else:
        gpu.atomic.add(s, 0, 1)
    gpu.syncthreads()


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize(
    ("kernel", "block"),
    [
        (waits_in_each_row, (4, 2)),
        (waits_in_each_row, (32, 2)),
        (waits_for_a_neighbour, (33, 1)),
        (waits_for_a_neighbour, (64, 1)),
        (waits_for_what_lies_in_shared_memory, (64, 1)),
    ],
)
def test_a_thread_waits_for_others_of_its_block(kernel: gpu.Kernel, block: tuple[int, int], device: str) -> None:
    out = np.zeros(1, np.int32)
    with gpu.device(device):
        kernel[1, block](np.zeros(3, np.int32), out)
    assert out[0] == 42
