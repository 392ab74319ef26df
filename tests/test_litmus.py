"""What threads of different blocks see of each other's memory, on the CPU device with all cores, thousands of times."""

from __future__ import annotations

from collections.abc import Iterator

import gpu
import numpy as np
import pytest

pytestmark = pytest.mark.one_version
ROUNDS = 3000


@pytest.fixture(autouse=True)
def on_cpu() -> Iterator[None]:
    with gpu.device("cpu"):
        yield


@gpu.jit
def message(data, flag, wrong):
    """Block 0 writes and tells; block 1 is told and reads."""
    for r in range(data.size):
        if gpu.blockIdx.x == 0:
            data[r] = r + 1
            gpu.atomic.store(flag, r, 1)
        else:
            while gpu.atomic.load(flag, r) == 0:
                pass
            if data[r] != r + 1:
                wrong[0] += 1


@gpu.jit
def message_by_fences(data, flag, wrong):
    for r in range(data.size):
        if gpu.blockIdx.x == 0:
            data[r] = r + 1
            gpu.threadfence()
            gpu.atomic.exch(flag, r, 1)
        else:
            while gpu.atomic.add(flag, r, 0) == 0:
                pass
            gpu.threadfence()
            if data[r] != r + 1:
                wrong[0] += 1


@pytest.mark.parametrize("kernel", [message, message_by_fences])
def test_message_passing(kernel: gpu.Kernel) -> None:
    wrong = np.zeros(1, np.int64)
    kernel[2, 1](np.zeros(ROUNDS, np.int64), np.zeros(ROUNDS, np.int32), wrong)
    assert wrong[0] == 0


@gpu.jit
def both_write(place, came, seen, n):
    """Each of two blocks writes its place, then reads the other's: one of them must see what the other wrote."""
    me = gpu.blockIdx.x
    for r in range(n):
        gpu.atomic.add(came, r, 1, order="acq_rel")
        while gpu.atomic.load(came, r) < 2:
            pass
        gpu.atomic.exch(place, (r, me), 1, order="seq_cst")
        gpu.threadfence()
        seen[r, me] = gpu.atomic.load(place, (r, 1 - me), order="seq_cst")


def test_store_buffering() -> None:
    seen = np.full((ROUNDS, 2), -1)
    both_write[2, 1](np.zeros((ROUNDS, 2), np.int32), np.zeros(ROUNDS, np.int32), seen, ROUNDS)
    assert (seen.sum(axis=1) > 0).all() and set(np.unique(seen)) <= {0, 1}


@gpu.jit
def both_read_first(place, came, seen, n):
    """Each of two blocks reads the other's place, then writes its own: at most one reads what the other wrote."""
    me = gpu.blockIdx.x
    for r in range(n):
        gpu.atomic.add(came, r, 1, order="acq_rel")
        while gpu.atomic.load(came, r) < 2:
            pass
        seen[r, me] = gpu.atomic.load(place, (r, 1 - me))
        gpu.atomic.store(place, (r, me), 1)


def test_load_buffering() -> None:
    seen = np.full((ROUNDS, 2), -1)
    both_read_first[2, 1](np.zeros((ROUNDS, 2), np.int32), np.zeros(ROUNDS, np.int32), seen, ROUNDS)
    assert (seen.sum(axis=1) < 2).all() and set(np.unique(seen)) <= {0, 1}


@gpu.jit
def spin_lock(lock, x):
    while gpu.atomic.cas(lock, 0, 0, 1, order="acquire") != 0:
        pass
    x[0] += 1
    x[1] = x[0] * 3
    gpu.atomic.store(lock, 0, 0)


@gpu.jit
def ticket_lock(lock, x):
    mine = gpu.atomic.add(lock, 0, 1)
    while gpu.atomic.load(lock, 1) != mine:
        pass
    x[0] += 1
    x[1] = x[0] * 3
    gpu.atomic.store(lock, 1, mine + 1)


@pytest.mark.parametrize("kernel", [spin_lock, ticket_lock])
def test_locks(kernel: gpu.Kernel) -> None:
    x = np.zeros(2, np.int64)
    kernel[ROUNDS, 2](np.zeros(2, np.int32), x)
    assert x.tolist() == [2 * ROUNDS, 6 * ROUNDS]


@gpu.jit
def look_back(x, o, state, sums):
    """A prefix sum in one pass: a block waits for the one before, which has started before it."""
    s = gpu.shared.array(33, np.int64)
    t, b = gpu.threadIdx.x, gpu.blockIdx.x
    v = gpu.block.scan(x[b * 32 + t])
    if t == 31:
        before = np.int64(0)
        if b > 0:
            while gpu.atomic.load(state, b - 1) == 0:
                pass
            before = sums[b - 1]
        sums[b] = before + v
        gpu.atomic.store(state, b, 1)
        s[32] = before
    gpu.syncthreads()
    o[b * 32 + t] = s[32] + v


def test_decoupled_look_back() -> None:
    x = np.random.default_rng(1).integers(-100, 100, 32 * ROUNDS)
    o = np.zeros_like(x)
    look_back[ROUNDS, 32](x, o, np.zeros(ROUNDS, np.int32), np.zeros(ROUNDS, np.int64))
    assert (o == np.cumsum(x)).all()
