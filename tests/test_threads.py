"""Threads of a block that wait for each other in ways that cutting a kernel at its waits gets wrong easily."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gpu
import numpy as np
import pytest

ALL = 0xFFFFFFFF
THREADS = 128
T = np.arange(THREADS)


@pytest.fixture(params=["cpu", "emulated", "python"], autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with gpu.device(request.param):
        yield request.param


def run(kernel: Callable[..., Any], *args: Any, threads: int = THREADS, blocks: int = 1) -> np.ndarray:
    """The kernel's result, one element for each thread; -1 where a thread stores nothing."""
    o = np.full(blocks * threads, -1, np.int64)
    gpu.jit(kernel)[blocks, threads](o, *args)
    return o


# ---- threads that have ended


def returns_low(o):
    s = gpu.shared.array(THREADS, np.int64)
    t = gpu.threadIdx.x
    s[t] = t
    if t < 40:
        return
    gpu.syncthreads()
    o[t] = s[THREADS - 1 - t]


def returns_high(o):
    s = gpu.shared.array(THREADS, np.int64)
    t = gpu.threadIdx.x
    s[t] = t
    if t >= 40:
        return
    gpu.syncthreads()
    o[t] = s[THREADS - 1 - t]


def returns_odd(o):
    s = gpu.shared.array(THREADS, np.int64)
    t = gpu.threadIdx.x
    s[t] = t
    if t % 2 == 1:
        return
    gpu.syncthreads()
    o[t] = s[THREADS - 1 - t]


@pytest.mark.parametrize(
    ("kernel", "stays"), [(returns_low, T >= 40), (returns_high, T < 40), (returns_odd, T % 2 == 0)], ids=lambda x: ""
)
def test_returns_before_a_barrier(kernel: Callable[..., Any], stays: np.ndarray) -> None:
    assert (run(kernel) == np.where(stays, T[::-1], -1)).all()


def returns_tail(o, x):
    s = gpu.shared.array(THREADS, np.int64)
    i, t = gpu.grid(1), gpu.threadIdx.x
    if i >= x.size:
        return
    s[t] = x[i]
    gpu.syncthreads()
    o[i] = s[t ^ 1]


def test_returns_in_the_last_block() -> None:
    x = np.arange(2 * THREADS + 50) * 3
    o = run(returns_tail, x, blocks=3)
    assert (o[: x.size] == x[np.arange(x.size) ^ 1]).all() and (o[x.size :] == -1).all()


def leaves_one_by_one(o):
    """Thread t meets t + 1 barriers, and has seen all others that met as many."""
    s = gpu.shared.array(THREADS, np.int64)
    t = gpu.threadIdx.x
    s[t] = 0
    for k in range(t + 1):
        gpu.syncthreads()
        if t == THREADS - 1:
            for i in range(THREADS):
                s[i] += 1
        gpu.syncthreads()
        o[t] = s[t] * 1000 + k


def test_each_thread_meets_another_number_of_barriers() -> None:
    assert (run(leaves_one_by_one) == (T + 1) * 1000 + T).all()


# ---- control that agrees without being seen to


def agrees_by_memory(o, rounds):
    s = gpu.shared.array(THREADS, np.int64)
    t = gpu.threadIdx.x
    s[t] = t
    for _ in range(rounds[t]):
        gpu.syncthreads()
        v = s[(t + 1) % THREADS]
        gpu.syncthreads()
        s[t] = v
    o[t] = s[t]


def test_rounds_from_memory_that_agree() -> None:
    assert (run(agrees_by_memory, np.full(THREADS, 5)) == (T + 5) % THREADS).all()


def meets_elsewhere(o):
    s = gpu.shared.array(THREADS, np.int64)
    t = gpu.threadIdx.x
    if t // 32 % 2 == 0:
        s[t] = t * 10
        gpu.syncthreads()
        o[t] = s[THREADS - 1 - t]
    else:
        s[t] = t * 20
        gpu.syncthreads()
        o[t] = s[THREADS - 1 - t] + 1


def test_two_barriers_meet() -> None:
    s = np.where(T // 32 % 2 == 0, T * 10, T * 20)
    assert (run(meets_elsewhere) == s[::-1] + T // 32 % 2).all()


def counts_elsewhere(o):
    t = gpu.threadIdx.x
    if t // 32 == 1:
        o[t] = gpu.syncthreads_count(t % 4 == 0)
    else:
        o[t] = gpu.syncthreads_count(t % 2 == 0) + 1000


def test_two_counting_barriers_meet() -> None:
    assert (run(counts_elsewhere) == np.where(T // 32 == 1, 56, 1056)).all()


def goes_on(o, x):
    """A barrier behind `continue`, in a loop that ends where data says."""
    s = gpu.shared.array(THREADS, np.int64)
    t = gpu.threadIdx.x
    total = 0
    for k in range(x.size):
        s[t] = x[k] * t
        gpu.syncthreads()
        if x[k] % 3 == 0:
            gpu.syncthreads()
            continue
        if x[k] == 11:
            break
        total += s[THREADS - 1 - t]
        gpu.syncthreads()
    o[t] = total


def test_barriers_with_continue_and_break() -> None:
    assert (run(goes_on, np.array([1, 3, 2, 6, 4, 11, 50])) == 7 * T[::-1]).all()


# ---- warps


def first_warp_alone(o):
    t = gpu.threadIdx.x
    v = t
    if t < 32:
        for k in range(5):
            v += gpu.shfl_xor_sync(ALL, v, 1 << k)
    o[t] = v


def test_one_warp_shuffles() -> None:
    assert (run(first_warp_alone) == np.where(T < 32, 31 * 16, T)).all()


def shuffles_often(o):
    t = gpu.threadIdx.x
    v = t
    for _ in range(t // 32 + 1):
        v = gpu.shfl_sync(ALL, v, (t + 1) % 32)
    o[t] = v


def test_warps_shuffle_differently_often() -> None:
    assert (run(shuffles_often) == T // 32 * 32 + (T + T // 32 + 1) % 32).all()


def odd_lanes(o):
    t = gpu.threadIdx.x
    v = t
    if t % 2 == 1:
        v = gpu.shfl_up_sync(0xAAAAAAAA, v, 2) if t % 32 > 1 else gpu.shfl_up_sync(0xAAAAAAAA, v, 2) + 1000
    gpu.syncwarp()
    o[t] = v + gpu.popc(gpu.ballot_sync(ALL, v >= 1000))


def test_lanes_of_a_mask_come_from_two_lines() -> None:
    v = np.where(T % 2 == 0, T, np.where(T % 32 == 1, T + 1000, T - 2))
    assert (run(odd_lanes) == v + 1).all()


# ---- memory


def own_arrays(o):
    """Each thread's own array keeps its elements across barriers, and what its addresses were."""
    t = gpu.threadIdx.x
    mine = gpu.local.array(4, np.int64)
    for k in range(4):
        mine[k] = t * 10 + k
    at = gpu.shfl_sync(ALL, t, 3) & 3
    gpu.syncthreads()
    for k in range(6):
        mine[k % 4] = mine[t & 3] + 1
        gpu.syncthreads()
    o[t] = mine[0] + 1000 * mine[at]


def test_own_arrays_across_barriers() -> None:
    want = []
    for t in range(THREADS):
        mine = [t * 10 + k for k in range(4)]
        for k in range(6):
            mine[k % 4] = mine[t & 3] + 1
        want.append(mine[0] + 1000 * mine[3])
    assert (run(own_arrays) == want).all()


def address_in_a_loop(o, x):
    """The address of an element is kept over a wait; stores through another address may change it."""
    t = gpu.threadIdx.x
    mine = gpu.local.array(4, np.int64)
    first, place = x[t, 0], x[t, 1]
    for k in range(4):
        mine[k] = first + k
    gpu.shfl_sync(ALL, mine[t & 3], 0)
    for _ in range(first % 5):
        mine[place & 3] = ((first ^ mine[t & 3]) >> 2) & 0xFFFF
        place = (((t ^ mine[place & 3]) & first) - first) & 0xFFFF
    o[t] = place


def test_addresses_kept_over_a_wait() -> None:
    x = np.random.default_rng(1).integers(0, 1 << 16, (THREADS, 2))
    want = []
    for t, (first, place) in enumerate(x.tolist()):
        mine = [first + k for k in range(4)]
        for _ in range(first % 5):
            mine[place & 3] = ((first ^ mine[t & 3]) >> 2) & 0xFFFF
            place = (((t ^ mine[place & 3]) & first) - first) & 0xFFFF
        want.append(place)
    assert (run(address_in_a_loop, x) == want).all()


def loads_at_the_edge(o, x):
    """What a thread must not read isn't read."""
    t = gpu.threadIdx.x
    s = gpu.shared.array(THREADS, np.int64)
    s[t] = x[t] if t < x.size else 7
    gpu.syncthreads()
    left = s[t - 1] if t > 0 else 0
    right = s[t + 1] if t + 1 < THREADS else 0
    o[t] = left + right


def test_loads_at_the_edge_of_a_page() -> None:
    import mmap

    page = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    x = np.frombuffer(page, np.int64, 100, mmap.PAGESIZE * 2 - 800)
    x[:] = np.arange(100) * 2
    s = np.full(THREADS + 2, 7)
    s[1:101], s[0], s[-1] = x, 0, 0
    assert (run(loads_at_the_edge, x) == s[:-2] + s[2:]).all()


# ---- barriers that not all reach


def half_waits(o):
    t = gpu.threadIdx.x
    if t < 64:
        gpu.syncthreads()
    else:
        o[t] = gpu.syncthreads_count(t > 3)


def lane_waits_alone(o):
    t = gpu.threadIdx.x
    if t == 5:
        gpu.syncthreads()
    else:
        o[t] = gpu.shfl_sync(ALL, t, 5)


@pytest.mark.parametrize("kernel", [half_waits, lane_waits_alone])
def test_waits_that_do_not_fit_are_errors(kernel: Callable[..., Any], device: str) -> None:
    if (kernel, device) == (half_waits, "emulated"):
        pytest.skip("two kinds of barrier meet there, as on a GPU")
    first = kernel.__code__.co_firstlineno
    with pytest.raises(gpu.DeviceError) as error:
        run(kernel)
    assert f"test_threads.py:{first + 5}" in str(error.value)
    if device == "cpu":
        assert f"test_threads.py:{first + 3}" in str(error.value)


# ---- locks


def warps_take_turns(o, ticket, x):
    """The first lane of each warp takes a lock that another warp holds."""
    t = gpu.threadIdx.x
    if t % 32 == 0:
        while gpu.atomic.cas(ticket, 0, 0, 1, order="acquire") != 0:
            pass
        x[0] += 1
        gpu.atomic.exch(ticket, 0, 0, order="release")
    gpu.syncthreads()
    o[gpu.grid(1)] = 1


def lanes_take_turns(o, ticket, x):
    """The same with the lanes of a warp among each other: who has the lock goes on."""
    done = False
    while not done:
        if gpu.atomic.cas(ticket, 0, 0, 1, order="acquire") == 0:
            x[0] += 1
            gpu.atomic.exch(ticket, 0, 0, order="release")
            done = True
    gpu.syncthreads()
    o[gpu.grid(1)] = 1


@pytest.mark.parametrize(("kernel", "holders"), [(warps_take_turns, 4), (lanes_take_turns, THREADS)])
def test_spin_locks(kernel: Callable[..., Any], holders: int) -> None:
    x = np.zeros(1, np.int64)
    assert (run(kernel, np.zeros(1, np.int32), x, blocks=4) == 1).all()
    assert x[0] == 4 * holders
